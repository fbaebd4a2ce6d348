// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads to which a session is limited: module/core/members.c, with a second CPU played, which
 * changes the table at each point of an operation where no lock keeps it out.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/auxtrace.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "cmocka_all.h"
#include "core/members.h"

#define BUCKETS		(1u << AUXT_MEMBER_BUCKET_BITS)
#define BLOCK		511u	/* places that are allocated at once */

struct task_struct shim_task;

static struct auxt_members *m;

/* ---- the other CPU ------------------------------------------------------ */

static struct {
	int (*run)(void);
	struct auxt_member_bucket *bucket;	/* whose lock it takes; NULL: of none */
	bool no_memory;		/* there is no memory from that point on */
	long at;		/* the point from which on it tries; -1: never */
	long points;
	bool ran;
	int ret;
} other = { .at = -1 };

void shim_point(void)
{
	unsigned int held = shim_locks_held;
	bool irqs_off = shim_irqs_off;

	if (other.at < 0 || other.ran || other.points++ < other.at)
		return;
	/* It waits for a lock that this CPU holds. */
	if (m && (m->free_lock.held || (other.bucket && other.bucket->lock.held)))
		return;
	other.ran = true;
	shim_no_memory = other.no_memory;
	shim_irqs_off = false;
	shim_locks_held = 0;
	other.ret = other.run ? other.run() : 0;
	assert_int_equal(shim_locks_held, 0);
	assert_false(shim_irqs_off);
	shim_irqs_off = irqs_off;
	shim_locks_held = held;
}

static void other_at(long at, int (*run)(void), struct auxt_member_bucket *bucket)
{
	memset(&other, 0, sizeof(other));
	other.at = at;
	other.run = run;
	other.bucket = bucket;
}

static void other_ends(void)
{
	other.at = -1;
}

/* ---- threads ------------------------------------------------------------ */

/* The n-th thread of a bucket. No code under test looks into a thread. */
static const struct task_struct *thread(unsigned int n, unsigned int bucket)
{
	return (const struct task_struct *)(((uintptr_t)(n + 1) * BUCKETS + bucket) * 4096);
}

static struct auxt_member_bucket *bucket_of(const struct task_struct *task)
{
	return auxt_members_bucket(m, task);
}

static bool have(const struct task_struct *task)
{
	bool is = auxt_members_have(m, task);

	assert_int_equal(shim_locks_held, 0);
	assert_false(shim_irqs_off);
	return is;
}

static int add(const struct task_struct *task)
{
	int ret = auxt_members_add(m, task);

	assert_int_equal(shim_locks_held, 0);
	assert_false(shim_irqs_off);
	return ret;
}

static void take(const struct task_struct *task)
{
	auxt_members_remove(m, task);
	assert_int_equal(shim_locks_held, 0);
	assert_false(shim_irqs_off);
}

static void counted(unsigned int used, unsigned int unused)
{
	assert_int_equal(m->nr_used, used);
	assert_int_equal(m->nr_free, unused);
	assert_int_equal(!m->free, !unused);
}

/* Each free place holds a thread, and there is no other one: fills the table up, and empties it. */
static void places_are_sound(void)
{
	const unsigned int unused = m->nr_free, used = m->nr_used, first = 1000000;
	unsigned int n;

	for (n = first; n < first + unused; n++)
		assert_int_equal(add(thread(n, n % 3)), 1);
	counted(used + unused, 0);
	assert_int_equal(add(thread(n, 0)), -ENOMEM);
	for (n = first; n < first + unused; n++)
		assert_true(have(thread(n, n % 3)));
	for (n = first; n < first + unused; n++)
		take(thread(n, n % 3));
	counted(used, unused);
}

static int begin(void **state)
{
	other_ends();
	shim_no_memory = false;
	m = auxt_members_new(0);
	return m ? 0 : -1;
}

static int end(void **state)
{
	other_ends();
	shim_no_memory = false;
	shim_lock_limit = 1ul << 40;
	auxt_members_free(m);
	m = NULL;
	return shim_waiting_work || shim_locked ? -1 : 0;
}

