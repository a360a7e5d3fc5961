/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_priv.h - the fake kernel's inside: its state, which is plain memory without pointers so that processes can share
 * it by mapping a file, and the parts that answer.
 */
#pragma once

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <linux/smc_tune.h>
#include <net/if.h>

#include "fake.h"

#define FAKE_NETNS_MAX 8
#define FAKE_PNET_MAX 256
#define FAKE_IFACES_MAX 16
#define FAKE_LGRS_MAX 2048
#define FAKE_LINKS_MAX 3 /* SMC_LINKS_PER_LGR_MAX */
#define FAKE_DEVICES_MAX 32
#define FAKE_SOCKETS_MAX 4096
#define FAKE_FAULTS_MAX 32
#define FAKE_FBACK_MAX 36 /* SMC_MAX_FBACK_RSN_CNT */
#define FAKE_HS_CTRLS_MAX 4
#define FAKE_OPS_MAX 48
#define FAKE_SYSCTLS_MAX 16
#define FAKE_POOLS_MAX 64
#define FAKE_REASONS_MAX 8
#define FAKE_KNOBS_MAX 8 /* that no table but the fake kernel's knows */
#define FAKE_CHOICES_MAX 4
#define FAKE_PNETID_LEN 16
#define FAKE_HZ 250

enum rank { RANK_NONE, RANK_6_1, RANK_6_12, RANK_7_2 };

struct fake_era {
	const char *name;
	enum rank rank;
	bool loaded;
	bool series; /* the module of kernel-patch */
};

enum sysctl_type { SYSCTL_UINT, SYSCTL_UINT_MINMAX, SYSCTL_INT_MINMAX, SYSCTL_JIFFIES, SYSCTL_HS_CTRL };

struct fake_sysctl {
	const char *name;
	enum rank since;
	enum sysctl_type type;
	int64_t min, max, def;
	bool series;                            /* kernel-patch adds it */
	bool host;                              /* in the initial namespace only */
	uint8_t knob_type, unit, effect, scope; /* as smc_tune has it */
	const char *const *choices;             /* NULL-terminated */
};

extern const struct fake_era fake_era_table[];
extern const struct fake_sysctl fake_sysctls[];
extern const size_t n_fake_sysctls;

struct fake_link {
	uint64_t id, state, port, conns, ifindex, uid, peer_uid;
	char device[64], gid[48], peer_gid[48];
};

struct fake_lgr {
	uint64_t smcd, id, role, type, buf_type, vlan, conns, cookie, sndbuf, rcvbuf, version, release, os, direct,
		max_conns, max_links, gid, ext_gid, peer_gid, peer_ext_gid, chid;
	char pnetid[17], peer_host[33], eid[33];
	struct fake_link links[FAKE_LINKS_MAX];
	unsigned int n_links;
};

struct fake_port {
	uint64_t valid, by_user, ifindex, active, links;
	char pnetid[17];
};

struct fake_device {
	uint64_t smcd, loopback, critical, lgrs, has_pci, fid, pchid, vendor, device;
	char name[64], pci_id[17];
	struct fake_port port[2];
};

struct fake_socket {
	uint64_t netns, is_tcp, no_tcp, family, ipproto, state, mode, sport, dport, uid, inode, cookie, shutdown,
		reason, peer_reason, token, sndbuf, rcvbuf, peer_rcvbuf, rx_prod, rx_cons, tx_prod, tx_fin, tx_prep,
		rx_wrap, role, link_id, device_port, linkid, smcd_gid, smcd_peer_gid, smcd_token;
	char src[48], dst[48], device[64], gid[48], peer_gid[48];
};

struct fake_pnet {
	bool ib;
	char id[17], name[65];
	uint8_t port;
};

/* A transaction of a socket, which is to replace the table. */
struct fake_staging {
	bool begun;
	struct fake_pnet v[FAKE_PNET_MAX];
	unsigned int n;
};

struct fake_iface {
	char name[IFNAMSIZ];
	unsigned int ifindex;
	char hw_pnetid[17];
};

