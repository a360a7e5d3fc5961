// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nl_smc.c - the family SMC_GEN_NETLINK (net/smc/smc_netlink.c): link groups, links, devices, statistics, fallbacks,
 * EIDs, handshake limitation.
 */
#include "nl.h"
#include "reasons.h"

#include <linux/smc.h>

static int malformed(struct err *e, const char *what)
{
	return err_set(e, -EBADMSG, "the kernel's answer is malformed (%s)", what);
}

/* A dump being turned into rows. */
struct rows {
	struct kernel *k;
	struct list *l;
	size_t start;           /* rows of earlier dumps of the same reading */
	struct value linkgroup; /* links: the group that the records belong to */
	struct fallback_totals *totals;
	bool have_totals;
};

static int rows_reset(void *arg)
{
	struct rows *r = arg;

	r->l->n = r->start;
	r->linkgroup = (struct value){ 0 };
	r->have_totals = false;
	return 0;
}

static int rows_read(struct rows *r, uint8_t cmd, knl_handler handler, bool *interrupted, struct err *e)
{
	struct knl_dump d = { .handler = handler, .reset = rows_reset, .arg = r };

	r->start = r->l->n;
	return knl_family_dump(r->k, KNL_SMC, cmd, &d, interrupted, e);
}

/* The nest that a record consists of. */
static int record_nest(const struct knl_message *m, unsigned int type, struct knl_span *ret, struct err *e)
{
	struct knl_attr a;
	int r = knl_attr_find(m->body, type, &a);

	if (r <= 0)
		return malformed(e, "record");
	*ret = a.data;
	return 0;
}

/* ---- link groups ---- */

static int add_linkgroup(struct rows *r, const struct knl_message *m, enum wire w, struct err *e)
{
	struct knl_span nest = { 0 };
	struct value *row = NULL;
	int ret = record_nest(m, w == WIRE_D ? SMC_GEN_LGR_SMCD : SMC_GEN_LGR_SMCR, &nest, e);

	if (ret < 0)
		return ret;
	ret = knl_add_row(r->l, w, nest, LGR_ID, &row, e);
	if (ret < 0)
		return ret;
	row[LGR_TECH] = value_uint(w == WIRE_D ? TECH_SMCD : TECH_SMCR);
	return 0;
}

static int linkgroup_r_message(void *arg, const struct knl_message *m, struct err *e)
{
	return add_linkgroup(arg, m, WIRE_R, e);
}

static int linkgroup_d_message(void *arg, const struct knl_message *m, struct err *e)
{
	return add_linkgroup(arg, m, WIRE_D, e);
}

int knl_read_linkgroups(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	struct rows rows = { .k = k, .l = l };
	int r;

	(void)arg;
	r = rows_read(&rows, SMC_NETLINK_GET_LGR_SMCR, linkgroup_r_message, interrupted, e);
	if (r < 0)
		return r;
	return rows_read(&rows, SMC_NETLINK_GET_LGR_SMCD, linkgroup_d_message, interrupted, e);
}

/* ---- links ---- */

/* The dump of links has a record of each group, followed by those of its links (smc_nl_handle_lgr). */
static int link_message(void *arg, const struct knl_message *m, struct err *e)
{
	static const unsigned int id_path[] = { SMC_GEN_LGR_SMCR, SMC_NLA_LGR_R_ID };
	struct rows *r = arg;
	struct knl_span nest = { 0 };
	struct value *row = NULL;
	struct knl_attr a;
	uint64_t id;
	int ret = knl_attr_walk(m->body, id_path, ARRAY_SIZE(id_path), &a);

	if (ret < 0 || (ret > 0 && knl_attr_uint(&a, &id) < 0))
		return malformed(e, "link group");
	if (ret > 0) {
		r->linkgroup = value_uint(id);
		return 0;
	}
	ret = record_nest(m, SMC_GEN_LINK_SMCR, &nest, e);
	if (ret < 0)
		return ret;
	if (r->linkgroup.kind == VALUE_ABSENT)
		return malformed(e, "link without a link group");
	ret = knl_add_row(r->l, WIRE_R, nest, LINK_ID, &row, e);
	if (ret < 0)
		return ret;
	row[LINK_LGR] = r->linkgroup;
	return 0;
}

