#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: record --source bts on a real kernel, as a user sees it, compared with
# Intel PT. check calls the functions.
# shellcheck disable=SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh

# For check.sh: the size of a BTS record, and how to record by BTS.
granule=24
record()
{
	auxtrace record --source bts -o "$@"
}

record_pt()
{
	auxtrace record -o "$@"
}

# user_only RECORDING: it has addresses, none with bit 63 set.
user_only()
{
	auxtrace dump "$1" | grep -F ' from=' > /tmp/edges
	echo "$(wc -l < /tmp/edges) branches, of which $(grep -cF ' from=0000000000000000 ' /tmp/edges) come from the kernel"
	[ -s /tmp/edges ] && ! grep -E '(from|to)=[89a-f]' /tmp/edges
}

# functions RECORDING: the functions that it shows. The module's own start and stop
# functions of either source get the same name.
functions()
{
	auxtrace script "$1" 2> /tmp/summary | sed -nE 's/^ *[0-9]+ +[0-9.-]+ .{15} [0-9/-]+ +([<>]?[0-9.]+[mun]?s)? +[uk] +([^ +]*).*/\2/p' |
		sed -E 's/^(pt|bts)_(start|stop)$/SOURCE_\2/' | sort -u
}

# instructions RECORDING: the offset in its page and the size of each; pages are random.
instructions()
{
	auxtrace script --insn "$1" 2> /tmp/summary | sed -n 's/^[0-9a-f]*\([0-9a-f]\{3\} [0-9a-f]\)$/\1/p'
}

# The script's argument is "only" on a machine whose Intel PT the module cannot use.
if [ "$1" = only ]; then
	cd /out || exit 1
	check "info says that BTS is all there is" says 'can trace here, with --source bts only' auxtrace info
	check "and exits with status 0" auxtrace info
	check "list names it" says 'Sources for --source: bts\.' auxtrace list
	check "record without --source says which to use" says 'Intel PT of this CPU has no .*use --source bts' auxtrace record -o pt -- true
	check "and that one works" record only -- uname -r
	check "its byte counts add up" adds_up only
	check "decodes" decodes only
	exit $failed
fi

check "info reports both sources" says '^yes  bts .*free' auxtrace info
check "list names both" says 'Sources for --source: pt bts' auxtrace list

cd /out || exit 1

# ---- modes ------------------------------------------------------------------

check "record runs a command" record both -- ls /
check "its byte counts add up" adds_up both
check "script decodes it without an error" decodes both
check "with the program's functions" has ' u .*\((ls|busybox|libc|ld-)'
check "and the kernel's" has ' k .*entry_SYSCALL_64|<system call>'
check "script --branches decodes it" decodes both --branches
check "with the blocks between them" has ' -> .*  [1-9][0-9]* instructions, [1-9][0-9]* bytes'
check "record of the kernel only" record kernel -k -- ls /
check "its byte counts add up" adds_up kernel
check "decodes" decodes kernel
check "and has no user code" has_not '^ *[0-9]+ +[0-9.-]+ u '
check "record of user code only" record user -u -- ls /
check "its byte counts add up" adds_up user
check "decodes" decodes user
check "and has no kernel code" has_not '^ *[0-9]+ +[0-9.-]+ k '
check "and no kernel address" user_only user
for of in both kernel user; do
	case $of in
	both) flag='' ;;
	*) flag=--$of ;;
	esac
	# shellcheck disable=SC2086
	check "the newest of $of" record "newest-$of" $flag --overwrite -m 64K -- ls -lR /sys/kernel/debug
	check "its byte counts add up" adds_up "newest-$of"
	check "decodes" decodes "newest-$of"
done
check "and no user recording has an address of the kernel" user_only newest-user
check "no more than the areas of two CPUs were kept" test "$(account newest-both read)" -le 131072
check "full trace into a small area, by a reader that keeps up" record small -u -m 16K -- ls /bin
check "decodes" decodes small

# ---- triggers ---------------------------------------------------------------

seed_example
cp /tmp/script /out/bts.calls
check "the same recorded by Intel PT" record_uname record_pt seed-pt
functions seed > /tmp/of-bts
functions seed-pt > /tmp/of-pt
cat /tmp/of-bts /tmp/of-pt > /tmp/out
check "shows the same functions" diff /tmp/of-pt /tmp/of-bts
check "a uprobe's function" record program -u -C 0 --start-paused \
	--on 'uprobe:/bin/auxtrace:main=resume,pid=command' \
	--on 'uretprobe:/bin/auxtrace:main=pause,pid=command' -- auxtrace --version
check "which acted once each" test "$(trigger program acted 1) $(trigger program acted 2)" = "1 1"
check "decodes" decodes program
check "with what the function called" has 'u .*puts|u .*printf'
check "the same recorded by Intel PT" record_pt program-pt -u -C 0 --start-paused \
	--on 'uprobe:/bin/auxtrace:main=resume,pid=command' \
	--on 'uretprobe:/bin/auxtrace:main=pause,pid=command' -- auxtrace --version
instructions program > /tmp/of-bts
instructions program-pt > /tmp/of-pt
check "shows the same instructions" cmp /tmp/of-pt /tmp/of-bts
check "more than 1000 of them" test "$(wc -l < /tmp/of-bts)" -gt 1000
check "samples" record samples -C 0 --overwrite --on 'sched:sched_process_exit=sample=4K' -- uname -r
check "were taken" test "$(trigger samples acted 1)" -ge 1
check "decode on their own" decodes samples --samples
check "and are named" has 'sample 1 +<trigger 1, sched:sched_process_exit=sample=4K, process [0-9]+, [0-9]+ bytes'
check "samples are taken beside a full trace" record beside -C 0 --on 'syscall:newuname:exit=sample=8K,pid=command' -- uname -r
check "the full trace decodes" decodes beside
check "its samples too" decodes beside --samples
check "a freeze by latency" record slow -C 0 --overwrite -m 64K \
	--on 'latency:syscall:clock_nanosleep:enter..syscall:clock_nanosleep:exit>20ms=freeze' -- \
	sh -c 'usleep 1000; usleep 50000; usleep 1000'
check "decodes" decodes slow
check "and says how long it took" has 'to trigger 3, latency:.*=freeze, after [0-9]+ ns'
check "a flight recorder" record flight --ptrace -C 0 -S -m 64K \
	--on 'syscall:newuname:exit=freeze,hold-off=400ms,count=2' -- \
	sh -c "$freezing"
check "has a snapshot of each freeze" test -d /out/flight/snapshot.0002
check "the first decodes" decodes flight/snapshot.0001
check "the second decodes" decodes flight/snapshot.0002
check "and ends with the freeze" has 'to trigger 1, syscall:newuname:exit=freeze'

# ---- what is refused is named ------------------------------------------------

check "a config" refused 'nothing to choose' -e tsc
check "a size that is not a power of two" refused 'power of two' -m 12K
check "an unknown source" says 'it takes pt or bts' auxtrace record --source lbr -- true
check "branches of Intel PT" says 'whose packets leave out' auxtrace script --branches seed-pt
hold
check "a second session" refused 'holds BTS' -m 64K
check "info says that it is held" says '^NO   bts .*holds it' auxtrace info
let_go
exit $failed
