// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data ring: where records lie, what is lost and counted, and writers that
 * interrupt each other while readers copy.
 *
 * NMIs are simulated in two ways: at each point in turn where the code under test reads
 * or changes what an NMI may change (shim_point()), and by signals that land
 * anywhere in a thread that writes at full speed.
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cmocka_all.h"
#include "core/data_ring.h"

#define SIZE		4096u
#define MAX_SLOTS	4
#define BACKWARD	AUXTRACE_SETUP_DATA_BACKWARD
#define OVERWRITE	AUXTRACE_SETUP_DATA_OVERWRITE
#define KINDS		4
#define LEVELS		3	/* a writer, an NMI in it, an NMI in that */
#define TEST_RECORD	0x7e57
#define MAX_FILL	8
#define LOST_SIZE	sizeof(struct auxtrace_record_lost)

static const u32 kinds[KINDS] = { 0, BACKWARD, OVERWRITE, BACKWARD | OVERWRITE };

static struct auxtrace_status_page page;
static struct auxtrace_user_page user;
static struct auxt_data_ring ring;
static struct auxtrace_setup setup;
static char *view;		/* as user space maps it */
static char *writers_view;
static u32 slot_bytes;

/* ---- the ring ------------------------------------------------------------- */

static void make(u32 flags, u32 slots)
{
	int fd = memfd_create("data", 0);
	u32 parts;

	setup = (struct auxtrace_setup) { .flags = flags, .data_size = SIZE * slots,
					  .slots = slots };
	parts = auxt_data_slots(&setup);
	slot_bytes = SIZE * slots / parts;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, setup.data_size), 0);
	view = mmap(NULL, setup.data_size, PROT_READ, MAP_SHARED, fd, 0);
	writers_view = mmap(NULL, 2 * setup.data_size, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(view != MAP_FAILED && writers_view != MAP_FAILED);
	for (u32 i = 0; i < 2 * parts; i++)
		assert_true(mmap(writers_view + i * slot_bytes, slot_bytes,
				 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
				 i / 2 * slot_bytes) != MAP_FAILED);
	close(fd);
	memset(&page, 0, sizeof(page));
	memset(&user, 0, sizeof(user));
	memset(&ring, 0, sizeof(ring));
	auxt_data_init(&ring, &setup, writers_view, &page, &user);
}

static void unmake(void)
{
	munmap(view, setup.data_size);
	munmap(writers_view, 2 * setup.data_size);
}

/* ---- records: each determines its own contents ------------------------------ */

struct test_record {
	struct auxtrace_record_header header;
	u64 level;
	u64 number;
	u64 fill[];
};

/* What the writers of each level have really done. */
static struct {
	u64 tried;
	u64 dropped;
} done[LEVELS];

static u64 pattern(u64 level, u64 number, u64 i)
{
	u64 x = number * 0x9e3779b97f4a7c15ull + level * 0xff51afd7ed558ccdull + i + 1;

	return x ^ x >> 29;
}

static u32 fills(u64 level, u64 number)
{
	return (u32)(pattern(level, number, 99) % (MAX_FILL + 1));
}

static u32 size_of(u64 level, u64 number)
{
	return (u32)(sizeof(struct test_record) + fills(level, number) * 8 +
		     sizeof(struct auxtrace_record_end));
}

static struct test_record *open_record(u64 level)
{
	u64 number = done[level].tried++;
	struct test_record *record;

	record = auxt_data_begin(&ring, TEST_RECORD, size_of(level, number), number,
				 (u32)level);
	if (!record) {
		done[level].dropped++;
		return NULL;
	}
	record->level = level;
	record->number = number;
	for (u32 i = 0; i < fills(level, number); i++)
		*(volatile u64 *)&record->fill[i] = pattern(level, number, i);
	return record;
}

static bool write_record(u64 level)
{
	if (!open_record(level))
		return false;
	auxt_data_end(&ring);
	return true;
}

/* ---- reading, by the ABI's definition of positions ------------------------- */

/* Offset in the slot of the record of @size bytes that ends at @end. */
static u32 offset_of(u64 end, u32 size)
{
	u64 at = setup.flags & BACKWARD ? -end : end - size;

	return (u32)(at % slot_bytes);
}

/* A copy of the record in one piece. */
static void fetch(const char *slot, u64 end, u32 size, void *to)
{
	u32 at = offset_of(end, size);
	u32 first = size < slot_bytes - at ? size : slot_bytes - at;

	memcpy(to, slot + at, first);
	memcpy((char *)to + first, slot, size - first);
}

union any {
	struct auxtrace_record_header header;
	struct auxtrace_record_lost lost;
	struct test_record test;
	char bytes[SIZE];
};

/* The size of the record that ends at @end: a walk back. 0: not that of a record. */
static u32 size_before(const char *slot, u64 end)
{
	struct auxtrace_record_header header;
	struct auxtrace_record_end tail;
	u32 size;

	if (setup.flags & BACKWARD) {
		fetch(slot, end, sizeof(header), &header);
		size = header.size;
	} else {
		fetch(slot, end, sizeof(tail), &tail);
		size = tail.size;
	}
	return size >= LOST_SIZE && size <= 256 && size % 8 == 0 ? size : 0;
}

