/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wrappers for kernel interfaces that differ between the kernels that auxtrace builds for. No
 * file outside this directory depends on the kernel's version. features.mk finds out which
 * interfaces the kernel's headers have.
 */
#ifndef AUXT_COMPAT_H
#define AUXT_COMPAT_H

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/kernel.h>	/* panic_notifier_list, in kernels without panic_notifier.h */
#include <linux/types.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#ifdef AUXT_HAVE_CPUID_API
# include <asm/cpuid/api.h>	/* cpuid_count(), formerly in asm/processor.h */
#endif
#ifdef AUXT_HAVE_PANIC_NOTIFIER
# include <linux/panic_notifier.h>
#endif

/*
 * MSR accesses that bypass paravirt and the msr tracepoints, so that an NMI may use them. The
 * kernel renamed them from wrmsrl to wrmsrq, and so on; both names are macros.
 */
static __always_inline u64 auxt_rdmsr(u32 msr)
{
	return __rdmsr(msr);
}

static __always_inline void auxt_wrmsr(u32 msr, u64 value)
{
#ifdef native_wrmsrq
	native_wrmsrq(msr, value);
#else
	__wrmsr(msr, lower_32_bits(value), upper_32_bits(value));
#endif
}

/* As above, for a write that may fault. Returns 0 or -EIO. */
static __always_inline int auxt_wrmsr_safe(u32 msr, u64 value)
{
#ifdef native_wrmsrq
	return native_write_msr_safe(msr, value) ? -EIO : 0;
#else
	return native_write_msr_safe(msr, lower_32_bits(value), upper_32_bits(value)) ? -EIO : 0;
#endif
}

/* Reads an MSR that may not exist. Task and interrupt context. Returns 0 or -EIO. */
static inline int auxt_rdmsr_safe(u32 msr, u64 *value)
{
#ifdef rdmsrq
	return rdmsrq_safe(msr, value) ? -EIO : 0;
#else
	unsigned long long v = 0;
	int err = rdmsrl_safe(msr, &v) ? -EIO : 0;

	*value = v;
	return err;
#endif
}

/*
 * Newer kernels made apic_read() and apic_write() static calls, whose trampolines are not
 * exported to modules. All kernels export the table of functions behind them.
 */
static __always_inline u32 auxt_apic_read(u32 reg)
{
	return apic->read(reg);
}

static __always_inline void auxt_apic_write(u32 reg, u32 value)
{
	apic->write(reg, value);
}

/* Likewise. In any context of a CPU that is crashing: it may break an IPI that it interrupts. */
static inline void auxt_apic_send_nmi(int cpu)
{
	apic->send_IPI(cpu, NMI_VECTOR);
}

/* Kernels that have helpers to change vm_flags do not allow assignments to it. */
static inline void auxt_vm_flags_mod(struct vm_area_struct *vma,
				     unsigned long set, unsigned long clear)
{
#ifdef AUXT_HAVE_VM_FLAGS_SET
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/*
 * Makes @file the file of a mapping. Call it as the last step of an ->mmap() that succeeds: in
 * kernels without vma_set_file(), an ->mmap() that failed after it would put the wrong file.
 */
static inline void auxt_vma_set_file(struct vm_area_struct *vma, struct file *file)
{
#ifdef AUXT_HAVE_VMA_SET_FILE
	vma_set_file(vma, file);
#else
	struct file *old = vma->vm_file;

	vma->vm_file = get_file(file);
	fput(old);
#endif
}

#endif /* AUXT_COMPAT_H */
