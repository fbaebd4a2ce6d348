// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "tool.h"

uint64_t parse_size(const char *option, const char *text)
{
	unsigned int shift = 0;
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 0);
	switch (toupper((unsigned char)*end)) {
	case 'K':
		shift = 10;
		break;
	case 'M':
		shift = 20;
		break;
	case 'G':
		shift = 30;
		break;
	}
	if (shift)
		end++;
	if (end == text || *end || errno || *text == '-' || n > UINT64_MAX >> shift)
		die(EXIT_USAGE, "%s %s: a size is a number with or without K, M or G, for example 4M",
		    option, text);
	return (uint64_t)n << shift;
}

uint64_t parse_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || errno || n < min || n > max)
		die(EXIT_USAGE, "%s %s: it takes a number from %" PRIu64 " to %" PRIu64, option, text,
		    min, max);
	return n;
}
