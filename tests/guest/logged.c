// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a program that uses libauxtrace in a VM with --exec-log: turns QEMU's
 * execution log on before START and off after STOP.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <auxtrace.h>

typedef int (*session_call)(struct auxtrace_session *session);

static session_call next(const char *name)
{
	session_call call = (session_call)dlsym(RTLD_NEXT, name);

	if (!call) {
		fprintf(stderr, "logged: %s\n", dlerror());
		abort();
	}
	return call;
}

static void host(const char *command)
{
	if (system(command)) {
		fprintf(stderr, "logged: '%s' failed\n", command);
		abort();
	}
}

int auxtrace_start(struct auxtrace_session *session)
{
	host("hostctl log-on");
	return next("auxtrace_start")(session);
}

int auxtrace_stop(struct auxtrace_session *session)
{
	int result = next("auxtrace_stop")(session);

	host("hostctl log-off");
	return result;
}
