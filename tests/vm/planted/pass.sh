#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12
# expect: ok
. "$ROOT/tests/vm/lib.sh"
check "the root can be written to" touch "$ROOT/written-in-the-guest"
check "a result can be left" touch "$RESULTS/written-in-the-guest"
check "smc loads" load_smc
same "host name" testvm "$(hostname)"
