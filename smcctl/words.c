// SPDX-License-Identifier: GPL-2.0-or-later
/* words.c - a line to words, with the quotes of sh and nothing else of it. */
#include "smcctl.h"

void words_done(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	*w = (struct words){ 0 };
}

int words_add(struct words *w, const char *s)
{
	CLEANUP_FREE char *copy = strdup(s);

	if (!copy)
		return -ENOMEM;
	if (w->n + 1 >= w->size) {
		size_t size = w->size ? 2 * w->size : 16;
		char **v = reallocarray(w->v, size, sizeof(*v));

		if (!v)
			return -ENOMEM;
		w->v = v;
		w->size = size;
	}
	w->v[w->n++] = copy;
	w->v[w->n] = NULL;
	copy = NULL;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One quoted stretch; *at is behind the opening quote and ends behind the closing one. */
static int unquote(const char *line, const char **at, char quote, struct text *word, struct err *e)
{
	const char *start = *at - 1;

	for (; **at; (*at)++) {
		if (**at == quote) {
			(*at)++;
			return 0;
		}
		if (quote == '"' && **at == '\\' && ((*at)[1] == '"' || (*at)[1] == '\\'))
			(*at)++;
		text_add_mem(word, *at, 1);
	}
	return err_set(e, -EINVAL, "the quote at column %zu is not closed", (size_t)(start - line) + 1);
}

static int split_word(const char *line, const char **at, struct text *word, struct err *e)
{
	while (**at && !is_blank(**at)) {
		char c = *(*at)++;
		int r;

		if (c == '\'' || c == '"') {
			r = unquote(line, at, c, word, e);
			if (r < 0)
				return r;
			continue;
		}
		if (c == '\\') {
			if (!**at || **at == '\n')
				return err_set(e, -EINVAL, "nothing follows the backslash at column %zu",
					       (size_t)(*at - line));
			c = *(*at)++;
		}
		text_add_mem(word, &c, 1);
	}
	return word->failed ? err_set(e, -ENOMEM, "out of memory") : 0;
}

int words_split(const char *line, struct words *ret, struct err *e)
{
	CLEANUP_WORDS struct words w = { 0 };
	const char *at = line;

	if (strnlen(line, WORDS_LINE_MAX + 1) > WORDS_LINE_MAX)
		return err_set(e, -E2BIG, "the line is longer than %d bytes", WORDS_LINE_MAX);
	for (;;) {
		CLEANUP_TEXT struct text word = { 0 };
		int r;

		while (is_blank(*at))
			at++;
		if (!*at || *at == '#')
			break;
		if (w.n >= ARGS_MAX)
			return err_set(e, -E2BIG, "more than %d words", ARGS_MAX);
		r = split_word(line, &at, &word, e);
		if (r < 0)
			return r;
		r = words_add(&w, text_str(&word));
		if (r < 0)
			return err_set(e, r, "out of memory");
	}
	*ret = w;
	w = (struct words){ 0 };
	return 0;
}
