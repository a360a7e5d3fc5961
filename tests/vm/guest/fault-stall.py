#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 2
# end: reset
# fault: 13
# unpatched: 100 handshakes finish while others are stuck
"""Clients whose CONFIRM or PROPOSAL never arrives stop nobody else. New ones get stuck all the time, so that there is
no moment at which none is; the server gives each up after six seconds. SMC-R, joining a link group that is there."""
import itertools
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, same, wait_for  # noqa: E402
from handshakes import STALLED, Many, Server, client, echoes, transports  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import CONFIRM, on_message, setup  # noqa: E402

PROPOSAL = 1
COUNT, AT_ONCE = 100, 5
INTERVAL = 0.5
HANGING = []


def stall(ports):
    try:
        HANGING.append(client(sport=next(ports)))
    except OSError:
        pass  # the server gives up


def keep_stalling(ports, done):
    while not done.is_set():
        threading.Thread(target=stall, args=(ports,), daemon=True).start()
        done.wait(INTERVAL)


def waiting():
    """Connections of stuck clients that the server has not given up."""
    return [r for r in dump() if STALLED <= r["dport"] < STALLED + 256 and r["state"] == "INIT"]


def main():
    setup(rxe=True)
    Server()
    first = client()
    same("the first connection", [("SMC-R", None)], transports([first]))
    for number, kind in enumerate((PROPOSAL, CONFIRM)):
        what = "PROPOSAL" if kind == PROPOSAL else "CONFIRM"
        on_message((kind, 0xff), "drop", f"match ip sport {STALLED + 128 * number} 0xff80")
        ports = itertools.count(STALLED + 128 * number)
        done = threading.Event()
        threading.Thread(target=keep_stalling, args=(ports, done), daemon=True).start()
        wait_for(f"clients are stuck before their {what}", lambda: len(waiting()) >= AT_ONCE)
        start = time.monotonic()
        many = Many(COUNT)
        check(f"{COUNT} handshakes finish while others are stuck at {what}", many.wait(PATIENCE), many.errors[:3])
        print(f"{COUNT} handshakes: {time.monotonic() - start:.1f} s", flush=True)
        check("clients are still stuck", waiting())
        done.set()
        same("all are SMC-R", {("SMC-R", None)}, set(transports(many.socks)))
        for sock in many.socks:
            sock.close()
    same("the first connection still works", None, echoes(first))


main()