/* ---- one CPU ------------------------------------------------------------ */

static void a_new_table_has_places_and_no_member(void **state)
{
	struct auxt_members *mine = m;

	assert_int_equal(m->follow, 0);
	counted(0, BLOCK);
	assert_int_equal(atomic64_read(&m->lost), 0);
	for (unsigned int b = 0; b < BUCKETS; b++)
		assert_null(m->bucket[b].first);
	places_are_sound();
	m = auxt_members_new(AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_DESCENDANTS);
	assert_int_equal(m->follow, AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_DESCENDANTS);
	auxt_members_free(m);
	m = mine;
}

static void a_thread_is_a_member_until_it_is_removed(void **state)
{
	const struct task_struct *t = thread(0, 7), *neighbour = thread(0, 8);

	assert_false(have(t));
	assert_int_equal(add(t), 1);
	assert_true(have(t));
	assert_false(have(neighbour));
	assert_false(have(thread(1, 7)));
	counted(1, BLOCK - 1);
	/* The same thread twice. */
	assert_int_equal(add(t), 0);
	assert_true(have(t));
	counted(1, BLOCK - 1);
	/* The end of a thread that is no member, in an empty bucket and in this one. */
	take(neighbour);
	take(thread(1, 7));
	assert_true(have(t));
	counted(1, BLOCK - 1);
	take(t);
	assert_false(have(t));
	counted(0, BLOCK);
	take(t);
	counted(0, BLOCK);
	/* Another thread with its address. */
	assert_int_equal(add(t), 1);
	assert_true(have(t));
	places_are_sound();
}

/* Most buckets are empty, and each context switch asks. */
static void an_empty_bucket_takes_no_lock(void **state)
{
	unsigned int taken;

	assert_int_equal(add(thread(0, 5)), 1);
	taken = shim_locks_taken;
	for (unsigned int b = 0; b < BUCKETS; b++) {
		if (b == 5)
			continue;
		assert_false(have(thread(0, b)));
		take(thread(0, b));
	}
	assert_int_equal(shim_locks_taken, taken);
	/* Nor does the newest thread of a bucket, and who has another filter bit; the others do. */
	assert_true(have(thread(0, 5)));
	assert_false(have(thread(1, 5)));
	take(thread(1, 5));
	assert_int_equal(shim_locks_taken, taken);
	assert_false(have(thread(64, 5)));
	assert_int_equal(shim_locks_taken, taken + 1);
	assert_int_equal(add(thread(1, 5)), 1);
	taken = shim_locks_taken;
	assert_true(have(thread(1, 5)));
	assert_int_equal(shim_locks_taken, taken);
	assert_true(have(thread(0, 5)));
	assert_int_equal(shim_locks_taken, taken + 1);
	/* The bit of a member that has ended is gone, unless another one has it. */
	assert_int_equal(add(thread(65, 5)), 1);
	take(thread(1, 5));
	taken = shim_locks_taken;
	assert_false(have(thread(1, 5)));
	assert_int_equal(shim_locks_taken, taken + 1);
	take(thread(65, 5));
	taken = shim_locks_taken;
	assert_false(have(thread(1, 5)));
	assert_false(have(thread(65, 5)));
	assert_int_equal(shim_locks_taken, taken);
}

/* A place that is taken out of a list leaves all others in it: first, last and between. */
static void threads_of_one_bucket_are_removed_in_any_order(void **state)
{
	enum { N = 5 };

	for (unsigned int order = 0; order < 120; order++) {
		unsigned int rest = order, left[N];

		for (unsigned int n = 0; n < N; n++) {
			assert_int_equal(add(thread(n, 3)), 1);
			left[n] = n;
		}
		for (unsigned int n = N; n; n--) {
			unsigned int which = rest % n;

			rest /= n;
			take(thread(left[which], 3));
			assert_false(have(thread(left[which], 3)));
			memmove(&left[which], &left[which + 1], (n - which - 1) * sizeof(left[0]));
			for (unsigned int k = 0; k < n - 1; k++)
				assert_true(have(thread(left[k], 3)));
			counted(n - 1, BLOCK - (n - 1));
		}
		assert_null(m->bucket[3].first);
	}
	places_are_sound();
}

