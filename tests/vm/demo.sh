#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12 6.12-smcd
# timeout: 180
# cpus: 2
# What `make demo` shows, run in a guest: on the stock kernel smcd, smcctl and SMC-R; with our build of net/smc SMC-D. It
# checks what it shows, so that a demonstration that went wrong does not look right.
. "$ROOT/tests/vm/lib.sh"

POLICY=/etc/smcd/policy.json

# run COMMAND...: show the command and what it prints.
run() {
	echo "    \$ $*"
	"$@" 2>&1 | sed 's/^/    /'
	return "${PIPESTATUS[0]}"
}

# excerpt LINES COMMAND...: the same of its first lines.
excerpt() {
	local lines=$1 output
	shift
	output=$("$@" 2>&1) || return
	echo "    \$ $* | head -n $lines"
	head -n "$lines" <<< "$output" | sed 's/^/    /'
}

# say TEXT: the line of explanation.
say() {
	echo
	fold -s -w 110 <<< "$*" | sed -e '1s/^/* /' -e '2,$s/^/  /' -e 's/ *$//'
}

expect() {
	"$@" || fail "unexpected: $*"
}

# counter TECH KEY: one counter of `stats show --json`.
counter() {
	smcctl stats show --json | python3 -c 'import json, sys
print(next(s for s in json.load(sys.stdin)["stats"] if s["tech"] == sys.argv[1])[sys.argv[2]])' "$1" "$2"
}

write_policy() {
	mkdir -p /etc/smcd
	cat > $POLICY <<-'END'
	{
	  "version": 1,
	  "knobs": { "wmem": "256K", "rmem": "256K", "autocorking_size": "32K" },
	  "pnet": [ { "id": "NETA", "interface": "lo" }, { "id": "NETA", "rdma": "rxe_lo", "port": 1 } ],
	  "ueid": [ "PROD-EID-1" ]
	}
	END
}

# transfer PORT: one connection that is held open until $RESULTS/go.PORT appears; 100 sends of 1000 bytes and 5 of 16384.
transfer() {
	start "server.$1.log" smctraffic server --port "$1" --deadline 60
	SERVER=$PID
	wait_for "grep -q listening '$RESULTS/server.$1.log'" 10 "the server listens"
	start "client.$1.log" smctraffic client --port "$1" --sizes 1000x100,16384x5 --hold-file "$RESULTS/go.$1" --deadline 60
	CLIENT=$PID
	wait_for "grep -q holding '$RESULTS/client.$1.log' || ! kill -0 $CLIENT" 60 "the client has sent all"
}

finish() {
	touch "$RESULTS/go.$1"
	wait "$CLIENT" || fail "the client failed: $(tail -n 1 "$RESULTS/client.$1.log")"
	wait "$SERVER" || fail "the server failed: $(tail -n 1 "$RESULTS/server.$1.log")"
}

# compare TECH PORT: the bytes that the test program says it sent, and those that the statistics have.
compare() {
	local sent
	sent=$(json "$RESULTS/client.$2.log" sent_bytes)
	echo "    sent by the test program               $sent"
	echo "    tx_bytes of smcctl stats show --json   $(counter "$1" tx_bytes)"
	echo "    rx_bytes of smcctl stats show --json   $(counter "$1" rx_bytes)"
	expect test "$sent" = 181920
	expect test "$(counter "$1" tx_bytes)" = "$sent"
	expect test "$(counter "$1" rx_bytes)" = "$sent"
}

