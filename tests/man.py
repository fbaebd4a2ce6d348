#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The man pages in build/man have what they describe, and nothing else: for tests/man.sh."""
import collections
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

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
    text = re.sub(r"\\f(\[\w*\]|.)|\\%", "", text)
    for escape, char in ((r"\-", "-"), (r"\(dq", '"'), (r"\e", "\\"), (r"\&", "")):
        text = text.replace(escape, char)
    return text


class Page:
    """A page's source, by sections."""

    def __init__(self, path):
        self.path = path
        self.name = re.sub(r"\.(\d)$", r"(\1)", os.path.basename(path))
        self.text = open(path, encoding="utf-8").read().replace("\\\n", "")
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


def pages(pattern="*.[1-9]"):
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


def check_references():
    """Each page of ours that a page names is there."""
    there = {page.name for page in pages()}
    wrong = []
    for page in pages():
        for name, section in re.findall(r"((?:lib)?auxtrace[a-z\\-]*)(?: |\\fR)?(\(\d\))", page.text):
            if plain(name) + section not in there:
                wrong.append(f"{page.name} names {plain(name)}{section}")
    hold("pages name pages that are there", set(wrong))


def check_links():
    """Each function that a page names leads to that page, by its link."""
    named, links = set(), set()
    for page in pages("libauxtrace*.3"):
        named |= {(name, page.name) for name in re.findall(r"^(auxtrace_\w+),?$", page.sections["NAME"], re.M)}
    for path in glob.glob("build/man/links/*.3"):
        to = re.fullmatch(r"\.so man3/([a-z-]+)\.3\n", open(path, encoding="utf-8").read())
        links.add((os.path.basename(path)[:-2], f"{to[1]}(3)" if to else None))
    both("each function has a link to its page", "build/man/links", links, named, "NAME")


HEADER = "include/uapi/linux/auxtrace.h"


def by_dividers(header):
    """The header's text by its dividers, with their titles as the page has them."""
    parts = re.split(r"^/\* ---- (.*?) -+ \*/$", header, flags=re.M)
    return {title.upper(): text for title, text in zip(parts[1::2], parts[2::2])}


def by_headings(page):
    """The page's text by sections and subsections."""
    parts = re.split(r"^\.S[HS] (.*)$", page.text, flags=re.M)
    return {plain(title): text for title, text in zip(parts[1::2], parts[2::2])}


def errors(text, pattern):
    """The lists of errors in a text, one after another."""
    return re.findall(pattern, text, re.M)


def words_of_header(header):
    """How often each word is in what the header declares and in its comments."""
    text = header[header.index(" * DOC: "):header.rindex("#endif")]
    text = re.sub(r"^#(ifndef|define _UAPI|include).*$", "", text, flags=re.M)
    text = re.sub(r"\(1u << (\d+)\)", r"bit \1", text)
    text = re.sub(r"^#define", "", text, flags=re.M)
    text = text.replace("DOC: ", "").upper()
    return collections.Counter(re.findall(r"\w+", text))


def words_of_page(page):
    """The same of the sections that come from it."""
    text = page.text[page.text.index(".SS "):page.text.index(".SH MODULE PARAMETERS")]
    text = re.sub(r"^\.SH IOCTLS\n.*?(?=^\.TP)", "", text, flags=re.M | re.S)
    text = re.sub(r"^\.IP \\\(bu 2$|^\.PD 0$", "", text, flags=re.M)
    text = re.sub(r"^\.IP (\d)\. 3$", r"\1", text, flags=re.M)
    text = re.sub(r"^\.(TP|PP|EX|EE|PD|SS|SH)\b", "", text, flags=re.M)
    return collections.Counter(re.findall(r"\w+", plain(text).upper()))


