#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 100
# end: reset
# cpus: 2
# fault: 45
# unpatched: the RDMA device goes
"""The RDMA device is removed while a connection over it waits to be accepted, and the listener closes: the removal ends."""
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check  # noqa: E402
from smcdiag import dump  # noqa: E402
from smcpair import IPPROTO_SMC, PORT, setup  # noqa: E402

setup(rxe=True)
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener, \
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as client:
    listener.bind(("127.0.0.1", PORT))
    listener.listen(16)
    client.settimeout(PATIENCE)
    client.connect(("127.0.0.1", PORT))
    check("the connection is SMC-R", any(r["transport"] == "SMC-R" for r in dump() if r["dport"] == PORT))
    time.sleep(1)  # the server has put it into the queue
    removal = subprocess.Popen(["rdma", "link", "del", "rxe_lo"])
    try:
        end = client.recv(1)
    except OSError as error:
        end = error
    check("the connection ends", end == b"" or isinstance(end, OSError), repr(end))
    time.sleep(2)  # the other end, in the queue, as well
try:
    status = removal.wait(PATIENCE // 3)
except subprocess.TimeoutExpired:
    status = "not within time"
check("the RDMA device goes", status == 0, status)
