// SPDX-License-Identifier: GPL-2.0-only
#include "packets.h"

#include <string.h>

#include "made.h"

uint8_t stream[1 << 20];
static struct pt_encoder *encoder;
static struct pt_config config;

int packets_begin(void **state)
{
	(void)state;
	memset(stream, 0, sizeof(stream));
	pt_config_init(&config);
	config.begin = stream;
	config.end = stream + sizeof(stream);
	encoder = pt_alloc_encoder(&config);
	return made_begin() || !encoder ? -1 : 0;
}

int packets_end(void **state)
{
	(void)state;
	pt_free_encoder(encoder);
	return made_end();
}

void packet(const struct pt_packet *p)
{
	int status = pt_enc_next(encoder, p);

	if (status < 0)
		fail_msg("packet type %d: %s", p->type, pt_errstr(pt_errcode(status)));
}

void plain(enum pt_packet_type type)
{
	packet(&(struct pt_packet){ .type = type });
}

void ip_packet(enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet p = { .type = type };

	p.payload.ip.ipc = pt_ipc_sext_48;
	p.payload.ip.ip = ip & 0xffffffffffff;
	packet(&p);
}

void suppressed(enum pt_packet_type type)
{
	struct pt_packet p = { .type = type };

	p.payload.ip.ipc = pt_ipc_suppressed;
	packet(&p);
}

void pip(uint64_t cr3)
{
	struct pt_packet p = { .type = ppt_pip };

	p.payload.pip.cr3 = cr3;
	packet(&p);
}

void raw(const void *bytes, size_t size)
{
	uint64_t at = position();

	memcpy(stream + at, bytes, size);
	assert_int_equal(pt_enc_sync_set(encoder, at + size), 0);
}

void tsc(uint64_t value)
{
	struct pt_packet p = { .type = ppt_tsc };

	p.payload.tsc.tsc = value;
	packet(&p);
}

void tnt(const char *bits)
{
	struct pt_packet p = { .type = ppt_tnt_8 };

	for (; *bits; bits++) {
		p.payload.tnt.payload = p.payload.tnt.payload << 1 | (*bits == '!');
		p.payload.tnt.bit_size++;
	}
	packet(&p);
}

void psb(uint64_t cr3, uint64_t time, uint64_t ip)
{
	struct pt_packet p = { .type = ppt_mode };

	plain(ppt_psb);
	if (time)
		tsc(time);
	if (cr3)
		pip(cr3);
	p.payload.mode.leaf = pt_mol_exec;
	p.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
	packet(&p);
	if (ip)
		ip_packet(ppt_fup, ip);
	plain(ppt_psbend);
}

unsigned int libipt_version(void)
{
	struct pt_version version = pt_library_version();

	return version.major * 100 + version.minor;
}

uint64_t position(void)
{
	uint64_t offset = 0;

	pt_enc_get_offset(encoder, &offset);
	return offset;
}

void begin_trace(void)
{
	pt_enc_sync_set(encoder, 0);
}

uint64_t window_packets(uint64_t time)
{
	uint64_t at = position();

	psb(CR3, time, 0);
	ip_packet(ppt_tip_pge, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	return at;
}

const struct cut_packet cut_packets[] = {
	{ { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 }, 16 },	/* PSB */
	{ { 0xcd, 1, 2, 3, 4, 5, 6, 7, 0xff }, 9 },	/* TIP */
	{ { 0x02, 0x43, 1, 2, 3, 4, 5, 6 }, 8 },	/* PIP */
	{ { 0x19, 1, 2, 3, 4, 5, 6, 7 }, 8 },		/* TSC */
	{ { 0x02, 0xa3, 1, 2, 3, 4, 5, 0x80 }, 8 },	/* long TNT */
	{ .size = 0 },
};

void finish_cpu(const char *name)
{
	FILE *f = file(name);

	fwrite(stream, 1, position(), f);
	fclose(f);
	begin_trace();
}

void finish(uint32_t flags, const char *cpu)
{
	write_trace(stream, position(), MACHINE, flags, cpu);
}
