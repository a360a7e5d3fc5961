// SPDX-License-Identifier: GPL-2.0-or-later
#include "value.h"

#include <ctype.h>
#include <strings.h>

struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 },           { "B", 1 },
	{ "K", 1ull << 10 }, { "KiB", 1ull << 10 },
	{ "M", 1ull << 20 }, { "MiB", 1ull << 20 },
	{ "G", 1ull << 30 }, { "GiB", 1ull << 30 },
};

static const struct unit time_units[] = {
	{ "", 1 }, { "s", 1 }, { "sec", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 }, { "d", 86400 },
};

static const struct unit msec_units[] = {
	{ "", 1 }, { "ms", 1 }, { "msec", 1 }, { "s", 1000 }, { "sec", 1000 }, { "m", 60000 }, { "min", 60000 },
};

static const struct unit count_units[] = { { "", 1 } };

/* The first pair is how a switch is shown; a row ends with NULL. */
static const char *const bool_words[][3] = { { "off", "on" }, { "false", "true" }, { "no", "yes" }, { "0", "1" } };

bool value_equal(struct value a, struct value b)
{
	if (a.kind != b.kind)
		return false;
	switch (a.kind) {
	case VALUE_ABSENT:
		return true;
	case VALUE_UINT:
		return a.u == b.u;
	case VALUE_STR:
		return str_eq(a.s, b.s);
	}
	return false;
}

const char *value_unit(enum value_type type)
{
	switch (type) {
	case TYPE_SIZE:
		return "bytes";
	case TYPE_SECONDS:
		return "seconds";
	case TYPE_MSECONDS:
		return "milliseconds";
	default:
		return "";
	}
}

bool value_has_range(enum value_type type)
{
	return type == TYPE_COUNT || type == TYPE_SIZE || type == TYPE_SECONDS || type == TYPE_MSECONDS;
}

const char *const *value_names(const struct value_spec *spec)
{
	if (spec->type == TYPE_CHOICE)
		return spec->choices;
	return spec->type == TYPE_BOOL ? bool_words[0] : NULL;
}

static int bad_type(struct err *e, const char *s, const char *what)
{
	char shown[4 * SHOWN_MAX + 4];

	return err_set(e, -EINVAL, "'%s' is not %s", safe_str(shown, sizeof(shown), s), what);
}

static int out_of_range(struct err *e, const struct value_spec *spec, const char *s)
{
	CLEANUP_TEXT struct text allowed = { 0 };
	char shown[4 * SHOWN_MAX + 4];

	value_allowed(spec, &allowed);
	return err_set(e, -ERANGE, "'%s' is out of range: %s", safe_str(shown, sizeof(shown), s), text_str(&allowed));
}

/* Number and unit. -EINVAL: neither; -ERANGE: over 64 bits. */
static int parse_scaled(const char *s, const struct unit *units, size_t n, uint64_t *ret)
{
	const char *p = s;
	uint64_t u = 0;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(u, 10, &u) || __builtin_add_overflow(u, (uint64_t)(*p - '0'), &u)) {
			/* the unit does not matter any more, but a bad one is the more helpful message */
			while (isdigit((unsigned char)*p))
				p++;
			for (size_t i = 0; i < n; i++)
				if (strcasecmp(p, units[i].suffix) == 0)
					return -ERANGE;
			return -EINVAL;
		}
	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(p, units[i].suffix) != 0)
			continue;
		return __builtin_mul_overflow(u, units[i].factor, ret) ? -ERANGE : 0;
	}
	return -EINVAL;
}

static int parse_bool(const char *s, uint64_t *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(bool_words); i++)
		for (unsigned int b = 0; b < 2; b++)
			if (strcasecmp(s, bool_words[i][b]) == 0) {
				*ret = b;
				return 0;
			}
	return -EINVAL;
}

static int parse_choice(const struct value_spec *spec, const char *s, uint64_t *ret)
{
	for (uint64_t i = 0; spec->choices[i]; i++)
		if (strcasecmp(s, spec->choices[i]) == 0) {
			*ret = i;
			return 0;
		}
	return parse_scaled(s, count_units, ARRAY_SIZE(count_units), ret);
}

static int parse_number(const struct value_spec *spec, const char *s, uint64_t *ret, struct err *e)
{
	int r = -EINVAL;
	const char *what = "a whole number";

	switch (spec->type) {
	case TYPE_SIZE:
		what = "a size: a whole number of bytes, or one with K, M or G";
		r = parse_scaled(s, size_units, ARRAY_SIZE(size_units), ret);
		break;
	case TYPE_SECONDS:
		what = "a time: a whole number of seconds, or one with s, m, h or d";
		r = parse_scaled(s, time_units, ARRAY_SIZE(time_units), ret);
		break;
	case TYPE_MSECONDS:
		what = "a time: a whole number of milliseconds, or one with ms, s or m";
		r = parse_scaled(s, msec_units, ARRAY_SIZE(msec_units), ret);
		break;
	case TYPE_BOOL:
		what = "on or off";
		r = parse_bool(s, ret);
		break;
	case TYPE_CHOICE:
		r = parse_choice(spec, s, ret);
		if (r == -EINVAL) {
			CLEANUP_TEXT struct text allowed = { 0 };

			value_allowed(spec, &allowed);
			return bad_type(e, s, text_str(&allowed));
		}
		break;
	default:
		r = parse_scaled(s, count_units, ARRAY_SIZE(count_units), ret);
		break;
	}
	/* A minus sign in front of a number is a number out of range, not a misunderstanding of notation. */
	if (r == -EINVAL && s[0] == '-' && isdigit((unsigned char)s[1]))
		r = -ERANGE;
	if (r == -ERANGE)
		return out_of_range(e, spec, s);
	return r < 0 ? bad_type(e, s, what) : 0;
}

