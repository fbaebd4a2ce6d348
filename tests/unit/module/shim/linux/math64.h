/* SPDX-License-Identifier: GPL-2.0-only */
/* Needed for its name only. */
