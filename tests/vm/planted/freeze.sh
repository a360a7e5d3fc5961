#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole guest stands still: nothing in it can report, so the host's deadline has to end it.
# timeout: 5
# end-grace: 15
# expect: FAIL hang: the guest did not end within 20 s \(in the test\); killed
. "$ROOT/tests/vm/lib.sh"
echo "about to freeze"
insmod "$ROOT/build/vm/splat/splat.ko" what=freeze
