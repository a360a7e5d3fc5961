/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_genl.c - generic netlink as the fake kernel speaks it: the controller (net/netlink/genetlink.c), the family
 * SMC_GEN_NETLINK (net/smc: smc_netlink.c, smc_core.c, smc_ib.c, smc_ism.c, smc_stats.c, smc_clc.c, af_smc.c) and
 * SMC_PNETID (smc_pnet.c). It is written from the kernel's sources and not from the program's tables.
 */
#include <ctype.h>

#include "fake_priv.h"

#define REPLY_SIZE 3776 /* NLMSG_GOODSIZE of 4 KiB pages */

/* ---- attributes of a request ---- */

struct policy {
	size_t max_string[FAKE_ATTRS_MAX]; /* 0: not checked */
	unsigned int nul_strings;          /* bits: NLA_NUL_STRING */
	unsigned int max;
	bool strict, reject_all;
};

static const struct policy ctrl_policy = {
	.max = CTRL_ATTR_MAX,
	.max_string = { [CTRL_ATTR_FAMILY_NAME] = GENL_NAMSIZ - 1 },
	.nul_strings = 1u << CTRL_ATTR_FAMILY_NAME,
};
static const struct policy smc_policy = { .max = 1, .strict = true, .reject_all = true };
static const struct policy ueid_policy = {
	.max = 1,
	.strict = true,
	.max_string = { [SMC_NLA_EID_TABLE_ENTRY] = SMC_MAX_EID_LEN },
};
static const struct policy pnet_policy = {
	.max = SMC_PNETID_MAX,
	.max_string = { [SMC_PNETID_NAME] = FAKE_PNETID_LEN,
			[SMC_PNETID_ETHNAME] = IFNAMSIZ - 1,
			[SMC_PNETID_IBNAME] = 63 },
	.nul_strings = 1u << SMC_PNETID_NAME | 1u << SMC_PNETID_ETHNAME | 1u << SMC_PNETID_IBNAME,
};

/* Each command has one of its own in the kernel; what differs is looked at where the command is. */
static const struct policy tune_policy = { .max = FAKE_ATTRS_MAX - 1, .strict = true };

static int refuse(struct call *c, int err, const char *ext)
{
	snprintf(c->ext, sizeof(c->ext), "%s", ext);
	return err;
}

/* lib/nlattr.c, validate_nla() */
static int attr_valid(const struct policy *p, const struct nlattr *a, unsigned int type)
{
	const char *s = attr_data(a);
	size_t n = attr_len(a), max = p->max_string[type];

	if (p->reject_all)
		return -EINVAL;
	if (!max)
		return 0;
	if ((p->nul_strings & 1u << type) && (!n || !memchr(s, '\0', n < max + 1 ? n : max + 1)))
		return -EINVAL;
	if (!n)
		return -ERANGE;
	return n - (s[n - 1] == '\0') > max ? -ERANGE : 0;
}

static int parse(struct call *c, const struct policy *p)
{
	size_t at = NLMSG_HDRLEN + GENL_HDRLEN;

	while (at + NLA_HDRLEN <= c->req.nlmsg_len) {
		const struct nlattr *a = (const void *)(c->msg + at);
		unsigned int type = a->nla_type & NLA_TYPE_MASK;
		int r;

		if (a->nla_len < NLA_HDRLEN || a->nla_len > c->req.nlmsg_len - at)
			break;
		at += NLA_ALIGN(a->nla_len);
		if (!type || type > p->max || type >= FAKE_ATTRS_MAX) {
			if (p->strict)
				return refuse(c, -EINVAL, "Unknown attribute type");
			continue;
		}
		r = attr_valid(p, a, type);
		if (r < 0)
			return refuse(c, r, "Attribute failed policy validation");
		c->tb[type] = a;
	}
	if (at < c->req.nlmsg_len && p->strict)
		return refuse(c, -EINVAL, "bytes left over after parsing attributes");
	return 0;
}

/* ---- controller ---- */

struct family {
	const char *name;
	uint16_t id;
	uint32_t version, maxattr;
	const char *mcast;
	void (*groups)(struct fbuf *b);
};

/* Family i of this kernel: 1, 0 when the number is free. */
static int family_at(const struct call *c, size_t i, struct family *ret)
{
	const struct fake_kstate *s = c->f->s;
	const struct family all[] = {
		{ "nlctrl", GENL_ID_CTRL, 2, CTRL_ATTR_MAX, "notify", NULL },
		{ "VFS_DQUOT", GENL_ID_VFS_DQUOT, 1, 6, "events", NULL },
		{ "ethtool", 0x15, 1, 0, "monitor", NULL },
		{ SMC_GENL_FAMILY_NAME, s->smc_family, SMC_GENL_FAMILY_VERSION, 1, NULL, NULL },
		{ SMC_TUNE_FAMILY_NAME, s->tune_family, SMC_TUNE_FAMILY_VERSION, 0, NULL, fake_tune_groups },
		{ SMCR_GENL_FAMILY_NAME, s->pnet_family, SMCR_GENL_FAMILY_VERSION, SMC_PNETID_MAX, NULL, NULL },
	};

	if (i >= ARRAY_SIZE(all))
		return -ENOENT;
	*ret = all[i];
	return all[i].id != 0;
}

static void put_mcast(struct fbuf *b, const char *name)
{
	size_t groups = fb_nest(b, CTRL_ATTR_MCAST_GROUPS), one = fb_nest(b, 1);

	fb_u32(b, CTRL_ATTR_MCAST_GRP_ID, 0x11);
	fb_str(b, CTRL_ATTR_MCAST_GRP_NAME, name);
	fb_nest_end(b, one);
	fb_nest_end(b, groups);
}

static void put_ops(struct fbuf *b)
{
	size_t ops = fb_nest(b, CTRL_ATTR_OPS), one = fb_nest(b, 1);

	fb_u32(b, CTRL_ATTR_OP_ID, 1);
	fb_u32(b, CTRL_ATTR_OP_FLAGS, GENL_CMD_CAP_DUMP);
	fb_nest_end(b, one);
	fb_nest_end(b, ops);
}

