#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest: the kernel's own intel_pt driver and its perf record three
# programs' worth of trace into /out. Nothing of ours has a part in it but the
# program that is traced.
set -eu

# perf keeps the vdso of the guest in its build-id cache, for the host to read.
export HOME=/out
cd /out

if [ ! -d /sys/bus/event_source/devices/intel_pt ]; then
	echo "the guest's kernel has registered no intel_pt"
	exit 1
fi
dmesg | grep 'Performance Events' || true

pmis()
{
	awk '$1 == "PMI:" { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i; print n + 0 }' \
		/proc/interrupts
}

record()
{
	name=$1
	shift
	if ! perf record -o "$name.data" "$@" >"$name.log" 2>&1; then
		echo "perf record $* failed:"
		cat "$name.log"
		exit 1
	fi
}

# A task event kept open: the kernel's code then has its final static branches
# before perf copies it.
perf stat -o /dev/null -e instructions sleep 1000 &
keeper=$!
sleep 0.2

record user -e intel_pt//u traced 24
record kernel --kcore -e intel_pt// traced 4
record system --kcore -a -m,8M -e intel_pt// traced 4
before=$(pmis)
# Small enough to be filled several times, large enough for perf to keep up.
record pmi --kcore -m,32 -e intel_pt// traced 10
echo "$(($(pmis) - before))" > pmi.count
kill "$keeper"
