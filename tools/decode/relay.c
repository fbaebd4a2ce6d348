// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "flow_event.h"
#include "lib/say_hook.h"
#include "queue.h"
#include "relay.h"

/* What views read of a flow, and changes. */
struct state {
	uint64_t cr3, tsc, turn_tsc, reached, run;
	bool open, resumed, in_probes;
};

/* ---- messages -------------------------------------------------------------------- */

enum what {
	OPENED,			/* flow_begin() is done */
	FAILED,			/* it was not */
	BEGUN,			/* so is the decoder's begin */
	SAYS,
	STATE,
	CPU,
	THREAD,
	TURN,
	SUMS,
	WINDOW,
	SAMPLE,
	ENABLE,
	DISABLE,
	INSN,
	BLOCK,
	BLOCKS,
	ASYNC,
	OVERFLOW,
	SKIP,
	ERROR,
	CPU_EVENT,
	BRANCH,
};

/* Most of them */
struct event {
	struct message head;
	bool known;
	uint64_t a, b;
};

struct state_message {
	struct message head;
	struct state state;
};

struct sample_message {
	struct message head;
	size_t nr;
	const struct auxtrace_record_sample *sample;
};

struct insn_message {
	struct message head;
	uint8_t size, mode;
	uint16_t iclass;
	uint64_t ip;
};

/* The first @ran instructions of a block, by far the most frequent one. @head.more: the mode */
struct block_message {
	struct message head;
	uint8_t ran, count;
	uint8_t length, last_length;
	uint64_t ip;
	uint8_t size[BLOCK_MAX], iclass;
};

_Static_assert(sizeof(struct block_message) == 32, "it is copied for each block");

/* Several, of which the view need not know each. @head.more: the class of the last instruction */
struct blocks_message {
	struct message head;
	uint16_t count;
	uint8_t size, mode;	/* of the last instruction */
	uint64_t ip, last;
};

struct error_message {
	struct message head;
	uint64_t offset, ip;
	char text[];
};

struct text_message {
	struct message head;
	char text[];
};

struct cpu_event_message {
	struct message head;
	struct cpu_event event;
};

struct branch_message {
	struct message head;
	struct branch branch;
};

/* TURN, BEGUN and SUMS */
struct turn_message {
	struct message head;
	bool more;		/* TURN: another one follows */
	struct flow_sum sum;	/* since the last of them; what was skipped comes by SKIP */
};

/*
 * A turn may be all of a long trace. After so many instructions, or so many bytes of trace, its sums are sent: some
 * milliseconds of work, so that they do not fill the queue where the view wants nothing else.
 */
#define SUMS_INSTRUCTIONS	0x400000
#define SUMS_BYTES		0x40000

struct relay {
	struct view view;	/* the thread's */
	struct say_hook hook;	/* the same */
	struct relays *all;
	struct relay *next;
	struct queue queue;
	pthread_t thread;
	bool runs;		/* the thread has been started */
	const struct flow_decoder *decoder;
	const struct meta_cpu *cpu;
	/* The thread's: */
	struct flow flow;
	struct flow_sum sum;	/* since they were sent */
	struct state sent;	/* what the reader knows */
	struct blocks_message merged;	/* to be written; count 0: none are */
	jmp_buf death;		/* where it goes if it dies */
	char last_words[512];
	/* The reader's: */
	struct flow *to;
};

struct relays {
	struct queues queues;
	unsigned int count;
	struct relay *first;
};

/* ---- the thread: its view -------------------------------------------------------- */

static struct relay *of_view(struct view *v)
{
	return (struct relay *)v;
}

static bool is_sent(const struct relay *r, const struct flow *f)
{
	const struct state *s = &r->sent;

	return f->tsc == s->tsc && f->cr3 == s->cr3 && f->turn_tsc == s->turn_tsc && f->reached == s->reached &&
	       f->run == s->run && f->open == s->open && f->resumed == s->resumed && f->in_probes == s->in_probes;
}

static void write_merged(struct relay *r)
{
	struct blocks_message *m;

	if (!r->merged.count)
		return;
	m = queue_write(&r->queue, BLOCKS, sizeof(*m));
	r->merged.head.size = m->head.size;
	r->merged.head.what = m->head.what;
	*m = r->merged;
	r->merged.count = 0;
}

