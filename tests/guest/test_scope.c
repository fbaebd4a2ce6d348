// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions with a task scope: who is a member, what its windows are, what triggers and requests do
 * meanwhile. tests/host/flow.sh compares what is traced of members with the execution log.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "partner.h"
#include "pmu.h"
#include "records.h"
#include "ring.h"
#include "setup.h"
#include "trigger.h"
#include "waiter.h"
#include "worker.h"

#define THREAD		AUXTRACE_SETUP_THREAD
#define PROCESS		AUXTRACE_SETUP_PROCESS
#define DESCENDANTS	AUXTRACE_SETUP_DESCENDANTS
#define TASK		AUXTRACE_INHIBIT_TASK
#define CHILD_SECONDS	60

/* A session on @cpus for user code that is limited to @scope of @tid. */
static void open_scope(struct session *s, uint64_t cpus, uint32_t scope, pid_t tid)
{
	session_prepare(s, cpus, AUXTRACE_SETUP_USER | OVER | scope, space_for(4 * page_size));
	session_prepare_data(s, 0, 1 << 18);
	s->setup.records = AUXTRACE_WANT_WINDOW;
	s->setup.tid = tid;
	session_setup(s);
}

static struct auxtrace_status members(const struct session *s)
{
	struct auxtrace_status st;

	ok_status(s->fd, 0, &st);
	assert_int_equal(st.out_members_lost, 0);
	return st;
}

static uint32_t inhibit_here(const struct session *s)
{
	return channel_status(s->channel).inhibit;
}

/* The number of windows of all channels that began when a CPU came to a thread of process @pid. */
static unsigned int windows_of(const struct session *s, pid_t pid)
{
	unsigned int count = 0;

	for (unsigned int c = 0; c < s->count; c++) {
		struct follower f;
		struct records r;

		assert_int_equal(channel_status(&s->channel[c]).data_lost, 0);
		records_read_all(&r, &s->channel[c]);
		follower_init(&f, &s->channel[c]);
		follow(&f, &r, false);
		for (unsigned int i = 0; i < r.count; i++)
			count += r.at[i]->window.begin_cause == AUXTRACE_CAUSE_TASK &&
				 r.at[i]->window.begin_pid == (uint32_t)pid;
		records_free(&r);
	}
	return count;
}

/* ---- windows -------------------------------------------------------------------- */

#define ROUNDS	50

static void each_time_that_a_member_runs_is_a_window(void **state)
{
	const struct mode *m = *state;
	struct switch_counts before, after;
	struct follower f;
	struct records r;
	struct session s;

	/* A full trace has space for all that the test makes, and no data ring is overwritten. */
	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | m->aux | THREAD,
			space_for(m->aux ? 4 * page_size : 4 << 20));
	session_prepare_data(&s, m->data, 1 << 20);
	s.setup.tid = partner_tid(1);
	s.setup.records = AUXTRACE_WANT_WINDOW | AUXTRACE_WANT_ITRACE_START;
	session_setup(&s);
	assert_int_equal(cpu_pin(first_cpu), 0);
	follower_init(&f, s.channel);
	ok_start(s.fd);
	assert_int_equal(inhibit_here(&s), TASK);
	before = partner_counts(1);
	for (int i = 0; i < ROUNDS; i++)
		partners_round();
	after = partner_counts(1);
	assert_int_equal(inhibit_here(&s), TASK);
	records_read_all(&r, s.channel);
	follow(&f, &r, false);
	assert_int_equal(f.windows, after.voluntary + after.involuntary - before.voluntary -
				    before.involuntary);
	assert_true(f.windows >= ROUNDS);
	assert_int_equal(f.begun_by[AUXTRACE_CAUSE_TASK], f.windows);
	assert_int_equal(f.ended_by[AUXTRACE_CAUSE_TASK], f.windows);
	for (unsigned int i = 0; i < r.count; i++) {
		const struct auxtrace_record_window *w = &r.at[i]->window;
		const struct auxtrace_record_itrace_start *itrace = &r.at[i]->itrace;

		if (w->header.type == AUXTRACE_RECORD_ITRACE_START) {
			assert_int_equal(itrace->pid, getpid());
			assert_int_equal(itrace->tid, partner_tid(1));
			continue;
		}
		assert_int_equal(w->begin_pid, getpid());
		assert_int_equal(w->begin_tid, partner_tid(1));
		assert_int_equal(w->pid, getpid());
		assert_int_equal(w->tid, partner_tid(1));
		assert_true(w->end_position > w->begin);
	}
	assert_int_equal(f.itrace_starts, 1);
	records_free(&r);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* Is it a thread of this process, of those that live on while a test runs? */
