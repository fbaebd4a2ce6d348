// SPDX-License-Identifier: GPL-2.0-only
#include "kernel_case.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userlib/kernel_code.h"

static void expect_the_kernels_code(void)
{
	/* Text; both modules as one; BPF and ftrace code, of which kallsyms lists the first. */
	static const struct {
		uint64_t start, end;
	} expected[] = {
		{ TEXT, TEXT + 0x4000 },
		{ MODULES + 0x1000, MODULES + 0x4000 },
		{ MODULES + 0x10000, MODULES + 0x15000 },
		{ MODULES + 0x18000, MODULES + 0x1c000 },
	};
	const Elf64_Ehdr *eh;
	const Elf64_Phdr *ph;
	size_t size;
	char *elf;

	if (auxtrace_recording_finish(kernel_recording(), NULL))
		fail_msg("%s", auxtrace_error());
	elf = slurp("kcore", &size);
	eh = (const void *)elf;
	assert_memory_equal(eh->e_ident, "\177ELF\2\1\1", 7);
	assert_int_equal(eh->e_phnum, 4);
	ph = (const void *)(elf + eh->e_phoff);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(ph[i].p_type, PT_LOAD);
		assert_int_equal(ph[i].p_flags, PF_R | PF_X);
		assert_int_equal(ph[i].p_vaddr, expected[i].start);
		assert_int_equal(ph[i].p_filesz, expected[i].end - expected[i].start);
		assert_true(ph[i].p_offset + ph[i].p_filesz <= size);
		for (uint64_t at = 0; at < ph[i].p_filesz; at += PAGE)
			assert_int_equal(*(uint32_t *)(elf + ph[i].p_offset + at), page_mark(ph[i].p_vaddr + at));
	}
	free(elf);
}

static void kernel_code_is_recorded_page_for_page(void **state)
{
	(void)state;
	expect_the_kernels_code();
	expect_in("kallsyms", " bpf_prog_1234_x\t[bpf]\n");
	expect_in("modules", "next 4096 1 mod,");
	assert_true(exists("meta"));
}

/* Before Linux 6.4 holes of kcore have what was read before. */
static void holes_are_no_code_whatever_they_have(void **state)
{
	(void)state;
	fake.stale_holes = true;
	expect_the_kernels_code();
}

/* It is like the one before, and is no hole. */
static void two_equal_pages_are_both_code(void **state)
{
	uint32_t mark = page_mark(MODULES + 0x1000);

	(void)state;
	fake.stale_holes = true;
	patch(MODULES + 0x2000, (const char *)&mark, sizeof(mark));
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	expect_code("kcore", MODULES + 0x2000, &mark, sizeof(mark));
}

/* A kcore of nothing but the text and the modules' area, at @start, with its last page in use. */
static void write_large_area(uint64_t text, uint64_t start, uint64_t size)
{
	const Elf64_Phdr ph[] = {
		{ .p_type = PT_LOAD, .p_vaddr = text, .p_offset = 0x1000, .p_memsz = 0x4000 },
		{ .p_type = PT_LOAD, .p_vaddr = start, .p_offset = 0x5000, .p_memsz = size },
	};
	const Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_phoff = sizeof(eh), .e_phnum = 2,
		.e_phentsize = sizeof(ph[0]), .e_ehsize = sizeof(eh),
	};
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/kcore", proc);
	f = fopen(path, "w");
	assert_non_null(f);
	fwrite(&eh, sizeof(eh), 1, f);
	fwrite(ph, sizeof(ph), 1, f);
	fseek(f, 0x5000 + size - 1, SEEK_SET);
	fwrite("\xc3", 1, 1, f);
	fclose(f);
}

#define AREA	0xffffffffc0000000ull
#define HOLE	0x1000000u

