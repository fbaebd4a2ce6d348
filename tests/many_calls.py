#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a recording without a machine: in the kernel's code, main calls f so often.

    many_calls.py DIR CALLS
"""

import os
import struct
import sys

KERNEL = 0xffffffff81000000

# main: call f; jmp main; f: ret. Each bit of TNT packets is a return of f; the trace ends before the last one.
CODE = bytes([0xe8, 0x03, 0, 0, 0, 0xeb, 0xf9, 0x90, 0xc3])


def make(directory, calls):
    def write(name, data):
        with open(os.path.join(directory, name), "wb") as f:
            f.write(data)

    os.mkdir(directory)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    write("kcore", header + struct.pack("<IIQQQQQQ", 1, 5, 120, KERNEL, 0, len(CODE), len(CODE), 1) + CODE)
    write("kallsyms", b"%x T main\n%x T f\n" % (KERNEL, KERNEL + 8))
    trace = b"\x02\x82" * 8 + b"\x99\x01" + b"\x02\x23" + b"\x71" + (KERNEL & (1 << 48) - 1).to_bytes(6, "little")
    trace += b"\xfe" * (calls // 6)
    write("cpu0.aux", trace)
    write("meta", b"auxtrace_recording 1\nflags 1\ncpu 0 windows 1 read %d produced %d\n" % (len(trace), len(trace)))


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]))
