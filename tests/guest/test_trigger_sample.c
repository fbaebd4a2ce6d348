// SPDX-License-Identifier: GPL-2.0-only
/* SAMPLE: the newest bytes at an event, which decode on their own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "insns.h"
#include "invariants.h"
#include "load.h"
#include "pmu.h"
#include "records.h"
#include "trace.h"
#include "trigger.h"

#define AUX_SIZE	(1 << 19)
#define DATA_SIZE	(1 << 20)
#define SIZE		8192
#define CPU		1
#define ONE_CPU		(1ULL << CPU)
#define TIMES		6

static struct auxtrace_trigger sample_at_call(uint64_t size)
{
	struct auxtrace_trigger t = trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
						    AUXTRACE_ACTION_SAMPLE, CALL_NUMBER);

	t.sample_size = size;
	return t;
}

static void open_with(struct session *s, uint32_t flags, uint64_t aux_size, uint64_t data_size)
{
	session_prepare(s, ONE_CPU, AUXTRACE_SETUP_USER | flags, aux_size);
	session_prepare_data(s, 0, data_size);
	session_setup(s);
	assert_int_equal(cpu_pin(CPU), 0);
}

static const uint8_t *bytes_of(const struct auxtrace_record_sample *s)
{
	return (const uint8_t *)s + s->data_offset;
}

/*
 * From the first place where decoding can begin the sample is whole packets up to its last byte,
 * as the hardware was off at that moment.
 */
static void check_trace(const struct auxtrace_record_sample *s, const uint8_t *bytes)
{
	struct walk p = { 0 };

	trace_walk(&p, bytes, s->length, true);
	assert_null(p.error);
	assert_int_equal(p.end, s->length);
	assert_true(p.starts > 0);
}

/* The same, and PT's packets decode to instructions. */
static void check_decodes(const struct auxtrace_record_sample *s, const uint8_t *bytes)
{
	struct insns in;

	check_trace(s, bytes);
	if (under_bts())
		return;
	insns_decode(&in, bytes, s->length);
	if (in.error) {
		insns_print(&in, "sample");
		fail_msg("error %d after %zu instructions at %#llx", in.error, in.count,
			 (unsigned long long)in.error_ip);
	}
	assert_true(in.count > 0);
	insns_free(&in);
}

/* The n-th SAMPLE record, or NULL. */
static const struct auxtrace_record_sample *nth(const struct records *r, unsigned int n)
{
	for (unsigned int i = 0; i < r->count; i++)
		if (r->at[i]->header.type == AUXTRACE_RECORD_SAMPLE && !n--)
			return &r->at[i]->sample;
	return NULL;
}

/* In a full trace the area holds the same bytes, and the trace continues after them. */
static void a_sample_of_a_full_trace_is_also_in_the_area(void **state)
{
	const struct auxtrace_record_sample *sample;
	struct auxtrace_status_page st;
	uint8_t *same = malloc(SIZE);
	struct follower f;
	struct records r;
	struct session s;
	uint32_t id;

	assert_non_null(same);
	open_with(&s, 0, AUX_SIZE, DATA_SIZE);
	id = trigger_add(&s, sample_at_call(SIZE));
	ok_start(s.fd);
	for (unsigned int i = 0; i < TIMES; i++) {
		load_run(i ? 2000 : 20);
		call_times(1);
	}
	ok_stop(s.fd);
	trigger_counted(&s, id, TIMES, 0, 0, 0);
	st = channel_status(&s.channel[0]);
	assert_int_equal(st.samples, TIMES);
	assert_int_equal(st.windows, 1);
	assert_int_equal(st.gaps, 0);
	records_read_all(&r, &s.channel[0]);
	follower_init(&f, &s.channel[0]);
	follow(&f, &r, false);
	follower_agrees(&f);
	assert_int_equal(f.samples, TIMES);
	for (unsigned int i = 0; i < TIMES; i++) {
		sample = nth(&r, i);
		assert_int_equal(sample->trigger, id);
		assert_int_equal(sample->pid, getpid());
		assert_int_equal(sample->wanted, SIZE);
		assert_int_equal(sample->flags & AUXTRACE_SAMPLE_IN_SLOT, 0);
		channel_copy(&s.channel[0], sample->aux_end - sample->length, same, sample->length);
		assert_memory_equal(bytes_of(sample), same, sample->length);
		check_decodes(sample, bytes_of(sample));
		/* At most back to the begin of the trace. */
		assert_int_equal(sample->length,
				 sample->aux_end < SIZE ? sample->aux_end : whole_trace(SIZE));
	}
	/* The first came before there was enough trace, the last after. */
	assert_int_equal(nth(&r, 0)->flags, AUXTRACE_SAMPLE_CUT);
	assert_int_equal(nth(&r, TIMES - 1)->flags, 0);
	assert_true(st.samples_cut >= 1 && st.samples_cut < TIMES);
	records_free(&r);
	free(same);
	session_close(&s);
}

