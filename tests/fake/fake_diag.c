/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_diag.c - sock_diag as the fake kernel speaks it: AF_SMC (net/smc/smc_diag.c) and the TCP sockets inside the SMC
 * ones (net/ipv4/inet_diag.c).
 */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "fake_priv.h"

#ifndef AF_SMC
#define AF_SMC 43
#endif
#define TCP_COOKIE 0x100000 /* the inner TCP socket is another socket, with its own cookie */
#define TCP_STATE_ESTABLISHED 1
#define TCP_STATE_LISTEN 10

static void put_addr(uint32_t *to, uint64_t family, const char *text)
{
	if (!inet_pton(family == 6 ? AF_INET6 : AF_INET, text, to))
		fake_die("'%s' is no address of family %u", text, (unsigned int)family);
}

static void put_id(struct inet_diag_sockid *id, const struct fake_socket *s, uint64_t cookie, bool addresses)
{
	id->idiag_sport = htons((uint16_t)s->sport);
	id->idiag_dport = htons((uint16_t)s->dport);
	id->idiag_cookie[0] = (uint32_t)cookie;
	id->idiag_cookie[1] = (uint32_t)(cookie >> 32);
	if (!addresses)
		return;
	put_addr(id->idiag_src, s->family, s->src);
	put_addr(id->idiag_dst, s->family, s->dst);
}

static void put_conninfo(struct fbuf *b, const struct fake_socket *s)
{
	struct smc_diag_conninfo i = {
		.token = (uint32_t)s->token,
		.sndbuf_size = (uint32_t)s->sndbuf,
		.rmbe_size = (uint32_t)s->rcvbuf,
		.peer_rmbe_size = (uint32_t)s->peer_rcvbuf,
		.rx_prod = { .count = (uint32_t)s->rx_prod, .wrap = (uint16_t)s->rx_wrap },
		/* Cursors go by who sends them: how far this side has read is what it tells the peer. */
		.tx_cons = { .count = (uint32_t)s->rx_cons },
		.rx_cons = { .count = (uint32_t)s->tx_fin },
		.tx_prod = { .count = (uint32_t)s->tx_prod },
		.tx_prep = { .count = (uint32_t)s->tx_prep },
		.tx_sent = { .count = (uint32_t)s->tx_prod },
		.tx_fin = { .count = (uint32_t)s->tx_fin },
	};

	fb_attr(b, SMC_DIAG_CONNINFO, &i, sizeof(i) - (b->bend == WHAT_NARROW ? 4 : 0));
}

static void put_lgrinfo(struct fbuf *b, const struct fake_socket *s)
{
	struct smc_diag_lgrinfo i = {
		.role = (uint8_t)s->role,
		.lnk[0] = { .ibport = (uint8_t)s->device_port, .link_id = (uint8_t)s->link_id },
	};

	memcpy(i.lnk[0].ibname, s->device, sizeof(i.lnk[0].ibname));
	memcpy(i.lnk[0].gid, s->gid, sizeof(i.lnk[0].gid));
	memcpy(i.lnk[0].peer_gid, s->peer_gid, sizeof(i.lnk[0].peer_gid));
	fb_attr(b, SMC_DIAG_LGRINFO, &i, sizeof(i) - (b->bend == WHAT_NARROW ? 4 : 0));
}

/* The extended GIDs came with Linux 6.8. */
static void put_dmbinfo(struct call *c, struct fbuf *b, const struct fake_socket *s)
{
	struct smcd_diag_dmbinfo i = {
		.linkid = (uint32_t)s->linkid,
		.peer_gid = s->smcd_peer_gid,
		.my_gid = s->smcd_gid,
		.token = s->smcd_token,
		.peer_token = s->smcd_token + 1,
	};
	size_t n = fake_has(c->f, RANK_6_12) ? sizeof(i) : offsetof(struct smcd_diag_dmbinfo, peer_gid_ext);

	fb_attr(b, SMC_DIAG_DMBINFO, &i, n - (b->bend == WHAT_NARROW ? 4 : 0));
}

static void put_attrs(struct call *c, struct fbuf *b, const struct fake_socket *s)
{
	struct smc_diag_fallback fallback = { .reason = (uint32_t)s->reason,
					      .peer_diagnosis = (uint32_t)s->peer_reason };
	bool grouped = s->token && s->mode != SMC_DIAG_MODE_FALLBACK_TCP;

	fb_u8(b, SMC_DIAG_SHUTDOWN, (uint8_t)s->shutdown);
	fb_attr(b, SMC_DIAG_FALLBACK, &fallback, sizeof(fallback) - (b->bend == WHAT_NARROW ? 4 : 0));
	if (s->token && (c->diag_ext & 1 << (SMC_DIAG_CONNINFO - 1)))
		put_conninfo(b, s);
	if (grouped && s->mode == SMC_DIAG_MODE_SMCR && (c->diag_ext & 1 << (SMC_DIAG_LGRINFO - 1)))
		put_lgrinfo(b, s);
	if (grouped && s->mode == SMC_DIAG_MODE_SMCD && (c->diag_ext & 1 << (SMC_DIAG_DMBINFO - 1)))
		put_dmbinfo(c, b, s);
}

