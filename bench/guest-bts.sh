#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest with one CPU: BTS, perf's without our NMI handlers in its way. What
# bench/nmi needs to know of the kernel goes to /out.
set -eu
cat /proc/kallsyms >/out/kallsyms
cat /sys/module/auxtrace/sections/.text >/out/text
bench bts-many
bench bts-ours
rmmod auxtrace
bench bts-perf
