#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's flow between entry and exit of one system call, by triggers and, in
# the same boot, by perf's aux-action, where the kernel has that. perf's own decoder
# reads perf's, libipt reads ours: the same functions, one after the other, must have
# been called, and the same instructions executed.
set -euo pipefail

me=aux-action
# shellcheck source=tests/oracle/common
. "$(dirname "${BASH_SOURCE[0]}")/../oracle/common"
kernel=${1:-6.12}
[ $# -eq 0 ] || shift
case $kernel in
6.12 | 6.12-rt | 7.2) ;;
*) skip "the kernel $kernel has no aux-action; 6.12 and 7.2 have" ;;
esac

make -s -C "$top" all >&2
# That of 6.12 does not know it: the kernel has it by backport.
perf=$("$here/perf" 7.2)
work=$(mktemp -d "${TMPDIR:-/tmp}/auxtrace-$me.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Virtual time: a timer interrupt within so short a trace is unlikely. And a stack that
# begins at random changes how memcpy() goes about its unaligned ends.
"$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --icount 4 --timeout 1000 "$@" \
	--append randomize_kstack_offset=off \
	--module "$("$top/scripts/build-module" "$kernel")" --work "$work/vm" --out "$work/out" \
	--file "$top/build/tools/auxtrace" --file "$perf:/perf" \
	--file "$top/tests/guest/aux-action.sh" -- aux-action.sh

# Pair $1 decoded: addresses of the instructions that were executed, one a line.
decode()
{
	"$top/build/tools/auxtrace" script --symfs "$work/vm/initramfs.root" --insn "$work/out/ours.$1" \
		> "$work/ours.flow"
	HOME=$work "$perf/perf" --buildid-dir "$work/out/.debug" script -i "$work/out/perf.data.$1" \
		--symfs "$work/vm/initramfs.root" --itrace=i0nse -F event,ip > "$work/perf.flow"
	sed -n 's/^\([0-9a-f]\{16\}\) .*/\1/p' "$work/ours.flow" > "$work/ours.insn"
	sed -n 's/^ *instructions:[^ ]* *\([0-9a-f]*\).*/\1/p' "$work/perf.flow" > "$work/perf.insn"
}

# Did an interrupt come within one of the two? They lead to asm_sysvec_... and the like.
interrupted()
{
	awk 'NR == FNR { if ($3 ~ /^asm_/) entry[$1]; next } $1 in entry { found = 1 } END { exit !found }' \
		"$work/out/kallsyms" <(cat "$work"/{ours,perf}.insn)
}

for pair in 1 2 3 4; do
	decode $pair
	interrupted || break
	echo "pair $pair was interrupted"
done
verdict "there is a pair without an interrupt" not interrupted
verdict "ours: no decode error" not grep '^# \(error\|overflow\)' "$work/ours.flow"
verdict "perf: no decode error" not grep 'instruction trace error' "$work/perf.flow"

# What $1 executed: part "call" is from the system call's own function up to the
# first instruction of whoever then turns the trace off, and "edges" is the rest.
# Instructions, each with its function if it is that one's first.
part()
{
	awk -v wanted="$2" '
		NR == FNR {
			if ($2 ~ /^[tTwW]$/ && !($1 in name))
				name[$1] = $3 $4
			next
		}
		name[$1] == "__x64_sys_newuname" && !began { began = inside = 1 }
		name[$1] ~ /^perf_syscall_exit$|\[auxtrace\]$/ { inside = 0 }
		inside == (wanted == "call") { print $1, name[$1] }
	' "$work/out/kallsyms" "$work/$1.insn" > "$work/$1.$2"
}

# Names of functions, one after the other; what is no function of the source is left out.
functions()
{
	sed -n 's/^[0-9a-f]* \([^ ].*\)$/\1/p' "$@" | grep -vE 'return_thunk|indirect_thunk'
}

for who in ours perf; do
	part $who call
	part $who edges
done
functions "$work/ours.call" > "$work/ours.functions" || true
functions "$work/perf.call" > "$work/perf.functions" || true
echo "the functions: $(paste -sd ' ' "$work/ours.functions")"
for name in __do_sys_newuname _copy_to_user; do
	verdict "$name is among them" grep -qx "$name" "$work/ours.functions"
done
verdict "the same $(wc -l < "$work/perf.functions") functions as by perf, in their order" \
	diff "$work/ours.functions" "$work/perf.functions"
verdict "the same $(wc -l < "$work/perf.call") instructions" \
	cmp "$work/ours.call" "$work/perf.call"

# The trace goes on in the tracepoint's handler, and ends in one: theirs, not ours. Of
# the kernel's own there is in ours nothing that is not in perf's.
echo "at the edges, perf: $(wc -l < "$work/perf.edges") instructions," \
	"$(functions "$work/perf.edges" | sort -u | paste -sd ' ')"
echo "at the edges, ours: $(wc -l < "$work/ours.edges") instructions," \
	"$(functions "$work/ours.edges" | sort -u | paste -sd ' ')"
functions "$work/perf.edges" | sort -u > "$work/perf.others" || true
verdict "at the edges ours has functions of auxtrace, and none of the kernel's that perf's has not" \
	not grep -vxFf "$work/perf.others" <(functions "$work/ours.edges" | grep -vF '[auxtrace]')
[ "$failures" -eq 0 ] || exit 1
