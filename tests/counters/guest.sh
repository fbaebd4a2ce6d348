#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest, a stock kernel with its own perf drivers. Writes what
# tests/counters/run judges to /out.
set -eu
export HOME=/tmp
cd /out

nmis()
{
	awk '$1 == "NMI:" { print $2 }' /proc/interrupts
}

dmesg >boot.log
ls /sys/bus/event_source/devices >devices
case $1 in
counts)
	for _ in 1 2 3; do
		perf stat -x, -e instructions:u,cycles:u,branches:u,ref-cycles:u count 2>>stat.csv
	done
	before=$(nmis)
	perf record -o samples.data -e instructions:u -c 50021 count >samples.log 2>&1
	perf script -i samples.data -F ip 2>/dev/null >samples
	echo "$(($(nmis) - before))" >nmis
	;;
branches)
	perf record --per-thread -m,64M -o bts.data -e intel_bts//u edges >bts.log 2>&1
	perf record --kcore --per-thread -m,64M -o bts-all.data -e intel_bts// edges >bts-all.log 2>&1
	perf record -m,64M -o pt.data -e intel_pt//u edges >pt.log 2>&1
	before=$(nmis)
	perf record --per-thread -m,1M -o bts-small.data -e intel_bts//u edges >bts-small.log 2>&1
	echo "$(($(nmis) - before))" >nmis
	;;
ptwrite)
	status=0
	perf record -o ptw.data -e intel_pt/ptw,fup_on_ptw/u ptw >ptw.log 2>&1 || status=$?
	echo "$status" >ptw.status
	status=0
	ptw || status=$?
	echo "$status" >ptw.plain
	;;
esac
