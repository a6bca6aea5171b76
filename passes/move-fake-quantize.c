/* passes/move-fake-quantize.c - quantize the inputs of a Concat instead of its output
 *
 *     FakeQuantize (f (Concat (x1, x2, ...)), ...)
 *  => Concat (FakeQuantize (f (x1), ...), FakeQuantize (f (x2), ...), ...)
 *
 * so that each branch can be computed in integers up to its own quantization, which the Concat then joins.
 * f: any sequence of Relu, real Convert and Add, Subtract, Multiply, Divide by a constant, none of which broadcasts
 * its data, nor does the FakeQuantize. Later passes would take the arithmetic into the FakeQuantize, which then stood
 * behind the Concat: what is to move moves at once, or a second run would find it. Constants that vary along the axis
 * are split. A Convert to integers and a dequantization behind the FakeQuantize move along; a moved FakeQuantize is
 * visited again, for the Concat in front of it, and so are the other readers of what it reads, which may be rid of
 * the Concat. Exact: every element meets the same operations.
 *
 * Refused when
 *   - the Concat (or an operation of f) has other readers, or a dynamic rank;
 *   - an interval is not constant, or varies along the axis and an input's length is dynamic;
 *   - all inputs come from one Split;
 *   - a Convert follows that is no part of a dequantization with one reader each;
 *   - the Concat was raised, and the graph is to be written as it is: who lowers it again is to find the Concat that
 *     TensorFlow Lite had, which rounds otherwise than a Quantize of each input.
 *
 * Golden tests: tests/golden/move-fake-quantize/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-decompose.h"

#define MANY_READERS 64      /* more are not visited: time grows linearly */

/* An input of the Concat: @length elements of the axis from @start on; -1: as many as a run says. */
typedef struct
{
  gint   rank, axis;
  gint64 start, length;
} Part;

/* What of @tensor belongs to @part. */
static LptTensor *
part_of (LptTensor  *tensor,
         const Part *part)
{
  g_autoptr (LptTensor) wide = NULL;

  if (!lpt_dequant_varies (tensor, part->rank, part->axis))
    return lpt_tensor_ref (tensor);
  if (part->length < 0)
    return NULL;
  wide = lpt_fold_extend_all (tensor, part->rank);

  return lpt_fold_range (wide, part->axis, part->start, part->length);
}

static gboolean
come_from_one_split (LptNode *concat)
{
  LptNode *first = lpt_node_src (concat, 0);
  guint i;

  if (first->op != LPT_OP_SPLIT && first->op != LPT_OP_VARIADIC_SPLIT)
    return FALSE;
  for (i = 1; i < concat->n_in; i++)
    if (lpt_node_src (concat, i) != first)
      return FALSE;

  return TRUE;
}

/* The data input of an operation of f, or -1. */
static gint
data_side (LptNode *node)
{
  gint side;

  if (node->op == LPT_OP_RELU || node->op == LPT_OP_CONVERT)
    side = 0;
  else if ((node->info->flags & LPT_OP_F_AFFINE) != 0)
    {
      side = lpt_node_const_in (node, 1) == NULL ? 1 : 0;
      if (lpt_node_const_in (node, (guint) (1 - side)) == NULL)
        return -1;
    }
  else
    return -1;
  if ((node->flags & LPT_NODE_RELAXED) || !lpt_dtype_is_real (node->out[0].dtype) ||
      !lpt_dtype_is_real (lpt_node_in (node, (guint) side)->dtype) ||
      !lpt_shape_equal (&lpt_node_in (node, (guint) side)->shape, &node->out[0].shape))
    return -1;

  return side;
}

/* The Concat in front of @fq and f between them, last operation first; NULL when there is none. */
static LptNode *
find_concat (LptNode   *fq,
             GPtrArray *between)
{
  LptNode *node = lpt_node_src (fq, 0);

  while (node->op != LPT_OP_CONCAT)
    {
      gint side = data_side (node);

      if (side < 0)
        return NULL;
      g_ptr_array_add (between, node);
      /* With other readers it cannot move: a Concat right in front is worth a remark, to look further is not. */
      if (lpt_value_n_uses (&node->out[0]) != 1 && lpt_node_src (node, (guint) side)->op != LPT_OP_CONCAT)
        return NULL;
      node = lpt_node_src (node, (guint) side);
    }

  return node;
}

