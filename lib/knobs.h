/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knobs.h - the table of everything about SMC that can be set.
 *
 * One row is the only home of a knob: set and show, policy validation, JSON Schema, completion, help and manual
 * sections, smc_knob_* metrics and the tests' loop over ranges come from it. To add a knob, add a row.
 */
#pragma once

#include "value.h"

enum knob_effect {
	EFFECT_AT_ONCE,
	EFFECT_NEW_SOCKETS,
	EFFECT_NEW_LISTENERS,
	EFFECT_NEW_LINK_GROUPS,
	EFFECT_NEW_HANDSHAKES,
	EFFECT_UNKNOWN, /* the kernel says something that this version does not know */
};

enum knob_scope {
	SCOPE_NETNS, /* each network namespace has its own */
	SCOPE_HOST,
	SCOPE_RDMA_DEVICE, /* of the namespace that the RDMA devices belong to */
	SCOPE_UNKNOWN,     /* the kernel says something that this version does not know */
};

/* Generic-netlink commands that serve a knob where the kernel has no sysctl for it. */
enum knob_genl {
	KNOB_GENL_NONE = 0,
	KNOB_GENL_HS_LIMITATION, /* SMC_NETLINK_{DUMP,ENABLE,DISABLE}_HS_LIMITATION */
};

/* What is said of a knob that only the kernel describes. */
#define KNOB_DOC_UNKNOWN "newer than this program: as the kernel describes it"
#define KNOB_STRING_MAX 15 /* characters of the value of any knob that is a name */

struct knob {
	const char *name;
	struct value_spec spec;
	struct value def; /* the kernel's default; absent where it depends on the kernel */
	enum knob_scope scope;
	enum knob_effect effect;
	const char *sysctl; /* file under /proc/sys/net/smc, preferred; NULL: none */
	enum knob_genl genl;
	bool is_buffer;         /* a buffer size: the kernel rounds it, see knob_expected() */
	const char *range_note; /* what narrows the range on some kernels; NULL: nothing */
	const char *since;      /* for the manual only; features are probed for */
	const char *doc;        /* one line */
};

extern const struct knob knobs[];
extern const size_t n_knobs;

/* NULL when there is none. */
const struct knob *knob_find(const char *name);
const char *knob_suggest(const char *misspelt); /* NULL when nothing is close */
/* Is it a row of the table (and not one that the kernel has described)? */
static inline bool knob_in_table(const struct knob *k)
{
	return k >= knobs && k < knobs + n_knobs;
}
static inline size_t knob_index(const struct knob *k) /* of a row of the table */
{
	return (size_t)(k - knobs);
}

const char *knob_effect_name(enum knob_effect e);
const char *knob_scope_name(enum knob_scope s);

enum smc_tech { TECH_SMCD, TECH_SMCR, N_TECHS };
extern const char *const tech_names[N_TECHS + 1]; /* "smcd", "smcr", NULL */
static inline const char *tech_name(enum smc_tech t)
{
	return tech_names[t];
}

/* By the kernel's number, NULL at the end: of cork_mode; of smcr_buf_type and of link groups. */
extern const char *const cork_mode_names[4];
extern const char *const buf_type_names[4];

/*
 * What a socket's buffer of the given wmem or rmem becomes: rounded up to 16 KiB x 2^n and capped (1 MiB for SMC-D,
 * 512 MiB for SMC-R; net/smc/smc_core.c, smc_compress_bufsize and __smc_buf_create). Expected, not certain: SMC-R caps
 * at 512 KiB before Linux 6.5 or so, and smaller sizes are tried when memory is short.
 */
uint64_t knob_expected(uint64_t bytes, enum smc_tech tech);
