// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * change.c - the commands that change something. Values are checked here first, wholly; then smcd does all of it or
 * nothing.
 */
#include "policy.h"
#include "smcctl.h"

/* ---- knobs ---- */

static int check_assignment(struct ctl *c, const struct arg *a, struct json_object *values, struct knob_change *ret)
{
	CLEANUP_FREE char *name = strndup(a->key, a->key_len);
	const struct knob *k = name ? knob_find(name) : NULL;
	const struct offered_knob *offered = name && !k ? ctl_offered(c, name) : NULL;
	struct err e = { 0 };

	if (!name)
		return ctl_fail(c, CTL_FAILED, "out of memory");
	if (offered)
		k = &offered->knob;
	if (!k)
		return ctl_fail_knob(c, name);
	if (member(values, name))
		return ctl_fail(c, CTL_FAILED, "'%s' is given twice", name);
	if (value_parse(&k->spec, a->value, &ret->v, &e) < 0)
		return ctl_fail(c, CTL_FAILED, "set '%s': %s", name, e.text);
	ret->knob = k;
	json_object_object_add(values, name, json_object_new_string(a->value));
	return CTL_OK;
}

/* Look at every assignment, so that all that is wrong is told at once. */
static int check_assignments(struct ctl *c, const struct request *r, struct json_object *values,
			     struct knob_change *changes)
{
	size_t wrong = 0;

	for (size_t i = 0; i < r->n_args; i++)
		wrong += check_assignment(c, &r->args[i], values, &changes[i]) != CTL_OK;
	if (!wrong)
		return CTL_OK;
	if (r->n_args > 1)
		ctl_note(c, "nothing was changed");
	return CTL_FAILED;
}

/* Without smcd: one message to the kernel, which does all or nothing; smcd knows of none of it then. */
static int set_directly(struct ctl *c, const struct knob_change *changes, size_t n, struct json_object **ret)
{
	struct json_object *params, *names;
	struct kernel *k = NULL;
	struct err e = { 0 };
	int rc = ctl_kernel(c, &k);

	if (rc != CTL_OK)
		return rc;
	if (kernel_knobs_set(k, changes, n, &e) < 0)
		return ctl_fail_err(c, &e);
	params = json_object_new_object();
	names = json_object_new_array();
	json_object_object_add(params, "names", names);
	for (size_t i = 0; i < n; i++)
		json_object_array_add(names, json_object_new_string(changes[i].knob->name));
	return ctl_read(c, METHOD_LIST_KNOBS, NULL, params, ret);
}

int cmd_knobs_set(struct ctl *c, const struct request *r)
{
	CLEANUP_FREE struct knob_change *changes = calloc(r->n_args, sizeof(*changes));
	CLEANUP_JSON struct json_object *reply = NULL;
	CLEANUP_JSON struct json_object *params = json_object_new_object();
	struct json_object *values = json_object_new_object();
	int rc;

	json_object_object_add(params, "values", values);
	if (request_has(r, OPT_SAVE))
		json_object_object_add(params, "save", json_object_new_boolean(true));
	if (!changes)
		return ctl_fail(c, CTL_FAILED, "out of memory");
	if (request_has(r, OPT_SAVE) && request_has(r, OPT_DIRECT))
		return ctl_fail(c, CTL_USAGE, "--save needs smcd, and --direct does without it");
	rc = check_assignments(c, r, values, changes);
	if (rc != CTL_OK)
		return rc;
	if (request_has(r, OPT_DIRECT)) {
		rc = set_directly(c, changes, r->n_args, &reply);
		return rc == CTL_OK ? ctl_print_knobs(c, reply) : rc;
	}
	rc = ctl_write(c, METHOD_SET_KNOBS, json_object_get(params), &reply);
	return rc == CTL_OK ? ctl_print_knobs(c, reply) : rc;
}

int cmd_knobs_reset(struct ctl *c, const struct request *r)
{
	CLEANUP_JSON struct json_object *reply = NULL;
	CLEANUP_JSON struct json_object *params = json_object_new_object();
	struct json_object *names = json_object_new_array();
	int rc;

	json_object_object_add(params, "names", names);
	if (request_has(r, OPT_DEFAULT))
		json_object_object_add(params, "to_default", json_object_new_boolean(true));
	if (request_has(r, OPT_SAVE))
		json_object_object_add(params, "save", json_object_new_boolean(true));
	rc = ctl_check_knob_names(c, r);
	if (rc != CTL_OK)
		return rc;
	for (size_t i = 0; i < r->n_args; i++)
		json_object_array_add(names, json_object_new_string(r->args[i].word));
	rc = ctl_write(c, METHOD_RESET_KNOBS, json_object_get(params), &reply);
	return rc == CTL_OK ? ctl_print_knobs(c, reply) : rc;
}

/* ---- what lies in lists: pnet, ueid, seid ---- */