static void without_a_place_nothing_changes(void **state)
{
	struct auxt_member *first;

	for (unsigned int n = 0; n < BLOCK; n++)
		assert_int_equal(add(thread(n, n % 7)), 1);
	counted(BLOCK, 0);
	first = m->bucket[2].first;
	assert_int_equal(add(thread(BLOCK, 2)), -ENOMEM);
	assert_ptr_equal(m->bucket[2].first, first);
	assert_false(have(thread(BLOCK, 2)));
	assert_int_equal(add(thread(0, 8)), -ENOMEM);
	assert_null(m->bucket[8].first);
	counted(BLOCK, 0);
	/* The caller counts it. */
	assert_int_equal(atomic64_read(&m->lost), 0);
	/* What is a member needs none. */
	assert_int_equal(add(thread(0, 0)), 0);
	for (unsigned int n = 0; n < BLOCK; n++)
		assert_true(have(thread(n, n % 7)));
	take(thread(9, 2));
	assert_int_equal(add(thread(BLOCK, 2)), 1);
	assert_true(have(thread(BLOCK, 2)));
	counted(BLOCK, 0);
}

/* Fewer are free than a block has, or than are in use. */
static void the_work_is_queued_when_few_places_are_free(void **state)
{
	unsigned int blocks = 1, refills = 0;

	for (unsigned int used = 1; used <= 10 * BLOCK; used++) {
		unsigned int unused = blocks * BLOCK - used;
		unsigned int wanted = used > BLOCK ? used : BLOCK;

		assert_int_equal(add(thread(used, used % BUCKETS)), 1);
		counted(used, unused);
		assert_int_equal(m->refill.queued, unused < wanted);
		if (!m->refill.queued)
			continue;
		shim_run_work(&m->refill);
		while (blocks * BLOCK - used < wanted)
			blocks++;
		counted(used, blocks * BLOCK - used);
		refills++;
	}
	assert_true(refills > 3);
	for (unsigned int used = 1; used <= 10 * BLOCK; used++)
		assert_true(have(thread(used, used % BUCKETS)));
	places_are_sound();
}

/* A thread that exists already, or finds no place, asks for more as well. */
static void the_work_is_queued_whatever_came_of_the_thread(void **state)
{
	for (unsigned int n = 0; n < BLOCK; n++)
		add(thread(n, 0));
	m->refill.queued = false;
	assert_int_equal(add(thread(0, 0)), 0);
	assert_true(m->refill.queued);
	m->refill.queued = false;
	assert_int_equal(add(thread(BLOCK, 0)), -ENOMEM);
	assert_true(m->refill.queued);
	shim_run_work(&m->refill);
	counted(BLOCK, BLOCK);
	assert_int_equal(add(thread(BLOCK, 0)), 1);
}

static void reserve_allocates_what_is_wanting(void **state)
{
	/* A block, and as many as are asked for. */
	assert_int_equal(auxt_members_reserve(m, 0), 0);
	counted(0, BLOCK);
	add(thread(0, 0));
	assert_int_equal(auxt_members_reserve(m, 0), 0);
	counted(1, 2 * BLOCK - 1);
	assert_int_equal(auxt_members_reserve(m, BLOCK - 1), 0);
	counted(1, 2 * BLOCK - 1);
	assert_int_equal(auxt_members_reserve(m, BLOCK), 0);
	counted(1, 3 * BLOCK - 1);
	/* As many as are in use, where that is more. */
	for (unsigned int n = 1; n < 2 * BLOCK; n++)
		add(thread(n, n));
	assert_int_equal(auxt_members_reserve(m, 0), 0);
	counted(2 * BLOCK, 2 * BLOCK);
	places_are_sound();
}

