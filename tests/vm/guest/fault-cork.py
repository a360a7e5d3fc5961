#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 2
# fault: 24
# unpatched: SMC-D: corked data waits while the peer reads: expected 0, found 100
"""Corked data (TCP_CORK, MSG_MORE) waits for the application: no completion and no consumer update of the peer sends it;
uncorking, TCP_NODELAY, a plain send, a full buffer, an urgent byte, shutdown, close and the end of the process do, and
cork_ceiling after that time. The data is right each time. Over SMC-D and SMC-R."""
import contextlib
import os
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, fail, same  # noqa: E402
from smcpair import IPPROTO_SMC, pair, pattern, receive, setup, unread, wait_unread  # noqa: E402

HEAD = 100
QUIET = 0.3  # seconds in which nothing may arrive
ROUNDS = 30
MORE = socket.MSG_MORE
CEILING = "/proc/sys/net/smc/cork_ceiling"


def cork(sock, on):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, on)


def stays(what, sock, count, seconds=QUIET):
    """What can be read remains that much."""
    end = time.monotonic() + seconds
    while unread(sock) == count and time.monotonic() < end:
        time.sleep(0.02)
    same(what, count, unread(sock))


def arrives(what, sock, start, count):
    wait_unread(sock, count)
    check(what, receive(sock, count) == pattern(start, count))


def check_peer_reads(name, client, server, size):
    """A consumer update of the peer comes while data is corked behind what it read."""
    client.sendall(pattern(0, size))
    wait_unread(server, size)
    cork(client, 1)
    client.sendall(pattern(size, HEAD))
    check(f"{name}: what was sent before is right", receive(server, size) == pattern(0, size))
    stays(f"{name}: corked data waits while the peer reads", server, 0)
    cork(client, 0)
    arrives(f"{name}: and comes when uncorked", server, size, HEAD)


def check_completions(name, client, server):
    """The completion of a send comes right after data is corked."""
    for n in range(ROUNDS):
        client.send(b"a")
        client.send(b"b" * HEAD, MORE)
        wait_unread(server, 1)
        receive(server, 1)
        time.sleep(0.02)
        if unread(server):
            fail(f"{name}: a completion has sent corked data in round {n}")
        client.send(b"c")
        if receive(server, HEAD + 1) != b"b" * HEAD + b"c":
            fail(f"{name}: header and body are wrong in round {n}")
    check(f"{name}: header and body come together, {ROUNDS} times", True)


def check_blocked(name, client, server, rmbe):
    """Data that waits for room at the peer goes out when there is room, corked data behind it does not."""
    extra = 4096
    client.sendall(pattern(0, rmbe))
    wait_unread(server, rmbe)
    client.sendall(pattern(rmbe, extra))
    cork(client, 1)
    client.sendall(pattern(rmbe + extra, HEAD))
    check(f"{name}: the blocked data is right", receive(server, rmbe + extra) == pattern(0, rmbe + extra))
    stays(f"{name}: what is corked behind it waits", server, 0)
    cork(client, 0)
    arrives(f"{name}: and comes when uncorked", server, rmbe + extra, HEAD)


def check_flushes(name, client, server):
    def corked():
        cork(client, 1)
        same(f"{name}: the option reads back", 1, client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CORK))
        client.sendall(pattern(0, HEAD))
        stays(f"{name}: corked", server, 0, 0.1)

    corked()
    cork(client, 0)
    same(f"{name}: the option reads back", 0, client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CORK))
    arrives(f"{name}: uncorked", server, 0, HEAD)
    corked()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    arrives(f"{name}: TCP_NODELAY", server, 0, HEAD)
    client.send(pattern(0, HEAD))
    stays(f"{name}: still corked", server, 0, 0.1)
    cork(client, 0)
    arrives(f"{name}: uncorked again", server, 0, HEAD)
    client.send(pattern(0, HEAD), MORE)
    stays(f"{name}: MSG_MORE", server, 0, 0.1)
    client.send(pattern(HEAD, HEAD))
    arrives(f"{name}: a plain send", server, 0, 2 * HEAD)
    client.send(pattern(0, HEAD), MORE)
    with tempfile.TemporaryFile() as file:
        file.write(pattern(HEAD, 4096))
        file.flush()
        same(f"{name}: sendfile()", 4096, os.sendfile(client.fileno(), file.fileno(), 0, 4096))
    arrives(f"{name}: header and file", server, 0, HEAD + 4096)
    client.setblocking(False)
    cork(client, 1)
    sent = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            sent += client.send(pattern(sent, 1 << 16))
    client.setblocking(True)
    check(f"{name}: a full buffer", receive(server, sent) == pattern(0, sent))
    client.sendall(pattern(0, HEAD))
    stays(f"{name}: and corked after it", server, 0, 0.1)
    cork(client, 0)
    arrives(f"{name}: and uncorked", server, 0, HEAD)


