// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nl_diag.c - SMC sockets by sock_diag (net/smc/smc_diag.c), joined with TCP's inet_diag.
 *
 * The kernel copies addresses only for AF_SMC sockets; for IPPROTO_SMC ones (diag_family AF_INET or AF_INET6) ports,
 * cookie and inode are right and addresses are zero. The TCP socket inside each SMC socket is an ordinary one, so TCP's
 * own list has its addresses under the same two ports. Where two TCP sockets with different addresses have these ports,
 * nobody can tell which is meant, and the addresses stay absent.
 */
#include "nl.h"
#include "reasons.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/ib_user_verbs.h>
#include <linux/smc_diag.h>
#include <sys/socket.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif

/* enum smc_state of net/smc/smc.h */
static const struct {
	uint8_t number;
	const char *name;
} states[] = {
	{ 1, "active" },
	{ 2, "init" },
	{ 7, "closed" },
	{ 10, "listen" },
	{ 20, "peer-close-wait-1" },
	{ 21, "peer-close-wait-2" },
	{ 22, "app-close-wait-1" },
	{ 23, "app-close-wait-2" },
	{ 24, "app-fin-close-wait" },
	{ 25, "peer-fin-close-wait" },
	{ 26, "peer-abort-wait" },
	{ 27, "process-abort" },
};

static int malformed(struct err *e, const char *what)
{
	return err_set(e, -EBADMSG, "the kernel's answer is malformed (%s)", what);
}

/* A socket of the list whose addresses are to be looked up. */
struct lookup {
	size_t row;
	uint16_t sport, dport; /* network order */
	uint8_t family;        /* AF_SMC: IPv4 or IPv6 */
};

/* ---- one SMC socket ---- */

static int put_string(struct list *l, struct value *cell, const char *s, size_t n)
{
	*cell = value_str(list_str(l, s, n));
	return cell->kind == VALUE_ABSENT ? -ENOMEM : 0;
}

static int put_state(struct list *l, struct value *row, uint8_t state)
{
	char number[8];

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		if (states[i].number != state)
			continue;
		row[SOCK_STATE] = value_str(states[i].name);
		return 0;
	}
	snprintf(number, sizeof(number), "%u", state);
	return put_string(l, &row[SOCK_STATE], number, sizeof(number));
}

static int put_address(struct list *l, struct value *cell, int family, const __be32 *addr)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, addr, text, sizeof(text));
	return put_string(l, cell, text, sizeof(text));
}

static bool is_zero(const __be32 *addr, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (addr[i])
			return false;
	return true;
}

/* An AF_SMC socket does not say whether it is IPv4 or IPv6. */
static int family_of(const struct inet_diag_sockid *id)
{
	return is_zero(id->idiag_src + 1, 3) && is_zero(id->idiag_dst + 1, 3) ? AF_INET : AF_INET6;
}

static int put_addresses(struct list *l, struct value *row, int family, const struct inet_diag_sockid *id)
{
	int r = put_address(l, &row[SOCK_LOCAL_ADDR], family, id->idiag_src);

	if (r == 0 && id->idiag_dport)
		r = put_address(l, &row[SOCK_PEER_ADDR], family, id->idiag_dst);
	return r;
}

static int put_identity(struct list *l, struct value *row, const struct smc_diag_msg *m)
{
	const struct inet_diag_sockid *id = &m->id;

	row[SOCK_COOKIE] = value_uint((uint64_t)id->idiag_cookie[1] << 32 | id->idiag_cookie[0]);
	row[SOCK_UID] = value_uint(m->diag_uid);
	row[SOCK_INODE] = value_uint(m->diag_inode);
	if (id->idiag_sport)
		row[SOCK_LOCAL_PORT] = value_uint(ntohs(id->idiag_sport));
	if (id->idiag_dport)
		row[SOCK_PEER_PORT] = value_uint(ntohs(id->idiag_dport));
	if (id->idiag_sport && !is_zero(id->idiag_src, 4))
		return put_addresses(l, row, m->diag_family == AF_SMC ? family_of(id) : m->diag_family, id);
	return 0;
}

/* Bytes from one cursor of a ring of the given size to another; absent when they make no sense together. */
static struct value fill(uint32_t size, const struct smc_diag_cursor *from, const struct smc_diag_cursor *to)
{
	uint64_t n = to->count;

