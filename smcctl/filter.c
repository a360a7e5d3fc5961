// SPDX-License-Identifier: GPL-2.0-or-later
/* filter.c - which objects of a noun's JSON array match the FIELD=VALUE arguments. Pure. */
#include <arpa/inet.h>
#include <fnmatch.h>
#include <strings.h>

#include "smcctl.h"

struct prefix {
	struct in6_addr addr; /* IPv4 as ::ffff:a.b.c.d */
	unsigned int bits;
};

/* An IPv4 or IPv6 address with or without /LENGTH. */
static bool parse_prefix(const char *s, struct prefix *ret)
{
	char buf[INET6_ADDRSTRLEN + 1], *end;
	const char *slash = strchr(s, '/');
	size_t len = slash ? (size_t)(slash - s) : strlen(s);
	unsigned long max, bits;
	bool v4;

	if (len >= sizeof(buf))
		return false;
	memcpy(buf, s, len);
	buf[len] = '\0';
	memset(&ret->addr, 0, sizeof(ret->addr));
	v4 = inet_pton(AF_INET, buf, &ret->addr.s6_addr[12]) == 1;
	if (v4)
		memset(&ret->addr.s6_addr[10], 0xff, 2);
	else if (inet_pton(AF_INET6, buf, &ret->addr) != 1)
		return false;
	max = v4 ? 32 : 128;
	bits = max;
	if (slash) {
		if (slash[1] < '0' || slash[1] > '9')
			return false;
		bits = strtoul(slash + 1, &end, 10);
		if (*end || bits > max)
			return false;
	}
	ret->bits = (unsigned int)(bits + 128 - max);
	return true;
}

static bool prefix_match(const struct prefix *p, const struct in6_addr *a)
{
	unsigned int bytes = p->bits / 8, rest = p->bits % 8;

	if (memcmp(&p->addr, a, bytes) != 0)
		return false;
	return !rest || ((p->addr.s6_addr[bytes] ^ a->s6_addr[bytes]) >> (8 - rest)) == 0;
}

static bool string_match(const char *wanted, const char *s)
{
	struct prefix p, a;

	if (parse_prefix(wanted, &p) && parse_prefix(s, &a) && a.bits == 128)
		return prefix_match(&p, &a.addr);
	return fnmatch(wanted, s, FNM_CASEFOLD) == 0;
}

/* The field of a set that a person means first: the message about a bad value shows its notation. */
static const struct field *first_field(const struct noun *n, uint64_t fields)
{
	return &n->fields[__builtin_ctzll(fields)];
}

static uint64_t arg_fields(const struct request *r, const struct arg *a)
{
	return command_key_fields(r->command, a->key, a->key_len);
}

static bool is_hex(const struct field *f)
{
	return f->spec.type == TYPE_HEX32 || f->spec.type == TYPE_HEX64;
}

/* Hexadecimal as it is shown, with or without 0x and leading zeros. */
static int parse_hex(const struct field *f, const char *s, struct value *ret, struct err *e)
{
	const char *digits = strncasecmp(s, "0x", 2) == 0 ? s + 2 : s;
	char shown[4 * SHOWN_MAX + 4], *end;
	unsigned long long u;

	errno = 0;
	u = strtoull(digits, &end, 16);
	if (!*digits || strspn(digits, "0123456789abcdefABCDEF") != strlen(digits))
		return err_set(e, -EINVAL, "'%s' is not a hexadecimal number", safe_str(shown, sizeof(shown), s));
	if (errno == ERANGE || u > f->spec.max)
		return err_set(e, -ERANGE, "'%s' is out of range: at most 0x%llx", safe_str(shown, sizeof(shown), s),
			       (unsigned long long)f->spec.max);
	*ret = value_uint(u);
	return 0;
}

static int parse_wanted(const struct field *f, const char *s, struct value *ret, struct err *e)
{
	if (str_eq(s, "-")) {
		*ret = (struct value){ 0 };
		return 0;
	}
	if (f->spec.type == TYPE_STRING) {
		*ret = value_str(s);
		return 0;
	}
	return is_hex(f) ? parse_hex(f, s, ret, e) : value_parse(&f->spec, s, ret, e);
}

int filters_check(const struct noun *n, const struct request *r, struct err *e)
{
	for (size_t i = 0; i < r->n_args; i++) {
		const struct arg *a = &r->args[i];
		uint64_t fields = arg_fields(r, a);
		struct value v;
		int rc;

		if (!fields)
			return err_set(e, -EINVAL, "'%s' have no field '%.*s'", n->name, (int)a->key_len, a->key);
		rc = parse_wanted(first_field(n, fields), a->value, &v, e);
		if (rc < 0) {
			if (e)
				err_prefix(e, "%.*s", (int)a->key_len, a->key);
			return rc;
		}
	}
	return 0;
}

static bool field_match(const struct field *f, const char *wanted, struct json_object *o)
{
	struct json_object *shown = member(o, f->name);
	struct value v;

	if (parse_wanted(f, wanted, &v, NULL) < 0)
		return false;
	if (v.kind == VALUE_ABSENT || !shown)
		return v.kind == VALUE_ABSENT && !shown;
	if (f->spec.type == TYPE_STRING)
		return string_match(wanted, json_object_get_string(shown));
	return value_equal(v, value_of_json(&f->spec, shown));
}

static bool arg_match(const struct noun *n, const struct request *r, const struct arg *a, struct json_object *o)
{
	uint64_t fields = arg_fields(r, a);

	for (size_t i = 0; i < n->n_fields; i++)
		if ((fields & (UINT64_C(1) << i)) && field_match(&n->fields[i], a->value, o))
			return true;
	return false;
}

/* Every argument, or another one with the same fields, has to match. */
static bool object_match(const struct noun *n, const struct request *r, struct json_object *o)
{
	for (size_t i = 0; i < r->n_args; i++) {
		uint64_t fields = arg_fields(r, &r->args[i]);
		bool any = false;

		for (size_t j = 0; j < r->n_args && !any; j++)
			any = arg_fields(r, &r->args[j]) == fields && arg_match(n, r, &r->args[j], o);
		if (!any)
			return false;
	}
	return true;
}

int filters_apply(const struct noun *n, const struct request *r, struct json_object *array, struct err *e)
{
	size_t len = json_object_array_length(array), kept = 0;

	if (!r->n_args)
		return 0;
	for (size_t i = 0; i < len; i++) {
		struct json_object *o = json_object_array_get_idx(array, i);

		if (!object_match(n, r, o))
			continue;
		if (kept != i && json_object_array_put_idx(array, kept, json_object_get(o)) < 0)
			return err_set(e, -ENOMEM, "out of memory");
		kept++;
	}
	if (kept < len && json_object_array_del_idx(array, kept, len - kept) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	return 0;
}
