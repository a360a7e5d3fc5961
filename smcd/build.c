/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build.c - from a policy and what the kernel has to the steps that are missing, and to what is to be remembered of
 * them.
 */
#include "manager.h"

void build_done(struct build *b)
{
	plan_done(&b->plan);
	state_done(&b->next);
	free(b->forget_knob);
	free(b->wanted);
	*b = (struct build){ 0 };
}

static void note_unsupported(struct build *b, const char *name)
{
	if (b->n_unsupported < ARRAY_SIZE(b->unsupported))
		b->unsupported[b->n_unsupported++] = name;
}

static void why_policy(struct step *s, const struct origin *from)
{
	snprintf(s->why, sizeof(s->why), "policy %s:%u", from->file, from->at.line);
}

static void why_undo(struct step *s)
{
	snprintf(s->why, sizeof(s->why), "the policy does not name it any more");
}

/* ---- knobs ---- */

static int knob_step(struct build *b, const struct knob *knob, struct value now, struct value to, struct step **ret)
{
	struct step *s;

	*ret = NULL;
	if (value_equal(now, to))
		return 0;
	s = plan_add(&b->plan, STEP_KNOB);
	if (!s)
		return -ENOMEM;
	s->knob = knob;
	s->from = held_copy(now);
	s->to = held_copy(to);
	*ret = s;
	return 0;
}

/* The policy names it no more: what smcd set goes back to what was before, what somebody else set since stays. */
static int undo_knob(struct build *b, const struct knob *knob, const struct knob_record *rec, struct value now)
{
	struct step *s = NULL;
	int r = 0;

	b->forget_knob[knob_index(knob)] = true;
	if (value_equal(now, held_value(&rec->made)))
		r = knob_step(b, knob, now, held_value(&rec->before), &s);
	if (s)
		why_undo(s);
	return r;
}

static int build_knob(const struct manager *m, const struct policy *p, const struct observed *o, size_t i,
		      struct build *b)
{
	const struct policy_knob *pol = manager_policy_knob(m, p, i);
	struct knob_record *rec = &b->next.netns[0].knobs[i];
	bool overridden = rec->override.kind != VALUE_ABSENT;
	struct value now = o->knobs[i].value, to = overridden ? held_value(&rec->override) : pol->v;
	struct step *s;
	int r;

	if (!o->knobs[i].supported) {
		if (to.kind != VALUE_ABSENT)
			note_unsupported(b, knobs[i].name);
		return 0;
	}
	if (to.kind == VALUE_ABSENT)
		return rec->before.kind == VALUE_ABSENT ? 0 : undo_knob(b, &knobs[i], rec, now);
	r = knob_step(b, &knobs[i], now, to, &s);
	if (r < 0 || !s)
		return r;
	if (overridden)
		snprintf(s->why, sizeof(s->why), "override");
	else
		why_policy(s, &pol->from);
	if (rec->before.kind == VALUE_ABSENT)
		rec->before = s->from;
	rec->made = s->to;
	return 0;
}

/* ---- pnet ---- */

struct pnet_entry pnet_entry_listed(const struct pnet_entry *p)
{
	struct pnet_entry listed = *p;

	/* The kernel takes port 1 where none is given (smc_pnet.c, smc_pnet_enter). */
	if (listed.rdma[0] && !listed.port)
		listed.port = 1;
	return listed;
}

static int wanted_pnet(const struct policy *p, struct build *b)
{
	b->wanted = calloc(p->n_pnet ?: 1, sizeof(*b->wanted));
	if (!b->wanted)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_pnet; i++)
		b->wanted[i] = pnet_entry_listed(&p->pnet[i].entry);
	b->n_wanted = p->n_pnet;
	qsort(b->wanted, b->n_wanted, sizeof(*b->wanted), pnet_entry_compare);
	return 0;
}

static int build_pnet(const struct manager *m, const struct policy *p, const struct observed *o, struct build *b)
{
	struct pnet_entry *there;
	size_t n;
	int r;

	r = wanted_pnet(p, b);
	if (r == 0)
		r = observed_pnet(o, &b->plan.pnet_before, &b->plan.n_pnet_before, NULL);
	if (r < 0)
		return r;
	there = b->plan.pnet_before;
	n = b->plan.n_pnet_before;
	if (!o->has_pnet) {
		if (p->n_pnet)
			note_unsupported(b, "pnet");
		return 0;
	}
	for (size_t i = 0; i < m->state.n_pnet; i++) {
		const struct pnet_entry *made = &m->state.pnet[i];
		struct step *s;

		if (pnet_entry_search(made, b->wanted, b->n_wanted) || !pnet_entry_search(made, there, n))
			continue;
		s = plan_add(&b->plan, STEP_PNET_DELETE);
		if (!s)
			return -ENOMEM;
		s->pnet = *made;
		why_undo(s);
	}
	for (size_t i = 0; i < p->n_pnet; i++) {
		struct pnet_entry listed = pnet_entry_listed(&p->pnet[i].entry);
		struct step *s;

		if (pnet_entry_search(&listed, there, n))
			continue;
		s = plan_add(&b->plan, STEP_PNET_ADD);
		if (!s || state_add_pnet(&b->next, &listed) < 0)
			return -ENOMEM;
		s->pnet = listed;
		why_policy(s, &p->pnet[i].from);
	}
	state_sort(&b->next);
	return 0;
}

