// SPDX-License-Identifier: GPL-2.0-or-later
#include "nouns.h"
#include "knobs.h"

#include <linux/smc.h>
#include <rdma/ib_user_verbs.h>
#include <linux/smc_diag.h>
#include <linux/smc_tune.h>

/* clang-format off */
/* Attribute paths, stored plus one (see struct attr_path). */
#define P1(a) { { (a) + 1 } }
#define P2(a, b) { { (a) + 1, (b) + 1 } }

#define COUNT { .type = TYPE_COUNT, .max = UINT64_MAX }
#define SIZE { .type = TYPE_SIZE, .max = UINT64_MAX }
#define BOOLEAN { .type = TYPE_BOOL, .max = 1 }
#define STRING { .type = TYPE_STRING, .max = UINT32_MAX }
#define HEX32 { .type = TYPE_HEX32, .max = UINT32_MAX }
#define HEX64 { .type = TYPE_HEX64, .max = UINT64_MAX }
#define CHOICE(names) { .type = TYPE_CHOICE, .max = ARRAY_SIZE(names) - 2, .choices = names }

/* Positions are the kernel's numbers: smc_core.h (roles, types, link states), smc_clc.h (operating systems). */
const char *const transport_names[] = { "smcr", "smcd", NULL };
const char *const role_names[] = { "client", "server", NULL };
static const char *const lgr_types[] = { "none", "single", "symmetric", "asymmetric-peer", "asymmetric-local", NULL };
static const char *const peer_oses[] = { "unknown", "z/OS", "Linux", "AIX", NULL };
static const char *const link_states[] = { "unused", "inactive", "activating", "active", NULL };
static const char *const port_states[] = { "down", "active", NULL };
static const char *const modes[] = {
	[SMC_DIAG_MODE_SMCR] = "smcr", [SMC_DIAG_MODE_FALLBACK_TCP] = "tcp", [SMC_DIAG_MODE_SMCD] = "smcd", NULL,
};

