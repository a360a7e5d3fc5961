#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# boot: systemd
# timeout: 120
# stage: build/vm/splat/stage
# enable: planted.service
# expect: ok
# The sanity of a booted systemd: it comes up, nothing failed, and the unit of the staging tree runs in its sandbox.
. "$ROOT/tests/vm/lib.sh"
same "PID 1" systemd "$(cat /proc/1/comm)"
same "state" running "$(timeout 100 systemctl is-system-running --wait; true)"
same "unit under test" active "$(systemctl is-active planted.service)"
same "enabled" enabled "$(systemctl is-enabled planted.service)"
check "its output is in the journal" journalctl -q -u planted.service --grep "planted unit speaks"
