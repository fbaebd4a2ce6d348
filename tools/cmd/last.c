// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace last: what a program called last before it ended or crashed. */
#include <getopt.h>
#include <stdlib.h>

#include "cmd.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "recipe.h"

static void usage(FILE *f)
{
	fputs("usage: auxtrace last [OPTION]... -- COMMAND [ARGUMENT]...\n\n"
	      "Run COMMAND with a flight recorder, and show the functions that it called last\n"
	      "before it ended, for example by a crash, with the source lines that they executed,\n"
	      "where there is debug information. The commands that do this are shown; each can be\n"
	      "run by itself.\n\n"
	      "  -n, --lines N         so many lines (40)\n"
	      "  -k, --kernel          with the kernel's functions\n"
	      "  -o, --output DIR      directory of the recording (default: " DEFAULT_DIR ")\n"
	      "  -h, --help            this text\n\n"
	      "Exit status: the command's, or 128 + the signal that ended it; 2 wrong usage; 125\n"
	      "there is no recording.\n", f);
}

int cmd_last(int argc, char **argv)
{
	static const struct option options[] = {
		{ "lines", required_argument, NULL, 'n' },
		{ "kernel", no_argument, NULL, 'k' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *dir = DEFAULT_DIR;
	unsigned int lines = 40;
	bool kernel = false;
	char text[64];
	struct recipe r;
	int c, status;

	while ((c = getopt_long(argc, argv, "+n:ko:h", options, NULL)) != -1) {
		switch (c) {
		case 'n':
			lines = parse_number("--lines", optarg, 1, 1000000);
			break;
		case 'k':
			kernel = true;
			break;
		case 'o':
			dir = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (!argv[optind])
		die(EXIT_USAGE, "last: the COMMAND is missing");
	recipe_begin_recorder(&r, dir);
	if (!kernel)
		recipe_word(&r, "-u");
	recipe_command(&r, argv + optind);
	status = recipe_run(&r);
	if (!recipe_recorded(status))
		return status;
	recipe_begin(&r, "script");
	recipe_word(&r, "--lines");
	recipe_word(&r, dir);
	snprintf(text, sizeof(text), " | tail -n %u", lines);
	recipe_text(&r, text);
	recipe_run(&r);
	return status;
}
