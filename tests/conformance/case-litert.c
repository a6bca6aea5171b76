/* case-litert.c - operators of TensorFlow Lite as ops of the IR
 *
 * Operators with a layout get Transposes at their borders; a fused activation
 * becomes a Relu or Clamp with the quantization of the output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "case-litert.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC (cJSON, cJSON_Delete)

/* --- tensors ----------------------------------------------------------------------- */

LptShape
litert_shape_of (const Build *b,
                 gint         index)
{
  return b->tensors[index].shape;
}

LptDType
litert_dtype_of (const Build *b,
                 gint         index)
{
  return b->tensors[index].dtype;
}

LptQuant *
litert_quant_of (const Build *b,
                 gint         index,
                 gint         axis)
{
  const CaseTensor *t = &b->tensors[index];

  if (t->n_scales == 0)
    return NULL;

  return lpt_quant_new (t->n_scales > 1 ? axis : LPT_QUANT_PER_TENSOR, t->n_scales, t->scale, t->zero);
}

LptTensor *
litert_data_of (const Build *b,
                gint         index,
                const gint  *perm)
{
  const CaseTensor *t = &b->tensors[index];

  return perm == NULL ? lpt_tensor_ref (t->data) : case_permuted (t->data, perm);
}

LptValue *
litert_input (Build *b,
              guint  i)
{
  CaseTensor *t;

  if (i >= b->n_in || b->in[i] < 0)
    return NULL;
  t = &b->tensors[b->in[i]];
  if (t->value == NULL)
    t->value = t->is_const ? case_const (b->run, lpt_tensor_ref (t->data), litert_quant_of (b, b->in[i], 0))
               : case_input (b->run, lpt_tensor_ref (t->data), litert_quant_of (b, b->in[i], 0));

  return t->value;
}

GArray *
litert_numbers (const Build *b,
                guint        i)
{
  LptTensor *data = b->tensors[b->in[i]].data;
  GArray *list = g_array_new (FALSE, FALSE, sizeof (double));

  for (gint64 k = 0; k < lpt_tensor_count (data); k++)
    {
      const double value = lpt_tensor_get_f64 (data, k);

      g_array_append_val (list, value);
    }

  return list;
}

gint64
litert_number_at (const GArray *values,
                  guint         i)
{
  return (gint64) g_array_index (values, double, i);
}

void
litert_give (Build    *b,
             guint     o,
             LptValue *value)
{
  b->tensors[b->out[o]].value = value;
}

LptValue *
litert_as_output (Build          *b,
                  LptValue       *value,
                  guint           o,
                  const LptShape *shape)
{
  const LptShape own = litert_shape_of (b, b->out[o]);
  g_autoptr (LptQuant) quant = litert_quant_of (b, b->out[o], 0);

  return case_set (value, litert_dtype_of (b, b->out[o]), shape != NULL ? shape : &own, quant);
}

static LptValue *
as_nchw_output (Build    *b,
                LptValue *value)
{
  const LptShape nhwc = litert_shape_of (b, b->out[0]);
  const LptShape shape = case_nchw_shape (&nhwc);

  return litert_as_output (b, value, 0, &shape);
}

/* --- endings ----------------------------------------------------------------------- */

LptValue *
litert_activate (Build    *b,
                 LptValue *value)
{
  const char *name = case_string (b->attrs, "fused_activation_function", "NONE");
  LptNode *node;

  if (strcmp (name, "NONE") == 0)
    return value;
  if (strcmp (name, "RELU") == 0)
    node = case_node (b->run, LPT_OP_RELU, 1, &value, 1);
  else
    {
      node = case_node (b->run, LPT_OP_CLAMP, 1, &value, 1);
      LPT_ATTRS (node, LptClampAttrs)->min = strcmp (name, "RELU6") == 0 ? 0.0 : -1.0;
      LPT_ATTRS (node, LptClampAttrs)->max = strcmp (name, "RELU6") == 0 ? 6.0 : 1.0;
    }

  return case_set (lpt_node_out (node), value->dtype, &value->shape, value->quant);
}

gboolean
litert_finish (Build    *b,
               LptValue *value)
{
  litert_give (b, 0, litert_activate (b, value));
  return TRUE;
}

gboolean
litert_finish_nchw (Build    *b,
                    LptValue *value)
{
  litert_give (b, 0, case_nhwc (b->run, litert_activate (b, as_nchw_output (b, value))));
  return TRUE;
}

/* --- the table --------------------------------------------------------------------------- */

