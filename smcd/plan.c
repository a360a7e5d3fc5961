/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.c - see plan.h. */
#include "plan.h"

void plan_done(struct plan *p)
{
	free(p->v);
	free(p->pnet_before);
	*p = (struct plan){ 0 };
}

struct step *plan_add(struct plan *p, enum step_kind kind)
{
	struct step *grown = p->v;

	if ((p->n & (p->n - 1)) == 0) { /* full at each power of two */
		grown = reallocarray(p->v, p->n ? 2 * p->n : 1, sizeof(*grown));
		if (!grown)
			return NULL;
		p->v = grown;
	}
	grown[p->n] = (struct step){ .kind = kind };
	return &grown[p->n++];
}

static const struct value_spec seid_spec = { .type = TYPE_BOOL, .max = 1 };

static void pnet_text(const struct pnet_entry *p, struct text *t)
{
	text_add(t, "pnet entry '%s'", p->id);
	if (p->interface[0])
		text_add(t, " interface '%s'", p->interface);
	if (p->rdma[0])
		text_add(t, " rdma '%s'", p->rdma);
	if (p->port)
		text_add(t, " port %u", p->port);
}

/* What has a unit as the number that the kernel's files have; what has names, by its name. */
static void held_text(const struct value_spec *spec, const struct held *h, struct text *t)
{
	if (h->kind == VALUE_UINT && *value_unit(spec->type))
		text_add(t, "%llu", (unsigned long long)h->u);
	else if (h->kind == VALUE_STR)
		text_add(t, "'%s'", h->s);
	else
		value_text(spec, held_value(h), t);
}

void step_text(const struct step *s, struct text *t)
{
	switch (s->kind) {
	case STEP_KNOB:
		text_add(t, "set '%s' to ", s->knob->name);
		held_text(&s->knob->spec, &s->to, t);
		text_add(t, " (was ");
		held_text(&s->knob->spec, &s->from, t);
		text_add(t, ")");
		break;
	case STEP_SEID:
		text_add(t, "set 'seid' to ");
		held_text(&seid_spec, &s->to, t);
		text_add(t, " (was ");
		held_text(&seid_spec, &s->from, t);
		text_add(t, ")");
		break;
	case STEP_PNET_ADD:
	case STEP_PNET_DELETE:
		text_add(t, s->kind == STEP_PNET_ADD ? "add " : "delete ");
		pnet_text(&s->pnet, t);
		break;
	case STEP_UEID_ADD:
	case STEP_UEID_DELETE:
		text_add(t, "%s UEID '%s'", s->kind == STEP_UEID_ADD ? "add" : "delete", s->eid);
		break;
	}
}

/* ---- one step forth and back ---- */

static int changes_all_the_time(const struct noun *noun, struct err *e)
{
	return err_set(e, -EAGAIN, "list %s: the kernel's list changes all the time, it could not be read whole",
		       noun->name);
}

/* 1, 0, -errno; -EAGAIN: not seen, but the list is not whole. */
static int pnet_present(struct kernel *k, const struct pnet_entry *p, struct err *e)
{
	CLEANUP_LIST struct list l = { 0 };
	int r = kernel_list(k, &nouns[NOUN_PNET], &l, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n; i++) {
		struct pnet_entry row = pnet_entry_of(&l, i);

		if (pnet_entry_compare(&row, p) == 0)
			return 1;
	}
	return l.incomplete ? changes_all_the_time(l.noun, e) : 0;
}

static int ueid_present(struct kernel *k, const char *eid, struct err *e)
{
	CLEANUP_LIST struct list l = { 0 };
	int r = kernel_list(k, &nouns[NOUN_UEID], &l, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n; i++)
		if (str_eq(list_row(&l, i)[UEID_EID].s, eid))
			return 1;
	return l.incomplete ? changes_all_the_time(l.noun, e) : 0;
}

static int step_present(const struct step *s, struct kernel *k, struct err *e)
{
	return s->kind == STEP_PNET_ADD || s->kind == STEP_PNET_DELETE ? pnet_present(k, &s->pnet, e)
								       : ueid_present(k, s->eid, e);
}

