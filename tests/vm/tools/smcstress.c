// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * smcstress - many short SMC connections that end in every way there is, every byte checked
 *
 *	smcstress server|client [--port P] [--procs N] [--seconds S] [--patience S] [--seed N] [--gentle]
 *
 * Both sides are N processes; server N listens at port P + N. Connections are blocking and not, transfer in both
 * directions with send, sendfile, recv, peeking recv and splice, and end by close, shutdown, abort (SO_LINGER 0) or the
 * death of a process; listeners close with connections queued. A connection may fail at any time, for the one who
 * started this takes links away. What may never be: a wrong byte, a byte that nobody sent, an end of data that is taken
 * for success, or a connection on which nothing moves for --patience seconds.
 *
 * With --gentle nothing is killed, aborted or closed early, and a failed connection is a fault too.
 * Prints a line of counts every ten seconds and in the end a JSON object; exits 1 after a fault.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AF_SMC_NUMBER 43
#define IPPROTO_SMC_NUMBER 256
#define MAX_PROCS 64
#define MAX_THREADS 24      /* connections that one server process serves at a time */
#define PERIOD 65521        /* bytes after which the data repeats: a prime, so never with a ring's size */
#define MAX_CALL 262144     /* bytes of one call */
#define MAX_TRANSFER 600000 /* bytes in one direction of a connection */
#define MAGIC 0x534d4353
#define PROGRESS_SECONDS 10

enum counter {
	CONNECTED,
	REFUSED,
	FAILED,
	ACCEPTED,
	COMPLETE,
	BROKEN,
	ABORTED,
	KILLED,
	RELISTENED,
	BYTES,
	FAULTS,
	N_COUNTERS
};

static const char *const counter_names[N_COUNTERS] = {
	[CONNECTED] = "connected",   /* connect() succeeded */
	[REFUSED] = "refused",       /* ... was refused or reset: the listener was away */
	[FAILED] = "failed",         /* ... failed otherwise */
	[ACCEPTED] = "accepted",     /* by a server */
	[COMPLETE] = "complete",     /* all bytes of both directions arrived and were right */
	[BROKEN] = "broken",         /* the connection failed or ended before that */
	[ABORTED] = "aborted",       /* this side gave up on purpose */
	[KILLED] = "killed",         /* processes */
	[RELISTENED] = "relistened", /* listeners closed and opened again */
	[BYTES] = "bytes",           /* received */
	[FAULTS] = "faults",
};

/* How a connection goes; chosen by the client and told to the server */
enum {
	WAY_SPLICE = 1,
	WAY_SENDFILE = 2,
	WAY_PEEK = 4,
	WAY_SHUTDOWN = 8,
	WAY_CORK = 16,
	WAY_THREADS = 32,
	WAY_SLOW = 64,
	N_WAYS = 128,
};

struct greeting {
	uint32_t magic;
	uint32_t way;
	uint32_t seeds[2]; /* of what the client sends, and of what the server does */
	uint32_t lengths[2];
};

/* One direction of a connection */
struct stream {
	uint32_t seed;
	uint32_t done;
	uint32_t length;
};

struct job {
	int fd;
	uint32_t way;
	uint32_t give_up; /* bytes received after which this side aborts; UINT32_MAX: never */
	int pipe[2];
	struct stream tx;
	struct stream rx;
	unsigned int random;
};

struct shared {
	uint64_t counters[N_COUNTERS];
	bool stop;
};

static struct {
	bool server;
	bool gentle;
	unsigned int port;
	unsigned int procs;
	unsigned int seconds;
	unsigned int patience;
	unsigned int seed;
} opt = { .port = 42000, .procs = 4, .seconds = 60, .patience = 60, .seed = 1 };

static struct shared *shared;
static uint8_t *data; /* PERIOD + MAX_CALL bytes */
static int data_fd;   /* the same as a file */

static void count(enum counter what, uint64_t n)
{
	__atomic_fetch_add(&shared->counters[what], n, __ATOMIC_RELAXED);
}

