// SPDX-License-Identifier: GPL-2.0-only
/*
 * The emulator has to run changed code as a CPU does: after a CPU knows of a change that
 * another one made, it runs the new code. The kernel's text patching (probes, tracepoints,
 * static calls) depends on that; a stale INT3 leads to address 0.
 */
#include <cpuid.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu.h"
#include "uapi.h"

#define RUNNERS		2u
#define SEEN		1000u	/* changes that each of them must run */

/* mov $imm32, %eax; ret */
struct code {
	uint8_t mov;
	uint32_t imm;
	uint8_t ret;
} __attribute__((packed));

static struct changed {
	struct code *code;		/* the mapping that is run */
	struct code *alias;		/* the mapping that is written */
	uint32_t announced;		/* @code has at least this value */
	bool end;
} changed;

struct runner {
	pthread_t thread;
	int cpu, err;
	uint32_t heard, found;		/* announced before, and returned by, the last run */
	uint32_t seen;			/* number of different values */
	bool wrong;
};

static void *runner_main(void *arg)
{
	uint32_t (*run)(void) = (uint32_t (*)(void))(uintptr_t)changed.code;
	struct runner *r = arg;
	uint32_t a, b, c, d, before;

	r->err = cpu_pin(r->cpu);
	while (!r->err && !__atomic_load_n(&changed.end, __ATOMIC_RELAXED)) {
		before = r->found;
		r->heard = __atomic_load_n(&changed.announced, __ATOMIC_ACQUIRE);
		/* SDM volume 3, "Handling Self- and Cross-Modifying Code": serialize, then run. */
		__cpuid(0, a, b, c, d);
		r->found = run();
		if (r->found < r->heard) {
			__atomic_store_n(&r->wrong, true, __ATOMIC_RELEASE);
			break;
		}
		__atomic_store_n(&r->seen, r->seen + (r->found != before), __ATOMIC_RELAXED);
	}
	return NULL;
}

static bool have_seen(const struct runner *runners, unsigned int count, uint32_t changes)
{
	for (unsigned int i = 0; i < count; i++) {
		const struct runner *r = &runners[i];

		if (__atomic_load_n(&r->wrong, __ATOMIC_ACQUIRE))
			fail_msg("CPU %d ran %u after it had read %u", r->cpu, r->found, r->heard);
		if (__atomic_load_n(&r->seen, __ATOMIC_RELAXED) < changes)
			return false;
	}
	return true;
}

static void changed_code_runs_as_changed(void **state)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	uint64_t cpus = cpus_online();
	static struct runner runners[RUNNERS];
	unsigned int count = 0;
	uint32_t i = 0;
	int fd;

	if (cpus_count(cpus) < 1 + RUNNERS)
		skip_test("fewer than %u CPUs", 1 + RUNNERS);
	fd = memfd_create("code", 0);
	assert_true(fd >= 0);
	at_remember(fd);
	assert_int_equal(ftruncate(fd, size), 0);
	changed.code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	changed.alias = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(changed.code != MAP_FAILED && changed.alias != MAP_FAILED);
	*changed.alias = (struct code){ .mov = 0xb8, .ret = 0xc3 };
	assert_int_equal(cpu_pin(cpus_first(cpus)), 0);
	for (int cpu = cpus_first(cpus) + 1; count < RUNNERS; cpu++)
		if (cpus >> cpu & 1) {
			struct runner *r = &runners[count++];

			r->cpu = cpu;
			assert_int_equal(pthread_create(&r->thread, NULL, runner_main, r), 0);
		}
	while (!have_seen(runners, count, SEEN)) {
		i++;
		/* Through a new mapping, as the kernel does; within one instruction fetch. */
		assert_int_equal(madvise(changed.alias, size, MADV_DONTNEED), 0);
		__atomic_store_n(&changed.alias->imm, i, __ATOMIC_RELAXED);
		__atomic_store_n(&changed.announced, i, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&changed.end, true, __ATOMIC_RELAXED);
	for (unsigned int n = 0; n < count; n++) {
		pthread_join(runners[n].thread, NULL);
		assert_int_equal(runners[n].err, 0);
	}
	assert_true(have_seen(runners, count, SEEN));
	print_message("%u changes\n", i);
	cpu_unpin();
	munmap(changed.code, size);
	munmap(changed.alias, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(changed_code_runs_as_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
