#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trace a few lines of Python on CPU 0 with the raw ioctls of /dev/auxtrace.

Layouts, flags and offsets are those of <linux/auxtrace.h>. Run it as root.
"""
import ctypes, fcntl, mmap, os, struct

SETUP, START, STOP, PAUSE, RESUME = (0xa7 << 8 | nr for nr in range(1, 6))
KERNEL, USER, PAUSED = 1 << 0, 1 << 1, 1 << 3
STATUS, AUX = 0, 2  # regions of a channel
CPU, AUX_SIZE, TSC = 0, 1 << 20, 1 << 10

def call(number, layout, *values):
    """Call an ioctl with a struct: its size, then the values in the given layout."""
    size = struct.calcsize("=I" + layout)
    fcntl.ioctl(device, number, bytearray(struct.pack("=I" + layout, size, *values)))

def region(which, size):
    return mmap.mmap(device, size, mmap.MAP_SHARED, mmap.PROT_READ, offset=CPU << 20 | which << 16)

os.sched_setaffinity(0, {CPU})
device = os.open("/dev/auxtrace", os.O_RDWR | os.O_CLOEXEC)
cpus = ctypes.create_string_buffer(bytes([1 << CPU]), 8)
call(SETUP, "3I6Q4IQ2I", KERNEL | USER | PAUSED, 0, 8, ctypes.addressof(cpus), TSC, AUX_SIZE, *[0] * 10)
page, aux = region(STATUS, mmap.PAGESIZE), region(AUX, AUX_SIZE)
call(START, "I", 0)
for n in (10, 100, 1000):
    call(RESUME, "3I2Q2I", *[0] * 7)  # all CPUs, no effects wanted
    sum(range(n))
    call(PAUSE, "3I2Q2I", *[0] * 7)
    # The session is paused, so the page is stable: produced is at offset 144, windows at 152.
    produced, windows = (struct.unpack_from("=Q", page, at)[0] for at in (144, 152))
    print(f"window {windows}: {produced} bytes so far, the first {aux[:16].hex()}")
call(STOP, "I", 0)
