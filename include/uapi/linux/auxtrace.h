/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/auxtrace: hardware instruction trace (Intel PT, BTS) around events.
 *
 * This header is the specification. What it does not promise may change.
 *
 * DOC: life of a session
 *
 * One open file is one session over a set of CPUs; the session on one CPU is a
 * channel. open(2), AUXTRACE_IOC_SETUP, mmap(2) the regions of each channel,
 * AUXTRACE_IOC_START, then any number of PAUSE and RESUME from any thread,
 * AUXTRACE_IOC_STOP, close(2). START after STOP goes on where the rings stand.
 * Beside the AUX area, which the hardware writes, a channel may have a data ring
 * of records about it, which the module writes.
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
 * p % aux_size of the mapping; in a session with slots, at offset
 * slot * slot_size + p % slot_size, where slot_size is aux_size / slots.
 *
 * A position in a data ring likewise: a count of the bytes of its records. A
 * record that ends at position p begins at p - size. In a forward ring its first
 * byte is at offset (p - size) % data_size of the mapping, in a backward ring at
 * offset -p % data_size, so that the newest record is the first. A record may
 * wrap from the end of the mapping to its begin, at a multiple of 8 bytes. With
 * slots in an overwritable data ring, the offset is slot * slot_size + the same
 * modulo slot_size = data_size / slots.
 *
 * DOC: windows
 *
 * A window is the trace between the hardware's start and its next stop. It
 * begins with PSB+, so it decodes on its own, and has a sequence number of its
 * channel, from 1. The short stops for the module's own upkeep (moving the STOP
 * mark in a full-trace area, reading the position for a SYNC or a SNAPSHOT that
 * needs no more) do not end a window.
 *
 * DOC: data ring
 *
 * Records (struct auxtrace_record_*) in the order of their making, newest first in
 * a backward ring. Each begins with perf's event header and ends with
 * struct auxtrace_record_end, so that a reader can walk either way; sizes are
 * multiples of 8. Writers are task, interrupt and NMI context of the channel's CPU
 * and do not wait for each other.
 *
 * A ring that is not overwritable keeps what was not read: when it is full,
 * records are dropped and counted, and a LOST record tells of them as soon as a
 * writer, poll(2), STATUS with SYNC or PAUSE_OUTPUT finds room (a record that an NMI
 * writes meanwhile may come before it). In an overwritable ring the newest records replace the oldest; read it
 * while its output is paused (PAUSE_OUTPUT, SNAPSHOT), or while it is written, by
 * copying and then checking with auxtrace_status_page.data_reserved what of the
 * copy was whole.
 *
 * DOC: Branch Trace Store
 *
 * With AUXTRACE_PMU_INTEL_BTS the AUX area holds one struct auxtrace_branch for each
 * branch taken, far transfer, interrupt and exception: at each position that is a
 * multiple of its 24 bytes, so one may wrap from the end of the area (or slot) to its
 * begin. Where a window begins or ends, and where @produced of the status page is,
 * is such a position; what is oldest in an overwrite area need not be: round it up.
 * All that is said of sessions holds for both trace PMUs, but:
 *
 *  - The hardware knows no time. The TSC of AUX and WINDOW records bounds when the
 *    branches before and after their positions were taken.
 *  - A window begins with the first branch after the start; it has no PSB+.
 *  - What the CPU records depends on the CPL behind a branch, so that it tells
 *    kernel addresses of returns to user code. In a session without KERNEL they
 *    read as 0; to see to that, the hardware writes to a 64 KiB buffer of the kernel's, and
 *    the module copies from there at each interrupt and stop. Likewise in every
 *    session while the kernel isolates page tables (INFO: AUXTRACE_BTS_BUFFERED). Elsewhere
 *    the hardware itself writes the AUX area.
 *  - It stops a quarter of the area, at most 256 KiB, before the reader's tail, lest
 *    anything be dropped while an interrupt waits for an NMI of the kernel's to end. What is
 *    not traced while it waits for the reader, or when that room did not last, is
 *    not counted by the hardware: gaps_full says how often it was, not how many branches.
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
#define AUXTRACE_PMU_INTEL_BTS	1

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

/* Why auxtrace_info.out_bts is not AUXTRACE_BTS_OK. */
#define AUXTRACE_BTS_OK		0
#define AUXTRACE_BTS_NO_CPUID	1	/* CPUID.1: EDX[21] (DS) or ECX[2] (DTES64) is clear */
#define AUXTRACE_BTS_DISABLED	2	/* IA32_MISC_ENABLE[11]: by firmware or a hypervisor */
#define AUXTRACE_BTS_NO_PMI	3	/* no architectural PMU to route its interrupt */
#define AUXTRACE_BTS_BUSY	4	/* PROBE only: perf holds it, or what excludes it, now */

