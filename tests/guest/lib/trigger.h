/* SPDX-License-Identifier: GPL-2.0-only */
/* Triggers of a session, and events that a test can cause. */
#ifndef VM_TRIGGER_H
#define VM_TRIGGER_H

#include <sys/syscall.h>

#include "uapi.h"

struct auxtrace_trigger trigger(uint32_t kind, uint32_t action);
/* SYSCALL_*: of system call @number. */
struct auxtrace_trigger trigger_syscall(uint32_t kind, uint32_t action, long number);
/* A symbol or a path, and an offset. */
struct auxtrace_trigger trigger_named(uint32_t kind, uint32_t action, const char *name,
				      uint64_t address);
struct perf_event_attr;
struct auxtrace_trigger trigger_perf(uint32_t action, const struct perf_event_attr *attr);
/* Data written at @address, 8 bytes. */
struct auxtrace_trigger trigger_written(uint32_t action, const volatile void *address);
/* The instruction at @address. */
struct auxtrace_trigger trigger_executed(uint32_t action, uint64_t address);
/* The address of a kernel function, for those with CAP_SYSLOG; 0: there is none. */
uint64_t function_address(const char *name);

/* Adds it and returns its id. */
uint32_t trigger_add(const struct session *s, struct auxtrace_trigger t);
#define fail_trigger(err, s, t) \
	do { \
		struct auxtrace_trigger trigger_ = (t); \
		fail_ioctl(err, (s)->fd, AUXTRACE_IOC_TRIGGER_ADD, &trigger_); \
	} while (0)

/* Plain calls, for other threads: 0 or a negative errno. @flags: of READ. */
int at_trigger_add(int fd, struct auxtrace_trigger t, uint32_t *id);
int at_trigger_read(int fd, uint32_t id, uint32_t flags, struct auxtrace_trigger_state *state);
int at_trigger_del(int fd, uint32_t id, struct auxtrace_trigger_state *state);

/* READ and DEL; the hits must be the sum of acted, held, idle and missed. */
struct auxtrace_trigger_state trigger_read(const struct session *s, uint32_t id);
struct auxtrace_trigger_state trigger_rearm(const struct session *s, uint32_t id);
struct auxtrace_trigger_state trigger_del(const struct session *s, uint32_t id);
/* Fails the running test unless the hits were counted exactly so. */
void trigger_counted(const struct session *s, uint32_t id, uint64_t acted, uint64_t held,
		     uint64_t idle, uint64_t missed);
/* Wait until the trigger has had @hits hits. */
void trigger_wait_hits(const struct session *s, uint32_t id, uint64_t hits);

/* ---- events ------------------------------------------------------------------ */

/* A system call that only the tests make, and its function in every kernel. */
#define CALL_NUMBER	SYS_uname
#define CALL_FUNCTION	"__x64_sys_newuname"
void call_times(unsigned int n);

/* A function of this program, made for uprobes: a NOP, a loop, a RET. */
void probed_function(void);
extern const char probed_function_end[];
/* Its offset in PROGRAM. */
#define PROGRAM		"/proc/self/exe"
uint64_t offset_in_program(const void *address);

extern volatile uint64_t watched;
/* Writes @watched by one instruction; after_write_watched is the next one. */
void write_watched(void);
extern const char after_write_watched[];

/* An event source for each kind of trigger. */
struct source {
	const char *name;
	uint32_t kind;
	/* Complete a trigger of this kind; false, with a message, if this kernel has none. */
	bool (*complete)(const struct session *s, struct auxtrace_trigger *t);
	/* Cause @n events on this CPU; NULL: they come by themselves. */
	void (*happen)(unsigned int n);
	/* At most so many events more than were caused. */
	unsigned int slack;
};
extern const struct source sources[];
extern const unsigned int nr_sources;
const struct source *source_named(const char *name);

#endif
