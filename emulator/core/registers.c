// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "registers.h"

static const struct msr_bank banks[] = {
#define X(name, first, n, part) { (first), (n), SLOT_##name, (part), #name },
	MSR_BANKS(X)
#undef X
};

const struct msr_bank *msr_bank_at(unsigned int index)
{
	return index < sizeof(banks) / sizeof(banks[0]) ? &banks[index] : NULL;
}

const struct msr_bank *msr_bank(uint32_t msr)
{
	const struct msr_bank *bank;

	for (unsigned int i = 0; (bank = msr_bank_at(i)); i++)
		if (msr - bank->first < bank->n)
			return bank;
	return NULL;
}
