/* SPDX-License-Identifier: GPL-2.0-only */
/* The trace of a recording that a test makes: Intel PT packets, by libipt's encoder. */
#ifndef PACKETS_H
#define PACKETS_H

#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

/* The machine of such a trace, in meta. */
#define MACHINE	"cpu_family 6\ncpu_model 94\ncpu_stepping 3\ntsc_art_num 84\n" \
		"tsc_art_den 2\nmax_nonturbo_ratio 32\nconfig 0x400\n"

/* Of libipt: 202 is 2.2. */
unsigned int libipt_version(void);

/* The packets so far, position() bytes. */
extern uint8_t stream[1 << 20];
uint64_t position(void);

/* Set up and tear down a test: with an empty trace, and made.h's directory. */
int packets_begin(void **state);
int packets_end(void **state);

/* Begin an empty trace. */
void begin_trace(void);

/* Add a packet: any; without payload, with an address, or without the address that it could have. */
void packet(const struct pt_packet *p);
void plain(enum pt_packet_type type);
void ip_packet(enum pt_packet_type type, uint64_t ip);
void suppressed(enum pt_packet_type type);
void pip(uint64_t cr3);
void tsc(uint64_t value);
/* One that libipt's encoder does not know: its bytes. */
void raw(const void *bytes, size_t size);
/* '!': taken; any other character: not taken. */
void tnt(const char *bits);
/* PSB+. @cr3, @time, @ip: 0 for none. */
void psb(uint64_t cr3, uint64_t time, uint64_t ip);

/* A window: PSB+, on at ENTRY for one instruction, off again. Returns its offset. */
uint64_t window_packets(uint64_t time);

/*
 * Packets, a zero size behind the last. The end of a full area may cut any of them, and libipt takes bytes of the
 * next window's PSB for the rest.
 */
struct cut_packet {
	uint8_t bytes[16], size;
};
extern const struct cut_packet cut_packets[];

/* Write what was encoded to the file @name, and begin an empty trace. */
void finish_cpu(const char *name);
/* Write what was encoded as cpu 0's trace; @cpu: the rest of its line in meta. */
void finish(uint32_t flags, const char *cpu);

#endif
