// SPDX-License-Identifier: GPL-2.0-or-later
#include "jsonpos.h"

/* Positions are kept as byte offsets; every MARK_EVERY bytes the line and column is noted, to count on from there. */
#define MARK_EVERY 1024
#define NO_KEY UINT32_MAX
#define WORD_SHOWN_MAX 16 /* of a word such as True or NaN in a message */

/* One value. Children of an array lie in their order, children of an object sorted by name. */
struct node {
	uint32_t at;           /* offset of the first character */
	uint32_t key;          /* offset of the name's opening quote, or NO_KEY */
	uint32_t first, count; /* children in json_index.nodes */
};

struct nodes {
	struct node *v;
	uint32_t n, size;
};

struct json_index {
	char *text;
	size_t len;
	struct json_pos *marks;
	struct node root;
	struct nodes nodes;
};

struct scan {
	const char *text;
	size_t len, at;
	unsigned int depth;
	uint32_t n_values;
	struct nodes done;    /* children of the containers that were closed */
	struct nodes pending; /* values of the containers that are open, innermost last */
	size_t bad_at;
	struct err *e;
};

/* ---- characters ---- */

/* One code point; returns its length, or 0 where the bytes are no UTF-8 (RFC 3629: shortest form, no surrogates). */
static size_t utf8_next(const char *s, size_t n, uint32_t *ret)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t min;
	} form[] = { { 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 } };
	const unsigned char *p = (const unsigned char *)s;

	for (size_t len = 1; len <= ARRAY_SIZE(form) && len <= n; len++) {
		uint32_t c = p[0] & (unsigned char)~form[len - 1].mask;

		if ((p[0] & form[len - 1].mask) != form[len - 1].lead)
			continue;
		for (size_t i = 1; i < len; i++) {
			if ((p[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (p[i] & 0x3f);
		}
		if (c < form[len - 1].min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return 0;
		*ret = c;
		return len;
	}
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Four hexadecimal digits, or -1. */
static int32_t hex4(const char *s, size_t n)
{
	int32_t v = 0;

	if (n < 4)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		if (hex_digit(s[i]) < 0)
			return -1;
		v = v << 4 | hex_digit(s[i]);
	}
	return v;
}

static bool is_high_surrogate(int32_t c)
{
	return c >= 0xd800 && c <= 0xdbff;
}

static bool is_low_surrogate(int32_t c)
{
	return c >= 0xdc00 && c <= 0xdfff;
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(int c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static struct json_pos pos_count(const char *text, size_t from, size_t to, struct json_pos p)
{
	for (size_t i = from; i < to; i++) {
		if (text[i] == '\n') {
			p.line++;
			p.column = 1;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			p.column++;
		}
	}
	return p;
}

static struct json_pos pos_of(const char *text, size_t at)
{
	return pos_count(text, 0, at, (struct json_pos){ 1, 1 });
}

/* ---- what went wrong ---- */

#define FOUND_SIZE 96

static const char *const hints[UINT8_MAX + 1] = {
	['\''] = " (strings take double quotes)",  ['/'] = " (JSON has no comments)",
	['#'] = " (JSON has no comments)",         ['+'] = " (a number takes no plus sign)",
	['.'] = " (a number starts with a digit)",
};

#define fail(s, code, where, ...) ((s)->bad_at = (where), err_set((s)->e, (code), __VA_ARGS__))

/* What is at this place, for a message. */
static const char *found(const struct scan *s, size_t at, char buf[FOUND_SIZE])
{
	unsigned char c = at < s->len ? (unsigned char)s->text[at] : 0;
	size_t len = 0;
	uint32_t code = 0;

	if (at >= s->len) {
		snprintf(buf, FOUND_SIZE, "the end of the text");
	} else if (is_word(c)) {
		while (at + len < s->len && len < WORD_SHOWN_MAX && is_word(s->text[at + len]))
			len++;
		snprintf(buf, FOUND_SIZE, "'%.*s'", (int)len, s->text + at);
	} else if (c == '\n' || c == '\r') {
		snprintf(buf, FOUND_SIZE, "a line break");
	} else if (c == '\0') {
		snprintf(buf, FOUND_SIZE, "a NUL byte");
	} else if (c > 0x20 && c < 0x7f) {
		snprintf(buf, FOUND_SIZE, "'%c'%s", c, hints[c] ? hints[c] : "");
	} else if (c < 0x80) {
		snprintf(buf, FOUND_SIZE, "the character 0x%02x", c);
	} else if (!utf8_next(s->text + at, s->len - at, &code)) {
		snprintf(buf, FOUND_SIZE, "invalid UTF-8 (byte 0x%02x)", c);
	} else if (code == 0xfeff) {
		snprintf(buf, FOUND_SIZE, "a byte order mark (save the text without one)");
	} else {
		snprintf(buf, FOUND_SIZE, "the character U+%04X", (unsigned int)code);
	}
	return buf;
}

static int fail_found(struct scan *s, const char *expected)
{
	char buf[FOUND_SIZE];

	return fail(s, -EINVAL, s->at, "found %s, expected %s", found(s, s->at, buf), expected);
}

/* ---- the scanner ---- */

static int nodes_add(struct nodes *a, const struct node *v, uint32_t n)
{
	if (n > a->size - a->n) {
		uint32_t size = a->size ? a->size : 64;
		struct node *bigger;

		while (size - a->n < n)
			size *= 2; /* at most 2 x JSON_VALUES_MAX */
		bigger = reallocarray(a->v, size, sizeof(*a->v));
		if (!bigger)
			return -ENOMEM;
		a->v = bigger;
		a->size = size;
	}
	memcpy(a->v + a->n, v, n * sizeof(*v));
	a->n += n;
	return 0;
}

static int peek(const struct scan *s)
{
	return s->at < s->len ? (unsigned char)s->text[s->at] : -1;
}

static void skip_blanks(struct scan *s)
{
	while (peek(s) == ' ' || peek(s) == '\t' || peek(s) == '\n' || peek(s) == '\r')
		s->at++;
}

static int scan_unicode_escape(struct scan *s)
{
	const char *p = s->text + s->at;
	size_t n = s->len - s->at;
	int32_t c = hex4(p + 2, n - 2), low;

	if (c < 0)
		return fail(s, -EINVAL, s->at,
			    "found '\\u' without four hexadecimal digits, expected for example \\u00e9");
	if (c == 0)
		return fail(s, -EINVAL, s->at, "found a NUL character (\\u0000), expected text without it");
	s->at += 6;
	if (is_high_surrogate(c)) {
		low = n >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, n - 8) : -1;
		if (is_low_surrogate(low)) {
			s->at += 6;
			return 0;
		}
	}
	if (is_high_surrogate(c) || is_low_surrogate(c))
		return fail(s, -EINVAL, s->at - 6, "found one half of a surrogate pair, expected both or neither");
	return 0;
}

static int scan_escape(struct scan *s)
{
	int c = s->at + 1 < s->len ? (unsigned char)s->text[s->at + 1] : -1;

	if (c == 'u')
		return scan_unicode_escape(s);
	if (c <= 0 || !strchr("\"\\/bfnrt", c)) {
		s->at++;
		return fail_found(s, "one of \" \\ / b f n r t u after the '\\'");
	}
	s->at += 2;
	return 0;
}

static int scan_string(struct scan *s)
{
	int r = 0;

	s->at++;
	while (r == 0) {
		int c = peek(s);
		uint32_t code;
		size_t len;

		if (c == '"') {
			s->at++;
			return 0;
		}
		if (c == '\\') {
			r = scan_escape(s);
			continue;
		}
		len = c < 0 ? 0 : utf8_next(s->text + s->at, s->len - s->at, &code);
		if (c == '\n' || c == '\r' || c < 0)
			return fail_found(s, "the string's closing '\"'");
		if (len == 0)
			return fail_found(s, "UTF-8 text");
		if (c < 0x20)
			return fail_found(s, c ? "an escape such as \\t for a control character in a string"
					       : "text without it");
		s->at += len;
	}
	return r;
}

static int scan_digits(struct scan *s, const char *expected)
{
	if (!is_digit(peek(s)))
		return fail_found(s, expected);
	while (is_digit(peek(s)))
		s->at++;
	return 0;
}

static int scan_number(struct scan *s)
{
	size_t start;
	int r;

	if (peek(s) == '-')
		s->at++;
	start = s->at;
	r = scan_digits(s, "a digit after the '-'");
	if (r < 0)
		return r;
	if (s->text[start] == '0' && s->at - start > 1)
		return fail(s, -EINVAL, start, "found a number with a leading zero, expected it without");
	if (peek(s) == '.') {
		s->at++;
		r = scan_digits(s, "a digit after the '.'");
		if (r < 0)
			return r;
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		return scan_digits(s, "a digit of the exponent");
	}
	return 0;
}

static int scan_word(struct scan *s)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t len = 0;

	while (s->at + len < s->len && is_word(s->text[s->at + len]))
		len++;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (len == strlen(words[i]) && memcmp(s->text + s->at, words[i], len) == 0) {
			s->at += len;
			return 0;
		}
	return fail_found(s, "a value: an object, an array, a string, a number, true, false or null");
}

static int scan_container(struct scan *s, struct node *ret);

static int scan_value(struct scan *s, struct node *ret)
{
	int c = peek(s);

	ret->at = (uint32_t)s->at;
	if (++s->n_values > JSON_VALUES_MAX)
		return fail(s, -E2BIG, s->at, "found more than %u values, allowed are %u", JSON_VALUES_MAX,
			    JSON_VALUES_MAX);
	if (c == '{' || c == '[')
		return scan_container(s, ret);
	if (c == '"')
		return scan_string(s);
	if (c == '-' || is_digit(c))
		return scan_number(s);
	return scan_word(s);
}

/* ---- names: compared by their characters, whichever way these are written ---- */

/* Characters of a JSON string (from behind its quote) or of a pointer's token, one after the other. */
struct cursor {
	const char *p, *end;
	bool pointer;
};

#define CURSOR_END (-1)
#define CURSOR_BAD INT32_MAX /* a pointer that is malformed here; equals no character */

static int32_t cursor_escape(struct cursor *c)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *which;
	int32_t code;

	if (c->p[1] != 'u') {
		which = strchr(from, c->p[1]);
		code = which ? to[which - from] : c->p[1];
		c->p += 2;
		return code;
	}
	code = hex4(c->p + 2, 4);
	c->p += 6;
	if (is_high_surrogate(code)) {
		code = 0x10000 + ((code - 0xd800) << 10) + (hex4(c->p + 2, 4) - 0xdc00);
		c->p += 6;
	}
	return code;
}

static int32_t cursor_next(struct cursor *c)
{
	uint32_t code;
	size_t len;

	if (c->p == c->end || *c->p == (c->pointer ? '/' : '"'))
		return CURSOR_END;
	if (c->pointer && *c->p == '~') {
		c->p += 2;
		return c->p > c->end || (c->p[-1] != '0' && c->p[-1] != '1') ? CURSOR_BAD : c->p[-1] == '0' ? '~' : '/';
	}
	if (!c->pointer && *c->p == '\\')
		return cursor_escape(c);
	len = utf8_next(c->p, (size_t)(c->end - c->p), &code);
	if (!len)
		return CURSOR_BAD;
	c->p += len;
	return (int32_t)code;
}

static int cursor_compare(struct cursor a, struct cursor b)
{
	int32_t ca, cb;

	do {
		ca = cursor_next(&a);
		cb = cursor_next(&b);
	} while (ca == cb && ca != CURSOR_END && ca != CURSOR_BAD);
	return ca < cb ? -1 : ca > cb;
}

static struct cursor cursor_key(const char *text, size_t len, uint32_t key)
{
	return (struct cursor){ .p = text + key + 1, .end = text + len };
}

static int compare_names(const struct scan *s, const struct node *a, const struct node *b)
{
	return cursor_compare(cursor_key(s->text, s->len, a->key), cursor_key(s->text, s->len, b->key));
}

static int compare_members(const void *pa, const void *pb, void *scan)
{
	const struct node *a = pa, *b = pb;
	int r = compare_names(scan, a, b);

	return r ? r : a->key < b->key ? -1 : a->key > b->key;
}

static int fail_duplicate(struct scan *s, const struct node *first, const struct node *second)
{
	struct json_pos at = pos_of(s->text, first->key);
	struct cursor c = cursor_key(s->text, s->len, first->key);
	CLEANUP_TEXT struct text name = { 0 };

	while (cursor_next(&c) != CURSOR_END)
		;
	text_add_safe(&name, s->text + first->key + 1, (size_t)(c.p - s->text) - first->key - 1, SHOWN_MAX);
	return fail(s, -EINVAL, second->key,
		    "found the name \"%s\" again, expected each name once: it is at %u:%u already", text_str(&name),
		    at.line, at.column);
}

/* Sort the members of an object; of several names that are there twice, the one that is repeated first is reported. */
static int sort_members(struct scan *s, struct node *v, uint32_t n)
{
	uint32_t again = 0;

	if (n < 2)
		return 0;
	qsort_r(v, n, sizeof(*v), compare_members, s);
	for (uint32_t i = 1; i < n; i++)
		if (compare_names(s, &v[i - 1], &v[i]) == 0 && (!again || v[i].key < v[again].key))
			again = i;
	return again ? fail_duplicate(s, &v[again - 1], &v[again]) : 0;
}

/* ---- containers ---- */

static int scan_name(struct scan *s, struct node *ret)
{
	int r;

	if (peek(s) != '"')
		return fail_found(s, "a name in double quotes");
	ret->key = (uint32_t)s->at;
	r = scan_string(s);
	if (r < 0)
		return r;
	skip_blanks(s);
	if (peek(s) != ':')
		return fail_found(s, "a ':' after the name");
	s->at++;
	skip_blanks(s);
	return 0;
}

/* The values up to the closing bracket, which is left to the caller. */
static int scan_children(struct scan *s, bool object)
{
	int r = 0, close = object ? '}' : ']';
	size_t comma;

	skip_blanks(s);
	if (peek(s) == close)
		return 0;
	for (;;) {
		struct node child = { .key = NO_KEY };

		if (object)
			r = scan_name(s, &child);
		if (r == 0)
			r = scan_value(s, &child);
		if (r == 0)
			r = nodes_add(&s->pending, &child, 1);
		if (r < 0)
			return r;
		skip_blanks(s);
		if (peek(s) == close)
			return 0;
		if (peek(s) != ',')
			return fail_found(s, object ? "',' or '}'" : "',' or ']'");
		comma = s->at++;
		skip_blanks(s);
		if (peek(s) == close)
			return fail(s, -EINVAL, comma,
				    "found a ',' in front of the '%c', expected none: it only stands between %s", close,
				    object ? "members" : "elements");
	}
}

static int scan_container(struct scan *s, struct node *ret)
{
	bool object = peek(s) == '{';
	uint32_t base = s->pending.n;
	int r;

	if (s->depth >= JSON_DEPTH_MAX)
		return fail(s, -E2BIG, s->at, "found arrays or objects nested deeper than %d, allowed are %d levels",
			    JSON_DEPTH_MAX, JSON_DEPTH_MAX);
	s->depth++;
	s->at++;
	r = scan_children(s, object);
	if (r < 0)
		return r;
	s->at++;
	s->depth--;
	ret->first = s->done.n;
	ret->count = s->pending.n - base;
	if (ret->count == 0)
		return 0;
	if (object) {
		r = sort_members(s, s->pending.v + base, ret->count);
		if (r < 0)
			return r;
	}
	r = nodes_add(&s->done, s->pending.v + base, ret->count);
	s->pending.n = base;
	return r;
}

static int scan_document(struct scan *s, struct node *ret)
{
	int r;

	if (s->len > JSON_TEXT_MAX)
		return fail(s, -EFBIG, 0, "found a text of %zu bytes, allowed are %u", s->len, JSON_TEXT_MAX);
	skip_blanks(s);
	r = scan_value(s, ret);
	if (r < 0)
		return r;
	skip_blanks(s);
	return s->at < s->len ? fail_found(s, "the end of the text") : 0;
}

/* ---- the index ---- */

static int make_marks(struct json_index *ix)
{
	size_t n = ix->len / MARK_EVERY + 1;

	ix->marks = calloc(n, sizeof(*ix->marks));
	if (!ix->marks)
		return -ENOMEM;
	ix->marks[0] = (struct json_pos){ 1, 1 };
	for (size_t i = 1; i < n; i++)
		ix->marks[i] = pos_count(ix->text, (i - 1) * MARK_EVERY, i * MARK_EVERY, ix->marks[i - 1]);
	return 0;
}

int json_index_new(const char *text, size_t len, struct json_index **ret, struct json_pos *ret_at, struct err *e)
{
	CLEANUP_JSON_INDEX struct json_index *ix = calloc(1, sizeof(*ix));
	struct scan s = { .text = text, .len = len, .e = e };
	int r;

	if (!ix)
		return err_set(e, -ENOMEM, "out of memory");
	ix->root.key = NO_KEY;
	r = scan_document(&s, &ix->root);
	ix->nodes = s.done;
	free(s.pending.v);
	if (r < 0 && r != -ENOMEM) {
		*ret_at = pos_of(text, s.bad_at);
		return r;
	}
	if (r == 0) {
		ix->text = malloc(len + 1);
		ix->len = len;
		if (ix->text) {
			memcpy(ix->text, text, len);
			ix->text[len] = '\0';
		}
		r = ix->text ? make_marks(ix) : -ENOMEM;
	}
	if (r < 0) {
		*ret_at = (struct json_pos){ 1, 1 };
		return err_set(e, r, "out of memory");
	}
	*ret = ix;
	ix = NULL;
	return 0;
}

struct json_index *json_index_free(struct json_index *ix)
{
	if (!ix)
		return NULL;
	free(ix->text);
	free(ix->marks);
	free(ix->nodes.v);
	free(ix);
	return NULL;
}

static const struct node *element_of(const struct json_index *ix, const struct node *array, const char *token,
				     size_t len)
{
	uint64_t i = 0;

	if (len == 0 || len > 10 || (token[0] == '0' && len > 1))
		return NULL;
	for (size_t k = 0; k < len; k++) {
		if (!is_digit(token[k]))
			return NULL;
		i = i * 10 + (uint64_t)(token[k] - '0');
	}
	return i < array->count ? &ix->nodes.v[array->first + i] : NULL;
}

static const struct node *member_of(const struct json_index *ix, const struct node *object, const char *token,
				    size_t len)
{
	struct cursor name = { .p = token, .end = token + len, .pointer = true };
	uint32_t low = 0, high = object->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct node *n = &ix->nodes.v[object->first + mid];
		int r = cursor_compare(name, cursor_key(ix->text, ix->len, n->key));

		if (r == 0)
			return n;
		if (r < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static const struct node *find(const struct json_index *ix, const char *pointer)
{
	const struct node *n = &ix->root;

	while (n && *pointer) {
		const char *token = pointer + 1;
		size_t len = strcspn(token, "/");

		if (*pointer != '/')
			return NULL;
		if (ix->text[n->at] == '[')
			n = element_of(ix, n, token, len);
		else if (ix->text[n->at] == '{')
			n = member_of(ix, n, token, len);
		else
			return NULL;
		pointer = token + len;
	}
	return n;
}

static struct json_pos index_pos(const struct json_index *ix, size_t at)
{
	size_t mark = at / MARK_EVERY;

	return pos_count(ix->text, mark * MARK_EVERY, at, ix->marks[mark]);
}

int json_index_value(const struct json_index *ix, const char *pointer, struct json_pos *ret)
{
	const struct node *n = find(ix, pointer);

	if (!n)
		return -ENOENT;
	*ret = index_pos(ix, n->at);
	return 0;
}

int json_index_key(const struct json_index *ix, const char *pointer, struct json_pos *ret)
{
	const struct node *n = find(ix, pointer);

	if (!n || n->key == NO_KEY)
		return -ENOENT;
	*ret = index_pos(ix, n->key);
	return 0;
}

int json_index_number(const struct json_index *ix, const char *pointer, const char **ret, size_t *ret_len)
{
	const struct node *n = find(ix, pointer);
	const char *s = n ? ix->text + n->at : "";

	if (*s != '-' && !is_digit(*s))
		return -ENOENT;
	*ret = s;
	*ret_len = strspn(s, "-+.eE0123456789");
	return 0;
}

void json_pointer_add(struct text *pointer, const char *token)
{
	text_add_mem(pointer, "/", 1);
	for (; *token; token++) {
		if (*token == '~' || *token == '/')
			text_add_mem(pointer, *token == '~' ? "~0" : "~1", 2);
		else
			text_add_mem(pointer, token, 1);
	}
}
