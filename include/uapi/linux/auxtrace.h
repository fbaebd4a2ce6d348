/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/auxtrace: hardware instruction trace (Intel PT) around events.
 *
 * This header is the specification. What it does not promise may change.
 *
 * DOC: life of a session
 *
 * One open file is one session over a set of CPUs; the session on one CPU is a
 * channel. open(2), AUXTRACE_IOC_SETUP, mmap(2) the regions of each channel,
 * AUXTRACE_IOC_START, then any number of PAUSE and RESUME from any thread,
 * AUXTRACE_IOC_STOP, close(2). START after STOP goes on where the rings stand.
 * The last close of the file stops the session; its rings stay readable until
 * the last mapping of them goes.
 *
 * DOC: structs
 *
 * Every ioctl takes a pointer to a struct whose first member is its size as the
 * caller knows it. A longer struct than the kernel's is accepted if the excess
 * is zero (else -E2BIG); a shorter one, down to the first published size, is
 * taken as if the missing members were zero, and only its size is written back.
 * Members named out_* are written by the kernel and ignored on input; all
 * reserved members must be zero. Pointers travel as __u64. CPU sets are bit
 * masks as for sched_setaffinity(2): bit n of the little-endian bit string is
 * CPU n, the length is in bytes.
 *
 * DOC: errno
 *
 * Codes with one meaning wherever they appear:
 *
 *  ENOTTY       no such ioctl
 *  EFAULT       a pointer of the caller's is bad; nothing was done then
 *  E2BIG        unknown trailing members are not zero
 *  EINVAL       size smaller than the first published; unknown flag; non-zero
 *               reserved member; else as said at the ioctl
 *  EBADFD       wrong state: nothing was set up yet, or the session is not
 *               started (PAUSE, RESUME)
 *  EACCES       the caller has neither CAP_PERFMON nor CAP_SYS_ADMIN
 *  ENODEV       this machine does not have that trace PMU, or a CPU that the
 *               session needs is offline
 *  EBUSY        somebody else, perf as a rule, holds the trace hardware
 *  ENOMEM       no memory, or beyond RLIMIT_MEMLOCK (without CAP_IPC_LOCK)
 *  EINTR        a fatal signal came while waiting
 *
 * A call that fails leaves the session as it was.
 *
 * DOC: position
 *
 * A position in an AUX area is a count of bytes since SETUP, never reset, so
 * that it does not wrap in practice. The byte at position p is at offset
 * p % aux_size of the mapping.
 *
 * DOC: windows
 *
 * A window is the trace between the hardware's start and its next stop. It
 * begins with PSB+, so it decodes on its own, and has a sequence number of its
 * channel, from 1. The short stops for the module's own upkeep (moving the STOP
 * mark in a full-trace area, reading the position for a SYNC) do not end a window.
 */
#ifndef _UAPI_LINUX_AUXTRACE_H
#define _UAPI_LINUX_AUXTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Raised on an incompatible change only: compare for equality. */
#define AUXTRACE_ABI_VERSION	1

#define AUXTRACE_IOC_MAGIC	0xa7

/*
 * Trace PMUs, as bit numbers in auxtrace_info.out_pmus and values of
 * auxtrace_setup.pmu.
 */
#define AUXTRACE_PMU_INTEL_PT	0

/* ---- INFO ------------------------------------------------------------- */

/* Also try, on every online CPU, whether the hardware could be had now. */
#define AUXTRACE_INFO_PROBE	(1u << 0)
#define AUXTRACE_INFO_ALL	(AUXTRACE_INFO_PROBE)

/* Why auxtrace_info.out_pt is not AUXTRACE_PT_OK. */
#define AUXTRACE_PT_OK		0
#define AUXTRACE_PT_NO_CPUID	1	/* CPUID.(7,0):EBX[25] is clear */
#define AUXTRACE_PT_NO_TOPA	2	/* no multi-entry ToPA output (CPUID.(14H,0):ECX[1:0]) */
#define AUXTRACE_PT_NO_PMI	3	/* no architectural PMU to route its interrupt */
#define AUXTRACE_PT_BUSY	4	/* PROBE only: perf or firmware holds it now */

