// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "lib/tool.h"
#include "suggest.h"
#include "trigger_option.h"

struct on {
	char *text;
	bool latency;
	struct event event;	/* latency: that the clock starts at */
	struct event stop;	/* latency */
	struct auxtrace_trigger_options trigger;
	bool of_command;	/* hits of the command's process only */
	uint32_t id;		/* once it was added */
	uint32_t a, b;		/* latency: of the two events */
};

static const struct {
	const char *name;
	uint32_t action;
} actions[] = {
	{ "resume", AUXTRACE_ACTION_RESUME }, { "pause", AUXTRACE_ACTION_PAUSE },
	{ "freeze", AUXTRACE_ACTION_FREEZE }, { "sample", AUXTRACE_ACTION_SAMPLE },
};

/* ---- parsing ------------------------------------------------------------ */

static bool is_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(text, word, len) && strchr(",=", text[len]);
}

/* The '=' before the action: an event may have '=' as well. */
static const char *find_action(const char *text)
{
	const char *last = NULL;
	char word[64];
	struct near near;

	for (const char *p = strchr(text, '='); p; p = strchr(p + 1, '=')) {
		last = p;
		for (unsigned int i = 0; i < ARRAY_SIZE(actions); i++)
			if (is_word(p + 1, actions[i].name))
				return p;
	}
	if (!last)
		die(EXIT_USAGE, "--on %s: what is to be done? EVENT=resume, =pause, =freeze or =sample=SIZE", text);
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(last + 1, ",="), last + 1);
	near_begin(&near, word);
	for (unsigned int i = 0; i < ARRAY_SIZE(actions); i++)
		near_offer(&near, actions[i].name);
	die(EXIT_USAGE, "--on %s: there is no action \"%s\"%s; the actions are resume, pause, freeze and sample=SIZE",
	    text, word, near_text(&near));
}

static void parse_action(struct on *on, const char *text)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(actions); i++)
		if (is_word(text, actions[i].name)) {
			on->trigger.action = actions[i].action;
			text += strlen(actions[i].name);
			break;
		}
	if (on->trigger.action != AUXTRACE_ACTION_SAMPLE) {
		if (*text)
			die(EXIT_USAGE, "--on %s: only sample has a size", on->text);
		return;
	}
	if (*text != '=')
		die(EXIT_USAGE, "--on %s: how much is to be sampled? sample=4K, for example", on->text);
	on->trigger.sample_size = parse_size("--on: sample", text + 1);
}

/* "delay": a time has a unit, bytes have K, M, G or nothing. */
static void parse_delay(struct on *on, const char *value)
{
	if (!parse_time(value, strlen(value), &on->trigger.delay_ns))
		on->trigger.delay_bytes = parse_size("--on: delay", value);
	if (!on->trigger.delay_ns && !on->trigger.delay_bytes)
		die(EXIT_USAGE, "--on %s: a delay of nothing", on->text);
}

static void parse_option(struct on *on, char *text)
{
	static const char *const names[] = {
		"pid", "count", "after", "hold-off", "one-shot", "all-cpus", "delay",
	};
	char *value = strchr(text, '=');
	struct near near;

	if (value)
		*value++ = 0;
	if (!strcmp(text, "one-shot") && !value) {
		on->trigger.flags |= AUXTRACE_TRIGGER_ONE_SHOT;
	} else if (!strcmp(text, "all-cpus") && !value) {
		on->trigger.flags |= AUXTRACE_TRIGGER_ALL_CPUS;
	} else if (!strcmp(text, "pid") && value && !strcmp(value, "command")) {
		on->of_command = true;
	} else if (!strcmp(text, "pid") && value) {
		on->trigger.pid = parse_number("--on: pid", value, 1, INT32_MAX);
	} else if (!strcmp(text, "count") && value) {
		on->trigger.count = parse_number("--on: count", value, 1, INT64_MAX);
	} else if (!strcmp(text, "after") && value) {
		on->trigger.after_hits = parse_number("--on: after", value, 1, UINT32_MAX);
	} else if (!strcmp(text, "hold-off") && value) {
		if (!parse_time(value, strlen(value), &on->trigger.hold_off_ns))
			die(EXIT_USAGE, "--on %s: \"%s\" is no time: hold-off=10ms would be one (ns, us, ms, s)",
			    on->text, value);
	} else if (!strcmp(text, "delay") && value) {
		parse_delay(on, value);
	} else {
		near_begin(&near, text);
		for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
			if (!strcmp(names[i], text))
				die(EXIT_USAGE, "--on %s: %s takes %s value", on->text, text, value ? "no" : "a");
			near_offer(&near, names[i]);
		}
		die(EXIT_USAGE, "--on %s: there is no option \"%s\"%s; the options are pid=, count=, after=, hold-off=TIME, one-shot, all-cpus, delay=TIME|BYTES",
		    on->text, text, near_text(&near));
	}
}

