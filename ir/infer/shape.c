/* shape.c - inference of ops that give the same elements another shape or order
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

/* Product of @n dimensions; LPT_DYNAMIC when one is, or when it overflows. */
static gint64
product (const gint64 *dims,
         gint          n)
{
  gint64 count = 1;

  for (gint i = 0; i < n; i++)
    if (dims[i] == 0)
      return 0;
  for (gint i = 0; i < n; i++)
    if (!lpt_dim_mul (count, dims[i], &count))
      return LPT_DYNAMIC;

  return count;
}

static gboolean
fail_reshape (const LptShape  *in,
              const LptInts   *pattern,
              GError         **error)
{
  g_autofree char *from = lpt_infer_text (in);
  g_autoptr (GString) to = g_string_new ("[");

  for (guint i = 0; i < pattern->n; i++)
    if (pattern->v[i] == LPT_UNKNOWN)
      g_string_append (to, i > 0 ? ",?" : "?");
    else
      g_string_append_printf (to, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", pattern->v[i]);

  return lpt_infer_fail (error, "%s does not reshape to %s]", from, to->str);
}

/* Length of the axis that the pattern leaves open, or LPT_DYNAMIC. Axes that a 0 copies cancel, so that the rest can
 * be known although they are not. */
static gboolean
open_length (const LptShape  *in,
             const LptShape  *out,
             const LptInts   *pattern,
             gboolean         special_zero,
             gint             open,
             gint64          *length,
             GError         **error)
{
  gint64 mine = 1, theirs = 1;
  gint64 rest_in[LPT_MAX_RANK], rest_out[LPT_MAX_RANK];
  gint n_in = 0, n_out = 0;

  for (gint i = 0; i < MAX (in->rank, out->rank); i++)
    {
      gboolean copied = special_zero && i < out->rank && i < in->rank && pattern->v[i] == 0;

      if (copied)
        {
          if (in->dims[i] == 0)      /* nothing to divide by: the open axis may be anything, OpenVINO says 0 */
            {
              *length = 0;
              return TRUE;
            }
          continue;
        }
      if (i < in->rank)
        rest_in[n_in++] = in->dims[i];
      if (i < out->rank && i != open)
        rest_out[n_out++] = out->dims[i];
    }
  theirs = product (rest_in, n_in);
  mine = product (rest_out, n_out);
  *length = LPT_DYNAMIC;
  if (theirs == LPT_DYNAMIC || mine == LPT_DYNAMIC)
    return TRUE;
  if (mine == 0 ? theirs != 0 : theirs % mine != 0)
    return fail_reshape (in, pattern, error);
  *length = mine == 0 ? 0 : theirs / mine;

  return TRUE;
}

gboolean
lpt_infer_reshape (LptNode *node,
                   GError **error)
{
  gboolean special_zero = LPT_ATTRS (node, LptReshapeAttrs)->special_zero;
  LptShape in = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 1);
  g_auto (LptInts) pattern = { 0 };
  LptShape out;
  gint open = -1;
  gint64 a, b;

  if (!lpt_infer_want_index (node, 1, "shape", error))
    return FALSE;
  if (n > LPT_MAX_RANK)
    return lpt_infer_unsupported (error, "unsupported rank %" G_GINT64_FORMAT " of the output: at most %d", n,
                                  LPT_MAX_RANK);
  /* Of no lengths none have to be read. */
  if (n == LPT_DYNAMIC || (n > 0 && (!lpt_infer_ints_in (node, 1, &pattern) || pattern.n != n)))
    return lpt_infer_set_rank (node, 0, dtype, (gint) n, error);

  out = lpt_shape_unknown ((gint) n);
  for (gint i = 0; i < out.rank; i++)
    {
      gint64 wish = pattern.v[i];

      if (wish == LPT_UNKNOWN)
        continue;
      if (wish == -1)
        {
          if (open >= 0)
            return lpt_infer_fail (error, "shape has -1 twice");
          open = i;
        }
      else if (wish < 0)
        return lpt_infer_fail (error, "shape has the value %" G_GINT64_FORMAT, wish);
      else if (wish == 0 && special_zero)
        {
          if (in.rank != LPT_DYNAMIC && i >= in.rank)
            return lpt_infer_fail (error, "0 copies axis %d of an input of rank %d", i, in.rank);
          out.dims[i] = lpt_shape_dim (&in, i);
        }
      else
        out.dims[i] = wish;
    }
  if (in.rank == LPT_DYNAMIC)
    return lpt_infer_set (node, 0, dtype, &out, error);
  if (open >= 0 && !open_length (&in, &out, &pattern, special_zero, open, &out.dims[open], error))
    return FALSE;

  if (open < 0 && lpt_shape_count (&in, &a) && lpt_shape_is_static (&out) && (!lpt_shape_count (&out, &b) || a != b))
    return fail_reshape (&in, &pattern, error);
  /* One unknown axis of the output follows from the number of elements. */
  if (open < 0 && lpt_shape_count (&in, &a) && a > 0)
    {
      gint unknown = -1, n_unknown = 0;
      gint64 rest = 1;
      gboolean fits = TRUE;

      for (gint i = 0; i < out.rank; i++)
        if (out.dims[i] == LPT_DYNAMIC)
          {
            unknown = i;
            n_unknown++;
          }
        else if (!lpt_dim_mul (rest, out.dims[i], &rest))
          fits = FALSE;
      if (n_unknown > 0 && (!fits || rest == 0 || a % rest != 0))
        return fail_reshape (&in, &pattern, error);
      if (n_unknown == 1)
        out.dims[unknown] = a / rest;
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}

gboolean
lpt_infer_squeeze (LptNode *node,
                   GError **error)
{
  LptShape in = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  LptShape out = LPT_SHAPE_SCALAR;
  gboolean axes[LPT_MAX_RANK];
  gboolean known = TRUE;
  gboolean all = lpt_node_in (node, 1) == NULL;
  gboolean keeps = lpt_op_version (node->info, node->opset) >= 15;

  if (!all && !lpt_infer_axes_in (node, 1, in.rank, axes, &known, error))
    return FALSE;
  if (!all && lpt_infer_length_in (node, 1) == 0)
    all = TRUE;      /* an empty list is no list */
  if (in.rank == LPT_DYNAMIC || !known)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  for (gint i = 0; i < in.rank; i++)
    {
      /* From opset15 on an axis that is not 1 stays, as without a list. */
      if ((all || (keeps && axes[i])) && in.dims[i] == LPT_DYNAMIC)
        return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
      if (all ? in.dims[i] == 1 : axes[i])
        {
          if (in.dims[i] == 1 || in.dims[i] == LPT_DYNAMIC)
            continue;
          if (!keeps)
            return lpt_infer_fail (error, "axis %d has length %" G_GINT64_FORMAT ", not 1", i, in.dims[i]);
        }
      out.dims[out.rank++] = in.dims[i];
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}

gboolean
lpt_infer_unsqueeze (LptNode *node,
                     GError **error)
{
  LptShape in = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 1);
  gboolean axes[LPT_MAX_RANK];
  gboolean known;
  LptShape out;

  if (!lpt_infer_want_index (node, 1, "axes", error))
    return FALSE;
  if (in.rank == LPT_DYNAMIC || n == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  if (n > LPT_MAX_RANK - in.rank)
    return lpt_infer_unsupported (error, "unsupported rank of the output: more than %d", LPT_MAX_RANK);
  out = lpt_shape_unknown (in.rank + (gint) n);
  if (!lpt_infer_axes_in (node, 1, out.rank, axes, &known, error))
    return FALSE;
  if (known)
    {
      gint next = 0;

      for (gint i = 0; i < out.rank; i++)
        if (axes[i])
          out.dims[i] = 1;
        else if (next < in.rank)
          out.dims[i] = in.dims[next++];
        else
          return lpt_infer_fail (error, "an axis stands twice");
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}

gboolean
lpt_infer_transpose (LptNode *node,
                     GError **error)
{
  LptShape in = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 1);
  g_auto (LptInts) order = { 0 };
  gboolean seen[LPT_MAX_RANK] = { FALSE };
  LptShape out;

  if (!lpt_infer_want_index (node, 1, "order", error))
    return FALSE;
  if (in.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, n > 0 && n <= LPT_MAX_RANK ? (gint) n : LPT_DYNAMIC, error);
  if (n != LPT_DYNAMIC && n != 0 && n != in.rank)
    return lpt_infer_fail (error, "order has %" G_GINT64_FORMAT " values for rank %d", n, in.rank);
  out = lpt_shape_unknown (in.rank);
  if (n == 0)
    for (gint i = 0; i < in.rank; i++)
      out.dims[i] = in.dims[in.rank - 1 - i];
  else if (lpt_infer_ints_in (node, 1, &order) && lpt_infer_all_known (&order) && order.n == (guint) in.rank)
    for (guint i = 0; i < order.n; i++)
      {
        gint64 axis = order.v[i];

        if (axis < 0 || axis >= in.rank || seen[axis])
          return lpt_infer_fail (error, "order is not a permutation of %d axes: %" G_GINT64_FORMAT " %s", in.rank, axis,
                                 axis < 0 || axis >= in.rank ? "is out of range" : "stands twice");
        seen[axis] = TRUE;
        out.dims[i] = in.dims[axis];
      }

  return lpt_infer_set (node, 0, dtype, &out, error);
}

gboolean
lpt_infer_concat (LptNode *node,
                  GError **error)
{
  gint64 wanted = LPT_ATTRS (node, LptAxisAttrs)->axis;
  LptShape out = LPT_SHAPE_ANY;
  gint64 sum = 0;
  LptDType dtype;
  guint first = 0;
  gint axis = 0;

  if (node->n_in == 0)
    return lpt_infer_fail (error, "nothing to join");
  if (!lpt_infer_same_types (node, 0, node->n_in - 1, &dtype, error))
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    {
      LptShape shape = lpt_infer_shape_in (node, i);
      gint64 length;

      if (shape.rank == LPT_DYNAMIC)
        {
          sum = LPT_DYNAMIC;
          continue;
        }
      if (shape.rank == 0)
        return lpt_infer_fail (error, "input %u is a scalar", i);
      if (!lpt_infer_axis (wanted, shape.rank, &axis, error))
        return FALSE;
      length = shape.dims[axis];
      shape.dims[axis] = LPT_DYNAMIC;
      if (out.rank == LPT_DYNAMIC)
        first = i;
      if (!lpt_shape_merge (&out, &shape, &out))
        {
          LptShape sa = lpt_infer_shape_in (node, first);
          LptShape sb = lpt_infer_shape_in (node, i);
          g_autofree char *a = lpt_infer_text (&sa);
          g_autofree char *b = lpt_infer_text (&sb);

          return lpt_infer_fail (error, "inputs %u %s and %u %s do not join along axis %d", first, a, i, b, axis);
        }
      if (sum == LPT_DYNAMIC || length == LPT_DYNAMIC)
        sum = LPT_DYNAMIC;
      else if (!lpt_dim_add (sum, length, &sum))
        return lpt_infer_fail (error, "length of axis %d overflows", axis);
    }
  if (out.rank != LPT_DYNAMIC)
    out.dims[axis] = sum;

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* TRUE with *axis < 0 when the axis is not known. */
static gboolean
split_axis (LptNode        *node,
            const LptShape *in,
            gint           *axis,
            GError        **error)
{
  gint64 wanted;

  *axis = -1;
  if (!lpt_infer_want_index (node, 1, "axis", error))
    return FALSE;
  if (in->rank == 0)
    return lpt_infer_fail (error, "a scalar cannot be split");
  if (in->rank == LPT_DYNAMIC || !lpt_infer_int_in (node, 1, &wanted))
    return TRUE;

  return lpt_infer_axis (wanted, in->rank, axis, error);
}

gboolean
lpt_infer_split (LptNode *node,
                 GError **error)
{
  gint64 parts = LPT_ATTRS (node, LptSplitAttrs)->num_splits;
  LptShape in = lpt_infer_shape_in (node, 0);
  LptShape out = in;
  gint axis;

  if (parts < 1)
    return lpt_infer_fail (error, "num_splits is %" G_GINT64_FORMAT, parts);
  if (parts != node->n_out)
    return lpt_infer_fail (error, "num_splits is %" G_GINT64_FORMAT ", but the node has %u outputs", parts,
                           node->n_out);
  if (!split_axis (node, &in, &axis, error))
    return FALSE;
  if (axis < 0)
    out = lpt_shape_unknown (in.rank);
  else if (in.dims[axis] != LPT_DYNAMIC)
    {
      if (in.dims[axis] % parts != 0)
        return lpt_infer_fail (error, "axis %d of length %" G_GINT64_FORMAT " has no %" G_GINT64_FORMAT " equal parts",
                               axis, in.dims[axis], parts);
      out.dims[axis] = in.dims[axis] / parts;
    }
  for (guint i = 0; i < node->n_out; i++)
    if (!lpt_infer_set (node, i, lpt_infer_dtype_in (node, 0), &out, error))
      return FALSE;

  return TRUE;
}

gboolean
lpt_infer_variadic_split (LptNode *node,
                          GError **error)
{
  LptShape in = lpt_infer_shape_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 2);
  g_auto (LptInts) lengths = { 0 };
  gint64 sum = 0, total;
  gint axis;
  gint open = -1;

  if (!split_axis (node, &in, &axis, error) || !lpt_infer_want_index (node, 2, "lengths", error))
    return FALSE;
  if (n != LPT_DYNAMIC && n != node->n_out)
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " lengths, but the node has %u outputs", n, node->n_out);
  if (!lpt_infer_ints_in (node, 2, &lengths) || lengths.n != node->n_out)
    lpt_ints_fill (&lengths, node->n_out, LPT_UNKNOWN);
  for (guint i = 0; i < lengths.n; i++)
    if (lengths.v[i] == LPT_UNKNOWN)
      sum = LPT_DYNAMIC;
    else if (lengths.v[i] == -1)
      {
        if (open >= 0)
          return lpt_infer_fail (error, "lengths have -1 twice");
        open = (gint) i;
      }
    else if (lengths.v[i] < 0)
      return lpt_infer_fail (error, "a length is %" G_GINT64_FORMAT, lengths.v[i]);
    else if (!lpt_dim_add (sum, lengths.v[i], &sum))
      return lpt_infer_fail (error, "sum of the lengths overflows");

  total = axis >= 0 ? in.dims[axis] : LPT_DYNAMIC;
  if (total != LPT_DYNAMIC && sum != LPT_DYNAMIC && (open >= 0 ? sum > total : sum != total))
    return lpt_infer_fail (error, "lengths sum to %" G_GINT64_FORMAT ", axis %d has length %" G_GINT64_FORMAT, sum,
                           axis, total);
  for (guint i = 0; i < node->n_out; i++)
    {
      LptShape out = axis >= 0 ? in : lpt_shape_unknown (in.rank);

      if (axis >= 0 && (gint) i == open)
        out.dims[axis] = total != LPT_DYNAMIC && sum != LPT_DYNAMIC ? total - sum : LPT_DYNAMIC;
      else if (axis >= 0)
        out.dims[axis] = lengths.v[i] == LPT_UNKNOWN ? LPT_DYNAMIC : lengths.v[i];
      if (!lpt_infer_set (node, i, lpt_infer_dtype_in (node, 0), &out, error))
        return FALSE;
    }

  return TRUE;
}
