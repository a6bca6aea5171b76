/* matmul.c - inference of MatMul, Inverse and Einsum
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "ir/infer/lpt-infer-util.h"
#include "ir/scalar/lpt-equation.h"

static void
swap_last (LptShape *shape)
{
  gint64 last = shape->dims[shape->rank - 1];

  shape->dims[shape->rank - 1] = shape->dims[shape->rank - 2];
  shape->dims[shape->rank - 2] = last;
}

/* [..., M, K] x [..., K, N] with NUMPY broadcasting of the leading axes. A vector gets an axis of length 1, which the
 * result loses again; transposing does not apply to vectors. */
gboolean
lpt_infer_matmul (LptNode *node,
                  GError **error)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (node, LptMatMulAttrs);
  LptShape a = lpt_infer_shape_in (node, 0);
  LptShape b = lpt_infer_shape_in (node, 1);
  LptShape batch_a, batch_b, out;
  gboolean vector_a = a.rank == 1;
  gboolean vector_b = b.rank == 1;
  LptDType dtype;
  gint64 k, m, n;

  if (!lpt_infer_same_types (node, 0, 1, &dtype, error) || !lpt_infer_want_number (node, 0, error))
    return FALSE;
  if (a.rank == 0 || b.rank == 0)
    return lpt_infer_fail (error, "input %d is a scalar", a.rank == 0 ? 0 : 1);
  if (a.rank == LPT_DYNAMIC || b.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);

  if (vector_a)
    a = (LptShape) { 2, { 1, a.dims[0] } };
  else if (attrs->transpose_a)
    swap_last (&a);
  if (vector_b)
    b = (LptShape) { 2, { b.dims[0], 1 } };
  else if (attrs->transpose_b)
    swap_last (&b);

  m = a.dims[a.rank - 2];
  n = b.dims[b.rank - 1];
  if (!lpt_dim_merge (a.dims[a.rank - 1], b.dims[b.rank - 2], &k))
    {
      LptShape sa = lpt_infer_shape_in (node, 0);
      LptShape sb = lpt_infer_shape_in (node, 1);
      g_autofree char *ta = lpt_infer_text (&sa);
      g_autofree char *tb = lpt_infer_text (&sb);

      return lpt_infer_fail (error,
                             "%s%s and %s%s do not multiply: %" G_GINT64_FORMAT " columns and %" G_GINT64_FORMAT
                             " rows",
                             ta, attrs->transpose_a && !vector_a ? " transposed" : "", tb,
                             attrs->transpose_b && !vector_b ? " transposed" : "", a.dims[a.rank - 1],
                             b.dims[b.rank - 2]);
    }

  batch_a = lpt_shape_make (a.rank - 2, a.dims);
  batch_b = lpt_shape_make (b.rank - 2, b.dims);
  if (!lpt_shape_broadcast (&batch_a, &batch_b, &out))
    {
      g_autofree char *ta = lpt_infer_text (&batch_a);
      g_autofree char *tb = lpt_infer_text (&batch_b);

      return lpt_infer_fail (error, "leading axes %s and %s do not broadcast", ta, tb);
    }
  if (!vector_a)
    out.dims[out.rank++] = m;
  if (!vector_b)
    out.dims[out.rank++] = n;
  if (lpt_node_in (node, 2) != NULL)
    {
      LptShape bias = lpt_infer_shape_in (node, 2);
      LptShape merged;

      if (!lpt_shape_broadcast (&out, &bias, &merged) || !lpt_shape_compatible (&out, &merged))
        {
          g_autofree char *tb = lpt_infer_text (&bias);
          g_autofree char *to = lpt_infer_text (&out);

          return lpt_infer_fail (error, "bias %s does not fit the product %s", tb, to);
        }
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}

static gboolean
fits (gint64 a,
      gint64 b)
{
  return a == LPT_DYNAMIC || b == LPT_DYNAMIC || a == b;
}

/* Scales or zero points of @n rows: up to @blocks of each. */
static gboolean
check_scales (LptNode  *node,
              guint     i,
              gint64    n,
              gint64    blocks,
              GError  **error)
{
  LptShape shape = lpt_infer_shape_in (node, i);
  g_autofree char *text = NULL;

  if (shape.rank == LPT_DYNAMIC)
    return TRUE;
  if (shape.rank == 2 && fits (shape.dims[0], n) && shape.dims[1] != 0 &&
      (blocks == LPT_DYNAMIC || shape.dims[1] <= blocks))
    return TRUE;
  text = lpt_infer_text (&shape);

  return lpt_infer_fail (error, "input %u has shape %s, no numbers for the rows and blocks of the right side", i, text);
}

