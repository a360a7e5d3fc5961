#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that behave badly: garbage, half a message, 2 MB, nothing, slow readers, a thousand connections, from this user and
from another one. After and during each, an ordinary client is served as if they were not there."""
import json
import os
import random
import select
import socket
import subprocess
import sys
import time

from smcdtest import INTERFACE, Connection, Daemon, SkipTest, run, tests_of, wait_until

BIG_KERNEL = "era 6.12\n" + "".join(
    f"socket cookie={i} mode=smcr src=192.0.2.1 dst=192.0.2.2 sport={i % 60000 + 1} dport=40000 token={i}\n" for i in range(1, 2000))
IDLE_SECONDS = 2  # how long idleness is watched
OUT_OF_FILES = "cannot accept connections now"
PAUSES = 3  # of accepting, while there are no descriptors
SERVED_WITHIN = 50  # seconds for a small call, sanitizers and a busy machine included


def served(d):
    """An ordinary client gets its answer, soon."""
    start = time.monotonic()
    assert d.value("wmem") == 65536
    took = time.monotonic() - start
    assert took < SERVED_WITHIN, f"an ordinary call took {took:.1f} s"


def raw(d):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(d.path)  # waits while the queue is full
    s.settimeout(30)
    return s


def send_all(s, data):
    """As much as it takes: the other side may hang up in between, which is its right."""
    try:
        s.sendall(data)
        return True
    except (BrokenPipeError, ConnectionResetError):
        return False


def hung_up(s):
    try:
        return s.recv(1) == b""
    except ConnectionResetError:
        return True


def open_files(d):
    return len(os.listdir(f"/proc/{d.process.pid}/fd"))


def resident_limit(d):
    """AddressSanitizer keeps freed memory for a while."""
    with open(f"/proc/{d.process.pid}/maps") as f:
        return (2000 if "asan" in f.read() else 200) << 20


def resident(d):
    with open(f"/proc/{d.process.pid}/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS"))


def test_garbage():
    """Garbage, with and without NULs"""
    rng = random.Random(2)
    with Daemon() as d, d.connect() as bystander:
        bystander.call("org.varlink.service.GetInfo")
        files = open_files(d)
        for i in range(200):
            with raw(d) as s:
                send_all(s, rng.randbytes(rng.randrange(1, 5000)) + (b"\0" if i % 2 else b""))
                if i % 2:
                    assert hung_up(s)
        served(d)
        assert "parameters" in bystander.call("org.varlink.service.GetInfo")
        wait_until(lambda: open_files(d) <= files, "the descriptors of those that went are closed")


def test_two_megabytes():
    """2 MB without an end: closed at the limit"""
    with Daemon() as d:
        with raw(d) as s:
            send_all(s, b"x" * (2 << 20))
            assert hung_up(s)
        with raw(d) as s:
            send_all(s, b'{"method": "' + b"x" * (2 << 20) + b'"}\0')
            assert hung_up(s)
        served(d)


def test_half_messages():
    """Many halves of messages, held open"""
    with Daemon() as d:
        halves = []
        for i in range(40):
            s = raw(d)
            send_all(s, b'{"method": "org.varlink.service.GetInfo", "parameters": {"x": "' + b"y" * 100000)
            halves.append(s)
        served(d)
        for s in halves:
            s.close()
        served(d)


def test_nothing():
    """Connections that say nothing, and ones that go at once"""
    with Daemon() as d:
        silent = [raw(d) for _ in range(60)]
        for _ in range(300):
            raw(d).close()
        served(d)
        for s in silent:
            s.close()


def test_slow_reader():
    """Clients that ask for megabytes and do not read: the others are served, and the slow ones get all when they read"""
    with Daemon(fake=BIG_KERNEL) as d:
        calls = json.dumps({"method": f"{INTERFACE}.ListSockets"}).encode() + b"\0"
        slow = [raw(d) for _ in range(10)]
        for s in slow:
            send_all(s, calls * 3)
        for _ in range(5):
            served(d)
        with Connection(d.path) as patient:
            patient.sock.close()
            patient.sock = slow[0]
            for _ in range(3):
                assert len(patient.receive()["parameters"]["sockets"]) == 1999
        slow[1].close()
        for s in slow[2:]:
            s.close()
        served(d)
        wait_until(lambda: resident(d) < resident_limit(d), "the memory of those that went is given back")


def test_no_reading_while_busy():
    """While a reply waits to be taken, nothing more is read: a flood of calls does not pile up in smcd"""
    with Daemon(fake=BIG_KERNEL) as d:
        with raw(d) as s:
            s.settimeout(1)
            call = json.dumps({"method": f"{INTERFACE}.ListSockets"}).encode() + b"\0"
            sent = 0
            try:
                while sent < 64 << 20:
                    sent += s.send(call * 1000)
            except (TimeoutError, socket.timeout):
                pass
            assert sent < 8 << 20, f"smcd read {sent} bytes of calls without having its replies taken"
            served(d)
            assert resident(d) < resident_limit(d), resident(d)


def flood(d, n):
    held = []
    for _ in range(n):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.settimeout(10)
        try:
            s.connect(d.path)
            s.send(b'{"method": "org.varlink.service')
        except OSError:
            pass
        held.append(s)
    return held


def test_thousand_connections():
    """1000 connections of one user: the number is limited, and its own next client is served all the same"""
    with Daemon() as d:
        files = open_files(d)
        held = flood(d, 1000)
        served(d)
        assert open_files(d) < files + 70, open_files(d)
        for s in held:
            s.close()
        served(d)


def test_thousand_connections_of_others():
    """1000 connections of another user: this user's open connection is not touched"""
    if os.geteuid() != 0:
        raise SkipTest("needs root, to become another user")
    with Daemon() as d, d.connect() as bystander:
        os.chmod(d.dir, 0o755)
        os.chmod(d.path, 0o666)
        assert "parameters" in bystander.call("org.varlink.service.GetInfo")
        ready, go = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            flood(d, 1000)
            os.write(ready[1], b"x")
            os.close(go[1])
            os.read(go[0], 1)
            os._exit(0)
        os.read(ready[0], 1)
        served(d)
        assert "parameters" in bystander.call("org.varlink.service.GetInfo")
        os.close(go[0])
        os.close(go[1])
        os.waitpid(pid, 0)
        served(d)


