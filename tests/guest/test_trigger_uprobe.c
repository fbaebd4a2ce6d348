// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uprobe triggers with a pid: only the process traced has the kernel's breakpoint in its text.
 * Children read the first byte of the probed function in their own text, and call it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "machine.h"
#include "trigger.h"

#define CPU		1
#define AUX_SIZE	65536
#define DATA_SIZE	65536
#define INT3		0xcc
#define NOP		0x90	/* the first instruction of probed_function() */
#define PUPPET_SECONDS	60	/* a child that hangs fails its test, not the whole run */
#define ERROR		0	/* what a child answers if it could not obey */

/* A process that obeys orders; the answer to each is a byte. */
struct puppet {
	pid_t pid;
	int orders, answers;
};

#define ORDER_READ	'r'	/* answers with the byte of the text */
#define ORDER_MAP	'm'	/* the same of a mapping of the program made now */
#define ORDER_CALL	'c'
#define ORDER_FORK	'f'	/* a child obeys in place of the process, until it exits */
#define ORDER_EXIT	'e'	/* answers, and exits */
#define ORDER_EXEC	'x'	/* the same program again, which answers */
#define ORDER_THREAD	't'	/* another thread obeys, and the first one ends */

static uint8_t first_byte(const void *function)
{
	return *(const volatile uint8_t *)function;
}

static uint8_t first_byte_of_new_mapping(void)
{
	uint64_t offset = offset_in_program(probed_function);
	uint64_t page = sysconf(_SC_PAGESIZE);
	/* Not PROGRAM, which has no file when the first thread has ended. */
	int fd = open("/proc/thread-self/exe", O_RDONLY);
	uint8_t *map, byte;

	map = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset & -page);
	close(fd);
	if (map == MAP_FAILED)
		return ERROR;
	byte = first_byte(map + offset % page);
	munmap(map, page);
	return byte;
}

static void exec_again(int orders, int answers)
{
	char in[16], out[16];

	snprintf(in, sizeof(in), "%d", orders);
	snprintf(out, sizeof(out), "%d", answers);
	execl(PROGRAM, "puppet", in, out, NULL);
}

static int obey(int orders, int answers);

static void *obey_in_thread(void *arg)
{
	const struct puppet *p = arg;
	uint8_t done = 1;

	/* The first thread is a zombie once its status is Z: then only this one has a mm. */
	for (unsigned int i = 0; i < 1000; i++) {
		char text[512] = "", *state;
		int fd = open("/proc/self/stat", O_RDONLY);
		ssize_t got = read(fd, text, sizeof(text) - 1);

		close(fd);
		state = got > 0 ? strrchr(text, ')') : NULL;
		if (state && state[2] == 'Z')
			break;
		if (i == 999)
			done = ERROR;
		usleep(10000);
	}
	if (write(p->answers, &done, 1) != 1)
		_exit(1);
	_exit(obey(p->orders, p->answers));
}

/* Returns when nobody gives orders any more. */
static int obey(int orders, int answers)
{
	static struct puppet self;
	pthread_t thread;
	char order;

	while (read(orders, &order, 1) == 1) {
		uint8_t answer = 1;
		pid_t pid;

		switch (order) {
		case ORDER_READ:
			answer = first_byte(probed_function);
			break;
		case ORDER_MAP:
			answer = first_byte_of_new_mapping();
			break;
		case ORDER_CALL:
			probed_function();
			break;
		case ORDER_FORK:
			pid = fork();
			if (pid > 0) {
				waitpid(pid, NULL, 0);
				continue;
			}
			answer = pid ? ERROR : 1;
			break;
		case ORDER_EXEC:
			exec_again(orders, answers);
			answer = ERROR;
			break;
		case ORDER_THREAD:
			self = (struct puppet){ .orders = orders, .answers = answers };
			if (!pthread_create(&thread, NULL, obey_in_thread, &self))
				syscall(SYS_exit, 0);
			answer = ERROR;
			break;
		case ORDER_EXIT:
			if (write(answers, &answer, 1) != 1)
				return 1;
			return 0;
		}
		if (write(answers, &answer, 1) != 1)
			return 1;
	}
	return 0;
}