/* Is the record complete: all that its writer wrote? */
static bool is_complete(const union any *r, u32 size)
{
	const struct auxtrace_record_end *end = (const void *)(r->bytes + size - sizeof(*end));

	if (r->header.size != size || end->size != size || r->header.misc)
		return false;
	if (r->header.type == AUXTRACE_RECORD_LOST)
		return size == LOST_SIZE && !r->lost.id && r->lost.lost;
	if (r->header.type != TEST_RECORD || r->test.level >= LEVELS ||
	    size != size_of(r->test.level, r->test.number) ||
	    end->time != r->test.number || end->tid != r->test.level)
		return false;
	for (u32 i = 0; i < fills(r->test.level, r->test.number); i++)
		if (r->test.fill[i] != pattern(r->test.level, r->test.number, i))
			return false;
	return true;
}

/* Counts of what a reader has found. */
struct found {
	u64 records;
	u64 lost_records;
	u64 lost;
	u64 next[LEVELS];	/* oldest number that may follow */
};

/* Going forward the numbers of a level grow. */
static bool note(struct found *found, const union any *r)
{
	found->records++;
	if (r->header.type == AUXTRACE_RECORD_LOST) {
		found->lost_records++;
		found->lost += r->lost.lost;
		return true;
	}
	if (r->test.number < found->next[r->test.level])
		return false;
	found->next[r->test.level] = r->test.number + 1;
	return true;
}

/* While no writer is active, [begin, end) must be complete records. */
static struct found read_all(u32 slot, u64 begin, u64 end)
{
	const char *at = view + slot * slot_bytes;
	u32 sizes[SIZE / 8], n = 0;
	struct found found = { };
	u64 p = end;
	union any r;

	/* Backward over all that may be complete, then forward over the same records. */
	while (p > begin) {
		u32 size = size_before(at, p);

		if (!size || p - begin < size)
			break;
		p -= size;
		sizes[n++] = size;
	}
	/* The rest that the walk does not reach is less than a record. */
	assert_true(p - begin < 256);
	if (!(setup.flags & OVERWRITE))
		assert_int_equal(p, begin);
	while (n) {
		u32 size = sizes[--n];

		p += size;
		fetch(at, p, size, &r);
		assert_true(is_complete(&r, size));
		assert_true(note(&found, &r));
	}
	assert_int_equal(p, end);
	return found;
}

static struct found read_present(void)
{
	u64 begin, end;

	auxt_data_oldest(&ring, &begin, &end);
	return read_all(AUXTRACE_DATA_SLOT(page.data_reserved), begin, end);
}

/* What must hold whenever no writer is active. */
static void check(void)
{
	u64 begin, end, tried = 0, dropped = 0;

	for (int i = 0; i < LEVELS; i++) {
		tried += done[i].tried;
		dropped += done[i].dropped;
	}
	auxt_data_oldest(&ring, &begin, &end);
	assert_int_equal(ring.nest, 0);
	assert_int_equal(page.data_head, AUXTRACE_DATA_POSITION(page.data_reserved));
	assert_int_equal(end, page.data_head);
	assert_true(end - begin <= slot_bytes);
	assert_int_equal(page.data_head,
			 page.data_consumed + (end - begin) + page.data_overwritten);
	assert_int_equal(page.data_lost, dropped);
	assert_true(page.data_records >= tried - dropped);
	assert_true(ring.pending <= dropped);
}

static void begin_test(u32 flags, u32 slots)
{
	memset(done, 0, sizeof(done));
	make(flags, slots);
	check();
}

static void end_test(void)
{
	check();
	unmake();
}

/* ---- NMIs at points --------------------------------------------------------- */

static struct {
	long at[LEVELS];	/* at which point of the level below; -1: none */
	long points[LEVELS];
	int level;		/* that runs */
	int landed;
	int records;		/* that each writes */
	bool reads;		/* the reader advances its tail just before */
	u32 pauses;		/* reason that each sets */
	u64 consumed;		/* after the newest */
} nmi = { .at = { -1, -1, -1 } };

void shim_point(void)
{
	int level = nmi.level + 1;

	if (level >= LEVELS || nmi.at[level] < 0 || nmi.points[nmi.level]++ != nmi.at[level])
		return;
	nmi.level = level;
	nmi.points[level] = 0;
	nmi.landed++;
	if (nmi.reads)
		user.data_tail = page.data_head;
	if (nmi.pauses)
		auxt_data_pause(&ring, nmi.pauses, true);
	for (int i = 0; i < nmi.records; i++)
		write_record((u64)level);
	nmi.consumed = page.data_consumed;
	nmi.level = level - 1;
}

static void quiet(void)
{
	for (int i = 0; i < LEVELS; i++) {
		nmi.at[i] = -1;
		nmi.points[i] = 0;
	}
	nmi.level = 0;
	nmi.landed = 0;
	nmi.records = 1;
	nmi.reads = false;
	nmi.pauses = 0;
	nmi.consumed = 0;
}

