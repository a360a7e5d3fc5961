// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernel.c - the object, probing, knobs (smc_tune, else sysctl files, else generic netlink) and lists. The families'
 * own matters are in nl_smc.c, nl_pnet.c, nl_tune.c and nl_diag.c.
 */
#include "kernel.h"
#include "nl.h"

int kernel_new(struct transport t, const char *netns, struct kernel **ret)
{
	struct kernel *k = NULL;

	if (strlen(netns) <= NETNS_NAME_MAX)
		k = calloc(1, sizeof(*k));
	if (!k) {
		if (t.ops && t.ops->free)
			t.ops->free(t.ctx);
		return strlen(netns) > NETNS_NAME_MAX ? -EINVAL : -ENOMEM;
	}
	k->t = t;
	snprintf(k->netns, sizeof(k->netns), "%s", netns);
	*ret = k;
	return 0;
}

struct kernel *kernel_free(struct kernel *k)
{
	if (!k)
		return NULL;
	if (k->t.ops->free)
		k->t.ops->free(k->t.ctx);
	free(k);
	return NULL;
}

const char *kernel_netns(const struct kernel *k)
{
	return k->netns;
}

uint64_t kernel_netns_cookie(const struct kernel *k)
{
	uint64_t cookie = 0;

	return k->t.ops->netns_cookie(k->t.ctx, &cookie) < 0 ? 0 : cookie;
}

uint64_t kernel_nl_errors(const struct kernel *k, enum bus bus)
{
	return k->bus[bus].errors;
}

/* ---- sysctl files ---- */

/* The text of a sysctl into k->string: its length, -ENOENT when this kernel has none. */
static int sysctl_read(struct kernel *k, const char *name, struct err *e)
{
	int r = -EINTR;

	for (int i = 0; r == -EINTR && i < KNL_EINTR_MAX; i++)
		r = k->t.ops->sysctl_read(k->t.ctx, name, k->string, sizeof(k->string));
	if (r < 0)
		return err_set(e, r, "%s", strerror(-r));
	if ((size_t)r >= sizeof(k->string) || memchr(k->string, '\0', (size_t)r))
		return err_set(e, -EBADMSG, "the text of net.smc.%s is malformed", name);
	k->string[r] = '\0';
	return r;
}

static int sysctl_write(struct kernel *k, const char *name, const char *text)
{
	int r = -EINTR;

	for (int i = 0; r == -EINTR && i < KNL_EINTR_MAX; i++)
		r = k->t.ops->sysctl_write(k->t.ctx, name, text);
	return r < 0 ? r : 0;
}

/* Is at least one sysctl file there? 1, 0, -errno. */
static int sysctl_any(struct kernel *k, struct err *e)
{
	for (size_t i = 0; i < n_knobs; i++) {
		int r = knobs[i].sysctl ? sysctl_read(k, knobs[i].sysctl, e) : -ENOENT;

		if (r != -ENOENT)
			return r < 0 ? r : 1;
	}
	return 0;
}

/* ---- probing ---- */

int kernel_probe(struct kernel *k, bool autoload, struct features *ret, struct err *e)
{
	struct features f = { 0 };
	int r;

	knl_family_forget(k);
	r = knl_family_lookup(k, KNL_SMC, autoload, e);
	if (r < 0)
		return kernel_fail(k, e, r, "look for SMC");
	f.smc = r > 0;
	/* One dump tells of both families: a second one would find nothing else. */
	r = f.smc || autoload ? knl_family_lookup(k, KNL_PNET, autoload, e) : k->family[KNL_PNET] != 0;
	if (r < 0)
		return kernel_fail(k, e, r, "look for SMC");
	f.pnetid = r > 0;
	f.tune = f.smc && knl_has_tune(k);
	r = f.tune ? 0 : sysctl_any(k, e);
	if (r < 0)
		return kernel_fail(k, e, r, "read sysctl files under net/smc");
	f.sysctl = r > 0;
	*ret = f;
	return 0;
}

/* ---- knobs ---- */

/* Nothing serves the knob: because there is no SMC, or because this kernel is older than the knob? */
static int no_surface(struct kernel *k, const struct knob *knob, struct err *e)
{
	int r = sysctl_any(k, e);

	if (r == 0) {
		knl_family_forget(k);
		r = knl_family_lookup(k, KNL_SMC, false, e);
	}
	if (r < 0)
		return r;
	if (r == 0)
		return err_set(e, -ENOPROTOOPT, KNL_NO_SMC);
	return err_set(e, -EOPNOTSUPP, "this kernel does not have it (since Linux %s)", knob->since);
}