/* auxtrace_info.out_bts_flags */
#define AUXTRACE_BTS_CPL	(1u << 0)	/* kernel and user alone (CPUID.1:ECX[4], DS-CPL) */
#define AUXTRACE_BTS_BUFFERED	(1u << 1)	/* page tables are isolated: see "Branch Trace Store" */

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
 * @out_bts: AUXTRACE_BTS_*
 * @out_bts_flags: AUXTRACE_BTS_CPL, AUXTRACE_BTS_BUFFERED
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
	__u32 out_bts;
	__u32 out_bts_flags;
};
#define AUXTRACE_IOC_INFO	_IO(AUXTRACE_IOC_MAGIC, 0)

/* ---- SETUP ------------------------------------------------------------ */

#define AUXTRACE_SETUP_KERNEL	 (1u << 0)	/* trace CPL 0 */
#define AUXTRACE_SETUP_USER	 (1u << 1)	/* trace CPL > 0 */
#define AUXTRACE_SETUP_OVERWRITE (1u << 2)	/* newest data wins; else full trace */
#define AUXTRACE_SETUP_PAUSED	 (1u << 3)	/* START leaves the hardware paused */
/*
 * When a full-trace area is full, trace is dropped and counted until the reader
 * has moved its tail and poll(2), STATUS with SYNC or RESUME has taken it. Instead:
 */
#define AUXTRACE_SETUP_FULL_AUTO (1u << 4)	/* the module looks for the tail by itself, each ms */
#define AUXTRACE_SETUP_FULL_STOP (1u << 5)	/* the channel stays off until a RESUME */
/* The data ring: forward and not overwritable without these. */
#define AUXTRACE_SETUP_DATA_BACKWARD  (1u << 6)	/* the newest record is the first */
#define AUXTRACE_SETUP_DATA_OVERWRITE (1u << 7)	/* newest records win */
/* START leaves the hardware as after a PAUSE by a trigger: a RESUME trigger starts it. */
#define AUXTRACE_SETUP_TRIGGER_PAUSED (1u << 8)
#define AUXTRACE_SETUP_ALL	 (AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER | \
				  AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_PAUSED | \
				  AUXTRACE_SETUP_FULL_AUTO | AUXTRACE_SETUP_FULL_STOP | \
				  AUXTRACE_SETUP_DATA_BACKWARD | AUXTRACE_SETUP_DATA_OVERWRITE | \
				  AUXTRACE_SETUP_TRIGGER_PAUSED)

/* Kinds of records that a session may choose; LOST always comes. */
#define AUXTRACE_WANT_AUX	 (1u << 0)
#define AUXTRACE_WANT_WINDOW	 (1u << 1)
#define AUXTRACE_WANT_ITRACE_START (1u << 2)
#define AUXTRACE_WANT_TRIGGER	 (1u << 3)
#define AUXTRACE_WANT_ALL	 (AUXTRACE_WANT_AUX | AUXTRACE_WANT_WINDOW | \
				  AUXTRACE_WANT_ITRACE_START | AUXTRACE_WANT_TRIGGER)

#define AUXTRACE_MAX_SLOTS	 64