static void write_sums(struct relay *r, enum what what, bool more)
{
	struct turn_message *m = queue_write(&r->queue, what, sizeof(*m));

	m->more = more;
	m->sum = r->sum;
	m->sum.skipped = NULL;
	flow_sum_free(&r->sum);
}

/*
 * Send the sums if they are due, and look whether the thread is to end, which it may otherwise not learn for long: code that the
 * view does not want writes nothing.
 */
static void send_sums(struct relay *r)
{
	if (r->sum.instructions < SUMS_INSTRUCTIONS && r->sum.decoded < SUMS_BYTES)
		return;
	write_merged(r);
	write_sums(r, SUMS, true);
	queue_look(&r->queue);
}

/* This comes before each message of the flow. */
static void write_state(struct relay *r, const struct flow *f)
{
	struct state_message *m;

	write_merged(r);
	send_sums(r);
	if (is_sent(r, f))
		return;
	r->sent = (struct state){
		.cr3 = f->cr3, .tsc = f->tsc, .turn_tsc = f->turn_tsc, .reached = f->reached, .run = f->run,
		.open = f->open, .resumed = f->resumed, .in_probes = f->in_probes,
	};
	m = queue_write(&r->queue, STATE, sizeof(*m));
	m->state = r->sent;
}

static void write_event(struct relay *r, const struct flow *f, enum what what, uint64_t a, uint64_t b, bool known)
{
	struct event *e;

	write_state(r, f);
	e = queue_write(&r->queue, what, sizeof(*e));
	e->a = a;
	e->b = b;
	e->known = known;
}

static void relay_cpu(struct view *v, unsigned int cpu)
{
	struct relay *r = of_view(v);

	write_event(r, &r->flow, CPU, cpu, 0, true);
}

static void relay_thread(struct view *v, const struct flow *f)
{
	write_event(of_view(v), f, THREAD, 0, 0, true);
}

static void relay_window(struct view *v, const struct flow *f, uint64_t seq)
{
	write_event(of_view(v), f, WINDOW, seq, 0, true);
}

static void relay_sample(struct view *v, const struct flow *f, size_t nr, const struct auxtrace_record_sample *sample)
{
	struct relay *r = of_view(v);
	struct sample_message *m;

	write_state(r, f);
	m = queue_write(&r->queue, SAMPLE, sizeof(*m));
	m->nr = nr;
	m->sample = sample;
}

static void relay_enable(struct view *v, const struct flow *f, uint64_t ip)
{
	write_event(of_view(v), f, ENABLE, ip, 0, true);
}

static void relay_disable(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	write_event(of_view(v), f, DISABLE, ip, 0, known);
}

/* Code ran. Does the view not want it? */
static bool is_quiet(struct relay *r)
{
	if (!r->to->view->no_code)
		return false;
	send_sums(r);
	return true;
}

static void relay_passed(struct view *v)
{
	send_sums(of_view(v));
}

static void relay_insn(struct view *v, const struct flow *f, const struct pt_insn *insn)
{
	struct relay *r = of_view(v);
	struct insn_message *m;

	if (is_quiet(r))
		return;
	write_state(r, f);
	m = queue_write(&r->queue, INSN, sizeof(*m));
	m->size = insn->size;
	m->mode = insn->mode;
	m->iclass = insn->iclass;
	m->ip = insn->ip;
}

static void relay_blocks(struct view *v, const struct flow *f, uint64_t ip, unsigned int count, const struct pt_insn *last)
{
	struct relay *r = of_view(v);
	struct blocks_message *m = &r->merged;

	if (!m->count || !is_sent(r, f) || m->count > UINT16_MAX - count)
		write_state(r, f);
	if (!m->count)
		m->ip = ip;
	m->count += count;
	m->head.more = last->iclass;
	m->size = last->size;
	m->mode = last->mode;
	m->last = last->ip;
	if (last->iclass != ptic_other && last->iclass != ptic_cond_jump)
		write_merged(r);
}

