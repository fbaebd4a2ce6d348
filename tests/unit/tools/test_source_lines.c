// SPDX-License-Identifier: GPL-2.0-only
/* Source lines and inlined functions: of each byte of code what binutils' addr2line finds. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/debug_file.h"
#include "lib/source_lines.h"
#include "lib/source_text.h"
#include "lib/tool.h"
#include "scratch.h"

/*
 * Functions inlined in functions that are inlined, twice in one, in loops, two that end where a third begins, and
 * one that the linker leaves out.
 */
static const char source[] =
	"extern volatile int in, out;\n"
	"static inline int twice(int x)\n"
	"{\n"
	"	return in ? 2 * x : x;\n"
	"}\n"
	"static inline int sum(int n)\n"
	"{\n"
	"	int s = 0;\n"
	"	for (int i = 0; i < n; i++)\n"
	"		s += twice(i) + in;\n"
	"	return s;\n"
	"}\n"
	"#define INLINE static inline __attribute__((always_inline)) void\n"
	"INLINE last(void)\n"
	"{\n"
	"	__asm__ volatile(\"nop; nop\");\n"
	"}\n"
	"INLINE ends_with_it(void)\n"
	"{\n"
	"	__asm__ volatile(\"nop\");\n"
	"	last();\n"
	"}\n"
	"INLINE beside(void)\n"
	"{\n"
	"	__asm__ volatile(\"nop; nop\");\n"
	"}\n"
	"int left_out(int n)\n"
	"{\n"
	"	return twice(n) + 7;\n"
	"}\n"
	"int work(int n)\n"
	"{\n"
	"	int a = sum(n), b = sum(a);\n"
	"	ends_with_it();\n"
	"	beside();\n"
	"	if (__builtin_expect(a == 77, 0))\n"
	"		out = twice(b);\n"
	"	return a + b;\n"
	"}\n"
	"int _start(void)\n"
	"{\n"
	"	return work(in);\n"
	"}\n"
	"volatile int in = 3, out;\n";

static char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int make_dir(void **state)
{
	(void)state;
	return scratch_begin("prog.c", source);
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ?: "??";
}

/* "FUNCTION FILE:LINE" of the inlined functions, innermost first, and then of the function around them, without its name. */
static void describe(char *text, size_t size, const struct source_place *p)
{
	const struct source_inline *i;
	const char *file = p->file;
	unsigned int line = p->line;
	int n = 0;

	for (i = p->inlined; i; i = i->outer) {
		n += snprintf(text + n, size - n, "%s %s:%u, ", i->function, base_name(file), line);
		file = i->file;
		line = i->line;
	}
	snprintf(text + n, size - n, "%s:%u", base_name(file), line);
}

/* The same from addr2line, whose output for one address are lines "FUNCTION", "FILE:LINE". */
static bool next_expected(FILE *f, char line[1024], uint64_t *addr, char *text, size_t size)
{
	char function[1024], where[1024];
	int n = 0;

	if (!*line && !fgets(line, 1024, f))
		return false;
	assert_int_equal(sscanf(line, "0x%" SCNx64, addr), 1);
	*line = 0;
	*text = 0;
	while (fgets(function, sizeof(function), f)) {
		if (!strncmp(function, "0x", 2)) {
			strcpy(line, function);
			break;
		}
		assert_non_null(fgets(where, sizeof(where), f));
		function[strcspn(function, "\n")] = 0;
		where[strcspn(where, " \n")] = 0;
		n += snprintf(text + n, size - n, "%s%s %s", n ? ", " : "", function, base_name(where));
	}
	/* Not the name of the function around all. */
	for (char *at = text, *comma; (comma = strstr(at, ", ")); at = comma + 2)
		n = comma + 2 - text;
	if (!strstr(text, ", "))
		n = 0;
	memmove(text + n, strrchr(text + n, ' ') + 1, strlen(strrchr(text + n, ' ') + 1) + 1);
	return true;
}

