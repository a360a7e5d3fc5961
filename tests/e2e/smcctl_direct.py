#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""smcctl without a daemon, on the fake kernel: what it shows, its messages and its exit codes."""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from smcdtest import run, tests_of  # pylint: disable=wrong-import-position

DIRECT = "smcctl: smcd is not running; read from the kernel directly\n"
KERNEL = """era 6.12
iface eth0 2
iface eth1 3
device r rxe0 port1=on active1=on pnetid1=NETA
lgr r 256 role=server type=single conns=3 cookie=1
lgr d 257 conns=1 gid=18 peer_gid=19
link 256 1 device=rxe0 port=1 state=active
stat smcr tx_bytes 123456
stat smcr tx_size[0] 5
stat smcr tx_size[3] 100
stat smcd tx_size[8] 1
fallback server 0x03030000 3
fallback client 0x03010000 70000
pnet NETA eth=eth0
ueid EID1
socket cookie=7 proto=af_smc sport=80 dport=4711 state=active src=10.0.0.1 dst=10.0.0.2 mode=smcr inode=1
socket cookie=8 proto=ipproto sport=81 dport=80 state=active src=10.1.0.1 dst=10.0.0.2 mode=tcp reason=0x03030000
netns blue
sysctl wmem 131072
netns
"""


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)


class Fake:
    """A directory with a fake kernel; nothing listens at its socket."""

    def __init__(self, lines=KERNEL):
        self.tmp = tempfile.TemporaryDirectory(prefix="smcctl-test-")
        self.dir = self.tmp.name
        self.socket = os.path.join(self.dir, "socket")
        self.script = os.path.join(self.dir, "fake")
        self.do(lines)

    def do(self, lines):
        with open(self.script, "a") as f:
            f.write(lines if lines.endswith("\n") else lines + "\n")

    def __call__(self, *args, env=None, **kwargs):
        env = {**os.environ, "SMCD_FAKE": self.script, **(env or {})}
        return Result(subprocess.run(["smcctl-fake", "--socket", self.socket, *args], env=env, text=True, errors="replace",
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     timeout=60, check=False, **kwargs))


def check(r, code, err=""):
    assert r.code == code, f"exit {r.code}, not {code}: {r.out}{r.err}"
    if isinstance(err, str):
        assert r.err == err, f"stderr is {r.err!r}, not {err!r}"
    else:
        assert err.search(r.err), f"stderr is {r.err!r}"
    return r


def test_nouns():
    """every list is there, as text and as JSON with schema, netns and the noun"""
    smcctl = Fake()
    for noun, n in {"linkgroups": 2, "links": 1, "devices": 1, "sockets": 2, "pnet": 1, "ueid": 1, "fallbacks": 2}.items():
        r = check(smcctl(noun, "show", "--json"), 0, DIRECT).json
        assert r["schema"] == 1 and r["netns"] == "" and r["incomplete"] is False, r
        assert len(r[noun]) == n, r
        text = check(smcctl(noun, "show"), 0, DIRECT).out
        assert len(text.splitlines()) >= n + 1, text
        assert "\033" not in text
        wide = check(smcctl(noun, "show", "--wide"), 0, DIRECT).out
        assert len(wide.splitlines()[0]) >= len(text.splitlines()[0])
    r = smcctl("fallbacks", "show", "--json").json
    assert r["totals"] == {"client": 70000, "server": 3}, r


