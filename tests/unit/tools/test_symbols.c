// SPDX-License-Identifier: GPL-2.0-only
/* Names of programs that are stripped, with their debug files in each place, and of damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/debug_file.h"
#include "lib/symbol_shown.h"
#include "lib/tool.h"
#include "scratch.h"
#include "trigger/elf_function.h"

/* hidden_function is in the full table only. The addresses are the linker script's. */
#define SOURCE \
	".globl shown_function\n.type shown_function, @function\n" \
	"shown_function: nop; nop; nop; ret\n.size shown_function, 4\n" \
	".set __GI_shown_function, shown_function\n.type __GI_shown_function, @function\n.size __GI_shown_function, 4\n" \
	".globl sizeless\n.type sizeless, @function\nsizeless: nop\n" \
	".type hidden_function, @function\n" \
	"hidden_function: nop; nop; ret\n.size hidden_function, 3\n" \
	".type _ZN5space3addEii, @function\n_ZN5space3addEii: ret\n.size _ZN5space3addEii, 1\n" \
	".type _RNvC3foo3bar, @function\n_RNvC3foo3bar: ret\n.size _RNvC3foo3bar, 1\n"
#define SHOWN		0x400000
#define SIZELESS	(SHOWN + 4)
#define HIDDEN		(SHOWN + 5)
#define CXX		(SHOWN + 8)
#define RUST		(SHOWN + 9)

/* prog.full, and prog without its full table. The build-id is abcd1234. */
static int make_program(void **state)
{
	(void)state;
	if (scratch_begin("prog.s", SOURCE))
		return -1;
	run("gcc -shared -nostdlib -Wl,--build-id=0xabcd1234 -Wl,-Ttext=%#x -o prog.full prog.s; "
	    "strip -o prog prog.full; objcopy --only-keep-debug prog.full names.dbg", SHOWN);
	return 0;
}

struct named {
	struct mapped image;
	struct debug_file *debug;
	struct symbols symbols;
	bool found;
};

/* As code_name() does. */
static struct named open_named(const char *file, const char *symfs)
{
	struct named n = { 0 };
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	assert_int_equal(map_file(path, false, &n.image), 0);
	if (symbols_are_stripped(n.image.data, n.image.size)) {
		n.debug = debug_file_open(path, symfs);
		n.found = n.debug && debug_file_symbols(n.debug, &n.symbols);
	}
	symbols_from_elf(&n.symbols, n.image.data, n.image.size);
	return n;
}

static void close_named(struct named *n)
{
	symbols_free(&n->symbols);
	debug_file_close(n->debug);
	unmap_file(&n->image);
}

static const char *name_at(const struct named *n, uint64_t addr)
{
	struct symbol *sym = symbols_find(&n->symbols, addr);

	return sym ? symbol_shown(sym) : "none";
}

static void expect_all_names(const struct named *n)
{
	const char *name = name_at(n, CXX);

	assert_string_equal(name_at(n, SHOWN + 3), "shown_function");
	assert_string_equal(name_at(n, SIZELESS), "sizeless");
	assert_string_equal(name_at(n, HIDDEN + 2), "hidden_function");
	assert_string_equal(name, "space::add(int, int)");
	assert_ptr_equal(name_at(n, CXX), name);
	assert_string_equal(name_at(n, RUST), "foo::bar");
}

static void a_full_table_needs_no_debug_file(void **state)
{
	struct named n = open_named("prog.full", "");

	(void)state;
	assert_null(n.debug);
	expect_all_names(&n);
	close_named(&n);
}

static void a_stripped_file_has_no_wrong_names(void **state)
{
	struct named n = open_named("prog", "");

	(void)state;
	assert_non_null(n.debug);
	assert_false(n.found);
	assert_string_equal(name_at(&n, SHOWN + 3), "shown_function");
	assert_string_equal(name_at(&n, SIZELESS), "sizeless");
	/* It has no name in the dynamic table, where the one before it has no size. */
	assert_string_equal(name_at(&n, HIDDEN), "none");
	assert_string_equal(name_at(&n, CXX), "none");
	close_named(&n);
}

