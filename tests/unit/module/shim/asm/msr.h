/* SPDX-License-Identifier: GPL-2.0-only */
/* No MSRs here: the trace PMU is the test's. */
