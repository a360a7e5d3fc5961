#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12
# boot: systemd
# timeout: 360
# cpus: 2
# stage: build/stage
# enable: smcd.service
# A host that boots with systemd and the installed unit: the policy is in force, by sysctl and netlink and no tool of ours;
# the unit lives in its sandbox as its own user; reload and stop do what they should; the module may be removed and loaded
# again under it; other namespaces are reached through the helper, which may die.
. "$ROOT/tests/vm/lib.sh"

values() { sysctl -n net.smc.wmem net.smc.rmem net.smc.autocorking_size net.smc.smcr_testlink_time | tr '\n' ' '; }

wait_for 'systemctl is-active smcd.service || systemctl is-failed smcd.service' 100 "smcd.service has started"
systemctl status smcd.service --no-pager -l > "$RESULTS/status.txt" 2>&1
same "smcd.service" active "$(systemctl is-active smcd.service)"
same "the policy's knobs" "524288 1048576 0 60 " "$(values)"
same "the policy's UEID" BOOT-EID "$(ueid.py dump)"
check "the policy's pnet entry" grep -q '"pnetid": "BOOTNET", "eth": "lo"' <(ueid.py pnet)

pid=$(systemctl show -P MainPID smcd.service)
same "it runs as its own user" smcd "$(stat -c %U /proc/"$pid")"
same "with CAP_NET_ADMIN alone" 0000000000001000 "$(awk '/^CapEff/ {print $2}' /proc/"$pid"/status)"
same "and cannot get more" "1" "$(awk '/^NoNewPrivs/ {print $2}' /proc/"$pid"/status)"

export PATH=/usr/bin:/usr/sbin:$PATH
check "smcctl of the installation answers" smcctl status
check "set through the sandbox" smcctl set wmem=64K
same "is in the kernel" 65536 "$(sysctl -n net.smc.wmem)"
check "reset" smcctl knobs reset wmem
check "a pnet entry through the sandbox" smcctl pnet add SANDBOX rdma=rxe9 port=1
check "--save writes the override's file" smcctl knobs set --save rmem=128K
check "and the file is there" grep -q rmem /etc/smcd/policy.d/90-smcctl.json

sed -i 's/"512K"/"256K"/' /etc/smcd/policy.json
check "reload" systemctl reload smcd.service
same "the new policy is in force, the saved override above it" "262144 131072 0 60 " "$(values)"

# Removed and loaded again under smcd: another directory net/smc than the one of the sandbox's start, other netlink families.
directory=$(stat -c %i /proc/sys/net/smc)
check "the module is removed" modprobe -r smc_diag smc
check "its sysctl files are gone" test ! -d /proc/sys/net/smc
check "and loaded again" modprobe -a smc smc_diag
check "net/smc is another directory" test "$(stat -c %i /proc/sys/net/smc)" != "$directory"
same "the kernel has its defaults" "65536 65536 65536 30 " "$(values)"
check "smcd reads the new files" grep -q '"value": *65536' <(smcctl show wmem --json)
check "set through the sandbox after that" smcctl set wmem=96K
same "is in the kernel" 98304 "$(sysctl -n net.smc.wmem)"
for what in "stats" "sockets" "linkgroups" "links" "devices" "fallbacks" "pnet" "ueid" "seid"; do
	check "smcctl $what show, by the new families" smcctl "$what" show
done
check "reload" systemctl reload smcd.service
same "the policy is in force again, overrides above it" "98304 131072 0 60 " "$(values)"
same "its UEID too" BOOT-EID "$(ueid.py dump)"
check "its pnet entry too" grep -q '"pnetid": "BOOTNET", "eth": "lo"' <(ueid.py pnet)
check "reset" smcctl knobs reset wmem
same "is the policy's value" "262144 131072 0 60 " "$(values)"

echo '{"version": 1, "knobs": {"wmem": "1 furlong"}}' > /etc/smcd/policy.json
check_fails "an invalid policy fails the reload visibly" systemctl reload smcd.service
same "and changes nothing" "262144 131072 0 60 " "$(values)"
same "smcd goes on" active "$(systemctl is-active smcd.service)"
check "the journal says where and why" journalctl -q -u smcd.service --grep '/etc/smcd/policy.json:1:[0-9]+: /knobs/wmem'

check "another network namespace, through the helper" bash -c 'ip netns add blue && smcctl -n blue set wmem=32K'
same "it is set there" 32768 "$(ip netns exec blue sysctl -n net.smc.wmem)"
same "and not here" 262144 "$(sysctl -n net.smc.wmem)"
helper=$(systemctl show -P MainPID smcd-netns.service)
check "by the helper, which runs" test "$helper" -gt 0
same "with CAP_NET_ADMIN and CAP_SYS_ADMIN" 0000000000201000 "$(awk '/^CapEff/ {print $2}' /proc/"$helper"/status)"
check "a pnet entry there" smcctl -n blue pnet add BLUENET interface=lo
check "is there" grep -q '"pnetid": "BLUENET", "eth": "lo"' <(ip netns exec blue ueid.py pnet)
check_fails "and not here" grep -q BLUENET <(ueid.py pnet)
check "smcctl shows it there" grep -q BLUENET <(smcctl -n blue pnet show)
for what in "stats" "sockets" "knobs" "ueid"; do
	check "smcctl -n blue $what show" smcctl -n blue "$what" show
done
check "the helper dies" systemctl kill -s KILL smcd-netns.service
wait_for 'test "$(systemctl show -P MainPID smcd-netns.service)" != '"$helper" 60 "systemd has seen it"
wait_for 'smcctl -n blue set wmem=48K' 60 "namespaces can be reached again"
same "by another helper it is set there" 49152 "$(ip netns exec blue sysctl -n net.smc.wmem)"

# Group smcd reads, root writes, others get nothing from smcd.
as() {
	local groups=$1
	shift
	setpriv --reuid=65534 --regid=65534 --groups="$groups" "$@"
}
group=$(getent group smcd | cut -d: -f3)
check "a member of group smcd reads" test "$(as "$group" smcctl show wmem --json 2>&1 | grep -c '"source": *"policy"')" = 1
as "$group" smcctl set wmem=64K 2> "$RESULTS/denied"
same "but does not write" 77 $?
check "and is told so" grep -qi 'permi' "$RESULTS/denied"
as 65534 smcctl set wmem=64K 2> "$RESULTS/denied"
same "others do not even connect" 77 $?
same "nothing was written" 262144 "$(sysctl -n net.smc.wmem)"

check "stop" systemctl stop smcd.service
same "stopping changes nothing" "262144 131072 0 60 " "$(values)"
same "nothing failed" "" "$(systemctl --failed --no-legend --plain | grep smcd)"
check "the sandbox's exposure is at most 2.0" systemd-analyze security --offline=true --threshold=20 --no-pager smcd.service
