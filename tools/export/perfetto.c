// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace for Perfetto: track events (protos/perfetto/trace/track_event). Processes, threads and CPUs are tracks;
 * calls are slices of their thread's track; on a CPU's track are the threads that it ran, and its windows and losses
 * as instants. Times are those of the kernel's clock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/call_threads.h"
#include "decode/functions.h"
#include "decode/view_text.h"
#include "file_limit.h"
#include "format.h"
#include "protobuf.h"

/* Fields of the messages, by Perfetto's names. */
enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT = 11, PACKET_INTERNED = 12,
       PACKET_SEQUENCE_FLAGS = 13, PACKET_TRACK_DESCRIPTOR = 60 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_TYPE = 9, EVENT_NAME_IID = 10, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME = 23 };
enum { INTERNED_EVENT_NAMES = 2 };
enum { INTERNED_IID = 1, INTERNED_NAME = 2 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

#define SEQUENCE	1

/*
 * perfetto.dev, "Visualising large traces": a browser gives the UI 2 GiB as a rule, and what it holds of a file is up to
 * four times as large as that.
 */
#define MAX_OF_BROWSER	(512u << 20)

/* Numbers of tracks: that of a CPU, of the thread with that index, of a process. */
#define CPU_TRACK(cpu)		(1ull << 32 | (cpu))
#define THREAD_TRACK(index)	(2ull << 32 | (index))
#define PROCESS_TRACK(pid)	(3ull << 32 | (pid))

struct cpu_track {
	unsigned int cpu;
	size_t thread;		/* whose slice is open, plus 1; 0: none */
	uint64_t ran;		/* TSC at which the thread was seen to run there last */
	uint64_t last;		/* ns of the last event */
	char *ends;		/* how the window that is shown ends; NULL: it has no record, or by a switch */
	uint64_t end_tsc;
};

struct perfetto {
	struct calls_sink sink;
	const struct meta *meta;
	FILE *out;
	struct functions functions;
	bool *named;		/* functions whose names the file has, by index */
	size_t nr_named;
	struct call_threads threads;
	uint64_t *last;		/* ns of each thread's last event */
	size_t nr_last;
	struct call_threads processes;	/* that have a track, as their first threads */
	struct cpu_track *cpu;
	size_t nr_cpus;
	bool begun;		/* the file has a packet */
	struct file_limit limit;
	struct protobuf trace, packet, event, inner, innermost;
};

static struct perfetto *of_sink(struct calls_sink *s)
{
	return (struct perfetto *)s;
}

/* ---- packets --------------------------------------------------------------------- */

/* p->packet has all but what every packet has. */
static void put_packet(struct perfetto *p)
{
	protobuf_number(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	protobuf_number(&p->packet, PACKET_SEQUENCE_FLAGS, p->begun ? NEEDS_STATE : STATE_CLEARED | NEEDS_STATE);
	p->begun = true;
	protobuf_message(&p->trace, TRACE_PACKET, &p->packet);
	fwrite(p->trace.data, 1, p->trace.size, p->out);
	file_limit_add(&p->limit, p->trace.size);
	p->trace.size = 0;
}

/* p->event has the name. */
static void put_event(struct perfetto *p, uint64_t track, unsigned int type, uint64_t ns)
{
	protobuf_number(&p->packet, PACKET_TIMESTAMP, ns);
	protobuf_number(&p->event, EVENT_TYPE, type);
	protobuf_number(&p->event, EVENT_TRACK, track);
	protobuf_message(&p->packet, PACKET_TRACK_EVENT, &p->event);
	put_packet(p);
}

/* p->inner has the members of the track. */
static void put_track(struct perfetto *p, uint64_t uuid, uint64_t parent)
{
	protobuf_number(&p->inner, TRACK_UUID, uuid);
	if (parent)
		protobuf_number(&p->inner, TRACK_PARENT, parent);
	protobuf_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->inner);
	put_packet(p);
}

/* ---- tracks ---------------------------------------------------------------------- */

static void add_process(struct perfetto *p, uint32_t pid, const char *name)
{
	const struct call call = { .known = true, .thread.tid = pid };
	size_t count = p->processes.count;

	if (call_threads_find(&p->processes, &call) < count)
		return;
	protobuf_number(&p->innermost, PROCESS_PID, pid);
	if (name)
		protobuf_string(&p->innermost, PROCESS_NAME, name);
	protobuf_message(&p->inner, TRACK_PROCESS, &p->innermost);
	put_track(p, PROCESS_TRACK(pid), 0);
}

static void add_thread(struct perfetto *p, size_t index)
{
	const struct call_thread *t = &p->threads.thread[index];
	uint32_t pid = t->pid ?: t->tid;
	char name[80];

	if (!t->known || !t->tid) {
		call_thread_name(t, name, sizeof(name));
		protobuf_string(&p->inner, TRACK_NAME, name);
		put_track(p, THREAD_TRACK(index), 0);
		return;
	}
	add_process(p, pid, t->comm);
	protobuf_number(&p->innermost, THREAD_PID, pid);
	protobuf_number(&p->innermost, THREAD_TID, t->tid);
	if (t->comm)
		protobuf_string(&p->innermost, THREAD_NAME, t->comm);
	protobuf_message(&p->inner, TRACK_THREAD, &p->innermost);
	put_track(p, THREAD_TRACK(index), PROCESS_TRACK(pid));
}

static size_t thread_of(struct perfetto *p, const struct call *call)
{
	size_t i = call_threads_find(&p->threads, call);

	for (; p->nr_last <= i; p->nr_last++) {
		p->last = xrealloc(p->last, (p->nr_last + 1) * sizeof(*p->last));
		p->last[p->nr_last] = 0;
		add_thread(p, p->nr_last);
	}
	return i;
}

static struct cpu_track *cpu_of(struct perfetto *p, unsigned int cpu)
{
	char name[32];

