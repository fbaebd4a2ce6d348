# SPDX-License-Identifier: GPL-2.0-only
"""Mutants: C sources that differ from the original in one line.

A line has as many mutants as there are places in it where one of the operators below applies.
Only code changes: comments, strings and preprocessor conditions stay as they are. The sources are
in kernel style, which tells a binary operator (blanks on both sides) from a unary one.
"""
import collections
import re

# file: path from the top. line: its number, from 1. function: which it is in. old, new: the line.
Mutant = collections.namedtuple("Mutant", "file line function old new")

WORDS = {
    "==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="],
    ">=": [">", "<"], "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"],
    "%": ["*"], "&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"], ">>": ["<<"], "+=": ["-="],
    "-=": ["+="], "|=": ["&="], "&=": ["|="], "<<=": [">>="], ">>=": ["<<="],
    "true": ["false"], "false": ["true"], "continue": ["break"],
}
TOKEN = re.compile(r"""0[xX][0-9a-fA-F]+[uUlL]* | \d+[uUlL]* | \w+ | "(?:\\.|[^"\\])*" |
                       '(?:\\.|[^'\\])*' | <<= | >>= | -> | \+\+ | -- | && | \|\| | [-+*/%&|^<>=!]= |
                       << | >> | \s+ | .""", re.X)
# Lines whose change no program could notice, or that change nothing but the build.
NO_CODE = re.compile(r"\s*(NOKPROBE_SYMBOL|static_assert|_Static_assert|extern\b|#(?!define\b))")
# The size of an array that is declared: one more is never noticed, and space is no behaviour.
ARRAY = re.compile(r"^\s*(?:static\s+|const\s+|struct\s+)*\w+\s+(?:\*?\w+(?:\[[^]]*\])?(?:, |;$))+$")
# Callers ask whether this is 0 or negative: -2 would be the same.
FAILURE = re.compile(r"^\s*return -1;$")
DECLARATION = re.compile(r"^\s*(?:(?:const|static|unsigned|struct|enum|union)\s+\w|"
                         r"(?!return\b|goto\b|else\b|case\b)\w+\s+\**\w+\s*(?:[=;,\[]|$))")
STATEMENT = re.compile(r"^\s*(?:\*|\+\+|--|\(\*)?[A-Za-z_].*;$")
LEAVE = re.compile(r"^\s*(?:return\b.*|goto \w+|break|continue);$")
FUNCTION = re.compile(r"^(?!NOKPROBE_SYMBOL|static_assert)[A-Za-z_].*?(\w+)\(")


def strip_comments(text):
    """The lines of a source, comments replaced by blanks."""
    def blank(match):
        found = match[0]
        return found if found[0] in "\"'" else re.sub(r"[^\n]", " ", found)
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text,
                  flags=re.S).split("\n")


def numbers(token):
    """One more and one less."""
    digits = token.rstrip("uUlL")
    value = int(digits, 8 if re.fullmatch(r"0\d+", digits) else 0)
    suffix = token[len(digits):]
    return [f"{n:#x}{suffix}" if digits[:2] in ("0x", "0X") else f"{n}{suffix}"
            for n in (value + 1, value - 1) if n >= 0]


def token_mutants(code):
    """The code of a line with one token changed."""
    tokens = TOKEN.findall(code)
    size = bool(ARRAY.match(code))
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else ""
        after = tokens[i + 1] if i + 1 < len(tokens) else ""
        instead = []
        if token in WORDS:
            if token[0].isalpha() or before.isspace() and (after.isspace() or not after):
                instead = WORDS[token]
        elif token in ("++", "--"):
            instead = ["--" if token == "++" else "++"]
        elif token in "!~":
            instead = [""]
        elif token[0].isdigit() and not size:
            instead = ["0"] if FAILURE.match(code) else numbers(token)
        for new in instead:
            yield "".join(tokens[:i] + [new] + tokens[i + 1:])


def negated(code):
    """The code with its condition negated, if that is all in this line."""
    head = re.match(r"(.*?\b(?:if|while) )\(", code)
    if not head:
        return
    depth = 0
    for i in range(len(head[1]), len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if not depth:
            yield f"{head[1]}(!{code[len(head[1]):i + 1]}){code[i + 1:]}"
            return


def deleted(code, before):
    """The code without its statement, if that is all in this line. @before: the code before it."""
    whole = before.rstrip().endswith((";", "{", "}", ":", ")", "else", "do")) and \
        code.count("(") == code.count(")")
    if whole and STATEMENT.match(code) and (LEAVE.match(code) or not DECLARATION.match(code)):
        yield re.match(r"\s*", code)[0] + "(void)0;"


def mutants_of_line(code, before):
    if not code.strip() or NO_CODE.match(code):
        return
    yield from token_mutants(code)
    if code[0].isspace():
        yield from negated(code)
        yield from deleted(code, before)


def mutants(file, text):
    """For each line of a source that has any, the list of its mutants."""
    lines, function, before, skipping = text.split("\n"), "-", "", False
    for i, code in enumerate(strip_comments(text)):
        code = code.rstrip()
        if found := FUNCTION.match(code):
            function = found[1]
        elif code.startswith(("struct", "enum", "static const", "const", "#")):
            function = "-"
        # A condition of the preprocessor that goes over several lines.
        skipping = skipping or bool(NO_CODE.match(code))
        if not skipping:
            # A comment at the end of the line stays.
            rest = lines[i][len(code):]
            news = dict.fromkeys(new for new in mutants_of_line(code, before) if new != code)
            if news:
                yield [Mutant(file, i + 1, function, lines[i], new + rest) for new in news]
        skipping = skipping and code.endswith(("\\", ","))
        if code.strip():
            before = code