/* Say what was done: the entry under the noun's name in JSON, a line in text. entry is taken over; NULL: none. */
static int report(struct ctl *c, const struct noun *n, struct json_object *entry, const struct text *line)
{
	CLEANUP_JSON struct json_object *o = NULL;
	struct json_object *array = json_object_new_array();

	o = json_object_new_object();
	json_object_object_add(o, n->name, array);
	if (entry)
		json_object_array_add(array, entry);
	if (request_has(c->req, OPT_JSON))
		return ctl_print_json(c, o);
	return ctl_print(c, line, false);
}

static int change(struct ctl *c, enum method_id m, struct json_object *params)
{
	CLEANUP_JSON struct json_object *reply = NULL;

	return ctl_write(c, m, params, &reply);
}

static const char *pnet_field_name(enum pnet_field f)
{
	return nouns[NOUN_PNET].fields[f].name;
}

/* What is too long fills ret without a NUL, as pnet_entry_check() takes it. */
static int set_name(struct ctl *c, enum pnet_field f, const char *value, char *ret, size_t size)
{
	if (*ret)
		return ctl_fail(c, CTL_USAGE, "%s is given twice", pnet_field_name(f));
	/* An empty name is none to smcd: the entry would be another one than was meant. */
	if (!*value)
		return ctl_fail(c, CTL_FAILED, "the name of the %s is empty", pnet_field_name(f));
	memcpy(ret, value, strnlen(value, size));
	return CTL_OK;
}

static int set_port(struct ctl *c, const char *value, uint8_t *ret)
{
	static const struct value_spec spec = { .type = TYPE_COUNT, .min = 1, .max = 2 };
	struct err e = { 0 };
	struct value v;

	if (*ret)
		return ctl_fail(c, CTL_USAGE, "%s is given twice", pnet_field_name(PNET_PORT));
	if (value_parse(&spec, value, &v, &e) < 0)
		return ctl_fail(c, CTL_FAILED, "%s: %s", pnet_field_name(PNET_PORT), e.text);
	*ret = (uint8_t)v.u;
	return CTL_OK;
}

static int set_entry_field(struct ctl *c, const struct arg *a, struct pnet_entry *p)
{
	uint64_t fields = command_key_fields(c->req->command, a->key, a->key_len);

	if (fields & (1u << PNET_INTERFACE))
		return set_name(c, PNET_INTERFACE, a->value, p->interface, sizeof(p->interface));
	if (fields & (1u << PNET_RDMA))
		return set_name(c, PNET_RDMA, a->value, p->rdma, sizeof(p->rdma));
	return set_port(c, a->value, &p->port);
}

static int entry_from_args(struct ctl *c, const struct request *r, struct pnet_entry *ret)
{
	struct pnet_entry p = { 0 };
	struct err e = { 0 };

	memcpy(p.id, r->args[0].word, strnlen(r->args[0].word, sizeof(p.id)));
	for (size_t i = 1; i < r->n_args; i++) {
		int rc = set_entry_field(c, &r->args[i], &p);

		if (rc != CTL_OK)
			return rc;
	}
	if (pnet_entry_check(&p, &e) < 0)
		return ctl_fail(c, CTL_FAILED, "%s", e.text);
	*ret = p;
	return CTL_OK;
}

static void add_name(struct json_object *o, enum pnet_field f, const char *name)
{
	if (*name)
		json_object_object_add(o, pnet_field_name(f), json_object_new_string(name));
}

static struct json_object *entry_json(const struct pnet_entry *p)
{
	struct json_object *o = json_object_new_object();

	add_name(o, PNET_ID, p->id);
	add_name(o, PNET_INTERFACE, p->interface);
	add_name(o, PNET_RDMA, p->rdma);
	if (p->port)
		json_object_object_add(o, pnet_field_name(PNET_PORT), json_object_new_int(p->port));
	return o;
}

static void entry_line(const struct pnet_entry *p, const char *done, struct text *t)
{
	text_add(t, "%s:", p->id);
	if (*p->interface) {
		text_add(t, " interface ");
		text_add_safe(t, p->interface, strlen(p->interface), SIZE_MAX);
	}
	if (*p->rdma) {
		text_add(t, "%s rdma ", *p->interface ? "," : "");
		text_add_safe(t, p->rdma, strlen(p->rdma), SIZE_MAX);
		if (p->port)
			text_add(t, " port %u", p->port);
	}
	if (!*p->interface && !*p->rdma)
		text_add(t, " all entries");
	text_add(t, " %s\n", done);
}

static int pnet_change(struct ctl *c, const struct request *r, enum method_id m, const char *done)
{
	CLEANUP_TEXT struct text line = { 0 };
	struct pnet_entry p;
	int rc = entry_from_args(c, r, &p);

	if (rc == CTL_OK)
		rc = change(c, m, entry_json(&p));
	if (rc != CTL_OK)
		return rc;
	entry_line(&p, done, &line);
	return report(c, &nouns[NOUN_PNET], entry_json(&p), &line);
}

