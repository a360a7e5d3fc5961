// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The exposition, text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). A family's samples stand
 * together below its HELP and TYPE; label values from outside are escaped; strings that a peer chose are never labels.
 */
#include "render.h"

static void add_head(struct text *t, enum metric_id id)
{
	static const char *const types[] = { [METRIC_COUNTER] = "counter",
					     [METRIC_GAUGE] = "gauge",
					     [METRIC_HISTOGRAM] = "histogram",
					     [METRIC_INFO] = "gauge" };
	const struct metric *m = &metrics[id];

	text_add(t, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name, types[m->kind]);
}

static void add_escaped(struct text *t, const char *s)
{
	CLEANUP_TEXT struct text safe = { 0 };

	/* text_add_safe() has turned newlines and invalid UTF-8 into \xNN already. */
	text_add_safe(&safe, s, strlen(s), SIZE_MAX);
	for (const char *p = text_str(&safe); *p; p++) {
		if (*p == '\\' || *p == '"')
			text_add_mem(t, "\\", 1);
		text_add_mem(t, p, 1);
	}
}

/* One label more in the braces that labels collects, without them. */
static void add_label(struct text *labels, const char *name, const char *value)
{
	text_add(labels, "%s%s=\"", labels->len ? "," : "", name);
	add_escaped(labels, value);
	text_add(labels, "\"");
}

static void add_sample(struct text *t, const char *name, const char *suffix, const char *labels)
{
	text_add(t, "%s%s", name, suffix);
	if (labels[0])
		text_add(t, "{%s}", labels);
	text_add(t, " ");
}

static void add_uint(struct text *t, enum metric_id id, const char *labels, uint64_t v)
{
	add_sample(t, metrics[id].name, "", labels);
	text_add(t, "%llu\n", (unsigned long long)v);
}

static void add_double(struct text *t, enum metric_id id, const char *labels, double v)
{
	add_sample(t, metrics[id].name, "", labels);
	text_add(t, "%.9g\n", v);
}

static void start_labels(struct text *labels, const struct snapshot *s)
{
	labels->len = 0;
	if (s->netns[0])
		add_label(labels, "netns", s->netns);
}

static void add_up(const struct snapshot *s, struct text *t)
{
	CLEANUP_TEXT struct text l = { 0 };
	const struct sysinfo_smc *i = &s->sysinfo;
	char number[24];

	if (s->unknown)
		return;
	start_labels(&l, s);
	add_head(t, M_UP);
	add_uint(t, M_UP, text_str(&l), s->features.smc);
	if (i->version.kind == VALUE_ABSENT)
		return;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)i->version.u);
	add_label(&l, "version", number);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)i->release.u);
	add_label(&l, "release", number);
	add_label(&l, "ism_v2", i->ism_v2.u ? "true" : "false");
	add_label(&l, "smcr_v2", i->smcr_v2.u ? "true" : "false");
	add_head(t, M_MODULE_INFO);
	add_uint(t, M_MODULE_INFO, text_str(&l), 1);
}

static const struct stat_value *stat_by_key(const struct stats *s, const char *key, enum smc_tech t)
{
	for (size_t i = 0; i < n_stats; i++)
		if (str_eq(stats_table[i].key, key))
			return &s->v[i][t];
	return NULL;
}

static void add_histogram(const struct counter *st, const struct stats *s, enum smc_tech tech,
			  const struct stat_value *v, const char *labels, struct text *t)
{
	const struct stat_value *sum = st->sum_key ? stat_by_key(s, st->sum_key, tech) : NULL;
	const char *name = metrics[st->metric].name;
	CLEANUP_TEXT struct text l = { 0 };
	uint64_t total = 0;

	for (size_t b = 0; b < N_BUCKETS; b++) {
		total += v->buckets[b];
		l.len = 0;
		text_add(&l, "%s%sle=\"", labels, labels[0] ? "," : "");
		if (b + 1 < N_BUCKETS)
			text_add(&l, "%llu.0\"", (unsigned long long)bucket_bounds[b]);
		else
			text_add(&l, "+Inf\"");
		add_sample(t, name, "_bucket", text_str(&l));
		text_add(t, "%llu\n", (unsigned long long)total);
	}
	if (sum && sum->v.kind == VALUE_UINT) {
		add_sample(t, name, "_sum", labels);
		text_add(t, "%llu\n", (unsigned long long)sum->v.u);
	}
	add_sample(t, name, "_count", labels);
	text_add(t, "%llu\n", (unsigned long long)total);
}

