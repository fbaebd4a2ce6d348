# SPDX-License-Identifier: GPL-2.0-only
# Makes roff of <linux/auxtrace.h>, the specification of the device, for auxtrace(4): so the page has what the
# header has. -v part=concepts: the DOC sections of its first comment; -v part=calls: all behind it.
#
# The header's comments have these forms, and no other:
#
#   ---- title ----         a section of calls (upper case), or of its own
#   the forms that roff.awk lists
#
# A comment of one paragraph before one #define is what it means; before several it introduces them.

{ line[NR] = $0 }
/^ \* DOC: / { title[++titles] = substr($0, 9) }

END {
	first_end = 1
	while (line[first_end] != " */")
		first_end++
	# Before the first DOC the header says what it is.
	from_doc = part == "concepts"
	if (from_doc)
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

# A reference to a DOC section is its title in quotes.
function references(text,    i)
{
	for (i = 1; i <= titles; i++)
		gsub("DOC: " title[i], "\\(dq" title[i] "\\(dq", text)
	return text
}
