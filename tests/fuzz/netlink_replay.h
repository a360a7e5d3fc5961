/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netlink_replay.h - a transport that answers with given bytes, and every function of kernel.h that reads answers: for
 * the fuzzer of the netlink parsers and the unit test with recorded and handmade messages.
 *
 * A tape is: one byte, which function (enum replay_op; the top bit: the families' numbers are not known yet), then
 * pieces: one byte of flags, two bytes of length (little endian), the bytes. A piece is what one read gives, a datagram
 * or a sysctl's text.
 */
#pragma once

#include <linux/netlink.h>

#include "nl.h"

enum replay_op {
	REPLAY_PROBE,
	REPLAY_LINKGROUPS,
	REPLAY_LINKS,
	REPLAY_DEVICES,
	REPLAY_SOCKETS,
	REPLAY_PNET,
	REPLAY_UEID,
	REPLAY_SEID,
	REPLAY_FALLBACKS,
	REPLAY_STATS,
	REPLAY_SYSINFO,
	REPLAY_KNOB,
	REPLAY_HS_GET,
	REPLAY_HS_SET,
	REPLAY_UEID_ADD,
	REPLAY_UEID_DELETE,
	REPLAY_UEID_FLUSH,
	REPLAY_SEID_SET,
	REPLAY_PNET_ADD,
	REPLAY_PNET_DELETE,
	REPLAY_PNET_FLUSH,
	REPLAY_PROBE_AUTOLOAD,
	/* with smc_tune; the others are of kernels without it */
	REPLAY_KNOBS_OFFERED,
	REPLAY_KNOBS_SET,
	REPLAY_POOLS,
	REPLAY_CORK,
	REPLAY_HANDSHAKES,
	REPLAY_EVENTS, /* each piece behind the first answer is an event */
	N_REPLAY_OPS,
};

#define REPLAY_UNKNOWN_FAMILIES 0x80
#define REPLAY_SMC_ID 0x40 /* what the recorded messages have as the families' numbers */
#define REPLAY_PNET_ID 0x41
#define REPLAY_TUNE_ID 0x42

enum {
	PIECE_SEQ = 1, /* put the sequence number of the last request into its messages */
	PIECE_LOOP =
		2, /* after the last piece start again behind this one, at most twice: dumps are read more than once */
	PIECE_ERRNO = 4, /* the read fails with the first byte as errno */
};

struct replay {
	const unsigned char *tape;
	size_t len, pos, loop;
	unsigned int loops;
	uint32_t seq;
	size_t sends;
};

/* The next piece; -EAGAIN at the end. */
static inline int replay_next(struct replay *r, uint8_t *ret_flags, const unsigned char **ret, size_t *ret_len)
{
	size_t n;

	if (r->len - r->pos < 3 && r->loop && r->loops > 0) {
		r->loops--;
		r->pos = r->loop;
	}
	if (r->len - r->pos < 3)
		return -EAGAIN;
	*ret_flags = r->tape[r->pos];
	n = r->tape[r->pos + 1] | (size_t)r->tape[r->pos + 2] << 8;
	r->pos += 3;
	if (n > r->len - r->pos)
		n = r->len - r->pos;
	*ret = r->tape + r->pos;
	*ret_len = n;
	r->pos += n;
	if (*ret_flags & PIECE_LOOP)
		r->loop = r->pos;
	return *ret_flags & PIECE_ERRNO && n > 0 && **ret > 0 ? -**ret : 0;
}

/* Put the number into all messages whose lengths make sense. */
static inline void replay_set_seq(unsigned char *p, size_t len, uint32_t seq)
{
	struct nlmsghdr h;

	while (len >= sizeof(h)) {
		memcpy(&h, p, sizeof(h));
		h.nlmsg_seq = seq;
		memcpy(p, &h, sizeof(h));
		if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > len || NLMSG_ALIGN(h.nlmsg_len) > len)
			return;
		p += NLMSG_ALIGN(h.nlmsg_len);
		len -= NLMSG_ALIGN(h.nlmsg_len);
	}
}