static int put_family(struct call *c, struct fbuf *b, const struct family *fam, uint16_t flags)
{
	size_t start = fb_genl(b, c, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, flags);

	fb_str(b, CTRL_ATTR_FAMILY_NAME, fam->name);
	if (b->bend != WHAT_NO_ID)
		fb_u16(b, CTRL_ATTR_FAMILY_ID, fam->id);
	fb_u32(b, CTRL_ATTR_VERSION, fam->version);
	fb_u32(b, CTRL_ATTR_HDRSIZE, 0);
	fb_u32(b, CTRL_ATTR_MAXATTR, fam->maxattr);
	put_ops(b);
	if (fam->mcast)
		put_mcast(b, fam->mcast);
	if (fam->groups)
		fam->groups(b);
	return fb_finish(b, start);
}

static enum emitted emit_family(struct call *c, struct fbuf *b, size_t i)
{
	struct family fam;
	int r = family_at(c, i, &fam);

	if (r < 0)
		return EMIT_END;
	return r ? (enum emitted)put_family(c, b, &fam, NLM_F_MULTI) : EMIT_SKIP;
}

static bool find_family(const struct call *c, const char *name, uint16_t id, struct family *ret)
{
	int r;

	for (size_t i = 0; (r = family_at(c, i, ret)) >= 0; i++)
		if (r && (name ? strcmp(ret->name, name) == 0 : ret->id == id))
			return true;
	return false;
}

/* Both modules have their family's name as an alias; smc_diag, which has the one of SMC_PNETID, needs smc. */
static void autoload(struct call *c, const char *name)
{
	if (strcmp(name, SMC_GENL_FAMILY_NAME) == 0 || strcmp(name, SMCR_GENL_FAMILY_NAME) == 0)
		fake_module_load(c->f);
}

static int ctrl_getfamily(struct call *c)
{
	const struct nlattr *name = c->tb[CTRL_ATTR_FAMILY_NAME], *id = c->tb[CTRL_ATTR_FAMILY_ID];
	struct family fam;
	struct fbuf b;
	uint16_t want = 0;

	if (!name && !id)
		return -EINVAL;
	if (id)
		memcpy(&want, attr_data(id), sizeof(want));
	if (!find_family(c, name ? attr_data(name) : NULL, want, &fam)) {
		if (!name)
			return -ENOENT;
		autoload(c, attr_data(name));
		if (!find_family(c, attr_data(name), 0, &fam))
			return -ENOENT;
	}
	fake_reply_start(c, &b, REPLY_SIZE);
	put_family(c, &b, &fam, 0);
	fake_reply(c, &b);
	return 0;
}

const struct fake_op fake_ctrl_ops[] = {
	{ "GETFAMILY", BUS_GENL, CTRL_CMD_GETFAMILY, .emit = emit_family, .doit = ctrl_getfamily },
};
const size_t n_fake_ctrl_ops = ARRAY_SIZE(fake_ctrl_ops);

/* ---- SMC_GEN_NETLINK: records ---- */

static size_t smc_msg(struct call *c, struct fbuf *b, uint8_t cmd)
{
	return fb_genl(b, c, c->f->s->smc_family, cmd, NLM_F_MULTI);
}

static enum emitted emit_sys_info(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_kstate *s = c->f->s;
	size_t start, nest;

	if (i)
		return EMIT_END;
	start = smc_msg(c, b, SMC_NETLINK_GET_SYS_INFO);
	nest = fb_nest(b, SMC_GEN_SYS_INFO);
	fb_u8(b, SMC_NLA_SYS_VER, 2);
	fb_u8(b, SMC_NLA_SYS_REL, 1);
	fb_u8(b, SMC_NLA_SYS_IS_ISM_V2, s->ism_v2);
	fb_u8(b, SMC_NLA_SYS_IS_SMCR_V2, 1);
	if (s->host[0])
		fb_str(b, SMC_NLA_SYS_LOCAL_HOST, s->host);
	if (s->ism_v2)
		fb_str(b, SMC_NLA_SYS_SEID, "IBM-SYSZ-ISMSEID00000000C8DA2964");
	fb_nest_end(b, nest);
	return (enum emitted)fb_finish(b, start);
}

static void put_v2_common(struct fbuf *b, const struct fake_lgr *l, uint16_t type)
{
	size_t nest = fb_nest(b, type);

	fb_u8(b, SMC_NLA_LGR_V2_VER, (uint8_t)l->version);
	fb_u8(b, SMC_NLA_LGR_V2_REL, (uint8_t)l->release);
	fb_u8(b, SMC_NLA_LGR_V2_OS, (uint8_t)l->os);
	fb_str(b, SMC_NLA_LGR_V2_PEER_HOST, l->peer_host);
	fb_str(b, SMC_NLA_LGR_V2_NEG_EID, l->eid);
	fb_nest_end(b, nest);
}

static void put_r_v2(struct call *c, struct fbuf *b, const struct fake_lgr *l)
{
	size_t nest = fb_nest(b, SMC_NLA_LGR_R_V2);

	fb_u8(b, SMC_NLA_LGR_R_V2_DIRECT, (uint8_t)l->direct);
	if (fake_has(c->f, RANK_6_12)) {
		fb_u8(b, SMC_NLA_LGR_R_V2_MAX_CONNS, (uint8_t)l->max_conns);
		fb_u8(b, SMC_NLA_LGR_R_V2_MAX_LINKS, (uint8_t)l->max_links);
	}
	fb_nest_end(b, nest);
}

static enum emitted put_lgr_r(struct call *c, struct fbuf *b, const struct fake_lgr *l)
{
	size_t start = smc_msg(c, b, SMC_NETLINK_GET_LGR_SMCR), nest = fb_nest(b, SMC_GEN_LGR_SMCR);

