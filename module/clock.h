/* SPDX-License-Identifier: GPL-2.0 */
/* From the TSC of a trace to perf's clock. */
#ifndef AUXT_CLOCK_H
#define AUXT_CLOCK_H

struct auxtrace_info;

void auxt_clock_describe(struct auxtrace_info *info);

#endif /* AUXT_CLOCK_H */
