// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * smcsplice - splice() from a connected socket: check every byte, or measure
 *
 *	smcsplice check --sender FD --receiver FD [--bytes N] [--seed N] [--pipes N] [--close]
 *	smcsplice drain --sender FD --receiver FD [--bytes N] [--message N] [--pages N]
 *
 * The two ends are inherited (see pair() of smcpair.py, which knows that they are SMC). A child sends --bytes with
 * a known byte at each place, the parent receives.
 *
 * check reads by recv() and by splice() into several pipes of 1 to 256 pages. The seed decides order, lengths and
 * flags. Pipes are read, in whole or in part, and emptied into each other. With --close the receiver closes when it has
 * received all, before what is in the pipes is read.
 *
 * drain calls splice() into one pipe of --pages and on to /dev/null, with messages of --message bytes.
 *
 * Prints one JSON object: bytes, calls by kind, and for drain microseconds of wall clock and of the receiver's
 * processor time. Exit status: 0 every byte was right, 1 not, or the deadline (--deadline, 60 s) has passed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PIPES 8
#define MAX_SEGMENTS 4096      /* stretches that are in pipes at a time */
#define MAX_PIPE_PAGES 256U    /* what check takes */
#define MAX_MESSAGE (1U << 20) /* bytes of one send() */
#define PAGE 4096U

struct options {
	int sender, receiver;
	uint64_t bytes;
	unsigned int message, pages, pipes, deadline;
	uint64_t seed;
	bool close;
};

/* what a pipe holds, in its order: LENGTH bytes from PLACE of the stream on */
struct segment {
	uint64_t place;
	size_t length;
};

struct pipe_state {
	int out, into;
	unsigned int count;
	struct segment segments[MAX_SEGMENTS];
};

struct counts {
	uint64_t splice_in, splice_out, recv, again, moves;
};

static struct pipe_state pipes[MAX_PIPES];
static unsigned char buffer[MAX_MESSAGE];

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t next_random(uint64_t *state)
{
	/* xorshift, so that a seed means the same on every machine */
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
	return next_random(state) % limit;
}

static unsigned char byte_at(uint64_t place)
{
	return (unsigned char)((place * 0x9e3779b97f4a7c15ULL) >> 56);
}

static void check_bytes(const unsigned char *data, size_t length, uint64_t place, const char *how)
{
	for (size_t i = 0; i < length; i++) {
		if (data[i] != byte_at(place + i))
			die("wrong byte at %llu of the stream, from %s", (unsigned long long)(place + i), how);
	}
}

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

/* Bytes that the stream has from this place on go into the socket; a run of --message or of random lengths. */
static int send_all(const struct options *o, bool random)
{
	uint64_t state = o->seed * 2 + 1, place = 0;

	while (place < o->bytes) {
		size_t length = random ? 1 + below(&state, below(&state, 4) ? 3000 : 100000) : o->message;
		ssize_t sent;

		if (length > o->bytes - place)
			length = o->bytes - place;
		if (random || place == 0) {
			for (size_t i = 0; i < length; i++)
				buffer[i] = byte_at(place + i);
		}
		sent = send(o->sender, buffer, length, MSG_NOSIGNAL);
		if (sent < 0)
			die("send: %s", strerror(errno));
		place += sent;
		if (random && !below(&state, 8))
			wait_a_little();
	}
	return close(o->sender);
}

static pid_t start_sender(const struct options *o, bool random)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid == 0) {
		close(o->receiver);
		alarm(o->deadline);
		_exit(send_all(o, random) ? 1 : 0);
	}
	close(o->sender);
	return pid;
}

static void open_pipe(struct pipe_state *p, unsigned int pages)
{
	int ends[2];

	if (pipe(ends))
		die("pipe: %s", strerror(errno));
	p->out = ends[0];
	p->into = ends[1];
	if (fcntl(p->into, F_SETPIPE_SZ, pages * PAGE) < 0)
		die("a pipe of %u pages: %s", pages, strerror(errno));
}

static void add_segment(struct pipe_state *p, uint64_t place, size_t length)
{
	struct segment *last = p->count ? &p->segments[p->count - 1] : NULL;

	if (last && last->place + last->length == place) {
		last->length += length;
		return;
	}
	if (p->count == MAX_SEGMENTS)
		die("more than %d stretches in a pipe", MAX_SEGMENTS);
	p->segments[p->count++] = (struct segment){ place, length };
}