	if (to->wrap != from->wrap)
		n += size;
	if (n < from->count || n - from->count > size)
		return (struct value){ 0 };
	return value_uint(n - from->count);
}

static void put_conninfo(struct value *row, const struct smc_diag_conninfo *c)
{
	row[SOCK_TOKEN] = value_uint(c->token);
	row[SOCK_SNDBUF] = value_uint(c->sndbuf_size);
	row[SOCK_RCVBUF] = value_uint(c->rmbe_size);
	row[SOCK_PEER_RCVBUF] = value_uint(c->peer_rmbe_size);
	row[SOCK_RX_FILL] = fill(c->rmbe_size, &c->tx_cons, &c->rx_prod);
	row[SOCK_TX_FILL] = fill(c->sndbuf_size, &c->tx_fin, &c->tx_prep);
}

static int put_lgrinfo(struct list *l, struct value *row, const struct smc_diag_lgrinfo *g)
{
	const struct smc_diag_linkinfo *k = &g->lnk[0];
	int r = put_string(l, &row[SOCK_DEVICE], (const char *)k->ibname, sizeof(k->ibname));

	row[SOCK_ROLE] = value_uint(g->role);
	row[SOCK_LINK] = value_uint(k->link_id);
	row[SOCK_DEVICE_PORT] = value_uint(k->ibport);
	if (r == 0)
		r = put_string(l, &row[SOCK_GID], (const char *)k->gid, sizeof(k->gid));
	if (r == 0)
		r = put_string(l, &row[SOCK_PEER_GID], (const char *)k->peer_gid, sizeof(k->peer_gid));
	return r;
}

static int put_ism_gid(struct list *l, struct value *cell, uint64_t gid, uint64_t ext)
{
	char text[48];

	if (ext)
		snprintf(text, sizeof(text), "0x%016llx:0x%016llx", (unsigned long long)gid, (unsigned long long)ext);
	else
		snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)gid);
	return put_string(l, cell, text, sizeof(text));
}

static int put_dmbinfo(struct list *l, struct value *row, const struct smcd_diag_dmbinfo *d)
{
	int r = put_ism_gid(l, &row[SOCK_GID], d->my_gid, d->my_gid_ext);

	row[SOCK_LINKID] = value_uint(d->linkid);
	return r < 0 ? r : put_ism_gid(l, &row[SOCK_PEER_GID], d->peer_gid, d->peer_gid_ext);
}

static void put_fallback(struct value *row, const struct smc_diag_fallback *f, bool fallen_back)
{
	const struct reason *reason = reason_find(f->reason);

	if (f->reason || fallen_back)
		row[SOCK_REASON] = value_uint(f->reason);
	if (f->reason && reason)
		row[SOCK_REASON_NAME] = value_str(reason->name);
	if (f->peer_diagnosis)
		row[SOCK_PEER_REASON] = value_uint(f->peer_diagnosis);
}

/* Copy an attribute's structure, at least min bytes of it (older kernels have shorter ones), the rest zero. */
static int copy_struct(const struct knl_attr *a, void *ret, size_t size, size_t min)
{
	if (a->data.len < min)
		return -EBADMSG;
	memset(ret, 0, size);
	memcpy(ret, a->data.p, a->data.len < size ? a->data.len : size);
	return 0;
}

/* What is known of a socket besides its header. */
struct extras {
	bool has[SMC_DIAG_MAX + 1];
	struct smc_diag_conninfo conn;
	struct smc_diag_lgrinfo lgr;
	struct smcd_diag_dmbinfo dmb;
	struct smc_diag_fallback fallback;
	uint64_t shutdown;
};

static int take_extra(const struct knl_attr *a, struct extras *x)
{
	switch (a->type) {
	case SMC_DIAG_CONNINFO:
		return copy_struct(a, &x->conn, sizeof(x->conn), sizeof(x->conn));
	case SMC_DIAG_LGRINFO:
		return copy_struct(a, &x->lgr, sizeof(x->lgr), sizeof(x->lgr));
	case SMC_DIAG_DMBINFO:
		return copy_struct(a, &x->dmb, sizeof(x->dmb), offsetof(struct smcd_diag_dmbinfo, peer_gid_ext));
	case SMC_DIAG_FALLBACK:
		return copy_struct(a, &x->fallback, sizeof(x->fallback), sizeof(x->fallback));
	case SMC_DIAG_SHUTDOWN:
		return knl_attr_uint(a, &x->shutdown);
	default:
		return 0;
	}
}

