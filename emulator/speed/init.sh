#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# PID 1 of emulator/overhead's guest: reports the end of boot, then does the work
# that speed= on the kernel's command line names.
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
export PATH=/bin HOME=/tmp
cd /tmp || exit
exec </dev/null >/dev/ttyS0 2>&1
echo
echo mark boot end
read -r _ </dev/ttyS0
case $(cat /proc/cmdline) in
*speed=off*)
	work loop 400000000 loop
	;;
*speed=smp*)
	# CPU 1 is always busy; the measured loop runs on CPU 0.
	taskset 2 work branchy 0 other &
	taskset 1 work loop 400000000 alone
	perf record -o pt.data -m,4M -S -C 1 -e intel_pt// taskset 1 work loop 400000000 beside
	ls -l pt.data
	;;
*speed=on*)
	# perf's snapshot mode: traces continuously and reads nothing meanwhile.
	perf record -o none.data -e dummy:u work branchy 60000000 none
	perf record -o pt.data -m,4M -S -e intel_pt// work branchy 60000000 pt
	perf record -o bts.data --per-thread -m,4M -S -e intel_bts// work branchy 60000000 bts
	ls -l ./*.data
	;;
esac
poweroff -f
