#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Manual pages, completion and interface file say what the tables say; and this test would notice if one did not.
set -u
root=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
generate=${BUILD:-$root/build}/gen/generate
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
failed=0
n=0

say()
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		failed=1
	fi
}

"$root/tests/generated" compare "$generate" "$root"
say $? "the checked-in files are what the tables make"

mkdir -p "$copy/conf"
cp -r "$root/man" "$copy/"
cp -r "$root/conf/completions" "$root/conf/org.smcd.Manager.varlink" "$copy/conf/"
"$root/tests/generated" compare "$generate" "$copy" >"$copy/log" 2>&1
say $? "a copy of them is, too"

# plant FILE EDIT [SHOWN]: one word changed, as if a table had changed and nobody had run make generate.
plant()
{
	cp "$copy/$1" "$copy/before"
	sed -i "$2" "$copy/$1"
	if cmp -s "$copy/$1" "$copy/before"; then
		say 1 "$1: nothing could be planted"
		return
	fi
	"$root/tests/generated" compare "$generate" "$copy" >"$copy/log" 2>&1
	[ $? -eq 1 ] && grep -q "^--- ${3:-$1}\$" "$copy/log"
	say $? "a planted difference in $1 is noticed"
	cp "$copy/before" "$copy/$1"
}
plant man/smcctl.8 's/rmem/rmen/'
plant man/smcctl.8.in 's/client of the daemon/friend of the daemon/' man/smcctl.8
plant man/smcd.service.8 's/ListLinks/ListLink/'
plant man/smcd-policy.5 's/autocorking_size/autocorking/'
plant conf/completions/smcctl.bash 's/smcr_buf_type/smcr_buf/'
plant conf/org.smcd.Manager.varlink 's/method GetStats/method GetStat/'

echo '@NO-SUCH-PART@' >"$copy/bad.in"
! "$generate" man-smcctl "$copy/bad.in" >/dev/null 2>&1
say $? "a template's unknown part is refused"
echo "1..$n"
exit $failed
