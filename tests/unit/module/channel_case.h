/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A channel under NMIs: channel.c, settle.c, request.c and what they use of module/core, in user
 * space on one simulated CPU. The trace PMU is simulated here: it writes a random number of bytes
 * whenever time passes, stops at the STOP mark and asserts its interrupt at the INT mark.
 *
 * Every place where the code under test looks at or changes something that an
 * NMI may change, and every operation on the hardware, is a point where an NMI
 * may land (shim_point()). The tests let one land at each point in turn, or at
 * random ones, and then compare the channel's accounting and its records with what
 * the played hardware has really done.
 */
#ifndef CHANNEL_CASE_H
#define CHANNEL_CASE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "cmocka_all.h"
#include "core/channel.h"
#include "core/known.h"
#include "core/members.h"
#include "core/record.h"
#include "core/remote.h"
#include "core/settle.h"
#include "core/tail_poll.h"
#include "core/request.h"
#include "base/aux_buffer.h"
#include "core/trace_pmu.h"

#define PAGES	8
#define SIZE	(PAGES * AUXT_PAGE_SIZE)
#define MAX_SLOTS	4
#define DATA_SIZE	65536u
#define LOG	4096		/* windows whose truth is kept */
/* Of make_slots() */
#define SLOTS		4
#define SLOT_SIZE	(SIZE / SLOTS)

/* The hardware. */
extern struct hw {
	bool on;
	bool in_op;		/* an operation of the PMU runs */
	bool stopped;
	bool late;		/* it stopped at no mark, as its interrupt came too late */
	bool error;
	bool asserted;
	bool pointers_stale;
	bool foreign;		/* other code has turned it off */
	bool alone;		/* the last stop did not ask for that */
	u64 position;		/* bytes written in all: the truth */
	u64 stop, int_mark;
	u64 windows;		/* starts with PSB+ */
	u64 offs, ons;		/* writes of the control register */
	u64 lost;		/* times it stopped by itself */
	u64 tsc;
	unsigned int rate;	/* bytes at each point, at most */
	bool refuses;		/* release() cannot turn it off */
	int kept;		/* CPU whose pages are kept; 0: none */
	int start_error, setup_error, claim_error;
	unsigned int cleanups;
	unsigned int waited_for;	/* CPUs that have run a call which was waited for, a bit each */
	u32 slot;		/* that the pointers are in */
	bool relocated;		/* they are written at the next start of a window */
	struct {
		u64 begin, end;
		u32 slot;
	} log[LOG];		/* by window */
} hw;

enum nmi {
	NMI_NONE,
	NMI_PMI,		/* the trace PMU's, or another one's */
	NMI_PAUSE,		/* a trigger's, as they will be */
	NMI_RESUME,
	NMI_FULL,		/* time passes until the area is full */
	NMI_LATER,		/* a trigger's PAUSE some bytes later */
	NMI_FREEZE,		/* a trigger's */
	NMI_FREEZE_ALL,		/* the same, of all CPUs */
	NMI_POLL,		/* no NMI: poll(2) on another CPU, which may go to sleep */
	NMI_CRASH,		/* the kernel crashes on another CPU, or here */
	NMI_DEFER,		/* a trigger's PAUSE some bytes later, if that is possible */
	NMI_CLAIM,		/* a slot is claimed */
	NMI_READ,		/* the reader has read all but 8 bytes; an interrupt takes the tail */
	NMI_BYTES,		/* the trace PMU's, after it has written 1000 bytes at once */
};

extern struct nmi_plan {
	enum nmi what;
	long at;		/* the point where it lands; -1: none */
	unsigned int one_in;	/* at random: one point in so many */
	long points;
	bool running;		/* NMIs do not nest */
	bool landed;
	bool asleep;		/* that poll(2) found nothing */
	bool deferred;		/* NMI_DEFER: it was possible */
	int slot;		/* that NMI_CLAIM claimed */
	bool wrote;		/* NMI_BYTES: the hardware was on */
	bool perf_eats;
	u64 position;		/* of the hardware when it last asserted its interrupt */
} nmi;

