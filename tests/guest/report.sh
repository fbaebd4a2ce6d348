#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: records a program with a slow call for tests/host/report.sh, and tries the subcommands that do
# such things by themselves. check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

cd /out || exit 1
on="latency:uprobe:/bin/sessions:table_put..uretprobe:/bin/sessions:table_put>10ms=freeze"
check "a flight recorder freezes at a slow call" \
	auxtrace record -o recording -C 0 --overwrite -m 2M --on "$on" -- sessions 8000
grep -E 'frozen by|slow calls' /tmp/out

cd /tmp || exit 1
check "why-slow does that by itself" says 'called only here.* table_rehash' \
	auxtrace why-slow sessions:table_put --over 10ms -m 256K -- sessions 5500
check "and shows how" grep -q '^+ auxtrace record -o auxtrace.data --overwrite .*table_put>10ms=freeze' /tmp/said
check "and by which command it compared" grep -q '^+ auxtrace report --compare table_put ' /tmp/said

crashes()
{
	auxtrace last -n 30 -- sessions 700 > /tmp/last 2>&1 || return
	grep -q ' u .*_Exit (libc.so.6)' /tmp/last || { cat /tmp/last; return 1; }
	auxtrace last -n 5 -- sh -c 'kill -SEGV $$' > /tmp/last 2>&1
	[ $? -eq 139 ]
}
check "last shows what a program called last, and passes on how it ended" crashes
exit "$failed"