static void remove_segments(struct pipe_state *p, size_t length)
{
	unsigned int gone = 0;

	while (length && gone < p->count) {
		struct segment *s = &p->segments[gone];
		size_t part = length < s->length ? length : s->length;

		s->place += part;
		s->length -= part;
		length -= part;
		if (!s->length)
			gone++;
	}
	if (length)
		die("a pipe gave more than was put into it");
	p->count -= gone;
	memmove(p->segments, p->segments + gone, p->count * sizeof(*p->segments));
}

static size_t held(const struct pipe_state *p)
{
	size_t sum = 0;

	for (unsigned int i = 0; i < p->count; i++)
		sum += p->segments[i].length;
	return sum;
}

static void read_pipe(struct pipe_state *p, size_t limit)
{
	size_t want = held(p), done = 0;
	ssize_t got;

	if (want > limit)
		want = limit;
	if (want > sizeof(buffer))
		want = sizeof(buffer);
	if (!want)
		return;
	got = read(p->out, buffer, want);
	if (got != (ssize_t)want)
		die("read of %zu bytes from a pipe gave %zd", want, got);
	for (unsigned int i = 0; i < p->count && done < want; i++) {
		size_t part = p->segments[i].length < want - done ? p->segments[i].length : want - done;

		check_bytes(buffer + done, part, p->segments[i].place, "a pipe");
		done += part;
	}
	remove_segments(p, want);
}

/* Whole buffers go from one pipe to the other, so that those of one splice() call get separated. */
static void move_pipe(struct pipe_state *from, struct pipe_state *to, struct counts *n)
{
	ssize_t moved;
	size_t left;

	if (from == to || !from->count)
		return;
	moved = splice(from->out, NULL, to->into, NULL, MAX_PIPE_PAGES * PAGE * 16, SPLICE_F_NONBLOCK);
	if (moved < 0) {
		if (errno != EAGAIN)
			die("splice between pipes: %s", strerror(errno));
		return;
	}
	n->moves++;
	left = moved;
	for (unsigned int i = 0; i < from->count && left; i++) {
		size_t part = from->segments[i].length < left ? from->segments[i].length : left;

		add_segment(to, from->segments[i].place, part);
		left -= part;
	}
	remove_segments(from, moved);
}

