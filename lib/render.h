/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * render.h - JSON (json-c objects, the one data model of protocol and CLI), and Prometheus' text
 * format. All walk the tables.
 */
#pragma once

#include <json-c/json.h>

#include "reasons.h"
#include "snapshot.h"

/* JSON of one value: number, true/false, choice name, "0x...", string; NULL (JSON null) when absent. */
struct json_object *render_value(const struct value_spec *spec, struct value v);
/* Array of objects, one member a field (absent: null). Returns NULL when out of memory; the caller owns it. */
struct json_object *render_list(const struct list *l);
/*
 * Array of knob objects: name, supported, value, unit, default, min, max, choices, scope, takes_effect, surface,
 * source, expected_smcd, expected_smcr (buffers only), known (is it in the table?), read_only, doc. Behind those of the
 * table come what offered (may be NULL) has besides. only: NULL-terminated names to keep, or NULL for all.
 */
struct json_object *render_knobs(const struct knob_state *states, const struct offered *offered,
				 const char *const *only);
/*
 * Array of two objects {"tech":"smcd", "tx_bytes":N, ..., "tx_size":[{"le":8192,"count":N}, ... {"le":null,"count":N}]}
 * with the keys of stats_table, and one {"tech":null, ...} with the global counters.
 */
struct json_object *render_stats(const struct stats *s);
struct json_object *render_reason(const struct reason *r, uint32_t code);

/* The document that --json prints and varlink replies carry: {"netns":..., NAME: array}; takes over array. */
struct json_object *render_document(const char *netns, const char *name, struct json_object *array, bool incomplete);

/* The exposition, text format 0.0.4. policy: NULL without smcd. */
void render_prometheus(const struct snapshot *s, const struct policy_metrics *policy, struct text *t);
