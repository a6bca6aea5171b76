/* lpt-requant-modes.c - requant modes: the table, and who asks it what
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/requant/lpt-requant-modes.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-requant.h>

#include <math.h>
#include <string.h>

#include "executor/kernels/requant/requant-scalar.h"
#include "ir/lpt-weighted.h"

static const LptModeInfo modes[] =
{
  { LPT_MODE_SINGLE, "single", "one 64-bit product, one rounding shift, ties toward +inf" },
  { LPT_MODE_LITERT, "litert", "TensorFlow Lite 2.9.0, builtin kernels on x86-64", TRUE },
  { LPT_MODE_LITERT_DOUBLE, "litert-double", "tflite-micro's reference kernels, double rounding", TRUE },
  { LPT_MODE_LITERT_SINGLE, "litert-single", "tflite-micro's reference kernels, single rounding", TRUE },
  { LPT_MODE_XNNPACK, "xnnpack", "XNNPACK as the delegate of TensorFlow Lite 2.9.0", TRUE, TRUE },
  { LPT_MODE_LITERT2, "litert2", "LiteRT 2.5 on the CPU: XNNPACK, and builtin kernels for the rest", TRUE, TRUE },
  { LPT_MODE_ONNX, "onnx", "ONNX Runtime: float32 multipliers, ties to even" },
  { LPT_MODE_CAFFE2, "caffe2", "Caffe2: float32 scales, two roundings" },
  { LPT_MODE_SNPS, "snps", "SNPS-Caffe, its TFLite column: by granularity and kind of convolution" },
  { LPT_MODE_SNPS_ONNX, "snps-onnx", "SNPS-Caffe, its ONNX column" },
  { LPT_MODE_SNPS_CAFFE2, "snps-caffe2", "SNPS-Caffe, its Caffe2 column" },
  { LPT_MODE_TPU, "tpu", "TPU-MLIR: searched multiplier and right shift" },
  { LPT_MODE_TPU8, "tpu8", "TPU-MLIR with 8-bit multipliers" },
  { LPT_MODE_TPU_PER_INPUT, "tpu-per-input", "TPU-MLIR, each input of a sum with its own shift" },
  { LPT_N_MODES, NULL, NULL }
};

static const LptRequantRule rules[] =
{
#define LPT_RULE(mode, class, granularity, kind, arith, form, rounding, algorithm) \
  { LPT_MODE_##mode, LPT_CLASS_##class, LPT_GRANULARITY_##granularity, LPT_KIND_OF_##kind, LPT_SCALE_##arith, \
    LPT_MULTIPLIER_##form, LPT_REQUANT_##rounding, LPT_ALGO_##algorithm },
#include "eval/requant/lpt-requant-modes.def"
#undef LPT_RULE
};

const LptModeInfo *
lpt_modes (void)
{
  return modes;
}

gboolean
lpt_mode_is_tflite (const char *name)
{
  LptMode mode;

  return name != NULL && lpt_mode_from_name (name, &mode) && modes[mode].tflite;
}

const char *
lpt_mode_name (LptMode mode)
{
  return mode < LPT_N_MODES ? modes[mode].name : NULL;
}

gboolean
lpt_mode_from_name (const char *name,
                    LptMode    *mode)
{
  for (const LptModeInfo *info = modes; info->name != NULL; info++)
    if (g_ascii_strcasecmp (info->name, name) == 0)
      {
        *mode = info->mode;
        return TRUE;
      }

  return FALSE;
}

const LptRequantRule *
lpt_requant_rule (LptMode            mode,
                  LptClass           class,
                  LptRuleGranularity granularity,
                  guint              kinds)
{
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      const LptRequantRule *rule = &rules[i];

      if (rule->mode == mode &&
          (rule->class == LPT_CLASS_ANY || rule->class == class ||
           (rule->class == LPT_CLASS_UNARY && class == LPT_CLASS_ELU)) &&
          (rule->granularity == LPT_GRANULARITY_ANY || rule->granularity == granularity) &&
          (rule->kind == LPT_KIND_OF_ANY || (kinds & rule->kind) != 0))
        return rule;
    }

  g_assert_not_reached ();   /* every mode ends with a row for ANY */
}

