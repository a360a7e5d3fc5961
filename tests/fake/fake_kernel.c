/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_kernel.c - the fake kernel's transport: sockets with queues, requests and dumps as net/netlink/af_netlink.c
 * handles them, messages being built, and the faults on the way out.
 */
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/smc_diag.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "fake_priv.h"
#include "netns.h"

#define FAKE_PORTID 0x5a5a
#define EVENTS_FILE ".events" /* written to with each event, so that listeners in other processes wake up */

struct dgram {
	struct dgram *next;
	unsigned char *p;
	size_t len;
};

/* A dump in progress: its next datagram is made when the one before it is received. */
struct dump {
	bool active, intr, endless, no_done, nothing;
	int err, shift;
	size_t pos, hide;
	struct call call;
	unsigned char *msg;
};

struct fake_conn {
	struct fake *f;
	unsigned int netns;
	uint32_t portid, groups; /* groups: bits */
	uint64_t next_event;
	struct fake_staging staging;
	int events_fd; /* -1: none yet */
	struct {
		struct dgram *head, **tail;
		struct dump dump;
		const struct fake_op *last; /* what faults of recv are compared with */
	} bus[N_BUSES];
};

/* ---- messages being built ---- */

static void *room(struct fbuf *b, size_t n)
{
	void *p;

	if (b->full || n > b->size - b->len) {
		b->full = true;
		return NULL;
	}
	p = b->p + b->len;
	memset(p, 0, n);
	b->len += n;
	return p;
}

static void fb_init(struct fbuf *b, const struct fake *f, size_t size)
{
	*b = (struct fbuf){ .p = malloc(size), .size = size, .pads = f->s->pads };
	if (!b->p)
		fake_die("out of memory");
}

void fb_raw(struct fbuf *b, const void *p, size_t n)
{
	void *at = room(b, NLMSG_ALIGN(n));

	if (at)
		memcpy(at, p, n);
}

size_t fb_msg(struct fbuf *b, const struct call *c, uint16_t type, uint16_t flags)
{
	size_t start = b->len;
	struct nlmsghdr *h = room(b, NLMSG_HDRLEN);

	if (h)
		*h = (struct nlmsghdr){ .nlmsg_type = type,
					.nlmsg_flags = flags,
					.nlmsg_seq = c->req.nlmsg_seq,
					.nlmsg_pid = FAKE_PORTID };
	return start;
}

size_t fb_genl(struct fbuf *b, const struct call *c, uint16_t family, uint8_t cmd, uint16_t flags)
{
	size_t start = fb_msg(b, c, family, flags);
	struct genlmsghdr *g = room(b, GENL_HDRLEN);

	if (g)
		*g = (struct genlmsghdr){ .cmd = cmd, .version = 1 };
	return start;
}

void fb_end(struct fbuf *b, size_t start)
{
	uint32_t len = (uint32_t)(b->len - start);

	if (!b->full)
		memcpy(b->p + start, &len, sizeof(len));
}

int fb_finish(struct fbuf *b, size_t start)
{
	if (!b->full) {
		fb_end(b, start);
		return EMIT_OK;
	}
	b->len = start;
	b->full = false;
	return EMIT_FULL;
}

void fb_attr(struct fbuf *b, uint16_t type, const void *data, size_t n)
{
	struct nlattr *a;

	if (b->bend == WHAT_LACKING && !(type & NLA_F_NESTED) && !b->lacking--)
		return;
	a = room(b, NLA_ALIGN(NLA_HDRLEN + n));
	if (!a)
		return;
	*a = (struct nlattr){ .nla_len = (uint16_t)(NLA_HDRLEN + n), .nla_type = type };
	if (data)
		memcpy((char *)a + NLA_HDRLEN, data, n);
}

/* A number of n bytes, or of a width that the attribute cannot have. */
static void fb_number(struct fbuf *b, uint16_t type, uint64_t v, size_t n)
{
	unsigned char bytes[16] = { 0 };

	memcpy(bytes, &v, sizeof(v));
	if (b->bend == WHAT_NARROW)
		n = n > 1 ? n - 1 : 0;
	else if (b->bend == WHAT_WIDE)
		n = n + 5;
	fb_attr(b, type, bytes, n);
}

