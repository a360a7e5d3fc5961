#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-dkms
# cpus: 2
# What dkms installed is what gets loaded, instead of the stock modules that are there too, and moves data over SMC-D.
. "$ROOT/tests/vm/lib.sh"

need modinfo smctraffic python3
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' "$ROOT/kernel-patch/6.12/dkms.conf")
stock=$(echo "/lib/modules/$(uname -r)/kernel/net/smc/smc.ko"*)
check "the stock module is there" test -f "$stock"
same "and has no version" "" "$(modinfo -F version "$stock")"
for module in smc smc_diag; do
	path=$(modinfo -n $module)
	check "$module is the one of dkms ($path)" test "${path#*/updates/dkms/}" != "$path"
	same "its version" "$version" "$(modinfo -F version $module)"
done
case $(modinfo -n smc) in
*.xz) xz -dc "$(modinfo -n smc)" > /tmp/smc.ko ;;
*) cp "$(modinfo -n smc)" /tmp/smc.ko ;;
esac
check "it fits the running kernel" "$ROOT/kernel-patch/6.12/check-layout" /tmp/smc.ko
load_smc
same "the version of the loaded one" "$version" "$(cat /sys/module/smc/version)"
add_ueid SMCD-TEST-UEID
traffic_over SMC-D --afsmc 40001