static void add_stat(const struct snapshot *s, size_t i, enum smc_tech tech, struct text *t)
{
	const struct stat_value *v = &s->stats.v[i][tech];
	const struct counter *st = &stats_table[i];
	CLEANUP_TEXT struct text l = { 0 };

	if (v->v.kind == VALUE_ABSENT)
		return;
	start_labels(&l, s);
	if (!st->global)
		add_label(&l, "tech", tech_name(tech));
	if (st->labels[0])
		text_add(&l, "%s%s", l.len ? "," : "", st->labels);
	if (st->histogram)
		add_histogram(st, &s->stats, tech, v, text_str(&l), t);
	else
		add_uint(t, st->metric, text_str(&l), v->v.u);
}

static void add_stats(const struct snapshot *s, struct text *t)
{
	for (size_t i = 0; i < n_stats; i++) {
		if (i == 0 || stats_table[i].metric != stats_table[i - 1].metric)
			add_head(t, stats_table[i].metric);
		for (enum smc_tech tech = 0; tech < (stats_table[i].global ? 1 : N_TECHS); tech++)
			add_stat(s, i, tech, t);
	}
}

static void cell_label(struct text *labels, const struct list *l, size_t row, int field, const char *name)
{
	const struct field *f = &l->noun->fields[field];
	CLEANUP_TEXT struct text value = { 0 };

	if (list_row(l, row)[field].kind == VALUE_ABSENT)
		return;
	value_text(&f->spec, list_row(l, row)[field], &value);
	add_label(labels, name, text_str(&value));
}

static void add_fallbacks(const struct snapshot *s, struct text *t)
{
	const uint64_t totals[] = { s->fallback_totals.client, s->fallback_totals.server };
	const char *const roles[] = { "client", "server" };
	const struct list *l = &s->fallbacks;
	CLEANUP_TEXT struct text labels = { 0 };

	add_head(t, M_FALLBACKS);
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		start_labels(&labels, s);
		add_label(&labels, "role", roles[i]);
		add_uint(t, M_FALLBACKS, text_str(&labels), totals[i]);
	}
	add_head(t, M_FALLBACK_REASONS);
	for (size_t i = 0; i < l->n; i++) {
		start_labels(&labels, s);
		cell_label(&labels, l, i, FB_ROLE, "role");
		cell_label(&labels, l, i, FB_CODE, "code");
		cell_label(&labels, l, i, FB_NAME, "reason");
		add_uint(t, M_FALLBACK_REASONS, text_str(&labels), list_row(l, i)[FB_COUNT].u);
	}
}

/* Sum of a field (or the number of rows: field -1) of the rows whose cell key has the value want. */
static uint64_t sum_where(const struct list *l, int key, uint64_t want, int field)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct value *row = list_row(l, i);

		if (row[key].kind == VALUE_UINT && row[key].u == want)
			sum += field < 0 ? 1 : row[field].kind == VALUE_UINT ? row[field].u : 0;
	}
	return sum;
}

static void add_by_tech(const struct snapshot *s, enum metric_id id, int field, struct text *t)
{
	CLEANUP_TEXT struct text labels = { 0 };

	add_head(t, id);
	for (enum smc_tech tech = 0; tech < N_TECHS; tech++) {
		start_labels(&labels, s);
		add_label(&labels, "tech", tech_name(tech));
		add_uint(t, id, text_str(&labels), sum_where(&s->linkgroups, LGR_TECH, tech, field));
	}
}