static const struct field linkgroup_fields[N_LGR_FIELDS] = {
	[LGR_ID] = { "id", "ID", HEX32, .path = { [WIRE_R] = P1(SMC_NLA_LGR_R_ID), [WIRE_D] = P1(SMC_NLA_LGR_D_ID) },
		.doc = "number of the link group" },
	[LGR_TECH] = { "tech", "TECH", CHOICE(tech_names), .doc = "SMC-D or SMC-R" },
	[LGR_ROLE] = { "role", "ROLE", CHOICE(role_names), .path = { [WIRE_R] = P1(SMC_NLA_LGR_R_ROLE) },
		.doc = "role of this host; the kernel gives it for SMC-R only" },
	[LGR_TYPE] = { "type", "TYPE", CHOICE(lgr_types), .path = { [WIRE_R] = P1(SMC_NLA_LGR_R_TYPE) },
		.doc = "redundancy: how many RDMA ports each side has in it" },
	[LGR_CONNS] = { "connections", "CONNS", COUNT,
		.path = { [WIRE_R] = P1(SMC_NLA_LGR_R_CONNS_NUM), [WIRE_D] = P1(SMC_NLA_LGR_D_CONNS_NUM) },
		.doc = "connections in the group" },
	[LGR_PNETID] = { "pnet_id", "PNET-ID", STRING,
		.path = { [WIRE_R] = P1(SMC_NLA_LGR_R_PNETID), [WIRE_D] = P1(SMC_NLA_LGR_D_PNETID) },
		.doc = "physical network ID; empty: none" },
	[LGR_VLAN] = { "vlan", NULL, COUNT,
		.path = { [WIRE_R] = P1(SMC_NLA_LGR_R_VLAN_ID), [WIRE_D] = P1(SMC_NLA_LGR_D_VLAN_ID) },
		.wider = { [WIRE_R] = SMC_NLA_LGR_R_VLAN_ID16 + 1, [WIRE_D] = SMC_NLA_LGR_D_VLAN_ID16 + 1 },
		.doc = "VLAN ID, of which an unpatched kernel sends only the lowest 8 bits; 0: none" },
	[LGR_VERSION] = { "version", "VERSION", COUNT,
		.path = { [WIRE_R] = P2(SMC_NLA_LGR_R_V2_COMMON, SMC_NLA_LGR_V2_VER),
			  [WIRE_D] = P2(SMC_NLA_LGR_D_V2_COMMON, SMC_NLA_LGR_V2_VER) },
		.doc = "version of the SMC protocol; given from 2 on" },
	[LGR_RELEASE] = { "release", NULL, COUNT,
		.path = { [WIRE_R] = P2(SMC_NLA_LGR_R_V2_COMMON, SMC_NLA_LGR_V2_REL),
			  [WIRE_D] = P2(SMC_NLA_LGR_D_V2_COMMON, SMC_NLA_LGR_V2_REL) },
		.doc = "the peer's release of version 2" },
	[LGR_PEER_OS] = { "peer_os", NULL, CHOICE(peer_oses),
		.path = { [WIRE_R] = P2(SMC_NLA_LGR_R_V2_COMMON, SMC_NLA_LGR_V2_OS),
			  [WIRE_D] = P2(SMC_NLA_LGR_D_V2_COMMON, SMC_NLA_LGR_V2_OS) },
		.doc = "operating system of the peer" },
	[LGR_EID] = { "eid", "EID", STRING,
		.path = { [WIRE_R] = P2(SMC_NLA_LGR_R_V2_COMMON, SMC_NLA_LGR_V2_NEG_EID),
			  [WIRE_D] = P2(SMC_NLA_LGR_D_V2_COMMON, SMC_NLA_LGR_V2_NEG_EID) },
		.doc = "enterprise ID that both sides agreed on" },
	[LGR_PEER_HOST] = { "peer_host", "PEER-HOST", STRING,
		.path = { [WIRE_R] = P2(SMC_NLA_LGR_R_V2_COMMON, SMC_NLA_LGR_V2_PEER_HOST),
			  [WIRE_D] = P2(SMC_NLA_LGR_D_V2_COMMON, SMC_NLA_LGR_V2_PEER_HOST) },
		.doc = "host name that the peer gave itself" },
	[LGR_DIRECT] = { "direct", NULL, BOOLEAN, .path = { [WIRE_R] = P2(SMC_NLA_LGR_R_V2, SMC_NLA_LGR_R_V2_DIRECT) },
		.doc = "SMC-Rv2: the peer is in the same subnet, no gateway between" },
	[LGR_MAX_CONNS] = { "max_connections", NULL, COUNT,
		.path = { [WIRE_R] = P2(SMC_NLA_LGR_R_V2, SMC_NLA_LGR_R_V2_MAX_CONNS) },
		.doc = "negotiated limit of connections" },
	[LGR_MAX_LINKS] = { "max_links", NULL, COUNT,
		.path = { [WIRE_R] = P2(SMC_NLA_LGR_R_V2, SMC_NLA_LGR_R_V2_MAX_LINKS) },
		.doc = "negotiated limit of links" },
	[LGR_BUF_TYPE] = { "buffer_type", NULL, CHOICE(buf_type_names), .path = { [WIRE_R] = P1(SMC_NLA_LGR_R_BUF_TYPE) },
		.doc = "memory of the buffers (smcr_buf_type when the group was made)" },
	[LGR_SNDBUF] = { "send_buffers", "SNDBUF", SIZE,
		.path = { [WIRE_R] = P1(SMC_NLA_LGR_R_SNDBUF_ALLOC), [WIRE_D] = P1(SMC_NLA_LGR_D_SNDBUF_ALLOC) },
		.doc = "bytes of send buffers, in use or kept for reuse" },
	[LGR_RCVBUF] = { "receive_buffers", "RCVBUF", SIZE,
		.path = { [WIRE_R] = P1(SMC_NLA_LGR_R_RMB_ALLOC), [WIRE_D] = P1(SMC_NLA_LGR_D_DMB_ALLOC) },
		.doc = "bytes of receive buffers, in use or kept for reuse" },
	[LGR_GID] = { "gid", NULL, HEX64, .path = { [WIRE_D] = P1(SMC_NLA_LGR_D_GID) },
		.doc = "GID of the ISM device" },
	[LGR_PEER_GID] = { "peer_gid", NULL, HEX64, .path = { [WIRE_D] = P1(SMC_NLA_LGR_D_PEER_GID) },
		.doc = "GID of the peer's ISM device" },
	[LGR_EXT_GID] = { "gid_ext", NULL, HEX64, .path = { [WIRE_D] = P1(SMC_NLA_LGR_D_EXT_GID) },
		.doc = "extended GID of an emulated ISM device" },
	[LGR_PEER_EXT_GID] = { "peer_gid_ext", NULL, HEX64, .path = { [WIRE_D] = P1(SMC_NLA_LGR_D_PEER_EXT_GID) },
		.doc = "extended GID of the peer's emulated ISM device" },
	[LGR_CHID] = { "chid", NULL, COUNT, .path = { [WIRE_D] = P1(SMC_NLA_LGR_D_CHID) },
		.doc = "channel ID of the ISM device; 65535: loopback" },
	[LGR_NET_COOKIE] = { "net_cookie", NULL, COUNT, .path = { [WIRE_R] = P1(SMC_NLA_LGR_R_NET_COOKIE) },
		.doc = "cookie of the network namespace the group belongs to" },
};