static int check(const struct options *o)
{
	uint64_t state = o->seed, place = 0;
	struct counts n = { 0 };
	int status;
	pid_t pid;

	for (unsigned int i = 0; i < o->pipes; i++)
		open_pipe(&pipes[i], i == 0 ? 1 : i == 1 ? MAX_PIPE_PAGES : 1U << below(&state, 9));
	pid = start_sender(o, true);
	while (place < o->bytes) {
		struct pipe_state *p = &pipes[below(&state, o->pipes)];
		size_t length = 1 + below(&state, below(&state, 3) ? 5000 : 1 << 20);
		ssize_t got;

		switch (below(&state, 8)) {
		case 0:
		case 1:
			read_pipe(p, length);
			continue;
		case 2:
			read_pipe(p, SIZE_MAX);
			continue;
		case 3:
			move_pipe(p, &pipes[below(&state, o->pipes)], &n);
			continue;
		case 4:
			got = recv(o->receiver, buffer, length < sizeof(buffer) ? length : sizeof(buffer),
				   MSG_DONTWAIT);
			if (got > 0)
				check_bytes(buffer, got, place, "recv()");
			n.recv++;
			break;
		default:
			got = splice(o->receiver, NULL, p->into, NULL, length, SPLICE_F_NONBLOCK);
			if (got > 0)
				add_segment(p, place, got);
			n.splice_in++;
		}
		if (got == 0)
			die("the stream ended after %llu bytes", (unsigned long long)place);
		if (got > 0) {
			place += got;
			continue;
		}
		if (errno != EAGAIN)
			die("receiving: %s", strerror(errno));
		n.again++;
		/* The window may be in the pipes. */
		read_pipe(p, SIZE_MAX);
		wait_a_little();
	}
	if (o->close && recv(o->receiver, buffer, 1, 0) != 0)
		die("no end of the stream");
	if (o->close)
		close(o->receiver);
	for (unsigned int i = 0; i < o->pipes; i++) {
		while (pipes[i].count)
			read_pipe(&pipes[i], SIZE_MAX);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("the sender failed: %#x", status);
	printf("{\"seed\":%llu,\"bytes\":%llu,\"splice_in\":%llu,\"recv\":%llu,\"again\":%llu,\"moves\":%llu}\n",
	       (unsigned long long)o->seed, (unsigned long long)place, (unsigned long long)n.splice_in,
	       (unsigned long long)n.recv, (unsigned long long)n.again, (unsigned long long)n.moves);
	return 0;
}

static uint64_t micros(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static int drain(const struct options *o)
{
	struct timespec begin, end;
	struct pipe_state *p = &pipes[0];
	struct rusage before, after;
	struct counts n = { 0 };
	uint64_t done = 0;
	ssize_t got, put;
	int null, status;
	pid_t pid;

	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0)
		die("/dev/null: %s", strerror(errno));
	open_pipe(p, o->pages);
	pid = start_sender(o, false);
	getrusage(RUSAGE_SELF, &before);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (done < o->bytes) {
		got = splice(o->receiver, NULL, p->into, NULL, o->pages * PAGE, SPLICE_F_MOVE);
		if (got <= 0)
			die("splice after %llu bytes: %s", (unsigned long long)done, got ? strerror(errno) : "end");
		n.splice_in++;
		done += got;
		for (; got; got -= put) {
			put = splice(p->out, NULL, null, NULL, got, SPLICE_F_MOVE);
			if (put <= 0)
				die("splice to /dev/null: %s", strerror(errno));
			n.splice_out++;
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_SELF, &after);
	if (waitpid(pid, &status, 0) != pid || status)
		die("the sender failed: %#x", status);
	printf("{\"bytes\":%llu,\"splice_in\":%llu,\"splice_out\":%llu,\"wall_us\":%llu,\"user_us\":%llu,\"system_us\":%llu}\n",
	       (unsigned long long)done, (unsigned long long)n.splice_in, (unsigned long long)n.splice_out,
	       (unsigned long long)((end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000),
	       (unsigned long long)(micros(after.ru_utime) - micros(before.ru_utime)),
	       (unsigned long long)(micros(after.ru_stime) - micros(before.ru_stime)));
	return 0;
}

static uint64_t number(const char *name, const char *text, uint64_t low, uint64_t high)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || end == text || value < low || value > high)
		die("--%s: not a number from %llu to %llu: %s", name, (unsigned long long)low, (unsigned long long)high,
		    text);
	return value;
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{ "sender", required_argument, NULL, 's' }, { "receiver", required_argument, NULL, 'r' },
		{ "bytes", required_argument, NULL, 'b' },  { "message", required_argument, NULL, 'm' },
		{ "pages", required_argument, NULL, 'p' },  { "pipes", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 'e' },   { "deadline", required_argument, NULL, 'd' },
		{ "close", no_argument, NULL, 'c' },        { NULL, 0, NULL, 0 },
	};
	struct options o = { .sender = -1,
			     .receiver = -1,
			     .bytes = 1 << 20,
			     .message = 65536,
			     .pages = 16,
			     .pipes = 4,
			     .deadline = 60,
			     .seed = 1 };
	int found, index;

	while ((found = getopt_long(argc, argv, "", names, &index)) != -1) {
		const char *name = found == '?' ? "" : names[index].name;

		switch (found) {
		case 's':
			o.sender = (int)number(name, optarg, 0, 1 << 20);
			break;
		case 'r':
			o.receiver = (int)number(name, optarg, 0, 1 << 20);
			break;
		case 'b':
			o.bytes = number(name, optarg, 1, UINT64_MAX / 2);
			break;
		case 'm':
			o.message = (unsigned int)number(name, optarg, 1, MAX_MESSAGE);
			break;
		case 'p':
			o.pages = (unsigned int)number(name, optarg, 1, MAX_PIPE_PAGES);
			break;
		case 'n':
			o.pipes = (unsigned int)number(name, optarg, 1, MAX_PIPES);
			break;
		case 'e':
			o.seed = number(name, optarg, 1, UINT64_MAX / 4);
			break;
		case 'd':
			o.deadline = (unsigned int)number(name, optarg, 1, 3600);
			break;
		case 'c':
			o.close = true;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc || o.sender < 0 || o.receiver < 0)
		die("usage: smcsplice check|drain --sender FD --receiver FD [option...]");
	alarm(o.deadline);
	if (!strcmp(argv[optind], "check"))
		return check(&o);
	if (!strcmp(argv[optind], "drain"))
		return drain(&o);
	die("neither check nor drain: %s", argv[optind]);
}
