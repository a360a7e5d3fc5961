# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of smcd on the fake kernel share: a daemon in a directory of its own, a plain connection to it, TAP."""
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM = "smcd-fake"
INTERFACE = "org.smcd.Manager"
ERA = "6.12"  # of the fake kernels that the tests ask for by this name
PATIENCE = 30  # seconds for anything to happen; sanitizers are slow


class Connection:
    """Messages of a varlink stream, without any knowledge of the interface."""

    def __init__(self, path, timeout=PATIENCE):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout)
        self.sock.connect(path)
        self.buffer = b""

    def send(self, data):
        self.sock.sendall(data)

    def receive(self):
        """The next message, or None where the stream ended."""
        while b"\0" not in self.buffer:
            try:
                data = self.sock.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def request(self, method, parameters=None, **flags):
        call = {"method": method, **flags}
        if parameters is not None:
            call["parameters"] = parameters
        self.send(json.dumps(call).encode() + b"\0")

    def call(self, method, parameters=None, **flags):
        self.request(method, parameters, **flags)
        return self.receive()

    def is_closed(self):
        try:
            return self.receive() is None
        except (BrokenPipeError, ConnectionResetError):
            return True

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class Daemon:
    """smcd on the fake kernel: with Daemon(policy={...}) as d: d.ok("SetKnobs", {...})"""

    def __init__(self, policy=None, fake="era 6.12\n", args=(), start=True, env=None, group=None):
        self.dir = tempfile.mkdtemp(prefix="smcd-test-")
        self.path = os.path.join(self.dir, "socket")
        self.fake = os.path.join(self.dir, "fake")
        self.policy = os.path.join(self.dir, "policy.json")
        self.policy_dir = os.path.join(self.dir, "policy.d")
        self.state_dir = os.path.join(self.dir, "state")
        self.log_path = os.path.join(self.dir, "log")
        self.args, self.env, self.process = list(args), env or {}, None
        self.notified = []
        os.mkdir(self.policy_dir)
        self.write_policy(policy if policy is not None else {"version": 1})
        self.kernel(fake)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(os.path.join(self.dir, "notify"))
        if start:
            self.start()

    def write_policy(self, policy):
        with open(self.policy, "w") as f:
            f.write(policy if isinstance(policy, str) else json.dumps(policy))

    def kernel(self, lines):
        """Let something happen in the fake kernel (tests/fake/fake.h)."""
        lines = lines if lines.endswith("\n") else lines + "\n"
        with open(self.fake, "a") as f:
            f.write(lines.replace("era 6.12\n", f"era {ERA}\n"))

    def command(self):
        return [PROGRAM, "--policy", self.policy, "--policy-dir", self.policy_dir, "--state-dir", self.state_dir,
                "--socket", self.path, *self.args]

    def environment(self):
        return {**os.environ, "SMCD_FAKE": self.fake, "NOTIFY_SOCKET": os.path.join(self.dir, "notify"), **self.env}

    def start(self, wait=True):
        self.notified = []
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), env=self.environment(), stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        if wait:
            self.wait_notify("READY=1")

    def wait_notify(self, text):
        """Read what smcd tells systemd until a datagram has this; returns it. What was read before counts."""
        for told in self.notified:
            if text in told:
                return told
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([self.notify], [], [], 0.2)[0]:
                self.notified.append(self.notify.recv(65536).decode())
                if text in self.notified[-1]:
                    return self.notified[-1]
            elif self.process.poll() is not None:
                break
        raise AssertionError(f"smcd did not say {text!r} but {self.notified}; its log: {self.log()}")

    def reload_by_signal(self):
        self.notified = []
        self.process.send_signal(signal.SIGHUP)
        return self.wait_notify("READY=1")

    def stop(self):
        """SIGTERM and the exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(PATIENCE)

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def state(self):
        with open(os.path.join(self.state_dir, "state.json")) as f:
            return json.load(f)

    def drain(self):
        """Its receiver's full queue would make smcd wait."""
        while select.select([self.notify], [], [], 0)[0]:
            self.notified.append(self.notify.recv(65536).decode())

    def connect(self, timeout=PATIENCE):
        self.drain()
        return Connection(self.path, timeout)

    def call(self, method, parameters=None):
        with self.connect() as c:
            return c.call(f"{INTERFACE}.{method}", parameters)

    def ok(self, method, parameters=None):
        reply = self.call(method, parameters)
        assert reply is not None and "error" not in reply, f"{method}: {reply}"
        return reply["parameters"]

    def error(self, method, parameters=None):
        """The short name of the error, and its parameters."""
        reply = self.call(method, parameters)
        assert reply is not None and "error" in reply, f"{method} should have failed: {reply}"
        return reply["error"].rsplit(".", 1)[1], reply["parameters"]

    def knob(self, name, netns=None):
        parameters = {"names": [name], **({"netns": netns} if netns else {})}
        return self.ok("ListKnobs", parameters)["knobs"][0]

    def value(self, name, netns=None):
        return self.knob(name, netns)["value"]

    def knobs(self):
        return {k["name"]: k["value"] for k in self.ok("ListKnobs")["knobs"]}

    def pnet(self):
        return sorted((p["id"], p["interface"] or "", p["rdma"] or "", p["port"] or 0)
                      for p in self.ok("ListPnet")["pnet"])

    def ueid(self):
        return sorted(u["eid"] for u in self.ok("ListUeid")["ueid"])

    def policy_status(self):
        return self.ok("GetStatus")["status"]["policy"]

    def __enter__(self):
        return self

    def __exit__(self, kind, *unused):
        status = None
        if self.process:
            try:
                status = self.stop()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                status = "it did not stop"
        self.notify.close()
        if kind:
            sys.stderr.write(self.log())
        shutil.rmtree(self.dir)
        if not kind and status not in (0, None):
            raise AssertionError(f"smcd ended with {status}")


def run(tests):
    """Run functions as TAP tests; the docstring is the name."""
    failed = 0
    print(f"1..{len(tests)}")
    for i, test in enumerate(tests, 1):
        try:
            test()
            print(f"ok {i} - {test.__doc__}", flush=True)
        except SkipTest as e:
            print(f"ok {i} - {test.__doc__} # SKIP {e}", flush=True)
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {i} - {test.__doc__}: {type(e).__name__}: {e}", flush=True)
            import traceback
            traceback.print_exc()
    sys.exit(1 if failed else 0)


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {PATIENCE} s"
        time.sleep(0.01)


class SkipTest(Exception):
    """Raised with the reason by a test that cannot run here."""


def on_era(era, test):
    """The same test on another kernel."""
    def run_there():
        global ERA
        before, ERA = ERA, era
        try:
            test()
        finally:
            ERA = before
    run_there.__doc__ = f"{test.__doc__} ({era})"
    return run_there


def tests_of(module):
    """The functions named test_*, in the order in which they stand."""
    return [f for name, f in vars(module).items() if name.startswith("test_")]