/* What the caller may do (auxtrace_info.out_may). */
#define AUXTRACE_MAY_TRACE	(1u << 0)	/* CAP_PERFMON or CAP_SYS_ADMIN */
#define AUXTRACE_MAY_LOCK	(1u << 1)	/* CAP_IPC_LOCK: no RLIMIT_MEMLOCK bound */

/**
 * struct auxtrace_info - AUXTRACE_IOC_INFO: what this machine and caller can do
 * @size: sizeof(struct auxtrace_info)
 * @flags: AUXTRACE_INFO_*
 * @out_abi_version: AUXTRACE_ABI_VERSION of the module
 * @out_pmus: bit mask of the trace PMUs that sessions can use
 * @out_may: AUXTRACE_MAY_*
 * @out_pt: AUXTRACE_PT_*
 * @out_nr_cpu_ids: one more than the highest possible CPU number
 * @out_page_size: unit of aux_size; the size of a status and a user page
 * @out_pt_config: bits that auxtrace_setup.config may have here
 * @out_pt_mtc_periods: bit n: mtc_period=n is supported (CPUID.(14H,1):EAX[31:16])
 * @out_pt_cyc_thresholds: bit n: cyc_thresh=n (CPUID.(14H,1):EBX[15:0])
 * @out_pt_psb_periods: bit n: psb_period=n (CPUID.(14H,1):EBX[31:16])
 * @out_pt_nr_ranges: address ranges of the CPU (CPUID.(14H,1):EAX[2:0])
 * @out_cpu_family: display family, for decoders
 * @out_cpu_model: display model
 * @out_cpu_stepping: stepping
 * @out_tsc_art_num: TSC = ART * num / den (CPUID.15H); 0 if not enumerated
 * @out_tsc_art_den: as above
 * @out_max_nonturbo_ratio: PLATFORM_INFO[15:8]
 * @out_time_shift: nanoseconds (as perf's clock, local_clock()) =
 *	time_zero + ((tsc * time_mult) >> time_shift), in 128 bits
 * @out_time_mult: as above; 0 if the kernel's clock is not the TSC here
 * @out_time_zero: as above
 * @out_tsc_khz: frequency of the TSC
 *
 * Always succeeds on a well-formed struct, whoever asks and whatever the CPU
 * has: it is how a user learns what is missing.
 */
struct auxtrace_info {
	__u32 size;
	__u32 flags;
	__u32 out_abi_version;
	__u32 out_pmus;
	__u32 out_may;
	__u32 out_pt;
	__u32 out_nr_cpu_ids;
	__u32 out_page_size;
	__u64 out_pt_config;
	__u32 out_pt_mtc_periods;
	__u32 out_pt_cyc_thresholds;
	__u32 out_pt_psb_periods;
	__u32 out_pt_nr_ranges;
	__u32 out_cpu_family;
	__u32 out_cpu_model;
	__u32 out_cpu_stepping;
	__u32 out_tsc_art_num;
	__u32 out_tsc_art_den;
	__u32 out_max_nonturbo_ratio;
	__u32 out_time_shift;
	__u32 out_time_mult;
	__u64 out_time_zero;
	__u64 out_tsc_khz;
};
#define AUXTRACE_IOC_INFO	_IO(AUXTRACE_IOC_MAGIC, 0)

/* ---- SETUP ------------------------------------------------------------ */

#define AUXTRACE_SETUP_KERNEL	 (1u << 0)	/* trace CPL 0 */
#define AUXTRACE_SETUP_USER	 (1u << 1)	/* trace CPL > 0 */
#define AUXTRACE_SETUP_OVERWRITE (1u << 2)	/* newest data wins; else full trace */
#define AUXTRACE_SETUP_PAUSED	 (1u << 3)	/* START leaves the hardware paused */
#define AUXTRACE_SETUP_ALL	 (AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER | \
				  AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_PAUSED)

