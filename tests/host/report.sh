#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Does auxtrace report answer why a call was slow, and does a browser show its page? A flight recorder in a guest
# freezes at a slow call of examples/sessions.c. Here report judges it, and Chromium opens the page from disk.
#   report.sh [--work DIR] [--screenshot FILE] [SERIES]
set -euo pipefail

me='report'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "work screenshot" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
packages chromium python3
system "" "${operands[@]}"
work_directory
on="latency:uprobe:/bin/sessions:table_put..uretprobe:/bin/sessions:table_put>10ms=freeze"
"$top/scripts/vm" "${system[@]}" --smp 2 --icount 4 --timeout 600 --work "$work/vm" --out "$work/out" \
	--module "$module" --file "$build/tools/auxtrace" --file "$build/examples/sessions" \
	-- auxtrace record -o /out/recording -C 0 --overwrite -m 2M --on "$on" -- sessions 8000

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

auxtrace script > "$work/calls" 2> "$work/summary"
auxtrace report --limit 0 > "$work/table" 2>> "$work/summary"
auxtrace report --html "$work/page.html" 2>> "$work/summary"
cp -f "$work/page.html" "$work/first.html"
verdict "report counts the calls that script shows" report_counts_what_script_shows
verdict "nearly all instructions are in a function" instructions_add_up
verdict "the slow call is told from the others" slow_call_is_explained
verdict "the page needs nothing else" is_alone
verdict "its data can be read" data_is_json
verdict "a file that exists is not overwritten" not auxtrace report --html "$work/page.html"
verdict "and is as it was" cmp "$work/first.html" "$work/page.html"
verdict "a browser shows the functions as report does" functions_are_those_of_report
verdict "and draws calls over time" drawn timeline 20
verdict "and the flame view" drawn flame 20
verdict "and why the call was slow" comparison_is_shown
[ -z "${screenshot-}" ] || screenshot "$(realpath "$screenshot")"
verdicts_end
