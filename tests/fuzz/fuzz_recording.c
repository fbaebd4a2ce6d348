// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for libauxtrace-decode: a recording with damaged files. An input is a list of files, each with the
 * number of its name, a size of two bytes and that many bytes. They replace, or are put behind, those of a recording
 * that is right. Whatever they are, the library decodes, or fails with an errno and a sentence.
 *
 * $FUZZ_FILE: the name of the only file that is damaged, whatever numbers the input has.
 * $FUZZ_DIR: this directory gets the recording of the input, and keeps it; nothing decodes it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <auxtrace-decode.h>

#define MAIN	0x401000ull
#define KERNEL	0xffffffff81000000ull

#define ONLY_THERE	0x80	/* in a file's number: nothing of the right recording is before its bytes */

/* Instructions of tests/unit/tools/made.c: calls, branches, returns, a system call; for the kernel one that returns. */
static const uint8_t code[] = {
	0xe8, 0x0b, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7, 0, 0, 0, 0, 0, 0, 0,
	0x85, 0xc0, 0x74, 0x02, 0x90, 0x90, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0x90, 0x48, 0x0f, 0x07, 0x90, 0x48, 0xcf, 0x90, 0x0f, 0x22, 0xd8, 0xc3,
};

static const uint8_t trace[] = {
	/* PSB, TSC, PIP, MODE.Exec, PSBEND, TIP.PGE to MAIN, TIP to its function */
	2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 0x19, 0xe8, 3, 0, 0, 0, 0, 0,
	2, 0x43, 0, 5, 0, 0, 0, 0, 0x99, 1, 2, 0x23, 0x71, 0, 0x10, 0x40, 0, 0, 0, 0x6d, 0x10, 0x10, 0x40, 0, 0, 0,
};

static const char meta[] =
	"auxtrace_recording 1\nabi 1\ncpu_family 6\ncpu_model 142\ntime_shift 1\ntime_mult 2\ntime_zero 1000000000\n"
	"tsc_khz 1000000\nmono_begin 1000 1000001000\nmono_end 90000 1000090000\n";

static const char task[] =
	"pid 7\ncomm t\ncr3 0x5000\ncr3_mask 0xffffffffff000\nbegin_tsc 0\n"
	"file 4140 0 /prog\nmap 401000-402000 r-xp 00001000 00:00 1   /prog\nvdso 0x7ff000 vdso\njit jit\n";

struct name {
	const char *name;
	const void *right;
	size_t size;
};

static uint8_t elf[0x1000 + sizeof(code)];
_Static_assert(sizeof(elf) == 4140, "as @task says");

static const struct name names[] = {
	{ "meta", meta, sizeof(meta) - 1 },
	{ "cpu0.aux", trace, sizeof(trace) },
	{ "cpu0.data", "", 0 },
	{ "cpu0.samples", "", 0 },
	{ "cpu0.side", "", 0 },
	{ "kcore", elf, sizeof(elf) },
	{ "kallsyms", "ffffffff81000000 T entry\nffffffff81000020 t __switch_to\tmod\n", 58 },
	{ "task.7", task, sizeof(task) - 1 },
	{ "threads", "tsc 1000\n7 7 t\n", 15 },
	{ "prog", elf, sizeof(elf) },
	{ "vdso", elf, sizeof(elf) },
	{ "jit", "DTiJ\1\0\0\0\x28\0\0\0", 12 },
	{ "kcore.changes", "", 0 },
	{ "cpu1.aux", trace, sizeof(trace) },
	{ "task.8", task, sizeof(task) - 1 },
	{ "kcore.added", "added 0xffffffff81000000 1500 2500 1600 90c3 p\n", 47 },
	{ "modules", "mod 4096 0 - Live 0xffffffff81000000\n", 37 },
};

#define NAMES	(sizeof(names) / sizeof(names[0]))

static char dir[128];
static bool damaged[NAMES];	/* this file, by the last input */
static int only = -1;		/* the file that $FUZZ_FILE names; -1: any */

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void make_elf(void)
{
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_EXEC,
		.e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof(eh), .e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
	};
	Elf64_Phdr ph[] = {
		{ .p_type = PT_LOAD, .p_offset = 0x1000, .p_vaddr = MAIN, .p_filesz = sizeof(code) },
		{ .p_type = PT_LOAD, .p_offset = 0x1000, .p_vaddr = KERNEL, .p_filesz = sizeof(code) },
	};

	memcpy(elf, &eh, sizeof(eh));
	memcpy(elf + sizeof(eh), ph, sizeof(ph));
	memcpy(elf + 0x1000, code, sizeof(code));
}

static void leave(void)
{
	char path[128];

	for (unsigned int i = 0; i < NAMES; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i].name);
		unlink(path);
	}
	rmdir(dir);
}

