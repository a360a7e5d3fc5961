/* SPDX-License-Identifier: GPL-2.0-or-later */
/* varlink.c - framing, checks of messages, and the client. See varlink.h. */
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "jsonpos.h"
#include "varlink.h"

_Static_assert(VARLINK_DEPTH_MAX <= JSON_DEPTH_MAX, "the scanner must reach as deep as varlink allows");
_Static_assert(VARLINK_MESSAGE_MAX <= JSON_TEXT_MAX, "the scanner must take a whole call");

#define CONNECT_TIMEOUT_SEC 5 /* a server that lives takes a connection at once, however long a call may last */
#define INPUT_SIZE_MIN 4096u
#define READ_CHUNK 16384u

/* What json-c lets pass (quotes of the wrong kind, NaN, control characters, \u0000, keys given twice) is caught here.
 */
static int scan_strictly(const char *text, size_t len)
{
	struct json_index *ix = NULL;
	struct json_pos at;
	int r;

	r = json_index_new(text, len, &ix, &at, NULL);
	json_index_free(ix);
	return r == -ENOMEM ? r : r < 0 ? -EBADMSG : 0;
}

int varlink_parse(const char *text, size_t len, struct json_object **ret)
{
	struct json_tokener *t;
	struct json_object *o;
	bool whole;
	int r;

	if (len > INT32_MAX || memchr(text, 0, len))
		return -EBADMSG;
	if (len <= VARLINK_MESSAGE_MAX) {
		r = scan_strictly(text, len);
		if (r < 0)
			return r;
	}

	t = json_tokener_new_ex(VARLINK_DEPTH_MAX);
	if (!t)
		return -ENOMEM;
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(t, text, (int)len);
	whole = json_tokener_get_error(t) == json_tokener_success && json_tokener_get_parse_end(t) <= len &&
		strspn(text + json_tokener_get_parse_end(t), " \t\r\n") == len - json_tokener_get_parse_end(t);
	json_tokener_free(t);
	if (!whole || !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		return -EBADMSG;
	}
	*ret = o;
	return 0;
}

const char *varlink_text(struct json_object *message, size_t *ret_len)
{
	return json_object_to_json_string_length(message, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
						 ret_len);
}

/* ---- framing ---- */

void varlink_input_done(struct varlink_input *in)
{
	free(in->buf);
	*in = (struct varlink_input){ .max = in->max };
}

size_t varlink_input_room(const struct varlink_input *in)
{
	return in->max + 1 - (in->end - in->start);
}

/* Make place for n bytes behind end: by moving what there is to the front, else by doubling. */
static int input_reserve(struct varlink_input *in, size_t n)
{
	size_t used = in->end - in->start, size = in->size ?: INPUT_SIZE_MIN;
	char *buf;

	if (in->size - in->end >= n)
		return 0;
	if (in->start > 0) {
		memmove(in->buf, in->buf + in->start, used);
		in->scanned -= in->start;
		in->start = 0;
		in->end = used;
	}
	if (in->size - used >= n)
		return 0;
	while (size < used + n)
		size *= 2;
	buf = realloc(in->buf, size);
	if (!buf)
		return -ENOMEM;
	in->buf = buf;
	in->size = size;
	return 0;
}

int varlink_input_add(struct varlink_input *in, const void *p, size_t n)
{
	int r;

	if (n > varlink_input_room(in))
		return -ENOBUFS;
	if (n == 0)
		return 0;
	r = input_reserve(in, n);
	if (r < 0)
		return r;
	memcpy(in->buf + in->end, p, n);
	in->end += n;
	return 0;
}

