#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""smcd's socket: framing, order, flags, who may call what, socket activation, a second smcd."""
import json
import os
import shutil
import socket
import stat
import subprocess
import sys

from smcdtest import INTERFACE, Connection, Daemon, SkipTest, run, tests_of, wait_until

INFO = "org.varlink.service.GetInfo"
EXPLAIN = f"{INTERFACE}.ExplainCode"


def call_bytes(method, parameters=None, **flags):
    call = {"method": method, **({"parameters": parameters} if parameters is not None else {}), **flags}
    return json.dumps(call).encode() + b"\0"


def test_bytewise():
    """A call that comes byte by byte, and several that come at once, are answered in order"""
    with Daemon() as d, d.connect() as c:
        for byte in call_bytes(INFO):
            c.send(bytes([byte]))
        assert c.receive()["parameters"]["interfaces"] == [INTERFACE, "org.varlink.service"]
        codes = [f"0x0303{i:04x}" for i in range(300)]
        c.send(b"".join(call_bytes(EXPLAIN, {"code": code}) for code in codes))
        assert [c.receive()["parameters"]["reason"]["code"] for _ in codes] == codes


def test_half_close():
    """A client that shuts down its writing side still gets all its answers"""
    with Daemon() as d, d.connect() as c:
        c.send(call_bytes(INFO) * 50)
        c.sock.shutdown(socket.SHUT_WR)
        assert all("parameters" in c.receive() for _ in range(50)) and c.receive() is None


def test_oneway():
    """A oneway call is done and not answered, not even with an error"""
    with Daemon() as d, d.connect() as c:
        c.request(f"{INTERFACE}.SetKnobs", {"values": {"wmem": "1M"}}, oneway=True)
        c.request(f"{INTERFACE}.SetKnobs", {"values": {"wmem": "1"}}, oneway=True)
        c.request(f"{INTERFACE}.NoSuchMethod", {}, oneway=True)
        assert c.call(EXPLAIN, {"code": "NOSMCDEV"})["parameters"]["reason"]["code"] == "0x03030000"
        assert d.value("wmem") == 1048576
        with d.connect() as gone:  # calls of a client that does not wait are done too
            gone.send(b"".join(call_bytes(f"{INTERFACE}.SetKnobs", {"values": {"rmem": str(65536 + i)}}, oneway=True)
                               for i in range(20)))
        wait_until(lambda: d.value("rmem") == 65536 + 19, "the last of the calls is done")


def test_more():
    """A method without a stream that is called with more gives one reply"""
    with Daemon() as d, d.connect() as c:
        reply = c.call(INFO, more=True)
        assert "parameters" in reply and not reply.get("continues"), reply
        assert "parameters" in c.call(INFO)


VIOLATIONS = [
    b"", b"{", b"[]", b"null", b"7", b'"x"', b"{}", b'{"method": 7}', b'{"method": null}', b'{"method": "a.b", "parameters": []}',
    b'{"method": "a.b", "parameters": null}', b'{"method": "a.b", "more": 1}', b'{"method": "a.b", "oneway": "true"}',
    b'{"method": "a.b", "more": true, "oneway": true}', b'{"method": "a.b", "unknown": 1}', b'{"method": "a.b", "upgrade": true}',
    b'{"method": "a.b", "method": "a.c"}', b'{"method": "a.b\xff"}', b'{"method": "a.b\xc0\x80"}', b'{"method": "a.b\xed\xa0\x80"}',
    b'{"method\\u0000": "a.b"}', b"{'method': 'a.b'}", b'{"method": "a.b",}', b'{"method": "a.b"} x', b'{"method": "a.\x01b"}',
    b'{"method": "a.b", "parameters": {"x": NaN}}', b'{"method": "a.b", "parameters": {"x": 01}}',
    b'{"method": "a.b", "parameters": ' + b'{"a":' * 40 + b"1" + b"}" * 40 + b"}", b"GET / HTTP/1.1\r\n\r\n",
]


def test_violations():
    """What is no call closes the connection, without an answer"""
    with Daemon() as d:
        for text in VIOLATIONS:
            with d.connect() as c:
                c.send(text + b"\0")
                reply = c.receive()
                assert reply is None, f"{text[:60]!r}: {reply}"
        d.ok("GetStatus")


def test_names():
    """Names of methods that are none: errors, cut to a sane length"""
    with Daemon() as d, d.connect() as c:
        for method, error in (("x", "InvalidParameter"), ("", "InvalidParameter"), (".", "InvalidParameter"), ("a.", "InvalidParameter"),
                              (".a", "InvalidParameter"), ("a.b", "InterfaceNotFound"), (f"{INTERFACE}.", "InvalidParameter"),
                              (f"{INTERFACE}.X", "MethodNotFound"), (f"{INTERFACE}.ListNOUN", "MethodNotFound"),
                              ("org.varlink.service.X", "MethodNotFound"), (f"{INTERFACE}.{'x' * 100000}", "MethodNotFound"),
                              (f"{'x.' * 100000}y", "InvalidParameter")):
            reply = c.call(method)
            assert reply["error"] == f"org.varlink.service.{error}", (method[:50], str(reply)[:200])
            assert len(json.dumps(reply)) < 1000


def test_largest():
    """A message of just the limit is taken, one byte more closes the connection"""
    with Daemon() as d:
        for extra, taken in ((0, True), (1, False)):
            with d.connect() as c:
                head = b'{"method":"org.varlink.service.GetInfo","parameters":{"x":"'
                c.send(head + b"y" * ((1 << 20) - len(head) - 3 + extra) + b'"}}\0')
                reply = c.receive()
                assert (reply is not None) == taken, reply
                assert not taken or reply["error"].endswith("InvalidParameter")


