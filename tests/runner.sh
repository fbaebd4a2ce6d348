#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The runner of the tests, tested: what scripts/suite makes of programs that pass, fail,
# crash, hang, or say less than they should; what it runs side by side; which proofs
# scripts/proofs chooses for a change, finds wrong in a table, and leaves out as passed before; and
# how .ci/run ends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/need python3 git procps >&2
work=$(mktemp -d "${TMPDIR:-/tmp}/auxtrace-runner.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
# Names processes of this run: another clone may run this test as well.
export endless=5003.$$

# verdict TEXT COMMAND...: the text is true if the command is.
verdict()
{
	local text=$1

	shift
	if "$@" > "$work/verdict" 2>&1; then
		echo "runner: ok: $text"
	else
		echo "runner: FAILED: $text"
		tail -n 20 "$work/verdict" | sed 's/^/  | /'
		failures=$((failures + 1))
	fi
}

not()
{
	! "$@"
}

# suite [OPTION]...: runs the queue on stdin; $status is its exit status.
suite()
{
	status=0
	scripts/suite --logs "$work/logs" "$@" > "$work/said" 2>&1 || status=$?
}

# Does the file have just this line?
says()
{
	grep -qFx -- "$2" "$1" || { cat "$1"; return 1; }
}

# counts NAME PASSED FAILED SKIPPED
counts()
{
	awk -v name="$1" -v wanted="$2 $3 $4" '
		$1 == name && $6 " " $7 " " $8 == wanted { found = 1 } { print } END { exit !found }' "$work/logs/times"
}

# ---- what a command's output and exit status mean --------------------------------------------

mkdir "$work/bin"
export PATH=$work/bin:$PATH
# What the run that this is part of compares with is not what these runs do.
unset AUXTRACE_BASE
# cases ANNOUNCED RESULT...: prints what cmocka prints.
cat > "$work/bin/cases" <<'END'
#!/bin/sh
announced=$1 failed=0
shift
echo "[==========] Running $announced test(s)."
for result in "$@"; do
	echo "[ RUN      ] $result"
	case $result in
	good*) echo "[       OK ] $result" ;;
	skip*) echo "[  SKIPPED ] $result" ;;
	bad*) echo "why it is bad"; echo "[  FAILED  ] $result"; failed=$((failed + 1)) ;;
	crash*) printf 'no line'; kill -SEGV $$ ;;
	hang*) timeout 500 sleep "$endless" ;;
	stop*) exit 0 ;;
	esac
done
echo "[==========] $announced test(s) run."
echo "[  PASSED  ] some test(s)."
for result in "$@"; do
	case $result in
	skip*) echo "[  SKIPPED ] $result" ;;
	bad*) echo "[  FAILED  ] $result" ;;
	esac
done
exit $failed
END
# Programs as a guest has them, each with a name.
program()
{
	printf '#!/bin/sh\n%s\n' "$2" > "$work/bin/$1"
	chmod +x "$work/bin/$1"
}
chmod +x "$work/bin/cases"
program p-good 'cases 3 good1 good2 skip'
program p-bad 'cases 2 good bad'
program p-late 'cases 1 good; exit 139'
program p-crash 'exec cases 2 good crash'
program p-skip 'exit 77'
program p-silent 'exit 0'
program p-hang 'exec cases 1 hang'