static void without_memory_the_table_stays_as_it_is(void **state)
{
	for (unsigned int n = 0; n < BLOCK; n++)
		add(thread(n, n));
	shim_no_memory = true;
	assert_int_equal(auxt_members_reserve(m, 0), -ENOMEM);
	counted(BLOCK, 0);
	assert_true(m->refill.queued);
	shim_run_work(&m->refill);
	counted(BLOCK, 0);
	assert_false(m->refill.queued);
	/* The next thread asks again, and there is memory. */
	assert_int_equal(add(thread(BLOCK, 0)), -ENOMEM);
	assert_true(m->refill.queued);
	shim_no_memory = false;
	shim_run_work(&m->refill);
	counted(BLOCK, BLOCK);
	/* It suffices for one block of two, and ends before the first is in the table. */
	for (unsigned int n = BLOCK; n < 2 * BLOCK; n++)
		add(thread(n, n % BUCKETS));
	counted(2 * BLOCK, 0);
	other_at(4, NULL, NULL);
	other.no_memory = true;
	assert_int_equal(auxt_members_reserve(m, 0), -ENOMEM);
	other_ends();
	shim_no_memory = false;
	counted(2 * BLOCK, BLOCK);
	places_are_sound();
	assert_int_equal(auxt_members_reserve(m, 0), 0);
	counted(2 * BLOCK, 2 * BLOCK);
}

/* A block is of 8 KiB. */
#define TABLE_PAGES	((sizeof(*m) + PAGE_SIZE - 1) / PAGE_SIZE)

static void the_table_and_all_places_are_charged(void **state)
{
	assert_int_equal(shim_locked, TABLE_PAGES + 2);
	shim_lock_limit = TABLE_PAGES + 5;
	for (unsigned int n = 0; n < BLOCK; n++)
		add(thread(n, n));
	assert_int_equal(auxt_members_reserve(m, 0), 0);
	counted(BLOCK, BLOCK);
	assert_int_equal(shim_locked, TABLE_PAGES + 4);
	/* Beyond the limit a thread finds no place. What was charged is what there is. */
	for (unsigned int n = BLOCK; n < 2 * BLOCK; n++)
		assert_int_equal(add(thread(n, n)), 1);
	shim_run_work(&m->refill);
	assert_int_equal(add(thread(2 * BLOCK, 0)), -ENOMEM);
	shim_run_work(&m->refill);
	counted(2 * BLOCK, 0);
	assert_int_equal(shim_locked, TABLE_PAGES + 4);
	/* The user may lock more by now, but the kernel has no memory. */
	shim_lock_limit = TABLE_PAGES + 6;
	shim_no_memory = true;
	assert_int_equal(auxt_members_reserve(m, 0), -ENOMEM);
	assert_int_equal(shim_locked, TABLE_PAGES + 4);
	shim_no_memory = false;
	assert_int_equal(auxt_members_reserve(m, 0), -ENOMEM);
	counted(2 * BLOCK, BLOCK);
	assert_int_equal(shim_locked, TABLE_PAGES + 6);
}

static void beyond_the_limit_there_is_no_table(void **state)
{
	struct auxt_members *mine = m;
	unsigned long before = shim_locked;

	for (unsigned long more = 0; more < TABLE_PAGES + 2; more++) {
		shim_lock_limit = before + more;
		assert_null(auxt_members_new(0));
		assert_int_equal(shim_locked, before);
	}
	shim_lock_limit++;
	m = auxt_members_new(0);
	assert_non_null(m);
	auxt_members_free(m);
	assert_int_equal(shim_locked, before);
	m = mine;
}

/* One that waits to be reaped is in the table, but not alive. */
static void a_member_is_alive_until_it_exits(void **state)
{
	static struct task_struct tasks[20];

	for (unsigned int n = 0; n < 20; n++)
		add(&tasks[n]);
	assert_int_equal(auxt_members_alive(m), 20);
	for (unsigned int n = 0; n < 20; n += 2)
		tasks[n].exit_state = 1;
	assert_int_equal(auxt_members_alive(m), 10);
	counted(20, BLOCK - 20);
	for (unsigned int n = 0; n < 20; n++)
		take(&tasks[n]);
	assert_int_equal(auxt_members_alive(m), 0);
}

