// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_netlink_parse.c - the netlink parsers with messages recorded on real kernels (tests/fuzz/corpus/fuzz_netlink)
 * and with handmade ones, hostile ones too. What the kernel does as a whole is tested on the fake kernel
 * (test_kernel.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <linux/genetlink.h>
#include <linux/inet_diag.h>
#include <linux/smc.h>
#include <rdma/ib_user_verbs.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>

#include "../fuzz/netlink_replay.h"

#define RECORDED "tests/fuzz/corpus/fuzz_netlink/"
#define AF_SMC_NUMBER 43

/* One run of a tape. */
struct run {
	struct replay replay;
	struct kernel *k;
	struct replay_result result;
	struct err e;
	int r;
};

static void run_done(struct run *run)
{
	replay_result_done(&run->result);
	kernel_free(run->k);
}
#define CLEANUP_RUN CLEANUP(run_done)

static void run_tape(struct run *run, const void *tape, size_t len)
{
	run->k = replay_kernel(&run->replay, tape, len);
	assert_non_null(run->k);
	run->r = replay_run(run->k, *(const unsigned char *)tape & ~REPLAY_UNKNOWN_FAMILIES, &run->result, &run->e);
}

/* ---- recorded messages: a 6.12 kernel with SMC-R over soft-RoCE on lo, and one with SMC-D loopback ---- */

static void run_recorded(struct run *run, const char *name, char **tape)
{
	char path[256];
	size_t len;

	snprintf(path, sizeof(path), RECORDED "%s", name);
	assert_int_equal(read_whole_file(path, 1 << 20, tape, &len), 0);
	run_tape(run, *tape, len);
	if (run->r < 0)
		print_message("%s: %s\n", name, run->e.text);
	assert_int_equal(run->r, 0);
}

static const struct value *cell(const struct run *run, size_t row, int field)
{
	assert_true(row < run->result.list.n);
	return &list_row(&run->result.list, row)[field];
}

static void assert_number(const struct run *run, size_t row, int field, uint64_t expected)
{
	const struct value *v = cell(run, row, field);

	assert_int_equal(v->kind, VALUE_UINT);
	assert_int_equal(v->u, expected);
}

static void assert_text(const struct run *run, size_t row, int field, const char *expected)
{
	const struct value *v = cell(run, row, field);

	assert_int_equal(v->kind, VALUE_STR);
	assert_string_equal(v->s, expected);
}

static void assert_absent(const struct run *run, size_t row, int field)
{
	assert_int_equal(cell(run, row, field)->kind, VALUE_ABSENT);
}

static void recorded_linkgroups(void **state)
{
	char *tape CLEANUP_FREE = NULL;
	struct run run CLEANUP_RUN = { 0 };

	(void)state;
	run_recorded(&run, "linkgroups-6.12", &tape);
	assert_int_equal(run.result.list.n, 2);
	assert_false(run.result.list.incomplete);
	assert_number(&run, 0, LGR_ID, 0x100);
	assert_number(&run, 0, LGR_TECH, TECH_SMCR);
	assert_number(&run, 0, LGR_ROLE, 1);
	assert_number(&run, 0, LGR_TYPE, 1);
	assert_number(&run, 0, LGR_CONNS, 2);
	assert_text(&run, 0, LGR_PNETID, "");
	/* attribute number 0 of its nest */
	assert_number(&run, 0, LGR_VERSION, 2);
	assert_number(&run, 0, LGR_RELEASE, 1);
	assert_number(&run, 0, LGR_PEER_OS, 2);
	assert_text(&run, 0, LGR_EID, "VM-UEID");
	assert_text(&run, 0, LGR_PEER_HOST, "testvm");
	assert_number(&run, 0, LGR_MAX_CONNS, 255);
	assert_number(&run, 0, LGR_SNDBUF, 131072);
	assert_number(&run, 0, LGR_NET_COOKIE, 1);
	assert_absent(&run, 0, LGR_GID);
	assert_number(&run, 1, LGR_ROLE, 0);
}

static void recorded_smcd_linkgroups(void **state)
{
	char *tape CLEANUP_FREE = NULL;
	struct run run CLEANUP_RUN = { 0 };

	(void)state;
	run_recorded(&run, "linkgroups-smcd", &tape);
	assert_int_equal(run.result.list.n, 2);
	assert_number(&run, 0, LGR_TECH, TECH_SMCD);
	assert_absent(&run, 0, LGR_ROLE);
	assert_number(&run, 0, LGR_CONNS, 5);
	assert_number(&run, 0, LGR_CHID, 65535);
	assert_number(&run, 0, LGR_VERSION, 2);
	assert_int_equal(cell(&run, 0, LGR_GID)->kind, VALUE_UINT);
	assert_true(value_equal(*cell(&run, 0, LGR_GID), *cell(&run, 0, LGR_PEER_GID)));
}

static void recorded_links_and_devices(void **state)
{
	char *tape CLEANUP_FREE = NULL, *tape2 CLEANUP_FREE = NULL;
	struct run links CLEANUP_RUN = { 0 }, devices CLEANUP_RUN = { 0 };

	(void)state;
	run_recorded(&links, "links-6.12", &tape);
	assert_int_equal(links.result.list.n, 2);
	assert_number(&links, 0, LINK_LGR, 0x100);
	assert_number(&links, 1, LINK_LGR, 0x200);
	assert_number(&links, 0, LINK_STATE, 3);
	assert_text(&links, 0, LINK_DEVICE, "rxe_lo");
	assert_text(&links, 0, LINK_GID, "0000:0000:0000:0000:0000:ffff:7f00:0001");
	assert_text(&links, 0, LINK_NETDEV, "eth1"); /* replay_ifname() */
	assert_true(value_equal(*cell(&links, 0, LINK_UID), *cell(&links, 1, LINK_PEER_UID)));

	run_recorded(&devices, "devices-6.12", &tape2);
	assert_int_equal(devices.result.list.n, 1);
	assert_text(&devices, 0, DEV_NAME, "rxe_lo");
	assert_number(&devices, 0, DEV_PORT, 1);
	assert_number(&devices, 0, DEV_STATE, 1);
	assert_number(&devices, 0, DEV_LINKS, 2);
	assert_number(&devices, 0, DEV_CRITICAL, 1);
	assert_absent(&devices, 0, DEV_LGRS);
	assert_absent(&devices, 0, DEV_PCI_ID);
}

static size_t find_socket(const struct run *run, uint64_t local_port, bool connected)
{
	for (size_t i = 0; i < run->result.list.n; i++)
		if (cell(run, i, SOCK_LOCAL_PORT)->u == local_port &&
		    (cell(run, i, SOCK_PEER_PORT)->kind == VALUE_UINT) == connected)
			return i;
	fail_msg("no socket with port %llu", (unsigned long long)local_port);
	return 0;
}

static void recorded_sockets(void **state)
{
	char *tape CLEANUP_FREE = NULL;
	struct run run CLEANUP_RUN = { 0 };
	size_t row;

	(void)state;
	run_recorded(&run, "sockets-6.12", &tape);
	assert_int_equal(run.result.list.n, 9);
	/* 5001 is an AF_SMC socket, 5002 and 5003 are IPPROTO_SMC ones of IPv4 and IPv6: their addresses come from TCP
	 */
	row = find_socket(&run, 5001, true);
	assert_text(&run, row, SOCK_LOCAL_ADDR, "127.0.0.1");
	assert_text(&run, row, SOCK_PEER_ADDR, "127.0.0.1");
	assert_text(&run, row, SOCK_STATE, "active");
	assert_number(&run, row, SOCK_MODE, SMC_DIAG_MODE_SMCR);
	assert_number(&run, row, SOCK_RX_FILL, 50000);
	assert_number(&run, row, SOCK_SNDBUF, 65536);
	assert_number(&run, row, SOCK_ROLE, 1);
	assert_text(&run, row, SOCK_DEVICE, "rxe_lo");
	assert_absent(&run, row, SOCK_REASON);
	row = find_socket(&run, 5002, true);
	assert_text(&run, row, SOCK_LOCAL_ADDR, "127.0.0.1");
	assert_number(&run, row, SOCK_MODE, SMC_DIAG_MODE_SMCR);
	row = find_socket(&run, 5002, false);
	assert_text(&run, row, SOCK_LOCAL_ADDR, "127.0.0.1");
	assert_absent(&run, row, SOCK_PEER_ADDR);
	assert_text(&run, row, SOCK_STATE, "listen");
	assert_absent(&run, row, SOCK_MODE);
	assert_absent(&run, row, SOCK_SNDBUF);
	row = find_socket(&run, 5003, true);
	assert_text(&run, row, SOCK_LOCAL_ADDR, "::1");
	assert_number(&run, row, SOCK_MODE, SMC_DIAG_MODE_FALLBACK_TCP);
	assert_text(&run, row, SOCK_REASON_NAME, "PEERDECL");
	assert_number(&run, row, SOCK_PEER_REASON, 0x03030000);
}

static void recorded_smcd_sockets(void **state)
{
	char *tape CLEANUP_FREE = NULL;
	struct run run CLEANUP_RUN = { 0 };
	size_t row;

	(void)state;
	run_recorded(&run, "sockets-smcd", &tape);
	row = find_socket(&run, 5003, true);
	assert_text(&run, row, SOCK_LOCAL_ADDR, "::1");
	assert_number(&run, row, SOCK_MODE, SMC_DIAG_MODE_SMCD);
	assert_number(&run, row, SOCK_RX_FILL, 50000);
	assert_absent(&run, row, SOCK_DEVICE);
	assert_int_equal(strncmp(cell(&run, row, SOCK_GID)->s, "0x", 2), 0);
	assert_int_equal(cell(&run, row, SOCK_LINKID)->kind, VALUE_UINT);
}

static size_t counter_index(const char *key)
{
	for (size_t i = 0; i < n_stats; i++)
		if (str_eq(stats_table[i].key, key))
			return i;
	fail_msg("no counter '%s'", key);
	return 0;
}

static void recorded_stats(void **state)
{
	char *tape CLEANUP_FREE = NULL, *tape2 CLEANUP_FREE = NULL, *old_tape CLEANUP_FREE = NULL;
	struct run r CLEANUP_RUN = { 0 }, d CLEANUP_RUN = { 0 }, old CLEANUP_RUN = { 0 };
	const struct stat_value *v;

	(void)state;
	run_recorded(&r, "stats-6.12", &tape);
	assert_int_equal(r.result.stats.v[counter_index("tx_bytes")][TECH_SMCR].v.u, 200000);
	assert_int_equal(r.result.stats.v[counter_index("rx_bytes")][TECH_SMCR].v.u, 100000);
	assert_int_equal(r.result.stats.v[counter_index("tx_bytes")][TECH_SMCD].v.u, 0);
	v = &r.result.stats.v[counter_index("tx_size")][TECH_SMCR];
	assert_int_equal(v->v.u, 4);
	assert_int_equal(v->buckets[3], 2);
	assert_int_equal(v->buckets[4], 2);
	for (size_t i = 0; i < n_stats; i++)
		assert_int_equal(r.result.stats.v[i][0].v.kind, VALUE_UINT);

	run_recorded(&d, "stats-smcd", &tape2);
	assert_int_equal(d.result.stats.v[counter_index("tx_bytes")][TECH_SMCD].v.u, 300000);
	assert_int_equal(d.result.stats.v[counter_index("tx_bytes")][TECH_SMCR].v.u, 0);

	/* What a kernel does not count is absent, not 0. */
	run_recorded(&old, "stats-6.1", &old_tape);
	assert_int_equal(old.result.stats.v[counter_index("send_buffer_used")][TECH_SMCR].v.kind, VALUE_ABSENT);
	assert_int_equal(old.result.stats.v[counter_index("tx_bytes")][TECH_SMCR].v.kind, VALUE_UINT);
}

static void recorded_rest(void **state)
{
	char *tapes[5] = { 0 };
	struct run fallbacks CLEANUP_RUN = { 0 }, pnet CLEANUP_RUN = { 0 }, ueid CLEANUP_RUN = { 0 },
			     sysinfo CLEANUP_RUN = { 0 }, probe CLEANUP_RUN = { 0 };

	(void)state;
	run_recorded(&fallbacks, "fallbacks-6.12", &tapes[0]);
	assert_int_equal(fallbacks.result.list.n, 2);
	assert_int_equal(fallbacks.result.totals.client, 1);
	assert_int_equal(fallbacks.result.totals.server, 1);
	assert_text(&fallbacks, 1, FB_NAME, "NOSMCDEV");
	assert_number(&fallbacks, 1, FB_COUNT, 1);
	run_recorded(&pnet, "pnet-6.12", &tapes[1]);
	assert_int_equal(pnet.result.list.n, 2);
	assert_text(&pnet, 0, PNET_ID, "NETA");
	assert_text(&pnet, 0, PNET_INTERFACE, "eth0");
	assert_absent(&pnet, 0, PNET_RDMA);
	assert_absent(&pnet, 0, PNET_PORT);
	assert_absent(&pnet, 1, PNET_INTERFACE);
	assert_number(&pnet, 1, PNET_PORT, 1);
	run_recorded(&ueid, "ueid-6.12", &tapes[2]);
	assert_text(&ueid, 0, UEID_EID, "EID-1");
	run_recorded(&sysinfo, "sysinfo-6.12", &tapes[3]);
	assert_int_equal(sysinfo.result.sysinfo.version.u, 2);
	assert_string_equal(sysinfo.result.sysinfo.host, "testvm");
	assert_string_equal(sysinfo.result.sysinfo.seid, "");
	run_recorded(&probe, "probe-6.12", &tapes[4]);
	assert_true(probe.result.features.smc && probe.result.features.pnetid && probe.result.features.sysctl);
	for (size_t i = 0; i < ARRAY_SIZE(tapes); i++)
		free(tapes[i]);
}

/* Made from the specification of smc_tune, as seeds of the fuzzer. */
static void made_smc_tune(void **state)
{
	static const struct {
		const char *name;
		size_t rows;
	} lists[] = { { "tune-pools", 2 },
		      { "tune-cork", 12 },
		      { "tune-handshakes", 2 },
		      { "tune-events", 1 },
		      { "tune-events-lost", 2 } };
	struct run offered CLEANUP_RUN = { 0 }, set CLEANUP_RUN = { 0 };
	char *tapes[2] = { 0 };

	(void)state;
	run_recorded(&offered, "tune-knobs", &tapes[0]);
	assert_int_equal(offered.result.offered.n, 4);
	assert_int_equal(offered_find(&offered.result.offered, "linger")->value.u, 100);
	assert_true(offered_find(&offered.result.offered, "smcr_buf_type")->read_only);
	run_recorded(&set, "tune-knobs-set", &tapes[1]);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct run run CLEANUP_RUN = { 0 };
		char *tape = NULL;

		run_recorded(&run, lists[i].name, &tape);
		assert_int_equal(run.result.list.n, lists[i].rows);
		free(tape);
	}
	free(tapes[0]);
	free(tapes[1]);
}

