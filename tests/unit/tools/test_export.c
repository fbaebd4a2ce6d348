// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace export --format perf on recordings made here, record by record. */
#include "made.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#define PT	"cpu_family 6\ncpu_model 94\ncpu_stepping 3\nmax_nonturbo_ratio 32\nconfig 0x2401\nrelease 6.1.0\n"
#define BTS	"pmu 1\nconfig 0\n"
#define TRACE	1		/* IDs of the two events */
#define SIDE	2
/* write_trace()'s clock: as much ns as TSC, and a second. */
#define NS(tsc)	(1000000000ull + (tsc))

static uint8_t aux[4096];
static uint8_t ring[8192], side[8192];
static size_t ring_size, side_size;

static int begin(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(aux); i++)
		aux[i] = i * 7 + i / 256;
	ring_size = side_size = 0;
	return made_begin();
}

static int end(void **state)
{
	(void)state;
	return made_end();
}

/* ---- a recording -------------------------------------------------------- */

static void put(const void *record, size_t size)
{
	memcpy(ring + ring_size, record, size);
	ring_size += size;
}

static void put_window(uint64_t seq, uint64_t first, uint64_t last, uint64_t tsc, uint32_t tid, uint32_t cause)
{
	put(&(struct auxtrace_record_window){
		.header = { AUXTRACE_RECORD_WINDOW, 0, sizeof(struct auxtrace_record_window) },
		.window = seq, .begin = first, .end_position = last, .begin_time = tsc, .end_time = tsc + 100,
		.begin_cause = AUXTRACE_CAUSE_TASK, .end_cause = cause,
		.begin_pid = 100, .begin_tid = tid, .pid = 100, .tid = tid,
		.end = { tsc + 100, tid, sizeof(struct auxtrace_record_window) },
	}, sizeof(struct auxtrace_record_window));
}

static void put_switch(uint64_t tsc, uint32_t from, uint32_t to)
{
	put(&(struct auxtrace_record_switch){
		.header = { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT, sizeof(struct auxtrace_record_switch) },
		.next_prev_pid = 100, .next_prev_tid = to,
		.end = { tsc, from, sizeof(struct auxtrace_record_switch) },
	}, sizeof(struct auxtrace_record_switch));
}

struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t id;
};

/* A record as perf's dummy event writes it, with the ID 77. */
static void put_side(uint32_t type, uint16_t misc, const void *body, size_t size, uint64_t time)
{
	struct perf_event_header h = { type, misc, sizeof(h) + size + sizeof(struct trailer) };
	struct trailer t = { .pid = 100, .tid = 101, .time = time, .cpu = 0, .id = 77 };

	memcpy(side + side_size, &h, sizeof(h));
	memcpy(side + side_size + sizeof(h), body, size);
	memcpy(side + side_size + sizeof(h) + size, &t, sizeof(t));
	side_size += h.size;
}

static void put_side_switch(uint64_t time, uint32_t to)
{
	const uint32_t body[2] = { 100, to };

	put_side(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, body, sizeof(body), time);
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
	FILE *f = file(name);

	fwrite(bytes, 1, size, f);
	fclose(f);
}

/* @size bytes of trace, which begin at position 0 unless @cpu says otherwise. */
static void finish(const char *machine, size_t size, const char *cpu)
{
	char text[256];

	if (ring_size)
		write_records(ring, ring_size);
	if (side_size)
		write_bytes("cpu0.side", side, side_size);
	snprintf(text, sizeof(text), "%s data_read %zu", cpu, ring_size);
	write_trace(aux, size, machine, BOTH, text);
}

static const struct result *export(void)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "export --format perf -o %s/perf %s", dir, dir);
	return run_auxtrace(arguments);
}

/* ---- the file ----------------------------------------------------------- */

static uint8_t *data;
static size_t data_size, records_end;

