// SPDX-License-Identifier: GPL-2.0-or-later
/* help.c - help from the tables, for the terminal. The manual comes from the same tables (gen/generate.c). */
#include "smcctl.h"

#define HELP_WIDTH 100

/* s wrapped at HELP_WIDTH, the first line after what already fills `at` columns, further lines indented so. */
static void wrap(struct text *t, size_t indent, const char *s)
{
	size_t at = indent;

	while (*s) {
		size_t len = strcspn(s, " ");

		if (at > indent && at + 1 + len > HELP_WIDTH) {
			text_add(t, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			text_add(t, " ");
			at++;
		}
		text_add_mem(t, s, len);
		at += len;
		s += len;
		s += strspn(s, " ");
	}
	text_add(t, "\n");
}

/* "  name       text" */
static void item(struct text *t, const char *name, size_t width, const char *s)
{
	text_add(t, "  %-*s  ", (int)width, name);
	if (strlen(name) > width)
		text_add(t, "\n%*s", (int)width + 4, "");
	wrap(t, width + 4, s);
}

static void add_command_line(const struct command *c, struct text *t)
{
	command_title(c, t);
	if (c->args)
		text_add(t, " %s", c->args);
}

static void add_option_name(enum option_id o, struct text *t)
{
	const struct option_row *row = &option_table[o];

	if (row->letter)
		text_add(t, "-%c, ", row->letter);
	else
		text_add(t, "    ");
	text_add(t, "--%s", row->name);
	if (row->arg)
		text_add(t, " %s", row->arg);
}

static void add_option(enum option_id o, struct text *t)
{
	CLEANUP_TEXT struct text name = { 0 };

	add_option_name(o, &name);
	item(t, text_str(&name), 20, option_table[o].doc);
}

static void add_common_options(struct text *t)
{
	text_add(t, "\nOptions:\n");
	for (enum option_id o = 0; o < N_COMMON_OPTIONS; o++)
		add_option(o, t);
}

static void add_commands(const char *name, struct text *t)
{
	for (size_t i = 0; i < n_commands; i++) {
		CLEANUP_TEXT struct text line = { 0 };

		if (name && !str_eq(command_name(&commands[i]), name))
			continue;
		add_command_line(&commands[i], &line);
		item(t, text_str(&line), 28, command_summary(&commands[i]));
	}
}

void help_all(struct text *t)
{
	text_add(t, "Usage: smcctl [OPTION]... COMMAND [ARGUMENT]...\n\n"
		    "Show and tune the kernel's SMC (shared memory communications) through smcd.\n"
		    "What only shows also works without smcd, straight from the kernel.\n\nCommands:\n");
	add_commands(NULL, t);
	add_common_options(t);
	text_add(t, "\nExit codes:\n");
	for (size_t i = 0; i < n_exit_codes; i++) {
		char code[16];

		snprintf(code, sizeof(code), "%d", exit_codes[i].code);
		item(t, code, 4, exit_codes[i].doc);
	}
	text_add(t, "\nsmcctl COMMAND --help says more of a command; smcctl(8) is the manual.\n");
}

void help_name(const char *name, struct text *t)
{
	text_add(t, "Usage: smcctl [OPTION]... %s VERB [ARGUMENT]...\n\n", name);
	add_commands(name, t);
	add_common_options(t);
}

static void add_knob(const struct knob *k, struct text *t)
{
	CLEANUP_TEXT struct text s = { 0 };

	value_allowed(&k->spec, &s);
	text_add(&s, "; default ");
	if (k->def.kind == VALUE_STR)
		text_add(&s, "\"%s\"", k->def.s);
	else
		value_text(&k->spec, k->def, &s);
	text_add(&s, "; %s: %s", knob_effect_name(k->effect), k->doc);
	if (k->range_note)
		text_add(&s, " (%s)", k->range_note);
	item(t, k->name, 22, text_str(&s));
}

static void add_fields(const struct command *c, struct text *t)
{
	CLEANUP_TEXT struct text keys = { 0 };

	text_add(t, "\nFields:\n");
	for (size_t i = c->kind == ARGS_ENTRY; i < c->noun->n_fields; i++) {
		const struct field *f = &c->noun->fields[i];
		CLEANUP_TEXT struct text s = { 0 };

		text_add(&s, "%s", f->doc);
		if (f->spec.type == TYPE_CHOICE || f->spec.type == TYPE_BOOL) {
			text_add(&s, ": ");
			value_allowed(&f->spec, &s);
		}
		item(t, f->name, 18, text_str(&s));
	}
	command_short_keys(c, &keys, ", ");
	if (keys.len)
		item(t, text_str(&keys), 18, "of either end");
}

static void add_arguments(const struct command *c, struct text *t)
{
	switch (c->kind) {
	case ARGS_KNOBS:
	case ARGS_ASSIGN:
		text_add(t, "\nKnobs:\n");
		for (size_t i = 0; i < n_knobs; i++)
			add_knob(&knobs[i], t);
		break;
	case ARGS_FILTER:
	case ARGS_ENTRY:
		add_fields(c, t);
		break;
	default:
		break;
	}
}

static const char *command_details(const struct command *c)
{
	return c->details || c->kind != ARGS_FILTER ? c->details : filter_details;
}

void help_command(const struct command *c, struct text *t)
{
	text_add(t, "Usage: smcctl [OPTION]... ");
	add_command_line(c, t);
	text_add(t, "\n\n%s.\n", command_summary(c));
	if (command_details(c)) {
		text_add(t, "\n");
		wrap(t, 0, command_details(c));
	}
	add_arguments(c, t);
	if (c->options) {
		text_add(t, "\nOptions of this command:\n");
		for (enum option_id o = N_COMMON_OPTIONS; o < N_OPTIONS; o++)
			if (c->options & OPTION(o))
				add_option(o, t);
	}
	add_common_options(t);
}

/* ---- the same as JSON ---- */

static struct json_object *string_or_null(const char *s)
{
	return s ? json_object_new_string(s) : NULL;
}

static struct json_object *option_json(enum option_id o)
{
	const struct option_row *row = &option_table[o];
	struct json_object *json = json_object_new_object();
	const char letter[] = { row->letter, '\0' };

	json_object_object_add(json, "name", json_object_new_string(row->name));
	json_object_object_add(json, "letter", string_or_null(row->letter ? letter : NULL));
	json_object_object_add(json, "argument", string_or_null(row->arg));
	json_object_object_add(json, "doc", json_object_new_string(row->doc));
	return json;
}

static struct json_object *options_json(const struct command *c)
{
	struct json_object *array = json_object_new_array();

	for (enum option_id o = c ? N_COMMON_OPTIONS : 0; o < (c ? N_OPTIONS : N_COMMON_OPTIONS); o++)
		if (!c || (c->options & OPTION(o)))
			json_object_array_add(array, option_json(o));
	return array;
}

static struct json_object *field_json(const struct field *f)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "name", json_object_new_string(f->name));
	json_object_object_add(json, "doc", json_object_new_string(f->doc));
	return json;
}

