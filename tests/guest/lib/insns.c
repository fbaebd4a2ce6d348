// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "insns.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

/* ---- symbols ------------------------------------------------------------------ */

struct symbol {
	uint64_t address;
	const char *name, *module;
};

static struct symbol *symbols;
static size_t nr_symbols;
static char *symbol_text;	/* names point into it */

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The content of a file whose size stat(2) does not tell. */
static char *read_all(const char *path)
{
	size_t len = 0, space = 1 << 20;
	char *text = malloc(space);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	while (text && (n = read(fd, text + len, space - len - 1)) > 0) {
		len += n;
		if (space - len < 65536)
			text = realloc(text, space *= 2);
	}
	close(fd);
	assert_non_null(text);
	text[len] = 0;
	return text;
}

/* Lines are "address type name[\t[module]]". */
static void load_symbols(void)
{
	char *line, *next;
	size_t space = 0;

	symbol_text = read_all("/proc/kallsyms");
	for (line = symbol_text; *line; line = next) {
		char *rest, *module;
		uint64_t address = strtoull(line, &rest, 16);

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		if (!strchr("tTwW", rest[1]) || !address)
			continue;
		if (nr_symbols == space) {
			space = space ? 2 * space : 65536;
			symbols = realloc(symbols, space * sizeof(*symbols));
			assert_non_null(symbols);
		}
		module = strchr(rest + 3, '\t');
		if (module)
			*module++ = 0;
		symbols[nr_symbols++] = (struct symbol){ address, rest + 3, module ? module : "" };
	}
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
	assert_true(nr_symbols > 0);
}

void symbols_forget(void)
{
	free(symbol_text);
	free(symbols);
	symbol_text = NULL;
	symbols = NULL;
	nr_symbols = 0;
}

static const struct symbol *symbol_at(uint64_t ip)
{
	static const struct symbol user = { 0, "(user)", "" };
	size_t low = 0, high;

	if (!(ip >> 63))
		return &user;
	if (!symbols)
		load_symbols();
	high = nr_symbols;
	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (symbols[mid].address <= ip)
			low = mid;
		else
			high = mid;
	}
	return &symbols[low];
}

const char *function_at(uint64_t ip)
{
	return symbol_at(ip)->name;
}

const char *module_at(uint64_t ip)
{
	return symbol_at(ip)->module;
}

/* ---- memory ------------------------------------------------------------------- */

#define PAGE	4096u

static ssize_t read_kernel(void *to, size_t len, uint64_t ip)
{
	static Elf64_Phdr *segments;
	static Elf64_Ehdr head;
	static int fd = -1;

	if (fd < 0) {
		fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(pread(fd, &head, sizeof(head), 0), sizeof(head));
		segments = calloc(head.e_phnum, sizeof(*segments));
		assert_non_null(segments);
		assert_int_equal(pread(fd, segments, head.e_phnum * sizeof(*segments), head.e_phoff),
				 head.e_phnum * sizeof(*segments));
	}
	for (int i = 0; i < head.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && ip - segments[i].p_vaddr < segments[i].p_memsz)
			return pread(fd, to, len, segments[i].p_offset + ip - segments[i].p_vaddr);
	return -1;
}

static ssize_t read_own(void *to, size_t len, uint64_t ip)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	return pread(fd, to, len, ip);
}

/* libipt reads an instruction at a time: keep some pages. */
static struct {
	uint64_t page;
	uint8_t bytes[PAGE];
} cache[64];

static int read_memory(uint8_t *to, size_t len, const struct pt_asid *asid, uint64_t ip,
		       void *context)
{
	unsigned int slot = ip / PAGE % 64;
	size_t in_page = ip % PAGE;

	if (cache[slot].page != ip - in_page) {
		uint64_t page = ip - in_page;

		cache[slot].page = 0;
		if ((page >> 63 ? read_kernel : read_own)(cache[slot].bytes, PAGE, page) != PAGE)
			return -pte_nomap;
		cache[slot].page = page;
	}
	if (len > PAGE - in_page)
		len = PAGE - in_page;
	memcpy(to, cache[slot].bytes + in_page, len);
	return len;
}

