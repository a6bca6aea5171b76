/* join-dilations.c - convolutions of images that were cut into phases become dilated ones
 *
 *     BatchToSpace (Convolution (SpaceToBatch (x, block, pads), w), block, crops)
 *     =>  Convolution (x, w), dilations block times as large, pads block times as large, plus pads, less crops
 *
 * That is how TensorFlow says dilation. Transposes, axes of length 1 that come and go, and elementwise ops with one
 * number, or one for each channel, may stand between. The same sums, without the products with what was padded.
 *
 * Left alone: strides; several readers of what lies between; elementwise ops of what was padded; weights that are not
 * finite, as 0 times infinity is not 0; crops of more than the padding; shapes that are not known. The graph is the
 * program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>

#include "eval/lpt-call.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/infer/lpt-infer-util.h"
#include "ir/lpt-fold.h"
#include "ir/lpt-weighted.h"

/* Nodes between the two. */
#define MAX_BETWEEN 16

typedef struct
{
  LptGraph *graph;
  LptNode  *cut, *join;                  /* SpaceToBatch, BatchToSpace */
  LptNode  *between[MAX_BETWEEN];
  gint      axes[MAX_BETWEEN + 1][LPT_MAX_RANK];      /* in front of each: which axis of x it is; -1: of length 1 */
  guint     n, convolution;              /* which of them it is; n: none */
  LptInts   block, begin, end, crop_begin, crop_end;  /* along the axes of x */
} Dilation;

/* The only node that reads @value; NULL: none, or several. */
static LptNode *
reader_of (const LptValue *value)
{
  return lpt_value_n_uses (value) == 1 ? lpt_value_use (value, 0)->node : NULL;
}

/* Input @i of @node, a number for each axis. */
static gboolean
read_numbers (LptNode *node,
              guint    i,
              LptInts *numbers)
{
  guint k;

  if (lpt_node_in (node, i) == NULL || !lpt_value_ints (lpt_node_in (node, i), numbers) ||
      (gint) numbers->n != lpt_node_in (node, 0)->shape.rank)
    return FALSE;
  for (k = 0; k < numbers->n; k++)
    if (numbers->v[k] < 0)
      return FALSE;

  return TRUE;
}

static gint64
block_at (const Dilation *d,
          gint            axis)
{
  return axis < 0 ? 1 : d->block.v[axis];
}

/* --- what stands between --- */

/* Which axis of @from each of @to is where axes of length 1 come and go, from the left or from the right. */
static gboolean
align (const LptShape *from,
       const LptShape *to,
       gboolean        left,
       gint           *of)
{
  gint i = 0, k;

  for (k = 0; k < to->rank; k++)
    {
      const gint at = left ? k : to->rank - 1 - k;

      while (i < from->rank && from->dims[left ? i : from->rank - 1 - i] != to->dims[at] &&
             from->dims[left ? i : from->rank - 1 - i] == 1)
        i++;
      if (i < from->rank && from->dims[left ? i : from->rank - 1 - i] == to->dims[at])
        {
          of[at] = left ? i : from->rank - 1 - i;
          i++;
        }
      else if (to->dims[at] == 1)
        of[at] = -1;
      else
        return FALSE;
    }
  for (; i < from->rank; i++)
    if (from->dims[left ? i : from->rank - 1 - i] != 1)
      return FALSE;

  return TRUE;
}

/* A reshape that only brings or takes axes of length 1, none of which was cut. */
static gboolean
pass_reshape (const Dilation *d,
              const LptNode  *node,
              const gint     *axes,
              gint           *next)
{
  const LptShape *from = &node->in[0].value->shape, *to = &node->out[0].shape;
  gint left[LPT_MAX_RANK], right[LPT_MAX_RANK], k, i;
  gboolean kept[LPT_MAX_RANK] = { FALSE };

  if (!align (from, to, TRUE, left) || !align (from, to, FALSE, right))
    return FALSE;
  for (k = 0; k < to->rank; k++)
    {
      if (left[k] != right[k])
        return FALSE;
      next[k] = left[k] < 0 ? -1 : axes[left[k]];
      if (left[k] >= 0)
        kept[left[k]] = TRUE;
    }
  for (i = 0; i < from->rank; i++)
    if (!kept[i] && (block_at (d, axes[i]) != 1 || axes[i] == 0))
      return FALSE;

  return TRUE;
}

static gboolean
pass_transpose (LptNode    *node,
                const gint *axes,
                gint       *next)
{
  g_auto (LptInts) order = { 0 };
  guint k;

  if (!lpt_value_ints (lpt_node_in (node, 1), &order) || (gint) order.n != node->out[0].shape.rank)
    return FALSE;
  for (k = 0; k < order.n; k++)
    {
      if (order.v[k] < 0 || order.v[k] >= (gint64) order.n)
        return FALSE;
      next[k] = axes[order.v[k]];
    }

  return TRUE;
}

