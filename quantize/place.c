/* place.c - which values become integers
 *
 * A product (an op with constant weights, or a MatMul or a convolution, not a transposed one, of two activations) that
 * the target does not keep real wants its data quantized. The wish climbs against the data: through ops that move or
 * select values (not through Concat with a constant, not through activations), as long as every reader of a value
 * wishes; where it stops stands the point, the place of a FakeQuantize. So it ends behind convolution, bias and
 * activation, and never between them; where only some readers wish it is theirs alone. Values that a Concat joins, or
 * that are the same elements moved, have one lattice.
 *
 * In networks without attention and norms the wish of its result makes residual sums, products of two activations,
 * means and pools wish, too, if nothing but a Relu or Clamp is between; x Sigmoid (x) counts as an activation. With
 * attention or norms (a product of two activations, a Softmax in front of one, MVN, Sqrt of a mean) these stay real: 8
 * bits cost more there than all methods of ranges differ by.
 *
 * A constant of more than one matrix that a MatMul reads is one of two data: it has one scale, and zero point 0.
 *
 * A product whose data is to have 16 bits (options.wide) has points of its own, beside those of other readers, as far
 * up as its wish climbs.
 *
 * Results of the model are not wished for, so that class scores are not clipped, but by targets with rules for codes,
 * which want those of everything that a product writes; their ends are then all that was seen. Never wished for are
 * integers, shapes and indices, which are not real.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-restrictions.h>
#include <lpt/lpt-work.h>

#include "passes/support/lpt-restricted.h"

typedef struct
{
  LptQuantizer *q;
  GHashTable   *full;         /* set of LptValue *: every reader wishes */
  GHashTable   *wishing;      /* set of LptNode *: wish their data */
  GHashTable   *products;     /* set of LptNode * */
  GHashTable   *batches;      /* set of LptNode *: constants that are batches of matrices */
  GHashTable   *wide;         /* set of LptNode *: products whose data has 16 bits, and what moves it to them */
  GHashTable   *sets;         /* LptValue * -> LptValue *: union-find */
  gboolean      elementwise;
} Placer;

static void
placer_clear (Placer *p)
{
  g_hash_table_unref (p->full);
  g_hash_table_unref (p->wishing);
  g_hash_table_unref (p->products);
  g_hash_table_unref (p->batches);
  g_hash_table_unref (p->wide);
  g_hash_table_unref (p->sets);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Placer, placer_clear)

/* --- types ------------------------------------------------------------------------- */

/* Codes that the target takes on @port: the first of 8 bits (of a constant the first signed one), else of 16, else of
   4. UNDEFINED: none. */
static LptDType
code_type (LptQuantizer *q, LptNode *node, guint port)
{
  LptTypeList types;
  static const guint order[] = { 8, 16, 4 };
  if (!lpt_config_port_types (q->options->config, node, port, &types) || types.n == 0)
    return port == 1 ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  for (guint k = 0; k < G_N_ELEMENTS (order); k++)
    for (guint i = 0; i < types.n; i++)
      if (lpt_dtype_is_integer ((LptDType) types.v[i]) && lpt_dtype_bits ((LptDType) types.v[i]) == order[k])
        {
          LptDType first = (LptDType) types.v[i];
          for (guint j = i + 1;
               lpt_node_const_in (node, port) != NULL && lpt_dtype_kind (first) == LPT_KIND_UINT && j < types.n; j++)
            if (lpt_dtype_kind ((LptDType) types.v[j]) == LPT_KIND_SINT
                && lpt_dtype_bits ((LptDType) types.v[j]) == order[k])
              first = (LptDType) types.v[j];
          return first;
        }
  return LPT_DTYPE_UNDEFINED;
}

/* Must the zero point on @port be 0? */
static gboolean
is_symmetric (LptQuantizer *q, LptNode *node, gint port)
{
  guint n = 0;
  const LptOpRestriction *rows = lpt_op_restrictions (node->op, q->options->config->quant_rules, &n);
  for (guint i = 0; rows != NULL && i < n; i++)
    if ((rows[i].port == port || rows[i].port == LPT_PORT_DATA) && rows[i].rule == LPT_PARAMETERS_ZERO)
      return TRUE;
  return FALSE;
}

