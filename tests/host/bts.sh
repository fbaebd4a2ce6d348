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
	  --rounds N   length of the workload (default 12)
	  --aux BYTES  area of each CPU (default: goes around several times, but holds all of
	               full and kernel)
	  --pti        with isolated page tables
	  --least N    fewer compared records are a failure (default 1)
	EOF
	exit 2
}

[ $# -ge 1 ] || usage
mode=$1
shift
kernel=6.1 rounds=12 aux='' pti='' least=1
case $mode in
full | overwrite | user | kernel) ;;
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

status=0
# 16 ns an instruction: a timer interrupt each 250,000 instructions. A line on the serial
# console is 40,000 branches, and the kernel tells of each NMI that takes its time, as
# those do that wait for another virtual CPU.
"$top/scripts/vm" --kernel "$kernel" --smp 3 --mem 2G --icount 4 --timeout 1000 --work "$work/vm" \
	--exec-log >("$build/tests-host/execlog" "$work/ran") --out "$work/out" --module "$module" \
	--append "loglevel=5 $pti" --file "$build/tests-guest/flow" \
	-- flow bts "$mode" /out/recording "$rounds" ${aux:+"$aux"} > "$work/said" || status=$?
wait $! # for execlog, to read the log to its end
cat "$work/said"
[ "$status" -eq 0 ] || exit "$status"

options=()
case $mode in
user) options+=(--user) ;;
kernel) options+=(--kernel) ;;
overwrite) options+=(--newest) ;;
esac
# What the kernel does goes through 64 KiB then, and more of it than that is a gap.
[ -z "$pti" ] || [ "$mode" = user ] || options+=(--room $((65536 / 24)))
sum=0 full=0
for cpu in 0 1; do
	records=$work/out/recording/cpu$cpu.area
	[ -e "$records" ] || records=${records%.area}.aux
	"$build/tests-host/btscmp" --cpu "$cpu" "${options[@]}" "$records" "$work/ran" |
		tee "$work/result"
	sum=$((sum + $(cut -d' ' -f1 "$work/result")))
	full=$((full + $(sed 's/.* \([0-9]*\) filled .*/\1/' "$work/result")))
done
gaps=$(sed -n 's/.* \([0-9]*\) gaps.*/\1/p' "$work/said")
# Of overwrite mode only the newest are there to be seen.
if [ "$full" -gt "$gaps" ] || { [ "$full" -lt "$gaps" ] && [ "$mode" != overwrite ]; }; then
	echo "bts.sh: the buffer was full $full times, the session counted $gaps gaps" >&2
	exit 1
fi
echo "$mode on $kernel${pti:+ with $pti}: $sum records equal to the execution log"
if [ "$sum" -lt "$least" ]; then
	echo "bts.sh: at least $least were expected" >&2
	exit 1
fi
