# SPDX-License-Identifier: GPL-2.0-only
"""Maps kernel addresses to functions, by /proc/kallsyms."""
import bisect


class Symbols:
    def __init__(self, path):
        found = []
        with open(path) as f:
            for line in f:
                words = line.split()
                if words[1] in "tTwW":
                    found.append((int(words[0], 16), words[2], words[3:]))
        found.sort()
        self.addresses = [address for address, _, _ in found]
        self.names = [name for _, name, _ in found]
        self.by_name = {name: address for address, name, _ in found}
        self.in_module = {(name, module[0].strip("[]")): address
                          for address, name, module in found if module}

    def name(self, pc):
        i = bisect.bisect_right(self.addresses, pc) - 1
        return self.names[i] if i >= 0 else hex(pc)
