#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make check NATIVE=1 in a full Debian on the emulator, as if that were a machine with the hardware: without the MSRs that no
# CPU has, with page-table isolation and KASLR. A mirror that has the packages stands for the network.
#   native.sh [--work DIR] [SUITE]      12 (default) or 13, as in scripts/distro
set -euo pipefail

me='native'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/host/mirror.sh
. "$(dirname "${BASH_SOURCE[0]}")/mirror.sh"
options "work" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
case ${operands[0]:-12} in
12) name=bookworm ;;
13) name=trixie ;;
*) bad_usage ;;
esac
debian "${operands[0]:-12}"
packages dpkg-dev git
work_directory

mapfile -t needs < <("$top/scripts/deps" --list tests)
mirror "$name" "linux-headers-${release:?}" "${needs[@]}"
rm -rf "$work/sources"
mkdir "$work/sources"
git -C "$top" ls-files -z | tar -C "$top" --null -T - -c | tar -x -C "$work/sources"
there=/root/auxtrace
status=0
"$top/scripts/vm" --distro "${operands[0]:-12}" --smp 4 --mem 3G --timeout 4800 --work "$work/vm" --emulator-arg --no-synthetic-msrs \
	--file "$work/mirror:/srv/mirror" --file "$work/sources:$there" --file "$top/tests/guest/lib/check.sh" \
	--file "$top/tests/guest/lib/use-mirror.sh" --out "$work/out" \
	-- bash -ec ". /bin/check.sh; . /bin/use-mirror.sh; use_mirror; apt-get install -y 'linux-headers-$release'
		make -C '$there' check NATIVE=1; cp -r '$there/build/native/report' /out/" || status=$?
[ "$status" -ne 77 ] || skip "the guest cannot run it"
verdict "all that the guest's CPU has is as it should be" [ "$status" -eq 0 ]
# The report has both self-tests, without a failure, the sum of all tests, and the kernel's lines.
complete()
{
	local report=$work/out/report source

	for source in pt bts; do
		grep -q '"outcome": "passed"' "$report/$source.json" && grep -q '"result": "passed"' "$report/$source.json" || return 1
	done
	grep -q 'selftest-pt' "$report/tests.txt" && grep -q auxtrace "$report/kernel.txt"
}
verdict "the report is there" complete
verdicts_end
