// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "lib/duration.h"
#include "lib/tool.h"
#include "module/trigger/kinds.h"
#include "suggest.h"
#include "trigger_option.h"

struct trigger_option {
	char *text;
	bool latency;
	struct event event;	/* latency: starts the clock */
	struct event stop;	/* latency: stops it */
	struct auxtrace_trigger_options trigger;
	bool of_command;	/* only hits of the command's process */
	uint32_t id;		/* 0: not added yet */
	uint32_t a, b;		/* latency: ids of the triggers of the two events */
};

/* ---- parsing ------------------------------------------------------------ */

/* The name of the action that stands before a ',', a '=' or the end; NONE: there is none. */
static uint32_t action_of(const char *text)
{
	for (uint32_t i = AUXTRACE_ACTION_NONE + 1; i < AUXT_NR_TRIGGER_ACTIONS; i++) {
		const char *name = auxt_trigger_actions[i].name;
		size_t len = strlen(name);

		if (!strncmp(text, name, len) && strchr(",=", text[len]))
			return i;
	}
	return AUXTRACE_ACTION_NONE;
}

/* The '=' before the action. The event may have a '=' as well. */
static const char *find_action(const char *text)
{
	const char *last = NULL;
	char word[64];
	struct suggestions suggestions;

	for (const char *p = strchr(text, '='); p; p = strchr(p + 1, '=')) {
		last = p;
		if (action_of(p + 1) != AUXTRACE_ACTION_NONE)
			return p;
	}
	if (!last)
		die(EXIT_USAGE, "--on %s: what is to be done? EVENT=resume, =pause, =freeze or =sample=SIZE", text);
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(last + 1, ",="), last + 1);
	suggest_begin(&suggestions, word);
	for (uint32_t i = AUXTRACE_ACTION_NONE + 1; i < AUXT_NR_TRIGGER_ACTIONS; i++)
		suggest_offer(&suggestions, auxt_trigger_actions[i].name);
	die(EXIT_USAGE, "--on %s: there is no action \"%s\"%s; the actions are resume, pause, freeze and sample=SIZE",
	    text, word, suggest_text(&suggestions));
}

static uint32_t uses_of(const struct auxtrace_trigger_options *t)
{
	return auxt_trigger_actions[t->action].uses;
}

static void parse_action(struct trigger_option *opt, const char *text)
{
	opt->trigger.action = action_of(text);
	text += strcspn(text, "=");
	if (!(uses_of(&opt->trigger) & USES_SAMPLE)) {
		if (*text)
			die(EXIT_USAGE, "--on %s: only sample has a size", opt->text);
		return;
	}
	if (*text != '=')
		die(EXIT_USAGE, "--on %s: how much is to be sampled? sample=4K, for example", opt->text);
	opt->trigger.sample_size = parse_size("--on: sample", text + 1);
}

/* A time has a unit; a number of bytes has K, M, G or nothing. */
static void parse_delay(struct trigger_option *opt, const char *value)
{
	if (!parse_time(value, strlen(value), &opt->trigger.delay_ns))
		opt->trigger.delay_bytes = parse_size("--on: delay", value);
	if (!opt->trigger.delay_ns && !opt->trigger.delay_bytes)
		die(EXIT_USAGE, "--on %s: a delay of nothing", opt->text);
}