void fb_u8(struct fbuf *b, uint16_t type, uint8_t v)
{
	fb_number(b, type, v, sizeof(v));
}

void fb_u16(struct fbuf *b, uint16_t type, uint16_t v)
{
	fb_number(b, type, v, sizeof(v));
}

void fb_u32(struct fbuf *b, uint16_t type, uint32_t v)
{
	fb_number(b, type, v, sizeof(v));
}

/* nla_put_u64_64bit(): where 64-bit accesses have to be aligned, an empty attribute goes in front to make it so. */
void fb_u64(struct fbuf *b, uint16_t type, uint64_t v, uint16_t pad)
{
	if (b->pads && (b->len + NLA_HDRLEN) % 8)
		fb_attr(b, pad, NULL, 0);
	fb_number(b, type, v, sizeof(v));
}

void fb_uint(struct fbuf *b, uint16_t type, uint64_t v)
{
	fb_number(b, type, v, v > UINT32_MAX ? sizeof(uint64_t) : sizeof(uint32_t));
}

void fb_str(struct fbuf *b, uint16_t type, const char *s)
{
	fb_attr(b, type, s, strlen(s) + (b->bend != WHAT_UNTERMINATED));
}

size_t fb_nest(struct fbuf *b, uint16_t type)
{
	size_t at = b->len;

	fb_attr(b, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void fb_nest_end(struct fbuf *b, size_t nest)
{
	uint16_t len = (uint16_t)(b->len - nest);

	if (!b->full)
		memcpy(b->p + nest, &len, sizeof(len));
}

/* ---- faults on the way out ---- */

static void enqueue(struct fake_conn *conn, enum bus bus, unsigned char *p, size_t len)
{
	struct dgram *d = calloc(1, sizeof(*d));

	if (!d)
		fake_die("out of memory");
	d->p = p;
	d->len = len;
	*conn->bus[bus].tail = d;
	conn->bus[bus].tail = &d->next;
}

static size_t body_offset(const struct call *c)
{
	if (c->bus == BUS_GENL)
		return NLMSG_HDRLEN + GENL_HDRLEN;
	return NLMSG_HDRLEN + (strcmp(c->op->name, "SMC_DIAG") == 0 ? NLMSG_ALIGN(sizeof(struct smc_diag_msg))
								    : sizeof(struct inet_diag_msg));
}

/* The length of the first attribute becomes wrong, or that of the first one in it. */
static void mangle_attr(const struct call *c, unsigned char *p, size_t len, uint16_t nla_len, uint64_t depth)
{
	size_t at = body_offset(c);
	struct nlattr a;

	for (; at + NLA_HDRLEN <= len; at += NLA_HDRLEN) {
		memcpy(&a, p + at, sizeof(a));
		if (!depth-- || !(a.nla_type & NLA_F_NESTED))
			break;
	}
	if (at + NLA_HDRLEN <= len)
		memcpy(p + at, &nla_len, sizeof(nla_len));
}

/* Somebody else's answers, which no one may take for theirs: a refusal and the same record. */
static void stray_answers(const struct call *c, const unsigned char *p, size_t len)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} refusal = { .h = { .nlmsg_len = sizeof(refusal),
			     .nlmsg_type = NLMSG_ERROR,
			     .nlmsg_seq = c->req.nlmsg_seq ^ 0x5555 },
		      .e = { .error = -EPERM } };
	unsigned char *a = malloc(sizeof(refusal)), *b = malloc(len);
	struct nlmsghdr h;

	if (!a || !b)
		fake_die("out of memory");
	memcpy(a, &refusal, sizeof(refusal));
	enqueue(c->conn, c->bus, a, sizeof(refusal));
	memcpy(b, p, len);
	for (size_t at = 0; at < len; at += NLMSG_ALIGN(h.nlmsg_len)) {
		memcpy(&h, b + at, sizeof(h));
		h.nlmsg_seq = refusal.h.nlmsg_seq;
		memcpy(b + at, &h, sizeof(h));
	}
	enqueue(c->conn, c->bus, b, len);
}

