#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest, with two CPUs and an empty disk, /dev/vdb: recordings that are
# controlled from outside, what happens when the area is full, and how trace is written to a
# disk. check calls the functions; single quotes are for other shells; this one is busybox's.
# shellcheck disable=SC2016,SC2317,SC3045

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

# figure RECORDING WORD [CPU]: a value of the CPU's line in meta; CPU 1 by default.
figure()
{
	sed -n "s/^cpu ${3:-1} .*\b$2 \([0-9]*\).*/\1/p" "$1/meta"
}

# figures DIR WORD TEST VALUE, as in: figures full windows -ge 2
figures()
{
	value=$(figure "$1" "$2")
	echo "$1: $2 $value, expected $3 $4"
	test "$value" "$3" "$4"
}

# holds_trace RECORDING: it has trace, which decodes.
holds_trace()
{
	figures "$1" read -gt 0 && decodes "$1" && grep -q ' [uk] ' /tmp/script
}

# begin COMMAND...: starts it in the background.
begin()
{
	"$@" > /tmp/recorder 2>&1 &
	recorder=$!
}

# ended: the command that begin started ends with status 0.
ended()
{
	wait "$recorder"
	result=$?
	cat /tmp/recorder
	echo "exit status $result"
	[ "$result" -eq 0 ]
}

# appears TEST FILE, as in: appears -S sock. Within a minute, while the recorder runs.
appears()
{
	for try in $(seq 600); do
		! test "$1" "$2" || return 0
		kill -0 "$recorder" || break
		sleep 0.1
	done
	cat /tmp/recorder
	return 1
}

# Something to trace on CPU 1.
taskset 2 sh -c 'while :; do ls -l /bin > /dev/null; done' &
work=$!
cd /out || exit 1

# ---- a flight recorder driven by FIFOs ------------------------------------------

mkfifo ctl ack
exec 3<> ctl 4<> ack
begin auxtrace record -S -m 128K -C 1 --control fifo:ctl,ack -o flight
check "ping is answered" says '^ack$' ask ping
check "status says that it runs" says '^status state=started channels=1 running=1 .* snapshots=0$' ask status
check "and is acknowledged" grep -q '^ack$' /tmp/said
check "a snapshot is acknowledged" says '^ack$' ask snapshot
check "and is there by then" test -s flight/snapshot.0001/meta
check "tracing continued at once" figures flight/snapshot.0001 inhibit -eq 0
check "pause is acknowledged" says '^ack$' ask pause
check "status says so" says ' running=0 .* snapshots=1$' ask status
cp /tmp/said /tmp/paused
check "a snapshot of a paused recorder" says '^ack$' ask snapshot
check "is one: AUXTRACE_INHIBIT_USER" figures flight/snapshot.0002 inhibit -eq 1
check "nothing was produced meanwhile" says \
	"$(grep -o ' produced=[0-9]* ' /tmp/paused || echo 'it said nothing')" ask status
check "resume is acknowledged" says '^ack$' ask resume
check "status says so" says ' running=1 ' ask status
sleep 1
check "a third snapshot" says '^ack$' ask snapshot
check "has a window after those of the second" figures flight/snapshot.0003 windows -gt \
	"$(figure flight/snapshot.0002 windows)"
check "an unknown command is an error that lists the known ones" says \
	'^error: unknown command "nonsense"; .*pause, resume, snapshot' ask nonsense
check "perf's words are known" says '^ack$' ask disable
check "stop is acknowledged" says '^ack$' ask stop
check "when the recording is complete" test -s flight/meta
check "the recorder ended with status 0" ended
check "there are three snapshots and no more" test ! -e flight/snapshot.0004
kill $work
for part in flight/snapshot.0001 flight/snapshot.0002 flight/snapshot.0003 flight; do
	check "$part decodes" holds_trace $part
done
exec 3>&- 4>&-

# ---- the same by a socket, and by inherited descriptors --------------------------

begin auxtrace record -S -m 64K -C 1 --control sock -o socket
check "the recorder has a socket" appears -S sock
check "the socket is accessible to its owner only" test "$(stat -c %a sock)" = 600
taskset 2 ls -l /bin > /tmp/ls
check "a socket answers many commands" says '^status state=started .* snapshots=1$' \
	python3 /bin/ask.py sock ping pause snapshot status
