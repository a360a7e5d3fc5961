/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake_script.c - the language of fake.h: one table of lines and one table of keys for each kind of record.
 */
#include <ctype.h>
#include <linux/smc_diag.h>
#include <stdarg.h>

#include "fake_script.h"

#define WORDS_MAX 48

/* A member of a record: a number (uint64_t), a name standing for one, or text. */
struct key {
	const char *name;
	size_t offset, size;        /* size: of text, 0 for a number */
	const char *const *choices; /* by value; NULL entries have no name */
	size_t n_choices;
};

/* clang-format off */
#define NUM(type, key, member) { key, offsetof(struct type, member), 0, NULL, 0 }
#define STR(type, key, member) { key, offsetof(struct type, member), sizeof(((struct type *)0)->member), NULL, 0 }
#define WORD(type, key, member, names) { key, offsetof(struct type, member), 0, names, ARRAY_SIZE(names) }

static const char *const off_on[] = { "off", "on" };
static const char *const roles[] = { "client", "server" };
static const char *const lgr_types[] = { "none", "single", "symmetric", "asymmetric_peer", "asymmetric_local" };
static const char *const buf_types[] = { "physical", "virtual", "mixed" };
static const char *const link_states[] = { "unused", "inactive", "activating", "active" };
static const char *const modes[] = {
	[SMC_DIAG_MODE_SMCR] = "smcr", [SMC_DIAG_MODE_FALLBACK_TCP] = "tcp", [SMC_DIAG_MODE_SMCD] = "smcd",
};
static const char *const sock_states[] = { [1] = "active", [2] = "init", [7] = "closed", [10] = "listen" };
static const char *const sock_protos[] = { "af_smc", "ipproto" };

static const struct key lgr_keys[] = {
	WORD(fake_lgr, "role", role, roles), WORD(fake_lgr, "type", type, lgr_types),
	WORD(fake_lgr, "buf_type", buf_type, buf_types), NUM(fake_lgr, "vlan", vlan), NUM(fake_lgr, "conns", conns),
	NUM(fake_lgr, "cookie", cookie), NUM(fake_lgr, "sndbuf", sndbuf), NUM(fake_lgr, "rcvbuf", rcvbuf),
	NUM(fake_lgr, "version", version), NUM(fake_lgr, "release", release), NUM(fake_lgr, "os", os),
	NUM(fake_lgr, "direct", direct), NUM(fake_lgr, "max_conns", max_conns), NUM(fake_lgr, "max_links", max_links),
	NUM(fake_lgr, "gid", gid), NUM(fake_lgr, "ext_gid", ext_gid), NUM(fake_lgr, "peer_gid", peer_gid),
	NUM(fake_lgr, "peer_ext_gid", peer_ext_gid), NUM(fake_lgr, "chid", chid), STR(fake_lgr, "pnetid", pnetid),
	STR(fake_lgr, "peer_host", peer_host), STR(fake_lgr, "eid", eid),
};

static const struct key link_keys[] = {
	WORD(fake_link, "state", state, link_states), NUM(fake_link, "port", port), NUM(fake_link, "conns", conns),
	NUM(fake_link, "ifindex", ifindex), NUM(fake_link, "uid", uid), NUM(fake_link, "peer_uid", peer_uid),
	STR(fake_link, "device", device), STR(fake_link, "gid", gid), STR(fake_link, "peer_gid", peer_gid),
};