static int take_extras(struct knl_span s, struct extras *x)
{
	struct knl_attr a;
	int r;

	while ((r = knl_attr_next(&s, &a)) > 0) {
		if (take_extra(&a, x) < 0)
			return -EBADMSG;
		if (a.type <= SMC_DIAG_MAX)
			x->has[a.type] = true;
	}
	return r;
}

/*
 * The kernel says SMC-R for whatever is neither fallen back nor SMC-D, listeners too: it is true only where there is a
 * link group, which then has given the connection a token.
 */
static void put_mode(struct value *row, uint8_t mode, const struct extras *x)
{
	if (mode != SMC_DIAG_MODE_SMCR || x->has[SMC_DIAG_LGRINFO] || x->has[SMC_DIAG_CONNINFO])
		row[SOCK_MODE] = value_uint(mode);
}

static int fill_row(struct list *l, struct value *row, const struct smc_diag_msg *m, const struct extras *x)
{
	int r = put_identity(l, row, m);

	if (r == 0)
		r = put_state(l, row, m->diag_state);
	put_mode(row, m->diag_mode, x);
	if (x->has[SMC_DIAG_SHUTDOWN])
		row[SOCK_SHUTDOWN] = value_uint(x->shutdown);
	if (x->has[SMC_DIAG_FALLBACK])
		put_fallback(row, &x->fallback, m->diag_mode == SMC_DIAG_MODE_FALLBACK_TCP);
	if (x->has[SMC_DIAG_CONNINFO])
		put_conninfo(row, &x->conn);
	if (r == 0 && x->has[SMC_DIAG_LGRINFO])
		r = put_lgrinfo(l, row, &x->lgr);
	if (r == 0 && x->has[SMC_DIAG_DMBINFO])
		r = put_dmbinfo(l, row, &x->dmb);
	return r;
}

struct reading {
	struct list *l;
	struct lookup *lookups;
	size_t n, n_alloc;
};

static int add_lookup(struct reading *r, const struct smc_diag_msg *m)
{
	if (!m->id.idiag_sport || !is_zero(m->id.idiag_src, 4))
		return 0;
	if (r->n == r->n_alloc) {
		size_t n = r->n_alloc ? r->n_alloc * 2 : 16;
		struct lookup *p = reallocarray(r->lookups, n, sizeof(*p));

		if (!p)
			return -ENOMEM;
		r->lookups = p;
		r->n_alloc = n;
	}
	r->lookups[r->n++] = (struct lookup){
		.row = r->l->n - 1,
		.sport = m->id.idiag_sport,
		.dport = m->id.idiag_dport,
		.family = m->diag_family,
	};
	return 0;
}

static int socket_message(void *arg, const struct knl_message *msg, struct err *e)
{
	struct reading *reading = arg;
	struct extras x = { 0 };
	struct smc_diag_msg m;
	struct knl_span rest;
	struct value *row;

	if (msg->body.len < sizeof(m))
		return malformed(e, "short socket record");
	memcpy(&m, msg->body.p, sizeof(m));
	rest = (struct knl_span){ msg->body.p + sizeof(m), msg->body.len - sizeof(m) };
	if (m.diag_family != AF_SMC && m.diag_family != AF_INET && m.diag_family != AF_INET6)
		return malformed(e, "address family of a socket");
	if (take_extras(rest, &x) < 0)
		return malformed(e, "attributes of a socket");
	row = list_add(reading->l);
	if (!row && reading->l->n >= LIST_ROWS_MAX)
		return err_set(e, -EBADMSG, "the kernel's list is longer than %d entries", LIST_ROWS_MAX);
	if (!row || fill_row(reading->l, row, &m, &x) < 0 || add_lookup(reading, &m) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	return 0;
}

static int sockets_reset(void *arg)
{
	struct reading *r = arg;

	r->l->n = 0;
	r->n = 0;
	return 0;
}

static int dump_sockets(struct kernel *k, struct reading *reading, bool *interrupted, struct err *e)
{
	static const struct smc_diag_req req = {
		.diag_family = AF_SMC,
		.diag_ext = 1 << (SMC_DIAG_CONNINFO - 1) | 1 << (SMC_DIAG_LGRINFO - 1) | 1 << (SMC_DIAG_SHUTDOWN - 1) |
			    1 << (SMC_DIAG_DMBINFO - 1) | 1 << (SMC_DIAG_FALLBACK - 1),
	};
	struct nl_msg *m CLEANUP_KNL_MSG = knl_diag_new(&req, sizeof(req));
	struct knl_dump d = { .handler = socket_message, .reset = sockets_reset, .arg = reading };

	if (!m)
		return err_set(e, -ENOMEM, "out of memory");
	return knl_dump(k, BUS_DIAG, m, &d, interrupted, e);
}

static int read_sockets(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	struct reading *reading = arg;

	reading->l = l;
	sockets_reset(reading);
	return dump_sockets(k, reading, interrupted, e);
}

/* ---- TCP ---- */

enum ip { IPV4, IPV6, N_IPS };
static const uint8_t ip_families[N_IPS] = { [IPV4] = AF_INET, [IPV6] = AF_INET6 };

/* What TCP's list says about one pair of ports. */
struct pair {
	uint16_t sport, dport;
	struct {
		bool wanted;
		unsigned int n;             /* different pairs of addresses seen */
		struct inet_diag_sockid id; /* the last one */
	} ip[N_IPS];
};

struct pairs {
	struct pair *p;
	size_t n;
	enum ip now; /* which list is being read */
};

static void free_pairs(struct pairs *pairs)
{
	free(pairs->p);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->sport != y->sport)
		return x->sport < y->sport ? -1 : 1;
	return x->dport == y->dport ? 0 : x->dport < y->dport ? -1 : 1;
}