def test_direct_option():
    """--direct asks no daemon and says nothing; it is for reading, and for set where the kernel has smc_tune"""
    smcctl = Fake()
    check(smcctl("--direct", "links", "show"), 0)
    check(smcctl("--direct", "pnet", "flush"), 2, re.compile("smcd only"))
    check(smcctl("--direct", "set", "wmem=1M"), 1, re.compile("does not have the generic netlink family smc_tune"))
    assert "64K" in smcctl("--direct", "show", "wmem").out
    smcctl = Fake("era 6.12-smcd\nknob turbo unit=milliseconds min=5 max=5000 def=100")
    check(smcctl("--direct", "set", "wmem=1M", "rmem=512K", "turbo=2s"), 0)
    assert [k["value"] for k in smcctl("--direct", "show", "wmem", "rmem", "turbo", "-j").json["knobs"]] == [
        1 << 20, 1 << 19, 2000]
    # all or nothing, with what the kernel says
    check(smcctl("--direct", "set", "wmem=2M", "smcr_testlink_time=9000000"), 1,
          re.compile(r"kernel: smcr_testlink_time: not in 0\.\.8589934"))
    check(smcctl("--direct", "set", "wmem=2M", "turbo=6s"), 1, re.compile("5..5000 milliseconds"))
    check(smcctl("--direct", "set", "wmem=2M", "turbbo=6s"), 1, re.compile("there is no knob 'turbbo'"))
    assert smcctl("--direct", "show", "wmem", "-j").json["knobs"][0]["value"] == 1 << 20
    check(smcctl("--direct", "set", "wmem=2M", "--save"), 2, re.compile("--save needs smcd"))


def test_tune_lists():
    """pools, cork and handshakes: text with what belongs to it, JSON, filters; elsewhere what kernel they need"""
    lines = """era 6.12-smcd
pool tech=smcd group=0x101 direction=send size=65536 buffers=3 in_use=1 reuses=7
pool tech=smcr group=0x100 direction=receive size=16384 buffers=2
tx corked-app 5
tx flush-bytes 1000
tx size1 4
handshakes server queued=3 established=100 time2=100 time_sum=20000
reason role=server reason=0x03010000 count=9"""
    smcctl = Fake(lines)
    text = check(smcctl("--direct", "pools", "show"), 0).out
    assert "192K" in text and len(text.splitlines()) == 3, text
    assert [p["linkgroup"] for p in smcctl("--direct", "pools", "show", "tech=smcr", "-j").json["pools"]] == ["0x00000100"]
    text = check(smcctl("--direct", "cork", "show"), 0).out
    assert "application" in text and "Bytes of the transmissions of what was held:" in text, text
    document = smcctl("--direct", "cork", "show", "kind=held", "-j").json
    assert [(c["cause"], c["count"]) for c in document["cork"]] == [("application", 5), ("more", 0), ("auto", 0)], document
    assert document["sizes"][1] == {"le": 4096, "count": 4}, document
    text = check(smcctl("--direct", "handshakes", "show"), 0).out
    assert "UP-TO-USEC" in text and "PEERNOSMC" in text, text
    document = smcctl("--direct", "handshakes", "show", "role=server", "-j").json
    assert document["handshakes"][0]["queued"] == 3 and document["reasons"][0]["count"] == 9, document
    assert "smc_handshake_duration_seconds_count{role=\"server\"} 100" in smcctl("--direct", "metrics").out
    for era in ("6.1", "6.12", "7.2"):
        smcctl = Fake(f"era {era}")
        for noun in ("pools", "cork", "handshakes"):
            check(smcctl("--direct", noun, "show"), 1,
                  re.compile(f"list {noun}: this kernel does not have the generic netlink family smc_tune"))


def test_empty_lists():
    """nothing to list is no error: no text, an empty list in JSON"""
    smcctl = Fake("era 6.12")
    for noun in ("linkgroups", "links", "devices", "sockets", "pnet", "ueid"):
        assert check(smcctl(noun, "show"), 0, DIRECT).out == ""
        assert smcctl(noun, "show", "-j").json[noun] == []


