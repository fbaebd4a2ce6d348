#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Debian's autopkgtest in a full Debian as it ships, on the emulator: it installs the packages with a mirror in place of
# a network, and runs debian/tests of the sources.
#   autopkgtest.sh [--work DIR] [--packages DIR] 11|12|13|sid
# --packages: those of an earlier scripts/deb, instead of new ones.
set -euo pipefail

me=autopkgtest
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/host/mirror.sh
. "$(dirname "${BASH_SOURCE[0]}")/mirror.sh"
options "work packages" "$@"
set -- "${operands[@]}"
[ $# -eq 1 ] || bad_usage
case $1 in
11) name=bullseye ;;
12) name=bookworm ;;
13) name=trixie ;;
sid) name=sid ;;
*) bad_usage ;;
esac
debian "$1"
packages dpkg-dev
work_directory

our_packages "$name"
mirror "$name" "linux-headers-${release:?}" autopkgtest dpkg-dev gcc libc6-dev pkgconf
cp "$debs"/*.dsc "$debs"/*.tar.* "$work/packages/"

status=0
"$top/scripts/vm" --distro "$1" --smp 2 --mem 2G --timeout 4800 --work "$work/vm" --out "$work/out" \
	--file "$work/mirror:/srv/mirror" --file "$work/packages:/root/auxtrace" \
	--file "$top/tests/guest/lib/check.sh" --file "$top/tests/guest/lib/use-mirror.sh" \
	--file "$top/tests/guest/autopkgtest.sh" -- bash /bin/autopkgtest.sh || status=$?
[ "$status" -ne 77 ] || skip "the guest cannot run it"
verdict "Debian $1: autopkgtest" [ "$status" -eq 0 ]
verdicts_end
