/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch.c - see watch.h. */
#include <sys/epoll.h>

#include "watch.h"

static const struct logger *log_of(const struct watch *w)
{
	return w->m->config.log;
}

static void log_row(const struct watch *w, int priority, const char *id, const struct event *ev, size_t row,
		    const char *what)
{
	CLEANUP_TEXT struct text t = { 0 };

	event_text(ev->kind, &ev->rows, row, &t);
	log_to(log_of(w), priority, id, "%s%s", text_str(&t), what);
}

/* ---- the kinds ---- */

/* smcd's own changes are in the log already. */
static void take_knobs(struct watch *w, const struct event *ev)
{
	for (size_t i = 0; i < ev->rows.n && !ev->own; i++)
		log_row(w, LOG_NOTICE, LOG_ID_OTHERS, ev, i,
			ev->reread ? " [found when read again]" : " [changed by somebody else]");
}

static bool is_own(const struct value *row, const struct pnet_entry *own, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!own[i].id[0] || row[EP_ID].kind == VALUE_ABSENT || str_eq(row[EP_ID].s, own[i].id))
			return true;
	return false;
}

static void take_pnet(struct watch *w, const struct event *ev, const struct pnet_entry *own, size_t n)
{
	for (size_t i = 0; i < ev->rows.n; i++)
		if (!is_own(list_row(&ev->rows, i), own, n))
			log_row(w, LOG_NOTICE, LOG_ID_OTHERS, ev, i, " [changed by somebody else]");
}

static void take_links(struct watch *w, const struct event *ev)
{
	for (size_t i = 0; i < ev->rows.n; i++)
		log_row(w, LOG_INFO, NULL, ev, i, "");
}

/* The row of the reason; a free one, or the oldest, where there is none. */
static struct watch_fallback *fallback_row(struct watch *w, const struct value *row)
{
	struct watch_fallback *f = NULL;

	for (size_t i = 0; i < WATCH_FALLBACKS; i++) {
		struct watch_fallback *x = &w->fallbacks[i];

		if (x->since_usec && x->role == row[EF_ROLE].u && x->reason == row[EF_REASON].u &&
		    x->peer_reason == row[EF_PEER_REASON].u)
			return x;
		if (!f || x->since_usec < f->since_usec)
			f = x;
	}
	*f = (struct watch_fallback){ row[EF_ROLE].u, row[EF_REASON].u, row[EF_PEER_REASON].u, 0, 0 };
	return f;
}

static void take_fallback(struct watch *w, const struct event *ev)
{
	const struct value *row = list_row(&ev->rows, 0);
	struct watch_fallback *f = fallback_row(w, row);
	uint64_t now = w->m->config.now_usec();
	char more[64] = "";

	/* A clock that was set back ends the time as well. */
	if (f->since_usec && now >= f->since_usec && now - f->since_usec < WATCH_FALLBACK_SEC * 1000000ull) {
		f->more++;
		return;
	}
	if (f->more)
		snprintf(more, sizeof(more), " [and %llu more since the last one]", (unsigned long long)f->more);
	f->since_usec = now ?: 1;
	f->more = 0;
	log_row(w, LOG_INFO, NULL, ev, 0, more);
}

static void take_event(struct watch *w, const struct event *ev, const struct pnet_entry *own, size_t n)
{
	if (ev->reread)
		log_warning(log_of(w),
			    "events of the kernel were lost: the knobs were read again, %zu of them have "
			    "another value; changes of the pnet table and of links may not be in this log",
			    ev->rows.n);
	switch (ev->kind) {
	case EVENT_KNOB:
		take_knobs(w, ev);
		break;
	case EVENT_PNET:
		take_pnet(w, ev, own, n);
		break;
	case EVENT_LINK:
		take_links(w, ev);
		break;
	case EVENT_FALLBACK:
		take_fallback(w, ev);
		break;
	case N_EVENTS:
		break;
	}
}

/* ---- listening ---- */

static void stop(struct watch *w)
{
	w->source = sd_event_source_disable_unref(w->source);
	events_done(&w->events);
}

void watch_take(struct watch *w, const struct pnet_entry *own, size_t n)
{
	/* What is one's own is taken to the last one: later nobody would know that it is. */
	for (int i = 0; w->source && i < (n ? EVENTS_SKIPPED_MAX : WATCH_AT_ONCE); i++) {
		CLEANUP_EVENT struct event ev = { 0 };
		struct err e = { 0 };
		int r = kernel_event_next(&w->events, &ev, &e);

		if (r == 0)
			return;
		if (r > 0) {
			take_event(w, &ev, own, n);
			continue;
		}
		log_warning(log_of(w), "%s", e.text);
		if (r == -EBADMSG)
			continue;
		/* It would wake up again and again. A reload begins anew. */
		log_warning(log_of(w), "changes by others are not seen until the next reload");
		stop(w);
	}
}

static int on_event(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	(void)s;
	(void)fd;
	(void)revents;
	watch_take(userdata, NULL, 0);
	return 0;
}

void watch_start(struct watch *w, struct manager *m, sd_event *event)
{
	struct err e = { 0 };
	int r;

	watch_take(w, NULL, 0); /* what is read anew below is no event any more */
	stop(w);
	w->m = m;
	w->event = event;
	if (!m->features.tune)
		return;
	r = kernel_events_open(m->k, &w->events, &e);
	if (r < 0) {
		log_warning(log_of(w), "%s; changes by others are not seen at once", e.text);
		return;
	}
	r = sd_event_add_io(event, &w->source, kernel_events_fd(&w->events), EPOLLIN, on_event, w);
	if (r < 0) {
		log_warning(log_of(w), "listen for events: %s; changes by others are not seen at once", strerror(-r));
		stop(w);
	}
}

void watch_done(struct watch *w)
{
	stop(w);
}
