/* lpt-einsum.c - Einsum: of two factors a matrix product, of one a sum and a transposition
 *
 * A label is of the batch (in both factors and the result), contracted (in both), or of the left or right side (in one
 * and the result); those of one factor alone are summed at first. Several labels of a kind become one axis:
 *
 *     [batch, left, contracted] x [batch, contracted, right] -> [batch, left, right]
 *
 * Where nothing is contracted the factors are multiplied element by element, which takes fewer steps than products of
 * one term each.
 *
 * "..." stands for a label for each axis that the letters leave, counted from the right. Of more than two factors the
 * first two are multiplied into one, which keeps what another factor or the result has, until two are left.
 *
 * Left alone: a label twice in one factor, lengths of one label that differ, and axes whose lengths are not known where
 * they must be; integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-composite.h"
#include "ir/scalar/lpt-equation.h"

#define MAX_TERMS 8

typedef struct
{
  LptValue *value;
  gint      n;
  gint      labels[LPT_MAX_RANK];
} Factor;

typedef struct
{
  guint  n;                          /* factors */
  Factor factors[MAX_TERMS], result;
} Equation;

/* Kinds of labels, in the order of the product's axes. */
typedef enum { BATCH, LEFT, CONTRACTED, RIGHT } Kind;

typedef struct
{
  gint   n;
  gint   labels[LPT_MAX_RANK];
  gint64 length;                     /* of all, or LPT_DYNAMIC */
} Group;

static gint
place_of (const Factor *f,
          gint          label)
{
  for (gint i = 0; i < f->n; i++)
    if (f->labels[i] == label)
      return i;

  return -1;
}

/* --- the equation ----------------------------------------------------------------------- */

/* Labels, each once; FALSE: another term. */
static gboolean
take_term (const LptTerm *term,
           gint           dots,
           Factor        *f)
{
  LptTermAxes axes;

  if (dots < 0 || !lpt_term_axes (term, dots, &axes))
    return FALSE;
  for (f->n = 0; f->n < axes.n; f->n++)
    {
      if (place_of (f, axes.labels[f->n]) >= 0)
        return FALSE;
      f->labels[f->n] = axes.labels[f->n];
    }

  return TRUE;
}

static gboolean
read_equation (LptNode  *node,
               Equation *e)
{
  LptTerm terms[MAX_TERMS], result;
  gint most = 0;

  *e = (Equation) { .n = node->n_in };
  if (e->n < 1 || e->n > MAX_TERMS ||
      !lpt_equation_read (LPT_ATTRS (node, LptEinsumAttrs)->equation, e->n, terms, &result, NULL))
    return FALSE;
  for (guint i = 0; i < e->n; i++)
    {
      Factor *f = &e->factors[i];
      gint dots;

      f->value = lpt_node_in (node, i);
      if (f->value->shape.rank < 0 || !lpt_dtype_is_real (f->value->dtype))
        return FALSE;
      dots = lpt_term_dots (&terms[i], f->value->shape.rank);
      if (!take_term (&terms[i], dots, f))
        return FALSE;
      most = MAX (most, dots);
    }

  return take_term (&result, most, &e->result);
}

/* --- one factor ------------------------------------------------------------------------- */

static LptValue *
reshape (LptSpeller   *s,
         LptValue     *value,
         guint         n,
         const gint64 *dims)
{
  LptValue *to = lpt_speller_constant (s, "shape", lpt_tensor_vector_i64 (n, dims));

  return lpt_speller_emit (s, LPT_OP_RESHAPE, "Reshape", 2, (LptValue *[]) { value, to });
}

/* Sums over the labels of @f that neither @other nor the result has. */
static void
sum_alone (LptSpeller   *s,
           const Factor *other,
           const Factor *result,
           Factor       *f)
{
  gint64 axes[LPT_MAX_RANK];
  guint n = 0;
  gint k = 0;

  for (gint i = 0; i < f->n; i++)
    if (place_of (result, f->labels[i]) < 0 && (other == NULL || place_of (other, f->labels[i]) < 0))
      axes[n++] = i;
    else
      f->labels[k++] = f->labels[i];
  f->n = k;
  if (n > 0)
    f->value = lpt_speller_emit (s, LPT_OP_REDUCE_SUM, "ReduceSum", 2, (LptValue *[]) {
      f->value, lpt_speller_constant (s, "axes", lpt_tensor_vector_i64 (n, axes)) });
}

