/* json.h - JSON that may stand inside of a page
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

/* A string with its quotes: whatever @text is (names from a model are data), no "<", ">" or "&" and no line end stands
 * in what is written. */
void lpt_page_json_text   (GString *out, const char *text);
/* "key": in front of a value; a comma first unless something was just opened. */
void lpt_page_json_key    (GString *out, const char *key);
/* Members; NULL and what is not finite become null. */
void lpt_page_json_string (GString *out, const char *key, const char *text);
void lpt_page_json_number (GString *out, const char *key, double value);
void lpt_page_json_int    (GString *out, const char *key, gint64 value);
/* A comma between elements of a list. */
void lpt_page_json_next   (GString *out);