static uint64_t word(size_t at)
{
	uint64_t w;

	assert_true(at + sizeof(w) <= data_size);
	memcpy(&w, data + at, sizeof(w));
	return w;
}

static void expect_exported(void)
{
	const struct result *r = export();
	FILE *f;

	if (r->status)
		fail_msg("%s", r->err);
	f = fopen(program_path("perf/data"), "r");
	assert_non_null(f);
	free(data);
	data = malloc(1 << 20);
	data_size = fread(data, 1, 1 << 20, f);
	fclose(f);
	assert_memory_equal(data, "PERFILE2", 8);
	assert_int_equal(word(8), 104);
	/* perf refuses attributes that are longer than its own: 112 bytes, and 16 */
	assert_int_equal(word(16), 128);
	records_end = word(40) + word(48);
	assert_true(records_end <= data_size);
}

struct found {
	const struct perf_event_header *header;
	const uint8_t *body;
	const struct trailer *trailer;
	size_t at;
};

/* Record number @nr of that type, from 0; false: there is none. */
static bool find(uint32_t type, unsigned int nr, struct found *found)
{
	size_t at = word(40);

	while (at < records_end) {
		const struct perf_event_header *h = (const void *)(data + at);

		assert_true(h->size >= 8 && h->size % 8 == 0);
		if (h->type == type && !nr--) {
			*found = (struct found){ h, data + at + 8, (const void *)(data + at + h->size - 32), at };
			return true;
		}
		/* The bytes of AUXTRACE follow it. */
		at += h->size + (h->type == 71 ? word(at + 8) : 0);
	}
	assert_int_equal(at, records_end);
	return false;
}

static void expect(uint32_t type, unsigned int nr, struct found *found)
{
	if (!find(type, nr, found))
		fail_msg("there is no record %u of type %u", nr, type);
}

static unsigned int count(uint32_t type)
{
	unsigned int n = 0;
	struct found found;

	while (find(type, n, &found))
		n++;
	return n;
}

static uint64_t info_word(unsigned int i)
{
	struct found info;

	expect(70, 0, &info);
	return word(info.at + 16 + 8 * i);
}

/* @padding: zero bytes behind it, beside those up to a multiple of 8 */
static void expect_padded(unsigned int nr, uint64_t position, size_t size, size_t padding, uint32_t queue,
			  uint32_t tid)
{
	size_t padded = (size + 7) / 8 * 8 + padding;
	struct found part;
	uint32_t id[4];

	expect(71, nr, &part);
	assert_int_equal(part.header->size, 48);
	assert_int_equal(word(part.at + 8), padded);
	assert_int_equal(word(part.at + 16), position);
	memcpy(id, data + part.at + 32, sizeof(id));
	assert_int_equal(id[0], queue);
	assert_int_equal(id[1], tid);
	assert_int_equal(id[2], tid == UINT32_MAX ? queue : UINT32_MAX);
	assert_memory_equal(data + part.at + 48, aux + position, size);
	for (size_t i = size; i < padded; i++)
		assert_int_equal(data[part.at + 48 + i], 0);
}

static void expect_part_of_trace(unsigned int nr, uint64_t position, size_t size, uint32_t queue, uint32_t tid)
{
	expect_padded(nr, position, size, 0, queue, tid);
}

/* perf leaves out the last branch of a part if nothing follows it. */
static void expect_branches(unsigned int nr, uint64_t position, size_t size, uint32_t queue, uint32_t tid)
{
	expect_padded(nr, position, size, 8, queue, tid);
}

/* ---- tests -------------------------------------------------------------- */