/* ASan finds what is left. */
static void a_table_without_places_is_none(void **state)
{
	struct auxt_members *mine = m;

	shim_no_memory = true;
	m = NULL;
	assert_null(auxt_members_new(0));
	/* The table itself is allocated, and no place. */
	shim_no_memory = false;
	other_at(0, NULL, NULL);
	other.no_memory = true;
	assert_null(auxt_members_new(0));
	assert_true(other.ran);
	other_ends();
	auxt_members_free(NULL);
	m = mine;
}

static void a_table_is_freed_with_its_members(void **state)
{
	struct auxt_members *mine = m;

	m = auxt_members_new(0);
	for (unsigned int n = 0; n < BLOCK; n++) {
		add(thread(n, n % 7));
		shim_run_work(&m->refill);
	}
	while (!m->refill.queued)
		add(thread(BLOCK + m->nr_used, 0));
	/* The work does not run afterwards. */
	assert_ptr_equal(shim_waiting_work, &m->refill);
	auxt_members_free(m);
	assert_null(shim_waiting_work);
	m = mine;
}

/* ---- two CPUs ----------------------------------------------------------- */

/*
 * Threads 0 to 4 of bucket 3 are members at first. Thread 1 ends on this CPU and thread 3 on the
 * other; thread 5 is created here and thread 6 there.
 */
static int there_add(void)
{
	return add(thread(6, 3));
}

static int there_remove(void)
{
	take(thread(3, 3));
	return 0;
}

/* All that is so whatever the other CPU does; the search takes no lock that anybody waits for. */
static int there_search(void)
{
	assert_true(have(thread(0, 3)));
	assert_true(have(thread(2, 3)));
	assert_true(have(thread(4, 3)));
	assert_false(have(thread(7, 3)));
	/* It has the filter bit of thread 2. */
	assert_false(have(thread(66, 3)));
	return 0;
}

static int there_reserve(void)
{
	return auxt_members_reserve(m, 0);
}

static int there_add_elsewhere(void)
{
	return add(thread(6, 4));
}

static void here_add(void)
{
	assert_int_equal(add(thread(5, 3)), 1);
}

static void here_remove(void)
{
	take(thread(1, 3));
}

static void here_search(void)
{
	there_search();
}

static void here_reserve(void)
{
	assert_int_equal(auxt_members_reserve(m, 0), 0);
}

static void two_cpus_at_once_are_as_one_after_the_other(void **state)
{
	static int (*const there[])(void) = {
		there_add, there_remove, there_search, there_reserve, there_add_elsewhere,
	};
	static void (*const here[])(void) = { here_add, here_remove, here_search, here_reserve };
	long ran = 0;

	end(state);
	for (unsigned int h = 0; h < 4; h++)
	for (unsigned int t = 0; t < 5; t++)
	for (long at = 0; ; at++) {
		unsigned int used = 5, blocks = 1;

		begin(state);
		for (unsigned int n = 0; n < 5; n++)
			add(thread(n, 3));
		/* So that each reserve has something to allocate. */
		for (; m->nr_free > BLOCK / 2 - 2; used++)
			add(thread(used, 100));
		other_at(at, there[t],
			 t == 3 ? NULL : t == 4 ? &m->bucket[4] : &m->bucket[3]);
		here[h]();
		other_ends();
		if (!other.ran) {
			end(state);
			assert_true(at > 4);
			break;
		}
		ran++;
		assert_int_equal(other.ret, t == 0 || t == 4);
		used += (h == 0) - (h == 1) + (t == 0) - (t == 1) + (t == 4);
		if (h == 3 || t == 3)
			blocks = m->nr_free > BLOCK / 2 + BLOCK ? 3 : 2;
		counted(used, blocks * BLOCK - used);
		there_search();
		assert_int_equal(have(thread(1, 3)), h != 1);
		assert_int_equal(have(thread(3, 3)), t != 1);
		assert_int_equal(have(thread(5, 3)), h == 0);
		assert_int_equal(have(thread(6, 3)), t == 0);
		assert_int_equal(have(thread(6, 4)), t == 4);
		for (unsigned int n = 5; n < used - 3; n++)
			assert_true(have(thread(n, 100)));
		places_are_sound();
		end(state);
	}
	begin(state);
	assert_true(ran > 150);
}

