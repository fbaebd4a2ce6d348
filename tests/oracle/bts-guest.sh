#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# bts-guest.sh CPUS ROUNDS: runs in the guest. perf, on the next CPU, records a thread on
# each of the first CPUS CPUs, while QEMU logs.
set -eu
export HOME=/out
cd /out

# Keep this shell, perf and all else off the traced CPUs.
taskset -p "$(printf '%x' $((1 << $1)))" $$ >/dev/null
mkfifo /tmp/control /tmp/ack
exec 3<>/tmp/ack 4<>/tmp/control
: >/tmp/threads
bts-traced "$2" "$1" >/tmp/threads &
traced=$!
until grep -q ready /tmp/threads; do
	sleep 0.1
	kill -0 "$traced"
done
grep -v ready /tmp/threads >threads
threads=$(cut -d ' ' -f 2 threads)
perf record --per-thread -t "$(echo "$threads" | tr '\n' ',' | sed 's/,$//')" -m,16M -D -1 \
	--control fifo:/tmp/control,/tmp/ack -e intel_bts// -o bts.data >bts.log 2>&1 &
recorder=$!
# The log starts before a thread runs and ends after the last, so it has every branch.
echo enable >&4
read -r _ <&3
hostctl log-on
for thread in $threads; do
	kill -CONT "$thread"
done
wait "$traced"
hostctl log-off
# It ends when all threads have ended, or by the signal.
kill -INT "$recorder" 2>/dev/null || true
wait "$recorder" || {
	status=$?
	# 128 + SIGINT
	if [ "$status" -ne 130 ]; then
		cat bts.log
		exit 1
	fi
}
