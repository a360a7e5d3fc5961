// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernel.h on the fake kernel: every function in every era, the kernel's traps, and every fault. What a user relies on
 * is that an answer is right, or is an error that says what failed; never that nothing looks like zero.
 */
#include "env.h"
#include "reasons.h"

#include <limits.h>
/* An error that a person can use: the code, and a text. */
#define assert_err(v, r, want_)                                                                                        \
	do {                                                                                                           \
		int got_ = (r);                                                                                        \
		if (got_ != (want_))                                                                                   \
			print_error("got %d (%s) instead of %d: %s\n", got_, got_ < 0 ? errno_name(got_) : "ok",       \
				    want_, (v)->e.text);                                                               \
		assert_int_equal(got_, want_);                                                                         \
		assert_int_equal((v)->e.code, want_);                                                                  \
		assert_true((v)->e.text[0]);                                                                           \
	} while (0)

#define assert_ok(v, r)                                                                                                \
	do {                                                                                                           \
		int got_ = (r);                                                                                        \
		if (got_ < 0)                                                                                          \
			print_error("got %d (%s): %s\n", got_, errno_name(got_), (v)->e.text);                         \
		assert_true(got_ >= 0);                                                                                \
	} while (0)

static const struct knob *knob(const char *name)
{
	const struct knob *k = knob_find(name);

	assert_non_null(k);
	return k;
}

static struct list get_list(struct env *v, enum noun_id noun)
{
	struct list l;

	assert_ok(v, kernel_list(v->k, &nouns[noun], &l, &v->e));
	return l;
}

static struct value cell(const struct list *l, size_t row, unsigned int field)
{
	assert_true(row < l->n);
	return list_row(l, row)[field];
}

static void assert_uint(const struct list *l, size_t row, unsigned int field, uint64_t want)
{
	struct value x = cell(l, row, field);

	if (x.kind != VALUE_UINT || x.u != want)
		print_error("%s of row %zu\n", l->noun->fields[field].name, row);
	assert_int_equal(x.kind, VALUE_UINT);
	assert_int_equal(x.u, want);
}

static void assert_str(const struct list *l, size_t row, unsigned int field, const char *want)
{
	struct value x = cell(l, row, field);

	if (x.kind != VALUE_STR)
		print_error("%s of row %zu\n", l->noun->fields[field].name, row);
	assert_int_equal(x.kind, VALUE_STR);
	assert_string_equal(x.s, want);
}

static void assert_absent(const struct list *l, size_t row, unsigned int field)
{
	if (cell(l, row, field).kind != VALUE_ABSENT)
		print_error("%s of row %zu\n", l->noun->fields[field].name, row);
	assert_int_equal(cell(l, row, field).kind, VALUE_ABSENT);
}

/* NULL: nothing serves the knob here. */
static const char *surface_of(struct kernel *k, const struct knob *knob)
{
	const char *surface = NULL;
	struct value x;

	return kernel_knob_read(k, knob, &x, &surface, NULL) < 0 ? NULL : surface;
}

/* ---- what is there ---- */

static void test_no_smc(void **state)
{
	ENV(v, "none");
	struct fallback_totals totals;
	struct sysinfo_smc info;
	struct features have;
	struct stats stats;
	struct value x;
	struct list l;

	(void)state;
	for (int autoload = 0; autoload < 2; autoload++) {
		assert_ok(v, kernel_probe(v->k, autoload, &have, &v->e));
		assert_false(have.smc || have.pnetid || have.sysctl);
	}
	for (unsigned int i = 0; i < N_NOUNS; i++)
		assert_err(v, kernel_list(v->k, &nouns[i], &l, &v->e), -ENOPROTOOPT);
	assert_err(v, kernel_stats(v->k, &stats, &v->e), -ENOPROTOOPT);
	assert_err(v, kernel_fallbacks(v->k, &l, &totals, &v->e), -ENOPROTOOPT);
	assert_err(v, kernel_sysinfo(v->k, &info, &v->e), -ENOPROTOOPT);
	for (size_t i = 0; i < n_knobs; i++) {
		assert_err(v, kernel_knob_get(v->k, &knobs[i], &x, &v->e), -ENOPROTOOPT);
		if (knobs[i].def.kind != VALUE_ABSENT)
			assert_err(v, kernel_knob_set(v->k, &knobs[i], knobs[i].def, &v->e), -ENOPROTOOPT);
		assert_null(surface_of(v->k, &knobs[i]));
	}
	assert_err(v, kernel_ueid_add(v->k, "A", &v->e), -ENOPROTOOPT);
	assert_err(v, kernel_ueid_delete(v->k, "A", &v->e), -ENOPROTOOPT);
	assert_err(v, kernel_ueid_flush(v->k, &v->e), -ENOPROTOOPT);
	assert_err(v, kernel_seid_set(v->k, true, &v->e), -ENOPROTOOPT);
	assert_err(v, kernel_pnet_flush(v->k, &v->e), -ENOPROTOOPT);
	assert_err(v, kernel_pnet_add(v->k, &(struct pnet_entry){ .id = "A", .interface = "eth0" }, &v->e),
		   -ENOPROTOOPT);
	assert_err(v, kernel_pnet_delete(v->k, &(struct pnet_entry){ .id = "A" }, &v->e), -ENOPROTOOPT);
}

static void test_module_is_loaded_on_demand_only(void **state)
{
	ENV(v, "unloaded");
	struct features have;
	struct list l;

	(void)state;
	assert_ok(v, kernel_probe(v->k, false, &have, &v->e));
	assert_false(have.smc || have.pnetid || have.sysctl);
	assert_err(v, kernel_list(v->k, &nouns[NOUN_PNET], &l, &v->e), -ENOPROTOOPT);
	assert_err(v, kernel_list(v->k, &nouns[NOUN_LINKS], &l, &v->e), -ENOPROTOOPT);
	assert_null(fake_sysctl(v->f, "", "wmem"));
	assert_ok(v, kernel_probe(v->k, true, &have, &v->e));
	assert_true(have.smc && have.pnetid && have.sysctl);
	assert_string_equal(fake_sysctl(v->f, "", "wmem"), "65536");
}

static void test_module_reloaded(void **state)
{
	ENV(v, "6.12");
	struct features have;
	struct list l;

	(void)state;
	fake_do(v->f, "ueid FIRST");
	l = get_list(v, NOUN_UEID);
	assert_int_equal(l.n, 1);
	list_done(&l);
	fake_do(v->f, "module unload");
	assert_err(v, kernel_list(v->k, &nouns[NOUN_UEID], &l, &v->e), -ENOPROTOOPT);
	assert_ok(v, kernel_probe(v->k, false, &have, &v->e));
	assert_false(have.smc || have.pnetid || have.sysctl);
	fake_do(v->f, "module load");
	/* Without a new look at what is there: the ids are others now. */
	fake_do(v->f, "ueid SECOND");
	l = get_list(v, NOUN_UEID);
	assert_str(&l, 0, UEID_EID, "SECOND");
	list_done(&l);
	fake_do(v->f, "module unload");
	assert_ok(v, kernel_probe(v->k, false, &have, &v->e));
	assert_false(have.smc || have.pnetid || have.sysctl);
	fake_do(v->f, "module load");
	assert_ok(v, kernel_ueid_add(v->k, "THIRD", &v->e));
	assert_ok(v, kernel_pnet_add(v->k, &(struct pnet_entry){ .id = "A", .interface = "eth0" }, &v->e));
}

static void test_probe_in_each_era(void **state)
{
	(void)state;
	for (unsigned int i = 2; fake_eras[i]; i++) {
		ENV(v, fake_eras[i]);
		struct features have;

		assert_ok(v, kernel_probe(v->k, false, &have, &v->e));
		assert_true(have.smc && have.pnetid && have.sysctl != have.tune);
		assert_int_equal(have.tune, str_eq(fake_eras[i], "6.12-smcd"));
	}
}

static void test_transport_open(void **state)
{
	ENV(v, "6.12");
	struct transport t;

	(void)state;
	assert_err(v, transport_open("nowhere", NULL, &t, &v->e), -ENOENT);
	fake_do(v->f, "netns blue");
	assert_ok(v, transport_open("blue", NULL, &t, &v->e));
	t.ops->free(t.ctx);
	fake_do(v->f, "netns_del blue");
	assert_err(v, transport_open("blue", NULL, &t, &v->e), -ENOENT);
}

/* ---- knobs ---- */

static void test_knob_defaults(void **state)
{
	(void)state;
	for (unsigned int i = 2; fake_eras[i]; i++) {
		ENV(v, fake_eras[i]);

		for (size_t j = 0; j < n_knobs; j++) {
			const char *sysctl = knobs[j].sysctl ? fake_sysctl(v->f, "", knobs[j].sysctl) : NULL;
			bool here = sysctl || knobs[j].genl;
			struct value x;

			if (!here) {
				assert_err(v, kernel_knob_get(v->k, &knobs[j], &x, &v->e), -EOPNOTSUPP);
				assert_null(surface_of(v->k, &knobs[j]));
				continue;
			}
			assert_string_equal(surface_of(v->k, &knobs[j]), kernel_knobs_together(v->k) ? "smc_tune"
									 : sysctl                    ? "sysctl"
												     : "netlink");
			assert_ok(v, kernel_knob_get(v->k, &knobs[j], &x, &v->e));
			if (knobs[j].def.kind != VALUE_ABSENT)
				assert_true(value_equal(x, knobs[j].def));
		}
	}
}

static void test_knob_follows_others(void **state)
{
	ENV(v, "7.2");
	struct value x;

	(void)state;
	fake_do(v->f, "sysctl wmem 131072");
	assert_ok(v, kernel_knob_get(v->k, knob("wmem"), &x, &v->e));
	assert_int_equal(x.u, 131072);
	fake_do(v->f, "sysctl smcr_buf_type 2");
	assert_ok(v, kernel_knob_get(v->k, knob("smcr_buf_type"), &x, &v->e));
	assert_int_equal(x.kind, VALUE_UINT);
	assert_int_equal(x.u, 2);
	fake_do(v->f, "hs_ctrl linux");
	fake_do(v->f, "sysctl hs_ctrl linux");
	assert_ok(v, kernel_knob_get(v->k, knob("hs_ctrl"), &x, &v->e));
	assert_int_equal(x.kind, VALUE_STR);
	assert_string_equal(x.s, "linux");
}

/* Another process may write what the kernel takes and we refuse; it must not be shown as some other number. */
static void test_negative_testlink_time(void **state)
{
	ENV(v, "6.12");
	struct value x = value_uint(77);

	(void)state;
	fake_do(v->f, "sysctl smcr_testlink_time -5");
	assert_string_equal(fake_sysctl(v->f, "", "smcr_testlink_time"), "-5");
	assert_true(kernel_knob_get(v->k, knob("smcr_testlink_time"), &x, &v->e) < 0);
	assert_non_null(strstr(v->e.text, "-5"));
	assert_ok(v, kernel_knob_set(v->k, knob("smcr_testlink_time"), value_uint(30), &v->e));
	assert_string_equal(fake_sysctl(v->f, "", "smcr_testlink_time"), "30");
}

