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
		[COLLECT_STATS] = "stats",           [COLLECT_FALLBACKS] = "fallbacks", [COLLECT_KNOBS] = "knobs",
		[COLLECT_LINKGROUPS] = "linkgroups", [COLLECT_LINKS] = "links",         [COLLECT_DEVICES] = "devices",
	};

	return names[c];
}

int knob_states_read(struct kernel *k, struct knob_state *ret, struct err *e)
{
	for (size_t i = 0; i < n_knobs; i++) {
		struct knob_state *s = &ret[i];
		int r;

		*s = (struct knob_state){ 0 };
		r = kernel_knob_read(k, &knobs[i], &s->value, &s->surface, e);
		if (r == -EOPNOTSUPP || r == -ENOPROTOOPT)
			continue;
		if (r < 0)
			return r;
		s->supported = true;
		if (s->value.kind == VALUE_STR) {
			snprintf(s->string, sizeof(s->string), "%s", s->value.s);
			s->value.s = s->string;
		}
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
		return knob_states_read(k, s->knobs, &e);
	case COLLECT_LINKGROUPS:
		return kernel_list(k, &nouns[NOUN_LINKGROUPS], &s->linkgroups, &e);
	case COLLECT_LINKS:
		return kernel_list(k, &nouns[NOUN_LINKS], &s->links, &e);
	case COLLECT_DEVICES:
		return kernel_list(k, &nouns[NOUN_DEVICES], &s->devices, &e);
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
	stats_done(&s->stats);
	list_done(&s->fallbacks);
	list_done(&s->linkgroups);
	list_done(&s->links);
	list_done(&s->devices);
	*s = (struct snapshot){ 0 };
}