/* Is padding still to be seen by the convolution? Its own is 0, whatever else becomes of 0 in between. */
static gboolean
sees_padding (const Dilation *d)
{
  guint k;

  for (k = 0; k < d->begin.n; k++)
    if (d->begin.v[k] != 0 || d->end.v[k] != 0)
      return d->convolution == MAX_BETWEEN;

  return FALSE;
}

/* Constants that are the same along all axes that were cut. */
static gboolean
pass_elementwise (const Dilation *d,
                  LptNode        *node,
                  const gint     *axes)
{
  const gint rank = node->out[0].shape.rank;
  guint i;
  gint k;

  if (sees_padding (d))
    return FALSE;
  for (i = 1; i < node->n_in; i++)
    {
      const LptValue *value = lpt_node_in (node, i);

      if (value == NULL)
        continue;
      if (value->producer->data == NULL)
        return FALSE;
      if (lpt_tensor_count (value->producer->data) == 1)
        continue;
      if (value->shape.rank != rank)
        return FALSE;
      for (k = 0; k < rank; k++)
        if (value->shape.dims[k] != 1 && (axes[k] == 0 || block_at (d, axes[k]) != 1))
          return FALSE;
    }

  return TRUE;
}

/* A convolution of the phases along axes that keep their place, and its window. */
static gboolean
pass_convolution (const Dilation *d,
                  LptNode        *node,
                  const gint     *axes)
{
  const gint rank = node->out[0].shape.rank;
  LptWeightedView view;
  gint k;

  if (!lpt_weighted_view (node, &view) || !view.window || view.transposed || axes[0] != 0 ||
      block_at (d, axes[1]) != 1 || lpt_node_src (node, 1)->data == NULL ||
      !lpt_tensor_is_finite (lpt_node_src (node, 1)->data) ||
      (view.auto_pad != LPT_AUTO_PAD_EXPLICIT && view.auto_pad != LPT_AUTO_PAD_VALID))
    return FALSE;
  for (k = 2; k < rank; k++)
    if (view.strides->v[k - 2] != 1)
      return FALSE;

  return TRUE;
}

/* The axes behind @node; FALSE: it does not commute with the phases. */
static gboolean
pass (Dilation   *d,
      LptNode    *node,
      const gint *axes,
      gint       *next)
{
  const guint traits = node->info->flags;

  memcpy (next, axes, LPT_MAX_RANK * sizeof *next);
  if (node->n_out != 1 || node->n_in < 1 || !lpt_shape_is_static (&node->out[0].shape))
    return FALSE;
  if (node->op == LPT_OP_TRANSPOSE)
    return pass_transpose (node, axes, next);
  if ((lpt_exec_node (node)->flags & LPT_EXEC_ALIAS) != 0)
    return pass_reshape (d, node, axes, next);
  if ((traits & LPT_OP_F_ELEMENTWISE) != 0)
    return pass_elementwise (d, node, axes) && lpt_shape_equal (&node->out[0].shape, &lpt_node_in (node, 0)->shape);
  if (d->convolution < MAX_BETWEEN || !pass_convolution (d, node, axes))
    return FALSE;
  d->convolution = d->n;

  return TRUE;
}

/* From the SpaceToBatch to the BatchToSpace; FALSE: they do not belong together. */
static gboolean
walk (Dilation *d)
{
  g_auto (LptInts) block = { 0 }, begin = { 0 }, end = { 0 };
  LptValue *value = lpt_node_out (d->cut);
  const gint *axes;
  guint k;

  for (k = 0; k < LPT_MAX_RANK; k++)
    d->axes[0][k] = (gint) k;
  d->convolution = MAX_BETWEEN;
  for (d->n = 0; ; d->n++)
    {
      LptNode *node = reader_of (value);

      if (node == NULL || lpt_node_in (node, 0) != value)
        return FALSE;
      d->join = node;
      if (node->op == LPT_OP_BATCH_TO_SPACE)
        break;
      if (d->n == MAX_BETWEEN || !pass (d, node, d->axes[d->n], d->axes[d->n + 1]))
        return FALSE;
      d->between[d->n] = node;
      value = lpt_node_out (node);
    }
  axes = d->axes[d->n];
  if (d->convolution == MAX_BETWEEN || !read_numbers (d->join, 1, &block) || !read_numbers (d->join, 2, &begin) ||
      !read_numbers (d->join, 3, &end))
    return FALSE;
  lpt_ints_fill (&d->crop_begin, d->block.n, 0);
  lpt_ints_fill (&d->crop_end, d->block.n, 0);
  for (k = 0; k < block.n; k++)
    {
      if (block.v[k] != block_at (d, axes[k]) || (axes[k] < 0 && (begin.v[k] != 0 || end.v[k] != 0)))
        return FALSE;
      if (axes[k] < 0)
        continue;
      d->crop_begin.v[axes[k]] = begin.v[k];
      d->crop_end.v[axes[k]] = end.v[k];
    }

  return TRUE;
}