/* ---- tests: where records lie ------------------------------------------------ */

static void records_lie_where_the_abi_says(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		u64 position = 0;

		begin_test(kinds[kind], 1);
		for (int i = 0; i < 5; i++) {
			u32 size = size_of(0, (u64)i);
			const struct auxtrace_record_header *header;

			assert_true(write_record(0));
			position += size;
			assert_int_equal(page.data_head, position);
			header = (const void *)(view + (kinds[kind] & BACKWARD ?
							-position % SIZE : position - size));
			assert_int_equal(header->type, TEST_RECORD);
			assert_int_equal(header->size, size);
		}
		assert_int_equal(page.data_records, 5);
		assert_int_equal(read_present().records, 5);
		end_test();
	}
}

static void records_wrap_from_the_end_of_the_mapping_to_its_begin(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		u64 wrapped = 0, written = 0;
		struct found found;

		begin_test(kinds[kind], 1);
		while (wrapped < 100) {
			u64 before = page.data_head;

			if (!(kinds[kind] & OVERWRITE))
				user.data_tail = before;
			assert_true(write_record(0));
			written++;
			wrapped += (page.data_head - 1) / SIZE != before / SIZE &&
				   page.data_head % SIZE != 0;
			check();
			found = read_present();
			assert_true(found.records >= 1);
			assert_int_equal(found.next[0], written);
		}
		assert_int_equal(page.data_records, written);
		assert_int_equal(page.data_lost, 0);
		end_test();
	}
}

/* The newest records are there, as many as fit. */
static void an_overwritable_ring_keeps_the_newest(void **state)
{
	for (int kind = 2; kind < KINDS; kind++) {
		u64 fit = 0, bytes = 0;

		begin_test(kinds[kind], 1);
		for (int i = 0; i < 1000; i++)
			assert_true(write_record(0));
		while (bytes + size_of(0, 999 - fit) <= SIZE)
			bytes += size_of(0, 999 - fit++);
		assert_int_equal(read_present().records, fit);
		assert_int_equal(page.data_overwritten, page.data_head - SIZE);
		assert_int_equal(page.data_consumed, 0);
		end_test();
	}
}

/* ---- tests: losses ------------------------------------------------------------ */

static u64 fill_up(void)
{
	u64 dropped = done[0].dropped;

	while (done[0].dropped < dropped + 3)
		write_record(0);
	return done[0].dropped;
}

/* After a loss the reader is woken below the watermark, too. */
static void lack_of_space_wakes_the_reader(void **state)
{
	u64 head;

	begin_test(0, 1);
	ring.watermark = SIZE - 8;
	while (write_record(1))
		assert_false(auxt_data_is_readable(&ring, false));
	head = page.data_head;
	assert_true(head < SIZE - 8);
	assert_true(auxt_data_is_readable(&ring, false));
	auxt_data_report_lost(&ring, 0, 0);
	assert_true(auxt_data_is_readable(&ring, false));
	user.data_tail = head / 2;
	auxt_data_report_lost(&ring, 0, 0);
	assert_false(auxt_data_is_readable(&ring, false));
	unmake();
}

static void a_full_ring_drops_and_reports_how_many_once_there_is_space(void **state)
{
	for (int kind = 0; kind < 2; kind++) {
		u64 head, lost;
		struct found found;

		begin_test(kinds[kind], 1);
		lost = fill_up();
		head = page.data_head;
		assert_int_equal(read_present().lost_records, 0);
		assert_true(auxt_data_is_readable(&ring, false));
		check();

		user.data_tail = head;
		assert_true(auxt_data_has_new_tail(&ring));
		assert_true(write_record(0));
		found = read_present();
		assert_int_equal(found.records, 2);
		assert_int_equal(found.lost_records, 1);
		assert_int_equal(found.lost, lost);
		/* The older of the two. */
		assert_int_equal(size_before(view, head + LOST_SIZE), LOST_SIZE);
		assert_true(write_record(0));
		assert_int_equal(read_present().lost_records, 1);
		assert_int_equal(page.data_consumed, head);
		end_test();
	}
}

/* Space for the LOST record alone does not count: LOST records would repeat. */
static void a_lost_record_comes_with_what_follows_it(void **state)
{
	for (int kind = 0; kind < 2; kind++) {
		u64 lost;

		begin_test(kinds[kind], 1);
		lost = fill_up();
		/* Eight bytes at a time: the reader need not stop between two records. */
		while (SIZE - (page.data_head - user.data_tail) <
		       LOST_SIZE + size_of(0, done[0].tried)) {
			u64 head = page.data_head;

			assert_false(write_record(0));
			assert_int_equal(page.data_head, head);
			lost++;
			user.data_tail += 8;
		}
		assert_true(write_record(0));
		assert_int_equal(ring.pending, 0);
		assert_int_equal(size_before(view, page.data_head - size_of(0, done[0].tried - 1)),
				 LOST_SIZE);
		assert_int_equal(page.data_lost, lost);
		end_test();
	}
}