def check_ceiling(name, client, server):
    if not os.path.exists(CEILING):
        fail(f"{CEILING} is missing")
    with open(CEILING, "w", encoding="ascii") as file:
        file.write("500")
    cork(client, 1)
    begin = time.monotonic()
    client.sendall(pattern(0, HEAD))
    stays(f"{name}: below the ceiling", server, 0, 0.2)
    arrives(f"{name}: at the ceiling", server, 0, HEAD)
    check(f"{name}: and not before it", time.monotonic() - begin >= 0.49, time.monotonic() - begin)
    cork(client, 0)
    # What is corked later gets its own time, though the work may be armed for what came before.
    cork(client, 1)
    client.sendall(pattern(0, HEAD))
    cork(client, 0)
    arrives(f"{name}: uncorked below the ceiling", server, 0, HEAD)
    time.sleep(0.4)
    cork(client, 1)
    begin = time.monotonic()
    client.sendall(pattern(0, HEAD))
    arrives(f"{name}: the next at its ceiling", server, 0, HEAD)
    check(f"{name}: and not at that of the one before", time.monotonic() - begin >= 0.49, time.monotonic() - begin)
    client.sendall(pattern(0, HEAD))
    with open(CEILING, "w", encoding="ascii") as file:
        file.write("0")
    stays(f"{name}: no ceiling", server, 0, 0.8)
    cork(client, 0)
    arrives(f"{name}: uncorked", server, 0, HEAD)


def check_ends(transport, name, port):
    """What is corked when the stream ends comes before its end."""
    def shut(client):
        client.shutdown(socket.SHUT_WR)

    def end(client):
        child = os.fork()
        if not child:
            client.send(pattern(0, HEAD), MORE)
            os._exit(0)
        client.close()
        os.waitpid(child, 0)

    for what, send_first, act in (("shutdown", True, shut), ("close", True, lambda client: client.close()),
                                  ("the end of the process", False, end)):
        with pair(transport, port) as (client, server, _):
            if send_first:
                client.send(pattern(0, HEAD), MORE)
                stays(f"{name}: corked before {what}", server, 0, 0.1)
            act(client)
            data = b""
            while part := server.recv(1 << 16):
                data += part
            same(f"{name}: {what}", pattern(0, HEAD), data)
        port += 1


def check_before_connect(name, port):
    """Corked before it connects, and through the listener."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        cork(listener, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(1)
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        cork(client, 1)
        client.connect(("127.0.0.1", port))
        server = listener.accept()[0]
    with client, server:
        for side, one, other in (("client", client, server), ("server", server, client)):
            same(f"{name}: {side}: the option reads back", 1, one.getsockopt(socket.IPPROTO_TCP, socket.TCP_CORK))
            one.sendall(pattern(0, HEAD))
            stays(f"{name}: {side}: corked before the connection", other, 0, 0.1)
            cork(one, 0)
            arrives(f"{name}: {side}: uncorked", other, 0, HEAD)


def check_transport(transport, port):
    with pair(transport, port) as (client, server, rmbe):
        check_peer_reads(transport, client, server, rmbe * 5 // 8)
        check_completions(transport, client, server)
        check_flushes(transport, client, server)
        check_ceiling(transport, client, server)
    if transport == "SMC-R":  # SMC-D's send buffer is the peer's receive buffer
        with pair(transport, port + 1) as (client, server, rmbe):  # fresh, so that all of the peer's buffer is free
            check_blocked(transport, client, server, rmbe)
    check_ends(transport, transport, port + 2)
    check_before_connect(transport, port + 6)


def main():
    setup()
    check_transport("SMC-D", 41000)
    setup(rxe=True)
    check_transport("SMC-R", 41100)


main()
