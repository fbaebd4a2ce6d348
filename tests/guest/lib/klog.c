// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <sys/klog.h>

#include "klog.h"
#include "uapi.h"

#define READ_ALL	3	/* SYSLOG_ACTION_READ_ALL */

unsigned int klog_count(const char *text)
{
	static char log[1 << 18];
	int n = klogctl(READ_ALL, log, sizeof(log) - 1);
	unsigned int found = 0;

	assert_true(n >= 0);
	log[n] = 0;
	for (const char *at = log; (at = strstr(at, text)); at++)
		found++;
	return found;
}

uint64_t nmi_late_bound(void)
{
	return NMI_LATE_MS * at_info().out_clock_hz / 1000;
}
