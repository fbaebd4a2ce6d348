// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/meta.h"
#include "lib/tool.h"
#include "options.h"
#include "source/source.h"

#define DEFAULT_DATA	(64u << 10)
#define DATA_OF_SWITCHES (1u << 20)	/* up to 232 bytes each: a busy CPU has thousands a second */
#define MAX_DEFAULT_DATA (4u << 20)
#define SAMPLES_KEPT	16
#define UNSET_SIZE	UINT64_MAX

/* What is traced: COMMAND and its descendants, unless it is said otherwise. */
static void complete_scope(struct record_options *r)
{
	struct auxtrace_options *o = &r->session;

	if (r->all + !!r->pid + !!r->tid > 1)
		die(EXIT_USAGE, "-a, -p and -t exclude each other: what is to be traced?");
	if (r->cr3) {
		if (r->all || r->pid || r->tid)
			die(EXIT_USAGE, "--cr3 excludes -a, -p and -t: the CPU compares page tables, a scope follows threads");
		if (source_of(o->pmu)->no_filter)
			die(EXIT_USAGE, "--cr3: %s", source_of(o->pmu)->no_filter);
		o->flags |= AUXTRACE_SETUP_ADDRESS_SPACE;
		o->tid = r->cr3;
		r->scope = SCOPE_ALL;
		return;
	}
	if (r->pid || r->tid)
		r->scope = SCOPE_TASK;
	else
		r->scope = r->argv && !r->all ? SCOPE_COMMAND : SCOPE_ALL;
	if (r->tid)
		o->flags |= AUXTRACE_SETUP_THREAD;
	else if (r->scope != SCOPE_ALL)
		o->flags |= AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_DESCENDANTS;
	o->tid = r->tid ?: r->pid;
}

/*
 * The default size of the data ring: it must hold some of the samples that triggers take, or of the
 * switches; with a task scope each of these begins or ends a window.
 */
static void complete_data(struct record_options *r)
{
	struct auxtrace_options *o = &r->session;
	uint64_t samples = SAMPLES_KEPT * trigger_options_sample_size(&r->triggers);

	if (!o->data_size && r->switches)
		die(EXIT_USAGE, "--switches: they go to the data ring, of which --data-size 0 makes none");
	/* Where they would push out records of windows, perf has a ring of its own for them. */
	if (r->switches || (o->data_size == UNSET_SIZE && !(o->flags & AUXTRACE_SETUP_DATA_OVERWRITE)))
		o->records = AUXTRACE_WANT_DEFAULT | AUXTRACE_WANT_SWITCH;
	if (o->data_size != UNSET_SIZE)
		return;
	o->data_size = o->records || r->scope != SCOPE_ALL ? DATA_OF_SWITCHES : DEFAULT_DATA;
	while (o->data_size < samples && o->data_size < MAX_DEFAULT_DATA)
		o->data_size *= 2;
}

/* Code that is never traced, because the options exclude it, is a mistake. */
static void complete_filters(const struct record_options *r)
{
	const uint32_t which = r->session.flags & (AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL);
	const struct source *source = source_of(r->session.pmu);

	if (!r->filters.count)
		return;
	if (source->no_filter)
		die(EXIT_USAGE, "--filter %s: %s", r->filters.filter[0].text, source->no_filter);
	if (which == AUXTRACE_SETUP_USER && filters_have_kernel(&r->filters))
		die(EXIT_USAGE, "--filter: a filter names code of the kernel, of which -u traces nothing: leave out -u, or name a program by @ FILE");
	if (which == AUXTRACE_SETUP_KERNEL && filters_have_user(&r->filters))
		die(EXIT_USAGE, "--filter: a filter names code of a program, of which -k traces nothing: leave out -k");
}

