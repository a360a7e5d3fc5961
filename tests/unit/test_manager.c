// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The manager on the fake kernel: whatever a reload or a set runs into, the kernel and what smcd remembers are either
 * as before or as they should be; and state.json, whatever is in it.
 */
#include "fake.h"
#include "manager.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define BOOT "11111111-2222-3333-4444-555555555555"

static const char before_policy[] =
	"{\"version\": 1, \"knobs\": {\"wmem\": \"256K\", \"smcr_testlink_time\": 60},"
	" \"pnet\": [{\"id\": \"NETA\", \"interface\": \"eth0\"}, {\"id\": \"NETA\", \"rdma\": \"rxe0\"}],"
	" \"ueid\": [\"EID-1\", \"EID-2\"]}";
static const char after_policy[] =
	"{\"version\": 1, \"knobs\": {\"wmem\": \"512K\", \"rmem\": \"1M\", \"limit_smc_hs\": true},"
	" \"pnet\": [{\"id\": \"NETA\", \"interface\": \"eth0\"}, {\"id\": \"NETB\", \"interface\": \"eth1\"}],"
	" \"ueid\": [\"EID-2\", \"EID-3\"]}";

struct env {
	char dir[64], policy[96], policy_dir[96], log[1 << 16];
	struct fake *f;
	struct manager *m;
	struct logger logger;
};

static void log_keep(void *ctx, int priority, const char *id, const char *text)
{
	struct env *v = ctx;
	size_t len = strlen(v->log);

	(void)priority;
	(void)id;
	if (len + strlen(text) + 2 < sizeof(v->log))
		snprintf(v->log + len, sizeof(v->log) - len, "%s\n", text);
}

static uint64_t now_fixed(void)
{
	return 1700000000000000;
}

static void write_policy(struct env *v, const char *text)
{
	assert_int_equal(write_whole_file(v->policy, text, strlen(text), 0644), 0);
}

static void start(struct env *v)
{
	struct manager_config config = {
		.paths = { .main_file = v->policy, .etc_dir = v->policy_dir },
		.state_dir = v->dir,
		.boot_id = BOOT,
		.log = &v->logger,
		.now_usec = now_fixed,
	};
	struct err e = { 0 };

	if (manager_new(&config, &v->m, &e) < 0)
		fail_msg("manager_new: %s", e.text);
}

static int set_up(void **state)
{
	struct env *v = calloc(1, sizeof(*v));

	snprintf(v->dir, sizeof(v->dir), "/tmp/test_manager.XXXXXX");
	if (!mkdtemp(v->dir))
		return -1;
	snprintf(v->policy, sizeof(v->policy), "%s/policy.json", v->dir);
	snprintf(v->policy_dir, sizeof(v->policy_dir), "%s/policy.d", v->dir);
	if (mkdir(v->policy_dir, 0755) < 0)
		return -1;
	v->f = fake_new("6.12");
	v->logger = (struct logger){ .write = log_keep, .ctx = v };
	write_policy(v, before_policy);
	start(v);
	*state = v;
	return 0;
}

static void remove_all(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *ent;

	while (d && (ent = readdir(d))) {
		char sub[512];

		if (ent->d_name[0] == '.')
			continue;
		snprintf(sub, sizeof(sub), "%s/%s", path, ent->d_name);
		remove_all(sub);
	}
	if (d)
		closedir(d);
	remove(path);
}

static int tear_down(void **state)
{
	struct env *v = *state;

	manager_free(v->m);
	fake_free(v->f);
	remove_all(v->dir);
	free(v);
	return 0;
}

static char *remembered(struct env *v)
{
	struct text t = { 0 };

	assert_int_equal(state_text(&v->m->state, BOOT, &t), 0);
	return t.s;
}

