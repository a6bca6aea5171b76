/* onnx-build.c - getters and builders of the ONNX importer
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-quant.h"
#include "frontends/onnx_json/read/onnx-scope.h"

#include "ir/infer/lpt-evaluate.h"
#include "ir/lpt-memory.h"
#include "ir/lpt-quant-move.h"
#include "ir/lpt-quant-plain.h"

#include <stdarg.h>
#include <string.h>

#define MAX_EMIT 8

LptGraph *
lpt_onnx_graph (LptOnnxNode *on)
{
  return on->scope->graph;
}

void
lpt_onnx_fail (LptOnnxNode *on,
               LptError     code,
               const char  *format,
               ...)
{
  g_autofree char *message = NULL;
  va_list args;

  if (on->error != NULL)
    return;
  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  on->error = g_error_new_literal (LPT_ERROR, code, message);
}

gpointer
lpt_onnx_memory (LptOnnxNode *on,
                 gsize        n,
                 gsize        size)
{
  return on->error == NULL ? lpt_memory_try (n, size, &on->error) : NULL;
}

/* --- inputs and outputs ----------------------------------------------------- */

void
lpt_onnx_ignore_in (LptOnnxNode *on,
                    guint        i)
{
  if (i < 64)
    on->in_read |= G_GUINT64_CONSTANT (1) << i;
}

LptValue *
lpt_onnx_optional (LptOnnxNode *on,
                   guint        i)
{
  lpt_onnx_ignore_in (on, i);
  return i < on->n_in ? on->in[i] : NULL;
}

LptValue *
lpt_onnx_in (LptOnnxNode *on,
             guint        i)
{
  LptValue *value = lpt_onnx_optional (on, i);

  if (value != NULL)
    return value;
  lpt_onnx_fail (on, LPT_ERROR_INVALID, "input %u is missing", i);
  return lpt_onnx_scalar (on, LPT_DTYPE_F32, 0);
}

gboolean
lpt_onnx_wants (LptOnnxNode *on,
                guint        i)
{
  return i < on->n_out && *on->proto->output[i] != '\0';
}

void
lpt_onnx_set (LptOnnxNode *on,
              guint        i,
              LptValue    *value)
{
  if (i < on->n_out)
    on->out[i] = value;
}

LptTensor *
lpt_onnx_const_in (LptOnnxNode *on,
                   guint        i)
{
  LptValue *value = lpt_onnx_optional (on, i);

  return value != NULL ? value->producer->data : NULL;
}

gboolean
lpt_onnx_ints_in (LptOnnxNode *on,
                  guint        i,
                  LptInts     *list)
{
  LptTensor *tensor = lpt_onnx_const_in (on, i);
  g_autofree gint64 *values = NULL;

  if (lpt_onnx_optional (on, i) == NULL)
    return FALSE;
  if (tensor == NULL)
    {
      lpt_onnx_unsupported (on, "input %u that is not constant", i);
      return FALSE;
    }
  if (!lpt_dtype_is_integer (lpt_tensor_dtype (tensor)) || lpt_tensor_shape (tensor)->rank > 1)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "input %u is not a vector of integers", i);
      return FALSE;
    }
  if (lpt_tensor_count (tensor) > G_MAXUINT16)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "input %u has too many elements", i);
      return FALSE;
    }
  values = lpt_tensor_to_i64 (tensor, on->error == NULL ? &on->error : NULL);
  if (values == NULL)
    return FALSE;
  lpt_ints_set (list, (guint) lpt_tensor_count (tensor), values);
  return TRUE;
}

/* --- attributes ------------------------------------------------------------- */

/* Inside a function an attribute may stand for one of the call. */
static const Onnx__AttributeProto *
resolve_reference (const LptOnnxScope         *scope,
                   const Onnx__AttributeProto *attr)
{
  while (attr != NULL && attr->ref_attr_name != NULL && *attr->ref_attr_name != '\0')
    {
      if (scope == NULL || scope->call_attrs == NULL)
        return NULL;
      attr = g_hash_table_lookup (scope->call_attrs, attr->ref_attr_name);
    }
  return attr;
}

