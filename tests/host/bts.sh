#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Are the branches that auxtrace records by BTS those that the CPU took? Records a mixed
# workload on two CPUs of the emulator, and compares the records, as the hardware left
# them, with the branches, interrupts and exceptions in QEMU's own execution log of the
# same run.
#
# Of a task's scope: are they those of the members, and of nobody else? A process with threads and
# descendants runs on four CPUs, on which others run as well.
set -euo pipefail

me=bts
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage()
{
	cat >&2 <<-EOF
	usage: bts.sh full|overwrite|user|kernel|scope-user|scope-kernel [--kernel SERIES]
	              [--rounds N] [--aux BYTES] [--pti] [--least N] [--work DIR]
	  --rounds N   length of the workload (default 12; of a scope: 3)
	  --aux BYTES  area of each CPU (default: so small that the trace wraps several times,
	               but large enough for all of full, kernel and a scope)
	  --pti        with page-table isolation
	  --least N    fails if fewer records were compared (default 1)
	  --work DIR   for the recording and the log, which are kept
	EOF
	exit 2
}

[ $# -ge 1 ] || usage
mode=$1
shift
keep='' kernel=6.1 rounds=12 aux='' pti='' least=1 cpus=2
case $mode in
full | overwrite | user | kernel) ;;
scope-user | scope-kernel) rounds=3 cpus=4 ;;
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
	--work) keep=$2 ;;
	*) usage ;;
	esac
	shift 2 || usage
done

vm_prepare "$kernel"
work_directory

status=0
# 16 ns an instruction: a timer interrupt every 250,000 instructions. loglevel: a line on
# the serial console is 40,000 branches, and the kernel reports each NMI that takes long,
# as one does that waits for another virtual CPU.
"$top/scripts/vm" --kernel "$kernel" --smp $((cpus + 1)) --mem 2G --icount 4 --timeout 1000 --work "$work/vm" \
	--exec-log >("$build/tests-host/execlog" "$work/ran") --out "$work/out" --module "$module" \
	--append "loglevel=5 $pti" --file "$build/tests-guest/flow" --file "$build/tests-guest/scoped" \
	-- flow bts "$mode" /out/recording "$rounds" ${aux:+"$aux"} > "$work/said" || status=$?
wait $! # until execlog has read the log to its end
cat "$work/said"
[ "$status" -eq 0 ] || exit "$status"

options=() threads=()
case $mode in
user) options+=(--user) ;;
kernel) options+=(--kernel) ;;
overwrite) options+=(--newest) ;;
scope-*)
	scope_judge "$work/out/recording"
	options+=("${judge[@]}")
	;;
esac
# With PTI the kernel's branches go through a buffer of 64 KiB, and one more is a gap.
[ -z "$pti" ] || [[ $mode = *user ]] || options+=(--buffer $((65536 / 24)))
sum=0 full=0
for ((cpu = 0; cpu < cpus; cpu++)); do
	if [ "$mode" = scope-kernel ]; then
		scope_threads "$work/out/recording" "$cpu" > "$work/cpu$cpu.threads"
		threads=(--threads "$work/cpu$cpu.threads")
	fi
	records=$work/out/recording/cpu$cpu.area
	[ -e "$records" ] || records=${records%.area}.aux
	"$build/tests-host/btscmp" --cpu "$cpu" "${options[@]}" "${threads[@]}" "$records" "$work/ran" |
		tee "$work/result"
	sum=$((sum + $(sed -n '1s/ .*//p' "$work/result")))
	full=$((full + $(sed -n '1s/.* \([0-9]*\) filled .*/\1/p' "$work/result")))
done
gaps=$(sed -n 's/.* \([0-9]*\) gaps.*/\1/p' "$work/said")
# In overwrite mode the area holds only the newest records: some gaps are no longer in it.
if [ "$full" -gt "$gaps" ] || { [ "$full" -lt "$gaps" ] && [ "$mode" != overwrite ]; }; then
	echo "$me: the buffer was full $full times, the session counted $gaps gaps" >&2
	exit 1
fi
echo "$mode on $kernel${pti:+ with $pti}: $sum records equal to the execution log"
if [ "$sum" -lt "$least" ]; then
	echo "$me: expected at least $least" >&2
	exit 1
fi
