/* SPDX-License-Identifier: GPL-2.0-or-later */
/* api.c - see api.h. */
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "readers.h"

/* One call under way. */
struct request {
	struct api *api;
	struct connection *c;
	enum method_id id;
	const struct noun *noun;
	struct json_object *params; /* may be NULL */
	struct failure f;
};

/* ---- JSON ---- */

static void add(struct json_object *o, const char *key, struct json_object *v)
{
	json_object_object_add(o, key, v);
}

static struct json_object *str(const char *s)
{
	return json_object_new_string(s);
}

/* null counts as not given. */
static struct json_object *param(const struct request *q, const char *name)
{
	return q->params ? json_object_object_get(q->params, name) : NULL;
}

static const char *param_str(const struct request *q, const char *name)
{
	struct json_object *v = param(q, name);

	return v ? json_object_get_string(v) : NULL;
}

static bool param_bool(const struct request *q, const char *name)
{
	struct json_object *v = param(q, name);

	return v && json_object_get_boolean(v);
}

/* ---- parameters against the table ---- */

static bool all_members(struct json_object *o, const char *type);

/* type as varlink writes it: "?string", "[]string", "[string]string", ... */
static bool is_of_type(struct json_object *v, const char *type)
{
	if (*type == '?')
		return !v || is_of_type(v, type + 1);
	if (strncmp(type, "[string]", 8) == 0)
		return json_object_is_type(v, json_type_object) && all_members(v, type + 8);
	if (strncmp(type, "[]", 2) == 0) {
		if (!json_object_is_type(v, json_type_array))
			return false;
		for (size_t i = 0; i < json_object_array_length(v); i++)
			if (!is_of_type(json_object_array_get_idx(v, i), type + 2))
				return false;
		return true;
	}
	/* A type of the interface: its members are looked at where they are used. */
	if (*type >= 'A' && *type <= 'Z')
		return json_object_is_type(v, json_type_object);
	if (str_eq(type, "string"))
		return json_object_is_type(v, json_type_string);
	if (str_eq(type, "bool"))
		return json_object_is_type(v, json_type_boolean);
	return str_eq(type, "int") && json_object_is_type(v, json_type_int);
}

static bool all_members(struct json_object *o, const char *type)
{
	json_object_object_foreach(o, key, v)
	{
		(void)key;
		if (!is_of_type(v, type))
			return false;
	}
	return true;
}

static const struct param *find_param(const struct method *m, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(m->in) && m->in[i].name; i++)
		if (str_eq(m->in[i].name, name))
			return &m->in[i];
	return NULL;
}

