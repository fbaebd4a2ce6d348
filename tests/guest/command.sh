#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: the auxtrace command on a real kernel, as a user sees it. check calls
# the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

# status STATUS COMMAND...: the command's exit status is that.
status()
{
	expected=$1
	shift
	"$@" > /tmp/said 2>&1
	got=$?
	cat /tmp/said
	echo "exit status $got, expected $expected"
	[ "$got" -eq "$expected" ]
}

# ls reads its directory, and each system call that it makes is named.
names_system_calls()
{
	sed -n 's/.*<\(system call[^>]*\)>.*/\1/p' /tmp/script | sort | uniq -c
	grep -q '<system call getdents64>' /tmp/script && grep -q '<system call fstat>\|<system call newfstatat>\|<system call statx>' /tmp/script &&
		! grep '<system call>' /tmp/script
}

check "info says what this machine has" says 'Intel PT' auxtrace info
check "info finds nothing missing" status 0 auxtrace info
check "info says what a session takes from perf" says "on the whole machine for events of its PMU that follow a task" auxtrace info

cd /out || exit 1
check "record runs a command" status 0 auxtrace record -o full -- ls /bin
check "its byte counts add up" adds_up full
check "script decodes it without an error" decodes full
check "script names the program's functions and the kernel's" grep -q 'entry_SYSCALL_64' /tmp/script
check "and system calls by their names" names_system_calls
check "dump reads its packets" says '^errors: +0' auxtrace dump full --summary

check "record has the command's exit status" status 7 auxtrace record -o status -- sh -c 'exit 7'
check "a command that is not there is 127" status 127 auxtrace record -o status -- /no/such/program
check "an overwrite recording is bounded" status 0 \
	auxtrace record -o newest --overwrite -m 16K -- ls -lR /sys/kernel
check "its byte counts add up" adds_up newest
check "and decodes" decodes newest
# runs_user_code DIR FILE...: the user code in the recording is that of these files, and of libraries
runs_user_code()
{
	auxtrace script "$1" > /tmp/script || return
	shift
	files="($(echo "$@" | tr ' ' '|')|ld-linux.*|libc.*|.vdso.)"
	grep -Eq "^ .* u .*[(]$1[)]" /tmp/script || return
	! grep -E '^ .* u .*[(]' /tmp/script | grep -Ev "[(]${files}[)]"
}

# ends_with_its_process: record -p of a process that is killed when it is recorded
ends_with_its_process()
{
	sleep 1000 &
	process=$!
	auxtrace record -p "$process" -o ended &
	recorder=$!
	until [ -d ended ]; do sleep 0.1; done
	kill "$process"
	wait "$recorder"
}

# no_command: record --duration has no process to follow
no_command()
{
	auxtrace record -o nobody --duration 0.1 -C 1 -m 64K --overwrite && grep '^reports_lost' nobody/followed && ! grep '^command' nobody/followed
}

# A shell in a file of its own, so that its code is known from that of the commands.
mkdir /tmp/elsewhere && cp "$(readlink -f /bin/sh)" /tmp/elsewhere/sh
/tmp/elsewhere/sh -c 'while :; do :; done' &
other=$!
check "record traces the command and its descendants" status 0 auxtrace record -o scope -- sh -c 'ls /bin > /dev/null; ls /'
check "and decodes" decodes scope
check "a window begins and ends with a thread" has 'window [0-9]+  <thread [0-9]+ to thread [0-9]+,'
check "no other process is in it" has_not '[(]sh[)]'
check "perf's reports are enough to follow them" grep -x 'command perf' scope/followed
check "of which none is lost" grep -x 'reports_lost 0' scope/followed
check "--ptrace follows them by ptrace" status 0 auxtrace record --ptrace -o traced -- sh -c 'ls /bin > /dev/null; ls /'
check "and decodes" decodes traced
check "and says so" grep -x 'command ptrace' traced/followed
check "a recording of no command says nothing of it" no_command
check "-p traces a process that runs" status 0 auxtrace record --overwrite -m 32K -p $other --duration 0.5 -o attached
check "and that alone" runs_user_code attached sh
check "-t traces a thread while a command runs" status 0 auxtrace record --overwrite -m 32K -u -t $other -o thread -- sleep 0.5
check "and not the command" runs_user_code thread sh
check "-a traces both" status 0 auxtrace record --overwrite -m 16K -a -o all -- ls /
check "-p ends when the process has ended" ends_with_its_process
check "a process that is not there is refused by number" says 'no thread 2000000000' \
	auxtrace record -p 2000000000 -o bad
