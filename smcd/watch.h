/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - what others change in smcd's namespace, seen at once: events of smc_tune, written to the log. Where the
 * kernel has none, differences are seen when somebody asks, as ever.
 */
#pragma once

#include <systemd/sd-event.h>

#include "manager.h"

#define WATCH_AT_ONCE 64      /* events that are read before other things get their turn */
#define WATCH_FALLBACKS 16    /* reasons of fallbacks that are kept apart */
#define WATCH_FALLBACK_SEC 60 /* each of them is told of once in this time */

struct watch_fallback {
	uint64_t role, reason, peer_reason, more; /* more: since it was told of */
	uint64_t since_usec;                      /* 0: free */
};

struct watch {
	struct manager *m;
	sd_event *event;
	sd_event_source *source; /* NULL: not listening */
	struct events events;
	struct watch_fallback fallbacks[WATCH_FALLBACKS];
};

/*
 * Begin, or begin anew after the module may have been loaded again: the groups of the one before are gone then. Not
 * having smc_tune is no failure. What goes wrong is logged.
 */
void watch_start(struct watch *w, struct manager *m, sd_event *event);
void watch_done(struct watch *w);
/* Take what waits: after changes by smcd, what they were (own of n entries of the pnet table) is not told of. */
void watch_take(struct watch *w, const struct pnet_entry *own, size_t n);
