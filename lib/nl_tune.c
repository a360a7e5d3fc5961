// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nl_tune.c - the family smc_tune (uapi/linux/smc_tune.h), which the series in kernel-patch adds: knobs described by
 * the kernel itself, and set together.
 */
#include "nl.h"
#include "reasons.h"

#include <ctype.h>
#include <linux/netlink.h>
#include <linux/smc_tune.h>

static int malformed(struct err *e, const char *what)
{
	return err_set(e, -EBADMSG, "the kernel's answer is malformed (%s)", what);
}

static int out_of_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}

/* ---- what is offered ---- */

void offered_done(struct offered *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->v[i].choices);
	free(o->v);
	list_done(&o->strings);
	*o = (struct offered){ 0 };
}

const struct offered_knob *offered_find(const struct offered *o, const char *name)
{
	for (size_t i = 0; i < o->n; i++)
		if (str_eq(o->v[i].knob.name, name))
			return &o->v[i];
	return NULL;
}

/* A name goes into command lines, JSON and names of metrics; a choice is a name, too. */
static const char *take_name(struct offered *o, const struct knl_attr *a, bool dashes)
{
	size_t n = knl_attr_strlen(a);

	for (size_t i = 0; i < n; i++)
		if (!isalnum(a->data.p[i]) && a->data.p[i] != '_' && !(dashes && a->data.p[i] == '-'))
			return NULL;
	return n > 0 && n <= SMC_TUNE_KNOB_NAME_MAX ? list_str(&o->strings, (const char *)a->data.p, n) : NULL;
}

/* The number in an attribute that has to be there. */
static int take_uint(struct knl_span record, unsigned int type, uint64_t *ret)
{
	struct knl_attr a;
	int r = knl_attr_find(record, type, &a);

	return r <= 0 ? -EBADMSG : knl_attr_uint(&a, ret);
}

/* The kernel's names, which can be more than those of the table. */
static int take_choices(struct offered *o, struct offered_knob *k, struct knl_span record)
{
	struct knl_attr a;
	size_t n = 0;
	int r;

	if (k->knob.spec.type != TYPE_CHOICE)
		return 0;

	k->choices = calloc(OFFERED_CHOICES_MAX + 1, sizeof(*k->choices));
	if (!k->choices)
		return -ENOMEM;
	while ((r = knl_attr_next(&record, &a)) > 0) {
		if (a.type != SMC_TUNE_A_KNOB_CHOICE)
			continue;
		if (n == OFFERED_CHOICES_MAX)
			return -EBADMSG;
		k->choices[n] = take_name(o, &a, true);
		if (!k->choices[n++])
			return -EBADMSG;
	}
	if (r < 0 || k->knob.spec.max >= n)
		return -EBADMSG;
	k->knob.spec.choices = k->choices;
	return 0;
}

static enum knob_effect effect_of(uint64_t u)
{
	static const enum knob_effect effects[] = {
		[SMC_TUNE_KNOB_EFFECT_AT_ONCE] = EFFECT_AT_ONCE,
		[SMC_TUNE_KNOB_EFFECT_NEW_SOCKETS] = EFFECT_NEW_SOCKETS,
		[SMC_TUNE_KNOB_EFFECT_NEW_LISTENERS] = EFFECT_NEW_LISTENERS,
		[SMC_TUNE_KNOB_EFFECT_NEW_HANDSHAKES] = EFFECT_NEW_HANDSHAKES,
		[SMC_TUNE_KNOB_EFFECT_NEW_LINK_GROUPS] = EFFECT_NEW_LINK_GROUPS,
	};

	return u < ARRAY_SIZE(effects) ? effects[u] : EFFECT_UNKNOWN;
}

static enum knob_scope scope_of(uint64_t u)
{
	static const enum knob_scope scopes[] = {
		[SMC_TUNE_KNOB_SCOPE_NETNS] = SCOPE_NETNS,
		[SMC_TUNE_KNOB_SCOPE_HOST] = SCOPE_HOST,
		[SMC_TUNE_KNOB_SCOPE_RDMA_DEVICE] = SCOPE_RDMA_DEVICE,
	};

	return u < ARRAY_SIZE(scopes) ? scopes[u] : SCOPE_UNKNOWN;
}

