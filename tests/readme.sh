#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Documents and code agree: the C examples of the README and of libauxtrace(3) compile;
# each function of the libraries is under NAME of one man page (man.sh has the other pages); examples/control.py calls the device as the header has it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/need gcc libc6-dev python3
{
	echo 'void region_of_interest(void);'
	# shellcheck disable=SC2016 # backticks of Markdown
	sed -n '/^```c$/,/^```$/p' README.md | grep -v '^```'
} | gcc -x c -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -Iinclude -Iinclude/uapi -
echo "README's example compiles"

{
	printf '#include <auxtrace.h>\n#include <err.h>\n'
	printf 'void region_of_interest(void);\nvoid example(void);\nvoid example(void)\n{\n'
	sed -n '/^\.SH EXAMPLE/,/^\.fi/p' man/libauxtrace.3 | grep -v '^\.'
	echo '}'
} | gcc -x c -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -Iinclude -Iinclude/uapi -
echo "libauxtrace(3)'s example compiles"

# The page's function, and then what calls it
page=$(sed -n '/^\.SH EXAMPLE/,/^\.EE/p' man/libauxtrace-decode.3 | grep -v '^\.' | sed 's/\\-/-/g; s/\\e/\\/g')
{
	printf '#include <auxtrace-decode.h>\n#include <err.h>\n#include <stdio.h>\n'
	sed '/^struct auxtrace_call_handler/,$d' <<< "$page"
	printf 'void example(void);\nvoid example(void)\n{\n'
	sed -n '/^struct auxtrace_call_handler/,$p' <<< "$page"
	echo '}'
} | gcc -x c -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -Iinclude -Iinclude/uapi -
echo "libauxtrace-decode(3)'s example compiles"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Each function is under NAME of one page, and man(1) finds that by the function's name.
cat include/auxtrace.h include/auxtrace-decode.h | sed -nE '/^[a-z]/s/^.*\b(auxtrace_[a-z_]+)\(.*$/\1/p' | LC_ALL=C sort > "$work/functions"
[ "$(wc -l < "$work/functions")" -ge 70 ] || { echo "only few functions are found" >&2; exit 1; }
make -s -C man O="$work/build" SECTIONS=3
sed -nE '/^\.SH NAME/,/^\.SH SYNOPSIS/s/^(auxtrace_[a-z_]+),?$/\1/p' "$work"/build/man/*.3 | LC_ALL=C sort > "$work/named"
if ! diff "$work/functions" "$work/named" > "$work/differ"; then
	echo "functions that no page has (<), or that only a page has, or two (>):" >&2
	grep '^[<>]' "$work/differ" >&2
	exit 1
fi
echo "$(wc -l < "$work/functions") functions have a man page"

# Which calls and mappings the header would make of it, first the numbers alone.
cat > "$work/expected.c" <<'C'
#include <stddef.h>
#include <stdio.h>
#include <linux/auxtrace.h>

#define CALL(nr, type) printf("%#x %zu %zu\n", (unsigned int)AUXTRACE_IOC_ ## nr, sizeof(struct type), sizeof(struct type))

int main(void)
{
	CALL(SETUP, auxtrace_setup);
	printf("0x%llx\n0x%llx\n", AUXTRACE_MMAP_OFFSET(0, AUXTRACE_REGION_STATUS),
	       AUXTRACE_MMAP_OFFSET(0, AUXTRACE_REGION_AUX));
	CALL(START, auxtrace_start);
	for (int i = 0; i < 3; i++) {
		CALL(RESUME, auxtrace_control);
		CALL(PAUSE, auxtrace_control);
		printf("window %zu: %zu bytes\n", offsetof(struct auxtrace_status_page, windows),
		       offsetof(struct auxtrace_status_page, produced));
	}
	CALL(STOP, auxtrace_start);
}
C
gcc -Wall -Wextra -Werror -Iinclude/uapi -o "$work/expected" "$work/expected.c"
"$work/expected" > "$work/expected.out"

# The example with the system calls played: each page's word holds its own offset.
python3 - > "$work/got.out" <<'PYTHON'
import builtins, fcntl, mmap, os, runpy, struct

def ioctl(device, number, buf):
    print(f"{number:#x} {len(buf)} {struct.unpack_from('=I', buf)[0]}")

def mapped(device, size, flags, prot, offset):
    print(f"{offset:#x}")
    return b"".join(struct.pack("=Q", at) for at in range(0, 4096, 8))

plain_print = print
def show(text):
    plain_print(text.split(" so far")[0] if text.startswith("window") else text)

os.open = lambda path, flags: 3
os.sched_setaffinity = lambda pid, cpus: None
fcntl.ioctl, mmap.mmap = ioctl, mapped
builtins.print = show
runpy.run_path("examples/control.py")
PYTHON
diff -u "$work/expected.out" "$work/got.out"
echo "examples/control.py calls the device as the header has it"
