#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""make shell on a pseudo-terminal: the prompt comes, the commands that its banner proposes
work, Ctrl-C interrupts, Ctrl-D ends the machine, and the terminal is restored, also if make
shell is killed. Without a terminal, make shell refuses to start.
"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROMPT = re.compile(rb"\[6\.1[^ ]* \w+\]# ")
COMMAND = ["make", "-C", TOP, "shell", "KERNEL=6.1"]


class Terminal:
    """A pseudo-terminal with make shell on its other side."""

    def __init__(self):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(COMMAND[0], COMMAND)
        self.settings = termios.tcgetattr(self.fd)
        self.all = b""

    def read(self, pattern, seconds):
        """Read until the pattern, or until the end if there is none."""
        text, end = b"", time.monotonic() + seconds
        while not (pattern and pattern.search(text)):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                fail(self, f"nothing more came in {seconds} s, of {pattern}")
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # the other side is closed
                data = b""
            if not data and pattern:
                fail(self, "it ended")
            if not data:
                break
            text += data
            self.all += data
        return text

    def end(self):
        """Read until all have closed the terminal, and return make's exit status."""
        self.read(None, 60)
        if termios.tcgetattr(self.fd) != self.settings:
            fail(self, "the terminal is not as it was")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def run(self, command, *expected, interrupt_after=None):
        """Run a command at the prompt; its output must have each of the expected patterns."""
        os.write(self.fd, command.encode() + b"\r")
        if interrupt_after:
            # The command prints this itself: only then is it the terminal's foreground
            # process, to which Ctrl-C sends SIGINT. The shell may ignore one while it forks.
            self.read(interrupt_after, 300)
            os.write(self.fd, b"\x03")
        text = self.read(PROMPT, 300).decode(errors="replace")
        for pattern in expected:
            if not re.search(pattern, text, re.MULTILINE):
                fail(self, f"{command}: no {pattern!r}")
        print(f"ok: {command}", flush=True)


def fail(terminal, why):
    lines = terminal.all.decode(errors="replace").splitlines()
    print(*("    | " + line for line in lines[-40:]), sep="\n")
    sys.exit(f"shell: {why}")


refused = subprocess.run(COMMAND, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
assert refused.returncode != 0 and "must be a terminal" in refused.stderr, refused
print("ok: without a terminal it is refused", flush=True)

t = Terminal()
t.read(re.compile(rb"boots; the prompt comes"), 600)
deadline = time.monotonic() + 120
while termios.tcgetattr(t.fd) == t.settings:  # QEMU sets it up for itself
    if time.monotonic() > deadline:
        fail(t, "QEMU does not use the terminal")
    time.sleep(0.05)
os.kill(t.pid, signal.SIGTERM)
if not t.end():
    fail(t, "killed, and its exit status is 0")
print("ok: killed, it leaves the terminal as it was, and no process on it", flush=True)

t = Terminal()
t.read(PROMPT, 600)
print("ok: a prompt comes", flush=True)
t.run("auxtrace info", r"^auxtrace can trace here")
t.run("auxtrace record -k -o r -- ls /", r"bytes produced [1-9]")
t.run("auxtrace script r > calls; grep -c entry_SYSCALL_64 calls", r"decode errors: 0", r"^[1-9]\d*\s*$")
t.run("auxtrace record -o r2 -C 0 --overwrite --on "
      "'latency:uprobe:/bin/sessions:table_put..uretprobe:/bin/sessions:table_put>1ms=freeze' "
      "-- sessions 2000", r"frozen by trigger")
t.run("man auxtrace | sed -n 1,12p", r"^AUXTRACE\(1\)", r"record and show hardware instruction traces")
t.run("man auxtrace-script | sed -n 1,6p", r"^AUXTRACE-SCRIPT\(1\)")
t.run("man libauxtrace | sed -n 1,6p", r"^LIBAUXTRACE\(3\)")
t.run("region r3; auxtrace dump --summary r3", r"^psb +[1-9]")
t.run("sh -c 'echo st\"\"arted; exec sleep 1000'", interrupt_after=re.compile(rb"started"))
os.write(t.fd, b"\x04")
status = t.end()
if status:
    fail(t, f"exit status {status}")
print("ok: Ctrl-D ends it, and the terminal is as it was")
