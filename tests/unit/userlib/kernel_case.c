// SPDX-License-Identifier: GPL-2.0-only
#include "kernel_case.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char proc[80];

void write_proc(const char *name, const char *text, size_t size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

uint32_t page_mark(uint64_t vaddr)
{
	return vaddr >> 12 & 0xffffffff;
}

static void mark_page(char *page, uint64_t vaddr)
{
	uint32_t mark = page_mark(vaddr);

	memcpy(page, &mark, sizeof(mark));
}

/* Pages of the modules' area with two modules, with BPF programs, and with trampolines. */
static const struct {
	unsigned int start, end;
} used[] = { { 1, 4 }, { 0x10, 0x15 }, { 0x18, 0x1c } };

/* A kcore with the text (4 pages), more behind it, and the modules' area. */
static void write_kcore(void)
{
	const Elf64_Phdr ph[] = {
		{ .p_type = PT_LOAD, .p_vaddr = MODULES, .p_offset = 0x2000, .p_filesz = 0x20000, .p_memsz = 0x20000 },
		{ .p_type = PT_NOTE, .p_vaddr = 0 },
		{ .p_type = PT_LOAD, .p_vaddr = TEXT, .p_offset = 0x22000, .p_filesz = 0x8000, .p_memsz = 0x8000 },
	};
	const Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_phoff = sizeof(eh), .e_phnum = 3,
		.e_phentsize = sizeof(ph[0]), .e_ehsize = sizeof(eh),
	};
	static char image[0x2a000];

	memset(image, 0, sizeof(image));
	memcpy(image, &eh, sizeof(eh));
	memcpy(image + sizeof(eh), ph, sizeof(ph));
	for (uint64_t at = 0; at < ph[2].p_filesz; at += PAGE)
		mark_page(image + ph[2].p_offset + at, TEXT + at);
	for (unsigned int i = 0; i < sizeof(used) / sizeof(*used); i++)
		for (uint64_t at = used[i].start * PAGE; at < used[i].end * PAGE; at += PAGE)
			mark_page(image + ph[0].p_offset + at, MODULES + at);
	/* BPF's memory without programs */
	memset(image + ph[0].p_offset + 0x15 * PAGE, 0xcc, 2 * PAGE);
	write_proc("kcore", image, sizeof(image));
}

int begin_kernel(void **state)
{
	static const char kallsyms[] =
		"000000000001e000 d data_of_each_cpu\t[mod]\n"
		"ffffffff81000000 T _stext\n"
		"ffffffff81001000 t somewhere\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffff81005000 D data\n"
		"ffffffffa0001000 t module_function\t[mod]\n"
		"ffffffffa0002000 d module_data\t[mod]\n"
		"ffffffffa0003000 T next_function\t[next]\n"
		"ffffffffa0010010 t bpf_prog_1234_x\t[bpf]\n"
		"ffffffffa0018000 t ftrace_trampoline\t[__builtin__ftrace]\n"
		"ffffc90000000000 t somewhere_else\t[__builtin__kprobes]\n";
	static const char modules[] =
		"mod 8192 0 - Live 0xffffffffa0001000 (OE)\n"
		"next 4096 1 mod, Live 0xffffffffa0003000\n"
		"hidden 4096 0 - Live 0x0000000000000000\n";

	if (begin_recording(state))
		return -1;
	snprintf(proc, sizeof(proc), "%s.proc", dir);
	mkdir(proc, 0700);
	fake.proc = proc;
	write_proc("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	write_proc("modules", modules, sizeof(modules) - 1);
	write_kcore();
	return 0;
}

int end_kernel(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", proc);
	return system(command) | end_recording(state);
}

struct auxtrace_recording *kernel_recording(void)
{
	return new_recording("0", AUXTRACE_SETUP_KERNEL);
}

struct auxtrace_recording *kernel_flight(void)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0", .config = "tsc", .aux_size = 2 * SIZE, .slots = 2,
		.flags = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE,
	};
	struct auxtrace_recording *rec;

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	return rec;
}

void patch(uint64_t address, const char *bytes, size_t size)
{
	uint64_t offset = address < MODULES ? address - TEXT + 0x22000 : address - MODULES + 0x2000;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/kcore", proc);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, offset, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
}

void expect_code(const char *name, uint64_t address, const void *bytes, size_t count)
{
	const Elf64_Phdr *ph;
	size_t size;
	char *elf = slurp(name, &size);
	bool found = false;

	ph = (const void *)(elf + sizeof(Elf64_Ehdr));
	for (unsigned int i = 0; i < ((const Elf64_Ehdr *)elf)->e_phnum; i++)
		if (address >= ph[i].p_vaddr && address < ph[i].p_vaddr + ph[i].p_filesz) {
			assert_false(found);
			assert_memory_equal(elf + ph[i].p_offset + (address - ph[i].p_vaddr), bytes, count);
			found = true;
		}
	assert_true(found);
	free(elf);
}

void expect_changes(const char *name, const char *expected)
{
	size_t size;
	char *text = slurp(name, &size);

	assert_int_equal(size, strlen(expected));
	assert_memory_equal(text, expected, size);
	free(text);
}
