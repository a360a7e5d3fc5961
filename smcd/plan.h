/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.h - changes of the kernel that are made all or not at all: steps in a fixed order, put back in the reverse order
 * when one fails, and read back afterwards.
 */
#pragma once

#include "log.h"
#include "snapshot.h"
#include "state.h"

/* The order in which they are done: room is made before it is taken. */
enum step_kind {
	STEP_KNOB,
	STEP_PNET_DELETE,
	STEP_PNET_ADD,
	STEP_UEID_DELETE,
	STEP_UEID_ADD,
	STEP_SEID,
};

struct step {
	enum step_kind kind;
	const struct knob *knob;
	struct held from, to;   /* STEP_KNOB, STEP_SEID */
	struct pnet_entry pnet; /* STEP_PNET_*; one target */
	char eid[UEID_LEN_MAX + 1];
	char why[192]; /* "policy FILE:LINE", "override", ...: for the log */

	/* results */
	bool others;      /* somebody else did it in the meantime: not smcd's */
	bool unsupported; /* this kernel cannot; the rest goes on (STEP_SEID) */
	bool left;        /* the plan failed, and this could not be taken back */
};

struct plan {
	struct step *v;
	size_t n;
	/* The pnet table from before, sorted: the kernel deletes all entries of an ID, so more than a step's own can be
	 * lost. */
	struct pnet_entry *pnet_before;
	size_t n_pnet_before;
	/* Called when a step was done or taken back, or was tried to be; NULL. */
	void (*after_step)(void *ctx, const struct step *s);
	void *after_step_ctx;
};

void plan_done(struct plan *p);
#define CLEANUP_PLAN CLEANUP(plan_done)
/* A zeroed step of the kind at the end; NULL: out of memory. Steps are to be added in the order of their kinds. */
struct step *plan_add(struct plan *p, enum step_kind kind);
/* "set 'wmem' to 262144 (was 65536)" */
void step_text(const struct step *s, struct text *t);

/*
 * Do all of it, log each change, read back. Where the kernel can set several knobs at a time, all of the plan's are.
 * When a step fails the ones before it are undone and that is verified; e then names the step, and says so when
 * something could not be put back.
 */
int plan_run(struct plan *p, struct kernel *k, const struct logger *log, struct err *e);
/*
 * After a plan that failed: write down in s what it made and could not take back; its knobs in ns, which is one of s.
 * -ENOMEM.
 */
int plan_remember_left(const struct plan *p, struct state *s, struct state_netns *ns);
bool plan_left_something(const struct plan *p);

/* What the kernel has, read once: */
struct observed {
	struct knob_state *knobs; /* n_knobs */
	struct offered offered;   /* for knobs that the table does not know */
	struct list pnet, ueid;
	bool has_pnet, has_ueid; /* this kernel has such tables */
	struct value seid;       /* absent: this kernel has none */
};

enum observe { OBSERVE_KNOBS = 1, OBSERVE_PNET = 2, OBSERVE_EIDS = 4, OBSERVE_ALL = 7 };

/* what: which of it to read; the rest is as if the kernel had it not. -EAGAIN: a list could not be read whole. */
int observe(struct kernel *k, unsigned int what, struct observed *ret, struct err *e);
void observed_done(struct observed *o);
#define CLEANUP_OBSERVED CLEANUP(observed_done)
/* The pnet table, sorted for pnet_entry_search(); the caller frees it. */
int observed_pnet(const struct observed *o, struct pnet_entry **ret, size_t *ret_n, struct err *e);
bool observed_ueid(const struct observed *o, const char *eid);
