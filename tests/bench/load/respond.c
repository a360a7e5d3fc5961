// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * respond smc|tcp FILE BYTES ROUNDS - what the calls cost by which nginx answers with a file of BYTES
 *
 * sendfile off: pread and a writev of header and body; on, with tcp_nopush: cork, writev of the header, sendfile,
 * uncork. Prints the median of the nanoseconds of one answer's calls, less those of asking for the time: under -icount
 * these are instructions, and nothing else runs then.
 */
#include "bench.h"
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#define PORT 42300
#define HEADER 240
#define MAX_BYTES (32U << 10) /* so that an answer never waits for room */
#define MAX_ROUNDS 1000000U

struct answer {
	int socket;
	int file;
	size_t bytes;
	char header[HEADER];
	char body[MAX_BYTES];
};

static void must_be(ssize_t got, size_t wanted, const char *what)
{
	if (got != (ssize_t)wanted)
		die("%s: %zd, not %zu (%s)", what, got, wanted, got < 0 ? strerror(errno) : "short");
}

static void nothing(struct answer *a)
{
	(void)a;
}

static void copied(struct answer *a)
{
	struct iovec parts[] = { { a->header, HEADER }, { a->body, a->bytes } };

	must_be(pread(a->file, a->body, a->bytes, 0), a->bytes, "pread");
	must_be(writev(a->socket, parts, 2), HEADER + a->bytes, "writev");
}

static void cork(int fd, int on)
{
	must_be(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on)), 0, "TCP_CORK");
}

static void sent(struct answer *a)
{
	struct iovec part = { a->header, HEADER };
	off_t start = 0;

	cork(a->socket, 1);
	must_be(writev(a->socket, &part, 1), HEADER, "writev");
	must_be(sendfile(a->socket, a->file, &start, a->bytes), a->bytes, "sendfile");
	cork(a->socket, 0);
}

static uint64_t median_ns(struct answer *a, int reader, void (*answer)(struct answer *), size_t length,
			  unsigned int rounds)
{
	uint64_t *times = allocate(rounds * sizeof(*times)), median;
	char data[HEADER + MAX_BYTES];

	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t start = now_ns();

		answer(a);
		times[i] = now_ns() - start;
		must_be(read_all(reader, data, length), length, "the answer");
	}
	qsort(times, rounds, sizeof(*times), compare_ns);
	median = percentile(times, rounds, 50);
	free(times);
	return median;
}

int main(int argc, char **argv)
{
	static struct answer a;
	unsigned int rounds;
	int reader;
	bool tcp;

	if (argc != 5)
		die("usage: respond smc|tcp FILE BYTES ROUNDS");
	tcp = !strcmp(argv[1], "tcp");
	a.file = open(argv[2], O_RDONLY | O_CLOEXEC);
	a.bytes = number(argv[3]);
	rounds = number(argv[4]);
	if (a.file < 0 || a.bytes > MAX_BYTES || !rounds || rounds > MAX_ROUNDS)
		die("no file, or out of range");
	reader = pair(tcp, 0, PORT, listener(tcp, 0, PORT, 1), &a.socket);
	uint64_t none = median_ns(&a, reader, nothing, 0, rounds);
	printf("answer_off %llu\n",
	       (unsigned long long)(median_ns(&a, reader, copied, HEADER + a.bytes, rounds) - none));
	printf("answer_on %llu\n", (unsigned long long)(median_ns(&a, reader, sent, HEADER + a.bytes, rounds) - none));
	return EXIT_SUCCESS;
}
