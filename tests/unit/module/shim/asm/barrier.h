/* SPDX-License-Identifier: GPL-2.0-only */
/* As <linux/kernel.h> has them. */