static gboolean
has_other_readers (LptNode   *concat,
                   GPtrArray *between)
{
  guint i;

  for (i = 0; i < between->len; i++)
    if (lpt_value_n_uses (&((LptNode *) g_ptr_array_index (between, i))->out[0]) != 1)
      return TRUE;

  return lpt_value_n_uses (&concat->out[0]) != 1;
}

/* What stands behind the FakeQuantize and moves along. */
typedef struct
{
  LptNode   *low;       /* Convert to integers, or NULL */
  LptDequant dq;        /* behind it */
} Behind;

static gboolean
find_behind (LptNode *fq,
             Behind  *behind)
{
  LptNode *reader = lpt_value_n_uses (&fq->out[0]) > 0 ? lpt_value_use (&fq->out[0], 0)->node : NULL;

  *behind = (Behind) { NULL };
  if (reader == NULL || reader->op != LPT_OP_CONVERT)
    return TRUE;
  if (lpt_value_n_uses (&fq->out[0]) != 1 || !lpt_dequant_find_below (reader, TRUE, &behind->dq))
    return FALSE;
  behind->low = reader;

  return TRUE;
}

/* Can every constant be cut into the parts of the inputs? */
static gboolean
constants_split (LptNode      *fq,
                 LptNode      *concat,
                 GPtrArray    *between,
                 const Behind *behind,
                 gint          axis)
{
  gint rank = concat->out[0].shape.rank;
  gboolean varies = FALSE;
  guint i, k;

  for (i = 0; i < between->len; i++)
    {
      LptNode *node = g_ptr_array_index (between, i);

      for (k = 0; k < node->n_in; k++)
        if (lpt_node_const_in (node, k) != NULL)
          varies |= lpt_dequant_varies (lpt_node_const_in (node, k), rank, axis);
    }
  for (i = 1; i < 5; i++)
    {
      g_autoptr (LptTensor) end = lpt_fold_value (lpt_node_in (fq, i));

      varies |= lpt_dequant_varies (end, rank, axis);
    }
  if (behind->low != NULL)
    varies |= lpt_dequant_varies (lpt_dequant_scale (&behind->dq), rank, axis) ||
              (behind->dq.subtract != NULL && lpt_dequant_varies (lpt_dequant_zp (&behind->dq), rank, axis));
  for (i = 0; varies && i < concat->n_in; i++)
    if (lpt_node_in (concat, i)->shape.rank != rank || lpt_node_in (concat, i)->shape.dims[axis] < 0)
      return FALSE;

  return TRUE;
}

/* @node on @value with the part of its constants that belongs to it. */
static LptNode *
clone_on (LptRewriter *rw,
          LptNode     *node,
          LptValue    *value,
          guint        side,
          LptDType     dtype,
          const Part  *part)
{
  g_autofree LptValue **in = lpt_layer_inputs (node);
  guint k;

  for (k = 0; k < node->n_in; k++)
    {
      g_autoptr (LptTensor) constant = k != side ? lpt_fold_value (in[k]) : NULL;

      if (constant != NULL && lpt_dequant_varies (constant, part->rank, part->axis))
        in[k] = lpt_rewriter_const (rw, in[k]->producer->name, part_of (constant, part));
    }
  in[side] = value;

  return lpt_layer_clone (rw, node, node->n_in, in, dtype);
}

