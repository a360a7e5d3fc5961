// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Policy files: what is valid, what is refused and with which words, layers, and the file of saved knobs.
 *
 * tests/data/policies/invalid/NAME.json is refused with exactly the lines of NAME.expect. UPDATE=1 writes these anew,
 * for a change of words; look at the difference before committing it.
 */
#include "policy.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA "tests/data/policies"
#define EXAMPLES "conf/examples"
#define VALID_MIN 20
#define INVALID_MIN 60
/* For what must be linear: far more than it takes under a sanitizer, far less than a quadratic loop would. */
#define CPU_SECONDS_MAX 30

static char dir[] = "/tmp/test_policy.XXXXXX";

/* ---- helpers ---- */

static const char *in_dir(const char *name)
{
	static char path[4][PATH_MAX];
	static unsigned int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void make_dir(const char *name)
{
	assert_int_equal(mkdir(in_dir(name), 0755), 0);
}

static void put(const char *name, const char *text)
{
	assert_int_equal(write_whole_file(in_dir(name), text, strlen(text), 0644), 0);
}

static char *get(const char *name)
{
	char *text = NULL;
	size_t len;

	assert_int_equal(read_whole_file(in_dir(name), JSON_TEXT_MAX, &text, &len), 0);
	return text;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int new_dir(void **state)
{
	(void)state;
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	(void)state;
	return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void show(const struct problems *p)
{
	for (size_t i = 0; i < p->n; i++)
		print_message("# %s\n", p->text[i]);
}

static int add(struct policy *p, const char *file, const char *text, struct problems *problems)
{
	return policy_add_text(p, file, text, strlen(text), problems);
}

static void must_add(struct policy *p, const char *file, const char *text)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	int r = add(p, file, text, &problems);

	show(&problems);
	assert_int_equal(r, 0);
	assert_int_equal(problems.n, 0);
}

/* The one problem that this text has, after what is in p. */
static void must_refuse(struct policy *p, const char *file, const char *text, const char *problem)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	int r = add(p, file, text, &problems);

	show(&problems);
	assert_int_equal(r, -EINVAL);
	assert_int_equal(problems.n, 1);
	assert_string_equal(problems.text[0], problem);
}

static void must_refuse_file(const char *file, const char *part)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };
	int r;

	assert_int_equal(policy_init(&p), 0);
	r = policy_add_file(&p, file, &problems);
	show(&problems);
	assert_int_equal(r, -EINVAL);
	assert_int_equal(problems.n, 1);
	assert_memory_equal(problems.text[0], file, strlen(file));
	assert_memory_equal(problems.text[0] + strlen(file), ": ", 2);
	if (!strstr(problems.text[0], part))
		fail_msg("'%s' does not say '%s'", problems.text[0], part);
}

static const struct policy_knob *knob_of(const struct policy *p, const char *name)
{
	const struct knob *k = knob_find(name);

	assert_non_null(k);
	return &p->knobs[knob_index(k)];
}

static void assert_uint(const struct policy *p, const char *name, uint64_t u)
{
	const struct policy_knob *k = knob_of(p, name);

	assert_int_equal(k->v.kind, VALUE_UINT);
	assert_int_equal(k->v.u, u);
}

static void assert_from(const struct origin *o, const char *file, unsigned int line, unsigned int column)
{
	assert_string_equal(o->file, file);
	assert_int_equal(o->at.line, line);
	assert_int_equal(o->at.column, column);
}

/* ---- the files of tests/data ---- */

static int is_json(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return str_eq(dot, ".json");
}

/* Read path as a policy called name; what is wrong with it goes into *ret, a line each. */
static int read_as(const char *path, const char *name, struct text *ret)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r;

	assert_int_equal(policy_init(&p), 0);
	assert_int_equal(read_whole_file(path, JSON_TEXT_MAX, &text, &len), 0);
	r = policy_add_text(&p, name, text, len, &problems);
	for (size_t i = 0; i < problems.n; i++)
		text_add(ret, "%s\n", problems.text[i]);
	return r;
}

static int each_file(const char *directory, void (*check)(const char *path, const char *name))
{
	struct dirent **v = NULL;
	int n = scandir(directory, &v, is_json, alphasort);

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", directory, v[i]->d_name);
		check(path, v[i]->d_name);
		free(v[i]);
	}
	free(v);
	return n;
}

static void check_valid(const char *path, const char *name)
{
	CLEANUP_TEXT struct text problems = { 0 };

	if (read_as(path, name, &problems) != 0)
		fail_msg("%s is refused: %s", path, text_str(&problems));
}

