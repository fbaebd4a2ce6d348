// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace list: the events that --on of record can wait for on this machine. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <auxtrace.h>

#include "cmd.h"
#include "lib/symbols.h"
#include "lib/tool.h"
#include "source/source.h"
#include "trigger/event.h"
#include "trigger/perf_events.h"
#include "trigger/syscalls.h"
#include "trigger/tracepoints.h"

#define MAX_COMPLETIONS	500

struct list {
	const char *filter;	/* show the names that contain it; NULL: only how many there are */
	bool complete;		/* show how names go on that begin with the filter, up to the next colon */
	unsigned long count, shown;
	struct names {
		char **name;
		size_t count;
	} names;
};

static bool is_shown(const struct list *l, const char *name)
{
	if (!l->filter)
		return false;
	return l->complete ? !strncmp(name, l->filter, strlen(l->filter)) : !!strstr(name, l->filter);
}

static void add(struct list *l, const char *name)
{
	struct names *n = &l->names;

	l->count++;
	if (!is_shown(l, name))
		return;
	n->name = xrealloc(n->name, (n->count + 1) * sizeof(*n->name));
	n->name[n->count++] = xstrdup(name);
	if (l->complete) {
		char *colon = strchr(n->name[n->count - 1] + strlen(l->filter), ':');

		if (colon)
			colon[1] = 0;
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void begin(struct list *l)
{
	l->count = 0;
	l->names = (struct names){ 0 };
}

/* Do the names @i and the one before it, sorted, begin with the same @length bytes? */
static bool begins_as_before(const struct names *n, size_t i, size_t length)
{
	return i && !strncmp(n->name[i], n->name[i - 1], length);
}

/*
 * How many bytes of each name are shown. A shell that completes a word needs long for many names, and a person
 * cannot read them: if there are more than MAX_COMPLETIONS, each is cut to the same length, as long as possible.
 */
static size_t shown_length(const struct list *l)
{
	const struct names *n = &l->names;
	size_t length = strlen(l->filter), longest = 0;

	for (size_t i = 0; i < n->count; i++)
		if (strlen(n->name[i]) > longest)
			longest = strlen(n->name[i]);
	for (size_t count = 0; length < longest; length++, count = 0) {
		for (size_t i = 0; i < n->count; i++)
			count += !begins_as_before(n, i, length + 1);
		/* Not the word alone, which would not go on. */
		if (count > MAX_COMPLETIONS && length > strlen(l->filter))
			break;
	}
	return length;
}

/* @form: their syntax. @need: what they need, or why there are none. */
static void end(struct list *l, const char *form, const char *need)
{
	struct names *n = &l->names;
	size_t length = INT_MAX;

	if (!l->filter)
		printf("%-28s %7lu  %s\n", form, l->count, need);
	if (n->count)
		qsort(n->name, n->count, sizeof(*n->name), by_name);
	if (l->complete)
		length = shown_length(l);
	for (size_t i = 0; i < n->count; i++) {
		/* The kernel has several static functions of the same name. */
		if (begins_as_before(n, i, length))
			continue;
		printf("%.*s\n", (int)length, n->name[i]);
		l->shown++;
	}
	while (n->count)
		free(n->name[--n->count]);
	free(n->name);
}

static void add_syscall(const char *name, long number, void *context)
{
	char text[128];

	(void)number;
	snprintf(text, sizeof(text), "syscall:%.64s:enter", name);
	add(context, text);
	snprintf(text, sizeof(text), "syscall:%.64s:exit", name);
	add(context, text);
	((struct list *)context)->count--;
}

static void add_tracepoint(const char *name, void *context)
{
	add(context, name);
}

static void add_counter(const char *name, const char *kind, unsigned long period, void *context)
{
	char text[128];

	(void)kind;
	snprintf(text, sizeof(text), "%.64s/period=%lu/", name, period);
	if (((struct list *)context)->complete && !is_shown(context, text))
		return;
	if (!perf_event_try(name))
		add(context, text);
}

/* Add to the text @context that a counter does not exist here, or is not permitted. */
static void add_absent(const char *name, const char *kind, unsigned long period, void *context)
{
	char *text = context;
	size_t len = strlen(text);
	int err = perf_event_try(name);

	(void)kind, (void)period;
	if (err == EACCES || err == EPERM)
		snprintf(text, 256, "not permitted to this caller (kernel.perf_event_paranoid, CAP_PERFMON)");
	else if (err && len < 200)
		snprintf(text + len, 256 - len, "%s %s", len ? "," : "not here:", name);
}

/* @word: kprobe or kretprobe */
static void list_functions(struct list *l, const char *word)
{
	struct symbols symbols = { 0 };
	const char *need = "any kernel function that is not on the kernel's blacklist; +OFFSET into it";
	char text[256];
	int err = symbols_from_kallsyms(&symbols, "/proc/kallsyms");

	begin(l);
	for (size_t i = 0; i < symbols.count; i++) {
		if (symbols_is_padding(symbols.sym[i].name))
			continue;
		/* A blank and a module's name may follow the function's. */
		snprintf(text, sizeof(text), "%s:%.*s", word, (int)strcspn(symbols.sym[i].name, " "),
			 symbols.sym[i].name);
		add(l, text);
	}
	if (err)
		need = "/proc/kallsyms cannot be read";
	else if (!symbols.count)
		need = "CAP_SYSLOG is missing, so /proc/kallsyms has no addresses; names can be used nevertheless";
	end(l, "kprobe:, kretprobe:FUNCTION", need);
	symbols_free(&symbols);
}

static void list_device(const struct list *l)
{
	struct auxtrace_session *session = auxtrace_open(NULL);
	struct auxtrace_info info;

	if (l->filter)
		goto out;
	if (!session)
		printf("%s\n\n", auxtrace_error());
	else
		puts("Events for auxtrace record --on EVENT=ACTION; auxtrace list WORD shows the names with WORD.");
	if (session && !auxtrace_info(session, 0, &info)) {
		fputs("Sources for --source:", stdout);
		for (unsigned int i = 0; sources[i]; i++)
			if (source_is_present(sources[i], &info))
				printf(" %s", sources[i]->name);
		printf("%s. Each has all events and actions.\n\n",
		       info.out_pmus ? "" : " none here, auxtrace info says why");
	}
out:
	auxtrace_close(session);
}

static void list_all(struct list *l)
{
	char absent[256] = "", need[300];
	long count;

	list_device(l);
	begin(l);
	syscall_each(add_syscall, l);
	end(l, "syscall:NAME:enter|exit", "64-bit system calls; * is all of them");
	begin(l);
	count = tracepoint_each(add_tracepoint, l);
	end(l, "SUBSYSTEM:NAME", count < 0 ? "tracefs is not mounted, or not permitted to this caller" :
	    "the kernel's tracepoints");
	begin(l);
	perf_event_each(add_counter, l);
	if (!l->filter)
		perf_event_each(add_absent, absent);
	snprintf(need, sizeof(need), "perf's counters%s%s; also rHEX and PMU/TERMS/", *absent ? "; " : "", absent);
	end(l, "NAME/period=N/[ukh]", need);
	list_functions(l, "kprobe");
	if (l->filter)
		return;
	event_list_forms();
	puts("\n"
	     "Actions: resume, pause, freeze, sample=SIZE. Options: pid=, count=, after=, hold-off=TIME, one-shot,\n"
	     "all-cpus, delay=TIME|BYTES. auxtrace-record(1), TRIGGERS, says what they mean.");
}

static void add_word(const char *word, void *context)
{
	char text[64];

	snprintf(text, sizeof(text), "%.32s:", word);
	add(context, text);
}

/* What reads many names is left out where the filter says that none of them begins so. */
static void list_completions(struct list *l)
{
	static const char *const probes[] = { "kprobe", "kretprobe" };
	const char *colon = strchr(l->filter, ':');

	begin(l);
	if (!colon) {
		event_each_word(add_word, l);
		perf_event_each(add_counter, l);
	}
	if (!strncmp(l->filter, "syscall:", 8))
		syscall_each(add_syscall, l);
	for (unsigned int i = 0; colon && i < ARRAY_SIZE(probes); i++) {
		if (strncmp(l->filter, probes[i], strlen(probes[i])) || l->filter + strlen(probes[i]) != colon)
			continue;
		list_functions(l, probes[i]);
		return;
	}
	tracepoint_each(add_tracepoint, l);
	end(l, "", "");
}

static void usage(FILE *f)
{
	fputs("usage: auxtrace list [WORD]\n"
	      "       auxtrace list --complete WORD\n\n"
	      "The events that auxtrace record --on can wait for here: each form with how many\n"
	      "names it has and what it needs. With WORD: the names that contain it.\n\n"
	      "      --complete  for shells: how events go on that begin with WORD, up to the\n"
	      "                  next colon; cut shorter if these are more than 500\n"
	      "  -h, --help      this text\n\n"
	      "Exit status: 0; 1 no name contains WORD; 2 wrong usage.\n", f);
}

int cmd_list(int argc, char **argv)
{
	enum { COMPLETE = 256 };
	static const struct option options[] = {
		{ "complete", no_argument, NULL, COMPLETE },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct list list = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case COMPLETE:
			list.complete = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (argc - optind > 1)
		die(EXIT_USAGE, "one word at a time: \"%s\" is too much", argv[optind + 1]);
	list.filter = argv[optind];
	if (list.complete) {
		if (!list.filter)
			die(EXIT_USAGE, "--complete: the word is missing; an empty one is \"\"");
		list_completions(&list);
		return list.shown ? 0 : 1;
	}
	list_all(&list);
	if (list.filter && !list.shown) {
		say("no event has \"%s\" in its name", list.filter);
		return 1;
	}
	return 0;
}