static void add_links(const struct snapshot *s, struct text *t)
{
	const struct value_spec *spec = &nouns[NOUN_LINKS].fields[LINK_STATE].spec;
	CLEANUP_TEXT struct text labels = { 0 };

	add_head(t, M_LINKS);
	for (uint64_t state = spec->min; state <= spec->max; state++) {
		start_labels(&labels, s);
		add_label(&labels, "state", spec->choices[state]);
		add_uint(t, M_LINKS, text_str(&labels), sum_where(&s->links, LINK_STATE, state, -1));
	}
}

static void device_labels(const struct snapshot *s, size_t row, struct text *labels)
{
	const struct list *l = &s->devices;
	int name = list_row(l, row)[DEV_NAME].kind == VALUE_ABSENT ? DEV_PCI_ID : DEV_NAME;

	start_labels(labels, s);
	cell_label(labels, l, row, name, "device");
	cell_label(labels, l, row, DEV_PORT, "port");
}

static void add_device_gauge(const struct snapshot *s, enum metric_id id, int field, struct text *t)
{
	CLEANUP_TEXT struct text labels = { 0 };

	add_head(t, id);
	for (size_t i = 0; i < s->devices.n; i++) {
		struct value v = list_row(&s->devices, i)[field];

		if (v.kind != VALUE_UINT)
			continue;
		device_labels(s, i, &labels);
		add_uint(t, id, text_str(&labels), v.u);
	}
}

static void add_device_info(const struct snapshot *s, struct text *t)
{
	CLEANUP_TEXT struct text labels = { 0 };

	add_head(t, M_DEV_INFO);
	for (size_t i = 0; i < s->devices.n; i++) {
		device_labels(s, i, &labels);
		cell_label(&labels, &s->devices, i, DEV_TECH, "tech");
		cell_label(&labels, &s->devices, i, DEV_PNETID, "pnet_id");
		add_uint(t, M_DEV_INFO, text_str(&labels), 1);
	}
}

/* ---- what smc_tune tells ---- */

/* Sum of a field over the pools of this technology, direction and size, of which row is the first. */
static uint64_t pool_sum(const struct list *l, const struct value *row, int field)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct value *other = list_row(l, i);

		if (value_equal(other[POOL_TECH], row[POOL_TECH]) &&
		    value_equal(other[POOL_DIRECTION], row[POOL_DIRECTION]) &&
		    value_equal(other[POOL_SIZE], row[POOL_SIZE]) && other[field].kind == VALUE_UINT)
			sum += other[field].u;
	}
	return sum;
}

static bool is_first_pool(const struct list *l, size_t at)
{
	const struct value *row = list_row(l, at);

	for (size_t i = 0; i < at; i++) {
		const struct value *other = list_row(l, i);

		if (value_equal(other[POOL_TECH], row[POOL_TECH]) &&
		    value_equal(other[POOL_DIRECTION], row[POOL_DIRECTION]) &&
		    value_equal(other[POOL_SIZE], row[POOL_SIZE]))
			return false;
	}
	return true;
}

/* A label with the link group would be a new series with each one. */
static void add_pools(const struct snapshot *s, struct text *t)
{
	static const struct {
		enum metric_id id;
		int field;
		const char *state;
	} rows[] = {
		{ M_POOL_BUFFERS, POOL_IN_USE, "used" },
		{ M_POOL_BUFFERS, POOL_FREE, "free" },
		{ M_POOL_BYTES, POOL_BYTES, NULL },
		{ M_POOL_REUSES, POOL_REUSES, NULL },
		{ M_POOL_ALLOCATIONS, POOL_ALLOCATIONS, NULL },
		{ M_POOL_DOWNGRADES, POOL_DOWNGRADES, NULL },
		{ M_POOL_CONTENDED, POOL_CONTENDED, NULL },
	};
	CLEANUP_TEXT struct text labels = { 0 };

	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		if (r == 0 || rows[r].id != rows[r - 1].id)
			add_head(t, rows[r].id);
		for (size_t i = 0; i < s->pools.n; i++) {
			const struct value *row = list_row(&s->pools, i);
			char size[24];

			if (!is_first_pool(&s->pools, i))
				continue;
			snprintf(size, sizeof(size), "%llu", (unsigned long long)row[POOL_SIZE].u);
			start_labels(&labels, s);
			cell_label(&labels, &s->pools, i, POOL_TECH, "tech");
			cell_label(&labels, &s->pools, i, POOL_DIRECTION, "direction");
			add_label(&labels, "size", size);
			if (rows[r].state)
				add_label(&labels, "state", rows[r].state);
			add_uint(t, rows[r].id, text_str(&labels), pool_sum(&s->pools, row, rows[r].field));
		}
	}
}

