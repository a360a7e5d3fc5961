# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of SMC connections and clients of it for guest tests: many handshakes, some of which get stuck."""

import socket
import threading
import time

from guest import PATIENCE
from smcdiag import dump
from smcpair import IPPROTO_SMC

PORT = 41000
STALLED = 0xa800  # source ports of the clients whose messages get lost: this one and the 255 after it
STALLED_MATCH = f"match ip sport {STALLED} 0xff00"


class Server:
    """Accepts in the background and echoes what arrives."""

    def __init__(self, port=PORT):
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(512)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            sock = self.listener.accept()[0]
            threading.Thread(target=self.echo, args=(sock,), daemon=True).start()

    @staticmethod
    def echo(sock):
        try:
            while data := sock.recv(4096):
                sock.sendall(data)
        except OSError:
            pass
        sock.close()


def client(port=PORT, sport=0):
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sport:
        sock.bind(("127.0.0.1", sport))
    sock.connect(("127.0.0.1", port))
    return sock


def echoes(sock, data=b"ping"):
    """What is wrong with a connection, or None."""
    sock.settimeout(PATIENCE)
    try:
        sock.sendall(data)
        found = b""
        while len(found) < len(data):
            part = sock.recv(len(data) - len(found))
            if not part:
                return "the end"
            found += part
    except OSError as error:
        return str(error)
    return None if found == data else f"reads {found!r}"


def transports(socks):
    """The transport of each client socket, and its reason if it has fallen back."""
    ports = {sock.getsockname()[1] for sock in socks}
    return [(r["transport"], r["fallback"]["reason"] if r["transport"] == "TCP" else None) for r in dump() if r["sport"] in ports]


class Many:
    """So many clients at a time until all are connected; they stay open."""

    def __init__(self, count, threads=10, port=PORT):
        self.count, self.port = count, port
        self.socks, self.errors = [], []
        self.lock = threading.Lock()
        self.workers = [threading.Thread(target=self.work, daemon=True) for _ in range(threads)]
        for worker in self.workers:
            worker.start()

    def work(self):
        while True:
            with self.lock:
                if not self.count:
                    return
                self.count -= 1
            try:
                sock = client(self.port)
                with self.lock:
                    self.socks.append(sock)
            except OSError as error:
                self.errors.append(str(error))

    def wait(self, seconds):
        """Whether all are connected within this time; see errors if not."""
        end = time.monotonic() + seconds
        for worker in self.workers:
            worker.join(max(0, end - time.monotonic()))
        return not self.errors and not any(worker.is_alive() for worker in self.workers)
