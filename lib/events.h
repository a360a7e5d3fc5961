/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.h - the table of what the kernel tells by itself, by the multicast groups of smc_tune (6.12 with the series of
 * kernel-patch). An event is one or more rows of its kind: changed knobs, pnet entries, a link, a connection.
 */
#pragma once

#include "nouns.h"

enum event_kind { EVENT_KNOB, EVENT_PNET, EVENT_LINK, EVENT_FALLBACK, N_EVENTS };

enum event_knob_field { EK_NAME, EK_OLD, EK_VALUE, EK_SOURCE, EK_PORTID, EK_GENERATION, N_EK_FIELDS };
enum event_pnet_field {
	EP_ACTION,
	EP_ID,
	EP_INTERFACE,
	EP_RDMA,
	EP_PORT,
	EP_IFINDEX,
	EP_OLD_NAME,
	EP_ENTRIES,
	EP_GENERATION,
	N_EP_FIELDS,
};
enum event_link_field {
	EL_EVENT,
	EL_TECH,
	EL_LGR,
	EL_LINK,
	EL_DEVICE,
	EL_PORT,
	EL_IFINDEX,
	EL_ROLE,
	EL_STATE,
	EL_NET_COOKIE,
	N_EL_FIELDS,
};
enum event_fallback_field {
	EF_ROLE,
	EF_LOCAL_ADDR,
	EF_LOCAL_PORT,
	EF_PEER_ADDR,
	EF_PEER_PORT,
	EF_REASON,
	EF_REASON_NAME,
	EF_PEER_REASON,
	EF_PEER_REASON_NAME,
	EF_SUPPRESSED,
	N_EF_FIELDS,
};

/* Where a field lies: in each of the nests that are the rows, or in the message around them. */
#define WIRE_ROW WIRE_R
#define WIRE_MESSAGE WIRE_D

struct event_type {
	const char *group;      /* multicast group */
	uint8_t cmd;            /* command of its messages */
	uint8_t rows;           /* attribute that each row is a nest of; 0: the message is the one row */
	int key;                /* field without which it means nothing */
	const struct noun noun; /* id: N_NOUNS, it is no noun that can be listed */
};
extern const struct event_type event_types[N_EVENTS];

/* What happened, in one line: "knob wmem: 65536 -> 262144 (sysctl)". */
void event_text(enum event_kind kind, const struct list *rows, size_t row, struct text *t);