int value_parse(const struct value_spec *spec, const char *s, struct value *ret, struct err *e)
{
	struct value v = { 0 };
	uint64_t u = 0;
	int r;

	if (spec->type == TYPE_STRING) {
		v = value_str(s);
	} else {
		r = parse_number(spec, s, &u, e);
		if (r < 0)
			return r;
		if (u < spec->min || u > spec->max)
			return out_of_range(e, spec, s);
		v = value_uint(u);
	}
	r = value_check(spec, v, e);
	if (r < 0)
		return r;
	*ret = v;
	return 0;
}

/* Names go into a sysctl file and into JSON: printable ASCII without blanks. */
static int check_string(const struct value_spec *spec, const char *s, struct err *e)
{
	size_t len = strlen(s);

	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)s[i]))
			return bad_type(e, s, "a name of printable characters without blanks");
	return len < spec->min || len > spec->max ? out_of_range(e, spec, s) : 0;
}

int value_check(const struct value_spec *spec, struct value v, struct err *e)
{
	char number[32];

	if (spec->type == TYPE_STRING)
		return v.kind == VALUE_STR ? check_string(spec, v.s, e)
					   : err_set(e, -EINVAL, "a number where a name is expected");
	if (v.kind != VALUE_UINT)
		return err_set(e, -EINVAL, "a name where a number is expected");
	if (v.u >= spec->min && v.u <= spec->max)
		return 0;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)v.u);
	return out_of_range(e, spec, number);
}

static void exact_size(uint64_t n, struct text *t)
{
	static const char suffix[] = { 'G', 'M', 'K' };

	for (size_t i = 0; i < sizeof(suffix); i++) {
		uint64_t factor = 1ull << (30 - 10 * i);

		if (n && n % factor == 0) {
			text_add(t, "%llu%c", (unsigned long long)(n / factor), suffix[i]);
			return;
		}
	}
	text_add(t, "%llu", (unsigned long long)n);
}

void value_text(const struct value_spec *spec, struct value v, struct text *t)
{
	if (v.kind == VALUE_ABSENT) {
		text_add(t, "-");
		return;
	}
	if (v.kind == VALUE_STR) {
		text_add_safe(t, v.s, strlen(v.s), SIZE_MAX);
		return;
	}
	switch (spec->type) {
	case TYPE_SIZE:
		exact_size(v.u, t);
		break;
	case TYPE_SECONDS:
		text_add(t, "%llus", (unsigned long long)v.u);
		break;
	case TYPE_MSECONDS:
		text_add(t, "%llums", (unsigned long long)v.u);
		break;
	case TYPE_BOOL:
		text_add(t, "%s", bool_words[0][v.u != 0]);
		break;
	case TYPE_CHOICE:
		if (v.u >= spec->min && v.u <= spec->max)
			text_add(t, "%s", spec->choices[v.u]);
		else
			text_add(t, "%llu", (unsigned long long)v.u);
		break;
	case TYPE_HEX32:
		text_add(t, "0x%08llx", (unsigned long long)v.u);
		break;
	case TYPE_HEX64:
		text_add(t, "0x%016llx", (unsigned long long)v.u);
		break;
	default:
		text_add(t, "%llu", (unsigned long long)v.u);
		break;
	}
}

static void human(uint64_t n, unsigned int step, const char *const *suffix, struct text *t)
{
	double d = (double)n;
	size_t i = 0;

	/* 1023.9999K would be shown as 1024K: what rounds up to the next unit takes it */
	while (d >= step - 0.5 && suffix[i + 1]) {
		d /= step;
		i++;
	}
	if (i == 0)
		text_add(t, "%llu", (unsigned long long)n);
	else
		text_add(t, "%.*f%s", d < 9.995 ? 2 : d < 99.95 ? 1 : 0, d, suffix[i]);
}

void human_size(uint64_t n, struct text *t)
{
	static const char *const suffix[] = { "", "K", "M", "G", "T", "P", "E", NULL };

	if (n < 1024 || (n & (n - 1)) == 0)
		exact_size(n, t);
	else
		human(n, 1024, suffix, t);
}

void human_count(uint64_t n, struct text *t)
{
	static const char *const suffix[] = { "", "k", "M", "G", "T", "P", "E", NULL };

	human(n, 1000, suffix, t);
}

void value_allowed(const struct value_spec *spec, struct text *t)
{
	const char *const *names = value_names(spec);

	switch (spec->type) {
	case TYPE_BOOL:
	case TYPE_CHOICE:
		for (uint64_t i = 0; names[i]; i++)
			text_add(t, "%s%s", i ? ", " : "", names[i]);
		return;
	case TYPE_STRING:
		text_add(t, "%llu to %llu characters", (unsigned long long)spec->min, (unsigned long long)spec->max);
		return;
	default:
		text_add(t, "%llu..%llu", (unsigned long long)spec->min, (unsigned long long)spec->max);
		break;
	}
	if (spec->type == TYPE_SIZE) {
		text_add(t, " bytes (");
		human_size(spec->min, t);
		text_add(t, "..");
		human_size(spec->max, t);
		text_add(t, ")");
	} else if (spec->type == TYPE_SECONDS) {
		text_add(t, " seconds");
	} else if (spec->type == TYPE_MSECONDS) {
		text_add(t, " milliseconds");
	}
}
