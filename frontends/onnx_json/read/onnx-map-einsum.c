/* onnx-map-einsum.c - Einsum: of two factors a matrix product, of one a sum and a transposition
 *
 * A label is of the batch (in both factors and the result), contracted (in both), or of the left or right side (in one
 * and the result); those of one factor alone are summed at first. Several labels of a kind become one axis:
 *
 *     [batch, left, contracted] x [batch, contracted, right] -> [batch, left, right]
 *
 * The op Einsum has the rest: more factors, an ellipsis, a label twice in one factor, integers, and axes whose lengths
 * are not known where they must be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "frontends/onnx_json/read/onnx-attention.h"

#define N_LETTERS 128

typedef struct
{
  LptValue *value;
  gint      n;
  gint      labels[LPT_MAX_RANK];
} Factor;

typedef struct
{
  guint  n;                          /* factors */
  Factor factors[2], result;
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
  gint i;

  for (i = 0; i < f->n; i++)
    if (f->labels[i] == label)
      return i;

  return -1;
}

/* Letters up to @end, each once; FALSE: another term. */
static gboolean
read_term (const char *text,
           const char *end,
           Factor     *f)
{
  for (f->n = 0; text < end; text++)
    {
      if (*text == ' ')
        continue;
      if (!g_ascii_isalpha (*text) || f->n == LPT_MAX_RANK || place_of (f, *text) >= 0)
        return FALSE;
      f->labels[f->n++] = *text;
    }

  return TRUE;
}

/* Without "->" the result has what occurs once, in alphabetical order. */
static void
imply_result (Equation *e)
{
  gint label;

  for (label = 0; label < N_LETTERS; label++)
    if ((place_of (&e->factors[0], label) >= 0) + (e->n > 1 && place_of (&e->factors[1], label) >= 0) == 1 &&
        e->result.n < LPT_MAX_RANK)
      e->result.labels[e->result.n++] = label;
}

static gboolean
read_equation (LptOnnxNode *on,
               const char  *text,
               Equation    *e)
{
  const char *arrow = strstr (text, "->"), *end = arrow != NULL ? arrow : text + strlen (text), *comma;
  guint i;
  gint k;

  *e = (Equation) { .n = on->n_in };
  if (e->n < 1 || e->n > 2)
    return FALSE;
  comma = memchr (text, ',', (gsize) (end - text));
  if ((comma != NULL) != (e->n == 2) || !read_term (text, comma != NULL ? comma : end, &e->factors[0]) ||
      (comma != NULL && !read_term (comma + 1, end, &e->factors[1])) ||
      (arrow != NULL && !read_term (arrow + 2, arrow + strlen (arrow), &e->result)))
    return FALSE;
  if (arrow == NULL)
    imply_result (e);
  for (i = 0; i < e->n; i++)
    {
      e->factors[i].value = lpt_onnx_in (on, i);
      if (on->error != NULL || e->factors[i].value->shape.rank != e->factors[i].n ||
          !lpt_dtype_is_real (e->factors[i].value->dtype))
        return FALSE;
    }
  for (k = 0; k < e->result.n; k++)
    if (place_of (&e->factors[0], e->result.labels[k]) < 0 &&
        (e->n == 1 || place_of (&e->factors[1], e->result.labels[k]) < 0))
      return FALSE;

  return TRUE;
}

/* Sums over the labels of @f that neither @other nor the result has. */
static void
sum_alone (LptOnnxNode  *on,
           const Factor *other,
           const Factor *result,
           Factor       *f)
{
  gint64 axes[LPT_MAX_RANK];
  guint n = 0;
  gint i, k = 0;

  for (i = 0; i < f->n; i++)
    if (place_of (result, f->labels[i]) < 0 && (other == NULL || place_of (other, f->labels[i]) < 0))
      axes[n++] = i;
    else
      f->labels[k++] = f->labels[i];
  f->n = k;
  if (n > 0)
    f->value = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, f->value, lpt_onnx_i64 (on, n, axes), FALSE);
}

/* @value, whose axes are @f's, with the axes in the order of @labels, which are all of them. */
static LptValue *
arrange (LptOnnxNode  *on,
         const Factor *f,
         const gint   *labels)
{
  gint64 order[LPT_MAX_RANK];
  gboolean moves = FALSE;
  gint i;

  for (i = 0; i < f->n; i++)
    {
      order[i] = place_of (f, labels[i]);
      moves = moves || order[i] != i;
    }

  return moves ? lpt_onnx_transpose (on, f->value, (guint) f->n, order) : f->value;
}