/*
 * Rows of buckets with their own counts as a histogram; key (-1: all rows) has to be want. unit: bounds are divided by
 * it.
 */
struct buckets {
	const struct list *l;
	int key, le, count;
	uint64_t want;
	double unit;
};

static void add_buckets(const struct buckets *b, enum metric_id id, const char *labels, struct value sum,
			struct text *t)
{
	CLEANUP_TEXT struct text l = { 0 };
	uint64_t total = 0;
	bool infinite = false;

	for (size_t i = 0; i < b->l->n; i++) {
		const struct value *row = list_row(b->l, i);

		if (b->key >= 0 && row[b->key].u != b->want)
			continue;
		total += row[b->count].u;
		infinite = row[b->le].kind == VALUE_ABSENT;
		l.len = 0;
		text_add(&l, "%s%sle=\"", labels, labels[0] ? "," : "");
		if (infinite)
			text_add(&l, "+Inf\"");
		else
			text_add(&l, "%.9g\"", (double)row[b->le].u / b->unit);
		add_sample(t, metrics[id].name, "_bucket", text_str(&l));
		text_add(t, "%llu\n", (unsigned long long)total);
	}
	if (!infinite) {
		l.len = 0;
		text_add(&l, "%s%sle=\"+Inf\"", labels, labels[0] ? "," : "");
		add_sample(t, metrics[id].name, "_bucket", text_str(&l));
		text_add(t, "%llu\n", (unsigned long long)total);
	}
	if (sum.kind == VALUE_UINT) {
		add_sample(t, metrics[id].name, "_sum", labels);
		text_add(t, "%.9g\n", (double)sum.u / b->unit);
	}
	add_sample(t, metrics[id].name, "_count", labels);
	text_add(t, "%llu\n", (unsigned long long)total);
}

static void add_cork_kind(const struct snapshot *s, enum metric_id id, enum cork_kind kind, int field, bool causes,
			  struct text *t)
{
	CLEANUP_TEXT struct text labels = { 0 };

	add_head(t, id);
	for (size_t i = 0; i < s->cork.n; i++) {
		const struct value *row = list_row(&s->cork, i);

		if (row[CORK_KIND].u != kind || row[field].kind != VALUE_UINT)
			continue;
		start_labels(&labels, s);
		if (causes)
			cell_label(&labels, &s->cork, i, CORK_CAUSE, "cause");
		add_uint(t, id, text_str(&labels), row[field].u);
	}
}

static void add_cork(const struct snapshot *s, struct text *t)
{
	const struct buckets b = { &s->cork.parts[CORK_SIZES], -1, BUCKET_LE, BUCKET_COUNT, 0, 1 };
	CLEANUP_TEXT struct text labels = { 0 };
	struct value sum = { 0 };

	add_cork_kind(s, M_CORK_HELD, CORK_HELD, CORK_COUNT, true, t);
	add_cork_kind(s, M_CORK_SENT, CORK_SENT, CORK_COUNT, true, t);
	for (size_t i = 0; i < s->cork.n; i++)
		if (list_row(&s->cork, i)[CORK_KIND].u == CORK_SENT && list_row(&s->cork, i)[CORK_BYTES].kind)
			sum = list_row(&s->cork, i)[CORK_BYTES];
	start_labels(&labels, s);
	add_head(t, M_CORK_SIZE);
	add_buckets(&b, M_CORK_SIZE, text_str(&labels), sum, t);
	add_cork_kind(s, M_PAST_CACHE_WRITES, CORK_PAST_CACHE, CORK_COUNT, false, t);
	add_cork_kind(s, M_PAST_CACHE_BYTES, CORK_PAST_CACHE, CORK_BYTES, false, t);
}

