#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make html: Sphinx has no warning; no document, man page or header loses a word on the way;
# linkchecker follows each link and anchor from the first page, and so comes to all pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/deps html all
scripts/need linkchecker man-db groff-base || { echo "html: cannot run: linkchecker or man is missing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make -s html
echo "ok: Sphinx builds the pages without a warning"
python3 tests/html_words.py

# As root, linkchecker becomes a user who may not read this tree.
cp -r build/html "$work/html"
chmod -R a+rX "$work"
# What is elsewhere in the network is not asked for.
printf '[filtering]\nignore=^https?:\n[AnchorCheck]\n' > "$work/config"
if ! linkchecker --config "$work/config" --no-status --verbose --output csv "file://$work/html/index.html" \
		> "$work/links" 2> "$work/said"; then
	echo "html: broken links:" >&2
	grep -aE ';False;|Anchor .* not found' "$work/links" >&2 || cat "$work/said" >&2
	exit 1
fi
# Column 8 is the address that was read.
cut -d';' -f8 "$work/links" | sed -n "s|^file://$work/html/||p" | sed 's/#.*//' | sort -u > "$work/reached"
(cd build/html && find . -name '*.html' | sed 's|^\./||') | sort > "$work/pages"
if ! comm -23 "$work/pages" "$work/reached" > "$work/lonely" || [ -s "$work/lonely" ]; then
	echo "html: no link leads to:" >&2
	cat "$work/lonely" >&2
	exit 1
fi
echo "ok: links lead to each of $(wc -l < "$work/pages") pages; none of $(grep -ac ';True;' "$work/links") is broken"
