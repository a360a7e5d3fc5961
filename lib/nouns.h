/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nouns.h - the tables of what can be listed (link groups, links, devices, sockets, pnet entries, UEIDs, fallbacks),
 * their fields, and lists of records.
 *
 * A field's row is its only home: the netlink parser finds the attribute by it, text and JSON renderers, the varlink
 * interface description, filters and the manual walk it.
 */
#pragma once

#include "value.h"

enum noun_id {
	NOUN_LINKGROUPS,
	NOUN_LINKS,
	NOUN_DEVICES,
	NOUN_SOCKETS,
	NOUN_PNET,
	NOUN_UEID,
	NOUN_SEID,
	NOUN_FALLBACKS,
	/* these need a kernel with smc_tune */
	NOUN_POOLS,
	NOUN_CORK,
	NOUN_HANDSHAKES,
	N_NOUNS,
};

/* The netlink records a field can come from: which of a field's attribute paths applies. */
enum wire {
	WIRE_R,  /* SMC-R link groups and links; SMC-R devices (port 1); pnet; ueid; fallbacks */
	WIRE_D,  /* SMC-D link groups and devices */
	WIRE_R2, /* SMC-R devices, port 2 */
	N_WIRES,
};

/*
 * Where a field's value lies in a record: attribute numbers from the record's nest inwards, each stored plus one, so
 * that number 0 (SMC_NLA_LGR_V2_VER) can be named; {0} = not on this wire.
 */
struct attr_path {
	uint8_t a[2];
};

struct field {
	const char *name;  /* JSON and filters: snake_case */
	const char *title; /* column head; NULL: only in JSON and with --wide */
	struct value_spec spec;
	const struct attr_path path[N_WIRES];
	/* An attribute beside the one of the path that holds more bits, stored plus one; only some kernels send it. */
	const uint8_t wider[N_WIRES];
	const char *doc;
};

struct noun {
	enum noun_id id;
	const char *name;   /* "linkgroups": command, JSON member */
	const char *type;   /* "LinkGroup": varlink type */
	const char *method; /* "ListLinkGroups": varlink method */
	bool host_wide;     /* the kernel keeps one for all namespaces */
	const char *doc;
	const struct field *fields;
	size_t n_fields;
	/* Lists that come with it and have other fields: histograms, reasons. Neither filtered nor listed on their own.
	 */
	const struct noun *parts;
	size_t n_parts;
};

extern const struct noun nouns[N_NOUNS];
extern const char *const transport_names[3]; /* as smc_tune numbers them, NULL at the end */
extern const char *const role_names[3];      /* of this host in a connection, by the kernel's number, NULL at the end */

enum lgr_field {
	LGR_ID,
	LGR_TECH,
	LGR_ROLE,
	LGR_TYPE,
	LGR_CONNS,
	LGR_PNETID,
	LGR_VLAN,
	LGR_VERSION,
	LGR_RELEASE,
	LGR_PEER_OS,
	LGR_EID,
	LGR_PEER_HOST,
	LGR_DIRECT,
	LGR_MAX_CONNS,
	LGR_MAX_LINKS,
	LGR_BUF_TYPE,
	LGR_SNDBUF,
	LGR_RCVBUF,
	LGR_GID,
	LGR_PEER_GID,
	LGR_EXT_GID,
	LGR_PEER_EXT_GID,
	LGR_CHID,
	LGR_NET_COOKIE,
	N_LGR_FIELDS,
};

enum link_field {
	LINK_LGR,
	LINK_ID,
	LINK_STATE,
	LINK_DEVICE,
	LINK_PORT,
	LINK_CONNS,
	LINK_GID,
	LINK_PEER_GID,
	LINK_IFINDEX,
	LINK_NETDEV,
	LINK_UID,
	LINK_PEER_UID,
	N_LINK_FIELDS,
};

enum dev_field {
	DEV_NAME,
	DEV_TECH,
	DEV_PORT,
	DEV_STATE,
	DEV_PNETID,
	DEV_PNETID_BY_USER,
	DEV_IFINDEX,
	DEV_NETDEV,
	DEV_LINKS,
	DEV_LGRS,
	DEV_CRITICAL,
	DEV_PCI_ID,
	DEV_PCI_FID,
	DEV_PCI_CHID,
	DEV_PCI_VENDOR,
	DEV_PCI_DEVICE,
	N_DEV_FIELDS,
};

