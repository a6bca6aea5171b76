/* lpt-restrictions.c - what targets demand of quantization, and who breaks it
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-restrictions.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include <math.h>
#include <string.h>

#include "ir/lpt-weighted.h"

/* A bias scale is a product of float32 scales somewhere: this much of rounding is forgiven. */
#define SAME_SCALE 1e-5

/* Names of the ports in the table. */
enum { PORT_0 = 0, PORT_1 = 1, PORT_2 = 2, PORT_3 = 3, PORT_OUT = LPT_PORT_OUT, PORT_DATA = LPT_PORT_DATA };

static const LptOpRestriction rows[] =
{
#define LPT_RESTRICT(target, ENUM, port, dtype, lo, hi, granularity, rule, scale, zero) \
  { LPT_QUANT_RULES_##target, LPT_OP_##ENUM, PORT_##port, LPT_DTYPE_##dtype, lo, hi, LPT_CODES_##granularity, \
    LPT_PARAMETERS_##rule, scale, zero },
#include "ir/lpt-restrictions.def"
#undef LPT_RESTRICT
};

static const struct { const char *name; LptQuantRules target; } names[] =
{
  { "litert", LPT_QUANT_RULES_LITERT }, { "tpu", LPT_QUANT_RULES_TPU },
};

const char *
lpt_quant_rules_name (LptQuantRules target)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (names[i].target == target)
      return names[i].name;

  return NULL;
}

gboolean
lpt_quant_rules_from_name (const char    *name,
                           LptQuantRules *target)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (names[i].name, name) == 0)
      {
        *target = names[i].target;
        return TRUE;
      }

  return FALSE;
}

LptFloats *
lpt_node_bias_rest (LptNode *node)
{
  LptWeightedView view;

  return lpt_weighted_view (node, &view) ? (LptFloats *) view.rest : NULL;
}

const LptOpRestriction *
lpt_op_restrictions (LptOp          op,
                     LptQuantRules  target,
                     guint         *n)
{
  const LptOpRestriction *first = NULL;

  *n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].target == target && rows[i].op == op)
      {
        if (first == NULL)
          first = &rows[i];
        (*n)++;
      }

  return first;
}

const LptOpRestriction *
lpt_node_restrictions (LptNode         *node,
                       LptQuantRules  target,
                       guint           *n)
{
  const LptOpRestriction *found = NULL;

  if (node->op == LPT_OP_TABLE)
    {
      const LptOpInfo *info = lpt_op_find (LPT_ATTRS (node, LptTableAttrs)->function);

      if (info != NULL)
        found = lpt_op_restrictions (info->op, target, n);
    }

  return found != NULL ? found : lpt_op_restrictions (node->op, target, n);
}

char *
lpt_op_restriction_to_string (const LptOpRestriction *row)
{
  g_autoptr (GString) s = g_string_new (NULL);

  if (row->port == LPT_PORT_OUT)
    g_string_append (s, "output: ");
  else if (row->port == LPT_PORT_DATA)
    g_string_append (s, "inputs: ");
  else
    g_string_append_printf (s, "input %d: ", row->port);
  g_string_append (s, lpt_dtype_name (row->dtype));
  if (row->lo != lpt_dtype_min (row->dtype) || row->hi != lpt_dtype_max (row->dtype))
    g_string_append_printf (s, " in [%d, %d]", row->lo, row->hi);
  g_string_append (s, row->granularity == LPT_CODES_TENSOR ? ", one scale" : ", one scale or one per output channel");

  switch (row->rule)
    {
    case LPT_PARAMETERS_SAME:  g_string_append (s, ", inputs and outputs with equal parameters"); break;
    case LPT_PARAMETERS_FIXED: g_string_append_printf (s, ", scale %g, zero point %d", row->scale, row->zero); break;
    case LPT_PARAMETERS_ZERO:  g_string_append (s, ", zero point 0"); break;
    case LPT_PARAMETERS_BIAS:  g_string_append (s, ", scale of input 0 times input 1, zero point 0"); break;
    case LPT_PARAMETERS_FREE:  break;
    }

  return g_string_free (g_steal_pointer (&s), FALSE);
}

/* --- checking ------------------------------------------------------------------ */

typedef struct
{
  GPtrArray *list;
  LptNode   *node;
} Check;

static void
violation_free (LptViolation *violation)
{
  g_free (violation->what);
  g_free (violation);
}

static void breaks (Check *check, gint port, const char *rule, const char *format, ...) G_GNUC_PRINTF (4, 5);

static void
breaks (Check      *check,
        gint        port,
        const char *rule,
        const char *format,
        ...)
{
  g_autofree char *where = port == LPT_PORT_OUT ? g_strdup ("output") : g_strdup_printf ("input %d", port);
  g_autofree char *text = NULL;
  LptViolation *violation = g_new (LptViolation, 1);
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  violation->node = check->node;
  violation->rule = rule;
  violation->what = g_strdup_printf ("%s: %s", where, text);
  g_ptr_array_add (check->list, violation);
}

static gboolean
same_parameters (const LptQuant *a,
                 const LptQuant *b)
{
  return a->n == 1 && b->n == 1 && a->scale[0] == b->scale[0] && a->zero_point[0] == b->zero_point[0];
}

static gboolean
close_to (double a,
          double b)
{
  return fabs (a - b) <= SAME_SCALE * fabs (b);
}

