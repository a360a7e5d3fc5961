#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is changed at run time: overrides of knobs, saving, resetting, namespaces, pnet, UEID, SEID."""
import json
import os
import sys

import smcdtest
from smcdtest import Daemon, on_era, run, tests_of

POLICY = {"version": 1, "knobs": {"wmem": "256K"}, "pnet": [{"id": "NETA", "interface": "eth0"}], "ueid": ["PROD-EID-1"]}
SAVED = "90-smcctl.json"


def has_tune():
    return smcdtest.ERA == "6.12-smcd"


def refuse_set(error, knob):
    """The fault by which a set that has the knob fails."""
    return f"fault answer {error} 0 cmd=KNOB_SET" if has_tune() else f"fault sysctl_write {error} 0 cmd={knob}"


def set_knobs(d, values, **more):
    return d.ok("SetKnobs", {"values": values, **more})["knobs"]


def reset(d, *names, **more):
    return d.ok("ResetKnobs", {"names": list(names), **more})["knobs"]


def saved_text(d):
    try:
        with open(os.path.join(d.policy_dir, SAVED)) as f:
            return f.read()
    except FileNotFoundError:
        return None


def test_set():
    """SetKnobs: applied, shown, kept as overrides; the reply has the knobs that were named"""
    with Daemon(POLICY) as d:
        knobs = {k["name"]: k for k in set_knobs(d, {"wmem": "1M", "limit_smc_hs": "on", "smcr_buf_type": "mixed"})}
        assert {n: k["value"] for n, k in knobs.items()} == {"wmem": 1048576, "limit_smc_hs": True,
                                                             "smcr_buf_type": "mixed"}, knobs
        assert {k["source"] for k in knobs.values()} == {"override"}
        overrides = {o["name"]: o for o in d.policy_status()["overrides"]}
        assert sorted(overrides) == ["limit_smc_hs", "smcr_buf_type", "wmem"], overrides
        assert overrides["wmem"] == {"netns": "", "name": "wmem", "value": "1M", "saved": False}, overrides
        assert "set 'wmem' to 1048576 (was 262144) [override]" in d.log()
        states = {s["pointer"]: s["state"] for s in d.ok("GetPolicy")["settings"]}
        assert states["/knobs/wmem"] == "overridden", states


def test_all_or_nothing():
    """One bad value and nothing is changed; the error names it and its range"""
    with Daemon(POLICY) as d:
        before = (d.knobs(), d.state())
        cases = [({"wmem": "1M", "rmem": "12"}, "OutOfRange", "rmem"), ({"wmem": "1M", "rmem": "12Q"}, "OutOfRange", "rmem"),
                 ({"wmem": "1M", "rmen": "64K"}, "NoSuchKnob", "rmen"), ({"wmem": "99999999999999999999"}, "OutOfRange", "wmem"),
                 ({"wmem": "1M", "hs_ctrl": "x"}, "Unsupported", "hs_ctrl"),
                 ({"wmem": "1M", "smcr_testlink_time": "-1"}, "OutOfRange", "smcr_testlink_time"),
                 ({"wmem": "", "rmem": "64K"}, "OutOfRange", "wmem")]
        for values, error, name in cases:
            got, parameters = d.error("SetKnobs", {"values": values})
            assert (got, parameters["name"]) == (error, name), (values, got, parameters)
            if error == "OutOfRange":
                assert parameters["allowed"] and parameters["message"], parameters
            assert (d.knobs(), d.state()) == before, values
        assert d.error("SetKnobs", {"values": {"rmem": "12"}})[1]["allowed"].startswith("16384..1073741823")
        assert d.error("SetKnobs", {"values": {"rmen": "64K"}})[1]["suggestion"] == "rmem"
        assert d.error("SetKnobs", {"values": {}})[0] == "InvalidParameter"


