// SPDX-License-Identifier: GPL-2.0
/* auxtrace dump: the packets of one or more trace files. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <intel-pt.h>

#include "decode/records.h"
#include "lib/meta.h"
#include "lib/tool.h"

static const char *const names[] = {
	[ppt_pad] = "pad", [ppt_psb] = "psb", [ppt_psbend] = "psbend", [ppt_fup] = "fup",
	[ppt_tip] = "tip", [ppt_tip_pge] = "tip.pge", [ppt_tip_pgd] = "tip.pgd",
	[ppt_tnt_8] = "tnt.8", [ppt_tnt_64] = "tnt.64", [ppt_mode] = "mode", [ppt_pip] = "pip",
	[ppt_vmcs] = "vmcs", [ppt_cbr] = "cbr", [ppt_tsc] = "tsc", [ppt_tma] = "tma",
	[ppt_mtc] = "mtc", [ppt_cyc] = "cyc", [ppt_stop] = "stop", [ppt_ovf] = "ovf",
	[ppt_mnt] = "mnt", [ppt_exstop] = "exstop", [ppt_mwait] = "mwait", [ppt_pwre] = "pwre",
	[ppt_pwrx] = "pwrx", [ppt_ptw] = "ptw",
};

struct totals {
	uint64_t packets[ARRAY_SIZE(names)];
	uint64_t bytes[ARRAY_SIZE(names)];
	uint64_t branches;		/* BTS */
	uint64_t errors, skipped;	/* bytes before the first PSB or branch, and after errors */
};

static void print_tnt(const struct pt_packet_tnt *tnt)
{
	for (int i = tnt->bit_size - 1; i >= 0; i--)
		putchar(tnt->payload >> i & 1 ? '!' : '.');
}

static void print_ip(const struct pt_packet_ip *ip)
{
	static const int digits[] = {
		[pt_ipc_update_16] = 4, [pt_ipc_update_32] = 8, [pt_ipc_sext_48] = 12,
		[pt_ipc_update_48] = 12, [pt_ipc_full] = 16,
	};

	if (ip->ipc == pt_ipc_suppressed)
		fputs("(suppressed)", stdout);
	else
		printf("%u: %*s%0*" PRIx64, ip->ipc, 16 - digits[ip->ipc], "", digits[ip->ipc], ip->ip);
}

static void print_mode(const struct pt_packet_mode *mode)
{
	if (mode->leaf == pt_mol_exec)
		printf("exec csl=%u csd=%u", mode->bits.exec.csl, mode->bits.exec.csd);
	else
		printf("tsx intx=%u abrt=%u", mode->bits.tsx.intx, mode->bits.tsx.abrt);
}

static void print_payload(const struct pt_packet *p)
{
	switch (p->type) {
	case ppt_tnt_8:
	case ppt_tnt_64:
		print_tnt(&p->payload.tnt);
		break;
	case ppt_fup:
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
		print_ip(&p->payload.ip);
		break;
	case ppt_mode:
		print_mode(&p->payload.mode);
		break;
	case ppt_pip:
		printf("cr3=%" PRIx64 "%s", p->payload.pip.cr3, p->payload.pip.nr ? " nr" : "");
		break;
	case ppt_vmcs:
		printf("base=%" PRIx64, p->payload.vmcs.base);
		break;
	case ppt_cbr:
		printf("ratio=%u", p->payload.cbr.ratio);
		break;
	case ppt_tsc:
		printf("tsc=%" PRIx64, p->payload.tsc.tsc);
		break;
	case ppt_tma:
		printf("ctc=%x fc=%x", p->payload.tma.ctc, p->payload.tma.fc);
		break;
	case ppt_mtc:
		printf("ctc=%x", p->payload.mtc.ctc);
		break;
	case ppt_cyc:
		printf("cycles=%" PRIu64, p->payload.cyc.value);
		break;
	case ppt_mnt:
		printf("payload=%" PRIx64, p->payload.mnt.payload);
		break;
	case ppt_exstop:
		printf("ip=%u", p->payload.exstop.ip);
		break;
	case ppt_mwait:
		printf("hints=%x ext=%x", p->payload.mwait.hints, p->payload.mwait.ext);
		break;
	case ppt_pwre:
		printf("c%u.%u%s", p->payload.pwre.state, p->payload.pwre.sub_state,
		       p->payload.pwre.hw ? " hw" : "");
		break;
	case ppt_pwrx:
		printf("last=c%u deepest=c%u", p->payload.pwrx.last, p->payload.pwrx.deepest);
		break;
	case ppt_ptw:
		printf("payload=%" PRIx64 "%s", p->payload.ptw.payload, p->payload.ptw.ip ? " ip" : "");
		break;
	default:
		break;
	}
}

