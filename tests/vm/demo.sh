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

# say TEXT: the line of explanation.
say() {
	echo
	echo "* $*"
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

start_smcd() {
	start smcd.log "$ROOT/build/bin/smcd"
	wait_for 'smcctl status' 20 "smcd answers"
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

show_policy_and_knobs() {
	say "A policy says what the host shall have; smcd applies it when it starts. Nothing has loaded the smc module before."
	run cat $POLICY
	start_smcd
	run cat "$RESULTS/smcd.log"
	say "The knobs as the kernel has them now. EXPECTED is the buffer that the kernel makes of a size, SOURCE who set it."
	expect run smcctl knobs show
	expect test "$(sysctl -n net.smc.wmem)" = 262144
	say "The same by sysctl, which knows nothing of smcd."
	run sysctl net.smc.wmem net.smc.rmem net.smc.autocorking_size

	say "Set a knob at run time: an override until reboot or reset."
	expect run smcctl set wmem=1M
	expect test "$(sysctl -n net.smc.wmem)" = 1048576
	say "Two values, one of them out of range: neither is set, and the message names the value and its range."
	run smcctl set wmem=512K rmem=12 && fail "a value out of range was taken"
	echo "    exit code 1; net.smc.wmem is still $(sysctl -n net.smc.wmem)"
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
	say "All of it for Prometheus (the first lines of the families of bytes, fallbacks and link groups)."
	echo "    \$ smcctl metrics | grep -E '^(# HELP )?smc_(transmit_bytes|receive_bytes|fallback|link_groups|connections)'"
	smcctl metrics | grep -E '^(# HELP )?smc_(transmit_bytes|receive_bytes|fallback|link_groups|connections)' | sed 's/^/    /'
	say "And the whole picture."
	expect run smcctl status
}

stock() {
	write_policy
	show_policy_and_knobs

	say "SMC-R over soft-RoCE: a device on lo, one connection, 100 sends of 1000 bytes and 5 of 16384 (181920 bytes)."
	rxe_on_lo
	run rdma link show
	transfer 40000
	run cat "$RESULTS/client.40000.log"
	say "It is SMC, not TCP: its link group, its link, both ends' sockets with the buffers they really have."
	expect run smcctl linkgroups show
	expect run smcctl links show
	expect run smcctl sockets show mode=smcr
	expect test "$(smcctl sockets show mode=smcr --json | grep -o '"mode": *"smcr"' | wc -l)" = 2
	finish 40000
	say "The statistics have exactly the bytes that the test sent, and as many calls."
	expect run smcctl stats show
	same "bytes sent over SMC-R" 181920 "$(counter smcr tx_bytes)"
	same "bytes received over SMC-R" 181920 "$(counter smcr rx_bytes)"
	show_fallback
	show_metrics
}

loopback() {
	write_policy
	start_smcd
	say "The same kernel with our build of net/smc, which has the loopback device: both ends on one host use SMC-D."
	load_smc
	transfer 40000
	expect run smcctl linkgroups show
	expect run smcctl sockets show mode=smcd
	finish 40000
	expect run smcctl stats show
	same "bytes sent over SMC-D" 181920 "$(counter smcd tx_bytes)"
	same "bytes received over SMC-D" 181920 "$(counter smcd rx_bytes)"
}

need smcctl smctraffic python3 sysctl
if [ "$KERNEL" = 6.12 ]; then stock; else loopback; fi