/* A kind or unit that is newer than this program is a plain number, which any is on the wire. */
static enum value_type type_of(uint64_t type, uint64_t unit)
{
	if (type == SMC_TUNE_KNOB_TYPE_BOOL)
		return TYPE_BOOL;
	if (type == SMC_TUNE_KNOB_TYPE_CHOICE)
		return TYPE_CHOICE;
	switch (unit) {
	case SMC_TUNE_KNOB_UNIT_BYTES:
		return TYPE_SIZE;
	case SMC_TUNE_KNOB_UNIT_SECONDS:
		return TYPE_SECONDS;
	case SMC_TUNE_KNOB_UNIT_MILLISECONDS:
		return TYPE_MSECONDS;
	default:
		return TYPE_COUNT;
	}
}

static int take_unknown(struct offered_knob *k, struct knl_span record)
{
	uint64_t type, unit, effect;

	if (take_uint(record, SMC_TUNE_A_KNOB_TYPE, &type) < 0 || take_uint(record, SMC_TUNE_A_KNOB_UNIT, &unit) < 0 ||
	    take_uint(record, SMC_TUNE_A_KNOB_EFFECT, &effect) < 0)
		return -EBADMSG;
	k->knob.spec.type = type_of(type, unit);
	k->knob.effect = effect_of(effect);
	k->knob.doc = KNOB_DOC_UNKNOWN;
	return 0;
}

static int take_knob(struct offered *o, struct offered_knob *k, struct knl_span record)
{
	uint64_t value, min, max, def, scope;
	struct knl_attr name, flag;
	int r = knl_attr_find(record, SMC_TUNE_A_KNOB_NAME, &name);
	const char *s = r > 0 ? take_name(o, &name, false) : NULL;

	if (!s || take_uint(record, SMC_TUNE_A_KNOB_VALUE, &value) < 0 ||
	    take_uint(record, SMC_TUNE_A_KNOB_MINIMUM, &min) < 0 ||
	    take_uint(record, SMC_TUNE_A_KNOB_MAXIMUM, &max) < 0 ||
	    take_uint(record, SMC_TUNE_A_KNOB_DEFAULT, &def) < 0 ||
	    take_uint(record, SMC_TUNE_A_KNOB_SCOPE, &scope) < 0)
		return -EBADMSG;
	k->known = knob_find(s);
	if (k->known) {
		k->knob = *k->known;
	} else {
		k->knob.name = s;
		r = take_unknown(k, record);
		if (r < 0)
			return r;
	}
	/* A name has no range of numbers, and the kernel has no name to offer. */
	if (k->knob.spec.type == TYPE_STRING || min > max)
		return -EBADMSG;
	k->knob.spec.min = min;
	k->knob.spec.max = max;
	k->knob.def = value_uint(def);
	k->knob.scope = scope_of(scope);
	k->value = value_uint(k->knob.spec.type == TYPE_BOOL ? value != 0 : value);
	r = knl_attr_find(record, SMC_TUNE_A_KNOB_READ_ONLY, &flag);
	k->read_only = r > 0;
	return r < 0 ? r : take_choices(o, k, record);
}

static int knob_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct offered *o = arg;
	struct offered_knob *grown;
	int r;

	if (m->cmd != SMC_TUNE_CMD_KNOB_GET || take_uint(m->body, SMC_TUNE_A_KNOB_GENERATION, &o->generation) < 0)
		return malformed(e, "knob");
	if (o->n == OFFERED_KNOBS_MAX)
		return err_set(e, -EBADMSG, "the kernel offers more than %d knobs", OFFERED_KNOBS_MAX);
	grown = reallocarray(o->v, o->n + 1, sizeof(*grown));
	if (!grown)
		return out_of_memory(e);
	o->v = grown;
	grown[o->n] = (struct offered_knob){ 0 };
	r = take_knob(o, &grown[o->n++], m->body);
	if (r == -ENOMEM)
		return out_of_memory(e);
	return r < 0 ? malformed(e, "knob") : 0;
}

static int offered_reset(void *arg)
{
	offered_done(arg);
	return 0;
}

/* An interrupted dump is one of the values of its beginning, so nothing has to be read again. */
static int read_offered(struct kernel *k, struct offered *ret, struct err *e)
{
	CLEANUP_OFFERED struct offered o = { 0 };
	struct knl_dump d = { .handler = knob_message, .reset = offered_reset, .arg = &o };
	int r;

	if (!knl_has_tune(k))
		return err_set(e, -EOPNOTSUPP, KNL_NO_TUNE);
	r = knl_family_dump(k, KNL_TUNE, SMC_TUNE_CMD_KNOB_GET, &d, NULL, e);
	if (r < 0)
		return r;
	*ret = o;
	o = (struct offered){ 0 };
	return 0;
}