suite --limit 2 <<-END
	run good 1 1 cases 3 good1 good2 skip
	run bad 1 1 cases 3 good bad good
	run lies 1 1 cases 2 good bad; true
	run crash 1 1 exec cases 3 good crash good
	run hang 1 1 cases 2 good hang
	run stops 1 1 cases 3 good stop
	run fewer 1 1 cases 4 good good
	run no-case 1 1 cases 0
	run two-groups 1 1 cases 1 good; cases 2 good good
	run silent 1 1 true
	run plain 1 1 echo all is well
	run plain-bad 1 1 echo oh; exit 3
	run verdict 1 1 echo 'me: FAILED: seven is odd'; echo '  | 7'; seq 20; seq -f 'vm: %g' 40; exit 1
	run killed 1 1 echo oh; kill -9 \$\$
	run skipped 1 1 echo cannot run here; exit 77
	run all-skipped 1 1 cases 1 skip
	skip left-out it is not its turn
	run guest-good 1 1 sh tests/guest/suite.sh p-good p-skip
	run guest-skip 1 1 sh tests/guest/suite.sh p-skip p-skip
	run guest-bad 1 1 sh tests/guest/suite.sh p-bad p-good
	run guest-crash 1 1 sh tests/guest/suite.sh p-crash p-good
	run guest-late 1 1 sh tests/guest/suite.sh p-late p-good
	run guest-silent 1 1 sh tests/guest/suite.sh p-silent p-good
	run guest-hang 1 1 SUITE_LIMIT=1 sh tests/guest/suite.sh p-hang p-good
	run guest-lost 1 1 echo == p-good; exit 124
END
for expected in 'good 2 0 1' 'bad 2 1 0' 'lies 1 1 0' 'crash 1 2 0' 'hang 1 2 0' 'stops 1 2 0' \
	'fewer 2 2 0' 'no-case 0 1 0' 'two-groups 3 0 0' 'silent 0 1 0' 'plain 1 0 0' \
	'plain-bad 0 1 0' 'verdict 0 1 0' 'killed 0 1 0' 'skipped 0 0 1' 'all-skipped 0 0 1' \
	'guest-good 2 0 2' 'guest-skip 0 0 2' 'guest-bad 3 1 1' 'guest-crash 3 1 1' \
	'guest-late 3 1 1' 'guest-silent 2 1 1' 'guest-hang 2 2 1' 'guest-lost 0 1 0'; do
	# shellcheck disable=SC2086 # four words
	verdict "passed, failed, skipped: $expected" counts $expected
done
for expected in 'bad: case bad' 'lies: case bad' 'crash: case crash' 'crash: 1 announced, and not run' \
	'hang: case hang' 'hang: it was killed at its time limit' 'stops: case stop' \
	'stops: 1 announced, and not run' 'fewer: 2 announced, and not run' \
	'no-case: a group without a case' 'silent: it printed nothing' 'plain-bad: exit status 3' \
	'verdict: exit status 1' '  | me: FAILED: seven is odd' '  |   | 7' '  | 20' \
	'killed: exit status 137' 'guest-crash: case crash' 'guest-late: p-late: exit status 139' \
	'guest-silent: p-silent: ran no case' 'guest-hang: p-hang: killed at its time limit' \
	'guest-lost: p-good did not end' 'left-out: it is not its turn'; do
	verdict "named at the end: $expected" says "$work/said" "  $expected"
done
verdict "a failed case's own words are shown" says "$work/said" "    | why it is bad"
verdict "the console of a VM is shown where it ran, too" says "$work/said" "    | vm: 40"
verdict "the last line is the sum" \
	[ "$(tail -n 1 "$work/said")" = "29 passed, 22 failed, 13 skipped" ]
verdict "the exit status says that some failed" [ "$status" = 1 ]
verdict "what hung has left no process" sh -c "! pgrep -fx 'sleep $endless'"
verdict "each has a log" [ "$(find "$work/logs" -name '*.log' | wc -l)" = 24 ]
suite --times
verdict "--times prints the table of that run" [ "$status $(head -n 1 "$work/said")" = \
	"0 | proof | cores | seconds | CPU seconds | planned |" ]
verdict "with a row for each" [ "$(grep -cE '^\| [a-z-]+ \| 1 \| [0-9]+ \| [0-9]+ \| 1 \|$' "$work/said")" = 24 ]
verdict "and their sum" grep -qE '^\| all 24 \| \| [0-9]+ \| [0-9]+ \| \|$' "$work/said"

# ---- what runs when -------------------------------------------------------------------------

# shellcheck disable=SC2016 # what programs expand
program meets 'touch "$1"; for i in $(seq 100); do [ ! -e "$2" ] || exit 0; sleep 0.1; done; exit 1'
# shellcheck disable=SC2016
program alone 'mkdir "$1" && sleep 0.3 && rmdir "$1" && echo ok'
suite <<-END
	run one 1 1 echo begun; meets $work/one $work/other
	run other 1 1 echo begun; meets $work/other $work/one
	run alone 2 1 alone $work/lock
	run beside 1 1 alone $work/lock
	run behind 2 1 alone $work/lock
	try in-time 1 1 echo ok
