// SPDX-License-Identifier: LGPL-2.1-or-later
/* Triggers, and the labels and counts of them that a recording keeps. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/*
 * A trigger that was added. It stays in the list after its deletion, because records may
 * refer to it.
 */
struct trigger {
	struct trigger *next;
	uint32_t id;
	bool deleted;
	struct auxtrace_trigger_state last;	/* if @deleted: its final counts */
	char label[];
};

static struct trigger *find(const struct auxtrace_session *s, uint32_t id)
{
	struct trigger *t = s->triggers;

	while (t && t->id != id)
		t = t->next;
	return t;
}

static struct trigger *trigger_new(const char *label)
{
	size_t len = label ? strlen(label) : 0;
	struct trigger *t = calloc(1, sizeof(*t) + len + 1);

	if (t && len)
		memcpy(t->label, label, len);
	return t;
}

static void to_uapi(const struct auxtrace_trigger_options *o, pid_t pid,
		    struct auxtrace_trigger *arg)
{
	*arg = (struct auxtrace_trigger){
		.size = sizeof(*arg),
		.flags = o->flags & ~AUXTRACE_TRIGGER_PIDFD,
		.kind = o->kind,
		.action = o->action,
		.pid = pid,
		.attr_len = o->attr_len,
		.attr = (uintptr_t)o->attr,
		.number = o->number,
		.address = o->address,
		.name = (uintptr_t)o->name,
		.name_len = o->name ? strlen(o->name) : 0,
		.a = o->a,
		.b = o->b,
		.after_hits = o->after_hits,
		.bound_ns = o->bound_ns,
		.count = o->count,
		.hold_off_ns = o->hold_off_ns,
		.delay_ns = o->delay_ns,
		.delay_bytes = o->delay_bytes,
		.sample_size = o->sample_size,
	};
}

static int state_call(struct auxtrace_session *s, unsigned long nr, uint32_t id, uint32_t flags,
		      struct auxtrace_trigger_state *state)
{
	const char *name = nr == AUXTRACE_IOC_TRIGGER_DEL ? "TRIGGER_DEL" : "TRIGGER_READ";

	*state = (struct auxtrace_trigger_state){ .size = sizeof(*state), .flags = flags, .id = id };
	if (!device_ioctl(s->fd, nr, state))
		return 0;
	switch (errno) {
	case ENOENT:
		return fail(ENOENT, "%s: the session has no trigger %u", name, id);
	case EBUSY:
		return fail(EBUSY, "trigger %u starts or stops the clock of a latency trigger: delete that one first", id);
	case EBADFD:
		return fail(EBADFD, "%s before setup", name);
	case EINVAL:
		return fail(EINVAL, "%s: unknown flags %#x: AUXTRACE_TRIGGER_REARM is %#x", name, flags,
			    AUXTRACE_TRIGGER_REARM);
	}
	return fail(errno, "%s of trigger %u failed: %s", name, id, strerror(errno));
}

AUXTRACE_API int auxtrace_trigger_add(struct auxtrace_session *s,
				      const struct auxtrace_trigger_options *o)
{
	bool by_pidfd = o->flags & AUXTRACE_TRIGGER_PIDFD;
	struct auxtrace_trigger arg;
	pid_t pid = o->pid;
	struct trigger *t;

	if (o->size != sizeof(*o))
		return fail(EINVAL, "struct auxtrace_trigger_options has %zu bytes here, the caller says %zu: set its size member",
			    sizeof(*o), o->size);
	if (o->reserved)
		return fail(EINVAL, "struct auxtrace_trigger_options: reserved must be 0");
	if (by_pidfd)
		pid = pidfd_number(o->pid);
	if (by_pidfd && pid < 0)
		return -1;
	if (pid < 0)
		return fail(EINVAL, "pid %d is no process", (int)o->pid);
	if (o->label && strchr(o->label, '\n'))
		return fail(EINVAL, "a label must have no newline");
	t = trigger_new(o->label);
	if (!t)
		return fail(ENOMEM, "no memory for a trigger");
	to_uapi(o, pid, &arg);
	if (device_ioctl(s->fd, AUXTRACE_IOC_TRIGGER_ADD, &arg)) {
		int err = errno;

		free(t);
		return explain_trigger(s, &arg, err);
	}
	if (by_pidfd && pidfd_is_alive(o->pid)) {
		struct auxtrace_trigger_state state;
		int err = errno;

		/* It may be for another process that has the number now. */
		state_call(s, AUXTRACE_IOC_TRIGGER_DEL, arg.out_id, 0, &state);
		free(t);
		return fail(err, "the process of pidfd %d has ended", (int)o->pid);
	}
	t->id = arg.out_id;
	t->next = s->triggers;
	s->triggers = t;
	return t->id;
}

AUXTRACE_API int auxtrace_trigger_del(struct auxtrace_session *s, uint32_t id,
				      struct auxtrace_trigger_state *last)
{
	struct auxtrace_trigger_state state;
	struct trigger *t;

	if (state_call(s, AUXTRACE_IOC_TRIGGER_DEL, id, 0, &state))
		return -1;
	t = find(s, id);
	if (t) {
		t->deleted = true;
		t->last = state;
	}
	if (last)
		*last = state;
	return 0;
}

AUXTRACE_API int auxtrace_trigger_read(struct auxtrace_session *s, uint32_t id, uint32_t flags,
				       struct auxtrace_trigger_state *state)
{
	struct auxtrace_trigger_state own;

	return state_call(s, AUXTRACE_IOC_TRIGGER_READ, id, flags, state ?: &own);
}

void triggers_free(struct auxtrace_session *s)
{
	while (s->triggers) {
		struct trigger *t = s->triggers;

		s->triggers = t->next;
		free(t);
	}
}

static int write_from(FILE *f, struct auxtrace_session *s, const struct trigger *t)
{
	struct auxtrace_trigger_state state;

	if (!t)
		return 0;
	if (write_from(f, s, t->next))
		return -1;
	if (t->deleted)
		state = t->last;
	else if (auxtrace_trigger_read(s, t->id, 0, &state))
		return -1;
	fprintf(f, "trigger %u hits %" PRIu64 " acted %" PRIu64 " held %" PRIu64 " idle %" PRIu64
		" missed %" PRIu64 "%s%s\n", t->id, (uint64_t)state.out_hits,
		(uint64_t)state.out_acted, (uint64_t)state.out_held, (uint64_t)state.out_idle,
		(uint64_t)state.out_missed, *t->label ? " on " : "", t->label);
	return 0;
}

int triggers_write(FILE *f, struct auxtrace_session *s)
{
	return write_from(f, s, s->triggers);
}
