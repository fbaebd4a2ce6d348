#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest whose log bench/calls reads. Writes the symbols and the address that it needs
# to /out.
set -eu
bench switch
cat /proc/kallsyms >/out/kallsyms
cat /sys/module/auxtrace/sections/.text >/out/text
