/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes protobuf messages: fields of varints, fixed numbers, strings and nested messages, in memory. The
 * encoding is that of protobuf.dev, "Encoding".
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* A message; all zero: it is empty. */
struct protobuf {
	uint8_t *data;
	size_t size, space;
};

void protobuf_number(struct protobuf *m, unsigned int field, uint64_t value);
void protobuf_string(struct protobuf *m, unsigned int field, const char *text);
/* @inner becomes a field of @m, and is empty again. */
void protobuf_message(struct protobuf *m, unsigned int field, struct protobuf *inner);
void protobuf_free(struct protobuf *m);

#endif