static void check_invalid(const char *path, const char *name)
{
	CLEANUP_TEXT struct text problems = { 0 };
	CLEANUP_FREE char *expected = NULL;
	char expect[PATH_MAX];
	size_t len;

	snprintf(expect, sizeof(expect), "%.*s.expect", (int)(strlen(path) - strlen(".json")), path);
	if (read_as(path, name, &problems) != -EINVAL)
		fail_msg("%s is not refused", path);
	if (getenv("UPDATE"))
		assert_int_equal(write_whole_file(expect, problems.s, problems.len, 0644), 0);
	if (read_whole_file(expect, JSON_TEXT_MAX, &expected, &len) < 0)
		fail_msg("%s is missing", expect);
	if (strcmp(text_str(&problems), expected) != 0)
		fail_msg("%s: got\n%sexpected\n%s", path, text_str(&problems), expected);
}

static void test_valid(void **state)
{
	(void)state;
	assert_true(each_file(DATA "/valid", check_valid) >= VALID_MIN);
}

static void test_invalid(void **state)
{
	(void)state;
	assert_true(each_file(DATA "/invalid", check_invalid) >= INVALID_MIN);
}

static void test_examples(void **state)
{
	(void)state;
	assert_true(each_file(EXAMPLES, check_valid) >= 5);
}

/* ---- what a text becomes ---- */

static const char first_form[] =
	"{\"version\": 1, \"knobs\": {\"wmem\": \"256K\", \"autocorking_size\": 65536},\n"
	" \"pnet\": [{\"id\": \"neta\", \"interface\": \"eth0\"},\n"
	"  {\"id\": \"NETA\", \"rdma\": \"rxe0\", \"port\": 1}, {\"id\": \"NETB\", \"rdma\": \"rxe1\"}],\n"
	" \"ueid\": [\"PROD-EID-1\"], \"seid\": true}";

static void test_content(void **state)
{
	CLEANUP_POLICY struct policy p = { 0 };

	(void)state;
	assert_int_equal(policy_init(&p), 0);
	must_add(&p, "a.json", first_form);
	assert_uint(&p, "wmem", 262144);
	assert_from(&knob_of(&p, "wmem")->from, "a.json", 1, 34);
	assert_uint(&p, "autocorking_size", 65536);
	assert_int_equal(knob_of(&p, "rmem")->v.kind, VALUE_ABSENT);
	assert_int_equal(p.n_pnet, 3);
	assert_string_equal(p.pnet[0].entry.id, "NETA");
	assert_string_equal(p.pnet[0].entry.interface, "eth0");
	assert_string_equal(p.pnet[0].entry.rdma, "");
	assert_int_equal(p.pnet[0].entry.port, 0);
	assert_from(&p.pnet[0].from, "a.json", 2, 11);
	assert_string_equal(p.pnet[1].entry.rdma, "rxe0");
	assert_string_equal(p.pnet[1].entry.interface, "");
	assert_int_equal(p.pnet[1].entry.port, 1);
	assert_from(&p.pnet[1].from, "a.json", 3, 3);
	assert_int_equal(p.pnet[2].entry.port, 0);
	assert_int_equal(p.n_ueid, 1);
	assert_string_equal(p.ueid[0].eid, "PROD-EID-1");
	assert_from(&p.ueid[0].from, "a.json", 4, 11);
	assert_true(value_equal(p.seid.v, value_uint(1)));
	assert_from(&p.seid.from, "a.json", 4, 34);
	assert_int_equal(p.n_files, 1);
}

static void test_nothing(void **state)
{
	CLEANUP_POLICY struct policy p = { 0 };

	(void)state;
	policy_done(&p); /* of what was never made */
	assert_int_equal(policy_init(&p), 0);
	must_add(&p, "a.json", "{\"version\": 1}");
	for (size_t i = 0; i < n_knobs; i++)
		assert_int_equal(p.knobs[i].v.kind, VALUE_ABSENT);
	assert_int_equal(p.seid.v.kind, VALUE_ABSENT);
	assert_int_equal(p.n_pnet + p.n_ueid, 0);
}

/* Every knob of the table: both ends of its range are taken, what lies beyond is not. */
static void test_every_knob(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_knobs; i++) {
		const struct value_spec *spec = &knobs[i].spec;

		if (spec->type != TYPE_COUNT && spec->type != TYPE_SIZE && spec->type != TYPE_SECONDS &&
		    spec->type != TYPE_MSECONDS)
			continue;
		for (int step = -1; step <= 2; step++) { /* min - 1, min, max, max + 1 */
			uint64_t u = step < 1 ? spec->min + (uint64_t)step : spec->max + (uint64_t)step - 1;
			CLEANUP_PROBLEMS struct problems problems = { 0 };
			CLEANUP_POLICY struct policy p = { 0 };
			CLEANUP_TEXT struct text t = { 0 };

			text_add(&t, "{\"version\": 1, \"knobs\": {\"%s\": %lld}}", knobs[i].name, (long long)u);
			assert_int_equal(policy_init(&p), 0);
			if (step == 0 || step == 1) {
				must_add(&p, "k.json", t.s);
				assert_uint(&p, knobs[i].name, u);
				continue;
			}
			assert_int_equal(add(&p, "k.json", t.s, &problems), -EINVAL);
			assert_int_equal(problems.n, 1);
			assert_non_null(strstr(problems.text[0], "is out of range"));
			assert_int_equal(p.knobs[i].v.kind, VALUE_ABSENT);
		}
	}
}