/* Set defaults. --size and --data-size are of one slot: multiply them. */
static void complete(struct record_options *r)
{
	struct auxtrace_options *o = &r->session;
	const struct source *source = source_of(o->pmu);

	if (source->no_config && o->config && *o->config)
		die(EXIT_USAGE, "--config %s: %s", o->config, source->no_config);
	if (r->start_paused)
		o->flags |= r->triggers.count ? AUXTRACE_SETUP_TRIGGER_PAUSED : AUXTRACE_SETUP_PAUSED;
	if (r->start_paused && r->triggers.count && !trigger_options_have(&r->triggers, AUXTRACE_ACTION_RESUME))
		die(EXIT_USAGE, "--start-paused: no --on resumes, so that nothing would be traced");
	complete_scope(r);
	complete_filters(r);
	r->default_sizes = !o->aux_size && o->data_size == UNSET_SIZE;
	if (r->disk && !r->flight)
		die(EXIT_USAGE, "--disk bounds what snapshots take: it needs --snapshot");
	if (r->flight) {
		o->flags |= AUXTRACE_SETUP_OVERWRITE;
		if (!o->slots)
			o->slots = 2;
	}
	/* The record of a sample in a slot must not be overwritten before the slot is released. */
	if (o->flags & AUXTRACE_SETUP_OVERWRITE && !r->keep && o->data_size && !trigger_options_sample_size(&r->triggers))
		o->flags |= AUXTRACE_SETUP_DATA_OVERWRITE;
	complete_data(r);
	if (o->slots > 1) {
		if (!(o->flags & AUXTRACE_SETUP_OVERWRITE))
			die(EXIT_USAGE, "--slots is for snapshots of the newest data: it needs --overwrite or --snapshot");
		o->aux_size = (o->aux_size ?: DEFAULT_SIZE) * o->slots;
		if (o->flags & AUXTRACE_SETUP_DATA_OVERWRITE)
			o->data_size *= o->slots;
	}
}

static uint32_t parse_full(const char *text)
{
	if (!strcmp(text, "wait"))
		return 0;
	if (!strcmp(text, "auto"))
		return AUXTRACE_SETUP_FULL_AUTO;
	if (!strcmp(text, "stop"))
		return AUXTRACE_SETUP_FULL_STOP;
	die(EXIT_USAGE, "--full %s: it takes wait, auto or stop", text);
}

