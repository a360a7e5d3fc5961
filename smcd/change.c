/* SPDX-License-Identifier: GPL-2.0-or-later */
/* change.c - what people change at run time: overrides of knobs, the pnet table, EIDs. See manager.h. */
#include <limits.h>
#include <unistd.h>

#include "manager.h"

static int fail(struct failure *f, enum fail_kind kind, const char *name, int code, const char *fmt, ...) PRINTF(5, 6);

static int fail(struct failure *f, enum fail_kind kind, const char *name, int code, const char *fmt, ...)
{
	va_list ap;

	f->kind = kind;
	safe_str(f->name, sizeof(f->name), name);
	f->e = (struct err){ .code = code };
	va_start(ap, fmt);
	vsnprintf(f->e.text, sizeof(f->e.text), fmt, ap);
	va_end(ap);
	return code;
}

static int fail_kernel(struct failure *f, int code)
{
	f->kind = FAIL_KERNEL;
	f->e.code = code;
	return code;
}

static int fail_memory(struct failure *f)
{
	return fail(f, FAIL_KERNEL, "", -ENOMEM, "out of memory");
}

static int fail_no_knob(struct failure *f, const char *name)
{
	const char *near = knob_suggest(name);
	char shown[4 * SHOWN_MAX + 4];

	fail(f, FAIL_NO_SUCH_KNOB, name, -ENOENT, "there is no knob '%s'", safe_str(shown, sizeof(shown), name));
	f->suggestion = near;
	return -ENOENT;
}

/* A kernel without the knob, or without SMC at all: that is another message. */
static int fail_unsupported(struct kernel *k, const struct knob *knob, struct failure *f)
{
	struct features have = { 0 };
	int r;

	r = kernel_probe(k, false, &have, &f->e);
	if (r < 0)
		return fail_kernel(f, r);
	if (!have.smc)
		return fail(f, FAIL_KERNEL, "", -ENOPROTOOPT,
			    "set '%s': this kernel has no SMC: the module smc is not loaded", knob->name);
	return fail(f, FAIL_UNSUPPORTED, knob->name, -EOPNOTSUPP,
		    "set '%s': this kernel does not support it (it came with Linux %s)", knob->name, knob->since);
}

/* ---- a change of knobs, being put together ---- */

struct change {
	struct manager *m;
	const char *netns;
	struct kernel *k, *opened;
	struct knob_state *now;
	struct offered offered; /* for knobs that the table does not know */
	struct state next;
	struct knob_record *rec; /* of next */
	struct plan plan;
	const struct saving *saving; /* NULL: none */
};

static void change_done(struct change *c)
{
	kernel_free(c->opened);
	free(c->now);
	offered_done(&c->offered);
	state_done(&c->next);
	plan_done(&c->plan);
}
#define CLEANUP_CHANGE CLEANUP(change_done)

static int change_begin(struct change *c, struct manager *m, const char *netns, struct failure *f)
{
	struct state_netns *ns;
	int r;

	c->m = m;
	c->netns = netns ?: "";
	r = manager_kernel(m, c->netns, &c->k, &c->opened, f);
	if (r < 0)
		return r;
	c->now = calloc(n_knobs, sizeof(*c->now));
	if (!c->now || state_copy(&m->state, &c->next) < 0)
		return fail_memory(f);
	ns = state_get(&c->next, c->netns, netns_id(c->k));
	if (!ns)
		return fail_memory(f);
	c->rec = ns->knobs;
	r = knob_states_read(c->k, c->now, &c->offered, &f->e);
	return r < 0 ? fail_kernel(f, r) : 0;
}

static int change_from(struct change *c, const struct knob *knob, struct value now, struct value to, const char *why,
		       struct failure *f)
{
	struct step *s;

	if (value_equal(now, to))
		return 0;
	s = plan_add(&c->plan, STEP_KNOB);
	if (!s)
		return fail_memory(f);
	s->knob = knob;
	s->from = held_copy(now);
	s->to = held_copy(to);
	if (c->netns[0])
		snprintf(s->why, sizeof(s->why), "%s in namespace '%s'", why, c->netns);
	else
		snprintf(s->why, sizeof(s->why), "%s", why);
	return 0;
}

static int change_knob(struct change *c, size_t i, struct value to, const char *why, struct failure *f)
{
	return change_from(c, &knobs[i], c->now[i].value, to, why, f);
}

