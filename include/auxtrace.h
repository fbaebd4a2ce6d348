/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libauxtrace: hardware instruction trace (Intel PT, BTS) through /dev/auxtrace.
 *
 * <linux/auxtrace.h> specifies the device. It defines the terms used here (session,
 * channel, window, position, cut) and the structs; records begin as those of
 * perf_event_open(2). This library owns the file and the mappings, explains failures, reads
 * the AUX areas and data rings, and writes recordings, which the auxtrace command decodes.
 *
 * Errors. A call that fails returns NULL or -1 and sets errno; it has had no effect, except
 * where stated. auxtrace_error() returns a sentence that says what was wrong and what
 * would be right. Error codes of the device pass through unchanged: see DOC: errno in
 * <linux/auxtrace.h>. Codes that the library adds are listed at each call. Any call that
 * reads from the device may also fail with EBADE, if the device returns an impossible
 * value. A NULL handle is a programming error and crashes, except where allowed.
 *
 * Ownership. A session owns its file, its mappings and its readers. A caller owns what
 * auxtrace_open(), auxtrace_cpus_parse(), auxtrace_cpus_online() and
 * auxtrace_recording_create() return, and frees it by the call that is named there.
 *
 * Threads. Any thread may call PAUSE and RESUME at any time. All other calls on one object
 * must come from one thread at a time. Different objects are independent.
 *
 * Blocking. PAUSE, RESUME, START, STOP and STATUS wait until each CPU concerned has acted:
 * microseconds. Those of a user without a capability, and SETUP, may have to wait for their turn
 * before ("DOC: without a capability" in <linux/auxtrace.h>); only a fatal signal ends that. Only
 * calls that write recordings block on files. No call waits for trace to arrive: use poll(2) on
 * auxtrace_fd().
 *
 * Units. Sizes, lengths and positions are in bytes, times that end in _ns in
 * nanoseconds; other times are values of the clock of "DOC: time" in <linux/auxtrace.h>.
 */
#ifndef AUXTRACE_H
#define AUXTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <linux/auxtrace.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AUXTRACE_DEVICE	"/dev/auxtrace"

struct auxtrace_session;
struct auxtrace_cpus;
struct auxtrace_reader;
struct auxtrace_recording;

/**
 * auxtrace_error - explain the last call of this thread that failed
 *
 * The sentence has no trailing period or newline. It is kept per thread, not per object,
 * because a failed open has no object.
 *
 * Return: the sentence, valid until the next failing call of this thread; empty before the
 * first failure, never NULL.
 */
const char *auxtrace_error(void);

/* ---- CPU sets ----------------------------------------------------------- */

/**
 * auxtrace_cpus_parse - make a CPU set from a list as of taskset(1): "0-3,5"
 * @list: the list; "all" or "online" is the set of online CPUs
 *
 * Does not check that the CPUs exist: auxtrace_setup() does.
 *
 * Return: the set, to be freed by auxtrace_cpus_free(); or NULL:
 *  EINVAL  not a list, empty, or a range that goes backwards
 *  ERANGE  a number above 65535
 *  ENOMEM
 */
struct auxtrace_cpus *auxtrace_cpus_parse(const char *list);

/**
 * auxtrace_cpus_online - make the set of online CPUs, as sysfs lists them
 *
 * Return: the set, to be freed by auxtrace_cpus_free(); or NULL.
 */
struct auxtrace_cpus *auxtrace_cpus_online(void);

/** auxtrace_cpus_free - free a set; NULL is allowed */
void auxtrace_cpus_free(struct auxtrace_cpus *cpus);

/** auxtrace_cpus_has - is @cpu in the set? */
bool auxtrace_cpus_has(const struct auxtrace_cpus *cpus, unsigned int cpu);

/** auxtrace_cpus_count - number of CPUs in the set */
unsigned int auxtrace_cpus_count(const struct auxtrace_cpus *cpus);

/**
 * auxtrace_cpus_next - the first CPU of the set that is @from or above
 *
 * for (int c = auxtrace_cpus_next(s, 0); c >= 0; c = auxtrace_cpus_next(s, c + 1))
 *
 * Return: the CPU, or -1 if there is none.
 */
int auxtrace_cpus_next(const struct auxtrace_cpus *cpus, unsigned int from);

/* ---- configuration terms ------------------------------------------------ */

/**
 * auxtrace_config_parse - config bits from perf's terms: "tsc,mtc,mtc_period=3"
 * @terms: names of perf's intel_pt format, separated by commas, each with an optional
 *	=value; a term without a value is 1. "" gives 0
 * @config: gets the bits
 *
 * Does not check what this CPU supports: auxtrace_setup() does. The message of an error
 * lists the terms.
 *
 * Return: 0, or -1:
 *  EINVAL  unknown term; a value is missing or not a number
 *  ERANGE  a value does not fit the term's bits
 */
int auxtrace_config_parse(const char *terms, uint64_t *config);

/**
 * auxtrace_config_format - the terms of @config, as auxtrace_config_parse() reads them
 *
 * Writes at most @size bytes, including the final 0. Bits outside the format come last, as
 * "0x...".
 *
 * Return: the length needed without the final 0, as snprintf(3).
 */
int auxtrace_config_format(uint64_t config, char *buf, size_t size);

/* ---- session ------------------------------------------------------------ */

/**
 * auxtrace_open - open the device and check its ABI version
 * @path: NULL: AUXTRACE_DEVICE
 *
 * Return: the session, to be closed by auxtrace_close(); or NULL:
 *  ENOENT  no such file, usually because the module is not loaded; or another error of
 *          open(2)
 *  ENOTTY  not a character device, or not this device
 *  EPROTO  the module's ABI version is not AUXTRACE_ABI_VERSION
 *  ENOMEM
 */
