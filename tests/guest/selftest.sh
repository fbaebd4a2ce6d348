#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: auxtrace selftest, by each source, and where it has to fail.
#   selftest.sh CHECKS LACKS BTS THOROUGH
# CHECKS is how many checks there are. LACKS are those that this CPU cannot pass with Intel PT, BTS those that it cannot with BTS,
# and THOROUGH those that a quick run leaves out.
# check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

cd /out || exit 1
checks=$1 lacks=$2 bts_lacks=$3 thorough=$4
without_perf=$PATH
PATH=$PATH:/perf

# sum_is FILE FAILED NAME...: the run in FILE skipped these checks and no others, and all others passed but so many.
sum_is()
{
	file=$1 fails=$2
	shift 2
	for name in "$@"; do echo "$name"; done | sort > /tmp/wanted
	sed -n 's/^skip *\([a-z0-9-]*\) .*/\1/p' "$file" | sort | diff /tmp/wanted - || return 1
	grep -x "$((checks - fails - $#)) passed, $fails failed, $# skipped" "$file"
}

# Checks that a quick run does not make, or the CPU cannot pass
# shellcheck disable=SC2086
skipped_if_quick()
{
	printf '%s\n' $lacks $thorough | sort -u
}

# status N COMMAND...: its exit status is N.
status()
{
	want=$1
	shift
	"$@"
	[ $? -eq "$want" ]
}

# untested PATTERN ARGUMENT...: selftest ends with 1. Of its checks environment fails, and each other one is skipped for a reason
# that matches, which the last line has as well.
untested()
{
	pattern=$1
	shift
	auxtrace selftest "$@" > /tmp/said 2>&1
	got=$?
	cat /tmp/said
	others=$((checks - 1))
	[ "$got" -eq 1 ] && grep -q '^FAILED  environment ' /tmp/said && grep -qx "0 passed, 1 failed, $others skipped" /tmp/said || return 1
	[ "$(grep -A 1 '^skip ' /tmp/said | grep -cE "^ +$pattern")" -eq "$others" ] || return 1
	tail -n 1 /tmp/said | grep -qE "^auxtrace could not be tested here: $pattern"
}

no_perf()
{
	PATH=$without_perf auxtrace selftest perf | grep 'there is no perf'
}

check "all checks pass with Intel PT" auxtrace selftest -o pt.json
cp /tmp/out pt
# header PATTERN: the text has it before the first check.
header()
{
	sed '/^$/q' pt | grep -E "$1"
}
# Its input as a part of a PATTERN: sid's kernels have a + in their release, CPUs parentheses in their name.
literally()
{
	tr '+()' ...
}
check "the text begins with the versions" header "^ +auxtrace +$(auxtrace --version | grep -o '[0-9.]*$')\$"
check "of the module, too" header "^ +module +[0-9.]+\$"
check "with the kernel" header "^ +kernel +$(uname -r | literally)\$"
check "the CPU" header "^ +cpu name +$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1 | literally)\$"
check "that it is a virtual one" header '^ +hypervisor +TCGTCGTCGTCG$'
check "its number" header '^ +tested_cpu +[01]$'
check "the kind of its core" header '^ +core_type +none$'
check "the kernel's options that matter" header '^ +kernel_options +.*nokaslr'
check "the format of the report" header '^ +format +1$'
check "whether the kernel is locked down" header '^ +lockdown +none$'
check "and what info finds" header '^yes  pt .*free'
# shellcheck disable=SC2086
check "none was skipped but what the CPU does not have" sum_is pt 0 $lacks
check "and with BTS" auxtrace selftest --source bts -o bts.json
cp /tmp/out bts
# shellcheck disable=SC2086
check "none was skipped but what only Intel PT has" sum_is bts 0 $bts_lacks
check "and in a quick run" sh -c 'auxtrace selftest --quick -o - > quick.json'
check "nothing is left of it" test -z "$(ls -d /tmp/auxtrace-selftest-* 2> /dev/null)"

