#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-debug
# expect: FAIL kernel leak: kmemleak: \d+ new suspected memory leaks .*leak.*
. "$ROOT/tests/vm/lib.sh"
insmod "$ROOT/build/vm/splat-debug/splat.ko" what=leak || fail "insmod"
