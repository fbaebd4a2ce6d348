// SPDX-License-Identifier: GPL-2.0-only
/* Compiled as the module's files are, with the shims of tests/unit/module. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/data_ring.h"
#include "stress_writer.h"

struct stress_count stress_count[LEVELS];
uint64_t stress_nested;
unsigned int stress_rotation;

static struct auxt_data_ring ring;
static pthread_t writer, interrupter;
static volatile bool stopping, stopped;
static void *base;
static size_t base_size;

static struct {
	struct auxtrace_cut *cut;
	uint32_t slot;
} request;

/* NMIs land where signals do, not at marked points. */
void shim_point(void)
{
}

static void write_record(unsigned int level)
{
	uint64_t number = stress_count[level].tried++;
	uint32_t size = stress_size(level, number);
	struct stress_record *record;
	volatile uint64_t *words;

	if (level && ring.nest)
		stress_nested++;
	record = auxt_data_begin(&ring, TYPE + level, size, number, level);
	if (!record) {
		stress_count[level].dropped++;
		return;
	}
	words = (volatile uint64_t *)record;
	words[1] = number;
	for (unsigned int i = 2; i < size / 8 - 2; i++)
		words[i] = stress_word(level, number, i);
	auxt_data_end(&ring);
}

/*
 * On a busy host signals may come as fast as they are handled, and level 0 stays in the middle of
 * its record. Then they write no more: what fills the ring before that record has ended is dropped.
 */
#define MOST_IN_A_ROW	16

static volatile unsigned int in_a_row;

static void handle(int sig)
{
	unsigned int level = sig == SIGUSR1 ? 1 : 2;

	for (unsigned int i = 0; i < 3 && in_a_row < MOST_IN_A_ROW; i++) {
		in_a_row++;
		write_record(level);
	}
}

static void *write_on(void *arg)
{
	u64 begin, end;

	(void)arg;
	for (unsigned int round = 1; !stopping; round++) {
		struct auxtrace_cut *cut = __atomic_load_n(&request.cut, __ATOMIC_ACQUIRE);

		for (unsigned int i = 0; i < 64; i++) {
			write_record(0);
			in_a_row = 0;
		}
		if (stress_rotation && !(round % stress_rotation))
			auxt_data_switch(&ring, round / stress_rotation % 4, &begin, &end);
		if (cut) {
			auxt_data_switch(&ring, request.slot, &begin, &end);
			cut->data_begin = begin;
			cut->data_end = end;
			__atomic_store_n(&request.cut, NULL, __ATOMIC_RELEASE);
		}
	}
	stopped = true;
	return NULL;
}

/* Level 2 may land in level 1, as #DB in an NMI; not the other way round. */
static void *interrupt(void *arg)
{
	(void)arg;
	while (!stopped) {
		pthread_kill(writer, SIGUSR1);
		pthread_kill(writer, SIGUSR2);
		usleep(20);
	}
	return NULL;
}

/* Each slot twice in a row, as the module maps it. */
static void map_slots(const struct auxtrace_setup *setup, int fd)
{
	unsigned int slots = auxt_data_slots(setup);
	size_t size = setup->data_size / slots;

	base_size = 2 * setup->data_size;
	base = mmap(NULL, base_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		abort();
	for (unsigned int i = 0; i < 2 * slots; i++)
		if (mmap((char *)base + i * size, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, i / 2 * size) == MAP_FAILED)
			abort();
}

void stress_start(const struct auxtrace_setup *setup, int data_fd,
		  struct auxtrace_status_page *page, struct auxtrace_user_page *user)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };

	map_slots(setup, data_fd);
	memset(&ring, 0, sizeof(ring));
	auxt_data_init(&ring, setup, base, page, user);
	memset(stress_count, 0, sizeof(stress_count));
	stress_nested = 0;
	stopping = stopped = false;
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(SIGUSR2, &action, NULL);
	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	if (pthread_create(&writer, NULL, write_on, NULL) ||
	    pthread_create(&interrupter, NULL, interrupt, NULL))
		abort();
}

void stress_stop(void)
{
	stopping = true;
	pthread_join(interrupter, NULL);
	pthread_join(writer, NULL);
	munmap(base, base_size);
}

void stress_switch(uint32_t slot, struct auxtrace_cut *cut)
{
	request.slot = slot;
	__atomic_store_n(&request.cut, cut, __ATOMIC_RELEASE);
	while (__atomic_load_n(&request.cut, __ATOMIC_ACQUIRE))
		usleep(1);
}
