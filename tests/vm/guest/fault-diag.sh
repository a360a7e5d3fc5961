#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels: 6.12-smcd
# timeout: 180
# fault: 3
# unpatched: listener of IPPROTO_SMC: expected '127.0.0.1', found '0.0.0.0'
# sock_diag gives the addresses of SMC sockets of every family: AF_SMC, and AF_INET and AF_INET6 with IPPROTO_SMC.
. "$ROOT/tests/vm/lib.sh"

need smctraffic python3
load_smc
add_ueid SMCD-TEST-UEID

# addresses PORT: of the listener and of both ends of a connection, each once
addresses() {
	smcdiag.py --port "$1" > "$RESULTS/sockets.$1.json" || fail "no dump"
	python3 -c 'import json, sys
records = [json.loads(line) for line in sys.stdin]
ends = {(r["src"], r["dst"]) for r in records if r["state"] == "ACTIVE"}
print(" ".join(sorted({r["src"] for r in records if r["state"] == "LISTEN"})), ends == {(sys.argv[1],) * 2})' \
		"$2" < "$RESULTS/sockets.$1.json"
}

# look OPTION ADDRESS PORT
look() {
	local server client found
	start "server.$3.log" smctraffic server "$1" --addr "$2" --port "$3" --count 2 --deadline 60
	server=$PID
	wait_for "grep -q listening '$RESULTS/server.$3.log'" 10 "the server listens"
	start "client.$3.log" smctraffic client "$1" --addr "$2" --port "$3" --sizes 10 --hold-file "$RESULTS/go.$3" --deadline 60
	client=$PID
	wait_for "grep -q holding '$RESULTS/client.$3.log'" 60 "the client has sent all"
	found=$(addresses "$3" "$2")
	same "listener of $4" "$2" "${found% *}"
	same "both ends of $4" True "${found##* }"
	touch "$RESULTS/go.$3"
	wait $client || fail "the client failed"
	kill $server
}

look --afsmc 127.0.0.1 40000 "AF_SMC"
look --afsmc ::1 40001 "AF_SMC, IPv6"
look --ipproto 127.0.0.1 40002 "IPPROTO_SMC"
look --ipproto ::1 40003 "IPPROTO_SMC, IPv6"
