// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * client.c - one command under way: gets its JSON from smcd, or from the kernel where smcd does not run, and turns what
 * goes wrong into a message and an exit code.
 */
#include <stdarg.h>
#include <unistd.h>

#include "smcctl.h"
#include "varlink.h"

#define MESSAGE_MAX 2048
#define JSON_SCHEMA 1       /* until a member changes its meaning */
#define CALL_TIMEOUT_SEC 60 /* smcd may have to wait for the kernel more than once */

/* ---- messages ---- */

void ctl_note(struct ctl *c, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	/* One write, so that lines of programs side by side do not mix. */
	fprintf(c->session->err, "smcctl: %s\n", message);
}

static const char *asked_netns(const struct ctl *c)
{
	return request_has(c->req, OPT_NETNS) ? c->req->value[OPT_NETNS] : "";
}

/* What every document begins with. */
static struct json_object *document_new(const struct ctl *c)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "schema", json_object_new_int(JSON_SCHEMA));
	json_object_object_add(o, "netns", json_object_new_string(asked_netns(c)));
	return o;
}

/* All that failed, as the last thing on stdout. */
static void print_failures(struct ctl *c, int code)
{
	struct json_object *o = document_new(c), *error = json_object_new_object();
	CLEANUP_TEXT struct text t = { 0 };

	json_object_object_add(o, "error", error);
	json_object_object_add(error, "exit", json_object_new_int(code));
	json_object_object_add(error, "message", json_object_new_string(text_str(&c->failures)));
	document_text(o, &t);
	fputs(text_str(&t), c->session->out);
	json_object_put(o);
}

int ctl_fail(struct ctl *c, enum ctl_exit code, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	ctl_note(c, "%s", message);
	text_add(&c->failures, "%s%s", c->failures.len ? "\n" : "", message);
	return code;
}

/* What to do about it, where the message itself does not say so. */
static const char *hint_of(const struct err *e, bool denied)
{
	if (denied)
		return strstr(e->text, "CAP_") ? "" : " (needs root or CAP_NET_ADMIN)";
	return e->code == -ENOPROTOOPT ? " (modprobe smc loads it, where the kernel has it)" : "";
}

int ctl_fail_err(struct ctl *c, const struct err *e)
{
	bool denied = e->code == -EPERM || e->code == -EACCES;

	return ctl_fail(c, denied ? CTL_DENIED : CTL_FAILED, "%s%s%s%s%s", e->text, *e->ext ? " (kernel: " : "", e->ext,
			*e->ext ? ")" : "", hint_of(e, denied));
}

/* ---- smcd's errors ---- */

static void add_member(struct text *t, struct json_object *params, const char *name)
{
	struct json_object *o = member(params, name);

	if (o)
		text_add_safe(t, json_object_get_string(o), strlen(json_object_get_string(o)), SIZE_MAX);
}

static int fail_denied(struct ctl *c, struct json_object *params)
{
	(void)params;
	return ctl_fail(c, CTL_DENIED,
			"smcd does not permit this: changes need root, reading needs root or group smcd");
}

static int fail_message(struct ctl *c, struct json_object *params)
{
	CLEANUP_TEXT struct text t = { 0 };

	add_member(&t, params, "message");
	return ctl_fail(c, CTL_FAILED, "%s", text_str(&t));
}

static int fail_kernel(struct ctl *c, struct json_object *params)
{
	struct json_object *number = member(params, "errno");
	struct err e = { .code = number ? -json_object_get_int(number) : -EIO };
	CLEANUP_TEXT struct text message = { 0 }, ext = { 0 };

	add_member(&message, params, "message");
	add_member(&ext, params, "extended_ack");
	/* smcd may have put the extended ack into its message. */
	if (!strstr(text_str(&message), text_str(&ext)))
		snprintf(e.ext, sizeof(e.ext), "%s", text_str(&ext));
	snprintf(e.text, sizeof(e.text), "%s", text_str(&message));
	return ctl_fail_err(c, &e);
}

static int fail_no_knob(struct ctl *c, struct json_object *params)
{
	CLEANUP_TEXT struct text name = { 0 }, near = { 0 };

	add_member(&name, params, "name");
	add_member(&near, params, "suggestion");
	if (near.len)
		return ctl_fail(c, CTL_FAILED, "there is no knob '%s' (did you mean %s?)", text_str(&name),
				text_str(&near));
	return ctl_fail(c, CTL_FAILED, "there is no knob '%s'", text_str(&name));
}