/* ---- EIDs ---- */

static bool policy_has_ueid(const struct policy *p, const char *eid)
{
	for (size_t i = 0; i < p->n_ueid; i++)
		if (str_eq(p->ueid[i].eid, eid))
			return true;
	return false;
}

static int build_ueid(const struct manager *m, const struct policy *p, const struct observed *o, struct build *b)
{
	if (!o->has_ueid) {
		if (p->n_ueid)
			note_unsupported(b, "ueid");
		return 0;
	}
	for (size_t i = 0; i < m->state.n_ueid; i++) {
		const char *made = m->state.ueid[i];
		struct step *s;

		if (policy_has_ueid(p, made) || !observed_ueid(o, made))
			continue;
		s = plan_add(&b->plan, STEP_UEID_DELETE);
		if (!s)
			return -ENOMEM;
		snprintf(s->eid, sizeof(s->eid), "%s", made);
		why_undo(s);
	}
	for (size_t i = 0; i < p->n_ueid; i++) {
		struct step *s;

		if (observed_ueid(o, p->ueid[i].eid))
			continue;
		s = plan_add(&b->plan, STEP_UEID_ADD);
		if (!s || state_add_ueid(&b->next, p->ueid[i].eid) < 0)
			return -ENOMEM;
		snprintf(s->eid, sizeof(s->eid), "%s", p->ueid[i].eid);
		why_policy(s, &p->ueid[i].from);
	}
	return 0;
}

static int build_seid(const struct policy *p, const struct observed *o, struct build *b)
{
	struct state *next = &b->next;
	struct value to = p->seid.v;
	struct step *s;

	if (o->seid.kind == VALUE_ABSENT) {
		if (to.kind != VALUE_ABSENT)
			note_unsupported(b, "seid");
		return 0;
	}
	if (to.kind == VALUE_ABSENT) {
		if (next->seid_before.kind == VALUE_ABSENT)
			return 0;
		b->forget_seid = true;
		if (!value_equal(o->seid, held_value(&next->seid_made)))
			return 0;
		to = held_value(&next->seid_before);
	}
	if (value_equal(o->seid, to))
		return 0;
	s = plan_add(&b->plan, STEP_SEID);
	if (!s)
		return -ENOMEM;
	s->from = held_copy(o->seid);
	s->to = held_copy(to);
	if (b->forget_seid) {
		why_undo(s);
		return 0;
	}
	why_policy(s, &p->seid.from);
	if (next->seid_before.kind == VALUE_ABSENT)
		next->seid_before = s->from;
	next->seid_made = s->to;
	return 0;
}

/* ---- all ---- */

int build_plan(const struct manager *m, const struct policy *p, const struct observed *o, struct build *ret,
	       struct err *e)
{
	CLEANUP_BUILD struct build b = { 0 };
	int r;

	b.forget_knob = calloc(n_knobs, sizeof(*b.forget_knob));
	r = b.forget_knob ? state_copy(&m->state, &b.next) : -ENOMEM;
	for (size_t i = 0; r == 0 && i < n_knobs; i++)
		r = build_knob(m, p, o, i, &b);
	if (r == 0)
		r = build_pnet(m, p, o, &b);
	if (r == 0)
		r = build_ueid(m, p, o, &b);
	if (r == 0)
		r = build_seid(p, o, &b);
	if (r < 0)
		return err_set(e, r, "compare the policy with the kernel: %s", strerror(-r));
	*ret = b;
	b = (struct build){ 0 };
	return 0;
}

/* What is in the kernel by somebody else's hand is not smcd's to undo later, unless smcd had made it before. */
static void disown(struct state *next, const struct step *s, const struct state *before)
{
	if (s->unsupported)
		next->seid_before = next->seid_made = (struct held){ 0 };
	else if (s->others && s->kind == STEP_PNET_ADD && !pnet_entry_search(&s->pnet, before->pnet, before->n_pnet))
		state_drop_pnet(next, &s->pnet);
	else if (s->others && s->kind == STEP_UEID_ADD && !state_has_ueid(before, s->eid))
		state_drop_ueid(next, s->eid);
}

void build_finish(struct build *b, const struct policy *p, const struct state *before)
{
	struct state *next = &b->next;
	size_t kept = 0;

	for (size_t i = 0; i < n_knobs; i++)
		if (b->forget_knob[i])
			next->netns[0].knobs[i] = (struct knob_record){ 0 };
	for (size_t i = 0; i < next->n_pnet; i++)
		if (pnet_entry_search(&next->pnet[i], b->wanted, b->n_wanted))
			next->pnet[kept++] = next->pnet[i];
	next->n_pnet = kept;
	kept = 0;
	for (size_t i = 0; i < next->n_ueid; i++)
		if (policy_has_ueid(p, next->ueid[i]))
			memmove(next->ueid[kept++], next->ueid[i], sizeof(*next->ueid));
	next->n_ueid = kept;
	if (b->forget_seid)
		next->seid_before = next->seid_made = (struct held){ 0 };
	for (size_t i = 0; i < b->plan.n; i++) {
		disown(next, &b->plan.v[i], before);
		if (b->plan.v[i].unsupported)
			note_unsupported(b, "seid");
	}
}
