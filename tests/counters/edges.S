/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A million branches of each kind that user space has, on a pseudo-random path, to
 * compare BTS with PT.
 */
	.globl _start
_start:	mov $200000, %ebx
	mov $1, %eax
	lea 4f(%rip), %r8
1:	imul $1103515245, %eax, %eax
	add $12345, %eax
	test $0x10000, %eax
	jz 2f
	nop
2:	call 3f
	jmp *%r8
4:	test $0x20000, %eax
	jnz 5f
	jmp 5f
5:	dec %ebx
	jnz 1b
	mov $39, %eax
	syscall
	mov $60, %eax
	xor %edi, %edi
	syscall
3:	ret
	.section .note.GNU-stack,"",@progbits