/* Scales of the left side, [.., blocks], or [.., 1] for rows; as many zero points. */
static gboolean
check_left_scales (LptNode         *node,
                   guint            port,
                   const LptShape  *a,
                   gint64           blocks,
                   GError         **error)
{
  const gboolean is_there = port < node->n_in && lpt_node_in (node, port) != NULL;
  const LptShape of = is_there ? lpt_infer_shape_in (node, port) : LPT_SHAPE_ANY, *scale = &of;
  gboolean ok = a->rank == LPT_DYNAMIC || scale->rank == LPT_DYNAMIC || scale->rank == a->rank;

  if (ok && scale->rank > 0)
    ok = fits (scale->dims[scale->rank - 1], blocks) || (port == 2 && scale->dims[scale->rank - 1] == 1);
  for (gint i = 0; i + 1 < a->rank && ok && scale->rank != LPT_DYNAMIC; i++)
    ok = fits (a->dims[i], scale->dims[i]);

  return ok || lpt_infer_fail (error, "the %s of the left side do not fit its rows and blocks",
                               port == 2 ? "scales" : "zero points");
}

/* [.., K] x [N, K], scales and zero points [.., blocks] or [.., 1], and [N, up to blocks] */
gboolean
lpt_infer_block_matmul (LptNode *node,
                        GError **error)
{
  const gint64 block = LPT_ATTRS (node, LptBlockMatMulAttrs)->block;
  const gboolean zeros = node->n_in > 4 && lpt_node_in (node, 4) != NULL,
                 bias = node->n_in > 5 && lpt_node_in (node, 5) != NULL;
  LptShape a = lpt_infer_shape_in (node, 0), b = lpt_infer_shape_in (node, 1), scale, vector;
  gint64 blocks, k = LPT_DYNAMIC, n = b.rank == 2 ? b.dims[0] : LPT_DYNAMIC;

  if (block < 1)
    return lpt_infer_fail (error, "blocks of %" G_GINT64_FORMAT, block);
  if (a.rank == 0 || (b.rank != 2 && b.rank != LPT_DYNAMIC) ||
      !lpt_dim_merge (a.rank > 0 ? a.dims[a.rank - 1] : LPT_DYNAMIC, b.rank == 2 ? b.dims[1] : LPT_DYNAMIC, &k))
    return lpt_infer_fail (error, "the codes do not multiply");
  blocks = k == LPT_DYNAMIC ? LPT_DYNAMIC : MAX (k - 1, 0) / block + 1;
  scale = lpt_infer_shape_in (node, 2);
  if (!check_left_scales (node, 2, &a, blocks, error) ||
      !check_left_scales (node, 6, &a, scale.rank > 0 ? scale.dims[scale.rank - 1] : LPT_DYNAMIC, error) ||
      !check_scales (node, 3, n, blocks, error) ||
      (zeros && !check_scales (node, 4, n, blocks, error)))
    return FALSE;
  scale = lpt_infer_shape_in (node, 3);
  vector = lpt_infer_shape_in (node, zeros ? 4 : 3);
  if (scale.rank == 2 && vector.rank == 2 && !fits (scale.dims[1], vector.dims[1]))
    return lpt_infer_fail (error, "there are other zero points than scales");
  vector = bias ? lpt_infer_shape_in (node, 5) : LPT_SHAPE_ANY;
  if (vector.rank != LPT_DYNAMIC && (vector.rank != 1 || !fits (vector.dims[0], n)))
    return lpt_infer_fail (error, "the bias has not one number for each row of the right side");
  if (a.rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, LPT_DTYPE_F32, LPT_DYNAMIC, error);
  a.dims[a.rank - 1] = n;

  return lpt_infer_set (node, 0, LPT_DTYPE_F32, &a, error);
}