/* ---- handmade messages ---- */

struct tape {
	unsigned char b[8192];
	size_t len, piece, msg;
};

static void put(struct tape *t, const void *p, size_t n)
{
	assert_true(t->len + n <= sizeof(t->b));
	memcpy(t->b + t->len, p, n);
	t->len += n;
}

static void start(struct tape *t, enum replay_op op)
{
	*t = (struct tape){ .b = { (unsigned char)op }, .len = 1 };
}

static void datagram(struct tape *t, uint8_t flags)
{
	const unsigned char head[3] = { flags, 0, 0 };

	put(t, head, sizeof(head));
	t->piece = t->len;
}

static void datagram_end(struct tape *t)
{
	size_t n = t->len - t->piece;

	t->b[t->piece - 2] = (unsigned char)n;
	t->b[t->piece - 1] = (unsigned char)(n >> 8);
}

static void message(struct tape *t, uint16_t type, uint16_t flags)
{
	const struct nlmsghdr h = { .nlmsg_len = sizeof(h), .nlmsg_type = type, .nlmsg_flags = flags };

	t->msg = t->len;
	put(t, &h, sizeof(h));
}

static void message_end(struct tape *t)
{
	uint32_t n = (uint32_t)(t->len - t->msg);

	memcpy(t->b + t->msg, &n, sizeof(n));
}