static void test_knob_set_refusals(void **state)
{
	static const struct {
		const char *fault;
		int code;
	} cases[] = {
		{ "fault sysctl_write EINVAL cmd=wmem", -EINVAL }, { "fault sysctl_write EPERM cmd=wmem", -EPERM },
		{ "fault sysctl_write EIO cmd=wmem", -EIO },       { "fault sysctl_write ignored cmd=wmem", -EIO },
		{ "fault sysctl_write ENOMEM", -ENOMEM },
	};
	ENV(v, "6.12");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_do(v->f, "%s", cases[i].fault);
		assert_err(v, kernel_knob_set(v->k, knob("wmem"), value_uint(131072), &v->e), cases[i].code);
		assert_non_null(strstr(v->e.text, "wmem"));
		assert_string_equal(fake_sysctl(v->f, "", "wmem"), "65536");
		assert_int_equal(fake_faults_left(v->f), 0);
	}
	assert_ok(v, kernel_knob_set(v->k, knob("wmem"), value_uint(131072), &v->e));
}

static void test_knob_range_is_checked_before_the_kernel(void **state)
{
	ENV(v, "6.12");
	unsigned int writes = fake_requests(v->f, "sysctl_write");

	(void)state;
	assert_err(v, kernel_knob_set(v->k, knob("wmem"), value_uint(16383), &v->e), -ERANGE);
	assert_err(v, kernel_knob_set(v->k, knob("wmem"), value_uint(UINT64_MAX), &v->e), -ERANGE);
	assert_err(v, kernel_knob_set(v->k, knob("limit_smc_hs"), value_uint(2), &v->e), -ERANGE);
	assert_int_equal(fake_requests(v->f, "sysctl_write"), writes);
}

static void test_knob_unprivileged(void **state)
{
	ENV(v, "6.12");
	int r;

	(void)state;
	fake_do(v->f, "privileged off");
	r = kernel_knob_set(v->k, knob("wmem"), value_uint(131072), &v->e);
	assert_true(r == -EACCES || r == -EPERM);
	assert_true(v->e.text[0]);
	assert_string_equal(fake_sysctl(v->f, "", "wmem"), "65536");
}

static void test_knob_read_fault(void **state)
{
	ENV(v, "6.12");
	struct value x = value_uint(77);

	(void)state;
	fake_do(v->f, "fault sysctl_read EIO cmd=wmem");
	assert_err(v, kernel_knob_get(v->k, knob("wmem"), &x, &v->e), -EIO);
	assert_int_equal(x.u, 77);
}

static void test_hs_limitation_by_netlink(void **state)
{
	ENV(v, "6.1");
	const struct knob *hs = knob("limit_smc_hs");
	struct value x;

	(void)state;
	assert_string_equal(surface_of(v->k, hs), "netlink");
	for (uint64_t on = 1; on < 2; on--) {
		assert_ok(v, kernel_knob_set(v->k, hs, value_uint(on), &v->e));
		assert_ok(v, kernel_knob_get(v->k, hs, &x, &v->e));
		assert_int_equal(x.u, on);
	}
	fake_do(v->f, "privileged off");
	assert_err(v, kernel_knob_set(v->k, hs, value_uint(1), &v->e), -EPERM);
	assert_ok(v, kernel_knob_get(v->k, hs, &x, &v->e));
	assert_int_equal(x.u, 0);
}

/* Names have room wherever they are kept: in a state that was read, in smcd's records, in the kernel access. */
static void test_knob_strings_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_knobs; i++)
		if (knobs[i].spec.type == TYPE_STRING)
			assert_true(knobs[i].spec.max <= KNOB_STRING_MAX);
}

static void test_hs_ctrl(void **state)
{
	ENV(v, "7.2");
	const struct knob *k = knob("hs_ctrl");

	(void)state;
	fake_do(v->f, "hs_ctrl linux");
	assert_ok(v, kernel_knob_set(v->k, k, value_str("linux"), &v->e));
	assert_string_equal(fake_sysctl(v->f, "", "hs_ctrl"), "linux");
	assert_err(v, kernel_knob_set(v->k, k, value_str("nobody"), &v->e), -EINVAL);
	assert_err(v, kernel_knob_set(v->k, k, value_str("sixteen-letters-"), &v->e), -ERANGE);
	assert_string_equal(fake_sysctl(v->f, "", "hs_ctrl"), "linux");
	assert_ok(v, kernel_knob_set(v->k, k, value_str(""), &v->e));
	assert_string_equal(fake_sysctl(v->f, "", "hs_ctrl"), "");
}

static void test_namespaces_are_apart(void **state)
{
	ENV(v, "6.12");
	struct kernel *blue CLEANUP_KERNEL = NULL;
	struct value x;

	(void)state;
	fake_do(v->f, "netns blue");
	blue = fake_kernel(v->f, "blue");
	assert_string_equal(kernel_netns(blue), "blue");
	assert_string_equal(kernel_netns(v->k), "");
	assert_ok(v, kernel_knob_set(blue, knob("wmem"), value_uint(1 << 20), &v->e));
	assert_ok(v, kernel_knob_get(v->k, knob("wmem"), &x, &v->e));
	assert_int_equal(x.u, 65536);
	fake_do(v->f, "fault sysctl_write EINVAL");
	assert_err(v, kernel_knob_set(blue, knob("wmem"), value_uint(1 << 20), &v->e), -EINVAL);
	assert_non_null(strstr(v->e.text, "blue"));
}

/* ---- lists ---- */

static void make_linkgroups(struct env *v)
{
	fake_do(v->f,
		"lgr r 0x101 role=server type=symmetric conns=3 buf_type=virtual vlan=300 cookie=0x1122334455667788 "
		"pnetid=NETA sndbuf=0x100000000 rcvbuf=65536 os=2 release=1 peer_host=peer.example eid=EID-1 direct=1 "
		"max_conns=32 max_links=1");
	fake_do(v->f, "lgr r 0x102 role=client version=1 conns=1");
	fake_do(v->f, "lgr d 0x201 conns=7 gid=0x8000000000000001 ext_gid=2 peer_gid=0xffffffffffffffff peer_ext_gid=4 "
		      "chid=65535 sndbuf=0 rcvbuf=98304 pnetid=NETD eid=EID-2 peer_host=lo");
	fake_do(v->f,
		"link 0x101 1 state=active device=rxe0 port=1 conns=2 ifindex=7 uid=0xdeadbeef peer_uid=0x01020304 "
		"gid=fe80:0000:0000:0000:0200:00ff:fe00:0001 peer_gid=fe80:0000:0000:0000:0200:00ff:fe00:0002");
	fake_do(v->f, "link 0x101 2 state=inactive device=rxe1 port=2 conns=1 ifindex=99");
	fake_do(v->f, "link 0x102 1 state=activating device=rxe0");
}

static void make_all(struct env *v)
{
	fake_do(v->f, "iface eth0 7");
	make_linkgroups(v);
	fake_do(v->f,
		"device r rxe0 critical=on ifindex1=7 active1=on links1=2 pnetid1=HWNET port2=on active2=off ifindex2=0");
	fake_do(v->f, "device r mlx5_0 pci=on fid=0x10 pchid=0x20 vendor=0x15b3 device=0x1017 pci_id=0000:3b:00.0");
	fake_do(v->f, "device d ism0 pci=on lgrs=2 pci_id=0000:00:01.0 pnetid1=NETD");
	fake_do(v->f, "device d lo0 loopback=on lgrs=1");
	fake_do(v->f, "socket cookie=0x700000001 state=listen sport=80 src=127.0.0.1 uid=33 inode=5001");
	fake_do(v->f,
		"socket cookie=0x11 mode=smcr src=192.0.2.1 dst=192.0.2.2 sport=80 dport=40000 token=5 sndbuf=65536 "
		"rcvbuf=131072 peer_rcvbuf=262144 rx_prod=1000 rx_cons=400 tx_fin=10 tx_prep=30 role=server link=1 "
		"device=rxe0 device_port=1 gid=fe80::1 peer_gid=fe80::2 shutdown=1");
	fake_do(v->f,
		"socket cookie=0x12 mode=smcd proto=ipproto src=127.0.0.1 dst=127.0.0.1 sport=81 dport=40001 token=6 "
		"sndbuf=65536 rcvbuf=65536 linkid=0x201 smcd_gid=7 smcd_peer_gid=8 smcd_token=9");
	fake_do(v->f, "socket cookie=0x13 mode=tcp src=192.0.2.1 dst=192.0.2.9 sport=82 dport=40002 reason=0x03030000 "
		      "peer_reason=0x03010000");
	fake_do(v->f, "socket cookie=0x14 family=6 proto=ipproto mode=smcr src=2001:db8::1 dst=2001:db8::2 sport=83 "
		      "dport=40003 token=7 device=rxe0 device_port=1 link=1");
	fake_do(v->f, "socket cookie=0x15 state=init no_tcp=on");
	fake_do(v->f, "tcp cookie=0x16 src=192.0.2.1 dst=192.0.2.3 sport=22 dport=50000");
	fake_do(v->f, "pnet NETA eth=eth0");
	fake_do(v->f, "pnet NETA ib=mlx5_0 port=2");
	fake_do(v->f, "pnet NETB eth=eth9");
	fake_do(v->f, "ueid PROD-EID-1");
	fake_do(v->f, "ueid TEST.EID");
	fake_do(v->f, "fallback server 0x03030000 3");
	fake_do(v->f, "fallback client 0x03030000 70000");
	fake_do(v->f, "fallback client 0x03010000 1");
	fake_do(v->f, "host machine");
}

static void test_linkgroups(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };

	(void)state;
	make_all(v);
	l = get_list(v, NOUN_LINKGROUPS);
	assert_int_equal(l.n, 3);
	assert_false(l.incomplete);
	assert_uint(&l, 0, LGR_ID, 0x101);
	assert_uint(&l, 0, LGR_TECH, TECH_SMCR);
	assert_uint(&l, 0, LGR_ROLE, 1);
	assert_uint(&l, 0, LGR_TYPE, 2);
	assert_uint(&l, 0, LGR_CONNS, 3);
	assert_str(&l, 0, LGR_PNETID, "NETA");
	assert_uint(&l, 0, LGR_VLAN, 300 & 0xff);
	assert_uint(&l, 0, LGR_VERSION, 2);
	assert_uint(&l, 0, LGR_RELEASE, 1);
	assert_uint(&l, 0, LGR_PEER_OS, 2);
	assert_str(&l, 0, LGR_EID, "EID-1");
	assert_str(&l, 0, LGR_PEER_HOST, "peer.example");
	assert_uint(&l, 0, LGR_DIRECT, 1);
	assert_uint(&l, 0, LGR_MAX_CONNS, 32);
	assert_uint(&l, 0, LGR_MAX_LINKS, 1);
	assert_uint(&l, 0, LGR_BUF_TYPE, 1);
	assert_uint(&l, 0, LGR_SNDBUF, 0x100000000);
	assert_uint(&l, 0, LGR_RCVBUF, 65536);
	assert_uint(&l, 0, LGR_NET_COOKIE, 0x1122334455667788);
	assert_absent(&l, 0, LGR_GID);
	assert_uint(&l, 1, LGR_ID, 0x102);
	assert_absent(&l, 1, LGR_VERSION);
	assert_absent(&l, 1, LGR_MAX_CONNS);
	assert_uint(&l, 2, LGR_TECH, TECH_SMCD);
	assert_uint(&l, 2, LGR_CONNS, 7);
	assert_uint(&l, 2, LGR_GID, 0x8000000000000001);
	assert_uint(&l, 2, LGR_EXT_GID, 2);
	assert_uint(&l, 2, LGR_PEER_GID, UINT64_MAX);
	assert_uint(&l, 2, LGR_PEER_EXT_GID, 4);
	assert_uint(&l, 2, LGR_CHID, 65535);
	assert_uint(&l, 2, LGR_SNDBUF, 0);
	assert_str(&l, 2, LGR_PNETID, "NETD");
	assert_str(&l, 2, LGR_EID, "EID-2");
	assert_absent(&l, 2, LGR_ROLE);
	assert_absent(&l, 2, LGR_NET_COOKIE);
}

