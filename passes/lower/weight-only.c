/* weight-only.c - products of real data with weights of 2 to 8 bits run on integers
 *
 *     MatMul (x, weights)  =>  BlockMatMul (DynamicQuantize (x), codes)
 *
 * The weights' codes stay as they are stored, but those of 2 bits get 4, and f4e2m1 gets 8 (weight-codes.c). The data
 * is quantized when it is there, in blocks of its rows: those of the weights' scales, parts of those longer than 256,
 * or 128 where a row of weights has one. Around 0, as MatMulNBits with accuracy_level 4 defines it; but beside weights
 * of 8 bits with one scale a row its rounding counts as much as theirs, or more where results are read again and
 * again (a recurrent world model lost 20 dB). There the data has 16 bits where that costs little: one row, or
 * few products. Else it has 8 from the least number to the largest one, with a zero point: behind ReLU, Softmax or
 * GELU half of the codes would be left over. Where the target takes signed 8-bit data alone it is around 0 there,
 * too. Several products that read the same data share its codes. Rounds: the data, to 8 or 16 bits of each block.
 * Weights whose scales change inside blocks of 16 stay real, and what the file asks to be (MatMulNBits with
 * accuracy_level 1 to 3), and sums that are only compared, as forests of trees are spelled: a rounding there decides
 * otherwise. With the configuration's `dynamic` all data has 8 bits, and real constant weights are rounded to them, too.
 * Data that are codes already are taken as they are: weight-only-given.c; data that is rounded at run time by its
 * codes: rounded-products.c; data that is spelled out as codes and scales: weight-only-spelled.c. Convolutions:
 * weight-only-window.c. Bodies as the graph around them.
 *
 * Golden tests: tests/golden/weight-only/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-pass.h>

#include "passes/lower/weight-codes.h"
#include "passes/lower/weight-only.h"
#include "passes/support/lpt-restricted.h"

#define DEFAULT_BLOCK 128
#define LEAST_BLOCK 16

/* Multiplications of a layer up to which its data has 16 bits, twice as many rows of bytes: networks of such layers took
 * 1.3 times as long, those of larger ones up to 1.9 times. One row takes no longer than reading the weights. */
#define WIDE_WORK (1 << 20)

/* Of BlockMatMul. */
#define N_INPUTS 7

LptNode *
lpt_weight_only_codes (LptWeightOnly *u,
                       LptValue      *x,
                       gint64         block,
                       LptDType       dtype)
{
  g_autofree char *key = g_strdup_printf ("%p %" G_GINT64_FORMAT " %d", (gpointer) x, block, dtype);
  LptNode *node = g_hash_table_lookup (u->codes, key);
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  g_autofree char *name = NULL;
  LptDynamicQuantizeAttrs *attrs;

  if (node != NULL)
    return node;
  name = g_strconcat (x->producer->name, "/codes", NULL);
  node = lpt_graph_add (lpt_rewriter_graph (u->rw), LPT_OP_DYNAMIC_QUANTIZE, 0, name, 1, &x);
  attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);
  attrs->symmetric = dtype != LPT_DTYPE_U8;
  attrs->bits = lpt_dtype_bits (dtype);
  if (block > 0)
    {
      attrs->axis = -1;
      attrs->block = block;
    }
  lpt_value_set_quant (&node->out[0], unit);
  lpt_value_set_quant (&node->out[2], unit);
  g_hash_table_insert (u->codes, g_steal_pointer (&key), lpt_rewriter_infer (u->rw, node));

  return node;
}

LptValue *
lpt_weight_only_const (LptWeightOnly  *u,
                       LptNode        *node,
                       const char     *what,
                       LptTensor     **tensor)
{
  g_autofree char *name = g_strconcat (node->name, what, NULL);

  return *tensor != NULL ? lpt_rewriter_const (u->rw, name, g_steal_pointer (tensor)) : NULL;
}

/* The largest block that kernels take and that is part of @block, or 0. */
static gint64
fit_block (gint64 block)
{
  gint64 part = DEFAULT_BLOCK;

  if (block == 0 || (block % LEAST_BLOCK == 0 && block <= LPT_BLOCK_MATMUL_MAX_BLOCK))
    return block == 0 ? DEFAULT_BLOCK : block;
  while (part >= LEAST_BLOCK && block % part != 0)
    part /= 2;

  return part >= LEAST_BLOCK ? part : 0;
}

/* Whether @x were codes. */
static gboolean
is_quantized (const LptValue *x)
{
  const LptNode *node = x->producer;

  while ((node->info->flags & LPT_OP_F_PRESERVES) && node->op != LPT_OP_FAKE_QUANTIZE && node->n_in > 0 &&
         node->in[0].value != NULL)
    node = node->in[0].value->producer;

  return (node->info->flags & LPT_OP_F_QUANTIZES) || node->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE;
}

gboolean
lpt_weight_only_takes (const LptValue *x)
{
  return x->dtype == LPT_DTYPE_F32 && x->quant == NULL && x->producer->data == NULL && x->shape.rank >= 2 &&
         !is_quantized (x);
}

