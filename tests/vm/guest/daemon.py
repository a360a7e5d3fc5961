#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12
# timeout: 360
"""smcd on a real kernel: apply, override, reset, reload, what it made is undone and what others made stays, restart, stop,
kill -9; namespaces, entered by smcd itself (as root it may) and through the helper."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import PATIENCE, ROOT, Smcd, check, refused, run, same, smcctl, wait_for  # noqa: E402

POLICY = {"version": 1, "knobs": {"wmem": "256K", "smcr_testlink_time": 60, "smcr_buf_type": "mixed"},
          "pnet": [{"id": "MINE", "interface": "d0"}, {"id": "MINE", "interface": "d1"}], "ueid": ["MINE-1", "MINE-2"]}


# smcd-netns, and a helper that dies when it is told to: in the midst of what smcd has asked it.
HELPER, HELPER_DIES, HELPER_USED = "/run/helper", "/run/helper-dies", "/run/helper-used"
HELPER_TEXT = f"""#!/bin/sh
echo >> {HELPER_USED}
[ ! -e {HELPER_DIES} ] || kill -KILL $$
exec {ROOT}/build/bin/smcd-netns "$@"
"""


def sysctl(name, netns=None):
    return run(*(["ip", "netns", "exec", netns] if netns else []), "sysctl", "-n", f"net.smc.{name}").strip()


def pnet(netns=None):
    lines = run(*(["ip", "netns", "exec", netns] if netns else []), "ueid.py", "pnet").splitlines()
    return sorted((p["pnetid"], p["eth"]) for p in map(json.loads, lines))


def ueid():
    return sorted(run("ueid.py", "dump").split())


def reload(daemon, policy, valid=True):
    """`smcd --reload` ends when the new policy is in force or refused."""
    daemon.write(policy)
    done = subprocess.run([daemon.process.args[0], "--reload"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=PATIENCE)
    same(f"reload ({done.stdout.strip()})", 0 if valid else 1, done.returncode)
    return done.stdout


def check_applied():
    same("knobs of the policy", ("262144", "60", "2"), (sysctl("wmem"), sysctl("smcr_testlink_time"), sysctl("smcr_buf_type")))
    same("pnet table of the policy", [("MINE", "d0"), ("MINE", "d1"), ("OTHERS", "d2")], pnet())
    same("UEIDs of the policy", ["MINE-1", "MINE-2", "OTHERS-EID"], ueid())


def check_overrides(daemon):
    run("smcctl", "set", "wmem=1M")
    same("an override is in the kernel", "1048576", sysctl("wmem"))
    same("and known as one", "override", smcctl("show", "wmem")["knobs"][0]["source"])
    reload(daemon, POLICY)
    same("a reload leaves the override", "1048576", sysctl("wmem"))
    daemon.stop()
    same("stopping changes nothing", "1048576", sysctl("wmem"))
    daemon.start()
    same("a restart keeps the override", "1048576", sysctl("wmem"))
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait(PATIENCE)
    daemon.start()
    same("so does kill -9", "override", smcctl("show", "wmem")["knobs"][0]["source"])
    check_applied_after_reset()


def check_applied_after_reset():
    run("smcctl", "knobs", "reset", "wmem")
    same("reset is the policy's value", "262144", sysctl("wmem"))
    run("smcctl", "knobs", "reset", "--default", "wmem")
    same("reset --default is the kernel's", "65536", sysctl("wmem"))
    run("smcctl", "knobs", "reset", "wmem")
    same("and reset leads back", "262144", sysctl("wmem"))


def check_reload(daemon):
    says = reload(daemon, '{"version": 1, "knobs": {"wmem": "64K",}}', valid=False)
    check("an invalid policy is refused with its place", "policy.json:1:39:" in says, says)
    check_applied()
    reload(daemon, {"version": 1, "pnet": [{"id": "MINE", "interface": "d1"}], "ueid": ["MINE-2"]})
    same("knobs that are no longer named are as before smcd", ("65536", "30", "0"),
         (sysctl("wmem"), sysctl("smcr_testlink_time"), sysctl("smcr_buf_type")))
    same("what smcd made is undone, what others made stays", [("MINE", "d1"), ("OTHERS", "d2")], pnet())
    same("UEIDs too", ["MINE-2", "OTHERS-EID"], ueid())


def check_refused_by_kernel(daemon):
    """Five UEIDs do not fit beside the one that others made: the whole policy is put back."""
    says = reload(daemon, {"version": 1, "knobs": {"rmem": "1M"}, "pnet": [{"id": "MINE", "interface": "d1"}],
                           "ueid": ["MINE-2", "X3", "X4", "X5"]}, valid=False)
    check("what the kernel refused is named", "X5" in says, says)
    same("knobs are back", "65536", sysctl("rmem"))
    same("UEIDs are back", ["MINE-2", "OTHERS-EID"], ueid())


def check_namespaces():
    run("ip", "netns", "add", "blue")
    run("smcctl", "-n", "blue", "set", "wmem=32K")
    same("set in another namespace", "32768", sysctl("wmem", "blue"))
    same("not in this one", "65536", sysctl("wmem"))
    run("ip", "netns", "exec", "blue", "sysctl", "-qw", "net.smc.rmem=131072")
    document = smcctl("-n", "blue", "show", "rmem")
    same("and shown from there", ("blue", 131072), (document["netns"], document["knobs"][0]["value"]))
    run("smcctl", "-n", "blue", "pnet", "add", "BLUENET", "interface=lo")
    same("a pnet entry there", [("BLUENET", "lo")], pnet("blue"))
    same("and none here", [], [p for p in pnet() if p[0] == "BLUENET"])
    same("is shown from there", ["BLUENET"], [p["id"] for p in smcctl("-n", "blue", "pnet", "show")["pnet"]])
    for noun in ("stats", "sockets", "fallbacks"):
        same(f"{noun} from there", "blue", smcctl("-n", "blue", noun, "show")["netns"])
    says = refused("smcctl", "-n", "nowhere", "show")
    check("a namespace that is not there is named", "nowhere" in says, says)


def check_new_namespace(daemon):
    """A namespace made anew under a name is another one: nothing of the old one's is shown of it or brought into it."""
    run("ip", "netns", "delete", "blue")
    run("ip", "netns", "add", "blue")
    knob = smcctl("-n", "blue", "show", "wmem")["knobs"][0]
    same("a namespace made anew has its own value, and no override", (65536, False), (knob["value"], knob["source"] == "override"))
    daemon.stop()
    daemon.start()
    same("a restart of smcd brings nothing of the old one into it", ("65536", "65536"), (sysctl("wmem", "blue"), sysctl("rmem", "blue")))
    same("nor a pnet entry", [], pnet("blue"))
    run("ip", "netns", "delete", "blue")


