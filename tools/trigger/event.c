// SPDX-License-Identifier: GPL-2.0-only
/* See event_parse(). Messages begin with the --on option at fault. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf_function.h"
#include "event.h"
#include "lib/duration.h"
#include "lib/symbols.h"
#include "lib/tool.h"
#include "module/trigger/kinds.h"
#include "named_function.h"
#include "perf_events.h"
#include "suggest.h"
#include "syscalls.h"
#include "tracepoints.h"

/* Split "NAME+OFFSET". Returns the name; the caller frees it. */
static char *split_offset(const char *text, const char *place, uint64_t *offset)
{
	char *name = xstrdup(place), *plus = strrchr(name, '+'), *end;

	*offset = 0;
	if (!plus)
		return name;
	*plus++ = 0;
	*offset = strtoull(plus, &end, 0);
	if (!isdigit((unsigned char)*plus) || *end)
		die(EXIT_USAGE, "--on %s: \"+%s\" is no offset: write +8 or +0x8", text, plus);
	return name;
}

static void parse_syscall(struct event *e, const char *rest, uint32_t kind)
{
	const char *colon = strrchr(rest, ':');
	char name[128];
	struct suggestions suggestions;
	long number;

	if (colon && !strcmp(colon, ":exit"))
		kind = AUXTRACE_TRIGGER_SYSCALL_EXIT;
	else if (!colon || strcmp(colon, ":enter"))
		die(EXIT_USAGE, "--on %s: at which end? syscall:NAME:enter or syscall:NAME:exit", e->text);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - rest), rest);
	number = syscall_number(name);
	if (number < -1) {
		suggest_begin(&suggestions, name);
		syscall_suggest(&suggestions);
		die(EXIT_USAGE, "--on %s: there is no system call %s%s", e->text, name, suggest_text(&suggestions));
	}
	e->trigger.kind = kind;
	e->trigger.number = number;
}

static void parse_kprobe(struct event *e, const char *rest, uint32_t kind)
{
	e->trigger.kind = kind;
	if (!*rest)
		die(EXIT_USAGE, "--on %s: of which function?", e->text);
	if (is_number(rest, &e->trigger.address))
		return;
	e->name = split_offset(e->text, rest, &e->trigger.address);
	e->trigger.name = e->name;
	if (kind == AUXTRACE_TRIGGER_KRETPROBE && e->trigger.address)
		die(EXIT_USAGE, "--on %s: a function returns as a whole: leave out the offset", e->text);
}

static void parse_uprobe(struct event *e, const char *rest, uint32_t kind)
{
	const char *colon = strrchr(rest, ':');
	char path[PATH_MAX], *function;
	uint64_t offset;

	e->trigger.kind = kind;
	if (!colon || !colon[1] || colon == rest)
		die(EXIT_USAGE, "--on %s: a probe of a program is uprobe:/path/of/program:FUNCTION[+OFFSET]", e->text);
	snprintf(path, sizeof(path), "%.*s", (int)(colon - rest), rest);
	e->name = realpath(path, NULL);
	if (!e->name)
		die(EXIT_USAGE, "--on %s: %s: %s", e->text, path, strerror(errno));
	e->trigger.name = e->name;
	if (is_number(colon + 1, &e->trigger.address))
		return;
	function = split_offset(e->text, colon + 1, &offset);
	if (offset && kind == AUXTRACE_TRIGGER_URETPROBE)
		die(EXIT_USAGE, "--on %s: a function returns as a whole: leave out the offset", e->text);
	e->trigger.address = elf_function(e->text, e->name, function) + offset;
	free(function);
}

/* perf's syntax: mem:ADDRESS[/LENGTH][:rwx]. */
static void parse_memory(struct event *e, const char *rest, uint32_t kind)
{
	size_t len = strcspn(rest, "/:");
	unsigned int type = HW_BREAKPOINT_RW, bytes = 4;
	char address[32], *end;

	snprintf(address, sizeof(address), "%.*s", (int)len, rest);
	if (len >= sizeof(address) || !is_number(address, &e->trigger.address))
		die(EXIT_USAGE, "--on %s: \"%.*s\" is no address: 0xffffffff81000000 would be one", e->text,
		    (int)len, rest);
	rest += len;
	if (*rest == '/') {
		bytes = strtoul(rest + 1, &end, 10);
		if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
			die(EXIT_USAGE, "--on %s: a breakpoint watches 1, 2, 4 or 8 bytes", e->text);
		rest = end;
	}
	if (!strcmp(rest, ":w")) {
		type = HW_BREAKPOINT_W;
	} else if (!strcmp(rest, ":x")) {
		type = HW_BREAKPOINT_X;
		bytes = sizeof(long);
	} else if (*rest && strcmp(rest, ":rw")) {
		die(EXIT_USAGE, "--on %s: \"%s\" is no access: :w, :rw and :x are what the CPU can watch", e->text, rest);
	}
	e->trigger.kind = kind;
	e->trigger.number = type | bytes << 8;
}

static void parse_timer(struct event *e, const char *rest, uint32_t kind)
{
	if (!parse_time(rest, strlen(rest), &e->trigger.bound_ns))
		die(EXIT_USAGE, "--on %s: \"%s\" is no time: timer:10ms would be one (ns, us, ms, s)", e->text, rest);
	e->trigger.kind = kind;
}

static void use_attr(struct event *e)
{
	e->trigger.kind = AUXTRACE_TRIGGER_PERF;
	e->trigger.attr = &e->attr;
	e->trigger.attr_len = sizeof(e->attr);
}

/*
 * Events that begin with a word of ours and a colon. The rest are perf's counters and
 * the kernel's tracepoints.
 */
