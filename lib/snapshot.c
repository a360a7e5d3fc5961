// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot.h"

#include <time.h>

const char *knob_source_name(enum knob_source s)
{
	static const char *const names[] = {
		[SOURCE_KERNEL] = "kernel", [SOURCE_POLICY] = "policy", [SOURCE_OVERRIDE] = "override"
	};

	return names[s];
}

const char *collector_name(enum collector c)
{
	static const char *const names[N_COLLECTORS] = {
		[COLLECT_STATS] = "stats",           [COLLECT_FALLBACKS] = "fallbacks",
		[COLLECT_KNOBS] = "knobs",           [COLLECT_LINKGROUPS] = "linkgroups",
		[COLLECT_LINKS] = "links",           [COLLECT_DEVICES] = "devices",
		[COLLECT_POOLS] = "pools",           [COLLECT_CORK] = "cork",
		[COLLECT_HANDSHAKES] = "handshakes",
	};

	return names[c];
}

void knob_state_init(struct knob_state *s, const struct knob *k)
{
	*s = (struct knob_state){ .min = k->spec.min, .max = k->spec.max, .def = k->def, .scope = k->scope };
}

static void take_offered(const struct offered *o, struct knob_state *ret)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct offered_knob *k = &o->v[i];
		struct knob_state *s;

		if (!k->known)
			continue;
		s = &ret[knob_index(k->known)];
		knob_state_init(s, &k->knob);
		s->supported = true;
		s->read_only = k->read_only;
		s->value = k->value;
		s->surface = "smc_tune";
	}
}

static int read_one(struct kernel *k, const struct knob *knob, struct knob_state *s, struct err *e)
{
	int r = kernel_knob_read(k, knob, &s->value, &s->surface, e);

	if (r == -EOPNOTSUPP || r == -ENOPROTOOPT)
		return 0;
	if (r < 0)
		return r;
	s->supported = true;
	if (s->value.kind == VALUE_STR) {
		snprintf(s->string, sizeof(s->string), "%s", s->value.s);
		s->value.s = s->string;
	}
	return 0;
}

int knob_states_read(struct kernel *k, struct knob_state *ret, struct offered *ret_offered, struct err *e)
{
	CLEANUP_OFFERED struct offered o = { 0 };
	bool together = kernel_knobs_together(k);
	int r = together ? kernel_knobs_offered(k, &o, e) : 0;

	for (size_t i = 0; r == 0 && i < n_knobs; i++) {
		knob_state_init(&ret[i], &knobs[i]);
		if (!together)
			r = read_one(k, &knobs[i], &ret[i], e);
	}
	if (r < 0)
		return r;
	take_offered(&o, ret);
	if (ret_offered) {
		*ret_offered = o;
		o = (struct offered){ 0 };
	}
	return 0;
}
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int collect(struct kernel *k, enum collector c, struct snapshot *s)
{
	struct err e = { 0 };

	switch (c) {
	case COLLECT_STATS:
		return kernel_stats(k, &s->stats, &e);
	case COLLECT_FALLBACKS:
		return kernel_fallbacks(k, &s->fallbacks, &s->fallback_totals, &e);
	case COLLECT_KNOBS:
		return knob_states_read(k, s->knobs, &s->offered, &e);
	case COLLECT_LINKGROUPS:
		return kernel_list(k, &nouns[NOUN_LINKGROUPS], &s->linkgroups, &e);
	case COLLECT_LINKS:
		return kernel_list(k, &nouns[NOUN_LINKS], &s->links, &e);
	case COLLECT_DEVICES:
		return kernel_list(k, &nouns[NOUN_DEVICES], &s->devices, &e);
	case COLLECT_POOLS:
		return kernel_list(k, &nouns[NOUN_POOLS], &s->pools, &e);
	case COLLECT_CORK:
		return kernel_list(k, &nouns[NOUN_CORK], &s->cork, &e);
	case COLLECT_HANDSHAKES:
		return kernel_list(k, &nouns[NOUN_HANDSHAKES], &s->handshakes, &e);
	case N_COLLECTORS:
		break;
	}
	return -EINVAL;
}

int snapshot_take(struct kernel *k, struct snapshot *ret, struct err *e)
{
	CLEANUP_SNAPSHOT struct snapshot s = { 0 };

	s.knobs = calloc(n_knobs, sizeof(*s.knobs));
	if (!s.knobs)
		return err_set(e, -ENOMEM, "read the state of SMC: %s", strerror(ENOMEM));
	snprintf(s.netns, sizeof(s.netns), "%s", kernel_netns(k));
	/* Without the module there is nothing to collect, and that is what smc_up 0 says. */
	s.unknown = kernel_probe(k, false, &s.features, NULL) < 0;
	if (s.features.smc && kernel_sysinfo(k, &s.sysinfo, NULL) < 0)
		s.sysinfo = (struct sysinfo_smc){ 0 };
	for (enum collector c = 0; s.features.smc && c < N_COLLECTORS; c++) {
		double start = now();

		if (collector_needs_tune(c) && !s.features.tune)
			continue;
		s.ok[c] = collect(k, c, &s) == 0;
		s.seconds[c] = now() - start;
	}
	for (enum bus b = 0; b < N_BUSES; b++)
		s.nl_errors[b] = kernel_nl_errors(k, b);
	*ret = s;
	s = (struct snapshot){ 0 };
	return 0;
}

void snapshot_done(struct snapshot *s)
{
	free(s->knobs);
	offered_done(&s->offered);
	stats_done(&s->stats);
	list_done(&s->fallbacks);
	list_done(&s->linkgroups);
	list_done(&s->links);
	list_done(&s->devices);
	list_done(&s->pools);
	list_done(&s->cork);
	list_done(&s->handshakes);
	*s = (struct snapshot){ 0 };
}
