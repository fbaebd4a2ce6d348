// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace dump: the packets of Intel PT. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <intel-pt.h>

#include "lib/tool.h"
#include "source.h"

static const char *const names[] = {
	[ppt_pad] = "pad", [ppt_psb] = "psb", [ppt_psbend] = "psbend", [ppt_fup] = "fup",
	[ppt_tip] = "tip", [ppt_tip_pge] = "tip.pge", [ppt_tip_pgd] = "tip.pgd",
	[ppt_tnt_8] = "tnt.8", [ppt_tnt_64] = "tnt.64", [ppt_mode] = "mode", [ppt_pip] = "pip",
	[ppt_vmcs] = "vmcs", [ppt_cbr] = "cbr", [ppt_tsc] = "tsc", [ppt_tma] = "tma",
	[ppt_mtc] = "mtc", [ppt_cyc] = "cyc", [ppt_stop] = "stop", [ppt_ovf] = "ovf",
	[ppt_mnt] = "mnt", [ppt_exstop] = "exstop", [ppt_mwait] = "mwait", [ppt_pwre] = "pwre",
	[ppt_pwrx] = "pwrx", [ppt_ptw] = "ptw",
};

/* libipt before 2.1 does not know these packets of event trace. */
enum event_packet { CFE, EVD, EVENT_PACKETS };
static const char *const event_names[] = { [CFE] = "cfe", [EVD] = "evd" };

static struct {
	uint64_t packets[ARRAY_SIZE(names)];
	uint64_t bytes[ARRAY_SIZE(names)];
	uint64_t event_packets[EVENT_PACKETS];
	uint64_t errors;
	uint64_t skipped;	/* bytes before the first PSB, and after errors */
} totals;

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

/* The interrupt flag, which libipt 2.0 leaves out, is 0 unless events are traced. */
static void print_mode(const struct pt_packet_mode *mode, const uint8_t *at)
{
	if (mode->leaf == pt_mol_exec)
		printf("exec csl=%u csd=%u%s", mode->bits.exec.csl, mode->bits.exec.csd, at[1] & 4 ? " if" : "");
	else
		printf("tsx intx=%u abrt=%u", mode->bits.tsx.intx, mode->bits.tsx.abrt);
}

static void print_payload(const struct pt_packet *p, const uint8_t *at)
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
		print_mode(&p->payload.mode, at);
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
		printf("cstate=%u sub-cstate=%u%s", p->payload.pwre.state, p->payload.pwre.sub_state,
		       p->payload.pwre.hw ? " hw" : "");
		break;
	case ppt_pwrx:
		printf("last=%u deepest=%u%s%s%s", p->payload.pwrx.last, p->payload.pwrx.deepest,
		       p->payload.pwrx.interrupt ? " interrupt" : "",
		       p->payload.pwrx.store ? " store" : "",
		       p->payload.pwrx.autonomous ? " hw" : "");
		break;
	case ppt_ptw:
		printf("payload=%" PRIx64 "%s", p->payload.ptw.payload, p->payload.ptw.ip ? " ip" : "");
		break;
	default:
		break;
	}
}

static void print_packet(uint64_t offset, const struct pt_packet *p, const uint8_t *at)
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
		print_payload(p, at);
	}
	putchar('\n');
}

/* CFE has four bytes, EVD eleven. Returns the size of the packet, 0 if it is none of these. */
static size_t read_event_packet(const uint8_t *at, size_t left, enum event_packet *what)
{
	size_t size;

	if (left < 2 || at[0] != 0x02 || (at[1] != 0x13 && at[1] != 0x53))
		return 0;
	*what = at[1] == 0x13 ? CFE : EVD;
	size = *what == CFE ? 4 : 11;
	return size <= left ? size : 0;
}