def test_kernel_refuses():
    """The kernel refuses one of several, or takes it and keeps another value: the others are put back"""
    for fault, name in (("EINVAL", "EINVAL"), ("EPERM", "EPERM"), ("ignored", "EIO")):
        with Daemon(POLICY) as d:
            before = (d.knobs(), d.state())
            d.kernel(refuse_set(fault, "rmem"))
            error, parameters = d.error("SetKnobs", {"values": {"wmem": "1M", "rmem": "1M", "limit_smc_hs": "on"}})
            assert error == "Kernel" and parameters["errno_name"] == name and "rmem" in parameters["message"], parameters
            d.kernel("fault clear")
            assert (d.knobs(), d.state()) == before, f"{fault}: {d.knobs()}"
            assert d.policy_status()["overrides"] == []


def test_override_lasts():
    """An override lasts over reloads and a restart of smcd, and not over a reboot"""
    with Daemon(POLICY) as d:
        set_knobs(d, {"wmem": "1M", "rmem": "128K"})
        d.kernel("sysctl rmem 65536")
        d.ok("Reload")
        assert d.value("wmem") == 1048576 and d.value("rmem") == 131072, "a reload brings the override back"
        assert d.stop() == 0
        d.start()
        assert d.value("wmem") == 1048576 and d.knob("wmem")["source"] == "override"
        d.stop()
        state = d.state()
        state["boot_id"] = "another"
        with open(os.path.join(d.state_dir, "state.json"), "w") as f:
            json.dump(state, f)
        d.start()
        assert d.value("wmem") == 262144 and d.policy_status()["overrides"] == []


def test_reset():
    """reset: the policy's value, else the one before smcd, else the kernel's default"""
    with Daemon(POLICY, fake="era 6.12\nsysctl rmem 98304\nsysctl autocorking_size 1000\n") as d:
        set_knobs(d, {"wmem": "1M", "rmem": "1M"})
        assert {k["name"]: k["value"] for k in reset(d, "wmem", "rmem", "autocorking_size")} == {
            "wmem": 262144, "rmem": 98304, "autocorking_size": 65536}
        assert d.policy_status()["overrides"] == [] and d.knob("wmem")["source"] == "policy"
        d.write_policy({"version": 1})
        d.ok("Reload")
        assert d.value("wmem") == 65536, "what the policy made is still undone after a reset"
        assert d.error("ResetKnobs", {"names": ["wmen"]})[0] == "NoSuchKnob"
        assert d.error("ResetKnobs", {"names": ["hs_ctrl"]})[0] == "Unsupported"


def test_reset_all():
    """reset without names: all that smcd has to do with, and nothing that others set"""
    with Daemon(POLICY, fake="era 6.12\nsysctl autocorking_size 1000\n") as d:
        set_knobs(d, {"wmem": "1M", "rmem": "1M"})
        reset(d)
        assert (d.value("wmem"), d.value("rmem"), d.value("autocorking_size")) == (262144, 65536, 1000), d.knobs()


def test_reset_default():
    """reset to the kernel's default: an override only where the policy says otherwise"""
    with Daemon(POLICY) as d:
        set_knobs(d, {"rmem": "1M"})
        reset(d, "wmem", "rmem", to_default=True)
        assert d.value("wmem") == 65536 and d.value("rmem") == 65536
        assert [o["name"] for o in d.policy_status()["overrides"]] == ["wmem"]
        d.ok("Reload")
        assert d.value("wmem") == 65536
        reset(d, "wmem")
        assert d.value("wmem") == 262144 and d.policy_status()["overrides"] == []


def test_save():
    """save: written for the next boot, and what reset goes back to"""
    with Daemon(POLICY) as d:
        set_knobs(d, {"wmem": "1M", "rmem": "128K"}, save=True)
        with open(os.path.join(d.policy_dir, SAVED)) as f:
            saved = json.load(f)
        assert sorted(saved["knobs"]) == ["rmem", "wmem"] and saved["version"] == 1, saved
        assert all(o["saved"] for o in d.policy_status()["overrides"])
        set_knobs(d, {"wmem": "2M"})
        reset(d, "wmem")
        assert d.value("wmem") == 1048576, "the policy's value is the saved one now"
        settings = {s["pointer"]: s for s in d.ok("GetPolicy")["settings"]}
        assert settings["/knobs/wmem"]["file"].endswith(SAVED) and settings["/knobs/wmem"]["line"] > 0, settings
        d.stop()
        os.unlink(os.path.join(d.state_dir, "state.json"))
        d.start()
        assert d.value("wmem") == 1048576 and d.value("rmem") == 131072


