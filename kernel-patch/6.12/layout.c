// SPDX-License-Identifier: GPL-2.0-only
/* The layout of structures that the running kernel and smc.ko share, as smc.ko was compiled. A field added to one of
 * them by a patch, or headers of another build, would make the module write into its neighbours. check-layout reads
 * this section and compares it with the BTF of the running kernel. Each entry is a struct or struct.member, then its
 * size and offset in bytes (0 for a struct).
 */
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/net_namespace.h>
#include <net/sock.h>

struct smcd_layout {
	char name[40];
	u32 size;
	u32 offset;
};

#define WHOLE(type) { #type, sizeof(struct type), 0 }
#define MEMBER(type, member) \
	{ #type "." #member, sizeof_field(struct type, member), offsetof(struct type, member) }

static const struct smcd_layout layout[] __used __section("smcd.layout") = {
	WHOLE(net),
	MEMBER(net, smc),
	MEMBER(net, gen),
	MEMBER(net, diag_nlsk),
	WHOLE(netns_smc),
	MEMBER(netns_smc, smc_stats),
	MEMBER(netns_smc, limit_smc_hs),
	WHOLE(sock),
	MEMBER(sock, sk_user_data),
	MEMBER(sock, sk_data_ready),
	WHOLE(tcp_sock),
	MEMBER(tcp_sock, smc_hs_congested),
	WHOLE(socket),
	WHOLE(proto),
	WHOLE(proto_ops),
};
