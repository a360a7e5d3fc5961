// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nl_events.c - events of smc_tune: the multicast groups, and how to get over what was lost. Nothing is lost in
 * silence: the kernel says ENOBUFS when a socket was full, and each event of knobs has a number that is one more than
 * that of the one before.
 */
#include "nl.h"

#include <arpa/inet.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc_tune.h>

static int malformed(struct err *e, const char *what)
{
	return err_set(e, -EBADMSG, "the kernel's event is malformed (%s)", what);
}

static int out_of_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}

/* ---- opening ---- */

void events_done(struct events *w)
{
	offered_done(&w->known);
	*w = (struct events){ 0 };
}

static int join(struct kernel *k, struct err *e)
{
	for (enum event_kind i = 0; i < N_EVENTS; i++) {
		int r = k->groups[i] ? k->t.ops->join(k->t.ctx, k->groups[i]) : -EOPNOTSUPP;

		if (r == -EOPNOTSUPP)
			return err_set(e, r, "smc_tune of this kernel does not have the multicast group '%s'",
				       event_types[i].group);
		if (r < 0)
			return err_set(e, r, "join the multicast group '%s': %s", event_types[i].group, strerror(-r));
	}
	return 0;
}

int kernel_events_open(struct kernel *k, struct events *ret, struct err *e)
{
	struct events w = { .k = k };
	int r = knl_has_tune(k) ? join(k, e) : err_set(e, -EOPNOTSUPP, KNL_NO_TUNE);

	/* In this order: what is changed in between comes as an event that is known already. */
	if (r == 0)
		r = kernel_knobs_offered(k, &w.known, e);
	if (r < 0)
		return kernel_fail(k, e, r, "listen for events");
	*ret = w;
	return 0;
}

int kernel_events_fd(const struct events *w)
{
	return w->k->t.ops->events_fd(w->k->t.ctx);
}

/* ---- one event ---- */

void event_done(struct event *ev)
{
	list_done(&ev->rows);
	*ev = (struct event){ 0 };
}

static const char *address(struct list *l, const struct knl_attr *a)
{
	char text[INET6_ADDRSTRLEN] = "";
	int family = a->data.len == 4 ? AF_INET : a->data.len == 16 ? AF_INET6 : AF_UNSPEC;

	if (family == AF_UNSPEC || !inet_ntop(family, a->data.p, text, sizeof(text)))
		return NULL;
	return list_str(l, text, sizeof(text));
}

static int fill_address(struct list *l, struct knl_span body, unsigned int type, struct value *ret)
{
	struct knl_attr a;
	int r = knl_attr_find(body, type, &a);
	const char *s = r > 0 ? address(l, &a) : NULL;

	if (r < 0 || (r > 0 && !s))
		return -EBADMSG;
	*ret = value_str(s);
	return 0;
}

static int finish_fallback(struct list *l, struct knl_span body, struct value *row, struct err *e)
{
	if (fill_address(l, body, SMC_TUNE_A_FALLBACK_LOCAL_ADDR, &row[EF_LOCAL_ADDR]) < 0 ||
	    fill_address(l, body, SMC_TUNE_A_FALLBACK_REMOTE_ADDR, &row[EF_PEER_ADDR]) < 0)
		return malformed(e, "address");
	row[EF_REASON_NAME] = knl_reason_name(row[EF_REASON]);
	row[EF_PEER_REASON_NAME] = knl_reason_name(row[EF_PEER_REASON]);
	return 0;
}

/* A row of what lies in its nest (if there is one), with what lies around it. */
static int add_row(struct event *ev, const struct event_type *type, struct knl_span row, struct knl_span message,
		   struct err *e)
{
	struct value *cells = NULL;
	int r = knl_add_row(&ev->rows, WIRE_ROW, row, -1, &cells, e);

	if (r == 0)
		r = knl_fill_row(&ev->rows, WIRE_MESSAGE, message, cells, e);
	if (r == 0 && cells[type->key].kind == VALUE_ABSENT)
		r = malformed(e, type->noun.fields[type->key].name);
	if (r == 0 && ev->kind == EVENT_FALLBACK)
		r = finish_fallback(&ev->rows, row, cells, e);
	return r;
}

static int take_rows(struct event *ev, const struct event_type *type, struct knl_span body, struct err *e)
{
	struct knl_span s = body;
	struct knl_attr a;
	int r;

	if (!type->rows)
		return add_row(ev, type, body, body, e);
	while ((r = knl_attr_next(&s, &a)) > 0) {
		r = a.type == type->rows ? add_row(ev, type, a.data, body, e) : 0;
		if (r < 0)
			return r;
	}
	if (r < 0)
		return malformed(e, "attributes");
	/* A flush has no entries, and is an event all the same. */
	return ev->rows.n == 0 ? add_row(ev, type, (struct knl_span){ 0 }, body, e) : 0;
}