static int fail_policy(struct ctl *c, struct json_object *params)
{
	struct json_object *problems = member(params, "problems");
	size_t n = problems && json_object_is_type(problems, json_type_array) ? json_object_array_length(problems) : 0;

	for (size_t i = 0; i < n; i++) {
		const char *s = json_object_get_string(json_object_array_get_idx(problems, i));
		CLEANUP_TEXT struct text t = { 0 };

		text_add_safe(&t, s ? s : "", s ? strlen(s) : 0, SIZE_MAX);
		fprintf(c->session->err, "%s\n", text_str(&t));
	}
	return ctl_fail(c, CTL_FAILED, "the policy is not valid; nothing was changed");
}

static const struct {
	const char *name;
	int (*fail)(struct ctl *c, struct json_object *params);
} daemon_errors[] = {
	{ VARLINK_ERROR_PERMISSION, fail_denied },
	{ ERROR_KERNEL, fail_kernel },
	{ ERROR_NO_SUCH_KNOB, fail_no_knob },
	{ ERROR_POLICY_INVALID, fail_policy },
};

/* Errors that carry a message need no code of their own; what else smcd may say is shown as it is. */
static int fail_daemon(struct ctl *c, const char *error, struct json_object *params)
{
	CLEANUP_TEXT struct text t = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(daemon_errors); i++)
		if (str_eq(daemon_errors[i].name, error))
			return daemon_errors[i].fail(c, params);
	if (member(params, "message"))
		return fail_message(c, params);
	text_add_safe(&t, error, strlen(error), 200);
	if (params && json_object_object_length(params)) {
		const char *s = json_object_to_json_string_ext(params, JSON_C_TO_STRING_PLAIN);

		text_add(&t, " ");
		text_add_safe(&t, s, strlen(s), 800);
	}
	return ctl_fail(c, CTL_FAILED, "smcd refused: %s", text_str(&t));
}

/* ---- calls ---- */

static const char *socket_path(const struct ctl *c)
{
	return request_has(c->req, OPT_SOCKET) ? c->req->value[OPT_SOCKET] : SMCD_SOCKET;
}

static bool takes_netns(const struct method *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(m->in) && m->in[i].name; i++)
		if (str_eq(m->in[i].name, "netns"))
			return true;
	return false;
}

/* A call that smcd did not answer: whether it came too late or not at all. Returns the exit code. */
static int fail_call(struct ctl *c, const struct err *e, enum access access)
{
	return ctl_fail(c, e->code == -ETIMEDOUT ? CTL_UNREACHABLE : CTL_FAILED, "%s%s%s",
			e->code == -ETIMEDOUT ? "smcd does not answer: " : "", e->text,
			access == ACCESS_WRITE ? "; whether it was done is not known" : "");
}

static int call(struct ctl *c, enum method_id m, const struct noun *noun, struct json_object *params,
		struct json_object **ret)
{
	CLEANUP_JSON struct json_object *reply = NULL;
	CLEANUP_FREE char *error = NULL;
	struct err e = { 0 };
	char name[128];

	if (takes_netns(&methods[m]) && request_has(c->req, OPT_NETNS))
		json_object_object_add(params, "netns", json_object_new_string(c->req->value[OPT_NETNS]));
	snprintf(name, sizeof(name), "%s.%s", SMCD_INTERFACE, noun ? noun->method : methods[m].name);
	if (varlink_call(c->daemon, name, params, &reply, &error, &e) < 0)
		return fail_call(c, &e, methods[m].access);
	if (error)
		return fail_daemon(c, error, reply);
	*ret = reply;
	reply = NULL;
	return CTL_OK;
}

/*
 * Connect to smcd, unless this command has done so. Where there is none, or its socket is closed to the caller,
 * c->daemon stays NULL and c->daemon_error says why (-ENOENT, -ECONNREFUSED; -EACCES); everything else is reported
 * here, because a smcd that is there and does not answer is no reason to go past it.
 */
