// SPDX-License-Identifier: GPL-2.0-or-later
#include "reasons.h"

#include <ctype.h>
#include <strings.h>

/* clang-format off */
const struct reason reasons[] = {
	{ 0x01010000, "MEM", "buffer or link-group allocation failed",
	  "lower rmem/wmem or use smcr_buf_type 1 or 2; check free memory" },
	{ 0x02010000, "TIMEOUT_CL", "timed out waiting for CONFIRM LINK",
	  "check the RoCE path: link, MTU, PFC/ECN, VLAN, firewall on UDP 4791" },
	{ 0x02020000, "TIMEOUT_AL", "timed out waiting for ADD LINK", "as TIMEOUT_CL, for the second link" },
	{ 0x03000000, "CNFERR", "configuration error during the handshake", "check addresses and kernel log" },
	{ 0x03010000, "PEERNOSMC", "the peer did not indicate SMC",
	  "peer without SMC or plain TCP application; a middlebox strips TCP options; SYN cookies; handshake "
	  "limitation or hs_ctrl active" },
	{ 0x03020000, "IPSEC", "IPsec is in use on the route", "exempt the flow from IPsec or accept TCP" },
	{ 0x03030000, "NOSMCDEV", "no SMC device found (R or D)",
	  "bring the link up, set a pnet ID on netdev and RDMA/ISM device, set a UEID" },
	{ 0x03030001, "NOSMCDDEV", "no SMC-D device found", "match pnet ID and ISM device" },
	{ 0x03030002, "NOSMCRDEV", "no SMC-R device found",
	  "match pnet ID; check GID, port state and RDMA network namespace" },
	{ 0x03030003, "NOISM2SUPP", "hardware has no ISMv2 support", "use ISMv2 hardware or enable loopback" },
	{ 0x03030004, "NOV2EXT", "peer sent no CLC v2 extension", "upgrade the peer's kernel" },
	{ 0x03030005, "NOV2DEXT", "peer sent no SMC-Dv2 extension", "upgrade the peer's kernel" },
	{ 0x03030006, "NOSEID", "peer sent no SEID", "enable the SEID on the peer" },
	{ 0x03030007, "NOSMCD2DEV", "no SMC-Dv2 device found", "are both on the same host or CPC?" },
	{ 0x03030008, "NOUEID", "peer sent no UEID", "add the same UEID on both peers" },
	{ 0x03030009, "RELEASEERR", "SMC release negotiation failed", "align kernel versions" },
	{ 0x0303000a, "MAXCONNERR", "max connections negotiation failed",
	  "check smcr_max_conns_per_lgr on both (16..255)" },
	{ 0x0303000b, "MAXLINKERR", "max links negotiation failed", "check smcr_max_links_per_lgr on both (1..2)" },
	{ 0x03040000, "MODEUNSUPP", "SMC modes do not match (R or D)",
	  "peer fault: an accept mode that was not proposed" },
	{ 0x03050000, "RMBE_EC", "eyecatcher in the RMBE was wrong", "interoperability fault of the peer" },
	{ 0x03060000, "OPTUNSUPP", "an unsupported socket option was used",
	  "turn off TCP Fast Open in the application" },
	{ 0x03070000, "DIFFPREFIX", "IP prefix or subnet mismatch (SMC v1)", "use SMC v2: set a UEID on both peers" },
	{ 0x03080000, "GETVLANERR", "could not get the VLAN id of the IP device", "check route and VLAN stack" },
	{ 0x03090000, "ISMVLANERR", "could not register the VLAN on the ISM device", "ISM VLAN limit reached" },
	{ 0x030a0000, "NOACTLINK", "no active SMC-R link in the link group", "check RoCE ports and link state" },
	{ 0x030b0000, "NOSRVLINK", "the server's SMC-R link was not found", "retry; check for flapping links" },
	{ 0x030c0000, "VERSMISMAT", "SMC version mismatch", "align versions" },
	{ 0x030d0000, "MAX_DMB", "SMC-D DMB limit exceeded", "fewer connections or more ISM devices" },
	{ 0x030e0000, "NOROUTE", "SMC-Rv2: no route to the peer", "add a route to the peer's RoCE address" },
	{ 0x030f0000, "NOINDIRECT", "SMC-Rv2: gateway mismatch", "make routing symmetric" },
	{ 0x04000000, "SYNCERR", "link group out of sync with the peer", "transient; else let the link group drain" },
	{ 0x05000000, "PEERDECL", "the peer declined", "read the peer's own reason (peer_diagnosis)" },
	{ 0x09990000, "INTERR", "internal error", "see the kernel log" },
	{ 0x09990001, "ERR_RTOK", "rtoken handling failed", "too many RMBs for the peer: fewer connections" },
	{ 0x09990002, "ERR_RDYLNK", "making the link ready failed", "RDMA driver or device error" },
	{ 0x09990003, "ERR_REGBUF", "registering RDMA buffers failed",
	  "memory-region limit of the device; another smcr_buf_type" },
};
/* clang-format on */

const size_t n_reasons = ARRAY_SIZE(reasons);

const struct reason *reason_find(uint32_t code)
{
	for (size_t i = 0; i < n_reasons; i++)
		if (reasons[i].code == code)
			return &reasons[i];
	return NULL;
}

static const struct reason *find_name(const char *s)
{
	static const char kernel_prefix[] = "SMC_CLC_DECL_";

	if (strncasecmp(s, kernel_prefix, sizeof(kernel_prefix) - 1) == 0)
		s += sizeof(kernel_prefix) - 1;
	for (size_t i = 0; i < n_reasons; i++)
		if (strcasecmp(reasons[i].name, s) == 0)
			return &reasons[i];
	return NULL;
}

static const char *nth_name(size_t i, const void *arg)
{
	(void)arg;
	return reasons[i].name;
}

#define CODE_DIGITS_MAX 8

int reason_parse(const char *s, uint32_t *ret_code, const struct reason **ret_known, struct err *e)
{
	const struct reason *known = find_name(s);
	const char *digits = strncasecmp(s, "0x", 2) == 0 ? s + 2 : s, *near;
	size_t n = strspn(digits, "0123456789abcdefABCDEF");
	char shown[4 * SHOWN_MAX + 4];

	if (known) {
		*ret_code = known->code;
		*ret_known = known;
		return 0;
	}
	if (n && n <= CODE_DIGITS_MAX && !digits[n]) {
		*ret_code = (uint32_t)strtoul(digits, NULL, 16);
		*ret_known = reason_find(*ret_code);
		return 0;
	}
	near = closest_name(s, nth_name, NULL, n_reasons);
	return err_set(e, -EINVAL, "'%s' is neither a code (0x03030000) nor a name (NOSMCDEV)%s%s%s",
		       safe_str(shown, sizeof(shown), s), near ? "; did you mean " : "", near ? near : "",
		       near ? "?" : "");
}
