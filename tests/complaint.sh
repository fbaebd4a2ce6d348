#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/complaint, by which scripts/vm judges a kernel's console: it finds each kind of
# report, and nothing in what is harmless. tests/host/judge.sh has a kernel make them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d "${TMPDIR:-/tmp}/auxtrace-complaint.XXXXXX")
trap 'rm -rf "$work"' EXIT

# With lines around it, and the UART's carriage returns.
console()
{
	printf '[    0.000000] Linux version 6.12\r\n[    1.000000] %s\r\n[    1.100000] msr: loaded\r\n' "$1"
}

failures=0
while read -r line; do
	console "$line" > "$work/log"
	if ! scripts/complaint "$work/log" | grep -qF -- "$line"; then
		echo "complaint: FAILED: not found: $line"
		failures=$((failures + 1))
	fi
done <<'END'
BUG: unable to handle page fault for address: ffffc90000000000
kernel BUG at mm/slub.c:448!
WARNING: CPU: 1 PID: 77 at kernel/events/core.c:1 perf_event_alloc+0x12/0x40
Oops: general protection fault, probably for non-canonical address 0x1: 0000 [#1] SMP
Kernel panic - not syncing: Fatal exception
Call Trace:
unchecked MSR access error: WRMSR to 0x570 (tried to write 0x0000000000000001)
BUG: Bad page state in process test_mmap  pfn:12345
list_add corruption. prev->next should be next (ffff888), but was ffff999. (prev=ffff777).
list_add double add: new=ffff888, prev=ffff999, next=ffff777.
refcount_t: underflow; use-after-free.
BUG: KASAN: slab-use-after-free in channel_free+0x12/0x40 [auxtrace]
BUG: KCSAN: data-race in settle / status_read
BUG: KCSAN: data-race in settle+0x40/0x90 [auxtrace]
UBSAN: array-index-out-of-bounds in foo.c:165:12
ODEBUG: free active (active state 0) object: ffff888 object type: hrtimer hint: delay_over+0x0/0x10
ODEBUG: Out of memory. ODEBUG disabled
WARNING: possible recursive locking detected
WARNING: possible circular locking dependency detected
WARNING: possible irq lock inversion dependency detected
WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected
WARNING: inconsistent lock state
WARNING: bad unlock balance detected!
WARNING: lock held when returning to user space!
WARNING: suspicious RCU usage
[ BUG: Invalid wait context ]
INFO: trying to register non-static key.
BUG: MAX_LOCKDEP_ENTRIES too low!
turning off the locking correctness validator.
Disabling lock debugging due to kernel taint
BUG: sleeping function called from invalid context at kernel/locking/mutex.c:283
BUG: scheduling while atomic: test_start/77/0x00000002
note: test_start[77] exited with preempt_count 1
BUG: using smp_processor_id() in preemptible [00000000] code: test_start/77
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [test_start:77]
watchdog: Watchdog detected hard LOCKUP on cpu 1
INFO: task test_start:77 blocked for more than 120 seconds.
kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
kmemleak: Memory pool empty, consider increasing CONFIG_DEBUG_KMEMLEAK_MEM_POOL_SIZE
kmemleak: Cannot allocate a kmemleak_object structure
kmemleak: Kernel memory leak detector disabled
END

while read -r line; do
	console "$line" > "$work/log"
	if [ -n "$(scripts/complaint "$work/log")" ]; then
		echo "complaint: FAILED: harmless, but found: $line"
		failures=$((failures + 1))
	fi
done <<'END'
RETBleed: WARNING: Spectre v2 mitigation leaves CPU vulnerable to RETBleed attacks, data leaks possible!
rcu: 	RCU lockdep checking is enabled.
Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
... MAX_LOCKDEP_SUBCLASSES:  8
kasan: KernelAddressSanitizer initialized (generic)
kcsan: enabled early
kcsan: non-strict mode configured - use CONFIG_KCSAN_STRICT=y to see all data races
kmemleak: Kernel memory leak detector initialized (mem pool available: 37654)
kmemleak: Automatic memory scanning thread started
kmemleak: Cannot allocate a scan area, scanning the full object
rcu: Preemptible hierarchical RCU implementation.
auxtrace: loading out-of-tree module taints kernel.
END

console 'RETBleed: WARNING: Spectre v2' > "$work/log"
echo 'BUG: KASAN: out-of-bounds in x' >> "$work/log"
echo 'Call Trace:' >> "$work/log"
if [ "$(scripts/complaint "$work/log")" != 'BUG: KASAN: out-of-bounds in x' ]; then
	echo "complaint: FAILED: not the first that counts is printed"
	failures=$((failures + 1))
fi
[ "$failures" -eq 0 ] || exit 1
echo "complaint: each report is found, and nothing else"
