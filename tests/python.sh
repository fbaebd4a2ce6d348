#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The structs of python/auxtrace.py are those of the headers, for ctypes checks nothing; what it says of what is
# wrong; iterations that end early; its sources' style. tests/host/report.sh decodes a recording by it, guest/distro.sh makes one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/need gcc libc6-dev python3 pylint
make -s -C decodelib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$PWD/build/decodelib:$PWD/build/userlib PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1

# The same lines from both: STRUCT MEMBER OFFSET SIZE, and constants
cat > "$work/python.py" <<'PY'
import ctypes
import auxtrace

STRUCTS = {
    "auxtrace_decoder_options": auxtrace._DecoderOptions, "auxtrace_call": auxtrace._Call,
    "auxtrace_call_handler": auxtrace._CallHandler, "auxtrace_decoder_sum": auxtrace._Sum,
    "auxtrace_options": auxtrace._Options,
}
CONSTANTS = {
    "AUXTRACE_DECODER_SAMPLES": auxtrace._SAMPLES, "AUXTRACE_CALL_BEGUN": auxtrace._BEGUN,
    "AUXTRACE_CALL_RETURNED": auxtrace._RETURNED, "AUXTRACE_CALL_KERNEL": auxtrace._KERNEL,
    "AUXTRACE_CALL_THREAD": auxtrace._THREAD, "AUXTRACE_SETUP_KERNEL": auxtrace._SETUP_KERNEL,
    "AUXTRACE_SETUP_USER": auxtrace._SETUP_USER, "AUXTRACE_SETUP_PAUSED": auxtrace._SETUP_PAUSED,
    "AUXTRACE_SETUP_THREAD": auxtrace._SETUP_THREAD, "AUXTRACE_PMU_INTEL_PT": auxtrace.PT,
    "AUXTRACE_PMU_INTEL_BTS": auxtrace.BTS,
}

print("#include <stdio.h>\n#include <auxtrace.h>\n#include <auxtrace-decode.h>\nint main(void)\n{")
with open("expected", "w", encoding="ascii") as expected:
    for name, struct in STRUCTS.items():
        print(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        print(name, ctypes.sizeof(struct), file=expected)
        for member, _ in struct._fields_:
            print(f'printf("{name} {member} %zu %zu\\n", offsetof(struct {name}, {member}), '
                  f'sizeof(((struct {name} *)0)->{member}));')
            field = getattr(struct, member)
            print(name, member, field.offset, field.size, file=expected)
    for name, value in CONSTANTS.items():
        print(f'printf("{name} %u\\n", {name});')
        print(name, value, file=expected)
print("return 0;\n}")
PY
(cd "$work" && python3 python.py > layout.c)
gcc -Iinclude -Iinclude/uapi -o "$work/layout" "$work/layout.c"
"$work/layout" | diff -u - "$work/expected"
[ "$(wc -l < "$work/expected")" -gt 60 ]
echo "the structs and constants are those of the headers"

# says COMMAND...: what an exception of it says
says()
{
	python3 -c "
import auxtrace, errno, sys
try:
    $1
    sys.exit('nothing is wrong')
except $2 as error:
    print(errno.errorcode.get(getattr(error, 'errno', None)), error)"
}

says 'auxtrace.Recording("/nowhere")' auxtrace.Error | grep -x 'EBADMSG .*is not a complete recording: it has no file meta.*'
says 'auxtrace.Recording("/nowhere", cpu=-3)' auxtrace.Error | grep -x 'EINVAL .*cpu is -3.*'
# Without the device
if [ ! -e /dev/auxtrace ]; then
	says 'auxtrace.trace("r").__enter__()' auxtrace.Error | grep -x 'ENOENT .*/dev/auxtrace.*'
fi
echo "errors have an errno and the library's message"

# README's example, of a program that has such a function
{
	echo 'def region_of_interest(): pass'
	# shellcheck disable=SC2016 # backticks of Markdown
	sed -n '/^```python$/,/^```$/p' README.md | grep -v '^```'
} > "$work/readme.py"
python3 -m py_compile "$work/readme.py"
pylint --disable=all --enable=E "$work/readme.py"
echo "README's example is Python"

# A recording of many calls, and iterations that do not go to the end
cat > "$work/decode.py" <<'PY'
import os
import subprocess
import sys

import auxtrace

CALLS = int(sys.argv[1])


def expect(kind, text, action):
    try:
        action()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")


def count(recording):
    return sum(call.function == "f" and call.returned for call in recording.calls())


def child_goes_on(recording):
    calls = recording.calls()
    next(calls)
    pid = os.fork()
    if pid:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        calls.close()
        return
    try:
        for _ in calls:
            pass
    except RuntimeError:
        os._exit(0)
    finally:
        os._exit(1)


def damaged_handler(recording):
    class Bad:
        def __init__(self, *_):
            raise MemoryError("no memory")

    good, auxtrace.Call = auxtrace.Call, Bad
    try:
        expect(MemoryError, "no memory", lambda: count(recording))
    finally:
        auxtrace.Call = good


if sys.argv[2:]:
    left = auxtrace.Recording("many").calls()
    next(left)
    sys.exit()         # with an iteration that has not ended
many = auxtrace.Recording("many")
assert count(many) == CALLS - 1, many.sum
assert many.sum["errors"] == 0 and many.cpus == [0]
for _ in many.calls():
    break
assert many.sum["instructions"] < 2 * CALLS, many.sum
first = many.calls()
next(first)
expect(ValueError, "another calls()", lambda: count(many))
expect(ValueError, "calls() has not ended", many.close)
del first
damaged_handler(many)
child_goes_on(many)
assert count(many) == CALLS - 1
many.close()
many.close()
expect(ValueError, "is closed", lambda: many.cpus)
expect(ValueError, "is closed", lambda: many.sum)
expect(ValueError, "is closed", lambda: count(many))
expect(KeyError, "raised inside", lambda: [{}["raised inside"] for _ in auxtrace.Recording("many").calls()])
subprocess.run([sys.executable, *sys.argv, "exit"], check=True, timeout=60)
os.remove("many/cpu0.aux")
expect(auxtrace.Error, "cpu0.aux: No such file", lambda: count(auxtrace.Recording("many")))
PY
calls=60000
python3 tests/many_calls.py "$work/many" "$calls"
(cd "$work" && python3 decode.py "$calls")
echo "iterations end when they should, also in the middle"

pylint --disable=all --enable=E,W --disable=protected-access,attribute-defined-outside-init,self-cls-assignment \
	python/auxtrace.py examples/flame.py
