#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's flow between entry and exit of one system call, recorded by auxtrace's
# triggers and, in the same boot, by perf's aux-action. perf's own decoder reads perf's
# trace, libipt reads auxtrace's: both must show the same functions in the same order, and
# the same instructions.
#   aux-action.sh [SERIES [OPTION of scripts/vm]...]
set -euo pipefail

me=aux-action
# shellcheck source=tests/oracle/common
. "$(dirname "${BASH_SOURCE[0]}")/../oracle/common"
kernel=${1:-6.12}
[ $# -eq 0 ] || shift
case $kernel in
6.12 | 6.12-rt | 7.2 | 7.3) ;;
*) skip "the kernel $kernel has no aux-action; 6.12 and later ones have" ;;
esac

vm_prepare "$kernel"
# The kernel 6.12 has aux-action by backport; the perf of 6.12 does not know it.
perf=$("$here/perf" 7.2)
work_directory
# Virtual time makes a timer interrupt within so short a trace unlikely. No random stack
# offset: it would change which instructions memcpy() runs for unaligned ends.
"$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --icount 4 --timeout 1000 "$@" \
	--append randomize_kstack_offset=off \
	--module "$module" --work "$work/vm" --out "$work/out" \
	--file "$build/tools/auxtrace" --file "$perf:/perf" \
	--file "$top/tests/guest/aux-action.sh" -- aux-action.sh

# decode PAIR: the addresses of the executed instructions, one a line.
decode()
{
	"$build/tools/auxtrace" script --symfs "$work/vm/initramfs.root" --insn "$work/out/ours.$1" \
		> "$work/ours.flow"
	HOME=$work "$perf/perf" --buildid-dir "$work/out/.debug" script -i "$work/out/perf.data.$1" \
		--symfs "$work/vm/initramfs.root" --itrace=i0nse -F event,ip > "$work/perf.flow"
	sed -n 's/^\([0-9a-f]\{16\}\) .*/\1/p' "$work/ours.flow" > "$work/ours.insn"
	sed -n 's/^ *instructions:[^ ]* *\([0-9a-f]*\).*/\1/p' "$work/perf.flow" > "$work/perf.insn"
}

# Does either trace of the pair hold an interrupt? Those enter through asm_sysvec_*.
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

# part ours|perf call|edges: instructions of one trace, one a line, with the function if it
# is a function's first. "call" is from the system call's own function up to the first
# instruction of the code that turns tracing off; "edges" is the rest.
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

# functions [FILE...]: the names in order, without the return and indirect thunks.
functions()
{
	sed -n 's/^[0-9a-f]* \([^ ].*\)$/\1/p' "$@" | grep -vE 'return_thunk|indirect_thunk'
}

for recorder in ours perf; do
	part $recorder call
	part $recorder edges
done
functions "$work/ours.call" > "$work/ours.functions" || true
functions "$work/perf.call" > "$work/perf.functions" || true
echo "the functions: $(paste -sd ' ' "$work/ours.functions")"
for name in __do_sys_newuname _copy_to_user; do
	verdict "$name is among them" grep -qx "$name" "$work/ours.functions"
done
verdict "the same $(wc -l < "$work/perf.functions") functions as in perf's trace, in the same order" \
	diff "$work/ours.functions" "$work/perf.functions"
verdict "the same $(wc -l < "$work/perf.call") instructions" \
	cmp "$work/ours.call" "$work/perf.call"

# Each trace begins and ends in its recorder's tracepoint handler, so the edges differ. But
# no function of the kernel's own may be in auxtrace's edges that is not in perf's.
echo "at the edges, perf: $(wc -l < "$work/perf.edges") instructions," \
	"$(functions "$work/perf.edges" | sort -u | paste -sd ' ')"
echo "at the edges, ours: $(wc -l < "$work/ours.edges") instructions," \
	"$(functions "$work/ours.edges" | sort -u | paste -sd ' ')"
functions "$work/perf.edges" | sort -u > "$work/perf.others" || true
verdict "auxtrace's edges have only functions of its own and kernel functions of perf's edges" \
	not grep -vxFf "$work/perf.others" <(functions "$work/ours.edges" | grep -vF '[auxtrace]')
verdicts_end