END
verdict "two that share are side by side, one that needs both cores is alone" [ "$status" = 0 ]
verdict "the sum of a good run" [ "$(tail -n 1 "$work/said")" = "6 passed, 0 failed, 0 skipped" ]
suite --until $((EPOCHSECONDS + 60)) --end $((EPOCHSECONDS + 3)) <<-END
	try long 1 1000 echo begun
	run must 1 1000 echo begun
	run endless 1 1 echo begun; sleep 500
	run late 2 1 echo begun
END
verdict "one whose time does not fit is left out" says "$work/said" "  long: no time was left for it"
verdict "one that must run is begun all the same" counts must 1 0 0
verdict "at the end of all what still runs is killed" counts endless 0 1 0
verdict "and nothing is begun" says "$work/said" "  late: no time was left for it"
verdict "what is left out is skipped, or failed if it had to run" \
	[ "$(tail -n 1 "$work/said")" = "1 passed, 2 failed, 1 skipped" ]
suite --until $((EPOCHSECONDS + 60)) <<-END
	try build-9.9 2 1000 builds 9.9
	try boots 1 1 echo begun 9.9
	try boots-another 1 1 echo begun 9.8
END
verdict "what needs a kernel that was not built is left out, too" \
	says "$work/said" "  boots: no time was left to build its kernel, 9.9"
verdict "and nothing else" [ "$(tail -n 1 "$work/said")" = "1 passed, 0 failed, 2 skipped" ]
suite <<< "what is this"
verdict "a line that is no line is refused" [ "$status" = 2 ]
suite < /dev/null
verdict "so is an empty queue" [ "$status" = 2 ]
scripts/suite --logs "$work/logs" <<< "run long 1 1 echo begun; sleep $endless" > /dev/null 2>&1 &
first=$!
until pgrep -fx "sleep $endless" > /dev/null; do sleep 0.1; done
# Two that write the same logs would judge each other's.
suite <<< 'run other 1 1 echo begun'
verdict "a second run with the same logs is refused" [ "$status" = 2 ]
kill "$first"
wait "$first" || true
verdict "with the runner ends what it runs" sh -c "! pgrep -fx 'sleep $endless'"

# ---- which proofs ---------------------------------------------------------------------------

repo=$work/repo
mkdir -p "$repo"/{scripts,tests,a,b}
cp scripts/proofs "$repo/scripts/"
touch "$repo"/{a/one,b/two,b/three}
# The first names b/two by its path, and so depends on it.
# shellcheck disable=SC2016 # as a script has it
printf '#!/bin/sh\n. "$here/../b/two"\n# b/three\n' > "$repo/a/run"
cat > "$repo/tests/proofs" <<-END
	@a : a/ b/two
	quick check 1 10 : true : scripts/* @a
	all check 1 10 : true : *
	of-a first 1 100 : a/run 6.12 : @a
	b1 turn 1 100 : true : b/*
	b2 turn 1 100 : true : b/*
	b3 turn 2 100 : true 7.2 : b/*
	b4 turn 1 100 : true : b/*
	untested tests/* : the table
END
in_repo()
{
	(cd "$repo" && "$@")
}
commit()
{
	in_repo git -c user.name=A -c user.email=a@b commit -q --allow-empty -m "$1" --date "$2"
}
proofs()
{
	in_repo scripts/proofs "$@" 2> "$work/change"
}
export GIT_COMMITTER_DATE='2026-01-01 00:00:00 +0000'
in_repo git init -q
in_repo git add .
commit first "$GIT_COMMITTER_DATE"
verdict "a table that is true" proofs verify
verdict "what a queue boots" [ "$(proofs long | proofs kernels)" = "6.1 6.12 7.2" ]
verdict "long ones: those that need both cores, then the others" \
	[ "$(proofs long | cut -d ' ' -f 2 | xargs)" = "b3 of-a b1 b2 b4" ]
verdict "by name, from either" [ "$(proofs b1 quick | cut -d ' ' -f 2 | xargs)" = "b1 quick" ]
verdict "no name that is not there" sh -c "! '$repo/scripts/proofs' b9"
verdict "with one commit all is changed" sh -c "'$repo/scripts/proofs' ci 1000 | grep -c ^try | grep -qx 5"

export GIT_COMMITTER_DATE='2026-01-02 00:00:00 +0000'
echo change > "$repo/a/one"
in_repo git add .
commit second "$GIT_COMMITTER_DATE"
proofs ci 200 > "$work/queue"
verdict "of a change what it touches comes first" \
	[ "$(grep -m 1 "^try" "$work/queue" | cut -d " " -f 2)" = of-a ]
verdict "what does not fit is named" [ "$(grep -c '^skip b[1-4] untouched' "$work/queue")" -ge 1 ]
verdict "all of check is there" [ "$(grep -c '^run' "$work/queue")" = 2 ]
for turn in 1 2 3 4; do
	commit "turn $turn" "$GIT_COMMITTER_DATE"
	proofs ci 300 | sed -n 's/^try \(b[0-9]\) .*/\1/p'
