#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: how long `auxtrace record true` takes, and perf's, one after the other; to /out/ours and
# /out/theirs, for tests/host/record-true.sh. A first run of each fills the kernel's caches.
set -e

cd /tmp
for run in 0 1 2 3; do
	rm -rf recording perf.data
	elapsed auxtrace record -o recording true > ours
	elapsed /perf/perf record -e intel_pt// -o perf.data true > theirs
	[ -s recording/kcore ]
	[ -s recording/kallsyms ]
	[ -s perf.data ]
	if [ $run != 0 ]; then
		cat ours >> /out/ours
		cat theirs >> /out/theirs
	fi
done