/* An addition was refused because something is there. Is it the very thing? The refusal stands unless that is known. */
static int already_there(struct step *s, struct kernel *k, struct err *e)
{
	struct err look = { 0 };
	int r = step_present(s, k, &look);

	if (r < 0)
		return err_prefix(e, "%s; is it this very entry?", look.text);
	if (r == 0)
		return -EEXIST;
	s->others = true;
	return 0;
}

static int step_do(struct step *s, struct kernel *k, struct err *e)
{
	int r;

	switch (s->kind) {
	case STEP_KNOB:
		return kernel_knob_set(k, s->knob, held_value(&s->to), e);
	case STEP_PNET_ADD:
		r = kernel_pnet_add(k, &s->pnet, e);
		/* EEXIST stands for more than the entry itself: any ID that its device has. */
		return r == -EEXIST ? already_there(s, k, e) : r;
	case STEP_PNET_DELETE:
		r = kernel_pnet_delete(k, &s->pnet, e);
		s->others = r == -ENOENT;
		return r == -ENOENT ? 0 : r;
	case STEP_UEID_ADD:
		r = kernel_ueid_add(k, s->eid, e);
		return r == -EEXIST ? already_there(s, k, e) : r;
	case STEP_UEID_DELETE:
		r = kernel_ueid_delete(k, s->eid, e);
		s->others = r == -ENOENT;
		return r == -ENOENT ? 0 : r;
	case STEP_SEID:
		r = kernel_seid_set(k, s->to.u != 0, e);
		s->unsupported = r == -EOPNOTSUPP;
		return s->unsupported ? 0 : r;
	}
	return -EINVAL;
}

