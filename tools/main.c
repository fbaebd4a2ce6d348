// SPDX-License-Identifier: GPL-2.0
/* auxtrace: finds the subcommand and runs it. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
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
};

static void usage(FILE *f)
{
	fprintf(f, "usage: auxtrace COMMAND [OPTION]...\n\n");
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fprintf(f, "\nauxtrace COMMAND --help says more; auxtrace --version the version.\n");
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("auxtrace %s\n", AUXTRACE_VERSION);
		return 0;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "auxtrace: unknown command \"%s\"; the commands are", argv[1]);
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(stderr, "%s %s", i ? "," : "", commands[i].name);
	putc('\n', stderr);
	return EXIT_USAGE;
}