static void test_old_kernel_has_less(void **state)
{
	ENV(v, "6.1");
	struct list l CLEANUP_LIST = { 0 };
	struct stats s CLEANUP_STATS = { 0 };

	(void)state;
	make_all(v);
	l = get_list(v, NOUN_LINKGROUPS);
	assert_absent(&l, 0, LGR_SNDBUF);
	assert_absent(&l, 0, LGR_RCVBUF);
	assert_absent(&l, 0, LGR_MAX_CONNS);
	assert_uint(&l, 0, LGR_DIRECT, 1);
	assert_absent(&l, 2, LGR_EXT_GID);
	assert_uint(&l, 2, LGR_GID, 0x8000000000000001);
	assert_ok(v, kernel_stats(v->k, &s, &v->e));
	for (size_t i = 0; i < n_stats; i++) {
		bool usage = stats_table[i].metric == M_BUF_USED;

		assert_int_equal(s.v[i][TECH_SMCD].v.kind != VALUE_ABSENT || stats_table[i].histogram, !usage);
	}
}

static void test_links(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };

	(void)state;
	make_all(v);
	l = get_list(v, NOUN_LINKS);
	assert_int_equal(l.n, 3);
	assert_uint(&l, 0, LINK_LGR, 0x101);
	assert_uint(&l, 0, LINK_ID, 1);
	assert_uint(&l, 0, LINK_STATE, 3);
	assert_str(&l, 0, LINK_DEVICE, "rxe0");
	assert_uint(&l, 0, LINK_PORT, 1);
	assert_uint(&l, 0, LINK_CONNS, 2);
	assert_uint(&l, 0, LINK_IFINDEX, 7);
	assert_str(&l, 0, LINK_NETDEV, "eth0");
	assert_uint(&l, 0, LINK_UID, 0xdeadbeef);
	assert_uint(&l, 0, LINK_PEER_UID, 0x01020304);
	assert_str(&l, 0, LINK_GID, "fe80:0000:0000:0000:0200:00ff:fe00:0001");
	assert_str(&l, 0, LINK_PEER_GID, "fe80:0000:0000:0000:0200:00ff:fe00:0002");
	assert_uint(&l, 1, LINK_LGR, 0x101);
	assert_uint(&l, 1, LINK_STATE, 1);
	assert_absent(&l, 1, LINK_NETDEV);
	assert_uint(&l, 2, LINK_LGR, 0x102);
}

static void test_devices(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };
	size_t d = SIZE_MAX;

	(void)state;
	make_all(v);
	l = get_list(v, NOUN_DEVICES);
	assert_int_equal(l.n, 4);
	for (size_t i = 0; i < l.n; i++)
		if (cell(&l, i, DEV_TECH).u == TECH_SMCD)
			d = i;
	assert_true(d == 0 || d == 3);
	d = d == 3 ? 0 : 1;
	assert_str(&l, d, DEV_NAME, "rxe0");
	assert_uint(&l, d, DEV_PORT, 1);
	assert_uint(&l, d, DEV_STATE, 1);
	assert_uint(&l, d, DEV_CRITICAL, 1);
	assert_str(&l, d, DEV_PNETID, "HWNET");
	assert_uint(&l, d, DEV_PNETID_BY_USER, 0);
	assert_uint(&l, d, DEV_IFINDEX, 7);
	assert_str(&l, d, DEV_NETDEV, "eth0");
	assert_uint(&l, d, DEV_LINKS, 2);
	assert_absent(&l, d, DEV_LGRS);
	assert_absent(&l, d, DEV_PCI_ID);
	assert_str(&l, d + 1, DEV_NAME, "rxe0");
	assert_uint(&l, d + 1, DEV_PORT, 2);
	assert_uint(&l, d + 1, DEV_STATE, 0);
	assert_str(&l, d + 2, DEV_NAME, "mlx5_0");
	assert_str(&l, d + 2, DEV_PCI_ID, "0000:3b:00.0");
	assert_uint(&l, d + 2, DEV_PCI_VENDOR, 0x15b3);
	assert_uint(&l, d + 2, DEV_PCI_DEVICE, 0x1017);
	assert_uint(&l, d + 2, DEV_PCI_FID, 0x10);
	assert_uint(&l, d + 2, DEV_PCI_CHID, 0x20);
	d = d ? 0 : 3;
	assert_uint(&l, d, DEV_TECH, TECH_SMCD);
	assert_uint(&l, d, DEV_LGRS, 2);
	assert_str(&l, d, DEV_PNETID, "NETD");
	assert_str(&l, d, DEV_PCI_ID, "0000:00:01.0");
	assert_absent(&l, d, DEV_IFINDEX);
}

static size_t row_of(const struct list *l, unsigned int field, uint64_t want)
{
	for (size_t i = 0; i < l->n; i++)
		if (value_equal(list_row(l, i)[field], value_uint(want)))
			return i;
	fail_msg("no row with %s %llu", l->noun->fields[field].name, (unsigned long long)want);
	return 0;
}

static void test_sockets(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };
	size_t i;

	(void)state;
	make_all(v);
	l = get_list(v, NOUN_SOCKETS);
	assert_int_equal(l.n, 6);
	i = row_of(&l, SOCK_COOKIE, 0x700000001);
	assert_str(&l, i, SOCK_STATE, "listen");
	assert_str(&l, i, SOCK_LOCAL_ADDR, "127.0.0.1");
	assert_uint(&l, i, SOCK_LOCAL_PORT, 80);
	assert_absent(&l, i, SOCK_MODE); /* the kernel says SMC-R of every listener */
	assert_uint(&l, i, SOCK_UID, 33);
	assert_uint(&l, i, SOCK_INODE, 5001);
	assert_absent(&l, i, SOCK_SNDBUF);
	assert_absent(&l, i, SOCK_PID);
	i = row_of(&l, SOCK_COOKIE, 0x11);
	assert_uint(&l, i, SOCK_MODE, 0);
	assert_str(&l, i, SOCK_PEER_ADDR, "192.0.2.2");
	assert_uint(&l, i, SOCK_PEER_PORT, 40000);
	assert_uint(&l, i, SOCK_SNDBUF, 65536);
	assert_uint(&l, i, SOCK_RCVBUF, 131072);
	assert_uint(&l, i, SOCK_PEER_RCVBUF, 262144);
	assert_uint(&l, i, SOCK_RX_FILL, 600);
	assert_uint(&l, i, SOCK_TX_FILL, 20);
	assert_uint(&l, i, SOCK_TOKEN, 5);
	assert_uint(&l, i, SOCK_ROLE, 1);
	assert_uint(&l, i, SOCK_LINK, 1);
	assert_str(&l, i, SOCK_DEVICE, "rxe0");
	assert_uint(&l, i, SOCK_DEVICE_PORT, 1);
	assert_str(&l, i, SOCK_GID, "fe80::1");
	assert_str(&l, i, SOCK_PEER_GID, "fe80::2");
	assert_uint(&l, i, SOCK_SHUTDOWN, 1);
	i = row_of(&l, SOCK_COOKIE, 0x12);
	assert_uint(&l, i, SOCK_MODE, 2);
	assert_str(&l, i, SOCK_LOCAL_ADDR, "127.0.0.1");
	assert_str(&l, i, SOCK_PEER_ADDR, "127.0.0.1");
	assert_uint(&l, i, SOCK_LINKID, 0x201);
	i = row_of(&l, SOCK_COOKIE, 0x13);
	assert_uint(&l, i, SOCK_MODE, 1);
	assert_uint(&l, i, SOCK_REASON, 0x03030000);
	assert_str(&l, i, SOCK_REASON_NAME, reason_find(0x03030000)->name);
	assert_uint(&l, i, SOCK_PEER_REASON, 0x03010000);
	i = row_of(&l, SOCK_COOKIE, 0x14);
	assert_str(&l, i, SOCK_LOCAL_ADDR, "2001:db8::1");
	assert_str(&l, i, SOCK_PEER_ADDR, "2001:db8::2");
	i = row_of(&l, SOCK_COOKIE, 0x15);
	assert_str(&l, i, SOCK_STATE, "init");
	assert_absent(&l, i, SOCK_MODE);
	assert_absent(&l, i, SOCK_LOCAL_PORT);
	assert_absent(&l, i, SOCK_LOCAL_ADDR);
}

/* Where ports do not tell two TCP sockets apart, no address is better than a wrong one. */
static void test_ambiguous_join(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };

	(void)state;
	fake_do(v->f,
		"socket cookie=1 mode=smcr proto=ipproto src=192.0.2.1 dst=192.0.2.2 sport=80 dport=4000 token=1 device=r");
	fake_do(v->f,
		"socket cookie=2 mode=smcr proto=ipproto src=192.0.2.1 dst=192.0.2.3 sport=80 dport=4000 token=2 device=r");
	fake_do(v->f,
		"socket cookie=3 mode=smcr proto=ipproto src=192.0.2.1 dst=192.0.2.3 sport=80 dport=4001 token=3 device=r");
	fake_do(v->f, "socket cookie=4 mode=smcr proto=ipproto sport=99 dport=4001 token=4 device=r no_tcp=on");
	l = get_list(v, NOUN_SOCKETS);
	assert_int_equal(l.n, 4);
	for (uint64_t c = 1; c <= 2; c++)
		assert_absent(&l, row_of(&l, SOCK_COOKIE, c), SOCK_PEER_ADDR);
	assert_str(&l, row_of(&l, SOCK_COOKIE, 3), SOCK_PEER_ADDR, "192.0.2.3");
	assert_absent(&l, row_of(&l, SOCK_COOKIE, 4), SOCK_PEER_ADDR);
	assert_absent(&l, row_of(&l, SOCK_COOKIE, 4), SOCK_LOCAL_ADDR);
}

static void test_tcp_list_only_when_needed(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };

	(void)state;
	fake_do(v->f, "socket src=192.0.2.1 dst=192.0.2.2 sport=80 dport=4000 token=1");
	l = get_list(v, NOUN_SOCKETS);
	assert_str(&l, 0, SOCK_LOCAL_ADDR, "192.0.2.1");
	assert_int_equal(fake_requests(v->f, "TCP_DIAG"), 0);
}

static void test_small_lists(void **state)
{
	ENV(v, "6.12");
	struct list pnet CLEANUP_LIST = { 0 }, ueid CLEANUP_LIST = { 0 }, seid CLEANUP_LIST = { 0 };
	struct pnet_entry p;

	(void)state;
	make_all(v);
	pnet = get_list(v, NOUN_PNET);
	assert_int_equal(pnet.n, 3);
	assert_str(&pnet, 0, PNET_ID, "NETA");
	assert_str(&pnet, 0, PNET_INTERFACE, "eth0");
	assert_absent(&pnet, 0, PNET_RDMA);
	assert_absent(&pnet, 0, PNET_PORT);
	assert_absent(&pnet, 1, PNET_INTERFACE);
	assert_str(&pnet, 1, PNET_RDMA, "mlx5_0");
	assert_uint(&pnet, 1, PNET_PORT, 2);
	p = pnet_entry_of(&pnet, 1);
	assert_string_equal(p.id, "NETA");
	assert_string_equal(p.interface, "");
	assert_string_equal(p.rdma, "mlx5_0");
	assert_int_equal(p.port, 2);
	ueid = get_list(v, NOUN_UEID);
	assert_int_equal(ueid.n, 2);
	assert_str(&ueid, 0, UEID_EID, "PROD-EID-1");
	assert_str(&ueid, 1, UEID_EID, "TEST.EID");
	seid = get_list(v, NOUN_SEID);
	assert_int_equal(seid.n, 0);
	list_done(&seid);
	fake_do(v->f, "s390 on");
	seid = get_list(v, NOUN_SEID);
	assert_int_equal(seid.n, 1);
	assert_str(&seid, 0, SEID_EID, "IBM-SYSZ-ISMSEID00000000C8DA2964");
	assert_uint(&seid, 0, SEID_ENABLED, 1);
}

