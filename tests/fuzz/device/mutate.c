// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <string.h>

#include "mutate.h"
#include "program.h"

/* libFuzzer's own mutations of bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static uint64_t state;

static uint32_t random_number(void)
{
	/* xorshift64* */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL >> 32;
}

static uint32_t below(uint32_t n)
{
	return random_number() % n;
}

/*
 * What a session needs before the rest has an effect. Random records would hardly find these
 * sequences: a MMAP needs the right region, a TAIL the mappings, a hit its event.
 */
static const struct record begin[] = {
	{ .op = OP_OPEN }, { .op = OP_SETUP, .p = { 0x83, 0x5, 0, 0xf } },
	{ .op = OP_MMAP, .p = { 0 } }, { .op = OP_MMAP, .p = { 1 } },
	{ .op = OP_MMAP, .p = { 2 } }, { .op = OP_MMAP, .p = { 3 } },
	{ .op = OP_START }, { .op = OP_PHASE },
};
static const struct record begin_overwrite[] = {
	{ .op = OP_OPEN }, { .op = OP_SETUP, .p = { 0xc7, 0x35, 0x20, 0xf, 4, 4 } },
	{ .op = OP_MMAP, .p = { 0 } }, { .op = OP_START }, { .op = OP_PHASE },
	{ .op = OP_WORK, .p = { 5 } }, { .op = OP_SNAPSHOT, .p = { 2, 4 } },
	{ .op = OP_RELEASE, .p = { 0, 0 } },
};
/* The process and what it creates, with records of switches. */
static const struct record begin_scope[] = {
	{ .op = OP_OPEN },
	{ .op = OP_SETUP, .p = { 0x83, 0x5, 0, 0xf, 3, 4, 0, 0, 0x1f, 0, 0, 0, 0x36 } },
	{ .op = OP_MMAP, .p = { 1 } }, { .op = OP_START }, { .op = OP_PHASE },
	{ .op = OP_WORK, .p = { 5 } }, { .op = OP_STATUS, .p = { 1 } },
};
static const struct record hit[] = {
	{ .op = OP_ADD, .p = { 1, 1 } }, { .op = OP_FIRE, .p = { 0, 0, 3 } },
	{ .op = OP_READ, .p = { 0, 1 } }, { .op = OP_DEL },
};
static const struct record latency[] = {
	{ .op = OP_ADD, .p = { 1, 0 } }, { .op = OP_ADD, .p = { 2, 0 } },
	{ .op = OP_ADD, .p = { 8, 3, 6, 0, 0, 0, 4, 0, 1 } }, { .op = OP_FIRE, .p = { 0 } },
};
static const struct record full[] = {
	{ .op = OP_WORK, .p = { 7 } }, { .op = OP_TAIL }, { .op = OP_POLL },
	{ .op = OP_STATUS, .p = { 1 } }, { .op = OP_LOOK },
};
static const struct record pass[] = {
	{ .op = OP_PASS, .p = { 2 } }, { .op = OP_PASS, .p = { 1 } },
};
static const struct record control[] = {
	{ .op = OP_PAUSE, .p = { 0, 4 } }, { .op = OP_RESUME, .p = { 0, 4 } },
	{ .op = OP_OUTPUT, .p = { 0, 1 } }, { .op = OP_OUTPUT }, { .op = OP_STOP },
	{ .op = OP_START },
};
static const struct record again[] = {
	{ .op = OP_REPEAT, .p = { 31, 2 } }, { .op = OP_PAUSE }, { .op = OP_RESUME },
	{ .op = OP_STATUS, .p = { 1 } },
};
/* Thousands of calls in one session, which another thread's may meet at any place. */
static const struct record hammer[] = {
	{ .op = OP_REPEAT, .p = { 31, 3, 7 } }, { .op = OP_PAUSE }, { .op = OP_RESUME },
	{ .op = OP_TAIL }, { .op = OP_LOOK },
};
static const struct record hammer_hits[] = {
	{ .op = OP_REPEAT, .p = { 31, 2, 7 } }, { .op = OP_FIRE, .p = { 0, 0, 1 } },
	{ .op = OP_POLL }, { .op = OP_STATUS },
};
static const struct record again_hits[] = {
	{ .op = OP_REPEAT, .p = { 15, 3 } }, { .op = OP_FIRE, .p = { 0, 0, 3 } },
	{ .op = OP_SNAPSHOT, .p = { 2 } }, { .op = OP_RELEASE, .p = { 0, 1 } },
	{ .op = OP_RESUME },
};
static const struct record delayed[] = {
	{ .op = OP_ADD, .p = { 1, 1, 0, 0, 0x20, 1 } }, { .op = OP_FIRE },
	{ .op = OP_ADD, .p = { 1, 4, 0, 0, 0x40, 1 } }, { .op = OP_FIRE },
	{ .op = OP_WORK, .p = { 4 } }, { .op = OP_FIRE, .p = { 3, 255, 7 } }, { .op = OP_RESUME },
};

