#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: auxtrace selftest, by each source, and where it has to fail.
# check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

cd /out || exit 1
without_perf=$PATH
PATH=$PATH:/perf

# status N COMMAND...: its exit status is N.
status()
{
	want=$1
	shift
	"$@"
	[ $? -eq "$want" ]
}

# fails PATTERN ARGUMENT...: a check of selftest does, and its reason matches.
fails()
{
	pattern=$1
	shift
	auxtrace selftest "$@" > /tmp/said 2>&1
	[ $? -eq 1 ] && cat /tmp/said && grep -q '^FAILED' /tmp/said && grep -qE "$pattern" /tmp/said
}

no_perf()
{
	PATH=$without_perf auxtrace selftest perf | grep 'there is no perf'
}

check "all checks pass with Intel PT" auxtrace selftest -o pt.json
cp /tmp/out pt
check "none was skipped" grep -qx '20 passed, 0 failed, 0 skipped' pt
check "and with BTS" auxtrace selftest --source bts -o bts.json
cp /tmp/out bts
check "none was skipped" grep -qx '20 passed, 0 failed, 0 skipped' bts
check "a quick run changes no code" sh -c 'auxtrace selftest --quick -o - > quick.json'
check "nothing is left of it" test -z "$(ls -d /tmp/auxtrace-selftest-* 2> /dev/null)"

check "without perf, that check says so" no_perf

# ended: a signal ends it in the midst of its checks, and it ends by that signal
ended()
{
	auxtrace selftest &
	until ls -d /tmp/auxtrace-selftest-* > /dev/null 2>&1; do sleep 0.1; done
	kill -TERM $!
	wait $!
	[ $? -eq 143 ] && ! ls -d /tmp/auxtrace-selftest-*
}
check "a signal that ends it leaves nothing either" ended

# It answers when it traces.
mkfifo ctl ack
exec 3<> ctl 4<> ack
auxtrace record -a -C 1 -S --control fifo:ctl,ack -o holds &
holder=$!
echo ping >&3
read -r answer <&4
check "a recorder has CPU 1" test "$answer" = ack
check "it fails while another session has the CPU" fails 'a session: .*(busy|holds)' --quick -C 1 overwrite
check "and says so in the report" sh -c 'auxtrace selftest -q -C 1 -o busy.json overwrite > /dev/null; grep -q "\"outcome\": \"failed\"" busy.json'
check "on another CPU it passes" auxtrace selftest --quick -C 0 overwrite
echo stop >&3
wait $holder
check "a CPU that is not there is refused" status 2 auxtrace selftest -C 99
check "the report goes where nobody can write: exit status 1" status 1 auxtrace selftest -q -o /nowhere/report full
rmmod auxtrace
check "without the module it says so" status 1 auxtrace selftest
exit "$failed"
