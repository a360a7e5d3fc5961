#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# fault: 4
# unpatched: what splice\(\) says it moved is in the pipe: expected \d+, found
"""Splicing from a receive buffer of single pages: a stretch that starts within a page needs one more pipe buffer than
its length suggests, and only what the pipe took may count."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, same  # noqa: E402
from smcpair import drain, pair, pass_through, pattern, receive, setup, unread, wait_unread  # noqa: E402

OFFSET = 100  # where in the first page the data starts
VIRTUAL = 1


def main():
    setup(rxe=True, smcr_buf_type=VIRTUAL, rmem=262144, wmem=262144)
    with pair("SMC-R") as (client, server, _):
        out, into = os.pipe()
        total = 0x10000
        pass_through(client, server, OFFSET)
        client.sendall(pattern(0, total))
        wait_unread(server, total)
        moved = os.splice(server.fileno(), into, total)
        check("splice() moved something", moved > 0)
        same("what splice() says it moved is in the pipe", moved, unread(out))
        same("the rest is left in the socket", total - moved, unread(server))
        same("the pipe has the beginning of the stream", pattern(0, moved), drain(out, moved))
        if moved < total:
            same("the socket has the rest", pattern(moved, total - moved), receive(server, total - moved))
        client.sendall(pattern(total, 1000))
        same("and what comes next", pattern(total, 1000), receive(server, 1000))


main()
