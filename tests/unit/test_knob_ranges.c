// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every knob of the table in every era: one below its range, its ends, one above. What is taken is what the kernel then
 * has; what is refused changes nothing; and a bound that the kernel has, too, is the same there.
 */
#include "fake.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct at {
	struct fake *f;
	struct kernel *k;
	const struct knob *knob;
	const char *era;
};

static const char *show(const struct at *a)
{
	return a->knob->sysctl ? fake_sysctl(a->f, "", a->knob->sysctl) : NULL;
}

/* The kernel's value as its own sysctl or netlink has it, without the functions under test where there is a sysctl. */
static void assert_is(const struct at *a, struct value want)
{
	CLEANUP_TEXT struct text t = { 0 };
	const char *s = show(a);
	struct value got;
	struct err e = { 0 };

	assert_int_equal(kernel_knob_get(a->k, a->knob, &got, &e), 0);
	assert_true(value_equal(got, want));
	if (!s)
		return;
	if (want.kind == VALUE_STR)
		text_add(&t, "%s", want.s);
	else
		text_add(&t, "%llu", (unsigned long long)want.u);
	assert_string_equal(s, text_str(&t));
}

static int set(const struct at *a, struct value v, struct err *e)
{
	int r = kernel_knob_set(a->k, a->knob, v, e);

	if (r < 0)
		assert_true(e->text[0] && e->code == r);
	return r;
}

/* Is the value beyond what this kernel takes although the table allows it? The row's range_note says so. */
static bool narrowed(const struct at *a, uint64_t u)
{
	return a->knob->range_note && strcmp(a->knob->name, "smcr_testlink_time") == 0 && u > 2147483647 / 250;
}

static void taken(const struct at *a, uint64_t u)
{
	struct value before;
	struct err e = { 0 };
	int r;

	assert_int_equal(kernel_knob_get(a->k, a->knob, &before, &e), 0);
	r = set(a, value_uint(u), &e);
	if (narrowed(a, u)) {
		assert_int_equal(r, kernel_knobs_together(a->k) ? -ERANGE : -EINVAL);
		assert_is(a, before);
		return;
	}
	if (r < 0)
		print_error("%s=%llu on %s: %s\n", a->knob->name, (unsigned long long)u, a->era, e.text);
	assert_int_equal(r, 0);
	assert_is(a, value_uint(u));
}

static void refused(const struct at *a, struct value v)
{
	struct transport t;
	struct value before;
	struct err e = { 0 };
	char text[32];

	assert_int_equal(kernel_knob_get(a->k, a->knob, &before, &e), 0);
	assert_int_equal(set(a, v, &e), -ERANGE);
	assert_non_null(strstr(e.text, a->knob->name));
	assert_is(a, before);
	if (v.kind != VALUE_UINT || !show(a))
		return;
	/* The kernel's own bound is no wider: what we refuse cannot be written past us either. */
	snprintf(text, sizeof(text), "%llu", (unsigned long long)v.u);
	assert_int_equal(fake_transport(a->f, "", &t), 0);
	assert_int_equal(t.ops->sysctl_write(t.ctx, a->knob->sysctl, text), -EINVAL);
	t.ops->free(t.ctx);
	assert_is(a, before);
}

static void string_knob(const struct at *a)
{
	char word[256];
	struct err e = { 0 };
	size_t max = a->knob->spec.max;

	assert_true(max + 2 < sizeof(word));
	memset(word, 'x', max + 1);
	word[max + 1] = '\0';
	refused(a, value_str(word));
	word[max] = '\0';
	fake_do(a->f, "hs_ctrl %s", word);
	assert_int_equal(set(a, value_str(word), &e), 0);
	assert_is(a, value_str(word));
	word[a->knob->spec.min] = '\0';
	assert_int_equal(set(a, value_str(word), &e), 0);
	assert_is(a, value_str(word));
}

