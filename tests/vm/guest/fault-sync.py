#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 120
# cpus: 2
# end: reset
# fault: 13
# unpatched: the healthy connection works|the misled client works|INFO: task .* blocked
"""A client that does not find the link group which it is told to join falls back, and nothing else happens: the
connections of the link group go on, and the next handshake begins anew. The client is misled by a wrong QP number."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import same  # noqa: E402
from handshakes import STALLED, Server, client, echoes, transports  # noqa: E402
from smcpair import ACCEPT, CLC_QPN, on_message, setup  # noqa: E402

SYNC_ERROR = "0x04000000"


def main():
    setup(rxe=True)
    Server()
    healthy = client()
    same("the first connection", [("SMC-R", None)], transports([healthy]))
    on_message((ACCEPT, 0xff), f"pedit munge offset {CLC_QPN + 1} u8 invert", f"match ip dport {STALLED} 0xff00")
    misled = client(sport=STALLED)
    same("the misled client", [("TCP", SYNC_ERROR)], transports([misled]))
    same("the misled client works", None, echoes(misled))
    same("the healthy connection works", None, echoes(healthy))
    again = client()
    same("the next connection", [("SMC-R", None)], transports([again]))
    for sock in (again, healthy, misled):
        same("every connection works", None, echoes(sock))


main()
