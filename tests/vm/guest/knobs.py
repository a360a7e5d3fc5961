#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.1 6.12 6.12-smcd
# timeout: 300
"""Every knob of this kernel: what smcctl sets sysctl shows and the other way round; one past each bound is refused by
smcctl, by smcd itself where nobody else checks before it, and by the kernel where the kernel has that bound; a refusal changes
nothing."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/vm/tools"))
from guest import KERNEL, Smcd, check, fail, refused, run, same, smcctl, varlink  # noqa: E402

SYSCTL = "/proc/sys/net/smc/"
# What kernels are known to have: a knob that vanished from the listing must not make this test shorter in silence.
EXPECTED = {
    "6.1": {"autocorking_size", "smcr_buf_type", "smcr_testlink_time", "wmem", "rmem", "limit_smc_hs"},
    "6.12": {"autocorking_size", "smcr_buf_type", "smcr_testlink_time", "wmem", "rmem", "smcr_max_links_per_lgr",
             "smcr_max_conns_per_lgr", "limit_smc_hs"},
}
EXPECTED["6.12-smcd"] = EXPECTED["6.12"] | {"hs_workers", "lo_max_dmbs", "cork_mode", "cork_ceiling", "tx_nocache_min"}
# smcr_testlink_time: proc_dointvec_jiffies takes negatives, and no more than INT_MAX / HZ, where Debian has HZ=250.
KERNEL_MAX = {"smcr_testlink_time": (2**31 - 1) // 250}
KERNEL_TAKES_NEGATIVES = {"smcr_testlink_time"}


def sysctl_read(name):
    with open(SYSCTL + name) as f:
        return f.read().strip()


def sysctl_write(name, value):
    with open(SYSCTL + name, "w") as f:
        f.write(str(value))


def sysctl_refuses(name, value):
    try:
        sysctl_write(name, value)
    except OSError:
        return True
    return False


def bounds(knob):
    if knob["choices"]:
        return 0, len(knob["choices"]) - 1
    if isinstance(knob["value"], bool):
        return 0, 1
    return knob["min"], KERNEL_MAX.get(knob["name"], knob["max"])


def shown(knob, number):
    """How JSON writes this number of the knob."""
    if knob["choices"]:
        return knob["choices"][number]
    return bool(number) if isinstance(knob["value"], bool) else number


def value_of(name):
    return smcctl("show", name)["knobs"][0]["value"]


def check_both_ways(knob, number):
    name = knob["name"]
    run("smcctl", "knobs", "set", f"{name}={number}")
    same(f"{name}={number} set by smcctl is what sysctl shows", str(number), sysctl_read(name))
    other = bounds(knob)[0] if number != bounds(knob)[0] else bounds(knob)[1]
    run("sysctl", "-qw", f"net.smc.{name}={other}")
    same(f"{name}={other} set by sysctl is what smcctl shows", shown(knob, other), value_of(name))


def check_refused(knob, number, by_kernel):
    name, before = knob["name"], sysctl_read(knob["name"])
    says = refused("smcctl", "knobs", "set", f"{name}={number}")
    check(f"{name}={number} is refused by name", name in says and str(number) in says, says)
    same(f"{name}: a refusal changes nothing", before, sysctl_read(name))
    if by_kernel:
        check(f"{name}={number} is refused by the kernel too", sysctl_refuses(name, number))
    else:
        print(f"   (the kernel itself has no such bound on {name})")


def check_refused_by_smcd(knob, number):
    """By varlink, past the checks of smcctl."""
    name, before = knob["name"], sysctl_read(knob["name"])
    parameters, error = varlink("SetKnobs", values={name: str(number)})
    same(f"{name}={number} is refused by smcd", ("org.smcd.Manager.OutOfRange", name), (error, parameters.get("name")))
    same(f"{name}: that changes nothing", before, sysctl_read(name))


def check_knob(knob):
    low, high = bounds(knob)
    for number in (low - 1, knob["max"] + 1 if high == KERNEL_MAX.get(knob["name"]) else high + 1):
        check_refused_by_smcd(knob, number)
    for number in (low, high):
        check_both_ways(knob, number)
    check_refused(knob, low - 1, low > 0 or knob["name"] not in KERNEL_TAKES_NEGATIVES)
    check_refused(knob, high + 1, True)
    run("smcctl", "knobs", "reset", "--default", knob["name"])
    same(f"{knob['name']} is back at its default", knob["default"], value_of(knob["name"]))


def check_hs_limitation(knob):
    """Netlink against netlink, by an independent tool; on 6.1 there is no sysctl for it."""
    for word in ("on", "off"):
        run("smcctl", "knobs", "set", f"limit_smc_hs={word}")
        same(f"limit_smc_hs={word} by smcctl is what netlink shows", word, run("ueid.py", "hs").strip())
    run("ueid.py", "hs", "on")
    same("handshake limitation by netlink is what smcctl shows", True, value_of("limit_smc_hs"))
    run("ueid.py", "hs", "off")
    refused("smcctl", "knobs", "set", "limit_smc_hs=2")
    for number in (-1, 2):
        same(f"limit_smc_hs={number} is refused by smcd", "org.smcd.Manager.OutOfRange",
             varlink("SetKnobs", values={"limit_smc_hs": str(number)})[1])
    same("and nothing was changed", "off", run("ueid.py", "hs").strip())
    same("what SetKnobs takes by varlink", None, varlink("SetKnobs", values={"limit_smc_hs": "on"})[1])
    same("is in the kernel", "on", run("ueid.py", "hs").strip())
    run("ueid.py", "hs", "off")
    same("limit_smc_hs: its surface", "smc_tune" if smcctl("status")["status"]["kernel"]["tune"] else
         "sysctl" if os.path.exists(SYSCTL + "limit_smc_hs") else "netlink", knob["surface"])


def check_all_or_nothing():
    run("smcctl", "set", "wmem=128K", "rmem=128K")
    says = refused("smcctl", "set", "wmem=1M", "rmem=12")
    check("the failing value and its range are named", "rmem" in says and "16384..1073741823" in says, says)
    same("wmem is as it was", "131072", sysctl_read("wmem"))
    same("rmem is as it was", "131072", sysctl_read("rmem"))
    says = refused("smcctl", "set", "wmem=12Q")
    check("a bad suffix is said to be one", "12Q" in says, says)
    says = refused("smcctl", "set", "wmen=64K")
    check("a misspelt knob gets a suggestion", "wmem" in says, says)


def main():
    if not os.path.isdir(SYSCTL):
        subprocess.run(["modprobe", "smc"], check=True)
    with Smcd():
        knobs = [k for k in smcctl("knobs", "show")["knobs"] if k["supported"]]
        if smcctl("status")["status"]["kernel"]["tune"]:
            KERNEL_TAKES_NEGATIVES.clear()  # there all are unsigned
        same("the knobs of this kernel", EXPECTED["6.12-smcd" if KERNEL.startswith("6.12-") else KERNEL], {k["name"] for k in knobs})
        files = set(os.listdir(SYSCTL))
        same("no sysctl of this kernel is missing in the table", set(), files - {k["name"] for k in knobs})
        for knob in knobs:
            if knob["surface"] in ("sysctl", "smc_tune"):
                check_knob(knob)
            elif knob["name"] != "limit_smc_hs":
                fail(f"{knob['name']}: no check for the surface {knob['surface']}")
        check_hs_limitation(next(k for k in knobs if k["name"] == "limit_smc_hs"))
        check_all_or_nothing()


main()
