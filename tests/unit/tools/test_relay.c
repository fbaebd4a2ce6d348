// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that are decoded by threads of their own: the view hears what it would hear from one thread, in the same order,
 * however many threads there are. The decoder is one of this test: it makes events from random numbers.
 */
#include "made.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "decode/flow_event.h"
#include "decode/queue.h"
#include "decode/replay.h"
#include "packets.h"

#define CPUS	3

/* ---- a decoder ------------------------------------------------------------- */

static unsigned int turns, events;	/* of each CPU; of each turn */
static unsigned int jumps;		/* blocks that a turn begins with, which only conditional jumps end */
static uint64_t silence;		/* MiB of trace that a turn begins with, of which nothing is told */
static int dies_on = -1;		/* the CPU whose decoder finds no memory */

struct made_decoding {
	uint64_t random, offset;
	unsigned int turn;
};

static uint64_t next_random(struct made_decoding *d)
{
	d->random = d->random * 6364136223846793005ull + 1442695040888963407ull;
	return d->random >> 33;
}

static void made_begin_flow(struct flow *f)
{
	struct made_decoding *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->random = f->cpu->cpu + 1;
	f->decoding = d;
	say("cpu %u begins", f->cpu->cpu);
	f->sum->bytes += 10;
	f->view->cpu(f->view, f->cpu->cpu);
}

static void emit_block_of(struct flow *f, struct made_decoding *d)
{
	static const enum pt_insn_class classes[] = { ptic_other, ptic_cond_jump, ptic_cond_jump, ptic_call };
	struct code_block b = { .ip = next_random(d), .mode = ptem_64bit, .iclass = classes[next_random(d) % 4] };
	unsigned int ran;

	b.count = 1 + next_random(d) % BLOCK_MAX;
	ran = next_random(d) % 4 ? b.count : 1 + next_random(d) % b.count;
	for (unsigned int i = 0; i < b.count; i++) {
		b.size[i] = 1 + next_random(d) % INSN_MAX;
		b.length += b.size[i];
	}
	b.last_length = b.size[b.count - 1];
	f->sum->instructions += ran;
	flow_emit_block(f, &b, ran);
}

static void emit_jumps(struct flow *f)
{
	const struct code_block b = {
		.ip = 0x1000, .mode = ptem_64bit, .iclass = ptic_cond_jump, .count = BLOCK_MAX, .length = BLOCK_MAX,
		.last_length = 1, .size = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	};

	for (unsigned int i = 0; i < jumps; i++) {
		f->sum->instructions += b.count;
		flow_emit_block(f, &b, b.count);
	}
}

static void emit_power_of(struct flow *f, struct made_decoding *d)
{
	const struct cpu_event e = {
		.what = CPU_PWRX, .last = next_random(d), .deepest = next_random(d), .tsc = f->tsc,
	};

	if (f->view->cpu_event)
		f->view->cpu_event(f->view, f, &e);
}

static void emit_branch_of(struct flow *f, struct made_decoding *d)
{
	const struct branch b = { .from = next_random(d), .to = next_random(d), .walked = true, .after = f->tsc };

	f->sum->branches++;
	if (f->view->branch)
		f->view->branch(f->view, f, &b);
}

static void emit_one(struct flow *f, struct made_decoding *d)
{
	static const struct auxtrace_record_sample sample = { .length = 7 };
	struct pt_insn insn = { .ip = next_random(d), .size = 3, .mode = ptem_64bit, .iclass = ptic_return };
	char text[64];

	if (next_random(d) % 3 == 0)
		f->tsc += next_random(d) % 100;
	switch (next_random(d) % 16) {
	case 0:
		f->cr3 = next_random(d);
		f->in_probes = next_random(d) % 2;
		flow_emit_skip(f, next_random(d));
		break;
	case 1:
		flow_emit_enable(f, next_random(d), next_random(d) % 2);
		break;
	case 2:
		f->reached = next_random(d);
		flow_emit_disable(f, next_random(d), next_random(d) % 2);
		break;
	case 3:
		f->view->async(f->view, f, next_random(d), next_random(d), next_random(d) % 2);
		break;
	case 4:
		f->sum->overflows++;
		f->view->overflow(f->view, f, next_random(d), next_random(d) % 2);
		break;
	case 5:
		snprintf(text, sizeof(text), "error %lu", (unsigned long)next_random(d));
		flow_emit_error(f, next_random(d), next_random(d), text);
		break;
	case 6:
		f->sum->windows++;
		f->view->window(f->view, f, next_random(d));
		break;
	case 7:
		f->view->sample(f->view, f, next_random(d), &sample);
		break;
	case 8:
		emit_power_of(f, d);
		break;
	case 9:
		emit_branch_of(f, d);
		break;
	case 10:
		f->view->insn(f->view, f, &insn);
		break;
	case 11:
		flow_emit_run(f, next_random(d) % (f->runs.count + 1));
		break;
	default:
		emit_block_of(f, d);
	}
}

