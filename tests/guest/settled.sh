#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# settled.sh COMMAND...: runs it in a full Debian when nothing of its boot runs any more.
udevadm settle
systemctl is-system-running --wait
sleep 10
exec "$@"