int kernel_knobs_offered(struct kernel *k, struct offered *ret, struct err *e)
{
	int r = read_offered(k, ret, e);

	return r < 0 ? kernel_fail(k, e, r, "read the knobs that the kernel offers") : 0;
}

/* ---- one knob ---- */

/* The kernel has the family and this knob not: -EOPNOTSUPP, and whether it came later or is elsewhere. */
static int not_offered(const struct knob *knob, struct err *e)
{
	if (knob->scope == SCOPE_HOST)
		return err_set(e, -EOPNOTSUPP,
			       "this kernel does not have it here: it belongs to the host, and is there in "
			       "the initial network namespace only");
	return err_set(e, -EOPNOTSUPP, "this kernel does not have it (since Linux %s)", knob->since);
}

int knl_tune_get(struct kernel *k, const struct knob *knob, struct value *ret, struct err *e)
{
	const struct knl_arg arg = { SMC_TUNE_A_KNOB_NAME, knob->name, strlen(knob->name) + 1 };
	CLEANUP_OFFERED struct offered o = { 0 };
	int r;

	/* It has no names for values of this kind. */
	if (knob->spec.type == TYPE_STRING)
		return not_offered(knob, e);
	r = knl_family_ask(k, KNL_TUNE, SMC_TUNE_CMD_KNOB_GET, &arg, 1, knob_message, &o, e);
	if (r == -ENOENT)
		return not_offered(knob, e);
	if (r < 0)
		return r;
	if (o.n != 1 || !str_eq(o.v[0].knob.name, knob->name))
		return malformed(e, "another knob");
	*ret = o.v[0].value;
	return 0;
}

/* ---- setting ---- */

static void put_change(struct text *message, const struct knob_change *c)
{
	const struct knl_arg name = { SMC_TUNE_A_KNOB_VALUE_NAME, c->knob->name, strlen(c->knob->name) + 1 };
	const struct knl_arg value = { SMC_TUNE_A_KNOB_VALUE_VALUE, &c->v.u, sizeof(c->v.u) };
	CLEANUP_TEXT struct text nest = { 0 };
	struct knl_arg knob = { .type = SMC_TUNE_A_KNOB_SET_KNOB | NLA_F_NESTED };

	knl_put(&nest, &name);
	knl_put(&nest, &value);
	knob.p = nest.s;
	knob.len = nest.len;
	message->failed |= nest.failed;
	if (!nest.failed)
		knl_put(message, &knob);
}

static int generation_message(void *arg, const struct knl_message *m, struct err *e)
{
	uint64_t generation;

	(void)arg;
	if (m->cmd != SMC_TUNE_CMD_KNOB_SET || take_uint(m->body, SMC_TUNE_A_KNOB_SET_GENERATION, &generation) < 0)
		return malformed(e, "generation");
	return 0;
}

/* Which one is it that the kernel does not know? */
static int find_lacking(struct kernel *k, const struct knob_change *c, size_t n, struct err *e)
{
	CLEANUP_OFFERED struct offered o = { 0 };
	int r = read_offered(k, &o, e);

	for (size_t i = 0; r == 0 && i < n; i++)
		if (!offered_find(&o, c[i].knob->name)) {
			not_offered(c[i].knob, e);
			return err_prefix(e, "'%s'", c[i].knob->name);
		}
	return r;
}

static int send_changes(struct kernel *k, const struct knob_change *c, size_t n, struct err *e)
{
	CLEANUP_TEXT struct text message = { 0 };
	struct knl_arg *args CLEANUP_FREE = calloc(n, sizeof(*args));
	size_t at = 0;
	int r;

	for (size_t i = 0; i < n; i++)
		put_change(&message, &c[i]);
	if (!args || message.failed)
		return out_of_memory(e);
	/* Each nest is an argument of its own. */
	for (size_t i = 0; i < n; i++) {
		struct nlattr a;

		memcpy(&a, message.s + at, sizeof(a));
		args[i] = (struct knl_arg){ a.nla_type, message.s + at + NLA_HDRLEN, a.nla_len - (size_t)NLA_HDRLEN };
		at += NLA_ALIGN((size_t)a.nla_len);
	}
	r = knl_family_ask(k, KNL_TUNE, SMC_TUNE_CMD_KNOB_SET, args, n, generation_message, NULL, e);
	return r == -ENOENT ? find_lacking(k, c, n, e) ?: r : r;
}

