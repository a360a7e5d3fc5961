#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 2
# fault: 13
# unpatched: survive the end of the first contact
"""A first contact whose CONFIRM never arrives: others do not wait until the server gives it up, and when it does, no
connection but that one is lost. SMC-D, where the link group could be joined before."""
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, same, wait_for  # noqa: E402
from handshakes import STALLED, STALLED_MATCH, Many, Server, client, echoes, transports  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import CONFIRM, on_message, setup  # noqa: E402

COUNT = 30


def waiting():
    return [r for r in dump() if r["dport"] == STALLED and r["state"] == "INIT"]


def main():
    setup()
    Server()
    on_message((CONFIRM, 0xff), "drop", STALLED_MATCH)
    hanging = []
    threading.Thread(target=lambda: hanging.append(client(sport=STALLED)), daemon=True).start()
    wait_for("the first contact is stuck", lambda: waiting() and hanging)
    many = Many(COUNT)
    check(f"{COUNT} handshakes finish", many.wait(PATIENCE), many.errors[:3])
    same("all are SMC-D", {("SMC-D", None)}, set(transports(many.socks)))
    wait_for("the server gives the first contact up", lambda: not waiting())
    broken = [what for what in map(echoes, many.socks) if what]
    check("the others survive the end of the first contact", not broken, broken[:3])


main()
