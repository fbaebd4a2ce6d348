// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes the file `meta`; its format is in auxtrace-recording(5). */
#include <errno.h>
#include <inttypes.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "internal.h"
#include "recording.h"
#include "recording_dir.h"
#include "trace_pmu.h"

#define FORMAT_VERSION	1

static void write_machine(FILE *f, const struct auxtrace_session *s)
{
	const struct auxtrace_info *info = &s->info;
	struct auxtrace_cap_x86 cpu;
	struct utsname uts;

	capability_get(s, AUXTRACE_CAP_X86, &cpu, sizeof(cpu));
	if (!uname(&uts))
		fprintf(f, "release %s\n", uts.release);
	fprintf(f, "cpu_family %u\ncpu_model %u\ncpu_stepping %u\n", cpu.family,
		cpu.model, cpu.stepping);
	fprintf(f, "tsc_art_num %u\ntsc_art_den %u\nmax_nonturbo_ratio %u\n",
		cpu.tsc_art_num, cpu.tsc_art_den, cpu.max_nonturbo_ratio);
	fprintf(f, "tsc_khz %" PRIu64 "\ntime_shift %u\ntime_mult %u\ntime_zero %" PRIu64 "\n",
		(uint64_t)info->out_clock_hz / 1000, info->out_time_shift, info->out_time_mult,
		(uint64_t)info->out_time_zero);
}

struct field {
	const char *key;
	uint64_t value;
};

static void write_fields(FILE *f, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(f, " %s %" PRIu64, fields[i].key, fields[i].value);
}
#define WRITE_FIELDS(f, fields) write_fields(f, fields, ARRAY_SIZE(fields))

/* What the files of a stream hold. */
static void write_stream(FILE *f, const struct stream *stream)
{
	const struct field data[] = {
		{ "data_begin", stream->data_begin }, { "data_read", stream->data_read },
		{ "records", stream->records },
	};

	fprintf(f, "cpu %u begin %" PRIu64 " read %" PRIu64, stream->reader->cpu, stream->begin,
		stream->aux.size);
	if (stream->aux.pad)
		fprintf(f, " pad %u", stream->aux.pad);
	if (stream->data)
		WRITE_FIELDS(f, data);
	if (stream->samples)
		fprintf(f, " sample_bytes %" PRIu64, stream->sample_bytes);
}

static void write_cut(FILE *f, const struct auxtrace_cut *cut)
{
	const struct field fields[] = {
		{ "produced", cut->aux_end }, { "windows", cut->window }, { "tsc", cut->time },
		{ "slot", cut->slot }, { "inhibit", cut->inhibit },
	};

	WRITE_FIELDS(f, fields);
}

static void write_page(FILE *f, const struct auxtrace_status_page *p)
{
	const struct field fields[] = {
		{ "produced", p->produced }, { "overwritten", p->overwritten },
		{ "windows", p->windows }, { "window_begin", p->window_begin },
		{ "window_begin_tsc", p->window_begin_time }, { "window_end", p->window_end },
		{ "window_end_tsc", p->window_end_time }, { "pauses_asked", p->pauses_asked },
		{ "pauses_done", p->pauses_done }, { "resumes_asked", p->resumes_asked },
		{ "resumes_done", p->resumes_done }, { "pmis", p->pmis }, { "gaps", p->gaps },
		{ "gaps_full", p->gaps_full }, { "gaps_error", p->gaps_error },
		{ "gaps_offline", p->gaps_offline }, { "bad_tails", p->bad_tails },
		{ "consumed", p->consumed }, { "snapshots", p->snapshots },
	};
	const struct field data[] = {
		{ "data_records", p->data_records }, { "data_lost", p->data_lost },
		{ "data_overwritten", p->data_overwritten }, { "data_bad_tails", p->data_bad_tails },
	};

	WRITE_FIELDS(f, fields);
	if (p->data_size)
		WRITE_FIELDS(f, data);
}