static char *on_disk(struct env *v)
{
	char path[128], *text = NULL;
	size_t len;

	snprintf(path, sizeof(path), "%s/state.json", v->dir);
	assert_int_equal(read_whole_file(path, 1 << 20, &text, &len), 0);
	return text;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What the kernel has, sorted: putting back an entry moves it to the end of its table. */
static char *kernel_now(struct env *v)
{
	CLEANUP_FREE char *copy = strdup(fake_state(v->f, ""));
	struct text t = { 0 };
	char *lines[256], *rest = copy;
	size_t n = 0;

	for (char *line; (line = strsep(&rest, "\n"));) {
		assert_true(n < ARRAY_SIZE(lines));
		lines[n++] = line;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; i++)
		text_add(&t, "%s\n", lines[i]);
	return t.s;
}

/* ---- every failure at every place ---- */

/*
 * The failures, once each, at the n-th operation of their kind. An operation that is repeated (an interrupted call, a
 * dump that overran) may well succeed in the end.
 */
static const char *const faults[] = {
	"fault sysctl_write EPERM 1 after=%u", "fault sysctl_write ignored 1 after=%u",
	"fault sysctl_read EIO 1 after=%u",    "fault send ENOBUFS 1 after=%u",
	"fault recv ENOBUFS 1 after=%u",       "fault recv EINTR 1 after=%u",
	"fault recv EIO 1 after=%u",           "fault answer EPERM 1 after=%u",
	"fault answer ENOMEM 1 after=%u",      "fault dump intr 1 after=%u",
	"fault mangle truncate 1 after=%u",    "fault mangle garbage 1 after=%u",
};

#define PLACES_MAX 200

/* cmocka cuts long messages. */
static void fail_left(struct env *v, const char *fault, unsigned int place, int r, const char *state, const char *disk)
{
	fprintf(stderr, "it said %d, and this is left:\n%s%s\non the disk: %s\nlog:\n%s\n", r, fake_state(v->f, ""),
		state, str_eq(state, disk) ? "the same" : disk, v->log);
	fail_msg("%s, place %u", fault, place);
}

/* Both kinds of change go through the same places; op returns what the manager said. */
static void at_every_place(struct env *v, int (*op)(struct env *v), void (*prepare)(struct env *v))
{
	CLEANUP_FREE char *before = NULL, *after = NULL, *state_before = NULL, *state_after = NULL;
	unsigned int failures = 0;

	prepare(v);
	before = kernel_now(v);
	state_before = remembered(v);
	assert_int_equal(op(v), 0);
	after = kernel_now(v);
	state_after = remembered(v);
	assert_string_not_equal(before, after);

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		for (unsigned int place = 0; place < PLACES_MAX; place++) {
			CLEANUP_FREE char *now = NULL, *state_now = NULL, *disk = NULL;
			bool met;
			int r;

			prepare(v);
			v->log[0] = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			fake_do(v->f, faults[i], place);
#pragma GCC diagnostic pop
			r = op(v);
			met = fake_faults_left(v->f) == 0;
			fake_do(v->f, "fault clear");
			now = kernel_now(v);
			state_now = remembered(v);
			disk = on_disk(v);
			if (!str_eq(now, r < 0 ? before : after) ||
			    !str_eq(state_now, r < 0 ? state_before : state_after) || !str_eq(disk, state_now))
				fail_left(v, faults[i], place, r, state_now, disk);
			if (r < 0 && strstr(v->log, "cannot take back"))
				fail_msg("%s, place %u: %s", faults[i], place, v->log);
			failures += r < 0;
			if (!met)
				break; /* there are no more operations of the kind */
			assert_true(place + 1 < PLACES_MAX);
		}
	}
	assert_true(failures > 20);
}

static void prepare_reload(struct env *v)
{
	static const struct pnet_entry any = { 0 };

	fake_do(v->f, "era 6.12");
	fake_do(v->f, "sysctl rmem 98304");
	fake_do(v->f, "ueid OTHER");
	fake_do(v->f, "pnet NETX eth=eth9");
	state_drop_pnet(&v->m->state, &any);
	state_drop_ueid(&v->m->state, NULL);
	memset(v->m->state.netns[0].knobs, 0, n_knobs * sizeof(struct knob_record));
	write_policy(v, before_policy);
	assert_int_equal(manager_reload(v->m, NULL), 0);
	write_policy(v, after_policy);
}