static size_t mangle(const struct call *c, const struct fake_fault *x, unsigned char *p, size_t len)
{
	struct nlmsghdr h;

	memcpy(&h, p, sizeof(h));
	switch (x->what) {
	case WHAT_LEN_BIG:
		h.nlmsg_len += 4096;
		break;
	case WHAT_LEN_SMALL:
		h.nlmsg_len = NLMSG_HDRLEN - 4;
		break;
	case WHAT_LEN_ZERO:
		h.nlmsg_len = 0;
		break;
	case WHAT_WRONG_TYPE:
		h.nlmsg_type = 0x7f7;
		break;
	case WHAT_ATTR_LONG:
		mangle_attr(c, p, len, 0xfff0, x->arg);
		break;
	case WHAT_ATTR_ZERO:
		mangle_attr(c, p, len, 0, x->arg);
		break;
	case WHAT_ATTR_SHORT:
		mangle_attr(c, p, len, NLA_HDRLEN - 1, x->arg);
		break;
	case WHAT_GARBAGE:
		memset(p + NLMSG_HDRLEN, 0xa5, len - NLMSG_HDRLEN);
		break;
	case WHAT_FOREIGN_SEQ:
		stray_answers(c, p, len);
		break;
	case WHAT_EMPTY:
		return 0;
	case WHAT_TRUNCATE:
		return len / 2 | 1; /* never between two messages */
	default:
		break;
	}
	memcpy(p, &h, sizeof(h));
	return len;
}

/* The fault of the next datagram, which is to be built with its bend. */
static struct fake_fault *bend(const struct call *c, struct fbuf *b)
{
	struct fake_fault *x = fake_fault_due(c->f, FAULT_MANGLE, (int)c->bus, c->op ? c->op->name : NULL);

	if (x && x->what >= WHAT_NARROW)
		b->bend = x->what;
	if (x)
		b->lacking = x->arg;
	return x;
}

static void put(const struct call *c, struct fbuf *b, const struct fake_fault *x)
{
	if (x)
		b->len = mangle(c, x, b->p, b->len);
	enqueue(c->conn, c->bus, b->p, b->len);
}

void fake_reply_start(struct call *c, struct fbuf *b, size_t size)
{
	fb_init(b, c->f, size);
	c->mangle = bend(c, b);
}

void fake_reply(struct call *c, struct fbuf *b)
{
	put(c, b, c->mangle);
}

/* ---- acknowledgements ---- */

static void put_ack(struct call *c, int err)
{
	size_t payload = err && !c->f->s->capped ? c->req.nlmsg_len - NLMSG_HDRLEN : 0;
	uint16_t flags = (uint16_t)((payload || !err ? 0 : NLM_F_CAPPED) | (c->ext[0] ? NLM_F_ACK_TLVS : 0));
	struct nlmsgerr e = { .error = err, .msg = c->req };
	struct fake_fault *x;
	struct fbuf b;
	size_t start;

	fb_init(&b, c->f, 512 + payload);
	x = bend(c, &b);
	start = fb_msg(&b, c, NLMSG_ERROR, flags);
	fb_raw(&b, &e, sizeof(e));
	if (payload)
		fb_raw(&b, c->msg + NLMSG_HDRLEN, payload);
	if (c->ext[0])
		fb_str(&b, NLMSGERR_ATTR_MSG, c->ext);
	fb_end(&b, start);
	put(c, &b, x);
}

/* ---- dumps ---- */