static int check_now(struct kernel *k, const struct knob_change *c, size_t n, struct err *e)
{
	CLEANUP_OFFERED struct offered o = { 0 };
	int r = read_offered(k, &o, e);

	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct offered_knob *now = offered_find(&o, c[i].knob->name);
		CLEANUP_TEXT struct text t = { 0 };

		if (now && value_equal(now->value, c[i].v))
			continue;
		if (now)
			value_text(&now->knob.spec, now->value, &t);
		r = err_set(e, -EIO, "the kernel took '%s', but has %s now", c[i].knob->name,
			    now ? text_str(&t) : "none");
	}
	return r;
}

static int set_changes(struct kernel *k, const struct knob_change *c, size_t n, struct err *e)
{
	int r;

	for (size_t i = 0; i < n; i++) {
		if (c[i].knob->spec.type == TYPE_STRING)
			return not_offered(c[i].knob, e);
		r = value_check(&c[i].knob->spec, c[i].v, e);
		if (r < 0)
			return err_prefix(e, "'%s'", c[i].knob->name);
	}
	r = send_changes(k, c, n, e);
	return r < 0 ? r : check_now(k, c, n, e);
}

bool kernel_knobs_together(struct kernel *k)
{
	return knl_has_tune(k);
}

int kernel_knobs_set(struct kernel *k, const struct knob_change *c, size_t n, struct err *e)
{
	CLEANUP_TEXT struct text names = { 0 };
	int r;

	if (n == 0)
		return 0;
	r = knl_has_tune(k) ? set_changes(k, c, n, e) : err_set(e, -EOPNOTSUPP, KNL_NO_TUNE);
	for (size_t i = 0; r < 0 && i < n; i++)
		text_add(&names, "%s'%s'", i ? ", " : "", c[i].knob->name);
	return r < 0 ? kernel_fail(k, e, r, "set %s", text_str(&names)) : 0;
}

/* ---- pools ---- */

static int list_reset(void *arg)
{
	((struct list *)arg)->n = 0;
	return 0;
}

static int pool_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct value *row;

	return knl_add_row(arg, WIRE_R, m->body, POOL_SIZE, &row, e);
}

int knl_read_pools(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	struct knl_dump d = { .handler = pool_message, .reset = list_reset, .arg = l };

	(void)arg;
	return knl_family_dump(k, KNL_TUNE, SMC_TUNE_CMD_POOL_GET, &d, interrupted, e);
}

/* ---- cork ---- */

/* The counters of tx-get: which row, and what they count there. */
static const struct cork_counter {
	enum cork_kind kind;
	const char *cause;
	uint8_t count, bytes; /* attributes; 0: not counted */
} cork_counters[] = {
	{ CORK_HELD, "application", SMC_TUNE_A_TX_CORKED_APP, 0 },
	{ CORK_HELD, "more", SMC_TUNE_A_TX_CORKED_MORE, 0 },
	{ CORK_HELD, "auto", SMC_TUNE_A_TX_CORKED_AUTO, 0 },
	{ CORK_SENT, "uncork", SMC_TUNE_A_TX_FLUSH_UNCORK, 0 },
	{ CORK_SENT, "full", SMC_TUNE_A_TX_FLUSH_FULL, 0 },
	{ CORK_SENT, "completion", SMC_TUNE_A_TX_FLUSH_COMPLETION, 0 },
	{ CORK_SENT, "ceiling", SMC_TUNE_A_TX_FLUSH_CEILING, 0 },
	{ CORK_SENT, "nodelay", SMC_TUNE_A_TX_FLUSH_NODELAY, 0 },
	{ CORK_SENT, "write", SMC_TUNE_A_TX_FLUSH_WRITE, 0 },
	{ CORK_SENT, "end", SMC_TUNE_A_TX_FLUSH_END, 0 },
	{ CORK_SENT, NULL, 0, SMC_TUNE_A_TX_FLUSH_BYTES },
	{ CORK_PAST_CACHE, NULL, SMC_TUNE_A_TX_NOCACHE_WRITES, SMC_TUNE_A_TX_NOCACHE_BYTES },
};

static int take_counter(struct knl_span body, uint8_t type, struct value *ret)
{
	struct knl_attr a;
	uint64_t u;
	int r = type ? knl_attr_find(body, type, &a) : 0;

	if (r <= 0)
		return r;
	if (knl_attr_uint(&a, &u) < 0)
		return -EBADMSG;
	*ret = value_uint(u);
	return 0;
}