/* A kernel with our series sends some numbers a second time, in full. */
static void test_wide(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };
	struct fallback_totals totals;

	(void)state;
	make_linkgroups(v);
	fake_do(v->f, "lgr d 0x202 conns=1 vlan=4094");
	fake_do(v->f, "fallback client 0x03030000 70000");
	fake_do(v->f, "wide on");
	assert_ok(v, kernel_list(v->k, &nouns[NOUN_LINKGROUPS], &l, &v->e));
	assert_int_equal(l.n, 4);
	assert_uint(&l, 0, LGR_VLAN, 300);
	assert_uint(&l, 1, LGR_VLAN, 0);
	assert_uint(&l, 3, LGR_VLAN, 4094);
	list_done(&l);
	assert_ok(v, kernel_fallbacks(v->k, &l, &totals, &v->e));
	assert_int_equal(l.n, 1);
	assert_uint(&l, 0, FB_COUNT, 70000);
	list_done(&l);
	fake_do(v->f, "fault mangle wide 1 cmd=GET_FBACK_STATS");
	assert_err(v, kernel_fallbacks(v->k, &l, &totals, &v->e), -EBADMSG);
}

static void test_fallbacks(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };
	struct fallback_totals totals = { 1, 1 };

	(void)state;
	/* Nothing fell back: the dump is empty, and that is zero. */
	assert_ok(v, kernel_fallbacks(v->k, &l, &totals, &v->e));
	assert_int_equal(l.n, 0);
	assert_int_equal(totals.client, 0);
	assert_int_equal(totals.server, 0);
	list_done(&l);
	make_all(v);
	fake_do(v->f, "fallback server 0x0badc0de 2");
	assert_ok(v, kernel_fallbacks(v->k, &l, &totals, &v->e));
	assert_int_equal(totals.server, 5);
	assert_int_equal(totals.client, 70001);
	assert_int_equal(l.n, 4);
	assert_uint(&l, 0, FB_ROLE, 1);
	assert_uint(&l, 0, FB_CODE, 0x03030000);
	assert_uint(&l, 0, FB_COUNT, 3);
	assert_str(&l, 0, FB_NAME, reason_find(0x03030000)->name);
	assert_str(&l, 0, FB_MEANING, reason_find(0x03030000)->meaning);
	assert_uint(&l, 1, FB_ROLE, 0);
	assert_uint(&l, 1, FB_COUNT, 70000 - 65536);
	assert_absent(&l, 2, FB_NAME);
	assert_uint(&l, 2, FB_CODE, 0x0badc0de);
	assert_uint(&l, 3, FB_CODE, 0x03010000);
}

static void test_fallback_slots_full(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };
	struct fallback_totals totals;

	(void)state;
	fake_do(v->f, "datagram 512");
	for (unsigned int i = 1; i <= 40; i++)
		fake_do(v->f, "fallback server 0x%08x %u", i, i);
	assert_ok(v, kernel_fallbacks(v->k, &l, &totals, &v->e));
	assert_int_equal(l.n, 36);
	assert_int_equal(totals.server, 40 * 41 / 2);
	assert_int_equal(totals.client, 0);
}

static void test_sysinfo(void **state)
{
	ENV(v, "6.12");
	struct sysinfo_smc i;

	(void)state;
	assert_ok(v, kernel_sysinfo(v->k, &i, &v->e));
	assert_string_equal(i.host, "");
	assert_string_equal(i.seid, "");
	assert_int_equal(i.version.u, 2);
	assert_int_equal(i.ism_v2.kind, VALUE_UINT);
	assert_int_equal(i.ism_v2.u, 0);
	fake_do(v->f, "host a.host.name");
	fake_do(v->f, "ism_v2 on");
	assert_ok(v, kernel_sysinfo(v->k, &i, &v->e));
	assert_string_equal(i.host, "a.host.name");
	assert_string_equal(i.seid, "IBM-SYSZ-ISMSEID00000000C8DA2964");
	assert_int_equal(i.ism_v2.u, 1);
	assert_int_equal(i.smcr_v2.u, 1);
	assert_int_equal(i.release.u, 1);
}

/* Every counter of the table has a place of its own on the wire. */
static void test_each_counter(void **state)
{
	static const char *const techs[N_TECHS] = { [TECH_SMCD] = "smcd", [TECH_SMCR] = "smcr" };

	(void)state;
	for (int pads = 0; pads < 2; pads++) {
		ENV(v, "6.12");
		struct stats s CLEANUP_STATS = { 0 };

		fake_do(v->f, "pads %s", pads ? "on" : "off");
		for (size_t i = 0; i < n_stats; i++)
			for (unsigned int t = 0; t < (stats_table[i].global ? 1u : N_TECHS); t++)
				for (unsigned int b = 0; b < (stats_table[i].histogram ? N_BUCKETS : 1u); b++) {
					char bucket[8] = "";

					if (stats_table[i].histogram)
						snprintf(bucket, sizeof(bucket), "[%u]", b);
					fake_do(v->f, "stat %s %s%s %zu", stats_table[i].global ? "all" : techs[t],
						stats_table[i].key, bucket, 0x100000000 * t + 1000 * i + b + 1);
				}
		assert_ok(v, kernel_stats(v->k, &s, &v->e));
		for (size_t i = 0; i < n_stats; i++)
			for (unsigned int t = 0; t < (stats_table[i].global ? 1u : N_TECHS); t++) {
				uint64_t want = 0x100000000 * t + 1000 * i + 1;

				if (stats_table[i].histogram) {
					for (unsigned int b = 0; b < N_BUCKETS; b++)
						assert_int_equal(s.v[i][t].buckets[b], want + b);
					continue;
				}
				assert_int_equal(s.v[i][t].v.kind, VALUE_UINT);
				assert_int_equal(s.v[i][t].v.u, want);
			}
	}
}

static void test_stats_of_a_namespace(void **state)
{
	ENV(v, "6.12");
	struct kernel *blue CLEANUP_KERNEL = NULL;
	struct stats s CLEANUP_STATS = { 0 };

	(void)state;
	fake_do(v->f, "netns blue");
	fake_do(v->f, "stat smcr tx_bytes 4096");
	blue = fake_kernel(v->f, "blue");
	assert_ok(v, kernel_stats(blue, &s, &v->e));
	assert_int_equal(s.v[0][TECH_SMCR].v.u, 4096);
	stats_done(&s);
	assert_ok(v, kernel_stats(v->k, &s, &v->e));
	assert_int_equal(s.v[0][TECH_SMCR].v.u, 0);
	assert_int_equal(s.v[0][TECH_SMCR].v.kind, VALUE_UINT);
}

/* ---- dumps that change ---- */

static void many_linkgroups(struct env *v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		fake_do(v->f, "lgr r %u conns=%u peer_host=host-%u", i + 1, i, i);
		fake_do(v->f, "link %u 1 device=rxe%u", i + 1, i);
	}
}

static void test_long_lists(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 }, links CLEANUP_LIST = { 0 }, sockets CLEANUP_LIST = { 0 };

	(void)state;
	many_linkgroups(v, 1000);
	for (unsigned int i = 0; i < 1000; i++)
		fake_do(v->f, "socket proto=ipproto cookie=%u src=192.0.2.1 dst=192.0.2.2 sport=80 dport=%u mode=tcp",
			i + 1, i + 1);
	l = get_list(v, NOUN_LINKGROUPS);
	assert_int_equal(l.n, 1000);
	assert_false(l.incomplete);
	assert_uint(&l, 999, LGR_CONNS, 999);
	links = get_list(v, NOUN_LINKS);
	assert_int_equal(links.n, 1000);
	assert_uint(&links, 999, LINK_LGR, 1000);
	sockets = get_list(v, NOUN_SOCKETS);
	assert_int_equal(sockets.n, 1000);
	assert_str(&sockets, 999, SOCK_PEER_ADDR, "192.0.2.2");
}

static void test_changing_lists(void **state)
{
	static const struct {
		const char *fault;
		bool incomplete;
		unsigned int readings;
	} cases[] = {
		{ "", false, 2 },
		{ "fault dump hide 1 cmd=GET_LGR_SMCR", false, 3 },
		{ "fault dump hide 2 cmd=GET_LGR_SMCR", true, 3 },
		{ "fault dump hide 3 cmd=GET_LGR_SMCR", true, 3 },
		{ "fault dump skip 1 cmd=GET_LGR_SMCR", false, 3 },
		{ "fault dump skip 1 after=1 cmd=GET_LGR_SMCR", true, 3 },
		{ "fault dump double 1 cmd=GET_LGR_SMCR", false, 3 },
		{ "fault dump intr 1 cmd=GET_LGR_SMCR", false, 3 },
		{ "fault dump intr 0 cmd=GET_LGR_SMCR", true, 3 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ENV(v, "6.12");
		struct list l CLEANUP_LIST = { 0 };

		many_linkgroups(v, 50);
		fake_do(v->f, "%s", cases[i].fault);
		l = get_list(v, NOUN_LINKGROUPS);
		if (l.incomplete != cases[i].incomplete || fake_requests(v->f, "GET_LGR_SMCR") > 3)
			print_error("%s: %s after %u readings\n", cases[i].fault,
				    l.incomplete ? "incomplete" : "complete", fake_requests(v->f, "GET_LGR_SMCR"));
		assert_int_equal(l.incomplete, cases[i].incomplete);
		assert_int_equal(fake_requests(v->f, "GET_LGR_SMCR"), cases[i].readings);
		if (!l.incomplete)
			assert_int_equal(l.n, 50);
	}
}

/* Only the dump that overran is done again, and what the one before it gave is kept. */
static void test_overrun_of_a_second_dump(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };

	(void)state;
	make_all(v);
	fake_do(v->f, "fault recv ENOBUFS cmd=GET_LGR_SMCD");
	l = get_list(v, NOUN_LINKGROUPS);
	assert_int_equal(l.n, 3);
	assert_int_equal(fake_requests(v->f, "GET_LGR_SMCR"), 2);
	assert_int_equal(fake_requests(v->f, "GET_LGR_SMCD"), 3);
}

/* ---- pnet ---- */

static struct pnet_entry entry(const char *id, const char *interface, const char *rdma, uint8_t port)
{
	struct pnet_entry p = { .port = port };

	snprintf(p.id, sizeof(p.id), "%s", id);
	snprintf(p.interface, sizeof(p.interface), "%s", interface);
	snprintf(p.rdma, sizeof(p.rdma), "%s", rdma);
	return p;
}

static int add(struct env *v, const char *id, const char *interface, const char *rdma, uint8_t port)
{
	struct pnet_entry p = entry(id, interface, rdma, port);

	return kernel_pnet_add(v->k, &p, &v->e);
}

static int del(struct env *v, const char *id, const char *interface, const char *rdma, uint8_t port)
{
	struct pnet_entry p = entry(id, interface, rdma, port);

	return kernel_pnet_delete(v->k, &p, &v->e);
}

/* What the kernel's tables hold, without the sysctls. */
static void assert_pnet(struct env *v, const char *netns, const char *want)
{
	char got[4096] = "";
	const char *s = fake_state(v->f, netns);

	for (const char *end; *s && (end = strchr(s, '\n')); s = end + 1)
		if (strncmp(s, "pnet ", 5) == 0)
			strncat(got, s, (size_t)(end - s) + 1);
	assert_string_equal(got, want);
}

