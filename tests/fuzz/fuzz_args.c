// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_args - the command line of smcctl. The input is lines; each is split as the shell does, completed and parsed,
 * and what was accepted must keep to its command's table.
 */
#include "smcctl.h"

static void check_accepted(const struct request *r)
{
	const struct command *c = r->command;

	if (request_has(r, OPT_HELP) || !c)
		return;
	if (r->n_args < c->min_args || r->n_args > c->max_args)
		abort();
	for (enum option_id o = 0; o < N_OPTIONS; o++)
		if (request_has(r, o) && (!command_takes(c, o) || !option_table[o].arg != !r->value[o]))
			abort();
	for (size_t i = 0; i < r->n_args; i++) {
		const struct arg *a = &r->args[i];

		if (!a->word || (c->kind == ARGS_ASSIGN && !a->key_len) ||
		    (c->kind == ARGS_FILTER && !command_key_fields(c, a->key, a->key_len)))
			abort();
	}
}

/* Filters are looked at against an empty object too: nothing in it, so only "-" may match. */
static void try_filters(const struct request *r)
{
	struct json_object *array;

	if (request_has(r, OPT_HELP) || !r->command || r->command->kind != ARGS_FILTER ||
	    filters_check(r->command->noun, r, NULL) < 0)
		return;
	array = json_tokener_parse("[{}, {\"local_addr\": \"10.0.0.1\", \"state\": \"active\"}]");
	if (!array || filters_apply(r->command->noun, r, array, NULL) < 0)
		abort();
	json_object_put(array);
}

/* s as one word of a line. */
static void quote(const char *s, struct text *t)
{
	text_add(t, "'");
	for (; *s; s++)
		if (*s == '\'')
			text_add(t, "'\\''");
		else
			text_add_mem(t, s, 1);
	text_add(t, "' ");
}

static void try_words(const struct words *w)
{
	CLEANUP_REQUEST struct request r = { 0 };
	CLEANUP_WORDS struct words found = { 0 };
	CLEANUP_TEXT struct text line = { 0 };
	CLEANUP_WORDS struct words again = { 0 };
	struct err e = { 0 };

	if (request_parse((int)w->n, w->v, &r, &e) >= 0) {
		check_accepted(&r);
		try_filters(&r);
	} else if (!*e.text) {
		abort();
	}
	if (w->n && complete(w->v, w->n - 1, w->v[w->n - 1], &found) < 0)
		abort();
	for (size_t i = 0; i < w->n; i++)
		quote(w->v[i], &line);
	/* Quoting can make a line longer than a line may be. */
	if (line.len > WORDS_LINE_MAX)
		return;
	if (words_split(text_str(&line), &again, NULL) < 0 || again.n != w->n)
		abort();
	for (size_t i = 0; i < w->n; i++)
		if (!str_eq(w->v[i], again.v[i]))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (char *save = NULL, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		CLEANUP_WORDS struct words w = { 0 };
		struct err e = { 0 };

		if (words_split(line, &w, &e) >= 0)
			try_words(&w);
		else if (!*e.text)
			abort();
	}
	return 0;
}
