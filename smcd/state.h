/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.h - what smcd has to remember over a restart of its own but not over a reboot: what it made in the kernel (with
 * the values from before, so that it can be undone) and the overrides that people set at run time. Kept in state.json,
 * which carries the boot's id.
 */
#pragma once

#include "kernel.h"
#include "netns.h"

#define STATE_NETNS_MAX 4096       /* namespaces with overrides; the oldest makes room */
#define STATE_FILE_MAX (16u << 20) /* bytes */

/* A value with its own storage, so that it can be copied and kept. */
struct held {
	enum value_kind kind;
	uint64_t u;
	char s[KNOB_STRING_MAX + 1];
};

/* The value borrows from h. */
struct value held_value(const struct held *h);
/* Longer strings than a knob takes are cut. */
struct held held_copy(struct value v);

struct knob_record {
	struct held before;   /* the value before smcd first changed the knob; absent: smcd did not change it */
	struct held made;     /* what smcd set last; something else in the kernel is somebody else's */
	struct held override; /* absent: none */
	bool saved;           /* the override is in the saved policy file too */
};

struct state_netns {
	char name[NETNS_NAME_MAX + 1]; /* "": smcd's own */
	uint64_t id;               /* netns_id(); another one under the same name is a new namespace. 0: not known */
	struct knob_record *knobs; /* n_knobs */
};

struct state {
	struct state_netns *netns; /* [0] is smcd's own, always there */
	size_t n_netns;
	/* Made by smcd, sorted, with one target each. */
	struct pnet_entry *pnet;
	size_t n_pnet, pnet_room;
	char (*ueid)[UEID_LEN_MAX + 1];
	size_t n_ueid;
	struct held seid_before, seid_made;
};

int state_init(struct state *s);
void state_done(struct state *s);
#define CLEANUP_STATE CLEANUP(state_done)
int state_copy(const struct state *from, struct state *ret);

/* The namespace's record; NULL when there is none. */
struct state_netns *state_find(const struct state *s, const char *netns);
/* The same, made when it is missing, emptied when the id tells that the namespace is another one. NULL: out of
 * memory. */
struct state_netns *state_get(struct state *s, const char *netns, uint64_t id);
void state_drop(struct state *s, struct state_netns *ns); /* not the own one */

/* Order and equality of pnet entries, for qsort(3) and bsearch(3). */
int pnet_entry_compare(const void *a, const void *b);
static inline const struct pnet_entry *pnet_entry_search(const struct pnet_entry *p, const struct pnet_entry *sorted,
							 size_t n)
{
	return n ? bsearch(p, sorted, n, sizeof(*sorted), pnet_entry_compare) : NULL;
}

/* Adds without looking whether it is there: state_sort() follows before anything is looked up. */
int state_add_pnet(struct state *s, const struct pnet_entry *p);
void state_sort(struct state *s);
/* Forget every entry that match, with its empty members matching all, describes. */
void state_drop_pnet(struct state *s, const struct pnet_entry *match);
int state_add_ueid(struct state *s, const char *eid);
void state_drop_ueid(struct state *s, const char *eid); /* NULL: all */
bool state_has_ueid(const struct state *s, const char *eid);

/* The text of state.json. Unknown members of what is read are refused: another version wrote it. */
int state_text(const struct state *s, const char *boot_id, struct text *ret);
/* text[len] is a NUL. -ESTALE: of another boot. -EINVAL: damaged; e says where. */
int state_parse(const char *text, size_t len, const char *boot_id, struct state *ret, struct err *e);
