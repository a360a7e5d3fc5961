/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reasons.h - the table of fallback and decline codes (net/smc/smc_clc.h, SMC_CLC_DECL_*; RFC 7609 for the classes).
 */
#pragma once

#include "base.h"

struct reason {
	uint32_t code;
	const char *name;    /* "NOSMCDEV" */
	const char *meaning; /* what happened */
	const char *action;  /* what an administrator does about it */
};

extern const struct reason reasons[];
extern const size_t n_reasons;

const struct reason *reason_find(uint32_t code); /* NULL when unknown */
/*
 * Accepts 0x03030000, 03030000, 3030000 (hexadecimal always: the kernel prints it so), NOSMCDEV in any case, with or
 * without SMC_CLC_DECL_. -EINVAL when it is neither; an unknown but well-formed code gives 0 and *ret_known = NULL.
 */
int reason_parse(const char *s, uint32_t *ret_code, const struct reason **ret_known, struct err *e);
