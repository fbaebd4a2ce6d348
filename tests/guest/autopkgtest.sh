#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs as root in a full Debian with the packages and their source in /root/auxtrace, and a mirror of what they depend
# on in /srv/mirror (tests/host/autopkgtest.sh).
# check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh
# shellcheck source=tests/guest/lib/use-mirror.sh
. /bin/use-mirror.sh

use_mirror
check "the kernel's headers and autopkgtest are installed" apt-get install -y "linux-headers-$(uname -r)" autopkgtest dpkg-dev

# This machine is for the test alone. The autopkgtest of Debian 11 and 12 takes that for granted; those behind them are told.
testbed=(null)
if autopkgtest-virt-null --help | grep -q -e --fake-capability; then
	testbed+=(--fake-capability isolation-machine)
fi
# No test may be skipped here, which would be status 2. The test uses check() as well, whose file must not be this one's.
runs()
{
	autopkgtest --no-built-binaries --output-dir /tmp/autopkgtest-out /root/auxtrace/*.deb /root/auxtrace/*.dsc \
		-- "${testbed[@]}" > /tmp/autopkgtest-said 2>&1
}
check "autopkgtest passes" runs
sed 's/^/    | /' /tmp/autopkgtest-said
check "it ran debian/tests/installed" grep -qE '^installed +PASS' /tmp/autopkgtest-out/summary
exit "$failed"