/* Weights with one scale? */
static gboolean
is_per_tensor (LptQuantizer *q, LptNode *node, guint port)
{
  guint n = 0;
  const LptGranularityRestriction *given = lpt_config_granularity (q->options->config, node);
  const LptOpRestriction *rows = lpt_op_restrictions (node->op, q->options->config->quant_rules, &n);
  if (given != NULL && given->granularity == LPT_GRANULARITY_PER_TENSOR
      && (given->ports == 0 || (given->ports >> port & 1) != 0))
    return TRUE;
  for (guint i = 0; rows != NULL && i < n; i++)
    if (rows[i].port == (gint) port && rows[i].granularity == LPT_CODES_TENSOR)
      return TRUE;
  return FALSE;
}

/* Why the target keeps @node real, or NULL. */
static const char *
keeps_real (LptQuantizer *q, LptNode *node)
{
  const LptRestriction *restriction = lpt_config_restriction (q->options->config, node);
  const char *why = g_hash_table_lookup (q->kept, node->name);
  if (why != NULL)
    return *why != '\0' ? why : "kept for the sake of accuracy";
  if (lpt_config_disabled_pass (q->options->config, node->op) != NULL)
    return "the target leaves out the pass for it";
  if (restriction != NULL && lpt_restriction_is_never (restriction))
    return "the target keeps it real";
  if (code_type (q, node, 0) == LPT_DTYPE_UNDEFINED || code_type (q, node, 1) == LPT_DTYPE_UNDEFINED)
    return "the target has no integer type for it";
  return NULL;
}

/* A constant of more than one matrix that a MatMul reads, or NULL. */
static LptNode *
find_batch (LptNode *node)
{
  for (guint port = 0; port < 2 && node->op == LPT_OP_MATMUL; port++)
    {
      LptTensor *w = lpt_node_const_in (node, port);
      if (w != NULL && lpt_tensor_shape (w)->rank > 2 && lpt_dtype_is_real (lpt_tensor_dtype (w))
          && lpt_tensor_count (w) > 0 && node->out[0].shape.rank > 2)
        return lpt_node_src (node, port);
    }
  return NULL;
}

/* --- products ------------------------------------------------------------------------ */

static void
report_layer (LptQuantizer *q, LptNode *node, const char *reason)
{
  LptQuantizedLayer *row = g_new0 (LptQuantizedLayer, 1);
  row->name = g_strdup (node->name);
  const guint w = MAX (lpt_node_recurrent_weights (node), 1);
  row->macs =
    MAX (0, lpt_node_macs_for (node, &node->in[0].value->shape, &node->in[w].value->shape, &node->out[0].shape));
  row->quantized = reason == NULL;
  row->reason = g_strdup (reason);
  g_ptr_array_add (q->report->layers, row);
}

static void
free_layer (gpointer layer)
{
  lpt_layer_clear (layer);
  g_free (layer);
}

/* Type and granularity of the weights' codes; channels are worked out with the scales. */
static void
prepare_layer (LptQuantizer *q, LptLayer *layer)
{
  gboolean unsigned_codes;
  layer->dtype = code_type (q, layer->node, layer->weights_port);
  layer->n_scale = is_per_tensor (q, layer->node, layer->weights_port) ? 1 : (guint) lpt_layer_channels (layer);
  unsigned_codes = lpt_dtype_kind (layer->dtype) == LPT_KIND_UINT;
  layer->high =
    unsigned_codes ? (1 << lpt_dtype_bits (layer->dtype)) - 1 : (1 << (lpt_dtype_bits (layer->dtype) - 1)) - 1;
  layer->low = unsigned_codes ? 0 : -layer->high;
}