/**
 * struct auxtrace_setup - AUXTRACE_IOC_SETUP: make the file a session
 * @size: sizeof(struct auxtrace_setup)
 * @flags: AUXTRACE_SETUP_*; at least one of KERNEL and USER
 * @pmu: AUXTRACE_PMU_*
 * @cpus_len: bytes at @cpus; bytes past the last possible CPU must be zero
 * @cpus: pointer to the set of CPUs, not empty, each online
 * @config: what to trace, in the bits of perf's intel_pt format
 *	(/sys/bus/event_source/devices/intel_pt/format): pt 0, cyc 1, fup_on_ptw 5,
 *	mtc 9, tsc 10, noretcomp 11, ptw 12, branch 13, mtc_period 14-17,
 *	cyc_thresh 19-22, psb_period 24-27. As in perf, branches are traced unless
 *	pt is set and branch is not. A bit or value that this CPU lacks is refused.
 *	BTS: 0, there is nothing to choose
 * @aux_size: bytes of AUX area for each channel: a power of two, at least two pages
 * @aux_watermark: full trace: poll(2) says POLLIN when this many bytes can be
 *	read; a multiple of the page size, less than @aux_size; 0: half of @aux_size.
 *	Overwrite mode: must be 0.
 * @data_size: bytes of data ring for each channel: a power of two, at least one
 *	page; 0: no data ring, and no member below but @slots may be set
 * @data_watermark: poll(2) says POLLIN when so many bytes of records can be read;
 *	less than @data_size; 0: half of it. An overwritable ring: must be 0
 * @records: AUXTRACE_WANT_*: what is written to the data ring; 0: all kinds
 * @slots: overwrite mode: parts, a power of two up to AUXTRACE_MAX_SLOTS, into
 *	which the AUX area and an overwritable data ring are divided. The channel
 *	traces into one of them; SNAPSHOT may put it aside and go on in another. Each part
 *	must have at least two pages of AUX area and one of data ring. 0, 1: no parts
 *
 * Allocates and charges the memory to the caller's locked memory. Takes no
 * hardware: that is START's.
 *
 * Errors: EEXIST this file is a session already; EINVAL empty or impossible CPU
 * set, a CPU that does not exist, neither KERNEL nor USER, a size, watermark or
 * number of slots that is not as said above, FULL_AUTO and FULL_STOP together or
 * either with OVERWRITE, DATA_* or an unknown kind of record or one without a data
 * ring, a config that perf's rules forbid (a period
 * without its packet, fup_on_ptw without ptw, branch without pt, branch off on a CPU
 * that cannot, bits outside the format); EOPNOTSUPP config has a bit or value that this CPU
 * lacks (out_pt_config and the period masks of INFO say which), or BTS without KERNEL or
 * without USER on a CPU that lacks AUXTRACE_BTS_CPL; ENODEV no such
 * PMU (out_pt, out_bts say why), or a CPU that is offline; EACCES; ENOMEM.
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
 * is offline; EBADFD no SETUP. BTS also: EBUSY LBRs are used (by perf, on any CPU), or Intel PT
 * (by anybody) on a model of CPU that cannot have both; EIO perf's debug store is not where the
 * CPU looks for it. A trace PMU of a CPU has one session at a time; PT and BTS of a CPU
 * may each have one where the model allows it.
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
#define AUXTRACE_INHIBIT_TRIGGER (1u << 1)	/* a trigger's PAUSE, or started so */
#define AUXTRACE_INHIBIT_TASK	 (1u << 2)	/* the current task is out of scope (not yet) */
#define AUXTRACE_INHIBIT_FULL	 (1u << 3)	/* full trace: the reader must move its tail */
#define AUXTRACE_INHIBIT_FROZEN	 (1u << 4)	/* a trigger's FREEZE, until RESUME */
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
 * PAUSE sets the USER reason, RESUME clears it and FROZEN, on each CPU; the hardware runs
 * when no reason is left. When the call returns, each CPU has done it. A CPU that is
 * offline keeps the request for its return. A redundant request is counted and
 * changes nothing. Requests that collide are ordered by the CPU: the last one wins.
 * A PAUSE that stops the hardware is one WRMSR on its CPU, a RESUME that starts it two
 * (BTS: one).
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
	__u64 out_data_produced;
	__u64 out_data_consumed;
	__u64 out_data_overwritten;
	__u64 out_data_lost;
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

/* ---- PAUSE_OUTPUT ----------------------------------------------------- */

/**
 * struct auxtrace_output - AUXTRACE_IOC_PAUSE_OUTPUT: stop and go on writing records
 * @size: sizeof(struct auxtrace_output)
 * @flags: 0
 * @cpus_len: bytes at @cpus; 0: all CPUs of the session
 * @pause: 1: from the return on nothing is written to the data rings; what would
 *	have been is dropped and counted. 0: it is written again, beginning with a
 *	LOST record if something was dropped
 * @cpus: pointer to the set of CPUs, a non-empty subset of the session's
 *
 * The AUX area is traced on. Started or not; a START does not change it. A redundant
 * request changes nothing.
 *
 * Errors: EINVAL the session has no data ring; @pause is neither 0 nor 1; a CPU that
 * is not the session's; an empty set.
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
 * Without a flag: all goes on in place; an overwritable ring goes on overwriting,
 * so what is copied must be checked against a later position.
 */
/* Stay paused: the hardware as by PAUSE, the data ring as by PAUSE_OUTPUT. */
#define AUXTRACE_SNAPSHOT_PAUSE	(1u << 0)
/* Put the slot with the cut aside until RELEASE, and go on in a free one. */
#define AUXTRACE_SNAPSHOT_SLOT	(1u << 1)
#define AUXTRACE_SNAPSHOT_ALL	(AUXTRACE_SNAPSHOT_PAUSE | AUXTRACE_SNAPSHOT_SLOT)