static const struct sequence {
	const struct record *record;
	unsigned int n;
} sequences[] = {
#define SEQUENCE(a) { a, COUNT(a) }
	SEQUENCE(begin), SEQUENCE(begin), SEQUENCE(begin_overwrite), SEQUENCE(begin_scope), SEQUENCE(hit),
	SEQUENCE(hit), SEQUENCE(latency), SEQUENCE(full), SEQUENCE(pass), SEQUENCE(control),
	SEQUENCE(again), SEQUENCE(again), SEQUENCE(again_hits), SEQUENCE(delayed),
	SEQUENCE(hammer), SEQUENCE(hammer_hits),
};
static const struct sequence repeats[] = {
	SEQUENCE(hammer), SEQUENCE(hammer_hits), SEQUENCE(again_hits),
};

struct program {
	struct record r[MAX_RECORDS];
	unsigned int n, max;
};

/* Make room for @n records; false if there is none. */
static bool make_room(struct program *p, unsigned int at, unsigned int n)
{
	if (p->n + n > p->max)
		return false;
	memmove(&p->r[at + n], &p->r[at], (p->n - at) * sizeof(p->r[0]));
	p->n += n;
	return true;
}

static void randomize(struct record *r)
{
	r->op = below(OPERATIONS);
	/* Often the first file and CPU, so that records work on the same. */
	r->who = random_number() & (below(4) ? 0x03 : 0xff);
	for (unsigned int i = 0; i < sizeof(r->p); i++)
		r->p[i] = random_number();
}

/* Insert @s at record @at, for the thread, file and CPU of @who. */
static void insert(struct program *p, const struct sequence *s, unsigned int at, unsigned int who)
{
	if (!make_room(p, at, s->n))
		return;
	for (unsigned int i = 0; i < s->n; i++) {
		p->r[at + i] = s->record[i];
		p->r[at + i].who = who;
		/* Which trigger, and how it is limited, is what matters most. */
		if (p->r[at + i].op == OP_ADD && below(2)) {
			p->r[at + i].p[1] = random_number();
			p->r[at + i].p[4] = random_number();
			p->r[at + i].p[5] = below(8);
		}
		/* One byte in some records is another. */
		if (!below(3))
			p->r[at + i].p[below(12)] = random_number();
	}
}

static void insert_sequence(struct program *p)
{
	const struct sequence *s = &sequences[below(COUNT(sequences))];
	unsigned int at = below(p->n + 1), who = random_number() & 0x3c;

	/* A session begins at the start, as a rule. */
	if (s->record[0].op == OP_OPEN && below(4))
		at = 0;
	insert(p, s, at, below(2) ? 0 : who);
}

static bool has_op(const struct program *p, unsigned int op)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (p->r[i].op % OPERATIONS == op)
			return true;
	return false;
}

