#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 180
# cpus: 2
# fault: 2
# unpatched: is SMC-R.*0x02010000
"""A connection to an own address over a device with a MAC is SMC-R. The proposal offers version 2 only, and has to
say who the client is all the same."""
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, same  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import IPPROTO_SMC, receive, rxe_on_dummy  # noqa: E402

ADDRESS, PORT = "10.9.0.1", 41000
ROUNDS = 3


def one_round(listener, number):
    accepted = []
    accepting = threading.Thread(target=lambda: accepted.append(listener.accept()[0]), daemon=True)
    accepting.start()
    client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    client.connect((ADDRESS, PORT))
    accepting.join(PATIENCE)
    check(f"connection {number} is made", accepted)
    ends = [r for r in dump() if PORT in (r["sport"], r["dport"]) and r["state"] == "ACTIVE"]
    found = [(r["transport"], r.get("fallback", {}).get("reason")) for r in ends]
    check(f"connection {number} is SMC-R", {way for way, _ in found} == {"SMC-R"}, found)
    client.sendall(b"data")
    same("what arrives", b"data", receive(accepted[0], 4))
    return client, accepted[0]


def main():
    rxe_on_dummy(ADDRESS)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.bind((ADDRESS, PORT))
        listener.listen(1)
        kept = [one_round(listener, number) for number in range(ROUNDS)]
    for pair in kept:
        for sock in pair:
            sock.close()


main()