check "each of them" test "$(grep -c '^ack$' /tmp/said)" -eq 4
check "and those of another client; an unknown command is an error there, too" says '^error: unknown command "nonsense"' \
	python3 /bin/ask.py sock resume nonsense
check "a socket that is in use is not replaced" says 'another process listens at sock' \
	auxtrace record -C 0 --control sock -o other
check "stop by the socket" says '^ack$' python3 /bin/ask.py sock stop
check "the recorder ended with status 0" ended
check "the socket is gone" test ! -e sock
check "its snapshot decodes" holds_trace socket/snapshot.0001

exec 3<> ctl 4<> ack
begin auxtrace record -u -m 64K -C 1 --control fd:3,4 -o inherited
check "inherited descriptors" says '^ack$' ask ping
check "accept stop as well" says '^ack$' ask stop
check "which ends it" ended
exec 3>&- 4>&-

# ---- the options of the service's example -------------------------------------------

# shellcheck disable=SC2046 # options
begin auxtrace record -S --control sock -o example $(sed -n 's/^OPTIONS=//p' /bin/example.conf)
check "the recorder has a socket" appears -S sock
check "the example of a configuration records" says '^ack$' python3 /bin/ask.py sock ping
check "until it is stopped" says '^ack$' python3 /bin/ask.py sock stop
check "without an error" ended
check "an oops would have frozen it" grep 'kprobe:oops_enter=freeze' example/meta
check "what it traced decodes" holds_trace example

begin auxtrace record -S -m 64K --control sock -o frozen --on kprobe:__x64_sys_sethostname=freeze,hold-off=1s
check "the recorder has a socket" appears -S sock
check "and records" says '^ack$' python3 /bin/ask.py sock ping
hostname "$(hostname)"
check "an event makes a snapshot" appears -s frozen/snapshot.0001/meta
check "and recording goes on" says '^ack$' python3 /bin/ask.py sock stop
check "without an error" ended
check "the recorder says which event it was" \
	grep 'frozen by trigger 1, kprobe:__x64_sys_sethostname=freeze' /tmp/recorder
check "the snapshot decodes" holds_trace frozen/snapshot.0001
check "up to the event" has ' k +__x64_sys_sethostname'

# ---- SIGUSR2 ----------------------------------------------------------------------

# Signals do not queue, so each is sent only after the snapshot before it was written. The
# script waits for that on CPU 0, which is not traced, so waiting does not fill the slots.
cat > snaps.sh <<'SH'
for i in 1 2 3; do
	ls -l / > /dev/null
	kill -USR2 $PPID
	taskset -p 1 $$ > /dev/null
	until [ -s "$1/snapshot.000$i/meta" ]; do sleep 0.1; done
	taskset -p 2 $$ > /dev/null
done
SH
for slots in 1 4; do
	dir=slots$slots
	check "SIGUSR2 with $slots slots" auxtrace record -S -a -u --slots $slots -m 256K -C 1 \
		-o $dir -- sh snaps.sh $dir
	for part in $dir/snapshot.0001 $dir/snapshot.0002 $dir/snapshot.0003 $dir; do
		check "$part decodes" holds_trace "$part"
	done
	check "there is no fourth" test ! -e $dir/snapshot.0004
done
check "with one slot tracing is paused while it is written" figures slots1/snapshot.0001 inhibit -eq 1
check "with more slots it is not" figures slots4/snapshot.0001 inhibit -eq 0
for n in 1 2; do
	check "nothing is missing: the slots are larger than the trace between snapshots" \
		figures slots4/snapshot.000$((n + 1)) begin -eq "$(figure slots4/snapshot.000$n produced)"