	for (size_t i = 0; i < p->nr_cpus; i++)
		if (p->cpu[i].cpu == cpu)
			return &p->cpu[i];
	p->cpu = xrealloc(p->cpu, (p->nr_cpus + 1) * sizeof(*p->cpu));
	p->cpu[p->nr_cpus] = (struct cpu_track){ .cpu = cpu };
	snprintf(name, sizeof(name), "CPU %u", cpu);
	protobuf_string(&p->inner, TRACK_NAME, name);
	put_track(p, CPU_TRACK(cpu), 0);
	return &p->cpu[p->nr_cpus++];
}

/* ---- events ---------------------------------------------------------------------- */

/* Not before the last event of the track: estimates of two CPUs may overlap where a thread goes to another. */
static uint64_t time_on(const struct perfetto *p, uint64_t tsc, uint64_t *last)
{
	uint64_t ns = 0;

	if (tsc)
		meta_clock(p->meta, tsc, &ns);
	if (ns > *last)
		*last = ns;
	return *last;
}

/* No thread is seen to run on the CPU any more. */
static void end_slice(struct perfetto *p, struct cpu_track *cpu, uint64_t tsc)
{
	if (!cpu->thread)
		return;
	put_event(p, CPU_TRACK(cpu->cpu), SLICE_END, time_on(p, tsc, &cpu->last));
	cpu->thread = 0;
}

/* The CPU runs that thread from @tsc on. */
static void runs(struct perfetto *p, unsigned int number, size_t thread, uint64_t tsc)
{
	struct cpu_track *cpu = cpu_of(p, number);
	char name[80];

	if (cpu->thread == thread + 1)
		return;
	/* It has left another CPU, which may have run nothing since. */
	for (size_t i = 0; i < p->nr_cpus; i++)
		if (p->cpu[i].thread == thread + 1)
			end_slice(p, &p->cpu[i], p->cpu[i].ran);
	end_slice(p, cpu, tsc);
	call_thread_name(&p->threads.thread[thread], name, sizeof(name));
	protobuf_string(&p->event, EVENT_NAME, name);
	put_event(p, CPU_TRACK(number), SLICE_BEGIN, time_on(p, tsc, &cpu->last));
	cpu->thread = thread + 1;
	cpu->ran = 0;
}

static void still_runs(struct perfetto *p, size_t thread, uint64_t tsc)
{
	for (size_t i = 0; i < p->nr_cpus; i++)
		if (p->cpu[i].thread == thread + 1 && tsc > p->cpu[i].ran)
			p->cpu[i].ran = tsc;
}

/* The name of a function is in the file once, in the packet that needs it first. */
static void name_event(struct perfetto *p, const struct call *call)
{
	const struct function *f = functions_find(&p->functions, call);

	protobuf_number(&p->event, EVENT_NAME_IID, f->index + 1);
	protobuf_string(&p->event, EVENT_CATEGORY, f->kernel ? "kernel" : "user");
	/* It comes to light by a return to it. */
	if (!call->begun && !call->how)
		protobuf_string(&p->event, EVENT_CATEGORY, "begun earlier");
	for (; p->nr_named <= f->index; p->nr_named++) {
		p->named = xrealloc(p->named, (p->nr_named + 1) * sizeof(*p->named));
		p->named[p->nr_named] = false;
	}
	if (p->named[f->index])
		return;
	p->named[f->index] = true;
	protobuf_number(&p->innermost, INTERNED_IID, f->index + 1);
	protobuf_string(&p->innermost, INTERNED_NAME, f->name ?: f->object ?: "[no symbol]");
	protobuf_message(&p->inner, INTERNED_EVENT_NAMES, &p->innermost);
	protobuf_message(&p->packet, PACKET_INTERNED, &p->inner);
}

static void perfetto_call_begins(struct calls_sink *s, struct call *call)
{
	struct perfetto *p = of_sink(s);
	size_t thread;

	/* A call without a time has no place. */
	if (!call->begin.tsc)
		return;
	thread = thread_of(p, call);
	runs(p, call->cpu, thread, call->begin.tsc);
	still_runs(p, thread, call->begin.tsc);
	name_event(p, call);
	put_event(p, THREAD_TRACK(thread), SLICE_BEGIN, time_on(p, call->begin.tsc, &p->last[thread]));
	call->own = p;
}

static void perfetto_call_ends(struct calls_sink *s, struct call *call)
{
	struct perfetto *p = of_sink(s);
	size_t thread;

	if (!call->own)
		return;
	thread = thread_of(p, call);
	still_runs(p, thread, call->end.tsc);
	put_event(p, THREAD_TRACK(thread), SLICE_END, time_on(p, call->end.tsc, &p->last[thread]));
}

static void put_instant(struct perfetto *p, unsigned int number, uint64_t tsc, const char *text)
{
	struct cpu_track *cpu = cpu_of(p, number);

	protobuf_string(&p->event, EVENT_NAME, text);
	put_event(p, CPU_TRACK(number), INSTANT, time_on(p, tsc, &cpu->last));
}

/* All of the window's calls have been shown: it ends, as by a trigger's freeze. */
static void end_window(struct perfetto *p, struct cpu_track *track)
{
	char *text = track->ends;

	end_slice(p, track, track->ran);
	if (!text)
		return;
	track->ends = NULL;
	put_instant(p, track->cpu, track->end_tsc, text);
	free(text);
}

static void perfetto_window(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t seq)
{
	const struct auxtrace_record_window *w = records_window(&f->records, seq);
	struct perfetto *p = of_sink(s);
	struct cpu_track *track;
	char *text;

	end_window(p, cpu_of(p, cpu));
	if (!w)
		return;
	/* A switch to a thread, or from it, is seen by its slice. */
	if (w->begin_time && w->begin_cause != AUXTRACE_CAUSE_TASK) {
		text = window_text(cpu, f, seq);
		put_instant(p, cpu, w->begin_time, text);
		free(text);
	}
	if (!w->end_time || w->end_cause == AUXTRACE_CAUSE_TASK)
		return;
	track = cpu_of(p, cpu);
	track->ends = window_end_text(f, w);
	track->end_tsc = w->end_time;
}

/* Losses are put at the last event of their CPU: they have no time of their own. */
static void perfetto_overflow(struct calls_sink *s, unsigned int cpu)
{
	put_instant(of_sink(s), cpu, 0, "overflow: the CPU lost packets");
}

static void perfetto_skip(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	(void)f, (void)ip, (void)cr3;
	put_instant(of_sink(s), cpu, 0, "skipped: code that is not in the recording");
}

static void perfetto_error(struct calls_sink *s, unsigned int cpu, uint64_t offset, uint64_t ip, const char *message)
{
	char text[200];

	(void)offset, (void)ip;
	snprintf(text, sizeof(text), "error: %s", message);
	put_instant(of_sink(s), cpu, 0, text);
}

static struct calls_sink *perfetto_begin(const struct export_request *request, FILE *out)
{
	struct perfetto *p = xcalloc(1, sizeof(*p));

