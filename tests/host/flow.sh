#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Is what auxtrace records by Intel PT what the CPU executed? Records a mixed workload on
# two CPUs of the emulator, decodes the recording with `auxtrace script`, and compares it,
# instruction for instruction, with QEMU's own execution log of the same run.
set -euo pipefail

me=flow
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage()
{
	cat >&2 <<-EOF
	usage: flow.sh full|overwrite|user [--kernel SERIES | --distro SUITE] [--rounds N] [--least N]
	  --distro SUITE  in a full Debian: page tables are isolated, and the kernel's addresses random
	  --rounds N   length of the workload (default 6; 40 for overwrite, so that the area
	               wraps more than once, and 18 for user, whose trace is sparse)
	  --least N    fails if fewer instructions were compared (default 1)
	EOF
	exit 2
}

[ $# -ge 1 ] || usage
mode=$1
shift
kernel='' distro='' rounds=6 least=1 before=()
case $mode in
overwrite) rounds=40 ;;
user) rounds=18 ;;
esac
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=$2 ;;
	--distro) distro=$2 ;;
	--rounds) rounds=$2 ;;
	--least) least=$2 ;;
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
if [ -n "$distro" ]; then
	# Shortly after a boot udev still loads modules, and the reader would not keep up.
	machine=(--distro "$distro" --mem 2G --file "$top/tests/guest/settled.sh")
	before=(settled.sh)
fi

# 16 ns an instruction: a timer interrupt each 250,000 instructions.
"$top/scripts/vm" "${machine[@]}" --smp 3 --icount 4 --timeout 1000 --work "$work/vm" \
	--exec-log >("$build/tests-host/execlog" "$work/ran") --out "$work/out" --module "$module" \
	--file "$build/tests-guest/flow" -- "${before[@]}" flow pt "$mode" /out/recording "$rounds"
wait $! # until execlog has read the log to its end

symfs=$work/vm/initramfs.root
if [ -n "$distro" ]; then
	symfs=$(debian_files "$work")
fi
# A trace of user code only has no page tables, and its recording no addresses of the kernel.
if [ -n "$distro" ] && [ "$mode" != user ]; then
	tables=$("$build/tools/auxtrace" dump "$work/out/recording" | sed -n 's/^.*pip .*cr3=//p' | sort -u)
	verdict "page tables are isolated: ${tables//$'\n'/ }" isolated "$tables"
	verdict "the kernel is at random addresses: $(grep ' _stext$' "$work/out/recording/kallsyms")" \
		random_addresses "$work/out/recording"
fi

options=()
case $mode in
user) options+=(--user-only) ;;
overwrite) options+=(--newest) ;;
esac
sum=0
for cpu in 0 1; do
	"$build/tools/auxtrace" script "$work/out/recording" --symfs "$symfs" \
		--cpu "$cpu" --insn > "$work/cpu$cpu.insn"
	"$build/tests-host/flowcmp" --cpu "$cpu" "${options[@]}" "$work/cpu$cpu.insn" \
		"$work/ran" | tee "$work/result"
	sum=$((sum + $(cut -d' ' -f1 "$work/result")))
done
echo "$mode on ${distro:+Debian $distro, }$kernel: $sum instructions equal to the execution log"
if [ "$sum" -lt "$least" ]; then
	echo "$me: expected at least $least" >&2
	exit 1
fi
verdicts_end
