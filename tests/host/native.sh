#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make check NATIVE=1, and make demo NATIVE=1, in a full Debian on the emulator, as if that were a machine with the hardware:
# without the MSRs that no CPU has, with page-table isolation and KASLR. A mirror that has the packages stands for the network.
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
packages dpkg-dev git python3
work_directory
make -s -C "$top" all

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
	-- bash -e -o pipefail -c ". /bin/check.sh; . /bin/use-mirror.sh; use_mirror; apt-get install -y 'linux-headers-$release'
		make -C '$there' check NATIVE=1; cp -r '$there/build/native/report' /out/
		make -C '$there' demo NATIVE=1 | tee /out/demo" || status=$?
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

# The cases that the programs list in their sources, but those that ask for the emulator's counters, which skips them here. Of
# what is listed once, and run once for each mode, there are more; the others that are skipped, as of BTS without filters, are fewer.
cases()
{
	local programs

	read -ra programs < <("$top/scripts/check-native" --list "$1")
	(cd "$top/tests/guest" && cat "${programs[@]/%/.c}") | awk '
		/^[[:blank:]]+(vm_test|cmocka_unit_test[a-z_]*)\(/ { listed++ }
		/^[[:blank:]]+emulator_required\(\);/ { skipped++ }
		END { print listed - skipped }'
}

# As many cases passed, and none failed.
enough_cases()
{
	local source passed least

	for source in pt bts; do
		least=$(cases "$source")
		passed=$(sed -nE "s/^ +ok +guest-$source +([0-9]+) passed, 0 failed, .*/\1/p" "$work/out/report/tests.txt")
		echo "guest-$source: ${passed:-none} passed, of at least $least"
		[ "${passed:-0}" -ge "$least" ] && [ "$least" -ge 100 ] || return 1
	done
}
verdict "each source has at least as many cases passed as its programs list" enough_cases

# outcomes FILE: of a self-test's report: how many checks, and how many passed
outcomes()
{
	python3 -c 'if True:
		import json, sys
		outcomes = [check["outcome"] for check in json.load(open(sys.argv[1]))["checks"]]
		print(len(outcomes), outcomes.count("passed"))' "$1"
}

# The command has as many checks here, where it can make none of them.
enough_checks()
{
	local source all reported passed

	for source in pt bts; do
		"$build/tools/auxtrace" selftest --source "$source" -o "$work/none.json" > "$work/none" || true
		read -r all _ < <(outcomes "$work/none.json")
		read -r reported passed < <(outcomes "$work/out/report/$source.json")
		echo "selftest-$source: $passed of $reported passed, of $all that there are"
		[ "$reported" -eq "$all" ] && [ "$passed" -ge $((all * 3 / 4)) ] && [ "$passed" -gt 0 ] || return 1
	done
}
verdict "the self-tests made all their checks, of which three in four passed" enough_checks

demo_works()
{
	cat "$work/out/demo"
	grep -q '^decode errors: 0$' "$work/out/demo" && grep -qE '^instructions decoded: [1-9]' "$work/out/demo" &&
		grep -q '^demo: ok, ' "$work/out/demo"
}
verdict "make demo NATIVE=1 records, decodes and shows a region" demo_works
verdicts_end
