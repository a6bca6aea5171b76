/* signatures.h - names the kind of a file that is no model that is read here
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SIGNATURES_H
#define LPT_SIGNATURES_H

#include <glib.h>

/* Bytes of the beginning that the signatures need. */
#define LPT_HEAD_SIZE 4096

/* "this is a TensorFlow Lite model; ..." from the first bytes of a file; NULL when no signature fits. */
const char *lpt_foreign_kind   (const guint8 *head, gsize size);
/* The same for a folder that was given as a model (transfer full); NULL when it is none. */
char       *lpt_foreign_folder (const char *path);
/* For a file that no reader understood: by its name or by its first byte it is none of ours (transfer full); NULL = it
 * may be a damaged one. */
char       *lpt_foreign_guess  (const char *path, const guint8 *head, gsize size);

#endif