static int reach_daemon(struct ctl *c)
{
	struct err e = { 0 };
	int r;

	if (c->daemon || c->daemon_error || request_has(c->req, OPT_DIRECT))
		return CTL_OK;
	r = varlink_connect(socket_path(c), CALL_TIMEOUT_SEC, &c->daemon, &e);
	if (r == -ENOENT || r == -ECONNREFUSED || r == -EACCES || r == -EPERM)
		c->daemon_error = r;
	else if (r < 0)
		return ctl_fail(c, CTL_UNREACHABLE, "%s: %s",
				r == -ETIMEDOUT ? "smcd does not answer" : "smcd cannot be reached", e.text);
	return CTL_OK;
}

static bool is_denied(int code)
{
	return code == -EACCES || code == -EPERM;
}

const char *ctl_daemon_state(const struct ctl *c)
{
	if (c->daemon)
		return "running";
	if (!c->daemon_error)
		return "not asked";
	return is_denied(c->daemon_error) ? "no access" : "not running";
}

/* Once in a shell, not with every command; never where it was asked for. */
static void say_direct(struct ctl *c)
{
	if (!c->daemon_error || c->session->said_direct)
		return;
	c->session->said_direct = true;
	if (is_denied(c->daemon_error))
		ctl_note(c, "access to smcd was refused (members of group smcd have it); read from the kernel "
			    "directly");
	else
		ctl_note(c, "smcd is not running; read from the kernel directly");
}

static int open_kernel(struct ctl *c, struct err *e)
{
	const char *netns = asked_netns(c);
	struct features features;
	struct transport t;
	int r;

	if (c->kernel)
		return 0;
	r = transport_open(netns, NULL, &t, e);
	if (r >= 0)
		r = kernel_new(t, netns, &c->kernel);
	if (r < 0) {
		e->code = r;
		return *e->text ? r : err_set(e, r, "open the kernel's interfaces: %s", strerror(-r));
	}
	/* Looking must not load a module: that is left to smcd and to who administers the host. */
	return kernel_probe(c->kernel, false, &features, e);
}

int ctl_kernel(struct ctl *c, struct kernel **ret)
{
	struct err e = { 0 };

	if (open_kernel(c, &e) < 0)
		return ctl_fail_err(c, &e);
	*ret = c->kernel;
	return CTL_OK;
}

const struct offered_knob *ctl_offered(struct ctl *c, const char *name)
{
	struct err e = { 0 };

	if (!c->offered_read && open_kernel(c, &e) == 0)
		(void)kernel_knobs_offered(c->kernel, &c->offered, &e);
	c->offered_read = true;
	return offered_find(&c->offered, name);
}

static int read_direct(struct ctl *c, enum method_id m, const struct noun *noun, struct json_object *params,
		       struct json_object **ret)
{
	static const struct read_context none = { 0 };
	struct kernel *k = NULL;
	struct err e = { 0 };
	int r = ctl_kernel(c, &k);

	if (r != CTL_OK)
		return r;
	r = read_method(k, m, noun, params, &none, ret, &e);
	return r < 0 ? ctl_fail_err(c, &e) : CTL_OK;
}

int ctl_read(struct ctl *c, enum method_id m, const struct noun *noun, struct json_object *given,
	     struct json_object **ret)
{
	CLEANUP_JSON struct json_object *params = given ? given : json_object_new_object();
	int r = reach_daemon(c);

	if (r != CTL_OK)
		return r;
	if (c->daemon)
		return call(c, m, noun, params, ret);
	say_direct(c);
	return read_direct(c, m, noun, params, ret);
}

int ctl_write(struct ctl *c, enum method_id m, struct json_object *given, struct json_object **ret)
{
	CLEANUP_JSON struct json_object *params = given;
	int r = reach_daemon(c);

	if (r != CTL_OK)
		return r;
	if (is_denied(c->daemon_error))
		return ctl_fail(c, CTL_DENIED,
				"access to smcd at %s was refused: changes need root; members of group smcd may read, "
				"and what only shows takes --direct",
				socket_path(c));
	if (!c->daemon)
		return ctl_fail(c, CTL_UNREACHABLE, "smcd is not running (%s: %s); start it with: systemctl start smcd",
				socket_path(c), strerror(-c->daemon_error));
	return call(c, m, NULL, params, ret);
}