static const struct
{
  const char    *name;
  LitertBuilder *build;
  LptOp          op;
} builders[] =
{
  { "ADD", litert_build_plain, LPT_OP_ADD },
  { "ARG_MAX", litert_build_arg, LPT_OP_ARG_MAX },
  { "ARG_MIN", litert_build_arg, LPT_OP_ARG_MIN },
  { "AVERAGE_POOL_2D", litert_build_pool, LPT_OP_AVG_POOL },
  { "BATCH_MATMUL", litert_build_batch_matmul, LPT_OP_MATMUL },
  { "BATCH_TO_SPACE_ND", litert_build_space_batch, LPT_OP_BATCH_TO_SPACE },
  { "CONCATENATION", litert_build_concat, LPT_OP_CONCAT },
  { "CONV_2D", litert_build_conv, LPT_OP_CONVOLUTION },
  { "DEPTHWISE_CONV_2D", litert_build_conv, LPT_OP_GROUP_CONVOLUTION },
  { "DEPTH_TO_SPACE", litert_build_blocks, LPT_OP_DEPTH_TO_SPACE },
  { "DEQUANTIZE", litert_build_quantize, LPT_OP_DEQUANTIZE },
  { "ELU", litert_build_elu, LPT_OP_ELU },
  { "EQUAL", litert_build_plain, LPT_OP_EQUAL },
  { "FULLY_CONNECTED", litert_build_fully_connected, LPT_OP_MATMUL },
  { "GATHER", litert_build_gather, LPT_OP_GATHER },
  { "GREATER", litert_build_plain, LPT_OP_GREATER },
  { "GREATER_EQUAL", litert_build_plain, LPT_OP_GREATER_EQUAL },
  { "HARD_SWISH", litert_build_plain, LPT_OP_HSWISH },
  { "L2_NORMALIZATION", litert_build_l2, LPT_OP_NORMALIZE_L2 },
  { "LEAKY_RELU", litert_build_leaky_relu, LPT_OP_PRELU },
  { "LESS", litert_build_plain, LPT_OP_LESS },
  { "LESS_EQUAL", litert_build_plain, LPT_OP_LESS_EQUAL },
  { "LOGISTIC", litert_build_plain, LPT_OP_SIGMOID },
  { "LOG_SOFTMAX", litert_build_softmax, LPT_OP_LOG_SOFTMAX },
  { "MAXIMUM", litert_build_plain, LPT_OP_MAXIMUM },
  { "MAX_POOL_2D", litert_build_pool, LPT_OP_MAX_POOL },
  { "MEAN", litert_build_reduce, LPT_OP_REDUCE_MEAN },
  { "MINIMUM", litert_build_plain, LPT_OP_MINIMUM },
  { "MUL", litert_build_plain, LPT_OP_MULTIPLY },
  { "NOT_EQUAL", litert_build_plain, LPT_OP_NOT_EQUAL },
  { "PACK", litert_build_pack, LPT_OP_CONCAT },
  { "PAD", litert_build_pad, LPT_OP_PAD },
  { "PADV2", litert_build_pad, LPT_OP_PAD },
  { "PRELU", litert_build_prelu, LPT_OP_PRELU },
  { "QUANTIZE", litert_build_quantize, LPT_OP_QUANTIZE },
  { "REDUCE_MAX", litert_build_reduce, LPT_OP_REDUCE_MAX },
  { "REDUCE_MIN", litert_build_reduce, LPT_OP_REDUCE_MIN },
  { "RELU", litert_build_plain, LPT_OP_RELU },
  { "RELU6", litert_build_clamp, LPT_OP_CLAMP },
  { "RELU_N1_TO_1", litert_build_clamp, LPT_OP_CLAMP },
  { "RESHAPE", litert_build_reshape, LPT_OP_RESHAPE },
  { "RESIZE_BILINEAR", litert_build_resize, LPT_OP_INTERPOLATE },
  { "RESIZE_NEAREST_NEIGHBOR", litert_build_resize, LPT_OP_INTERPOLATE },
  { "SHAPE", litert_build_shape, LPT_OP_SHAPE_OF },
  { "SLICE", litert_build_slice, LPT_OP_SLICE },
  { "SOFTMAX", litert_build_softmax, LPT_OP_SOFTMAX },
  { "SPACE_TO_BATCH_ND", litert_build_space_batch, LPT_OP_SPACE_TO_BATCH },
  { "SPACE_TO_DEPTH", litert_build_blocks, LPT_OP_SPACE_TO_DEPTH },
  { "SPLIT", litert_build_split, LPT_OP_SPLIT },
  { "SPLIT_V", litert_build_split, LPT_OP_VARIADIC_SPLIT },
  { "SQUEEZE", litert_build_squeeze, LPT_OP_SQUEEZE },
  { "STRIDED_SLICE", litert_build_strided_slice, LPT_OP_STRIDED_SLICE },
  { "SUB", litert_build_plain, LPT_OP_SUBTRACT },
  { "SUM", litert_build_reduce, LPT_OP_REDUCE_SUM },
  { "TANH", litert_build_plain, LPT_OP_TANH },
  { "TRANSPOSE", litert_build_transpose, LPT_OP_TRANSPOSE },
  { "TRANSPOSE_CONV", litert_build_transpose_conv, LPT_OP_CONVOLUTION_BACKPROP_DATA },
  { "UNPACK", litert_build_unpack, LPT_OP_SPLIT },
};