/*
 * Names of net devices from their indexes. The lists are host-wide and an index belongs to the device's namespace; the
 * transport gives names in the initial namespace only, where the devices normally are.
 */
static int name_netdevs(struct kernel *k, struct list *l, int ifindex, int netdev, struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		struct value *row = list_row(l, i);
		char name[PNET_IFNAME_MAX + 1] = "";
		int r;

		if (row[ifindex].kind != VALUE_UINT || row[ifindex].u == 0 || row[ifindex].u > UINT32_MAX)
			continue;
		r = k->t.ops->ifname(k->t.ctx, (unsigned int)row[ifindex].u, name);
		if (r == -ENODEV)
			continue;
		if (r < 0)
			return err_set(e, r, "name of net device %u: %s", (unsigned int)row[ifindex].u, strerror(-r));
		row[netdev] = value_str(list_str(l, name, sizeof(name)));
		if (row[netdev].kind == VALUE_ABSENT)
			return err_set(e, -ENOMEM, "out of memory");
	}
	return 0;
}

int knl_read_links(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	struct rows rows = { .k = k, .l = l };
	int r;

	(void)arg;
	r = rows_read(&rows, SMC_NETLINK_GET_LINK_SMCR, link_message, interrupted, e);
	if (r < 0)
		return r;
	return name_netdevs(k, l, LINK_IFINDEX, LINK_NETDEV, e);
}

/* ---- devices ---- */

static int add_port(struct rows *r, struct knl_span nest, enum wire w, unsigned int port_nest, struct err *e)
{
	const unsigned int valid_path[] = { port_nest, SMC_NLA_DEV_PORT_VALID };
	uint64_t valid = 1;
	struct value *row = NULL;
	struct knl_attr a;
	int ret = knl_attr_find(nest, port_nest, &a);

	if (ret < 0)
		return malformed(e, "port");
	if (ret == 0)
		return 0;
	ret = knl_attr_walk(nest, valid_path, ARRAY_SIZE(valid_path), &a);
	if (ret < 0 || (ret > 0 && knl_attr_uint(&a, &valid) < 0))
		return malformed(e, "port");
	if (!valid)
		return 0;
	ret = knl_add_row(r->l, w, nest, DEV_NAME, &row, e);
	if (ret < 0)
		return ret;
	row[DEV_TECH] = value_uint(TECH_SMCR);
	row[DEV_PORT] = value_uint(w == WIRE_R2 ? 2 : 1);
	return 0;
}

static int device_r_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct knl_span nest = { 0 };
	int r = record_nest(m, SMC_GEN_DEV_SMCR, &nest, e);

	if (r < 0)
		return r;
	r = add_port(arg, nest, WIRE_R, SMC_NLA_DEV_PORT, e);
	if (r < 0)
		return r;
	return add_port(arg, nest, WIRE_R2, SMC_NLA_DEV_PORT2, e);
}

static int device_d_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct rows *rows = arg;
	struct knl_span nest = { 0 };
	struct value *row = NULL;
	int r = record_nest(m, SMC_GEN_DEV_SMCD, &nest, e);

	if (r < 0)
		return r;
	r = knl_add_row(rows->l, WIRE_D, nest, DEV_PCI_ID, &row, e);
	if (r < 0)
		return r;
	row[DEV_TECH] = value_uint(TECH_SMCD);
	return 0;
}

int knl_read_devices(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	struct rows rows = { .k = k, .l = l };
	int r;

	(void)arg;
	r = rows_read(&rows, SMC_NETLINK_GET_DEV_SMCR, device_r_message, interrupted, e);
	if (r < 0)
		return r;
	r = rows_read(&rows, SMC_NETLINK_GET_DEV_SMCD, device_d_message, interrupted, e);
	if (r < 0)
		return r;
	return name_netdevs(k, l, DEV_IFINDEX, DEV_NETDEV, e);
}

/* ---- EIDs ---- */