static void
check_codes (Check                  *check,
             gint                    port,
             const LptValue         *value,
             const LptOpRestriction *row)
{
  LptTensor *data = value->producer->data;

  if (value->dtype != row->dtype)
    {
      breaks (check, port, "element-type", "%s, must be %s", lpt_dtype_name (value->dtype),
              lpt_dtype_name (row->dtype));
      return;
    }
  if (data == NULL || (row->lo == lpt_dtype_min (row->dtype) && row->hi == lpt_dtype_max (row->dtype)))
    return;

  for (gint64 i = 0, n = lpt_tensor_count (data); i < n; i++)
    {
      const gint64 q = lpt_tensor_get_i64 (data, i);

      if (q < row->lo || q > row->hi)
        {
          breaks (check, port, "range", "code %" G_GINT64_FORMAT ", must be in [%d, %d]", q, row->lo, row->hi);
          return;
        }
    }
}

static void
check_bias (Check          *check,
            gint            port,
            const LptQuant *bias)
{
  LptValue *x = lpt_node_in (check->node, 0), *w = lpt_node_in (check->node, 1);

  if (x == NULL || w == NULL || x->quant == NULL || w->quant == NULL)
    return;
  for (guint i = 0; i < MAX (bias->n, w->quant->n); i++)
    {
      const double want = x->quant->scale[0] * w->quant->scale[w->quant->n == 1 ? 0 : MIN (i, w->quant->n - 1)];
      const guint k = bias->n == 1 ? 0 : MIN (i, bias->n - 1);

      if (!close_to (bias->scale[k], want) || bias->zero_point[k] != 0)
        {
          breaks (check, port, "bias-scale",
                  "(%g, %d) of channel %u, must be (%g, 0): scale of the input times scale of the weights",
                  bias->scale[k], bias->zero_point[k], i, want);
          return;
        }
    }
}

static void
check_parameters (Check                  *check,
                  gint                    port,
                  const LptValue         *value,
                  const LptOpRestriction *row)
{
  const LptQuant *quant = value->quant;
  LptValue *first = lpt_node_in (check->node, 0);

  if (row->granularity == LPT_CODES_TENSOR && quant->n > 1)
    breaks (check, port, "per-tensor", "%u scales, must be one", quant->n);

  switch (row->rule)
    {
    case LPT_PARAMETERS_SAME:
      if (first != NULL && first->quant != NULL && !same_parameters (quant, first->quant))
        breaks (check, port, "equal-parameters", "(%g, %d), must be (%g, %d) as input 0", quant->scale[0],
                quant->zero_point[0], first->quant->scale[0], first->quant->zero_point[0]);
      break;
    case LPT_PARAMETERS_FIXED:
      if ((float) quant->scale[0] != (float) row->scale || quant->zero_point[0] != row->zero)
        breaks (check, port, "fixed-parameters", "(%g, %d), must be (%g, %d)", quant->scale[0], quant->zero_point[0],
                row->scale, row->zero);
      break;
    case LPT_PARAMETERS_ZERO:
      for (guint i = 0; i < quant->n; i++)
        if (quant->zero_point[i] != 0)
          {
            breaks (check, port, "zero-point", "zero point %d, must be 0", quant->zero_point[i]);
            break;
          }
      break;
    case LPT_PARAMETERS_BIAS:
      check_bias (check, port, quant);
      break;
    case LPT_PARAMETERS_FREE:
      break;
    }
}

static void
check_value (Check                  *check,
             gint                    port,
             const LptValue         *value,
             const LptOpRestriction *row)
{
  if (value == NULL || value->quant == NULL)
    return;

  check_codes (check, port, value, row);
  check_parameters (check, port, value, row);
}

/* An activation on the right side of a MatMul is not weights: only its type counts. */
static gboolean
is_activation (LptNode                *node,
               const LptOpRestriction *row)
{
  return node->op == LPT_OP_MATMUL && row->port == 1 && lpt_node_const_in (node, 1) == NULL;
}

/* Real numbers that lowering keeps in an op and no target has. */
static void
check_remainders (Check *check)
{
  LptNode *node = check->node;
  const LptFloats *rest = lpt_node_bias_rest (node);

  if (rest != NULL && rest->n > 0)
    breaks (check, 2, "remainder", "a real remainder beside the int32 bias");
  if ((node->info->flags & LPT_OP_F_SHIFTED) != 0
      && LPT_ATTRS (node, LptBinaryAttrs)->shift.n > 0)
    breaks (check, LPT_PORT_OUT, "remainder", "a real constant is added before the rounding");
}

/* And within its bodies. */
static void
check_graph (LptGraph      *graph,
             LptQuantRules  target,
             GPtrArray     *list)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      Check check = { list, graph->nodes->pdata[i] };
      LptNode *node = check.node;
      guint n;
      const LptOpRestriction *row = lpt_node_restrictions (node, target, &n);

      if ((node->flags & LPT_NODE_DEAD) != 0)
        continue;
      if (n > 0 && node->n_out > 0 && node->out[0].quant != NULL)
        check_remainders (&check);
      for (; n > 0; n--, row++)
        {
          if (row->port == LPT_PORT_OUT)
            for (guint o = 0; o < node->n_out; o++)
              check_value (&check, LPT_PORT_OUT, &node->out[o], row);
          else if (row->port == LPT_PORT_DATA)
            for (guint k = 0; k < node->n_in; k++)
              check_value (&check, k, lpt_node_in (node, k), row);
          else if (is_activation (node, row))
            {
              LptOpRestriction free_row = *row;

              free_row.rule = LPT_PARAMETERS_FREE;
              check_value (&check, row->port, lpt_node_in (node, row->port), &free_row);
            }
          else
            check_value (&check, row->port, lpt_node_in (node, row->port), row);
        }
      for (guint k = 0; k < lpt_node_n_bodies (node); k++)
        check_graph (lpt_node_body (node, k), target, list);
    }
}

GPtrArray *
lpt_graph_check (LptGraph      *graph,
                 LptQuantRules  target)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) violation_free);

  check_graph (graph, target, list);

  return list;
}