/**
 * struct auxtrace_setup - AUXTRACE_IOC_SETUP: make the file a session
 * @size: sizeof(struct auxtrace_setup)
 * @flags: AUXTRACE_SETUP_*; at least one of KERNEL and USER
 * @pmu: AUXTRACE_PMU_INTEL_PT
 * @cpus_len: bytes at @cpus; bytes past the last possible CPU must be zero
 * @cpus: pointer to the set of CPUs, not empty, each online
 * @config: what to trace, in the bits of perf's intel_pt format
 *	(/sys/bus/event_source/devices/intel_pt/format): pt 0, cyc 1, fup_on_ptw 5,
 *	mtc 9, tsc 10, noretcomp 11, ptw 12, branch 13, mtc_period 14-17,
 *	cyc_thresh 19-22, psb_period 24-27. As in perf, branches are traced unless
 *	pt is set and branch is not. A bit or value that this CPU lacks is refused.
 * @aux_size: bytes of AUX area for each channel: a power of two, at least two pages
 * @aux_watermark: full trace: poll(2) says POLLIN when this many bytes can be
 *	read; a multiple of the page size, less than @aux_size; 0: half of @aux_size.
 *	Overwrite mode: must be 0.
 *
 * Allocates and charges the memory to the caller's locked memory. Takes no
 * hardware: that is START's.
 *
 * Errors: EEXIST this file is a session already; EINVAL empty or impossible CPU
 * set, a CPU that does not exist, neither KERNEL nor USER, a size or watermark
 * that is not as said above, a config that perf's rules forbid (a period
 * without its packet, fup_on_ptw without ptw, branch without pt, branch off on a CPU
 * that cannot, bits outside the format); EOPNOTSUPP config has a bit or value that this CPU
 * lacks (out_pt_config and the period masks of INFO say which); ENODEV no such
 * PMU, or a CPU that is offline; EACCES; ENOMEM.
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
};
#define AUXTRACE_IOC_SETUP	_IO(AUXTRACE_IOC_MAGIC, 1)

/* ---- START, STOP ------------------------------------------------------ */

/**
 * struct auxtrace_start - AUXTRACE_IOC_START and AUXTRACE_IOC_STOP
 * @size: sizeof(struct auxtrace_start)
 * @flags: 0
 *
 * START takes the hardware on every CPU of the session (perf gets EBUSY from
 * then on) and, unless AUXTRACE_SETUP_PAUSED, begins the first window; it
 * forgets earlier PAUSEs. It is all or nothing. STOP ends the windows, publishes
 * the last positions and gives the hardware back.
 *
 * Errors: EALREADY started (stopped) already; EBUSY; ENODEV a CPU of the session
 * is offline; EBADFD no SETUP.
 */
struct auxtrace_start {
	__u32 size;
	__u32 flags;
};
#define AUXTRACE_IOC_START	_IO(AUXTRACE_IOC_MAGIC, 2)
#define AUXTRACE_IOC_STOP	_IO(AUXTRACE_IOC_MAGIC, 3)

/* ---- PAUSE, RESUME ---------------------------------------------------- */

/* Reasons why the hardware of a channel is off: its inhibit mask. */
#define AUXTRACE_INHIBIT_USER	 (1u << 0)	/* PAUSE, or started paused */
#define AUXTRACE_INHIBIT_TRIGGER (1u << 1)	/* a trigger paused it (no trigger kinds yet) */
#define AUXTRACE_INHIBIT_TASK	 (1u << 2)	/* the current task is out of scope (not yet) */
#define AUXTRACE_INHIBIT_FULL	 (1u << 3)	/* full trace: the reader must move its tail */
#define AUXTRACE_INHIBIT_FROZEN	 (1u << 4)	/* a freeze (not yet) */
#define AUXTRACE_INHIBIT_SETUP	 (1u << 5)	/* the session is not started */
#define AUXTRACE_INHIBIT_HWERROR (1u << 6)	/* the hardware reported an error, or an MSR write failed */
#define AUXTRACE_INHIBIT_OFFLINE (1u << 7)	/* the CPU is offline, or came back to find the hardware taken */

/* The request changed the hardware's state: a window began or ended by it. */
#define AUXTRACE_EFFECT_CHANGED	(1u << 0)

/**
 * struct auxtrace_effect - where and when a request took effect on one CPU
 * @cpu: the CPU
 * @flags: AUXTRACE_EFFECT_*
 * @inhibit: AUXTRACE_INHIBIT_* that hold after the request; 0: the hardware runs
 * @reserved: 0
 * @position: AUX position of the channel: the window's end (PAUSE) or begin (RESUME)
 * @window: sequence number of the window that ended or began; if nothing
 *	changed, of the newest window (0: none yet)
 * @tsc: time-stamp counter of that CPU right after the hardware's change
 */
