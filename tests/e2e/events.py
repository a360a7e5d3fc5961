#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of smc_tune: what smcd writes to its log at once, and smcctl monitor."""
import json
import os
import select
import signal
import subprocess
import sys
import time

from smcdtest import PATIENCE, Daemon, run, tests_of, wait_until

POLICY = {"version": 1, "knobs": {"wmem": "256K"}, "pnet": [{"id": "NETA", "interface": "eth0"}]}
ERA = "era 6.12-smcd\n"
PROGRAM = "smcctl-fake"


def wait_log(d, text):
    wait_until(lambda: text in d.log(), f"{text!r} in the log of smcd: {d.log()}")


def test_others():
    """What somebody else changes is in smcd's log at once, with the value before and the value now; its own is there once"""
    with Daemon(POLICY, fake=ERA) as d:
        d.kernel("sysctl wmem 131072\npnet NETB eth=eth1\nevent link change=link-up group=0x100 link=1 device=rxe0 port=1")
        wait_log(d, "knob wmem: 256K -> 128K (sysctl) [changed by somebody else]")
        wait_log(d, "pnet add: NETB interface eth1 [changed by somebody else]")
        wait_log(d, "link-up: smcr link group 0x00000100 link 1 on rxe0 port 1, none")
        d.ok("SetKnobs", {"values": {"rmem": "1M", "wmem": "1M"}})
        d.ok("AddPnet", {"id": "NETC", "interface": "eth2"})
        d.ok("DeletePnet", {"id": "NETC"})
        d.ok("Reload")
        d.ok("FlushPnet")
        d.kernel("sysctl rmem 65536")
        wait_log(d, "knob rmem: 1M -> 64K (sysctl) [changed by somebody else]")
        log = d.log()
        assert log.count("somebody else") == 3, log
        # also by smcctl without smcd, which is somebody else
        subprocess.run([PROGRAM, "--direct", "set", "rmem=2M"], env=d.environment(), check=True, stdout=subprocess.DEVNULL)
        wait_log(d, "knob rmem: 64K -> 2M (knob-set) [changed by somebody else]")


def test_many_of_its_own():
    """A policy with more pnet entries than events have room: none of them is somebody else's, and none is lost"""
    policy = {"version": 1, "pnet": [{"id": "NETA", "interface": f"eth{i}"} for i in range(200)]}
    with Daemon({"version": 1}, fake=ERA) as d:
        d.write_policy(policy)
        d.ok("Reload")
        d.write_policy({"version": 1})
        d.ok("Reload")
        d.kernel("pnet NETB eth=eth1")
        wait_log(d, "pnet add: NETB interface eth1 [changed by somebody else]")
        assert d.log().count("somebody else") == 1 and "lost" not in d.log(), d.log()


def test_lost():
    """Events that are lost are said to be, and what has another value is read again"""
    with Daemon(POLICY, fake=ERA) as d:
        d.kernel("sysctl rmem 131072\n" + "".join(f"sysctl wmem {65536 + 4096 * i}\n" for i in range(200)))
        wait_log(d, "events of the kernel were lost: the knobs were read again, 1 of them have another value")
        wait_log(d, "knob rmem: 64K -> 128K [found when read again]")
        assert "knob wmem: 856K -> 860K (sysctl) [changed by somebody else]" in d.log()
        d.kernel("sysctl rmem 262144")
        wait_log(d, "knob rmem: 128K -> 256K (sysctl) [changed by somebody else]")


def test_fallbacks():
    """The same fallback is told of once in a minute, others of their own"""
    with Daemon(POLICY, fake=ERA) as d:
        d.kernel("event fallback role=server reason=0x03010000 local=127.0.0.1 lport=80 remote=127.0.0.1 rport=4000\n" * 50)
        d.kernel("event fallback role=client reason=0x03030000 local=127.0.0.1 lport=4001 remote=127.0.0.1 rport=80")
        wait_log(d, "fallback as client: 127.0.0.1 port 4001, peer 127.0.0.1 port 80: 0x03030000 NOSMCDEV")
        assert d.log().count("fallback as server") == 1, d.log()


def test_module_comes_and_goes():
    """Where there is no smc_tune nothing is listened to, and a reload finds it"""
    with Daemon(POLICY, fake="era 6.12\n") as d:
        d.kernel("sysctl wmem 131072")
        d.ok("ListKnobs")
        assert "somebody" not in d.log() and "listen" not in d.log(), d.log()
        d.kernel(ERA)
        d.ok("Reload")
        d.kernel("sysctl wmem 131072")
        wait_log(d, "knob wmem: 256K -> 128K (sysctl)")


# ---- smcctl monitor ----