def test_save_fails():
    """What cannot be saved is not set either"""
    with Daemon(POLICY) as d:
        before = (d.knobs(), d.state())
        with open(os.path.join(d.policy_dir, SAVED), "w") as f:
            f.write("{ broken")
        error, parameters = d.error("SetKnobs", {"values": {"wmem": "1M"}, "save": True})
        assert error == "Kernel" and SAVED in parameters["message"], (error, parameters)
        assert (d.knobs(), d.state()) == before
        with open(os.path.join(d.policy_dir, SAVED)) as f:
            assert f.read() == "{ broken"
        os.unlink(os.path.join(d.policy_dir, SAVED))
        d.write_policy("{ broken")
        error, parameters = d.error("SetKnobs", {"values": {"wmem": "1M"}, "save": True})
        assert error == "Kernel" and d.policy in parameters["message"], "it would not be applied at the next boot"
        assert (d.knobs(), d.state(), saved_text(d)) == (*before, None)


def test_save_outranked():
    """Saving what a later file overrides is refused, names that file and changes nothing"""
    with Daemon(POLICY, start=False) as d:
        last = os.path.join(d.policy_dir, "95-last.json")
        with open(last, "w") as f:
            json.dump({"version": 1, "knobs": {"rmem": "128K"}}, f)
        d.start()
        before = (d.knobs(), d.state())
        error, parameters = d.error("SetKnobs", {"values": {"wmem": "1M", "rmem": "1M"}, "save": True})
        assert error == "Unsupported" and parameters["name"] == "save", (error, parameters)
        assert f"{last}:1 is read after" in parameters["message"] and "'rmem'" in parameters["message"], parameters
        assert (d.knobs(), d.state()) == before and not os.path.exists(os.path.join(d.policy_dir, SAVED))
        set_knobs(d, {"wmem": "1M"}, save=True)
        saved = saved_text(d)
        assert d.error("SetKnobs", {"values": {"rmem": "1M"}, "save": True})[0] == "Unsupported"
        assert saved_text(d) == saved
        d.ok("Reload")
        assert d.value("wmem") == 1048576 and d.value("rmem") == 131072


def test_save_put_back():
    """What the kernel refuses is not saved either: the saved policy is as before"""
    with Daemon(POLICY) as d:
        for there in (False, True):
            if there:
                set_knobs(d, {"wmem": "1M"}, save=True)
            before = (d.knobs(), d.state(), saved_text(d))
            for fault in ("EINVAL", "ignored"):
                d.kernel(refuse_set(fault, "rmem"))
                assert d.error("SetKnobs", {"values": {"wmem": "2M", "rmem": "1M"}, "save": True})[0] == "Kernel"
                d.kernel("fault clear")
                assert (d.knobs(), d.state(), saved_text(d)) == before, fault
                d.ok("Reload")
                assert d.knobs() == before[0], fault


