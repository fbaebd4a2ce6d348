// SPDX-License-Identifier: GPL-2.0-only
/*
 * ptcount [OPTION]... PERF.DATA IMAGE...: decodes the Intel PT of a perf.data file with
 * libipt, without perf's decoder. Prints "ptwrite PAYLOAD" for each PTWRITE, in
 * hexadecimal; then statistics of the packets; the number of branches of each kind; and
 * last the result of libipt's instruction decoder: "instructions N errors N".
 *
 *   --pieces    decode each AUXTRACE record separately, for snapshots
 *   --flow CPU  decode this CPU only and print the address of each instruction, and
 *               "# enable", "# disable" and "# error", as flowcmp reads them; before
 *               an HLT, by its opcode, "# hlt"; and the power events, which libipt reports
 *               before the instruction that they are of; the numbers go to stderr
 *   --raw       do not decode: write the trace itself to stdout, queue by queue
 *   --thread TID  this thread only, of a recording per thread
 *   --mtc FREQ:TSC:ART  MTCFreq, and the ratio of the clocks as in the driver's
 *               tsc_art_ratio: compares TMA and MTC with the TSC
 *
 * An IMAGE is an ELF file whose executable segments are at their own addresses: a static
 * program, or the kcore that `perf record --kcore` keeps. FILE@OFFSET+SIZE@ADDRESS is a
 * part of a file at an address, the numbers in hexadecimal.
 *
 * The format is that of tools/perf/Documentation/perf.data-file-format.txt.
 */
#include <elf.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intel-pt.h>

#include "packets.h"

#define MAX_QUEUES 4096
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

/* The trace of one AUX area, in the order in which perf wrote it; or one AUXTRACE record. */
struct queue {
	uint8_t *bytes;
	uint64_t size;
};

struct totals {
	uint64_t instructions, errors;
	uint64_t conditional, indirect, returns;	/* the near branches that make packets */
};

/* The options. */
struct request {
	bool pieces, flow, raw;
	uint32_t cpu;
	uint32_t thread;	/* 0: all */
	struct ctc ctc;
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

static void collect(const char *path, const struct request *want,
		    struct queue queues[MAX_QUEUES])
{
	uint32_t piece = 0, q;
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
			q = want->pieces ? piece++ : a.idx;
			if (q >= MAX_QUEUES || trace > left - a.header_size)
				die(path, "an AUXTRACE record out of bounds");
			if ((!want->flow || a.cpu == want->cpu) &&
			    (!want->thread || a.tid == want->thread))
				append(&queues[q], f.bytes + at + a.header_size, trace);
		}
		at += a.header_size + trace;
	}
	free(f.bytes);
}

/* A mapping of a process: "FILE@OFFSET+SIZE@ADDRESS", the numbers in hexadecimal. */
static bool add_mapping(struct pt_image *image, const char *text)
{
	const char *at = strchr(text, '@');
	uint64_t offset, size, address;
	char path[4096];
	int error;

	if (!at || at - text >= (long)sizeof(path) ||
	    sscanf(at, "@%" SCNx64 "+%" SCNx64 "@%" SCNx64, &offset, &size, &address) != 3)
		return false;
	memcpy(path, text, at - text);
	path[at - text] = 0;
	error = pt_image_add_file(image, path, offset, size, NULL, address);
	if (error < 0)
		die(text, pt_errstr(pt_errcode(error)));
	return true;
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
		   const struct request *want, struct totals *t)
{
	uint64_t offset = 0;

	if (t->errors++ >= SHOWN_ERRORS)
		return;
	pt_insn_get_offset(decoder, &offset);
	printf("%serror at trace offset 0x%" PRIx64 ", ip 0x%" PRIx64 ": %s\n",
	       want->flow ? "# " : "", offset, insn->ip, pt_errstr(pt_errcode(status)));
}

/* CALL or JMP through a register or memory: FF /2 and FF /4 after any prefixes. */
static bool is_indirect(const struct pt_insn *insn)
{
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3,
	};
	unsigned int i = 0, operation;

	while (i < insn->size && (memchr(prefixes, insn->raw[i], sizeof(prefixes)) ||
				  insn->raw[i] >> 4 == 4))
		i++;
	if (i + 1 >= insn->size || insn->raw[i] != 0xff)
		return false;
	operation = insn->raw[i + 1] >> 3 & 7;
	return operation == 2 || operation == 4;
}

static void count(const struct pt_insn *insn, struct totals *t)
{
	t->instructions++;
	t->conditional += insn->iclass == ptic_cond_jump;
	t->returns += insn->iclass == ptic_return;
	t->indirect += (insn->iclass == ptic_call || insn->iclass == ptic_jump) &&
		       is_indirect(insn);
}

static bool is_hlt(const struct pt_insn *insn)
{
	return insn->size == 1 && insn->raw[0] == 0xf4;
}

static void show_event(const struct pt_event *event)
{
	switch (event->type) {
	case ptev_enabled:
		puts("# enable");
		break;
	case ptev_disabled:
	case ptev_async_disabled:
		puts("# disable");
		break;
	case ptev_overflow:
		puts("# overflow");
		break;
	case ptev_mwait:
		printf("# mwait %#x %#x\n", event->variant.mwait.hints, event->variant.mwait.ext);
		break;
	case ptev_pwre:
		printf("# pwre %u %u %u\n", event->variant.pwre.hw, event->variant.pwre.state,
		       event->variant.pwre.sub_state);
		break;
	case ptev_exstop:
		if (event->ip_suppressed)
			puts("# exstop");
		else
			printf("# exstop %016" PRIx64 "\n", event->variant.exstop.ip);
		break;
	case ptev_pwrx:
		printf("# pwrx %u %u %u%u%u\n", event->variant.pwrx.last,
		       event->variant.pwrx.deepest, event->variant.pwrx.autonomous,
		       event->variant.pwrx.store, event->variant.pwrx.interrupt);
		break;
	default:
		break;
	}
}

