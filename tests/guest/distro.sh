#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a full Debian, as the first thing after its boot: it is isolated as Debian ships it,
# and real programs are recorded whole. host/distro.sh decodes what is left in /out. check
# calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

cd /out || exit 1

# whole RECORDING COMMAND...: recorded without a gap
whole()
{
	dir=$1
	shift
	auxtrace record -a -m 64M -o "$dir" -- "$@" || return
	adds_up "$dir" && [ "$(account "$dir" gaps)" -eq 0 ]
}

# The same again while udev still loads modules: their init code has come and gone when the kernel's
# code is read.
without_new_modules()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		modules=$(cut -d ' ' -f 1 /proc/modules)
		rm -rf "$1"
		whole "$@" || return
		[ "$modules" != "$(cut -d ' ' -f 1 /proc/modules)" ] || return 0
		echo "modules were loaded meanwhile"
	done
	return 1
}

not()
{
	! "$@"
}

# Under isolation the page tables of user code are the page after those of the kernel.
two_tables()
{
	task=$(grep -lx "comm $2" "$1"/task.*)
	kernel=$(sed -n 's/^cr3 0x//p' "$task")
	user=$(printf '%x' $((0x$kernel + 0x1000)))
	echo "$task has page tables at $kernel; for user code they should be at $user"
	auxtrace dump "$1" > /tmp/dump
	for table in "$kernel" "$user"; do
		grep -q "pip .*cr3=$table$" /tmp/dump || return
	done
}

check "ls, the first thing after boot" without_new_modules ls ls /
check "decodes here, without an error" decodes ls
check "with functions of the program, of its libraries and of the kernel" \
	test "$(grep -c -e ' u .*(libc.so.6)' -e ' k .*entry_SYSCALL_64' /tmp/script)" -gt 2

check "the system is up, without a service that failed" test "$(systemctl is-system-running --wait)" = running
check "page tables are isolated" grep -qx 'Mitigation: PTI' /sys/devices/system/cpu/vulnerabilities/meltdown
check "which Debian does by itself, as it chooses the kernel's addresses" not grep -qE 'pti|kaslr' /proc/cmdline
check "the trace has a process's tables for the kernel and for user code" two_tables ls ls

printf '#include <stdio.h>\nint main(void) { return printf("%%d\\n", 42) != 3; }\n' > /tmp/hello.c
check "a compiler" whole gcc gcc -O1 -o /tmp/hello /tmp/hello.c
check "has compiled" says '^42$' /tmp/hello
# A region of its own run, and what ran there
python_region()
{
	python3 - <<-'E'
		import auxtrace

		with auxtrace.trace("region", kernel=True):
		    with open("/proc/self/stat", encoding="ascii") as file:
		        file.read()
		with auxtrace.Recording("region") as recording:
		    names = [call.function or "" for call in recording.calls()]
		    print(len(names), "calls,", recording.sum, *recording.messages, sep="\n")
		    assert recording.sum["errors"] == 0 and recording.sum["windows"] >= 1
		for part in "PyObject", "do_sys_openat2", "vfs_read":
		    assert any(part in name for name in names), part
		assert not any("exit_group" in name for name in names)
	E
}

check "Python records a region of its own" python_region
check "an interpreter" whole python3 python3 -c 'import json; print(json.dumps({"42": [42]}))'
check "a database" whole sqlite3 sqlite3 /tmp/db "create table t(a, b); create index i on t(a);
	insert into t values (1, 'x'), (2, 'y'); select * from t where a = 2;"
check "context switches" whole switch stress-ng --switch 1 --switch-ops 200
check "signals" whole signal stress-ng --signal 1 --signal-ops 100
check "forks" whole fork stress-ng --fork 1 --fork-ops 10
check "page faults" whole fault stress-ng --fault 1 --fault-ops 50
check "a BPF tool" whole bpftool bpftool prog show

mkfifo ctl ack
exec 3<> ctl 4<> ack
auxtrace record -S -m 1M --control fifo:ctl,ack -o flight > /tmp/flight 2>&1 &
recorder=$!
check "a flight recorder answers" says '^ack$' ask ping
ls -l /usr/bin > /tmp/ls
check "it writes a snapshot" says '^ack$' ask snapshot
python3 -c 'print(42)'
check "and is stopped" says '^ack$' ask stop
exec 3>&- 4>&-
check "with exit status 0" wait "$recorder"
rm ctl ack
exit "$failed"