LptMultiplier
lpt_requant_rule_multiplier (const LptRequantRule *rule,
                             double                input,
                             double                weight,
                             double                output)
{
  const double real = lpt_requant_scale (rule->arith, input, weight, output);
  LptMultiplier multiplier;

  lpt_multiplier_make (rule->form, rule->rounding, real, &multiplier);

  return multiplier;
}

void
lpt_sum64_make (LptSum64     *sum,
                guint         n,
                const double *real,
                const gint32 *zero,
                double        constant)
{
  const double bias_limit = 0x1p60;
  double largest = 0.0;
  gint e, of_constant;

  *sum = (LptSum64) { .shift = 1 };
  for (guint i = 0; i < n; i++)
    largest = MAX (largest, fabs (real[i]));

  /* The larger multiplier fills 31 bits, unless the shift ends, or codes of 32 bits beside it would not fit. */
  frexp (largest, &e);
  frexp (constant, &of_constant);
  sum->shift = CLAMP (31 - e, 1, 62);
  if (constant != 0 && of_constant <= 32)
    sum->shift = MIN (sum->shift, 60 - of_constant);
  if (round (ldexp (largest, sum->shift)) >= 0x1p31 && sum->shift > 1)
    sum->shift--;

  for (guint i = 0; i < n; i++)
    {
      const double m = round (ldexp (real[i], sum->shift));

      sum->m[i] = (gint32) CLAMP (m, -(double) G_MAXINT32, (double) G_MAXINT32);
      sum->bias -= (gint64) sum->m[i] * zero[i];
    }

  sum->bias += (gint64) CLAMP (round (ldexp (constant, sum->shift)), -bias_limit, bias_limit);
}

/* --- nodes ------------------------------------------------------------------ */

static gboolean
per_channel (LptValue *value)
{
  return value != NULL && value->quant != NULL && value->quant->axis != LPT_QUANT_PER_TENSOR;
}

static guint
unsigned_kind (LptNode *node,
               guint    kinds)
{
  if (lpt_node_in (node, 0)->dtype != LPT_DTYPE_U8 || lpt_node_in (node, 1)->dtype != LPT_DTYPE_U8)
    return kinds;

  return kinds | ((kinds & LPT_KIND_OF_DEPTHWISE) != 0 ? LPT_KIND_OF_UNSIGNED_DEPTHWISE : LPT_KIND_OF_UNSIGNED);
}

static guint
convolution_kinds (LptNode *node)
{
  const LptShape *w = &lpt_node_in (node, 1)->shape;
  LptWeightedView view;
  guint kinds;

  lpt_weighted_view (node, &view);
  kinds = lpt_node_in (node, view.bias) == NULL ? LPT_KIND_OF_NO_BIAS : 0;
  if (w->rank <= view.kernel)
    return kinds | LPT_KIND_OF_DENSE;
  if (view.grouped)
    return kinds | (w->dims[view.in] == 1 ? LPT_KIND_OF_DEPTHWISE : LPT_KIND_OF_DENSE);

  for (gint i = view.kernel; i < w->rank; i++)
    if (w->dims[i] != 1)
      return kinds | LPT_KIND_OF_DENSE;

  return kinds | LPT_KIND_OF_POINTWISE;
}

static LptClass
unary_class (const char *name)
{
  if (g_ascii_strcasecmp (name, "Sigmoid") == 0)
    return LPT_CLASS_SIGMOID;
  if (g_ascii_strcasecmp (name, "Tanh") == 0)
    return LPT_CLASS_TANH;
  if (g_ascii_strcasecmp (name, "HSwish") == 0)
    return LPT_CLASS_HSWISH;
  if (g_ascii_strcasecmp (name, "Elu") == 0)
    return LPT_CLASS_ELU;

  return LPT_CLASS_UNARY;
}

static gboolean
is_wide_code (const LptValue *value)
{
  return value != NULL && value->quant != NULL && lpt_dtype_bits (value->dtype) == 16;
}