done
# Of two pending signals the kernel delivers the lower number first, so each signal is sent
# only after the one before was taken. In the mask of pending signals the third and fourth
# digit from the right are signals 9 to 16. grep needs a fork, which the recorder, this
# shell's tracer, has to handle; by then it has taken the signal.
cat > signals.sh <<'SH'
signal()
{
	kill -"$1" $PPID
	until grep -q '^ShdPnd:.*00..$' "/proc/$PPID/status"; do sleep 0.1; done
}
SH
cat > usr.sh <<'SH'
. /out/signals.sh
signal USR2
ls -l / > /dev/null
signal USR1
ls -l / > /dev/null
SH
# Of all that the CPU runs: else each turn of the command is a window.
check "SIGUSR2 without -S pauses" auxtrace record -a -u -m 64K -C 1 -o paused -- sh usr.sh
check "and SIGUSR1 begins a second window" figures paused windows -eq 2

# ---- a full area ------------------------------------------------------------------

# While the recorder is stopped nothing makes space in the area. The script starts no program
# meanwhile: the recorder is its tracer. Each SIGPIPE, which the recorder ignores, makes it
# pass its poll(2) once: it finds the area full, moves the tail, and poll(2) takes the tail.
cat > fill.sh <<'SH'
. /out/signals.sh
kill -STOP $PPID
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); done
until [ ! -e watched ] || [ -s taken ]; do :; done
kill -CONT $PPID
signal PIPE
signal PIPE
signal PIPE
[ $# -eq 0 ] || signal "$1"
ls / > /dev/null
SH
check "--full=wait" auxtrace record -a -u -m 16K -C 1 -o wait -- sh fill.sh
check "lost trace and counts it" figures wait gaps_full -ge 1
check "and continued" figures wait windows -ge 2
# taken: the bytes that the stopped recorder has written; its tail is not behind them.
: > watched
until grep -qs '^State:.*T' "/proc/$(pidof auxtrace)/status"; do sleep 0.01; done &&
	wc -c < stop/cpu1.aux > taken &
check "--full=stop" auxtrace record -a --full=stop -u -m 16K -C 1 -o stop -- sh fill.sh
wait $!
rm watched
check "one gap" figures stop gaps_full -eq 1
check "and nothing after it" figures stop windows -eq 1
check "at most an area's size beyond what was taken" figures stop produced -le $((16384 + $(cat taken)))
check "--full=stop, and SIGUSR1" auxtrace record -a --full=stop -u -m 16K -C 1 -o usr1 -- sh fill.sh USR1
check "begins a second window" figures usr1 windows -eq 2
check "--full=auto --data-backward" auxtrace record -a --full=auto --data-backward -u -m 16K -C 1 \
	-o auto -- sh fill.sh
check "lost trace and counts it" figures auto gaps_full -ge 1
check "and continued" figures auto windows -ge 2
check "the backward ring has a record of each window" test \
	"$(auxtrace dump --records auto | grep -c ' window ')" -eq "$(figure auto windows)"
for part in wait stop usr1 auto; do
	check "the byte counts of $part add up" adds_up $part
	check "$part decodes" holds_trace $part
done

# ---- a disk -----------------------------------------------------------------------

check "a file system on /dev/vdb" mke2fs /dev/vdb
mkdir -p /mnt
check "mounted by ext4" mount -t ext4 /dev/vdb /mnt
cd /mnt || exit 1
check "record to it" auxtrace record -C 1 -m 64K -o full -- ls -l /
check "O_DIRECT and io_uring are used" grep -q '^aux_write direct io_uring$' full/meta
check "its byte counts add up" adds_up full
check "it decodes" holds_trace full
check "snapshots to it" auxtrace record -S -u -m 64K -C 1 -o flight -- sh /out/snaps.sh flight
check "are written the same way" grep -q '^aux_write direct io_uring$' flight/snapshot.0002/meta
check "and decode" holds_trace flight/snapshot.0002
cd /out || exit 1
check "the disk can be unmounted" umount /mnt

# ---- the raw ioctls from Python ------------------------------------------------------

# The second and third window have more trace than the one before; the area begins with PSB.
check "examples/control.py" says '^window 3: ' python3 /bin/control.py
check "shows growing windows that begin with PSB" awk '
	/^window/ && $2 == NR ":" && $3 > last && $NF == "02820282028202820282028202820282" { last = $3; n++ }
	END { exit n != 3 }' /tmp/said
exit $failed
