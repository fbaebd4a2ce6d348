/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files of libauxtrace share; none of them is exported. */
#ifndef AUXTRACE_INTERNAL_H
#define AUXTRACE_INTERNAL_H

#include <auxtrace.h>
#include <stdio.h>

#define AUXTRACE_API	__attribute__((visibility("default")))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct auxtrace_cpus {
	size_t len;		/* bytes of @mask; the last one is not zero */
	uint8_t mask[];		/* as for sched_setaffinity(2) */
};

struct auxtrace_reader {
	struct auxtrace_session *session;
	unsigned int cpu;
	const struct auxtrace_status_page *status;
	struct auxtrace_user_page *user;
	const uint8_t *aux;
	const uint8_t *data;	/* NULL: no data ring */
	uint64_t tail;		/* full trace: position of the next byte to read */
	uint64_t data_next;	/* not overwritable: position of the next record to return */
	void *record;		/* copy of a record that wraps at the ring's end */
};

/* All capabilities of every version fit, <linux/auxtrace.h> says. */
#define MAX_CAPS	4096

struct auxtrace_session {
	int fd;
	struct auxtrace_info info;	/* as of open */
	uint64_t caps[MAX_CAPS / 8];	/* the capabilities of the newest INFO */
	size_t caps_len;
	struct auxtrace_setup setup;	/* size 0: not set up */
	struct auxtrace_filter *filters; /* those of @setup */
	struct auxtrace_cpus *cpus;
	unsigned int nr_readers;
	struct auxtrace_reader *readers; /* in CPU order */
	struct trigger *triggers; /* newest first */
};

static inline unsigned int session_slots(const struct auxtrace_session *s)
{
	return s->setup.slots ?: 1;
}

/* May the caller trace own processes, and nothing else? (As of open.) */
static inline bool session_is_own_only(const struct auxtrace_session *s)
{
	return (s->info.out_may & (AUXTRACE_MAY_TRACE | AUXTRACE_MAY_TRACE_OWN)) == AUXTRACE_MAY_TRACE_OWN;
}

/* error.c: set errno to @err and the thread's message. Returns -1, for return statements. */
int fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* error.c: remove the message of a call that has failed, while the caller's succeeds. */
void fail_forget(void);

#define MESSAGE_SIZE	1024	/* with the 0 at its end */
struct failure {		/* what a call that failed has left */
	int err;
	char message[MESSAGE_SIZE];
};
/* error.c: keep errno and the message, while the caller calls what may set both. */
void fail_keep(struct failure *failure);
/* error.c: set them again. Returns -1, for return statements. */
int fail_again(const struct failure *failure);

/* device.c: the file descriptor, or -1 with errno and the message. */
int device_open(const char *path);
/* The only way to the device. 0, or -1 with errno; does not set the message. */
int device_ioctl(int fd, unsigned long nr, void *arg);

/*
 * capability.c: read the capabilities that INFO has written to s->caps, caps_len bytes or fewer, and
 * set caps_len to their end. 0, or -1 with EBADE and the message if they are malformed.
 */
int capabilities_check(struct auxtrace_session *s);
/* Copy the capability @tag to @cap, which is cleared first. False: there is none. */
bool capability_get(const struct auxtrace_session *s, uint32_t tag, void *cap, size_t size);
/* AUXTRACE_PMU_STATE_* of a trace PMU; AUXTRACE_PMU_STATE_NO_CPUID if the module does not know it. */
uint32_t capability_pmu_state(const struct auxtrace_session *s, uint32_t pmu);

/* pidfd.c: the process's number, or -1 with errno and the message. */
int pidfd_number(int pidfd);
/* 0, or -1 with ESRCH and the message if the process has ended. */
int pidfd_is_alive(int pidfd);

/* explain_setup.c: set the message for a SETUP that failed with @err. Returns -1. */
int explain_setup(const struct auxtrace_session *session, const struct auxtrace_setup *setup,
		  const struct auxtrace_cpus *cpus, int err);

/* explain_trigger.c: set the message for a TRIGGER_ADD that failed with @err. Returns -1. */
int explain_trigger(const struct auxtrace_session *session, const struct auxtrace_trigger *trigger,
		    int err);

/* config.c: a term of Intel PT's config. */
struct config_term {
	const char *name;
	unsigned int shift, bits;
	uint64_t needs;		/* bits without which the term may not be set */
	const char *needs_name;
	uint32_t (*values)(const struct auxtrace_cap_intel_pt *pt); /* NULL: a flag */
};
extern const struct config_term config_terms[];
extern const unsigned int nr_config_terms;
#define CONFIG_TERM_MASK(t)	(((1ULL << (t)->bits) - 1) << (t)->shift)

static inline uint64_t config_term_value(const struct config_term *t, uint64_t config)
{
	return (config & CONFIG_TERM_MASK(t)) >> t->shift;
}

/* The bits of auxtrace_default_config(). */
uint64_t config_default(const struct auxtrace_cap_intel_pt *pt);

/* trigger.c: free the session's list of triggers. */
void triggers_free(struct auxtrace_session *session);
/* Write the lines "trigger" of meta, oldest first. 0, or -1 with errno and the message. */
int triggers_write(FILE *f, struct auxtrace_session *session);

/* reader.c: [begin, end) of the AUX area, or of slot @slot of it, as one or two spans. */
void make_spans(const struct auxtrace_reader *r, uint32_t slot, uint64_t begin, uint64_t end,
		struct auxtrace_spans *spans);

#endif