/* In overwrite mode, across the area's end: only the sample still has the bytes. */
static void samples_in_overwrite_mode_decode_alone(void **state)
{
	struct records r;
	struct session s;
	uint32_t id;

	open_with(&s, AUXTRACE_SETUP_OVERWRITE, 4 * SIZE, DATA_SIZE);
	id = trigger_add(&s, sample_at_call(SIZE));
	ok_start(s.fd);
	for (unsigned int i = 0; i < 3 * TIMES; i++) {
		load_run(2000);
		call_times(1);
	}
	ok_stop(s.fd);
	trigger_counted(&s, id, 3 * TIMES, 0, 0, 0);
	assert_true(channel_status(&s.channel[0]).overwritten > 4 * SIZE);
	assert_int_equal(channel_status(&s.channel[0]).windows, 1);
	records_read_all(&r, &s.channel[0]);
	for (unsigned int i = 0; i < 3 * TIMES; i++)
		check_decodes(nth(&r, i), bytes_of(nth(&r, i)));
	assert_null(nth(&r, 3 * TIMES));
	records_free(&r);
	session_close(&s);
}

/* A sample may reach back into earlier windows, and decodes across their ends. */
static void a_sample_reaches_back_into_earlier_windows(void **state)
{
	const struct auxtrace_record_sample *sample;
	struct records r;
	struct session s;

	open_with(&s, 0, AUX_SIZE, DATA_SIZE);
	trigger_add(&s, sample_at_call(SIZE));
	ok_start(s.fd);
	load_run(4000);
	for (int i = 0; i < 3; i++) {
		ok_pause(&s, 0, NULL);
		ok_resume(&s, 0, NULL);
		load_run(100);
	}
	assert_true(channel_status(&s.channel[0]).window_begin > SIZE);
	call_times(1);
	ok_stop(s.fd);
	records_read_all(&r, &s.channel[0]);
	sample = nth(&r, 0);
	assert_non_null(sample);
	assert_int_equal(sample->length, whole_trace(SIZE));
	assert_int_equal(sample->flags, 0);
	assert_true(sample->aux_end - sample->length < channel_status(&s.channel[0]).window_begin);
	check_decodes(sample, bytes_of(sample));
	records_free(&r);
	session_close(&s);
}

/* A sample of a paused channel has the bytes before the pause. */
static void a_sample_of_a_paused_channel_is_what_was_traced_before(void **state)
{
	const struct auxtrace_record_sample *sample;
	struct records r;
	struct session s;
	uint32_t id;

	open_with(&s, 0, AUX_SIZE, DATA_SIZE);
	id = trigger_add(&s, sample_at_call(SIZE));
	ok_start(s.fd);
	load_run(4000);
	ok_pause(&s, 0, NULL);
	call_times(2);
	trigger_counted(&s, id, 2, 0, 0, 0);
	assert_int_equal(channel_status(&s.channel[0]).windows, 1);
	assert_int_equal(channel_status(&s.channel[0]).inhibit, AUXTRACE_INHIBIT_USER);
	records_read_all(&r, &s.channel[0]);
	for (unsigned int i = 0; i < 2; i++) {
		sample = nth(&r, i);
		assert_non_null(sample);
		assert_int_equal(sample->length, whole_trace(SIZE));
		assert_int_equal(sample->aux_end, channel_status(&s.channel[0]).window_end);
		check_decodes(sample, bytes_of(sample));
	}
	records_free(&r);
	session_close(&s);
}

/* Without space in the ring the sample is counted, and its record is counted as lost. */
static void a_sample_without_space_in_the_ring_is_lost(void **state)
{
	struct auxtrace_status_page st;
	struct records r;
	struct session s;
	uint32_t id;

	open_with(&s, 0, AUX_SIZE, 2 * SIZE);
	id = trigger_add(&s, sample_at_call(SIZE));
	ok_start(s.fd);
	load_run(4000);
	call_times(3);
	ok_stop(s.fd);
	trigger_counted(&s, id, 3, 0, 0, 0);
	st = channel_status(&s.channel[0]);
	assert_int_equal(st.samples, 3);
	assert_true(st.data_lost >= 2);
	records_read_all(&r, &s.channel[0]);
	assert_non_null(nth(&r, 0));
	assert_null(nth(&r, 1));
	records_free(&r);
	session_close(&s);
}

