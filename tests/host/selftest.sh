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
"$top/scripts/vm" "${system[@]}" --smp 2 --timeout 1500 --work "$work/vm" --out "$work/out" --emulator-arg --no-synthetic-msrs "${files[@]}" \
	--file "$build/tests-guest/selftest_wrong" --file "$perf:/perf" -- "$shell" /bin/selftest.sh || status=$?
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
		cost = [check for check in report["checks"] if check["name"] == "cost"][0]
		print(outcomes.count("passed"), "passed,", outcomes.count("skipped"), "skipped,", flow["figures"], report["cpu"]["name"])
		assert outcomes.count("passed") == int(sys.argv[2])
		assert outcomes.count("skipped") == int(sys.argv[3])
		assert report["result"] == "passed" and "failed" not in outcomes
		assert all("why" in check for check in report["checks"] if check["outcome"] != "passed")
		assert flow["figures"]["instructions"]["value"] > (5000 if report["quick"] else 50000)
		assert cost["figures"]["cycles per tick"]["value"] > 0
		assert report["format"] == 1 and report["tested_cpu"] in (0, 1) and report["core_type"] == "none"
		assert "nokaslr" in report["kernel_options"].split()
		assert report["kernel"] and report["cpu"]["vendor"] == "GenuineIntel"
		assert report["hypervisor"] == "TCGTCGTCGTCG" and report["lockdown"] == "none" and report["usable"]
		assert report["module"] == report["auxtrace"] and report["cpuid_14h"].startswith("0000000")
		assert "address ranges" in [finding["name"] for finding in report["findings"]]
	END
}

# result FILE RESULT CHECK OUTCOME: the report has that result, and that outcome of the check, with a reason.
result()
{
	python3 - "$@" <<-'END'
		import json, sys
		report = json.load(open(sys.argv[1]))
		check = [check for check in report["checks"] if check["name"] == sys.argv[3]][0]
		print(report["result"], check)
		assert report["result"] == sys.argv[2]
		assert check["outcome"] == sys.argv[4] and check["why"]
	END
}

# changed DIR: where the kernel changed its code while the recording was made, by perf's TEXT_POKE records: a line "ADDRESS LENGTH" each,
# with LENGTH that of the new code, and "getppid" behind those in the function that the check kprobe has its probe on.
changed()
{
	python3 - "$1" <<-'END'
		import glob, struct, sys
		TEXT_POKE = 20
		symbols = sorted((int(f[0], 16), f[2]) for f in map(str.split, open(sys.argv[1] + "/kallsyms")) if f[1] in "tT")
		at = next(a for a, name in symbols if name == "__x64_sys_getppid")
		end = next(a for a, name in symbols if a > at)
		for path in glob.glob(sys.argv[1] + "/cpu*.side"):
		    data, i = open(path, "rb").read(), 0
		    while i < len(data):
		        kind, misc, size = struct.unpack_from("=IHH", data, i)
		        if kind == TEXT_POKE:
		            address, old, new = struct.unpack_from("=QHH", data, i + 8)
		            print("%x %d%s" % (address, new, " getppid" if at <= address < end else ""))
		        i += size
	END
}

# The kernel's own branches have two bytes or five; a breakpoint has one. ftrace and kprobes change the begin of a function.
without_probes()
{
	changed "$1" > "$work/changes" && [ -s "$work/changes" ] || return 1
	! grep -qE '^[0-9a-f]+ 1$|getppid' "$work/changes"
}

with_probe()
{
	changed "$1" | grep getppid
}

verdict "the report of Intel PT" report "$work/out/pt.json" 51 4
verdict "the report of BTS" report "$work/out/bts.json" 42 13
verdict "the report of a quick run" report "$work/out/quick.json" 43 12
verdict "the report behind a crash" result "$work/out/crash.json" failed output crashed
verdict "the report of what was interrupted" result "$work/out/hang.json" incomplete newest "not run"
verdict "the report while another session has the CPU" result "$work/out/busy.json" untested overwrite skipped
verdict "a quick run sets no probe" without_probes "$work/out/quick-code"
verdict "where one is set, that is seen" with_probe "$work/out/probe-code"
verdicts_end
