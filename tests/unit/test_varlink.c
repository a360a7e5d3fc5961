// SPDX-License-Identifier: GPL-2.0-or-later
/* Varlink: what is a message and what is none, framing, the client against a server that lies, and the server's limits.
 */
#include "server.h"
#include "varlink.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_varlink.XXXXXX";
static char path[sizeof(dir) + 16];

/* ---- messages ---- */

static int parse(const char *text)
{
	struct json_object *o = NULL;
	int r = varlink_parse(text, strlen(text), &o);

	json_object_put(o);
	return r;
}

static void test_parse(void **state)
{
	static const char *const good[] = { "{}",
					    " {} \n",
					    "{\"a\":1}",
					    "{\"a\":[1,2,{\"b\":null}]}",
					    "{\"\xc3\xa4\":\"\xe2\x82\xac\"}",
					    "{\"a\":\"\\u00e4\\\"\\\\\"}",
					    "{\"a\":-1.5e3}" };
	static const char *const bad[] = {
		"",
		"null",
		"[]",
		"1",
		"\"a\"",
		"{",
		"}",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{\"a\":1}x",
		"{\"a\":1}{}",
		"{'a':1}",
		"{a:1}",
		"{\"a\":01}",
		"{\"a\":NaN}",
		"{\"a\":Infinity}",
		"{\"a\":TRUE}",
		"{\"a\":1.}",
		"{\"a\":.5}",
		"{\"a\":+1}",
		"{\"a\":\"\x01\"}",
		"{\"a\":\"\n\"}",
		"{\"a\":\"\xff\"}",
		"{\"a\":\"\xc0\x80\"}",
		"{\"a\":\"\xed\xa0\x80\"}",
		"{\"a\":\"\xf4\x90\x80\x80\"}",
		"{\"a\":\"\\u0000\"}",
		"{\"a\\u0000\":1}",
		"{\"a\":\"\\ud800\"}",
		"{\"a\":\"\\x\"}",
		"{\"a\":1,\"a\":2}",
		"{\"a\":1,\"\\u0061\":2}",
		"/* */{}",
		"\xef\xbb\xbf{}",
	};
	struct json_object *o = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (parse(good[i]) != 0)
			fail_msg("refused: %s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (parse(bad[i]) != -EBADMSG)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(varlink_parse("{}\0{}", 5, &o), -EBADMSG);
	assert_null(o);
}

static void test_depth(void **state)
{
	char text[1024];

	(void)state;
	for (size_t depth = 1; depth < 100; depth++) {
		size_t n = (size_t)snprintf(text, sizeof(text), "{\"a\":");

		memset(text + n, '[', depth);
		memset(text + n + depth, ']', depth);
		strcpy(text + n + 2 * depth, "}");
		assert_int_equal(parse(text), depth + 1 <= VARLINK_DEPTH_MAX ? 0 : -EBADMSG);
	}
}

static void test_request(void **state)
{
	static const char *const bad[] = {
		"{}",
		"{\"method\":1}",
		"{\"method\":\"a.b\",\"parameters\":[]}",
		"{\"method\":\"a.b\",\"parameters\":null}",
		"{\"method\":\"a.b\",\"more\":1}",
		"{\"method\":\"a.b\",\"oneway\":null}",
		"{\"method\":\"a.b\",\"x\":1}",
		"{\"method\":\"a.b\",\"more\":true,\"oneway\":true}",
		"{\"method\":\"a.b\",\"Method\":\"a.b\"}",
	};
	static const char full[] = "{\"method\":\"a.b\",\"parameters\":{\"x\":1},\"more\":true,\"oneway\":false}";
	struct varlink_request req = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (varlink_request_parse(bad[i], strlen(bad[i]), &req) != -EBADMSG)
			fail_msg("taken: %s", bad[i]);
	assert_null(req.message);
	assert_int_equal(varlink_request_parse(full, strlen(full), &req), 0);
	assert_string_equal(req.method, "a.b");
	assert_true(req.more && !req.oneway && json_object_object_get(req.params, "x"));
	varlink_request_done(&req);
	assert_int_equal(varlink_request_parse("{\"method\":\"\"}", 13, &req), 0);
	assert_null(req.params);
	varlink_request_done(&req);
}

/* ---- framing ---- */

static void test_framing(void **state)
{
	static const char stream[] = "one\0\0three\0half";
	static const char *const messages[] = { "one", "", "three" };

	(void)state;
	for (size_t step = 1; step <= sizeof(stream); step++) {
		struct varlink_input in = { .max = 5 };
		size_t at = 0, n = 0, len;
		char *text;

		while (at < sizeof(stream) - 1) {
			size_t k = sizeof(stream) - 1 - at < step ? sizeof(stream) - 1 - at : step;

			k = k < varlink_input_room(&in) ? k : varlink_input_room(&in);
			assert_int_equal(varlink_input_add(&in, stream + at, k), 0);
			at += k;
			while (varlink_input_next(&in, &text, &len) > 0) {
				assert_true(n < ARRAY_SIZE(messages));
				assert_string_equal(text, messages[n]);
				assert_int_equal(len, strlen(messages[n++]));
			}
		}
		assert_int_equal(n, ARRAY_SIZE(messages));
		assert_true(varlink_input_partial(&in));
		varlink_input_done(&in);
	}
}

static void test_framing_limit(void **state)
{
	struct varlink_input in = { .max = 5 };
	char *text;
	size_t len;

	(void)state;
	assert_int_equal(varlink_input_add(&in, "1234567", 7), -ENOBUFS);
	assert_int_equal(varlink_input_add(&in, "12345", 6), 0);
	assert_int_equal(varlink_input_room(&in), 0);
	assert_int_equal(varlink_input_next(&in, &text, &len), 1);
	assert_int_equal(varlink_input_add(&in, "123456", 6), 0);
	assert_int_equal(varlink_input_next(&in, &text, &len), -EMSGSIZE);
	varlink_input_done(&in);
	/* An idle connection owns no memory. */
	assert_int_equal(varlink_input_add(&in, "1", 2), 0);
	assert_int_equal(varlink_input_next(&in, &text, &len), 1);
	assert_int_equal(varlink_input_next(&in, &text, &len), 0);
	assert_null(in.buf);
}

/* ---- the client ---- */

static int listening(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(path);
	strcpy(sa.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

struct script {
	const char *bytes;
	size_t len;
	bool stay; /* do not close after it */
};

/* One connection: reads a call, answers with the script's bytes in two pieces. */
static pid_t serve_script(const struct script *s)
{
	int fd = listening();
	pid_t pid = fork();
	char buf[4096];

	if (pid == 0) {
		int c = accept(fd, NULL, NULL);

		if (read(c, buf, sizeof(buf)) > 0 && s->len) {
			/* In two parts, the first of them inside the first message. */
			size_t part = s->len / 3;

			if (write(c, s->bytes, part) == (ssize_t)part)
				(void)!write(c, s->bytes + part, s->len - part);
		}
		while (s->stay && read(c, buf, sizeof(buf)) > 0)
			;
		_exit(0);
	}
	close(fd);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

#define SCRIPT(s)                                                                                                      \
	{                                                                                                              \
		s, sizeof(s) - 1, true                                                                                 \
	}

static void test_client(void **state)
{
	static const struct {
		struct script script;
		int result;
		const char *error, *says;
	} cases[] = {
		{ SCRIPT("{\"parameters\":{\"a\":1}}\0"), 0, NULL, NULL },
		{ SCRIPT("{}\0"), 0, NULL, NULL },
		{ SCRIPT("{\"error\":\"a.B\",\"parameters\":{\"a\":1}}\0"), 0, "a.B", NULL },
		{ SCRIPT("{\"error\":\"a.B\"}\0"), 0, "a.B", NULL },
		{ SCRIPT("nonsense\0"), -EBADMSG, NULL, "no valid varlink reply" },
		{ SCRIPT("\0"), -EBADMSG, NULL, "no valid varlink reply" },
		{ SCRIPT("{\"error\":1}\0"), -EBADMSG, NULL, "no valid varlink reply" },
		{ SCRIPT("{\"parameters\":[]}\0"), -EBADMSG, NULL, "no valid varlink reply" },
		{ SCRIPT("{\"continues\":true,\"parameters\":{}}\0"), -EBADMSG, NULL, "no valid varlink reply" },
		{ SCRIPT("{\"parameters\":{}}"), -ETIMEDOUT, NULL, "no answer in time" },
		{ { "{\"para", 6, false }, -ECONNRESET, NULL, "closed the connection" },
		{ { "", 0, false }, -ECONNRESET, NULL, "closed the connection" },
		{ { "", 0, true }, -ETIMEDOUT, NULL, "no answer in time" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pid_t pid = serve_script(&cases[i].script);
		struct json_object *params = NULL;
		struct varlink *v = NULL;
		char *error = NULL;
		struct err e = { 0 };
		int r;

		assert_int_equal(varlink_connect(path, 1, &v, &e), 0);
		r = varlink_call(v, "a.B", NULL, &params, &error, &e);
		if (r != cases[i].result || !str_eq(error, cases[i].error))
			fail_msg("case %zu: %d, %s, %s", i, r, error ?: "-", e.text);
		if (r < 0) {
			assert_non_null(strstr(e.text, cases[i].says));
			assert_non_null(strstr(e.text, "a.B"));
			assert_int_equal(varlink_call(v, "a.B", NULL, &params, &error, &e), -ECONNRESET);
		} else {
			assert_non_null(params);
		}
		json_object_put(params);
		free(error);
		varlink_free(v);
		end(pid);
	}
}

/* An answer that was not asked for must not become the answer of the next call. */
static void test_client_two_replies(void **state)
{
	static const struct script two = SCRIPT("{\"parameters\":{\"a\":1}}\0{\"parameters\":{\"a\":2}}\0");
	pid_t pid = serve_script(&two);
	struct json_object *params = NULL;
	struct varlink *v = NULL;
	char *error = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(varlink_connect(path, 1, &v, &e), 0);
	assert_int_equal(varlink_call(v, "a.B", NULL, &params, &error, &e), 0);
	json_object_put(params);
	if (varlink_call(v, "a.B", NULL, &params, &error, &e) == 0)
		fail_msg("the second reply was taken for the answer to another call");
	varlink_free(v);
	end(pid);
}

static void test_connect_fails(void **state)
{
	struct varlink *v = NULL;
	struct err e = { 0 };
	char longest[200];

	(void)state;
	unlink(path);
	assert_int_equal(varlink_connect(path, 1, &v, &e), -ENOENT);
	assert_non_null(strstr(e.text, path));
	close(listening());
	assert_int_equal(varlink_connect(path, 1, &v, &e), -ECONNREFUSED);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	assert_int_equal(varlink_connect(longest, 1, &v, &e), -ENAMETOOLONG);
	assert_null(v);
	assert_null(varlink_free(NULL));
}

/* ---- the server's limits, in a process of its own ---- */

#define BIG (4u << 20)
#define PATIENCE_SEC 200 /* for anything to happen */

static int call_big(struct connection *c, const char *method, struct json_object *params, void *userdata)
{
	struct json_object *o = json_object_new_object();
	char *big = malloc(BIG);

	(void)params;
	(void)userdata;
	if (str_eq(method, "Big")) {
		memset(big, 'x', BIG);
		json_object_object_add(o, "big", json_object_new_string_len(big, BIG));
	}
	free(big);
	return connection_reply(c, o);
}

static void describe_nothing(struct text *t)
{
	text_add(t, "interface a.b\n");
}

static void log_nowhere(void *ctx, int priority, const char *id, const char *text)
{
	(void)ctx;
	(void)priority;
	(void)id;
	(void)text;
}

static pid_t serve_limited(const struct server_limits *limits)
{
	static const struct logger quiet = { .write = log_nowhere };
	struct server_config config = {
		.vendor = "v",
		.product = "p",
		.version = "1",
		.url = "u",
		.interface = { .name = "a.b", .describe = describe_nothing, .call = call_big },
		.log = &quiet,
		.limits = *limits,
	};
	int fd = listening();
	pid_t pid = fork();

	if (pid == 0) {
		struct server *s = NULL;
		sd_event *event = NULL;

		if (sd_event_new(&event) < 0 || server_new(event, &config, &s) < 0 || server_listen_fd(s, fd) < 0)
			_exit(1);
		sd_event_loop(event);
		_exit(0);
	}
	close(fd);
	return pid;
}

static int client(void)
{
	struct timeval patience = { .tv_sec = PATIENCE_SEC };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(sa.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

static void say(int fd, const char *s, size_t n)
{
	assert_int_equal(send(fd, s, n, MSG_NOSIGNAL), (ssize_t)n);
}

#define SMALL "{\"method\":\"a.b.Small\"}"
#define LARGE "{\"method\":\"a.b.Big\"}"
#define SAY(fd, s) say(fd, s, sizeof(s))

/* Everything until the server closes: how many bytes; -1 when it does not close in time. */
static ssize_t read_to_end(int fd)
{
	static char buf[1 << 16];
	ssize_t n, all = 0;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		all += n;
	return n < 0 && errno != ECONNRESET ? -1 : all;
}

static bool is_served(int fd)
{
	char buf[256];
	ssize_t n;

	if (send(fd, SMALL, sizeof(SMALL), MSG_NOSIGNAL) < 0)
		return false;
	n = read(fd, buf, sizeof(buf));
	return n > 0 && buf[n - 1] == 0 && strstr(buf, "parameters");
}

/* Until the server has begun to answer, or POLLRDHUP: has closed; what it sent before stays to be read. */
static void wait_until(int fd, short event)
{
	struct pollfd p = { .fd = fd, .events = event };

	assert_int_equal(poll(&p, 1, PATIENCE_SEC * 1000), 1);
	assert_true(p.revents & event);
}

/* Half a message, and a reply that nobody takes, have an end; an idle connection has none. */
static void test_patience(void **state)
{
	struct server_limits limits = server_limits_default;
	pid_t pid;
	int half, slow, idle;

	(void)state;
	limits.patience_sec = 1;
	pid = serve_limited(&limits);
	half = client();
	slow = client();
	idle = client();
	assert_true(is_served(half) && is_served(slow) && is_served(idle));
	SAY(slow, LARGE);
	say(half, "{", 1);
	assert_int_equal(read_to_end(half), 0);
	wait_until(slow, POLLRDHUP);
	/* What the socket's buffer had taken is still there; the rest went with the connection. */
	assert_true(read_to_end(slow) < (ssize_t)BIG);
	assert_true(is_served(idle));
	close(half);
	close(slow);
	close(idle);
	end(pid);
}

static void test_queue_limit(void **state)
{
	struct server_limits limits = server_limits_default;
	pid_t pid;
	int first, second;

	(void)state;
	limits.queue = BIG + 1000;
	pid = serve_limited(&limits);
	first = client();
	second = client();
	SAY(first, LARGE);
	wait_until(first, POLLIN);
	SAY(second, LARGE);
	assert_true(read_to_end(second) < (ssize_t)BIG); /* no room beside the first one's reply */
	shutdown(first, SHUT_WR);
	assert_true(read_to_end(first) > (ssize_t)BIG);
	close(first);
	close(second);
	first = client();
	SAY(first, LARGE);
	shutdown(first, SHUT_WR);
	assert_true(read_to_end(first) > (ssize_t)BIG); /* and now there is room again */
	close(first);
	end(pid);
}

/* The one that was idle for longest gives way, by user and in all. */
static void test_connection_limits(void **state)
{
	(void)state;
	for (int in_all = 0; in_all < 2; in_all++) {
		struct server_limits limits = server_limits_default;
		pid_t pid;
		int fd[5];

		if (in_all)
			limits.connections = 4;
		else
			limits.connections_per_uid = 4;
		pid = serve_limited(&limits);
		for (int i = 0; i < 4; i++) {
			fd[i] = client();
			assert_true(is_served(fd[i]));
		}
		assert_true(is_served(fd[0])); /* so that fd[1] is the idle one */
		fd[4] = client();
		assert_true(is_served(fd[4]));
		assert_int_equal(read_to_end(fd[1]), 0);
		assert_true(is_served(fd[0]) && is_served(fd[2]) && is_served(fd[3]) && is_served(fd[4]));
		for (int i = 0; i < 5; i++)
			close(fd[i]);
		end(pid);
	}
}

/* Connections with a reply under way are not idle: a newcomer is refused then. */
static void test_all_busy(void **state)
{
	struct server_limits limits = server_limits_default;
	pid_t pid;
	int fd[3];

	(void)state;
	limits.connections_per_uid = 2;
	pid = serve_limited(&limits);
	for (int i = 0; i < 2; i++) {
		fd[i] = client();
		SAY(fd[i], LARGE);
		wait_until(fd[i], POLLIN);
	}
	fd[2] = client();
	assert_false(is_served(fd[2]));
	for (int i = 0; i < 2; i++) {
		shutdown(fd[i], SHUT_WR);
		assert_true(read_to_end(fd[i]) > (ssize_t)BIG);
	}
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	end(pid);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/socket", dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_framing_limit),
		cmocka_unit_test(test_client),
		cmocka_unit_test(test_client_two_replies),
		cmocka_unit_test(test_connect_fails),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_queue_limit),
		cmocka_unit_test(test_connection_limits),
		cmocka_unit_test(test_all_busy),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