int cmd_pnet_add(struct ctl *c, const struct request *r)
{
	return pnet_change(c, r, METHOD_ADD_PNET, "added");
}

int cmd_pnet_delete(struct ctl *c, const struct request *r)
{
	return pnet_change(c, r, METHOD_DELETE_PNET, "deleted");
}

static int flush(struct ctl *c, enum method_id m, const struct noun *n)
{
	CLEANUP_TEXT struct text line = { 0 };
	int rc = change(c, m, json_object_new_object());

	text_add(&line, "all entries deleted\n");
	return rc == CTL_OK ? report(c, n, NULL, &line) : rc;
}

int cmd_pnet_flush(struct ctl *c, const struct request *r)
{
	(void)r;
	return flush(c, METHOD_FLUSH_PNET, &nouns[NOUN_PNET]);
}

/* The entries of the file, one target each. *ret is the parameter. */
static int entries_of_file(struct ctl *c, const char *file, struct json_object **ret)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };
	struct json_object *array;
	int r = policy_init(&p);

	if (r >= 0)
		r = policy_add_file(&p, file, &problems);
	for (size_t i = 0; i < problems.n; i++)
		fprintf(c->session->err, "%s\n", problems.text[i]);
	if (r < 0 && problems.n)
		return ctl_fail(c, CTL_FAILED, "the file is not valid; nothing was changed");
	if (r < 0)
		return ctl_fail(c, CTL_FAILED, "read the pnet entries: %s", strerror(-r));
	array = json_object_new_array();
	for (size_t i = 0; i < p.n_pnet; i++)
		json_object_array_add(array, entry_json(&p.pnet[i].entry));
	*ret = array;
	return CTL_OK;
}

int cmd_pnet_replace(struct ctl *c, const struct request *r)
{
	CLEANUP_JSON struct json_object *entries = NULL;
	CLEANUP_JSON struct json_object *o = NULL;
	CLEANUP_TEXT struct text line = { 0 };
	struct json_object *params;
	int rc = entries_of_file(c, r->args[0].word, &entries);

	if (rc != CTL_OK)
		return rc;
	params = json_object_new_object();
	json_object_object_add(params, "entries", json_object_get(entries));
	rc = change(c, METHOD_REPLACE_PNET, params);
	if (rc != CTL_OK)
		return rc;
	o = json_object_new_object();
	json_object_object_add(o, nouns[NOUN_PNET].name, json_object_get(entries));
	text_add(&line, "%zu entries are the table now\n", json_object_array_length(entries));
	return request_has(r, OPT_JSON) ? ctl_print_json(c, o) : ctl_print(c, &line, false);
}

static struct json_object *eid_json(const char *eid)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, nouns[NOUN_UEID].fields[UEID_EID].name, json_object_new_string(eid));
	return o;
}

static int ueid_change(struct ctl *c, const struct request *r, enum method_id m, const char *done)
{
	const char *eid = r->args[0].word;
	CLEANUP_TEXT struct text line = { 0 };
	struct err e = { 0 };
	int rc;

	if (ueid_check(eid, &e) < 0)
		return ctl_fail(c, CTL_FAILED, "%s", e.text);
	rc = change(c, m, eid_json(eid));
	text_add(&line, "%s: %s\n", eid, done);
	return rc == CTL_OK ? report(c, &nouns[NOUN_UEID], eid_json(eid), &line) : rc;
}

int cmd_ueid_add(struct ctl *c, const struct request *r)
{
	return ueid_change(c, r, METHOD_ADD_UEID, "added");
}

int cmd_ueid_delete(struct ctl *c, const struct request *r)
{
	return ueid_change(c, r, METHOD_DELETE_UEID, "deleted");
}

int cmd_ueid_flush(struct ctl *c, const struct request *r)
{
	(void)r;
	return flush(c, METHOD_FLUSH_UEID, &nouns[NOUN_UEID]);
}

static int seid_change(struct ctl *c, bool on)
{
	struct json_object *params = json_object_new_object(), *entry;
	const char *enabled = nouns[NOUN_SEID].fields[SEID_ENABLED].name;
	CLEANUP_TEXT struct text line = { 0 };
	int rc;

	json_object_object_add(params, "enabled", json_object_new_boolean(on));
	rc = change(c, METHOD_SET_SEID, params);
	if (rc != CTL_OK)
		return rc;
	entry = json_object_new_object();
	json_object_object_add(entry, enabled, json_object_new_boolean(on));
	text_add(&line, "SEID %s\n", on ? "enabled" : "disabled");
	return report(c, &nouns[NOUN_SEID], entry, &line);
}

int cmd_seid_enable(struct ctl *c, const struct request *r)
{
	(void)r;
	return seid_change(c, true);
}

int cmd_seid_disable(struct ctl *c, const struct request *r)
{
	(void)r;
	return seid_change(c, false);
}