struct auxtrace_session *auxtrace_open(const char *path);

/**
 * auxtrace_close - unmap, close and free a session and its readers; NULL is allowed
 *
 * Stops the session if it runs, unless another process holds the file.
 */
void auxtrace_close(struct auxtrace_session *session);

/**
 * auxtrace_fd - the session's file, for poll(2)
 *
 * The end of <linux/auxtrace.h> lists the events that poll reports. The library keeps the
 * file: do not close it.
 */
int auxtrace_fd(const struct auxtrace_session *session);

/**
 * auxtrace_info - what this machine and the caller can do
 * @flags: AUXTRACE_INFO_*
 *
 * The members @caps and @caps_len of @info are the library's: auxtrace_capability() has what they
 * describe.
 *
 * Return: 0, or -1:
 *  EACCES  PROBE without CAP_PERFMON or CAP_SYS_ADMIN
 */
int auxtrace_info(struct auxtrace_session *session, uint32_t flags,
		  struct auxtrace_info *info);

/**
 * auxtrace_capability - what is particular to a trace PMU or an architecture
 * @tag: AUXTRACE_CAP_*
 * @cap: gets the struct auxtrace_cap_* of that tag
 * @size: its size. Members that the module does not know are 0
 *
 * As of auxtrace_open(), or of the newest auxtrace_info() of the session.
 *
 * Return: 0, or -1 with *@cap cleared:
 *  ENOENT  the machine does not have it, or the module does not know it
 */
int auxtrace_capability(const struct auxtrace_session *session, uint32_t tag, void *cap,
			size_t size);

/**
 * auxtrace_default_config - the config that auxtrace_setup() uses by default with Intel PT
 *
 * Return: the bits of tsc,mtc,mtc_period=3,psb_period=3, without those that this CPU lacks.
 */
uint64_t auxtrace_default_config(const struct auxtrace_session *session);

/**
 * struct auxtrace_options - options of auxtrace_setup()
 * @size: sizeof(struct auxtrace_options); later versions only append members
 * @flags: AUXTRACE_SETUP_*; with neither KERNEL nor USER, both are traced; or user code, if the caller
 *	may trace no more (AUXTRACE_MAY_TRACE_OWN without _MAY_TRACE): auxtrace_setup_info() says
 * @pmu: AUXTRACE_PMU_*
 * @tid: AUXTRACE_SETUP_THREAD, _PROCESS and _ADDRESS_SPACE: a thread ID; 0: the caller. With
 *	AUXTRACE_SETUP_PIDFD: a pidfd, which the library resolves as auxtrace_task_pidfd() does; it may be
 *	closed afterwards
 * @reserved: 0
 * @cpus: list for auxtrace_cpus_parse(); NULL: all online CPUs
 * @config: terms for auxtrace_config_parse(); NULL: auxtrace_default_config(). BTS: NULL or
 *	"", it has nothing to configure
 * @aux_size: bytes of AUX area for each CPU, a power of two; 0: 4 MiB, or what RLIMIT_MEMLOCK leaves to
 *	a caller who may trace own processes only: auxtrace_setup_info() says
 * @aux_watermark: as in struct auxtrace_setup; 0: half of @aux_size in full-trace mode
 * @data_size: bytes of data ring for each CPU, a power of two; 0: no data ring
 * @data_watermark: as in struct auxtrace_setup; 0: half of @data_size
 * @records: AUXTRACE_WANT_*; 0: AUXTRACE_WANT_DEFAULT
 * @slots: overwrite mode: number of slots of the AUX area, for auxtrace_snapshot() with
 *	AUXTRACE_SNAPSHOT_SLOT; 0 and 1: not divided
 * @filters: Intel PT: the code to trace, @nr_filters entries ("DOC: filters" in
 *	<linux/auxtrace.h>); they are copied. struct auxtrace_cap_intel_pt says how many there can be
 * @nr_filters: number of entries at @filters; 0: all code
 * @reserved_filters: 0
 *
 * Unused members must be zero: use a designated initializer. A struct that ends before
 * @data_size or before @filters is accepted if @size says so.
 */
struct auxtrace_options {
	size_t size;
	uint32_t flags;
	uint32_t pmu;
	uint32_t tid;
	uint32_t reserved;
	const char *cpus;
	const char *config;
	uint64_t aux_size;
	uint64_t aux_watermark;
	uint64_t data_size;
	uint64_t data_watermark;
	uint32_t records;
	uint32_t slots;
	const struct auxtrace_filter *filters;
	uint32_t nr_filters;
	uint32_t reserved_filters;
};

/**
 * auxtrace_setup - make the file a session and map all regions of its channels
 *
 * The message of an error names the config bits or values that the CPU lacks, the CPUs that
 * are offline or do not exist, the size that would be right, the filters that overlap and how many
 * there can be, the locked-memory limit and what is needed, or what a caller without a capability may
 * not do and why.
 *
 * Return: 0, or -1 with an error of AUXTRACE_IOC_SETUP, auxtrace_cpus_parse() or
 * auxtrace_config_parse(), or:
 *  EINVAL  @size is not that of a known version; @config names terms with BTS
 *  EBADF, ESRCH  as auxtrace_task_pidfd()
 *
 * If a mapping fails, or the process of a pidfd ends meanwhile, the file stays set up but cannot be used: close it.
 */
int auxtrace_setup(struct auxtrace_session *session,
		   const struct auxtrace_options *options);

/**
 * auxtrace_setup_info - what was set up; valid until close, NULL before setup
 *
 * Its @filters points to a copy.
 */
const struct auxtrace_setup *auxtrace_setup_info(const struct auxtrace_session *session);

