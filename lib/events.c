// SPDX-License-Identifier: GPL-2.0-or-later
#include "events.h"

#include <linux/smc_tune.h>

#include "knobs.h"

/* clang-format off */
#define ROW(a) { [WIRE_ROW] = { { (a) + 1 } } }
#define MESSAGE(a) { [WIRE_MESSAGE] = { { (a) + 1 } } }

#define COUNT { .type = TYPE_COUNT, .max = UINT64_MAX }
#define STRING { .type = TYPE_STRING, .max = UINT32_MAX }
#define HEX32 { .type = TYPE_HEX32, .max = UINT32_MAX }
#define CHOICE(names) { .type = TYPE_CHOICE, .max = ARRAY_SIZE(names) - 2, .choices = names }

static const char *const sources[] = {
	[SMC_TUNE_SOURCE_SYSCTL] = "sysctl", [SMC_TUNE_SOURCE_KNOB_SET] = "knob-set",
	[SMC_TUNE_SOURCE_HS_LIMITATION] = "hs-limitation", NULL,
};
static const char *const pnet_actions[] = {
	[SMC_TUNE_PNET_ACTION_ADD] = "add", [SMC_TUNE_PNET_ACTION_DELETE] = "delete",
	[SMC_TUNE_PNET_ACTION_FLUSH] = "flush", [SMC_TUNE_PNET_ACTION_REPLACE] = "replace",
	[SMC_TUNE_PNET_ACTION_RENAME] = "rename", [SMC_TUNE_PNET_ACTION_ATTACH] = "attach",
	[SMC_TUNE_PNET_ACTION_DETACH] = "detach", NULL,
};
static const char *const link_events[] = {
	[SMC_TUNE_LINK_EVENT_GROUP_UP] = "group-up", [SMC_TUNE_LINK_EVENT_GROUP_DOWN] = "group-down",
	[SMC_TUNE_LINK_EVENT_LINK_UP] = "link-up", [SMC_TUNE_LINK_EVENT_LINK_DOWN] = "link-down",
	[SMC_TUNE_LINK_EVENT_GROUP_STATE] = "group-state", NULL,
};
static const char *const lgr_states[] = { "none", "single", "symmetric", "asymmetric-peer", "asymmetric-local", NULL };

static const struct field knob_fields[N_EK_FIELDS] = {
	[EK_NAME] = { "name", "NAME", STRING, .path = ROW(SMC_TUNE_A_KNOB_VALUE_NAME), .doc = "the knob" },
	[EK_OLD] = { "old_value", "OLD", COUNT, .path = ROW(SMC_TUNE_A_KNOB_VALUE_OLD_VALUE),
		.doc = "value before, as knobs show has it" },
	[EK_VALUE] = { "value", "VALUE", COUNT, .path = ROW(SMC_TUNE_A_KNOB_VALUE_VALUE),
		.doc = "value now, as knobs show has it" },
	[EK_SOURCE] = { "source", "SOURCE", CHOICE(sources), .path = MESSAGE(SMC_TUNE_A_KNOB_EVENT_SOURCE),
		.doc = "what has changed it; absent where events were lost and the values read again" },
	[EK_PORTID] = { "portid", NULL, COUNT, .path = MESSAGE(SMC_TUNE_A_KNOB_EVENT_PORTID),
		.doc = "netlink port of the socket that asked for it" },
	[EK_GENERATION] = { "generation", NULL, COUNT, .path = MESSAGE(SMC_TUNE_A_KNOB_EVENT_GENERATION),
		.doc = "grows by 1 with each change of the namespace's knobs" },
};

static const struct field pnet_fields[N_EP_FIELDS] = {
	[EP_ACTION] = { "action", "ACTION", CHOICE(pnet_actions), .path = MESSAGE(SMC_TUNE_A_PNET_ACTION),
		.doc = "what was done to the table, or happened to an entry's device" },
	[EP_ID] = { "id", "PNET-ID", STRING, .path = ROW(SMC_TUNE_A_PNET_ENTRY_PNETID), .doc = "physical network ID" },
	[EP_INTERFACE] = { "interface", "INTERFACE", STRING, .path = ROW(SMC_TUNE_A_PNET_ENTRY_ETHNAME),
		.doc = "net device" },
	[EP_RDMA] = { "rdma", "RDMA", STRING, .path = ROW(SMC_TUNE_A_PNET_ENTRY_IBNAME), .doc = "RDMA or ISM device" },
	[EP_PORT] = { "port", "PORT", COUNT, .path = ROW(SMC_TUNE_A_PNET_ENTRY_IBPORT), .doc = "port of the RDMA device" },
	[EP_IFINDEX] = { "ifindex", NULL, COUNT, .path = ROW(SMC_TUNE_A_PNET_ENTRY_IFINDEX),
		.doc = "index of the net device, if there is one of this name" },
	[EP_OLD_NAME] = { "old_name", NULL, STRING, .path = ROW(SMC_TUNE_A_PNET_ENTRY_OLD_NAME),
		.doc = "name that the net device had" },
	[EP_ENTRIES] = { "entries", NULL, COUNT, .path = MESSAGE(SMC_TUNE_A_PNET_ENTRIES),
		.doc = "how many entries it was about" },
	[EP_GENERATION] = { "generation", NULL, COUNT, .path = MESSAGE(SMC_TUNE_A_PNET_GENERATION),
		.doc = "grows with each change of the namespace's table" },
};

