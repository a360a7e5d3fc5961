/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nl.h - netlink inside the kernel access: requests, answers, attributes. Only kernel.c and the nl_*.c files include
 * it; nobody else sees netlink. libnl builds the messages (nl.c); all input and output goes through struct transport,
 * and answers are walked here, because libnl's nla_parse() skips attribute number 0 and its sockets turn errno into
 * numbers of its own. The prefix nl_ is libnl's; ours is knl_.
 */
#pragma once

#include "kernel.h"
#include "netns.h"

/* ---- attributes: borrowed spans of a received message ---- */
struct knl_span {
	const unsigned char *p;
	size_t len;
};

struct knl_attr {
	unsigned int type; /* without the NESTED and byte-order flags */
	struct knl_span data;
};

/* Take the next attribute off the span: 1, 0 at its end, -EBADMSG when a length leads outside. */
int knl_attr_next(struct knl_span *s, struct knl_attr *ret);
/* The first attribute of the type: 1, 0 when there is none, -EBADMSG. */
int knl_attr_find(struct knl_span s, unsigned int type, struct knl_attr *ret);
/* Follow path[n_path] inwards: 1, 0, -EBADMSG. */
int knl_attr_walk(struct knl_span s, const unsigned int *path, size_t n_path, struct knl_attr *ret);
/* A number of 1, 2, 4 or 8 bytes in the host's order, by the attribute's length; -EBADMSG for any other. */
int knl_attr_uint(const struct knl_attr *a, uint64_t *ret);
/* Length of the string in the attribute, which need not be NUL-terminated. */
size_t knl_attr_strlen(const struct knl_attr *a);
/* What an attribute holds for a value of the type (a string is copied into the list). -EBADMSG, -ENOMEM. */
int knl_attr_value(const struct knl_attr *a, const struct value_spec *spec, struct list *owner, struct value *ret);

/* ---- messages ---- */
struct knl_message {
	uint16_t type;
	uint8_t cmd;          /* BUS_GENL */
	struct knl_span body; /* after the genetlink header, or the whole payload on BUS_DIAG */
};

struct nl_msg; /* libnl's */
void knl_msg_freep(struct nl_msg **m);
#define CLEANUP_KNL_MSG CLEANUP(knl_msg_freep)

/* Generic netlink families that are spoken to. */
enum knl_family { KNL_SMC, KNL_PNET, KNL_TUNE, N_KNL_FAMILIES };

/* A sock_diag request (SOCK_DIAG_BY_FAMILY, a dump); NULL when out of memory. */
struct nl_msg *knl_diag_new(const void *req, size_t len);

/* One message of an answer: 0 or -errno with *e filled. */
typedef int (*knl_handler)(void *arg, const struct knl_message *m, struct err *e);

/*
 * Send and receive. A dump that overruns the socket (ENOBUFS) is drained and repeated, at most KNL_TRIES times; reset
 * (may be NULL) then takes back what the handler collected. *interrupted (may be NULL) is set, never cleared, when the
 * kernel said NLM_F_DUMP_INTR.
 */
struct knl_dump {
	knl_handler handler;
	int (*reset)(void *arg);
	void *arg;
};

#define KNL_TRIES 3
#define KNL_EINTR_MAX 1000          /* interrupted system calls in a row */
#define KNL_DATAGRAMS_MAX (1 << 18) /* in one answer, those of earlier requests included */
#define KNL_ANSWER_MAX (256u << 20) /* bytes of one answer */
#define KNL_DRAIN_MAX 4096          /* datagrams read to get rid of an answer that is of no use any more */

int knl_dump(struct kernel *k, enum bus bus, struct nl_msg *req, const struct knl_dump *d, bool *interrupted,
	     struct err *e);
/*
 * Generic netlink to one of the families, whose id is looked up (without loading the module) and looked up again when
 * it turns out to be another one since the module was reloaded. -ENOPROTOOPT: the family is not there.
 */
int knl_family_dump(struct kernel *k, enum knl_family f, uint8_t cmd, const struct knl_dump *d, bool *interrupted,
		    struct err *e);
/* A command that the kernel acknowledges. Not repeated by itself: an answer that was lost leaves it open whether it was
 * done. */
struct knl_arg {
	int type;      /* with NLA_F_NESTED where p is what knl_put() has put together */
	const void *p; /* NULL: not sent */
	size_t len;
};
int knl_family_do(struct kernel *k, enum knl_family f, uint8_t cmd, const struct knl_arg *args, size_t n_args,
		  struct err *e);
/* The same for a command that also answers with a message, before the acknowledgement. */
int knl_family_ask(struct kernel *k, enum knl_family f, uint8_t cmd, const struct knl_arg *args, size_t n_args,
		   knl_handler handler, void *arg, struct err *e);
