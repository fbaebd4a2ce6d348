/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between the kernels that auxtrace builds for: own names over
 * whatever this kernel calls it. Nothing outside this directory asks which
 * kernel it is; features.mk asks the headers.
 */
#ifndef AUXT_COMPAT_H
#define AUXT_COMPAT_H

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/kernel.h>	/* panic_notifier_list, before it got its own header */
#include <linux/types.h>
#include <asm/apic.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#ifdef AUXT_HAVE_CPUID_API
# include <asm/cpuid/api.h>	/* cpuid_count() moved there */
#endif
#ifdef AUXT_HAVE_PANIC_NOTIFIER
# include <linux/panic_notifier.h>
#endif

/*
 * MSR accesses that neither paravirt nor the msr tracepoints see: an NMI may use
 * them. The kernel renamed its forms from "l" to "q"; both are macros.
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

/* As above, for writes that may fault: 0 or a negative errno. */
static __always_inline int auxt_wrmsr_safe(u32 msr, u64 value)
{
#ifdef native_wrmsrq
	return native_write_msr_safe(msr, value) ? -EIO : 0;
#else
	return native_write_msr_safe(msr, lower_32_bits(value), upper_32_bits(value)) ? -EIO : 0;
#endif
}

/* Task and interrupt context: an MSR that may not exist. */
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
 * apic_read() and apic_write() became static calls whose trampolines are not
 * exported; the table behind them is, everywhere.
 */
static __always_inline u32 auxt_apic_read(u32 reg)
{
	return apic->read(reg);
}

static __always_inline void auxt_apic_write(u32 reg, u32 value)
{
	apic->write(reg, value);
}

/* vm_flags may only be changed through helpers where those exist. */
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
 * Makes the mapping one of @file. Only as the last step of a successful ->mmap():
 * where vma_set_file() is missing, a failing mmap would put the wrong file.
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