/* What NAME is in NAME=VALUE; null for commands without. Knobs have a command that shows them with all that is known.
 */
static struct json_object *fields_json(const struct command *c)
{
	struct json_object *array;

	if (c->kind != ARGS_FILTER && c->kind != ARGS_ENTRY)
		return NULL;
	array = json_object_new_array();
	for (size_t i = c->kind == ARGS_ENTRY; i < c->noun->n_fields; i++)
		json_object_array_add(array, field_json(&c->noun->fields[i]));
	return array;
}

static struct json_object *command_json(const struct command *c)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "name", json_object_new_string(command_name(c)));
	json_object_object_add(json, "verb", string_or_null(c->verb));
	json_object_object_add(json, "arguments", string_or_null(c->args));
	json_object_object_add(json, "summary", json_object_new_string(command_summary(c)));
	json_object_object_add(json, "details", string_or_null(command_details(c)));
	json_object_object_add(json, "changes", json_object_new_boolean(c->access == ACCESS_WRITE));
	json_object_object_add(json, "options", options_json(c));
	json_object_object_add(json, "fields", fields_json(c));
	return json;
}

static struct json_object *exit_codes_json(void)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < n_exit_codes; i++) {
		struct json_object *json = json_object_new_object();

		json_object_object_add(json, "code", json_object_new_int(exit_codes[i].code));
		json_object_object_add(json, "doc", json_object_new_string(exit_codes[i].doc));
		json_object_array_add(array, json);
	}
	return array;
}

struct json_object *help_json(const char *name, const struct command *only)
{
	struct json_object *reply = json_object_new_object(), *help = json_object_new_object();
	struct json_object *array = json_object_new_array();

	json_object_object_add(reply, "help", help);
	json_object_object_add(help, "commands", array);
	for (size_t i = 0; i < n_commands; i++)
		if (only ? only == &commands[i] : !name || str_eq(command_name(&commands[i]), name))
			json_object_array_add(array, command_json(&commands[i]));
	json_object_object_add(help, "options", options_json(NULL));
	json_object_object_add(help, "exit_codes", exit_codes_json());
	return reply;
}