def as_user(uid, gid, groups, path, requests):
    """Calls from a process of another user: the list of replies, or the name of an exception."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups(groups)
            os.setgid(gid)
            os.setuid(uid)
            with Connection(path) as c:
                answer = [c.call(f"{INTERFACE}.{m}", p) for m, p in requests]
        except Exception as e:  # pylint: disable=broad-except
            answer = type(e).__name__
        os.write(write_end, json.dumps(answer).encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as f:
        answer = json.load(f)
    os.waitpid(pid, 0)
    return answer


REQUESTS = [("ListKnobs", {"names": ["wmem"]}), ("SetKnobs", {"values": {"wmem": "1M"}}), ("FlushUeid", {}), ("Reload", {}),
            ("GetStatus", {})]


def test_access():
    """--admin-group: reading and writing by group, primary and supplementary ones; others may connect and call nothing"""
    if os.geteuid() != 0:
        raise SkipTest("needs root, to become other users")
    denied = "org.varlink.service.PermissionDenied"
    with Daemon(args=["--admin-group", "54321"]) as d:
        os.chmod(d.dir, 0o755)
        for gid, groups in ((54321, []), (65534, [54321]), (65534, [1, 2, 54321])):
            answers = as_user(65534, gid, groups, d.path, REQUESTS)
            assert all("error" not in a for a in answers), (gid, groups, answers)
        answers = as_user(65534, 65534, [], d.path, REQUESTS)
        assert [a.get("error") for a in answers] == [denied] * len(REQUESTS), answers
        with d.connect() as c:
            assert "error" not in c.call(INFO)
    with Daemon() as d:
        os.chmod(d.dir, 0o755)
        assert stat.S_IMODE(os.stat(d.path).st_mode) & 0o007 == 0
        assert as_user(65534, 65534, [], d.path, REQUESTS) == "PermissionError"


def test_reader():
    """Group smcd reads and does not write"""
    if os.geteuid() != 0:
        raise SkipTest("needs root, to become other users")
    try:
        import grp
        gid = grp.getgrnam("smcd").gr_gid
    except KeyError as e:
        raise SkipTest("there is no group smcd on this host") from e
    with Daemon() as d:
        os.chmod(d.dir, 0o755)
        assert os.stat(d.path).st_gid == gid and stat.S_IMODE(os.stat(d.path).st_mode) == 0o660
        answers = as_user(65534, 65534, [gid], d.path, REQUESTS)
        assert [("error" in a) for a in answers] == [False, True, True, True, False], answers


def test_second():
    """A second smcd refuses to start and leaves the first one and the kernel alone; a stale socket is replaced"""
    with Daemon({"version": 1, "knobs": {"wmem": "1M"}}) as d:
        d.kernel("sysctl wmem 65536")
        done = subprocess.run(d.command(), env=d.environment(), capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 1 and "another smcd answers" in done.stderr, done
        assert d.value("wmem") == 65536, "the second one must not have applied anything"
        d.process.kill()
        d.process.wait()
        assert os.path.exists(d.path)
        d.start()
        assert d.value("wmem") == 1048576


def test_not_a_socket():
    """Another kind of file at the socket's path stays, and smcd says so"""
    with Daemon(start=False) as d:
        for make in (lambda: open(d.path, "w").close(), lambda: os.mkdir(d.path), lambda: os.symlink("/etc/passwd", d.path)):
            make()
            done = subprocess.run(d.command(), env=d.environment(), capture_output=True, text=True, timeout=30, check=False)
            assert done.returncode == 1 and "is no socket" in done.stderr, done
            assert os.path.lexists(d.path)
            os.rmdir(d.path) if os.path.isdir(d.path) and not os.path.islink(d.path) else os.unlink(d.path)


def test_activation():
    """Socket activation: the socket is systemd's, and stays when smcd stops"""
    activate = shutil.which("systemd-socket-activate")
    if not activate:
        raise SkipTest("systemd-socket-activate is not installed")
    with Daemon(start=False) as d:
        process = subprocess.Popen([activate, "-l", d.path, "-E", f"SMCD_FAKE={d.fake}", "-E", f"PATH={os.environ['PATH']}",
                                    *[a for n, v in os.environ.items() if n.endswith("SAN_OPTIONS") for a in ("-E", f"{n}={v}")],
                                    *[a for a in d.command() if a not in ("--socket", d.path)]],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            wait_until(lambda: os.path.exists(d.path), "the socket is there")
            d.ok("GetStatus")
        finally:
            process.terminate()
            process.wait()
        assert os.path.exists(d.path), "smcd does not remove a socket that it did not make"


def test_signals():
    """SIGTERM and SIGINT end smcd cleanly, also while clients are connected"""
    import signal
    for which in (signal.SIGTERM, signal.SIGINT):
        with Daemon() as d, d.connect() as c:
            c.call(INFO)
            d.process.send_signal(which)
            assert d.process.wait(30) == 0 and not os.path.exists(d.path) and c.is_closed()
            d.notified = []
            d.drain()
            assert any("STOPPING=1" in n for n in d.notified), d.notified


def test_hangup_at_start():
    """SIGHUP before smcd is ready does not end it"""
    import signal
    with Daemon(start=False) as d:
        d.start(wait=False)
        wait_until(lambda: "SigBlk:\t0000000000000000" not in open(f"/proc/{d.process.pid}/status").read(), "signals are blocked")
        d.process.send_signal(signal.SIGHUP)
        d.wait_notify("RELOADING=1")
        d.ok("GetStatus")


if __name__ == "__main__":
    run(tests_of(sys.modules[__name__]))
