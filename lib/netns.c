// SPDX-License-Identifier: GPL-2.0-or-later
#include "netns.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

#define SYSCTL_DIR "/proc/sys/net/smc/"
#define RCVBUF (1 << 20) /* asked for; net.core.rmem_max can make it less */
#define EVENTS_RCVBUF (4 << 20)
#define RECV_SIZE (64 << 10)   /* netlink_dump() fills at most 32 KiB */
#define INITIAL_NETNS_COOKIE 1 /* net_ns_init() takes the first one */

_Static_assert(RECV_SIZE <= TRANSPORT_DATAGRAM_MAX, "the buffer is the limit");

/* ---- bundles ---- */

void bundle_done(struct bundle *b)
{
	for (size_t i = 0; i < N_BUSES; i++)
		close_fd(&b->nl[i]);
	for (size_t i = 0; b->sysctl && i < n_knobs; i++)
		close_fd(&b->sysctl[i]);
	free(b->sysctl);
	b->sysctl = NULL;
}

static const struct bundle no_bundle = { .nl = { [BUS_GENL] = -1, [BUS_DIAG] = -1, [BUS_EVENTS] = -1 } };

static int bundle_alloc(struct bundle *b)
{
	b->sysctl = calloc(n_knobs, sizeof(*b->sysctl));
	if (!b->sysctl)
		return -ENOMEM;
	for (size_t i = 0; i < n_knobs; i++)
		b->sysctl[i] = -1;
	return 0;
}

int netns_name_check(const char *name, struct err *e)
{
	char shown[SHOWN_MAX * 4 + 4];
	size_t n = strlen(name);

	safe_str(shown, sizeof(shown), name);
	if (n == 0)
		return err_set(e, -EINVAL, "the name of the network namespace is empty");
	if (n > NETNS_NAME_MAX)
		return err_set(e, -EINVAL, "the name of the network namespace is longer than %d bytes", NETNS_NAME_MAX);
	if (strchr(name, '/') || str_eq(name, ".") || str_eq(name, ".."))
		return err_set(e, -EINVAL, "'%s' is no name of a network namespace", shown);
	return 0;
}

static int set_timeout(int fd)
{
	const struct timeval limit = { .tv_sec = TRANSPORT_TIMEOUT_SEC };

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ? -errno : 0;
}

static int netlink_open(int protocol)
{
	int fd CLEANUP_FD = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	const int on = 1, rcvbuf = RCVBUF;
	int r;

	if (fd < 0)
		return -errno;
	r = set_timeout(fd);
	if (r < 0)
		return r;
	/* Wishes: an older kernel without them still answers, with less detail; dumps are repeated after an overrun. */
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf));
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	r = fd;
	fd = -1;
	return r;
}

static int bus_open(struct bundle *b, enum bus bus)
{
	static const int protocols[N_BUSES] = {
		[BUS_GENL] = NETLINK_GENERIC,
		[BUS_DIAG] = NETLINK_SOCK_DIAG,
		[BUS_EVENTS] = NETLINK_GENERIC,
	};
	const struct sockaddr_nl own = { .nl_family = AF_NETLINK };
	int fd CLEANUP_FD = netlink_open(protocols[bus]);

	if (fd < 0)
		return fd;
	/*
	 * Others get a port when they send. A socket without one has that of the kernel, from which multicasts come,
	 * and senders do not hear themselves.
	 */
	if (bus == BUS_EVENTS && bind(fd, (const struct sockaddr *)&own, sizeof(own)) < 0)
		return -errno;
	b->nl[bus] = fd;
	fd = -1;
	return 0;
}

static int buses_open(struct bundle *b, struct err *e)
{
	for (enum bus i = 0; i < N_BUSES; i++) {
		int r = bus_open(b, i);

		/* A kernel can lack sock_diag; then only sockets cannot be listed. */
		if (r < 0 && !(i == BUS_DIAG && r == -EPROTONOSUPPORT))
			return err_set(e, r, "open a netlink socket: %s", strerror(-r));
	}
	return 0;
}

