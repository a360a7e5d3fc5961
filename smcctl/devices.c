// SPDX-License-Identifier: GPL-2.0-or-later
/* devices.c - devices show --rdma: the ports of this host's RDMA devices, those SMC does not use as well. */
#include "smcctl.h"
#include "rdma.h"

static struct json_object *gids_json(const struct rdma_port *p)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < p->n_gids; i++)
		json_object_array_add(array, json_object_new_string(p->gids[i]));
	return array;
}

static struct json_object *port_json(const struct rdma_port *p)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "device", json_object_new_string(p->device));
	json_object_object_add(o, "port", json_object_new_int64(p->port));
	json_object_object_add(o, "state", json_object_new_string(p->state));
	json_object_object_add(o, "link_layer", json_object_new_string(p->link_layer));
	json_object_object_add(o, "netdev", *p->netdev ? json_object_new_string(p->netdev) : NULL);
	json_object_object_add(o, "gids", gids_json(p));
	return o;
}

int ctl_add_rdma(struct ctl *c, struct json_object *reply)
{
	struct json_object *array;
	CLEANUP_FREE struct rdma_port *ports = NULL;
	struct err e = { 0 };
	size_t n = 0;

	if (rdma_ports_read(&ports, &n, &e) < 0)
		return ctl_fail_err(c, &e);
	array = json_object_new_array();
	for (size_t i = 0; i < n; i++)
		json_object_array_add(array, port_json(&ports[i]));
	json_object_object_add(reply, "rdma", array);
	return CTL_OK;
}

static void add_cell(struct table *t, struct json_object *o, const char *name)
{
	struct json_object *v = member(o, name);
	struct text *cell = table_cell(t);

	if (v)
		text_add_safe(cell, json_object_get_string(v), strlen(json_object_get_string(v)), SIZE_MAX);
}

/* The first GID: what a link of SMC-R v1 uses. --json has the others. */
static void add_gid(struct table *t, struct json_object *o)
{
	struct json_object *gids = member(o, "gids"), *first;
	struct text *cell = table_cell(t);

	first = gids && json_object_array_length(gids) ? json_object_array_get_idx(gids, 0) : NULL;
	if (first)
		text_add_safe(cell, json_object_get_string(first), strlen(json_object_get_string(first)), SIZE_MAX);
}

void rdma_text(struct json_object *ports, struct text *out)
{
	static const char *const titles[] = { "RDMA", "PORT", "STATE", "LINK-LAYER", "NETDEV", "GID" };
	static const char *const names[] = { "device", "port", "state", "link_layer", "netdev" };
	size_t n = ports ? json_object_array_length(ports) : 0;
	CLEANUP_TABLE struct table t = { 0 };

	if (!n) {
		text_add(out, "%sno RDMA devices on this host\n", out->len ? "\n" : "");
		return;
	}
	table_init(&t, ARRAY_SIZE(titles), titles, 1u << 1);
	for (size_t i = 0; i < n; i++) {
		for (size_t f = 0; f < ARRAY_SIZE(names); f++)
			add_cell(&t, json_object_array_get_idx(ports, i), names[f]);
		add_gid(&t, json_object_array_get_idx(ports, i));
	}
	if (out->len)
		text_add(out, "\n");
	table_render(&t, out);
}