check "without perf, that check says so" no_perf

# notices WRONG PATTERN CHECK...: as if the hardware, the module or the decoder did not do its part, each CHECK fails, and its reason
# matches.
notices()
{
	wrong=$1 pattern=$2
	shift 2
	printf '%s\n' "$@" >> /tmp/noticed
	WRONG=$wrong selftest_wrong selftest --cpu 0 "$@" > /tmp/said 2>&1
	got=$?
	cat /tmp/said
	[ "$got" -eq 1 ] || return 1
	for name in "$@"; do
		grep -A 1 "^FAILED  $name " /tmp/said | grep -qE "$pattern" || return 1
	done
}

# finds TEXT WRONG PATTERN CHECK...: the same is checked, unless the CPU cannot pass the first CHECK.
finds()
{
	case " $lacks " in
	*" $4 "*) echo "not on this CPU: $1" ;;
	*) text=$1; shift; check "$text" notices "$@" ;;
	esac
}
finds "pause-resume notices a paused session that writes" paused 'round 0: a paused session wrote' pause-resume
finds "and a resumed one that does not" no-resume 'round 0: a resumed session wrote nothing' pause-resume
finds "full notices an area that is written over" mode 'bytes in an area of 16384, 0 gaps' full
finds "overwrite notices one that is not" mode 'bytes were written, with [1-9][0-9]* gaps' overwrite
finds "snapshot notices bytes that change" snapshot 'a snapshot of [0-9]+ bytes changed' snapshot
finds "records notices a window without a record" records 'comes behind window' records
finds "the kinds of triggers notice hits that do not act" action 'hits did not stop the trace' \
	syscall-enter syscall-exit latency breakpoint counter instructions tracepoint timer uprobe uretprobe kprobe kretprobe
finds "and events that are no hits" hits '^ +0 hits of ' \
	syscall-enter syscall-exit latency breakpoint counter instructions tracepoint timer uprobe uretprobe kprobe kretprobe
