// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_netns.c - the namespace helper and its client: names, garbage from either side, descriptors that must not leak.
 * Entering real namespaces is tested in the guests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "netns.h"

static unsigned int open_fds(void)
{
	unsigned int n = 0;
	DIR *d = opendir("/proc/self/fd");

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void checks_names(void **state)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "/run/netns/a", "../a" };
	char longest[NETNS_NAME_MAX + 2];
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(netns_name_check(bad[i], &e), -EINVAL);
		assert_true(e.text[0]);
	}
	memset(longest, 'a', sizeof(longest));
	longest[NETNS_NAME_MAX + 1] = '\0';
	assert_int_equal(netns_name_check(longest, &e), -EINVAL);
	longest[NETNS_NAME_MAX] = '\0';
	assert_int_equal(netns_name_check(longest, &e), 0);
	assert_int_equal(netns_name_check("blue-1.x", &e), 0);
}

static void no_such_namespace(void **state)
{
	struct err e = { 0 };
	struct bundle b;

	(void)state;
	assert_int_equal(bundle_open_in("no-such-namespace", &b, &e), -ENOENT);
	assert_string_equal(e.text, "network namespace 'no-such-namespace': there is no such namespace");
}

#define NO_NAMESPACES 77 /* exit status: this test may not make its own /run here */

static bool put_line(const char *path, const char *line)
{
	int fd CLEANUP_FD = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);
}

/* An empty /run that only this process has, as root or as whoever may make user namespaces. */
static bool own_run(void)
{
	char uid[48], gid[48];

	snprintf(uid, sizeof(uid), "0 %u 1", geteuid());
	snprintf(gid, sizeof(gid), "0 %u 1", getegid());
	if (unshare(CLONE_NEWNS) < 0 &&
	    (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || !put_line("/proc/self/setgroups", "deny") ||
	     !put_line("/proc/self/uid_map", uid) || !put_line("/proc/self/gid_map", gid)))
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("tmpfs", "/run", "tmpfs", 0, NULL) == 0;
}

/* A real namespace is not refused; entering it may not be allowed here. */
static int open_a_real_one(void)
{
	struct err e = { 0 };
	struct bundle b;
	int r = symlink("/proc/self/ns/net", NETNS_DIR "/net") < 0 ? -errno : bundle_open_in("net", &b, &e);

	if (r == 0)
		bundle_done(&b);
	if (r == 0 || (r == -EPERM && strstr(e.text, "enter it")))
		return 0;
	print_error("net: %d, %s\n", r, e.text);
	return 3;
}

/* In a child whose /run is its own: things under /run/netns that are no network namespace. */
static int open_what_is_none(void)
{
	static const char *const names[] = { "fifo", "file", "dir", "socket", "uts" };
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = NETNS_DIR "/socket" };

	if (!own_run())
		return NO_NAMESPACES;
	if (mkdir(NETNS_DIR, 0755) < 0 || mkfifo(NETNS_DIR "/fifo", 0600) < 0 || mkdir(NETNS_DIR "/dir", 0755) < 0 ||
	    mknod(NETNS_DIR "/file", S_IFREG | 0600, 0) < 0 || symlink("/proc/self/ns/uts", NETNS_DIR "/uts") < 0 ||
	    bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return 1;
	alarm(20); /* instead of waiting for a writer */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct err e = { 0 };
		struct bundle b;
		int r = bundle_open_in(names[i], &b, &e);

		/* A socket cannot be opened at all. */
		if (r != (str_eq(names[i], "socket") ? -ENXIO : -EINVAL) ||
		    (r == -EINVAL && !strstr(e.text, "it is no network namespace"))) {
			print_error("%s: %d, %s\n", names[i], r, e.text);
			return 2;
		}
	}
	return open_a_real_one();
}

static void what_is_no_namespace(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(open_what_is_none());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_NAMESPACES) {
		print_message(
			"# no mount namespace with a /run of its own is to be had here (a chroot, or not allowed)\n");
		skip();
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* It needs no privilege, and is the same through both sockets' namespace. */
static void tells_namespaces_apart(void **state)
{
	struct kernel *k = NULL;
	struct bundle b;
	struct transport t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(bundle_open(&b, &e), 0);
	assert_int_equal(transport_from_bundle(&b, false, &t), 0);
	assert_int_equal(kernel_new(t, "blue", &k), 0);
	assert_true(kernel_netns_cookie(k) > 0);
	kernel_free(k);
}

/* ---- the helper ---- */

/* The helper as a child at the other end of the returned socket. */
static int start_helper(unsigned int allowed, pid_t *ret_pid)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	*ret_pid = fork();
	assert_true(*ret_pid >= 0);
	if (*ret_pid == 0) {
		close(pair[0]);
		_exit(netns_serve(pair[1], allowed) == 0 ? 0 : 1);
	}
	close(pair[1]);
	return pair[0];
}

