#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""smcctl as a client of smcd, both on the same fake kernel; and of servers that misbehave."""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from smcdtest import Daemon, run, tests_of  # pylint: disable=wrong-import-position

KERNEL = """era 6.12
iface eth0 2
device r rxe0 port1=on active1=on
lgr r 256 role=server conns=3
link 256 1 device=rxe0 port=1 state=active
stat smcr tx_bytes 123456
fallback server 0x03030000 3
socket cookie=8 proto=ipproto sport=81 dport=80 state=active src=10.1.0.1 dst=10.0.0.2 mode=tcp reason=0x03030000
"""


ROOT = os.environ.get("ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def smcctl(daemon, *args, path=None):
    env = daemon.environment() if isinstance(daemon, Daemon) else dict(os.environ)
    if isinstance(daemon, Daemon):
        daemon.drain()
    return subprocess.run(["smcctl-fake", "--socket", path or daemon.path, *args], env=env, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def ok(daemon, *args):
    r = smcctl(daemon, *args)
    assert r.returncode == 0 and r.stderr == "", f"{args}: exit {r.returncode}: {r.stdout}{r.stderr}"
    return r.stdout


def bad(daemon, code, says, *args):
    r = smcctl(daemon, *args)
    assert r.returncode == code, f"{args}: exit {r.returncode}, not {code}: {r.stdout}{r.stderr}"
    assert re.search(says, r.stderr), f"{args}: {r.stderr}"
    return r


def test_same_answers():
    """every read gives the same JSON from the daemon and from the kernel"""
    with Daemon(fake=KERNEL) as d:
        for args in (["knobs", "show"], ["show", "rmem"], ["stats", "show"], ["linkgroups", "show"], ["links", "show"],
                     ["devices", "show"], ["sockets", "show"], ["pnet", "show"], ["ueid", "show"], ["fallbacks", "show"],
                     ["sockets", "show", "mode=tcp"]):
            served = json.loads(ok(d, *args, "--json"))
            assert served == json.loads(ok(d, *args, "--json", "--direct")), args
            assert served["schema"] == 1 and served["netns"] == "", served
        assert 'smc_transmit_bytes_total{tech="smcr"} 123456' in ok(d, "metrics")
        assert "smcd_policy_generation" in ok(d, "metrics")


def test_status():
    """status tells of daemon, policy and what is in use"""
    with Daemon(fake=KERNEL, policy={"version": 1, "knobs": {"wmem": "256K"}}) as d:
        text = ok(d, "status")
        assert re.search(r"^smcd +running, version", text, re.M), text
        assert re.search(r"^policy +in force, 1 settings", text, re.M), text
        assert "1 link groups with 3 connections" in text, text
        r = json.loads(ok(d, "status", "--json"))
        assert r["schema"] == 1 and r["status"]["policy"]["ok"] is True, r
        version = json.loads(ok(d, "version", "--json"))["version"]
        assert version["smcctl"] == version["smcd"] is not None, version


def test_set_and_reset():
    """set overrides, reset goes back to the policy's value and reset --default to the kernel's"""
    with Daemon(fake=KERNEL, policy={"version": 1, "knobs": {"wmem": "256K"}}) as d:
        text = ok(d, "show", "wmem")
        assert re.search(r"^wmem +256K +64K +256K +new sockets +policy$", text, re.M), text
        text = ok(d, "set", "wmem=1M", "rmem=100000")
        assert re.search(r"^wmem +1M ", text, re.M) and re.search(r"^rmem +100000 +64K +128K ", text, re.M), text
        r = json.loads(ok(d, "knobs", "set", "limit_smc_hs=on", "smcr_buf_type=virtual", "-j"))
        assert sorted((k["name"], k["value"]) for k in r["knobs"]) == [("limit_smc_hs", True), ("smcr_buf_type", "virtual")], r
        assert "wmem=1M" in ok(d, "status")
        assert re.search(r"^wmem +256K ", ok(d, "knobs", "reset", "wmem"), re.M)
        assert re.search(r"^wmem +64K ", ok(d, "knobs", "reset", "wmem", "--default"), re.M)
        assert d.value("rmem") == 100000


def test_save():
    """set --save writes into the saved policy, reset --save takes out of it"""
    with Daemon(fake=KERNEL) as d:
        def saved():
            with open(os.path.join(d.policy_dir, "90-smcctl.json")) as f:
                return json.load(f)["knobs"]

        ok(d, "set", "rmem=2M", "wmem=1M", "--save")
        assert saved() == {"rmem": "2M", "wmem": "1M"}, saved()
        ok(d, "knobs", "reset", "rmem")
        assert saved() == {"rmem": "2M", "wmem": "1M"}, saved()
        ok(d, "knobs", "reset", "wmem", "--save")
        assert saved() == {"rmem": "2M"}, saved()


def test_all_or_nothing():
    """several assignments are all applied or none is, whoever notices"""
    with Daemon(fake=KERNEL) as d:
        before = d.knobs()
        r = bad(d, 1, r"^smcctl: set 'rmem': '12' is out of range: 16384\.\.1073741823", "set", "wmem=512K", "rmem=12")
        assert r.stdout == "" and d.knobs() == before
        with open(os.path.join(ROOT, "README.md")) as f:
            assert "".join(f"        {line}\n" for line in r.stderr.splitlines()) in f.read(), "the README says otherwise"
        d.kernel('fault sysctl_write EINVAL 1 cmd=rmem')
        bad(d, 1, "rmem", "set", "wmem=1M", "rmem=1M")
        assert d.knobs() == before
        bad(d, 1, "smcr_max_send_wr", "set", "wmem=1M", "smcr_max_send_wr=32")
        assert d.knobs() == before


def test_pnet():
    """pnet entries come and go; what is wrong with them is said"""
    with Daemon(fake=KERNEL) as d:
        assert ok(d, "pnet", "add", "neta", "interface=eth0") == "NETA: interface eth0 added\n"
        ok(d, "pnet", "add", "--rdma", "rxe0", "--port", "1", "NETA")
        assert d.pnet() == [("NETA", "", "rxe0", 1), ("NETA", "eth0", "", 0)], d.pnet()
        bad(d, 1, "eth0", "pnet", "add", "NETB", "interface=eth0")
        r = json.loads(ok(d, "pnet", "delete", "NETA", "interface=eth0", "-j"))
        assert r == {"schema": 1, "netns": "", "pnet": [{"id": "NETA", "interface": "eth0"}]}, r
        assert d.pnet() == [("NETA", "", "rxe0", 1)], d.pnet()
        bad(d, 1, "NETX", "pnet", "delete", "NETX")
        ok(d, "pnet", "flush")
        assert d.pnet() == []


def test_smc_tune():
    """what only smc_tune can: newer knobs, pools, cork, handshakes, the pnet table replaced; elsewhere it is said what is needed"""
    kernel = """era 6.12-smcd
knob linger unit=milliseconds min=5 max=5000 def=100
pool tech=smcr group=0x100 direction=send size=65536 buffers=3 in_use=1
tx corked-app 5
handshakes server queued=3
"""
    with Daemon(fake=kernel) as d:
        for args in (["knobs", "show"], ["show", "linger"], ["pools", "show"], ["cork", "show"], ["handshakes", "show"]):
            served = json.loads(ok(d, *args, "--json"))
            assert served == json.loads(ok(d, *args, "--json", "--direct")), args
        assert "250ms" in ok(d, "set", "linger=250", "wmem=1M")
        bad(d, 1, "5..5000 milliseconds", "set", "linger=6s", "wmem=2M")
        bad(d, 1, "there is no knob 'lingr'", "set", "lingr=1s", "wmem=2M")
        assert d.value("wmem") == 1 << 20
        assert "100ms" in ok(d, "knobs", "reset", "linger")
        assert ", with pnet table and smc_tune" in ok(d, "status")
        d.write_policy({"version": 1, "pnet": [{"id": "NETX", "interface": f"eth{i}"} for i in range(200)]})
        assert ok(d, "pnet", "replace", d.policy) == "200 entries are the table now\n"
        assert len(d.pnet()) == 200
        d.write_policy({"version": 1, "pnet": [{"id": "NETX", "mtu": 1}]})
        bad(d, 1, "policy.json:1:.*mtu", "pnet", "replace", d.policy)
        assert len(d.pnet()) == 200
    with Daemon(fake=KERNEL) as d:
        bad(d, 1, "needs? .*smc_tune|does not have the generic netlink family smc_tune", "pnet", "replace", d.policy)
        for noun in ("pools", "cork", "handshakes"):
            bad(d, 1, f"list {noun}: this kernel does not have the generic netlink family smc_tune", noun, "show")


def test_ueid_and_seid():
    """UEIDs come and go, at most four; the SEID is refused off s390"""
    with Daemon(fake=KERNEL) as d:
        for i in range(4):
            ok(d, "ueid", "add", f"EID{i}")
        bad(d, 1, "EID", "ueid", "add", "EID4")
        assert ok(d, "ueid", "delete", "EID0") == "EID0: deleted\n"
        assert json.loads(ok(d, "ueid", "show", "-j"))["ueid"] == [{"eid": f"EID{i}"} for i in range(1, 4)]
        ok(d, "ueid", "flush")
        assert d.ueid() == []
        assert bad(d, 1, ".", "seid", "enable").stdout == ""
        bad(d, 2, "netns", "ueid", "add", "EID1", "-n", "blue")


def test_kernel_refuses():
    """EPERM of the kernel is exit code 77, other errors 1, with what the kernel said"""
    with Daemon(fake=KERNEL) as d:
        d.kernel("privileged off")
        bad(d, 77, "CAP_NET_ADMIN", "ueid", "add", "EID1")
        bad(d, 77, "CAP_NET_ADMIN|root", "set", "wmem=1M")
        d.kernel('privileged on\nfault answer ENOSPC 1 cmd=ADD_UEID text="the list is full"')
        bad(d, 1, "the list is full", "ueid", "add", "EID1")


class Server:
    """Answers each call with the next of some bytes; None closes the connection."""

    def __init__(self, *replies):
        self.tmp = tempfile.TemporaryDirectory(prefix="smcctl-test-")
        self.path = os.path.join(self.tmp.name, "socket")
        self.calls = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, args=(replies,), daemon=True)
        self.thread.start()

    def serve(self, replies):
        for reply in replies:
            connection, _ = self.listener.accept()
            with connection:
                data = b""
                while not data.endswith(b"\0"):
                    data += connection.recv(65536)
                self.calls.append(json.loads(data[:-1]))
                if reply is not None:
                    connection.sendall(reply)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.listener.close()


def answer(parameters=None, error=None):
    return json.dumps({**({"error": error} if error else {}), "parameters": parameters or {}}).encode() + b"\0"


def test_errors_of_the_protocol():
    """every declared error becomes a message and an exit code"""
    manager = "org.smcd.Manager."
    for error, parameters, code, says in (
            ("org.varlink.service.PermissionDenied", {}, 77, "root"),
            ("org.varlink.service.MethodNotFound", {"method": "X"}, 1, "MethodNotFound.*X"),
            ("org.varlink.service.InvalidParameter", {"parameter": "values"}, 1, "values"),
            (manager + "NoSuchKnob", {"name": "wmem", "suggestion": "rmem"}, 1, "wmem.*did you mean rmem"),
            (manager + "OutOfRange", {"name": "wmem", "allowed": "1..2", "message": "1..2 it is"}, 1, "1..2 it is"),
            (manager + "Unsupported", {"name": "wmem", "message": "not here"}, 1, "not here"),
            (manager + "Kernel", {"errno": 1, "errno_name": "EPERM", "message": "set it", "extended_ack": "no"}, 77, "set it.*no"),
            (manager + "Kernel", {"errno": 22, "errno_name": "EINVAL", "message": "set it"}, 1, "set it"),
            (manager + "PolicyInvalid", {"problems": ["a:1:2: x", "b\x1b[3m"]}, 1, r"^a:1:2: x\nb\\x1b\[3m\n")):
        with Server(answer(parameters, error)) as s:
            r = smcctl(s, "set", "wmem=1M")
            assert r.returncode == code and re.search(says, r.stderr), f"{error}: {r}"
            assert "\x1b" not in r.stderr and r.stdout == ""
            assert s.calls[0] == {"method": manager + "SetKnobs", "parameters": {"values": {"wmem": "1M"}}}, s.calls


def test_bad_servers():
    """garbage, half an answer and a lost connection are failures, and a change is said to be unknown"""
    for reply in (None, b"garbage\0", b'{"parameters": {', b"[]\0", b'{"parameters": []}\0', b"\0"):
        with Server(reply) as s:
            r = smcctl(s, "set", "wmem=1M")
            assert r.returncode == 1 and "not known" in r.stderr and r.stdout == "", f"{reply}: {r}"
        with Server(reply) as s:
            r = smcctl(s, "links", "show")
            assert r.returncode == 1 and r.stdout == "" and r.stderr, f"{reply}: {r}"
    for parameters in ({}, {"links": 1}, {"links": None}):
        with Server(answer(parameters)) as s:
            r = smcctl(s, "links", "show")
            assert r.returncode == 1 and "no list" in r.stderr, r
    with Server(answer({"links": [1, None, {}, {"id": {}, "state": 7}]})) as s:
        r = smcctl(s, "links", "show", "state=active")
        assert r.returncode == 0 and r.stdout == "", r


def test_strings_from_outside():
    """what a peer chose cannot steer the terminal, in text or JSON"""
    evil = "\x1b]0;x\x07\x9b31m\u202e\x7f"
    reply = answer({"netns": "", "linkgroups": [{"id": "0x00000001", "peer_host": evil}]})
    for args in (["--json"], ["--wide"]):
        with Server(reply) as s:
            r = smcctl(s, "linkgroups", "show", *args)
            assert r.returncode == 0 and r.stdout, r
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", r.stdout), ascii(r.stdout)


def test_options_are_passed_on():
    """-n, --save and --default go into the call"""
    for args, method, parameters in (
            (["set", "wmem=1M", "--save"], "SetKnobs", {"values": {"wmem": "1M"}, "save": True}),
            (["knobs", "reset", "wmem", "--save"], "ResetKnobs", {"names": ["wmem"], "save": True}),
            (["knobs", "reset", "wmem", "--default"], "ResetKnobs", {"names": ["wmem"], "to_default": True})):
        with Server(answer({"netns": "", "knobs": []})) as s:
            ok(s, *args)
            assert s.calls == [{"method": f"org.smcd.Manager.{method}", "parameters": parameters}], s.calls
    with Server(answer({"netns": "blue", "links": []})) as s:
        r = smcctl(s, "-n", "blue", "links", "show", "--json")
        assert json.loads(r.stdout)["netns"] == "blue", r
        assert s.calls[0]["parameters"] == {"netns": "blue"}, s.calls


def read_and_write(path, prefix=()):
    """A command that shows and one that changes, on a kernel without anything in it."""
    for args in (["links", "show"], ["set", "wmem=1M"], ["status"], ["version"]):
        with tempfile.NamedTemporaryFile("w", prefix="smcctl-test-") as f:
            f.write("era 6.12\n")
            f.flush()
            yield subprocess.run([*prefix, "smcctl-fake", "--socket", path, *args], env={**os.environ, "SMCD_FAKE": f.name},
                                 text=True, timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, check=False)


def test_no_access():
    """a socket that is closed to the caller: read from the kernel and say so, change nothing with exit code 77"""
    # Permissions do not stop root, unless it has given that capability away.
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    refused = "access to smcd was refused (members of group smcd have it); read from the kernel directly"
    with Server() as s:
        os.chmod(s.path, 0)
        show, change, status, version = read_and_write(s.path, prefix)
    assert show.returncode == 0 and refused in show.stderr, show
    assert change.returncode == 77 and re.search(f"access to smcd at {s.path} was refused.*group smcd.*--direct",
                                                 change.stderr), change
    assert status.returncode == 0 and refused in status.stderr and re.search("^smcd +no access", status.stdout), status
    assert version.returncode == 0 and re.search("^smcd +no access", version.stdout, re.M), version


def test_no_answer():
    """a smcd that takes no connection is not taken for an absent one: exit code 4"""
    with tempfile.TemporaryDirectory(prefix="smcctl-test-") as directory, socket.socket(socket.AF_UNIX) as full:
        path = os.path.join(directory, "socket")
        full.bind(path)
        full.listen(0)
        waiting = socket.socket(socket.AF_UNIX)
        waiting.connect(path)
        for r in read_and_write(path):
            assert r.returncode == 4 and "smcd does not answer" in r.stderr and r.stdout == "", r
        waiting.close()


def test_bad_socket_path():
    """a path that can be no socket is told, and nothing is read past it"""
    for r in read_and_write("/" + "x" * 200):
        assert r.returncode == 4 and "longer than" in r.stderr and r.stdout == "", r


if __name__ == "__main__":
    run(tests_of(sys.modules[__name__]))