check "a kernel thread runs no user code" says 'thread 2 is a kernel thread' \
	auxtrace record -u -t 2 --duration 1 -o bad
# all_in_filters DIR: it has instructions, and all are in the ranges of its filters
all_in_filters()
{
	auxtrace script --insn "$1" > /tmp/insn || return
	sed -n 's/^filter trace 0x\(.*\) 0x\(.*\)$/\1 \2/p' "$1/meta" > /tmp/ranges
	awk 'function hex(text) { return substr("0000000000000000", length(text) + 1) text }
	     FILENAME == ARGV[1] { first[++n] = hex($1); last[n] = hex($2); next }
	     /^[0-9a-f]/ { found = 0; count++
		for (i = 1; i <= n; i++) found = found || ($1 "" >= first[i] && $1 "" <= last[i])
		if (!found) { print "in no range: " $0; wrong = 1 } }
	     END { print count + 0 " instructions in " n + 0 " ranges"; exit wrong || !count }' /tmp/ranges /tmp/insn
}
program=$(command -v auxtrace)
check "a function of a program is traced, wherever that is in memory" status 0 \
	auxtrace record -u --filter "filter main @ $program" -o filtered -- auxtrace --version
check "and nothing else" all_in_filters filtered
check "it decodes" decodes filtered
check "and has its name" has ' main[+ ].*[(]auxtrace[)]'
check "with a function of the kernel" status 0 \
	auxtrace record --filter "filter main @ $program, filter vfs_write" -o filtered -- auxtrace --version
check "and nothing else" all_in_filters filtered
check "of a process that runs" status 0 \
	auxtrace record -u --overwrite -m 16K -p $other --filter 'filter * @ /tmp/elsewhere/sh' --duration 0.2 -o filtered
check "and nothing else" all_in_filters filtered
check "tracing stops at a function" status 0 \
	auxtrace record -u --filter "tracestop main @ $program" -o filtered -- auxtrace --version
check "and not before" decodes filtered
check "of which nothing is in the trace" has_not ' main[+ ]'
check "--cr3 traces a process by its page tables" status 0 \
	auxtrace record --overwrite -m 16K -u --cr3 $other -o cr3 -- sleep 0.3
check "and that alone" runs_user_code cr3 sh
check "its trace is one window on a CPU" has '^ +[01] window 1 .*<session to session,'
check "also of the kernel" status 0 auxtrace record --overwrite -m 16K -k --cr3 $other --duration 0.2 -o cr3
check "it decodes" decodes cr3
check "a kernel thread has no page tables" says 'thread 2 has no page tables of its own' \
	auxtrace record -k --cr3 2 --duration 1 -o bad
check "a misspelt function of the kernel is refused with names near it" says 'no function vfs_wriet; near it' \
	auxtrace record --filter 'filter vfs_wriet' -o bad -- touch begun
check "a library that the command has not mapped yet is refused before it begins" says 'has not mapped' \
	auxtrace record --filter 'filter * @ /lib/x86_64-linux-gnu/libc.so.6' -o bad -- touch begun
check "filters that overlap are refused with their addresses" says 'filters 1 .* and 2 .* overlap' \
	auxtrace record --filter 'filter 0x1000/16 filter 0x100f/1' -o bad -- touch begun
check "more filters than the CPU has ranges are refused with their number" says '3 filters are more .* all have 2' \
	auxtrace record --filter 'filter 0x1000/1 filter 0x2000/1 filter 0x3000/1' -o bad -- touch begun