static gboolean
is_wide (LptNode *node)
{
  return is_wide_code (lpt_node_in (node, 0)) || is_wide_code (lpt_node_out (node));
}

static LptClass
weighted_class (LptNode *node,
                guint   *kinds)
{
  if (node->op == LPT_OP_MATMUL)
    {
      const LptValue *bias = lpt_node_in (node, 2);

      *kinds = lpt_node_const_in (node, 1) != NULL ? LPT_KIND_OF_WEIGHTS : LPT_KIND_OF_ACTIVATIONS;
      if (is_wide (node) && bias != NULL && bias->dtype == LPT_DTYPE_I64)
        *kinds |= LPT_KIND_OF_WIDE_BIAS;
      return LPT_CLASS_MATMUL;
    }
  if ((node->info->flags & LPT_OP_F_TRANSPOSED) != 0)
    {
      *kinds = unsigned_kind (node, 0);
      return LPT_CLASS_DECONV;
    }
  *kinds = unsigned_kind (node, convolution_kinds (node));

  return LPT_CLASS_CONV;
}

/* By the rows of lpt-requant-classes.def; FALSE: there is none. */
static gboolean
find_class (LptOp     op,
            LptClass *class)
{
  static const struct { LptOp op; LptClass class; } rows[] =
  {
#define LPT_REQUANT_CLASS(op, class) { LPT_OP_##op, LPT_CLASS_##class },
#include "eval/requant/lpt-requant-classes.def"
#undef LPT_REQUANT_CLASS
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == op)
      {
        *class = rows[i].class;
        return TRUE;
      }

  return FALSE;
}

gboolean
lpt_requant_classify (LptNode            *node,
                      LptClass           *class,
                      LptRuleGranularity *granularity,
                      guint              *kinds)
{
  *granularity = LPT_GRANULARITY_TENSOR;
  *kinds = 0;

  if ((node->info->flags & LPT_OP_F_WEIGHTED) != 0)
    *class = weighted_class (node, kinds);
  else if (node->op == LPT_OP_PRELU)
    *class = lpt_node_in (node, 1)->quant != NULL ? LPT_CLASS_PRELU : LPT_CLASS_LEAKY;
  else if (node->op == LPT_OP_TABLE)
    *class = unary_class (LPT_ATTRS (node, LptTableAttrs)->function);
  else if (!find_class (node->op, class))
    {
      if ((node->info->flags & LPT_OP_F_UNARY) == 0)
        return FALSE;
      *class = unary_class (node->info->name);
    }

  if (per_channel (lpt_node_in (node, 1)) || per_channel (lpt_node_in (node, 0)))
    *granularity = LPT_GRANULARITY_CHANNEL;
  if (is_wide (node))
    *kinds |= LPT_KIND_OF_WIDE;

  return TRUE;
}

LptMode
lpt_requant_node_mode (LptNode *node)
{
  const char *name = node->requant;
  LptMode mode;

  if (name == NULL && node->graph->op_requant != NULL)
    name = g_hash_table_lookup (node->graph->op_requant, node->info->name);
  if (name == NULL)
    name = node->graph->requant;

  return name != NULL && lpt_mode_from_name (name, &mode) ? mode : LPT_MODE_SINGLE;
}

/* Rules in 256ths are XNNPACK's, for codes of one 8-bit type and ratios from 2^-8 to 2^7, those of slopes included. */
static gboolean
fits_256ths (LptNode              *node,
             const LptRequantRule *rule)
{
  const LptValue *x = lpt_node_in (node, 0), *y = lpt_node_out (node);
  LptTensor *slopes = rule->class == LPT_CLASS_LEAKY ? lpt_node_const_in (node, 1) : NULL;
  const gint64 n = slopes != NULL ? lpt_tensor_count (slopes) : 0;

  if (x->quant == NULL || y->quant == NULL || x->dtype != y->dtype || lpt_dtype_bits (x->dtype) != 8 ||
      (rule->class == LPT_CLASS_REQUANTIZE && node->op != LPT_OP_REQUANTIZE))
    return FALSE;
  for (gint64 i = -1; i < n; i++)
    {
      const double slope = i < 0 ? 1.0 : lpt_tensor_get_f64 (slopes, i);
      const double ratio = fabs (lpt_requant_scale (rule->arith, x->quant->scale[0], slope, y->quant->scale[0]));

      if (ratio < 0x1p-8 || ratio > 0x1p7)
        return FALSE;
    }

  return TRUE;
}

