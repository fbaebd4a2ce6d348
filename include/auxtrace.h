/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libauxtrace: hardware instruction trace (Intel PT, BTS) through /dev/auxtrace.
 *
 * The device's own contract is <linux/auxtrace.h>; words (session, channel,
 * window, position) and structs are taken from there. This library owns the file
 * and the mappings, finds out what was wrong when a call fails, reads the AUX
 * areas, and writes recordings that the auxtrace command decodes.
 *
 * Errors. A call that fails returns NULL or -1 and sets errno; what it was asked
 * to do has not been done. auxtrace_error() is the sentence that says what was
 * wrong and what would be right. Codes that the device gives pass through
 * unchanged (the table at the head of <linux/auxtrace.h>); codes of the
 * library's own are named at each call. A NULL handle is a programming error and
 * crashes, except where said.
 *
 * Threads. PAUSE and RESUME may be called from any thread at any time. All else
 * on one object is for one thread at a time; different objects are independent.
 *
 * Blocking. PAUSE, RESUME, START, STOP and STATUS wait until each CPU concerned
 * has done it: microseconds. Only what writes recordings blocks on files. Nothing
 * here sleeps waiting for trace: poll(2) the file of auxtrace_fd().
 *
 * Sources. Layouts and positions are those of <linux/auxtrace.h>; records begin as
 * perf_event_open(2) has them.
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
 * auxtrace_error - the sentence for the last call of this thread that failed
 *
 * Valid until the next failing call of the same thread; never NULL, empty before
 * the first failure. Ends in no full stop and no newline. It belongs to the
 * thread, not to an object, because a failed open has no object.
 */
const char *auxtrace_error(void);

/* ---- CPU sets ----------------------------------------------------------- */

/**
 * auxtrace_cpus_parse - make a CPU set from a list as of taskset(1): "0-3,5"
 *
 * "all" or "online" is the set of online CPUs.
 * Errors: EINVAL not a list, empty, a range that goes backwards; ERANGE a number
 * above 65535; ENOMEM. Whether a CPU exists is the device's to say.
 * The caller frees the set with auxtrace_cpus_free().
 */
struct auxtrace_cpus *auxtrace_cpus_parse(const char *list);

/** auxtrace_cpus_online - the set of online CPUs, as sysfs lists them */
struct auxtrace_cpus *auxtrace_cpus_online(void);

/** auxtrace_cpus_free - NULL is allowed */
void auxtrace_cpus_free(struct auxtrace_cpus *cpus);

bool auxtrace_cpus_has(const struct auxtrace_cpus *cpus, unsigned int cpu);
unsigned int auxtrace_cpus_count(const struct auxtrace_cpus *cpus);

/**
 * auxtrace_cpus_next - the first CPU of the set that is @from or above, -1 if none
 *
 * for (int c = auxtrace_cpus_next(s, 0); c >= 0; c = auxtrace_cpus_next(s, c + 1))
 */
int auxtrace_cpus_next(const struct auxtrace_cpus *cpus, unsigned int from);

/* ---- configuration terms ------------------------------------------------ */

/**
 * auxtrace_config_parse - config bits from perf's terms: "tsc,mtc,mtc_period=3"
 * @terms: names of perf's intel_pt format, comma separated, each with an optional
 *	=value; a flag without value is 1. "" is 0.
 *
 * Errors: EINVAL unknown term, a value missing or not a number; ERANGE the value
 * does not fit its bits. The message lists the terms. Whether this CPU has the
 * bits is for auxtrace_setup() to find out.
 */
int auxtrace_config_parse(const char *terms, uint64_t *config);

/**
 * auxtrace_config_format - the terms of @config, as auxtrace_config_parse() reads
 *
 * Writes at most @size bytes with the final 0 and returns the length that was
 * needed, as snprintf(3). Bits outside the format come last as "0x...".
 */
int auxtrace_config_format(uint64_t config, char *buf, size_t size);

/* ---- session ------------------------------------------------------------ */

/**
 * auxtrace_open - open the device and check that both sides speak one ABI
 * @path: NULL: AUXTRACE_DEVICE
 *
 * Errors: those of open(2), ENOENT as a rule because the module is not loaded;
 * ENOTTY not a character device, or not this device; EPROTO the module's ABI
 * version is not AUXTRACE_ABI_VERSION; ENOMEM.
 */
