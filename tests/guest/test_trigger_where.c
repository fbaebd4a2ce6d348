// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a trigger acts: the first and last instructions of a window and the functions between,
 * as the ABI defines the skid of each kind.
 */
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "insns.h"
#include "pmu.h"
#include "records.h"
#include "trace.h"
#include "trigger.h"

#define AUX_SIZE	space_for(1 << 20)
#define DATA_SIZE	(1 << 16)
#define CPU		1
#define ONE_CPU		(1ULL << CPU)
/* Enough windows that some have no interrupt: a tick is 4 ms, a window some microseconds. */
#define TIMES		12
#define MAX_NAMES	6

/* The content of a window between two triggers. */
struct expected {
	const char *resume, *pause;		/* sources; NULL: none */
	void (*happen)(unsigned int n);
	const char *with[MAX_NAMES];		/* functions that each window has */
	const char *without[MAX_NAMES];		/* functions that no window has */
};

static void open_armed(struct session *s, uint32_t level)
{
	session_prepare(s, ONE_CPU, level | AUXTRACE_SETUP_TRIGGER_PAUSED, AUX_SIZE);
	session_prepare_data(s, 0, DATA_SIZE);
	session_setup(s);
	assert_int_equal(cpu_pin(CPU), 0);
}

static void add_source(struct session *s, const char *name, uint32_t action)
{
	const struct source *from = source_named(name);
	struct auxtrace_trigger t = trigger(from->kind, action);

	assert_true(from->complete(s, &t));
	trigger_add(s, t);
}

/* A copy of the bytes of a window. */
static uint8_t *window_bytes(const struct channel *ch, const struct auxtrace_record_window *w,
			     size_t *len)
{
	uint8_t *bytes;

	*len = w->end_position - w->begin;
	bytes = malloc(*len + 1);
	assert_non_null(bytes);
	channel_copy(ch, w->begin, bytes, *len);
	return bytes;
}

/* Is it code that turns tracing on or off: the module, or the kernel's wrapper of WRMSR? */
static bool is_switch(uint64_t ip)
{
	return !strcmp(module_at(ip), "[auxtrace]") || strstr(function_at(ip), "write_msr") ||
	       strstr(function_at(ip), "wrmsr");
}

static void fail_window(const struct insns *in, const char *why, const char *what)
{
	insns_print(in, what);
	fail_msg("%s: %s", what, why);
}

/* An interrupt or a task switch adds other functions to the window. */
static bool was_interrupted(const struct insns *in)
{
	return insns_have(in, "asm_sysvec_*") || insns_have(in, "asm_common_interrupt") ||
	       insns_have(in, "__schedule");
}

/* Returns false if the window was interrupted, so that its functions prove nothing. */
static bool check_kernel_window(const struct channel *ch, const struct auxtrace_record_window *w,
				const struct expected *e, const char *what)
{
	struct insns in;
	size_t len;
	uint8_t *bytes = window_bytes(ch, w, &len);
	bool interrupted;

	insns_decode(&in, bytes, len);
	if (in.error)
		fail_window(&in, "does not decode", what);
	if (in.count < 2)
		fail_window(&in, "is empty", what);
	if (!is_switch(in.ip[0]))
		fail_window(&in, "does not begin in the module", what);
	if (!is_switch(in.ip[in.count - 1]))
		fail_window(&in, "does not end in the module", what);
	if (insns_have(&in, "(user)"))
		fail_window(&in, "has user code", what);
	interrupted = was_interrupted(&in);
	for (int i = 0; !interrupted && i < MAX_NAMES && e->with[i]; i++)
		if (!insns_have(&in, e->with[i]))
			fail_window(&in, e->with[i], what);
	for (int i = 0; !interrupted && i < MAX_NAMES && e->without[i]; i++)
		if (insns_have(&in, e->without[i]))
			fail_window(&in, e->without[i], what);
	insns_free(&in);
	free(bytes);
	return !interrupted;
}

static void expect_windows(const struct expected *e)
{
	char what[128];
	struct records r;
	struct session s;
	unsigned int windows = 0, whole = 0;

	open_armed(&s, AUXTRACE_SETUP_KERNEL);
	add_source(&s, e->resume, AUXTRACE_ACTION_RESUME);
	add_source(&s, e->pause, AUXTRACE_ACTION_PAUSE);
	ok_start(s.fd);
	e->happen(TIMES);
	ok_stop(s.fd);
	records_read_all(&r, &s.channel[0]);
	for (unsigned int i = 0; i < r.count; i++) {
		if (r.at[i]->header.type != AUXTRACE_RECORD_WINDOW)
			continue;
		snprintf(what, sizeof(what), "%s to %s, window %u", e->resume, e->pause, ++windows);
		whole += check_kernel_window(&s.channel[0], &r.at[i]->window, e, what);
	}
	assert_int_equal(windows, TIMES);
	assert_true(whole > 0);
	print_message("%s to %s: %u of %u windows without an interrupt\n", e->resume, e->pause, whole,
		      windows);
	records_free(&r);
	session_close(&s);
}