/* ---- one text over another ---- */

static void test_merge(void **state)
{
	CLEANUP_POLICY struct policy p = { 0 };

	(void)state;
	assert_int_equal(policy_init(&p), 0);
	must_add(&p, "a.json", first_form);
	must_add(&p, "b.json",
		 "{\"version\": 1, \"knobs\": {\"wmem\": 32768, \"hs_ctrl\": \"one\"}, \"seid\": false,\n"
		 "\"pnet\": [{\"id\": \"NETA\", \"interface\": \"eth0\"}, {\"id\": \"NETA\", \"rdma\": \"rxe0\"},"
		 "{\"id\": \"NETC\", \"interface\": \"eth1\"}], \"ueid\": [\"SECOND\", \"PROD-EID-1\"]}");
	must_add(&p, "c.json", "{\"version\": 1, \"knobs\": {\"hs_ctrl\": \"two\"}}");
	assert_uint(&p, "wmem", 32768);
	assert_from(&knob_of(&p, "wmem")->from, "b.json", 1, 34);
	assert_uint(&p, "autocorking_size", 65536);
	assert_string_equal(knob_of(&p, "autocorking_size")->from.file, "a.json");
	assert_string_equal(knob_of(&p, "hs_ctrl")->v.s, "two");
	assert_true(value_equal(p.seid.v, value_uint(0)));
	assert_int_equal(p.n_pnet, 4);
	assert_string_equal(p.pnet[3].entry.id, "NETC");
	assert_string_equal(p.pnet[0].from.file, "a.json");
	assert_string_equal(p.pnet[3].from.file, "b.json");
	assert_int_equal(p.n_ueid, 2);
	assert_string_equal(p.ueid[1].eid, "SECOND");
	assert_int_equal(p.n_files, 3);
}

/* The same text twice, even under the same name, changes nothing but the count of files. */
static void test_merge_same(void **state)
{
	CLEANUP_POLICY struct policy p = { 0 };

	(void)state;
	assert_int_equal(policy_init(&p), 0);
	must_add(&p, "a.json", first_form);
	must_add(&p, "a.json", first_form);
	assert_int_equal(p.n_pnet, 3);
	assert_int_equal(p.n_ueid, 1);
	assert_int_equal(p.n_files, 2);
}

static void test_contradictions(void **state)
{
	CLEANUP_POLICY struct policy p = { 0 };

	(void)state;
	assert_int_equal(policy_init(&p), 0);
	must_add(&p, "a.json", first_form);
	must_refuse(&p, "b.json", "{\"version\": 1,\n \"pnet\": [{\"id\": \"NETZ\", \"interface\": \"eth0\"}]}",
		    "b.json:2:11: /pnet/0: found ID NETZ for interface \"eth0\", allowed: one ID; it has NETA at "
		    "a.json:2:11 already");
	must_refuse(
		&p, "c.json", "{\"version\": 1, \"pnet\": [{\"id\": \"NETZ\", \"rdma\": \"rxe1\", \"port\": 1}]}",
		"c.json:1:25: /pnet/0: found ID NETZ for RDMA device \"rxe1\" port 1, allowed: one ID; it has NETB at "
		"a.json:3:46 already");
	must_add(&p, "d.json", "{\"version\": 1, \"ueid\": [\"B\", \"C\", \"D\"]}");
	must_refuse(&p, "e.json", "{\"version\": 1, \"ueid\": [\"B\", \"E\"]}",
		    "e.json:1:30: /ueid/1: found more than 4 UEIDs in all files, allowed: 4; there are "
		    "PROD-EID-1 at a.json:4:11, B at d.json:1:25, C at d.json:1:30, D at d.json:1:35");
}

static void test_file_name_is_safe(void **state)
{
	CLEANUP_POLICY struct policy p = { 0 };

	(void)state;
	assert_int_equal(policy_init(&p), 0);
	must_refuse(&p, "a\033[2J.json", "[",
		    "a\\x1b[2J.json:1:2: found the end of the text, expected a value: an object, an "
		    "array, a string, a number, true, false or null");
}

/* ---- much of something ---- */

