#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# boot: systemd
# stage: build/vm/splat/stage
# enable: planted-crash.service
# Neither LimitCORE=0 nor a read-only sandbox hides a unit that dies as soon as it starts.
# expect: FAIL crash of .* by SIGABRT .*
. "$ROOT/tests/vm/lib.sh"
wait_for 'systemctl is-failed planted-crash.service' 60
