# SPDX-License-Identifier: GPL-2.0-only
"""Maps addresses of the module's .text to its source files and inlined functions, by its debug information."""
import collections
import subprocess
import sys

# Small helpers whose instructions belong to the file that uses them.
HELPERS = ("base/", "compat/", "core/state.h", "hw/msr.h")


class Sources:
    def __init__(self, module, text):
        """@module: the .ko; @text: the address of its .text in the guest."""
        self.module, self.text = module, text
        self.frames = {}
        sections = subprocess.run(["objdump", "--section-headers", module], check=True, capture_output=True, text=True)
        if " .debug_info " not in sections.stdout:
            sys.exit(f"sources: {module} has no debug information: nothing says which file an instruction is of")

    def load(self, pcs):
        """Looks up @pcs, all at once. An address that is not the module's stays unknown."""
        new = sorted({pc for pc in pcs if pc >= self.text} - self.frames.keys())
        if not new:
            return
        # Without --pretty-print each frame, innermost first, is a line with the function and one with FILE:LINE.
        out = subprocess.run(["addr2line", "--addresses", "--inlines", "--functions", "--section=.text",
                              f"--exe={self.module}"], check=True, capture_output=True, text=True,
                             input="".join(f"{pc - self.text:#x}\n" for pc in new)).stdout.splitlines()
        frames = None
        for line in out:
            if line.startswith("0x"):
                frames = self.frames[int(line, 16) + self.text] = []
            elif not frames or len(frames[-1]) == 2:
                frames.append([line])
            else:
                frames[-1].append(line.rsplit(":", 1)[0].rpartition("/module/")[2])

    def frame(self, pc):
        """Returns the function and the file that the instruction is for; None if it is not the module's."""
        ours = [frame for frame in self.frames.get(pc, ()) if frame[1]]
        return next((frame for frame in ours if not frame[1].startswith(HELPERS)), ours[-1] if ours else None)

    def files(self, pcs):
        """Returns how many of @pcs each file has. "-": the kernel's, such as a thunk that a call of ours takes."""
        self.load(pcs)
        return collections.Counter(frame[1] if (frame := self.frame(pc)) else "-" for pc in pcs)

    def functions(self, pcs, symbols):
        """The same by function; the kernel's by their own."""
        self.load(pcs)
        return collections.Counter(frame[0] if (frame := self.frame(pc)) else symbols.name(pc) for pc in pcs)