class Monitor:
    def __init__(self, d, *arguments):
        self.d = d
        self.process = subprocess.Popen([PROGRAM, "monitor", *arguments], env=d.environment(), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.buffer = b""
        # It listens once a change is shown: those before it are nobody's.
        for i in range(1000):
            d.kernel(f"sysctl tx_nocache_min {i + 1}")
            if "knob" not in arguments and arguments and not arguments[0].startswith("-"):
                time.sleep(1)
                return
            if self.line(0.3):
                break
        while self.line(0.3):
            pass

    def line(self, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            if not select.select([self.process.stdout], [], [], max(end - time.monotonic(), 0))[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 4096)
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err.decode()


def test_monitor():
    """monitor shows each event in a line, without smcd; Ctrl-C and TERM end it with 0"""
    for how in (signal.SIGINT, signal.SIGTERM):
        with Daemon(POLICY, fake=ERA, start=False) as d:
            m = Monitor(d)
            d.kernel("sysctl wmem 131072")
            assert m.line().endswith(" knob wmem: 64K -> 128K (sysctl)")
            d.kernel("pnet NETA eth=eth0\nevent link change=group-up tech=smcd group=0x101")
            assert m.line().endswith(" pnet add: NETA interface eth0")
            assert m.line().endswith(" group-up: smcd link group 0x00000101")
            assert m.end(how) == (0, b"", ""), how


def test_monitor_json():
    """With --json each line is a document, with values as knobs show has them"""
    with Daemon(POLICY, fake=ERA, start=False) as d:
        m = Monitor(d, "--json")
        d.kernel("sysctl smcr_buf_type 2")
        e = json.loads(m.line())
        assert (e["schema"], e["netns"], e["event"], e["lost"]) == (1, "", "knob", False), e
        assert abs(e["time"] - time.time()) < PATIENCE, e
        row = e["rows"][0]
        assert (row["name"], row["old_value"], row["value"], row["source"]) == ("smcr_buf_type", "physical", "mixed", "sysctl"), e
        d.kernel("event fallback role=client reason=0x03030000 local=::1 lport=4001 remote=::1 rport=80 suppressed=3")
        row = json.loads(m.line())["rows"][0]
        assert (row["reason"], row["reason_name"], row["local_addr"], row["suppressed"]) == ("0x03030000", "NOSMCDEV", "::1", 3), row
        d.kernel("".join(f"sysctl wmem {65536 + 4096 * i}\n" for i in range(1, 200)))
        events = [json.loads(m.line()) for _ in range(65)]
        assert events[0]["lost"] and events[0]["rows"][0]["source"] == "sysctl", events[0]
        assert not any(e["lost"] for e in events[1:64]) and events[63]["rows"][0]["value"] == 65536 + 4096 * 199, events[63]
        assert events[64]["lost"] and events[64]["rows"] == [], events[64]
        assert m.end()[0] == 0


def test_monitor_kinds():
    """With kinds only those; what is no kind is a usage error"""
    with Daemon(POLICY, fake=ERA, start=False) as d:
        m = Monitor(d, "pnet", "link")
        d.kernel("sysctl wmem 131072\npnet NETA eth=eth0")
        assert m.line().endswith(" pnet add: NETA interface eth0")
        assert m.end()[0] == 0
        done = subprocess.run([PROGRAM, "monitor", "knobs"], env=d.environment(), capture_output=True, text=True)
        assert done.returncode == 2 and "there is no kind of event 'knobs': knob, pnet, link, fallback" in done.stderr, done


def test_monitor_reader_gone():
    """It ends when nobody reads any more, also without an event"""
    with Daemon(POLICY, fake=ERA, start=False) as d:
        m = Monitor(d)
        m.process.stdout.close()
        assert m.process.wait(PATIENCE) == 0
        assert m.process.stderr.read() == b""
        m.process.stderr.close()


def test_monitor_reader_waits():
    """A reader that does not read does not keep it from ending"""
    with Daemon(POLICY, fake=ERA, start=False) as d:
        m = Monitor(d, "--json")
        for i in range(40):
            d.kernel("".join(f"sysctl wmem {65536 + 4096 * (50 * i + j)}\n" for j in range(50)))
            time.sleep(0.02)
        m.process.send_signal(signal.SIGINT)
        assert m.process.wait(PATIENCE) == 0


def test_monitor_without():
    """On a kernel without smc_tune it says what is needed"""
    for era in ("6.1", "6.12"):
        with Daemon(POLICY, fake=f"era {era} \n", start=False) as d:
            done = subprocess.run([PROGRAM, "monitor"], env=d.environment(), capture_output=True, text=True)
            assert done.returncode == 1, done
            assert "listen for events: this kernel does not have the generic netlink family smc_tune" in done.stderr, done


if __name__ == "__main__":
    run(tests_of(sys.modules[__name__]))