show_policy_and_knobs() {
	say "A policy says what the host shall have; smcd applies it when it starts. Nothing has loaded the smc module before."
	run cat $POLICY
	start_smcd
	say "What smcd did, from its log: each setting with the line of the policy that wants it."
	run cat "${RESULTS#"$ROOT/"}/smcd.log"
	say "The knobs as the kernel has them now. EXPECTED is the buffer that the kernel makes of a size, SOURCE who set it."
	expect run smcctl knobs show
	expect test "$(sysctl -n net.smc.wmem)" = 262144
	say "The same by sysctl, which knows nothing of smcd."
	run sysctl net.smc.wmem net.smc.rmem net.smc.autocorking_size

	say "Set a knob at run time: an override until reboot or reset."
	expect run smcctl set wmem=1M
	expect test "$(sysctl -n net.smc.wmem)" = 1048576
	say "Two values, one of them out of range: neither is set, and the message names the value and its range."
	run smcctl set wmem=512K rmem=12
	status=$?
	expect test $status = 1
	echo "    (exit code $status)"
	run sysctl net.smc.wmem net.smc.rmem
	expect test "$(sysctl -n net.smc.wmem)" = 1048576
	say "Back to the policy's value."
	expect run smcctl knobs reset wmem
	expect test "$(sysctl -n net.smc.wmem)" = 262144

	say "The policy also gave lo and a soft-RoCE device yet to come one physical network ID and set an enterprise ID (UEID)."
	expect run smcctl pnet show
	expect run smcctl ueid show
}

show_fallback() {
	say "A client that is plain TCP: the server's connection falls back, and the counters say why."
	start server.tcp.log smctraffic server --port 40001 --deadline 60
	SERVER=$PID
	wait_for "grep -q listening '$RESULTS/server.tcp.log'" 10 "the server listens"
	smctraffic client --tcp --port 40001 --sizes 1000x1 > /dev/null || fail "the plain TCP client failed"
	wait "$SERVER" || fail "the server failed"
	expect run smcctl fallbacks show
	say "What the code means and what to do about it."
	expect run smcctl explain 0x03010000
}

show_metrics() {
	say "All of it as Prometheus wants it; of the text these lines: bytes, fallbacks, link groups and connections." \
		"(The connection is closed by now; the kernel keeps its link groups for ten minutes, for the next one.)"
	echo "    \$ smcctl metrics | grep -E '^(# HELP )?smc_(transmit_bytes|receive_bytes|fallback|link_groups|connections)'"
	smcctl metrics | grep -E '^(# HELP )?smc_(transmit_bytes|receive_bytes|fallback|link_groups|connections)' | sed 's/^/    /'
	say "And the whole picture: what runs, what the policy has done, what is in use."
	expect run smcctl status
}

stock() {
	write_policy
	show_policy_and_knobs

	say "SMC-R needs an RDMA device: soft-RoCE makes one on lo. The policy's pnet table has said that it belongs with lo."
	rxe_on_lo
	run rdma link show
	say "A test program connects to itself and sends 100 times 1000 bytes and 5 times 16384: 181920 bytes. The connection is" \
		"kept open; it is SMC, not TCP, for it is in a link group, the set of links that connections between two hosts share."
	transfer 40000
	expect run smcctl linkgroups show
	say "The links of these: the path between two ports of RDMA devices."
	expect run smcctl links show
	say "Both ends' sockets, with the buffers they really have: those of the policy."
	expect run smcctl sockets show mode=smcr
	expect test "$(smcctl sockets show mode=smcr --json | grep -o '"mode": *"smcr"' | wc -l)" = 2
	finish 40000
	say "The statistics, 105 calls among them (histograms of sizes follow in the full output) ..."
	expect excerpt 5 smcctl stats show
	say "... and exactly the bytes that the test program sent."
	compare smcr 40000
	show_fallback
	show_metrics
}

loopback() {
	write_policy
	start_smcd
	say "The same kernel with our build of net/smc, which has the loopback device: both ends on one host use SMC-D, which needs" \
		"no adapter. The same transfer, with the connection kept open: its link groups ..."
	load_smc
	transfer 40000
	expect run smcctl linkgroups show
	say "... and both ends' sockets. SMC-D writes straight into the peer's buffer."
	expect run smcctl sockets show mode=smcd
	expect test "$(smcctl sockets show mode=smcd --json | grep -o '"mode": *"smcd"' | wc -l)" = 2
	finish 40000
	say "The statistics ..."
	expect excerpt 5 smcctl stats show
	say "... and exactly the bytes that the test program sent."
	compare smcd 40000
}

need smcctl smctraffic python3 sysctl
if [ "$KERNEL" = 6.12 ]; then stock; else loopback; fi
