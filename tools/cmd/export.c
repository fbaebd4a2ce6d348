// SPDX-License-Identifier: GPL-2.0
/* auxtrace export: writes a recording in the format of other tools. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "decode/calls_cut.h"
#include "export/format.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "source/replay.h"

static const struct export_format *const formats[] = {
	&perf_format, &perfetto_format, &speedscope_format, &folded_format,
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
	      "  -h, --help            this text\n\n"
	      "All but perf take\n"
	      "      --time A,B        from A to B only, in seconds as script shows them; either may\n"
	      "                        be empty\n"
	      "  -t, --tid N           this thread only\n"
	      "      --function F      calls of function F only, NAME or NAME@FILE, and what is inside\n"
	      "      --max-depth N     so many calls deep\n"
	      "  -C, --cpu N           this CPU only\n"
	      "  -w, --window N        this window only (each CPU's own number N)\n"
	      "      --symfs DIR       the traced programs' files are below DIR\n\n"
	      "Exit status: 0; 1 the recording cannot be read, or OUT not be written, or decode\n"
	      "errors; 2 wrong usage.\n", f);
}

/* What to leave out, and where the files are. */
struct part {
	struct replay replay;
	struct calls_cut cut;
	const char *time;
	const char *symfs;
};

static int export_calls(const struct export_format *format, struct export_request *request, struct part *part)
{
	bool to_stdout = !strcmp(request->out, "-");
	struct replay *r = &part->replay;
	struct calls_sink *sink;
	struct calls *calls;
	FILE *out;
	int status;

	replay_open(r, request->dir, part->symfs);
	request->meta = r->meta;
	request->source = r->source;
	if (part->time)
		calls_cut_time(&part->cut, part->time, r->meta);
	out = to_stdout ? stdout : fopen(request->out, "wxe");
	if (!out)
		die(1, "cannot write %s: %s", request->out, strerror(errno));
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	sink = format->begin(request, out);
	calls_cut_begin(&part->cut, sink);
	calls = calls_begin(&part->cut.sink);
	replay_run(r, calls_view_of_cpu, calls);
	calls_end(calls);
	format->end(sink);
	if (fflush(out) || ferror(out) || (!to_stdout && fclose(out)))
		die(1, "cannot write %s: %s", request->out, strerror(errno));
	replay_summary(r);
	status = r->sum.errors ? 1 : 0;
	replay_close(r);
	return status;
}

static void export_all(const struct export_format *format, struct export_request *request)
{
	struct meta *meta = meta_read(request->dir);

	request->meta = meta;
	request->source = source_of_recording(meta, request->dir);
	format->write(request);
	meta_free(meta);
}

int cmd_export(int argc, char **argv)
{
	enum { TIME = 256, FUNCTION, DEPTH, SYMFS };
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "time", required_argument, NULL, TIME },
		{ "tid", required_argument, NULL, 't' },
		{ "function", required_argument, NULL, FUNCTION },
		{ "max-depth", required_argument, NULL, DEPTH },
		{ "cpu", required_argument, NULL, 'C' },
		{ "window", required_argument, NULL, 'w' },
		{ "symfs", required_argument, NULL, SYMFS },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct export_format *format = NULL;
	struct export_request request = { 0 };
	struct part part = { .replay = { .cpu = -1, .by_time = true }, .symfs = "" };
	bool has_part = false;
	struct stat st;
	int c;

	while ((c = getopt_long(argc, argv, "f:o:t:C:w:h", options, NULL)) != -1) {
		has_part |= c != 'f' && c != 'o' && c != 'h';
		switch (c) {
		case 'f':
			format = format_parse(optarg);
			break;
		case 'o':
			request.out = optarg;
			break;
		case TIME:
			part.time = optarg;
			break;
		case 't':
			part.cut.tid = parse_number("--tid", optarg, 1, INT32_MAX);
			break;
		case FUNCTION:
			part.cut.function = optarg;
			break;
		case DEPTH:
			part.cut.depth = parse_number("--max-depth", optarg, 1, UINT32_MAX);
			break;
		case 'C':
			part.replay.cpu = parse_number("--cpu", optarg, 0, MAX_CPU);
			break;
		case 'w':
			part.replay.window = parse_number("--window", optarg, 1, UINT64_MAX);
			break;
		case SYMFS:
			part.symfs = optarg;
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
	if (!format->write)
		return export_calls(format, &request, &part);
	if (has_part)
		die(EXIT_USAGE, "--format %s writes all of a recording: perf's own options choose a part of it",
		    format->name);
	export_all(format, &request);
	return 0;
}