/* Every entry that the ID had. */
static int restore_id(const struct plan *p, const char *id, struct kernel *k, struct err *e)
{
	for (size_t i = 0; i < p->n_pnet_before; i++) {
		const struct pnet_entry *old = &p->pnet_before[i];
		int r;

		if (!str_eq(old->id, id) || pnet_present(k, old, NULL) > 0)
			continue;
		r = kernel_pnet_add(k, old, e);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return 0;
}

/* Whatever is there when an addition was refused for this reason is somebody else's. */
static bool is_taken(int code)
{
	return code == -EEXIST || code == -EBUSY;
}

/* An addition failed. Is something there that it made nevertheless? 1, 0, -errno. */
static int made_all_the_same(const struct step *s, int failed, struct kernel *k, struct err *e)
{
	return is_taken(failed) ? 0 : step_present(s, k, e);
}

/*
 * failed: 0, or what the step failed with. It is looked at all the same, because it may have changed something: a knob
 * that was rounded, an answer that was lost.
 */
static int step_undo(const struct plan *p, const struct step *s, int failed, struct kernel *k, struct err *e)
{
	struct value now, from = held_value(&s->from);
	int r;

	if (s->others || s->unsupported)
		return 0;
	switch (s->kind) {
	case STEP_KNOB:
		r = kernel_knob_get(k, s->knob, &now, e);
		if (r < 0 || value_equal(now, from))
			return r;
		return kernel_knob_set(k, s->knob, from, e);
	case STEP_PNET_ADD:
		r = failed ? made_all_the_same(s, failed, k, e) : 1;
		if (r <= 0)
			return r;
		r = kernel_pnet_delete(k, &s->pnet, e);
		return r == -ENOENT ? 0 : r;
	case STEP_PNET_DELETE:
		return restore_id(p, s->pnet.id, k, e);
	case STEP_UEID_ADD:
		r = failed ? made_all_the_same(s, failed, k, e) : 1;
		if (r <= 0)
			return r;
		r = kernel_ueid_delete(k, s->eid, e);
		return r == -ENOENT ? 0 : r;
	case STEP_UEID_DELETE:
		if (failed && ueid_present(k, s->eid, NULL) > 0)
			return 0;
		r = kernel_ueid_add(k, s->eid, e);
		return r == -EEXIST && ueid_present(k, s->eid, NULL) > 0 ? 0 : r;
	case STEP_SEID:
		return kernel_seid_set(k, from.u != 0, e);
	}
	return -EINVAL;
}

/* ---- what the kernel has ---- */

void observed_done(struct observed *o)
{
	free(o->knobs);
	offered_done(&o->offered);
	list_done(&o->pnet);
	list_done(&o->ueid);
	*o = (struct observed){ 0 };
}

/* A table that this kernel does not have is no failure: *ret_has says so. A list that is not whole proves nothing. */
static int observe_list(struct kernel *k, enum noun_id noun, struct list *ret, bool *ret_has, struct err *e)
{
	int r = kernel_list(k, &nouns[noun], ret, e);

	if (r == -EOPNOTSUPP || r == -ENOPROTOOPT) {
		*ret_has = false;
		return 0;
	}
	if (r == 0 && ret->incomplete)
		r = changes_all_the_time(&nouns[noun], e);
	*ret_has = r == 0;
	return r;
}

static int observe_seid(struct kernel *k, struct value *ret, struct err *e)
{
	CLEANUP_LIST struct list l = { 0 };
	bool has;
	int r = observe_list(k, NOUN_SEID, &l, &has, e);

	if (r < 0)
		return r;
	*ret = has && l.n > 0 ? list_row(&l, 0)[SEID_ENABLED] : (struct value){ 0 };
	return 0;
}

int observe(struct kernel *k, unsigned int what, struct observed *ret, struct err *e)
{
	CLEANUP_OBSERVED struct observed o = { 0 };
	int r = 0;

	o.knobs = calloc(n_knobs, sizeof(*o.knobs));
	if (!o.knobs)
		return err_set(e, -ENOMEM, "read the state of SMC: out of memory");
	if (what & OBSERVE_KNOBS)
		r = knob_states_read(k, o.knobs, &o.offered, e);
	if (r == 0 && (what & OBSERVE_PNET))
		r = observe_list(k, NOUN_PNET, &o.pnet, &o.has_pnet, e);
	if (r == 0 && (what & OBSERVE_EIDS))
		r = observe_list(k, NOUN_UEID, &o.ueid, &o.has_ueid, e);
	if (r == 0 && (what & OBSERVE_EIDS))
		r = observe_seid(k, &o.seid, e);
	if (r < 0)
		return r;
	*ret = o;
	o = (struct observed){ 0 };
	return 0;
}

int observed_pnet(const struct observed *o, struct pnet_entry **ret, size_t *ret_n, struct err *e)
{
	struct pnet_entry *v = calloc(o->pnet.n ?: 1, sizeof(*v));

	if (!v)
		return err_set(e, -ENOMEM, "read the pnet table: out of memory");
	for (size_t i = 0; i < o->pnet.n; i++)
		v[i] = pnet_entry_of(&o->pnet, i);
	qsort(v, o->pnet.n, sizeof(*v), pnet_entry_compare);
	*ret = v;
	*ret_n = o->pnet.n;
	return 0;
}

bool observed_ueid(const struct observed *o, const char *eid)
{
	for (size_t i = 0; i < o->ueid.n; i++)
		if (str_eq(list_row(&o->ueid, i)[UEID_EID].s, eid))
			return true;
	return false;
}

/* ---- all of it ---- */

static struct value observed_knob(const struct observed *o, const struct knob *k)
{
	const struct offered_knob *other;

	if (knob_in_table(k))
		return o->knobs[knob_index(k)].value;
	other = offered_find(&o->offered, k->name);
	return other ? other->value : (struct value){ 0 };
}

/* Does the kernel have what the step was to bring about (want), or what was there before it (!want)? */
static bool step_holds(const struct step *s, bool want, const struct observed *o, const struct pnet_entry *pnet,
		       size_t n)
{
	const struct held *h = want ? &s->to : &s->from;

	if (s->others || s->unsupported)
		return true;
	switch (s->kind) {
	case STEP_KNOB:
		return value_equal(observed_knob(o, s->knob), held_value(h));
	case STEP_SEID:
		return value_equal(o->seid, held_value(h));
	case STEP_PNET_ADD:
		return !!pnet_entry_search(&s->pnet, pnet, n) == want;
	case STEP_PNET_DELETE:
		return !!pnet_entry_search(&s->pnet, pnet, n) != want;
	case STEP_UEID_ADD:
		return observed_ueid(o, s->eid) == want;
	case STEP_UEID_DELETE:
		return observed_ueid(o, s->eid) != want;
	}
	return false;
}

static unsigned int what_of(const struct step *v, size_t n)
{
	unsigned int what = 0;

	for (size_t i = 0; i < n; i++)
		what |= v[i].kind == STEP_KNOB                                        ? OBSERVE_KNOBS
			: v[i].kind == STEP_PNET_ADD || v[i].kind == STEP_PNET_DELETE ? OBSERVE_PNET
										      : OBSERVE_EIDS;
	return what;
}

/* Read back: -EIO and the first step of v[n] that is not so. Without want each step's left is set by what is found. */
static int steps_verify(struct step *v, size_t n, bool want, struct kernel *k, struct err *e)
{
	CLEANUP_OBSERVED struct observed o = { 0 };
	CLEANUP_FREE struct pnet_entry *pnet = NULL;
	size_t n_pnet = 0;
	int r = observe(k, what_of(v, n), &o, e);

	if (r == 0)
		r = observed_pnet(&o, &pnet, &n_pnet, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		bool holds = step_holds(&v[i], want, &o, pnet, n_pnet);
		CLEANUP_TEXT struct text t = { 0 };

		v[i].left = !want && !holds;
		if (holds || r < 0)
			continue;
		step_text(&v[i], &t);
		r = err_set(e, -EIO, "%s: the kernel has something else when it is read back", text_str(&t));
	}
	return r;
}

static void after_step(const struct plan *p, const struct step *s)
{
	if (p->after_step)
		p->after_step(p->after_step_ctx, s);
}

static size_t n_knob_steps(const struct plan *p)
{
	size_t n = 0;

	while (n < p->n && p->v[n].kind == STEP_KNOB)
		n++;
	return n;
}

/* What the first n steps, all of knobs, have changed goes back in one message. */
static int undo_knobs(struct step *v, size_t n, struct kernel *k, const struct logger *log, struct err *e)
{
	CLEANUP_FREE struct knob_change *changes = calloc(n, sizeof(*changes));
	CLEANUP_OBSERVED struct observed o = { 0 };
	size_t n_changes = 0;
	int r = changes ? observe(k, OBSERVE_KNOBS, &o, e) : err_set(e, -ENOMEM, "out of memory");

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		if (!step_holds(&v[i], false, &o, NULL, 0))
			changes[n_changes++] = (struct knob_change){ v[i].knob, held_value(&v[i].from) };
	r = kernel_knobs_set(k, changes, n_changes, e);
	if (r < 0)
		log_error(log, "cannot take back: %s", e->text);
	for (size_t i = 0; r == 0 && i < n_changes; i++)
		log_info(log, "took back: '%s'", changes[i].knob->name);
	return r;
}

static int undo_steps(const struct plan *p, size_t n, int last_failed, struct kernel *k, const struct logger *log,
		      struct err *e)
{
	size_t together = kernel_knobs_together(k) ? n_knob_steps(p) : 0;
	struct err first = { 0 }, verify = { 0 };
	struct step *v = p->v;
	int r, worst = 0;

	for (size_t i = n; i-- > together;) {
		CLEANUP_TEXT struct text t = { 0 };
		int failed = i + 1 == n ? last_failed : 0;
		struct err step_e = { 0 };

		step_text(&v[i], &t);
		r = step_undo(p, &v[i], failed, k, &step_e);
		after_step(p, &v[i]);
		v[i].left = r < 0;
		if (r < 0) {
			log_error(log, "cannot take back: %s: %s", text_str(&t), step_e.text);
			if (worst == 0)
				first = step_e;
			worst = -EIO;
		} else if (!failed) {
			log_info(log, "took back: %s", text_str(&t));
		}
	}
	if (together && undo_knobs(v, together, k, log, &verify) < 0 && worst == 0) {
		first = verify;
		worst = -EIO;
	}
	r = steps_verify(v, n, false, k, &verify);
	if (worst == 0 && r < 0) {
		first = verify;
		worst = r;
	}
	if (worst < 0)
		*e = first;
	return worst;
}

/* Undo after a failure, and say in e, which has the failure already, when that was not possible. */
static void give_up(const struct plan *p, size_t n, int last_failed, struct kernel *k, const struct logger *log,
		    struct err *e)
{
	struct err undo = { 0 };
	size_t len = strlen(e->text);

	if (undo_steps(p, n, last_failed, k, log, &undo) == 0)
		snprintf(e->text + len, sizeof(e->text) - len, "; nothing is changed");
	else
		snprintf(e->text + len, sizeof(e->text) - len, "; and not everything could be put back: %s", undo.text);
}

static void log_step(const struct step *s, const struct logger *log)
{
	CLEANUP_TEXT struct text t = { 0 };

	step_text(s, &t);
	if (s->unsupported)
		log_warning(log, "%s [%s]: this kernel does not support it", text_str(&t), s->why);
	else if (s->others)
		log_info(log, "%s [%s]: it is so already", text_str(&t), s->why);
	else
		log_info(log, "%s [%s]", text_str(&t), s->why);
}

/* All knobs in one message: how many steps that were, 0 where the kernel cannot. A failure is of all of them. */
static int knobs_do(struct plan *p, struct kernel *k, struct err *e)
{
	size_t n = n_knob_steps(p);
	CLEANUP_FREE struct knob_change *changes = NULL;
	int r;

	if (n == 0 || !kernel_knobs_together(k))
		return 0;
	changes = calloc(n, sizeof(*changes));
	if (!changes)
		return err_set(e, -ENOMEM, "set knobs: out of memory");
	for (size_t i = 0; i < n; i++)
		changes[i] = (struct knob_change){ p->v[i].knob, held_value(&p->v[i].to) };
	r = kernel_knobs_set(k, changes, n, e);
	return r < 0 ? r : (int)n;
}

/* Step i failed, or (0) all of the knobs together. */
static void name_failed(const struct plan *p, size_t n, struct err *e)
{
	CLEANUP_TEXT struct text t = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (i)
			text_add(&t, ", ");
		step_text(&p->v[i], &t);
	}
	err_prefix(e, "%s [%s]", text_str(&t), p->v[0].why);
}