static const struct field link_fields[N_LINK_FIELDS] = {
	[LINK_LGR] = { "linkgroup", "LINKGROUP", HEX32, .doc = "number of the link group" },
	[LINK_ID] = { "id", "LINK", COUNT, .path = { P1(SMC_NLA_LINK_ID) }, .doc = "number of the link in its group" },
	[LINK_STATE] = { "state", "STATE", CHOICE(link_states), .path = { P1(SMC_NLA_LINK_STATE) },
		.doc = "state of the link" },
	[LINK_DEVICE] = { "device", "DEVICE", STRING, .path = { P1(SMC_NLA_LINK_IB_DEV) }, .doc = "RDMA device" },
	[LINK_PORT] = { "port", "PORT", COUNT, .path = { P1(SMC_NLA_LINK_IB_PORT) }, .doc = "port of the RDMA device" },
	[LINK_CONNS] = { "connections", "CONNS", COUNT, .path = { P1(SMC_NLA_LINK_CONN_CNT) },
		.doc = "connections that use the link" },
	[LINK_GID] = { "gid", "GID", STRING, .path = { P1(SMC_NLA_LINK_GID) }, .doc = "local GID" },
	[LINK_PEER_GID] = { "peer_gid", "PEER-GID", STRING, .path = { P1(SMC_NLA_LINK_PEER_GID) },
		.doc = "GID of the peer" },
	[LINK_IFINDEX] = { "ifindex", NULL, COUNT, .path = { P1(SMC_NLA_LINK_NET_DEV) },
		.doc = "index of the net device, in the namespace of that device" },
	[LINK_NETDEV] = { "netdev", "NETDEV", STRING, .doc = "name of the net device, where it can be told" },
	[LINK_UID] = { "uid", NULL, HEX32, .path = { P1(SMC_NLA_LINK_UID) }, .doc = "unique ID of the link" },
	[LINK_PEER_UID] = { "peer_uid", NULL, HEX32, .path = { P1(SMC_NLA_LINK_PEER_UID) },
		.doc = "the peer's unique ID of the link" },
};

/* A port's attributes lie in a nest of their own for each port; SMC-D devices have one such nest. */
#define PORT_PATHS(a) { \
	[WIRE_R] = P2(SMC_NLA_DEV_PORT, a), [WIRE_D] = P2(SMC_NLA_DEV_PORT, a), [WIRE_R2] = P2(SMC_NLA_DEV_PORT2, a) }
#define DEVICE_PATHS(a) { [WIRE_R] = P1(a), [WIRE_D] = P1(a), [WIRE_R2] = P1(a) }

