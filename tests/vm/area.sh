#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AUX areas of a gigabyte for each channel, and areas that are written to a disk
# without a copy: on a machine with the memory and the disk for that.
#   area.sh [--kernel SERIES]
set -euo pipefail

usage()
{
	echo "usage: area.sh [--kernel SERIES]" >&2
	exit 2
}

kernel=6.1
case $# in
0) ;;
2) [ "$1" = --kernel ] || usage
	kernel=$2 ;;
*) usage ;;
esac

# Two areas of a gigabyte, and what the guest and QEMU need besides.
need_kib=$((4 << 20))
have_kib=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
if [ "$have_kib" -lt "$need_kib" ]; then
	echo "SKIP: $((have_kib >> 10)) MiB of memory are available here, $((need_kib >> 10)) are needed"
	exit 77
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/run.sh" --kernel "$kernel" --smp 2 --mem 3G --disk 256M --stock-module ext4 \
	--limit 180 --set AUXTRACE_DISK=/dev/vdb test_area
