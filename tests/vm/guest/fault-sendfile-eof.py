#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 180
# fault: 16
# unpatched: IPPROTO_SMC: sendfile\(\) past the end of the file arrives: expected 1000, found 0
"""sendfile() with a count beyond the end of the file: the data goes out at once, unless the application has corked the
socket. Sockets of IPPROTO_SMC and AF_SMC, and one that has fallen back to TCP."""
import ctypes
import os
import socket
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import fail, same  # noqa: E402
from smcpair import IPPROTO_SMC, pattern, receive, setup, unread  # noqa: E402

AF_SMC = 43
SIZE, COUNT = 1000, 100000  # of the file, and what sendfile() is asked for
SECONDS = 3
PORT = 41000
libc = ctypes.CDLL(None, use_errno=True)


def connect(family, protocol):
    """(client, server); python does not know how to write an address of AF_SMC."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", PORT))
        listener.listen(1)
        client = socket.socket(family, socket.SOCK_STREAM, protocol)
        address = struct.pack("=H", socket.AF_INET) + struct.pack(">H", PORT) + bytes([127, 0, 0, 1]) + b"\0" * 8
        if libc.connect(client.fileno(), address, len(address)):
            fail(f"connect: {os.strerror(ctypes.get_errno())}")
        return client, listener.accept()[0]


def arrived(server, count):
    """What can be read when it is as much as that, or after a while."""
    end = time.monotonic() + SECONDS
    while unread(server) < count and time.monotonic() < end:
        time.sleep(0.05)
    return unread(server)


def check_socket(name, family, protocol):
    client, server = connect(family, protocol)
    with client, server, tempfile.TemporaryFile() as file:
        file.write(pattern(0, SIZE))
        file.flush()
        same(f"{name}: sendfile()", SIZE, os.sendfile(client.fileno(), file.fileno(), 0, COUNT))
        same(f"{name}: sendfile() past the end of the file arrives", SIZE, arrived(server, SIZE))
        same(f"{name}: and is right", pattern(0, SIZE), receive(server, SIZE))
        if protocol != socket.IPPROTO_TCP:
            libc.setsockopt(client.fileno(), socket.IPPROTO_TCP, socket.TCP_CORK, ctypes.byref(ctypes.c_int(1)), 4)
            os.sendfile(client.fileno(), file.fileno(), 0, COUNT)
            begin = time.monotonic()
            while time.monotonic() < begin + 0.1:
                if unread(server):
                    fail(f"{name}: sent although the application has corked the socket")
                time.sleep(0.05)
            libc.setsockopt(client.fileno(), socket.IPPROTO_TCP, socket.TCP_CORK, ctypes.byref(ctypes.c_int(0)), 4)
            same(f"{name}: arrives when uncorked", SIZE, arrived(server, SIZE))


def main():
    setup()
    check_socket("IPPROTO_SMC", socket.AF_INET, IPPROTO_SMC)
    check_socket("AF_SMC", AF_SMC, 0)
    check_socket("TCP client", socket.AF_INET, socket.IPPROTO_TCP)
    # The server does SMC and this client does not ask for it, so the last one was a fallback: now its sending side.
    client, server = connect(socket.AF_INET, socket.IPPROTO_TCP)
    with client, server, tempfile.TemporaryFile() as file:
        file.write(pattern(0, SIZE))
        file.flush()
        os.sendfile(server.fileno(), file.fileno(), 0, COUNT)
        same("after a fallback: arrives", SIZE, arrived(client, SIZE))


main()
