// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "followed.h"
#include "tool.h"

static const char *const by_name[] = { [FOLLOWED_BY_PERF] = "perf", [FOLLOWED_BY_PTRACE] = "ptrace" };

int followed_write(const struct followed *by, const char *dir)
{
	char path[4200];
	FILE *f;
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/followed", dir);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	ok = f;
	if (ok) {
		if (by->by)
			fprintf(f, "command %s\n", by_name[by->by]);
		if (by->reports)
			fprintf(f, "reports_lost %lu\ncpus_came %lu\nsleeps %lu\ngenerated_lost %lu\nperf_maps_lost %lu\n", by->reports_lost,
				by->cpus_came, by->sleeps, by->generated_lost, by->perf_maps_lost);
		ok = !ferror(f);
		ok = !fclose(f) && ok;
	}
	if (ok)
		return 0;
	say("cannot write %s: %s", path, strerror(errno));
	return -1;
}

static void take(struct followed *f, const char *key, const char *value)
{
	unsigned long *const number = !strcmp(key, "reports_lost") ? &f->reports_lost :
				      !strcmp(key, "cpus_came") ? &f->cpus_came :
				      !strcmp(key, "sleeps") ? &f->sleeps :
				      !strcmp(key, "generated_lost") ? &f->generated_lost :
				      !strcmp(key, "perf_maps_lost") ? &f->perf_maps_lost : NULL;

	if (number) {
		f->reports = true;
		*number = strtoul(value, NULL, 10);
	} else if (!strcmp(key, "command")) {
		f->by = !strcmp(value, "ptrace") ? FOLLOWED_BY_PTRACE : FOLLOWED_BY_PERF;
	}
}

void followed_read(struct followed *f, const char *dir)
{
	char path[4200], line[128], *value;
	FILE *in;

	*f = (struct followed){ 0 };
	snprintf(path, sizeof(path), "%s/followed", dir);
	in = open_text(path);
	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = 0;
		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = 0;
		take(f, line, value);
	}
	if (in)
		fclose(in);
}

void followed_say(const struct followed *f)
{
	if (f->reports_lost)
		say("perf lost %lu records about processes: some code may be unknown", f->reports_lost);
	if (f->cpus_came)
		say("CPUs came online %lu times, and perf's reports of them began later: processes, BPF programs and changes of the kernel's code of the time between may be unknown",
		    f->cpus_came);
	if (f->sleeps)
		say("the machine slept %lu times, in which perf's clock stood still: by when the side files' records are, those behind a sleep come too early, and who ran may be wrong there",
		    f->sleeps);
	if (f->generated_lost)
		say("%lu BPF programs or trampolines were gone before their code could be read: what ran there may not decode",
		    f->generated_lost);
	if (f->perf_maps_lost)
		say("%lu processes that name code by a perf map ended before it could be read: what ran there may not decode; record --ptrace reads it",
		    f->perf_maps_lost);
}
