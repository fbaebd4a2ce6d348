#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Is what auxtrace records by Intel PT what the CPU executed? Records a mixed workload on
# two CPUs of the emulator, decodes the recording with `auxtrace script`, and compares it,
# instruction for instruction, with QEMU's own execution log of the same run.
#
# event: with event trace, whose packets are in the midst of the flow's.
#
# With filters: is it all that the CPUs executed in the ranges, and nothing else?
#
# Of a task's scope: is it what the members executed, and nothing of anybody else? A process with
# threads and descendants runs on four CPUs, on which others run as well.
set -euo pipefail

me=flow
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage()
{
	cat >&2 <<-EOF
	usage: flow.sh full|overwrite|user|event|filter|scope-user|scope-kernel [--kernel SERIES | --distro SUITE]
	               [--rounds N] [--least N] [--work DIR] [--profile NAME]
	  --distro SUITE  in a full Debian: page tables are isolated, and the kernel's addresses random
	  --rounds N   length of the workload (default 6; 40 for overwrite, so that the area
	               wraps more than once, and 18 for user, whose trace is sparse; with filters: 60; of a scope: 4)
	  --least N    fails if fewer instructions were compared (default 1)
	  --work DIR   for the recording and the log, which are kept
	  --profile NAME  the emulator's CPU: broadwell has ToPA tables of one entry
	EOF
	exit 2
}

[ $# -ge 1 ] || usage
mode=$1
shift
keep='' kernel='' distro='' rounds=6 least=1 before=() cpus=2 emulator=()
case $mode in
overwrite) rounds=40 ;;
user) rounds=18 ;;
filter) rounds=60 ;;
scope-*) rounds=4 cpus=4 ;;
esac
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=$2 ;;
	--distro) distro=$2 ;;
	--rounds) rounds=$2 ;;
	--least) least=$2 ;;
	--work) keep=$2 ;;
	--profile) emulator=(--emulator-arg --profile --emulator-arg "$2") ;;
	*) usage ;;
	esac
	shift 2 || usage
done
# A Debian comes with its kernel.
[ -z "$kernel" ] || [ -z "$distro" ] || usage

# isolated TABLES: one is the page after another, which user code has
isolated()
{
	local table

	for table in $1; do
		! grep -qx "$(printf '%x' $((0x$table + 0x1000)))" <<< "$1" || return 0
	done
	return 1
}

[ -z "$distro" ] || debian "$distro"
kernel=${series:-${kernel:-6.1}}
vm_prepare "$kernel"
work_directory
machine=(--kernel "$kernel")
[ "$mode" != event ] || machine+=(--emulator-arg --profile --emulator-arg gracemont)
if [ -n "$distro" ]; then
	# Shortly after a boot udev still loads modules, and the reader would not keep up.
	machine=(--distro "$distro" --mem 2G --file "$top/tests/guest/settled.sh")
	before=(settled.sh)
fi

# 16 ns an instruction: a timer interrupt each 250,000 instructions.
"$top/scripts/vm" "${machine[@]}" "${emulator[@]}" --smp $((cpus + 1)) --icount 4 --timeout 1000 --work "$work/vm" \
	--exec-log >("$build/tests-host/execlog" "$work/ran") --out "$work/out" --module "$module" \
	--file "$build/tests-guest/flow" --file "$build/tests-guest/scoped" \
	-- "${before[@]}" flow pt "$mode" /out/recording "$rounds"
wait $! # until execlog has read the log to its end

# has_events RECORDING: interrupts, page faults and changes of the interrupt flag
has_events()
{
	"$build/tools/auxtrace" dump "$1" > "$work/packets"
	grep -q ' cfe *intr vector=236' "$work/packets" && grep -q ' evd *cr2=' "$work/packets" &&
		grep -q ' mode *exec csl=1 csd=0 if$' "$work/packets"
}
[ "$mode" != event ] || verdict "the trace has events" has_events "$work/out/recording"

symfs=$work/vm/initramfs.root
if [ -n "$distro" ]; then
	symfs=$(debian_files "$work")
fi
# A trace of user code only has no page tables, and its recording no addresses of the kernel.
if [ -n "$distro" ] && [[ $mode != *user ]]; then
	tables=$("$build/tools/auxtrace" dump "$work/out/recording" | sed -n 's/^.*pip .*cr3=//p' | sort -u)
	verdict "page tables are isolated: ${tables//$'\n'/ }" isolated "$tables"
	verdict "the kernel is at random addresses: $(grep ' _stext$' "$work/out/recording/kallsyms")" \
		random_addresses "$work/out/recording"
fi

options=() threads=()
case $mode in
user) options+=(--user-only) ;;
overwrite) options+=(--newest) ;;
filter)
	while read -r first last; do
		options+=(--range "${first#0x}-${last#0x}")
	done < <(sed -n 's/^filter trace //p' "$work/out/recording/meta")
	verdict "the recording names its filters: ${options[*]}" [ "${#options[@]}" -eq 4 ]
	;;
scope-*)
	scope_judge "$work/out/recording"
	scope_code "$work/out/recording"
	options+=("${judge[@]}")
	;;
esac
sum=0
for ((cpu = 0; cpu < cpus; cpu++)); do
	if [ "$mode" = scope-kernel ]; then
		scope_threads "$work/out/recording" "$cpu" > "$work/cpu$cpu.threads"
		threads=(--threads "$work/cpu$cpu.threads")
	fi
	"$build/tools/auxtrace" script "$work/out/recording" --symfs "$symfs" \
		--cpu "$cpu" --insn > "$work/cpu$cpu.insn"
	"$build/tests-host/flowcmp" --cpu "$cpu" "${options[@]}" "${threads[@]}" "$work/cpu$cpu.insn" \
		"$work/ran" | tee "$work/result"
	sum=$((sum + $(sed -n '1s/ .*//p' "$work/result")))
done
echo "$mode on ${distro:+Debian $distro, }$kernel: $sum instructions equal to the execution log"
if [ "$sum" -lt "$least" ]; then
	echo "$me: expected at least $least" >&2
	exit 1
fi
verdicts_end
