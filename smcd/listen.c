/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen.c - see listen.h. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "listen.h"

int make_dir(const char *path, mode_t mode, struct err *e)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return err_set(e, -errno, "make directory %s: %s", path, strerror(errno));
	if (stat(path, &st) < 0)
		return err_set(e, -errno, "look at %s: %s", path, strerror(errno));
	return S_ISDIR(st.st_mode) ? 0 : err_set(e, -ENOTDIR, "%s is no directory", path);
}

/* 1: somebody listens there; 0: nobody. */
static int is_answered(const struct sockaddr_un *sa, struct err *e)
{
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return err_set(e, -errno, "make a socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0 || errno == EAGAIN)
		return 1; /* EAGAIN: its queue is full, so it has one */
	if (errno == ECONNREFUSED || errno == ENOENT)
		return 0;
	return err_set(e, -errno, "see whether %s is in use: %s", sa->sun_path, strerror(errno));
}

static int clear_stale(const struct sockaddr_un *sa, struct err *e)
{
	struct stat st;
	int r;

	if (lstat(sa->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : err_set(e, -errno, "look at %s: %s", sa->sun_path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, -EEXIST, "%s is there and is no socket: it is left alone", sa->sun_path);
	r = is_answered(sa, e);
	if (r < 0)
		return r;
	if (r > 0)
		return err_set(e, -EADDRINUSE, "another smcd answers at %s", sa->sun_path);
	if (unlink(sa->sun_path) < 0 && errno != ENOENT)
		return err_set(e, -errno, "remove the stale socket %s: %s", sa->sun_path, strerror(errno));
	return 0;
}

/* Where the group is right already, chown(2) is not even asked for: a sandbox may forbid it. */
static int give_to(const char *path, const struct stat *st, gid_t group, mode_t mode)
{
	if (group != (gid_t)-1 && st->st_gid != group && lchown(path, (uid_t)-1, group) < 0)
		return -1;
	return chmod(path, mode);
}

/* Nobody else can connect before owner and mode are right: the socket listens only then. */
static int bind_at(int fd, const struct sockaddr_un *sa, gid_t group, mode_t mode, int backlog,
		   struct listen_socket *ret, struct err *e)
{
	const char *path = sa->sun_path;
	mode_t old = umask(0177);
	int r = bind(fd, (const struct sockaddr *)sa, sizeof(*sa)) < 0 ? -errno : 0;
	struct stat st;

	umask(old);
	if (r < 0)
		return err_set(e, r, "make socket %s: %s", path, strerror(-r));
	if (lstat(path, &st) < 0)
		r = err_set(e, -errno, "look at %s: %s", path, strerror(errno));
	else if (give_to(path, &st, group, mode) < 0)
		r = err_set(e, -errno, "give socket %s its group and mode: %s", path, strerror(errno));
	else if (listen(fd, backlog) < 0)
		r = err_set(e, -errno, "listen at %s: %s", path, strerror(errno));
	if (r < 0) {
		unlink(path);
		return r;
	}
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	return 0;
}

/* Two that start at once take turns by this, so that neither takes the other's fresh socket for a stale one. */
static int lock_directory(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, -errno, "open directory %s: %s", dir, strerror(errno));
	if (flock(fd, LOCK_EX) < 0) {
		int r = err_set(e, -errno, "lock directory %s: %s", dir, strerror(errno));

		close(fd);
		return r;
	}
	return fd;
}

int listen_create(const char *path, gid_t group, mode_t mode, int backlog, struct listen_socket *ret, struct err *e)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const char *slash = strrchr(path, '/');
	CLEANUP_FREE char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	struct listen_socket made = { .fd = -1 };
	CLEANUP_FD int fd = -1;
	CLEANUP_FD int lock = -1;
	int r;

	if (!dir)
		return err_set(e, -ENOMEM, "out of memory");
	if (strlen(path) >= sizeof(sa.sun_path))
		return err_set(e, -ENAMETOOLONG, "socket path is longer than %zu bytes", sizeof(sa.sun_path) - 1);
	memcpy(sa.sun_path, path, strlen(path));
	r = make_dir(dir, 0755, e);
	if (r < 0)
		return r;
	lock = lock_directory(dir, e);
	if (lock < 0)
		return lock;
	r = clear_stale(&sa, e);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(e, -errno, "make a socket: %s", strerror(errno));
	r = bind_at(fd, &sa, group, mode, backlog, &made, e);
	if (r < 0)
		return r;
	made.fd = fd;
	fd = -1;
	*ret = made;
	return 0;
}

void listen_remove(const char *path, const struct listen_socket *s)
{
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino)
		unlink(path);
}
