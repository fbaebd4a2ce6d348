#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The pages in build/html have the words of what they show: for tests/html.sh."""
import collections
import glob
import html.parser
import os
import re
import subprocess
import sys


class Article(html.parser.HTMLParser):
    """The words of a page's body, without its navigation; what it links to."""

    BLOCKS = {"p", "li", "dt", "dd", "td", "th", "pre", "h1", "h2", "h3", "h4", "div", "br", "tr"}

    def __init__(self, path):
        super().__init__()
        self.depth, self.text, self.links, self.numbers = 0, [], set(), []
        with open(path, encoding="utf-8") as page:
            self.feed(page.read())
        self.words = re.sub("\u00b6", "", "".join(self.text)).split()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "div":
            if self.depth or attrs.get("class") == "body":
                self.depth += 1
        if self.depth and tag in self.BLOCKS:
            self.text.append(" ")
        if not self.depth:
            return
        if tag == "a":
            self.links.add(attrs.get("href", ""))
        elif tag == "img":
            self.text.append(" %s " % attrs.get("alt", ""))
        elif tag in ("ol", "ul"):
            self.numbers.append(int(attrs.get("start", 1)) if tag == "ol" else None)
        elif tag == "li" and self.numbers[-1] is not None:
            # The browser writes these.
            self.text.append("%d. " % self.numbers[-1])
            self.numbers[-1] += 1

    def handle_endtag(self, tag):
        if self.depth and tag in self.BLOCKS:
            self.text.append(" ")
        if self.depth and tag in ("ol", "ul"):
            self.numbers.pop()
        if self.depth and tag == "div":
            self.depth -= 1

    def handle_data(self, data):
        if self.depth:
            self.text.append(data)


def of_man(path):
    """What man shows of a page, without the lines at its top and its end that have its name and date."""
    shown = subprocess.run(["man", "--no-hyphenation", "--no-justification", "--encoding=UTF-8", "--local-file", path],
                           env=dict(os.environ, MANWIDTH="5000", LC_ALL="C.UTF-8", MAN_KEEP_FORMATTING="",
                                    GROFF_NO_SGR="1"),
                           stdout=subprocess.PIPE, check=True, text=True).stdout
    return re.sub(".\b", "", shown).strip().split("\n", 1)[1].rsplit("\n", 1)[0].split()


def of_markdown(path):
    """A document's words, without the signs that only mark them up."""
    with open(path, encoding="utf-8") as text:
        text = text.read()
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^```.*$", "", text, flags=re.M)
    text = re.sub(r"\]\([^)]*\)", " ", text)
    text = re.sub(r"^(\|?[ :|-]+\|[ :|-]*|=+)$", "", text, flags=re.M)
    return text.split()


def letters(words):
    """How often each run of letters and digits is there: signs may be set in another way."""
    return collections.Counter(re.findall(r"\w+", " ".join(words).replace("_", "\u01c2")))


def main():
    failed = checked = 0
    pages = [(page, f"build/html/man/{os.path.basename(page)}.html", of_man)
             for page in sorted(glob.glob("build/man/*.[1-9]"))]
    pages += [(page, "build/html/" + ("index" if page == "README.md" else page[:-len(".md")]) + ".html", of_markdown)
              for page in subprocess.run(["git", "ls-files", "*.md"], stdout=subprocess.PIPE, check=True,
                                         text=True).stdout.split() if not page.startswith("docs/html/")]
    pages += [(header, "build/html/docs/html/headers.html", lambda path: open(path, encoding="utf-8").read().split())
              for header in ("include/uapi/linux/auxtrace.h", "include/auxtrace.h", "include/auxtrace-decode.h")]
    for source, page, words in pages:
        try:
            lost = letters(words(source)) - letters(Article(page).words)
        except FileNotFoundError:
            print(f"html: {source} has no page {page}")
            failed += 1
            continue
        if lost:
            print(f"html: {page} lacks words of {source}:", *list(lost.items())[:20])
            failed += 1
        checked += 1
    if checked < 40:
        sys.exit(f"html: only {checked} pages were compared")
    if failed:
        sys.exit(1)
    print(f"ok: {checked} man pages, documents and headers lose no word")

    for page, link in (("index", "docs/security.html"), ("man/auxtrace-record.1", "auxtrace-script.1.html"),
                       ("man/libauxtrace-reader.3", "libauxtrace-session.3.html")):
        if link not in Article(f"build/html/{page}.html").links:
            sys.exit(f"html: {page} mentions what {link} has, and has no link to it")
    print("ok: mentions of documents, man pages and functions are links")


main()