/* A knob of a kernel that is newer than the programs. */
struct fake_knob {
	char name[32], choices[FAKE_CHOICES_MAX][16];
	uint64_t type, unit, min, max, def, scope, effect, read_only;
	unsigned int n_choices;
};

/* What was sent to a multicast group; the last ones are kept for sockets that have not read them yet. */
#define FAKE_EVENTS_KEPT 64
#define FAKE_GROUP_FIRST 0x20 /* of smc_tune's groups, which are numbered as event_types[] are */
struct fake_event {
	unsigned int netns, group;
	size_t len;
	unsigned char msg[1024];
};

/* An event that a script makes up. */
struct fake_note {
	uint64_t change, tech, group, link, port, ifindex, role, state, reason, peer_reason, lport, rport, suppressed;
	char device[64], local[48], remote[48];
};

struct fake_pool {
	uint64_t smcd, group, cookie, direction, size, buffers, in_use, reuses, allocations, downgrades, contended;
};

#define FAKE_BUCKETS 4
struct fake_hs {
	uint64_t queued, active, established, fallbacks, errors, time[FAKE_BUCKETS], time_sum;
};

struct fake_reason {
	uint64_t role, reason, peer_reason, count, others;
};

struct fake_fback {
	uint32_t code;
	uint64_t count;
};

struct fake_netns {
	bool used, named;
	char name[64];
	int64_t sysctl[FAKE_SYSCTLS_MAX];
	char hs_ctrl[16];
	uint64_t knobs[FAKE_KNOBS_MAX];
	uint64_t knob_gen, pnet_gen;
	uint64_t tx[SMC_TUNE_A_TX_MAX + 1], tx_size[FAKE_BUCKETS];
	struct fake_hs hs[2];
	struct fake_reason reasons[FAKE_REASONS_MAX];
	unsigned int n_reasons;
	struct fake_pnet pnet[FAKE_PNET_MAX];
	unsigned int n_pnet;
	struct fake_iface ifaces[FAKE_IFACES_MAX];
	unsigned int n_ifaces;
	struct fake_fback fback[2][FAKE_FBACK_MAX]; /* 0 server, 1 client */
	uint64_t fback_total[2];
	uint64_t stats[N_TECHS][SMC_NLA_STATS_T_MAX + 1][SMC_NLA_STATS_PLOAD_MAX + 1];
	uint64_t hs_errors[2]; /* 0 client, 1 server */
};

/* clang-format off */
enum fault_point {
	FAULT_SEND, FAULT_RECV, FAULT_SYSCTL_READ, FAULT_SYSCTL_WRITE, FAULT_ANSWER, FAULT_DUMP, FAULT_MANGLE,
	N_FAULT_POINTS,
};

enum fault_what {
	WHAT_ERRNO, WHAT_IGNORED,
	/* dump */
	WHAT_INTR, WHAT_HIDE, WHAT_SKIP, WHAT_DOUBLE, WHAT_ENDLESS, WHAT_NO_DONE, WHAT_NOTHING,
	/* mangle */
	WHAT_LEN_BIG, WHAT_LEN_SMALL, WHAT_LEN_ZERO, WHAT_ATTR_LONG, WHAT_ATTR_ZERO, WHAT_ATTR_SHORT, WHAT_TRUNCATE,
	WHAT_EMPTY, WHAT_FOREIGN_SEQ, WHAT_WRONG_TYPE, WHAT_NARROW, WHAT_WIDE, WHAT_UNTERMINATED, WHAT_GARBAGE,
	WHAT_NO_ID, WHAT_LACKING, N_WHATS,
};
/* clang-format on */

struct fake_fault {
	enum fault_point point;
	enum fault_what what;
	int err; /* positive, WHAT_ERRNO */
	int bus; /* -1: any */
	uint32_t after, times, seen, hits;
	uint64_t arg;
	char cmd[40], text[120];
};

