// SPDX-License-Identifier: GPL-2.0-or-later
/* show.c - the commands that only show. */
#include "smcctl.h"
#include "policy.h"

/* The arguments as the parameter "names". */
static struct json_object *names_params(const struct request *r)
{
	struct json_object *params, *names;

	params = json_object_new_object();
	names = json_object_new_array();
	json_object_object_add(params, "names", names);
	for (size_t i = 0; i < r->n_args; i++)
		json_object_array_add(names, json_object_new_string(r->args[i].word));
	return params;
}

int ctl_check_knob_names(struct ctl *c, const struct request *r)
{
	int rc = CTL_OK;

	for (size_t i = 0; i < r->n_args; i++) {
		const char *name = r->args[i].word;

		if (!knob_find(name) && !ctl_offered(c, name))
			rc = ctl_fail_knob(c, name);
	}
	return rc;
}

int ctl_fail_knob(struct ctl *c, const char *name)
{
	const char *near = knob_suggest(name);
	char shown[4 * SHOWN_MAX + 4];

	safe_str(shown, sizeof(shown), name);
	if (near)
		return ctl_fail(c, CTL_FAILED, "there is no knob '%s' (did you mean %s?)", shown, near);
	return ctl_fail(c, CTL_FAILED, "there is no knob '%s'", shown);
}

int ctl_print_knobs(struct ctl *c, struct json_object *reply)
{
	CLEANUP_TEXT struct text t = { 0 };

	if (request_has(c->req, OPT_JSON))
		return ctl_print_json(c, reply);
	knobs_text(member(reply, "knobs"), request_has(c->req, OPT_WIDE), &t);
	return ctl_print(c, &t, true);
}

int cmd_knobs_show(struct ctl *c, const struct request *r)
{
	CLEANUP_JSON struct json_object *reply = NULL;
	int rc = ctl_check_knob_names(c, r);

	if (rc == CTL_OK)
		rc = ctl_read(c, METHOD_LIST_KNOBS, NULL, r->n_args ? names_params(r) : NULL, &reply);
	return rc == CTL_OK ? ctl_print_knobs(c, reply) : rc;
}

int cmd_stats_show(struct ctl *c, const struct request *r)
{
	CLEANUP_JSON struct json_object *reply = NULL;
	CLEANUP_TEXT struct text t = { 0 };
	int rc = ctl_read(c, METHOD_GET_STATS, NULL, NULL, &reply);

	if (rc != CTL_OK)
		return rc;
	if (request_has(r, OPT_JSON))
		return ctl_print_json(c, reply);
	stats_text(member(reply, "stats"), &t);
	return ctl_print(c, &t, true);
}

/* ---- lists ---- */

static void totals_text(struct json_object *totals, struct text *t)
{
	if (!totals)
		return;
	text_add(t, "\nin all:");
	for (size_t i = 0; role_names[i]; i++) {
		struct json_object *n = member(totals, role_names[i]);

		text_add(t, "%s ", i ? "," : "");
		if (n)
			text_add(t, "%s", json_object_get_string(n));
		else
			text_add(t, "-");
		text_add(t, " as %s", role_names[i]);
	}
	text_add(t, "\n");
}

static void list_text(const struct noun *n, struct json_object *reply, bool wide, struct text *t)
{
	struct json_object *array = member(reply, n->name);

	if (json_object_array_length(array))
		noun_text(n, array, wide, t);
	for (size_t i = 0; i < n->n_parts; i++) {
		struct json_object *part = member(reply, n->parts[i].name);

		if (!part || !json_object_is_type(part, json_type_array) || !json_object_array_length(part))
			continue;
		text_add(t, "\n%s:\n", n->parts[i].doc);
		noun_text(&n->parts[i], part, wide, t);
	}
	totals_text(member(reply, "totals"), t);
}

/* What smcctl alone can add: the owners of sockets, by its caller's rights. */
static int complete_list(struct ctl *c, const struct noun *n, struct json_object *array)
{
	int r = n->id == NOUN_SOCKETS ? procs_resolve("/proc", array) : 0;

	if (r == -ENOMEM)
		return ctl_fail(c, CTL_FAILED, "find the programs of the sockets: %s", strerror(-r));
	if (r < 0)
		ctl_note(c, "find the programs of the sockets in /proc: %s", strerror(-r));
	return CTL_OK;
}

