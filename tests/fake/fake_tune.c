/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_tune.c - the family smc_tune as the fake kernel speaks it, written from its specification and from net/smc of
 * the series (smc_tune.c).
 */
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
	fake_knobs_changed(c->f, c->ns, SMC_TUNE_SOURCE_KNOB_SET, c->req.nlmsg_pid, ch.v, ch.n);
	fake_reply_start(c, &b, 128);
	start = tune_msg(c, &b, SMC_TUNE_CMD_KNOB_SET, 0);
	fb_uint(&b, SMC_TUNE_A_KNOB_SET_GENERATION, c->ns->knob_gen);
	fb_end(&b, start);
	fake_reply(c, &b);
	return 0;
}

/* ---- events ---- */

void fake_knobs_changed(struct fake *f, struct fake_netns *ns, enum smc_tune_source source, uint32_t portid,
			const struct fake_change *changes, size_t n)
{
	size_t changed = 0;

	(void)f;
	(void)source;
	(void)portid;
	for (size_t i = 0; i < n; i++)
		changed += changes[i].old != changes[i].now;
	ns->knob_gen += changed > 0;
}

const struct fake_op fake_tune_ops[] = {
	{ "KNOB_GET", BUS_GENL, SMC_TUNE_CMD_KNOB_GET, .emit = emit_knob, .doit = knob_get },
	{ "KNOB_SET", BUS_GENL, SMC_TUNE_CMD_KNOB_SET, .admin = true, .doit = knob_set },
};
const size_t n_fake_tune_ops = ARRAY_SIZE(fake_tune_ops);
