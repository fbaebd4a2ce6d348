#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: auxtrace selftest, by each source, and where it has to fail.
# check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

cd /out || exit 1
without_perf=$PATH
PATH=$PATH:/perf

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
	[ "$got" -eq 1 ] && grep -q '^FAILED  environment ' /tmp/said && grep -qx '0 passed, 1 failed, 54 skipped' /tmp/said || return 1
	[ "$(grep -A 1 '^skip ' /tmp/said | grep -cE "^ +$pattern")" -eq 54 ] || return 1
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
check "none was skipped but what the CPU does not have" grep -qx '51 passed, 0 failed, 4 skipped' pt
check "and with BTS" auxtrace selftest --source bts -o bts.json
cp /tmp/out bts
check "none was skipped but what only Intel PT has" grep -qx '42 passed, 0 failed, 13 skipped' bts
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
check "pause-resume notices a paused session that writes" notices paused 'round 0: a paused session wrote' pause-resume
check "and a resumed one that does not" notices no-resume 'round 0: a resumed session wrote nothing' pause-resume
check "full notices an area that is written over" notices mode 'bytes in an area of 16384, 0 gaps' full
check "overwrite notices one that is not" notices mode 'bytes were written, with [1-9][0-9]* gaps' overwrite
check "snapshot notices bytes that change" notices snapshot 'a snapshot of [0-9]+ bytes changed' snapshot
check "records notices a window without a record" notices records 'comes behind window' records
check "the kinds of triggers notice hits that do not act" notices action 'hits did not stop the trace' \
	syscall-enter syscall-exit latency breakpoint counter instructions tracepoint timer uprobe uretprobe kprobe kretprobe
check "and events that are no hits" notices hits '^ +0 hits of ' \
	syscall-enter syscall-exit latency breakpoint counter instructions tracepoint timer uprobe uretprobe kprobe kretprobe
check "flow notices an instruction that is not decoded" notices flow 'instructions were executed, [0-9]+ decoded; number 501 differs' flow
check "perf notices one that perf alone decodes" notices flow 'instructions are decoded, by perf [0-9]+; number 501 differs' perf
check "interrupt notices one that is handled twice" notices pmis 'interrupt 1: it was handled more than once' interrupt
check "cost notices requests without an effect" notices no-resume 'of [0-9]+ pauses and resumes' cost
check "full-auto notices a module that does not look for the tail" notices full-auto 'did not go on within' full-auto
check "full-stop notices one that goes on by itself" notices full-stop 'went on without a resume' full-stop
check "descendants notices a child that is not traced" notices descendants 'the child was not traced' descendants
check "and one that nobody asked for" notices process 'nobody asked for' descendants
check "cpus notices a freeze that does not reach the other CPU" notices freeze 'a freeze has not stopped both' cpus
check "output notices records that were not to be written" notices output 'LOST records count 0' output
check "newest notices a ring that keeps the oldest" notices newest 'the ring has 1 to' newest
check "data notices losses that no record tells of" notices data 'windows [0-9]+ have a record' data
check "switch notices a switch without a record" notices switch 'leaves another thread' switch
check "hold-off notices hits that act in that time" notices hold-off '10 hits of 10 events, 8 acted, 2 were held' hold-off
check "and such that were to be ignored" notices after-hits 'of the first 2 hits.* 1 acted' hold-off
check "one-shot notices hits that act again" notices one-shot 'of 10 hits 10 acted' one-shot
check "and a trigger that is not rearmed" notices rearm 'behind a REARM, of 10 hits 0 acted' one-shot
check "delay notices an action that comes at once" notices delay 'ns after the call it acted, not 2000000' delay
check "also where it was to wait for bytes" notices delay-bytes 'bytes after the call it acted, not 32768' delay
check "sample notices a byte that is another one" notices sample 'are not those of the area' sample
check "filter notices code outside of its range" notices filter 'outside of the filter.s range' filter
check "stop notices code of the range" notices filter 'instructions of the range where tracing was to stop' stop
check "cr3 notices a process with other page tables" notices cr3 'the same work in another process' cr3
check "kernel-flow notices calls that are not in the trace" notices resume 'of 10 calls 0 are in the flow' kernel-flow
check "config notices what is taken though the CPU lacks it" notices config 'takes ptw, which the CPU lacks' config
check "psb notices a period that is another one" notices config 'with the shortest period there are' psb
check "mtc notices packets that are missing" notices config 'there are no MTC packets' mtc
check "so does cyc" notices config 'there are no CYC packets' cyc
check "noretcomp notices returns without a packet" notices config 'returns have [0-9]+ TIP packets' noretcomp
check "branch notices branches" notices config 'TIP packets tell of branches' branch
check "a status page that does not add up fails any check" notices page 'the status page: not page->produced == ' overwrite
check "so do counts of a trigger" notices counts 'the counts of a trigger: not state->out_hits == ' syscall-enter
check "pause-resume notices where a window did not end" notices effect 'and the status page that window' pause-resume
check "stop-start notices a STOP that does nothing" notices stop 'is stopped again' stop-start
check "exclusive notices a second session" notices second 'two sessions are started on one CPU' exclusive
check "and perf beside a session" notices perf-too 'perf got the CPU.s intel_pt while a session had it' exclusive
check "and a session beside perf" notices perf-not 'a session was started while perf had the CPU.s intel_pt' exclusive
check "wake notices a reader that does not sleep" notices sleepless 'did not sleep though almost nothing was unread' wake
check "and one that sleeps on" notices sleepy 'a reader sleeps though [0-9]+ bytes are unread' wake
check "sums notices a status that is not the sum" notices sums 'of 2 CPUs: not status->out_windows == ' sums
check "snapshot-pause notices a snapshot that does not pause" notices snapshot-pause 'that is to pause leaves reasons to be off 0,' snapshot-pause
check "aux notices data that no record tells of" notices aux 'AUX records tell up to [0-9]+, and not of all' aux
check "drain notices bytes that nobody got" notices drain 'bytes were read, with' drain

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
can_fail()
{
	{ echo environment; cat /tmp/noticed; sed -n 's/^skip *\([a-z-]*\) .*/\1/p' pt; } > /tmp/known
	auxtrace selftest '' 2>&1 | sed -n 's/.*the checks are //p' | sed 's/, /\n/g' > /tmp/checks
	[ -s /tmp/checks ] && ! grep -vxFf /tmp/known /tmp/checks
}
check "each check can fail" can_fail
check "and all pass if nothing is wrong" selftest_wrong selftest --cpu 0 pause-resume overwrite stop-start exclusive wake sums snapshot-pause aux syscall-enter full-auto full-stop descendants cpus data output newest switch hold-off one-shot delay sample filter stop cr3 kernel-flow config psb mtc cyc noretcomp branch drain

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
check "all passed but environment, which says who has the hardware" says '^42 passed, 1 failed, 12 skipped$' cat watched-quick
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
check "and no other check is made" grep -x '0 passed, 1 failed, 54 skipped' none
check "a single check fails as well" status 1 auxtrace selftest full
exit "$failed"
