#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hibernates a stock kernel while a session traces: tests/guest/test_hibernate.c.
#   hibernate.sh [--kernel SERIES] [--module FILE] [--source pt|bts] [--work DIR]
#                [once | twice]...
#   once    the kernel restores itself in the same boot; kernels before 6.4 cannot
#   twice   the second boot loads the image, while it traces, too
set -euo pipefail

me=hibernate
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel=6.1 module='' source=pt keep=''
options 'kernel module source work' "$@"
[ ${#operands[@]} -gt 0 ] || operands=(once twice)
work_directory

# boot MODE OPTION...
boot()
{
	local mode=$1

	shift
	"$top/tests/host/run.sh" --kernel "$kernel" ${module:+--module "$module"} --source "$source" --smp 2 --mem 512M --limit 600 \
		--set AUXTRACE_SWAP=/dev/vdb --set AUXTRACE_HIBERNATE="$mode" "$@" test_hibernate
}

twice()
{
	local status=0 disk=$work/swap token

	token=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
	rm -f "$disk"
	truncate -s 1G "$disk"
	boot shutdown --disk-file "$disk" --token "$token" --work "$work/first" > "$work/said" 2>&1 || status=$?
	if [ "$status" -eq 77 ]; then
		cat "$work/said"
		return 77
	fi
	if [ "$status" -ne 124 ] || ! grep -q 'Power down' "$work/first/console.log"; then
		cat "$work/said"
		echo "hibernate: the first boot did not hibernate (status $status)"
		return 1
	fi
	# Without vm's lines, for which the machine was lost.
	grep -v '^vm: ' "$work/said"
	# The program goes on where it was: it does not begin once more.
	boot restore --disk-file "$disk" --token "$token" --work "$work/second" |
		sed '0,/^== test_hibernate$/{ /^== test_hibernate$/d }'
}

for how in "${operands[@]}"; do
	echo "-- $how"
	case $how in
	once) part boot test_resume --disk 1G ;;
	twice) part twice ;;
	*) bad_usage ;;
	esac
done
verdicts_end