struct fake_kstate {
	uint64_t magic;
	size_t size;
	size_t script_pos;
	unsigned int script_line;
	unsigned int era;
	bool loaded, no_tune, privileged, s390, ism_v2, pads, wide, capped, trace, seid_enabled;
	unsigned int goodsize, netns;                               /* netns: which the script's lines concern */
	uint16_t next_family, smc_family, pnet_family, tune_family; /* 0: none */
	struct fake_knob knobs[FAKE_KNOBS_MAX];
	unsigned int n_knobs;
	struct fake_pool pools[FAKE_POOLS_MAX];
	unsigned int n_pools;
	struct fake_event events[FAKE_EVENTS_KEPT];
	uint64_t n_events; /* ever sent */
	uint32_t next_portid;
	char host[33];
	char hs_ctrls[FAKE_HS_CTRLS_MAX][16];
	unsigned int n_hs_ctrls;
	char ueid[SMC_MAX_UEID][SMC_MAX_EID_LEN];
	unsigned int n_ueid;
	struct fake_fault faults[FAKE_FAULTS_MAX];
	unsigned int n_faults;
	unsigned int requests[FAKE_OPS_MAX], sysctl_writes, sysctl_reads, dumps_open;
	struct fake_device devices[FAKE_DEVICES_MAX];
	unsigned int n_devices;
	struct fake_netns ns[FAKE_NETNS_MAX];
	struct fake_lgr lgrs[FAKE_LGRS_MAX];
	unsigned int n_lgrs;
	struct fake_socket sockets[FAKE_SOCKETS_MAX];
	unsigned int n_sockets;
};

struct fake {
	struct fake_kstate *s;
	char *script; /* NULL: in this process only */
	int fd;
	struct text text;
};

/* ---- state ---- */
void fake_lock(struct fake *f); /* also reads appended lines */
void fake_unlock(struct fake *f);
void fake_trace(struct fake *f, const char *fmt, ...) PRINTF(2, 3);
void fake_die(const char *fmt, ...) PRINTF(1, 2) __attribute__((noreturn));
bool fake_has(const struct fake *f, enum rank since); /* the module is loaded and has it */
bool fake_loadable(const struct fake *f);
void fake_module_load(struct fake *f);
/* The fault that is due here now, which is thereby used up; NULL: none. cmd may be NULL. */
struct fake_fault *fake_fault_due(struct fake *f, enum fault_point point, int bus, const char *cmd);
struct fake_netns *fake_ns(struct fake *f, const char *netns);
int fake_sysctl_show(struct fake *f, const struct fake_netns *ns, const char *name, char *buf, size_t size);
int fake_sysctl_store(struct fake *f, struct fake_netns *ns, const char *name, const char *text);
int fake_sysctl_index(const char *name);
/* Its number if this kernel has it in the namespace, -ENOENT. */
int fake_sysctl_here(const struct fake *f, const struct fake_netns *ns, const char *name);
struct fake *fake_shared(void);

/* ---- messages being built, like an sk_buff ---- */
struct fbuf {
	unsigned char *p;
	size_t len, size;
	bool pads, full;
	enum fault_what bend; /* WHAT_NARROW and what follows, or WHAT_ERRNO for none */
	uint64_t lacking;     /* WHAT_LACKING: attributes before the one that is left out */
};

struct call; /* a request being answered */

size_t fb_msg(struct fbuf *b, const struct call *c, uint16_t type, uint16_t flags);
size_t fb_genl(struct fbuf *b, const struct call *c, uint16_t family, uint8_t cmd, uint16_t flags);
void fb_end(struct fbuf *b, size_t start);
/* What an emitter returns: the message is whole, or it did not fit and is taken back. */
int fb_finish(struct fbuf *b, size_t start);
void fb_raw(struct fbuf *b, const void *p, size_t n); /* with the padding behind it */
void fb_attr(struct fbuf *b, uint16_t type, const void *data, size_t n);
void fb_u8(struct fbuf *b, uint16_t type, uint8_t v);
void fb_u16(struct fbuf *b, uint16_t type, uint16_t v);
void fb_u32(struct fbuf *b, uint16_t type, uint32_t v);
void fb_u64(struct fbuf *b, uint16_t type, uint64_t v, uint16_t pad);
void fb_uint(struct fbuf *b, uint16_t type, uint64_t v); /* nla_put_uint: 4 or 8 bytes */
void fb_str(struct fbuf *b, uint16_t type, const char *s);
size_t fb_nest(struct fbuf *b, uint16_t type);
void fb_nest_end(struct fbuf *b, size_t nest);

