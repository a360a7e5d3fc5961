// SPDX-License-Identifier: GPL-2.0-or-later
#include "nl.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <linux/smc_tune.h>
#include <linux/sock_diag.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <stdarg.h>

/* ---- attributes ---- */

int knl_attr_next(struct knl_span *s, struct knl_attr *ret)
{
	struct nlattr a;
	size_t step;

	if (s->len == 0)
		return 0;
	if (s->len < sizeof(a))
		return -EBADMSG;
	memcpy(&a, s->p, sizeof(a));
	if (a.nla_len < sizeof(a) || a.nla_len > s->len)
		return -EBADMSG;
	ret->type = a.nla_type & NLA_TYPE_MASK;
	ret->data = (struct knl_span){ s->p + sizeof(a), a.nla_len - sizeof(a) };
	/* The last one may lack its padding. */
	step = NLA_ALIGN((size_t)a.nla_len) < s->len ? NLA_ALIGN((size_t)a.nla_len) : s->len;
	s->p += step;
	s->len -= step;
	return 1;
}

int knl_attr_find(struct knl_span s, unsigned int type, struct knl_attr *ret)
{
	struct knl_attr a, found;
	bool have = false;
	int r;

	/* Looks at all of them, so that a broken one behind the wanted one is seen. */
	while ((r = knl_attr_next(&s, &a)) > 0) {
		if (have || a.type != type)
			continue;
		found = a;
		have = true;
	}
	if (r < 0)
		return r;
	if (have)
		*ret = found;
	return have;
}

int knl_attr_walk(struct knl_span s, const unsigned int *path, size_t n_path, struct knl_attr *ret)
{
	struct knl_attr a = { .data = s };

	for (size_t i = 0; i < n_path; i++) {
		int r = knl_attr_find(a.data, path[i], &a);

		if (r <= 0)
			return r;
	}
	*ret = a;
	return 1;
}

int knl_attr_uint(const struct knl_attr *a, uint64_t *ret)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} v;

	if (a->data.len > sizeof(v))
		return -EBADMSG;
	memcpy(&v, a->data.p, a->data.len);
	switch (a->data.len) {
	case 1:
		*ret = v.u8;
		return 0;
	case 2:
		*ret = v.u16;
		return 0;
	case 4:
		*ret = v.u32;
		return 0;
	case 8:
		*ret = v.u64;
		return 0;
	default:
		return -EBADMSG;
	}
}

size_t knl_attr_strlen(const struct knl_attr *a)
{
	return strnlen((const char *)a->data.p, a->data.len);
}

int knl_attr_value(const struct knl_attr *a, const struct value_spec *spec, struct list *owner, struct value *ret)
{
	uint64_t u;

	if (spec->type == TYPE_STRING) {
		size_t n = knl_attr_strlen(a);
		const char *s;

		/* EIDs, host names and hardware pnet IDs are padded with blanks. */
		while (n > 0 && a->data.p[n - 1] == ' ')
			n--;
		s = list_str(owner, (const char *)a->data.p, n);
		if (!s)
			return -ENOMEM;
		*ret = value_str(s);
		return 0;
	}
	if (knl_attr_uint(a, &u) < 0)
		return -EBADMSG;
	*ret = value_uint(spec->type == TYPE_BOOL ? u != 0 : u);
	return 0;
}

/* ---- rows ---- */

static int field_value(const struct field *f, enum wire w, struct knl_span record, struct list *l, struct value *ret)
{
	const struct attr_path *path = &f->path[w];
	unsigned int inwards[ARRAY_SIZE(path->a)];
	struct knl_attr a, wider;
	size_t n = 0;
	int r;

	while (n < ARRAY_SIZE(path->a) && path->a[n]) {
		inwards[n] = path->a[n] - 1u;
		n++;
	}
	if (n == 0)
		return 0;
	r = knl_attr_walk(record, inwards, n, &a);
	if (r > 0 && f->wider[w]) {
		inwards[n - 1] = f->wider[w] - 1u;
		r = knl_attr_walk(record, inwards, n, &wider);
		if (r > 0)
			a = wider;
		else if (r == 0)
			r = 1;
	}
	if (r <= 0)
		return r;
	return knl_attr_value(&a, &f->spec, l, ret);
}

