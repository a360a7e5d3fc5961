// SPDX-License-Identifier: GPL-2.0-or-later
/* man.c - parts of the manual pages, in roff with the man macros. */
#include "generate.h"
#include "policy.h"

/* Text as roff: backslashes and hyphens as they are, no control line by accident. */
static void roff(struct text *t, const char *s)
{
	if (*s == '.' || *s == '\'')
		text_add(t, "\\&");
	for (; *s; s++) {
		if (*s == '\\')
			text_add(t, "\\e");
		else if (*s == '-')
			text_add(t, "\\-");
		else if (*s == '~')
			text_add(t, "\\(ti");
		else if (*s == '^')
			text_add(t, "\\(ha");
		else if (*s == '\'')
			text_add(t, "\\(aq");
		else
			text_add_mem(t, s, 1);
	}
}

/* A sentence: with a capital and a full stop, however the table has it. */
static void sentence(struct text *t, const char *s)
{
	CLEANUP_TEXT struct text copy = { 0 };
	size_t len = strlen(s);

	text_add(&copy, "%s", s);
	/* Names of programs keep their small letters. */
	if (copy.len && *s >= 'a' && *s <= 'z' && strncmp(s, "smc", 3) != 0)
		copy.s[0] = (char)(*s - 'a' + 'A');
	if (len && s[len - 1] != '.')
		text_add(&copy, ".");
	roff(t, text_str(&copy));
	text_add(t, "\n");
}

static void bold_item(struct text *t, const char *s)
{
	text_add(t, ".TP\n\\fB");
	roff(t, s);
	text_add(t, "\\fR\n");
}

/* ---- commands and options ---- */

