/* SPDX-License-Identifier: GPL-2.0 */
/* Needed for its name only. */