static const struct field device_fields[N_DEV_FIELDS] = {
	[DEV_NAME] = { "name", "NAME", STRING,
		.path = { [WIRE_R] = P1(SMC_NLA_DEV_IB_NAME), [WIRE_R2] = P1(SMC_NLA_DEV_IB_NAME) },
		.doc = "name of the RDMA device" },
	[DEV_TECH] = { "tech", "TECH", CHOICE(tech_names), .doc = "SMC-D (ISM) or SMC-R (RDMA)" },
	[DEV_PORT] = { "port", "PORT", COUNT, .doc = "port of the RDMA device" },
	[DEV_STATE] = { "state", "STATE", CHOICE(port_states), .path = PORT_PATHS(SMC_NLA_DEV_PORT_STATE),
		.doc = "state of the port" },
	[DEV_PNETID] = { "pnet_id", "PNET-ID", STRING, .path = PORT_PATHS(SMC_NLA_DEV_PORT_PNETID),
		.doc = "physical network ID; empty: none" },
	[DEV_PNETID_BY_USER] = { "pnet_id_by_user", NULL, BOOLEAN, .path = PORT_PATHS(SMC_NLA_DEV_PORT_PNET_USR),
		.doc = "the ID comes from the pnet table, not from the hardware" },
	[DEV_IFINDEX] = { "ifindex", NULL, COUNT, .path = PORT_PATHS(SMC_NLA_DEV_PORT_NETDEV),
		.doc = "index of the net device, in the namespace of that device; 0: none" },
	[DEV_NETDEV] = { "netdev", "NETDEV", STRING, .doc = "name of the net device, where it can be told" },
	[DEV_LINKS] = { "links", "LINKS", COUNT, .path = PORT_PATHS(SMC_NLA_DEV_PORT_LNK_CNT),
		.doc = "SMC-R links on the port" },
	[DEV_LGRS] = { "linkgroups", "LINKGROUPS", COUNT, .path = { [WIRE_D] = P1(SMC_NLA_DEV_USE_CNT) },
		.doc = "SMC-D link groups on the device" },
	[DEV_CRITICAL] = { "critical", "CRITICAL", BOOLEAN, .path = DEVICE_PATHS(SMC_NLA_DEV_IS_CRIT),
		.doc = "connections would break if the device went away" },
	[DEV_PCI_ID] = { "pci_id", "PCI", STRING, .path = DEVICE_PATHS(SMC_NLA_DEV_PCI_ID), .doc = "PCI address" },
	[DEV_PCI_FID] = { "pci_fid", NULL, HEX32, .path = DEVICE_PATHS(SMC_NLA_DEV_PCI_FID),
		.doc = "PCI function ID (s390)" },
	[DEV_PCI_CHID] = { "pci_chid", NULL, COUNT, .path = DEVICE_PATHS(SMC_NLA_DEV_PCI_CHID),
		.doc = "PCI physical channel ID (s390)" },
	[DEV_PCI_VENDOR] = { "pci_vendor", NULL, HEX32, .path = DEVICE_PATHS(SMC_NLA_DEV_PCI_VENDOR),
		.doc = "PCI vendor" },
	[DEV_PCI_DEVICE] = { "pci_device", NULL, HEX32, .path = DEVICE_PATHS(SMC_NLA_DEV_PCI_DEVICE),
		.doc = "PCI device" },
};

static const struct field socket_fields[N_SOCK_FIELDS] = {
	[SOCK_LOCAL_ADDR] = { "local_addr", "LOCAL-ADDR", STRING, .doc = "local address" },
	[SOCK_LOCAL_PORT] = { "local_port", "LPORT", COUNT, .doc = "local port" },
	[SOCK_PEER_ADDR] = { "peer_addr", "PEER-ADDR", STRING, .doc = "address of the peer" },
	[SOCK_PEER_PORT] = { "peer_port", "PPORT", COUNT, .doc = "port of the peer" },
	[SOCK_STATE] = { "state", "STATE", STRING, .doc = "state of the SMC socket" },
	[SOCK_MODE] = { "mode", "MODE", CHOICE(modes),
		.doc = "smcr, smcd or tcp (fallen back); none before it is decided" },
	[SOCK_REASON] = { "reason", "REASON", HEX32, .doc = "why this side fell back" },
	[SOCK_REASON_NAME] = { "reason_name", "REASON-NAME", STRING, .doc = "name of that reason" },
	[SOCK_PEER_REASON] = { "peer_reason", NULL, HEX32, .doc = "why the peer declined" },
	[SOCK_SNDBUF] = { "sndbuf", "SNDBUF", SIZE, .doc = "send buffer that the socket really has" },
	[SOCK_RCVBUF] = { "rcvbuf", "RCVBUF", SIZE, .doc = "receive buffer that the socket really has" },
	[SOCK_PEER_RCVBUF] = { "peer_rcvbuf", NULL, SIZE, .doc = "receive buffer of the peer" },
	[SOCK_RX_FILL] = { "rx_fill", NULL, SIZE, .doc = "bytes received and not yet read" },
	[SOCK_TX_FILL] = { "tx_fill", NULL, SIZE, .doc = "bytes written and not yet confirmed as sent" },
	[SOCK_PID] = { "pid", "PID", COUNT, .doc = "process that has the socket open; needs rights over that process" },
	[SOCK_PROGRAM] = { "program", "PROGRAM", STRING, .doc = "program of that process" },
	[SOCK_UID] = { "uid", NULL, COUNT, .doc = "owner of the socket" },
	[SOCK_INODE] = { "inode", NULL, COUNT, .doc = "inode of the socket" },
	[SOCK_COOKIE] = { "cookie", NULL, HEX64, .doc = "cookie of the socket" },
	[SOCK_SHUTDOWN] = { "shutdown", NULL, COUNT, .doc = "1: receiving, 2: sending, 3: both are shut down" },
	[SOCK_TOKEN] = { "token", NULL, HEX64, .doc = "token of the connection in its link group" },
	[SOCK_ROLE] = { "role", NULL, CHOICE(role_names), .doc = "role in the SMC-R link group" },
	[SOCK_LINK] = { "link", NULL, COUNT, .doc = "number of the SMC-R link" },
	[SOCK_DEVICE] = { "device", NULL, STRING, .doc = "RDMA device of the link" },
	[SOCK_DEVICE_PORT] = { "device_port", NULL, COUNT, .doc = "port of the RDMA device" },
	[SOCK_GID] = { "gid", NULL, STRING, .doc = "local GID" },
	[SOCK_PEER_GID] = { "peer_gid", NULL, STRING, .doc = "GID of the peer" },
	[SOCK_LINKID] = { "linkgroup", NULL, HEX32, .doc = "number of the SMC-D link group" },
};