static int op_reload(struct env *v)
{
	struct failure f = { 0 };
	uint64_t generation = v->m->generation;
	int r = manager_reload(v->m, &f);

	assert_true((r < 0) == (v->m->outcome == POLICY_FAILED));
	assert_int_equal(v->m->generation, generation + (r == 0));
	if (r < 0) {
		assert_true(f.kind == FAIL_KERNEL && f.e.text[0]);
		assert_string_equal(v->m->policy.knobs[0].from.file, v->policy);
		assert_int_equal(v->m->policy.knobs[0].v.u, 262144); /* the policy in force is the one from before */
	}
	return r;
}

static void test_reload_everywhere(void **state)
{
	at_every_place(*state, op_reload, prepare_reload);
}

static void prepare_set(struct env *v)
{
	prepare_reload(v);
}

static int op_set(struct env *v)
{
	static const struct assignment a[] = {
		{ "wmem", "1M" }, { "autocorking_size", "0" }, { "limit_smc_hs", "on" }, { "smcr_buf_type", "mixed" }
	};
	struct failure f = { 0 };
	int r = manager_set_knobs(v->m, "", a, ARRAY_SIZE(a), false, &f);

	assert_true(r == 0 || f.e.text[0]);
	return r;
}

static void test_set_everywhere(void **state)
{
	at_every_place(*state, op_set, prepare_set);
}

/* ---- state ---- */

static void fill(struct state *s)
{
	struct pnet_entry rdma = { .id = "NETA", .rdma = "rxe0", .port = 2 },
			  eth = { .id = "NETA", .interface = "eth0" };
	struct state_netns *blue;

	assert_int_equal(state_init(s), 0);
	s->netns[0].knobs[0] =
		(struct knob_record){ .before = held_copy(value_uint(1)), .made = held_copy(value_uint(65536)) };
	blue = state_get(s, "blue", 4026532000);
	blue->knobs[knob_index(knob_find("hs_ctrl"))] = (struct knob_record){
		.before = held_copy(value_str("")),
		.made = held_copy(value_str("x")),
		.override = held_copy(value_str("x")),
		.saved = true,
	};
	assert_int_equal(state_add_pnet(s, &rdma), 0);
	assert_int_equal(state_add_pnet(s, &eth), 0);
	assert_int_equal(state_add_pnet(s, &rdma), 0);
	state_sort(s);
	assert_int_equal(s->n_pnet, 2);
	assert_int_equal(state_add_ueid(s, "EID-1"), 0);
	s->seid_before = held_copy(value_uint(0));
	s->seid_made = held_copy(value_uint(1));
}

