# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Completion of auxtrace(1) for bash. What there is to complete comes from the command itself: options from
# its --help, events from `auxtrace list --complete`, checks from what selftest says of one that it does not have.

# _auxtrace_options SUBCOMMAND [MORE]: they begin lines of its help, perhaps two in one line. With MORE: those before it.
_auxtrace_options()
{
	auxtrace "$1" --help 2> /dev/null |
		sed -nE "s/^ +(-[A-Za-z]), (--[a-z0-9-]+)${2-}.*/\1\n\2/p; s/^ +(--[a-z0-9-]+)${2-}.*/\1/p"
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

_auxtrace_checks()
{
	auxtrace selftest '' 2>&1 | sed -n '/.*the checks are /{s///; s/, /\n/g; p;}'
}

# _auxtrace_cpus [BEFORE]: the CPUs that are online; BEFORE is what a list has before its last number.
_auxtrace_cpus()
{
	sed -nE "s/^cpu([0-9]+) .*/${1-}\1/p" /proc/stat
}

# _auxtrace_value SUBCOMMAND OPTION WORD: sets the caller's words, or files: how compgen finds them.
_auxtrace_value()
{
	case $1:$2 in
	*:--on) words=$(_auxtrace_event "$3") ;;
	*:--source) words=$'pt\nbts' ;;
	*:--full) words=$'wait\nauto\nstop' ;;
	*:--weight) words=$'ns\ninstructions' ;;
	*:--format | *:-f) words=$'perf\nperfetto\nspeedscope\nfolded\ncallgrind' ;;
	*:--by) words=$'function\nthread\nprocess' ;;
	*:--sort) words=$'self\ntotal\nwaited\ncalls\np50\np99\nmax\ninstructions' ;;
	*:--color) words=$'auto\nalways\nnever' ;;
	record:--cpu | record:-C) words=$(_auxtrace_cpus "${3%"${3##*[,-]}"}") ;;
	*:--cpu | *:-C) words=$(_auxtrace_cpus) ;;
	record:-p | record:--pid | record:-t | record:--tid | *:--cr3) words=$(cd /proc && printf '%s\n' [0-9]*) ;;
	*:--control | *:--html | export:-o | export:--output | selftest:-o | selftest:--output) files=-f ;;
	*:-o | *:--output | *:--symfs) files=-d ;;
	esac
}

# _auxtrace_argument SUBCOMMAND NUMBER WORD: likewise of an argument that has so many others before it.
_auxtrace_argument()
{
	case $1:$2 in
	list:0 | around:0) words=$(_auxtrace_event "$3") ;;
	record:0 | last:0 | around:1 | why-slow:1) files='-c -f' ;;
	record:* | last:* | around:* | why-slow:* | dump:0) files=-f ;;
	script:0 | report:0 | export:0) files=-d ;;
	selftest:*) words=$(_auxtrace_checks) ;;
	esac
}

_auxtrace()
{
	local line=${COMP_LINE:0:COMP_POINT} word=$2 before words='' files='' option='' valued ended='' i
	local -i last arguments=0 command=-1
	local -a said

	COMPREPLY=()
	read -ra said <<< "$line"
	# A blank at the end begins a new word. bash breaks words at ":" and "=" as well, which are part of
	# an event: what is before the last of them must not be in the reply.
	case $line in
	*[[:blank:]]) said+=('') ;;
	esac
	last=$((${#said[@]} - 1))
	word=${said[last]}
	if [ "$last" -le 1 ] || [ "${said[1]}" = help ]; then
		words=$(auxtrace --help 2> /dev/null | sed -nE 's/^  ([a-z-]+) .*/\1/p')
		[ "${said[1]}" = help ] && [ "$last" -gt 1 ] || words="$words help --help --version"
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		return
	fi
	# The number of the argument that begins a COMMAND: what follows that, or --, is no option.
	case ${said[1]} in
	record | last) command=0 ;;
	around | why-slow) command=1 ;;
	esac
	valued=$(_auxtrace_options "${said[1]}" ' [A-Z]')
	for ((i = 2; i < last; i++)); do
		if [ -n "$ended" ]; then
			arguments+=1
		elif [ "${said[i]}" = -- ]; then
			ended=1
		elif [[ ${said[i]} != -* ]]; then
			[ "$arguments" -ne "$command" ] || ended=1
			arguments+=1
		elif [[ $'\n'$valued$'\n' == *$'\n'"${said[i]}"$'\n'* ]]; then
			i=$((i + 1))
			[ "$i" -lt "$last" ] || option=${said[i - 1]}
		fi
	done
	case $ended:$option:$word in
	::--*=*)
		option=${word%%=*}
		word=${word#*=}
		;;
	::-*) words=$(_auxtrace_options "${said[1]}") ;;
	esac
	if [ -n "$option" ]; then
		_auxtrace_value "${said[1]}" "$option" "$word"
	elif [ -z "$words" ]; then
		_auxtrace_argument "${said[1]}" "$arguments" "$word"
	fi
	if [ -n "$files" ]; then
		compopt -o filenames 2> /dev/null
		# shellcheck disable=SC2086 # perhaps two
		mapfile -t COMPREPLY < <(compgen $files -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	fi
	before=${word%"${word##*[:=]}"}
	[ "${#COMPREPLY[@]}" -eq 0 ] || COMPREPLY=("${COMPREPLY[@]#"$before"}")
	# More is to follow such a word, so no blank.
	case $option:${said[1]}:$arguments:${COMPREPLY[*]-} in
	--on:* | :why-slow:0:* | *[:=]) compopt -o nospace 2> /dev/null ;;
	esac
}

complete -F _auxtrace auxtrace
