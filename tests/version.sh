#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The version stands in the file VERSION. Some files must repeat it, because what reads them
# cannot look it up: DKMS, the kernel's build, dpkg, people. They agree. The man pages get it when they are built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(cat VERSION)
if ! grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' VERSION || [ "$(wc -l < VERSION)" -ne 1 ]; then
	echo "version: the file VERSION must be one line of three numbers, as 1.2.3: it has '$version'"
	exit 1
fi

failed=0
# has FILE SED-EXPRESSION [VERSION]: the expression prints the version that the file has
has()
{
	local found wanted=${3-$version}

	found=$(sed -nE "$2" "$1" | sort -u)
	if [ "$found" != "$wanted" ]; then
		echo "version: $1 has '${found:-none}', not $wanted"
		failed=1
	else
		echo "ok: $1"
	fi
}

has dkms.conf 's/^PACKAGE_VERSION="(.*)"$/\1/p'
has module/main.c 's/^MODULE_VERSION\("(.*)"\);$/\1/p'
for page in man/*.[1-9]; do
	has "$page" 's/^\.TH .*"auxtrace ([^"]*)".*$/\1/p' @VERSION@
done
has rust/auxtrace-sys/Cargo.toml 's/^version = "(.*)"$/\1/p'
has packaging/rpm/auxtrace.spec 's/^Version:\t(.*)$/\1/p'
has packaging/rpm/auxtrace-kmod.spec 's/^Version:\t(.*)$/\1/p'
has packaging/arch/PKGBUILD 's/^pkgver=(.*)$/\1/p'
# Behind the version there may be the package's own.
has debian/changelog '1s/^auxtrace \(([0-9.]*[0-9])[~+)].*$/\1/p'
has README.md 's/^.*dkms install auxtrace\/([0-9.]*[0-9]).*$/\1/p'
# The newest release, or what will be the next
has CHANGELOG.md '/^## \[/ { /\[Unreleased\]/ n; n; s/^(What will be |## \[)([0-9.]*[0-9]).*$/\2/p; q }'
exit $failed
