# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Completion of auxtrace(1) for bash. What there is to complete comes from the command itself: options from
# its --help, events from `auxtrace list --complete`.

# _auxtrace_options SUBCOMMAND: they begin lines of its help, perhaps two in one line.
_auxtrace_options()
{
	auxtrace "$1" --help 2> /dev/null |
		sed -nE 's/^ +(-[A-Za-z]), (--[a-z0-9-]+).*/\1\n\2/p; s/^ +(--[a-z0-9-]+).*/\1/p'
}

# _auxtrace_event WORD: how the value of --on goes on
_auxtrace_event()
{
	local event=${1%%=*} rest

	case $1 in
	*=*,*)
		rest=${1%,*}
		printf "$rest,%s\n" pid= count= after= hold-off= one-shot all-cpus delay=
		;;
	*=*)
		printf "$event=%s\n" pause resume freeze sample=
		;;
	latency:*..*)
		rest=${1%..*}..
		auxtrace list --complete "${1##*..}" 2> /dev/null | while read -r event; do
			echo "$rest$event"
		done
		;;
	latency:*)
		auxtrace list --complete "${1#latency:}" 2> /dev/null | sed 's/^/latency:/'
		;;
	uprobe:/* | uretprobe:/*)
		compgen -P "${1%%:*}:" -f -- "${1#*:}"
		;;
	*)
		auxtrace list --complete "$1" 2> /dev/null
		;;
	esac
}

_auxtrace()
{
	local line=${COMP_LINE:0:COMP_POINT} word=$2 before='' words
	local -a said

	COMPREPLY=()
	read -ra said <<< "$line"
	# A blank at the end begins a new word. bash breaks words at ":" and "=" as well, which are part of
	# an event: what is before the last of them must not be in the reply.
	case $line in
	*[[:blank:]]) said+=('') ;;
	esac
	word=${said[-1]}
	if [ "${#said[@]}" -le 2 ] || [ "${said[1]}" = help ]; then
		words=$(auxtrace --help 2> /dev/null | sed -nE 's/^  ([a-z-]+) .*/\1/p')
		[ "${said[1]}" = help ] && [ "${#said[@]}" -gt 2 ] || words="$words help --help --version"
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		return
	fi
	# What follows -- is a command.
	case " ${said[*]:2:${#said[@]}-3} " in
	*" -- "*)
		mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
		return
		;;
	esac
	case ${said[-2]} in
	--on)
		words=$(_auxtrace_event "$word")
		before=${word%"${word##*[:=]}"}
		;;
	--source) words=$'pt\nbts' ;;
	--full) words=$'wait\nauto\nstop' ;;
	--weight) words=$'ns\ninstructions' ;;
	--format | -f) words=$'perf\nperfetto\nspeedscope\nfolded\ncallgrind' ;;
	-p | --pid | -t | --tid | --cr3)
		words=$(cd /proc && printf '%s\n' [0-9]*)
		;;
	-o | --output | --symfs | --control)
		compopt -o filenames 2> /dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	*)
		case ${said[1]}:$word in
		*:-*) words=$(_auxtrace_options "${said[1]}") ;;
		list:*) words=$(auxtrace list --complete "$word" 2> /dev/null) before=${word%"${word##*[:=]}"} ;;
		record:*)
			mapfile -t COMPREPLY < <(compgen -c -- "$word")
			return
			;;
		*)
			compopt -o filenames 2> /dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return
			;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	[ "${#COMPREPLY[@]}" -eq 0 ] || COMPREPLY=("${COMPREPLY[@]#"$before"}")
	# More is to follow such a word, so no blank.
	case ${COMPREPLY[*]-} in
	*[:=]) compopt -o nospace 2> /dev/null ;;
	esac
	[ "${said[-2]}" != --on ] || compopt -o nospace 2> /dev/null
}

complete -F _auxtrace auxtrace