/** auxtrace_cpus - CPUs of the session; valid until close, NULL before setup */
const struct auxtrace_cpus *auxtrace_cpus(const struct auxtrace_session *session);

/* Start and stop the session. Errors: those of AUXTRACE_IOC_START and _STOP. */
int auxtrace_start(struct auxtrace_session *session);
int auxtrace_stop(struct auxtrace_session *session);

/* Pause or resume all CPUs of the session. Errors: EBADFD the session is not started. */
int auxtrace_pause(struct auxtrace_session *session);
int auxtrace_resume(struct auxtrace_session *session);

/**
 * auxtrace_pause_cpus, auxtrace_resume_cpus - the same for some CPUs, with their effects
 * @cpus: NULL: all CPUs of the session
 * @effects: gets the effect on each CPU, in CPU order; NULL: not wanted
 * @max_effects: number of entries at @effects; effects beyond it are dropped
 *
 * Return: the number of CPUs that the request covered; or -1, as auxtrace_pause(), and EINVAL if
 * a CPU of @cpus is not the session's.
 */
int auxtrace_pause_cpus(struct auxtrace_session *session, const struct auxtrace_cpus *cpus,
			struct auxtrace_effect *effects, unsigned int max_effects);
int auxtrace_resume_cpus(struct auxtrace_session *session, const struct auxtrace_cpus *cpus,
			 struct auxtrace_effect *effects, unsigned int max_effects);

/**
 * auxtrace_pause_output - pause or resume writing of records to the data rings
 * @cpus: NULL: all CPUs of the session
 * @pause: true: drop and count records from now on. false: write them again, beginning with
 *	a LOST record if any were dropped
 *
 * The AUX areas are not affected.
 *
 * Return: 0, or -1:
 *  EINVAL  the session has no data ring, or a CPU of @cpus is not the session's
 *  EBADFD  before auxtrace_setup()
 */
int auxtrace_pause_output(struct auxtrace_session *session, const struct auxtrace_cpus *cpus,
			  bool pause);

/**
 * auxtrace_snapshot - one cut over the AUX areas and data rings of all CPUs
 * @flags: 0: tracing continues in place; AUXTRACE_SNAPSHOT_PAUSE: everything stays paused;
 *	AUXTRACE_SNAPSHOT_SLOT: the slot with the cut is retained, tracing continues in another
 * @cuts: gets the cut of each CPU, in CPU order
 * @max_cuts: number of entries at @cuts; cuts beyond it are dropped
 * @slot: SLOT: gets the slot, for auxtrace_release(); may be NULL without that flag
 *
 * Read a cut with auxtrace_reader_peek_cut() and auxtrace_reader_copy_records().
 *
 * Return: the number of CPUs, or -1:
 *  EINVAL  unknown flags; both flags; SLOT in a session without slots
 *  EBADFD  before auxtrace_setup(); a flag while the session is not started
 *  ENOSPC  SLOT: every other slot holds a snapshot, or on some CPU a sample
 */
int auxtrace_snapshot(struct auxtrace_session *session, uint32_t flags,
		      struct auxtrace_cut *cuts, unsigned int max_cuts, uint32_t *slot);

/**
 * auxtrace_release - allow tracing into the slot of a snapshot again
 *
 * Return: 0, or -1:
 *  EINVAL  @slot holds no snapshot
 *  EBADFD  before auxtrace_setup()
 */
int auxtrace_release(struct auxtrace_session *session, uint32_t slot);

/**
 * auxtrace_status - the session as a whole
 * @flags: AUXTRACE_STATUS_SYNC: first update the status pages from the hardware
 */
int auxtrace_status(struct auxtrace_session *session, uint32_t flags,
		    struct auxtrace_status *status);

/**
 * auxtrace_task - the CR3 by which a process appears in a trace
 * @pid: 0: the caller
 */
int auxtrace_task(struct auxtrace_session *session, pid_t pid, struct auxtrace_task *task);

/**
 * auxtrace_task_pidfd - the same for the process of a pidfd, whose number cannot be another's
 *
 * Return: 0, or -1 with an error of auxtrace_task(), or:
 *  ESRCH  the process has ended, or is in another PID namespace
 *  EBADF  no pidfd; or no /proc, or one that was mounted for another PID namespace: its numbers
 *         are not the caller's
 */
int auxtrace_task_pidfd(struct auxtrace_session *session, int pidfd, struct auxtrace_task *task);

/* ---- triggers ----------------------------------------------------------- */

/**
 * struct auxtrace_trigger_options - options of auxtrace_trigger_add()
 * @size: sizeof(struct auxtrace_trigger_options); later versions only append members
 * @kind: AUXTRACE_TRIGGER_PERF ... AUXTRACE_TRIGGER_TIMER
 * @action: AUXTRACE_ACTION_*
 * @flags: AUXTRACE_TRIGGER_ALL_CPUS, AUXTRACE_TRIGGER_ONE_SHOT, AUXTRACE_TRIGGER_PIDFD
 * @pid: only hits of this process; 0: all. With PIDFD: a pidfd, which the library resolves as
 *	auxtrace_task_pidfd() does; it may be closed afterwards
 * @attr: PERF: the struct perf_event_attr of <linux/perf_event.h>, with its period
 * @attr_len: PERF: its size as the caller knows it
 * @number: SYSCALL_*: number in the 64-bit table, -1: all; BREAKPOINT: HW_BREAKPOINT_* |
 *	length << 8
 * @address: KPROBE, KRETPROBE: offset from @name, or an address if there is no @name;
 *	UPROBE, URETPROBE: offset in the file; BREAKPOINT: linear address
 * @name: KPROBE, KRETPROBE: symbol; UPROBE, URETPROBE: path of the program or library
 * @a: LATENCY: ID of the trigger that starts the clock
 * @b: LATENCY: ID of the trigger that stops the clock
 * @bound_ns: LATENCY: hit if the clock ran longer than this; TIMER: period
 * @after_hits: ignore the first N hits
 * @reserved: 0
 * @count: act at most N times; 0: no limit
 * @hold_off_ns: after acting on a CPU, ignore hits on that CPU for this long
 * @delay_ns: PAUSE, FREEZE: act this long after the hit
 * @delay_bytes: PAUSE, FREEZE, in overwrite mode: act this many bytes of trace after the hit
 * @sample_size: SAMPLE: bytes wanted
 * @label: name of the trigger in recordings and messages, without a newline; copied. NULL:
 *	the trigger has its ID only
 *
 * struct auxtrace_trigger in <linux/auxtrace.h> has the details. Unused members must be
 * zero: use a designated initializer.
 */
