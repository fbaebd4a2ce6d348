#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make check NATIVE=1 in a full Debian on the emulator, as if that were a machine with the hardware: without the MSRs that no
# CPU has, with page-table isolation and KASLR.
#   native.sh [--work DIR] [SUITE]      as in scripts/distro (default 12)
set -euo pipefail

me='native'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "work" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
system "${operands[0]:-12}"
work_directory

there=/root/auxtrace
files=()
for file in scripts/check-native scripts/steps scripts/suite tests/guest/suite.sh build/tools/auxtrace; do
	files+=(--file "$top/$file:$there/$file")
done
mkdir -p "$work/native"
# As check-native builds it, but for the guest's kernel. What a kernel other than Debian 12's needs, scripts/build-module knows.
if [ "${operands[0]:-12}" = 12 ]; then
	eval "$("$top/scripts/kernel" 6.1 headers)"
	module=$("$top/scripts/native-module" "$work/native-module" "${kdir:?}")
fi
cp "$module" "$work/native/auxtrace.ko"
strip --strip-debug "$work/native/auxtrace.ko"
for source in pt bts; do
	make --no-print-directory -s -C "$top/tests/guest" SOURCE="$source" list > "$work/native/tests.$source"
	read -ra tests < "$work/native/tests.$source"
	for test in "${tests[@]}"; do
		files+=(--file "$build/tests-guest/$test:$there/build/tests-guest/$test")
	done
done
status=0
"$top/scripts/vm" "${system[@]}" --smp 4 --mem 3G --timeout 2400 --work "$work/vm" --emulator-arg --no-synthetic-msrs \
	--file "$work/native:$there/build/native" "${files[@]}" --out "$work/out" \
	-- bash -c "'$there/scripts/check-native' --built && cp -r '$there/build/native/report' /out/" || status=$?
[ "$status" -ne 77 ] || skip "the guest cannot run it"
verdict "all that the guest's CPU has is as it should be" [ "$status" -eq 0 ]
# The report has both self-tests, without a failure, the sum of all tests, and the kernel's lines.
complete()
{
	local report=$work/out/report source

	for source in pt bts; do
		grep -q '"outcome": "passed"' "$report/$source.json" && ! grep -q '"outcome": "failed"' "$report/$source.json" || return 1
	done
	grep -q 'selftest-pt' "$report/tests.txt" && grep -q auxtrace "$report/kernel.txt"
}
verdict "the report is there" complete
verdicts_end