/* Capitals are what the reader fills in. */
static void synopsis(struct text *t, const char *args)
{
	while (*args) {
		size_t caps = strspn(args, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), other;

		if (caps)
			text_add(t, "\\fI%.*s\\fR", (int)caps, args);
		args += caps;
		other = strcspn(args, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		for (; other; other--, args++)
			text_add(t, *args == '-' ? "\\-" : "%c", *args);
	}
}

void man_option(char letter, const char *name, const char *arg, const char *doc, struct text *t)
{
	text_add(t, ".TP\n");
	if (letter)
		text_add(t, "\\fB\\-%c\\fR, ", letter);
	text_add(t, "\\fB\\-\\-");
	roff(t, name);
	text_add(t, "\\fR");
	if (arg)
		text_add(t, " \\fI%s\\fR", arg);
	text_add(t, "\n");
	sentence(t, doc);
}

static void command_item(const struct command *c, struct text *t)
{
	CLEANUP_TEXT struct text title = { 0 };

	command_title(c, &title);
	text_add(t, ".TP\n\\fB%s\\fR", text_str(&title));
	for (enum option_id o = N_COMMON_OPTIONS; o < N_OPTIONS; o++) {
		if (!(c->options & OPTION(o)))
			continue;
		text_add(t, " [\\fB\\-\\-");
		roff(t, option_table[o].name);
		text_add(t, "\\fR]");
	}
	if (c->args) {
		text_add(t, " ");
		synopsis(t, c->args);
	}
	text_add(t, "\n");
	sentence(t, command_summary(c));
	if (c->details)
		sentence(t, c->details);
	for (enum option_id o = N_COMMON_OPTIONS; o < N_OPTIONS; o++) {
		if (!(c->options & OPTION(o)))
			continue;
		text_add(t, "\\fB\\-\\-");
		roff(t, option_table[o].name);
		text_add(t, "\\fR: ");
		roff(t, option_table[o].doc);
		text_add(t, "\n");
	}
}

void man_commands(struct text *t)
{
	for (size_t i = 0; i < n_commands; i++)
		command_item(&commands[i], t);
}

void man_filters(struct text *t)
{
	sentence(t, filter_details);
}

void man_options(struct text *t)
{
	for (enum option_id o = 0; o < N_COMMON_OPTIONS; o++)
		man_option(option_table[o].letter, option_table[o].name, option_table[o].arg, option_table[o].doc, t);
}

void man_exit_codes(struct text *t)
{
	for (size_t i = 0; i < n_exit_codes; i++) {
		text_add(t, ".TP\n\\fB%d\\fR\n", exit_codes[i].code);
		sentence(t, exit_codes[i].doc);
	}
}

/* ---- knobs ---- */

static void add_default(const struct knob *k, struct text *t)
{
	if (k->def.kind == VALUE_ABSENT)
		text_add(t, "what the kernel says");
	else if (k->def.kind == VALUE_STR && !*k->def.s)
		text_add(t, "empty");
	else
		value_text(&k->spec, k->def, t);
}

static void knob_facts(const struct knob *k, bool with_allowed, struct text *t)
{
	CLEANUP_TEXT struct text s = { 0 };

	if (with_allowed) {
		text_add(&s, "Allowed: ");
		value_allowed(&k->spec, &s);
		text_add(&s, ". ");
	}
	text_add(&s, "Default: ");
	add_default(k, &s);
	text_add(&s, ". Takes effect for: %s. ", knob_effect_name(k->effect));
	text_add(&s, "Since Linux %s.", k->since);
	roff(t, text_str(&s));
	text_add(t, "\n");
	if (k->range_note)
		sentence(t, k->range_note);
}

void man_knobs(struct text *t)
{
	for (size_t i = 0; i < n_knobs; i++) {
		bold_item(t, knobs[i].name);
		sentence(t, knobs[i].doc);
		knob_facts(&knobs[i], true, t);
	}
}

void man_policy_knobs(struct text *t)
{
	for (size_t i = 0; i < n_knobs; i++) {
		CLEANUP_TEXT struct text notation = { 0 };

		bold_item(t, knobs[i].name);
		sentence(t, knobs[i].doc);
		text_add(&notation, "Written as ");
		policy_notation(&knobs[i].spec, &notation);
		sentence(t, text_str(&notation));
		knob_facts(&knobs[i], false, t);
	}
}

/* ---- nouns, counters, reasons, metrics, methods ---- */

static void noun_fields(const struct noun *n, struct text *t)
{
	for (size_t i = 0; i < n->n_fields; i++) {
		const struct field *f = &n->fields[i];

		bold_item(t, f->name);
		sentence(t, f->doc);
		if (f->spec.type != TYPE_CHOICE)
			continue;
		text_add(t, "One of ");
		for (const char *const *c = f->spec.choices; *c; c++) {
			text_add(t, "%s", c == f->spec.choices ? "" : ", ");
			roff(t, *c);
		}
		text_add(t, ".\n");
	}
}

void man_fields(struct text *t)
{
	for (size_t n = 0; n < N_NOUNS; n++) {
		text_add(t, ".SS %s\n", nouns[n].name);
		sentence(t, nouns[n].doc);
		if (nouns[n].host_wide)
			text_add(t, "The kernel has one list for all network namespaces.\n");
		noun_fields(&nouns[n], t);
		for (size_t p = 0; p < nouns[n].n_parts; p++) {
			text_add(t, ".PP\nWith it, as \n.BR %s :\n", nouns[n].parts[p].name);
			sentence(t, nouns[n].parts[p].doc);
			noun_fields(&nouns[n].parts[p], t);
		}
	}
}

void man_events(struct text *t)
{
	for (enum event_kind i = 0; i < N_EVENTS; i++) {
		text_add(t, ".SS %s\n", event_types[i].noun.name);
		sentence(t, event_types[i].noun.doc);
		noun_fields(&event_types[i].noun, t);
	}
}

void man_counters(struct text *t)
{
	for (size_t i = 0; i < n_stats; i++) {
		const struct metric *m = &metrics[stats_table[i].metric];
		CLEANUP_TEXT struct text s = { 0 };

		bold_item(t, stats_table[i].key);
		sentence(t, m->help);
		text_add(&s, "Metric %s", m->name);
		if (*stats_table[i].labels)
			text_add(&s, "{%s}", stats_table[i].labels);
		sentence(t, text_str(&s));
	}
}

void man_reasons(struct text *t)
{
	for (size_t i = 0; i < n_reasons; i++) {
		CLEANUP_TEXT struct text s = { 0 };

		text_add(&s, "0x%08x %s", reasons[i].code, reasons[i].name);
		bold_item(t, text_str(&s));
		sentence(t, reasons[i].meaning);
		text_add(t, "To do: ");
		roff(t, reasons[i].action);
		text_add(t, ".\n");
	}
}

static const char *kind_name(enum metric_kind kind)
{
	static const char *const names[] = {
		[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram",
		[METRIC_INFO] = "info",
	};

	return names[kind];
}

void man_metrics(struct text *t)
{
	for (size_t i = 0; i < N_METRICS; i++) {
		text_add(t, ".TP\n\\fB");
		roff(t, metrics[i].name);
		text_add(t, "\\fR (%s)\n", kind_name(metrics[i].kind));
		sentence(t, metrics[i].help);
	}
}

static void method_item(const char *name, const struct method *m, const char *doc, struct text *t)
{
	const char *between = "";

	text_add(t, ".TP\n\\fB%s\\fR(", name);
	for (size_t i = 0; i < ARRAY_SIZE(m->in) && m->in[i].name; i++) {
		text_add(t, "%s\\fI%s\\fR", between, m->in[i].name);
		between = ", ";
	}
	text_add(t, ")\n");
	sentence(t, doc);
	if (m->access == ACCESS_WRITE)
		text_add(t, "Needs write access.\n");
}

void man_methods(struct text *t)
{
	for (size_t i = 0; i < N_NOUNS; i++)
		method_item(nouns[i].method, &methods[METHOD_LIST_NOUN], nouns[i].doc, t);
	for (size_t i = 0; i < N_METHODS; i++)
		if (i != METHOD_LIST_NOUN)
			method_item(methods[i].name, &methods[i], methods[i].doc, t);
}