static void add_handshakes(const struct snapshot *s, struct text *t)
{
	static const struct {
		enum metric_id id;
		int field;
	} gauges[] = { { M_HS_QUEUED, HS_QUEUED }, { M_HS_ACTIVE, HS_ACTIVE } };
	const struct list *l = &s->handshakes, *why = &l->parts[HS_REASONS];
	CLEANUP_TEXT struct text labels = { 0 };

	for (size_t g = 0; g < ARRAY_SIZE(gauges); g++) {
		add_head(t, gauges[g].id);
		for (size_t i = 0; i < l->n; i++) {
			start_labels(&labels, s);
			cell_label(&labels, l, i, HS_ROLE, "role");
			add_uint(t, gauges[g].id, text_str(&labels), list_row(l, i)[gauges[g].field].u);
		}
	}
	start_labels(&labels, s);
	add_head(t, M_HS_WORKERS);
	add_uint(t, M_HS_WORKERS, text_str(&labels), list_row(l, 0)[HS_WORKERS].u);
	add_head(t, M_HS_TIME);
	for (size_t i = 0; i < l->n; i++) {
		const struct value *row = list_row(l, i);
		const struct buckets b = { &l->parts[HS_TIMES], HT_ROLE, HT_LE, HT_COUNT, row[HS_ROLE].u, 1e6 };

		start_labels(&labels, s);
		cell_label(&labels, l, i, HS_ROLE, "role");
		add_buckets(&b, M_HS_TIME, text_str(&labels), row[HS_TIME_SUM], t);
	}
	add_head(t, M_HS_REASONS);
	for (size_t i = 0; i < why->n; i++) {
		start_labels(&labels, s);
		cell_label(&labels, why, i, HR_ROLE, "role");
		cell_label(&labels, why, i, HR_REASON, "code");
		cell_label(&labels, why, i, HR_REASON_NAME, "reason");
		cell_label(&labels, why, i, HR_PEER_REASON, "peer_code");
		cell_label(&labels, why, i, HR_PEER_REASON_NAME, "peer_reason");
		add_uint(t, M_HS_REASONS, text_str(&labels), list_row(why, i)[HR_COUNT].u);
	}
}

/* smc_knob_<name> with its unit. Prometheus wants base units, so milliseconds become seconds. */
static void knob_metric_name(const struct knob *k, struct text *t)
{
	const char *unit = value_unit(k->spec.type == TYPE_MSECONDS ? TYPE_SECONDS : k->spec.type);

	text_add(t, "smc_knob_%s", k->name);
	if (unit[0])
		text_add(t, "_%s", unit);
}

static void add_knob(const struct snapshot *s, const struct knob *k, struct value v, struct text *t)
{
	CLEANUP_TEXT struct text labels = { 0 }, name = { 0 };

	/* A name is no number; it would have to be a label, and labels are for what varies little. */
	if (v.kind != VALUE_UINT)
		return;
	knob_metric_name(k, &name);
	text_add(t, "# HELP %s Knob %s: %s.\n# TYPE %s gauge\n", text_str(&name), k->name, k->doc, text_str(&name));
	start_labels(&labels, s);
	add_sample(t, text_str(&name), "", text_str(&labels));
	if (k->spec.type == TYPE_MSECONDS)
		text_add(t, "%.9g\n", (double)v.u / 1e3);
	else
		text_add(t, "%llu\n", (unsigned long long)v.u);
}

static void add_knobs(const struct snapshot *s, struct text *t)
{
	for (size_t i = 0; i < n_knobs; i++)
		if (s->knobs[i].supported)
			add_knob(s, &knobs[i], s->knobs[i].value, t);
	for (size_t i = 0; i < s->offered.n; i++)
		if (!s->offered.v[i].known)
			add_knob(s, &s->offered.v[i].knob, s->offered.v[i].value, t);
}