/* --- the dilated one --- */

/* The convolution on the whole image @x; NULL: it would be cut by more than it is padded. */
static LptNode *
dilate (const Dilation *d,
        LptNode        *node,
        LptNode        *copy)
{
  const gint *axes = d->axes[d->convolution];
  LptConvAttrs *a = LPT_ATTRS (copy, LptConvAttrs);
  const guint n = (guint) node->out[0].shape.rank - 2;
  LptWeightedView view;
  guint k;

  lpt_weighted_view (node, &view);
  for (k = 0; k < n; k++)
    {
      const gint axis = axes[k + 2];
      const gint64 block = block_at (d, axis);
      const gboolean valid = view.auto_pad == LPT_AUTO_PAD_VALID;
      gint64 begin = valid ? 0 : view.pads_begin->v[k] * block, end = valid ? 0 : view.pads_end->v[k] * block;

      if (axis >= 0)
        {
          begin += d->begin.v[axis] - d->crop_begin.v[axis];
          end += d->end.v[axis] - d->crop_end.v[axis];
        }
      if (begin < 0 || end < 0)
        return NULL;
      a->dilations.v[k] = view.dilations->v[k] * block;
      a->pads_begin.v[k] = begin;
      a->pads_end.v[k] = end;
    }
  a->auto_pad = LPT_AUTO_PAD_EXPLICIT;

  return copy;
}

/* @node on the whole image @x, whose axes are @axes; NULL: no. */
static LptNode *
copy_node (const Dilation *d,
           guint           i,
           LptValue       *x)
{
  LptNode *node = d->between[i], *copy;
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in + 1);
  LptShape shape = node->out[0].shape;
  guint k;

  in[0] = x;
  for (k = 1; k < node->n_in; k++)
    in[k] = lpt_node_in (node, k);
  if (node->op != LPT_OP_TRANSPOSE && (lpt_exec_node (node)->flags & LPT_EXEC_ALIAS) != 0)
    {
      const LptShape list = lpt_shape_make (1, (gint64[]) { shape.rank });
      g_autoptr (LptTensor) dims = NULL;
      gint p, q;

      for (p = 0; p < shape.rank; p++)
        for (q = 0; q < x->shape.rank; q++)
          if (d->axes[i + 1][p] >= 0 && d->axes[i][q] == d->axes[i + 1][p])
            shape.dims[p] = x->shape.dims[q];
      dims = lpt_tensor_new_copy (LPT_DTYPE_I64, &list, shape.dims, NULL);
      if (dims == NULL)
        return NULL;
      in[1] = lpt_node_out (lpt_graph_add_const (d->graph, NULL, dims));
      copy = lpt_graph_add (d->graph, LPT_OP_RESHAPE, 0, node->name, 2, in);
      copy->out[0].dtype = node->out[0].dtype;
    }
  else
    copy = lpt_node_clone (node, node->name, node->n_in, in);
  lpt_value_set_quant (&copy->out[0], node->out[0].quant);
  if (i == d->convolution)
    copy = dilate (d, node, copy);

  return copy != NULL && lpt_node_infer (copy, NULL) ? copy : NULL;
}

static void
join (const Dilation *d)
{
  LptValue *x = lpt_node_in (d->cut, 0);
  guint i;

  for (i = 0; i < d->n; i++)
    {
      LptNode *copy = copy_node (d, i, x);

      if (copy == NULL)
        return;
      x = lpt_node_out (copy);
    }
  if (lpt_shape_equal (&x->shape, &lpt_node_out (d->join)->shape) &&
      lpt_quant_equal (x->quant, lpt_node_out (d->join)->quant))
    lpt_value_replace (lpt_node_out (d->join), x, NULL);
}

static void
visit (LptNode *node)
{
  Dilation d = { .graph = node->graph, .cut = node };

  if (node->op != LPT_OP_SPACE_TO_BATCH)
    return;
  if (lpt_shape_is_static (&node->out[0].shape) && lpt_shape_is_static (&lpt_node_in (node, 0)->shape) &&
      read_numbers (node, 1, &d.block) && read_numbers (node, 2, &d.begin) && read_numbers (node, 3, &d.end) &&
      d.block.n > 1 && d.block.v[0] == 1 && d.begin.v[0] == 0 && d.end.v[0] == 0 && walk (&d))
    join (&d);
  lpt_ints_clear (&d.block);
  lpt_ints_clear (&d.begin);
  lpt_ints_clear (&d.end);
  lpt_ints_clear (&d.crop_begin);
  lpt_ints_clear (&d.crop_end);
}

gboolean
lpt_program_join_dilations (LptProgram *program,
                            GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