struct auxtrace_session *auxtrace_open(const char *path);

/**
 * auxtrace_close - unmap, close, free, with all readers; NULL is allowed
 *
 * Stops the session if it runs and no other process holds the file.
 */
void auxtrace_close(struct auxtrace_session *session);

/**
 * auxtrace_fd - the session's file, for poll(2); stays the library's
 *
 * What poll says is at the end of <linux/auxtrace.h>.
 */
int auxtrace_fd(const struct auxtrace_session *session);

/**
 * auxtrace_info - what this machine and caller can do
 * @flags: AUXTRACE_INFO_*
 */
int auxtrace_info(struct auxtrace_session *session, uint32_t flags,
		  struct auxtrace_info *info);

/**
 * auxtrace_default_config - tsc,mtc,mtc_period=3,psb_period=3 as far as the CPU
 * of the session has them; what auxtrace_setup() takes for @config NULL with Intel PT
 */
uint64_t auxtrace_default_config(const struct auxtrace_session *session);

/**
 * struct auxtrace_options - what auxtrace_setup() is asked for
 * @size: sizeof(struct auxtrace_options); later versions only append members
 * @flags: AUXTRACE_SETUP_*; neither KERNEL nor USER: both
 * @pmu: AUXTRACE_PMU_*
 * @reserved: 0
 * @cpus: a list for auxtrace_cpus_parse(); NULL: all online CPUs
 * @config: terms for auxtrace_config_parse(); NULL: auxtrace_default_config(). BTS:
 *	NULL or "", there is nothing to choose
 * @aux_size: bytes for each CPU, a power of two; 0: 4 MiB
 * @aux_watermark: as in struct auxtrace_setup; 0: half of aux_size in full trace
 * @data_size: bytes of data ring for each CPU, a power of two; 0: no data ring
 * @data_watermark: as in struct auxtrace_setup; 0: half of data_size
 * @records: AUXTRACE_WANT_*; 0: all kinds
 * @slots: overwrite mode: parts of the AUX area, for auxtrace_snapshot() with
 *	AUXTRACE_SNAPSHOT_SLOT; 0, 1: no parts
 *
 * Unused members are zero: use a designated initializer. A struct that ends before
 * @data_size, with its size said so, is taken too.
 */
struct auxtrace_options {
	size_t size;
	uint32_t flags;
	uint32_t pmu;
	uint64_t reserved;
	const char *cpus;
	const char *config;
	uint64_t aux_size;
	uint64_t aux_watermark;
	uint64_t data_size;
	uint64_t data_watermark;
	uint32_t records;
	uint32_t slots;
};

/**
 * auxtrace_setup - make the file a session and map all regions of its channels
 *
 * Errors: those of AUXTRACE_IOC_SETUP, with a message that names the config bits
 * or values the CPU lacks, the CPUs that are offline or do not exist, the size
 * that would be right, the locked-memory limit and what is needed; those of
 * auxtrace_cpus_parse() and auxtrace_config_parse(); EINVAL @size is not that of
 * a known version, or @config names terms with BTS. If a mapping fails, the file stays
 * set up but useless: close it.
 */
int auxtrace_setup(struct auxtrace_session *session,
		   const struct auxtrace_options *options);

/** auxtrace_setup_info - what was set up; valid until close, NULL before setup */
const struct auxtrace_setup *auxtrace_setup_info(const struct auxtrace_session *session);

/** auxtrace_cpus - CPUs of the session; valid until close, NULL before setup */
const struct auxtrace_cpus *auxtrace_cpus(const struct auxtrace_session *session);

/* Errors of these two: as AUXTRACE_IOC_START and _STOP. */
int auxtrace_start(struct auxtrace_session *session);
int auxtrace_stop(struct auxtrace_session *session);

/*
 * Pause or resume all CPUs of the session. Errors: EBADFD not started.
 */
int auxtrace_pause(struct auxtrace_session *session);
int auxtrace_resume(struct auxtrace_session *session);