static void relay_block(struct view *v, const struct flow *f, const struct code_block *block, unsigned int count)
{
	struct relay *r = of_view(v);
	struct block_message *m;

	if (is_quiet(r))
		return;
	if (r->view.blocks && count == block->count) {
		const struct pt_insn last = block_last_insn(block);

		relay_blocks(v, f, block->ip, count, &last);
		return;
	}
	write_state(r, f);
	m = queue_write(&r->queue, BLOCK, sizeof(*m));
	m->ran = count;
	m->count = block->count;
	m->length = block->length;
	m->last_length = block->last_length;
	m->head.more = block->mode;
	m->ip = block->ip;
	memcpy(m->size, block->size, sizeof(m->size));
	m->iclass = block->iclass;
}

static void relay_async(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known)
{
	write_event(of_view(v), f, ASYNC, from, to, known);
}

static void relay_overflow(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	write_event(of_view(v), f, OVERFLOW, ip, 0, known);
	write_sums(of_view(v), SUMS, true);
}

static void relay_skip(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	write_event(of_view(v), f, SKIP, ip, cr3, true);
}

/* Keep what fits of @text in a message of @fixed bytes and it. Returns the size of the message. */
static size_t with_text(size_t fixed, size_t *length, const char *text)
{
	*length = strnlen(text, MESSAGE_MAX - fixed - 1);
	return fixed + *length + 1;
}

static void relay_error(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip, const char *message)
{
	struct relay *r = of_view(v);
	struct error_message *m;
	size_t length, size = with_text(sizeof(*m), &length, message);

	write_state(r, f);
	m = queue_write(&r->queue, ERROR, size);
	m->offset = offset;
	m->ip = ip;
	memcpy(m->text, message, length);
	m->text[length] = 0;
	/* Nobody is to see an error that is not counted. */
	write_sums(r, SUMS, true);
}

static void relay_cpu_event(struct view *v, const struct flow *f, const struct cpu_event *event)
{
	struct relay *r = of_view(v);
	struct cpu_event_message *m;

	write_state(r, f);
	m = queue_write(&r->queue, CPU_EVENT, sizeof(*m));
	m->event = *event;
}

static void relay_branch(struct view *v, const struct flow *f, const struct branch *branch)
{
	struct relay *r = of_view(v);
	struct branch_message *m;

	write_state(r, f);
	m = queue_write(&r->queue, BRANCH, sizeof(*m));
	m->branch = *branch;
}

/* The turn, or the begin, is done. */
static void write_turn(struct relay *r, enum what what, bool more)
{
	write_state(r, &r->flow);
	write_sums(r, what, more);
}

/* ---- the thread ------------------------------------------------------------------ */

static struct relay *of_hook(struct say_hook *h)
{
	return (struct relay *)((char *)h - offsetof(struct relay, hook));
}

static void relay_says(struct say_hook *h, const char *text)
{
	struct relay *r = of_hook(h);
	struct text_message *m;
	size_t length, size = with_text(sizeof(*m), &length, text);

	write_merged(r);
	m = queue_write(&r->queue, SAYS, size);
	memcpy(m->text, text, length);
	m->text[length] = 0;
}

/* Whatever it holds is left to the end of the process. */
static void __attribute__((noreturn)) relay_dies(struct say_hook *h, const char *text)
{
	struct relay *r = of_hook(h);

	strncpy(r->last_words, text, sizeof(r->last_words) - 1);
	longjmp(r->death, 1);
}

static void decode(struct relay *r)
{
	struct flow *f = &r->flow;
	bool more = true;

	if (!flow_begin(f, r->cpu)) {
		queue_write(&r->queue, FAILED, sizeof(struct message));
		return;
	}
	queue_write(&r->queue, OPENED, sizeof(struct message));
	queue_look(&r->queue);
	if (r->decoder->begin && !r->queue.stop)
		r->decoder->begin(f);
	write_turn(r, BEGUN, true);
	queue_flush(&r->queue);
	while (more && !r->queue.stop) {
		more = flow_step(f, r->decoder);
		write_turn(r, TURN, more);
	}
	if (r->decoder->end)
		r->decoder->end(f);
}

