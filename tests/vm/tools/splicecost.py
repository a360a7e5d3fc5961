#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What splice() from an SMC socket to /dev/null costs, in a guest.

    splicecost.py [--trace] [--rounds N] [--bytes N] [--kinds smcd,smcr,smcr-virtual]

One JSON object a line: for each kind of connection and each of a large stream and small messages, system calls,
microseconds of wall clock and of the receiver's processor time for each MB. With --trace also how many times in a MB the
receiver allocates memory (the tracepoint kmem:kmalloc) and locks and unlocks a socket (probes on lock_sock_nested and
release_sock); the times of such a run say nothing. Soft-RoCE takes the loopback device's part for good, so smcd comes first, and
a link group stays with its kind of buffers, so smcr and smcr-virtual need a guest each.
"""
import argparse
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from smcpair import pair, setup  # noqa: E402

TRACING = "/sys/kernel/tracing"
RING = 262144
PROBES = {"kmalloc": "events/kmem/kmalloc", "lock_sock": "events/kprobes/smc_lock", "release_sock": "events/kprobes/smc_release"}
LOADS = {"stream": {"message": 65536, "share": 1}, "messages": {"message": 256, "share": 16}}
KINDS = {
    "smcd": ("SMC-D", {}),
    "smcr": ("SMC-R", {"rxe": True, "smcr_buf_type": 0}),
    "smcr-virtual": ("SMC-R", {"rxe": True, "smcr_buf_type": 1}),
}


def write(path, text):
    with open(os.path.join(TRACING, path), "a") as file:
        file.write(text)


def start_tracing():
    if not os.path.isdir(os.path.join(TRACING, "events")):
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
    write("kprobe_events", "p:smc_lock lock_sock_nested\np:smc_release release_sock\n")
    for event in PROBES.values():
        write(f"{event}/trigger", "hist:keys=common_pid:size=4096\n")


def hits(event, pid):
    with open(os.path.join(TRACING, event, "hist")) as file:
        found = re.search(rf"common_pid: +{pid} *}} hitcount: +(\d+)", file.read())
    return int(found[1]) if found else 0


def measure(transport, port, size, message, trace):
    with pair(transport, port) as (client, server, _):
        ends = (client.fileno(), server.fileno())
        with subprocess.Popen(["smcsplice", "drain", "--sender", str(ends[0]), "--receiver", str(ends[1]), "--bytes", str(size),
                               "--message", str(message), "--deadline", "300"], pass_fds=ends, stdout=subprocess.PIPE,
                              text=True) as process:
            client.close()
            server.close()
            said = json.loads(process.communicate(timeout=400)[0])
        row = {"calls": said["splice_in"] + said["splice_out"], "wall_us": said["wall_us"],
               "cpu_us": said["user_us"] + said["system_us"]}
        if trace:
            row.update({name: hits(event, process.pid) for name, event in PROBES.items()})
        return {name: round(value * 1e6 / size, 2) for name, value in row.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--bytes", type=int, default=16 << 20)
    parser.add_argument("--kinds", default="smcd,smcr-virtual")
    arguments = parser.parse_args()
    if arguments.trace:
        start_tracing()
    port, made = 42000, False
    for kind in arguments.kinds.split(","):
        transport, words = KINDS[kind]
        setup(rxe=words.get("rxe", False) and not made, rmem=RING, wmem=RING, smcr_buf_type=words.get("smcr_buf_type", 0))
        made |= words.get("rxe", False)
        for turn in range(arguments.rounds):
            for load, how in LOADS.items():
                port += 1
                row = measure(transport, port, arguments.bytes // how["share"], how["message"], arguments.trace)
                print(json.dumps({"kind": kind, "load": load, "round": turn, **row}), flush=True)


main()