static void a_debuglink_names_a_file_beside_or_in_debug(void **state)
{
	static const char *const place[] = { ".", ".debug" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(place); i++) {
		struct named n;

		run("rm -rf at; cp -f prog linked; objcopy --remove-section=.note.gnu.build-id "
		    "--add-gnu-debuglink=names.dbg linked; mkdir -p at; cp linked at/prog; mkdir -p at/%s; "
		    "cp names.dbg at/%s", place[i], place[i]);
		n = open_named("at/prog", "");
		assert_true(n.found);
		expect_all_names(&n);
		close_named(&n);
		run("rm -r at");
	}
}

static void a_debug_file_of_another_build_is_not_taken(void **state)
{
	struct named n;

	(void)state;
	run("rm -rf at; mkdir at; cp prog at/prog; objcopy --remove-section=.note.gnu.build-id --add-gnu-debuglink=names.dbg at/prog; "
	    "cp names.dbg at; echo more >>at/names.dbg");
	n = open_named("at/prog", "");
	assert_false(n.found);
	assert_string_equal(name_at(&n, HIDDEN), "none");
	close_named(&n);
	run("rm -r at");
}

static void a_build_id_is_looked_up_below_symfs(void **state)
{
	char symfs[100];
	struct named n;

	(void)state;
	run("mkdir -p sys/usr/lib/debug/.build-id/ab; cp names.dbg sys/usr/lib/debug/.build-id/ab/cd1234.debug");
	snprintf(symfs, sizeof(symfs), "%s/sys", dir);
	n = open_named("prog", symfs);
	assert_true(n.found);
	expect_all_names(&n);
	assert_true(symbols_find(&n.symbols, SHOWN)->global);
	assert_false(symbols_find(&n.symbols, HIDDEN)->global);
	close_named(&n);
	run("rm -r sys");
}

static void a_name_says_whether_it_is_global(void **state)
{
	struct named full = open_named("prog.full", ""), dynamic = open_named("prog", "");
	struct symbols kernel = { 0 };
	char path[100];

	(void)state;
	assert_true(symbols_find(&full.symbols, SHOWN)->global);
	assert_false(symbols_find(&full.symbols, HIDDEN)->global);
	assert_true(symbols_find(&dynamic.symbols, SHOWN)->global);
	close_named(&full);
	close_named(&dynamic);
	run("echo 'ffffffff81000000 T shown_function\nffffffff81000010 t hidden_function\n"
	    "ffffffff81000020 W frail_function\nffffffff81000030 t far_function\t[module]' >kallsyms");
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	assert_int_equal(symbols_from_kallsyms(&kernel, path), 0);
	assert_int_equal(kernel.count, 4);
	assert_true(kernel.sym[0].global);
	assert_false(kernel.sym[1].global);
	assert_true(kernel.sym[2].global);
	assert_false(kernel.sym[3].global);
	symbols_free(&kernel);
}

/* As Fedora strips: the compressed table has only those that the dynamic one lacks. */
static void a_small_table_in_the_program_adds_to_its_dynamic_one(void **state)
{
	struct named n;

	(void)state;
	run("printf 'hidden_function\n_ZN5space3addEii\n_RNvC3foo3bar\n' >kept; "
	    "objcopy -S --remove-section=.comment --keep-symbols=kept names.dbg small; xz -k small; "
	    "objcopy --add-section .gnu_debugdata=small.xz prog with_small");
	n = open_named("with_small", "");
	assert_true(n.found);
	expect_all_names(&n);
	close_named(&n);
}