static const struct field pnet_fields[N_PNET_FIELDS] = {
	[PNET_ID] = { "id", "PNET-ID", STRING, .path = { P1(SMC_PNETID_NAME) }, .doc = "physical network ID" },
	[PNET_INTERFACE] = { "interface", "INTERFACE", STRING, .path = { P1(SMC_PNETID_ETHNAME) },
		.doc = "net device" },
	[PNET_RDMA] = { "rdma", "RDMA", STRING, .path = { P1(SMC_PNETID_IBNAME) }, .doc = "RDMA or ISM device" },
	[PNET_PORT] = { "port", "PORT", COUNT, .path = { P1(SMC_PNETID_IBPORT) }, .doc = "port of the RDMA device" },
};

static const struct field ueid_fields[N_UEID_FIELDS] = {
	[UEID_EID] = { "eid", "UEID", STRING, .path = { P1(SMC_NLA_EID_TABLE_ENTRY) },
		.doc = "user-defined enterprise ID" },
};

static const struct field seid_fields[N_SEID_FIELDS] = {
	[SEID_EID] = { "eid", "SEID", STRING, .path = { P1(SMC_NLA_SEID_ENTRY) },
		.doc = "system enterprise ID (s390)" },
	[SEID_ENABLED] = { "enabled", "ENABLED", BOOLEAN, .path = { P1(SMC_NLA_SEID_ENABLED) },
		.doc = "is it offered to peers?" },
};

static const struct field fallback_fields[N_FB_FIELDS] = {
	[FB_ROLE] = { "role", "ROLE", CHOICE(role_names), .path = { P1(SMC_NLA_FBACK_STATS_TYPE) },
		.doc = "role of this host in the connections that fell back" },
	[FB_CODE] = { "code", "CODE", HEX32, .path = { P1(SMC_NLA_FBACK_STATS_RSN_CODE) }, .doc = "reason code" },
	[FB_NAME] = { "name", "NAME", STRING, .doc = "name of the reason" },
	[FB_COUNT] = { "count", "COUNT", COUNT, .path = { P1(SMC_NLA_FBACK_STATS_RSN_CNT) },
		.wider = { SMC_NLA_FBACK_STATS_RSN_CNT64 + 1 },
		.doc = "connections; an unpatched kernel counts in 16 bits and wraps" },
	[FB_MEANING] = { "meaning", "MEANING", STRING, .doc = "what it means" },
	[FB_ACTION] = { "action", NULL, STRING, .doc = "what to do about it" },
};

static const char *const directions[] = { "send", "receive", NULL };
static const char *const cork_kinds[] = {
	[CORK_HELD] = "held", [CORK_SENT] = "sent", [CORK_PAST_CACHE] = "past-cache", NULL,
};