def check_helper_dies():
    """The helper is killed while smcd waits for its answer: an error that names it, nothing changed, and then all is well."""
    before = sysctl("wmem", "blue")
    with open(HELPER_DIES, "w"):
        pass
    says = refused("smcctl", "-n", "blue", "set", "wmem=128K")
    check("a helper that dies is named", "helper" in says, says)
    same("nothing was set", before, sysctl("wmem", "blue"))
    same("smcd answers", "wmem", smcctl("show", "wmem")["knobs"][0]["name"])
    os.unlink(HELPER_DIES)
    run("smcctl", "-n", "blue", "set", "wmem=128K")
    same("the next helper does it", "131072", sysctl("wmem", "blue"))


def check_helper():
    with open(HELPER, "w") as f:
        f.write(HELPER_TEXT)
    os.chmod(HELPER, 0o755)
    with Smcd(options=[f"--netns-helper={HELPER}"]) as daemon:
        check_namespaces()
        check("the helper has done it", os.path.exists(HELPER_USED))
        check_helper_dies()
        check_new_namespace(daemon)


def main():
    subprocess.run(["modprobe", "-a", "smc", "smc_diag"], check=True)
    for i in range(3):
        run("ip", "link", "add", f"d{i}", "type", "dummy")
    run("ueid.py", "pnet-add", "OTHERS", "d2")
    run("ueid.py", "add", "OTHERS-EID")
    with Smcd(POLICY) as daemon:
        check_applied()
        check_overrides(daemon)
        check_reload(daemon)
        check_refused_by_kernel(daemon)
        check_namespaces()
        check_new_namespace(daemon)
    check_helper()


main()
