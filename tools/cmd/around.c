// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace around: what the CPUs did shortly before an event, and behind it. */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "lib/duration.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "recipe.h"

static void usage(FILE *f)
{
	fputs("usage: auxtrace around EVENT [OPTION]... -- COMMAND [ARGUMENT]...\n\n"
	      "Run COMMAND to its end. The first EVENT, as record --on has them (auxtrace list),\n"
	      "ends the trace; show what ran shortly before, with source lines where there is debug\n"
	      "information. The commands that do this are shown; each can be run by itself.\n\n"
	      "      --before TIME     so long before the event (1ms)\n"
	      "      --after TIME      and so long behind it (0ns)\n"
	      "  -a, --all             EVENT anywhere, and what all CPUs run; else only the command\n"
	      "                        and what it starts\n"
	      "  -o, --output DIR      directory of the recording (default: " DEFAULT_DIR ")\n"
	      "  -h, --help            this text\n\n"
	      "Exit status: 0; 1 the event did not happen, or the recording cannot be decoded; 2\n"
	      "wrong usage; record's, if it made no recording.\n", f);
}

static uint64_t time_option(const char *option, const char *text)
{
	uint64_t ns;

	if (!parse_time(text, strlen(text), &ns))
		die(EXIT_USAGE, "%s %s: it takes a time, such as 2ms, 500us or 1s", option, text);
	return ns;
}

int cmd_around(int argc, char **argv)
{
	enum { BEFORE = 256, AFTER };
	static const struct option options[] = {
		{ "before", required_argument, NULL, BEFORE },
		{ "after", required_argument, NULL, AFTER },
		{ "all", no_argument, NULL, 'a' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	uint64_t before = 1000000, after = 0;
	const char *dir = DEFAULT_DIR, *event;
	char on[4096 + 64], shown[64];
	bool all = false;
	struct recipe r;
	int c, status;

	while ((c = getopt_long(argc, argv, "ao:h", options, NULL)) != -1) {
		switch (c) {
		case BEFORE:
			before = time_option("--before", optarg);
			break;
		case AFTER:
			after = time_option("--after", optarg);
			break;
		case 'a':
			all = true;
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
	event = argv[optind];
	if (!event)
		die(EXIT_USAGE, "around: the EVENT is missing, for example kprobe:tcp_retransmit_skb; see auxtrace list");
	if (!argv[optind + 1])
		die(EXIT_USAGE, "around: the COMMAND is missing, behind --");
	if (snprintf(on, sizeof(on), after ? "%s=freeze,delay=%" PRIu64 "ns" : "%s=freeze", event, after) >= (int)sizeof(on))
		die(EXIT_USAGE, "around: the EVENT is too long");
	recipe_begin_recorder(&r, dir);
	if (all)
		recipe_word(&r, "-a");
	recipe_word(&r, "--on");
	recipe_word(&r, on);
	recipe_command(&r, argv + optind + 1);
	status = recipe_run(&r);
	if (!recipe_recorded(status))
		return status;
	recipe_begin(&r, "script");
	recipe_word(&r, "--lines");
	recipe_word(&r, "--time");
	snprintf(shown, sizeof(shown), "freeze-%" PRIu64 "ns,", before + after);
	recipe_word(&r, shown);
	recipe_word(&r, dir);
	return recipe_run(&r);
}