struct auxtrace_trigger_options {
	size_t size;
	uint32_t kind;
	uint32_t action;
	uint32_t flags;
	pid_t pid;
	const void *attr;
	size_t attr_len;
	int64_t number;
	uint64_t address;
	const char *name;
	uint32_t a;
	uint32_t b;
	uint64_t bound_ns;
	uint32_t after_hits;
	uint32_t reserved;
	uint64_t count;
	uint64_t hold_off_ns;
	uint64_t delay_ns;
	uint64_t delay_bytes;
	uint64_t sample_size;
	const char *label;
};

/**
 * auxtrace_trigger_add - bind an event to an action on the session's CPUs
 *
 * The trigger stays until auxtrace_trigger_del() or the end of the session. The message of an
 * error names the member at fault.
 *
 * Return: the trigger's ID, from 1, which the records of its actions carry; or -1 with an
 * error of AUXTRACE_IOC_TRIGGER_ADD, or:
 *  EINVAL  @size is not that of a known version; @reserved is not 0; @pid is negative;
 *          @label has a newline
 *  ENOMEM
 */
int auxtrace_trigger_add(struct auxtrace_session *session,
			 const struct auxtrace_trigger_options *options);

/**
 * auxtrace_trigger_del - remove a trigger
 * @last: gets its final counts; may be NULL
 *
 * No hit runs or begins after the call has returned.
 *
 * Return: 0, or -1:
 *  ENOENT  no such trigger
 *  EBUSY   a latency trigger refers to it: delete that one first
 *  EBADFD  before auxtrace_setup()
 */
int auxtrace_trigger_del(struct auxtrace_session *session, uint32_t id,
			 struct auxtrace_trigger_state *last);

/**
 * auxtrace_trigger_read - read what a trigger has counted
 * @flags: AUXTRACE_TRIGGER_REARM: restart after_hits, count and one-shot
 * @state: gets the counts; may be NULL
 *
 * Return: 0, or -1:
 *  ENOENT  no such trigger
 *  EINVAL  unknown flags
 *  EBADFD  before auxtrace_setup()
 */
int auxtrace_trigger_read(struct auxtrace_session *session, uint32_t id, uint32_t flags,
			  struct auxtrace_trigger_state *state);

/** auxtrace_action_name - name of an AUXTRACE_ACTION_*: "resume", ...; "?" if unknown */
const char *auxtrace_action_name(uint32_t action);

/* ---- reader: the AUX area of one channel -------------------------------- */

/**
 * auxtrace_reader - the reader of @cpu's channel
 *
 * Return: the reader, which the session owns until it is closed; or NULL:
 *  EBADFD  before auxtrace_setup()
 *  ENODEV  @cpu is not the session's
 */
struct auxtrace_reader *auxtrace_reader(struct auxtrace_session *session, unsigned int cpu);

/**
 * auxtrace_reader_status - copy the channel's status page consistently
 *
 * Takes no lock. The positions are as of the last window end, trace interrupt or
 * auxtrace_status() with SYNC.
 *
 * Return: 0, or -1:
 *  EAGAIN  the page stayed inconsistent for seconds: the module died during an update
 */
int auxtrace_reader_status(struct auxtrace_reader *reader,
			   struct auxtrace_status_page *status);

/**
 * struct auxtrace_spans - a contiguous range of an AUX area, without a copy
 * @position: AUX position of the first byte
 * @len: bytes in all parts
 * @count: number of parts: 0, 1, or 2 if the range wraps at the area's end
 * @iov: the parts in order, for writev(2); read-only, in the mapping
 */
struct auxtrace_spans {
	uint64_t position;
	size_t len;
	int count;
	struct iovec iov[2];
};

/**
 * auxtrace_reader_peek - what can be read now
 *
 * Full-trace mode: all bytes from the tail to the position in the status page. They stay
 * valid until auxtrace_reader_consume().
 *
 * Overwrite mode: the newest bytes, as many as the area (with slots: the current slot) holds.
 * The hardware must be off, and stay off while they are used.
 *
 * Return: 0, or -1:
 *  EBUSY   overwrite mode, and the channel traces: pause it, or use auxtrace_reader_copy()
 *  EAGAIN  as auxtrace_reader_status()
 */
int auxtrace_reader_peek(struct auxtrace_reader *reader, struct auxtrace_spans *spans);

/**
 * auxtrace_reader_peek_cut - the AUX bytes of a snapshot, in overwrite mode
 * @cut: a cut of this reader's CPU
 *
 * They stay valid until auxtrace_release() (SNAPSHOT with SLOT), or until the hardware is
 * resumed (SNAPSHOT with PAUSE).
 *
 * Return: 0, or -1:
 *  EBUSY   the channel traces into the slot of the cut
 *  EINVAL  a cut of another CPU; an impossible cut; full-trace mode
 *  EAGAIN  as auxtrace_reader_status()
 */
