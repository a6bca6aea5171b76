/* forms.c - arithmetic on forms
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-weighted.h"
#include "passes/lower/lower.h"
#include "passes/support/lpt-same-code.h"

static LptForm *
form_new (gint          axis,
          guint         n,
          const double *a,
          const double *b)
{
  LptForm *form = g_new0 (LptForm, 1);

  form->axis = n == 1 ? LPT_QUANT_PER_TENSOR : axis;
  form->n = n;
  form->a = g_memdup2 (a, n * sizeof *a);
  form->b = g_memdup2 (b, n * sizeof *b);
  form->lo = -INFINITY;
  form->hi = INFINITY;

  return form;
}

LptForm *
lpt_form_new_value (LptValue     *q,
                    gint          axis,
                    guint         n,
                    const double *a,
                    const double *b)
{
  LptForm *form = form_new (axis, n, a, b);

  form->q = q;

  return form;
}

/* Takes @op over. */
LptForm *
lpt_form_new_op (LptPending   *op,
                 gint          axis,
                 guint         n,
                 const double *a,
                 const double *b)
{
  LptForm *form = form_new (axis, n, a, b);

  form->op = op;

  return form;
}

LptForm *
lpt_form_copy (const LptForm *form)
{
  LptForm *copy = form_new (form->axis, form->n, form->a, form->b);

  copy->q = form->q;
  copy->op = form->op;
  if (copy->op != NULL)
    copy->op->refs++;
  copy->lo = form->lo;
  copy->hi = form->hi;
  copy->shared = form->shared;
  copy->added = form->added;
  copy->scaled = form->scaled;
  copy->bounded = form->bounded;

  return copy;
}

LptForm *
lpt_form_spread_groups (const LptForm *form,
                        LptNode       *node,
                        gint64         channels)
{
  LptForm *spread = lpt_form_copy (form);
  const LptShape *shape = &lpt_node_in (node, 1)->shape;
  LptWeightedView view;
  gint64 each;

  if (!lpt_weighted_view (node, &view) || !view.grouped || view.transposed || form->n < 2 ||
      (gint64) form->n == channels ||
      (form->axis != 0 && form->axis != view.out) || form->n != shape->dims[form->axis])
    return spread;
  each = form->axis == 0 ? channels / form->n : 1;
  spread->a = g_renew (double, spread->a, channels);
  spread->b = g_renew (double, spread->b, channels);
  for (gint64 c = 0; c < channels; c++)
    {
      spread->a[c] = form->a[c / each % form->n];
      spread->b[c] = form->b[c / each % form->n];
    }
  spread->axis = 0;
  spread->n = (guint) channels;
  return spread;
}

LptPending *
lpt_pending_new (LptNode *node,
                 guint    n_in)
{
  LptPending *op = g_new0 (LptPending, 1);

  op->refs = 1;
  op->node = node;
  op->n_in = n_in;
  op->in = g_new0 (LptForm *, n_in);

  return op;
}

static void
pending_unref (LptPending *op)
{
  guint i;

  if (op == NULL || --op->refs > 0)
    return;
  for (i = 0; i < op->n_in; i++)
    lpt_form_free (op->in[i]);
  g_free (op->in);
  g_free (op->bias);
  g_free (op);
}

void
lpt_form_free (LptForm *form)
{
  if (form == NULL)
    return;
  pending_unref (form->op);
  g_free (form->a);
  g_free (form->b);
  g_free (form);
}

/* Moves the clamp of @form behind x * scale + shift; FALSE when the bounds would differ between channels. */
static gboolean
clamp_follows (LptForm      *form,
               guint         n,
               const double *scale,
               const double *shift)
{
  guint c;

  for (c = 0; c < n; c++)
    if (!(scale[c] > 0))
      return FALSE;
  if (n == 1)
    {
      form->lo = form->lo * *scale + *shift;
      form->hi = form->hi * *scale + *shift;
      return TRUE;
    }
  for (c = 0; c < n; c++)
    if (shift[c] != 0)
      return FALSE;

  return form->lo == 0 && isinf (form->hi);      /* ReLU does not care for the scale */
}

gboolean
lpt_form_affine (LptForm      *form,
                 gint          axis,
                 guint         n,
                 const double *scale,
                 const double *shift)
{
  guint count = MAX (n, form->n);
  g_autofree double *a = NULL;
  g_autofree double *b = NULL;
  guint c;

  if (n > 1 && form->n > 1 && (axis != form->axis || n != form->n))
    return FALSE;
  if (lpt_form_is_clamped (form) && !clamp_follows (form, n, scale, shift))
    return FALSE;
  a = g_new (double, count);
  b = g_new (double, count);
  for (c = 0; c < count; c++)
    {
      a[c] = lpt_form_a (form, c) * scale[n == 1 ? 0 : c];
      b[c] = lpt_form_b (form, c) * scale[n == 1 ? 0 : c] + shift[n == 1 ? 0 : c];
      if (!isfinite (a[c]) || !isfinite (b[c]))
        return FALSE;
    }
  if (n > 1)
    form->axis = axis;
  form->n = count;
  g_free (form->a);
  g_free (form->b);
  form->a = g_steal_pointer (&a);
  form->b = g_steal_pointer (&b);

  return TRUE;
}

gboolean
lpt_constant_along (LptTensor       *tensor,
                    const LptShape  *shape,
                    gint            *axis,
                    guint           *n,
                    double         **values)
{
  const LptShape *own = lpt_tensor_shape (tensor);
  gint64 count = lpt_tensor_count (tensor);
  gint found = -1;
  gint i;

  *axis = LPT_QUANT_PER_TENSOR;
  *n = 1;
  if (count == 0 || shape->rank < 0 || own->rank > shape->rank)
    return FALSE;
  if (lpt_tensor_is_scalar_like (tensor))
    {
      *values = g_new (double, 1);
      **values = lpt_tensor_get_f64 (tensor, 0);
      return TRUE;
    }
  for (i = 0; i < own->rank; i++)
    if (own->dims[i] != 1)
      {
        if (found >= 0)
          return FALSE;
        found = i + shape->rank - own->rank;
      }
  if (shape->dims[found] != count || count > G_MAXINT)
    return FALSE;
  *values = lpt_tensor_to_f64 (tensor, NULL);
  if (*values == NULL)
    return FALSE;
  *axis = found;
  *n = (guint) count;

  return TRUE;
}

gboolean
lpt_form_is_8bit (const LptForm *form)
{
  return form->q != NULL && (form->q->dtype == LPT_DTYPE_U8 || form->q->dtype == LPT_DTYPE_I8);
}

static gboolean
is_code (const LptForm *form,
         guint          c,
         double         bound)
{
  const LptDType dtype = form->q->dtype;
  const double code = (bound - lpt_form_b (form, c)) / lpt_form_a (form, c);

  if (lpt_is_lost_beside_codes (bound / lpt_form_a (form, c), dtype))
    return FALSE;
  return code <= lpt_dtype_min (dtype) || code >= lpt_dtype_max (dtype) ||
         lpt_same_code (code, rint (code), dtype);
}

gboolean
lpt_form_clamps_at_codes (const LptForm *form)
{
  guint c;

  if (!lpt_form_is_8bit (form))
    return FALSE;
  for (c = 0; c < form->n; c++)
    if (!(lpt_form_a (form, c) > 0) || !is_code (form, c, form->lo) || !is_code (form, c, form->hi))
      return FALSE;

  return TRUE;
}