static void add_collectors(const struct snapshot *s, struct text *t)
{
	static const char *const buses[N_BUSES] = {
		[BUS_GENL] = "generic", [BUS_DIAG] = "sock_diag", [BUS_EVENTS] = "events"
	};
	CLEANUP_TEXT struct text labels = { 0 };

	add_head(t, M_SCRAPE_SUCCESS);
	for (enum collector c = 0; c < N_COLLECTORS; c++) {
		if (collector_needs_tune(c) && !s->features.tune)
			continue;
		start_labels(&labels, s);
		add_label(&labels, "collector", collector_name(c));
		add_uint(t, M_SCRAPE_SUCCESS, text_str(&labels), s->ok[c]);
	}
	add_head(t, M_SCRAPE_DURATION);
	for (enum collector c = 0; c < N_COLLECTORS; c++) {
		if (collector_needs_tune(c) && !s->features.tune)
			continue;
		start_labels(&labels, s);
		add_label(&labels, "collector", collector_name(c));
		add_double(t, M_SCRAPE_DURATION, text_str(&labels), s->seconds[c]);
	}
	add_head(t, M_NL_ERRORS);
	for (enum bus b = 0; b < N_BUSES; b++) {
		start_labels(&labels, s);
		add_label(&labels, "family", buses[b]);
		add_uint(t, M_NL_ERRORS, text_str(&labels), s->nl_errors[b]);
	}
}

static void add_policy(const struct policy_metrics *p, struct text *t)
{
	add_head(t, M_POLICY_OK);
	add_uint(t, M_POLICY_OK, "", p->last_ok);
	if (p->last_ok_timestamp > 0) {
		add_head(t, M_POLICY_TIME);
		add_sample(t, metrics[M_POLICY_TIME].name, "", "");
		text_add(t, "%.3f\n", p->last_ok_timestamp);
	}
	if (!p->drift_unknown) {
		add_head(t, M_POLICY_DRIFT);
		add_uint(t, M_POLICY_DRIFT, "", p->drift);
	}
	add_head(t, M_POLICY_GENERATION);
	add_uint(t, M_POLICY_GENERATION, "", p->generation);
	add_head(t, M_POLICY_APPLIES);
	add_uint(t, M_POLICY_APPLIES, "result=\"success\"", p->applies_ok);
	add_uint(t, M_POLICY_APPLIES, "result=\"failure\"", p->applies_failed);
}

void render_prometheus(const struct snapshot *s, const struct policy_metrics *policy, struct text *t)
{
	add_head(t, M_BUILD_INFO);
	add_uint(t, M_BUILD_INFO, "version=\"" SMCD_VERSION "\"", 1);
	add_up(s, t);
	if (s->ok[COLLECT_STATS])
		add_stats(s, t);
	if (s->ok[COLLECT_FALLBACKS])
		add_fallbacks(s, t);
	if (s->ok[COLLECT_LINKGROUPS]) {
		add_by_tech(s, M_LGRS, -1, t);
		add_by_tech(s, M_CONNS, LGR_CONNS, t);
	}
	if (s->ok[COLLECT_LINKS])
		add_links(s, t);
	if (s->ok[COLLECT_DEVICES]) {
		add_device_gauge(s, M_DEV_LGRS, DEV_LGRS, t);
		add_device_gauge(s, M_DEV_ACTIVE, DEV_STATE, t);
		add_device_info(s, t);
	}
	if (s->ok[COLLECT_POOLS])
		add_pools(s, t);
	if (s->ok[COLLECT_CORK])
		add_cork(s, t);
	if (s->ok[COLLECT_HANDSHAKES])
		add_handshakes(s, t);
	if (s->ok[COLLECT_KNOBS])
		add_knobs(s, t);
	add_collectors(s, t);
	if (policy)
		add_policy(policy, t);
}
