#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-debug
# expect: FAIL lockdep splat: WARNING: possible circular locking dependency detected
. "$ROOT/tests/vm/lib.sh"
insmod "$ROOT/build/vm/splat-debug/splat.ko" what=lock-order || fail "insmod"