static bool is_ours(uint32_t tid)
{
	bool ours = tid == (uint32_t)gettid();

	for (int i = 0; i < PARTNERS; i++)
		ours |= tid == (uint32_t)partner_tid(i);
	return ours;
}

static void a_switch_between_two_members_changes_nothing(void **state)
{
	unsigned int left = 0, between = 0;
	struct follower f;
	struct records r;
	struct session s;

	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | OVER | PROCESS, space_for(4 * page_size));
	session_prepare_data(&s, 0, 1 << 18);
	s.setup.records = AUXTRACE_WANT_WINDOW | AUXTRACE_WANT_SWITCH;
	session_setup(&s);
	assert_int_equal(cpu_pin(first_cpu), 0);
	ok_start(s.fd);
	assert_int_equal(inhibit_here(&s), 0);
	for (int i = 0; i < ROUNDS; i++)
		partners_round();
	ok_stop(s.fd);
	assert_int_equal(channel_status(s.channel).data_lost, 0);
	records_read_all(&r, s.channel);
	follower_init(&f, s.channel);
	follow(&f, &r, false);
	for (unsigned int i = 0; i < r.count; i++) {
		const struct auxtrace_record_switch *sw = &r.at[i]->context_switch;

		if (sw->header.type != AUXTRACE_RECORD_SWITCH || !is_ours(sw->end.tid))
			continue;
		left += !is_ours(sw->next_prev_tid);
		between += is_ours(sw->next_prev_tid);
	}
	assert_true(between >= ROUNDS);
	/* The last window is ended by STOP. */
	assert_int_equal(f.ended_by[AUXTRACE_CAUSE_TASK], left);
	assert_int_equal(f.windows, left + 1);
	records_free(&r);
	check_accounting(&s);
}

