#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 2
# fault: 1
# unpatched: reads a DECLINE as data
"""A handshake of SMC-R that fails at CONFIRM LINK falls back to TCP, and neither application reads anything but what the
other one sent. A wrong MAC in ACCEPT and CONFIRM lets the set-up of the link fail on both sides, and a delay on the
way makes sure that messages sent at the same time cross."""
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, fail, run, same  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import ACCEPT, CLC_MAC, IPPROTO_SMC, on_message, rxe_on_dummy, shell  # noqa: E402

ADDRESS, PORT = "10.9.0.1", 41000
DELAY = "200ms"
ROUNDS = 3
CONFIRM_LINK = "0x02010000"
EYECATCHER = bytes([0xE2, 0xD4, 0xC3])  # SMC in EBCDIC


def prepare():
    rxe_on_dummy(ADDRESS)
    # Both sides are told a wrong MAC, so that neither's CONFIRM LINK arrives.
    on_message((ACCEPT, 0xfe), f"pedit munge offset {CLC_MAC + 1} u8 invert")
    shell("modprobe sch_netem")
    run("tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", DELAY)


def read(sock, side, count):
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            fail(f"the {side} finds the end after {data!r}")
        data += part
    if data.startswith(EYECATCHER):
        fail(f"the {side} reads a DECLINE as data: {data!r}")
    return data


def one_round(port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen(1)
        accepted = []
        accepting = threading.Thread(target=lambda: accepted.append(listener.accept()[0]), daemon=True)
        accepting.start()
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        client.connect((ADDRESS, port))
        accepting.join(PATIENCE)
        check("both sides are connected", accepted)
        with client, accepted[0] as server:
            records = [r for r in dump() if port in (r["sport"], r["dport"]) and r["state"] == "ACTIVE"]
            reasons = [r["fallback"]["reason"] for r in records if r["transport"] == "TCP"]
            check(f"both have fallen back ({reasons})", len(reasons) == 2)
            check("because of CONFIRM LINK", CONFIRM_LINK in reasons, reasons)
            for sock in (client, server):
                sock.settimeout(PATIENCE)
            client.sendall(b"from the client")
            server.sendall(b"from the server")
            same("the server reads", b"from the client", read(server, "server", 15))
            same("the client reads", b"from the server", read(client, "client", 15))


def main():
    prepare()
    for number in range(ROUNDS):
        one_round(PORT + number)


main()