static void test_pnet_check(void **state)
{
	static const struct {
		const char *id, *interface, *rdma;
		uint8_t port;
		int code;
	} cases[] = {
		{ "NETA", "eth0", "", 0, 0 },
		{ "neta", "eth0", "", 0, 0 },
		{ "ABCDEFGHIJ123456", "eth0", "", 0, 0 },
		{ "N", "", "rxe0", 1, 0 },
		{ "N", "", "rxe0", 2, 0 },
		{ "N", "", "rxe0", 0, 0 },
		{ "", "eth0", "", 0, -EINVAL },
		{ "NET A", "eth0", "", 0, -EINVAL },
		{ "NET_A", "eth0", "", 0, -EINVAL },
		{ "NET\xc3\x84", "eth0", "", 0, -EINVAL },
		{ "N", "", "rxe0", 3, -ERANGE },
		{ "N", "eth/0", "", 0, -EINVAL },
		{ "N", "eth 0", "", 0, -EINVAL },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pnet_entry p = entry(cases[i].id, cases[i].interface, cases[i].rdma, cases[i].port);
		int r = pnet_entry_check(&p, &e);

		if (r != cases[i].code)
			print_error("%s %s %s: %d\n", cases[i].id, cases[i].interface, cases[i].rdma, r);
		assert_int_equal(r, cases[i].code);
		for (const char *s = p.id; r == 0 && *s; s++)
			assert_false(*s >= 'a' && *s <= 'z');
	}
}

static void test_pnet_add(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "iface hw0 3 HWNET");
	fake_do(v->f, "device r rxe0");
	assert_ok(v, add(v, "neta", "eth0", "", 0));
	assert_pnet(v, "", "pnet NETA eth=eth0\n");
	assert_err(v, add(v, "NETA", "eth0", "", 0), -EEXIST);
	assert_err(v, add(v, "NETB", "eth0", "", 0), -EBUSY); /* one ID for each interface */
	assert_err(v, add(v, "NETB", "hw0", "", 0), -EBUSY);  /* has one in hardware */
	assert_pnet(v, "", "pnet NETA eth=eth0\n");
	assert_ok(v, add(v, "NETA", "", "rxe0", 1));
	assert_string_equal(fake_port_pnetid(v->f, "rxe0", 1), "NETA");
	assert_ok(v, add(v, "NETC", "eth1", "late0", 2));
	assert_pnet(v, "",
		    "pnet NETA eth=eth0\npnet NETA ib=rxe0 port=1\npnet NETC eth=eth1\npnet NETC ib=late0 port=2\n");
	/* Without a port it is the first. */
	assert_ok(v, add(v, "NETD", "", "late1", 0));
	fake_do(v->f, "device r late1");
	assert_string_equal(fake_port_pnetid(v->f, "late1", 1), "NETD");
}

static void test_pnet_half_existing(void **state)
{
	ENV(v, "6.12");

	(void)state;
	/* The kernel says 0 to both of these. */
	fake_do(v->f, "pnet NETA eth=eth0");
	assert_err(v, add(v, "NETB", "eth0", "rxe0", 1), -EBUSY);
	assert_pnet(v, "", "pnet NETA eth=eth0\n");
	assert_err(v, add(v, "NETA", "eth0", "rxe0", 1), -EEXIST);
	assert_pnet(v, "", "pnet NETA eth=eth0\n");
	fake_do(v->f, "pnet NETC ib=rxe1 port=1");
	assert_err(v, add(v, "NETC", "eth5", "rxe1", 1), -EEXIST);
	assert_pnet(v, "", "pnet NETA eth=eth0\npnet NETC ib=rxe1 port=1\n");
}

static void test_pnet_delete(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "device r rxe0");
	fake_do(v->f, "pnet NETA eth=eth0");
	fake_do(v->f, "pnet NETB eth=eth2");
	fake_do(v->f, "pnet NETA eth=eth1");
	fake_do(v->f, "pnet NETA ib=rxe0 port=1");
	assert_err(v, del(v, "NETA", "eth9", "", 0), -ENOENT);
	assert_err(v, del(v, "NETX", "", "", 0), -ENOENT);
	assert_err(v, del(v, "NETA", "", "rxe0", 2), -ENOENT);
	assert_pnet(v, "", "pnet NETA eth=eth0\npnet NETB eth=eth2\npnet NETA eth=eth1\npnet NETA ib=rxe0 port=1\n");
	assert_ok(v, del(v, "neta", "eth0", "", 0));
	assert_pnet(v, "", "pnet NETB eth=eth2\npnet NETA eth=eth1\npnet NETA ib=rxe0 port=1\n");
	assert_string_equal(fake_port_pnetid(v->f, "rxe0", 1), "NETA");
	assert_ok(v, del(v, "NETA", "", "rxe0", 1));
	assert_pnet(v, "", "pnet NETB eth=eth2\npnet NETA eth=eth1\n");
	assert_string_equal(fake_port_pnetid(v->f, "rxe0", 1), "");
	fake_do(v->f, "pnet NETA eth=eth0");
	assert_ok(v, del(v, "neta", "", "", 0));
	assert_pnet(v, "", "pnet NETB eth=eth2\n");
	fake_do(v->f, "pnet NETC eth=eth3");
	assert_ok(v, kernel_pnet_flush(v->k, &v->e));
	assert_pnet(v, "", "");
	assert_ok(v, kernel_pnet_flush(v->k, &v->e));
}

/* The kernel took all entries out and then refuses to take one back: that has to be told. */
static void test_pnet_rebuild_fails(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "pnet NETA eth=eth0");
	fake_do(v->f, "pnet NETA eth=eth1");
	fake_do(v->f, "pnet NETA eth=eth2");
	fake_do(v->f, "fault answer ENOMEM 0 cmd=PNET_ADD after=1");
	assert_true(del(v, "NETA", "eth0", "", 0) < 0);
	assert_non_null(strstr(v->e.text, "eth2"));
}

/* The kernel says that it took an entry back and did not. */
static void test_pnet_rebuild_is_verified(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "pnet NETA eth=eth0");
	fake_do(v->f, "pnet NETA eth=eth1");
	fake_do(v->f, "fault answer ignored 0 cmd=PNET_ADD");
	assert_err(v, del(v, "NETA", "eth0", "", 0), -EIO);
	assert_non_null(strstr(v->e.text, "eth1"));
}

/* One failure on the way loses nobody's entry: whatever it was, the table is read and what is missing added again. */
static void test_pnet_rebuild_after_a_fault(void **state)
{
	static const char *const faults[] = {
		"answer EBUSY cmd=PNET_ADD",      "answer ENOMEM 2 cmd=PNET_ADD",   "answer ignored cmd=PNET_ADD",
		"mangle garbage cmd=PNET_ADD",    "recv ENOBUFS cmd=PNET_ADD",      "recv EAGAIN cmd=PNET_ADD",
		"recv ENOBUFS cmd=PNET_DEL",      "recv EAGAIN cmd=PNET_DEL",       "mangle garbage cmd=PNET_DEL",
		"mangle truncate cmd=PNET_DEL",   "mangle wrong_type cmd=PNET_DEL", "mangle empty cmd=PNET_DEL",
		"dump hide cmd=PNET_GET after=2",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		ENV(v, "6.12");

		fake_do(v->f, "device r rxe0");
		fake_do(v->f, "pnet NETA eth=eth0");
		fake_do(v->f, "pnet NETA eth=eth1");
		fake_do(v->f, "pnet NETA ib=rxe0 port=1");
		fake_do(v->f, "fault %s", faults[i]);
		assert_ok(v, del(v, "NETA", "eth0", "", 0));
		assert_int_equal(fake_faults_left(v->f), 0);
		assert_string_equal(fake_port_pnetid(v->f, "rxe0", 1), "NETA");
		assert_null(strstr(fake_state(v->f, ""), "eth0"));
		assert_non_null(strstr(fake_state(v->f, ""), "pnet NETA eth=eth1\n"));
		assert_non_null(strstr(fake_state(v->f, ""), "pnet NETA ib=rxe0 port=1\n"));
	}
}

/* A deletion that was not done is none, and nothing is added after it. */
static void test_pnet_delete_not_done(void **state)
{
	static const char *const faults[] = { "answer EBUSY", "answer ENOMEM", "answer EPERM" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		for (int whole_id = 0; whole_id < 2; whole_id++) {
			ENV(v, "6.12");

			fake_do(v->f, "pnet NETA eth=eth0");
			fake_do(v->f, "pnet NETA eth=eth1");
			fake_do(v->f, "fault %s cmd=PNET_DEL", faults[i]);
			assert_true(del(v, "NETA", whole_id ? "" : "eth0", "", 0) < 0);
			assert_non_null(strstr(v->e.text, strerror(-v->e.code)));
			assert_int_equal(fake_requests(v->f, "PNET_ADD"), 0);
			assert_pnet(v, "", "pnet NETA eth=eth0\npnet NETA eth=eth1\n");
		}
}

/* All that is lost is named, and also what may be, when the table cannot be read; it is put back nevertheless. */
static void test_pnet_lost_entries_are_named(void **state)
{
	static const char *const faults[] = { "answer ENOMEM 0 cmd=PNET_ADD", "answer EIO 0 cmd=PNET_GET after=2" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		ENV(v, "6.12");

		fake_do(v->f, "pnet NETA eth=eth0");
		fake_do(v->f, "pnet NETA eth=eth1");
		fake_do(v->f, "pnet NETA eth=eth2");
		fake_do(v->f, "pnet NETA ib=rxe0 port=2");
		fake_do(v->f, "fault %s", faults[i]);
		assert_err(v, del(v, "NETA", "eth1", "", 0), -EIO);
		assert_non_null(strstr(v->e.text, "3 "));
		assert_non_null(strstr(v->e.text, "'eth0', 'eth2', 'rxe0' port 2"));
		assert_pnet(v, "", i == 0 ? "" : "pnet NETA eth=eth0\npnet NETA eth=eth2\npnet NETA ib=rxe0 port=2\n");
	}
	{
		ENV(v, "6.12");

		/* Neither the answer nor the table */
		fake_do(v->f, "pnet NETA eth=eth0");
		fake_do(v->f, "pnet NETA eth=eth1");
		fake_do(v->f, "fault recv ENOBUFS cmd=PNET_DEL");
		fake_do(v->f, "fault answer EIO 0 cmd=PNET_GET after=2");
		assert_err(v, del(v, "NETA", "eth0", "", 0), -EIO);
		assert_non_null(strstr(v->e.text, "'eth1'"));
		assert_pnet(v, "", "pnet NETA eth=eth1\n");
	}
}

/* Entries that were not seen could not be put back. */
static void test_pnet_delete_from_changing_table(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "pnet NETA eth=eth0");
	fake_do(v->f, "pnet NETA eth=eth1");
	fake_do(v->f, "pnet NETA eth=eth2");
	fake_do(v->f, "fault dump hide 3 cmd=PNET_GET");
	assert_err(v, del(v, "NETA", "eth0", "", 0), -EAGAIN);
	assert_pnet(v, "", "pnet NETA eth=eth0\npnet NETA eth=eth1\npnet NETA eth=eth2\n");
}

static void test_pnet_hardware_id(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "device r hw pnetid1=NETA");
	fake_do(v->f, "device d ism pci=on pci_id=0000:00:01.0 pnetid1=NETA");
	assert_err(v, add(v, "NETA", "", "hw", 1), -EEXIST);
	assert_err(v, add(v, "NETB", "", "hw", 1), -EBUSY);
	assert_err(v, add(v, "NETB", "", "0000:00:01.0", 0), -EBUSY);
	assert_pnet(v, "", "");
}