static void
find_product (Placer *p, LptNode *node)
{
  LptLayer layer;
  if (lpt_node_recurrent_weights (node) > 0 && lpt_dtype_is_real (node->out[0].dtype))
    {
      const char *why = keeps_real (p->q, node);
      report_layer (p->q, node, why != NULL ? why : lpt_quantize_add_recurrent (p->q, node));
    }
  if (!lpt_layer_is_product (node) || !lpt_dtype_is_real (node->out[0].dtype))
    return;
  gboolean viewed = lpt_layer_view (node, &layer);
  gboolean constant = lpt_node_const_in (node, 0) != NULL || lpt_node_const_in (node, 1) != NULL;
  LptNode *batch = viewed ? NULL : find_batch (node);
  const char *reason = keeps_real (p->q, node);
  if (reason == NULL && !viewed && batch == NULL && (constant || (node->info->flags & LPT_OP_F_TRANSPOSED) != 0))
    reason = node->op == LPT_OP_MATMUL ? "its constant is no matrix" : "its weights are not constant";
  report_layer (p->q, node, reason);
  if (reason != NULL)
    return;
  g_hash_table_add (p->products, node);
  if (batch != NULL)
    g_hash_table_add (p->batches, batch);
  if (!viewed)
    return;
  prepare_layer (p->q, &layer);
  g_ptr_array_add (p->q->layers, g_memdup2 (&layer, sizeof layer));
}

/* --- wishes --------------------------------------------------------------------------- */

/* Ops that move or select elements; activations and resizes that mix are none. */
gboolean
lpt_quantize_moves_data (LptQuantizer *q, LptNode *node)
{
  if (g_hash_table_contains (q->blocked, node->name))
    return FALSE;
  if (!(node->info->flags & LPT_OP_F_PRESERVES) || (node->info->flags & LPT_OP_F_UNARY))
    return FALSE;
  if (node->op == LPT_OP_INTERPOLATE && LPT_ATTRS (node, LptInterpolateAttrs)->mode != LPT_INTERPOLATE_NEAREST)
    return FALSE;
  if (node->op == LPT_OP_PAD && lpt_node_in (node, 3) != NULL)
    {
      LptTensor *fill = lpt_node_const_in (node, 3);
      if (fill == NULL || lpt_tensor_count (fill) == 0 || lpt_tensor_get_f64 (fill, 0) != 0.0)
        return FALSE;
    }
  for (guint i = 0, n = lpt_node_n_operands (node); i < n; i++)
    if (lpt_node_in (node, i) == NULL || lpt_node_is_const (lpt_node_src (node, i)))
      return FALSE;
  return TRUE;
}

/* x Sigmoid (x) and the like: one operand is a function of the other. */
static gboolean
is_gate_of_itself (LptNode *node)
{
  for (guint i = 0; i < 2; i++)
    {
      LptNode *f = lpt_node_src (node, i);
      if (f != NULL && (f->info->flags & LPT_OP_F_UNARY) && lpt_node_in (f, 0) == lpt_node_in (node, 1 - i))
        return TRUE;
    }
  return FALSE;
}

/* Ops that compute on integers where data and result are quantized. */
static gboolean
is_elementwise (LptNode *node)
{
  if ((node->info->flags & LPT_OP_F_AFFINE) != 0 && (node->info->flags & LPT_OP_F_DIVISOR) == 0)
    return !lpt_node_is_const (lpt_node_src (node, 0)) && !lpt_node_is_const (lpt_node_src (node, 1))
           && !is_gate_of_itself (node);
  return node->op == LPT_OP_AVG_POOL || node->op == LPT_OP_REDUCE_MEAN;
}

/* Every reader wishes @value, or is a Relu or Clamp whose readers do. */
static gboolean
reaches (Placer *p, LptValue *value)
{
  if (g_hash_table_contains (p->full, value))
    return TRUE;
  LptNode *user = value->uses->len == 1 ? lpt_value_use (value, 0)->node : NULL;
  return user != NULL && (user->op == LPT_OP_RELU || user->op == LPT_OP_CLAMP)
         && g_hash_table_contains (p->full, &user->out[0]);
}

