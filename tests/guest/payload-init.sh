#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What init.sh does, in a full Debian: a systemd unit runs it when the system is up.

mkdir -p /out
export HOME=/root TMPDIR=/tmp
# shellcheck source=tests/guest/boot.sh
. /bin/boot.sh

load modprobe "" stock
load insmod /modules/ order

if [ "$status" = 0 ]; then
	# As scripts/vm has quoted it.
	bash /command
	status=$?
fi

save /dev/disk/by-id/virtio-out
end poweroff -f -f
