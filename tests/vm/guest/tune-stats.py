#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 300
# cpus: 2
"""Statistics and events of smc_tune: held writes and what sends them, handshakes and reasons of fallbacks with the peer's, pools
of buffers, the groups `fallback` and `links`. Over SMC-D and SMC-R."""
import contextlib
import ctypes
import errno
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, check, fail, run, same, wait_for  # noqa: E402
from smcpair import IPPROTO_SMC, pair, receive, setup, unread, wait_unread  # noqa: E402
from tune import Listener, Tune  # noqa: E402

PEERDECL, PEERNOSMC, MAX_DMB = 0x05000000, 0x03010000, 0x030D0000
CLIENT, SERVER = 0, 1
SMCR, SMCD = 0, 1
GROUP_UP, GROUP_DOWN, LINK_UP, LINK_DOWN, GROUP_STATE = range(5)
TCP_FASTOPEN = 23
CLONE_NEWNET = 0x40000000
HEAD = 100
REASONS_MAX = 64
tune = None


def cork(sock, on):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, on)


def flat(stats):
    """With the histogram as limit -> count."""
    return {**{k: v for k, v in stats.items() if not isinstance(v, list)},
            **{f"size {b.get('limit', 'more')}": b["count"] for b in stats["flush-size"]}}


def grown(before):
    """What has changed since."""
    now = flat(tune.do("tx-get"))
    return {key: now[key] - before[key] for key in now if now[key] != before[key]}


def check_one(what, client, server, act, flush, size=HEAD, corked="corked-more", held=1):
    """A write of HEAD bytes is held, act() sends it or what goes along with it."""
    time.sleep(0.05)  # until what was sent before is complete, or it would be autocorked
    before = flat(tune.do("tx-get"))
    if corked == "corked-app":
        cork(client, 1)
    client.send(b"x" * HEAD, socket.MSG_MORE if corked == "corked-more" else 0)
    act()
    receive(server, size)
    bucket = next(b["limit"] for b in tune.do("tx-get")["flush-size"] if b.get("limit", size) >= size)
    same(what, {corked: held, flush: 1, f"size {bucket}": 1, "flush-bytes": size}, grown(before))


def check_tx(transport, port):
    with pair(transport, port) as (client, server, _):
        before = flat(tune.do("tx-get"))
        client.sendall(b"y" * 1000)
        receive(server, 1000)
        same(f"{transport}: a plain write is not counted", {}, grown(before))
        check_one(f"{transport}: TCP_CORK, uncorked", client, server, lambda: cork(client, 0), "flush-uncork", corked="corked-app")
        check_one(f"{transport}: MSG_MORE, nodelay", client, server,
                  lambda: client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), "flush-nodelay")
        check_one(f"{transport}: MSG_MORE and a plain write", client, server, lambda: client.send(b"z" * 1000), "flush-write",
                  size=HEAD + 1000)
        tune.set(cork_ceiling=100)
        check_one(f"{transport}: the ceiling", client, server, lambda: time.sleep(0.2), "flush-ceiling")
        tune.set(cork_ceiling=0)
        before = flat(tune.do("tx-get"))
        tune.set(cork_mode=2)
        client.send(b"x" * HEAD, socket.MSG_MORE)
        cork(client, 1)
        client.send(b"x" * HEAD)
        wait_unread(server, 2 * HEAD)
        receive(server, 2 * HEAD)
        cork(client, 0)
        same(f"{transport}: with cork_mode off nothing is held", {}, grown(before))
        tune.set(cork_mode=0)
        before = flat(tune.do("tx-get"))
        client.setblocking(False)
        cork(client, 1)
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                sent += client.send(b"f" * 8192)
        client.setblocking(True)
        receive(server, sent)
        cork(client, 0)
        changes = grown(before)
        check(f"{transport}: a full buffer", changes.get("flush-full"), changes)
        check(f"{transport}: and writes before it", changes.get("corked-app", 0) > 1, changes)
        check_one(f"{transport}: the end", client, server, lambda: client.shutdown(socket.SHUT_WR), "flush-end")


