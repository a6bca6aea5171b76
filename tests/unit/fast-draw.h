/* fast-draw.h - what tests of fast programs draw: numbers, names, lengths
 *
 * A test makes its generator, by a seed of its own, and frees it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

static GRand *draws;

/* From @from to @to, both included. */
static inline gint
draw (gint from,
      gint to)
{
  return g_rand_int_range (draws, from, to + 1);
}

#define ONE_OF(list) (list[draw (0, G_N_ELEMENTS (list) - 1)])

/* Lengths as text: @dims, of which some are 1 where it is not the @whole. */
static inline char *
draw_dims (const gint *dims,
           gint        rank,
           gboolean    whole)
{
  GString *text = g_string_new (NULL);
  gint d;

  for (d = 0; d < rank; d++)
    g_string_append_printf (text, "%s%d", d > 0 ? "," : "", whole || draw (0, 2) ? dims[d] : 1);

  return g_string_free (text, FALSE);
}
