#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# timeout: 120
# A kernel that cannot load the smc module: smcd stays up and says so plainly, nothing pretends to have zeros; once the
# module can be loaded, a reload applies the policy. And a kernel whose module is loaded by nobody but smcd.
. "$ROOT/tests/vm/lib.sh"

mkdir -p /etc/smcd
echo '{"version": 1, "knobs": {"wmem": "128K"}, "ueid": ["LATE-EID"]}' > /etc/smcd/policy.json
helper=$(cat /proc/sys/kernel/modprobe)
echo /bin/false > /proc/sys/kernel/modprobe

check_fails "statistics without SMC are an error, not zeros" smcctl --direct stats show > "$RESULTS/out" 2>&1
check "that names the module" grep -qi 'smc module\|no SMC' "$RESULTS/out"
check "metrics say that SMC is not up" grep -qx 'smc_up 0' <(smcctl --direct metrics 2> /dev/null)
check_fails "without smcd a write says so" smcctl set wmem=64K
smcctl set wmem=64K
same "with its own exit status" 4 $?

start_smcd
check "status says it" grep -qi 'no SMC\|not loaded' <(smcctl status)
check "the log says it" grep -qi 'no SMC\|not loaded' "$RESULTS/smcd.log"
check_fails "a set says it" smcctl set wmem=64K
check "nothing was loaded" test ! -d /proc/sys/net/smc

echo "$helper" > /proc/sys/kernel/modprobe
kill -HUP "$PID"
wait_for 'test -d /proc/sys/net/smc' 20 "the reload has loaded the module"
wait_for 'test "$(cat /proc/sys/net/smc/wmem)" = 131072' 20 "the policy is applied"
same "its UEID too" LATE-EID "$(ueid.py dump)"
check "status says that SMC is there" grep -q 'SMC is there' <(smcctl status)
