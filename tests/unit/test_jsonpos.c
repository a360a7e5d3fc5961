// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON scanner: what it refuses and where, and that it finds every value and name again. */
#include "jsonpos.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A literal with its length, so that a NUL can be in it. */
#define TEXT(s) s, sizeof(s) - 1

struct bad {
	const char *name;
	const char *text;
	size_t len;
	const char *where; /* "LINE:COLUMN" */
	const char *says;  /* part of the message */
};

static const struct bad bad[] = {
	{ "empty", TEXT(""), "1:1", "found the end of the text, expected a value" },
	{ "blanks only", TEXT(" \n\t "), "2:3", "found the end of the text, expected a value" },
	{ "two values", TEXT("{} []"), "1:4", "found '[', expected the end of the text" },
	{ "comma after the document", TEXT("1,"), "1:2", "found ',', expected the end of the text" },
	{ "trailing comma of an object", TEXT("{\"a\": 1,\n}"), "1:8", "found a ',' in front of the '}'" },
	{ "trailing comma of an array", TEXT("[1,\n 2 ,\n]"), "2:4", "found a ',' in front of the ']'" },
	{ "comma alone", TEXT("[,1]"), "1:2", "found ',', expected a value" },
	{ "two commas", TEXT("[1,,2]"), "1:4", "found ',', expected a value" },
	{ "no comma", TEXT("[1 2]"), "1:4", "found '2', expected ',' or ']'" },
	{ "no comma in an object", TEXT("{\"a\":1 \"b\":2}"), "1:8", "found '\"', expected ',' or '}'" },
	{ "wrong bracket", TEXT("[1}"), "1:3", "found '}', expected ',' or ']'" },
	{ "no colon", TEXT("{\"a\" 1}"), "1:6", "found '1', expected a ':' after the name" },
	{ "no value", TEXT("{\"a\":}"), "1:6", "found '}', expected a value" },
	{ "name without quotes", TEXT("{a: 1}"), "1:2", "found 'a', expected a name in double quotes" },
	{ "number as a name", TEXT("{1: 1}"), "1:2", "found '1', expected a name in double quotes" },
	{ "single quotes", TEXT("['a']"), "1:2", "found ''' (strings take double quotes)" },
	{ "open object", TEXT("{\"a\":1"), "1:7", "found the end of the text, expected ',' or '}'" },
	{ "open array", TEXT("[\n"), "2:1", "found the end of the text, expected a value" },
	{ "open string", TEXT("\"abc"), "1:5", "found the end of the text, expected the string's closing" },
	{ "string over lines", TEXT("[\"abc\n\"]"), "1:6", "found a line break, expected the string's closing" },
	{ "tab in a string", TEXT("\"a\tb\""), "1:3", "found the character 0x09, expected an escape" },
	{ "NUL in a string", TEXT("\"a\0b\""), "1:3", "found a NUL byte, expected text without it" },
	{ "NUL between values", TEXT("[1,\0 2]"), "1:4", "found a NUL byte, expected a value" },
	{ "NUL behind the document", TEXT("[1]\0"), "1:4", "found a NUL byte, expected the end of the text" },
	{ "NUL as an escape", TEXT("[\"\\u0000\"]"), "1:3", "found a NUL character (\\u0000)" },
	{ "NUL as an escape in a name", TEXT("{\"a\\u0000\": 1}"), "1:4", "found a NUL character (\\u0000)" },
	{ "unknown escape", TEXT("\"\\x41\""), "1:3", "found 'x41', expected one of" },
	{ "escape at the end", TEXT("\"\\"), "1:3", "found the end of the text, expected one of" },
	{ "short \\u", TEXT("\"\\u12\""), "1:2", "without four hexadecimal digits" },
	{ "\\u at the end", TEXT("\"\\u"), "1:2", "without four hexadecimal digits" },
	{ "\\u with other digits", TEXT("\"\\u12g4\""), "1:2", "without four hexadecimal digits" },
	{ "high surrogate alone", TEXT("\"\\ud800\""), "1:2", "half of a surrogate pair" },
	{ "low surrogate alone", TEXT("\"\\udc00\""), "1:2", "half of a surrogate pair" },
	{ "two high surrogates", TEXT("\"\\ud800\\ud800\""), "1:2", "half of a surrogate pair" },
	{ "high surrogate and a letter", TEXT("\"\\ud800A\""), "1:2", "half of a surrogate pair" },
	{ "invalid UTF-8 in a string", TEXT("\"a\xff\""), "1:3",
	  "found invalid UTF-8 (byte 0xff), expected UTF-8 text" },
	{ "overlong UTF-8", TEXT("\"\xc0\xaf\""), "1:2", "found invalid UTF-8 (byte 0xc0)" },
	{ "overlong UTF-8 of three", TEXT("\"\xe0\x80\xaf\""), "1:2", "found invalid UTF-8 (byte 0xe0)" },
	{ "surrogate in UTF-8", TEXT("\"\xed\xa0\x80\""), "1:2", "found invalid UTF-8 (byte 0xed)" },
	{ "beyond U+10FFFF", TEXT("\"\xf4\x90\x80\x80\""), "1:2", "found invalid UTF-8 (byte 0xf4)" },
	{ "cut UTF-8", TEXT("\"\xe2\x82"), "1:2", "found invalid UTF-8 (byte 0xe2)" },
	{ "UTF-8 outside of strings", TEXT("[\xc3\xa9]"), "1:2", "found the character U+00E9, expected a value" },
	{ "byte order mark", TEXT("\xef\xbb\xbf{}"), "1:1", "found a byte order mark (save the text without one)" },
	{ "comment", TEXT("{ // x\n}"), "1:3", "found '/' (JSON has no comments)" },
	{ "hash comment", TEXT("# x\n{}"), "1:1", "found '#' (JSON has no comments)" },
	{ "True", TEXT("True"), "1:1", "found 'True', expected a value" },
	{ "cut word", TEXT("tru"), "1:1", "found 'tru', expected a value" },
	{ "longer word", TEXT("[nulls]"), "1:2", "found 'nulls', expected a value" },
	{ "NaN", TEXT("NaN"), "1:1", "found 'NaN'" },
	{ "Infinity", TEXT("-Infinity"), "1:2", "found 'Infinity', expected a digit after the '-'" },
	{ "very long word", TEXT("abcdefghijklmnopqrstuvwxyz"), "1:1", "found 'abcdefghijklmnop', expected" },
	{ "leading zero", TEXT("[012]"), "1:2", "leading zero" },
	{ "negative leading zero", TEXT("-012"), "1:2", "leading zero" },
	{ "plus sign", TEXT("+1"), "1:1", "found '+' (a number takes no plus sign)" },
	{ "minus alone", TEXT("-"), "1:2", "found the end of the text, expected a digit after the '-'" },
	{ "no digit before the point", TEXT(".5"), "1:1", "found '.' (a number starts with a digit)" },
	{ "no digit behind the point", TEXT("[1.]"), "1:4", "found ']', expected a digit after the '.'" },
	{ "no exponent", TEXT("1e"), "1:3", "expected a digit of the exponent" },
	{ "no exponent after the sign", TEXT("1e+"), "1:4", "expected a digit of the exponent" },
	{ "hexadecimal", TEXT("0x10"), "1:2", "found 'x10', expected the end of the text" },
	{ "two points", TEXT("1.2.3"), "1:4", "found '.'" },
	{ "duplicate", TEXT("{\"a\":1,\n \"b\":2,\n \"a\":3}"), "3:2", "found the name \"a\" again" },
	{ "duplicate says where", TEXT("{\"b\":1,\n \"x\":2,\"x\":3}"), "2:8", "it is at 2:2 already" },
	{ "duplicate inside", TEXT("[{},{\"k\":{\"x\":1,\"y\":1,\"x\":1}}]"), "1:23", "found the name \"x\" again" },
	{ "the earlier of two duplicates", TEXT("{\"z\":1,\"z\":2,\"a\":1,\"a\":2}"), "1:8", "found the name \"z\"" },
	{ "the second of three", TEXT("{\"a\":1,\"b\":2,\"a\":1,\"a\":2}"), "1:14", "it is at 1:2 already" },
	{ "duplicate by an escape", TEXT("{\"key\":1, \"k\\u0065y\":2}"), "1:11", "found the name \"key\" again" },
	{ "duplicate by a pair", TEXT("{\"\xf0\x9f\x98\x80\":1, \"\\ud83d\\ude00\":2}"), "1:9", "again" },
	{ "duplicate by short escapes", TEXT("{\"\\n/\":1, \"\\u000a\\/\":2}"), "1:11", "again" },
	{ "duplicate of an empty name", TEXT("{\"\":1,\"\":2}"), "1:7", "found the name \"\" again" },
	{ "columns count characters", TEXT("[\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\", x]"), "1:9", "found 'x'" },
	{ "CR LF is one line", TEXT("{\r\n\r\n x}"), "3:2", "found 'x'" },
};