check "the command has not begun" test ! -e begun
kill $other
check "record notes context switches where it is told to" status 0 \
	auxtrace record --switches -o switches -- sh -c 'for i in 1 2 3; do ls /bin >/dev/null; done'
check "and loses none" test "$(account switches data_lost)" -eq 0
check "dump shows them" says ' switch tid=[0-9]+ to pid=[0-9]+ tid=[0-9]+' auxtrace dump --records switches
check "also in overwrite mode" status 0 auxtrace record --switches --overwrite -o switches -- ls /bin
check "dump shows these, too" says ' switch tid=[0-9]+ to pid=[0-9]+ tid=[0-9]+' auxtrace dump --records switches
check "user code only" status 0 auxtrace record -o user --user -C 0 -- ls /bin
check "decodes" decodes user
check "a duration instead of a command" status 0 auxtrace record -o time --duration 1 -C 1 -m 64K --overwrite
# The command ignores the SIGTERM that it gets when its time is over. If the SIGTERM came before
# the command had set its trap, the next round gives it more time.
stubborn()
{
	for seconds in 1 8 64; do
		rm -f ready trapped
		auxtrace record -o stubborn --duration "$seconds" -C 1 -m 64K -- sh -c \
			'trap "echo > trapped" TERM; echo > ready; while :; do sleep 0.1; done' &
		recorder=$!
		until [ -e trapped ] || ! kill -0 "$recorder"; do sleep 0.1; done
		kill -HUP "$recorder"
		wait "$recorder"
		got=$?
		[ ! -e ready ] || break
	done
	[ -e trapped ] && return "$got"
}
check "a command that outlives its time gets signals through record" status 129 stubborn
check "a recording that starts paused has no window" status 0 auxtrace record -o paused --paused -- true
[ "$(account paused windows)" -eq 0 ] || { echo "FAILED: it had one"; failed=1; }

# A static key, which the kernel switches by patching the code that tests it.
schedstats=/proc/sys/kernel/sched_schedstats
check "code that the kernel patches meanwhile is noticed" \
	says "the kernel's code changed at [1-9][0-9]* places meanwhile" \
	auxtrace record -o patched -- sh -c "echo \$((1 - \$(cat $schedstats))) > $schedstats"
check "and noted" grep -qE '^patched 0xf[0-9a-f]{15} ([0-9a-f]{2})+ ([0-9a-f]{2})+$' patched/kcore.changes
check "script knows when that was, and decodes it as it was" decodes patched
check "so it has nothing to say about it" sh -c "! grep 'code changed' /tmp/summary"
rm patched/*.side
check "without perf's word it has" says "the kernel's code changed at [1-9]" auxtrace script patched
check "otherwise nothing is" test -e full/kcore.changes -a ! -s full/kcore.changes

# A second auxtrace holds the hardware as perf would: both follow perf's rules.
hold
check "info says that the hardware is held" says "holds" auxtrace info
check "and record is refused with the reason" says 'holds Intel PT' auxtrace record -o bad -- true
let_go

check "a size that is not a power of two is refused by name" says 'power of two' \
	auxtrace record -m 12K -o bad -- true
check "a CPU that does not exist is refused by number" says 'no CPU 99' auxtrace record -C 99 -o bad -- true
check "an unknown term is refused, and the known ones are listed" says 'mtc_period' \
	auxtrace record -e nonsense -o bad -- true
check "a probe on no function ends record before the command begins" status 125 \
	auxtrace record --on kprobe:no_such_function=pause -o bad -- touch begun
mkdir other && : > other/file
check "so does a directory that holds something else" status 125 auxtrace record -o other -- touch begun
check "the command has not begun" test ! -e begun
check "an unknown subcommand is refused" status 2 auxtrace nonsense
for sub in info record dump script; do
	check "$sub has help" status 0 auxtrace $sub --help
done

rmmod auxtrace
check "without the module info says so" says 'not loaded' auxtrace info
check "and record fails with it" status 125 auxtrace record -o bad -- true
exit $failed
