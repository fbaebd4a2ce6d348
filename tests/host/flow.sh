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
	usage: flow.sh full|overwrite|user [--kernel SERIES] [--rounds N] [--least N]
	  --rounds N   length of the workload (default 8; 40 for overwrite, so that the area
	               wraps more than once, and 18 for user, whose trace is sparse)
	  --least N    fails if fewer instructions were compared (default 1)
	EOF
	exit 2
}

[ $# -ge 1 ] || usage
mode=$1
shift
kernel=6.1 rounds=8 least=1
case $mode in
overwrite) rounds=40 ;;
user) rounds=18 ;;
esac
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=$2 ;;
	--rounds) rounds=$2 ;;
	--least) least=$2 ;;
	*) usage ;;
	esac
	shift 2 || usage
done

vm_prepare "$kernel"
work_directory

# 16 ns an instruction: a timer interrupt each 250,000 instructions.
"$top/scripts/vm" --kernel "$kernel" --smp 3 --icount 4 --timeout 1000 --work "$work/vm" \
	--exec-log >("$build/tests-host/execlog" "$work/ran") --out "$work/out" --module "$module" \
	--file "$build/tests-guest/flow" -- flow pt "$mode" /out/recording "$rounds"
wait $! # until execlog has read the log to its end

options=()
case $mode in
user) options+=(--user-only) ;;
overwrite) options+=(--newest) ;;
esac
sum=0
for cpu in 0 1; do
	"$build/tools/auxtrace" script "$work/out/recording" --symfs "$work/vm/initramfs.root" \
		--cpu "$cpu" --insn > "$work/cpu$cpu.insn"
	"$build/tests-host/flowcmp" --cpu "$cpu" "${options[@]}" "$work/cpu$cpu.insn" \
		"$work/ran" | tee "$work/result"
	sum=$((sum + $(cut -d' ' -f1 "$work/result")))
done
echo "$mode on $kernel: $sum instructions equal to the execution log"
if [ "$sum" -lt "$least" ]; then
	echo "$me: expected at least $least" >&2
	exit 1
fi
