#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# fault: 41
# unpatched: FAIL: the sender goes on
"""recv(MSG_OOB) of an urgent byte with nothing before it: the byte leaves the stream, and the sender can go on."""
import os
import select
import socket
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, same, wait_for  # noqa: E402
from smcpair import pair, pattern, receive, setup  # noqa: E402

SECONDS = 10


def main():
    setup(rmem=16384, wmem=16384)
    with pair() as (client, server, _):
        client.settimeout(SECONDS)
        for turn in range(3):
            client.send(b"!", socket.MSG_OOB)
            wait_for("the urgent byte arrives", lambda: select.select([], [], [server], 0)[2])
            same("the urgent byte", b"!", server.recv(1, socket.MSG_OOB))
            try:
                client.sendall(pattern(turn * 100, 100))
                sent = True
            except TimeoutError:
                sent = False
            check("the sender goes on", sent)
            server.settimeout(SECONDS)
            same("and is read without the urgent byte", pattern(turn * 100, 100), receive(server, 100))
            server.settimeout(None)


main()
