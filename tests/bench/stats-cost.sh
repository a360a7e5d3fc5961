#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# timeout: 120
# System calls of `smcctl stats show` straight from the kernel, those of them that are its netlink requests, and those of
# an empty program linked with the same libraries (build/bench/empty). Then smcd's memory there. For tests/bench/run.
. "$ROOT/tests/vm/lib.sh"

need strace smcctl
load_smc
smcctl --direct stats show > /dev/null 2>&1 || fail "smcctl stats show"
strace -f -o "$RESULTS/smcctl.trace" smcctl --direct stats show > /dev/null 2>&1 || fail "strace"
strace -f -o "$RESULTS/empty.trace" "$ROOT/build/bench/empty" || fail "strace"

count() { grep -cE "^[0-9]+ +($1)\(" "$2"; }

calls=$(count '[a-z0-9_]+' "$RESULTS/smcctl.trace")
# Everything on the descriptors of netlink sockets, and making these.
netlink=$(grep -cE '^[0-9]+ +(socket\(AF_NETLINK|bind\(.*AF_NETLINK|getsockname\(.*AF_NETLINK|setsockopt\(.*(SOL_NETLINK|SOL_SOCKET)|send(to|msg)\(|recv(from|msg)\()' \
	"$RESULTS/smcctl.trace")
empty=$(count '[a-z0-9_]+' "$RESULTS/empty.trace")
echo "calls $calls netlink $netlink empty $empty"

start_smcd
for what in "status" "knobs show" "stats show" "sockets show" "metrics"; do
	smcctl $what > /dev/null || fail "smcctl $what"
done
awk '/^VmRSS/ {rss = $2} /^RssAnon/ {anon = $2} END {print "memory", rss, anon}' "/proc/$PID/status"