def test_reset_saved():
    """reset with save: out of the saved policy too; what lies below is in force, now and at the next boot"""
    with Daemon(POLICY) as d:
        set_knobs(d, {"wmem": "1M", "rmem": "128K", "limit_smc_hs": "on"}, save=True)
        for restart in (False, True):
            if restart:
                d.stop()
                os.unlink(os.path.join(d.state_dir, "state.json"))
                d.kernel("era 6.12")
                d.start()
            names = ["rmem"] if restart else ["wmem"]
            reset(d, *names)
            assert d.value(names[0]) == (131072 if restart else 1048576), "without save the saved value is the policy's"
            before = (d.knobs(), saved_text(d))
            d.kernel(refuse_set("EPERM", names[0]))
            assert d.error("ResetKnobs", {"names": names, "save": True})[0] == "Kernel"
            d.kernel("fault clear")
            assert (d.knobs(), saved_text(d)) == before
            reset(d, *names, save=True)
            assert d.value(names[0]) == (65536 if restart else 262144), d.knobs()
            assert names[0] not in json.loads(saved_text(d))["knobs"]
            assert not any(s["pointer"] == "/knobs/rmem" for s in d.ok("GetPolicy")["settings"]) or not restart
            d.ok("Reload")
            assert d.value(names[0]) == (65536 if restart else 262144), d.knobs()
        reset(d, save=True)
        assert json.loads(saved_text(d))["knobs"] == {} and not d.value("limit_smc_hs") and d.value("wmem") == 262144
        reset(d, "wmem", save=True)
        assert d.error("ResetKnobs", {"names": [], "netns": "x", "save": True})[0] == "Unsupported"


def test_namespaces():
    """Knobs, lists and overrides of another namespace are its own"""
    with Daemon(POLICY, fake="era 6.12\nnetns blue\npnet BLUE eth=eth5\nnetns\n") as d:
        set_knobs(d, {"wmem": "1M"}, netns="blue")
        assert d.value("wmem", "blue") == 1048576 and d.value("wmem") == 262144
        assert d.knob("wmem", "blue")["source"] == "override" and d.knob("wmem")["source"] == "policy"
        assert d.policy_status()["overrides"] == [{"netns": "blue", "name": "wmem", "value": "1M", "saved": False}]
        reply = d.ok("ListPnet", {"netns": "blue"})
        assert reply["netns"] == "blue" and [p["id"] for p in reply["pnet"]] == ["BLUE"], reply
        d.ok("AddPnet", {"netns": "blue", "id": "net2", "interface": "eth6"})
        assert len(d.ok("ListPnet", {"netns": "blue"})["pnet"]) == 2 and len(d.pnet()) == 1
        d.ok("GetStats", {"netns": "blue"})
        assert "smc_up 1" in d.ok("GetMetrics", {"netns": "blue"})["metrics"]
        d.stop()
        d.start()
        assert d.value("wmem", "blue") == 1048576 and d.policy_status()["overrides"][0]["netns"] == "blue"
        reset(d, "wmem", netns="blue")
        assert d.value("wmem", "blue") == 65536 and d.policy_status()["overrides"] == []
        assert list(d.state()["namespaces"]) == [""]
        for netns, error in (("red", "NoSuchNamespace"), ("../blue", "InvalidParameter"), ("x" * 300, "InvalidParameter"),
                             ("..", "InvalidParameter")):
            got, parameters = d.error("ListKnobs", {"netns": netns})
            assert got == error, (netns, got, parameters)
        got, parameters = d.error("SetKnobs", {"values": {"wmem": "1M"}, "netns": "blue", "save": True})
        assert got == "Unsupported" and parameters["name"] == "save", parameters


def test_namespace_made_anew():
    """Another namespace under the same name knows nothing of the old one's overrides"""
    with Daemon(POLICY, fake="era 6.12\nnetns blue\nnetns\n") as d:
        set_knobs(d, {"wmem": "1M", "rmem": "1M"}, netns="blue")
        d.kernel("netns_del blue\nnetns blue\nsysctl wmem 1048576\nnetns")
        assert d.value("wmem", "blue") == 1048576 and d.knob("wmem", "blue")["source"] == "kernel"
        set_knobs(d, {"autocorking_size": "0"}, netns="blue")
        assert [o["name"] for o in d.policy_status()["overrides"]] == ["autocorking_size"], d.policy_status()