def test_no_descriptors():
    """Out of file descriptors: accepting pauses without spinning and goes on when there are some again"""
    with Daemon(start=False) as d:
        command = d.command()
        d.command = lambda: ["sh", "-c", 'ulimit -n 24 && exec "$0" "$@"', *command]
        d.start()
        held = flood(d, 60)
        wait_until(lambda: OUT_OF_FILES in d.log(), "it has run out of descriptors")
        # Each time it tries in vain it sleeps before the next one: a loop that spins would try far more often than that.
        slept, tried = switches(d)["voluntary_ctxt_switches"], d.log().count(OUT_OF_FILES)
        wait_until(lambda: d.log().count(OUT_OF_FILES) >= tried + PAUSES, f"it tries {PAUSES} times more")
        tried, slept = d.log().count(OUT_OF_FILES) - tried, switches(d)["voluntary_ctxt_switches"] - slept
        assert tried <= slept + 1, f"it tried {tried} times and slept {slept} times"
        for s in held:
            s.close()
        served(d)


def test_fairness():
    """One client with hundreds of calls in one go: another client's call is answered before all of them are done"""
    with Daemon(fake=BIG_KERNEL) as d:
        with d.connect() as greedy:
            info = json.dumps({"method": "org.varlink.service.GetInfo"}).encode() + b"\0"
            call = json.dumps({"method": f"{INTERFACE}.ListSockets", "oneway": True}).encode() + b"\0"
            greedy.send(info + call * 400 + info)
            assert "parameters" in greedy.receive()
            other = d.connect()
            other.request("org.varlink.service.GetInfo")
            ready = select.select([greedy.sock, other.sock], [], [], 10 * SERVED_WITHIN)[0]
            assert other.sock in ready, "the greedy client was served first"
            assert greedy.sock not in ready, "both were answered at once: this test needs slower calls"
            other.close()


def test_standard_descriptors_closed():
    """Started with 0, 1 and 2 closed: no log line goes to a client"""
    with Daemon(start=False) as d:
        command = " ".join(f"'{word}'" for word in d.command())
        d.process = subprocess.Popen(["sh", "-c", f"exec {command} <&- >&- 2>&-"], env=d.environment())
        d.wait_notify("READY=1")
        with d.connect() as c:
            c.call("org.varlink.service.GetInfo")
            d.ok("SetKnobs", {"values": {"wmem": "128K"}})
            d.reload_by_signal()
            assert "parameters" in c.call("org.varlink.service.GetInfo")


def test_log_without_reader():
    """The log's reader is gone: smcd goes on"""
    with Daemon(start=False) as d:
        reader, writer = os.pipe()
        d.process = subprocess.Popen(d.command(), env=d.environment(), stdout=writer, stderr=writer)
        os.close(writer)
        d.wait_notify("READY=1")
        os.close(reader)
        d.reload_by_signal()
        served(d)


def test_idle():
    """Idle, with idle connections: no processor time and no wake-ups"""
    with Daemon() as d, d.connect() as c:
        c.call("org.varlink.service.GetInfo")
        wait_until(lambda: asleep(d), "it sleeps")
        before = switches(d)
        time.sleep(IDLE_SECONDS)
        assert switches(d) == before, f"{before} became {switches(d)} in {IDLE_SECONDS} s"


def asleep(d):
    with open(f"/proc/{d.process.pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0] == "S"


def switches(d):
    with open(f"/proc/{d.process.pid}/status") as f:
        return {name: int(value) for name, value in (line.split(":", 1) for line in f) if name.endswith("ctxt_switches")}


if __name__ == "__main__":
    run(tests_of(sys.modules[__name__]))
