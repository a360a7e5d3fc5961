#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# fault: 22
# unpatched: SMC-D: what was spliced is still in the pipe
"""Data in a pipe outlives the connection that it was spliced from, also when the next connection uses buffers of the
same size. Over SMC-D and SMC-R."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, same  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import drain, pair, pattern, receive, setup, wait_unread  # noqa: E402

SIZE = 5000
SECONDS = 10


def wait_closed(port):
    """Both ends are gone, so the connection has been freed."""
    end = time.monotonic() + SECONDS
    while any(r["dport"] == port for r in dump()) and time.monotonic() < end:
        time.sleep(0.1)


def check_transport(transport, port, name):
    out, into = os.pipe()
    with pair(transport, port) as (client, server, _):
        client.sendall(pattern(0, SIZE))
        wait_unread(server, SIZE)
        same(f"{name}: splice()", SIZE, os.splice(server.fileno(), into, SIZE))
    wait_closed(port)
    with pair(transport, port + 1) as (client, server, _):
        client.sendall(b"x" * SIZE)
        same(f"{name}: the next connection", b"x" * SIZE, receive(server, SIZE))
        check(f"{name}: what was spliced is still in the pipe", drain(out, SIZE) == pattern(0, SIZE))
    with pair(transport, port + 2) as (client, server, _):
        client.sendall(pattern(0, SIZE))
        same(f"{name}: and the one after it", pattern(0, SIZE), receive(server, SIZE))


def main():
    setup()
    check_transport("SMC-D", 41000, "SMC-D")
    setup(rxe=True)
    check_transport("SMC-R", 41010, "SMC-R, physical buffers")


main()
