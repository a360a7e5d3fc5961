#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 1
"""smcctl and smcd by way of smc_tune: every knob agrees with its sysctl, strace sees no sysctl read or written, several knobs
are set all or not at all beside a reader, smcctl monitor and smcd's log have what sysctl -w changes, and nothing is lost in
silence."""
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, RESULTS, Smcd, check, fail, refused, run, same, smcctl, wait_for  # noqa: E402

SYSCTL = "/proc/sys/net/smc/"
ROUNDS = 100
BURST = 5000


def sysctl_read(name):
    with open(SYSCTL + name) as f:
        return int(f.read())


def sysctl_write(name, value):
    with open(SYSCTL + name, "w") as f:
        f.write(str(value))


def number_of(knob):
    """The number of a value that JSON has by its name."""
    return knob["choices"].index(knob["value"]) if knob["choices"] else int(knob["value"])


def bounds(knob):
    if knob["choices"]:
        return 0, len(knob["choices"]) - 1
    return (0, 1) if isinstance(knob["value"], bool) else (knob["min"], knob["max"])


def knobs(*names):
    return {k["name"]: k for k in smcctl("--direct", "show", *names)["knobs"] if k["supported"]}


def check_agreement():
    offered = knobs()
    same("the knobs that smc_tune offers are those that have a sysctl", set(os.listdir(SYSCTL)), set(offered))
    same("all of them come from smc_tune", {"smc_tune"}, {k["surface"] for k in offered.values()})
    check("and are in smcctl's own table", all(k["known"] for k in offered.values()), offered)
    for name, knob in offered.items():
        for number in bounds(knob):
            run("smcctl", "--direct", "set", f"{name}={number}")
            same(f"{name}={number} set by smc_tune is what sysctl shows", number, sysctl_read(name))
            other = bounds(knob)[0] + bounds(knob)[1] - number
            sysctl_write(name, other)
            same(f"{name}={other} set by sysctl is what smc_tune shows", other, number_of(knobs(name)[name]))
        same(f"{name} is back at the default that the kernel gives", None, run_default(name, knob))


def run_default(name, knob):
    default = knob["choices"].index(knob["default"]) if knob["choices"] else int(knob["default"])
    run("smcctl", "--direct", "set", f"{name}={default}")
    return None if sysctl_read(name) == default else sysctl_read(name)


def check_no_sysctl(*command):
    """The whole command with everything that it starts."""
    path = f"{RESULTS}/strace"
    run("strace", "-f", "-qq", "-o", path, "-e", "trace=openat,open,openat2", *command)
    with open(path) as f:
        opened = [line for line in f if "sys/net/smc" in line]
    same(f"{' '.join(command)} opens no sysctl", [], opened)


def check_smcd_no_sysctl():
    path = f"{RESULTS}/strace.smcd"
    policy = {"version": 1, "knobs": {"wmem": "256K", "rmem": "256K"}}
    with Smcd(policy) as d:
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", path, "-e", "trace=openat,open,openat2,sendto", "-p",
                                   str(d.process.pid)], stderr=subprocess.PIPE, text=True)
        run("smcctl", "show")
        run("smcctl", "set", "wmem=512K", "rmem=512K", "cork_ceiling=2s")
        run("smcctl", "metrics")
        run("smcctl", "knobs", "reset", "wmem", "rmem", "cork_ceiling")
        tracer.terminate()
        tracer.wait(60)
        with open(path) as f:
            lines = f.readlines()
        check("strace saw smcd speak to the kernel", any("sendto" in line for line in lines), len(lines))
        same("smcd opens no sysctl", [], [line for line in lines if "sys/net/smc" in line])
        same("reset: the policy's value", 262144, sysctl_read("wmem"))
    sysctl_write("wmem", 65536)
    sysctl_write("rmem", 65536)


class Reader(threading.Thread):
    """One dump after another; the three values of a dump have to belong together."""

    def __init__(self):
        super().__init__()
        self.mixed, self.seen, self.ended = [], 0, False

    def run(self):
        while not self.ended:
            values = [number_of(k) for k in knobs("wmem", "rmem", "autocorking_size").values()]
            self.seen += 1
            if len(set(values)) != 1:
                self.mixed.append(values)