/**
 * auxtrace_pause_cpus, auxtrace_resume_cpus - the same for some CPUs, with answers
 * @cpus: NULL: all CPUs of the session
 * @effects: room for @room answers, one for each CPU, in CPU order; NULL: none
 *
 * Return the number of CPUs that were asked; answers beyond @room are dropped.
 */
int auxtrace_pause_cpus(struct auxtrace_session *session, const struct auxtrace_cpus *cpus,
			struct auxtrace_effect *effects, unsigned int room);
int auxtrace_resume_cpus(struct auxtrace_session *session, const struct auxtrace_cpus *cpus,
			 struct auxtrace_effect *effects, unsigned int room);

/**
 * auxtrace_pause_output - stop writing records to the data rings, or go on
 * @cpus: NULL: all CPUs of the session
 * @pause: what is dropped meanwhile is counted; a LOST record says so at the end
 *
 * The AUX areas are not concerned. Errors: EINVAL the session has no data ring, or a
 * CPU of @cpus is not the session's; EBADFD before auxtrace_setup().
 */
int auxtrace_pause_output(struct auxtrace_session *session, const struct auxtrace_cpus *cpus,
			  bool pause);

/**
 * auxtrace_snapshot - one cut over the AUX areas and data rings of all CPUs
 * @flags: 0: all goes on; AUXTRACE_SNAPSHOT_PAUSE: all stays paused;
 *	AUXTRACE_SNAPSHOT_SLOT: what is there is put aside and all goes on elsewhere
 * @cuts: room for @room cuts, one for each CPU, in CPU order
 * @slot: SLOT: what to auxtrace_release(); may be NULL without that flag
 *
 * Returns the number of CPUs; cuts beyond @room are dropped. Read a cut with
 * auxtrace_reader_peek_cut() and auxtrace_reader_copy_records(). Errors: EINVAL both
 * flags or others, SLOT in a session without slots; EBADFD before auxtrace_setup(),
 * or flags in a session that is not started; ENOSPC SLOT, and all other slots hold
 * snapshots.
 */
int auxtrace_snapshot(struct auxtrace_session *session, uint32_t flags,
		      struct auxtrace_cut *cuts, unsigned int room, uint32_t *slot);

/**
 * auxtrace_release - the slot of a snapshot was read and may be traced into again
 *
 * Errors: EINVAL @slot holds no snapshot; EBADFD before auxtrace_setup().
 */
int auxtrace_release(struct auxtrace_session *session, uint32_t slot);

/**
 * auxtrace_status - the session as a whole
 * @flags: AUXTRACE_STATUS_SYNC: bring the status pages up to the hardware first
 */
int auxtrace_status(struct auxtrace_session *session, uint32_t flags,
		    struct auxtrace_status *status);

/**
 * auxtrace_task - the CR3 by which a process shows in a trace
 * @pid: 0: the caller
 */
int auxtrace_task(struct auxtrace_session *session, pid_t pid, struct auxtrace_task *task);

/* ---- triggers ----------------------------------------------------------- */

/**
 * struct auxtrace_trigger_options - what auxtrace_trigger_add() is asked for
 * @size: sizeof(struct auxtrace_trigger_options); later versions only append members
 * @kind: AUXTRACE_TRIGGER_PERF ... AUXTRACE_TRIGGER_TIMER
 * @action: AUXTRACE_ACTION_*
 * @flags: AUXTRACE_TRIGGER_ALL_CPUS, _ONE_SHOT
 * @pid: hits of this process only; 0: all
 * @attr: PERF: the struct perf_event_attr of <linux/perf_event.h>, with its period
 * @attr_len: PERF: its size as the caller knows it
 * @number: SYSCALL_*: of the 64-bit table, -1: all; BREAKPOINT: HW_BREAKPOINT_* |
 *	length << 8
 * @address: KPROBE, KRETPROBE: offset from @name, or the address; UPROBE, URETPROBE:
 *	offset in the file; BREAKPOINT: linear address
 * @name: KPROBE, KRETPROBE: symbol; UPROBE, URETPROBE: path of the program or library
 * @a: LATENCY: id of the trigger that starts the clock
 * @b: LATENCY: id of the trigger that stops it
 * @bound_ns: LATENCY: longer than that acts; TIMER: the period
 * @after_hits: acts from the hit after so many on
 * @count: acts so often; 0: without end
 * @hold_off_ns: after it acted on a CPU, hits there do not act for that long
 * @delay_ns: PAUSE, FREEZE: act so much later
 * @delay_bytes: PAUSE, FREEZE, in overwrite mode: act that many bytes later
 * @sample_size: SAMPLE: bytes wanted
 * @label: how recordings and messages call it; copied; NULL: by its id only. No newline
 *
 * Unused members are zero: use a designated initializer.
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
 * Returns its id, from 1, which is in the records of what it did. It stays until
 * auxtrace_trigger_del() or the session's close. Errors: those of
 * AUXTRACE_IOC_TRIGGER_ADD, with a message that names the member at fault; EBADFD
 * before auxtrace_setup(); EINVAL also @size is not that of a known version, @reserved
 * is not 0, @label has a newline; ENOMEM.
 */
