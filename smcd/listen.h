/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen.h - smcd's socket in the file system. */
#pragma once

#include <sys/types.h>

#include "base.h"

/* What was made, so that it and nothing else is taken away again. */
struct listen_socket {
	int fd;
	dev_t dev;
	ino_t ino;
};

/*
 * Listen at path, a socket of the mode and the group ((gid_t)-1: the process's own). A socket that nobody answers is
 * replaced; one that is answered (-EADDRINUSE) or another kind of file (-EEXIST) stays. Directories that are missing
 * are made, one level.
 */
int listen_create(const char *path, gid_t group, mode_t mode, int backlog, struct listen_socket *ret, struct err *e);
/* Take the file away if it is still the one that was made. */
void listen_remove(const char *path, const struct listen_socket *s);
/* mkdir(2) unless it is there. */
int make_dir(const char *path, mode_t mode, struct err *e);
