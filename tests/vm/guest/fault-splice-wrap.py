#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 180
# fault: 5
# unpatched: splice\(\): the rest is left in the socket: expected 2000, found 3000
"""Receiving across the end of the ring when only the first part can be moved: by splice() because the pipe has room for
one buffer, by recv() because the user's memory ends there. What was moved counts, and nothing else."""
import ctypes
import mmap
import os
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, same  # noqa: E402
from smcpair import PIPE_SLOTS, drain, pair, pass_through, pattern, receive, setup, unread, wait_unread  # noqa: E402

FIRST, TOTAL = 1000, 3000  # bytes up to the end of the ring, and in all
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def before_the_end(client, server, ring):
    """The stream's next byte lies FIRST bytes before the end of the ring."""
    pass_through(client, server, ring - FIRST)
    client.sendall(pattern(0, TOTAL))
    wait_unread(server, TOTAL)


def finish(how, client, server):
    same(f"{how}: the rest is left in the socket", TOTAL - FIRST, unread(server))
    same(f"{how}: and is right", pattern(FIRST, TOTAL - FIRST), receive(server, TOTAL - FIRST))
    client.sendall(pattern(TOTAL, 500))
    same(f"{how}: so is what comes next", pattern(TOTAL, 500), receive(server, 500))


def check_splice():
    with pair(port=41001) as (client, server, ring):
        before_the_end(client, server, ring)
        out, into = os.pipe2(os.O_DIRECT)  # each write fills a buffer of the pipe
        for _ in range(PIPE_SLOTS - 1):
            os.write(into, b"-")
        same("splice() moves what lies before the end of the ring", FIRST, os.splice(server.fileno(), into, TOTAL))
        drain(out, PIPE_SLOTS - 1)
        same("the pipe has the beginning", pattern(0, FIRST), drain(out, FIRST))
        finish("splice()", client, server)


def check_recv():
    with pair(port=41002) as (client, server, ring):
        before_the_end(client, server, ring)
        start = libc.mmap(None, 2 * mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE,
                          mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        check("memory", libc.munmap(ctypes.c_void_p(start + mmap.PAGESIZE), ctypes.c_size_t(mmap.PAGESIZE)) == 0)
        buffer = start + mmap.PAGESIZE - FIRST
        same("recv() moves what lies before the end of the ring", FIRST,
             libc.recv(server.fileno(), ctypes.c_void_p(buffer), ctypes.c_size_t(TOTAL), 0))
        same("recv() has the beginning", pattern(0, FIRST), ctypes.string_at(buffer, FIRST))
        finish("recv()", client, server)


def main():
    setup(rmem=16384, wmem=16384)
    check_splice()
    check_recv()


main()