static uint8_t order(const struct puppet *p, char what)
{
	uint8_t answer;

	assert_int_equal(write(p->orders, &what, 1), 1);
	assert_int_equal(read(p->answers, &answer, 1), 1);
	return answer;
}

static void begin_puppet(struct puppet *p)
{
	int in[2], out[2];

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (!p->pid) {
		alarm(PUPPET_SECONDS * slowness);
		close(in[1]);
		close(out[0]);
		_exit(obey(in[0], out[1]));
	}
	close(in[0]);
	close(out[1]);
	p->orders = in[1];
	p->answers = out[0];
}

static void end_puppet(struct puppet *p)
{
	int status;

	order(p, ORDER_EXIT);
	close(p->orders);
	close(p->answers);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_int_equal(status, 0);
}

static void begin(struct session *s)
{
	session_prepare(s, 1ULL << CPU, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(s, 0, DATA_SIZE);
	session_setup(s);
	/* Children run there, too. */
	assert_int_equal(cpu_pin(CPU), 0);
	ok_start(s->fd);
}

static uint32_t add(const struct session *s, uint32_t kind, const struct puppet *p)
{
	struct auxtrace_trigger t = trigger_named(kind, AUXTRACE_ACTION_PAUSE, PROGRAM,
						  offset_in_program(probed_function));

	t.pid = p ? p->pid : 0;
	return trigger_add(s, t);
}

static void only_the_process_has_the_breakpoint(uint32_t kind)
{
	struct puppet traced, other, later;
	struct session s;
	uint32_t id;

	begin(&s);
	begin_puppet(&traced);
	begin_puppet(&other);
	assert_int_equal(order(&traced, ORDER_READ), NOP);
	id = add(&s, kind, &traced);
	begin_puppet(&later);

	assert_int_equal(order(&traced, ORDER_READ), INT3);
	assert_int_equal(order(&traced, ORDER_MAP), INT3);
	assert_int_equal(order(&other, ORDER_READ), NOP);
	assert_int_equal(order(&other, ORDER_MAP), NOP);
	assert_int_equal(order(&later, ORDER_READ), NOP);
	assert_int_equal(order(&later, ORDER_EXEC), ERROR + 1);
	assert_int_equal(order(&later, ORDER_READ), NOP);
	assert_int_equal(first_byte(probed_function), NOP);

	order(&other, ORDER_CALL);
	order(&later, ORDER_CALL);
	probed_function();
	trigger_counted(&s, id, 0, 0, 0, 0);
	for (unsigned int i = 1; i <= 3; i++) {
		order(&traced, ORDER_CALL);
		trigger_counted(&s, id, i, 0, 0, 0);
	}
	trigger_del(&s, id);
	assert_int_equal(order(&traced, ORDER_READ), NOP);
	end_puppet(&traced);
	end_puppet(&other);
	end_puppet(&later);
	session_close(&s);
}

static void a_uprobe_with_a_pid_changes_no_other_process(void **state)
{
	only_the_process_has_the_breakpoint(AUXTRACE_TRIGGER_UPROBE);
}

static void a_uretprobe_with_a_pid_changes_no_other_process(void **state)
{
	only_the_process_has_the_breakpoint(AUXTRACE_TRIGGER_URETPROBE);
}

/* fork(2) copies the text with its breakpoint, which goes at the first call. */
static void lost_at_the_first_call_of_a_child(uint32_t kind)
{
	struct puppet traced;
	struct session s;
	uint32_t id;

	begin(&s);
	begin_puppet(&traced);
	id = add(&s, kind, &traced);
	order(&traced, ORDER_CALL);
	assert_int_equal(order(&traced, ORDER_FORK), 1);
	/* In the child. */
	assert_int_equal(order(&traced, ORDER_MAP), NOP);
	order(&traced, ORDER_CALL);
	assert_int_equal(order(&traced, ORDER_READ), NOP);
	order(&traced, ORDER_CALL);
	trigger_counted(&s, id, 1, 0, 0, 0);
	order(&traced, ORDER_EXIT);
	/* In the process again. */
	assert_int_equal(order(&traced, ORDER_READ), INT3);
	order(&traced, ORDER_CALL);
	trigger_counted(&s, id, 2, 0, 0, 0);
	end_puppet(&traced);
	session_close(&s);
}

static void a_child_of_the_process_loses_a_uprobe_at_its_first_call(void **state)
{
	lost_at_the_first_call_of_a_child(AUXTRACE_TRIGGER_UPROBE);
}

static void a_child_of_the_process_loses_a_uretprobe_at_its_first_call(void **state)
{
	lost_at_the_first_call_of_a_child(AUXTRACE_TRIGGER_URETPROBE);
}

static void the_process_keeps_its_probe_across_exec(void **state)
{
	struct puppet traced;
	struct session s;
	uint32_t id;

	begin(&s);
	begin_puppet(&traced);
	id = add(&s, AUXTRACE_TRIGGER_UPROBE, &traced);
	assert_int_equal(order(&traced, ORDER_EXEC), 1);
	assert_int_equal(order(&traced, ORDER_READ), INT3);
	order(&traced, ORDER_CALL);
	trigger_counted(&s, id, 1, 0, 0, 0);
	end_puppet(&traced);
	session_close(&s);
}

static void the_process_keeps_its_probe_when_its_first_thread_ends(void **state)
{
	struct puppet traced;
	struct session s;
	uint32_t before, after;

	begin(&s);
	begin_puppet(&traced);
	before = add(&s, AUXTRACE_TRIGGER_UPROBE, &traced);
	assert_int_equal(order(&traced, ORDER_THREAD), 1);
	assert_int_equal(order(&traced, ORDER_MAP), INT3);
	trigger_del(&s, before);
	assert_int_equal(order(&traced, ORDER_READ), NOP);
	after = add(&s, AUXTRACE_TRIGGER_UPROBE, &traced);
	assert_int_equal(order(&traced, ORDER_READ), INT3);
	order(&traced, ORDER_CALL);
	trigger_counted(&s, after, 1, 0, 0, 0);
	end_puppet(&traced);
	session_close(&s);
}

/* The kernel keeps a breakpoint while any trigger wants it. */
static void triggers_of_two_processes_and_of_all_share_a_place(void **state)
{
	struct puppet one, two, other;
	uint32_t id_one, id_two, id_all;
	struct session s;

	begin(&s);
	begin_puppet(&one);
	begin_puppet(&two);
	begin_puppet(&other);
	id_one = add(&s, AUXTRACE_TRIGGER_UPROBE, &one);
	id_two = add(&s, AUXTRACE_TRIGGER_UPROBE, &two);
	order(&one, ORDER_CALL);
	order(&two, ORDER_CALL);
	order(&two, ORDER_CALL);
	trigger_counted(&s, id_one, 1, 0, 0, 0);
	trigger_counted(&s, id_two, 2, 0, 0, 0);
	assert_int_equal(order(&other, ORDER_READ), NOP);
	id_all = add(&s, AUXTRACE_TRIGGER_UPROBE, NULL);
	assert_int_equal(order(&other, ORDER_READ), INT3);
	order(&other, ORDER_CALL);
	order(&other, ORDER_CALL);
	trigger_counted(&s, id_all, 2, 0, 0, 0);
	trigger_del(&s, id_all);
	assert_int_equal(order(&other, ORDER_READ), NOP);
	trigger_del(&s, id_one);
	assert_int_equal(order(&one, ORDER_READ), NOP);
	assert_int_equal(order(&two, ORDER_READ), INT3);
	order(&two, ORDER_CALL);
	trigger_counted(&s, id_two, 3, 0, 0, 0);
	end_puppet(&one);
	end_puppet(&two);
	end_puppet(&other);
	session_close(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_uprobe_with_a_pid_changes_no_other_process),
		vm_test(a_uretprobe_with_a_pid_changes_no_other_process),
		vm_test(a_child_of_the_process_loses_a_uprobe_at_its_first_call),
		vm_test(a_child_of_the_process_loses_a_uretprobe_at_its_first_call),
		vm_test(the_process_keeps_its_probe_across_exec),
		vm_test(the_process_keeps_its_probe_when_its_first_thread_ends),
		vm_test(triggers_of_two_processes_and_of_all_share_a_place),
	};

	if (argc == 3 && !strcmp(argv[0], "puppet")) {
		int answers = atoi(argv[2]);
		uint8_t done = 1;

		alarm(PUPPET_SECONDS * slowness);
		if (write(answers, &done, 1) != 1)
			return 1;
		return obey(atoi(argv[1]), answers);
	}
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