int auxtrace_trigger_add(struct auxtrace_session *session,
			 const struct auxtrace_trigger_options *options);

/**
 * auxtrace_trigger_del - its event hits no more
 * @last: its final counts; may be NULL
 *
 * Errors: ENOENT no such trigger; EBUSY a latency trigger refers to it: delete that
 * first; EBADFD before auxtrace_setup().
 */
int auxtrace_trigger_del(struct auxtrace_session *session, uint32_t id,
			 struct auxtrace_trigger_state *last);

/**
 * auxtrace_trigger_read - what a trigger has counted
 * @flags: AUXTRACE_TRIGGER_REARM: one that has acted as often as it may begins again
 * @state: may be NULL
 *
 * Errors: ENOENT no such trigger; EINVAL unknown flags; EBADFD before auxtrace_setup().
 */
int auxtrace_trigger_read(struct auxtrace_session *session, uint32_t id, uint32_t flags,
			  struct auxtrace_trigger_state *state);

/** auxtrace_action_name - of AUXTRACE_ACTION_*: "resume", ...; "?" if not known */
const char *auxtrace_action_name(uint32_t action);

/* ---- reader: the AUX area of one channel -------------------------------- */

/**
 * auxtrace_reader - the reader of @cpu's channel; the session's, until its close
 *
 * Errors: EBADFD before auxtrace_setup(); ENODEV @cpu is not the session's.
 */
struct auxtrace_reader *auxtrace_reader(struct auxtrace_session *session, unsigned int cpu);

/**
 * auxtrace_reader_status - a consistent copy of the channel's status page
 *
 * Lock-free. Positions are those of the last window end, trace interrupt or
 * auxtrace_status() with SYNC. Errors: EAGAIN the page stayed inconsistent for
 * seconds: the module died in the middle of an update.
 */
int auxtrace_reader_status(struct auxtrace_reader *reader,
			   struct auxtrace_status_page *status);

/**
 * struct auxtrace_spans - a stretch of an AUX area, in order, without a copy
 * @position: AUX position of the first byte
 * @len: bytes in both parts together
 * @count: parts used: 0, 1, or 2 when the stretch goes over the area's end
 * @iov: for writev(2); points into the mapping, read-only
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
 * Full trace: all bytes from the tail to the position in the status page. They
 * stay until auxtrace_reader_consume(). Overwrite: the newest bytes, as many as the
 * area (with slots: the present slot) has; the hardware must be off and stay off
 * while they are used. Errors: EBUSY overwrite, and the channel runs: pause it, or
 * use auxtrace_reader_copy(); EAGAIN as auxtrace_reader_status().
 */
int auxtrace_reader_peek(struct auxtrace_reader *reader, struct auxtrace_spans *spans);

/**
 * auxtrace_reader_peek_cut - the AUX bytes of a snapshot, in an overwrite session
 * @cut: of this reader's CPU
 *
 * They stay until auxtrace_release() (SNAPSHOT with SLOT) or until the hardware is
 * resumed (with PAUSE). Errors: EBUSY the channel runs and the cut is where it
 * writes; EINVAL a cut of another CPU, or that cannot be; EAGAIN as
 * auxtrace_reader_status().
 */
int auxtrace_reader_peek_cut(struct auxtrace_reader *reader, const struct auxtrace_cut *cut,
			     struct auxtrace_spans *spans);

