// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace info: what this CPU, kernel and caller can use, and otherwise why not, as lines or as JSON. */
#include <getopt.h>
#include <stdio.h>

#include "cmd.h"
#include "lib/findings.h"
#include "lib/tool.h"
#include "machine/machine.h"
#include "source/source.h"

static void print_json(bool usable)
{
	printf("{\n  \"usable\": %s,\n  \"findings\": ", usable ? "true" : "false");
	findings_json(stdout);
	puts("\n}");
}

static void print_text(bool usable)
{
	const char *between = "";

	findings_text(stdout);
	if (!usable) {
		puts("\nauxtrace cannot trace here: see each NO above.");
	} else if (findings_allow(sources[0])) {
		puts("\nauxtrace can trace here.");
	} else {
		fputs("\nauxtrace can trace here, with --source ", stdout);
		for (unsigned int i = 0; sources[i]; i++)
			if (findings_allow(sources[i])) {
				printf("%s%s", between, sources[i]->name);
				between = " or ";
			}
		puts(" only.");
	}
}

static void usage(FILE *f)
{
	fputs("usage: auxtrace info [--json]\n\n"
	      "Say what this CPU, kernel and caller may use, and if not, why not.\n\n"
	      "  -j, --json  as a JSON object: usable, findings (name, verdict, text)\n"
	      "  -h, --help  this text\n\n"
	      "Exit status: 0 auxtrace can trace here; 1 it cannot; 2 wrong usage.\n", f);
}

int cmd_info(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool json = false, usable;
	int c;

	while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			json = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		die(EXIT_USAGE, "info takes no argument: \"%s\" is too much", argv[optind]);
	machine_find();
	usable = machine_usable();
	if (json)
		print_json(usable);
	else
		print_text(usable);
	return usable ? 0 : 1;
}
