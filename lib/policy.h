/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy.h - the declared state: JSON files, validated wholly before the kernel is touched.
 *
 * {"version": 1, "knobs": {"wmem": "256K", "autocorking_size": 65536},
 *  "pnet": [{"id": "NETA", "interface": "eth0"}, {"id": "NETA", "rdma": "rxe0", "port": 1}],
 *  "ueid": ["PROD-EID-1"], "seid": true}
 *
 * Only "version" is required. "comment" (a string) may stand at the top and in a pnet entry. How a knob's value is
 * written depends on its type: see policy_notation(). A pnet entry names one target, an interface or an
 * RDMA device (which also stands for the PCI address of an ISM device); the kernel also takes both at once, but hides
 * then that one half failed (smc_pnet.c, smc_pnet_enter), and two entries say the same.
 */
#pragma once

#include "jsonpos.h"
#include "kernel.h"

#define POLICY_VERSION 1
#define POLICY_PROBLEMS_MAX 100    /* more are counted, not kept */
#define POLICY_FILES_MAX 1024      /* files of all layers */
#define POLICY_PNET_MAX (1u << 18) /* pnet entries of all layers */

/* Where a setting came from. The file name is owned by the policy. */
struct origin {
	const char *file;
	struct json_pos at;
};

struct policy_knob {
	struct value v; /* absent: the policy does not name this knob */
	struct origin from;
};

struct policy_pnet {
	struct pnet_entry entry;
	struct origin from;
};

struct policy_ueid {
	char eid[UEID_LEN_MAX + 1];
	struct origin from;
};

struct policy {
	struct policy_knob *knobs; /* n_knobs, by knob_index() */
	struct policy_pnet *pnet;
	size_t n_pnet;
	struct policy_ueid ueid[UEID_COUNT_MAX];
	size_t n_ueid;
	struct policy_knob seid; /* absent, 0 or 1 */
	char **files;            /* all that were read, in order of precedence, lowest first */
	size_t n_files;
	struct policy_store *store; /* what the above needs behind it */
};

/*
 * All that is wrong, each "FILE:LINE:COLUMN: POINTER: found ..., allowed ...". The pointer is left out where it would
 * be "" (the whole document) and for errors of syntax, the place where it is a file that cannot be read ("FILE:
 * ...").
 */
struct problems {
	char **text;
	size_t n, n_more; /* n_more: beyond POLICY_PROBLEMS_MAX */
};
void problems_done(struct problems *p);
#define CLEANUP_PROBLEMS CLEANUP(problems_done)

/* -ENOMEM. */
int policy_init(struct policy *p);
void policy_done(struct policy *p);
#define CLEANUP_POLICY CLEANUP(policy_done)

/* How a value is written in a policy and what is allowed: 'a whole number or a string like "64K", 16384..1073741823'.
 */
void policy_notation(const struct value_spec *spec, struct text *t);

/*
 * Lay one text over the policy: knobs and seid replace, pnet and ueid add. -EINVAL with problems filled, and then *p
 * is good for nothing but further texts, whose problems are found too; -ENOMEM. No printing, no kernel. An entry that a
 * lower layer has already is merged with it; one that contradicts it (a second ID for one interface, or ID or port for
 * one RDMA device) is a problem that names both places.
 */
int policy_add_text(struct policy *p, const char *file, const char *text, size_t len, struct problems *problems);
/* The same from a regular file, which not everybody may be able to write. */
int policy_add_file(struct policy *p, const char *file, struct problems *problems);

/*
 * The layers, lowest first: usr_dir/ *.json, main file, run_dir/ *.json, etc_dir/ *.json; inside a directory by name,
 * in byte order; names that begin with a dot are passed over. A file hides the files of the same name in lower
 * directories; a link to /dev/null does so too and says nothing itself. A layer that is absent is no error. The
 * problems of all files are collected. *ret is initialised here on success.
 */
struct policy_paths {
	const char *usr_dir, *main_file, *run_dir, *etc_dir; /* NULL: none */
};
#define POLICY_ETC_DIR SYSCONFDIR "/smcd/policy.d"
#define POLICY_SAVED_NAME "90-smcctl.json"
#define POLICY_SAVED_FILE POLICY_ETC_DIR "/" POLICY_SAVED_NAME /* what set --save writes */
extern const struct policy_paths policy_paths_default;         /* /usr/lib/smcd, SYSCONFDIR/smcd, /run/smcd */
int policy_load(const struct policy_paths *paths, struct policy *ret, struct problems *problems);

/*
 * Write knobs into the saved overrides (POLICY_SAVED_FILE), keeping what is there: absent values
 * remove the member. The file is replaced atomically, or made with mode 0644, and its directories with 0755; a link
 * to a file stays one. -EINVAL with problems when the file that is there is not valid; -EINVAL or -ERANGE for a value
 * that is not allowed; otherwise what the system said. Every failure fills e and leaves the file as it was.
 */
int policy_save_knobs(const char *file, const struct value *values /* n_knobs */, const bool *touched,
		      struct problems *problems, struct err *e);