/* Does the namespace's record say anything any more? */
static void drop_empty(struct change *c)
{
	struct state_netns *ns = state_find(&c->next, c->netns);

	if (!c->netns[0])
		return;
	for (size_t i = 0; i < n_knobs; i++)
		if (ns->knobs[i].before.kind != VALUE_ABSENT || ns->knobs[i].override.kind != VALUE_ABSENT)
			return;
	state_drop(&c->next, ns);
}

/* The one place where it is done: written down, then changed in the kernel. */
static int change_commit(struct change *c, struct failure *f)
{
	const struct logger *log = c->m->config.log;
	int r;

	r = manager_write_state(c->m, &c->next, &f->e);
	if (r < 0)
		return fail_kernel(f, r);
	r = plan_run(&c->plan, c->k, log, &f->e);
	if (r < 0) {
		manager_plan_failed(c->m, &c->plan, c->k);
		log_to(log, LOG_WARNING, LOG_ID_OVERRIDE, "refused: %s", f->e.text);
		return fail_kernel(f, r);
	}
	manager_take_state(c->m, &c->next);
	return 0;
}

/* ---- the saved policy ---- */

/*
 * The file is written before the kernel is changed, because then it is known what the policy says at the next boot, and
 * put back when something fails.
 */
struct saving {
	char path[PATH_MAX];
	struct value *values; /* n_knobs; absent: to be taken out */
	bool *touched;        /* n_knobs */
	bool written;
	char *old; /* the file from before; NULL: there was none */
	size_t old_len;
	struct policy layers; /* all of the policy, as it is with what is saved */
};

static void saving_done(struct saving *s)
{
	free(s->values);
	free(s->touched);
	free(s->old);
	policy_done(&s->layers);
}
#define CLEANUP_SAVING CLEANUP(saving_done)

static int saving_init(struct saving *s, struct failure *f)
{
	s->values = calloc(n_knobs, sizeof(*s->values));
	s->touched = calloc(n_knobs, sizeof(*s->touched));
	return s->values && s->touched ? 0 : fail_memory(f);
}

static int may_save(const struct manager *m, const char *netns, struct saving *s, struct failure *f)
{
	const char *dir = m->config.paths.etc_dir;
	int n;

	if (netns && netns[0])
		return fail(f, FAIL_UNSUPPORTED, "save", -EOPNOTSUPP,
			    "save: policies are about smcd's own namespace, not about other ones");
	if (!dir)
		return fail(f, FAIL_UNSUPPORTED, "save", -EOPNOTSUPP,
			    "save: smcd was started without a policy directory");
	n = snprintf(s->path, sizeof(s->path), "%s/%s", dir, POLICY_SAVED_NAME);
	if (n < 0 || (size_t)n >= sizeof(s->path))
		return fail(f, FAIL_KERNEL, "", -ENAMETOOLONG, "save: %s", strerror(ENAMETOOLONG));
	return 0;
}

static int fail_save(struct failure *f, int r, const struct problems *problems)
{
	if (problems->n)
		return fail(f, FAIL_KERNEL, "", r, "save: %s", problems->text[0]);
	return fail(f, FAIL_KERNEL, "", r, "save: %s", f->e.text[0] ? f->e.text : strerror(-r));
}

static void saving_put_back(const struct manager *m, struct saving *s)
{
	CLEANUP_FREE char *target = realpath(s->path, NULL); /* a link stays one */
	int r;

	if (s->old)
		r = write_whole_file(target ?: s->path, s->old, s->old_len, 0644);
	else
		r = unlink(s->path) < 0 ? -errno : 0;
	if (r < 0)
		log_error(m->config.log, "%s could not be put back and keeps what was saved: %s", s->path,
			  strerror(-r));
	s->written = false;
}

/* A file that is read later and names the knob too would have the last word at the next boot. */
static int check_outranked(const struct saving *s, struct failure *f)
{
	for (size_t i = 0; i < n_knobs; i++) {
		const struct origin *from = &s->layers.knobs[i].from;

		if (!s->touched[i] || s->values[i].kind == VALUE_ABSENT || str_eq(from->file, s->path))
			continue;
		return fail(
			f, FAIL_UNSUPPORTED, "save", -EOPNOTSUPP,
			"save '%s': %s:%u is read after %s and has the last word at the next boot; nothing is changed",
			knobs[i].name, from->file, from->at.line, s->path);
	}
	return 0;
}

