#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 2
# fault: 14
# unpatched: recv\(\) behind spliced data neither returns nor can be killed
"""recv() while earlier data is still in a pipe reads what follows, up to an urgent byte too, and waits behind that as
killable as ever. A long stream read by recv() and splice() into two pipes in a random
order stays whole."""
import os
import random
import select
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, fail, same, wait_for  # noqa: E402
from smcpair import drain, pair, pattern, receive, setup, unread, wait_unread  # noqa: E402

PART = 1000
STREAM = 400000
SEED = 14
SECONDS = 5


def ended(pid, seconds=SECONDS):
    """The wait status of a child, or None if it does not end in this time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status
        time.sleep(0.05)
    return None


def child(body):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if body() else 1)
    return pid


def check_recv_behind():
    with pair(port=41001) as (client, server, _):
        out, into = os.pipe()
        client.sendall(pattern(0, 2 * PART))
        wait_unread(server, 2 * PART)
        same("splice() of the first part", PART, os.splice(server.fileno(), into, PART))
        pid = child(lambda: receive(server, PART) == pattern(PART, PART))
        status = ended(pid)
        if status is None:
            os.kill(pid, signal.SIGKILL)
            if ended(pid) is None:
                fail("recv() behind spliced data neither returns nor can be killed")
            fail("recv() behind spliced data does not return")
        same("recv() reads the second part", 0, status)
        same("nothing is left", 0, unread(server))
        client.sendall(pattern(2 * PART, PART))
        client.shutdown(socket.SHUT_WR)
        same("recv() reads on after the peer's end", pattern(2 * PART, PART), receive(server, PART))
        same("and then finds the end", b"", server.recv(1))
        same("the pipe has the first part", pattern(0, PART), drain(out, PART))


def check_urgent():
    with pair(port=41002) as (client, server, _):
        out, into = os.pipe()
        client.sendall(pattern(0, 2 * PART))
        wait_unread(server, 2 * PART)
        os.splice(server.fileno(), into, PART)
        client.send(b"!", socket.MSG_OOB)  # the client cannot send more before all of this is consumed
        wait_for("the urgent byte arrives", lambda: select.select([], [], [server], 0)[2])
        same("recv() reads on up to an urgent byte", pattern(PART, PART), receive(server, PART))
        pid = child(lambda: server.recv(PART))
        same("behind it, recv() waits", None, ended(pid, 1))
        os.kill(pid, signal.SIGTERM)
        same("and can be killed", signal.SIGTERM, ended(pid))
        same("the pipe has the first part", pattern(0, PART), drain(out, PART))
        same("the urgent byte is out of band", b"!", server.recv(1, socket.MSG_OOB))
        client.sendall(pattern(2 * PART, PART))
        same("and not in the stream", pattern(2 * PART, PART), receive(server, PART))


def check_mix():
    draw = random.Random(SEED)
    with pair(port=41003) as (client, server, ring):
        pid = child(lambda: client.sendall(pattern(0, STREAM)) is None)
        pipes = [os.pipe(), os.pipe()]
        pending = []  # (pipe, start, length), in order of the stream
        place = 0
        while place < STREAM:
            draw.shuffle(pending)
            if len(pending) > draw.randrange(4) or not unread(server) and pending:
                # Of one pipe, what went in first has to be read first.
                pipe, start, length = min((p for p in pending if p[0] == pending[0][0]), key=lambda p: p[1])
                pending.remove((pipe, start, length))
                if drain(pipes[pipe][0], length) != pattern(start, length):
                    fail(f"wrong bytes at {start} in pipe {pipe}")
                continue
            size = min(draw.randrange(1, ring // 2), STREAM - place)
            if draw.randrange(2):
                data = server.recv(size)
                if data != pattern(place, len(data)):
                    fail(f"wrong bytes at {place} from recv()")
                place += len(data)
            else:
                pipe = draw.randrange(2)
                moved = os.splice(server.fileno(), pipes[pipe][1], size)
                pending.append((pipe, place, moved))
                place += moved
        for pipe, start, length in sorted(pending, key=lambda p: p[1]):
            if drain(pipes[pipe][0], length) != pattern(start, length):
                fail(f"wrong bytes at {start} in pipe {pipe}")
        same("the sender has sent all", 0, ended(pid))
    check(f"{STREAM} bytes through recv() and two pipes (seed {SEED})", True)


def main():
    setup(rmem=16384, wmem=16384)
    check_recv_behind()
    check_urgent()
    check_mix()


main()