static int parse_number(const struct knob *knob, const char *s, struct value *ret, struct err *e)
{
	bool negative = *s == '-';
	const char *digits = s + negative;
	char shown[SHOWN_MAX * 4 + 4];
	uint64_t u = 0;
	size_t n = 0;

	while (digits[n] >= '0' && digits[n] <= '9') {
		if (__builtin_mul_overflow(u, 10, &u) || __builtin_add_overflow(u, (uint64_t)(digits[n] - '0'), &u))
			break;
		n++;
	}
	safe_str(shown, sizeof(shown), s);
	if (n == 0 || digits[n] != '\0')
		return err_set(e, -EBADMSG, "the kernel has '%s', which is no number", shown);
	if (negative && u > 0)
		return err_set(e, -ERANGE, "the kernel has %s, which is out of range", shown);
	*ret = value_uint(knob->spec.type == TYPE_BOOL ? u != 0 : u);
	return 0;
}

static int parse_sysctl(struct kernel *k, const struct knob *knob, struct value *ret, struct err *e)
{
	char shown[SHOWN_MAX * 4 + 4];

	if (knob->spec.type != TYPE_STRING)
		return parse_number(knob, k->string, ret, e);
	if (strlen(k->string) > knob->spec.max)
		return err_set(e, -EBADMSG, "the kernel has '%s', which is too long",
			       safe_str(shown, sizeof(shown), k->string));
	*ret = value_str(k->string);
	return 0;
}

static int genl_get(struct kernel *k, const struct knob *knob, struct value *ret, struct err *e)
{
	bool on = false;
	int r = -EOPNOTSUPP;

	if (knob->genl == KNOB_GENL_HS_LIMITATION)
		r = knl_hs_limitation_get(k, &on, e);
	if (r == 0)
		*ret = value_uint(on);
	return r;
}

static int knob_get(struct kernel *k, const struct knob *knob, struct value *ret, const char **ret_surface,
		    struct err *e)
{
	int r;

	if (knl_has_tune(k)) {
		*ret_surface = "smc_tune";
		return knl_tune_get(k, knob, ret, e);
	}
	r = knob->sysctl ? sysctl_read(k, knob->sysctl, e) : -ENOENT;
	if (r >= 0) {
		*ret_surface = "sysctl";
		return parse_sysctl(k, knob, ret, e);
	}
	if (r != -ENOENT)
		return r;
	*ret_surface = "netlink";
	r = genl_get(k, knob, ret, e);
	return r == -EOPNOTSUPP ? no_surface(k, knob, e) : r;
}

int kernel_knob_read(struct kernel *k, const struct knob *knob, struct value *ret, const char **ret_surface,
		     struct err *e)
{
	const char *surface = NULL;
	struct value v = { 0 };
	int r = knob_get(k, knob, &v, &surface, e);

	if (r < 0)
		return kernel_fail(k, e, r, "read '%s'", knob->name);
	*ret = v;
	*ret_surface = surface;
	return 0;
}

int kernel_knob_get(struct kernel *k, const struct knob *knob, struct value *ret, struct err *e)
{
	const char *surface;

	return kernel_knob_read(k, knob, ret, &surface, e);
}

static int genl_set(struct kernel *k, const struct knob *knob, struct value v, struct err *e)
{
	if (knob->genl == KNOB_GENL_HS_LIMITATION)
		return knl_hs_limitation_set(k, v.u != 0, e);
	return -EOPNOTSUPP;
}

/* The kernel's refusal, with the range: it can be narrower on this kernel than the table's. */
static int refused(const struct knob *knob, int code, struct err *e)
{
	struct text t CLEANUP_TEXT = { 0 };

	if (code == -EPERM || code == -EACCES)
		return err_set(e, code, "%s (CAP_NET_ADMIN is needed)", strerror(-code));
	value_allowed(&knob->spec, &t);
	return err_set(e, code, "%s (allowed: %s%s%s)", strerror(-code), text_str(&t), knob->range_note ? "; " : "",
		       knob->range_note ? knob->range_note : "");
}

static int knob_write(struct kernel *k, const struct knob *knob, struct value v, struct err *e)
{
	char number[24];
	int r = -ENOENT;

	snprintf(number, sizeof(number), "%llu", v.kind == VALUE_UINT ? (unsigned long long)v.u : 0ull);
	if (knob->sysctl)
		r = sysctl_write(k, knob->sysctl, v.kind == VALUE_STR ? v.s : number);
	if (r != -ENOENT)
		return r < 0 ? refused(knob, r, e) : 0;
	r = genl_set(k, knob, v, e);
	return r == -EOPNOTSUPP ? no_surface(k, knob, e) : r;
}

static int knob_set(struct kernel *k, const struct knob *knob, struct value v, struct err *e)
{
	char wanted[KNOB_STRING_MAX + 1];
	const char *surface = NULL;
	struct value now = { 0 };
	int r = value_check(&knob->spec, v, e);

	if (r < 0)
		return r;
	if (v.kind == VALUE_STR) {
		/* It can be what kernel_knob_get() gave, which the reading back below overwrites. */
		snprintf(wanted, sizeof(wanted), "%s", v.s);
		v.s = wanted;
	}
	r = knob_write(k, knob, v, e);
	if (r < 0)
		return r;
	r = knob_get(k, knob, &now, &surface, e);
	if (r == 0 && !value_equal(v, now)) {
		struct text t CLEANUP_TEXT = { 0 };

		value_text(&knob->spec, now, &t);
		r = err_set(e, -EIO, "the kernel took it, but has %s now", text_str(&t));
	}
	return r;
}