static void put(const struct name *n, bool right, const uint8_t *bytes, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, n->name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0);
	if (right)
		must(write(fd, n->right, n->size) == (ssize_t)n->size);
	must(write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

/* ---- handlers that look at all they are told ---------------------------------------- */

static volatile size_t seen;

static void look(const char *text)
{
	seen += text ? strlen(text) : 0;
}

static void hear(void *context, const char *text)
{
	(void)context;
	must(*text);
	look(text);
}

static int on_call(void *context, struct auxtrace_call *c)
{
	unsigned int depth = 0;

	(void)context;
	look(c->comm);
	look(c->function);
	look(c->object);
	look(c->how);
	for (const struct auxtrace_call *at = c->caller; at; at = at->caller) {
		look(at->function);
		depth++;
	}
	must(depth == c->depth);
	return 0;
}

static int on_line(void *context, struct auxtrace_call *c, const struct auxtrace_source_line *l)
{
	look(l->file);
	look(l->function);
	(void)context, (void)c;
	return 0;
}

static int on_event(void *context, const struct auxtrace_flow_event *e)
{
	(void)context;
	look(e->text);
	return 0;
}

static int on_instruction(void *decoder, const struct auxtrace_instruction *i)
{
	const char *function, *object;
	uint32_t pid, tid;
	uint64_t offset;

	must(i->length && i->length <= 15);
	auxtrace_decoder_name(decoder, i->ip, &function, &offset, &object);
	look(function);
	look(object);
	auxtrace_decoder_thread(decoder, &pid, &tid);
	seen += auxtrace_decoder_time(decoder);
	return 0;
}

static int on_window(void *context, const struct auxtrace_record_window *w)
{
	(void)context;
	seen += w->window;
	return 0;
}

static void expect_reason(void)
{
	must(errno == EBADMSG || errno == ENOENT || errno == EINVAL);
	must(*auxtrace_decoder_error());
}

static void decode(uint32_t flags, uint64_t window, uint64_t begin_ns)
{
	static const struct auxtrace_call_handler calls = {
		.size = sizeof(calls), .begin = on_call, .end = on_call, .line = on_line, .event = on_event,
	};
	static const struct auxtrace_instruction_handler instructions = {
		.size = sizeof(instructions), .instruction = on_instruction, .event = on_event,
	};
	struct auxtrace_decoder_options o = {
		.size = sizeof(o), .flags = flags, .cpu = -1, .window = window, .begin_ns = begin_ns, .symfs = dir,
		.message = hear,
	};
	struct auxtrace_decoder *d = auxtrace_decoder_open(dir, &o);
	int cpu;

	if (!d) {
		expect_reason();
		return;
	}
	for (unsigned int i = 0; i < 4 && (cpu = auxtrace_decoder_cpu(d, i)) >= 0; i++)
		if (auxtrace_decoder_windows(d, cpu, on_window, NULL))
			expect_reason();
	look(auxtrace_decoder_trigger(d, 1));
	if (auxtrace_decode_calls(d, &calls, NULL))
		expect_reason();
	if (auxtrace_decode_instructions(d, &instructions, d))
		expect_reason();
	auxtrace_decoder_close(d);
}

/* The number of $FUZZ_FILE. */
static int only_file(const char *name)
{
	for (unsigned int i = 0; i < NAMES; i++)
		if (!strcmp(names[i].name, name))
			return i;
	fprintf(stderr, "fuzz_recording: no file %s in the recording; there are:", name);
	for (unsigned int i = 0; i < NAMES; i++)
		fprintf(stderr, " %s", names[i].name);
	fputs("\n", stderr);
	_exit(2);
}

static void begin(void)
{
	const char *name = getenv("FUZZ_FILE"), *keep = getenv("FUZZ_DIR");

	if (name)
		only = only_file(name);
	if (keep) {
		snprintf(dir, sizeof(dir), "%s", keep);
	} else {
		snprintf(dir, sizeof(dir), "%s/auxtrace-fuzz.XXXXXX", getenv("TMPDIR") ?: "/tmp");
		must(mkdtemp(dir));
		atexit(leave);
	}
	make_elf();
	memset(damaged, 1, sizeof(damaged));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size ? *data : 0;
	char line[64];

	if (!*dir)
		begin();
	for (unsigned int i = 0; i < NAMES; i++)
		if (damaged[i])
			put(&names[i], true, NULL, 0);
	memset(damaged, 0, sizeof(damaged));
	snprintf(line, sizeof(line), "pmu %u\nflags %u\ncpu 0 windows 1 read 50\n%s", how & 1, how >> 4,
		 how & 2 ? "cpu 1\n" : "");
	put(&names[0], true, (const uint8_t *)line, strlen(line));
	for (size_t at = 1; at + 3 <= size;) {
		size_t length = data[at + 1] | data[at + 2] << 8, n = only >= 0 ? (size_t)only : (data[at] & ~ONLY_THERE) % NAMES;

		if (length > size - at - 3)
			length = size - at - 3;
		damaged[n] = true;
		put(&names[n], !(data[at] & ONLY_THERE), data + at + 3, length);
		at += 3 + length;
	}
	if (!getenv("FUZZ_DIR"))
		decode(how & 4 ? AUXTRACE_DECODER_SAMPLES : 0, how & 0xc ? 0 : how >> 6, how & 8 ? 1000002000 : 0);
	return 0;
}