static inline int replay_recv(void *ctx, enum bus bus, unsigned char **ret_buf, size_t *ret_len)
{
	struct replay *r = ctx;
	const unsigned char *p;
	unsigned char *buf;
	uint8_t flags = 0;
	size_t n;
	int err = replay_next(r, &flags, &p, &n);

	(void)bus;
	if (err < 0)
		return err;
	/* Exactly as long as the datagram, so that reading behind it is seen. */
	buf = malloc(n ? n : 1);
	if (!buf)
		return -ENOMEM;
	memcpy(buf, p, n);
	if (flags & PIECE_SEQ)
		replay_set_seq(buf, n, r->seq);
	*ret_buf = buf;
	*ret_len = n;
	return 0;
}

static inline int replay_send(void *ctx, enum bus bus, const void *msg, size_t len)
{
	struct replay *r = ctx;
	struct nlmsghdr h;

	(void)bus;
	if (len < sizeof(h))
		abort();
	memcpy(&h, msg, sizeof(h));
	if (h.nlmsg_len != len)
		abort();
	r->seq = h.nlmsg_seq;
	r->sends++;
	return 0;
}

static inline int replay_sysctl_read(void *ctx, const char *name, char *buf, size_t size)
{
	const unsigned char *p;
	uint8_t flags = 0;
	size_t n;
	int err = replay_next(ctx, &flags, &p, &n);

	(void)name;
	if (err < 0)
		return err == -EAGAIN ? -ENOENT : err;
	if (n > size)
		n = size;
	memcpy(buf, p, n);
	return (int)n;
}

static inline int replay_sysctl_write(void *ctx, const char *name, const char *text)
{
	(void)ctx;
	(void)name;
	(void)text;
	return -ENOENT;
}

static inline int replay_ifname(void *ctx, unsigned int ifindex, char *ret_name)
{
	(void)ctx;
	if (ifindex == 0 || ifindex > 1000)
		return -ENODEV;
	snprintf(ret_name, 16, "eth%u", ifindex);
	return 0;
}

static inline int replay_join(void *ctx, uint32_t group)
{
	(void)ctx;
	(void)group;
	return 0;
}

static inline int replay_portid(void *ctx, uint32_t *ret)
{
	(void)ctx;
	*ret = 1;
	return 0;
}

static const struct transport_ops replay_ops = {
	.join = replay_join,
	.portid = replay_portid,
	.sysctl_read = replay_sysctl_read,
	.sysctl_write = replay_sysctl_write,
	.send = replay_send,
	.recv = replay_recv,
	.ifname = replay_ifname,
};

/* A kernel that reads the tape from behind its first byte; NULL when out of memory. Valid as long as r and the tape. */
static inline struct kernel *replay_kernel(struct replay *r, const unsigned char *tape, size_t len)
{
	struct kernel *k = NULL;

	*r = (struct replay){ .tape = tape, .len = len, .pos = 1, .loops = 2 };
	if (kernel_new((struct transport){ .ops = &replay_ops, .ctx = r }, "", &k) < 0)
		return NULL;
	if (!(tape[0] & REPLAY_UNKNOWN_FAMILIES)) {
		k->family[KNL_SMC] = REPLAY_SMC_ID;
		k->family[KNL_PNET] = REPLAY_PNET_ID;
		if ((tape[0] & ~REPLAY_UNKNOWN_FAMILIES) % N_REPLAY_OPS >= REPLAY_KNOBS_OFFERED)
			k->family[KNL_TUNE] = REPLAY_TUNE_ID;
	}
	k->no_tune = !k->family[KNL_TUNE];
	for (unsigned int i = 0; i < N_EVENTS; i++)
		k->groups[i] = i + 1;
	return k;
}

/* What a call gave: at most one of these. */
struct replay_result {
	struct list list;
	struct stats stats;
	struct sysinfo_smc sysinfo;
	struct features features;
	struct offered offered;
	struct fallback_totals totals;
	struct value value;
	bool on;
};

static inline void replay_result_done(struct replay_result *r)
{
	list_done(&r->list);
	offered_done(&r->offered);
	stats_done(&r->stats);
}