static void number_knob(const struct at *a)
{
	uint64_t min = a->knob->spec.min, max = a->knob->spec.max;

	if (min > 0)
		refused(a, value_uint(min - 1));
	taken(a, min);
	taken(a, max);
	if (a->knob->range_note)
		taken(a, 2147483647 / 250);
	taken(a, min + (max - min) / 2);
	if (max < UINT64_MAX)
		refused(a, value_uint(max + 1));
	refused(a, value_uint(UINT64_MAX));
}

/* Neither the number of a choice nor a name where a number belongs. */
static void wrong_kind(const struct at *a)
{
	bool is_string = a->knob->spec.type == TYPE_STRING;
	struct value before, wrong = is_string ? value_uint(1) : value_str("many");
	struct err e = { 0 };

	assert_int_equal(kernel_knob_get(a->k, a->knob, &before, &e), 0);
	assert_true(set(a, wrong, &e) < 0);
	assert_true(set(a, (struct value){ 0 }, &e) < 0);
	assert_is(a, before);
}

static void absent_knob(const struct at *a)
{
	struct value v = a->knob->spec.type == TYPE_STRING ? value_str("") : value_uint(a->knob->spec.min);
	struct err e = { 0 };

	assert_int_equal(set(a, v, &e), -EOPNOTSUPP);
	assert_non_null(strstr(e.text, a->knob->name));
}

static void each_knob(const char *era)
{
	for (size_t i = 0; i < n_knobs; i++) {
		struct at a = { .f = fake_new(era), .knob = &knobs[i], .era = era };

		a.k = fake_kernel(a.f, "");
		if (!show(&a) && !a.knob->genl) {
			absent_knob(&a);
		} else {
			wrong_kind(&a);
			if (a.knob->spec.type == TYPE_STRING)
				string_knob(&a);
			else
				number_knob(&a);
		}
		kernel_free(a.k);
		fake_free(a.f);
	}
}

static void test_ranges(void **state)
{
	(void)state;
	/* From the third on the module is there. */
	for (unsigned int i = 2; fake_eras[i]; i++)
		each_knob(fake_eras[i]);
}

/* Every sysctl of this kernel is in the table; marks its row. */
static void mark_sysctls(const char *era, bool *found)
{
	struct fake *f CLEANUP(fake_freep) = fake_new(era);
	const char *s = fake_state(f, "");
	CLEANUP_FREE char *all = strdup(s);

	assert_non_null(all);
	for (char *save, *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		bool known = false;
		size_t len;

		if (strncmp(line, "sysctl ", 7) != 0)
			continue;
		line += 7;
		len = strcspn(line, " ");
		for (size_t i = 0; i < n_knobs; i++) {
			bool same = knobs[i].sysctl && strlen(knobs[i].sysctl) == len &&
				    memcmp(knobs[i].sysctl, line, len) == 0;

			found[i] |= same;
			known |= same;
		}
		if (!known)
			print_error("no knob for %s\n", line);
		assert_true(known);
	}
}

/* The table lists every sysctl that some kernel has, and no other. */
static void test_table_and_kernel(void **state)
{
	CLEANUP_FREE bool *found = calloc(n_knobs, sizeof(*found));

	(void)state;
	assert_non_null(found);
	mark_sysctls("7.2", found);
	mark_sysctls("6.12-smcd", found);
	for (size_t i = 0; i < n_knobs; i++)
		assert_true(found[i] || !knobs[i].sysctl);
}

/* What belongs to the host is absent from other namespaces, and no error. */
static void test_host_scope(void **state)
{
	struct fake *f CLEANUP(fake_freep) = fake_new("6.12-smcd");

	(void)state;
	fake_do(f, "netns blue");
	for (size_t i = 0; i < n_knobs; i++) {
		if (knobs[i].scope != SCOPE_HOST)
			continue;
		assert_non_null(fake_sysctl(f, "", knobs[i].sysctl));
		assert_null(fake_sysctl(f, "blue", knobs[i].sysctl));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_table_and_kernel),
		cmocka_unit_test(test_host_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
