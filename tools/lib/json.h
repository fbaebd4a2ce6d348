/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef JSON_H
#define JSON_H

#include <stdio.h>

/* @s as a JSON string, which may also stand in a <script> of HTML; NULL: null. */
void json_string(FILE *out, const char *s);

#endif
