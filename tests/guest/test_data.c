// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data ring: forward and backward, overwritable and not, each beside either mode of the
 * AUX area. Its records must agree with the answers of the ioctls and with the status page.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "records.h"
#include "ring.h"
#include "trace.h"
#include "uapi.h"
#include "waiter.h"

static void assert_here(uint32_t pid, uint32_t tid)
{
	assert_int_equal(pid, getpid());
	assert_int_equal(tid, gettid());
}

static void check_window(const struct auxtrace_record_window *w,
			 const struct auxtrace_effect *begin, const struct auxtrace_effect *end)
{
	assert_int_equal(w->window, begin->window);
	assert_int_equal(w->window, end->window);
	assert_int_equal(w->begin, begin->position);
	assert_int_equal(w->begin_time, begin->time);
	assert_int_equal(w->end_position, end->position);
	assert_int_equal(w->end_time, end->time);
	assert_int_equal(w->begin_cause, AUXTRACE_CAUSE_USER);
	assert_int_equal(w->end_cause, AUXTRACE_CAUSE_USER);
	assert_here(w->begin_pid, w->begin_tid);
	assert_here(w->pid, w->tid);
	assert_int_equal(w->end.tid, gettid());
	assert_int_equal(w->slot, 0);
}

/* The window decodes from its PSB+ to its end; false if not all of it is in the area. */
static bool decodes_alone(const struct channel *ch, const struct auxtrace_record_window *w)
{
	uint64_t available = channel_available(ch);

	if (w->begin < channel_status(ch).produced - available)
		return false;
	channel_check_window(ch, w->begin, w->end_position, "the window of a record");
	return true;
}

#define WINDOWS	60	/* their records take more than two pages */

static void each_window_is_one_record_that_agrees_with_the_effects(void **state)
{
	const struct mode *m = *state;
	struct auxtrace_status_page st;
	struct follower f;
	struct session s;
	uint64_t whole = 0;

	ring_open(&s, m, AUXTRACE_SETUP_PAUSED, page_size);
	follower_init(&f, s.channel);
	ok_start(s.fd);
	assert_int_equal(channel_status(s.channel).data_records, 0);
	for (uint64_t n = 1; n <= WINDOWS; n++) {
		struct auxtrace_effect begin, end;
		const union any_record *rec, *aux;
		struct records r;

		ring_window(&s, 20 + n * 7 % 50, &begin, &end);
		assert_int_equal(end.window, n);
		records_read_all(&r, s.channel);
		rec = records_newest(&r, AUXTRACE_RECORD_WINDOW);
		assert_non_null(rec);
		check_window(&rec->window, &begin, &end);
		whole += decodes_alone(s.channel, &rec->window);

		/* An AUX record covers the same bytes. */
		aux = records_newest(&r, AUXTRACE_RECORD_AUX);
		assert_non_null(aux);
		assert_int_equal(aux->aux.offset + aux->aux.length, end.position);
		assert_int_equal(aux->aux.flags, m->aux ? AUXTRACE_AUX_OVERWRITE : 0);
		assert_true(rec == r.at[r.count - 1] || rec == r.at[r.count - 2]);
		assert_true(aux == r.at[r.count - 1] || aux == r.at[r.count - 2]);
		if (n == 1) {
			assert_int_equal(r.at[0]->header.type, AUXTRACE_RECORD_ITRACE_START);
			assert_here(r.at[0]->itrace.pid, r.at[0]->itrace.tid);
		}
		if (m->data & NEWEST) {
			struct follower one;

			follower_init(&one, s.channel);
			follow(&one, &r, true);
			assert_int_equal(channel_status(s.channel).data_lost, 0);
		}
		records_free(&r);
		if (!(m->data & NEWEST))
			follow_and_take(&f);
		channel_available(s.channel);
	}
	ok_stop(s.fd);
	st = channel_status(s.channel);
	/* An ITRACE_START, AUX and WINDOW for each window, an AUX for each interrupt. */
	assert_in_range(st.data_records, 1 + 2 * WINDOWS, 1 + 2 * WINDOWS + st.pmis);
	assert_int_equal(st.data_lost, 0);
	assert_int_equal(whole, WINDOWS);
	if (m->data & NEWEST) {
		assert_int_equal(st.data_overwritten, st.data_head - page_size);
	} else {
		follow_and_take(&f);
		follower_agrees(&f);
		assert_int_equal(f.itrace_starts, 1);
		assert_int_equal(f.begun_by[AUXTRACE_CAUSE_USER], WINDOWS);
		assert_true(f.bytes > page_size);
	}
	check_accounting(&s);
}

