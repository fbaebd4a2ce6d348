/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace as instructions and kernel functions. libipt decodes PT in the guest from the memory
 * of the running kernel (/proc/kcore) and of this process, so it must be called while the
 * probes and static keys that patched that memory are still in place. Of BTS only the
 * instructions are known at which a branch begins or ends, unless it hides the address.
 */
#ifndef VM_INSNS_H
#define VM_INSNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct insns {
	uint64_t *ip;
	uint8_t *size;		/* of each instruction's bytes; 0: not known (BTS) */
	size_t count;
	int error;		/* libipt's, or 0; 0 at the end of the trace */
	uint64_t error_ip;
};

/* Decode from the first place where decoding can begin; insns_free() the result. */
void insns_decode(struct insns *in, const void *data, size_t len);
/* The same for PT's trace, whichever trace PMU the tests use. */
void insns_decode_packets(struct insns *in, const void *data, size_t len);
void insns_free(struct insns *in);

/*
 * The function that holds @ip, and its module as "[name]", "" for the kernel's own. Valid until
 * symbols_forget(), which a change of what is loaded needs.
 */
const char *function_at(uint64_t ip);
const char *module_at(uint64_t ip);
void symbols_forget(void);
/* Was a function executed whose name matches @pattern by fnmatch(3)? */
bool insns_have(const struct insns *in, const char *pattern);
/* Print a line at each change of the function. */
void insns_print(const struct insns *in, const char *what);

#endif
