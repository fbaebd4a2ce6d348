#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: each command of docs/recipes.md (/bin/recipes.md), in one shell and one directory, and
# compares what it prints with what stands there. check calls the functions.
#   recipes.sh DIRECTORY    where the sources of the programs are on the host
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

# The sources, where the compiler had them: perhaps below /tmp, which is the guest's own.
mkdir -p "$1" /out/recipes /tmp/recipes
cp /usr/src/*.c "$1/"
cd /out/recipes || exit 1

# N.command, N.expected and N.title, for each command of a console block, in order
awk '
	/^## / { title = substr($0, 4) }
	/^```/ { inside = $0 == "```console"; next }
	inside && /^# / {
		close(command); close(expected)
		n++
		command = n ".command"; expected = n ".expected"
		print substr($0, 3) > command
		printf "" > expected
		print title > (n ".title")
		next
	}
	inside { print > expected }' /bin/recipes.md

# Each line of the first file is one of the second, in that order. Numbers may differ, with their units and what bounds
# them; a duration may be missing.
# shellcheck disable=SC2016 # awk's
compare='
	function plain(line) {
		gsub(/0x[0-9a-f]+/, "N", line)
		gsub(/[<>]?[0-9]+(\.[0-9]+)?(ns|us|ms|s)?/, "N", line)
		gsub(/[ \t]+/, " ", line)
		gsub(/( N)+ u /, " u ", line)
		gsub(/( N)+ k /, " k ", line)
		sub(/^ /, "", line)
		return line
	}
	FILENAME == ARGV[1] { if ($0 != "...") expected[++n] = plain($0); next }
	plain($0) == expected[found + 1] { found++ }
	END {
		if (found < n) { print "not printed: " expected[found + 1]; exit 1 }
	}'

as_written()
{
	awk "$compare" "$1.expected" "$1.out" || { tail -n 50 "$1.out"; return 1; }
}

# The commands see the directory as a user would: without these files.
n=1
while [ -e "$n.command" ]; do
	cd /tmp/recipes || exit 1
	# shellcheck disable=SC1090 # one shell, for $!
	. "/out/recipes/$n.command" > "/out/recipes/$n.out" 2>&1
	status=$?
	cd /out/recipes || exit 1
	# The text says where a command is to fail.
	[ "$status" -eq 0 ] || echo "exit status $status" >> "$n.out"
	check "$(cat "$n.title"): $(cat "$n.command")" as_written "$n"
	n=$((n + 1))
done
check "there are ten problems" test "$(sort -u ./*.title | wc -l)" -ge 10
exit "$failed"