static void test_pnet_in_a_namespace(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "netns blue");
	kernel_free(v->k);
	v->k = fake_kernel(v->f, "blue");
	assert_ok(v, add(v, "NETA", "eth0", "", 0));
	assert_err(v, add(v, "NETA", "eth0", "", 0), -EEXIST);
	/* The kernel ignores the RDMA device and says EEXIST. */
	assert_true(add(v, "NETA", "", "rxe0", 1) < 0);
	assert_true(add(v, "NETA", "eth1", "rxe0", 1) < 0);
	assert_pnet(v, "blue", "pnet NETA eth=eth0\n");
	assert_pnet(v, "", "");
	assert_ok(v, del(v, "NETA", "", "", 0));
}

static void test_pnet_second_port(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "device r rxe0 port2=on");
	assert_ok(v, add(v, "NETA", "", "rxe0", 1));
	/* To the kernel this is EEXIST, and the port has its ID all the same. */
	assert_err(v, add(v, "NETA", "", "rxe0", 2), -EBUSY);
	assert_pnet(v, "", "pnet NETA ib=rxe0 port=1\n");
}

static void test_unprivileged(void **state)
{
	ENV(v, "6.12");
	char before[8192];
	struct list l;

	(void)state;
	make_all(v);
	fake_do(v->f, "s390 on");
	fake_do(v->f, "privileged off");
	snprintf(before, sizeof(before), "%s", fake_state(v->f, ""));
	assert_err(v, add(v, "NETZ", "eth5", "", 0), -EPERM);
	assert_err(v, add(v, "NETZ", "eth5", "rxe7", 1), -EPERM);
	assert_err(v, del(v, "NETA", "", "", 0), -EPERM);
	assert_err(v, del(v, "NETA", "eth0", "", 0), -EPERM);
	assert_err(v, kernel_pnet_flush(v->k, &v->e), -EPERM);
	assert_err(v, kernel_ueid_add(v->k, "X", &v->e), -EPERM);
	assert_err(v, kernel_ueid_delete(v->k, "PROD-EID-1", &v->e), -EPERM);
	assert_err(v, kernel_ueid_flush(v->k, &v->e), -EPERM);
	assert_err(v, kernel_seid_set(v->k, false, &v->e), -EPERM);
	assert_string_equal(fake_state(v->f, ""), before);
	for (unsigned int i = 0; i < NOUN_POOLS; i++) { /* the others need smc_tune: test_tune.c */
		l = get_list(v, i);
		list_done(&l);
	}
}

/* ---- EIDs ---- */

static void test_ueid(void **state)
{
	ENV(v, "6.12");
	static const char *const bad[] = { "",    "-A",  ".A", "abc",
					   "A B", "A_B", "A ", "123456789012345678901234567890123" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_true(ueid_check(bad[i], &v->e) < 0);
		assert_true(kernel_ueid_add(v->k, bad[i], &v->e) < 0);
	}
	assert_int_equal(fake_requests(v->f, "ADD_UEID"), 0);
	assert_ok(v, kernel_ueid_add(v->k, "12345678901234567890123456789012", &v->e));
	assert_ok(v, kernel_ueid_add(v->k, "A", &v->e));
	assert_err(v, kernel_ueid_add(v->k, "A", &v->e), -EEXIST);
	assert_ok(v, kernel_ueid_add(v->k, "B.-", &v->e));
	assert_ok(v, kernel_ueid_add(v->k, "0", &v->e));
	assert_err(v, kernel_ueid_add(v->k, "E", &v->e), -ERANGE);
	assert_err(v, kernel_ueid_delete(v->k, "E", &v->e), -ENOENT);
	assert_ok(v, kernel_ueid_delete(v->k, "A", &v->e));
	assert_non_null(strstr(fake_state(v->f, ""), "ueid 12345678901234567890123456789012\nueid B.-"));
	assert_ok(v, kernel_ueid_flush(v->k, &v->e));
	assert_null(strstr(fake_state(v->f, ""), "ueid "));
	assert_ok(v, kernel_ueid_flush(v->k, &v->e));
}

/* With four present the kernel says ERANGE before it looks: an EID that is there is there. */
static void test_ueid_existing_among_four(void **state)
{
	ENV(v, "6.12");

	(void)state;
	for (char c = 'A'; c <= 'D'; c++)
		fake_do(v->f, "ueid %c", c);
	assert_err(v, kernel_ueid_add(v->k, "C", &v->e), -EEXIST);
	assert_err(v, kernel_ueid_add(v->k, "E", &v->e), -ERANGE);
}

static void test_seid(void **state)
{
	ENV(v, "6.12");

	(void)state;
	assert_err(v, kernel_seid_set(v->k, true, &v->e), -EOPNOTSUPP);
	assert_err(v, kernel_seid_set(v->k, false, &v->e), -EOPNOTSUPP);
	fake_do(v->f, "s390 on");
	/* Without a UEID it cannot be turned off. */
	assert_err(v, kernel_seid_set(v->k, false, &v->e), -ENOENT);
	assert_ok(v, kernel_ueid_add(v->k, "A", &v->e));
	assert_ok(v, kernel_seid_set(v->k, false, &v->e));
	assert_non_null(strstr(fake_state(v->f, ""), "seid off"));
	/* EAGAIN: on s390 the kernel says so that the last UEID is gone and the SEID on again. */
	assert_ok(v, kernel_ueid_delete(v->k, "A", &v->e));
	assert_non_null(strstr(fake_state(v->f, ""), "seid on"));
	assert_null(strstr(fake_state(v->f, ""), "ueid"));
	assert_ok(v, kernel_ueid_add(v->k, "A", &v->e));
	assert_ok(v, kernel_ueid_flush(v->k, &v->e));
}

/* ---- errors ---- */

static void test_extended_ack(void **state)
{
	(void)state;
	for (int capped = 0; capped < 2; capped++) {
		ENV(v, "6.12");

		fake_do(v->f, "capped %s", capped ? "on" : "off");
		fake_do(v->f, "fault answer EINVAL cmd=ADD_UEID text=\"the moon is wrong\"");
		assert_err(v, kernel_ueid_add(v->k, "A", &v->e), -EINVAL);
		assert_string_equal(v->e.ext, "the moon is wrong");
		assert_non_null(strstr(v->e.text, "A"));
		fake_do(v->f, "fault answer EINVAL cmd=ADD_UEID");
		assert_err(v, kernel_ueid_add(v->k, "A", &v->e), -EINVAL);
		assert_string_equal(v->e.ext, "");
	}
}

static void test_errors_are_counted(void **state)
{
	ENV(v, "6.12");
	struct list l;

	(void)state;
	assert_int_equal(kernel_nl_errors(v->k, BUS_GENL), 0);
	fake_do(v->f, "fault answer EINVAL cmd=GET_STATS");
	fake_do(v->f, "fault answer EINVAL cmd=SMC_DIAG");
	assert_true(kernel_stats(v->k, &(struct stats){ 0 }, &v->e) < 0);
	assert_int_equal(kernel_nl_errors(v->k, BUS_GENL), 1);
	assert_true(kernel_list(v->k, &nouns[NOUN_SOCKETS], &l, &v->e) < 0);
	assert_int_equal(kernel_nl_errors(v->k, BUS_DIAG), 1);
}

/*
 * Everything that is read, as one reading of it: after a fault it is the same as before, or an error. What a hostile
 * message leaves out may be absent.
 */
struct reading {
	const char *name, *cmd;
	int noun; /* -1: statistics, -2: sysinfo, -3: handshake limitation */
};

static const struct reading readings[] = {
	{ "linkgroups", "GET_LGR_SMCR", NOUN_LINKGROUPS },
	{ "linkgroups", "GET_LGR_SMCD", NOUN_LINKGROUPS },
	{ "links", "GET_LINK_SMCR", NOUN_LINKS },
	{ "devices", "GET_DEV_SMCR", NOUN_DEVICES },
	{ "devices", "GET_DEV_SMCD", NOUN_DEVICES },
	{ "sockets", "SMC_DIAG", NOUN_SOCKETS },
	{ "sockets", "TCP_DIAG", NOUN_SOCKETS },
	{ "pnet", "PNET_GET", NOUN_PNET },
	{ "ueid", "DUMP_UEID", NOUN_UEID },
	{ "seid", "DUMP_SEID", NOUN_SEID },
	{ "fallbacks", "GET_FBACK_STATS", NOUN_FALLBACKS },
	{ "stats", "GET_STATS", -1 },
	{ "sysinfo", "GET_SYS_INFO", -2 },
	{ "limit_smc_hs", "DUMP_HS_LIMITATION", -3 },
};

static void add_cell(struct text *t, struct value x)
{
	if (x.kind == VALUE_UINT)
		text_add(t, "%llu\n", (unsigned long long)x.u);
	else if (x.kind == VALUE_STR)
		text_add(t, "'%s'\n", x.s);
	else
		text_add(t, "-\n");
}

static int read_stats(struct env *v, struct text *t)
{
	struct stats s CLEANUP_STATS = { 0 };
	int r = kernel_stats(v->k, &s, &v->e);

	for (size_t i = 0; r >= 0 && i < n_stats; i++)
		for (unsigned int tech = 0; tech < (stats_table[i].global ? 1u : N_TECHS); tech++) {
			add_cell(t, s.v[i][tech].v);
			for (unsigned int b = 0; b < N_BUCKETS && stats_table[i].histogram; b++)
				text_add(t, "%llu\n", (unsigned long long)s.v[i][tech].buckets[b]);
		}
	return r;
}

static int read_sysinfo(struct env *v, struct text *t)
{
	struct sysinfo_smc i;
	int r = kernel_sysinfo(v->k, &i, &v->e);

	if (r < 0)
		return r;
	add_cell(t, i.version);
	add_cell(t, i.release);
	add_cell(t, i.ism_v2);
	add_cell(t, i.smcr_v2);
	text_add(t, "%s\n%s\n", i.host[0] ? i.host : "-", i.seid[0] ? i.seid : "-");
	return 0;
}

static int read_list(struct env *v, const struct noun *noun, struct text *t)
{
	struct list l CLEANUP_LIST = { 0 };
	int r = kernel_list(v->k, noun, &l, &v->e);

	for (size_t i = 0; r >= 0 && i < l.n; i++)
		for (size_t j = 0; j < noun->n_fields; j++)
			add_cell(t, list_row(&l, i)[j]);
	if (r >= 0)
		text_add(t, "%s\n", l.incomplete ? "incomplete" : "complete");
	return r;
}

static int reading_take(struct env *v, const struct reading *x, struct text *t)
{
	struct value val;
	int r;

	v->e = (struct err){ 0 };
	if (x->noun >= 0)
		return read_list(v, &nouns[x->noun], t);
	if (x->noun == -1)
		return read_stats(v, t);
	if (x->noun == -2)
		return read_sysinfo(v, t);
	r = kernel_knob_get(v->k, knob("limit_smc_hs"), &val, &v->e);
	if (r >= 0)
		add_cell(t, val);
	return r;
}

static struct env *env_full(void)
{
	struct env *v = env_new("6.1");

	make_all(v);
	fake_do(v->f, "s390 on");
	fake_do(v->f, "stat smcr tx_bytes 4096");
	fake_do(v->f, "stat smcd tx_size[0] 12");
	fake_do(v->f, "sysctl smcr_buf_type 1");
	/* This era's kernel has it for netlink only. */
	assert_ok(v, kernel_knob_set(v->k, knob("limit_smc_hs"), value_uint(1), &v->e));
	return v;
}

