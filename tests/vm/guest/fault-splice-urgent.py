#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# fault: 40
# unpatched: the mark is where reading has got to: expected 1, found 0
"""An urgent byte behind data that is still in a pipe is met where reading gets to it, not where the pipe has been read:
SIOCATMARK, recv() and splice() find it there, and neither waits for the pipe. Out of band and inline."""
import fcntl
import os
import select
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import same, wait_for  # noqa: E402
from smcpair import drain, pair, pattern, receive, setup, unread, wait_unread  # noqa: E402

PART = 1000
SIOCATMARK = 0x8905
SPLICE_F_NONBLOCK = 2


def at_mark(sock):
    return struct.unpack("i", fcntl.ioctl(sock, SIOCATMARK, b"\0" * 4))[0]


def urgent_behind(client, server):
    """PART bytes and an urgent one. The client cannot send more before all of this has been consumed."""
    client.sendall(pattern(0, PART))
    wait_unread(server, PART)
    client.send(b"!", socket.MSG_OOB)
    wait_for("the urgent byte arrives", lambda: select.select([], [], [server], 0)[2])


def check_out_of_band(port, read_urgent_first):
    with pair(port=port) as (client, server, _):
        out, into = os.pipe()
        urgent_behind(client, server)
        same("into the pipe", PART // 2, os.splice(server.fileno(), into, PART // 2))
        same("no mark yet", 0, at_mark(server))
        if read_urgent_first:
            same("the urgent byte, before what precedes it", b"!", server.recv(1, socket.MSG_OOB))
        same("recv() goes on behind the pipe's data", pattern(PART // 2, PART // 4), server.recv(PART // 4))
        rest = PART // 4
        same("and so does splice()", rest, os.splice(server.fileno(), into, PART))
        if not read_urgent_first:
            same("the urgent byte is out of band", b"!", server.recv(1, socket.MSG_OOB))
        same("nothing is left", 0, unread(server))
        same("the pipe has its parts", pattern(0, PART // 2) + pattern(3 * PART // 4, rest), drain(out, PART // 2 + rest))
        client.settimeout(20)
        client.sendall(pattern(PART, PART))
        same("the stream goes on without the urgent byte", pattern(PART, PART), receive(server, PART))


def check_mark(port):
    with pair(port=port) as (client, server, _):
        out, into = os.pipe()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        urgent_behind(client, server)
        same("splice() stops at the urgent byte", PART, os.splice(server.fileno(), into, 2 * PART))
        same("the mark is where reading has got to", 1, at_mark(server))
        same("splice() of the urgent byte itself", 1, os.splice(server.fileno(), into, 2 * PART))
        same("the mark is passed", 0, at_mark(server))
        same("the pipe has it all", pattern(0, PART) + b"!", drain(out, PART + 1))
        client.settimeout(20)
        client.sendall(pattern(PART, PART))
        same("the stream goes on", PART, os.splice(server.fileno(), into, 2 * PART))
        same("in the pipe", pattern(PART, PART), drain(out, PART))


def main():
    setup(rmem=16384, wmem=16384)
    check_mark(41001)
    check_out_of_band(41002, False)
    check_out_of_band(41003, True)


main()
