/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot.h - one namespace's whole observable state, read at once: what the exposition and status are made of.
 * A collector that fails marks itself and leaves the others.
 */
#pragma once

#include "kernel.h"

enum knob_source { SOURCE_KERNEL, SOURCE_POLICY, SOURCE_OVERRIDE };
const char *knob_source_name(enum knob_source s);

/* A knob as it is in the running kernel. */
struct knob_state {
	bool supported;
	bool read_only;    /* cannot be set in this namespace, as far as the kernel says so */
	uint64_t min, max; /* this kernel's range where it tells, else the table's */
	struct value def;  /* the same for the default */
	enum knob_scope scope;
	struct value value;               /* strings owned by the table's choices or by the snapshot */
	char string[KNOB_STRING_MAX + 1]; /* backing of a string value */
	const char *surface;              /* "smc_tune", "sysctl", "netlink" */
	enum knob_source source;          /* who set it, as far as smcd knows */
};

/* What the table says of a knob, before the kernel is asked. */
void knob_state_init(struct knob_state *s, const struct knob *k);
/*
 * Fills n_knobs entries. A knob this kernel lacks has supported = false; other failures are returned. *ret_offered (may
 * be NULL) is all that the kernel offers by smc_tune, for those that the table does not know; empty without smc_tune.
 */
int knob_states_read(struct kernel *k, struct knob_state *ret, struct offered *ret_offered, struct err *e);

enum collector {
	COLLECT_STATS,
	COLLECT_FALLBACKS,
	COLLECT_KNOBS,
	COLLECT_LINKGROUPS,
	COLLECT_LINKS,
	COLLECT_DEVICES,
	/* where the kernel has smc_tune */
	COLLECT_POOLS,
	COLLECT_CORK,
	COLLECT_HANDSHAKES,
	N_COLLECTORS
};
const char *collector_name(enum collector c);
/* Does it need smc_tune? */
static inline bool collector_needs_tune(enum collector c)
{
	return c >= COLLECT_POOLS;
}

struct snapshot {
	char netns[256];
	bool unknown; /* what the kernel has could not be told: features says nothing */
	struct features features;
	struct sysinfo_smc sysinfo;
	struct knob_state *knobs; /* n_knobs */
	struct offered offered;   /* for the knobs that the table does not know */
	struct stats stats;
	struct list fallbacks, linkgroups, links, devices, pools, cork, handshakes;
	struct fallback_totals fallback_totals;
	bool ok[N_COLLECTORS];
	double seconds[N_COLLECTORS];
	uint64_t nl_errors[N_BUSES];
};

/* Reads everything. Fails only when out of memory; what could not be read is marked. */
int snapshot_take(struct kernel *k, struct snapshot *ret, struct err *e);
void snapshot_done(struct snapshot *s);
#define CLEANUP_SNAPSHOT CLEANUP(snapshot_done)

/* What only smcd knows; NULL pointers in render_prometheus() leave these families out. */
struct policy_metrics {
	bool last_ok;
	double last_ok_timestamp; /* 0: never */
	bool drift_unknown;
	uint64_t drift, generation, applies_ok, applies_failed;
};