static void a_paused_ring_drops_all_and_says_so_when_it_goes_on(void **state)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct found found;
		u64 head;

		begin_test(kinds[kind], 1);
		for (int i = 0; i < 10; i++)
			assert_true(write_record(0));
		head = page.data_head;
		auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, true);
		assert_int_equal(page.data_paused, 1);
		for (int i = 0; i < 7; i++)
			assert_false(write_record(0));
		auxt_data_report_lost(&ring, 0, 0);
		check();
		assert_int_equal(page.data_head, head);
		assert_int_equal(page.data_lost, 7);
		/* Not for lack of space. */
		assert_int_equal(ring.refused, 0);

		auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, false);
		assert_int_equal(page.data_paused, 0);
		auxt_data_report_lost(&ring, 5, 6);
		assert_int_equal(page.data_head, head + LOST_SIZE);
		found = read_present();
		assert_int_equal(found.records, 11);
		assert_int_equal(found.lost, 7);
		auxt_data_report_lost(&ring, 5, 6);
		assert_int_equal(page.data_head, head + LOST_SIZE);

		/* Nothing dropped, nothing reported. */
		auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, true);
		auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, false);
		auxt_data_report_lost(&ring, 5, 6);
		assert_int_equal(page.data_records, 11);
		end_test();
	}
}

/* A freeze in an NMI at any point where the other reason is set, again or anew, or cleared. */
static void reasons_to_pause_do_not_touch_each_other(void **state)
{
	for (int was = 0; was < 2; was++)
	for (int pause = 0; pause < 2; pause++)
	for (int landed = 1, at = 0; landed; at++) {
		begin_test(0, 1);
		auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, was);
		assert_int_equal(page.data_paused, was ? AUXTRACE_DATA_PAUSED : 0);
		quiet();
		nmi.at[1] = at;
		nmi.records = 0;
		nmi.pauses = AUXTRACE_DATA_FROZEN;
		auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, pause);
		landed = nmi.landed;
		quiet();
		assert_int_equal(page.data_paused, (pause ? AUXTRACE_DATA_PAUSED : 0) |
						   (landed ? AUXTRACE_DATA_FROZEN : 0));
		end_test();
	}
}

static void a_ring_that_is_full_when_it_goes_on_reports_later(void **state)
{
	struct found found;

	begin_test(0, 1);
	while (SIZE - page.data_head >= 128)
		assert_true(write_record(0));
	while (SIZE - page.data_head >= size_of(0, done[0].tried))
		assert_true(write_record(0));
	auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, true);
	assert_false(write_record(0));
	auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, false);
	if (SIZE - page.data_head < LOST_SIZE) {
		auxt_data_report_lost(&ring, 0, 0);
		assert_int_equal(ring.pending, 1);
	}
	user.data_tail = page.data_head;
	auxt_data_report_lost(&ring, 0, 0);
	assert_int_equal(ring.pending, 0);
	found = read_present();
	assert_int_equal(found.lost, 1);
	end_test();
}

/* A writer that is interrupted by more than a ring of records keeps its own. */
static void an_open_record_is_not_lapped(void **state)
{
	for (int kind = 2; kind < KINDS; kind++) {
		struct found found;

		begin_test(kinds[kind], 1);
		for (int i = 0; i < 100; i++)
			assert_true(write_record(0));
		assert_non_null(open_record(0));
		while (write_record(1))
			assert_true(done[1].tried < SIZE / 40);
		auxt_data_end(&ring);
		found = read_present();
		assert_int_equal(found.next[0], 101);
		assert_int_equal(found.records, done[1].tried);	/* all but one, and ours */
		assert_true(write_record(0));
		assert_int_equal(read_present().lost, 1);
		end_test();
	}
}

/* ---- tests: tails ------------------------------------------------------------- */

static void a_bad_tail_is_counted_once_and_ignored(void **state)
{
	u64 head;

	begin_test(0, 1);
	for (int i = 0; i < 10; i++)
		assert_true(write_record(0));
	head = page.data_head;
	assert_false(auxt_data_has_new_tail(&ring));
	user.data_tail = head - 8;
	assert_true(auxt_data_has_new_tail(&ring));
	auxt_data_report_lost(&ring, 0, 0);
	assert_int_equal(page.data_consumed, head - 8);
	assert_int_equal(page.data_bad_tails, 0);
	assert_false(auxt_data_has_new_tail(&ring));

	const u64 bad[] = { 0, head + 8, UINT64_MAX, head - 16 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		user.data_tail = bad[i];
		assert_true(auxt_data_has_new_tail(&ring));
		for (int n = 0; n < 3; n++)
			auxt_data_report_lost(&ring, 0, 0);
		assert_false(auxt_data_has_new_tail(&ring));
		assert_int_equal(page.data_bad_tails, i + 1);
		assert_int_equal(page.data_consumed, head - 8);
	}
	/* A tail that was ahead is valid once the data is there. */
	user.data_tail = head + 8;
	auxt_data_report_lost(&ring, 0, 0);
	assert_true(write_record(0));
	auxt_data_report_lost(&ring, 0, 0);
	assert_int_equal(page.data_consumed, head + 8);
	assert_int_equal(page.data_bad_tails, 5);
	unmake();
}