int auxtrace_reader_peek_cut(struct auxtrace_reader *reader, const struct auxtrace_cut *cut,
			     struct auxtrace_spans *spans);

/**
 * auxtrace_reader_consume - full-trace mode: give @len bytes of space back to the hardware
 *
 * A channel that was stopped at its tail continues at the next poll(2) or auxtrace_status()
 * with SYNC.
 *
 * Return: 0, or -1:
 *  EINVAL  @len is more than is unread; overwrite mode
 */
int auxtrace_reader_consume(struct auxtrace_reader *reader, size_t len);

/**
 * struct auxtrace_copy - result of auxtrace_reader_copy() and auxtrace_reader_copy_records()
 * @position: position of the first byte in the buffer
 * @len: bytes in the buffer
 * @cut: bytes dropped from the front because they were overwritten during the copy; of
 *	records, also the rest of an incomplete record
 */
struct auxtrace_copy {
	uint64_t position;
	size_t len;
	size_t cut;
};

/**
 * auxtrace_reader_copy - copy the newest bytes, at most @size, while tracing continues
 *
 * Overwrite mode: bytes that were overwritten during the copy are dropped from the front, so
 * all bytes returned are intact. A decoder starts at their first PSB (BTS: at
 * auxtrace_branch_next() of the position). Calls STATUS with SYNC before and after the copy;
 * each stops the hardware briefly and ends no window.
 *
 * Full-trace mode: the newest bytes between the tail and the hardware's position. The tail
 * does not move.
 */
int auxtrace_reader_copy(struct auxtrace_reader *reader, void *buf, size_t size,
			 struct auxtrace_copy *copy);

/**
 * auxtrace_branch_next - BTS: position of the first struct auxtrace_branch from @position on
 */
static inline uint64_t auxtrace_branch_next(uint64_t position)
{
	uint64_t size = sizeof(struct auxtrace_branch);

	return (position + size - 1) / size * size;
}

/* ---- records: the data ring of one channel ------------------------------ */

/*
 * A ring that is not overwritable is a queue: auxtrace_reader_next_record() reads it and
 * auxtrace_reader_consume_records() frees its space. Any ring can be copied, also while
 * it is written: auxtrace_reader_copy_records() returns complete records only.
 */

/** union auxtrace_record - a record of any kind, as @header.type says; 8-byte aligned */
union auxtrace_record {
	struct auxtrace_record_header header;
	struct auxtrace_record_lost lost;
	struct auxtrace_record_aux aux;
	struct auxtrace_record_itrace_start itrace_start;
	struct auxtrace_record_switch context_switch;
	struct auxtrace_record_window window;
	struct auxtrace_record_trigger trigger;
	struct auxtrace_record_sample sample;
};

/**
 * auxtrace_record_end - the end of a record
 *
 * A newer kernel's record may be longer than the struct of its kind. So use this function,
 * not the struct's @end member.
 */
static inline const struct auxtrace_record_end *
auxtrace_record_end(const union auxtrace_record *record)
{
	return (const struct auxtrace_record_end *)((const char *)record + record->header.size) - 1;
}

/**
 * auxtrace_record_next - walk contiguous records, oldest first
 * @buf: from auxtrace_reader_copy_records(), or a file cpuN.data; 8-byte aligned
 * @len: bytes in @buf
 * @at: offset to continue at, 0 at first; advances past the record
 *
 * Return: the record, which has at least the size of its struct if its type is known. NULL
 * at the end. NULL with *@at less than @len means that there is no valid record at *@at:
 * the rest is damaged.
 */
const union auxtrace_record *auxtrace_record_next(const void *buf, size_t len, size_t *at);

/**
 * auxtrace_reader_next_record - the oldest record that was not returned yet
 * @record: gets the record, valid until the next call on this reader
 *
 * Reads forward and backward rings.
 *
 * Return: 1; 0 if there is no such record now; or -1:
 *  EINVAL  the session has no data ring, or an overwritable one
 *  EBADE   the ring has no valid record where one must be
 */
int auxtrace_reader_next_record(struct auxtrace_reader *reader,
				const union auxtrace_record **record);

/** auxtrace_reader_consume_records - give back the space of all records returned so far */
void auxtrace_reader_consume_records(struct auxtrace_reader *reader);

/**
 * auxtrace_reader_copy_records - copy the newest complete records, at most @size bytes
 * @cut: a cut of this reader's CPU; NULL: the ring as it is now
 * @buf: 8-byte aligned; gets the records, oldest first, for auxtrace_record_next()
 * @copy: @position is that of the first byte of the first record
 *
 * Overwritable ring: it may be paused, or written at full speed; a record that was
 * overwritten during the copy is not returned. A cut that was retained (SLOT) or paused
 * (PAUSE) is returned completely. A cut taken without a flag can be read until the next
 * snapshot with SLOT.
 *
 * Ring that is not overwritable: the records that auxtrace_reader_next_record() has not
 * returned yet. It still returns them.
 *
 * Return: 0, or -1:
 *  EINVAL  the session has no data ring; a cut of another CPU; an impossible cut
 *  EBADE   the ring has no valid record where one must be
 *  EAGAIN  snapshots retain slots faster than one can be copied
 */
int auxtrace_reader_copy_records(struct auxtrace_reader *reader, const struct auxtrace_cut *cut,
				 void *buf, size_t size, struct auxtrace_copy *copy);

/* How much of a window a range of an AUX area holds. */
enum auxtrace_part {
	AUXTRACE_PART_NONE,	/* nothing */
	AUXTRACE_PART_SOME,	/* a part: decodes from its next PSB or branch on */
	AUXTRACE_PART_WHOLE,
};

