/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.h - where smcd's messages go: the journal with their MESSAGE_ID when standard error is the journal, else lines
 * "smcd: ..." on standard error.
 */
#pragma once

#include <syslog.h>

#include "base.h"

/* 128-bit ids of the events that scripts and the journal's catalog look for. */
#define LOG_ID_APPLIED "3c1f0f3f6a5b4f0c9d2be1a1a5b0d7e4"  /* a policy was applied */
#define LOG_ID_FAILED "a2b8f5d06c0e4c52b6d1f7e8093c4a15"   /* a policy was refused or could not be applied */
#define LOG_ID_OTHERS "0f9a4c7be2d84d1c8b6e35f7a1c2094d"   /* somebody else changed a knob or the pnet table */
#define LOG_ID_OVERRIDE "5e7d9c41b8f24a36a0c3d2e1f4b59687" /* a knob was set or reset at run time */

struct logger {
	/* id: one of LOG_ID_* or NULL. text is one line. */
	void (*write)(void *ctx, int priority, const char *id, const char *text);
	void *ctx;
};

extern const struct logger log_default;

void log_to(const struct logger *l, int priority, const char *id, const char *fmt, ...) PRINTF(4, 5);
#define log_info(l, ...) log_to(l, LOG_INFO, NULL, __VA_ARGS__)
#define log_warning(l, ...) log_to(l, LOG_WARNING, NULL, __VA_ARGS__)
#define log_error(l, ...) log_to(l, LOG_ERR, NULL, __VA_ARGS__)