static void genl(struct tape *t, uint16_t family, uint16_t flags)
{
	const struct genlmsghdr g = { .cmd = 1, .version = 1 };

	message(t, family, NLM_F_MULTI | flags);
	put(t, &g, sizeof(g));
}

static void attr(struct tape *t, uint16_t type, const void *p, size_t n)
{
	const uint16_t head[2] = { (uint16_t)(n + 4), type };
	const char pad[4] = "";

	put(t, head, sizeof(head));
	put(t, p, n);
	put(t, pad, (4 - n % 4) % 4);
}

static void attr_str(struct tape *t, uint16_t type, const char *s)
{
	attr(t, type, s, strlen(s) + 1);
}

static size_t nest(struct tape *t, uint16_t type)
{
	attr(t, type | NLA_F_NESTED, "", 0);
	return t->len - 4;
}

static void nest_end(struct tape *t, size_t at)
{
	uint16_t n = (uint16_t)(t->len - at);

	memcpy(t->b + at, &n, sizeof(n));
}

static void number_message(struct tape *t, uint16_t type, uint16_t flags, int code)
{
	message(t, type, NLM_F_MULTI | flags);
	put(t, &code, sizeof(code));
	message_end(t);
}

static void done(struct tape *t)
{
	datagram(t, PIECE_SEQ);
	number_message(t, NLMSG_DONE, 0, 0);
	datagram_end(t);
}