/* The ".." between two events: names have none, but paths may ("../program"). */
static char *find_range(char *text)
{
	for (char *p = strstr(text, ".."); p; p = strstr(p + 1, ".."))
		if (p != text && !strchr(":/", p[-1]) && p[2] != '/')
			return p;
	return NULL;
}

static void parse_latency(struct on *on, char *text)
{
	char *range = find_range(text), *bound = strrchr(text, '>');

	if (!range || !bound || bound < range)
		die(EXIT_USAGE, "--on %s: a latency is latency:EVENT..EVENT>TIME", on->text);
	*range = *bound++ = 0;
	if (!parse_time(bound, strlen(bound), &on->trigger.bound_ns) || !on->trigger.bound_ns)
		die(EXIT_USAGE, "--on %s: \"%s\" is no bound: 2ms would be one (ns, us, ms, s)", on->text, bound);
	on->latency = true;
	on->trigger.kind = AUXTRACE_TRIGGER_LATENCY;
	event_parse(&on->event, text);
	event_parse(&on->stop, range + 2);
}

static void parse_event(struct on *on, char *text)
{
	struct auxtrace_trigger_options *t = &on->event.trigger;

	if (!strncmp(text, "latency:", 8)) {
		parse_latency(on, text + 8);
		return;
	}
	event_parse(&on->event, text);
	on->trigger.kind = t->kind;
	on->trigger.attr = t->attr;
	on->trigger.attr_len = t->attr_len;
	on->trigger.number = t->number;
	on->trigger.address = t->address;
	on->trigger.name = t->name;
	on->trigger.bound_ns = t->bound_ns;
}

/* What the action cannot do is said before anything is started. */
static void check(const struct on *on)
{
	const struct auxtrace_trigger_options *t = &on->trigger;

	if (t->flags & AUXTRACE_TRIGGER_ONE_SHOT && t->count)
		die(EXIT_USAGE, "--on %s: one-shot is count=1 already", on->text);
	if (t->flags & AUXTRACE_TRIGGER_ALL_CPUS && t->action != AUXTRACE_ACTION_PAUSE &&
	    t->action != AUXTRACE_ACTION_RESUME)
		die(EXIT_USAGE, "--on %s: all-cpus is for pause and resume%s", on->text,
		    t->action == AUXTRACE_ACTION_FREEZE ? "; a freeze is of all CPUs anyway" : "");
	if ((t->delay_ns || t->delay_bytes) && t->action != AUXTRACE_ACTION_PAUSE &&
	    t->action != AUXTRACE_ACTION_FREEZE)
		die(EXIT_USAGE, "--on %s: only pause and freeze can be delayed", on->text);
	if (t->pid && on->of_command)
		die(EXIT_USAGE, "--on %s: one process only", on->text);
}

