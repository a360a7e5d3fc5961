// SPDX-License-Identifier: GPL-2.0-or-later
/* output.c - text for people from the JSON that smcd or the kernel readers give. Pure: fills a struct text. */
#include <inttypes.h>

#include "smcctl.h"

struct json_object *member(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	if (!o || json_object_get_type(o) != json_type_object || !json_object_object_get_ex(o, name, &v))
		return NULL;
	return v;
}

static struct value choice_of_json(const struct value_spec *spec, const char *s)
{
	for (uint64_t i = 0; spec->choices[i]; i++)
		if (str_eq(spec->choices[i], s))
			return value_uint(i);
	/* A number that this table has no name for. */
	return *s >= '0' && *s <= '9' ? value_uint(strtoull(s, NULL, 10)) : (struct value){ 0 };
}

struct value value_of_json(const struct value_spec *spec, struct json_object *o)
{
	switch (json_object_get_type(o)) {
	case json_type_boolean:
		return value_uint(json_object_get_boolean(o));
	case json_type_int:
		return value_uint(json_object_get_uint64(o));
	case json_type_string:
		break;
	default:
		return (struct value){ 0 };
	}
	switch (spec->type) {
	case TYPE_CHOICE:
		return choice_of_json(spec, json_object_get_string(o));
	case TYPE_HEX32:
	case TYPE_HEX64:
		return value_uint(strtoull(json_object_get_string(o), NULL, 16));
	case TYPE_STRING:
		return value_str(json_object_get_string(o));
	default:
		return (struct value){ 0 };
	}
}

static void add_string(struct text *t, struct json_object *o)
{
	if (o)
		text_add_safe(t, json_object_get_string(o), (size_t)json_object_get_string_len(o), SIZE_MAX);
}

static size_t array_length(struct json_object *o)
{
	return o && json_object_get_type(o) == json_type_array ? json_object_array_length(o) : 0;
}

/* ---- knobs ---- */

/* What is shown of a knob's notation. One that no table has is described by its own JSON. */
static struct value_spec spec_of_json(const struct knob *k, struct json_object *o)
{
	struct json_object *unit = member(o, "unit"), *min = member(o, "min"), *max = member(o, "max");
	struct value_spec spec = { .type = TYPE_COUNT, .max = UINT64_MAX };

	if (k)
		spec = k->spec;
	for (enum value_type t = 0; !k && unit && t <= TYPE_MSECONDS; t++)
		if (*value_unit(t) && str_eq(value_unit(t), json_object_get_string(unit)))
			spec.type = t;
	if (!k && json_object_is_type(member(o, "value"), json_type_boolean))
		spec.type = TYPE_BOOL;
	if (min && max && value_has_range(spec.type)) {
		spec.min = json_object_get_uint64(min);
		spec.max = json_object_get_uint64(max);
	}
	return spec;
}

static void add_knob_value(const struct value_spec *spec, struct json_object *o, struct text *t)
{
	struct value v;

	/* Names are shown as they are, also those that the table does not know. */
	if (json_object_is_type(o, json_type_string) && spec->type != TYPE_STRING) {
		add_string(t, o);
		return;
	}
	v = value_of_json(spec, o);
	/* An empty name is a value; "-" would say that there is none. */
	if (v.kind == VALUE_STR && !*v.s)
		text_add(t, "\"\"");
	else
		value_text(spec, v, t);
}

static void add_allowed(const struct value_spec *spec, struct json_object *o, struct text *t)
{
	struct json_object *choices = member(o, "choices");

	for (size_t i = 0; i < array_length(choices); i++) {
		text_add(t, "%s", i ? ", " : "");
		add_string(t, json_object_array_get_idx(choices, i));
	}
	if (!array_length(choices))
		value_allowed(spec, t);
}

static void add_expected(struct json_object *o, struct text *t)
{
	struct json_object *d = member(o, "expected_smcd"), *r = member(o, "expected_smcr");
	uint64_t smcd, smcr;

	if (!d || !r)
		return;
	smcd = json_object_get_uint64(d);
	smcr = json_object_get_uint64(r);
	if (smcd != smcr)
		text_add(t, "%s ", tech_name(TECH_SMCD));
	human_size(smcd, t);
	if (smcd == smcr)
		return;
	text_add(t, ", %s ", tech_name(TECH_SMCR));
	human_size(smcr, t);
}

