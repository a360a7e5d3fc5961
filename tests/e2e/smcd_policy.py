#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""smcd and its policy on the fake kernel: applying, reloading, undoing, rolling back, restarting."""
import json
import os
import subprocess
import sys

from smcdtest import Daemon, run, tests_of, wait_until

POLICY = {"version": 1, "knobs": {"wmem": "256K", "autocorking_size": 32768},
          "pnet": [{"id": "NETA", "interface": "eth0"}, {"id": "NETA", "rdma": "rxe0", "port": 1}],
          "ueid": ["PROD-EID-1"]}
PNET = [("NETA", "", "rxe0", 1), ("NETA", "eth0", "", 0)]


def test_apply():
    """A policy is applied, read back and reported"""
    with Daemon(POLICY) as d:
        assert d.value("wmem") == 262144 and d.value("autocorking_size") == 32768, d.knobs()
        assert d.knob("wmem")["source"] == "policy" and d.knob("rmem")["source"] == "kernel"
        assert d.pnet() == PNET and d.ueid() == ["PROD-EID-1"], (d.pnet(), d.ueid())
        p = d.policy_status()
        assert p["ok"] and p["generation"] == 1 and p["settings"] == 5 and p["files"] == [d.policy], p
        assert p["last_apply"] and not p["problems"] and not p["unsupported"], p
        assert f"set 'wmem' to 262144 (was 65536) [policy {d.policy}:1]" in d.log(), d.log()
        states = {s["pointer"]: s["state"] for s in d.ok("GetPolicy")["settings"]}
        assert set(states.values()) == {"applied"} and len(states) == 5, states


def test_status_line():
    """systemd is told READY and the outcome as STATUS"""
    with Daemon(POLICY) as d:
        assert "STATUS=policy applied: 5 settings" in d.notified[-1], d.notified
    assert d.process.returncode == 0


def answers(d):
    try:
        d.connect().close()
        return True
    except (FileNotFoundError, ConnectionRefusedError):  # not there yet; made, and not listened at yet
        return False


def test_without_systemd():
    """Without NOTIFY_SOCKET, and with a WATCHDOG_USEC of nobody's, smcd runs all the same"""
    with Daemon(POLICY, start=False, env={"NOTIFY_SOCKET": "", "WATCHDOG_USEC": "3000000"}) as d:
        d.start(wait=False)
        wait_until(lambda: answers(d), "smcd answers")
        assert d.value("wmem") == 262144


def test_watchdog():
    """The watchdog is fed when systemd asks for it"""
    with Daemon(POLICY, env={"WATCHDOG_USEC": "400000"}) as d:
        d.wait_notify("WATCHDOG=1")


def test_stop_changes_nothing():
    """Stopping smcd leaves the kernel as it is, and the socket goes"""
    with Daemon(POLICY) as d:
        assert d.stop() == 0 and not os.path.exists(d.path)
        d.write_policy({"version": 1})
        # Without the state nobody undoes anything: what is there is what smcd left.
        os.unlink(os.path.join(d.state_dir, "state.json"))
        d.start()
        assert d.value("wmem") == 262144 and d.pnet() == PNET and d.ueid() == ["PROD-EID-1"]


def test_unsupported():
    """What this kernel lacks is a warning; the rest is applied"""
    policy = {**POLICY, "knobs": {"wmem": "256K", "smcr_max_send_wr": 32, "hs_ctrl": "x"}, "seid": True}
    with Daemon(policy) as d:
        p = d.policy_status()
        assert p["ok"] and sorted(p["unsupported"]) == ["hs_ctrl", "seid", "smcr_max_send_wr"], p
        assert d.value("wmem") == 262144
        states = {s["pointer"]: s["state"] for s in d.ok("GetPolicy")["settings"]}
        assert states["/knobs/hs_ctrl"] == "unsupported" and states["/seid"] == "unsupported", states
        assert "smcd_policy_drift_settings 0" in d.ok("GetMetrics")["metrics"]