/**
 * struct auxtrace_cut - what a SNAPSHOT found on one CPU
 * @cpu: the CPU
 * @inhibit: AUXTRACE_INHIBIT_* that hold after it
 * @slot: where the bytes are: the slot put aside, else the present one
 * @reserved: 0
 * @aux_begin: position of the oldest byte in the AUX area
 * @aux_end: position where the hardware was
 * @data_begin: position of the oldest byte in the data ring; the first record may
 *	begin before it. Without a data ring this and @data_end are 0
 * @data_end: position after the newest record, which is whole
 * @window: sequence number of the newest window (0: none yet)
 * @tsc: time-stamp counter at the cut
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
	__u64 tsc;
};

/**
 * struct auxtrace_snapshot - AUXTRACE_IOC_SNAPSHOT: one cut over all channels
 * @size: sizeof(struct auxtrace_snapshot)
 * @flags: AUXTRACE_SNAPSHOT_*, at most one
 * @cuts_len: room at @cuts, in entries
 * @out_count: CPUs of the session; entries beyond @cuts_len are dropped
 * @cuts: pointer to struct auxtrace_cut[], filled in CPU order
 * @out_slot: with SLOT: the slot that holds the cut on every CPU, to be released
 * @reserved: 0
 *
 * With SLOT the open window ends at the cut and the next one begins at once: what
 * runs meanwhile is the few instructions between two WRMSRs. The bytes of the cut
 * count as consumed from then on, and stay as they are until RELEASE.
 *
 * Errors: EINVAL unknown flag, both flags, SLOT in a session without slots; EBADFD no
 * SETUP, or a flag in a session that is not started; ENOSPC SLOT, and every other
 * slot still holds a snapshot, or on some CPU a sample.
 */
struct auxtrace_snapshot {
	__u32 size;
	__u32 flags;
	__u32 cuts_len;
	__u32 out_count;
	__u64 cuts;
	__u32 out_slot;
	__u32 reserved;
};
#define AUXTRACE_IOC_SNAPSHOT	_IO(AUXTRACE_IOC_MAGIC, 9)

/* The slot of one CPU that a SAMPLE record names, not that of a SNAPSHOT. */
#define AUXTRACE_RELEASE_SAMPLE	(1u << 0)
#define AUXTRACE_RELEASE_ALL	(AUXTRACE_RELEASE_SAMPLE)

/**
 * struct auxtrace_release - AUXTRACE_IOC_RELEASE: a slot was read
 * @size: sizeof(struct auxtrace_release)
 * @flags: AUXTRACE_RELEASE_*
 * @slot: out_slot of a SNAPSHOT; with SAMPLE: sample_slot of a record
 * @cpu: with SAMPLE: the CPU in whose data ring the record is; else 0
 *
 * Errors: EINVAL no such slot, or it holds no snapshot (sample); with SAMPLE, a CPU
 * that is not the session's; EBADFD no SETUP.
 */
struct auxtrace_release {
	__u32 size;
	__u32 flags;
	__u32 slot;
	__u32 cpu;
};
#define AUXTRACE_IOC_RELEASE	_IO(AUXTRACE_IOC_MAGIC, 10)

/* ---- TRIGGER_ADD, TRIGGER_DEL, TRIGGER_READ --------------------------- */

/* What makes a trigger hit. "skid": what runs between the event and the action. */
#define AUXTRACE_TRIGGER_PERF	  0	/* any perf_event_attr, at its overflow; skid: perf's */
#define AUXTRACE_TRIGGER_SYSCALL_ENTER 1 /* the raw tracepoint sys_enter; skid: kernel code only */
#define AUXTRACE_TRIGGER_SYSCALL_EXIT  2 /* sys_exit; likewise */
#define AUXTRACE_TRIGGER_KPROBE	  3	/* before a kernel instruction; skid: the probe's own code */
#define AUXTRACE_TRIGGER_KRETPROBE 4	/* at a kernel function's return; likewise */
#define AUXTRACE_TRIGGER_UPROBE	  5	/* before a program's instruction; skid: kernel code only */
#define AUXTRACE_TRIGGER_URETPROBE 6	/* at a program's function's return; likewise */
#define AUXTRACE_TRIGGER_BREAKPOINT 7	/* hardware breakpoint; data: after the access */
#define AUXTRACE_TRIGGER_LATENCY  8	/* hit of @b more than @bound_ns after the same task's @a */
#define AUXTRACE_TRIGGER_TIMER	  9	/* each @bound_ns on each CPU, from a hard interrupt */

/* What it does: one of them, or none (a trigger that others refer to). */
#define AUXTRACE_ACTION_NONE	0
#define AUXTRACE_ACTION_PAUSE	1	/* sets the TRIGGER reason */
#define AUXTRACE_ACTION_RESUME	2	/* clears it */
#define AUXTRACE_ACTION_SAMPLE	3	/* newest AUX bytes into the data ring */
/*
 * Every channel: sets FROZEN, pauses the data ring. A hit on a CPU that is frozen does
 * nothing, there or elsewhere. A request of who has been told of it by poll(2) finds it on
 * each CPU: STATUS with SYNC waits until all are frozen, RESUME ends it everywhere.
 */