def test_pnet():
    """AddPnet, DeletePnet, FlushPnet, and what they refuse"""
    with Daemon(POLICY) as d:
        d.ok("AddPnet", {"id": "netb", "interface": "eth1"})
        d.ok("AddPnet", {"id": "NETB", "rdma": "rxe1", "port": 2})
        assert d.pnet() == [("NETA", "eth0", "", 0), ("NETB", "", "rxe1", 2), ("NETB", "eth1", "", 0)], d.pnet()
        before = d.pnet()
        assert d.error("AddPnet", {"id": "NETB", "interface": "eth1"})[1]["errno_name"] == "EEXIST"
        for bad in ({"id": "A" * 17, "interface": "eth1"}, {"id": "A B", "interface": "eth1"}, {"id": "", "interface": "eth1"},
                    {"id": "NETC"}, {"id": "NETC", "rdma": "rxe2", "port": 3}, {"id": "NETC", "rdma": "rxe2", "port": 257},
                    {"id": "NETC", "interface": "e" * 16}, {"id": "NETC", "rdma": "r" * 64}):
            error, parameters = d.error("AddPnet", bad)
            assert error == "OutOfRange" and parameters["allowed"] and parameters["message"], (bad, error, parameters)
        assert d.error("DeletePnet", {"id": "NETX"})[1]["errno_name"] == "ENOENT"
        assert d.pnet() == before
        d.ok("DeletePnet", {"id": "netb", "interface": "eth1"})
        assert d.pnet() == [("NETA", "eth0", "", 0), ("NETB", "", "rxe1", 2)]
        d.ok("DeletePnet", {"id": "NETB"})
        assert d.pnet() == [("NETA", "eth0", "", 0)]
        d.ok("FlushPnet")
        assert d.pnet() == [] and d.state()["pnet"] == []
        d.ok("Reload")
        assert d.pnet() == [("NETA", "eth0", "", 0)], "what the policy names is back"


def test_pnet_replace():
    """ReplacePnet: the whole table at a time, or nothing; where the kernel cannot it says what is needed"""
    with Daemon(POLICY, fake="era 6.12\nnetns blue\nnetns\n") as d:
        new = [{"id": "netx", "interface": "eth5"}, {"id": "NETY", "rdma": "rxe0", "port": 2}]
        if not has_tune():
            error, parameters = d.error("ReplacePnet", {"entries": new})
            assert error == "Unsupported" and "smc_tune" in parameters["message"], parameters
            assert d.pnet() == [("NETA", "eth0", "", 0)], d.pnet()
            return
        d.ok("ReplacePnet", {"entries": new})
        table = [("NETX", "eth5", "", 0), ("NETY", "", "rxe0", 2)]
        assert d.pnet() == table, d.pnet()
        bad = [({"id": "NETX", "interface": "eth5"}, "Kernel"), ({"id": "NE TX", "interface": "eth6"}, "OutOfRange"),
               ({"id": "NETX"}, "OutOfRange"), ({"id": "NETX", "interface": "eth6", "rdma": "rxe0"}, "OutOfRange"),
               ({"interface": "eth6"}, "InvalidParameter"), ({"id": "NETX", "interface": 6}, "InvalidParameter"),
               ({"id": "NETX", "interface": "eth6", "mtu": 1}, "InvalidParameter")]
        for entry, error in bad:
            got, parameters = d.error("ReplacePnet", {"entries": new + [entry]})
            assert got == error, (entry, got, parameters)
            assert d.pnet() == table, entry
        assert d.error("ReplacePnet", {"entries": "all"})[0] == "InvalidParameter"
        # not smcd's to undo any more, and the policy's entry comes back with a reload
        assert d.state()["pnet"] == [], d.state()
        d.ok("ReplacePnet", {"entries": [{"id": "BLUE", "interface": "eth9"}], "netns": "blue"})
        assert d.pnet() == table
        d.ok("Reload")
        assert d.pnet() == [("NETA", "eth0", "", 0)] + table, d.pnet()
        d.ok("ReplacePnet", {"entries": []})
        assert d.pnet() == []


def test_deleted_entry_is_nobodys():
    """An entry that a person deleted and made again is not smcd's to undo"""
    with Daemon(POLICY) as d:
        d.ok("DeletePnet", {"id": "NETA"})
        d.ok("AddPnet", {"id": "NETA", "interface": "eth0"})
        d.ok("DeleteUeid", {"eid": "PROD-EID-1"})
        d.ok("AddUeid", {"eid": "PROD-EID-1"})
        d.write_policy({"version": 1})
        d.ok("Reload")
        assert d.pnet() == [("NETA", "eth0", "", 0)] and d.ueid() == ["PROD-EID-1"]