static void the_trace_is_one_stream_with_an_index(void **state)
{
	struct found info;
	size_t index;

	(void)state;
	finish(PT, 1001, "windows 1");
	expect_exported();
	expect_part_of_trace(0, 0, 1001, 0, UINT32_MAX);
	assert_int_equal(count(71), 1);
	/* AUXTRACE_INFO: type PT, shift, mult, zero of the clock; no switches, not in parts */
	expect(70, 0, &info);
	assert_int_equal(*(const uint32_t *)info.body, 1);
	assert_int_equal(info_word(1), 1);
	assert_int_equal(info_word(2), 2);
	assert_int_equal(info_word(3), 1000000000);
	assert_int_equal(info_word(7), 0);
	assert_int_equal(info_word(8), 0);
	assert_int_equal(info_word(15), 32);
	/* The feature HEADER_AUXTRACE, the sixth of those that are set, names the record's place. */
	assert_true(word(72) >> 18 & 1);
	assert_int_equal(word(72) & 0x3ffff, 0x12f0);
	index = word(records_end + 6 * 16);
	assert_int_equal(word(index), 1);
	expect(71, 0, &info);
	assert_int_equal(word(index + 8), info.at);
	/* The kernel's files are beside it. */
	assert_int_equal(access(program_path("perf/kcore_dir/kcore"), F_OK), 0);
	assert_int_equal(access(program_path("perf/kcore_dir/kallsyms"), F_OK), 0);
}

static void zero_bytes_before_the_trace_are_left_out(void **state)
{
	struct found part;

	(void)state;
	write_trace(aux, 1024, PT, BOTH, "windows 1 begin 4120 pad 24 read 1000");
	expect_exported();
	expect(71, 0, &part);
	assert_int_equal(word(part.at + 8), 1000);
	assert_int_equal(word(part.at + 16), 4120);
	assert_memory_equal(data + part.at + 48, aux + 24, 1000);
}

static void where_trace_was_lost_another_part_begins(void **state)
{
	(void)state;
	put_window(1, 0, 100, 1000, 100, AUXTRACE_CAUSE_USER);
	put_window(2, 100, 301, 2000, 100, AUXTRACE_CAUSE_FULL);
	put_window(3, 301, 500, 3000, 100, AUXTRACE_CAUSE_SESSION);
	finish(PT, 500, "windows 3");
	expect_exported();
	expect_part_of_trace(0, 0, 301, 0, UINT32_MAX);
	expect_part_of_trace(1, 301, 199, 0, UINT32_MAX);
	assert_int_equal(count(71), 2);
	/* "snapshot mode": perf synchronizes at each part. */
	assert_int_equal(info_word(8), 1);
}

static void each_window_says_whose_it_is(void **state)
{
	struct found start;

	(void)state;
	put_window(1, 0, 100, 1000, 100, AUXTRACE_CAUSE_TASK);
	put_window(2, 100, 200, 2000, 101, AUXTRACE_CAUSE_TASK);
	finish(PT, 200, "windows 2");
	expect_exported();
	/* The first one is from the beginning of all, but not from before the TSC: perf would take that for a far future. */
	assert_int_equal(count(PERF_RECORD_ITRACE_START), 3);
	expect(PERF_RECORD_ITRACE_START, 0, &start);
	assert_int_equal(start.trailer->time, NS(1));
	assert_int_equal(start.trailer->tid, 100);
	expect(PERF_RECORD_ITRACE_START, 2, &start);
	assert_int_equal(start.trailer->time, NS(2000));
	assert_int_equal(start.trailer->id, TRACE);
	assert_int_equal(((const uint32_t *)start.body)[0], 100);
	assert_int_equal(((const uint32_t *)start.body)[1], 101);
}

static void but_for_a_switch_that_says_it_better(void **state)
{
	struct found start;

	(void)state;
	put_switch(1010, 99, 100);
	put_window(1, 0, 100, 1000, 100, AUXTRACE_CAUSE_TASK);
	finish(PT, 200, "windows 1");
	expect_exported();
	assert_int_equal(count(PERF_RECORD_ITRACE_START), 1);
	/* The thread that the switch leaves begins, if nobody did before. */
	expect(PERF_RECORD_ITRACE_START, 0, &start);
	assert_int_equal(start.trailer->time, NS(1));
}

