#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 180
# cpus: 2
# SMC-D over the loopback device of our module build: exact sizes, every byte checked, and sock_diag says that it was
# SMC. Without a UEID the same connection is TCP, with a reason.
. "$ROOT/tests/vm/lib.sh"

need smctraffic python3
load_smc
traffic_over TCP --afsmc 40000
check "a fallback has a reason" grep -q '"reason": "0x0' "$RESULTS/sockets.json"
add_ueid SMCD-TEST-UEID
check "the UEID is in the kernel" test "$(ueid.py dump)" = SMCD-TEST-UEID
traffic_over SMC-D --afsmc 40001
traffic_over SMC-D --ipproto 40002