const char *api_check_params(const struct method *m, struct json_object *params)
{
	if (params) {
		json_object_object_foreach(params, key, v)
		{
			(void)v;
			if (!find_param(m, key))
				return key;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(m->in) && m->in[i].name; i++)
		if (!is_of_type(params ? json_object_object_get(params, m->in[i].name) : NULL, m->in[i].type))
			return m->in[i].name;
	return NULL;
}

/* ---- errors ---- */

static struct json_object *problems_json(const struct problems *p)
{
	struct json_object *a = json_object_new_array();

	for (size_t i = 0; i < p->n; i++)
		json_object_array_add(a, str(p->text[i]));
	if (p->n_more) {
		CLEANUP_TEXT struct text t = { 0 };

		text_add(&t, "and %zu more", p->n_more);
		json_object_array_add(a, str(text_str(&t)));
	}
	return a;
}

static int answer_failure(struct request *q)
{
	static const char *const names[] = {
		[FAIL_KERNEL] = ERROR_KERNEL,
		[FAIL_NO_SUCH_KNOB] = ERROR_NO_SUCH_KNOB,
		[FAIL_OUT_OF_RANGE] = ERROR_OUT_OF_RANGE,
		[FAIL_UNSUPPORTED] = ERROR_UNSUPPORTED,
		[FAIL_NO_SUCH_NETNS] = ERROR_NO_SUCH_NETNS,
		[FAIL_POLICY_INVALID] = ERROR_POLICY_INVALID,
	};
	const struct failure *f = &q->f;
	struct json_object *o;

	if (f->kind == FAIL_PARAMETER)
		return connection_error_parameter(q->c, f->name);
	o = json_object_new_object();
	switch (f->kind) {
	case FAIL_NO_SUCH_KNOB:
		add(o, "name", str(f->name));
		add(o, "suggestion", f->suggestion ? str(f->suggestion) : NULL);
		break;
	case FAIL_OUT_OF_RANGE:
		add(o, "name", str(f->name));
		add(o, "allowed", str(f->allowed));
		add(o, "message", str(f->e.text));
		break;
	case FAIL_UNSUPPORTED:
		add(o, "name", str(f->name));
		add(o, "message", str(f->e.text));
		break;
	case FAIL_NO_SUCH_NETNS:
		add(o, "netns", str(f->name));
		add(o, "message", str(f->e.text));
		break;
	case FAIL_POLICY_INVALID:
		add(o, "problems", problems_json(&q->api->manager->problems));
		break;
	default:
		add(o, "errno", json_object_new_int(-f->e.code));
		add(o, "errno_name", str(errno_name(f->e.code)));
		add(o, "message", str(f->e.text));
		add(o, "extended_ack", f->e.ext[0] ? str(f->e.ext) : NULL);
		break;
	}
	return connection_error(q->c, names[f->kind], o);
}

/* ---- read methods ---- */

/* Where the drift cannot be told now, the rest is. */
static struct policy_metrics policy_metrics(struct manager *m)
{
	struct policy_metrics p = {
		.last_ok = m->outcome == POLICY_APPLIED,
		.last_ok_timestamp = (double)m->last_apply_usec / 1e6,
		.generation = m->generation,
		.applies_ok = m->applies_ok,
		.applies_failed = m->applies_failed,
	};
	struct err e = { 0 };

	if (manager_look(m, &e) < 0 || manager_drift(m, &p.drift, &e) < 0) {
		log_warning(m->config.log, "metrics: the drift is not known: %s", e.text);
		p.drift_unknown = true;
	}
	return p;
}

static void add_sources(void *arg, struct kernel *k, struct knob_state *states)
{
	manager_knob_sources(arg, k, states);
}

/* The method reads through k; what smcd knows besides is put in here. */
static int read_with_context(struct request *q, struct kernel *k, struct json_object **ret)
{
	struct manager *m = q->api->manager;
	struct read_context ctx = { .add_sources = add_sources, .arg = m };
	struct policy_metrics of_policy;

	if (q->id == METHOD_GET_METRICS && k == m->k) {
		of_policy = policy_metrics(m);
		ctx.policy = &of_policy;
	}
	return read_method(k, q->id, q->noun, q->params, &ctx, ret, &q->f.e);
}

static int read_from_kernel(struct request *q, struct json_object **ret)
{
	CLEANUP_KERNEL struct kernel *opened = NULL;
	struct kernel *k;
	int r;

	r = manager_kernel(q->api->manager, param_str(q, "netns"), &k, &opened, &q->f);
	if (r < 0)
		return r;
	return read_with_context(q, k, ret);
}

/* Names come before the kernel, and have an error of their own. */
static int call_list_knobs(struct request *q, struct json_object **ret)
{
	struct json_object *names = param(q, "names");

	for (size_t i = 0; names && i < json_object_array_length(names); i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(names, i));

		if (knob_find(name) || manager_offers(q->api->manager, param_str(q, "netns"), name))
			continue;
		q->f.kind = FAIL_NO_SUCH_KNOB;
		q->f.suggestion = knob_suggest(name);
		safe_str(q->f.name, sizeof(q->f.name), name);
		return -ENOENT;
	}
	return read_from_kernel(q, ret);
}

static int call_explain(struct request *q, struct json_object **ret)
{
	static const struct read_context ctx = { 0 };
	int r = read_method(NULL, q->id, NULL, q->params, &ctx, ret, &q->f.e);

	if (r < 0) {
		q->f.kind = FAIL_OUT_OF_RANGE;
		snprintf(q->f.name, sizeof(q->f.name), "code");
		snprintf(q->f.allowed, sizeof(q->f.allowed), "eight hexadecimal digits, or a name such as NOSMCDEV");
	}
	return r;
}

static struct json_object *overrides_json(const struct manager *m)
{
	struct json_object *a = json_object_new_array();

