// SPDX-License-Identifier: GPL-2.0-or-later
/* monitor.c - events of the kernel, a line each, until the reader or a signal ends it. */
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
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
		text_add(out, " events were lost%s\n",
			 !ev->reread  ? " before the next one"
			 : ev->rows.n ? "; the knobs were read again, and these have changed:"
				      : "; the knobs were read again, and none is different");
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

/* Ctrl-C and TERM are read, a reader that has gone is an error of a write; all is as before afterwards. */
struct signals {
	struct sigaction pipe_before;
	sigset_t before;
	int fd;
};

static int signals_take(struct signals *ret)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t taken;

	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	ret->fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ret->fd < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &taken, &ret->before);
	sigaction(SIGPIPE, &ignore, &ret->pipe_before);
	return 0;
}

/* What came is used up: a shell goes on after it. */
static void signals_give_back(struct signals *s)
{
	struct signalfd_siginfo used;

	while (read(s->fd, &used, sizeof(used)) > 0)
		;
	close_fd(&s->fd);
	sigaction(SIGPIPE, &s->pipe_before, NULL);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

/* 1: the events are to be read, 0: it is time to end, -errno. */
static int wait_for_event(struct ctl *c, const struct events *w, const struct signals *s)
{
	struct pollfd fds[] = {
		{ .fd = kernel_events_fd(w), .events = POLLIN },
		{ .fd = s->fd, .events = POLLIN },
		{ .fd = fileno(c->session->out) },
	};

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
		return errno == EINTR ? 1 : -errno;
	/* A signal; a pipe without a reader, or a terminal that was closed. */
	return !fds[1].revents && !(fds[2].revents & (POLLERR | POLLHUP));
}

/* The same until the reader takes a line: a write that waits for it could not be ended by a signal. */
static int wait_for_reader(struct ctl *c, const struct signals *s)
{
	struct pollfd fds[] = {
		{ .fd = s->fd, .events = POLLIN },
		{ .fd = fileno(c->session->out), .events = POLLOUT },
	};

	while (poll(fds, ARRAY_SIZE(fds), -1) < 0)
		if (errno != EINTR)
			return -errno;
	return !fds[0].revents && !(fds[1].revents & (POLLERR | POLLHUP));
}

static bool is_wanted(const struct request *r, const struct event *ev)
{
	for (size_t i = 0; i < r->n_args; i++)
		if (str_eq(r->args[i].word, ev->rows.noun->name))
			return true;
	return r->n_args == 0 || ev->lost;
}

/* One event: 1 it was shown, or is not wanted; 0 none waits; negative: it is over, and *ret_rc is how. */
static int show_next(struct ctl *c, struct events *w, int *ret_rc)
{
	CLEANUP_EVENT struct event ev = { 0 };
	struct err e = { 0 };
	int r = kernel_event_next(w, &ev, &e);

	*ret_rc = CTL_OK;
	if (r == -EBADMSG)
		ctl_note(c, "%s", e.text); /* the rest goes on */
	else if (r < 0)
		*ret_rc = ctl_fail_err(c, &e);
	else if (r > 0 && is_wanted(c->req, &ev))
		*ret_rc = show_event(c, &ev);
	if (*ret_rc != CTL_OK)
		return -1;
	if (fflush(c->session->out) == EOF && errno == EPIPE) {
		/* Who read it has enough. */
		clearerr(c->session->out);
		return -1;
	}
	if (ferror(c->session->out)) {
		*ret_rc = CTL_FAILED; /* said at the end */
		return -1;
	}
	return r != 0;
}

static int monitor(struct ctl *c, struct events *w, const struct signals *s)
{
	int r = 0, rc = CTL_OK;

	for (;;) {
		int ready = r ? 1 : wait_for_event(c, w, s);

		if (ready > 0)
			ready = wait_for_reader(c, s);
		if (ready < 0)
			return ctl_fail(c, CTL_FAILED, "wait for events: %s", strerror(-ready));
		if (ready == 0)
			return CTL_OK;
		r = show_next(c, w, &rc);
		if (r < 0)
			return rc;
	}
}

static bool is_kind(const char *word)
{
	for (enum event_kind kind = 0; kind < N_EVENTS; kind++)
		if (str_eq(event_types[kind].noun.name, word))
			return true;
	return false;
}

static int fail_kind(struct ctl *c, const char *word)
{
	CLEANUP_TEXT struct text kinds = { 0 };
	char shown[4 * SHOWN_MAX + 4];

	for (enum event_kind kind = 0; kind < N_EVENTS; kind++)
		text_add(&kinds, "%s%s", kind ? ", " : "", event_types[kind].noun.name);
	return ctl_fail(c, CTL_USAGE, "there is no kind of event '%s': %s", safe_str(shown, sizeof(shown), word),
			text_str(&kinds));
}

static int check_kinds(struct ctl *c, const struct request *r)
{
	for (size_t i = 0; i < r->n_args; i++)
		if (!is_kind(r->args[i].word))
			return fail_kind(c, r->args[i].word);
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
	rc = signals_take(&s);
	if (rc < 0) {
		rc = ctl_fail(c, CTL_FAILED, "wait for signals: %s", strerror(-rc));
	} else {
		rc = monitor(c, &w, &s);
		signals_give_back(&s);
	}
	events_done(&w);
	return rc;
}
