// SPDX-License-Identifier: GPL-2.0-or-later
#include "base.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

void close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	e->ext[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return code;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	CLEANUP_TEXT struct text t = { 0 };
	va_list ap;
	char what[sizeof(e->text)];

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	text_add(&t, "%s: %s", what, e->text);
	if (!t.failed)
		snprintf(e->text, sizeof(e->text), "%s", text_str(&t));
	return e->code;
}

const char *errno_name(int code)
{
	const char *name = strerrorname_np(code < 0 ? -code : code);

	return name ? name : "E?";
}

void text_done(struct text *t)
{
	free(t->s);
	*t = (struct text){ 0 };
}

static bool text_room(struct text *t, size_t n)
{
	size_t want = t->size ? t->size : 256;
	char *s;

	if (t->failed)
		return false;
	if (n > SIZE_MAX / 4 - t->len) {
		t->failed = true;
		return false;
	}
	while (want < t->len + n + 1)
		want *= 2;
	if (want == t->size)
		return true;
	s = realloc(t->s, want);
	if (!s) {
		t->failed = true;
		return false;
	}
	t->s = s;
	t->size = want;
	return true;
}

void text_add_mem(struct text *t, const void *p, size_t n)
{
	if (!text_room(t, n))
		return;
	if (n)
		memcpy(t->s + t->len, p, n);
	t->len += n;
	t->s[t->len] = '\0';
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!text_room(t, 128))
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->s + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	if (n < 0) {
		t->failed = true;
		return;
	}
	if ((size_t)n >= t->size - t->len) {
		if (!text_room(t, (size_t)n)) {
			t->s[t->len] = '\0';
			return;
		}
		va_start(ap, fmt);
		vsnprintf(t->s + t->len, t->size - t->len, fmt, ap);
		va_end(ap);
	}
	t->len += (size_t)n;
}

const char *text_str(const struct text *t)
{
	return t->s ? t->s : "";
}

/* Length of the well-formed UTF-8 sequence at s (RFC 3629), 0 where there is none. */
static size_t utf8_len(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

/* C0 and C1 control characters and DEL steer terminals; the bidirectional controls reorder what is read. */
static bool is_steering(const unsigned char *s, size_t len)
{
	if (len == 1)
		return s[0] < 0x20 || s[0] == 0x7f;
	if (len == 2)
		return s[0] == 0xc2 && s[1] < 0xa0;
	return len == 3 && s[0] == 0xe2 &&
	       ((s[1] == 0x80 && (s[2] >= 0xaa || s[2] == 0x8e || s[2] == 0x8f)) || (s[1] == 0x81 && s[2] >= 0xa6));
}

void text_add_safe(struct text *t, const char *str, size_t n, size_t max)
{
	const unsigned char *s = (const unsigned char *)str;
	size_t end = n < max ? n : max, i = 0;

	while (i < end) {
		size_t len = utf8_len(s + i, n - i);

		if (len && i + len > end)
			break;
		if (len && s[i] != '\\' && !is_steering(s + i, len)) {
			text_add_mem(t, s + i, len);
			i += len;
			continue;
		}
		for (size_t j = 0; j < (len ? len : 1); j++, i++)
			text_add(t, "\\x%02x", s[i]);
	}
	if (i < n)
		text_add_mem(t, "...", 3);
}

void text_add_utf8(struct text *t, const char *str, size_t n)
{
	const unsigned char *s = (const unsigned char *)str;

	for (size_t i = 0, len; i < n; i += len ? len : 1) {
		len = utf8_len(s + i, n - i);
		if (len)
			text_add_mem(t, s + i, len);
		else
			text_add_mem(t, "\xef\xbf\xbd", 3);
	}
}

char *safe_str(char *buf, size_t size, const char *s)
{
	CLEANUP_TEXT struct text t = { 0 };

	text_add_safe(&t, s, strlen(s), SHOWN_MAX);
	snprintf(buf, size, "%s", text_str(&t));
	return buf;
}

#define WORD_MAX 48

static size_t edit_distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1], n = strnlen(b, WORD_MAX), m = strnlen(a, WORD_MAX);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t change =
				diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
			size_t add = row[j - 1] + 1, drop = row[j] + 1;

			diagonal = row[j];
			row[j] = change < add ? (change < drop ? change : drop) : (add < drop ? add : drop);
		}
	}
	return row[n];
}

const char *closest_name(const char *word, const char *(*name)(size_t i, const void *arg), const void *arg, size_t n)
{
	size_t len = strlen(word), best = len > 8 ? 4 : len > 3 ? 3 : 2;
	const char *found = NULL;

	if (len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const char *candidate = name(i, arg);
		size_t d = candidate ? edit_distance(word, candidate) : best;

		if (d < best) {
			best = d;
			found = candidate;
		}
	}
	return found;
}

static int read_all(int fd, size_t max, char **ret, size_t *ret_len)
{
	CLEANUP_FREE char *buf = NULL;
	size_t len = 0, size = 4096;

	for (;;) {
		char *bigger = realloc(buf, size + 1);
		ssize_t n;

		if (!bigger)
			return -ENOMEM;
		buf = bigger;
		n = read(fd, buf + len, size - len);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
		if (len == size)
			size *= 2;
	}
	buf[len] = '\0';
	*ret = buf;
	*ret_len = len;
	buf = NULL;
	return 0;
}

int read_whole_file(const char *path, size_t max, char **ret, size_t *ret_len)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	return read_all(fd, max, ret, ret_len);
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A rename lasts over a power cut only when its directory is synced too. */
static int sync_dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	CLEANUP_FREE char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	CLEANUP_FD int fd = -1;

	if (!dir)
		return -ENOMEM;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Some file systems cannot sync a directory; the data itself is safe then. */
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

int write_whole_file(const char *path, const char *data, size_t len, unsigned int mode)
{
	CLEANUP_FREE char *tmp = NULL;
	CLEANUP_FD int fd = -1;
	int r;

	if (asprintf(&tmp, "%s.XXXXXX", path) < 0) {
		tmp = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = write_all(fd, data, len);
	if (r == 0 && fchmod(fd, mode) < 0)
		r = -errno;
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && rename(tmp, path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(tmp);
		return r;
	}
	return sync_dir_of(path);
}
