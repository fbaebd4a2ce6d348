/* SPDX-License-Identifier: GPL-2.0-only */
/* The test calls the handlers. */
#ifndef SHIM_ASM_NMI_H
#define SHIM_ASM_NMI_H

#define NMI_DONE	0
#define NMI_HANDLED	1
#define NMI_FLAG_FIRST	1

enum { NMI_LOCAL, NMI_UNKNOWN };

struct pt_regs;
typedef int (*nmi_handler_t)(unsigned int type, struct pt_regs *regs);

int register_nmi_handler(unsigned int type, nmi_handler_t handler, unsigned long flags,
			 const char *name);
void unregister_nmi_handler(unsigned int type, const char *name);

#endif /* SHIM_ASM_NMI_H */