static void test_many_problems(void **state)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };
	CLEANUP_TEXT struct text t = { 0 };

	(void)state;
	text_add(&t, "{\"version\": 1, \"ueid\": [");
	for (unsigned int i = 0; i < 1000; i++)
		text_add(&t, "%s%u", i ? ", " : "", i);
	text_add(&t, "]}");
	assert_int_equal(policy_init(&p), 0);
	assert_int_equal(add(&p, "a.json", t.s, &problems), -EINVAL);
	assert_int_equal(problems.n, POLICY_PROBLEMS_MAX);
	assert_int_equal(problems.n_more, 1000 - POLICY_PROBLEMS_MAX);
	assert_string_equal(problems.text[99], "a.json:1:411: /ueid/99: found the number 99, allowed: a string");
	/* more problems on top of a full list are seen too */
	assert_int_equal(add(&p, "b.json", "{", &problems), -EINVAL);
	assert_int_equal(problems.n_more, 1001 - POLICY_PROBLEMS_MAX);
}

static void test_long_names(void **state)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };
	CLEANUP_TEXT struct text t = { 0 };
	CLEANUP_FREE char *name = calloc(1, 1000001);

	(void)state;
	assert_non_null(name);
	memset(name, 'x', 1000000);
	text_add(&t, "{\"version\": 1, \"knobs\": {\"%s\": \"%s\"}, \"ueid\": [\"%s\"], \"pnet\": [{\"id\": \"%s\", ",
		 name, name, name, name);
	text_add(&t, "\"interface\": \"%s\"}], \"%s\": 1}", name, name);
	assert_int_equal(policy_init(&p), 0);
	assert_int_equal(add(&p, "a.json", t.s, &problems), -EINVAL);
	assert_int_equal(problems.n, 5);
	for (size_t i = 0; i < problems.n; i++)
		assert_true(strlen(problems.text[i]) < 1024);
}

static void test_deep(void **state)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };
	size_t len = 10u << 20;
	CLEANUP_FREE char *text = malloc(len);
	clock_t start = clock();

	(void)state;
	assert_non_null(text);
	memset(text, '[', len);
	assert_int_equal(policy_init(&p), 0);
	assert_int_equal(policy_add_text(&p, "deep.json", text, len, &problems), -EINVAL);
	assert_int_equal(problems.n, 1);
	assert_string_equal(problems.text[0],
			    "deep.json:1:33: found arrays or objects nested deeper than 32, allowed are 32 levels");
	assert_true(clock() - start < CPU_SECONDS_MAX * CLOCKS_PER_SEC);
}

static void many_entries(struct text *t, const char *id, unsigned int n)
{
	text_add(t, "{\"version\": 1, \"pnet\": [");
	for (unsigned int i = 0; i < n; i++)
		text_add(t, "%s\n{\"id\": \"%s%u\", \"interface\": \"e%u\"}", i ? "," : "", id, i % 1000, i);
	text_add(t, "]}");
}

static void test_many_entries(void **state)
{
	const unsigned int n = 100000;
	CLEANUP_POLICY struct policy p = { 0 };
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_TEXT struct text t = { 0 };
	clock_t start = clock();

	(void)state;
	many_entries(&t, "ID", n);
	assert_int_equal(policy_init(&p), 0);
	must_add(&p, "a.json", t.s);
	assert_int_equal(p.n_pnet, n);
	for (unsigned int i = 0; i < n; i += 997) {
		char name[PNET_IFNAME_MAX + 1];

		snprintf(name, sizeof(name), "e%u", i);
		assert_string_equal(p.pnet[i].entry.interface, name);
		assert_from(&p.pnet[i].from, "a.json", i + 2, 1);
	}
	must_add(&p, "b.json", t.s);
	assert_int_equal(p.n_pnet, n);
	/* all of them contradict */
	text_done(&t);
	many_entries(&t, "XD", n);
	assert_int_equal(add(&p, "c.json", t.s, &problems), -EINVAL);
	assert_int_equal(problems.n + problems.n_more, n);
	assert_true(clock() - start < CPU_SECONDS_MAX * CLOCKS_PER_SEC);
}

static void test_entries_limit(void **state)
{
	CLEANUP_POLICY struct policy p = { 0 };
	CLEANUP_TEXT struct text t = { 0 };

	(void)state;
	many_entries(&t, "ID", POLICY_PNET_MAX);
	assert_int_equal(policy_init(&p), 0);
	must_add(&p, "a.json", t.s);
	must_refuse(&p, "b.json", "{\"version\": 1, \"pnet\": [{\"id\": \"A\", \"interface\": \"other\"}]}",
		    "b.json:1:25: /pnet/0: found more than 262144 pnet entries in all files, allowed: 262144");
	assert_int_equal(p.n_pnet, POLICY_PNET_MAX);
}

/* ---- files ---- */

static void test_file(void **state)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };

	(void)state;
	put("a.json", first_form);
	assert_int_equal(policy_init(&p), 0);
	assert_int_equal(policy_add_file(&p, in_dir("a.json"), &problems), 0);
	assert_string_equal(p.files[0], in_dir("a.json"));
	assert_uint(&p, "wmem", 262144);
	assert_int_equal(chmod(in_dir("a.json"), 0664), 0);
	assert_int_equal(policy_add_file(&p, in_dir("a.json"), &problems), 0);
}

