# SPDX-License-Identifier: GPL-2.0-or-later
"""Connected pairs of SMC sockets for guest tests in python, and what a stream has to contain."""

import contextlib
import fcntl
import glob
import json
import os
import socket
import struct
import subprocess
import termios

from guest import PATIENCE, ROOT, fail, run, wait_for
from smcdiag import dump

IPPROTO_SMC = 256
PORT = 41000
PIPE_SLOTS = 16


def shell(words):
    """Words of tests/vm/lib.sh."""
    subprocess.run(["bash", "-c", f'. {ROOT}/tests/vm/lib.sh; {words}'], check=True, timeout=2 * PATIENCE)


def setup(rxe=False, **sysctls):
    """SMC-D over the loopback device, or SMC-R over soft-RoCE; both ends of a pair are in this kernel."""
    shell(("rxe_on_lo" if rxe else "load_smc") + "; ueid.py dump | grep -q . || add_ueid SMCD-TEST-UEID")
    for name, value in sysctls.items():
        with open(f"/proc/sys/net/smc/{name}", "w") as file:
            file.write(str(value))


def rxe_on_dummy(address):
    """SMC-R to an own address, of a soft-RoCE device with a MAC; no other device is in the choice."""
    setup()
    run("ueid.py", "pnet-add", "NOLOOPBACK", "-", "loopback-ism", "1")
    shell("modprobe -a ib_uverbs rdma_rxe dummy")
    run("ip", "link", "add", "dummy0", "type", "dummy")
    run("ip", "addr", "add", address + "/24", "dev", "dummy0")
    run("ip", "link", "set", "dummy0", "up")
    run("rdma", "link", "add", "rxe_dummy", "type", "rxe", "netdev", "dummy0")
    gids = "/sys/class/infiniband/rxe_dummy/ports/1/gids/*"
    words = socket.inet_aton(address).hex()
    wait_for("a GID of the address", lambda: any(f"{words[:4]}:{words[4:]}" in open(path).read()
                                                 for path in glob.glob(gids)))
    # The way to an own address is lo, which has no RDMA device of its own here.
    run("ueid.py", "pnet-add", "OWNADDRESS", "lo", "rxe_dummy", "1")


# CLC messages on their way over lo. Offsets are from the IP header, and count one option of TCP, the time stamp.
CLC, CLC_TYPE, CLC_QPN, CLC_MAC = 52, 56, 90, 84
ACCEPT, CONFIRM = 2, 3


def on_message(types, action, match=""):
    """Let an action of tc meet CLC messages of these types (a value and a mask of it), SMC-R and SMC-D."""
    subprocess.run("modprobe -a sch_ingress cls_u32 act_gact act_pedit; tc qdisc show dev lo | grep -q clsact || "
                   "tc qdisc add dev lo clsact", shell=True, check=True, timeout=PATIENCE)
    run(*"tc filter add dev lo egress protocol ip u32 match ip protocol 6 0xff".split(),
        *f"match u32 0xe2d4c300 0xffffff00 at {CLC} match u8 {types[0]} {types[1]:#x} at {CLC_TYPE}".split(),
        *f"{match} action {action}".split())


@contextlib.contextmanager
def pair(transport="SMC-D", port=PORT):
    """(client, server, size of the server's receive buffer) of a connection that is SMC."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(16)
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", port))
        server = listener.accept()[0]
        server.settimeout(None)
        client.settimeout(None)
    with client, server:
        ends = [r for r in dump() if port in (r["sport"], r["dport"]) and r["state"] == "ACTIVE"]
        if [r["transport"] for r in ends] != [transport] * 2:
            fail(f"the pair is not {transport}: {json.dumps(ends)}")
        yield client, server, next(r["conn"]["rmbe"] for r in ends if r["sport"] == port)


def pattern(start, length):
    """What belongs at these positions of the stream; it does not repeat within a buffer."""
    first = start // 4
    words = struct.pack(f">{length // 4 + 2}I", *range(first, first + length // 4 + 2))
    return words[start % 4:start % 4 + length]


def unread(sock):
    """Bytes that a receive call could return at once."""
    return struct.unpack("i", fcntl.ioctl(sock, termios.FIONREAD, b"\0" * 4))[0]


def wait_unread(sock, count):
    wait_for(f"{count} bytes are there to be read (last seen: {unread(sock)})", lambda: unread(sock) == count)


def receive(sock, count):
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            fail(f"the stream ended after {len(data)} of {count} bytes")
        data += part
    return data


def pass_through(client, server, count):
    """Move both cursors on by this much."""
    done = 0
    while done < count:
        step = min(4096, count - done)
        client.sendall(b"x" * step)
        receive(server, step)
        done += step


def drain(pipe, count):
    data = b""
    while len(data) < count:
        data += os.read(pipe, count - len(data))
    return data
