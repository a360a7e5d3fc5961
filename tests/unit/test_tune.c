// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The family smc_tune on the fake kernel: knobs as the kernel describes them, set together or not at all, without a
 * sysctl being read; and kernels without it, where the older surfaces serve.
 */
#include "env.h"
#include "render.h"

/* With the text that a person would read. */
#define assert_code(v, r, want_)                                                                                       \
	do {                                                                                                           \
		int got_ = (r);                                                                                        \
		if (got_ != (want_))                                                                                   \
			print_error("got %d (%s) instead of %d: %s\n", got_, got_ < 0 ? errno_name(got_) : "ok",       \
				    want_, (v)->e.text);                                                               \
		assert_int_equal(got_, want_);                                                                         \
	} while (0)

static void assert_says(const char *text, const char *want)
{
	if (!strstr(text, want))
		fail_msg("\"%s\" lacks \"%s\"", text, want);
}

static struct knob_change change(const char *name, uint64_t u)
{
	return (struct knob_change){ knob_find(name), value_uint(u) };
}

static void assert_sysctl(struct env *v, const char *name, const char *want)
{
	assert_string_equal(fake_sysctl(v->f, "", name), want);
}

/* ---- reading ---- */

static void test_offered(void **state)
{
	CLEANUP_OFFERED struct offered o = { 0 };
	const struct offered_knob *k;
	struct features have;
	ENV(v, "6.12-smcd");

	(void)state;
	assert_code(v, kernel_probe(v->k, false, &have, &v->e), 0);
	assert_true(have.smc && have.tune && !have.sysctl);
	fake_do(v->f, "sysctl wmem 131072");
	assert_code(v, kernel_knobs_offered(v->k, &o, &v->e), 0);
	k = offered_find(&o, "wmem");
	assert_ptr_equal(k->known, knob_find("wmem"));
	assert_int_equal(k->value.u, 131072);
	/* this kernel's range, which the table does not have */
	assert_int_equal(offered_find(&o, "smcr_testlink_time")->knob.spec.max, 2147483647 / 250);
	assert_int_equal(offered_find(&o, "hs_workers")->knob.scope, SCOPE_HOST);
	assert_int_equal(offered_find(&o, "smcr_buf_type")->knob.scope, SCOPE_RDMA_DEVICE);
	assert_null(offered_find(&o, "hs_ctrl"));
	assert_true(o.generation > 0);
	assert_int_equal(fake_requests(v->f, "sysctl_read"), 0);
}

static void test_states_without_sysctl(void **state)
{
	struct knob_state *s CLEANUP_FREE = calloc(n_knobs, sizeof(*s));
	size_t supported = 0;
	ENV(v, "6.12-smcd");

	(void)state;
	assert_code(v, knob_states_read(v->k, s, NULL, &v->e), 0);
	for (size_t i = 0; i < n_knobs; i++) {
		const char *there = fake_sysctl(v->f, "", knobs[i].name);

		assert_int_equal(s[i].supported, !!there);
		supported += s[i].supported;
		if (!there)
			continue;
		assert_string_equal(s[i].surface, "smc_tune");
		assert_int_equal(s[i].value.u, strtoull(there, NULL, 10));
		assert_true(value_equal(s[i].def, knobs[i].def));
	}
	assert_true(supported > 8);
	assert_int_equal(fake_requests(v->f, "sysctl_read"), 0);
	assert_int_equal(fake_requests(v->f, "KNOB_GET"), 1);
}

static void test_one_knob(void **state)
{
	const char *surface;
	struct value x;
	ENV(v, "6.12-smcd");

	(void)state;
	assert_code(v, kernel_knob_read(v->k, knob_find("wmem"), &x, &surface, &v->e), 0);
	assert_int_equal(x.u, 65536);
	assert_string_equal(surface, "smc_tune");
	/* in the table, and not in this kernel */
	assert_code(v, kernel_knob_get(v->k, knob_find("smcr_max_send_wr"), &x, &v->e), -EOPNOTSUPP);
	assert_says(v->e.text, "since Linux after 6.12");
	assert_code(v, kernel_knob_get(v->k, knob_find("hs_ctrl"), &x, &v->e), -EOPNOTSUPP);
	assert_code(v, kernel_knob_set(v->k, knob_find("hs_ctrl"), value_str("x"), &v->e), -EOPNOTSUPP);
	assert_int_equal(fake_requests(v->f, "sysctl_read") + fake_requests(v->f, "sysctl_write"), 0);
}

