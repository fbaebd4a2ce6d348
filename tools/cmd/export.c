// SPDX-License-Identifier: GPL-2.0
/* auxtrace export: writes a recording in the format of other tools. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "export/format.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "source/source.h"

static const struct export_format *const formats[] = { &perf_format };

static const struct export_format *format_parse(const char *name)
{
	char names[64] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i]->name, name))
			return formats[i];
		len += snprintf(names + len, sizeof(names) - len, "%s%s", i ? " or " : "", formats[i]->name);
	}
	die(EXIT_USAGE, "--format %s: it takes %s", name, names);
}

static void usage(FILE *f)
{
	fputs("usage: auxtrace export --format FORMAT -o OUT [DIR]\n\n"
	      "Write a recording (DIR, by default " DEFAULT_DIR ") in the format of other tools.\n\n"
	      "  -f, --format FORMAT   one of\n", f);
	for (unsigned int i = 0; i < ARRAY_SIZE(formats); i++)
		fprintf(f, "        %-6s %s\n", formats[i]->name, formats[i]->summary);
	fputs("  -o, --output OUT      what to write; it must not exist\n"
	      "  -h, --help            this text\n\n"
	      "Exit status: 0; 1 the recording cannot be read, or OUT not be written; 2 wrong\n"
	      "usage.\n", f);
}

int cmd_export(int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct export_format *format = NULL;
	struct export_request request = { 0 };
	struct meta *meta;
	struct stat st;
	int c;

	while ((c = getopt_long(argc, argv, "f:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			format = format_parse(optarg);
			break;
		case 'o':
			request.out = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (!format)
		die(EXIT_USAGE, "export to what? --format names it; auxtrace export --help lists the formats");
	if (!request.out)
		die(EXIT_USAGE, "export to where? -o OUT names it");
	request.dir = meta_argument(argc, argv);
	if (!lstat(request.out, &st))
		die(1, "%s exists: name another OUT, or remove it", request.out);
	meta = meta_read(request.dir);
	request.meta = meta;
	request.source = source_of_recording(meta, request.dir);
	format->write(&request);
	meta_free(meta);
	return 0;
}