/* Windows of several sizes in an area of four pages, with space for all their records. */
static void partly_overwritten_windows_can_be_recognized(void **state)
{
	const struct mode *m = *state;
	unsigned int whole = 0, partly = 0, gone = 0;
	struct auxtrace_status_page st;
	struct session s;

	ring_open(&s, m, AUXTRACE_SETUP_PAUSED, 16 * page_size);
	ok_start(s.fd);
	for (unsigned int n = 0; n < WINDOWS; n++) {
		struct auxtrace_effect begin, end;
		struct records r;

		/* Each fifth window is as large as the area. */
		ring_window(&s, n % 5 == 4 ? 12000 : 100 + n % 5 * 400, &begin, &end);
		records_read_all(&r, s.channel);
		st = channel_status(s.channel);
		for (unsigned int i = 0; i < r.count; i++) {
			const struct auxtrace_record_window *w = &r.at[i]->window;
			uint64_t oldest = st.produced - channel_available(s.channel), len;
			struct walk walk = { 0 };
			uint8_t *trace;

			if (w->header.type != AUXTRACE_RECORD_WINDOW)
				continue;
			if (decodes_alone(s.channel, w)) {
				whole++;
				continue;
			}
			if (w->end_position <= oldest) {
				gone++;
				continue;
			}
			partly++;
			len = w->end_position - oldest;
			trace = test_malloc(len);
			channel_copy(s.channel, oldest, trace, len);
			trace_walk(&walk, trace, len, true);
			/* A short rest may hold no PSB; otherwise it must decode. */
			if (walk.starts && (walk.error || walk.end != len))
				fail_msg("window %llu: bad packet at %zu of its last %llu bytes",
					 w->window, walk.end, (unsigned long long)len);
			test_free(trace);
		}
		records_free(&r);
	}
	assert_true(whole && partly && gone);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- poll -------------------------------------------------------------------- */

static void fill_to(const struct session *s, uint64_t bytes)
{
	while (channel_status(s->channel).data_head - channel_status(s->channel).data_consumed <
	       bytes) {
		assert_int_equal(poll_events(s->fd, 0), 0);
		ring_make_records(s);
	}
	assert_int_equal(poll_events(s->fd, 0), POLLIN);
}

static void a_watermark_of_records_is_readable(void **state)
{
	const struct mode *m = *state;
	struct session s;

	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_PAUSED | m->aux,
			RING_AUX_SIZE);
	session_prepare_data(&s, m->data, 2 * page_size);
	s.setup.data_watermark = 1001;
	session_setup(&s);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	for (int i = 0; i < 3; i++) {
		fill_to(&s, 1001);
		channel_set_data_tail(s.channel, channel_status(s.channel).data_head - 1000);
		assert_int_equal(poll_events(s.fd, 0), 0);
		channel_set_data_tail(s.channel, channel_status(s.channel).data_head);
		assert_int_equal(poll_events(s.fd, 0), 0);
		assert_int_equal(channel_status(s.channel).data_consumed,
				 channel_status(s.channel).data_head);
	}
	/* A stopped session is readable as long as anything is unread. */
	ring_make_records(&s);
	assert_int_equal(poll_events(s.fd, 0), 0);
	ok_stop(s.fd);
	channel_set_tail(s.channel, channel_status(s.channel).produced);
	assert_int_equal(poll_events(s.fd, 0), POLLIN);
	channel_set_data_tail(s.channel, channel_status(s.channel).data_head);
	assert_int_equal(poll_events(s.fd, 0), 0);
	check_accounting(&s);
}

