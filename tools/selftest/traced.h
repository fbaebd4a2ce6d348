/* SPDX-License-Identifier: GPL-2.0-only */
/* A session of this process on the check's CPU, and work for it to trace. */
#ifndef TRACED_H
#define TRACED_H

#include <pthread.h>
#include <sys/types.h>

#include <auxtrace.h>

#include "selftest.h"

/*
 * A started session as @options says, of user code of this thread on the check's CPU, unless the flags name other code or
 * another scope. With @options.cpus of all that these CPUs run. NULL if a step fails: auxtrace_error() says why, and errno.
 */
struct auxtrace_session *traced_begin(const struct selftest *t, struct auxtrace_options options);
/* Is @error, of traced_begin(), that others have the hardware, or that this user may not trace? */
bool traced_refused(int error);
/*
 * FAILED, with the library's words for what @step, which failed, was to do; the session is closed. SKIPPED, with the same words, if
 * errno says that it was for want of a right or of memory that may be locked, and this user lacks these.
 */
enum outcome traced_failed(struct auxtrace_session *session, const char *step);

/*
 * The status page of @cpu; that of the check's CPU, with the hardware's position of now; what a trigger has counted. False if a
 * call fails. What does not hold of them though it always has to (invariants.h) is noted.
 */
bool traced_page(struct auxtrace_session *session, unsigned int cpu, struct auxtrace_status_page *page);
bool traced_status(struct auxtrace_session *session, const struct selftest *t, struct auxtrace_status_page *page);
bool traced_trigger(struct auxtrace_session *session, int id, uint32_t flags, struct auxtrace_trigger_state *state);
/* Is it Intel PT with ToPA tables of one entry? A trace interrupt then comes at the end of each region. */
bool traced_has_single_entry(const struct auxtrace_session *session);
/* Can a trace interrupt of the session come when the hardware has no more space, though the area has? Then gaps are counted. */
bool traced_is_late(const struct auxtrace_session *session);
/* The first thing that was noted, which is forgotten then; or NULL. */
const char *traced_broken(void);

/* Has this user all of AUXTRACE_MAY_* in @what? Not known: true, and the session will fail. */
bool traced_may(uint32_t what);

/* As fork(2), but the child, which has this process's sessions open as well, ends with it. */
pid_t traced_fork(void);
/* The calling thread stays on @cpu from now on, if it may. */
void traced_pin(int cpu);
/* Wait for the end of @thread, which was told to end. On its own CPU it may get no time, if a realtime thread has that: it comes here. */
void traced_join(pthread_t thread);

/* PASSED: @cap is what the CPU's Intel PT can leave out of a trace. Else the reason why it cannot, or is not to be had, is said. */
enum outcome traced_filters(const struct selftest *t, struct auxtrace_cap_intel_pt *cap);

/* Execute some @branches conditional branches and calls. */
void traced_work(unsigned long branches);
/* Enough for some bytes of any trace */
#define SOME_WORK	2000
/* An area that MOST_WORK times SOME_WORK fills many times, or the hardware writes next to nothing */
#define SMALL_AREA	(16u << 10)
#define MOST_WORK	1000

/* Work until the session, of a small area, has more than @gaps gaps for lack of space. False if a call fails, not if it has no more. */
bool traced_fill(struct auxtrace_session *session, const struct selftest *t, uint64_t gaps, struct auxtrace_status_page *page);
/* Give all of the check's CPU's area back, by the tail in the user page alone, which the module has to look for. */
bool traced_read(struct auxtrace_session *session, const struct selftest *t);

/* Of the section of work_begin to work_end: the code of traced_work(), and nothing else. */
extern const char work_begin[] __asm__("__start_auxtrace_work"), work_end[] __asm__("__stop_auxtrace_work");

#endif
