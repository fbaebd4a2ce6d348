#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What init.sh does, in a full Debian: a systemd unit runs it when the system is up. ttyS1 is
# the private channel, ttyS2 is for hostctl. The files in /out go to the disk with the
# serial number "out", as a tar archive.

mkdir -p /out
export HOME=/root TMPDIR=/tmp
stty -F /dev/ttyS1 raw -echo
stty -F /dev/ttyS2 raw -echo 2> /dev/null
exec < /dev/null > /dev/ttyS1 2>&1

parameter()
{
	sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

SLOWNESS=$(parameter vm_slowness)
export SLOWNESS

status=0
# load COMMAND DIRECTORY LIST
load()
{
	while read -r module; do
		if ! "$1" "$2$module"; then
			echo "payload-init: $1 $module failed"
			status=125
		fi
	done < "/modules/$3"
}

load modprobe "" stock
load insmod /modules/ order

if [ "$status" = 0 ]; then
	# As scripts/vm has quoted it.
	bash /command
	status=$?
fi

if ! tar -cf /dev/disk/by-id/virtio-out -C /out .; then
	echo "payload-init: /out does not fit on the disk"
	status=125
fi
sync
echo "vm-token $(parameter vm_token) $status"
# Wait until the token has left the UART.
stty -F /dev/ttyS1 raw -echo
poweroff -f -f