/* NLMSG_ERROR; a request of n_request bytes is repeated in it. */
static void error_message(struct tape *t, uint16_t flags, int code, uint32_t n_request, const char *text)
{
	const struct nlmsgerr m = { .error = code,
				    .msg = { .nlmsg_len = (uint32_t)sizeof(struct nlmsghdr) + n_request } };
	const char zero[64] = "";

	message(t, NLMSG_ERROR, flags | (text ? NLM_F_ACK_TLVS : 0));
	put(t, &m, sizeof(m));
	if (!(flags & NLM_F_CAPPED))
		put(t, zero, NLMSG_ALIGN(n_request));
	if (text)
		attr_str(t, NLMSGERR_ATTR_MSG, text);
	message_end(t);
}

/* Run a finished tape. */
static void play(struct run *run, const struct tape *t)
{
	/* a copy of exactly its length, so that a sanitizer sees reading behind it */
	unsigned char *copy = malloc(t->len);

	assert_non_null(copy);
	memcpy(copy, t->b, t->len);
	run_tape(run, copy, t->len);
	free(copy);
}

static void assert_fails(struct run *run, const struct tape *t, int code, const char *says)
{
	play(run, t);
	if (run->r != code || !strstr(run->e.text, says))
		print_message("got %s: %s\n", errno_name(run->r), run->e.text);
	assert_int_equal(run->r, code);
	assert_int_equal(run->e.code, code);
	assert_non_null(strstr(run->e.text, says));
	assert_int_equal(run->result.list.n, 0);
}

static void ueid_record(struct tape *t, const char *eid)
{
	genl(t, REPLAY_SMC_ID, 0);
	attr_str(t, SMC_NLA_EID_TABLE_ENTRY, eid);
	message_end(t);
}

/* A whole reading of a list of UEIDs in one datagram. */
static void ueid_reading(struct tape *t, uint16_t flags, const char *a, const char *b)
{
	datagram(t, PIECE_SEQ);
	for (int i = 0; i < 2; i++) {
		if (!(i ? b : a))
			continue;
		genl(t, REPLAY_SMC_ID, flags);
		attr_str(t, SMC_NLA_EID_TABLE_ENTRY, i ? b : a);
		message_end(t);
	}
	number_message(t, NLMSG_DONE, 0, 0);
	datagram_end(t);
}

static void walks_attributes(void **state)
{
	static const unsigned char two[] = { 5, 0, 0, 0, 7, 0, 0, 0, 6, 0, 3, 0, 1, 2 };
	struct knl_span s = { two, sizeof(two) };
	struct knl_attr a;
	uint64_t u;

	(void)state;
	/* number 0, then one whose padding is missing at the end */
	assert_int_equal(knl_attr_next(&s, &a), 1);
	assert_int_equal(a.type, 0);
	assert_int_equal(knl_attr_uint(&a, &u), 0);
	assert_int_equal(u, 7);
	assert_int_equal(knl_attr_next(&s, &a), 1);
	assert_int_equal(a.type, 3);
	assert_int_equal(a.data.len, 2);
	assert_int_equal(knl_attr_next(&s, &a), 0);
	s = (struct knl_span){ two, sizeof(two) };
	assert_int_equal(knl_attr_find(s, 0, &a), 1);
	assert_int_equal(knl_attr_find(s, 3, &a), 1);
	assert_int_equal(knl_attr_find(s, 4, &a), 0);
	/* every way to be cut */
	for (size_t n = 1; n < sizeof(two); n++) {
		s = (struct knl_span){ two, n };
		assert_int_equal(knl_attr_find(s, 9, &a), n == 5 || n == 8 ? 0 : n > 5 && n < 8 ? 0 : -EBADMSG);
	}
}

static void refuses_attribute_lengths(void **state)
{
	static const unsigned char lengths[][8] = { { 0, 0, 1 }, { 3, 0, 1 }, { 9, 0, 1 }, { 255, 255, 1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct knl_span s = { lengths[i], sizeof(lengths[i]) };
		struct knl_attr a;

		assert_int_equal(knl_attr_next(&s, &a), -EBADMSG);
	}
}

static void takes_numbers_of_any_width(void **state)
{
	static const unsigned char bytes[16] = { 1, 0, 0, 0, 0, 0, 0, 0 };
	uint64_t u;

	(void)state;
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		const struct knl_attr a = { .data = { bytes, n } };
		bool good = n == 1 || n == 2 || n == 4 || n == 8;

		assert_int_equal(knl_attr_uint(&a, &u), good ? 0 : -EBADMSG);
	}
}

static void cuts_strings_at_the_attribute(void **state)
{
	struct run run CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	start(&t, REPLAY_UEID);
	for (int i = 0; i < 2; i++) {
		datagram(&t, PIECE_SEQ);
		genl(&t, REPLAY_SMC_ID, 0);
		attr(&t, SMC_NLA_EID_TABLE_ENTRY, "EID-1    NOT-THIS", 7);
		message_end(&t);
		datagram_end(&t);
		done(&t);
	}
	play(&run, &t);
	assert_int_equal(run.r, 0);
	assert_text(&run, 0, UEID_EID, "EID-1");
}

static void agrees_on_the_second_reading(void **state)
{
	struct run run CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	start(&t, REPLAY_UEID);
	ueid_reading(&t, 0, "A", "B");
	ueid_reading(&t, 0, "A", "B");
	play(&run, &t);
	assert_int_equal(run.r, 0);
	assert_int_equal(run.replay.sends, 2);
	assert_false(run.result.list.incomplete);
	assert_int_equal(run.result.list.n, 2);
}

