#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# flow-guest.sh CPUS ROUNDS EVENT SECONDS: runs in the guest. perf, on the next CPU, records
# EVENT on the first CPUS CPUs, while the workload runs there and QEMU logs, and SECONDS more.
set -eu
export HOME=/out
cd /out
last=$(($1 - 1))

# Keep this shell, perf and all else off the traced CPUs.
taskset -p "$(printf '%x' $((1 << $1)))" $$ >/dev/null
# The vdso is no file, and not each version of perf keeps a copy. It is the same in all processes.
range=$(sed -n 's/^\([0-9a-f]*\)-\([0-9a-f]*\) .*\[vdso\]$/0x\1 0x\2/p' "/proc/$$/maps")
begin=${range% *} end=${range#* }
dd if="/proc/$$/mem" of=vdso bs=4096 skip=$((begin / 4096)) count=$(((end - begin) / 4096))
# An event kept open, so that the kernel's static branches have their final state.
perf stat -o /dev/null -a -C "0-$last" -e instructions sh -c ': >/tmp/counted; exec sleep 100000' &
keeper=$!
until [ -e /tmp/counted ]; do
	sleep 0.1
	kill -0 "$keeper"
done
# The log starts before the trace and ends after it, so it has every traced instruction.
cat >/tmp/traced-with-log <<-END
	set -e
	exec 3<>/tmp/ack
	hostctl log-on
	echo enable >/tmp/control
	read -r said <&3
	traced $2 $1
	sleep $4
	echo disable >/tmp/control
	read -r said <&3
	hostctl log-off
END
mkfifo /tmp/control /tmp/ack
perf record --kcore -C "0-$last" -m,8M -D -1 --control fifo:/tmp/control,/tmp/ack \
	-e "$3" -o flow.data sh /tmp/traced-with-log >flow.log 2>&1 || {
	cat flow.log
	exit 1
}
kill "$keeper"
