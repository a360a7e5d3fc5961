#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 3600
# cpus: 4
# memory: 3G
"""Stress of SMC-D over the loopback device and SMC-R over soft-RoCE in turn, for STRESS_SECONDS (default 600) in all.

Not both at once: only a PNET ID keeps connections over lo from the loopback device, and then it is nobody's, for SMC-Dv2
does not heed the PNET IDs that users give to net devices.

In the initial namespace connections are SMC-R, in the namespace blue SMC-D; a server and a client of smcstress kill their
own processes. Beside them, all in parallel: the RDMA device is deleted and made again, links go down,
UEIDs, PNET IDs, knobs and handshake limitation change, everything is dumped, smc_diag goes and comes, unloading smc is
tried, and a third namespace is made, used and deleted with its connections. All stops for each round's end: then no
socket may be left and the modules have to go. Prints counts as it goes and the sums in the end.

STRESS_ONLY=smcd or smcr leaves the other out, STRESS_CALM names disturbances to leave out, STRESS_SEED repeats the
choices, STRESS_GENTLE=1 has connections only that must not fail.
"""

import ctypes
import glob
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
import traceback

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
import smcdiag  # noqa: E402
import ueid  # noqa: E402
from guest import PATIENCE, RESULTS, check, comes_true, fail, run  # noqa: E402
from netlink import Generic  # noqa: E402
from smcpair import shell  # noqa: E402

SECONDS = int(os.environ.get("STRESS_SECONDS", "600"))
SEED = int(os.environ.get("STRESS_SEED", "0")) or int(time.time())
ONLY = os.environ.get("STRESS_ONLY", "")
CALM = os.environ.get("STRESS_CALM", "").split()
GENTLE = bool(os.environ.get("STRESS_GENTLE"))
STUCK = PATIENCE  # seconds without progress of a connection
PROCS = 4
AF_SMC = 43
CLONE_NEWNET = 0x40000000
UEID = "SMC-STRESS-UEID"
# Dumps of the generic netlink family: system, link groups, links, devices, statistics, fallbacks, UEIDs, SEID, limitation.
DUMPS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16]
KNOBS = {"wmem": [16384, 65536, 262144], "rmem": [16384, 65536, 262144], "autocorking_size": [0, 65536],
         "smcr_buf_type": [0, 1, 2], "smcr_testlink_time": [0, 1, 30], "smcr_max_conns_per_lgr": [16, 255],
         "smcr_max_links_per_lgr": [1, 2]}
ALL_NAMESPACES = {name: tech for name, tech in {"init": "smcr", "blue": "smcd"}.items() if ONLY in ("", tech)}
NAMESPACES = {}  # of this round
ROUND = min(SECONDS // len(ALL_NAMESPACES), 150)  # seconds between two unloadings
stop = threading.Event()
totals = {}
trouble = []


def say(text):
    print(f"[{time.monotonic() - BEGAN:6.0f}] {text}", flush=True)


def add(name, value):
    totals[name] = totals.get(name, 0) + value


def stacks(what):
    """Where in the kernel every task that is inside SMC or its devices waits, into stacks.log; for what hangs."""
    with open(f"{RESULTS}/stacks.log", "a", encoding="utf-8") as log:
        print(f"[{time.monotonic() - BEGAN:6.0f}] {what}", file=log)
        for path in glob.glob("/proc/[0-9]*/task/[0-9]*"):
            try:
                with open(f"{path}/comm", encoding="utf-8") as comm, open(f"{path}/stack", encoding="utf-8") as stack:
                    text = stack.read()
                    if any(word in text for word in ("smc", "ib_", "rxe", "rdma")):
                        print(path, comm.read().strip(), text, sep="\n", file=log)
            except OSError:
                pass  # it ended


def quietly(*command, seconds=PATIENCE):
    """Run what may fail, because another disturbance was faster; but it has to end."""
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds,
                              check=False).returncode == 0
    except subprocess.TimeoutExpired:
        trouble.append(f"no end within {seconds} s: {' '.join(command)}")
        stacks(trouble[-1])
        return False


def within(name):
    """This thread in a namespace from now on."""
    if name == "init":
        return
    with open(f"/run/netns/{name}", "rb") as file:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")


def inside(name, *command):
    return command if name == "init" else ("ip", "netns", "exec", name, *command)


# --- disturbances: each is called again and again in a thread of its own, in the namespace that it is given

def rdma_device(rng, _name):
    """The device that SMC-R runs over goes and comes."""
    time.sleep(rng.uniform(6, 20))
    quietly("rdma", "link", "del", "rxe_lo")
    time.sleep(rng.uniform(0, 2))
    quietly("rdma", "link", "add", "rxe_lo", "type", "rxe", "netdev", "lo")
    add("rdma devices deleted", 1)


