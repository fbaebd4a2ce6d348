/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A relay is a thread that decodes the flow of one CPU, and its queue to the main thread.
 *
 * The decoder there has a flow and a view of its own. That view writes each callback to the queue (queue.h), and before it
 * what else views read of the flow and has changed. The main thread makes the callbacks again, for the view and with
 * the flow that it knows.
 *
 * The threads share only what none of them changes: the recording, the code (code_share()). Each has its own blocks of
 * code. Messages and the end of the process go through the queue, too (lib/say_hook.h): so all is in the order in which
 * one thread alone would have it.
 */
#ifndef RELAY_H
#define RELAY_H

#include <stdbool.h>

#include "flow.h"

struct relays;

/* With more, their tables and queues are too small to be of use, and threads are what machines have few of. */
#define RELAYS_MAX	1024

/* For up to @count of them, of which @jobs decode at a time. */
struct relays *relays_open(unsigned int count, unsigned int jobs);

/*
 * Decode CPU @cpu for @f, which has all that replay gives to a flow, and must stay where it is. False, with a message:
 * there can be no thread.
 */
bool relay_start(struct relays *all, struct flow *f, const struct flow_decoder *decoder, const struct meta_cpu *cpu);

/* As flow_begin(), and the begin of the decoder. Returns 0 or, with a message, -EBADMSG or -ENOMEM. */
int relay_begin(struct flow *f);
/* As a step of the decoder and the end of its turn. Returns 1, 0 if that was all, or, with a message, -ENOMEM. */
int relay_step(struct flow *f);

/* As flow_end(), and the end of the decoder. The thread ends, whether or not it is done. */
void relay_end(struct flow *f);
/* Nothing was read from them: flows are as before relay_start(). */
void relays_give_up(struct relays *all);
/* The same for all that have not ended. */
void relays_close(struct relays *all);

#endif
