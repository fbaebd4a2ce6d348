#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The man pages agree with what they describe: tests/man.py holds them against the command, the header,
# the module and what writes and reads recordings. groff and mandoc have nothing to say of them.
#
# Examples are run where there is no /dev/auxtrace: so their options, values and events are found to be right, but
# not what they record and show, which the tests in guests try.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/deps all
scripts/need python3 groff-base man-db || { echo "man: cannot run: groff and man are missing"; exit 77; }
cache=${AUXTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/auxtrace}
mandoc=$cache/tools/mandoc/usr/bin/mandoc
[ -x "$mandoc" ] || scripts/debget deb bookworm "$cache/tools/mandoc" mandoc
make -s all

failed=0
for page in build/man/*.[1-9]; do
	# The same as Debian's lintian asks of man, without its database.
	complaints=$(
		LC_ALL=C.UTF-8 groff -man -mtty-char -Tutf8 -ww -z -rLL=80n "$page" 2>&1 >/dev/null
		# mandoc reports each reference to a page that is not installed here, and what it would itself write otherwise.
		"$mandoc" -T lint -W warning "$page"
		lexgrog "$page" >/dev/null 2>&1 || echo "lexgrog finds no name and description under NAME"
	) || true
	if [ -n "$complaints" ]; then
		printf 'man: %s:\n%s\n' "$page" "$complaints"
		failed=1
	fi
done
[ "$failed" = 0 ] && echo "ok: groff, mandoc and man have nothing to say of $(find build/man -name "*.[1-9]" | wc -l) pages"
python3 tests/man.py || failed=1
exit "$failed"
