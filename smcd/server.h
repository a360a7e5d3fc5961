/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - a varlink server on sd-event: one interface beside org.varlink.service. Names follow sd-varlink's
 * (connection_reply ~ sd_varlink_reply, ...), which exists from systemd 257 on and can take this file's place then.
 *
 * A connection has one call in flight: nothing more is read from it until the reply is written. No client can make the
 * server wait: sockets do not block, and everything a client can grow has a limit below.
 */
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "log.h"
#include "varlink.h"

#define SERVER_CONNECTIONS_MAX 512
#define SERVER_CONNECTIONS_PER_UID_MAX 64
#define SERVER_QUEUE_MAX VARLINK_REPLY_MAX /* bytes of replies not yet taken, of all connections together */
#define SERVER_PATIENCE_SEC 30 /* for the rest of a message, and for a reader to take some more of a reply */
#define SERVER_BACKLOG 1024    /* of a socket that smcd makes itself */

struct connection;

struct server_interface {
	const char *name;
	void (*describe)(struct text *t);
	/*
	 * A call of NAME.method. It answers with connection_reply() or connection_error(), once. A negative value
	 * (out of memory) closes the connection. method and params are borrowed; params may be NULL.
	 */
	int (*call)(struct connection *c, const char *method, struct json_object *params, void *userdata);
	void *userdata;
};

struct server_limits {
	size_t connections, connections_per_uid, queue;
	unsigned int patience_sec;
};

/* The limits above; tests have smaller ones. */
extern const struct server_limits server_limits_default;

struct server_config {
	const char *vendor, *product, *version, *url;
	struct server_interface interface;
	const struct logger *log;
	struct server_limits limits;
};

struct server;

/* config is copied, what it points to is borrowed. */
int server_new(sd_event *event, const struct server_config *config, struct server **ret);
/* Closes every connection; the listening descriptors are closed too. */
struct server *server_free(struct server *s);
/* Take over a listening AF_UNIX stream socket (on failure too). */
int server_listen_fd(struct server *s, int fd);

/* ---- inside a call ---- */

/* Both take params over (NULL: none). Nothing is sent to a oneway call. */
int connection_reply(struct connection *c, struct json_object *params);
int connection_error(struct connection *c, const char *error, struct json_object *params);
int connection_error_parameter(struct connection *c, const char *name);
uid_t connection_uid(const struct connection *c);
/* Is the peer's group, or one of its supplementary groups, this one? As it was when it connected. */
bool connection_in_group(const struct connection *c, gid_t gid);