static bool made_step(struct flow *f)
{
	struct made_decoding *d = f->decoding;

	emit_jumps(f);
	for (uint64_t i = 0; i < silence && !*f->stop; i++)
		flow_passed(f, d->offset += 1 << 20);
	for (unsigned int i = 0; i < events && !*f->stop; i++)
		emit_one(f, d);
	if ((unsigned int)dies_on == f->cpu->cpu && d->turn == turns / 2) {
		free(d);
		out_of_memory();
	}
	f->tsc += next_random(d) % 1000;
	f->turn_tsc = f->tsc;
	if (++d->turn < turns && !*f->stop)
		return true;
	f->sum->unsynced++;
	flow_emit_disable(f, 0, false);
	return false;
}

static void made_end_flow(struct flow *f)
{
	free(f->decoding);
	f->decoding = NULL;
}

static const struct flow_decoder made_decoder = { .begin = made_begin_flow, .step = made_step, .end = made_end_flow };

/* ---- a view that notes what it hears ---------------------------------------- */

static struct {
	struct view view;
	uint64_t hash, heard, stop_at;	/* of all; how often; stop then, 0: never */
	volatile bool *stop;
	/* For a view that takes several blocks at once: */
	uint64_t plain;		/* instructions, since it last heard something else */
} note;

static void mix(uint64_t value)
{
	note.hash = (note.hash ^ value) * 0x100000001b3ull;
	note.hash ^= note.hash >> 29;
}

static void hear(const struct flow *f, unsigned int what, uint64_t a, uint64_t b)
{
	const struct run *t = f ? flow_thread(f) : NULL;

	mix(note.plain);
	note.plain = 0;
	mix(what);
	mix(a);
	mix(b);
	if (f) {
		mix(f->cr3);
		mix(f->tsc);
		mix(f->turn_tsc);
		mix(f->reached);
		mix(f->open | f->resumed << 1 | f->in_probes << 2);
		mix(t ? t->tid : 99);
		mix(f->cpu->cpu);
		mix(f->records.nr_switches);
	}
	if (++note.heard == note.stop_at)
		*note.stop = true;
}

static void hear_cpu(struct view *v, unsigned int cpu)
{
	(void)v;
	hear(NULL, 1, cpu, 0);
}

static void hear_thread(struct view *v, const struct flow *f)
{
	(void)v;
	hear(f, 2, 0, 0);
}

static void hear_turn(struct view *v, const struct flow *f)
{
	(void)v;
	hear(f, 3, 0, 0);
}

static void hear_window(struct view *v, const struct flow *f, uint64_t seq)
{
	(void)v;
	hear(f, 4, seq, 0);
}

static void hear_sample(struct view *v, const struct flow *f, size_t nr, const struct auxtrace_record_sample *s)
{
	(void)v;
	hear(f, 5, nr, s->length);
}

static void hear_enable(struct view *v, const struct flow *f, uint64_t ip)
{
	(void)v;
	hear(f, 6, ip, 0);
}

static void hear_disable(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	(void)v;
	hear(f, 7, ip, known);
}

static void hear_insn(struct view *v, const struct flow *f, const struct pt_insn *insn)
{
	(void)v;
	hear(f, 8, insn->ip, insn->size << 16 | insn->mode << 8 | insn->iclass);
}

