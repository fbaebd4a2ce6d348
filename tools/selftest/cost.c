// SPDX-License-Identifier: GPL-2.0-only
/* What requests and trace interrupts cost on this machine. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "lib/tool.h"
#include "traced.h"

#define PMI_AREA	(64u << 10)	/* of which half is the watermark */
#define PAGE		4096u
#define PIECE		10		/* of traced_work(): few bytes of trace */
#define MOST_PIECES	(1u << 20)

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median(uint64_t *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), by_size);
	return (double)values[n / 2];
}

/* A counter of this thread's cycles; -1 if perf has none, or not for this user. */
static int cycles_open(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
					.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Closes the counter. The cycles since cycles_open(); 0 if they were not counted all the time. */
static uint64_t cycles_close(int fd)
{
	struct {
		uint64_t count, enabled, running;
	} cycles = { 0 };

	if (fd < 0)
		return 0;
	if (read(fd, &cycles, sizeof(cycles)) != sizeof(cycles) || cycles.running != cycles.enabled)
		cycles.count = 0;
	close(fd);
	return cycles.count;
}

/* Ticks of the time-stamp counter around each call, the median of many; and how many cycles of the CPU one is */
static enum outcome request_cost(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE });
	unsigned int n = t->quick ? 200 : 5000;
	uint64_t *pauses, *resumes, *empty;
	struct auxtrace_status status = { .size = sizeof(status) };
	uint64_t begin, ticks, cycles;
	struct auxtrace_status_page page;
	bool good = true;
	int counter;

	if (!s)
		return traced_failed(NULL, "a session");
	pauses = xcalloc(n, sizeof(*pauses));
	resumes = xcalloc(n, sizeof(*resumes));
	empty = xcalloc(n, sizeof(*empty));
	counter = cycles_open();
	begin = __rdtsc();
	for (unsigned int i = 0; i < n && good; i++) {
		uint64_t at[4];

		at[0] = __rdtsc();
		good &= !auxtrace_pause(s);
		at[1] = __rdtsc();
		good &= !auxtrace_resume(s);
		at[2] = __rdtsc();
		good &= !auxtrace_status(s, 0, &status);
		at[3] = __rdtsc();
		pauses[i] = at[1] - at[0];
		resumes[i] = at[2] - at[1];
		empty[i] = at[3] - at[2];
	}
	ticks = __rdtsc() - begin;
	cycles = cycles_close(counter);
	if (good) {
		check_figure("pause", median(pauses, n), "ticks");
		check_figure("resume", median(resumes, n), "ticks");
		check_figure("status", median(empty, n), "ticks");
		if (cycles)
			check_figure("cycles per tick", (double)cycles / (double)ticks, "");
	}
	free(pauses);
	free(resumes);
	free(empty);
	if (!good || !traced_status(s, t, &page))
		return traced_failed(s, "a request");
	auxtrace_close(s);
	/* The scheduler ends windows as well. */
	if (page.pauses_done < n || page.resumes_done < n || page.windows <= n)
		return check_failed("of %u pauses and resumes %" PRIu64 " and %" PRIu64 " had an effect, in %" PRIu64 " windows", n,
				    (uint64_t)page.pauses_done, (uint64_t)page.resumes_done, (uint64_t)page.windows);
	return PASSED;
}

/* What is known of one trace interrupt */
struct interrupt {
	uint64_t late, ticks;
	const char *wrong;	/* NULL, or what it should not have done */
};

/*
 * Work in small pieces until the interrupt comes that tells of the watermark. The pieces before say how long one takes
 * without it. Returns 0, -1, or 1 if another thread ran meanwhile: the figures are not of the interrupt alone then.
 */
