// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * connect THREADS HELD SECONDS [tcp] - short connections as fast as THREADS clients can, beside HELD open ones
 *
 * Each of a client's connections is connect, request, reply, end (the server closes first, as an HTTP server without
 * keep-alive). The buffers have four sizes in turn, one port each. Prints `NAME NUMBER` lines; what fails is counted by
 * errno, on stderr too, and ends nothing.
 */
#include "bench.h"

#define PORT 42000
#define ACCEPTORS 4 /* threads that accept, for each size */
#define REQUEST 64
#define REPLY 1024
#define HOLD 'H'
#define SHORT 'S'
#define BACKLOG 4096
#define MAX_TIMES (1U << 18) /* connections of one client whose times are kept; a guest gets nowhere near */
#define ERRORS 140

static const unsigned int sizes[] = { 16384, 32768, 65536, 131072 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static bool tcp;
static uint64_t end;

struct client {
	pthread_t thread;
	unsigned int index;
	unsigned int connections;
	uint64_t *times; /* ns in connect() */
	unsigned int errors[ERRORS];
};

static void *serve(void *argument)
{
	int listening = *(int *)argument;
	char request[REQUEST], reply[REPLY] = { 0 };

	for (;;) {
		int fd = accept(listening, NULL, NULL);

		if (fd < 0)
			continue;
		if (read_all(fd, request, sizeof(request)) != sizeof(request) || write_all(fd, reply, sizeof(reply)) ||
		    request[0] != HOLD)
			close(fd);
	}
	return NULL;
}

static void run_server(int ready)
{
	static int listening[SIZES];

	for (size_t i = 0; i < SIZES; i++) {
		listening[i] = listener(tcp, sizes[i], PORT + (unsigned int)i, BACKLOG);
		for (int n = 0; n < ACCEPTORS; n++)
			start_thread(serve, &listening[i]);
	}
	if (write(ready, "", 1) != 1)
		die("pipe: %s", strerror(errno));
	for (;;)
		pause();
}

/* 0 and the time of connect(), or -errno. A held connection stays open. */
static int connection(unsigned int n, char kind, uint64_t *ret_ns)
{
	struct sockaddr_in address = loopback(PORT + n % SIZES);
	char request[REQUEST] = { kind }, reply[REPLY + 1];
	size_t expected = kind == HOLD ? REPLY : REPLY + 1; /* one more, to see the end */
	int fd = smc_socket(tcp, sizes[n % SIZES]);
	uint64_t start = now_ns();
	ssize_t rc = fd;

	if (fd < 0)
		return fd;
	rc = connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	*ret_ns = now_ns() - start;
	if (!rc)
		rc = write_all(fd, request, sizeof(request));
	if (!rc)
		rc = read_all(fd, reply, expected);
	if (rc >= 0)
		rc = rc == REPLY ? 0 : -EBADMSG;
	if (rc || kind != HOLD)
		close(fd);
	return (int)rc;
}

static void count_error(struct client *c, int error)
{
	c->errors[-error < ERRORS ? -error : 0]++;
}

static void *run_client(void *argument)
{
	struct client *c = argument;

	/* Each begins with another size. */
	for (unsigned int n = c->index; now_ns() < end; n++) {
		uint64_t ns = 0;
		int rc = connection(n, SHORT, &ns);

		if (rc)
			count_error(c, rc);
		else if (c->connections == MAX_TIMES)
			die("more than %u connections of one client", MAX_TIMES);
		else
			c->times[c->connections++] = ns;
	}
	return NULL;
}

static void report(struct client *clients, unsigned int n, uint64_t start)
{
	double seconds = (double)(now_ns() - start) / (double)NSEC;
	unsigned int total = 0, errors = 0, at = 0;
	uint64_t *times;

	for (unsigned int i = 0; i < n; i++)
		total += clients[i].connections;
	times = allocate(total * sizeof(*times));
	for (unsigned int i = 0; i < n; i++) {
		memcpy(times + at, clients[i].times, clients[i].connections * sizeof(*times));
		at += clients[i].connections;
		for (int e = 0; e < ERRORS; e++) {
			if (clients[i].errors[e])
				fprintf(stderr, "client %u: %u times %s\n", i, clients[i].errors[e],
					e ? strerror(e) : "an unknown error");
			errors += clients[i].errors[e];
		}
	}
	qsort(times, total, sizeof(*times), compare_ns);
	printf("backlog %u\nconnections %u\nper_second %.1f\nconnect_median_us %.1f\nconnect_p99_us %.1f\nerrors %u\n",
	       (unsigned int)BACKLOG, total, total / seconds, (double)percentile(times, total, 50) / 1000,
	       (double)percentile(times, total, 99) / 1000, errors);
	free(times);
}

int main(int argc, char **argv)
{
	unsigned int threads, held;
	struct client *clients;
	uint64_t start, unused;
	int ready[2];
	char byte;

	if (argc < 4 || (argc > 4 && strcmp(argv[4], "tcp")))
		die("usage: connect THREADS HELD SECONDS [tcp]");
	threads = number(argv[1]);
	held = number(argv[2]);
	tcp = argc > 4;
	if (pipe(ready) < 0)
		die("pipe: %s", strerror(errno));
	if (!start_child())
		run_server(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("the server does not start");
	for (unsigned int i = 0; i < held; i++) {
		int rc = connection(i, HOLD, &unused);

		if (rc)
			die("held connection %u: %s", i, strerror(-rc));
	}
	clients = allocate(threads * sizeof(*clients));
	start = now_ns();
	end = start + number(argv[3]) * NSEC;
	for (unsigned int i = 0; i < threads; i++) {
		clients[i].index = i;
		clients[i].times = allocate(MAX_TIMES * sizeof(*clients[i].times));
		clients[i].thread = start_thread(run_client, &clients[i]);
	}
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(clients[i].thread, NULL);
	report(clients, threads, start);
	return EXIT_SUCCESS;
}
