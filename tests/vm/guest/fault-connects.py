#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 120
# cpus: 1
# fault: 31
# unpatched: a handshake beside 300 connects
"""Non-blocking connects to a peer that does not answer do not keep the handshakes of servers waiting."""
import errno
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, fail  # noqa: E402
from rawtcp import Clients  # noqa: E402
from smcpair import IPPROTO_SMC, setup  # noqa: E402

NOBODY = "10.8.200.1"  # behind the TUN device
CONNECTS = 300  # more than the 256 workers of a CPU
PORT = 41000
SOON = 3


def main():
    setup()
    clients = Clients()
    sockets = []
    for _ in range(CONNECTS):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        sock.setblocking(False)
        error = sock.connect_ex((NOBODY, PORT))
        if error != errno.EINPROGRESS:
            fail(f"connect: {os.strerror(error)}")
        sockets.append(sock)
    time.sleep(0.5)
    what = f"a handshake beside {CONNECTS} connects that wait"
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener, \
            socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as client:
        listener.bind(("127.0.0.1", PORT))
        listener.listen(1)
        start = time.monotonic()
        try:
            client.connect(("127.0.0.1", PORT))
            with listener.accept()[0]:
                seconds = time.monotonic() - start
        except OSError as error:
            fail(f"{what}: {error}")
        check(f"{what} ({seconds:.2f} s)", seconds < SOON)
    start = time.monotonic()
    for sock in sockets:
        sock.close()
    check("and they can be closed at once", time.monotonic() - start < SOON)
    os.close(clients.tun)


main()