static struct json_index *must(const char *text, size_t len)
{
	struct json_index *ix = NULL;
	struct json_pos at = { 0 };
	struct err e = { 0 };
	int r = json_index_new(text, len, &ix, &at, &e);

	if (r < 0)
		fail_msg("%u:%u: %s", at.line, at.column, e.text);
	return ix;
}

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct json_index *ix = (void *)1;
		struct json_pos at = { 0 };
		struct err e = { 0 };
		char where[32], *copy = malloc(bad[i].len ? bad[i].len : 1);
		int r;

		/* exactly as long as it says, for AddressSanitizer to see a byte too many */
		assert_non_null(copy);
		memcpy(copy, bad[i].text, bad[i].len);
		r = json_index_new(copy, bad[i].len, &ix, &at, &e);
		free(copy);
		snprintf(where, sizeof(where), "%u:%u", at.line, at.column);
		if (r != -EINVAL || strcmp(where, bad[i].where) != 0 || !strstr(e.text, bad[i].says))
			fail_msg("%s: %d %s: %s; expected %s: %s", bad[i].name, r, where, e.text, bad[i].where,
				 bad[i].says);
		assert_ptr_equal(ix, (void *)1);
		assert_int_equal(e.code, r);
	}
}

static void test_accepted(void **state)
{
	static const char *const good[] = {
		"0",
		"-0",
		"-1",
		"10",
		"1.5",
		"-0.0e-10",
		"1E+2",
		"1e5",
		"123456789012345678901234567890",
		"1e999",
		"true",
		"false",
		"null",
		" \t\r\n1 \t\r\n",
		"\"\"",
		"\"a\"",
		"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
		"\"\\ud83d\\ude00\"",
		"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
		"\"\xf4\x8f\xbf\xbf\"",
		"\"\x7f\"",
		"[]",
		"{}",
		"[ ]",
		"{ }",
		"[[],{}]",
		"{\"a\":{\"a\":{\"a\":[]}}}",
		"{\"\":1}",
		"{\"a\":1,\"A\":2}",
		"{\"a\":1,\"aa\":2,\"aaa\":3}",
		"[{\"a\":1},{\"a\":1}]",
		"{\"\\u0061\\u0062\":1,\"a\":2,\"b\":3}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		CLEANUP_JSON_INDEX struct json_index *ix = must(good[i], strlen(good[i]));

		assert_non_null(ix);
	}
}