static int sysctl_open(const char *name, int flags)
{
	char path[sizeof(SYSCTL_DIR) + 64];
	int fd;

	if (snprintf(path, sizeof(path), SYSCTL_DIR "%s", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static int sysctls_open(struct bundle *b, struct err *e)
{
	int r = bundle_alloc(b);

	if (r < 0)
		return err_set(e, r, "out of memory");
	for (size_t i = 0; i < n_knobs; i++) {
		int fd = knobs[i].sysctl ? sysctl_open(knobs[i].sysctl, O_RDWR) : -ENOENT;

		if (fd == -EACCES || fd == -EPERM || fd == -EROFS)
			fd = sysctl_open(knobs[i].sysctl, O_RDONLY);
		if (fd < 0 && fd != -ENOENT)
			return err_set(e, fd, "open net.smc.%s: %s", knobs[i].sysctl, strerror(-fd));
		b->sysctl[i] = fd < 0 ? -1 : fd;
	}
	return 0;
}

int bundle_open(struct bundle *ret, struct err *e)
{
	struct bundle b CLEANUP(bundle_done) = no_bundle;
	int r = buses_open(&b, e);

	if (r == 0)
		r = sysctls_open(&b, e);
	if (r < 0)
		return r;
	*ret = b;
	b = no_bundle;
	return 0;
}

/* The file system is asked first: what the ioctl means to anything else is not known. */
static bool is_netns(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == NSFS_MAGIC && ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET;
}

static int netns_open(const char *netns, struct err *e)
{
	char path[sizeof(NETNS_DIR) + NETNS_NAME_MAX + 2];
	int fd, r = netns_name_check(netns, e);

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), NETNS_DIR "/%s", netns);
	/* Anything can lie there; opening a FIFO must not wait for its writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_set(e, -errno, "%s", errno == ENOENT ? "there is no such namespace" : strerror(errno));
	if (!is_netns(fd)) {
		close_fd(&fd);
		return err_set(e, -EINVAL, "it is no network namespace");
	}
	return fd;
}

int bundle_open_in(const char *netns, struct bundle *ret, struct err *e)
{
	int there CLEANUP_FD = netns_open(netns, e);
	int here CLEANUP_FD = -1;
	int r = there;

	if (r >= 0) {
		here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
		r = here < 0 ? err_set(e, -errno, "open the own namespace: %s", strerror(errno)) : 0;
	}
	if (r == 0 && setns(there, CLONE_NEWNET) < 0)
		r = err_set(e, -errno, "enter it: %s%s", strerror(errno),
			    errno == EPERM ? " (CAP_SYS_ADMIN is needed)" : "");
	else if (r == 0) {
		r = bundle_open(ret, e);
		/* Going on in a namespace that nobody expects would change the wrong settings. */
		if (setns(here, CLONE_NEWNET) < 0)
			abort();
	}
	if (r < 0 && e) {
		char shown[SHOWN_MAX * 4 + 4];

		err_prefix(e, "network namespace '%s'", safe_str(shown, sizeof(shown), netns));
	}
	return r < 0 ? r : 0;
}

/* ---- the real transport ---- */

struct real {
	/* sysctl NULL: the caller's own namespace, where all is opened when it is needed: files for each access, which
	   survives a reload of the module, and netlink sockets once. */
	struct bundle b;
	bool own;
	int initial; /* is it the initial namespace? -1: not asked yet */
};

/* Descriptor of a sysctl file; *ret_opened when it has to be closed again. */
static int sysctl_fd(const struct real *t, const char *name, int flags, bool *ret_opened)
{
	*ret_opened = !t->b.sysctl;
	if (!t->b.sysctl)
		return sysctl_open(name, flags);
	for (size_t i = 0; i < n_knobs; i++)
		if (str_eq(knobs[i].sysctl, name))
			return t->b.sysctl[i] < 0 ? -ENOENT : t->b.sysctl[i];
	return -ENOENT;
}

static int real_sysctl_read(void *ctx, const char *name, char *buf, size_t size)
{
	bool opened;
	int fd = sysctl_fd(ctx, name, O_RDONLY, &opened);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = pread(fd, buf, size, 0);
	if (n < 0)
		n = -errno;
	if (opened)
		close_fd(&fd);
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	return (int)n;
}

