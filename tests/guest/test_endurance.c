// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's life, many times over: loads and unloads, CPUs that go and return while triggers
 * fire, contests with perf. $AUXTRACE_LIFE says how many of each (default 25).
 */
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
#include "file.h"
#include "invariants.h"
#include "kmod.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "trigger.h"
#include "uapi.h"
#include "worker.h"

#define AUX_SIZE	(1 << 16)
#define BOTH		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)

static unsigned int times(void)
{
	const char *text = getenv("AUXTRACE_LIFE");

	return text ? strtoul(text, NULL, 10) : 25;
}

/* ---- memory ------------------------------------------------------------------- */

/* Of /proc/meminfo: memory that the kernel has for itself and that no reclaim would free, in KiB. */
static const char *const kinds_of_memory[] = {
	"SUnreclaim:", "VmallocUsed:", "Percpu:", "PageTables:"
};
#define KINDS_OF_MEMORY	(sizeof(kinds_of_memory) / sizeof(*kinds_of_memory))

/*
 * KASAN puts freed objects aside, up to a 32nd of the memory, lest they be used again soon. A cache
 * that is shrunk gives up its own (mm/kasan/quarantine.c).
 */
static void free_what_is_put_aside(void)
{
	glob_t found;

	if (glob("/sys/kernel/slab/*/shrink", 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		file_write(found.gl_pathv[i], "1");
	globfree(&found);
}

/* The sum in KiB; @of gets each kind. */
static int64_t kernel_memory(int64_t of[KINDS_OF_MEMORY])
{
	long long value;
	int64_t sum = 0;
	char name[64];
	FILE *f;

	memset(of, 0, KINDS_OF_MEMORY * sizeof(*of));
	free_what_is_put_aside();
	f = fopen("/proc/meminfo", "re");
	assert_non_null(f);
	while (fscanf(f, "%63s %lld%*[^\n]", name, &value) == 2)
		for (unsigned int i = 0; i < KINDS_OF_MEMORY; i++)
			if (!strcmp(name, kinds_of_memory[i]))
				sum += of[i] = value;
	fclose(f);
	return sum;
}

/* On a kernel with kmemleak: fails if it has found memory that nothing refers to. */
static void expect_no_leak(void)
{
	static const char path[] = "/sys/kernel/debug/kmemleak";
	char said[4096];
	size_t size;
	FILE *f;

	/* It reports what two scans find, and nothing that is younger than five seconds. */
	sleep(access(path, W_OK) ? 0 : 6);
	if (file_write(path, "scan") || file_write(path, "scan")) {
		print_message("no kmemleak\n");
		return;
	}
	f = fopen(path, "re");
	assert_non_null(f);
	size = fread(said, 1, sizeof(said) - 1, f);
	fclose(f);
	said[size] = '\0';
	if (size)
		fail_msg("kmemleak:\n%s", said);
}

/* What a kernel may need more after the test, of caches that only grow. */
#define SLACK_KIB	2048

static void the_module_is_loaded_and_unloaded_and_takes_no_memory_with_it(void **state)
{
	/* The first few fill caches. */
	const unsigned int first = 5;
	int64_t before[KINDS_OF_MEMORY], after[KINDS_OF_MEMORY], most = 0, sum;

	kmod_required();
	for (unsigned int i = 0; i < first + times(); i++) {
		struct session s;

		if (i == first)
			most = kernel_memory(before) + SLACK_KIB;
		session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
		expect_call("delete_module", EWOULDBLOCK, kmod_unload(), __FILE__, __LINE__);
		ok_start(s.fd);
		expect_call("delete_module", EWOULDBLOCK, kmod_unload(), __FILE__, __LINE__);
		load_run(100);
		ok_pause(&s, 0, NULL);
		ok_resume(&s, 0, NULL);
		/* Every other session is closed while it is started. */
		if (i & 1)
			ok_stop(s.fd);
		assert_true(channel_status(s.channel).windows == 2);
		session_close(&s);
		expect_call("delete_module", 0, kmod_unload(), __FILE__, __LINE__);
		for (uint64_t left = all_cpus; left; left &= left - 1)
			assert_false(msr_tracing(cpus_first(left)));
		expect_call("finit_module", 0, kmod_load(), __FILE__, __LINE__);
	}
	sum = kernel_memory(after);
	for (unsigned int i = 0; i < KINDS_OF_MEMORY; i++)
		print_message("%s %lld KiB, then %lld KiB\n", kinds_of_memory[i], (long long)before[i],
			      (long long)after[i]);
	expect_no_leak();
	assert_in_range(sum, 0, most);
}

/* ---- hotplug ------------------------------------------------------------------ */

static int cause_all(struct worker *w)
{
	for (unsigned int i = 0; i < nr_sources; i++)
		if (sources[i].happen)
			sources[i].happen(1);
	load_run(20);
	usleep(500);
	return 0;
}

/* Ids of one trigger of each kind, with alternating actions. */
static unsigned int add_each_kind(const struct session *s, uint32_t *id)
{
	const uint32_t actions[] = { AUXTRACE_ACTION_PAUSE, AUXTRACE_ACTION_RESUME,
				     AUXTRACE_ACTION_SAMPLE, AUXTRACE_ACTION_NONE };
	unsigned int count = 0;

	for (unsigned int i = 0; i < nr_sources; i++) {
		struct auxtrace_trigger t = trigger(sources[i].kind, actions[i % 4]);

		/* It names its function in user memory: no such event is made again for a CPU. */
		if (!strcmp(sources[i].name, "kprobe PMU") || !sources[i].complete(s, &t))
			continue;
		if (t.action == AUXTRACE_ACTION_SAMPLE)
			t.sample_size = 240;
		id[count++] = trigger_add(s, t);
	}
	return count;
}

#define HIT_SECONDS	20

/* perf's events of a CPU that returned are made again a little later. */
static void expect_hit(const struct session *s, uint32_t id, int cpu)
{
	uint64_t before = trigger_read(s, id).out_hits;
	time_t begun = time(NULL);

	assert_int_equal(cpu_pin(cpu), 0);
	while (trigger_read(s, id).out_hits == before) {
		for (unsigned int i = 0; i < nr_sources; i++)
			if (sources[i].happen)
				sources[i].happen(1);
		if (time(NULL) - begun > HIT_SECONDS)
			fail_msg("trigger %u does not fire on CPU %d", id, cpu);
	}
	cpu_unpin();
}

static void cpus_go_and_return_while_sessions_trace_and_triggers_fire(void **state)
{
	uint64_t gone[MAX_CPUS] = { 0 };
	uint32_t id[32];
	unsigned int kinds;
	struct session s;
	int cpu;

	hotplug_required();
	session_prepare(&s, all_cpus, BOTH | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(&s, AUXTRACE_SETUP_DATA_OVERWRITE, 1 << 16);
	session_setup(&s);
	kinds = add_each_kind(&s, id);
	ok_start(s.fd);
	for (int i = 0; i < 2; i++)
		worker_start(&s, -1, cause_all, 0);
	worker_start(&s, -1, pause_and_resume_all, 0);
	cpu = first_cpu;
	for (unsigned int i = 0; i < times(); i++) {
		/* Each but the first in turn. */
		do
			cpu = cpu == last_cpu ? first_cpu + 1 : cpu + 1;
		while (!(all_cpus >> cpu & 1));
		expect_call("offline", 0, cpu_set_online(cpu, 0), __FILE__, __LINE__);
		expect_call("online", 0, cpu_set_online(cpu, 1), __FILE__, __LINE__);
		gone[cpu]++;
	}
	workers_join();

	/* Every trigger still fires, on CPUs that were gone, too. */
	for (uint64_t left = all_cpus; left; left &= left - 1)
		for (unsigned int i = 0; i < kinds; i++)
			expect_hit(&s, id[i], cpus_first(left));
	for (unsigned int i = 0; i < kinds; i++) {
		struct auxtrace_trigger_state st = trigger_del(&s, id[i]);

		print_message("trigger %u: %llu hits\n", id[i], st.out_hits);
	}
	ok_resume(&s, 0, NULL);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		/* RESUME clears what a trigger's PAUSE has set. */
		if (st.inhibit & ~AUXTRACE_INHIBIT_TRIGGER)
			fail_msg("CPU %u: inhibit %#x", st.cpu, st.inhibit);
		assert_int_equal(msr_tracing(st.cpu), !st.inhibit);
		assert_true(st.gaps_offline <= gone[st.cpu]);
		assert_int_equal(st.gaps, st.gaps_offline);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- perf ----------------------------------------------------------------------- */

static struct {
	pthread_barrier_t begin, end;
	int delay;	/* rounds of a loop that perf waits; if negative, that the session waits */
	int step;	/* by which that was changed last */
	int cpu, perf_fd;
	bool over;
} contest;

static void contest_wait(int times)
{
	for (volatile int i = 0; i < times; i++)
		;
}

static void *contest_for_perf(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&contest.begin);
		if (contest.over)
			return NULL;
		contest_wait(contest.delay);
		contest.perf_fd = perf_open_plain(-1, contest.cpu);
		pthread_barrier_wait(&contest.end);
	}
}

#define FIRST_STEP	500
#define LONGEST_DELAY	1000000

/* The contestant that has won begins later, and later still if it wins again: each wins many. */
static void change_delay(bool ours)
{
	/* If the same one has won again, the tie is further away. */
	if (contest.step && ours == (contest.step < 0))
		contest.step *= 2;
	else
		contest.step = ours ? -FIRST_STEP : FIRST_STEP;
	contest.delay += contest.step;
	if (contest.delay > LONGEST_DELAY || contest.delay < -LONGEST_DELAY) {
		contest.delay = ours ? -LONGEST_DELAY : LONGEST_DELAY;
		contest.step /= 2;
	}
}

static void of_perf_and_a_session_exactly_one_gets_a_cpu(void **state)
{
	unsigned int ours = 0, perfs = 0;
	struct session s[MAX_CPUS];
	uint64_t was[MAX_CPUS], is;
	pthread_t thread;

	perf_required();
	two_cpus_required();
	for (int cpu = first_cpu; cpu <= last_cpu; cpu++) {
		session_open(&s[cpu], 1ULL << cpu, BOTH | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
		if (!under_bts())
			assert_int_equal(msr_read(cpu, MSR_RTIT_OUTPUT_BASE, &was[cpu]), 0);
	}
	pthread_barrier_init(&contest.begin, NULL, 2);
	pthread_barrier_init(&contest.end, NULL, 2);
	contest.over = false;
	contest.delay = contest.step = 0;
	assert_int_equal(pthread_create(&thread, NULL, contest_for_perf, NULL), 0);
	for (unsigned int i = 0; i < times(); i++) {
		int cpu = first_cpu + i % (last_cpu - first_cpu + 1), ret;

		contest.cpu = cpu;
		pthread_barrier_wait(&contest.begin);
		contest_wait(-contest.delay);
		ret = at_start(s[cpu].fd);
		pthread_barrier_wait(&contest.end);
		if (contest.perf_fd >= 0)
			at_remember(contest.perf_fd);
		if (!ret) {
			ours++;
			if (contest.perf_fd != -EBUSY)
				fail_msg("contest %u: the session has CPU %d, perf got %d", i, cpu,
					 contest.perf_fd);
			assert_true(msr_tracing(cpu));
			ok_stop(s[cpu].fd);
		} else {
			perfs++;
			if (ret != -EBUSY || contest.perf_fd < 0)
				fail_msg("contest %u for CPU %d: the session got %d, perf %d", i, cpu,
					 ret, contest.perf_fd);
			assert_false(msr_tracing(cpu));
			assert_true(perf_works(contest.perf_fd, cpu));
			at_close(contest.perf_fd);
			if (!under_bts())
				assert_int_equal(msr_read(cpu, MSR_RTIT_OUTPUT_BASE, &was[cpu]), 0);
		}
		assert_false(msr_tracing(cpu));
		if (!under_bts()) {
			assert_int_equal(msr_read(cpu, MSR_RTIT_OUTPUT_BASE, &is), 0);
			assert_int_equal(is, was[cpu]);
		}
		change_delay(!ret);
	}
	contest.over = true;
	pthread_barrier_wait(&contest.begin);
	pthread_join(thread, NULL);
	print_message("the session won %u, perf %u\n", ours, perfs);
	assert_true(ours > times() / 20 && perfs > times() / 20);
	for (int cpu = first_cpu; cpu <= last_cpu; cpu++)
		check_accounting(&s[cpu]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(the_module_is_loaded_and_unloaded_and_takes_no_memory_with_it),
		vm_test(cpus_go_and_return_while_sessions_trace_and_triggers_fire),
		vm_test(of_perf_and_a_session_exactly_one_gets_a_cpu),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
