// SPDX-License-Identifier: GPL-2.0-or-later
/* status.c - what smcd says of itself, or what can be told of the kernel without it, and what is in use. */
#include "smcctl.h"

/* The part of smcd's Status that needs no smcd; version and policy are null. */
static int direct_status(struct ctl *c, struct json_object **ret)
{
	struct json_object *status, *kernel;
	struct features f;
	struct kernel *k = NULL;
	struct err e = { 0 };
	int r = ctl_kernel(c, &k);

	if (r != CTL_OK)
		return r;
	if (kernel_probe(k, false, &f, &e) < 0)
		return ctl_fail_err(c, &e);
	*ret = json_object_new_object();
	status = json_object_new_object();
	kernel = json_object_new_object();
	json_object_object_add(*ret, "status", status);
	json_object_object_add(status, "version", NULL);
	json_object_object_add(status, "netns", json_object_new_string(kernel_netns(k)));
	json_object_object_add(status, "kernel", kernel);
	json_object_object_add(kernel, "smc", json_object_new_boolean(f.smc));
	json_object_object_add(kernel, "pnetid", json_object_new_boolean(f.pnetid));
	json_object_object_add(kernel, "sysctl", f.tune ? NULL : json_object_new_boolean(f.sysctl));
	json_object_object_add(kernel, "tune", json_object_new_boolean(f.tune));
	json_object_object_add(kernel, "message",
			       json_object_new_string(f.smc ? "" : "modprobe smc loads it, where the kernel has it"));
	json_object_object_add(status, "policy", NULL);
	return CTL_OK;
}

static int64_t sum_of(struct json_object *array, const char *field)
{
	size_t n = array && json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *v = member(json_object_array_get_idx(array, i), field);

		sum += v ? json_object_get_int64(v) : 0;
	}
	return sum;
}

static int64_t total(struct json_object *reply, const char *role)
{
	return json_object_get_int64(member(member(reply, "totals"), role));
}

static int read_list_into(struct ctl *c, enum noun_id id, struct json_object **ret)
{
	int r = ctl_read(c, METHOD_LIST_NOUN, &nouns[id], NULL, ret);

	if (r != CTL_OK)
		return r;
	if (!json_object_is_type(member(*ret, nouns[id].name), json_type_array))
		return ctl_fail(c, CTL_FAILED, "the answer has no list of %s", nouns[id].name);
	return CTL_OK;
}

/* Counts of what is there; the lists themselves have commands of their own. */
static int add_use_of(struct ctl *c, struct json_object *status)
{
	CLEANUP_JSON struct json_object *lgrs = NULL;
	CLEANUP_JSON struct json_object *devices = NULL;
	CLEANUP_JSON struct json_object *fallbacks = NULL;
	struct json_object *use, *array;
	int r = read_list_into(c, NOUN_LINKGROUPS, &lgrs);

	if (r == CTL_OK)
		r = read_list_into(c, NOUN_DEVICES, &devices);
	if (r == CTL_OK)
		r = read_list_into(c, NOUN_FALLBACKS, &fallbacks);
	if (r != CTL_OK)
		return r;
	use = json_object_new_object();
	array = member(lgrs, nouns[NOUN_LINKGROUPS].name);
	json_object_object_add(use, "linkgroups", json_object_new_uint64(json_object_array_length(array)));
	json_object_object_add(use, "connections",
			       json_object_new_int64(sum_of(array, nouns[NOUN_LINKGROUPS].fields[LGR_CONNS].name)));
	array = member(devices, nouns[NOUN_DEVICES].name);
	json_object_object_add(use, "devices", json_object_new_uint64(json_object_array_length(array)));
	json_object_object_add(use, "fallbacks_client", json_object_new_int64(total(fallbacks, "client")));
	json_object_object_add(use, "fallbacks_server", json_object_new_int64(total(fallbacks, "server")));
	json_object_object_add(status, "use", use);
	return CTL_OK;
}

int cmd_status(struct ctl *c, const struct request *r)
{
	CLEANUP_JSON struct json_object *reply = NULL;
	CLEANUP_TEXT struct text t = { 0 };
	struct json_object *status, *smc = NULL;
	int rc = ctl_status(c, &reply);

	if (rc == CTL_OK && !reply)
		rc = direct_status(c, &reply);
	if (rc != CTL_OK)
		return rc;
	status = member(reply, "status");
	if (!json_object_object_get_ex(member(status, "kernel"), "smc", &smc))
		return ctl_fail(c, CTL_FAILED, "the answer has no status of the kernel");
	json_object_object_add(status, "smcd", json_object_new_string(ctl_daemon_state(c)));
	if (json_object_get_boolean(smc)) {
		rc = add_use_of(c, status);
		if (rc != CTL_OK)
			return rc;
	}
	if (request_has(r, OPT_JSON)) {
		rc = ctl_print_json(c, reply);
	} else {
		status_text(status, &t);
		rc = ctl_print(c, &t, false);
	}
	return rc == CTL_OK && !smc ? CTL_FAILED : rc; /* null: it could not be told, and the text says why */
}