/* What another CPU does at each point; NULL: nothing. It cannot be interrupted there. */
extern void (*other_cpu)(void);

/*
 * Two events that nest in one call: a RESUME, and a FREEZE after readers have woken. That is more
 * than a CPU does, as calls run with interrupts off: only NMIs nest.
 */
extern struct nested {
	long thaw_at, freeze_at;
	bool landed;
	bool froze;		/* and was not frozen before */
} nested;

/* What the records have reported so far. */
extern struct reported {
	u64 tail;
	u64 aux;		/* up to where in the AUX area */
	u64 auxes;
	u64 truncated;
	u64 partial;
	u64 windows;
	u64 starts;
	u64 lost;
	u32 lost_tid;		/* of the newest LOST record */
	struct auxtrace_record_window window;
	struct auxtrace_record_window newest[8];	/* windows, by the rest of their number */
	struct auxtrace_record_itrace_start start;
	struct auxtrace_record_aux last_aux;
	u64 triggers;
	struct auxtrace_record_trigger trigger;
	u64 samples;
	struct auxtrace_record_sample sample;
	u64 switches;
	struct auxtrace_record_switch context_switch;
} reported;

/* The AUX area, all slots. */
extern union area {
	u64 word[MAX_SLOTS * SIZE / 8];
	char byte[MAX_SLOTS * SIZE];
} area;

/* Twice the size of the ring: a record that wraps is contiguous, for the test as for the module. */
extern char data[2 * DATA_SIZE];

extern struct auxt_channel *channel;	/* NULL: there is none, and no NMI lands */
extern struct auxtrace_status_page status_page;
extern struct auxtrace_user_page user_page;
extern struct auxt_group group;
extern struct trace_pmu fake;		/* it checks that its contract is kept */

/* Make a channel, with slots or as @flags say; start it; stop it; free it. */
void make(u32 flags);
void make_slots(void);
void make_with(struct auxtrace_setup setup);
void start(bool paused);
void stop(void);
void unmake(void);

/*
 * With a task scope: one thread is a member. The CPU runs another one at first, 11 of process 10;
 * then the thread to which it changes, as the probe of sched_switch and after it the kernel do.
 */
extern const struct task_struct insider;	/* 22 of process 20 */
extern const struct task_struct outsider;	/* 33 of process 30 */
void make_scoped(struct auxtrace_setup setup);
void change_to(const struct task_struct *next);

/* No NMI lands from now on, and the points are counted anew. */
void quiet(void);
/* What must hold whenever nothing runs on the CPU; reads the records as well. */
void check(void);

/* Time passes: the hardware writes, if it is on. */
void hw_runs(void);
/* Until it has written up to @position, or is off; until the area is full. */
void run_to(u64 position);
void run_until_full(void);
void run_nmi(enum nmi what);
/* Lets one NMI land at point @at; false if there is no such point. */
bool lands(enum nmi what, long at, void (*in)(void));

/* How a trigger's request is made: auxt_request_make(), unless a test sets another way. */
extern bool (*request_maker)(struct auxt_channel *ch, const struct auxt_request *request, u64 value);

/* A trigger hits, as in trigger/hit.c; one whose action is a sample of @size bytes. */
bool trigger(u32 action, u32 id);
bool sample(u64 size);

/* What a caller may ask for. */
enum request {
	PAUSE, RESUME, ATTEND, CUT, SWITCH, REQUESTS
};

void request(enum request what);
/* To the next slot, whatever nests: the cut agrees with what the page says was retained. */
struct auxtrace_cut switch_slot(void);
/* In place: nothing changes but what a sync changes. */
struct auxtrace_cut cut_in_place(u32 flags);
/* Takes the request that was queued for other CPUs since the last call; 0: none. */
u64 take_broadcast(void);

/* Read the new records, or one of a sample, of which each must be true. */
void read_records(void);
void read_sample(const struct auxtrace_record_sample *r);
/* Fills the area with the bytes that the simulated hardware has written and not overwritten. */
void write_area(void);
/* The newest WINDOW record, which is the one of window @number. */
void window_was(u64 number, u32 begin_cause, u32 end_cause);

#endif
