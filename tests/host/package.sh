#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages of packaging/: built by Debian's rpmbuild or makepkg with Debian's libraries, and installed and removed
# again in the same Debian, by tests/host/rpm-built or arch-built. Whether a distribution that uses them has the packages
# that ours name, nobody checks here. hand: without a package, by the lines of README (tests/host/hand-built).
#   package.sh [--work DIR] rpm|arch|hand
set -euo pipefail
me=package
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

options "work" "$@"
kind=${operands[0]-}
case $kind in
rpm) tools=(rpm rpmlint) ;;
arch) tools=(makepkg pacman-package-manager libarchive-tools zstd) ;;
hand) tools=(openssl systemd) ;;
*) bad_usage ;;
esac
[ ${#operands[@]} -eq 1 ] || bad_usage
[ "$(id -u)" = 0 ] || skip "only root can make a Debian root"
packages git
work_directory

version=$(cat "$top/VERSION")
eval "$("$top/scripts/kernel" 6.1 release)"
mapfile -t depends < <("$top/scripts/build-depends")
status=0
root=$("$top/scripts/debian-root" bookworm "$kind" buildd "${depends[@]}" dkms kmod "linux-headers-${release:?}" \
	"${tools[@]}") || status=$?
[ "$status" -eq 0 ] || { echo "package: no Debian to build them in"; exit 1; }

git -C "$top" archive --format=tar.gz --prefix="auxtrace-$version/" -o "$work/auxtrace-$version.tar.gz" HEAD
[ "$kind" = hand ] || cp "$top/packaging/$kind"/* "$work/"
cp "$top/tests/guest/lib/check.sh" "$top/tests/host/built.sh" "$top/tests/host/$kind-built" "$work/"
"$top/scripts/in-root" "$root" "$work:/mnt" -- "/mnt/$kind-built" "$release" || status=$?
[ "$status" -ne 77 ] || skip "no such namespaces"
exit "$status"
