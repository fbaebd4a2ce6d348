#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does perf open what auxtrace export writes, and does it find what auxtrace script finds? perf's decoder
# knows nothing of auxtrace: it is a second judge of all that is recorded. A guest makes the recordings
# (tests/guest/export.sh), and Debian's perf decodes them on the host: the same instructions on each CPU, in
# the same order (BTS: the same branches), and each function in the thread that ran it.
# power: of power events, that the CPU slept and woke as often, in the same states, at the same times; and that
# a recording without TNT packets has none, and that perf finds in it what its packets name.
# event: of event trace, the same interrupts, exceptions, returns and changes of the interrupt flag; and the same
# operands of PTWRITE.
#   export.sh pt|bts|power|event [--kernel SERIES] [--perf SERIES] [--work DIR]
#   --perf SERIES  perf of that kernel (default: 6.1). Those of 5.10 and 7.2 do not find the vdso by the build-id
#                  in its MMAP2 record: what runs there is an error to them
set -euo pipefail

me='export'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case ${1-} in pt | bts | power | event) source=$1 ;; *) bad_usage ;; esac
shift
kernel=6.1 perf=6.1 keep=''
options "kernel perf work" "$@"
[ ${#operands[@]} -eq 0 ] || bad_usage
work_directory
vm_prepare "$kernel"
perf=$("$top/tests/oracle/perf" "$perf")/perf
auxtrace=$build/tools/auxtrace
mapfile -t files < <(guest_script export.sh)
# Of the profiles this one has power events, event trace and PTWRITE.
case $source in power | event) files+=(--emulator-arg --profile --emulator-arg gracemont) ;; esac

# With --work: what an earlier run has left would be part of the recordings.
rm -rf "$work/out"
"$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --timeout 560 --work "$work/vm" --out "$work/out" \
	"${files[@]}" --file "$build/tests-guest/turns" --file "$build/tests-guest/ptwrite" --file "$build/tests-guest/bpf" -- \
	sh /bin/export.sh "$source"
symfs=$work/vm/initramfs.root

# perf_script RECORDING OPTION...: stderr goes to $work/perf.err. With --symfs perf looks for files by
# build-id there, too.
perf_script()
{
	local out=$work/$1.perf

	shift
	rm -rf "$symfs/.debug"
	[ ! -e "$out/debug" ] || cp -r "$out/debug" "$symfs/.debug"
	"$perf" script -f -i "$out" --symfs "$symfs" "$@" 2> "$work/perf.err"
}

cpus()
{
	sed -n 's/^cpu \([0-9]*\) .*/\1/p' "$work/out/$1/meta"
}

export_it()
{
	rm -rf "$work/$1.perf"
	mkdir -p "$(dirname "$work/$1.perf")"
	"$auxtrace" export --format perf -o "$work/$1.perf" "$work/out/$1"
}

# ---- Intel PT -------------------------------------------------------------------

# perf says nothing of errors but that trace was lost.
has_no_errors()
{
	perf_script "$1" --itrace=e > "$work/errors"
	! grep -m 5 -v 'code 8: Lost trace data' "$work/errors"
}

# same_flow RECORDING CPU: each instruction, and the thread that it is of
same_flow()
{
	"$auxtrace" script --insn --cpu "$2" --symfs "$symfs" "$work/out/$1" 2> "$work/ours.err" |
		awk '/^# thread/ { tid = $4; next } !/^#/ { sub(/^0*/, "", $1); print tid, $1 }' > "$work/ours"
	awk -v cpu="$2" '$2 + 0 == cpu { print $1, $3 }' "$work/insns" > "$work/theirs"
	echo "$1, CPU $2: $(wc -l < "$work/ours") instructions, of perf $(wc -l < "$work/theirs")"
	cmp "$work/ours" "$work/theirs"
}

flow_is_same()
{
	local cpu

	perf_script "$1" --itrace=i0ns -F tid,cpu,ip | tr -d '[]' > "$work/insns"
	for cpu in $(cpus "$1"); do
		same_flow "$1" "$cpu" || return 1
	done
	[ "$(wc -l < "$work/insns")" -ge "$2" ]
}

# functions RECORDING: lines "TID FUNCTION" of those that turns ran, by the thread that perf gives them
functions()
{
	perf_script "$1" --itrace=b -F comm,tid,ip,sym |
		sed -n 's/^ *[^ ]* *\([0-9]*\) .* \(work_of_[a-z_]*\).*/\1 \2/p' > "$work/ran"
	sort -u "$work/ran"
}

functions_have_their_threads()
{
	functions "$1" > "$work/found"
	sort "$work/out/$1.turns" | diff - "$work/found"
}

# 40 turns each, of two threads and two processes
turns_are_told()
{
	local turns

	turns=$(uniq "$work/ran" | wc -l)
	echo "$turns turns"
	[ "$turns" -eq 160 ]
}

threads_are_known()
{
	! perf_script "$1" --itrace=b -F tid | grep -m 1 -e '-1'
}

# programs_have_run: both of tests/guest/bpf.c, each 20 times. The recording's kernel no longer has them at the end: perf
# has their bytes by records of the export
programs_have_run()
{
	local name calls

	"$auxtrace" script --symfs "$symfs" "$work/out/bpf" > "$work/calls" 2> "$work/ours.err"
	for name in first second; do
		! grep "bpf_prog_[0-9a-f]*_$name" "$work/out/bpf/kallsyms" || return
		calls=$(grep -c " k  *bpf_prog_[0-9a-f]*_$name\$" "$work/calls" || true)
		echo "$name: $calls calls"
		[ "$calls" -eq 20 ] || return
	done
}

judge_pt()
{
	verdict "$1: export" export_it "$1"
	verdict "$1: perf decodes it" has_no_errors "$1"
	verdict "$1: and finds what auxtrace script finds" flow_is_same "$1" "$2"
}

pt()
{
	local recording

	for recording in all task kernel user flight flight/snapshot.0001 newest; do
		judge_pt "$recording" 100000
	done
	judge_pt bpf 1000
	verdict "bpf: BPF programs that came and went are in it" programs_have_run
	judge_pt windows 1000
	judge_pt gaps 10000
	for recording in all task user; do
		verdict "$recording: each function ran in its thread" functions_have_their_threads "$recording"
		verdict "$recording: in each turn" turns_are_told
		verdict "$recording: all trace has a thread" threads_are_known "$recording"
	done
	verdict "gaps: perf tells of lost trace" grep -q 'AUX data lost' <(perf_script gaps --itrace=e; cat "$work/perf.err")
	verdict "perf report" report task '\[k\] '
	verdict "perf report, by command" report task ' turns '
	verdict "perf inject makes branch stacks" inject kernel
	verdict "perf script --insn-trace, with times" insn_trace windows
	verdict "perf script --time" times all
}

report()
{
	"$perf" report -f -i "$work/$1.perf" --symfs "$symfs" --itrace=i1000i --stdio 2> "$work/perf.err" > "$work/report"
	grep -m 1 "$2" "$work/report"
}

# It has no --symfs, so it reads the kernel's code only.
inject()
{
	"$perf" inject -f -i "$work/$1.perf" --itrace=i100usl16 --strip -o "$work/injected"
	"$perf" script -f -i "$work/injected" -F comm,ip,brstack > "$work/stacks"
	grep -m 1 '0xffffffff[0-9a-f]*/0xffffffff' "$work/stacks" > /dev/null
}

# Its raw bytes are a disassembler's business.
insn_trace()
{
	perf_script "$1" --insn-trace --ns > "$work/trace"
	grep -m 1 -E '[0-9]+\.[0-9]{9}: +ffffffff[0-9a-f]+ .*newuname.* insn: ' "$work/trace"
}

# The second half has less than the whole.
times()
{
	local half all

	half=$(perf_script "$1" --itrace=b -F ip --time 50%-100% | wc -l)
	all=$(perf_script "$1" --itrace=b -F ip | wc -l)
	echo "$half of $all branches"
	[ "$half" -gt 0 ] && [ "$half" -lt "$all" ]
}

# ---- power events -----------------------------------------------------------------

# From lines "CPU TIME: EVENT...", in which perf also has frequencies and PSBs.
power_events()
{
	sed -E -n 's/^ *\[?0*([0-9]+)\]? +([0-9]+\.[0-9]+):? +(mwait|pwre|exstop|pwrx): */\1 \2 \3: /p' |
		sed -E 's/ +/ /g; s/ $//; s/IP: /ip: /' | sort -s -n -k 1,1
}

same_events()
{
	cut -d ' ' -f 1,3- "$work/theirs" > "$work/theirs.events"
	cut -d ' ' -f 1,3- "$work/ours" | diff - "$work/theirs.events"
}

# What a PWRX has is exact, to both. The clock's conversion may round to another nanosecond.
same_times()
{
	paste -d ' ' <(grep pwrx "$work/ours" | cut -d ' ' -f 2) <(grep pwrx "$work/theirs" | cut -d ' ' -f 2) |
		awk '{ d = $1 - $2; if (d > 2e-9 || d < -2e-9) { print "different:", $0; bad = 1 } } END { exit bad }'
}

# asleep CPU: it was, by far most of the time, and each time from PWRE to PWRX
asleep()
{
	awk -v cpu="$1" '
		$1 == cpu && $3 == "pwre:" { begin = $2 }
		$1 == cpu && $3 == "pwrx:" { n++; sum += $2 - begin }
		END { printf "CPU %d slept %d times, %d ms\n", cpu, n, sum * 1000; exit sum < 0.4 || sum > 10 }' "$work/ours"
}

# Behind each EXSTOP that instruction, of one byte: HLT. No other line is between them but PWRX's.
exstops_are_of_hlt()
{
	"$auxtrace" script --insn --symfs "$symfs" "$work/out/power" 2> "$work/ours.err" | awk '
		/^# exstop/ { ip = $3; n++; next }
		/^# pwrx/ || !ip { next }
		{ bad += $1 != ip || $2 != 1; ip = "" }
		END { print n " times, " bad + 0 " of them not"; exit bad || !n || ip }'
}

# perf does not walk the code then: it finds the one instruction that each of these packets names.
without_tnt()
{
	local named found

	"$auxtrace" dump "$work/out/notnt" > "$work/packets"
	named=$(grep -cE ' (tip|tip.pge|fup) ' "$work/packets")
	found=$(perf_script notnt --itrace=i0ns -F ip | wc -l)
	echo "$(grep -c ' tnt' "$work/packets" || true) TNT packets, $named that name an instruction, of perf $found"
	# The functions of tests/guest/turns.c return 160 times.
	! grep -q ' tnt' "$work/packets" && [ "$named" -ge 160 ] && [ "$named" -eq "$found" ]
}

# It says so.
is_not_decoded()
{
	! "$auxtrace" script "$work/out/notnt" > "$work/flow" 2> "$work/ours.err" && [ ! -s "$work/flow" ] &&
		grep 'recorded without TNT packets' "$work/ours.err"
}

power()
{
	local cpu

	verdict "notnt: export" export_it notnt
	verdict "notnt: perf decodes it" has_no_errors notnt
	verdict "notnt: and finds what its packets name" without_tnt
	verdict "notnt: auxtrace script does not" is_not_decoded

	verdict "power: export" export_it power
	verdict "power: perf decodes it" has_no_errors power
	perf_script power --itrace=p --ns -F cpu,time,event,synth | power_events > "$work/theirs"
	"$auxtrace" script --symfs "$symfs" "$work/out/power" 2> "$work/ours.err" | power_events > "$work/ours"
	verdict "power: and finds the $(grep -c pwrx "$work/ours") sleeps that auxtrace script finds" same_events
	verdict "power: which end at the same times" same_times
	for cpu in $(cpus power); do
		verdict "power: CPU $cpu was asleep most of the time" asleep "$cpu"
	done
	verdict "power: it slept at a HLT" exstops_are_of_hlt
	verdict "power: dump has why it woke" grep -q 'pwrx *last=0 deepest=0 interrupt$' <("$auxtrace" dump "$work/out/power")
}

# ---- event trace --------------------------------------------------------------------

# "CPU TYPE VECTOR DATA IP", "CPU iflag IP", in each CPU's order; -: there is none. Of a flag that a branch changed
# perf has the branch's address, and auxtrace none.
events_of_perf()
{
	perf_script "$1" --itrace=I -F cpu,event,ip,synth | awk '
		{ cpu = $1; gsub(/[][]/, "", cpu); cpu += 0 }
		$2 == "evt:" { print cpu, $4, $8, ($9 == "PFA:" ? $10 : "-"), ($6 ? $NF : "-"); next }
		$2 != "intel_pt//:" && $2 != "iflag:" { next }
		# Where a trace begins with the flag set, perf takes that for a change.
		flags[cpu]++ || $NF != "0" { print cpu, "iflag", $NF }' | sort -s -n -k 1,1
}

events_of_auxtrace()
{
	local cpu

	for cpu in $(cpus "$1"); do
		"$auxtrace" script --insn --cpu "$cpu" --symfs "$symfs" "$work/out/$1" 2> "$work/ours.err" | awk -v cpu="$cpu" '
		function address(ip) { sub(/^0+/, "", ip); return ip == "" ? "0" : ip }
		/^# cfe/ { print cpu, ($3 == 1 ? "INTR" : $3 == 2 ? "IRET" : $3), $4, (NF > 5 ? "0x" $7 : "-"), address($5) }
		/^# iflag/ { print cpu, "iflag", address($4) }'
	done
}

# same_traced RECORDING LEAST: of interrupts and returns, and of changes of the flag
same_traced()
{
	events_of_perf "$1" > "$work/theirs"
	events_of_auxtrace "$1" > "$work/ours"
	echo "$1: $(grep -vc iflag "$work/ours") events, $(grep -c iflag "$work/ours") changes of the interrupt flag"
	[ "$(wc -l < "$work/ours")" -ge "$2" ] &&
		paste -d '|' "$work/ours" "$work/theirs" | awk -F '|' '
			{ ours = $1; theirs = $2 }
			ours ~ / iflag -$/ { sub(/ [^ ]*$/, " -", theirs) }
			ours != theirs && n++ < 5 { print "different, line " NR ":", ours, "|", theirs }
			END { exit n > 0 }'
}

# A task that turns starts has page faults of user code, at addresses that the dump has, too.
has_faults()
{
	"$auxtrace" dump "$work/out/$1" > "$work/packets"
	grep -q ' cfe *intr vector=14' "$work/packets" && grep -q ' evd *cr2=[0-9a-f]' "$work/packets"
}

# same_operands RECORDING: of the 100 PTWRITE instructions that tests/guest/ptwrite.c runs
same_operands()
{
	perf_script "$1" --itrace=w -F event,synth | sed -n 's/^.*ptwrite: *IP: /IP: /p' | awk '{ print $2, $4 }' > "$work/theirs"
	"$auxtrace" script --symfs "$symfs" "$work/out/$1" 2> "$work/ours.err" |
		sed -n 's/^.*ptwrite: IP: /IP: /p' | awk '{ print $2, $4 }' > "$work/ours"
	[ "$(wc -l < "$work/ours")" -eq 100 ] && [ "$(tail -n 1 "$work/ours")" = "${2} 0x64" ] && diff "$work/ours" "$work/theirs"
}

event()
{
	local recording

	for recording in event event-user event-kernel; do
		verdict "$recording: export" export_it "$recording"
		verdict "$recording: perf decodes it" has_no_errors "$recording"
		verdict "$recording: perf finds the events that auxtrace script finds" same_traced "$recording" 100
		verdict "$recording: dump has page faults" has_faults "$recording"
	done
	for recording in ptwrite ptwrite-alone; do
		verdict "$recording: export" export_it "$recording"
	done
	verdict "ptwrite: perf finds the operands that auxtrace script finds" same_operands ptwrite 1
	verdict "ptwrite-alone: also without addresses" same_operands ptwrite-alone 0
	verdict "event: perf finds the flow that auxtrace script finds" flow_is_same event 100000
	verdict "event-kernel: also with power events" flow_is_same event-kernel 100000
}

# ---- BTS -------------------------------------------------------------------------

# perf does not say which CPU a branch was taken on: all of a recording are compared as a set.
branches_are_same()
{
	"$auxtrace" dump "$work/out/$1" | sed -n 's/^.* from=0*\([0-9a-f]\+\) to=0*\([0-9a-f]\+\) .*/\1 \2/p' |
		sort > "$work/ours"
	perf_script "$1" --itrace=b -F ip,addr | sed -n 's/^ *\([0-9a-f]*\) => *\([0-9a-f]*\).*/\1 \2/p' |
		sort > "$work/theirs"
	echo "$1: $(wc -l < "$work/ours") branches, of perf $(wc -l < "$work/theirs")"
	cmp "$work/ours" "$work/theirs" && [ "$(wc -l < "$work/ours")" -ge "$2" ]
}

# BTS has no time: perf can tell whose a branch is only where a window is of one thread alone.
threads_are_right()
{
	perf_script "$1" --itrace=b -F comm,tid,ip,sym | sed -n 's/^ *turns *\([0-9]*\) .* \(work_of_[a-z_]*\).*/\1 \2/p' |
		sort -u > "$work/found"
	cat "$work/found"
	[ -z "$(sort "$work/out/$1.turns" | comm -13 - "$work/found")" ]
}

bts()
{
	local recording

	for recording in alone task user flight flight/snapshot.0001 newest windows gaps; do
		verdict "$recording: export" export_it "$recording"
		verdict "$recording: perf finds the branches that were recorded" branches_are_same "$recording" 100
	done
	verdict "alone: and whose they are" threads_are_right alone
	verdict "which are some" test -s "$work/found"
	verdict "task: of none of them a wrong thread" threads_are_right task
}

"$source"
verdicts_end