static int real_sysctl_write(void *ctx, const char *name, const char *text)
{
	struct text line CLEANUP_TEXT = { 0 };
	bool opened;
	ssize_t n;
	int fd;

	/* With a newline even an empty string is something to write. */
	text_add(&line, "%s\n", text);
	if (line.failed)
		return -ENOMEM;
	fd = sysctl_fd(ctx, name, O_WRONLY, &opened);
	if (fd < 0)
		return fd;
	n = pwrite(fd, line.s, line.len, 0);
	if (n < 0)
		n = errno == EBADF ? -EACCES : -errno; /* the file could only be opened for reading */
	else
		n = (size_t)n == line.len ? 0 : -EIO;
	if (opened)
		close_fd(&fd);
	return (int)n;
}

static int real_send(void *ctx, enum bus bus, const void *msg, size_t len)
{
	struct real *t = ctx;

	if (t->b.nl[bus] < 0) {
		int r = t->b.sysctl ? -EPROTONOSUPPORT : bus_open(&t->b, bus);

		if (r < 0)
			return r;
	}
	return send(t->b.nl[bus], msg, len, 0) < 0 ? -errno : 0;
}

static int real_recv(void *ctx, enum bus bus, unsigned char **ret_buf, size_t *ret_len)
{
	const struct real *t = ctx;
	unsigned char *buf CLEANUP_FREE = malloc(RECV_SIZE);
	struct iovec iov = { buf, RECV_SIZE };
	struct sockaddr_nl from;
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	do {
		struct msghdr m = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1 };

		n = recvmsg(t->b.nl[bus], &m, bus == BUS_EVENTS ? MSG_DONTWAIT : 0);
		if (n < 0)
			return -errno;
		if (m.msg_flags & MSG_TRUNC)
			return -EMSGSIZE;
	} while (from.nl_pid != 0); /* other processes can send to us; only the kernel is believed */
	*ret_buf = buf;
	*ret_len = (size_t)n;
	buf = NULL;
	return 0;
}

