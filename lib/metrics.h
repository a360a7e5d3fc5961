/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.h - the tables of what the kernel counts and of every family that is exposed.
 *
 * A counter's row is its only home: the netlink parser, text, JSON and Prometheus walk the same table. Meaning of the
 * kernel's counters: net/smc/smc_stats.h.
 */
#pragma once

#include "knobs.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

struct metric {
	const char *name; /* as in the exposition, counters with _total */
	enum metric_kind kind;
	const char *unit; /* "bytes", "seconds", "" : OpenMetrics' UNIT */
	const char *help;
};

enum metric_id {
	M_UP,
	M_MODULE_INFO,
	M_TX_BYTES,
	M_RX_BYTES,
	M_TX_REQUESTS,
	M_RX_REQUESTS,
	M_TX_SIZE,
	M_RX_SIZE,
	M_BUF_SIZE,
	M_BUF_FULL,
	M_BUF_SMALL,
	M_BUF_ALLOCS,
	M_BUF_REUSES,
	M_BUF_DOWNGRADES,
	M_BUF_USED,
	M_UNCORKS,
	M_NODELAYS,
	M_SPLICES,
	M_URGENT,
	M_HS_OK,
	M_HS_ERR,
	M_FALLBACKS,
	M_FALLBACK_REASONS,
	M_LGRS,
	M_LINKS,
	M_CONNS,
	M_DEV_LGRS,
	M_DEV_ACTIVE,
	M_DEV_INFO,
	M_POOL_BUFFERS,
	M_POOL_BYTES,
	M_POOL_REUSES,
	M_POOL_ALLOCATIONS,
	M_POOL_DOWNGRADES,
	M_POOL_CONTENDED,
	M_CORK_HELD,
	M_CORK_SENT,
	M_CORK_SIZE,
	M_PAST_CACHE_WRITES,
	M_PAST_CACHE_BYTES,
	M_HS_QUEUED,
	M_HS_ACTIVE,
	M_HS_WORKERS,
	M_HS_TIME,
	M_HS_REASONS,
	M_SCRAPE_SUCCESS,
	M_SCRAPE_DURATION,
	M_NL_ERRORS,
	M_BUILD_INFO,
	M_POLICY_OK,
	M_POLICY_TIME,
	M_POLICY_DRIFT,
	M_POLICY_GENERATION,
	M_POLICY_APPLIES,
	N_METRICS,
};

extern const struct metric metrics[N_METRICS];

/* Payload and buffer-size buckets: inclusive bounds, the last without one (UINT64_MAX). */
#define N_BUCKETS 9
extern const uint64_t bucket_bounds[N_BUCKETS];

/* One counter (or histogram) of SMC_NETLINK_GET_STATS. */
struct counter {
	const char *key; /* JSON member and text label: "tx_bytes", "tx_buffers_full_peer" */
	enum metric_id metric;
	const char *labels; /* beside tech: "buffer=\"send\",side=\"local\"", "" */
	bool global;        /* not split by technology (handshake errors) */
	bool histogram;
	uint8_t path[2]; /* attribute numbers below the technology's nest (or below SMC_GEN_STATS when global); 0 ends
			  */
	const char *sum_key; /* histogram: the counter that is its true sum; NULL: has none */
};

extern const struct counter stats_table[];
extern const size_t n_stats;

struct stat_value {
	struct value v;              /* absent: this kernel does not count it */
	uint64_t buckets[N_BUCKETS]; /* each bucket's own count, not cumulative */
};

/* All counters of one namespace: [stat][tech]; global ones use tech 0. */
struct stats {
	struct stat_value (*v)[N_TECHS];
};

int stats_init(struct stats *s); /* all absent */
void stats_done(struct stats *s);
#define CLEANUP_STATS CLEANUP(stats_done)
