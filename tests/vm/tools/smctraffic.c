// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * smctraffic - traffic of exactly known sizes over SMC or TCP, every byte checked
 *
 *	smctraffic server [options]	listen, receive, check, with --echo send back
 *	smctraffic client [options]	connect, send each of --sizes with one send()
 *
 * SMC, unlike TCP, ends a blocking send() early when the send buffer is full and something was taken: the rest then
 *goes with another send(), which is counted as a call and as a short send. --exact makes it a failure instead.
 *
 * Prints one JSON object with what this side sent and received, in bytes and in calls, and exits 0 only if every byte
 * was the one that belongs at its place. A server says "listening PORT", a client that holds says "holding", both on
 * stderr, so that a script knows when to look.
 *
 * The whole run has a deadline (--deadline, 30 s); the time of --hold comes on top of it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
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
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif
#define SMCPROTO_SMC 0
#define SMCPROTO_SMC6 1

#define MAX_SIZES 4096 /* entries of --sizes and of --reads */
#define MAX_CONNS 4096
#define MAX_SIZE (64U << 20) /* bytes of one call */
#define READ_SIZE 65536      /* bytes asked for when there is no --reads */

enum flavour { FLAVOUR_AFSMC, FLAVOUR_IPPROTO, FLAVOUR_TCP };

static const char *const flavour_names[] = {
	[FLAVOUR_AFSMC] = "AF_SMC",
	[FLAVOUR_IPPROTO] = "IPPROTO_SMC",
	[FLAVOUR_TCP] = "TCP",
};

/* SIZE x TIMES; the entries of a list follow each other */
struct run {
	uint32_t size;
	uint32_t times;
};

struct schedule {
	struct run runs[MAX_SIZES];
	unsigned int n;
};

struct options {
	bool server;
	bool echo;
	bool cork;
	bool exact;
	bool nodelay;
	bool hold_stdin;
	enum flavour flavour;
	const char *addr;
	const char *hold_file;
	unsigned int port;
	unsigned int count;
	unsigned int hold;     /* seconds */
	unsigned int deadline; /* seconds */
	unsigned int sndbuf;   /* 0: not set */
	unsigned int rcvbuf;
	struct schedule sizes;
	struct schedule reads;
};

struct totals {
	uint64_t sent_bytes;
	uint64_t sent_calls;
	uint64_t short_sends;
	uint64_t recv_bytes;
	uint64_t recv_calls;
};

struct conn {
	int fd;
	pthread_t thread;
	uint64_t expect; /* client: bytes that come back */
	struct totals totals;
};

static struct options opt = {
	.addr = "127.0.0.1",
	.port = 40000,
	.count = 1,
	.deadline = 30,
};
static struct conn conns[MAX_CONNS];
static const char *volatile doing = "starting";

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "smctraffic %s: ", opt.server ? "server" : "client");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

/* In a signal handler: only write() and _exit(). */
static void on_deadline(int signo)
{
	static const char text[] = "smctraffic: deadline passed while ";
	const char *what = doing;

	(void)signo;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0 || write(STDERR_FILENO, what, strlen(what)) < 0 ||
	    write(STDERR_FILENO, "\n", 1) < 0)
		_exit(3);
	_exit(2);
}

/* What belongs at a position of the stream. Neighbours differ, and so do positions a power of two apart. */
static uint8_t pattern(uint64_t position)
{
	return (uint8_t)(position * 7 + (position >> 8) * 13 + (position >> 16) * 29 + (position >> 24) * 31);
}

static void fill(uint8_t *data, size_t size, uint64_t position)
{
	for (size_t i = 0; i < size; i++)
		data[i] = pattern(position + i);
}

static void verify(const uint8_t *data, size_t size, uint64_t position)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] != pattern(position + i))
			die("wrong byte at %llu: 0x%02x, expected 0x%02x", (unsigned long long)(position + i), data[i],
			    pattern(position + i));
}

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		die("out of memory (%zu bytes)", size);
	return memory;
}

static uint32_t largest(const struct schedule *s)
{
	uint32_t size = READ_SIZE;

	for (unsigned int i = 0; i < s->n; i++)
		size = s->runs[i].size > size ? s->runs[i].size : size;
	return size;
}