int plan_run(struct plan *p, struct kernel *k, const struct logger *log, struct err *e)
{
	struct err own = { 0 };
	int r, together;

	if (!e)
		e = &own;
	together = knobs_do(p, k, e);
	if (together < 0) {
		name_failed(p, n_knob_steps(p), e);
		give_up(p, n_knob_steps(p), together, k, log, e);
		return together;
	}
	for (size_t i = 0; i < p->n; i++) {
		CLEANUP_TEXT struct text t = { 0 };

		r = i < (size_t)together ? 0 : step_do(&p->v[i], k, e);
		after_step(p, &p->v[i]);
		if (r < 0) {
			step_text(&p->v[i], &t);
			err_prefix(e, "%s [%s]", text_str(&t), p->v[i].why);
			give_up(p, i + 1, r, k, log, e);
			return r;
		}
		log_step(&p->v[i], log);
	}
	if (p->n == 0)
		return 0;
	r = steps_verify(p->v, p->n, true, k, e);
	if (r < 0)
		give_up(p, p->n, 0, k, log, e);
	return r;
}

bool plan_left_something(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].left)
			return true;
	return false;
}

static void remember(struct held *before, struct held *made, const struct step *s)
{
	if (before->kind == VALUE_ABSENT)
		*before = s->from;
	*made = s->to;
}

int plan_remember_left(const struct plan *p, struct state *s, struct state_netns *ns)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n; i++) {
		const struct step *step = &p->v[i];
		struct knob_record *rec = NULL;

		if (step->knob && knob_in_table(step->knob))
			rec = &ns->knobs[knob_index(step->knob)];
		if (!step->left || (step->knob && !rec)) /* of what the table does not know nothing is kept */
			continue;
		if (step->kind == STEP_KNOB)
			remember(&rec->before, &rec->made, step);
		else if (step->kind == STEP_SEID)
			remember(&s->seid_before, &s->seid_made, step);
		else if (step->kind == STEP_PNET_ADD)
			r = state_add_pnet(s, &step->pnet);
		else if (step->kind == STEP_UEID_ADD)
			r = state_add_ueid(s, step->eid);
	}
	state_sort(s);
	return r;
}
