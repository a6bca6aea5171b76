/* ov-text.h - text of attributes in XML that is written
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <glib.h>

/* Can XML hold @text? */
gboolean ov_is_text (const char *text);
/* name="text" with a space in front. */
void ov_put_attr (GString *out, const char *name, const char *text);
