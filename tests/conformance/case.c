/* case.c - graphs of one-op cases: what the builders share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "case.h"

#include <stdarg.h>
#include <string.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-requant.h>

CaseGraph *
case_graph_new (const char *name)
{
  CaseGraph *run = g_new0 (CaseGraph, 1);

  run->graph = lpt_graph_new (name);
  run->graph->lowered = TRUE;
  run->kept = g_ptr_array_new_with_free_func (g_free);
  run->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  run->names = g_ptr_array_new_with_free_func (g_free);

  return run;
}

void
case_graph_free (CaseGraph *run)
{
  if (run == NULL)
    return;

  lpt_graph_free (run->graph);
  g_ptr_array_unref (run->inputs);
  g_ptr_array_unref (run->kept);
  g_ptr_array_unref (run->names);
  g_free (run);
}

gboolean
case_build (const cJSON *json,
            GPtrArray   *runs,
            GError     **error)
{
  return cJSON_GetObjectItem (json, "tensors") != NULL ? case_litert_build (json, runs, error)
                                                       : case_tpu_build (json, runs, error);
}

GPtrArray *
case_run (CaseGraph         *run,
          const char *const *specs,
          gboolean           reference,
          GError           **error)
{
  const char *const own[] = { run->mode, NULL };
  g_autoptr (GPtrArray) outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;

  if (run->mode != NULL)
    specs = own;
  for (guint i = 0; specs != NULL && specs[i] != NULL; i++)
    if (!lpt_graph_set_requant (run->graph, specs[i], error))
      return NULL;

  plan = lpt_plan_new (run->graph, NULL, reference ? LPT_PLAN_REFERENCE : 0, error);
  if (plan == NULL)
    return NULL;
  context = lpt_plan_context_new (plan, 1, error);
  if (context == NULL)
    return NULL;

  for (guint i = 0; i < run->inputs->len; i++)
    if (!lpt_plan_context_set_input (context, i, run->inputs->pdata[i], error))
      return NULL;
  if (!lpt_plan_run (plan, context, error))
    return NULL;

  for (guint i = 0; i < run->names->len; i++)
    {
      LptTensor *output = lpt_plan_context_output (context, i, error);

      if (output == NULL)
        return NULL;
      g_ptr_array_add (outputs, output);
    }

  return g_steal_pointer (&outputs);
}

gboolean
case_fail (GError    **error,
           const char *format,
           ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, message);

  return FALSE;
}

/* --- JSON ----------------------------------------------------------------------- */

GArray *
case_doubles (const cJSON *list)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (double));
  const cJSON *item;

  cJSON_ArrayForEach (item, list)
    {
      const double value = cJSON_IsBool (item) ? cJSON_IsTrue (item) : item->valuedouble;

      g_array_append_val (values, value);
    }

  return values;
}

LptShape
case_shape (const cJSON *list)
{
  LptShape shape = { 0 };
  const cJSON *item;

  cJSON_ArrayForEach (item, list)
    if (shape.rank < LPT_MAX_RANK)
      shape.dims[shape.rank++] = (gint64) item->valuedouble;

  return shape;
}