static void test_namespace(void **state)
{
	ENV(v, "6.12-smcd");
	struct kernel *blue CLEANUP_KERNEL = NULL;
	CLEANUP_OFFERED struct offered o = { 0 };
	struct knob_change c[] = { change("wmem", 262144), change("hs_workers", 3) };

	(void)state;
	fake_do(v->f, "netns blue");
	blue = fake_kernel(v->f, "blue");
	assert_code(v, kernel_knobs_offered(blue, &o, &v->e), 0);
	assert_null(offered_find(&o, "hs_workers"));
	assert_true(offered_find(&o, "smcr_buf_type")->read_only);
	/* what belongs to the host takes the rest along */
	assert_code(v, kernel_knobs_set(blue, c, 2, &v->e), -EOPNOTSUPP);
	assert_says(v->e.text, "'hs_workers': this kernel does not have it here: it belongs to the host");
	assert_string_equal(fake_sysctl(v->f, "blue", "wmem"), "65536");
	assert_code(v, kernel_knobs_set(blue, c, 1, &v->e), 0);
	assert_string_equal(fake_sysctl(v->f, "blue", "wmem"), "262144");
	assert_sysctl(v, "wmem", "65536");
	c[0] = change("smcr_buf_type", 1);
	assert_code(v, kernel_knobs_set(blue, c, 1, &v->e), -EPERM);
	assert_string_equal(v->e.ext, "smcr_buf_type: no RDMA device is of this namespace");
}

/* ---- setting ---- */

static void test_together(void **state)
{
	struct knob_change c[] = { change("wmem", 262144), change("rmem", 131072), change("limit_smc_hs", 1) };
	ENV(v, "6.12-smcd");

	(void)state;
	assert_true(kernel_knobs_together(v->k));
	assert_code(v, kernel_knobs_set(v->k, c, 3, &v->e), 0);
	assert_sysctl(v, "wmem", "262144");
	assert_sysctl(v, "rmem", "131072");
	assert_sysctl(v, "limit_smc_hs", "1");
	assert_int_equal(fake_requests(v->f, "KNOB_SET"), 1);
	assert_int_equal(fake_requests(v->f, "sysctl_write") + fake_requests(v->f, "sysctl_read"), 0);
}

/* The table's range is wider than this kernel's: the kernel refuses, all of it, and says why. */
static void test_refused_wholly(void **state)
{
	struct knob_change c[] = { change("wmem", 262144), change("smcr_testlink_time", 2147483647 / 100) };
	ENV(v, "6.12-smcd");

	(void)state;
	assert_code(v, kernel_knobs_set(v->k, c, 2, &v->e), -ERANGE);
	assert_string_equal(v->e.ext, "smcr_testlink_time: not in 0..8589934");
	assert_says(v->e.text, "set 'wmem', 'smcr_testlink_time': ");
	assert_sysctl(v, "wmem", "65536");
	/* what the table itself excludes is not sent */
	c[1] = change("rmem", 1);
	assert_code(v, kernel_knobs_set(v->k, c, 2, &v->e), -ERANGE);
	assert_says(v->e.text, "'rmem': '1' is out of range");
	assert_int_equal(fake_requests(v->f, "KNOB_SET"), 1);
	/* twice the same */
	c[1] = change("wmem", 131072);
	assert_code(v, kernel_knobs_set(v->k, c, 2, &v->e), -EINVAL);
	assert_string_equal(v->e.ext, "wmem is there twice");
	assert_sysctl(v, "wmem", "65536");
}

static void test_no_rights(void **state)
{
	struct knob_change c = change("wmem", 262144);
	ENV(v, "6.12-smcd");

	(void)state;
	fake_do(v->f, "privileged off");
	assert_code(v, kernel_knobs_set(v->k, &c, 1, &v->e), -EPERM);
	assert_says(v->e.text, "CAP_NET_ADMIN in the user namespace of the network namespace");
	assert_sysctl(v, "wmem", "65536");
}

/* It says yes and does not. */
static void test_ignored(void **state)
{
	struct knob_change c = change("wmem", 262144);
	ENV(v, "6.12-smcd");

	(void)state;
	fake_do(v->f, "fault answer ignored cmd=KNOB_SET");
	assert_code(v, kernel_knobs_set(v->k, &c, 1, &v->e), -EIO);
	assert_says(v->e.text, "the kernel took 'wmem', but has 64K now");
}

/* ---- knobs that are newer ---- */

