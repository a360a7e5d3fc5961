#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A daemon dies in the background; the test does not notice, the harness does.
# expect: FAIL crash of crashingd by SIGSEGV .*
. "$ROOT/tests/vm/lib.sh"
cp /bin/sleep /run/crashingd
start crashingd.log /run/crashingd 600
wait_for "grep -q crashingd /proc/$PID/comm" 10
kill -SEGV $PID
wait $PID
exit 0