int knl_fill_row(struct list *l, enum wire w, struct knl_span record, struct value *row, struct err *e)
{
	const struct noun *noun = l->noun;

	for (size_t i = 0; i < noun->n_fields; i++) {
		int r = field_value(&noun->fields[i], w, record, l, &row[i]);

		if (r == -ENOMEM)
			return err_set(e, r, "out of memory");
		if (r < 0)
			return err_set(e, r, "the kernel's answer is malformed at '%s'", noun->fields[i].name);
	}
	return 0;
}

int knl_add_row(struct list *l, enum wire w, struct knl_span record, int key, struct value **ret_row, struct err *e)
{
	const struct noun *noun = l->noun;
	struct value *row = list_add(l);
	int r;

	if (!row && l->n >= LIST_ROWS_MAX)
		return err_set(e, -EBADMSG, "the kernel's list is longer than %d entries", LIST_ROWS_MAX);
	if (!row)
		return err_set(e, -ENOMEM, "out of memory");
	r = knl_fill_row(l, w, record, row, e);
	if (r < 0)
		return r;
	if (key >= 0 && row[key].kind == VALUE_ABSENT)
		return err_set(e, -EBADMSG, "the kernel's answer has an entry without '%s'", noun->fields[key].name);
	*ret_row = row;
	return 0;
}

/* ---- requests ---- */

#define FAMILY_ROOM 64 /* for the name of a family */

void knl_msg_freep(struct nl_msg **m)
{
	nlmsg_free(*m);
	*m = NULL;
}

/* With room for that many bytes of attributes. */
static struct nl_msg *genl_new(uint16_t family, uint8_t cmd, uint16_t flags, size_t room)
{
	struct nl_msg *m = nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN + room);

	if (m && !genlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags, cmd, 1))
		knl_msg_freep(&m);
	return m;
}

struct nl_msg *knl_diag_new(const void *req, size_t len)
{
	struct nl_msg *m = nlmsg_alloc();

	if (m && (!nlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, SOCK_DIAG_BY_FAMILY, 0, NLM_F_DUMP) ||
		  nlmsg_append(m, (void *)req, len, NLMSG_ALIGNTO) < 0))
		knl_msg_freep(&m);
	return m;
}

/* ---- answers ---- */

#define MORE 1 /* the answer goes on */

struct exchange {
	struct kernel *k;
	enum bus bus;
	uint32_t seq;
	uint16_t type;
	bool dump;
	bool of_netns;       /* the rights that it needs are those over the namespace */
	knl_handler handler; /* NULL: no data is expected */
	void *arg;
	bool interrupted;
	bool ended; /* the kernel considers the request done */
	size_t datagrams, bytes;
};

static int out_of_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}

static int malformed(struct err *e, const char *what)
{
	return err_set(e, -EBADMSG, "the kernel's answer is malformed (%s)", what);
}

static int refused(const struct exchange *x, struct err *e, int code, const char *ext, size_t ext_len)
{
	const char *hint = "";

	if (code == -EPERM && ext_len == 0)
		hint = x->of_netns ? " (CAP_NET_ADMIN in the user namespace of the network namespace is needed)"
				   : " (CAP_NET_ADMIN in the initial user namespace is needed)";
	err_set(e, code, "%s%s", strerror(-code), hint);
	if (e)
		snprintf(e->ext, sizeof(e->ext), "%.*s", (int)ext_len, ext);
	return code;
}

static int no_smc(struct err *e)
{
	return err_set(e, -ENOPROTOOPT, KNL_NO_SMC);
}

/* The number at the start of NLMSG_ERROR and NLMSG_DONE with the attributes that can follow it. */
static int verdict(const struct exchange *x, int code, bool has_tlvs, struct knl_span tlvs, struct err *e)
{
	struct knl_attr msg;
	int found = has_tlvs ? knl_attr_find(tlvs, NLMSGERR_ATTR_MSG, &msg) : 0;

	if (code > 0 || code < -4095)
		return malformed(e, "error number");
	if (code == 0)
		return found < 0 ? malformed(e, "acknowledgement") : 0;
	if (found <= 0)
		return refused(x, e, code, "", 0);
	return refused(x, e, code, (const char *)msg.data.p, knl_attr_strlen(&msg));
}