static void test_unknown(void **state)
{
	static const char *const only[] = { "turbo", NULL };
	struct knob_state *s CLEANUP_FREE = calloc(n_knobs, sizeof(*s));
	CLEANUP_OFFERED struct offered o = { 0 };
	const struct offered_knob *k;
	struct json_object *array;
	struct knob_change c[2];
	ENV(v, "6.12-smcd");

	(void)state;
	fake_do(v->f,
		"knob turbo type=choice max=2 def=1 choice0=slow choice1=fast choice2=very-fast effect=2 scope=7");
	fake_do(v->f, "knob linger unit=milliseconds min=5 max=5000 def=100 effect=77");
	fake_do(v->f, "knob eager type=bool max=1");
	fake_do(v->f, "knob strange type=9 unit=9 max=18446744073709551615 def=18446744073709551615");
	assert_code(v, knob_states_read(v->k, s, &o, &v->e), 0);
	k = offered_find(&o, "turbo");
	assert_null(k->known);
	assert_false(knob_in_table(&k->knob));
	assert_int_equal(k->knob.spec.type, TYPE_CHOICE);
	assert_string_equal(k->knob.spec.choices[2], "very-fast");
	assert_int_equal(k->knob.effect, EFFECT_NEW_LISTENERS);
	assert_int_equal(k->knob.scope, SCOPE_UNKNOWN);
	assert_int_equal(offered_find(&o, "linger")->knob.spec.type, TYPE_MSECONDS);
	assert_int_equal(offered_find(&o, "linger")->knob.effect, EFFECT_UNKNOWN);
	assert_int_equal(offered_find(&o, "eager")->knob.spec.type, TYPE_BOOL);
	assert_int_equal(offered_find(&o, "strange")->knob.spec.type, TYPE_COUNT);
	assert_true(offered_find(&o, "strange")->value.u == UINT64_MAX);
	array = render_knobs(s, &o, only);
	assert_int_equal(json_object_array_length(array), 1);
	assert_string_equal(
		json_object_get_string(json_object_object_get(json_object_array_get_idx(array, 0), "value")), "fast");
	json_object_put(array);
	/* set beside one of the table */
	c[0] = change("wmem", 262144);
	c[1] = (struct knob_change){ &offered_find(&o, "linger")->knob, value_uint(5001) };
	assert_code(v, kernel_knobs_set(v->k, c, 2, &v->e), -ERANGE);
	assert_says(v->e.text, "5..5000 milliseconds");
	c[1].v = value_uint(250);
	assert_code(v, kernel_knobs_set(v->k, c, 2, &v->e), 0);
	offered_done(&o);
	assert_code(v, kernel_knobs_offered(v->k, &o, &v->e), 0);
	assert_int_equal(offered_find(&o, "linger")->value.u, 250);
	assert_int_equal(offered_find(&o, "wmem")->value.u, 262144);
}

/* ---- without it, and coming and going ---- */

static void test_without(void **state)
{
	static const char *const eras[] = { "6.1", "6.12", "7.2" };
	struct knob_change c = change("wmem", 262144);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(eras); i++) {
		CLEANUP_OFFERED struct offered o = { 0 };
		const char *surface;
		struct features have;
		struct value x;
		ENV(v, eras[i]);

		assert_code(v, kernel_probe(v->k, false, &have, &v->e), 0);
		assert_true(have.sysctl && !have.tune);
		assert_code(v, kernel_knobs_offered(v->k, &o, &v->e), -EOPNOTSUPP);
		assert_says(v->e.text, "does not have the generic netlink family smc_tune");
		assert_code(v, kernel_knobs_set(v->k, &c, 1, &v->e), -EOPNOTSUPP);
		assert_code(v, kernel_knob_read(v->k, c.knob, &x, &surface, &v->e), 0);
		assert_string_equal(surface, "sysctl");
		/* that it is not there is asked once */
		assert_int_equal(fake_requests(v->f, "GETFAMILY"), 1);
	}
}

static void test_reload(void **state)
{
	struct knob_change c = change("wmem", 262144);
	struct features have;
	ENV(v, "6.12-smcd");

	(void)state;
	assert_code(v, kernel_knobs_set(v->k, &c, 1, &v->e), 0);
	/* other numbers for the families */
	fake_do(v->f, "module unload");
	fake_do(v->f, "module load");
	assert_code(v, kernel_knobs_set(v->k, &c, 1, &v->e), 0);
	assert_sysctl(v, "wmem", "262144");
	fake_do(v->f, "tune off");
	assert_code(v, kernel_probe(v->k, false, &have, &v->e), 0);
	assert_true(have.sysctl && !have.tune);
	assert_code(v, kernel_knob_set(v->k, c.knob, c.v, &v->e), 0);
	assert_int_equal(fake_requests(v->f, "sysctl_write"), 1);
}

/* ---- bad answers ---- */

static void test_bad_answers(void **state)
{
	static const char *const faults[] = {
		"mangle attr_long cmd=KNOB_GET", "mangle attr_zero cmd=KNOB_GET", "mangle narrow cmd=KNOB_GET",
		"mangle wide cmd=KNOB_GET",      "mangle garbage cmd=KNOB_GET",   "mangle wrong_type cmd=KNOB_GET",
		"mangle truncate cmd=KNOB_GET",  "dump endless 0 cmd=KNOB_GET",   "dump no_done cmd=KNOB_GET",
		"dump EIO cmd=KNOB_GET",         "answer EPERM cmd=KNOB_GET",     "recv ENOMEM cmd=KNOB_GET",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		CLEANUP_OFFERED struct offered o = { 0 };
		ENV(v, "6.12-smcd");

		fake_do(v->f, "fault %s", faults[i]);
		if (kernel_knobs_offered(v->k, &o, &v->e) >= 0)
			fail_msg("%s: it was taken", faults[i]);
		assert_true(v->e.code < 0 && v->e.text[0]);
		assert_int_equal(o.n, 0);
	}
	/* each attribute that is left out of the first knob: an answer, or none of it */
	for (unsigned int a = 0; a < 10; a++) {
		CLEANUP_OFFERED struct offered o = { 0 };
		ENV(v, "6.12-smcd");

		fake_do(v->f, "fault mangle lacking arg=%u cmd=KNOB_GET", a);
		if (kernel_knobs_offered(v->k, &o, &v->e) >= 0)
			assert_int_equal(o.n, 13);
		else
			assert_says(v->e.text, "malformed (");
	}
	/* names that would be no names elsewhere, ranges that are none, choices without names */
	static const char *const lines[] = {
		"knob tur-bo",
		"knob a/b",
		"knob turbo min=5 max=4",
		"knob turbo type=choice max=1 choice0=one",
		"knob turbo type=choice max=0 choice0=\"a b\"",
	};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP_OFFERED struct offered o = { 0 };
		ENV(v, "6.12-smcd");

		fake_do(v->f, "%s", lines[i]);
		if (kernel_knobs_offered(v->k, &o, &v->e) != -EBADMSG)
			fail_msg("%s: it was taken", lines[i]);
	}
}

