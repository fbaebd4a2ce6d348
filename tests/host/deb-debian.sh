#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages in a minimal Debian as it ships, on the emulator: built on this machine and installed there by the lines of the
# README, with a mirror that has what they depend on, in place of a network; used; the service across a
# reboot; purged. tests/guest/deb-debian.sh says what is checked.
#   deb-debian.sh [--work DIR] [--packages DIR] [12|13]    the Debian (default 12)
# --packages: those of an earlier scripts/deb; then the README's line that builds them is not typed.
set -euo pipefail

me=deb-debian
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/host/mirror.sh
. "$(dirname "${BASH_SOURCE[0]}")/mirror.sh"
options "work packages" "$@"
set -- "${operands[@]}"
[ $# -le 1 ] || bad_usage
case ${1:-12} in
12) name=bookworm ;;
13) name=trixie ;;
*) bad_usage ;;
esac
debian "minimal-${1:-12}"
packages dpkg-dev
work_directory

# The README's first page as it stands: what builds the packages of this Debian, in the line before what installs them, and what
# is typed behind that of all Debians.
awk '
	/^## / { here = $0 ~ /^## With an Intel machine/ }
	here && /^    / { sub(/  +#.*/, ""); print substr($0, 5) }' "$top/README.md" > "$work/readme"
grep -B 1 "^apt .*build/deb/$name/" "$work/readme" | grep '^make deb' > "$work/readme-build" || true
grep "^apt .*build/deb/$name/" "$work/readme" > "$work/readme-install" || true
tac "$work/readme" | sed '/^apt /Q' | tac > "$work/readme-lines"
verdict "the README says how to build the packages" [ "$(wc -l < "$work/readme-build")" -eq 1 ]
verdict "and how to install them" [ "$(wc -l < "$work/readme-install")" -eq 1 ]
verdict "and what to do then" [ "$(grep -c '^auxtrace ' "$work/readme-lines")" -ge 7 ]
[ "$failures" -eq 0 ] || verdicts_end

# As a person types it. What make says at its end is scripts/deb's exit status.
types_build()
{
	sed 's/^/README: /' "$work/readme-build"
	(cd "$top" && env -u MAKEFLAGS -u MAKELEVEL sh -e "$work/readme-build") > "$work/deb.log" 2>&1 ||
		{ tail -n 60 "$work/deb.log"; return 1; }
}

debs=${packages-}
if [ -z "$debs" ]; then
	status=0
	types_build > "$work/types-build" || status=$?
	cat "$work/types-build"
	! grep -q '^make.* Error 77$' "$work/types-build" || skip "no package can be built here"
	verdict "the README's line builds the packages" [ "$status" -eq 0 ]
	[ "$status" -eq 0 ] || verdicts_end
	debs=$top/build/deb/$name
fi
# With what the machine's administrator uses
mirror "$name" "linux-headers-${release:?}" socat

# After the reboot the emulator goes on with the same disk. The last of QEMU's options counts.
status=0
"$top/scripts/vm" --distro "minimal-${1:-12}" --smp 2 --mem 2G --timeout 4800 --work "$work/vm" --out "$work/out" \
	--emulator-arg -action --emulator-arg reboot=reset \
	--file "$work/mirror:/srv/mirror" --file "$work/packages:/root/auxtrace/build/deb/$name" \
	--file "$work/readme-install:/root/readme-install" --file "$work/readme-lines:/root/readme-lines" \
	--file "$top/tests/guest/ask.py" --file "$top/tests/guest/lib/check.sh" --file "$top/tests/guest/lib/purged.sh" \
	--file "$top/tests/guest/lib/use-mirror.sh" \
	--file "$top/tests/guest/deb-debian.sh" -- bash /bin/deb-debian.sh || status=$?
[ "$status" -ne 77 ] || skip "the guest cannot run it"
verdict "Debian ${1:-12}: what is checked in the guest" [ "$status" -eq 0 ]
verdicts_end
