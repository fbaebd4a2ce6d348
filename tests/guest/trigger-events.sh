#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: record --on with further events and options: breakpoints, counters,
# PMUs, all CPUs, delays, freezes. check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

cd /out || exit 1

# address SYMBOL: of the kernel.
address()
{
	sed -n "s/^\([0-9a-f]*\) [a-zA-Z] $1\$/0x\1/p" /proc/kallsyms | head -n 1
}

# hits RECORDING ID NUMBER
hits()
{
	n=$(trigger "$1" hits "$2")
	echo "trigger $2 of $1 hit $n times, expected $3"
	[ "$n" -eq "$3" ]
}

# ---- breakpoints ------------------------------------------------------------

# A variable of the kernel that a file of /proc/sys reads and writes.
knob=/proc/sys/vm/oom_dump_tasks
variable=$(address sysctl_oom_dump_tasks)
check "a breakpoint on code" record code -k -C 0 --start-paused \
	--on "mem:$(address __do_sys_newuname):x=resume,pid=command" \
	--on 'syscall:newuname:exit=pause,pid=command' -- uname -r
check "hit once" acted code 1 1
check "decodes" decodes code
check "began the window" has 'window.*<trigger 1, mem:0x[0-9a-f]*:x=resume,pid=command to trigger 2, .*whole>'
check "with what the function called after it" has 'k +_?copy_to_user'
check "and nothing that was called before it" has_not 'k +(__x64_sys|__se_sys|__do_sys)_newuname$'
check "a breakpoint on data written" record written -k -C 0 --on "mem:$variable/4:w=pause,pid=command" -- \
	sh -c "echo 1 > $knob; echo 1 > $knob; cat $knob"
check "hit once for each write" hits written 1 2
check "decodes" decodes written
check "ended the window" has 'window.* to trigger 1, mem:0x[0-9a-f]*/4:w=pause,pid=command,'
check "in the function that writes it" has 'proc_dointvec'
check "a breakpoint on data that is read only" record read -C 0 \
	--on "mem:$variable:w=pause" --on "mem:$variable=pause" -- cat $knob
check "does not hit by w" hits read 1 0
check "hits by rw" test "$(trigger read hits 2)" -ge 1
check "more breakpoints than registers" refused 'breakpoint' -C 0 --on "mem:$variable:w=pause" --on "mem:$variable:w=pause" \
	--on "mem:$variable:w=pause" --on "mem:$variable:w=pause" --on "mem:$variable:w=pause"

# ---- counters ---------------------------------------------------------------

# The triggers are enabled one after the other, with few instructions between: their hits
# differ by one at most.
same()
{
	first=$(trigger named hits 1)
	for id in 2 3; do
		n=$(trigger named hits "$id")
		echo "trigger 1 hit $first times, $id $n"
		[ "$first" -ge 50 ] && [ $((n - first)) -ge -1 ] && [ $((n - first)) -le 1 ] || return 1
	done
}

# The hits of user and kernel code add up to all, but for unfinished periods at the end.
levels_add_up()
{
	all=$(trigger named hits 1) user=$(trigger named hits 4) kernel=$(trigger named hits 5)
	rest=$((all - user - kernel))
	echo "$all hits, $user of user code, $kernel of the kernel"
	[ "$user" -ge 10 ] && [ "$kernel" -ge 10 ] && [ "$rest" -ge -2 ] && [ "$rest" -le 2 ]
}

check "one event by perf's name, by terms, by an event of the PMU, by level, raw" record named -C 0 --overwrite \
	--on 'instructions/period=100000/=sample=1K,one-shot' \
	--on 'cpu/event=0xc0,umask=0x0,period=100000/=sample=1K,one-shot' \
	--on 'cpu/instructions,period=100000/=sample=1K,one-shot' \
	--on 'instructions/period=100000/u=sample=1K,one-shot' \
	--on 'r00c0/period=100000/:k=sample=1K,one-shot' -- ls -l /bin
check "all levels hit the same number of times" same
check "those of one level add up" levels_add_up
check "samples decode" decodes named --samples
for id in 1 2 3 4 5; do
	check "one is of trigger $id" has "sample [0-9]+ +<trigger $id, "
done
set --
for name in cycles ref-cycles bus-cycles branches cpu-clock task-clock; do
	set -- "$@" --on "$name/period=100000/=sample=1K,one-shot"
done
for name in page-faults minor-faults context-switches; do
	set -- "$@" --on "$name=sample=1K,one-shot"
done
check "counters of perf's names" record counters -C 0 --overwrite "$@" -- ls -l /bin
check "samples decode" decodes counters --samples
id=0
for name in cycles ref-cycles bus-cycles branches cpu-clock task-clock page-faults minor-faults context-switches; do
	id=$((id + 1))
	check "one is of $name" has "sample [0-9]+ +<trigger $id, ${name}[/=]"
done
# The emulator's CPU does not have it, and CPUID says so.
check "a counter that this CPU does not have" refused 'cache-misses' --on 'cache-misses=pause'
check "a PMU that cannot interrupt" refused 'msr/tsc/' --on 'msr/tsc/=pause'
check "an unknown term" refused 'neither a term nor an event "evnt"' --on 'cpu/evnt=0xc0/=pause'