static int exit_status(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void helper_survives_garbage(void **state)
{
	static const char zeros[4] = "", dots[] = "../../etc", high[] = "\xff\xfe\x1b[2J";
	char big[8192], answer[4096];
	const struct {
		const void *p;
		size_t n;
	} requests[] = { { zeros, sizeof(zeros) }, { dots, sizeof(dots) - 1 },  { high, sizeof(high) - 1 },
			 { big, sizeof(big) },     { big, NETNS_NAME_MAX + 1 }, { "a\0b", 3 } };
	int fd;
	pid_t pid;

	(void)state;
	memset(big, 'x', sizeof(big));
	fd = start_helper(getuid(), &pid);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		assert_int_equal(send(fd, requests[i].p, requests[i].n, MSG_NOSIGNAL), requests[i].n);
		assert_true(recv(fd, answer, sizeof(answer), 0) > 0);
	}
	close(fd);
	assert_int_equal(exit_status(pid), 0);
}

static void helper_ends_with_its_client(void **state)
{
	pid_t pid;
	int fd;

	(void)state;
	fd = start_helper(getuid(), &pid);
	/* an answer that nobody takes */
	assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
	close(fd);
	assert_int_equal(exit_status(pid), 0);
}

/* ---- smcd's side ---- */

struct server {
	char dir[32];
	struct sockaddr_un addr;
	pid_t pid;
};

/* A child that accepts one connection and hands it to serve(). */
static void start_server(struct server *s, void (*serve)(int fd, int arg), int arg)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(s->dir, "/tmp/test_netns.XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	s->addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(s->addr.sun_path, sizeof(s->addr.sun_path), "%s/s", s->dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&s->addr, sizeof(s->addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		serve(accept(fd, NULL, NULL), arg);
		_exit(0);
	}
	close(fd);
}

static void stop_server(struct server *s)
{
	assert_int_equal(exit_status(s->pid), 0);
	unlink(s->addr.sun_path);
	rmdir(s->dir);
}

static void serve_well(int fd, int arg)
{
	(void)arg;
	(void)netns_serve(fd, getuid());
}

static void client_gets_the_helpers_error(void **state)
{
	struct netns_helper *h = NULL;
	struct server s;
	struct err e = { 0 };
	struct bundle b;

	(void)state;
	start_server(&s, serve_well, 0);
	assert_int_equal(netns_helper_connect(s.addr.sun_path, &h, &e), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(netns_helper_open(h, "no-such-namespace", &b, &e), -ENOENT);
		assert_non_null(strstr(e.text, "there is no such namespace"));
		assert_int_equal(netns_helper_open(h, "../x", &b, &e), -EINVAL);
	}
	assert_null(netns_helper_free(h));
	stop_server(&s);
}

enum evil { EVIL_CLOSE, EVIL_SHORT, EVIL_GARBAGE, EVIL_FDS, EVIL_MANY_FDS, EVIL_LONG, N_EVILS };

static void serve_badly(int fd, int arg)
{
	static char answer[4096];
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * 100)];
	} control = { 0 };
	struct iovec iov = { answer, arg == EVIL_LONG ? sizeof(answer) : arg == EVIL_SHORT ? 3 : 600 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	size_t n = arg == EVIL_FDS ? 5 : arg == EVIL_MANY_FDS ? 100 : 0;

	if (recv(fd, answer, sizeof(answer), 0) <= 0 || arg == EVIL_CLOSE)
		return;
	memset(answer, arg == EVIL_GARBAGE ? 0xff : 0, sizeof(answer));
	if (n > 0) {
		struct cmsghdr *c;

		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * n);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n);
		for (size_t i = 0; i < n; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(fd));
	}
	(void)sendmsg(fd, &m, MSG_NOSIGNAL);
}

static void client_survives_a_bad_helper(void **state)
{
	(void)state;
	for (int evil = 0; evil < N_EVILS; evil++) {
		struct netns_helper *h = NULL;
		struct err e = { 0 };
		unsigned int before = open_fds();
		struct server s;
		struct bundle b;
		int r;

		start_server(&s, serve_badly, evil);
		assert_int_equal(netns_helper_connect(s.addr.sun_path, &h, &e), 0);
		r = netns_helper_open(h, "blue", &b, &e);
		assert_int_equal(r, evil == EVIL_CLOSE ? -ECONNRESET : -EPROTO);
		assert_true(e.text[0]);
		netns_helper_free(h);
		stop_server(&s);
		assert_int_equal(open_fds(), before);
	}
}

static void no_helper_at_all(void **state)
{
	struct netns_helper *h = NULL;
	struct err e = { 0 };
	char longest[200];

	(void)state;
	assert_int_equal(netns_helper_connect("/nonexistent/socket", &h, &e), -ENOENT);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(netns_helper_connect(longest, &h, &e), -ENAMETOOLONG);
	assert_int_equal(netns_helper_spawn("/nonexistent/program", &h, &e), -ENOENT);
	assert_null(h);
}

