// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/tool.h"
#include "protobuf.h"

enum wire_type { VARINT = 0, LEN = 2 };

static void append(struct protobuf *m, const void *data, size_t size)
{
	if (m->size + size > m->space) {
		m->space = 2 * m->space + size + 64;
		m->data = xrealloc(m->data, m->space);
	}
	if (size)
		memcpy(m->data + m->size, data, size);
	m->size += size;
}

/* Seven bits a byte, lowest first; the highest bit says that more follow. */
static void append_varint(struct protobuf *m, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n] = value & 0x7f;
		value >>= 7;
		bytes[n++] |= value ? 0x80 : 0;
	} while (value);
	append(m, bytes, n);
}

static void append_tag(struct protobuf *m, unsigned int field, enum wire_type type)
{
	append_varint(m, (uint64_t)field << 3 | type);
}

void protobuf_number(struct protobuf *m, unsigned int field, uint64_t value)
{
	append_tag(m, field, VARINT);
	append_varint(m, value);
}

static void append_bytes(struct protobuf *m, unsigned int field, const void *data, size_t size)
{
	append_tag(m, field, LEN);
	append_varint(m, size);
	append(m, data, size);
}

void protobuf_string(struct protobuf *m, unsigned int field, const char *text)
{
	append_bytes(m, field, text, strlen(text));
}

void protobuf_message(struct protobuf *m, unsigned int field, struct protobuf *inner)
{
	append_bytes(m, field, inner->data, inner->size);
	inner->size = 0;
}

void protobuf_free(struct protobuf *m)
{
	free(m->data);
	*m = (struct protobuf){ 0 };
}