#define AUXTRACE_ACTION_FREEZE	4

#define AUXTRACE_TRIGGER_ALL_CPUS (1u << 0)	/* PAUSE, RESUME: all CPUs of the session follow, by IPI */
#define AUXTRACE_TRIGGER_ONE_SHOT (1u << 1)	/* acts once, until TRIGGER_READ with REARM */
#define AUXTRACE_TRIGGER_ALL	  (AUXTRACE_TRIGGER_ALL_CPUS | AUXTRACE_TRIGGER_ONE_SHOT)

#define AUXTRACE_MAX_TRIGGERS	64

/**
 * struct auxtrace_trigger - AUXTRACE_IOC_TRIGGER_ADD: bind an event to an action
 * @size: sizeof(struct auxtrace_trigger)
 * @flags: AUXTRACE_TRIGGER_*
 * @kind: AUXTRACE_TRIGGER_PERF ...
 * @action: AUXTRACE_ACTION_*
 * @pid: hits of this process (thread group) only, in the caller's pid namespace; 0: all
 * @attr_len: PERF: bytes at @attr
 * @attr: PERF: pointer to the struct perf_event_attr; pinned on each CPU of the session.
 *	Neither disabled nor inherit, with a period or frequency; what it says about
 *	samples is ignored. After its CPU was offline a counter is made anew, but for
 *	perf's kprobe and uprobe PMUs if their attr points to a name
 * @number: SYSCALL_*: its number, or -1 for all; BREAKPOINT: HW_BREAKPOINT_* | length << 8
 * @address: KPROBE, KRETPROBE: offset from @name, or without it an address; UPROBE,
 *	URETPROBE: offset in the file; BREAKPOINT: linear address
 * @name: KPROBE, KRETPROBE: pointer to a symbol's name; UPROBE, URETPROBE: to a path
 * @name_len: bytes at @name, without a final NUL; less than 4096
 * @a: LATENCY: id of the trigger that starts the clock, of another kind
 * @b: LATENCY: id of the trigger that stops it, likewise; may be @a
 * @after_hits: acts from the hit after so many on
 * @bound_ns: LATENCY: longer than that; TIMER: period, at least 10000
 * @count: acts so often, then only counts; 0: without end
 * @hold_off_ns: after it acted on a CPU, hits there do not act for that long
 * @delay_ns: PAUSE, FREEZE: act so much later
 * @delay_bytes: PAUSE, FREEZE: act as soon as the channel has produced so many bytes
 *	more, at most a page late, and where the kernel is traced by what it does until
 *	it has the interrupt; overwrite mode only. One at a time on each CPU, whatever
 *	trigger it is of. Until a delay has ended further hits on its CPU are
 *	missed; DEL, STOP and the CPU's going offline end it without the action
 * @sample_size: SAMPLE: bytes wanted; at most half the AUX area (or slot). More than
 *	AUXTRACE_SAMPLE_IN_RECORD, or than a record of the data ring (or its slot) can
 *	carry, in a session with slots only. Copied at the event, with interrupts off
 * @out_id: from 1; not used again in the session
 * @reserved: 0
 *
 * In state STOPPED or STARTED. It acts while the session is started. Its hits are
 * counted always. An action that finds the hardware as it wants it costs no MSR
 * access; a PAUSE that stops it is one WRMSR, a RESUME that starts it two (BTS: one).
 *
 * Errors: EINVAL unknown kind, action or flag; a member that the kind or action does
 * not use is not zero (NONE uses no flag and none of after_hits, count, hold_off_ns);
 * KPROBE without a name and address; @bound_ns of zero or too short; @a or @b is a
 * LATENCY; SAMPLE of zero bytes, of more than is said above, or without a data ring;
 * delay_* where it cannot be, or of 2^63 or more; what perf says of the attr. ESRCH no
 * such process (@pid). ENOENT no such symbol, file or trigger (@a, @b). EACCES CAP_PERFMON; breakpoints in
 * the kernel, the file or perf want more. EBUSY all counters of a CPU that could count
 * it are pinned by others. ENOSPC MAX_TRIGGERS, or no breakpoint register left. E2BIG
 * the attr says what this kernel does not know. EOPNOTSUPP the kernel does not let
 * that instruction, or file, be probed. EBADFD no SETUP.
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

#define AUXTRACE_TRIGGER_REARM	(1u << 0)	/* TRIGGER_READ: a one-shot or counted one begins again */