static void says_when_readings_differ(void **state)
{
	struct run differs CLEANUP_RUN = { 0 }, third CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	start(&t, REPLAY_UEID);
	ueid_reading(&t, 0, "A", "B");
	ueid_reading(&t, 0, "A", NULL);
	ueid_reading(&t, 0, "B", NULL);
	play(&differs, &t);
	assert_int_equal(differs.r, 0);
	assert_int_equal(differs.replay.sends, 3);
	assert_true(differs.result.list.incomplete);
	assert_int_equal(differs.result.list.n, 1);

	start(&t, REPLAY_UEID);
	ueid_reading(&t, 0, "A", "B");
	ueid_reading(&t, 0, "A", NULL);
	ueid_reading(&t, 0, "A", NULL);
	play(&third, &t);
	assert_false(third.result.list.incomplete);
}

static void interrupted_reading_agrees_with_none(void **state)
{
	struct run run CLEANUP_RUN = { 0 }, all CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	start(&t, REPLAY_UEID);
	ueid_reading(&t, NLM_F_DUMP_INTR, "A", NULL);
	ueid_reading(&t, 0, "A", NULL);
	ueid_reading(&t, 0, "A", NULL);
	play(&run, &t);
	assert_int_equal(run.replay.sends, 3);
	assert_false(run.result.list.incomplete);

	start(&t, REPLAY_UEID);
	for (int i = 0; i < 3; i++)
		ueid_reading(&t, NLM_F_DUMP_INTR, "A", NULL);
	play(&all, &t);
	assert_int_equal(all.r, 0);
	assert_true(all.result.list.incomplete);
}

static void skips_late_answers(void **state)
{
	struct run run CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	start(&t, REPLAY_UEID);
	/* its sequence number stays 0: rows, an end and an error of earlier requests */
	datagram(&t, 0);
	ueid_record(&t, "OLD");
	number_message(&t, NLMSG_DONE, 0, 0);
	error_message(&t, NLM_F_CAPPED, -EPERM, 0, NULL);
	datagram_end(&t);
	ueid_reading(&t, 0, "A", NULL);
	ueid_reading(&t, 0, "A", NULL);
	play(&run, &t);
	assert_int_equal(run.r, 0);
	assert_int_equal(run.result.list.n, 1);
	assert_text(&run, 0, UEID_EID, "A");
}

static void takes_the_extended_ack(void **state)
{
	struct tape t;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct run run CLEANUP_RUN = { 0 };

		start(&t, REPLAY_UEID_FLUSH);
		datagram(&t, PIECE_SEQ);
		/* capped, with the request repeated, and with one whose length is not a multiple of 4 */
		error_message(&t, i == 0 ? NLM_F_CAPPED : 0, -EINVAL,
			      i == 0   ? 20
			      : i == 1 ? 20
				       : 21,
			      "that is not how");
		datagram_end(&t);
		assert_fails(&run, &t, -EINVAL, "delete all UEIDs: Invalid argument");
		assert_string_equal(run.e.ext, "that is not how");
	}
}

static void extended_ack_of_a_list(void **state)
{
	struct run run CLEANUP_RUN = { 0 };
	struct tape t;
	const int code = -ENOMEM;

	(void)state;
	start(&t, REPLAY_UEID);
	datagram(&t, PIECE_SEQ);
	message(&t, NLMSG_DONE, NLM_F_MULTI | NLM_F_ACK_TLVS);
	put(&t, &code, sizeof(code));
	attr_str(&t, NLMSGERR_ATTR_MSG, "no room");
	message_end(&t);
	datagram_end(&t);
	assert_fails(&run, &t, -ENOMEM, "list ueid: Cannot allocate memory");
	assert_string_equal(run.e.ext, "no room");
}

static void refuses_hostile_acks(void **state)
{
	struct tape t;

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct run run CLEANUP_RUN = { 0 };

		start(&t, REPLAY_UEID_FLUSH);
		datagram(&t, PIECE_SEQ);
		switch (i) {
		case 0: /* errors are negative */
			error_message(&t, NLM_F_CAPPED, 5, 0, NULL);
			break;
		case 1:
			error_message(&t, NLM_F_CAPPED, INT32_MIN, 0, NULL);
			break;
		case 2: /* success, but what follows is broken */
			error_message(&t, NLM_F_CAPPED | NLM_F_ACK_TLVS, 0, 0, NULL);
			put(&t, "\xff\xff\1\0", 4);
			message_end(&t);
			break;
		case 3: /* a repeated request that is longer than the message */
			error_message(&t, NLM_F_CAPPED, -EPERM, 1000, NULL);
			((struct nlmsghdr *)(void *)(t.b + t.msg))->nlmsg_flags = NLM_F_ACK_TLVS;
			break;
		case 4: /* no room for the number */
			message(&t, NLMSG_ERROR, 0);
			put(&t, "\0\0", 2);
			message_end(&t);
			break;
		case 5: /* the end of a list where an acknowledgement belongs */
			number_message(&t, NLMSG_DONE, 0, 0);
			break;
		}
		datagram_end(&t);
		assert_fails(&run, &t, -EBADMSG, "malformed");
	}
}

static void refuses_hostile_datagrams(void **state)
{
	struct tape t;

	(void)state;
	for (int i = 0; i < 9; i++) {
		struct run run CLEANUP_RUN = { 0 };
		uint32_t len = 0;

		start(&t, REPLAY_UEID);
		datagram(&t, PIECE_SEQ);
		if (i != 0)
			ueid_record(&t, "A");
		switch (i) {
		case 0: /* empty */
			break;
		case 1: /* cut within the message */
			t.len -= 4;
			break;
		case 2: /* a length within the header */
			len = 15;
			break;
		case 3:
			len = UINT32_MAX;
			break;
		case 4: /* 0 must not loop */
			len = 0;
			break;
		case 5: /* rubbish behind the message */
			put(&t, "xyz", 3);
			break;
		case 6: /* a type that nobody asked for */
			((struct nlmsghdr *)(void *)(t.b + t.msg))->nlmsg_type = 0x99;
			break;
		case 7: /* no genetlink header */
			message(&t, REPLAY_SMC_ID, NLM_F_MULTI);
			message_end(&t);
			break;
		case 8: /* an acknowledgement in place of a list */
			error_message(&t, NLM_F_CAPPED, 0, 0, NULL);
			break;
		}
		if (i >= 2 && i <= 4)
			memcpy(t.b + t.msg, &len, sizeof(len));
		datagram_end(&t);
		assert_fails(&run, &t, -EBADMSG, "malformed");
	}
}