static const struct field pool_fields[N_POOL_FIELDS] = {
	[POOL_TECH] = { "tech", "TECH", CHOICE(transport_names), .path = { P1(SMC_TUNE_A_POOL_TRANSPORT) },
		.doc = "SMC-R or SMC-D" },
	[POOL_LGR] = { "linkgroup", "LINKGROUP", HEX32, .path = { P1(SMC_TUNE_A_POOL_GROUP) },
		.doc = "number of the link group" },
	[POOL_DIRECTION] = { "direction", "DIRECTION", CHOICE(directions), .path = { P1(SMC_TUNE_A_POOL_DIRECTION) },
		.doc = "send or receive buffers" },
	[POOL_SIZE] = { "size", "SIZE", SIZE, .path = { P1(SMC_TUNE_A_POOL_SIZE) }, .doc = "bytes of a buffer" },
	[POOL_BUFFERS] = { "buffers", "BUFFERS", COUNT, .path = { P1(SMC_TUNE_A_POOL_BUFFERS) }, .doc = "buffers there are" },
	[POOL_IN_USE] = { "in_use", "IN-USE", COUNT, .path = { P1(SMC_TUNE_A_POOL_IN_USE) },
		.doc = "of these, with a connection" },
	[POOL_FREE] = { "free", "FREE", COUNT, .path = { P1(SMC_TUNE_A_POOL_FREE) }, .doc = "of these, kept for the next one" },
	[POOL_BYTES] = { "bytes", "BYTES", SIZE, .path = { P1(SMC_TUNE_A_POOL_BYTES) }, .doc = "bytes of all of them" },
	[POOL_REUSES] = { "reuses", "REUSES", COUNT, .path = { P1(SMC_TUNE_A_POOL_REUSES) },
		.doc = "times that a free buffer was taken" },
	[POOL_ALLOCATIONS] = { "allocations", "ALLOCS", COUNT, .path = { P1(SMC_TUNE_A_POOL_ALLOCATIONS) },
		.doc = "times that a buffer was added" },
	[POOL_DOWNGRADES] = { "downgrades", "DOWNGRADES", COUNT, .path = { P1(SMC_TUNE_A_POOL_DOWNGRADES) },
		.doc = "times that there was no memory for one, and a smaller one was looked for" },
	[POOL_CONTENDED] = { "contended", "CONTENDED", COUNT, .path = { P1(SMC_TUNE_A_POOL_CONTENDED) },
		.doc = "times that the lock of the pool was waited for" },
	[POOL_NET_COOKIE] = { "net_cookie", NULL, COUNT, .path = { P1(SMC_TUNE_A_POOL_NET_COOKIE) },
		.doc = "cookie of the network namespace that the group belongs to" },
};

static const struct field cork_fields[N_CORK_FIELDS] = {
	[CORK_KIND] = { "kind", "KIND", CHOICE(cork_kinds),
		.doc = "held: writes that had to wait; sent: transmissions of what was held; past-cache: copies past the "
		       "cache of the CPU" },
	[CORK_CAUSE] = { "cause", "CAUSE", STRING, .doc = "why it was held or sent; all: each of these transmissions" },
	[CORK_COUNT] = { "count", "COUNT", COUNT, .doc = "how often" },
	[CORK_BYTES] = { "bytes", "BYTES", SIZE, .doc = "bytes of all of them, where they are counted" },
};

static const struct field size_fields[N_BUCKET_FIELDS] = {
	[BUCKET_LE] = { "le", "UP-TO", SIZE, .path = { P1(SMC_TUNE_A_BUCKET_LIMIT) }, .doc = "bytes; absent: more" },
	[BUCKET_COUNT] = { "count", "COUNT", COUNT, .path = { P1(SMC_TUNE_A_BUCKET_COUNT) },
		.doc = "transmissions of what was held that were not larger, and larger than the bound before" },
};

static const struct field handshake_fields[N_HS_FIELDS] = {
	[HS_ROLE] = { "role", "ROLE", CHOICE(role_names), .path = { P1(SMC_TUNE_A_HS_ROLE_ROLE) },
		.doc = "role of this host in the handshakes" },
	[HS_QUEUED] = { "queued", "QUEUED", COUNT, .path = { P1(SMC_TUNE_A_HS_ROLE_QUEUED) },
		.doc = "handshakes that wait for a worker or, of servers, for the peer's proposal" },
	[HS_ACTIVE] = { "active", "ACTIVE", COUNT, .path = { P1(SMC_TUNE_A_HS_ROLE_ACTIVE) },
		.doc = "handshakes that are worked on" },
	[HS_WORKERS] = { "workers_max", "WORKERS-MAX", COUNT, .doc = "the knob hs_workers: for each CPU, of all namespaces" },
	[HS_ESTABLISHED] = { "established", "ESTABLISHED", COUNT, .path = { P1(SMC_TUNE_A_HS_ROLE_ESTABLISHED) },
		.doc = "handshakes that led to an SMC connection" },
	[HS_FALLBACKS] = { "fallbacks", "FALLBACKS", COUNT, .path = { P1(SMC_TUNE_A_HS_ROLE_FALLBACKS) },
		.doc = "connections that fell back to TCP" },
	[HS_ERRORS] = { "errors", "ERRORS", COUNT, .path = { P1(SMC_TUNE_A_HS_ROLE_ERRORS) },
		.doc = "handshakes that ended without a connection" },
	[HS_TIME_SUM] = { "time_sum", NULL, COUNT, .path = { P1(SMC_TUNE_A_HS_ROLE_TIME_SUM) },
		.doc = "microseconds that the established ones took, all together" },
};

