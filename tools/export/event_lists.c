// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event_lists.h"
#include "lib/tool.h"

_Static_assert(sizeof(struct call_event) == 16, "a block has 4 KiB");

void event_lists_begin(struct event_lists *all, const char *out)
{
	bool to_stdout = !strcmp(out, "-");
	const char *dir = getenv("TMPDIR");

	/* /tmp may be memory. */
	if (to_stdout && asprintf(&all->path, "%s/auxtrace-export.XXXXXX", dir && *dir ? dir : "/var/tmp") < 0)
		out_of_memory();
	if (!to_stdout && asprintf(&all->path, "%s.XXXXXX", out) < 0)
		out_of_memory();
	all->file = NULL;
	all->nr_blocks = 0;
}

void event_lists_end(struct event_lists *all)
{
	if (all->file)
		fclose(all->file);
	free(all->path);
}

static void fail(const struct event_lists *all, const char *what)
{
	/* The file may just be too short. */
	die(1, "cannot %s %s, a temporary file for calls: %s", what, all->path, strerror(errno ? errno : EIO));
}

static void make_file(struct event_lists *all)
{
	int fd = mkostemp(all->path, O_CLOEXEC);

	if (fd < 0)
		fail(all, "make");
	unlink(all->path);
	all->file = fdopen(fd, "w+");
	if (!all->file)
		out_of_memory();
}

static void flush_newest(struct event_lists *all, struct event_list *list)
{
	if (!all->file)
		make_file(all);
	if (fwrite(list->newest, sizeof(*list->newest), EVENT_BLOCK, all->file) != EVENT_BLOCK)
		fail(all, "write");
	list_grow(list->block, list->nr_blocks);
	list->block[list->nr_blocks++] = all->nr_blocks++;
	list->nr_newest = 0;
}

void event_list_add(struct event_lists *all, struct event_list *list, struct call_event event)
{
	if (!list->nr_blocks && !list->nr_newest)
		list->first = event;
	list->last = event;
	/* A short list takes little memory, of which a recording with many threads has many. One with a block has all it needs. */
	if (!list->nr_blocks)
		list_grow(list->newest, list->nr_newest);
	list->newest[list->nr_newest++] = event;
	if (list->nr_newest == EVENT_BLOCK)
		flush_newest(all, list);
}

const struct call_event *event_list_block(struct event_lists *all, const struct event_list *list, size_t nr, size_t *count)
{
	if (nr >= list->nr_blocks) {
		*count = list->nr_newest;
		return nr == list->nr_blocks && *count ? list->newest : NULL;
	}
	errno = 0;
	if (fseeko(all->file, (off_t)list->block[nr] * sizeof(all->block), SEEK_SET))
		fail(all, "read");
	*count = fread(all->block, sizeof(*all->block), EVENT_BLOCK, all->file);
	if (*count != EVENT_BLOCK)
		fail(all, "read");
	return all->block;
}

void event_list_free(struct event_list *list)
{
	free(list->newest);
	free(list->block);
	*list = (struct event_list){ 0 };
}