/* The value of @f with its axes in the order of @labels, which are all of them. */
static LptValue *
arrange (LptSpeller   *s,
         const Factor *f,
         const gint   *labels)
{
  gint64 order[LPT_MAX_RANK];
  gboolean moves = FALSE;

  for (gint i = 0; i < f->n; i++)
    {
      order[i] = place_of (f, labels[i]);
      moves = moves || order[i] != i;
    }
  if (!moves)
    return f->value;

  return lpt_speller_emit (s, LPT_OP_TRANSPOSE, "Transpose", 2, (LptValue *[]) {
    f->value, lpt_speller_constant (s, "order", lpt_tensor_vector_i64 ((guint) f->n, order)) });
}

/* --- two factors ------------------------------------------------------------------------ */

/* FALSE: lengths of one label differ, or more than one is not known where axes change their number. */
static gboolean
group_labels (const Factor *const *factors,
              const Factor        *result,
              Group               *groups)
{
  gboolean reshapes = FALSE;
  gint n_dynamic = 0;

  for (gint i = BATCH; i <= RIGHT; i++)
    groups[i] = (Group) { .length = 1 };
  for (gint f = 0; f < 2; f++)
    for (gint i = 0; i < factors[f]->n; i++)
      {
        const gint label = factors[f]->labels[i], there = place_of (factors[1 - f], label);
        const gint64 length = factors[f]->value->shape.dims[i];
        const gboolean kept = place_of (result, label) >= 0;
        Group *g = &groups[there < 0 ? (f == 0 ? LEFT : RIGHT) : kept ? BATCH : CONTRACTED];

        if (length == 0 || (there >= 0 && length != factors[1 - f]->value->shape.dims[there]))
          return FALSE;
        if (f == 1 && there >= 0)
          continue;
        n_dynamic += length == LPT_DYNAMIC;
        g->labels[g->n++] = label;
        if (length == LPT_DYNAMIC || (length > 0 && g->length > G_MAXINT32 / length))
          g->length = LPT_DYNAMIC;
        else if (g->length != LPT_DYNAMIC)
          g->length *= length;
      }
  for (gint i = LEFT; i <= RIGHT; i++)
    reshapes |= groups[i].n != 1;

  return (!reshapes || n_dynamic <= 1) &&
         groups[BATCH].n + MAX (groups[LEFT].n, 1) + MAX (groups[RIGHT].n, 1) <= LPT_MAX_RANK &&
         groups[BATCH].n + 2 <= LPT_MAX_RANK;
}

/* For Reshape, where one length may be missing. */
static gint64
length_of (const Factor *f,
           gint          label)
{
  const gint64 length = f->value->shape.dims[place_of (f, label)];

  return length == LPT_DYNAMIC ? -1 : length;
}

/* A factor as [batch, @second, @third]; each of the two one axis. */
static LptValue *
as_matrices (LptSpeller   *s,
             const Factor *f,
             const Group  *batch,
             const Group  *second,
             const Group  *third)
{
  gint labels[LPT_MAX_RANK];
  gint64 dims[LPT_MAX_RANK];
  LptValue *value;

  memcpy (labels, batch->labels, (gsize) batch->n * sizeof *labels);
  memcpy (labels + batch->n, second->labels, (gsize) second->n * sizeof *labels);
  memcpy (labels + batch->n + second->n, third->labels, (gsize) third->n * sizeof *labels);
  value = arrange (s, f, labels);
  if (second->n == 1 && third->n == 1)
    return value;
  for (gint i = 0; i < batch->n; i++)
    dims[i] = length_of (f, labels[i]);
  dims[batch->n] = second->length != LPT_DYNAMIC ? second->length : -1;
  dims[batch->n + 1] = third->length != LPT_DYNAMIC ? third->length : -1;

  return reshape (s, value, (guint) batch->n + 2, dims);
}

