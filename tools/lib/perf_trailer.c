// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdint.h>
#include <string.h>

#include "perf_trailer.h"

union record {
	struct perf_event_header header;
	struct {
		struct perf_event_header header;
		uint64_t addr;
		uint32_t len;
		uint16_t type, flags;
		char name[];	/* with a final 0, filled up with zeros */
	} ksymbol;
	struct {
		struct perf_event_header header;
		uint16_t type, flags;
		uint32_t id;
		uint8_t tag[8];
	} bpf;
	struct {
		struct perf_event_header header;
		uint64_t addr;
		uint16_t old_len, new_len;
		uint8_t bytes[];	/* filled up with zeros */
	} poke;
};

static size_t align(size_t size)
{
	return (size + 7) & ~7ul;
}

/* The size of header and body; SIZE_MAX: the record's size says it. @room: bytes of both, at most */
static size_t size_of(const union record *r, size_t room)
{
	const size_t name = offsetof(union record, ksymbol.name), bytes = offsetof(union record, poke.bytes);

	switch (r->header.type) {
	case PERF_RECORD_KSYMBOL:
		return room < name ? SIZE_MAX : align(name + strnlen(r->ksymbol.name, room - name) + 1);
	case PERF_RECORD_BPF_EVENT:
		return sizeof(r->bpf);
	case PERF_RECORD_TEXT_POKE:
		return room < bytes ? SIZE_MAX : align(bytes + r->poke.old_len + r->poke.new_len);
	default:
		return SIZE_MAX;
	}
}

size_t perf_trailer_at(const struct perf_event_header *header, size_t size)
{
	size_t room = header->size - size, body = size_of((const union record *)header, room);

	return body < room ? body : room;
}