struct place {
	const char *pointer;
	const char *value, *key; /* "LINE:COLUMN", NULL: -ENOENT */
};

static void check_pos(const struct json_index *ix, const struct place *p, bool key)
{
	struct json_pos at = { 7777, 7777 };
	const char *want = key ? p->key : p->value;
	int r = (key ? json_index_key : json_index_value)(ix, p->pointer, &at);
	char got[32];

	snprintf(got, sizeof(got), "%u:%u", at.line, at.column);
	if (!want && (r != -ENOENT || at.line != 7777))
		fail_msg("%s '%s': %d %s, expected -ENOENT", key ? "key" : "value", p->pointer, r, got);
	if (want && (r != 0 || strcmp(got, want) != 0))
		fail_msg("%s '%s': %d %s, expected %s", key ? "key" : "value", p->pointer, r, got, want);
}

static void test_places(void **state)
{
	static const char text[] =
		"\n  {\"b\": [10, {\"x\":\ttrue}, []],\n"
		"\"a/b\": 1, \"m~n\": 2, \"\": {\"\": 3},\n"
		"\t\"\xc3\xa9\xe2\x82\xac\": \"\xf0\x9f\x98\x80\", \"k\\u0065y\\n\": [0,1,2,3,4,5,6,7,8,9,10],\n"
		"\"0\": \"zero\", \"\\ud83d\\ude00\": null, \"~1\": 4}";
	static const struct place places[] = {
		{ "", "2:3", NULL },
		{ "/b", "2:9", "2:4" },
		{ "/b/0", "2:10", NULL },
		{ "/b/1", "2:14", NULL },
		{ "/b/1/x", "2:20", "2:15" },
		{ "/b/2", "2:27", NULL },
		{ "/a~1b", "3:8", "3:1" },
		{ "/m~0n", "3:18", "3:11" },
		{ "/", "3:25", "3:21" },
		{ "//", "3:30", "3:26" },
		{ "/\xc3\xa9\xe2\x82\xac", "4:8", "4:2" },
		{ "/key\n", "4:27", "4:13" },
		{ "/key\n/10", "4:48", NULL },
		{ "/0", "5:6", "5:1" },
		{ "/\xf0\x9f\x98\x80", "5:30", "5:14" },
		{ "/~01", "5:42", "5:36" },
		/* what is not there, and what is no pointer */
		{ "b", NULL, NULL },
		{ "/c", NULL, NULL },
		{ "/b/3", NULL, NULL },
		{ "/b/-", NULL, NULL },
		{ "/b/00", NULL, NULL },
		{ "/b/01", NULL, NULL },
		{ "/b/+1", NULL, NULL },
		{ "/b/", NULL, NULL },
		{ "/b/4294967296", NULL, NULL },
		{ "/b/18446744073709551616", NULL, NULL },
		{ "/b/1/x/y", NULL, NULL },
		{ "/b/0/", NULL, NULL },
		{ "/b/1/xx", NULL, NULL },
		{ "/b/1/", NULL, NULL },
		{ "/a/b", NULL, NULL },
		{ "/m~n", NULL, NULL },
		{ "/m~", NULL, NULL },
		{ "/~2", NULL, NULL },
		{ "/~1", NULL, NULL },
		{ "/\xff", NULL, NULL },
		{ "/\xc3", NULL, NULL },
	};
	CLEANUP_JSON_INDEX struct json_index *ix = must(text, sizeof(text) - 1);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		check_pos(ix, &places[i], false);
		check_pos(ix, &places[i], true);
	}
}

