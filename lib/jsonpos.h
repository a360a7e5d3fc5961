/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jsonpos.h - a strict scanner of JSON text (RFC 8259) that knows where everything is: maps a JSON pointer (RFC 6901)
 * to line and column, and finds duplicate keys; json-c, which builds the values, gives neither.
 *
 * It accepts less than the RFC allows, so that every text means one thing to every reader: no duplicate keys, no NUL
 * (not even as the escape \u0000), no unpaired surrogates, no byte order mark, and the limits below.
 */
#pragma once

#include "base.h"

#define JSON_TEXT_MAX (16u << 20) /* larger texts are refused */
#define JSON_DEPTH_MAX 32 /* arrays and objects inside each other, as json-c's default; deeper nesting is refused */
/* Values in all. Bounds the memory: an index takes 16 bytes a value and the text. */
#define JSON_VALUES_MAX (1u << 20)

struct json_pos {
	unsigned int line, column; /* from 1; columns count characters (UTF-8 code points), a tab is one */
};

struct json_index;

/*
 * Scan the text, of which the index keeps a copy. On a syntax error, a NUL, invalid UTF-8, a duplicate key: -EINVAL;
 * too deep nesting or too many values: -E2BIG; too large a text: -EFBIG. Then *ret_at is the place and e says what
 * was found and what was expected. -ENOMEM.
 */
int json_index_new(const char *text, size_t len, struct json_index **ret, struct json_pos *ret_at, struct err *e);
struct json_index *json_index_free(struct json_index *ix);
static inline void json_index_freep(struct json_index **ix)
{
	*ix = json_index_free(*ix);
}
#define CLEANUP_JSON_INDEX CLEANUP(json_index_freep)

/*
 * Where the value at this pointer starts ("" is the document), or its member name. -ENOENT: nothing is there, the
 * pointer is malformed, or (for a name) the value is no member of an object.
 */
int json_index_value(const struct json_index *ix, const char *pointer, struct json_pos *ret);
int json_index_key(const struct json_index *ix, const char *pointer, struct json_pos *ret);
/*
 * The number at this pointer as it was written, borrowed and not NUL-terminated: json-c clamps what exceeds 64 bits
 * and forgets the notation. -ENOENT: no number is there.
 */
int json_index_number(const struct json_index *ix, const char *pointer, const char **ret, size_t *ret_len);
/* Add one reference token to a pointer, with '~' and '/' escaped. */
void json_pointer_add(struct text *pointer, const char *token);
