/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netns.h - a network namespace as a bundle of descriptors: two netlink sockets and the sysctl files under net/smc,
 * which stay bound to the namespace they were opened in. The helper process (smcd-netns, the only one with
 * CAP_SYS_ADMIN) opens them and passes them to smcd over SCM_RIGHTS.
 */
#pragma once

#include "knobs.h"
#include "transport.h"

#define NETNS_NAME_MAX 255
#define NETNS_DIR "/run/netns"

struct bundle {
	int nl[N_BUSES]; /* -1: could not be opened */
	int *sysctl; /* n_knobs, by knob_index(); O_RDWR where allowed, else O_RDONLY; -1: the kernel has none. Stale
			    (-ENOENT) once the module was removed: the bundle must be opened anew. */
};

void bundle_done(struct bundle *b);
/* A name without '/', not "." or "..", at most NETNS_NAME_MAX. */
int netns_name_check(const char *name, struct err *e);
int bundle_open(struct bundle *ret, struct err *e);                       /* in the caller's namespace */
int bundle_open_in(const char *netns, struct bundle *ret, struct err *e); /* enters /run/netns/NETNS and comes back */
/* The transport takes the bundle over (on failure too). own: interface indexes are those of the caller's namespace. */
int transport_from_bundle(struct bundle *b, bool own, struct transport *ret);
/* The caller's own namespace; its sysctl files are opened by path for each access, which survives a reload of the
 * module. */
int transport_own(struct transport *ret, struct err *e);

/* smcd's side: connect to the helper's socket, or start the helper program with one end of a socket pair. */
int netns_helper_connect(const char *path, struct netns_helper **ret, struct err *e);
int netns_helper_spawn(const char *program, struct netns_helper **ret, struct err *e);
struct netns_helper *netns_helper_free(struct netns_helper *h);
int netns_helper_open(struct netns_helper *h, const char *netns, struct bundle *ret, struct err *e);

/* The helper's side: serve one connection until it closes; checks the peer's uid against allowed (or root). */
int netns_serve(int fd, unsigned int allowed_uid);
