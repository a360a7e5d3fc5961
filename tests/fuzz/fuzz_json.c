// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The JSON scanner against json-c's strict parser: what the scanner accepts json-c accepts too, what only json-c
 * accepts is one of the differences listed here, and everything in json-c's tree is found at a place where such a
 * value stands.
 */
#include "jsonpos.h"

#include <json-c/json.h>

#define CHECK(cond)                                                                                                    \
	do {                                                                                                           \
		if (!(cond)) {                                                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                             \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reasons of the scanner for a text that json-c takes, by a part of the message. */
static const char *const differences[] = {
	"again, expected each name once",      /* json-c keeps the last */
	"half of a surrogate pair",            /* json-c puts U+FFFD in its place */
	"nested deeper than",                  /* json-c takes one level more where it is empty */
	"for a control character in a string", /* json-c takes them as they are */
	"found 'NaN', expected a value",
	"found 'Infinity', expected",
	"expected a digit after the '-'",
	"expected a digit after the '.'",
	"found invalid UTF-8", /* json-c looks at the lengths only */
	"found a line break, expected the string's closing",
	"a number with a leading zero",
	"(strings take double quotes)",    /* json-c takes names in single quotes even when strict */
	"found a NUL byte",                /* json-c takes it as the end of the text */
	"found a NUL character (\\u0000)", /* json-c cuts names there */
};

struct walk {
	const struct json_index *ix;
	const char *text;
	size_t len;
	struct text pointer;
};

/* Does json-c take the text, and what does it make of it? null is a tree that is NULL. */
static bool parse(const char *text, size_t len, struct json_object **ret)
{
	struct json_tokener *tok = json_tokener_new_ex(JSON_DEPTH_MAX + 1);
	struct json_object *root;
	bool taken;

	CHECK(tok);
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(tok, text, (int)len);
	if (json_tokener_get_error(tok) == json_tokener_continue)
		root = json_tokener_parse_ex(tok, "", 1);
	taken = json_tokener_get_error(tok) == json_tokener_success;
	json_tokener_free(tok);
	*ret = root;
	return taken;
}

/* Offset of a line and column, counted in another way than the scanner does. */
static size_t offset_of(const struct walk *w, struct json_pos at)
{
	size_t i = 0;

	for (unsigned int line = 1; line < at.line; line++) {
		const char *nl = memchr(w->text + i, '\n', w->len - i);

		CHECK(nl);
		i = (size_t)(nl - w->text) + 1;
	}
	for (unsigned int column = 1; column < at.column; column++) {
		CHECK(i < w->len && w->text[i] != '\n');
		i++;
		while (i < w->len && ((unsigned char)w->text[i] & 0xc0) == 0x80)
			i++;
	}
	CHECK(i <= w->len);
	return i;
}

static bool starts_like(struct json_object *o, const char *s)
{
	switch (json_object_get_type(o)) {
	case json_type_null:
		return *s == 'n';
	case json_type_boolean:
		return *s == (json_object_get_boolean(o) ? 't' : 'f');
	case json_type_string:
		return *s == '"';
	case json_type_object:
		return *s == '{';
	case json_type_array:
		return *s == '[';
	default:
		return *s == '-' || (*s >= '0' && *s <= '9');
	}
}

static void check_number(const struct walk *w, struct json_object *o, size_t at)
{
	const char *s = NULL;
	size_t len = 0;
	bool number = json_object_is_type(o, json_type_int) || json_object_is_type(o, json_type_double);
	int r = json_index_number(w->ix, text_str(&w->pointer), &s, &len);

	CHECK(r == (number ? 0 : -ENOENT));
	if (number) {
		CHECK(len >= 1 && len <= w->len - at);
		CHECK(memcmp(s, w->text + at, len) == 0);
		CHECK(json_object_is_type(o, json_type_double) == (strcspn(s, ".eE") < len));
	}
}

static void check_value(struct walk *w, struct json_object *o, bool member)
{
	struct json_pos at = { 0 }, key = { 0 };
	size_t mark = w->pointer.len, offset;

	CHECK(json_index_value(w->ix, text_str(&w->pointer), &at) == 0);
	offset = offset_of(w, at);
	CHECK(offset < w->len && starts_like(o, w->text + offset));
	check_number(w, o, offset);
	CHECK(json_index_key(w->ix, text_str(&w->pointer), &key) == (member ? 0 : -ENOENT));
	if (member)
		CHECK(w->text[offset_of(w, key)] == '"' && offset_of(w, key) < offset);
	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, name, child)
		{
			json_pointer_add(&w->pointer, name);
			check_value(w, child, true);
			w->pointer.len = mark;
			if (w->pointer.s)
				w->pointer.s[mark] = '\0';
		}
	}
	if (json_object_is_type(o, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(o); i++) {
			text_add(&w->pointer, "/%zu", i);
			check_value(w, json_object_array_get_idx(o, i), false);
			w->pointer.len = mark;
			w->pointer.s[mark] = '\0';
		}
		text_add(&w->pointer, "/%zu", json_object_array_length(o));
		CHECK(json_index_value(w->ix, w->pointer.s, &at) == -ENOENT);
		w->pointer.len = mark;
		w->pointer.s[mark] = '\0';
	}
}

static bool is_known_difference(const char *message)
{
	for (size_t i = 0; i < ARRAY_SIZE(differences); i++)
		if (strstr(message, differences[i]))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk w = { .text = (const char *)data, .len = size };
	CLEANUP_JSON_INDEX struct json_index *ix = NULL;
	struct json_pos at = { 0 };
	struct err e = { 0 };
	struct json_object *root = NULL;
	bool taken;
	int r;

	if (size > 65536)
		return 0;
	r = json_index_new(w.text, size, &ix, &at, &e);
	taken = parse(w.text, size, &root);
	if (r == 0) {
		CHECK(taken);
		w.ix = ix;
		check_value(&w, root, false);
	} else {
		CHECK(r == -EINVAL || r == -E2BIG);
		CHECK(e.code == r && strstr(e.text, "found "));
		(void)offset_of(&w, at);
		if (taken && !is_known_difference(e.text)) {
			fprintf(stderr, "json-c accepts what the scanner refuses: %u:%u: %s\n", at.line, at.column,
				e.text);
			abort();
		}
	}
	json_object_put(root);
	text_done(&w.pointer);
	return 0;
}
