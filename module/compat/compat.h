/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wrappers for kernel interfaces that differ between the kernels that auxtrace builds for. No
 * file outside this directory depends on the kernel's version. features.mk finds out which
 * interfaces the kernel's headers have.
 */
#ifndef AUXT_COMPAT_H
#define AUXT_COMPAT_H

#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/kernel.h>	/* panic_notifier_list, in kernels without panic_notifier.h */
#include <linux/types.h>
#include <asm/apic.h>
#include <asm/asm.h>
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
 * MSR accesses that an NMI may make. The kernel's own are paravirt calls, or run the msr
 * tracepoints, as its native_write_msr_safe() does too; programs attached to those could reach
 * this code again. __rdmsr() is free of both.
 */
static __always_inline u64 auxt_rdmsr(u32 msr)
{
	return __rdmsr(msr);
}

/*
 * Always WRMSR, which serializes as the SDM demands around TraceEn. The kernel's functions may
 * become WRMSRNS, which does not. Returns 0, or -EIO if the write faults.
 */
static __always_inline int auxt_wrmsr(u32 msr, u64 value)
{
	asm goto("1: wrmsr\n"
		 _ASM_EXTABLE(1b, %l[fault])
		 : : "c" (msr), "a" (lower_32_bits(value)), "d" (upper_32_bits(value))
		 : "memory" : fault);
	return 0;
fault:
	return -EIO;
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
 * exported to modules. All kernels export the table of functions behind them. In x2APIC mode these
 * functions run the msr tracepoints, also where perf's NMI handler calls them.
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

/* May the caller do @mask, MAY_READ for instance, with what is at @path? 0 or a negative errno. */
static inline int auxt_path_permission(const struct path *path, int mask)
{
#ifdef AUXT_HAVE_PATH_PERMISSION
	return path_permission(path, mask);
#else
	return inode_permission(d_inode(path->dentry), mask);
#endif
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
