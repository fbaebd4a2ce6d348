# SPDX-License-Identifier: GPL-2.0
# Makes roff of <linux/auxtrace.h>, the specification of the device, for auxtrace(4): so the page has what the
# header has. -v part=concepts: the DOC sections of its first comment; -v part=calls: all behind it.
#
# The header's comments have these forms, and no other:
#
#   DOC: title              a section begins
#   struct x - text         a struct's description; @member: begins that of a member, up to an empty line
#   a paragraph, a list of "- text", "1. text" or "NAME  text", each indented by two blanks or a tab
#   ---- title ----         a section of calls (upper case), or of its own
#
# A comment of one paragraph before one #define is what it means; before several it introduces them.

{ line[NR] = $0 }
/^ \* DOC: / { title[++titles] = substr($0, 9) }

END {
	first_end = 1
	while (line[first_end] != " */")
		first_end++
	if (part == "concepts")
		comment(2, first_end - 1)
	else
		for (at = first_end + 1; at <= NR; at++)
			declaration()
}

# Whatever begins at line[at]; leaves @at at its last line.
function declaration(    begin, text)
{
	if (line[at] ~ /^\/\* ---- .* -+ \*\/$/) {
		text = line[at]
		gsub(/^\/\* -+ | -+ \*\/$/, "", text)
		heading(text)
	} else if (line[at] ~ /^\/\*.*\*\/$/) {
		text = line[at]
		gsub(/^\/\*+ | \*\/$/, "", text)
		if (is_of_one_define(at + 1))
			meaning = text
		else
			paragraph(text)
	} else if (line[at] ~ /^\/\*/) {
		for (begin = ++at; line[at] != " */"; at++)
			;
		if (is_of_one_define(at + 1))
			meaning = joined(begin, at - 1)
		else
			comment(begin, at - 1)
	} else if (line[at] ~ /^#define AUXTRACE_/) {
		define()
	} else if (line[at] ~ /^struct .* \{$/) {
		code()
	}
}

# Is the comment before line @i, without an empty line in it, what one #define means?
function is_of_one_define(i)
{
	return line[i] ~ /^#define/ && line[i] !~ /\/\*/ && (line[i + 1] !~ /^#define/ || line[i + 1] ~ /\/\*/)
}

function joined(begin, end,    i, text, all)
{
	for (i = begin; i <= end; i++) {
		text = line[i]
		sub(/^ \*[ \t]*/, "", text)
		all = all (all ? " " : "") text
	}
	return all
}

function heading(text)
{
	flush()
	print text ~ /[a-z]/ ? ".SH " toupper(text) : ".SS " text
	after_heading = 1
	defines = 0
}

function item(macro, tag, text)
{
	flush()
	print macro
	if (tag)
		print tag
	para = text
	after_heading = 0
}

function paragraph(text)
{
	flush()
	if (!after_heading)
		print ".PP"
	after_heading = 0
	defines = 0
	para = text
}

function flush(    i, n, sentence, text)
{
	if (para == "")
		return
	text = styled(para)
	para = ""
	# A sentence a line, as roff wants it
	gsub(/\. /, ".\n", text)
	n = split(text, sentence, "\n")
	for (i = 1; i <= n; i++)
		print (sentence[i] ~ /^[.']/ ? "\\&" : "") sentence[i]
}

# The comment in lines @begin to @end, each beginning with " *".
function comment(begin, end,    i, text, tag, apart)
{
	apart = 1
	for (i = begin; i <= end; i++) {
		text = line[i]
		sub(/^ \*/, "", text)
		tag = text
		if (text ~ /^ DOC: /) {
			flush()
			print ".SS " toupper(substr(text, 7, 1)) substr(text, 8)
			after_heading = 1
			begun = 1
			apart = 0
			continue
		}
		# Before the first DOC the header says what it is.
		if (part == "concepts" && !begun)
			continue
		if (text ~ /^[ \t]*$/) {
			apart = 1
			continue
		}
		sub(/^[ \t]+/, "", text)
		if (tag ~ /^ @[a-z_0-9]+: /) {
			tag = substr(text, 2, index(text, ":") - 2)
			item(".TP", "\\fI" tag "\\fR", substr(text, length(tag) + 4))
		} else if (tag ~ /^[ \t] ?- /) {
			item(".IP \\(bu 2", "", substr(text, 3))
		} else if (tag ~ /^  [0-9]+\. /) {
			item(".IP " substr(text, 1, index(text, ".")) " 3", "", substr(text, index(text, ".") + 2))
		} else if (tag ~ /^  [^ ].*   *[^ ]/ && tag ~ /^  [^ ]+( [^ ]+)?   *[^ ]/) {
			tag = text
			sub(/   *.*/, "", tag)
			sub(/^[^ ]+( [^ ]+)?   */, "", text)
			item(".TP", "\\fB" escaped(tag) "\\fR", text)
		} else if (tag ~ /^ struct [a-z_0-9]+ - /) {
			tag = text
			sub(/ - .*/, "", tag)
			paragraph("")
			print "\\fB" tag "\\fR:"
			para = substr(text, length(tag) + 4)
		} else if (tag ~ /^  [^ ]/ || (apart && tag ~ /^ [^ ]/)) {
			paragraph(text)
		} else {
			para = para (para == "" ? "" : " ") text
		}
		apart = 0
	}
	flush()
	defines = 0
}

function define(    text, name, value, what)
{
	text = line[at]
	while (text ~ /\\$/ || (text ~ /\/\*/ && text !~ /\*\//)) {
		sub(/[ \t]*\\$/, "", text)
		what = line[++at]
		sub(/^[ \t*]+/, "", what)
		text = text " " what
	}
	what = meaning
	meaning = ""
	if (text ~ /\/\*/) {
		what = text
		gsub(/^.*\/\* | \*\/$/, "", what)
		sub(/[ \t]*\/\*.*/, "", text)
	}
	sub(/^#define /, "", text)
	name = text
	match(name, /^[A-Z0-9_]+(\([a-z, ]*\))?/)
	name = substr(text, 1, RLENGTH)
	value = substr(text, RLENGTH + 1)
	sub(/^[ \t]+/, "", value)
	if (value ~ /^\(1u << [0-9]+\)$/)
		value = "bit " substr(value, 8, length(value) - 8)
	flush()
	# Those of one run without empty lines between
	if (defines++)
		print ".PD 0"
	item(".TP", "\\fB" escaped(name) "\\fR", value (what ? ": " what : ""))
	flush()
	if (defines > 1)
		print ".PD"
}

function code(    text)
{
	flush()
	print ".PP"
	print ".EX"
	for (; ; at++) {
		text = line[at]
		while (match(text, /\t/))
			text = substr(text, 1, RSTART - 1) sprintf("%" (8 - (RSTART - 1) % 8) "s", "") \
				substr(text, RSTART + 1)
		sub(/^        /, "    ", text)
		print escaped(text)
		if (text == "};")
			break
	}
	print ".EE"
	after_heading = 0
	defines = 0
}

# A minus is no hyphen, except between letters.
function escaped(text,    i, c, all)
{
	gsub(/\\/, "\\e", text)
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "-" && !(substr(text, i - 1, 1) ~ /[A-Za-z]/ && substr(text, i + 1, 1) ~ /[A-Za-z]/))
			c = "\\-"
		all = all c
	}
	return all
}

# Members, constants and system calls stand out; a reference to a DOC section is its title in quotes.
function styled(text,    i)
{
	text = escaped(text)
	for (i = 1; i <= titles; i++)
		gsub("DOC: " title[i], "\\(dq" title[i] "\\(dq", text)
	text = marked(text, "@[a-z_0-9]+", 1, "I")
	text = marked(text, "AUXTRACE_[A-Z0-9_]+", 0, "B")
	return marked(text, "[a-z_0-9]+\\([1-9]\\)", 0, "B")
}

function marked(text, what, skipped, font,    all, word)
{
	while (match(text, what)) {
		word = substr(text, RSTART + skipped, RLENGTH - skipped)
		all = all substr(text, 1, RSTART - 1) "\\f" font word "\\fR"
		text = substr(text, RSTART + RLENGTH)
	}
	return all text
}