/* An overrun is got over; an interrupted dump is of one moment all the same. */
static void test_overrun(void **state)
{
	CLEANUP_OFFERED struct offered o = { 0 };
	ENV(v, "6.12-smcd");

	(void)state;
	fake_do(v->f, "fault recv ENOBUFS cmd=KNOB_GET");
	fake_do(v->f, "fault dump intr cmd=KNOB_GET");
	assert_code(v, kernel_knobs_offered(v->k, &o, &v->e), 0);
	assert_int_equal(o.n, 13);
	assert_int_equal(fake_faults_left(v->f), 0);
}

/* ---- events ---- */

static void events_freep(struct events *w)
{
	events_done(w);
}
#define CLEANUP_EVENTS CLEANUP(events_freep)

static void assert_line(const struct event *ev, size_t row, const char *want)
{
	CLEANUP_TEXT struct text t = { 0 };

	assert_true(row < ev->rows.n);
	event_text(ev->kind, &ev->rows, row, &t);
	assert_string_equal(text_str(&t), want);
}

static void next(struct env *v, struct events *w, struct event *ev)
{
	event_done(ev);
	assert_code(v, kernel_event_next(w, ev, &v->e), 1);
}

static void test_events(void **state)
{
	ENV(v, "6.12-smcd");
	CLEANUP_EVENTS struct events w = { 0 };
	CLEANUP_EVENT struct event ev = { 0 };
	struct knob_change c[] = { change("wmem", 262144), change("rmem", 131072) };
	struct kernel *other CLEANUP_KERNEL = fake_kernel(v->f, "");

	(void)state;
	fake_do(v->f, "sysctl wmem 98304"); /* before anybody listens */
	assert_code(v, kernel_events_open(v->k, &w, &v->e), 0);
	assert_true(kernel_events_fd(&w) >= 0);
	assert_code(v, kernel_event_next(&w, &ev, &v->e), 0);
	fake_do(v->f, "sysctl wmem 131072");
	next(v, &w, &ev);
	assert_true(ev.kind == EVENT_KNOB && !ev.own && !ev.lost);
	assert_line(&ev, 0, "knob wmem: 96K -> 128K (sysctl)");
	/* one's own, and another's of the same program */
	assert_code(v, kernel_knobs_set(v->k, c, 2, &v->e), 0);
	next(v, &w, &ev);
	assert_true(ev.own && ev.rows.n == 2);
	assert_line(&ev, 1, "knob rmem: 64K -> 128K (knob-set)");
	c[0].v = value_uint(65536);
	assert_code(v, kernel_knobs_set(other, c, 2, &v->e), 0);
	next(v, &w, &ev);
	assert_true(!ev.own && ev.rows.n == 1);
	assert_line(&ev, 0, "knob wmem: 256K -> 64K (knob-set)");
	/* what changes nothing is no event */
	assert_code(v, kernel_knobs_set(other, c, 2, &v->e), 0);
	assert_code(v, kernel_event_next(&w, &ev, &v->e), 0);
	fake_do(v->f, "pnet NETA eth=eth0");
	next(v, &w, &ev);
	assert_line(&ev, 0, "pnet add: NETA interface eth0");
	assert_code(v, kernel_pnet_flush(other, &v->e), 0);
	next(v, &w, &ev);
	assert_line(&ev, 0, "pnet flush: entries: 1");
	fake_do(v->f, "event link change=link-down group=0x100 link=2 device=rxe0 port=1 state=single");
	next(v, &w, &ev);
	assert_line(&ev, 0, "link-down: smcr link group 0x00000100 link 2 on rxe0 port 1, single");
	fake_do(v->f, "event link change=group-up tech=smcd group=0x101");
	next(v, &w, &ev);
	assert_line(&ev, 0, "group-up: smcd link group 0x00000101");
	fake_do(v->f, "event fallback role=server reason=0x03010000 local=127.0.0.1 lport=80 remote=fe80::1 rport=4000 "
		      "suppressed=7 peer_reason=0x03030000");
	next(v, &w, &ev);
	assert_line(
		&ev, 0,
		"fallback as server: 127.0.0.1 port 80, peer fe80::1 port 4000: 0x03010000 PEERNOSMC, the peer's reason "
		"0x03030000 NOSMCDEV; not told of before it: 7");
	assert_code(v, kernel_event_next(&w, &ev, &v->e), 0);
}