gboolean
case_litert_op (CaseGraph   *run,
                const char  *op,
                const cJSON *attributes,
                CaseTensor  *tensors,
                const GArray *in,
                const GArray *out,
                GError     **error)
{
  g_autoptr (cJSON) attrs = attributes != NULL ? cJSON_Duplicate (attributes, TRUE) : cJSON_CreateObject ();
  Build b = { .run = run, .attrs = attrs, .tensors = tensors, .n_in = MIN (in->len, MAX_INPUTS),
              .n_out = MIN (out->len, MAX_INPUTS) };

  for (guint i = 0; i < b.n_in; i++)
    b.in[i] = g_array_index (in, gint, i);
  for (guint i = 0; i < b.n_out; i++)
    b.out[i] = g_array_index (out, gint, i);
  cJSON_AddStringToObject (attrs, "_op", op);

  for (guint i = 0; i < G_N_ELEMENTS (builders); i++)
    if (strcmp (builders[i].name, op) == 0)
      return builders[i].build (&b, builders[i].op, error);

  return case_fail (error, "unsupported operator %s", op);
}

/* --- cases ------------------------------------------------------------------------------ */

static GArray *
read_indices (const cJSON *list)
{
  GArray *indices = g_array_new (FALSE, FALSE, sizeof (gint));
  const cJSON *item;

  cJSON_ArrayForEach (item, list)
    {
      const gint index = (gint) item->valuedouble;

      g_array_append_val (indices, index);
    }

  return indices;
}

static void
read_tensor (const cJSON *json,
             CaseTensor  *t)
{
  const cJSON *data = cJSON_GetObjectItem (json, "data");
  g_autoptr (GArray) scales = case_doubles (cJSON_GetObjectItem (json, "scale"));
  g_autoptr (GArray) zeros = case_doubles (cJSON_GetObjectItem (json, "zero_point"));

  t->shape = case_shape (cJSON_GetObjectItem (json, "shape"));
  t->dtype = case_dtype (case_string (json, "dtype", ""));
  t->is_const = g_strcmp0 (case_string (json, "role", ""), "const") == 0;
  t->n_scales = scales->len;
  t->scale = g_memdup2 (scales->data, scales->len * sizeof (double));
  t->zero = g_new0 (gint32, MAX (scales->len, 1));
  for (guint i = 0; i < MIN (scales->len, zeros->len); i++)
    t->zero[i] = (gint32) g_array_index (zeros, double, i);
  if (cJSON_IsArray (data))
    {
      g_autoptr (GArray) values = case_doubles (data);

      t->data = case_tensor (t->dtype, &t->shape, values, NULL);
    }
}

void
case_tensors_free (CaseTensor *tensors,
                   guint       n)
{
  for (guint i = 0; i < n; i++)
    {
      g_free (tensors[i].scale);
      g_free (tensors[i].zero);
      g_clear_pointer (&tensors[i].data, lpt_tensor_unref);
    }
  g_free (tensors);
}

gboolean
case_litert_build (const cJSON *json,
                   GPtrArray   *runs,
                   GError     **error)
{
  const cJSON *list = cJSON_GetObjectItem (json, "tensors");
  const guint n = cJSON_GetArraySize (list);
  CaseTensor *tensors = g_new0 (CaseTensor, MAX (n, 1));
  g_autoptr (GArray) in = read_indices (cJSON_GetObjectItem (json, "op_inputs"));
  g_autoptr (GArray) out = read_indices (cJSON_GetObjectItem (json, "op_outputs"));
  CaseGraph *run = case_graph_new (case_string (json, "case", "case"));
  gboolean ok;

  g_ptr_array_add (runs, run);
  for (guint i = 0; i < n; i++)
    read_tensor (cJSON_GetArrayItem (list, i), &tensors[i]);
  ok = case_litert_op (run, case_string (json, "op", ""), cJSON_GetObjectItem (json, "attributes"), tensors, in, out,
                       error);
  for (guint o = 0; ok && o < out->len; o++)
    {
      g_autofree char *name = g_strdup_printf ("%u", o);

      case_result (run, tensors[g_array_index (out, gint, o)].value, name);
    }
  case_tensors_free (tensors, n);

  return ok;
}