static int real_join(void *ctx, uint32_t group)
{
	struct real *t = ctx;
	int r = 0;

	if (t->b.nl[BUS_EVENTS] < 0)
		r = t->b.sysctl ? -EPROTONOSUPPORT : bus_open(&t->b, BUS_EVENTS);
	if (r < 0)
		return r;
	/* Events come in bursts; where the rights for it are, the socket takes more than other ones may. */
	(void)setsockopt(t->b.nl[BUS_EVENTS], SOL_SOCKET, SO_RCVBUFFORCE, &(int){ EVENTS_RCVBUF }, sizeof(int));
	if (setsockopt(t->b.nl[BUS_EVENTS], SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
		return -errno;
	return 0;
}

static int real_events_fd(void *ctx)
{
	const struct real *t = ctx;

	return t->b.nl[BUS_EVENTS] < 0 ? -EBADF : t->b.nl[BUS_EVENTS];
}

static int real_portid(void *ctx, uint32_t *ret)
{
	const struct real *t = ctx;
	struct sockaddr_nl own = { 0 };
	socklen_t len = sizeof(own);

	*ret = 0;
	if (t->b.nl[BUS_GENL] < 0)
		return 0;
	if (getsockname(t->b.nl[BUS_GENL], (struct sockaddr *)&own, &len) < 0)
		return -errno;
	*ret = own.nl_pid;
	return 0;
}

static int real_netns_cookie(void *ctx, uint64_t *ret)
{
	const struct real *t = ctx;
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	if (t->b.nl[BUS_GENL] < 0)
		return -ENOPROTOOPT;
	if (getsockopt(t->b.nl[BUS_GENL], SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) < 0)
		return -errno;
	*ret = cookie;
	return 0;
}

/* Indexes of host-wide lists belong to the initial namespace; elsewhere the same number is another device, or none. */
static bool is_initial(struct real *t)
{
	uint64_t cookie = 0;

	if (t->initial < 0) {
		/* Before Linux 5.14 it cannot be told; assume the usual. */
		t->initial = real_netns_cookie(t, &cookie) < 0 || cookie == INITIAL_NETNS_COOKIE;
	}
	return t->initial;
}

static int real_ifname(void *ctx, unsigned int ifindex, char *ret_name)
{
	struct real *t = ctx;
	struct ifreq req = { .ifr_ifindex = (int)ifindex };

	/* Asked about what a netlink socket has told, so there is one. */
	if (!t->own || t->b.nl[BUS_GENL] < 0 || !is_initial(t))
		return -ENODEV;
	if (ioctl(t->b.nl[BUS_GENL], SIOCGIFNAME, &req) < 0)
		return errno == ENXIO ? -ENODEV : -errno;
	memcpy(ret_name, req.ifr_name, IFNAMSIZ);
	return 0;
}

static void real_free(void *ctx)
{
	struct real *t = ctx;

	bundle_done(&t->b);
	free(t);
}

static const struct transport_ops real_ops = {
	.sysctl_read = real_sysctl_read,
	.sysctl_write = real_sysctl_write,
	.send = real_send,
	.recv = real_recv,
	.ifname = real_ifname,
	.netns_cookie = real_netns_cookie,
	.join = real_join,
	.events_fd = real_events_fd,
	.portid = real_portid,
	.free = real_free,
};

int transport_from_bundle(struct bundle *b, bool own, struct transport *ret)
{
	struct real *t = calloc(1, sizeof(*t));

	if (!t) {
		bundle_done(b);
		return -ENOMEM;
	}
	*t = (struct real){ .b = *b, .own = own, .initial = -1 };
	*b = no_bundle;
	*ret = (struct transport){ .ops = &real_ops, .ctx = t };
	return 0;
}

int transport_own(struct transport *ret, struct err *e)
{
	struct bundle b = no_bundle;
	int r = transport_from_bundle(&b, true, ret);

	return r < 0 ? err_set(e, r, "out of memory") : 0;
}

/* ---- the helper's protocol ---- */

/*
 * SOCK_SEQPACKET: a request is one record, the namespace's name without a NUL; the answer is one record, struct answer,
 * with the descriptors that it says it has, in their order.
 */
#define ANSWER_KNOBS_MAX 64

_Static_assert(N_BUSES + ANSWER_KNOBS_MAX <= 253, "SCM_MAX_FD of the kernel");

struct answer {
	uint32_t tables; /* tables_id(): both sides must mean the same files */
	int32_t status;  /* 0 or -errno */
	uint8_t has_nl[N_BUSES], has_sysctl[ANSWER_KNOBS_MAX];
	char text[512];
};

#define ANSWER_FDS_MAX (N_BUSES + ANSWER_KNOBS_MAX)

union fds_control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int) * ANSWER_FDS_MAX)];
};

/* FNV-1a over the names of the sysctl files. */
static uint32_t tables_id(void)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n_knobs; i++) {
		for (const char *s = knobs[i].sysctl ? knobs[i].sysctl : ""; *s; s++)
			h = (h ^ (unsigned char)*s) * 16777619u;
		h = (h ^ ',') * 16777619u;
	}
	return h;
}

/* ---- smcd's side ---- */

struct netns_helper {
	int fd;
	pid_t pid; /* 0: not our child */
};

static int helper_new(int *fd, pid_t pid, struct netns_helper **ret)
{
	struct netns_helper *h = malloc(sizeof(*h));

	if (!h)
		return -ENOMEM;
	*h = (struct netns_helper){ .fd = *fd, .pid = pid };
	*fd = -1;
	*ret = h;
	return 0;
}

int netns_helper_connect(const char *path, struct netns_helper **ret, struct err *e)
{
	int fd CLEANUP_FD = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int r;

	if (strlen(path) >= sizeof(addr.sun_path))
		return err_set(e, -ENAMETOOLONG, "the path of the namespace helper's socket is too long");
	memcpy(addr.sun_path, path, strlen(path));
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return err_set(e, -errno, "connect to the namespace helper at '%.*s': %s", SHOWN_MAX, path,
			       strerror(errno));
	r = set_timeout(fd);
	if (r == 0)
		r = helper_new(&fd, 0, ret);
	return r < 0 ? err_set(e, r, "connect to the namespace helper: %s", strerror(-r)) : 0;
}

/*
 * What the parent blocks, because it reads signals from a descriptor, and ignores would stay so in the program: it
 * could not be ended by TERM.
 */