done | sort -u > "$work/turns"
verdict "with the commits each has its turn" [ "$(xargs < "$work/turns")" = "b1 b2 b3 b4" ]
verdict "the change is that of the last hours" grep -q '^1 files changed' "$work/change"
git clone -q --depth 1 "file://$repo" "$work/shallow"
verdict "of a shallow clone all is changed" sh -c "'$work/shallow/scripts/proofs' ci 1000 2>&1 | grep -q 'all did'"
echo change > "$repo/b/new"
proofs ci 1000 > "$work/queue"
verdict "what is not committed is changed as well" grep -q '^2 files changed' "$work/change"

# A kernel is built before what boots it, if the cache lacks it; its time is planned.
cp "$repo/tests/proofs" "$work/proofs"
cat >> "$repo/tests/proofs" <<-END
	build-9 build 2 50 : scripts/build-kernel 9-debug : scripts/*
	boots-9 first 1 90 : a/run 9-debug : @a scripts/*
END
printf '#!/bin/sh\n[ -e cached ]\n' > "$repo/scripts/build-kernel"
chmod +x "$repo/scripts/build-kernel"
names()
{
	proofs "$@" | sed -n 's/^\(run\|try\) \([^ ]*\) .*/\2/p' | xargs
}
verdict "the kernel is built before the proof that boots it" \
	[ "$(names ci 1000 | cut -d ' ' -f 3-5)" = "build-9 of-a boots-9" ]
verdict "without time for the build the proof is left out" \
	grep -q '^skip boots-9 ' <(proofs ci 110)
verdict "and nothing is built" not grep -q build-9 <(proofs ci 110)
touch "$repo/cached"
verdict "what is in the cache is not built" \
	[ "$(names ci 1000 | cut -d ' ' -f 3-4)" = "of-a boots-9" ]
verdict "and takes no time" grep -q '^try boots-9 ' <(proofs ci 110)
verdict "a proof by its name comes with the build" [ "$(names boots-9)" = "build-9 boots-9" ]
verdict "check-long builds first" [ "$(names long | cut -d ' ' -f 1)" = build-9 ]
rm "$repo/cached" "$repo/scripts/build-kernel"
cp "$work/proofs" "$repo/tests/proofs"