finds "flow notices an instruction that is not decoded" flow 'instructions were executed, [0-9]+ decoded; number 501 differs' flow
finds "perf notices one that perf alone decodes" flow 'instructions are decoded, by perf [0-9]+; number 501 differs' perf
finds "interrupt notices one that is handled twice" pmis 'interrupt 1: it was handled more than once' interrupt
finds "cost notices requests without an effect" no-resume 'of [0-9]+ pauses and resumes' cost
finds "full-auto notices a module that does not look for the tail" full-auto 'did not go on within' full-auto
finds "full-stop notices one that goes on by itself" full-stop 'went on without a resume' full-stop
finds "descendants notices a child that is not traced" descendants 'the child was not traced' descendants
finds "and one that nobody asked for" process 'nobody asked for' descendants
finds "cpus notices a freeze that does not reach the other CPU" freeze 'a freeze has not stopped both' cpus
finds "output notices records that were not to be written" output 'LOST records count 0' output
finds "newest notices a ring that keeps the oldest" newest 'the ring has 1 to' newest
finds "data notices losses that no record tells of" data 'windows [0-9]+ have a record' data
finds "switch notices a switch without a record" switch 'leaves another thread' switch
finds "hold-off notices hits that act in that time" hold-off '10 hits of 10 events, 8 acted, 2 were held' hold-off
finds "and such that were to be ignored" after-hits 'of the first 2 hits.* 1 acted' hold-off
finds "one-shot notices hits that act again" one-shot 'of 10 hits 10 acted' one-shot
finds "and a trigger that is not rearmed" rearm 'behind a REARM, of 10 hits 0 acted' one-shot
finds "delay notices an action that comes at once" delay 'ns after the call it acted, not 2000000' delay
finds "also where it was to wait for bytes" delay-bytes 'bytes after the call it acted, not 32768' delay
finds "sample notices a byte that is another one" sample 'are not those of the area' sample
finds "filter notices code outside of its range" filter 'outside of the filter.s range' filter
finds "stop notices code of the range" filter 'instructions of the range where tracing was to stop' stop
finds "cr3 notices a process with other page tables" cr3 'the same work in another process' cr3
finds "kernel-flow notices calls that are not in the trace" resume 'of 10 calls 0 are in the flow' kernel-flow
finds "config notices what is taken though the CPU lacks it" config 'a session takes [a-z0-9_=,]+, which the CPU lacks' config
finds "psb notices a period that is another one" config 'with the shortest period there are' psb
finds "mtc notices packets that are missing" config 'there are no MTC packets' mtc
finds "so does cyc" config 'there are no CYC packets' cyc
finds "noretcomp notices returns without a packet" config 'returns have [0-9]+ TIP packets' noretcomp
finds "notnt notices TNT packets" config 'there are [1-9][0-9]* TNT' notnt
finds "ptwrite notices operands that are missing" config 'of 10 PTWRITE instructions 0 have a packet' ptwrite
finds "event notices page faults that are missing" config 'of 10 page faults 0 are in the trace' event
finds "power notices sleeps that are missing" config 'no power event is in the trace' power
finds "branch notices branches" config 'TIP packets tell of branches' branch
finds "a status page that does not add up fails any check" page 'the status page: not page->produced == ' overwrite
finds "so do counts of a trigger" counts 'the counts of a trigger: not state->out_hits == ' syscall-enter
finds "pause-resume notices where a window did not end" effect 'and the status page that window' pause-resume
finds "stop-start notices a STOP that does nothing" stop 'is stopped again' stop-start
finds "exclusive notices a second session" second 'two sessions are started on one CPU' exclusive
finds "and perf beside a session" perf-too 'perf got the CPU.s intel_pt while a session had it' exclusive
finds "and a session beside perf" perf-not 'a session was started while perf had the CPU.s intel_pt' exclusive
finds "wake notices a reader that does not sleep" sleepless 'did not sleep though almost nothing was unread' wake
finds "and one that sleeps on" sleepy 'a reader sleeps though [0-9]+ bytes are unread' wake
finds "sums notices a status that is not the sum" sums 'of 2 CPUs: not status->out_windows == ' sums
finds "snapshot-pause notices a snapshot that does not pause" snapshot-pause 'that is to pause leaves reasons to be off 0,' snapshot-pause
finds "aux notices data that no record tells of" aux 'AUX records tell up to [0-9]+, and not of all' aux
finds "drain notices bytes that nobody got" drain 'bytes were read, with' drain

# A check that crashes is told, and the next one is made.
crashed()
{
	WRONG=crash selftest_wrong selftest --cpu 0 -o crash.json output newest > /tmp/said 2>&1
	[ $? -eq 1 ] && cat /tmp/said && grep -A 1 '^CRASHED  output ' /tmp/said | grep -q 'signal 6' &&
		grep -q '^ok      newest ' /tmp/said && grep -x '1 passed, 0 failed, 0 skipped, 1 crashed' /tmp/said
}
check "a crash in a check is not the end" crashed