	fb_u32(b, SMC_NLA_LGR_R_ID, (uint32_t)l->id);
	fb_u32(b, SMC_NLA_LGR_R_CONNS_NUM, (uint32_t)l->conns);
	fb_u8(b, SMC_NLA_LGR_R_ROLE, (uint8_t)l->role);
	fb_u8(b, SMC_NLA_LGR_R_TYPE, (uint8_t)l->type);
	fb_u8(b, SMC_NLA_LGR_R_BUF_TYPE, (uint8_t)l->buf_type);
	fb_u8(b, SMC_NLA_LGR_R_VLAN_ID, (uint8_t)l->vlan);
	if (c->f->s->wide)
		fb_u16(b, SMC_NLA_LGR_R_VLAN_ID16, (uint16_t)l->vlan);
	fb_u64(b, SMC_NLA_LGR_R_NET_COOKIE, l->cookie, SMC_NLA_LGR_R_PAD);
	fb_str(b, SMC_NLA_LGR_R_PNETID, l->pnetid);
	if (fake_has(c->f, RANK_6_12)) {
		fb_uint(b, SMC_NLA_LGR_R_SNDBUF_ALLOC, l->sndbuf);
		fb_uint(b, SMC_NLA_LGR_R_RMB_ALLOC, l->rcvbuf);
	}
	if (l->version > 1) {
		put_v2_common(b, l, SMC_NLA_LGR_R_V2_COMMON);
		put_r_v2(c, b, l);
	}
	fb_nest_end(b, nest);
	return (enum emitted)fb_finish(b, start);
}

/* Link groups of one kind, in their order: number i, NULL behind the last. */
static const struct fake_lgr *lgr_at(const struct call *c, bool smcd, size_t i)
{
	for (unsigned int j = 0; j < c->f->s->n_lgrs; j++)
		if (c->f->s->lgrs[j].smcd == smcd && i-- == 0)
			return &c->f->s->lgrs[j];
	return NULL;
}

static enum emitted emit_lgr_r(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_lgr *l = lgr_at(c, false, i);

	return l ? put_lgr_r(c, b, l) : EMIT_END;
}

static enum emitted put_link(struct call *c, struct fbuf *b, const struct fake_link *l)
{
	size_t start = smc_msg(c, b, SMC_NETLINK_GET_LINK_SMCR), nest = fb_nest(b, SMC_GEN_LINK_SMCR);

	fb_u8(b, SMC_NLA_LINK_ID, (uint8_t)l->id);
	fb_u32(b, SMC_NLA_LINK_STATE, (uint32_t)l->state);
	fb_u32(b, SMC_NLA_LINK_CONN_CNT, (uint32_t)l->conns);
	fb_u8(b, SMC_NLA_LINK_IB_PORT, (uint8_t)l->port);
	fb_u32(b, SMC_NLA_LINK_NET_DEV, (uint32_t)l->ifindex);
	fb_str(b, SMC_NLA_LINK_IB_DEV, l->device);
	fb_u32(b, SMC_NLA_LINK_UID, (uint32_t)l->uid);
	fb_u32(b, SMC_NLA_LINK_PEER_UID, (uint32_t)l->peer_uid);
	fb_str(b, SMC_NLA_LINK_GID, l->gid);
	fb_str(b, SMC_NLA_LINK_PEER_GID, l->peer_gid);
	fb_nest_end(b, nest);
	return (enum emitted)fb_finish(b, start);
}

/* smc_nl_handle_lgr(): a link group's record goes in front of those of its links, and all come or none. */
static enum emitted emit_link(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_lgr *l = lgr_at(c, false, i);
	size_t start = b->len;

	if (!l)
		return EMIT_END;
	if (put_lgr_r(c, b, l) == EMIT_FULL)
		return EMIT_FULL;
	for (unsigned int j = 0; j < l->n_links; j++) {
		if (l->links[j].state == 0) /* SMC_LNK_UNUSED */
			continue;
		if (put_link(c, b, &l->links[j]) == EMIT_FULL) {
			b->len = start;
			return EMIT_FULL;
		}
	}
	return EMIT_OK;
}

static enum emitted emit_lgr_d(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_lgr *l = lgr_at(c, true, i);
	bool ext = fake_has(c->f, RANK_6_12);
	size_t start, nest;

	if (!l)
		return EMIT_END;
	start = smc_msg(c, b, SMC_NETLINK_GET_LGR_SMCD);
	nest = fb_nest(b, SMC_GEN_LGR_SMCD);
	fb_u32(b, SMC_NLA_LGR_D_ID, (uint32_t)l->id);
	fb_u64(b, SMC_NLA_LGR_D_GID, l->gid, SMC_NLA_LGR_D_PAD);
	if (ext)
		fb_u64(b, SMC_NLA_LGR_D_EXT_GID, l->ext_gid, SMC_NLA_LGR_D_PAD);
	fb_u64(b, SMC_NLA_LGR_D_PEER_GID, l->peer_gid, SMC_NLA_LGR_D_PAD);
	if (ext)
		fb_u64(b, SMC_NLA_LGR_D_PEER_EXT_GID, l->peer_ext_gid, SMC_NLA_LGR_D_PAD);
	fb_u8(b, SMC_NLA_LGR_D_VLAN_ID, (uint8_t)l->vlan);
	if (c->f->s->wide)
		fb_u16(b, SMC_NLA_LGR_D_VLAN_ID16, (uint16_t)l->vlan);
	fb_u32(b, SMC_NLA_LGR_D_CONNS_NUM, (uint32_t)l->conns);
	fb_u32(b, SMC_NLA_LGR_D_CHID, (uint32_t)l->chid);
	if (ext) {
		fb_uint(b, SMC_NLA_LGR_D_SNDBUF_ALLOC, l->sndbuf);
		fb_uint(b, SMC_NLA_LGR_D_DMB_ALLOC, l->rcvbuf);
	}
	fb_str(b, SMC_NLA_LGR_D_PNETID, l->pnetid);
	if (l->version > 1)
		put_v2_common(b, l, SMC_NLA_LGR_D_V2_COMMON);
	fb_nest_end(b, nest);
	return (enum emitted)fb_finish(b, start);
}