def check_device():
    header = open(HEADER, encoding="utf-8").read()
    page = Page("build/man/auxtrace.4")
    defines = dict(re.findall(r"^#define (AUXTRACE_\w+)(?:\([a-z, ]*\))?\s+(\S.*)$", header, re.M))
    tags = {tag.split("(")[0]: tag for tag in page.tags() if tag.startswith("AUXTRACE_")}
    both("auxtrace(4) has each constant: ioctls, flags, kinds, record types, causes, regions", page.name,
         set(tags), set(defines), HEADER)
    wrong = []
    for name, value in defines.items():
        number = re.match(r"(?:\(1u << (\d+)\)|(\w+))(?:\s|$)", value)
        said = re.search(rf"^\\fB{name}\\fR\n(.*)", page.text, re.M)
        if number and said:
            expected = f"bit {number[1]}" if number[1] else number[2]
            if not re.match(rf"{expected}(:|$)", said[1]):
                wrong.append(f"{name} is {expected}, but {said[1]} on the page")
    hold("with its value", wrong)
    wrong = set()
    for word, more in re.findall(r"\b(AUXTRACE_\w+)(\*?)", plain(page.text.split(".SH DESCRIPTION")[1])):
        if word not in defines and not (more and any(name.startswith(word) for name in defines)):
            wrong.add(f"{word}{more}")
    hold("it has no constant that is not there", wrong)

    def squeezed(text):
        return re.sub(r"\s+", " ", text).strip()

    both("it has each struct as it is", page.name,
         {squeezed(plain(text)) for text in re.findall(r"^\.EX\n(struct .*?^};)\n\.EE", page.text, re.M | re.S)},
         {squeezed(text) for text in re.findall(r"^struct \w+ \{.*?^};", header, re.M | re.S)}, HEADER)
    here, there = by_headings(page), by_dividers(header)
    wrong = []
    for title, text in there.items():
        if title not in here:
            wrong.append(f"no section {title}")
            continue
        expected = errors(text, r"^ \*  (E[A-Z0-9]+)  +\S")
        found = errors(here[title], r"^\.TP\n\\fB(E[A-Z0-9]+)\\fR$")
        if expected != found:
            wrong.append(f"{title}: the errors are {expected}, but {found} on the page")
    if sum(len(errors(text, r"^ \*  (E[A-Z0-9]+)  +\S")) for text in there.values()) < 40:
        wrong.append(f"few errors are found in {HEADER}")
    hold("it has the errors of each call", wrong)
    expected, found = words_of_header(header), words_of_page(page)
    hold("it has each word of the header as often as that, and no other",
         [f"{n} times fewer: {word}" for word, n in (expected - found).items()] +
         [f"{n} times more: {word}" for word, n in (found - expected).items()])
    parameters = set()
    for path in glob.glob("module/**/*.c", recursive=True):
        parameters |= set(re.findall(r"module_param\w*\((\w+),", open(path, encoding="utf-8").read()))
    both("it has the parameters of the module", page.name,
         {tag.split()[0] for tag in page.tags("MODULE PARAMETERS")}, parameters, "module/")
    example = re.search(r"^\.EX\n(.*?)^\.EE", page.sections["EXAMPLES"], re.M | re.S)[1]
    compiled = subprocess.run(["gcc", "-x", "c", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                               "-Iinclude/uapi", "-"], input=plain(example), capture_output=True, text=True, check=False)
    hold("its example compiles", compiled.stderr.splitlines())


def words_written(path):
    """The words that begin a line, or stand before a number, in what a source file writes."""
    source = open(path, encoding="utf-8").read()
    found = set(re.findall(r'\? " ([a-z]+) "', source))
    for literals in re.findall(r'fprintf\(f, ((?:"(?:[^"\\]|\\.)*"|PRI\w+|\s)+)', source):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace(r"\n", "\n")
        found |= set(re.findall(r"^ ?([a-z_0-9]+)\b", text, re.M)) | set(re.findall(r"(?:^| )([a-z_0-9]+) %", text, re.M))
    return found


def words_of_tables(path, how):
    """The words of the tables in a source file, or those that it compares with."""
    return set(re.findall(how, open(path, encoding="utf-8").read()))


FIELD = r'\{ "([a-z_0-9]+)", (?:&|p->|cut->|stream->)'
COMPARED = r'strcmp\((?:key|line|value|name), "([a-z_0-9.]+)"\)'


