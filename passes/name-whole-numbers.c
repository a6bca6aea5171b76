/* passes/name-whole-numbers.c - codes of integer networks that are written in real numbers
 *
 *     Clamp (Floor (N / D), L, H)  =>  FakeQuantize (N / D - 1/2 + 1/2D, L, H, L, H) of H - L + 1 levels
 *     Clamp (w, L, H)              =>  FakeQuantize (w, L, H, L, H)
 *
 * where the result is data of a product, N are whole numbers, D is one and w are whole numbers otherwise. L and H are
 * whole, at most 255 apart. NEMO, Quantlab and DORY write requantization so, the first of them with integers
 * of 64 bits for Floor (Convert, Multiply, Divide, Convert; the division goes towards zero, which is down where L is
 * not below 0). Weights, which are whole, too, get codes from quantize-grid-weights then.
 *
 * Exact in real arithmetic: whole numbers N are never within 1/2D of the half where Round (N / D - 1/2 + 1/2D) and
 * Floor (N / D) part. Factors of integer kernels have 31 bits, all that there are where D is a power of two; else one
 * of some millions of results may be one code less or more.
 * Whole are constants, data of such a FakeQuantize, and sums and products of these; what the inputs of the model hold
 * is not known, so that behind the first product the second form is made.
 *
 * Golden tests: tests/golden/name-whole-numbers/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-clamp.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-whole.h"

/* N / D as a real number: (N as a real number) times @factor. */
typedef struct { LptValue *n; double factor, d; } Ratio;

/* A constant that is one number; NAN: it is none. */
static double
one_number (LptNode *node,
            guint    i)
{
  LptTensor *tensor = lpt_node_const_in (node, i);

  return tensor != NULL && lpt_tensor_count (tensor) == 1 ? lpt_tensor_get_f64 (tensor, 0) : NAN;
}

static gboolean
divides (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_FACTOR) != 0 && (node->info->flags & LPT_OP_F_DIVISOR) != 0;
}

/* @node is N / D, or N times one D-th. */
static gboolean
find_division (LptNode *node,
               Ratio   *ratio)
{
  double by = one_number (node, 1);

  if ((node->info->flags & LPT_OP_F_FACTOR) == 0)
    return FALSE;
  ratio->n = lpt_node_in (node, 0);
  ratio->d = divides (node) ? by : 1 / by;
  ratio->factor = 1 / ratio->d;

  return ratio->d >= 2 && ratio->d <= LPT_WHOLE_MOST && ratio->d == rint (ratio->d);
}

/* What is rounded down in @whole, by Floor or by integers that are not below zero. */
static gboolean
find_ratio (LptNode *whole,
            double   low,
            Ratio   *ratio)
{
  LptNode *node = lpt_node_src (whole, 0);
  double by = 1;

  if (whole->op == LPT_OP_FLOOR)
    return find_division (node, ratio) && lpt_is_whole (ratio->n);
  if (whole->op != LPT_OP_CONVERT || node == NULL || !divides (node) || lpt_dtype_is_real (node->out[0].dtype) ||
      low < 0 || !find_division (node, ratio))
    return FALSE;
  node = ratio->n->producer;
  if ((node->info->flags & LPT_OP_F_FACTOR) != 0 && !divides (node) && one_number (node, 1) >= 1)
    {
      by = one_number (node, 1);
      node = lpt_node_src (node, 0);
    }
  ratio->factor *= by;
  if (node->op != LPT_OP_CONVERT || by != floor (by) || !lpt_is_whole (lpt_node_in (node, 0)))
    return FALSE;
  ratio->n = lpt_node_in (node, 0);

  return ratio->n->dtype == LPT_DTYPE_F32;
}

static LptValue *
scalar (LptRewriter *rw,
        const char  *name,
        const char  *suffix,
        double       value)
{
  g_autofree char *own = g_strconcat (name, suffix, NULL);

  return lpt_rewriter_const (rw, own, lpt_tensor_scalar (LPT_DTYPE_F32, value));
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *clamp)
{
  g_autofree char *name = g_strdup (clamp->name);
  g_autofree char *ratio_name = g_strconcat (name, "/ratio", NULL), *moved_name = g_strconcat (name, "/moved", NULL);
  double low, high;
  LptValue *in[5];
  Ratio ratio;
  LptNode *fq, *last;

  if (!lpt_names_codes (clamp))
    return FALSE;
  lpt_clamp_bounds (clamp, &low, &high);
  in[0] = lpt_node_in (clamp, 0);
  if (find_ratio (in[0]->producer, low, &ratio))
    {
      in[0] = lpt_node_out (lpt_rewriter_add (rw, LPT_OP_MULTIPLY, ratio_name, 2, (LptValue *[]) {
        ratio.n, scalar (rw, name, "/factor", ratio.factor) }));
      in[0] = lpt_node_out (lpt_rewriter_add (rw, LPT_OP_ADD, moved_name, 2, (LptValue *[]) {
        in[0], scalar (rw, name, "/half", 0.5 / ratio.d - 0.5) }));
    }
  in[1] = in[3] = scalar (rw, name, "/low", low);
  in[2] = in[4] = scalar (rw, name, "/high", high);
  fq = lpt_graph_add (lpt_rewriter_graph (rw), LPT_OP_FAKE_QUANTIZE, 1, name, 5, in);
  LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels = (gint64) (high - low) + 1;
  last = lpt_rewriter_infer (rw, fq);
  lpt_node_take_over (last, clamp, "/replaced");
  lpt_rewriter_replace (rw, &clamp->out[0], &last->out[0], NULL);

  return TRUE;
}

const LptPass lpt_pass_name_whole_numbers = {
  .name      = "name-whole-numbers",
  .doc       = "Codes of integer networks that are written in real numbers",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_CLAMP),
  .rewrite   = rewrite,
  .exactness = LPT_ROUNDS,
};
