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
		autoload -Uz compinit && compinit -u -D
		[[ $_comps[auxtrace] == _auxtrace ]] || { print "not loaded"; exit 1 }
		compadd() {
			while [[ $1 == -* && $1 != -- ]]; do [[ $1 == -S ]] && shift; shift; done
			[[ $1 == -- ]] && shift
			local w
			for w in "$@"; do [[ $w == ${PREFIX}* ]] && print -r -- "$w"; done
		}
		words=(${(s: :)2}) PREFIX=${2##* }
		[[ $2 == *" " ]] && words+=("")
		CURRENT=$#words
		autoload +X _auxtrace
		_auxtrace
	' zsh "$zsh_dir" "$1"
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
	offers "$shell" 'auxtrace list kret' kretprobe:
done

# A kernel with 200,000 functions: its list in place of this one's, in a mount namespace.
if [ "$(id -u)" != 0 ] || ! unshare --mount true 2> /dev/null; then
	[ "$failed" -eq 0 ] || exit 1
	echo "completion: cannot run: only root can try 200,000 functions; all else is right"
	exit 77
fi
awk 'BEGIN { for (n = 0; n < 200000; n++) printf "ffffffff%08x t function_%d\n", 2 ^ 31 + 64 * n, n }' > "$work/kallsyms"
cat > "$work/quick" <<'E2'
#!/bin/bash
mount --bind "$1/kallsyms" /proc/kallsyms
begun=$EPOCHREALTIME
auxtrace list --complete kprobe:function_12345 > "$1/names"
now=$EPOCHREALTIME
echo $(((${now/./} - ${begun/./}) / 1000)) > "$1/ms"
E2
chmod 755 "$work/quick"
unshare --mount "$work/quick" "$work"
ms=$(cat "$work/ms")
# 12345, and 123450 to 123459
if [ "$(wc -l < "$work/names")" -ne 11 ]; then
	echo "completion: of 200,000 functions $(wc -l < "$work/names") were offered, not 11"
	failed=1
elif [ "$ms" -gt 1000 ]; then
	echo "completion: with 200,000 functions it took $ms ms, more than 1000"
	failed=1
else
	echo "ok: with 200,000 functions it took $ms ms"
fi
exit "$failed"
