#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 400
# cpus: 2
# memory: 3G
"""Very many connections that are opened at once are all established over SMC-D: none is lost, stuck, or falls back, and the
TCP listen queue does not overflow. Fewer DMBs than they need, and the rest of them falls back; more, while they are
open, and the next one is SMC again."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, run, same, smcctl  # noqa: E402
from smcpair import pair, setup  # noqa: E402

COUNT = int(os.environ.get("MANY", "10000"))
FEW = 200
SECONDS = 200


def sysctl(name, value=None):
    path = "/proc/sys/net/" + name
    if value is not None:
        with open(path, "w") as file:
            file.write(str(value))
    with open(path) as file:
        return file.read().strip()


def netstat():
    with open("/proc/net/netstat") as file:
        lines = file.read().splitlines()
    names, values = next((a.split(), b.split()) for a, b in zip(lines, lines[1:]) if a.startswith("TcpExt:"))
    return {name: int(value) for name, value in zip(names[1:], values[1:]) if name.startswith("Listen")}


def counters():
    smcd = next(s for s in smcctl("stats", "show")["stats"] if s["tech"] == "smcd")
    fallbacks = smcctl("fallbacks", "show")
    return {"client": smcd["client_handshakes_v2"], "server": smcd["server_handshakes_v2"],
            "fallbacks": sum(fallbacks["totals"].values())}


def many(count, *options):
    process = subprocess.Popen(["smcmany", "--count", str(count), "--deadline", str(SECONDS), "--hold", *options],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, json.loads(process.stdout.readline())


def check_many():
    before, queue = counters(), netstat()
    process, result = many(COUNT)
    print(result, flush=True)
    after = counters()
    process.stdin.close()
    same(f"{COUNT} connections at once: established, accepted, a byte came back", [COUNT] * 3,
         [result[key] for key in ("connected", "accepted", "echoed")])
    same("none failed", [0, 0], [result["errors"], result["lost"]])
    same("each was SMC-D on both sides", {"client": COUNT, "server": COUNT, "fallbacks": 0},
         {key: after[key] - before[key] for key in after})
    same("the listen queue did not overflow", queue, netstat())
    same("smcmany ends well", 0, process.wait(SECONDS))


def check_limit():
    """After check_many() the link groups hold DMBs for reuse, so this runs before it."""
    sysctl("smc/lo_max_dmbs", FEW)
    before = counters()
    process, result = many(FEW, "--port", "41001")
    after = counters()
    same("all are established nevertheless", FEW, result["echoed"])
    smc = after["client"] - before["client"]
    check(f"about half of them is SMC, two DMBs each ({smc})", FEW // 4 <= smc <= FEW // 2)
    check("and the rest has fallen back", after["fallbacks"] > before["fallbacks"])
    sysctl("smc/lo_max_dmbs", 32768)
    with pair(port=41002):
        pass
    print("ok: with the limit raised the next one is SMC-D again", flush=True)
    process.stdin.close()
    process.wait(PATIENCE)


def check_refused(knob, value):
    try:
        sysctl(f"smc/{knob}", value)
    except OSError as error:
        print(f"ok: {knob} {value} is refused ({error.strerror})", flush=True)
    else:
        check(f"{knob} {value} is refused", False)


def check_bounds():
    for value in (1, 65537, -1, "x"):
        check_refused("lo_max_dmbs", value)
    for value in (2, 65536, 5000):
        same("lo_max_dmbs is what was set", str(value), sysctl("smc/lo_max_dmbs", value))
    for value in (0, 513):
        check_refused("hs_workers", value)
    same("hs_workers is still the default", "256", sysctl("smc/hs_workers"))
    run("unshare", "-n", "sh", "-c", "! test -e /proc/sys/net/smc/hs_workers -o -e /proc/sys/net/smc/lo_max_dmbs")
    print("ok: another namespace has neither", flush=True)


def main():
    setup(rmem=16384, wmem=16384)
    sysctl("core/somaxconn", 16384)
    sysctl("ipv4/tcp_max_syn_backlog", 16384)
    check_bounds()
    check_limit()
    check_many()


main()
