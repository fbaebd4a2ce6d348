// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>

#include "file_limit.h"
#include "lib/tool.h"

void file_limit_add(struct file_limit *limit, uint64_t bytes)
{
	uint64_t before = limit->bytes;

	limit->bytes += bytes;
	if (before <= limit->most && limit->bytes > limit->most)
		say("this is more than %" PRIu64 " MiB, and %s; --time, --window, --cpu, --tid, --function and --max-depth export a part",
		    limit->most >> 20, limit->why);
}