static gboolean
is_dead (gpointer key G_GNUC_UNUSED,
         gpointer node,
         gpointer data G_GNUC_UNUSED)
{
  return (((LptNode *) node)->flags & LPT_NODE_DEAD) != 0;
}

/* Takes @made away again, and what only it reads. */
static void
drop (LptWeightOnly *u,
      LptNode       *made)
{
  lpt_rewriter_drop_unused (u->rw, made);
  g_hash_table_foreach_remove (u->codes, is_dead, NULL);
}

gboolean
lpt_weight_only_keeps (LptWeightOnly *u,
                       LptNode       *node,
                       LptNode       *made)
{
  g_autofree char *breach = lpt_config_node_breach (lpt_rewriter_config (u->rw), made);

  if (breach == NULL)
    return TRUE;
  lpt_rewriter_decline (u->rw, node, "%s", breach);
  drop (u, made);

  return FALSE;
}

/* Does @node only move @value, or add constants to it or multiply it by them? */
static gboolean
passes_on (const LptNode  *node,
           const LptValue *value)
{
  if ((node->info->flags & (LPT_OP_F_ELEMENTWISE | LPT_OP_F_PRESERVES)) == 0 || node->n_out != 1)
    return FALSE;
  for (guint k = 0; k < node->n_in; k++)
    if (node->in[k].value != NULL && node->in[k].value != value && node->in[k].value->producer->data == NULL)
      return FALSE;

  return TRUE;
}

/* Do all who read @value compare it, as it is or passed on? */
static gboolean
is_only_compared (LptValue *value)
{
  g_autoptr (GPtrArray) open = g_ptr_array_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  g_ptr_array_add (open, value);
  while (open->len > 0)
    {
      const LptValue *next = g_ptr_array_steal_index_fast (open, open->len - 1);

      if (next->uses->len == 0)
        return FALSE;
      for (guint i = 0; i < next->uses->len; i++)
        {
          LptNode *reader = g_array_index (next->uses, LptUse, i).node;

          if (reader->n_out > 0 && reader->out[0].dtype == LPT_DTYPE_BOOL)
            continue;
          if (!passes_on (reader, next))
            return FALSE;
          if (g_hash_table_add (seen, reader))
            g_ptr_array_add (open, &reader->out[0]);
        }
    }

  return TRUE;
}

/* Does @node stay real, whose data is? It says why. */
static gboolean
declines (LptWeightOnly *u,
          LptNode       *node)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (node, LptMatMulAttrs);
  const gboolean dynamic = lpt_rewriter_config (u->rw)->dynamic;

  if (attrs->real && !dynamic)
    return !lpt_rewriter_decline (u->rw, node, "the file asks for real data beside its weights of a few bits");
  return !dynamic && is_only_compared (lpt_node_out (node)) &&
         !lpt_rewriter_decline (u->rw, node, "its result is only compared: rounded data would decide otherwise");
}

/* The product of the inputs that are there, in place of @node. */
static LptNode *
emit_product (LptWeightOnly    *u,
              LptNode          *node,
              LptValue *const  *in,
              gint64            block)
{
  guint n_in = N_INPUTS;
  LptNode *y;

  while (in[n_in - 1] == NULL)
    n_in--;
  y = lpt_graph_add (lpt_rewriter_graph (u->rw), LPT_OP_BLOCK_MATMUL, 0, node->name, n_in, in);
  LPT_ATTRS (y, LptBlockMatMulAttrs)->block = block;

  return lpt_rewriter_infer (u->rw, y);
}

/* The same of the data @x, whose codes and scales it adds to @in: of the first of @types, which end with i8, that no
 * restriction speaks against. */
static LptNode *
quantized_product (LptWeightOnly   *u,
                   LptNode         *node,
                   LptValue        *x,
                   const LptDType  *types,
                   LptValue       **in,
                   gint64           block)
{
  LptNode *codes = lpt_weight_only_codes (u, x, block, *types), *y, *other;
  g_autofree char *breach = NULL;

  in[0] = &codes->out[0];
  in[2] = &codes->out[1];
  in[6] = *types == LPT_DTYPE_U8 ? &codes->out[2] : NULL;
  y = emit_product (u, node, in, block);
  if (*types == LPT_DTYPE_I8 || (breach = lpt_config_node_breach (lpt_rewriter_config (u->rw), y)) == NULL)
    return y;
  other = quantized_product (u, node, x, types + 1, in, block);
  drop (u, y);

  return other;
}

/* Types of the data @x before the weights @w, best first. */
static const LptDType *
types_of (const LptWeightOnly  *u,
          const LptValue       *x,
          const LptWeightCodes *w)
{
  static const LptDType types[] = { LPT_DTYPE_I16, LPT_DTYPE_U8, LPT_DTYPE_I8 };
  gint64 count;

  if (w->block != 0 || lpt_dtype_bits (lpt_tensor_dtype (w->codes)) != 8)
    return types + 2;
  if (lpt_rewriter_config (u->rw)->dynamic || !lpt_shape_count (&x->shape, &count))
    return types + 1;

  return count == w->k || count <= WIDE_WORK / MAX (w->n, 1) ? types : types + 1;
}

