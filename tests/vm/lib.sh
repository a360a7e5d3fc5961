# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers for guest tests; source it first:  . "$ROOT/tests/vm/lib.sh"
# The runner gives ROOT (also the current directory), RESULTS, KERNEL, MODE and a PATH with build/bin and
# tests/vm/tools. Exit status: 0 passed, 77 skipped (the last line says why), anything else failed.

set -u
CHECKS=0

fail() {
	echo "FAIL: $*"
	exit 1
}

skip() {
	echo "SKIP: $*"
	exit 77
}

# need CMD...: a missing program is a failure, because a test that skips itself proves nothing.
need() {
	local cmd
	for cmd; do
		command -v "$cmd" > /dev/null || fail "the program $cmd is missing (build it, or install its package)"
	done
}

# wait_for CONDITION SECONDS [WHAT]: evaluate a shell condition until it holds.
wait_for() {
	local end=$((SECONDS + $2 * ${SLOWNESS:-1}))
	until eval "$1" > /dev/null 2>&1; do
		[ $SECONDS -lt $end ] || fail "not within $2 s: ${3:-$1}"
		sleep .1
	done
}

# check NAME CMD...: run a command that has to succeed.
check() {
	local name=$1
	shift
	"$@" || fail "$name (status $?: $*)"
	CHECKS=$((CHECKS + 1))
	echo "ok: $name"
}

# check_fails NAME CMD...: run a command that has to fail, but not by a signal.
check_fails() {
	local name=$1 status
	shift
	"$@"
	status=$?
	[ $status -ne 0 ] || fail "$name (succeeded: $*)"
	[ $status -lt 126 ] || fail "$name (status $status: $*)"
	CHECKS=$((CHECKS + 1))
	echo "ok: $name"
}

# same NAME EXPECTED FOUND
same() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
	CHECKS=$((CHECKS + 1))
	echo "ok: $1"
}

# add_ueid ID: through the daemon if one runs (smcctl alone only reads), else by an independent helper.
add_ueid() {
	if [ -S /run/smcd/org.smcd.Manager ]; then
		smcctl ueid add "$1" || fail "smcctl ueid add $1"
	else
		ueid.py add "$1" || fail "ueid.py add $1"
	fi
}

# load_smc: the module is part of the contract, and takes its identity from the host name set before.
load_smc() {
	modprobe -a smc smc_diag || fail "cannot load smc"
	ip link set lo up
}

# add_rxe_lo: the soft-RoCE device on lo, which may have been deleted since rxe_on_lo.
add_rxe_lo() {
	rdma link add rxe_lo type rxe netdev lo || fail "cannot make a soft-RoCE device on lo"
	wait_for 'grep -q 7f00:0001 /sys/class/infiniband/rxe_lo/ports/1/gids/*' 20 "a GID of 127.0.0.1 at rxe_lo"
}

# rxe_on_lo: SMC-R over soft-RoCE on the loopback device. It works there, and not on a dummy or veth device,
# because the MAC of lo really is zero.
rxe_on_lo() {
	need rdma modprobe ip
	load_smc
	modprobe -a ib_uverbs rdma_rxe || fail "cannot load rdma_rxe"
	add_rxe_lo
	# Our module would prefer its loopback device: a PNET ID that no network device has takes it out of the choice.
	case $KERNEL in
	6.12-*) ueid.py pnet-add NOLOOPBACK - loopback-ism 1 || fail "cannot take loopback-ism out of the choice" ;;
	esac
}

# Background servers: started ones are listed here and ended by pid.
STARTED=()
end_started() {
	local pid
	for pid in "${STARTED[@]:-}"; do
		[ -z "$pid" ] || kill "$pid" 2> /dev/null
	done
}
trap end_started EXIT

# start LOG CMD...: run in the background, output to $RESULTS/LOG; the pid is in $PID.
start() {
	local log=$1
	shift
	"$@" > "$RESULTS/$log" 2>&1 &
	PID=$!
	STARTED+=("$PID")
}

# start_smcd [OPTION...]: smcd of this build, until it answers; its pid is in $PID. (smcctl reads without it as well, but
# says so on stderr.)
start_smcd() {
	start smcd.log "$ROOT/build/bin/smcd" "$@"
	wait_for "smcctl status 2> '$RESULTS/status.err' && test ! -s '$RESULTS/status.err'" 60 "smcd answers"
}

# traffic_over TRANSPORT SOCKET-OPTION PORT: two echoed connections of known sizes, looked at while they are open.
# The sockets' records are left in $RESULTS/sockets.json.
traffic_over() {
	local sizes=1000x10,16384x5,200000 bytes=291920 conns=2 server client go=$RESULTS/go.$3
	start "server.$3.log" smctraffic server "$2" --echo --count $conns --port "$3" --deadline $((60 * ${SLOWNESS:-1}))
	server=$PID
	wait_for "grep -q listening '$RESULTS/server.$3.log'" 10 "the server listens"
	start "client.$3.log" smctraffic client "$2" --echo --count $conns --port "$3" --sizes $sizes --hold-file "$go" \
		--deadline $((60 * ${SLOWNESS:-1}))
	client=$PID
	wait_for "grep -q holding '$RESULTS/client.$3.log' || ! kill -0 $client" 60 "the client has sent all"
	if ! smcdiag.py --port "$3" --expect "$1" --count $conns > "$RESULTS/sockets.json"; then
		cat "$RESULTS/sockets.json" "$RESULTS/server.$3.log" "$RESULTS/client.$3.log"
		fail "$conns connections over $1 ($2)"
	fi
	touch "$go"
	wait $client || fail "the client failed: $(tail -n 1 "$RESULTS/client.$3.log")"
	wait $server || fail "the server failed: $(tail -n 1 "$RESULTS/server.$3.log")"
	same "client, $1 ($2)" "$((bytes * conns)) $((bytes * conns))" \
		"$(json "$RESULTS/client.$3.log" sent_bytes recv_bytes)"
	same "server, $1 ($2)" "$((bytes * conns)) $((bytes * conns))" \
		"$(json "$RESULTS/server.$3.log" sent_bytes recv_bytes)"
}

# json FILE KEY...: numbers of the flat JSON object in FILE (python would take half a second in the guest).
json() {
	local file=$1 key values=()
	shift
	for key; do
		values+=("$(sed -n "s/^{.*\"$key\":\([0-9]*\).*/\1/p" "$file")")
	done
	echo "${values[*]}"
}
