/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The raw ABI of /dev/auxtrace for tests that run inside the guest.
 *
 * Calls come in pairs: ok_x() fails the running test unless x succeeds, fail_x(err, ...)
 * unless it fails with exactly that errno. They are for the main thread only; other threads
 * use the plain at_*() calls, which return 0 or a negative errno, and the main thread judges.
 *
 * at_teardown() closes and unmaps all that at_open() and session_setup() made, so that a
 * failed test leaves nothing to the next one. It also checks the invariants of invariants.h
 * for every session that is still open.
 */
#ifndef VM_UAPI_H
#define VM_UAPI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <linux/auxtrace.h>

#define MAX_CPUS	64

/* Bits of auxtrace_setup.config. */
#define CONFIG_PT		(1ULL << 0)
#define CONFIG_CYC		(1ULL << 1)
#define CONFIG_PWR_EVT		(1ULL << 4)
#define CONFIG_FUP_ON_PTW	(1ULL << 5)
#define CONFIG_MTC		(1ULL << 9)
#define CONFIG_TSC		(1ULL << 10)
#define CONFIG_NORETCOMP	(1ULL << 11)
#define CONFIG_PTW		(1ULL << 12)
#define CONFIG_BRANCH		(1ULL << 13)
#define CONFIG_MTC_PERIOD(n)	((uint64_t)(n) << 14)
#define CONFIG_CYC_THRESH(n)	((uint64_t)(n) << 19)
#define CONFIG_PSB_PERIOD(n)	((uint64_t)(n) << 24)
#define CONFIG_EVENT		(1ULL << 31)
#define CONFIG_NOTNT		(1ULL << 55)
#define CONFIG_FORMAT		(CONFIG_PT | CONFIG_CYC | CONFIG_PWR_EVT | CONFIG_FUP_ON_PTW | \
				 CONFIG_MTC | CONFIG_TSC | CONFIG_NORETCOMP | CONFIG_PTW | \
				 CONFIG_BRANCH | CONFIG_MTC_PERIOD(15) | CONFIG_CYC_THRESH(15) | \
				 CONFIG_PSB_PERIOD(15) | CONFIG_EVENT | CONFIG_NOTNT)

struct channel {
	int cpu;
	uint64_t aux_size;
	bool overwrite;
	unsigned int slots;		/* 1: the area is one piece */
	uint64_t data_size;		/* 0: no data ring */
	bool data_backward, data_overwrite;
	const struct auxtrace_status_page *status;
	struct auxtrace_user_page *user;
	const uint8_t *aux;
	const uint8_t *data;
};

struct session {
	int fd;
	uint64_t cpus;			/* what setup.cpus points at */
	struct auxtrace_setup setup;
	unsigned int count;
	struct channel channel[MAX_CPUS]; /* in CPU order */
};

/* ---- plain calls: 0 or a negative errno -------------------------------- */

/* A new file, which teardown does not close. */
int at_open_plain(void);
int at_ioctl(int fd, unsigned long nr, void *arg);
int at_start(int fd);
int at_stop(int fd);
/*
 * PAUSE or RESUME (@nr) of the CPUs in @cpus, all of the session's if 0.
 * @effects: space for @space entries. Returns the number of effects.
 */
int at_control(int fd, unsigned long nr, uint64_t cpus, struct auxtrace_effect *effects,
	       unsigned int space);
int at_status(int fd, uint32_t flags, struct auxtrace_status *status);
/* PAUSE_OUTPUT of the CPUs in @cpus, all of the session's if 0. */
int at_output(int fd, uint64_t cpus, uint32_t pause);
/* @cuts: space for @space entries; @slot may be NULL. Returns the number of CPUs. */
int at_snapshot(int fd, uint32_t flags, struct auxtrace_cut *cuts, unsigned int space,
		uint32_t *slot);
int at_release(int fd, uint32_t slot);

/* ---- pairs ------------------------------------------------------------- */

void expect_call(const char *what, int err, int got, const char *file, int line);