/* One branch: f, FakeQuantize, and what stands behind it. */
static LptValue *
build_branch (LptRewriter  *rw,
              LptNode      *fq,
              GPtrArray    *between,
              const Behind *behind,
              LptValue     *value,
              const Part   *part)
{
  LptNode *fresh;
  guint i;

  for (i = between->len; i-- > 0; )
    {
      LptNode *node = g_ptr_array_index (between, i);

      value = &clone_on (rw, node, value, (guint) data_side (node), LPT_DTYPE_UNDEFINED, part)->out[0];
    }
  fresh = clone_on (rw, fq, value, 0, fq->out[0].dtype, part);
  lpt_rewriter_visit (rw, fresh);
  value = &fresh->out[0];
  if (behind->low != NULL)
    {
      g_autoptr (LptTensor) zp = behind->dq.subtract != NULL ? part_of (lpt_dequant_zp (&behind->dq), part) : NULL;
      g_autoptr (LptTensor) scale = part_of (lpt_dequant_scale (&behind->dq), part);

      value = &lpt_layer_convert (rw, value, behind->low->out[0].dtype, behind->low->name)->out[0];
      value = lpt_dequant_append (rw, value, &behind->dq, zp, scale, behind->low->name);
    }

  return value;
}

static void
visit_readers (LptRewriter *rw,
               LptValue    *value)
{
  guint i;

  if (lpt_value_n_uses (value) > MANY_READERS)
    return;
  for (i = 0; i < lpt_value_n_uses (value); i++)
    lpt_rewriter_visit (rw, lpt_value_use (value, i)->node);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *fq)
{
  g_autoptr (GPtrArray) between = g_ptr_array_new ();
  g_autofree LptValue **in = NULL;
  g_autofree LptValue **sources = NULL;
  LptNode *concat, *fresh;
  LptValue *old;
  Behind behind;
  Part part = { 0 };
  guint i;

  if (!lpt_quantize_intervals_are_constant (fq) ||
      !lpt_shape_compatible (&fq->in[0].value->shape, &fq->out[0].shape))
    return FALSE;
  concat = find_concat (fq, between);
  if (concat == NULL ||
      ((concat->flags & LPT_NODE_RAISED) != 0 && lpt_rewriter_config (rw)->until == LPT_STAGE_PREPARE))
    return FALSE;
  part.rank = concat->out[0].shape.rank;
  if (!lpt_axis_normalize (LPT_ATTRS (concat, LptAxisAttrs)->axis, part.rank, &part.axis))
    return lpt_rewriter_decline (rw, fq, "the Concat in front has a dynamic rank");
  if (has_other_readers (concat, between))
    return lpt_rewriter_decline (rw, fq, "the Concat in front has other readers");
  if (come_from_one_split (concat))
    return lpt_rewriter_decline (rw, fq, "all inputs of the Concat come from one Split");
  if (!find_behind (fq, &behind))
    return lpt_rewriter_decline (rw, fq, "a Convert follows that is no part of a dequantization");
  if (!constants_split (fq, concat, between, &behind, part.axis))
    return lpt_rewriter_decline (rw, fq, "a constant varies along the axis, and an input's length is dynamic");

  in = lpt_layer_inputs (concat);
  sources = lpt_layer_inputs (concat);
  for (i = 0; i < concat->n_in; i++)
    {
      LptValue *value = in[i];

      part.length = value->shape.rank == part.rank ? value->shape.dims[part.axis] : -1;
      in[i] = build_branch (rw, fq, between, &behind, value, &part);
      part.start += MAX (part.length, 0);
    }
  old = behind.low != NULL ? lpt_dequant_tail (&behind.dq) : &fq->out[0];
  fresh = lpt_layer_clone (rw, concat, concat->n_in, in, LPT_DTYPE_UNDEFINED);
  lpt_node_take_over (fresh, concat, "/replaced");
  lpt_rewriter_replace (rw, old, &fresh->out[0], NULL);
  for (i = 0; i < fresh->n_in; i++)
    visit_readers (rw, sources[i]);

  return TRUE;
}

const LptPass lpt_pass_move_fake_quantize = {
  .name      = "move-fake-quantize",
  .doc       = "Quantize the inputs of a Concat instead of its output",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_FAKE_QUANTIZE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
