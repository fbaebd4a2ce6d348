# SPDX-License-Identifier: GPL-2.0-only
# Roff of a header's comments and declarations, for uapi.awk and api.awk, which have the header in line[]. A comment has
# these forms:
#
#   DOC: title              a section begins
#   struct x - text         a struct's description
#   @member: text           that of a member or parameter, up to an empty line
#   a paragraph, a list of "- text", "1. text" or "NAME  text", each indented by two blanks or a tab

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

# The comment in lines @begin to @end, each beginning with " *". Of what is before its first DOC, nothing if @from_doc.
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
		if (from_doc && !begun)
			continue
		if (text ~ /^[ \t]*$/) {
			apart = 1
			continue
		}
		sub(/^[ \t]+/, "", text)
		if (tag ~ /^ @[a-z_0-9]+(, @[a-z_0-9]+)*: /) {
			tag = substr(text, 1, index(text, ":") - 1)
			text = substr(text, length(tag) + 3)
			gsub(/@[a-z_0-9]+/, "\\fI&\\fR", tag)
			gsub(/@/, "", tag)
			item(".TP", tag, text)
		} else if (tag ~ /^  E[A-Z0-9]+$/) {
			item(".TP", "\\fB" text "\\fR", "see errno(3)")
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
	if (!after_heading)
		print ".PP"
	print ".EX"
	for (; ; at++) {
		text = untabbed(line[at])
		sub(/^        /, "    ", text)
		print escaped(text)
		if (text == "};")
			break
	}
	print ".EE"
	after_heading = 0
	defines = 0
}

function untabbed(text)
{
	while (match(text, /\t/))
		text = substr(text, 1, RSTART - 1) sprintf("%" (8 - (RSTART - 1) % 8) "s", "") substr(text, RSTART + 1)
	return text
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

function marked(text, what, skipped, font,    all, word)
{
	while (match(text, what)) {
		word = substr(text, RSTART + skipped, RLENGTH - skipped)
		all = all substr(text, 1, RSTART - 1) "\\f" font word "\\fR"
		text = substr(text, RSTART + RLENGTH)
	}
	return all text
}

# Members, constants and calls stand out.
function styled(text)
{
	text = references(escaped(text))
	text = marked(text, "@[a-z_0-9]+", 1, "I")
	text = marked(text, "AUXTRACE_[A-Z0-9_]+", 0, "B")
	return marked(text, "[a-z_0-9]+\\([1-9]?\\)", 0, "B")
}
