#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The man pages in build/man have what they describe, and nothing else: for tests/man.sh."""
import glob
import os
import re
import subprocess
import sys

COMMAND = os.path.abspath("build/tools/auxtrace")
failed = False


def hold(what, wrong):
    """Print that something holds, or what of it does not."""
    global failed
    wrong = sorted(wrong)
    if wrong:
        failed = True
        print(f"man: not so: {what}:", *wrong, sep="\n    ")
    else:
        print(f"ok: {what}")


def both(what, page, here, there, where):
    """Hold two sets against each other."""
    if len(there) < 1:
        sys.exit(f"man: nothing was found in {where}")
    hold(what, [f"{page} has no {x}, but {where}" for x in there - here] +
         [f"{page} has {x}, but not {where}" for x in here - there])


def plain(text):
    """What roff source says, without its fonts and escapes."""
    text = re.sub(r"\\f(\[\w*\]|.)", "", text)
    for escape, char in ((r"\-", "-"), (r"\(dq", '"'), (r"\e", "\\"), (r"\&", "")):
        text = text.replace(escape, char)
    return text


class Page:
    """A page's source, by sections."""

    def __init__(self, path):
        self.path = path
        self.name = re.sub(r"\.(\d)$", r"(\1)", os.path.basename(path))
        self.text = open(path, encoding="utf-8").read()
        parts = re.split(r"^\.SH (.*)\n", self.text, flags=re.M)
        self.sections = {plain(title).strip('"'): body for title, body in zip(parts[1::2], parts[2::2])}

    def tags(self, section=None):
        """The tags of its lists, as plain text."""
        lines = (self.sections[section] if section else self.text).split("\n")
        found = []
        for i, line in enumerate(lines):
            if line == ".TP" or line.startswith(".TQ"):
                tag = lines[i + 1]
                macro = re.match(r"\.(BR|BI|RB|IR|IB|RI|B|I) (.*)", tag)
                if macro:
                    # Arguments join; in quotes they keep their blanks.
                    words = re.findall(r'"([^"]*)"|(\S+)', macro[2])
                    joined = "".join if len(macro[1]) == 2 else " ".join
                    tag = joined(quoted or word for quoted, word in words)
                found.append(plain(tag))
        return found


def pages(pattern="*"):
    return [Page(path) for path in sorted(glob.glob(f"build/man/{pattern}"))]


def run(*arguments, **more):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False, **more)


def commands():
    """The subcommands, as the command lists them."""
    found = re.findall(r"^  ([a-z-]+) +\S", run("--help").stdout, re.M)
    if len(found) < 9:
        sys.exit(f"man: auxtrace --help lists {found} only")
    return found


def options_of_help(command):
    """The options that begin lines of its --help, short and long; True: with an argument."""
    found = {}
    for line in run(command, "--help").stdout.split("\n"):
        m = re.match(r" +(?:(-\w), )?(--[a-z0-9-]+)( [A-Z]\S*)?", line)
        if m:
            for option in m[1], m[2]:
                if option:
                    found[option] = bool(m[3])
    return found


def options_of_page(page):
    """Those that its lists have, as tags."""
    found = set()
    for tag in page.tags():
        for word in re.split(r"[\s,]+", tag) if tag.startswith("-") else []:
            if word.startswith("-"):
                found.add(word.split("=")[0])
    return found


def check_commands():
    names = commands()
    own = {f"auxtrace-{name}(1)" for name in names}
    both("each subcommand has a page", "build/man", {p.name for p in pages("auxtrace-*.1")}, own, "auxtrace --help")
    overview = Page("build/man/auxtrace.1")
    both("auxtrace(1) lists them", "auxtrace(1)",
         {tag for tag in overview.tags() if re.fullmatch(r"auxtrace-[a-z-]+\(1\)", tag)}, own, "auxtrace --help")
    for name in names:
        page = Page(f"build/man/auxtrace-{name}.1")
        both(f"{page.name} has the options of --help", page.name, options_of_page(page),
             set(options_of_help(name)), f"auxtrace {name} --help")


check_commands()
sys.exit(failed)
