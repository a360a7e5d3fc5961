// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stream - one connection over SMC, and what it takes to move data through it
 *
 *	stream pingpong BYTES ROUNDS	time of a request and its echo
 *	stream bulk BYTES MIB		MiB written BYTES at a time and read
 *	stream splice BYTES MIB		the same, but moved from the socket through a pipe to /dev/null
 *	stream gather BYTES MIB		the same after BATCH bytes have gathered; only the moving is timed
 *
 * Prints `NAME NUMBER` lines. `reader` is the id of the task that reads, for the counts of a tracer.
 */
#include "bench.h"
#include <fcntl.h>
#include <sys/ioctl.h>

#define PORT 42100
#define READ_SIZE (1U << 20)
#define SPLICE_SIZE (1U << 20)
#define MIB (1U << 20)
#define MAX_BYTES (16U << 20)
#define MAX_ROUNDS 1000000U
/* Less than a receive buffer of the default size holds. So it is no matter of who runs when how much a splice finds. */
#define BATCH (32U << 10)
#define GATHER_PAUSE_US 200

enum mode { PINGPONG, BULK, SPLICE, GATHER, N_MODES };

static const char *const modes[] = {
	[PINGPONG] = "pingpong", [BULK] = "bulk", [SPLICE] = "splice", [GATHER] = "gather"
};

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
		for (uint64_t done = 0; done < total; done += bytes) {
			check(write_all(fd, data, bytes), "write");
			if (mode == GATHER && (done + bytes) % BATCH == 0 && read_all(fd, data, 1) != 1)
				die("the batch was not read");
		}
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
	uint64_t done = 0;

	while (done < total) {
		ssize_t n = read(fd, data, READ_SIZE);

		check(n < 0 ? -errno : n, "read");
		if (!n)
			break;
		done += (uint64_t)n;
		++*ret_calls;
	}
	return done;
}

struct route {
	int fd;
	int ends[2];
	int null;
};

static struct route open_route(int fd)
{
	struct route r = { .fd = fd, .null = open("/dev/null", O_WRONLY | O_CLOEXEC) };

	check(r.null < 0 || pipe2(r.ends, O_CLOEXEC) < 0 ? -errno : 0, "open");
	return r;
}

/* Moves up to @total bytes to /dev/null; how many came, and how many calls that took are added to @ret_calls. */
static uint64_t splice_stream(const struct route *r, uint64_t total, uint64_t *ret_calls)
{
	uint64_t done = 0;

	while (done < total) {
		ssize_t n = splice(r->fd, NULL, r->ends[1], NULL, SPLICE_SIZE, SPLICE_F_MOVE);

		check(n < 0 ? -errno : n, "splice");
		if (!n)
			break;
		done += (uint64_t)n;
		++*ret_calls;
		while (n > 0) {
			ssize_t out = splice(r->ends[0], NULL, r->null, NULL, (size_t)n, SPLICE_F_MOVE);

			check(out < 0 ? -errno : out, "splice to /dev/null");
			n -= out;
			++*ret_calls;
		}
	}
	return done;
}

static void wait_gathered(int fd)
{
	int there = 0;

	while (there < (int)BATCH) {
		check(ioctl(fd, FIONREAD, &there) < 0 ? -errno : 0, "FIONREAD");
		if (there < (int)BATCH)
			usleep(GATHER_PAUSE_US);
	}
}

/* Returns the nanoseconds that the moving took. */
static uint64_t gather(const struct route *r, uint64_t total, uint64_t *ret_done, uint64_t *ret_calls)
{
	uint64_t ns = 0, done = 0;

	while (done < total) {
		uint64_t start;

		wait_gathered(r->fd);
		start = now_ns();
		done += splice_stream(r, BATCH, ret_calls);
		ns += now_ns() - start;
		check(write_all(r->fd, "", 1), "write");
	}
	*ret_done = done;
	return ns;
}

static void stream(int fd, enum mode mode, uint64_t total)
{
	struct route route = mode == BULK ? (struct route){ .fd = fd } : open_route(fd);
	uint64_t start = now_ns(), calls = 0, done, ns;
	double mib = (double)total / MIB;

	if (mode == GATHER) {
		ns = gather(&route, total, &done, &calls);
	} else {
		done = mode == SPLICE ? splice_stream(&route, total, &calls) : read_stream(fd, total, &calls);
		ns = now_ns() - start;
	}
	if (done != total)
		die("%llu of %llu bytes came", (unsigned long long)done, (unsigned long long)total);
	printf("us_per_mib %.2f\nmib_per_second %.2f\ncalls_per_mib %.3f\nmib %.3f\n", (double)ns / 1000 / mib,
	       mib * (double)NSEC / (double)ns, (double)calls / mib, mib);
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
		die("usage: stream pingpong|bulk|splice|gather BYTES ROUNDS|MIB");
	for (mode = PINGPONG; strcmp(argv[1], modes[mode]); mode++)
		if (mode == N_MODES - 1)
			die("unknown mode %s", argv[1]);
	bytes = number(argv[2]);
	amount = number(argv[3]);
	if (!bytes || bytes > MAX_BYTES || !amount || amount > MAX_ROUNDS)
		die("out of range");
	if (mode == GATHER && BATCH % bytes)
		die("%u bytes do not divide a batch of %u", bytes, BATCH);
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
		stream(fd, mode, total);
	close(fd);
	if (waitpid(peer, &status, 0) != peer || status)
		die("the other side failed");
	return EXIT_SUCCESS;
}