/* FALSE: lengths of one label differ, or more than one is not known where axes change their number. */
static gboolean
group_labels (const Equation *e,
              Group          *groups)
{
  gint f, i, n_dynamic = 0;
  gboolean reshapes = FALSE;

  for (i = BATCH; i <= RIGHT; i++)
    groups[i] = (Group) { .length = 1 };
  for (f = 0; f < 2; f++)
    for (i = 0; i < e->factors[f].n; i++)
      {
        const gint label = e->factors[f].labels[i], there = place_of (&e->factors[1 - f], label);
        const gint64 length = e->factors[f].value->shape.dims[i];
        gboolean kept = place_of (&e->result, label) >= 0;
        Kind kind = there < 0 ? (f == 0 ? LEFT : RIGHT) : kept ? BATCH : CONTRACTED;
        Group *g = &groups[kind];

        if (length == 0 || (there >= 0 && length != e->factors[1 - f].value->shape.dims[there]))
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
  for (i = LEFT; i <= RIGHT; i++)
    reshapes |= groups[i].n != 1;

  return !reshapes || n_dynamic <= 1;
}

/* For Reshape, where one length may be missing. */
static gint64
length_of (const Factor *f,
           gint          label)
{
  gint64 length = f->value->shape.dims[place_of (f, label)];

  return length == LPT_DYNAMIC ? -1 : length;
}

/* A factor as [batch, @second, @third]; each of the two one axis. */
static LptValue *
as_matrices (LptOnnxNode  *on,
             const Factor *f,
             const Group  *batch,
             const Group  *second,
             const Group  *third)
{
  gint labels[LPT_MAX_RANK];
  gint64 dims[LPT_MAX_RANK];
  LptValue *value;
  gint i;

  memcpy (labels, batch->labels, (gsize) batch->n * sizeof *labels);
  memcpy (labels + batch->n, second->labels, (gsize) second->n * sizeof *labels);
  memcpy (labels + batch->n + second->n, third->labels, (gsize) third->n * sizeof *labels);
  value = arrange (on, f, labels);
  if (second->n == 1 && third->n == 1)
    return value;
  for (i = 0; i < batch->n; i++)
    dims[i] = length_of (f, labels[i]);
  dims[batch->n] = second->length != LPT_DYNAMIC ? second->length : -1;
  dims[batch->n + 1] = third->length != LPT_DYNAMIC ? third->length : -1;

  return lpt_onnx_reshape (on, value, (guint) batch->n + 2, dims);
}

/* [batch, left, right] with an axis for each label. */
static LptValue *
spread (LptOnnxNode    *on,
        const Equation *e,
        const Group    *groups,
        LptValue       *value)
{
  const Factor *left = &e->factors[0], *right = &e->factors[1];
  Factor all = { .value = value };
  gint64 dims[LPT_MAX_RANK];
  gint i;

  for (i = 0; i < groups[BATCH].n; i++, all.n++)
    dims[all.n] = length_of (left, all.labels[all.n] = groups[BATCH].labels[i]);
  for (i = 0; i < groups[LEFT].n; i++, all.n++)
    dims[all.n] = length_of (left, all.labels[all.n] = groups[LEFT].labels[i]);
  for (i = 0; i < groups[RIGHT].n; i++, all.n++)
    dims[all.n] = length_of (right, all.labels[all.n] = groups[RIGHT].labels[i]);
  if (groups[LEFT].n != 1 || groups[RIGHT].n != 1)
    all.value = lpt_onnx_reshape (on, value, (guint) all.n, dims);

  return arrange (on, &all, e->result.labels);
}

/* NULL: not a matrix product. */
static LptValue *
product (LptOnnxNode *on,
         Equation    *e)
{
  Group groups[4];
  LptValue *a, *b;
  gboolean turned;

  if (!group_labels (e, groups) ||
      groups[BATCH].n + MAX (groups[LEFT].n, 1) + MAX (groups[RIGHT].n, 1) > LPT_MAX_RANK ||
      groups[BATCH].n + 2 > LPT_MAX_RANK)
    return NULL;
  /* The right factor may come as [batch, right, contracted]. */
  turned = e->factors[1].n > 0 && groups[RIGHT].n > 0 && groups[CONTRACTED].n > 0 &&
           place_of (&e->factors[1], groups[CONTRACTED].labels[groups[CONTRACTED].n - 1]) == e->factors[1].n - 1;
  a = as_matrices (on, &e->factors[0], &groups[BATCH], &groups[LEFT], &groups[CONTRACTED]);
  b = turned ? as_matrices (on, &e->factors[1], &groups[BATCH], &groups[RIGHT], &groups[CONTRACTED])
             : as_matrices (on, &e->factors[1], &groups[BATCH], &groups[CONTRACTED], &groups[RIGHT]);

  return spread (on, e, groups, lpt_onnx_product (on, a, b, turned));
}

void
lpt_onnx_map_einsum (LptOnnxNode *on)
{
  const char *text = lpt_onnx_string (on, "equation", "");
  g_autofree LptValue **in = g_new0 (LptValue *, MAX (on->n_in, 1));
  LptValue *y = NULL;
  LptNode *node;
  Equation e;

  if (read_equation (on, text, &e))
    {
      Equation sums = e;

      sum_alone (on, e.n > 1 ? &e.factors[1] : NULL, &e.result, &sums.factors[0]);
      if (e.n > 1)
        sum_alone (on, &e.factors[0], &e.result, &sums.factors[1]);
      y = e.n == 1 ? arrange (on, &sums.factors[0], e.result.labels) : product (on, &sums);
    }
  if (y == NULL)
    {
      for (guint i = 0; i < MAX (on->n_in, 1); i++)
        in[i] = lpt_onnx_in (on, i);
      node = lpt_onnx_add_list (on, LPT_OP_EINSUM, 1, MAX (on->n_in, 1), in);
      g_free (LPT_ATTRS (node, LptEinsumAttrs)->equation);
      LPT_ATTRS (node, LptEinsumAttrs)->equation = g_strdup (text);
      y = lpt_onnx_done (on, node);
    }
  lpt_onnx_set (on, 0, y);
}