static void the_default_data_watermark_is_half_the_ring(void **state)
{
	const struct mode m = { OVER, 0 };
	struct session s;

	ring_open(&s, &m, AUXTRACE_SETUP_PAUSED, page_size);
	ok_start(s.fd);
	fill_to(&s, page_size / 2);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_data_watermark_wakes_the_reader(void **state)
{
	const struct mode m = { OVER, 0 };
	struct session s;
	struct waiter w;

	ring_open(&s, &m, AUXTRACE_SETUP_PAUSED, page_size);
	ok_start(s.fd);
	cpu_unpin();
	waiter_start(&w, s.fd);
	while (channel_status(s.channel).data_head < page_size / 2) {
		struct auxtrace_effect begin, end;

		ring_window(&s, 0, &begin, &end);
	}
	waiter_join(&w);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* The LOST record of the dropped records is unread. */
static void output_that_resumes_after_a_stop_wakes_the_reader(void **state)
{
	const struct mode m = { OVER, 0 };
	struct auxtrace_effect begin, end;
	struct session s;
	struct waiter w;

	ring_open(&s, &m, AUXTRACE_SETUP_PAUSED, page_size);
	ok_start(s.fd);
	ok_output(s.fd, 0, 1);
	ring_window(&s, 0, &begin, &end);
	ok_stop(s.fd);
	assert_true(channel_status(s.channel).data_lost > 0);
	channel_set_data_tail(s.channel, channel_status(s.channel).data_head);
	cpu_unpin();
	waiter_start(&w, s.fd);
	ok_output(s.fd, 0, 0);
	waiter_join(&w);
	check_accounting(&s);
}

static void an_overwritable_ring_is_never_readable(void **state)
{
	const struct mode m = { OVER, NEWEST };
	struct session s;

	ring_open(&s, &m, AUXTRACE_SETUP_PAUSED, page_size);
	ok_start(s.fd);
	do {
		ring_make_records(&s);
		assert_int_equal(poll_events(s.fd, 0), 0);
	} while (!channel_status(s.channel).data_overwritten);
	channel_set_data_tail(s.channel, 1);
	ring_make_records(&s);
	assert_int_equal(channel_status(s.channel).data_consumed, 0);
	assert_int_equal(poll_events(s.fd, 0), 0);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- kinds ------------------------------------------------------------------- */

static void only_the_selected_kinds_of_record_are_written(void **state)
{
	static const struct {
		uint32_t want, type;
	} kinds[] = {
		{ AUXTRACE_WANT_AUX, AUXTRACE_RECORD_AUX },
		{ AUXTRACE_WANT_WINDOW, AUXTRACE_RECORD_WINDOW },
		{ AUXTRACE_WANT_ITRACE_START, AUXTRACE_RECORD_ITRACE_START },
	};

	for (int k = 0; k < 3; k++) {
		struct session s;
		struct records r;

		session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_PAUSED, RING_AUX_SIZE);
		session_prepare_data(&s, 0, page_size);
		s.setup.records = kinds[k].want;
		session_setup(&s);
		cpu_pin(first_cpu);
		ok_start(s.fd);
		for (int i = 0; i < 3; i++)
			ring_make_records(&s);
		records_read_all(&r, s.channel);
		assert_int_equal(r.count, kinds[k].want == AUXTRACE_WANT_ITRACE_START ? 1 : 3);
		for (unsigned int i = 0; i < r.count; i++)
			assert_int_equal(r.at[i]->header.type, kinds[k].type);
		records_free(&r);
		/* Kinds that were not selected are not lost; LOST is always written. */
		assert_int_equal(channel_status(s.channel).data_lost, 0);
		ok_output(s.fd, 0, 1);
		ring_make_records(&s);
		ok_stop(s.fd);
		ok_start(s.fd);
		ring_make_records(&s);
		ok_output(s.fd, 0, 0);
		records_read_all(&r, s.channel);
		assert_int_equal(r.at[r.count - 1]->header.type, AUXTRACE_RECORD_LOST);
		assert_int_equal(r.at[r.count - 1]->lost.lost, channel_status(s.channel).data_lost);
		records_free(&r);
		session_close(&s);
	}
}

static void each_start_is_recorded_once_when_its_first_window_begins(void **state)
{
	const struct mode m = { 0, 0 };
	struct follower f;
	struct session s;

	ring_open(&s, &m, AUXTRACE_SETUP_PAUSED, page_size);
	follower_init(&f, s.channel);
	for (unsigned int n = 1; n <= 3; n++) {
		ok_start(s.fd);
		follow_and_take(&f);
		assert_int_equal(f.itrace_starts, n - 1);
		ring_make_records(&s);
		ring_make_records(&s);
		follow_and_take(&f);
		assert_int_equal(f.itrace_starts, n);
		ok_stop(s.fd);
	}
	/* A START that begins no window has no record. */
	ok_start(s.fd);
	ok_stop(s.fd);
	follow_and_take(&f);
	assert_int_equal(f.itrace_starts, 3);
	follower_agrees(&f);
	check_accounting(&s);
}

static void sync_writes_a_record_of_what_it_finds(void **state)
{
	const struct mode m = { 0, 0 };
	struct auxtrace_status status;
	struct follower f;
	struct session s;

	ring_open(&s, &m, 0, page_size);
	follower_init(&f, s.channel);
	ok_start(s.fd);
	for (unsigned int i = 1; i <= 5; i++) {
		uint64_t before = f.aux_bytes;

		load_run(100);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		follow_and_take(&f);
		assert_true(f.aux_bytes > before);
		assert_int_equal(f.aux_bytes, status.out_produced);
		assert_int_equal(f.windows, 0);
	}
	ok_stop(s.fd);
	follow_and_take(&f);
	follower_agrees(&f);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_each_mode(each_window_is_one_record_that_agrees_with_the_effects),
		in_mode(partly_overwritten_windows_can_be_recognized, OVER, 0),
		in_mode(partly_overwritten_windows_can_be_recognized, OVER,
			NEWEST | BACKWARD),
		in_mode(a_watermark_of_records_is_readable, 0, 0),
		in_mode(a_watermark_of_records_is_readable, OVER, BACKWARD),
		vm_test(the_default_data_watermark_is_half_the_ring),
		vm_test(a_data_watermark_wakes_the_reader),
		vm_test(output_that_resumes_after_a_stop_wakes_the_reader),
		vm_test(an_overwritable_ring_is_never_readable),
		vm_test(only_the_selected_kinds_of_record_are_written),
		vm_test(each_start_is_recorded_once_when_its_first_window_begins),
		vm_test(sync_writes_a_record_of_what_it_finds),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