# A check that hangs is interrupted: the run ends by that signal, has said what it knows, and leaves no directory.
interrupted()
{
	WRONG=hang selftest_wrong selftest --cpu 0 -o hang.json full output newest > /tmp/said 2>&1 &
	for _ in $(seq 1200); do
		grep -q '^hangs' /tmp/said 2> /dev/null && break
		sleep 0.1
	done
	kill -TERM $!
	wait $!
	got=$?
	cat /tmp/said
	[ "$got" -eq 143 ] && grep -q '^INTERRUPTED  output ' /tmp/said && ! ls -d /tmp/auxtrace-selftest-* 2> /dev/null &&
		grep -x '1 passed, 0 failed, 0 skipped, 1 interrupted, 1 not run' /tmp/said
}
check "one that hangs is interrupted" interrupted
# Of environment see below; of what the CPU does not have no check finds anything.
# shellcheck disable=SC2086
can_fail()
{
	{ echo environment; cat /tmp/noticed; printf '%s\n' $lacks; } > /tmp/known
	auxtrace selftest '' 2>&1 | sed -n 's/.*the checks are //p' | sed 's/, /\n/g' > /tmp/checks
	[ -s /tmp/checks ] && ! grep -vxFf /tmp/known /tmp/checks
}
check "each check can fail" can_fail
# What was noticed passes if nothing is wrong.
all_pass()
{
	sort -u /tmp/noticed > /tmp/once
	# shellcheck disable=SC2046
	selftest_wrong selftest --cpu 0 $(cat /tmp/once) > /tmp/said 2>&1
	got=$?
	cat /tmp/said
	[ "$got" -eq 0 ] && grep -qx "$(grep -c . /tmp/once) passed, 0 failed, 0 skipped" /tmp/said
}
check "and all pass if nothing is wrong" all_pass

# While another session has CPU 1, info says NO of the source.
recorded()
{
	auxtrace record -a -k -C 1 --overwrite -m 64K -o "$@"
}
# A run while another CPU is recorded: the host reads in that recording which code was changed. The kernel switches some branches
# back a second later. It is not the recorder's command, which is traced by ptrace and could not step itself.
watched()
{
	rm -f watch heard
	mkfifo watch heard
	exec 3<> watch 4<> heard
	recorded "$1" --control fifo:watch,heard --duration 900 > recorder.log 2>&1 &
	recorder=$!
	ask ping && sh -c "$2; sleep 2"
	ask stop
	wait "$recorder"
	exec 3>&- 4>&-
	[ -e "$1/kcore.changes" ]
}
check "a quick run, watched" watched quick-code "auxtrace selftest --quick --cpu 0 > /out/watched-quick"
# shellcheck disable=SC2046
check "all passed but environment, which says who has the hardware" sum_is watched-quick 1 $(skipped_if_quick)
check "in its reason" grep -A 1 '^FAILED  environment' watched-quick
check "it left no code changed" test ! -s quick-code/kcore.changes
check "a probe, watched" watched probe-code "auxtrace selftest --cpu 0 kprobe > /out/watched"
check "it passed" grep -x '1 passed, 0 failed, 0 skipped' watched

# ended: a signal ends it in the midst of its checks, and it ends by that signal
ended()
{
	auxtrace selftest &
	until ls -d /tmp/auxtrace-selftest-* > /dev/null 2>&1; do sleep 0.1; done
	kill -TERM $!
	wait $!
	[ $? -eq 143 ] && ! ls -d /tmp/auxtrace-selftest-*
}
check "a signal that ends it leaves nothing either" ended

# It answers when it traces.
mkfifo ctl ack
exec 3<> ctl 4<> ack
auxtrace record -a -C 1 -S --control fifo:ctl,ack -o holds &
holder=$!
echo ping >&3
read -r answer <&4
check "a recorder has CPU 1" test "$answer" = ack
check "nothing is tested while another session has the CPU" untested 'no session on CPU 1: .*holds Intel PT' -C 1 -o busy.json
check "nor in a quick run" untested 'no session on CPU 1: .*holds Intel PT' --quick -C 1
check "a single check fails as well" status 1 auxtrace selftest --quick -C 1 overwrite
check "on another CPU it passes" auxtrace selftest --quick -C 0 overwrite
echo stop >&3
wait $holder
check "a CPU that is not there is refused" status 2 auxtrace selftest -C 99
check "the report goes where nobody can write: exit status 1" status 1 auxtrace selftest -q -o /nowhere/report full
rmmod auxtrace
check "without the module it fails" status 1 auxtrace selftest -o none.json
cp /tmp/out none
check "in its environment" grep -A 1 '^FAILED  environment' none
check "and no other check is made" grep -x "0 passed, 1 failed, $((checks - 1)) skipped" none
check "a single check fails as well" status 1 auxtrace selftest full
exit "$failed"
