#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Debian packages: built in a clean Debian, twice in different places with the same bytes, and
# installed in another, where tests/host/deb-installed looks at them. The modules that DKMS builds there are
# then loaded by their kernels, on the emulator (tests/guest/deb-kernel.sh).
#   deb.sh [--suite bullseye|bookworm|trixie|sid] [--work DIR]
set -euo pipefail
me=deb
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

suite=bookworm
options "suite work" "$@"
[ ${#operands[@]} -eq 0 ] || bad_usage
# The kernels that the suite's users have, as scripts/kernel names them
case $suite in
# It has ended: the files of its 6.1, which were in its security suite, are gone.
bullseye) kernels="bullseye:amd64 bullseye:rt-amd64" ;;
bookworm) kernels="bookworm:amd64 bookworm:rt-amd64 bookworm:6.12-amd64 bookworm:6.12-rt-amd64 bookworm-backports:amd64 bookworm-backports:rt-amd64" ;;
trixie) kernels="trixie:amd64 trixie:rt-amd64 trixie-backports:amd64 trixie-backports:rt-amd64" ;;
sid) kernels="sid:amd64 sid:rt-amd64" ;;
*) bad_usage ;;
esac
[ "$(id -u)" = 0 ] || skip "only root can make a Debian root"
work_directory

# The packages, in $work/first
build()
{
	local status=0

	"$top/scripts/deb" --out "$work/first" "$suite" > "$work/first.log" 2>&1 || status=$?
	[ "$status" -ne 77 ] || skip "$(tail -n 1 "$work/first.log")"
	[ "$status" -eq 0 ] || { tail -n 60 "$work/first.log"; return 1; }
}

# In $work/second, by the Makefile, with another umask
build_again()
(
	umask 002
	make --no-print-directory -C "$top" deb-auxtrace SUITE="$suite" \
		DEBFLAGS="--out $work/second --no-check --in /home/somebody/deeper" > "$work/second.log" 2>&1 ||
		{ tail -n 60 "$work/second.log"; return 1; }
)

same()
{
	local file

	for file in "$work"/first/*.deb "$work"/first/debug/*.deb "$work"/first/*.dsc "$work"/first/*.tar.*; do
		cmp "$file" "$work/second/${file#"$work/first/"}" || return 1
	done
}

# What a person installs by *.deb is what the tests install.
apart()
{
	! ls "$work"/first/*-dbgsym_*.deb 2> /dev/null && ls "$work"/first/debug/libauxtrace0-dbgsym_*.deb
}

verdict "the packages are built, and lintian finds no error and no warning" build
[ "$failures" -eq 0 ] || verdicts_end
grep -aE '^[OIP]: ' "$work/first.log" || true
verdict "make deb-auxtrace builds them again, elsewhere and later" build_again
verdict "both builds have the same bytes" same
verdict "debug information is in a directory of its own" apart

# What they depend on, without our own, and what the checks need.
rm -rf "$work/debs" "$work/built"
mkdir "$work/debs"
cp "$work"/first/*.deb "$work/debs/"
mapfile -t depends < <(for deb in "$work"/debs/*.deb; do
	dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed -E 's/^ *([^ |(]*).*/\1/'
done | grep -vxE '(lib)?auxtrace.*' | sort -u)
headers=()
for kernel in $kernels; do
	eval "$("$top/scripts/kernel" "$kernel" release)"
	package=linux-headers-${release:?}
	# apt finds those of the suite itself in its security suite as well.
	[ "${kernel%:*}" = "$suite" ] || package+=/${kernel%:*}
	headers+=("$package")
done
status=0
root=$("$top/scripts/debian-root" "$suite" deb-install apt "${depends[@]}" "${headers[@]}" \
	openssl systemd udev man-db bash-completion fish zsh mount gcc libc6-dev pkg-config) || status=$?
[ "$status" -eq 0 ] || { echo "deb: no Debian to install them in"; exit 1; }

cp "$top/tests/guest/lib/check.sh" "$top/tests/host/deb-files.sh" "$top/tests/host/deb-installed" "$top/tests/completion.sh" "$work/"
status=0
"$top/scripts/in-root" "$root" "$work:/mnt" -- /mnt/deb-installed || status=$?
[ "$status" -ne 77 ] || skip "no such namespaces"
[ "$status" -eq 0 ] || failures=$((failures + 1))

# boot KERNEL RELEASE: with DKMS's module for it
boot()
{
	local release=$2 status=0

	"$top/scripts/vm" --kernel "$1" --timeout 240 --work "$work/$release" --out "$work/$release/out" \
		--module "$work/built/$release/auxtrace.ko" --file "$build/tools/auxtrace" --file "$top/tests/guest/lib/check.sh" \
		--file "$top/tests/guest/deb-kernel.sh" -- sh /bin/deb-kernel.sh || status=$?
	[ "$status" -ne 77 ] || skip "the guest cannot run it"
	[ "$status" -eq 0 ]
}

make -s -C "$top" tests
for kernel in $kernels; do
	eval "$("$top/scripts/kernel" "$kernel" release)"
	verdict "$kernel loads the module that DKMS built for $release, and records" boot "$kernel" "$release"
done
verdicts_end