def test_undo_on_reload():
    """What the policy names no more is undone; what others made stays"""
    with Daemon(POLICY, fake="era 6.12\nsysctl wmem 131072\nueid OTHER-EID\npnet NETX eth=eth9\n") as d:
        assert d.value("wmem") == 262144
        d.kernel("sysctl rmem 98304")
        d.write_policy({"version": 1, "knobs": {"autocorking_size": 32768}, "ueid": ["PROD-EID-2"]})
        d.reload_by_signal()
        assert d.value("wmem") == 131072, "back to the value before smcd"
        assert d.value("autocorking_size") == 32768 and d.value("rmem") == 98304
        assert d.pnet() == [("NETX", "eth9", "", 0)] and d.ueid() == ["OTHER-EID", "PROD-EID-2"]
        assert d.policy_status()["generation"] == 2


def test_undo_after_restart():
    """Undoing works over a restart of smcd too"""
    with Daemon(POLICY, fake="era 6.12\nsysctl wmem 131072\n") as d:
        assert d.stop() == 0
        d.write_policy({"version": 1})
        d.start()
        assert d.value("wmem") == 131072 and d.pnet() == [] and d.ueid() == [], (d.knobs(), d.pnet(), d.ueid())


def test_undo_spares_others():
    """A knob that somebody else changed since is not put back"""
    with Daemon(POLICY) as d:
        d.kernel("sysctl wmem 524288")
        d.write_policy({"version": 1})
        d.reload_by_signal()
        assert d.value("wmem") == 524288 and d.value("autocorking_size") == 65536, d.knobs()


def test_drift():
    """Drift is counted, shown, and mended by a reload"""
    with Daemon(POLICY) as d:
        assert "smcd_policy_drift_settings 0" in d.ok("GetMetrics")["metrics"]
        d.kernel("sysctl wmem 524288")
        assert d.knob("wmem")["source"] == "kernel"
        assert "smcd_policy_drift_settings 1" in d.ok("GetMetrics")["metrics"]
        states = {s["pointer"]: s["state"] for s in d.ok("GetPolicy")["settings"]}
        assert states["/knobs/wmem"] == "differs", states
        d.ok("Reload")
        assert d.value("wmem") == 262144 and "smcd_policy_drift_settings 0" in d.ok("GetMetrics")["metrics"]


def test_reload_is_told():
    """SIGHUP and Reload: RELOADING with the time, then READY"""
    with Daemon(POLICY) as d:
        for reload in (d.reload_by_signal, lambda: (d.ok("Reload"), d.wait_notify("READY=1"))):
            d.notified = []
            reload()
            assert d.notified[0].startswith("RELOADING=1\nMONOTONIC_USEC="), d.notified
            assert d.notified[-1].startswith("READY=1\nSTATUS=policy applied"), d.notified


BAD = {
    "a wrong type": ('{"version": 1,\n "knobs": {"wmem": []}}', 2),
    "a value out of range": ('{"version": 1,\n\n "knobs": {"rmem": 12}}', 3),
    "a bad suffix": ('{"version": 1, "knobs": {"rmem": "12Q"}}', 1),
    "an overflow": ('{"version": 1, "knobs": {"rmem": "99999999999999999999G"}}', 1),
    "a duplicate key": ('{"version": 1, "knobs": {"wmem": 65536,\n"wmem": 65536}}', 2),
    "a trailing comma": ('{"version": 1,\n}', 1),
    "an unknown key": ('{"version": 1,\n "knubs": {}}', 2),
    "an unknown knob": ('{"version": 1, "knobs": {\n"wmen": 65536}}', 2),
    "a NUL": ('{"version": 1,\n "comment": "\0"}', 2),
    "deep nesting": ("[" * 100000, 1),
    "10 MB of nesting": ("[" * 10000000, 1),
    "a pnet ID of 17 characters": ('{"version": 1, "pnet": [{"id": "ABCDEFGHIJKLMNOPQ", "interface": "eth0"}]}', 1),
    "a pnet ID with a blank": ('{"version": 1, "pnet": [{"id": "A B", "interface": "eth0"}]}', 1),
    "a UEID of 33 characters": ('{"version": 1, "ueid": ["' + "A" * 33 + '"]}', 1),
    "a UEID in lower case": ('{"version": 1, "ueid": ["prod"]}', 1),
}