static void usage(FILE *f)
{
	fputs("usage: auxtrace record [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	      "       auxtrace record [OPTION]... -p PID | -t TID | --duration SECONDS | --control HOW\n\n"
	      "Trace COMMAND and its descendants, or what else is named, into a directory.\n\n"
	      "  -a, --all             trace all that the CPUs run (the default without COMMAND, -p\n"
	      "                        and -t), while COMMAND runs\n"
	      "  -p, --pid PID         trace process PID, and what it creates from now on; until all\n"
	      "                        of that has ended, or COMMAND has\n"
	      "  -t, --tid TID         trace this thread alone; ends likewise\n"
	      "  -C, --cpu LIST        CPUs, for example 0-3,5 (default: all online ones);\n"
	      "                        COMMAND runs on these, and auxtrace on others if there are\n"
	      "      --source SOURCE   pt: Intel PT (the default); bts: Branch Trace Store, which is\n"
	      "                        slower and knows time less well, but is in older CPUs too\n"
	      "  -o, --output DIR      directory of the recording (default: " DEFAULT_DIR ")\n"
	      "  -m, --size SIZE       bytes of AUX area for each CPU, a power of two (4M)\n"
	      "      --overwrite       the newest data wins: keep the last SIZE bytes of each CPU\n"
	      "  -S, --snapshot        flight recorder: --overwrite, and SIGUSR2 writes a snapshot to\n"
	      "                        DIR/snapshot.0001 and so on, while tracing continues\n"
	      "      --slots N         slots of SIZE bytes: at a snapshot tracing continues in another;\n"
	      "                        a power of two (with -S: 2; 1: pause all until it is written)\n"
	      "      --disk SIZE       with -S: after each snapshot the oldest go until the recording takes\n"
	      "                        at most SIZE; the newest stays\n"
	      "      --full HOW        when the area is full, wait: until auxtrace reads (the default);\n"
	      "                        auto: the kernel also checks for space each ms;\n"
	      "                        stop: stay off until SIGUSR1 or the command resume\n"
	      "      --watermark SIZE  wake the reader at this many bytes (default: half of -m)\n"
	      "      --data-size SIZE  bytes of data ring for each CPU: records of windows and\n"
	      "                        losses, switches (1M; 64K where new records replace the\n"
	      "                        oldest); 0: none\n"
	      "      --data-overwrite  new records replace the oldest (the default with --overwrite,\n"
	      "                        except where --on takes samples)\n"
	      "      --data-keep       keep unread records, also with --overwrite\n"
	      "      --data-backward   write the data ring from its end to its start\n"
	      "      --switches        record each context switch of a traced CPU in the data ring (the\n"
	      "                        default without --data-size, unless new records replace the\n"
	      "                        oldest); else perf records them, in a ring of its own\n"
	      "      --control HOW     take commands: fifo:CTL[,ACK], fd:CTL[,ACK], the path of a FIFO,\n"
	      "                        or the path of a socket to create. Commands, a line each:\n"
	      "                        pause, resume, snapshot, stop, status, ping (disable, enable)\n"
	      "  -e, --config TERMS    pt: perf's intel_pt terms, for example tsc,mtc,mtc_period=3\n"
	      "  -u, --user            trace user code only\n"
	      "  -k, --kernel          trace the kernel only (both or neither of -u -k: both)\n"
	      "      --filter FILTERS  trace some code only, in perf's syntax: 'filter main @ ./prog' (a\n"
	      "                        function of a program), 'filter do_sys_open' (of the kernel),\n"
	      "                        'filter START / END @ FILE', 'filter ADDRESS/SIZE'; tracestop for\n"
	      "                        filter: stop for good where that code would run. Again for more\n"
	      "      --cr3 PID         trace while the page tables of process PID are in use, by the\n"
	      "                        hardware: nothing is done at a context switch (see -p)\n"
	      "      --paused          start paused; SIGUSR1 to auxtrace resumes, SIGUSR2 pauses\n"
	      "                        (not with -S)\n"
	      "      --on EVENT=ACTION[,OPTION...]   when EVENT happens, do ACTION: resume, pause,\n"
	      "                        freeze, sample=SIZE. Events: auxtrace list. Options: pid=PID\n"
	      "                        (or pid=command), count=N, after=N, one-shot, all-cpus,\n"
	      "                        hold-off=TIME, delay=TIME|BYTES. Again for more\n"
	      "      --start-paused    with --on: an --on ...=resume begins; else as --paused\n"
	      "      --ptrace          follow the command by ptrace(2): it stops at each fork, exec and\n"
	      "                        exit (the default where perf does not report these)\n"
	      "      --no-ptrace       by perf's reports alone (the default also follows processes that\n"
	      "                        write a perf map, /tmp/perf-PID.map, to their end)\n"
	      "      --duration SEC    end after so many seconds; a command then gets SIGTERM\n"
	      "  -h, --help            this text\n\n"
	      "Exit status: the command's, 128 + N if signal\n"
	      "N killed it, 127 not found, 126 cannot be run, 125 auxtrace failed, 2 wrong usage.\n", f);
}

