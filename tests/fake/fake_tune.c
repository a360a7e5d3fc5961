/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_tune.c - the family smc_tune as the fake kernel speaks it, written from its specification and from net/smc of
 * the series (smc_tune.c).
 */
#include <arpa/inet.h>
#include <stdarg.h>

#include "fake_priv.h"

#define REPLY_SIZE 3776 /* NLMSG_GOODSIZE of 4 KiB pages */

static int refuse(struct call *c, int err, const char *fmt, ...) PRINTF(3, 4);

static int refuse(struct call *c, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->ext, sizeof(c->ext), fmt, ap);
	va_end(ap);
	return err;
}

static size_t tune_msg(struct call *c, struct fbuf *b, uint8_t cmd, uint16_t flags)
{
	return fb_genl(b, c, c->f->s->tune_family, cmd, flags);
}

/* ---- knobs: those of the sysctls, then the ones that scripts have added ---- */

struct knob_desc {
	const char *name;
	uint64_t type, unit, min, max, def, scope, effect, read_only;
	const char *choices[FAKE_CHOICES_MAX + 1];
	int64_t *value;
};

static size_t n_all(const struct fake *f)
{
	return n_fake_sysctls + f->s->n_knobs;
}

static bool desc_sysctl(const struct call *c, size_t i, struct knob_desc *ret)
{
	const struct fake_sysctl *t = &fake_sysctls[i];

	if (t->type == SYSCTL_HS_CTRL || fake_sysctl_here(c->f, c->ns, t->name) < 0)
		return false;
	*ret = (struct knob_desc){
		.name = t->name,
		.type = t->knob_type,
		.unit = t->unit,
		.min = (uint64_t)t->min,
		.max = (uint64_t)t->max,
		.def = (uint64_t)t->def,
		.scope = t->scope,
		.effect = t->effect,
		.read_only = t->scope == SMC_TUNE_KNOB_SCOPE_RDMA_DEVICE && !c->init_ns,
		.value = &c->ns->sysctl[i],
	};
	for (size_t n = 0; t->choices && t->choices[n]; n++)
		ret->choices[n] = t->choices[n];
	return true;
}

static bool desc_of(const struct call *c, size_t i, struct knob_desc *ret)
{
	const struct fake_knob *k;

	if (i < n_fake_sysctls)
		return desc_sysctl(c, i, ret);
	k = &c->f->s->knobs[i - n_fake_sysctls];
	*ret = (struct knob_desc){
		.name = k->name,
		.type = k->type,
		.unit = k->unit,
		.min = k->min,
		.max = k->max,
		.def = k->def,
		.scope = k->scope,
		.effect = k->effect,
		.read_only = k->read_only,
		.value = (int64_t *)&c->ns->knobs[i - n_fake_sysctls],
	};
	for (unsigned int n = 0; n < k->n_choices; n++)
		ret->choices[n] = k->choices[n];
	return true;
}

static bool desc_find(const struct call *c, const char *name, struct knob_desc *ret)
{
	for (size_t i = 0; i < n_all(c->f); i++)
		if (desc_of(c, i, ret) && strcmp(ret->name, name) == 0)
			return true;
	return false;
}

static enum emitted put_knob(struct call *c, struct fbuf *b, const struct knob_desc *d, uint16_t flags)
{
	size_t start = tune_msg(c, b, SMC_TUNE_CMD_KNOB_GET, flags);

	fb_uint(b, SMC_TUNE_A_KNOB_GENERATION, c->ns->knob_gen);
	fb_str(b, SMC_TUNE_A_KNOB_NAME, d->name);
	fb_u32(b, SMC_TUNE_A_KNOB_TYPE, (uint32_t)d->type);
	fb_u32(b, SMC_TUNE_A_KNOB_UNIT, (uint32_t)d->unit);
	fb_uint(b, SMC_TUNE_A_KNOB_VALUE, (uint64_t)*d->value);
	fb_uint(b, SMC_TUNE_A_KNOB_DEFAULT, d->def);
	fb_uint(b, SMC_TUNE_A_KNOB_MINIMUM, d->min);
	fb_uint(b, SMC_TUNE_A_KNOB_MAXIMUM, d->max);
	fb_u32(b, SMC_TUNE_A_KNOB_SCOPE, (uint32_t)d->scope);
	fb_u32(b, SMC_TUNE_A_KNOB_EFFECT, (uint32_t)d->effect);
	for (size_t i = 0; d->choices[i]; i++)
		fb_str(b, SMC_TUNE_A_KNOB_CHOICE, d->choices[i]);
	if (d->read_only)
		fb_attr(b, SMC_TUNE_A_KNOB_READ_ONLY, NULL, 0);
	return (enum emitted)fb_finish(b, start);
}

