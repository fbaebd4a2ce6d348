// SPDX-License-Identifier: GPL-2.0-only
#include "machine.h"
#include "setup.h"

void setup_prepare(struct session *s)
{
	session_prepare(s, one_cpu, AUXTRACE_SETUP_USER, SETUP_AUX_SIZE);
}

void setup_ok(struct session *s)
{
	s->fd = at_open();
	ok_setup(s->fd, &s->setup);
	at_close(s->fd);
}

void setup_refuses(int err, struct session *wrong)
{
	struct session right;

	setup_prepare(&right);
	right.fd = at_open();
	fail_setup(err, right.fd, &wrong->setup);
	ok_setup(right.fd, &right.setup);
	at_close(right.fd);
}