static struct pair *find_pair(const struct pairs *pairs, uint16_t sport, uint16_t dport)
{
	struct pair key = { .sport = sport, .dport = dport };

	return bsearch(&key, pairs->p, pairs->n, sizeof(key), compare_pairs);
}

/* The different pairs of ports of the sockets that are looked for, sorted. */
static int make_pairs(const struct reading *r, struct pairs *ret)
{
	struct pair *p = calloc(r->n, sizeof(*p));
	size_t n = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < r->n; i++) {
		p[i].sport = r->lookups[i].sport;
		p[i].dport = r->lookups[i].dport;
		p[i].ip[IPV4].wanted = r->lookups[i].family != AF_INET6;
		p[i].ip[IPV6].wanted = r->lookups[i].family != AF_INET;
	}
	qsort(p, r->n, sizeof(*p), compare_pairs);
	for (size_t i = 0; i < r->n; i++) {
		if (n == 0 || compare_pairs(&p[n - 1], &p[i]) != 0) {
			p[n++] = p[i];
			continue;
		}
		for (enum ip v = 0; v < N_IPS; v++)
			p[n - 1].ip[v].wanted |= p[i].ip[v].wanted;
	}
	*ret = (struct pairs){ .p = p, .n = n };
	return 0;
}

static bool same_addresses(const struct inet_diag_sockid *a, const struct inet_diag_sockid *b)
{
	return memcmp(a->idiag_src, b->idiag_src, sizeof(a->idiag_src)) == 0 &&
	       memcmp(a->idiag_dst, b->idiag_dst, sizeof(a->idiag_dst)) == 0;
}

static int tcp_message(void *arg, const struct knl_message *msg, struct err *e)
{
	const struct pairs *pairs = arg;
	struct inet_diag_msg m;
	struct pair *p;

	if (msg->body.len < sizeof(m))
		return malformed(e, "short TCP socket record");
	memcpy(&m, msg->body.p, sizeof(m));
	if (m.idiag_family != ip_families[pairs->now])
		return malformed(e, "address family of a TCP socket");
	p = find_pair(pairs, m.id.idiag_sport, m.id.idiag_dport);
	/* Sockets that share a port and its address (SO_REUSEPORT) say the same. */
	if (!p || (p->ip[pairs->now].n > 0 && same_addresses(&p->ip[pairs->now].id, &m.id)))
		return 0;
	p->ip[pairs->now].n++;
	p->ip[pairs->now].id = m.id;
	return 0;
}

static int tcp_reset(void *arg)
{
	struct pairs *pairs = arg;

	for (size_t i = 0; i < pairs->n; i++)
		pairs->p[i].ip[pairs->now].n = 0;
	return 0;
}

