#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest, as suspend.sh SOURCE: the machine sleeps while auxtrace records. perf has dropped its events on the CPU that
# was off meanwhile, and the recorder opens new ones.
# check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

cd /tmp || exit 1
# The machine may need seconds until it sleeps, and the alarm must not come before.
sleeps()
{
	echo deep > /sys/power/mem_sleep && echo +15 > /sys/class/rtc/rtc0/wakealarm && echo mem > /sys/power/state
}

# The recorder, which is stopped, can read none of the processes while it lives.
brief_ones()
{
	kill -STOP "$recorder" && taskset 2 brief 30 > pids && kill -CONT "$recorder" && [ "$(wc -l < pids)" -eq 30 ]
}

# decoded FUNCTION: 30 processes call it
decoded()
{
	n=$(grep -c " u .* $1 " /tmp/script)
	echo "$n calls of $1"
	[ "$n" -eq 30 ]
}

mkfifo ctl ack
exec 3<> ctl 4<> ack
auxtrace record -a -u --source "$1" -m 16M --control fifo:ctl,ack -o slept > /tmp/recorder 2>&1 &
recorder=$!
check "the recorder traces" ask ping
check "the machine sleeps, and wakes up" sleeps
# It wakes up together with the recorder, which is told of that before it is asked.
check "the recorder answers" ask ping
check "processes come and go on the CPU that was off" brief_ones
check "the recording ends" ask stop
check "without an error" wait "$recorder"
check "it says that a CPU was off" grep -x 'cpus_came 1' slept/followed
check "and that the machine slept" grep -x 'sleeps 1' slept/followed
check "each CPU has a gap" test "$(grep -c '^cpu .*gaps_offline 1 ' slept/meta)" -eq 2
check "all is decoded" decodes slept
check "all processes behind the sleep" decoded before_exec
check "and behind their exec" decoded came_and_went
exit "$failed"