static void an_overwritable_ring_has_no_tail(void **state)
{
	const u64 tails[] = { 8, SIZE, UINT64_MAX };

	begin_test(OVERWRITE, 1);
	for (int i = 0; i < 10; i++)
		assert_true(write_record(0));
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		user.data_tail = tails[i];
		assert_false(auxt_data_has_new_tail(&ring));
		auxt_data_report_lost(&ring, 0, 0);
		assert_int_equal(page.data_consumed, 0);
		assert_int_equal(page.data_bad_tails, 0);
	}
	end_test();
}

static void random_tails_do_no_harm(void **state)
{
	u64 was = 0;

	srand(3);
	for (int kind = 0; kind < 2; kind++) {
		begin_test(kinds[kind], 1);
		was = 0;
		for (int i = 0; i < 200000; i++) {
			switch (rand() % 4) {
			case 0:
				user.data_tail = (u64)rand() << 33 ^ (u64)rand() << 10;
				break;
			case 1:
				user.data_tail = page.data_head - (u64)rand() % SIZE;
				break;
			case 2:
				user.data_tail = page.data_head + (u64)rand() % 64;
				break;
			}
			write_record(0);
			assert_true(page.data_consumed >= was);
			was = page.data_consumed;
			check();
		}
		assert_true(page.data_bad_tails > 1000);
		end_test();
	}
}

static void the_watermark_says_when_it_is_worth_reading(void **state)
{
	/* Of an overwritable ring nobody asks: test_settle. */
	for (int kind = 0; kind < 2; kind++) {
		begin_test(kinds[kind], 1);
		assert_false(auxt_data_is_readable(&ring, true));
		assert_true(write_record(0));
		assert_false(auxt_data_is_readable(&ring, false));
		assert_true(auxt_data_is_readable(&ring, true));
		while (page.data_head < SIZE / 2) {
			assert_false(auxt_data_is_readable(&ring, false));
			assert_true(write_record(0));
		}
		assert_true(auxt_data_is_readable(&ring, false));
		end_test();
	}
}

/* ---- tests: slots --------------------------------------------------------------- */

static void a_retained_slot_stays_as_it_is(void **state)
{
	for (int kind = 2; kind < KINDS; kind++) {
		u64 begin[MAX_SLOTS], end[MAX_SLOTS];
		struct found found[MAX_SLOTS];
		u32 slot = 0;

		begin_test(kinds[kind], MAX_SLOTS);
		assert_int_equal(slot_bytes, SIZE);
		for (u32 i = 0; i < MAX_SLOTS - 1; i++) {
			/* Less than a slot, or more. */
			for (u32 n = 0; n < 20 + 100 * i; n++)
				assert_true(write_record(0));
			found[slot] = read_present();
			auxt_data_switch(&ring, slot + 1, &begin[slot], &end[slot]);
			check();
			assert_int_equal(end[slot], page.data_head);
			assert_int_equal(page.data_slot_begin, page.data_head);
			assert_int_equal(AUXTRACE_DATA_SLOT(page.data_reserved), slot + 1);
			assert_int_equal(read_present().records, 0);
			slot++;
		}
		for (int n = 0; n < 1000; n++) {
			assert_true(write_record(0));
			check();
		}
		for (slot = 0; slot < MAX_SLOTS - 1; slot++) {
			struct found now = read_all(slot, begin[slot], end[slot]);

			assert_true(end[slot] - begin[slot] <= SIZE);
			assert_memory_equal(&now, &found[slot], sizeof(now));
		}
		assert_int_equal(page.data_consumed, (end[0] - begin[0]) +
				 (end[1] - begin[1]) + (end[2] - begin[2]));
		end_test();
	}
}

static void a_slot_used_again_shows_nothing_of_its_earlier_use(void **state)
{
	u64 begin, end;

	for (int kind = 2; kind < KINDS; kind++) {
		begin_test(kinds[kind], 2);
		srand(5);
		for (u32 i = 0; i < 1000; i++) {
			u64 number = done[0].tried, from = page.data_slot_begin;
			int count = rand() % 100;

			for (int n = 0; n < count; n++)
				assert_true(write_record(0));
			if (count)
				assert_int_equal(read_present().next[0], number + (u64)count);
			else
				assert_int_equal(read_present().records, 0);
			check();
			auxt_data_switch(&ring, (i + 1) % 2, &begin, &end);
			check();
			/* All of the slot was retained, or what it holds. */
			assert_int_equal(end, page.data_head);
			assert_int_equal(begin, end - min(end - from, (u64)slot_bytes));
		}
		end_test();
	}
}

/* ---- tests: nesting ---------------------------------------------------------------- */

enum act { WRITE, TELL_LOST, PAUSE, SWITCH, ACTS };