static void test_number(void **state)
{
	static const char text[] = "{\"a\":18446744073709551616,\"b\":[-1.50e+3],\"c\":\"7\"}";
	CLEANUP_JSON_INDEX struct json_index *ix = must(text, sizeof(text) - 1);
	CLEANUP_JSON_INDEX struct json_index *bare = must("-12", 3);
	const char *s = NULL;
	size_t len = 0;

	(void)state;
	assert_int_equal(json_index_number(ix, "/a", &s, &len), 0);
	assert_int_equal(len, 20);
	assert_memory_equal(s, "18446744073709551616", 20);
	assert_int_equal(json_index_number(ix, "/b/0", &s, &len), 0);
	assert_int_equal(len, 8);
	assert_memory_equal(s, "-1.50e+3", 8);
	assert_int_equal(json_index_number(bare, "", &s, &len), 0);
	assert_int_equal(len, 3);
	assert_int_equal(json_index_number(ix, "/c", &s, &len), -ENOENT);
	assert_int_equal(json_index_number(ix, "/b", &s, &len), -ENOENT);
	assert_int_equal(json_index_number(ix, "/d", &s, &len), -ENOENT);
}

static void test_pointer_add(void **state)
{
	CLEANUP_TEXT struct text t = { 0 };

	(void)state;
	json_pointer_add(&t, "a/b~c");
	json_pointer_add(&t, "");
	json_pointer_add(&t, "0");
	assert_string_equal(text_str(&t), "/a~1b~0c//0");
}

static char *repeat(const char *s, size_t n, size_t *ret_len)
{
	size_t len = strlen(s);
	char *buf = malloc(len * n + 1);

	assert_non_null(buf);
	for (size_t i = 0; i < n; i++)
		memcpy(buf + i * len, s, len);
	*ret_len = len * n;
	return buf;
}

static void test_depth(void **state)
{
	static const struct {
		const char *open, *close;
		unsigned int column;
	} kinds[] = { { "[", "]", 1 }, { "{\"a\":", "}", 5 } };

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (unsigned int depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
			CLEANUP_JSON_INDEX struct json_index *ix = NULL;
			CLEANUP_TEXT struct text t = { 0 };
			struct json_pos at = { 0 };
			struct err e = { 0 };
			int r;

			for (unsigned int i = 0; i < depth; i++)
				text_add(&t, "%s", kinds[k].open);
			text_add(&t, "1");
			for (unsigned int i = 0; i < depth; i++)
				text_add(&t, "%s", kinds[k].close);
			r = json_index_new(t.s, t.len, &ix, &at, &e);
			if (depth == JSON_DEPTH_MAX) {
				assert_int_equal(r, 0);
				continue;
			}
			assert_int_equal(r, -E2BIG);
			assert_int_equal(at.line, 1);
			assert_int_equal(at.column, JSON_DEPTH_MAX * kinds[k].column + 1);
			assert_non_null(strstr(e.text, "nested deeper than 32"));
		}
	}
}

