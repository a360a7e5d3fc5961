#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 150
# cpus: 1
# fault: 32
# unpatched: the inner listen queue overflows
# without: 6.12-smcd+listen-shared
"""Accepting from the inner listen queue does not wait for handshakes that block. All handshake workers wait for a CONFIRM
that a packet filter drops, and many more clients than the backlog holds are accepted meanwhile. It needs a workqueue of
its own for that, as the same test shows on a build without one."""
import errno
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, fail, run, same  # noqa: E402
from smcpair import IPPROTO_SMC, setup  # noqa: E402

PORT, BACKLOG = 41000, 16
WORKERS, BLOCKING = 2, 4
CLIENTS = 100
SECONDS = 2  # the handshakes block for 6


def drop_confirm():
    """The CLC header is behind 20 bytes of IP and 32 of TCP; type 3 is a CONFIRM."""
    run("modprobe", "-a", "sch_ingress", "cls_u32", "act_gact")
    run("tc", "qdisc", "add", "dev", "lo", "clsact")
    run("tc", "filter", "add", "dev", "lo", "ingress", "protocol", "ip", "u32", "match", "u32", "0xe2d4c300",
        "0xffffff00", "at", "52", "match", "u8", "3", "0xff", "at", "56", "action", "drop")


def overflows():
    with open("/proc/net/netstat") as file:
        lines = file.read().splitlines()
    names, values = next((a.split(), b.split()) for a, b in zip(lines, lines[1:]) if a.startswith("TcpExt:"))
    return int(values[names.index("ListenOverflows")])


def listen(port, backlog):
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    listener.bind(("127.0.0.1", port))
    listener.listen(backlog)
    return listener


def main():
    setup()
    with open("/proc/sys/net/smc/hs_workers", "w") as file:
        file.write(str(WORKERS))
    drop_confirm()
    before = overflows()
    with listen(PORT, BLOCKING) as blocked, listen(PORT + 1, BACKLOG):
        start = time.monotonic()
        held = []
        for _ in range(BLOCKING):
            held.append(socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC))
            held[-1].setblocking(False)
            held[-1].connect_ex(("127.0.0.1", PORT))
        time.sleep(0.5)
        blocked.setblocking(False)
        try:
            blocked.accept()
            fail("the handshakes do not block")
        except BlockingIOError:
            pass
        clients = []
        for _ in range(CLIENTS):
            clients.append(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            clients[-1].setblocking(False)
            error = clients[-1].connect_ex(("127.0.0.1", PORT + 1))
            if error not in (0, errno.EINPROGRESS):
                fail(f"connect: {os.strerror(error)}")
            time.sleep(0.005)
        time.sleep(0.3)
        established = sum(s.connect_ex(("127.0.0.1", PORT + 1)) in (0, errno.EISCONN) for s in clients)
        seconds = time.monotonic() - start
        if overflows() != before:
            fail(f"the inner listen queue overflows: {overflows() - before} times, {established} of {CLIENTS} established")
        same(f"{CLIENTS} clients are established beside handshakes that block", CLIENTS, established)
        check(f"while they do ({seconds:.1f} s)", seconds < SECONDS + 2)


main()