def check_autocork():
    with pair("SMC-R", 41210) as (client, server, _):
        def try_mode(mode):
            tune.set(cork_mode=mode)
            before = flat(tune.do("tx-get"))
            for _ in range(300):
                client.send(b"a" * 200)
            receive(server, 300 * 200)
            return grown(before)

        wait_for("writes are autocorked", lambda: try_mode(0).get("flush-completion"))
        changes = try_mode(0)
        check("autocorking is counted", changes.get("corked-auto", 0) >= changes.get("flush-completion", 0), changes)
        same("with cork_mode application there is none", {}, try_mode(1))
        tune.set(cork_mode=0)


def roles():
    return {role["role"]: role for role in tune.do("handshake-get")["role"]}


def reasons():
    return {(r["role"], r.get("reason"), r.get("peer-reason")): r["count"] for r in tune.do("handshake-get").get("reason", [])}


def check_handshakes(transport, port):
    before = roles()
    with pair(transport, port), pair(transport, port + 1):
        now = roles()
        for role in CLIENT, SERVER:
            same(f"{transport}: established, role {role}", 2, now[role]["established"] - before[role]["established"])
            count = sum(b["count"] for b in now[role]["time"])
            same(f"{transport}: as many in the histogram", now[role]["established"], count)
            check(f"{transport}: their time", now[role]["time-sum"] > before[role]["time-sum"])
            same(f"{transport}: none under way", (0, 0), (now[role]["queued"], now[role]["active"]))