def test_ueid():
    """AddUeid, DeleteUeid, FlushUeid, and what they refuse"""
    with Daemon(POLICY) as d:
        d.ok("AddUeid", {"eid": "A.B-1"})
        assert d.ueid() == ["A.B-1", "PROD-EID-1"]
        for bad in ("", "a", "A" * 33, "-A", "A B", "A_B", "A\u00c4"):
            error, parameters = d.error("AddUeid", {"eid": bad})
            assert error == "OutOfRange" and parameters["name"] == "eid", (bad, error, parameters)
        assert d.error("AddUeid", {"eid": "A.B-1"})[1]["errno_name"] == "EEXIST"
        assert d.error("DeleteUeid", {"eid": "NONE"})[0] == "Kernel"
        d.ok("AddUeid", {"eid": "C"})
        d.ok("AddUeid", {"eid": "D"})
        assert d.error("AddUeid", {"eid": "E"})[0] == "Kernel", "four are all that there can be"
        d.ok("DeleteUeid", {"eid": "C"})
        assert d.ueid() == ["A.B-1", "D", "PROD-EID-1"]
        d.ok("FlushUeid")
        assert d.ueid() == [] and d.state()["ueid"] == []


def test_seid():
    """SetSeid: unsupported off s390; there it is set, and a policy's value is undone"""
    with Daemon(POLICY) as d:
        error, parameters = d.error("SetSeid", {"enabled": True})
        assert error == "Unsupported" and parameters["name"] == "seid" and parameters["message"], parameters
    with Daemon({**POLICY, "seid": False}, fake="era 6.12\ns390 on\n") as d:
        assert not d.ok("GetSeid")["seid"][0]["enabled"] and d.policy_status()["ok"]
        before = d.state()["seid"]
        d.ok("SetSeid", {"enabled": True})
        assert d.ok("GetSeid")["seid"][0]["enabled"]
        d.ok("Reload")
        assert not d.ok("GetSeid")["seid"][0]["enabled"]
        d.write_policy(POLICY)
        d.ok("Reload")
        assert d.ok("GetSeid")["seid"][0]["enabled"] == bool(before), (before, d.ok("GetSeid"))


def test_reads_once():
    """ListKnobs reads each knob once"""
    with Daemon(POLICY) as d:
        d.kernel("fault answer EIO 1 after=1 cmd=KNOB_GET" if has_tune() else "fault sysctl_read EIO 1 after=1 cmd=rmem")
        d.ok("ListKnobs")
        assert d.error("ListKnobs")[1]["errno_name"] == "EIO", "the second reading of rmem fails"


def test_no_sysctl():
    """With smc_tune several knobs are one message, nothing else is written, and a refusal has the kernel's own text"""
    with Daemon(POLICY, fake="era 6.12-smcd\ntrace on\n") as d:
        set_knobs(d, {"wmem": "1M", "rmem": "1M", "limit_smc_hs": "on", "cork_ceiling": "2s"})
        d.ok("ListKnobs")
        # the range of this very kernel, and what it says when it refuses all the same
        error, parameters = d.error("SetKnobs", {"values": {"wmem": "2M", "smcr_testlink_time": "9000000"}})
        assert error == "OutOfRange" and parameters["allowed"] == "0..8589934 seconds", parameters
        d.kernel('fault answer EPERM cmd=KNOB_SET text="wmem: not today"')
        error, parameters = d.error("SetKnobs", {"values": {"wmem": "2M", "rmem": "2M"}})
        assert error == "Kernel" and parameters["errno_name"] == "EPERM", parameters
        assert parameters["extended_ack"] == "wmem: not today", parameters
        assert "nothing is changed" in parameters["message"], parameters
        assert d.value("wmem") == 1 << 20
        with open(d.fake + ".log") as f:
            trace = f.read()
        assert "sysctl_" not in trace, trace
        assert trace.count("KNOB_SET") == 3, trace  # the policy's, and two requests
        assert d.ok("GetStatus")["status"]["kernel"] == {"smc": True, "pnetid": True, "sysctl": None, "tune": True, "message": ""}


