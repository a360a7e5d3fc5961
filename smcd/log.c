/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - see log.h. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "log.h"

#define LINE_MAX_BYTES 2048

/* systemd names the journal's stream by device and inode; the variable alone is inherited past redirections. */
static bool stderr_is_journal(void)
{
	const char *s = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return s && sscanf(s, "%llu:%llu", &dev, &ino) == 2 && fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev &&
	       st.st_ino == ino;
}

static int to_journal(int priority, const char *id, const char *text)
{
	if (id)
		return sd_journal_send("MESSAGE=%s", text, "PRIORITY=%d", priority, "MESSAGE_ID=%s", id, NULL);
	return sd_journal_send("MESSAGE=%s", text, "PRIORITY=%d", priority, NULL);
}

static void write_default(void *ctx, int priority, const char *id, const char *text)
{
	(void)ctx;
	if (stderr_is_journal() && to_journal(priority, id, text) >= 0)
		return;
	/* One write a line: a log that is a file and shared stays readable. Nothing is left to do when it fails. */
	dprintf(STDERR_FILENO, "smcd: %s\n", text);
}

const struct logger log_default = { .write = write_default };

void log_to(const struct logger *l, int priority, const char *id, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	l->write(l->ctx, priority, id, line);
}