static void usual_signals(void)
{
	sigset_t none;

	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: the socket as descriptor 3, and the program. Never returns. */
__attribute__((noreturn)) static void become_helper(const char *program, int fd, unsigned int uid)
{
	char user[32];
	char *const argv[] = { (char *)program, (char *)"--fd=3", user, NULL };

	usual_signals();
	snprintf(user, sizeof(user), "--user=%u", uid);
	/* A duplicate of itself would keep close-on-exec. */
	if (fd == 3 ? fcntl(fd, F_SETFD, 0) >= 0 : dup2(fd, 3) >= 0)
		execv(program, argv);
	_exit(127);
}

#define REAP_MSEC 1000

/*
 * The helper holds nothing that is worth its time, and what does not end when its socket is closed is no helper. Not
 * waited for longer than REAP_MSEC: killing waits for a system call that cannot be interrupted.
 */
static void end_helper(pid_t pid)
{
	const struct timespec msec = { .tv_nsec = 1000000 };

	(void)kill(pid, SIGKILL);
	for (int i = 0; i < REAP_MSEC && waitpid(pid, NULL, WNOHANG) == 0; i++)
		(void)nanosleep(&msec, NULL);
}

int netns_helper_spawn(const char *program, struct netns_helper **ret, struct err *e)
{
	int ours CLEANUP_FD = -1, theirs CLEANUP_FD = -1, pair[2], r;
	pid_t pid;

	if (access(program, X_OK) < 0)
		return err_set(e, -errno, "start the namespace helper '%.*s': %s", SHOWN_MAX, program, strerror(errno));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(e, -errno, "start the namespace helper: %s", strerror(errno));
	ours = pair[0];
	theirs = pair[1];
	r = set_timeout(ours);
	if (r < 0)
		return err_set(e, r, "start the namespace helper: %s", strerror(-r));
	pid = fork();
	if (pid < 0)
		return err_set(e, -errno, "start the namespace helper: %s", strerror(errno));
	if (pid == 0)
		become_helper(program, theirs, geteuid());
	r = helper_new(&ours, pid, ret);
	if (r < 0) {
		end_helper(pid);
		return err_set(e, r, "start the namespace helper: %s", strerror(-r));
	}
	return 0;
}

struct netns_helper *netns_helper_free(struct netns_helper *h)
{
	if (!h)
		return NULL;
	close_fd(&h->fd);
	if (h->pid > 0)
		end_helper(h->pid);
	free(h);
	return NULL;
}

/* Take the received descriptors into fds[max]; those that have no place are closed. Returns how many came. */
static size_t take_fds(struct msghdr *m, int *fds, size_t max)
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (n < max)
				fds[n] = fd;
			else
				close_fd(&fd);
			n++;
		}
	}
	return n;
}

/* Hand out the descriptors to the places that the answer names. -EPROTO: their number is wrong; all are closed then. */
static int place_fds(const struct answer *a, int *fds, size_t n, struct bundle *b)
{
	size_t next = 0, wanted = 0;

	for (size_t i = 0; i < N_BUSES; i++)
		wanted += a->has_nl[i] != 0;
	for (size_t i = 0; i < n_knobs; i++)
		wanted += a->has_sysctl[i] != 0;
	if (n != wanted) {
		for (size_t i = 0; i < n && i < ANSWER_FDS_MAX; i++)
			close_fd(&fds[i]);
		return -EPROTO;
	}
	for (size_t i = 0; i < N_BUSES; i++)
		b->nl[i] = a->has_nl[i] ? fds[next++] : -1;
	for (size_t i = 0; i < n_knobs; i++)
		b->sysctl[i] = a->has_sysctl[i] ? fds[next++] : -1;
	return 0;
}

