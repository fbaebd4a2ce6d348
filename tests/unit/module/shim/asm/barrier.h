/* SPDX-License-Identifier: GPL-2.0 */
/* As <linux/kernel.h> has them. */