const Onnx__AttributeProto *
lpt_onnx_attr (LptOnnxNode                         *on,
               const char                          *name,
               Onnx__AttributeProto__AttributeType  type)
{
  for (gsize i = 0; i < on->proto->n_attribute; i++)
    {
      const Onnx__AttributeProto *attr = on->proto->attribute[i];

      if (attr->name == NULL || strcmp (attr->name, name) != 0)
        continue;
      if (i < 64)
        on->attrs_read |= G_GUINT64_CONSTANT (1) << i;
      attr = resolve_reference (on->scope, attr);
      if (attr == NULL)
        return NULL;
      /* Files of the first version have no type. */
      if (attr->has_type && attr->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED && attr->type != type)
        {
          lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" has the wrong type", name);
          return NULL;
        }
      return attr;
    }
  return NULL;
}

gint64
lpt_onnx_int (LptOnnxNode *on,
              const char  *name,
              gint64       fallback)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

  return attr != NULL ? attr->i : fallback;
}

double
lpt_onnx_float (LptOnnxNode *on,
                const char  *name,
                double       fallback)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

  return attr != NULL ? (double) attr->f : fallback;
}

const char *
lpt_onnx_string (LptOnnxNode *on,
                 const char  *name,
                 const char  *fallback)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

  if (attr == NULL)
    return fallback;
  /* Bytes without an end: interned, so that callers need not free. The names of modes are few and short. */
  if (attr->s.len > 4096 || !g_utf8_validate_len ((const char *) attr->s.data, attr->s.len, NULL))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" is not text", name);
      return fallback;
    }
  return g_string_chunk_insert_len (on->scope->strings, attr->s.len > 0 ? (const char *) attr->s.data : "",
                                    (gssize) attr->s.len);
}

gboolean
lpt_onnx_ints (LptOnnxNode *on,
               const char  *name,
               LptInts     *list)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

  if (attr == NULL)
    return FALSE;
  if (attr->n_ints > G_MAXUINT16)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" has too many elements", name);
      return FALSE;
    }
  lpt_ints_set (list, (guint) attr->n_ints, attr->ints);
  return TRUE;
}

int
lpt_onnx_choose (LptOnnxNode         *on,
                 const char          *attribute,
                 const char          *fallback,
                 const LptOnnxChoice *choices,
                 guint                n)
{
  const char *name = lpt_onnx_string (on, attribute, fallback);

  for (guint i = 0; i < n; i++)
    if (strcmp (name, choices[i].name) == 0)
      return choices[i].value;
  lpt_onnx_unsupported (on, "%s \"%s\"", attribute, name);
  return 0;
}

void
lpt_onnx_ignore (LptOnnxNode *on,
                 const char  *name)
{
  for (gsize i = 0; i < MIN (on->proto->n_attribute, 64); i++)
    if (on->proto->attribute[i]->name != NULL && strcmp (on->proto->attribute[i]->name, name) == 0)
      on->attrs_read |= G_GUINT64_CONSTANT (1) << i;
}

LptDType
lpt_onnx_dtype (LptOnnxNode *on,
                const char  *name)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

  /* ONNX Runtime writes defaults, too: 0 is what no type is given for. */
  if (attr == NULL || attr->i == 0)
    return LPT_DTYPE_UNDEFINED;
  return lpt_onnx_type_to_dtype (attr->i >= 0 && attr->i <= G_MAXINT32 ? (gint32) attr->i : -1,
                                 on->error == NULL ? &on->error : NULL);
}

/* --- building --------------------------------------------------------------- */

LptNode *
lpt_onnx_add_list (LptOnnxNode     *on,
                   LptOp            op,
                   guint            n_out,
                   guint            n_in,
                   LptValue *const *in)
{
  const LptOpInfo *info = lpt_op_info (op);
  g_autofree char *name = g_strconcat (on->name, "/", info->name, NULL);
  LptNode *node = lpt_graph_add_full (lpt_onnx_graph (on), info, 0, name, n_in, in, n_out);

  /* Quantized integers go through moves as they are; whoever did not ask for them gets the bare ones. */
  for (guint i = 0; i < n_in; i++)
    if (in[i] != NULL && !on->quantized && !lpt_quant_is_plain (in[i]->quant) && !(i == 0 && lpt_onnx_moves (node)))
      lpt_node_set_input (node, i, lpt_onnx_plain (on, in[i]));
  return node;
}