static void add_knob_row(struct table *t, const struct knob *k, struct json_object *o, bool wide)
{
	bool supported = json_object_get_boolean(member(o, "supported"));
	struct value_spec spec = spec_of_json(k, o);

	add_string(table_cell(t), member(o, "name"));
	add_knob_value(&spec, member(o, "value"), table_cell(t));
	add_knob_value(&spec, member(o, "default"), table_cell(t));
	add_expected(o, table_cell(t));
	add_string(table_cell(t), member(o, "takes_effect"));
	add_string(table_cell(t), supported ? member(o, "source") : NULL);
	if (!wide)
		return;
	add_allowed(&spec, o, table_cell(t));
	add_string(table_cell(t), member(o, "scope"));
	add_string(table_cell(t), member(o, "surface"));
	add_string(table_cell(t), member(o, "doc"));
}

void knobs_text(struct json_object *array, bool wide, struct text *out)
{
	static const char *const titles[] = { "NAME",   "VALUE",   "DEFAULT", "EXPECTED", "EFFECT",
					      "SOURCE", "ALLOWED", "SCOPE",   "SURFACE",  "MEANING" };
	CLEANUP_TABLE struct table t = { 0 };
	bool lacking = false;

	table_init(&t, wide ? 10 : 6, titles, 1u << 1 | 1u << 2);
	for (size_t i = 0; i < array_length(array); i++) {
		struct json_object *o = json_object_array_get_idx(array, i), *name = member(o, "name");
		const struct knob *k = name ? knob_find(json_object_get_string(name)) : NULL;

		if (!name)
			continue;
		add_knob_row(&t, k, o, wide);
		lacking |= !json_object_get_boolean(member(o, "supported"));
	}
	table_render(&t, out);
	if (lacking)
		text_add(out, "\nA knob without a value is one that the running kernel does not have.\n");
}

/* ---- lists ---- */

/* Strings of JSON are names and codes as they are shown; the rest goes through what knows its notation. */
static void add_field(const struct field *f, struct json_object *o, struct text *t)
{
	if (json_object_is_type(o, json_type_string))
		add_string(t, o);
	else
		field_text(f, value_of_json(&f->spec, o), t);
}

static bool is_right(const struct field *f)
{
	return value_has_range(f->spec.type);
}

void noun_text(const struct noun *n, struct json_object *array, bool wide, struct text *out)
{
	const struct field *shown[TABLE_COLUMNS_MAX];
	const char *titles[TABLE_COLUMNS_MAX];
	CLEANUP_TABLE struct table t = { 0 };
	uint32_t right = 0;
	size_t cols = 0;

	for (size_t f = 0; f < n->n_fields && cols < TABLE_COLUMNS_MAX; f++) {
		if (!wide && !n->fields[f].title)
			continue;
		shown[cols] = &n->fields[f];
		titles[cols] = n->fields[f].title ? n->fields[f].title : n->fields[f].name;
		right |= (uint32_t)is_right(&n->fields[f]) << cols++;
	}
	table_init(&t, cols, titles, right);
	for (size_t i = 0; i < array_length(array); i++)
		for (size_t f = 0; f < cols; f++)
			add_field(shown[f], member(json_object_array_get_idx(array, i), shown[f]->name),
				  table_cell(&t));
	table_render(&t, out);
}

/* ---- statistics ---- */

#define BAR_WIDTH 20

/* The record of one technology; NULL stands for what is not split. */
static struct json_object *stats_record(struct json_object *stats, const char *tech)
{
	for (size_t i = 0; i < array_length(stats); i++) {
		struct json_object *o = json_object_array_get_idx(stats, i), *name = member(o, "tech");

		if (tech ? name && str_eq(json_object_get_string(name), tech) : !name)
			return o;
	}
	return NULL;
}

static bool in_bytes(const struct counter *s)
{
	return str_eq(metrics[s->metric].unit, "bytes");
}

static void add_count(const struct counter *s, struct json_object *o, struct text *t)
{
	if (!o)
		return;
	if (in_bytes(s))
		human_size(json_object_get_uint64(o), t);
	else
		human_count(json_object_get_uint64(o), t);
}

static void counters_text(struct json_object *stats, bool global, struct text *out)
{
	const char *titles[1 + N_TECHS] = { "COUNTER" };
	size_t n_cols = global ? 1 : N_TECHS;
	CLEANUP_TABLE struct table t = { 0 };

	for (enum smc_tech i = 0; i < n_cols; i++)
		titles[1 + i] = global ? "BOTH" : i == TECH_SMCD ? "SMC-D" : "SMC-R";
	table_init(&t, 1 + n_cols, titles, ~1u);
	for (size_t i = 0; i < n_stats; i++) {
		const struct counter *s = &stats_table[i];

		if (s->histogram || s->global != global)
			continue;
		text_add(table_cell(&t), "%s", s->key);
		for (enum smc_tech tech = 0; tech < n_cols; tech++)
			add_count(s, member(stats_record(stats, global ? NULL : tech_name(tech)), s->key),
				  table_cell(&t));
	}
	table_render(&t, out);
}

