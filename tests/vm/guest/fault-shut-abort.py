#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# fault: 43
# unpatched: SMC-D, the abort is read: no socket of the pair is left
"""One end shuts down its sending side, the other closes with data unread, which aborts the connection. Then the first one
closes: nothing of either socket is left, so that the module can be unloaded."""
import contextlib
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, comes_true  # noqa: E402
from smcpair import pair, setup, wait_unread  # noqa: E402

SECONDS = PATIENCE // 3


def references():
    with open("/sys/module/smc/refcnt", encoding="ascii") as file:
        return int(file.read())


def gone(before):
    """Sockets that are closed are in no list any more, but hold the module until they are freed."""
    return comes_true(lambda: references() <= before, SECONDS)


def one(transport, port, read):
    with pair(transport, port) as (client, server, _):
        client.sendall(b"x" * 1000)
        wait_unread(server, 1000)
        client.shutdown(socket.SHUT_WR)
        server.close()
        if read:
            with contextlib.suppress(ConnectionResetError):
                client.recv(1)


def check_transport(transport, port):
    with pair(transport, port):
        pass  # link groups come and go with the first pair
    before = references()
    for what, read in (("the abort is read", True), ("the abort is not read", False)):
        for i in range(10):
            one(transport, port + 1 + i, read)
        check(f"{transport}, {what}: no socket of the pair is left", gone(before), f"{references() - before} of the module")


setup()
check_transport("SMC-D", 41000)
setup(rxe=True)
check_transport("SMC-R", 41100)
