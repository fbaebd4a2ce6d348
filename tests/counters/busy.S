/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Firmware of 64 KiB that runs in real mode from the reset vector. It traces itself
 * into one ToPA region, which wraps when it is full, and branches forever. It needs
 * only memory; linked at 0xf0000.
 */
	.set	RTIT_OUTPUT_BASE, 0x560
	.set	RTIT_OUTPUT_MASK, 0x561
	.set	RTIT_CTL, 0x570
	.set	TABLE, 0x1000
	.set	REGION, 0x10000			/* 4 KiB */
	.set	ENTRY_END, 1
	.set	ENTRY_INT, 4
	.set	CTL, 0x2105			/* BranchEn, ToPA, OS, TraceEn */

	.macro	wrmsr_low msr, value
	movl	$\msr, %ecx
	movl	$\value, %eax
	xorl	%edx, %edx
	wrmsr
	.endm

	.code16
	.text
	.globl	_start
_start:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	movl	$REGION | ENTRY_INT, TABLE
	movl	$0, TABLE + 4
	movl	$TABLE | ENTRY_END, TABLE + 8
	movl	$0, TABLE + 12
	wrmsr_low RTIT_OUTPUT_BASE, TABLE
	wrmsr_low RTIT_OUTPUT_MASK, 0x7f
	wrmsr_low RTIT_CTL, CTL
	movw	$indirect, %bx
1:	incl	%eax
	testl	$5, %eax
	jz	1b
	jmp	*%bx
indirect:
	jmp	1b

	.org	0xfff0
	ljmp	$0xf000, $_start
	.org	0xffff
	.byte	0
