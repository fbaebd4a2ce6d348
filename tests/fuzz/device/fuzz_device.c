// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the module, in a guest: each input is a program of calls of
 * /dev/auxtrace (program.h), which four threads run. KCOV says which of the module's code
 * they reached. The kernel is the judge: KASAN, lockdep and the like complain on its console.
 * Beside that no call may fail with an errno that the ABI does not list, status pages must
 * add up, and nothing may be left of sessions that are closed.
 *
 *   DEVICE_OPS=N, DEVICE_SECONDS=N   end after so many operations, or so long
 *   DEVICE_REPEAT_MS=N               a REPEAT goes on for so long at most (100 unless told)
 *   DEVICE_PCS=FILE                  write the places that were reached
 *   DEVICE_JOURNAL=FILE              a disk that keeps the last inputs: a kernel that panics
 *                                    leaves no file behind
 *   DEVICE_VERBOSE=                  print each ioctl and its errno
 *   DEVICE_HOTPLUG=                  each HOTPLUG is carried out, however long it takes
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "coverage.h"
#include "mutate.h"
#include "operations.h"

#define JOURNAL_SLOT	8192U
#define JOURNAL_SLOTS	512U
#define REPORT_SECONDS	60

/* What libFuzzer calls. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
				 uint8_t *out, size_t max_size, unsigned int seed);

static struct {
	struct record record[MAX_RECORDS];
	unsigned int first, end;	/* the phase that runs */
	bool last;			/* of the program */
	pthread_barrier_t begins, ends;
} program;

static uint64_t operations, programs, limit_operations;
static int64_t repeat_ms = 100;
static time_t begun, limit_seconds, reported;
static bool has_coverage;
static int journal = -1;

static void report(void)
{
	coverage_take();
	printf("device: %lu operations in %lu programs, %ld s, %u places reached%s\n", operations,
	       programs, time(NULL) - begun, coverage_places(),
	       has_coverage ? "" : " (no KCOV: the inputs are random)");
	fflush(stdout);
	if (getenv("DEVICE_PCS"))
		coverage_write(getenv("DEVICE_PCS"));
}

/* Run the records from @r on that are @number's, at most @max; returns how many. */
static unsigned int run_records(const struct record *r, unsigned int number, unsigned int max)
{
	const struct record *end = &program.record[program.end];
	unsigned int n = 0;

	for (; r < end && n < max; r++) {
		if (r->op == OP_PHASE || r->op == OP_REPEAT || record_thread(r) != number)
			continue;
		operations_run(r, r + 1, end);
		n++;
	}
	return n;
}

/*
 * Run the records that REPEAT @r names, again and again; returns how many. Calls that set a session
 * up take long: the time ends these, the number those that are quick.
 */
static uint64_t repeat(const struct record *r, unsigned int number)
{
	unsigned int times = (r->p[0] & 31U) << (r->p[2] & 7U), max = 1 + (r->p[1] & 7U);
	int64_t begins = operations_now_ms();
	uint64_t n = 0, ran = 1;

	for (; ran && times && operations_now_ms() - begins < repeat_ms; times--) {
		ran = run_records(r + 1, number, max);
		n += ran;
	}
	return n;
}

/* As @number: its records of the present phase. */
static void run_phase(unsigned int number)
{
	const struct record *end = &program.record[program.end];
	uint64_t n = 0;

	for (const struct record *r = &program.record[program.first]; r < end; r++) {
		if (record_thread(r) != number)
			continue;
		n += r->op == OP_REPEAT ? repeat(r, number) : run_records(r, number, 1);
	}
	__atomic_fetch_add(&operations, n, __ATOMIC_RELAXED);
	if (program.last)
		operations_end_thread();
}

static void *thread(void *arg)
{
	unsigned int number = (uintptr_t)arg;

	operations_begin_thread();
	coverage_begin_thread();
	pthread_barrier_wait(&program.ends);
	for (;;) {
		pthread_barrier_wait(&program.begins);
		run_phase(number);
		pthread_barrier_wait(&program.ends);
	}
	return NULL;
}

static uint64_t number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *path = getenv("DEVICE_JOURNAL");

	(void)argc;
	(void)argv;
	if (!operations_init())
		exit(98);
	if (path) {
		journal = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
		if (journal < 0)
			printf("device: no journal: %s cannot be opened\n", path);
	}
	limit_operations = number_of("DEVICE_OPS");
	limit_seconds = number_of("DEVICE_SECONDS");
	if (getenv("DEVICE_REPEAT_MS"))
		repeat_ms = number_of("DEVICE_REPEAT_MS");
	begun = reported = time(NULL);
	pthread_barrier_init(&program.begins, NULL, THREADS);
	pthread_barrier_init(&program.ends, NULL, THREADS);
	coverage_locate();
	coverage_take_everywhere();
	operations_begin_thread();
	has_coverage = coverage_begin_thread();
	if (!has_coverage)
		printf("device: no KCOV: inputs are random\n");
	for (uintptr_t i = 1; i < THREADS; i++) {
		pthread_t unused;

		if (pthread_create(&unused, NULL, thread, (void *)i))
			exit(98);
	}
	pthread_barrier_wait(&program.ends);
	atexit(report);
	return 0;
}

/* Before it runs: a kernel that panics keeps nothing in memory. */
static void write_journal(const uint8_t *data, size_t size)
{
	static struct {
		char magic[8];
		uint64_t number, size;
		char rest[512 - 24];
		uint8_t data[sizeof(program.record)];
	} slot __attribute__((aligned(4096))) = { .magic = "auxfuzz" };

	if (journal < 0)
		return;
	slot.number = programs;
	slot.size = size;
	memcpy(slot.data, data, size);
	if (pwrite(journal, &slot, (512 + size + 511) & ~511UL,
		   (off_t)(programs % JOURNAL_SLOTS) * JOURNAL_SLOT) < 0) {
		printf("device: the journal cannot be written\n");
		journal = -1;
	}
}

static void run_program(unsigned int n)
{
	unsigned int others;

	for (program.first = 0; program.first < n; program.first = program.end) {
		others = 0;
		program.end = program.first;
		do
			others |= record_thread(&program.record[program.end]);
		while (program.record[program.end++].op != OP_PHASE && program.end < n);
		program.last = program.end == n;
		if (others || program.last)
			pthread_barrier_wait(&program.begins);
		run_phase(0);
		if (others || program.last)
			pthread_barrier_wait(&program.ends);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int n = size / sizeof(struct record);
	time_t now = time(NULL);

	if ((limit_seconds && now - begun >= limit_seconds) ||
	    (limit_operations && operations >= limit_operations)) {
		report();
		/* libFuzzer takes exit() for a crash. */
		_exit(0);
	}
	if (now - reported >= REPORT_SECONDS) {
		reported = now;
		report();
	}
	if (n > MAX_RECORDS)
		return -1;
	if (!n) {
		/* What libFuzzer begins with, if there is no corpus: it must find something new. */
		coverage_result(OPERATIONS, 0, 0);
		return 0;
	}
	write_journal(data, size);
	memcpy(program.record, data, n * sizeof(struct record));
	for (unsigned int i = 0; i < n; i++)
		program.record[i].op %= OPERATIONS;
	programs++;
	run_program(n);
	coverage_take_everywhere();
	operations_end(operations_want_reload() && !(programs % 16));
	coverage_take();
	coverage_take_everywhere();
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutate(data, size, max_size, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
				 uint8_t *out, size_t max_size, unsigned int seed)
{
	return cross_over(a, a_size, b, b_size, out, max_size, seed);
}
