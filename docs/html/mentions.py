# SPDX-License-Identifier: GPL-2.0-only
"""A Sphinx extension: the mention of a man page, a document or a function becomes a link.

The sources mention them as people do who read them in an editor or by man(1): auxtrace-record(1),
`docs/security.md`, auxtrace_open(). A mention of a page or a document that does not exist is a
warning, as that of any other reference is.
"""
import os
import posixpath
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

PAGE = re.compile(r"\b((?:lib)?auxtrace(?:-[a-z]+)*)\(([1-8])\)")
DOCUMENT = re.compile(r"[A-Za-z/-]+\.md$")
FUNCTION = re.compile(r"(auxtrace_[a-z_]+)\(\)$")
# A man page has a name in bold and what belongs to it in the text behind.
BOLD = re.compile(r"(?:lib)?auxtrace[a-z_-]*$")
BEHIND_BOLD = re.compile(r"\([1-8]?\)")
# Nothing in these becomes a link.
CLOSED = (nodes.title, nodes.literal_block, nodes.reference, addnodes.pending_xref)


class Mentions(SphinxTransform):
    # After the parser, and before Sphinx resolves references
    default_priority = 400

    def apply(self, **kwargs):
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, (nodes.literal, nodes.strong)):
                self.whole(text.parent)
            elif text.parent is not None and not is_within(text, CLOSED):
                self.within(text)

    def document_of(self, words):
        """The document that words, and nothing else, mention; None if they mention none."""
        page, function = PAGE.fullmatch(words), FUNCTION.match(words)
        if page:
            return "man/%s.%s" % page.groups()
        if function:
            return self.app.auxtrace_functions.get(function.group(1))
        if words == "README.md":
            return "index"
        if DOCUMENT.match(words):
            # A file beside the one that names it, or a path from the top
            path = words[:-len(".md")]
            beside = posixpath.join(posixpath.dirname(self.env.docname), path)
            return beside if beside in self.env.found_docs else path
        return None

    def link(self, document, children):
        reference = addnodes.pending_xref(
            "", refdomain="std", reftype="doc", reftarget="/" + document, refexplicit=True, refwarn=True,
            refdoc=self.env.docname)
        reference += children
        return reference

    def whole(self, node):
        document = self.document_of(node.astext())
        if document not in (None, self.env.docname) and not is_within(node, CLOSED):
            node.replace_self(self.link(document, node.deepcopy()))

    def within(self, text):
        """Man pages among other words, and the rest of a mention that begins in bold."""
        words, parent, parts, end = text.astext(), text.parent, [], 0
        # Texts compare as strings do: index() would find another one with the same words.
        at = next(i for i, child in enumerate(parent) if child is text)
        begin = at
        rest = BEHIND_BOLD.match(words)
        if rest and at and isinstance(parent[at - 1], nodes.strong) and BOLD.match(parent[at - 1].astext()):
            bold = parent[at - 1]
            document = self.document_of(bold.astext() + rest.group())
            if document not in (None, self.env.docname):
                parts.append(self.link(document, [bold.deepcopy(), nodes.Text(rest.group())]))
                begin, end = at - 1, rest.end()
        for page in PAGE.finditer(words, end):
            document = self.document_of(page.group())
            if document != self.env.docname:
                parts += [nodes.Text(words[end:page.start()]),
                          self.link(document, nodes.inline("", page.group()))]
                end = page.end()
        if parts:
            parent[begin:at + 1] = parts + [nodes.Text(words[end:])]


def is_within(node, classes):
    while node is not None and not isinstance(node, classes):
        node = node.parent
    return node is not None


def find_functions(app):
    """Which page has which function: the one whose NAME lists it."""
    app.auxtrace_functions = {}
    directory = os.path.join(app.srcdir, "man")
    for page in sorted(os.listdir(directory)):
        if page.endswith(".3.md"):
            with open(os.path.join(directory, page), encoding="utf-8") as text:
                names = text.read().partition("## SYNOPSIS")[0].replace("\\", "")
            for function in re.findall(r"\bauxtrace_[a-z_]+", names):
                app.auxtrace_functions[function] = "man/" + page[:-len(".md")]


def setup(app):
    app.connect("builder-inited", find_functions)
    app.add_transform(Mentions)
    return {"parallel_read_safe": True}
