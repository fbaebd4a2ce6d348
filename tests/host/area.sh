#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs tests/guest/test_area.c on a machine with memory for an AUX area of a gigabyte a
# channel, and with a disk for areas that are written without a copy; and
# tests/guest/test_answer_file.c, which needs a disk, too. --large: memory for an area of four
# gigabytes. --nodes: a machine of three NUMA nodes, of which one has little memory and one
# has none.
#   area.sh [--large | --nodes] [--kernel SERIES]
set -euo pipefail

me=area
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage()
{
	echo "usage: area.sh [--large | --nodes] [--kernel SERIES]" >&2
	exit 2
}

# node ID [SIZE]
node()
{
	machine+=(--emulator-arg -numa --emulator-arg "node,nodeid=$1,cpus=$1${2:+,memdev=m$1}")
	[ -z "$2" ] ||
		machine+=(--emulator-arg -object --emulator-arg "memory-backend-ram,id=m$1,size=$2")
}

# mem: GiB for two areas of a gigabyte and the rest of the guest.
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

# One GiB for QEMU itself.
need_kib=$(((mem + 1) << 20))
have_kib=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
[ "$have_kib" -ge "$need_kib" ] ||
	skip "$((have_kib >> 10)) MiB of memory are available, $((need_kib >> 10)) are needed"
exec "$top/tests/host/run.sh" --kernel "$kernel" "${machine[@]}" --mem "${mem}G" --disk 256M \
	--stock-module ext4 --set AUXTRACE_DISK=/dev/vdb test_area test_answer_file