/**
 * auxtrace_reader_consume - full trace: give @len bytes back to the hardware
 *
 * A channel that met its tail goes on at the next poll(2) or auxtrace_status()
 * with SYNC. Errors: EINVAL more than can be read, or an overwrite session.
 */
int auxtrace_reader_consume(struct auxtrace_reader *reader, size_t len);

/**
 * struct auxtrace_copy - what auxtrace_reader_copy() got
 * @position: AUX position of the first byte in the buffer
 * @len: bytes in the buffer
 * @cut: bytes that were overwritten during the copy and were cut off the front; of
 *	records also those that are left of one that is not whole
 */
struct auxtrace_copy {
	uint64_t position;
	size_t len;
	size_t cut;
};

/**
 * auxtrace_reader_copy - copy the newest bytes, at most @size, while tracing goes on
 *
 * Overwrite: what newer bytes replaced during the copy is cut off the front, so
 * all that is returned is intact. A decoder then starts at the first PSB (BTS: at
 * auxtrace_branch_next() of the position). Full trace: the newest bytes between tail
 * and position; the tail does not move. Two STATUS calls with SYNC: a short stop of the
 * hardware that ends no window.
 */
int auxtrace_reader_copy(struct auxtrace_reader *reader, void *buf, size_t size,
			 struct auxtrace_copy *copy);

/**
 * auxtrace_branch_next - BTS: where the first struct auxtrace_branch begins from @position on
 */
static inline uint64_t auxtrace_branch_next(uint64_t position)
{
	uint64_t size = sizeof(struct auxtrace_branch);

	return (position + size - 1) / size * size;
}

/* ---- records: the data ring of one channel ------------------------------ */

/*
 * A ring that is not overwritable is a queue: auxtrace_reader_next_record() and
 * auxtrace_reader_consume_records(). Any ring can be copied as it stands, also
 * while it is written: auxtrace_reader_copy_records() hands out whole records only.
 */

/** union auxtrace_record - one of any kind: @header.type tells; 8-byte aligned */
union auxtrace_record {
	struct auxtrace_record_header header;
	struct auxtrace_record_lost lost;
	struct auxtrace_record_aux aux;
	struct auxtrace_record_itrace_start itrace_start;
	struct auxtrace_record_window window;
	struct auxtrace_record_trigger trigger;
	struct auxtrace_record_sample sample;
};

/**
 * auxtrace_record_end - how a record ends; a newer kernel's may be longer than the
 * struct of its kind, so its @end member is not always the place
 */
static inline const struct auxtrace_record_end *
auxtrace_record_end(const union auxtrace_record *record)
{
	return (const struct auxtrace_record_end *)((const char *)record + record->header.size) - 1;
}

/**
 * auxtrace_record_next - walk records that stand one after another, oldest first
 * @buf: of auxtrace_reader_copy_records(), or a file cpuN.data; 8-byte aligned
 * @len: bytes in it
 * @at: where to go on, in bytes: 0 at first; moves behind the record
 *
 * Returns NULL at the end; with *@at less than @len there is no record there: the
 * rest is damaged. A record whose type is known has at least its struct's size.
 */
const union auxtrace_record *auxtrace_record_next(const void *buf, size_t len, size_t *at);

/**
 * auxtrace_reader_next_record - the oldest record that was not handed out yet
 * @record: good until the next call for this reader
 *
 * Forward and backward rings alike. Returns 1, or 0 if there is none now. Errors:
 * EINVAL no data ring, or an overwritable one; EBADE what stands there is no record.
 */
int auxtrace_reader_next_record(struct auxtrace_reader *reader,
				const union auxtrace_record **record);

/** auxtrace_reader_consume_records - give the room of all records handed out back */
void auxtrace_reader_consume_records(struct auxtrace_reader *reader);

