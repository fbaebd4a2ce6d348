// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coverage.h"

#define WORDS		(1U << 16)	/* of a thread's buffer of KCOV */
#define PLACES		(1U << 16)	/* a place is 4 bytes of code: 256 KiB a section */
#define RESULTS		(1U << 12)
#define SECTIONS	2U

/*
 * libFuzzer finds the section by this name, and only it reads the counters. A counter is 0 or
 * 1: how often something was reached depends on time, and would make each input look new.
 */
#define COUNTERS __attribute__((used, section("__libfuzzer_extra_counters")))
COUNTERS static uint8_t places[SECTIONS][PLACES];
COUNTERS static uint8_t results[RESULTS];

static uint8_t ever[SECTIONS][PLACES];

static struct section {
	const char *name;
	uint64_t base;
} sections[SECTIONS] = { { ".text", 0 }, { ".text.unlikely", 0 } };

/* everywhere.c: its function, its counters, and where /proc/kcore has them. */
static struct {
	uint64_t function, counters;
	int kcore;
	off_t at;
	uint8_t before[PLACES];
} everywhere = { .kcore = -1 };

static __thread uint64_t *buffer;

static void find_sections(void)
{
	for (unsigned int i = 0; i < SECTIONS; i++) {
		char path[80];
		FILE *f;

		snprintf(path, sizeof(path), "/sys/module/auxtrace/sections/%s", sections[i].name);
		f = fopen(path, "re");
		if (!f || fscanf(f, "%lx", &sections[i].base) != 1)
			sections[i].base = 0;
		if (f)
			fclose(f);
	}
}

static bool find_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[256], name[128], module[64];
	uint64_t address;
	char type;

	everywhere.function = everywhere.counters = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx %c %127s [%63[^]]]", &address, &type, name, module) != 4 ||
		    strcmp(module, "auxtrace"))
			continue;
		if (!strcmp(name, "__sanitizer_cov_trace_pc"))
			everywhere.function = address;
		else if (!strcmp(name, "auxt_places"))
			everywhere.counters = address;
	}
	if (f)
		fclose(f);
	return everywhere.function && everywhere.counters;
}

static bool find_in_kcore(void)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (everywhere.kcore < 0)
		everywhere.kcore = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (pread(everywhere.kcore, &head, sizeof(head), 0) != sizeof(head))
		return false;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		if (pread(everywhere.kcore, &part, sizeof(part),
			  head.e_phoff + i * sizeof(part)) != sizeof(part))
			return false;
		if (part.p_type == PT_LOAD && part.p_vaddr <= everywhere.counters &&
		    everywhere.counters - part.p_vaddr < part.p_memsz) {
			everywhere.at = part.p_offset + (everywhere.counters - part.p_vaddr);
			return true;
		}
	}
	return false;
}

void coverage_locate(void)
{
	find_sections();
	memset(everywhere.before, 0, sizeof(everywhere.before));
	if (!find_symbols() || !find_in_kcore())
		everywhere.counters = 0;
}

bool coverage_begin_thread(void)
{
	int fd;
	void *map;

	if (everywhere.counters)
		return true;
	/* The descriptor stays open for as long as the thread is traced. */
	fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, WORDS))
		return false;
	map = mmap(NULL, WORDS * sizeof(*buffer), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		return false;
	buffer = map;
	return true;
}

static void reached(uint64_t pc)
{
	unsigned int in = SECTIONS;
	uint64_t place;

	for (unsigned int i = 0; i < SECTIONS; i++)
		if (sections[i].base && sections[i].base <= pc &&
		    (in == SECTIONS || sections[i].base > sections[in].base))
			in = i;
	if (in == SECTIONS)
		return;
	place = (pc - sections[in].base) / 4;
	if (place < PLACES) {
		places[in][place] = 1;
		ever[in][place] = 1;
	}
}

void coverage_take(void)
{
	uint64_t n;

	if (!buffer)
		return;
	n = __atomic_load_n(&buffer[0], __ATOMIC_RELAXED);
	for (uint64_t i = 1; i <= n && i < WORDS; i++)
		reached(buffer[i]);
	__atomic_store_n(&buffer[0], 0, __ATOMIC_RELAXED);
}

void coverage_take_everywhere(void)
{
	static uint8_t now[PLACES];

	if (!everywhere.counters ||
	    pread(everywhere.kcore, now, sizeof(now), everywhere.at) != sizeof(now))
		return;
	for (unsigned int i = 0; i < PLACES; i++)
		if (now[i] != everywhere.before[i])
			reached(everywhere.function - 4ULL * i);
	memcpy(everywhere.before, now, sizeof(now));
}

void coverage_result(unsigned int op, unsigned int how, int err)
{
	results[(op * 64 + (how & 3) * 16 + err * 7) % RESULTS] = 1;
}

unsigned int coverage_places(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SECTIONS; i++)
		for (unsigned int k = 0; k < PLACES; k++)
			n += ever[i][k];
	return n;
}

void coverage_write(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return;
	for (unsigned int i = 0; i < SECTIONS; i++)
		for (unsigned int k = 0; k < PLACES; k++)
			if (ever[i][k])
				fprintf(f, "%s %#x\n", sections[i].name, k * 4);
	fclose(f);
}
