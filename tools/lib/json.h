/* SPDX-License-Identifier: GPL-2.0 */
#ifndef JSON_H
#define JSON_H

#include <stdio.h>

/* @s as a JSON string, which may also stand in a <script> of HTML; NULL: null. */
void json_string(FILE *out, const char *s);

#endif