static uint64_t total(const struct schedule *s)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < s->n; i++)
		bytes += (uint64_t)s->runs[i].size * s->runs[i].times;
	return bytes;
}

/* Size of the call with this number, 0 behind the end of the schedule */
static uint32_t size_at(const struct schedule *s, uint64_t number)
{
	for (unsigned int i = 0; i < s->n; i++) {
		if (number < s->runs[i].times)
			return s->runs[i].size;
		number -= s->runs[i].times;
	}
	return 0;
}

static void send_whole(int fd, const uint8_t *data, size_t size, struct totals *t)
{
	while (size > 0) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n <= 0)
			die("send %zu bytes at %llu: %s", size, (unsigned long long)t->sent_bytes,
			    n < 0 ? strerror(errno) : "nothing was taken");
		if ((size_t)n != size && opt.exact)
			die("send %zu bytes at %llu: only %zd were taken", size, (unsigned long long)t->sent_bytes, n);
		t->short_sends += (size_t)n != size;
		t->sent_bytes += (uint64_t)n;
		t->sent_calls++;
		data += n;
		size -= (size_t)n;
	}
}

/* One recv(): of the next size of --reads, which has to arrive in full, or of what is there. 0 at the end. */
static size_t receive(int fd, uint8_t *data, struct totals *t)
{
	uint32_t want = size_at(&opt.reads, t->recv_calls);
	ssize_t n = recv(fd, data, want ? want : READ_SIZE, want ? MSG_WAITALL : 0);

	if (n < 0)
		die("receive at %llu: %s", (unsigned long long)t->recv_bytes, strerror(errno));
	if (n > 0 && want && (size_t)n != want)
		die("receive at %llu: %zd bytes, expected %u", (unsigned long long)t->recv_bytes, n, want);
	if (n > 0) {
		verify(data, (size_t)n, t->recv_bytes);
		t->recv_bytes += (uint64_t)n;
		t->recv_calls++;
	}
	return (size_t)n;
}

static void set_number(int fd, int level, int name, const char *what, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)) < 0)
		die("set %s to %d: %s", what, value, strerror(errno));
}

static int make_socket(bool v6)
{
	static const bool smc_family[] = { [FLAVOUR_AFSMC] = true, [FLAVOUR_IPPROTO] = false, [FLAVOUR_TCP] = false };
	int family = smc_family[opt.flavour] ? AF_SMC : v6 ? AF_INET6 : AF_INET;
	int protocol = opt.flavour == FLAVOUR_IPPROTO ? IPPROTO_SMC : IPPROTO_TCP;
	int fd;

	if (opt.flavour == FLAVOUR_AFSMC)
		protocol = v6 ? SMCPROTO_SMC6 : SMCPROTO_SMC;
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		die("make a socket of %s: %s", flavour_names[opt.flavour], strerror(errno));
	if (opt.sndbuf)
		set_number(fd, SOL_SOCKET, SO_SNDBUF, "SO_SNDBUF", (int)opt.sndbuf);
	if (opt.rcvbuf)
		set_number(fd, SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF", (int)opt.rcvbuf);
	return fd;
}

static socklen_t make_address(struct sockaddr_storage *ret_address)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret_address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret_address;

	memset(ret_address, 0, sizeof(*ret_address));
	if (inet_pton(AF_INET, opt.addr, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)opt.port);
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, opt.addr, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)opt.port);
		return sizeof(*v6);
	}
	die("not an address: %s", opt.addr);
}

/* Until the seconds are over, the file is there or stdin is closed, whichever was asked for */
static void hold(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	if (!opt.hold && !opt.hold_file && !opt.hold_stdin)
		return;
	doing = "holding the connections";
	fputs("holding\n", stderr);
	for (unsigned int tenths = 0; !opt.hold || tenths < opt.hold * 10; tenths++) {
		if (opt.hold_file && access(opt.hold_file, F_OK) == 0)
			return;
		if (opt.hold_stdin && poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0)
			return;
		usleep(100000);
	}
}

