/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.h - all that can be asked of and told to net/smc in one network namespace. The one place where the kernel is
 * spoken to; includers see no netlink.
 *
 * Every function returns 0 or -errno and, on failure, says in *e what was being done to what. A kernel without the
 * feature gives -EOPNOTSUPP, a kernel without SMC (module not loaded) -ENOPROTOOPT; never zeros.
 */
#pragma once

#include "events.h"
#include "knobs.h"
#include "metrics.h"
#include "nouns.h"
#include "transport.h"

struct kernel;

/* Takes over the transport (on failure too). netns is for messages: "" is the initial or own one. */
int kernel_new(struct transport t, const char *netns, struct kernel **ret);
struct kernel *kernel_free(struct kernel *k);
static inline void kernel_freep(struct kernel **k)
{
	*k = kernel_free(*k);
}
#define CLEANUP_KERNEL CLEANUP(kernel_freep)
const char *kernel_netns(const struct kernel *k);
/* A number that no other namespace has had or gets until reboot; 0: not known (Linux has it since 5.14). */
uint64_t kernel_netns_cookie(const struct kernel *k);
/* Netlink requests that failed since the start, by bus: for smcd_netlink_errors_total. */
uint64_t kernel_nl_errors(const struct kernel *k, enum bus bus);

struct features {
	bool smc;    /* the family SMC_GEN_NETLINK is there: the module is loaded */
	bool pnetid; /* the family SMC_PNETID */
	bool sysctl; /* at least one file under net/smc; not looked for where tune is */
	bool tune;   /* the family smc_tune: it serves all knobs, and no sysctl is read or written */
};

/*
 * Look what is there. With autoload the families are asked for by name, upon which the kernel loads the module
 * (MODULE_ALIAS_GENL_FAMILY); without it they are looked up in a dump, which loads nothing. Forgets cached ids first,
 * so that a module that was reloaded (and has new ids) is found again. A kernel without SMC is no error: ret->smc is
 * false.
 */
int kernel_probe(struct kernel *k, bool autoload, struct features *ret, struct err *e);

/* ---- knobs ---- */
/* A string value lives until the next call on k. */
int kernel_knob_get(struct kernel *k, const struct knob *knob, struct value *ret, struct err *e);
/* Checks the range first (-ERANGE), writes, reads back; -EIO when the kernel has another value than was written. */
int kernel_knob_set(struct kernel *k, const struct knob *knob, struct value v, struct err *e);
/* The same, and what serves this knob here: "smc_tune", "sysctl" or "netlink". */
int kernel_knob_read(struct kernel *k, const struct knob *knob, struct value *ret, const char **ret_surface,
		     struct err *e);

/*
 * What the kernel itself says of its knobs, by smc_tune: with the range and the default of this very kernel, and those
 * that the table does not know.
 */
#define OFFERED_KNOBS_MAX 256
#define OFFERED_CHOICES_MAX 64
struct offered_knob {
	struct knob
		knob; /* the table's row with the kernel's range, default and scope; else all as the kernel has it */
	const struct knob *known; /* the row; NULL: the table has none of this name */
	struct value value;
	bool read_only;       /* cannot be set from this namespace */
	const char **choices; /* backing of knob.spec.choices where the kernel gave them */
};
struct offered {
	struct offered_knob *v;
	size_t n;
	uint64_t generation; /* of the values; grows with each change in the namespace */
	struct list strings; /* backing of names */
};
void offered_done(struct offered *o);
#define CLEANUP_OFFERED CLEANUP(offered_done)
const struct offered_knob *offered_find(const struct offered *o, const char *name); /* NULL: there is none */
/* All values are of one moment. -EOPNOTSUPP: this kernel has no smc_tune. */
int kernel_knobs_offered(struct kernel *k, struct offered *ret, struct err *e);

/* Does this kernel set several knobs at a time, all or none? */
bool kernel_knobs_together(struct kernel *k);
struct knob_change {
	const struct knob *knob; /* of the table, or of what kernel_knobs_offered() gave */
	struct value v;
};
/*
 * All of them or none, in one message, and read back; where kernel_knobs_together(), else -EOPNOTSUPP. A refusal
 * (knl_is_refusal()) has changed nothing, and e->ext has what the kernel said.
 */
int kernel_knobs_set(struct kernel *k, const struct knob_change *c, size_t n, struct err *e);