static void print_event_packet(uint64_t offset, enum event_packet what, const uint8_t *at)
{
	static const char *const types[] = {
		NULL, "intr", "iret", "smi", "rsm", "sipi", "init", "vmentry", "vmexit", "vmexit_intr", "shutdown", NULL,
		"uintr", "uiret",
	};
	static const char *const data[] = { "cr2", "vmxq", "vmxr" };
	unsigned int type = what == CFE ? at[2] & 0x1f : at[2] & 0x3f;
	const char *name = NULL;
	uint64_t value;

	if (what == CFE && type < ARRAY_SIZE(types))
		name = types[type];
	else if (what == EVD && type < ARRAY_SIZE(data))
		name = data[type];
	printf("%012" PRIx64 "  %-9s", offset, event_names[what]);
	if (name)
		fputs(name, stdout);
	else
		printf("type %u", type);
	if (what == CFE) {
		printf(" vector=%u%s\n", at[3], at[2] & 0x80 ? " ip" : "");
	} else {
		memcpy(&value, at + 3, sizeof(value));
		printf("=%" PRIx64 "\n", value);
	}
}

/* The packets up to an error or the end. @offset: that of the packet which cannot be read. */
static int dump_packets(struct pt_packet_decoder *decoder, const struct pt_config *config, uint64_t *offset, bool print)
{
	for (;;) {
		const uint8_t *at;
		struct pt_packet packet;
		enum event_packet what;
		size_t size;
		int status;

		pt_pkt_get_offset(decoder, offset);
		at = config->begin + *offset;
		size = read_event_packet(at, config->end - at, &what);
		if (size) {
			totals.event_packets[what]++;
			if (print)
				print_event_packet(*offset, what, at);
			pt_pkt_sync_set(decoder, *offset + size);
			continue;
		}
		status = pt_pkt_next(decoder, &packet, sizeof(packet));
		if (status < 0)
			return status;
		if ((size_t)packet.type < ARRAY_SIZE(names)) {
			totals.packets[packet.type]++;
			totals.bytes[packet.type] += packet.size;
		}
		if (print)
			print_packet(*offset, &packet, at);
	}
}

/* After a packet that cannot be read, go on at the next PSB. */
uint64_t pt_dump(const struct trace_file *file, bool print)
{
	struct pt_packet_decoder *decoder;
	uint64_t offset = 0, at, errors = 0;
	struct pt_config config;
	size_t size;
	int status;

	if (file->size <= file->pad)
		return 0;
	size = file->size - file->pad;
	pt_config_init(&config);
	/* libipt's packet decoder only reads the bytes. */
	config.begin = (uint8_t *)file->data + file->pad;
	config.end = config.begin + size;
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		out_of_memory();
	while ((status = pt_pkt_sync_forward(decoder)) >= 0) {
		pt_pkt_get_offset(decoder, &at);
		/* libipt finds a PSB again whose begin it took for the rest of a packet that was cut. */
		if (at > offset) {
			totals.skipped += at - offset;
			if (print)
				printf("%012" PRIx64 "  # %" PRIu64 " bytes before a psb\n", offset, at - offset);
		}
		status = dump_packets(decoder, &config, &offset, print);
		if (status == -pte_eos)
			break;
		errors++;
		if (print)
			printf("%012" PRIx64 "  # error: %s\n", offset, pt_errstr(pt_errcode(status)));
	}
	/* The end cuts off a packet, or there is no PSB at all. */
	totals.skipped += size - offset;
	if (print && size != offset)
		printf("%012" PRIx64 "  # %zu bytes are no whole packet\n", offset, (size_t)(size - offset));
	pt_pkt_free_decoder(decoder);
	totals.errors += errors;
	return errors;
}

void pt_print_totals(void)
{
	uint64_t packets = 0, bytes = 0;

	printf("%-10s %12s %14s\n", "packet", "count", "bytes");
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		if (!totals.packets[i])
			continue;
		printf("%-10s %12" PRIu64 " %14" PRIu64 "\n", names[i], totals.packets[i], totals.bytes[i]);
		packets += totals.packets[i];
		bytes += totals.bytes[i];
	}
	for (unsigned int i = 0; i < EVENT_PACKETS; i++) {
		uint64_t count = totals.event_packets[i], size = count * (i == CFE ? 4 : 11);

		if (!count)
			continue;
		printf("%-10s %12" PRIu64 " %14" PRIu64 "\n", event_names[i], count, size);
		packets += count;
		bytes += size;
	}
	printf("%-10s %12" PRIu64 " %14" PRIu64 "\n", "all", packets, bytes);
	printf("bytes not decoded: %" PRIu64 "\nerrors: %" PRIu64 "\n", totals.skipped, totals.errors);
}
