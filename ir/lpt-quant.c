/* lpt-quant.c - what the integers of a value mean
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-graph.h>

LptQuant *
lpt_quant_new (gint          axis,
               guint         n,
               const double *scale,
               const gint32 *zero_point)
{
  LptQuant *quant;

  g_return_val_if_fail (n > 0, NULL);

  quant = g_new0 (LptQuant, 1);
  g_atomic_ref_count_init (&quant->refs);
  quant->axis = axis;
  quant->n = n;
  quant->scale = g_memdup2 (scale, n * sizeof *scale);
  quant->zero_point = zero_point != NULL ? g_memdup2 (zero_point, n * sizeof *zero_point)
                                         : g_new0 (gint32, n);

  return quant;
}

LptQuant *
lpt_quant_new_one (double scale,
                   gint32 zero_point)
{
  return lpt_quant_new (LPT_QUANT_PER_TENSOR, 1, &scale, &zero_point);
}

LptQuant *
lpt_quant_ref (LptQuant *quant)
{
  if (quant != NULL)
    g_atomic_ref_count_inc (&quant->refs);

  return quant;
}

void
lpt_quant_unref (LptQuant *quant)
{
  if (quant == NULL || !g_atomic_ref_count_dec (&quant->refs))
    return;
  g_free (quant->scale);
  g_free (quant->zero_point);
  g_free (quant);
}

gboolean
lpt_quant_equal (const LptQuant *a,
                 const LptQuant *b)
{
  if (a == NULL || b == NULL)
    return a == b;

  return a->axis == b->axis && a->n == b->n &&
         memcmp (a->scale, b->scale, a->n * sizeof *a->scale) == 0 &&
         memcmp (a->zero_point, b->zero_point, a->n * sizeof *a->zero_point) == 0;
}

void
lpt_quant_interval (const LptQuant *quant,
                    LptDType        dtype,
                    double         *low,
                    double         *high)
{
  *low = (lpt_dtype_min (dtype) - quant->zero_point[0]) * quant->scale[0];
  *high = *low + (lpt_dtype_max (dtype) - lpt_dtype_min (dtype)) * quant->scale[0];
}

gint
lpt_quant_last_axis (const LptQuant *quant,
                     const LptShape *shape)
{
  gint axis = quant->axis;

  if (axis == LPT_QUANT_PER_TENSOR)
    return quant->n == 1 ? axis : -2;
  if (axis < 0 || (shape->rank >= 0 && axis >= shape->rank))
    return -2;
  if (shape->rank < 0 || shape->dims[axis] < 0 || shape->dims[axis] == quant->n)
    return axis;
  if (axis + 1 < shape->rank && (shape->dims[axis + 1] < 0 || shape->dims[axis] * shape->dims[axis + 1] == quant->n))
    return axis + 1;

  return -2;
}

gint64
lpt_quant_run (const LptQuant *quant,
               const LptShape *shape)
{
  gint64 run = 1;

  for (gint a = MAX (quant->axis, lpt_quant_last_axis (quant, shape)) + 1; quant->n > 1 && a < shape->rank; a++)
    run *= shape->dims[a];

  return run;
}