static void end_without_a_number_is_good(void **state)
{
	struct run run CLEANUP_RUN = { 0 }, shortened CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	start(&t, REPLAY_UEID);
	for (int i = 0; i < 2; i++) {
		datagram(&t, PIECE_SEQ);
		message(&t, NLMSG_DONE, NLM_F_MULTI);
		message_end(&t);
		datagram_end(&t);
	}
	play(&run, &t);
	assert_int_equal(run.r, 0);
	assert_int_equal(run.result.list.n, 0);

	start(&t, REPLAY_UEID);
	datagram(&t, PIECE_SEQ);
	message(&t, NLMSG_DONE, NLM_F_MULTI);
	put(&t, "\0\0", 2);
	message_end(&t);
	datagram_end(&t);
	assert_fails(&shortened, &t, -EBADMSG, "malformed");
}

static void answers_that_do_not_come(void **state)
{
	struct run run CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	start(&t, REPLAY_UEID);
	datagram(&t, PIECE_SEQ);
	ueid_record(&t, "A");
	datagram_end(&t);
	assert_fails(&run, &t, -ETIMEDOUT, "did not answer");
}

static void failed_read(struct tape *t, unsigned char code)
{
	datagram(t, PIECE_ERRNO);
	put(t, &code, 1);
	datagram_end(t);
}

static void repeats_after_an_overrun(void **state)
{
	struct run run CLEANUP_RUN = { 0 }, ever CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	start(&t, REPLAY_UEID);
	failed_read(&t, EINTR);
	datagram(&t, PIECE_SEQ);
	ueid_record(&t, "LOST");
	datagram_end(&t);
	failed_read(&t, ENOBUFS);
	done(&t); /* the rest of the first answer is read and thrown away */
	ueid_reading(&t, 0, "A", NULL);
	ueid_reading(&t, 0, "A", NULL);
	play(&run, &t);
	assert_int_equal(run.r, 0);
	assert_int_equal(run.replay.sends, 3);
	assert_int_equal(run.result.list.n, 1);
	assert_text(&run, 0, UEID_EID, "A");

	start(&t, REPLAY_UEID);
	for (int i = 0; i < 3; i++) {
		failed_read(&t, ENOBUFS);
		done(&t);
	}
	assert_fails(&ever, &t, -ENOBUFS, "No buffer space");
	assert_int_equal(ever.replay.sends, KNL_TRIES);
}

static void waits_for_a_dump_that_is_still_open(void **state)
{
	struct run run CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	start(&t, REPLAY_UEID);
	datagram(&t, PIECE_SEQ);
	error_message(&t, NLM_F_CAPPED, -EBUSY, 0, NULL);
	datagram_end(&t);
	datagram(&t, 0); /* the end of the other one */
	number_message(&t, NLMSG_DONE, 0, 0);
	datagram_end(&t);
	ueid_reading(&t, 0, "A", NULL);
	ueid_reading(&t, 0, "A", NULL);
	play(&run, &t);
	assert_int_equal(run.r, 0);
	assert_int_equal(run.replay.sends, 3);
}

static void records_without_what_they_need(void **state)
{
	static const struct {
		enum replay_op op;
		uint16_t nest; /* 0: none */
		uint16_t family;
	} rows[] = {
		{ REPLAY_LINKGROUPS, SMC_GEN_LGR_SMCR, REPLAY_SMC_ID },
		{ REPLAY_LINKGROUPS, 0, REPLAY_SMC_ID },
		{ REPLAY_LINKS, SMC_GEN_LINK_SMCR, REPLAY_SMC_ID },
		{ REPLAY_LINKS, 0, REPLAY_SMC_ID },
		{ REPLAY_DEVICES, 0, REPLAY_SMC_ID },
		{ REPLAY_FALLBACKS, SMC_GEN_FBACK_STATS, REPLAY_SMC_ID },
		{ REPLAY_PNET, 0, REPLAY_PNET_ID },
		{ REPLAY_UEID, 0, REPLAY_SMC_ID },
		{ REPLAY_STATS, 0, REPLAY_SMC_ID },
		{ REPLAY_SYSINFO, SMC_GEN_SYS_INFO, REPLAY_SMC_ID },
		{ REPLAY_HS_SET, 0, REPLAY_SMC_ID },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run run CLEANUP_RUN = { 0 };
		struct tape t;

		start(&t, rows[i].op);
		datagram(&t, PIECE_SEQ);
		genl(&t, rows[i].family, 0);
		if (rows[i].nest)
			nest_end(&t, nest(&t, rows[i].nest));
		message_end(&t);
		datagram_end(&t);
		done(&t);
		play(&run, &t);
		if (run.r != -EBADMSG)
			print_message("row %zu: %s\n", i, errno_name(run.r));
		assert_int_equal(run.r, -EBADMSG);
	}
}

static void empty_answers_are_no_zeros(void **state)
{
	static const enum replay_op ops[] = { REPLAY_STATS, REPLAY_SYSINFO, REPLAY_HS_GET };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		struct run run CLEANUP_RUN = { 0 };
		struct tape t;

		start(&t, ops[i]);
		done(&t);
		assert_fails(&run, &t, -EBADMSG, "malformed");
	}
}

static void refuses_a_number_of_the_wrong_width(void **state)
{
	struct run run CLEANUP_RUN = { 0 };
	struct tape t;
	size_t n;

	(void)state;
	start(&t, REPLAY_LINKGROUPS);
	datagram(&t, PIECE_SEQ);
	genl(&t, REPLAY_SMC_ID, 0);
	n = nest(&t, SMC_GEN_LGR_SMCR);
	attr(&t, SMC_NLA_LGR_R_ID, "\1\2\3", 3);
	nest_end(&t, n);
	message_end(&t);
	datagram_end(&t);
	done(&t);
	assert_fails(&run, &t, -EBADMSG, "malformed at 'id'");
}