static void *run(void *relay)
{
	struct relay *r = relay;

	say_hook_set(&r->hook);
	queue_begin(&r->queue);
	queue_look(&r->queue);
	if (!r->queue.stop && !setjmp(r->death))
		decode(r);
	queue_end(&r->queue);
	return NULL;
}

/* ---- the reader ------------------------------------------------------------------ */

static void take_state(struct flow *f, const struct state *s)
{
	f->cr3 = s->cr3;
	f->tsc = s->tsc;
	f->turn_tsc = s->turn_tsc;
	f->reached = s->reached;
	f->run = s->run;
	f->open = s->open;
	f->resumed = s->resumed;
	f->in_probes = s->in_probes;
	flow_resume(f);
}

static void take_block(const struct flow *f, const struct block_message *m)
{
	struct code_block block = {
		.ip = m->ip, .length = m->length, .last_length = m->last_length, .iclass = m->iclass,
		.mode = m->head.more, .count = m->count,
	};

	memcpy(block.size, m->size, sizeof(block.size));
	flow_emit_block(f, &block, m->ran);
}

static void take_blocks(const struct flow *f, const struct blocks_message *m)
{
	const struct pt_insn last = { .ip = m->last, .size = m->size, .mode = m->mode, .iclass = m->head.more };

	f->view->blocks(f->view, f, m->ip, m->count, &last);
}

static void take_insn(const struct flow *f, const struct insn_message *m)
{
	const struct pt_insn insn = { .ip = m->ip, .size = m->size, .mode = m->mode, .iclass = m->iclass };

	f->view->insn(f->view, f, &insn);
}

static void take_event(struct flow *f, const struct event *e)
{
	struct view *v = f->view;

	switch (e->head.what) {
	case CPU:
		v->cpu(v, e->a);
		break;
	case THREAD:
		if (v->thread)
			v->thread(v, f);
		break;
	case WINDOW:
		v->window(v, f, e->a);
		break;
	case ENABLE:
		v->enable(v, f, e->a);
		break;
	case DISABLE:
		v->disable(v, f, e->a, e->known);
		break;
	case ASYNC:
		v->async(v, f, e->a, e->b, e->known);
		break;
	case OVERFLOW:
		v->overflow(v, f, e->a, e->known);
		break;
	case SKIP:
		flow_note_skip(f, e->a);
		v->skip(v, f, e->a, e->b);
		break;
	}
}

static void take(struct flow *f, const struct message *m)
{
	switch (m->what) {
	case SAYS:
		say("%s", ((const struct text_message *)m)->text);
		break;
	case STATE:
		take_state(f, &((const struct state_message *)m)->state);
		break;
	case BLOCK:
		take_block(f, (const void *)m);
		break;
	case BLOCKS:
		take_blocks(f, (const void *)m);
		break;
	case INSN:
		take_insn(f, (const void *)m);
		break;
	case SAMPLE: {
		const struct sample_message *s = (const void *)m;

		f->view->sample(f->view, f, s->nr, s->sample);
		break;
	}
	case ERROR: {
		const struct error_message *e = (const void *)m;

		f->view->error(f->view, f, e->offset, e->ip, e->text);
		break;
	}
	case CPU_EVENT:
		f->view->cpu_event(f->view, f, &((const struct cpu_event_message *)m)->event);
		break;
	case BRANCH:
		f->view->branch(f->view, f, &((const struct branch_message *)m)->branch);
		break;
	case SUMS:
		flow_sum_add(f->sum, &((const struct turn_message *)m)->sum);
		break;
	default:
		take_event(f, (const void *)m);
	}
}

static bool take_turn(struct flow *f, const struct message *m)
{
	const struct turn_message *turn = (const void *)m;

	flow_sum_add(f->sum, &turn->sum);
	return turn->more;
}

static void end_turn(struct flow *f)
{
	if (f->view->turn)
		f->view->turn(f->view, f);
}

/* No message is behind those that the reader takes as the last ones, unless the thread died. */
static int died(const struct relay *r)
{
	say("%s", r->last_words);
	return -ENOMEM;
}