static void put_done(struct call *c, struct dump *d)
{
	struct fbuf b;
	size_t start;
	int err = -d->err;

	d->active = false;
	c->f->s->dumps_open--;
	if (d->no_done)
		return;
	fb_init(&b, c->f, 64);
	start = fb_msg(&b, c, NLMSG_DONE, (uint16_t)(NLM_F_MULTI | (d->intr ? NLM_F_DUMP_INTR : 0)));
	fb_raw(&b, &err, sizeof(err));
	fb_end(&b, start);
	put(c, &b, fake_fault_due(c->f, FAULT_MANGLE, (int)c->bus, "DONE"));
}

/* net/netlink/genetlink.c and af_netlink.c, netlink_dump(): fill one datagram; an empty one ends the dump. */
static void dump_fill(struct fake_conn *conn, enum bus bus)
{
	struct dump *d = &conn->bus[bus].dump;
	struct call *c = &d->call;
	struct fake_fault *x;
	struct fbuf b;

	fb_init(&b, c->f, c->f->s->goodsize);
	x = bend(c, &b);
	if (d->endless)
		d->pos = 0;
	for (;;) {
		enum emitted r;

		d->pos += d->pos == d->hide;
		r = d->nothing ? EMIT_END : c->op->emit(c, &b, d->pos);
		if (r == EMIT_FULL && !b.len)
			fake_die("an entry of %s does not fit into a datagram of %zu bytes", c->op->name, b.size);
		if (r == EMIT_FULL || (r == EMIT_END && (!d->endless || !b.len)))
			break;
		d->pos = r == EMIT_END ? 0 : d->pos + 1;
	}
	if (!b.len) {
		/* A fault that wanted a record and found none is due at the next one. */
		if (x)
			x->hits--;
		free(b.p);
		put_done(c, d);
		return;
	}
	if (d->intr)
		((struct nlmsghdr *)(void *)b.p)->nlmsg_flags |= NLM_F_DUMP_INTR;
	d->pos += (size_t)d->shift;
	d->shift = 0;
	put(c, &b, x);
}

static void dump_faults(struct dump *d)
{
	struct call *c = &d->call;
	struct fake_fault *x = fake_fault_due(c->f, FAULT_DUMP, (int)c->bus, c->op->name);

	d->hide = SIZE_MAX;
	if (!x)
		return;
	d->intr = x->what == WHAT_INTR;
	d->endless = x->what == WHAT_ENDLESS;
	d->no_done = x->what == WHAT_NO_DONE;
	d->nothing = x->what == WHAT_NOTHING;
	d->shift = (x->what == WHAT_SKIP) - (x->what == WHAT_DOUBLE);
	if (x->what == WHAT_HIDE)
		d->hide = x->hits - 1;
	if (x->what == WHAT_ERRNO)
		d->err = x->err;
}

static int dump_start(struct call *c)
{
	struct dump *d = &c->conn->bus[c->bus].dump;

	if (!c->op->emit)
		return -EOPNOTSUPP;
	if (d->active)
		return -EBUSY;
	free(d->msg);
	*d = (struct dump){ .active = true, .call = *c, .msg = malloc(c->req.nlmsg_len) };
	if (!d->msg)
		fake_die("out of memory");
	memcpy(d->msg, c->msg, c->req.nlmsg_len);
	d->call.msg = d->msg;
	c->f->s->dumps_open++;
	dump_faults(d);
	dump_fill(c->conn, c->bus);
	return 0;
}

/* ---- requests ---- */

