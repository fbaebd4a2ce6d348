#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: record --on and list on a real kernel, as a user sees them. check
# calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

cd /out || exit 1

# ---- the example of the seed ------------------------------------------------

seed_example
cp /tmp/script /out/seed.calls

# ---- kinds of events --------------------------------------------------------

check "kprobe and kretprobe by symbol" record probes -k -C 0 --start-paused \
	--on 'kprobe:__do_sys_newuname=resume,pid=command' \
	--on 'kretprobe:__do_sys_newuname=pause,pid=command' -- uname -r
check "decode" decodes probes
check "with the function" has '__do_sys_newuname'
check "tracepoint by name" record sched -C 0 --overwrite --on 'sched:sched_process_exit=sample=4K' -- uname -r
check "took a sample" test "$(trigger sched acted 1)" -ge 1
check "which decodes on its own" decodes sched --samples
check "and is named" has 'sample 1 +<trigger 1, sched:sched_process_exit=sample=4K, process [0-9]+, [0-9]+ bytes'
check "samples are taken beside a full trace" record full -C 0 --on 'syscall:newuname:exit=sample=8K,pid=command' -- uname -r
check "the full trace decodes" decodes full
check "its samples too" decodes full --samples
check "a sample too large for a record takes a slot" record large -C 0 --overwrite --slots 4 -m 512K \
	--on 'sched:sched_process_exit=sample=128K,count=1' -- ls -lR /sys/kernel
check "and is there whole" test "$(wc -c < large/cpu0.samples)" -eq 131072
check "and decodes" decodes large --samples
check "uprobe and uretprobe of a program's function" record program -C 0 --start-paused \
	--on 'uprobe:/bin/auxtrace:main=resume,pid=command' \
	--on 'uretprobe:/bin/auxtrace:main=pause,pid=command' -- auxtrace --version
check "which acted once each" acted program 2 1
check "decode" decodes program
check "with what the function called" has 'u .*puts|u .*printf'
check "with a counter" record counter -C 0 --start-paused --on 'instructions/period=10000/=resume,count=1' \
	--on 'instructions/period=50000/=pause' -- ls /bin
check "which acted once" acted counter 1 1
check "with a software event" record faults -C 0 --start-paused --on 'page-faults=resume,after=3,one-shot' -- ls /bin
check "which acted once" acted faults 1 1
check "with a timer" record timer -C 0 --overwrite --on 'timer:1ms=sample=1K,hold-off=5ms' -- sleep 0.2
check "which acted and was held off" test "$(trigger timer held 1)" -gt "$(trigger timer acted 1)"

# ---- freeze -----------------------------------------------------------------

check "a freeze by latency" record slow -C 0 --overwrite -m 64K \
	--on 'latency:syscall:clock_nanosleep:enter..syscall:clock_nanosleep:exit>20ms=freeze' -- \
	sh -c 'usleep 1000; usleep 50000; usleep 1000'
cp /tmp/out /tmp/slow
check "is reported at once" grep -q 'frozen by trigger 3, latency:' /tmp/slow
check "decodes" decodes slow
check "and says how long it took" has 'to trigger 3, latency:.*=freeze, after [0-9]+ ns'
check "a flight recorder continues after a freeze" record flight --ptrace -C 0 -S -m 64K \
	--on 'syscall:newuname:exit=freeze,hold-off=400ms,count=2' -- \
	sh -c "$freezing"
check "which acted as often as its count allows" acted flight 1 2
check "and has a snapshot of each" test -d /out/flight/snapshot.0002
check "and no more" test ! -e /out/flight/snapshot.0003
check "the first decodes" decodes flight/snapshot.0001
check "the second decodes" decodes flight/snapshot.0002
check "and ends with the freeze" has 'to trigger 1, syscall:newuname:exit=freeze'

# ---- what is refused is named -------------------------------------------------

check "a kernel function's name" refused 'near it (is|are).*do_sys_newuname' --on 'kprobe:do_sys_newunam=pause'
check "a tracepoint's name" refused 'near it (is|are).*sched:sched_switch' --on 'sched:sched_swich=pause'
check "a system call's name" refused 'near it (is|are).*newuname' --on 'syscall:newunam:exit=pause'
check "a function that must not be probed" refused 'blacklist' --on 'kprobe:kprobe_int3_handler=pause'
check "a program's function" refused 'has no function mian; near it is main' --on 'uprobe:/bin/auxtrace:mian=pause'
check "a large sample without slots" refused 'slots' --overwrite -m 1M --on 'timer:1ms=sample=128K'
check "a sample of more than the area" refused 'sample_size: .*more than half' -m 64K --on 'timer:1ms=sample=48K'
check "a process that does not exist" refused 'no process 99999' --on 'timer:1ms=pause,pid=99999'
check "delay in bytes of a full trace" refused 'overwrite mode' --on 'timer:1ms=pause,delay=4K'
check "list counts the names" says 'SUBSYSTEM:NAME +[1-9][0-9]+ ' auxtrace list
check "list finds a name" says '^sched:sched_switch$' auxtrace list sched_switch
exit $failed