/* [batch, left, right] with an axis for each label, in the order of the result. */
static LptValue *
spread (LptSpeller          *s,
        const Factor *const *factors,
        const Factor        *result,
        const Group         *groups,
        LptValue            *value)
{
  Factor all = { .value = value };
  gint64 dims[LPT_MAX_RANK];

  for (gint i = 0; i < groups[BATCH].n; i++, all.n++)
    dims[all.n] = length_of (factors[0], all.labels[all.n] = groups[BATCH].labels[i]);
  for (gint i = 0; i < groups[LEFT].n; i++, all.n++)
    dims[all.n] = length_of (factors[0], all.labels[all.n] = groups[LEFT].labels[i]);
  for (gint i = 0; i < groups[RIGHT].n; i++, all.n++)
    dims[all.n] = length_of (factors[1], all.labels[all.n] = groups[RIGHT].labels[i]);
  if (groups[LEFT].n != 1 || groups[RIGHT].n != 1)
    all.value = reshape (s, value, (guint) all.n, dims);

  return arrange (s, &all, result->labels);
}

/* What another factor behind @from or the result has of @a and @b. */
static Factor
kept_of (const Equation *e,
         guint           from,
         const Factor   *a,
         const Factor   *b)
{
  const Factor *both[2] = { a, b };
  Factor kept = { 0 };

  for (guint f = 0; f < 2; f++)
    for (gint i = 0; i < both[f]->n; i++)
      {
        const gint label = both[f]->labels[i];
        gboolean wanted = place_of (&e->result, label) >= 0;

        for (guint k = from; k < e->n; k++)
          wanted = wanted || place_of (&e->factors[k], label) >= 0;
        if (wanted && place_of (&kept, label) < 0 && kept.n < LPT_MAX_RANK)
          kept.labels[kept.n++] = label;
      }

  return kept;
}

/* @a times @b, with the labels of @result in its order; FALSE: no matrix product. */
static gboolean
multiply (LptSpeller   *s,
          Factor        a,
          Factor        b,
          Factor       *result)
{
  const Factor *factors[2] = { &a, &b };
  const Factor whole = a;
  Group groups[4];
  gboolean turned;
  LptValue *left, *right, *product;

  sum_alone (s, &b, result, &a);
  sum_alone (s, &whole, result, &b);
  if (!group_labels (factors, result, groups))
    return FALSE;
  /* The right factor may come as [batch, right, contracted]. */
  turned = b.n > 0 && groups[RIGHT].n > 0 && groups[CONTRACTED].n > 0 &&
           place_of (&b, groups[CONTRACTED].labels[groups[CONTRACTED].n - 1]) == b.n - 1;
  left = as_matrices (s, &a, &groups[BATCH], &groups[LEFT], &groups[CONTRACTED]);
  right = turned ? as_matrices (s, &b, &groups[BATCH], &groups[RIGHT], &groups[CONTRACTED])
                 : as_matrices (s, &b, &groups[BATCH], &groups[CONTRACTED], &groups[RIGHT]);
  if (groups[CONTRACTED].n == 0)
    product = lpt_speller_emit (s, LPT_OP_MULTIPLY, "Multiply", 2, (LptValue *[]) { left, right });
  else
    product = lpt_speller_product (s, "MatMul", left, right, turned);
  result->value = spread (s, factors, result, groups, product);

  return TRUE;
}

LptValue *
lpt_einsum_spell (LptSpeller *s)
{
  Factor last;
  Equation e;

  if (!read_equation (s->from, &e))
    return NULL;
  last = e.factors[0];
  for (guint i = 1; i < e.n; i++)
    {
      Factor product = i + 1 < e.n ? kept_of (&e, i + 1, &last, &e.factors[i]) : e.result;

      if (!multiply (s, last, e.factors[i], &product))
        return NULL;
      last = product;
    }
  if (e.n == 1)
    {
      sum_alone (s, NULL, &e.result, &last);
      last.value = arrange (s, &last, e.result.labels);
    }
  if (last.value == lpt_node_in (s->from, 0))
    last.value = lpt_speller_emit (s, LPT_OP_IDENTITY, "Identity", 1, &last.value);

  return last.value;
}
