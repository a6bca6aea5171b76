/* nearest.h - "did you mean": the known word that differs least from one that is not known
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

typedef struct
{
  const char *word;       /* what was typed */
  const char *best;       /* NULL: none is near */
  guint       distance;
} Nearest;

/* Letters put in, left out, changed or swapped with their neighbour, at most a third of the word's. */
Nearest nearest_begin (const char *word);
void    nearest_offer (Nearest *nearest, const char *candidate);
