#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 6.12-smcd
. "$ROOT/tests/vm/lib.sh"
check "the file system can be written" touch "$ROOT/written-in-the-guest"
check "there are results" touch "$RESULTS/written-in-the-guest"
check "smc loads" load_smc
same "host name" testvm "$(hostname)"
