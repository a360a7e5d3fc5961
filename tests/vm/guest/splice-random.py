#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 600
# cpus: 2
"""A stream read by recv() and by splice() into pipes of 1 to 256 pages, which are read, in whole or in part, and emptied
into each other in a random order; every byte is checked, and the end of the connection comes before the pipes are read.
Over SMC-D, and over SMC-R with receive buffers of one piece and of single pages."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, fail  # noqa: E402
from smcpair import pair, setup  # noqa: E402

VIRTUAL = 1
RINGS = [16384, 65536, 262144]
DEADLINE = 60


def stream(name, transport, port, ring, seed):
    with pair(transport, port) as (client, server, _):
        ends = (client.fileno(), server.fileno())
        with subprocess.Popen(
                ["smcsplice", "check", "--sender", str(ends[0]), "--receiver", str(ends[1]), "--seed", str(seed),
                 "--bytes", str(8 * ring), "--deadline", str(DEADLINE), *(["--close"] if seed % 2 else [])],
                pass_fds=ends, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            client.close()
            server.close()
            said = process.communicate(timeout=2 * DEADLINE)[0].strip()
        if process.returncode:
            fail(f"{name}, {ring} bytes, seed {seed}: status {process.returncode}: {said}")
    counts = json.loads(said)
    check(f"{name}, {ring} bytes, {said}", counts["splice_in"] > 10)


def streams(name, transport, port, virtual):
    for index, ring in enumerate(RINGS):
        # Buffers of the other kind are of other link groups, so the size is all that has to be set each time.
        setup_sizes(ring, virtual)
        for seed in (1 + 2 * index, 2 + 2 * index):
            stream(name, transport, port + seed, ring, seed)


def setup_sizes(ring, virtual):
    for name, value in (("rmem", ring), ("wmem", ring), ("smcr_buf_type", virtual)):
        with open(f"/proc/sys/net/smc/{name}", "w") as file:
            file.write(str(value))


def main():
    setup()
    streams("SMC-D", "SMC-D", 41000, 0)
    setup(rxe=True, smcr_buf_type=VIRTUAL)
    streams("SMC-R, single pages", "SMC-R", 41100, VIRTUAL)


main()