/* perf leaves what has no time where it is: it must not be 0. */
static void where_the_tsc_is_older_than_the_clock_too(void **state)
{
	struct found start;
	char command[256];

	(void)state;
	put_window(1, 0, 100, 1000000100, 100, AUXTRACE_CAUSE_TASK);
	finish(PT, 200, "windows 1");
	snprintf(command, sizeof(command), "sed -i 's/^time_zero .*/time_zero %" PRIu64 "/' %s/meta", (uint64_t)-1000000000, dir);
	assert_int_equal(system(command), 0);
	expect_exported();
	expect(PERF_RECORD_ITRACE_START, 0, &start);
	assert_int_equal(start.trailer->time, 1);
	expect(PERF_RECORD_ITRACE_START, 1, &start);
	assert_int_equal(start.trailer->time, 100);
}

static void switches_come_from_the_ring(void **state)
{
	struct found s;

	(void)state;
	put_switch(1500, 100, 101);
	finish(PT, 200, "windows 1");
	expect_exported();
	assert_int_equal(info_word(7), 3);
	assert_int_equal(count(PERF_RECORD_SWITCH_CPU_WIDE), 1);
	expect(PERF_RECORD_SWITCH_CPU_WIDE, 0, &s);
	assert_int_equal(s.header->misc, PERF_RECORD_MISC_SWITCH_OUT);
	assert_int_equal(s.header->size, 8 + 8 + 32);
	assert_int_equal(((const uint32_t *)s.body)[1], 101);
	assert_int_equal(s.trailer->pid, 100);
	assert_int_equal(s.trailer->tid, 100);
	assert_int_equal(s.trailer->time, NS(1500));
	assert_int_equal(s.trailer->id, SIDE);
}

static void records_of_perf_are_taken_as_they_are(void **state)
{
	const uint64_t lost[2] = { 77, 5 };
	const struct {
		uint32_t pid, tid;
		char comm[8];
	} comm = { 100, 101, "worker" };
	struct found s;

	(void)state;
	put_switch(1500, 100, 101);
	put_side(PERF_RECORD_COMM, 0, &comm, sizeof(comm), NS(1400));
	put_side_switch(NS(1501), 102);
	put_side(PERF_RECORD_LOST, 0, lost, sizeof(lost), NS(1600));
	finish(PT, 200, "windows 1");
	/* A CPU that was not traced has one as well. */
	side_size = 0;
	put_side_switch(NS(1700), 103);
	write_bytes("cpu3.side", side, side_size);
	expect_exported();
	/* Not those of the ring, too. */
	assert_int_equal(count(PERF_RECORD_SWITCH_CPU_WIDE), 2);
	expect(PERF_RECORD_SWITCH_CPU_WIDE, 0, &s);
	assert_int_equal(((const uint32_t *)s.body)[1], 102);
	assert_int_equal(s.trailer->time, NS(1501));
	assert_int_equal(s.trailer->id, SIDE);
	expect(PERF_RECORD_SWITCH_CPU_WIDE, 1, &s);
	assert_int_equal(((const uint32_t *)s.body)[1], 103);
	expect(PERF_RECORD_LOST, 0, &s);
	assert_int_equal(word(s.at + 8), SIDE);
	assert_int_equal(word(s.at + 16), 5);
	assert_int_equal(s.trailer->id, SIDE);
	expect(PERF_RECORD_COMM, count(PERF_RECORD_COMM) - 1, &s);
	assert_string_equal((const char *)s.body + 8, "worker");
}

#define PROGRAM		0xffffffffc0000640ull
#define TRAMPOLINE	0xffffffffc0100000ull
#define OTHERS		0xffffffffc0200000ull

static void put_side_ksymbol(uint64_t addr, uint16_t type, uint16_t flags, uint64_t time)
{
	const struct {
		uint64_t addr;
		uint32_t len;
		uint16_t type, flags;
		char name[8];
	} body = { addr, 16, type, flags, "bpf" };

	put_side(PERF_RECORD_KSYMBOL, 1, &body, sizeof(body), time);
}

