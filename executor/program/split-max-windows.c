/* split-max-windows.c - the maxima of a large window are those of its lines' maxima
 *
 *     MaxPool (x, [kh, kw])  =>  MaxPool (MaxPool (x, [1, kw]), [kh, 1])
 *
 * and so with each further axis. It compares kw + kh elements for a result instead of kh kw where there are as many
 * lines of results as of data, and is done where that is less by a pass over memory.
 * The same bytes: both keep the first of equal elements (0 and -0) row by row, a number in place of a NaN, and the
 * first element where none is more than -infinity; padding is no element.
 *
 * Left alone: places of maxima that somebody reads; a result of another quantization. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-quant-plain.h"

/* Comparisons that reading and writing what is between them costs for an element. */
#define PASS_COST 4

/* Makes the window of axis @k of @attrs one element. Lists that are empty stand for what it then is. */
static void
drop_axis (LptMaxPoolAttrs *attrs,
           guint            k)
{
  LptInts *const lists[] = { &attrs->kernel, &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (k < lists[i]->n)
      lists[i]->v[k] = i < 3;
}

/* A copy of @node named @name that reads @x, over the last axis or over all others; NULL: it has no shape. */
static LptNode *
part_of (LptNode    *node,
         const char *name,
         LptValue   *x,
         gboolean    last)
{
  LptNode *part = lpt_node_clone (node, name, 1, &x);
  LptMaxPoolAttrs *attrs = LPT_ATTRS (part, LptMaxPoolAttrs);
  const guint n = attrs->kernel.n;

  for (guint k = last ? 0 : n - 1; k < (last ? n - 1 : n); k++)
    drop_axis (attrs, k);
  lpt_value_set_quant (&part->out[0], node->out[0].quant);

  return lpt_node_infer (part, NULL) ? part : NULL;
}

/* For each column of the result, which all of this is a multiple of. */
static gboolean
pays (LptNode *node)
{
  const LptMaxPoolAttrs *attrs = LPT_ATTRS (node, LptMaxPoolAttrs);
  const LptShape *x = &lpt_node_in (node, 0)->shape, *y = &node->out[0].shape;
  const guint n = attrs->kernel.n;
  double window = 1, lines = 1, results = 1;

  for (guint k = 0; k + 1 < n; k++)
    {
      window *= (double) attrs->kernel.v[k];
      lines *= (double) x->dims[k + 2];
      results *= (double) y->dims[k + 2];
    }

  return n > 1 && results * window * (double) attrs->kernel.v[n - 1] >
                      lines * ((double) attrs->kernel.v[n - 1] + PASS_COST) + results * window;
}

static void
visit (LptNode *node)
{
  LptValue *x = node->n_in == 1 ? lpt_node_in (node, 0) : NULL;
  g_autofree char *name = NULL;
  LptNode *last, *others;

  if (node->op != LPT_OP_MAX_POOL || x == NULL || !lpt_shape_is_static (&x->shape) ||
      !lpt_shape_is_static (&node->out[0].shape) || !pays (node) || !lpt_quant_equal (x->quant, node->out[0].quant) ||
      (node->n_out > 1 && lpt_value_n_uses (&node->out[1]) > 0))
    return;
  name = g_strconcat (node->name, "/lines", NULL);
  last = part_of (node, name, x, TRUE);
  others = last != NULL ? part_of (node, node->name, &last->out[0], FALSE) : NULL;
  if (others == NULL || !lpt_shape_equal (&others->out[0].shape, &node->out[0].shape))
    return;
  lpt_value_replace (&node->out[0], &others->out[0], NULL);
  lpt_node_take_name (others, node, "/window");
  visit (others);
}

gboolean
lpt_program_split_max_windows (LptProgram *program,
                               GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
