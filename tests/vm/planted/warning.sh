#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A WARNING of the kernel fails a test that itself succeeds.
# expect: FAIL kernel WARNING: WARNING: .*splat.*
. "$ROOT/tests/vm/lib.sh"
insmod "$ROOT/build/vm/splat/splat.ko" what=warn || fail "cannot load splat.ko"
