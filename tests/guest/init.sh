#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# PID 1 of a test VM. ttyS0 is the kernel's console, which is only logged. ttyS1 is the
# private channel: the command's output, and at its end the token that scripts/vm waits for,
# with the command's exit status. ttyS2 is for hostctl. The files in /out go to the first
# disk, as a tar archive.

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /tmp
mount -t tmpfs -o size=75% tmpfs /out
mount -t tmpfs tmpfs /dev/shm
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
ip link set lo up 2>/dev/null
export PATH=/bin HOME=/root TMPDIR=/tmp
stty -F /dev/ttyS1 raw -echo
stty -F /dev/ttyS2 raw -echo 2>/dev/null
exec < /dev/null > /dev/ttyS1 2>&1

parameter()
{
	sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

# How much longer than on a stock kernel all may take.
SLOWNESS=$(parameter vm_slowness)
export SLOWNESS

status=0
load()
{
	while read -r module; do
		if ! insmod "/modules/$module"; then
			echo "init: insmod $module failed"
			status=125
		fi
	done < "/modules/$1"
}

load order

if [ "$status" = 0 ]; then
	sh /command
	status=$?
fi

# What a kernel that checks itself found, and tells only if it is asked.
fault()
{
	echo "init: $*"
	status=125
}

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

load disk
if [ -b /dev/vda ] && ! tar -cf /dev/vda -C /out .; then
	echo "init: /out does not fit on the disk"
	status=125
fi
sync
echo "vm-token $(parameter vm_token) $status"
# Wait until the token has left the UART.
stty -F /dev/ttyS1 raw -echo
poweroff -f