/* 10 MB of brackets end at the 33rd of them. */
static void test_deep(void **state)
{
	static const char *const units[] = { "[", "{\"a\":", "[{\"a\":" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		struct json_index *ix = NULL;
		struct json_pos at = { 0 };
		struct err e = { 0 };
		size_t len = 0;
		char *text = repeat(units[i], (10u << 20) / strlen(units[i]), &len);

		assert_int_equal(json_index_new(text, len, &ix, &at, &e), -E2BIG);
		assert_int_equal(at.line, 1);
		assert_true(at.column <= JSON_DEPTH_MAX * 5 + 1);
		free(text);
	}
}

static void test_sizes(void **state)
{
	struct json_index *ix = NULL;
	struct json_pos at = { 0 };
	struct err e = { 0 };
	char *text = malloc(JSON_TEXT_MAX + 1);

	(void)state;
	assert_non_null(text);
	memset(text, ' ', JSON_TEXT_MAX + 1);
	text[JSON_TEXT_MAX - 1] = '1';
	ix = must(text, JSON_TEXT_MAX);
	assert_int_equal(json_index_value(ix, "", &at), 0);
	assert_int_equal(at.column, JSON_TEXT_MAX);
	ix = json_index_free(ix);
	assert_null(ix);
	assert_int_equal(json_index_new(text, JSON_TEXT_MAX + 1, &ix, &at, &e), -EFBIG);
	assert_non_null(strstr(e.text, "16777217 bytes, allowed are 16777216"));
	free(text);
}

/* [1,\n1,\n1] with n ones. */
static char *ones(size_t n, size_t *ret_len)
{
	char *text = repeat("\n1,", n, ret_len);

	text[0] = '[';
	text[*ret_len - 1] = ']';
	return text;
}

/* The array itself is a value too. */
static void test_values_limit(void **state)
{
	struct json_index *ix = NULL;
	struct json_pos at = { 0 };
	struct err e = { 0 };
	size_t len = 0;
	char *text = ones(JSON_VALUES_MAX - 1, &len);

	(void)state;
	ix = must(text, len);
	assert_int_equal(json_index_value(ix, "/1048574", &at), 0);
	assert_int_equal(at.line, JSON_VALUES_MAX - 1);
	assert_int_equal(at.column, 1);
	assert_int_equal(json_index_value(ix, "/1048575", &at), -ENOENT);
	ix = json_index_free(ix);
	free(text);
	text = ones(JSON_VALUES_MAX, &len);
	assert_int_equal(json_index_new(text, len, &ix, &at, &e), -E2BIG);
	assert_non_null(strstr(e.text, "found more than 1048576 values"));
	free(text);
}

/* Many members in an order that is no order, each found by its name, and a repeated one among them. */
static void test_many_members(void **state)
{
	const unsigned int n = 100003; /* a prime, so that the step reaches all */
	CLEANUP_TEXT struct text t = { 0 };
	CLEANUP_JSON_INDEX struct json_index *ix = NULL;
	struct json_index *none = NULL;
	struct json_pos at = { 0 };
	struct err e = { 0 };
	char pointer[32];

	(void)state;
	text_add(&t, "{");
	for (unsigned int i = 0; i < n; i++)
		text_add(&t, "%s\n\"k%u\":%u", i ? "," : "", i * 7919u % n, i);
	text_add(&t, "}");
	ix = must(t.s, t.len);
	for (unsigned int i = 0; i < n; i++) {
		snprintf(pointer, sizeof(pointer), "/k%u", i * 7919u % n);
		assert_int_equal(json_index_key(ix, pointer, &at), 0);
		assert_int_equal(at.line, i + 2);
		assert_int_equal(at.column, 1);
	}
	t.len--;
	text_add(&t, ",\n\"k0\":0}");
	assert_int_equal(json_index_new(t.s, t.len, &none, &at, &e), -EINVAL);
	assert_int_equal(at.line, n + 2);
	assert_non_null(strstr(e.text, "it is at 2:1 already"));
}

static void test_null(void **state)
{
	struct json_index *ix = NULL;
	struct json_pos at;

	(void)state;
	assert_null(json_index_free(NULL));
	assert_int_equal(json_index_new("[", 1, &ix, &at, NULL), -EINVAL);
	assert_null(ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),      cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_places),       cmocka_unit_test(test_number),
		cmocka_unit_test(test_pointer_add),  cmocka_unit_test(test_depth),
		cmocka_unit_test(test_deep),         cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_values_limit), cmocka_unit_test(test_many_members),
		cmocka_unit_test(test_null),
	};

	return cmocka_run_group_tests_name("jsonpos", tests, NULL, NULL);
}