	for (size_t n = 0; n < m->state.n_netns; n++)
		for (size_t i = 0; i < n_knobs; i++) {
			const struct knob_record *rec = &m->state.netns[n].knobs[i];
			CLEANUP_TEXT struct text value = { 0 };
			struct json_object *o;

			if (rec->override.kind == VALUE_ABSENT)
				continue;
			o = json_object_new_object();
			value_text(&knobs[i].spec, held_value(&rec->override), &value);
			add(o, "netns", str(m->state.netns[n].name));
			add(o, "name", str(knobs[i].name));
			add(o, "value", str(text_str(&value)));
			add(o, "saved", json_object_new_boolean(rec->saved));
			json_object_array_add(a, o);
		}
	return a;
}

static struct json_object *time_json(uint64_t usec)
{
	time_t t = (time_t)(usec / 1000000);
	char buf[32];
	struct tm tm;

	if (!usec || !gmtime_r(&t, &tm) || !strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	return str(buf);
}

static struct json_object *files_json(const struct policy *p)
{
	struct json_object *a = json_object_new_array();

	for (size_t i = 0; i < p->n_files; i++)
		json_object_array_add(a, str(p->files[i]));
	return a;
}

static struct json_object *policy_json(const struct manager *m)
{
	struct json_object *o = json_object_new_object(), *unsupported = json_object_new_array();

	for (size_t i = 0; i < m->n_unsupported; i++)
		json_object_array_add(unsupported, str(m->unsupported[i]));
	add(o, "files", files_json(&m->policy));
	add(o, "ok", json_object_new_boolean(m->outcome == POLICY_APPLIED));
	add(o, "message", str(m->message));
	add(o, "problems", problems_json(&m->problems));
	add(o, "generation", json_object_new_uint64(m->generation));
	add(o, "settings", json_object_new_uint64(manager_n_settings(m)));
	add(o, "unsupported", unsupported);
	add(o, "overrides", overrides_json(m));
	add(o, "last_apply", time_json(m->last_apply_usec));
	return o;
}

/* What the kernel has; null where that could not be told, and the message says why. */
static struct json_object *kernel_json(struct manager *m)
{
	struct json_object *o = json_object_new_object();
	struct err e = { 0 };
	bool known = manager_look(m, &e) == 0;

