/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * auxtrace selftest: checks that the trace hardware, the module and the decoder do on this machine what they say.
 * Each check is a function and a sentence that it proves. A file has the checks of one kind, in a table.
 *
 * Checks trace user code of this process on one CPU, which the process stays on, or what two CPUs run. They need no emulator,
 * and leave nothing behind. Those that probe the kernel or take long are left out of a quick run.
 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "source/source.h"

/* A check returns one of the first three. The others are of checks that did not get to their end. */
enum outcome {
	PASSED, FAILED, SKIPPED,
	CRASHED,		/* a signal that nobody sent ended its process, or it exited */
	HUNG,			/* it took longer than @limit */
	INTERRUPTED,		/* by a signal that was to end the whole */
	NOT_RUN,		/* the run ended before */
};

/*
 * A check takes seconds on real hardware, and can take a minute where QEMU emulates each
 * instruction. One that takes ten times as long is not just slow.
 */
#define CHECK_SECONDS	600

/**
 * struct selftest - what checks are told
 * @source: the trace PMU
 * @quick: little work
 * @cpu: the CPU that the process stays on
 * @other_cpu: another one on which it may run; -1: there is none
 * @dir: a directory for files, empty
 * @unusable: why there can be no session here; NULL: there can be one
 * @limit: seconds after which a check is hung
 */
struct selftest {
	const struct source *source;
	bool quick;
	unsigned int cpu;
	int other_cpu;
	const char *dir;
	const char *unusable;
	unsigned int limit;
};

/**
 * struct check - one check
 * @name: for the command line and the report
 * @claim: what holds if it passes
 * @thorough: not in a quick run
 * @run: returns the outcome; if it is not PASSED, by check_failed() or check_skipped()
 */
struct check {
	const char *name;
	const char *claim;
	bool thorough;
	enum outcome (*run)(const struct selftest *t);
};

/* Tables that end with an entry without a name: */
extern const struct check environment_checks[], mode_checks[], session_checks[], scope_checks[], ring_checks[],
			  trigger_checks[], action_checks[], flow_checks[], config_checks[], drain_checks[], cost_checks[];

/* Why a check fails, or cannot run here. Return FAILED and SKIPPED. */
enum outcome check_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
enum outcome check_skipped(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What there is to say though the check passes. */
void check_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What the check has measured. @name and @unit are words that stay. */
void check_figure(const char *name, double value, const char *unit);

/* The checks that @names has (NULL at its end), or all if it has none; dies of a name that is none. */
void selftest_choose(char *const *names);
/* What stdout begins with: the machine. */
void selftest_text(FILE *out);
/*
 * Run them in a child process, and tell of each on stdout unless @silent. Between watch_begin()
 * and watch_end(). After a check that crashed the next one is run in another process; one that
 * hangs is the last. Where there can be no session, the environment alone is checked, and the
 * others are skipped. Returns the signal that ended the run, or 0.
 */
int selftest_run(const struct selftest *t, bool silent);
/* The end of the text: how many checks passed, and so on. Where there can be no session, why. */
void selftest_sum(const struct selftest *t, FILE *out);
/* There was a session, all checks were run, and none failed. */
bool selftest_passed(const struct selftest *t);
/* All of it as a JSON object. */
void selftest_json(const struct selftest *t, FILE *out);

#endif
