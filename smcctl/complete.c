// SPDX-License-Identifier: GPL-2.0-or-later
/* complete.c - what can come next on a command line, from the tables; used by the shell. Pure. */
#include "smcctl.h"

struct completion {
	const char *partial;
	struct words *out;
	int r;
};

/* prefix and name together, when they go on from what is there. */
static void offer(struct completion *p, const char *prefix, const char *name, const char *suffix)
{
	CLEANUP_TEXT struct text t = { 0 };

	text_add(&t, "%s%s%s", prefix, name, suffix);
	if (p->r < 0 || strncmp(text_str(&t), p->partial, strlen(p->partial)) != 0)
		return;
	for (size_t i = 0; i < p->out->n; i++)
		if (str_eq(p->out->v[i], text_str(&t)))
			return;
	p->r = t.failed ? -ENOMEM : words_add(p->out, text_str(&t));
}

/* The option that a word is with this command (NULL: not known yet); NULL for a --FIELD or what is no option. */
static const struct option_row *option_of_word(const char *word, const struct command *c)
{
	for (enum option_id o = 0; o < N_OPTIONS; o++) {
		const struct option_row *row = &option_table[o];

		if (c && !command_takes(c, o))
			continue;
		if (strncmp(word, "--", 2) == 0 ? str_eq(word + 2, row->name)
						: row->letter && word[1] == row->letter && !word[2])
			return row;
	}
	return NULL;
}

struct state {
	const char *name, *verb;
	const struct command *command;
	const char *waiting; /* the option or --FIELD whose value comes next */
	bool plain;          /* "--" was seen */
};

/* What the words before the one in question say; unknown ones are left for the command to complain about. */
static void take_word(struct state *s, const char *word)
{
	if (s->waiting) {
		s->waiting = NULL;
	} else if (!s->plain && str_eq(word, "--")) {
		s->plain = true;
	} else if (!s->plain && word[0] == '-' && word[1]) {
		const struct option_row *row = option_of_word(word, s->command);

		if (row ? row->arg != NULL : word[1] == '-' && !strchr(word, '='))
			s->waiting = word;
	} else if (!s->name) {
		s->name = word;
		s->command = command_find(word, NULL);
	} else if (!s->command) {
		s->verb = word;
		s->command = command_find(s->name, word);
	}
}

static void offer_options(struct completion *p, const struct command *c)
{
	for (enum option_id o = 0; o < N_OPTIONS; o++)
		if (c ? command_takes(c, o) : o < N_COMMON_OPTIONS)
			offer(p, "--", option_table[o].name, "");
	if (!c || !c->noun || (c->kind != ARGS_FILTER && c->kind != ARGS_ENTRY))
		return;
	for (size_t i = c->kind == ARGS_ENTRY; i < c->noun->n_fields; i++)
		offer(p, "--", c->noun->fields[i].name, "");
}

static void offer_values(struct completion *p, const char *prefix, const struct value_spec *spec)
{
	const char *const *choices = value_names(spec);

	for (; choices && *choices; choices++)
		offer(p, prefix, *choices, "");
}

/* "NAME=" that partial begins with, as a prefix for its values; "" where it has no '='. */
static char *assigned(const char *partial, size_t *ret_len)
{
	const char *equals = strchr(partial, '=');

	*ret_len = equals ? (size_t)(equals - partial) : 0;
	return equals ? strndup(partial, *ret_len + 1) : strdup("");
}

static void offer_assignments(struct completion *p)
{
	size_t len;
	CLEANUP_FREE char *prefix = assigned(p->partial, &len);

	if (!prefix) {
		p->r = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < n_knobs; i++) {
		if (!*prefix)
			offer(p, "", knobs[i].name, "=");
		else if (strlen(knobs[i].name) == len && strncmp(knobs[i].name, prefix, len) == 0)
			offer_values(p, prefix, &knobs[i].spec);
	}
}

static void offer_field_values(struct completion *p, const struct command *c, const char *prefix, const char *key,
			       size_t len)
{
	uint64_t fields = command_key_fields(c, key, len);

	for (size_t i = 0; fields && i < c->noun->n_fields; i++)
		if (fields & (UINT64_C(1) << i))
			offer_values(p, prefix, &c->noun->fields[i].spec);
}

static void offer_fields(struct completion *p, const struct command *c)
{
	size_t len;
	CLEANUP_FREE char *prefix = assigned(p->partial, &len);
	CLEANUP_TEXT struct text keys = { 0 };

	if (!prefix) {
		p->r = -ENOMEM;
		return;
	}
	if (*prefix) {
		offer_field_values(p, c, prefix, prefix, len);
		return;
	}
	for (size_t i = c->kind == ARGS_ENTRY; i < c->noun->n_fields; i++)
		offer(p, "", c->noun->fields[i].name, "=");
	command_short_keys(c, &keys, " ");
	for (char *save = NULL, *key = keys.s ? strtok_r(keys.s, " ", &save) : NULL; key;
	     key = strtok_r(NULL, " ", &save))
		offer(p, "", key, "=");
}

static void offer_arguments(struct completion *p, const struct command *c)
{
	switch (c->kind) {
	case ARGS_KNOBS:
		for (size_t i = 0; i < n_knobs; i++)
			offer(p, "", knobs[i].name, "");
		break;
	case ARGS_ASSIGN:
		offer_assignments(p);
		break;
	case ARGS_FILTER:
	case ARGS_ENTRY:
		offer_fields(p, c);
		break;
	case ARGS_CODES:
		for (size_t i = 0; i < n_reasons; i++)
			offer(p, "", reasons[i].name, "");
		break;
	case ARGS_EVENTS:
		for (enum event_kind i = 0; i < N_EVENTS; i++)
			offer(p, "", event_types[i].noun.name, "");
		break;
	case ARGS_COMMAND:
		for (size_t i = 0; i < n_commands; i++)
			offer(p, "", command_name(&commands[i]), "");
		break;
	default:
		break;
	}
}

static void offer_verbs(struct completion *p, const char *name)
{
	for (size_t i = 0; i < n_commands; i++)
		if (commands[i].verb && str_eq(command_name(&commands[i]), name))
			offer(p, "", commands[i].verb, "");
}

int complete(char *const *words, size_t n, const char *partial, struct words *ret)
{
	CLEANUP_WORDS struct words out = { 0 };
	struct completion p = { .partial = partial, .out = &out };
	struct state s = { 0 };

	for (size_t i = 0; i < n; i++)
		take_word(&s, words[i]);
	if (s.waiting) {
		if (s.command && strncmp(s.waiting, "--", 2) == 0)
			offer_field_values(&p, s.command, "", s.waiting + 2, strlen(s.waiting + 2));
	} else if (!s.plain && partial[0] == '-') {
		offer_options(&p, s.command);
	} else if (s.command) {
		offer_arguments(&p, s.command);
	} else if (!s.name) {
		for (size_t i = 0; i < n_commands; i++)
			offer(&p, "", command_name(&commands[i]), "");
	} else if (!s.verb) {
		offer_verbs(&p, s.name);
	}
	if (p.r < 0)
		return p.r;
	*ret = out;
	out = (struct words){ 0 };
	return 0;
}