/* The last event stays in the result. */
static inline int replay_events(struct kernel *k, struct replay_result *r, struct err *e)
{
	struct events w = { 0 };
	int ret = kernel_events_open(k, &w, e);

	for (int i = 0; ret >= 0 && i < 100; i++) {
		CLEANUP_EVENT struct event ev = { 0 };

		ret = kernel_event_next(&w, &ev, e);
		if (ret <= 0)
			break;
		for (size_t row = 0; row < ev.rows.n; row++) {
			CLEANUP_TEXT struct text t = { 0 };

			event_text(ev.kind, &ev.rows, row, &t);
		}
		list_done(&r->list);
		r->list = ev.rows;
		ev.rows = (struct list){ 0 };
	}
	events_done(&w);
	return ret;
}

static inline int replay_run(struct kernel *k, enum replay_op op, struct replay_result *r, struct err *e)
{
	const struct knob_change changes[] = { { knob_find("wmem"), value_uint(262144) },
					       { knob_find("smcr_buf_type"), value_uint(1) } };
	static const struct pnet_entry both = { .id = "NETA", .interface = "eth0", .rdma = "rxe0", .port = 1 };

	switch (op) {
	case REPLAY_PROBE:
	case REPLAY_PROBE_AUTOLOAD:
		return kernel_probe(k, op == REPLAY_PROBE_AUTOLOAD, &r->features, e);
	case REPLAY_LINKGROUPS:
		return kernel_list(k, &nouns[NOUN_LINKGROUPS], &r->list, e);
	case REPLAY_LINKS:
		return kernel_list(k, &nouns[NOUN_LINKS], &r->list, e);
	case REPLAY_DEVICES:
		return kernel_list(k, &nouns[NOUN_DEVICES], &r->list, e);
	case REPLAY_SOCKETS:
		return kernel_list(k, &nouns[NOUN_SOCKETS], &r->list, e);
	case REPLAY_PNET:
		return kernel_list(k, &nouns[NOUN_PNET], &r->list, e);
	case REPLAY_UEID:
		return kernel_list(k, &nouns[NOUN_UEID], &r->list, e);
	case REPLAY_SEID:
		return kernel_list(k, &nouns[NOUN_SEID], &r->list, e);
	case REPLAY_FALLBACKS:
		return kernel_fallbacks(k, &r->list, &r->totals, e);
	case REPLAY_STATS:
		return kernel_stats(k, &r->stats, e);
	case REPLAY_SYSINFO:
		return kernel_sysinfo(k, &r->sysinfo, e);
	case REPLAY_KNOB:
		return kernel_knob_get(k, knob_find("hs_ctrl"), &r->value, e) < 0
			       ? kernel_knob_get(k, knob_find("smcr_testlink_time"), &r->value, e)
			       : 0;
	case REPLAY_HS_GET:
		return knl_hs_limitation_get(k, &r->on, e);
	case REPLAY_HS_SET:
		return kernel_knob_set(k, knob_find("limit_smc_hs"), value_uint(1), e);
	case REPLAY_UEID_ADD:
		return kernel_ueid_add(k, "EID-1", e);
	case REPLAY_UEID_DELETE:
		return kernel_ueid_delete(k, "EID-1", e);
	case REPLAY_UEID_FLUSH:
		return kernel_ueid_flush(k, e);
	case REPLAY_SEID_SET:
		return kernel_seid_set(k, false, e);
	case REPLAY_PNET_ADD:
		return kernel_pnet_add(k, &both, e);
	case REPLAY_PNET_DELETE:
		return kernel_pnet_delete(k, &both, e);
	case REPLAY_PNET_FLUSH:
		return kernel_pnet_flush(k, e);
	case REPLAY_KNOBS_OFFERED:
		return kernel_knobs_offered(k, &r->offered, e);
	case REPLAY_KNOBS_SET:
		return kernel_knobs_set(k, changes, ARRAY_SIZE(changes), e);
	case REPLAY_POOLS:
		return kernel_list(k, &nouns[NOUN_POOLS], &r->list, e);
	case REPLAY_CORK:
		return kernel_list(k, &nouns[NOUN_CORK], &r->list, e);
	case REPLAY_HANDSHAKES:
		return kernel_list(k, &nouns[NOUN_HANDSHAKES], &r->list, e);
	case REPLAY_EVENTS:
		return replay_events(k, r, e);
	case N_REPLAY_OPS:
		break;
	}
	return -EINVAL;
}
