/* SPDX-License-Identifier: GPL-2.0 */
/* PTWRITE in its four forms, 64 and 32 bits, of a register and of memory. */
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