static void print_packet(uint64_t offset, const struct pt_packet *p)
{
	char name[16];

	printf("%012" PRIx64 "  ", offset);
	if ((size_t)p->type >= ARRAY_SIZE(names) || !names[p->type]) {
		snprintf(name, sizeof(name), "type %d", p->type);
		puts(name);
		return;
	}
	fputs(names[p->type], stdout);
	switch (p->type) {
	case ppt_pad:
	case ppt_psb:
	case ppt_psbend:
	case ppt_stop:
	case ppt_ovf:
		break;
	default:
		printf("%*s", (int)(9 - strlen(names[p->type])), "");
		print_payload(p);
	}
	putchar('\n');
}

/* One file behind its @pad bytes. After a packet that cannot be read, on to the next PSB. */
static void dump_packets(const struct mapped *aux, size_t pad, bool print, struct totals *t)
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	uint64_t offset = 0, at;
	int status;

	if (aux->size <= pad)
		return;
	pt_config_init(&config);
	config.begin = aux->data + pad;
	config.end = aux->data + aux->size;
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		die(1, "out of memory");
	while ((status = pt_pkt_sync_forward(decoder)) >= 0) {
		struct pt_packet packet;

		pt_pkt_get_offset(decoder, &at);
		t->skipped += at - offset;
		if (print && at != offset)
			printf("%012" PRIx64 "  # %" PRIu64 " bytes before a psb\n", offset, at - offset);
		for (;;) {
			pt_pkt_get_offset(decoder, &offset);
			status = pt_pkt_next(decoder, &packet, sizeof(packet));
			if (status < 0)
				break;
			if ((size_t)packet.type < ARRAY_SIZE(names)) {
				t->packets[packet.type]++;
				t->bytes[packet.type] += packet.size;
			}
			if (print)
				print_packet(offset, &packet);
		}
		if (status == -pte_eos)
			break;
		t->errors++;
		if (print)
			printf("%012" PRIx64 "  # error: %s\n", offset, pt_errstr(pt_errcode(status)));
	}
	/* A packet that the end cuts off, or no PSB at all. */
	t->skipped += aux->size - pad - offset;
	if (print && aux->size - pad != offset)
		printf("%012" PRIx64 "  # %zu bytes are no whole packet\n", offset,
		       (size_t)(aux->size - pad - offset));
	pt_pkt_free_decoder(decoder);
}

static void print_totals(const struct totals *t, bool bts)
{
	uint64_t packets = 0, bytes = 0;

	if (bts) {
		printf("branches: %" PRIu64 "\nbytes: %" PRIu64 "\nbytes not decoded: %" PRIu64 "\nerrors: 0\n",
		       t->branches, t->branches * (uint64_t)sizeof(struct auxtrace_branch), t->skipped);
		return;
	}
	printf("%-10s %12s %14s\n", "packet", "count", "bytes");
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		if (!t->packets[i])
			continue;
		printf("%-10s %12" PRIu64 " %14" PRIu64 "\n", names[i], t->packets[i], t->bytes[i]);
		packets += t->packets[i];
		bytes += t->bytes[i];
	}
	printf("%-10s %12" PRIu64 " %14" PRIu64 "\n", "all", packets, bytes);
	printf("bytes not decoded: %" PRIu64 "\nerrors: %" PRIu64 "\n", t->skipped, t->errors);
}

/* One file of BTS, whose first byte behind the padding is at AUX position @begin. */
static void dump_branches(const struct mapped *aux, size_t pad, uint64_t begin, bool print, struct totals *t)
{
	uint64_t left = aux->size > pad ? aux->size - pad : 0, skip = auxtrace_branch_next(begin) - begin;
	struct auxtrace_branch branch;

	if (skip > left)
		skip = left;
	t->skipped += skip;
	for (left -= skip; left >= sizeof(branch); left -= sizeof(branch)) {
		memcpy(&branch, aux->data + aux->size - left, sizeof(branch));
		t->branches++;
		if (print)
			printf("%012" PRIx64 "  branch   from=%016" PRIx64 " to=%016" PRIx64 " flags=%" PRIx64 "\n",
			       (uint64_t)(aux->size - left), (uint64_t)branch.from, (uint64_t)branch.to,
			       (uint64_t)branch.flags);
	}
	t->skipped += left;
}