static void requests_keep_their_meaning_while_a_non_member_runs(void **state)
{
	struct auxtrace_effect effect;
	struct session s;
	uint64_t windows;

	open_scope(&s, one_cpu, THREAD, partner_tid(0));
	assert_int_equal(cpu_pin(first_cpu), 0);
	ok_start(s.fd);
	ok_pause(&s, 0, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(effect.inhibit, TASK | AUXTRACE_INHIBIT_USER);
	windows = channel_status(s.channel).windows;
	partners_round();
	assert_int_equal(channel_status(s.channel).windows, windows);
	ok_resume(&s, 0, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(effect.inhibit, TASK);
	partners_round();
	assert_true(channel_status(s.channel).windows > windows);
	ok_stop(s.fd);
	/* Each START sees who runs. */
	ok_start(s.fd);
	assert_int_equal(inhibit_here(&s), TASK);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_start_by_a_member_traces_at_once(void **state)
{
	struct session s;

	open_scope(&s, one_cpu, THREAD, 0);
	assert_int_equal(cpu_pin(first_cpu), 0);
	for (int i = 0; i < 3; i++) {
		uint64_t produced = channel_status(s.channel).produced;

		ok_start(s.fd);
		assert_int_equal(inhibit_here(&s), 0);
		load_run(1000);
		ok_stop(s.fd);
		assert_true(channel_status(s.channel).produced > produced);
	}
	check_accounting(&s);
}

/* ---- triggers ------------------------------------------------------------------- */

static int call_once(struct worker *w)
{
	call_times(1);
	return 0;
}

static void a_hit_in_a_non_member_is_held(void **state)
{
	struct auxtrace_trigger_state st;
	uint32_t id, latency, around[2];
	struct session s;

	assert_int_equal(cpu_pin(first_cpu), 0);
	open_scope(&s, one_cpu, THREAD, partner_tid(0));
	id = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
					     AUXTRACE_ACTION_FREEZE, CALL_NUMBER));
	for (int i = 0; i < 2; i++)
		around[i] = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER + i,
							    AUXTRACE_ACTION_NONE, CALL_NUMBER));
	latency = trigger_add(&s, (struct auxtrace_trigger){
		.size = sizeof(struct auxtrace_trigger), .kind = AUXTRACE_TRIGGER_LATENCY,
		.action = AUXTRACE_ACTION_NONE, .a = around[0], .b = around[1], .bound_ns = 1,
	});
	ok_start(s.fd);
	call_times(5);
	st = trigger_read(&s, id);
	assert_int_equal(st.out_held, 5);
	assert_int_equal(st.out_hits, 5);
	assert_int_equal(trigger_read(&s, latency).out_hits, 0);
	assert_int_equal(inhibit_here(&s), TASK);
	ok_stop(s.fd);
	check_accounting(&s);
	session_close(&s);

	/* The same in a member. */
	open_scope(&s, one_cpu, PROCESS, 0);
	id = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
					     AUXTRACE_ACTION_FREEZE, CALL_NUMBER));
	ok_start(s.fd);
	worker_start(&s, first_cpu, call_once, 1);
	wait_until(workers_are_done());
	workers_join();
	assert_int_equal(trigger_read(&s, id).out_acted, 1);
	assert_true(inhibit_here(&s) & AUXTRACE_INHIBIT_FROZEN);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- who is a member ------------------------------------------------------------ */

static int sleep_thrice(void *arg)
{
	for (int i = 0; i < 3; i++)
		usleep(1000);
	return 0;
}

static void *sleep_in_thread(void *arg)
{
	*(pid_t *)arg = gettid();
	sleep_thrice(NULL);
	return NULL;
}

/* A thread of this process, which has ended when this returns. */
static pid_t run_thread(void)
{
	pthread_t thread;
	pid_t tid;

	assert_int_equal(pthread_create(&thread, NULL, sleep_in_thread, &tid), 0);
	pthread_join(thread, NULL);
	return tid;
}

/* A child with @fn, which has ended when this returns. */
static pid_t run_child(int (*fn)(void *))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(fn(NULL));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return pid;
}

static unsigned int windows_of_thread(const struct session *s, pid_t tid)
{
	unsigned int count = 0;

	for (unsigned int c = 0; c < s->count; c++) {
		struct records r;

		records_read_all(&r, &s->channel[c]);
		for (unsigned int i = 0; i < r.count; i++)
			count += r.at[i]->window.begin_tid == (uint32_t)tid;
		records_free(&r);
	}
	return count;
}

static void what_a_member_creates_is_one_as_the_flags_say(void **state)
{
	static const struct {
		uint32_t scope;
		bool thread, child;
	} cases[] = {
		{ THREAD, false, false },
		{ THREAD | DESCENDANTS, true, true },
		{ PROCESS, true, false },
		{ PROCESS | DESCENDANTS, true, true },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct session s;
		pid_t tid, pid;

		open_scope(&s, all_cpus, cases[i].scope, 0);
		ok_start(s.fd);
		tid = run_thread();
		pid = run_child(sleep_thrice);
		ok_stop(s.fd);
		assert_true(windows_of(&s, getpid()) > 0);
		/* It sleeps: at least once a CPU comes to it from its idle task, which begins a window. */
		assert_int_equal(windows_of_thread(&s, tid) > 0, cases[i].thread);
		assert_int_equal(windows_of(&s, pid) > 0, cases[i].child);
		check_accounting(&s);
		session_close(&s);
	}
}