/* Add an attribute to those of a nest that is being put together. */
void knl_put(struct text *nest, const struct knl_arg *a);
/*
 * Is it a refusal, upon which nothing was done? After any other failure the command can have been carried out and only
 * its answer lost or broken: reading has to tell.
 */
static inline bool knl_is_refusal(int r)
{
	return r == -EPERM || r == -EACCES || r == -ENOENT || r == -EEXIST || r == -EINVAL || r == -ERANGE ||
	       r == -EOPNOTSUPP || r == -ENOPROTOOPT;
}
/* The command failed with r and e, and reading whether it was done failed as well. Returns r. */
static inline int knl_untold(struct err *e, int r, const struct err *reading)
{
	if (e)
		err_prefix(e, "whether it was done cannot be told (%s)", reading->text);
	return r;
}

/* Is the family there? by_name makes the kernel load its module. 1, 0, -errno. */
int knl_family_lookup(struct kernel *k, enum knl_family f, bool by_name, struct err *e);
void knl_family_forget(struct kernel *k);

#define KNL_NO_SMC "the smc module is not loaded, or this kernel has no SMC"
/* What commands say that only smc_tune can serve. */
#define KNL_NO_TUNE                                                                                                    \
	"this kernel does not have the generic netlink family smc_tune (6.12 with the series of kernel-patch has it)"

/* ---- the object behind kernel.h ---- */
#define KNOB_TEXT_MAX 256 /* a sysctl's text; a longer one is refused */
_Static_assert(KNOB_TEXT_MAX > KNOB_STRING_MAX + 1, "what is too long for a knob has to be seen");

struct kernel {
	struct transport t;
	char netns[NETNS_NAME_MAX + 1];
	struct {
		uint32_t seq;
		uint64_t errors;
	} bus[N_BUSES];
	uint16_t family[N_KNL_FAMILIES]; /* 0: not known to be there */
	uint32_t groups[N_EVENTS];       /* multicast groups of smc_tune; 0: it has none such */
	bool no_tune;                    /* smc_tune was looked for and is not there; until knl_family_forget() */
	char string[KNOB_TEXT_MAX];      /* backing of the string value that kernel_knob_get() gave last */
};

/* Put "ACTION in namespace 'blue': " in front of e's text (e may be NULL). Returns code. */
int kernel_fail(const struct kernel *k, struct err *e, int code, const char *fmt, ...) PRINTF(4, 5);

/* ---- records (nl_smc.c, nl_pnet.c, nl_diag.c) ---- */
/* Read once into an initialised list; *interrupted is set (never cleared) when the kernel marked the dump. */
typedef int (*knl_reader)(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);

int knl_read_linkgroups(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
int knl_read_links(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
int knl_read_devices(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
int knl_read_ueids(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
int knl_read_seid(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
/* arg: struct fallback_totals *, may be NULL */
int knl_read_fallbacks(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
int knl_read_pnet(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
/* By smc_tune; the latter two are one message, with parts. */
int knl_read_pools(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
int knl_read_cork(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
int knl_read_handshakes(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e);
/* Name of the reason of a fallback; absent where there is none, or none that is known. Static storage. */
struct value knl_reason_name(struct value code);
/* Sockets, joined with TCP's. */
int knl_list_sockets(struct kernel *k, struct list *ret, struct err *e);

/*
 * Call the reader until two readings in a row agree on which entries there are (their identity, see kernel.c: counters
 * may change), at most KNL_READINGS times; else ret->incomplete. *ret is initialised on success.
 */
#define KNL_READINGS 3
int knl_read_until_agreed(struct kernel *k, const struct noun *noun, knl_reader reader, void *arg, struct list *ret,
			  struct err *e);

/*
 * Add a row and fill it from a record by the noun's table; key is a field without which a record means nothing, or -1.
 * -EBADMSG names the field, or says that the list has no end.
 */
int knl_add_row(struct list *l, enum wire w, struct knl_span record, int key, struct value **ret_row, struct err *e);
/* Fill the fields that lie on this wire. */
int knl_fill_row(struct list *l, enum wire w, struct knl_span record, struct value *row, struct err *e);
/*
 * Is smc_tune there? Looked for once. Where that cannot be told the older surfaces, which have no less, serve: false.
 */
bool knl_has_tune(struct kernel *k);
/* One knob by smc_tune, which is there. -EOPNOTSUPP: it has no such knob here. */
int knl_tune_get(struct kernel *k, const struct knob *knob, struct value *ret, struct err *e);
/* The handshake limitation of the namespace. */
int knl_hs_limitation_get(struct kernel *k, bool *ret, struct err *e);
int knl_hs_limitation_set(struct kernel *k, bool on, struct err *e);