static void test_bad_files(void **state)
{
	(void)state;
	must_refuse_file(in_dir("absent.json"), "No such file or directory (ENOENT)");
	must_refuse_file(dir, "found a directory, allowed: a regular file");
	must_refuse_file("/dev/null", "no regular file");
	assert_int_equal(mkfifo(in_dir("fifo.json"), 0644), 0);
	must_refuse_file(in_dir("fifo.json"), "no regular file"); /* and does not wait for a writer */
	assert_int_equal(symlink("loop.json", in_dir("loop.json")), 0);
	must_refuse_file(in_dir("loop.json"), "Too many levels of symbolic links (ELOOP)");
	put("open.json", first_form);
	assert_int_equal(chmod(in_dir("open.json"), 0646), 0);
	must_refuse_file(in_dir("open.json"), "found a file that everybody can write (mode 0646)");
	put("large.json", first_form);
	assert_int_equal(truncate(in_dir("large.json"), JSON_TEXT_MAX + 1), 0);
	must_refuse_file(in_dir("large.json"), "found a file of 16777217 bytes, allowed: 16777216");
	put("under.json", "");
	must_refuse_file(in_dir("under.json/a.json"), "Not a directory (ENOTDIR)");
}

/* root may read everything, so that it has to be somebody else for a moment */
static void test_unreadable_file(void **state)
{
	const uid_t nobody = 65534, me = geteuid();

	(void)state;
	put("secret.json", first_form);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(in_dir("secret.json"), 0), 0);
	if (me == 0)
		assert_int_equal(seteuid(nobody), 0);
	must_refuse_file(in_dir("secret.json"), "Permission denied (EACCES)");
	if (me == 0)
		assert_int_equal(seteuid(me), 0);
}

/* ---- layers ---- */

static struct policy_paths paths_in_dir(void)
{
	static char paths[4][PATH_MAX];
	static const char *const names[] = { "usr", "main.json", "run", "etc" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", dir, names[i]);
	return (struct policy_paths){
		.usr_dir = paths[0], .main_file = paths[1], .run_dir = paths[2], .etc_dir = paths[3]
	};
}

static void must_load(struct policy *ret)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	struct policy_paths paths = paths_in_dir();
	int r = policy_load(&paths, ret, &problems);

	show(&problems);
	assert_int_equal(r, 0);
	assert_int_equal(problems.n, 0);
}

static void put_wmem(const char *name, unsigned int wmem)
{
	char text[128];

	snprintf(text, sizeof(text), "{\"version\": 1, \"knobs\": {\"wmem\": %u}}", wmem);
	put(name, text);
}

static void assert_files(const struct policy *p, const char *const *names)
{
	size_t n = 0;

	for (; names[n]; n++) {
		assert_true(n < p->n_files);
		assert_string_equal(p->files[n], in_dir(names[n]));
	}
	assert_int_equal(p->n_files, n);
}

static void test_no_layers(void **state)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 }, q = { 0 };
	struct policy_paths none = { 0 };

	(void)state;
	must_load(&p);
	assert_int_equal(p.n_files, 0);
	assert_int_equal(policy_load(&none, &q, &problems), 0);
	assert_int_equal(q.n_files, 0);
}

