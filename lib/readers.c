// SPDX-License-Identifier: GPL-2.0-or-later
#include "readers.h"

#define NAMES_MAX 256 /* more names in one request than there are knobs, by far */

/* Names of the table, and those that the kernel offers besides. */
static int wanted_names(struct json_object *params, const struct offered *offered, const char **ret, struct err *e)
{
	struct json_object *names = params ? json_object_object_get(params, "names") : NULL;
	size_t n = names ? json_object_array_length(names) : 0;

	if (n > NAMES_MAX)
		return err_set(e, -E2BIG, "%zu names given, at most %d are taken", n, NAMES_MAX);
	for (size_t i = 0; i < n; i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(names, i)), *near;
		char shown[4 * SHOWN_MAX + 4];

		if (name && (knob_find(name) || offered_find(offered, name))) {
			ret[i] = name;
			continue;
		}
		near = name ? knob_suggest(name) : NULL;
		return err_set(e, -ENOENT, "there is no knob '%s'%s%s%s",
			       safe_str(shown, sizeof(shown), name ? name : ""), near ? "; did you mean '" : "",
			       near ? near : "", near ? "'?" : "");
	}
	ret[n] = NULL;
	return (int)n;
}

static int read_knobs(struct kernel *k, struct json_object *params, const struct read_context *ctx,
		      struct json_object **ret, struct err *e)
{
	CLEANUP_FREE struct knob_state *states = calloc(n_knobs, sizeof(*states));
	CLEANUP_OFFERED struct offered offered = { 0 };
	const char *only[NAMES_MAX + 1];
	struct json_object *o;
	int n, r;

	if (!states)
		return err_set(e, -ENOMEM, "read the knobs: %s", strerror(ENOMEM));
	r = knob_states_read(k, states, &offered, e);
	if (r < 0)
		return r;
	n = wanted_names(params, &offered, only, e);
	if (n < 0)
		return n;
	if (ctx->add_sources)
		ctx->add_sources(ctx->arg, k, states);
	o = json_object_new_object();
	json_object_object_add(o, "netns", json_object_new_string(kernel_netns(k)));
	json_object_object_add(o, "knobs", render_knobs(states, &offered, n ? only : NULL));
	*ret = o;
	return 0;
}

static int read_stats(struct kernel *k, struct json_object **ret, struct err *e)
{
	CLEANUP_STATS struct stats s = { 0 };
	int r = kernel_stats(k, &s, e);

	if (r < 0)
		return r;
	*ret = json_object_new_object();
	json_object_object_add(*ret, "netns", json_object_new_string(kernel_netns(k)));
	json_object_object_add(*ret, "stats", render_stats(&s));
	return 0;
}

static int read_list(struct kernel *k, const struct noun *noun, struct json_object **ret, struct err *e)
{
	struct fallback_totals totals = { 0 };
	CLEANUP_LIST struct list l = { 0 };
	struct json_object *o, *sum;
	int r;

	if (noun->id == NOUN_FALLBACKS)
		r = kernel_fallbacks(k, &l, &totals, e);
	else
		r = kernel_list(k, noun, &l, e);
	if (r < 0)
		return r;
	o = render_document(kernel_netns(k), noun->name, render_list(&l), l.incomplete);
	for (size_t i = 0; l.parts && i < noun->n_parts; i++)
		json_object_object_add(o, noun->parts[i].name, render_list(&l.parts[i]));
	if (noun->id == NOUN_FALLBACKS) {
		sum = json_object_new_object();
		json_object_object_add(sum, "client", json_object_new_uint64(totals.client));
		json_object_object_add(sum, "server", json_object_new_uint64(totals.server));
		json_object_object_add(o, "totals", sum);
	}
	*ret = o;
	return 0;
}

static int read_metrics(struct kernel *k, const struct read_context *ctx, struct json_object **ret, struct err *e)
{
	CLEANUP_SNAPSHOT struct snapshot s = { 0 };
	CLEANUP_TEXT struct text t = { 0 };
	int r = snapshot_take(k, &s, e);

	if (r < 0)
		return r;
	render_prometheus(&s, ctx->policy, &t);
	if (t.failed)
		return err_set(e, -ENOMEM, "write the metrics: %s", strerror(ENOMEM));
	*ret = json_object_new_object();
	json_object_object_add(*ret, "netns", json_object_new_string(kernel_netns(k)));
	json_object_object_add(*ret, "metrics", json_object_new_string_len(text_str(&t), (int)t.len));
	return 0;
}

static int read_reason(struct json_object *params, struct json_object **ret, struct err *e)
{
	struct json_object *code = params ? json_object_object_get(params, "code") : NULL;
	const struct reason *known = NULL;
	uint32_t number = 0;
	int r;

	if (!code)
		return err_set(e, -EINVAL, "no fallback code given");
	r = reason_parse(json_object_get_string(code), &number, &known, e);
	if (r < 0)
		return r;
	*ret = json_object_new_object();
	json_object_object_add(*ret, "reason", render_reason(known, number));
	return 0;
}

int read_method(struct kernel *k, enum method_id m, const struct noun *noun, struct json_object *params,
		const struct read_context *ctx, struct json_object **ret, struct err *e)
{
	switch (m) {
	case METHOD_LIST_KNOBS:
		return read_knobs(k, params, ctx, ret, e);
	case METHOD_GET_STATS:
		return read_stats(k, ret, e);
	case METHOD_LIST_NOUN:
		return read_list(k, noun, ret, e);
	case METHOD_GET_METRICS:
		return read_metrics(k, ctx, ret, e);
	case METHOD_EXPLAIN_CODE:
		return read_reason(params, ret, e);
	default:
		return err_set(e, -EOPNOTSUPP, "%s is answered by smcd only", methods[m].name);
	}
}
