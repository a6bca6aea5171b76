/* mutate.h - changes to a graph in its text form that leave most of it a graph
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_FUZZ_MUTATE_H
#define LPT_FUZZ_MUTATE_H

#include <glib.h>

/* @text after one to four changes (transfer full). */
char *mutate_graph (const char *text, GRand *rand);
/* @text with statements of @other in it (transfer full). */
char *mutate_cross (const char *text, const char *other, GRand *rand);

#endif