/**
 * auxtrace_window_part - how much of a window a range of an AUX area holds
 * @begin: position of the first byte of the range
 * @end: position after its last byte
 */
enum auxtrace_part auxtrace_window_part(const struct auxtrace_record_window *window,
					uint64_t begin, uint64_t end);

/**
 * auxtrace_reader_peek_sample - the bytes of a SAMPLE record that are in a slot
 * @record: a record of this reader's CPU with AUXTRACE_SAMPLE_IN_SLOT
 *
 * They stay valid until auxtrace_release_sample().
 *
 * Return: 0, or -1:
 *  EINVAL  another kind of record, or one that cannot be of this session
 */
int auxtrace_reader_peek_sample(struct auxtrace_reader *reader, const union auxtrace_record *record,
				struct auxtrace_spans *spans);

/**
 * auxtrace_release_sample - allow the slot of a sample to be used again
 * @slot: sample_slot of a record of @cpu
 *
 * auxtrace_recording_drain() and _finish() call this for the samples that they write.
 *
 * Return: 0, or -1:
 *  EINVAL  the slot holds no sample; @cpu is not the session's
 *  EBADFD  before auxtrace_setup()
 */
int auxtrace_release_sample(struct auxtrace_session *session, unsigned int cpu, uint32_t slot);

/**
 * auxtrace_sample_data - the bytes inside a SAMPLE record
 *
 * Return: @sample.length bytes; NULL if they are in a sample slot instead.
 */
static inline const uint8_t *auxtrace_sample_data(const union auxtrace_record *record)
{
	return record->sample.flags & AUXTRACE_SAMPLE_IN_SLOT ? NULL :
	       (const uint8_t *)record + record->sample.data_offset;
}

/** auxtrace_cause_name - name of an AUXTRACE_CAUSE_*: "user", "full", ...; "?" if unknown */
const char *auxtrace_cause_name(uint32_t cause);

/* ---- recordings --------------------------------------------------------- */

/*
 * A recording is a directory of plain files: meta, cpuN.aux, cpuN.data, cpuN.samples,
 * task.PID[.N] and vdso.PID[.N]; with kernel tracing also kcore, kcore.changes, kcore.added,
 * kallsyms and modules; and for each snapshot a directory snapshot.NNNN of the same kind.
 * auxtrace-recording(5) has the format.
 *
 * Where the file system has O_DIRECT, AUX data are written without a copy, in whole
 * pages, by io_uring if the kernel allows it. meta says which way was used.
 */

/**
 * auxtrace_recording_create - begin a recording of a session that is set up
 * @dir: directory to create; one that is empty or holds a recording is reused, and the old
 *	recording is removed
 *
 * The session must outlive the recording.
 *
 * With kernel tracing this call reads the kernel's code, some 20 MB, and keeps it in memory until
 * the recording is freed: auxtrace_recording_finish() compares. If it cannot be read, the call
 * succeeds, and changes are not known. Call it last before auxtrace_start(), after triggers are
 * added: a trigger may patch the kernel's code.
 *
 * Return: the recording, to be freed by auxtrace_recording_finish() or _abort(); or NULL with
 * an error of mkdir(2) or open(2), or:
 *  EBADFD     before auxtrace_setup()
 *  ENOTEMPTY  @dir holds something else
 *  ENOMEM
 */
struct auxtrace_recording *auxtrace_recording_create(struct auxtrace_session *session,
						     const char *dir);

/**
 * auxtrace_recording_drain - append all unread data, and consume them
 *
 * Writes the AUX data of full-trace mode, and the records of a data ring that is not
 * overwritable. Call it when poll(2) reports POLLIN. Less than a page of AUX data may stay
 * in each area until the end.
 *
 * Return: the bytes written; always 0 in a session that has neither, because its data are
 * written at the end; or -1 with an error of write(2).
 */
ssize_t auxtrace_recording_drain(struct auxtrace_recording *recording);

/**
 * auxtrace_recording_on_cut - have a function called at each snapshot, after its cut, and at the end
 * @on_cut: called with @arg by auxtrace_recording_snapshot() and _finish(); NULL: none
 *
 * The trace of a snapshot reaches up to its cut. @on_cut records the forks, execs, exits and mappings
 * that have been reported by then, in the order of their times, with auxtrace_recording_begin_task()
 * and the like; it may record later ones, too. It is called right after the cut, when CPUs may be
 * paused, and again when all processes have been read. At the end it is called when the kernel's code
 * has been written, before the recording is complete: so what it writes of changes of that code has all
 * that came before. It must not call auxtrace_recording_snapshot() or end the recording.
 */
void auxtrace_recording_on_cut(struct auxtrace_recording *recording, void (*on_cut)(void *arg),
			       void *arg);

/**
 * auxtrace_recording_snapshot - overwrite mode: write what the areas hold now
 *
 * Writes to a directory snapshot.NNNN in the recording's directory, numbered from 0001. It is
 * a complete recording, with the tasks as they are at the cut, and the kernel's code as of the first
 * snapshot. With slots the tasks are read before the trace is written.
 *
 * With slots nothing is missed meanwhile. Without slots all CPUs are paused until the
 * trace is written; CPUs that were paused before stay paused. The session continues even
 * if the call fails.
 *
 * Return: the number of the snapshot; or -1 with an error of mkdir(2), open(2) or
 * write(2), or:
 *  EINVAL  full-trace mode
 *  EBADFD  the session is not started
 *  ENOSPC  all slots hold snapshots of other readers
 */
int auxtrace_recording_snapshot(struct auxtrace_recording *recording);

