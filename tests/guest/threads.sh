#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: recordings of tests/guest/threads.c and jit.c, for tests/host/threads.sh to judge.
set -e

cd /out
auxtrace record -o command -- threads 20 > command.tids
auxtrace record -u -o user -- threads 20 > user.tids
auxtrace record --data-size 64K -o perf -- threads 20 > perf.tids
auxtrace record --source bts -o branches -- threads 5
auxtrace record --source bts -u -o user-branches -- threads 5
auxtrace record --source bts -u -o user-branches-alone -- threads 5 alone

# For a user who is not root
chmod 0666 /dev/auxtrace
echo 1 > /sys/module/auxtrace/parameters/unprivileged
mkdir -m 0777 others
# shellcheck disable=SC3045
(cd others && ulimit -l 8192 && exec full-setpriv --reuid 1000 --regid 1000 --clear-groups auxtrace record -o own -- threads 20) > own.tids
chmod 0600 /dev/auxtrace
mv others/own .

# A static key, which the kernel switches by patching the code that tests it at each switch of threads
schedstats=/proc/sys/kernel/sched_schedstats
first=$(cat $schedstats)
for value in 1 0 1 0; do
	echo "echo $((first ^ value)) > $schedstats; threads 1"
done > /tmp/patch
auxtrace record -o patched -- sh /tmp/patch

auxtrace record -o dump -- jit dump 10
auxtrace record --ptrace -o map -- jit map 10
# In a shell: the process is not the first one, and not the one whose end ends the recording.
auxtrace record -o followed-map -- sh -c 'jit map 10 100; true'
auxtrace record -u -o user-dump -- jit dump 10

auxtrace record -o unwound -- unwind 5
auxtrace record -u -o user-unwound -- unwind 5

# Beside another process with threads of the same names
threads 1000000 &
auxtrace record -a -m 16M -o all -- threads 60
kill $!

# brief_ones RECORDING OPTION...: 30 processes come and go while the recorder sleeps, so that it can read none of them.
brief_ones()
{
	name=$1
	shift
	rm -f /tmp/runs /tmp/done
	auxtrace record -a -m 16M "$@" -o "$name" -- sh -c 'touch /tmp/runs; until [ -e /tmp/done ]; do sleep 0.1; done' &
	recorder=$!
	until [ -e /tmp/runs ]; do sleep 0.1; done
	kill -STOP $recorder
	brief 30 > "$name.pids"
	kill -CONT $recorder
	touch /tmp/done
	wait $recorder
}
brief_ones brief
brief_ones user-brief -u
brief_ones branches-brief --source bts -u
auxtrace record -o traced -- brief 30 traced > traced.pids

# As many on a CPU that was offline meanwhile. The recorder is told of it before it is asked. Nobody begins a process until it
# has answered: of those on that CPU it would know nothing.
mkfifo /tmp/ask /tmp/answer /tmp/end
rm -f /tmp/runs
# shellcheck disable=SC2016 # the command's shell reads
auxtrace record -a -m 16M --control fifo:/tmp/ask,/tmp/answer -o returned -- sh -c ': > /tmp/runs; read -r line < /tmp/end; echo "$line"' &
recorder=$!
until [ -e /tmp/runs ]; do sleep 0.1; done
echo 0 > /sys/devices/system/cpu/cpu1/online
echo 1 > /sys/devices/system/cpu/cpu1/online
echo ping > /tmp/ask
read -r answer < /tmp/answer
[ "$answer" = ack ]
kill -STOP $recorder
taskset 2 brief 30 > returned.pids
kill -CONT $recorder
echo ended > /tmp/end
wait $recorder
auxtrace record --ptrace -o stopped -- brief 30 > stopped.pids

# Its end comes while the recorder cannot see it begin.
rm -f /tmp/runs /tmp/done
auxtrace record -o lost-map -- sh -c 'touch /tmp/runs; until [ -e /tmp/done ]; do sleep 0.1; done; jit map 10; touch /tmp/gone' 2> lost-map.said &
recorder=$!
until [ -e /tmp/runs ]; do sleep 0.1; done
kill -STOP $recorder
touch /tmp/done
until [ -e /tmp/gone ]; do sleep 0.1; done
kill -CONT $recorder
wait $recorder

auxtrace record -o bpf -- bpf 20
auxtrace record --source bts -o branches-bpf -- bpf 5

# Half of the rounds are in the snapshot, half behind it.
mkfifo /tmp/ctl /tmp/ack
auxtrace record -S --control fifo:/tmp/ctl,/tmp/ack -o flight -- threads 200 /tmp/half /tmp/go &
recorder=$!
until [ -e /tmp/half ]; do sleep 0.1; done
echo snapshot > /tmp/ctl
read -r answer < /tmp/ack
[ "$answer" = ack ]
touch /tmp/go
wait $recorder