/* Is the last page of such an area recorded, if kallsyms has a symbol in its second page, or none? */
static bool last_page_is_recorded(void **state, uint64_t start, uint64_t size, bool symbol)
{
	static const char list[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffffc0001000 t module_function\t[mod]\n";
	unsigned int segments;
	char *elf;

	write_proc("kallsyms", list, symbol ? sizeof(list) - 1 : 52);
	write_large_area(TEXT, start, size);
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	elf = slurp("kcore", &(size_t){ 0 });
	segments = ((const Elf64_Ehdr *)elf)->e_phnum;
	free(elf);
	assert_in_range(segments, 1, 2);
	if (segments == 2)
		expect_code("kcore", start + size - 1, "\xc3", 1);
	assert_int_equal(end_kernel(state), 0);
	assert_int_equal(begin_kernel(state), 0);
	return segments == 2;
}

/* At random addresses the text may be where the area of other kernels begins. */
static void the_text_is_not_the_modules_area_wherever_it_is(void **state)
{
	static const char list[] =
		"ffffffffa0000000 T _stext\n"
		"ffffffffa0003ff0 T _etext\n";

	(void)state;
	write_proc("kallsyms", list, sizeof(list) - 1);
	write_large_area(0xffffffffa0000000, AREA, PAGE);
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	expect_code("kcore", AREA + PAGE - 1, "\xc3", 1);
	expect_code("kcore", 0xffffffffa0003fff, "\0", 1);
}

/* The area is a gigabyte: it is not read where nothing can be. */
static void beyond_a_large_hole_nothing_is_looked_for(void **state)
{
	assert_true(last_page_is_recorded(state, AREA, HOLE, false));
	assert_false(last_page_is_recorded(state, AREA, HOLE + PAGE, false));
	assert_true(last_page_is_recorded(state, AREA, HOLE + PAGE, true));
	assert_false(last_page_is_recorded(state, AREA, HOLE + 2 * PAGE, true));
	/* Those are no areas of modules. */
	assert_false(last_page_is_recorded(state, 0xffffffff7ffff000, PAGE, false));
	assert_false(last_page_is_recorded(state, 0xffffffffff600000, PAGE, false));
	/* That could be. */
	assert_true(last_page_is_recorded(state, 0xffffffff80000000, PAGE, false));
}

/* Either the call fails, or it says that the changes are not known. */
static void expect_allocation_failures(void **state, bool modules)
{
	static const char text[] = "ffffffff81000000 T _stext\nffffffff81003ff0 T _etext\n";
	int unknown = 0, failed = 0;

	for (int n = 1; ; n++) {
		struct auxtrace_totals totals = { 0 };
		struct auxtrace_recording *rec;
		int err = 0;

		if (!modules)
			write_proc("kallsyms", text, sizeof(text) - 1);
		set_up("0", AUXTRACE_SETUP_KERNEL);
		fail_forget();
		fake.fail_alloc = n;
		rec = auxtrace_recording_create(session, dir);
		if (!rec || auxtrace_recording_finish(rec, &totals))
			err = errno;
		if (fake.fail_alloc > 0)
			break;
		if (err) {
			assert_int_equal(err, ENOMEM);
			says("memory");
		} else {
			assert_true(totals.code_changes == AUXTRACE_CHANGES_UNKNOWN);
		}
		unknown += !err;
		failed += !!err;
		assert_int_equal(end_kernel(state), 0);
		assert_int_equal(begin_kernel(state), 0);
	}
	fake.fail_alloc = 0;
	assert_true(unknown > 5);
	assert_true(failed > 5);
	assert_int_equal(end_kernel(state), 0);
	assert_int_equal(begin_kernel(state), 0);
}

static void each_allocation_for_the_kernels_code_may_fail(void **state)
{
	expect_allocation_failures(state, true);
	/* Then the list of symbols grows at others. */
	expect_allocation_failures(state, false);
}

/* Fails with @err and @text, but leaves a recording of all the rest. */
static void expect_kernel_failure(int err, const char *text)
{
	struct auxtrace_recording *rec = kernel_recording();

	produce(0, 10);
	fails(err, auxtrace_recording_finish(rec, NULL));
	says(text);
	assert_true(exists("meta"));
	expect_aux(0, 0, 10);
}

static void what_fails_while_the_kernel_is_read_is_told(void **state)
{
	static const struct {
		int *fail, err;
	} cases[] = {
		{ &fake.fail_alloc, ENOMEM }, { &fake.fail_open, EMFILE }, { &fake.fail_close, ENOSPC },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n, ret = -1;

		for (n = 1; ret; n++) {
			struct auxtrace_recording *rec = kernel_recording();

			*cases[i].fail = n;
			fail_forget();
			errno = 0;
			ret = auxtrace_recording_finish(rec, NULL);
			assert_int_equal(*cases[i].fail > 0, !ret);
			/* Headers of kcore for which there is no memory are not read. */
			assert_true(!ret || errno == cases[i].err || errno == EIO);
			assert_true(!ret || *auxtrace_error());
			end_kernel(state);
			begin_kernel(state);
		}
		/* Several places of each. */
		assert_true(n > 3);
	}
}

/* All are 0, or one of the two that bound the text is missing. */
static void hidden_addresses_are_told(void **state)
{
	static const char *const hidden[] = {
		"0000000000000000 T _stext\n0000000000000000 T _etext\n",
		"ffffffff81003ff0 T _etext\n",
		"ffffffff81000000 T _stext\n",
		"ffffffff81000000 T _stext\nffffffff81000000 T _etext\n",
	};

	for (unsigned int i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
		if (i) {
			assert_int_equal(end_kernel(state), 0);
			assert_int_equal(begin_kernel(state), 0);
		}
		write_proc("kallsyms", hidden[i], strlen(hidden[i]));
		expect_kernel_failure(EACCES, "CAP_SYSLOG");
	}
}

static void lines_that_are_no_symbol_are_passed_over(void **state)
{
	static const char kallsyms[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81002000\n"
		"ffffffff81002000 T\n"
		"ffffffff81003001 T _etext\n"
		"ffffffffa0001000 t module_function\t[mod]\n"
		"ffffffffa0002000 d module_data\t[mod]\n";
	const Elf64_Phdr *ph;
	char *elf;

	(void)state;
	write_proc("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	if (auxtrace_recording_finish(kernel_recording(), NULL))
		fail_msg("%s", auxtrace_error());
	elf = slurp("kcore", NULL);
	ph = (const void *)(elf + sizeof(Elf64_Ehdr));
	assert_int_equal(ph->p_vaddr, TEXT);
	assert_int_equal(ph->p_memsz, 0x4000);
	free(elf);
}

/* The buffers for them are exactly as long. */
static void the_longest_names_of_symbols_and_modules_fit(void **state)
{
	static const char begin[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffffa0002000 d ";
	char text[sizeof(begin) + 1024], name[600], module[100];

	(void)state;
	memset(name, 'n', sizeof(name));
	memset(module, 'm', sizeof(module));
	snprintf(text, sizeof(text), "%s%.511s\t[%.63s]\n", begin, name, module);
	write_proc("kallsyms", text, strlen(text));
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	expect_in("kallsyms", text);
}

static void a_file_of_proc_that_cannot_be_opened_is_told(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	assert_int_equal(unlink(path), 0);
	expect_kernel_failure(ENOENT, "cannot read /proc/kallsyms: No such file");
	assert_int_equal(end_kernel(state), 0);
	assert_int_equal(begin_kernel(state), 0);
	/* A kernel may lack modules, which is another errno. */
	snprintf(path, sizeof(path), "%s/modules", proc);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("modules", path), 0);
	expect_kernel_failure(ELOOP, "cannot read /proc/modules: Too many levels");
}

/* The recording's directory gets the file descriptor 0. */
static void a_process_without_a_standard_input_records_the_kernel(void **state)
{
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	struct auxtrace_recording *rec;

	(void)state;
	assert_return_code(input, errno);
	set_up("0", AUXTRACE_SETUP_KERNEL);
	/* Its ring would be 0. */
	fake.no_uring = true;
	for (int fails = 1; fails >= 0; fails--) {
		int ret, err;

		close(STDIN_FILENO);
		rec = auxtrace_recording_create(session, dir);
		fake.fail_open = fails;
		ret = rec ? auxtrace_recording_finish(rec, NULL) : 0;
		err = errno;
		assert_return_code(dup2(input, STDIN_FILENO), errno);
		assert_non_null(rec);
		assert_int_equal(ret, -fails);
		assert_int_equal(exists("kallsyms"), !fails);
		if (fails) {
			assert_int_equal(err, EMFILE);
			says("cannot write kallsyms");
		}
	}
	/* Then each file of the kernel's gets it, one after another. */
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	close(STDIN_FILENO);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_return_code(dup2(input, STDIN_FILENO), errno);
	close(input);
	assert_true(exists("modules"));
	assert_true(exists("kcore"));
}

static void a_kernel_without_kcore_is_told(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/kcore", proc);
	assert_int_equal(unlink(path), 0);
	expect_kernel_failure(ENOENT, "cannot open /proc/kcore");
}

/* The kernel refuses a CAP_SYS_RAWIO that is missing and a lockdown with the same errno. */
static void a_kcore_that_lockdown_closes_is_told(void **state)
{
	static const struct { int err; const char *modes, *text; } cases[] = {
		{ EPERM, "none integrity [confidentiality]\n", "locked down in confidentiality mode" },
		{ EPERM, "none [integrity] confidentiality\n", "it needs CAP_SYS_RAWIO" },
		{ EPERM, "[none] integrity confidentiality\n", "it needs CAP_SYS_RAWIO" },
		{ EPERM, "", "it needs CAP_SYS_RAWIO" },
		{ EACCES, "none integrity [confidentiality]\n", "it needs CAP_SYS_RAWIO" },
		{ EPERM, NULL, "it needs CAP_SYS_RAWIO" },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (i) {
			assert_int_equal(end_kernel(state), 0);
			assert_int_equal(begin_kernel(state), 0);
		}
		fake.kcore_errno = cases[i].err;
		if (cases[i].modes)
			write_proc("lockdown", cases[i].modes, strlen(cases[i].modes));
		expect_kernel_failure(cases[i].err, cases[i].text);
	}
}

static void a_kcore_that_is_no_elf_file_is_told(void **state)
{
	static const size_t wrong[] = {
		0, SELFMAG - 1, offsetof(Elf64_Ehdr, e_phentsize), offsetof(Elf64_Ehdr, e_phentsize) + 1,
	};
	char path[128];

	write_proc("kcore", "nonsense", 8);
	expect_kernel_failure(EIO, "is not the ELF file it should be");
	for (unsigned int i = 0; i <= sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(end_kernel(state), 0);
		assert_int_equal(begin_kernel(state), 0);
		snprintf(path, sizeof(path), "%s/kcore", proc);
		if (i < sizeof(wrong) / sizeof(*wrong)) {
			FILE *f = fopen(path, "r+");

			assert_non_null(f);
			assert_int_equal(fseek(f, wrong[i], SEEK_SET), 0);
			putc(1, f);
			fclose(f);
		} else {
			assert_int_equal(truncate(path, sizeof(Elf64_Ehdr) - 1), 0);
		}
		expect_kernel_failure(EIO, "is not the ELF file it should be");
	}
}

/* A read of /proc/kcore may return less than was asked for: small pieces, and all but one byte. */
static void kernel_code_that_is_read_in_pieces_is_whole(void **state)
{
	static const size_t pieces[] = { 1000, 4 * PAGE - 1 };
	static char text[4 * PAGE];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i * 31 + i / 256 + 1;
	for (unsigned int i = 0; i < 2; i++) {
		const Elf64_Ehdr *eh;
		const Elf64_Phdr *ph;
		char *elf;

		patch(TEXT, text, sizeof(text));
		fake.most_read = pieces[i];
		if (auxtrace_recording_finish(kernel_recording(), NULL))
			fail_msg("%s", auxtrace_error());
		elf = slurp("kcore", NULL);
		eh = (const void *)elf;
		ph = (const void *)(elf + eh->e_phoff);
		assert_int_equal(ph->p_vaddr, TEXT);
		assert_int_equal(ph->p_filesz, sizeof(text));
		assert_memory_equal(elf + ph->p_offset, text, sizeof(text));
		free(elf);
		assert_int_equal(end_kernel(state), 0);
		assert_int_equal(begin_kernel(state), 0);
	}
}

/* Write program headers over those of kcore, from the one with that number on. */
static void set_segments(unsigned int first, const Elf64_Phdr *ph, unsigned int count)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/kcore", proc);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, sizeof(Elf64_Ehdr) + first * sizeof(*ph), SEEK_SET), 0);
	assert_int_equal(fwrite(ph, sizeof(*ph), count, f), count);
	fclose(f);
}

/* Of the text there is a part that begins and ends within a page, and of the modules' area a page. */
static void code_that_kcore_has_in_part_is_recorded_in_part(void **state)
{
	static const char kallsyms[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n";
	const Elf64_Phdr parts[] = {
		{ .p_type = PT_LOAD, .p_vaddr = MODULES + 0x2000, .p_offset = 0x4000, .p_memsz = PAGE },
		{ .p_type = PT_LOAD, .p_vaddr = TEXT + 1, .p_offset = 0x22001, .p_memsz = 0x2800 },
		{ .p_type = PT_NULL },
	};
	const Elf64_Ehdr *eh;
	const Elf64_Phdr *ph;
	char *elf;

	(void)state;
	set_segments(0, parts, 3);
	write_proc("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	if (auxtrace_recording_finish(kernel_recording(), NULL))
		fail_msg("%s", auxtrace_error());
	elf = slurp("kcore", NULL);
	eh = (const void *)elf;
	ph = (const void *)(elf + eh->e_phoff);
	assert_int_equal(eh->e_phnum, 2);
	assert_int_equal(ph[1].p_vaddr, MODULES + 0x2000);
	assert_int_equal(ph[1].p_memsz, PAGE);
	assert_int_equal(ph->p_vaddr, TEXT + PAGE);
	assert_int_equal(ph->p_memsz, PAGE);
	assert_int_equal(*(uint32_t *)(elf + ph->p_offset), page_mark(TEXT + PAGE));
	free(elf);
}

/* Parts of its first page, which are no page, or nothing. */
static void a_kcore_without_a_page_of_the_text_is_told(void **state)
{
	static const Elf64_Phdr parts[] = {
		{ .p_type = PT_LOAD, .p_vaddr = TEXT + 1, .p_offset = 0x22001, .p_memsz = 0x800 },
		{ .p_type = PT_LOAD, .p_vaddr = TEXT, .p_offset = 0x22000, .p_memsz = PAGE - 1 },
		{ .p_type = PT_NULL },
	};

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		/* The third header is the text's. */
		set_segments(2, &parts[i], 1);
		expect_kernel_failure(EIO, "/proc/kcore does not have the kernel's text");
		assert_int_equal(end_kernel(state), 0);
		assert_int_equal(begin_kernel(state), 0);
	}
}

static void a_kcore_that_ends_too_early_is_told(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/kcore", proc);
	/* The text is at 0x22000. */
	assert_int_equal(truncate(path, 0x23800), 0);
	expect_kernel_failure(EIO, "cannot read kernel code at 0xffffffff81001800 from /proc/kcore: it ends");
}

static void a_kcore_that_ends_in_its_headers_is_told(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/kcore", proc);
	assert_int_equal(truncate(path, sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) - 1), 0);
	expect_kernel_failure(EIO, "cannot read the program headers of /proc/kcore");
}

static void kernel_code_that_cannot_be_read_is_told(void **state)
{
	(void)state;
	fake.read_errno = EFAULT;
	expect_kernel_failure(EFAULT, "cannot read kernel code at 0xffffffff81000000 from /proc/kcore: Bad address");
}

static void a_kernel_without_modules_has_none(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/modules", proc);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	assert_false(exists("modules"));
	assert_true(exists("kcore"));
}

static void what_is_no_memory_is_no_segment(void **state)
{
	static const struct {
		Elf64_Phdr ph;
		bool has;
	} cases[] = {
		{ { .p_type = PT_LOAD, .p_vaddr = 0x2fff, .p_memsz = 1 }, true },
		{ { .p_type = PT_LOAD, .p_vaddr = 0x3000, .p_memsz = 0x1000 }, false },
		{ { .p_type = PT_LOAD, .p_vaddr = 0x1000, .p_memsz = 0x1001 }, true },
		{ { .p_type = PT_LOAD, .p_vaddr = 0x1000, .p_memsz = 0x1000 }, false },
		{ { .p_type = PT_NOTE, .p_vaddr = 0x2000, .p_memsz = 0x1000 }, false },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* The second one has it. */
		Elf64_Phdr ph[] = { cases[i].ph, { .p_type = PT_LOAD, .p_vaddr = 0x2000, .p_memsz = 0x1000 } };
		const struct kcore kcore = { .ph = ph, .count = 2 }, one = { .ph = ph, .count = 1 };

		assert_ptr_equal(kcore_segment(&kcore, 0x2000, 0x3000), &ph[!cases[i].has]);
		assert_ptr_equal(kcore_segment(&one, 0x2000, 0x3000), cases[i].has ? ph : NULL);
	}
}

/* The first segment is not the area: a note, or not in what modules are loaded to. */
static void the_modules_area_is_memory_in_the_last_2_gib(void **state)
{
	static const Elf64_Phdr others[] = {
		{ .p_type = PT_NOTE, .p_vaddr = MODULES, .p_offset = 0x2000, .p_memsz = PAGE },
		{ .p_type = PT_LOAD, .p_vaddr = 0xffffffff7ffff000, .p_offset = 0x2000, .p_memsz = PAGE },
		{ .p_type = PT_LOAD, .p_vaddr = 0xffffffff7fffffff, .p_offset = 0x2000, .p_memsz = PAGE },
		{ .p_type = PT_LOAD, .p_vaddr = 0xffffffffff600000, .p_offset = 0x2000, .p_memsz = PAGE },
	};
	static const Elf64_Phdr area = {
		.p_type = PT_LOAD, .p_vaddr = MODULES, .p_offset = 0x2000, .p_memsz = 0x20000,
	};

	for (unsigned int i = 0; i < sizeof(others) / sizeof(*others); i++) {
		set_segments(0, &others[i], 1);
		set_segments(1, &area, 1);
		expect_the_kernels_code();
		assert_int_equal(end_kernel(state), 0);
		assert_int_equal(begin_kernel(state), 0);
	}
}

/* Of a kernel without modules, whose symbols are none but the text's. */
static int read_code(struct kernel_code *code)
{
	code->stext = TEXT;
	code->etext = TEXT + 0x3ff0;
	return kernel_code_read(code);
}

/* A page that reads as the previous one is read again. */
static void each_read_of_kcore_may_fail(void **state)
{
	int ret = -1, n;

	(void)state;
	fake.stale_holes = true;
	for (n = 0; ret; n++) {
		struct kernel_code code = { 0 };

		fake.fail_read = n + 1;
		fail_forget();
		errno = 0;
		ret = read_code(&code);
		assert_int_equal(fake.fail_read > 0, !ret);
		if (ret) {
			assert_int_equal(ret, -1);
			assert_int_equal(errno, EIO);
			says("cannot read kernel code at");
		} else {
			assert_int_equal(code.nr_ranges, 4);
		}
		kernel_code_free(&code);
	}
	/* The text, its first page, the area's 32, and some again. */
	assert_true(n > 34);
}

/* The search ends so far behind the last symbol of the area. */
static void symbols_of_the_area_say_how_far_it_is_searched(void **state)
{
	const uint64_t end = AREA + HOLE + PAGE;
	const struct {
		uint64_t symbols[2];
		bool last_page;
	} cases[] = {
		{ { AREA, AREA }, false },
		{ { AREA + 1, AREA }, true },
		{ { AREA, AREA + 1 }, true },
		{ { AREA, AREA - 1 }, false },
		{ { AREA, end }, false },
		{ { AREA, end - 1 }, true },
		{ { AREA, UINT64_MAX }, false },
	};

	(void)state;
	write_large_area(TEXT, AREA, end - AREA);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kernel_code code = { 0 };

		for (unsigned int k = 0; k < 2; k++)
			assert_int_equal(kernel_code_add_symbol(&code, cases[i].symbols[k], true), 0);
		assert_int_equal(read_code(&code), 0);
		assert_int_equal(!!kernel_code_page(&code, end - PAGE), cases[i].last_page);
		kernel_code_free(&code);
	}
}

/* No machine has so many. An ELF file counts its program headers in 16 bits. */
static void code_in_too_many_pieces_is_refused(void **state)
{
	struct kernel_code code = { .nr_ranges = PN_XNUM };

	(void)state;
	fails(EOVERFLOW, kernel_code_write(&code, -1));
	says("in 65535 pieces: an ELF file has at most 65534");
}

/* The file's header has 64 bytes, each of a segment 56. */
static void headers_that_fill_a_page_are_followed_by_the_code(void **state)
{
	static uint8_t page[PAGE];
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct kernel_code code = { 0 };
	const Elf64_Phdr *ph;
	size_t size;
	char *elf;

	(void)state;
	assert_return_code(dirfd, errno);
	memset(page, 0x90, sizeof(page));
	for (uint64_t i = 0; i < (PAGE - 64) / 56; i++) {
		const struct code_range range = {
			.start = TEXT + 2 * i * PAGE, .end = TEXT + (2 * i + 1) * PAGE, .bytes = page,
		};

		assert_int_equal(kernel_code_add_range(&code, &range), 0);
	}
	assert_int_equal(kernel_code_write(&code, dirfd), 0);
	close(dirfd);
	elf = slurp("kcore", &size);
	ph = (const void *)(elf + sizeof(Elf64_Ehdr));
	assert_int_equal(size, (1 + code.nr_ranges) * PAGE);
	assert_int_equal(ph->p_offset, PAGE);
	assert_memory_equal(elf + PAGE, page, PAGE);
	kernel_code_free(&code);
	free(elf);
}

#define k(f) cmocka_unit_test_setup_teardown(f, begin_kernel, end_kernel)

int main(void)
{
	const struct CMUnitTest tests[] = {
		k(kernel_code_is_recorded_page_for_page),
		k(holes_are_no_code_whatever_they_have),
		k(two_equal_pages_are_both_code),
		k(what_fails_while_the_kernel_is_read_is_told),
		k(hidden_addresses_are_told),
		k(lines_that_are_no_symbol_are_passed_over),
		k(the_longest_names_of_symbols_and_modules_fit),
		k(a_file_of_proc_that_cannot_be_opened_is_told),
		k(a_process_without_a_standard_input_records_the_kernel),
		k(a_kernel_without_kcore_is_told),
		k(a_kcore_that_lockdown_closes_is_told),
		k(a_kcore_that_is_no_elf_file_is_told),
		k(kernel_code_that_is_read_in_pieces_is_whole),
		k(code_that_kcore_has_in_part_is_recorded_in_part),
		k(a_kcore_without_a_page_of_the_text_is_told),
		k(a_kcore_that_ends_too_early_is_told),
		k(a_kcore_that_ends_in_its_headers_is_told),
		k(kernel_code_that_cannot_be_read_is_told),
		k(a_kernel_without_modules_has_none),
		k(the_text_is_not_the_modules_area_wherever_it_is),
		k(beyond_a_large_hole_nothing_is_looked_for),
		k(each_allocation_for_the_kernels_code_may_fail),
		k(code_in_too_many_pieces_is_refused),
		k(headers_that_fill_a_page_are_followed_by_the_code),
		k(what_is_no_memory_is_no_segment),
		k(the_modules_area_is_memory_in_the_last_2_gib),
		k(each_read_of_kcore_may_fail),
		k(symbols_of_the_area_say_how_far_it_is_searched),
	};

	return cmocka_run_group_tests_name("userlib kernel code", tests, NULL, NULL);
}