static enum emitted emit_knob(struct call *c, struct fbuf *b, size_t i)
{
	struct knob_desc d;

	if (i >= n_all(c->f))
		return EMIT_END;
	return desc_of(c, i, &d) ? put_knob(c, b, &d, NLM_F_MULTI) : EMIT_SKIP;
}

/* NLA_NUL_STRING of at most 31 bytes */
static const char *name_in(const struct nlattr *a)
{
	size_t n = a ? attr_len(a) : 0;

	return n > 1 && n <= SMC_TUNE_KNOB_NAME_MAX + 1 && ((const char *)attr_data(a))[n - 1] == '\0' ? attr_data(a)
												       : NULL;
}

static int knob_get(struct call *c)
{
	const char *name = name_in(c->tb[SMC_TUNE_A_KNOB_NAME]);
	struct knob_desc d;
	struct fbuf b;

	if (!name)
		return -EINVAL;
	if (!desc_find(c, name, &d))
		return refuse(c, -ENOENT, "no such knob in this namespace");
	fake_reply_start(c, &b, REPLY_SIZE);
	put_knob(c, &b, &d, 0);
	fake_reply(c, &b);
	return 0;
}

/* ---- knob-set ---- */

#define CHANGES_MAX (FAKE_SYSCTLS_MAX + FAKE_KNOBS_MAX)

struct changes {
	struct fake_change v[CHANGES_MAX];
	int64_t *at[CHANGES_MAX];
	size_t n;
};

/* NLA_UINT: 4 or 8 bytes */
static bool uint_in(const struct nlattr *a, uint64_t *ret)
{
	uint32_t u32;

	if (!a || (attr_len(a) != 4 && attr_len(a) != 8))
		return false;
	if (attr_len(a) == 8) {
		memcpy(ret, attr_data(a), 8);
		return true;
	}
	memcpy(&u32, attr_data(a), 4);
	*ret = u32;
	return true;
}

static const struct nlattr *sub_attr(const struct nlattr *nest, uint16_t type)
{
	const char *p = attr_data(nest), *end = p + attr_len(nest);

	while (end - p >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)p;

		if (a->nla_len < NLA_HDRLEN || a->nla_len > end - p)
			return NULL;
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		p += NLA_ALIGN(a->nla_len);
	}
	return NULL;
}

static int parse_change(struct call *c, const struct nlattr *nest, struct changes *ch)
{
	const char *name = name_in(sub_attr(nest, SMC_TUNE_A_KNOB_VALUE_NAME));
	const struct nlattr *value = sub_attr(nest, SMC_TUNE_A_KNOB_VALUE_VALUE);
	struct knob_desc d;
	uint64_t u;

	if (!(nest->nla_type & NLA_F_NESTED))
		return refuse(c, -EINVAL, "NLA_F_NESTED is missing");
	if (!name || !uint_in(value, &u))
		return refuse(c, -EINVAL, "a name and a value are needed");
	if (!desc_find(c, name, &d))
		return refuse(c, -ENOENT, "no such knob in this namespace");
	for (size_t i = 0; i < ch->n; i++)
		if (ch->at[i] == d.value)
			return refuse(c, -EINVAL, "%s is there twice", d.name);
	if (d.read_only)
		return refuse(c, -EPERM, "%s: no RDMA device is of this namespace", d.name);
	if (u < d.min || u > d.max)
		return refuse(c, -ERANGE, "%s: not in %llu..%llu", d.name, (unsigned long long)d.min,
			      (unsigned long long)d.max);
	ch->at[ch->n] = d.value;
	ch->v[ch->n++] = (struct fake_change){ d.name, (uint64_t)*d.value, u };
	return 0;
}

