/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * manager.h - from policy to kernel: what smcd does, without the event loop and the protocol.
 *
 * Applying a policy: load and validate wholly, compare with the kernel, change what differs, read back. What smcd made
 * and the policy no longer names is undone; what others made stays. A knob's value comes from its override (set at run
 * time), else from the policy, else it is what it was before smcd touched it.
 */
#pragma once

#include <stdarg.h>

#include "plan.h"
#include "policy.h"

#define MANAGER_UNSUPPORTED_MAX 64 /* names kept of settings that this kernel lacks: more than there are */
#define NETNS_HELPER_SOCKET "/run/smcd-netns.socket" /* where smcd-netns.socket listens */

struct manager_config {
	struct policy_paths paths;
	bool main_file_required; /* it was named on the command line: its absence is a problem of the policy */
	const char *state_dir;
	const char *boot_id;
	/* A socket or a program. NULL: NETNS_HELPER_SOCKET if it is there, else smcd enters namespaces itself (as root
	 * it can). */
	const char *netns_helper;
	const struct logger *log;
	uint64_t (*now_usec)(void); /* CLOCK_REALTIME */
};

/* Why a request was refused, for the protocol's errors. */
enum fail_kind {
	FAIL_KERNEL, /* e.code, and all that is not below */
	FAIL_NO_SUCH_KNOB,
	FAIL_OUT_OF_RANGE,
	FAIL_UNSUPPORTED,
	FAIL_NO_SUCH_NETNS,
	FAIL_PARAMETER,      /* name: the parameter */
	FAIL_POLICY_INVALID, /* the problems are the manager's */
};

struct failure {
	enum fail_kind kind;
	char name[256]; /* the knob, namespace or parameter that it is about, made safe */
	char allowed[160];
	const char *suggestion; /* FAIL_NO_SUCH_KNOB: static, or NULL */
	struct err e;
};

/* What became of the policy. */
enum policy_outcome {
	POLICY_NOT_YET,
	POLICY_APPLIED,
	POLICY_INVALID, /* see problems; the one before is in force */
	POLICY_FAILED,  /* valid, but the kernel refused: all is as before */
	POLICY_NO_SMC,  /* valid, but the kernel has no SMC: waits for a reload */
};

struct manager {
	struct manager_config config;
	/* Called when smcd has changed these entries (without an id: any) of its own namespace's pnet table; NULL. */
	void (*pnet_changed)(void *ctx, const struct pnet_entry *own, size_t n);
	void *pnet_changed_ctx;
	struct kernel *k; /* smcd's own namespace */
	struct features features;
	struct policy policy; /* in force */
	/* All layers as they were when knobs were saved last, and the knobs that were since the policy was loaded. */
	struct policy saved;
	bool *saved_since; /* n_knobs */
	struct state state;
	char *state_written; /* the text of state.json as it is on the disk */

	enum policy_outcome outcome;
	struct problems problems;                         /* of the last load */
	char message[768];                                /* one line about the outcome */
	const char *unsupported[MANAGER_UNSUPPORTED_MAX]; /* settings of the policy that this kernel lacks */
	size_t n_unsupported;
	uint64_t last_apply_usec; /* CLOCK_REALTIME of the last success; 0: none */
	uint64_t generation, applies_ok, applies_failed;
};

/* config's strings are borrowed. Opens the kernel and reads state.json; nothing is changed yet. */
int manager_new(const struct manager_config *config, struct manager **ret, struct err *e);
struct manager *manager_free(struct manager *m);

/*
 * Load the policy and apply it; also loads the module where it is missing. 0 when applied (or held for want of SMC),
 * else -EINVAL (invalid, m->problems) or the kernel's errno; f (may be NULL) has the details and nothing was changed.
 */
int manager_reload(struct manager *m, struct failure *f);

/* One assignment of SetKnobs, as it came. */
struct assignment {
	const char *name, *text;
};
/*
 * All or none, in the namespace ("" is smcd's own). Of knobs that only the kernel describes nothing is remembered: they
 * are set, and reset to the kernel's default. save: also for the next boot; FAIL_UNSUPPORTED when a file of the
 * policy that is read later names the knob too.
 */
int manager_set_knobs(struct manager *m, const char *netns, const struct assignment *a, size_t n, bool save,
		      struct failure *f);
/*
 * names[n], or all with n 0. Back to the policy's value, where it names none to the one before smcd came, where that is
 * not known to the kernel's default. to_default: to the kernel's default, which stays as an override where something
 * else would be set without it. save: take them out of the saved policy first.
 */
