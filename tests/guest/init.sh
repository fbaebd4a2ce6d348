#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# PID 1 of a test VM. ttyS0 is the kernel's console, which is only logged; boot.sh says what the
# others are.

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /tmp
mount -t tmpfs -o size=75% tmpfs /out
mount -t tmpfs tmpfs /dev/shm
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
# As every distribution does: there the kernel says whether it is locked down.
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
ip link set lo up 2>/dev/null
export PATH=/bin HOME=/root TMPDIR=/tmp
# shellcheck source=tests/guest/boot.sh
. /bin/boot.sh

load insmod /modules/ order

if [ "$status" = 0 ]; then
	sh /command
	status=$?
fi

# What a kernel that checks itself found, and tells only if it is asked.
lockdep_is_on()
{
	[ ! -e /proc/lockdep_stats ] || grep -q '^ *debug_locks: *1$' /proc/lockdep_stats
}

# What is allocated, and that nothing points to. A module's own data points to nothing when
# it is unloaded. kmemleak does not report what is younger than 5 s, nor what changed since
# it was last scanned.
no_leaks()
{
	leaks=/sys/kernel/debug/kmemleak

	[ -e "$leaks" ] || return 0
	if [ -d /sys/module/auxtrace ] && ! rmmod auxtrace; then
		fault "the module is in use at the end"
	fi
	sleep 6
	for scan in first second; do
		echo scan > "$leaks" || fault "kmemleak turned itself off before the $scan scan"
	done
	head -n 60 "$leaks" > /tmp/leaks
	if [ -s /tmp/leaks ]; then
		cat /tmp/leaks
		fault "kmemleak found leaks"
	fi
}

lockdep_is_on || fault "lockdep turned itself off"
no_leaks

load insmod /modules/ disk
[ ! -b /dev/vda ] || save /dev/vda
# Power cannot be turned off behind a sleep in S3 here; -no-reboot makes a reset the end.
how=$(parameter vm_end)
end "${how:-poweroff}" -f