static int write_cpu(FILE *f, const struct stream *stream, const struct auxtrace_cut *cut,
		     struct auxtrace_totals *totals)
{
	bool overwrite = stream->reader->session->setup.flags & AUXTRACE_SETUP_OVERWRITE;
	struct auxtrace_status_page page;

	write_stream(f, stream);
	if (cut) {
		write_cut(f, cut);
	} else {
		if (auxtrace_reader_status(stream->reader, &page))
			return -1;
		write_page(f, &page);
		totals->produced += page.produced;
		totals->read += stream->aux.size;
		totals->overwritten += page.overwritten;
		totals->windows += page.windows;
		totals->gaps += page.gaps;
		totals->pmis += page.pmis;
		totals->retained += overwrite ? page.consumed : 0;
		totals->records += stream->records;
		totals->records_lost += page.data_lost;
	}
	putc('\n', f);
	return 0;
}

static bool all_direct(const struct files *files)
{
	for (unsigned int i = 0; i < files->nr_streams; i++)
		if (!files->streams[i].aux.direct)
			return false;
	return true;
}

int write_meta(const struct auxtrace_recording *rec, struct files *files,
	       const struct auxtrace_cut *cuts, struct auxtrace_totals *totals)
{
	const struct auxtrace_session *s = rec->session;
	const struct instant now = instant_now();
	const struct trace_pmu *pmu = trace_pmu_of(s->setup.pmu);
	FILE *f = recording_file(files->dirfd, "meta");
	char terms[256];
	int ret = 0, err;

	if (!f)
		return -1;
	auxtrace_config_format(s->setup.config, terms, sizeof(terms));
	fprintf(f, "auxtrace_recording %u\nabi %u\npmu %u\n", FORMAT_VERSION, AUXTRACE_ABI_VERSION,
		s->setup.pmu);
	write_machine(f, s);
	fprintf(f, "mono_begin %" PRIu64 " %" PRIu64 "\nmono_end %" PRIu64 " %" PRIu64 "\n", rec->begin.tsc,
		rec->begin.mono_ns, now.tsc, now.mono_ns);
	fprintf(f, "config %#" PRIx64 "\nterms %s\nflags %#x\naux_size %" PRIu64 "\nslots %u\naux_write %s\n",
		(uint64_t)s->setup.config, terms, s->setup.flags, (uint64_t)s->setup.aux_size,
		session_slots(s), aux_writer_how(rec->writer, all_direct(files)));
	for (unsigned int i = 0; i < s->setup.nr_filters; i++)
		fprintf(f, "filter %s %#" PRIx64 " %#" PRIx64 "\n",
			s->filters[i].action == AUXTRACE_FILTER_STOP ? "stop" : "trace",
			(uint64_t)s->filters[i].first, (uint64_t)s->filters[i].last);
	if (pmu->write_meta)
		pmu->write_meta(f, s);
	if (s->setup.data_size)
		fprintf(f, "data_size %" PRIu64 "\n", (uint64_t)s->setup.data_size);
	if (cuts)
		fprintf(f, "snapshot %u\nkcore_tsc %" PRIu64 "\n", rec->snapshots + 1, rec->kcore_time);
	if (task_list_forgotten(rec->tasks))
		fprintf(f, "tasks_forgotten %zu\n", task_list_forgotten(rec->tasks));
	ret = triggers_write(f, rec->session);
	for (unsigned int i = 0; !ret && i < files->nr_streams; i++)
		ret = write_cpu(f, &files->streams[i], cuts ? &cuts[i] : NULL, totals);
	err = errno;
	if (recording_file_close(f, "meta")) {
		err = errno;
		ret = -1;
	}
	/* A directory with this file counts as a complete recording. */
	if (ret)
		unlinkat(files->dirfd, "meta", 0);
	errno = err;
	return ret ? -1 : 0;
}
