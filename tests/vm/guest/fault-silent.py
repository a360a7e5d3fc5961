#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 200
# cpus: 1
# fault: 30
# unpatched: a handshake beside 600 silent clients is done
"""Clients that connect with the SMC option and then say nothing, or only a part of a PROPOSAL, do not keep other
handshakes waiting. A PROPOSAL that comes late and in pieces is taken, and nothing is left of all of them."""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, fail, run, same, wait_for  # noqa: E402
from rawtcp import ACK, DECLINE, EYECATCHER, FIN, RST, SERVER, Clients, proposal  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import IPPROTO_SMC, setup  # noqa: E402

PORT = 41000
SILENT = 600  # the workqueue has 256 workers on a CPU, and each waits for 6 seconds
SOON = 3  # seconds; a handshake takes milliseconds


def listen(address, port):
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(2048)
    return listener


def handshake(what):
    """A real client, at another listener."""
    with listen("127.0.0.1", PORT + 1) as listener, \
            socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as client:
        start = time.monotonic()
        try:
            client.connect(("127.0.0.1", PORT + 1))
            with listener.accept()[0]:
                seconds = time.monotonic() - start
        except OSError as error:
            fail(f"{what}: {error}")
        check(f"{what} ({seconds:.2f} s)", seconds < SOON)
    wait_for("its sockets are gone", lambda: not [r for r in dump() if r["sport"] == PORT + 1])
    time.sleep(0.1)


def answer_of(clients, client, what):
    end = time.monotonic() + SOON
    while not client.received and time.monotonic() < end:
        clients.receive(0.05)
    check(f"{what} is answered by a DECLINE", client.received[:5] == EYECATCHER + bytes([DECLINE]), client.received)


def check_late(clients):
    """In pieces, with a silence before and between them."""
    client, data = clients.connect(1, PORT)[0], proposal()
    time.sleep(1)
    for piece in (data[:3], data[3:8], data[8:20], data[20:-1]):
        client.say(piece)
        clients.receive(0.2)
        same("part of a PROPOSAL has no answer", b"", client.received)
    client.say(data[-1:])
    answer_of(clients, client, "a PROPOSAL in pieces")


def main():
    setup()
    clients = Clients()
    listener = listen(SERVER, PORT)
    clients.connect(SILENT, PORT)
    handshake(f"a handshake beside {SILENT} silent clients is done")
    for client in clients.connect(SILENT, PORT):
        client.say(proposal()[:20])
    clients.receive(0.2)
    handshake(f"a handshake beside {SILENT} with a part of a PROPOSAL is done")
    check_late(clients)
    whole, reset, ended, other = clients.connect(4, PORT)
    whole.say(proposal())
    answer_of(clients, whole, "a PROPOSAL")
    reset.send(RST | ACK)
    ended.send(FIN | ACK)
    other.say(b"GET / HTTP/1.0\r\n\r\n")
    clients.receive(0.2)
    listener.close()
    wait_for("no socket is left", lambda: not dump())
    run("modprobe", "-r", "smc_diag", "smc")
    print("ok: the module can be unloaded", flush=True)


main()