static int knob_set(struct call *c)
{
	const struct nlattr *generation = c->tb[SMC_TUNE_A_KNOB_SET_GENERATION];
	struct changes ch = { .n = 0 };
	struct fbuf b;
	uint64_t gen;
	size_t start;

	if (!c->tb[SMC_TUNE_A_KNOB_SET_KNOB])
		return -EINVAL;
	if (generation && (!uint_in(generation, &gen) || gen != c->ns->knob_gen))
		return refuse(c, -ESTALE, "knobs have been changed since");
	for (size_t at = NLMSG_HDRLEN + GENL_HDRLEN; at + NLA_HDRLEN <= c->req.nlmsg_len;) {
		const struct nlattr *a = (const void *)(c->msg + at);
		int r = 0;

		if ((a->nla_type & NLA_TYPE_MASK) == SMC_TUNE_A_KNOB_SET_KNOB)
			r = parse_change(c, a, &ch);
		if (r < 0)
			return r;
		at += NLA_ALIGN(a->nla_len);
	}
	for (size_t i = 0; i < ch.n; i++)
		*ch.at[i] = (int64_t)ch.v[i].now;
	fake_knobs_changed(c->f, c->ns, SMC_TUNE_SOURCE_KNOB_SET, c->portid, ch.v, ch.n);
	fake_reply_start(c, &b, 128);
	start = tune_msg(c, &b, SMC_TUNE_CMD_KNOB_SET, 0);
	fb_uint(&b, SMC_TUNE_A_KNOB_SET_GENERATION, c->ns->knob_gen);
	fb_end(&b, start);
	fake_reply(c, &b);
	return 0;
}

/* ---- statistics ---- */

static enum emitted emit_pool(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_pool *p = &c->f->s->pools[i];
	size_t start;

	if (i >= c->f->s->n_pools)
		return EMIT_END;
	/* SMC-D's are the host's, SMC-R's those of the namespace. */
	if (p->smcd ? !c->init_ns : p->cookie != c->netns + 1)
		return EMIT_SKIP;
	start = tune_msg(c, b, SMC_TUNE_CMD_POOL_GET, NLM_F_MULTI);
	fb_u32(b, SMC_TUNE_A_POOL_TRANSPORT, p->smcd ? SMC_TUNE_TRANSPORT_SMCD : SMC_TUNE_TRANSPORT_SMCR);
	fb_u32(b, SMC_TUNE_A_POOL_GROUP, (uint32_t)p->group);
	if (!p->smcd)
		fb_uint(b, SMC_TUNE_A_POOL_NET_COOKIE, p->cookie);
	fb_u32(b, SMC_TUNE_A_POOL_DIRECTION, (uint32_t)p->direction);
	fb_u32(b, SMC_TUNE_A_POOL_SIZE, (uint32_t)p->size);
	fb_u32(b, SMC_TUNE_A_POOL_BUFFERS, (uint32_t)p->buffers);
	fb_u32(b, SMC_TUNE_A_POOL_IN_USE, (uint32_t)p->in_use);
	fb_u32(b, SMC_TUNE_A_POOL_FREE, (uint32_t)(p->buffers - p->in_use));
	fb_uint(b, SMC_TUNE_A_POOL_BYTES, p->buffers * p->size);
	fb_uint(b, SMC_TUNE_A_POOL_REUSES, p->reuses);
	fb_uint(b, SMC_TUNE_A_POOL_ALLOCATIONS, p->allocations);
	fb_uint(b, SMC_TUNE_A_POOL_DOWNGRADES, p->downgrades);
	fb_uint(b, SMC_TUNE_A_POOL_CONTENDED, p->contended);
	return (enum emitted)fb_finish(b, start);
}

static void put_buckets(struct fbuf *b, uint16_t type, const uint64_t *counts, uint64_t first, unsigned int shift)
{
	for (unsigned int i = 0; i < FAKE_BUCKETS; i++) {
		size_t nest = fb_nest(b, type);

		if (i + 1 < FAKE_BUCKETS)
			fb_uint(b, SMC_TUNE_A_BUCKET_LIMIT, first << (i * shift));
		fb_uint(b, SMC_TUNE_A_BUCKET_COUNT, counts[i]);
		fb_nest_end(b, nest);
	}
}

static int tx_get(struct call *c)
{
	struct fbuf b;
	size_t start;

	fake_reply_start(c, &b, REPLY_SIZE);
	start = tune_msg(c, &b, SMC_TUNE_CMD_TX_GET, 0);
	for (uint16_t a = SMC_TUNE_A_TX_CORKED_APP; a <= SMC_TUNE_A_TX_MAX; a++) {
		if (a == SMC_TUNE_A_TX_FLUSH_SIZE)
			put_buckets(&b, a, c->ns->tx_size, 1024, 2);
		else
			fb_uint(&b, a, c->ns->tx[a]);
	}
	fb_end(&b, start);
	fake_reply(c, &b);
	return 0;
}