def test_filters():
    """filters by address, port, mode and state, as pairs and as options"""
    smcctl = Fake()

    def ports(*args):
        r = check(smcctl("--direct", "--json", "sockets", "show", *args), 0)
        return sorted(s["local_port"] for s in r.json["sockets"])

    assert ports("port=80") == [80, 81]
    assert ports("--port", "81") == [81]
    assert ports("--addr", "10.1.0.0/16") == [81]
    assert ports("--addr=10.0.0.1", "--addr=10.1.0.1") == [80, 81]
    assert ports("mode=tcp") == [81]
    # It has no link group, so its mode is not known yet.
    assert ports("state=active", "mode=-") == [80]
    assert ports("reason=03030000") == [81]
    assert ports("peer-port=80") == [81]
    assert [x["id"] for x in smcctl("--direct", "-j", "links", "show", "--state", "active").json["links"]] == [1]
    assert smcctl("--direct", "-j", "links", "show", "state=inactive").json["links"] == []
    check(smcctl("sockets", "show", "mode=smcx"), 2, re.compile("smcr.*tcp.*smcd"))
    check(smcctl("sockets", "show", "port=http"), 2, re.compile("port.*http"))
    check(smcctl("sockets", "show", "stat=active"), 2, re.compile("did you mean"))


def test_programs():
    """pid and program of a socket come from /proc"""
    smcctl = Fake()
    with socket.socket() as s:
        smcctl.do(f"socket cookie=9 proto=af_smc sport=99 dport=1 state=active src=10.0.0.1 dst=10.0.0.2 "
                  f"inode={os.fstat(s.fileno()).st_ino}")
        found = check(smcctl("--direct", "-j", "sockets", "show", "local_port=99"), 0).json["sockets"]
        assert found[0]["pid"] == os.getpid(), found
        with open("/proc/self/comm") as f:
            assert found[0]["program"] == f.read().strip(), found
        assert smcctl("--direct", "-j", "sockets", "show", f"pid={os.getpid()}").json["sockets"] == found
    other = smcctl("--direct", "-j", "sockets", "show", "local_port=80").json["sockets"]
    assert other[0]["pid"] is None and other[0]["program"] is None, other


def test_knobs():
    """knobs with value, default, what buffers become, effect and source; exact in JSON"""
    smcctl = Fake()
    smcctl.do("sysctl wmem 300000\nsysctl rmem 4194304\nsysctl smcr_buf_type 2")
    r = check(smcctl("show"), 0, DIRECT)
    assert re.search(r"^wmem +300000 +64K +512K +new sockets +kernel$", r.out, re.M), r.out
    assert re.search(r"^rmem +4M +64K +smcd 1M, smcr 4M +new sockets +kernel$", r.out, re.M), r.out
    assert re.search(r"^smcr_buf_type +mixed +physical ", r.out, re.M), r.out
    assert re.search(r"^hs_ctrl +- ", r.out, re.M), r.out
    assert "does not have" in r.out
    r = check(smcctl("knobs", "show", "wmem", "smcr_testlink_time", "--json"), 0, DIRECT).json
    assert [(k["name"], k["value"]) for k in r["knobs"]] == [("wmem", 300000), ("smcr_testlink_time", 30)], r
    check(smcctl("show", "wmme"), 1, "smcctl: there is no knob 'wmme' (did you mean wmem?)\n")


def test_namespaces():
    """-n works in a namespace, and an unknown one is an error"""
    smcctl = Fake()
    r = check(smcctl("-n", "blue", "show", "wmem", "-j"), 0, DIRECT).json
    assert r["netns"] == "blue" and r["knobs"][0]["value"] == 131072, r
    check(smcctl("-n", "green", "show"), 1, re.compile("green"))
    for bad in ("../x", "..", "a/b", "x" * 256, "\x1b[31m"):
        r = check(smcctl("-n", bad, "show"), 1, re.compile("namespace"))
        assert "\x1b" not in r.err, r.err


def test_stats():
    """counters and histograms; every counter of the table in JSON"""
    smcctl = Fake()
    r = check(smcctl("stats", "show"), 0, DIRECT)
    assert re.search(r"^tx_bytes +0 +121K$", r.out, re.M), r.out
    assert re.search(r"^ +64K +0 +100 +####################$", r.out, re.M), r.out
    assert re.search(r"^ +8K +0 +5 +#$", r.out, re.M), r.out
    assert re.search(r"^larger +1 +####################", r.out, re.M), r.out
    assert not re.search(r" $", r.out, re.M), "blanks at the end of a line"
    stats = {s["tech"]: s for s in smcctl("stats", "show", "--json").json["stats"]}
    assert stats["smcr"]["tx_bytes"] == 123456
    assert stats["smcr"]["tx_size"][3] == {"le": 65536, "count": 100}
    assert stats["smcd"]["tx_size"][8] == {"le": None, "count": 1}