static void hear_block(struct view *v, const struct flow *f, const struct code_block *b, unsigned int count)
{
	(void)v;
	hear(f, 9, b->ip, count << 8 | b->count);
	hear(f, 9, b->length << 8 | b->last_length, b->iclass << 8 | b->mode);
	for (unsigned int i = 0; i < b->count; i++)
		mix(b->size[i]);
}

/* Heard as if each block came alone: where they are divided does not matter, but for calls. */
static void hear_blocks(struct view *v, const struct flow *f, uint64_t ip, unsigned int count, const struct pt_insn *last)
{
	(void)v;
	if (!note.plain)
		mix(ip);
	note.plain += count;
	if (last->iclass == ptic_call)
		hear(f, 16, last->ip, last->size << 8 | last->mode);
}

static void hear_whole_block(struct view *v, const struct flow *f, const struct code_block *b, unsigned int count)
{
	const struct pt_insn last = { .ip = block_last(b), .size = b->last_length, .mode = b->mode, .iclass = b->iclass };

	if (count == b->count)
		hear_blocks(v, f, b->ip, count, &last);
	else
		hear_block(v, f, b, count);
}

static void hear_async(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known)
{
	(void)v;
	hear(f, 10, from, to << 1 | known);
}

static void hear_overflow(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	(void)v;
	hear(f, 11, ip, known);
}

static void hear_skip(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	(void)v;
	hear(f, 12, ip, cr3);
}

static void hear_error(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip, const char *message)
{
	(void)v;
	hear(f, 13, offset, ip);
	for (; *message; message++)
		mix(*message);
}

static void hear_cpu_event(struct view *v, const struct flow *f, const struct cpu_event *e)
{
	(void)v;
	hear(f, 14, e->what << 16 | e->last << 8 | e->deepest, e->tsc);
}

static void hear_branch(struct view *v, const struct flow *f, const struct branch *b)
{
	(void)v;
	hear(f, 15, b->from, b->to << 1 | b->walked);
}

static const struct view all_callbacks = {
	.cpu = hear_cpu, .thread = hear_thread, .turn = hear_turn, .window = hear_window, .sample = hear_sample,
	.enable = hear_enable, .disable = hear_disable, .insn = hear_insn, .block = hear_block, .async = hear_async,
	.overflow = hear_overflow, .skip = hear_skip, .error = hear_error, .cpu_event = hear_cpu_event, .branch = hear_branch,
};

static struct view *the_view(void *context)
{
	(void)context;
	return &note.view;
}

/* ---- runs ------------------------------------------------------------------ */

/* What a run left */
struct outcome {
	int err;
	uint64_t hash, heard;
	struct flow_sum sum;
	char said[4096];
};

static int begin(void **state)
{
	const struct {
		struct auxtrace_record_switch first, second;
	} records = {
		{ { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT, sizeof(records.first) }, 200, 201,
		  { 2000, 101, sizeof(records.first) } },
		{ { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT, sizeof(records.first) }, 300, 301,
		  { 3000, 201, sizeof(records.first) } },
	};
	char line[64];

	if (packets_begin(state))
		return -1;
	/* Under helgrind they take long. */
	turns = getenv("JOBS_BRIEF") ? 10 : 100;
	events = 200;
	jumps = 0;
	silence = 0;
	dies_on = -1;
	snprintf(line, sizeof(line), "windows 1 data_read %zu", sizeof(records));
	psb(CR3, 1000, 0);
	finish(AUXTRACE_SETUP_USER, line);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		char name[32];
		FILE *f;

		snprintf(name, sizeof(name), "cpu%u.data", cpu);
		f = file(name);
		fwrite(&records, sizeof(records), 1, f);
		fclose(f);
		if (!cpu)
			continue;
		snprintf(line, sizeof(line), "cpu %u read 8 produced 8 windows 1 data_read %zu\n", cpu, sizeof(records));
		append("meta", line);
		snprintf(name, sizeof(name), "cpu%u.aux", cpu);
		append(name, "12345678");
	}
	return 0;
}