/* Does reader @use wish its data? Readers come before producers. */
static gboolean
wishes (Placer *p, const LptUse *use)
{
  if (!g_hash_table_contains (p->wishing, use->node))
    return FALSE;
  if (g_hash_table_contains (p->products, use->node))
    return use->index < 2;
  return use->node->op == LPT_OP_CONCAT || is_elementwise (use->node)
           ? use->node->op != LPT_OP_REDUCE_MEAN || use->index == 0
           : use->index == 0;
}

static void
visit (Placer *p, LptNode *node)
{
  gboolean all = node->n_out > 0, any = FALSE;
  for (guint k = 0; k < node->n_out; k++)
    {
      LptValue *value = &node->out[k];
      gboolean every = value->uses->len > 0 && lpt_dtype_is_real (value->dtype);
      for (guint i = 0; every && i < value->uses->len; i++)
        every = wishes (p, lpt_value_use (value, i));
      if (every)
        g_hash_table_add (p->full, value);
      any = any || every;
      all = all && (every || value->uses->len == 0);
    }
  if (g_hash_table_contains (p->products, node)
      || (any && all && lpt_quantize_moves_data (p->q, node))
      || (p->elementwise && is_elementwise (node) && reaches (p, &node->out[0]) && keeps_real (p->q, node) == NULL))
    g_hash_table_add (p->wishing, node);
}

/* Attention or norms: products of activations, MVN, roots of means. */
static gboolean
has_attention_or_norms (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      if (node->flags & LPT_NODE_DEAD)
        continue;
      if ((node->info->flags & LPT_OP_F_STANDARDIZES) != 0 || node->op == LPT_OP_SCALED_DOT_PRODUCT_ATTENTION)
        return TRUE;
      if (node->op == LPT_OP_MATMUL && !lpt_node_is_const (lpt_node_src (node, 0))
          && !lpt_node_is_const (lpt_node_src (node, 1)))
        return TRUE;
    }
  return FALSE;
}

/* --- points ---------------------------------------------------------------------------- */

static LptValue *
find_set (Placer *p, LptValue *value)
{
  LptValue *parent = g_hash_table_lookup (p->sets, value);
  return parent == NULL || parent == value ? value : find_set (p, parent);
}

static void
join (Placer *p, LptValue *a, LptValue *b)
{
  a = find_set (p, a);
  b = find_set (p, b);
  if (a != b)
    g_hash_table_insert (p->sets, b, a);
}

/* Is what @value's producer makes quantized, because its data is? */
static gboolean
comes_quantized (Placer *p, LptValue *value)
{
  return g_hash_table_contains (p->wishing, value->producer) && lpt_quantize_moves_data (p->q, value->producer);
}

/* Ends that are known without looking. */
gboolean
lpt_quantize_fixed_range (LptNode *node, double *low, double *high)
{
  switch ((guint) node->op)
    {
#define LPT_FIXED_RANGE(op, a, b) case LPT_OP_##op: *low = a, *high = b; return TRUE;
#include "quantize/fixed-ranges.def"
#undef LPT_FIXED_RANGE
    default: return FALSE;
    }
}

/* The one reader of @value that adds a constant to it, or caps it; NULL: something else reads it. */
static LptNode *
epilogue (LptValue *value)
{
  LptNode *user = value->uses->len == 1 ? lpt_value_use (value, 0)->node : NULL;
  if (user == NULL || user->n_out != 1 || !lpt_shape_equal (&user->out[0].shape, &value->shape))
    return NULL;
  gboolean bias =
    user->op == LPT_OP_ADD && (lpt_node_const_in (user, 0) != NULL || lpt_node_const_in (user, 1) != NULL);
  return bias || user->op == LPT_OP_RELU || user->op == LPT_OP_CLAMP ? user : NULL;
}

/* Targets with rules for codes want them of what a product writes, too: is @value what it writes, with its bias and
   activation? */
