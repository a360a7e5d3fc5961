/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base.h - what every file uses: cleanup attributes, errors with context, growable text.
 *
 * Conventions of the whole tree: functions return 0, a positive value or -errno; outputs are named
 * ret_x, come last and are touched only on success; x_free() accepts NULL and returns NULL.
 * The library never prints and never logs: it fills a struct err, and the layer that gives up prints it.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define CLEANUP(fn) __attribute__((cleanup(fn)))
/* What lives until reboot: the socket, smcd's state, a layer of the policy. conf/smcd.service makes it. */
#define SMCD_RUN_DIR "/run/smcd"
/* The field-width limit of every name that comes from outside and goes into a message. */
#define SHOWN_MAX 64

static inline bool str_eq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static inline void free_ptr(void *p)
{
	free(*(void **)p);
}
#define CLEANUP_FREE CLEANUP(free_ptr)

void close_fd(int *fd); /* closes *fd unless negative, keeps errno, leaves -1 */
#define CLEANUP_FD CLEANUP(close_fd)

/*
 * An error on its way to a person: what was being done to what, and why it failed.
 * code is a negative errno (0: no error). ext is the kernel's extended ack, "" where it gave none.
 */
struct err {
	int code;
	char text[512];
	char ext[160];
};

/* Fill *e (may be NULL) and return code, so that `return err_set(e, -EINVAL, ...)` works. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF(3, 4);
/* Put "what: " in front of the text that is there already. Returns e->code. */
int err_prefix(struct err *e, const char *fmt, ...) PRINTF(2, 3);
/* "EINVAL" for 22 or -22; "E?" for what libc does not know. Static storage. */
const char *errno_name(int code);

/* Growable text. Zero-initialise; failed is sticky, so only the end has to be checked. */
struct text {
	char *s;
	size_t len, size;
	bool failed;
};

void text_done(struct text *t);
#define CLEANUP_TEXT CLEANUP(text_done)
void text_add(struct text *t, const char *fmt, ...) PRINTF(2, 3);
void text_add_mem(struct text *t, const void *p, size_t n);
/* The text, never NULL; owned by t. */
const char *text_str(const struct text *t);

/*
 * s with control characters, invalid UTF-8 and backslashes written as \xNN, cut at max bytes of s with "...":
 * for anything from outside that goes to a terminal or into a message.
 */
void text_add_safe(struct text *t, const char *s, size_t n, size_t max);
/* s as it is, with bytes that are no valid UTF-8 replaced by U+FFFD: for JSON, which escapes the rest itself. */
void text_add_utf8(struct text *t, const char *s, size_t n);
/* text_add_safe() of at most SHOWN_MAX bytes into a caller's buffer of the given size; returns buf. */
char *safe_str(char *buf, size_t size, const char *s);

/* The entry of names[n] closest to word (edit distance at most 2, or 3 for long words), or NULL. */
const char *closest_name(const char *word, const char *(*name)(size_t i, const void *arg), const void *arg, size_t n);

/* Read a whole file of at most max bytes into malloced, NUL-terminated memory. -EFBIG when larger. */
int read_whole_file(const char *path, size_t max, char **ret, size_t *ret_len);
/* Replace a file atomically (temporary file in its directory, fsync, rename). */
int write_whole_file(const char *path, const char *data, size_t len, unsigned int mode);
