#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest whose log bench/calls reads; what it needs to know of the kernel
# goes to /out.
set -eu
bench trigger
cat /proc/kallsyms >/out/kallsyms
