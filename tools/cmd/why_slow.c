// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace why-slow: waits for a call of a function that takes too long, and says what it did otherwise. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "recipe.h"

static void usage(FILE *f)
{
	fputs("usage: auxtrace why-slow FILE:FUNCTION --over TIME [OPTION]... -- COMMAND [ARGUMENT]...\n\n"
	      "Run COMMAND to its end. The first call of FUNCTION, of the program or library FILE,\n"
	      "that takes longer than TIME ends the trace; show what that call did otherwise than\n"
	      "those before it. The commands that do this are shown; each can be run by itself.\n\n"
	      "      --over TIME       such as 2ms, 500us, 1s\n"
	      "  -o, --output DIR      directory of the recording (default: " DEFAULT_DIR ")\n"
	      "  -m, --size SIZE       how much of the time before is kept: bytes for each CPU (4M)\n"
	      "  -h, --help            this text\n\n"
	      "Exit status: 0; 1 the recording cannot be decoded; 2 wrong usage; record's, if it\n"
	      "made no recording.\n", f);
}

int cmd_why_slow(int argc, char **argv)
{
	enum { OVER = 256 };
	static const struct option options[] = {
		{ "over", required_argument, NULL, OVER },
		{ "output", required_argument, NULL, 'o' },
		{ "size", required_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *over = NULL, *dir = DEFAULT_DIR, *size = NULL;
	char on[4096 + 512], *what, *function, *program;
	struct recipe r;
	int c, status;

	while ((c = getopt_long(argc, argv, "o:m:h", options, NULL)) != -1) {
		switch (c) {
		case OVER:
			over = optarg;
			break;
		case 'o':
			dir = optarg;
			break;
		case 'm':
			size = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	what = argv[optind];
	function = what ? strrchr(what, ':') : NULL;
	if (!function || function == what || !function[1])
		die(EXIT_USAGE, "why-slow: FILE:FUNCTION is missing, for example ./prog:serve");
	if (!over)
		die(EXIT_USAGE, "why-slow: --over TIME is missing: how long may a call take?");
	if (!argv[optind + 1])
		die(EXIT_USAGE, "why-slow: the COMMAND is missing, behind --");
	*function++ = 0;
	program = recipe_program("why-slow", what);
	if (snprintf(on, sizeof(on), "latency:uprobe:%s:%s..uretprobe:%s:%s>%s=freeze", program, function, program,
		     function, over) >= (int)sizeof(on))
		die(EXIT_USAGE, "why-slow: %s:%s: the names are too long", what, function);
	free(program);
	recipe_begin_recorder(&r, dir);
	if (size) {
		recipe_word(&r, "-m");
		recipe_word(&r, size);
	}
	recipe_word(&r, "--on");
	recipe_word(&r, on);
	recipe_command(&r, argv + optind + 1);
	status = recipe_run(&r);
	if (!recipe_recorded(status))
		return status;
	recipe_begin(&r, "report");
	recipe_word(&r, "--compare");
	recipe_word(&r, function);
	recipe_word(&r, "--limit");
	recipe_word(&r, "25");
	recipe_word(&r, dir);
	return recipe_run(&r);
}
