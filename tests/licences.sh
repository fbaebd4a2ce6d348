#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# reuse finds each file's copyright and licence, and the licences' texts. The licence that a file names in
# itself is the one that debian/copyright has for it. make sbom names each file with its checksum, and
# the packages that dpkg-shlibdeps finds; it writes the same bytes in another directory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/deps sbom
scripts/need dpkg-dev
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
	echo "licences: FAILED: $1" >&2
	exit 1
}

reuse lint > "$work/lint" || { cat "$work/lint"; fail "reuse lint"; }
echo "ok: reuse has nothing to say of $(git ls-files | wc -l) files"

make -s sbom > /dev/null
sbom=build/auxtrace.spdx
# A file in which both differ has both.
awk '$1 == "FileName:" { file = $2; n = 0 }
	$1 == "LicenseInfoInFile:" && $2 != "Linux-syscall-note" && ++n == 2 { print file }' "$sbom" > "$work/two"
[ "$(cat "$work/two")" = ./module/trigger/kinds.h ] ||
	fail "debian/copyright has another licence than the file (kinds.h alone has two): $(paste -sd' ' "$work/two")"
echo "ok: files and debian/copyright name the same licences"

git ls-files | grep -vE '^(COPYING|LICENSES/)' | while read -r file; do
	[ -L "$file" ] || [ ! -s "$file" ] || sha1sum "$file"
done | sed 's|  |  ./|' | sort > "$work/files"
awk '$1 == "FileName:" { file = $2 } $1 == "FileChecksum:" { print $3 "  " file }' "$sbom" | sort > "$work/described"
[ "$(wc -l < "$work/files")" -gt 900 ] || fail "only few files are compared"
diff "$work/files" "$work/described" > "$work/differ" || fail "the SBOM has other files or checksums: $(head -n 5 "$work/differ")"
echo "ok: the SBOM has the checksums of $(wc -l < "$work/files") files"

# dpkg-shlibdeps asks for a source package.
mkdir -p "$work/deb/debian"
printf 'Source: x\nMaintainer: x <x@x>\n\nPackage: x\nArchitecture: any\nDescription: x\n' > "$work/deb/debian/control"
products=("$PWD/build/tools/auxtrace" "$PWD/build/userlib/libauxtrace.so.0" "$PWD/build/decodelib/libauxtrace-decode.so.0")
(cd "$work/deb" && LD_LIBRARY_PATH=${products[1]%/*} dpkg-shlibdeps --ignore-missing-info -O "${products[@]}" 2> /dev/null) |
	sed 's/^[^=]*=//; s/([^)]*)//g' | tr -d ' ' | tr ',' '\n' | sort > "$work/shlibs"
sed -n 's/^Relationship: SPDXRef-Package-auxtrace DYNAMIC_LINK SPDXRef-Package-//p' "$sbom" | sort > "$work/linked"
[ "$(wc -l < "$work/shlibs")" -ge 6 ] || fail "dpkg-shlibdeps finds only: $(paste -sd' ' "$work/shlibs")"
diff "$work/shlibs" "$work/linked" > "$work/differ" || fail "dpkg-shlibdeps has other packages: $(cat "$work/differ")"
echo "ok: the SBOM has the packages that dpkg-shlibdeps finds: $(paste -sd' ' "$work/linked")"

# With what is not committed yet
git clone -q . "$work/clone"
git ls-files | tar -c -T - | tar -x -C "$work/clone"
git -C "$work/clone" add -A
cp -r build "$work/clone/build"
"$work/clone/scripts/sbom" "$work/clone/build" > /dev/null
cmp "$sbom" "$work/clone/build/auxtrace.spdx" || fail "another directory, other bytes"
echo "ok: the SBOM of another clone has the same bytes"