static gboolean
ends_product (Placer *p, LptValue *value)
{
  LptNode *node = value->producer;
  if (p->q->options->config->quant_rules == LPT_QUANT_RULES_NONE || epilogue (value) != NULL)
    return FALSE;
  while (node->n_in > 0 && !g_hash_table_contains (p->products, node))
    {
      LptNode *source = lpt_node_src (node, lpt_node_const_in (node, 0) != NULL ? 1 : 0);
      if (source == NULL || source->n_out != 1 || epilogue (&source->out[0]) != node)
        return FALSE;
      node = source;
    }
  return node->n_in > 0;
}

/* @node, and what moves data to it. */
static void
widen_data (Placer *p, LptNode *node)
{
  gboolean product = g_hash_table_contains (p->products, node);
  if (!g_hash_table_add (p->wide, node))
    return;
  for (guint k = 0; k < node->n_in; k++)
    {
      LptNode *source = lpt_node_src (node, k);
      if (source != NULL && (product || k == 0 || node->op == LPT_OP_CONCAT) && lpt_quantize_moves_data (p->q, source))
        widen_data (p, source);
    }
}

static void
find_wide (Placer *p)
{
  for (guint i = 0; p->q->options->wide != NULL && p->q->options->wide[i] != NULL; i++)
    {
      LptNode *node = lpt_graph_find (p->q->graph, p->q->options->wide[i]);
      if (node != NULL && g_hash_table_contains (p->products, node))
        widen_data (p, node);
    }
}

/* Weights of attention over many keys, which a product reads, are far below 1; only targets with rules for codes insist
 * on steps of [0, 1]. */
static gboolean
is_attention (const Placer *p, const LptValue *value)
{
  gboolean read = FALSE;
  for (guint i = 0; i < value->uses->len; i++)
    read |= g_hash_table_contains (p->products, lpt_value_use (value, i)->node);
  return read && value->producer->op == LPT_OP_SOFTMAX &&
         p->q->options->config->quant_rules == LPT_QUANT_RULES_NONE;
}

/* The least and greatest value of a constant. */
static gboolean
find_ends (LptTensor *tensor, double *low, double *high)
{
  *low = *high = 0.0;
  for (gint64 i = 0, n = lpt_tensor_count (tensor); i < n; i++)
    {
      double x = lpt_tensor_get_f64 (tensor, i);
      if (!isfinite (x))
        return FALSE;
      *low = MIN (*low, x);
      *high = MAX (*high, x);
    }
  return TRUE;
}

/* For the readers of @value that wish @wide data, or for the others. */
static void
add_point (Placer *p, LptValue *value, gboolean wide)
{
  LptQuantizer *q = p->q;
  guint bits = wide ? 16 : 8;
  double low, high;
  LptPoint *point = g_new0 (LptPoint, 1);
  point->value = value;
  point->uses = g_array_new (FALSE, FALSE, sizeof (LptUse));
  gboolean ends = ends_product (p, value);
  point->ends = ends;
  for (guint i = 0; i < value->uses->len; i++)
    {
      LptUse use = *lpt_value_use (value, i);
      gboolean wish = wishes (p, &use);
      point->ends = point->ends && !wish;
      if ((!wish && !ends) || g_hash_table_contains (p->wide, use.node) != wide)
        continue;
      g_array_append_val (point->uses, use);
      if (g_hash_table_contains (p->products, use.node))
        {
          bits = MAX (lpt_dtype_bits (code_type (q, use.node, use.index)), bits);
          point->symmetric = point->symmetric || is_symmetric (q, use.node, (gint) use.index);
        }
    }
  if (point->uses->len == 0)
    {
      g_array_unref (point->uses);
      g_free (point);
      return;
    }
  point->levels = 1u << bits;
  if (lpt_node_is_const (value->producer))
    point->symmetric = point->fixed = find_ends (value->producer->data, &low, &high);
  else
    point->fixed = !point->symmetric && !is_attention (p, value) &&
                   lpt_quantize_fixed_range (value->producer, &low, &high);
  if (point->fixed)
    point->lattice = lpt_lattice_make (low, high, point->levels, point->symmetric);
  g_ptr_array_add (q->points, point);
}