static void dump_file(const char *path, uint32_t pmu, size_t pad, uint64_t begin, bool print,
		      struct totals *t)
{
	struct mapped aux;
	int err = map_file(path, false, &aux);

	if (err)
		die(1, "cannot read %s: %s", path, strerror(-err));
	if (pmu == AUXTRACE_PMU_INTEL_BTS)
		dump_branches(&aux, pad, begin, print, t);
	else
		dump_packets(&aux, pad, print, t);
	unmap_file(&aux);
}

static void dump_records(const char *dir, const struct meta_cpu *cpu)
{
	struct records records;

	records_read(&records, dir, cpu);
	records_print(&records);
	records_free(&records);
}

static void usage(FILE *f)
{
	fputs("usage: auxtrace dump [OPTION]... [DIR|FILE]\n\n"
	      "Show the packets of a recording (DIR, by default auxtrace.data) or of a file of\n"
	      "raw Intel PT, one a line: offset, name, payload. TNT bits: ! taken, . not.\n"
	      "Of BTS the branches: offset, from, to, flags.\n"
	      "Before the packets of a CPU come the records of its data ring, if it had one:\n"
	      "# CPU TSC kind ..., for windows with their causes and whether they are whole.\n\n"
	      "  -C, --cpu N    this CPU of the recording only\n"
	      "  -r, --records  records only\n"
	      "  -s, --summary  counts by kind of packet, instead of the packets\n"
	      "      --source SOURCE   what FILE is of: pt (the default) or bts\n"
	      "  -h, --help     this text\n\n"
	      "Exit status: 0; 1 packets that cannot be read, or a file; 2 wrong usage.\n", f);
}

int cmd_dump(int argc, char **argv)
{
	enum { SOURCE = 256 };
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'C' },
		{ "summary", no_argument, NULL, 's' },
		{ "records", no_argument, NULL, 'r' },
		{ "source", required_argument, NULL, SOURCE },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct totals totals = { 0 };
	const char *path, *source = NULL;
	uint32_t pmu = AUXTRACE_PMU_INTEL_PT;
	bool summary = false, records = false;
	struct stat st;
	int cpu = -1, c;

	while ((c = getopt_long(argc, argv, "C:srh", options, NULL)) != -1) {
		switch (c) {
		case 'C':
			cpu = parse_number("--cpu", optarg, 0, MAX_CPU);
			break;
		case 's':
			summary = true;
			break;
		case 'r':
			records = true;
			break;
		case SOURCE:
			source = optarg;
			pmu = parse_source(source);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	path = meta_argument(argc, argv);
	if (stat(path, &st))
		die(1, "cannot read %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode)) {
		struct meta *meta = meta_read(path);
		bool found = false;

		if (source && meta->pmu != pmu)
			die(EXIT_USAGE, "--source %s: %s is of the other one, and says so itself", source, path);
		pmu = meta->pmu;
		for (unsigned int i = 0; i < meta->nr_cpus; i++) {
			char file[4200];

			if (cpu >= 0 && meta->cpu[i].cpu != (unsigned int)cpu)
				continue;
			found = true;
			snprintf(file, sizeof(file), "%s/cpu%u.aux", path, meta->cpu[i].cpu);
			if (!summary) {
				printf("# cpu %u\n", meta->cpu[i].cpu);
				dump_records(path, &meta->cpu[i]);
			}
			if (!records)
				dump_file(file, meta->pmu, meta->cpu[i].pad, meta->cpu[i].begin, !summary, &totals);
		}
		meta_free(meta);
		if (!found)
			die(1, "CPU %d is not in %s", cpu, path);
	} else {
		if (cpu >= 0)
			die(EXIT_USAGE, "--cpu is for a recording; %s is a file", path);
		if (records)
			die(EXIT_USAGE, "--records is for a recording; %s is a file", path);
		dump_file(path, pmu, 0, 0, !summary, &totals);
	}
	if (summary)
		print_totals(&totals, pmu == AUXTRACE_PMU_INTEL_BTS);
	return totals.errors ? 1 : 0;
}