/* Entry to and exit from the kernel, which no such window may hold. */
#define ENTRY	"entry_SYSCALL_64*"
#define EXIT	"*exit_to_user*"

/* The example of perf's aux-action. */
static void a_window_of_a_system_call_is_its_function(void **state)
{
	expect_windows(&(struct expected){
		"syscall enter", "syscall exit", call_times,
		{ CALL_FUNCTION },
		{ ENTRY, "prepare_exit_to_usermode", "__x64_sys_[!n]*" },
	});
}

static void a_window_from_a_tracepoint_begins_in_its_handler(void **state)
{
	expect_windows(&(struct expected){
		"tracepoint", "syscall exit", call_times,
		{ CALL_FUNCTION, "perf_*" },
		{ ENTRY, "prepare_exit_to_usermode", "__x64_sys_[!n]*" },
	});
}

/* The window has the function and the probes' code, not the function's caller. */
static void a_window_of_a_kprobe_is_the_function_without_its_caller(void **state)
{
	expect_windows(&(struct expected){
		"kprobe", "kretprobe", call_times,
		{ CALL_FUNCTION },
		{ ENTRY, EXIT, "do_syscall_64", "x64_sys_call" },
	});
}

static void a_window_of_the_kprobe_pmu_is_the_function_without_its_caller(void **state)
{
	expect_windows(&(struct expected){
		"kprobe PMU", "kretprobe", call_times,
		{ CALL_FUNCTION, "perf_*" },
		{ ENTRY, EXIT, "do_syscall_64", "x64_sys_call" },
	});
}

/* From the function's return to the system call's exit. */
static void a_window_from_a_kretprobe_is_the_way_out(void **state)
{
	expect_windows(&(struct expected){
		"kretprobe", "syscall exit", call_times,
		{ "do_syscall_64" },
		{ ENTRY, CALL_FUNCTION },
	});
}

/* ---- user code ---------------------------------------------------------------- */

/* All instructions of the windows must be user code; @in gets those of the newest window. */
static void user_windows(struct session *s, struct insns *in, unsigned int count)
{
	unsigned int windows = 0;
	struct records r;
	size_t len;

	memset(in, 0, sizeof(*in));
	records_read_all(&r, &s->channel[0]);
	for (unsigned int i = 0; i < r.count; i++) {
		uint8_t *bytes;

		if (r.at[i]->header.type != AUXTRACE_RECORD_WINDOW)
			continue;
		windows++;
		bytes = window_bytes(&s->channel[0], &r.at[i]->window, &len);
		insns_free(in);
		insns_decode(in, bytes, len);
		free(bytes);
		/* The kernel's trampoline can be executed but not read. */
		if (in->error && in->error != -pte_nomap)
			fail_window(in, "does not decode", "a window of user code");
		for (size_t k = 0; k < in->count; k++)
			if (in->ip[k] >> 63)
				fail_window(in, "has kernel code", "a window of user code");
	}
	assert_int_equal(windows, count);
	records_free(&r);
}

static bool in_probed(uint64_t ip)
{
	return ip >= (uintptr_t)probed_function && ip < (uintptr_t)probed_function_end;
}

/*
 * The kernel emulates the NOP under the uprobe. The window has the rest of the function to its
 * RET, and the trap in the uretprobe's trampoline.
 */
static void a_window_of_a_uprobe_is_the_function(void **state)
{
	const size_t own = under_bts() ? 6 : 8;
	struct session s;
	struct insns in;
	size_t inside = 0;

	open_armed(&s, AUXTRACE_SETUP_USER);
	add_source(&s, "uprobe", AUXTRACE_ACTION_RESUME);
	add_source(&s, "uretprobe", AUXTRACE_ACTION_PAUSE);
	ok_start(s.fd);
	source_named("uprobe")->happen(TIMES);
	ok_stop(s.fd);
	user_windows(&s, &in, TIMES);
	/* MOV, three times DEC and JNZ, RET. BTS: the begin, both ends of two JNZ, the RET. */
	if (in.count < own || in.ip[0] != (uintptr_t)probed_function + 1)
		fail_window(&in, "does not begin behind the NOP", "uprobe to uretprobe");
	while (inside < in.count && in_probed(in.ip[inside]))
		inside++;
	/* BTS: the return from an interrupt, as a rule after the first instruction, adds one. */
	if (inside < own || (inside > own && !under_bts()))
		fail_window(&in, "is not the function", "uprobe to uretprobe");
	/* The RET goes to the kernel's trampoline, the only other page. */
	for (size_t i = inside; i < in.count; i++)
		if (in_probed(in.ip[i]) || in.ip[i] / 4096 != in.ip[inside] / 4096)
			fail_window(&in, "goes on elsewhere", "uprobe to uretprobe");
	insns_free(&in);
	session_close(&s);
}