static const struct fake_device *device_at(const struct call *c, bool smcd, size_t i)
{
	for (unsigned int j = 0; j < c->f->s->n_devices; j++) {
		const struct fake_device *d = &c->f->s->devices[j];

		if (d->smcd == smcd && i-- == 0)
			return d;
	}
	return NULL;
}

static void put_pci(struct fbuf *b, const struct fake_device *d)
{
	fb_u32(b, SMC_NLA_DEV_PCI_FID, (uint32_t)d->fid);
	fb_u16(b, SMC_NLA_DEV_PCI_CHID, (uint16_t)d->pchid);
	fb_u16(b, SMC_NLA_DEV_PCI_VENDOR, (uint16_t)d->vendor);
	fb_u16(b, SMC_NLA_DEV_PCI_DEVICE, (uint16_t)d->device);
	fb_str(b, SMC_NLA_DEV_PCI_ID, d->pci_id);
}

static enum emitted emit_dev_d(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_device *d = device_at(c, true, i);
	size_t start, nest, port;

	if (!d)
		return EMIT_END;
	if (d->loopback)
		return EMIT_SKIP;
	start = smc_msg(c, b, SMC_NETLINK_GET_DEV_SMCD);
	nest = fb_nest(b, SMC_GEN_DEV_SMCD);
	fb_u32(b, SMC_NLA_DEV_USE_CNT, (uint32_t)d->lgrs);
	fb_u8(b, SMC_NLA_DEV_IS_CRIT, d->lgrs > 0);
	put_pci(b, d);
	port = fb_nest(b, SMC_NLA_DEV_PORT);
	fb_u8(b, SMC_NLA_DEV_PORT_PNET_USR, (uint8_t)d->port[0].by_user);
	fb_str(b, SMC_NLA_DEV_PORT_PNETID, d->port[0].pnetid);
	fb_nest_end(b, port);
	fb_nest_end(b, nest);
	return (enum emitted)fb_finish(b, start);
}

static void put_port(struct fbuf *b, const struct fake_port *p, uint16_t type)
{
	size_t nest = fb_nest(b, type);

	fb_u8(b, SMC_NLA_DEV_PORT_PNET_USR, (uint8_t)p->by_user);
	fb_str(b, SMC_NLA_DEV_PORT_PNETID, p->pnetid);
	fb_u32(b, SMC_NLA_DEV_PORT_NETDEV, (uint32_t)p->ifindex);
	fb_u8(b, SMC_NLA_DEV_PORT_VALID, 1);
	fb_u8(b, SMC_NLA_DEV_PORT_STATE, (uint8_t)p->active);
	fb_u32(b, SMC_NLA_DEV_PORT_LNK_CNT, (uint32_t)p->links);
	fb_nest_end(b, nest);
}

static enum emitted emit_dev_r(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_device *d = device_at(c, false, i);
	size_t start, nest;

	if (!d)
		return EMIT_END;
	start = smc_msg(c, b, SMC_NETLINK_GET_DEV_SMCR);
	nest = fb_nest(b, SMC_GEN_DEV_SMCR);
	fb_u8(b, SMC_NLA_DEV_IS_CRIT, (uint8_t)d->critical);
	if (d->has_pci)
		put_pci(b, d);
	fb_str(b, SMC_NLA_DEV_IB_NAME, d->name);
	if (d->port[0].valid)
		put_port(b, &d->port[0], SMC_NLA_DEV_PORT);
	if (d->port[1].valid)
		put_port(b, &d->port[1], SMC_NLA_DEV_PORT2);
	fb_nest_end(b, nest);
	return (enum emitted)fb_finish(b, start);
}

/* ---- SMC_GEN_NETLINK: statistics ---- */

static void put_counts(struct fbuf *b, const struct fake_netns *ns, unsigned int tech, uint16_t type, uint16_t last)
{
	size_t nest = fb_nest(b, type);

	for (uint16_t a = 1; a <= last; a++)
		fb_u64(b, a, ns->stats[tech][type][a], 0);
	fb_nest_end(b, nest);
}

