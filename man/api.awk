# SPDX-License-Identifier: GPL-2.0-only
# Makes roff of a part of a library's header, for the page that has it: so the page says what the header says. The first
# file is the page, of which a comment names the part,
#   .\" The part of <HEADER> under "TITLE".
# TITLE is that of a line "---- TITLE ----" in the header; "" is what is before the first of these. The second file is the
# header. -v part=names: the functions, for NAME; -v part=synopsis: their prototypes; -v part=functions: what they do;
# -v part=rules: the paragraphs "Word. text" of the header's first comment, which hold for all functions.
#
# A function's comment is "name - text", then lines in the forms that roff.awk lists. What has a comment without a name, or none, is described
# together with the functions that follow it without an empty line.

FNR == NR {
	if (/^\.\\" The part of <.*> under ".*"\.$/) {
		split($0, quoted, "\"")
		wanted = quoted[3]
		found = 1
	}
	next
}
{ line[++last] = $0 }

END {
	if (!found) {
		print ARGV[1] ": no comment names the part of the header" > "/dev/stderr"
		exit 1
	}
	at = 1
	while (at <= last && line[at] != "/*")
		at++
	for (at++; at <= last && line[at] != " */"; at++)
		if (part == "rules")
			rule()
	for (at++; at <= last; at++) {
		if (line[at] ~ /^\/\* ---- .* -+ \*\/$/) {
			title = line[at]
			gsub(/^\/\* -+ | -+ \*\/$/, "", title)
			known = known || title == wanted
		} else if (title == wanted && part != "rules") {
			declaration()
		}
	}
	if (wanted != "" && !known) {
		print ARGV[1] ": " ARGV[2] " has no part \"" wanted "\"" > "/dev/stderr"
		exit 1
	}
	flush()
	if (part == "names")
		for (i = 1; i <= names; i++)
			print name[i] (i < names ? "," : "")
}

# A line of the header's first comment
function rule(    text, word)
{
	text = line[at]
	if (text ~ /^ \*$/) {
		flush()
		in_rule = 0
	} else if (match(text, /^ \* [A-Z][a-z]+\. /)) {
		word = substr(text, 4, RLENGTH - 5)
		print ".SS " word
		para = substr(text, RLENGTH + 1)
		in_rule = 1
	} else if (in_rule) {
		para = para " " joined(at, at)
	}
}

# What begins at line[at], with the comment before it; leaves @at at its last line.
function declaration(    begin, end, what)
{
	if (line[at] ~ /^\/\*/) {
		begin = at
		while (line[at] !~ /\*\/$/)
			at++
		end = at
		# A comment by itself
		if (line[at + 1] == "") {
			text_of(begin, end, "")
			return
		}
		at++
	}
	if (line[at] ~ /^#define AUXTRACE_[A-Z_]+[ \t(]/) {
		text_of(begin, end, defines ? "" : "Constants")
		if (part == "functions")
			define()
	} else if (line[at] ~ /^(struct|union|enum) .* \{$/) {
		what = line[at]
		sub(/ \{$/, "", what)
		text_of(begin, end, what)
		if (part == "functions")
			code()
		while (line[at] != "};")
			at++
	} else if (line[at] ~ /^[a-z].*[(*,]/) {
		text_of(begin, end, functions())
	}
}

# The prototypes up to an empty line; returns their names as a heading.
function functions(    all, text)
{
	for (; line[at] != ""; at++) {
		text = line[at]
		# The body of an inline function, which may have empty lines
		if (text == "{") {
			while (line[at] != "}")
				at++
			continue
		}
		if (match(text, /auxtrace_[a-z_]+\(/)) {
			name[++names] = substr(text, RSTART, RLENGTH - 1)
			all = all (all ? ", " : "") name[names] "()"
		}
		sub(/^static inline /, "", text)
		prototype(text, line[at + 1] == "{")
	}
	return all
}

function prototype(text, is_inline)
{
	if (part != "synopsis")
		return
	print "\\fB" escaped(untabbed(text)) (is_inline ? ";" : "") "\\fR"
	if (text ~ /;$/ || is_inline)
		print ""
}

# The comment in lines @begin to @end, under @heading_text if there is one.
function text_of(begin, end, heading_text,    i, text, apart)
{
	if (part != "functions")
		return
	if (heading_text) {
		flush()
		print ".SS " escaped(heading_text)
		after_heading = 1
		defines = 0
	}
	if (!begin)
		return
	if (begin == end) {
		text = line[begin]
		gsub(/^\/\*+ | \*\/$/, "", text)
		line[begin] = " * " text
	} else {
		begin++
		end--
	}
	# "name - text" is a sentence.
	text = line[begin]
	if (sub(/^ \* (struct |union )?auxtrace_[a-z_]+(, auxtrace_[a-z_]+)* - /, "", text)) {
		for (i = begin + 1; i <= end && line[i] ~ /^ \*[ \t]+[^@ \t]/; i++)
			text = text " " joined(i, i)
		paragraph(toupper(substr(text, 1, 1)) substr(text, 2) (text ~ /[.?]$/ ? "" : "."))
		begin = i
		if (begin <= end && line[begin] ~ /^ \*$/)
			begin++
	}
	comment(begin, end)
}

# A section of <linux/auxtrace.h> is one of auxtrace(4).
function references(text,    before, after)
{
	gsub(/<linux\/auxtrace\.h>/, "\\fBauxtrace\\fR(4)", text)
	while (match(text, /"?DOC: [a-z ]*[a-z]"?/)) {
		before = substr(text, 1, RSTART - 1)
		after = substr(text, RSTART + RLENGTH)
		text = before quoted_title(substr(text, RSTART, RLENGTH)) after
	}
	return text
}

# What follows "errno" in "see DOC: errno in ..." is no part of the title.
function quoted_title(text,    rest)
{
	gsub(/"/, "", text)
	sub(/^DOC: /, "", text)
	if (match(text, / in$/)) {
		rest = " in"
		text = substr(text, 1, RSTART - 1)
	}
	return "\\(dq" toupper(substr(text, 1, 1)) substr(text, 2) "\\(dq" rest
}
