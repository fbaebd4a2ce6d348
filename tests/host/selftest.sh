#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# auxtrace selftest in a guest with a stock kernel, whose emulated CPU is a CPU like any other to it; and its report.
#   selftest.sh [--work DIR] [SERIES]
set -euo pipefail

me='selftest'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "work" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
system "" "${operands[@]}"
work_directory
mapfile -t files < <(guest_script selftest.sh)
perf=$("$top/tests/oracle/perf" "${series%%-*}")
status=0
"$top/scripts/vm" "${system[@]}" --smp 2 --timeout 600 --work "$work/vm" --out "$work/out" --emulator-arg --no-synthetic-msrs "${files[@]}" \
	--file "$perf:/perf" -- "$shell" /bin/selftest.sh || status=$?
[ "$status" -ne 77 ] || skip "the guest cannot run it"
verdict "what is checked in the guest" [ "$status" -eq 0 ]

# report FILE PASSED SKIPPED: the report has so many of each, and no failure; the stepped code was long enough to prove something
report()
{
	python3 - "$@" <<-'END'
		import json, sys
		report = json.load(open(sys.argv[1]))
		outcomes = [check["outcome"] for check in report["checks"]]
		flow = [check for check in report["checks"] if check["name"] == "flow"][0]
		print(outcomes.count("passed"), "passed,", outcomes.count("skipped"), "skipped,", flow["figures"], report["cpu"]["name"])
		assert outcomes.count("passed") == int(sys.argv[2])
		assert outcomes.count("skipped") == int(sys.argv[3])
		assert "failed" not in outcomes
		assert all("why" in check for check in report["checks"] if check["outcome"] != "passed")
		assert flow["figures"]["instructions"]["value"] > (5000 if report["quick"] else 50000)
		assert report["kernel"] and report["cpu"]["vendor"] == "GenuineIntel"
	END
}

verdict "the report of Intel PT" report "$work/out/pt.json" 20 0
verdict "the report of BTS" report "$work/out/bts.json" 20 0
verdict "the report of a quick run" report "$work/out/quick.json" 15 5
verdicts_end