static void parse_option(struct trigger_option *opt, char *text)
{
	static const char *const names[] = {
		"pid", "count", "after", "hold-off", "one-shot", "all-cpus", "delay",
	};
	char *value = strchr(text, '=');
	struct suggestions suggestions;

	if (value)
		*value++ = 0;
	if (!strcmp(text, "one-shot") && !value) {
		opt->trigger.flags |= AUXTRACE_TRIGGER_ONE_SHOT;
	} else if (!strcmp(text, "all-cpus") && !value) {
		opt->trigger.flags |= AUXTRACE_TRIGGER_ALL_CPUS;
	} else if (!strcmp(text, "pid") && value && !strcmp(value, "command")) {
		opt->of_command = true;
	} else if (!strcmp(text, "pid") && value) {
		opt->trigger.pid = parse_number("--on: pid", value, 1, INT32_MAX);
	} else if (!strcmp(text, "count") && value) {
		opt->trigger.count = parse_number("--on: count", value, 1, INT64_MAX);
	} else if (!strcmp(text, "after") && value) {
		opt->trigger.after_hits = parse_number("--on: after", value, 1, UINT32_MAX);
	} else if (!strcmp(text, "hold-off") && value) {
		if (!parse_time(value, strlen(value), &opt->trigger.hold_off_ns))
			die(EXIT_USAGE, "--on %s: \"%s\" is no time: hold-off=10ms would be one (ns, us, ms, s)",
			    opt->text, value);
	} else if (!strcmp(text, "delay") && value) {
		parse_delay(opt, value);
	} else {
		suggest_begin(&suggestions, text);
		for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
			if (!strcmp(names[i], text))
				die(EXIT_USAGE, "--on %s: %s takes %s value", opt->text, text, value ? "no" : "a");
			suggest_offer(&suggestions, names[i]);
		}
		die(EXIT_USAGE, "--on %s: there is no option \"%s\"%s; the options are pid=, count=, after=, hold-off=TIME, one-shot, all-cpus, delay=TIME|BYTES",
		    opt->text, text, suggest_text(&suggestions));
	}
}

/* The ".." between two events. Names of events have none, but paths may: "../program". */
static char *find_range(char *text)
{
	for (char *p = strstr(text, ".."); p; p = strstr(p + 1, ".."))
		if (p != text && !strchr(":/", p[-1]) && p[2] != '/')
			return p;
	return NULL;
}

static void parse_latency(struct trigger_option *opt, char *text)
{
	char *range = find_range(text), *bound = strrchr(text, '>');

	if (!range || !bound || bound < range)
		die(EXIT_USAGE, "--on %s: a latency is latency:EVENT..EVENT>TIME", opt->text);
	*range = *bound++ = 0;
	if (!parse_time(bound, strlen(bound), &opt->trigger.bound_ns) || !opt->trigger.bound_ns)
		die(EXIT_USAGE, "--on %s: \"%s\" is no bound: 2ms would be one (ns, us, ms, s)", opt->text, bound);
	opt->latency = true;
	opt->trigger.kind = AUXTRACE_TRIGGER_LATENCY;
	event_parse(&opt->event, text);
	event_parse(&opt->stop, range + 2);
}

/* The event is the base of the trigger; action and options are added to it. */
static void parse_event(struct trigger_option *opt, char *text)
{
	if (!strncmp(text, "latency:", 8)) {
		parse_latency(opt, text + 8);
	} else {
		event_parse(&opt->event, text);
		opt->trigger = opt->event.trigger;
	}
	opt->trigger.label = opt->text;
}

/* Refuse what the action cannot do now, before a session exists. */
static void check_options(const struct trigger_option *opt)
{
	const struct auxtrace_trigger_options *t = &opt->trigger;

	if (t->flags & AUXTRACE_TRIGGER_ONE_SHOT && t->count)
		die(EXIT_USAGE, "--on %s: one-shot is count=1 already", opt->text);
	if (t->flags & AUXTRACE_TRIGGER_ALL_CPUS && !(uses_of(t) & USES_ALL_CPUS))
		die(EXIT_USAGE, "--on %s: all-cpus is for pause and resume%s", opt->text,
		    t->action == AUXTRACE_ACTION_FREEZE ? "; a freeze is of all CPUs anyway" : "");
	if ((t->delay_ns || t->delay_bytes) && !(uses_of(t) & USES_DELAY))
		die(EXIT_USAGE, "--on %s: only pause and freeze can be delayed", opt->text);
	if (t->pid && opt->of_command)
		die(EXIT_USAGE, "--on %s: one process only", opt->text);
}