/* Returns false where a technology's kernel does not count this. */
static bool bucket_counts(struct json_object *array, uint64_t *counts, uint64_t *ret_max)
{
	*ret_max = 0;
	if (array_length(array) != N_BUCKETS)
		return false;
	for (size_t b = 0; b < N_BUCKETS; b++) {
		counts[b] = json_object_get_uint64(member(json_object_array_get_idx(array, b), "count"));
		if (counts[b] > *ret_max)
			*ret_max = counts[b];
	}
	return true;
}

/* Something is seen of every count that is not 0. */
static void add_bar(uint64_t n, uint64_t max, struct text *t)
{
	unsigned int len = max ? (unsigned int)((double)n / (double)max * BAR_WIDTH) : 0;

	if (n && !len)
		len = 1;
	text_add(t, "%.*s", (int)len, "####################");
	if (!len)
		text_add(t, " ");
}

static void add_bound(size_t bucket, struct text *t)
{
	if (bucket_bounds[bucket] == UINT64_MAX)
		text_add(t, "larger");
	else
		human_size(bucket_bounds[bucket], t);
}

static void histogram_text(const struct counter *s, struct json_object *stats, struct text *out)
{
	static const char *const titles[] = { "UP TO", "SMC-D", " ", "SMC-R", " " };
	uint64_t counts[N_TECHS][N_BUCKETS], max[N_TECHS], all = 0;
	bool there[N_TECHS];
	CLEANUP_TABLE struct table t = { 0 };

	table_init(&t, ARRAY_SIZE(titles), titles, 1u << 0 | 1u << 1 | 1u << 3);
	for (enum smc_tech i = 0; i < N_TECHS; i++) {
		there[i] = bucket_counts(member(stats_record(stats, tech_name(i)), s->key), counts[i], &max[i]);
		all += max[i];
	}
	text_add(out, "\n%s: %s\n", s->key, metrics[s->metric].help);
	if (!all) {
		text_add(out, "  none\n");
		return;
	}
	for (size_t b = 0; b < N_BUCKETS; b++) {
		add_bound(b, table_cell(&t));
		for (enum smc_tech i = 0; i < N_TECHS; i++) {
			struct text *number = table_cell(&t);

			if (there[i])
				human_count(counts[i][b], number);
			add_bar(there[i] ? counts[i][b] : 0, max[i], table_cell(&t));
		}
	}
	table_render(&t, out);
}

void stats_text(struct json_object *stats, struct text *out)
{
	counters_text(stats, false, out);
	text_add(out, "\n");
	counters_text(stats, true, out);
	for (size_t i = 0; i < n_stats; i++)
		if (stats_table[i].histogram)
			histogram_text(&stats_table[i], stats, out);
}

/* ---- one reason ---- */

void reason_text(struct json_object *reason, struct text *t)
{
	struct json_object *name = member(reason, "name");

	add_string(t, member(reason, "code"));
	if (!name) {
		text_add(t, "  not in the table of this smcctl\n");
		return;
	}
	text_add(t, "  ");
	add_string(t, name);
	text_add(t, "\n  meaning  ");
	add_string(t, member(reason, "meaning"));
	text_add(t, "\n  to do    ");
	add_string(t, member(reason, "action"));
	text_add(t, "\n");
}

/* ---- status ---- */

/* A line of status: "kernel       ...". The caller ends it. */
static void label(struct text *t, const char *name)
{
	text_add(t, "%-12s ", name);
}

static bool flag(struct json_object *o, const char *name)
{
	struct json_object *v = member(o, name);

	return v && json_object_get_boolean(v);
}

static int64_t number(struct json_object *o, const char *name)
{
	struct json_object *v = member(o, name);

	return v ? json_object_get_int64(v) : 0;
}

static void add_names(struct text *t, const char *name, struct json_object *array)
{
	for (size_t i = 0; i < array_length(array); i++) {
		label(t, i ? "" : name);
		add_string(t, json_object_array_get_idx(array, i));
		text_add(t, "\n");
	}
}