/**
 * struct auxtrace_trigger_state - AUXTRACE_IOC_TRIGGER_DEL and AUXTRACE_IOC_TRIGGER_READ
 * @size: sizeof(struct auxtrace_trigger_state)
 * @flags: READ: AUXTRACE_TRIGGER_REARM
 * @id: the trigger
 * @reserved: 0
 * @out_hits: events, on all CPUs of the session; always the sum of what follows
 * @out_acted: acted: asked the channel for its action
 * @out_held: did not act: hold-off, after_hits, count, one-shot, or no action
 * @out_idle: did not act: the session was not started, or not on that CPU
 * @out_missed: did not act: the channel was busy with an earlier SAMPLE or delay, or the
 *	kernel's own recursion protection dropped it (kprobes' nmissed, kept without a lock: CPUs
 *	that miss at the same time may be told as one; of perf events, system calls and uprobes
 *	it tells none). KRETPROBE: also calls beyond those that can be inside the function at
 *	once: 64, or four for each possible CPU if that is more. LATENCY: also clocks that could
 *	not start, or be read: more tasks than there is room for, an exiting one, an NMI within
 *	another hit
 *
 * DEL removes the trigger; when it returns its event hits no more. A trigger that others refer
 * to: EBUSY.
 *
 * Errors: ENOENT no such trigger; EBADFD no SETUP.
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
 * The first three are perf's (include/uapi/linux/perf_event.h, enum
 * perf_event_type), with perf's layout before the record's end.
 */
#define AUXTRACE_RECORD_LOST		2
#define AUXTRACE_RECORD_AUX		11
#define AUXTRACE_RECORD_ITRACE_START	12
/* auxtrace's own lie beyond all of perf's. */
#define AUXTRACE_RECORD_WINDOW		0x10000
#define AUXTRACE_RECORD_TRIGGER		0x10001
#define AUXTRACE_RECORD_SAMPLE		0x10002

/**
 * struct auxtrace_record_header - how each record begins: perf_event_header
 * @type: AUXTRACE_RECORD_*; skip what you do not know
 * @misc: 0
 * @size: bytes of the whole record, a multiple of 8
 */
struct auxtrace_record_header {
	__u32 type;
	__u16 misc;
	__u16 size;
};

/**
 * struct auxtrace_record_end - how each record ends
 * @tsc: when it was made
 * @tid: thread that the CPU ran then, as in the initial pid namespace
 * @size: as in the header, for those who walk back
 */
struct auxtrace_record_end {
	__u64 tsc;
	__u32 tid;
	__u32 size;
};

/**
 * struct auxtrace_record_lost - records are missing here
 * @header: AUXTRACE_RECORD_LOST
 * @id: 0
 * @lost: their number
 * @end: end of the record
 */
struct auxtrace_record_lost {
	struct auxtrace_record_header header;
	__u64 id;
	__u64 lost;
	struct auxtrace_record_end end;
};

/* Flags of an AUX record, with perf's values (PERF_AUX_FLAG_*). */
#define AUXTRACE_AUX_TRUNCATED	(1u << 0)	/* then it met the tail, and trace is missing: gaps_full */
#define AUXTRACE_AUX_OVERWRITE	(1u << 1)	/* the session is in overwrite mode */
#define AUXTRACE_AUX_PARTIAL	(1u << 2)	/* then the hardware failed or was turned off by others */

/**
 * struct auxtrace_record_aux - the AUX area has new data
 * @header: AUXTRACE_RECORD_AUX
 * @offset: position of the first new byte
 * @length: new bytes
 * @flags: AUXTRACE_AUX_*
 * @end: end of the record
 *
 * At each trace interrupt, end of a window and SYNC that found some, and whenever
 * there is a flag other than OVERWRITE to tell. It comes after the WINDOW record of
 * a window that ended at the same time.
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
 * @pid: process that the CPU runs, as in the initial pid namespace
 * @tid: thread
 * @end: end of the record
 */
struct auxtrace_record_itrace_start {
	struct auxtrace_record_header header;
	__u32 pid;
	__u32 tid;
	struct auxtrace_record_end end;
};

/* What began or ended a window; of several reasons at once, the first of this list. */
#define AUXTRACE_CAUSE_ERROR	1	/* ended: an operational error */
#define AUXTRACE_CAUSE_FOREIGN	2	/* somebody else turned the hardware off; began: after that */
#define AUXTRACE_CAUSE_USER	3	/* PAUSE, RESUME, SNAPSHOT with PAUSE */
#define AUXTRACE_CAUSE_SESSION	4	/* START, STOP */
#define AUXTRACE_CAUSE_CPU	5	/* the CPU or the machine went down, came up */
#define AUXTRACE_CAUSE_FULL	6	/* full trace: met the tail; began: the reader made room */
#define AUXTRACE_CAUSE_SNAPSHOT	7	/* SNAPSHOT with SLOT: one ended, the next began */
#define AUXTRACE_CAUSE_TRIGGER	8	/* a trigger's PAUSE, RESUME or FREEZE; its id stands beside */

