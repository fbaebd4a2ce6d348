/* SPDX-License-Identifier: GPL-2.0 */
/* What is traced, by auxtrace and perf alike: in the bits of perf's intel_pt format. */
#ifndef BENCH_CONFIG_H
#define BENCH_CONFIG_H

#define CONFIG_PT	(1ull << 0)
#define CONFIG_TSC	(1ull << 10)
#define CONFIG_BRANCH	(1ull << 13)
#define CONFIG		(CONFIG_PT | CONFIG_TSC | CONFIG_BRANCH)

#endif