/* Decodes from a synchronization point, reached with @status, to the end or an error. */
static void decode_from_sync(struct pt_insn_decoder *decoder, int status,
			   const struct request *want, struct totals *t)
{
	struct pt_insn insn = { 0 };
	struct pt_event event;

	for (;;) {
		while (status >= 0 && (status & pts_event_pending)) {
			status = pt_insn_event(decoder, &event, sizeof(event));
			if (status >= 0 && want->flow)
				show_event(&event);
			else if (status >= 0 && event.type == ptev_ptwrite)
				printf("ptwrite 0x%" PRIx64 "\n", event.variant.ptwrite.payload);
		}
		if (status >= 0 && (status & pts_eos))
			return;
		if (status >= 0) {
			status = pt_insn_next(decoder, &insn, sizeof(insn));
			if (status >= 0) {
				count(&insn, t);
				if (want->flow)
					printf("%s%016" PRIx64 "\n", is_hlt(&insn) ? "# hlt\n" : "",
					       insn.ip);
			}
		}
		if (status == -pte_eos)
			return;
		if (status < 0) {
			report(decoder, &insn, status, want, t);
			return;
		}
	}
}

static void configure(struct pt_config *config, const struct queue *q)
{
	int status;

	pt_config_init(config);
	config->begin = q->bytes;
	config->end = q->bytes + q->size;
	config->cpu = (struct pt_cpu) { .vendor = pcv_intel, .family = 6, .model = 94 };
	status = pt_cpu_errata(&config->errata, &config->cpu);
	if (status < 0)
		die("libipt", pt_errstr(pt_errcode(status)));
}

static void decode(const struct queue *q, struct pt_image *image, const struct request *want,
		   struct totals *t)
{
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	int status;

	configure(&config, q);
	decoder = pt_insn_alloc_decoder(&config);
	if (!decoder || pt_insn_set_image(decoder, image) < 0)
		die("libipt", "no decoder");
	do {
		status = pt_insn_sync_forward(decoder);
		if (status < 0 && status != -pte_eos)
			die("libipt: synchronization", pt_errstr(pt_errcode(status)));
		if (status >= 0)
			decode_from_sync(decoder, status, want, t);
	} while (status >= 0);
	pt_insn_free_decoder(decoder);
}

static bool parse_ctc(struct ctc *ctc, const char *text)
{
	return sscanf(text, "%u:%" SCNu64 ":%" SCNu64, &ctc->freq, &ctc->tsc, &ctc->art) == 3 &&
	       ctc->freq < 16 && ctc->tsc && ctc->art;
}

static int usage(void)
{
	fprintf(stderr, "usage: ptcount [--pieces] [--flow CPU] [--raw] [--thread TID] [--mtc FREQ:TSC:ART] "
		"PERF.DATA IMAGE...\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pieces", no_argument, NULL, 'p' },
		{ "flow", required_argument, NULL, 'f' },
		{ "raw", no_argument, NULL, 'r' },
		{ "thread", required_argument, NULL, 't' },
		{ "mtc", required_argument, NULL, 'm' },
		{ 0 },
	};
	static struct queue queues[MAX_QUEUES];
	struct pt_image *image = pt_image_alloc("traced");
	struct request want = { 0 };
	struct totals t = { 0 };
	struct packets packets;
	struct pt_config config;
	FILE *numbers = stdout;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p') {
			want.pieces = true;
		} else if (c == 'r') {
			want.raw = true;
		} else if (c == 'f') {
			want.flow = true;
			want.cpu = strtoul(optarg, NULL, 10);
			numbers = stderr;
		} else if (c == 't') {
			want.thread = strtoul(optarg, NULL, 10);
		} else if (c != 'm' || !parse_ctc(&want.ctc, optarg)) {
			return usage();
		}
	}
	if (argc - optind < 2)
		return usage();
	if (!image)
		die("libipt", "no memory for the image");
	for (int i = optind + 1; i < argc; i++)
		if (!add_mapping(image, argv[i]))
			add_image(image, argv[i]);
	collect(argv[optind], &want, queues);
	packets_begin(&packets);
	for (int i = 0; i < MAX_QUEUES; i++) {
		if (want.raw) {
			if (fwrite(queues[i].bytes, 1, queues[i].size, stdout) != queues[i].size)
				die("stdout", strerror(errno));
		} else if (queues[i].size) {
			configure(&config, &queues[i]);
			packets_add(&packets, &config, &want.ctc);
			decode(&queues[i], image, &want, &t);
		}
		free(queues[i].bytes);
	}
	pt_image_free(image);
	if (want.raw)
		return fflush(stdout) ? 2 : 0;
	packets_print(&packets, numbers);
	fprintf(numbers, "branches conditional %" PRIu64 " indirect %" PRIu64
		" returns %" PRIu64 "\n", t.conditional, t.indirect, t.returns);
	fprintf(numbers, "instructions %" PRIu64 " errors %" PRIu64 "\n",
		t.instructions, t.errors);
	return t.errors ? 1 : 0;
}
