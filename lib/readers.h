/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * readers.h - the read methods that need nothing but the kernel, served by the same code in smcd and in smcctl's direct
 * mode.
 */
#pragma once

#include "methods.h"
#include "render.h"

struct read_context {
	/* Fills in who set each knob of states[n_knobs]. NULL: all SOURCE_KERNEL. */
	void (*add_sources)(void *arg, struct kernel *k, struct knob_state *states);
	void *arg;
	const struct policy_metrics *policy; /* NULL: not in smcd */
};

/*
 * Serves METHOD_LIST_KNOBS (parameter names: array of strings, optional; -ENOENT for an unknown one), METHOD_GET_STATS,
 * METHOD_LIST_NOUN, METHOD_GET_METRICS and METHOD_EXPLAIN_CODE (k may be NULL). params may be NULL. *ret is the reply's
 * parameters: {"netns": "", "links": [...], "incomplete": false}; {"netns", "knobs"}; {"netns", "stats"}; fallbacks
 * also "totals": {"client", "server"}; {"netns", "metrics": TEXT}; {"reason": {...}}.
 */
int read_method(struct kernel *k, enum method_id m, const struct noun *noun, struct json_object *params,
		const struct read_context *ctx, struct json_object **ret, struct err *e);