static bool stopping(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

static unsigned int between(unsigned int *random, unsigned int low, unsigned int high)
{
	return low + (unsigned int)rand_r(random) % (high - low + 1);
}

static bool one_in(unsigned int *random, unsigned int n)
{
	return between(random, 1, n) == 1;
}

__attribute__((format(printf, 1, 2))) static void fault(const char *format, ...)
{
	va_list args;
	char text[300];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "FAULT %s %d: %s\n", opt.server ? "server" : "client", getpid(), text);
	count(FAULTS, 1);
}

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "smcstress: %s: %s\n", what, strerror(errno));
	_exit(2);
}

/* What belongs at a position of the stream; MAX_CALL bytes of it are there */
static size_t place(const struct stream *s)
{
	return ((size_t)s->seed + s->done) % PERIOD;
}

static uint32_t room(const struct job *job, const struct stream *s, unsigned int *random)
{
	static const uint32_t sizes[] = { 1, 100, 4000, 17000, 70000, MAX_CALL };
	uint32_t size = between(random, 1, sizes[between(random, 0, 5)]);
	uint32_t left = s->length - s->done;

	(void)job;
	return size < left ? size : left;
}

/* Check what was received. False: nothing more to be had from this connection. */
static bool verify(struct job *job, const uint8_t *got, size_t size, const char *how)
{
	const uint8_t *wanted = data + place(&job->rx);
	size_t at = 0;

	if (memcmp(got, wanted, size) == 0) {
		job->rx.done += (uint32_t)size;
		count(BYTES, size);
		return true;
	}
	while (got[at] == wanted[at])
		at++;
	fault("wrong byte at %u+%zu of %u (%s of %zu, way %u): %02x %02x %02x %02x, not %02x %02x", job->rx.done, at,
	      job->rx.length, how, size, job->way, got[at], at + 1 < size ? got[at + 1] : 0,
	      at + 2 < size ? got[at + 2] : 0, at + 3 < size ? got[at + 3] : 0, wanted[at], wanted[at + 1]);
	return false;
}

/* Each of these: bytes moved, 0 at the end of the data, -1 with errno. A wrong byte gives EBADMSG. */
static ssize_t take_by_splice(struct job *job, uint8_t *buffer, uint32_t size)
{
	ssize_t n = splice(job->fd, NULL, job->pipe[1], NULL, size < 65536 ? size : 65536, 0), got = 0;

	if (n > 0 && (job->way & WAY_SLOW))
		usleep(between(&job->random, 0, 3000));
	while (got < n) {
		ssize_t part = read(job->pipe[0], buffer + got, (size_t)(n - got));

		if (part <= 0)
			die("read from a pipe");
		got += part;
	}
	if (n > 0 && !verify(job, buffer, (size_t)n, "splice")) {
		errno = EBADMSG;
		return -1;
	}
	return n;
}

static ssize_t take(struct job *job, uint8_t *buffer, uint32_t size)
{
	ssize_t n;

	if ((job->way & WAY_SPLICE) && one_in(&job->random, 2))
		return take_by_splice(job, buffer, size);
	if ((job->way & WAY_PEEK) && one_in(&job->random, 3)) {
		struct stream before = job->rx;

		n = recv(job->fd, buffer, size, MSG_PEEK);
		if (n > 0 && !verify(job, buffer, (size_t)n, "peek"))
			goto wrong;
		job->rx = before;
	}
	n = recv(job->fd, buffer, size, 0);
	if (n > 0 && !verify(job, buffer, (size_t)n, "recv"))
		goto wrong;
	return n;
wrong:
	errno = EBADMSG;
	return -1;
}

static void set_number(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)) < 0 && errno != EINVAL && errno != ENOTCONN &&
	    errno != EPIPE)
		fault("setsockopt %d/%d: %s", level, name, strerror(errno));
}

