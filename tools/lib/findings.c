// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "findings.h"
#include "json.h"
#include "tool.h"

static struct finding *findings;
static unsigned int count;

void finding_add(const struct source *source, const char *name, enum verdict verdict,
		 const char *format, ...)
{
	struct finding *f;
	va_list ap;

	findings = xrealloc(findings, (count + 1) * sizeof(*findings));
	f = &findings[count++];
	f->source = source;
	f->name = name;
	f->verdict = verdict;
	va_start(ap, format);
	if (vsnprintf(f->text, sizeof(f->text), format, ap) >= (int)sizeof(f->text))
		strcpy(f->text + sizeof(f->text) - 4, "...");
	va_end(ap);
}

const struct finding *finding_at(unsigned int i)
{
	return i < count ? &findings[i] : NULL;
}

bool findings_allow(const struct source *source)
{
	for (unsigned int i = 0; i < count; i++)
		if (findings[i].source == source && findings[i].verdict == NO)
			return false;
	return true;
}

void findings_text(FILE *out)
{
	static const char *const marks[] = { [YES] = "yes", [NO] = "NO ", [NOTE] = "   " };

	for (unsigned int i = 0; i < count; i++)
		fprintf(out, "%s  %-15s %s\n", marks[findings[i].verdict], findings[i].name, findings[i].text);
}

void findings_json(FILE *out)
{
	static const char *const verdicts[] = { [YES] = "yes", [NO] = "no", [NOTE] = "note" };

	fputs("[", out);
	for (unsigned int i = 0; i < count; i++) {
		fprintf(out, "%s\n    { \"name\": ", i ? "," : "");
		json_string(out, findings[i].name);
		fprintf(out, ", \"verdict\": \"%s\", \"text\": ", verdicts[findings[i].verdict]);
		json_string(out, findings[i].text);
		fputs(" }", out);
	}
	fputs("\n  ]", out);
}