/* Each nest of this type is a row. role (absent: there is none) goes into the row's first field. */
static int take_nests(struct list *l, struct knl_span body, unsigned int type, int key, struct value role,
		      struct err *e)
{
	struct knl_attr a;
	int r;

	while ((r = knl_attr_next(&body, &a)) > 0) {
		struct value *row;

		if (a.type != type)
			continue;
		r = knl_add_row(l, WIRE_R, a.data, key, &row, e);
		if (r < 0)
			return r;
		if (role.kind != VALUE_ABSENT)
			row[0] = role;
	}
	return r < 0 ? malformed(e, "attributes") : 0;
}

static int cork_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct list *l = arg;

	if (m->cmd != SMC_TUNE_CMD_TX_GET)
		return malformed(e, "command");
	for (size_t i = 0; i < ARRAY_SIZE(cork_counters); i++) {
		const struct cork_counter *c = &cork_counters[i];
		struct value *row = list_add(l);

		if (!row)
			return out_of_memory(e);
		row[CORK_KIND] = value_uint(c->kind);
		row[CORK_CAUSE] = value_str(c->cause ? c->cause : "all");
		if (take_counter(m->body, c->count, &row[CORK_COUNT]) < 0 ||
		    take_counter(m->body, c->bytes, &row[CORK_BYTES]) < 0)
			return malformed(e, c->cause ? c->cause : "bytes");
	}
	return take_nests(&l->parts[CORK_SIZES], m->body, SMC_TUNE_A_TX_FLUSH_SIZE, BUCKET_COUNT, (struct value){ 0 },
			  e);
}

/* What one message tells, into an empty list with its parts. */
static int read_message(struct kernel *k, uint8_t cmd, knl_handler handler, struct list *l, struct err *e)
{
	int r;

	if (list_init_parts(l) < 0)
		return out_of_memory(e);
	r = knl_family_ask(k, KNL_TUNE, cmd, NULL, 0, handler, l, e);
	if (r == 0 && l->n == 0)
		return malformed(e, "empty");
	return r;
}

int knl_read_cork(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	(void)interrupted;
	(void)arg;
	return read_message(k, SMC_TUNE_CMD_TX_GET, cork_message, l, e);
}

/* ---- handshakes ---- */

static int take_roles(struct list *l, struct knl_span body, struct value workers, struct err *e)
{
	struct knl_attr a;
	int r;

	while ((r = knl_attr_next(&body, &a)) > 0) {
		struct value *row;

		if (a.type != SMC_TUNE_A_HANDSHAKE_ROLE)
			continue;
		r = knl_add_row(l, WIRE_R, a.data, HS_ROLE, &row, e);
		if (r < 0)
			return r;
		row[HS_WORKERS] = workers;
		r = take_nests(&l->parts[HS_TIMES], a.data, SMC_TUNE_A_HS_ROLE_TIME, HT_COUNT, row[HS_ROLE], e);
		if (r < 0)
			return r;
	}
	return r < 0 ? malformed(e, "attributes") : 0;
}

struct value knl_reason_name(struct value code)
{
	const struct reason *r = code.kind == VALUE_UINT && code.u ? reason_find((uint32_t)code.u) : NULL;

	return value_str(r ? r->name : NULL);
}

static int handshake_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct list *l = arg, *why = &l->parts[HS_REASONS];
	struct value workers = { 0 };
	int r;

	if (m->cmd != SMC_TUNE_CMD_HANDSHAKE_GET)
		return malformed(e, "command");
	if (take_counter(m->body, SMC_TUNE_A_HANDSHAKE_WORKERS_MAX, &workers) < 0)
		return malformed(e, "workers");
	r = take_roles(l, m->body, workers, e);
	if (r == 0)
		r = take_nests(why, m->body, SMC_TUNE_A_HANDSHAKE_REASON, HR_COUNT, (struct value){ 0 }, e);
	for (size_t i = 0; r == 0 && i < why->n; i++) {
		struct value *row = list_row(why, i);

		row[HR_REASON_NAME] = knl_reason_name(row[HR_REASON]);
		row[HR_PEER_REASON_NAME] = knl_reason_name(row[HR_PEER_REASON]);
	}
	return r;
}

int knl_read_handshakes(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	(void)interrupted;
	(void)arg;
	return read_message(k, SMC_TUNE_CMD_HANDSHAKE_GET, handshake_message, l, e);
}