static void *serve(void *arg)
{
	struct conn *conn = arg;
	uint8_t *data = allocate(largest(&opt.reads));
	size_t n;

	while ((n = receive(conn->fd, data, &conn->totals)) > 0)
		if (opt.echo)
			send_whole(conn->fd, data, n, &conn->totals);
	if (shutdown(conn->fd, SHUT_WR) < 0 && errno != ENOTCONN)
		die("shut down: %s", strerror(errno));
	free(data);
	return NULL;
}

static void *receive_echo(void *arg)
{
	struct conn *conn = arg;
	uint8_t *data = allocate(largest(&opt.reads));

	while (conn->totals.recv_bytes < conn->expect)
		if (receive(conn->fd, data, &conn->totals) == 0)
			die("the server closed after %llu of %llu bytes", (unsigned long long)conn->totals.recv_bytes,
			    (unsigned long long)conn->expect);
	free(data);
	return NULL;
}

static void start_thread(struct conn *conn, void *(*body)(void *))
{
	int r = pthread_create(&conn->thread, NULL, body, conn);

	if (r)
		die("start a thread: %s", strerror(r));
}

static void run_server(void)
{
	struct sockaddr_storage address;
	socklen_t length = make_address(&address);
	int fd = make_socket(address.ss_family == AF_INET6);

	set_number(fd, SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR", 1);
	if (bind(fd, (struct sockaddr *)&address, length) < 0)
		die("bind %s port %u: %s", opt.addr, opt.port, strerror(errno));
	if (listen(fd, 1024) < 0)
		die("listen: %s", strerror(errno));
	if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		die("ask for the own port: %s", strerror(errno));
	fprintf(stderr, "listening %u\n",
		ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
						    : ((struct sockaddr_in *)&address)->sin_port));
	for (unsigned int i = 0; i < opt.count; i++) {
		doing = "waiting for a connection";
		conns[i].fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (conns[i].fd < 0)
			die("accept: %s", strerror(errno));
		start_thread(&conns[i], serve);
	}
	doing = "receiving";
	for (unsigned int i = 0; i < opt.count; i++)
		pthread_join(conns[i].thread, NULL);
	hold();
	for (unsigned int i = 0; i < opt.count; i++)
		close(conns[i].fd);
	close(fd);
}