/* What waits for more is sent with the last byte: the peer may wait for that before it sends what we wait for. */
static ssize_t give(struct job *job, uint32_t size)
{
	bool last = job->tx.done + size == job->tx.length;
	size_t at = place(&job->tx);
	off_t offset = (off_t)at;
	ssize_t n;

	if ((job->way & WAY_SENDFILE) && one_in(&job->random, 2))
		n = sendfile(job->fd, data_fd, &offset, size);
	else
		n = send(job->fd, data + at, size, MSG_NOSIGNAL | (!last && one_in(&job->random, 8) ? MSG_MORE : 0));
	if (n > 0)
		job->tx.done += (uint32_t)n;
	if (n > 0 && job->tx.done == job->tx.length && (job->way & WAY_CORK))
		set_number(job->fd, IPPROTO_TCP, TCP_CORK, 0);
	return n;
}

static bool temporary(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Wait until the socket is ready. False: for too long. */
static bool ready(struct job *job, short events, const char *what)
{
	struct pollfd p = { .fd = job->fd, .events = events };
	unsigned int waited = 0;

	while (poll(&p, 1, 1000) == 0) {
		if (++waited < opt.patience)
			continue;
		fault("stuck for %u s in %s: sent %u of %u, received %u of %u, way %u", waited, what, job->tx.done,
		      job->tx.length, job->rx.done, job->rx.length, job->way);
		return false;
	}
	return true;
}

/* Both directions, in one thread on a socket that does not block. True: all was moved. */
static bool pump(struct job *job, uint8_t *buffer)
{
	bool shut = false;

	while (job->tx.done < job->tx.length || job->rx.done < job->rx.length) {
		bool sending = job->tx.done < job->tx.length, receiving = job->rx.done < job->rx.length;
		ssize_t n = 0;

		if (job->rx.done + job->tx.done >= job->give_up)
			return false;
		if (!sending && (job->way & WAY_SHUTDOWN) && !shut) {
			shut = true;
			if (shutdown(job->fd, SHUT_WR) < 0)
				return false;
		}
		if (!ready(job, (short)((sending ? POLLOUT : 0) | (receiving ? POLLIN : 0)), "transfer"))
			return false;
		if (receiving) {
			n = take(job, buffer, room(job, &job->rx, &job->random));
			if (n == 0 || (n < 0 && !temporary(n)))
				return false;
		}
		if (sending) {
			n = give(job, room(job, &job->tx, &job->random));
			if (n < 0 && !temporary(n))
				return false;
		}
		if ((job->way & WAY_SLOW) && one_in(&job->random, 4))
			usleep(between(&job->random, 0, 20000));
	}
	return true;
}

static void *give_all(void *arg)
{
	struct job *job = arg;
	unsigned int random = job->random + 1;
	struct job mine = *job;

	mine.random = random;
	while (mine.tx.done < mine.tx.length) {
		ssize_t n = give(&mine, room(&mine, &mine.tx, &mine.random));

		if (n < 0 && errno == EAGAIN) {
			fault("stuck for %u s in send: sent %u of %u, way %u", opt.patience, mine.tx.done,
			      mine.tx.length, mine.way);
			break;
		}
		if (n <= 0 && !temporary(n))
			break;
	}
	job->tx.done = mine.tx.done;
	return NULL;
}

/* Both directions, in two threads on a socket that blocks. */
static bool pump_threads(struct job *job, uint8_t *buffer)
{
	struct job mine = *job;
	pthread_t thread;

	if (pthread_create(&thread, NULL, give_all, job))
		die("start a thread");
	while (mine.rx.done < mine.rx.length && mine.rx.done < mine.give_up) {
		ssize_t n = take(&mine, buffer, room(&mine, &mine.rx, &mine.random));

		if (n < 0 && errno == EAGAIN)
			fault("stuck for %u s in recv: received %u of %u, way %u", opt.patience, mine.rx.done,
			      mine.rx.length, mine.way);
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
	}
	if (mine.rx.done < mine.rx.length)
		shutdown(job->fd, SHUT_RDWR); /* the other thread may be waiting for room */
	pthread_join(thread, NULL);
	job->rx.done = mine.rx.done;
	return job->rx.done == job->rx.length && job->tx.done == job->tx.length;
}

static void set_blocking(int fd, bool blocking)
{
	struct timeval patience = { .tv_sec = opt.patience };
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
	if (blocking && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
			 setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0))
		fault("set the time-outs: %s", strerror(errno));
}

