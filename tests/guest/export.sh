#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# export.sh pt|bts|power|event: runs in the guest, with two CPUs: makes recordings that the host exports and has perf
# decode. Their names say what they are of. check calls the functions; single quotes are for other shells.
# shellcheck disable=SC2016,SC2317

# shellcheck source=tests/guest/lib/check.sh
. /bin/check.sh
source=$1
cd /out || exit 1
if [ "$source" = power ]; then
	check "record power events" auxtrace record -a --config tsc,mtc,mtc_period=3,pwr_evt -m 4M -o power -- sleep 0.5
	# There too, the CPU can leave out TNT packets.
	check "record without TNT packets" auxtrace record -u --config tsc,notnt -m 4M -o notnt -- turns notnt.turns
	exit "$failed"
fi

if [ "$source" = event ]; then
	traced=tsc,mtc,mtc_period=3,event
	check "record events" auxtrace record -a --config "$traced" -m 16M -o event -- turns event.turns
	check "record events of user code" auxtrace record -a -u --config "$traced" -m 4M -o event-user -- turns user.turns
	check "record events of the kernel, and power events" \
		auxtrace record -a -k --config "$traced,pwr_evt" -m 16M -o event-kernel -- turns kernel.turns
	check "record what PTWRITE writes" auxtrace record -u --config tsc,ptw,fup_on_ptw -o ptwrite -- ptwrite
	check "without its addresses" auxtrace record -u --config tsc,ptw -o ptwrite-alone -- ptwrite
	exit "$failed"
fi

recorded()
{
	name=$1
	shift
	check "$name" auxtrace record --source "$source" -o "$name" "$@"
}

# The processes of a shell, and threads and processes that take turns.
cat > work.sh <<'SH'
turns "$1.turns"
uname -r | cat > /dev/null
SH

# By BTS these have millions of branches.
if [ "$source" = pt ]; then
	recorded all -a -m 16M -- sh work.sh all
	recorded kernel -a -k -m 16M -- sh work.sh kernel
	# Two BPF programs, which are gone at the end.
	recorded bpf -m 16M -- bpf 20
else
	recorded alone -m 4M -- turns alone.turns alone
fi
recorded user -a -u -m 4M -- sh work.sh user
# perf's own records of switches, in place of those of the data ring.
recorded task -m 16M --data-size 256K -- sh work.sh task
# Windows that triggers begin and end.
recorded windows -k -m 4M --start-paused --on 'syscall:newuname:enter=resume,pid=command' \
	--on 'syscall:newuname:exit=pause,pid=command' -- sh -c 'uname -r; uname -m'
# Trace that is lost while the recorder is stopped: it goes on where there is space again.
cat > fill.sh <<'SH'
kill -STOP $PPID
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); done
kill -CONT $PPID
sleep 1
ls /bin > /dev/null
SH
recorded gaps -a -u -m 16K -C 1 -- sh fill.sh
# A flight recorder: its snapshots, and the newest trace.
cat > flight.sh <<'SH'
ls -l /bin > /dev/null
kill -USR2 $PPID
until [ -e flight/snapshot.0001/meta ]; do sleep 0.01; done
ls -l /bin > /dev/null
SH
recorded flight -a -S -m 256K -- sh flight.sh
# The oldest trace is overwritten, and begins anywhere.
recorded newest -a --overwrite -m 64K --switches -- sh work.sh newest
exit "$failed"