static void test_layers(void **state)
{
	static const char *const all[] = { "usr/10-a.json", "usr/50-z.json", "main.json",     "run/20-b.json",
					   "run/90-c.json", "etc/05-d.json", "etc/30-e.json", NULL };
	static const char *const without_etc[] = { "usr/10-a.json", "usr/50-z.json", "main.json",
						   "run/20-b.json", "run/90-c.json", NULL };
	CLEANUP_POLICY struct policy p = { 0 }, q = { 0 };

	(void)state;
	make_dir("usr");
	make_dir("run");
	make_dir("etc");
	for (unsigned int i = 0; all[i]; i++)
		put_wmem(all[i], 20000 + i);
	put("etc/README", "no policy");
	put("etc/.hidden.json", "no policy");
	put("etc/backup.json~", "no policy");
	put("etc/.json", "no policy");
	must_load(&p);
	assert_files(&p, all);
	assert_uint(&p, "wmem", 20006);
	assert_from(&knob_of(&p, "wmem")->from, in_dir("etc/30-e.json"), 1, 34);
	assert_int_equal(nftw(in_dir("etc"), remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	must_load(&q);
	assert_files(&q, without_etc);
	assert_uint(&q, "wmem", 20004);
}

static void test_masks(void **state)
{
	static const char *const left[] = { "usr/free.json", "run/one.json", "etc/two.json", NULL };
	CLEANUP_POLICY struct policy p = { 0 };

	(void)state;
	make_dir("usr");
	make_dir("run");
	make_dir("etc");
	put("usr/one.json", "hidden, so that nobody reads it");
	put("usr/two.json", "hidden");
	put("usr/off.json", "disabled");
	put("usr/gone.json", "disabled");
	put("run/two.json", "hidden");
	put_wmem("usr/free.json", 20000);
	put_wmem("run/one.json", 20001);
	put_wmem("etc/two.json", 20002);
	assert_int_equal(symlink("/dev/null", in_dir("etc/off.json")), 0);
	assert_int_equal(symlink("/dev/null", in_dir("run/gone.json")), 0);
	assert_int_equal(symlink("/dev/null", in_dir("main.json")), 0);
	must_load(&p);
	assert_files(&p, left);
	assert_uint(&p, "wmem", 20002);
}

/* All that is wrong in all files, and the policy that was there before is not touched. */
static void test_bad_layers(void **state)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	struct policy_paths paths = paths_in_dir();
	struct policy untouched = { .n_files = 7777 };

	(void)state;
	make_dir("usr");
	make_dir("etc");
	make_dir("etc/dir.json");
	put("run", "no directory");
	put("usr/a.json", "{\"version\": 1, \"knobs\": {\"wmem\": 1, \"rmem\": 2}}");
	put("usr/b.json", "{");
	assert_int_equal(symlink("nowhere", in_dir("main.json")), 0);
	assert_int_equal(policy_load(&paths, &untouched, &problems), -EINVAL);
	show(&problems);
	assert_int_equal(untouched.n_files, 7777);
	assert_int_equal(problems.n, 6);
	assert_non_null(strstr(problems.text[0], "run: cannot read the directory: Not a directory (ENOTDIR)"));
	assert_non_null(strstr(problems.text[1], "usr/a.json:1:34: /knobs/wmem: '1' is out of range"));
	assert_non_null(strstr(problems.text[2], "usr/a.json:1:45: /knobs/rmem: '2' is out of range"));
	assert_non_null(strstr(problems.text[3], "usr/b.json:1:2: found the end of the text"));
	assert_non_null(strstr(problems.text[4], "main.json: cannot open it: No such file or directory (ENOENT)"));
	assert_non_null(strstr(problems.text[5], "etc/dir.json: found a directory"));
}

static void test_layers_contradict(void **state)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	struct policy_paths paths = paths_in_dir();
	struct policy p;

	(void)state;
	make_dir("etc");
	put("main.json", "{\"version\": 1, \"pnet\": [{\"id\": \"A\", \"interface\": \"eth0\"}]}");
	put("etc/a.json", "{\"version\": 1, \"pnet\": [{\"id\": \"B\", \"interface\": \"eth0\"}]}");
	assert_int_equal(policy_load(&paths, &p, &problems), -EINVAL);
	assert_int_equal(problems.n, 1);
	assert_non_null(strstr(problems.text[0], "etc/a.json:1:25: /pnet/0: found ID B"));
	assert_non_null(strstr(problems.text[0], "it has A at "));
	assert_non_null(strstr(problems.text[0], "main.json:1:25 already"));
}

static void test_files_limit(void **state)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };
	struct policy_paths paths = paths_in_dir();
	struct policy none;
	char name[32];

	(void)state;
	make_dir("etc");
	put_wmem("main.json", 20000);
	for (unsigned int i = 0; i < POLICY_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "etc/%04u.json", i);
		assert_int_equal(link(in_dir("main.json"), in_dir(name)), 0);
	}
	assert_int_equal(policy_load(&paths, &none, &problems), -EINVAL);
	assert_int_equal(problems.n, 1);
	assert_non_null(strstr(problems.text[0], "etc/1023.json: found more than 1024 policy files, allowed: 1024"));
	assert_int_equal(unlink(in_dir(name)), 0);
	must_load(&p);
	assert_int_equal(p.n_files, POLICY_FILES_MAX);
}

/* ---- saving ---- */

struct save {
	struct value *values; /* n_knobs */
	bool *touched;
};

static void save_done(struct save *s)
{
	free(s->values);
	free(s->touched);
}

static void save_init(struct save *s)
{
	s->values = calloc(n_knobs, sizeof(*s->values));
	s->touched = calloc(n_knobs, sizeof(*s->touched));
	assert_non_null(s->values);
	assert_non_null(s->touched);
}

static void save_set(struct save *s, const char *name, struct value v)
{
	const struct knob *k = knob_find(name);

	assert_non_null(k);
	s->values[knob_index(k)] = v;
	s->touched[knob_index(k)] = true;
}

static void must_save(const struct save *s, const char *name)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	struct err e = { 0 };
	int r = policy_save_knobs(in_dir(name), s->values, s->touched, &problems, &e);

	show(&problems);
	if (r < 0)
		fail_msg("%s", e.text);
	assert_int_equal(problems.n, 0);
}