def link_down(rng, _name):
    time.sleep(rng.uniform(5, 25))
    quietly("ip", "link", "set", "lo", "down")
    time.sleep(rng.uniform(0, 1))
    quietly("ip", "link", "set", "lo", "up")
    add("links down", 1)


def ueids(rng, _name):
    time.sleep(rng.uniform(1, 8))
    for word in rng.choice([("del", "add"), ("flush", "add"), ("other", "unother")]):
        try:
            if word == "flush":
                ueid.COMMANDS["flush"]()
            else:
                ueid.COMMANDS[word.removeprefix("un").replace("other", "del" if word[0] == "u" else "add")](
                    "OTHER" if "other" in word else UEID)
        except OSError:
            pass
        time.sleep(rng.uniform(0, 0.5))
    add("UEID changes", 1)


def switches(rng, _name):
    time.sleep(rng.uniform(1, 10))
    for word in ("on", "off"):
        for table in ("hs", "seid"):
            try:
                ueid.COMMANDS[table](word)
            except OSError:
                pass
        time.sleep(rng.uniform(0, 0.3))


def knobs(rng, _name):
    time.sleep(rng.uniform(0.2, 3))
    knob = rng.choice(list(KNOBS))
    try:
        with open(f"/proc/thread-self/root/proc/sys/net/smc/{knob}", "w", encoding="ascii") as file:
            file.write(str(rng.choice(KNOBS[knob])))
    except OSError:
        pass


def pnet_ids(rng, _name):
    time.sleep(rng.uniform(1, 6))
    for action, *words in (("pnet-add", "OTHER", "dummy9"), ("pnet-add", "THIRD", "-", "rxe_other", "1"), ("pnet-del", "OTHER"),
                           ("pnet-del", "THIRD")):
        try:
            ueid.COMMANDS[action](*words)
        except OSError:
            pass


def readers(rng, _name):
    time.sleep(rng.uniform(0, 0.5))
    smcdiag.dump()
    for command in rng.sample(DUMPS, 5):
        Generic("SMC_GEN_NETLINK").command(command, dump=True)
    Generic("SMC_PNETID").command(1, dump=True)
    add("rounds of dumps", 1)


def modules(rng, _name):
    time.sleep(rng.uniform(3, 15))
    with socket.socket(AF_SMC, socket.SOCK_STREAM):
        quietly("rmmod", "smc_diag")
        if quietly("rmmod", "smc"):
            trouble.append("smc could be unloaded while it was in use")
    quietly("modprobe", "smc_diag")
    add("smc_diag unloaded", 1)