int record_options_parse(struct record_options *r, int argc, char **argv)
{
	enum {
		OVERWRITE = 256, WATERMARK, PAUSED, DURATION, SLOTS, FULL, DATA_SIZE, DATA_OVERWRITE,
		DATA_KEEP, DATA_BACKWARD, SWITCHES, CONTROL, ON, START_PAUSED, SOURCE, FILTER, CR3,
		DISK, PTRACE, NO_PTRACE,
	};
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "pid", required_argument, NULL, 'p' },
		{ "tid", required_argument, NULL, 't' },
		{ "cpu", required_argument, NULL, 'C' },
		{ "source", required_argument, NULL, SOURCE },
		{ "output", required_argument, NULL, 'o' },
		{ "size", required_argument, NULL, 'm' },
		{ "overwrite", no_argument, NULL, OVERWRITE },
		{ "snapshot", no_argument, NULL, 'S' },
		{ "slots", required_argument, NULL, SLOTS },
		{ "disk", required_argument, NULL, DISK },
		{ "full", required_argument, NULL, FULL },
		{ "watermark", required_argument, NULL, WATERMARK },
		{ "data-size", required_argument, NULL, DATA_SIZE },
		{ "data-overwrite", no_argument, NULL, DATA_OVERWRITE },
		{ "data-keep", no_argument, NULL, DATA_KEEP },
		{ "data-backward", no_argument, NULL, DATA_BACKWARD },
		{ "switches", no_argument, NULL, SWITCHES },
		{ "control", required_argument, NULL, CONTROL },
		{ "config", required_argument, NULL, 'e' },
		{ "user", no_argument, NULL, 'u' },
		{ "kernel", no_argument, NULL, 'k' },
		{ "filter", required_argument, NULL, FILTER },
		{ "cr3", required_argument, NULL, CR3 },
		{ "paused", no_argument, NULL, PAUSED },
		{ "on", required_argument, NULL, ON },
		{ "start-paused", no_argument, NULL, START_PAUSED },
		{ "ptrace", no_argument, NULL, PTRACE },
		{ "no-ptrace", no_argument, NULL, NO_PTRACE },
		{ "duration", required_argument, NULL, DURATION },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct auxtrace_options *o = &r->session;
	char *end;
	int c;

	*r = (struct record_options){
		.session = { .size = sizeof(r->session), .data_size = UNSET_SIZE },
		.dir = DEFAULT_DIR,
	};
	while ((c = getopt_long(argc, argv, "+ap:t:C:o:m:Se:ukh", options, NULL)) != -1) {
		switch (c) {
		case 'a':
			r->all = true;
			break;
		case 'p':
			r->pid = parse_number("--pid", optarg, 1, INT32_MAX);
			break;
		case 't':
			r->tid = parse_number("--tid", optarg, 1, INT32_MAX);
			break;
		case 'C':
			o->cpus = optarg;
			break;
		case SOURCE:
			o->pmu = source_parse(optarg)->pmu;
			break;
		case 'o':
			r->dir = optarg;
			break;
		case 'm':
			o->aux_size = parse_size("--size", optarg);
			break;
		case OVERWRITE:
			o->flags |= AUXTRACE_SETUP_OVERWRITE;
			break;
		case 'S':
			r->flight = true;
			break;
		case SLOTS:
			o->slots = parse_number("--slots", optarg, 1, AUXTRACE_MAX_SLOTS);
			break;
		case DISK:
			r->disk = parse_size("--disk", optarg);
			break;
		case FULL:
			o->flags &= ~(AUXTRACE_SETUP_FULL_AUTO | AUXTRACE_SETUP_FULL_STOP);
			o->flags |= parse_full(optarg);
			break;
		case DATA_SIZE:
			o->data_size = parse_size("--data-size", optarg);
			break;
		case DATA_OVERWRITE:
			o->flags |= AUXTRACE_SETUP_DATA_OVERWRITE;
			r->keep = false;
			break;
		case DATA_KEEP:
			o->flags &= ~AUXTRACE_SETUP_DATA_OVERWRITE;
			r->keep = true;
			break;
		case DATA_BACKWARD:
			o->flags |= AUXTRACE_SETUP_DATA_BACKWARD;
			break;
		case PTRACE:
			r->follow = FOLLOW_BY_PTRACE;
			break;
		case NO_PTRACE:
			r->follow = FOLLOW_BY_PERF;
			break;
		case SWITCHES:
			r->switches = true;
			break;
		case CONTROL:
			r->control = optarg;
			break;
		case WATERMARK:
			o->aux_watermark = parse_size("--watermark", optarg);
			break;
		case 'e':
			o->config = optarg;
			break;
		case 'u':
			o->flags |= AUXTRACE_SETUP_USER;
			break;
		case 'k':
			o->flags |= AUXTRACE_SETUP_KERNEL;
			break;
		case FILTER:
			filters_parse(&r->filters, optarg);
			break;
		case CR3:
			r->cr3 = parse_number("--cr3", optarg, 1, INT32_MAX);
			break;
		case PAUSED:
			o->flags |= AUXTRACE_SETUP_PAUSED;
			break;
		case ON:
			trigger_option_parse(&r->triggers, optarg);
			break;
		case START_PAUSED:
			r->start_paused = true;
			break;
		case DURATION:
			r->duration = strtod(optarg, &end);
			if (*end || !(r->duration > 0) || r->duration > 1e9)
				die(EXIT_USAGE, "--duration %s: it takes seconds, more than 0", optarg);
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
		r->argv = argv + optind;
	if (!r->argv && r->follow)
		die(EXIT_USAGE, "%s: only a COMMAND is followed by ptrace", r->follow == FOLLOW_BY_PTRACE ? "--ptrace" : "--no-ptrace");
	if (!r->argv && !r->pid && !r->tid && !r->duration && !r->control)
		die(EXIT_USAGE, "record what? Name a command, or -p PID, or --duration SECONDS, or --control");
	complete(r);
	return -1;
}