def test_bad_policies():
    """Bad policies: refused with FILE:LINE:COLUMN by --check, SIGHUP and Reload, and the kernel is as before"""
    with Daemon(POLICY) as d:
        before = (d.knobs(), d.pnet(), d.ueid(), d.state())
        for what, (text, line) in BAD.items():
            d.write_policy(text)
            done = subprocess.run(["smcd-fake", "--check", d.policy], capture_output=True, text=True, check=False)
            assert done.returncode == 1 and done.stderr.startswith(f"{d.policy}:{line}:"), f"{what}: {done}"
            error, parameters = d.error("Reload")
            assert error == "PolicyInvalid" and parameters["problems"][0].startswith(f"{d.policy}:{line}:"), \
                f"{what}: {error} {parameters}"
            p = d.policy_status()
            assert not p["ok"] and p["problems"] == parameters["problems"] and p["generation"] == 1, f"{what}: {p}"
            assert (d.knobs(), d.pnet(), d.ueid(), d.state()) == before, what
        assert "STATUS=the policy is refused" in d.reload_by_signal(), d.notified
        assert "smcd_policy_last_apply_successful 0" in d.ok("GetMetrics")["metrics"]
        d.write_policy(POLICY)
        assert "STATUS=policy applied" in d.reload_by_signal()
        assert d.policy_status()["ok"] and not d.policy_status()["problems"]


def test_bad_policy_at_start():
    """A bad policy at the start: smcd is up, says so, and has changed nothing"""
    with Daemon('{"version": 1, "knobs": {"wmem": "256K", "rmem": 12}}') as d:
        assert "STATUS=the policy is refused" in d.notified[-1]
        assert d.value("wmem") == 65536 and not d.policy_status()["ok"]


def test_reload_option():
    """smcd --reload: exit status and message"""
    with Daemon(POLICY) as d:
        def reload():
            return subprocess.run(["smcd-fake", "--reload", "--socket", d.path], capture_output=True, text=True, check=False)
        assert reload().returncode == 0
        d.write_policy("{")
        done = reload()
        assert done.returncode == 1 and done.stderr.startswith(f"{d.policy}:1:"), done
        d.stop()
        done = reload()
        assert done.returncode == 1 and "connect to smcd" in done.stderr, done


def test_roll_back():
    """A step that the kernel refuses: everything done before it is put back, verified and reported"""
    points = [("fault sysctl_write EPERM 0 cmd=rmem", "rmem"), ("fault answer EPERM 3 cmd=PNET_ADD", "pnet"),
              ("fault answer EPERM 1 after=1 cmd=PNET_ADD", "pnet"),
              ("fault answer ENOSPC 1 cmd=ADD_UEID", "UEID"), ("fault sysctl_write ignored 0 cmd=rmem", "rmem")]
    new = {"version": 1, "knobs": {"wmem": "512K", "rmem": "1M"}, "pnet": [{"id": "NETB", "interface": "eth1"}],
           "ueid": ["PROD-EID-2"]}
    for fault, named in points:
        with Daemon(POLICY) as d:
            before = (d.knobs(), d.pnet(), d.ueid(), d.state())
            d.kernel(fault)
            d.write_policy(new)
            error, parameters = d.error("Reload")
            assert error == "Kernel" and named in parameters["message"], f"{fault}: {error} {parameters}"
            assert "nothing is changed" in parameters["message"], f"{fault}: {parameters}"
            d.kernel("fault clear")
            assert (d.knobs(), d.pnet(), d.ueid(), d.state()) == before, \
                f"{fault}: {before} {(d.knobs(), d.pnet(), d.ueid(), d.state())}"
            assert not d.policy_status()["ok"] and "could not be applied" in d.policy_status()["message"]
            d.ok("Reload")
            assert d.value("rmem") == 1048576 and d.pnet() == [("NETB", "eth1", "", 0)] and d.ueid() == ["PROD-EID-2"]


