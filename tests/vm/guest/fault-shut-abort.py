#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# fault: 43
# unpatched: SMC-D, the abort is read: no socket of the pair is left
"""One end shuts down its sending side, or both do, then one closes with data unread, which aborts the connection. Then the
other closes: nothing of either socket is left, so that the module can be unloaded."""
import contextlib
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, comes_true, same  # noqa: E402
from smcpair import pair, setup, wait_unread  # noqa: E402

SECONDS = PATIENCE // 3


def references():
    with open("/sys/module/smc/refcnt", encoding="ascii") as file:
        return int(file.read())


def gone(before):
    """Sockets that are closed are in no list any more, but hold the module until they are freed."""
    return comes_true(lambda: references() <= before, SECONDS)


def one(transport, port, both, read):
    with pair(transport, port) as (client, server, _):
        client.sendall(b"x" * 1000)
        wait_unread(server, 1000)
        if both:
            server.shutdown(socket.SHUT_WR)
            same("the client sees the end", b"", client.recv(1))
        client.shutdown(socket.SHUT_WR)
        server.close()
        if read:
            with contextlib.suppress(ConnectionResetError):
                client.recv(1)


def check_transport(transport, port):
    with pair(transport, port):
        pass  # link groups come and go with the first pair
    before = references()
    for what, both, read in (("the abort is read", False, True), ("the abort is not read", False, False),
                             ("both ends are shut down", True, True)):
        for i in range(10):
            one(transport, port + 1 + i, both, read)
        check(f"{transport}, {what}: no socket of the pair is left", gone(before), f"{references() - before} of the module")


setup()
check_transport("SMC-D", 41000)
setup(rxe=True)
check_transport("SMC-R", 41100)
