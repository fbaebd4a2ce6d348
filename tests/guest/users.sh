#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: the auxtrace command, and a program that records itself, for a user who is not root.
# check calls the functions. $1: the trace PMU.
# shellcheck disable=SC2317,SC3045

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

source=$1
[ "$source" = pt ] || granule=24
parameter=/sys/module/auxtrace/parameters/unprivileged

# user COMMAND...: as user 1000, who may lock as much as Debian 12 lets users. (Busybox has a setpriv
# that cannot.)
user()
{
	(ulimit -l 8192 && exec full-setpriv --reuid 1000 --regid 1000 --clear-groups "$@")
}

# user_status STATUS COMMAND...: its exit status is that.
user_status()
{
	expected=$1
	shift
	user "$@" > /tmp/said 2>&1
	got=$?
	cat /tmp/said
	echo "exit status $got, expected $expected"
	[ "$got" -eq "$expected" ]
}

record()
{
	user_status 0 auxtrace record --source "$source" "$@"
}

# refused PATTERN ARGUMENT...: record fails, and says why.
refused()
{
	pattern=$1
	shift
	user_status 125 auxtrace record --source "$source" -o bad "$@" && grep -qE "$pattern" /tmp/said
}

# Of the trace itself, not of names.
has_no_kernel_code()
{
	auxtrace script "$1" > /tmp/script && [ -s /tmp/script ] && ! grep -E 'ffff[0-9a-f]{12}' /tmp/script
}

chmod 1777 /out /tmp
cd /out || exit 1

check "a user cannot open the device" says 'no permission to open /dev/auxtrace' user auxtrace info
chmod 0666 /dev/auxtrace
check "with the device alone nothing is allowed" user_status 1 auxtrace info
check "info says how to change that" grep -q "a number in $parameter" /tmp/said
check "record says the same" refused "the number in $parameter is 0" -- true
# Of selftest: the last line that it said has the reason.
untested_for()
{
	tail -n 1 /tmp/said | grep "^auxtrace could not be tested here: .*$1"
}
check "the self-test fails" user_status 1 auxtrace selftest --quick --source "$source" -o untested.json
check "in its environment alone" grep -xE '0 passed, 1 failed, [0-9]+ skipped' /tmp/said
check "and says why it tests nothing" untested_for "the number in $parameter is 0"
check "and that, in its report" grep '"result": "untested"' untested.json
echo 2 > $parameter
check "then info finds nothing missing" user_status 0 auxtrace info
check "and says what is allowed" grep -q 'user code of own processes can be traced' /tmp/said

check "the self-test leaves out what the user may not do" user_status 0 auxtrace selftest --source "$source" \
	kernel-flow one-shot flow stop-start
check "and does the rest" grep -x '1 passed, 0 failed, 3 skipped' /tmp/said
check "for want of a right or of memory" test "$(grep -cE '^ +(.*(CAP_PERFMON|locked memory))' /tmp/said)" -ge 3

check "record true works" record -o true -- true
check "it says that this is user code only" grep -q 'user code only' /tmp/said
check "and that the areas are smaller than usual" grep -q 'areas of [0-9]* KiB for each CPU are all that this user may lock' /tmp/said
check "its byte counts add up" adds_up true
check "it decodes" decodes true
check "it has no address of the kernel" has_no_kernel_code true
check "the command was followed by ptrace, as perf tells a user nothing" grep -x 'command ptrace' true/followed
check "ls, in a small area" record -o ls -m 256K --data-size 16K -- ls /bin
check "it decodes" decodes ls

# attaches: record -p of a process of the user's
attaches()
{
	user sh -c 'echo $$ > /tmp/number; while :; do :; done' &
	for _ in $(seq 100); do
		[ -s /tmp/number ] && break
		sleep 0.1
	done
	process=$(cat /tmp/number)
	record -o attached -m 64K --data-size 16K --duration 0.2 -p "$process"
	result=$?
	kill "$process"
	return "$result"
}
check "record -p of an own process works" attaches
check "it decodes" decodes attached
check "record -p of a process of root is refused with the reason" refused "process 1 is another user's" -p 1
check "so is record -a" refused 'not all that a CPU runs: choose THREAD or PROCESS' -a -- true
check "so is the kernel" refused 'leave out KERNEL' -k -- true
check "so is to do without ptrace" refused "no-ptrace needs perf's reports" --no-ptrace -- true
check "so are triggers" refused 'triggers need CAP_PERFMON or CAP_SYS_ADMIN' --on syscall:getpid:enter=pause -m 64K -- true

# shares: two sessions at once, on a CPU each, and no third
shares()
{
	for cpu in 0 1; do
		user auxtrace record --source "$source" -o "sleep$cpu" -C "$cpu" -m 64K --data-size 16K -- sleep 1000 &
	done
	for _ in $(seq 100); do
		[ -e sleep0/cpu0.aux ] && [ -e sleep1/cpu1.aux ] && break
		sleep 0.1
	done
	refused 'as many sessions as the administrator allows' -m 64K --data-size 16K -- true
	result=$?
	killall sleep
	wait
	return "$result"
}
check "a third session is one too many" shares

# The README's example.
check "a program records a region of its own" user_status 0 region region
check "it decodes" decodes region
check "it shows the program's functions" grep -q fibonacci /tmp/script
check "and not the kernel's" has_no_kernel_code region

echo 0 > $parameter
check "the administrator forbids it again" refused "the number in $parameter is 0" -- true
exit $failed
