#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# fault: 6
# unpatched: fallbacks of the reason, in 16 bits: expected 65535, found [0-9]+
"""More than 65,535 fallbacks for one reason: counted in 64 bits, and in the old attribute of 16 bits up to its end. A
socket option that SMC does not support makes a socket fall back without a connection."""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import same, smcctl  # noqa: E402
from netlink import Generic, attributes  # noqa: E402
from smcpair import IPPROTO_SMC, setup  # noqa: E402

FALLBACKS = 65536 + 100
PROCESSES = 2
TCP_FASTOPEN = 23
GET_FBACK_STATS, FBACK_STATS = 8, 8
CLIENT_TOTAL, CODE, COUNT, COUNT64 = 3, 4, 5, 6
OPTUNSUPP = 0x03060000  # reason code of an option that is not supported


def fall_back(count):
    for _ in range(count):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as client:
            client.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 1)


def main():
    setup()
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if not child:
            fall_back(FALLBACKS // PROCESSES)
            os._exit(0)
        children.append(child)
    for child in children:
        same("a process is done", 0, os.waitpid(child, 0)[1])

    answers = [attributes(answer[FBACK_STATS]) for answer in Generic("SMC_GEN_NETLINK").command(GET_FBACK_STATS, dump=True)]
    total = next(int.from_bytes(a[CLIENT_TOTAL], sys.byteorder) for a in answers if CLIENT_TOTAL in a)
    same("fallbacks of clients", FALLBACKS, total)
    reason = next(a for a in answers if int.from_bytes(a[CODE], sys.byteorder) == OPTUNSUPP)
    same("fallbacks of the reason, in 16 bits", 65535, int.from_bytes(reason[COUNT], sys.byteorder))
    same("fallbacks of the reason", FALLBACKS, int.from_bytes(reason[COUNT64], sys.byteorder))
    shown = [row["count"] for row in smcctl("fallbacks", "show")["fallbacks"] if row["role"] == "client"]
    same("and as smcctl shows them", [FALLBACKS], shown)


main()
