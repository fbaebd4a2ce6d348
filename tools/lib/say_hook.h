/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread beside the main one neither writes messages nor ends the process: stderr has its messages in order with the
 * main thread's, which may be within a line of stdout, and exit(3) would run beside what the main thread does.
 */
#ifndef SAY_HOOK_H
#define SAY_HOOK_H

/**
 * struct say_hook - what becomes of messages
 * @say: take what say() was told
 * @die: the same of die(); it ends the thread
 */
struct say_hook {
	void (*say)(struct say_hook *hook, const char *text);
	void (*die)(struct say_hook *hook, const char *text) __attribute__((noreturn));
};

/* That of this thread; NULL: it has none. */
struct say_hook *say_hook(void);
void say_hook_set(struct say_hook *hook);

#endif