static void act(enum act what)
{
	u64 begin, end;

	switch (what) {
	case WRITE:
		write_record(0);
		break;
	case TELL_LOST:
		auxt_data_report_lost(&ring, 0, 0);
		break;
	case PAUSE:
		auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, true);
		break;
	default:
		auxt_data_switch(&ring, 1, &begin, &end);
		assert_int_equal(AUXTRACE_DATA_SLOT(page.data_reserved), 1);
		assert_int_equal(page.data_slot_begin, end);
		assert_true(read_all(0, begin, end).records >= 3);
	}
}

/* States in which each path is taken: space, none, losses to report, tails. */
enum before { EMPTY, FULL, READ, READ_BY_AND_BY, BAD_TAIL, BEFORES };

static void prepare(u32 flags, enum before before)
{
	begin_test(flags, flags & OVERWRITE ? 2 : 1);
	for (int i = 0; i < 3; i++)
		write_record(0);
	if (before == EMPTY)
		return;
	if (flags & OVERWRITE) {
		for (int i = 0; i < 100; i++)
			write_record(0);
		auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, true);
		write_record(0);
		auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, false);
		return;
	}
	fill_up();
	if (before == READ)
		user.data_tail = page.data_head;
	else if (before == READ_BY_AND_BY)
		user.data_tail = page.data_head - 1024;
	else if (before == BAD_TAIL)
		user.data_tail = page.data_head + 1;
}

/* Returns how many NMIs landed: one at point @at of the act, one at @in_it of that. */
static int interrupted(u32 flags, enum before before, enum act what, long at, long in_it)
{
	bool full = before != EMPTY && !(flags & OVERWRITE);
	struct found found;
	int landed;
	u64 old, head;

	quiet();
	prepare(flags, before);
	old = page.data_records;
	head = page.data_head;
	nmi.at[1] = at;
	nmi.at[2] = in_it;
	nmi.reads = full && before == READ_BY_AND_BY;
	act(what);
	landed = nmi.landed;
	assert_true(page.data_consumed >= nmi.consumed);
	quiet();
	check();
	/* The whole range, including what the reader has consumed. */
	found = flags & OVERWRITE ? read_present() :
		read_all(0, page.data_consumed ? head : 0, page.data_head);
	/* Each drop is reported or pending. (Else the LOST record was overwritten.) */
	if (!(flags & OVERWRITE) || before == EMPTY)
		assert_int_equal(found.lost + ring.pending, page.data_lost);
	if (!(flags & OVERWRITE))
		assert_int_equal(found.records, page.data_records - (page.data_consumed ? old : 0));
	if (full && before == BAD_TAIL && what != PAUSE)
		assert_int_equal(page.data_bad_tails, 1);
	else
		assert_true(page.data_bad_tails <= (full && before == BAD_TAIL));
	unmake();
	return landed;
}

/* From each state, in each act: one NMI at each point, and in that another at each. */
static void an_nmi_may_land_anywhere(void **state)
{
	long landed = 0;

	for (int kind = 0; kind < KINDS; kind++)
	for (int before = 0; before < BEFORES; before++)
	for (int what = 0; what < ACTS; what++) {
		long at, in_it;

		if (what == SWITCH && !(kinds[kind] & OVERWRITE))
			continue;
		for (at = 0; interrupted(kinds[kind], before, what, at, -1); at++) {
			landed++;
			for (in_it = 0; interrupted(kinds[kind], before, what, at, in_it) == 2;
			     in_it++)
				landed++;
			assert_true(in_it > 1);
		}
		assert_true(at > 0);
	}
	print_message("%ld NMIs\n", landed);
}

/* ---- a storm: signals in a writer at full speed, a reader in another thread ---------- */

/* The storm ends after so many signals have interrupted a writer. */
#define STORM_NMIS	300

static struct {
	pthread_t writer;
	bool over;
	u64 nmis;
	u64 inside;		/* those that came within a writer */
	u64 switches;
} storm;

static bool is_over(void)
{
	return __atomic_load_n(&storm.over, __ATOMIC_ACQUIRE);
}

static void nested_writer(int number)
{
	u64 level = number == SIGUSR1 ? 1 : 2;

	storm.nmis++;
	storm.inside += ring.nest > 0;
	for (int i = 0; i < 3; i++)
		write_record(level);
}

static void *interrupt(void *unused)
{
	while (!is_over()) {
		pthread_kill(storm.writer, SIGUSR1);
		for (int i = rand() % 500; i; i--)
			__builtin_ia32_pause();
		pthread_kill(storm.writer, SIGUSR2);
		for (int i = rand() % 500; i; i--)
			__builtin_ia32_pause();
	}
	return NULL;
}