static const struct field hs_time_fields[N_HT_FIELDS] = {
	[HT_ROLE] = { "role", "ROLE", CHOICE(role_names), .doc = "role of this host" },
	[HT_LE] = { "le", "UP-TO-USEC", COUNT, .path = { P1(SMC_TUNE_A_BUCKET_LIMIT) }, .doc = "microseconds; absent: more" },
	[HT_COUNT] = { "count", "COUNT", COUNT, .path = { P1(SMC_TUNE_A_BUCKET_COUNT) },
		.doc = "handshakes that took no longer, and longer than the bound before" },
};

static const struct field hs_reason_fields[N_HR_FIELDS] = {
	[HR_ROLE] = { "role", "ROLE", CHOICE(role_names), .path = { P1(SMC_TUNE_A_REASON_ROLE) },
		.doc = "role of this host" },
	[HR_REASON] = { "reason", "REASON", HEX32, .path = { P1(SMC_TUNE_A_REASON_REASON) },
		.doc = "why it fell back; absent: reasons that the kernel's table had no room for" },
	[HR_REASON_NAME] = { "reason_name", "REASON-NAME", STRING, .doc = "name of that reason" },
	[HR_PEER_REASON] = { "peer_reason", "PEER-REASON", HEX32, .path = { P1(SMC_TUNE_A_REASON_PEER_REASON) },
		.doc = "the peer's own reason; 0: it gave none" },
	[HR_PEER_REASON_NAME] = { "peer_reason_name", NULL, STRING, .doc = "name of that reason" },
	[HR_COUNT] = { "count", "COUNT", COUNT, .path = { P1(SMC_TUNE_A_REASON_COUNT) },
		.doc = "connections, in 64 bits" },
};

#define FIELDS(table) .fields = (table), .n_fields = ARRAY_SIZE(table)

#define PARTS(table) .parts = (table), .n_parts = ARRAY_SIZE(table)

static const struct noun cork_parts[N_CORK_PARTS] = {
	[CORK_SIZES] = { N_NOUNS, "sizes", "CorkSize", NULL, false, "Bytes of the transmissions of what was held",
		FIELDS(size_fields), NULL, 0 },
};
static const struct noun handshake_parts[N_HS_PARTS] = {
	[HS_TIMES] = { N_NOUNS, "times", "HandshakeTime", NULL, false,
		"Time from connect(), or from the accepting of the TCP connection, to the SMC connection",
		FIELDS(hs_time_fields), NULL, 0 },
	[HS_REASONS] = { N_NOUNS, "reasons", "HandshakeReason", NULL, false,
		"Fallbacks by this host's reason and the peer's", FIELDS(hs_reason_fields), NULL, 0 },
};