/* Abort: the peer gets a reset */
static void set_abort(int fd)
{
	struct linger linger = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

/* All of a connection behind the greeting */
static void transfer(struct job *job, uint8_t *buffer)
{
	bool complete;
	char byte;

	if ((job->way & WAY_SPLICE) && pipe2(job->pipe, O_CLOEXEC) < 0)
		die("make a pipe");
	if (job->way & WAY_CORK)
		set_number(job->fd, IPPROTO_TCP, TCP_CORK, 1);
	set_blocking(job->fd, job->way & WAY_THREADS);
	complete = job->way & WAY_THREADS ? pump_threads(job, buffer) : pump(job, buffer);
	if (complete) {
		count(COMPLETE, 1);
		/* Half of the clients wait for the server's end, the others just go. */
		if (!opt.server && one_in(&job->random, 2)) {
			shutdown(job->fd, SHUT_WR);
			set_blocking(job->fd, true);
			if (recv(job->fd, &byte, 1, 0) > 0)
				fault("a byte behind the end of the data, way %u", job->way);
		}
	} else if (job->rx.done + job->tx.done >= job->give_up) {
		count(ABORTED, 1);
		if (one_in(&job->random, 2))
			set_abort(job->fd);
	} else {
		count(BROKEN, 1);
		if (opt.gentle)
			fault("broken: sent %u of %u, received %u of %u, way %u: %s", job->tx.done, job->tx.length,
			      job->rx.done, job->rx.length, job->way, strerror(errno));
	}
	if (job->way & WAY_SPLICE) {
		close(job->pipe[0]);
		close(job->pipe[1]);
	}
}

static int make_socket(unsigned int *random)
{
	static const int sizes[] = { 0, 0, 16384, 40000, 131072, 600000 };
	int fd, size = sizes[between(random, 0, 5)];

	fd = one_in(random, 2) ? socket(AF_SMC_NUMBER, SOCK_STREAM | SOCK_CLOEXEC, 0)
			       : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SMC_NUMBER);
	if (fd < 0)
		die("make a socket");
	if (size) {
		set_number(fd, SOL_SOCKET, SO_SNDBUF, size);
		set_number(fd, SOL_SOCKET, SO_RCVBUF, size);
	}
	return fd;
}