LptDType
case_dtype (const char *numpy)
{
  static const struct { const char *name; LptDType dtype; } types[] =
  {
    { "int8", LPT_DTYPE_I8 }, { "uint8", LPT_DTYPE_U8 }, { "int16", LPT_DTYPE_I16 }, { "uint16", LPT_DTYPE_U16 },
    { "int32", LPT_DTYPE_I32 }, { "int64", LPT_DTYPE_I64 }, { "float32", LPT_DTYPE_F32 }, { "bool", LPT_DTYPE_BOOL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_strcmp0 (types[i].name, numpy) == 0)
      return types[i].dtype;

  return LPT_DTYPE_UNDEFINED;
}

double
case_number (const cJSON *object,
             const char  *name,
             double       fallback)
{
  const cJSON *item = cJSON_GetObjectItem (object, name);

  return cJSON_IsNumber (item) ? item->valuedouble : fallback;
}

gboolean
case_flag (const cJSON *object,
           const char  *name)
{
  return cJSON_IsTrue (cJSON_GetObjectItem (object, name));
}

const char *
case_string (const cJSON *object,
             const char  *name,
             const char  *fallback)
{
  const cJSON *item = cJSON_GetObjectItem (object, name);

  return cJSON_IsString (item) ? item->valuestring : fallback;
}

/* --- nodes ----------------------------------------------------------------------- */

LptTensor *
case_tensor (LptDType        dtype,
             const LptShape *shape,
             const GArray   *values,
             const gint     *perm)
{
  LptShape to = *shape;
  g_autofree double *moved = g_new (double, MAX (values->len, 1));
  gint64 strides[LPT_MAX_RANK];

  lpt_shape_strides (shape, strides);
  for (gint i = 0; perm != NULL && i < shape->rank; i++)
    to.dims[i] = shape->dims[perm[i]];

  for (guint i = 0; i < values->len; i++)
    {
      gint64 rest = i, from = 0;

      for (gint a = to.rank; a-- > 0; )
        {
          from += rest % to.dims[a] * strides[perm != NULL ? perm[a] : a];
          rest /= to.dims[a];
        }
      moved[i] = g_array_index (values, double, from);
    }

  return lpt_tensor_from_f64 (dtype, &to, moved, NULL);
}

LptTensor *
case_permuted (LptTensor  *tensor,
               const gint *perm)
{
  const LptShape *from = lpt_tensor_shape (tensor);
  const gsize size = lpt_dtype_bits (lpt_tensor_dtype (tensor)) / 8;
  const char *data = lpt_tensor_data (tensor);
  LptShape to = *from;
  gint64 strides[LPT_MAX_RANK];
  LptTensor *moved;
  char *out;

  lpt_shape_strides (from, strides);
  for (gint i = 0; i < from->rank; i++)
    to.dims[i] = from->dims[perm[i]];
  moved = lpt_tensor_new (lpt_tensor_dtype (tensor), &to, NULL);
  out = lpt_tensor_writable (moved);
  for (gint64 i = 0; i < lpt_tensor_count (moved); i++)
    {
      gint64 rest = i, at = 0;

      for (gint a = to.rank; a-- > 0; )
        {
          at += rest % to.dims[a] * strides[perm[a]];
          rest /= to.dims[a];
        }
      memcpy (out + i * size, data + at * size, size);
    }

  return moved;
}

LptValue *
case_set (LptValue       *value,
          LptDType        dtype,
          const LptShape *shape,
          LptQuant       *quant)
{
  value->dtype = dtype;
  value->shape = *shape;
  lpt_value_set_quant (value, quant);
  value->producer->flags |= LPT_NODE_RELAXED;

  return value;
}

LptValue *
case_const (CaseGraph *run,
            LptTensor *tensor,
            LptQuant  *quant)
{
  LptNode *node = lpt_graph_add_const (run->graph, NULL, tensor);

  lpt_value_set_quant (lpt_node_out (node), quant);
  lpt_tensor_unref (tensor);
  lpt_quant_unref (quant);

  return lpt_node_out (node);
}

LptValue *
case_ints (CaseGraph    *run,
           guint         n,
           const gint64 *values)
{
  return case_const (run, lpt_tensor_vector_i64 (n, values), NULL);
}

LptValue *
case_input (CaseGraph *run,
            LptTensor *tensor,
            LptQuant  *quant)
{
  LptNode *node = lpt_graph_add (run->graph, LPT_OP_PARAMETER, 0, "input", 0, NULL);
  LptParameterAttrs *attrs = LPT_ATTRS (node, LptParameterAttrs);

  attrs->element_type = lpt_tensor_dtype (tensor);
  attrs->shape = *lpt_tensor_shape (tensor);
  lpt_node_out (node)->dtype = attrs->element_type;
  lpt_node_out (node)->shape = attrs->shape;
  lpt_value_set_quant (lpt_node_out (node), quant);
  lpt_quant_unref (quant);
  g_ptr_array_add (run->inputs, tensor);

  return lpt_node_out (node);
}

LptNode *
case_node (CaseGraph       *run,
           LptOp            op,
           guint            n_in,
           LptValue *const *in,
           guint            n_out)
{
  return lpt_graph_add_full (run->graph, lpt_op_info (op), 0, NULL, n_in, in, n_out);
}

LptValue *
case_permute (CaseGraph  *run,
              LptValue   *value,
              const gint *perm)
{
  gint64 order[LPT_MAX_RANK];
  LptShape shape = value->shape;
  LptNode *node;

  for (gint i = 0; i < shape.rank; i++)
    {
      order[i] = perm[i];
      shape.dims[i] = value->shape.dims[perm[i]];
    }
  node = case_node (run, LPT_OP_TRANSPOSE, 2, (LptValue *[]) { value, case_ints (run, shape.rank, order) }, 1);

  return case_set (lpt_node_out (node), value->dtype, &shape, value->quant);
}

LptShape
case_nchw_shape (const LptShape *nhwc)
{
  LptShape shape = *nhwc;

  shape.dims[1] = nhwc->dims[nhwc->rank - 1];
  for (gint i = 2; i < nhwc->rank; i++)
    shape.dims[i] = nhwc->dims[i - 1];

  return shape;
}

LptValue *
case_nchw (CaseGraph *run,
           LptValue  *value)
{
  gint perm[LPT_MAX_RANK] = { 0, value->shape.rank - 1 };

  for (gint i = 2; i < value->shape.rank; i++)
    perm[i] = i - 1;

  return case_permute (run, value, perm);
}

LptValue *
case_nhwc (CaseGraph *run,
           LptValue  *value)
{
  gint perm[LPT_MAX_RANK] = { 0 };

  for (gint i = 1; i < value->shape.rank - 1; i++)
    perm[i] = i + 1;
  perm[value->shape.rank - 1] = 1;

  return case_permute (run, value, perm);
}

LptValue *
case_reshape (CaseGraph      *run,
              LptValue       *value,
              const LptShape *shape)
{
  LptNode *node = case_node (run, LPT_OP_RESHAPE, 2,
                             (LptValue *[]) { value, case_ints (run, shape->rank, shape->dims) }, 1);

  LPT_ATTRS (node, LptReshapeAttrs)->special_zero = FALSE;

  return case_set (lpt_node_out (node), value->dtype, shape, value->quant);
}

void
case_result (CaseGraph  *run,
             LptValue   *value,
             const char *name)
{
  LptNode *node = case_node (run, LPT_OP_RESULT, 1, &value, 0);
  LptResultAttrs *attrs = LPT_ATTRS (node, LptResultAttrs);

  g_free (attrs->output);
  attrs->output = g_strdup (name);
  g_ptr_array_add (run->names, g_strdup (name));
}
