#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: with the module that DKMS built, and the kernel for which it did, a command is recorded
# (tests/host/deb.sh).

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh
cd /tmp || exit 1

check "info finds nothing missing on $(uname -r)" auxtrace info
check "a command is recorded, with the kernel" record all -- ls /
check "all of its trace" adds_up all
check "it decodes" decodes all
check "with the kernel's functions" has ' k +(__do_sys_|__x64_sys_|do_sys)'
exit "$failed"
