# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A mirror in place of a network, for a Debian on the emulator that installs packages; to be sourced behind lib.sh.

# our_packages SUITE: sets $debs to the directory --packages, or to one with those that this builds.
our_packages()
{
	local status=0

	debs=${packages-}
	[ -z "$debs" ] || return 0
	debs=${work:?}/debs
	# tests/host/deb.sh has unit tests and lintian.
	"${top:?}/scripts/deb" --no-check --out "$debs" "$1" > "$work/deb.log" 2>&1 || status=$?
	[ "$status" -ne 77 ] || skip "$(tail -n 1 "$work/deb.log")"
	[ "$status" -eq 0 ] || { tail -n 60 "$work/deb.log"; exit 1; }
}

# mirror SUITE PACKAGE...: makes $work/packages, our packages if $debs is set, and $work/mirror, what the Debian with the files
# $tree lacks to install them and PACKAGEs.
mirror()
{
	local suite=$1 ours=()

	shift
	rm -rf "$work/mirror" "$work/packages"
	mkdir -p "$work/mirror" "$work/packages"
	if [ -n "${debs-}" ]; then
		cp "$debs"/*.deb "$work/packages/"
		ours=("$work"/packages/*.deb)
	fi
	"$top/scripts/debget" missing "$suite" "${tree:?}/var/lib/dpkg/status" "$work/mirror" "${ours[@]}" "$@"
	rm -f "$work"/mirror/{,lib}auxtrace*
	(cd "$work/mirror" && dpkg-scanpackages . > Packages 2> ../scanpackages.log)
}
