#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 180
# fault: 15
# unpatched: the first pipe still has the beginning
"""Data spliced into two pipes of which the second is read first: the peer must not overwrite what is in the first."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, same, wait_for  # noqa: E402
from smcpair import drain, pair, pattern, receive, setup, wait_unread  # noqa: E402

FIRST = 1000


def send_what_fits(client, data):
    """Bytes that the socket takes within a second after it took none."""
    sent = 0

    def stuck():
        nonlocal sent
        try:
            sent += client.send(data[sent:])
            return sent == len(data)
        except BlockingIOError:
            return stuck.tries == 0 or setattr(stuck, "tries", stuck.tries - 1)

    stuck.tries = 10
    client.setblocking(False)
    wait_for("the peer's window is used up", stuck)
    client.setblocking(True)
    return sent


def main():
    setup(rmem=16384, wmem=16384)
    with pair() as (client, server, ring):
        (out1, into1), (out2, into2) = os.pipe(), os.pipe()
        client.sendall(pattern(0, ring))
        wait_unread(server, ring)
        same("into the first pipe", FIRST, os.splice(server.fileno(), into1, FIRST))
        rest = ring - FIRST
        same("into the second pipe", rest, os.splice(server.fileno(), into2, rest))
        same("the second pipe has the end", pattern(FIRST, rest), drain(out2, rest))
        # If the space is given to the peer now, this lands on the data in the first pipe.
        more = send_what_fits(client, pattern(ring, rest))
        check(f"the first pipe still has the beginning ({more} bytes sent meanwhile)",
              drain(out1, FIRST) == pattern(0, FIRST))
        client.sendall(pattern(ring + more, rest - more))
        same("the stream goes on", pattern(ring, rest), receive(server, rest))


main()
