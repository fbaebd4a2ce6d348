// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "load.h"
#include "pmu.h"
#include "uapi.h"

typedef uint32_t step_fn(uint32_t);

static __attribute__((noinline)) uint32_t step_add(uint32_t x)
{
	return x & 1 ? x * 5 + 3 : x + 77;
}

static __attribute__((noinline)) uint32_t step_shift(uint32_t x)
{
	return x & 2 ? (x >> 3) ^ 0x9e3779b9u : x << 1 | 1;
}

static __attribute__((noinline)) uint32_t step_mix(uint32_t x)
{
	return x ^ x >> 15 ^ x << 7;
}

static __attribute__((noinline)) uint32_t step_nest(uint32_t x)
{
	return step_add(step_mix(x));
}

static step_fn *const volatile steps[] = { step_add, step_shift, step_mix, step_nest };

struct runner {
	pthread_t thread;
	sem_t runs;
	int cpu, err;
	pid_t tid;
};

static struct runner runners[MAX_CPUS];
static unsigned int nr_runners;
static int stop;

void load_run(unsigned int rounds)
{
	static volatile uint32_t result;
	uint32_t x = rounds + 12345;

	if (under_bts())
		rounds = (rounds + BTS_DENSITY - 1) / BTS_DENSITY;
	for (unsigned int i = 0; i < rounds; i++)
		x = steps[(x >> 9 ^ i) & 3](x + i);
	result = x;
	(void)result;
}

uint64_t load_trace(const struct session *s, unsigned int rounds)
{
	assert_int_equal(cpu_pin(s->channel->cpu), 0);
	ok_start(s->fd);
	load_run(rounds);
	ok_stop(s->fd);
	cpu_unpin();
	return channel_status(s->channel).produced;
}

static void *runner_main(void *arg)
{
	struct runner *r = arg;

	r->tid = gettid();
	r->err = cpu_pin(r->cpu);
	sem_post(&r->runs);
	while (!r->err && !__atomic_load_n(&stop, __ATOMIC_RELAXED))
		load_run(1000);
	return NULL;
}

void load_start(int cpu)
{
	struct runner *r = &runners[nr_runners];

	assert_true(nr_runners < MAX_CPUS);
	r->cpu = cpu;
	sem_init(&r->runs, 0, 0);
	if (pthread_create(&r->thread, NULL, runner_main, r))
		fail_msg("no thread for the load on CPU %d", cpu);
	nr_runners++;
	while (sem_wait(&r->runs))
		;
	if (r->err)
		fail_msg("load on CPU %d: %s", cpu, strerror(-r->err));
}

pid_t load_tid(int cpu)
{
	for (unsigned int i = 0; i < nr_runners; i++)
		if (runners[i].cpu == cpu)
			return runners[i].tid;
	fail_msg("no load on CPU %d", cpu);
	return 0;
}

void load_stop_all(void)
{
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	while (nr_runners) {
		struct runner *r = &runners[--nr_runners];

		pthread_join(r->thread, NULL);
		sem_destroy(&r->runs);
	}
	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
}