static void put_role(struct fbuf *b, uint32_t role, const struct fake_hs *h)
{
	size_t nest = fb_nest(b, SMC_TUNE_A_HANDSHAKE_ROLE);

	fb_u32(b, SMC_TUNE_A_HS_ROLE_ROLE, role);
	fb_u32(b, SMC_TUNE_A_HS_ROLE_QUEUED, (uint32_t)h->queued);
	fb_u32(b, SMC_TUNE_A_HS_ROLE_ACTIVE, (uint32_t)h->active);
	fb_uint(b, SMC_TUNE_A_HS_ROLE_ESTABLISHED, h->established);
	fb_uint(b, SMC_TUNE_A_HS_ROLE_FALLBACKS, h->fallbacks);
	fb_uint(b, SMC_TUNE_A_HS_ROLE_ERRORS, h->errors);
	put_buckets(b, SMC_TUNE_A_HS_ROLE_TIME, h->time, 64, 1);
	fb_uint(b, SMC_TUNE_A_HS_ROLE_TIME_SUM, h->time_sum);
	fb_nest_end(b, nest);
}

static int handshake_get(struct call *c)
{
	struct fbuf b;
	size_t start;

	fake_reply_start(c, &b, REPLY_SIZE);
	start = tune_msg(c, &b, SMC_TUNE_CMD_HANDSHAKE_GET, 0);
	fb_u32(&b, SMC_TUNE_A_HANDSHAKE_WORKERS_MAX, (uint32_t)c->f->s->ns[0].sysctl[fake_sysctl_index("hs_workers")]);
	for (uint32_t role = 0; role < 2; role++)
		put_role(&b, role, &c->ns->hs[role]);
	for (unsigned int i = 0; i < c->ns->n_reasons; i++) {
		const struct fake_reason *r = &c->ns->reasons[i];
		size_t nest = fb_nest(&b, SMC_TUNE_A_HANDSHAKE_REASON);

		fb_u32(&b, SMC_TUNE_A_REASON_ROLE, (uint32_t)r->role);
		if (!r->others) {
			fb_u32(&b, SMC_TUNE_A_REASON_REASON, (uint32_t)r->reason);
			fb_u32(&b, SMC_TUNE_A_REASON_PEER_REASON, (uint32_t)r->peer_reason);
		}
		fb_uint(&b, SMC_TUNE_A_REASON_COUNT, r->count);
		fb_nest_end(&b, nest);
	}
	fb_end(&b, start);
	fake_reply(c, &b);
	return 0;
}

/* ---- the pnet table ---- */

/* smc_pnet_parse() */
static int parse_entry(struct call *c, const struct nlattr *nest, struct fake_pnet *ret)
{
	const struct nlattr *id = sub_attr(nest, SMC_TUNE_A_PNET_ENTRY_PNETID);
	const struct nlattr *eth = sub_attr(nest, SMC_TUNE_A_PNET_ENTRY_ETHNAME);
	const struct nlattr *ib = sub_attr(nest, SMC_TUNE_A_PNET_ENTRY_IBNAME);
	const struct nlattr *port = sub_attr(nest, SMC_TUNE_A_PNET_ENTRY_IBPORT);

	if (!eth == !ib)
		return refuse(c, -EINVAL, "an entry has a PNET ID and either an ethname or an ibname");
	if (ib && !c->init_ns)
		return refuse(c, -EPERM, "devices belong to the initial namespace");
	if (eth && port)
		return refuse(c, -EINVAL, "no name, or a port of what has none");
	*ret = (struct fake_pnet){ .ib = ib };
	if (ib)
		ret->port = port ? *(const uint8_t *)attr_data(port) : 1;
	if (ib && (ret->port < 1 || ret->port > 2))
		return -ERANGE;
	if (id && !fake_pnetid_valid(attr_data(id), ret->id))
		return refuse(c, -EINVAL, "a PNET ID is 1 to 16 letters and digits");
	snprintf(ret->name, sizeof(ret->name), "%s", (const char *)attr_data(ib ? ib : eth));
	return 0;
}

static bool same_target(const struct fake_pnet *a, const struct fake_pnet *b)
{
	return a->ib == b->ib && strcmp(a->name, b->name) == 0 && (!a->ib || a->port == b->port);
}