def namespaces(rng, _name):
    """A namespace with connections that goes away under them."""
    time.sleep(rng.uniform(0, 4))
    quietly("ip", "netns", "add", "red")
    quietly(*inside("red", "ip", "link", "set", "lo", "up"))
    quietly(*inside("red", "ueid.py", "add", UEID))
    ends = [subprocess.Popen(inside("red", *stress(role, 5, rng)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             start_new_session=True) for role in ("server", "client")]
    time.sleep(rng.uniform(1, 6))
    quietly("ip", "netns", "del", "red")
    for end in ends:
        end.kill()  # its processes die with it
        _, errors = end.communicate(timeout=PATIENCE)
        found = [line for line in errors.decode(errors="replace").splitlines() if "FAULT" in line]
        trouble.extend(found)
    add("namespaces deleted", 1)


# What -> its namespaces
DISTURBANCES = {rdma_device: ["init"], link_down: ["init", "blue"], ueids: ["init", "blue"], switches: ["init", "blue"],
                knobs: ["init", "blue"], pnet_ids: ["blue"], readers: ["init", "blue"], modules: ["init"],
                namespaces: ["init"]}


def disturb(what, name, rng):
    try:
        within(name)
        while not stop.is_set():
            try:
                what(rng, name)
            except OSError as error:
                # Dumps fail while smc_diag is away; anything may while the device is.
                add(f"refused: {what.__name__}", 1)
                if error.errno is None and not isinstance(error, TimeoutError):
                    raise
    except Exception:  # noqa: BLE001  a thread that dies unseen would make the test gentler
        trouble.append(f"{what.__name__}: {traceback.format_exc()}")


# --- rounds

def stress(role, seconds, rng):
    words = ["smcstress", role, "--seconds", str(seconds), "--procs", str(PROCS), "--patience", str(STUCK),
             "--seed", str(rng.randrange(1, 10000))]
    return words + ["--gentle"] * GENTLE


def set_up():
    os.sync()
    shell("load_smc")
    if "init" in NAMESPACES:
        shell("rxe_on_lo")
        quietly("ueid.py", "add", UEID)
    if "blue" in NAMESPACES:
        quietly("ip", "netns", "add", "blue")
        run(*inside("blue", "ip", "link", "set", "lo", "up"))
        quietly("ueid.py", "add", UEID)  # one table for all namespaces


def statistics(name):
    stats = json.loads(run(*inside(name, "smcctl", "stats", "show", "--json")))["stats"]
    for tech in (row for row in stats if row["tech"]):  # and one row of what is counted for both
        for role in ("client", "server"):
            add(f"{tech['tech']} {role} connections", tech[f"{role}_handshakes_v1"] + tech[f"{role}_handshakes_v2"])
        add(f"{tech['tech']} bytes received", tech["rx_bytes"])
    fallbacks = json.loads(run(*inside(name, "smcctl", "fallbacks", "show", "--json")))
    for role in ("client", "server"):
        add(f"{name}: {role} fallbacks", fallbacks["totals"][role])
    for row in fallbacks["fallbacks"]:
        add(f"{name}: {row['role']} {row['code']} {row['name']}", row["count"])


def finish(name, role, process, log):
    try:
        status = process.wait(timeout=4 * STUCK)
    except subprocess.TimeoutExpired:
        stacks(f"{name} {role}")
        process.kill()
        status = f"no end within {4 * STUCK} s"
    with open(log, encoding="utf-8") as file:
        lines = file.read().splitlines()
    trouble.extend(f"{name}: {line}" for line in lines if "FAULT" in line)
    counts = next((json.loads(line) for line in reversed(lines) if line.startswith("{")), {})
    for key, value in counts.items():
        if key not in ("role", "seconds"):
            add(f"{NAMESPACES[name]}: {role} {key}", value)
    say(f"{name} {role}: {status} {counts}")
    if status not in (0, 1):
        trouble.append(f"{name} {role}: {status}")


def sockets_left():
    left = smcdiag.dump()
    if "blue" in NAMESPACES:
        left += [json.loads(line) for line in run(*inside("blue", "smcdiag.py")).splitlines()]
    return left


def one_round(number, rng, seconds):
    set_up()
    stop.clear()
    before = len(trouble)
    ends = []
    for name in NAMESPACES:
        for role in ("server", "client"):
            log = f"{RESULTS}/{number}.{name}.{role}.log"
            with open(log, "w", encoding="utf-8") as file:
                ends.append((name, role, subprocess.Popen(inside(name, *stress(role, seconds, rng)), stdout=file, stderr=file),
                             log))
    threads = [threading.Thread(target=disturb, args=(what, name, random.Random(rng.random())), daemon=True,
                                name=f"{what.__name__} in {name}")
               for what, names in DISTURBANCES.items() for name in names
               if not GENTLE and what.__name__ not in CALM and (name in NAMESPACES or what is modules)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join(4 * PATIENCE)
        if thread.is_alive():
            trouble.append(f"a disturbance does not end: {thread.name}")
            stacks(trouble[-1])
    quietly("ip", "link", "set", "lo", "up")
    for end in ends:
        finish(*end)
    shell("load_smc")  # smc_diag may be away
    for name in NAMESPACES:
        statistics(name)
    for text in trouble[before:]:
        say(f"TROUBLE: {text}")
    began = time.monotonic()
    if not comes_true(lambda: not sockets_left(), 2 * PATIENCE, pause=1):
        stacks("sockets left")
        fail(f"sockets left after the round: {json.dumps(sockets_left())}")
    while not quietly("modprobe", "-r", "smc_diag", "smc"):
        if time.monotonic() > began + 2 * PATIENCE:
            stacks("modules")
            protocols = [line.split()[:3] for line in run("cat", "/proc/net/protocols").splitlines() if "SMC" in line]
            fail(f"the modules do not go; protocols: {protocols}, modules: {run('lsmod').splitlines()}")
        time.sleep(1)
    quietly("rdma", "link", "del", "rxe_lo")
    add("smc unloaded", 1)


def main():
    say(f"{SECONDS} s, seed {SEED}, {' and '.join(ALL_NAMESPACES.values())}")
    rng = random.Random(SEED)
    number, left = 0, SECONDS
    while left > 0:
        name = list(ALL_NAMESPACES)[number % len(ALL_NAMESPACES)]
        NAMESPACES.clear()
        NAMESPACES[name] = ALL_NAMESPACES[name]
        number += 1
        say(f"round {number}: {NAMESPACES[name]}")
        one_round(number, rng, min(ROUND, left))
        left -= ROUND
    for name in ALL_NAMESPACES:
        if name != "init":
            quietly("ip", "netns", "del", name)
    for key in sorted(totals):
        print(f"{totals[key]:10} {key}")
    with open(f"{RESULTS}/totals.json", "w", encoding="utf-8") as file:
        json.dump(totals, file, indent=1)
    for tech in ALL_NAMESPACES.values():
        check(f"connections over {tech}", totals.get(f"{tech} client connections", 0) > SECONDS // 10)
        check(f"complete ones over {tech}", totals.get(f"{tech}: server complete", 0) > SECONDS // 10)
    check("no trouble", not trouble, f"{len(trouble)}, first: {trouble[0] if trouble else ''}")


BEGAN = time.monotonic()
main()