struct auxtrace_effect {
	__u32 cpu;
	__u32 flags;
	__u32 inhibit;
	__u32 reserved;
	__u64 position;
	__u64 window;
	__u64 tsc;
};

/**
 * struct auxtrace_control - AUXTRACE_IOC_PAUSE and AUXTRACE_IOC_RESUME
 * @size: sizeof(struct auxtrace_control)
 * @flags: 0
 * @cpus_len: bytes at @cpus; 0: all CPUs of the session
 * @effects_len: room at @effects, in entries; 0 if no answer is wanted
 * @cpus: pointer to the set of CPUs, a non-empty subset of the session's
 * @effects: pointer to struct auxtrace_effect[], filled in CPU order
 * @out_count: CPUs that were asked; entries beyond @effects_len are dropped
 * @reserved: 0
 *
 * PAUSE sets the USER reason, RESUME clears it, on each CPU; the hardware runs
 * when no reason is left. When the call returns, each CPU has done it. A CPU that is
 * offline keeps the request for its return. A redundant request is counted and
 * changes nothing. Requests that collide are ordered by the CPU: the last one wins.
 * A PAUSE that stops the hardware is one WRMSR on its CPU, a RESUME that starts it two.
 *
 * Errors: EINVAL a CPU that is not the session's, an empty set; EBADFD not started.
 */
struct auxtrace_control {
	__u32 size;
	__u32 flags;
	__u32 cpus_len;
	__u32 effects_len;
	__u64 cpus;
	__u64 effects;
	__u32 out_count;
	__u32 reserved;
};
#define AUXTRACE_IOC_PAUSE	_IO(AUXTRACE_IOC_MAGIC, 4)
#define AUXTRACE_IOC_RESUME	_IO(AUXTRACE_IOC_MAGIC, 5)

/* ---- STATUS ----------------------------------------------------------- */

/* Bring every status page up to the hardware's position and take new tails first. */
#define AUXTRACE_STATUS_SYNC	(1u << 0)
#define AUXTRACE_STATUS_ALL	(AUXTRACE_STATUS_SYNC)

#define AUXTRACE_STATE_NEW	0	/* no SETUP yet */
#define AUXTRACE_STATE_STOPPED	1
#define AUXTRACE_STATE_STARTED	2

/**
 * struct auxtrace_status - AUXTRACE_IOC_STATUS: the session as a whole
 * @size: sizeof(struct auxtrace_status)
 * @flags: AUXTRACE_STATUS_*
 * @out_state: AUXTRACE_STATE_*
 * @out_nr_channels: CPUs of the session
 * @out_nr_running: channels whose hardware runs
 * @reserved: 0
 * @out_produced: sums over the channels of the counters of the same name in
 *	struct auxtrace_status_page
 *
 * Errors: none beyond the common ones; in state NEW all counts are 0.
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
};
#define AUXTRACE_IOC_STATUS	_IO(AUXTRACE_IOC_MAGIC, 6)

/* ---- TASK ------------------------------------------------------------- */

/**
 * struct auxtrace_task - AUXTRACE_IOC_TASK: how a process shows in a trace
 * @size: sizeof(struct auxtrace_task)
 * @flags: 0
 * @pid: a process or thread id in the caller's pid namespace; 0: the caller
 * @reserved: 0
 * @out_cr3: page-table root of its address space, as in a PIP packet
 * @out_cr3_mask: bits of a PIP packet's CR3 to compare (PCID and the page-table
 *	isolation bit are not among them)
 *
 * Errors: ESRCH no such process; ENXIO it has no address space (a kernel thread);
 * EACCES. Needs no SETUP.
 */
struct auxtrace_task {
	__u32 size;
	__u32 flags;
	__u32 pid;
	__u32 reserved;
	__u64 out_cr3;
	__u64 out_cr3_mask;
};
#define AUXTRACE_IOC_TASK	_IO(AUXTRACE_IOC_MAGIC, 7)

/* ---- mmap ------------------------------------------------------------- */