/* The debug file has the same addresses, and no code. */
static void a_probe_is_where_the_program_has_the_function(void **state)
{
	static const char *const functions[] = { "shown_function", "hidden_function" };
	struct mapped image;
	char full[100], stripped[100];

	(void)state;
	run("mkdir at; cp names.dbg at; objcopy --remove-section=.note.gnu.build-id prog at/prog; "
	    "objcopy --add-gnu-debuglink=names.dbg at/prog");
	snprintf(full, sizeof(full), "%s/prog.full", dir);
	snprintf(stripped, sizeof(stripped), "%s/at/prog", dir);
	assert_int_equal(map_file(stripped, false, &image), 0);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		uint64_t offset = elf_function("uprobe", stripped, functions[i]);

		assert_int_equal(offset, elf_function("uprobe", full, functions[i]));
		assert_true(offset + 2 < image.size);
		assert_memory_equal(image.data + offset, "\x90\x90", 2);
	}
	unmap_file(&image);
	run("rm -r at");
}

/* A library has a function once for each version of it that programs know. Kotlin's names have a #. */
static void a_function_is_the_default_version_of_its_name(void **state)
{
	static const char *const names[] = { "versioned", "only_old", "kfun:#main(){}", "kfun:#main(){}#1" };
	static const uint8_t first[] = { 0x22, 0x33, 0x44, 0x44 };
	static const char *const tables[] = { "lib.so", "lib.stripped" };

	(void)state;
	run("printf 'A { global: only_old; };\\nB { global: versioned; } A;\\n' >map; "
	    "printf '.symver v1, versioned@A\\n.symver v2, versioned@@B\\n.symver old, only_old@A\\n' >lib.s; "
	    "for f in v1:0x11 v2:0x22 old:0x33 '\"kfun:#main(){}\":0x44'; do n=${f%%:*}; "
	    "printf '.globl %%s\\n.type %%s, @function\\n%%s: .byte %%s\\n' \"$n\" \"$n\" \"$n\" \"${f##*:}\"; done >>lib.s; "
	    "gcc -shared -nostdlib -Wl,--version-script=map -o lib.so lib.s; strip -o lib.stripped lib.so");
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (size_t j = 0; j < ARRAY_SIZE(names); j++) {
			struct mapped image;
			uint64_t offset;
			char path[100];

			snprintf(path, sizeof(path), "%s/%s", dir, tables[i]);
			assert_int_equal(map_file(path, false, &image), 0);
			offset = elf_function("uprobe", path, names[j]);
			assert_true(offset < image.size);
			assert_int_equal(image.data[offset], first[j]);
			unmap_file(&image);
		}
}

/* The program or its debug file ends anywhere: no crash, and no name that is not there. */
static void a_cut_file_has_fewer_names(void **state)
{
	static const char *const cut[] = { "prog", "names.dbg" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cut); i++) {
		for (unsigned int percent = 0; percent < 100; percent += 7) {
			struct named n;
			const char *name;

			run("rm -rf at; mkdir at; cp prog names.dbg at; objcopy --remove-section=.note.gnu.build-id at/prog; "
			    "objcopy --add-gnu-debuglink=at/names.dbg at/prog; "
			    "truncate -s $(($(stat -c %%s at/%s) * %u / 100 + 1)) at/%s", cut[i], percent, cut[i]);
			n = open_named("at/prog", "");
			name = name_at(&n, HIDDEN);
			if (strcmp(name, "none"))
				assert_string_equal(name, "hidden_function");
			close_named(&n);
		}
	}
	run("rm -r at");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_table_needs_no_debug_file),
		cmocka_unit_test(a_stripped_file_has_no_wrong_names),
		cmocka_unit_test(a_debuglink_names_a_file_beside_or_in_debug),
		cmocka_unit_test(a_debug_file_of_another_build_is_not_taken),
		cmocka_unit_test(a_build_id_is_looked_up_below_symfs),
		cmocka_unit_test(a_name_says_whether_it_is_global),
		cmocka_unit_test(a_small_table_in_the_program_adds_to_its_dynamic_one),
		cmocka_unit_test(a_probe_is_where_the_program_has_the_function),
		cmocka_unit_test(a_function_is_the_default_version_of_its_name),
		cmocka_unit_test(a_cut_file_has_fewer_names),
	};

	/* No test asks a server. */
	unsetenv("DEBUGINFOD_URLS");
	return cmocka_run_group_tests(tests, make_program, scratch_end);
}