static int dump_tcp(struct kernel *k, struct pairs *pairs, bool *interrupted, struct err *e)
{
	/* Without those that have no socket of their own any more, or not yet. */
	const struct inet_diag_req_v2 req = {
		.sdiag_family = ip_families[pairs->now],
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = ~(1u << TCP_TIME_WAIT | 1u << TCP_SYN_RECV | 1u << 12 /* TCP_NEW_SYN_RECV */),
	};
	struct nl_msg *m CLEANUP_KNL_MSG = knl_diag_new(&req, sizeof(req));
	struct knl_dump d = { .handler = tcp_message, .reset = tcp_reset, .arg = pairs };
	int r;

	if (!m)
		return err_set(e, -ENOMEM, "out of memory");
	r = knl_dump(k, BUS_DIAG, m, &d, interrupted, e);
	/* A kernel without tcp_diag: the addresses cannot be known, the rest can. */
	return r == -ENOENT ? 0 : r;
}

/* *ret_whole: the list was read without a change in the middle of it. */
static int read_tcp(struct kernel *k, struct pairs *pairs, bool *ret_whole, struct err *e)
{
	bool interrupted = true;

	for (int i = 0; interrupted && i < KNL_READINGS; i++) {
		int r;

		tcp_reset(pairs);
		interrupted = false;
		r = dump_tcp(k, pairs, &interrupted, e);
		if (r < 0)
			return r;
	}
	*ret_whole = !interrupted;
	return 0;
}

/* The addresses for a socket of the family, when TCP's list leaves no doubt about them. */
static const struct inet_diag_sockid *the_one(const struct pair *p, uint8_t family, int *ret_family)
{
	const struct inet_diag_sockid *id = NULL;
	unsigned int n = 0;

	for (enum ip v = 0; v < N_IPS; v++) {
		if ((family != AF_SMC && family != ip_families[v]) || p->ip[v].n == 0)
			continue;
		n += p->ip[v].n;
		id = &p->ip[v].id;
		*ret_family = ip_families[v];
	}
	return n == 1 ? id : NULL;
}

static int put_found(struct list *l, const struct reading *reading, const struct pairs *pairs)
{
	for (size_t i = 0; i < reading->n; i++) {
		const struct lookup *k = &reading->lookups[i];
		const struct pair *p = find_pair(pairs, k->sport, k->dport);
		int family = AF_UNSPEC;
		const struct inet_diag_sockid *id = p ? the_one(p, k->family, &family) : NULL;

		if (id && put_addresses(l, list_row(l, k->row), family, id) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int join_tcp(struct kernel *k, struct list *l, const struct reading *reading, struct err *e)
{
	struct pairs pairs CLEANUP(free_pairs) = { 0 };

	if (reading->n == 0)
		return 0;
	if (make_pairs(reading, &pairs) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	for (enum ip v = 0; v < N_IPS; v++) {
		bool wanted = false, whole = true;
		int r;

		for (size_t i = 0; i < pairs.n; i++)
			wanted |= pairs.p[i].ip[v].wanted;
		pairs.now = v;
		r = wanted ? read_tcp(k, &pairs, &whole, e) : 0;
		if (r < 0)
			return r;
		/* An address can be missing then, or a second one of the same ports that leaves a doubt. */
		l->incomplete |= !whole;
	}
	return put_found(l, reading, &pairs) < 0 ? err_set(e, -ENOMEM, "out of memory") : 0;
}

static void reading_done(struct reading *r)
{
	free(r->lookups);
}

int knl_list_sockets(struct kernel *k, struct list *ret, struct err *e)
{
	struct reading reading CLEANUP(reading_done) = { 0 };
	struct list l CLEANUP_LIST = { 0 };
	int r = knl_read_until_agreed(k, &nouns[NOUN_SOCKETS], read_sockets, &reading, &l, e);

	if (r == -ENOENT) {
		/* sock_diag has nobody for AF_SMC: because there is no SMC, or no smc_diag? */
		r = knl_family_lookup(k, KNL_SMC, false, e);
		if (r >= 0)
			r = r == 0 ? err_set(e, -ENOPROTOOPT, KNL_NO_SMC)
				   : err_set(e, -EOPNOTSUPP, "the module smc_diag is not there");
	}
	if (r == 0)
		r = join_tcp(k, &l, &reading, e);
	if (r < 0)
		return r;
	*ret = l;
	l = (struct list){ .noun = ret->noun };
	return 0;
}