/* Of each namespace its own. */
static void test_events_netns(void **state)
{
	ENV(v, "6.12-smcd");
	CLEANUP_EVENTS struct events w = { 0 };
	CLEANUP_EVENT struct event ev = { 0 };
	struct kernel *blue CLEANUP_KERNEL = NULL;

	(void)state;
	fake_do(v->f, "netns blue");
	blue = fake_kernel(v->f, "blue");
	assert_code(v, kernel_events_open(blue, &w, &v->e), 0);
	fake_do(v->f, "netns");
	fake_do(v->f, "sysctl wmem 131072");
	assert_code(v, kernel_event_next(&w, &ev, &v->e), 0);
	fake_do(v->f, "netns blue");
	fake_do(v->f, "sysctl wmem 131072");
	next(v, &w, &ev);
}

static void test_events_lost(void **state)
{
	ENV(v, "6.12-smcd");
	CLEANUP_EVENTS struct events w = { 0 };
	CLEANUP_EVENT struct event ev = { 0 };

	(void)state;
	assert_code(v, kernel_events_open(v->k, &w, &v->e), 0);
	/* more than the socket holds: the last ones come, and then it is read whether something else is different */
	fake_do(v->f, "sysctl rmem 98304");
	for (unsigned int i = 0; i < 100; i++)
		fake_do(v->f, "sysctl wmem %u", 65536 + 4096 * (i + 1));
	next(v, &w, &ev);
	assert_true(ev.lost && !ev.reread);
	assert_line(&ev, 0, "knob wmem: 208K -> 212K (sysctl)");
	for (unsigned int i = 0; i < 63; i++) {
		next(v, &w, &ev);
		assert_true(!ev.lost);
	}
	assert_line(&ev, 0, "knob wmem: 460K -> 464K (sysctl)");
	next(v, &w, &ev);
	assert_true(ev.lost && ev.reread && ev.kind == EVENT_KNOB && ev.rows.n == 1);
	assert_line(&ev, 0, "knob rmem: 64K -> 96K");
	assert_code(v, kernel_event_next(&w, &ev, &v->e), 0);
	/* the very last one */
	fake_do(v->f, "sysctl rmem 131072");
	fake_do(v->f, "fault recv ENOBUFS bus=events");
	next(v, &w, &ev);
	assert_true(ev.reread);
	assert_line(&ev, 0, "knob rmem: 96K -> 128K");
	/* there and back in the meantime: lost, and nothing to show */
	fake_do(v->f, "sysctl rmem 65536");
	fake_do(v->f, "sysctl rmem 131072");
	fake_do(v->f, "fault recv ENOBUFS bus=events times=2");
	next(v, &w, &ev);
	assert_true(ev.reread && ev.rows.n == 0);
	assert_code(v, kernel_event_next(&w, &ev, &v->e), 0);
	fake_do(v->f, "sysctl rmem 65536");
	next(v, &w, &ev);
	assert_true(!ev.lost);
}

/* A gap in the numbers is a loss, although the socket did not say so. */
static void test_events_gap(void **state)
{
	ENV(v, "6.12-smcd");
	CLEANUP_EVENTS struct events w = { 0 };
	CLEANUP_EVENT struct event ev = { 0 };

	(void)state;
	assert_code(v, kernel_events_open(v->k, &w, &v->e), 0);
	fake_do(v->f, "sysctl wmem 131072");
	w.known.generation--;
	next(v, &w, &ev);
	assert_true(ev.lost && !ev.reread);
	assert_line(&ev, 0, "knob wmem: 64K -> 128K (sysctl)");
	next(v, &w, &ev);
	assert_true(ev.reread && ev.rows.n == 0);
}

static void test_events_without(void **state)
{
	ENV(v, "6.12");
	CLEANUP_EVENTS struct events w = { 0 };

	(void)state;
	assert_code(v, kernel_events_open(v->k, &w, &v->e), -EOPNOTSUPP);
	assert_says(v->e.text, "listen for events: this kernel does not have the generic netlink family smc_tune");
	assert_null(w.k);
}

/* ---- statistics ---- */

static struct list list_of(struct env *v, enum noun_id noun)
{
	struct list l = { 0 };

	assert_code(v, kernel_list(v->k, &nouns[noun], &l, &v->e), 0);
	return l;
}

static void assert_cells(const struct list *l, size_t row, const char *want)
{
	CLEANUP_TEXT struct text t = { 0 };

	assert_true(row < l->n);
	for (size_t f = 0; f < l->noun->n_fields; f++) {
		text_add(&t, "%s", f ? " " : "");
		value_text(&l->noun->fields[f].spec, list_row(l, row)[f], &t);
	}
	assert_string_equal(text_str(&t), want);
}

