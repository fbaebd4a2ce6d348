#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Completion in bash, fish and zsh: what each offers for a line that is begun. With
# 200,000 kernel functions an answer still comes at once.
#
#   completion.sh [--installed]     of the command and the files that are installed, not those of the tree
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ "${1-}" = --installed ]; then
	bash_file=/usr/share/bash-completion/completions/auxtrace
	zsh_dir=/usr/share/zsh/vendor-completions
	fish_file=/usr/share/fish/vendor_completions.d/auxtrace.fish
else
	"$top/scripts/deps" all
	"$top/scripts/need" fish zsh || { echo "completion: cannot run: fish and zsh are missing"; exit 77; }
	make -s -C "$top" all
	PATH=$top/build/tools:$PATH
	bash_file=$top/tools/completion/auxtrace.bash
	zsh_dir=$top/tools/completion
	fish_file=$top/tools/completion/auxtrace.fish
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/auxtrace-completion.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work

# shellcheck disable=SC2317 # called by its shell's name
in_bash()
{
	# shellcheck disable=SC2016 # expanded by the inner shell
	bash --norc -c '
		. "$1"
		COMP_LINE=$2 COMP_POINT=${#2}
		last=${COMP_LINE##*[[:blank:]]}
		compopt() { :; }
		_auxtrace auxtrace "${last##*[:=]}" ""
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$bash_file" "$1"
}

# shellcheck disable=SC2317 # called by its shell's name
in_fish()
{
	# shellcheck disable=SC2016 # as above
	fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$fish_file" "$1" | cut -f 1
}

# shellcheck disable=SC2317 # called by its shell's name
in_zsh()
{
	# shellcheck disable=SC2016 # as above
	zsh -f -c '
		fpath=("$1" $fpath)
		# The first call looks at all files, and leaves what it has found.
		autoload -Uz compinit && compinit -C -d "$3/zcompdump"
		[[ $_comps[auxtrace] == _auxtrace ]] || { print "not loaded"; exit 1 }
		compadd() {
			while [[ $1 == -* && $1 != -- ]]; do [[ $1 == -S ]] && shift; shift; done
			[[ $1 == -- ]] && shift
			local w
			for w in "$@"; do [[ $w == ${PREFIX}* ]] && print -r -- "$IPREFIX$w"; done
		}
		# What these really do needs the line editor.
		_files() { [[ $1 == -/ ]] && compadd -- ${PREFIX}*(N-/) || compadd -- ${PREFIX}*(N) }
		_command_names() { compadd -- ${(k)commands} }
		words=(${(s: :)2}) IPREFIX= PREFIX=${2##* }
		[[ $2 == *" " ]] && words+=("")
		CURRENT=$#words
		autoload +X _auxtrace
		_auxtrace
	' zsh "$zsh_dir" "$1" "$work"
}

failed=0
# offers SHELL LINE WORD...: these words are offered, among others
offers()
{
	local shell=$1 line=$2 last word

	shift 2
	last=${line##* }
	"in_$shell" "$line" > "$work/offered" 2> "$work/errors" || true
	for word in "$@"; do
		# bash breaks words at ":" and "=": there the rest is offered.
		[ "$shell" != bash ] || word=${word#"${last%"${last##*[:=]}"}"}
		if ! grep -qxF -e "$word" "$work/offered"; then
			echo "completion: $shell does not offer '$word' for '$line', but:"
			head -n 5 "$work/offered" "$work/errors" | sed 's/^/    | /'
			failed=1
			return
		fi
	done
	echo "ok: $shell: $line -> $*"
}

# offers_only SHELL LINE PATTERN: nothing else is offered; there is something, unless the pattern is empty
offers_only()
{
	local shell=$1 line=$2 pattern=$3

	"in_$shell" "$line" > "$work/offered" 2> "$work/errors" || true
	if grep -qvxE -e "$pattern" "$work/offered" || { [ -n "$pattern" ] && [ ! -s "$work/offered" ]; }; then
		echo "completion: for '$line' $shell offers not only '$pattern', but:"
		head -n 5 "$work/offered" "$work/errors" | sed 's/^/    | /'
		failed=1
		return
	fi
	echo "ok: $shell: $line -> only ${pattern:-nothing}"
}

mkdir "$work/recording"
touch "$work/recorder"
# A single answer would get a blank, where "=" or ":" may follow.
offers fish 'auxtrace record --on syscall:uname:ente' syscall:uname:enter syscall:uname:enter=
offers fish 'auxtrace record --on=syscall:uname:ente' --on=syscall:uname:enter --on=syscall:uname:enter=
offers fish "auxtrace why-slow $work/recorde" "$work/recorder" "$work/recorder:"
for shell in bash fish zsh; do
	offers "$shell" 'auxtrace re' record
	offers "$shell" 'auxtrace why' why-slow
	offers "$shell" 'auxtrace hel' help
	offers "$shell" 'auxtrace help re' record report
	offers "$shell" 'auxtrace record --over' --overwrite
	offers "$shell" 'auxtrace script --sym' --symfs
	offers "$shell" 'auxtrace report --jo' --jobs
	offers "$shell" 'auxtrace record --source ' pt bts
	offers "$shell" 'auxtrace record --on syscall:una' syscall:uname:
	offers "$shell" 'auxtrace record --on syscall:uname:e' syscall:uname:enter syscall:uname:exit
	offers "$shell" 'auxtrace record --on syscall:uname:enter=' syscall:uname:enter=freeze
	offers "$shell" 'auxtrace record --on uprobe:/etc/passw' uprobe:/etc/passwd
	offers "$shell" 'auxtrace record --source=p' --source=pt
	offers "$shell" 'auxtrace record --on=sysc' --on=syscall:
	offers "$shell" 'auxtrace record --on=syscall:uname:enter=fr' --on=syscall:uname:enter=freeze
	offers_only "$shell" 'auxtrace record -C ' '[0-9]+'
	offers "$shell" 'auxtrace record --cpu 0,' 0,0
	offers_only "$shell" 'auxtrace record -m ' ''
	offers_only "$shell" "auxtrace record -o $work/record" "$work/recording/?"
	offers "$shell" 'auxtrace record unsh' unshare
	offers "$shell" "auxtrace record -- cat $work/recorde" "$work/recorder"
	offers "$shell" 'auxtrace list kret' kretprobe:
	offers "$shell" 'auxtrace around sysc' syscall:
	offers "$shell" 'auxtrace around --before 2ms syscall:una' syscall:uname:
	offers_only "$shell" 'auxtrace around --before ' ''
	offers "$shell" 'auxtrace around syscall:uname:enter --be' --before
	offers "$shell" 'auxtrace around syscall:uname:enter -- unsh' unshare
	offers "$shell" 'auxtrace last -- unsh' unshare
	offers "$shell" "auxtrace why-slow $work/recorde" "$work/recorder"
	offers "$shell" 'auxtrace why-slow ./prog:f --over 2ms -- unsh' unshare
	offers_only "$shell" 'auxtrace selftest fl' flow
	offers "$shell" 'auxtrace selftest -C 0 flow pe' perf
	offers_only "$shell" 'auxtrace selftest --cpu ' '[0-9]+'
	offers_only "$shell" "auxtrace script $work/record" "$work/recording/?"
	offers_only "$shell" "auxtrace report --limit 5 $work/record" "$work/recording/?"
	offers_only "$shell" "auxtrace export -f perf -o out $work/record" "$work/recording/?"
	offers "$shell" "auxtrace dump $work/record" "$work/recorder"
	offers "$shell" 'auxtrace export --format=perf' --format=perf --format=perfetto
	offers "$shell" 'auxtrace report --sort p' p50 p99
	offers "$shell" 'auxtrace report --by ' function thread process
	offers "$shell" 'auxtrace script --color a' auto always
	offers_only "$shell" 'auxtrace info ' ''
done

# A kernel with 200,000 functions: its list in place of this one's, in a mount namespace.
if [ "$(id -u)" != 0 ] || ! unshare --mount true 2> /dev/null; then
	[ "$failed" -eq 0 ] || exit 1
	echo "completion: cannot run: only root can try 200,000 functions; all else is right"
	exit 77
fi
awk 'BEGIN { for (n = 0; n < 200000; n++) printf "ffffffff%08x t function_%d\n", 2 ^ 31 + 64 * n, n }' > "$work/kallsyms"
# shellcheck disable=SC2317 # called by quick
# ms COMMAND...: milliseconds of CPU time, which other work on the host does not make more; its output is left in
# $work/names.
ms()
{
	local TIMEFORMAT='%3U %3S' user system

	{ time "$@" > "$work/names" 2> "$work/errors"; } 2> "$work/times"
	read -r user system < "$work/times"
	echo $((10#${user/./} + 10#${system/./}))
}

# shellcheck disable=SC2317 # called by the bash below
# Runs in that namespace. For each it prints what was done, the names that were offered, and the milliseconds of CPU time.
quick()
{
	local shell

	mount --bind "$work/kallsyms" /proc/kallsyms
	# 12345, and 123450 to 123459
	echo "list 11 11 $(ms auxtrace list --complete kprobe:function_12345)" "$(wc -l < "$work/names")"
	# function_1, function_10 to function_19, function_100 to function_199: with another digit they would be too many
	for shell in bash fish zsh; do
		echo "$shell 100 500 $(ms "in_$shell" 'auxtrace record --on kprobe:function_1')" "$(wc -l < "$work/names")"
	done
}

export -f ms quick in_bash in_fish in_zsh
export work bash_file fish_file zsh_dir
unshare --mount bash -euo pipefail -c quick > "$work/quick"
while read -r who least most ms names; do
	if [ "$names" -lt "$least" ] || [ "$names" -gt "$most" ]; then
		echo "completion: of 200,000 functions $who offers $names, expected $least to $most"
		failed=1
	elif [ "$ms" -gt 3000 ]; then
		echo "completion: with 200,000 functions $who took $ms ms of CPU time, more than 3000"
		failed=1
	else
		echo "ok: with 200,000 functions $who took $ms ms of CPU time"
	fi
done < "$work/quick"
[ "$(wc -l < "$work/quick")" -eq 4 ] || failed=1
exit "$failed"