int varlink_input_read(struct varlink_input *in, int fd)
{
	char chunk[READ_CHUNK];
	size_t room = varlink_input_room(in);
	ssize_t n;
	int r;

	if (room == 0)
		return -ENOBUFS;
	do
		n = recv(fd, chunk, room < sizeof(chunk) ? room : sizeof(chunk), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	r = varlink_input_add(in, chunk, (size_t)n);
	return r < 0 ? r : (int)n;
}

int varlink_input_next(struct varlink_input *in, char **ret_text, size_t *ret_len)
{
	char *nul;

	if (in->start == in->end) {
		/* Nothing is waiting: an idle connection owns no memory. */
		varlink_input_done(in);
		return 0;
	}
	nul = memchr(in->buf + in->scanned, 0, in->end - in->scanned);
	if (!nul) {
		in->scanned = in->end;
		return in->end - in->start > in->max ? -EMSGSIZE : 0;
	}
	*ret_text = in->buf + in->start;
	*ret_len = (size_t)(nul - *ret_text);
	in->start += *ret_len + 1;
	in->scanned = in->start;
	return 1;
}

/* ---- a call ---- */

void varlink_request_done(struct varlink_request *r)
{
	json_object_put(r->message);
	*r = (struct varlink_request){ 0 };
}

static int request_member(struct varlink_request *r, const char *key, struct json_object *v)
{
	if (str_eq(key, "method") && json_object_is_type(v, json_type_string))
		r->method = json_object_get_string(v);
	else if (str_eq(key, "parameters") && json_object_is_type(v, json_type_object))
		r->params = v;
	else if (str_eq(key, "more") && json_object_is_type(v, json_type_boolean))
		r->more = json_object_get_boolean(v);
	else if (str_eq(key, "oneway") && json_object_is_type(v, json_type_boolean))
		r->oneway = json_object_get_boolean(v);
	else
		return -EBADMSG;
	return 0;
}

int varlink_request_parse(const char *text, size_t len, struct varlink_request *ret)
{
	CLEANUP_VARLINK_REQUEST struct varlink_request req = { 0 };
	int r;

	r = varlink_parse(text, len, &req.message);
	if (r < 0)
		return r;
	json_object_object_foreach(req.message, key, v)
	{
		r = request_member(&req, key, v);
		if (r < 0)
			return r;
	}
	if (!req.method || (req.more && req.oneway))
		return -EBADMSG;
	*ret = req;
	req.message = NULL;
	return 0;
}

/* ---- the client ---- */

struct varlink {
	int fd;
	unsigned int timeout_sec;
	struct varlink_input in;
	bool broken; /* an answer may still be on its way, or nonsense came: not to be used again */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

struct varlink *varlink_free(struct varlink *v)
{
	if (!v)
		return NULL;
	close_fd(&v->fd);
	varlink_input_done(&v->in);
	free(v);
	return NULL;
}

int varlink_connect(const char *path, unsigned int timeout_sec, struct varlink **ret, struct err *e)
{
	struct timeval patience = { .tv_sec = timeout_sec < CONNECT_TIMEOUT_SEC ? timeout_sec : CONNECT_TIMEOUT_SEC };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct varlink *v;
	CLEANUP_FD int fd = -1;

	if (strlen(path) >= sizeof(sa.sun_path))
		return err_set(e, -ENAMETOOLONG, "socket path is longer than %zu bytes", sizeof(sa.sun_path) - 1);
	memcpy(sa.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, -errno, "make a socket: %s", strerror(errno));
	/* connect(2) blocks while the backlog is full, and this is what ends it. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return err_set(e, -errno, "set the time limit: %s", strerror(errno));
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		int code = errno == EAGAIN ? -ETIMEDOUT : -errno;

		return err_set(e, code, "connect to smcd at %s: %s", path, strerror(-code));
	}
	v = calloc(1, sizeof(*v));
	if (!v)
		return err_set(e, -ENOMEM, "connect to smcd: out of memory");
	v->fd = fd;
	fd = -1;
	v->timeout_sec = timeout_sec;
	v->in.max = VARLINK_REPLY_MAX;
	*ret = v;
	return 0;
}

static int wait_for(int fd, short events, int64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		int64_t left = deadline - now_ms();
		int r;

		if (left <= 0)
			return -ETIMEDOUT;
		r = poll(&p, 1, left > INT32_MAX ? INT32_MAX : (int)left);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
	}
}

static int send_all(int fd, const char *p, size_t n, int64_t deadline)
{
	while (n > 0) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		int r;

		if (k >= 0) {
			p += k;
			n -= (size_t)k;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return -errno;
		r = wait_for(fd, POLLOUT, deadline);
		if (r < 0)
			return r;
	}
	return 0;
}

/* 0 and one message. The text lives until the next use of v. */
static int receive_message(struct varlink *v, int64_t deadline, char **ret_text, size_t *ret_len)
{
	for (;;) {
		int r = varlink_input_next(&v->in, ret_text, ret_len);

		if (r != 0)
			return r < 0 ? r : 0;
		r = wait_for(v->fd, POLLIN, deadline);
		if (r < 0)
			return r;
		r = varlink_input_read(&v->in, v->fd);
		if (r == 0)
			return -ECONNRESET;
		if (r < 0 && r != -EAGAIN)
			return r;
	}
}

static int call_text(const char *method, struct json_object *params, struct json_object **ret)
{
	struct json_object *call = json_object_new_object(), *name = json_object_new_string(method);

	if (!call || !name || json_object_object_add(call, "method", name) < 0) {
		json_object_put(name);
		json_object_put(call);
		return -ENOMEM;
	}
	if (params && json_object_object_add(call, "parameters", json_object_get(params)) < 0) {
		json_object_put(params);
		json_object_put(call);
		return -ENOMEM;
	}
	*ret = call;
	return 0;
}

/* Take a reply apart. -EBADMSG when it is none, or announces more replies than were asked for. */
static int reply_take(const char *text, size_t len, struct json_object **ret_params, char **ret_error)
{
	struct json_object *reply = NULL, *params = NULL, *error = NULL, *continues = NULL;
	char *name = NULL;
	int r;

	r = varlink_parse(text, len, &reply);
	if (r < 0)
		return r;
	r = -EBADMSG;
	if (json_object_object_get_ex(reply, "continues", &continues) && json_object_get_boolean(continues))
		goto out;
	if (json_object_object_get_ex(reply, "error", &error) && !json_object_is_type(error, json_type_string))
		goto out;
	if (json_object_object_get_ex(reply, "parameters", &params) && !json_object_is_type(params, json_type_object))
		goto out;
	r = -ENOMEM;
	if (error) {
		name = strdup(json_object_get_string(error));
		if (!name)
			goto out;
	}
	params = params ? json_object_get(params) : json_object_new_object();
	if (!params) {
		free(name);
		goto out;
	}
	*ret_params = params;
	*ret_error = name;
	r = 0;
out:
	json_object_put(reply);
	return r;
}

/* Text for the failures that errno's own words would explain badly. */
static const char *call_failure(int code)
{
	switch (code) {
	case -ETIMEDOUT:
		return "no answer in time";
	case -ECONNRESET:
	case -EPIPE:
		return "smcd closed the connection";
	case -EBADMSG:
		return "smcd's answer is no valid varlink reply";
	case -EMSGSIZE:
		return "smcd's answer is too long";
	default:
		return strerror(-code);
	}
}

int varlink_call(struct varlink *v, const char *method, struct json_object *params, struct json_object **ret_params,
		 char **ret_error, struct err *e)
{
	int64_t deadline = now_ms() + (int64_t)v->timeout_sec * 1000;
	struct json_object *call = NULL;
	const char *text;
	char *answer;
	size_t len;
	int r;

	if (v->broken || varlink_input_partial(&v->in))
		return err_set(e, -ECONNRESET, "call %s: the connection failed before", method);
	r = call_text(method, params, &call);
	if (r < 0)
		return err_set(e, r, "call %s: %s", method, strerror(-r));
	text = varlink_text(call, &len);
	if (!text || len > VARLINK_MESSAGE_MAX) {
		json_object_put(call);
		r = text ? -EMSGSIZE : -ENOMEM;
		return err_set(e, r, "call %s: %s", method,
			       text ? "the parameters are too long for a message" : strerror(-r));
	}
	r = send_all(v->fd, text, len + 1, deadline);
	json_object_put(call);
	if (r == 0)
		r = receive_message(v, deadline, &answer, &len);
	if (r == 0)
		r = reply_take(answer, len, ret_params, ret_error);
	if (r < 0) {
		v->broken = true;
		return err_set(e, r, "call %s: %s", method, call_failure(r));
	}
	return 0;
}