/* The order is the kernel's own; nobody may rely on it. */
static void put_tech(struct call *c, struct fbuf *b, unsigned int tech, uint16_t type)
{
	static const uint16_t counters[] = {
		SMC_NLA_STATS_T_CLNT_V1_SUCC, SMC_NLA_STATS_T_CLNT_V2_SUCC, SMC_NLA_STATS_T_SRV_V1_SUCC,
		SMC_NLA_STATS_T_SRV_V2_SUCC,  SMC_NLA_STATS_T_RX_BYTES,     SMC_NLA_STATS_T_TX_BYTES,
		SMC_NLA_STATS_T_RX_CNT,       SMC_NLA_STATS_T_TX_CNT,       SMC_NLA_STATS_T_SENDPAGE_CNT,
		SMC_NLA_STATS_T_CORK_CNT,     SMC_NLA_STATS_T_NDLY_CNT,     SMC_NLA_STATS_T_SPLICE_CNT,
		SMC_NLA_STATS_T_URG_DATA_CNT,
	};
	static const uint16_t sizes[] = {
		SMC_NLA_STATS_T_TXPLOAD_SIZE,
		SMC_NLA_STATS_T_RXPLOAD_SIZE,
		SMC_NLA_STATS_T_TX_RMB_SIZE,
		SMC_NLA_STATS_T_RX_RMB_SIZE,
	};
	size_t nest = fb_nest(b, type);

	put_counts(b, c->ns, tech, SMC_NLA_STATS_T_TX_RMB_STATS, SMC_NLA_STATS_RMB_MAX);
	put_counts(b, c->ns, tech, SMC_NLA_STATS_T_RX_RMB_STATS, SMC_NLA_STATS_RMB_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		put_counts(b, c->ns, tech, sizes[i], SMC_NLA_STATS_PLOAD_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		fb_u64(b, counters[i], c->ns->stats[tech][counters[i]][0], SMC_NLA_STATS_PAD);
	if (fake_has(c->f, RANK_6_12)) {
		fb_uint(b, SMC_NLA_STATS_T_RX_RMB_USAGE, c->ns->stats[tech][SMC_NLA_STATS_T_RX_RMB_USAGE][0]);
		fb_uint(b, SMC_NLA_STATS_T_TX_RMB_USAGE, c->ns->stats[tech][SMC_NLA_STATS_T_TX_RMB_USAGE][0]);
	}
	fb_nest_end(b, nest);
}

static enum emitted emit_stats(struct call *c, struct fbuf *b, size_t i)
{
	size_t start, nest;

	if (i)
		return EMIT_END;
	start = smc_msg(c, b, SMC_NETLINK_GET_STATS);
	nest = fb_nest(b, SMC_GEN_STATS);
	put_tech(c, b, TECH_SMCD, SMC_NLA_STATS_SMCD_TECH);
	put_tech(c, b, TECH_SMCR, SMC_NLA_STATS_SMCR_TECH);
	fb_u64(b, SMC_NLA_STATS_CLNT_HS_ERR_CNT, c->ns->hs_errors[0], SMC_NLA_STATS_PAD);
	fb_u64(b, SMC_NLA_STATS_SRV_HS_ERR_CNT, c->ns->hs_errors[1], SMC_NLA_STATS_PAD);
	fb_nest_end(b, nest);
	return (enum emitted)fb_finish(b, start);
}

/* smc_nl_get_fback_stats(): slot by slot the server's and the client's; the first slot where both are empty ends it. */
static enum emitted emit_fback(struct call *c, struct fbuf *b, size_t i)
{
	const struct fake_fback *x;
	unsigned int role = i % 2;
	size_t start, nest, slot = i / 2;

	if (slot >= FAKE_FBACK_MAX || (!c->ns->fback[0][slot].code && !c->ns->fback[1][slot].code))
		return EMIT_END;
	x = &c->ns->fback[role][slot];
	if (!x->code)
		return EMIT_SKIP;
	start = smc_msg(c, b, SMC_NETLINK_GET_FBACK_STATS);
	nest = fb_nest(b, SMC_GEN_FBACK_STATS);
	fb_u8(b, SMC_NLA_FBACK_STATS_TYPE, role == 0);
	if (!c->reported) {
		fb_u64(b, SMC_NLA_FBACK_STATS_SRV_CNT, c->ns->fback_total[0], SMC_NLA_FBACK_STATS_PAD);
		fb_u64(b, SMC_NLA_FBACK_STATS_CLNT_CNT, c->ns->fback_total[1], SMC_NLA_FBACK_STATS_PAD);
	}
	fb_u32(b, SMC_NLA_FBACK_STATS_RSN_CODE, x->code);
	if (c->f->s->wide) {
		fb_u16(b, SMC_NLA_FBACK_STATS_RSN_CNT, (uint16_t)(x->count < UINT16_MAX ? x->count : UINT16_MAX));
		fb_u64(b, SMC_NLA_FBACK_STATS_RSN_CNT64, x->count, SMC_NLA_FBACK_STATS_PAD);
	} else {
		fb_u16(b, SMC_NLA_FBACK_STATS_RSN_CNT, (uint16_t)x->count);
	}
	fb_nest_end(b, nest);
	if (fb_finish(b, start) == EMIT_FULL)
		return EMIT_FULL;
	c->reported = true;
	return EMIT_OK;
}

/* ---- SMC_GEN_NETLINK: EIDs and handshake limitation ---- */

static enum emitted emit_ueid(struct call *c, struct fbuf *b, size_t i)
{
	char eid[SMC_MAX_EID_LEN + 1] = { 0 };
	size_t start;

	if (i >= c->f->s->n_ueid)
		return EMIT_END;
	memcpy(eid, c->f->s->ueid[i], SMC_MAX_EID_LEN);
	start = smc_msg(c, b, SMC_NETLINK_DUMP_UEID);
	fb_str(b, SMC_NLA_EID_TABLE_ENTRY, eid);
	return (enum emitted)fb_finish(b, start);
}

bool fake_ueid_valid(const char *ueid)
{
	size_t n = SMC_MAX_EID_LEN;

	while (n && isspace((unsigned char)ueid[n - 1]))
		n--;
	if (!n || ueid[0] == '.' || ueid[0] == '-')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!(isdigit((unsigned char)ueid[i]) || isupper((unsigned char)ueid[i]) || ueid[i] == '.' ||
		      ueid[i] == '-'))
			return false;
	return true;
}

static const char *ueid_arg(const struct call *c)
{
	const struct nlattr *a = c->tb[SMC_NLA_EID_TABLE_ENTRY];

	return a && attr_len(a) == SMC_MAX_EID_LEN + 1 ? attr_data(a) : NULL;
}

static int ueid_index(const struct call *c, const char *eid)
{
	for (unsigned int i = 0; i < c->f->s->n_ueid; i++)
		if (memcmp(c->f->s->ueid[i], eid, SMC_MAX_EID_LEN) == 0)
			return (int)i;
	return -ENOENT;
}

static int add_ueid(struct call *c)
{
	const char *eid = ueid_arg(c);

	if (!eid || !fake_ueid_valid(eid))
		return -EINVAL;
	if (c->f->s->n_ueid >= SMC_MAX_UEID)
		return -ERANGE;
	if (ueid_index(c, eid) >= 0)
		return -EEXIST;
	memcpy(c->f->s->ueid[c->f->s->n_ueid++], eid, SMC_MAX_EID_LEN);
	return 0;
}

/* On s390 the SEID comes back with the last UEID, which -EAGAIN tells. */
static int last_ueid_gone(struct call *c)
{
	if (!c->f->s->s390 || c->f->s->n_ueid)
		return 0;
	c->f->s->seid_enabled = true;
	return -EAGAIN;
}

static int remove_ueid(struct call *c)
{
	const char *eid = ueid_arg(c);
	struct fake_kstate *s = c->f->s;
	int i;

	if (!eid)
		return -EINVAL;
	i = ueid_index(c, eid);
	if (i < 0)
		return i;
	memmove(s->ueid[i], s->ueid[i + 1], (--s->n_ueid - (unsigned int)i) * SMC_MAX_EID_LEN);
	return last_ueid_gone(c);
}

static int flush_ueid(struct call *c)
{
	if (c->f->s->n_ueid) {
		c->f->s->n_ueid = 0;
		last_ueid_gone(c);
	}
	return 0;
}

static enum emitted emit_seid(struct call *c, struct fbuf *b, size_t i)
{
	size_t start;

	if (i)
		return EMIT_END;
	start = smc_msg(c, b, SMC_NETLINK_DUMP_SEID);
	if (c->f->s->ism_v2) {
		fb_str(b, SMC_NLA_SEID_ENTRY, "IBM-SYSZ-ISMSEID00000000C8DA2964");
		fb_u8(b, SMC_NLA_SEID_ENABLED, c->f->s->seid_enabled);
	}
	return (enum emitted)fb_finish(b, start);
}

static int enable_seid(struct call *c)
{
	if (!c->f->s->s390)
		return -EOPNOTSUPP;
	c->f->s->seid_enabled = true;
	return 0;
}

static int disable_seid(struct call *c)
{
	if (!c->f->s->s390)
		return -EOPNOTSUPP;
	if (!c->f->s->n_ueid)
		return -ENOENT;
	c->f->s->seid_enabled = false;
	return 0;
}

/* The sysctl of later kernels is the same variable. */
static int64_t *hs_limitation(struct call *c)
{
	return &c->ns->sysctl[fake_sysctl_index("limit_smc_hs")];
}

static enum emitted emit_hs(struct call *c, struct fbuf *b, size_t i)
{
	size_t start;

	if (i)
		return EMIT_END;
	start = smc_msg(c, b, SMC_NETLINK_DUMP_HS_LIMITATION);
	fb_u8(b, SMC_NLA_HS_LIMITATION_ENABLED, (uint8_t)*hs_limitation(c));
	return (enum emitted)fb_finish(b, start);
}

static int enable_hs(struct call *c)
{
	*hs_limitation(c) = 1;
	return 0;
}

static int disable_hs(struct call *c)
{
	*hs_limitation(c) = 0;
	return 0;
}

/* clang-format off */
#define DUMP(name, fn) { #name, BUS_GENL, SMC_NETLINK_##name, .emit = fn }
#define SET(name, fn) { #name, BUS_GENL, SMC_NETLINK_##name, .admin = true, .doit = fn }

const struct fake_op fake_smc_ops[] = {
	DUMP(GET_SYS_INFO, emit_sys_info), DUMP(GET_LGR_SMCR, emit_lgr_r), DUMP(GET_LINK_SMCR, emit_link),
	DUMP(GET_LGR_SMCD, emit_lgr_d), DUMP(GET_DEV_SMCD, emit_dev_d), DUMP(GET_DEV_SMCR, emit_dev_r),
	DUMP(GET_STATS, emit_stats), DUMP(GET_FBACK_STATS, emit_fback), DUMP(DUMP_UEID, emit_ueid),
	{ "ADD_UEID", BUS_GENL, SMC_NETLINK_ADD_UEID, .admin = true, .ueid_policy = true, .doit = add_ueid },
	{ "REMOVE_UEID", BUS_GENL, SMC_NETLINK_REMOVE_UEID, .admin = true, .ueid_policy = true, .doit = remove_ueid },
	SET(FLUSH_UEID, flush_ueid), DUMP(DUMP_SEID, emit_seid), SET(ENABLE_SEID, enable_seid),
	SET(DISABLE_SEID, disable_seid), DUMP(DUMP_HS_LIMITATION, emit_hs), SET(ENABLE_HS_LIMITATION, enable_hs),
	SET(DISABLE_HS_LIMITATION, disable_hs),
};
/* clang-format on */
const size_t n_fake_smc_ops = ARRAY_SIZE(fake_smc_ops);

/* ---- SMC_PNETID ---- */

/* smc_pnetid_valid(): blanks around it go, the rest is 1 to 16 letters and digits, in upper case. */
bool fake_pnetid_valid(const char *in, char *ret)
{
	size_t n;

	in += strspn(in, " \t\n\v\f\r");
	n = strlen(in);
	while (n && isspace((unsigned char)in[n - 1]))
		n--;
	if (!n || n > FAKE_PNETID_LEN)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)in[i]))
			return false;
		ret[i] = (char)toupper((unsigned char)in[i]);
	}
	ret[n] = '\0';
	return true;
}

