// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace: finds the subcommand and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "lib/tool.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "info", cmd_info, "what this CPU, kernel and caller can use, and otherwise why not" },
	{ "list", cmd_list, "events that record --on can wait for here" },
	{ "record", cmd_record, "trace a command, or CPUs for a while, into a directory" },
	{ "dump", cmd_dump, "show the packets of a recording" },
	{ "script", cmd_script, "show the flow that a recording holds, with symbols" },
	{ "report", cmd_report, "where the time went, by function; why a call was slow" },
	{ "why-slow", cmd_why_slow, "wait for a slow call of a function, and say why it was slow" },
	{ "last", cmd_last, "what a program called last before it ended or crashed" },
	{ "around", cmd_around, "what the CPUs did shortly before an event, and behind it" },
	{ "export", cmd_export, "write a recording in the format of other tools" },
	{ "selftest", cmd_selftest, "check on this machine that tracing and decoding do what they say" },
};

static void usage(FILE *f)
{
	fprintf(f, "usage: auxtrace COMMAND [OPTION]...\n\n");
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fprintf(f, "\nauxtrace COMMAND --help says more, auxtrace help COMMAND all; auxtrace --version the version.\n");
}

static const struct command *find_command(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	fprintf(stderr, "auxtrace: unknown command \"%s\"; the commands are", name);
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(stderr, "%s %s", i ? "," : "", commands[i].name);
	putc('\n', stderr);
	return NULL;
}

/* Becomes man(1) with the command's page. Without man, prints the command's options instead. */
static int show_page(const char *name)
{
	const struct command *command = find_command(name);
	char page[64], help[] = "--help", *argv[] = { (char *)name, help, NULL };

	if (!command)
		return EXIT_USAGE;
	snprintf(page, sizeof(page), "auxtrace-%s", command->name);
	execlp("man", "man", "1", page, (char *)NULL);
	fprintf(stderr, "auxtrace: cannot run man, which would show the page %s(1): %s. Its options are\n\n", page,
		strerror(errno));
	return command->run(2, argv);
}

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || (!strcmp(argv[1], "help") && argc == 2)) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "help")) {
		if (argc > 3)
			die(EXIT_USAGE, "help with one command at a time: \"%s\" is too much", argv[3]);
		return show_page(argv[2]);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("auxtrace %s\n", AUXTRACE_VERSION);
		return 0;
	}
	command = find_command(argv[1]);
	status = command ? command->run(argc - 1, argv + 1) : EXIT_USAGE;
	progress_end();
	return status;
}