static void expect_ksymbol(unsigned int nr, uint64_t addr, uint32_t len, uint16_t flags, const char *name, uint64_t time)
{
	struct found k;

	expect(PERF_RECORD_KSYMBOL, nr, &k);
	assert_int_equal(k.header->misc, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(word(k.at + 8), addr);
	assert_int_equal(word(k.at + 16), len | (uint64_t)PERF_RECORD_KSYMBOL_TYPE_OOL << 32 | (uint64_t)flags << 48);
	assert_string_equal((const char *)k.body + 16, name);
	assert_int_equal(k.trailer->time, time);
	assert_int_equal(k.trailer->id, SIDE);
}

static void expect_poke(unsigned int nr, uint64_t addr, uint16_t old_len, uint16_t new_len, const void *bytes, size_t size,
			uint64_t time)
{
	struct found poke;

	expect(PERF_RECORD_TEXT_POKE, nr, &poke);
	assert_int_equal(poke.header->misc, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(word(poke.at + 8), addr);
	assert_int_equal(((const uint16_t *)poke.body)[4], old_len);
	assert_int_equal(((const uint16_t *)poke.body)[5], new_len);
	assert_memory_equal(poke.body + 12, bytes, size);
	assert_int_equal(poke.trailer->time, time);
}

static void code_that_the_kernel_generated_has_its_bytes(void **state)
{
	static const struct {
		uint64_t addr;
		uint16_t old_len, new_len;
		uint8_t bytes[4];
	} change = { PROGRAM + 70, 2, 2, { 0x66, 0x90, 0x90, 0x90 } };
	static uint8_t expected[32768 + 5];
	FILE *f;

	(void)state;
	memset(expected, 0x90, sizeof(expected));
	f = file("kcore.added");
	fprintf(f, "added 0x%llx 1100 2000 1500 ", PROGRAM);
	for (size_t i = 0; i < sizeof(expected); i++)
		fputs("90", f);
	fprintf(f, " bpf_prog_1_x\n");
	/* The recorder has read it twice: the later bytes count. The last one is where kcore has a segment. */
	fprintf(f, "added 0x%llx 1200 3000 1250 cccc bpf_trampoline_1\n", TRAMPOLINE);
	fprintf(f, "added 0x%llx 1200 3000 1300 9090 bpf_trampoline_1\n", TRAMPOLINE);
	fprintf(f, "added 0x%llx 1400 2500 1450 9090 bpf_prog_2_y\n", IRQ);
	fclose(f);
	append("kallsyms", "ffffffff81000000 T _text\n");
	/* perf would ask for what it knows of BPF programs. */
	put_side_ksymbol(PROGRAM, PERF_RECORD_KSYMBOL_TYPE_BPF, 0, NS(1100));
	/* Others stay as they are, but for the end of one in kcore: perf would remove all kcore has there. */
	put_side_ksymbol(OTHERS, PERF_RECORD_KSYMBOL_TYPE_OOL, 0, NS(1150));
	/* Before the program was read, after it came. */
	put_side(PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL, &change, sizeof(change), NS(1300));
	put_side_ksymbol(PROGRAM, PERF_RECORD_KSYMBOL_TYPE_BPF, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, NS(2000));
	put_side_ksymbol(OTHERS, PERF_RECORD_KSYMBOL_TYPE_OOL, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, NS(2100));
	put_side_ksymbol(ENTRY, PERF_RECORD_KSYMBOL_TYPE_OOL, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, NS(2200));
	finish(PT, 200, "windows 1");
	expect_exported();
	assert_int_equal(count(PERF_RECORD_KSYMBOL), 7);
	expect_ksymbol(0, IRQ, 2, 0, "bpf_prog_2_y", NS(1400));
	expect_ksymbol(1, PROGRAM, sizeof(expected), 0, "bpf_prog_1_x", NS(1100));
	expect_ksymbol(2, PROGRAM, sizeof(expected), PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, "bpf_prog_1_x", NS(2000));
	/* perf takes no bytes for what has the kernel's name of a trampoline. */
	expect_ksymbol(3, TRAMPOLINE, 2, 0, "generated_bpf_trampoline_1", NS(1200));
	expect_ksymbol(4, TRAMPOLINE, 2, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, "generated_bpf_trampoline_1", NS(3000));
	expect_ksymbol(5, OTHERS, 16, 0, "bpf", NS(1150));
	expect_ksymbol(6, OTHERS, 16, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, "bpf", NS(2100));
	assert_int_equal(count(PERF_RECORD_TEXT_POKE), 6);
	/* One that changes nothing comes first: perf reads kcore then. */
	expect_poke(0, KERNEL, 1, 1, "\x90\x90", 2, 0);
	expect_poke(1, IRQ, 0, 2, "\x90\x90", 2, NS(1400));
	expected[70] = 0x66;
	expect_poke(2, PROGRAM, 0, 32768, expected, 32768, NS(1100));
	expect_poke(3, PROGRAM + 32768, 0, 5, expected + 32768, 5, NS(1100));
	expect_poke(4, TRAMPOLINE, 0, 2, "\x90\x90", 2, NS(1200));
	expect_poke(5, PROGRAM + 70, 2, 2, change.bytes, 4, NS(1300));
}

static void processes_have_their_code_from_the_beginning(void **state)
{
	struct found s;

	(void)state;
	append("threads", "tsc 1000\n101 100 helper of it\n9 9 kthread/1\n");
	/* After an exec. */
	write_program("next");
	write_task("100.1", CR3, 5000, program_path("next"), BASE);
	finish(PT, 200, "windows 1");
	expect_exported();
	assert_int_equal(count(PERF_RECORD_MMAP2), 2);
	expect(PERF_RECORD_MMAP2, 0, &s);
	assert_int_equal(s.trailer->time, 0);
	assert_int_equal(word(s.at + 16), MAIN);
	assert_int_equal(word(s.at + 24), 0x1000);
	assert_int_equal(word(s.at + 32), 0x1000);
	assert_string_equal((const char *)s.body + 64, program_path("prog"));
	expect(PERF_RECORD_MMAP2, 1, &s);
	assert_int_equal(s.trailer->time, NS(5000));
	assert_string_equal((const char *)s.body + 64, program_path("next"));
	expect(PERF_RECORD_COMM, 1, &s);
	assert_int_equal(s.header->misc, PERF_RECORD_MISC_COMM_EXEC);
	/* A thread of the kernel has no other record. */
	expect(PERF_RECORD_COMM, 2, &s);
	assert_int_equal(((const uint32_t *)s.body)[0], 9);
	assert_string_equal((const char *)s.body + 8, "kthread/1");
	expect(PERF_RECORD_COMM, 3, &s);
	assert_int_equal(((const uint32_t *)s.body)[0], 100);
	assert_int_equal(((const uint32_t *)s.body)[1], 101);
	assert_string_equal((const char *)s.body + 8, "helper of it");
}

static void branches_are_those_of_a_thread_if_it_ran_alone(void **state)
{
	(void)state;
	put_switch(1001, 100, 101);
	put_switch(1100, 101, 102);
	put_window(1, 0, 96, 1000, 101, AUXTRACE_CAUSE_TASK);
	/* Another thread came in between. */
	put_switch(2010, 101, 102);
	put_switch(2020, 102, 101);
	put_window(2, 96, 192, 2000, 101, AUXTRACE_CAUSE_TASK);
	put_window(3, 192, 216, 3000, 101, AUXTRACE_CAUSE_TASK);
	finish(BTS, 240, "windows 4 window_begin 216");
	expect_exported();
	assert_int_equal(count(71), 4);
	expect_branches(0, 0, 96, 1, 101);
	expect_branches(1, 96, 96, 0, UINT32_MAX);
	expect_branches(2, 192, 24, 1, 101);
	expect_branches(3, 216, 24, 0, UINT32_MAX);
}

static void branches_that_are_not_whole_are_left_out(void **state)
{
	struct found part;

	(void)state;
	finish(BTS, 240, "windows 1 begin 1000");
	expect_exported();
	expect(71, 0, &part);
	assert_int_equal(word(part.at + 16), 1008);
	assert_int_equal(word(part.at + 8), 216 + 8);
	assert_memory_equal(data + part.at + 48, aux + 8, 216);
}

static void damage_is_told(void **state)
{
	const struct result *r;

	(void)state;
	put_side_switch(NS(1501), 102);
	side[side_size] = 1;
	side_size += 16;
	finish(PT, 200, "windows 1 read 300");
	r = export();
	assert_int_equal(r->status, 0);
	expect_part(r->err, "cpu0.side: there is no record at offset 48: the rest is not exported");
	expect_part(r->err, "cpu0.aux has 200 bytes of trace, meta says 300: the recording is damaged");
}

static void what_cannot_be_exported_is_told(void **state)
{
	const struct result *r;
	char arguments[256];

	(void)state;
	r = run_auxtrace("export --format perf -o /tmp/auxtrace-never /nonexistent");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "/nonexistent is not a complete recording");
	finish(PT, 200, "windows 1");
	snprintf(arguments, sizeof(arguments), "export --format perf -o %s/none/perf %s", dir, dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 1);
	expect_part(r->err, "none/perf: No such file or directory");
	snprintf(arguments, sizeof(arguments), "export --format perf -o %s %s", dir, dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 1);
	expect_part(r->err, "exists: name another file, or remove it");
	assert_int_equal(unlink(program_path("cpu0.aux")), 0);
	r = export();
	assert_int_equal(r->status, 1);
	expect_part(r->err, "cpu0.aux: No such file");
	/* Half of it would be in the way of another try. */
	assert_int_not_equal(access(program_path("perf"), F_OK), 0);
}

static void what_perf_will_not_know_is_told(void **state)
{
	const struct result *r;

	(void)state;
	finish("config 0x1\n", 200, "windows 1");
	r = export();
	assert_int_equal(r->status, 0);
	expect_part(r->err, "without the term tsc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_trace_is_one_stream_with_an_index, begin, end),
		cmocka_unit_test_setup_teardown(zero_bytes_before_the_trace_are_left_out, begin, end),
		cmocka_unit_test_setup_teardown(where_trace_was_lost_another_part_begins, begin, end),
		cmocka_unit_test_setup_teardown(each_window_says_whose_it_is, begin, end),
		cmocka_unit_test_setup_teardown(but_for_a_switch_that_says_it_better, begin, end),
		cmocka_unit_test_setup_teardown(where_the_tsc_is_older_than_the_clock_too, begin, end),
		cmocka_unit_test_setup_teardown(switches_come_from_the_ring, begin, end),
		cmocka_unit_test_setup_teardown(records_of_perf_are_taken_as_they_are, begin, end),
		cmocka_unit_test_setup_teardown(code_that_the_kernel_generated_has_its_bytes, begin, end),
		cmocka_unit_test_setup_teardown(processes_have_their_code_from_the_beginning, begin, end),
		cmocka_unit_test_setup_teardown(branches_are_those_of_a_thread_if_it_ran_alone, begin, end),
		cmocka_unit_test_setup_teardown(branches_that_are_not_whole_are_left_out, begin, end),
		cmocka_unit_test_setup_teardown(damage_is_told, begin, end),
		cmocka_unit_test_setup_teardown(what_cannot_be_exported_is_told, begin, end),
		cmocka_unit_test_setup_teardown(what_perf_will_not_know_is_told, begin, end),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(data);
	return failed;
}
