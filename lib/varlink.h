/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * varlink.h - framing and the client side of varlink: one JSON object and a NUL byte a message, over an AF_UNIX stream.
 * The server is smcd/server.c. Names stay close to sd-varlink's, so that it can take this file's place.
 */
#pragma once

#include <json-c/json.h>

#include "base.h"

#define VARLINK_MESSAGE_MAX (1u << 20) /* bytes of one call; replies of smcd may be larger, see below */
#define VARLINK_REPLY_MAX (256u << 20) /* what the client accepts from smcd */
#define VARLINK_DEPTH_MAX 32

/*
 * One message's text to an object: strict UTF-8, strict JSON, an object, no nesting beyond VARLINK_DEPTH_MAX, no key
 * twice, no \u0000. -EBADMSG otherwise. (Texts over VARLINK_MESSAGE_MAX, which only smcd itself sends, are checked by
 * json-c alone.)
 */
int varlink_parse(const char *text, size_t len, struct json_object **ret);
/* The text of a message, without the NUL that ends it on the wire; lives as long as the object is unchanged. */
const char *varlink_text(struct json_object *message, size_t *ret_len);

/* The standard errors of org.varlink.service. */
#define VARLINK_SERVICE "org.varlink.service"
#define VARLINK_ERROR_INTERFACE VARLINK_SERVICE ".InterfaceNotFound"          /* interface */
#define VARLINK_ERROR_METHOD VARLINK_SERVICE ".MethodNotFound"                /* method */
#define VARLINK_ERROR_NOT_IMPLEMENTED VARLINK_SERVICE ".MethodNotImplemented" /* method */
#define VARLINK_ERROR_PARAMETER VARLINK_SERVICE ".InvalidParameter"           /* parameter */
#define VARLINK_ERROR_PERMISSION VARLINK_SERVICE ".PermissionDenied"
#define VARLINK_ERROR_EXPECTED_MORE VARLINK_SERVICE ".ExpectedMore"

/* ---- framing: bytes in, messages out, however the stream was cut ---- */

/* Zero-initialise and set max: the longest message, in bytes without its NUL. */
struct varlink_input {
	char *buf;
	size_t start, end, size; /* start..end is not yet handed out */
	size_t scanned;          /* no NUL before here */
	size_t max;
};

void varlink_input_done(struct varlink_input *in);
/* How many bytes it takes now; 0: take messages out first (or the message is too long, as varlink_input_next() says).
 */
size_t varlink_input_room(const struct varlink_input *in);
/* -ENOBUFS when n is over the room. */
int varlink_input_add(struct varlink_input *in, const void *p, size_t n);
/* One recv(2): the number of bytes, 0 at the end of the stream, -EAGAIN, -errno. */
int varlink_input_read(struct varlink_input *in, int fd);
/*
 * 1 and the next message (NUL-terminated, valid until the next call on in), 0 when none is complete, -EMSGSIZE when one
 * is longer than max: the stream cannot be used any further.
 */
int varlink_input_next(struct varlink_input *in, char **ret_text, size_t *ret_len);
/* Has a message begun that is not complete? */
static inline bool varlink_input_partial(const struct varlink_input *in)
{
	return in->end > in->start;
}

/* ---- a call, as the server gets it ---- */

struct varlink_request {
	struct json_object *message; /* owns the rest */
	const char *method;
	struct json_object *params; /* NULL: none given */
	bool more, oneway;
};

/* -EBADMSG: no call (wrong type, unknown key, more together with oneway); the connection is to be closed. */
int varlink_request_parse(const char *text, size_t len, struct varlink_request *ret);
void varlink_request_done(struct varlink_request *r);
#define CLEANUP_VARLINK_REQUEST CLEANUP(varlink_request_done)

/* ---- the client ---- */

struct varlink;

/*
 * -ENOENT, -ECONNREFUSED: smcd is not running; -EACCES; -ETIMEDOUT: it takes no connection. Deadline in seconds for
 * each call; connecting waits 5 seconds at most.
 */
int varlink_connect(const char *path, unsigned int timeout_sec, struct varlink **ret, struct err *e);
struct varlink *varlink_free(struct varlink *v);
/*
 * Call a method (full name) and wait for its reply. params is borrowed, may be NULL. 0: *ret_params is the reply's
 * parameters (caller owns; an empty object where it had none), and *ret_error NULL or the error's full name (caller
 * frees). -errno: transport or protocol failed, e says how; the connection cannot be used again.
 */
int varlink_call(struct varlink *v, const char *method, struct json_object *params, struct json_object **ret_params,
		 char **ret_error, struct err *e);