#define PORT_KEYS(n) \
	WORD(fake_device, "port" #n, port[n - 1].valid, off_on), \
	WORD(fake_device, "by_user" #n, port[n - 1].by_user, off_on), \
	NUM(fake_device, "ifindex" #n, port[n - 1].ifindex), WORD(fake_device, "active" #n, port[n - 1].active, off_on), \
	NUM(fake_device, "links" #n, port[n - 1].links), STR(fake_device, "pnetid" #n, port[n - 1].pnetid)

static const struct key device_keys[] = {
	WORD(fake_device, "loopback", loopback, off_on), WORD(fake_device, "critical", critical, off_on),
	NUM(fake_device, "lgrs", lgrs), WORD(fake_device, "pci", has_pci, off_on), NUM(fake_device, "fid", fid),
	NUM(fake_device, "pchid", pchid), NUM(fake_device, "vendor", vendor), NUM(fake_device, "device", device),
	STR(fake_device, "pci_id", pci_id), PORT_KEYS(1), PORT_KEYS(2),
};

static const struct key socket_keys[] = {
	NUM(fake_socket, "family", family), WORD(fake_socket, "proto", ipproto, sock_protos),
	WORD(fake_socket, "state", state, sock_states), WORD(fake_socket, "mode", mode, modes),
	NUM(fake_socket, "sport", sport), NUM(fake_socket, "dport", dport), NUM(fake_socket, "uid", uid),
	NUM(fake_socket, "inode", inode), NUM(fake_socket, "cookie", cookie), NUM(fake_socket, "shutdown", shutdown),
	NUM(fake_socket, "reason", reason), NUM(fake_socket, "peer_reason", peer_reason), NUM(fake_socket, "token", token),
	NUM(fake_socket, "sndbuf", sndbuf), NUM(fake_socket, "rcvbuf", rcvbuf),
	NUM(fake_socket, "peer_rcvbuf", peer_rcvbuf), NUM(fake_socket, "rx_prod", rx_prod),
	NUM(fake_socket, "rx_cons", rx_cons), NUM(fake_socket, "rx_wrap", rx_wrap), NUM(fake_socket, "tx_prod", tx_prod),
	NUM(fake_socket, "tx_fin", tx_fin), NUM(fake_socket, "tx_prep", tx_prep), WORD(fake_socket, "role", role, roles),
	NUM(fake_socket, "link", link_id), NUM(fake_socket, "device_port", device_port),
	NUM(fake_socket, "linkid", linkid), NUM(fake_socket, "smcd_gid", smcd_gid),
	NUM(fake_socket, "smcd_peer_gid", smcd_peer_gid), NUM(fake_socket, "smcd_token", smcd_token),
	WORD(fake_socket, "no_tcp", no_tcp, off_on), STR(fake_socket, "src", src), STR(fake_socket, "dst", dst),
	STR(fake_socket, "device", device), STR(fake_socket, "gid", gid), STR(fake_socket, "peer_gid", peer_gid),
};
/* clang-format on */

static uint64_t number(const char *s)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (errno || end == s || *end)
		fake_die("'%s' is no number", s);
	return v;
}

static uint64_t key_number(const struct key *k, const char *s)
{
	for (size_t i = 0; i < k->n_choices; i++)
		if (str_eq(k->choices[i], s))
			return i;
	return number(s);
}

static void key_set(void *record, const struct key *keys, size_t n, char *word)
{
	char *eq = strchr(word, '=');

	if (!eq)
		fake_die("'%s' is not of the form KEY=VALUE", word);
	*eq = '\0';
	for (size_t i = 0; i < n; i++) {
		char *at = (char *)record + keys[i].offset;

		if (strcmp(keys[i].name, word) != 0)
			continue;
		if (!keys[i].size)
			*(uint64_t *)(void *)at = key_number(&keys[i], eq + 1);
		else if (strlen(eq + 1) >= keys[i].size)
			fake_die("'%s' is too long for %s", eq + 1, word);
		else
			snprintf(at, keys[i].size, "%s", eq + 1);
		return;
	}
	fake_die("there is no key '%s'", word);
}

static void keys_set(void *record, const struct key *keys, size_t n, char *const *words)
{
	for (; *words; words++)
		key_set(record, keys, n, *words);
}

static bool on_off(const char *s)
{
	if (strcmp(s, "on") != 0 && strcmp(s, "off") != 0)
		fake_die("'%s' is neither on nor off", s);
	return strcmp(s, "on") == 0;
}

static struct fake_netns *here(struct fake *f)
{
	return &f->s->ns[f->s->netns];
}

/* ---- the lines; w[0] is the first word behind the line's name ---- */

static void do_era(struct fake *f, char **w)
{
	fake_boot(f, w[0]);
}

static void do_module(struct fake *f, char **w)
{
	if (strcmp(w[0], "unload") == 0)
		fake_module_unload(f);
	else
		fake_module_load(f);
}

static void do_privileged(struct fake *f, char **w)
{
	f->s->privileged = on_off(w[0]);
}

static void do_s390(struct fake *f, char **w)
{
	f->s->s390 = f->s->ism_v2 = f->s->seid_enabled = on_off(w[0]);
}

static void do_ism_v2(struct fake *f, char **w)
{
	f->s->ism_v2 = on_off(w[0]);
}

static void do_host(struct fake *f, char **w)
{
	snprintf(f->s->host, sizeof(f->s->host), "%s", w[0]);
}

static void do_pads(struct fake *f, char **w)
{
	f->s->pads = on_off(w[0]);
}

static void do_wide(struct fake *f, char **w)
{
	f->s->wide = on_off(w[0]);
}

static void do_capped(struct fake *f, char **w)
{
	f->s->capped = on_off(w[0]);
}

static void do_trace(struct fake *f, char **w)
{
	f->s->trace = on_off(w[0]);
}

static void do_datagram(struct fake *f, char **w)
{
	f->s->goodsize = (unsigned int)number(w[0]);
}

static void do_hs_ctrl(struct fake *f, char **w)
{
	if (f->s->n_hs_ctrls == FAKE_HS_CTRLS_MAX || strlen(w[0]) >= sizeof(f->s->hs_ctrls[0]))
		fake_die("no room for hs_ctrl '%s'", w[0]);
	snprintf(f->s->hs_ctrls[f->s->n_hs_ctrls++], sizeof(f->s->hs_ctrls[0]), "%s", w[0]);
}

/* clang-format off */
static const char *const knob_types[] = { "number", "bool", "choice" };
static const char *const knob_units[] = { "none", "bytes", "seconds", "milliseconds" };

static const struct key knob_keys[] = {
	WORD(fake_knob, "type", type, knob_types), WORD(fake_knob, "unit", unit, knob_units),
	NUM(fake_knob, "min", min), NUM(fake_knob, "max", max), NUM(fake_knob, "def", def),
	NUM(fake_knob, "scope", scope), NUM(fake_knob, "effect", effect), WORD(fake_knob, "read_only", read_only, off_on),
	STR(fake_knob, "choice0", choices[0]), STR(fake_knob, "choice1", choices[1]),
	STR(fake_knob, "choice2", choices[2]), STR(fake_knob, "choice3", choices[3]),
};
/* clang-format on */

static void do_knob(struct fake *f, char **w)
{
	struct fake_knob *k = &f->s->knobs[f->s->n_knobs];

	if (f->s->n_knobs == FAKE_KNOBS_MAX || strlen(w[0]) >= sizeof(k->name))
		fake_die("no room for knob '%s'", w[0]);
	*k = (struct fake_knob){ .max = UINT32_MAX };
	snprintf(k->name, sizeof(k->name), "%s", w[0]);
	keys_set(k, knob_keys, ARRAY_SIZE(knob_keys), w + 1);
	while (k->n_choices < FAKE_CHOICES_MAX && k->choices[k->n_choices][0])
		k->n_choices++;
	for (unsigned int i = 0; i < FAKE_NETNS_MAX; i++)
		f->s->ns[i].knobs[f->s->n_knobs] = k->def;
	f->s->n_knobs++;
}

/* Loads the module anew. */
static void do_tune(struct fake *f, char **w)
{
	f->s->no_tune = !on_off(w[0]);
	if (f->s->loaded) {
		fake_module_unload(f);
		fake_module_load(f);
	}
}

/* clang-format off */
static const char *const techs[] = { "smcr", "smcd" };
static const char *const link_changes[] = { "group-up", "group-down", "link-up", "link-down", "group-state" };

static const struct key note_keys[] = {
	WORD(fake_note, "change", change, link_changes), WORD(fake_note, "tech", tech, techs),
	NUM(fake_note, "group", group), NUM(fake_note, "link", link), NUM(fake_note, "port", port),
	NUM(fake_note, "ifindex", ifindex), WORD(fake_note, "role", role, roles),
	WORD(fake_note, "state", state, lgr_types), NUM(fake_note, "reason", reason),
	NUM(fake_note, "peer_reason", peer_reason), NUM(fake_note, "lport", lport), NUM(fake_note, "rport", rport),
	NUM(fake_note, "suppressed", suppressed), STR(fake_note, "device", device), STR(fake_note, "local", local),
	STR(fake_note, "remote", remote),
};
/* clang-format on */

/* clang-format off */
static const char *const directions[] = { "send", "receive" };

static const struct key pool_keys[] = {
	WORD(fake_pool, "tech", smcd, techs), NUM(fake_pool, "group", group), NUM(fake_pool, "cookie", cookie),
	WORD(fake_pool, "direction", direction, directions), NUM(fake_pool, "size", size),
	NUM(fake_pool, "buffers", buffers), NUM(fake_pool, "in_use", in_use), NUM(fake_pool, "reuses", reuses),
	NUM(fake_pool, "allocations", allocations), NUM(fake_pool, "downgrades", downgrades),
	NUM(fake_pool, "contended", contended),
};

static const struct key hs_keys[] = {
	NUM(fake_hs, "queued", queued), NUM(fake_hs, "active", active), NUM(fake_hs, "established", established),
	NUM(fake_hs, "fallbacks", fallbacks), NUM(fake_hs, "errors", errors), NUM(fake_hs, "time_sum", time_sum),
	NUM(fake_hs, "time0", time[0]), NUM(fake_hs, "time1", time[1]), NUM(fake_hs, "time2", time[2]),
	NUM(fake_hs, "time3", time[3]),
};

static const struct key reason_keys[] = {
	WORD(fake_reason, "role", role, roles), NUM(fake_reason, "reason", reason),
	NUM(fake_reason, "peer_reason", peer_reason), NUM(fake_reason, "count", count),
	WORD(fake_reason, "others", others, off_on),
};

/* By the names of the specification. */
static const char *const tx_names[SMC_TUNE_A_TX_MAX + 1] = {
	[SMC_TUNE_A_TX_CORKED_APP] = "corked-app", [SMC_TUNE_A_TX_CORKED_MORE] = "corked-more",
	[SMC_TUNE_A_TX_CORKED_AUTO] = "corked-auto", [SMC_TUNE_A_TX_FLUSH_UNCORK] = "flush-uncork",
	[SMC_TUNE_A_TX_FLUSH_FULL] = "flush-full", [SMC_TUNE_A_TX_FLUSH_COMPLETION] = "flush-completion",
	[SMC_TUNE_A_TX_FLUSH_CEILING] = "flush-ceiling", [SMC_TUNE_A_TX_FLUSH_NODELAY] = "flush-nodelay",
	[SMC_TUNE_A_TX_FLUSH_WRITE] = "flush-write", [SMC_TUNE_A_TX_FLUSH_END] = "flush-end",
	[SMC_TUNE_A_TX_FLUSH_BYTES] = "flush-bytes", [SMC_TUNE_A_TX_NOCACHE_WRITES] = "nocache-writes",
	[SMC_TUNE_A_TX_NOCACHE_BYTES] = "nocache-bytes",
};
/* clang-format on */

static void do_pool(struct fake *f, char **w)
{
	struct fake_pool *p = &f->s->pools[f->s->n_pools];

	if (f->s->n_pools == FAKE_POOLS_MAX)
		fake_die("too many pools");
	*p = (struct fake_pool){ .cookie = 1 };
	keys_set(p, pool_keys, ARRAY_SIZE(pool_keys), w);
	f->s->n_pools++;
}

static void do_handshakes(struct fake *f, char **w)
{
	keys_set(&here(f)->hs[strcmp(w[0], "server") == 0], hs_keys, ARRAY_SIZE(hs_keys), w + 1);
}

static void do_reason(struct fake *f, char **w)
{
	struct fake_netns *ns = here(f);

	if (ns->n_reasons == FAKE_REASONS_MAX)
		fake_die("too many reasons");
	keys_set(&ns->reasons[ns->n_reasons++], reason_keys, ARRAY_SIZE(reason_keys), w);
}

static void do_tx(struct fake *f, char **w)
{
	if (strncmp(w[0], "size", 4) == 0 && w[0][4] >= '0' && w[0][4] < '0' + FAKE_BUCKETS && !w[0][5]) {
		here(f)->tx_size[w[0][4] - '0'] = number(w[1]);
		return;
	}
	for (size_t i = 0; i <= SMC_TUNE_A_TX_MAX; i++)
		if (str_eq(tx_names[i], w[0])) {
			here(f)->tx[i] = number(w[1]);
			return;
		}
	fake_die("there is no counter '%s'", w[0]);
}

static void do_event(struct fake *f, char **w)
{
	struct fake_note n = { 0 };

	keys_set(&n, note_keys, ARRAY_SIZE(note_keys), w + 1);
	if (strcmp(w[0], "link") == 0)
		fake_note_link(f, here(f), &n);
	else if (strcmp(w[0], "fallback") == 0)
		fake_note_fallback(f, here(f), &n);
	else
		fake_die("there is no event '%s'", w[0]);
}

static void do_netns(struct fake *f, char **w)
{
	f->s->netns = (unsigned int)(fake_ns_create(f, w[0] ? w[0] : "") - f->s->ns);
}

static void do_netns_del(struct fake *f, char **w)
{
	struct fake_netns *ns = fake_ns(f, w[0]);

	if (!ns || ns == f->s->ns)
		fake_die("there is no namespace '%s'", w[0]);
	ns->named = false;
	f->s->netns = 0;
}

static void do_iface(struct fake *f, char **w)
{
	struct fake_netns *ns = here(f);
	struct fake_iface *i;

	if (ns->n_ifaces == FAKE_IFACES_MAX)
		fake_die("too many interfaces");
	i = &ns->ifaces[ns->n_ifaces++];
	*i = (struct fake_iface){ .ifindex = (unsigned int)number(w[1]) };
	snprintf(i->name, sizeof(i->name), "%s", w[0]);
	snprintf(i->hw_pnetid, sizeof(i->hw_pnetid), "%s", w[2] ? w[2] : "");
}

static void do_sysctl(struct fake *f, char **w)
{
	int r = fake_sysctl_store(f, here(f), w[0], w[1]);

	if (r < 0)
		fake_die("sysctl %s %s: %s", w[0], w[1], strerror(-r));
}

static void do_ueid(struct fake *f, char **w)
{
	char eid[SMC_MAX_EID_LEN + 1];

	snprintf(eid, sizeof(eid), "%-32s", w[0]);
	if (f->s->n_ueid == SMC_MAX_UEID || !fake_ueid_valid(eid))
		fake_die("cannot add the UEID '%s'", w[0]);
	memcpy(f->s->ueid[f->s->n_ueid++], eid, SMC_MAX_EID_LEN);
}

static void do_pnet(struct fake *f, char **w)
{
	const char *eth = NULL, *ib = NULL;
	const uint8_t *p = NULL;
	uint8_t port;
	int r;

	for (char **o = w + 1; *o; o++) {
		if (strncmp(*o, "eth=", 4) == 0) {
			eth = *o + 4;
		} else if (strncmp(*o, "ib=", 3) == 0) {
			ib = *o + 3;
		} else if (strncmp(*o, "port=", 5) == 0) {
			port = (uint8_t)number(*o + 5);
			p = &port;
		} else {
			fake_die("there is no key '%s'", *o);
		}
	}
	r = fake_pnet_enter(f, f->s->netns, w[0], eth, ib, p);
	if (r < 0)
		fake_die("pnet %s: %s", w[0], strerror(-r));
}

static struct fake_lgr *lgr_find(struct fake *f, uint64_t id)
{
	for (unsigned int i = 0; i < f->s->n_lgrs; i++)
		if (f->s->lgrs[i].id == id)
			return &f->s->lgrs[i];
	return NULL;
}

static uint64_t is_smcd(const char *s)
{
	if (strcmp(s, "r") != 0 && strcmp(s, "d") != 0)
		fake_die("'%s' is neither r nor d", s);
	return s[0] == 'd';
}

static void do_lgr(struct fake *f, char **w)
{
	uint64_t id = number(w[1]);
	struct fake_lgr *l = lgr_find(f, id);

	if (!l && f->s->n_lgrs == FAKE_LGRS_MAX)
		fake_die("too many link groups");
	if (!l)
		l = &f->s->lgrs[f->s->n_lgrs++];
	*l = (struct fake_lgr){ .id = id,
				.smcd = is_smcd(w[0]),
				.version = 2,
				.release = 1,
				.type = 1,
				.max_conns = 255,
				.max_links = 2,
				.direct = 1,
				.cookie = 1 };
	keys_set(l, lgr_keys, ARRAY_SIZE(lgr_keys), w + 2);
}

static void do_link(struct fake *f, char **w)
{
	struct fake_lgr *l = lgr_find(f, number(w[0]));
	struct fake_link *k = NULL;
	uint64_t id = number(w[1]);

	if (!l)
		fake_die("there is no link group %s", w[0]);
	for (unsigned int i = 0; i < l->n_links; i++)
		if (l->links[i].id == id)
			k = &l->links[i];
	if (!k && l->n_links == FAKE_LINKS_MAX)
		fake_die("too many links");
	if (!k)
		k = &l->links[l->n_links++];
	*k = (struct fake_link){ .id = id, .state = 3, .port = 1 };
	keys_set(k, link_keys, ARRAY_SIZE(link_keys), w + 2);
}

static void do_device(struct fake *f, char **w)
{
	struct fake_device *d = NULL;

	for (unsigned int i = 0; i < f->s->n_devices; i++)
		if (strcmp(f->s->devices[i].name, w[1]) == 0)
			d = &f->s->devices[i];
	if (!d && f->s->n_devices == FAKE_DEVICES_MAX)
		fake_die("too many devices");
	if (!d)
		d = &f->s->devices[f->s->n_devices++];
	*d = (struct fake_device){ .smcd = is_smcd(w[0]), .port = { { .valid = 1, .active = 1 } } };
	if (strlen(w[1]) >= sizeof(d->name))
		fake_die("'%s' is too long", w[1]);
	snprintf(d->name, sizeof(d->name), "%s", w[1]);
	keys_set(d, device_keys, ARRAY_SIZE(device_keys), w + 2);
	fake_pnet_attach(f, d);
}

static void add_socket(struct fake *f, char **w, bool is_tcp)
{
	struct fake_socket n = {
		.netns = f->s->netns, .is_tcp = is_tcp, .family = 4, .state = 1, .src = "0.0.0.0", .dst = "0.0.0.0"
	};
	struct fake_socket *s = NULL;

	keys_set(&n, socket_keys, ARRAY_SIZE(socket_keys), w);
	if (!n.cookie)
		n.cookie = 0x1000 + f->s->n_sockets;
	if (!n.inode)
		n.inode = 0x2000 + f->s->n_sockets;
	for (unsigned int i = 0; i < f->s->n_sockets; i++)
		if (f->s->sockets[i].cookie == n.cookie)
			s = &f->s->sockets[i];
	if (!s && f->s->n_sockets == FAKE_SOCKETS_MAX)
		fake_die("too many sockets");
	if (!s)
		s = &f->s->sockets[f->s->n_sockets++];
	*s = n;
}

static void do_socket(struct fake *f, char **w)
{
	add_socket(f, w, false);
}

static void do_tcp(struct fake *f, char **w)
{
	add_socket(f, w, true);
}

#define REMOVE_AT(array, n, i) memmove(&(array)[i], &(array)[(i) + 1], (--(n) - (i)) * sizeof((array)[0]))

static void do_remove(struct fake *f, char **w)
{
	struct fake_kstate *s = f->s;

	if (strcmp(w[0], "device") == 0) {
		for (unsigned int i = 0; i < s->n_devices; i++)
			if (strcmp(s->devices[i].name, w[1]) == 0) {
				REMOVE_AT(s->devices, s->n_devices, i);
				return;
			}
	} else if (strcmp(w[0], "lgr") == 0) {
		for (unsigned int i = 0; i < s->n_lgrs; i++)
			if (s->lgrs[i].id == number(w[1])) {
				REMOVE_AT(s->lgrs, s->n_lgrs, i);
				return;
			}
	} else {
		for (unsigned int i = 0; i < s->n_sockets; i++)
			if (s->sockets[i].cookie == number(w[1])) {
				REMOVE_AT(s->sockets, s->n_sockets, i);
				return;
			}
	}
	fake_die("there is no %s %s", w[0], w[1]);
}

static void stat_store(uint64_t *at, const char *value)
{
	*at = value[0] == '+' ? *at + number(value + 1) : number(value);
}

static void do_stat(struct fake *f, char **w)
{
	char *bracket = strchr(w[1], '[');
	size_t bucket = bracket ? number(strtok(bracket + 1, "]")) : 0;
	struct fake_netns *ns = here(f);
	const struct counter *st = NULL;
	enum smc_tech tech = strcmp(w[0], "smcr") == 0 ? TECH_SMCR : TECH_SMCD;

	if (bracket)
		*bracket = '\0';
	for (size_t i = 0; i < n_stats; i++)
		if (strcmp(stats_table[i].key, w[1]) == 0)
			st = &stats_table[i];
	if (!st || st->histogram != !!bracket || bucket >= N_BUCKETS || st->global != (strcmp(w[0], "all") == 0))
		fake_die("there is no counter '%s' of %s", w[1], w[0]);
	if (st->global)
		stat_store(&ns->hs_errors[st->path[0] == SMC_NLA_STATS_SRV_HS_ERR_CNT], w[2]);
	else if (st->histogram)
		stat_store(&ns->stats[tech][st->path[0]][SMC_NLA_STATS_PLOAD_8K + bucket], w[2]);
	else
		stat_store(&ns->stats[tech][st->path[0]][st->path[1]], w[2]);
}

static void do_fallback(struct fake *f, char **w)
{
	unsigned int role = strcmp(w[0], "client") == 0;
	struct fake_netns *ns = here(f);
	uint32_t code = (uint32_t)number(w[1]);
	uint64_t n = number(w[2]);

	ns->fback_total[role] += n;
	for (size_t i = 0; i < FAKE_FBACK_MAX; i++) {
		struct fake_fback *b = &ns->fback[role][i];

		if (b->code && b->code != code)
			continue;
		b->code = code;
		b->count += n;
		return;
	}
}

/* ---- faults ---- */

static const char *const points[N_FAULT_POINTS] = {
	[FAULT_SEND] = "send",
	[FAULT_RECV] = "recv",
	[FAULT_SYSCTL_READ] = "sysctl_read",
	[FAULT_SYSCTL_WRITE] = "sysctl_write",
	[FAULT_ANSWER] = "answer",
	[FAULT_DUMP] = "dump",
	[FAULT_MANGLE] = "mangle",
};

static const struct {
	const char *name;
	enum fault_point point;
} whats[N_WHATS] = {
	[WHAT_ERRNO] = { "", N_FAULT_POINTS },
	[WHAT_IGNORED] = { "ignored", FAULT_SYSCTL_WRITE },
	[WHAT_INTR] = { "intr", FAULT_DUMP },
	[WHAT_HIDE] = { "hide", FAULT_DUMP },
	[WHAT_SKIP] = { "skip", FAULT_DUMP },
	[WHAT_DOUBLE] = { "double", FAULT_DUMP },
	[WHAT_ENDLESS] = { "endless", FAULT_DUMP },
	[WHAT_NO_DONE] = { "no_done", FAULT_DUMP },
	[WHAT_NOTHING] = { "nothing", FAULT_DUMP },
	[WHAT_LEN_BIG] = { "len_big", FAULT_MANGLE },
	[WHAT_LEN_SMALL] = { "len_small", FAULT_MANGLE },
	[WHAT_LEN_ZERO] = { "len_zero", FAULT_MANGLE },
	[WHAT_ATTR_LONG] = { "attr_long", FAULT_MANGLE },
	[WHAT_ATTR_ZERO] = { "attr_zero", FAULT_MANGLE },
	[WHAT_ATTR_SHORT] = { "attr_short", FAULT_MANGLE },
	[WHAT_TRUNCATE] = { "truncate", FAULT_MANGLE },
	[WHAT_EMPTY] = { "empty", FAULT_MANGLE },
	[WHAT_FOREIGN_SEQ] = { "foreign_seq", FAULT_MANGLE },
	[WHAT_WRONG_TYPE] = { "wrong_type", FAULT_MANGLE },
	[WHAT_NARROW] = { "narrow", FAULT_MANGLE },
	[WHAT_WIDE] = { "wide", FAULT_MANGLE },
	[WHAT_UNTERMINATED] = { "unterminated", FAULT_MANGLE },
	[WHAT_GARBAGE] = { "garbage", FAULT_MANGLE },
	[WHAT_NO_ID] = { "no_id", FAULT_MANGLE },
	[WHAT_LACKING] = { "lacking", FAULT_MANGLE },
};

static int errno_value(const char *name)
{
	for (int i = 1; i < 134; i++)
		if (strcmp(errno_name(i), name) == 0)
			return i;
	fake_die("there is no error '%s'", name);
}

static void fault_what(struct fake_fault *x, const char *name)
{
	x->what = WHAT_ERRNO;
	for (unsigned int i = WHAT_ERRNO + 1; i < N_WHATS; i++)
		if ((whats[i].point == x->point || (i == WHAT_IGNORED && x->point == FAULT_ANSWER)) &&
		    strcmp(whats[i].name, name) == 0)
			x->what = (enum fault_what)i;
	if (x->what == WHAT_ERRNO)
		x->err = errno_value(name);
}

static void fault_option(struct fake_fault *x, const char *word)
{
	if (isdigit((unsigned char)word[0]))
		x->times = (uint32_t)number(word);
	else if (strncmp(word, "times=", 6) == 0)
		x->times = (uint32_t)number(word + 6);
	else if (strncmp(word, "after=", 6) == 0)
		x->after = (uint32_t)number(word + 6);
	else if (strncmp(word, "arg=", 4) == 0)
		x->arg = number(word + 4);
	else if (strncmp(word, "cmd=", 4) == 0)
		snprintf(x->cmd, sizeof(x->cmd), "%s", word + 4);
	else if (strncmp(word, "text=", 5) == 0)
		snprintf(x->text, sizeof(x->text), "%s", word + 5);
	else if (strcmp(word, "bus=genl") == 0 || strcmp(word, "bus=diag") == 0)
		x->bus = word[4] == 'g' ? BUS_GENL : BUS_DIAG;
	else if (strcmp(word, "bus=events") == 0)
		x->bus = BUS_EVENTS;
	else
		fake_die("there is no key '%s'", word);
}

static bool cmd_known(const char *cmd)
{
	const struct fake_op *op;

	if (!cmd[0] || fake_sysctl_index(cmd) >= 0)
		return true;
	for (unsigned int i = 0; (op = fake_op_at(i)); i++)
		if (strcmp(op->name, cmd) == 0)
			return true;
	return false;
}

static void do_fault(struct fake *f, char **w)
{
	struct fake_fault x = { .times = 1, .bus = -1, .point = N_FAULT_POINTS };

	if (strcmp(w[0], "clear") == 0) {
		f->s->n_faults = 0;
		return;
	}
	for (unsigned int i = 0; i < N_FAULT_POINTS; i++)
		if (strcmp(points[i], w[0]) == 0)
			x.point = (enum fault_point)i;
	if (x.point == N_FAULT_POINTS || !w[1])
		fake_die("there is no fault '%s'", w[0]);
	fault_what(&x, w[1]);
	for (char **o = w + 2; *o; o++)
		fault_option(&x, *o);
	if (!cmd_known(x.cmd))
		fake_die("there is no operation '%s'", x.cmd);
	if (f->s->n_faults == FAKE_FAULTS_MAX)
		fake_die("too many faults");
	f->s->faults[f->s->n_faults++] = x;
}

/* ---- lines ---- */

static const struct {
	const char *name;
	unsigned int min; /* words behind the name */
	void (*run)(struct fake *f, char **w);
} lines[] = {
	{ "era", 1, do_era },
	{ "module", 1, do_module },
	{ "privileged", 1, do_privileged },
	{ "s390", 1, do_s390 },
	{ "ism_v2", 1, do_ism_v2 },
	{ "host", 1, do_host },
	{ "pads", 1, do_pads },
	{ "wide", 1, do_wide },
	{ "capped", 1, do_capped },
	{ "trace", 1, do_trace },
	{ "datagram", 1, do_datagram },
	{ "hs_ctrl", 1, do_hs_ctrl },
	{ "tune", 1, do_tune },
	{ "knob", 1, do_knob },
	{ "event", 1, do_event },
	{ "pool", 1, do_pool },
	{ "handshakes", 2, do_handshakes },
	{ "reason", 2, do_reason },
	{ "tx", 2, do_tx },
	{ "netns", 0, do_netns },
	{ "netns_del", 1, do_netns_del },
	{ "iface", 2, do_iface },
	{ "sysctl", 2, do_sysctl },
	{ "ueid", 1, do_ueid },
	{ "pnet", 2, do_pnet },
	{ "lgr", 2, do_lgr },
	{ "link", 2, do_link },
	{ "device", 2, do_device },
	{ "socket", 0, do_socket },
	{ "tcp", 0, do_tcp },
	{ "remove", 2, do_remove },
	{ "stat", 3, do_stat },
	{ "fallback", 3, do_fallback },
	{ "fault", 1, do_fault },
};

/* Cut at blanks; quotes keep blanks and vanish. */
static unsigned int split(char *line, char **words)
{
	unsigned int n = 0;
	bool quoted = false;
	char *in = line, *out = line;

	while (*(in += strspn(in, " \t")) && *in != '#') {
		if (n == WORDS_MAX)
			fake_die("too many words");
		words[n++] = out;
		for (; *in && (quoted || !strchr(" \t", *in)); in++) {
			if (*in == '"')
				quoted = !quoted;
			else
				*out++ = *in;
		}
		in += *in != '\0';
		*out++ = '\0';
	}
	words[n] = NULL;
	return n;
}

void fake_line(struct fake *f, char *line)
{
	char *words[WORDS_MAX + 4] = { 0 };
	unsigned int n = split(line, words);

	if (!n)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (strcmp(lines[i].name, words[0]) != 0)
			continue;
		if (n - 1 < lines[i].min)
			fake_die("line %u: '%s' needs %u words", f->s->script_line, words[0], lines[i].min);
		lines[i].run(f, words + 1);
		return;
	}
	fake_die("line %u: there is no '%s'", f->s->script_line, words[0]);
}

void fake_do(struct fake *f, const char *fmt, ...)
{
	CLEANUP_FREE char *line = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) < 0)
		fake_die("out of memory");
	va_end(ap);
	fake_line(f, line);
}
