// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * transport_real.c - the way to the real kernel: linked into the installed programs, and into no test binary.
 */
#include "netns.h"

int transport_open(const char *netns, struct netns_helper *helper, struct transport *ret, struct err *e)
{
	struct bundle b;
	int r;

	if (!netns || !netns[0])
		return transport_own(ret, e);
	r = helper ? netns_helper_open(helper, netns, &b, e) : bundle_open_in(netns, &b, e);
	if (r < 0)
		return r;
	r = transport_from_bundle(&b, false, ret);
	return r < 0 ? err_set(e, r, "out of memory") : 0;
}
