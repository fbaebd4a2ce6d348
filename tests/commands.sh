#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every command line of every document is run by a test, or tests/commands says why not: tests/commands.py. And that
# script notices what it is for: each fault below, made in a copy of the tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/need python3 git
tests/commands.py

work=$(mktemp -d "${TMPDIR:-/tmp}/auxtrace-commands.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
git ls-files --cached --others --exclude-standard | while read -r file; do
	[ ! -f "$file" ] || echo "$file"
done | tar -c -T - | tar -x -C "$work/tree"
# With it, git tells the copy's files.
git -C "$work/tree" init -q

# noticed TEXT FILE: FILE of the copy, which is on stdin now, makes tests/commands.py say TEXT, and that alone
noticed()
{
	cp "$work/tree/$2" "$work/before"
	cat > "$work/tree/$2"
	if "$work/tree/tests/commands.py" > "$work/said" || ! grep -qF -- "$1" "$work/said" ||
		[ "$(grep -c '^commands: ' "$work/said")" -ne 1 ]; then
		echo "not noticed: $1"
		cat "$work/said"
		exit 1
	fi
	cp "$work/before" "$work/tree/$2"
	echo "ok: noticed: $1"
}

# and FILE LINE...: the file with these lines behind it
and()
{
	cat "$1"
	printf '%s\n' "${@:2}"
}

# shellcheck disable=SC2016 # backquotes of Markdown
with_code='Then `make frobnicate` helps.' quote='`make -s frobnicate`' of_comment='`make sbom names each file`' of_library='`lockdown_mode()`'
line=$(($(wc -l < README.md) + 2))
and README.md '' '    frobnicate --all   # new' |
	noticed "README.md:$line: no test runs this: frobnicate --all" README.md
and README.md '' "$with_code" | noticed "README.md:$line: no test runs this: make frobnicate" README.md
and CHANGELOG.md '' "$with_code" | noticed "no test runs this: make frobnicate" CHANGELOG.md
and docs/crash.md '' '```' 'frobnicate --all' '```' | noticed "no test runs this: frobnicate --all" docs/crash.md
and man/auxtrace-info.1 .SH MORE .EX 'frobnicate \-\-all' .EE |
	noticed "no test runs this: frobnicate --all" man/auxtrace-info.1
and docs/recipes.md '' '    frobnicate' | noticed "no test runs this: frobnicate" docs/recipes.md
and tests/README.md '' '    make check T=frobnicate' | noticed "no test runs this: make check T=frobnicate" tests/README.md
and tests/commands 'frobnicate : none | it is not there' |
	noticed "no document has such a line any more: frobnicate" tests/commands
and tests/commands 'frobnicate => make | it is not there' | noticed "no line that is typed has: frobnicate" tests/commands
and tests/commands 'frobnicate' | noticed "not an entry: frobnicate" tests/commands
sed 's/^make sbom : licences/make sbom : frobnicate/' tests/commands |
	noticed "neither a proof nor a file: frobnicate" tests/commands
sed "s/^make sbom : licences | .*/make sbom : licences | $quote/" tests/commands |
	noticed "licences does not have: make -s frobnicate" tests/commands
# The one is in a comment of the script, the other in the library.
sed "s/^make sbom : licences | .*/make sbom : licences | $of_comment/" tests/commands |
	noticed "licences does not have: make sbom names each file" tests/commands
sed "s/^make all : man | .*/make all : man | $of_library/" tests/commands |
	noticed "man does not have: lockdown_mode()" tests/commands
sed 's/^make sbom : licences | .*/make sbom : licences | by it/' tests/commands |
	noticed "the reason does not quote, in backquotes, what licences runs" tests/commands
# scripts/proofs does not follow this name: the script is read here, not run.
host=tests/host
sed 's/With an Intel machine/With a machine/' "$host/deb-debian.sh" |
	noticed "does not type what is under ## With an Intel machine" "$host/deb-debian.sh"
