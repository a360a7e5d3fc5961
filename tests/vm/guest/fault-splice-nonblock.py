#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 240
# fault: 42
# unpatched: FAIL: splice\(\) from a non-blocking socket does not wait
"""splice() from a socket that is set non-blocking, or with SPLICE_F_NONBLOCK, fails with EAGAIN if there is nothing to
read, and otherwise takes what there is."""
import ctypes
import errno
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import check, same  # noqa: E402
from smcpair import drain, pair, pattern, setup, wait_unread  # noqa: E402

SPLICE_F_NONBLOCK = 2
SECONDS = 5
libc = ctypes.CDLL(None, use_errno=True)
libc.splice.restype = ctypes.c_ssize_t


def splice(sock, into, count, flags):
    got = libc.splice(sock.fileno(), None, into, None, ctypes.c_size_t(count), flags)
    return got if got >= 0 else -ctypes.get_errno()


def finds_nothing(server, into, flags):
    """A child makes the call, because it may not return."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if splice(server, into, 1000, flags) == -errno.EAGAIN else 1)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status == 0
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


def main():
    setup()
    with pair() as (client, server, _):
        out, into = os.pipe()
        check("splice() with SPLICE_F_NONBLOCK does not wait", finds_nothing(server, into, SPLICE_F_NONBLOCK))
        server.setblocking(False)
        check("splice() from a non-blocking socket does not wait", finds_nothing(server, into, 0))
        client.sendall(pattern(0, 500))
        wait_unread(server, 500)
        same("and takes what there is", 500, splice(server, into, 1000, 0))
        same("which is right", pattern(0, 500), drain(out, 500))


main()
