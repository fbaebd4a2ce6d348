/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program with a known number of instructions and branches, including what could
 * be counted twice or not at all: faults within a block and within a repeated string
 * instruction, and a system call.
 *
 * Instructions: 5,501,291. Branches: 2,500,258.
 */
	.globl _start
_start:	mov $1000000, %ecx		/* 1 */
1:	nop				/* 4 x 1,000,000; branches 1,000,000 */
	nop
	dec %ecx
	jnz 1b
	mov $16384, %ecx		/* 3; its pages are not mapped yet */
	lea buf(%rip), %rdi
	rep stosb
	mov $500000, %ecx		/* 1 */
2:	call 3f				/* 3 x 500,000; all branches */
	loop 2b
	jmp 4f				/* 1; branches 1 */
3:	ret
4:	mov $256, %ecx			/* 2 */
	lea buf+65536(%rip), %rdi
5:	nop				/* 5 x 256; branches 256 */
	movb $1, (%rdi)			/* a page fault each time */
	add $4096, %rdi
	dec %ecx
	jnz 5b
	mov $60, %eax			/* 3; branches 1 */
	xor %edi, %edi
	syscall

	.bss
	.balign 4096
buf:	.skip 4096*300
	.section .note.GNU-stack,"",@progbits