static void add_overrides(struct text *t, struct json_object *array)
{
	for (size_t i = 0; i < array_length(array); i++) {
		struct json_object *o = json_object_array_get_idx(array, i), *netns = member(o, "netns");

		label(t, i ? "" : "overrides");
		add_string(t, member(o, "name"));
		text_add(t, "=");
		add_string(t, member(o, "value"));
		if (netns && json_object_get_string_len(netns)) {
			text_add(t, " in namespace ");
			add_string(t, netns);
		}
		text_add(t, "%s\n", flag(o, "saved") ? " (saved)" : "");
	}
}

static void add_kernel(struct text *t, struct json_object *kernel)
{
	struct json_object *message = member(kernel, "message");

	label(t, "kernel");
	if (flag(kernel, "smc"))
		text_add(t, "SMC is there%s%s", flag(kernel, "pnetid") ? ", with pnet table" : ", without pnet table",
			 flag(kernel, "tune")     ? " and smc_tune"
			 : flag(kernel, "sysctl") ? " and sysctls"
						  : ", without sysctls");
	else if (member(kernel, "smc"))
		text_add(t, "SMC is not there");
	else
		text_add(t, "it cannot be told whether SMC is there");
	if (message && json_object_get_string_len(message)) {
		text_add(t, ": ");
		add_string(t, message);
	}
	text_add(t, "\n");
}

static void add_policy(struct text *t, struct json_object *policy)
{
	struct json_object *message = member(policy, "message"), *when = member(policy, "last_apply");

	label(t, "policy");
	/* A refused policy leaves the one before in force. */
	text_add(t, "%s, %" PRId64 " settings, generation %" PRId64,
		 flag(policy, "ok") ? "in force"
		 : when             ? "the one BEFORE is in force"
				    : "NOT in force",
		 number(policy, "settings"), number(policy, "generation"));
	if (when) {
		text_add(t, ", applied ");
		add_string(t, when);
	}
	if (message && json_object_get_string_len(message) && !flag(policy, "ok")) {
		text_add(t, ": ");
		add_string(t, message);
	}
	text_add(t, "\n");
	add_names(t, "files", member(policy, "files"));
	add_names(t, "problems", member(policy, "problems"));
	add_names(t, "unsupported", member(policy, "unsupported"));
	add_overrides(t, member(policy, "overrides"));
}

static void add_use(struct text *t, struct json_object *use)
{
	label(t, "in use");
	text_add(t, "%" PRId64 " link groups with %" PRId64 " connections, %" PRId64 " devices\n",
		 number(use, "linkgroups"), number(use, "connections"), number(use, "devices"));
	label(t, "fallbacks");
	text_add(t, "%" PRId64 " as client, %" PRId64 " as server\n", number(use, "fallbacks_client"),
		 number(use, "fallbacks_server"));
}

void status_text(struct json_object *status, struct text *t)
{
	struct json_object *version = member(status, "version"), *netns = member(status, "netns");
	struct json_object *policy = member(status, "policy"), *use = member(status, "use");

	label(t, "smcd");
	add_string(t, member(status, "smcd"));
	if (version) {
		text_add(t, ", version ");
		add_string(t, version);
	}
	text_add(t, "\n");
	if (netns && json_object_get_string_len(netns)) {
		label(t, "namespace");
		add_string(t, netns);
		text_add(t, "\n");
	}
	add_kernel(t, member(status, "kernel"));
	if (policy)
		add_policy(t, policy);
	if (use)
		add_use(t, use);
}

/* ---- JSON ---- */

/* Inside a JSON text every byte from 0x80 on is part of a string: an escape may stand in its place. */
static size_t add_json_char(const unsigned char *s, size_t n, struct text *t)
{
	if (s[0] < 0x7f) {
		text_add_mem(t, s, 1);
		return 1;
	}
	if (s[0] == 0x7f || (s[0] == 0xc2 && n > 1 && s[1] >= 0x80 && s[1] < 0xa0)) {
		text_add(t, "\\u%04x", s[0] == 0x7f ? 0x7f : s[1]);
		return s[0] == 0x7f ? 1 : 2;
	}
	text_add_mem(t, s, 1);
	return 1;
}

static void document(struct json_object *o, int flags, struct text *t)
{
	size_t len = 0;
	const char *s = json_object_to_json_string_length(o, flags, &len);

	if (!s) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < len;)
		i += add_json_char((const unsigned char *)s + i, len - i, t);
	text_add(t, "\n");
}

void document_text(struct json_object *o, struct text *t)
{
	document(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE, t);
}

void document_line(struct json_object *o, struct text *t)
{
	document(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, t);
}
