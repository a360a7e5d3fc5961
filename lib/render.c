// SPDX-License-Identifier: GPL-2.0-or-later
#include "render.h"

#include <limits.h>

/* ---- JSON ---- */

static struct json_object *json_text(const struct value_spec *spec, struct value v)
{
	CLEANUP_TEXT struct text t = { 0 };

	value_text(spec, v, &t);
	return json_object_new_string(text_str(&t));
}

/* varlink and most readers take JSON strings as UTF-8 only; a peer can choose anything. */
static struct json_object *json_outside_string(const char *s)
{
	CLEANUP_TEXT struct text t = { 0 };

	text_add_utf8(&t, s, strlen(s));
	return json_object_new_string_len(text_str(&t), (int)t.len);
}

struct json_object *render_value(const struct value_spec *spec, struct value v)
{
	if (v.kind == VALUE_ABSENT)
		return NULL;
	if (v.kind == VALUE_STR)
		return json_outside_string(v.s);
	switch (spec->type) {
	case TYPE_BOOL:
		return json_object_new_boolean(v.u != 0);
	case TYPE_CHOICE:
	case TYPE_HEX32:
	case TYPE_HEX64:
		return json_text(spec, v);
	default:
		return json_object_new_uint64(v.u);
	}
}

struct json_object *render_list(const struct list *l)
{
	struct json_object *array = json_object_new_array_ext(l->n ? (int)l->n : 1);

	for (size_t i = 0; array && i < l->n; i++) {
		struct json_object *o = json_object_new_object();
		const struct value *row = list_row(l, i);

		for (size_t f = 0; o && f < l->noun->n_fields; f++)
			json_object_object_add_ex(o, l->noun->fields[f].name,
						  render_value(&l->noun->fields[f].spec, row[f]),
						  JSON_C_OBJECT_KEY_IS_CONSTANT | JSON_C_OBJECT_ADD_KEY_IS_NEW);
		json_object_array_add(array, o);
	}
	return array;
}

static void add(struct json_object *o, const char *key, struct json_object *v)
{
	json_object_object_add_ex(o, key, v, JSON_C_OBJECT_KEY_IS_CONSTANT | JSON_C_OBJECT_ADD_KEY_IS_NEW);
}

static struct json_object *string_or_null(const char *s)
{
	return s ? json_object_new_string(s) : NULL;
}

static struct json_object *render_choices(const struct value_spec *spec)
{
	struct json_object *array;

	if (spec->type != TYPE_CHOICE)
		return NULL;
	array = json_object_new_array();
	for (size_t i = 0; spec->choices[i]; i++)
		json_object_array_add(array, json_object_new_string(spec->choices[i]));
	return array;
}

static struct json_object *render_expected(const struct knob *k, const struct knob_state *s, enum smc_tech tech)
{
	return k->is_buffer && s->supported ? json_object_new_uint64(knob_expected(s->value.u, tech)) : NULL;
}

static struct json_object *render_knob(const struct knob *k, const struct knob_state *s)
{
	struct json_object *o = json_object_new_object();
	bool range = value_has_range(k->spec.type);

	add(o, "name", json_object_new_string(k->name));
	add(o, "supported", json_object_new_boolean(s->supported));
	add(o, "value", s->supported ? render_value(&k->spec, s->value) : NULL);
	add(o, "unit", json_object_new_string(value_unit(k->spec.type)));
	add(o, "default", render_value(&k->spec, s->def));
	add(o, "min", range ? json_object_new_uint64(s->min) : NULL);
	add(o, "max", range ? json_object_new_uint64(s->max) : NULL);
	add(o, "choices", render_choices(&k->spec));
	add(o, "scope", json_object_new_string(knob_scope_name(s->scope)));
	add(o, "takes_effect", json_object_new_string(knob_effect_name(k->effect)));
	add(o, "surface", string_or_null(s->surface));
	add(o, "source", json_object_new_string(knob_source_name(s->source)));
	add(o, "expected_smcd", render_expected(k, s, TECH_SMCD));
	add(o, "expected_smcr", render_expected(k, s, TECH_SMCR));
	add(o, "known", json_object_new_boolean(knob_in_table(k)));
	add(o, "read_only", json_object_new_boolean(s->read_only));
	add(o, "doc", json_object_new_string(k->doc));
	return o;
}

static struct json_object *render_unknown(const struct offered_knob *k)
{
	const struct knob_state s = {
		.supported = true,
		.read_only = k->read_only,
		.min = k->knob.spec.min,
		.max = k->knob.spec.max,
		.def = k->knob.def,
		.scope = k->knob.scope,
		.value = k->value,
		.surface = "smc_tune",
	};

	return render_knob(&k->knob, &s);
}

static bool is_wanted(const char *name, const char *const *only)
{
	if (!only)
		return true;
	for (; *only; only++)
		if (str_eq(name, *only))
			return true;
	return false;
}

struct json_object *render_knobs(const struct knob_state *states, const struct offered *offered,
				 const char *const *only)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < n_knobs; i++)
		if (is_wanted(knobs[i].name, only))
			json_object_array_add(array, render_knob(&knobs[i], &states[i]));
	for (size_t i = 0; offered && i < offered->n; i++)
		if (!offered->v[i].known && is_wanted(offered->v[i].knob.name, only))
			json_object_array_add(array, render_unknown(&offered->v[i]));
	return array;
}

static struct json_object *render_buckets(const struct stat_value *v)
{
	struct json_object *array = json_object_new_array();

	for (size_t b = 0; b < N_BUCKETS; b++) {
		struct json_object *o = json_object_new_object();

		add(o, "le", b + 1 < N_BUCKETS ? json_object_new_uint64(bucket_bounds[b]) : NULL);
		add(o, "count", json_object_new_uint64(v->buckets[b]));
		json_object_array_add(array, o);
	}
	return array;
}

static struct json_object *render_stat(const struct counter *s, const struct stat_value *v)
{
	if (v->v.kind == VALUE_ABSENT)
		return NULL;
	return s->histogram ? render_buckets(v) : json_object_new_uint64(v->v.u);
}

static struct json_object *render_stats_record(const struct stats *s, const char *tech, bool global, enum smc_tech t)
{
	struct json_object *o = json_object_new_object();

	add(o, "tech", string_or_null(tech));
	for (size_t i = 0; i < n_stats; i++)
		if (stats_table[i].global == global)
			add(o, stats_table[i].key, render_stat(&stats_table[i], &s->v[i][t]));
	return o;
}

struct json_object *render_stats(const struct stats *s)
{
	struct json_object *array = json_object_new_array();

	for (enum smc_tech t = 0; t < N_TECHS; t++)
		json_object_array_add(array, render_stats_record(s, tech_name(t), false, t));
	json_object_array_add(array, render_stats_record(s, NULL, true, 0));
	return array;
}

struct json_object *render_reason(const struct reason *r, uint32_t code)
{
	static const struct value_spec spec = { .type = TYPE_HEX32, .max = UINT32_MAX };
	struct json_object *o = json_object_new_object();

	add(o, "code", json_text(&spec, value_uint(code)));
	add(o, "name", r ? json_object_new_string(r->name) : NULL);
	add(o, "meaning", r ? json_object_new_string(r->meaning) : NULL);
	add(o, "action", r ? json_object_new_string(r->action) : NULL);
	return o;
}

struct json_object *render_document(const char *netns, const char *name, struct json_object *array, bool incomplete)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "netns", json_object_new_string(netns));
	json_object_object_add(o, name, array);
	json_object_object_add(o, "incomplete", json_object_new_boolean(incomplete));
	return o;
}