/**
 * auxtrace_recording_trim - remove the oldest snapshots until the recording fits in @bytes of disk space
 *
 * The newest snapshot stays, whatever it takes. Of a file that other directories have as well, by hard
 * links, the recording has its part. A snapshot that somebody else has removed is not missed.
 * auxtrace_recording_finish() does the same again with the @bytes of the last call, as it writes more.
 *
 * Return: how many were removed; or -1 with an error of stat(2) or unlink(2), or:
 *  ENOTEMPTY  a snapshot holds a file that no recording has: it stays, and newer ones do
 */
int auxtrace_recording_trim(struct auxtrace_recording *recording, uint64_t bytes);

/**
 * auxtrace_recording_add_task - record the address space of a process
 * @pid: 0: the caller
 *
 * Records its CR3, its executable mappings with the files behind them, and the bytes of
 * its vdso. The process must be alive; its main thread may have exited. A second call for the same
 * address space adds new mappings and keeps those that are gone. After an exec the process has a
 * new address space.
 *
 * Return: 0, or -1:
 *  ESRCH   no such process
 *  ENXIO   a kernel thread
 *  EACCES  the caller may not trace
 *  EPERM   the caller may not read the process's mappings
 */
int auxtrace_recording_add_task(struct auxtrace_recording *recording, pid_t pid);

/**
 * auxtrace_recording_end_task - record that a process left its address space by its exit
 * @pid: 0: the caller
 * @time: when, in the session's clock; 0: now
 *
 * Then code of a later process with the same CR3 is not taken for that of this one. May be called
 * for each thread that exits, in any order: the last one counts. If the process is still alive,
 * adding it again undoes this, and an exec moves the end to its time.
 *
 * Return: 0, or -1:
 *  ENOENT  @pid was not added, or not since its newest exec
 */
int auxtrace_recording_end_task(struct auxtrace_recording *recording, pid_t pid, uint64_t time);

/**
 * auxtrace_recording_begin_task - record that a process has begun by a fork
 * @pid: 0: the caller
 * @time: when that was, in the session's clock; 0: not known
 *
 * Does what auxtrace_recording_add_task() does, and the address space begins at @time, not when it
 * is first read: before that the CR3 may have been another process's. What was read of @pid before
 * @time is the address space of an earlier process with that number, which has ended.
 *
 * Return: as auxtrace_recording_add_task()
 */
int auxtrace_recording_begin_task(struct auxtrace_recording *recording, pid_t pid, uint64_t time);

/**
 * auxtrace_recording_fork_task - record that a process has forked another one
 * @parent: the process that forked
 * @pid: the new one
 * @time: when that was, in the session's clock; 0: not known
 *
 * As auxtrace_recording_begin_task(). If @pid had an exec before it could be read, or has ended, it is recorded
 * with what was known of @parent, of which it was a copy. Nobody knows its CR3 then: a decoder finds its code where
 * the trace says which process ran. This holds even if the call fails because the process has ended; but only with
 * @time, and for callers in the initial PID namespace, whose numbers the trace has.
 *
 * Return: as auxtrace_recording_add_task()
 */
int auxtrace_recording_fork_task(struct auxtrace_recording *recording, pid_t parent, pid_t pid, uint64_t time);

/**
 * auxtrace_recording_exec_task - record that a process has a new address space since its exec
 * @pid: 0: the caller
 * @time: when that was, in the session's clock; 0: not known
 *
 * As auxtrace_recording_begin_task(), but what was read of @pid before @time is the address space
 * that the process had until @time. An end that was recorded for it is that of a thread. This holds
 * even if the call fails because the process has ended meanwhile. Its new address space then has no CR3, as for
 * auxtrace_recording_fork_task(), and what auxtrace_recording_add_mapping() adds.
 *
 * Return: as auxtrace_recording_add_task()
 */
int auxtrace_recording_exec_task(struct auxtrace_recording *recording, pid_t pid, uint64_t time);

/**
 * auxtrace_recording_add_mapping - record an executable file mapping of a process
 * @start: first address
 * @end: address after the last one
 * @offset: offset in the file of the byte at @start
 * @path: absolute path of the file; "[vdso]": the vdso
 *
 * For mappings, as perf_event_open(2) reports them, that may be gone before
 * auxtrace_recording_add_task() sees them. The mapping is added to the newest address
 * space of @pid.
 *
 * Return: 0, or -1:
 *  ENOENT  nothing is known of @pid, nor was a fork or an exec of it reported
 *  ENOMEM
 */
int auxtrace_recording_add_mapping(struct auxtrace_recording *recording, pid_t pid,
				   uint64_t start, uint64_t end, uint64_t offset,
				   const char *path);

/**
 * struct auxtrace_mapping - an executable file mapping
 * @size: sizeof(struct auxtrace_mapping); later versions only append members
 * @major: of the device that has the file
 * @minor: of it
 * @start: first address
 * @end: address after the last one
 * @offset: offset in the file of the byte at @start
 * @inode: number of the file on its device; 0: not known
 * @time: when it was mapped, in the session's clock; 0: not known
 * @path: absolute path of the file; "[vdso]": the vdso
 * @reserved: 0
 *
 * Unused members must be zero: use a designated initializer.
 */
struct auxtrace_mapping {
	size_t size;
	uint32_t major;
	uint32_t minor;
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t inode;
	uint64_t time;
	const char *path;
	uint64_t reserved;
};

/**
 * auxtrace_recording_add_mapped_file - record an executable file mapping of a process, and which file that is
 *
 * As auxtrace_recording_add_mapping(). If another file is at the path when the recording or a snapshot is written, by
 * @inode and the device, or by what is at the path during this call, or if the file was changed since @time, the
 * recording says so: a decoder uses no other program's code. So call this soon after the file was mapped.
 * PERF_RECORD_MMAP2 has device and inode.
 *
 * Return: 0, or -1:
 *  ENOENT  nothing is known of @pid, nor was a fork or an exec of it reported
 *  EINVAL  @size is not that of a known version, or @reserved is not 0
 *  ENOMEM
 */
