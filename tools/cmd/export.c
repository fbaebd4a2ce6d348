// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace export: writes a recording in the format of other tools. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "export/format.h"
#include "lib/meta.h"
#include "lib/output.h"
#include "lib/tool.h"
#include "part.h"

static const struct export_format *const formats[] = {
	&perf_format, &perfetto_format, &speedscope_format, &folded_format, &callgrind_format,
};

static const struct export_format *format_parse(const char *name)
{
	char names[128] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i]->name, name))
			return formats[i];
		len += snprintf(names + len, sizeof(names) - len, "%s%s",
				!i ? "" : i + 1 < ARRAY_SIZE(formats) ? ", " : " or ", formats[i]->name);
	}
	die(EXIT_USAGE, "--format %s: it takes %s", name, names);
}

static void usage(FILE *f)
{
	fputs("usage: auxtrace export --format FORMAT -o OUT [OPTION]... [DIR]\n\n"
	      "Write a recording (DIR, by default " DEFAULT_DIR ") in the format of other tools.\n\n"
	      "  -f, --format FORMAT   one of\n", f);
	for (unsigned int i = 0; i < ARRAY_SIZE(formats); i++)
		fprintf(f, "        %-10s  %s\n", formats[i]->name, formats[i]->summary);
	fputs("  -o, --output OUT      what to write; it must not exist. -: standard output\n"
	      "      --weight WEIGHT   of folded stacks: ns (the default) or instructions\n"
	      "  -h, --help            this text\n\n"
	      "All but perf take\n", f);
	fputs(part_usage, f);
	fputs("\nExit status: 0; 1 the recording cannot be read, or OUT not be written, or decode\n"
	      "errors; 2 wrong usage.\n", f);
}

static int export_calls(const struct export_format *format, struct export_request *request, struct part *part)
{
	struct replay *r = &part->replay;
	struct calls_sink *sink;
	FILE *out;
	int status;

	part_open(part, request->dir);
	request->meta = r->meta;
	request->source = part->source;
	out = output_file(request->out);
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	sink = format->begin(request, out);
	part_calls(part, sink);
	format->end(sink);
	output_close(out);
	status = part_summary(part);
	replay_close(r);
	return status;
}

static void export_all(const struct export_format *format, struct export_request *request)
{
	struct meta *meta = meta_read(request->dir);

	must(meta);
	request->meta = meta;
	request->source = source_of_recording(meta, request->dir);
	format->write(request);
	meta_free(meta);
}

int cmd_export(int argc, char **argv)
{
	enum { WEIGHT = 256 };
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "weight", required_argument, NULL, WEIGHT },
		PART_LONG,
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct export_format *format = NULL;
	struct export_request request = { 0 };
	struct part part;
	const char *weight = NULL;
	int c;

	part_begin(&part);
	while ((c = getopt_long(argc, argv, "f:o:h" PART_SHORT, options, NULL)) != -1) {
		if (part_option(&part, c, optarg))
			continue;
		switch (c) {
		case 'f':
			format = format_parse(optarg);
			break;
		case 'o':
			request.out = optarg;
			break;
		case WEIGHT:
			weight = optarg;
			request.instructions = !strcmp(weight, "instructions");
			if (!request.instructions && strcmp(weight, "ns"))
				die(EXIT_USAGE, "--weight %s: it takes ns or instructions", weight);
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
	if (weight && !format->has_weight)
		die(EXIT_USAGE, "--weight: --format %s shows time; folded takes a weight", format->name);
	if (request.instructions && part.time)
		die(EXIT_USAGE, "--weight instructions: of a call that --time cuts it is not known how many are inside");
	request.timed = part.time;
	request.dir = recording_argument(argc, argv);
	if (strcmp(request.out, "-"))
		output_must_be_new(request.out);
	if (!format->write)
		return export_calls(format, &request, &part);
	if (part.given)
		die(EXIT_USAGE, "--format %s writes all of a recording: perf's own options choose a part of it",
		    format->name);
	export_all(format, &request);
	return 0;
}