/**
 * auxtrace_reader_copy_records - the newest whole records, at most @size bytes of them
 * @cut: of this reader's CPU; NULL: what is there now
 * @buf: 8-byte aligned; gets the records, oldest first, for auxtrace_record_next()
 * @copy: @position is that of the first record's first byte
 *
 * Overwritable: the ring may be paused or written at full speed; a record that was
 * overwritten during the copy is not handed out. What a cut put aside or paused is all
 * there; a cut with neither SLOT nor PAUSE can be read as long as no snapshot with
 * SLOT follows. Not overwritable: what was not handed out yet, which still is by
 * auxtrace_reader_next_record(). Errors: EINVAL no data ring, or a cut of another
 * CPU or one that cannot be; EBADE no record stands where one must; EAGAIN slots are
 * put aside faster than one is copied.
 */
int auxtrace_reader_copy_records(struct auxtrace_reader *reader, const struct auxtrace_cut *cut,
				 void *buf, size_t size, struct auxtrace_copy *copy);

/* How much of a window is there. */
enum auxtrace_part {
	AUXTRACE_PART_NONE,	/* gone */
	AUXTRACE_PART_SOME,	/* overwritten in part: decodes from its next PSB or branch on */
	AUXTRACE_PART_WHOLE,
};

/**
 * auxtrace_window_part - is a window whole in a stretch of an AUX area?
 * @begin: position of the stretch's first byte
 * @end: position behind its last one
 */
enum auxtrace_part auxtrace_window_part(const struct auxtrace_record_window *window,
					uint64_t begin, uint64_t end);

/**
 * auxtrace_reader_peek_sample - the bytes of a SAMPLE record that are in a slot
 * @record: with AUXTRACE_SAMPLE_IN_SLOT, of this reader's CPU
 *
 * They stay until auxtrace_release_sample(). Errors: EINVAL another record, or one that
 * cannot be of this session.
 */
int auxtrace_reader_peek_sample(struct auxtrace_reader *reader, const union auxtrace_record *record,
				struct auxtrace_spans *spans);

/**
 * auxtrace_release_sample - the slot of a sample was read and may be used again
 * @slot: sample_slot of a record of @cpu
 *
 * auxtrace_recording_drain() and _finish() do it for the samples that they write.
 * Errors: EINVAL it holds no sample, or @cpu is not the session's; EBADFD before
 * auxtrace_setup().
 */
int auxtrace_release_sample(struct auxtrace_session *session, unsigned int cpu, uint32_t slot);

/**
 * auxtrace_sample_data - the bytes of a SAMPLE record, inside it
 *
 * @sample.length of them; NULL if they are in a sample slot instead.
 */
static inline const uint8_t *auxtrace_sample_data(const union auxtrace_record *record)
{
	return record->sample.flags & AUXTRACE_SAMPLE_IN_SLOT ? NULL :
	       (const uint8_t *)(&record->sample + 1);
}

/** auxtrace_cause_name - of AUXTRACE_CAUSE_*: "user", "full", ...; "?" if not known */
const char *auxtrace_cause_name(uint32_t cause);

/* ---- recordings --------------------------------------------------------- */

/*
 * A recording is a directory of plain files; auxtrace(1), "FILES", has the format:
 * meta, cpuN.aux, cpuN.data, cpuN.samples, task.PID[.N], vdso.PID[.N], with kernel tracing kcore,
 * kallsyms, modules, and a directory snapshot.NNNN, of the same kind, for each
 * snapshot.
 *
 * AUX data go to their files without a copy where the file system can (O_DIRECT, by
 * io_uring where the kernel lets us), in whole pages then; meta says how.
 */

/**
 * auxtrace_recording_create - begin a recording of a session that is set up
 * @dir: is created; a directory that is empty or holds a recording is reused, and
 *	the old recording goes
 *
 * Errors: EBADFD before auxtrace_setup(); ENOTEMPTY @dir holds something else;
 * those of mkdir(2) and open(2). The session must outlive the recording.
 */
struct auxtrace_recording *auxtrace_recording_create(struct auxtrace_session *session,
						     const char *dir);

/**
 * auxtrace_recording_drain - append what can be read, and consume it
 *
 * Full trace, and records of a data ring that is not overwritable. Call it when
 * poll(2) says POLLIN. Less than a page of AUX data may stay in the area until the
 * end. Returns the bytes written; 0 if nothing is read before the end, as in an
 * overwrite session. Errors: those of write(2).
 */
ssize_t auxtrace_recording_drain(struct auxtrace_recording *recording);