def check_recording():
    page = Page("build/man/auxtrace-recording.5")

    def keys(section):
        return {word.split()[0] for tag in page.tags(section) for word in tag.split(", ")}

    written = words_written("userlib/meta.c") | words_of_tables("userlib/meta.c", FIELD)
    for path in glob.glob("userlib/trace_pmu_*.c") + ["userlib/trigger.c"]:
        written |= words_written(path)
    both("auxtrace-recording(5) has the keys of meta", page.name, keys("META"), written, "userlib/")
    read = words_of_tables("tools/lib/meta.c", FIELD) | words_of_tables("tools/lib/meta.c", COMPARED)
    if len(read) < 30:
        sys.exit(f"man: tools/lib/meta.c reads {read} only")
    hold("all that tools/lib/meta.c reads of it", read - keys("META"))
    both("it has the keys of task.PID", page.name, keys("PROCESSES"), words_written("userlib/space.c"),
         "userlib/space.c")
    read = words_of_tables("tools/decode/tasks.c", r'strcmp\(line, "([a-z_0-9.]+)"\)')
    if len(read) < 5:
        sys.exit(f"man: tools/decode/tasks.c reads {read} only")
    hold("all that tools/decode/tasks.c reads of it", read - keys("PROCESSES"))
    keys_lost = keys("WHAT THE RECORDER LOST")
    both("it has the keys of followed", page.name, keys_lost, words_written("tools/lib/followed.c"), "tools/lib/followed.c")
    hold("all that it reads of it", words_of_tables("tools/lib/followed.c", r'strcmp\(key, "(\w+)"\)') - keys_lost)
    # What the library removes of an earlier recording are the files that one has.
    source = open("userlib/recording_dir.c", encoding="utf-8").read()
    names = set(re.findall(r'"([a-z.]+)"', re.search(r"plain\[\] = \{(.*?)\}", source, re.S)[1]))
    names |= {prefix + "PID[.N]" for prefix in re.findall(r'strncmp\(name, "([a-z]+\.)", [45]\)', source)}
    names |= {"cpuN" + suffix for suffix in re.findall(r'has_suffix\(name, "(\.\w+)"\)', source)}
    names |= {prefix + "NNNN" for prefix in re.findall(r'strncmp\(name, "([a-z]+\.)", 9\)', source)}
    both("it has the files", page.name, {word for tag in page.tags("FILES") for word in tag.split(", ")}, names,
         "userlib/recording_dir.c")


PROGRAM = """
int serve(int n);
__attribute__((noinline)) int serve(int n) { return n + 1; }
__attribute__((noinline)) void fatal(void) { __builtin_trap(); }
int main(int argc, char **argv) { (void)argv; if (argc > 9) fatal(); return serve(argc) - argc - 1; }
"""


def examples(page):
    """The lines of commands in a page: of all that is not filled."""
    for block in re.findall(r"^\.(?:EX|nf)\n(.*?)^\.(?:EE|fi)", page.text, re.M | re.S):
        for line in re.sub(r"\\\n\s*", "", plain(block)).split("\n"):
            yield line.strip()


def simple_commands(line):
    """The commands of a line of sh, as words, without redirections."""
    words, skip = [], False
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    for word in lexer:
        if skip:
            skip = False
        elif set(word) <= set("<>"):
            skip = True
        elif set(word) <= set("();|&"):
            if words:
                yield words
            words = []
        else:
            words.append(word)
    if words:
        yield words


def check_examples():
    """The command understands each example of its own: it does not answer with wrong usage."""
    device = os.path.exists("/dev/auxtrace")
    wrong, tried, left = [], collections.Counter(), 0
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["gcc", "-O1", "-x", "c", "-o", f"{work}/prog", "-"], input=PROGRAM, text=True, check=True)
        environment = dict(os.environ, PATH=f"{work}:{os.environ['PATH']}")
        for page in pages("*.1") + pages("*.[58]"):
            for line in examples(page):
                for words in simple_commands(line) if line.startswith("auxtrace ") else ():
                    if words[0] != "auxtrace" or any(set(word) & set("[]") for word in words):
                        continue    # another command's, or a synopsis
                    if device and words[1] in ("record", "last", "why-slow"):
                        left += 1
                        continue
                    words = [word.replace("/usr/bin/prog", f"{work}/prog") for word in words[1:]]
                    done = run(*words, cwd=work, env=environment, stdin=subprocess.DEVNULL, timeout=60)
                    tried[words[0]] += 1
                    if done.returncode == 2 or done.returncode > 125:
                        wrong.append(f"{page.name}: {line}\n        {done.stderr.strip()}")
    wrong += [f"{name} has no example" for name in commands() if not tried[name] and not left]
    hold(f"the command understands the examples, of which {tried.total()} were tried", wrong)
    if left:
        print(f"{left} examples were not tried: they would record, as there is /dev/auxtrace")


check_commands()
check_references()
check_links()
check_device()
check_recording()
check_examples()
sys.exit(failed)
