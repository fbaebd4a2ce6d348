#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The package auxtrace-emulator: built in a clean Debian, twice in different places with the same bytes, and installed in
# another beside Debian's own QEMU, where it boots a stock kernel for a user without rights.
#   deb-emulator.sh [--suite bookworm|trixie|sid] [--work DIR]
set -euo pipefail
me=deb-emulator
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

suite=bookworm
options "suite work" "$@"
[ ${#operands[@]} -eq 0 ] || bad_usage
[ "$(id -u)" = 0 ] || skip "only root can make a Debian root"
work_directory

# The package, in $work/first
build()
{
	local status=0

	"$top/scripts/deb" --emulator --out "$work/first" "$suite" > "$work/first.log" 2>&1 || status=$?
	[ "$status" -ne 77 ] || skip "$(tail -n 1 "$work/first.log")"
	[ "$status" -eq 0 ] || { tail -n 60 "$work/first.log"; return 1; }
}

# By the Makefile, and with the others
build_again()
{
	make --no-print-directory -C "$top" deb SUITE="$suite" \
		DEBFLAGS="--no-check --in /home/somebody/deeper" > "$work/second.log" 2>&1 ||
		{ tail -n 60 "$work/second.log"; return 1; }
}

others()
{
	local package

	while read -r package; do
		ls "$build/deb/$suite/${package}"_*.deb || return 1
	done < <(sed -n 's/^Package: //p' "$top/debian/control")
}

same()
{
	local file

	while read -r file; do
		cmp "$work/first/$file" "$build/deb-emulator/$suite/$file" || return 1
	done < <(cd "$work/first" && find . -name '*.deb')
}

verdict "the package is built, and lintian finds no error and no warning" build
[ "$failures" -eq 0 ] || verdicts_end
verdict "make deb builds it again, elsewhere and later" build_again
verdict "and all packages of debian/control" others
verdict "both builds have the same bytes" same

rm -rf "$work/debs"
mkdir "$work/debs"
cp "$work"/first/*.deb "$work/debs/"
mapfile -t depends < <(dpkg-deb -f "$work"/debs/*.deb Depends | tr ',' '\n' | sed -E 's/^ *([^ |(]*).*/\1/')
status=0
root=$("$top/scripts/debian-root" "$suite" deb-install-emulator apt "${depends[@]}" qemu-system-x86 man-db) || status=$?
[ "$status" -eq 0 ] || { echo "deb-emulator: no Debian to install it in"; exit 1; }

eval "$("$top/scripts/kernel" 6.1 image)"
cp "${vmlinuz:?}" "$work/vmlinuz"
# shellcheck disable=SC2016 # the guest's
printf '%s\n' '#!/bin/sh' 'mount -t sysfs sysfs /sys' 'mount -t proc proc /proc' \
	'for pmu in intel_pt intel_bts; do echo "guest: $pmu $(cat /sys/bus/event_source/devices/$pmu/type)"; done' \
	'grep "^model name" /proc/cpuinfo' 'poweroff -f' > "$work/init"
"$top/scripts/initramfs" "$work/initramfs" "$work/init"
cp "$top/tests/guest/lib/check.sh" "$top/tests/host/deb-files.sh" "$top/tests/host/deb-emulator-installed" "$work/"
status=0
"$top/scripts/in-root" "$root" "$work:/mnt" -- /mnt/deb-emulator-installed || status=$?
[ "$status" -ne 77 ] || skip "no such namespaces"
[ "$status" -eq 0 ] || failures=$((failures + 1))
verdicts_end