/* A program that is no helper: it ends, and the client says so instead of waiting. */
static void spawned_program_that_ends(void **state)
{
	struct netns_helper *h = NULL;
	struct err e = { 0 };
	struct bundle b;
	int r;

	(void)state;
	assert_int_equal(netns_helper_spawn("/bin/false", &h, &e), 0);
	r = netns_helper_open(h, "blue", &b, &e);
	assert_true(r == -EPIPE || r == -ECONNRESET);
	netns_helper_free(h);
}

/* ---- this program as a helper ---- */

#define HANG "hang"
#define HELPER_ENV "TEST_NETNS_HELPER" /* what to do: HANG, or the number of a descriptor to report signals to */

struct signals {
	uint64_t blocked, ignored;
};

static struct signals own_signals(void)
{
	struct signals s = { .blocked = UINT64_MAX };
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "SigBlk:", 7) == 0)
			s.blocked = strtoull(line + 7, NULL, 16);
		if (strncmp(line, "SigIgn:", 7) == 0)
			s.ignored = strtoull(line + 7, NULL, 16);
	}
	if (f)
		fclose(f);
	return s;
}

static int act_as_helper(const char *what)
{
	struct signals s = own_signals();

	if (!str_eq(what, HANG))
		return write(atoi(what), &s, sizeof(s)) == sizeof(s) ? 0 : 1;
	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_IGN);
	/* Nobody is left with it when the test fails. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sleep(60);
	return 0;
}

/* Whatever the program does, it is gone soon after it is not needed any more. */
static void spawned_program_that_does_not_end(void **state)
{
	struct netns_helper *h = NULL;
	struct err e = { 0 };

	(void)state;
	setenv(HELPER_ENV, HANG, 1);
	assert_int_equal(netns_helper_spawn("/proc/self/exe", &h, &e), 0);
	unsetenv(HELPER_ENV);
	alarm(20);
	netns_helper_free(h);
	alarm(0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* smcd blocks the signals that it takes from a descriptor, and ignores SIGPIPE. */
static void spawned_program_has_usual_signals(void **state)
{
	struct netns_helper *h = NULL;
	struct signals s = { 0 };
	struct err e = { 0 };
	char number[16];
	sigset_t set, before;
	int report[2];

	(void)state;
	assert_int_equal(pipe(report), 0);
	snprintf(number, sizeof(number), "%d", report[1]);
	setenv(HELPER_ENV, number, 1);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(netns_helper_spawn("/proc/self/exe", &h, &e), 0);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	unsetenv(HELPER_ENV);
	close(report[1]);
	assert_int_equal(read(report[0], &s, sizeof(s)), sizeof(s));
	close(report[0]);
	netns_helper_free(h);
	assert_int_equal(s.blocked, 0);
	assert_int_equal(s.ignored & (UINT64_C(1) << (SIGPIPE - 1)), 0);
}

/* On the real kernel, which always has this group: a socket without a port would hear nothing of the kernel's. */
static void events_have_a_port(void **state)
{
	struct sockaddr_nl own = { 0 };
	socklen_t len = sizeof(own);
	unsigned char *buf = NULL;
	size_t n = 0;
	struct transport t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(transport_own(&t, &e), 0);
	assert_int_equal(t.ops->events_fd(t.ctx), -EBADF);
	assert_int_equal(t.ops->join(t.ctx, GENL_ID_CTRL), 0); /* nlctrl's "notify" has the number of the family */
	assert_true(t.ops->events_fd(t.ctx) >= 0);
	assert_int_equal(getsockname(t.ops->events_fd(t.ctx), (struct sockaddr *)&own, &len), 0);
	assert_true(own.nl_pid != 0);
	/* and waits for nothing */
	assert_int_equal(t.ops->recv(t.ctx, BUS_EVENTS, &buf, &n), -EAGAIN);
	t.ops->free(t.ctx);
}

int main(int argc, char **argv)
{
	const char *helper = getenv(HELPER_ENV);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_names),
		cmocka_unit_test(events_have_a_port),
		cmocka_unit_test(no_such_namespace),
		cmocka_unit_test(what_is_no_namespace),
		cmocka_unit_test(tells_namespaces_apart),
		cmocka_unit_test(helper_survives_garbage),
		cmocka_unit_test(helper_ends_with_its_client),
		cmocka_unit_test(client_gets_the_helpers_error),
		cmocka_unit_test(client_survives_a_bad_helper),
		cmocka_unit_test(no_helper_at_all),
		cmocka_unit_test(spawned_program_that_ends),
		cmocka_unit_test(spawned_program_that_does_not_end),
		cmocka_unit_test(spawned_program_has_usual_signals),
	};

	if (helper && argc > 1 && str_eq(argv[1], "--fd=3"))
		return act_as_helper(helper);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
