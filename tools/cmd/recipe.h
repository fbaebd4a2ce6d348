/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Subcommands that answer a question by others: each writes down command lines, shows them, so that a user can
 * change them, and runs them.
 */
#ifndef RECIPE_H
#define RECIPE_H

#include <stdbool.h>
#include <stdio.h>

/* A command line for sh(1) that begins with this auxtrace. */
struct recipe {
	FILE *out;
	char *line;
	size_t size;
};

/* "auxtrace SUBCOMMAND" */
void recipe_begin(struct recipe *r, const char *subcommand);
/* "auxtrace record -o DIR --overwrite": a flight recorder. */
void recipe_begin_recorder(struct recipe *r, const char *dir);
/* One more word, quoted if need be. */
void recipe_word(struct recipe *r, const char *word);
/* "--", and the words of a command, up to NULL. */
void recipe_command(struct recipe *r, char *const *argv);
/* What the shell takes as it is. */
void recipe_text(struct recipe *r, const char *text);
/* Show the line on stderr, run it, and free it. Returns its exit status. */
int recipe_run(struct recipe *r);
/* Did record, which exited with @status, leave a recording? Else wrong usage, or it did not run the command. */
bool recipe_recorded(int status);

/* The path of the program that @name would run, by PATH; dies if there is none. To be freed. */
char *recipe_program(const char *option, const char *name);

#endif