void on_parse(struct on_list *list, const char *text)
{
	struct on *on = xcalloc(1, sizeof(*on));
	char *copy = xstrdup(text), *option, *save;

	on->text = xstrdup(text);
	on->trigger.size = sizeof(on->trigger);
	on->trigger.label = on->text;
	option = copy + (find_action(text) - text);
	*option++ = 0;
	option = strtok_r(option, ",", &save);
	parse_action(on, option);
	while ((option = strtok_r(NULL, ",", &save)))
		parse_option(on, option);
	parse_event(on, copy);
	check(on);
	free(copy);
	list->on = xrealloc(list->on, (list->count + 1) * sizeof(*list->on));
	list->on[list->count++] = on;
}

void on_free(struct on_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		event_free(&list->on[i]->event);
		event_free(&list->on[i]->stop);
		free(list->on[i]->text);
		free(list->on[i]);
	}
	free(list->on);
	*list = (struct on_list){ 0 };
}

bool on_has(const struct on_list *list, uint32_t action)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->on[i]->trigger.action == action)
			return true;
	return false;
}

uint64_t on_sample_size(const struct on_list *list)
{
	uint64_t most = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->on[i]->trigger.sample_size > most)
			most = list->on[i]->trigger.sample_size;
	return most;
}

/* ---- in a session ------------------------------------------------------- */

/* A symbol that the kernel does not have can be looked for now. */
static void say_refused(const struct on *on, const struct auxtrace_trigger_options *t)
{
	int err = errno;
	struct near near;

	near_begin(&near, t->name ?: "");
	if (err == ENOENT && (t->kind == AUXTRACE_TRIGGER_KPROBE || t->kind == AUXTRACE_TRIGGER_KRETPROBE))
		event_near_kernel(&near);
	say("--on %s: %s%s", on->text, auxtrace_error(), near_text(&near));
}

static uint32_t add(const struct on *on, struct auxtrace_session *session,
		    struct auxtrace_trigger_options *t, pid_t command)
{
	int id;

	if (on->of_command)
		t->pid = command;
	else if (on->trigger.pid)
		t->pid = on->trigger.pid;
	id = auxtrace_trigger_add(session, t);
	if (id < 0)
		say_refused(on, t);
	return id < 0 ? 0 : id;
}

static int add_one(struct on *on, struct auxtrace_session *session, pid_t command)
{
	if (on->of_command && !command) {
		say("--on %s: pid=command, but there is no command", on->text);
		return -1;
	}
	if (on->latency) {
		on->a = on->trigger.a = add(on, session, &on->event.trigger, command);
		if (!on->a)
			return -1;
		on->b = on->trigger.b = add(on, session, &on->stop.trigger, command);
		if (!on->b)
			return -1;
	}
	on->id = add(on, session, &on->trigger, command);
	return on->id ? 0 : -1;
}

int on_add(struct on_list *list, struct auxtrace_session *session, pid_t command)
{
	for (size_t i = 0; i < list->count; i++)
		if (add_one(list->on[i], session, command))
			return -1;
	return 0;
}

const char *on_text(const struct on_list *list, uint32_t id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->on[i]->id == id)
			return list->on[i]->text;
	return "?";
}

static void say_counts(struct auxtrace_session *session, uint32_t id, const char *text, bool acts)
{
	struct auxtrace_trigger_state s;

	if (auxtrace_trigger_read(session, id, 0, &s)) {
		say("%s", auxtrace_error());
		return;
	}
	if (acts)
		say("trigger %u, %s: %" PRIu64 " hits, acted %" PRIu64 ", held %" PRIu64 ", idle %" PRIu64
		    ", missed %" PRIu64, id, text, (uint64_t)s.out_hits, (uint64_t)s.out_acted,
		    (uint64_t)s.out_held, (uint64_t)s.out_idle, (uint64_t)s.out_missed);
	else
		say("trigger %u, %s: %" PRIu64 " hits, missed %" PRIu64, id, text, (uint64_t)s.out_hits,
		    (uint64_t)s.out_missed);
}

void on_summary(const struct on_list *list, struct auxtrace_session *session)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct on *on = list->on[i];

		if (on->latency) {
			say_counts(session, on->a, on->event.text, false);
			say_counts(session, on->b, on->stop.text, false);
		}
		say_counts(session, on->id, on->text, true);
	}
}
