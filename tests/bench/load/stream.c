// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stream - one connection over SMC, and what it takes to move data through it
 *
 *	stream pingpong BYTES ROUNDS	time of a request and its echo
 *	stream bulk BYTES MIB		MiB written BYTES at a time and read
 *	stream splice BYTES MIB		the same, but moved from the socket through a pipe to /dev/null
 *
 * Prints `NAME NUMBER` lines. `reader` is the id of the task that reads, for the counts of a tracer.
 */
#include "bench.h"
#include <fcntl.h>

#define PORT 42100
#define READ_SIZE (1U << 20)
#define SPLICE_SIZE (1U << 20)
#define MIB (1U << 20)
#define MAX_BYTES (16U << 20)
#define MAX_ROUNDS 1000000U

enum mode { PINGPONG, BULK, SPLICE };

static const char *const modes[] = { [PINGPONG] = "pingpong", [BULK] = "bulk", [SPLICE] = "splice" };

static void check(ssize_t rc, const char *what)
{
	if (rc < 0)
		die("%s: %s", what, strerror(-(int)rc));
}

/* In the child: the other side of the connection */
static void run_peer(int listening, enum mode mode, unsigned int bytes, uint64_t total)
{
	int fd = accept(listening, NULL, NULL);
	char *data = allocate(bytes);

	check(fd < 0 ? -errno : 0, "accept");
	if (mode == PINGPONG) {
		while (read_all(fd, data, bytes) == (ssize_t)bytes)
			check(write_all(fd, data, bytes), "echo");
	} else {
		for (uint64_t done = 0; done < total; done += bytes)
			check(write_all(fd, data, bytes), "write");
	}
	close(fd);
	exit(EXIT_SUCCESS);
}

static void pingpong(int fd, unsigned int bytes, unsigned int rounds)
{
	uint64_t *times = allocate(rounds * sizeof(*times));
	char *data = allocate(bytes);

	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t start = now_ns();

		check(write_all(fd, data, bytes), "write");
		if (read_all(fd, data, bytes) != (ssize_t)bytes)
			die("no echo");
		times[i] = now_ns() - start;
	}
	qsort(times, rounds, sizeof(*times), compare_ns);
	printf("median_us %.2f\np99_us %.2f\n", (double)percentile(times, rounds, 50) / 1000,
	       (double)percentile(times, rounds, 99) / 1000);
}

static uint64_t read_stream(int fd, uint64_t total, uint64_t *ret_calls)
{
	char *data = allocate(READ_SIZE);
	uint64_t done = 0, calls = 0;

	while (done < total) {
		ssize_t n = read(fd, data, READ_SIZE);

		check(n < 0 ? -errno : n, "read");
		if (!n)
			break;
		done += (uint64_t)n;
		calls++;
	}
	*ret_calls = calls;
	return done;
}

static uint64_t splice_stream(int fd, uint64_t total, uint64_t *ret_calls)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), ends[2];
	uint64_t done = 0, calls = 0;

	check(null < 0 || pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0, "open");
	while (done < total) {
		ssize_t n = splice(fd, NULL, ends[1], NULL, SPLICE_SIZE, SPLICE_F_MOVE);

		check(n < 0 ? -errno : n, "splice");
		if (!n)
			break;
		done += (uint64_t)n;
		calls++;
		while (n > 0) {
			ssize_t out = splice(ends[0], NULL, null, NULL, (size_t)n, SPLICE_F_MOVE);

			check(out < 0 ? -errno : out, "splice to /dev/null");
			n -= out;
			calls++;
		}
	}
	*ret_calls = calls;
	return done;
}

static void stream(int fd, bool spliced, uint64_t total)
{
	uint64_t start = now_ns(), calls;
	uint64_t done = spliced ? splice_stream(fd, total, &calls) : read_stream(fd, total, &calls);
	double mib = (double)total / MIB, seconds = (double)(now_ns() - start) / (double)NSEC;

	if (done != total)
		die("%llu of %llu bytes came", (unsigned long long)done, (unsigned long long)total);
	printf("us_per_mib %.2f\nmib_per_second %.2f\ncalls_per_mib %.3f\nmib %.3f\n", seconds * 1e6 / mib,
	       mib / seconds, (double)calls / mib, mib);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = loopback(PORT);
	unsigned int bytes, amount;
	int listening, fd, status;
	enum mode mode;
	uint64_t total;
	pid_t peer;

	if (argc != 4)
		die("usage: stream pingpong|bulk|splice BYTES ROUNDS|MIB");
	for (mode = PINGPONG; strcmp(argv[1], modes[mode]); mode++)
		if (mode == SPLICE)
			die("unknown mode %s", argv[1]);
	bytes = number(argv[2]);
	amount = number(argv[3]);
	if (!bytes || bytes > MAX_BYTES || !amount || amount > MAX_ROUNDS)
		die("out of range");
	total = (uint64_t)amount * MIB / bytes * bytes;
	listening = listener(false, 0, PORT, 16);
	peer = start_child();
	if (!peer)
		run_peer(listening, mode, bytes, total);
	fd = smc_socket(false, 0);
	check(fd < 0 ? fd : 0, "socket");
	check(connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0, "connect");
	printf("reader %d\n", getpid());
	if (mode == PINGPONG)
		pingpong(fd, bytes, amount);
	else
		stream(fd, mode == SPLICE, total);
	close(fd);
	if (waitpid(peer, &status, 0) != peer || status)
		die("the other side failed");
	return EXIT_SUCCESS;
}