#define ok_ioctl(fd, nr, arg) \
	expect_call(#nr, 0, at_ioctl(fd, nr, arg), __FILE__, __LINE__)
#define fail_ioctl(err, fd, nr, arg) \
	expect_call(#nr, err, at_ioctl(fd, nr, arg), __FILE__, __LINE__)

#define ok_info(fd, info)	   ok_ioctl(fd, AUXTRACE_IOC_INFO, info)
#define fail_info(err, fd, info)   fail_ioctl(err, fd, AUXTRACE_IOC_INFO, info)
#define ok_setup(fd, setup)	   ok_ioctl(fd, AUXTRACE_IOC_SETUP, setup)
#define fail_setup(err, fd, setup) fail_ioctl(err, fd, AUXTRACE_IOC_SETUP, setup)
#define ok_task(fd, task)	   ok_ioctl(fd, AUXTRACE_IOC_TASK, task)
#define fail_task(err, fd, task)   fail_ioctl(err, fd, AUXTRACE_IOC_TASK, task)

#define ok_start(fd)	    expect_call("START", 0, at_start(fd), __FILE__, __LINE__)
#define fail_start(err, fd) expect_call("START", err, at_start(fd), __FILE__, __LINE__)
#define ok_stop(fd)	    expect_call("STOP", 0, at_stop(fd), __FILE__, __LINE__)
#define fail_stop(err, fd)  expect_call("STOP", err, at_stop(fd), __FILE__, __LINE__)

/* The ok_ forms also demand that exactly the CPUs in @cpus were asked. */
#define ok_pause(s, cpus, effects) \
	expect_control("PAUSE", s, AUXTRACE_IOC_PAUSE, cpus, effects, __FILE__, __LINE__)
#define ok_resume(s, cpus, effects) \
	expect_control("RESUME", s, AUXTRACE_IOC_RESUME, cpus, effects, __FILE__, __LINE__)
#define fail_pause(err, fd, cpus) \
	expect_call("PAUSE", err, at_control(fd, AUXTRACE_IOC_PAUSE, cpus, NULL, 0), \
		    __FILE__, __LINE__)
#define fail_resume(err, fd, cpus) \
	expect_call("RESUME", err, at_control(fd, AUXTRACE_IOC_RESUME, cpus, NULL, 0), \
		    __FILE__, __LINE__)
/* @effects: space for one entry for each CPU asked, or NULL. */
void expect_control(const char *what, const struct session *s, unsigned long nr, uint64_t cpus,
		    struct auxtrace_effect *effects, const char *file, int line);

#define ok_status(fd, flags, status) \
	expect_call("STATUS", 0, at_status(fd, flags, status), __FILE__, __LINE__)

#define ok_output(fd, cpus, pause) \
	expect_call("PAUSE_OUTPUT", 0, at_output(fd, cpus, pause), __FILE__, __LINE__)
#define fail_output(err, fd, cpus, pause) \
	expect_call("PAUSE_OUTPUT", err, at_output(fd, cpus, pause), __FILE__, __LINE__)

/* @cuts: space for one entry for each CPU of the session; each is checked for consistency. */
#define ok_snapshot(s, flags, cuts, slot) \
	expect_snapshot(s, flags, cuts, slot, __FILE__, __LINE__)
#define fail_snapshot(err, fd, flags) \
	expect_call("SNAPSHOT", err, at_snapshot(fd, flags, NULL, 0, NULL), __FILE__, __LINE__)
void expect_snapshot(const struct session *s, uint32_t flags, struct auxtrace_cut *cuts,
		     uint32_t *slot, const char *file, int line);
#define ok_release(fd, slot) \
	expect_call("RELEASE", 0, at_release(fd, slot), __FILE__, __LINE__)
#define fail_release(err, fd, slot) \
	expect_call("RELEASE", err, at_release(fd, slot), __FILE__, __LINE__)

/* INFO of this machine, without its capabilities. */
struct auxtrace_info at_info(void);
/* The capability @tag, of exactly @size bytes, as INFO with @flags returns it. False: none. */
bool at_capability(int fd, uint32_t flags, uint32_t tag, void *cap, size_t size);
/* What INFO with @flags says of a trace PMU. */
struct auxtrace_cap_pmu at_pmu(int fd, uint32_t flags, uint32_t pmu);
/* The capabilities of PT, and the flags of BTS; zeroes if the machine does not have it. */
struct auxtrace_cap_intel_pt at_pt(void);
uint32_t at_bts_flags(void);

/*
 * A page followed by one that the process cannot access. (A hole could be filled by the next
 * mmap(2).) The caller unmaps both pages.
 */
uint8_t *at_guarded_page(void);

/* ---- sessions ---------------------------------------------------------- */

/* A new file; teardown closes it unless at_close() did. */
int at_open(void);
void at_close(int fd);
/* Make teardown close a descriptor that came from elsewhere, as by dup(2). */
void at_remember(int fd);

/* Fill @s with a valid setup, which the caller may change. */
void session_prepare(struct session *s, uint64_t cpus, uint32_t flags, uint64_t aux_size);
/* Add a data ring of @size bytes; @flags: AUXTRACE_SETUP_DATA_*. */
void session_prepare_data(struct session *s, uint32_t flags, uint64_t size);
/* Open, SETUP and map every region of every channel. */
void session_setup(struct session *s);
/* Both at once. */
void session_open(struct session *s, uint64_t cpus, uint32_t flags, uint64_t aux_size);
/* Unmap all and close. */
void session_close(struct session *s);
void session_unmap(struct session *s);

struct channel *session_channel(struct session *s, int cpu);

/*
 * A consistent copy of the status page, by its sequence protocol, from a moment when no
 * record was being written to the data ring.
 */
struct auxtrace_status_page channel_status(const struct channel *ch);
/* The same for any thread, and for teardown: false, with a message, if it never is consistent. */
bool channel_status_plain(const struct channel *ch, struct auxtrace_status_page *st);
/* Copy @len bytes of the AUX area, or of @slot, from @position on, around the end. */
void channel_copy(const struct channel *ch, uint64_t position, void *to, size_t len);
void channel_copy_slot(const struct channel *ch, uint32_t slot, uint64_t position, void *to,
		       size_t len);
void channel_set_tail(const struct channel *ch, uint64_t tail);
void channel_set_data_tail(const struct channel *ch, uint64_t tail);

/* cmocka setup of a group: exits with 77 and a message where nothing can be tested. */
int at_group_setup(void **state);
/* cmocka teardown of each test. */
int at_teardown(void **state);

/* Ends the running test as skipped, saying why. */
#define skip_test(...) \
	do { \
		print_message("SKIP: " __VA_ARGS__); \
		print_message("\n"); \
		skip(); \
	} while (0)

#define vm_test(f) cmocka_unit_test_teardown(f, at_teardown)

#endif
