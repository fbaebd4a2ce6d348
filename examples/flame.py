#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Folded stacks of a recording, for flame graph programs: instructions of each stack without its callees.

    flame.py RECORDING [SYMFS] | flamegraph.pl > recording.svg
"""

import collections
import sys

import auxtrace


def name_of(call):
    name = call.function or f"[{call.object or 'unknown'}]"
    return name.replace(";", ":") + ("_[k]" if call.kernel else "")


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(f"usage: {sys.argv[0]} RECORDING [SYMFS]")
    stacks = collections.Counter()
    try:
        with auxtrace.Recording(*sys.argv[1:]) as recording:
            for call in recording.calls():
                stack = [call.comm or "?"] + [name_of(c) for c in call.stack()]
                stacks[";".join(stack)] += call.instructions - call.callee_instructions
    except auxtrace.Error as error:
        sys.exit(f"{sys.argv[0]}: {error.strerror}")
    for stack, instructions in sorted(stacks.items()):
        if instructions:
            print(stack, instructions)


main()