static void test_pools(void **state)
{
	ENV(v, "6.12-smcd");
	struct kernel *blue CLEANUP_KERNEL = NULL;
	CLEANUP_LIST struct list l = { 0 }, other = { 0 };

	(void)state;
	fake_do(v->f, "netns blue");
	blue = fake_kernel(v->f, "blue");
	fake_do(v->f, "pool tech=smcr group=0x100 direction=send size=65536 buffers=3 in_use=1 reuses=7 allocations=3");
	fake_do(v->f,
		"pool tech=smcd group=0x101 direction=receive size=16384 buffers=2 in_use=2 downgrades=4 contended=9");
	l = list_of(v, NOUN_POOLS);
	assert_int_equal(l.n, 2);
	assert_cells(&l, 0, "smcr 0x00000100 send 64K 3 1 2 192K 7 3 0 0 1");
	assert_cells(&l, 1, "smcd 0x00000101 receive 16K 2 2 0 32K 0 0 4 9 -");
	/* the host's are not a namespace's, nor another's */
	assert_code(v, kernel_list(blue, &nouns[NOUN_POOLS], &other, &v->e), 0);
	assert_int_equal(other.n, 0);
}

static void test_cork(void **state)
{
	ENV(v, "6.12-smcd");
	CLEANUP_LIST struct list l = { 0 };

	(void)state;
	fake_do(v->f, "tx corked-app 5");
	fake_do(v->f, "tx flush-ceiling 8589934592");
	fake_do(v->f, "tx flush-bytes 1000");
	fake_do(v->f, "tx nocache-writes 2");
	fake_do(v->f, "tx nocache-bytes 131072");
	fake_do(v->f, "tx size1 4");
	l = list_of(v, NOUN_CORK);
	assert_int_equal(l.n, 12);
	assert_cells(&l, 0, "held application 5 -");
	assert_cells(&l, 6, "sent ceiling 8589934592 -");
	assert_cells(&l, 10, "sent all - 1000");
	assert_cells(&l, 11, "past-cache all 2 128K");
	assert_int_equal(l.parts[CORK_SIZES].n, 4);
	assert_cells(&l.parts[CORK_SIZES], 1, "4K 4");
	assert_cells(&l.parts[CORK_SIZES], 3, "- 0");
}

static void test_handshakes(void **state)
{
	ENV(v, "6.12-smcd");
	CLEANUP_LIST struct list l = { 0 };

	(void)state;
	fake_do(v->f,
		"handshakes server queued=3 active=2 established=100 fallbacks=7 errors=1 time2=100 time_sum=20000");
	fake_do(v->f, "reason role=server reason=0x03010000 count=4294967296");
	fake_do(v->f, "reason role=client reason=0x03030000 peer_reason=0x09990001 count=5");
	fake_do(v->f, "reason role=client others=on count=2");
	l = list_of(v, NOUN_HANDSHAKES);
	assert_int_equal(l.n, 2);
	assert_cells(&l, 0, "client 0 0 256 0 0 0 0");
	assert_cells(&l, 1, "server 3 2 256 100 7 1 20000");
	assert_int_equal(l.parts[HS_TIMES].n, 8);
	assert_cells(&l.parts[HS_TIMES], 6, "server 256 100");
	assert_cells(&l.parts[HS_TIMES], 7, "server - 0");
	assert_int_equal(l.parts[HS_REASONS].n, 3);
	assert_cells(&l.parts[HS_REASONS], 0, "server 0x03010000 PEERNOSMC 0x00000000 - 4294967296");
	assert_cells(&l.parts[HS_REASONS], 1, "client 0x03030000 NOSMCDEV 0x09990001 ERR_RTOK 5");
	assert_cells(&l.parts[HS_REASONS], 2, "client - - - - 2");
}

static void test_statistics_bad_answers(void **state)
{
	static const struct {
		enum noun_id noun;
		const char *cmd;
	} rows[] = { { NOUN_POOLS, "POOL_GET" }, { NOUN_CORK, "TX_GET" }, { NOUN_HANDSHAKES, "HANDSHAKE_GET" } };
	static const char *const faults[] = { "mangle attr_long", "mangle narrow",     "mangle garbage",
					      "mangle truncate",  "mangle wrong_type", "answer EIO" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (size_t f = 0; f < ARRAY_SIZE(faults); f++) {
			ENV(v, "6.12-smcd");
			CLEANUP_LIST struct list l = { 0 };

			fake_do(v->f, "pool tech=smcr group=0x100 size=65536 buffers=3");
			fake_do(v->f, "reason role=client reason=0x03030000 count=5");
			fake_do(v->f, "fault %s cmd=%s", faults[f], rows[i].cmd);
			if (kernel_list(v->k, &nouns[rows[i].noun], &l, &v->e) >= 0)
				fail_msg("%s of %s was taken", faults[f], rows[i].cmd);
			assert_true(v->e.text[0]);
		}
		ENV(old, "6.12");
		CLEANUP_LIST struct list l = { 0 };

		assert_code(old, kernel_list(old->k, &nouns[rows[i].noun], &l, &old->e), -EOPNOTSUPP);
		assert_says(old->e.text, "does not have the generic netlink family smc_tune");
		ENV(none, "unloaded");
		assert_code(none, kernel_list(none->k, &nouns[rows[i].noun], &l, &none->e), -ENOPROTOOPT);
	}
}

