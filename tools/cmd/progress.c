// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two threads: one decodes, the other looks at the decoder's counter from time to time, and writes. The signal handler only
 * sets flags.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/say_hook.h"
#include "lib/tool.h"
#include "progress.h"

#define FIRST_MS	1000	/* a shorter decode shows nothing */
#define NEXT_MS		500

struct shown {
	struct say_hook hook;	/* of the thread that decodes */
	const struct replay *replay;
	pthread_t thread;
	pthread_mutex_t lock;	/* over the terminal's line and what follows */
	pthread_cond_t cond;	/* @done has changed */
	bool done;
	bool on_line;		/* the line shows it */
};

static struct replay *running;	/* for the handler */
static char stopped_at[64];

/* What share @bytes are of all trace that is wanted. -1: that is not known. */
static int percent(const struct replay *r, uint64_t bytes)
{
	uint64_t wanted = r->wanted;

	if (!wanted)
		return -1;
	return bytes < wanted ? bytes * 100.0 / wanted : 100;
}

/* ---- the terminal ---------------------------------------------------------------- */

static struct timespec in_ms(struct timespec t, unsigned int ms)
{
	t.tv_nsec += ms * 1000000ll;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static struct timespec now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t;
}

static void clear(struct shown *s)
{
	/* ECMA-48: erase to the end of the line */
	if (s->on_line)
		fputs("\r\033[K", stderr);
	s->on_line = false;
}

static void *show(void *argument)
{
	struct timespec begin = now(), next = in_ms(begin, FIRST_MS);
	struct shown *s = argument;
	int share;

	pthread_mutex_lock(&s->lock);
	while (!s->done) {
		if (!pthread_cond_clockwait(&s->cond, &s->lock, CLOCK_MONOTONIC, &next))
			continue;
		clear(s);
		share = percent(s->replay, s->replay->decoded);
		if (share >= 0) {
			fprintf(stderr, "auxtrace: %d %% of %.1f MiB of trace are decoded, after %ld s ", share,
				s->replay->wanted / 1048576.0, (long)(now().tv_sec - begin.tv_sec));
			s->on_line = true;
		}
		/* Not from @next: the process may have been stopped for long. */
		next = in_ms(now(), NEXT_MS);
	}
	clear(s);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* A message of the thread that decodes has the line for itself. */
static void say_alone(struct say_hook *h, const char *text)
{
	struct shown *s = (struct shown *)h;

	pthread_mutex_lock(&s->lock);
	clear(s);
	say_hook_set(NULL);
	say("%s", text);
	say_hook_set(h);
	pthread_mutex_unlock(&s->lock);
}

static void __attribute__((noreturn)) die_alone(struct say_hook *h, const char *text)
{
	struct shown *s = (struct shown *)h;

	pthread_mutex_lock(&s->lock);
	clear(s);
	say_hook_set(NULL);
	die(1, "%s", text);
}

/* A line that is written over and over disturbs a terminal that shows something else meanwhile. */
static bool may_show(bool text_on_stdout)
{
	pid_t foreground = tcgetpgrp(STDERR_FILENO);
	struct stat st;

	if (!isatty(STDERR_FILENO) || (foreground >= 0 && foreground != getpgrp()))
		return false;
	/* What is behind a pipe may write to the terminal. */
	return !text_on_stdout || (!fstat(STDOUT_FILENO, &st) && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) ||
				   (S_ISCHR(st.st_mode) && !isatty(STDOUT_FILENO))));
}

/* Without a thread nothing is shown. */
static bool show_begin(struct shown *s, const struct replay *r)
{
	sigset_t all, before;
	int err;

	*s = (struct shown){
		.hook = { .say = say_alone, .die = die_alone },
		.replay = r, .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER,
	};
	/* Signals are for the thread that decodes. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&s->thread, NULL, show, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err)
		say_hook_set(&s->hook);
	return !err;
}

static void show_end(struct shown *s)
{
	pthread_mutex_lock(&s->lock);
	s->done = true;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	say_hook_set(NULL);
}

/* ---- ^C -------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = true;
	running->stop = true;
}

/* It stays ignored where somebody ignores it: then it is for others, such as a pager. */
static bool interrupt_begin(struct replay *r, struct sigaction *before)
{
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND };

	sigaction(SIGINT, NULL, before);
	if (before->sa_handler == SIG_IGN)
		return false;
	running = r;
	sigaction(SIGINT, &action, NULL);
	return true;
}

int progress_run(struct replay *r, struct view *(*view_of)(void *context), void *context, bool text)
{
	struct sigaction before;
	struct shown shown;
	bool handles, show;
	int err, share;

	show = may_show(text) && show_begin(&shown, r);
	handles = interrupt_begin(r, &before);
	err = replay_run(r, view_of, context);
	if (show)
		show_end(&shown);
	/* What threads had decoded ahead is not in what is shown. */
	share = percent(r, r->sum.decoded);
	if (interrupted && share >= 0)
		snprintf(stopped_at, sizeof(stopped_at), "%d %% of the trace were decoded; ", share);
	else if (handles && !interrupted)
		sigaction(SIGINT, &before, NULL);
	return err;
}

void progress_summary(void)
{
	if (interrupted)
		say("interrupted: %swhat follows is not here", stopped_at);
}

void progress_end(void)
{
	if (!interrupted)
		return;
	fflush(NULL);
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
}
