#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# fault: 17
# unpatched: nothing of the abandoned client reaches the next connection: expected 0, found 5000
"""A server that never gets CONFIRM, because a packet filter drops it, aborts the handshake while the client takes
itself for connected. What the client sends then does not reach the connection that comes next."""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, run, same, wait_for  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import IPPROTO_SMC, pair, pattern, receive, setup, shell, unread, wait_unread  # noqa: E402

SIZE = 5000
FIRST, ABORTED, NEXT = 41000, 41001, 41002
SETTLE = 2  # seconds in which the bytes would have arrived many times over


def drop_confirm(port):
    """Drop CONFIRM messages of SMC-D on their way to this port."""
    shell("modprobe -a sch_ingress cls_u32 act_gact")
    run("tc", "qdisc", "add", "dev", "lo", "clsact")
    # behind 20 bytes of IP and 32 of TCP: "SMCD" in EBCDIC, and the type
    run("tc", "filter", "add", "dev", "lo", "egress", "protocol", "ip", "u32",
        "match", "ip", "dport", str(port), "0xffff", "match", "u32", "0xe2d4c3c4", "0xffffffff", "at", "52",
        "match", "u8", "3", "0xff", "at", "56", "action", "drop")


def states(**ports):
    return [r["state"] for r in dump() if all(r[name] == port for name, port in ports.items())]


def main():
    setup()
    drop_confirm(ABORTED)
    # The link group exists before and stays, so that it is not torn down with the handshake.
    with pair("SMC-D", FIRST), socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener, \
            socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as abandoned:
        listener.bind(("127.0.0.1", ABORTED))
        listener.listen(1)
        abandoned.settimeout(PATIENCE)
        abandoned.connect(("127.0.0.1", ABORTED))
        same("the client is connected", ["ACTIVE"], states(dport=ABORTED))
        check("the server is not", "INIT" in states(sport=ABORTED), states(sport=ABORTED))
        wait_for("the server gives up", lambda: "INIT" not in states(sport=ABORTED))
        same("the client does not know", ["ACTIVE"], states(dport=ABORTED))
        with pair("SMC-D", NEXT) as (client, server, _):
            try:
                abandoned.send(b"x" * SIZE, socket.MSG_DONTWAIT)
            except OSError as error:
                print("the abandoned client:", error)
            time.sleep(SETTLE)
            same("nothing of the abandoned client reaches the next connection", 0, unread(server))
            client.sendall(pattern(0, SIZE))
            wait_unread(server, SIZE)
            same("what its own peer sends does", pattern(0, SIZE), receive(server, SIZE))


main()
