#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A full Debian, as it ships: systemd, its own kernel and initrd, page tables isolated, the
# kernel at random addresses. tests/guest/distro.sh records there; here all of it is decoded.
#   distro.sh [SUITE]    as in scripts/distro (default 12)
set -euo pipefail

me=distro
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ $# -le 1 ] || bad_usage
suite=${1:-12}
debian "$suite"
vm_prepare "${series:?}"
work_directory
mapfile -t files < <(guest_script distro.sh)

status=0
"$top/scripts/vm" --distro "$suite" --smp 2 --mem 2G --timeout 1800 --work "$work/vm" --out "$work/out" \
	"${files[@]}" --file "$build/userlib/libauxtrace.so.0:/usr/lib/x86_64-linux-gnu/libauxtrace.so.0" \
	--file "$build/decodelib/libauxtrace-decode.so.0:/usr/lib/x86_64-linux-gnu/libauxtrace-decode.so.0" \
	--file "$top/python/auxtrace.py:/usr/lib/python3/dist-packages/auxtrace.py" \
	-- distro.sh || status=$?
verdict "Debian $suite: what is checked in the guest" [ "$status" -eq 0 ]
[ -d "$work/out" ] || exit 1
symfs=$(debian_files "$work")

decodes()
{
	"$build/tools/auxtrace" script --symfs "$symfs" "$1" > "$work/script" 2> "$work/summary" &&
		grep -q 'decode errors: 0;' "$work/summary" && return
	cat "$work/summary"
	"$build/tools/auxtrace" script --errors --symfs "$symfs" "$1" 2> "$work/summary" | sed -n 1,20p
	sed -n 1,20p "$1/kcore.changes"
	return 1
}

count=0
for meta in "$work"/out/*/meta "$work"/out/flight/snapshot.*/meta; do
	recording=${meta%/meta}
	verdict "${recording#"$work/out/"} decodes: $(wc -c < "$recording/cpu0.aux") and $(wc -c < "$recording/cpu1.aux") bytes" \
		decodes "$recording"
	count=$((count + 1))
done
verdict "all $count recordings were decoded" [ "$count" -eq 12 ]
verdict "the kernel is at random addresses: $(grep ' _stext$' "$work/out/ls/kallsyms")" \
	random_addresses "$work/out/ls"
verdicts_end