gboolean
lpt_infer_inverse (LptNode *node,
                   GError **error)
{
  LptShape out = lpt_infer_shape_in (node, 0);
  gint64 n;

  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_want_rank (node, 0, 2, LPT_MAX_RANK, error))
    return FALSE;
  if (out.rank == LPT_DYNAMIC)
    return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
  if (!lpt_dim_merge (out.dims[out.rank - 2], out.dims[out.rank - 1], &n))
    return lpt_infer_fail (error, "matrices of %" G_GINT64_FORMAT " rows and %" G_GINT64_FORMAT " columns",
                           out.dims[out.rank - 2], out.dims[out.rank - 1]);
  out.dims[out.rank - 2] = out.dims[out.rank - 1] = n;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* --- Einsum --- */

typedef struct
{
  gint64   dims[LPT_TERM_N_LETTERS];
  gboolean seen[LPT_TERM_N_LETTERS];
  LptShape dots;             /* broadcast of what they stand for */
  gboolean any_rank;
} Einsum;

static gboolean
add_einsum_input (Einsum         *einsum,
                  guint           input,
                  const LptTerm  *term,
                  const LptShape *shape,
                  GError        **error)
{
  const gint dots = shape->rank != LPT_DYNAMIC ? lpt_term_dots (term, shape->rank) : 0;
  gint axis = 0;

  if (dots < 0)
    return lpt_infer_fail (error, "input %u has rank %d, its term of the equation %u letters", input, shape->rank,
                           term->n - lpt_term_has_dots (term));
  for (guint i = 0; i < term->n; i++)
    {
      guchar c = (guchar) term->letters[i];
      gint64 dim = shape->rank == LPT_DYNAMIC ? LPT_DYNAMIC : lpt_shape_dim (shape, axis);

      if (c == LPT_TERM_DOTS && shape->rank == LPT_DYNAMIC)
        einsum->any_rank = TRUE;
      else if (c == LPT_TERM_DOTS)
        {
          LptShape part = lpt_shape_make (dots, shape->dims + axis);

          if (!lpt_shape_broadcast (&einsum->dots, &part, &einsum->dots))
            return lpt_infer_fail (error, "the axes of \"...\" do not broadcast (input %u)", input);
          axis += dots;
        }
      else
        {
          if (!einsum->seen[c] || (einsum->dims[c] == 1 && dim != LPT_DYNAMIC))
            einsum->dims[c] = dim;
          else if (dim != 1 && !lpt_dim_merge (einsum->dims[c], dim, &einsum->dims[c]))
            return lpt_infer_fail (error, "axis '%c' has lengths %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, c,
                                   einsum->dims[c], dim);
          einsum->seen[c] = TRUE;
          axis++;
        }
    }

  return TRUE;
}

gboolean
lpt_infer_einsum (LptNode *node,
                  GError **error)
{
  g_autofree LptTerm *terms = g_new (LptTerm, node->n_in);
  Einsum einsum = { 0 };
  LptShape out = LPT_SHAPE_SCALAR;
  LptDType dtype;
  LptTerm result;

  if (!lpt_infer_same_types (node, 0, node->n_in - 1, &dtype, error) ||
      !lpt_equation_read (LPT_ATTRS (node, LptEinsumAttrs)->equation, node->n_in, terms, &result, error))
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    {
      LptShape shape = lpt_infer_shape_in (node, i);

      if (!add_einsum_input (&einsum, i, &terms[i], &shape, error))
        return FALSE;
    }

  for (guint i = 0; i < result.n; i++)
    {
      guchar c = (guchar) result.letters[i];
      gint more = c == LPT_TERM_DOTS ? einsum.dots.rank : 1;

      if (c != LPT_TERM_DOTS && !einsum.seen[c])
        return lpt_infer_fail (error, "axis '%c' of the result is in no input", c);
      if (memchr (result.letters, c, i) != NULL)
        return lpt_infer_fail (error, "axis '%c' stands twice in the result", c);
      if (c == LPT_TERM_DOTS && einsum.any_rank)
        return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
      if (out.rank + more > LPT_MAX_RANK)
        return lpt_infer_unsupported (error, "unsupported rank of the result: more than %d", LPT_MAX_RANK);
      if (c == LPT_TERM_DOTS)
        memcpy (out.dims + out.rank, einsum.dots.dims, (gsize) more * sizeof out.dims[0]);
      else
        out.dims[out.rank] = einsum.dims[c];
      out.rank += more;
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}