/* Repeat calls in a session that has been started. */
static void insert_repeat(struct program *p)
{
	static const struct sequence a_begin = SEQUENCE(begin);
	unsigned int at, who;

	if (!has_op(p, OP_START))
		insert(p, &a_begin, 0, 0);
	if (!has_op(p, OP_START))
		return;
	do
		at = below(p->n);
	while (p->r[at].op % OPERATIONS != OP_START);
	/* Its file, of any thread. */
	who = p->r[at].who & ~3U & ~(WHO_BROKEN | WHO_FAILS);
	insert(p, &repeats[below(COUNT(repeats))], at + 1, who | below(THREADS));
}

static void change(struct program *p)
{
	unsigned int at = below(p->n), n, to;
	struct record *r = &p->r[at];

	switch (below(10)) {
	case 0:
		r->p[below(sizeof(r->p))] = random_number();
		break;
	case 1:
		r->p[below(4)] ^= 1U << below(8);
		break;
	case 2:
		r->op = below(OPERATIONS);
		break;
	case 3:
		r->who ^= 1U << below(8);
		break;
	case 4:
		LLVMFuzzerMutate((uint8_t *)r, sizeof(*r), sizeof(*r));
		break;
	case 5:		/* other threads run a part */
		n = 1 + below(p->n - at);
		for (unsigned int i = 0; i < n; i++)
			r[i].who = (r[i].who & ~3U) | below(THREADS);
		break;
	case 6:		/* a part is repeated */
		n = 1 + below(p->n - at);
		if (n > 32)
			n = 32;
		to = below(p->n + 1);
		if (p->n + n <= p->max) {
			struct record part[32];

			memcpy(part, r, n * sizeof(*r));
			make_room(p, to, n);
			memcpy(&p->r[to], part, n * sizeof(*r));
		}
		break;
	case 7:		/* a part goes */
		n = 1 + below(p->n - at);
		if (n > 8 && below(4))
			n = 1 + below(8);
		if (n == p->n)
			break;
		memmove(r, r + n, (p->n - at - n) * sizeof(*r));
		p->n -= n;
		break;
	case 8:		/* two change places */
		{
			unsigned int other = below(p->n);
			struct record r2 = p->r[other];

			p->r[other] = *r;
			*r = r2;
		}
		break;
	default:
		to = below(p->n + 1);
		if (make_room(p, to, 1))
			randomize(&p->r[to]);
	}
}

static void load(struct program *p, const uint8_t *data, size_t size, size_t max_size)
{
	p->n = size / sizeof(struct record);
	p->max = max_size / sizeof(struct record);
	if (p->max > MAX_RECORDS)
		p->max = MAX_RECORDS;
	if (p->n > p->max)
		p->n = p->max;
	memcpy(p->r, data, p->n * sizeof(struct record));
}

size_t mutate(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static struct program p;

	state = seed * 0x9e3779b97f4a7c15ULL + 1;
	load(&p, data, size, max_size);
	if (!p.max)
		return 0;
	for (unsigned int n = 1 + below(4); n; n--) {
		if (!p.n || !below(5))
			insert_sequence(&p);
		if (!p.n && make_room(&p, 0, 1))
			randomize(&p.r[0]);
		if (p.n)
			change(&p);
	}
	/* To set a session up takes milliseconds, a call in it microseconds: so most get a REPEAT. */
	if (!has_op(&p, OP_REPEAT) && below(4))
		insert_repeat(&p);
	memcpy(data, p.r, p.n * sizeof(struct record));
	return p.n * sizeof(struct record);
}

size_t cross_over(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
		  size_t max_size, unsigned int seed)
{
	static struct program p, q;
	unsigned int head, tail;

	state = seed * 0x9e3779b97f4a7c15ULL + 1;
	load(&p, a, a_size, max_size);
	load(&q, b, b_size, max_size);
	head = p.n ? below(p.n + 1) : 0;
	tail = q.n ? below(q.n + 1) : 0;
	if (head + tail > p.max)
		tail = p.max - head;
	memcpy(out, p.r, head * sizeof(struct record));
	memcpy(out + head * sizeof(struct record), &q.r[q.n - tail], tail * sizeof(struct record));
	return (head + tail) * sizeof(struct record);
}
