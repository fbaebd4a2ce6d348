# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For a Debian without a network, whose mirror (tests/host/mirror.sh) is in /srv/mirror; to be sourced behind check.sh.

use_mirror()
{
	rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
	mkdir -p /var/lib/apt/lists/partial /var/cache/apt/archives/partial
	echo 'deb [trusted=yes] file:/srv/mirror ./' > /etc/apt/sources.list
	check "apt has a mirror" apt-get update
	export DEBIAN_FRONTEND=noninteractive
}