/* Reads and advances the tail until all is read. */
static void *consume(void *answer)
{
	struct found *found = answer;
	u64 tail = 0;
	bool last;

	do {
		u64 head;

		last = is_over();
		head = __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
		while (tail < head) {
			union any r;
			u32 size;

			/* A backward ring is read newest first: sizes are found at the end. */
			if (setup.flags & BACKWARD) {
				u32 sizes[SIZE / 8], n = 0;
				u64 p = head;

				while (p > tail) {
					size = size_before(view, p);
					if (!size)
						return NULL;
					sizes[n++] = size;
					p -= size;
				}
				if (p != tail)
					return NULL;
				while (n) {
					size = sizes[--n];
					p += size;
					fetch(view, p, size, &r);
					if (!is_complete(&r, size) || !note(found, &r))
						return NULL;
				}
				tail = head;
				break;
			}
			fetch(view, tail + sizeof(r.header), sizeof(r.header), &r.header);
			size = r.header.size;
			if (size < LOST_SIZE || size > 256)
				return NULL;
			tail += size;
			fetch(view, tail, size, &r);
			if (!is_complete(&r, size) || !note(found, &r))
				return NULL;
		}
		__atomic_store_n(&user.data_tail, tail, __ATOMIC_RELEASE);
		/* Sometimes it is too slow. */
		if (!(rand() % 64))
			usleep(200);
	} while (!last);
	return found;
}

struct snoop {
	u64 looks;
	u64 records;
	u64 torn;
};

/* Copies during writes and keeps the part that is valid according to data_reserved. */
static void *snoop(void *answer)
{
	struct snoop *snoop = answer;
	static char copy[SIZE];

	while (!is_over()) {
		u64 before = __atomic_load_n(&page.data_reserved, __ATOMIC_ACQUIRE);
		u64 begin = __atomic_load_n(&page.data_slot_begin, __ATOMIC_ACQUIRE);
		u64 p = __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
		u64 after, oldest;

		memcpy(copy, view + AUXTRACE_DATA_SLOT(before) * slot_bytes, slot_bytes);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&page.data_reserved, __ATOMIC_RELAXED);
		/* Retained meanwhile: a cut will have it. */
		if (AUXTRACE_DATA_SLOT(after) != AUXTRACE_DATA_SLOT(before) ||
		    begin != __atomic_load_n(&page.data_slot_begin, __ATOMIC_RELAXED))
			continue;
		oldest = AUXTRACE_DATA_POSITION(after);
		oldest = oldest > begin + slot_bytes ? oldest - slot_bytes : begin;
		snoop->looks++;
		while (p > oldest) {
			struct auxtrace_record_header header;
			union any r;
			u32 size;

			if (p - oldest < LOST_SIZE)
				break;
			if (setup.flags & BACKWARD) {
				fetch(copy, p, sizeof(header), &header);
				size = header.size;
			} else {
				size = size_before(copy, p);
			}
			if (size && p - oldest < size)
				break;
			if (size < LOST_SIZE || size > 256) {
				snoop->torn++;
				break;
			}
			fetch(copy, p, size, &r);
			snoop->torn += !is_complete(&r, size);
			snoop->records++;
			p -= size;
		}
	}
	return snoop;
}

struct glance {
	u64 looks;
	u64 at_rest;
	u64 wrong;
};

/* Reads the sums of an overwritable ring as the ABI says, and checks those of no write. */
static void *glance(void *answer)
{
	struct glance *glance = answer;

	while (!is_over()) {
		u64 head = __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
		u64 overwritten = __atomic_load_n(&page.data_overwritten, __ATOMIC_RELAXED);

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		glance->looks++;
		if (__atomic_load_n(&page.data_reserved, __ATOMIC_RELAXED) != head)
			continue;
		glance->at_rest++;
		glance->wrong += overwritten != (head > SIZE ? head - SIZE : 0);
	}
	return glance;
}

static void catch(int number)
{
	struct sigaction action = { .sa_handler = nested_writer, .sa_flags = SA_RESTART };

	/* SIGUSR2 nests in SIGUSR1, never the other way round: each has its own level. */
	sigemptyset(&action.sa_mask);
	if (number == SIGUSR2)
		sigaddset(&action.sa_mask, SIGUSR1);
	assert_int_equal(sigaction(number, &action, NULL), 0);
}

/* Not before the reader's thread had its share: @count is above @least then. */
static void run_storm(u32 flags, u32 slots, void *(*reader)(void *), void *answer,
		      const volatile u64 *count, u64 least)
{
	pthread_t interrupter, reading;
	sigset_t ours, was;
	void *result;
	u64 begin, end;

	quiet();
	begin_test(flags, slots);
	storm.over = false;
	storm.nmis = 0;
	storm.inside = 0;
	storm.switches = 0;
	storm.writer = pthread_self();
	catch(SIGUSR1);
	catch(SIGUSR2);
	sigemptyset(&ours);
	sigaddset(&ours, SIGUSR1);
	sigaddset(&ours, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &ours, &was);
	assert_int_equal(pthread_create(&reading, NULL, reader, answer), 0);
	assert_int_equal(pthread_create(&interrupter, NULL, interrupt, NULL), 0);
	pthread_sigmask(SIG_SETMASK, &was, NULL);

	while (*(volatile u64 *)&storm.inside < STORM_NMIS || *count <= least) {
		for (int i = 0; i < 100; i++)
			write_record(0);
		if (slots > 1) {
			auxt_data_switch(&ring, (u32)(storm.switches++ % slots), &begin, &end);
			assert_true(end - begin <= slot_bytes);
		}
		if (!(rand() % 1000)) {
			auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, true);
			write_record(0);
			auxt_data_pause(&ring, AUXTRACE_DATA_PAUSED, false);
			auxt_data_report_lost(&ring, 0, 0);
		}
	}
	pthread_sigmask(SIG_BLOCK, &ours, NULL);
	/* Drops are reported as soon as there is space. */
	while (ring.pending) {
		auxt_data_report_lost(&ring, 0, 0);
		usleep(100);
	}
	__atomic_store_n(&storm.over, true, __ATOMIC_RELEASE);
	pthread_join(interrupter, NULL);
	pthread_join(reading, &result);
	/* A signal that is still pending lands now, as the last one. */
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	assert_non_null(result);
}

