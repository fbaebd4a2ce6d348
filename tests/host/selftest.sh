#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# auxtrace selftest in a guest with a stock kernel, whose emulated CPU is a CPU like any other to it; and its report.
#   selftest.sh [--profile NAME] [--work DIR] [SERIES]
#   NAME: skylake (the default), broadwell, gracemont; hybrid, whose CPU 0 is skylake and CPU 1 gracemont
set -euo pipefail

me='selftest'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
profile=skylake
options "work profile" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage

# How many checks there are, and which of them cannot be passed: in a quick run, with BTS, and by the CPU of each profile
checks=55
thorough="cpus kernel-flow kprobe kretprobe perf tracepoint uprobe uretprobe"
lacks_bts="branch config cr3 cyc event filter mtc noretcomp notnt power psb ptwrite stop"
lacks="event notnt power ptwrite"
emulator=(--profile "$profile")
case $profile in
skylake) ;;
# The module knows by the model that it cannot trace without branches.
broadwell) lacks="branch cyc event filter mtc notnt power psb ptwrite stop" emulator+=(--cpu model=61) ;;
gracemont) lacks="" ;;
hybrid) emulator=(--profile skylake --hybrid 1:gracemont) ;;
*) bad_usage ;;
esac
system "" "${operands[@]}"
work_directory
mapfile -t files < <(guest_script selftest.sh)
for argument in --no-synthetic-msrs "${emulator[@]}"; do
	files+=(--emulator-arg "$argument")
done
perf=$("$top/tests/oracle/perf" "${series%%-*}")
status=0
command=("$shell" /bin/selftest.sh "$checks" "$lacks" "$lacks_bts" "$thorough")
# Each kind of core alone; all else is as on a machine whose cores are all of that kind.
[ "$profile" != hybrid ] || command=("$shell" -c "export PATH=\$PATH:/perf; auxtrace selftest --cpu 0 -o /out/cpu0.json && auxtrace selftest --cpu 1 -o /out/cpu1.json")
"$top/scripts/vm" "${system[@]}" --smp 2 --timeout 2400 --work "$work/vm" --out "$work/out" "${files[@]}" \
	--file "$build/tests-guest/selftest_wrong" --file "$perf:/perf" -- "${command[@]}" || status=$?
[ "$status" -ne 77 ] || skip "the guest cannot run it"
verdict "what is checked in the guest" [ "$status" -eq 0 ]

# report FILE NAME...: of the checks it skipped these, for a reason, and passed all others; the stepped code was long enough to prove
# something
report()
{
	python3 - "$checks" "$@" <<-'END'
		import json, sys
		report = json.load(open(sys.argv[2]))
		outcomes = {check["name"]: check["outcome"] for check in report["checks"]}
		flow = [check for check in report["checks"] if check["name"] == "flow"][0]
		cost = [check for check in report["checks"] if check["name"] == "cost"][0]
		skipped = sorted(name for name, outcome in outcomes.items() if outcome == "skipped")
		print(len(outcomes), "checks, without", " ".join(skipped), flow["figures"], report["cpu"]["name"])
		assert len(outcomes) == int(sys.argv[1]) and skipped == sorted(set(sys.argv[3:]))
		assert report["result"] == "passed" and set(outcomes.values()) <= {"passed", "skipped"}
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

# cores_differ FILE FILE: each report is of the CPU of its number, and says what that one has.
cores_differ()
{
	python3 - "$@" <<-'END'
		import json, sys
		reports = [json.load(open(path)) for path in sys.argv[1:]]
		found = [[f["text"] for f in report["findings"] if f["name"] == "cpu"] for report in reports]
		print([report["cpuid_14h"] for report in reports], found)
		assert [report["tested_cpu"] for report in reports] == [0, 1]
		assert [int(report["cpuid_14h"].split()[1], 16) for report in reports] == [0xf, 0x1bf]
		assert ["PTWRITE" in text[0] for text in found] == [False, True]
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

# A list is words.
# shellcheck disable=SC2086
if [ "$profile" = hybrid ]; then
	verdict "the report of CPU 0" report "$work/out/cpu0.json" $lacks
	verdict "the report of CPU 1" report "$work/out/cpu1.json"
	verdict "each is of its own CPU" cores_differ "$work/out/cpu0.json" "$work/out/cpu1.json"
	verdicts_end
	exit
fi
# shellcheck disable=SC2086
verdict "the report of Intel PT" report "$work/out/pt.json" $lacks
# shellcheck disable=SC2086
verdict "the report of BTS" report "$work/out/bts.json" $lacks_bts
# shellcheck disable=SC2086
verdict "the report of a quick run" report "$work/out/quick.json" $lacks $thorough
verdict "the report behind a crash" result "$work/out/crash.json" failed output crashed
verdict "the report of what was interrupted" result "$work/out/hang.json" incomplete newest "not run"
verdict "the report while another session has the CPU" result "$work/out/busy.json" untested overwrite skipped
verdict "a quick run sets no probe" without_probes "$work/out/quick-code"
verdict "where one is set, that is seen" with_probe "$work/out/probe-code"
verdicts_end