def test_newer_knob():
    """A knob that only the kernel describes: shown, set beside others, reset to its default, in the metrics; not saved"""
    fake = "era 6.12-smcd\nknob turbo type=choice max=1 choice0=slow choice1=fast\nknob linger unit=milliseconds min=5 max=5000 def=100\n"
    with Daemon(POLICY, fake=fake + "netns blue\nnetns\n") as d:
        shown = {k["name"]: k for k in d.ok("ListKnobs")["knobs"]}
        assert not shown["turbo"]["known"] and shown["wmem"]["known"], shown["turbo"]
        assert (shown["turbo"]["value"], shown["turbo"]["choices"]) == ("slow", ["slow", "fast"]), shown["turbo"]
        assert (shown["linger"]["min"], shown["linger"]["max"], shown["linger"]["unit"]) == (5, 5000, "milliseconds")
        got = {k["name"]: k["value"] for k in set_knobs(d, {"wmem": "1M", "linger": "1s", "turbo": "fast"})}
        assert got == {"wmem": 1 << 20, "linger": 1000, "turbo": "fast"}, got
        error, parameters = d.error("SetKnobs", {"values": {"wmem": "2M", "linger": "6s"}})
        assert (error, parameters["name"], parameters["allowed"]) == ("OutOfRange", "linger", "5..5000 milliseconds"), parameters
        assert d.error("SetKnobs", {"values": {"wmem": "2M", "lingr": "6s"}})[0] == "NoSuchKnob"
        assert d.error("SetKnobs", {"values": {"linger": "1s"}, "save": True})[0] == "Unsupported"
        assert "smc_knob_linger_seconds 1\n" in d.ok("GetMetrics")["metrics"]
        assert d.value("wmem") == 1 << 20
        # nothing is remembered of it, neither here nor in other namespaces
        assert [o["name"] for o in d.policy_status()["overrides"]] == ["wmem"]
        set_knobs(d, {"linger": "2s"}, netns="blue")
        assert "blue" not in json.dumps(d.state()), d.state()
        assert reset(d, "linger")[0]["value"] == 100
        assert d.error("ListKnobs", {"names": ["lingr"]})[0] == "NoSuchKnob"
        assert d.ok("ListKnobs", {"names": ["linger"], "netns": "blue"})["knobs"][0]["value"] == 2000


def test_explain():
    """ExplainCode: by number, by name, unknown, nonsense"""
    with Daemon(POLICY) as d:
        assert d.ok("ExplainCode", {"code": "0x03030000"})["reason"]["name"] == "NOSMCDEV"
        assert d.ok("ExplainCode", {"code": "nosmcdev"})["reason"]["code"] == "0x03030000"
        assert d.ok("ExplainCode", {"code": "0x0fffffff"})["reason"]["name"] is None
        assert d.error("ExplainCode", {"code": "???"})[0] == "OutOfRange"
        assert d.error("ExplainCode", {})[0] == "InvalidParameter"


def test_netlink_errors():
    """A kernel that does not answer properly is an error with its errno, never an empty list"""
    with Daemon(POLICY) as d:
        for fault, method in (("fault answer EPERM 0 cmd=PNET_GET", "ListPnet"), ("fault mangle truncate 0 bus=genl", "GetStats"),
                              ("fault recv EIO 0 bus=diag", "ListSockets")):
            d.kernel(fault)
            error, parameters = d.error(method)
            assert error == "Kernel" and parameters["errno"] > 0 and parameters["message"], (fault, error, parameters)
            d.kernel("fault clear")
            d.ok(method)


if __name__ == "__main__":
    TESTS = tests_of(sys.modules[__name__])
    run(TESTS + [on_era("6.12-smcd", test) for test in TESTS])