static const struct field link_fields[N_EL_FIELDS] = {
	[EL_EVENT] = { "change", "CHANGE", CHOICE(link_events), .path = ROW(SMC_TUNE_A_LINK_EVENT), .doc = "what happened" },
	[EL_TECH] = { "tech", "TECH", CHOICE(transport_names), .path = ROW(SMC_TUNE_A_LINK_TRANSPORT),
		.doc = "SMC-R or SMC-D" },
	[EL_LGR] = { "linkgroup", "LINKGROUP", HEX32, .path = ROW(SMC_TUNE_A_LINK_GROUP), .doc = "number of the link group" },
	[EL_LINK] = { "link", "LINK", COUNT, .path = ROW(SMC_TUNE_A_LINK_LINK_ID), .doc = "number of the link in its group" },
	[EL_DEVICE] = { "device", "DEVICE", STRING, .path = ROW(SMC_TUNE_A_LINK_IB_NAME), .doc = "RDMA device of the link" },
	[EL_PORT] = { "port", "PORT", COUNT, .path = ROW(SMC_TUNE_A_LINK_IB_PORT), .doc = "port of the RDMA device" },
	[EL_IFINDEX] = { "ifindex", NULL, COUNT, .path = ROW(SMC_TUNE_A_LINK_IFINDEX), .doc = "net device of the link" },
	[EL_ROLE] = { "role", "ROLE", CHOICE(role_names), .path = ROW(SMC_TUNE_A_LINK_ROLE),
		.doc = "role of this host in the link group" },
	[EL_STATE] = { "state", "STATE", CHOICE(lgr_states), .path = ROW(SMC_TUNE_A_LINK_STATE),
		.doc = "redundancy of the link group" },
	[EL_NET_COOKIE] = { "net_cookie", NULL, COUNT, .path = ROW(SMC_TUNE_A_LINK_NET_COOKIE),
		.doc = "cookie of the network namespace the group belongs to" },
};

static const struct field fallback_fields[N_EF_FIELDS] = {
	[EF_ROLE] = { "role", "ROLE", CHOICE(role_names), .path = ROW(SMC_TUNE_A_FALLBACK_ROLE),
		.doc = "role of this host in the connection" },
	[EF_LOCAL_ADDR] = { "local_addr", "LOCAL-ADDR", STRING, .doc = "local address" },
	[EF_LOCAL_PORT] = { "local_port", "LPORT", COUNT, .path = ROW(SMC_TUNE_A_FALLBACK_LOCAL_PORT), .doc = "local port" },
	[EF_PEER_ADDR] = { "peer_addr", "PEER-ADDR", STRING, .doc = "address of the peer" },
	[EF_PEER_PORT] = { "peer_port", "PPORT", COUNT, .path = ROW(SMC_TUNE_A_FALLBACK_REMOTE_PORT),
		.doc = "port of the peer" },
	[EF_REASON] = { "reason", "REASON", HEX32, .path = ROW(SMC_TUNE_A_FALLBACK_REASON), .doc = "why it fell back" },
	[EF_REASON_NAME] = { "reason_name", "REASON-NAME", STRING, .doc = "name of that reason" },
	[EF_PEER_REASON] = { "peer_reason", "PEER-REASON", HEX32, .path = ROW(SMC_TUNE_A_FALLBACK_PEER_REASON),
		.doc = "why the peer declined; 0: it gave no reason" },
	[EF_PEER_REASON_NAME] = { "peer_reason_name", NULL, STRING, .doc = "name of that reason" },
	[EF_SUPPRESSED] = { "suppressed", NULL, COUNT, .path = ROW(SMC_TUNE_A_FALLBACK_SUPPRESSED),
		.doc = "fallbacks before it that there was no event for, because of their rate" },
};

#define NOUN(n, d, table) { .id = N_NOUNS, .name = n, .doc = d, .fields = table, .n_fields = ARRAY_SIZE(table) }

