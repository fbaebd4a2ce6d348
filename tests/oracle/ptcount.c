// SPDX-License-Identifier: GPL-2.0
/*
 * ptcount PERF.DATA IMAGE...: decodes the Intel PT of a perf.data file with
 * libipt's instruction decoder and prints "instructions N errors N".
 *
 * An IMAGE is an ELF file whose executable segments lie at their own addresses:
 * a static program, or the kcore that `perf record --kcore` keeps. Nothing of
 * perf's own decoder is in the way.
 *
 * The format is the one of tools/perf/Documentation/perf.data-file-format.txt.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intel-pt.h>

#define MAX_QUEUES 64
#define RECORD_AUXTRACE 71	/* PERF_RECORD_AUXTRACE */
#define SHOWN_ERRORS 5

struct file {
	uint8_t *bytes;
	uint64_t size;
};

struct data_header {
	char magic[8];
	uint64_t size, attr_size;
	uint64_t attrs_offset, attrs_size;
	uint64_t data_offset, data_size;
};

struct auxtrace {
	uint32_t type;
	uint16_t misc, header_size;
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu, reserved;
};

/* The trace of one AUX area, in the order in which perf wrote it. */
struct queue {
	uint8_t *bytes;
	uint64_t size;
};

struct totals {
	uint64_t instructions, errors;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "ptcount: %s: %s\n", what, why);
	exit(2);
}

static struct file load(const char *path)
{
	struct file f = { 0 };
	FILE *in = fopen(path, "rb");
	long size;

	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) < 0)
		die(path, strerror(errno));
	rewind(in);
	f.size = size;
	f.bytes = malloc(f.size + 1);
	if (!f.bytes || fread(f.bytes, 1, f.size, in) != f.size)
		die(path, "cannot be read whole");
	fclose(in);
	return f;
}

static void append(struct queue *q, const uint8_t *bytes, uint64_t size)
{
	q->bytes = realloc(q->bytes, q->size + size + 1);
	if (!q->bytes)
		die("trace", strerror(ENOMEM));
	memcpy(q->bytes + q->size, bytes, size);
	q->size += size;
}

static void collect(const char *path, struct queue queues[MAX_QUEUES])
{
	struct file f = load(path);
	struct data_header h;
	struct auxtrace a;
	uint64_t at, end;

	if (f.size < sizeof(h))
		die(path, "shorter than a perf.data header");
	memcpy(&h, f.bytes, sizeof(h));
	if (memcmp(h.magic, "PERFILE2", sizeof(h.magic)))
		die(path, "not a perf.data file");
	if (h.data_offset > f.size || h.data_size > f.size - h.data_offset)
		die(path, "truncated");
	at = h.data_offset;
	end = at + h.data_size;
	while (end - at >= 8) {
		uint64_t left = end - at, trace = 0;

		memset(&a, 0, sizeof(a));
		memcpy(&a, f.bytes + at, left < sizeof(a) ? left : sizeof(a));
		if (a.header_size < 8 || a.header_size > left)
			die(path, "a record without a valid size");
		if (a.type == RECORD_AUXTRACE) {
			trace = a.size;
			if (a.idx >= MAX_QUEUES || trace > left - a.header_size)
				die(path, "an AUXTRACE record out of bounds");
			append(&queues[a.idx], f.bytes + at + a.header_size, trace);
		}
		at += a.header_size + trace;
	}
	free(f.bytes);
}

static void add_image(struct pt_image *image, const char *path)
{
	FILE *in = fopen(path, "rb");
	Elf64_Ehdr e;
	Elf64_Phdr p;
	int error, added = 0;

	if (!in)
		die(path, strerror(errno));
	if (fread(&e, sizeof(e), 1, in) != 1 || memcmp(e.e_ident, ELFMAG, SELFMAG))
		die(path, "not an ELF file");
	for (int i = 0; i < e.e_phnum; i++) {
		if (fseek(in, e.e_phoff + i * sizeof(p), SEEK_SET) ||
		    fread(&p, sizeof(p), 1, in) != 1)
			die(path, "truncated");
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) || !p.p_filesz)
			continue;
		error = pt_image_add_file(image, path, p.p_offset, p.p_filesz, NULL, p.p_vaddr);
		if (error < 0)
			die(path, pt_errstr(pt_errcode(error)));
		added++;
	}
	fclose(in);
	if (!added)
		die(path, "no executable segment");
}

static void report(struct pt_insn_decoder *decoder, const struct pt_insn *insn, int status,
		   struct totals *t)
{
	uint64_t offset = 0;

	if (t->errors++ >= SHOWN_ERRORS)
		return;
	pt_insn_get_offset(decoder, &offset);
	printf("error at trace offset 0x%" PRIx64 ", ip 0x%" PRIx64 ": %s\n", offset, insn->ip,
	       pt_errstr(pt_errcode(status)));
}

/* From a synchronization point, reached with @status, until the end or an error. */
static void decode_stretch(struct pt_insn_decoder *decoder, int status, struct totals *t)
{
	struct pt_insn insn = { 0 };
	struct pt_event event;

	for (;;) {
		while (status >= 0 && (status & pts_event_pending))
			status = pt_insn_event(decoder, &event, sizeof(event));
		if (status >= 0 && (status & pts_eos))
			return;
		if (status >= 0) {
			status = pt_insn_next(decoder, &insn, sizeof(insn));
			if (status >= 0)
				t->instructions++;
		}
		if (status == -pte_eos)
			return;
		if (status < 0) {
			report(decoder, &insn, status, t);
			return;
		}
	}
}

static void decode(const struct queue *q, struct pt_image *image, struct totals *t)
{
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	int status;

	pt_config_init(&config);
	config.begin = q->bytes;
	config.end = q->bytes + q->size;
	config.cpu = (struct pt_cpu) { .vendor = pcv_intel, .family = 6, .model = 94 };
	status = pt_cpu_errata(&config.errata, &config.cpu);
	decoder = status < 0 ? NULL : pt_insn_alloc_decoder(&config);
	if (!decoder || pt_insn_set_image(decoder, image) < 0)
		die("libipt", "no decoder");
	do {
		status = pt_insn_sync_forward(decoder);
		if (status < 0 && status != -pte_eos)
			die("libipt: synchronization", pt_errstr(pt_errcode(status)));
		if (status >= 0)
			decode_stretch(decoder, status, t);
	} while (status >= 0);
	pt_insn_free_decoder(decoder);
}

int main(int argc, char **argv)
{
	struct queue queues[MAX_QUEUES] = { 0 };
	struct pt_image *image = pt_image_alloc("traced");
	struct totals t = { 0 };

	if (argc < 3) {
		fprintf(stderr, "usage: ptcount PERF.DATA IMAGE...\n");
		return 2;
	}
	if (!image)
		die("libipt", "no memory for the image");
	for (int i = 2; i < argc; i++)
		add_image(image, argv[i]);
	collect(argv[1], queues);
	for (int i = 0; i < MAX_QUEUES; i++) {
		if (queues[i].size)
			decode(&queues[i], image, &t);
		free(queues[i].bytes);
	}
	pt_image_free(image);
	printf("instructions %" PRIu64 " errors %" PRIu64 "\n", t.instructions, t.errors);
	return t.errors ? 1 : 0;
}