static struct sockaddr_in address(unsigned int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* ---- server ---- */

static int running; /* threads of this process */

static void *serve(void *arg)
{
	struct job *job = arg;
	struct greeting hello;
	uint8_t *buffer = malloc(MAX_CALL);
	ssize_t n;

	if (!buffer)
		die("allocate");
	set_blocking(job->fd, true);
	n = recv(job->fd, &hello, sizeof(hello), MSG_WAITALL);
	if (n == (ssize_t)sizeof(hello) && hello.magic == MAGIC && hello.way < N_WAYS) {
		job->way = hello.way;
		job->rx = (struct stream){ .seed = hello.seeds[0], .length = hello.lengths[0] };
		job->tx = (struct stream){ .seed = hello.seeds[1], .length = hello.lengths[1] };
		transfer(job, buffer);
	} else if (n == (ssize_t)sizeof(hello)) {
		fault("not a greeting: %08x %08x", hello.magic, hello.way);
	} else {
		count(BROKEN, 1); /* the client was killed, or gave up on the handshake */
	}
	close(job->fd);
	free(buffer);
	free(job);
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void accept_one(int listener, unsigned int *random)
{
	struct job *job;
	pthread_t thread;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	count(ACCEPTED, 1);
	job = calloc(1, sizeof(*job));
	if (!job)
		die("allocate");
	job->fd = fd;
	job->random = between(random, 1, 1U << 30);
	job->give_up = !opt.gentle && one_in(random, 12) ? between(random, 0, MAX_TRANSFER) : UINT32_MAX;
	__atomic_fetch_add(&running, 1, __ATOMIC_ACQUIRE);
	if (pthread_create(&thread, NULL, serve, job))
		die("start a thread");
	pthread_detach(thread);
}

static int listen_at(unsigned int port, unsigned int *random)
{
	struct sockaddr_in addr = address(port);
	int fd = make_socket(random);

	set_number(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, (int)between(random, 1, 32)) < 0)
		die("listen");
	return fd;
}

static void serve_port(unsigned int number, unsigned int random)
{
	while (!stopping()) {
		struct pollfd p = { .fd = listen_at(opt.port + number, &random), .events = POLLIN };
		unsigned int polls = opt.gentle ? UINT32_MAX : between(&random, 20, 400);

		while (polls-- && !stopping()) {
			if (__atomic_load_n(&running, __ATOMIC_ACQUIRE) < MAX_THREADS && poll(&p, 1, 50) > 0)
				accept_one(p.fd, &random);
			else
				usleep(2000);
		}
		if (!stopping())
			usleep(between(&random, 0, 300000)); /* let some queue up */
		close(p.fd);
		count(RELISTENED, 1);
	}
	for (unsigned int ms = 0; __atomic_load_n(&running, __ATOMIC_ACQUIRE) && ms < opt.patience * 1000; ms += 20)
		usleep(20000);
}

/* ---- client ---- */

/* 0, or -1 with errno */
static int connect_nonblocking(int fd, const struct sockaddr_in *addr, unsigned int *random)
{
	struct job job = { .fd = fd };
	socklen_t length = sizeof(int);
	int error = 0;

	set_blocking(fd, false);
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return -1;
	if (!opt.gentle && one_in(random, 10)) {
		usleep(between(random, 0, 5000));
		errno = ECANCELED;
		return -1;
	}
	if (!ready(&job, POLLOUT, "connect")) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
		return -1;
	errno = error;
	return error ? -1 : 0;
}

static void count_failure(int error)
{
	bool away = error == ECONNREFUSED || error == ECONNRESET || error == EPIPE;

	if (error == ECANCELED)
		count(ABORTED, 1);
	else
		count(away ? REFUSED : FAILED, 1);
	if (opt.gentle)
		fault("connect: %s", strerror(error));
}

static void one_connection(unsigned int *random, uint8_t *buffer)
{
	struct sockaddr_in addr = address(opt.port + between(random, 0, opt.procs - 1));
	struct job job = { .give_up = UINT32_MAX };
	struct greeting hello = { .magic = MAGIC, .way = between(random, 0, N_WAYS - 1) };
	int r;

	job.fd = make_socket(random);
	if (one_in(random, 2)) {
		r = connect_nonblocking(job.fd, &addr, random);
	} else {
		set_blocking(job.fd, true);
		r = connect(job.fd, (struct sockaddr *)&addr, sizeof(addr));
	}
	if (r < 0) {
		count_failure(errno);
		close(job.fd);
		return;
	}
	count(CONNECTED, 1);
	for (int i = 0; i < 2; i++) {
		hello.seeds[i] = between(random, 0, PERIOD - 1);
		hello.lengths[i] = one_in(random, 3) ? 0 : between(random, 0, one_in(random, 3) ? MAX_TRANSFER : 20000);
	}
	if (!opt.gentle && one_in(random, 12))
		job.give_up = between(random, 0, MAX_TRANSFER);
	job.way = hello.way;
	job.random = between(random, 1, 1U << 30);
	job.tx = (struct stream){ .seed = hello.seeds[0], .length = hello.lengths[0] };
	job.rx = (struct stream){ .seed = hello.seeds[1], .length = hello.lengths[1] };
	set_blocking(job.fd, true);
	if (send(job.fd, &hello, sizeof(hello), MSG_NOSIGNAL) == (ssize_t)sizeof(hello))
		transfer(&job, buffer);
	else
		count(BROKEN, 1);
	close(job.fd);
}

static void connect_on(unsigned int random)
{
	uint8_t *buffer = malloc(MAX_CALL);

	if (!buffer)
		die("allocate");
	while (!stopping()) {
		one_connection(&random, buffer);
		if (one_in(&random, 8))
			usleep(between(&random, 0, 100000));
	}
	free(buffer);
}

/* ---- the processes ---- */

static pid_t start(unsigned int number, unsigned int random)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (opt.server)
		serve_port(number, random);
	else
		connect_on(random);
	_exit(0);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_counts(double seconds)
{
	printf("{\"role\":\"%s\",\"seconds\":%.0f", opt.server ? "server" : "client", seconds);
	for (int i = 0; i < N_COUNTERS; i++)
		printf(",\"%s\":%llu", counter_names[i], (unsigned long long)shared->counters[i]);
	puts("}");
	fflush(stdout);
}

/* Kill one now and then, start those that are gone again. */
static void supervise(pid_t *pids, unsigned int *random)
{
	double began = now(), printed = began, next_kill = began + 1;

	while (now() < began + opt.seconds) {
		int status;
		pid_t gone;

		usleep(20000);
		if (!opt.gentle && now() > next_kill) {
			kill(pids[between(random, 0, opt.procs - 1)], SIGKILL);
			count(KILLED, 1);
			next_kill = now() + between(random, 1, 4000) / 1000.0;
		}
		while ((gone = waitpid(-1, &status, WNOHANG)) > 0) {
			if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
				fault("a process ended with %x", (unsigned int)status);
			for (unsigned int i = 0; i < opt.procs; i++)
				if (pids[i] == gone)
					pids[i] = start(i, (unsigned int)rand_r(random));
		}
		if (now() > printed + PROGRESS_SECONDS) {
			printed = now();
			print_counts(printed - began);
		}
	}
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	for (began = now(); now() < began + 2 * opt.patience;) {
		pid_t gone = waitpid(-1, NULL, WNOHANG);

		if (gone < 0)
			return;
		if (gone == 0)
			usleep(20000);
	}
	for (unsigned int i = 0; i < opt.procs; i++)
		if (kill(pids[i], SIGKILL) == 0)
			fault("process %d did not end", pids[i]);
}

static void make_data(void)
{
	unsigned int random = 7;
	size_t size = PERIOD + MAX_CALL;

	data_fd = memfd_create("smcstress", MFD_CLOEXEC);
	if (data_fd < 0 || ftruncate(data_fd, (off_t)size) < 0)
		die("make the data");
	data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, data_fd, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED || shared == MAP_FAILED)
		die("make the data");
	for (size_t i = 0; i < size; i++)
		data[i] = i < PERIOD ? (uint8_t)(rand_r(&random) >> 8) : data[i - PERIOD];
}

