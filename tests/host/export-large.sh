#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A long recording in the format of other tools: a stress load of at least 300 million instructions, with the kernel
# (tests/guest/export-large.sh), is exported to each format in less than 1 GiB of memory, and software that is not ours
# opens what was written. Where that is longer than its readers open, the command must have said so, and a part must be
# one that it says nothing of; that part is opened then.
#   export-large.sh [--kernel SERIES] [--work DIR]
#   --work DIR  keep the recording and what is exported; a recording that is there is not made again
set -euo pipefail

me=export-large
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
kernel=6.1
options "kernel work" "$@"
[ ${#operands[@]} -eq 0 ] || bad_usage
packages chromium python3 protobuf-compiler valgrind
work_directory
vm_prepare "$kernel"
perf=$("$top/tests/oracle/perf" 6.1)/perf
mapfile -t files < <(guest_script export-large.sh)
if [ ! -d "$work/out/load" ]; then
	"$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 3G --timeout 900 --work "$work/vm" --out "$work/out" \
		"${files[@]}" --file "$build/examples/sessions" -- sh /bin/export-large.sh
fi
recording=$work/out/load
symfs=$work/vm/initramfs.root
speedscope=${AUXTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/auxtrace}/tools/speedscope

# measured COMMAND...: prints the peak of its memory, in MiB, to $work/peak
measured()
{
	python3 - "$work/peak" "$@" <<-'END'
	import os, subprocess, sys
	p = subprocess.Popen(sys.argv[2:])
	_, status, usage = os.wait4(p.pid, 0)
	with open(sys.argv[1], "w") as f:
	    print(usage.ru_maxrss // 1024, file=f)
	sys.exit(os.waitstatus_to_exitcode(status) != 0)
	END
}

# write_format FORMAT OPTION...: to $work/FORMAT, in less than 1 GiB; what the command says is in $work/said
write_format()
{
	local format=$1 peak
	local -a place=(--symfs "$symfs")

	shift
	[ "$format" != perf ] || place=()
	rm -rf "${work:?}/$format"
	measured "$build/tools/auxtrace" export --format "$format" -o "$work/$format" "${place[@]}" "$@" "$recording" 2> "$work/said" ||
		{ cat "$work/said"; return 1; }
	peak=$(cat "$work/peak")
	echo "$format $*: $(du -sm "$work/$format" | cut -f 1) MiB written, peak of memory $peak MiB"
	[ "$peak" -gt 0 ] && [ "$peak" -lt 1024 ]
}

is_told()
{
	grep 'this is more than 512 MiB, and .*; --time, --window, --cpu, --tid, --function and --max-depth export a part$' "$work/said"
}

# What is longer than 512 MiB is told, and nothing else is.
told_if_long()
{
	if [ "$(stat -c %s "$work/$1")" -gt $((512 << 20)) ]; then
		is_told
	else
		not is_told
	fi
}

is_long()
{
	local instructions

	instructions=$(sed -n 's/^auxtrace: \([0-9]*\) instructions in .*/\1/p' "$work/said")
	echo "instructions: ${instructions:-none}"
	[ "${instructions:-0}" -ge 300000000 ] && grep -q 'decode errors: 0;' "$work/said"
}

has_many_processes()
{
	local processes

	processes=$("$perf" script -f -i "$work/perf" --symfs "$symfs" --no-itrace --show-task-events 2>> "$work/perf.err" |
		grep -c PERF_RECORD_FORK || true)
	echo "processes that began: $processes"
	[ "$processes" -ge 50 ]
}

# perf finds the vdso by its build-id below SYMFS.
perf_opens()
{
	rm -rf "$symfs/.debug"
	[ ! -e "$work/perf/debug" ] || cp -r "$work/perf/debug" "$symfs/.debug"
	"$perf" script -f -i "$work/perf" --symfs "$symfs" --itrace=e > "$work/errors" 2> "$work/perf.err" || return
	! grep -m 5 . "$work/errors"
}

# Each slice of a thread begins and ends.
protoc_opens()
{
	protoc --decode_raw < "$work/perfetto" | awk '
		/^    9: / { type = $2 }
		/^    11: / { depth[$2] += type == 1 ? 1 : type == 2 ? -1 : 0; begun += type == 1; if (depth[$2] < 0) bad = 1 }
		END {
			for (track in depth) { tracks++; if (depth[track]) bad = 1 }
			print "tracks:", tracks, "slices:", begun
			exit bad || tracks < 10 || begun < 1000
		}'
}

# A line each: "comm;function;...;function N"
folded_is_right()
{
	local lines

	lines=$(wc -l < "$work/folded")
	echo "stacks: $lines"
	[ "$lines" -gt 1000 ] && ! grep -m 5 -vE '^[^;]+(;[^;]+)+ [0-9]+$' "$work/folded" && grep -qE '^sessions;.*table_put' "$work/folded"
}

callgrind_opens()
{
	callgrind_annotate --show=Instructions --show-percs=no --threshold=100 "$work/callgrind" > "$work/annotated" || return
	awk '/PROGRAM TOTALS/ { gsub(",", ""); print "instructions:", $1; exit $1 < 299000000 }' "$work/annotated"
}

# Its own importer, in a browser
speedscope_opens()
{
	python3 - "$work/speedscope" > "$work/load.js" <<-'END' || return
	import base64, json, sys
	text = base64.b64encode(open(sys.argv[1], "rb").read()).decode()
	print("speedscope.loadFileFromBase64(\"recording\", %s)" % json.dumps(text))
	END
	timeout 600 chromium --headless --no-sandbox --enable-unsafe-swiftshader --allow-file-access-from-files \
		--user-data-dir="$work/chromium" --virtual-time-budget=120000 --dump-dom \
		"file://$speedscope/package/dist/release/index.html#localProfilePath=$work/load.js" 2> "$work/chromium.log" |
		grep -o '<title>[^<]*</title>' | grep -F "$recording - speedscope"
}

fetch_speedscope()
{
	[ ! -d "$speedscope/package" ] || return 0
	command -v npm > /dev/null || "$top/scripts/need" npm >&2 || return
	mkdir -p "$speedscope"
	(cd "$speedscope" && npm pack --silent speedscope && tar xf speedscope-*.tgz)
}

verdict "folded stacks of all of it are written in less than 1 GiB" write_format folded
verdict "it has 300 million instructions" is_long
verdict "the lines are stacks" folded_is_right
verdict "callgrind's profile is written in less than 1 GiB" write_format callgrind
verdict "callgrind_annotate finds all instructions" callgrind_opens
verdict "perf.data is written in less than 1 GiB" write_format perf
verdict "perf decodes all of it without an error" perf_opens
verdict "processes came and went" has_many_processes
verdict "Perfetto's file is written in less than 1 GiB" write_format perfetto
verdict "it is told if it is too long for a browser" told_if_long perfetto
if is_told > /dev/null; then
	verdict "a part for Perfetto is written" write_format perfetto --max-depth 3
	verdict "and is not too long" not is_told
fi
verdict "protoc reads it, and each slice ends" protoc_opens
verdict "speedscope's file is written in less than 1 GiB" write_format speedscope
verdict "it is told that it is too long for a browser" is_told
verdict "a part for speedscope is written" write_format speedscope --cpu 0 --max-depth 2
verdict "and is not too long" not is_told
opened=yes
if fetch_speedscope > "$work/npm.log" 2>&1; then
	verdict "speedscope opens the part" speedscope_opens
else
	tail -n 3 "$work/npm.log"
	opened=no
fi
[ "$failures" -gt 0 ] || [ "$opened" = yes ] || skip "the npm package speedscope cannot be had; all else is right"
verdicts_end