def test_explain():
    """a code or its name, explained without any kernel"""
    smcctl = Fake("era none")
    for code in ("0x03030000", "3030000", "nosmcdev", "SMC_CLC_DECL_NOSMCDEV"):
        r = check(smcctl("explain", code), 0)
        assert "0x03030000  NOSMCDEV" in r.out and "to do" in r.out, r.out
    r = check(smcctl("explain", "-j", "0x03030000", "PEERNOSMC"), 0).json
    assert [x["name"] for x in r["reasons"]] == ["NOSMCDEV", "PEERNOSMC"] and r["schema"] == 1, r
    assert "not in the table" in check(smcctl("explain", "0x12345678"), 1).out
    check(smcctl("explain", "NOSUCHTHING"), 1, re.compile("NOSUCHTHING"))
    check(smcctl("explain"), 2, re.compile("needs CODE"))


def test_metrics():
    """the exposition, and the same text in JSON"""
    smcctl = Fake()
    r = check(smcctl("metrics"), 0, DIRECT)
    assert 'smc_transmit_bytes_total{tech="smcr"} 123456' in r.out, r.out
    assert 'smc_transmit_bytes_total{tech="smcr"} 123456' in smcctl("metrics", "--json").json["metrics"]


def test_status():
    """status says what is there, also without SMC"""
    smcctl = Fake()
    r = check(smcctl("status"), 0, DIRECT)
    assert "not running" in r.out and "2 link groups with 4 connections, 1 devices" in r.out, r.out
    r = smcctl("status", "--json").json
    assert r["status"]["use"]["fallbacks_client"] == 70000 and r["status"]["version"] is None, r
    for era in ("none", "unloaded"):
        r = check(Fake("era " + era)("status"), 0, DIRECT)
        assert "SMC is not there" in r.out, r.out
    r = check(smcctl("status", "--direct"), 0)
    assert re.search("^smcd +not asked", r.out), r.out


def test_no_smc():
    """without SMC lists are errors that say so, never empty"""
    for era in ("none", "unloaded"):
        smcctl = Fake("era " + era)
        for noun in ("linkgroups", "links", "sockets", "pnet", "ueid", "fallbacks", "stats"):
            r = check(smcctl(noun, "show", "--direct"), 1, re.compile("smc"))
            assert r.out == "", r.out
    assert "module load" not in open(smcctl.script).read()


def test_kernel_errors():
    """a kernel's error is told with its extended ack, never shown as an empty list"""
    smcctl = Fake()
    smcctl.do('fault answer EINVAL 0 cmd=GET_LGR_SMCR text="no such thing"')
    r = check(smcctl("linkgroups", "show", "--direct"), 1, re.compile("no such thing"))
    assert r.out == ""
    r = smcctl("linkgroups", "show", "--direct", "--json")
    assert r.code == 1 and r.json["error"]["exit"] == 1 and "no such thing" in r.json["error"]["message"], r.out
    smcctl.do("fault clear\nfault answer EPERM 0")
    check(smcctl("linkgroups", "show", "--direct"), 77, re.compile("CAP_NET_ADMIN"))


def test_writes_need_smcd():
    """what changes something ends with 4 and says what to do, and changes nothing"""
    smcctl = Fake()
    start = re.compile("smcd is not running .*systemctl start smcd")
    for args in (["set", "wmem=1M"], ["knobs", "set", "wmem=1M", "--save"], ["knobs", "reset", "wmem"],
                 ["pnet", "add", "NETB", "interface=eth1"], ["pnet", "delete", "NETA"], ["pnet", "flush"],
                 ["ueid", "add", "EID2"], ["ueid", "delete", "EID1"], ["ueid", "flush"], ["seid", "enable"],
                 ["seid", "disable"]):
        r = check(smcctl(*args), 4, start)
        assert r.out == "", r.out
    r = smcctl("set", "wmem=1M", "--json")
    assert r.code == 4 and r.json["error"]["exit"] == 4, r.out
    assert smcctl("show", "wmem", "-j").json["knobs"][0]["value"] == 65536
    assert len(smcctl("ueid", "show", "-j").json["ueid"]) == 1


