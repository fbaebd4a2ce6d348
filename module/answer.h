/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of user space that an ioctl writes when it can no longer fail. */
#ifndef AUXT_ANSWER_H
#define AUXT_ANSWER_H

#include <linux/types.h>

struct page;

/**
 * struct auxt_answer - pinned memory of user space
 * @pages: the pages; @few unless there are more
 * @nr: number of pages pinned
 * @offset: of the first byte in the first page
 * @few: room for most answers
 */
struct auxt_answer {
	struct page **pages;
	unsigned long nr;
	unsigned int offset;
	struct page *few[2];
};

/* Task context. */
int auxt_answer_pin(struct auxt_answer *answer, u64 user, size_t len);
void auxt_answer_write(const struct auxt_answer *answer, size_t at, const void *from, size_t len);
void auxt_answer_write_array(const struct auxt_answer *answer, size_t index, size_t stride,
			     const void *from, size_t size);
void auxt_answer_unpin(struct auxt_answer *answer);

#endif /* AUXT_ANSWER_H */