int ctl_daemon_info(struct ctl *c, struct json_object **ret)
{
	CLEANUP_JSON struct json_object *reply = NULL;
	CLEANUP_FREE char *error = NULL;
	struct err e = { 0 };
	int r = reach_daemon(c);

	*ret = NULL;
	if (r != CTL_OK || !c->daemon)
		return r;
	if (varlink_call(c->daemon, VARLINK_SERVICE ".GetInfo", NULL, &reply, &error, &e) < 0)
		return fail_call(c, &e, ACCESS_READ);
	if (error)
		return fail_daemon(c, error, reply);
	*ret = reply;
	reply = NULL;
	return CTL_OK;
}

int ctl_status(struct ctl *c, struct json_object **ret)
{
	int r = reach_daemon(c);

	if (r != CTL_OK || c->daemon)
		return r != CTL_OK ? r : call(c, METHOD_GET_STATUS, NULL, NULL, ret);
	say_direct(c);
	*ret = NULL;
	return CTL_OK;
}

/* ---- output ---- */

int ctl_print_json(struct ctl *c, struct json_object *reply)
{
	CLEANUP_JSON struct json_object *o = document_new(c);
	CLEANUP_TEXT struct text t = { 0 };

	json_object_object_foreach(reply, key, value) json_object_object_add(o, key, json_object_get(value));
	document_text(o, &t);
	return ctl_print(c, &t, false);
}

int ctl_print(struct ctl *c, const struct text *t, bool head)
{
	const char *s = text_str(t), *end = strchr(s, '\n');
	bool colour = head && end && c->session->tty && !c->session->no_color && !request_has(c->req, OPT_NO_COLOR);

	if (t->failed)
		return ctl_fail(c, CTL_FAILED, "out of memory");
	if (colour)
		fprintf(c->session->out, "\033[1m%.*s\033[0m%s", (int)(end - s), s, end);
	else
		fwrite(s, 1, t->len, c->session->out);
	return CTL_OK;
}

int ctl_print_help(struct ctl *c, const char *name, const struct command *command)
{
	CLEANUP_JSON struct json_object *o = NULL;
	CLEANUP_TEXT struct text t = { 0 };

	if (request_has(c->req, OPT_JSON)) {
		o = help_json(name, command);
		return ctl_print_json(c, o);
	}
	if (command)
		help_command(command, &t);
	else if (name)
		help_name(name, &t);
	else
		help_all(&t);
	return ctl_print(c, &t, false);
}

/* ---- running ---- */

static int usage_error(struct ctl *c, const struct err *e)
{
	return ctl_fail(c, CTL_USAGE, "%s; see smcctl --help", e->text);
}

static int run_request(struct ctl *c)
{
	const struct request *r = c->req;

	if (request_has(r, OPT_HELP))
		return ctl_print_help(c, r->name, r->command);
	if (request_has(r, OPT_VERSION) && !r->command)
		return cmd_version(c, r);
	return r->command->run(c, r);
}

/* --json counts for a line's error even where the line could not be read. */
static bool json_asked(int n, char *const *words)
{
	for (int i = 0; i < n && !str_eq(words[i], "--"); i++)
		if (str_eq(words[i], "--json") || str_eq(words[i], "-j"))
			return true;
	return false;
}

static int parse_and_run(struct ctl *c, struct request *req, int n, char *const *words)
{
	struct err e = { 0 };
	int r = request_parse(n, words, req, &e);

	if (r >= 0)
		return run_request(c);
	req->given = json_asked(n, words) ? OPTION(OPT_JSON) : 0;
	return r == -ENOMEM ? ctl_fail_err(c, &e) : usage_error(c, &e);
}

int ctl_run(struct session *s, int n, char *const *words)
{
	CLEANUP_REQUEST struct request req = { 0 };
	struct ctl c = { .session = s, .req = &req };
	int r = parse_and_run(&c, &req, n, words);

	if (c.failures.len && request_has(&req, OPT_JSON))
		print_failures(&c, r);
	text_done(&c.failures);
	offered_done(&c.offered);
	c.kernel = kernel_free(c.kernel);
	c.daemon = varlink_free(c.daemon);
	/* A full disk or a closed pipe must not look like success. */
	if (fflush(s->out) != 0 || ferror(s->out)) {
		fprintf(s->err, "smcctl: write the output: %s\n", strerror(errno));
		clearerr(s->out);
		return r == CTL_OK ? CTL_FAILED : r;
	}
	return r;
}