static bool parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "procs", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 's' },
		{ "patience", required_argument, NULL, 'w' },
		{ "seed", required_argument, NULL, 'r' },
		{ "gentle", no_argument, NULL, 'g' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		unsigned int *number = c == 'p'   ? &opt.port
				       : c == 'n' ? &opt.procs
				       : c == 's' ? &opt.seconds
				       : c == 'w' ? &opt.patience
				       : c == 'r' ? &opt.seed
						  : NULL;
		if (c == 'g')
			opt.gentle = true;
		else if (!number)
			return false;
		else
			*number = (unsigned int)strtoul(optarg, NULL, 10);
	}
	if (optind != argc - 1 || opt.procs < 1 || opt.procs > MAX_PROCS || !opt.patience)
		return false;
	opt.server = strcmp(argv[optind], "server") == 0;
	return opt.server || strcmp(argv[optind], "client") == 0;
}

int main(int argc, char **argv)
{
	pid_t pids[MAX_PROCS];

	if (!parse(argc, argv)) {
		fputs("usage: smcstress server|client [--port P] [--procs N] [--seconds S] [--patience S] [--seed N] [--gentle]\n",
		      stderr);
		return 2;
	}
	make_data();
	signal(SIGPIPE, SIG_IGN); /* sendfile() has no MSG_NOSIGNAL */
	for (unsigned int i = 0; i < opt.procs; i++)
		pids[i] = start(i, opt.seed * 1000 + i);
	supervise(pids, &opt.seed);
	print_counts(opt.seconds);
	return shared->counters[FAULTS] ? 1 : 0;
}