static uint64_t text_size(const char *prog, uint64_t *start)
{
	char command[512];
	uint64_t size;
	FILE *f;

	snprintf(command, sizeof(command), "objdump -h %s | awk '$2 == \".text\" { print \"0x\" $4, \"0x\" $3 }'", prog);
	f = popen(command, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%" SCNi64 " %" SCNi64, (int64_t *)start, (int64_t *)&size), 2);
	pclose(f);
	return size;
}

/* Compare all bytes of the code of @prog, whose debug information may be in a file of its own. */
static void compare(const char *prog, const char *judged)
{
	struct debug_file *file = debug_file_open(prog, "");
	struct source_lines *lines;
	unsigned int inlined = 0, known = 0;
	/* addr2line's line that begins the next address. */
	char command[512], line[1024] = "", expected[4096], found[4096];
	uint64_t start, size, addr, at;
	FILE *f;

	assert_non_null(file);
	lines = source_lines_open(file);
	assert_non_null(lines);
	size = text_size(prog, &start);
	snprintf(command, sizeof(command),
		 "seq %" PRIu64 " %" PRIu64 " | xargs printf '%%x\\n' | addr2line -e %s -a -f -i -C", start, start + size - 1,
		 judged);
	f = popen(command, "re");
	assert_non_null(f);
	for (at = start; next_expected(f, line, &addr, expected, sizeof(expected)); at++) {
		struct source_place p;

		assert_int_equal(addr, at);
		if (!source_lines_find(lines, at, &p)) {
			assert_non_null(strstr(expected, ":?"));
			assert_true(p.start <= at && at < p.end);
			continue;
		}
		describe(found, sizeof(found), &p);
		if (strcmp(found, expected))
			print_error("%" PRIx64 ":\n", at);
		assert_string_equal(found, expected);
		assert_true(p.start <= at && at < p.end);
		known++;
		inlined += p.inlined && p.inlined->outer;
		/* What it says of other addresses holds. */
		for (uint64_t other = p.start; other < p.end; other++) {
			struct source_place q;

			assert_true(source_lines_find(lines, other, &q));
			assert_true(q.start == p.start && q.end == p.end && q.line == p.line && q.inlined == p.inlined);
		}
	}
	assert_int_equal(at, start + size);
	assert_true(known > 30);
	assert_true(inlined > 5);
	pclose(f);
	source_lines_close(lines);
	debug_file_close(file);
}

static void build(const char *options)
{
	run("gcc -O2 -g %s -ffunction-sections -nostdlib -Wl,--gc-sections -o prog prog.c", options);
}

static void all_code_is_where_addr2line_has_it(void **state)
{
	static const char *const options[] = {
		"-gdwarf-4 -no-pie", "-gdwarf-5 -no-pie", "-gz -no-pie", "-gdwarf-5 -static-pie", "-gdwarf-5 -O1 -static-pie",
		"-gdwarf-5 -gno-variable-location-views -no-pie",
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(options); i++) {
		build(options[i]);
		compare(path_of("prog"), path_of("prog"));
	}
}

/* addr2line cannot read that: it judges the same code with all in one file. */
static void scopes_may_be_in_a_file_of_their_own(void **state)
{
	static const char *const options[] = { "-gdwarf-4 -no-pie", "-gdwarf-5 -no-pie" };
	char prog[256], split[64];

	(void)state;
	strcpy(prog, path_of("split/prog"));
	for (unsigned int i = 0; i < ARRAY_SIZE(options); i++) {
		snprintf(split, sizeof(split), "%s -gsplit-dwarf", options[i]);
		build(split);
		run("rm -rf split; mkdir split; mv prog *.dwo split/; ls split/*.dwo > /dev/null");
		/* They are found beside the program. */
		build(options[i]);
		compare(prog, path_of("prog"));
	}
}

/* clang and others write no table of the units' addresses. */
static void no_table_of_units_is_needed(void **state)
{
	(void)state;
	build("-no-pie");
	run("objcopy --remove-section .debug_aranges prog");
	compare(path_of("prog"), path_of("prog"));
}

static void a_stripped_program_has_its_debug_file(void **state)
{
	char prog[256];

	(void)state;
	build("-static-pie");
	run("objcopy --only-keep-debug prog prog.debug; strip -o stripped prog; "
	    "objcopy --add-gnu-debuglink=prog.debug stripped");
	strcpy(prog, path_of("stripped"));
	compare(prog, path_of("prog"));
}

static void a_program_without_has_none(void **state)
{
	struct debug_file *file;

	(void)state;
	run("gcc -O2 -nostdlib -static-pie -o prog prog.c");
	file = debug_file_open(path_of("prog"), "");
	assert_non_null(file);
	assert_null(source_lines_open(file));
	source_lines_close(NULL);
	debug_file_close(file);
}

/* Each byte of the debug information in turn is another: whatever is found, nothing crashes, and it ends. */
static void damage_is_survived(void **state)
{
	struct mapped image;
	uint64_t start, size;

	(void)state;
	build("-no-pie");
	size = text_size(path_of("prog"), &start);
	assert_int_equal(map_file(path_of("prog"), true, &image), 0);
	srand(1);
	for (int i = 0; i < 400; i++) {
		struct source_lines *lines;
		struct debug_file *file;
		FILE *f;

		for (int j = 0; j < 20; j++) {
			size_t at = 0x1000 + rand() % (image.size - 0x1000);

			image.data[at] = rand();
		}
		f = fopen(path_of("damaged"), "we");
		assert_non_null(f);
		assert_int_equal(fwrite(image.data, 1, image.size, f), image.size);
		fclose(f);
		if (!(i % 40)) {
			unmap_file(&image);
			assert_int_equal(map_file(path_of("prog"), true, &image), 0);
		}
		file = debug_file_open(path_of("damaged"), "");
		lines = file ? source_lines_open(file) : NULL;
		for (uint64_t addr = start; lines && addr < start + size; addr++) {
			struct source_place p;

			if (source_lines_find(lines, addr, &p))
				assert_non_null(p.file);
			assert_true(p.start <= addr && addr < p.end);
		}
		source_lines_close(lines);
		debug_file_close(file);
	}
	unmap_file(&image);
}

/* Blocks inside blocks, each of which says that its own child is what comes behind it: 2^60 ways through them. */
static const char circular[] =
	".globl _start\n"
	"_start: ret; nop; nop; nop\n"
	".section .debug_abbrev\n"
	"	.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0\n"	/* compile unit: low_pc, high_pc */
	"	.byte 2, 0x0b, 1, 1, 0x13, 0, 0\n"		/* lexical block: sibling */
	"	.byte 0\n"
	".section .debug_info\n"
	"unit:	.long 2f - 1f\n"
	"1:	.short 4; .long 0; .byte 8\n"
	"	.byte 1; .quad _start, 4\n"
	"	.rept 60\n"
	"	.byte 2; .long . + 4 - unit\n"
	"	.endr\n"
	"	.fill 61\n"
	"2:\n";

static void a_way_through_damage_ends(void **state)
{
	struct debug_file *file;
	struct source_lines *lines;
	struct source_place p;
	uint64_t start;
	FILE *f;

	(void)state;
	f = fopen(path_of("circular.s"), "we");
	assert_true(f && fputs(circular, f) >= 0 && !fclose(f));
	run("gcc -nostdlib -static -o circular circular.s");
	text_size(path_of("circular"), &start);
	file = debug_file_open(path_of("circular"), "");
	assert_non_null(file);
	lines = source_lines_open(file);
	assert_non_null(lines);
	alarm(30);
	assert_false(source_lines_find(lines, start, &p));
	alarm(0);
	source_lines_close(lines);
	debug_file_close(file);
}

static void text_is_that_of_the_line(void **state)
{
	struct source_text *t = source_text_begin("", time(NULL) + 10);
	char below[256];
	const char *line;

	(void)state;
	line = source_text_line(t, path_of("prog.c"), 10);
	assert_string_equal(line, "s += twice(i) + in;");
	assert_string_equal(source_text_line(t, path_of("prog.c"), 3), "{");
	assert_null(source_text_line(t, path_of("prog.c"), 1000));
	assert_null(source_text_line(t, path_of("prog.c"), 0));
	assert_null(source_text_line(t, path_of("missing"), 1));
	/* A file that never ends, and one that waits for a writer, are no sources. */
	assert_null(source_text_line(t, "/dev/zero", 1));
	run("mkfifo pipe; printf 'a\\033[31mb\\tc\\302\\23331m\\303\\233\\r\\n' > odd");
	assert_null(source_text_line(t, path_of("pipe"), 1));
	/* Opening one may do something already, as the writer of a pipe would see, and a watchdog. */
	run("mkfifo watched; (exec 3> watched; touch opened) & sleep 0.3");
	assert_null(source_text_line(t, path_of("watched"), 1));
	run("sleep 0.3; test ! -e opened; timeout 5 cat watched");
	/* A terminal obeys nothing of it. */
	assert_string_equal(source_text_line(t, path_of("odd"), 1), "a?[31mb c??31m\303\233");
	/* A program that wrote its source may have written it into one line. */
	run("{ printf 'x%%0238d\\303\\2330000' 0; head -c 1000000 /dev/zero | tr '\\0' x; } > long");
	line = source_text_line(t, path_of("long"), 1);
	assert_int_equal(strlen(line), 239 + 3);
	assert_string_equal(line + 238, "0...");
	/* Below the directory first. */
	source_text_end(t);
	run("mkdir -p sys%s; echo other > sys%s/prog.c", dir, dir);
	strcpy(below, path_of("sys"));
	t = source_text_begin(below, time(NULL) + 10);
	assert_string_equal(source_text_line(t, path_of("prog.c"), 1), "other");
	source_text_end(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_code_is_where_addr2line_has_it),
		cmocka_unit_test(scopes_may_be_in_a_file_of_their_own),
		cmocka_unit_test(no_table_of_units_is_needed),
		cmocka_unit_test(a_stripped_program_has_its_debug_file),
		cmocka_unit_test(a_program_without_has_none),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(a_way_through_damage_ends),
		cmocka_unit_test(text_is_that_of_the_line),
	};

	return cmocka_run_group_tests(tests, make_dir, scratch_end);
}