/* 1: it is in *ret; 0: it is nothing that is known here. */
static int take_event(struct kernel *k, struct knl_span d, struct event *ret, struct err *e)
{
	struct genlmsghdr g;
	struct nlmsghdr h;

	if (d.len < sizeof(h) + GENL_HDRLEN)
		return malformed(e, "short");
	memcpy(&h, d.p, sizeof(h));
	if (h.nlmsg_len < sizeof(h) + GENL_HDRLEN || h.nlmsg_len > d.len)
		return malformed(e, "length");
	memcpy(&g, d.p + sizeof(h), sizeof(g));
	for (enum event_kind i = 0; i < N_EVENTS; i++) {
		const struct event_type *type = &event_types[i];
		struct knl_span body = { d.p + sizeof(h) + GENL_HDRLEN, h.nlmsg_len - sizeof(h) - GENL_HDRLEN };
		int r;

		if (h.nlmsg_type != k->family[KNL_TUNE] || g.cmd != type->cmd)
			continue;
		ret->kind = i;
		list_init(&ret->rows, &type->noun);
		r = take_rows(ret, type, body, e);
		return r < 0 ? r : 1;
	}
	return 0;
}

/* ---- what is known, and getting over a loss ---- */

static struct offered_knob *known_knob(struct events *w, const char *name)
{
	for (size_t i = 0; i < w->known.n; i++)
		if (str_eq(w->known.v[i].knob.name, name))
			return &w->known.v[i];
	return NULL;
}

/* The values are read anew, and what is not as it was known to be is the event. */
static int resynchronise(struct events *w, struct event *ret, struct err *e)
{
	CLEANUP_OFFERED struct offered now = { 0 };
	int r = kernel_knobs_offered(w->k, &now, e);

	if (r < 0)
		return r;
	w->lost = 0;
	event_done(ret);
	ret->kind = EVENT_KNOB;
	ret->lost = ret->reread = true;
	list_init(&ret->rows, &event_types[EVENT_KNOB].noun);
	for (size_t i = 0; i < now.n; i++) {
		const struct offered_knob *before = offered_find(&w->known, now.v[i].knob.name);
		struct value *row;

		if (before && value_equal(before->value, now.v[i].value))
			continue;
		row = list_add(&ret->rows);
		if (!row)
			return out_of_memory(e);
		row[EK_NAME] = value_str(list_str(&ret->rows, now.v[i].knob.name, SIZE_MAX));
		row[EK_OLD] = before ? before->value : (struct value){ 0 };
		row[EK_VALUE] = now.v[i].value;
		row[EK_GENERATION] = value_uint(now.generation);
		if (row[EK_NAME].kind == VALUE_ABSENT)
			return out_of_memory(e);
	}
	offered_done(&w->known);
	w->known = now;
	now = (struct offered){ 0 };
	return 1;
}

/* An event of knobs: 1 to be told of, 0 known already. */
static int take_knobs(struct events *w, struct event *ev)
{
	uint64_t generation = list_row(&ev->rows, 0)[EK_GENERATION].u;
	uint32_t own = 0;

	if (generation <= w->known.generation)
		return 0;
	if (generation != w->known.generation + 1) {
		ev->lost = true;
		w->lost = w->lost ?: 1;
	}
	w->known.generation = generation;
	for (size_t i = 0; i < ev->rows.n; i++) {
		const struct value *row = list_row(&ev->rows, i);
		struct offered_knob *k = known_knob(w, row[EK_NAME].s);

		if (k)
			k->value = row[EK_VALUE];
	}
	/* Asked each time: the socket has its port only when something was sent by it. */
	if (w->k->t.ops->portid(w->k->t.ctx, &own) == 0 && own)
		ev->own = list_row(&ev->rows, 0)[EK_PORTID].u == own;
	return 1;
}

/*
 * The next datagram: 1, 0 when it is of no interest, -EAGAIN when there is none. The kernel says that a socket was full
 * once, and then throws away what comes until it was read empty: only what is read after that has everything.
 */
static int take_datagram(struct events *w, struct event *ret, struct err *e)
{
	unsigned char *buf CLEANUP_FREE = NULL;
	size_t len = 0;
	int r = w->k->t.ops->recv(w->k->t.ctx, BUS_EVENTS, &buf, &len);

	if (r == -ENOBUFS)
		w->lost = w->lost ?: 1;
	if (r == -EINTR || r == -ENOBUFS)
		return 0;
	if (r == -EAGAIN)
		return r;
	if (r < 0)
		return err_set(e, r, "receiving an event: %s", strerror(-r));
	w->lost += w->lost > 0;
	r = take_event(w->k, (struct knl_span){ buf, len }, ret, e);
	return r > 0 && ret->kind == EVENT_KNOB ? take_knobs(w, ret) : r;
}

static int next_event(struct events *w, struct event *ret, struct err *e)
{
	for (int i = 0; i < EVENTS_SKIPPED_MAX; i++) {
		int r = take_datagram(w, ret, e);

		/* Where it does not get empty, what was lost is told of all the same. */
		if ((r == -EAGAIN && w->lost) || (r == 0 && w->lost > EVENTS_LATE_MAX))
			return resynchronise(w, ret, e);
		if (r != 0)
			return r == -EAGAIN ? 0 : r;
		event_done(ret);
	}
	return 0;
}

int kernel_event_next(struct events *w, struct event *ret, struct err *e)
{
	CLEANUP_EVENT struct event ev = { 0 };
	int r = next_event(w, &ev, e);

	if (r < 0) {
		w->k->bus[BUS_EVENTS].errors++;
		return kernel_fail(w->k, e, r, "listen for events");
	}
	if (r > 0) {
		*ret = ev;
		ev = (struct event){ 0 };
	}
	return r;
}
