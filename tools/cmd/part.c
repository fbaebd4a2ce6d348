// SPDX-License-Identifier: GPL-2.0
#include "part.h"

const char part_usage[] =
	"  -C, --cpu N           this CPU only\n"
	"  -w, --window N        this window only (each CPU's own number N)\n"
	"  -t, --tid N           this thread only\n"
	"      --time A,B        from A to B only, in seconds as script shows them, or as\n"
	"                        freeze-2ms, before an event froze it; either may be empty\n"
	"      --function F      calls of function F only, NAME or NAME@FILE, and what is inside\n"
	"      --max-depth N     so many calls deep\n"
	"      --symfs DIR       the traced programs' files are below DIR\n";

void part_begin(struct part *p)
{
	*p = (struct part){ .replay = { .cpu = -1 }, .symfs = "" };
}

bool part_option(struct part *p, int c, const char *arg)
{
	switch (c) {
	case 'C':
		p->replay.cpu = parse_number("--cpu", arg, 0, MAX_CPU);
		break;
	case 'w':
		p->replay.window = parse_number("--window", arg, 1, UINT64_MAX);
		break;
	case 't':
		p->cut.tid = parse_number("--tid", arg, 1, INT32_MAX);
		p->of_calls = true;
		break;
	case PART_TIME:
		p->time = arg;
		p->of_calls = true;
		break;
	case PART_FUNCTION:
		p->cut.function = arg;
		p->of_calls = true;
		break;
	case PART_DEPTH:
		p->cut.depth = parse_number("--max-depth", arg, 1, UINT32_MAX);
		p->of_calls = true;
		break;
	case PART_SYMFS:
		p->symfs = arg;
		break;
	default:
		return false;
	}
	p->given = true;
	return true;
}

void part_open(struct part *p, const char *dir)
{
	must(replay_open(&p->replay, dir, p->symfs));
	if (p->time)
		calls_cut_time(&p->cut, p->time, dir, p->replay.meta);
}

void part_calls(struct part *p, struct calls_sink *sink)
{
	struct calls *calls = calls_begin(sink, &p->cut);

	p->replay.by_time = true;
	replay_run(&p->replay, calls_view_of_cpu, calls);
	calls_end(calls);
}
