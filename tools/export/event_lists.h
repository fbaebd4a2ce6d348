/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of when calls begin and end, one for each thread, which may be longer than memory: of each list only the newest
 * events are in memory, the others in a file without a name, which is gone with the process.
 */
#ifndef EVENT_LISTS_H
#define EVENT_LISTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EVENT_BLOCK	256	/* events that go to the file together: 4 KiB */

struct call_event {
	uint64_t tsc;
	uint32_t function : 31;		/* an index */
	uint32_t ends : 1;
};

/* All zero: it is empty. */
struct event_list {
	struct call_event *newest;	/* those that are not in the file, less than a block after each event_list_add() */
	size_t nr_newest;
	uint32_t *block;		/* the blocks before these: their numbers in the file */
	size_t nr_blocks;
	struct call_event first, last;	/* of all, unless it is empty */
};

/* The file of several lists. */
struct event_lists {
	char *path;			/* the name that it had */
	FILE *file;			/* NULL: there is none yet */
	uint32_t nr_blocks;
	struct call_event block[EVENT_BLOCK];	/* what event_list_block() has read */
};

/* @out: what the command writes. The file is made in its directory; if it is "-", in $TMPDIR or /var/tmp. */
void event_lists_begin(struct event_lists *all, const char *out);
void event_lists_end(struct event_lists *all);

/* Dies with a message if the file cannot be written. */
void event_list_add(struct event_lists *all, struct event_list *list, struct call_event event);
/*
 * The events of @list in order, in so many pieces: from @nr 0 until it returns NULL. @count: how many there are in this
 * one. They stay until the next call.
 */
const struct call_event *event_list_block(struct event_lists *all, const struct event_list *list, size_t nr, size_t *count);
void event_list_free(struct event_list *list);

#endif
