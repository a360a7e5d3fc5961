// SPDX-License-Identifier: GPL-2.0-or-later
/* Values, their notations, and what must hold of every row of the tables. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>

#include "methods.h"
#include "metrics.h"
#include "reasons.h"

static const char *const colours[] = { "red", "green", NULL };
static const struct value_spec size_spec = { TYPE_SIZE, 16384, 1073741823, NULL };
static const struct value_spec count_spec = { TYPE_COUNT, 0, UINT64_MAX, NULL };
static const struct value_spec time_spec = { TYPE_SECONDS, 0, 1000000, NULL };
static const struct value_spec bool_spec = { TYPE_BOOL, 0, 1, NULL };
static const struct value_spec choice_spec = { TYPE_CHOICE, 0, 1, colours };
static const struct value_spec name_spec = { TYPE_STRING, 1, 4, NULL };

static void check_parse(const struct value_spec *spec, const char *s, uint64_t want)
{
	struct value v = { 0 };
	struct err e = { 0 };

	if (value_parse(spec, s, &v, &e) != 0)
		fail_msg("'%s': %s", s, e.text);
	assert_int_equal(v.kind, VALUE_UINT);
	if (v.u != want)
		fail_msg("'%s' is %llu, not %llu", s, (unsigned long long)v.u, (unsigned long long)want);
}

static void check_refused(const struct value_spec *spec, const char *s, int code, const char *says)
{
	struct value v = { .kind = VALUE_UINT, .u = 4711 };
	struct err e = { 0 };
	int r = value_parse(spec, s, &v, &e);

	if (r != code)
		fail_msg("'%s' gives %s, not %s", s, errno_name(r), errno_name(code));
	assert_int_equal(v.u, 4711); /* outputs are untouched on failure */
	if (!strstr(e.text, says))
		fail_msg("'%s' is refused with \"%s\", which lacks \"%s\"", s, e.text, says);
}

static void test_parse_notations(void **state)
{
	(void)state;
	check_parse(&size_spec, "65536", 65536);
	check_parse(&size_spec, "64K", 65536);
	check_parse(&size_spec, "64k", 65536);
	check_parse(&size_spec, "64KiB", 65536);
	check_parse(&size_spec, "1M", 1 << 20);
	check_parse(&size_spec, "1073741823", 1073741823);
	check_parse(&count_spec, "18446744073709551615", UINT64_MAX);
	check_parse(&time_spec, "30", 30);
	check_parse(&time_spec, "30s", 30);
	check_parse(&time_spec, "5m", 300);
	check_parse(&time_spec, "2h", 7200);
	check_parse(&bool_spec, "on", 1);
	check_parse(&bool_spec, "No", 0);
	check_parse(&bool_spec, "1", 1);
	check_parse(&choice_spec, "GREEN", 1);
	check_parse(&choice_spec, "0", 0);
}

static void test_parse_refusals(void **state)
{
	(void)state;
	check_refused(&size_spec, "12Q", -EINVAL,
		      "'12Q' is not a size: a whole number of bytes, or one with K, M or G");
	check_refused(&size_spec, "", -EINVAL, "not a size");
	check_refused(&size_spec, "K", -EINVAL, "not a size");
	check_refused(&size_spec, " 64K", -EINVAL, "not a size");
	check_refused(&size_spec, "64K ", -EINVAL, "not a size");
	check_refused(&size_spec, "0x4000", -EINVAL, "not a size");
	check_refused(&size_spec, "1.5M", -EINVAL, "not a size");
	check_refused(&size_spec, "16383", -ERANGE, "'16383' is out of range: 16384..1073741823 bytes (16K..1.00G)");
	check_refused(&size_spec, "1G", -ERANGE, "out of range");
	check_refused(&size_spec, "-5", -ERANGE, "out of range");
	check_refused(&size_spec, "17179869184G", -ERANGE, "out of range");
	check_refused(&size_spec, "99999999999999999999999999", -ERANGE, "out of range");
	check_refused(&size_spec, "99999999999999999999999999Q", -EINVAL, "not a size");
	check_refused(&count_spec, "18446744073709551616", -ERANGE, "out of range");
	check_refused(&count_spec, "64K", -EINVAL, "not a whole number");
	check_refused(&time_spec, "12d", -ERANGE, "0..1000000 seconds");
	check_refused(&time_spec, "5y", -EINVAL, "not a time");
	check_refused(&bool_spec, "2", -EINVAL, "on or off");
	check_refused(&bool_spec, "", -EINVAL, "on or off");
	check_refused(&choice_spec, "blue", -EINVAL, "red, green");
	check_refused(&choice_spec, "2", -ERANGE, "red, green");
	check_refused(&name_spec, "", -ERANGE, "1 to 4 characters");
	check_refused(&name_spec, "abcde", -ERANGE, "1 to 4 characters");
	check_refused(&name_spec, "a b", -EINVAL, "without blanks");
	check_refused(&name_spec, "a\n", -EINVAL, "\\x0a");
}