static int tune_pnet_del(struct call *c)
{
	struct fake_netns *ns = c->ns;
	struct fake_pnet wanted, gone;
	int r;

	if (!c->tb[SMC_TUNE_A_PNET_ENTRY])
		return -EINVAL;
	r = parse_entry(c, c->tb[SMC_TUNE_A_PNET_ENTRY], &wanted);
	for (unsigned int i = 0; r == 0 && i < ns->n_pnet; i++) {
		if (!same_target(&ns->pnet[i], &wanted) ||
		    (wanted.id[0] && !fake_pnetid_match(wanted.id, ns->pnet[i].id)))
			continue;
		gone = ns->pnet[i];
		memmove(&ns->pnet[i], &ns->pnet[i + 1], (--ns->n_pnet - i) * sizeof(gone));
		if (c->init_ns)
			fake_pnet_set_devices(c->f);
		fake_pnet_changed(c->f, ns, SMC_TUNE_PNET_ACTION_DELETE, 1, &gone);
		return 0;
	}
	return r < 0 ? r : refuse(c, -ENOENT, "no such entry");
}

static int tune_pnet_begin(struct call *c)
{
	if (c->staging->begun)
		return refuse(c, -EALREADY, "this socket has a transaction");
	*c->staging = (struct fake_staging){ .begun = true };
	return 0;
}

static int tune_pnet_add(struct call *c)
{
	struct fake_staging *s = c->staging;
	unsigned int before = s->n;
	int r = 0;

	if (!s->begun)
		return refuse(c, -ENOENT, "this socket has no transaction");
	for (size_t at = NLMSG_HDRLEN + GENL_HDRLEN; r == 0 && at + NLA_HDRLEN <= c->req.nlmsg_len;) {
		const struct nlattr *a = (const void *)(c->msg + at);

		at += NLA_ALIGN(a->nla_len);
		if (s->n == FAKE_PNET_MAX)
			r = -ENOSPC;
		else
			r = parse_entry(c, a, &s->v[s->n]);
		for (unsigned int i = 0; r == 0 && i < s->n; i++)
			if (same_target(&s->v[i], &s->v[s->n]))
				r = refuse(c, -EEXIST, "the entry is there twice");
		s->n += r == 0;
	}
	if (r < 0)
		s->n = before;
	return r;
}

static int tune_pnet_commit(struct call *c)
{
	struct fake_staging *s = c->staging;
	struct fbuf b;
	size_t start;

	if (!s->begun)
		return refuse(c, -ENOENT, "this socket has no transaction");
	memcpy(c->ns->pnet, s->v, sizeof(s->v));
	c->ns->n_pnet = s->n;
	s->begun = false;
	if (c->init_ns)
		fake_pnet_set_devices(c->f);
	fake_pnet_changed(c->f, c->ns, SMC_TUNE_PNET_ACTION_REPLACE, s->n, NULL);
	fake_reply_start(c, &b, 128);
	start = tune_msg(c, &b, SMC_TUNE_CMD_PNET_COMMIT, 0);
	fb_uint(&b, SMC_TUNE_A_PNET_GENERATION, c->ns->pnet_gen);
	fb_u32(&b, SMC_TUNE_A_PNET_ENTRIES, s->n);
	fb_end(&b, start);
	fake_reply(c, &b);
	return 0;
}

static int tune_pnet_abort(struct call *c)
{
	if (!c->staging->begun)
		return refuse(c, -ENOENT, "this socket has no transaction");
	c->staging->begun = false;
	return 0;
}

/* ---- events ---- */

/* The next place of the ring, with the message begun in *ret_b. NULL: there is no family. */
static struct fake_event *event_new(struct fake *f, const struct fake_netns *ns, enum event_kind kind, uint8_t cmd,
				    struct fbuf *ret_b)
{
	struct call c = { .f = f };
	struct fake_event *ev;

	if (!f->s->tune_family)
		return NULL;
	ev = &f->s->events[f->s->n_events % FAKE_EVENTS_KEPT];
	*ev = (struct fake_event){ .netns = (unsigned int)(ns - f->s->ns), .group = kind };
	*ret_b = (struct fbuf){ .p = ev->msg, .size = sizeof(ev->msg) };
	fb_genl(ret_b, &c, f->s->tune_family, cmd, 0);
	return ev;
}

