/* json-put.h - pieces of JSON text: strings, numbers, shapes, members
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <lpt/lpt-types.h>

void json_put_string (GString *out, const char *text);
/* Integers that a double cannot hold, and reals that are not finite, are strings. */
void json_put_int (GString *out, gint64 value);
void json_put_double (GString *out, double value);
/* null: of unknown rank, or length. */
void json_put_shape (GString *out, const LptShape *shape);
/* Begins a member of an object that already holds something. */
void json_put_key (GString *out, const char *key);
/* A member of strings by name, in their order; nothing where @table is NULL or empty. */
void json_put_strings (GString *out, const char *key, GHashTable *table);
