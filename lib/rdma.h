/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma.h - RDMA devices and their ports by libibverbs, for the tools only: the daemon's sandbox hides /dev/infiniband,
 * and it takes what SMC knows of devices from netlink.
 */
#pragma once

#include "base.h"

#include <net/if.h>

#define RDMA_NAME_MAX 63
#define RDMA_GIDS_MAX 4     /* the first ones of a port that are set */
#define RDMA_PORTS_MAX 1024 /* in all */

struct rdma_port {
	char device[RDMA_NAME_MAX + 1];
	unsigned int port;
	const char *state;            /* "down", "init", "armed", "active", ...; static storage */
	const char *link_layer;       /* "infiniband", "ethernet", "unspecified"; static storage */
	char netdev[IF_NAMESIZE];     /* "" where none is known in this network namespace */
	char gids[RDMA_GIDS_MAX][40]; /* as SMC writes them: eight groups of four hexadecimal digits */
	size_t n_gids;
};

/*
 * All ports of all devices, malloced (free(*ret)); *ret_n may be 0. -EACCES or -EPERM when a device could not be opened
 * (rights to /dev/infiniband/uverbs*); -E2BIG over RDMA_PORTS_MAX.
 */
int rdma_ports_read(struct rdma_port **ret, size_t *ret_n, struct err *e);
