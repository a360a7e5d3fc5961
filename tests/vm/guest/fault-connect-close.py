#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# end: reset
# cpus: 2
# fault: 47
# unpatched: the server is told that the client has gone
"""A socket is closed while its connect() without waiting is at work, and the handshake succeeds all the same: its server
has to hear of the end. A first contact over soft-RoCE is long after the CONFIRM that the client sends, so that the close
falls into it; where it does not, the next round may have better luck."""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, run, wait_for  # noqa: E402
from rawtcp import EYECATCHER  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import CLC, CLC_TYPE, CONFIRM, IPPROTO_SMC, PORT, setup, shell  # noqa: E402

ROUNDS = 20
ENOUGH = 3  # connections that a server got
ETH_P_IP = 0x0800


def close_while_connecting(packets):
    client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", PORT))
    packet = b""
    while not (packet[CLC:CLC + 4] == EYECATCHER and packet[CLC_TYPE] == CONFIRM):
        packet = packets.recv(4096)
    client.close()


def end_at_server(server):
    """What the server gets in the end: no data, an error, "nothing", or None if it got no connection."""
    try:
        connection = server.accept()[0]
    except TimeoutError:
        return None  # the close was faster than the handshake
    except ConnectionError as error:
        return error  # the end came before accept() did
    with connection:
        connection.settimeout(PATIENCE // 2)
        try:
            return connection.recv(1)
        except TimeoutError:
            return "nothing"
        except OSError as error:
            return error


setup(rxe=True)
found = 0
for number in range(ROUNDS):
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP)) as raw, \
            socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as server:
        raw.bind(("lo", ETH_P_IP))
        raw.settimeout(PATIENCE)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", PORT))
        server.listen(16)
        server.settimeout(PATIENCE // 12)
        close_while_connecting(raw)
        end = end_at_server(server)
        if end is not None:
            check("the server is told that the client has gone", end == b"" or isinstance(end, OSError), repr(end))
            found += 1
    wait_for("no socket is left", lambda: not [row for row in dump() if PORT in (row["sport"], row["dport"])])
    if found == ENOUGH:
        break
    run("rdma", "link", "del", "rxe_lo")  # the next one is a first contact, too
    shell("add_rxe_lo")
print(f"{number + 1} rounds, {found} connections", flush=True)
check("a server got a connection whose client had closed", found)