const LptRequantRule *
lpt_requant_node_rule (LptNode *node)
{
  const LptMode mode = lpt_requant_node_mode (node);
  const LptRequantRule *rule;
  LptRuleGranularity granularity;
  LptClass class;
  guint kinds;

  if (!lpt_requant_classify (node, &class, &granularity, &kinds))
    return NULL;
  rule = lpt_requant_rule (mode, class, granularity, kinds);
  /* The delegate takes no codes of 16 bits. */
  if ((modes[mode].delegates && (kinds & LPT_KIND_OF_WIDE) != 0 &&
       (rule->kind & (LPT_KIND_OF_WIDE | LPT_KIND_OF_WIDE_BIAS)) == 0) ||
      (rule->form == LPT_MULTIPLIER_Q8 && !fits_256ths (node, rule)))
    return lpt_requant_rule (LPT_MODE_LITERT, class, granularity, kinds);

  return rule;
}

/* --- --requant SPEC --------------------------------------------------------- */

static gboolean
set_mode (char      **slot,
          const char *name,
          GError    **error)
{
  g_autoptr (GString) known = NULL;
  LptMode mode;

  if (lpt_mode_from_name (name, &mode))
    {
      g_free (*slot);
      *slot = g_strdup (lpt_mode_name (mode));
      return TRUE;
    }

  known = g_string_new (NULL);
  for (const LptModeInfo *info = modes; info->name != NULL; info++)
    g_string_append_printf (known, "%s%s", known->len > 0 ? ", " : "", info->name);
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no mode \"%s\"; the modes are %s", name, known->str);

  return FALSE;
}

gboolean
lpt_graph_set_requant (LptGraph   *graph,
                       const char *spec,
                       GError    **error)
{
  const char *colon = strrchr (spec, ':');
  g_autofree char *target = NULL;
  g_autofree char *mode = NULL;
  const LptOpInfo *info;

  if (colon == NULL)
    return set_mode (&graph->requant, spec, error);

  target = g_strndup (spec, colon - spec);
  if (g_str_has_prefix (target, "node="))
    {
      LptNode *node = lpt_graph_find (graph, target + strlen ("node="));

      if (node == NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no node \"%s\"", target + strlen ("node="));
          return FALSE;
        }

      return set_mode (&node->requant, colon + 1, error);
    }

  info = lpt_op_find_short (target);
  if (info == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no op \"%s\"", target);
      return FALSE;
    }
  if (!set_mode (&mode, colon + 1, error))
    return FALSE;

  if (graph->op_requant == NULL)
    graph->op_requant = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_replace (graph->op_requant, g_strdup (info->name), g_steal_pointer (&mode));

  return TRUE;
}

gboolean
lpt_requant_sum_leaves_codes (const LptNode *node)
{
  const LptValue *x = node->op == LPT_OP_REDUCE_SUM ? node->in[0].value : NULL, *y = &node->out[0];
  gint64 from, to;
  double ratio;

  if (x == NULL || x->quant == NULL || y->quant == NULL)
    return FALSE;
  if (!lpt_shape_count (&x->shape, &from) || !lpt_shape_count (&y->shape, &to))
    return TRUE;
  ratio = to > 0 ? (double) (from / to) * x->quant->scale[0] / y->quant->scale[0] : 0;

  return y->quant->zero_point[0] + ratio * (lpt_dtype_min (x->dtype) - x->quant->zero_point[0]) <
         lpt_dtype_min (y->dtype) - 0.5 ||
         y->quant->zero_point[0] + ratio * (lpt_dtype_max (x->dtype) - x->quant->zero_point[0]) >
         lpt_dtype_max (y->dtype) + 0.5;
}