/* ---- events ---- */
/* Listening: the values that are known, so that what was lost is found. */
struct events {
	struct kernel *k;
	struct offered known;
	unsigned int lost; /* events that have come since some were lost; 0: none were */
};
struct event {
	enum event_kind kind;
	bool own;    /* EVENT_KNOB: asked for by the very kernel object that listens */
	bool lost;   /* events before it were lost */
	bool reread; /* ... and the rows (there may be none) are the knobs that have other values than were known */
	struct list rows;
};
#define EVENTS_LATE_MAX 65536   /* after which what was lost is read again although more is waiting */
#define EVENTS_SKIPPED_MAX 4096 /* that are of no interest, before a caller gets to do something else */
void event_done(struct event *ev);
#define CLEANUP_EVENT CLEANUP(event_done)
void events_done(struct events *w);
/* Join all groups. k has to stay as long. -EOPNOTSUPP: this kernel has no smc_tune. */
int kernel_events_open(struct kernel *k, struct events *ret, struct err *e);
/* For poll(2). Gets invalid with k. */
int kernel_events_fd(const struct events *w);
/* 1: *ret is the next event; 0: none waits. -EBADMSG is about one event, the next ones can be good. */
int kernel_event_next(struct events *w, struct event *ret, struct err *e);

/* ---- lists ---- */
/*
 * All nouns. Dumps are repeated until two agree on which entries there are (their counters may differ), at most three
 * times, else ret->incomplete. *ret is initialised here on success. NOUN_SOCKETS joins smc_diag with TCP inet_diag on
 * (local port, peer port), so that IPPROTO_SMC sockets have addresses; pid and program stay absent (see smcctl).
 */
int kernel_list(struct kernel *k, const struct noun *noun, struct list *ret, struct err *e);

/* ---- statistics ---- */
int kernel_stats(struct kernel *k, struct stats *ret, struct err *e);

struct fallback_totals {
	uint64_t client, server;
};
/* Reasons (NOUN_FALLBACKS) with the 64-bit totals, which the kernel puts into the first message of the dump only. */
int kernel_fallbacks(struct kernel *k, struct list *ret, struct fallback_totals *ret_totals, struct err *e);

struct sysinfo_smc {
	struct value version, release, ism_v2, smcr_v2; /* uint */
	char host[33], seid[33];                        /* "" where the kernel gave none */
};
int kernel_sysinfo(struct kernel *k, struct sysinfo_smc *ret, struct err *e);

/* ---- pnet table ---- */
#define PNET_ID_MAX 16
#define PNET_IFNAME_MAX 15
#define PNET_RDMA_MAX 63
struct pnet_entry {
	char id[PNET_ID_MAX + 1];
	char interface[PNET_IFNAME_MAX + 1]; /* "" none */
	char rdma[PNET_RDMA_MAX + 1];        /* RDMA device name, or PCI address of an ISM device; "" none */
	uint8_t port;                        /* 1 or 2; 0: not given (then 1 where rdma is) */
};

/* Are id (1..16 alphanumeric, upper-cased in place), names and port acceptable? -EINVAL, -ERANGE. */
int pnet_entry_check(struct pnet_entry *p, struct err *e);
/*
 * One target each (interface or rdma) or both. With both, a partial success of the kernel (one half existed) is
 * detected; the new half is taken out again and -EEXIST reported. -EEXIST for an entry that is there; the caller may
 * treat it as done. -EBUSY when the device has another ID, is listed with its other port, or has its ID from the
 * hardware, and for RDMA devices outside the initial namespace (the kernel says EEXIST to all of these). -EAGAIN when
 * the table could not be read whole.
 */
int kernel_pnet_add(struct kernel *k, const struct pnet_entry *p, struct err *e);
/*
 * Delete by id alone (all its entries) or one entry. Without smc_tune the kernel removes every entry of an ID, so the
 * others are put back and the table is read to check. -ENOENT when nothing matched.
 */
int kernel_pnet_delete(struct kernel *k, const struct pnet_entry *p, struct err *e);
int kernel_pnet_flush(struct kernel *k, struct err *e);
/*
 * These entries, of one target each, take the place of the whole table, all at a time or not at all. -EOPNOTSUPP: this
 * kernel has no smc_tune. -EBUSY: a device has its ID from the hardware. Leaves no transaction open.
 */
#define PNET_REPLACE_MAX 65536
int kernel_pnet_replace(struct kernel *k, const struct pnet_entry *entries, size_t n, struct err *e);

/* ---- EIDs (host-wide) ---- */
#define UEID_LEN_MAX 32
#define UEID_COUNT_MAX 4
/* 1..32 of A-Z 0-9 . -, the first alphanumeric. Lower case is refused, as the kernel does. */
int ueid_check(const char *eid, struct err *e);
int kernel_ueid_add(struct kernel *k, const char *eid, struct err *e);
int kernel_ueid_delete(struct kernel *k, const char *eid, struct err *e);
int kernel_ueid_flush(struct kernel *k, struct err *e);
int kernel_seid_set(struct kernel *k, bool on, struct err *e); /* -EOPNOTSUPP off s390 */

/* pnet and UEID rows back from a list. */
struct pnet_entry pnet_entry_of(const struct list *l, size_t row);
