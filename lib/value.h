/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * value.h - one value of a knob, a field or a counter, with its kinds of notation.
 *
 * Absent, unset and zero are different: a value of kind VALUE_ABSENT was not given by the kernel (or not set by
 * the policy) and is rendered as "-" in text and null in JSON.
 */
#pragma once

#include "base.h"

enum value_kind {
	VALUE_ABSENT = 0,
	VALUE_UINT, /* also booleans (0, 1) and the index of a choice */
	VALUE_STR,
};

struct value {
	enum value_kind kind;
	union {
		uint64_t u;
		const char *s; /* owned by whoever owns the value: a list's strings, a policy, a table */
	};
};

static inline struct value value_uint(uint64_t u)
{
	return (struct value){ .kind = VALUE_UINT, .u = u };
}

static inline struct value value_str(const char *s)
{
	return (struct value){ .kind = s ? VALUE_STR : VALUE_ABSENT, .s = s };
}

bool value_equal(struct value a, struct value b);

/* How a value is written and read. */
enum value_type {
	TYPE_COUNT,    /* a plain number */
	TYPE_SIZE,     /* bytes; people write 64K, 1M; JSON has the exact number */
	TYPE_SECONDS,  /* people write 30, 30s, 5m, 1h */
	TYPE_MSECONDS, /* the same in milliseconds: 500, 500ms, 5s */
	TYPE_BOOL,     /* on/off, true/false, yes/no, 1/0; JSON true/false */
	TYPE_CHOICE,   /* a name out of a list, or its number; JSON has the name */
	TYPE_STRING,
	TYPE_HEX32, /* a fallback code; 0x03030000 in text and JSON */
	TYPE_HEX64, /* GIDs, tokens; 0x... in text and JSON */
};

/* What parsing and printing need to know of a value's place: the row of a table. */
struct value_spec {
	enum value_type type;
	uint64_t min, max;          /* inclusive; for strings the length in bytes */
	const char *const *choices; /* NULL-terminated, TYPE_CHOICE */
};

/*
 * Read what a person or a policy wrote. Returns -EINVAL (not of this type), -ERANGE (of the type, outside min..max or
 * over 64 bits); e says what was found and what is allowed ("'12Q' is no size: a number with K, M or G"; "12 is out of
 * range: 16384..1073741823 (16K..1G)"). Strings stay borrowed from s.
 */
int value_parse(const struct value_spec *spec, const char *s, struct value *ret, struct err *e);
/* Is the value of the type and in the range? Same errors. */
int value_check(const struct value_spec *spec, struct value v, struct err *e);

/* For people: 64K, 1M, 30s, on, physical, "-". Never rounded: sizes that are no whole K, M or G are plain numbers. */
void value_text(const struct value_spec *spec, struct value v, struct text *t);
/* 1536 -> "1.5K": counts and sizes in tables, three significant digits. */
void human_size(uint64_t n, struct text *t);
void human_count(uint64_t n, struct text *t);
/* "16K..1G", "off, on", "physical, virtual, mixed", "at most 15 characters": what is allowed. */
void value_allowed(const struct value_spec *spec, struct text *t);
/* The names that a value can have, NULL-terminated and in the order of their numbers: for completion. NULL: none. */
const char *const *value_names(const struct value_spec *spec);
/* Unit as JSON and help name it: "bytes", "seconds", "" */
const char *value_unit(enum value_type type);
/* Does a range of numbers say what is allowed? */
bool value_has_range(enum value_type type);
