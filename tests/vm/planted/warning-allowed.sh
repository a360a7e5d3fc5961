#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: ok
# allow-kernel: WARNING: .*splat_init
. "$ROOT/tests/vm/lib.sh"
insmod "$ROOT/build/vm/splat/splat.ko" what=warn || fail "cannot load splat.ko"