/* ---- sockets ---- */

struct made_socket {
	uint8_t family, state, mode;
	uint16_t sport, dport;
	uint32_t src, dst, cookie;
};

static void socket_record(struct tape *t, const struct made_socket *s, const struct smc_diag_conninfo *c)
{
	const struct smc_diag_msg m = {
		.diag_family = s->family,
		.diag_state = s->state,
		.diag_mode = s->mode,
		.id = { .idiag_sport = htobe16(s->sport),
			.idiag_dport = htobe16(s->dport),
			.idiag_src = { htobe32(s->src) },
			.idiag_dst = { htobe32(s->dst) },
			.idiag_cookie = { s->cookie, 0 } },
	};

	message(t, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI);
	put(t, &m, sizeof(m));
	if (c)
		attr(t, SMC_DIAG_CONNINFO, c, sizeof(*c));
	message_end(t);
}

static void tcp_record(struct tape *t, uint16_t sport, uint16_t dport, uint32_t src, uint32_t dst)
{
	const struct inet_diag_msg m = {
		.idiag_family = 2,
		.id = { .idiag_sport = htobe16(sport),
			.idiag_dport = htobe16(dport),
			.idiag_src = { htobe32(src) },
			.idiag_dst = { htobe32(dst) } },
	};

	message(t, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI);
	put(t, &m, sizeof(m));
	message_end(t);
}

static void socket_readings(struct tape *t, const struct made_socket *s, const struct smc_diag_conninfo *c)
{
	start(t, REPLAY_SOCKETS);
	for (int i = 0; i < 2; i++) {
		datagram(t, PIECE_SEQ);
		socket_record(t, s, c);
		number_message(t, NLMSG_DONE, 0, 0);
		datagram_end(t);
	}
}

#define LOOPBACK 0x7f000001

static void joins_only_what_is_certain(void **state)
{
	static const struct made_socket s = { 2, 1, SMC_DIAG_MODE_SMCR, 80, 4000, 0, 0, 1 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct run run CLEANUP_RUN = { 0 };
		struct tape t;

		socket_readings(&t, &s, NULL);
		datagram(&t, PIECE_SEQ);
		tcp_record(&t, 81, 4000, 1, 2); /* other ports */
		if (i > 0)
			tcp_record(&t, 80, 4000, LOOPBACK, LOOPBACK + 1);
		if (i == 2) /* the same again (SO_REUSEPORT) */
			tcp_record(&t, 80, 4000, LOOPBACK, LOOPBACK + 1);
		if (i == 3) /* another connection with the same ports */
			tcp_record(&t, 80, 4000, LOOPBACK, LOOPBACK + 2);
		number_message(&t, NLMSG_DONE, 0, 0);
		datagram_end(&t);
		play(&run, &t);
		assert_int_equal(run.r, 0);
		assert_int_equal(run.replay.sends, 3); /* no list of IPv6 for a socket of IPv4 */
		assert_number(&run, 0, SOCK_LOCAL_PORT, 80);
		if (i == 1 || i == 2) {
			assert_text(&run, 0, SOCK_LOCAL_ADDR, "127.0.0.1");
			assert_text(&run, 0, SOCK_PEER_ADDR, "127.0.0.2");
		} else {
			assert_absent(&run, 0, SOCK_LOCAL_ADDR);
			assert_absent(&run, 0, SOCK_PEER_ADDR);
		}
	}
}

static void socket_without_tcp_diag(void **state)
{
	static const struct made_socket s = { 2, 10, SMC_DIAG_MODE_SMCR, 80, 0, 0, 0, 1 };
	struct run gone CLEANUP_RUN = { 0 }, denied CLEANUP_RUN = { 0 };
	struct tape t;

	(void)state;
	socket_readings(&t, &s, NULL);
	datagram(&t, PIECE_SEQ);
	error_message(&t, NLM_F_CAPPED, -ENOENT, 0, NULL);
	datagram_end(&t);
	play(&gone, &t);
	assert_int_equal(gone.r, 0);
	assert_absent(&gone, 0, SOCK_LOCAL_ADDR);

	socket_readings(&t, &s, NULL);
	datagram(&t, PIECE_SEQ);
	error_message(&t, NLM_F_CAPPED, -EPERM, 0, NULL);
	datagram_end(&t);
	assert_fails(&denied, &t, -EPERM, "list sockets");
}

