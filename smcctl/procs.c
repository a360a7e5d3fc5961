// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * procs.c - which process has a socket open: /proc/PID/fd holds links "socket:[INODE]". A socket that several processes
 * share is given to the lowest pid. What the caller may not look into stays absent.
 */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <unistd.h>

#include "smcctl.h"

struct owner {
	uint64_t inode;
	struct json_object *socket; /* borrowed */
	unsigned int pid;           /* 0: not found */
};

struct owners {
	struct owner *v;
	size_t n;
};

static const char *sock_field_name(enum sock_field f)
{
	return nouns[NOUN_SOCKETS].fields[f].name;
}

static int compare_inode(const void *a, const void *b)
{
	uint64_t x = ((const struct owner *)a)->inode, y = ((const struct owner *)b)->inode;

	return x < y ? -1 : x > y;
}

/* Every entry of this inode; dumps can hold one twice. */
static void claim(struct owners *o, uint64_t inode, unsigned int pid)
{
	struct owner key = { .inode = inode }, *found = bsearch(&key, o->v, o->n, sizeof(*o->v), compare_inode);

	if (!found)
		return;
	while (found > o->v && found[-1].inode == inode)
		found--;
	for (; found < o->v + o->n && found->inode == inode; found++)
		if (!found->pid || pid < found->pid)
			found->pid = pid;
}

static void scan_process(struct owners *o, const char *proc, const char *name)
{
	unsigned int pid = (unsigned int)strtoul(name, NULL, 10);
	char path[PATH_MAX];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s/fd", proc, name);
	dir = opendir(path);
	if (!dir)
		return; /* gone, or another user's */
	while ((d = readdir(dir))) {
		char target[64];
		unsigned long long inode;
		ssize_t n = readlinkat(dirfd(dir), d->d_name, target, sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = '\0';
		if (sscanf(target, "socket:[%llu]", &inode) == 1)
			claim(o, inode, pid);
	}
	closedir(dir);
}

static int name_process(const char *proc, const struct owner *o)
{
	CLEANUP_FREE char *comm = NULL;
	char path[PATH_MAX];
	struct json_object *pid, *program;
	size_t len;
	int r;

	pid = json_object_new_int64(o->pid);
	if (!pid)
		return -ENOMEM;
	if (json_object_object_add(o->socket, sock_field_name(SOCK_PID), pid) < 0) {
		json_object_put(pid);
		return -ENOMEM;
	}
	snprintf(path, sizeof(path), "%s/%u/comm", proc, o->pid);
	r = read_whole_file(path, 4096, &comm, &len);
	if (r < 0)
		return r == -ENOMEM ? r : 0; /* it has ended meanwhile */
	comm[strcspn(comm, "\n")] = '\0';
	program = json_object_new_string(comm);
	if (!program)
		return -ENOMEM;
	if (json_object_object_add(o->socket, sock_field_name(SOCK_PROGRAM), program) < 0) {
		json_object_put(program);
		return -ENOMEM;
	}
	return 0;
}

static int owners_of(struct json_object *sockets, struct owners *ret)
{
	size_t n = json_object_array_length(sockets);

	ret->v = calloc(n + 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(sockets, i);
		struct json_object *inode = member(o, sock_field_name(SOCK_INODE));
		int64_t u = inode ? json_object_get_int64(inode) : 0;

		/* 0: no process has it any more, the kernel is only closing it */
		if (u > 0)
			ret->v[ret->n++] = (struct owner){ .inode = (uint64_t)u, .socket = o };
	}
	qsort(ret->v, ret->n, sizeof(*ret->v), compare_inode);
	return 0;
}

int procs_resolve(const char *proc, struct json_object *sockets)
{
	struct owners owners = { 0 };
	struct dirent *d;
	DIR *dir;
	int r;

	r = owners_of(sockets, &owners);
	if (r < 0 || !owners.n) {
		free(owners.v);
		return r;
	}
	dir = opendir(proc);
	if (!dir) {
		r = -errno;
		free(owners.v);
		return r;
	}
	while ((d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			scan_process(&owners, proc, d->d_name);
	closedir(dir);
	for (size_t i = 0; i < owners.n && r == 0; i++)
		if (owners.v[i].pid)
			r = name_process(proc, &owners.v[i]);
	free(owners.v);
	return r;
}
