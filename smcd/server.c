/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server.c - see server.h. */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

#define SEC_USEC UINT64_C(1000000)
#define LISTEN_PAUSE_USEC SEC_USEC /* when the system has no descriptors or memory for another connection */
#define LISTEN_FDS_MAX 4
#define ACCEPTS_AT_ONCE 16
#define NAME_SHOWN_MAX 255 /* of a method or interface name that is sent back in an error */

const struct server_limits server_limits_default = {
	.connections = SERVER_CONNECTIONS_MAX,
	.connections_per_uid = SERVER_CONNECTIONS_PER_UID_MAX,
	.queue = SERVER_QUEUE_MAX,
	.patience_sec = SERVER_PATIENCE_SEC,
};

struct server {
	sd_event *event;
	struct server_config config;
	sd_event_source *listen[LISTEN_FDS_MAX];
	size_t n_listen;
	sd_event_source *resume; /* ends a pause in accepting */
	struct connection *first;
	size_t n_connections;
	size_t queued; /* bytes in all output queues */
};

struct connection {
	struct server *server;
	struct connection *prev, *next;
	int fd;
	uid_t uid;
	gid_t gid, *groups;
	size_t n_groups;
	uint64_t used; /* when the last call came, CLOCK_MONOTONIC */

	sd_event_source *io;
	sd_event_source *deadline; /* while a message or a reply is under way */
	sd_event_source *again;    /* another whole message is in the buffer */

	struct varlink_input in;
	bool eof;
	char *out; /* what the socket did not take yet */
	size_t out_len, out_sent;

	/* The call being served. */
	bool oneway, answered;
	bool broken; /* writing failed: close when the call returns */
};

/* ---- the life of a connection ---- */

static void unref_source(sd_event_source **s)
{
	*s = sd_event_source_disable_unref(*s);
}

static void connection_drop_output(struct connection *c)
{
	c->server->queued -= c->out_len - c->out_sent;
	free(c->out);
	c->out = NULL;
	c->out_len = c->out_sent = 0;
}

static void connection_free(struct connection *c)
{
	struct server *s = c->server;

	unref_source(&c->io);
	unref_source(&c->deadline);
	unref_source(&c->again);
	connection_drop_output(c);
	varlink_input_done(&c->in);
	close_fd(&c->fd);
	free(c->groups);
	if (c->prev)
		c->prev->next = c->next;
	else
		s->first = c->next;
	if (c->next)
		c->next->prev = c->prev;
	s->n_connections--;
	free(c);
}

uid_t connection_uid(const struct connection *c)
{
	return c->uid;
}

bool connection_in_group(const struct connection *c, gid_t gid)
{
	if (c->gid == gid)
		return true;
	for (size_t i = 0; i < c->n_groups; i++)
		if (c->groups[i] == gid)
			return true;
	return false;
}

