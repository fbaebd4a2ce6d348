// SPDX-License-Identifier: GPL-2.0-only
#include "made.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const uint8_t program[] = {
	[0x00] = 0xe8, 0x0b, 0, 0, 0,	/* main: call f */
	[0x05] = 0x0f, 0x05,		/* syscall */
	[0x07] = 0xeb, 0xf7,		/* jmp main */
	[0x10] = 0x85, 0xc0,		/* f: test %eax, %eax */
	[0x12] = 0x74, 0x02,		/* je f+6 */
	[0x14] = 0x90, 0x90,		/* nop; nop */
	[0x16] = 0xc3,			/* ret */
	[0x20] = 0xc7, 0xf8, 2, 0, 0, 0, /* try: xbegin try+8 */
	[0x26] = 0x90, 0x90,		/* nop; nop */
	[0x28] = 0xc3,			/* ret */
};

static const uint8_t kernel[] = {
	[0x00] = 0x90,			/* entry: nop */
	[0x01] = 0x48, 0x0f, 0x07,	/* sysretq */
	[0x10] = 0x90,			/* irq: nop */
	[0x11] = 0x48, 0xcf,		/* iretq */
	[0x20] = 0x0f, 0x22, 0xd8,	/* switch: mov %rax, %cr3 */
	[0x23] = 0xc3,			/* ret */
	[0x30] = 0xe8, 0xeb, 0xff, 0xff, 0xff,	/* sched: call switch */
	[0x35] = 0x48, 0xcf,		/* iretq */
	[0x40] = 0xeb, 0xfe,		/* trap: jmp trap */
	[0x50] = 0x90,			/* off: nop */
	[0x51] = 0x0f, 0x30,		/* wrmsr */
	[0x53] = 0x90,			/* nop */
	[0x54] = 0xc3,			/* ret */
	[0x60] = 0x90,			/* asm_fault: nop */
	[0x61] = 0x48, 0xcf,		/* iretq */
};

char dir[64];
static char expected[1 << 20];
static size_t expected_len;

FILE *file(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	return f;
}

/* An ELF file with one segment, and with symbols for a program. */
static void write_elf(FILE *f, uint64_t vaddr, const uint8_t *code, size_t size, bool symbols)
{
	static const char strings[] = "\0main\0f\0";
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab\0";
	Elf64_Sym sym[] = {
		{ 0 },
		{ 1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, MAIN, 9 },
		{ 6, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, F, 7 },
	};
	uint64_t at = 0x1000 + size;
	Elf64_Shdr sh[] = {
		{ 0 },
		{ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = vaddr, .sh_offset = 0x1000, .sh_size = size },
		{ .sh_name = 7, .sh_type = SHT_SYMTAB, .sh_offset = at, .sh_size = sizeof(sym),
		  .sh_link = 3, .sh_entsize = sizeof(sym[0]), .sh_info = 1 },
		{ .sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = at + sizeof(sym), .sh_size = sizeof(strings) },
		{ .sh_name = 23, .sh_type = SHT_STRTAB, .sh_offset = at + sizeof(sym) + sizeof(strings),
		  .sh_size = sizeof(names) },
	};
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x1000, .p_vaddr = vaddr,
			  .p_filesz = size, .p_memsz = size, .p_align = 0x1000 };
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = symbols ? ET_EXEC : ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(eh), .e_ehsize = sizeof(eh), .e_phentsize = sizeof(ph), .e_phnum = 1,
		.e_shoff = symbols ? at + sizeof(sym) + sizeof(strings) + sizeof(names) : 0,
		.e_shentsize = sizeof(sh[0]), .e_shnum = symbols ? 5 : 0, .e_shstrndx = symbols ? 4 : 0,
	};

	fwrite(&eh, sizeof(eh), 1, f);
	fwrite(&ph, sizeof(ph), 1, f);
	while (ftell(f) < 0x1000)
		putc(0, f);
	fwrite(code, size, 1, f);
	if (symbols) {
		fwrite(sym, sizeof(sym), 1, f);
		fwrite(strings, sizeof(strings), 1, f);
		fwrite(names, sizeof(names), 1, f);
		fwrite(sh, sizeof(sh), 1, f);
	}
	fclose(f);
}

void write_program(const char *name)
{
	write_elf(file(name), MAIN, program, sizeof(program), true);
}

void write_code(const char *name)
{
	FILE *f = file(name);

	fwrite(program, sizeof(program), 1, f);
	fclose(f);
}

void write_other_program(const char *name)
{
	uint8_t code[sizeof(program)];

	memcpy(code, program, sizeof(code));
	code[0x15] ^= 1;
	write_elf(file(name), MAIN, code, sizeof(code), true);
}

