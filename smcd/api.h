/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * api.h - org.smcd.Manager: the table of methods (lib/methods.h) served by the manager. Who may call, which parameters
 * are taken and what they look like come from the table.
 */
#pragma once

#include "manager.h"
#include "methods.h"
#include "server.h"

#define NO_GROUP ((gid_t)-1)

struct api {
	struct manager *manager;
	/* Root and smcd's own user may do all; these groups may besides. NO_GROUP: none. */
	gid_t readers, admins;
	/* Reload with what has to go on around it (sd_notify). */
	int (*reload)(void *ctx, struct failure *f);
	void *reload_ctx;
};

/* The interface for server_new(); api is borrowed. */
struct server_interface api_interface(struct api *api);
/* Are the parameters what the method's table says? NULL, or the name of one that is not (borrowed from either). */
const char *api_check_params(const struct method *m, struct json_object *params);
