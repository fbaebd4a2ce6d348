/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs of the guest, as 64-bit masks: bit n is CPU n. */
#ifndef VM_CPU_H
#define VM_CPU_H

#include <stdint.h>

uint64_t cpus_online(void);
static inline unsigned int cpus_count(uint64_t cpus)
{
	return __builtin_popcountll(cpus);
}

/* The lowest CPU of a set that is not empty. */
static inline int cpus_first(uint64_t cpus)
{
	return __builtin_ctzll(cpus);
}

static inline int cpus_last(uint64_t cpus)
{
	return 63 - __builtin_clzll(cpus);
}

/* Put the calling thread on @cpu; 0 or a negative errno. */
int cpu_pin(int cpu);
/* Let the calling thread run on every online CPU again. */
void cpu_unpin(void);

/* Through sysfs; 0 or a negative errno. As a rule the boot CPU has no such file: -ENOENT. */
int cpu_set_online(int cpu, int online);
/* Bring online every CPU that cpu_set_online() took offline; 0, or -1 with a message. */
int cpus_restore(void);

/* All non-maskable interrupts that @cpu has taken; 0 if the number cannot be read. */
uint64_t cpu_nmis(int cpu);

static inline uint64_t read_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

#endif