/* ---- slots ---------------------------------------------------------------------- */

#define SLOTS		4
#define LARGE		(AUX_SIZE / SLOTS / 2)

static int release_sample(const struct session *s, uint32_t slot, uint32_t cpu)
{
	struct auxtrace_release r = { .size = sizeof(r), .flags = AUXTRACE_RELEASE_SAMPLE,
				      .slot = slot, .cpu = cpu };

	return at_ioctl(s->fd, AUXTRACE_IOC_RELEASE, &r);
}

static void fill(const struct session *s, uint64_t bytes)
{
	struct auxtrace_status status;
	uint64_t begin;

	ok_status(s->fd, AUXTRACE_STATUS_SYNC, &status);
	begin = status.out_produced;
	do {
		load_run(10000);
		ok_status(s->fd, AUXTRACE_STATUS_SYNC, &status);
	} while (status.out_produced - begin < bytes);
}

/* A sample too large for a record takes a slot that is free on that CPU, until a RELEASE. */
static void a_large_sample_takes_a_slot_until_its_release(void **state)
{
	const struct auxtrace_record_sample *sample;
	uint8_t *bytes = malloc(LARGE);
	uint32_t used = 0;
	struct records r;
	struct session s;
	uint32_t id;

	assert_non_null(bytes);
	session_prepare(&s, ONE_CPU, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(&s, 0, DATA_SIZE);
	s.setup.slots = SLOTS;
	session_setup(&s);
	assert_int_equal(cpu_pin(CPU), 0);
	id = trigger_add(&s, sample_at_call(LARGE));
	ok_start(s.fd);
	fill(&s, 2 * LARGE);
	/* One for each free slot, and one that finds none. */
	for (unsigned int i = 0; i < SLOTS; i++) {
		fill(&s, 4096);
		call_times(1);
	}
	trigger_counted(&s, id, SLOTS, 0, 0, 0);
	assert_int_equal(channel_status(&s.channel[0]).samples, SLOTS);
	assert_int_equal(channel_status(&s.channel[0]).samples_cut, 1);
	/* The present slot is overwritten several times; retained slots do not change. */
	fill(&s, 4 * LARGE);
	records_read_all(&r, &s.channel[0]);
	for (unsigned int i = 0; i < SLOTS - 1; i++) {
		sample = nth(&r, i);
		assert_non_null(sample);
		assert_int_equal(sample->flags, AUXTRACE_SAMPLE_IN_SLOT);
		assert_int_equal(sample->length, whole_trace(LARGE));
		assert_in_range(sample->sample_slot, 0, SLOTS - 1);
		assert_int_not_equal(sample->sample_slot, channel_status(&s.channel[0]).slot);
		assert_int_equal(used & 1u << sample->sample_slot, 0);
		used |= 1u << sample->sample_slot;
		channel_copy_slot(&s.channel[0], sample->sample_slot,
				  sample->aux_end - sample->length, bytes, sample->length);
		check_trace(sample, bytes);
	}
	assert_int_equal(channel_status(&s.channel[0]).sample_slots, used);
	sample = nth(&r, SLOTS - 1);
	assert_non_null(sample);
	assert_int_equal(sample->flags, AUXTRACE_SAMPLE_CUT);
	assert_int_equal(sample->wanted, LARGE);
	assert_in_range(sample->length, whole_trace(AUXTRACE_SAMPLE_IN_RECORD - 8),
			AUXTRACE_SAMPLE_IN_RECORD);
	check_trace(sample, bytes_of(sample));
	/* A released slot takes the next sample. */
	assert_int_equal(release_sample(&s, nth(&r, 1)->sample_slot, CPU), 0);
	assert_int_equal(release_sample(&s, nth(&r, 1)->sample_slot, CPU), -EINVAL);
	assert_int_equal(release_sample(&s, nth(&r, 0)->sample_slot, 0), -EINVAL);
	assert_int_equal(release_sample(&s, SLOTS, CPU), -EINVAL);
	call_times(1);
	assert_int_equal(channel_status(&s.channel[0]).sample_slots, used);
	assert_int_equal(channel_status(&s.channel[0]).samples_cut, 1);
	records_free(&r);
	free(bytes);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_sample_of_a_full_trace_is_also_in_the_area),
		vm_test(samples_in_overwrite_mode_decode_alone),
		vm_test(a_sample_reaches_back_into_earlier_windows),
		vm_test(a_sample_of_a_paused_channel_is_what_was_traced_before),
		vm_test(a_sample_without_space_in_the_ring_is_lost),
		vm_test(a_large_sample_takes_a_slot_until_its_release),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
