# SPDX-License-Identifier: GPL-2.0-only
"""What the module's source files are for, and how many instructions each such part takes."""
import collections

MEMBERS, EVENT, IOCTL, REQUEST, INTERRUPT, HARDWARE, RECORDS, SETTLE, KERNEL = PARTS = (
    "members of a task's scope", "the trigger and its event", "the ioctl", "the request and the inhibit mask",
    "the interrupt", "the hardware", "records", "the settle loop", "the kernel's")
# The first prefix that fits a file counts.
PREFIXES = (("trigger/task_scope.", MEMBERS), ("core/members.", MEMBERS), ("trigger/", EVENT),
            ("core/request.", REQUEST), ("core/inhibit.", REQUEST), ("core/remote.", REQUEST),
            ("core/channel.", REQUEST), ("hw/pmi.", INTERRUPT), ("hw/panic.", INTERRUPT), ("hw/", HARDWARE),
            ("core/record.", RECORDS), ("core/data_ring.", RECORDS), ("core/", SETTLE), ("-", KERNEL), ("", IOCTL))


def parts_of(lines):
    """@lines: (KEY..., FILE, INSTRUCTIONS). Returns KEY -> part -> instructions."""
    found = collections.defaultdict(collections.Counter)
    for *key, file, number in lines:
        part = next(part for prefix, part in PREFIXES if file.startswith(prefix))
        found[tuple(key)][part] += int(number)
    return found


def without_base(parts, base):
    """Returns @parts without the @base instructions that the kernel takes anyway."""
    parts = collections.Counter(parts)
    parts[KERNEL] -= int(base)
    return parts
