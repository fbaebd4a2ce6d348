/* SPDX-License-Identifier: GPL-2.0 */
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

/* By sysfs; 0 or a negative errno. The boot CPU has no switch as a rule: -ENOENT. */
int cpu_set_online(int cpu, int online);
/* Bring back whatever cpu_set_online() took away; 0, or -1 with a message. */
int cpus_restore(void);

/* Non-maskable interrupts that @cpu has taken, whoever's; 0 if that cannot be read. */
uint64_t cpu_nmis(int cpu);

static inline uint64_t read_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

#endif
