#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does auxtrace report answer why a call was slow, does a browser show its page, and do other programs open what
# export writes of calls? A flight recorder in a guest freezes at a slow call of examples/sessions.c. Here report
# judges it, Chromium opens the page from disk, protoc decodes the file for Perfetto, and speedscope opens its own.
#   report.sh [--work DIR] [--screenshot FILE] [SERIES]
set -euo pipefail

me='report'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "work screenshot" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
packages chromium python3 protobuf-compiler binutils valgrind
system "" "${operands[@]}"
work_directory
mapfile -t files < <(guest_script report.sh)
"$top/scripts/vm" "${system[@]}" --smp 2 --icount 4 --timeout 600 --work "$work/vm" --out "$work/out" "${files[@]}" \
	--file "$build/examples/sessions" -- "$shell" /bin/report.sh

auxtrace()
{
	"$build/tools/auxtrace" "$1" "$work/out/recording" --symfs "$work/vm/initramfs.root" "${@:2}"
}

# row TEXT: of report's table, the columns of that function
row()
{
	grep -m 1 -F "  $1" "$work/table"
}

report_counts_what_script_shows()
{
	local shown counted

	shown=$(grep -cE ' u +table_put \(sessions\)$' "$work/calls")
	counted=$(row 'table_put (sessions)' | awk '{ print $1 }')
	echo "calls of table_put: script $shown, report $counted"
	[ "$shown" -gt 100 ] && [ "$shown" = "$counted" ]
}

# All that ran was in some function: the instructions of all of them are those of the trace.
instructions_add_up()
{
	local decoded summed

	decoded=$(sed -n 's/^auxtrace: \([0-9]*\) instructions in .*/\1/p;T;q' "$work/summary")
	summed=$(awk '$NF != "function" && $9 ~ /^[0-9]+$/ { sum += $9 } END { print sum + 0 }' "$work/table")
	echo "instructions: decoded $decoded, in functions $summed"
	[ "$summed" -le "$decoded" ] && [ "$summed" -gt $((decoded * 99 / 100)) ]
}

slow_call_is_explained()
{
	sed -n '/^table_put: /,$p' "$work/table" | sed -n 1,6p
	grep -q '^table_put: the slowest call took [1-9][0-9.]*ms' "$work/table" &&
		grep -qE '^ .* called only here .* table_rehash \(sessions\)$' "$work/table"
}

# dom VIEW/TEXT: the page's elements when its script has run, without its data, one a line
dom()
{
	timeout 200 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --window-size=1400,900 \
		--virtual-time-budget=20000 --dump-dom "file://$work/page.html#$1" 2> "$work/chromium.log" |
		python3 -c '
import re, sys
page = re.sub(r"<script.*?</script>", "", sys.stdin.read(), flags=re.S)
print(re.sub(r"(<(tr|section|canvas|span|h1))", r"\n\1", page))' > "$work/dom"
}

# The page says the same of a function as report.
functions_are_those_of_report()
{
	local page table

	dom functions/table_put || return
	page=$(sed -n 's|^<tr><td>\([0-9]*\)</td><td>[^<]*</td><td>[^<]*</td><td>\([^<]*\)</td><td class="name">table_put (sessions)</td>.*|\1 \2|p' "$work/dom")
	table=$(row 'table_put (sessions)' | awk '{ print $1, $8 }')
	echo "calls and longest: report $table, page $page"
	[ -n "$page" ] && [ "$page" = "$table" ] && grep -q 'id="found".*1 functions, ' "$work/dom"
}

# drawn VIEW: so many calls were drawn at least
drawn()
{
	local calls

	dom "$1" || return
	calls=$(sed -n '/^<section id="view-'"$1"'"/,/^<section/s/.*data-calls="\([0-9]*\)".*/\1/p' "$work/dom")
	echo "calls drawn: $calls"
	[ "${calls:-0}" -gt "$2" ]
}

comparison_is_shown()
{
	dom compare && grep -q 'called only here</td><td class="name">table_rehash (sessions)</td>' "$work/dom"
}

# It refers to nothing that a browser would load.
is_alone()
{
	! grep -nE '(src|href)=|url\(|import |fetch\(|https?:' "$work/page.html"
}