int kernel_knob_set(struct kernel *k, const struct knob *knob, struct value v, struct err *e)
{
	const struct knob_change c = { knob, v };
	int r;

	if (knl_has_tune(k))
		return kernel_knobs_set(k, &c, 1, e);
	r = knob_set(k, knob, v, e);
	return r < 0 ? kernel_fail(k, e, r, "set '%s'", knob->name) : 0;
}

/* ---- lists ---- */

#define IDENTITY_MAX 4

/*
 * What makes a row the same entry in another reading. Dumps are by position and change under the reader: an entry can
 * be missing or doubled. Counters in a row change all the time and say nothing about that.
 */
static const struct identity {
	size_t n;
	int fields[IDENTITY_MAX];
} identities[N_NOUNS] = {
	[NOUN_LINKGROUPS] = { 2, { LGR_TECH, LGR_ID } },
	[NOUN_LINKS] = { 2, { LINK_LGR, LINK_ID } },
	[NOUN_DEVICES] = { 4, { DEV_TECH, DEV_NAME, DEV_PORT, DEV_PCI_ID } },
	[NOUN_SOCKETS] = { 1, { SOCK_COOKIE } },
	[NOUN_PNET] = { 4, { PNET_ID, PNET_INTERFACE, PNET_RDMA, PNET_PORT } },
	[NOUN_UEID] = { 1, { UEID_EID } },
	[NOUN_SEID] = { 1, { SEID_EID } },
	[NOUN_FALLBACKS] = { 2, { FB_ROLE, FB_CODE } },
	[NOUN_POOLS] = { 4, { POOL_TECH, POOL_LGR, POOL_DIRECTION, POOL_SIZE } },
};

static bool same_entries(const struct list *a, const struct list *b)
{
	const struct identity *id = &identities[a->noun->id];

	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		for (size_t f = 0; f < id->n; f++)
			if (!value_equal(list_row(a, i)[id->fields[f]], list_row(b, i)[id->fields[f]]))
				return false;
	return true;
}

int knl_read_until_agreed(struct kernel *k, const struct noun *noun, knl_reader reader, void *arg, struct list *ret,
			  struct err *e)
{
	struct list before CLEANUP_LIST = { 0 }, now CLEANUP_LIST = { 0 };
	bool usable = false, agreed = false;

	for (int i = 0; !agreed && i < KNL_READINGS; i++) {
		bool interrupted = false;
		int r;

		list_done(&before);
		before = now;
		now = (struct list){ 0 };
		list_init(&now, noun);
		r = reader(k, &now, &interrupted, arg, e);
		if (r < 0)
			return r;
		agreed = usable && !interrupted && same_entries(&before, &now);
		usable = !interrupted;
	}
	now.incomplete = !agreed;
	*ret = now;
	now = (struct list){ 0 };
	return 0;
}

static const knl_reader readers[N_NOUNS] = {
	[NOUN_LINKGROUPS] = knl_read_linkgroups,
	[NOUN_LINKS] = knl_read_links,
	[NOUN_DEVICES] = knl_read_devices,
	[NOUN_PNET] = knl_read_pnet,
	[NOUN_UEID] = knl_read_ueids,
	[NOUN_SEID] = knl_read_seid,
	[NOUN_FALLBACKS] = knl_read_fallbacks, /* sockets: knl_list_sockets() */
	[NOUN_POOLS] = knl_read_pools,
	[NOUN_CORK] = knl_read_cork,
	[NOUN_HANDSHAKES] = knl_read_handshakes,
};

/* What is one message of one moment. */
static int read_once(struct kernel *k, const struct noun *noun, struct list *ret, struct err *e)
{
	struct list l CLEANUP_LIST = { 0 };
	int r;

	list_init(&l, noun);
	r = readers[noun->id](k, &l, NULL, NULL, e);
	if (r < 0)
		return r;
	*ret = l;
	l = (struct list){ 0 };
	return 0;
}

int kernel_list(struct kernel *k, const struct noun *noun, struct list *ret, struct err *e)
{
	int r;

	if (noun->id == NOUN_SOCKETS)
		r = knl_list_sockets(k, ret, e);
	else if (noun->id == NOUN_CORK || noun->id == NOUN_HANDSHAKES)
		r = read_once(k, noun, ret, e);
	else
		r = knl_read_until_agreed(k, noun, readers[noun->id], NULL, ret, e);
	return r < 0 ? kernel_fail(k, e, r, "list %s", noun->name) : 0;
}

int kernel_fallbacks(struct kernel *k, struct list *ret, struct fallback_totals *ret_totals, struct err *e)
{
	struct fallback_totals totals = { 0 };
	int r = knl_read_until_agreed(k, &nouns[NOUN_FALLBACKS], knl_read_fallbacks, &totals, ret, e);

	if (r < 0)
		return kernel_fail(k, e, r, "list fallbacks");
	*ret_totals = totals;
	return 0;
}