def check_atomic():
    for name in ("wmem", "rmem", "autocorking_size"):
        sysctl_write(name, 65536)
    reader = Reader()
    reader.start()
    for i in range(ROUNDS):
        value = 65536 + i % 7 * 16384
        run("smcctl", "--direct", "set", f"wmem={value}", f"rmem={value}", f"autocorking_size={value}")
        if i % 10 == 0:  # within the table's range, and not within this kernel's
            says = refused("smcctl", "--direct", "set", "wmem=1M", "rmem=1M", "smcr_testlink_time=9000000")
            check("the kernel's own words are shown", "smcr_testlink_time: not in 0.." in says, says)
            same("a refusal changes nothing", [value] * 3, [sysctl_read(n) for n in ("wmem", "rmem", "autocorking_size")])
    reader.ended = True
    reader.join()
    same(f"{reader.seen} dumps beside {ROUNDS} sets of three knobs show no mixture", [], reader.mixed)


class Monitor:
    """smcctl monitor --json, and its documents."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(["smcctl", "monitor", "--json", *arguments], stdout=subprocess.PIPE)
        self.buffer = b""
        # It listens when a change is shown; then what was made too early is behind it.
        for i in range(PATIENCE):
            sysctl_write("tx_nocache_min", i + 1)
            if self.next(1):
                return
        fail("smcctl monitor shows nothing")

    def next(self, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            if not select.select([self.process.stdout], [], [], max(end - time.monotonic(), 0))[0]:
                return None
            self.buffer += os.read(self.process.stdout.fileno(), 1 << 16)
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def until(self, name, value):
        """All documents up to the one by which the knob has this value."""
        documents = []
        while True:
            documents.append(self.next() or fail(f"no event of {name}={value}: {documents[-3:]}"))
            if any((row["name"], row["value"]) == (name, value) for row in documents[-1]["rows"]):
                return documents


def check_monitor():
    monitor, delays, processes = Monitor("knob"), [], []
    for i in range(20):
        start = time.monotonic()
        subprocess.run(["sysctl", "-qw", f"net.smc.wmem={131072 + i * 4096}"], check=True)
        row = monitor.until("wmem", 131072 + i * 4096)[-1]["rows"][0]
        processes.append(time.monotonic() - start)
        same("the source is told", "sysctl", row["source"])
        start = time.monotonic()
        sysctl_write("rmem", 131072 + i * 4096)
        monitor.until("rmem", 131072 + i * 4096)
        delays.append(time.monotonic() - start)
    print(f"   from the write to the line: median {sorted(delays)[10] * 1000:.0f} ms, most {max(delays) * 1000:.0f} ms; "
          f"with the process sysctl, from its start: median {sorted(processes)[10] * 1000:.0f} ms")
    check("within 50 ms in the median", sorted(delays)[10] < 0.05 * PATIENCE / 60, delays)
    # faster than a pipe that nobody reads takes it: each change is shown, or it is said that some are not
    for i in range(BURST):
        sysctl_write("rmem", 65536 + i % 500 * 4096)
    sysctl_write("rmem", 7654321)
    documents = [d for d in monitor.until("rmem", 7654321) if d["rows"]]
    numbers = [d["rows"][0]["generation"] for d in documents]
    gaps = [b for a, b, d in zip(numbers, numbers[1:], documents[1:]) if b != a + 1 and not d["lost"]]
    same(f"of {BURST} changes in a burst {len(documents)} are shown, and no gap is silent ({sum(d['lost'] for d in documents)} told)",
         [], gaps)
    monitor.process.send_signal(signal.SIGINT)
    same("Ctrl-C ends it with 0", 0, monitor.process.wait(PATIENCE))


def check_smcd_sees():
    with Smcd({"version": 1, "knobs": {"wmem": "256K"}}) as d:
        run("sysctl", "-qw", "net.smc.wmem=131072")
        wait_for("the change in smcd's log", lambda: "knob wmem: 256K -> 128K (sysctl) [changed by somebody else]" in d.log())
        run("smcctl", "set", "wmem=512K")
        run("smcctl", "pnet", "add", "NETA", "interface=lo")
        run("smcctl", "pnet", "delete", "NETA", "interface=lo")
        run("sysctl", "-qw", "net.smc.wmem=65536")
        wait_for("the next one", lambda: "knob wmem: 512K -> 64K (sysctl) [changed by somebody else]" in d.log())
        same("smcd's own changes are not somebody else's", 2, d.log().count("[changed by somebody else]"))


def check_pnet():
    """One entry goes and its neighbours of the same ID stay all the while; the whole table is replaced at a time."""
    count = 1000
    with Smcd({"version": 1}) as d:
        for interface in ("lo", "eth5", "eth6"):
            run("smcctl", "pnet", "add", "NETA", f"interface={interface}")
        monitor = Monitor("knob", "pnet")
        run("smcctl", "pnet", "delete", "NETA", "interface=eth5")
        same("the one entry is gone", ["eth6", "lo"], sorted(p["interface"] for p in smcctl("pnet", "show")["pnet"]))
        row = monitor.next()["rows"][0]
        same("by one event, which is a deletion", ("delete", "eth5"), (row["action"], row["interface"]))
        refused("smcctl", "pnet", "delete", "NETB", "interface=eth6")
        d.write({"version": 1, "pnet": [{"id": "NETX", "interface": f"dummy{i}"} for i in range(count)]})
        start = time.monotonic()
        run("smcctl", "pnet", "replace", "/etc/smcd/policy.json")
        print(f"   {count} entries replaced in {(time.monotonic() - start) * 1000:.0f} ms, smcctl and smcd included")
        same("all of them are there, and the old ones gone", {f"dummy{i}" for i in range(count)},
             {p["interface"] for p in smcctl("pnet", "show")["pnet"]})
        row = monitor.next()["rows"][0]
        same("it is one event", ("replace", count), (row["action"], row["entries"]))
        run("smcctl", "pnet", "flush")
        monitor.process.send_signal(signal.SIGTERM)
        same("TERM ends the monitor with 0", 0, monitor.process.wait(PATIENCE))


def check_container():
    """Root of a user and network namespace of its own, who is nobody outside: its knobs are its own, the host's are not."""
    sysctl_write("wmem", 98304)
    inside = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "unshare", "-U", "-r", "-n"]
    if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL).returncode:
        fail("no user namespaces in this guest")
    script = ("smcctl --direct set wmem=128K rmem=256K && smcctl --direct show -j; smcctl --direct set hs_workers=3; echo $?; "
              "smcctl --direct set wmem=1M smcr_buf_type=1; echo $?; smcctl --direct show wmem -j")
    done = subprocess.run([*inside, "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    decoder, text, documents = json.JSONDecoder(), done.stdout[done.stdout.index("{"):], []
    while text:
        document, end = decoder.raw_decode(text)
        documents.append(document)
        text = text[end:].lstrip()
    check("what it prints can be read", len(documents) == 4, done)
    own = {k["name"]: k for k in documents[0]["knobs"]}
    same("it sets knobs of its own", (131072, 262144), (own["wmem"]["value"], own["rmem"]["value"]))
    check("those of the host are not there", not any(own[name]["supported"] for name in ("hs_workers", "lo_max_dmbs")), own)
    same("and cannot be set", 1, documents[1])
    check("which is said", "belongs to the host" in done.stderr, done.stderr)
    same("nor what follows the RDMA devices, which takes the other along", (77, 131072),
         (documents[2], documents[3]["knobs"][0]["value"]))
    same("the host's are as they were", 98304, sysctl_read("wmem"))
    sysctl_write("wmem", 65536)


def check_lists():
    for noun in ("pools", "cork", "handshakes"):
        document = smcctl("--direct", noun, "show")
        print(f"   {noun}: {json.dumps(document)[:300]}")
        run("smcctl", "--direct", noun, "show", "--wide")
    same("a row of handshakes for each role", ["client", "server"], [r["role"] for r in smcctl("--direct", "handshakes", "show")["handshakes"]])
    check("metrics have them", "smc_handshakes_queued{role=\"server\"} 0" in run("smcctl", "--direct", "metrics"))


def main():
    if not os.path.isdir(SYSCTL):
        subprocess.run(["modprobe", "smc"], check=True)
    same("status tells of smc_tune", True, smcctl("--direct", "status")["status"]["kernel"]["tune"])
    check_agreement()
    check_no_sysctl("smcctl", "--direct", "show")
    check_no_sysctl("smcctl", "--direct", "status")
    check_no_sysctl("smcctl", "--direct", "set", "wmem=128K", "rmem=128K")
    check_no_sysctl("smcctl", "--direct", "metrics")
    check_smcd_no_sysctl()
    check_atomic()
    check_monitor()
    check_smcd_sees()
    check_pnet()
    check_container()
    check_lists()


main()
