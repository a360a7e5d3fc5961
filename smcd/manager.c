/* SPDX-License-Identifier: GPL-2.0-or-later */
/* manager.c - loading and applying the policy, state.json, status. See manager.h. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manager.h"
#include "netns.h"

/* ---- state.json ---- */

static int state_path(const struct manager *m, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s/state.json", m->config.state_dir);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int manager_write_state(struct manager *m, const struct state *s, struct err *e)
{
	CLEANUP_TEXT struct text t = { 0 };
	char path[PATH_MAX];
	char *copy;
	int r;

	r = state_path(m, path, sizeof(path));
	if (r == 0)
		r = state_text(s, m->config.boot_id, &t);
	if (r < 0)
		return err_set(e, r, "write down what smcd changes: %s", strerror(-r));
	if (str_eq(text_str(&t), m->state_written))
		return 0;
	copy = strdup(text_str(&t));
	if (!copy)
		return err_set(e, -ENOMEM, "write %s: out of memory", path);
	r = write_whole_file(path, text_str(&t), t.len, 0600);
	if (r < 0) {
		free(copy);
		return err_set(e, r, "write %s: %s", path, strerror(-r));
	}
	free(m->state_written);
	m->state_written = copy;
	return 0;
}

void manager_take_state(struct manager *m, struct state *next)
{
	state_done(&m->state);
	m->state = *next;
	*next = (struct state){ 0 };
}

/* A damaged file is kept for a look at it; without it smcd cannot undo what an earlier run made. */
static void set_aside(const struct manager *m, const char *path, const struct err *why)
{
	char aside[PATH_MAX + sizeof(".damaged")];

	snprintf(aside, sizeof(aside), "%s.damaged", path);
	log_warning(m->config.log, "%s is of no use: %s; what an earlier run changed and overrode is not known%s%s",
		    path, why->text, rename(path, aside) == 0 ? "; it is kept as " : "", aside);
}

static int read_state(struct manager *m, struct err *e)
{
	CLEANUP_FREE char *text = NULL;
	char path[PATH_MAX];
	struct err why = { 0 };
	size_t len;
	int r;

	r = state_path(m, path, sizeof(path));
	if (r < 0)
		return err_set(e, r, "state directory: %s", strerror(-r));
	r = read_whole_file(path, STATE_FILE_MAX, &text, &len);
	if (r == 0)
		r = state_parse(text, len, m->config.boot_id, &m->state, &why);
	else
		err_set(&why, r, "%s", strerror(-r));
	if (r == 0) {
		m->state_written = strdup(text);
		return 0;
	}
	if (r == -ENOMEM)
		return err_set(e, r, "read %s: out of memory", path);
	if (r != -ENOENT && r != -ESTALE)
		set_aside(m, path, &why);
	r = state_init(&m->state);
	return r < 0 ? err_set(e, r, "out of memory") : 0;
}

/* ---- the kernel ---- */

uint64_t netns_id(const struct kernel *k)
{
	char path[sizeof(NETNS_DIR) + NETNS_NAME_MAX + 1];
	uint64_t cookie;
	struct stat st;

	if (!kernel_netns(k)[0])
		return 0;
	cookie = kernel_netns_cookie(k);
	if (cookie)
		return cookie;
	snprintf(path, sizeof(path), "%s/%s", NETNS_DIR, kernel_netns(k));
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

static int helper_open(const struct manager *m, struct netns_helper **ret, struct err *e)
{
	const char *path = m->config.netns_helper ?: NETNS_HELPER_SOCKET;
	struct stat st;

	*ret = NULL;
	if (!m->config.netns_helper && access(path, F_OK) < 0)
		return 0;
	if (stat(path, &st) < 0)
		return err_set(e, -errno, "namespace helper %s: %s", path, strerror(errno));
	return S_ISSOCK(st.st_mode) ? netns_helper_connect(path, ret, e) : netns_helper_spawn(path, ret, e);
}

int manager_kernel(struct manager *m, const char *netns, struct kernel **ret, struct kernel **ret_opened,
		   struct failure *f)
{
	struct netns_helper *helper = NULL;
	struct transport t;
	int r;

	*ret_opened = NULL;
	if (!netns || !netns[0]) {
		*ret = m->k;
		return 0;
	}
	f->kind = FAIL_PARAMETER;
	snprintf(f->name, sizeof(f->name), "netns");
	r = netns_name_check(netns, &f->e);
	if (r < 0)
		return r;
	f->kind = FAIL_KERNEL;
	r = helper_open(m, &helper, &f->e);
	if (r < 0)
		return r;
	r = transport_open(netns, helper, &t, &f->e);
	netns_helper_free(helper);
	if (r == -ENOENT) {
		f->kind = FAIL_NO_SUCH_NETNS;
		safe_str(f->name, sizeof(f->name), netns);
	}
	if (r < 0)
		return r;
	r = kernel_new(t, netns, ret_opened);
	if (r < 0)
		return err_set(&f->e, r, "open namespace '%s': %s", netns, strerror(-r));
	*ret = *ret_opened;
	return 0;
}

bool manager_offers(struct manager *m, const char *netns, const char *name)
{
	CLEANUP_KERNEL struct kernel *opened = NULL;
	CLEANUP_OFFERED struct offered o = { 0 };
	struct failure f = { 0 };
	struct kernel *k;

	return manager_kernel(m, netns, &k, &opened, &f) == 0 && kernel_knobs_offered(k, &o, NULL) == 0 &&
	       offered_find(&o, name);
}

int manager_look(struct manager *m, struct err *e)
{
	return kernel_probe(m->k, false, &m->features, e);
}

/* ---- policy ---- */

const struct policy_knob *manager_policy_knob(const struct manager *m, const struct policy *p, size_t knob)
{
	if (p == &m->policy && m->saved_since[knob])
		return &m->saved.knobs[knob];
	return &p->knobs[knob];
}

static void take_policy(struct manager *m, struct policy *p)
{
	policy_done(&m->policy);
	m->policy = *p;
	*p = (struct policy){ 0 };
	memset(m->saved_since, 0, n_knobs * sizeof(*m->saved_since));
}

static int problem_no_file(struct problems *p, const char *file)
{
	char **grown = reallocarray(p->text, p->n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->text = grown;
	if (asprintf(&grown[p->n], "%s: there is no such file", file) < 0)
		return -ENOMEM;
	p->n++;
	return 0;
}

static int load(struct manager *m, struct policy *ret)
{
	const struct policy_paths *paths = &m->config.paths;

	problems_done(&m->problems);
	if (m->config.main_file_required && access(paths->main_file, F_OK) < 0) {
		int r = problem_no_file(&m->problems, paths->main_file);

		return r < 0 ? r : -EINVAL;
	}
	return policy_load(paths, ret, &m->problems);
}

static void outcome_set(struct manager *m, enum policy_outcome outcome, const char *fmt, ...) PRINTF(3, 4);

static void outcome_set(struct manager *m, enum policy_outcome outcome, const char *fmt, ...)
{
	bool ok = outcome == POLICY_APPLIED || outcome == POLICY_NO_SMC;
	va_list ap;

	m->outcome = outcome;
	va_start(ap, fmt);
	vsnprintf(m->message, sizeof(m->message), fmt, ap);
	va_end(ap);
	log_to(m->config.log, ok ? LOG_INFO : LOG_ERR, ok ? LOG_ID_APPLIED : LOG_ID_FAILED, "%s", m->message);
}

static int outcome_invalid(struct manager *m, int r, struct failure *f)
{
	for (size_t i = 0; i < m->problems.n; i++)
		log_to(m->config.log, LOG_ERR, LOG_ID_FAILED, "%s", m->problems.text[i]);
	m->applies_failed++;
	if (r != -EINVAL || m->problems.n == 0) {
		f->kind = FAIL_KERNEL;
		outcome_set(m, POLICY_INVALID, "the policy cannot be read: %s; nothing is changed", strerror(-r));
		return err_set(&f->e, r, "%s", m->message);
	}
	f->kind = FAIL_POLICY_INVALID;
	outcome_set(m, POLICY_INVALID, "the policy is refused and nothing is changed: %zu problem%s, the first: %s",
		    m->problems.n + m->problems.n_more, m->problems.n + m->problems.n_more == 1 ? "" : "s",
		    m->problems.text[0]);
	return err_set(&f->e, -EINVAL, "%s", m->message);
}

static int outcome_failed(struct manager *m, int r, struct failure *f)
{
	m->applies_failed++;
	f->kind = FAIL_KERNEL;
	outcome_set(m, POLICY_FAILED, "the policy could not be applied: %s", f->e.text);
	return r;
}

/* A state that cannot be written does not keep a host from its policy: only a later undo would miss it. */
static void write_state_or_warn(struct manager *m, const struct state *s)
{
	struct err e = { 0 };

	if (manager_write_state(m, s, &e) < 0)
		log_warning(m->config.log, "%s; after a restart smcd will not know what it changed", e.text);
}

void manager_plan_failed(struct manager *m, const struct plan *p, const struct kernel *k)
{
	CLEANUP_STATE struct state kept = { 0 };

	if (plan_left_something(p)) {
		struct state_netns *ns = NULL;

		if (state_copy(&m->state, &kept) == 0)
			ns = state_get(&kept, kernel_netns(k), netns_id(k));
		if (!ns || plan_remember_left(p, &kept, ns) < 0) {
			/* What was written down ahead of the plan has more than that, and stays. */
			log_warning(m->config.log, "out of memory: what could not be taken back is forgotten");
			return;
		}
		manager_take_state(m, &kept);
	}
	write_state_or_warn(m, &m->state);
}

void manager_pnet_changed(const struct manager *m, const struct pnet_entry *own, size_t n)
{
	if (m->pnet_changed && n)
		m->pnet_changed(m->pnet_changed_ctx, own, n);
}

/* One at a time: events of many would not have room where they wait. */
static void after_step(void *ctx, const struct step *s)
{
	if (s->kind == STEP_PNET_ADD || s->kind == STEP_PNET_DELETE)
		manager_pnet_changed(ctx, &s->pnet, 1);
}

static void take_unsupported(struct manager *m, const struct build *b)
{
	CLEANUP_TEXT struct text t = { 0 };

	memcpy(m->unsupported, b->unsupported, sizeof(m->unsupported));
	m->n_unsupported = b->n_unsupported;
	for (size_t i = 0; i < m->n_unsupported; i++)
		text_add(&t, "%s%s", i ? ", " : "", m->unsupported[i]);
	if (m->n_unsupported)
		log_warning(m->config.log,
			    "this kernel does not support what the policy says about: %s; the rest is applied",
			    text_str(&t));
}

static int apply(struct manager *m, struct policy *p, size_t *ret_changes, struct err *e)
{
	CLEANUP_OBSERVED struct observed o = { 0 };
	CLEANUP_BUILD struct build b = { 0 };
	int r;

	r = observe(m->k, OBSERVE_ALL, &o, e);
	if (r == 0)
		r = build_plan(m, p, &o, &b, e);
	if (r < 0)
		return r;
	/* Written before it is done: whatever happens in between, a later run knows what it may have to undo. */
	write_state_or_warn(m, &b.next);
	b.plan.after_step = after_step;
	b.plan.after_step_ctx = m;
	r = plan_run(&b.plan, m->k, m->config.log, e);
	if (r < 0) {
		manager_plan_failed(m, &b.plan, m->k);
		return r;
	}
	build_finish(&b, p, &m->state);
	take_unsupported(m, &b);
	write_state_or_warn(m, &b.next);
	manager_take_state(m, &b.next);
	*ret_changes = b.plan.n;
	return 0;
}

/* Overrides count: without a policy too, smcd keeps them. */
size_t manager_n_settings(const struct manager *m)
{
	size_t n = m->policy.n_pnet + m->policy.n_ueid + (m->policy.seid.v.kind != VALUE_ABSENT);

	for (size_t i = 0; i < n_knobs; i++)
		n += manager_policy_knob(m, &m->policy, i)->v.kind != VALUE_ABSENT;
	return n;
}

static int held_for_want_of_smc(struct manager *m, struct policy *p)
{
	take_policy(m, p);
	m->n_unsupported = 0;
	outcome_set(
		m, POLICY_NO_SMC,
		"this kernel has no SMC: the module smc is not loaded, and asking for it did not load it; the policy "
		"(%zu settings) waits for a reload",
		manager_n_settings(m));
	return 0;
}

int manager_reload(struct manager *m, struct failure *f)
{
	CLEANUP_POLICY struct policy p = { 0 };
	struct failure own = { 0 };
	size_t changes = 0;
	int r;

	if (!f)
		f = &own;
	r = load(m, &p);
	if (r < 0)
		return outcome_invalid(m, r, f);
	r = kernel_probe(m->k, true, &m->features, &f->e);
	if (r < 0)
		return outcome_failed(m, r, f);
	if (!m->features.smc)
		return held_for_want_of_smc(m, &p);
	r = apply(m, &p, &changes, &f->e);
	if (r < 0)
		return outcome_failed(m, r, f);
	take_policy(m, &p);
	m->applies_ok++;
	m->generation++;
	m->last_apply_usec = m->config.now_usec();
	outcome_set(m, POLICY_APPLIED,
		    "policy applied: %zu settings of %zu files, %zu changes, %zu not supported by this kernel",
		    manager_n_settings(m), m->policy.n_files, changes, m->n_unsupported);
	return 0;
}

void manager_status(const struct manager *m, struct text *t)
{
	text_add(t, "%s", m->message);
}

/* ---- looking at it ---- */

void manager_knob_sources(const struct manager *m, struct kernel *k, struct knob_state *states)
{
	const char *netns = kernel_netns(k);
	const struct state_netns *ns = state_find(&m->state, netns);
	uint64_t id = netns_id(k);

	if (ns && ns->id && id && ns->id != id)
		ns = NULL; /* another namespace by now */
	for (size_t i = 0; i < n_knobs; i++) {
		if (!states[i].supported)
			continue;
		if (ns && ns->knobs[i].override.kind != VALUE_ABSENT &&
		    value_equal(states[i].value, held_value(&ns->knobs[i].override)))
			states[i].source = SOURCE_OVERRIDE;
		else if (!netns[0] && value_equal(states[i].value, manager_policy_knob(m, &m->policy, i)->v))
			states[i].source = SOURCE_POLICY;
	}
}

static bool is_unsupported(const struct manager *m, const char *name)
{
	for (size_t i = 0; i < m->n_unsupported; i++)
		if (str_eq(m->unsupported[i], name))
			return true;
	return false;
}

int manager_drift(struct manager *m, uint64_t *ret, struct err *e)
{
	CLEANUP_OBSERVED struct observed o = { 0 };
	CLEANUP_BUILD struct build b = { 0 };
	uint64_t n = 0;
	int r;

	if (!m->features.smc) {
		*ret = manager_n_settings(m);
		return 0;
	}
	r = observe(m->k, OBSERVE_ALL, &o, e);
	if (r == 0)
		r = build_plan(m, &m->policy, &o, &b, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < b.plan.n; i++)
		n += b.plan.v[i].kind != STEP_SEID || !is_unsupported(m, "seid");
	*ret = n;
	return 0;
}

struct settings_context {
	struct manager *m;
	const struct observed *o; /* NULL: no SMC */
	int (*each)(void *ctx, const struct setting *s);
	void *ctx;
};

static const char *state_of(const struct settings_context *c, bool supported, bool overridden, bool there)
{
	if (!c->o)
		return "waiting";
	if (!supported)
		return "unsupported";
	return overridden ? "overridden" : there ? "applied" : "differs";
}

static int setting_knob(const struct settings_context *c, size_t i)
{
	const struct policy_knob *pol = manager_policy_knob(c->m, &c->m->policy, i);
	const struct knob_record *rec = &c->m->state.netns[0].knobs[i];
	struct setting s = { .from = pol->from };
	CLEANUP_TEXT struct text t = { 0 };

	if (pol->v.kind == VALUE_ABSENT)
		return 0;
	snprintf(s.pointer, sizeof(s.pointer), "/knobs/%s", knobs[i].name);
	value_text(&knobs[i].spec, pol->v, &t);
	snprintf(s.value, sizeof(s.value), "%s", text_str(&t));
	s.state = state_of(c, c->o && c->o->knobs[i].supported, rec->override.kind != VALUE_ABSENT,
			   c->o && value_equal(c->o->knobs[i].value, pol->v));
	return c->each(c->ctx, &s);
}

static int settings_pnet(const struct settings_context *c)
{
	const struct policy *p = &c->m->policy;
	CLEANUP_FREE struct pnet_entry *there = NULL;
	size_t n = 0;
	int r = 0;

	if (c->o)
		r = observed_pnet(c->o, &there, &n, NULL);
	for (size_t i = 0; r == 0 && i < p->n_pnet; i++) {
		struct pnet_entry listed = pnet_entry_listed(&p->pnet[i].entry);
		struct setting s = { .from = p->pnet[i].from };
		int len;

		snprintf(s.pointer, sizeof(s.pointer), "/pnet/%zu", i);
		len = snprintf(s.value, sizeof(s.value), "%s %s", listed.id,
			       listed.rdma[0] ? listed.rdma : listed.interface);
		if (listed.port && len > 0 && (size_t)len < sizeof(s.value))
			snprintf(s.value + len, sizeof(s.value) - (size_t)len, " port %u", listed.port);
		s.state = state_of(c, c->o && c->o->has_pnet, false, pnet_entry_search(&listed, there, n));
		r = c->each(c->ctx, &s);
	}
	return r;
}

static int settings_eids(const struct settings_context *c)
{
	const struct policy *p = &c->m->policy;
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n_ueid; i++) {
		struct setting s = { .from = p->ueid[i].from };

		snprintf(s.pointer, sizeof(s.pointer), "/ueid/%zu", i);
		snprintf(s.value, sizeof(s.value), "%s", p->ueid[i].eid);
		s.state = state_of(c, c->o && c->o->has_ueid, false, c->o && observed_ueid(c->o, p->ueid[i].eid));
		r = c->each(c->ctx, &s);
	}
	if (r == 0 && p->seid.v.kind != VALUE_ABSENT) {
		struct setting s = { .pointer = "/seid", .from = p->seid.from };

		snprintf(s.value, sizeof(s.value), "%s", p->seid.v.u ? "on" : "off");
		s.state = state_of(c, !is_unsupported(c->m, "seid"), false, c->o && value_equal(c->o->seid, p->seid.v));
		r = c->each(c->ctx, &s);
	}
	return r;
}

int manager_settings(struct manager *m, int (*each)(void *ctx, const struct setting *s), void *ctx, struct err *e)
{
	CLEANUP_OBSERVED struct observed o = { 0 };
	struct settings_context c = { .m = m, .each = each, .ctx = ctx };
	int r = manager_look(m, e);

	if (r < 0)
		return r;
	if (m->features.smc) {
		r = observe(m->k, OBSERVE_ALL, &o, e);
		if (r < 0)
			return r;
		c.o = &o;
	}
	for (size_t i = 0; r == 0 && i < n_knobs; i++)
		r = setting_knob(&c, i);
	if (r == 0)
		r = settings_pnet(&c);
	if (r == 0)
		r = settings_eids(&c);
	return r < 0 ? err_set(e, r, "list the policy's settings: %s", strerror(-r)) : r;
}

/* ---- life ---- */

int manager_new(const struct manager_config *config, struct manager **ret, struct err *e)
{
	struct manager *m = calloc(1, sizeof(*m));
	struct transport t;
	int r;

	if (!m)
		return err_set(e, -ENOMEM, "out of memory");
	m->config = *config;
	snprintf(m->message, sizeof(m->message), "no policy was loaded yet");
	m->saved_since = calloc(n_knobs, sizeof(*m->saved_since));
	r = m->saved_since ? policy_init(&m->policy) : -ENOMEM;
	if (r == 0)
		r = policy_init(&m->saved);
	if (r < 0)
		err_set(e, r, "out of memory");
	if (r == 0)
		r = read_state(m, e);
	if (r == 0)
		r = transport_open(NULL, NULL, &t, e);
	if (r == 0) {
		r = kernel_new(t, "", &m->k);
		if (r < 0)
			err_set(e, r, "open the kernel: %s", strerror(-r));
	}
	if (r < 0) {
		manager_free(m);
		return r;
	}
	*ret = m;
	return 0;
}

struct manager *manager_free(struct manager *m)
{
	if (!m)
		return NULL;
	kernel_free(m->k);
	policy_done(&m->policy);
	policy_done(&m->saved);
	free(m->saved_since);
	state_done(&m->state);
	free(m->state_written);
	problems_done(&m->problems);
	free(m);
	return NULL;
}