/*
 * The offset of a mapping names a channel by its CPU and one of its regions. A
 * mapping must be shared, start at the region's begin and have exactly its
 * length; only the user page may be writable, none executable.
 *
 * Errors: EINVAL wrong offset, length or MAP_PRIVATE; EACCES a protection that
 * the region does not give; ENODEV the CPU is not the session's; EBADFD no SETUP.
 * A fork does not inherit mappings.
 */
#define AUXTRACE_REGION_STATUS	0	/* struct auxtrace_status_page, one page, read-only */
#define AUXTRACE_REGION_USER	1	/* struct auxtrace_user_page, one page */
#define AUXTRACE_REGION_AUX	2	/* the AUX area, aux_size bytes, read-only */
#define AUXTRACE_MMAP_OFFSET(cpu, region) \
	(((__u64)(cpu) << 44) | ((__u64)(region) << 40))

/**
 * struct auxtrace_status_page - what the kernel tells of a channel
 * @seq: odd while the kernel writes. Read it, then the rest, then it again, with
 *	read barriers (or acquire loads) between: equal and even means consistent
 * @cpu: CPU of the channel
 * @inhibit: AUXTRACE_INHIBIT_*
 * @running: 1 when the hardware traces
 * @aux_size: bytes of the AUX area
 * @produced: AUX position up to which data is in memory. Moves when a window
 *	ends, at a watermark or wrap interrupt, and at STATUS with SYNC
 * @consumed: full trace: the newest valid tail the kernel has taken from the
 *	user page. Overwrite: 0
 * @overwritten: overwrite: bytes that newer ones have replaced. Full trace: 0.
 *	Always produced = consumed + available + overwritten, where available is
 *	what a reader finds in the area
 * @windows: windows begun; the sequence number of the newest one
 * @window_begin: position where the newest window began
 * @window_begin_tsc: when it began
 * @window_end: position where the newest ended window ended
 * @window_end_tsc: when it ended
 * @pauses_asked: PAUSE requests
 * @pauses_done: those that stopped the hardware
 * @resumes_asked: RESUME requests
 * @resumes_done: those that started the hardware
 * @pmis: trace interrupts taken for this channel, also those whose status bit
 *	somebody else had acknowledged
 * @gaps: times when trace was lost while no pause was asked for; the sum of gaps_*
 * @gaps_full: full trace: the hardware met the reader's tail and stopped; at the
 *	latest a page before it, so that it stops between two packets
 * @gaps_error: the hardware reported an operational error (HWERROR stays until the
 *	next START), or somebody else had turned it off (a new window began)
 * @gaps_offline: the CPU went offline, or the machine to sleep
 * @bad_tails: tails in the user page that went back or beyond @produced; ignored
 */
struct auxtrace_status_page {
	__u32 seq;
	__u32 cpu;
	__u32 inhibit;
	__u32 running;
	__u64 aux_size;
	__u64 produced;
	__u64 consumed;
	__u64 overwritten;
	__u64 windows;
	__u64 window_begin;
	__u64 window_begin_tsc;
	__u64 window_end;
	__u64 window_end_tsc;
	__u64 pauses_asked;
	__u64 pauses_done;
	__u64 resumes_asked;
	__u64 resumes_done;
	__u64 pmis;
	__u64 gaps;
	__u64 gaps_full;
	__u64 gaps_error;
	__u64 gaps_offline;
	__u64 bad_tails;
};

/**
 * struct auxtrace_user_page - what the reader tells of a channel
 * @aux_tail: full trace: position up to which the reader is done. Store it with
 *	release semantics after reading the data. The kernel takes it at each trace
 *	interrupt, poll(2), RESUME and STATUS with SYNC; poll and STATUS also start a
 *	channel again that had met its tail
 */
struct auxtrace_user_page {
	__u64 aux_tail;
};

/*
 * poll(2): POLLIN (with POLLRDNORM) when a full-trace channel has at least the
 * watermark to read or has met its tail, or one of a stopped session has something
 * unread; POLLERR without SETUP or when a channel has HWERROR. It takes
 * new tails. An overwrite session is never readable by itself: pause it, then read.
 */

#endif /* _UAPI_LINUX_AUXTRACE_H */