def test_roll_back_fails():
    """When even putting back fails, that is said"""
    with Daemon(POLICY) as d:
        d.kernel("fault sysctl_write EPERM 0 cmd=rmem\nfault sysctl_write EPERM 0 after=1 cmd=wmem")
        d.write_policy({"version": 1, "knobs": {"wmem": "512K", "rmem": "1M"}})
        error, parameters = d.error("Reload")
        assert error == "Kernel" and "not everything could be put back" in parameters["message"], parameters
        assert "cannot take back: set 'wmem' to 524288" in d.log()


def test_what_is_left():
    """What could not be put back is remembered, and undone once it can be"""
    for restart in (False, True):
        with Daemon(POLICY) as d:
            d.kernel("fault answer EPERM 0 cmd=ADD_UEID\nfault sysctl_write EPERM 0 after=1 cmd=wmem\n"
                     "fault answer EPERM 0 cmd=PNET_DEL")
            d.write_policy({**POLICY, "knobs": {"wmem": "512K", "rmem": "1M", "autocorking_size": 32768},
                            "pnet": POLICY["pnet"] + [{"id": "NETB", "interface": "eth1"}],
                            "ueid": ["PROD-EID-1", "PROD-EID-2"]})
            assert "not everything could be put back" in d.error("Reload")[1]["message"]
            d.kernel("fault clear")
            assert d.value("wmem") == 524288 and d.value("rmem") == 65536 and ("NETB", "eth1", "", 0) in d.pnet()
            d.write_policy({"version": 1})
            if restart:
                d.stop()
                d.start()
            else:
                d.ok("Reload")
            assert (d.value("wmem"), d.value("rmem"), d.pnet(), d.ueid()) == (65536, 65536, [], []), (d.knobs(), d.pnet())
    with Daemon({"version": 1}) as d:
        d.kernel("fault sysctl_write EPERM 0 cmd=rmem\nfault sysctl_write EPERM 0 after=1 cmd=wmem")
        d.error("SetKnobs", {"values": {"wmem": "1M", "rmem": "1M"}})
        d.kernel("fault clear")
        assert d.value("wmem") == 1048576 and d.policy_status()["overrides"] == []
        d.ok("Reload")
        assert d.value("wmem") == 65536, d.knobs()


def test_read_only_state():
    """A state directory that cannot be written does not keep the policy from being applied"""
    with Daemon(POLICY, start=False) as d:
        os.mkdir(d.state_dir)
        for name in ("state.json", "state.json.damaged", "state.json.damaged/full"):
            os.mkdir(os.path.join(d.state_dir, name))  # can be neither read, nor set aside, nor replaced
        d.start()
        assert d.value("wmem") == 262144 and "after a restart smcd will not know" in d.log(), d.log()


def test_damaged_state():
    """A damaged state.json is set aside and said; one of another boot is ignored"""
    for text, damaged in (("{", True), ('{"version": 99, "boot_id": "x"}', False), ("\0" * 100, True)):
        with Daemon(POLICY, start=False) as d:
            os.mkdir(d.state_dir)
            with open(os.path.join(d.state_dir, "state.json"), "w") as f:
                f.write(text)
            d.start()
            assert d.value("wmem") == 262144
            assert ("is of no use" in d.log()) == damaged, d.log()
            assert os.path.exists(os.path.join(d.state_dir, "state.json.damaged")) == damaged