static void fill_of_rings(void **state)
{
	/* from (wrap, count) to (wrap, count) in a ring of 100 */
	static const struct {
		uint16_t from_wrap;
		uint32_t from;
		uint16_t to_wrap;
		uint32_t to;
		int expected; /* -1: absent */
	} rows[] = {
		{ 0, 0, 0, 0, 0 },     { 0, 10, 0, 30, 20 }, { 1, 90, 2, 10, 20 }, { 65535, 90, 0, 10, 20 },
		{ 0, 50, 1, 50, 100 }, { 0, 30, 0, 10, -1 }, { 0, 10, 1, 50, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		static const struct made_socket s = { AF_SMC_NUMBER, 1,        SMC_DIAG_MODE_SMCR, 80,
						      4000,          LOOPBACK, LOOPBACK,           1 };
		const struct smc_diag_conninfo c = {
			.token = 1,
			.rmbe_size = 100,
			.sndbuf_size = 100,
			.tx_cons = { .wrap = rows[i].from_wrap, .count = rows[i].from },
			.rx_prod = { .wrap = rows[i].to_wrap, .count = rows[i].to },
		};
		struct run run CLEANUP_RUN = { 0 };
		struct tape t;

		socket_readings(&t, &s, &c);
		play(&run, &t);
		assert_int_equal(run.r, 0);
		assert_number(&run, 0, SOCK_MODE, SMC_DIAG_MODE_SMCR);
		assert_number(&run, 0, SOCK_TX_FILL, 0);
		if (rows[i].expected < 0)
			assert_absent(&run, 0, SOCK_RX_FILL);
		else
			assert_number(&run, 0, SOCK_RX_FILL, (uint64_t)rows[i].expected);
	}
}

static void unknown_states_and_short_records(void **state)
{
	static const struct made_socket s = { AF_SMC_NUMBER, 99, SMC_DIAG_MODE_SMCR, 80, 0, LOOPBACK, 0, 1 };
	struct run run CLEANUP_RUN = { 0 }, cut CLEANUP_RUN = { 0 }, family CLEANUP_RUN = { 0 };
	struct made_socket other = s;
	struct tape t;

	(void)state;
	socket_readings(&t, &s, NULL);
	play(&run, &t);
	assert_text(&run, 0, SOCK_STATE, "99");
	assert_absent(&run, 0, SOCK_MODE);
	assert_absent(&run, 0, SOCK_PEER_PORT);

	start(&t, REPLAY_SOCKETS);
	datagram(&t, PIECE_SEQ);
	message(&t, SOCK_DIAG_BY_FAMILY, NLM_F_MULTI);
	put(&t, &s, 10);
	message_end(&t);
	put(&t, "\0\0", 2);
	datagram_end(&t);
	assert_fails(&cut, &t, -EBADMSG, "short socket record");

	other.family = 77;
	socket_readings(&t, &other, NULL);
	assert_fails(&family, &t, -EBADMSG, "address family");
}

/* ---- sysctl texts ---- */

static void reads_numbers_strictly(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} rows[] = {
		{ "30", 0, 30 },
		{ "0", 0, 0 },
		{ "-0", 0, 0 },
		{ "-5", -ERANGE, 0 },
		{ "", -EBADMSG, 0 },
		{ "-", -EBADMSG, 0 },
		{ "12x", -EBADMSG, 0 },
		{ " 12", -EBADMSG, 0 },
		{ "1 2", -EBADMSG, 0 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -EBADMSG, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run run CLEANUP_RUN = { 0 };
		struct tape t;

		start(&t, REPLAY_KNOB);
		failed_read(&t, EACCES); /* hs_ctrl, the first that REPLAY_KNOB reads */
		datagram(&t, 0);
		put(&t, rows[i].text, strlen(rows[i].text));
		datagram_end(&t);
		play(&run, &t);
		assert_int_equal(run.r, rows[i].r);
		if (run.r == 0)
			assert_int_equal(run.result.value.u, rows[i].value);
		else
			assert_non_null(strstr(run.e.text, "read 'smcr_testlink_time': the kernel has"));
	}
}

/* ---- families ---- */

static void family_record(struct tape *t, const char *name, uint16_t id, bool with_id)
{
	genl(t, GENL_ID_CTRL, 0);
	attr_str(t, CTRL_ATTR_FAMILY_NAME, name);
	if (with_id)
		attr(t, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
	message_end(t);
}

static void finds_families(void **state)
{
	struct tape t;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct run run CLEANUP_RUN = { 0 };

		start(&t, REPLAY_PROBE);
		datagram(&t, PIECE_SEQ);
		family_record(&t, "nlctrl", GENL_ID_CTRL, true);
		family_record(&t, "SMC_GEN_NETLINK_2", 0x50, true); /* not ours */
		if (i > 0)
			family_record(&t, "SMC_GEN_NETLINK", i == 3 ? 0 : 0x51, i != 2);
		number_message(&t, NLMSG_DONE, 0, 0);
		datagram_end(&t);
		if (i == 1)
			done(&t); /* SMC_PNETID is looked for again */
		if (i >= 2) {
			assert_fails(&run, &t, -EBADMSG, "looking for generic netlink family");
			continue;
		}
		play(&run, &t);
		assert_int_equal(run.r, 0);
		assert_int_equal(run.result.features.smc, i == 1);
		assert_false(run.result.features.pnetid || run.result.features.sysctl);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_smc_tune),
		cmocka_unit_test(recorded_linkgroups),
		cmocka_unit_test(recorded_smcd_linkgroups),
		cmocka_unit_test(recorded_links_and_devices),
		cmocka_unit_test(recorded_sockets),
		cmocka_unit_test(recorded_smcd_sockets),
		cmocka_unit_test(recorded_stats),
		cmocka_unit_test(recorded_rest),
		cmocka_unit_test(walks_attributes),
		cmocka_unit_test(refuses_attribute_lengths),
		cmocka_unit_test(takes_numbers_of_any_width),
		cmocka_unit_test(cuts_strings_at_the_attribute),
		cmocka_unit_test(agrees_on_the_second_reading),
		cmocka_unit_test(says_when_readings_differ),
		cmocka_unit_test(interrupted_reading_agrees_with_none),
		cmocka_unit_test(skips_late_answers),
		cmocka_unit_test(takes_the_extended_ack),
		cmocka_unit_test(extended_ack_of_a_list),
		cmocka_unit_test(refuses_hostile_acks),
		cmocka_unit_test(refuses_hostile_datagrams),
		cmocka_unit_test(end_without_a_number_is_good),
		cmocka_unit_test(answers_that_do_not_come),
		cmocka_unit_test(repeats_after_an_overrun),
		cmocka_unit_test(waits_for_a_dump_that_is_still_open),
		cmocka_unit_test(records_without_what_they_need),
		cmocka_unit_test(empty_answers_are_no_zeros),
		cmocka_unit_test(refuses_a_number_of_the_wrong_width),
		cmocka_unit_test(joins_only_what_is_certain),
		cmocka_unit_test(socket_without_tcp_diag),
		cmocka_unit_test(fill_of_rings),
		cmocka_unit_test(unknown_states_and_short_records),
		cmocka_unit_test(reads_numbers_strictly),
		cmocka_unit_test(finds_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