static int run(struct call *c)
{
	struct fake_fault *x;
	int r;

	c->op = c->bus == BUS_GENL ? fake_genl_op(c, &r) : fake_diag_op(c, &r);
	c->conn->bus[c->bus].last = c->op;
	if (!c->op)
		return r;
	c->f->s->requests[fake_op_number(c->op)]++;
	x = fake_fault_due(c->f, FAULT_ANSWER, (int)c->bus, c->op->name);
	if (x && x->what == WHAT_IGNORED)
		return 0;
	if (x) {
		snprintf(c->ext, sizeof(c->ext), "%s", x->text);
		return -x->err;
	}
	if (c->op->admin && !c->f->s->privileged)
		return -EPERM;
	if (c->req.nlmsg_flags & NLM_F_DUMP)
		return (c->req.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ? dump_start(c) : -EOPNOTSUPP;
	return c->op->doit ? c->op->doit(c) : -EOPNOTSUPP;
}

static void request(struct fake_conn *conn, enum bus bus, const void *msg, size_t len)
{
	struct call c = { .f = conn->f,
			  .conn = conn,
			  .ns = &conn->f->s->ns[conn->netns],
			  .netns = conn->netns,
			  .portid = conn->portid,
			  .staging = &conn->staging,
			  .init_ns = conn->netns == 0,
			  .bus = bus,
			  .msg = msg };
	bool dump = false;
	int r = 0;

	/* The kernel would ignore it, and the sender wait for ever. */
	if (len < NLMSG_HDRLEN)
		fake_die("a request of %zu bytes", len);
	memcpy(&c.req, msg, sizeof(c.req));
	if (c.req.nlmsg_len < NLMSG_HDRLEN || c.req.nlmsg_len > len)
		fake_die("a request of %zu bytes says that it has %u", len, c.req.nlmsg_len);
	if ((c.req.nlmsg_flags & NLM_F_REQUEST) && c.req.nlmsg_type >= NLMSG_MIN_TYPE) {
		r = run(&c);
		dump = !r && (c.req.nlmsg_flags & NLM_F_DUMP);
	}
	fake_trace(conn->f, "%s netns='%s'%s: %s\n", c.op ? c.op->name : "unknown", c.ns->name, dump ? " dump" : "",
		   r ? errno_name(r) : "ok");
	if (r || ((c.req.nlmsg_flags & NLM_F_ACK) && !dump))
		put_ack(&c, r);
}

/* ---- struct transport_ops ---- */

static int fake_send(void *ctx, enum bus bus, const void *msg, size_t len)
{
	struct fake_conn *conn = ctx;
	struct fake_fault *x;
	int r = 0;

	fake_lock(conn->f);
	x = fake_fault_due(conn->f, FAULT_SEND, (int)bus, NULL);
	if (x)
		r = -x->err;
	else
		request(conn, bus, msg, len);
	fake_unlock(conn->f);
	return r;
}

static void drop_head(struct fake_conn *conn, enum bus bus)
{
	struct dgram *d = conn->bus[bus].head;

	if (!d)
		return;
	conn->bus[bus].head = d->next;
	if (!d->next)
		conn->bus[bus].tail = &conn->bus[bus].head;
	free(d->p);
	free(d);
}

/* A socket that is too small for what came is told so once, and goes on with what is still there. */
static int take_event(struct fake_conn *conn, unsigned char **ret_buf, size_t *ret_len)
{
	struct fake_kstate *s = conn->f->s;
	struct fake_fault *x = fake_fault_due(conn->f, FAULT_RECV, BUS_EVENTS, NULL);

	if (x || s->n_events - conn->next_event > FAKE_EVENTS_KEPT) {
		if (x && x->err == ENOBUFS && conn->next_event < s->n_events)
			conn->next_event++;
		if (!x)
			conn->next_event = s->n_events - FAKE_EVENTS_KEPT;
		return x ? -x->err : -ENOBUFS;
	}
	while (conn->next_event < s->n_events) {
		const struct fake_event *ev = &s->events[conn->next_event++ % FAKE_EVENTS_KEPT];

		if (ev->netns != conn->netns || !(conn->groups & 1u << ev->group))
			continue;
		*ret_buf = malloc(ev->len);
		if (!*ret_buf)
			fake_die("out of memory");
		memcpy(*ret_buf, ev->msg, ev->len);
		*ret_len = ev->len;
		return 0;
	}
	return -EAGAIN;
}

static int take(struct fake_conn *conn, enum bus bus, unsigned char **ret_buf, size_t *ret_len)
{
	const struct fake_op *last = conn->bus[bus].last;
	struct fake_fault *x = fake_fault_due(conn->f, FAULT_RECV, (int)bus, last ? last->name : NULL);
	struct dgram *d = conn->bus[bus].head;

	if (x && x->err == ENOBUFS) {
		drop_head(conn, bus);
		if (conn->bus[bus].dump.active)
			dump_fill(conn, bus);
	}
	if (x)
		return -x->err;
	if (!d)
		return -EAGAIN;
	*ret_buf = d->p;
	*ret_len = d->len;
	d->p = NULL;
	drop_head(conn, bus);
	if (conn->bus[bus].dump.active)
		dump_fill(conn, bus);
	return 0;
}

static int fake_recv(void *ctx, enum bus bus, unsigned char **ret_buf, size_t *ret_len)
{
	struct fake_conn *conn = ctx;
	int r;

	fake_lock(conn->f);
	r = bus == BUS_EVENTS ? take_event(conn, ret_buf, ret_len) : take(conn, bus, ret_buf, ret_len);
	fake_unlock(conn->f);
	if (r != -EAGAIN || bus != BUS_EVENTS || conn->events_fd < 0)
		return r;
	/* As long as something waits it is readable. What is written after this makes it so again. */
	while (read(conn->events_fd, (char[4096]){ 0 }, 4096) > 0)
		;
	fake_lock(conn->f);
	r = take_event(conn, ret_buf, ret_len);
	fake_unlock(conn->f);
	return r;
}

static int watch_files(const struct fake *f)
{
	CLEANUP_FREE char *path = NULL;
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), file;

	if (fd < 0 || asprintf(&path, "%s" EVENTS_FILE, f->script) < 0)
		fake_die("inotify: %s", strerror(errno));
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	close_fd(&file);
	/* The script too: its lines make events when somebody looks. */
	if (inotify_add_watch(fd, path, IN_MODIFY) < 0 || inotify_add_watch(fd, f->script, IN_MODIFY) < 0)
		fake_die("inotify: %s", strerror(errno));
	return fd;
}