/* stderr goes to a file of the recording meanwhile. */
static int run_with(struct replay *r, char *said, size_t size)
{
	int before = dup(STDERR_FILENO), err;
	FILE *f = file("said");
	size_t got;

	fflush(stderr);
	dup2(fileno(f), STDERR_FILENO);
	fclose(f);
	err = replay_run(r, the_view, NULL);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	f = fopen(program_path("said"), "r");
	assert_non_null(f);
	got = fread(said, 1, size - 1, f);
	said[got] = 0;
	fclose(f);
	return err;
}

static void decode(struct outcome *o, unsigned int jobs, bool by_time, const struct view *view, uint64_t stop_at)
{
	struct replay r = { .cpu = -1, .by_time = by_time, .jobs = jobs };

	memset(o, 0, sizeof(*o));
	memset(&note, 0, sizeof(note));
	note.view = *view;
	note.stop = &r.stop;
	note.stop_at = stop_at;
	assert_true(replay_open(&r, dir, ""));
	r.decoder = &made_decoder;
	o->err = run_with(&r, o->said, sizeof(o->said));
	assert_null(r.relays);
	o->heard = note.heard;
	o->sum = r.sum;
	for (size_t i = 0; i < r.sum.nr_skipped; i++) {
		mix(r.sum.skipped[i].cr3);
		mix(r.sum.skipped[i].ip);
		mix(r.sum.skipped[i].times << 1 | r.sum.skipped[i].probes);
	}
	o->hash = note.hash;
	o->sum.skipped = NULL;
	replay_close(&r);
}

static void expect_same(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->err, b->err);
	assert_string_equal(a->said, b->said);
	assert_int_equal(a->heard, b->heard);
	assert_true(a->hash == b->hash);
	assert_memory_equal(&a->sum, &b->sum, sizeof(a->sum));
}

/* ---- tests ----------------------------------------------------------------- */

static void the_view_hears_the_same_from_any_number_of_threads(void **state)
{
	struct view no_blocks = all_callbacks, few = all_callbacks, merged = all_callbacks;
	const struct view *views[] = { &all_callbacks, &no_blocks, &few, &merged };
	static struct outcome one, more;

	(void)state;
	no_blocks.block = NULL;
	merged.block = hear_whole_block;
	merged.blocks = hear_blocks;
	few.thread = NULL;
	few.turn = NULL;
	few.cpu_event = NULL;
	few.branch = NULL;
	for (unsigned int v = 0; v < 4; v++)
		for (int by_time = 0; by_time < 2; by_time++) {
			decode(&one, 1, by_time, views[v], 0);
			assert_int_equal(one.err, 0);
			assert_string_equal(one.said, "auxtrace: cpu 0 begins\nauxtrace: cpu 1 begins\nauxtrace: cpu 2 begins\n");
			assert_true(one.heard > 400 * turns && one.sum.nr_skipped > 10 * turns);
			for (unsigned int jobs = 2; jobs <= 4; jobs++) {
				decode(&more, jobs, by_time, views[v], 0);
				expect_same(&one, &more);
			}
		}
}

/* Nothing but their number bounds the blocks that a thread sends as one: a message counts up to 65,535 instructions. */
static void a_long_loop_is_counted_whole(void **state)
{
	struct view merged = all_callbacks;
	static struct outcome one, more;

	(void)state;
	merged.block = hear_whole_block;
	merged.blocks = hear_blocks;
	turns = 2;
	events = 1;
	jumps = 3 * 65536 / BLOCK_MAX;
	decode(&one, 1, false, &merged, 0);
	decode(&more, 2, false, &merged, 0);
	assert_true(one.sum.instructions > CPUS * turns * 2 * 65536);
	expect_same(&one, &more);
}

/* Code is what there is most of: a view that does not want it must get all else. */
static void code_that_a_view_does_not_want_is_counted(void **state)
{
	static struct outcome all, none;
	struct view no_code = all_callbacks;

	(void)state;
	no_code.no_code = true;
	decode(&all, 2, false, &all_callbacks, 0);
	decode(&none, 2, false, &no_code, 0);
	assert_int_equal(none.err, 0);
	assert_true(none.heard < all.heard);
	assert_memory_equal(&none.sum, &all.sum, sizeof(all.sum));
}