static void
free_point (gpointer data)
{
  LptPoint *point = data;
  g_array_unref (point->uses);
  g_free (point);
}

/* Points of one set get one number. */
static void
number_groups (Placer *p)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < p->q->points->len; i++)
    {
      LptPoint *point = g_ptr_array_index (p->q->points, i);
      LptValue *root = find_set (p, point->value);
      gpointer number = g_hash_table_lookup (numbers, root);
      if (number == NULL)
        g_hash_table_insert (numbers, root, number = GUINT_TO_POINTER (g_hash_table_size (numbers) + 1));
      point->group = GPOINTER_TO_UINT (number);
    }
}

LptPoint *
lpt_quantizer_point (LptQuantizer *q, LptNode *node, guint port)
{
  LptValue *value = lpt_node_in (node, port);
  LptUse use = { node, port };
  for (;;)
    {
      for (guint i = 0; i < q->points->len; i++)
        {
          LptPoint *point = g_ptr_array_index (q->points, i);
          for (guint k = 0; point->value == value && k < point->uses->len; k++)
            if (g_array_index (point->uses, LptUse, k).node == use.node
                && g_array_index (point->uses, LptUse, k).index == use.index)
              return point;
        }
      if (value == NULL || value->producer->n_in == 0 || !lpt_quantize_moves_data (q, value->producer))
        return NULL;
      use = (LptUse) { value->producer, 0 };
      value = lpt_node_in (value->producer, 0);
    }
}

gboolean
lpt_quantize_place (LptQuantizer *q, GError **error)
{
  g_auto (Placer) p = { q,
                        g_hash_table_new (NULL, NULL),
                        g_hash_table_new (NULL, NULL),
                        g_hash_table_new (NULL, NULL),
                        g_hash_table_new (NULL, NULL),
                        g_hash_table_new (NULL, NULL),
                        g_hash_table_new (NULL, NULL),
                        FALSE };
  g_autoptr (GPtrArray) order = lpt_graph_order (q->graph, error);
  if (order == NULL)
    return FALSE;
  p.elementwise = q->options->elementwise > 0 || (q->options->elementwise == 0 && !has_attention_or_norms (q->graph));
  g_clear_pointer (&q->layers, g_ptr_array_unref);
  g_clear_pointer (&q->points, g_ptr_array_unref);
  g_clear_pointer (&q->recurrent, g_ptr_array_unref);
  q->recurrent = g_ptr_array_new_with_free_func (free_layer);
  q->layers = g_ptr_array_new_with_free_func (free_layer);
  q->points = g_ptr_array_new_with_free_func (free_point);
  g_ptr_array_set_size (q->report->layers, 0);
  for (guint i = 0; i < order->len; i++)
    find_product (&p, g_ptr_array_index (order, i));
  find_wide (&p);
  for (guint i = order->len; i-- > 0;)
    visit (&p, g_ptr_array_index (order, i));
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      gboolean moved = g_hash_table_contains (p.wishing, node) && lpt_quantize_moves_data (q, node);
      for (guint k = 0; moved && k < (node->op == LPT_OP_CONCAT ? node->n_in : 1); k++)
        for (guint j = 0; j < node->n_out; j++)
          join (&p, lpt_node_in (node, k), &node->out[j]);
      for (guint k = 0; k < node->n_out; k++)
        if (lpt_dtype_is_real (node->out[k].dtype)
            && (lpt_node_is_const (node) ? g_hash_table_contains (p.batches, node)
                                         : !comes_quantized (&p, &node->out[k])))
          {
            add_point (&p, &node->out[k], FALSE);
            add_point (&p, &node->out[k], TRUE);
          }
    }
  number_groups (&p);
  return TRUE;
}
