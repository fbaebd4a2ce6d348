// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include <Zydis/Zydis.h>

#include "insn.h"

static bool is_wrmsrns(const uint8_t *bytes, size_t size)
{
	static const uint8_t wrmsrns[] = { 0x0f, 0x01, 0xc6 };

	return size >= sizeof(wrmsrns) && !memcmp(bytes, wrmsrns, sizeof(wrmsrns));
}

/*
 * Instructions that this version of Zydis does not know: 0F 01 CA with one of these prefixes
 * is a return by FRED (ERETU, ERETS), 0F 01 C6 without prefix writes an MSR (WRMSRNS).
 */
static bool decode_new(struct insn *insn, const uint8_t *bytes, size_t size)
{
	static const uint8_t eret[] = { 0x0f, 0x01, 0xca };

	if (size >= 4 && (bytes[0] == 0xf2 || bytes[0] == 0xf3) && !memcmp(bytes + 1, eret, sizeof(eret))) {
		insn->pt.iclass = ptic_far_return;
		insn->pt.size = 4;
	} else if (is_wrmsrns(bytes, size)) {
		insn->pt.iclass = ptic_other;
		insn->pt.size = 3;
		insn->may_stop = true;
	} else {
		return false;
	}
	return true;
}

static enum pt_insn_class class_of(const ZydisDecodedInstruction *zi)
{
	bool far = zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	switch (zi->mnemonic) {
	/* Their categories are those of branches. They go on, or there is an exception or an abort. */
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_XABORT:
	case ZYDIS_MNEMONIC_BOUND:
		return ptic_other;
	case ZYDIS_MNEMONIC_UIRET:
		return ptic_far_return;
	case ZYDIS_MNEMONIC_PTWRITE:
		return ptic_ptwrite;
	default:
		break;
	}
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return far ? ptic_far_call : ptic_call;
	case ZYDIS_CATEGORY_RET:
		/* IRET is in this category, too. It has no branch type, and is a far return. */
		return far || zi->meta.branch_type == ZYDIS_BRANCH_TYPE_NONE ? ptic_far_return : ptic_return;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return far ? ptic_far_jump : ptic_jump;
	case ZYDIS_CATEGORY_COND_BR:
		return ptic_cond_jump;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return ptic_far_call;
	case ZYDIS_CATEGORY_SYSRET:
		return ptic_far_return;
	default:
		return ptic_other;
	}
}

static bool may_stop(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_WRMSR || mnemonic == ZYDIS_MNEMONIC_VMLAUNCH ||
	       mnemonic == ZYDIS_MNEMONIC_VMRESUME || mnemonic == ZYDIS_MNEMONIC_VMRUN;
}

static enum insn_special special_of(const ZydisDecodedInstruction *zi)
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		/* To a control register, with the number in the field reg */
		return zi->opcode_map == ZYDIS_OPCODE_MAP_0F && zi->opcode == 0x22 && zi->raw.modrm.reg == 3 ?
			       INSN_MOVES_TO_CR3 : INSN_PLAIN;
	case ZYDIS_MNEMONIC_VMPTRLD:
		return INSN_LOADS_VMCS;
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
		return INSN_ENTERS_VM;
	case ZYDIS_MNEMONIC_VMCALL:
		return INSN_CALLS_VMM;
	default:
		return INSN_PLAIN;
	}
}

static const ZydisDecoder *decoder_of(enum pt_exec_mode mode)
{
	/* Each thread has its own, and fills them in when it first decodes. */
	static __thread ZydisDecoder decoders[3];
	ZydisDecoder *d = &decoders[mode == ptem_64bit ? 0 : mode == ptem_32bit ? 1 : 2];

	if (!d->stack_width) {
		if (mode == ptem_64bit)
			ZydisDecoderInit(d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		else if (mode == ptem_32bit)
			ZydisDecoderInit(d, ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32);
		else
			ZydisDecoderInit(d, ZYDIS_MACHINE_MODE_LONG_COMPAT_16, ZYDIS_STACK_WIDTH_16);
	}
	return d;
}

bool insn_decode(struct insn *insn, enum pt_exec_mode mode, uint64_t ip, const uint8_t *bytes,
		 size_t size)
{
	ZydisDecodedInstruction zi;

	*insn = (struct insn){ .pt = { .ip = ip, .mode = mode, .iclass = ptic_error } };
	if (size > INSN_MAX)
		size = INSN_MAX;
	if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder_of(mode), NULL, bytes, size, &zi))) {
		insn->pt.size = zi.length;
		insn->pt.iclass = class_of(&zi);
		insn->special = special_of(&zi);
		insn->interrupt = zi.meta.category == ZYDIS_CATEGORY_INTERRUPT && insn->pt.iclass == ptic_far_call;
		insn->begins_tx = zi.mnemonic == ZYDIS_MNEMONIC_XBEGIN;
		/* Zydis 4.1 knows WRMSRNS, by a name that 4.0 does not have. */
		insn->may_stop = may_stop(zi.mnemonic) || is_wrmsrns(bytes, size);
		if (zi.raw.imm[0].is_relative) {
			insn->target = ip + zi.length + zi.raw.imm[0].value.s;
			if (mode != ptem_64bit)
				insn->target &= UINT32_MAX;
			insn->direct = !insn->begins_tx;
		}
	} else if (!decode_new(insn, bytes, size)) {
		return false;
	}
	memcpy(insn->pt.raw, bytes, insn->pt.size);
	return true;
}