static int take_error(struct exchange *x, const struct nlmsghdr *h, struct knl_span body, struct err *e)
{
	struct nlmsgerr m;
	size_t skip = sizeof(m);

	if (body.len < sizeof(m))
		return malformed(e, "short error message");
	memcpy(&m, body.p, sizeof(m));
	/* Unless capped, the whole request stands between the number and the attributes. */
	if (!(h->nlmsg_flags & NLM_F_CAPPED) && h->nlmsg_flags & NLM_F_ACK_TLVS) {
		if (m.msg.nlmsg_len < sizeof(m.msg) || m.msg.nlmsg_len > body.len)
			return malformed(e, "error message");
		skip += NLMSG_ALIGN(m.msg.nlmsg_len) - sizeof(m.msg);
	}
	if (skip > body.len)
		return malformed(e, "error message");
	if (x->dump && m.error == 0)
		return malformed(e, "acknowledgement in place of a list");
	x->ended = true;
	return verdict(x, m.error, h->nlmsg_flags & NLM_F_ACK_TLVS, (struct knl_span){ body.p + skip, body.len - skip },
		       e);
}

static int take_done(struct exchange *x, const struct nlmsghdr *h, struct knl_span body, struct err *e)
{
	int code = 0;

	if (!x->dump)
		return malformed(e, "end of a list in place of an acknowledgement");
	if (body.len != 0 && body.len < sizeof(code))
		return malformed(e, "end of the list");
	x->ended = true;
	if (body.len == 0)
		return 0;
	memcpy(&code, body.p, sizeof(code));
	return verdict(x, code, h->nlmsg_flags & NLM_F_ACK_TLVS,
		       (struct knl_span){ body.p + sizeof(code), body.len - sizeof(code) }, e);
}

static int take_data(struct exchange *x, const struct nlmsghdr *h, struct knl_span body, struct err *e)
{
	struct knl_message m = { .type = h->nlmsg_type, .body = body };
	struct genlmsghdr g;
	int r;

	if (h->nlmsg_type != x->type || !x->handler)
		return malformed(e, "unexpected type of message");
	if (x->bus == BUS_GENL) {
		if (body.len < sizeof(g))
			return malformed(e, "short message");
		memcpy(&g, body.p, sizeof(g));
		m.cmd = g.cmd;
		m.body = (struct knl_span){ body.p + GENL_HDRLEN, body.len - GENL_HDRLEN };
	}
	r = x->handler(x->arg, &m, e);
	return r < 0 ? r : MORE;
}

static int take_message(struct exchange *x, const struct nlmsghdr *h, struct knl_span body, struct err *e)
{
	if (h->nlmsg_seq != x->seq)
		return MORE; /* a late answer to a request that was given up */
	if (h->nlmsg_flags & NLM_F_DUMP_INTR)
		x->interrupted = true;
	switch (h->nlmsg_type) {
	case NLMSG_NOOP:
		return MORE;
	case NLMSG_OVERRUN:
		return refused(x, e, -ENOBUFS, "", 0);
	case NLMSG_ERROR:
		return take_error(x, h, body, e);
	case NLMSG_DONE:
		return take_done(x, h, body, e);
	default:
		return take_data(x, h, body, e);
	}
}

/* Take the next message off a datagram: 1, 0 at its end, -EBADMSG. */
static int next_message(struct knl_span *d, struct nlmsghdr *ret_h, struct knl_span *ret_body)
{
	struct nlmsghdr h;
	size_t step;

	if (d->len == 0)
		return 0;
	if (d->len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, d->p, sizeof(h));
	if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > d->len)
		return -EBADMSG;
	*ret_h = h;
	*ret_body = (struct knl_span){ d->p + sizeof(h), h.nlmsg_len - sizeof(h) };
	step = NLMSG_ALIGN((size_t)h.nlmsg_len) < d->len ? NLMSG_ALIGN((size_t)h.nlmsg_len) : d->len;
	d->p += step;
	d->len -= step;
	return 1;
}

static int take_datagram(struct exchange *x, struct knl_span d, struct err *e)
{
	struct knl_span body;
	struct nlmsghdr h;
	int r;

	if (d.len == 0)
		return malformed(e, "empty");
	while ((r = next_message(&d, &h, &body)) > 0) {
		r = take_message(x, &h, body, e);
		if (r != MORE)
			return r;
	}
	return r < 0 ? malformed(e, "length of a message") : MORE;
}

