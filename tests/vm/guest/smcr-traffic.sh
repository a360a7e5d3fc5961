#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12 6.12-smcd
# timeout: 180
# cpus: 2
# SMC-R on the stock kernel and with our module, over soft-RoCE on the loopback device: exact sizes, every byte
# checked, and sock_diag says that it was SMC.
. "$ROOT/tests/vm/lib.sh"

need smctraffic python3
rxe_on_lo
add_ueid SMCD-TEST-UEID
check "the UEID is in the kernel" test "$(ueid.py dump)" = SMCD-TEST-UEID
traffic_over SMC-R --afsmc 40001
traffic_over SMC-R --ipproto 40002
check "the link group is over the loopback device" grep -q '"ib": "rxe_lo"' "$RESULTS/sockets.json"