# ---- all CPUs ---------------------------------------------------------------

# from_to CPU NUMBER: so many of the CPU's windows are from trigger 1 to trigger 2.
from_to()
{
	n=$(grep -cE "^ *$1 window.*<trigger 1, .* to trigger 2, " /tmp/script)
	echo "$n windows of CPU $1, expected $2"
	[ "$n" -eq "$2" ]
}

sleeping='syscall:clock_nanosleep:enter=resume,pid=command'
awake='syscall:clock_nanosleep:exit=pause,pid=command'
check "a trigger for all CPUs" record together -a -C 0-1 --start-paused --on "$sleeping,all-cpus" \
	--on "$awake,all-cpus" -- usleep 20000
check "decodes" decodes together
check "CPU 0 followed" from_to 0 1
check "CPU 1 followed" from_to 1 1
check "there are no other windows" windows 2
check "a trigger for one CPU" record alone -a -C 0-1 --start-paused --on "$sleeping" --on "$awake" -- usleep 20000
check "decodes" decodes alone
check "the other CPU was not traced" windows 1

# ---- delays -----------------------------------------------------------------

# within RECORDING bytes|ns LEAST MOST: the length of its first window.
within()
{
	line=$(auxtrace dump --records "$1" | grep ' window 1 ')
	if [ "$2" = bytes ]; then
		got=$(echo "$line" | sed 's/.* begin=\([0-9]*\) end=\([0-9]*\) .*/\2 - \1/')
	else
		got=$(echo "$line" | sed 's/.* tsc=\([0-9]*\),\([0-9]*\) .*/(\2 - \1)/')
		got="$got * $(sed -n 's/^time_mult //p' "$1/meta") >> $(sed -n 's/^time_shift //p' "$1/meta")"
	fi
	got=$((got))
	echo "$got $2, expected $3 to $4"
	[ "$got" -ge "$3" ] && [ "$got" -le "$4" ]
}

# record_calm RECORDING OPTION...: a recording without an interrupt between the triggers of a
# system call and its return. An interrupt would add to the window what is not the probes'.
record_calm()
{
	for try in 1 2 3 4; do
		rm -rf "$1"
		record "$@" || return 1
		auxtrace script "$1" 2> /dev/null | awk '
			$2 == "window" { inside = 1 }
			inside && / u +/ { exit }
			/<interrupt>/ { interrupted = 1; exit }
			END { exit interrupted }' && return 0
		echo "recording $try has an interrupt"
	done
}

# A system call that only the shell makes.
# shellcheck disable=SC2016 # the other shell expands it
busy='cd /; i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done'
calling='syscall:chdir:enter'
# Of all that the CPU runs: in the command's scope a switch to another thread would end the window before the delay does.
check "a pause after a time" record time -a -C 0 --start-paused --on "$calling=resume" \
	--on "$calling=pause,delay=2ms" -- sh -c "$busy"
check "acted" acted time 2 1
check "so much later, not at a tick of the scheduler" within time ns 2000000 3999999
check "decodes" decodes time
check "a freeze after a time" record cold -a -C 0 --overwrite --start-paused --on "$calling=resume" \
	--on "$calling=freeze,delay=1ms" -- sh -c "$busy"
check "so much later" within cold ns 1000000 3999999
# The window begins at the resume trigger, so it also holds the probe between the two triggers;
# and the pause comes up to a region late. The regions of an area of 512 KiB are pages, those of
# larger ones depend on how much of the memory is contiguous.
check "a pause after bytes" record_calm bytes -C 0 -m 512K --overwrite --start-paused --on "$calling=resume" \
	--on "$calling=pause,delay=8K" -- sh -c "$busy"
check "acted" acted bytes 2 1
check "so many bytes later" within bytes bytes 8192 $((8192 + 4096 + 1024))
check "decodes" decodes bytes
check "a delay of nothing" refused 'a delay of nothing' --on "$calling=pause,delay=0"

# ---- freeze of all CPUs -----------------------------------------------------

# frozen BEGIN: each CPU's newest window begins by BEGIN and ends by the freeze.
frozen()
{
	for cpu in 0 1; do
		last=$(grep -E "^ *$cpu window" /tmp/script | tail -n 1)
		echo "$last"
		echo "$last" | grep -qE "<$1 to trigger 1, syscall:chdir:exit=freeze, " || return 1
	done
}

check "a flight recorder of two CPUs" record flight -a -C 0-1 -S -m 64K --on 'syscall:chdir:exit=freeze' -- sh -c '
	while :; do :; done &
	cd /
	until [ -e /out/flight/snapshot.0001/meta ]; do usleep 10000; done
	usleep 100000
	cd /
	until [ -e /out/flight/snapshot.0002/meta ]; do usleep 10000; done
	kill $!'
check "froze twice" acted flight 1 2
check "a snapshot of the first decodes" decodes flight/snapshot.0001
check "both CPUs were stopped by it" frozen session
check "resumed, the second decodes" decodes flight/snapshot.0002
check "both CPUs were stopped again" frozen user
check "and no third" test ! -e /out/flight/snapshot.0003
exit $failed