/* ---- operations ---- */
enum emitted { EMIT_OK, EMIT_SKIP, EMIT_END, EMIT_FULL };

struct fake_op {
	const char *name; /* for faults, traces and counts */
	enum bus bus;
	uint8_t cmd;
	bool admin;
	bool ueid_policy;
	/* Entry i of the dump. reported: for what only the first message says. */
	enum emitted (*emit)(struct call *c, struct fbuf *b, size_t i);
	/* May queue answers with fake_reply(). 0 or -errno; an ack follows when asked for. */
	int (*doit)(struct call *c);
};

#define FAKE_ATTRS_MAX 16

struct call {
	struct fake *f;
	struct fake_conn *conn;
	struct fake_netns *ns;
	unsigned int netns;
	uint32_t portid;
	struct fake_staging *staging;
	bool init_ns;
	enum bus bus;
	struct nlmsghdr req; /* the request's header */
	const unsigned char *msg;
	uint8_t diag_ext, diag_family;
	uint32_t diag_states;
	const struct nlattr *tb[FAKE_ATTRS_MAX];
	const struct fake_op *op;
	char ext[120]; /* extended ack */
	bool reported;
	struct fake_fault *mangle;
};

/* The operations of the families by id; NULL: unknown to this kernel (then *ret_err). Fills c->tb. */
const struct fake_op *fake_genl_op(struct call *c, int *ret_err);
const struct fake_op *fake_diag_op(struct call *c, int *ret_err);
/* All of them, for names. */
extern const struct fake_op fake_ctrl_ops[], fake_smc_ops[], fake_pnet_ops[], fake_tune_ops[], fake_diag_ops[];
extern const size_t n_fake_ctrl_ops, n_fake_smc_ops, n_fake_pnet_ops, n_fake_tune_ops, n_fake_diag_ops;
const struct fake_op *fake_op_at(unsigned int i); /* NULL behind the last */
unsigned int fake_op_number(const struct fake_op *op);
/* Begin an answer of its own (not part of a dump), and queue it; takes the memory over. */
void fake_reply_start(struct call *c, struct fbuf *b, size_t size);
void fake_reply(struct call *c, struct fbuf *b);

/* pnet, for scripts: as smc_pnet_enter() in this namespace. */
int fake_pnet_enter(struct fake *f, unsigned int netns, const char *id, const char *eth, const char *ib,
		    const uint8_t *port);
void fake_pnet_attach(struct fake *f, struct fake_device *d);
bool fake_pnetid_valid(const char *in, char *ret);
bool fake_pnetid_match(const char *a, const char *b);
/* The IDs of all devices anew, from the table. */
void fake_pnet_set_devices(struct fake *f);
bool fake_ueid_valid(const char *ueid);

/* ---- smc_tune ---- */
/* A value of the namespace has been changed, by a script or a sysctl or a command. */
struct fake_change {
	const char *name;
	uint64_t old, now;
};
/* The same for the pnet table; p NULL: many. */
void fake_pnet_changed(struct fake *f, struct fake_netns *ns, enum smc_tune_pnet_action action, unsigned int n,
		       const struct fake_pnet *p);
void fake_note_link(struct fake *f, struct fake_netns *ns, const struct fake_note *n);
void fake_note_fallback(struct fake *f, struct fake_netns *ns, const struct fake_note *n);
/* The groups of the family, for the controller. */
void fake_tune_groups(struct fbuf *b);
void fake_knobs_changed(struct fake *f, struct fake_netns *ns, enum smc_tune_source source, uint32_t portid,
			const struct fake_change *changes, size_t n);

static inline const void *attr_data(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

static inline size_t attr_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}
