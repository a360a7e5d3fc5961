// SPDX-License-Identifier: GPL-2.0-or-later
#include "knobs.h"

#include <limits.h>

const char *const tech_names[] = { [TECH_SMCD] = "smcd", [TECH_SMCR] = "smcr", NULL };
const char *const cork_mode_names[] = { "auto", "application", "off", NULL };
const char *const buf_type_names[] = { "physical", "virtual", "mixed", NULL };

/* Ranges and defaults: net/smc/smc_sysctl.c, smc_core.h, smc_llc.h; Documentation/networking/smc-sysctl.rst. */
const struct knob knobs[] = {
	{
		.name = "wmem",
		.spec = { TYPE_SIZE, 16384, INT_MAX / 2, NULL },
		.def = { VALUE_UINT, { .u = 65536 } },
		.effect = EFFECT_NEW_SOCKETS,
		.sysctl = "wmem",
		.is_buffer = true,
		.since = "6.1",
		.doc = "send buffer of new sockets; SO_SNDBUF overrides it; no effect on SMC-D loopback",
	},
	{
		.name = "rmem",
		.spec = { TYPE_SIZE, 16384, INT_MAX / 2, NULL },
		.def = { VALUE_UINT, { .u = 65536 } },
		.effect = EFFECT_NEW_SOCKETS,
		.sysctl = "rmem",
		.is_buffer = true,
		.since = "6.1",
		.doc = "receive buffer of new sockets; SO_RCVBUF overrides it",
	},
	{
		.name = "autocorking_size",
		.spec = { TYPE_SIZE, 0, UINT_MAX, NULL },
		.def = { VALUE_UINT, { .u = 65536 } },
		.effect = EFFECT_AT_ONCE,
		.sysctl = "autocorking_size",
		.since = "5.18",
		.doc = "small writes are gathered up to this many bytes (at most half the send buffer); 0 sends each "
		       "at once",
	},
	{
		.name = "smcr_buf_type",
		.spec = { TYPE_CHOICE, 0, 2, buf_type_names },
		.def = { VALUE_UINT, { .u = 0 } },
		.effect = EFFECT_NEW_LINK_GROUPS,
		.sysctl = "smcr_buf_type",
		.since = "6.0",
		.doc = "memory of SMC-R buffers: physically contiguous, virtually contiguous, or physical with virtual "
		       "as fallback",
	},
	{
		.name = "smcr_testlink_time",
		.spec = { TYPE_SECONDS, 0, INT_MAX / 100, NULL },
		.def = { VALUE_UINT, { .u = 30 } },
		.effect = EFFECT_NEW_LINK_GROUPS,
		.sysctl = "smcr_testlink_time",
		.range_note = "a kernel with CONFIG_HZ over 100 takes at most 2147483647 / CONFIG_HZ (8589934 at 250)",
		.since = "6.1",
		.doc = "an SMC-R link that was idle this long is tested with TEST LINK; 0 turns the test off",
	},
	{
		.name = "smcr_max_links_per_lgr",
		.spec = { TYPE_COUNT, 1, 2, NULL },
		.def = { VALUE_UINT, { .u = 2 } },
		.effect = EFFECT_NEW_LINK_GROUPS,
		.sysctl = "smcr_max_links_per_lgr",
		.since = "6.8",
		.doc = "links of a new SMC-R link group; negotiated (v2.1), the smaller of both peers' values counts",
	},
	{
		.name = "smcr_max_conns_per_lgr",
		.spec = { TYPE_COUNT, 16, 255, NULL },
		.def = { VALUE_UINT, { .u = 255 } },
		.effect = EFFECT_NEW_LINK_GROUPS,
		.sysctl = "smcr_max_conns_per_lgr",
		.since = "6.8",
		.doc = "connections of a new SMC-R link group; negotiated (v2.1), the smaller of both peers' values "
		       "counts",
	},
	{
		.name = "limit_smc_hs",
		.spec = { TYPE_BOOL, 0, 1, NULL },
		.def = { VALUE_UINT, { .u = 0 } },
		.effect = EFFECT_NEW_LISTENERS,
		.sysctl = "limit_smc_hs",
		.genl = KNOB_GENL_HS_LIMITATION,
		.since = "5.18 by netlink, 6.12 as sysctl",
		.doc = "handshake limitation: a listener whose queue of SMC handshakes is full accepts plain TCP "
		       "instead",
	},
	{
		.name = "smcr_max_send_wr",
		.spec = { TYPE_COUNT, 2, 2048, NULL },
		.def = { VALUE_UINT, { .u = 16 } },
		.effect = EFFECT_NEW_LINK_GROUPS,
		.sysctl = "smcr_max_send_wr",
		.since = "after 6.12",
		.doc = "send work requests of the queue pair of a new SMC-R link",
	},
	{
		.name = "smcr_max_recv_wr",
		.spec = { TYPE_COUNT, 2, 2048, NULL },
		.def = { VALUE_UINT, { .u = 48 } },
		.effect = EFFECT_NEW_LINK_GROUPS,
		.sysctl = "smcr_max_recv_wr",
		.since = "after 6.12",
		.doc = "receive work requests of the queue pair of a new SMC-R link",
	},
	{
		.name = "hs_ctrl",
		.spec = { TYPE_STRING, 0, KNOB_STRING_MAX, NULL },
		.def = { VALUE_STR, { .s = "" } },
		.effect = EFFECT_NEW_HANDSHAKES,
		.sysctl = "hs_ctrl",
		.since = "6.19",
		.doc = "name of the BPF handshake controller that decides which connections try SMC; empty: none",
	},
	{
		.name = "hs_workers",
		.spec = { TYPE_COUNT, 1, 512, NULL },
		.def = { VALUE_UINT, { .u = 256 } },
		.scope = SCOPE_HOST,
		.effect = EFFECT_AT_ONCE,
		.sysctl = "hs_workers",
		.since = "6.12 with the series of kernel-patch",
		.doc = "SMC handshakes that are worked on at a time on each CPU, for servers and for clients; others "
		       "wait",
	},
	{
		.name = "lo_max_dmbs",
		.spec = { TYPE_COUNT, 2, 65536, NULL },
		.def = { VALUE_UINT, { .u = 5000 } },
		.scope = SCOPE_HOST,
		.effect = EFFECT_AT_ONCE,
		.sysctl = "lo_max_dmbs",
		.since = "6.12 with the series of kernel-patch",
		.doc = "buffers of the SMC-D loopback device; a connection needs two, and falls back if there is none",
	},
	{
		.name = "cork_mode",
		.spec = { TYPE_CHOICE, 0, 2, cork_mode_names },
		.def = { VALUE_UINT, { .u = 0 } },
		.effect = EFFECT_AT_ONCE,
		.sysctl = "cork_mode",
		.since = "6.12 with the series of kernel-patch",
		.doc = "which writes may wait for more to be sent with them: what the application holds and small "
		       "ones while a transmission is under way, only the former, or none",
	},
	{
		.name = "cork_ceiling",
		.spec = { TYPE_MSECONDS, 0, 60000, NULL },
		.def = { VALUE_UINT, { .u = 0 } },
		.effect = EFFECT_AT_ONCE,
		.sysctl = "cork_ceiling",
		.since = "6.12 with the series of kernel-patch",
		.doc = "time after which corked data (TCP_CORK, MSG_MORE) is sent anyway; 0: only the application decides",
	},
	{
		.name = "tx_nocache_min",
		.spec = { TYPE_SIZE, 0, UINT_MAX, NULL },
		.def = { VALUE_UINT, { .u = 0 } },
		.effect = EFFECT_AT_ONCE,
		.sysctl = "tx_nocache_min",
		.since = "6.12 with the series of kernel-patch",
		.doc = "SMC-R over real adapters: sends of at least this many bytes are copied past the cache of the "
		       "CPU; 0: none is",
	},
};

