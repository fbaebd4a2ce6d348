#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AUX areas of a gigabyte for each channel, and areas that are written to a disk
# without a copy: on a machine with the memory and the disk for that. With --large an
# area of four gigabytes; with --nodes areas on a machine of three nodes, of which one
# has little memory and one none.
#   area.sh [--large | --nodes] [--kernel SERIES]
set -euo pipefail

usage()
{
	echo "usage: area.sh [--large | --nodes] [--kernel SERIES]" >&2
	exit 2
}

node()
{
	machine+=(--bench-arg -numa --bench-arg "node,nodeid=$1,cpus=$1${2:+,memdev=m$1}")
	[ -z "$2" ] ||
		machine+=(--bench-arg -object --bench-arg "memory-backend-ram,id=m$1,size=$2")
}

# Two areas of a gigabyte, and what the guest needs besides.
kernel=6.1 machine=(--smp 2) mem=3
while [ $# -gt 0 ]; do
	case $1 in
	--large) mem=6 ;;
	--nodes)
		machine=(--smp 3)
		node 0 2560M
		node 1 512M
		node 2 ''
		;;
	--kernel) [ $# -gt 1 ] || usage
		kernel=$2
		shift ;;
	*) usage ;;
	esac
	shift
done

# And QEMU.
need_kib=$(((mem + 1) << 20))
have_kib=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
if [ "$have_kib" -lt "$need_kib" ]; then
	echo "SKIP: $((have_kib >> 10)) MiB of memory are available here, $((need_kib >> 10)) are needed"
	exit 77
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/run.sh" --kernel "$kernel" "${machine[@]}" --mem "${mem}G" --disk 256M \
	--stock-module ext4 --set AUXTRACE_DISK=/dev/vdb test_area