static void connect_one(struct conn *conn)
{
	struct sockaddr_storage address;
	socklen_t length = make_address(&address);

	doing = "connecting";
	conn->fd = make_socket(address.ss_family == AF_INET6);
	if (connect(conn->fd, (struct sockaddr *)&address, length) < 0)
		die("connect to %s port %u: %s", opt.addr, opt.port, strerror(errno));
	if (opt.nodelay)
		set_number(conn->fd, IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY", 1);
}

static void send_sizes(struct conn *conn)
{
	uint8_t *data = allocate(largest(&opt.sizes));

	doing = "sending";
	conn->expect = opt.echo ? total(&opt.sizes) : 0;
	if (opt.echo)
		start_thread(conn, receive_echo);
	if (opt.cork)
		set_number(conn->fd, IPPROTO_TCP, TCP_CORK, "TCP_CORK", 1);
	for (unsigned int i = 0; i < opt.sizes.n; i++)
		for (uint32_t k = 0; k < opt.sizes.runs[i].times; k++) {
			fill(data, opt.sizes.runs[i].size, conn->totals.sent_bytes);
			send_whole(conn->fd, data, opt.sizes.runs[i].size, &conn->totals);
		}
	if (opt.cork)
		set_number(conn->fd, IPPROTO_TCP, TCP_CORK, "TCP_CORK", 0);
	doing = "waiting for the echo";
	if (opt.echo)
		pthread_join(conn->thread, NULL);
	free(data);
}

/* The server closes after our end of the stream, so its end says that it has read everything. */
static void finish(struct conn *conn)
{
	uint8_t byte;
	ssize_t n;

	doing = "waiting for the server to close";
	if (shutdown(conn->fd, SHUT_WR) < 0)
		die("shut down: %s", strerror(errno));
	n = recv(conn->fd, &byte, 1, 0);
	if (n > 0)
		die("the server sent more than %llu bytes", (unsigned long long)conn->totals.recv_bytes);
	if (n < 0)
		die("wait for the server to close: %s", strerror(errno));
	close(conn->fd);
}

static void run_client(void)
{
	for (unsigned int i = 0; i < opt.count; i++) {
		connect_one(&conns[i]);
		send_sizes(&conns[i]);
	}
	hold();
	for (unsigned int i = 0; i < opt.count; i++)
		finish(&conns[i]);
}

static void print_totals(void)
{
	struct totals sum = { 0 };

	for (unsigned int i = 0; i < opt.count; i++) {
		sum.sent_bytes += conns[i].totals.sent_bytes;
		sum.sent_calls += conns[i].totals.sent_calls;
		sum.short_sends += conns[i].totals.short_sends;
		sum.recv_bytes += conns[i].totals.recv_bytes;
		sum.recv_calls += conns[i].totals.recv_calls;
	}
	printf("{\"side\":\"%s\",\"socket\":\"%s\",\"connections\":%u,\"sent_bytes\":%llu,\"sent_calls\":%llu,"
	       "\"short_sends\":%llu,\"recv_bytes\":%llu,\"recv_calls\":%llu}\n",
	       opt.server ? "server" : "client", flavour_names[opt.flavour], opt.count,
	       (unsigned long long)sum.sent_bytes, (unsigned long long)sum.sent_calls,
	       (unsigned long long)sum.short_sends, (unsigned long long)sum.recv_bytes,
	       (unsigned long long)sum.recv_calls);
}

/* --- the command line */

static unsigned int parse_number(const char *text, const char **ret_end, unsigned int min, unsigned int max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (end == text || *text == '-' || errno || value < min || value > max)
		die("not a number from %u to %u: %s", min, max, text);
	if (ret_end)
		*ret_end = end;
	else if (*end)
		die("not a number: %s", text);
	return (unsigned int)value;
}

/* 1000x10,16384x5,7 */
static void parse_schedule(const char *text, struct schedule *ret_schedule)
{
	struct schedule *s = ret_schedule;

	for (s->n = 0;; text++) {
		if (s->n == MAX_SIZES)
			die("more than %d sizes", MAX_SIZES);
		s->runs[s->n] = (struct run){ .size = parse_number(text, &text, 1, MAX_SIZE), .times = 1 };
		if (*text == 'x')
			s->runs[s->n].times = parse_number(text + 1, &text, 1, 100000000);
		s->n++;
		if (!*text)
			return;
		if (*text != ',')
			die("not a list of sizes (as in 1000x10,16384x5): ...%s", text);
	}
}

static const char usage_text[] =
	"usage: smctraffic server|client [options]\n"
	"  --addr A        address to listen on or to connect to (127.0.0.1)\n"
	"  --port P        port (40000); a server takes 0 for any\n"
	"  --afsmc | --ipproto | --tcp\n"
	"                  socket of AF_SMC (default), AF_INET with IPPROTO_SMC, or plain TCP\n"
	"  --count N       connections, open at the same time (1)\n"
	"  --sizes LIST    client: sizes to send, as in 1000x10,16384x5: one send() each\n"
	"  --reads LIST    sizes to receive, each in full; then, and without it, what is there\n"
	"  --echo          server: send back; client: expect it. Give it on both sides\n"
	"  --exact         a send() that takes less than it was given is a failure\n"
	"  --cork          client: TCP_CORK around all sends of a connection\n"
	"  --nodelay       client: TCP_NODELAY\n"
	"  --sndbuf N, --rcvbuf N\n"
	"                  SO_SNDBUF, SO_RCVBUF\n"
	"  --hold S        keep the connections open for S seconds after the transfer\n"
	"  --hold-file F   ... until the file F appears\n"
	"  --hold-stdin    ... until stdin is closed\n"
	"  --deadline S    give up after S seconds (30), not counting --hold\n";

enum {
	O_ADDR = 256,
	O_PORT,
	O_AFSMC,
	O_IPPROTO,
	O_TCP,
	O_COUNT,
	O_SIZES,
	O_READS,
	O_ECHO,
	O_EXACT,
	O_CORK,
	O_NODELAY,
	O_SNDBUF,
	O_RCVBUF,
	O_HOLD,
	O_HOLD_FILE,
	O_HOLD_STDIN,
	O_DEADLINE,
	O_HELP
};

static const struct option long_options[] = {
	{ "addr", required_argument, NULL, O_ADDR },
	{ "port", required_argument, NULL, O_PORT },
	{ "afsmc", no_argument, NULL, O_AFSMC },
	{ "ipproto", no_argument, NULL, O_IPPROTO },
	{ "tcp", no_argument, NULL, O_TCP },
	{ "count", required_argument, NULL, O_COUNT },
	{ "sizes", required_argument, NULL, O_SIZES },
	{ "reads", required_argument, NULL, O_READS },
	{ "echo", no_argument, NULL, O_ECHO },
	{ "exact", no_argument, NULL, O_EXACT },
	{ "cork", no_argument, NULL, O_CORK },
	{ "nodelay", no_argument, NULL, O_NODELAY },
	{ "sndbuf", required_argument, NULL, O_SNDBUF },
	{ "rcvbuf", required_argument, NULL, O_RCVBUF },
	{ "hold", required_argument, NULL, O_HOLD },
	{ "hold-file", required_argument, NULL, O_HOLD_FILE },
	{ "hold-stdin", no_argument, NULL, O_HOLD_STDIN },
	{ "deadline", required_argument, NULL, O_DEADLINE },
	{ "help", no_argument, NULL, O_HELP },
	{ NULL, 0, NULL, 0 },
};

static void parse_option(int name)
{
	switch (name) {
	case O_ADDR:
		opt.addr = optarg;
		break;
	case O_PORT:
		opt.port = parse_number(optarg, NULL, 0, 65535);
		break;
	case O_AFSMC:
		opt.flavour = FLAVOUR_AFSMC;
		break;
	case O_IPPROTO:
		opt.flavour = FLAVOUR_IPPROTO;
		break;
	case O_TCP:
		opt.flavour = FLAVOUR_TCP;
		break;
	case O_COUNT:
		opt.count = parse_number(optarg, NULL, 1, MAX_CONNS);
		break;
	case O_SIZES:
		parse_schedule(optarg, &opt.sizes);
		break;
	case O_READS:
		parse_schedule(optarg, &opt.reads);
		break;
	case O_ECHO:
		opt.echo = true;
		break;
	case O_EXACT:
		opt.exact = true;
		break;
	case O_CORK:
		opt.cork = true;
		break;
	case O_NODELAY:
		opt.nodelay = true;
		break;
	case O_SNDBUF:
		opt.sndbuf = parse_number(optarg, NULL, 1, INT32_MAX);
		break;
	case O_RCVBUF:
		opt.rcvbuf = parse_number(optarg, NULL, 1, INT32_MAX);
		break;
	case O_HOLD:
		opt.hold = parse_number(optarg, NULL, 1, 86400);
		break;
	case O_HOLD_FILE:
		opt.hold_file = optarg;
		break;
	case O_HOLD_STDIN:
		opt.hold_stdin = true;
		break;
	case O_DEADLINE:
		opt.deadline = parse_number(optarg, NULL, 1, 86400);
		break;
	case O_HELP:
		fputs(usage_text, stdout);
		exit(EXIT_SUCCESS);
	default:
		fputs(usage_text, stderr);
		exit(EXIT_FAILURE);
	}
}

int main(int argc, char **argv)
{
	int name;

	while ((name = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
		parse_option(name);
	if (optind + 1 != argc || (strcmp(argv[optind], "server") && strcmp(argv[optind], "client"))) {
		fputs(usage_text, stderr);
		return EXIT_FAILURE;
	}
	opt.server = strcmp(argv[optind], "server") == 0;
	if (!opt.server && !opt.sizes.n)
		die("--sizes is missing");
	if (signal(SIGALRM, on_deadline) == SIG_ERR)
		die("catch SIGALRM: %s", strerror(errno));
	alarm(opt.deadline + opt.hold);
	if (opt.server)
		run_server();
	else
		run_client();
	print_totals();
	return EXIT_SUCCESS;
}