static void
rewrite (LptWeightOnly *u,
         LptNode       *node)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (node, LptMatMulAttrs);
  const LptConfig *config = lpt_rewriter_config (u->rw);
  const LptRestriction *restriction = lpt_config_restriction (config, node);
  LptValue *x = lpt_node_in (node, 0), *given = u->raised ? NULL : lpt_weight_only_given (x);
  LptNode *source = lpt_rounded_source (x);
  const LptDType *types;
  LptValue *in[N_INPUTS] = { NULL };
  g_auto (LptWeightCodes) w = { 0 };
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  gint64 block;
  LptNode *y;

  if (node->n_in != 2 || attrs->transpose_a || lpt_node_out (node)->dtype != LPT_DTYPE_F32 ||
      (source == NULL && (u->rounded || (given == NULL && !lpt_weight_only_takes (x)))))
    return;
  if (!lpt_weight_codes_read (lpt_node_in (node, 1), attrs->transpose_b, &w))
    {
      lpt_weight_codes_clear (&w);
      if (given != NULL || source != NULL || !config->dynamic ||
          !lpt_weight_codes_round (lpt_node_in (node, 1), attrs->transpose_b, &w))
        return;
    }
  block = fit_block (w.block);
  if (block > 0 && block != w.block && w.block > 0)
    lpt_weight_codes_split (&w, block);
  if (restriction != NULL && lpt_restriction_is_never (restriction))
    return;
  if (source != NULL && !lpt_rounded_matmul (u, source, &w, in, &block))
    return;
  if (given == NULL && source == NULL && declines (u, node))
    return;
  if (block == 0)
    {
      lpt_rewriter_decline (u->rw, node,
                            "the scales of its weights change every %" G_GINT64_FORMAT " weights, no multiple of 16",
                            w.block);
      return;
    }
  types = types_of (u, x, &w);
  if (given != NULL && !lpt_weight_only_read_given (u, node, given, &w, block, in))
    return;
  in[1] = lpt_weight_only_const (u, node, "/codes", &w.codes);
  lpt_value_set_quant (in[1], unit);
  in[3] = lpt_weight_only_const (u, node, "/scales", &w.scale);
  in[4] = lpt_weight_only_const (u, node, "/zeros", &w.zero);
  y = given != NULL || source != NULL || lpt_weight_only_spelled (u, x, in)
          ? emit_product (u, node, in, block) : quantized_product (u, node, x, types, in, block);
  lpt_node_set_origin (y, node->origin);
  if (!lpt_weight_only_keeps (u, node, y))
    return;
  lpt_node_take_name (y, node, "/real");
  if (source != NULL)
    lpt_rounded_name_weights (in[1], lpt_node_in (node, 1));
  lpt_rewriter_fate (u->rw, y, "runs on integers");
  lpt_rewriter_changed (u->rw, y);
  lpt_rewriter_replace (u->rw, lpt_node_out (node), lpt_node_out (y), NULL);
}

/* Bodies first, each for itself: what they read from around them is data like their own. */
static gboolean
run_over (LptRewriter  *rw,
          LptGraph     *graph,
          gboolean      rounded,
          GError      **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  g_autoptr (GHashTable) codes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  LptWeightOnly u = { rw, codes, rounded, lpt_graph_is_raised (graph) };

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = order->pdata[i];

      for (guint k = 0; k < lpt_node_n_bodies (node); k++)
        {
          rw->graph = lpt_node_body (node, k);
          const gboolean ok = run_over (rw, rw->graph, rounded, error);
          rw->graph = graph;
          if (!ok)
            return FALSE;
        }
      if (node->op == LPT_OP_MATMUL)
        rewrite (&u, node);
      else if (node->info->flags & LPT_OP_F_WEIGHTED)
        lpt_weight_only_window (&u, node);
    }
  lpt_graph_sweep (graph);

  return TRUE;
}

static gboolean
run_graph (LptRewriter  *rw,
           LptGraph     *graph,
           GError      **error)
{
  return run_over (rw, graph, FALSE, error);
}

gboolean
lpt_graph_lower_rounded (LptGraph  *graph,
                         GError   **error)
{
  const LptPass *const passes[] = { NULL };
  g_autoptr (LptConfig) config = lpt_config_new ();
  LptRewriter rw = { .graph = graph, .config = config, .passes = passes };

  return run_over (&rw, graph, TRUE, error);
}

const LptPass lpt_pass_weight_only =
{
  .name      = "weight-only",
  .doc       = "Products of real data with weights of 2 to 8 bits quantize the data by rows and blocks",
  .stage     = LPT_STAGE_LOWER,
  .run       = run_graph,
  .exactness = LPT_ROUNDS,
};
