// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace dump: prints the packets of a recording or of a trace file. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "decode/records.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "part.h"
#include "source/source.h"

struct dump {
	const char *path;
	const struct source *source; /* NULL: not named */
	int cpu;		/* -1: all */
	bool records;		/* print records only, no packets */
	bool summary;		/* print totals instead of packets */
	uint64_t errors;
};

static void dump_file(struct dump *d, const char *path, size_t pad, uint64_t begin)
{
	struct mapped aux;
	int err = map_file(path, false, &aux);

	if (err)
		die(1, "cannot read %s: %s", path, strerror(-err));
	d->errors += d->source->dump(&(struct trace_file){ aux.data, aux.size, pad, begin }, !d->summary);
	unmap_file(&aux);
}

static void dump_records(const char *dir, const struct meta_cpu *cpu)
{
	struct records records;

	must(records_read(&records, dir, cpu));
	records_print(&records);
	records_free(&records);
}

static void dump_cpu(struct dump *d, const struct meta_cpu *cpu)
{
	char file[4200];

	if (!d->summary) {
		printf("# cpu %u\n", cpu->cpu);
		dump_records(d->path, cpu);
	}
	if (d->records)
		return;
	snprintf(file, sizeof(file), "%s/cpu%u.aux", d->path, cpu->cpu);
	dump_file(d, file, cpu->pad, cpu->begin);
}

static void dump_recording(struct dump *d)
{
	struct meta *meta = meta_read(d->path);
	const struct source *source;
	bool found = false;

	must(meta);
	source = source_of_recording(meta, d->path);
	if (d->source && d->source != source) {
		meta_free(meta);
		die(EXIT_USAGE, "--source %s: %s is of the source %s, and says so itself", d->source->name,
		    d->path, source->name);
	}
	d->source = source;
	for (unsigned int i = 0; i < meta->nr_cpus; i++) {
		if (d->cpu >= 0 && meta->cpu[i].cpu != (unsigned int)d->cpu)
			continue;
		found = true;
		dump_cpu(d, &meta->cpu[i]);
	}
	meta_free(meta);
	if (!found)
		die(1, "CPU %d is not in %s", d->cpu, d->path);
}

static void usage(FILE *f)
{
	fputs("usage: auxtrace dump [OPTION]... [DIR|FILE]\n\n"
	      "Show the packets of a recording (DIR, by default auxtrace.data) or of a file of\n"
	      "raw Intel PT, one a line: offset, name, payload. TNT bits: ! taken, . not.\n"
	      "Of BTS the branches: offset, from, to, flags.\n"
	      "Before the packets of a CPU come the records of its data ring, if it had one:\n"
	      "# CPU TSC kind ..., for windows with their causes and whether they are whole.\n\n"
	      "  -C, --cpu N    this CPU of the recording only\n"
	      "  -r, --records  records only\n"
	      "  -s, --summary  counts by kind of packet, instead of the packets\n"
	      "      --source SOURCE   what FILE is of: pt (the default) or bts\n"
	      "  -h, --help     this text\n\n"
	      "Exit status: 0; 1 packets that cannot be read, or a file; 2 wrong usage.\n", f);
}

int cmd_dump(int argc, char **argv)
{
	enum { SOURCE = 256 };
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'C' },
		{ "summary", no_argument, NULL, 's' },
		{ "records", no_argument, NULL, 'r' },
		{ "source", required_argument, NULL, SOURCE },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct dump d = { .cpu = -1 };
	struct stat st;
	int c;

	while ((c = getopt_long(argc, argv, "C:srh", options, NULL)) != -1) {
		switch (c) {
		case 'C':
			d.cpu = parse_number("--cpu", optarg, 0, MAX_CPU);
			break;
		case 's':
			d.summary = true;
			break;
		case 'r':
			d.records = true;
			break;
		case SOURCE:
			d.source = source_parse(optarg);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	d.path = recording_argument(argc, argv);
	if (stat(d.path, &st))
		die(1, "cannot read %s: %s", d.path, strerror(errno));
	if (S_ISDIR(st.st_mode)) {
		dump_recording(&d);
	} else {
		if (d.cpu >= 0)
			die(EXIT_USAGE, "--cpu is for a recording; %s is a file", d.path);
		if (d.records)
			die(EXIT_USAGE, "--records is for a recording; %s is a file", d.path);
		if (!d.source)
			d.source = sources[0];
		dump_file(&d, d.path, 0, 0);
	}
	if (d.summary)
		d.source->print_totals();
	return d.errors ? 1 : 0;
}
