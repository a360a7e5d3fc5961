#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-lo 6.12-smcd
# timeout: 240
# Our smc.ko was compiled for the structures of the kernel that runs, and a stock smc_diag does not load beside it.
. "$ROOT/tests/vm/lib.sh"

need modprobe insmod python3 xz
layout=$ROOT/kernel-patch/6.12/check-layout
ours=$(modinfo -n smc)

check "the module fits the running kernel" "$layout" "$ours"
# A planted difference: the size that follows the 40 bytes of the name netns_smc.
python3 - "$ours" "$RESULTS/other.ko" <<-'END' || fail "cannot make a module of another layout"
	import sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at = data.index(b"netns_smc" + b"\0" * 31) + 40
	data[at] += 8
	open(sys.argv[2], "wb").write(data)
END
check_fails "a module with a longer netns_smc is noticed" "$layout" "$RESULTS/other.ko"
rm "$RESULTS/other.ko"

load_smc
modprobe -r smc_diag || fail "cannot unload smc_diag"
stock=$(echo /lib/modules/stock/smc_diag.ko*)
case $stock in
*.xz) xz -dc "$stock" > /tmp/smc_diag.ko ;;
*) cp "$stock" /tmp/smc_diag.ko ;;
esac
check_fails "a stock smc_diag is refused" insmod /tmp/smc_diag.ko
check "because of a symbol" grep -q 'smc_diag: Unknown symbol smc_proto ' <(dmesg)
check "our smc_diag loads again" modprobe smc_diag