static void event_send(struct fake *f, struct fake_event *ev, struct fbuf *b)
{
	CLEANUP_FREE char *path = NULL;
	FILE *out;

	if (b->full)
		fake_die("an event has no room");
	fb_end(b, 0);
	ev->len = b->len;
	f->s->n_events++;
	if (!f->script)
		return;
	if (asprintf(&path, "%s.events", f->script) < 0)
		fake_die("out of memory");
	out = fopen(path, "ae");
	if (out) {
		fputc('.', out);
		fclose(out);
	}
}

void fake_tune_groups(struct fbuf *b)
{
	static const char *const names[] = { "knobs", "pnet", "links", "fallback" };
	size_t groups = fb_nest(b, CTRL_ATTR_MCAST_GROUPS);

	for (uint16_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t one = fb_nest(b, i + 1);

		fb_u32(b, CTRL_ATTR_MCAST_GRP_ID, FAKE_GROUP_FIRST + i);
		fb_str(b, CTRL_ATTR_MCAST_GRP_NAME, names[i]);
		fb_nest_end(b, one);
	}
	fb_nest_end(b, groups);
}

void fake_knobs_changed(struct fake *f, struct fake_netns *ns, enum smc_tune_source source, uint32_t portid,
			const struct fake_change *changes, size_t n)
{
	struct fake_event *ev;
	size_t changed = 0;
	struct fbuf b;

	for (size_t i = 0; i < n; i++)
		changed += changes[i].old != changes[i].now;
	if (!changed)
		return;
	ns->knob_gen++;
	ev = event_new(f, ns, EVENT_KNOB, SMC_TUNE_CMD_KNOB_NTF, &b);
	if (!ev)
		return;
	fb_uint(&b, SMC_TUNE_A_KNOB_EVENT_GENERATION, ns->knob_gen);
	fb_u32(&b, SMC_TUNE_A_KNOB_EVENT_SOURCE, source);
	if (portid)
		fb_u32(&b, SMC_TUNE_A_KNOB_EVENT_PORTID, portid);
	for (size_t i = 0; i < n; i++) {
		size_t nest;

		if (changes[i].old == changes[i].now)
			continue;
		nest = fb_nest(&b, SMC_TUNE_A_KNOB_EVENT_CHANGE);
		fb_str(&b, SMC_TUNE_A_KNOB_VALUE_NAME, changes[i].name);
		fb_uint(&b, SMC_TUNE_A_KNOB_VALUE_OLD_VALUE, changes[i].old);
		fb_uint(&b, SMC_TUNE_A_KNOB_VALUE_VALUE, changes[i].now);
		fb_nest_end(&b, nest);
	}
	event_send(f, ev, &b);
}

static void put_entry(struct fbuf *b, const struct fake_pnet *p)
{
	size_t nest = fb_nest(b, SMC_TUNE_A_PNET_ENTRY);

	fb_str(b, SMC_TUNE_A_PNET_ENTRY_PNETID, p->id);
	fb_str(b, p->ib ? SMC_TUNE_A_PNET_ENTRY_IBNAME : SMC_TUNE_A_PNET_ENTRY_ETHNAME, p->name);
	if (p->ib)
		fb_u8(b, SMC_TUNE_A_PNET_ENTRY_IBPORT, p->port);
	fb_nest_end(b, nest);
}

void fake_pnet_changed(struct fake *f, struct fake_netns *ns, enum smc_tune_pnet_action action, unsigned int n,
		       const struct fake_pnet *p)
{
	struct fbuf b;
	struct fake_event *ev = event_new(f, ns, EVENT_PNET, SMC_TUNE_CMD_PNET_NTF, &b);

	ns->pnet_gen++;
	if (!ev)
		return;
	fb_u32(&b, SMC_TUNE_A_PNET_ACTION, action);
	fb_uint(&b, SMC_TUNE_A_PNET_GENERATION, ns->pnet_gen);
	fb_u32(&b, SMC_TUNE_A_PNET_ENTRIES, n);
	if (p)
		put_entry(&b, p);
	event_send(f, ev, &b);
}