int cmd_list(struct ctl *c, const struct request *r)
{
	const struct noun *n = r->command->noun;
	CLEANUP_JSON struct json_object *reply = NULL;
	CLEANUP_TEXT struct text t = { 0 };
	struct json_object *array, *incomplete;
	struct err e = { 0 };
	int rc;

	if (filters_check(n, r, &e) < 0)
		return ctl_fail(c, CTL_USAGE, "%s", e.text);
	rc = ctl_read(c, METHOD_LIST_NOUN, n, NULL, &reply);
	if (rc != CTL_OK)
		return rc;
	array = member(reply, n->name);
	if (!array || !json_object_is_type(array, json_type_array))
		return ctl_fail(c, CTL_FAILED, "the answer has no list of %s", n->name);
	rc = complete_list(c, n, array);
	if (rc != CTL_OK)
		return rc;
	if (filters_apply(n, r, array, &e) < 0)
		return ctl_fail_err(c, &e);
	incomplete = member(reply, "incomplete");
	if (incomplete && json_object_get_boolean(incomplete))
		ctl_note(c, "the list changed while it was read, three times: entries may be missing or doubled");
	if (request_has(r, OPT_RDMA)) {
		rc = ctl_add_rdma(c, reply);
		if (rc != CTL_OK)
			return rc;
	}
	if (request_has(r, OPT_JSON))
		return ctl_print_json(c, reply);
	list_text(n, reply, request_has(r, OPT_WIDE), &t);
	if (request_has(r, OPT_RDMA))
		rdma_text(member(reply, "rdma"), &t);
	return ctl_print(c, &t, t.len && json_object_array_length(array));
}

/* ---- explain ---- */

static int explain_one(struct ctl *c, const char *code, struct json_object *all, struct text *t)
{
	CLEANUP_JSON struct json_object *reply = NULL;
	struct json_object *params = json_object_new_object(), *reason;
	struct err e = { 0 };
	int r;

	json_object_object_add(params, "code", json_object_new_string(code));
	r = read_method(NULL, METHOD_EXPLAIN_CODE, NULL, params, NULL, &reply, &e);
	json_object_put(params);
	if (r < 0)
		return ctl_fail_err(c, &e);
	reason = member(reply, "reason");
	json_object_array_add(all, json_object_get(reason));
	reason_text(reason, t);
	return member(reason, "name") ? CTL_OK : CTL_FAILED;
}

int cmd_explain(struct ctl *c, const struct request *r)
{
	CLEANUP_JSON struct json_object *reply = json_object_new_object();
	struct json_object *all = json_object_new_array();
	CLEANUP_TEXT struct text t = { 0 };
	int rc = CTL_OK;

	json_object_object_add(reply, "reasons", all);
	for (size_t i = 0; i < r->n_args; i++) {
		size_t before = json_object_array_length(all);
		int one = explain_one(c, r->args[i].word, all, &t);

		if (one != CTL_OK)
			rc = one;
		/* What is no code at all was reported; with --json as the only document. */
		if (json_object_array_length(all) == before)
			return one;
	}
	if (request_has(r, OPT_JSON)) {
		int printed = ctl_print_json(c, reply);

		return rc == CTL_OK ? printed : rc;
	}
	return ctl_print(c, &t, false) == CTL_OK ? rc : CTL_FAILED;
}

/* ---- metrics ---- */

int cmd_metrics(struct ctl *c, const struct request *r)
{
	CLEANUP_JSON struct json_object *reply = NULL;
	CLEANUP_TEXT struct text t = { 0 };
	struct json_object *metrics_text;
	int rc = ctl_read(c, METHOD_GET_METRICS, NULL, NULL, &reply);

	if (rc != CTL_OK)
		return rc;
	if (request_has(r, OPT_JSON))
		return ctl_print_json(c, reply);
	metrics_text = member(reply, "metrics");
	if (!metrics_text)
		return ctl_fail(c, CTL_FAILED, "the answer has no metrics");
	text_add_mem(&t, json_object_get_string(metrics_text), (size_t)json_object_get_string_len(metrics_text));
	return ctl_print(c, &t, false);
}

/* ---- policy check ---- */