/* The only member of a bucket ends, and another one may take its place, while the list is read. */
static int there_empty(void)
{
	take(thread(0, 5));
	return 0;
}

static int there_replace(void)
{
	take(thread(0, 5));
	return add(thread(1, 5));
}

static void a_list_may_change_before_its_lock_is_taken(void **state)
{
	for (int replace = 0; replace < 2; replace++)
	for (long at = 0; ; at++) {
		assert_int_equal(add(thread(0, 5)), 1);
		other_at(at, replace ? there_replace : there_empty, &m->bucket[5]);
		/* It has the filter bit of the first. */
		assert_false(have(thread(64, 5)));
		other_ends();
		take(thread(0, 5));
		take(thread(1, 5));
		counted(0, BLOCK);
		if (!other.ran) {
			assert_true(at > 4);
			break;
		}
	}
}

/* SETUP finds a thread in the kernel's list, and its creator's probe adds it at the same time. */
static int there_add_the_same(void)
{
	return add(thread(5, 3));
}

static void of_two_cpus_one_adds_the_thread(void **state)
{
	unsigned int first = 0, second = 0;

	for (long at = 0; ; at++) {
		int ret;

		other_at(at, there_add_the_same, bucket_of(thread(5, 3)));
		ret = add(thread(5, 3));
		other_ends();
		if (!other.ran)
			break;
		assert_int_equal(ret + other.ret, 1);
		first += ret;
		second += other.ret;
		counted(1, BLOCK - 1);
		take(thread(5, 3));
		assert_false(have(thread(5, 3)));
		counted(0, BLOCK);
	}
	assert_true(first > 0);
	assert_true(second > 0);
}

static void of_two_cpus_one_gets_the_last_place(void **state)
{
	unsigned int first = 0, second = 0;

	for (unsigned int n = 0; n < BLOCK - 1; n++)
		add(thread(n, 100));
	for (long at = 0; ; at++) {
		int ret;

		other_at(at, there_add_elsewhere, &m->bucket[4]);
		ret = add(thread(5, 3));
		other_ends();
		if (!other.ran)
			break;
		assert_int_equal(ret == 1, other.ret == -ENOMEM);
		assert_int_equal(ret == -ENOMEM, other.ret == 1);
		first += ret == 1;
		second += other.ret == 1;
		counted(BLOCK, 0);
		assert_int_equal(have(thread(5, 3)), ret == 1);
		assert_int_equal(have(thread(6, 4)), other.ret == 1);
		take(ret == 1 ? thread(5, 3) : thread(6, 4));
		counted(BLOCK - 1, 1);
	}
	assert_true(first > 0);
	assert_true(second > 0);
}

int main(void)
{
#define TEST(test)	cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_new_table_has_places_and_no_member),
		TEST(a_thread_is_a_member_until_it_is_removed),
		TEST(an_empty_bucket_takes_no_lock),
		TEST(threads_of_one_bucket_are_removed_in_any_order),
		TEST(without_a_place_nothing_changes),
		TEST(the_work_is_queued_when_few_places_are_free),
		TEST(the_work_is_queued_whatever_came_of_the_thread),
		TEST(reserve_allocates_what_is_wanting),
		TEST(without_memory_the_table_stays_as_it_is),
		TEST(a_member_is_alive_until_it_exits),
		TEST(the_table_and_all_places_are_charged),
		TEST(beyond_the_limit_there_is_no_table),
		TEST(a_table_without_places_is_none),
		TEST(a_table_is_freed_with_its_members),
		TEST(two_cpus_at_once_are_as_one_after_the_other),
		TEST(a_list_may_change_before_its_lock_is_taken),
		TEST(of_two_cpus_one_adds_the_thread),
		TEST(of_two_cpus_one_gets_the_last_place),
	};

	return cmocka_run_group_tests_name("members", tests, NULL, NULL);
}