const struct noun nouns[N_NOUNS] = {
	[NOUN_LINKGROUPS] = { NOUN_LINKGROUPS, "linkgroups", "LinkGroup", "ListLinkGroups", true,
		"Link groups: what connections to one peer share", FIELDS(linkgroup_fields) },
	[NOUN_LINKS] = { NOUN_LINKS, "links", "Link", "ListLinks", true,
		"SMC-R links of the link groups", FIELDS(link_fields) },
	[NOUN_DEVICES] = { NOUN_DEVICES, "devices", "Device", "ListDevices", true,
		"Devices that SMC can use: ports of RDMA devices, ISM devices (an unpatched kernel leaves out loopback)", FIELDS(device_fields) },
	[NOUN_SOCKETS] = { NOUN_SOCKETS, "sockets", "Socket", "ListSockets", false,
		"SMC sockets, fallen back ones too", FIELDS(socket_fields) },
	[NOUN_PNET] = { NOUN_PNET, "pnet", "PnetEntry", "ListPnet", false,
		"Pnet table: which devices are on one physical network", FIELDS(pnet_fields) },
	[NOUN_UEID] = { NOUN_UEID, "ueid", "Ueid", "ListUeid", true,
		"User-defined enterprise IDs", FIELDS(ueid_fields) },
	[NOUN_SEID] = { NOUN_SEID, "seid", "Seid", "GetSeid", true, "System enterprise ID", FIELDS(seid_fields) },
	[NOUN_FALLBACKS] = { NOUN_FALLBACKS, "fallbacks", "Fallback", "ListFallbacks", false,
		"Connections that fell back to TCP, by reason", FIELDS(fallback_fields) },
	[NOUN_POOLS] = { NOUN_POOLS, "pools", "Pool", "ListPools", false,
		"Pools of buffers of the link groups; needs smc_tune; those of SMC-D in the initial namespace only",
		FIELDS(pool_fields) },
	[NOUN_CORK] = { NOUN_CORK, "cork", "Cork", "ListCork", false,
		"Writes that were held for more to come (TCP_CORK, MSG_MORE, autocorking), and why they were sent; needs smc_tune",
		FIELDS(cork_fields), PARTS(cork_parts) },
	[NOUN_HANDSHAKES] = { NOUN_HANDSHAKES, "handshakes", "Handshake", "ListHandshakes", false,
		"Handshakes now and so far, with their times and the reasons of fallbacks; needs smc_tune",
		FIELDS(handshake_fields), PARTS(handshake_parts) },
};
/* clang-format on */

/* A list's strings lie in chunks that are freed together. */
struct strings {
	struct strings *next;
	size_t used, size;
	char s[];
};

#define CHUNK_SIZE 4096

void list_init(struct list *l, const struct noun *noun)
{
	*l = (struct list){ .noun = noun };
}

int list_init_parts(struct list *l)
{
	if (!l->parts && l->noun->n_parts)
		l->parts = calloc(l->noun->n_parts, sizeof(*l->parts));
	if (!l->parts)
		return -ENOMEM;
	for (size_t i = 0; i < l->noun->n_parts; i++) {
		list_done(&l->parts[i]);
		list_init(&l->parts[i], &l->noun->parts[i]);
	}
	return 0;
}

void list_done(struct list *l)
{
	for (size_t i = 0; l->parts && i < l->noun->n_parts; i++)
		list_done(&l->parts[i]);
	free(l->parts);
	while (l->strings) {
		struct strings *next = l->strings->next;

		free(l->strings);
		l->strings = next;
	}
	free(l->cells);
	*l = (struct list){ .noun = l->noun };
}

struct value *list_add(struct list *l)
{
	size_t fields = l->noun->n_fields;
	struct value *row;

	if (l->n == l->n_alloc) {
		size_t n = l->n_alloc ? l->n_alloc + l->n_alloc / 2 : 8;
		struct value *cells;

		if (l->n >= LIST_ROWS_MAX)
			return NULL;
		cells = reallocarray(l->cells, n, fields * sizeof(*cells));
		if (!cells)
			return NULL;
		l->cells = cells;
		l->n_alloc = n;
	}
	row = l->cells + l->n++ * fields;
	memset(row, 0, fields * sizeof(*row));
	return row;
}

const char *list_str(struct list *l, const char *s, size_t n)
{
	struct strings *chunk = l->strings;
	char *copy;

	n = strnlen(s, n);
	if (!chunk || chunk->size - chunk->used < n + 1) {
		size_t size = n + 1 > CHUNK_SIZE ? n + 1 : CHUNK_SIZE;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return NULL;
		*chunk = (struct strings){ .next = l->strings, .size = size };
		l->strings = chunk;
	}
	copy = chunk->s + chunk->used;
	memcpy(copy, s, n);
	copy[n] = '\0';
	chunk->used += n + 1;
	return copy;
}

bool list_equal(const struct list *a, const struct list *b)
{
	if (a->noun != b->noun || a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n * a->noun->n_fields; i++)
		if (!value_equal(a->cells[i], b->cells[i]))
			return false;
	return true;
}

void field_text(const struct field *f, struct value v, struct text *t)
{
	if (f->spec.type == TYPE_SIZE && v.kind == VALUE_UINT)
		human_size(v.u, t);
	else
		value_text(&f->spec, v, t);
}
