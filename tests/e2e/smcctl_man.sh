#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual pages format without a warning and name every command, option and knob that smcctl names.
set -u
root=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
n=0
failed=0

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

for page in "$root"/man/*.[1-9]; do
	warnings=$(groff -man -ww -Tutf8 -z "$page" 2>&1)
	[ -z "$warnings" ]
	say $? "${page##*/} formats without a warning $warnings"
	text=$(groff -man -ww -Tascii -P-cbou -rLL=200n "$page")
	[ "$(printf '%s\n' "$text" | wc -l)" -gt 40 ]
	say $? "${page##*/} has content"
done

# Words only: the page wraps and fills.
page=$(groff -man -Tascii -P-cbou -rLL=200n "$root/man/smcctl.8" | tr -s ' \n' ' ')
names=$(smcctl-fake --help | sed -n '/^Commands:/,/^Options:/s/^  \([a-z][a-z]*\( [a-z][a-z]*\)\{0,1\}\) .*/\1/p
	s/^  .*\(--[a-z][a-z-]*\).*/\1/p'; smcctl-fake knobs show --help | sed -n '/^Knobs:/,/^$/s/^  \([a-z][a-z_]*\) .*/\1/p')
[ "$(printf '%s\n' "$names" | wc -l)" -gt 40 ]
say $? "the help was read"
missing=
IFS='
'
for name in $names; do
	case $page in
	*" $name"*) ;;
	*) missing="$missing $name" ;;
	esac
done
[ -z "$missing" ]
say $? "smcctl(8) names what the help names$missing"
echo "1..$n"
exit $failed
