#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-debug
# expect: ok
. "$ROOT/tests/vm/lib.sh"
load_smc
check "smc goes away again" modprobe -r smc_diag smc