static int run_grandchild_and_exec(void *arg)
{
	pid_t pid = vfork();
	int status;

	if (!pid) {
		execl("/proc/self/exe", "test_scope", "sleep", NULL);
		_exit(1);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status ||
	       execl("/proc/self/exe", "test_scope", "sleep", NULL);
}

static void members_stay_ones_across_exec_and_so_do_their_children(void **state)
{
	unsigned int pids = 0;
	struct session s;
	pid_t seen[8] = { 0 };

	open_scope(&s, all_cpus, PROCESS | DESCENDANTS, 0);
	ok_start(s.fd);
	run_child(run_grandchild_and_exec);
	ok_stop(s.fd);
	/* This process, the child and the grandchild: each slept after its exec. */
	for (unsigned int c = 0; c < s.count; c++) {
		struct records r;

		records_read_all(&r, &s.channel[c]);
		for (unsigned int i = 0; i < r.count; i++) {
			pid_t pid = r.at[i]->window.begin_pid;
			unsigned int n = 0;

			while (n < pids && seen[n] != pid)
				n++;
			if (n == pids) {
				assert_true(pids < 8);
				seen[pids++] = pid;
			}
		}
		records_free(&r);
	}
	assert_int_equal(pids, 3);
	for (unsigned int n = 0; n < pids; n++)
		if (seen[n] != getpid())
			assert_true(windows_of(&s, seen[n]) >= 3);
	check_accounting(&s);
}

static void members_are_counted_until_they_end(void **state)
{
	struct session s;
	siginfo_t info;
	pid_t pid;

	open_scope(&s, all_cpus, PROCESS | DESCENDANTS, 0);
	/* Threads of earlier tests may be about to end. */
	wait_until(members(&s).out_members == 1 + PARTNERS);
	/* Not started: they are followed from SETUP on. */
	for (int i = 0; i < 20; i++)
		run_child(sleep_thrice);
	assert_int_equal(members(&s).out_members, 1 + PARTNERS);
	/* One that waits to be reaped has ended. */
	pid = fork();
	if (!pid) {
		sleep(1000);
		_exit(0);
	}
	assert_int_equal(members(&s).out_members, 2 + PARTNERS);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(members(&s).out_members, 1 + PARTNERS);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	session_close(&s);
	open_scope(&s, all_cpus, THREAD, 0);
	assert_int_equal(members(&s).out_members, 1);
	run_child(sleep_thrice);
	assert_int_equal(members(&s).out_members, 1);
	session_close(&s);
	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | OVER, space_for(4 * page_size));
	session_setup(&s);
	assert_int_equal(members(&s).out_members, 0);
}

/* As many as the module has places for at first, and more. */
#define SOME	400
#define MANY	700

static sem_t many_end;

static void *wait_for_end(void *arg)
{
	sem_wait(&many_end);
	return NULL;
}