void write_task(const char *name, uint64_t cr3, uint64_t begin_tsc, const char *path, uint64_t base)
{
	char task[32];
	struct stat st;
	FILE *f;

	snprintf(task, sizeof(task), "task.%s", name);
	f = file(task);
	assert_int_equal(stat(path, &st), 0);
	fprintf(f, "pid %s\ncomm t\n", name);
	if (cr3 == CR3_UNKNOWN)
		fprintf(f, "cr3 unknown\n");
	else
		fprintf(f, "cr3 %#" PRIx64 "\ncr3_mask 0xffffffffff000\n", cr3);
	fprintf(f, "begin_tsc %" PRIu64 "\n", begin_tsc);
	fprintf(f, "file %ld %ld.%09ld %s\n", (long)st.st_size, (long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec, path);
	fprintf(f, "map %" PRIx64 "-%" PRIx64 " r--p 00000000 00:00 1   %s\n", base, base + 0x1000, path);
	fprintf(f, "map %" PRIx64 "-%" PRIx64 " r-xp 00001000 00:00 1   %s\n", base + 0x1000, base + 0x2000, path);
	fclose(f);
}

void write_program_with_lines(const char *code)
{
	char command[512];
	FILE *f = file("lines.s");

	fputs(code, f);
	fclose(f);
	snprintf(command, sizeof(command), "cd %s && as -g -o lines.o lines.s && ld -e main -Ttext=%#llx -o lines lines.o", dir, MAIN);
	assert_int_equal(system(command), 0);
	write_task("100", CR3, 0, program_path("lines"), BASE);
}

char *program_path(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

void write_records(const void *records, size_t size)
{
	FILE *f = file("cpu0.data");

	fwrite(records, 1, size, f);
	fclose(f);
}

void append(const char *name, const char *text)
{
	FILE *f = fopen(program_path(name), "a");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

int made_begin(void)
{
	snprintf(dir, sizeof(dir), "%s/auxtrace-script.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	if (!mkdtemp(dir))
		return -1;
	begin_expected();
	write_program("prog");
	write_task("100", CR3, 0, program_path("prog"), BASE);
	write_elf(file("kcore"), KERNEL, kernel, sizeof(kernel), false);
	fprintf(file("kallsyms"), "%llx T entry\n%llx T irq\n%llx t switch\n%llx T sched\t[mod]\n",
		ENTRY, IRQ, SWITCH, SCHED);
	fflush(NULL);
	return 0;
}

int made_end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

void write_made_meta(const char *machine, uint32_t flags, const char *cpu)
{
	FILE *f = file("meta");

	fprintf(f, "auxtrace_recording 1\nabi 1\n%stime_shift 1\ntime_mult 2\ntime_zero 1000000000\n"
		"tsc_khz 1000000\nflags %u\n%s\n", machine, flags, cpu);
	fclose(f);
}

void write_trace(const void *bytes, size_t size, const char *machine, uint32_t flags, const char *cpu)
{
	FILE *f = file("cpu0.aux");
	char *line;

	fwrite(bytes, 1, size, f);
	fclose(f);
	assert_true(asprintf(&line, "cpu 0 read %zu produced %zu %s", size, size, cpu) > 0);
	write_made_meta(machine, flags, line);
	free(line);
}

void begin_expected(void)
{
	expected_len = 0;
	*expected = 0;
}

void line(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	expected_len += vsnprintf(expected + expected_len, sizeof(expected) - expected_len, format, ap);
	va_end(ap);
	assert_true(expected_len < sizeof(expected) - 1);
	expected[expected_len++] = '\n';
	expected[expected_len] = 0;
}

void insn(uint64_t ip, unsigned int size)
{
	line("%016" PRIx64 " %x", ip, size);
}

void expect_main(uint64_t base, bool taken)
{
	uint64_t main = base + 0x1000;

	insn(main, 5);
	insn(main + 0x10, 2);
	insn(main + 0x12, 2);
	if (!taken) {
		insn(main + 0x14, 1);
		insn(main + 0x15, 1);
	}
	insn(main + 0x16, 1);
	insn(main + 5, 2);
}

void expect_window(int seq)
{
	line("# window %d", seq);
	line("# enable %016llx", ENTRY);
	insn(ENTRY, 1);
	line("# disable -");
}

const struct result *script(const char *options)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "script %s %s", options, dir);
	return run_auxtrace(arguments);
}

void expect_flow(const struct result *r)
{
	if (strcmp(r->out, expected))
		fail_msg("expected:\n%sgot:\n%s%s", expected, r->out, r->err);
}