data_is_json()
{
	python3 -c '
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r"<script type=.application/json. id=.data.>(.*?)</script>", page, re.S).group(1))
calls = [t["calls"] for t in data["threads"]]
assert all(len(c) % 6 == 0 for c in calls)
print("threads:", len(calls), "calls:", sum(len(c) // 6 for c in calls))
assert sum(len(c) // 6 for c in calls) <= 400000 and data["compare"]["rows"]' "$work/page.html"
}

screenshot()
{
	timeout 200 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/chromium" \
		--window-size=1200,620 --screenshot="$1" "file://$work/page.html#timeline" 2> "$work/chromium.log"
}

# export FORMAT [OPTION]...: to $work/FORMAT
export_calls()
{
	rm -f "$work/$1"
	auxtrace export --format "$1" -o "$work/$1" --cpu 0 "${@:2}" 2>> "$work/summary"
}

# Each slice of a thread ends, and there is one for each call of table_put that script shows: also for the one in
# which the trace may begin.
perfetto_has_each_call()
{
	export_calls perfetto && protoc --decode_raw < "$work/perfetto" > "$work/packets" || return
	awk -v shown="$(grep -cE ' u +table_put(\+0x[0-9a-f]+)? \(sessions\)(  <trace begins>)?$' "$work/calls")" '
		# InternedData.event_names
		/^      1: / { iid = $2 }
		/^      2: "table_put"$/ { wanted = iid }
		# TrackEvent
		/^    10: / { name = $2 }
		/^    22: "begun earlier"$/ { earlier = 1 }
		/^    9: / { type = $2 }
		/^    11: / { depth[$2] += type == 1 ? 1 : type == 2 ? -1 : 0; if (depth[$2] < 0) bad = 1
			if (type == 1 && wanted && name == wanted && !earlier) calls++
			name = ""; earlier = 0 }
		END {
			for (track in depth) { tracks++; if (depth[track]) bad = 1 }
			print "tracks:", tracks, "calls of table_put:", calls, "of", shown
			exit bad || !tracks || calls != shown
		}' "$work/packets"
}

# A probe's return does not make a caller of it that had begun before come to light each time.
few_begin_earlier()
{
	echo "slices that had begun earlier: $(grep -c '"begun earlier"' "$work/packets")"
	[ "$(grep -c '"begun earlier"' "$work/packets")" -lt 100 ]
}

# The stacks together have the time of the trace, but for what was not traced.
folded_adds_up()
{
	export_calls folded || return
	! grep -vE '^[^;]+(;[^;]+)+ [0-9]+$' "$work/folded" | grep . || return
	grep -qE '^sessions;.*table_put;table_rehash;table_move ' "$work/folded" || return
	awk -v took="$(sed -n 's/^table_put: the slowest call took \([0-9.]*\)ms.*/\1/p' "$work/table")" '
		/;table_rehash[; ]/ { sum += $NF }
		END { print "table_rehash: " sum / 1e6 " ms, the slow call " took " ms"; exit sum < 0.9e6 * took || sum > 1.1e6 * took }' \
		"$work/folded"
}

# callgrind_annotate finds all instructions, and those of a function that report has.
callgrind_reads_it()
{
	local all own

	export_calls callgrind &&
		callgrind_annotate --show=Instructions --show-percs=no --threshold=100 "$work/callgrind" > "$work/annotated" || return
	all=$(awk '/PROGRAM TOTALS/ { gsub(",", ""); print $1 }' "$work/annotated")
	own=$(awk '/:table_put \[sessions\]/ { gsub(",", ""); print $1 }' "$work/annotated")
	echo "instructions: $all, of them in table_put: $own"
	[ "$all" = "$(awk '$NF != "function" && $9 ~ /^[0-9]+$/ { sum += $9 } END { print sum }' "$work/table")" ] &&
		[ "$own" = "$(row 'table_put (sessions)' | awk '{ print $9 }')" ]
}

# The libraries' own programs find the same: libauxtrace-decode and the Python module on it.
libraries_find_the_same()
{
	export_calls folded --weight instructions
	LD_LIBRARY_PATH="$build/decodelib:$build/userlib" PYTHONPATH="$top/python" PYTHONDONTWRITEBYTECODE=1 \
		python3 "$top/examples/flame.py" "$work/out/recording" "$work/vm/initramfs.root" |
		LC_ALL=C sort > "$work/flame" || return
	wc -l < "$work/flame"
	LC_ALL=C sort "$work/folded" | cmp - "$work/flame" || return
	"$build/examples/hottest" -s "$work/vm/initramfs.root" "$work/out/recording" | awk '{ sum += $1 } END { print sum }' > "$work/hottest"
	[ "$(cat "$work/hottest")" = "$(sed -n 's/^auxtrace: \([0-9]*\) instructions in .*/\1/p;T;q' "$work/summary")" ]
}

# opens FILE TITLE: speedscope's importer takes it, and shows that title
opens()
{
	local tool=${AUXTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/auxtrace}/tools/speedscope

	python3 -c '
import base64, json, sys
text = base64.b64encode(open(sys.argv[1], "rb").read()).decode()
print("speedscope.loadFileFromBase64(\"recording\", %s)" % json.dumps(text))' "$1" > "$work/load.js" || return
	timeout 200 chromium --headless --no-sandbox --enable-unsafe-swiftshader --allow-file-access-from-files \
		--user-data-dir="$work/chromium" --virtual-time-budget=30000 --dump-dom \
		"file://$tool/package/dist/release/index.html#localProfilePath=$work/load.js" 2> "$work/chromium.log" |
		grep -o '<title>[^<]*</title>' | grep -F "$2 - speedscope"
}

# A part of a recording is one that speedscope opens, too.
speedscope_opens()
{
	export_calls speedscope "$@" && python3 -m json.tool "$work/speedscope" /dev/null &&
		opens "$work/speedscope" "$work/out/recording"
}

folded_opens()
{
	export_calls folded "$@" && opens "$work/folded" recording
}

fetch_speedscope()
{
	local tool=${AUXTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/auxtrace}/tools/speedscope

	[ ! -d "$tool/package" ] || return 0
	command -v npm > /dev/null || "$top/scripts/need" npm >&2 || return
	mkdir -p "$tool"
	(cd "$tool" && npm pack --silent speedscope && tar xf speedscope-*.tgz)
}

# The source lines that script shows of sessions are those of the instructions that ran, as addr2line has them.
lines_are_those_that_ran()
{
	local start end offset

	auxtrace script --lines 2> "$work/lines.summary" | sed -nE 's/.* u +(sessions\.c:[0-9]+)(  .*)?$/\1/p' |
		sort -u > "$work/lines"
	read -r start end offset < <(sed -n 's|^map \([^-]*\)-\([^ ]*\) r-xp \([^ ]*\) .*/sessions$|\1 \2 \3|p' "$work"/out/recording/task.*)
	auxtrace script --insn 2>> "$work/lines.summary" | awk '/^0000/ && !seen[$1]++ { print $1 }' |
		awk -v start="0000$start" -v end="0000$end" '$1 >= start && $1 < end' |
		while read -r ip; do
			printf '%x\n' $((0x$ip - 0x$start + 0x$offset))
		done | addr2line -e "$build/examples/sessions" | sed -n 's|.*/\(sessions\.c:[0-9]*\).*|\1|p' |
		sort -u > "$work/lines.expected"
	echo "source lines: $(wc -l < "$work/lines")"
	[ "$(wc -l < "$work/lines")" -gt 15 ] && cmp "$work/lines.expected" "$work/lines"
}

# The slow call's line is shown with its text, inside the call.
lines_have_their_text()
{
	auxtrace script --lines --function table_rehash > "$work/rehash" 2>> "$work/lines.summary" || return
	grep -m 1 -E ' u  +sessions\.c:[0-9]+  .*table_move\(' "$work/rehash"
}

auxtrace script > "$work/calls" 2> "$work/summary"
auxtrace report --limit 0 > "$work/table" 2>> "$work/summary"
auxtrace report --html "$work/page.html" 2>> "$work/summary"
cp -f "$work/page.html" "$work/first.html"
verdict "report counts the calls that script shows" report_counts_what_script_shows
verdict "nearly all instructions are in a function" instructions_add_up
verdict "the slow call is told from the others" slow_call_is_explained
verdict "source lines are those that ran" lines_are_those_that_ran
verdict "and are shown with their text" lines_have_their_text
verdict "the page needs nothing else" is_alone
verdict "its data can be read" data_is_json
verdict "a file that exists is not overwritten" not auxtrace report --html "$work/page.html"
verdict "and is as it was" cmp "$work/first.html" "$work/page.html"
verdict "a browser shows the functions as report does" functions_are_those_of_report
verdict "and draws calls over time" drawn timeline 20
verdict "and the flame view" drawn flame 20
verdict "and why the call was slow" comparison_is_shown
verdict "Perfetto's file has each call, with its end" perfetto_has_each_call
verdict "hardly any had begun before the trace" few_begin_earlier
verdict "the folded stacks have the slow call's time" folded_adds_up
verdict "the libraries find the same calls" libraries_find_the_same
verdict "callgrind_annotate reads the profile" callgrind_reads_it
opened=yes
if fetch_speedscope > "$work/npm.log" 2>&1; then
	verdict "speedscope opens the recording" speedscope_opens
	verdict "and a part of it" speedscope_opens --function table_rehash --max-depth 3
	verdict "and folded stacks" folded_opens
	verdict "and those of instructions" folded_opens --weight instructions
else
	tail -n 3 "$work/npm.log"
	opened=no
fi
[ -z "${screenshot-}" ] || screenshot "$(realpath "$screenshot")"
[ "$failures" -gt 0 ] || [ "$opened" = yes ] || skip "the npm package speedscope cannot be had; all else is right"
verdicts_end
