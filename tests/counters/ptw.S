/* SPDX-License-Identifier: GPL-2.0-only */
/* The four forms of PTWRITE: 64 and 32 bits, from a register and from memory. */
	.globl _start
_start:	mov $0x1122334455667788, %rax
	ptwriteq %rax
	ptwritel %eax
	ptwriteq value(%rip)
	ptwritel value(%rip)
	mov $60, %eax
	xor %edi, %edi
	syscall
	.data
value:	.quad 0xcafebabedeadbeef
	.section .note.GNU-stack,"",@progbits