static void check_text(const struct value_spec *spec, struct value v, const char *want)
{
	CLEANUP_TEXT struct text t = { 0 };

	value_text(spec, v, &t);
	assert_string_equal(text_str(&t), want);
}

static void test_text(void **state)
{
	(void)state;
	check_text(&size_spec, value_uint(65536), "64K");
	check_text(&size_spec, value_uint(65537), "65537");
	check_text(&size_spec, value_uint(0), "0");
	check_text(&time_spec, value_uint(30), "30s");
	check_text(&bool_spec, value_uint(0), "off");
	check_text(&choice_spec, value_uint(1), "green");
	check_text(&choice_spec, value_uint(7), "7"); /* a newer kernel's choice is shown, not hidden */
	check_text(&size_spec, (struct value){ 0 }, "-");
	check_text(&name_spec, value_str("a\033[31m"), "a\\x1b[31m");
}

static void check_human(void (*human)(uint64_t, struct text *), uint64_t n, const char *want)
{
	CLEANUP_TEXT struct text t = { 0 };

	human(n, &t);
	assert_string_equal(text_str(&t), want);
}

static void test_human(void **state)
{
	(void)state;
	check_human(human_size, 0, "0");
	check_human(human_size, 1023, "1023");
	check_human(human_size, 1536, "1.50K");
	check_human(human_size, 1 << 20, "1M");
	check_human(human_size, UINT64_MAX, "16.0E");
	check_human(human_count, 999, "999");
	check_human(human_count, 65536, "65.5k");
	check_human(human_count, 999999, "1.00M");
}

/* What is written for people is read back as the same value, for every knob and its bounds. */
static void test_round_trip(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_knobs; i++) {
		const uint64_t samples[] = { knobs[i].spec.min, knobs[i].spec.max, knobs[i].def.u };

		if (knobs[i].spec.type == TYPE_STRING)
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(samples); j++) {
			CLEANUP_TEXT struct text t = { 0 };

			value_text(&knobs[i].spec, value_uint(samples[j]), &t);
			check_parse(&knobs[i].spec, text_str(&t), samples[j]);
		}
	}
}

static bool is_snake(const char *s)
{
	if (!islower((unsigned char)s[0]))
		return false;
	for (; *s; s++)
		if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static void test_knob_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_knobs; i++) {
		struct err e = { 0 };

		assert_true(is_snake(knobs[i].name));
		assert_ptr_equal(knob_find(knobs[i].name), &knobs[i]); /* no name twice */
		assert_true(knobs[i].sysctl || knobs[i].genl);
		assert_true(knobs[i].doc && knobs[i].since);
		if (value_check(&knobs[i].spec, knobs[i].def, &e) < 0)
			fail_msg("the default of '%s': %s", knobs[i].name, e.text);
	}
	assert_null(knob_find("wmen"));
	assert_string_equal(knob_suggest("wmen"), "wmem");
	assert_string_equal(knob_suggest("smcr_testlnk_time"), "smcr_testlink_time");
	assert_null(knob_suggest("entirely_else"));
}

/* smc_compress_bufsize(): 16 KiB x 2^n, rounded up; capped. */
static void test_expected_buffers(void **state)
{
	(void)state;
	assert_int_equal(knob_expected(16384, TECH_SMCD), 16384);
	assert_int_equal(knob_expected(16385, TECH_SMCD), 32768);
	assert_int_equal(knob_expected(65536, TECH_SMCR), 65536);
	assert_int_equal(knob_expected(100000, TECH_SMCR), 131072);
	assert_int_equal(knob_expected(4 << 20, TECH_SMCD), 1 << 20);
	assert_int_equal(knob_expected(4 << 20, TECH_SMCR), 4 << 20);
	assert_int_equal(knob_expected(1073741823, TECH_SMCR), 512 << 20);
}

static void test_noun_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_NOUNS; i++) {
		const struct noun *noun = NULL;

		assert_int_equal(nouns[i].id, i);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(nouns[i].name, nouns[j].name);
		assert_ptr_equal(method_find(nouns[i].method, &noun), &methods[METHOD_LIST_NOUN]);
		assert_ptr_equal(noun, &nouns[i]);
		for (size_t f = 0; f < nouns[i].n_fields; f++) {
			if (!nouns[i].fields[f].name)
				fail_msg("%s has no row for field %zu", nouns[i].name, f);
			assert_true(is_snake(nouns[i].fields[f].name) && nouns[i].fields[f].doc);
			for (size_t g = 0; g < f; g++)
				assert_string_not_equal(nouns[i].fields[f].name, nouns[i].fields[g].name);
		}
	}
}