/* smc_pnet_match(): equal up to a blank or the end; case counts. */
bool fake_pnetid_match(const char *a, const char *b)
{
	for (size_t i = 0; i < FAKE_PNETID_LEN; i++) {
		if ((!a[i] || a[i] == ' ') && (!b[i] || b[i] == ' '))
			return true;
		if (a[i] != b[i])
			return false;
	}
	return true;
}

static struct fake_pnet *pnet_find(struct fake_netns *ns, bool ib, const char *name)
{
	for (unsigned int i = 0; i < ns->n_pnet; i++)
		if (ns->pnet[i].ib == ib && strcmp(ns->pnet[i].name, name) == 0)
			return &ns->pnet[i];
	return NULL;
}

static int pnet_append(struct fake_netns *ns, const struct fake_pnet *p)
{
	if (pnet_find(ns, p->ib, p->name))
		return -EEXIST;
	if (ns->n_pnet == FAKE_PNET_MAX)
		return -ENOMEM;
	ns->pnet[ns->n_pnet++] = *p;
	return 0;
}

static int pnet_add_eth(struct fake_netns *ns, const char *eth, const char *id)
{
	struct fake_pnet p = { .ib = false };

	for (unsigned int i = 0; i < ns->n_ifaces; i++)
		if (strcmp(ns->ifaces[i].name, eth) == 0 && ns->ifaces[i].hw_pnetid[0])
			return -EEXIST;
	snprintf(p.id, sizeof(p.id), "%s", id);
	snprintf(p.name, sizeof(p.name), "%s", eth);
	return pnet_append(ns, &p);
}