def test_no_smc():
    """A kernel without SMC: up, READY, says so plainly; SIGHUP tries again"""
    with Daemon(POLICY, fake="era none\n") as d:
        assert "STATUS=this kernel has no SMC" in d.notified[-1], d.notified
        status = d.ok("GetStatus")["status"]
        assert not status["kernel"]["smc"] and "no SMC" in status["kernel"]["message"], status
        assert not status["policy"]["ok"] and "waits for a reload" in status["policy"]["message"], status
        assert {s["state"] for s in d.ok("GetPolicy")["settings"]} == {"waiting"}
        error, parameters = d.error("SetKnobs", {"values": {"wmem": "1M"}})
        assert error == "Kernel" and parameters["errno_name"] == "ENOPROTOOPT", (error, parameters)
        assert "smc_up 0" in d.ok("GetMetrics")["metrics"]
        d.kernel("era 6.12")
        assert "STATUS=policy applied" in d.reload_by_signal(), d.notified
        assert d.value("wmem") == 262144 and d.policy_status()["ok"]


def test_probe_fails():
    """When it cannot be told whether there is SMC, nothing says that there is none"""
    with Daemon(POLICY) as d:
        d.kernel("fault recv ENOMEM 0 cmd=GETFAMILY")
        kernel = d.ok("GetStatus")["status"]["kernel"]
        assert kernel["smc"] is None and "Cannot allocate memory" in kernel["message"], kernel
        for args in ([], ["--json"]):
            done = subprocess.run(["smcctl-fake", "--socket", d.path, "status", *args], env=d.environment(),
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 1 and "Cannot allocate memory" in done.stdout, done
            assert "SMC is not there" not in done.stdout, done
        metrics = d.ok("GetMetrics")["metrics"]
        assert "\nsmc_up" not in metrics and 'smcd_netlink_errors_total{family="generic"}' in metrics, metrics
        assert 'smcd_scrape_success{collector="stats"} 0' in metrics, metrics
        assert "smcd_policy_drift_settings" not in metrics and "smcd_policy_generation 1" in metrics, metrics
        assert d.error("GetPolicy")[1]["errno_name"] == "ENOMEM"
        d.kernel("fault clear")
        kernel = d.ok("GetStatus")["status"]["kernel"]
        assert kernel == {"smc": True, "pnetid": True, "sysctl": True, "tune": False, "message": ""}, kernel
        d.kernel("module unload")
        message = d.ok("GetStatus")["status"]["kernel"]["message"]
        assert "no SMC" in message and "asking" not in message, message


def test_metrics_without_drift():
    """A table that cannot be read costs the drift's sample and no other"""
    for fault in ("fault answer EPERM 0 cmd=PNET_GET", "fault dump hide 0 cmd=DUMP_UEID"):
        with Daemon({**POLICY, "ueid": ["A", "B"]}) as d:
            d.kernel(fault)
            metrics = d.ok("GetMetrics")["metrics"]
            assert "smcd_policy_drift_settings" not in metrics, metrics
            assert "smc_up 1" in metrics and "smcd_policy_generation 1" in metrics, metrics


def test_autoload():
    """A module that is not loaded is loaded by asking for its family"""
    with Daemon(POLICY, fake="era 6.12\nmodule unload\n") as d:
        assert d.ok("GetStatus")["status"]["kernel"]["smc"] and d.value("wmem") == 262144


def test_module_reload():
    """A module that is unloaded and loaded again: status says it, a reload applies the policy again"""
    with Daemon(POLICY) as d:
        d.kernel("module unload")
        assert not d.ok("GetStatus")["status"]["kernel"]["smc"]
        d.kernel("module load")
        assert d.ok("GetStatus")["status"]["kernel"]["smc"] and d.pnet() == []
        d.ok("Reload")
        assert d.value("wmem") == 262144 and d.pnet() == PNET and d.ueid() == ["PROD-EID-1"]


def test_eras():
    """Every era of the kernel takes the policy"""
    for era in ("6.1", "6.12", "7.2"):
        with Daemon({**POLICY, "seid": False}, fake=f"era {era}\n") as d:
            p = d.policy_status()
            assert p["ok"] and d.value("wmem") == 262144 and d.pnet() == PNET, f"{era}: {p}"


def test_entries_of_others():
    """An entry that is there already is done, is not smcd's, and stays when the policy drops it"""
    with Daemon(POLICY, fake="era 6.12\npnet NETA eth=eth0\nueid PROD-EID-1\nsysctl wmem 262144\n") as d:
        assert d.policy_status()["ok"] and d.pnet() == PNET
        d.write_policy({"version": 1})
        d.ok("Reload")
        assert d.pnet() == [("NETA", "eth0", "", 0)] and d.ueid() == ["PROD-EID-1"] and d.value("wmem") == 262144


def test_incomplete_list():
    """A table that cannot be read whole is no proof: the reload fails, and what smcd made stays smcd's"""
    entries = [{"id": f"NET{i}", "interface": f"d{i}"} for i in range(3)]
    with Daemon({"version": 1, "pnet": entries, "ueid": ["EID-1", "EID-2"]}) as d:
        for fault in ("PNET_GET", "DUMP_UEID"):
            d.kernel(f"fault dump hide 0 cmd={fault}")
            error, parameters = d.error("Reload")
            assert error == "Kernel" and parameters["errno_name"] == "EAGAIN", (fault, parameters)
            assert "changes all the time" in parameters["message"], parameters
            d.kernel("fault clear")
        # Entries that are missing from two readings that agree are there all the same when they are to be added.
        for fault in ("PNET_GET", "DUMP_UEID"):
            d.kernel(f"fault dump nothing 2 cmd={fault}")
        d.ok("Reload")
        assert "it is so already" in d.log(), d.log()
        d.kernel("fault clear")
        d.write_policy({"version": 1})
        d.ok("Reload")
        assert d.pnet() == [] and d.ueid() == [], (d.pnet(), d.ueid())


def test_conflict():
    """An interface that has another ID already: refused with the kernel's reason, all as before"""
    with Daemon({"version": 1}, fake="era 6.12\npnet NETX eth=eth0\n") as d:
        before = d.knobs()
        d.write_policy(POLICY)
        error, parameters = d.error("Reload")
        assert error == "Kernel" and parameters["errno_name"] == "EBUSY" and "eth0" in parameters["message"], parameters
        assert d.knobs() == before and d.pnet() == [("NETX", "eth0", "", 0)]


def test_missing_policy_file():
    """A policy file that was named and is not there is a problem; layers that are not there are none"""
    with Daemon(start=False) as d:
        os.unlink(d.policy)
        d.start()
        assert d.policy_status()["problems"] == [f"{d.policy}: there is no such file"]


def test_many_pnet_entries():
    """250 pnet entries are applied and undone"""
    policy = {"version": 1, "pnet": [{"id": f"NET{i % 50}", "interface": f"dummy{i}"} for i in range(250)]}
    with Daemon(policy) as d:
        assert d.policy_status()["ok"] and len(d.pnet()) == 250, d.policy_status()
        d.ok("Reload")
        assert d.policy_status()["message"].startswith("policy applied: 250 settings of 1 files, 0 changes")


def test_layers():
    """The policy directory lies over the file; its files are named in the status"""
    with Daemon(POLICY, start=False) as d:
        with open(os.path.join(d.policy_dir, "50-more.json"), "w") as f:
            json.dump({"version": 1, "knobs": {"wmem": "1M"}}, f)
        d.start()
        assert d.value("wmem") == 1048576 and len(d.policy_status()["files"]) == 2


def test_usage():
    """Usage errors exit 2; --help and --version exit 0"""
    for args, status in ((["--nonsense"], 2), (["extra"], 2), (["--policy"], 2), (["--policy="], 2), (["--help"], 0),
                         (["--version"], 0)):
        done = subprocess.run(["smcd-fake", *args], capture_output=True, text=True, check=False)
        assert done.returncode == status, (args, done)
        assert done.stdout if status == 0 else "smcd" in done.stderr, (args, done)


if __name__ == "__main__":
    run(tests_of(sys.modules[__name__]))