static int ueid_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct rows *r = arg;
	struct value *row = NULL;

	return knl_add_row(r->l, WIRE_R, m->body, UEID_EID, &row, e);
}

int knl_read_ueids(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	struct rows rows = { .k = k, .l = l };

	(void)arg;
	return rows_read(&rows, SMC_NETLINK_DUMP_UEID, ueid_message, interrupted, e);
}

/* Without a device of ISM v2 there is no SEID, and the record is empty. */
static int seid_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct rows *r = arg;
	struct value *row = NULL;

	if (m->body.len == 0)
		return 0;
	return knl_add_row(r->l, WIRE_R, m->body, SEID_EID, &row, e);
}

int knl_read_seid(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	struct rows rows = { .k = k, .l = l };

	(void)arg;
	return rows_read(&rows, SMC_NETLINK_DUMP_SEID, seid_message, interrupted, e);
}

int ueid_check(const char *eid, struct err *e)
{
	char shown[SHOWN_MAX * 4 + 4];
	size_t n = strlen(eid);

	safe_str(shown, sizeof(shown), eid);
	if (n < 1 || n > UEID_LEN_MAX)
		return err_set(e, -EINVAL, "'%s' is no UEID: it has %zu characters, allowed are 1 to %d", shown, n,
			       UEID_LEN_MAX);
	if (!(eid[0] >= 'A' && eid[0] <= 'Z') && !(eid[0] >= '0' && eid[0] <= '9'))
		return err_set(e, -EINVAL, "'%s' is no UEID: it must begin with one of A-Z and 0-9", shown);
	if (strspn(eid, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != n)
		return err_set(e, -EINVAL, "'%s' is no UEID: only A-Z, 0-9, '.' and '-' are allowed", shown);
	return 0;
}

/* The kernel wants exactly 32 characters, padded with blanks, and a NUL. */
static int ueid_do(struct kernel *k, uint8_t cmd, const char *eid, struct err *e)
{
	char padded[SMC_MAX_EID_LEN + 1];
	struct knl_arg arg = { SMC_NLA_EID_TABLE_ENTRY, padded, sizeof(padded) };

	memset(padded, ' ', SMC_MAX_EID_LEN);
	memcpy(padded, eid, strlen(eid));
	padded[SMC_MAX_EID_LEN] = '\0';
	return knl_family_do(k, KNL_SMC, cmd, &arg, 1, e);
}

/* 1, 0, -errno; -EAGAIN: not seen, but the list is not whole */
static int ueid_present(struct kernel *k, const char *eid, struct err *e)
{
	struct list l CLEANUP_LIST = { 0 };
	int r = knl_read_until_agreed(k, &nouns[NOUN_UEID], knl_read_ueids, NULL, &l, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n; i++)
		if (str_eq(list_row(&l, i)[UEID_EID].s, eid))
			return 1;
	return l.incomplete ? err_set(e, -EAGAIN, "the list of UEIDs changes all the time") : 0;
}

/* A command failed with r. 0: the EID is there, or is not, as wanted. */
static int ueid_settle(struct kernel *k, const char *eid, bool wanted, int r, struct err *e)
{
	struct err reading = { 0 };
	int present;

	if (r >= 0 || knl_is_refusal(r))
		return r;
	present = ueid_present(k, eid, &reading);
	if (present < 0)
		return knl_untold(e, r, &reading);
	return present == wanted ? 0 : r;
}

int kernel_ueid_add(struct kernel *k, const char *eid, struct err *e)
{
	int r = ueid_check(eid, e), present;

	if (r < 0)
		return r;
	r = ueid_settle(k, eid, true, ueid_do(k, SMC_NETLINK_ADD_UEID, eid, e), e);
	if (r == -ERANGE) {
		/* A full table is told before a double entry (smc_clc_ueid_add). */
		present = ueid_present(k, eid, e);
		if (present < 0)
			r = present;
		else if (present)
			r = err_set(e, -EEXIST, "%s", strerror(EEXIST));
		else
			err_set(e, r, "there are %d UEIDs already, more the kernel does not take", UEID_COUNT_MAX);
	}
	return r < 0 ? kernel_fail(k, e, r, "add UEID '%s'", eid) : 0;
}

int kernel_ueid_delete(struct kernel *k, const char *eid, struct err *e)
{
	int r = ueid_check(eid, e);

	if (r < 0)
		return r;
	r = ueid_do(k, SMC_NETLINK_REMOVE_UEID, eid, e);
	if (r == -EAGAIN) /* s390: it was the last one, and the SEID is on again (smc_clc_ueid_remove) */
		return 0;
	r = ueid_settle(k, eid, false, r, e);
	if (r == -ENOENT)
		err_set(e, r, "there is no such UEID");
	return r < 0 ? kernel_fail(k, e, r, "delete UEID '%s'", eid) : 0;
}

int kernel_ueid_flush(struct kernel *k, struct err *e)
{
	int r = knl_family_do(k, KNL_SMC, SMC_NETLINK_FLUSH_UEID, NULL, 0, e);

	return r < 0 ? kernel_fail(k, e, r, "delete all UEIDs") : 0;
}

int kernel_seid_set(struct kernel *k, bool on, struct err *e)
{
	int r = knl_family_do(k, KNL_SMC, on ? SMC_NETLINK_ENABLE_SEID : SMC_NETLINK_DISABLE_SEID, NULL, 0, e);

	if (r == -EOPNOTSUPP)
		err_set(e, r, "only kernels of s390 can switch the SEID");
	else if (r == -ENOENT)
		err_set(e, r, "the SEID can be switched off only while there is a UEID");
	return r < 0 ? kernel_fail(k, e, r, "switch the SEID %s", on ? "on" : "off") : 0;
}

/* ---- fallbacks ---- */

static int take_totals(struct rows *r, struct knl_span nest, struct err *e)
{
	struct knl_attr srv, clnt;
	uint64_t server, client;
	int has_srv = knl_attr_find(nest, SMC_NLA_FBACK_STATS_SRV_CNT, &srv);
	int has_clnt = knl_attr_find(nest, SMC_NLA_FBACK_STATS_CLNT_CNT, &clnt);

	if (has_srv < 0 || has_clnt < 0 || has_srv != has_clnt)
		return malformed(e, "fallback totals");
	if (!has_srv)
		return 0;
	if (knl_attr_uint(&srv, &server) < 0 || knl_attr_uint(&clnt, &client) < 0)
		return malformed(e, "fallback totals");
	*r->totals = (struct fallback_totals){ .server = server, .client = client };
	r->have_totals = true;
	return 0;
}

static int fallback_message(void *arg, const struct knl_message *m, struct err *e)
{
	const struct reason *reason = NULL;
	struct rows *r = arg;
	struct knl_span nest = { 0 };
	struct value *row = NULL;
	int ret = record_nest(m, SMC_GEN_FBACK_STATS, &nest, e);

	if (ret < 0)
		return ret;
	ret = take_totals(r, nest, e);
	if (ret < 0)
		return ret;
	ret = knl_add_row(r->l, WIRE_R, nest, FB_CODE, &row, e);
	if (ret < 0)
		return ret;
	if (row[FB_ROLE].kind == VALUE_ABSENT || row[FB_COUNT].kind == VALUE_ABSENT)
		return malformed(e, "fallback");
	if (row[FB_CODE].u <= UINT32_MAX)
		reason = reason_find((uint32_t)row[FB_CODE].u);
	if (reason) {
		row[FB_NAME] = value_str(reason->name);
		row[FB_MEANING] = value_str(reason->meaning);
		row[FB_ACTION] = value_str(reason->action);
	}
	return 0;
}

int knl_read_fallbacks(struct kernel *k, struct list *l, bool *interrupted, void *arg, struct err *e)
{
	struct fallback_totals totals = { 0 };
	struct rows rows = { .k = k, .l = l, .totals = &totals };
	int r = rows_read(&rows, SMC_NETLINK_GET_FBACK_STATS, fallback_message, interrupted, e);

	if (r < 0)
		return r;
	/* No fallback at all gives an empty dump: then both totals are known to be 0. */
	if (l->n > 0 && !rows.have_totals)
		return malformed(e, "fallbacks without totals");
	if (arg)
		*(struct fallback_totals *)arg = totals;
	return 0;
}

/* ---- statistics ---- */

struct stats_reading {
	struct stats *stats;
	bool have;
};

static int stats_reset(void *arg)
{
	struct stats_reading *r = arg;

	memset(r->stats->v, 0, n_stats * sizeof(*r->stats->v));
	r->have = false;
	return 0;
}

static int take_histogram(struct knl_span nest, struct stat_value *ret)
{
	struct stat_value v = { .v = value_uint(0) };

	for (unsigned int i = 0; i < N_BUCKETS; i++) {
		struct knl_attr a;
		int r = knl_attr_find(nest, SMC_NLA_STATS_PLOAD_8K + i, &a);

		if (r <= 0 || knl_attr_uint(&a, &v.buckets[i]) < 0)
			return -EBADMSG;
		v.v.u += v.buckets[i];
	}
	*ret = v;
	return 0;
}

static int take_stat(const struct counter *s, struct knl_span nest, struct stat_value *ret)
{
	unsigned int path[ARRAY_SIZE(s->path)];
	struct knl_attr a;
	uint64_t u;
	size_t n = 0;
	int r;

	for (; n < ARRAY_SIZE(s->path) && s->path[n]; n++)
		path[n] = s->path[n];
	r = knl_attr_walk(nest, path, n, &a);
	if (r <= 0)
		return r;
	if (s->histogram)
		return take_histogram(a.data, ret);
	if (knl_attr_uint(&a, &u) < 0)
		return -EBADMSG;
	ret->v = value_uint(u);
	return 0;
}

/* tech N_TECHS: the counters that are not split. */
static int take_stats(struct stats *stats, struct knl_span nest, enum smc_tech tech, struct err *e)
{
	for (size_t i = 0; i < n_stats; i++) {
		const struct counter *s = &stats_table[i];

		if (s->global != (tech == N_TECHS))
			continue;
		if (take_stat(s, nest, &stats->v[i][s->global ? 0 : tech]) < 0)
			return err_set(e, -EBADMSG, "the kernel's answer is malformed at '%s'", s->key);
	}
	return 0;
}

static int stats_message(void *arg, const struct knl_message *m, struct err *e)
{
	static const unsigned int tech_nests[N_TECHS] = {
		[TECH_SMCD] = SMC_NLA_STATS_SMCD_TECH,
		[TECH_SMCR] = SMC_NLA_STATS_SMCR_TECH,
	};
	struct stats_reading *reading = arg;
	struct knl_span nest = { 0 };
	struct knl_attr a;
	int r = record_nest(m, SMC_GEN_STATS, &nest, e);

	if (r < 0)
		return r;
	for (enum smc_tech t = 0; t < N_TECHS; t++) {
		r = knl_attr_find(nest, tech_nests[t], &a);
		if (r < 0)
			return malformed(e, "statistics");
		r = r > 0 ? take_stats(reading->stats, a.data, t, e) : 0;
		if (r < 0)
			return r;
	}
	reading->have = true;
	return take_stats(reading->stats, nest, N_TECHS, e);
}

int kernel_stats(struct kernel *k, struct stats *ret, struct err *e)
{
	struct stats stats CLEANUP_STATS = { 0 };
	struct stats_reading reading = { .stats = &stats };
	struct knl_dump d = { .handler = stats_message, .reset = stats_reset, .arg = &reading };
	int r = stats_init(&stats);

	if (r < 0)
		return kernel_fail(k, e, err_set(e, r, "out of memory"), "read statistics");
	r = knl_family_dump(k, KNL_SMC, SMC_NETLINK_GET_STATS, &d, NULL, e);
	/* smc_nl_get_stats() that runs out of memory sends an empty list. */
	if (r == 0 && !reading.have)
		r = malformed(e, "it holds no statistics");
	if (r < 0)
		return kernel_fail(k, e, r, "read statistics");
	*ret = stats;
	stats.v = NULL;
	return 0;
}

/* ---- system information ---- */

static int sysinfo_number(struct knl_span nest, unsigned int type, struct value *ret)
{
	struct knl_attr a;
	uint64_t u;
	int r = knl_attr_find(nest, type, &a);

	if (r <= 0)
		return r;
	if (knl_attr_uint(&a, &u) < 0)
		return -EBADMSG;
	*ret = value_uint(u);
	return 0;
}

/* ret has room for 32 characters and a NUL. */
static int sysinfo_string(struct knl_span nest, unsigned int type, char *ret, size_t size)
{
	struct knl_attr a;
	int r = knl_attr_find(nest, type, &a);
	size_t n;

	if (r <= 0)
		return r;
	n = knl_attr_strlen(&a);
	if (n >= size)
		return -EBADMSG;
	while (n > 0 && a.data.p[n - 1] == ' ')
		n--;
	memcpy(ret, a.data.p, n);
	ret[n] = '\0';
	return 0;
}

static int sysinfo_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct sysinfo_smc *s = arg;
	struct knl_span nest = { 0 };
	int r = record_nest(m, SMC_GEN_SYS_INFO, &nest, e);

	if (r < 0)
		return r;
	if (sysinfo_number(nest, SMC_NLA_SYS_VER, &s->version) < 0 ||
	    sysinfo_number(nest, SMC_NLA_SYS_REL, &s->release) < 0 ||
	    sysinfo_number(nest, SMC_NLA_SYS_IS_ISM_V2, &s->ism_v2) < 0 ||
	    sysinfo_number(nest, SMC_NLA_SYS_IS_SMCR_V2, &s->smcr_v2) < 0 ||
	    sysinfo_string(nest, SMC_NLA_SYS_LOCAL_HOST, s->host, sizeof(s->host)) < 0 ||
	    sysinfo_string(nest, SMC_NLA_SYS_SEID, s->seid, sizeof(s->seid)) < 0)
		return malformed(e, "system information");
	return 0;
}

