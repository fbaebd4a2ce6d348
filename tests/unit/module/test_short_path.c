// SPDX-License-Identifier: GPL-2.0-only
/*
 * The short path of a PAUSE or RESUME by a trigger, auxt_request_make() with auxt_settle_apply(),
 * beside the general one: the request of any kind, then the settle loop for any work. The same
 * requests are made by each, with the same bytes of the hardware and the same NMIs at the same
 * points. All that a reader can see must be the same then, and all that the hardware was told.
 */
#include "channel_case.h"
#include "core/inhibit.h"

#define BYTES_BEFORE	100	/* points at which the hardware writes before the first request, at most */
#define REQUESTS_AT_RANDOM	2000

/* What auxt_request_make() must do, by the general functions only. */
static bool make_in_general(struct auxt_channel *ch, const struct auxt_request *request, u64 value)
{
	if (request->action == AUXTRACE_ACTION_SAMPLE || request->delay)
		return auxt_request_make(ch, request, value);
	if (!auxt_inhibit_apply(ch, request, value))
		return true;
	auxt_settle_run(ch, AUXT_TODO_APPLY);
	if (request->action != AUXTRACE_ACTION_FREEZE)
		auxt_inhibit_record(ch, request, value);
	auxt_settle_notify(ch);
	return true;
}

static bool (*const paths[2])(struct auxt_channel *ch, const struct auxt_request *request, u64 value) = {
	auxt_request_make, make_in_general,
};

/* What is compared. */
static struct outcome {
	struct auxtrace_status_page page;
	struct hw hw;
	char data[DATA_SIZE];
	u32 inhibit, todo, is, notified;
	u32 paused_by, resumed_by;
	u64 notified_crossings;
	u32 last_broadcast;
	unsigned int woken;
	bool queued;
	u64 sent;		/* to other CPUs: the words of all requests, as one number */
	long points;
} outcomes[2];

static void keep(struct outcome *to, u64 sent, long points)
{
	to->page = status_page;
	to->hw = hw;
	memcpy(to->data, data, sizeof(to->data));
	to->inhibit = atomic_read(&channel->inhibit);
	to->todo = channel->todo;
	to->is = channel->is;
	to->notified = channel->notified;
	to->paused_by = channel->paused_by;
	to->resumed_by = channel->resumed_by;
	to->notified_crossings = channel->notified_crossings;
	to->last_broadcast = group.last_broadcast;
	to->woken = group.waiters.woken;
	to->queued = channel->wake.queued;
	to->sent = sent;
	to->points = points;
}

static void compare(void)
{
	const struct outcome *a = &outcomes[0], *b = &outcomes[1];

	assert_int_equal(a->points, b->points);
	assert_memory_equal(&a->page, &b->page, sizeof(a->page));
	assert_int_equal(a->hw.ons, b->hw.ons);
	assert_int_equal(a->hw.offs, b->hw.offs);
	assert_memory_equal(&a->hw, &b->hw, sizeof(a->hw));
	assert_memory_equal(a->data, b->data, sizeof(a->data));
	assert_memory_equal(a, b, sizeof(*a));
}

static struct auxtrace_setup setups[] = {
	{ .flags = AUXTRACE_SETUP_OVERWRITE, .data_size = DATA_SIZE },
	{ .flags = AUXTRACE_SETUP_OVERWRITE, .data_size = DATA_SIZE, .records = AUXTRACE_WANT_TRIGGER },
	{ .flags = AUXTRACE_SETUP_OVERWRITE },
	{ .flags = AUXTRACE_SETUP_OVERWRITE, .data_size = DATA_SIZE, .slots = SLOTS },
	{ .data_size = DATA_SIZE },
	{ .flags = AUXTRACE_SETUP_FULL_STOP, .data_size = DATA_SIZE },
	{ .flags = AUXTRACE_SETUP_FULL_AUTO, .data_size = DATA_SIZE },
	{ .flags = AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_OVERWRITE, .data_size = DATA_SIZE },
};

/* A channel that runs, or that a trigger has paused; and the hardware has written some pages. */
static void begin(unsigned int setup, int path, unsigned int seed, bool paused)
{
	const struct auxtrace_setup *of = &setups[setup];

	memset(data, 0, sizeof(data));
	group.waiters.woken = 0;
	(of->flags & AUXTRACE_SETUP_THREAD ? make_scoped : make_with)(*of);
	srand(seed);
	request_maker = paths[path];
	start(false);
	if (of->flags & AUXTRACE_SETUP_THREAD)
		change_to(&insider);
	for (unsigned int n = seed * 7 % BYTES_BEFORE; n; n--)
		shim_point();
	if (paused)
		trigger(AUXTRACE_ACTION_PAUSE, 3);
	quiet();
}

