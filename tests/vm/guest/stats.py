#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12 6.12-smcd
# timeout: 300
# cpus: 2
"""Bytes and calls of known sizes appear exactly in `smcctl stats show --json` and in `smcctl metrics`, over SMC-R on the
stock kernel and over SMC-D with our module; promtool takes the exposition; a fallback is counted with its reason."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import KERNEL, RESULTS, ROOT, Smcd, check, fail, run, same, smcctl, wait_for  # noqa: E402

TECH = "smcr" if KERNEL == "6.12" else "smcd"
# size -> how many sends of it: each of the kernel's buckets, at its bound and one past it.
SIZES = {1: 7, 8192: 3, 8193: 2, 16384: 2, 16385: 1, 65536: 2, 65537: 1, 200000: 1}
POLICY = {"version": 1, "knobs": {"wmem": "1M", "rmem": "1M"}, "ueid": ["STATS-EID"]}
PROMTOOL_SECONDS = 120


def buckets(bounds):
    counts = [0] * len(bounds)
    for size, n in SIZES.items():
        counts[next(i for i, b in enumerate(bounds) if b is None or size <= b)] += n
    return counts


def transfer(port, *options):
    log = open(f"{RESULTS}/server.{port}.log", "w")
    server = subprocess.Popen(["smctraffic", "server", "--port", str(port), "--deadline", "60"], stdout=log, stderr=log)
    wait_for("the server listens", lambda: "listening" in open(log.name).read())
    sizes = ",".join(f"{size}x{n}" for size, n in SIZES.items())
    run("smctraffic", "client", "--port", str(port), "--sizes", sizes, "--exact", "--deadline", "60", *options)
    same("the server has received all", 0, server.wait(60))


def counters(tech):
    return next(s for s in smcctl("stats", "show")["stats"] if s["tech"] == tech)


def metric(text, name, **labels):
    for line in text.splitlines():
        m = re.match(r"(\w+)(?:{(.*)})? (\S+)$", line)
        found = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', m.group(2) or "")) if m else {}
        if m and m.group(1) == name and found == labels:
            return float(m.group(3))
    return fail(f"no sample {name}{labels}")


def check_traffic():
    before, sent, calls = counters(TECH), sum(s * n for s, n in SIZES.items()), sum(SIZES.values())
    transfer(40000)
    after, text = counters(TECH), run("smcctl", "metrics")
    for key, expected in (("tx_bytes", sent), ("rx_bytes", sent), ("tx_requests", calls),
                          ("client_handshakes_v2", 1), ("server_handshakes_v2", 1)):
        same(f"{TECH} {key}", expected, after[key] - before[key])
    bounds = [b["le"] for b in after["tx_size"]]
    expected = buckets(bounds)
    same(f"{TECH} send sizes, each bucket", expected,
         [a["count"] - b["count"] for a, b in zip(after["tx_size"], before["tx_size"])])
    same("metrics: bytes sent", after["tx_bytes"], metric(text, "smc_transmit_bytes_total", tech=TECH))
    same("metrics: bytes received", after["rx_bytes"], metric(text, "smc_receive_bytes_total", tech=TECH))
    for i, bound in enumerate(bounds):
        le = "+Inf" if bound is None else f"{bound}.0"
        same(f"metrics: sends of at most {le} bytes", sum(b["count"] for b in after["tx_size"][:i + 1]),
             metric(text, "smc_transmit_request_size_bytes_bucket", tech=TECH, le=le))
    same("the other technology has nothing", 0, counters("smcd" if TECH == "smcr" else "smcr")["tx_bytes"])


def check_fallback():
    transfer(40001, "--tcp")
    document = smcctl("fallbacks", "show")
    row = next((f for f in document["fallbacks"] if f["role"] == "server" and f["name"] == "PEERNOSMC"), None)
    check("the fallback is there with its reason", row and row["count"] == 1 and row["code"] == "0x03010000", document)
    same("and in the totals", 1, document["totals"]["server"])
    text = run("smcctl", "metrics")
    same("metrics: fallbacks", 1, metric(text, "smc_fallbacks_total", role="server"))
    same("metrics: its reason", 1, metric(text, "smc_fallback_reasons_total", role="server", code="0x03010000",
                                         reason="PEERNOSMC"))


def check_direct():
    """Without smcd the kernel is read directly, with the same numbers, and stderr says so."""
    done = subprocess.run(["smcctl", "--direct", "stats", "show", "--json"], stdout=subprocess.PIPE, text=True)
    same("direct mode", 0, done.returncode)
    same("has the same counters", smcctl("stats", "show")["stats"],
         __import__("json").loads(done.stdout)["stats"])


def check_promtool():
    done = subprocess.run(["promtool", "check", "metrics"], input=run("smcctl", "metrics"), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PROMTOOL_SECONDS)
    same(f"promtool check metrics ({done.stdout.strip()})", 0, done.returncode)


def main():
    subprocess.run(["bash", "-c", f'. {ROOT}/tests/vm/lib.sh; {"rxe_on_lo" if TECH == "smcr" else "load_smc"}'], check=True)
    with Smcd(POLICY):
        check_traffic()
        check_fallback()
        check_direct()
        check_promtool()


main()
