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

# No test may be skipped here, which would be status 2. autopkgtest of Debian 13 and later skips a test that wants an
# isolated machine, which it does not take this one for. The test uses check() as well, whose file must not be this one's.
runs()
{
	autopkgtest --no-built-binaries --ignore-restrictions isolation-machine --output-dir /tmp/autopkgtest-out \
		/root/auxtrace/*.deb /root/auxtrace/*.dsc -- null > /tmp/autopkgtest-said 2>&1
}
check "autopkgtest passes" runs
sed 's/^/    | /' /tmp/autopkgtest-said
check "it ran debian/tests/installed" grep -qE '^installed +PASS' /tmp/autopkgtest-out/summary
exit "$failed"
