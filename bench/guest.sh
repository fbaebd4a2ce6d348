#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest with one CPU and measures records, then trace interrupts; perf's
# without our NMI handlers, after rmmod. Writes the symbols and addresses that bench/nmi
# needs to /out.
set -eu
cat /proc/kallsyms >/out/kallsyms
cat /sys/module/auxtrace/sections/.text >/out/text
bench records
bench nmi-others
bench pmi-ours
rmmod auxtrace
bench pmi-perf