static void policy_summary(const struct policy *p, struct json_object *o, struct text *t)
{
	size_t n = 0;

	for (size_t i = 0; i < n_knobs; i++)
		n += p->knobs[i].v.kind != VALUE_ABSENT;
	json_object_object_add(o, "knobs", json_object_new_uint64(n));
	json_object_object_add(o, "pnet", json_object_new_uint64(p->n_pnet));
	json_object_object_add(o, "ueid", json_object_new_uint64(p->n_ueid));
	json_object_object_add(o, "seid",
			       p->seid.v.kind == VALUE_UINT ? json_object_new_boolean(p->seid.v.u != 0) : NULL);
	text_add(t, "valid: %zu knobs, %zu pnet entries, %zu UEIDs%s\n", n, p->n_pnet, p->n_ueid,
		 p->seid.v.kind != VALUE_UINT ? ""
		 : p->seid.v.u                ? ", SEID on"
					      : ", SEID off");
}

static void print_problems(struct ctl *c, const struct problems *problems, struct json_object *array)
{
	for (size_t i = 0; i < problems->n; i++) {
		fprintf(c->session->err, "%s\n", problems->text[i]);
		json_object_array_add(array, json_object_new_string(problems->text[i]));
	}
	if (problems->n_more)
		fprintf(c->session->err, "smcctl: and %zu more\n", problems->n_more);
}

/* All files are looked at, so that all that is wrong is told at once. */
static int check_files(struct policy *p, const struct request *r, struct problems *problems)
{
	int worst = 0;

	for (size_t i = 0; i < r->n_args; i++) {
		int rc = policy_add_file(p, r->args[i].word, problems);

		if (rc < 0)
			worst = rc;
		if (rc < 0 && rc != -EINVAL)
			break;
	}
	return worst;
}

int cmd_policy_check(struct ctl *c, const struct request *r)
{
	CLEANUP_JSON struct json_object *reply = json_object_new_object();
	struct json_object *o = json_object_new_object(), *array = json_object_new_array();
	CLEANUP_POLICY struct policy p = { 0 };
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_TEXT struct text t = { 0 };
	int rc = policy_init(&p);

	json_object_object_add(reply, "policy", o);
	if (rc >= 0)
		rc = check_files(&p, r, &problems);
	if (rc < 0 && (rc != -EINVAL || !problems.n))
		return ctl_fail(c, CTL_FAILED, "check the policy: %s", strerror(-rc));
	json_object_object_add(o, "valid", json_object_new_boolean(rc >= 0));
	json_object_object_add(o, "problems", array);
	json_object_object_add(o, "more_problems", json_object_new_uint64(problems.n_more));
	print_problems(c, &problems, array);
	if (rc >= 0)
		policy_summary(&p, o, &t);
	if (request_has(r, OPT_JSON) && ctl_print_json(c, reply) != CTL_OK)
		return CTL_FAILED;
	if (!request_has(r, OPT_JSON) && ctl_print(c, &t, false) != CTL_OK)
		return CTL_FAILED;
	return rc < 0 ? CTL_FAILED : CTL_OK;
}

/* ---- version, help ---- */

int cmd_version(struct ctl *c, const struct request *r)
{
	CLEANUP_JSON struct json_object *info = NULL;
	CLEANUP_JSON struct json_object *reply = json_object_new_object();
	CLEANUP_TEXT struct text t = { 0 };
	struct json_object *o = json_object_new_object(), *version;
	int rc = ctl_daemon_info(c, &info);

	json_object_object_add(reply, "version", o);
	if (rc != CTL_OK)
		return rc;
	version = member(info, "version");
	json_object_object_add(o, "smcctl", json_object_new_string(SMCD_VERSION));
	json_object_object_add(o, "smcd", json_object_get(version));
	if (request_has(r, OPT_JSON))
		return ctl_print_json(c, reply);
	text_add(&t, "smcctl %s\nsmcd   ", SMCD_VERSION);
	if (version)
		text_add_safe(&t, json_object_get_string(version), (size_t)json_object_get_string_len(version),
			      SHOWN_MAX);
	else
		text_add(&t, "%s", ctl_daemon_state(c));
	text_add(&t, "\n");
	return ctl_print(c, &t, false);
}

int cmd_help(struct ctl *c, const struct request *r)
{
	const char *name = r->n_args ? r->args[0].word : NULL, *verb = r->n_args > 1 ? r->args[1].word : NULL;
	const struct command *of = name ? command_find(name, verb) : NULL;
	char shown[4 * SHOWN_MAX + 4], more[4 * SHOWN_MAX + 4];

	if (!name || of || (!verb && command_name_known(name)))
		return ctl_print_help(c, name, of);
	return ctl_fail(c, CTL_USAGE, "there is no command '%s%s%s'", safe_str(shown, sizeof(shown), name),
			verb ? " " : "", verb ? safe_str(more, sizeof(more), verb) : "");
}