/* Wherever the view stops: no thread waits for ever, and nothing comes but what ends a turn. */
static void a_view_can_stop_the_threads(void **state)
{
	static const uint64_t stops[] = { 1000, 1, 2, 3, 4, 40000 };
	/* Under helgrind a thread that runs ahead takes long. */
	unsigned int nr_stops = getenv("JOBS_BRIEF") ? 1 : sizeof(stops) / sizeof(*stops);
	static struct outcome o;

	(void)state;
	/* It does not come to its end. */
	turns = 1u << 30;
	for (unsigned int i = 0; i < nr_stops; i++)
		for (int by_time = 0; by_time < 2; by_time++)
			for (unsigned int jobs = 2; jobs <= 3; jobs++) {
				decode(&o, jobs, by_time, &all_callbacks, stops[i]);
				assert_int_equal(o.err, 0);
				assert_in_range(o.heard, stops[i], stops[i] + 3);
			}
}

static void stop_view(int signal)
{
	(void)signal;
	*note.stop = true;
}

/* As ^C does. The trace of a turn would last for hours. */
static void a_thread_that_tells_nothing_can_be_stopped(void **state)
{
	const struct itimerval soon = { .it_value.tv_usec = 50000 };
	struct view no_code = all_callbacks;
	static struct outcome o;

	(void)state;
	no_code.no_code = true;
	silence = 1ull << 40;
	signal(SIGALRM, stop_view);
	for (int by_time = 0; by_time < 2; by_time++) {
		assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
		decode(&o, 2, by_time, &no_code, 0);
		assert_int_equal(o.err, 0);
		assert_true(o.sum.decoded < silence << 20);
	}
}

/* Threads that are ahead do not count. */
static void what_the_view_has_not_heard_is_not_decoded(void **state)
{
	static struct outcome o;
	uint64_t turn;

	(void)state;
	turns = 1u << 30;
	silence = 1;
	for (int by_time = 0; by_time < 2; by_time++) {
		decode(&o, 3, by_time, &all_callbacks, 100000);
		/* A turn tells of more than 100 things. */
		turn = o.heard / 100 + CPUS;
		assert_in_range(o.sum.decoded, 1 << 20, turn << 20);
	}
}

static void a_thread_without_memory_ends_the_replay(void **state)
{
	static struct outcome o;

	(void)state;
	for (dies_on = 0; dies_on < CPUS; dies_on++)
		for (unsigned int jobs = 2; jobs <= 3; jobs++) {
			decode(&o, jobs, true, &all_callbacks, 0);
			assert_int_equal(o.err, -ENOMEM);
			assert_string_equal(o.said, "auxtrace: cpu 0 begins\nauxtrace: cpu 1 begins\nauxtrace: cpu 2 begins\n"
					    "auxtrace: out of memory\n");
		}
}

static void a_cpu_that_cannot_be_read_is_told_of_at_its_place(void **state)
{
	static struct outcome one, more;

	(void)state;
	assert_int_equal(unlink(program_path("cpu1.aux")), 0);
	decode(&one, 1, true, &all_callbacks, 0);
	assert_int_equal(one.err, -EBADMSG);
	expect_part(one.said, "auxtrace: cpu 0 begins\nauxtrace: cannot read ");
	assert_null(strstr(one.said, "cpu 2 begins"));
	for (unsigned int jobs = 2; jobs <= 4; jobs++) {
		decode(&more, jobs, true, &all_callbacks, 0);
		expect_same(&one, &more);
	}
}

/* So many threads can be started yet; -1: any number. The linker has all calls of pthread_create() come here. */
static int threads_left = -1;
static unsigned int threads_started;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg)
{
	if (!threads_left)
		return EAGAIN;
	threads_left -= threads_left > 0;
	threads_started++;
	return __real_pthread_create(thread, attr, run, arg);
}

static void without_enough_threads_there_are_none(void **state)
{
	static struct outcome one, more;

	(void)state;
	decode(&one, 1, true, &all_callbacks, 0);
	for (int can = 0; can < CPUS; can++) {
		threads_left = can;
		threads_started = 0;
		decode(&more, 2, true, &all_callbacks, 0);
		threads_left = -1;
		assert_int_equal(threads_started, can);
		expect_same(&one, &more);
	}
	threads_started = 0;
	decode(&more, 2, true, &all_callbacks, 0);
	assert_int_equal(threads_started, CPUS);
}