static int saving_write(const struct manager *m, struct saving *s, struct failure *f)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	int r = read_whole_file(s->path, JSON_TEXT_MAX, &s->old, &s->old_len);

	if (r == 0 || r == -ENOENT)
		r = policy_save_knobs(s->path, s->values, s->touched, &problems, &f->e);
	if (r < 0)
		return fail_save(f, r, &problems);
	s->written = true;
	r = policy_load(&m->config.paths, &s->layers, &problems);
	r = r < 0 ? fail_save(f, r, &problems) : check_outranked(s, f);
	if (r < 0)
		saving_put_back(m, s);
	return r;
}

/* r: what became of the change of the kernel. */
static int saving_end(struct manager *m, struct saving *s, int r)
{
	if (s->written && r < 0) {
		saving_put_back(m, s);
	} else if (s->written) {
		policy_done(&m->saved);
		m->saved = s->layers;
		s->layers = (struct policy){ 0 };
		for (size_t i = 0; i < n_knobs; i++)
			m->saved_since[i] |= s->touched[i];
	}
	return r;
}

/* Take knobs out that are in the saved policy: those that are named, or all. */
static int saving_remove(const struct manager *m, struct saving *s, const bool *named, bool all, struct failure *f)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy saved = { 0 };
	bool any = false;
	int r = policy_init(&saved);

	if (r == 0 && access(s->path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (r == 0)
		r = policy_add_file(&saved, s->path, &problems);
	if (r < 0)
		return fail_save(f, r, &problems);
	for (size_t i = 0; i < n_knobs; i++) {
		s->touched[i] = saved.knobs[i].v.kind != VALUE_ABSENT && (all || named[i]);
		any |= s->touched[i];
	}
	return any ? saving_write(m, s, f) : 0;
}

/* ---- set ---- */

static int fail_range(struct failure *f, const struct knob *knob, const struct value_spec *spec, int r,
		      const struct err *why)
{
	CLEANUP_TEXT struct text allowed = { 0 };

	fail(f, FAIL_OUT_OF_RANGE, knob->name, r, "set '%s': %s", knob->name, why->text);
	value_allowed(spec, &allowed);
	snprintf(f->allowed, sizeof(f->allowed), "%s", text_str(&allowed));
	return r;
}

static int parse_assignment(const struct knob *knob, const char *value, struct value *ret, struct failure *f)
{
	struct err why = { 0 };
	int r = value_parse(&knob->spec, value, ret, &why);

	return r < 0 ? fail_range(f, knob, &knob->spec, r, &why) : 0;
}

/* The range of this very kernel, where it tells, can be narrower than the table's. */
static int check_here(const struct knob *knob, const struct knob_state *here, struct value v, struct failure *f)
{
	struct value_spec spec = knob->spec;
	struct err why = { 0 };
	int r;

	if (!value_has_range(spec.type))
		return 0;
	spec.min = here->min;
	spec.max = here->max;
	r = value_check(&spec, v, &why);
	return r < 0 ? fail_range(f, knob, &spec, r, &why) : 0;
}

static int set_one(struct change *c, const struct knob *knob, struct value to, bool save, struct failure *f)
{
	size_t i = knob_index(knob);
	struct knob_record *rec = &c->rec[i];
	int r;

	if (!c->now[i].supported)
		return fail_unsupported(c->k, knob, f);
	r = check_here(knob, &c->now[i], to, f);
	if (r < 0)
		return r;
	r = change_knob(c, i, to, save ? "override, saved" : "override", f);
	if (r < 0)
		return r;
	if (rec->before.kind == VALUE_ABSENT)
		rec->before = held_copy(c->now[i].value);
	rec->made = rec->override = held_copy(to);
	rec->saved = save;
	return 0;
}

/* A knob that only the kernel describes. */
static int set_unknown(struct change *c, const struct assignment *a, bool save, struct failure *f)
{
	const struct offered_knob *k = offered_find(&c->offered, a->name);
	struct value to = { 0 };
	int r;

	if (!k)
		return fail_no_knob(f, a->name);
	if (save)
		return fail(f, FAIL_UNSUPPORTED, "save", -EOPNOTSUPP,
			    "save '%s': it is newer than this smcd, whose policies do not know it", k->knob.name);
	r = parse_assignment(&k->knob, a->text, &to, f);
	return r < 0 ? r : change_from(c, &k->knob, k->value, to, "request", f);
}

int manager_set_knobs(struct manager *m, const char *netns, const struct assignment *a, size_t n, bool save,
		      struct failure *f)
{
	CLEANUP_SAVING struct saving s = { 0 };
	CLEANUP_CHANGE struct change c = { 0 };
	int r = saving_init(&s, f);

	if (r < 0)
		return r;
	/* Everything is looked at before anything is touched. */
	for (size_t i = 0; i < n; i++) {
		const struct knob *knob = knob_find(a[i].name);
		struct value v = { 0 };

		if (!knob)
			continue; /* the kernel may know it */
		r = parse_assignment(knob, a[i].text, &v, f);
		if (r < 0)
			return r;
		s.values[knob_index(knob)] = v;
		s.touched[knob_index(knob)] = true;
	}
	if (save) {
		r = may_save(m, netns, &s, f);
		if (r < 0)
			return r;
	}
	r = change_begin(&c, m, netns, f);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (!knob_find(a[i].name))
			r = set_unknown(&c, &a[i], save, f);
	for (size_t i = 0; r == 0 && i < n_knobs; i++)
		if (s.touched[i])
			r = set_one(&c, &knobs[i], s.values[i], save, f);
	if (r == 0 && save)
		r = saving_write(m, &s, f);
	if (r == 0) {
		drop_empty(&c);
		r = change_commit(&c, f);
	}
	return saving_end(m, &s, r);
}

/* ---- reset ---- */

static struct value policy_value(const struct change *c, size_t i)
{
	if (c->netns[0])
		return (struct value){ 0 };
	if (c->saving && c->saving->written && c->saving->touched[i])
		return c->saving->layers.knobs[i].v;
	return manager_policy_knob(c->m, &c->m->policy, i)->v;
}

/* Back to the policy's value, else the one before smcd, else the kernel's default; absent: nothing is known to go back
 * to. */
static struct value reset_target(const struct change *c, size_t i, bool named)
{
	struct value pol = policy_value(c, i);

	if (pol.kind != VALUE_ABSENT)
		return pol;
	if (c->rec[i].before.kind != VALUE_ABSENT)
		return held_value(&c->rec[i].before);
	/* "All" is all that smcd has to do with: what others set stays. */
	return named ? c->now[i].def : (struct value){ 0 };
}

static int reset_one(struct change *c, size_t i, bool to_default, bool named, struct failure *f)
{
	struct value pol = policy_value(c, i), to = to_default ? c->now[i].def : reset_target(c, i, named);
	struct held target = held_copy(to), now = held_copy(c->now[i].value);
	struct value under = pol.kind != VALUE_ABSENT ? pol : held_value(&c->rec[i].before);
	bool keep = to_default && under.kind != VALUE_ABSENT && !value_equal(under, to);
	struct knob_record rec = { 0 };
	int r;

	if (!c->now[i].supported) {
		c->rec[i] = (struct knob_record){ 0 };
		return named ? fail_unsupported(c->k, &knobs[i], f) : 0;
	}
	if (to.kind == VALUE_ABSENT && named)
		return fail(f, FAIL_UNSUPPORTED, knobs[i].name, -EOPNOTSUPP,
			    "reset '%s': nothing is known to go back to: its default differs from kernel to kernel",
			    knobs[i].name);
	if (to.kind == VALUE_ABSENT)
		return 0;
	r = change_knob(c, i, held_value(&target), to_default ? "reset to the kernel's default" : "reset", f);
	if (r < 0)
		return r;
	/* Without an override and without a policy there is nothing left that smcd would have to undo. */
	if (keep || pol.kind != VALUE_ABSENT) {
		rec.before = c->rec[i].before.kind != VALUE_ABSENT ? c->rec[i].before : now;
		rec.made = target;
	}
	if (keep)
		rec.override = target;
	c->rec[i] = rec;
	return 0;
}

/* A knob that only the kernel describes: to its default, which is all that is known. */
static int reset_unknown(struct change *c, const char *name, struct failure *f)
{
	const struct offered_knob *k = offered_find(&c->offered, name);

	if (!k)
		return fail_no_knob(f, name);
	return change_from(c, &k->knob, k->value, k->knob.def, "reset to the kernel's default", f);
}

int manager_reset_knobs(struct manager *m, const char *netns, const char *const *names, size_t n, bool to_default,
			bool save, struct failure *f)
{
	CLEANUP_FREE bool *named = calloc(n_knobs, sizeof(*named));
	CLEANUP_SAVING struct saving s = { 0 };
	CLEANUP_CHANGE struct change c = { .saving = &s };
	int r = saving_init(&s, f);

	if (r < 0 || !named)
		return fail_memory(f);
	for (size_t i = 0; i < n; i++) {
		const struct knob *knob = knob_find(names[i]);

		if (knob)
			named[knob_index(knob)] = true;
	}
	if (save)
		r = may_save(m, netns, &s, f);
	if (r == 0)
		r = change_begin(&c, m, netns, f);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (!knob_find(names[i]))
			r = reset_unknown(&c, names[i], f);
	if (r == 0 && save)
		r = saving_remove(m, &s, named, n == 0, f);
	for (size_t i = 0; r == 0 && i < n_knobs; i++)
		if (n == 0 || named[i])
			r = reset_one(&c, i, to_default, named[i], f);
	if (r == 0) {
		drop_empty(&c);
		r = change_commit(&c, f);
	}
	return saving_end(m, &s, r);
}

/* ---- pnet ---- */

#define PNET_ALLOWED                                                                                                   \
	"an id of 1 to 16 letters and digits, an interface of 1 to 15 or an RDMA device of 1 to 63 characters, port 1 or 2"

static int fail_pnet(struct failure *f, int code)
{
	f->kind = FAIL_OUT_OF_RANGE;
	snprintf(f->name, sizeof(f->name), "pnet");
	snprintf(f->allowed, sizeof(f->allowed), "%s", PNET_ALLOWED);
	return code;
}

/* What smcd made and somebody took away is not smcd's any more. A failure to write it down is harmless here. */
static void forget_and_write(struct manager *m)
{
	struct err e = { 0 };

	if (manager_write_state(m, &m->state, &e) < 0)
		log_warning(m->config.log, "%s", e.text);
}

int manager_add_pnet(struct manager *m, const char *netns, struct pnet_entry *p, struct failure *f)
{
	CLEANUP_KERNEL struct kernel *opened = NULL;
	struct kernel *k;
	int r;

	r = pnet_entry_check(p, &f->e);
	if (r == 0 && !p->interface[0] && !p->rdma[0])
		r = err_set(&f->e, -EINVAL, "add pnet entry '%s': an interface or an RDMA device is needed", p->id);
	if (r < 0)
		return fail_pnet(f, r);
	r = manager_kernel(m, netns, &k, &opened, f);
	if (r < 0)
		return r;
	r = kernel_pnet_add(k, p, &f->e);
	if (!opened)
		manager_pnet_changed(m, p, 1);
	if (r < 0)
		return fail_kernel(f, r);
	log_info(m->config.log, "added pnet entry '%s'%s%s%s%s [request]", p->id, p->interface[0] ? " interface " : "",
		 p->interface, p->rdma[0] ? " rdma " : "", p->rdma);
	return 0;
}

int manager_delete_pnet(struct manager *m, const char *netns, struct pnet_entry *p, struct failure *f)
{
	CLEANUP_KERNEL struct kernel *opened = NULL;
	struct kernel *k;
	int r;

	r = pnet_entry_check(p, &f->e);
	if (r < 0)
		return fail_pnet(f, r);
	r = manager_kernel(m, netns, &k, &opened, f);
	if (r < 0)
		return r;
	r = kernel_pnet_delete(k, p, &f->e);
	if (!opened)
		manager_pnet_changed(m, p, 1);
	if (r < 0)
		return fail_kernel(f, r);
	log_info(m->config.log, "deleted pnet entry '%s'%s%s%s%s [request]", p->id,
		 p->interface[0] ? " interface " : "", p->interface, p->rdma[0] ? " rdma " : "", p->rdma);
	if (!opened) {
		state_drop_pnet(&m->state, p);
		forget_and_write(m);
	}
	return 0;
}

int manager_flush_pnet(struct manager *m, const char *netns, struct failure *f)
{
	static const struct pnet_entry any = { 0 };
	CLEANUP_KERNEL struct kernel *opened = NULL;
	struct kernel *k;
	int r;

	r = manager_kernel(m, netns, &k, &opened, f);
	if (r < 0)
		return r;
	r = kernel_pnet_flush(k, &f->e);
	if (!opened)
		manager_pnet_changed(m, &any, 1);
	if (r < 0)
		return fail_kernel(f, r);
	log_info(m->config.log, "deleted all pnet entries [request]");
	if (!opened) {
		state_drop_pnet(&m->state, &any);
		forget_and_write(m);
	}
	return 0;
}

int manager_replace_pnet(struct manager *m, const char *netns, const struct pnet_entry *entries, size_t n,
			 struct failure *f)
{
	static const struct pnet_entry any = { 0 };
	CLEANUP_KERNEL struct kernel *opened = NULL;
	struct kernel *k;
	int r;

	for (size_t i = 0; i < n; i++) {
		struct pnet_entry p = entries[i];

		r = pnet_entry_check(&p, &f->e);
		if (r == 0 && !p.interface[0] == !p.rdma[0])
			r = err_set(&f->e, -EINVAL, "pnet entry '%s' has to have either an interface or an RDMA device",
				    p.id);
		if (r < 0)
			return fail_pnet(f, r);
	}
	r = manager_kernel(m, netns, &k, &opened, f);
	if (r < 0)
		return r;
	r = kernel_pnet_replace(k, entries, n, &f->e);
	if (!opened)
		manager_pnet_changed(m, &any, 1);
	if (r == -EOPNOTSUPP) {
		f->kind = FAIL_UNSUPPORTED;
		snprintf(f->name, sizeof(f->name), "smc_tune");
		return r;
	}
	if (r < 0)
		return fail_kernel(f, r);
	log_info(m->config.log, "replaced the pnet table by %zu entries [request]", n);
	if (!opened) {
		state_drop_pnet(&m->state, &any);
		forget_and_write(m);
	}
	return 0;
}

/* ---- EIDs ---- */

static int check_ueid(const char *eid, struct failure *f)
{
	int r = ueid_check(eid, &f->e);

	if (r < 0) {
		f->kind = FAIL_OUT_OF_RANGE;
		snprintf(f->name, sizeof(f->name), "eid");
		snprintf(f->allowed, sizeof(f->allowed), "1 to %d of A-Z 0-9 . -, the first a letter or digit",
			 UEID_LEN_MAX);
	}
	return r;
}

int manager_add_ueid(struct manager *m, const char *eid, struct failure *f)
{
	int r;

	r = check_ueid(eid, f);
	if (r < 0)
		return r;
	r = kernel_ueid_add(m->k, eid, &f->e);
	if (r < 0)
		return fail_kernel(f, r);
	log_info(m->config.log, "added UEID '%s' [request]", eid);
	return 0;
}

int manager_delete_ueid(struct manager *m, const char *eid, struct failure *f)
{
	int r;

	r = check_ueid(eid, f);
	if (r < 0)
		return r;
	r = kernel_ueid_delete(m->k, eid, &f->e);
	if (r < 0)
		return fail_kernel(f, r);
	log_info(m->config.log, "deleted UEID '%s' [request]", eid);
	state_drop_ueid(&m->state, eid);
	forget_and_write(m);
	return 0;
}

int manager_flush_ueid(struct manager *m, struct failure *f)
{
	int r;

	r = kernel_ueid_flush(m->k, &f->e);
	if (r < 0)
		return fail_kernel(f, r);
	log_info(m->config.log, "deleted all UEIDs [request]");
	state_drop_ueid(&m->state, NULL);
	forget_and_write(m);
	return 0;
}

int manager_set_seid(struct manager *m, bool on, struct failure *f)
{
	int r;

	r = kernel_seid_set(m->k, on, &f->e);
	if (r == -EOPNOTSUPP) {
		f->kind = FAIL_UNSUPPORTED;
		snprintf(f->name, sizeof(f->name), "seid");
		return r;
	}
	if (r < 0)
		return fail_kernel(f, r);
	log_info(m->config.log, "turned the SEID %s [request]", on ? "on" : "off");
	return 0;
}