int manager_reset_knobs(struct manager *m, const char *netns, const char *const *names, size_t n, bool to_default,
			bool save, struct failure *f);

/* p's members that are empty (or 0) are not given. */
int manager_add_pnet(struct manager *m, const char *netns, struct pnet_entry *p, struct failure *f);
int manager_delete_pnet(struct manager *m, const char *netns, struct pnet_entry *p, struct failure *f);
int manager_flush_pnet(struct manager *m, const char *netns, struct failure *f);
/* All of it, at a time; FAIL_UNSUPPORTED without smc_tune. What smcd had made of it is not smcd's any more. */
int manager_replace_pnet(struct manager *m, const char *netns, const struct pnet_entry *entries, size_t n,
			 struct failure *f);
int manager_add_ueid(struct manager *m, const char *eid, struct failure *f);
int manager_delete_ueid(struct manager *m, const char *eid, struct failure *f);
int manager_flush_ueid(struct manager *m, struct failure *f);
int manager_set_seid(struct manager *m, bool on, struct failure *f);

/*
 * The kernel of a namespace: the manager's own for "", else one that is opened now and that *ret_opened owns.
 * FAIL_PARAMETER, FAIL_NO_SUCH_NETNS.
 */
int manager_kernel(struct manager *m, const char *netns, struct kernel **ret, struct kernel **ret_opened,
		   struct failure *f);
/* Does the kernel of the namespace offer a knob that the table does not know? */
bool manager_offers(struct manager *m, const char *netns, const char *name);
/* Fill in who set each knob of states[n_knobs], as read from k, as far as smcd knows. */
void manager_knob_sources(const struct manager *m, struct kernel *k, struct knob_state *states);
/* How many changes a reload would make now; after manager_look(). */
int manager_drift(struct manager *m, uint64_t *ret, struct err *e);
/* One setting of the policy in force, for GetPolicy. */
struct setting {
	char pointer[64];
	char value[128];
	struct origin from;
	const char *state; /* "applied", "overridden", "differs", "unsupported", "waiting" */
};
/* Calls each for every setting, in the policy's order, until one returns non-zero, which is then returned. */
int manager_settings(struct manager *m, int (*each)(void *ctx, const struct setting *s), void *ctx, struct err *e);
size_t manager_n_settings(const struct manager *m);
/* One line for sd_notify's STATUS=. */
void manager_status(const struct manager *m, struct text *t);
/* Look again what the kernel has, without loading the module. On failure m->features stays as it was. */
int manager_look(struct manager *m, struct err *e);

/* ---- between the files of the manager: manager.c, build.c (policy to plan), change.c (requests at run time) ---- */

/* The policy's say on a knob; its v is absent where it has none. */
const struct policy_knob *manager_policy_knob(const struct manager *m, const struct policy *p, size_t knob);
/* Write state.json when it differs from what is there. */
int manager_write_state(struct manager *m, const struct state *s, struct err *e);
/* smcd has changed the pnet table of its namespace, or tried to. */
void manager_pnet_changed(const struct manager *m, const struct pnet_entry *own, size_t n);
/* A plan on k was given up: what it made and could not take back is remembered, and nothing else of it. */
void manager_plan_failed(struct manager *m, const struct plan *p, const struct kernel *k);
/* Take the next state over in place of the present one. */
void manager_take_state(struct manager *m, struct state *next);
/* What tells k's namespace from others that had or get its name: its cookie, on old kernels the inode of its file,
 * which is used again. 0: it is smcd's own, or not known. */
uint64_t netns_id(const struct kernel *k);

/* What a policy means for the kernel as it is now. */
struct build {
	struct plan plan;
	struct state next; /* what is to be remembered when the plan is run; nothing is forgotten yet */
	bool *forget_knob; /* n_knobs: undone by the plan, or changed by others since */
	bool forget_seid;
	struct pnet_entry *wanted; /* the policy's, sorted */
	size_t n_wanted;
	const char *unsupported[MANAGER_UNSUPPORTED_MAX];
	size_t n_unsupported;
};

int build_plan(const struct manager *m, const struct policy *p, const struct observed *o, struct build *ret,
	       struct err *e);
/* The plan was run: let next be what is to be remembered from now on. before: what was until now. */
void build_finish(struct build *b, const struct policy *p, const struct state *before);
void build_done(struct build *b);
#define CLEANUP_BUILD CLEANUP(build_done)
/* The policy's entry as the kernel lists it. */
struct pnet_entry pnet_entry_listed(const struct pnet_entry *p);