/* ---- queues ---------------------------------------------------------------- */

#define MESSAGES	50000

struct numbered {
	struct message head;
	uint64_t number;
	uint8_t more[];
};

static size_t size_of(uint64_t number)
{
	return sizeof(struct numbered) + (number % 1000 ? number % 50 : MESSAGE_MAX - sizeof(struct numbered));
}

static void *write_numbers(void *queue)
{
	struct queue *q = queue;

	queue_begin(q);
	for (uint64_t i = 0; i < MESSAGES && !q->stop; i++) {
		struct numbered *m = queue_write(q, i % 200, size_of(i));

		m->number = i;
		memset(m->more, i, size_of(i) - sizeof(*m));
	}
	queue_end(q);
	return NULL;
}

/* One writer has a place at a time, and each has few chunks: they wait for one another. */
static void a_queue_keeps_order_and_holds_its_part_of_the_memory(void **state)
{
	static const unsigned int counts[] = { 1024, 4096, 8192 };
	struct queues all;
	struct queue q[4];
	pthread_t t[4];

	(void)state;
	for (unsigned int c = 0; c < 3; c++) {
		queues_init(&all, counts[c], 1);
		assert_true(all.max_chunks * all.chunk_bytes * counts[c] <= QUEUES_BYTES);
		for (unsigned int i = 0; i < 4; i++) {
			queue_init(&q[i], &all);
			assert_int_equal(pthread_create(&t[i], NULL, write_numbers, &q[i]), 0);
		}
		for (uint64_t n = 0; n < MESSAGES; n++)
			for (unsigned int i = 0; i < 4; i++) {
				const struct numbered *m = (const void *)queue_read(&q[i]);

				assert_non_null(m);
				assert_int_equal(m->number, n);
				assert_int_equal(m->head.what, n % 200);
				assert_int_equal(m->head.size, (size_of(n) + 7) & ~7ul);
			}
		for (unsigned int i = 0; i < 4; i++) {
			assert_null(queue_read(&q[i]));
			pthread_join(t[i], NULL);
			assert_true(q[i].nr_chunks <= all.max_chunks);
			queue_destroy(&q[i]);
		}
		assert_int_equal(all.places, 1);
		queues_destroy(&all);
	}
}

static void a_closed_queue_lets_its_writer_end(void **state)
{
	struct queues all;
	struct queue q[2];
	pthread_t t[2];

	(void)state;
	queues_init(&all, 4096, 1);
	for (unsigned int i = 0; i < 2; i++) {
		queue_init(&q[i], &all);
		assert_int_equal(pthread_create(&t[i], NULL, write_numbers, &q[i]), 0);
	}
	/* Both are full then. */
	for (unsigned int i = 0; i < 2; i++)
		assert_non_null(queue_read(&q[i]));
	for (unsigned int i = 0; i < 2; i++)
		queue_close(&q[i]);
	for (unsigned int i = 0; i < 2; i++) {
		pthread_join(t[i], NULL);
		assert_true(q[i].stop);
		queue_destroy(&q[i]);
	}
	queues_destroy(&all);
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(the_view_hears_the_same_from_any_number_of_threads),
		t(a_long_loop_is_counted_whole),
		t(code_that_a_view_does_not_want_is_counted),
		t(a_view_can_stop_the_threads),
		t(a_thread_that_tells_nothing_can_be_stopped),
		t(what_the_view_has_not_heard_is_not_decoded),
		t(a_thread_without_memory_ends_the_replay),
		t(a_cpu_that_cannot_be_read_is_told_of_at_its_place),
		t(without_enough_threads_there_are_none),
		cmocka_unit_test(a_queue_keeps_order_and_holds_its_part_of_the_memory),
		cmocka_unit_test(a_closed_queue_lets_its_writer_end),
	};

	return cmocka_run_group_tests_name("relay", tests, NULL, NULL);
}