static int wait_for_interrupt(const struct selftest *t, struct auxtrace_session *s, struct interrupt *i)
{
	struct auxtrace_reader *reader = auxtrace_reader(s, t->cpu);
	bool others = traced_has_single_entry(s);
	struct auxtrace_status_page before, page;
	uint64_t least, mark, pieces[64], begin;
	unsigned int n = 0;

	if (!traced_status(s, t, &before))
		return -1;
	/* PT: the interrupt is at the end of a page. */
	least = before.consumed + PMI_AREA / 2;
	mark = (least + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	for (;;) {
		begin = __rdtsc();
		traced_work(PIECE);
		/* It is traced as well: the interrupt may come there. */
		if (auxtrace_reader_status(reader, &page))
			return -1;
		pieces[n % ARRAY_SIZE(pieces)] = __rdtsc() - begin;
		if (page.pmis != before.pmis && (page.produced >= least || page.windows != before.windows || !others))
			break;
		/* One of another region: those that come are counted from here on. */
		before.pmis = page.pmis;
		if (++n == MOST_PIECES) {
			errno = ETIME;
			return -1;
		}
	}
	i->wrong = NULL;
	if (page.windows != before.windows || !n)
		return 1;
	if (page.produced < least)
		i->wrong = "it came before half of the area was to be read";
	else if (page.pmis != before.pmis + 1)
		i->wrong = "it was handled more than once";
	else if (page.gaps != before.gaps)
		i->wrong = "trace was lost though half of the area was free";
	i->late = page.produced > mark ? page.produced - mark : 0;
	i->ticks = pieces[n % ARRAY_SIZE(pieces)];
	if (n > ARRAY_SIZE(pieces))
		n = ARRAY_SIZE(pieces);
	begin = (uint64_t)median(pieces, n);
	i->ticks = i->ticks > begin ? i->ticks - begin : 0;
	return 0;
}

/* Read all, so that the next interrupt is half of the area away. */
static bool read_all(const struct selftest *t, struct auxtrace_session *s)
{
	struct auxtrace_reader *reader = auxtrace_reader(s, t->cpu);
	struct auxtrace_status_page page;
	struct auxtrace_spans spans;

	return !auxtrace_pause(s) && traced_status(s, t, &page) && !auxtrace_reader_peek(reader, &spans) &&
	       !auxtrace_reader_consume(reader, spans.len) && traced_status(s, t, &page) && !auxtrace_resume(s);
}

static enum outcome interrupts(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .aux_size = PMI_AREA });
	unsigned int want = t->quick ? 20 : 300, n = 0, disturbed = 0;
	uint64_t *late, *ticks;
	enum outcome outcome = PASSED;

	if (!s)
		return traced_failed(NULL, "a session");
	late = xcalloc(want, sizeof(*late));
	ticks = xcalloc(want, sizeof(*ticks));
	while (outcome == PASSED && n < want) {
		struct interrupt i;
		int ret = read_all(t, s) ? wait_for_interrupt(t, s, &i) : -1;

		if (ret < 0 && errno == ETIME)
			outcome = check_failed("no trace interrupt came though half of the area is unread");
		else if (ret < 0)
			outcome = check_failed("a trace interrupt: %s", auxtrace_error());
		else if (ret && ++disturbed > 10 * want)
			outcome = check_skipped("other threads run here all the time");
		else if (!ret && i.wrong)
			outcome = check_failed("interrupt %u: %s", n + 1, i.wrong);
		if (ret)
			continue;
		late[n] = i.late;
		ticks[n++] = i.ticks;
	}
	auxtrace_close(s);
	if (outcome == PASSED) {
		check_figure("interrupts", n, "");
		check_figure("skid", median(late, n), "bytes");
		check_figure("longest skid", (double)late[n - 1], "bytes");
		check_figure("cost", median(ticks, n), "ticks");
	}
	free(late);
	free(ticks);
	return outcome;
}

const struct check cost_checks[] = {
	{ "interrupt", "when half of the area is to be read, a trace interrupt says so", false, interrupts },
	{ "cost", "a pause and a resume of this CPU take so long", false, request_cost },
	{ 0 },
};