static void all_threads_of_a_large_process_are_members(void **state)
{
	static pthread_t threads[MANY];
	pthread_attr_t small;
	struct session s;

	sem_init(&many_end, 0, 0);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	open_scope(&s, one_cpu, PROCESS, 0);
	wait_until(members(&s).out_members == 1 + PARTNERS);
	for (int i = 0; i < SOME; i++)
		assert_int_equal(pthread_create(&threads[i], &small, wait_for_end, NULL), 0);
	assert_int_equal(members(&s).out_members, 1 + PARTNERS + SOME);
	session_close(&s);
	for (int i = SOME; i < MANY; i++)
		assert_int_equal(pthread_create(&threads[i], &small, wait_for_end, NULL), 0);
	/* The same if they exist at SETUP. */
	open_scope(&s, one_cpu, PROCESS, partner_tid(0));
	assert_int_equal(members(&s).out_members, 1 + PARTNERS + MANY);
	for (int i = 0; i < MANY; i++)
		sem_post(&many_end);
	for (int i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	wait_until(members(&s).out_members == 1 + PARTNERS);
	pthread_attr_destroy(&small);
}

/* ---- errors --------------------------------------------------------------------- */

static void setup_refuses_a_scope_of_nobody(void **state)
{
	struct session s;
	pid_t pid;

	setup_prepare(&s);
	s.setup.flags |= THREAD | PROCESS;
	setup_refuses(EINVAL, &s);
	setup_prepare(&s);
	s.setup.flags |= DESCENDANTS;
	setup_refuses(EINVAL, &s);
	setup_prepare(&s);
	s.setup.tid = getpid();
	setup_refuses(EINVAL, &s);
	setup_prepare(&s);
	s.setup.reserved = 1;
	setup_refuses(EINVAL, &s);
	for (int i = 0; i < 2; i++) {
		uint32_t scope = i ? PROCESS | DESCENDANTS : THREAD;

		/* No number of a thread is so large. */
		setup_prepare(&s);
		s.setup.flags |= scope;
		s.setup.tid = 1 << 30;
		setup_refuses(ESRCH, &s);
		s.setup.tid = UINT32_MAX;
		setup_refuses(ESRCH, &s);
		/* The kernel's kthreadd */
		s.setup.tid = 2;
		setup_refuses(ENXIO, &s);
		s.setup.flags |= AUXTRACE_SETUP_KERNEL;
		setup_ok(&s);
	}
	/* A child that has exited and is still in the kernel's list. */
	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, pid, NULL, WEXITED | WNOWAIT), 0);
	setup_prepare(&s);
	s.setup.flags |= PROCESS;
	s.setup.tid = pid;
	setup_refuses(ESRCH, &s);
	waitpid(pid, NULL, 0);
	setup_refuses(ESRCH, &s);
}

/* ---- storms --------------------------------------------------------------------- */

#define LIVES	16	/* of sessions, at least */
#define STORM	500	/* processes and threads that come and go meanwhile, at least */

static atomic_uint *storm;	/* how many have ended */

static void *does_nothing(void *unused)
{
	return unused;
}