/* ---- flow --------------------------------------------------------------------- */

static int drain_events(struct pt_insn_decoder *decoder, int status)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending)
		status = pt_insn_event(decoder, &event, sizeof(event));
	return status;
}

static void note(struct insns *in, size_t *space, uint64_t ip, uint8_t size)
{
	if (in->count == *space) {
		*space = *space ? 2 * *space : 4096;
		in->ip = realloc(in->ip, *space * sizeof(*in->ip));
		in->size = realloc(in->size, *space);
		assert_non_null(in->ip);
		assert_non_null(in->size);
	}
	in->size[in->count] = size;
	in->ip[in->count++] = ip;
}

static void ends_of_branches(struct insns *in, const void *data, size_t len)
{
	const size_t size = sizeof(struct auxtrace_branch);
	struct walk walk = { 0 };
	size_t space = 0;

	memset(in, 0, sizeof(*in));
	trace_walk(&walk, data, len, true);
	if (walk.error)
		in->error = -pte_bad_packet;
	for (size_t at = len % size; at < walk.end; at += size) {
		struct auxtrace_branch b;

		memcpy(&b, (const uint8_t *)data + at, size);
		if (b.from)
			note(in, &space, b.from, 0);
		note(in, &space, b.to, 0);
	}
}

void insns_decode(struct insns *in, const void *data, size_t len)
{
	if (under_bts())
		ends_of_branches(in, data, len);
	else
		insns_decode_packets(in, data, len);
}

void insns_decode_packets(struct insns *in, const void *data, size_t len)
{
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	struct pt_image *image;
	size_t space = 0;
	int status;

	memset(in, 0, sizeof(*in));
	/* Probes come and go: pages that were read for another trace may be stale. */
	memset(cache, 0, sizeof(cache));
	pt_config_init(&config);
	config.begin = (uint8_t *)data;
	config.end = (uint8_t *)data + len;
	image = pt_image_alloc(NULL);
	decoder = pt_insn_alloc_decoder(&config);
	assert_non_null(image);
	assert_non_null(decoder);
	pt_image_set_callback(image, read_memory, NULL);
	pt_insn_set_image(decoder, image);

	status = pt_insn_sync_forward(decoder);
	while (status >= 0) {
		struct pt_insn insn = { 0 };

		status = drain_events(decoder, status);
		if (status < 0 || status & pts_eos)
			break;
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (insn.iclass != ptic_error && insn.ip)
			note(in, &space, insn.ip, insn.size);
		if (status < 0)
			in->error_ip = insn.ip;
	}
	if (status < 0 && status != -pte_eos)
		in->error = status;
	pt_insn_free_decoder(decoder);
	pt_image_free(image);
}

void insns_free(struct insns *in)
{
	free(in->ip);
	free(in->size);
	memset(in, 0, sizeof(*in));
}

bool insns_have(const struct insns *in, const char *pattern)
{
	const char *last = NULL;

	for (size_t i = 0; i < in->count; i++) {
		const char *name = function_at(in->ip[i]);

		if (name != last && !fnmatch(pattern, name, 0))
			return true;
		last = name;
	}
	return false;
}

void insns_print(const struct insns *in, const char *what)
{
	const char *last = NULL;

	print_message("%s: %zu instructions%s%s\n", what, in->count, in->error ? ", then " : "",
		      in->error ? pt_errstr(pt_errcode(in->error)) : "");
	for (size_t i = 0; i < in->count; i++) {
		const char *name = function_at(in->ip[i]);

		if (name != last)
			print_message("  %#llx %s %s\n", (unsigned long long)in->ip[i], name,
				      module_at(in->ip[i]));
		last = name;
	}
}
