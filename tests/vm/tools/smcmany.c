// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * smcmany - many SMC connections at once, both ends in this process
 *
 *	smcmany [--count N] [--address A] [--port P] [--deadline S] [--hold]
 *
 * Starts all connects without blocking, accepts as they come, and moves a byte over each one in each direction once it
 * is established. Prints one JSON object with what has come of them and exits 0 only if all N are established and every
 * byte has arrived. --hold: keep them open until standard input ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

#define MAX_COUNT 30000
#define SPARE_FDS 64
#define EVENTS 256

enum role { ROLE_NONE, ROLE_LISTENER, ROLE_CLIENT, ROLE_SERVER };

struct result {
	unsigned int connected;
	unsigned int accepted;
	unsigned int echoed;  /* bytes that have come back */
	unsigned int errors;  /* connects that have failed */
	unsigned int lost;    /* ends of an established one that have failed */
	int first_error;      /* errno, 0: none */
	double established_s; /* until the last of both ends was there */
};

static struct {
	unsigned int count;
	unsigned int deadline; /* seconds */
	bool hold;
	struct sockaddr_in address;
} opt = {
	.count = 1000,
	.deadline = 60,
	.address = { .sin_family = AF_INET },
};

static int epoll_fd;
/* By file descriptor, which the kernel gives out from the lowest on. */
static enum role roles[2 * MAX_COUNT + SPARE_FDS];
static bool done_connect[2 * MAX_COUNT + SPARE_FDS];

static void die(const char *what)
{
	fprintf(stderr, "smcmany: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void note(struct result *r, unsigned int *counter, int error)
{
	++*counter;
	if (!r->first_error)
		r->first_error = error;
}

static void watch(int fd, enum role role, unsigned int events, int op)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (fd >= (int)(sizeof(roles) / sizeof(roles[0]))) {
		errno = EMFILE;
		die("too many files");
	}
	roles[fd] = role;
	if (epoll_ctl(epoll_fd, op, fd, &event) < 0)
		die("epoll_ctl");
}

static int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_SMC);

	if (fd < 0)
		die("socket");
	return fd;
}

static void start_listener(void)
{
	int fd = new_socket(), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&opt.address, sizeof(opt.address)) < 0)
		die("bind");
	if (listen(fd, (int)opt.count) < 0)
		die("listen");
	watch(fd, ROLE_LISTENER, EPOLLIN, EPOLL_CTL_ADD);
}

static void start_connect(struct result *r)
{
	int fd = new_socket();

	if (connect(fd, (struct sockaddr *)&opt.address, sizeof(opt.address)) < 0 && errno != EINPROGRESS) {
		note(r, &r->errors, errno);
		return;
	}
	watch(fd, ROLE_CLIENT, EPOLLOUT, EPOLL_CTL_ADD);
}

static void on_listener(int listener, struct result *r)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		r->accepted++;
		watch(fd, ROLE_SERVER, EPOLLIN, EPOLL_CTL_ADD);
	}
	if (errno != EAGAIN && errno != ECONNABORTED)
		die("accept");
}

static void give_up(int fd, struct result *r, unsigned int *counter, int error)
{
	note(r, counter, error);
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static void on_client(int fd, struct result *r)
{
	int error = 0;
	socklen_t size = sizeof(error);
	char byte = 'x';

	if (done_connect[fd]) {
		ssize_t got = recv(fd, &byte, 1, 0);

		if (got == 1)
			r->echoed++;
		else if (got < 0 && errno == EAGAIN)
			return;
		if (got == 1)
			epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		else
			give_up(fd, r, &r->lost, got ? errno : ECONNRESET);
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (error) {
		give_up(fd, r, &r->errors, error);
		return;
	}
	if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1) {
		if (errno == ENOTCONN || errno == EAGAIN)
			return;
		give_up(fd, r, &r->errors, errno);
		return;
	}
	done_connect[fd] = true;
	r->connected++;
	watch(fd, ROLE_CLIENT, EPOLLIN, EPOLL_CTL_MOD);
}

static void on_server(int fd, struct result *r)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, 0);

	if (got < 0 && errno == EAGAIN)
		return;
	if (got == 1 && send(fd, &byte, 1, MSG_NOSIGNAL) == 1)
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	else
		give_up(fd, r, &r->lost, got ? errno : ECONNRESET);
}

static bool is_over(const struct result *r)
{
	return r->echoed + r->errors + r->lost >= opt.count && r->accepted + r->errors >= opt.count;
}

static void run(struct result *r)
{
	double start = now();
	struct epoll_event events[EVENTS];

	start_listener();
	for (unsigned int i = 0; i < opt.count; i++)
		start_connect(r);
	while (!is_over(r) && now() < start + opt.deadline) {
		int n = epoll_wait(epoll_fd, events, EVENTS, 100);

		if (n < 0 && errno != EINTR)
			die("epoll_wait");
		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (roles[fd] == ROLE_LISTENER)
				on_listener(fd, r);
			else if (roles[fd] == ROLE_CLIENT)
				on_client(fd, r);
			else
				on_server(fd, r);
		}
		if (!r->established_s && r->connected == opt.count && r->accepted == opt.count)
			r->established_s = now() - start;
	}
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'c' }, { "address", required_argument, NULL, 'a' },
		{ "port", required_argument, NULL, 'p' },  { "deadline", required_argument, NULL, 'd' },
		{ "hold", no_argument, NULL, 'h' },        { 0 },
	};
	int c;

	opt.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	opt.address.sin_port = htons(41000);
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			opt.count = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'a':
			if (inet_pton(AF_INET, optarg, &opt.address.sin_addr) == 1)
				break;
			exit(2);
		case 'p':
			opt.address.sin_port = htons((in_port_t)strtoul(optarg, NULL, 10));
			break;
		case 'd':
			opt.deadline = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'h':
			opt.hold = true;
			break;
		default:
			exit(2);
		}
	}
	if (optind != argc || opt.count < 1 || opt.count > MAX_COUNT)
		exit(2);
}

int main(int argc, char **argv)
{
	struct result r = { 0 };
	struct rlimit files;
	bool good;

	parse(argc, argv);
	files.rlim_cur = files.rlim_max = 2 * opt.count + SPARE_FDS;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		die("setrlimit");
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		die("epoll_create1");
	run(&r);
	good = r.echoed == opt.count && r.accepted == opt.count;
	printf("{\"asked\":%u,\"connected\":%u,\"accepted\":%u,\"echoed\":%u,\"errors\":%u,\"lost\":%u,\"error\":\"%s\","
	       "\"established_s\":%.3f}\n",
	       opt.count, r.connected, r.accepted, r.echoed, r.errors, r.lost,
	       r.first_error ? strerrorname_np(r.first_error) : "", r.established_s);
	fflush(stdout);
	while (opt.hold && getchar() != EOF)
		;
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