# What has passed on the same files need not run again.
cp scripts/suite "$repo/scripts/"
sed -i 's/: a.run 6.12 :/: echo good :/; s/: true :/: echo good :/; s/: true 7.2 :/: echo good; exit 77 :/' "$repo/tests/proofs"
# The queue of check-long without what $work/passed has
but_passed()
{
	proofs long --but-passed "$work/passed"
}
left()
{
	but_passed | sed -n 's/^run \([^ ]*\) .*/\1/p' | xargs
}
verdict "nothing has passed before the first run" [ "$(left)" = "b3 of-a b1 b2 b4" ]
# A file that one depends on, and not the others, changes while it runs.
sed -i 's|^b4 turn 1 100 : echo good : b/\*|b4 turn 1 100 : echo good; date >> b/four : b/four|; s|: b/\*$|: b/t*|' "$repo/tests/proofs"
touch "$repo/b/four"
but_passed > "$work/queue"
proofs digests > "$work/digests"
in_repo scripts/suite --logs "$work/logs" --passed "$work/passed" --digests "$work/digests" < "$work/queue" > "$work/said" 2>&1
verdict "what was skipped, or had its files changed, has not passed" [ "$(left)" = "b3 b4" ]
verdict "what passed is named, with what it counted" \
	grep -qE '^skip of-a on the same files it ended on .*: 1 passed, 0 failed, 0 skipped$' <(but_passed)
echo change >> "$repo/b/two"
verdict "a file is another one: what depends on it has not passed" [ "$(left)" = "b3 of-a b1 b2 b4" ]
in_repo git checkout -q b/two
verdict "the file is as before, and so is what passed" [ "$(left)" = "b3 b4" ]
chmod +x "$repo/b/two"
verdict "a program is another file than a text" [ "$(left)" = "b3 of-a b1 b2 b4" ]
chmod -x "$repo/b/two"
sed -i 's/of-a first 1 100 : echo good/of-a first 1 100 : echo better/' "$repo/tests/proofs"
verdict "so is what runs another command" [ "$(left)" = "b3 of-a b4" ]
sed -i -E "s/^(b[0-9] [0-9a-f]+) [0-9]+/\1 $((EPOCHSECONDS - 15 * 86400))/" "$work/passed"
verdict "what passed long ago runs again" [ "$(left)" = "b3 of-a b1 b2 b4" ]
rm "$repo/b/four" "$repo/scripts/suite"
cp "$work/proofs" "$repo/tests/proofs"

echo 'far turn 1 1 : a/run : nowhere/*' >> "$repo/tests/proofs"
echo 'untested b/one a/* : of no use' >> "$repo/tests/proofs"
touch "$repo/alone"
proofs verify > "$work/faults" || true
for fault in 'far uses a/run, and does not depend on it' 'far uses b/two, and does not depend on it' \
	'no file is nowhere/*' 'no file is b/one' 'no proof depends on alone, and no reason is given' \
	'a/one is said to be untested, and proofs depend on it'; do
	verdict "found: $fault" says "$work/faults" "proofs: $fault"
done
verdict "and nothing else but a/run and b/two" [ "$(wc -l < "$work/faults")" = 7 ]
echo 'quick turn 1 1 : twice : a/*' >> "$repo/tests/proofs"
verdict "a name stands once" sh -c "! '$repo/scripts/proofs' verify"

# ---- .ci/run --------------------------------------------------------------------------------

cp -r .ci "$repo/"
program need 'exit 0'
# ends_with STATUS LINE SCRIPT: of .ci/run, if scripts/check is this script
ends_with()
{
	local got=0 said

	program check "$3"
	cp "$work/bin/check" "$work/bin/need" "$repo/scripts/"
	said=$(cd "$repo/.ci" && bash run) || got=$?
	echo "$said"
	[ "$got" = "$1" ] && [ "$(tail -n 1 <<< "$said")" = "$2" ]
}
verdict "its last line is the sum" ends_with 0 '3 passed, 0 failed, 1 skipped' \
	'echo "3 passed, 0 failed, 1 skipped"'
verdict "its status is that of the tests" ends_with 1 '3 passed, 1 failed, 0 skipped' \
	'echo "3 passed, 1 failed, 0 skipped"; exit 1'
verdict "what ends before the tests is a failure" ends_with 1 '0 passed, 1 failed, 0 skipped' \
	'echo "check: FAILED in step 2"; exit 1'
verdict "whatever it says" ends_with 1 '0 passed, 1 failed, 0 skipped' 'echo oh'
verdict "also if it is killed" ends_with 1 '0 passed, 1 failed, 0 skipped' 'echo oh; kill -9 $$'

[ "$failures" -eq 0 ] || exit 1