int relay_begin(struct flow *f)
{
	struct relay *r = f->relay;
	const struct message *m;

	while ((m = queue_read(&r->queue))) {
		switch (m->what) {
		case OPENED:
			/* They belong to the thread's flow, and do not change any more. */
			f->cpu = r->cpu;
			f->records = r->flow.records;
			f->runs = r->flow.runs;
			f->run = f->runs.count;
			break;
		case FAILED:
			return -EBADMSG;
		case BEGUN:
			take_turn(f, m);
			return 0;
		default:
			take(f, m);
		}
	}
	return died(r);
}

int relay_step(struct flow *f)
{
	struct relay *r = f->relay;
	const struct message *m;

	flow_resume(f);
	while ((m = queue_read(&r->queue))) {
		if (m->what == TURN) {
			bool more = take_turn(f, m);

			end_turn(f);
			return more;
		}
		take(f, m);
		if (*f->stop) {
			/* As a decoder does then. */
			flow_emit_disable(f, 0, false);
			end_turn(f);
			return 1;
		}
	}
	return died(r);
}

/* ---- all of them ----------------------------------------------------------------- */

struct relays *relays_open(unsigned int count, unsigned int jobs)
{
	struct relays *all = xcalloc(1, sizeof(*all));

	all->count = count;
	queues_init(&all->queues, count, jobs);
	return all;
}

bool relay_start(struct relays *all, struct flow *f, const struct flow_decoder *decoder, const struct meta_cpu *cpu)
{
	struct relay *r = xcalloc(1, sizeof(*r));
	sigset_t none, before;
	int err;

	r->view = (struct view){
		.cpu = relay_cpu,
		.thread = relay_thread,
		.window = relay_window,
		.sample = relay_sample,
		.enable = relay_enable,
		.disable = relay_disable,
		.insn = relay_insn,
		.block = relay_block,
		.blocks = f->view->blocks ? relay_blocks : NULL,
		.no_code = f->view->no_code,
		.async = relay_async,
		.overflow = relay_overflow,
		.skip = relay_skip,
		.error = relay_error,
		.cpu_event = f->view->cpu_event ? relay_cpu_event : NULL,
		.branch = f->view->branch ? relay_branch : NULL,
		.passed = relay_passed,
	};
	r->hook = (struct say_hook){ .say = relay_says, .die = relay_dies };
	r->decoder = decoder;
	r->cpu = cpu;
	r->flow = *f;
	r->flow.code = code_share(f->code);
	r->flow.blocks = code_blocks_open(r->flow.code, code_kernel_function(f->code, SWITCH_FUNCTION), all->count);
	r->flow.view = &r->view;
	r->flow.sum = &r->sum;
	r->flow.stop = &r->queue.stop;
	r->to = f;
	f->relay = r;
	queue_init(&r->queue, &all->queues);
	r->all = all;
	r->next = all->first;
	all->first = r;
	/* Signals are for the main thread. */
	sigfillset(&none);
	pthread_sigmask(SIG_SETMASK, &none, &before);
	err = pthread_create(&r->thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	r->runs = !err;
	return !err;
}

static void end(struct flow *f)
{
	struct relay *r = f->relay, **at = &r->all->first;

	queue_close(&r->queue);
	if (r->runs)
		pthread_join(r->thread, NULL);
	if (r->flow.cpu)
		flow_end(&r->flow);
	code_blocks_close(r->flow.blocks);
	code_close(r->flow.code);
	flow_sum_free(&r->sum);
	queue_destroy(&r->queue);
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	free(r);
}

void relay_end(struct flow *f)
{
	end(f);
	/* What it had of the thread's flow is gone. */
	*f = (struct flow){ 0 };
}

static void close_queues(struct relays *all)
{
	for (struct relay *r = all->first; r; r = r->next)
		queue_close(&r->queue);
}

static void free_relays(struct relays *all)
{
	queues_destroy(&all->queues);
	free(all);
}

void relays_give_up(struct relays *all)
{
	close_queues(all);
	while (all->first) {
		struct flow *f = all->first->to;

		end(f);
		f->relay = NULL;
	}
	free_relays(all);
}

void relays_close(struct relays *all)
{
	close_queues(all);
	while (all->first)
		relay_end(all->first->to);
	free_relays(all);
}