static int receive(struct kernel *k, enum bus bus, unsigned char **ret_buf, size_t *ret_len)
{
	int r = -EINTR;

	for (int i = 0; r == -EINTR && i < KNL_EINTR_MAX; i++)
		r = k->t.ops->recv(k->t.ctx, bus, ret_buf, ret_len);
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

static int transmit(struct kernel *k, enum bus bus, struct nl_msg *m)
{
	const struct nlmsghdr *h = nlmsg_hdr(m);
	int r = -EINTR;

	for (int i = 0; r == -EINTR && i < KNL_EINTR_MAX; i++)
		r = k->t.ops->send(k->t.ctx, bus, h, h->nlmsg_len);
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

static int receive_answer(struct exchange *x, struct err *e)
{
	int r = MORE;

	while (r == MORE) {
		unsigned char *buf CLEANUP_FREE = NULL;
		size_t len = 0;

		r = receive(x->k, x->bus, &buf, &len);
		if (r == -ETIMEDOUT)
			return err_set(e, r, "the kernel did not answer within %d seconds", TRANSPORT_TIMEOUT_SEC);
		if (r < 0)
			return err_set(e, r, "receiving the kernel's answer: %s", strerror(-r));
		x->bytes += len;
		if (++x->datagrams > KNL_DATAGRAMS_MAX || x->bytes > KNL_ANSWER_MAX)
			return malformed(e, "it has no end");
		r = take_datagram(x, (struct knl_span){ buf, len }, e);
	}
	return r;
}

/* Does the datagram end the answer to seq (0: any answer)? */
static bool ends_answer(struct knl_span d, uint32_t seq)
{
	struct knl_span body;
	struct nlmsghdr h;

	while (next_message(&d, &h, &body) > 0)
		if ((h.nlmsg_type == NLMSG_DONE || h.nlmsg_type == NLMSG_ERROR) && (seq == 0 || h.nlmsg_seq == seq))
			return true;
	return false;
}

/*
 * Read the rest of an answer that is of no use any more: as long as the kernel has a dump open on the socket, the next
 * one is EBUSY, and the module cannot be removed.
 */
static void drain(struct kernel *k, enum bus bus, uint32_t seq)
{
	for (int i = 0; i < KNL_DRAIN_MAX; i++) {
		unsigned char *buf CLEANUP_FREE = NULL;
		size_t len = 0;
		int r = receive(k, bus, &buf, &len);

		if (r == -ENOBUFS)
			continue;
		if (r < 0 || ends_answer((struct knl_span){ buf, len }, seq))
			return;
	}
}

static uint32_t next_seq(struct kernel *k, enum bus bus)
{
	uint32_t *seq = &k->bus[bus].seq;

	/* 0 stands for any in drain(), and notifications have it. */
	if (++*seq == 0)
		++*seq;
	return *seq;
}

/* x: k, bus, dump, handler and arg are set. */
static int exchange(struct exchange *x, struct nl_msg *req, struct err *e)
{
	struct nlmsghdr *h = nlmsg_hdr(req);
	int r;

	x->type = h->nlmsg_type;
	x->seq = h->nlmsg_seq = next_seq(x->k, x->bus);
	x->ended = x->interrupted = false;
	x->datagrams = x->bytes = 0;
	r = transmit(x->k, x->bus, req);
	if (r < 0)
		return err_set(e, r, "sending to the kernel: %s", strerror(-r));
	r = receive_answer(x, e);
	if (r < 0 && r != -ETIMEDOUT && !x->ended)
		drain(x->k, x->bus, x->seq);
	return r;
}

/* Uncounted: what failed is counted by the callers below. */
static int dump(struct kernel *k, enum bus bus, struct nl_msg *req, const struct knl_dump *d, bool *interrupted,
		struct err *e)
{
	struct exchange x = { .k = k, .bus = bus, .dump = true, .handler = d->handler, .arg = d->arg };
	int r;

	nlmsg_hdr(req)->nlmsg_flags |= NLM_F_REQUEST | NLM_F_DUMP;
	for (int i = 0; i < KNL_TRIES; i++) {
		if (i > 0 && d->reset && d->reset(d->arg) < 0)
			return out_of_memory(e);
		r = exchange(&x, req, e);
		if (r == -EBUSY)
			drain(k, bus, 0);
		else if (r != -ENOBUFS)
			break;
	}
	if (r == 0 && interrupted)
		*interrupted |= x.interrupted;
	return r;
}

static int count(struct kernel *k, enum bus bus, int r)
{
	if (r < 0)
		k->bus[bus].errors++;
	return r;
}

int knl_dump(struct kernel *k, enum bus bus, struct nl_msg *req, const struct knl_dump *d, bool *interrupted,
	     struct err *e)
{
	return count(k, bus, dump(k, bus, req, d, interrupted, e));
}

/* ---- families ---- */

static const char *const family_names[N_KNL_FAMILIES] = {
	[KNL_SMC] = SMC_GENL_FAMILY_NAME,
	[KNL_PNET] = SMCR_GENL_FAMILY_NAME,
	[KNL_TUNE] = SMC_TUNE_FAMILY_NAME,
};

void knl_family_forget(struct kernel *k)
{
	memset(k->family, 0, sizeof(k->family));
	memset(k->groups, 0, sizeof(k->groups));
	k->no_tune = false;
}

static int forget(void *arg)
{
	knl_family_forget(arg);
	return 0;
}

/* A multicast group, where it is one of those of the events. */
static int take_group(struct kernel *k, struct knl_span group)
{
	struct knl_attr name, id;
	uint64_t n;

	if (knl_attr_find(group, CTRL_ATTR_MCAST_GRP_NAME, &name) <= 0 ||
	    knl_attr_find(group, CTRL_ATTR_MCAST_GRP_ID, &id) <= 0 || knl_attr_uint(&id, &n) < 0 || n > UINT32_MAX)
		return -EBADMSG;
	for (enum event_kind i = 0; i < N_EVENTS; i++)
		if (knl_attr_strlen(&name) == strlen(event_types[i].group) &&
		    memcmp(name.data.p, event_types[i].group, strlen(event_types[i].group)) == 0)
			k->groups[i] = (uint32_t)n;
	return 0;
}

static int take_groups(struct kernel *k, const struct knl_message *m, struct err *e)
{
	struct knl_attr groups, one;
	int r = knl_attr_find(m->body, CTRL_ATTR_MCAST_GROUPS, &groups);

	while (r > 0 && (r = knl_attr_next(&groups.data, &one)) > 0)
		if (take_group(k, one.data) < 0)
			r = -EBADMSG;
	return r < 0 ? malformed(e, "multicast groups") : 0;
}

/* An answer of the controller: remember the id when the family is one of ours. */
static int family_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct kernel *k = arg;
	struct knl_attr name, id;
	uint64_t n;
	int r = knl_attr_find(m->body, CTRL_ATTR_FAMILY_NAME, &name);

	if (r <= 0)
		return malformed(e, "name of a generic netlink family");
	for (size_t i = 0; i < N_KNL_FAMILIES; i++) {
		size_t len = knl_attr_strlen(&name);

		if (len != strlen(family_names[i]) || memcmp(name.data.p, family_names[i], len) != 0)
			continue;
		if (knl_attr_find(m->body, CTRL_ATTR_FAMILY_ID, &id) <= 0 || knl_attr_uint(&id, &n) < 0 ||
		    n <= GENL_ID_CTRL || n > UINT16_MAX)
			return malformed(e, "number of a generic netlink family");
		k->family[i] = (uint16_t)n;
		if (i == KNL_TUNE)
			return take_groups(k, m, e);
	}
	return 0;
}

static int lookup_by_name(struct kernel *k, enum knl_family f, struct err *e)
{
	struct nl_msg *m CLEANUP_KNL_MSG =
		genl_new(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_REQUEST | NLM_F_ACK, FAMILY_ROOM);
	struct exchange x = { .k = k, .bus = BUS_GENL, .handler = family_message, .arg = k };

	if (!m || nla_put_string(m, CTRL_ATTR_FAMILY_NAME, family_names[f]) < 0)
		return out_of_memory(e);
	return exchange(&x, m, e);
}

static int lookup_all(struct kernel *k, struct err *e)
{
	struct nl_msg *m CLEANUP_KNL_MSG = genl_new(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, 0);
	struct knl_dump d = { .handler = family_message, .reset = forget, .arg = k };
	int r;

	if (!m)
		return out_of_memory(e);
	knl_family_forget(k);
	r = dump(k, BUS_GENL, m, &d, NULL, e);
	k->no_tune = r == 0 && !k->family[KNL_TUNE];
	return r;
}

int knl_family_lookup(struct kernel *k, enum knl_family f, bool by_name, struct err *e)
{
	int r;

	if (k->family[f])
		return 1;
	r = by_name ? lookup_by_name(k, f, e) : lookup_all(k, e);
	if (by_name && r == -ENOENT)
		return 0;
	if (count(k, BUS_GENL, r) < 0) {
		if (e)
			err_prefix(e, "looking for generic netlink family %s", family_names[f]);
		return r;
	}
	return k->family[f] != 0;
}

bool knl_has_tune(struct kernel *k)
{
	return !k->no_tune && knl_family_lookup(k, KNL_TUNE, false, NULL) > 0;
}

static int family_id(struct kernel *k, enum knl_family f, uint16_t *ret, struct err *e)
{
	int r = knl_family_lookup(k, f, false, e);

	if (r < 0)
		return r;
	if (r == 0 && f == KNL_TUNE && k->family[KNL_SMC])
		return err_set(e, -EOPNOTSUPP, KNL_NO_TUNE);
	if (r == 0)
		return no_smc(e);
	*ret = k->family[f];
	return 0;
}

/*
 * The kernel said ENOENT: either the command's own answer, or the family's number is not valid any more. 1: there is a
 * new number, 0: the answer stands, -ENOPROTOOPT: the module is gone.
 */
static int family_moved(struct kernel *k, enum knl_family f, uint16_t id, struct err *e)
{
	struct err other = { 0 };
	uint16_t now = 0;
	int r;

	knl_family_forget(k);
	r = family_id(k, f, &now, &other);
	if (r < 0) {
		if (e)
			*e = other;
		return r;
	}
	return now != id;
}

int knl_family_dump(struct kernel *k, enum knl_family f, uint8_t cmd, const struct knl_dump *d, bool *interrupted,
		    struct err *e)
{
	uint16_t id = 0;
	int r;

	for (int i = 0; i < 2; i++) {
		struct nl_msg *m CLEANUP_KNL_MSG = NULL;
		int moved;

		r = family_id(k, f, &id, e);
		if (r < 0)
			return r;
		m = genl_new(id, cmd, 0, 0);
		if (!m)
			return out_of_memory(e);
		r = knl_dump(k, BUS_GENL, m, d, interrupted, e);
		if (r != -ENOENT)
			return r;
		moved = family_moved(k, f, id, e);
		if (moved <= 0)
			return moved < 0 ? moved : r;
	}
	return r;
}

void knl_put(struct text *nest, const struct knl_arg *a)
{
	const struct nlattr head = { .nla_len = (uint16_t)(NLA_HDRLEN + a->len), .nla_type = (uint16_t)a->type };

	text_add_mem(nest, &head, sizeof(head));
	text_add_mem(nest, a->p, a->len);
	text_add_mem(nest, "\0\0\0", NLA_ALIGN(a->len) - a->len);
}

/* A command to one of our families, with its id and what is done with the answer. */
struct command {
	uint8_t cmd;
	const struct knl_arg *args;
	size_t n_args;
	knl_handler handler;
	void *arg;
};

static int do_once(struct kernel *k, enum knl_family f, const struct command *c, struct err *e)
{
	struct exchange x = {
		.k = k, .bus = BUS_GENL, .of_netns = f == KNL_TUNE, .handler = c->handler, .arg = c->arg
	};
	struct nl_msg *m CLEANUP_KNL_MSG = NULL;
	size_t room = 0;

	for (size_t i = 0; i < c->n_args; i++)
		room += NLA_HDRLEN + NLA_ALIGN(c->args[i].len);
	m = genl_new(k->family[f], c->cmd, NLM_F_REQUEST | NLM_F_ACK, room);
	if (!m)
		return out_of_memory(e);
	for (size_t i = 0; i < c->n_args; i++)
		if (c->args[i].p && nla_put(m, c->args[i].type, (int)c->args[i].len, c->args[i].p) < 0)
			return out_of_memory(e);
	return count(k, BUS_GENL, exchange(&x, m, e));
}

int knl_family_ask(struct kernel *k, enum knl_family f, uint8_t cmd, const struct knl_arg *args, size_t n_args,
		   knl_handler handler, void *arg, struct err *e)
{
	const struct command c = { cmd, args, n_args, handler, arg };
	uint16_t id = 0;
	int r;

	for (int i = 0; i < 2; i++) {
		int moved;

		r = family_id(k, f, &id, e);
		if (r < 0)
			return r;
		r = do_once(k, f, &c, e);
		if (r != -ENOENT)
			return r;
		moved = family_moved(k, f, id, e);
		if (moved <= 0)
			return moved < 0 ? moved : r;
	}
	return r;
}

int knl_family_do(struct kernel *k, enum knl_family f, uint8_t cmd, const struct knl_arg *args, size_t n_args,
		  struct err *e)
{
	return knl_family_ask(k, f, cmd, args, n_args, NULL, NULL, e);
}

int kernel_fail(const struct kernel *k, struct err *e, int code, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (k->netns[0])
		err_prefix(e, "%s in namespace '%.*s'", what, SHOWN_MAX, k->netns);
	else
		err_prefix(e, "%s", what);
	return code;
}
