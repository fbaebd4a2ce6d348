// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up what a file with lines "ITEM COUNT" says is in stock. It crashes at a line without a count:
 * docs/recipes.md shows how that is found.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS	64

static struct item {
	char name[32];
	long count;
} items[ITEMS];

static struct item *find_item(const char *name)
{
	for (unsigned int i = 0; i < ITEMS; i++)
		if (!*items[i].name || !strcmp(items[i].name, name))
			return &items[i];
	errx(1, "more than %d items", ITEMS);
}

static __attribute__((noinline)) long parse_count(const char *digits)
{
	long count = 0;

	for (; *digits >= '0' && *digits <= '9'; digits++)
		count = 10 * count + *digits - '0';
	return count;
}

static __attribute__((noinline)) void take_line(char *line)
{
	const char *name = strtok(line, " \n"), *digits = strtok(NULL, " \n");
	struct item *item;

	if (!name)
		return;
	item = find_item(name);
	snprintf(item->name, sizeof(item->name), "%s", name);
	item->count += parse_count(digits);
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "re") : NULL;
	char line[256];

	if (!f)
		err(1, "inventory FILE: %s", argc == 2 ? argv[1] : "which?");
	while (fgets(line, sizeof(line), f))
		take_line(line);
	for (unsigned int i = 0; i < ITEMS && *items[i].name; i++)
		printf("%8ld %s\n", items[i].count, items[i].name);
	fclose(f);
	return 0;
}