/* By the RDMA device's name or by its PCI address; ISM devices are known by the latter. */
static struct fake_device *pnet_device(struct fake *f, const char *name)
{
	for (unsigned int i = 0; i < f->s->n_devices; i++) {
		struct fake_device *d = &f->s->devices[i];

		if (strcmp(d->name, name) == 0 || (d->has_pci && strcmp(d->pci_id, name) == 0))
			return d;
	}
	return NULL;
}

static bool pnet_apply(struct fake_port *p, const char *id)
{
	if (p->pnetid[0])
		return false;
	snprintf(p->pnetid, sizeof(p->pnetid), "%s", id);
	p->by_user = 1;
	return true;
}

/* The port has its ID even where the entry is refused because the table has the device's other port. */
static int pnet_add_ib(struct fake *f, struct fake_netns *ns, const char *ib, uint8_t port, const char *id)
{
	struct fake_device *d = pnet_device(f, ib);
	struct fake_pnet p = { .ib = true, .port = port };

	if (d && !pnet_apply(&d->port[d->smcd ? 0 : port - 1], id))
		return -EEXIST;
	snprintf(p.id, sizeof(p.id), "%s", id);
	snprintf(p.name, sizeof(p.name), "%s", ib);
	return pnet_append(ns, &p);
}

/* smc_pnetid_by_table_ib() and _smcd(): a device that arrives late gets its ID by name. */
void fake_pnet_attach(struct fake *f, struct fake_device *d)
{
	const struct fake_netns *ns = &f->s->ns[0];

	for (unsigned int i = 0; i < ns->n_pnet; i++) {
		const struct fake_pnet *p = &ns->pnet[i];

		if (p->ib && strcmp(p->name, d->name) == 0)
			pnet_apply(&d->port[d->smcd ? 0 : p->port - 1], p->id);
	}
}

void fake_pnet_set_devices(struct fake *f)
{
	for (unsigned int i = 0; i < f->s->n_devices; i++) {
		for (unsigned int p = 0; p < 2; p++) {
			struct fake_port *port = &f->s->devices[i].port[p];

			if (!port->by_user)
				continue;
			port->by_user = 0;
			memset(port->pnetid, 0, sizeof(port->pnetid));
		}
		fake_pnet_attach(f, &f->s->devices[i]);
	}
}

/* strim(): blanks around a name go. */
static void trim(char *out, size_t size, const char *in)
{
	size_t n;

	in += strspn(in, " \t\n");
	n = strlen(in);
	while (n && isspace((unsigned char)in[n - 1]))
		n--;
	snprintf(out, size, "%.*s", (int)n, in);
}

int fake_pnet_enter(struct fake *f, unsigned int netns, const char *name, const char *eth, const char *ib,
		    const uint8_t *port)
{
	struct fake_netns *ns = &f->s->ns[netns];
	bool new_eth = false, new_ib = false;
	char id[FAKE_PNETID_LEN + 1], ibname[64];
	int r;

	if (!fake_pnetid_valid(name, id))
		return -EINVAL;
	if (eth) {
		r = pnet_add_eth(ns, eth, id);
		if (r < 0 && r != -EEXIST)
			return r;
		new_eth = r == 0;
		if (new_eth)
			fake_pnet_changed(f, ns, SMC_TUNE_PNET_ACTION_ADD, 1, &ns->pnet[ns->n_pnet - 1]);
	}
	if (netns)
		return new_eth ? 0 : -EEXIST;
	if (ib) {
		trim(ibname, sizeof(ibname), ib);
		if (port && (*port < 1 || *port > 2))
			return -EINVAL;
		r = pnet_add_ib(f, ns, ibname, port ? *port : 1, id);
		if (r < 0 && r != -EEXIST)
			return r;
		new_ib = r == 0;
		if (new_ib)
			fake_pnet_changed(f, ns, SMC_TUNE_PNET_ACTION_ADD, 1, &ns->pnet[ns->n_pnet - 1]);
	}
	return new_eth || new_ib ? 0 : -EEXIST;
}

static const char *str_arg(const struct call *c, unsigned int type)
{
	return c->tb[type] ? attr_data(c->tb[type]) : NULL;
}

static int pnet_add(struct call *c)
{
	const struct nlattr *port = c->tb[SMC_PNETID_IBPORT];

	if (!c->tb[SMC_PNETID_NAME])
		return -EINVAL;
	return fake_pnet_enter(c->f, c->netns, str_arg(c, SMC_PNETID_NAME), str_arg(c, SMC_PNETID_ETHNAME),
			       str_arg(c, SMC_PNETID_IBNAME), port ? attr_data(port) : NULL);
}