/**
 * auxtrace_recording_snapshot - write what the areas hold now, and go on
 *
 * To a directory snapshot.NNNN in the recording's, numbered from 0001: a whole
 * recording, of the tasks that live now too, with the kernel's code as it was at the
 * first snapshot. For sessions in overwrite mode. With
 * slots nothing is missed meanwhile; without, all CPUs are paused until it is
 * written, except that those that were paused stay so. Returns the number. Errors:
 * EINVAL full trace; EBADFD not started; ENOSPC all slots hold snapshots of others;
 * those of mkdir(2), open(2), write(2): the session goes on all the same.
 */
int auxtrace_recording_snapshot(struct auxtrace_recording *recording);

/**
 * auxtrace_recording_add_task - note the address space of a process
 * @pid: 0: the caller
 *
 * CR3, executable mappings with the files behind them, and the vdso's bytes. To
 * be called while the process lives. Asked again for the same address space, it
 * takes the mappings anew and keeps those that have gone since. After an exec it
 * is a new address space. Errors: ESRCH; ENXIO a kernel thread; EACCES the caller
 * may not trace; EPERM it may not read that process's mappings.
 */
int auxtrace_recording_add_task(struct auxtrace_recording *recording, pid_t pid);

/**
 * auxtrace_recording_end_task - a process left its address space by its exit
 * @pid: 0: the caller
 * @tsc: when; 0: now
 *
 * Code of another process that gets the same CR3 later is then not taken for its.
 * If it lives on (only a thread has ended), adding it again undoes this. An exec
 * need not be told. Errors: ENOENT @pid was not added.
 */
int auxtrace_recording_end_task(struct auxtrace_recording *recording, pid_t pid, uint64_t tsc);

/**
 * auxtrace_recording_add_mapping - a process had executable code of a file mapped
 * @start: first address
 * @end: behind the last one
 * @offset: of the file's byte at @start
 * @path: absolute
 *
 * For mappings that may be gone before auxtrace_recording_add_task() sees them, as
 * perf_event_open(2) reports them. It belongs to the newest address space of
 * @pid. Errors: ENOENT @pid was not added; ENOMEM.
 */
int auxtrace_recording_add_mapping(struct auxtrace_recording *recording, pid_t pid,
				   uint64_t start, uint64_t end, uint64_t offset,
				   const char *path);

/**
 * auxtrace_recording_add_all_tasks - add each process that /proc shows
 *
 * What a CPU-wide trace needs to tell the processes apart. Processes that go
 * meanwhile, kernel threads, and processes whose mappings the caller may not read
 * are passed over; user code of these last is skipped by auxtrace script, which
 * counts it. Returns how many were added.
 */
int auxtrace_recording_add_all_tasks(struct auxtrace_recording *recording);

/**
 * struct auxtrace_totals - a recording's account, summed over its CPUs
 * @produced: bytes that the hardware wrote
 * @read: bytes in the recording's files
 * @overwritten: bytes that newer ones replaced
 * @windows: windows begun
 * @gaps: times when trace was lost while no pause was asked for
 * @pmis: trace interrupts
 * @retained: bytes that snapshots retained in slots: produced = read + overwritten + retained
 * @records: records in the recording's files
 * @records_lost: records that were dropped
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
};

/**
 * auxtrace_recording_finish - write the rest, and free the recording
 * @totals: may be NULL
 *
 * The session must be stopped (or, overwrite, paused on all CPUs). With kernel
 * tracing the kernel's code is copied from /proc/kcore now: code that was patched
 * between the trace and this call is seen as it is now. If a kernel file cannot
 * be read, the rest is written all the same and the call fails with that errno.
 * Whether it fails or not, @recording is gone.
 */
int auxtrace_recording_finish(struct auxtrace_recording *recording,
			      struct auxtrace_totals *totals);

/** auxtrace_recording_abort - free, and remove the files; NULL is allowed */
void auxtrace_recording_abort(struct auxtrace_recording *recording);

/**
 * auxtrace_save - a stopped session into @dir, in one call
 *
 * create, add_all_tasks, finish: for a program that traced itself.
 */
int auxtrace_save(struct auxtrace_session *session, const char *dir);

#ifdef __cplusplus
}
#endif

#endif /* AUXTRACE_H */
