#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: records a stress load whole, with the kernel, for tests/host/export-large.sh. check calls the
# functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

cd /out || exit 1

# More processes than CPUs: they are switched, wait in pipes, and come and go. Each turn has system calls, page
# faults and loops of user code.
cat > /tmp/load.sh <<'EOT'
worker()
{
	n=0
	while [ "$n" -lt "$1" ]; do
		n=$((n + 1))
		seq 3000 | sort -r | md5sum
		cat /proc/stat /proc/kallsyms 2> /dev/null | head -c 100000 | gzip | gunzip | wc
		ls -lR /proc/self/ /sys/class > /dev/null
	done
}
for _ in 1 2 3; do
	worker "$1" > /dev/null &
done
sessions 1000 > /dev/null
wait
EOT

load()
{
	auxtrace record -a -m 64M -o load -- sh /tmp/load.sh 2 || return
	adds_up load && [ "$(account load gaps)" -eq 0 ]
}

check "a stress load is recorded without a gap" load
tail -n 3 /tmp/out
exit "$failed"