static void test_statistics_metrics(void **state)
{
	static const char *const lines[] = {
		"smc_pool_buffers{tech=\"smcr\",direction=\"send\",size=\"65536\",state=\"used\"} 3\n",
		"smc_pool_buffers{tech=\"smcr\",direction=\"send\",size=\"65536\",state=\"free\"} 2\n",
		"smc_pool_bytes{tech=\"smcr\",direction=\"send\",size=\"65536\"} 327680\n",
		"smc_cork_held_writes_total{cause=\"application\"} 5\n",
		"smc_cork_flush_size_bytes_bucket{le=\"4096\"} 4\n",
		"smc_cork_flush_size_bytes_bucket{le=\"+Inf\"} 4\n",
		"smc_cork_flush_size_bytes_sum 1000\n",
		"smc_handshake_duration_seconds_bucket{role=\"server\",le=\"0.000256\"} 100\n",
		"smc_handshake_duration_seconds_sum{role=\"server\"} 0.02\n",
		("smc_handshake_fallback_reasons_total{role=\"server\",code=\"0x03010000\",reason=\"PEERNOSMC\","
		 "peer_code=\"0x00000000\"} 9\n"),
		"smc_knob_cork_ceiling_seconds 0.25\n",
		"smcd_scrape_success{collector=\"pools\"} 1\n",
		"smcd_scrape_success{collector=\"handshakes\"} 1\n",
	};
	ENV(v, "6.12-smcd");
	CLEANUP_SNAPSHOT struct snapshot s = { 0 }, old = { 0 };
	CLEANUP_TEXT struct text t = { 0 }, before = { 0 };

	(void)state;
	fake_do(v->f, "sysctl cork_ceiling 250");
	fake_do(v->f, "pool tech=smcr group=0x100 direction=send size=65536 buffers=3 in_use=1");
	fake_do(v->f, "pool tech=smcr group=0x102 direction=send size=65536 buffers=2 in_use=2");
	fake_do(v->f, "tx corked-app 5");
	fake_do(v->f, "tx flush-bytes 1000");
	fake_do(v->f, "tx size1 4");
	fake_do(v->f, "handshakes server time2=100 time_sum=20000");
	fake_do(v->f, "reason role=server reason=0x03010000 count=9");
	assert_code(v, snapshot_take(v->k, &s, &v->e), 0);
	render_prometheus(&s, NULL, &t);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_says(text_str(&t), lines[i]);
	fake_do(v->f, "tune off");
	assert_code(v, snapshot_take(v->k, &old, &v->e), 0);
	render_prometheus(&old, NULL, &before);
	assert_null(strstr(text_str(&before), "smc_pool"));
	assert_null(strstr(text_str(&before), "collector=\"pools\""));
}

/* ---- the pnet table ---- */

static void assert_table(struct env *v, const char *want)
{
	CLEANUP_LIST struct list l = list_of(v, NOUN_PNET);
	CLEANUP_TEXT struct text t = { 0 };

	for (size_t i = 0; i < l.n; i++) {
		struct pnet_entry p = pnet_entry_of(&l, i);

		text_add(&t, "%s%s=%s%s%s", i ? " " : "", p.id, p.interface, p.rdma,
			 p.port == 2 ? "/2"
			 : p.port    ? "/1"
				     : "");
	}
	assert_string_equal(text_str(&t), want);
}

static struct pnet_entry entry(const char *id, const char *interface, const char *rdma, uint8_t port)
{
	struct pnet_entry p = { .port = port };

	snprintf(p.id, sizeof(p.id), "%s", id);
	snprintf(p.interface, sizeof(p.interface), "%s", interface);
	snprintf(p.rdma, sizeof(p.rdma), "%s", rdma);
	return p;
}

/* The others of the ID are never gone, not even for a moment. */
static void test_pnet_delete(void **state)
{
	struct pnet_entry p;
	ENV(v, "6.12-smcd");

	(void)state;
	fake_do(v->f, "device r rxe0 port2=on");
	fake_do(v->f, "pnet NETA eth=eth0");
	fake_do(v->f, "pnet NETA eth=eth1");
	fake_do(v->f, "pnet NETA ib=rxe0 port=1");
	fake_do(v->f, "pnet NETB eth=eth2");
	p = entry("NETA", "eth0", "", 0);
	assert_code(v, kernel_pnet_delete(v->k, &p, &v->e), 0);
	assert_table(v, "NETA=eth1 NETA=rxe0/1 NETB=eth2");
	assert_code(v, kernel_pnet_delete(v->k, &p, &v->e), -ENOENT);
	assert_says(v->e.text, "there is no such entry");
	/* the ID has to be the entry's */
	p = entry("NETB", "eth1", "", 0);
	assert_code(v, kernel_pnet_delete(v->k, &p, &v->e), -ENOENT);
	/* both of them, and any port */
	assert_string_equal(fake_port_pnetid(v->f, "rxe0", 1), "NETA");
	p = entry("NETA", "eth1", "rxe0", 0);
	assert_code(v, kernel_pnet_delete(v->k, &p, &v->e), 0);
	assert_table(v, "NETB=eth2");
	assert_string_equal(fake_port_pnetid(v->f, "rxe0", 1), "");
	assert_int_equal(fake_requests(v->f, "PNET_ADD") + fake_requests(v->f, "PNET_DEL"), 0);
	/* of an ID all, as ever */
	p = entry("NETB", "", "", 0);
	assert_code(v, kernel_pnet_delete(v->k, &p, &v->e), 0);
	assert_table(v, "");
}