void fake_note_link(struct fake *f, struct fake_netns *ns, const struct fake_note *n)
{
	struct fbuf b;
	struct fake_event *ev = event_new(f, ns, EVENT_LINK, SMC_TUNE_CMD_LINK_NTF, &b);

	if (!ev)
		return;
	fb_u32(&b, SMC_TUNE_A_LINK_EVENT, (uint32_t)n->change);
	fb_u32(&b, SMC_TUNE_A_LINK_TRANSPORT, (uint32_t)n->tech);
	fb_u32(&b, SMC_TUNE_A_LINK_GROUP, (uint32_t)n->group);
	if (n->tech == SMC_TUNE_TRANSPORT_SMCR) {
		fb_uint(&b, SMC_TUNE_A_LINK_NET_COOKIE, 1);
		fb_u32(&b, SMC_TUNE_A_LINK_ROLE, (uint32_t)n->role);
		fb_u32(&b, SMC_TUNE_A_LINK_STATE, (uint32_t)n->state);
	}
	if (n->link) {
		fb_u32(&b, SMC_TUNE_A_LINK_LINK_ID, (uint32_t)n->link);
		fb_str(&b, SMC_TUNE_A_LINK_IB_NAME, n->device);
		fb_u32(&b, SMC_TUNE_A_LINK_IB_PORT, (uint32_t)n->port);
		fb_u32(&b, SMC_TUNE_A_LINK_IFINDEX, (uint32_t)n->ifindex);
	}
	event_send(f, ev, &b);
}

static void put_address(struct fbuf *b, uint16_t type, const char *s)
{
	unsigned char a[16];

	if (inet_pton(AF_INET, s, a) == 1)
		fb_attr(b, type, a, 4);
	else if (inet_pton(AF_INET6, s, a) == 1)
		fb_attr(b, type, a, 16);
}

void fake_note_fallback(struct fake *f, struct fake_netns *ns, const struct fake_note *n)
{
	struct fbuf b;
	struct fake_event *ev = event_new(f, ns, EVENT_FALLBACK, SMC_TUNE_CMD_FALLBACK_NTF, &b);

	if (!ev)
		return;
	fb_u32(&b, SMC_TUNE_A_FALLBACK_ROLE, (uint32_t)n->role);
	fb_u32(&b, SMC_TUNE_A_FALLBACK_REASON, (uint32_t)n->reason);
	fb_u32(&b, SMC_TUNE_A_FALLBACK_PEER_REASON, (uint32_t)n->peer_reason);
	put_address(&b, SMC_TUNE_A_FALLBACK_LOCAL_ADDR, n->local);
	put_address(&b, SMC_TUNE_A_FALLBACK_REMOTE_ADDR, n->remote);
	fb_u16(&b, SMC_TUNE_A_FALLBACK_LOCAL_PORT, (uint16_t)n->lport);
	fb_u16(&b, SMC_TUNE_A_FALLBACK_REMOTE_PORT, (uint16_t)n->rport);
	fb_uint(&b, SMC_TUNE_A_FALLBACK_SUPPRESSED, n->suppressed);
	event_send(f, ev, &b);
}

const struct fake_op fake_tune_ops[] = {
	{ "KNOB_GET", BUS_GENL, SMC_TUNE_CMD_KNOB_GET, .emit = emit_knob, .doit = knob_get },
	{ "KNOB_SET", BUS_GENL, SMC_TUNE_CMD_KNOB_SET, .admin = true, .doit = knob_set },
	{ "POOL_GET", BUS_GENL, SMC_TUNE_CMD_POOL_GET, .emit = emit_pool },
	{ "TX_GET", BUS_GENL, SMC_TUNE_CMD_TX_GET, .doit = tx_get },
	{ "HANDSHAKE_GET", BUS_GENL, SMC_TUNE_CMD_HANDSHAKE_GET, .doit = handshake_get },
	{ "TUNE_PNET_DEL", BUS_GENL, SMC_TUNE_CMD_PNET_DEL, .admin = true, .doit = tune_pnet_del },
	{ "TUNE_PNET_BEGIN", BUS_GENL, SMC_TUNE_CMD_PNET_BEGIN, .admin = true, .doit = tune_pnet_begin },
	{ "TUNE_PNET_ADD", BUS_GENL, SMC_TUNE_CMD_PNET_ADD, .admin = true, .doit = tune_pnet_add },
	{ "TUNE_PNET_COMMIT", BUS_GENL, SMC_TUNE_CMD_PNET_COMMIT, .admin = true, .doit = tune_pnet_commit },
	{ "TUNE_PNET_ABORT", BUS_GENL, SMC_TUNE_CMD_PNET_ABORT, .admin = true, .doit = tune_pnet_abort },
};
const size_t n_fake_tune_ops = ARRAY_SIZE(fake_tune_ops);
