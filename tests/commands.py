#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every command line of every document is run by a test, or tests/commands says why not.

usage: commands.py           is that so?
       commands.py list      all command lines, and what runs each
       commands.py typed     those that tests/guest/commands.sh types, each once: FILE:LINE, a tab, the line as it is typed
       commands.py systemd   the same of those that it types where there is systemd

A command line is
  * a line of a code block of Markdown: indented, or fenced without a language; in ```console those behind "# ";
  * code within Markdown's text, if it has arguments and its first word is one of PROGRAMS or a path of ours.
    `auxtrace script` alone is a name, and its options are held against the command by tests/man.py;
  * a line of a man page between .EX and .EE, or .nf and .fi; of a SYNOPSIS the compiler's.
A line that ends in \\ goes on in the next one. Comments do not count.

A test runs a command line if
  * docs/recipes.md has it in a block: tests/guest/recipes.sh types these;
  * it is on README's first page, under the heading that tests/host/deb-debian.sh looks for;
  * a proof of tests/proofs is that command, or it is `make check T=...` with names of proofs;
  * its block has a line that begins with "auxtrace": tests/guest/commands.sh types the block.
tests/commands has the others, and says at its top how.
"""
import fnmatch
import functools
import glob
import os
import re
import subprocess
import sys

LIST = "tests/commands"
TYPED = "typed", "systemd"
os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted(glob.glob("docs/*.md")), "tests/README.md", "bench/README.md",
             "emulator/README.md", *sorted(glob.glob("man/*.[1-9]")), *sorted(glob.glob("packaging/emulator/*.[1-9]"))]
PROGRAMS = set("apt cargo cc dkms echo gcc git make mokutil modprobe perf rpmbuild sysctl systemctl".split())
OURS = "bench/", "emulator/", "scripts/", "tests/"
SCRIPTS = "tests/", "scripts/", "debian/tests/", ".ci/"
FIRST_PAGE = "## With an Intel machine"


class Line:
    """A command line of a document. kind: where it stands: indented, console, man, text. first: of its block."""

    def __init__(self, path, number, text, section, kind, first=None):
        self.path, self.number, self.text, self.section, self.kind = path, number, text, section, kind
        self.squeezed, self.block, self.first = squeezed(text), [], first or self
        self.first.block.append(self)

    def where(self):
        return f"{self.path}:{self.number}"


def without_comment(text):
    """#include is not a comment."""
    return re.sub(r"(^|\s)#(\s.*|$)", "", text).strip()


def joined(lines):
    """(number, text) of whole lines: those that end in a backslash with what follows."""
    begun, number = "", 0
    for at, text in lines:
        number = number if begun else at
        begun += text.strip() if begun else text
        if begun.endswith("\\"):
            begun = begun[:-1].rstrip() + " "
        else:
            yield number, begun
            begun = ""
    if begun:
        yield number, begun


def in_block(path, lines, section, kind):
    first = None
    for number, text in joined(lines):
        text = without_comment(text)
        if text:
            first = Line(path, number, text, section, kind, first).first
            yield first.block[-1]


def of_console(path, lines, section, kind):
    return in_block(path, [(number, text[2:]) for number, text in lines if text.startswith("# ")], section, kind)


def is_command(words):
    return len(words) > 1 and (words[0] in PROGRAMS or words[0].startswith(OURS))


def in_text(path, lines, section, kind):
    """Code between backquotes, which may go on in the next line."""
    text = "\n".join(text for _, text in lines)
    for span in re.finditer(r"`([^`]+)`", text):
        words = span[1].split()
        if is_command(words):
            yield Line(path, lines[0][0] + text[:span.start()].count("\n"), " ".join(words), section, kind)


def markdown(path, source):
    section, fence, lines, kind = "", None, [], "text"

    def end():
        nonlocal lines
        found = {"text": in_text, "": in_block, "indented": in_block, "console": of_console}.get(kind)
        yield from found(path, lines, section, kind) if found and lines else ()
        lines = []

    before = ""
    for number, text in enumerate(source.split("\n") + [""], 1):
        if text.startswith("```"):
            yield from end()
            fence, kind = (None, "text") if fence is not None else (text[3:], text[3:])
            before = text
            continue
        if fence is None:
            # A paragraph of an item of a list is indented as well.
            if text.startswith("    ") and (kind == "indented" or not before.strip()):
                if kind != "indented":
                    yield from end()
                kind = "indented"
            elif text.strip() or kind == "text":
                if kind != "text" or not text.strip():
                    yield from end()
                kind = "text"
            if text.startswith("#"):
                section = text
        if text.strip() or fence is not None:
            lines.append((number, text))
        before = text
    yield from end()


def plain(text):
    """What roff source says, without its fonts and escapes."""
    text = re.sub(r"\\f(\[\w*\]|.)|\\%", "", text)
    for escape, char in ((r"\-", "-"), (r"\(dq", '"'), (r"\&", ""), (r"\e", "\\")):
        text = text.replace(escape, char)
    return text


def man_page(path, source):
    section, lines = "", None
    for number, text in enumerate(source.split("\n"), 1):
        if text.startswith(".SH "):
            section = text[4:].strip('"')
        elif text in (".EX", ".nf"):
            lines = []
        elif text in (".EE", ".fi"):
            if section == "SYNOPSIS":
                lines = [(n, line) for n, line in lines if line.startswith("cc ")]
            yield from in_block(path, lines or [], section, "man")
            lines = None
        elif lines is not None:
            lines.append((number, plain(text)))


def all_lines():
    found = []
    for path in DOCUMENTS:
        with open(path, encoding="utf-8") as file:
            source = file.read()
        of_path = list((markdown if path.endswith(".md") else man_page)(path, source))
        found += of_path
    return found


class Proofs:
    """What tests/proofs has: commands, and the files on which they depend."""

    def __init__(self):
        self.commands, self.patterns, groups = {}, {}, {}
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, text=True, check=True).stdout
        self.files = [path for path in listed.split("\n")
                      if os.path.isfile(path) and path not in DOCUMENTS + [LIST, "tests/proofs"]]
        with open("tests/proofs", encoding="utf-8") as table:
            for line in table:
                head, _, rest = line.split("#")[0].strip().partition(" : ")
                words = head.split()
                command, _, patterns = rest.rpartition(" : ")
                of_group = [p for word in (patterns if command else rest).split()
                            for p in (groups.get(word, []) if word.startswith("@") else [word])]
                if words and words[0].startswith("@"):
                    groups[words[0]] = of_group
                elif len(words) == 4:
                    self.commands[words[0]] = squeezed(command)
                    self.patterns[words[0]] = of_group

    @functools.cache
    def files_of(self, target):
        """Those on which a proof depends, or the file that is named."""
        if target not in self.commands:
            return [target]
        regex = re.compile("|".join(fnmatch.translate(p + "*" if p.endswith("/") else p) for p in self.patterns[target]))
        return [path for path in self.files if regex.match(path)]

    def have(self, target, quoted):
        """Is that in a proof's command, in what it runs of the files on which it depends, or in the file that is named?"""
        quoted = squeezed(quoted)
        return quoted in self.commands.get(target, "") or any(quoted in text_of(p) for p in self.files_of(target) if may_run(p))


def may_run(path):
    """Test programs, scripts and make's files: what the product's sources have runs nothing for a document."""
    return path.startswith(SCRIPTS) or os.path.basename(path) == "Makefile" or path.endswith(".mk")


@functools.cache
def text_of(path):
    """What a file has beside comments, which run nothing."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if path.endswith((".c", ".h", ".S", ".rs")):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    else:
        text = "\n".join(without_comment(line) for line in text.split("\n"))
    return squeezed(text)


def squeezed(text):
    return re.sub(r"\s+", " ", text.replace("\\\n", " ")).strip()


class Entry:
    """A line of tests/commands."""

    def __init__(self, number, pattern, target, reason):
        self.number, self.pattern, self.target, self.reason = number, squeezed(pattern), target, reason
        self.used = 0
        # Only * is any text.
        self.regex = re.compile(".*".join(re.escape(part) for part in self.pattern.split("*")))

    def matches(self, line):
        return bool(self.regex.fullmatch(line.squeezed))


class Commands:
    def __init__(self):
        self.lines, self.proofs, self.faults = all_lines(), Proofs(), []
        self.entries, self.changes = [], []
        with open(LIST, encoding="utf-8") as file:
            for number, text in joined(enumerate(file.read().split("\n"), 1)):
                if not text.strip() or text.startswith("# ") or text == "#":
                    continue
                change = re.fullmatch(r"(.*\S) => (.*\S) \| (\S.*)", text)
                entry = re.fullmatch(r"(.*\S) : (\S+) \| (\S.*)", text)
                if change:
                    self.changes.append([number, change[1], change[2], 0])
                elif entry:
                    self.entries.append(Entry(number, *entry.groups()))
                else:
                    self.fault(number, f"not an entry: {text}")

    def fault(self, number, text):
        self.faults.append(f"{LIST}:{number}: {text}")

    def entry(self, line):
        """That of the line, or the one by which its block is none of commands."""
        found = next((e for e in self.entries if e.matches(line)), None)
        if not found and line.first is not line:
            found = next((e for e in self.entries if e.target == "text" and e.matches(line.first)), None)
        return found

    def runs(self, line):
        """The proof that runs the line as it stands, or None."""
        text = line.squeezed
        if line.path == "docs/recipes.md" and line.kind == "console":
            return "recipes"
        if line.path == "README.md" and line.section.startswith(FIRST_PAGE) and line.kind == "indented":
            return "deb-debian-12"
        for name, command in self.proofs.commands.items():
            if command == text:
                return name
        names = re.fullmatch(r'make check T=(?:"([^"]*)"|(\S+))', text)
        if names:
            names = (names[1] or names[2]).split()
            return names[0] if all(name in self.proofs.commands for name in names) else None
        if any(of_block.text.startswith("auxtrace ") for of_block in line.first.block):
            return "typed"
        return None

    def run_by(self, line):
        """What runs the line: a proof, or what its entry says; None if nothing."""
        entry = self.entry(line)
        if entry:
            entry.used += 1
            return entry.target
        return self.runs(line)

    def typed(self, line):
        """The line as the guest types it."""
        text = line.text
        for change in self.changes:
            if re.search(rf"(?<!\S){re.escape(change[1])}(?!\S)", text):
                change[3] += 1
                text = re.sub(rf"(?<!\S){re.escape(change[1])}(?!\S)", lambda _, to=change[2]: to, text)
        return text

    def check_entry(self, entry):
        if not entry.used:
            self.fault(entry.number, f"no document has such a line any more: {entry.pattern}")
        if entry.target in ("none", "text", "typed", "systemd"):
            return
        if entry.target not in self.proofs.commands and entry.target not in self.proofs.files:
            self.fault(entry.number, f"neither a proof nor a file: {entry.target}")
            return
        quoted = re.findall(r"`([^`]+)`", entry.reason)
        if not quoted:
            self.fault(entry.number, f"the reason does not quote, in backquotes, what {entry.target} runs")
        for text in quoted:
            if not self.proofs.have(entry.target, text):
                self.fault(entry.number, f"{entry.target} does not have: {text}")

    def verify(self):
        counts = {}
        for line in self.lines:
            target = self.run_by(line)
            if target is None:
                self.faults.append(f"{line.where()}: no test runs this: {line.text}\n"
                                   f"    Have a proof of tests/proofs run it, or add a line to {LIST}, whose top says how.")
                continue
            counts[target] = counts.get(target, 0) + 1
            if target in TYPED:
                self.typed(line)
        for entry in self.entries:
            self.check_entry(entry)
        for number, text, _, used in self.changes:
            if not used:
                self.fault(number, f"no line that is typed has: {text}")
        self.check_first_page()
        # A document from which nothing is found has a form that this script does not know.
        for path in DOCUMENTS:
            if not any(line.path == path for line in self.lines) and not may_have_none(path):
                self.faults.append(f"{path}: no command line is found in it")
        for fault in self.faults:
            print(f"commands: {fault}")
        if self.faults:
            return 1
        none, text = counts.pop("none", 0), counts.pop("text", 0)
        print(f"{sum(counts.values()) + none} command lines of {len(DOCUMENTS)} documents: tests/host/commands.sh types "
              f"{sum(counts.pop(how, 0) for how in TYPED)}, other tests run {sum(counts.values())}, {LIST} says of {none} why no machine here "
              f"can. {text} other lines stand in blocks like these.")
        return 0

    def check_first_page(self):
        """The script that types README's first page looks for its heading."""
        with open("tests/host/deb-debian.sh", encoding="utf-8") as file:
            if f"/^{FIRST_PAGE}/" not in file.read():
                self.faults.append(f"tests/host/deb-debian.sh does not type what is under {FIRST_PAGE}")
        if sum(line.section.startswith(FIRST_PAGE) for line in self.lines) < 9:
            self.faults.append(f"README.md has hardly a command under {FIRST_PAGE}")


def may_have_none(path):
    return path in ("docs/glossary.md", "docs/architecture.md")


def main():
    what = sys.argv[1:] or ["verify"]
    commands = Commands()
    if what == ["verify"]:
        return commands.verify()
    if what == ["list"]:
        for line in commands.lines:
            print(f"{commands.run_by(line) or 'NOTHING':16} {line.where()}: {line.text}")
        return 0
    if what in (["typed"], ["systemd"]):
        done = set()
        for line in commands.lines:
            if commands.run_by(line) == what[0] and line.squeezed not in done:
                done.add(line.squeezed)
                print(f"{line.where()}\t{commands.typed(line)}")
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