/* 0, the helper's own -errno with its text in e, or what went wrong in between. */
static int receive_answer(int fd, struct bundle *b, struct err *e)
{
	int fds[ANSWER_FDS_MAX];
	union fds_control control;
	struct answer a = { 0 };
	struct iovec iov = { &a, sizeof(a) };
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t len;
	size_t n;
	int r;

	do
		len = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return err_set(e, errno == EAGAIN ? -ETIMEDOUT : -errno, "the namespace helper does not answer");
	n = take_fds(&m, fds, ARRAY_SIZE(fds));
	r = len == 0 ? -ECONNRESET : (size_t)len != sizeof(a) || m.msg_flags & (MSG_CTRUNC | MSG_TRUNC) ? -EPROTO : 0;
	if (r == 0 && a.tables != tables_id())
		r = -EPROTO;
	if (r < 0) {
		for (size_t i = 0; i < n && i < ANSWER_FDS_MAX; i++)
			close_fd(&fds[i]);
		return err_set(e, r,
			       r == -EPROTO ? "the namespace helper is of another version"
					    : "the namespace helper closed the connection");
	}
	a.text[sizeof(a.text) - 1] = '\0';
	if (place_fds(&a, fds, n, b) < 0)
		return err_set(e, -EPROTO, "the namespace helper sent the wrong number of descriptors");
	if (a.status != 0)
		return err_set(e, a.status < 0 ? a.status : -EPROTO, "%s", a.text);
	return b->nl[BUS_GENL] < 0 ? err_set(e, -EPROTO, "the namespace helper sent no netlink socket") : 0;
}

int netns_helper_open(struct netns_helper *h, const char *netns, struct bundle *ret, struct err *e)
{
	struct bundle b CLEANUP(bundle_done) = no_bundle;
	int r = netns_name_check(netns, e);

	if (r < 0)
		return r;
	if (n_knobs > ANSWER_KNOBS_MAX || bundle_alloc(&b) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	if (send(h->fd, netns, strlen(netns), MSG_NOSIGNAL) < 0)
		return err_set(e, -errno, "ask the namespace helper: %s", strerror(errno));
	r = receive_answer(h->fd, &b, e);
	if (r < 0)
		return r;
	*ret = b;
	b = no_bundle;
	return 0;
}

/* ---- the helper's side ---- */

static int send_answer(int fd, const struct answer *a, const int *fds, size_t n)
{
	union fds_control control = { 0 };
	struct iovec iov = { (void *)a, sizeof(*a) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n > 0) {
		struct cmsghdr *c;

		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * n);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int answer_bundle(int fd, const struct bundle *b)
{
	struct answer a = { .tables = tables_id() };
	int fds[ANSWER_FDS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < N_BUSES; i++) {
		a.has_nl[i] = b->nl[i] >= 0;
		if (a.has_nl[i])
			fds[n++] = b->nl[i];
	}
	for (size_t i = 0; i < n_knobs && i < ANSWER_KNOBS_MAX; i++) {
		a.has_sysctl[i] = b->sysctl[i] >= 0;
		if (a.has_sysctl[i])
			fds[n++] = b->sysctl[i];
	}
	return send_answer(fd, &a, fds, n);
}

static int answer_error(int fd, const struct err *e)
{
	struct answer a = { .tables = tables_id(), .status = e->code };

	snprintf(a.text, sizeof(a.text), "%s", e->text);
	return send_answer(fd, &a, NULL, 0);
}

/* One request of len bytes. Whatever it holds, it gets an answer. */
static int serve_request(int fd, const char *request, size_t len)
{
	struct bundle b CLEANUP(bundle_done) = no_bundle;
	char name[NETNS_NAME_MAX + 1] = "";
	struct err e = { 0 };

	if (len > NETNS_NAME_MAX || memchr(request, '\0', len)) {
		err_set(&e, -EINVAL, "this is no name of a network namespace");
		return answer_error(fd, &e);
	}
	memcpy(name, request, len);
	if (bundle_open_in(name, &b, &e) < 0)
		return answer_error(fd, &e);
	return answer_bundle(fd, &b);
}

static int check_peer(int fd, unsigned int allowed_uid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	return peer.uid == 0 || peer.uid == allowed_uid ? 0 : -EPERM;
}

int netns_serve(int fd, unsigned int allowed_uid)
{
	int r = check_peer(fd, allowed_uid);

	while (r == 0) {
		char request[NETNS_NAME_MAX + 2]; /* one more than allowed, so that longer ones are seen */
		ssize_t n = recv(fd, request, sizeof(request), 0);

		if (n == 0)
			return 0;
		if (n < 0)
			r = errno == EINTR ? 0 : -errno;
		else
			r = serve_request(fd, request, (size_t)n);
	}
	return r == -EPIPE || r == -ECONNRESET ? 0 : r;
}
