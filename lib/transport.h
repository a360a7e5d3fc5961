/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transport.h - the narrowest way to one namespace's kernel: sysctl files and netlink datagrams.
 *
 * Everything above (message building and parsing, retries, consistency of dumps) is the same code on the real kernel
 * and on the fake one of the tests; only this differs. transport_open() is provided by lib/transport_real.c in the
 * installed programs and by tests/fake/ in test binaries, chosen when linking: there is no switch at run time.
 */
#pragma once

#include "base.h"

/* Requests and answers by the first two; what the kernel tells by itself comes by the last one, which sends nothing. */
enum bus { BUS_GENL, BUS_DIAG, BUS_EVENTS, N_BUSES };

#define TRANSPORT_TIMEOUT_SEC 5          /* an answer that does not come in this time is -ETIMEDOUT */
#define TRANSPORT_DATAGRAM_MAX (1 << 20) /* larger datagrams are refused: -EMSGSIZE */

struct transport_ops {
	/* One read of net.smc.NAME without the newline; -ENOENT: this kernel has none. Returns the length. */
	int (*sysctl_read)(void *ctx, const char *name, char *buf, size_t size);
	/* One write; the kernel's errno as it is (EINVAL out of range, EPERM, EACCES, ENOENT). */
	int (*sysctl_write)(void *ctx, const char *name, const char *text);
	/* Send one netlink message. */
	int (*send)(void *ctx, enum bus bus, const void *msg, size_t len);
	/*
	 * Receive one datagram into malloced memory. May fail with anything recvmsg(2) can (-EINTR, -ENOBUFS, -EAGAIN
	 * when TRANSPORT_TIMEOUT_SEC passed; at once on BUS_EVENTS): the caller retries or reports.
	 */
	int (*recv)(void *ctx, enum bus bus, unsigned char **ret_buf, size_t *ret_len);
	/* Name of an interface index of this namespace (IFNAMSIZ bytes); -ENODEV. */
	int (*ifname)(void *ctx, unsigned int ifindex, char *ret_name);
	/* The namespace's number, which no other one has had or gets until reboot; -ENOPROTOOPT before Linux 5.14. */
	int (*netns_cookie)(void *ctx, uint64_t *ret);
	/* Have BUS_EVENTS get what goes to a multicast group of generic netlink, by its number. */
	int (*join)(void *ctx, uint32_t group);
	/* Becomes readable when something waits at BUS_EVENTS; to be polled only. -EBADF before join(). */
	int (*events_fd)(void *ctx);
	/* The netlink port by which the kernel names who sent a request on BUS_GENL; 0: none was sent yet. */
	int (*portid)(void *ctx, uint32_t *ret);
	void (*free)(void *ctx);
};

struct transport {
	const struct transport_ops *ops;
	void *ctx;
};

struct netns_helper; /* smcd's connection to the process that may enter namespaces; netns.h */

/*
 * Open the given namespace (a name in /run/netns; NULL or "": the caller's own). With a helper, it opens the
 * descriptors; without, the caller enters the namespace itself, opens them and comes back (needs CAP_SYS_ADMIN).
 * -ENOENT: no such namespace; -EPERM.
 */
int transport_open(const char *netns, struct netns_helper *helper, struct transport *ret, struct err *e);