/* smc_pnet_remove_by_pnetid(); id NULL: all. */
static int pnet_remove(struct call *c, const char *id)
{
	struct fake_netns *ns = c->ns;
	unsigned int kept = 0;
	int r = -ENOENT;

	for (unsigned int i = 0; i < ns->n_pnet; i++) {
		if (!id || fake_pnetid_match(ns->pnet[i].id, id))
			r = 0;
		else
			ns->pnet[kept++] = ns->pnet[i];
	}
	if (kept != ns->n_pnet)
		fake_pnet_changed(c->f, ns, id ? SMC_TUNE_PNET_ACTION_DELETE : SMC_TUNE_PNET_ACTION_FLUSH,
				  ns->n_pnet - kept, NULL);
	ns->n_pnet = kept;
	if (!c->init_ns)
		return r;
	for (unsigned int i = 0; i < c->f->s->n_devices; i++)
		for (unsigned int p = 0; p < 2; p++) {
			struct fake_port *port = &c->f->s->devices[i].port[p];

			if (!port->by_user || (id && !fake_pnetid_match(id, port->pnetid)))
				continue;
			port->by_user = 0;
			memset(port->pnetid, 0, sizeof(port->pnetid));
			r = 0;
		}
	return r;
}

static int pnet_del(struct call *c)
{
	const char *id = str_arg(c, SMC_PNETID_NAME);

	return id ? pnet_remove(c, id) : -EINVAL;
}

static int pnet_flush(struct call *c)
{
	pnet_remove(c, NULL);
	return 0;
}

static enum emitted put_pnet(struct call *c, struct fbuf *b, const struct fake_pnet *p)
{
	size_t start = fb_genl(b, c, c->f->s->pnet_family, SMC_PNETID_GET, NLM_F_MULTI);

	fb_str(b, SMC_PNETID_NAME, p->id);
	fb_str(b, SMC_PNETID_ETHNAME, p->ib ? "n/a" : p->name);
	fb_str(b, SMC_PNETID_IBNAME, p->ib ? p->name : "n/a");
	fb_u8(b, SMC_PNETID_IBPORT, p->ib ? p->port : 0xff);
	return (enum emitted)fb_finish(b, start);
}

static enum emitted emit_pnet(struct call *c, struct fbuf *b, size_t i)
{
	return i < c->ns->n_pnet ? put_pnet(c, b, &c->ns->pnet[i]) : EMIT_END;
}

/* Entries of one ID, as many as one message holds, and the end of a dump that it is not. */
static int pnet_get(struct call *c)
{
	const char *id = str_arg(c, SMC_PNETID_NAME);
	struct fbuf b;
	size_t start;

	if (!id)
		return -EINVAL;
	fake_reply_start(c, &b, REPLY_SIZE);
	for (unsigned int i = 0; i < c->ns->n_pnet; i++)
		if (fake_pnetid_match(c->ns->pnet[i].id, id) && put_pnet(c, &b, &c->ns->pnet[i]) == EMIT_FULL)
			break;
	start = fb_msg(&b, c, NLMSG_DONE, NLM_F_MULTI);
	if (fb_finish(&b, start) == EMIT_FULL) {
		free(b.p);
		return -EMSGSIZE;
	}
	fake_reply(c, &b);
	return 0;
}

const struct fake_op fake_pnet_ops[] = {
	{ "PNET_GET", BUS_GENL, SMC_PNETID_GET, .emit = emit_pnet, .doit = pnet_get },
	{ "PNET_ADD", BUS_GENL, SMC_PNETID_ADD, .admin = true, .doit = pnet_add },
	{ "PNET_DEL", BUS_GENL, SMC_PNETID_DEL, .admin = true, .doit = pnet_del },
	{ "PNET_FLUSH", BUS_GENL, SMC_PNETID_FLUSH, .admin = true, .doit = pnet_flush },
};
const size_t n_fake_pnet_ops = ARRAY_SIZE(fake_pnet_ops);

/* ---- dispatch ---- */

static const struct fake_op *op_of(struct call *c, const struct fake_op *ops, size_t n, const struct policy *policy,
				   uint8_t cmd, int *ret_err)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].cmd != cmd)
			continue;
		*ret_err = parse(c, ops[i].ueid_policy ? &ueid_policy : policy);
		return *ret_err < 0 ? NULL : &ops[i];
	}
	*ret_err = -EOPNOTSUPP;
	return NULL;
}

const struct fake_op *fake_genl_op(struct call *c, int *ret_err)
{
	const struct fake_kstate *s = c->f->s;
	struct genlmsghdr g;

	*ret_err = -EINVAL;
	if (c->req.nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return NULL;
	memcpy(&g, c->msg + NLMSG_HDRLEN, sizeof(g));
	if (c->req.nlmsg_type == GENL_ID_CTRL)
		return op_of(c, fake_ctrl_ops, n_fake_ctrl_ops, &ctrl_policy, g.cmd, ret_err);
	if (c->req.nlmsg_type == s->smc_family)
		return op_of(c, fake_smc_ops, n_fake_smc_ops, &smc_policy, g.cmd, ret_err);
	if (c->req.nlmsg_type == s->tune_family)
		return op_of(c, fake_tune_ops, n_fake_tune_ops, &tune_policy, g.cmd, ret_err);
	if (c->req.nlmsg_type == s->pnet_family)
		return op_of(c, fake_pnet_ops, n_fake_pnet_ops, &pnet_policy, g.cmd, ret_err);
	*ret_err = -ENOENT;
	return NULL;
}

static const struct {
	const struct fake_op *ops;
	const size_t *n;
} all_ops[] = {
	{ fake_ctrl_ops, &n_fake_ctrl_ops }, { fake_smc_ops, &n_fake_smc_ops },   { fake_pnet_ops, &n_fake_pnet_ops },
	{ fake_tune_ops, &n_fake_tune_ops }, { fake_diag_ops, &n_fake_diag_ops },
};

const struct fake_op *fake_op_at(unsigned int i)
{
	for (size_t t = 0; t < ARRAY_SIZE(all_ops); t++) {
		if (i < *all_ops[t].n)
			return &all_ops[t].ops[i];
		i -= (unsigned int)*all_ops[t].n;
	}
	return NULL;
}

unsigned int fake_op_number(const struct fake_op *op)
{
	unsigned int i = 0;

	while (fake_op_at(i) && fake_op_at(i) != op)
		i++;
	return i;
}