static void test_pnet_delete_fails(void **state)
{
	struct pnet_entry p = entry("NETA", "eth0", "", 0);
	ENV(v, "6.12-smcd");

	(void)state;
	fake_do(v->f, "pnet NETA eth=eth0");
	fake_do(v->f, "privileged off");
	assert_code(v, kernel_pnet_delete(v->k, &p, &v->e), -EPERM);
	assert_says(v->e.text, "user namespace of the network namespace");
	fake_do(v->f, "privileged on");
	/* the answer is lost, and it was done */
	fake_do(v->f, "fault recv EIO cmd=TUNE_PNET_DEL");
	assert_code(v, kernel_pnet_delete(v->k, &p, &v->e), 0);
	assert_table(v, "");
}

static void test_pnet_replace(void **state)
{
	struct pnet_entry v200[200], two[] = { entry("NETX", "eth7", "", 0), entry("NETX", "", "rxe0", 2) };
	ENV(v, "6.12-smcd");

	(void)state;
	fake_do(v->f, "device r rxe0 port2=on");
	fake_do(v->f, "pnet NETA eth=eth0");
	fake_do(v->f, "pnet NETA ib=rxe0 port=1");
	assert_code(v, kernel_pnet_replace(v->k, two, 2, &v->e), 0);
	assert_table(v, "NETX=eth7 NETX=rxe0/2");
	assert_string_equal(fake_port_pnetid(v->f, "rxe0", 1), "");
	assert_string_equal(fake_port_pnetid(v->f, "rxe0", 2), "NETX");
	/* more than a message takes */
	for (unsigned int i = 0; i < ARRAY_SIZE(v200); i++) {
		char name[16];

		snprintf(name, sizeof(name), "eth%u", i);
		v200[i] = entry("NETZ", name, "", 0);
	}
	assert_code(v, kernel_pnet_replace(v->k, v200, ARRAY_SIZE(v200), &v->e), 0);
	assert_int_equal(fake_requests(v->f, "TUNE_PNET_ADD"), 3);
	/* one of them is wrong, or there twice: all is as it was, and no transaction is left open */
	assert_code(v, kernel_pnet_replace(v->k, two, 2, &v->e), 0);
	v200[150] = v200[20];
	assert_code(v, kernel_pnet_replace(v->k, v200, ARRAY_SIZE(v200), &v->e), -EEXIST);
	assert_string_equal(v->e.ext, "the entry is there twice");
	v200[150] = entry("NETZ", "eth150", "rxe0", 0);
	assert_code(v, kernel_pnet_replace(v->k, v200, ARRAY_SIZE(v200), &v->e), -EINVAL);
	assert_says(v->e.text, "replace the pnet table: entry 151: ");
	fake_do(v->f, "fault answer ENOMEM cmd=TUNE_PNET_COMMIT");
	assert_code(v, kernel_pnet_replace(v->k, v200, 100, &v->e), -ENOMEM);
	assert_table(v, "NETX=eth7 NETX=rxe0/2");
	assert_code(v, kernel_pnet_replace(v->k, NULL, 0, &v->e), 0);
	assert_table(v, "");
}

static void test_pnet_replace_without(void **state)
{
	struct pnet_entry p = entry("NETA", "eth0", "", 0);
	ENV(v, "6.12");

	(void)state;
	assert_code(v, kernel_pnet_replace(v->k, &p, 1, &v->e), -EOPNOTSUPP);
	assert_says(v->e.text, "replace the pnet table: this kernel does not have the generic netlink family smc_tune");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offered),
		cmocka_unit_test(test_states_without_sysctl),
		cmocka_unit_test(test_one_knob),
		cmocka_unit_test(test_namespace),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_refused_wholly),
		cmocka_unit_test(test_no_rights),
		cmocka_unit_test(test_ignored),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_without),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_bad_answers),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_events_netns),
		cmocka_unit_test(test_events_lost),
		cmocka_unit_test(test_events_gap),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_cork),
		cmocka_unit_test(test_handshakes),
		cmocka_unit_test(test_statistics_bad_answers),
		cmocka_unit_test(test_statistics_metrics),
		cmocka_unit_test(test_pnet_delete),
		cmocka_unit_test(test_pnet_delete_fails),
		cmocka_unit_test(test_pnet_replace),
		cmocka_unit_test(test_pnet_replace_without),
		cmocka_unit_test(test_events_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
