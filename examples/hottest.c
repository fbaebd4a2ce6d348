// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions executed how many instructions by themselves, and in how many calls, of a recording: by
 * libauxtrace-decode.
 *   hottest [-s SYMFS] DIR
 */
#include <auxtrace-decode.h>

#include <err.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct function {
	const char *name, *object;
	uint64_t calls, instructions;
};

static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->object, y->object);
}

/* A call has ended: add it to those of its function. */
static int count(void *functions, struct auxtrace_call *call)
{
	struct function *f = calloc(1, sizeof(*f)), **found;

	if (!f)
		err(1, "hottest");
	f->name = call->function ? call->function : "?";
	f->object = call->object ? call->object : "?";
	found = tsearch(f, functions, compare);
	if (*found != f)
		free(f);
	(*found)->calls += call->flags & AUXTRACE_CALL_BEGUN;
	(*found)->instructions += call->instructions - call->callee_instructions;
	return 0;
}

static void print(const void *node, VISIT visit, int depth)
{
	const struct function *f = *(struct function *const *)node;

	(void)depth;
	if (visit == postorder || visit == leaf)
		printf("%12" PRIu64 " %8" PRIu64 "  %s (%s)\n", f->instructions, f->calls, f->name, f->object);
}

static void message(void *context, const char *text)
{
	(void)context;
	warnx("%s", text);
}

int main(int argc, char **argv)
{
	struct auxtrace_decoder_options options = { .size = sizeof(options), .cpu = -1, .message = message };
	const struct auxtrace_call_handler handler = { .size = sizeof(handler), .end = count };
	struct auxtrace_decoder *decoder;
	void *functions = NULL;
	int c;

	while ((c = getopt(argc, argv, "s:")) == 's')
		options.symfs = optarg;
	if (c != -1 || optind + 1 != argc)
		errx(2, "usage: hottest [-s SYMFS] DIR");
	decoder = auxtrace_decoder_open(argv[optind], &options);
	if (!decoder || auxtrace_decode_calls(decoder, &handler, &functions))
		errx(1, "%s", auxtrace_decoder_error());
	twalk(functions, print);
	auxtrace_decoder_close(decoder);
	return 0;
}