def test_bad_values():
    """every bad value is told with what is allowed, before anything is asked"""
    smcctl = Fake()
    r = check(smcctl("set", "wmem=1M", "rmem=12"), 1, re.compile(
        r"^smcctl: set 'rmem': '12' is out of range: 16384\.\.1073741823 .*\n.*nothing was changed"))
    assert r.out == ""
    for args, says in {
            ("set", "wmem=1Q"): "'1Q'.*K, M or G",
            ("set", "wmem=99999999999999999999"): "out of range",
            ("set", "wmem=99999999999999999999G"): "out of range",
            ("set", "smcr_testlink_time=-1"): "out of range",
            ("set", "smcr_buf_type=both"): "physical, virtual, mixed",
            ("set", "limit_smc_hs=2"): "on",
            ("set", "hs_ctrl=1234567890123456"): "15",
            ("set", "wmem="): "wmem",
            ("set", "wmem=1M", "wmem=2M"): "twice",
            ("set", "mwem=1M"): "did you mean wmem",
            ("knobs", "reset", "mwem"): "did you mean wmem",
            ("pnet", "add", "ABCDEFGHIJKLMNOPQ", "interface=eth0"): "too long: 1 to 16",
            ("pnet", "add", "A B", "interface=eth0"): "letters and digits",
            ("pnet", "add", "", "interface=eth0"): "ID",
            ("pnet", "add", "NETB", "interface=0123456789abcdef"): "15 characters",
            ("pnet", "add", "NETB", "rdma=rxe0", "port=3"): "1..2",
            ("pnet", "add", "NETB", "interface=eth0", "port=1"): "port",
            ("pnet", "delete", "A-B"): "letters and digits",
            ("pnet", "delete", "NETA", "interface="): "interface.*empty",
            ("pnet", "add", "NETB", "rdma=" + "x" * 64): "63 characters",
            ("ueid", "add", "A" * 33): "32",
            ("ueid", "add", "lower"): "A-Z",
            ("ueid", "add", "A B"): "A-Z",
            ("ueid", "add", ""): "UEID",
    }.items():
        check(smcctl(*args), 1, re.compile(says))
    for args in (["set", "wmem"], ["set"], ["set", "=1"], ["pnet", "add", "NETB"], ["ueid", "add"], ["knobs"], ["nonsense"],
                 ["status", "x"], ["--bogus"], [], ["pnet", "add", "N", "interface=a", "interface=b"]):
        assert smcctl(*args).code == 2, args
    r = smcctl("set", "a\x1b[31m=1")
    assert r.code == 1 and "\x1b" not in r.err, r.err


def test_policy_check():
    """policy check needs neither daemon nor kernel and names the place of every problem"""
    smcctl = Fake("era none")
    path = os.path.join(smcctl.dir, "p.json")

    def write(text):
        with open(path, "w") as f:
            f.write(text)

    write('{"version": 1, "knobs": {"wmem": "256K"}, "ueid": ["A"], "seid": true}')
    r = check(smcctl("policy", "check", path), 0)
    assert r.out == "valid: 1 knobs, 0 pnet entries, 1 UEIDs, SEID on\n", r.out
    assert smcctl("policy", "check", path, "-j").json["policy"]["valid"] is True
    write('{"version": 1,\n "knobs": {"wmem": "1Q",\n "rmem": 12}}')
    r = check(smcctl("policy", "check", path), 1, re.compile(f"^{path}:2:.*1Q.*\n{path}:3:.*12.*16384"))
    assert r.out == ""
    r = smcctl("policy", "check", path, "-j")
    assert r.code == 1 and r.json["policy"]["valid"] is False and len(r.json["policy"]["problems"]) == 2, r.out
    check(smcctl("policy", "check", os.path.join(smcctl.dir, "none.json")), 1, re.compile("none.json"))
    check(smcctl("policy", "check"), 2, re.compile("needs FILE"))
    write(json.dumps({"version": 1, "ueid": ["no"] * 120}))
    r = smcctl("policy", "check", path, "-j").json["policy"]
    assert len(r["problems"]) == 100 and r["more_problems"] == 20, r
    write('{"version": 1, "knobs": {"wmem": "1Q"}}')
    # A bad file hides nothing of the others.
    other = os.path.join(smcctl.dir, "q.json")
    with open(other, "w") as f:
        f.write('{"version": 1, "ueid": ["no"]}')
    for files in ((path, other), (os.path.join(smcctl.dir, "none.json"), path, other)):
        r = check(smcctl("policy", "check", *files), 1, re.compile("1Q"))
        assert all(f + ":" in r.err for f in files), r.err