static int fake_join(void *ctx, uint32_t group)
{
	struct fake_conn *conn = ctx;

	if (group < FAKE_GROUP_FIRST || group >= FAKE_GROUP_FIRST + N_EVENTS)
		return -ENOENT;
	fake_lock(conn->f);
	if (!conn->groups)
		conn->next_event = conn->f->s->n_events;
	conn->groups |= 1u << (group - FAKE_GROUP_FIRST);
	fake_unlock(conn->f);
	if (conn->events_fd < 0)
		conn->events_fd = conn->f->script ? watch_files(conn->f) : eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return conn->events_fd < 0 ? -errno : 0;
}

static int fake_events_fd(void *ctx)
{
	const struct fake_conn *conn = ctx;

	return conn->events_fd < 0 ? -EBADF : conn->events_fd;
}

static int fake_portid(void *ctx, uint32_t *ret)
{
	const struct fake_conn *conn = ctx;

	*ret = conn->portid;
	return 0;
}

static int fake_sysctl_read(void *ctx, const char *name, char *buf, size_t size)
{
	struct fake_conn *conn = ctx;
	struct fake_fault *x;
	int r;

	fake_lock(conn->f);
	conn->f->s->sysctl_reads++;
	x = fake_fault_due(conn->f, FAULT_SYSCTL_READ, -1, name);
	r = x ? -x->err : fake_sysctl_show(conn->f, &conn->f->s->ns[conn->netns], name, buf, size);
	fake_unlock(conn->f);
	return r;
}

static int sysctl_write(struct fake_conn *conn, const char *name, const char *text)
{
	struct fake_netns *ns = &conn->f->s->ns[conn->netns];
	struct fake_fault *x = fake_fault_due(conn->f, FAULT_SYSCTL_WRITE, -1, name);
	char old[64];

	conn->f->s->sysctl_writes++;
	if (x)
		return x->what == WHAT_IGNORED ? 0 : -x->err;
	/* A file of mode 0644 is opened for writing by root only. */
	if (!conn->f->s->privileged && fake_sysctl_show(conn->f, ns, name, old, sizeof(old)) >= 0)
		return -EACCES;
	return fake_sysctl_store(conn->f, ns, name, text);
}

