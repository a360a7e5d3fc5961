// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * netns_helper.c - smcd-netns: the one process of smcd's with CAP_SYS_ADMIN (and CAP_NET_ADMIN, which the kernel wants
 * of the opener of a netlink socket that changes settings). It enters a network namespace by name, opens what smcd
 * needs there, and passes the descriptors on. It keeps nothing and reads no files.
 *
 * Its socket is AF_UNIX, SOCK_SEQPACKET: handed over by systemd (socket activation, listening or connected), or a
 * connected one with --fd=N.
 */
#include "netns.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_FD 3 /* SD_LISTEN_FDS_START */

static int usage(void)
{
	fprintf(stderr, "usage: smcd-netns [--user=NAME|UID] [--fd=N]\n"
			"Opens network namespaces for smcd. Without --fd, systemd has to pass the socket.\n");
	return 2;
}

static int parse_number(const char *s, unsigned long max, unsigned int *ret)
{
	char *end;
	unsigned long n;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	n = strtoul(s, &end, 10);
	if (*end || errno || n > max)
		return -EINVAL;
	*ret = (unsigned int)n;
	return 0;
}

static int parse_user(const char *s, unsigned int *ret)
{
	const struct passwd *pw;

	if (parse_number(s, UINT32_MAX - 1, ret) == 0)
		return 0;
	pw = getpwnam(s);
	if (!pw)
		return -ENOENT;
	*ret = pw->pw_uid;
	return 0;
}

/* The one socket that systemd passed, or -1. */
static int passed_fd(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	unsigned int p, n;

	if (!pid || !fds || parse_number(pid, INT32_MAX, &p) < 0 || parse_number(fds, INT32_MAX, &n) < 0)
		return -1;
	return (pid_t)p == getpid() && n == 1 ? FIRST_FD : -1;
}

/* One connection after the other: smcd is the only client. */
static int serve_listener(int listener, unsigned int uid)
{
	for (;;) {
		int fd CLEANUP_FD = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		int r;

		if (fd < 0) {
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			return -errno;
		}
		r = netns_serve(fd, uid);
		if (r < 0)
			fprintf(stderr, "<4>smcd-netns: connection closed: %s\n", strerror(-r));
	}
}

static int serve(int fd, unsigned int uid)
{
	int listening = 0, type = 0;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	if (type != SOCK_SEQPACKET)
		return -EPROTOTYPE;
	return listening ? serve_listener(fd, uid) : netns_serve(fd, uid);
}

int main(int argc, char **argv)
{
	unsigned int uid = 0, fd = 0;
	int r;

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--user=", 7) == 0) {
			r = parse_user(argv[i] + 7, &uid);
			if (r < 0) {
				fprintf(stderr, "<3>smcd-netns: there is no user '%.*s'\n", SHOWN_MAX, argv[i] + 7);
				return 2;
			}
		} else if (strncmp(argv[i], "--fd=", 5) != 0 || parse_number(argv[i] + 5, INT32_MAX, &fd) < 0) {
			return usage();
		}
	}
	r = fd ? (int)fd : passed_fd();
	if (r < 0)
		return usage();
	signal(SIGPIPE, SIG_IGN);
	r = serve(r, uid);
	if (r < 0)
		fprintf(stderr, "<3>smcd-netns: %s\n", strerror(-r));
	return r < 0 ? 1 : 0;
}