static void a_window_from_a_breakpoint_begins_after_the_access(void **state)
{
	struct session s;
	struct insns in;

	open_armed(&s, AUXTRACE_SETUP_USER);
	add_source(&s, "breakpoint", AUXTRACE_ACTION_RESUME);
	add_source(&s, "syscall enter", AUXTRACE_ACTION_PAUSE);
	ok_start(s.fd);
	for (int i = 0; i < TIMES; i++) {
		write_watched();
		call_times(1);
	}
	ok_stop(s.fd);
	user_windows(&s, &in, TIMES);
	if (in.error || !in.count || in.ip[0] != (uintptr_t)after_write_watched)
		fail_window(&in, "does not begin after the access", "breakpoint");
	insns_free(&in);
	session_close(&s);
}

/* ---- interrupts --------------------------------------------------------------- */

static void pause_by(struct session *s, const char *name, uint32_t level)
{
	session_prepare(s, ONE_CPU, level, AUX_SIZE);
	session_prepare_data(s, 0, DATA_SIZE);
	session_setup(s);
	assert_int_equal(cpu_pin(CPU), 0);
	add_source(s, name, AUXTRACE_ACTION_PAUSE);
}

static void last_instructions(struct session *s, const char *from, const char *handler)
{
	const union any_record *w;
	struct records r;
	struct insns in;
	uint8_t *bytes;
	size_t len;
	size_t i;

	records_read_all(&r, &s->channel[0]);
	w = records_newest(&r, AUXTRACE_RECORD_WINDOW);
	assert_non_null(w);
	assert_int_equal(w->window.end_cause, AUXTRACE_CAUSE_TRIGGER);
	bytes = window_bytes(&s->channel[0], &w->window, &len);
	insns_decode(&in, bytes, len);
	if (in.error || !in.count)
		fail_window(&in, "does not decode", from);
	if (!is_switch(in.ip[in.count - 1]))
		fail_window(&in, "does not end in the module", from);
	/* The newest entry to the kernel's handler, and no user code after it. */
	for (i = in.count; i-- && strcmp(function_at(in.ip[i]), handler); )
		if (!(in.ip[i] >> 63))
			break;
	if (i >= in.count || strcmp(function_at(in.ip[i]), handler))
		fail_window(&in, handler, from);
	insns_free(&in);
	free(bytes);
	records_free(&r);
}

static void a_timer_pauses_in_its_interrupt(void **state)
{
	struct session s;

	pause_by(&s, "timer", AUXTRACE_SETUP_KERNEL);
	/* A timer that hits while START is under way keeps the first window from beginning. */
	do {
		ok_start(s.fd);
		while (!(channel_status(&s.channel[0]).inhibit & AUXTRACE_INHIBIT_TRIGGER))
			;
		ok_stop(s.fd);
	} while (!channel_status(&s.channel[0]).windows);
	last_instructions(&s, "timer", "hrtimer_interrupt");
	session_close(&s);
}

/* The emulator's PMI has no skid: the NMI comes at the overflow. */
static void a_counter_pauses_in_its_nmi(void **state)
{
	const struct source *from = source_named("hardware");
	struct session s;

	pause_by(&s, "hardware", AUXTRACE_SETUP_KERNEL);
	ok_start(s.fd);
	from->happen(2);
	ok_stop(s.fd);
	last_instructions(&s, "hardware", "perf_event_nmi_handler");
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_window_of_a_system_call_is_its_function),
		vm_test(a_window_from_a_tracepoint_begins_in_its_handler),
		vm_test(a_window_of_a_kprobe_is_the_function_without_its_caller),
		vm_test(a_window_of_the_kprobe_pmu_is_the_function_without_its_caller),
		vm_test(a_window_from_a_kretprobe_is_the_way_out),
		vm_test(a_window_of_a_uprobe_is_the_function),
		vm_test(a_window_from_a_breakpoint_begins_after_the_access),
		vm_test(a_timer_pauses_in_its_interrupt),
		vm_test(a_counter_pauses_in_its_nmi),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
