#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Are the branches that we record by BTS those that the CPU took? Records a mixed
# workload on two CPUs of the bench, and compares the records as the hardware left
# them with the branches, interrupts and exceptions of QEMU's own execution log of
# the same run.
set -euo pipefail

usage()
{
	cat >&2 <<-EOF
	usage: bts.sh full|overwrite|user|kernel [--kernel SERIES] [--rounds N] [--aux BYTES]
	              [--pti] [--least N]
	  --rounds N   length of the workload (default 60; 12 for overwrite and user, whose areas
	               are smaller)
	  --aux BYTES  area of each CPU (default: such that it goes around several times)
	  --pti        with isolated page tables
	  --least N    fewer compared records are a failure (default 1)
	EOF
	exit 2
}

[ $# -ge 1 ] || usage
mode=$1
shift
kernel=6.1 rounds=60 aux='' pti='' least=1
case $mode in
full | kernel) ;;
overwrite | user) rounds=12 ;;
*) usage ;;
esac
while [ $# -gt 0 ]; do
	case $1 in
	--pti)
		pti=pti=on
		shift
		continue
		;;
	--kernel) kernel=$2 ;;
	--rounds) rounds=$2 ;;
	--aux) aux=$2 ;;
	--least) least=$2 ;;
	*) usage ;;
	esac
	shift 2 || usage
done

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
build=$top/build
make -s -C "$top" all >&2
module=$("$top/scripts/build-module" "$kernel")
work=$(mktemp -d "${TMPDIR:-/tmp}/auxtrace-bts.XXXXXX")
trap 'rm -rf "$work"' EXIT

# 16 ns an instruction: a timer interrupt each 250,000 instructions. A line on the serial
# console is 40,000 branches, and the kernel tells of each NMI that takes its time, as
# those do that wait for another virtual CPU.
"$top/scripts/vm" --kernel "$kernel" --smp 3 --icount 4 --timeout 540 --work "$work/vm" \
	--exec-log >("$build/tests-vm/execlog" "$work/ran") --out "$work/out" --module "$module" \
	--append "loglevel=5 $pti" --file "$build/tests-vm/flow" \
	-- flow bts "$mode" /out/recording "$rounds" ${aux:+"$aux"}
wait $! # for execlog, to read the log to its end

options=()
case $mode in
user) options+=(--user) ;;
kernel) options+=(--kernel) ;;
overwrite) options+=(--newest) ;;
esac
sum=0
for cpu in 0 1; do
	"$build/tests-vm/btscmp" --cpu "$cpu" "${options[@]}" "$work/out/recording/cpu$cpu.aux" \
		"$work/ran" | tee "$work/result"
	sum=$((sum + $(cut -d' ' -f1 "$work/result")))
done
echo "$mode on $kernel${pti:+ with $pti}: $sum records equal to the execution log"
if [ "$sum" -lt "$least" ]; then
	echo "bts.sh: at least $least were expected" >&2
	exit 1
fi
