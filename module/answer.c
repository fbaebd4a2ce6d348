// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of user space that an ioctl writes when it can no longer fail.
 *
 * An ioctl that has had its effect must not return EFAULT: the ABI promises that a call that fails
 * changes nothing. So the ioctl pins the pages of its answer before it begins. Whatever other
 * threads unmap, discard or protect meanwhile, the pages stay and the writes succeed.
 */

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "answer.h"
#include "base/page.h"

/**
 * auxt_answer_pin() - make sure that an answer can be written
 * @answer: gets the pages; undo by auxt_answer_unpin()
 * @user: address of the memory
 * @len: its length; 0: nothing is pinned
 *
 * Return: 0; -EFAULT if the memory cannot be written; -ENOMEM; -EINTR a fatal signal.
 */
int auxt_answer_pin(struct auxt_answer *answer, u64 user, size_t len)
{
	unsigned long first = user & PAGE_MASK;
	unsigned long nr;
	int got;

	answer->nr = 0;
	answer->offset = offset_in_page(user);
	answer->pages = answer->few;
	if (!len)
		return 0;
	if (!access_ok(u64_to_user_ptr(user), len))
		return -EFAULT;
	nr = DIV_ROUND_UP(answer->offset + len, PAGE_SIZE);
	if (nr > ARRAY_SIZE(answer->few)) {
		answer->pages = kvmalloc_array(nr, sizeof(*answer->pages), GFP_KERNEL);
		if (!answer->pages)
			return -ENOMEM;
	}
	while (answer->nr < nr) {
		got = pin_user_pages_fast(first + (answer->nr << PAGE_SHIFT), nr - answer->nr,
					  FOLL_WRITE, answer->pages + answer->nr);
		if (got <= 0) {
			auxt_answer_unpin(answer);
			return got == -EINTR || got == -ENOMEM ? got : -EFAULT;
		}
		answer->nr += got;
	}
	return 0;
}

/**
 * auxt_answer_write() - write a part of an answer
 * @answer: the answer
 * @at: offset in it
 * @from: the bytes; NULL: zeroes
 * @len: number of bytes
 */
void auxt_answer_write(const struct auxt_answer *answer, size_t at, const void *from, size_t len)
{
	at += answer->offset;
	while (len) {
		size_t n = min_t(size_t, len, PAGE_SIZE - offset_in_page(at));
		void *to = auxt_page_address(answer->pages[at >> PAGE_SHIFT]) + offset_in_page(at);

		if (from) {
			memcpy(to, from, n);
			from += n;
		} else {
			memset(to, 0, n);
		}
		at += n;
		len -= n;
	}
}

/**
 * auxt_answer_write_array() - write an entry of an array
 * @answer: the array
 * @index: number of the entry
 * @stride: size of an entry as the caller knows it; the first @stride bytes of @from are written,
 *	and zeroes beyond @size
 * @from: the entry
 * @size: its size
 */
void auxt_answer_write_array(const struct auxt_answer *answer, size_t index, size_t stride,
			     const void *from, size_t size)
{
	size_t n = min(size, stride);

	auxt_answer_write(answer, index * stride, from, n);
	auxt_answer_write(answer, index * stride + n, NULL, stride - n);
}

/**
 * auxt_answer_unpin() - end a successful auxt_answer_pin()
 * @answer: the answer
 */
void auxt_answer_unpin(struct auxt_answer *answer)
{
	if (answer->nr)
		unpin_user_pages_dirty_lock(answer->pages, answer->nr, true);
	if (answer->pages != answer->few)
		kvfree(answer->pages);
}