const struct event_type event_types[N_EVENTS] = {
	[EVENT_KNOB] = { SMC_TUNE_MCGRP_KNOBS, SMC_TUNE_CMD_KNOB_NTF, SMC_TUNE_A_KNOB_EVENT_CHANGE, EK_NAME,
		NOUN("knob", "A knob was changed, whoever did it", knob_fields) },
	[EVENT_PNET] = { SMC_TUNE_MCGRP_PNET, SMC_TUNE_CMD_PNET_NTF, SMC_TUNE_A_PNET_ENTRY, EP_ACTION,
		NOUN("pnet", "The pnet table was changed, or a device of it", pnet_fields) },
	[EVENT_LINK] = { SMC_TUNE_MCGRP_LINKS, SMC_TUNE_CMD_LINK_NTF, 0, EL_EVENT,
		NOUN("link", "A link group or an SMC-R link came, went or changed its state", link_fields) },
	[EVENT_FALLBACK] = { SMC_TUNE_MCGRP_FALLBACK, SMC_TUNE_CMD_FALLBACK_NTF, 0, EF_REASON,
		NOUN("fallback", "A connection fell back to TCP; at most 50 in a second", fallback_fields) },
};
/* clang-format on */

/* ---- text ---- */

static bool has(const struct value *row, unsigned int field)
{
	return row[field].kind != VALUE_ABSENT && !(row[field].kind == VALUE_STR && !*row[field].s);
}

static void add(const struct event_type *type, const struct value *row, unsigned int field, const char *before,
		struct text *t)
{
	if (!has(row, field))
		return;
	text_add(t, "%s", before);
	value_text(&type->noun.fields[field].spec, row[field], t);
}

static void knob_text(const struct event_type *type, const struct value *row, struct text *t)
{
	const struct knob *k = knob_find(row[EK_NAME].s);
	const struct value_spec *spec = k ? &k->spec : &type->noun.fields[EK_VALUE].spec;

	text_add(t, "knob %s: ", row[EK_NAME].s);
	value_text(spec, row[EK_OLD], t);
	text_add(t, " -> ");
	value_text(spec, row[EK_VALUE], t);
	if (has(row, EK_SOURCE)) {
		add(type, row, EK_SOURCE, " (", t);
		text_add(t, ")");
	}
}

static void pnet_text(const struct event_type *type, const struct value *row, struct text *t)
{
	add(type, row, EP_ACTION, "pnet ", t);
	if (!has(row, EP_ID)) {
		add(type, row, EP_ENTRIES, ": entries: ", t);
		return;
	}
	add(type, row, EP_ID, ": ", t);
	add(type, row, EP_INTERFACE, " interface ", t);
	add(type, row, EP_RDMA, " rdma ", t);
	add(type, row, EP_PORT, " port ", t);
	add(type, row, EP_OLD_NAME, ", before ", t);
}

static void link_text(const struct event_type *type, const struct value *row, struct text *t)
{
	add(type, row, EL_EVENT, "", t);
	add(type, row, EL_TECH, ": ", t);
	add(type, row, EL_LGR, " link group ", t);
	add(type, row, EL_LINK, " link ", t);
	add(type, row, EL_DEVICE, " on ", t);
	add(type, row, EL_PORT, " port ", t);
	add(type, row, EL_STATE, ", ", t);
}

static void fallback_text(const struct event_type *type, const struct value *row, struct text *t)
{
	add(type, row, EF_ROLE, "fallback as ", t);
	add(type, row, EF_LOCAL_ADDR, ": ", t);
	add(type, row, EF_LOCAL_PORT, " port ", t);
	add(type, row, EF_PEER_ADDR, ", peer ", t);
	add(type, row, EF_PEER_PORT, " port ", t);
	add(type, row, EF_REASON, ": ", t);
	add(type, row, EF_REASON_NAME, " ", t);
	if (row[EF_PEER_REASON].u) {
		add(type, row, EF_PEER_REASON, ", the peer's reason ", t);
		add(type, row, EF_PEER_REASON_NAME, " ", t);
	}
	if (row[EF_SUPPRESSED].u)
		add(type, row, EF_SUPPRESSED, "; not told of before it: ", t);
}

void event_text(enum event_kind kind, const struct list *rows, size_t row, struct text *t)
{
	static void (*const texts[N_EVENTS])(const struct event_type *type, const struct value *row, struct text *t) = {
		[EVENT_KNOB] = knob_text,
		[EVENT_PNET] = pnet_text,
		[EVENT_LINK] = link_text,
		[EVENT_FALLBACK] = fallback_text,
	};

	texts[kind](&event_types[kind], list_row(rows, row), t);
}