/* Equal line by line, but for lines that may be absent in b. */
static bool same(const char *a, const char *b, bool may_lack)
{
	while (*a && *b) {
		size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");

		if ((n != m || memcmp(a, b, n) != 0) && !(may_lack && m == 1 && *b == '-'))
			return false;
		a += n + 1;
		b += m + 1;
	}
	return !*a && !*b;
}

enum outcome { RIGHT, RIGHT_OR_ERROR, RIGHT_OR_LESS_OR_ERROR, ERROR, ERROR_WHERE_READ };

struct fault_case {
	const char *fault; /* without the command */
	enum outcome outcome;
	int code; /* ERROR; 0: any */
};

/* A fault meets each reading; the next reading is right again. */
static void fault_meets_reading(const struct fault_case *c, const struct reading *x)
{
	struct env *v CLEANUP(env_freep) = env_full();
	CLEANUP_TEXT struct text before = { 0 };
	CLEANUP_TEXT struct text during = { 0 };
	CLEANUP_TEXT struct text after = { 0 };
	enum outcome outcome = c->outcome;
	bool fine;
	int r;

	/* Of TCP sockets only ports and addresses count, and nobody looks at the attributes. */
	if (outcome == ERROR_WHERE_READ)
		outcome = strcmp(x->cmd, "TCP_DIAG") == 0 ? RIGHT_OR_ERROR : ERROR;

	/* The statistics are one message, the lists are to be several datagrams. */
	fake_do(v->f, "datagram %d", x->noun == -1 ? 4096 : 1400);
	assert_ok(v, reading_take(v, x, &before));
	fake_do(v->f, "fault %s cmd=%s", c->fault, x->cmd);
	r = reading_take(v, x, &during);
	fine = r >= 0 ? outcome != ERROR &&
				same(text_str(&before), text_str(&during), outcome == RIGHT_OR_LESS_OR_ERROR)
		      : outcome != RIGHT && v->e.text[0] && v->e.code == r && (!c->code || c->code == r);
	if (!fine)
		print_error("%s of %s: got %s: '%s'\n--- before\n%s--- during\n%s", c->fault, x->name,
			    r < 0 ? errno_name(r) : "ok", v->e.text, text_str(&before), text_str(&during));
	assert_true(fine);
	if (fake_faults_left(v->f) != 0)
		print_error("%s of %s has not happened\n", c->fault, x->cmd);
	assert_int_equal(fake_faults_left(v->f), 0);
	r = reading_take(v, x, &after);
	if (r < 0 || !same(text_str(&before), text_str(&after), false))
		print_error("%s of %s: the next reading is wrong: %s\n", c->fault, x->name, v->e.text);
	assert_ok(v, r);
	assert_string_equal(text_str(&before), text_str(&after));
}

static const struct fault_case fault_cases[] = {
	/* What passes by itself is done again. */
	{ "recv EINTR 2", RIGHT, 0 },
	{ "recv ENOBUFS", RIGHT, 0 },
	{ "mangle foreign_seq", RIGHT, 0 },
	/* What does not, is told. */
	{ "recv EAGAIN", ERROR, -ETIMEDOUT },
	{ "recv ENOMEM", ERROR, -ENOMEM },
	{ "answer EOPNOTSUPP", ERROR, -EOPNOTSUPP },
	{ "answer EIO text=\"no luck\"", ERROR, -EIO },
	{ "dump EMSGSIZE", ERROR, -EMSGSIZE },
	{ "dump no_done", ERROR, -ETIMEDOUT },
	{ "mangle len_big", ERROR, -EBADMSG },
	{ "mangle len_small", ERROR, -EBADMSG },
	{ "mangle len_zero", ERROR, -EBADMSG },
	{ "mangle truncate", ERROR, -EBADMSG },
	{ "mangle empty", ERROR, 0 },
	{ "mangle wrong_type", ERROR, 0 },
	{ "mangle attr_long", ERROR_WHERE_READ, -EBADMSG },
	{ "mangle attr_zero", ERROR_WHERE_READ, -EBADMSG },
	{ "mangle attr_short", ERROR_WHERE_READ, -EBADMSG },
	{ "mangle garbage", ERROR, 0 },
	/* Numbers of no width that the kernel ever gave. */
	{ "mangle narrow", RIGHT_OR_LESS_OR_ERROR, 0 },
	{ "mangle wide", RIGHT_OR_LESS_OR_ERROR, 0 },
	{ "mangle unterminated", RIGHT_OR_ERROR, 0 },
	{ "mangle attr_long arg=1", RIGHT_OR_LESS_OR_ERROR, 0 },
	{ "mangle attr_zero arg=1", RIGHT_OR_LESS_OR_ERROR, 0 },
	{ "mangle attr_short arg=1", RIGHT_OR_LESS_OR_ERROR, 0 },
	/* Attributes that are not there: in the statistics number 14 is in a histogram. */
	{ "mangle lacking arg=0", RIGHT_OR_LESS_OR_ERROR, 0 },
	{ "mangle lacking arg=1", RIGHT_OR_LESS_OR_ERROR, 0 },
	{ "mangle lacking arg=2", RIGHT_OR_LESS_OR_ERROR, 0 },
	{ "mangle lacking arg=3", RIGHT_OR_LESS_OR_ERROR, 0 },
	{ "mangle lacking arg=7", RIGHT_OR_LESS_OR_ERROR, 0 },
	{ "mangle lacking arg=14", RIGHT_OR_LESS_OR_ERROR, 0 },
};

static void test_faults_of_readings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fault_cases); i++)
		for (size_t j = 0; j < ARRAY_SIZE(readings); j++)
			fault_meets_reading(&fault_cases[i], &readings[j]);
}

/* What an entry is known by cannot be left out. */
static void test_entries_without_a_name(void **state)
{
	static const struct {
		const char *cmd;
		enum noun_id noun;
	} cases[] = {
		{ "GET_LGR_SMCR", NOUN_LINKGROUPS }, { "GET_LINK_SMCR", NOUN_LINKS },       { "PNET_GET", NOUN_PNET },
		{ "DUMP_UEID", NOUN_UEID },          { "GET_FBACK_STATS", NOUN_FALLBACKS },
	};
	ENV(v, "6.12");
	struct list l;

	(void)state;
	make_all(v);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_do(v->f, "fault mangle lacking cmd=%s", cases[i].cmd);
		assert_err(v, kernel_list(v->k, &nouns[cases[i].noun], &l, &v->e), -EBADMSG);
	}
}

/* So the kernel answers when it is out of memory; of a list nobody can tell, but these always have one entry. */
static void test_empty_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(readings); i++) {
		struct env *v CLEANUP(env_freep) = NULL;
		CLEANUP_TEXT struct text t = { 0 };

		if (readings[i].noun >= 0)
			continue;
		v = env_full();
		fake_do(v->f, "fault dump nothing cmd=%s", readings[i].cmd);
		assert_err(v, reading_take(v, &readings[i], &t), -EBADMSG);
	}
}

/* send has no command yet. */
static void test_send_faults(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };

	(void)state;
	l = get_list(v, NOUN_UEID);
	list_done(&l);
	fake_do(v->f, "fault send EPERM bus=genl");
	assert_err(v, kernel_list(v->k, &nouns[NOUN_UEID], &l, &v->e), -EPERM);
	fake_do(v->f, "fault send EINTR 2 bus=genl");
	l = get_list(v, NOUN_UEID);
	fake_do(v->f, "fault send EPERM");
	assert_err(v, kernel_ueid_add(v->k, "A", &v->e), -EPERM);
	assert_null(strstr(fake_state(v->f, ""), "ueid A"));
}

static void test_endless_dump(void **state)
{
	ENV(v, "6.12");
	struct list l;

	(void)state;
	fake_do(v->f, "ueid A");
	fake_do(v->f, "datagram 30000");
	fake_do(v->f, "fault dump endless cmd=DUMP_UEID");
	assert_true(kernel_list(v->k, &nouns[NOUN_UEID], &l, &v->e) < 0);
	assert_true(v->e.text[0]);
}

/* What is written: done and reported as done, or an error. */
static int write_something(struct env *v, unsigned int which, const char **ret_cmd, const char **ret_state)
{
	switch (which) {
	case 0:
		*ret_cmd = "ADD_UEID";
		*ret_state = "ueid NEW";
		return kernel_ueid_add(v->k, "NEW", &v->e);
	case 1:
		*ret_cmd = "PNET_ADD";
		*ret_state = "pnet NEW eth=eth7\n";
		return add(v, "NEW", "eth7", "", 0);
	case 2:
		*ret_cmd = "ENABLE_HS_LIMITATION";
		*ret_state = "";
		return kernel_knob_set(v->k, knob("limit_smc_hs"), value_uint(1), &v->e);
	default:
		*ret_cmd = NULL;
		return 0;
	}
}

static void fault_meets_write(const char *fault, unsigned int which, enum outcome outcome)
{
	ENV(v, "6.1");
	const char *cmd = NULL, *want = NULL;
	struct value x;
	int r;

	{
		/* Only for the name of the command. */
		ENV(other, "6.1");

		assert_ok(other, write_something(other, which, &cmd, &want));
	}
	fake_do(v->f, "fault %s cmd=%s", fault, cmd);
	r = write_something(v, which, &cmd, &want);
	assert_int_equal(fake_faults_left(v->f), 0);
	if (r >= 0 && outcome == ERROR)
		print_error("%s of %s: ok\n", fault, cmd);
	if (r < 0 && outcome == RIGHT)
		print_error("%s of %s: %s\n", fault, cmd, v->e.text);
	assert_true(r >= 0 ? outcome != ERROR : outcome != RIGHT && v->e.text[0]);
	if (r < 0)
		return;
	assert_non_null(strstr(fake_state(v->f, ""), want));
	if (which == 2) {
		assert_ok(v, kernel_knob_get(v->k, knob("limit_smc_hs"), &x, &v->e));
		assert_int_equal(x.u, 1);
	}
}

/* The answer is lost, or says nothing: what was done is read. */
static const char *const lost_answers[] = {
	"recv ENOBUFS",   "recv EAGAIN",       "mangle len_big", "mangle len_small", "mangle truncate",
	"mangle garbage", "mangle wrong_type", "mangle empty",   "mangle len_zero",
};

static void test_faults_of_writes(void **state)
{
	static const struct {
		const char *fault;
		enum outcome outcome;
	} cases[] = {
		{ "recv EINTR 3", RIGHT },
		{ "mangle foreign_seq", RIGHT },
		{ "answer EPERM", ERROR },
		{ "answer ENOMEM", ERROR },
	};

	(void)state;
	for (unsigned int which = 0; which < 3; which++) {
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
			fault_meets_write(cases[i].fault, which, cases[i].outcome);
		/* Of the knob it is told that it failed; the reading back of who asked shows what it is. */
		for (size_t i = 0; i < ARRAY_SIZE(lost_answers); i++)
			fault_meets_write(lost_answers[i], which, which == 2 ? ERROR : RIGHT);
	}
}

static void test_lost_answers_of_deletions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lost_answers); i++) {
		ENV(v, "6.12");

		fake_do(v->f, "pnet NETA eth=eth0");
		fake_do(v->f, "pnet NETA eth=eth1");
		fake_do(v->f, "ueid A");
		fake_do(v->f, "ueid B");
		fake_do(v->f, "fault %s cmd=PNET_DEL", lost_answers[i]);
		assert_ok(v, del(v, "NETA", "", "", 0));
		assert_pnet(v, "", "");
		fake_do(v->f, "fault %s cmd=REMOVE_UEID", lost_answers[i]);
		assert_ok(v, kernel_ueid_delete(v->k, "A", &v->e));
		assert_null(strstr(fake_state(v->f, ""), "ueid A"));
		assert_non_null(strstr(fake_state(v->f, ""), "ueid B"));
		assert_int_equal(fake_faults_left(v->f), 0);
	}
}

