#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# guest.sh RECORDING...: runs in the guest. The kernel's own intel_pt driver and perf
# record the traced program into /out, in each of the named ways. Only that program
# is ours.
#
# NAME.lacks means that the CPU lacks the capability in the file, which the recording
# needs, and that perf record was refused.
set -eu

# The host reads the guest's vdso from perf's build-id cache in HOME.
export HOME=/out
cd /out

pt=/sys/bus/event_source/devices/intel_pt
if [ ! -d $pt ]; then
	echo "the guest's kernel has registered no intel_pt"
	exit 1
fi
if ! dmesg | grep 'Performance Events: .*Intel PMU driver'; then
	echo "the guest's kernel has no Intel PMU driver:"
	dmesg | grep 'Performance Events' || true
	exit 1
fi

cat $pt/tsc_art_ratio >tsc_art_ratio

pmis()
{
	awk '$1 == "PMI:" { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i; print n + 0 }' \
		/proc/interrupts
}

# Seconds since boot, for the log.
now()
{
	cut -d ' ' -f 1 /proc/uptime
}

# record NAME CAPABILITIES|- ARGUMENT...
record()
{
	name=$1 lacks=''
	for capability in ${2#-}; do
		[ "$(cat "$pt/caps/$capability" || echo 0)" != 0 ] || lacks=$capability
	done
	shift 2
	status=0
	perf record -o "$name.data" "$@" >"$name.log" 2>&1 || status=$?
	if [ -n "$lacks" ]; then
		if [ "$status" -eq 0 ]; then
			echo "$name: perf record succeeded, though the CPU has no $lacks"
			exit 1
		fi
		echo "$lacks" >"$name.lacks"
		rm -rf "$name.data"
	elif [ "$status" -ne 0 ]; then
		echo "perf record $* failed ($status):"
		cat "$name.log"
		exit 1
	fi
}

# within SECONDS COMMAND...: waits until the command succeeds; fails after SECONDS.
within()
{
	tenths=$(($1 * 10))
	shift
	until "$@"; do
		[ "$tenths" -gt 0 ] || return 1
		tenths=$((tenths - 1))
		sleep 0.1
	done
}

traced_runs()
{
	[ "$(pidof traced | wc -w)" -ge 2 ]
}

snapshots_taken()
{
	[ "$(grep -c 'Recording AUX area tracing snapshot' snapshot.log)" -ge "$1" ]
}

# Three snapshots of an endless workload. -v makes perf print each snapshot.
record_snapshot()
{
	perf record -v -S --kcore -m,8 -o snapshot.data -e intel_pt// \
		traced 1000000 >snapshot.log 2>&1 &
	recorder=$!
	status=0
	within 60 traced_runs || status=1
	for taken in 1 2 3; do
		sleep 0.5
		# perf ignores a signal that comes before it is ready.
		tries=10
		until kill -USR2 "$recorder" && within 10 snapshots_taken $taken; do
			tries=$((tries - 1))
			[ "$tries" -gt 0 ] || { status=1; break; }
		done
	done
	kill -INT "$recorder"
	# perf ends by a signal, its own or the workload's, once all is written.
	wait "$recorder" || true
	if [ "$status" -ne 0 ] || ! grep -q 'Captured and wrote' snapshot.log; then
		echo "perf record -S failed:"
		cat snapshot.log
		exit 1
	fi
	killall traced 2>/dev/null || true
}

one()
{
	case $1 in
	user) record user - -e intel_pt//u traced 24 ;;
	kernel) record kernel - --kcore -e intel_pt// traced 2 ;;
	system) record system - --kcore -a -m,8M -e intel_pt// traced 2 ;;
	pmi)
		# A buffer small enough to fill several times. perf must keep up on any host, so
		# it shares one CPU with the workload: a host that stops the CPU stops both.
		# On 5.10 the buffer is two regions. If perf has read all and tracing goes on in
		# a region's first page, pt_buffer_reset_markers() (arch/x86/events/intel/pt.c)
		# sets STOP at the end of that same region, though the other is free, and the
		# interrupt that would wake perf comes only there. So a sample of each context
		# switch wakes perf (--no-buffering), and by -r it runs before the workload goes
		# on. At least 124 KiB are free then; 37 were the most seen between two switches.
		taskset -p 1 $$ >/dev/null
		before=$(pmis)
		record pmi - -r 1 --no-buffering --kcore -m,64 \
			-e intel_pt// -e context-switches/period=1/ traced 52 1
		echo "$(($(pmis) - before))" >pmi.count
		taskset -p 3 $$ >/dev/null
		;;
	cyc) record cyc psb_cyc --kcore -e intel_pt/cyc,cyc_thresh=0/ traced 2 ;;
	cyc-thresh) record cyc-thresh psb_cyc -e intel_pt/cyc,cyc_thresh=7/u traced 8 ;;
	notnt) record notnt tnt_disable -e intel_pt/notnt/u traced 24 ;;
	noretcomp) record noretcomp - -e intel_pt/noretcomp/u traced 24 ;;
	notsc) record notsc - --kcore -e intel_pt/tsc=0,mtc=0/ traced 2 ;;
	# With many PSB, whose TSC the MTC are compared with.
	mtc-0) record mtc-0 'mtc psb_cyc' -e intel_pt/mtc,mtc_period=0,psb_period=0/u traced 24 ;;
	mtc-9) record mtc-9 'mtc psb_cyc' -e intel_pt/mtc,mtc_period=9,psb_period=0/u traced 24 ;;
	# A CPU without psb_cyc has PSBFreq 0.
	psb-0) record psb-0 - -e intel_pt/psb_period=0/u traced 24 ;;
	psb-5) record psb-5 psb_cyc -e intel_pt/psb_period=5/u traced 24 ;;
	filter)
		record filter ip_filtering -e intel_pt//u --filter \
			'filter indirect_jumps @ /bin/traced, filter forged_return @ /bin/traced' \
			traced 24
		;;
	filter-kernel)
		record filter-kernel ip_filtering --kcore -e intel_pt//k \
			--filter 'filter __do_sys_getppid' traced 24
		;;
	tracestop)
		record tracestop ip_filtering -e intel_pt//u \
			--filter 'tracestop deep @ /bin/traced' traced 24
		;;
	snapshot) record_snapshot ;;
	ptwrite) record ptwrite ptwrite -e intel_pt/ptw,fup_on_ptw/u ptw ;;
	samples)
		record samples - --kcore --aux-sample=2048 -m,32 \
			-e '{intel_pt//,syscalls:sys_enter_getppid}' traced 12
		;;
	paused)
		# The perf that knows aux-action may be newer than the kernel's own.
		(
			[ ! -d /perf-new ] || export PATH="/perf-new:$PATH"
			record paused - --kcore -e '{intel_pt/aux-action=start-paused/k,syscalls:sys_enter_getppid/aux-action=resume/,syscalls:sys_exit_getppid/aux-action=pause/}' traced 24
		)
		;;
	*)
		echo "guest.sh: no recording '$1'"
		exit 2
		;;
	esac
}

# Events kept open, so that the kernel's static branches have their final state before
# perf copies the kernel's code.
perf stat -o /dev/null -e instructions -e syscalls:sys_enter_getppid \
	-e syscalls:sys_exit_getppid sh -c ': >/tmp/counted; exec sleep 1000' &
keeper=$!
within 60 [ -e /tmp/counted ]

for recording in "$@"; do
	start=$(now)
	one "$recording"
	echo "$recording $start $(now)" >>times.log
done
kill "$keeper"
if dmesg | grep -iE '(clocksource|tsc|sched_clock).*unstable'; then
	echo "the guest's kernel marked the TSC, the clock of the trace, unstable: the recordings are invalid"
	exit 1
fi
