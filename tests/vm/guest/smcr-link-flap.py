#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 400
# cpus: 2
"""A link comes and goes while connections of its link group are made and closed, and all of them work."""
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, fail  # noqa: E402
from smclinks import FIRST, SECOND, prepare, second, wait_links  # noqa: E402
from smcpair import IPPROTO_SMC, PORT, pair, receive  # noqa: E402

FLAPS, CLIENTS = 6, 4
WORD = b"0123456789abcdef" * 16
SIZES = 1 << 15, 1 << 17, 1 << 19, 1 << 21  # of the buffers: each its own pool


class Load:
    def __init__(self):
        self.stop, self.made, self.errors = False, 0, []
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        self.listener.bind(("127.0.0.1", PORT + 1))
        self.listener.listen(64)
        self.threads = [threading.Thread(target=self.serve, daemon=True)]
        self.threads += [threading.Thread(target=self.connect, args=(i,), daemon=True) for i in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def serve(self):
        while not self.stop:
            server = self.listener.accept()[0]
            threading.Thread(target=self.echo, args=(server,), daemon=True).start()

    @staticmethod
    def echo(server):
        with server:
            server.settimeout(PATIENCE)
            try:
                server.sendall(receive(server, len(WORD)))
                server.recv(1)
            except OSError:
                pass  # the client tells

    def connect(self, number):
        while not self.stop:
            try:
                with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as client:
                    client.settimeout(PATIENCE)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SIZES[number])
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SIZES[number])
                    client.connect(("127.0.0.1", PORT + 1))
                    client.sendall(WORD)
                    if receive(client, len(WORD)) != WORD:
                        self.errors.append("wrong bytes")
                self.made += 1
            except OSError as error:
                self.errors.append(str(error))

    def end(self):
        self.stop = True
        for thread in self.threads[1:]:
            thread.join(PATIENCE)
            if thread.is_alive():
                fail("a client is stuck")


def main():
    prepare()
    with pair("SMC-R", PORT):
        load = Load()
        for _ in range(FLAPS):
            second(up=True)
            wait_links(FIRST, SECOND)
            time.sleep(.5)
            second(up=False)
            wait_links(FIRST)
        load.end()
        check(f"{load.made} connections, none failed", load.made and not load.errors, load.errors[:5])


main()
