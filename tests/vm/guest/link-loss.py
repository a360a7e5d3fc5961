#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
"""Connections that use buffers older than the second link of their link group outlive the loss of the first link."""
import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, fail, run, same, wait_for  # noqa: E402
from smcdiag import dump  # noqa: E402
from smclinks import FIRST, SECOND, prepare, second_joins, wait_links  # noqa: E402
from smcpair import pair, pattern, receive  # noqa: E402

SIZE = 5000
COUNT = 3  # the server spreads connections over the links
KEEPER, EARLY, LATE = 41000, 41010, 41020


def pairs(stack, port):
    return [stack.enter_context(pair("SMC-R", port + i))[:2] for i in range(COUNT)]


def exchange(what, client, server):
    try:
        for source, sink in (client, server), (server, client):
            sink.settimeout(PATIENCE)
            source.sendall(pattern(0, SIZE))
            same(what, pattern(0, SIZE), receive(sink, SIZE))
    except OSError as error:
        fail(f"{what}: {error}")


def main():
    prepare()
    with pair("SMC-R", KEEPER):
        wait_links(FIRST)
        with contextlib.ExitStack() as stack:
            pairs(stack, EARLY)
        wait_for("the buffers are free", lambda: not any(EARLY <= r["dport"] < EARLY + COUNT for r in dump()))
        second_joins()
        with contextlib.ExitStack() as stack:
            late = pairs(stack, LATE)
            for i, ends in enumerate(late):
                exchange(f"connection {i} with both links", *ends)
            run("rdma", "link", "del", FIRST)
            for i, ends in enumerate(late):
                exchange(f"connection {i} after the loss of the first link", *ends)


main()