static void no_record_is_lost_unseen_in_a_storm(void **state)
{
	srand(11);
	for (int kind = 0; kind < 2; kind++) {
		struct found found = { };
		u64 tried = 0, dropped = 0, late;

		run_storm(kinds[kind], 1, consume, &found, &page.data_lost, 100);
		/* Signals that were pending at the end have written records that are still unread. */
		late = read_all(0, user.data_tail, page.data_head).records;
		for (int i = 0; i < LEVELS; i++) {
			tried += done[i].tried;
			dropped += done[i].dropped;
		}
		print_message("%llu records of %llu in %llu NMIs, %llu lost, %llu LOST\n",
			      (unsigned long long)page.data_records, (unsigned long long)tried,
			      (unsigned long long)storm.nmis, (unsigned long long)dropped,
			      (unsigned long long)found.lost_records);
		assert_int_equal(found.records + late, page.data_records);
		assert_int_equal(found.records - found.lost_records + late, tried - dropped);
		assert_int_equal(found.lost + ring.pending, dropped);
		assert_int_equal(page.data_lost, dropped);
		assert_int_equal(page.data_bad_tails, 0);
		assert_true(dropped > 100);
		end_test();
	}
}

static void no_torn_record_is_handed_out_in_a_storm(void **state)
{
	srand(12);
	for (int kind = 2; kind < KINDS; kind++)
	for (u32 slots = 1; slots <= MAX_SLOTS; slots *= MAX_SLOTS) {
		struct snoop seen = { };

		run_storm(kinds[kind], slots, snoop, &seen, &seen.records, 1000);
		print_message("%llu records, %llu NMIs, %llu switches; %llu seen in %llu looks\n",
			      (unsigned long long)page.data_records,
			      (unsigned long long)storm.nmis,
			      (unsigned long long)storm.switches,
			      (unsigned long long)seen.records, (unsigned long long)seen.looks);
		assert_int_equal(seen.torn, 0);
		assert_true(seen.records > 1000);
		if (slots == 1)
			read_present();
		end_test();
	}
}

static void the_sums_are_those_of_the_newest_record_in_a_storm(void **state)
{
	srand(13);
	for (int kind = 2; kind < KINDS; kind++) {
		struct glance seen = { };

		run_storm(kinds[kind], 1, glance, &seen, &seen.at_rest, 100000);
		print_message("%llu records, %llu NMIs; at rest in %llu of %llu looks\n",
			      (unsigned long long)page.data_records,
			      (unsigned long long)storm.nmis,
			      (unsigned long long)seen.at_rest, (unsigned long long)seen.looks);
		assert_int_equal(seen.wrong, 0);
		end_test();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_lie_where_the_abi_says),
		cmocka_unit_test(records_wrap_from_the_end_of_the_mapping_to_its_begin),
		cmocka_unit_test(an_overwritable_ring_keeps_the_newest),
		cmocka_unit_test(a_full_ring_drops_and_reports_how_many_once_there_is_space),
		cmocka_unit_test(lack_of_space_wakes_the_reader),
		cmocka_unit_test(a_lost_record_comes_with_what_follows_it),
		cmocka_unit_test(a_paused_ring_drops_all_and_says_so_when_it_goes_on),
		cmocka_unit_test(reasons_to_pause_do_not_touch_each_other),
		cmocka_unit_test(a_ring_that_is_full_when_it_goes_on_reports_later),
		cmocka_unit_test(an_open_record_is_not_lapped),
		cmocka_unit_test(a_bad_tail_is_counted_once_and_ignored),
		cmocka_unit_test(an_overwritable_ring_has_no_tail),
		cmocka_unit_test(random_tails_do_no_harm),
		cmocka_unit_test(the_watermark_says_when_it_is_worth_reading),
		cmocka_unit_test(a_retained_slot_stays_as_it_is),
		cmocka_unit_test(a_slot_used_again_shows_nothing_of_its_earlier_use),
		cmocka_unit_test(an_nmi_may_land_anywhere),
		cmocka_unit_test(no_record_is_lost_unseen_in_a_storm),
		cmocka_unit_test(no_torn_record_is_handed_out_in_a_storm),
		cmocka_unit_test(the_sums_are_those_of_the_newest_record_in_a_storm),
	};

	return cmocka_run_group_tests_name("data_ring", tests, NULL, NULL);
}