void trigger_option_parse(struct trigger_options *list, const char *text)
{
	struct trigger_option *opt = xcalloc(1, sizeof(*opt));
	char *copy = xstrdup(text), *option, *save;

	opt->text = xstrdup(text);
	opt->trigger.size = sizeof(opt->trigger);
	option = copy + (find_action(text) - text);
	*option++ = 0;
	parse_event(opt, copy);
	option = strtok_r(option, ",", &save);
	parse_action(opt, option);
	while ((option = strtok_r(NULL, ",", &save)))
		parse_option(opt, option);
	check_options(opt);
	free(copy);
	list->option = xrealloc(list->option, (list->count + 1) * sizeof(*list->option));
	list->option[list->count++] = opt;
}

void trigger_options_free(struct trigger_options *list)
{
	for (size_t i = 0; i < list->count; i++) {
		event_free(&list->option[i]->event);
		event_free(&list->option[i]->stop);
		free(list->option[i]->text);
		free(list->option[i]);
	}
	free(list->option);
	*list = (struct trigger_options){ 0 };
}

bool trigger_options_have(const struct trigger_options *list, uint32_t action)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->option[i]->trigger.action == action)
			return true;
	return false;
}

uint64_t trigger_options_sample_size(const struct trigger_options *list)
{
	uint64_t most = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->option[i]->trigger.sample_size > most)
			most = list->option[i]->trigger.sample_size;
	return most;
}

/* ---- in a session ------------------------------------------------------- */

/* If the kernel does not have the symbol, suggest others. */
static void report_refusal(const struct trigger_option *opt, const struct auxtrace_trigger_options *t)
{
	int err = errno;
	struct suggestions suggestions;

	suggest_begin(&suggestions, t->name ?: "");
	if (err == ENOENT && (t->kind == AUXTRACE_TRIGGER_KPROBE || t->kind == AUXTRACE_TRIGGER_KRETPROBE))
		event_suggest_kernel(&suggestions);
	say("--on %s: %s%s", opt->text, auxtrace_error(), suggest_text(&suggestions));
}

static uint32_t add(const struct trigger_option *opt, struct auxtrace_session *session,
		    struct auxtrace_trigger_options *t, pid_t command)
{
	int id;

	if (opt->of_command)
		t->pid = command;
	else if (opt->trigger.pid)
		t->pid = opt->trigger.pid;
	id = auxtrace_trigger_add(session, t);
	if (id < 0)
		report_refusal(opt, t);
	return id < 0 ? 0 : id;
}

static int add_one(struct trigger_option *opt, struct auxtrace_session *session, pid_t command)
{
	if (opt->of_command && !command) {
		say("--on %s: pid=command, but there is no command", opt->text);
		return -1;
	}
	if (opt->latency) {
		opt->a = opt->trigger.a = add(opt, session, &opt->event.trigger, command);
		if (!opt->a)
			return -1;
		opt->b = opt->trigger.b = add(opt, session, &opt->stop.trigger, command);
		if (!opt->b)
			return -1;
	}
	opt->id = add(opt, session, &opt->trigger, command);
	return opt->id ? 0 : -1;
}

int trigger_options_add(struct trigger_options *list, struct auxtrace_session *session, pid_t command)
{
	for (size_t i = 0; i < list->count; i++)
		if (add_one(list->option[i], session, command))
			return -1;
	return 0;
}

const char *trigger_options_text(const struct trigger_options *list, uint32_t id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->option[i]->id == id)
			return list->option[i]->text;
	return "?";
}

static void report_counts(struct auxtrace_session *session, uint32_t id, const char *text, bool acts)
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

void trigger_options_summary(const struct trigger_options *list, struct auxtrace_session *session)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct trigger_option *opt = list->option[i];

		if (opt->latency) {
			report_counts(session, opt->a, opt->event.text, false);
			report_counts(session, opt->b, opt->stop.text, false);
		}
		report_counts(session, opt->id, opt->text, true);
	}
}