static int peer_groups(int fd, gid_t **ret, size_t *ret_n)
{
	socklen_t len = 0;
	gid_t *g = NULL;

	/* The first try tells the length. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) < 0 && errno != ERANGE)
		return -errno;
	if (len > 0) {
		g = malloc(len);
		if (!g)
			return -ENOMEM;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, g, &len) < 0) {
			free(g);
			return -errno;
		}
	}
	*ret = g;
	*ret_n = len / sizeof(*g);
	return 0;
}

static int dispatch_deadline(sd_event_source *src, uint64_t usec, void *userdata)
{
	struct connection *c = userdata;

	(void)src;
	(void)usec;
	log_warning(c->server->config.log, "closed a connection of uid %u: %s for %u s", (unsigned int)c->uid,
		    c->out ? "it took nothing of its reply" : "half a message and no more",
		    c->server->config.limits.patience_sec);
	connection_free(c);
	return 0;
}

/* Start (or, with restart, start anew) or stop the clock that ends a stuck connection. */
static int connection_set_deadline(struct connection *c, bool on, bool restart)
{
	uint64_t usec = c->server->config.limits.patience_sec * SEC_USEC;
	int enabled = SD_EVENT_OFF, r;

	if (!c->deadline) {
		if (!on)
			return 0;
		return sd_event_add_time_relative(c->server->event, &c->deadline, CLOCK_MONOTONIC, usec, SEC_USEC,
						  dispatch_deadline, c);
	}
	if (!on)
		return sd_event_source_set_enabled(c->deadline, SD_EVENT_OFF);
	r = sd_event_source_get_enabled(c->deadline, &enabled);
	if (r < 0)
		return r;
	if (enabled != SD_EVENT_OFF && !restart)
		return 0;
	r = sd_event_source_set_time_relative(c->deadline, usec);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(c->deadline, SD_EVENT_ONESHOT);
}

/* ---- output ---- */

/* Send what the socket takes: the number of bytes, or -errno. */
static ssize_t send_some(int fd, const char *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t k = send(fd, p + done, n - done, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (k >= 0)
			done += (size_t)k;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			break;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)done;
}

static int connection_flush(struct connection *c)
{
	ssize_t n;

	if (!c->out)
		return 0;
	n = send_some(c->fd, c->out + c->out_sent, c->out_len - c->out_sent);
	if (n < 0)
		return (int)n;
	c->out_sent += (size_t)n;
	c->server->queued -= (size_t)n;
	if (c->out_sent == c->out_len)
		connection_drop_output(c);
	return n > 0;
}

/* What the socket does not take at once is copied, so that the reply's objects can go. */
static int connection_write(struct connection *c, const char *p, size_t n)
{
	struct server *s = c->server;
	ssize_t sent = send_some(c->fd, p, n);

	if (sent < 0)
		return (int)sent;
	p += sent;
	n -= (size_t)sent;
	if (n == 0)
		return 0;
	if (n > s->config.limits.queue - s->queued) {
		log_warning(s->config.log, "closed a connection of uid %u: %zu bytes of replies wait for slow readers",
			    (unsigned int)c->uid, s->queued);
		return -ENOBUFS;
	}
	c->out = malloc(n);
	if (!c->out)
		return -ENOMEM;
	memcpy(c->out, p, n);
	c->out_len = n;
	c->out_sent = 0;
	s->queued += n;
	return 0;
}

/* Takes params over. */
static int connection_answer(struct connection *c, const char *error, struct json_object *params)
{
	struct json_object *reply = NULL, *name = NULL;
	const char *text;
	size_t len;
	int r = -ENOMEM;

	if (c->answered) {
		r = -EALREADY;
		goto out;
	}
	c->answered = true;
	if (c->oneway) {
		r = 0;
		goto out;
	}
	reply = json_object_new_object();
	if (!reply)
		goto out;
	if (error) {
		name = json_object_new_string(error);
		if (!name || json_object_object_add(reply, "error", name) < 0) {
			json_object_put(name);
			goto out;
		}
	}
	if (!params)
		params = json_object_new_object();
	if (!params || json_object_object_add(reply, "parameters", params) < 0)
		goto out;
	params = NULL;
	text = varlink_text(reply, &len);
	if (!text)
		goto out;
	r = connection_write(c, text, len + 1);
	c->broken = r < 0;
out:
	json_object_put(params);
	json_object_put(reply);
	return r;
}

int connection_reply(struct connection *c, struct json_object *params)
{
	return connection_answer(c, NULL, params);
}

int connection_error(struct connection *c, const char *error, struct json_object *params)
{
	return connection_answer(c, error, params);
}

/* {"key": value}, the value cut at NAME_SHOWN_MAX: a client gets its own megabyte back in no case. */
static struct json_object *one_string(const char *key, const char *value)
{
	struct json_object *o = json_object_new_object(), *v;
	size_t len = strlen(value);

	if (len > NAME_SHOWN_MAX) {
		len = NAME_SHOWN_MAX;
		while (len > 0 && ((unsigned char)value[len] & 0xc0) == 0x80)
			len--; /* not in the middle of a character */
	}
	v = json_object_new_string_len(value, (int)len);
	if (!o || !v || json_object_object_add(o, key, v) < 0) {
		json_object_put(o);
		json_object_put(v);
		return NULL;
	}
	return o;
}

static int answer_one(struct connection *c, const char *error, const char *key, const char *value)
{
	struct json_object *params = one_string(key, value);

	return params ? connection_error(c, error, params) : -ENOMEM;
}

int connection_error_parameter(struct connection *c, const char *name)
{
	return answer_one(c, VARLINK_ERROR_PARAMETER, "parameter", name);
}

/* ---- org.varlink.service ---- */

static const char service_description[] =
	"# What every varlink service says about itself.\n"
	"interface " VARLINK_SERVICE "\n"
	"\n"
	"# The service and the interfaces it has.\n"
	"method GetInfo() -> (\n"
	"  vendor: string,\n"
	"  product: string,\n"
	"  version: string,\n"
	"  url: string,\n"
	"  interfaces: []string\n"
	")\n"
	"\n"
	"# The description of one interface, in the language that this text is written in.\n"
	"method GetInterfaceDescription(interface: string) -> (description: string)\n"
	"\n"
	"# There is no such interface.\n"
	"error InterfaceNotFound (interface: string)\n"
	"\n"
	"# The interface has no such method.\n"
	"error MethodNotFound (method: string)\n"
	"\n"
	"# The method is declared, but this service does not serve it.\n"
	"error MethodNotImplemented (method: string)\n"
	"\n"
	"# A parameter is missing, unknown, of the wrong type or has a value that is not allowed.\n"
	"error InvalidParameter (parameter: string)\n"
	"\n"
	"# The caller may not do this.\n"
	"error PermissionDenied ()\n"
	"\n"
	"# The method answers with a stream and has to be called with 'more'.\n"
	"error ExpectedMore ()\n";

static int add_string(struct json_object *o, const char *key, const char *s)
{
	struct json_object *v = json_object_new_string(s);

	if (!v || json_object_object_add(o, key, v) < 0) {
		json_object_put(v);
		return -ENOMEM;
	}
	return 0;
}

static int array_add_string(struct json_object *a, const char *s)
{
	struct json_object *v = json_object_new_string(s);

	if (!v || json_object_array_add(a, v) < 0) {
		json_object_put(v);
		return -ENOMEM;
	}
	return 0;
}

static int service_info(struct connection *c)
{
	const struct server_config *cfg = &c->server->config;
	struct json_object *o = json_object_new_object(), *names = json_object_new_array();

	if (!o || !names || json_object_object_add(o, "interfaces", names) < 0) {
		json_object_put(names);
		json_object_put(o);
		return -ENOMEM;
	}
	if (add_string(o, "vendor", cfg->vendor) < 0 || add_string(o, "product", cfg->product) < 0 ||
	    add_string(o, "version", cfg->version) < 0 || add_string(o, "url", cfg->url) < 0 ||
	    array_add_string(names, cfg->interface.name) < 0 || array_add_string(names, VARLINK_SERVICE) < 0) {
		json_object_put(o);
		return -ENOMEM;
	}
	return connection_reply(c, o);
}

static int service_describe(struct connection *c, const char *name)
{
	CLEANUP_TEXT struct text t = { 0 };
	struct json_object *o;

	if (str_eq(name, VARLINK_SERVICE))
		text_add(&t, "%s", service_description);
	else if (str_eq(name, c->server->config.interface.name))
		c->server->config.interface.describe(&t);
	else
		return answer_one(c, VARLINK_ERROR_INTERFACE, "interface", name);
	o = json_object_new_object();
	if (t.failed || !o || add_string(o, "description", text_str(&t)) < 0) {
		json_object_put(o);
		return -ENOMEM;
	}
	return connection_reply(c, o);
}

static int service_call(struct connection *c, const char *method, struct json_object *params)
{
	bool describe = str_eq(method, "GetInterfaceDescription");
	struct json_object *interface = NULL;

	if (!describe && !str_eq(method, "GetInfo"))
		return -ENOENT;
	if (params) {
		json_object_object_foreach(params, key, v)
		{
			if (!describe || !str_eq(key, "interface") || !json_object_is_type(v, json_type_string))
				return connection_error_parameter(c, key);
			interface = v;
		}
	}
	if (!describe)
		return service_info(c);
	if (!interface)
		return connection_error_parameter(c, "interface");
	return service_describe(c, json_object_get_string(interface));
}

/* ---- calls ---- */

static int serve(struct connection *c, const struct varlink_request *req)
{
	const struct server_interface *i = &c->server->config.interface;
	const char *dot = strrchr(req->method, '.');
	char name[NAME_SHOWN_MAX + 1];
	int r;

	if (!dot || dot == req->method || !dot[1])
		return connection_error_parameter(c, "method");
	if ((size_t)(dot - req->method) >= sizeof(name))
		return connection_error_parameter(c, "method");
	memcpy(name, req->method, (size_t)(dot - req->method));
	name[dot - req->method] = 0;

	if (str_eq(name, VARLINK_SERVICE))
		r = service_call(c, dot + 1, req->params);
	else if (str_eq(name, i->name))
		r = i->call(c, dot + 1, req->params, i->userdata);
	else
		return answer_one(c, VARLINK_ERROR_INTERFACE, "interface", name);
	if (r == -ENOENT && !c->answered)
		return answer_one(c, VARLINK_ERROR_METHOD, "method", dot + 1);
	return r;
}

/* 0 or, when the connection cannot go on, -errno. */
static int connection_handle(struct connection *c, const char *text, size_t len)
{
	CLEANUP_VARLINK_REQUEST struct varlink_request req = { 0 };
	int r;

	r = varlink_request_parse(text, len, &req);
	if (r < 0)
		return r;
	sd_event_now(c->server->event, CLOCK_MONOTONIC, &c->used);
	c->oneway = req.oneway;
	c->answered = false;
	c->broken = false;
	r = serve(c, &req);
	if (r < 0 || c->broken)
		return r < 0 ? r : -EPIPE;
	return c->answered ? 0 : -ENOMSG;
}

static int dispatch_again(sd_event_source *src, void *userdata);

/*
 * A new source each time: one that is enabled again keeps its old place in the queue of what is pending, before all
 * others, and a client with many calls in one go would have smcd for itself until they are done.
 */
static int connection_call_again(struct connection *c)
{
	c->again = sd_event_source_unref(c->again);
	return sd_event_add_defer(c->server->event, &c->again, dispatch_again, c);
}

/*
 * Serve at most one call (others want to be served too), then say what is waited for. 0, or -errno: close. While a
 * reply is not written, nothing is read and no call is begun.
 */
static int connection_pump(struct connection *c)
{
	char *text;
	size_t len;
	int r;

	if (c->out)
		return sd_event_source_set_io_events(c->io, EPOLLOUT);
	r = varlink_input_next(&c->in, &text, &len);
	if (r < 0)
		return r;
	if (r > 0) {
		r = connection_handle(c, text, len);
		if (r < 0)
			return r;
		r = connection_set_deadline(c, c->out, true);
		if (r < 0)
			return r;
		if (c->out)
			return sd_event_source_set_io_events(c->io, EPOLLOUT);
		r = sd_event_source_set_io_events(c->io, 0);
		return r < 0 ? r : connection_call_again(c);
	}
	if (c->eof)
		return -ECONNRESET;
	r = connection_set_deadline(c, varlink_input_partial(&c->in), false);
	if (r < 0)
		return r;
	return sd_event_source_set_io_events(c->io, EPOLLIN);
}

static int dispatch_again(sd_event_source *src, void *userdata)
{
	struct connection *c = userdata;

	(void)src;
	if (connection_pump(c) < 0)
		connection_free(c);
	return 0;
}

static int connection_receive(struct connection *c)
{
	int r;

	r = varlink_input_read(&c->in, c->fd);
	if (r == -EAGAIN)
		return 0;
	c->eof = r == 0;
	return r < 0 ? r : 0;
}

static int connection_io(struct connection *c, uint32_t events)
{
	int r;

	if (events & EPOLLERR)
		return -EPIPE;
	if (events & EPOLLOUT) {
		r = connection_flush(c);
		if (r < 0)
			return r;
		r = connection_set_deadline(c, c->out, r > 0);
		if (r < 0)
			return r;
	} else if (events & EPOLLIN) {
		r = connection_receive(c);
		if (r < 0)
			return r;
	} else {
		/* Hung up while calls of its own wait in the buffer: connection_pump() is due anyway and gets to the
		 * end. */
		return 0;
	}
	return connection_pump(c);
}

static int dispatch_io(sd_event_source *src, int fd, uint32_t events, void *userdata)
{
	struct connection *c = userdata;

	(void)src;
	(void)fd;
	if (connection_io(c, events) < 0)
		connection_free(c);
	return 0;
}

/* ---- accepting ---- */

static size_t count_of_uid(const struct server *s, uid_t uid)
{
	size_t n = 0;

	for (const struct connection *c = s->first; c; c = c->next)
		n += c->uid == uid;
	return n;
}

/* Of one user's connections, the one that has been idle for longest; NULL when all have a reply under way. */
static struct connection *longest_idle(const struct server *s, uid_t uid)
{
	struct connection *found = NULL;

	for (struct connection *c = s->first; c; c = c->next)
		if (c->uid == uid && !c->out && (!found || c->used < found->used))
			found = c;
	return found;
}

static uid_t greediest_uid(const struct server *s)
{
	uid_t uid = s->first->uid;
	size_t most = 0;

	for (const struct connection *c = s->first; c; c = c->next) {
		size_t n = count_of_uid(s, c->uid);

		if (n > most) {
			most = n;
			uid = c->uid;
		}
	}
	return uid;
}

/*
 * A user at the limit loses the connection that was idle for longest, and so does the user with most connections when
 * there are too many in all: whoever leaves connections open keeps nobody out. -EUSERS: no place could be made.
 */
static int make_room(struct server *s, uid_t uid)
{
	struct connection *victim;

	if (count_of_uid(s, uid) >= s->config.limits.connections_per_uid)
		victim = longest_idle(s, uid);
	else if (s->n_connections >= s->config.limits.connections)
		victim = longest_idle(s, greediest_uid(s));
	else
		return 0;
	if (!victim)
		return -EUSERS;
	connection_free(victim);
	return 0;
}

static int connection_new(struct server *s, int *fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	struct connection *c;
	int r;

	if (getsockopt(*fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	r = make_room(s, cred.uid);
	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->server = s;
	c->fd = *fd;
	*fd = -1;
	c->uid = cred.uid;
	c->gid = cred.gid;
	c->in.max = VARLINK_MESSAGE_MAX;
	c->next = s->first;
	if (s->first)
		s->first->prev = c;
	s->first = c;
	s->n_connections++;
	sd_event_now(s->event, CLOCK_MONOTONIC, &c->used);
	r = peer_groups(c->fd, &c->groups, &c->n_groups);
	if (r >= 0)
		r = sd_event_add_io(s->event, &c->io, c->fd, EPOLLIN, dispatch_io, c);
	if (r < 0)
		connection_free(c);
	return r;
}

static int set_listening(struct server *s, bool on)
{
	for (size_t i = 0; i < s->n_listen; i++) {
		int r = sd_event_source_set_enabled(s->listen[i], on ? SD_EVENT_ON : SD_EVENT_OFF);

		if (r < 0)
			return r;
	}
	return 0;
}

static int dispatch_resume(sd_event_source *src, uint64_t usec, void *userdata)
{
	(void)src;
	(void)usec;
	return set_listening(userdata, true);
}

/* Without a pause the loop would spin on a listening socket that stays readable. */
static int pause_listening(struct server *s, int reason)
{
	int r;

	log_warning(s->config.log, "cannot accept connections now: %s", strerror(-reason));
	r = set_listening(s, false);
	if (r < 0)
		return r;
	r = sd_event_source_set_time_relative(s->resume, LISTEN_PAUSE_USEC);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(s->resume, SD_EVENT_ONESHOT);
}

static int dispatch_listen(sd_event_source *src, int listen_fd, uint32_t events, void *userdata)
{
	struct server *s = userdata;

	(void)src;
	(void)events;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		CLEANUP_FD int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		int r;

		if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
			return pause_listening(s, -errno);
		if (fd < 0)
			return 0; /* EAGAIN: no more; ECONNABORTED and the like: that one is gone */
		r = connection_new(s, &fd);
		if (r < 0)
			log_warning(s->config.log, "refused a connection: %s", strerror(-r));
	}
	return 0;
}

int server_listen_fd(struct server *s, int fd)
{
	CLEANUP_FD int owned = fd;
	sd_event_source *src = NULL;
	int r;

	if (s->n_listen == LISTEN_FDS_MAX)
		return -ENOBUFS;
	/* A client that hung up in the queue must not make accept(2) wait for another one. */
	if (fcntl(owned, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	r = sd_event_add_io(s->event, &src, owned, EPOLLIN, dispatch_listen, s);
	if (r < 0)
		return r;
	r = sd_event_source_set_io_fd_own(src, 1);
	if (r < 0) {
		sd_event_source_disable_unref(src);
		return r;
	}
	owned = -1;
	s->listen[s->n_listen++] = src;
	return 0;
}

struct server *server_free(struct server *s)
{
	if (!s)
		return NULL;
	while (s->first)
		connection_free(s->first);
	for (size_t i = 0; i < s->n_listen; i++)
		unref_source(&s->listen[i]);
	unref_source(&s->resume);
	sd_event_unref(s->event);
	free(s);
	return NULL;
}

int server_new(sd_event *event, const struct server_config *config, struct server **ret)
{
	struct server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->event = sd_event_ref(event);
	s->config = *config;
	/* Made now: when it is needed there may be no descriptor for a clock any more. */
	r = sd_event_add_time(event, &s->resume, CLOCK_MONOTONIC, UINT64_MAX, 0, dispatch_resume, s);
	if (r >= 0)
		r = sd_event_source_set_enabled(s->resume, SD_EVENT_OFF);
	if (r < 0) {
		server_free(s);
		return r;
	}
	*ret = s;
	return 0;
}