	add(o, "smc", known ? json_object_new_boolean(m->features.smc) : NULL);
	add(o, "pnetid", known ? json_object_new_boolean(m->features.pnetid) : NULL);
	add(o, "sysctl", known && !m->features.tune ? json_object_new_boolean(m->features.sysctl) : NULL);
	add(o, "tune", known ? json_object_new_boolean(m->features.tune) : NULL);
	if (known) /* what was tried again on the way does not count */
		err_set(&e, 0, m->features.smc ? "" : "this kernel has no SMC: the module smc is not loaded");
	add(o, "message", str(e.text));
	return o;
}

static int call_status(struct request *q, struct json_object **ret)
{
	struct manager *m = q->api->manager;
	struct json_object *o = json_object_new_object(), *kernel = kernel_json(m);

	add(o, "version", str(SMCD_VERSION));
	add(o, "netns", str(kernel_netns(m->k)));
	add(o, "kernel", kernel);
	add(o, "policy", policy_json(m));
	*ret = json_object_new_object();
	add(*ret, "status", o);
	return 0;
}

static int add_setting(void *ctx, const struct setting *s)
{
	struct json_object *o = json_object_new_object();

	add(o, "netns", str(""));
	add(o, "pointer", str(s->pointer));
	add(o, "value", str(s->value));
	add(o, "file", str(s->from.file));
	add(o, "line", json_object_new_int64(s->from.at.line));
	add(o, "column", json_object_new_int64(s->from.at.column));
	add(o, "state", str(s->state));
	return json_object_array_add(ctx, o) < 0 ? -ENOMEM : 0;
}

static int call_policy(struct request *q, struct json_object **ret)
{
	struct json_object *o, *settings = json_object_new_array();
	int r;

	r = manager_settings(q->api->manager, add_setting, settings, &q->f.e);
	if (r < 0) {
		json_object_put(settings);
		return r;
	}
	o = json_object_new_object();
	add(o, "files", files_json(&q->api->manager->policy));
	add(o, "settings", settings);
	*ret = o;
	return 0;
}

/* ---- write methods ---- */

static int reply_knobs(struct request *q, const char *const *names, size_t n, struct json_object **ret)
{
	struct json_object *read = json_object_new_object(), *array = json_object_new_array(), *given = q->params;
	const char *netns = param_str(q, "netns");
	int r;

	for (size_t i = 0; i < n; i++)
		json_object_array_add(array, str(names[i]));
	add(read, "names", array);
	if (netns)
		add(read, "netns", str(netns));
	q->params = read;
	q->id = METHOD_LIST_KNOBS;
	r = read_from_kernel(q, ret);
	q->params = given;
	json_object_put(read);
	return r;
}

static int call_set(struct request *q, struct json_object **ret)
{
	struct json_object *values = param(q, "values");
	size_t n = (size_t)json_object_object_length(values), i = 0;
	CLEANUP_FREE struct assignment *a = calloc(n ?: 1, sizeof(*a));
	CLEANUP_FREE const char **names = calloc(n ?: 1, sizeof(*names));
	int r;

	if (!a || !names)
		return err_set(&q->f.e, -ENOMEM, "out of memory");
	if (n == 0) {
		q->f.kind = FAIL_PARAMETER;
		snprintf(q->f.name, sizeof(q->f.name), "values");
		return -EINVAL;
	}
	json_object_object_foreach(values, key, v)
	{
		a[i] = (struct assignment){ .name = key, .text = json_object_get_string(v) };
		names[i++] = key;
	}
	r = manager_set_knobs(q->api->manager, param_str(q, "netns"), a, n, param_bool(q, "save"), &q->f);
	return r < 0 ? r : reply_knobs(q, names, n, ret);
}

static int call_reset(struct request *q, struct json_object **ret)
{
	struct json_object *list = param(q, "names");
	size_t n = json_object_array_length(list);
	CLEANUP_FREE const char **names = calloc(n ?: 1, sizeof(*names));
	int r;

	if (!names)
		return err_set(&q->f.e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		names[i] = json_object_get_string(json_object_array_get_idx(list, i));
	r = manager_reset_knobs(q->api->manager, param_str(q, "netns"), names, n, param_bool(q, "to_default"),
				param_bool(q, "save"), &q->f);
	return r < 0 ? r : reply_knobs(q, names, n, ret);
}

/* Names that are too long are no names: the kernel access would see them cut. */
static int take_name(struct request *q, const char *key, char *ret, size_t size)
{
	const char *s = param_str(q, key);

	if (s && (strlen(s) >= size || !s[0])) {
		q->f.kind = FAIL_OUT_OF_RANGE;
		snprintf(q->f.name, sizeof(q->f.name), "%s", key);
		snprintf(q->f.allowed, sizeof(q->f.allowed), "1 to %zu characters", size - 1);
		return err_set(&q->f.e, -EINVAL, "pnet entry: the %s has %zu characters, 1 to %zu are allowed", key,
			       strlen(s), size - 1);
	}
	snprintf(ret, size, "%s", s ?: "");
	return 0;
}

static int take_port(struct request *q, uint8_t *ret)
{
	struct json_object *v = param(q, "port");
	int64_t port = v ? json_object_get_int64(v) : 0;

	if (v && (port < 1 || port > UINT8_MAX)) {
		q->f.kind = FAIL_OUT_OF_RANGE;
		snprintf(q->f.name, sizeof(q->f.name), "port");
		snprintf(q->f.allowed, sizeof(q->f.allowed), "1 or 2");
		return err_set(&q->f.e, -ERANGE, "pnet entry: port %" PRId64 " is out of range: 1 or 2", port);
	}
	*ret = (uint8_t)port;
	return 0;
}

/* The members of the parameters that describe an entry. */
static int take_entry(struct request *q, struct pnet_entry *ret)
{
	int r = take_name(q, "id", ret->id, sizeof(ret->id));

	if (r == 0)
		r = take_name(q, "interface", ret->interface, sizeof(ret->interface));
	if (r == 0)
		r = take_name(q, "rdma", ret->rdma, sizeof(ret->rdma));
	if (r == 0)
		r = take_port(q, &ret->port);
	return r;
}

/* An entry that is a parameter has the members that are parameters of AddPnet, but for the namespace. */
static int take_entries(struct request *q, struct json_object *entries, struct pnet_entry *ret)
{
	struct json_object *given = q->params;
	int r = 0;

	for (size_t i = 0; r == 0 && i < json_object_array_length(entries); i++) {
		q->params = json_object_array_get_idx(entries, i);
		if (api_check_params(&methods[METHOD_ADD_PNET], q->params) || param(q, "netns")) {
			q->f.kind = FAIL_PARAMETER;
			snprintf(q->f.name, sizeof(q->f.name), "entries");
			r = -EINVAL;
		} else {
			r = take_entry(q, &ret[i]);
		}
	}
	q->params = given;
	return r;
}

static int call_replace_pnet(struct request *q)
{
	struct json_object *entries = param(q, "entries");
	size_t n = json_object_array_length(entries);
	CLEANUP_FREE struct pnet_entry *v = calloc(n ?: 1, sizeof(*v));
	int r;

	if (!v)
		return err_set(&q->f.e, -ENOMEM, "out of memory");
	r = take_entries(q, entries, v);
	return r < 0 ? r : manager_replace_pnet(q->api->manager, param_str(q, "netns"), v, n, &q->f);
}

static int call_pnet(struct request *q)
{
	struct manager *m = q->api->manager;
	struct pnet_entry p = { 0 };
	int r = take_entry(q, &p);

	if (r < 0)
		return r;
	if (q->id == METHOD_ADD_PNET)
		return manager_add_pnet(m, param_str(q, "netns"), &p, &q->f);
	return manager_delete_pnet(m, param_str(q, "netns"), &p, &q->f);
}

static int serve(struct request *q, struct json_object **ret)
{
	struct manager *m = q->api->manager;

	switch (q->id) {
	case METHOD_GET_STATUS:
		return call_status(q, ret);
	case METHOD_LIST_KNOBS:
		return call_list_knobs(q, ret);
	case METHOD_GET_STATS:
	case METHOD_LIST_NOUN:
	case METHOD_GET_METRICS:
		return read_from_kernel(q, ret);
	case METHOD_EXPLAIN_CODE:
		return call_explain(q, ret);
	case METHOD_GET_POLICY:
		return call_policy(q, ret);
	case METHOD_SET_KNOBS:
		return call_set(q, ret);
	case METHOD_RESET_KNOBS:
		return call_reset(q, ret);
	case METHOD_ADD_PNET:
	case METHOD_DELETE_PNET:
		return call_pnet(q);
	case METHOD_FLUSH_PNET:
		return manager_flush_pnet(m, param_str(q, "netns"), &q->f);
	case METHOD_REPLACE_PNET:
		return call_replace_pnet(q);
	case METHOD_ADD_UEID:
		return manager_add_ueid(m, param_str(q, "eid"), &q->f);
	case METHOD_DELETE_UEID:
		return manager_delete_ueid(m, param_str(q, "eid"), &q->f);
	case METHOD_FLUSH_UEID:
		return manager_flush_ueid(m, &q->f);
	case METHOD_SET_SEID:
		return manager_set_seid(m, param_bool(q, "enabled"), &q->f);
	case METHOD_RELOAD:
		return q->api->reload(q->api->reload_ctx, &q->f);
	case N_METHODS:
		break;
	}
	return err_set(&q->f.e, -EOPNOTSUPP, "there is no such method");
}

/* ---- access ---- */

static bool may(const struct api *api, const struct connection *c, enum access access)
{
	uid_t uid = connection_uid(c);

	if (uid == 0 || uid == geteuid())
		return true;
	if (api->admins != NO_GROUP && connection_in_group(c, api->admins))
		return true;
	return access == ACCESS_READ && api->readers != NO_GROUP && connection_in_group(c, api->readers);
}

static int call(struct connection *c, const char *method, struct json_object *params, void *userdata)
{
	struct request q = { .api = userdata, .c = c, .params = params };
	const struct method *m = method_find(method, &q.noun);
	struct json_object *reply = NULL;
	const char *wrong;
	int r;

	if (!m)
		return -ENOENT;
	if (!may(q.api, c, m->access))
		return connection_error(c, VARLINK_ERROR_PERMISSION, NULL);
	wrong = api_check_params(m, params);
	if (wrong)
		return connection_error_parameter(c, wrong);
	q.id = (enum method_id)(m - methods);
	r = serve(&q, &reply);
	if (r < 0) {
		q.f.e.code = r;
		return answer_failure(&q);
	}
	return connection_reply(c, reply);
}

struct server_interface api_interface(struct api *api)
{
	return (struct server_interface){
		.name = SMCD_INTERFACE, .describe = methods_describe, .call = call, .userdata = api
	};
}