static void test_metric_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_METRICS; i++) {
		const char *name = metrics[i].name;
		size_t len = name ? strlen(name) : 0;
		bool total = len > 6 && str_eq(name + len - 6, "_total");

		if (!name)
			fail_msg("metric %zu has no row", i);
		assert_true(is_snake(name) && metrics[i].help[0]);
		assert_int_equal(total, metrics[i].kind == METRIC_COUNTER);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(name, metrics[j].name);
	}
	for (size_t i = 0; i < n_stats; i++) {
		assert_int_equal(stats_table[i].histogram, metrics[stats_table[i].metric].kind == METRIC_HISTOGRAM);
		for (size_t j = i + 2; j < n_stats; j++) /* families stand together */
			if (stats_table[j].metric == stats_table[i].metric)
				assert_int_equal(stats_table[j - 1].metric, stats_table[i].metric);
	}
}

static void test_reasons(void **state)
{
	const struct reason *known = NULL;
	struct err e = { 0 };
	uint32_t code = 0;

	(void)state;
	for (size_t i = 0; i < n_reasons; i++) {
		assert_ptr_equal(reason_find(reasons[i].code), &reasons[i]);
		assert_int_equal(reason_parse(reasons[i].name, &code, &known, &e), 0);
		assert_ptr_equal(known, &reasons[i]);
		assert_true(reasons[i].meaning[0] && reasons[i].action[0]);
	}
	assert_int_equal(reason_parse("0x03030000", &code, &known, &e), 0);
	assert_string_equal(known->name, "NOSMCDEV");
	assert_int_equal(reason_parse("3030000", &code, &known, &e), 0);
	assert_string_equal(known->name, "NOSMCDEV");
	assert_int_equal(reason_parse("smc_clc_decl_nosmcdev", &code, &known, &e), 0);
	assert_string_equal(known->name, "NOSMCDEV");
	assert_int_equal(reason_parse("0x01020304", &code, &known, &e), 0);
	assert_int_equal(code, 0x01020304);
	assert_null(known);
	assert_int_equal(reason_parse("NOSMCDEW", &code, &known, &e), -EINVAL);
	assert_non_null(strstr(e.text, "did you mean NOSMCDEV?"));
	assert_int_equal(reason_parse("0x123456789", &code, &known, &e), -EINVAL);
	assert_int_equal(reason_parse("", &code, &known, &e), -EINVAL);
}

static void test_safe_text(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "plain", "plain" },
		{ "tab\there", "tab\\x09here" },
		{ "\033]0;x\007", "\\x1b]0;x\\x07" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xc0\xaf", "\\xc0\\xaf" },                   /* overlong */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },          /* surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* beyond Unicode */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" },          /* right-to-left override */
		{ "\xc2\x9b", "\\xc2\\x9b" },                   /* C1 CSI */
		{ "cut\xc3", "cut\\xc3" },
		{ "back\\slash", "back\\x5cslash" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP_TEXT struct text t = { 0 };

		text_add_safe(&t, rows[i].in, strlen(rows[i].in), SIZE_MAX);
		assert_string_equal(text_str(&t), rows[i].out);
	}
}

static void test_lists(void **state)
{
	CLEANUP_LIST struct list a = { 0 }, b = { 0 };
	char name[16];

	(void)state;
	list_init(&a, &nouns[NOUN_UEID]);
	list_init(&b, &nouns[NOUN_UEID]);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "EID-%d", i);
		list_add(&a)[UEID_EID] = value_str(list_str(&a, name, sizeof(name)));
		list_add(&b)[UEID_EID] = value_str(list_str(&b, name, sizeof(name)));
	}
	assert_string_equal(list_row(&a, 999)[UEID_EID].s, "EID-999");
	assert_true(list_equal(&a, &b));
	list_row(&b, 500)[UEID_EID] = value_str("other");
	assert_false(list_equal(&a, &b));
	b.n--;
	assert_false(list_equal(&a, &b));
	assert_string_equal(list_str(&a, "no NUL here", 2), "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_notations),
		cmocka_unit_test(test_parse_refusals),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_human),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_knob_rows),
		cmocka_unit_test(test_expected_buffers),
		cmocka_unit_test(test_noun_rows),
		cmocka_unit_test(test_metric_rows),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_safe_text),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
