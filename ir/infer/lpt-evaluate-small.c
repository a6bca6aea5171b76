/* lpt-evaluate-small.c - values of a few elements: integers wrap as their type does, real numbers are rounded to it
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/infer/lpt-evaluate-private.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/scalar/lpt-wrap.h"

#define MAX_COMPUTED 1024      /* elements of one computed value */
#define MAX_WORK     65536     /* elements of all values of one call */

gboolean
lpt_small_is_unknown (const LptSmall *s,
                      gint64          i)
{
  return s->real ? isnan (s->v[i].r) : s->v[i].i == LPT_UNKNOWN;
}

LptItem
lpt_item_unknown (gboolean real)
{
  LptItem item;

  if (real)
    item.r = NAN;
  else
    item.i = LPT_UNKNOWN;

  return item;
}

LptItem
lpt_item_int (LptDType dtype,
              gint64   value)
{
  return (LptItem) { .i = dtype == LPT_DTYPE_BOOL ? value != 0 : lpt_wrap (value, dtype) };
}

LptItem
lpt_item_real (LptDType dtype,
               double   value)
{
  return (LptItem) { .r = lpt_dtype_round (dtype, value) };
}

/* Element of any kind as another type: the Convert operation, where it is defined. */
LptItem
lpt_small_convert (const LptSmall *s,
                   gint64          i,
                   LptDType        dtype)
{
  gboolean real = lpt_dtype_is_real (dtype);

  if (lpt_small_is_unknown (s, i))
    return lpt_item_unknown (real);
  if (real)
    return lpt_item_real (dtype, s->real ? s->v[i].r : (double) s->v[i].i);
  /* The least number is one more here: what wraps it is not known. */
  if (!s->real && s->v[i].i == LPT_UNKNOWN + 1 && lpt_dtype_bits (dtype) < 64 && dtype != LPT_DTYPE_BOOL)
    return lpt_item_unknown (FALSE);
  if (!s->real)
    return lpt_item_int (dtype, s->v[i].i);
  if (dtype == LPT_DTYPE_BOOL)
    return (LptItem) { .i = s->v[i].r != 0 };
  if (!(fabs (s->v[i].r) < 9.0e18))
    return lpt_item_unknown (FALSE);

  return lpt_item_int (dtype, (gint64) s->v[i].r);
}

LptSmall *
lpt_small_new (LptEvaluation  *ctx,
               LptDType        dtype,
               const LptShape *shape)
{
  LptSmall *s;
  gint64 n;

  if (lpt_dtype_kind (dtype) == LPT_KIND_NONE || !lpt_shape_count (shape, &n) || n > MAX_COMPUTED)
    return NULL;
  ctx->work += n + 1;
  if (ctx->work > MAX_WORK)
    return NULL;
  s = g_malloc0 (sizeof *s + (gsize) n * sizeof (LptItem));
  s->dtype = dtype;
  s->real = lpt_dtype_is_real (dtype);
  s->shape = *shape;
  s->n = n;

  return s;
}

LptSmall *
lpt_small_for (LptEvaluation *ctx,
               LptValue      *value)
{
  return lpt_small_new (ctx, value->dtype, &value->shape);
}

LptSmall *
lpt_small_from_tensor (LptEvaluation *ctx,
                       LptTensor     *tensor)
{
  LptSmall *s = lpt_small_new (ctx, lpt_tensor_dtype (tensor), lpt_tensor_shape (tensor));

  for (gint64 i = 0; s != NULL && i < s->n; i++)
    if (s->real)
      s->v[i].r = lpt_tensor_get_f64 (tensor, i);
    else      /* the least number means unknown here */
      s->v[i].i = MAX (lpt_tensor_get_i64 (tensor, i), LPT_UNKNOWN + 1);

  return s;
}
