/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of libauxtrace share; nothing here is exported. */
#ifndef AUXTRACE_INTERNAL_H
#define AUXTRACE_INTERNAL_H

#include <auxtrace.h>
#include <stdio.h>

#define AUXTRACE_API	__attribute__((visibility("default")))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct auxtrace_cpus {
	size_t len;		/* bytes in @mask; the last one is not zero */
	uint8_t mask[];		/* as sched_setaffinity(2) has it */
};

struct auxtrace_reader {
	struct auxtrace_session *session;
	unsigned int cpu;
	const struct auxtrace_status_page *status;
	struct auxtrace_user_page *user;
	const uint8_t *aux;
	const uint8_t *data;	/* NULL: no data ring */
	uint64_t tail;		/* full trace: next position to read */
	uint64_t data_next;	/* not overwritable: next record to hand out */
	void *record;		/* one that goes over the ring's end, in one piece */
};

struct auxtrace_session {
	int fd;
	struct auxtrace_info info;
	struct auxtrace_setup setup;	/* size 0: not set up */
	struct auxtrace_cpus *cpus;
	unsigned int nr_readers;
	struct auxtrace_reader *readers; /* in CPU order */
	struct trigger *triggers; /* newest first */
};

/* A trigger that was added, also after it was deleted: records may tell of it. */
struct trigger {
	struct trigger *next;
	uint32_t id;
	bool gone;
	struct auxtrace_trigger_state last;	/* if it is gone */
	char label[];
};
void free_triggers(struct auxtrace_session *session);
/* The lines "trigger" of meta, oldest first. */
int write_triggers(FILE *f, struct auxtrace_session *session);

/* Set the sentence for a TRIGGER_ADD that failed with @err; returns -1. */
int explain_trigger(const struct auxtrace_session *session, const struct auxtrace_trigger *trigger,
		    int err);

static inline unsigned int session_slots(const struct auxtrace_session *s)
{
	return s->setup.slots ?: 1;
}

/* Set errno to @err and the thread's sentence; returns -1 so that callers can. */
int fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The stretch [begin, end) of the area, or of a slot, as one or two parts. */
void make_spans(const struct auxtrace_reader *r, uint32_t slot, uint64_t begin, uint64_t end,
		struct auxtrace_spans *spans);

/* The only way to the device. 0, or -1 with errno; leaves the sentence alone. */
int device_ioctl(int fd, unsigned long nr, void *arg);

/* Set the sentence for a SETUP that failed with @err; returns -1. */
int explain_setup(const struct auxtrace_session *session, const struct auxtrace_setup *setup,
		  const struct auxtrace_cpus *cpus, int err);

/* A term of the config format (config.c). */
struct config_term {
	const char *name;
	unsigned int shift, bits;
	uint64_t needs;		/* bits without which the term may not be set */
	const char *needs_name;
	uint32_t (*values)(const struct auxtrace_info *info); /* NULL: a flag */
};
extern const struct config_term config_terms[];
extern const unsigned int nr_config_terms;
#define CONFIG_TERM_MASK(t)	(((1ULL << (t)->bits) - 1) << (t)->shift)

/* A file of a recording, open for writing; NULL with errno and the sentence. */
FILE *recording_file(int dirfd, const char *name);
/* Close it; -1 if anything written to it went wrong. */
int recording_file_close(FILE *f, const char *name);

/* kcore, kallsyms and modules of a recording (kernel.c). */
int record_kernel(int dirfd);

/* Address spaces of a recording (task.c). */
struct task_list;
struct task_list *task_list_new(void);
void task_list_free(struct task_list *list);
int task_list_add(struct task_list *list, struct auxtrace_session *session, pid_t pid);
/* The process left its newest address space at @tsc (0: now). */
int task_list_end(struct task_list *list, pid_t pid, uint64_t tsc);
/* An executable mapping, whether it is still there or not. */
int task_list_map(struct task_list *list, pid_t pid, uint64_t start, uint64_t end, uint64_t offset,
		  const char *path);
/* Write task.* and vdso.*. */
int task_list_write(const struct task_list *list, int dirfd);

#endif
