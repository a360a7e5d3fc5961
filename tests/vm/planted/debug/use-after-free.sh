#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-debug
# expect: FAIL kernel BUG: BUG: KASAN: slab-use-after-free in .*
. "$ROOT/tests/vm/lib.sh"
insmod "$ROOT/build/vm/splat-debug/splat.ko" what=use-after-free || fail "insmod"
