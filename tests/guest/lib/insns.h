/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace as instructions and kernel functions. That of PT is decoded in the guest by libipt
 * from the memory of the running kernel (/proc/kcore) and of this process: to be used while
 * what patched that memory (probes, static keys) still does. Of BTS only the instructions
 * are known at which its branches begin and end, but for those that it hides.
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

/* Decode from where one can begin; insns_free() it. */
void insns_decode(struct insns *in, const void *data, size_t len);
/* The same of Intel PT's trace, whichever the tests use. */
void insns_decode_packets(struct insns *in, const void *data, size_t len);
void insns_free(struct insns *in);

/* The function that holds @ip, and its module as "[name]", "" for the kernel's own. */
const char *function_at(uint64_t ip);
const char *module_at(uint64_t ip);
/* Is any of the functions executed whose names match @pattern, as by fnmatch(3)? */
bool insns_have(const struct insns *in, const char *pattern);
/* Prints the functions, one line each time that it changes. */
void insns_print(const struct insns *in, const char *what);

#endif