/* A failure that is no lost answer stays one. */
static void test_ueid_not_done(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "ueid A");
	fake_do(v->f, "fault answer EBUSY cmd=REMOVE_UEID");
	assert_err(v, kernel_ueid_delete(v->k, "A", &v->e), -EBUSY);
	fake_do(v->f, "fault answer EPERM cmd=ADD_UEID");
	assert_err(v, kernel_ueid_add(v->k, "A", &v->e), -EPERM);
	fake_do(v->f, "fault answer ENOMEM cmd=ADD_UEID");
	assert_err(v, kernel_ueid_add(v->k, "B", &v->e), -ENOMEM);
	assert_null(strstr(fake_state(v->f, ""), "ueid B"));
}

/* Neither the answer nor the list: both are said. */
static void test_untold(void **state)
{
	ENV(v, "6.12");

	(void)state;
	fake_do(v->f, "pnet NETA eth=eth0");
	fake_do(v->f, "fault recv ENOBUFS 3 cmd=PNET_DEL");
	fake_do(v->f, "fault answer EIO cmd=PNET_GET");
	assert_err(v, del(v, "NETA", "", "", 0), -ENOBUFS);
	assert_non_null(strstr(v->e.text, "cannot be told (Input/output error)"));
	assert_non_null(strstr(v->e.text, strerror(ENOBUFS)));
	fake_do(v->f, "fault clear");
	fake_do(v->f, "fault recv ENOBUFS cmd=ADD_UEID");
	fake_do(v->f, "fault answer EIO cmd=DUMP_UEID");
	assert_err(v, kernel_ueid_add(v->k, "A", &v->e), -ENOBUFS);
	assert_non_null(strstr(v->e.text, "cannot be told (Input/output error)"));
	/* Without a place for the text */
	fake_do(v->f, "fault recv ENOBUFS cmd=REMOVE_UEID");
	fake_do(v->f, "fault answer EIO cmd=DUMP_UEID");
	assert_int_equal(kernel_ueid_delete(v->k, "A", NULL), -ENOBUFS);
	/* The first two dumps are those before the addition. */
	fake_do(v->f, "fault recv ENOBUFS cmd=PNET_ADD");
	fake_do(v->f, "fault answer EIO cmd=PNET_GET after=2");
	assert_err(v, add(v, "NETB", "eth5", "", 0), -ENOBUFS);
	assert_non_null(strstr(v->e.text, "cannot be told (Input/output error)"));
}

static void test_faults_of_the_controller(void **state)
{
	static const char *const faults[] = {
		"mangle no_id",     "mangle len_big",   "mangle narrow", "mangle wide", "mangle truncate",
		"mangle attr_zero", "mangle attr_long", "answer EIO",    "recv EAGAIN", "mangle wrong_type",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		for (int autoload = 0; autoload < 2; autoload++) {
			ENV(v, "6.12");
			struct features have = { 0 };
			struct list l CLEANUP_LIST = { 0 };
			int r;

			fake_do(v->f, "fault %s cmd=GETFAMILY", faults[i]);
			r = kernel_probe(v->k, autoload, &have, &v->e);
			if (r >= 0 && !have.smc)
				print_error("%s: the module seems to be absent\n", faults[i]);
			/* Not known is another thing than not there. */
			assert_true(r < 0 ? v->e.text[0] : have.smc);
			fake_do(v->f, "fault clear");
			l = get_list(v, NOUN_UEID);
		}
}

/* A reading that was given up leaves a dump open, which makes the next one EBUSY until it is read to its end. */
static void test_given_up_dump(void **state)
{
	ENV(v, "6.12");
	struct list l CLEANUP_LIST = { 0 };

	(void)state;
	many_linkgroups(v, 60);
	fake_do(v->f, "fault mangle attr_long cmd=GET_LGR_SMCR after=1");
	assert_true(kernel_list(v->k, &nouns[NOUN_LINKGROUPS], &l, &v->e) < 0);
	assert_int_equal(fake_dumps_open(v->f), 0);
	l = get_list(v, NOUN_LINKGROUPS);
	assert_int_equal(l.n, 60);
	list_done(&l);
	fake_do(v->f, "fault recv EAGAIN cmd=GET_LGR_SMCR after=2");
	assert_err(v, kernel_list(v->k, &nouns[NOUN_LINKGROUPS], &l, &v->e), -ETIMEDOUT);
	l = get_list(v, NOUN_LINKGROUPS);
	assert_int_equal(l.n, 60);
	assert_false(l.incomplete);
}

/* ---- the fake itself ---- */

static void test_shared_state(void **state)
{
	char dir[] = "/tmp/smcd-fake-XXXXXX", path[64], other[80];
	struct transport a, b;
	char buf[64];
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/script", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("era 6.12\nnetns blue\nsysctl wmem 131072\nnetns\ntrace on\n", f);
	fclose(f);
	setenv("SMCD_FAKE", path, 1);
	assert_int_equal(transport_open("", NULL, &a, NULL), 0);
	assert_int_equal(transport_open("blue", NULL, &b, NULL), 0);
	assert_int_equal(b.ops->sysctl_read(b.ctx, "wmem", buf, sizeof(buf)), 6);
	assert_string_equal(buf, "131072");
	assert_int_equal(a.ops->sysctl_write(a.ctx, "wmem", "262144"), 0);
	/* A line that is appended happens in the running kernel, and what was written stays. */
	f = fopen(path, "a");
	assert_non_null(f);
	fputs("sysctl rmem 32768\nsysctl wm", f);
	fflush(f);
	assert_true(a.ops->sysctl_read(a.ctx, "rmem", buf, sizeof(buf)) > 0);
	assert_string_equal(buf, "32768");
	assert_true(a.ops->sysctl_read(a.ctx, "wmem", buf, sizeof(buf)) > 0);
	assert_string_equal(buf, "262144");
	fputs("em 65537\n", f);
	fclose(f);
	assert_true(a.ops->sysctl_read(a.ctx, "wmem", buf, sizeof(buf)) > 0);
	assert_string_equal(buf, "65537");
	a.ops->free(a.ctx);
	b.ops->free(b.ctx);
	unsetenv("SMCD_FAKE");
	remove(path);
	for (const char *const *s = (const char *const[]){ ".state", ".log", NULL }; *s; s++) {
		snprintf(other, sizeof(other), "%s%s", path, *s);
		assert_int_equal(remove(other), 0);
	}
	remove(dir);
}

/* An entry that a table which is not whole does not show can be there: nothing is sent. */
static void test_incomplete_table(void **state)
{
	ENV(v, "6.12");

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		fake_do(v->f, "pnet NET%u eth=d%u", i, i);
		fake_do(v->f, "ueid EID-%u", i);
	}
	fake_do(v->f, "fault dump hide 0 cmd=PNET_GET");
	fake_do(v->f, "fault dump hide 0 cmd=DUMP_UEID");
	assert_err(v, kernel_pnet_add(v->k, &(struct pnet_entry){ .id = "A", .rdma = "rxe0", .port = 2 }, &v->e),
		   -EAGAIN);
	assert_int_equal(fake_requests(v->f, "PNET_ADD"), 0);
	assert_err(v, kernel_ueid_add(v->k, "NEW", &v->e), -EAGAIN);
}

/* TCP's list that changes while it is read is read again; one that always does leaves the sockets incomplete. */
static void test_tcp_list_changes(void **state)
{
	(void)state;
	for (unsigned int times = 0; times <= 4; times++) {
		ENV(v, "6.12");
		struct list l;

		fake_do(v->f, "socket cookie=7 mode=smcr proto=ipproto src=192.0.2.1 dst=192.0.2.2 sport=80 dport=4000 "
			      "token=1 device=r");
		if (times > 0)
			fake_do(v->f, "fault dump intr %u cmd=TCP_DIAG", times);
		l = get_list(v, NOUN_SOCKETS);
		assert_str(&l, 0, SOCK_LOCAL_ADDR, "192.0.2.1");
		assert_int_equal(l.incomplete, times >= 3);
		assert_int_equal(fake_requests(v->f, "TCP_DIAG"), times < 3 ? times + 1 : 3);
		list_done(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp_list_changes),
		cmocka_unit_test(test_incomplete_table),
		cmocka_unit_test(test_no_smc),
		cmocka_unit_test(test_module_is_loaded_on_demand_only),
		cmocka_unit_test(test_module_reloaded),
		cmocka_unit_test(test_probe_in_each_era),
		cmocka_unit_test(test_transport_open),
		cmocka_unit_test(test_knob_defaults),
		cmocka_unit_test(test_knob_follows_others),
		cmocka_unit_test(test_negative_testlink_time),
		cmocka_unit_test(test_knob_set_refusals),
		cmocka_unit_test(test_knob_range_is_checked_before_the_kernel),
		cmocka_unit_test(test_knob_unprivileged),
		cmocka_unit_test(test_knob_read_fault),
		cmocka_unit_test(test_hs_limitation_by_netlink),
		cmocka_unit_test(test_knob_strings_fit),
		cmocka_unit_test(test_hs_ctrl),
		cmocka_unit_test(test_namespaces_are_apart),
		cmocka_unit_test(test_linkgroups),
		cmocka_unit_test(test_old_kernel_has_less),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_ambiguous_join),
		cmocka_unit_test(test_tcp_list_only_when_needed),
		cmocka_unit_test(test_small_lists),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_fallbacks),
		cmocka_unit_test(test_fallback_slots_full),
		cmocka_unit_test(test_sysinfo),
		cmocka_unit_test(test_each_counter),
		cmocka_unit_test(test_stats_of_a_namespace),
		cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_changing_lists),
		cmocka_unit_test(test_overrun_of_a_second_dump),
		cmocka_unit_test(test_pnet_check),
		cmocka_unit_test(test_pnet_add),
		cmocka_unit_test(test_pnet_half_existing),
		cmocka_unit_test(test_pnet_delete),
		cmocka_unit_test(test_pnet_rebuild_fails),
		cmocka_unit_test(test_pnet_rebuild_is_verified),
		cmocka_unit_test(test_pnet_lost_entries_are_named),
		cmocka_unit_test(test_pnet_delete_not_done),
		cmocka_unit_test(test_pnet_rebuild_after_a_fault),
		cmocka_unit_test(test_pnet_delete_from_changing_table),
		cmocka_unit_test(test_pnet_hardware_id),
		cmocka_unit_test(test_pnet_in_a_namespace),
		cmocka_unit_test(test_pnet_second_port),
		cmocka_unit_test(test_unprivileged),
		cmocka_unit_test(test_ueid),
		cmocka_unit_test(test_ueid_existing_among_four),
		cmocka_unit_test(test_seid),
		cmocka_unit_test(test_extended_ack),
		cmocka_unit_test(test_errors_are_counted),
		cmocka_unit_test(test_faults_of_readings),
		cmocka_unit_test(test_entries_without_a_name),
		cmocka_unit_test(test_empty_answers),
		cmocka_unit_test(test_send_faults),
		cmocka_unit_test(test_endless_dump),
		cmocka_unit_test(test_faults_of_writes),
		cmocka_unit_test(test_untold),
		cmocka_unit_test(test_ueid_not_done),
		cmocka_unit_test(test_lost_answers_of_deletions),
		cmocka_unit_test(test_faults_of_the_controller),
		cmocka_unit_test(test_given_up_dump),
		cmocka_unit_test(test_shared_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
