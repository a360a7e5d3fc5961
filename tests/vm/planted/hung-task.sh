#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: FAIL hung task: INFO: task insmod:[0-9]+ blocked for more than 2 seconds.*
. "$ROOT/tests/vm/lib.sh"
echo 2 > /proc/sys/kernel/hung_task_timeout_secs
insmod "$ROOT/build/vm/splat/splat.ko" what=hang || fail "cannot load splat.ko"
