#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""smcctl shell, from a pipe and from a terminal."""
import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from smcdtest import PATIENCE, run, tests_of  # pylint: disable=wrong-import-position

PROMPT = b"smcctl> "


class Fake:
    def __init__(self):
        self.tmp = tempfile.TemporaryDirectory(prefix="smcctl-test-")
        self.dir = self.tmp.name
        self.script = os.path.join(self.dir, "fake")
        with open(self.script, "w") as f:
            f.write("era 6.12\nnetns blue\nsysctl wmem 131072\n")
        self.env = {**os.environ, "SMCD_FAKE": self.script, "XDG_STATE_HOME": os.path.join(self.dir, "state"),
                    "TERM": "dumb", "INPUTRC": "/dev/null"}
        self.env.pop("NO_COLOR", None)
        self.command = ["smcctl-fake", "--socket", os.path.join(self.dir, "socket")]

    def pipe(self, lines, *args):
        return subprocess.run([*self.command, *args, "shell"], env=self.env, input=lines, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def test_pipe():
    """lines from a pipe: no prompt, one notice, comments and quotes"""
    r = Fake().pipe("# a comment\n\nshow wmem\n  'show'  \"rmem\" # more\nknobs show wmem")
    assert r.returncode == 0 and r.stderr.count("read from the kernel directly") == 1, r
    assert r.stdout.count("wmem ") == 2 and r.stdout.count("rmem ") == 1 and "smcctl>" not in r.stdout, r


def test_errors_go_on():
    """an error does not end it; the exit code is that of the last command that failed"""
    fake = Fake()
    r = fake.pipe("nonsense\nset wmem=1\nshow wmem\n")
    assert r.returncode == 1 and "wmem " in r.stdout, r
    assert fake.pipe("set wmem=1\nnonsense\nshow wmem\n").returncode == 2
    assert fake.pipe("set wmem=1M\nversion\n").returncode == 4
    assert fake.pipe("show 'wmem\nversion\n").returncode == 2
    assert fake.pipe("version\n").returncode == 0


def test_quit():
    """quit and exit leave; what follows is not run"""
    for word in ("quit", "exit"):
        r = Fake().pipe(f"version\n{word}\nnonsense\n")
        assert r.returncode == 0 and r.stdout.count("smcctl ") == 1, r


def test_options_hold():
    """options of the shell hold for every line"""
    r = Fake().pipe("show wmem\nshow rmem\n", "--json", "--netns", "blue", "--direct")
    decoder, text, documents = json.JSONDecoder(), r.stdout, []
    while text.strip():
        document, end = decoder.raw_decode(text.lstrip())
        documents.append(document)
        text = text.lstrip()[end:]
    assert [d["netns"] for d in documents] == ["blue", "blue"] and r.stderr == "", r
    assert documents[0]["knobs"][0]["value"] == 131072, r


def test_odd_input():
    """a shell in the shell, NULs, endless lines and words are refused and do no harm"""
    fake = Fake()
    assert fake.pipe("shell\nversion\n").returncode == 2
    for line in ("show\0wmem", "x" * 200000, "a " * 5000, "\x1b[31m", "\xff", "'", "\\"):
        r = fake.pipe(line + "\nversion\n")
        assert r.returncode == 2 and "smcctl " in r.stdout and "\x1b" not in r.stderr, (line[:20], r.returncode, r.stderr)


class Terminal:
    """The shell on a terminal of its own."""

    def __init__(self, fake, *args):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(fake.command[0], [*fake.command, *args, "shell"], fake.env)
        self.seen = b""
        self.wait(PROMPT)

    def wait(self, what):
        """Read until it comes; returns what was before it."""
        end = time.monotonic() + PATIENCE
        while what not in self.seen:
            assert time.monotonic() < end, f"no {what!r} in {self.seen!r}"
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    data = b""
                assert data, f"it ended without {what!r}: {self.seen!r}"
                self.seen += data
        before, self.seen = self.seen.split(what, 1)
        return before

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """Its exit code. One that does not leave by itself is killed."""
        end, pid = time.monotonic() + PATIENCE, 0
        while not pid and time.monotonic() < end:
            time.sleep(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        if not pid:
            os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def test_terminal():
    """prompt, completion, Ctrl-C, Ctrl-D and history"""
    fake = Fake()
    t = Terminal(fake, "--direct")
    t.type("kno\tsh\twm\t\r")
    out = t.wait(PROMPT)
    assert b"wmem" in out and b"64K" in out, out
    assert b"\x1b[1mNAME" in out, out  # the head is bold on a terminal
    t.type("set smcr_buf\tvir\t")
    t.wait(b"smcr_buf_type=virtual")
    t.type("\x03")
    t.wait(PROMPT)
    t.type("explain NOSMCDE\t\r")
    assert b"meaning" in t.wait(PROMPT)
    t.type("sockets show mode=\t\t")
    t.wait(b"mode=smcd")
    t.wait(PROMPT + b"sockets show mode=")  # the line again, below what was offered
    t.type("\x03")
    t.wait(PROMPT)
    t.type("\x04")
    assert t.end() == 0
    history = os.path.join(fake.dir, "state", "smcctl_history")
    with open(history) as f:
        lines = f.read().splitlines()
    assert lines == ["knobs show wmem ", "explain NOSMCDEV "], lines
    assert os.stat(history).st_mode & 0o077 == 0
    t = Terminal(fake, "--no-color", "--direct")
    t.type("\x10\x10\r")
    t.wait(b"\r\nNAME  VALUE")  # the line of two commands ago, and its head is not bold
    t.wait(PROMPT)
    t.type("quit\r")
    assert t.end() == 0


if __name__ == "__main__":
    run(tests_of(sys.modules[__name__]))