static const struct form {
	const char *word;
	uint32_t kind;
	void (*parse)(struct event *e, const char *rest, uint32_t kind); /* NULL: the caller's */
	bool digit;		/* only before a digit: tracepoints have a group of this name */
	const char *syntax, *help; /* for auxtrace list; NULL: it says more than a line */
} forms[] = {
	{ .word = "syscall", .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER, .parse = parse_syscall },
	{ .word = "kprobe", .kind = AUXTRACE_TRIGGER_KPROBE, .parse = parse_kprobe },
	{ .word = "kretprobe", .kind = AUXTRACE_TRIGGER_KRETPROBE, .parse = parse_kprobe },
	{ .word = "uprobe", .kind = AUXTRACE_TRIGGER_UPROBE, .parse = parse_uprobe,
	  .syntax = "uprobe:, uretprobe:PATH:FUNCTION",
	  .help = "programs and libraries; +OFFSET into the function, or 0xOFFSET in the file" },
	{ .word = "uretprobe", .kind = AUXTRACE_TRIGGER_URETPROBE, .parse = parse_uprobe },
	{ .word = "mem", .kind = AUXTRACE_TRIGGER_BREAKPOINT, .parse = parse_memory,
	  .syntax = "mem:ADDRESS[/LENGTH][:w|rw|x]",
	  .help = "hardware breakpoints: 4 on a CPU, all users together" },
	{ .word = "timer", .kind = AUXTRACE_TRIGGER_TIMER, .parse = parse_timer, .digit = true,
	  .syntax = "timer:TIME", .help = "each TIME on each CPU, at least 10us" },
	{ .word = "latency", .kind = AUXTRACE_TRIGGER_LATENCY,
	  .syntax = "latency:EVENT..EVENT>TIME",
	  .help = "longer than TIME from one to the other in the same thread" },
};

_Static_assert(AUXT_NR_TRIGGER_KINDS == AUXTRACE_TRIGGER_TIMER + 1,
	       "a new kind needs its word in forms[]; then name it here");

/* The form of @text, or NULL. @rest: what follows its colon. */
static const struct form *find_form(const char *text, const char **rest)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t len = strlen(forms[i].word);

		if (strncmp(text, forms[i].word, len) || text[len] != ':')
			continue;
		*rest = text + len + 1;
		return forms[i].digit && !isdigit((unsigned char)**rest) ? NULL : &forms[i];
	}
	return NULL;
}

void event_list_forms(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(forms); i++)
		if (forms[i].syntax)
			printf("%-36s  %s\n", forms[i].syntax, forms[i].help);
}

void event_each_word(void (*fn)(const char *word, void *context), void *context)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(forms); i++)
		fn(forms[i].word, context);
}

static void suggest_words(struct suggestions *s)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(forms); i++)
		suggest_offer(s, forms[i].word);
}

static void parse_tracepoint(struct event *e)
{
	const char *colon = strchr(e->text, ':');
	struct suggestions suggestions;
	char subsys[128];
	long id;

	snprintf(subsys, sizeof(subsys), "%.*s", (int)(colon - e->text), e->text);
	suggest_begin(&suggestions, subsys);
	suggest_words(&suggestions);
	id = tracepoint_id(subsys, colon + 1);
	if (id < 0 && suggestions.count && strcmp(suggestions.best[0].name, subsys))
		die(EXIT_USAGE, "--on %s: %s is neither a kind of event nor has it such a tracepoint%s", e->text,
		    subsys, suggest_text(&suggestions));
	if (id == -ENODEV)
		die(EXIT_USAGE, "--on %s: tracefs, which has the numbers of tracepoints, is not mounted on /sys/kernel/tracing",
		    e->text);
	if (id < 0) {
		suggest_begin(&suggestions, e->text);
		tracepoint_suggest(&suggestions);
		die(EXIT_USAGE, "--on %s: there is no tracepoint %s%s%s", e->text, e->text,
		    id == -ENOENT ? "" : " that could be read", suggest_text(&suggestions));
	}
	e->attr = (struct perf_event_attr){
		.size = sizeof(e->attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.sample_period = 1,
	};
	use_attr(e);
}

static void __attribute__((noreturn)) die_unknown(const char *text)
{
	struct suggestions suggestions;
	char name[128];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ":/"), text);
	suggest_begin(&suggestions, name);
	perf_event_suggest(&suggestions);
	suggest_words(&suggestions);
	die(EXIT_USAGE, "--on %s: there is no event %s%s; auxtrace list shows what there is", text, text,
	    suggest_text(&suggestions));
}

void event_parse(struct event *e, const char *text)
{
	const char *rest, *colon = strchr(text, ':');
	const struct form *form = find_form(text, &rest);

	*e = (struct event){ .text = xstrdup(text), .trigger.size = sizeof(e->trigger) };
	if (form && form->parse)
		form->parse(e, rest, form->kind);
	else if (perf_event_parse(text, &e->attr))
		use_attr(e);
	else if (colon && colon != text && colon[1])
		parse_tracepoint(e);
	else
		die_unknown(text);
	e->trigger.label = e->text;
}

void event_free(struct event *e)
{
	free(e->text);
	free(e->name);
	*e = (struct event){ 0 };
}

void event_suggest_kernel(struct suggestions *n)
{
	struct symbols symbols = { 0 };

	if (!symbols_from_kallsyms(&symbols, "/proc/kallsyms"))
		for (size_t i = 0; i < symbols.count; i++)
			if (!symbols_is_padding(symbols.sym[i].name))
				suggest_offer(n, symbols.sym[i].name);
	symbols_free(&symbols);
}