static void end(int path, u64 sent)
{
	long points = nmi.points;

	quiet();
	keep(&outcomes[path], sent, points);
	unmake();
	request_maker = auxt_request_make;
}

/* Returns false if the NMI landed by neither path. */
static bool once(unsigned int setup, u32 action, enum nmi what, long at)
{
	bool landed[2];

	for (int path = 0; path < 2; path++) {
		begin(setup, path, (unsigned int)at, action == AUXTRACE_ACTION_RESUME);
		nmi.what = what;
		nmi.at = at;
		assert_true(trigger(action, 5));
		landed[path] = nmi.landed;
		end(path, take_broadcast());
	}
	assert_int_equal(landed[0], landed[1]);
	compare();
	return landed[0];
}

static void wherever_an_nmi_lands_both_paths_do_the_same(void **state)
{
	static const enum nmi kinds[] = {
		NMI_PMI, NMI_PAUSE, NMI_RESUME, NMI_DEFER, NMI_FREEZE, NMI_FREEZE_ALL, NMI_FULL,
	};
	static const u32 actions[] = {
		AUXTRACE_ACTION_PAUSE, AUXTRACE_ACTION_RESUME, AUXTRACE_ACTION_FREEZE,
	};
	unsigned int landed = 0;

	for (unsigned int setup = 0; setup < ARRAY_SIZE(setups); setup++) {
		for (unsigned int a = 0; a < ARRAY_SIZE(actions); a++) {
			for (unsigned int k = 0; k < ARRAY_SIZE(kinds); k++) {
				long at = 0;

				/* What is overwritten is never full. */
				if (kinds[k] == NMI_FULL && setups[setup].flags & AUXTRACE_SETUP_OVERWRITE)
					continue;
				while (once(setup, actions[a], kinds[k], at))
					at++;
				assert_true(at > 10);
				landed += (unsigned int)at;
			}
		}
	}
	print_message("an NMI landed at %u points\n", landed);
}

/* A PAUSE or RESUME, one in eight of all CPUs. Returns the word that was sent to them, or 0. */
static u64 toggle(void)
{
	const struct auxt_request request = {
		.action = rand() % 2 ? AUXTRACE_ACTION_PAUSE : AUXTRACE_ACTION_RESUME,
		.trigger = 4 + (u32)rand() % 2,
		.all_cpus = !(rand() % 8),
	};

	assert_true(request_maker(channel, &request, 1));
	return take_broadcast();
}

static void at_random(unsigned int setup, unsigned int seed)
{
	const u32 flags = setups[setup].flags;

	for (int path = 0; path < 2; path++) {
		u64 sent = 0;

		begin(setup, path, seed, false);
		for (int i = 0; i < REQUESTS_AT_RANDOM; i++) {
			nmi.one_in = seed % 2 ? 10 : 100;
			switch (rand() % 16) {
			case 0:
				trigger(AUXTRACE_ACTION_FREEZE, 6);
				break;
			case 1:
				auxt_channel_resume(channel, NULL);
				break;
			case 2:
				auxt_settle_sync(channel);
				break;
			case 3:
				if (flags & AUXTRACE_SETUP_THREAD)
					change_to(rand() % 2 ? &insider : &outsider);
				break;
			default:
				sent = 3 * sent + toggle();
			}
			/* A reader that reads and sleeps now and then. */
			if (!(rand() % 32)) {
				user_page.aux_tail = flags & AUXTRACE_SETUP_OVERWRITE ? 0 : status_page.produced;
				user_page.data_tail = status_page.data_head;
				irq_work_sync(&channel->wake);
			}
		}
		end(path, sent);
	}
	compare();
	assert_true(outcomes[0].page.windows > 20);
	assert_int_equal(outcomes[0].todo, 0);
}

static void requests_at_random_do_the_same_by_both_paths(void **state)
{
	for (unsigned int setup = 0; setup < ARRAY_SIZE(setups); setup++)
		for (unsigned int seed = 1; seed <= 20; seed++)
			at_random(setup, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wherever_an_nmi_lands_both_paths_do_the_same),
		cmocka_unit_test(requests_at_random_do_the_same_by_both_paths),
	};

	return cmocka_run_group_tests_name("short path", tests, NULL, NULL);
}
