#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# cpus: 1
"""tx_nocache_min, sends that are copied past the cache: off by default, for each namespace, and refused over loopback and
over soft-RoCE, where the CPU reads the data again.

Of a module built with tests/bench/patches/nocache-anywhere.patch, which takes that refusal out, it checks the bytes instead:
user memory and pages of sendfile(), at odd offsets, across the ring's wrap, and a send that faults half way."""
import ctypes
import mmap
import os
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, run, same  # noqa: E402
from smcpair import pair, pattern, receive, setup  # noqa: E402

KNOB = "/proc/sys/net/smc/tx_nocache_min"
ANYWHERE = "/sys/module/smc/parameters/test_nocache_anywhere"
TRACING = "/sys/kernel/tracing"
EVENT = f"{TRACING}/events/smc/smc_tx_nocache"
MINIMUM = 4096
libc = ctypes.CDLL(None, use_errno=True)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def traced():
    """Bytes copied past the cache since the last call."""
    with open(f"{TRACING}/trace", encoding="ascii") as file:
        sizes = [int(line.split("len=")[1].split()[0]) for line in file if "smc_tx_nocache" in line]
    write(f"{TRACING}/trace", "")
    return sum(sizes)


def move(name, client, server, anywhere):
    """Sends of user memory and of a file's pages; the reader checks each byte."""
    sizes = [MINIMUM, MINIMUM + 1, 4999, 3 * 4096 + 7, 100001]
    with tempfile.TemporaryFile() as file:
        total = 0
        for size in sizes:
            data = pattern(total, size)
            reader = threading.Thread(target=lambda s=size, d=data: check(f"{name}: send {s}", receive(server, s) == d))
            reader.start()
            client.sendall(data)
            reader.join()
            total += size
        same(f"{name}: past the cache", True, (traced() > 0) == anywhere)
        file.write(pattern(0, 1 << 18))
        file.flush()
        for offset, size in ((0, 4096), (1, 8192), (4095, 65537), (3, 200001)):
            data = pattern(offset, size)
            reader = threading.Thread(target=lambda s=size, d=data: check(f"{name}: sendfile {s}", receive(server, s) == d))
            reader.start()
            done = 0
            while done < size:
                done += os.sendfile(client.fileno(), file.fileno(), offset + done, size - done)
            reader.join()
    same(f"{name}: sendfile past the cache", True, (traced() > 0) == anywhere)
    client.sendall(pattern(0, MINIMUM - 1))
    check(f"{name}: a small send", receive(server, MINIMUM - 1) == pattern(0, MINIMUM - 1))
    same(f"{name}: is copied as ever", 0, traced())


def faulting(name, client, server):
    """The second half of the memory is not there: nothing is sent, and the stream goes on."""
    size = 2 * MINIMUM
    memory = mmap.mmap(-1, 2 * size)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc.mprotect(ctypes.c_void_p(address + size), ctypes.c_size_t(size), 0)
    same(f"{name}: a send that faults", -1, libc.send(client.fileno(), ctypes.c_void_p(address), 2 * size, 0))
    same(f"{name}: says so", 14, ctypes.get_errno())
    libc.mprotect(ctypes.c_void_p(address + size), ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_WRITE)
    client.sendall(pattern(0, size))
    check(f"{name}: and the stream is right", receive(server, size) == pattern(0, size))


def main():
    setup()
    same("off by default", "0", read(KNOB))
    anywhere = os.path.exists(ANYWHERE)
    print(f"the module {'copies past the cache anywhere (test patch)' if anywhere else 'refuses it here'}", flush=True)
    write(KNOB, str(MINIMUM))
    same("another namespace has its own", "0", run("unshare", "-n", "cat", KNOB).strip())
    if not os.path.exists(f"{TRACING}/events"):
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
    write(f"{EVENT}/enable", "1")
    with pair("SMC-D", 41000) as (client, server, _):
        move("SMC-D", client, server, False)
        faulting("SMC-D", client, server)
    setup(rxe=True)
    with pair("SMC-R", 41010) as (client, server, _):
        move("SMC-R", client, server, anywhere)
        faulting("SMC-R", client, server)
        write(KNOB, "0")
        traced()
        client.sendall(pattern(0, 20000))
        check("off: the data is right", receive(server, 20000) == pattern(0, 20000))
        same("off: copied as ever", 0, traced())


main()