/**
 * struct auxtrace_record_window - a window ended
 * @header: AUXTRACE_RECORD_WINDOW
 * @window: its sequence number
 * @begin: AUX position of its first byte
 * @end_position: AUX position after its last byte. In overwrite mode what lies more
 *	than the area (or slot) before the newest position is overwritten: then the
 *	window is not whole, and decodes from its next PSB on
 * @begin_tsc: when it began
 * @end_tsc: when it ended
 * @begin_cause: AUXTRACE_CAUSE_*
 * @end_cause: AUXTRACE_CAUSE_*
 * @begin_pid: process that the CPU ran as it began, as in the initial pid namespace
 * @begin_tid: thread
 * @pid: process that the CPU ran as it ended
 * @tid: thread
 * @slot: slot that it lies in
 * @reserved: 0
 * @begin_trigger: id of the trigger that began it, else 0
 * @end_trigger: id of the trigger that ended it, else 0
 * @end: end of the record
 */
struct auxtrace_record_window {
	struct auxtrace_record_header header;
	__u64 window;
	__u64 begin;
	__u64 end_position;
	__u64 begin_tsc;
	__u64 end_tsc;
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
 * @trigger: its id
 * @action: AUXTRACE_ACTION_*, as carried out
 * @value: latency: nanoseconds that it took; syscall: its number (exit: its result);
 *	else 0
 * @pid: process that the CPU ran, as in the initial pid namespace
 * @tid: thread
 * @position: AUX position after it acted; of a hit in an NMI that has interrupted the
 *	module's own work on the channel, before: the window's record has the other
 * @end: end of the record
 *
 * In the ring of the CPU where the event was; the other CPUs of a FREEZE or of a
 * trigger with ALL_CPUS have one as well, which says when they followed. An NMI's
 * record may come between the time that it tells and its place in the ring.
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
 * struct auxtrace_record_sample - the newest AUX data, at an event
 * @header: AUXTRACE_RECORD_SAMPLE
 * @trigger: id of the trigger
 * @pid: as in auxtrace_record_trigger
 * @tid: likewise
 * @sample_slot: with AUXTRACE_SAMPLE_IN_SLOT, where the bytes are, else 0
 * @aux_end: AUX position after the newest byte
 * @wanted: bytes that the trigger asked for
 * @length: bytes that there are; less than @wanted if the area (or slot) began later. If
 *	no slot was free, what the record can carry
 * @flags: AUXTRACE_SAMPLE_*
 *
 * @length bytes follow, padded to a multiple of 8, then a struct auxtrace_record_end;
 * with IN_SLOT only the latter follows. The bytes are the newest of the AUX area, of
 * one window or more: they decode from their first PSB on. BTS: whole records, so that
 * @length may be up to 23 less than @wanted without a cut.
 *
 * With IN_SLOT they have been copied to a slot of the AUX area that was free on that CPU
 * (the channel goes on in its own), at the offsets that their positions have there. They
 * stay until a RELEASE with RELEASE_SAMPLE.
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
	__u64 flags;
};
#define AUXTRACE_SAMPLE_IN_SLOT	(1u << 0)	/* in the sample slot, not in the record */
#define AUXTRACE_SAMPLE_CUT	(1u << 1)	/* less than was wanted */
/* More than this, or than the data ring (or its slot) has room for, goes to a slot. */
#define AUXTRACE_SAMPLE_IN_RECORD	61440u

/* ---- the AUX area ----------------------------------------------------- */

/* With Intel PT: its packets (SDM volume 3, "Intel Processor Trace"). */

/**
 * struct auxtrace_branch - BTS: what the CPU writes of a branch taken
 * @from: address of the branch; at an interrupt or exception, of the instruction that it
 *	came before; 0: kernel code, which the session may not see
 * @to: where control went
 * @flags: bit 4: it was predicted, on old CPUs; else 0
 *
 * SDM volume 3, "BTS and DS Save Area", in its 64-bit format.
 */
struct auxtrace_branch {
	__u64 from;
	__u64 to;
	__u64 flags;
};

/* ---- mmap ------------------------------------------------------------- */

/*
 * The offset of a mapping names a channel by its CPU and one of its regions. A
 * mapping must be shared, start at the region's begin and have exactly its
 * length; only the user page may be writable, none executable.
 *
 * Errors: EINVAL wrong offset, length or MAP_PRIVATE, a data ring that there is not;
 * EACCES a protection that
 * the region does not give; ENODEV the CPU is not the session's; EBADFD no SETUP.
 * A fork does not inherit mappings.
 */