const size_t n_knobs = ARRAY_SIZE(knobs);

const struct knob *knob_find(const char *name)
{
	for (size_t i = 0; i < n_knobs; i++)
		if (str_eq(knobs[i].name, name))
			return &knobs[i];
	return NULL;
}

static const char *nth_name(size_t i, const void *arg)
{
	(void)arg;
	return knobs[i].name;
}

const char *knob_suggest(const char *misspelt)
{
	return closest_name(misspelt, nth_name, NULL, n_knobs);
}

const char *knob_effect_name(enum knob_effect e)
{
	static const char *const names[] = {
		[EFFECT_AT_ONCE] = "at once",
		[EFFECT_NEW_SOCKETS] = "new sockets",
		[EFFECT_NEW_LISTENERS] = "new listeners",
		[EFFECT_NEW_LINK_GROUPS] = "new link groups",
		[EFFECT_NEW_HANDSHAKES] = "new handshakes",
		[EFFECT_UNKNOWN] = "unknown",
	};

	return names[e];
}

const char *knob_scope_name(enum knob_scope s)
{
	static const char *const names[] = {
		[SCOPE_NETNS] = "netns",
		[SCOPE_HOST] = "host",
		[SCOPE_RDMA_DEVICE] = "rdma-device",
		[SCOPE_UNKNOWN] = "unknown",
	};

	return names[s];
}

#define BUFFER_MIN 16384ull
static const uint64_t buffer_caps[N_TECHS] = { [TECH_SMCD] = 1ull << 20, [TECH_SMCR] = 512ull << 20 };

uint64_t knob_expected(uint64_t bytes, enum smc_tech tech)
{
	uint64_t size = BUFFER_MIN;

	while (size < bytes && size < buffer_caps[tech])
		size *= 2;
	return size;
}