static void
collect (LptValue **in,
         guint      n_in,
         va_list    args)
{
  g_assert (n_in <= MAX_EMIT);
  for (guint i = 0; i < n_in; i++)
    in[i] = va_arg (args, LptValue *);
}

LptNode *
lpt_onnx_add (LptOnnxNode *on,
              LptOp        op,
              guint        n_in,
              ...)
{
  gint n_out = lpt_op_info (op)->n_out;
  LptValue *in[MAX_EMIT];
  va_list args;

  va_start (args, n_in);
  collect (in, n_in, args);
  va_end (args);
  return lpt_onnx_add_list (on, op, n_out < 0 ? 1 : (guint) n_out, n_in, in);
}

LptNode *
lpt_onnx_add_outs (LptOnnxNode *on,
                   LptOp        op,
                   guint        n_out,
                   guint        n_in,
                   ...)
{
  LptValue *in[MAX_EMIT];
  va_list args;

  va_start (args, n_in);
  collect (in, n_in, args);
  va_end (args);
  return lpt_onnx_add_list (on, op, n_out, n_in, in);
}

LptValue *
lpt_onnx_done (LptOnnxNode *on,
               LptNode     *node)
{
  if (on->error != NULL || !lpt_node_infer (node, &on->error))
    return lpt_node_out (node);
  if (lpt_node_in (node, 0) != NULL && lpt_onnx_moves (node))
    lpt_node_hand_on_quant (node);
  return lpt_node_fold (lpt_onnx_graph (on), node);
}

LptValue *
lpt_onnx_emit (LptOnnxNode *on,
               LptOp        op,
               guint        n_in,
               ...)
{
  gint n_out = lpt_op_info (op)->n_out;
  LptValue *in[MAX_EMIT];
  va_list args;

  va_start (args, n_in);
  collect (in, n_in, args);
  va_end (args);
  return lpt_onnx_done (on, lpt_onnx_add_list (on, op, n_out < 0 ? 1 : (guint) n_out, n_in, in));
}

LptValue *
lpt_onnx_product (LptOnnxNode *on,
                  LptValue    *a,
                  LptValue    *b,
                  gboolean     transpose_b)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, a, b);

  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = transpose_b;
  return lpt_onnx_done (on, node);
}

LptValue *
lpt_onnx_tensor_value (LptOnnxNode *on,
                       LptTensor   *tensor)
{
  g_autofree char *name = g_strconcat (on->name, "/Constant", NULL);
  LptNode *node;

  if (tensor == NULL)
    {
      lpt_onnx_fail (on, LPT_ERROR_MEMORY, "a constant does not fit in memory");
      return lpt_onnx_scalar (on, LPT_DTYPE_F32, 0);
    }
  node = lpt_graph_add_const (lpt_onnx_graph (on), name, tensor);
  lpt_tensor_unref (tensor);
  return lpt_node_out (node);
}

LptValue *
lpt_onnx_scalar (LptOnnxNode *on,
                 LptDType     dtype,
                 double       value)
{
  if (lpt_dtype_bits (dtype) == 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "an input has no element type");
      dtype = LPT_DTYPE_F32;
    }
  return lpt_onnx_tensor_value (on, lpt_tensor_scalar (dtype, value));
}

LptValue *
lpt_onnx_like (LptOnnxNode *on,
               LptValue    *value,
               double       number)
{
  return lpt_onnx_scalar (on, value->dtype, number);
}

LptValue *
lpt_onnx_i64 (LptOnnxNode  *on,
              guint         n,
              const gint64 *values)
{
  return lpt_onnx_tensor_value (on, lpt_tensor_vector_i64 (n, values));
}

LptValue *
lpt_onnx_i64_list (LptOnnxNode   *on,
                   const LptInts *list)
{
  return lpt_onnx_i64 (on, list->n, list->v);
}

LptValue *
lpt_onnx_i64_scalar (LptOnnxNode *on,
                     gint64       value)
{
  return lpt_onnx_tensor_value (on, lpt_tensor_new_copy (LPT_DTYPE_I64, &LPT_SHAPE_SCALAR, &value, NULL));
}
