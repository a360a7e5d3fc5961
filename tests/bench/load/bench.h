/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the load programs of `make bench-kernel` share: they end with status 1 and a line on stderr if that is it. */
#ifndef BENCH_H
#define BENCH_H

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif
#define NSEC 1000000000ULL

static inline void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

static inline void *allocate(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory)
		die("no memory");
	return memory;
}

static inline unsigned int number(const char *text)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (end == text || *end || errno || value > INT32_MAX)
		die("not a number: %s", text);
	return (unsigned int)value;
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NSEC + (uint64_t)t.tv_nsec;
}

/* A socket of IPPROTO_SMC (of TCP if @tcp) whose buffers SMC makes @size bytes long; 0: the default. */
static inline int smc_socket(bool tcp, unsigned int size)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, tcp ? 0 : IPPROTO_SMC);
	int half = (int)(size / 2); /* the kernel doubles what it is told, and SMC takes the doubled half */
	int one = 1;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    (size && (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &half, sizeof(half)) < 0 ||
		      setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof(half)) < 0)))
		die("socket options: %s", strerror(errno));
	return fd;
}

static inline struct sockaddr_in loopback(unsigned int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static inline int listener(bool tcp, unsigned int size, unsigned int port, int backlog)
{
	struct sockaddr_in address = loopback(port);
	int fd = smc_socket(tcp, size);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, backlog) < 0)
		die("listen on port %u: %s", port, strerror(errno));
	return fd;
}

/* Both ends of a connection to @listening: the client's, and in @ret_server the other */
static inline int pair(bool tcp, unsigned int size, unsigned int port, int listening, int *ret_server)
{
	struct sockaddr_in address = loopback(port);
	int fd = smc_socket(tcp, size);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		die("connect: %s", strerror(errno));
	*ret_server = accept(listening, NULL, NULL);
	if (*ret_server < 0)
		die("accept: %s", strerror(errno));
	return fd;
}

/* All of it, or what there is before the end; -errno */
static inline ssize_t read_all(int fd, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, (char *)data + done, size - done);

		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static inline int write_all(int fd, const void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = send(fd, (const char *)data + done, size - done, MSG_NOSIGNAL);

		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

static inline pthread_t start_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, function, argument);

	if (error)
		die("start a thread: %s", strerror(error));
	return thread;
}

/* In the child 0. It ends with its parent. */
static inline pid_t start_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static inline int compare_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The value below which @percent of the sorted ones lie */
static inline uint64_t percentile(const uint64_t *sorted, size_t n, unsigned int percent)
{
	return n ? sorted[(n - 1) * percent / 100] : 0;
}

#endif