def check_queue():
    """A client that says nothing waits as queued, and occupies no worker."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.bind(("127.0.0.1", 41300))
        listener.listen(16)
        # A TCP socket with the option of SMC is what an SMC socket has inside; one that stops half way is stopped by its queue.
        run("tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "700ms")
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        client.setblocking(False)
        same("connect() without blocking", errno.EINPROGRESS, client.connect_ex(("127.0.0.1", 41300)))
        same("the client is under way", 1, roles()[CLIENT]["queued"] + roles()[CLIENT]["active"])
        wait_for("the server too", lambda: roles()[SERVER]["queued"] + roles()[SERVER]["active"] == 1)
        run("tc", "qdisc", "del", "dev", "lo", "root")
        server = listener.accept()[0]
        wait_for("none is under way any more", lambda: all(roles()[r]["queued"] + roles()[r]["active"] == 0 for r in (0, 1)))
        server.close()
        client.close()


def fall_back():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as client:
        client.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 1)


def check_fallbacks():
    listener = Listener("fallback")
    before, counted = reasons(), roles()
    with socket.create_server(("127.0.0.1", 41400)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as client:
            client.connect(("127.0.0.1", 41400))
            port = client.getsockname()[1]
    events = listener.events(PATIENCE)
    same("one event", ["fallback-ntf"], [command for command, _ in events])
    event = events[0][1]
    local = socket.inet_aton("127.0.0.1")
    same("a peer without SMC", {"role": CLIENT, "reason": PEERNOSMC, "peer-reason": 0, "local-addr": local, "remote-addr": local,
                                "local-port": port, "remote-port": 41400, "suppressed": 0}, event)
    same("and counted", 1, reasons()[CLIENT, PEERNOSMC, 0] - before.get((CLIENT, PEERNOSMC, 0), 0))
    same("and in all", 1, roles()[CLIENT]["fallbacks"] - counted[CLIENT]["fallbacks"])

    time.sleep(1.1)
    for _ in range(200):
        fall_back()
    time.sleep(1.1)
    fall_back()
    events = [event for _, event in listener.events(PATIENCE)]
    check(f"the rate is limited ({len(events)} of 201)", 51 <= len(events) < 201)
    same("and what is left out is counted", 201, len(events) + sum(event["suppressed"] for event in events))


def check_declined():
    """The server has no buffer and declines: the client's reason is that the peer has, and the peer's is known. On a fresh module, as
    there are no buffers to be used again."""
    listener = Listener("fallback")
    with pair("SMC-D", 41410):
        tune.set(lo_max_dmbs=2)
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as accepting:
            accepting.bind(("127.0.0.1", 41411))
            accepting.listen(1)
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as client:
                client.connect(("127.0.0.1", 41411))
                accepting.accept()[0].close()
        tune.set(lo_max_dmbs=5000)
    events = {event["role"]: event for _, event in listener.events(PATIENCE) + listener.events(0.2)}
    same("client: the peer declined", PEERDECL, events[CLIENT]["reason"])
    same("server: why", events[CLIENT]["peer-reason"], events[SERVER]["reason"])
    same("... no buffer", MAX_DMB, events[SERVER]["reason"])
    same("both reasons are counted", 1, reasons().get((CLIENT, PEERDECL, MAX_DMB)))


def check_table():
    """The table of reasons has an end."""
    check("the table is bounded", len(reasons()) <= REASONS_MAX + 2)


def check_pools(transport, number, port):
    with pair(transport, port) as (_, _, rmbe):
        mine = [row for row in tune.dump("pool-get") if row["transport"] == number]
        check(f"{transport}: pools", mine)
        for row in mine:
            same(f"{transport}: pool of {row['size']}: used and free", row["buffers"], row["in-use"] + row["free"])
            same(f"{transport}: pool of {row['size']}: bytes", row["buffers"] * row["size"], row["bytes"])
        check(f"{transport}: receive buffers in use", sum(r["in-use"] for r in mine if r["direction"] == 1) >= 2, mine)
        same(f"{transport}: a net cookie for SMC-R only", number == SMCR, all("net-cookie" in r for r in mine))
    with pair(transport, port):
        again = [row for row in tune.dump("pool-get") if row["transport"] == number]
        check(f"{transport}: buffers are used again", sum(r["reuses"] for r in again) > sum(r["reuses"] for r in mine), again)


def in_new_namespace():
    child = os.fork()
    if not child:
        ctypes.CDLL(None).unshare(CLONE_NEWNET)
        here = Tune()
        good = not here.dump("pool-get") and not here.do("handshake-get").get("reason") and not here.do("tx-get")["corked-more"]
        os._exit(0 if good else 1)
    same("another namespace has none of it", 0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def main():
    global tune
    setup()
    tune = Tune()
    links = Listener("links", 1 << 20)
    check_declined()
    events = [event for _, event in links.events(PATIENCE)]
    same("SMC-D: link groups, client's and server's", [(GROUP_UP, SMCD)] * 2, [(e["event"], e["transport"]) for e in events])
    groups = {e["group"] for e in events}
    check_tx("SMC-D", 41000)
    check_handshakes("SMC-D", 41010)
    check_queue()
    check_pools("SMC-D", SMCD, 41020)
    same("pools name the link groups", groups, {row["group"] for row in tune.dump("pool-get")})
    check_fallbacks()
    check_table()
    in_new_namespace()
    links.events()

    setup(rxe=True)
    check_tx("SMC-R", 41100)
    events = [event for _, event in links.events(PATIENCE)]
    kinds = [e["event"] for e in events]
    same("SMC-R: link groups come up", 2, kinds.count(GROUP_UP))
    same("SMC-R: a link each", 2, kinds.count(LINK_UP))
    same("SMC-R: single", {1}, {e["state"] for e in events if e["event"] == GROUP_STATE})
    link = next(e for e in events if e["event"] == LINK_UP)
    same("SMC-R: of the device", ("rxe_lo", 1), (link["ib-name"], link["ib-port"]))
    same("SMC-R: both roles", {CLIENT, SERVER}, {e["role"] for e in events})
    check_handshakes("SMC-R", 41110)
    check_pools("SMC-R", SMCR, 41120)
    check_autocork()

    tune.socket.close()
    wait_for("all sockets are closed", lambda: run("lsmod").split("smc ")[1].split()[1] in ("0", "1"))
    subprocess.run(["rmmod", "smc_diag"], check=False)
    run("rmmod", "smc")
    events = [event for _, event in links.events(PATIENCE)]
    down = [(e["event"], e["transport"]) for e in events]
    check("link groups of SMC-D go", (GROUP_DOWN, SMCD) in down, down)
    same("link groups of SMC-R go", 2, down.count((GROUP_DOWN, SMCR)))
    same("and their links", 2, down.count((LINK_DOWN, SMCR)))
    if links.overruns:
        fail("the listener missed events")


main()