def test_version():
    """versions of both programs"""
    smcctl = Fake("era none")
    r = check(smcctl("version"), 0)
    assert re.match(r"smcctl \d+\.\d+\.\d+\nsmcd +not running\n$", r.out), r.out
    assert check(smcctl("--version"), 0).out == r.out
    assert smcctl("version", "--json").json["version"]["smcd"] is None


def test_help():
    """help of all, of a noun and of a command, on stdout and with exit code 0"""
    smcctl = Fake("era none")
    everything = check(smcctl("--help"), 0).out
    assert everything == check(smcctl("help"), 0).out
    commands = re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?=  | [\[A-Z])", everything, re.M)
    assert len(commands) > 25, commands
    for command in commands:
        out = check(smcctl(*command.split(), "--help"), 0).out
        assert out.startswith(f"Usage: smcctl [OPTION]... {command}"), out
        assert check(smcctl("help", *command.split()), 0).out == out
    assert "autocorking_size" in smcctl("knobs", "set", "--help").out
    assert "knobs reset" in check(smcctl("knobs", "--help"), 0).out
    assert max(map(len, everything.splitlines())) <= 100
    check(smcctl("help", "nonsense"), 2, re.compile("nonsense"))


def test_help_as_json():
    """--json goes with help, too: what the text names"""
    smcctl = Fake("era none")
    r = check(smcctl("help", "--json"), 0).json
    assert r == check(smcctl("--help", "--json"), 0).json and r["schema"] == 1, r
    text = smcctl("help").out
    for command in r["help"]["commands"]:
        words = [command["name"]] + ([command["verb"]] if command["verb"] else [])
        assert " ".join(words) in text and command["summary"].split()[0] in text, command
        one = check(smcctl(*words, "--help", "--json"), 0).json["help"]
        assert one["commands"] == [command] and check(smcctl("help", *words, "-j"), 0).json["help"] == one, one
    assert {"json", "netns"} <= {o["name"] for o in r["help"]["options"]}, r
    assert [e["code"] for e in r["help"]["exit_codes"]] == [0, 1, 2, 4, 77], r
    assert [c["verb"] for c in smcctl("knobs", "-hj").json["help"]["commands"]] == ["show", "set", "reset"]
    assert smcctl("help", "nonsense", "--json").json["error"]["exit"] == 2


def test_output_errors():
    """a full disk is an error, not success"""
    smcctl = Fake()
    with open("/dev/full", "w") as full:
        done = subprocess.run(["smcctl-fake", "--direct", "show"], env={**os.environ, "SMCD_FAKE": smcctl.script},
                              stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "No space left" in done.stderr, done


def test_incomplete():
    """a list that changes during three readings is marked and said to be incomplete"""
    smcctl = Fake()
    smcctl.do("fault dump intr 0")
    r = check(smcctl("linkgroups", "show", "--json", "--direct"), 0, re.compile("three times"))
    assert r.json["incomplete"] is True, r.out


if __name__ == "__main__":
    run(tests_of(sys.modules[__name__]))
