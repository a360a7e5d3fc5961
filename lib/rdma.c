// SPDX-License-Identifier: GPL-2.0-or-later
#include "rdma.h"

#include <infiniband/verbs.h>

static const char *const states[] = {
	[IBV_PORT_NOP] = "nop",     [IBV_PORT_DOWN] = "down",     [IBV_PORT_INIT] = "init",
	[IBV_PORT_ARMED] = "armed", [IBV_PORT_ACTIVE] = "active", [IBV_PORT_ACTIVE_DEFER] = "active-defer",
};

static const char *const link_layers[] = {
	[IBV_LINK_LAYER_UNSPECIFIED] = "unspecified",
	[IBV_LINK_LAYER_INFINIBAND] = "infiniband",
	[IBV_LINK_LAYER_ETHERNET] = "ethernet",
};

struct ports {
	struct rdma_port *p;
	size_t n;
};

static void ports_done(struct ports *l)
{
	free(l->p);
}

static void free_devices(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

static void close_device(struct ibv_context **c)
{
	if (*c)
		ibv_close_device(*c);
}

static void gid_text(const union ibv_gid *gid, char *buf, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(gid->raw) && n < size; i += 2)
		n += (size_t)snprintf(buf + n, size - n, "%s%02x%02x", i ? ":" : "", gid->raw[i], gid->raw[i + 1]);
}

static bool gid_is_set(const union ibv_gid *gid)
{
	for (size_t i = 0; i < sizeof(gid->raw); i++)
		if (gid->raw[i])
			return true;
	return false;
}

/* The first GIDs that are set, and the net device of the first that has one. */
static void read_gids(struct ibv_context *c, int n_table, struct rdma_port *p)
{
	for (int i = 0; i < n_table && p->n_gids < RDMA_GIDS_MAX; i++) {
		struct ibv_gid_entry entry;

		/* Unset places of the table are an error each. */
		if (ibv_query_gid_ex(c, p->port, (uint32_t)i, &entry, 0) != 0 || !gid_is_set(&entry.gid))
			continue;
		gid_text(&entry.gid, p->gids[p->n_gids++], sizeof(p->gids[0]));
		if (!p->netdev[0] && entry.ndev_ifindex && !if_indextoname(entry.ndev_ifindex, p->netdev))
			p->netdev[0] = '\0'; /* of another network namespace */
	}
}

static int read_port(struct ibv_context *c, unsigned int number, struct rdma_port *ret)
{
	struct rdma_port p = { .port = number };
	struct ibv_port_attr attr;
	int r = ibv_query_port(c, (uint8_t)number, &attr);

	if (r != 0)
		return r > 0 ? -r : r;
	snprintf(p.device, sizeof(p.device), "%s", ibv_get_device_name(c->device));
	p.state = (size_t)attr.state < ARRAY_SIZE(states) ? states[attr.state] : "unknown";
	p.link_layer = attr.link_layer < ARRAY_SIZE(link_layers) ? link_layers[attr.link_layer] : "unknown";
	read_gids(c, attr.gid_tbl_len, &p);
	*ret = p;
	return 0;
}

static int read_device(struct ibv_device *dev, struct ports *l, struct err *e)
{
	struct ibv_context *c CLEANUP(close_device) = ibv_open_device(dev);
	const char *name = ibv_get_device_name(dev);
	struct ibv_device_attr attr;
	struct rdma_port *p;
	int r;

	if (!c)
		return err_set(e, errno ? -errno : -EIO, "open RDMA device '%.*s': %s", SHOWN_MAX, name,
			       strerror(errno));
	r = ibv_query_device(c, &attr);
	if (r != 0)
		return err_set(e, -abs(r), "query RDMA device '%.*s': %s", SHOWN_MAX, name, strerror(abs(r)));
	if (attr.phys_port_cnt > RDMA_PORTS_MAX - l->n)
		return err_set(e, -E2BIG, "there are more than %d RDMA ports", RDMA_PORTS_MAX);
	p = reallocarray(l->p, l->n + attr.phys_port_cnt + 1, sizeof(*p));
	if (!p)
		return err_set(e, -ENOMEM, "out of memory");
	l->p = p;
	for (unsigned int i = 1; i <= attr.phys_port_cnt; i++) {
		r = read_port(c, i, &l->p[l->n]);
		if (r < 0)
			return err_set(e, r, "query port %u of RDMA device '%.*s': %s", i, SHOWN_MAX, name,
				       strerror(-r));
		l->n++;
	}
	return 0;
}

int rdma_ports_read(struct rdma_port **ret, size_t *ret_n, struct err *e)
{
	struct ports l CLEANUP(ports_done) = { 0 };
	int n = 0;
	struct ibv_device **devices CLEANUP(free_devices) = ibv_get_device_list(&n);

	/* ENOSYS: the kernel has no RDMA at all, so there are no devices. */
	if (!devices && errno != ENOSYS)
		return err_set(e, -errno, "list RDMA devices: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		int r = read_device(devices[i], &l, e);

		if (r < 0)
			return r;
	}
	*ret = l.p;
	*ret_n = l.n;
	l.p = NULL;
	return 0;
}
