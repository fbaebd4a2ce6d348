#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest whose log bench/calls reads. Writes the kernel's symbols to /out for
# it.
set -eu
bench trigger
cat /proc/kallsyms >/out/kallsyms