int auxtrace_recording_add_mapped_file(struct auxtrace_recording *recording, pid_t pid,
				       const struct auxtrace_mapping *mapping);

/**
 * auxtrace_recording_add_kernel_code - record code that the kernel has generated
 * @time: when it came, in the session's clock; 0: now
 * @address: its first address
 * @size: its size in bytes
 * @name: for it, without a line break
 *
 * For BPF programs, as perf_event_open(2) reports them (PERF_RECORD_KSYMBOL), that may be gone when
 * auxtrace_recording_finish() copies the kernel's code. This call reads the bytes from /proc/kcore. The kernel may
 * report code before it has written it: a second call with the same @address and @time (not 0), some time later, adds
 * the bytes if they differ. With another @time it is new code, and what was there before is gone since then.
 *
 * A recording keeps 4 MiB of such code. In overwrite mode what has been gone for longest makes room; in full trace no
 * more is taken then.
 *
 * Return: 0, or -1:
 *  EFAULT  /proc/kcore does not have that memory
 *  EINVAL  @address is not in the kernel's half, @size is 0 or too large, or @name has a line break
 *  ENOSPC  there is no room
 *  ENOMEM
 *  EIO, and what open(2) says, as EACCES and EPERM: /proc/kcore cannot be read
 */
int auxtrace_recording_add_kernel_code(struct auxtrace_recording *recording, uint64_t time, uint64_t address,
				       size_t size, const char *name);

/**
 * auxtrace_recording_end_kernel_code - record that code which the kernel had generated is gone
 * @time: when it went, in the session's clock; 0: now
 * @address: its first address
 *
 * Bytes that had been read after @time are dropped: the memory may have been other code's by then. So after the last
 * auxtrace_recording_add_kernel_code() report what has ended by then, before auxtrace_recording_finish() or
 * auxtrace_recording_snapshot() write the files: auxtrace_recording_on_cut() is called in time.
 *
 * Return: 0, or -1:
 *  ENOENT  nothing was read of it while it was there
 */
int auxtrace_recording_end_kernel_code(struct auxtrace_recording *recording, uint64_t time, uint64_t address);

/**
 * auxtrace_recording_add_all_tasks - add each process that /proc shows
 *
 * A CPU-wide trace needs this to tell processes apart. Skips processes that exit meanwhile,
 * kernel threads, and processes whose mappings the caller may not read; auxtrace script skips
 * the user code of the latter and counts it.
 *
 * Return: the number of processes added, or -1.
 */
int auxtrace_recording_add_all_tasks(struct auxtrace_recording *recording);

#define AUXTRACE_CHANGES_UNKNOWN	UINT64_MAX

/**
 * struct auxtrace_totals - counts of a recording, summed over its CPUs
 * @produced: bytes that the hardware wrote
 * @read: bytes in the recording's files
 * @overwritten: bytes that newer ones have replaced
 * @windows: windows begun
 * @gaps: times that trace was lost without a pause being requested
 * @pmis: trace interrupts
 * @retained: bytes that snapshots retained in slots;
 *	produced = read + overwritten + retained
 * @records: records in the recording's files
 * @records_lost: records that were dropped
 * @code_changes: places where the kernel's code differs from that at the recording's create: the
 *	lines of the file kcore.changes; AUXTRACE_CHANGES_UNKNOWN if that could not be read, or
 *	the code at the end; 0 without kernel tracing
 * @trimmed: snapshots that auxtrace_recording_finish() removed, so that the recording takes no more
 *	than auxtrace_recording_trim() was asked for
 */
struct auxtrace_totals {
	uint64_t produced;
	uint64_t read;
	uint64_t overwritten;
	uint64_t windows;
	uint64_t gaps;
	uint64_t pmis;
	uint64_t retained;
	uint64_t records;
	uint64_t records_lost;
	uint64_t code_changes;
	uint64_t trimmed;
};

/**
 * auxtrace_recording_finish - write the rest, and free the recording
 * @totals: gets the counts; may be NULL
 *
 * The session must be stopped (overwrite mode: stopped, or paused on all CPUs). With
 * kernel tracing this call copies the kernel's code from /proc/kcore: code that was patched
 * between the trace and this call is recorded as it is now, and kcore.changes says where. Code
 * that is gone is recorded as it was at the recording's create, or as
 * auxtrace_recording_add_kernel_code() read it.
 *
 * Return: 0, or -1. If a file of the kernel cannot be read, the rest is still written and
 * errno is that of the failed read. If old snapshots cannot be removed, errno is that of
 * auxtrace_recording_trim(), and the recording is complete. After any other failure (a full disk) the
 * files stay, without meta. The recording is freed in every case.
 */
int auxtrace_recording_finish(struct auxtrace_recording *recording,
			      struct auxtrace_totals *totals);

/**
 * auxtrace_recording_abort - remove the files, and the directory if it was not there before; free the
 *	recording; NULL is allowed
 */
void auxtrace_recording_abort(struct auxtrace_recording *recording);

/**
 * auxtrace_save - write a stopped session to @dir, in one call
 *
 * Does what auxtrace_recording_create(), _add_all_tasks() and _finish() do in turn: for a
 * program that traced itself. There is no kcore.changes: what was before is not known.
 *
 * Return: 0, or -1. If the processes cannot be read, this call removes what it wrote, as
 * auxtrace_recording_abort() does. If the finish fails, it leaves what auxtrace_recording_finish()
 * leaves.
 */
int auxtrace_save(struct auxtrace_session *session, const char *dir);

#ifdef __cplusplus
}
#endif

#endif /* AUXTRACE_H */