static void test_state_round_trip(void **state)
{
	CLEANUP_STATE struct state s = { 0 }, copy = { 0 }, read = { 0 };
	CLEANUP_TEXT struct text t = { 0 }, of_copy = { 0 }, of_read = { 0 };
	struct err e = { 0 };

	(void)state;
	fill(&s);
	assert_int_equal(state_text(&s, BOOT, &t), 0);
	assert_int_equal(state_copy(&s, &copy), 0);
	assert_int_equal(state_text(&copy, BOOT, &of_copy), 0);
	assert_string_equal(text_str(&t), text_str(&of_copy));
	if (state_parse(text_str(&t), t.len, BOOT, &read, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(state_text(&read, BOOT, &of_read), 0);
	assert_string_equal(text_str(&t), text_str(&of_read));
	assert_int_equal(state_find(&read, "blue")->id, 4026532000);
	assert_int_equal(state_parse(text_str(&t), t.len, "another boot", &read, &e), -ESTALE);
}

/* Any byte changed, any byte missing: read, or refused; and what is read can be written. */
static void test_state_damage(void **state)
{
	CLEANUP_STATE struct state s = { 0 };
	CLEANUP_TEXT struct text t = { 0 };
	static const char with[] = "\"{}[]:,0129-.xnt \\\n\x01\xff";

	(void)state;
	fill(&s);
	assert_int_equal(state_text(&s, BOOT, &t), 0);
	for (size_t i = 0; i < t.len; i++) {
		for (size_t c = 0; c < sizeof(with); c++) {
			CLEANUP_STATE struct state read = { 0 };
			CLEANUP_TEXT struct text again = { 0 };
			char old = t.s[i];

			t.s[i] = with[c];
			if (state_parse(t.s, t.len, BOOT, &read, NULL) == 0)
				assert_int_equal(state_text(&read, BOOT, &again), 0);
			t.s[i] = old;
		}
		{
			CLEANUP_STATE struct state read = { 0 };

			assert_true(i + 1 == t.len || state_parse(t.s, i, BOOT, &read, NULL) < 0);
		}
	}
}

static void test_state_netns(void **state)
{
	CLEANUP_STATE struct state s = { 0 };
	struct state_netns *ns;
	char name[32];

	(void)state;
	assert_int_equal(state_init(&s), 0);
	ns = state_get(&s, "blue", 7);
	ns->knobs[0].override = held_copy(value_uint(65536));
	assert_int_equal(state_get(&s, "blue", 7)->knobs[0].override.u, 65536);
	assert_int_equal(state_get(&s, "blue", 0)->knobs[0].override.u, 65536);
	/* Another namespace of the same name knows nothing of the old one's overrides. */
	assert_int_equal(state_get(&s, "blue", 8)->knobs[0].override.kind, VALUE_ABSENT);
	for (unsigned int i = 0; i < STATE_NETNS_MAX + 10; i++) {
		snprintf(name, sizeof(name), "ns%u", i);
		assert_non_null(state_get(&s, name, 0));
	}
	assert_int_equal(s.n_netns, STATE_NETNS_MAX + 1);
	assert_null(state_find(&s, "blue"));
	assert_non_null(state_find(&s, name));
	assert_non_null(state_find(&s, ""));
}

static void test_state_drop(void **state)
{
	static const struct pnet_entry id = { .id = "NETA" }, eth = { .id = "NETA", .interface = "eth0" }, any = { 0 };
	static const struct pnet_entry rdma = { .id = "NETA", .rdma = "rxe0" };
	CLEANUP_STATE struct state s = { 0 };

	(void)state;
	fill(&s);
	state_drop_pnet(&s, &eth);
	assert_int_equal(s.n_pnet, 1);
	state_drop_pnet(&s, &eth);
	assert_int_equal(s.n_pnet, 1);
	state_drop_pnet(&s, &rdma); /* without a port: any port */
	assert_int_equal(s.n_pnet, 0);
	state_done(&s);
	fill(&s);
	state_drop_pnet(&s, &id);
	assert_int_equal(s.n_pnet, 0);
	state_done(&s);
	fill(&s);
	state_drop_pnet(&s, &any);
	state_drop_ueid(&s, NULL);
	assert_int_equal(s.n_pnet + s.n_ueid, 0);
}

/* ---- a kill -9 between writing down and doing ---- */

static void test_write_ahead(void **state)
{
	struct env *v = *state;

	assert_int_equal(manager_reload(v->m, NULL), 0);
	/* What is on the disk before the first change of the kernel names everything that is going to be made. */
	write_policy(v, after_policy);
	fake_do(v->f, "fault sysctl_write EPERM 0");
	assert_true(manager_reload(v->m, NULL) < 0);
	fake_do(v->f, "fault clear");
	manager_free(v->m);
	v->m = NULL;
	start(v);
	write_policy(v, "{\"version\": 1}");
	assert_int_equal(manager_reload(v->m, NULL), 0);
	assert_string_equal(fake_sysctl(v->f, "", "wmem"), "65536");
	assert_null(strstr(fake_state(v->f, ""), "NETA"));
	assert_null(strstr(fake_state(v->f, ""), "EID-1"));
}

#define test_with_manager(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test_with_manager(test_reload_everywhere), test_with_manager(test_set_everywhere),
		test_with_manager(test_write_ahead),       cmocka_unit_test(test_state_round_trip),
		cmocka_unit_test(test_state_damage),       cmocka_unit_test(test_state_netns),
		cmocka_unit_test(test_state_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
