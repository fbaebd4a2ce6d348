/* SPDX-License-Identifier: GPL-2.0-only */
/* A page fault that lasts as long as the test wants: a call waits in the kernel in the middle. */
#ifndef VM_FAULT_H
#define VM_FAULT_H

/* A page that is not there: whoever reads or writes it waits until fault_end(). */
struct fault {
	char *before;		/* the page before it, which is there; end of an array, for instance */
	char *page;
	int fd;
};

/* Skips the running test on a kernel without userfaultfd(2). */
void fault_begin(struct fault *f);
/* Returns when a thread waits for the page; the test fails if none does within a minute. */
void fault_wait(const struct fault *f);
/* The page is there, with @text and zeroes behind it. */
void fault_end(const struct fault *f, const char *text);
/* There will be no such page. */
void fault_end_unmapped(const struct fault *f);
void fault_close(const struct fault *f);

#endif
