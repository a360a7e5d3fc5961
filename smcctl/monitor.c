// SPDX-License-Identifier: GPL-2.0-or-later
/* monitor.c - events of the kernel, a line each, until the reader or a signal ends it. */
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "render.h"
#include "smcctl.h"

/* ---- one event ---- */

static void add_time(const struct timespec *now, struct text *t)
{
	char buf[64];
	struct tm tm;

	if (localtime_r(&now->tv_sec, &tm) && strftime(buf, sizeof(buf), "%H:%M:%S", &tm))
		text_add(t, "%s.%03ld", buf, now->tv_nsec / 1000000);
}

/* A knob's values as knobs show has them, by the knob's own notation. */
static void render_knob_values(struct json_object *o, const struct value *row)
{
	const struct knob *k = knob_find(row[EK_NAME].s);
	const struct field *f = event_types[EVENT_KNOB].noun.fields;

	if (!k)
		return;
	json_object_object_add(o, f[EK_OLD].name, render_value(&k->spec, row[EK_OLD]));
	json_object_object_add(o, f[EK_VALUE].name, render_value(&k->spec, row[EK_VALUE]));
}

static void event_json(const struct event *ev, const struct timespec *now, const char *netns, struct text *out)
{
	const struct noun *n = ev->rows.noun;
	CLEANUP_JSON struct json_object *o = json_object_new_object();
	struct json_object *rows = render_list(&ev->rows);
	CLEANUP_TEXT struct text time = { 0 };

	text_add(&time, "%lld.%06ld", (long long)now->tv_sec, now->tv_nsec / 1000);
	json_object_object_add(o, "schema", json_object_new_int(1));
	json_object_object_add(o, "netns", json_object_new_string(netns));
	json_object_object_add(o, "time", json_object_new_double_s((double)now->tv_sec, text_str(&time)));
	json_object_object_add(o, "event", json_object_new_string(n->name));
	json_object_object_add(o, "lost", json_object_new_boolean(ev->lost));
	json_object_object_add(o, "rows", rows);
	for (size_t i = 0; ev->kind == EVENT_KNOB && i < ev->rows.n; i++)
		render_knob_values(json_object_array_get_idx(rows, i), list_row(&ev->rows, i));
	document_line(o, out);
}

static void event_lines(const struct event *ev, const struct timespec *now, struct text *out)
{
	if (ev->lost) {
		add_time(now, out);
		text_add(out, " events were lost; the knobs were read again%s\n",
			 ev->rows.n ? ", and these have changed:" : " and have not changed");
	}
	for (size_t i = 0; i < ev->rows.n; i++) {
		CLEANUP_TEXT struct text t = { 0 };

		event_text(ev->kind, &ev->rows, i, &t);
		add_time(now, out);
		text_add(out, " ");
		text_add_mem(out, text_str(&t), t.len);
		text_add(out, "\n");
	}
}

static int show_event(struct ctl *c, const struct event *ev)
{
	CLEANUP_TEXT struct text t = { 0 };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (request_has(c->req, OPT_JSON))
		event_json(ev, &now, request_has(c->req, OPT_NETNS) ? c->req->value[OPT_NETNS] : "", &t);
	else
		event_lines(ev, &now, &t);
	return ctl_print(c, &t, false);
}

/* ---- until it ends ---- */

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* Ctrl-C and TERM end the waiting, a reader that has gone is an error of a write; all is as before afterwards. */
struct signals {
	struct sigaction before[3];
	sigset_t mask;
};
static const int signals_taken[] = { SIGINT, SIGTERM, SIGPIPE };

static void signals_take(struct signals *s)
{
	sigset_t blocked;

	interrupted = 0;
	sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(signals_taken); i++) {
		struct sigaction a = { .sa_handler = signals_taken[i] == SIGPIPE ? SIG_IGN : on_signal };

		sigaction(signals_taken[i], &a, &s->before[i]);
		if (signals_taken[i] != SIGPIPE)
			sigaddset(&blocked, signals_taken[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, &s->mask);
}

static void signals_give_back(const struct signals *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(signals_taken); i++)
		sigaction(signals_taken[i], &s->before[i], NULL);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* 1: the events are to be read, 0: it is time to end, -errno. */
static int wait_for_event(struct ctl *c, const struct events *w, const struct signals *s)
{
	struct pollfd fds[] = { { .fd = kernel_events_fd(w), .events = POLLIN }, { .fd = fileno(c->session->out) } };
	sigset_t unblocked = s->mask;

	sigdelset(&unblocked, SIGINT);
	sigdelset(&unblocked, SIGTERM);
	if (ppoll(fds, ARRAY_SIZE(fds), NULL, &unblocked) < 0)
		return errno == EINTR ? !interrupted : -errno;
	/* A pipe without a reader, a terminal that was closed. */
	return !interrupted && !(fds[1].revents & (POLLERR | POLLHUP));
}

static bool is_wanted(const struct request *r, const struct event *ev)
{
	for (size_t i = 0; i < r->n_args; i++)
		if (str_eq(r->args[i].word, ev->rows.noun->name))
			return true;
	return r->n_args == 0 || ev->lost;
}

/* All that waits. One that is malformed is told of and the rest goes on. */
static int show_waiting(struct ctl *c, struct events *w)
{
	for (;;) {
		CLEANUP_EVENT struct event ev = { 0 };
		struct err e = { 0 };
		int rc, r = kernel_event_next(w, &ev, &e);

		if (r == -EBADMSG)
			ctl_note(c, "%s", e.text);
		else if (r < 0)
			return ctl_fail_err(c, &e);
		if (r == 0)
			return CTL_OK;
		rc = r > 0 && is_wanted(c->req, &ev) ? show_event(c, &ev) : CTL_OK;
		if (rc != CTL_OK)
			return rc;
	}
}

static int monitor(struct ctl *c, struct events *w, const struct signals *s)
{
	int rc = CTL_OK;

	while (rc == CTL_OK) {
		int r = wait_for_event(c, w, s);

		if (r < 0)
			return ctl_fail(c, CTL_FAILED, "wait for events: %s", strerror(-r));
		if (r == 0)
			return CTL_OK;
		rc = show_waiting(c, w);
		if (fflush(c->session->out) == EOF && errno == EPIPE) {
			/* Who read it has enough. */
			clearerr(c->session->out);
			return CTL_OK;
		}
		if (ferror(c->session->out))
			return CTL_FAILED; /* said at the end */
	}
	return rc;
}

static int check_kinds(struct ctl *c, const struct request *r)
{
	for (size_t i = 0; i < r->n_args; i++) {
		char shown[4 * SHOWN_MAX + 4];
		bool known = false;

		for (enum event_kind kind = 0; kind < N_EVENTS; kind++)
			known |= str_eq(event_types[kind].noun.name, r->args[i].word);
		if (!known)
			return ctl_fail(c, CTL_USAGE, "there is no kind of event '%s': knob, pnet, link, fallback",
					safe_str(shown, sizeof(shown), r->args[i].word));
	}
	return CTL_OK;
}

int cmd_monitor(struct ctl *c, const struct request *r)
{
	struct events w = { 0 };
	struct kernel *k = NULL;
	struct signals s;
	struct err e = { 0 };
	int rc = check_kinds(c, r);

	if (rc == CTL_OK)
		rc = ctl_kernel(c, &k);
	if (rc != CTL_OK)
		return rc;
	if (kernel_events_open(k, &w, &e) < 0)
		return ctl_fail_err(c, &e);
	fflush(c->session->out);
	signals_take(&s);
	rc = monitor(c, &w, &s);
	signals_give_back(&s);
	events_done(&w);
	return rc;
}