static void assert_text(const char *name, const char *expected)
{
	CLEANUP_FREE char *text = get(name);

	assert_string_equal(text, expected);
}

static void assert_mode(const char *name, unsigned int mode)
{
	struct stat st;

	assert_int_equal(stat(in_dir(name), &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

static void test_save_new(void **state)
{
	struct save s CLEANUP(save_done) = { 0 };
	mode_t old = umask(0077);

	(void)state;
	save_init(&s);
	save_set(&s, "wmem", value_uint(262144));
	save_set(&s, "rmem", value_uint(65537));
	save_set(&s, "autocorking_size", value_uint(0));
	save_set(&s, "smcr_buf_type", value_uint(1));
	save_set(&s, "smcr_testlink_time", value_uint(300));
	save_set(&s, "smcr_max_conns_per_lgr", value_uint(64));
	save_set(&s, "limit_smc_hs", value_uint(1));
	save_set(&s, "hs_ctrl", value_str("a/b"));
	save_set(&s, "smcr_max_send_wr", (struct value){ 0 }); /* is not there: stays so */
	must_save(&s, "etc/smcd/90.json");
	umask(old);
	assert_text("etc/smcd/90.json", "{\n"
					"  \"version\": 1,\n"
					"  \"knobs\": {\n"
					"    \"wmem\": \"256K\",\n"
					"    \"rmem\": 65537,\n"
					"    \"autocorking_size\": 0,\n"
					"    \"smcr_buf_type\": \"virtual\",\n"
					"    \"smcr_testlink_time\": 300,\n"
					"    \"smcr_max_conns_per_lgr\": 64,\n"
					"    \"limit_smc_hs\": true,\n"
					"    \"hs_ctrl\": \"a/b\"\n"
					"  }\n"
					"}\n");
	assert_mode("etc/smcd/90.json", 0644);
	assert_mode("etc", 0755);
	assert_mode("etc/smcd", 0755);
}

static void test_save_keeps(void **state)
{
	struct save s CLEANUP(save_done) = { 0 };

	(void)state;
	put("90.json",
	    "{\"comment\": \"caf\xc3\xa9 a/b\", \"seid\": false, \"knobs\": {\"rmem\": \"1m\", \"wmem\": 65536, "
	    "\"smcr_testlink_time\": \"5m\"},\n\"version\": 1, \"ueid\": [\"A\"], "
	    "\"pnet\": [{\"comment\": \"c\", \"id\": \"net\", \"interface\": \"eth0\"}]}");
	save_init(&s);
	save_set(&s, "wmem", value_uint(1 << 20));
	save_set(&s, "smcr_testlink_time", (struct value){ 0 });
	save_set(&s, "limit_smc_hs", value_uint(0));
	must_save(&s, "90.json");
	assert_text("90.json", "{\n"
			       "  \"comment\": \"caf\xc3\xa9 a/b\",\n"
			       "  \"seid\": false,\n"
			       "  \"knobs\": {\n"
			       "    \"rmem\": \"1m\",\n"
			       "    \"wmem\": \"1M\",\n"
			       "    \"limit_smc_hs\": false\n"
			       "  },\n"
			       "  \"version\": 1,\n"
			       "  \"ueid\": [\n"
			       "    \"A\"\n"
			       "  ],\n"
			       "  \"pnet\": [\n"
			       "    {\n"
			       "      \"comment\": \"c\",\n"
			       "      \"id\": \"net\",\n"
			       "      \"interface\": \"eth0\"\n"
			       "    }\n"
			       "  ]\n"
			       "}\n");
}

static void test_save_removes_last(void **state)
{
	struct save s CLEANUP(save_done) = { 0 };
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	CLEANUP_POLICY struct policy p = { 0 };

	(void)state;
	put_wmem("90.json", 65536);
	save_init(&s);
	save_set(&s, "wmem", (struct value){ 0 });
	must_save(&s, "90.json");
	assert_int_equal(policy_init(&p), 0);
	assert_int_equal(policy_add_file(&p, in_dir("90.json"), &problems), 0);
	assert_int_equal(knob_of(&p, "wmem")->v.kind, VALUE_ABSENT);
}

/* What is written reads back as the same value, at both ends of every range and of every choice. */
static void test_save_every_knob(void **state)
{
	(void)state;
	for (int end = 0; end < 2; end++) {
		struct save s CLEANUP(save_done) = { 0 };
		CLEANUP_PROBLEMS struct problems problems = { 0 };
		CLEANUP_POLICY struct policy p = { 0 };

		save_init(&s);
		for (size_t i = 0; i < n_knobs; i++) {
			const struct value_spec *spec = &knobs[i].spec;

			save_set(&s, knobs[i].name,
				 spec->type == TYPE_STRING ? value_str(end ? "\"\\{}:,/%s" : "a")
							   : value_uint(end ? spec->max : spec->min));
		}
		must_save(&s, "90.json");
		assert_int_equal(policy_init(&p), 0);
		assert_int_equal(policy_add_file(&p, in_dir("90.json"), &problems), 0);
		for (size_t i = 0; i < n_knobs; i++)
			assert_true(value_equal(p.knobs[i].v, s.values[i]));
	}
}

static void test_save_link(void **state)
{
	struct save s CLEANUP(save_done) = { 0 };
	struct stat st;

	(void)state;
	put_wmem("real.json", 65536);
	assert_int_equal(symlink("real.json", in_dir("90.json")), 0);
	save_init(&s);
	save_set(&s, "wmem", value_uint(32768));
	must_save(&s, "90.json");
	assert_int_equal(lstat(in_dir("90.json"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_text("real.json", "{\n  \"version\": 1,\n  \"knobs\": {\n    \"wmem\": \"32K\"\n  }\n}\n");
}

/* Fails, says why, and leaves the text of the file (NULL: there is none). */
static void must_not_save(const struct save *s, const char *name, const char *text, int code, const char *says,
			  size_t n)
{
	CLEANUP_PROBLEMS struct problems problems = { 0 };
	struct err e = { 0 };
	int r = policy_save_knobs(in_dir(name), s->values, s->touched, &problems, &e);

	show(&problems);
	assert_int_equal(r, code);
	assert_int_equal(e.code, code);
	assert_int_equal(problems.n, n);
	if (!strstr(e.text, says))
		fail_msg("'%s' does not say '%s'", e.text, says);
	if (text)
		assert_text(name, text);
	assert_int_equal(policy_save_knobs(in_dir(name), s->values, s->touched, &problems, NULL), code);
}

static void test_save_refused(void **state)
{
	struct save s CLEANUP(save_done) = { 0 }, bad CLEANUP(save_done) = { 0 };

	(void)state;
	save_init(&s);
	save_set(&s, "wmem", value_uint(32768));
	put("syntax.json", "{");
	must_not_save(&s, "syntax.json", "{", -EINVAL, "what is in it is not valid", 1);
	put("invalid.json", "{\"version\": 1, \"knobs\": {\"wmem\": 1, \"x\": 2}}");
	must_not_save(&s, "invalid.json", "{\"version\": 1, \"knobs\": {\"wmem\": 1, \"x\": 2}}", -EINVAL,
		      "what is in it is not valid", 2);
	put("open.json", "{\"version\": 1}");
	assert_int_equal(chmod(in_dir("open.json"), 0666), 0);
	must_not_save(&s, "open.json", "{\"version\": 1}", -EINVAL, "everybody can write", 0);
	assert_int_equal(symlink("/dev/null", in_dir("off.json")), 0);
	must_not_save(&s, "off.json", NULL, -EINVAL, "no regular file", 0);
	must_not_save(&s, "syntax.json/90.json", NULL, -ENOTDIR, "Not a directory (ENOTDIR)", 0);
	save_init(&bad);
	save_set(&bad, "rmem", value_uint(1));
	must_not_save(&bad, "none.json", NULL, -ERANGE, "rmem: '1' is out of range", 0);
	assert_int_equal(access(in_dir("none.json"), F_OK), -1);
}

static void test_save_nothing_left_behind(void **state)
{
	struct save s CLEANUP(save_done) = { 0 };
	struct dirent **v = NULL;
	int n;

	(void)state;
	save_init(&s);
	save_set(&s, "wmem", value_uint(32768));
	make_dir("d");
	must_save(&s, "d/90.json");
	must_save(&s, "d/90.json");
	n = scandir(in_dir("d"), &v, NULL, alphasort);
	assert_int_equal(n, 3); /* ., .. and the file */
	for (int i = 0; i < n; i++)
		free(v[i]);
	free(v);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, new_dir, drop_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_every_knob),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_same),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_file_name_is_safe),
		cmocka_unit_test(test_many_problems),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_many_entries),
		cmocka_unit_test(test_entries_limit),
		IN_DIR(test_file),
		IN_DIR(test_bad_files),
		IN_DIR(test_unreadable_file),
		IN_DIR(test_no_layers),
		IN_DIR(test_layers),
		IN_DIR(test_masks),
		IN_DIR(test_bad_layers),
		IN_DIR(test_layers_contradict),
		IN_DIR(test_files_limit),
		IN_DIR(test_save_new),
		IN_DIR(test_save_keeps),
		IN_DIR(test_save_removes_last),
		IN_DIR(test_save_every_knob),
		IN_DIR(test_save_link),
		IN_DIR(test_save_refused),
		IN_DIR(test_save_nothing_left_behind),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