/* smc_proto first, then smc_proto6. */
static const struct fake_socket *smc_socket_at(const struct call *c, size_t i)
{
	for (uint64_t family = 4; family <= 6; family += 2)
		for (unsigned int j = 0; j < c->f->s->n_sockets; j++) {
			const struct fake_socket *s = &c->f->s->sockets[j];

			if (!s->is_tcp && s->netns == c->netns && s->family == family && i-- == 0)
				return s;
		}
	return NULL;
}

static enum emitted emit_smc(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_socket *s = smc_socket_at(c, i);
	struct smc_diag_msg m = { 0 };
	size_t start;

	if (!s)
		return EMIT_END;
	/* sk_family of a socket that was made with IPPROTO_SMC is the protocol's, of all others PF_SMC. */
	m.diag_family = (uint8_t)(!s->ipproto ? AF_SMC : s->family == 6 ? AF_INET6 : AF_INET);
	m.diag_state = (uint8_t)s->state;
	m.diag_mode = (uint8_t)s->mode;
	m.diag_uid = (uint32_t)s->uid;
	m.diag_inode = s->inode;
	put_id(&m.id, s, s->cookie, !s->ipproto);
	start = fb_msg(b, c, c->req.nlmsg_type, NLM_F_MULTI);
	fb_raw(b, &m, sizeof(m));
	put_attrs(c, b, s);
	return (enum emitted)fb_finish(b, start);
}

static enum emitted emit_tcp(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_socket *s;
	struct inet_diag_msg m = { 0 };
	uint8_t state;
	size_t start;

	if (i >= c->f->s->n_sockets)
		return EMIT_END;
	s = &c->f->s->sockets[i];
	state = s->state == TCP_STATE_LISTEN ? TCP_STATE_LISTEN : TCP_STATE_ESTABLISHED;
	if (s->netns != c->netns || s->no_tcp || !s->sport || (c->diag_family == AF_INET6) != (s->family == 6) ||
	    !(c->diag_states & 1u << state))
		return EMIT_SKIP;
	m.idiag_family = c->diag_family;
	m.idiag_state = state;
	m.idiag_uid = (uint32_t)s->uid;
	m.idiag_inode = (uint32_t)s->inode + 1;
	put_id(&m.id, s, s->cookie + TCP_COOKIE, true);
	start = fb_msg(b, c, c->req.nlmsg_type, NLM_F_MULTI);
	fb_raw(b, &m, sizeof(m));
	fb_u8(b, INET_DIAG_SHUTDOWN, (uint8_t)s->shutdown);
	return (enum emitted)fb_finish(b, start);
}

/* Not a dump: smc_diag answers nothing at all, and TCP looks for one socket, which nobody here asks for. */
static int diag_nothing(struct call *c)
{
	return strcmp(c->op->name, "SMC_DIAG") == 0 ? 0 : -ENOENT;
}

const struct fake_op fake_diag_ops[] = {
	{ "SMC_DIAG", BUS_DIAG, SOCK_DIAG_BY_FAMILY, .emit = emit_smc, .doit = diag_nothing },
	{ "TCP_DIAG", BUS_DIAG, SOCK_DIAG_BY_FAMILY, .emit = emit_tcp, .doit = diag_nothing },
};
const size_t n_fake_diag_ops = ARRAY_SIZE(fake_diag_ops);

static const struct fake_op *tcp_op(struct call *c, int *ret_err)
{
	struct inet_diag_req_v2 req;

	if (c->req.nlmsg_len < NLMSG_HDRLEN + sizeof(req))
		return NULL;
	memcpy(&req, c->msg + NLMSG_HDRLEN, sizeof(req));
	if (req.sdiag_protocol != IPPROTO_TCP) {
		*ret_err = -ENOENT;
		return NULL;
	}
	c->diag_family = req.sdiag_family;
	c->diag_states = req.idiag_states;
	return &fake_diag_ops[1];
}

const struct fake_op *fake_diag_op(struct call *c, int *ret_err)
{
	struct smc_diag_req req = { 0 };
	size_t n = c->req.nlmsg_len - NLMSG_HDRLEN;

	*ret_err = -EINVAL;
	if (c->req.nlmsg_type != SOCK_DIAG_BY_FAMILY || n < sizeof(struct sock_diag_req))
		return NULL;
	memcpy(&req, c->msg + NLMSG_HDRLEN, n < sizeof(req) ? n : sizeof(req));
	if (req.diag_family == AF_INET || req.diag_family == AF_INET6)
		return tcp_op(c, ret_err);
	/* sock_load_diag_module() loads smc_diag only where the family is registered, which smc does. */
	if (req.diag_family != AF_SMC || !c->f->s->loaded) {
		*ret_err = -ENOENT;
		return NULL;
	}
	c->diag_ext = req.diag_ext;
	return &fake_diag_ops[0];
}
