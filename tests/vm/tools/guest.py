# SPDX-License-Identifier: GPL-2.0-or-later
"""What guest tests written in python share. The programs under test come from PATH; checks print `ok: what`."""
import json
import os
import socket
import subprocess
import sys
import time

ROOT, RESULTS, KERNEL = os.environ["ROOT"], os.environ["RESULTS"], os.environ["KERNEL"]
SMCD_SOCKET = "/run/smcd/org.smcd.Manager"
PATIENCE = 60 * int(os.environ.get("SLOWNESS", "1"))  # seconds for anything to happen; the guest is slow


def fail(what):
    print(f"FAIL: {what}", flush=True)
    sys.exit(1)


def check(what, condition, detail=""):
    if not condition:
        fail(f"{what}{': ' + str(detail) if detail != '' else ''}")
    print(f"ok: {what}", flush=True)


def same(what, expected, found):
    check(what, expected == found, f"expected {expected!r}, found {found!r}")


def run(*command, status=0, **kwargs):
    """Standard output; fails the test on any other exit status."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, **kwargs)
    if status is not None and done.returncode != status:
        fail(f"{' '.join(command)}: exit status {done.returncode}, not {status}: {done.stdout}{done.stderr}")
    return done.stdout


def refused(*command, status=1):
    """What a command that has to fail with this exit status says on standard error."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    if done.returncode != status:
        fail(f"{' '.join(command)}: exit status {done.returncode}, not {status}: {done.stdout}{done.stderr}")
    return done.stderr


def smcctl(*arguments, **kwargs):
    """The JSON of a command."""
    return json.loads(run("smcctl", *arguments, "--json", **kwargs))


def comes_true(condition, seconds, pause=0.1):
    """Is it true at once, or within so many seconds?"""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def wait_for(what, condition):
    if not comes_true(condition, PATIENCE):
        fail(f"not within {PATIENCE} s: {what}")


def varlink(method, **parameters):
    """Call smcd without any tool of ours: the parameters of the reply and, of a refusal, the error's name."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.settimeout(PATIENCE)
        s.connect(SMCD_SOCKET)
        s.sendall(json.dumps({"method": f"org.smcd.Manager.{method}", "parameters": parameters}).encode() + b"\0")
        reply = b""
        while not reply.endswith(b"\0"):
            data = s.recv(1 << 16)
            if not data:
                fail(f"{method}: smcd closed the connection after {reply!r}")
            reply += data
    document = json.loads(reply[:-1])
    return document.get("parameters", {}), document.get("error")


class Smcd:
    """The daemon as root without systemd: with Smcd(policy, options): ..."""

    def __init__(self, policy=None, options=()):
        self.options = options
        os.makedirs("/etc/smcd/policy.d", exist_ok=True)
        self.write(policy if policy is not None else {"version": 1})
        self.process = None

    @staticmethod
    def write(policy):
        with open("/etc/smcd/policy.json", "w") as f:
            f.write(policy if isinstance(policy, str) else json.dumps(policy))

    def start(self):
        with open(f"{RESULTS}/smcd.log", "ab") as log:
            self.process = subprocess.Popen([f"{ROOT}/build/bin/smcd", *self.options], stdout=log, stderr=log)
        wait_for("smcd answers", self.answers)
        return self

    def answers(self):
        if self.process.poll() is not None:
            fail(f"smcd ended with {self.process.returncode}: {self.log()}")
        return subprocess.run(["smcctl", "status"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).stderr == b""

    @staticmethod
    def log():
        with open(f"{RESULTS}/smcd.log") as f:
            return f.read()

    def stop(self):
        self.process.terminate()
        same("smcd ends with 0", 0, self.process.wait(PATIENCE))

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *unused):
        if self.process.poll() is None:
            self.process.terminate()
            status = self.process.wait(PATIENCE)
            if kind is None:
                same("smcd ends with 0", 0, status)