/* One that ends at once: a thread, a process of vfork(2), or one of fork(2), of which some execute a program. */
static bool live_briefly(unsigned int number)
{
	pthread_t thread;
	pid_t pid;

	if (number % 8 == 0)
		return !pthread_create(&thread, NULL, does_nothing, NULL) && !pthread_join(thread, NULL);
	pid = number % 8 == 4 ? vfork() : fork();
	if (!pid) {
		if (number % 32 == 1)
			execl("/proc/self/exe", "test_scope", "nothing", (char *)NULL);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static void *live_and_end(void *arg)
{
	cpu_pin((int)(intptr_t)arg);
	for (unsigned int n = 0;; n++)
		if (live_briefly(n))
			atomic_fetch_add(storm, 1);
	return NULL;
}

/*
 * A process that forks on every CPU until it is killed. It has no descriptor of a session that
 * is opened later: a child with one would keep the session's hardware when the test closes it.
 */
static pid_t start_storm(void)
{
	pthread_t thread;
	pid_t pid;

	storm = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(storm != MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	/* It does not outlive a test that fails. */
	alarm(CHILD_SECONDS * slowness);
	for (uint64_t left = all_cpus; left; left &= left - 1)
		if (pthread_create(&thread, NULL, live_and_end, (void *)(intptr_t)cpus_first(left)))
			_exit(1);
	for (;;)
		pause();
}

/* A session of the storm. @hotplug: meanwhile a CPU goes and comes back. */
static uint64_t session_of_storm(unsigned int number, pid_t storms, bool hotplug)
{
	struct auxtrace_status st;
	struct session s;

	open_scope(&s, all_cpus, PROCESS | DESCENDANTS | (number % 3 ? 0 : AUXTRACE_SETUP_KERNEL), storms);
	ok_start(s.fd);
	usleep(10000);
	ok_pause(&s, 0, NULL);
	ok_resume(&s, 0, NULL);
	if (hotplug) {
		last_cpu_offline();
		usleep(10000);
		last_cpu_online();
	}
	ok_snapshot(&s, 0, (struct auxtrace_cut[MAX_CPUS]){ }, NULL);
	usleep(10000);
	st = members(&s);
	assert_true(st.out_members > 0);
	/* Every other session is closed while it is started. */
	if (number & 1) {
		ok_stop(s.fd);
		check_accounting(&s);
	}
	session_close(&s);
	return st.out_windows;
}

static void storm_with(bool hotplug)
{
	pid_t storms = start_storm();
	uint64_t windows = 0;
	unsigned int lives;
	int status;

	for (lives = 0; lives < LIVES || *storm < STORM; lives++)
		windows += session_of_storm(lives, storms, hotplug);
	kill(storms, SIGKILL);
	assert_int_equal(waitpid(storms, &status, 0), storms);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_true(windows > lives);
	print_message("%u sessions, %u processes and threads\n", lives, *storm);
	munmap(storm, page_size);
}

static void sessions_begin_and_end_among_forks(void **state)
{
	storm_with(false);
}

static void sessions_begin_and_end_among_forks_while_a_cpu_goes_and_comes(void **state)
{
	hotplug_required();
	storm_with(true);
}

static int run_a_little(struct worker *w)
{
	load_run(500);
	usleep(100);
	return 0;
}

static void a_cpu_that_returns_traces_members_only(void **state)
{
	struct session s;
	pid_t member;

	hotplug_required();
	/* This process is no member. Its child is, which comes and goes on whatever CPU there is. */
	member = fork();
	if (!member) {
		/* It does not outlive a test that fails. */
		alarm(CHILD_SECONDS * slowness);
		for (;;)
			usleep(500);
	}
	open_scope(&s, all_cpus, PROCESS, member);
	ok_start(s.fd);
	for (int i = 0; i < 3; i++)
		worker_start(&s, -1, run_a_little, 0);
	for (int i = 0; i < 5; i++) {
		last_cpu_offline();
		usleep(2000);
		last_cpu_online();
		usleep(2000);
	}
	workers_join();
	ok_stop(s.fd);
	kill(member, SIGKILL);
	waitpid(member, NULL, 0);
	assert_true(windows_of(&s, member) > 0);
	/* Whatever began a window, the CPU ran the child in it. */
	for (unsigned int c = 0; c < s.count; c++) {
		struct records r;

		records_read_all(&r, &s.channel[c]);
		for (unsigned int i = 0; i < r.count; i++) {
			assert_int_equal(r.at[i]->window.begin_pid, member);
			assert_int_equal(r.at[i]->window.pid, member);
		}
		records_free(&r);
	}
	check_accounting(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		in_each_mode(each_time_that_a_member_runs_is_a_window),
		vm_test(a_switch_between_two_members_changes_nothing),
		vm_test(requests_keep_their_meaning_while_a_non_member_runs),
		vm_test(a_start_by_a_member_traces_at_once),
		vm_test(a_hit_in_a_non_member_is_held),
		vm_test(what_a_member_creates_is_one_as_the_flags_say),
		vm_test(members_stay_ones_across_exec_and_so_do_their_children),
		vm_test(members_are_counted_until_they_end),
		vm_test(all_threads_of_a_large_process_are_members),
		vm_test(setup_refuses_a_scope_of_nobody),
		vm_test(sessions_begin_and_end_among_forks),
		vm_test(sessions_begin_and_end_among_forks_while_a_cpu_goes_and_comes),
		vm_test(a_cpu_that_returns_traces_members_only),
	};

	/* A program to exec. */
	if (argc > 1 && !strcmp(argv[1], "sleep"))
		return sleep_thrice(NULL);
	if (argc > 1 && !strcmp(argv[1], "nothing"))
		return 0;
	return cmocka_run_group_tests(tests, partners_start, partners_end);
}
