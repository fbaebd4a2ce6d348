/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/auxtrace: hardware instruction trace (Intel PT, BTS) around events.
 *
 * This header is the specification. Behaviour that it does not promise may change.
 *
 * DOC: life of a session
 *
 * One open file is one session. A session traces a set of CPUs; its part on one CPU
 * is a channel. The order of calls is:
 *
 *  1. open(2);
 *  2. AUXTRACE_IOC_SETUP;
 *  3. mmap(2) of the regions of each channel;
 *  4. AUXTRACE_IOC_START;
 *  5. any number of AUXTRACE_IOC_PAUSE and AUXTRACE_IOC_RESUME, from any thread;
 *  6. AUXTRACE_IOC_STOP;
 *  7. close(2).
 *
 * START after STOP continues at the positions where the session stopped. The last
 * close of the file stops the session. Its memory stays readable until it is unmapped.
 *
 * Each channel has an AUX area, to which the hardware (the trace PMU of its CPU) writes
 * the trace. It may also have a data ring, to which the module writes records about the
 * trace. The inhibit mask of a channel holds the reasons why its hardware must be off
 * (AUXTRACE_INHIBIT_*): a user's PAUSE, a trigger's PAUSE, a full area and so on. The
 * hardware is on exactly while the mask is 0.
 *
 * A session is in one of two modes. In full-trace mode the hardware never overwrites
 * AUX data that the reader has not consumed: the reader publishes how far it has read
 * (its tail, see struct auxtrace_user_page). In overwrite mode the newest data replace
 * the oldest. The AUX area of an overwrite session may be divided into slots: the hardware
 * writes to one slot, and a reader can have other slots retained (AUXTRACE_IOC_SNAPSHOT).
 * The data ring has the same choice of its own: it keeps unread records, or it is
 * overwritable.
 *
 * DOC: when a CPU or the machine goes down
 *
 * A CPU that goes offline sets AUXTRACE_INHIBIT_OFFLINE on its channels, which ends the
 * window (a gap: gaps_offline) and is cleared when the CPU is back. A suspend, a
 * hibernation, and the loading of a hibernated kernel's image do the same on all CPUs,
 * before they touch a device or memory; triggers stay armed. After a reboot, also by
 * kexec, nothing is left.
 *
 * If the kernel crashes, by panic() or by an oops that starts a crash kernel, all channels
 * set AUXTRACE_INHIBIT_OFFLINE for good. The trace, the records and the status pages stay
 * in memory as they were: @produced of a status page says where the trace of its CPU
 * ends. An oops that only ends a task changes nothing.
 *
 * DOC: structs
 *
 * Every ioctl takes a pointer to a struct. Its first member, size, is the size of the
 * struct as the caller knows it. If the caller's struct is longer than the kernel's,
 * the excess must be zero (else -E2BIG). If it is shorter, the kernel takes the missing
 * members as zero and writes back only the caller's size; the shortest size accepted is
 * that of version 2, which is this header's first one (else -EINVAL). Entries of arrays that
 * the kernel fills have a size of their own in the same way (effect_size, cut_size), a multiple
 * of 8: each is written to that size, and what the kernel does not know of it is zeroed. So
 * structs grow at their ends.
 *
 * All structs have one layout for 32-bit and 64-bit callers, which may be mixed freely.
 *
 * The kernel writes members named out_* and ignores them on input. Reserved members
 * must be zero. Pointers are passed as __u64. CPU sets are bit masks as for
 * sched_setaffinity(2): bit n of the little-endian bit string is CPU n; the length is
 * in bytes.
 *
 * DOC: processes
 *
 * A process is named by its number, which another process may have after it has ended. The
 * kernel exports no function by which a module could resolve a pidfd (5.10 to 7.3), so the flags
 * *_PIDFD are reserved and refused. User space can do without: it reads the number from
 * the line "Pid:" of /proc/self/fdinfo/PIDFD, makes the call, and then asks poll(2) whether
 * the pidfd is readable. If it is not, the process had not ended, and the number was its own
 * all the time. "Pid:" is in the PID namespace for which /proc was mounted, but the module takes
 * numbers in the caller's: they are the same if readlink(2) of /proc/self gives getpid(2).
 * libauxtrace does all this.
 *
 * DOC: errno
 *
 * These codes have one meaning wherever they appear:
 *
 *  ENOTTY       no such ioctl
 *  EFAULT       a pointer is invalid, or points to memory that is not ordinary (a device's
 *               registers). The call had no effect: the kernel pins the memory of an
 *               answer before it begins, so that what other threads unmap meanwhile
 *               cannot make it fail later
 *  E2BIG        trailing members that the kernel does not know are not zero; or a size is
 *               beyond a page (4096 bytes on x86)
 *  EINVAL       size is smaller than in version 2; unknown flag; a reserved
 *               member is not zero; other reasons are listed at each ioctl
 *  EBADFD       wrong state: no SETUP yet, or the call needs a started session
 *  EACCES       the caller has neither CAP_PERFMON nor CAP_SYS_ADMIN, and what it asks for is not
 *               allowed without (see DOC: without a capability)
 *  EPERM        the kernel is locked down (see DOC: kernel lockdown)
 *  ENODEV       this machine does not have the trace PMU, or a CPU that the session
 *               needs is offline
 *  EBUSY        another user, usually perf, holds the trace hardware
 *  ENOMEM       out of memory, beyond RLIMIT_MEMLOCK (without CAP_IPC_LOCK), or beyond the
 *               limit of the caller's memory cgroup
 *  EINTR        a fatal signal arrived while the call waited
 *
 * A call that fails leaves the session unchanged.
 *
 * DOC: kernel lockdown
 *
 * The module refuses what tracefs and perf refuse on a locked-down kernel
 * (kernel_lockdown(7)): in confidentiality mode, to add a trigger with a probe in the
 * kernel. That is KPROBE, KRETPROBE, and PERF with an event of perf's kprobe PMU.
 * Everything else works in every mode, as perf's intel_pt and intel_bts do: sessions that
 * trace the kernel, TASK, and the other kinds of triggers. Triggers that were added
 * before remain.
 *
 * DOC: position
 *
 * A position in an AUX area counts bytes since SETUP. It is never reset and does not
 * wrap in practice. The byte at position p is at offset p % aux_size of the mapping. In
 * a session with slots, it is at offset slot * slot_size + p % slot_size, where
 * slot_size is aux_size / slots.
 *
 * A position in a data ring counts the bytes of its records in the same way. A record
 * that ends at position p begins at p - size. Its first byte is at this offset of the
 * mapping:
 *
 *  forward ring    (p - size) % data_size
 *  backward ring   -p % data_size, so that the newest record has the lowest address
 *
 * A record may wrap from the end of the mapping to its start, at a multiple of 8 bytes.
 * In an overwritable data ring with slots, the offset is slot * slot_size plus the same
 * formula modulo slot_size, where slot_size is data_size / slots.
 *
 * DOC: time
 *
 * Times are values of the clock that auxtrace_info.out_clock names (AUXTRACE_CLOCK_*) and each
 * status page repeats. On x86 it is the time-stamp counter of the CPU, which is also the time
 * in the trace. INFO tells its frequency, and how to convert it to perf's clock.
 *
 * DOC: windows
 *
 * A window is the trace from one start of the hardware to its next stop. It begins with
 * PSB+, so a decoder can decode it on its own. Windows of a channel are numbered from 1.
 *
 * The module also stops the hardware briefly for its own upkeep: to move the STOP mark
 * of a full-trace area (the ToPA entry with the STOP bit), or to read the position for
 * STATUS with SYNC or for SNAPSHOT without flags. These stops do not end the window.
 *
 * DOC: task scope
 *
 * SETUP can limit a session to some threads, its members. While a CPU runs any other thread, its
 * channel has the reason TASK. A session begins with these members:
 *
 *  THREAD       the thread auxtrace_setup.tid
 *  PROCESS      all threads of its process
 *
 * Threads that are created later become members before their first instruction: with PROCESS,
 * those that a member creates in its own process; with DESCENDANTS, whatever a member creates,
 * threads and processes. Without both, none. A member stays one until it ends, also across
 * execve(2). (The thread that calls it lives on with the ID of its process, all others end.) What a
 * member had created before SETUP is not followed.
 *
 * The kernel's switch from one thread to another is where a window begins and ends
 * (AUXTRACE_CAUSE_TASK). The hardware is turned on before the kernel changes stacks, and off before it,
 * too. So in a session with KERNEL, a window begins with the instructions of the switch
 * that the thread before executes for the member, and a member's last ones are missing.
 * Interrupts while a member runs are traced with it. A switch from one member to another
 * changes nothing: SWITCH records tell them apart.
 *
 * All else is as without a scope. A trigger's hit while a thread runs that is not a member does
 * not act; it counts as held. What a hit in a member does on other CPUs, it does whatever they run.
 *
 * DOC: filters
 *
 * SETUP can limit a session of Intel PT to ranges of addresses (struct auxtrace_filter), as many
 * as the CPU has. They are addresses, not places in a file: the ranges hold in every address
 * space that runs.
 *
 * With filters of the action TRACE, the trace has the branches of code in these ranges, and no
 * others. Times and changes of the address space (TSC, MTC, PIP and PSB packets) are in the trace
 * also while other code runs. The target of a branch that leaves a range is in the trace.
 *
 * A filter of the action STOP ends tracing on a CPU when a branch, an interrupt or an exception
 * leads into its range at a CPL that the session traces (a TraceStop packet). Nothing follows it
 * until the next window begins there: by RESUME after a PAUSE, by a trigger, by SNAPSHOT with
 * SLOT, with a task scope when the CPU next comes from a thread that is no member to one that is. Meanwhile
 * the window is open, and the channel's inhibit mask is 0. Code that runs into the range
 * without a branch does not end it.
 *
 * A STOP range may overlap a TRACE range, and comes before it.
 *
 * With AUXTRACE_SETUP_ADDRESS_SPACE, Intel PT traces while the CPU uses the page tables of the process
 * of auxtrace_setup.tid (the CPU's CR3 filter). That is all code of its threads, and what the
 * kernel does for them and in interrupts meanwhile. It is also code of the kernel's own threads: they
 * keep the page tables of the thread before. Unlike a task scope it costs a context switch nothing,
 * follows nobody, and begins no windows. The page tables are those of the time of SETUP: after an
 * execve(2) of the process nothing more is traced. No other process gets them while the file is open.
 * The same holds after the process has turned linear-address masking on (LAM, arch_prctl(2)), which changes
 * its CR3; SETUP refuses a process that has it on already.
 *
 * With page-table isolation user code and the kernel have page tables of their own in each process, and
 * the CPU compares with one of them. Such a session traces either user code or the kernel.
 *
 * DOC: without a capability
 *
 * A caller that has neither CAP_PERFMON nor CAP_SYS_ADMIN may trace own processes if the administrator
 * allows it: the module's parameter "unprivileged" is the number of sessions that such callers may
 * have at a time, by default 0. INFO says so (AUXTRACE_MAY_TRACE_OWN). The rules are perf's for its
 * events of a task. SETUP then takes a session
 *
 *  - of user code (USER without KERNEL), with a task scope;
 *  - of threads that have the caller's real user and group as real, effective and saved IDs, no
 *    capability that the caller lacks (or are in a user namespace that the caller's user has created),
 *    and a dumpable program: one that the user can read, and that has not given up to be debugged
 *    (PR_SET_DUMPABLE). The threads of the caller's own process may have any rights.
 *
 * These rules hold at SETUP, and at each execve(2) of a member: a program with other rights (set-user-ID,
 * set-group-ID, file capabilities), or one that cannot be read, is not traced from its first
 * instruction on. Its thread is no member any more, nor is what it creates. What a member becomes without
 * an execve(2) makes no difference.
 *
 * The session stays what it is, whoever holds its descriptor. START needs the capability, or the real
 * user who set it up while the parameter is not 0. TRIGGER_ADD and TASK need the capability. Records
 * name no thread but members: another one that a CPU runs has the ID 0 in them. There are SWITCH records
 * of switches from a member and to one, and no others.
 *
 * Requests that interrupt other CPUs wait if they are made too often: about a thousand times a second
 * in the long run. (START and STOP count as five.) A SETUP waits if more than about ten a second are
 * made without a capability on the whole machine. PAUSE and RESUME of the caller's CPU alone do not wait.
 * Nor does poll(2): if it would have to, new tails are taken a little later, and until then it reports no
 * POLLIN for their channels.
 *
 * DOC: data ring
 *
 * The data ring holds records (struct auxtrace_record_*) in the order in which they were
 * made; in a backward ring the newest has the lowest address. Each record begins with
 * perf's event header and ends with struct auxtrace_record_end, so a reader can walk
 * both ways. Sizes are multiples of 8. Task, interrupt and NMI context of the channel's
 * CPU write records and never wait for each other.
 *
 * A ring that is not overwritable keeps unread records. When it is full, the module
 * drops new records and counts them. It writes a LOST record with that count when a
 * writer, poll(2), STATUS with SYNC or PAUSE_OUTPUT next finds space. A record that an
 * NMI writes at that moment may come before the LOST record.
 *
 * In an overwritable ring the newest records replace the oldest. A reader either pauses
 * its output first (PAUSE_OUTPUT, or SNAPSHOT with PAUSE), or copies the ring while it
 * is written and then checks auxtrace_status_page.data_reserved to see which part of
 * the copy is intact.
 *
 * DOC: Branch Trace Store
 *
 * With AUXTRACE_PMU_INTEL_BTS the AUX area holds one struct auxtrace_branch for each
 * taken branch, far transfer, interrupt and exception. Each is at a position that is a
 * multiple of its size, 24 bytes, so one may wrap from the end of the area (or slot) to
 * its start. Window boundaries and the status page's @produced are such multiples. The
 * oldest position in an overwrite area need not be: round it up.
 *
 * Everything else in this header holds for both trace PMUs, with these differences:
 *
 *  - BTS records no time. The times of AUX and WINDOW records bound when the branches
 *    before and after their positions were taken.
 *  - A window begins with the first branch after the start. It has no PSB+.
 *  - The CPU filters by the CPL at the target of a branch, so the record of a return to
 *    user code carries a kernel address. In a session without AUXTRACE_SETUP_KERNEL
 *    these addresses read as 0: the hardware writes to a 64 KiB buffer of the kernel,
 *    from which the module copies at each interrupt and stop. Every session works
 *    this way while the kernel isolates page tables (AUXTRACE_BTS_BUFFERED). In
 *    all other sessions the hardware writes the AUX area directly.
 *  - In full-trace mode the module stops the hardware some space before the reader's
 *    tail: a quarter of the area, at most 256 KiB. Branches that are taken while the
 *    trace interrupt waits for an NMI to end go to that space. The hardware does not
 *    count branches that it does not record, neither while it waits for the reader nor
 *    when that space did not suffice: gaps_full counts the occurrences, not the branches.
 *
 * DOC: regions of Intel PT
 *
 * Intel PT stops, and raises an interrupt, at the end of a region of memory only. So in full trace a reader
 * is woken up to a region after the watermark, and the hardware stops up to two regions before it would
 * write to what is unread; in overwrite mode a request with @delay_bytes is carried out up to a
 * region late. Positions and lengths are exact.
 *
 * A region is a page in areas (or slots) of up to 1 MiB in full trace, and of up to 512 KiB in
 * overwrite mode. A larger area has regions of up to 1/256 of it (overwrite mode: 1/128), never of more
 * than the watermark or 128 MiB, and smaller ones if its memory is in smaller pieces. A session of BTS
 * has regions of a page.
 *
 * DOC: Intel PT with tables of one entry
 *
 * The first CPUs with Intel PT have AUXTRACE_PT_SINGLE_ENTRY. Their hardware writes a region of
 * memory at a time, as large as the AUX area has it in one piece, and stops at its end. Before
 * that, it raises an interrupt, in which the module goes on to the next region. Everything in this
 * header holds for these CPUs, with these differences:
 *
 *  - If the interrupt comes too late, trace is lost, and the last packet before may be cut. The
 *    window ends, and the next begins (AUXTRACE_CAUSE_FULL). gaps_full counts this in both modes,
 *    AUXTRACE_AUX_TRUNCATED is set, and AUXTRACE_SETUP_FULL_STOP does not take it for a full area.
 *  - When the hardware is stopped at a position in the last 512 bytes of a page, the module fills
 *    these with zeros, which are PAD packets, and the position is the page's end. Then the next
 *    RESUME takes one WRMSR more.
 *  - Where memory is in small pieces, there are more interrupts: one for each page at worst.
 */
#ifndef _UAPI_LINUX_AUXTRACE_H
#define _UAPI_LINUX_AUXTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changes only with an incompatible change: compare for equality. */
#define AUXTRACE_ABI_VERSION	2

#define AUXTRACE_IOC_MAGIC	0xa7

/*
 * Trace PMUs: values of auxtrace_setup.pmu, and bit numbers in
 * auxtrace_info.out_pmus.
 */
#define AUXTRACE_PMU_INTEL_PT	0
#define AUXTRACE_PMU_INTEL_BTS	1

/* Clocks: values of auxtrace_info.out_clock. See DOC: time. */
#define AUXTRACE_CLOCK_TSC	1	/* x86: the time-stamp counter */

/* ---- INFO ------------------------------------------------------------- */

/*
 * Also check on every online CPU whether the hardware is free now. That creates and removes perf
 * events and sends an IPI to every CPU, so it needs CAP_PERFMON or CAP_SYS_ADMIN.
 */
#define AUXTRACE_INFO_PROBE	(1u << 0)

/* auxtrace_info.out_may: what the caller may do. */
#define AUXTRACE_MAY_TRACE	(1u << 0)	/* CAP_PERFMON or CAP_SYS_ADMIN */
#define AUXTRACE_MAY_LOCK	(1u << 1)	/* CAP_IPC_LOCK: RLIMIT_MEMLOCK does not apply */
#define AUXTRACE_MAY_TRACE_OWN	(1u << 2)	/* see DOC: without a capability */

/**
 * struct auxtrace_info - AUXTRACE_IOC_INFO: what this machine and the caller can do
 * @size: sizeof(struct auxtrace_info)
 * @flags: AUXTRACE_INFO_*
 * @caps: pointer to memory for the capabilities, struct auxtrace_cap_*, one after another
 * @caps_len: bytes at @caps, at most 4096, which suffice in every version; 0: the caller wants
 *	none
 * @out_caps_len: bytes that all capabilities take. Of those, the kernel writes as many as fit
 *	whole into @caps_len, and then zeroes up to @caps_len: a tag of 0 (AUXTRACE_CAP_END)
 *	follows the last one unless it ends less than a struct auxtrace_cap before @caps_len
 * @out_abi_version: AUXTRACE_ABI_VERSION of the module
 * @out_pmus: bit mask of the trace PMUs that sessions can use
 * @out_may: AUXTRACE_MAY_*
 * @out_nr_cpu_ids: highest possible CPU number plus one
 * @out_page_size: page size in bytes: alignment of auxtrace_setup.aux_watermark, and
 *	size of the status page and of the user page
 * @out_clock: AUXTRACE_CLOCK_*: the clock of all times
 * @out_clock_hz: its frequency
 * @out_time_zero: converts a time to nanoseconds of perf's clock, local_clock():
 *	time_zero + ((time * time_mult) >> time_shift), computed in 128 bits
 * @out_time_mult: as above; 0 if the kernel's clock is another one
 * @out_time_shift: as above
 *
 * Without PROBE it succeeds for every caller and on every CPU, if the struct is well formed:
 * INFO is how a program finds out what is missing.
 *
 * The number of this ioctl and the offset of @out_abi_version are the same in every version from
 * 2 on, and each takes the struct of version 2. So a program can ask a module of any of them for
 * its version.
 *
 * Errors:
 *
 *  EINVAL       unknown flag
 *  E2BIG        @caps_len is above 4096
 *  EACCES       PROBE without CAP_PERFMON and CAP_SYS_ADMIN
 */
struct auxtrace_info {
	__u32 size;
	__u32 flags;
	__u64 caps;
	__u32 caps_len;
	__u32 out_caps_len;
	__u32 out_abi_version;
	__u32 out_pmus;
	__u32 out_may;
	__u32 out_nr_cpu_ids;
	__u32 out_page_size;
	__u32 out_clock;
	__u64 out_clock_hz;
	__u64 out_time_zero;
	__u32 out_time_mult;
	__u32 out_time_shift;
};
#define AUXTRACE_IOC_INFO	_IO(AUXTRACE_IOC_MAGIC, 0)

/*
 * Capabilities: what is particular to one trace PMU or one architecture. Readers skip tags that
 * they do not know, take members beyond @size as 0, and ignore what they do not know of a longer
 * one. A tag occurs once.
 */
#define AUXTRACE_CAP_END	0		/* no capability: behind the last one */
#define AUXTRACE_CAP_X86	1		/* struct auxtrace_cap_x86 */
#define AUXTRACE_CAP_INTEL_PT	2		/* struct auxtrace_cap_intel_pt */
#define AUXTRACE_CAP_INTEL_BTS	3		/* struct auxtrace_cap_intel_bts */
#define AUXTRACE_CAP_PMU(pmu)	(0x100u + (pmu)) /* struct auxtrace_cap_pmu of AUXTRACE_PMU_* */

/**
 * struct auxtrace_cap - start of each capability
 * @tag: AUXTRACE_CAP_*
 * @size: bytes of the capability with this header, a multiple of 8
 */
struct auxtrace_cap {
	__u32 tag;
	__u32 size;
};

/* auxtrace_cap_pmu.state: whether sessions can use a trace PMU, and if not, why. */
#define AUXTRACE_PMU_STATE_OK		0	/* they can */
/* PT: CPUID.(7,0):EBX[25] is clear. BTS: CPUID.1: EDX[21] (DS) or ECX[2] (DTES64) is */
#define AUXTRACE_PMU_STATE_NO_CPUID	1
#define AUXTRACE_PMU_STATE_NO_TOPA	2	/* PT: a CPU has no ToPA output (CPUID.(14H,0):ECX[0]) */
#define AUXTRACE_PMU_STATE_NO_PMI	3	/* no architectural PMU to deliver its interrupt */
#define AUXTRACE_PMU_STATE_DISABLED	4	/* BTS: IA32_MISC_ENABLE[11], by firmware or hypervisor */
#define AUXTRACE_PMU_STATE_BUSY		5	/* PROBE only: it, or what excludes it, is in use now */

/*
 * auxtrace_cap_pmu.excludes: what a started session takes from perf on the whole machine, not on
 * its own CPUs only. The other way round, START fails with EBUSY while perf uses any of these on
 * any CPU. The rules are perf's: it counts users of such hardware machine-wide.
 */
/* Every event of the same hardware that follows a task instead of a CPU */
#define AUXTRACE_EXCLUDES_TASK_EVENTS	(1u << 0)
/* Last branch records (perf record -b, --call-graph lbr) */
#define AUXTRACE_EXCLUDES_LBR		(1u << 1)
/* The other one of Intel PT and BTS, also of another session */
#define AUXTRACE_EXCLUDES_PT_BTS	(1u << 2)

/**
 * struct auxtrace_cap_pmu - a trace PMU that the module knows
 * @cap: AUXTRACE_CAP_PMU(@pmu)
 * @pmu: AUXTRACE_PMU_*
 * @state: AUXTRACE_PMU_STATE_*
 * @excludes: AUXTRACE_EXCLUDES_*: at least these. perf alone knows which CPU models have PT beside
 *	last branch records, and on others than the module knows it may exclude more. 0 if
 *	sessions cannot use it
 * @reserved: 0
 */
struct auxtrace_cap_pmu {
	struct auxtrace_cap cap;
	__u32 pmu;
	__u32 state;
	__u32 excludes;
	__u32 reserved;
};

/**
 * struct auxtrace_cap_x86 - the CPU, for decoders
 * @cap: AUXTRACE_CAP_X86
 * @family: display family
 * @model: display model
 * @stepping: stepping
 * @tsc_art_num: TSC = ART * num / den (CPUID.15H); 0 if not enumerated
 * @tsc_art_den: as above
 * @max_nonturbo_ratio: PLATFORM_INFO[15:8]
 */
struct auxtrace_cap_x86 {
	struct auxtrace_cap cap;
	__u32 family;
	__u32 model;
	__u32 stepping;
	__u32 tsc_art_num;
	__u32 tsc_art_den;
	__u32 max_nonturbo_ratio;
};

/* auxtrace_cap_intel_pt.flags */
#define AUXTRACE_PT_CR3_FILTER	(1u << 0)	/* AUXTRACE_SETUP_ADDRESS_SPACE (CPUID.(14H,0):EBX[0]) */
/*
 * On some CPU ToPA tables have one entry (CPUID.(14H,0):ECX[1] is 0), see DOC: Intel PT with tables of
 * one entry
 */
#define AUXTRACE_PT_SINGLE_ENTRY (1u << 1)

/**
 * struct auxtrace_cap_intel_pt - Intel PT, if the CPU has it
 * @cap: AUXTRACE_CAP_INTEL_PT
 * @config: bits that auxtrace_setup.config may have on every online CPU
 * @mtc_periods: bit n: mtc_period=n is supported (CPUID.(14H,1):EAX[31:16])
 * @cyc_thresholds: bit n: cyc_thresh=n is supported (CPUID.(14H,1):EBX[15:0]). Bit 0, no
 *	threshold, is set if the CPU has CYC packets
 * @psb_periods: bit n: psb_period=n is supported (CPUID.(14H,1):EBX[31:16])
 * @nr_ranges: number of filters that a session can have: the address ranges of each CPU
 *	(CPUID.(14H,1):EAX[2:0], if CPUID.(14H,0):EBX[2] is set), at most 4
 * @flags: AUXTRACE_PT_*
 * @reserved: 0
 *
 * These are what all online CPUs have in common. On a hybrid machine some CPUs can do more:
 * SETUP asks the session's CPUs only.
 */
struct auxtrace_cap_intel_pt {
	struct auxtrace_cap cap;
	__u64 config;
	__u32 mtc_periods;
	__u32 cyc_thresholds;
	__u32 psb_periods;
	__u32 nr_ranges;
	__u32 flags;
	__u32 reserved;
};

/* auxtrace_cap_intel_bts.flags */
#define AUXTRACE_BTS_CPL	(1u << 0)	/* can filter by CPL (CPUID.1:ECX[4], DS-CPL) */
#define AUXTRACE_BTS_BUFFERED	(1u << 1)	/* page-table isolation: see Branch Trace Store */

/**
 * struct auxtrace_cap_intel_bts - BTS, if sessions can use it
 * @cap: AUXTRACE_CAP_INTEL_BTS
 * @flags: AUXTRACE_BTS_*
 * @reserved: 0
 */
struct auxtrace_cap_intel_bts {
	struct auxtrace_cap cap;
	__u32 flags;
	__u32 reserved;
};

/* ---- SETUP ------------------------------------------------------------ */

#define AUXTRACE_SETUP_KERNEL	 (1u << 0)	/* trace CPL 0 */
#define AUXTRACE_SETUP_USER	 (1u << 1)	/* trace CPL > 0 */
#define AUXTRACE_SETUP_OVERWRITE (1u << 2)	/* overwrite mode; else full-trace mode */
#define AUXTRACE_SETUP_PAUSED	 (1u << 3)	/* START sets the USER reason, as a PAUSE does */
/*
 * What happens when a full-trace area is full. Without these flags, trace is dropped and
 * counted as a gap until the reader moves its tail and poll(2), STATUS with SYNC or
 * RESUME takes it.
 */
#define AUXTRACE_SETUP_FULL_AUTO (1u << 4)	/* the module also checks the tail each ms */
#define AUXTRACE_SETUP_FULL_STOP (1u << 5)	/* the channel stays off until a RESUME */
/* The data ring. Without these flags it is a forward ring that keeps unread records. */
#define AUXTRACE_SETUP_DATA_BACKWARD  (1u << 6)	/* the newest record has the lowest address */
#define AUXTRACE_SETUP_DATA_OVERWRITE (1u << 7)	/* the newest records replace the oldest */
/* START sets the TRIGGER reason, as a trigger's PAUSE does: a RESUME trigger starts tracing. */
#define AUXTRACE_SETUP_TRIGGER_PAUSED (1u << 8)
/* Task scope, see DOC: task scope. Without THREAD and PROCESS all that the CPUs run is traced. */
#define AUXTRACE_SETUP_THREAD	 (1u << 9)	/* trace the thread auxtrace_setup.tid */
#define AUXTRACE_SETUP_PROCESS	 (1u << 10)	/* trace all threads of its process */
#define AUXTRACE_SETUP_DESCENDANTS (1u << 11)	/* and all that they create from now on */
/* Intel PT: trace while the page tables of auxtrace_setup.tid's process are in use, see DOC: filters */
#define AUXTRACE_SETUP_ADDRESS_SPACE (1u << 12)
#define AUXTRACE_SETUP_PIDFD	 (1u << 13)	/* reserved, see DOC: processes */

/* Kinds of records that a session can select. LOST and SAMPLE are always written. */
#define AUXTRACE_WANT_AUX	 (1u << 0)
#define AUXTRACE_WANT_WINDOW	 (1u << 1)
#define AUXTRACE_WANT_ITRACE_START (1u << 2)
#define AUXTRACE_WANT_TRIGGER	 (1u << 3)
#define AUXTRACE_WANT_SWITCH	 (1u << 4)
/* What 0 stands for. Kinds that later versions add must be asked for. */
#define AUXTRACE_WANT_DEFAULT	 (AUXTRACE_WANT_AUX | AUXTRACE_WANT_WINDOW | \
				  AUXTRACE_WANT_ITRACE_START | AUXTRACE_WANT_TRIGGER)

#define AUXTRACE_MAX_SLOTS	 64

/* auxtrace_filter.action */
#define AUXTRACE_FILTER_TRACE	1	/* trace code of this range, and of others like it, only */
#define AUXTRACE_FILTER_STOP	2	/* tracing stops where code of this range would run */

/**
 * struct auxtrace_filter - Intel PT: a range of addresses, see DOC: filters
 * @action: AUXTRACE_FILTER_*
 * @reserved: 0
 * @first: address of its first byte
 * @last: address of its last byte, which is not below @first
 */
struct auxtrace_filter {
	__u32 action;
	__u32 reserved;
	__u64 first;
	__u64 last;
};

/**
 * struct auxtrace_setup - AUXTRACE_IOC_SETUP: make the open file a session
 * @size: sizeof(struct auxtrace_setup)
 * @flags: AUXTRACE_SETUP_*; at least one of KERNEL and USER
 * @pmu: AUXTRACE_PMU_*
 * @cpus_len: bytes at @cpus; bytes past the last possible CPU must be zero
 * @cpus: pointer to the set of CPUs: not empty, each online
 * @config: what to trace, in the bits of perf's intel_pt format
 *	(/sys/bus/event_source/devices/intel_pt/format): pt 0, cyc 1, pwr_evt 4,
 *	fup_on_ptw 5, mtc 9, tsc 10, noretcomp 11, ptw 12, branch 13, mtc_period 14-17,
 *	cyc_thresh 19-22, psb_period 24-27, event 31, notnt 55. As in perf, branches are traced
 *	unless pt is set and branch is not. Bits and values that a CPU of the session lacks are
 *	refused.
 *	BTS: 0, it has nothing to configure
 * @aux_size: bytes of AUX area for each channel: a power of two, at least two pages
 * @aux_watermark: full-trace mode: poll(2) reports POLLIN when this many bytes are
 *	unread, or up to a region later (see DOC: regions of Intel PT); a multiple of the page
 *	size, less than @aux_size; 0: half of @aux_size.
 *	Overwrite mode: 0
 * @data_size: bytes of data ring for each channel: a power of two, at least one page.
 *	0: no data ring; then @data_watermark and @records must be 0, and no DATA_* flag set
 * @data_watermark: poll(2) reports POLLIN when this many bytes of records are unread;
 *	less than @data_size; 0: half of @data_size. Overwritable data ring: 0. With SWITCH,
 *	a reader that runs on a CPU of the session is woken by its own switches in the end
 * @records: AUXTRACE_WANT_*: kinds of records to write to the data ring; 0:
 *	AUXTRACE_WANT_DEFAULT. SWITCH adds a probe of the tracepoint sched_switch, which every
 *	context switch of the machine passes until the last close of the file; in a session without
 *	a capability that of the task scope does it
 * @slots: overwrite mode: number of slots that the AUX area and an overwritable data
 *	ring are divided into; a power of two up to AUXTRACE_MAX_SLOTS. 0 and 1: not
 *	divided. The channel traces into one slot; SNAPSHOT can retain that slot and
 *	continue in another. Each slot must have at least two pages of the AUX area, and
 *	one of an overwritable data ring
 * @tid: THREAD, PROCESS, ADDRESS_SPACE: a thread ID in the caller's PID namespace; 0: the caller.
 *	Else 0
 * @nr_filters: number of entries at @filters; 0: no code is filtered out
 * @filters: pointer to struct auxtrace_filter[]; ignored if @nr_filters is 0
 * @filter_size: sizeof(struct auxtrace_filter); ignored if @nr_filters is 0
 * @reserved: 0
 *
 * Allocates the memory and charges it
 *
 *  - to the locked memory of the caller's real user, unless the caller has CAP_IPC_LOCK.
 *    All processes of a user share one sum, also with io_uring's and AF_XDP's buffers; the
 *    caller's RLIMIT_MEMLOCK limits it;
 *  - to the caller's memory cgroup, as kernel memory. (Kernels before 5.11 cannot charge
 *    what users map: there, the mapped regions are not charged to a cgroup.)
 *
 * Both charges end when the file is closed and the last of its mappings is gone, in whichever
 * process that is. The table of a task scope is charged likewise until the file is closed: to the
 * user's locked memory also for members that come later. Takes no hardware: START does that.
 *
 * Errors:
 *
 *  EEXIST       the file is a session already
 *  EINVAL       a CPU set that is empty or names a CPU that does not exist; neither
 *               KERNEL nor USER; a size, watermark or number of slots outside the
 *               limits above; both FULL_AUTO and FULL_STOP, or either with
 *               OVERWRITE; an unknown kind of record; DATA_* or a kind of record without
 *               a data ring; a config that perf's rules forbid: a period without its
 *               packet, fup_on_ptw without ptw, branch without pt, bits outside the
 *               format, branch off on a CPU with an erratum that needs it on; more
 *               than one of THREAD, PROCESS and ADDRESS_SPACE; @tid with none of them,
 *               DESCENDANTS with neither THREAD nor PROCESS; @filter_size is too small or
 *               no multiple of 8; a filter with an unknown action, with an address that is
 *               not canonical, or whose last byte is below its first; two filters of one
 *               action that overlap
 *  EUSERS       as many sessions without a capability exist as are allowed
 *  E2BIG        a filter is longer than the kernel's, and the excess is not zero
 *  ESRCH        no such thread (@tid), or it has exited
 *  ENXIO        @tid is a kernel thread, and the session is for user code only; with
 *               ADDRESS_SPACE: it has none, as a kernel thread, or has exited
 *  ENOENT       task scope, SWITCH: this kernel lacks a tracepoint that they need
 *  EOPNOTSUPP   config has a bit or value that a CPU of the session lacks, or there are more
 *               filters than it has ranges (struct auxtrace_cap_intel_pt says what all CPUs
 *               have); BTS with filters or ADDRESS_SPACE; ADDRESS_SPACE on a CPU that lacks
 *               AUXTRACE_PT_CR3_FILTER, of both KERNEL and USER with page-table isolation, or of
 *               a process with linear-address masking (LAM); BTS without KERNEL or without USER on
 *               a CPU that lacks AUXTRACE_BTS_CPL
 *  ENODEV       no such trace PMU (see auxtrace_cap_pmu.state); a CPU is offline
 *  EACCES, ENOMEM: see DOC: errno
 */
struct auxtrace_setup {
	__u32 size;
	__u32 flags;
	__u32 pmu;
	__u32 cpus_len;
	__u64 cpus;
	__u64 config;
	__u64 aux_size;
	__u64 aux_watermark;
	__u64 data_size;
	__u64 data_watermark;
	__u32 records;
	__u32 slots;
	__u32 tid;
	__u32 nr_filters;
	__u64 filters;
	__u32 filter_size;
	__u32 reserved;
};
#define AUXTRACE_IOC_SETUP	_IO(AUXTRACE_IOC_MAGIC, 1)

/* ---- START, STOP ------------------------------------------------------ */

/**
 * struct auxtrace_start - AUXTRACE_IOC_START and AUXTRACE_IOC_STOP
 * @size: sizeof(struct auxtrace_start)
 * @flags: 0
 *
 * START takes the hardware on every CPU of the session or on none. From then on perf gets EBUSY
 * on these CPUs, and on every CPU of the machine for what auxtrace_cap_pmu.excludes names. START
 * clears every earlier reason to be off (AUXTRACE_INHIBIT_*) and begins the first window, unless
 * AUXTRACE_SETUP_PAUSED or _TRIGGER_PAUSED is set. STOP ends the windows, publishes the last
 * positions and gives the hardware back.
 *
 * A CPU may refuse a write of the trace PMU's registers. If that happens when a window is to
 * begin or to go on, the channel gets HWERROR and counts a gap (gaps_error); START can have
 * returned 0 by then. STOP and the last close turn the hardware off whatever has turned it
 * on. If the CPU refuses even that, the pages of the channel's AUX area are never freed, the
 * kernel's log says so, perf stays excluded from that CPU's trace PMU, and each START there
 * tries again to turn it off.
 *
 * A trace PMU of a CPU has one started session at a time. PT and BTS of one CPU may have
 * one each where the CPU model allows it.
 *
 * Errors:
 *
 *  EALREADY     the session is already started (START) or stopped (STOP)
 *  EBUSY        another user holds the trace hardware on a CPU of the session, or
 *               something that excludes it on any CPU (AUXTRACE_EXCLUDES_*)
 *  EIO          a write of the trace PMU's registers faults, or an earlier session could
 *               not turn the hardware off and this START cannot either. BTS: also if perf's
 *               debug store is not where the CPU's IA32_DS_AREA points
 *  EOPNOTSUPP   a CPU was offline after SETUP and now lacks what config says
 *  ENODEV       a CPU of the session is offline
 *  EINVAL       START: the reserved part of a user page is not zero
 *  EBADFD       no SETUP yet
 *  EACCES       see DOC: errno; START only
 */
struct auxtrace_start {
	__u32 size;
	__u32 flags;
};
#define AUXTRACE_IOC_START	_IO(AUXTRACE_IOC_MAGIC, 2)
#define AUXTRACE_IOC_STOP	_IO(AUXTRACE_IOC_MAGIC, 3)

/* ---- PAUSE, RESUME ---------------------------------------------------- */

/* The inhibit mask: the reasons why the hardware of a channel must be off. */
#define AUXTRACE_INHIBIT_USER	 (1u << 0)	/* PAUSE, or SETUP_PAUSED */
#define AUXTRACE_INHIBIT_TRIGGER (1u << 1)	/* a trigger's PAUSE, or SETUP_TRIGGER_PAUSED */
#define AUXTRACE_INHIBIT_TASK	 (1u << 2)	/* task scope: the CPU runs no member, or ran none at STOP */
#define AUXTRACE_INHIBIT_FULL	 (1u << 3)	/* full: the reader must move its tail */
#define AUXTRACE_INHIBIT_FROZEN	 (1u << 4)	/* a trigger's FREEZE, until RESUME */
#define AUXTRACE_INHIBIT_SETUP	 (1u << 5)	/* the session is not started */
#define AUXTRACE_INHIBIT_HWERROR (1u << 6)	/* the hardware failed, or an MSR write did */
#define AUXTRACE_INHIBIT_OFFLINE (1u << 7)	/* CPU or machine down, or hardware taken meanwhile */

/* The request started or stopped the hardware: it began or ended a window. */
#define AUXTRACE_EFFECT_CHANGED	(1u << 0)

/**
 * struct auxtrace_effect - where and when a request took effect on one CPU
 * @cpu: the CPU
 * @flags: AUXTRACE_EFFECT_*
 * @inhibit: AUXTRACE_INHIBIT_* after the request; 0: the hardware traces
 * @reserved: 0
 * @position: AUX position where the window ended (PAUSE) or began (RESUME)
 * @window: number of the window that ended or began; if the request changed nothing,
 *	that of the newest window (0: none yet)
 * @time: time right after the hardware stopped or started
 *
 * If the request changed nothing, @position and @time are those of the last end (PAUSE) or
 * begin (RESUME) of a window.
 */
struct auxtrace_effect {
	__u32 cpu;
	__u32 flags;
	__u32 inhibit;
	__u32 reserved;
	__u64 position;
	__u64 window;
	__u64 time;
};

/**
 * struct auxtrace_control - AUXTRACE_IOC_PAUSE and AUXTRACE_IOC_RESUME
 * @size: sizeof(struct auxtrace_control)
 * @flags: 0
 * @cpus_len: bytes at @cpus; 0: all CPUs of the session
 * @effects_len: number of entries at @effects; 0: the caller wants no effects
 * @cpus: pointer to the set of CPUs, a non-empty subset of the session's
 * @effects: pointer to struct auxtrace_effect[], filled in CPU order, one for each CPU of the
 *	request; those beyond @effects_len are dropped
 * @effect_size: sizeof(struct auxtrace_effect); ignored if @effects_len is 0
 * @reserved: 0
 *
 * PAUSE sets the USER reason on each CPU; RESUME clears USER and FROZEN. When the call
 * returns, it has taken effect on every CPU that is online; the channel of an offline CPU
 * keeps the request for the CPU's return.
 *
 * A redundant request is counted and changes nothing. Concurrent requests are ordered
 * on each CPU: the last one wins. A PAUSE that stops the hardware costs one WRMSR on its
 * CPU, a RESUME that starts it two (BTS: one).
 *
 * Errors:
 *
 *  EINVAL       the set of CPUs is empty or has a CPU that is not the session's;
 *               @effect_size is too small or no multiple of 8
 *  EBADFD       the session is not started
 */
struct auxtrace_control {
	__u32 size;
	__u32 flags;
	__u32 cpus_len;
	__u32 effects_len;
	__u64 cpus;
	__u64 effects;
	__u32 effect_size;
	__u32 reserved;
};
#define AUXTRACE_IOC_PAUSE	_IO(AUXTRACE_IOC_MAGIC, 4)
#define AUXTRACE_IOC_RESUME	_IO(AUXTRACE_IOC_MAGIC, 5)

/* ---- STATUS ----------------------------------------------------------- */

/* Read the hardware's position and the reader's tails on every CPU first. */
#define AUXTRACE_STATUS_SYNC	(1u << 0)

#define AUXTRACE_STATE_NEW	0	/* no SETUP yet */
#define AUXTRACE_STATE_STOPPED	1
#define AUXTRACE_STATE_STARTED	2

/**
 * struct auxtrace_status - AUXTRACE_IOC_STATUS: the session as a whole
 * @size: sizeof(struct auxtrace_status)
 * @flags: AUXTRACE_STATUS_*
 * @out_state: AUXTRACE_STATE_*
 * @out_nr_channels: number of CPUs of the session
 * @out_nr_running: number of channels whose hardware traces
 * @reserved: 0
 * @out_produced: this and the members below, up to @out_data_lost, are sums over all channels of
 *	the counters of the same name in struct auxtrace_status_page
 * @out_members: task scope: number of members that have not ended; else 0
 * @out_members_lost: task scope: number of threads that should have become members and did not,
 *	because there was no memory for them, or the user may not lock more; their descendants are
 *	not counted
 *
 * Errors: only the common ones. In state NEW all counts are 0.
 */
struct auxtrace_status {
	__u32 size;
	__u32 flags;
	__u32 out_state;
	__u32 out_nr_channels;
	__u32 out_nr_running;
	__u32 reserved;
	__u64 out_produced;
	__u64 out_consumed;
	__u64 out_overwritten;
	__u64 out_windows;
	__u64 out_gaps;
	__u64 out_pmis;
	__u64 out_data_produced;
	__u64 out_data_consumed;
	__u64 out_data_overwritten;
	__u64 out_data_lost;
	__u64 out_members;
	__u64 out_members_lost;
};
#define AUXTRACE_IOC_STATUS	_IO(AUXTRACE_IOC_MAGIC, 6)

/* ---- TASK ------------------------------------------------------------- */

#define AUXTRACE_TASK_PIDFD	(1u << 0)	/* reserved, see DOC: processes */

/**
 * struct auxtrace_task - AUXTRACE_IOC_TASK: how a process appears in a trace
 * @size: sizeof(struct auxtrace_task)
 * @flags: 0
 * @pid: a process or thread ID in the caller's PID namespace; 0: the caller
 * @reserved: 0
 * @out_context: what a trace says while its address space is in use. x86: the page-table
 *	root, as in the CR3 of a PIP packet
 * @out_context_mask: bits of that to compare. x86: without PCID and the bit of page-table
 *	isolation
 *
 * Needs no SETUP.
 *
 * Errors:
 *
 *  ESRCH        no such process
 *  ENXIO        it has no address space, as a kernel thread
 *  EACCES       see DOC: errno
 */
struct auxtrace_task {
	__u32 size;
	__u32 flags;
	__u32 pid;
	__u32 reserved;
	__u64 out_context;
	__u64 out_context_mask;
};
#define AUXTRACE_IOC_TASK	_IO(AUXTRACE_IOC_MAGIC, 7)

/* ---- PAUSE_OUTPUT ----------------------------------------------------- */

/**
 * struct auxtrace_output - AUXTRACE_IOC_PAUSE_OUTPUT: pause or resume writing of records
 * @size: sizeof(struct auxtrace_output)
 * @flags: 0
 * @cpus_len: bytes at @cpus; 0: all CPUs of the session
 * @pause: 1: after the call returns, nothing is written to the data rings; records are
 *	dropped and counted instead. 0: records are written again, beginning with a LOST
 *	record if any were dropped
 * @cpus: pointer to the set of CPUs, a non-empty subset of the session's
 *
 * Tracing into the AUX areas continues. The call works in states STOPPED and STARTED, and
 * START does not change what it set. A redundant request changes nothing.
 *
 * Errors:
 *
 *  EINVAL       the session has no data ring; @pause is neither 0 nor 1; the set of CPUs
 *               is empty or has a CPU that is not the session's
 *  EBADFD       no SETUP yet
 */
struct auxtrace_output {
	__u32 size;
	__u32 flags;
	__u32 cpus_len;
	__u32 pause;
	__u64 cpus;
};
#define AUXTRACE_IOC_PAUSE_OUTPUT	_IO(AUXTRACE_IOC_MAGIC, 8)

/* ---- SNAPSHOT, RELEASE ------------------------------------------------ */

/*
 * Without a flag tracing continues in place. Overwritable rings continue to overwrite, so
 * a reader must check what it copied against a later position.
 */
/* Pause every channel, as PAUSE and PAUSE_OUTPUT do. */
#define AUXTRACE_SNAPSHOT_PAUSE	(1u << 0)
/* Retain the slot that holds the cut until RELEASE, and continue in a free slot. */
#define AUXTRACE_SNAPSHOT_SLOT	(1u << 1)

/**
 * struct auxtrace_cut - what a SNAPSHOT found on one CPU
 * @cpu: the CPU
 * @inhibit: AUXTRACE_INHIBIT_* after the snapshot
 * @slot: slot that holds the bytes: the retained one with SLOT, else the current one
 * @reserved: 0
 * @aux_begin: position of the oldest byte in the AUX area
 * @aux_end: position of the hardware
 * @data_begin: position of the oldest byte in the data ring; the record there may have
 *	begun before it and be incomplete. Without a data ring this and @data_end are 0
 * @data_end: position after the newest record; that record is complete
 * @window: number of the newest window (0: none yet)
 * @time: time of the cut
 */
struct auxtrace_cut {
	__u32 cpu;
	__u32 inhibit;
	__u32 slot;
	__u32 reserved;
	__u64 aux_begin;
	__u64 aux_end;
	__u64 data_begin;
	__u64 data_end;
	__u64 window;
	__u64 time;
};

/**
 * struct auxtrace_snapshot - AUXTRACE_IOC_SNAPSHOT: one cut over all channels
 * @size: sizeof(struct auxtrace_snapshot)
 * @flags: AUXTRACE_SNAPSHOT_*, at most one
 * @cuts_len: number of entries at @cuts
 * @cut_size: sizeof(struct auxtrace_cut); ignored if @cuts_len is 0
 * @cuts: pointer to struct auxtrace_cut[], filled in CPU order
 * @out_count: number of CPUs of the session; cuts beyond @cuts_len are dropped
 * @out_slot: with SLOT: the slot that holds the cut on every CPU, for RELEASE
 *
 * With SLOT the open window ends at the cut and the next one begins at once: only the
 * few instructions between two WRMSRs are not traced. From then on the bytes of the cut
 * count as consumed, and they stay unchanged until RELEASE.
 *
 * Errors:
 *
 *  EINVAL       unknown flag; both flags; SLOT in a session without slots; @cut_size is too
 *               small or no multiple of 8
 *  EBADFD       no SETUP yet; a flag while the session is not started
 *  ENOSPC       SLOT: no slot is free on all CPUs; each other slot holds a snapshot, or
 *               on some CPU a sample
 */
struct auxtrace_snapshot {
	__u32 size;
	__u32 flags;
	__u32 cuts_len;
	__u32 cut_size;
	__u64 cuts;
	__u32 out_count;
	__u32 out_slot;
};
#define AUXTRACE_IOC_SNAPSHOT	_IO(AUXTRACE_IOC_MAGIC, 9)

/* Release the slot of one CPU that a SAMPLE record names, not that of a SNAPSHOT. */
#define AUXTRACE_RELEASE_SAMPLE	(1u << 0)

/**
 * struct auxtrace_release - AUXTRACE_IOC_RELEASE: the reader is done with a slot
 * @size: sizeof(struct auxtrace_release)
 * @flags: AUXTRACE_RELEASE_*
 * @slot: out_slot of a SNAPSHOT; with SAMPLE: sample_slot of a record
 * @cpu: with SAMPLE: the CPU whose data ring has the record; else 0
 *
 * Errors:
 *
 *  EINVAL       no such slot; it holds no snapshot (with SAMPLE: no sample); with SAMPLE,
 *               a CPU that is not the session's
 *  EBADFD       no SETUP yet
 */
struct auxtrace_release {
	__u32 size;
	__u32 flags;
	__u32 slot;
	__u32 cpu;
};
#define AUXTRACE_IOC_RELEASE	_IO(AUXTRACE_IOC_MAGIC, 10)

/* ---- TRIGGER_ADD, TRIGGER_DEL, TRIGGER_READ --------------------------- */

/*
 * Kinds of triggers: the event at which a trigger hits. The skid is the code that runs
 * between the event and the action: if it is kernel code, a session that traces user code only
 * does not show it.
 */
#define AUXTRACE_TRIGGER_PERF		0 /* overflow of a perf event; skid: perf's */
#define AUXTRACE_TRIGGER_SYSCALL_ENTER	1 /* raw tracepoint sys_enter; skid: kernel code */
#define AUXTRACE_TRIGGER_SYSCALL_EXIT	2 /* raw tracepoint sys_exit; skid: kernel code */
#define AUXTRACE_TRIGGER_KPROBE		3 /* before a kernel instruction; skid: the probe's code */
#define AUXTRACE_TRIGGER_KRETPROBE	4 /* return of a kernel function; skid: the probe's code */
#define AUXTRACE_TRIGGER_UPROBE		5 /* before a program's instruction; skid: kernel code */
#define AUXTRACE_TRIGGER_URETPROBE	6 /* return of a program's function; skid: kernel code */
#define AUXTRACE_TRIGGER_BREAKPOINT	7 /* hardware breakpoint; of data: after the access */
#define AUXTRACE_TRIGGER_LATENCY	8 /* @b hits more than @bound_ns after @a in one task */
#define AUXTRACE_TRIGGER_TIMER		9 /* every @bound_ns on each CPU, from a hard interrupt */

/* Actions: what a hit does. */
#define AUXTRACE_ACTION_NONE	0	/* nothing: for triggers that a LATENCY refers to */
#define AUXTRACE_ACTION_PAUSE	1	/* sets the TRIGGER reason on the CPU of the event */
#define AUXTRACE_ACTION_RESUME	2	/* clears the TRIGGER reason there */
#define AUXTRACE_ACTION_SAMPLE	3	/* copies the newest AUX bytes into the data ring */
/*
 * On every channel: sets the FROZEN reason and pauses the data ring. A FREEZE that hits on
 * a CPU that is already frozen does nothing, on that CPU or another. After poll(2)
 * reports the freeze, every later request sees all CPUs frozen: STATUS with SYNC waits
 * until all are, and RESUME ends the freeze everywhere.
 */
#define AUXTRACE_ACTION_FREEZE	4

#define AUXTRACE_TRIGGER_ALL_CPUS (1u << 0)	/* PAUSE, RESUME: on all CPUs, by IPI */
#define AUXTRACE_TRIGGER_ONE_SHOT (1u << 1)	/* act once, until TRIGGER_READ with REARM */
#define AUXTRACE_TRIGGER_PIDFD	  (1u << 2)	/* reserved, see DOC: processes */

#define AUXTRACE_MAX_TRIGGERS	64
#define AUXTRACE_MAX_SAMPLE	(2u << 20)

/**
 * struct auxtrace_trigger - AUXTRACE_IOC_TRIGGER_ADD: bind an event to an action
 * @size: sizeof(struct auxtrace_trigger)
 * @flags: AUXTRACE_TRIGGER_ALL_CPUS, AUXTRACE_TRIGGER_ONE_SHOT
 * @kind: AUXTRACE_TRIGGER_PERF ... AUXTRACE_TRIGGER_TIMER
 * @action: AUXTRACE_ACTION_*
 * @pid: only hits of this process (thread group), in the caller's PID namespace; 0: all.
 *	UPROBE, URETPROBE: other processes then run the file's own instruction, without a
 *	breakpoint; a child that the process forks does so from its second call on
 * @attr_len: PERF: bytes at @attr
 * @attr: PERF: pointer to the struct perf_event_attr of a counter that the module pins
 *	on each CPU of the session whose PMU has the event (on a hybrid machine not all
 *	have). It must have a period or frequency, and neither disabled nor inherit; what it
 *	says about samples is ignored, except precise_ip. perf drops the counter of a CPU that
 *	goes offline. When the CPU is back, or at the next START, the module creates it again,
 *	also for tracepoints, and for a probe of perf's kprobe PMU that is given by its address.
 *	Not so if the event is of perf's kprobe or uprobe PMU and its config1 points to a name or
 *	a path: the memory may have changed since. Such a trigger no longer hits on that CPU,
 *	until it is deleted and added again
 * @number: SYSCALL_*: system call number, -1: all; BREAKPOINT: HW_BREAKPOINT_* | length << 8
 * @address: KPROBE, KRETPROBE: offset from @name, or an address if there is no @name;
 *	UPROBE, URETPROBE: offset in the file; BREAKPOINT: linear address
 * @name: KPROBE, KRETPROBE: pointer to the name of a symbol; UPROBE, URETPROBE: to a path
 * @name_len: bytes at @name without a final NUL; less than 4096
 * @a: LATENCY: ID of the trigger that starts the clock, of another kind
 * @b: LATENCY: ID of the trigger that stops the clock, of another kind; may be @a
 * @after_hits: ignore the first N hits
 * @bound_ns: LATENCY: hit if the clock ran longer than this; TIMER: period, at least 10000
 * @count: act at most N times; later hits are only counted; 0: no limit
 * @hold_off_ns: after acting on a CPU, ignore hits on that CPU for this long
 * @delay_ns: PAUSE, FREEZE: act this long after the hit
 * @delay_bytes: PAUSE, FREEZE, in overwrite mode: act when the channel has produced this
 *	many bytes after the hit. The action comes at most a region late (see
 *	DOC: regions of Intel PT); if the kernel is traced, later by the trace that the kernel
 *	itself produces until it takes the interrupt. Each CPU has at most one such delay
 *	pending, of any trigger
 * @sample_size: SAMPLE: bytes wanted, at most half the AUX area (or slot) and at most
 *	AUXTRACE_MAX_SAMPLE. A session without slots is limited to AUXTRACE_SAMPLE_IN_RECORD
 *	and to what one record of the data ring can carry. The bytes are copied at the event,
 *	with interrupts off, perhaps in an NMI. SNAPSHOT with SLOT, and FREEZE, keep more
 *	without a copy
 * @out_id: the trigger's ID, from 1; never reused in the session
 * @reserved: 0
 *
 * A trigger can be added in states STOPPED and STARTED. It counts its hits from then on,
 * but acts only while the session is started. An action that finds the channel as it
 * wants it costs no MSR access. A PAUSE that stops the hardware costs one WRMSR, a RESUME
 * that starts it two (BTS: one).
 *
 * While a @delay_ns is pending on a CPU, further hits of its trigger there count as missed.
 * While a @delay_bytes is pending, so do further hits of every trigger that has one. DEL,
 * STOP and the CPU going offline cancel a pending delay.
 *
 * Errors:
 *
 *  EINVAL       unknown kind, action or flag; a member that the kind or the action does
 *               not use is not zero (NONE uses no flag and none of @after_hits, @count
 *               and @hold_off_ns); a kprobe with neither name nor address; @number,
 *               @address or @bound_ns is out of range; @a or @b is a LATENCY; ONE_SHOT
 *               with @count; a SAMPLE of 0 bytes, above the limits of @sample_size, or
 *               without a data ring; @delay_ns with @delay_bytes, a delay of 2^63 or
 *               more, or one that the action or mode does not have; an attr that perf
 *               refuses
 *  ESRCH        no such process (@pid)
 *  ENOENT       no such symbol, file or trigger (@a, @b); PERF: no CPU of the session has
 *               the event
 *  EACCES       see DOC: errno; UPROBE, URETPROBE: the caller does not have CAP_SYS_ADMIN (a
 *               probe within an instruction changes what programs do), or may not read the
 *               file, or not search a directory on the way to it. BREAKPOINT in the kernel:
 *               the caller does not have CAP_SYS_ADMIN. PERF: perf demands more
 *  EPERM        a probe in the kernel, which is locked down in confidentiality mode
 *  EBUSY        pinned events hold all counters of a CPU that could count it
 *  ENOSPC       AUXTRACE_MAX_TRIGGERS reached, or no breakpoint register is left
 *  E2BIG        the attr has members that this kernel does not know
 *  EOPNOTSUPP   the kernel does not allow a probe on that instruction or file
 *  EBADFD       no SETUP yet
 */
struct auxtrace_trigger {
	__u32 size;
	__u32 flags;
	__u32 kind;
	__u32 action;
	__u32 pid;
	__u32 attr_len;
	__u64 attr;
	__s64 number;
	__u64 address;
	__u64 name;
	__u32 name_len;
	__u32 a;
	__u32 b;
	__u32 after_hits;
	__u64 bound_ns;
	__u64 count;
	__u64 hold_off_ns;
	__u64 delay_ns;
	__u64 delay_bytes;
	__u64 sample_size;
	__u32 out_id;
	__u32 reserved;
};
#define AUXTRACE_IOC_TRIGGER_ADD	_IO(AUXTRACE_IOC_MAGIC, 11)

#define AUXTRACE_TRIGGER_REARM	(1u << 0)	/* READ: restart after_hits, count, one-shot */

/**
 * struct auxtrace_trigger_state - AUXTRACE_IOC_TRIGGER_DEL and AUXTRACE_IOC_TRIGGER_READ
 * @size: sizeof(struct auxtrace_trigger_state)
 * @flags: READ: AUXTRACE_TRIGGER_REARM
 * @id: the trigger
 * @reserved: 0
 * @out_hits: hits on all CPUs; always the sum of the four counts below
 * @out_acted: hits that requested the action from the channel, or began its delay, whether or
 *	not it changed anything: a PAUSE that finds its CPU paused counts here, and so does a
 *	delay that STOP cancels. If a FREEZE in an NMI interrupts the hit of another FREEZE, and
 *	neither finds the CPU frozen, both count; the records and frozen_by of the status page
 *	name the one that froze it
 * @out_held: hits that did not act because of after_hits, count, one-shot or hold-off,
 *	because the action is NONE, because a FREEZE found its CPU frozen, or because the CPU
 *	ran a thread that is not a member (task scope)
 * @out_idle: hits that did not act because the session was not started, or is not on
 *	that CPU
 * @out_missed: hits that could not act: the channel was busy with an earlier SAMPLE or
 *	delay, or the kernel's recursion protection dropped the event. The kernel reports
 *	such drops for kprobes and kretprobes only (nmissed), and counts them without a
 *	lock: simultaneous drops on several CPUs may count as one. KRETPROBE: also calls
 *	beyond the number that can be inside the function at once: 64, or four per
 *	possible CPU if that is more. LATENCY: also clocks that could not start or be read:
 *	too many tasks have one, the task is exiting, or an NMI hit during another hit.
 *	PERF: also the times that perf throttled the counter of a CPU, for events of any
 *	process (/proc/sys/kernel/perf_event_max_sample_rate). Such a counter is off until
 *	a timer tick of its CPU: how many events that hides is not known. perf throttles
 *	hardware counters and clocks, no breakpoints and no tracepoints
 *
 * READ returns the counts. DEL removes the trigger and returns its final counts; no hit
 * runs or begins after DEL has returned.
 *
 * Errors:
 *
 *  ENOENT       no such trigger
 *  EBUSY        DEL: a LATENCY refers to the trigger
 *  EBADFD       no SETUP yet
 */
struct auxtrace_trigger_state {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 reserved;
	__u64 out_hits;
	__u64 out_acted;
	__u64 out_held;
	__u64 out_idle;
	__u64 out_missed;
};
#define AUXTRACE_IOC_TRIGGER_DEL	_IO(AUXTRACE_IOC_MAGIC, 12)
#define AUXTRACE_IOC_TRIGGER_READ	_IO(AUXTRACE_IOC_MAGIC, 13)

/* ---- records of the data ring ----------------------------------------- */

/*
 * The first four are perf's (include/uapi/linux/perf_event.h, enum perf_event_type).
 * They have perf's layout, followed by struct auxtrace_record_end. SWITCH is perf's
 * PERF_RECORD_SWITCH_CPU_WIDE.
 */
#define AUXTRACE_RECORD_LOST		2
#define AUXTRACE_RECORD_AUX		11
#define AUXTRACE_RECORD_ITRACE_START	12
#define AUXTRACE_RECORD_SWITCH		15
/* auxtrace's own types are numbered beyond all of perf's. */
#define AUXTRACE_RECORD_WINDOW		0x10000
#define AUXTRACE_RECORD_TRIGGER		0x10001
#define AUXTRACE_RECORD_SAMPLE		0x10002

/**
 * struct auxtrace_record_header - start of each record: perf's perf_event_header
 * @type: AUXTRACE_RECORD_*; readers skip types that they do not know
 * @misc: SWITCH: AUXTRACE_SWITCH_*; else 0. Readers ignore bits that they do not know
 * @size: bytes of the whole record, a multiple of 8
 *
 * Later versions may add members before the struct auxtrace_record_end of a record. So readers
 * find that from the record's size, and take a record as long as its header says.
 */
struct auxtrace_record_header {
	__u32 type;
	__u16 misc;
	__u16 size;
};

/**
 * struct auxtrace_record_end - end of each record
 * @time: time at which the record was made
 * @tid: thread that the CPU ran at that time, in the initial PID namespace. In a session without a
 *	capability: the member that it ran, or in other records than SWITCH was about to run, else 0
 * @size: as in the header, for readers that walk backwards
 */
struct auxtrace_record_end {
	__u64 time;
	__u32 tid;
	__u32 size;
};

/**
 * struct auxtrace_record_lost - records are missing here
 * @header: AUXTRACE_RECORD_LOST
 * @id: 0
 * @lost: number of records dropped
 * @end: end of the record
 */
struct auxtrace_record_lost {
	struct auxtrace_record_header header;
	__u64 id;
	__u64 lost;
	struct auxtrace_record_end end;
};

/* Flags of an AUX record, with perf's values (PERF_AUX_FLAG_*). */
#define AUXTRACE_AUX_TRUNCATED	(1u << 0)	/* trace was lost after it: gaps_full */
#define AUXTRACE_AUX_OVERWRITE	(1u << 1)	/* the session is in overwrite mode */
#define AUXTRACE_AUX_PARTIAL	(1u << 2)	/* trace was lost after it: gaps_error */

/**
 * struct auxtrace_record_aux - the AUX area has new data
 * @header: AUXTRACE_RECORD_AUX
 * @offset: position of the first new byte
 * @length: number of new bytes
 * @flags: AUXTRACE_AUX_*
 * @end: end of the record
 *
 * Written at each trace interrupt, end of a window and SYNC that finds new data, and
 * whenever a flag other than OVERWRITE is to be reported. Follows the WINDOW record of a
 * window that ended at the same time.
 */
struct auxtrace_record_aux {
	struct auxtrace_record_header header;
	__u64 offset;
	__u64 length;
	__u64 flags;
	struct auxtrace_record_end end;
};

/**
 * struct auxtrace_record_itrace_start - the first window after a START begins
 * @header: AUXTRACE_RECORD_ITRACE_START
 * @pid: process that the CPU runs, in the initial PID namespace
 * @tid: thread that the CPU runs
 * @end: end of the record
 */
struct auxtrace_record_itrace_start {
	struct auxtrace_record_header header;
	__u32 pid;
	__u32 tid;
	struct auxtrace_record_end end;
};

/* auxtrace_record_switch.header.misc, with perf's values (PERF_RECORD_MISC_SWITCH_OUT*). */
#define AUXTRACE_SWITCH_OUT		(1u << 13)	/* always set: next_prev_* name the next thread */
#define AUXTRACE_SWITCH_OUT_PREEMPT	(1u << 14)	/* the thread that leaves could run on */

/**
 * struct auxtrace_record_switch - the CPU leaves a thread for another one
 * @header: AUXTRACE_RECORD_SWITCH; misc has AUXTRACE_SWITCH_*
 * @next_prev_pid: process that the CPU runs next, in the initial PID namespace; 0: the idle task
 * @next_prev_tid: thread that the CPU runs next
 * @end: end of the record; its tid is the thread that leaves
 *
 * Written at each context switch of the channel's CPU while the session is started and the channel
 * is not frozen, whether or not the hardware traces. So the newest one names the thread that the CPU
 * runs, also in a window whose begin has no record yet. It is written before the switch: what
 * the trace has of the kernel from there up to the change of stacks belongs to the thread that
 * leaves. A window that begins or ends in between has that thread in its WINDOW record. Where perf
 * writes two records, one for each of the two threads, this is the first of them.
 *
 * In a session without a capability there are records of switches from a member and to one only. A number of 0 is that of
 * any thread that is no member, the idle task or another. A member that an execve(2) has expelled leaves without a
 * record.
 *
 * Its time may be before that of an earlier record in the ring, as a TRIGGER record's. A FREEZE that
 * an NMI brings while it is being written may drop it, and count it as lost.
 */
struct auxtrace_record_switch {
	struct auxtrace_record_header header;
	__u32 next_prev_pid;
	__u32 next_prev_tid;
	struct auxtrace_record_end end;
};

/* What began or ended a window. Of several causes at once, the first in this list counts. */
#define AUXTRACE_CAUSE_ERROR	1	/* the hardware failed: see HWERROR */
#define AUXTRACE_CAUSE_FOREIGN	2	/* another user turned it off; begin: after that */
#define AUXTRACE_CAUSE_USER	3	/* PAUSE, RESUME, SNAPSHOT with PAUSE */
#define AUXTRACE_CAUSE_SESSION	4	/* START, STOP */
#define AUXTRACE_CAUSE_CPU	5	/* the CPU or the machine went down or came up */
#define AUXTRACE_CAUSE_FULL	6	/* the area was full, or see gaps_full; begin: it has space again */
#define AUXTRACE_CAUSE_SNAPSHOT	7	/* SNAPSHOT with SLOT: one window ended, the next began */
#define AUXTRACE_CAUSE_TRIGGER	8	/* a trigger's PAUSE, RESUME or FREEZE: see *_trigger */
#define AUXTRACE_CAUSE_TASK	9	/* task scope: the CPU left a member; begin: it came to one */

/**
 * struct auxtrace_record_window - a window ended
 * @header: AUXTRACE_RECORD_WINDOW
 * @window: number of the window
 * @begin: AUX position of its first byte
 * @end_position: AUX position after its last byte. In overwrite mode, bytes that lie more
 *	than the size of the area (or slot) before the newest position are overwritten; a
 *	window that has lost bytes in this way decodes from its next PSB on
 * @begin_time: time at which it began
 * @end_time: time at which it ended
 * @begin_cause: AUXTRACE_CAUSE_*
 * @end_cause: AUXTRACE_CAUSE_*
 * @begin_pid: process that the CPU ran when it began, in the initial PID namespace. With the
 *	cause TASK: process of the member that the CPU is about to run
 * @begin_tid: thread, likewise
 * @pid: process that the CPU ran when it ended
 * @tid: thread that the CPU ran when it ended
 * @slot: slot that holds it
 * @reserved: 0
 * @begin_trigger: ID of the trigger that began it, else 0
 * @end_trigger: ID of the trigger that ended it, else 0
 * @end: end of the record
 */
struct auxtrace_record_window {
	struct auxtrace_record_header header;
	__u64 window;
	__u64 begin;
	__u64 end_position;
	__u64 begin_time;
	__u64 end_time;
	__u32 begin_cause;
	__u32 end_cause;
	__u32 begin_pid;
	__u32 begin_tid;
	__u32 pid;
	__u32 tid;
	__u32 slot;
	__u32 reserved;
	__u32 begin_trigger;
	__u32 end_trigger;
	struct auxtrace_record_end end;
};

/**
 * struct auxtrace_record_trigger - a trigger changed the channel's state
 * @header: AUXTRACE_RECORD_TRIGGER
 * @trigger: ID of the trigger
 * @action: AUXTRACE_ACTION_* that was carried out
 * @value: LATENCY: nanoseconds that the clock ran; SYSCALL_ENTER: system call number;
 *	SYSCALL_EXIT: its result; else 0
 * @pid: process that the CPU ran, in the initial PID namespace
 * @tid: thread that the CPU ran
 * @position: AUX position after the action. After a hit in an NMI that interrupted the
 *	module's own work on the channel, the position before it; the WINDOW record has
 *	the position after it
 * @end: end of the record
 *
 * The data ring of the CPU where the event occurred gets this record. With a FREEZE or
 * ALL_CPUS, each other CPU gets one as well, which says when that CPU followed; its @value
 * is 0. Times of neighbouring records need not ascend: an NMI may write its record after an
 * interrupted writer took its time, but before that writer took its place in the ring.
 */
struct auxtrace_record_trigger {
	struct auxtrace_record_header header;
	__u32 trigger;
	__u32 action;
	__u64 value;
	__u32 pid;
	__u32 tid;
	__u64 position;
	struct auxtrace_record_end end;
};

/**
 * struct auxtrace_record_sample - the newest AUX data at an event
 * @header: AUXTRACE_RECORD_SAMPLE
 * @trigger: ID of the trigger
 * @pid: process that the CPU ran, in the initial PID namespace
 * @tid: thread that the CPU ran
 * @sample_slot: with AUXTRACE_SAMPLE_IN_SLOT: slot that holds the bytes; else 0
 * @aux_end: AUX position after the newest byte
 * @wanted: bytes that the trigger asked for
 * @length: bytes in the sample. Less than @wanted if the area (or slot) did not hold that
 *	many, or if the record could not carry them and no slot was free
 * @flags: AUXTRACE_SAMPLE_*
 * @data_offset: without IN_SLOT: where the bytes are, from the begin of the record; else 0
 *
 * Without IN_SLOT, @length bytes are at @data_offset, padded to a multiple of 8, and then a struct
 * auxtrace_record_end. With IN_SLOT only the latter follows: the module has copied the bytes
 * to a slot of the AUX area that was free on that CPU, to the offsets that their positions
 * have in that slot. They stay there until RELEASE with AUXTRACE_RELEASE_SAMPLE. The
 * channel continues in its own slot.
 *
 * The bytes are the newest of the AUX area and may span several windows. They decode from
 * their first PSB on. A BTS sample has complete branches only, so @length may be up to 23
 * less than @wanted without SAMPLE_CUT.
 */
struct auxtrace_record_sample {
	struct auxtrace_record_header header;
	__u32 trigger;
	__u32 pid;
	__u32 tid;
	__u32 sample_slot;
	__u64 aux_end;
	__u64 wanted;
	__u64 length;
	__u32 flags;
	__u32 data_offset;
};
#define AUXTRACE_SAMPLE_IN_SLOT	(1u << 0)	/* the bytes are in sample_slot, not here */
#define AUXTRACE_SAMPLE_CUT	(1u << 1)	/* the sample has less than was wanted */
/* A sample larger than this, or than the data ring (or its slot) can hold, goes to a slot. */
#define AUXTRACE_SAMPLE_IN_RECORD	61440u

/* ---- the AUX area ----------------------------------------------------- */

/* With Intel PT the area holds PT packets (SDM volume 3, "Intel Processor Trace"). */

/**
 * struct auxtrace_branch - BTS: one branch, as the CPU writes it
 * @from: address of the branch; of an interrupt or exception, address of the instruction
 *	that it preceded; 0: kernel code, hidden from a session without KERNEL
 * @to: address that control went to
 * @flags: bit 4: the branch was predicted (old CPUs only); else 0
 *
 * SDM volume 3, "BTS and DS Save Area", 64-bit format.
 */
struct auxtrace_branch {
	__u64 from;
	__u64 to;
	__u64 flags;
};

/* ---- mmap ------------------------------------------------------------- */

/*
 * The offset of a mapping selects a channel, by its CPU, and one of its regions. It is not a
 * place in a file: the ranges that follow the offsets of two regions may overlap in number. A
 * mapping must be shared, start at the region's first byte and have exactly the region's length.
 * Only the user page may be mapped writable; no region may be executable. Children do
 * not inherit mappings across fork(2).
 *
 * Errors:
 *
 *  EINVAL       wrong offset or length; MAP_PRIVATE; the session has no data ring
 *  EACCES       a protection that the region does not allow
 *  ENODEV       the CPU is not the session's
 *  EBADFD       no SETUP yet
 */
#define AUXTRACE_REGION_STATUS	0	/* struct auxtrace_status_page, one page, read-only */
#define AUXTRACE_REGION_USER	1	/* struct auxtrace_user_page, one page */
#define AUXTRACE_REGION_AUX	2	/* the AUX area, aux_size bytes, read-only */
#define AUXTRACE_REGION_DATA	3	/* the data ring, data_size bytes, read-only */
/*
 * A multiple of every page size up to 64 KiB. 32-bit programs can express it for each CPU: by
 * mmap2(2), which takes 44 bits of it (glibc: -D_FILE_OFFSET_BITS=64).
 */
#define AUXTRACE_MMAP_OFFSET(cpu, region) \
	(((__u64)(cpu) << 20) | ((__u64)(region) << 16))

/* ---- status page and user page ---------------------------------------- */

/**
 * struct auxtrace_status_page - state of a channel, written by the kernel
 * @size: bytes of this struct as the kernel knows it. Members beyond it read as 0, and so do
 *	reserved ones. A later version may turn these into members for which 0 keeps today's
 *	behaviour
 * @abi_version: AUXTRACE_ABI_VERSION
 * @cpu: CPU of the channel
 * @pmu: AUXTRACE_PMU_*
 * @clock: AUXTRACE_CLOCK_* of all times
 * @slots: number of slots of the session; 1 without slots
 * @aux_size: bytes of the AUX area
 * @data_size: bytes of the data ring; 0: there is none
 *
 * The members above do not change. @seq covers those below, up to @data_reserved. What each
 * start and stop of the hardware changes is in the first two of these cache lines.
 *
 * @seq: odd while the kernel writes the members that it covers. A reader loads @seq, then those
 *	members, then @seq again, with read barriers (or acquire loads) between: the copy is
 *	consistent if both values of @seq are equal and even
 * @inhibit: AUXTRACE_INHIBIT_*
 * @running: 1 while the hardware traces
 * @slot: slot that is traced into; 0 without slots
 * @produced: AUX position up to which data is in memory. Advances when a window ends, at
 *	a watermark or wrap interrupt, and at STATUS with SYNC
 * @windows: number of windows begun, which is the number of the newest window
 * @window_begin: position where the newest window began
 * @window_begin_time: time at which it began
 * @window_end: position where a window last ended
 * @window_end_time: time at which it ended
 *
 * @consumed: full-trace mode: newest valid tail that the kernel has taken from the user
 *	page. Overwrite mode: bytes retained by SNAPSHOT with SLOT
 * @overwritten: overwrite mode: bytes that newer ones have replaced. Full-trace mode: 0.
 *	Always produced = consumed + available + overwritten, where available is the number
 *	of bytes that a reader finds in the area
 * @pmis: trace interrupts handled for this channel, including those whose status bit
 *	another user had already acknowledged
 * @pauses_asked: PAUSE requests
 * @pauses_done: PAUSE requests that stopped the hardware
 * @resumes_asked: RESUME requests
 * @resumes_done: RESUME requests that started the hardware
 *
 * @gaps: times that trace was lost without a pause being requested; the sum of gaps_*
 * @gaps_full: full-trace mode: times that the hardware was stopped for lack of space. The module
 *	normally stops it a region before it would have to stop (see DOC: regions of Intel PT),
 *	so that it stops between two packets. BTS, and Intel PT with AUXTRACE_PT_SINGLE_ENTRY, in
 *	both modes: also times that an interrupt came so late that the space left for it did not
 *	suffice
 * @gaps_error: times that the hardware reported an operational error or refused a write of its
 *	registers (HWERROR stays set until the next START), or that another user had turned it
 *	off (a new window began). In overwrite mode that is not looked for where a trigger's PAUSE
 *	or a switch to a thread that is no member ends a window of Intel PT, unless the CPU is
 *	in VMX operation
 * @gaps_offline: times that the CPU went offline, or that the machine suspended,
 *	hibernated or crashed
 * @bad_tails: tails in the user page that moved backwards or beyond @produced; ignored
 * @snapshots: cuts made by SNAPSHOT with SLOT
 * @slot_begin: position at which tracing into @slot began; bytes that an earlier use of the
 *	slot left behind are not valid
 * @samples: SAMPLEs taken, including those dropped because the data ring had no space
 * @samples_cut: SAMPLEs that were shorter than wanted
 * @sample_slots: bit n: slot n holds a sample; as of the last update of this page
 * @frozen_time: time of the newest freeze
 * @frozen_by: ID of the trigger that last froze the channel; 0: none yet
 *
 * @seq does not cover the members below. Each is written as a whole, at any time, also by
 * NMIs.
 *
 * @data_reserved: bits 55:0: position up to which records are written or being written; it
 *	advances before the first byte of a record is written. A byte at position p is
 *	intact while p + data_size (or the slot's size) >= this. Bits 63:56: slot that
 *	records go to
 * @data_head: position after the newest complete record; load it with acquire semantics
 *	before reading records
 * @data_records: records written
 * @data_overwritten: overwritable ring: bytes that newer ones have replaced, as of the
 *	newest record. While no record is being written, always
 *	data_head = data_consumed + available + data_overwritten.
 *	No record was being written while a reader copied if it loads @data_head with acquire
 *	semantics before it copies, @data_reserved after a read barrier after it, and finds the
 *	same position in both
 * @data_consumed: newest valid tail that a writer has taken. Overwritable ring: bytes
 *	retained by SNAPSHOT with SLOT
 * @data_slot_begin: as @slot_begin, of the data ring's slot
 * @data_lost: records dropped because there was no space or output was paused
 * @data_paused: bit 0: PAUSE_OUTPUT is in effect; bit 1: the channel is frozen
 * @data_bad_tails: as @bad_tails, of @data_tail
 */
struct auxtrace_status_page {
	__u32 size;
	__u32 abi_version;
	__u32 cpu;
	__u32 pmu;
	__u32 clock;
	__u32 slots;
	__u64 aux_size;
	__u64 data_size;
	__u64 reserved_facts[11];

	__u32 seq;			/* at 128 */
	__u32 inhibit;
	__u32 running;
	__u32 slot;
	__u64 produced;
	__u64 windows;
	__u64 window_begin;
	__u64 window_begin_time;
	__u64 window_end;
	__u64 window_end_time;

	__u64 consumed;			/* at 192 */
	__u64 overwritten;
	__u64 pmis;
	__u64 pauses_asked;
	__u64 pauses_done;
	__u64 resumes_asked;
	__u64 resumes_done;
	__u64 reserved_often[9];

	__u64 gaps;			/* at 320 */
	__u64 gaps_full;
	__u64 gaps_error;
	__u64 gaps_offline;
	__u64 bad_tails;
	__u64 snapshots;
	__u64 slot_begin;
	__u64 samples;
	__u64 samples_cut;
	__u64 sample_slots;
	__u64 frozen_time;
	__u32 frozen_by;
	__u32 reserved_frozen;
	__u64 reserved_seldom[20];

	__u64 data_reserved;		/* at 576 */
	__u64 data_head;
	__u64 data_records;
	__u64 data_overwritten;
	__u64 data_consumed;
	__u64 data_slot_begin;
	__u64 data_lost;
	__u64 data_paused;
	__u64 data_bad_tails;
	__u64 reserved_data[15];
};
#define AUXTRACE_DATA_POSITION(reserved)	((__u64)(reserved) & 0xffffffffffffffull)
#define AUXTRACE_DATA_SLOT(reserved)		((__u32)((__u64)(reserved) >> 56))

/**
 * struct auxtrace_user_page - tails of a channel, written by the reader
 * @aux_tail: full-trace mode: position up to which the reader is done with the AUX area.
 *	Store it with release semantics after reading the data. The kernel takes it at each
 *	trace interrupt, poll(2), RESUME of a channel that is off, and STATUS with SYNC. poll
 *	and STATUS also restart a channel that was stopped at its tail (not with FULL_STOP)
 * @data_tail: data ring that is not overwritable: position up to which the reader is done
 *	with records, stored in the same way. The kernel takes it when a writer needs
 *	space, and at poll(2) and STATUS with SYNC
 *
 * Both are stored by one 64-bit access each, also by 32-bit programs. The rest of the page is
 * reserved and must stay zero; START checks that.
 */
struct auxtrace_user_page {
	__u64 aux_tail;
	__u64 data_tail;
};

/* ---- poll ------------------------------------------------------------- */

/*
 * poll(2) first takes new tails, then reports:
 *
 *  POLLIN | POLLRDNORM, if for any channel
 *	- a full-trace area has at least its watermark unread;
 *	- a full-trace area is full and has unread data;
 *	- a data ring that is not overwritable has at least its watermark unread;
 *	- such a data ring has unread data, and has dropped records for lack of space since
 *	  its tail moved; or
 *	- the session is stopped and a full-trace area or such a data ring has unread data.
 *  POLLPRI, if a channel is frozen.
 *  POLLERR, before SETUP, or if a channel has HWERROR.
 *
 * The AUX area of an overwrite session never causes POLLIN: pause the session, or wait for
 * a freeze, then read.
 *
 * Edge-triggered epoll (EPOLLET) calls poll(2) only after an event. Such a reader reads up to the
 * position that it loads after the event, stores its tail, and calls STATUS with SYNC, which takes
 * the tail: a channel that is full continues then.
 */

#endif /* _UAPI_LINUX_AUXTRACE_H */
