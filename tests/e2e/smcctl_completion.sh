#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bash completion, called as bash calls it: COMP_WORDS as readline divides them, the answer in COMPREPLY.
set -u
root=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
failed=0
n=0

if ! bash -n "$root/conf/completions/smcctl.bash"; then
	echo "not ok 1 - bash cannot read the completion"
	exit 1
fi
. "$root/conf/completions/smcctl.bash"

# reply WORD... : the last word is the one that is being completed; '=' stands alone, as in COMP_WORDS.
reply()
{
	COMP_WORDS=(smcctl "$@")
	COMP_CWORD=$#
	COMP_LINE="smcctl $*"
	COMP_POINT=${#COMP_LINE}
	COMPREPLY=()
	_smcctl smcctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null
}

say()
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2 (got: ${COMPREPLY[*]-})"
		failed=1
	fi
}

# gives "CANDIDATES" WORD... : exactly these.
gives()
{
	local want=$1
	shift
	reply "$@"
	[ "${COMPREPLY[*]-}" = "$want" ]
	say $? "smcctl $* gives '$want'"
}

# offers CANDIDATE WORD... : this among others.
offers()
{
	local want=$1
	shift
	reply "$@"
	[[ " ${COMPREPLY[*]-} " == *" $want "* ]]
	say $? "smcctl $* offers $want"
}

complete -p smcctl >/dev/null
say $? "the function is registered"
gives "knobs" kno
gives "show set reset" knobs ""
gives "reset" knobs r
gives "wmem=" set wm
gives "smcr_buf_type=" knobs set smcr_buf
gives "physical virtual mixed" set smcr_buf_type =
gives "virtual" set smcr_buf_type = v
gives "off on" set wmem = 1M limit_smc_hs =
gives "" set wmem =
gives "rmem=" set wmem = 1M rm
gives "wmem" show wm
gives "NOSMCDEV NOSMCDDEV NOSMCRDEV NOSMCD2DEV" explain NOSMC
gives "--save" set --sa
gives "" show --sa
gives "--rdma" devices show --rd
gives "--json" --js
gives "state=" links show st
gives "active" links show state = active
gives "unused inactive activating active" links show --state ""
gives "smcr tcp smcd" sockets show mode =
offers "--state" links show --
offers "port=" sockets show ""
offers "addr=" sockets show ""
gives "interface=" pnet add NETA i
gives "" ueid add ""
gives "show add delete flush replace" --json -n blue pnet ""
gives "" nonsense ""
gives "knobs" help kno

# Everything that help names can be completed to, letter by letter.
while read -r name verb; do
	offers "$name" "${name:0:2}"
	[ -z "$verb" ] || offers "$verb" "$name" "${verb:0:1}"
done < <(smcctl-fake --help | sed -n '/^Commands:/,/^Options:/s/^  \([a-z][a-z]*\)\( [a-z][a-z]*\)\{0,1\} .*/\1\2/p')
[ "$n" -gt 60 ]
say $? "the help was read"
echo "1..$n"
exit $failed