enum sock_field {
	SOCK_LOCAL_ADDR,
	SOCK_LOCAL_PORT,
	SOCK_PEER_ADDR,
	SOCK_PEER_PORT,
	SOCK_STATE,
	SOCK_MODE,
	SOCK_REASON,
	SOCK_REASON_NAME,
	SOCK_PEER_REASON,
	SOCK_SNDBUF,
	SOCK_RCVBUF,
	SOCK_PEER_RCVBUF,
	SOCK_RX_FILL,
	SOCK_TX_FILL,
	SOCK_PID,
	SOCK_PROGRAM,
	SOCK_UID,
	SOCK_INODE,
	SOCK_COOKIE,
	SOCK_SHUTDOWN,
	SOCK_TOKEN,
	SOCK_ROLE,
	SOCK_LINK,
	SOCK_DEVICE,
	SOCK_DEVICE_PORT,
	SOCK_GID,
	SOCK_PEER_GID,
	SOCK_LINKID,
	N_SOCK_FIELDS,
};

enum pnet_field { PNET_ID, PNET_INTERFACE, PNET_RDMA, PNET_PORT, N_PNET_FIELDS };
enum ueid_field { UEID_EID, N_UEID_FIELDS };
enum seid_field { SEID_EID, SEID_ENABLED, N_SEID_FIELDS };
enum fallback_field {
	FB_ROLE,
	FB_CODE,
	FB_NAME,
	FB_COUNT,
	FB_MEANING,
	FB_ACTION,
	N_FB_FIELDS,
};

enum pool_field {
	POOL_TECH,
	POOL_LGR,
	POOL_DIRECTION,
	POOL_SIZE,
	POOL_BUFFERS,
	POOL_IN_USE,
	POOL_FREE,
	POOL_BYTES,
	POOL_REUSES,
	POOL_ALLOCATIONS,
	POOL_DOWNGRADES,
	POOL_CONTENDED,
	POOL_NET_COOKIE,
	N_POOL_FIELDS,
};
enum cork_field { CORK_KIND, CORK_CAUSE, CORK_COUNT, CORK_BYTES, N_CORK_FIELDS };
enum cork_kind { CORK_HELD, CORK_SENT, CORK_PAST_CACHE };
enum cork_part { CORK_SIZES, N_CORK_PARTS };
enum bucket_field { BUCKET_LE, BUCKET_COUNT, N_BUCKET_FIELDS };
enum handshake_field {
	HS_ROLE,
	HS_QUEUED,
	HS_ACTIVE,
	HS_WORKERS,
	HS_ESTABLISHED,
	HS_FALLBACKS,
	HS_ERRORS,
	HS_TIME_SUM,
	N_HS_FIELDS,
};
enum handshake_part { HS_TIMES, HS_REASONS, N_HS_PARTS };
enum hs_time_field { HT_ROLE, HT_LE, HT_COUNT, N_HT_FIELDS };
enum hs_reason_field { HR_ROLE, HR_REASON, HR_REASON_NAME, HR_PEER_REASON, HR_PEER_REASON_NAME, HR_COUNT, N_HR_FIELDS };

/*
 * Records of one noun: n rows of n_fields cells. Strings live as long as the list. incomplete: the kernel's dump
 * changed under three readings (or it said NLM_F_DUMP_INTR), so entries can be missing or doubled.
 */
struct list {
	const struct noun *noun;
	size_t n, n_alloc;
	struct value *cells;
	struct strings *strings;
	bool incomplete;
	struct list *parts; /* noun->n_parts, by their order there; NULL: none were read */
};

#define LIST_ROWS_MAX 2000000 /* a hostile kernel or fake cannot grow a list without end */

void list_init(struct list *l, const struct noun *noun);
void list_done(struct list *l);
#define CLEANUP_LIST CLEANUP(list_done)
/* Make room for the parts of its noun. -ENOMEM. */
int list_init_parts(struct list *l);
/* A new row with every cell absent; NULL when out of memory or over LIST_ROWS_MAX. Valid until the next list_add. */
struct value *list_add(struct list *l);
static inline struct value *list_row(const struct list *l, size_t i)
{
	return l->cells + i * l->noun->n_fields;
}
/* A copy of n bytes of s (up to its NUL) owned by the list; NULL when out of memory. */
const char *list_str(struct list *l, const char *s, size_t n);
bool list_equal(const struct list *a, const struct list *b);

void field_text(const struct field *f, struct value v, struct text *t);
