#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# boot: systemd
# timeout: 120
# stage: build/vm/splat/stage
# enable: planted.service planted-crash.service
# The sanity of a booted systemd: it comes up, the unit of the staging tree runs in its sandbox, and the one that dies as soon
# as it starts is all that failed. Neither LimitCORE=0 nor a read-only sandbox hides its death. (The selftest judges the same
# guest with the crash allowed, too; then all of this has to have succeeded.)
# expect: FAIL crash of dash by SIGABRT .*
. "$ROOT/tests/vm/lib.sh"
same "PID 1" systemd "$(cat /proc/1/comm)"
same "state" degraded "$(timeout 100 systemctl is-system-running --wait; true)"
same "what failed" planted-crash.service "$(systemctl --failed --plain --no-legend | awk '{print $1}')"
same "unit under test" active "$(systemctl is-active planted.service)"
same "enabled" enabled "$(systemctl is-enabled planted.service)"
check "its output is in the journal" journalctl -q -u planted.service --grep "planted unit speaks"