static int sysinfo_reset(void *arg)
{
	*(struct sysinfo_smc *)arg = (struct sysinfo_smc){ 0 };
	return 0;
}

int kernel_sysinfo(struct kernel *k, struct sysinfo_smc *ret, struct err *e)
{
	struct sysinfo_smc s = { 0 };
	struct knl_dump d = { .handler = sysinfo_message, .reset = sysinfo_reset, .arg = &s };
	int r = knl_family_dump(k, KNL_SMC, SMC_NETLINK_GET_SYS_INFO, &d, NULL, e);

	if (r == 0 && s.version.kind == VALUE_ABSENT)
		r = malformed(e, "it holds no system information");
	if (r < 0)
		return kernel_fail(k, e, r, "read what the smc module says about itself");
	*ret = s;
	return 0;
}

/* ---- handshake limitation ---- */

static int hs_message(void *arg, const struct knl_message *m, struct err *e)
{
	struct knl_attr a;
	uint64_t u;

	if (knl_attr_find(m->body, SMC_NLA_HS_LIMITATION_ENABLED, &a) <= 0 || knl_attr_uint(&a, &u) < 0)
		return malformed(e, "handshake limitation");
	*(struct value *)arg = value_uint(u != 0);
	return 0;
}

int knl_hs_limitation_get(struct kernel *k, bool *ret, struct err *e)
{
	struct value v = { 0 };
	struct knl_dump d = { .handler = hs_message, .arg = &v };
	int r = knl_family_dump(k, KNL_SMC, SMC_NETLINK_DUMP_HS_LIMITATION, &d, NULL, e);

	if (r < 0)
		return r;
	if (v.kind == VALUE_ABSENT)
		return malformed(e, "it holds no handshake limitation");
	*ret = v.u != 0;
	return 0;
}

int knl_hs_limitation_set(struct kernel *k, bool on, struct err *e)
{
	return knl_family_do(k, KNL_SMC, on ? SMC_NETLINK_ENABLE_HS_LIMITATION : SMC_NETLINK_DISABLE_HS_LIMITATION,
			     NULL, 0, e);
}