#define AUXTRACE_REGION_STATUS	0	/* struct auxtrace_status_page, one page, read-only */
#define AUXTRACE_REGION_USER	1	/* struct auxtrace_user_page, one page */
#define AUXTRACE_REGION_AUX	2	/* the AUX area, aux_size bytes, read-only */
#define AUXTRACE_REGION_DATA	3	/* the data ring, data_size bytes, read-only */
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
 *	user page. Overwrite: bytes put aside by SNAPSHOT with SLOT
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
 *	latest a page before it, so that it stops between two packets. BTS, in any mode:
 *	or an interrupt came so late that the room for that did not last
 * @gaps_error: the hardware reported an operational error (HWERROR stays until the
 *	next START), or somebody else had turned it off (a new window began)
 * @gaps_offline: the CPU went offline, or the machine to sleep
 * @bad_tails: tails in the user page that went back or beyond @produced; ignored
 * @snapshots: cuts made by SNAPSHOT with SLOT
 * @slot: slot that is traced into; 0 without slots
 * @slots: slots of the session, 1 without
 * @slot_begin: position at which tracing into @slot began; what an earlier use of the
 *	slot left there is not valid
 * @data_size: bytes of the data ring; 0: there is none
 * @frozen_by: id of the trigger that froze the channel last; 0: none yet
 * @padding: 0
 * @frozen_tsc: when
 * @samples: SAMPLEs taken, also those for which the data ring had no room
 * @samples_cut: of these, shorter than wanted
 * @sample_slots: slots that hold samples, a bit each, as of the newest change of this page
 *
 * The rest is not covered by @seq: each member is written whole, at any time, also
 * by NMIs.
 *
 * @data_reserved: bits 55:0: position up to which records are written or being
 *	written; moves before the first byte of a record is. A byte at position p is
 *	as it was while p + data_size (or the slot's size) >= this. Bits 63:56: slot
 *	that records go to
 * @data_head: position after the newest whole record; load it with acquire
 *	semantics before reading records
 * @data_consumed: the newest valid tail that a writer has taken; overwritable: bytes
 *	put aside by SNAPSHOT with SLOT
 * @data_overwritten: overwritable: bytes that newer ones have replaced, as of the
 *	newest record. Always data_head = data_consumed + available + data_overwritten
 *	while no record is being written
 * @data_slot_begin: as @slot_begin
 * @data_records: records written
 * @data_lost: records dropped: no room, or output paused
 * @data_bad_tails: as @bad_tails, of @data_tail
 * @data_paused: bit 0: PAUSE_OUTPUT holds, bit 1: the channel is frozen
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
	__u64 snapshots;
	__u32 slot;
	__u32 slots;
	__u64 slot_begin;
	__u64 data_size;
	__u32 frozen_by;
	__u32 padding;
	__u64 frozen_tsc;
	__u64 samples;
	__u64 samples_cut;
	__u64 sample_slots;

	__u64 data_reserved;
	__u64 data_head;
	__u64 data_consumed;
	__u64 data_overwritten;
	__u64 data_slot_begin;
	__u64 data_records;
	__u64 data_lost;
	__u64 data_bad_tails;
	__u64 data_paused;
};
#define AUXTRACE_DATA_POSITION(reserved)	((__u64)(reserved) & 0xffffffffffffffull)
#define AUXTRACE_DATA_SLOT(reserved)		((__u32)((__u64)(reserved) >> 56))

/**
 * struct auxtrace_user_page - what the reader tells of a channel
 * @aux_tail: full trace: position up to which the reader is done. Store it with
 *	release semantics after reading the data. The kernel takes it at each trace
 *	interrupt, poll(2), RESUME and STATUS with SYNC; poll and STATUS also start a
 *	channel again that had met its tail (not with FULL_STOP)
 * @data_tail: a data ring that is not overwritable: position up to which records were
 *	read, stored likewise. Each writer that needs room takes it, and poll(2)
 */
struct auxtrace_user_page {
	__u64 aux_tail;
	__u64 data_tail;
};

/*
 * poll(2): POLLIN (with POLLRDNORM) when a full-trace channel has at least the
 * watermark to read, or has met its tail and has something to read, a data ring that is
 * not overwritable has at least its watermark or has dropped records for want of room
 * since the tail moved, or either of a stopped session has something unread; POLLPRI
 * when a channel is frozen; POLLERR without SETUP or when a channel has HWERROR. It takes
 * new tails. An overwrite session is never readable by itself: pause it, or wait for a
 * freeze, then read.
 */

#endif /* _UAPI_LINUX_AUXTRACE_H */