	p->sink = (struct calls_sink){
		.begin = perfetto_call_begins, .end = perfetto_call_ends, .window = perfetto_window,
		.overflow = perfetto_overflow, .skip = perfetto_skip, .error = perfetto_error,
	};
	p->meta = request->meta;
	p->out = out;
	p->limit = (struct file_limit){
		.most = MAX_OF_BROWSER,
		.why = "ui.perfetto.dev needs up to four times as much memory, of which a browser gives it 2 GiB: trace_processor --httpd opens it beside the browser",
	};
	return &p->sink;
}

static void perfetto_end(struct calls_sink *sink)
{
	struct perfetto *p = of_sink(sink);

	for (size_t i = 0; i < p->nr_cpus; i++)
		end_window(p, &p->cpu[i]);
	functions_free(&p->functions);
	call_threads_free(&p->threads);
	protobuf_free(&p->trace);
	protobuf_free(&p->packet);
	protobuf_free(&p->event);
	protobuf_free(&p->inner);
	protobuf_free(&p->innermost);
	free(p->named);
	free(p->last);
	call_threads_free(&p->processes);
	free(p->cpu);
	free(p);
}

const struct export_format perfetto_format = {
	.name = "perfetto",
	.summary = "calls of each thread over time, for Perfetto",
	.begin = perfetto_begin,
	.end = perfetto_end,
};
