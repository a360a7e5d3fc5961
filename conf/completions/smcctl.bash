# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion of smcctl(8). Generated from the tables by make generate: edit those.

_smcctl()
{
	local names="status knobs show set stats fallbacks explain linkgroups links devices sockets pools cork handshakes pnet ueid seid metrics monitor policy version shell help"
	local knobs="wmem rmem autocorking_size smcr_buf_type smcr_testlink_time smcr_max_links_per_lgr smcr_max_conns_per_lgr limit_smc_hs smcr_max_send_wr smcr_max_recv_wr hs_ctrl hs_workers lo_max_dmbs cork_mode cork_ceiling tx_nocache_min"
	local events="knob pnet link fallback"
	local reasons="MEM TIMEOUT_CL TIMEOUT_AL CNFERR PEERNOSMC IPSEC NOSMCDEV NOSMCDDEV NOSMCRDEV NOISM2SUPP NOV2EXT NOV2DEXT NOSEID NOSMCD2DEV NOUEID RELEASEERR MAXCONNERR MAXLINKERR MODEUNSUPP RMBE_EC OPTUNSUPP DIFFPREFIX GETVLANERR ISMVLANERR NOACTLINK NOSRVLINK VERSMISMAT MAX_DMB NOROUTE NOINDIRECT SYNCERR PEERDECL INTERR ERR_RTOK ERR_RDYLNK ERR_REGBUF"
	local common="--netns --json --wide --no-color --socket --direct --help --version"
	local valued="--netns -n --socket "
	local flags="--json --wide --no-color --direct --help --version "
	local -A verbs=(
		[knobs]="show set reset"
		[stats]="show"
		[fallbacks]="show"
		[linkgroups]="show"
		[links]="show"
		[devices]="show"
		[sockets]="show"
		[pools]="show"
		[cork]="show"
		[handshakes]="show"
		[pnet]="show add delete flush replace"
		[ueid]="show add delete flush"
		[seid]="show enable disable"
		[policy]="check"
	)
	local -A kind=(
		["status"]=none
		["knobs show"]=knobs
		["knobs set"]=assign
		["knobs reset"]=knobs
		["show"]=knobs
		["set"]=assign
		["stats show"]=none
		["fallbacks show"]=filter
		["explain"]=codes
		["linkgroups show"]=filter
		["links show"]=filter
		["devices show"]=filter
		["sockets show"]=filter
		["pools show"]=filter
		["cork show"]=filter
		["handshakes show"]=filter
		["pnet show"]=filter
		["pnet add"]=entry
		["pnet delete"]=entry
		["pnet flush"]=none
		["pnet replace"]=files
		["ueid show"]=filter
		["ueid add"]=words
		["ueid delete"]=words
		["ueid flush"]=none
		["seid show"]=filter
		["seid enable"]=none
		["seid disable"]=none
		["metrics"]=none
		["monitor"]=events
		["policy check"]=files
		["version"]=none
		["shell"]=none
		["help"]=command
	)
	local -A options=(
		["knobs set"]="--save "
		["knobs reset"]="--save --default "
		["set"]="--save "
		["devices show"]="--rdma "
	)
	local -A keys=(
		["fallbacks show"]="role code name count meaning action "
		["linkgroups show"]="id tech role type connections pnet_id vlan version release peer_os eid peer_host direct max_connections max_links buffer_type send_buffers receive_buffers gid peer_gid gid_ext peer_gid_ext chid net_cookie "
		["links show"]="linkgroup id state device port connections gid peer_gid ifindex netdev uid peer_uid "
		["devices show"]="name tech port state pnet_id pnet_id_by_user ifindex netdev links linkgroups critical pci_id pci_fid pci_chid pci_vendor pci_device "
		["sockets show"]="local_addr local_port peer_addr peer_port state mode reason reason_name peer_reason sndbuf rcvbuf peer_rcvbuf rx_fill tx_fill pid program uid inode cookie shutdown token role link device device_port gid peer_gid linkgroup addr port"
		["pools show"]="tech linkgroup direction size buffers in_use free bytes reuses allocations downgrades contended net_cookie "
		["cork show"]="kind cause count bytes "
		["handshakes show"]="role queued active workers_max established fallbacks errors time_sum "
		["pnet show"]="id interface rdma port "
		["pnet add"]="interface rdma port "
		["pnet delete"]="interface rdma port "
		["ueid show"]="eid "
		["seid show"]="eid enabled "
	)
	local -A values=(
		[knob:smcr_buf_type]="physical virtual mixed"
		[knob:limit_smc_hs]="off on"
		[knob:cork_mode]="auto application off"
		[linkgroups:tech]="smcd smcr"
		[linkgroups:role]="client server"
		[linkgroups:type]="none single symmetric asymmetric-peer asymmetric-local"
		[linkgroups:peer_os]="unknown z/OS Linux AIX"
		[linkgroups:direct]="off on"
		[linkgroups:buffer_type]="physical virtual mixed"
		[links:state]="unused inactive activating active"
		[devices:tech]="smcd smcr"
		[devices:state]="down active"
		[devices:pnet_id_by_user]="off on"
		[devices:critical]="off on"
		[sockets:mode]="smcr tcp smcd"
		[sockets:role]="client server"
		[seid:enabled]="off on"
		[fallbacks:role]="client server"
		[pools:tech]="smcr smcd"
		[pools:direction]="send receive"
		[cork:kind]="held sent past-cache"
		[handshakes:role]="client server"
	)
	local -a words=()
	local word cur name= verb= command= waiting= plain= candidates= i

	# Readline divides words at '=': put NAME=VALUE together again.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((${#words[@]})) && [[ $word == '=' || ${words[-1]} == *= ]] &&
			[[ -n $word || ${COMP_LINE:COMP_POINT-1:1} != ' ' ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	COMPREPLY=()
	((${#words[@]})) || return 0
	cur=${words[-1]}
	unset 'words[-1]'

	for word in "${words[@]}"; do
		if [[ $waiting ]]; then
			waiting=
		elif [[ ! $plain && $word == -- ]]; then
			plain=1
		elif [[ ! $plain && $word == -?* ]]; then
			[[ " $valued " == *" $word "* || ($word == --* && $word != *=* && " $flags ${options[${command:-.}]-} " != *" $word "*) ]] &&
				waiting=$word
		elif [[ ! $name ]]; then
			name=$word
			[[ $name && ${kind[$name]-} ]] && command=$name
		elif [[ ! $command ]]; then
			verb=$word
			command="$name $verb"
		fi
	done

	if [[ $waiting == --netns || $waiting == -n ]]; then
		candidates=$(cd /run/netns 2>/dev/null && printf '%s ' *)
	elif [[ $waiting == --socket ]]; then
		compopt -o default 2>/dev/null
	elif [[ $waiting ]]; then
		word=${waiting#--}
		candidates=${values[$name:${word//-/_}]-}
	elif [[ ! $plain && $cur == -* ]]; then
		candidates="$common ${options[${command:-.}]-}"
		for word in ${keys[${command:-.}]-}; do
			candidates+=" --$word"
		done
	elif [[ ! $name ]]; then
		candidates=$names
	elif [[ ! $command ]]; then
		candidates=${verbs[$name]-}
	else
		case ${kind[$command]-} in
		knobs)
			candidates=$knobs
			;;
		assign)
			_smcctl_pairs knob "$knobs"
			;;
		filter | entry)
			_smcctl_pairs "$name" "${keys[$command]-}"
			;;
		codes)
			candidates=$reasons
			;;
		events)
			candidates=$events
			;;
		command)
			candidates=$names
			;;
		files)
			compopt -o default 2>/dev/null
			;;
		esac
	fi

	mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$cur")
	# What readline took for a word of its own begins behind the '='.
	if [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then
		COMPREPLY=("${COMPREPLY[@]#*=}")
	elif [[ ${COMPREPLY[0]-} == *= ]]; then
		compopt -o nospace 2>/dev/null
	fi
	return 0
}

# _smcctl_pairs TABLE NAMES: NAME= of each name, or, after it, its values. Works on the caller's cur, values and candidates.
_smcctl_pairs()
{
	local word

	if [[ $cur == *=* ]]; then
		for word in ${values[$1:${cur%%=*}]-}; do
			candidates+=" ${cur%%=*}=$word"
		done
	else
		for word in $2; do
			candidates+=" $word="
		done
	fi
}

complete -F _smcctl smcctl