static int fake_sysctl_write(void *ctx, const char *name, const char *text)
{
	struct fake_conn *conn = ctx;
	int r;

	fake_lock(conn->f);
	r = sysctl_write(conn, name, text);
	fake_trace(conn->f, "sysctl_write %s='%s' netns='%s': %s\n", name, text, conn->f->s->ns[conn->netns].name,
		   r ? errno_name(r) : "ok");
	fake_unlock(conn->f);
	return r;
}

/* Like the kernel's: 1 is the initial namespace, and a name that is given anew is another namespace. */
static int fake_netns_cookie(void *ctx, uint64_t *ret)
{
	const struct fake_conn *conn = ctx;

	*ret = conn->netns + 1;
	return 0;
}

static int fake_ifname(void *ctx, unsigned int ifindex, char *ret_name)
{
	struct fake_conn *conn = ctx;
	int r = -ENODEV;

	fake_lock(conn->f);
	for (unsigned int i = 0; i < conn->f->s->ns[conn->netns].n_ifaces; i++) {
		const struct fake_iface *iface = &conn->f->s->ns[conn->netns].ifaces[i];

		if (iface->ifindex == ifindex) {
			memcpy(ret_name, iface->name, IFNAMSIZ);
			r = 0;
		}
	}
	fake_unlock(conn->f);
	return r;
}

static void conn_free(void *ctx)
{
	struct fake_conn *conn = ctx;

	for (enum bus b = 0; b < N_BUSES; b++) {
		while (conn->bus[b].head)
			drop_head(conn, b);
		free(conn->bus[b].dump.msg);
		conn->f->s->dumps_open -= conn->bus[b].dump.active;
	}
	close_fd(&conn->events_fd);
	free(conn);
}

static const struct transport_ops fake_ops = {
	.sysctl_read = fake_sysctl_read,
	.sysctl_write = fake_sysctl_write,
	.send = fake_send,
	.recv = fake_recv,
	.ifname = fake_ifname,
	.netns_cookie = fake_netns_cookie,
	.join = fake_join,
	.events_fd = fake_events_fd,
	.portid = fake_portid,
	.free = conn_free,
};

int fake_transport(struct fake *f, const char *netns, struct transport *ret)
{
	struct fake_netns *ns;
	struct fake_conn *conn;

	fake_lock(f);
	ns = fake_ns(f, netns);
	fake_unlock(f);
	if (!ns)
		return -ENOENT;
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		fake_die("out of memory");
	conn->f = f;
	conn->netns = (unsigned int)(ns - f->s->ns);
	conn->events_fd = -1;
	fake_lock(f);
	conn->portid = ++f->s->next_portid;
	fake_unlock(f);
	for (enum bus b = 0; b < N_BUSES; b++)
		conn->bus[b].tail = &conn->bus[b].head;
	*ret = (struct transport){ .ops = &fake_ops, .ctx = conn };
	return 0;
}

struct kernel *fake_kernel(struct fake *f, const char *netns)
{
	struct transport t = { 0 };
	struct kernel *k;
	int r = fake_transport(f, netns, &t);

	if (r < 0)
		fake_die("namespace '%s': %s", netns, strerror(-r));
	r = kernel_new(t, netns, &k);
	if (r < 0)
		fake_die("kernel_new: %s", strerror(-r));
	return k;
}

int transport_open(const char *netns, struct netns_helper *helper, struct transport *ret, struct err *e)
{
	struct fake *f = fake_shared();
	char shown[4 * SHOWN_MAX + 8];
	int r;

	(void)helper;
	if (!f)
		return err_set(e, -ENXIO, "there is no fake kernel: SMCD_FAKE is not set");
	r = fake_transport(f, netns, ret);
	if (r < 0)
		return err_set(e, r, "there is no network namespace '%s' in %s", safe_str(shown, sizeof(shown), netns),
			       NETNS_DIR);
	return 0;
}
