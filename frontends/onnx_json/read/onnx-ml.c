/* onnx-ml.c - what the mappings of ai.onnx.ml share
 *
 * The functions behind scores (post_transform), of a row s of C scores, as ONNX Runtime computes them:
 *
 *     LOGISTIC       1 / (1 + e^-s)
 *     SOFTMAX        e^(s - max s) / sum e^(s - max s)
 *     SOFTMAX_ZERO   the same over scores that are not 0 (to 1e-7); those are s e^(-max s) over that sum
 *     PROBIT         sqrt 2 erfinv (2 s - 1), erfinv z by Winitzki's formula: with l = ln (1 - z^2),
 *                    v = 2 / (pi a) + l / 2, a = 0.147: sign (z) sqrt (sqrt (v^2 - l / a) - v), 2e-3 off at most
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-ml.h"

#include "frontends/onnx_json/read/onnx-scope.h"

#include <string.h>

/* --- attributes ------------------------------------------------------------------------- */

LptTensor *
lpt_onnx_ml_tensor (LptOnnxNode *on,
                    const char  *name)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);

  if (attr == NULL || on->error != NULL)
    return NULL;
  if (attr->t == NULL)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" has no tensor", name);
      return NULL;
    }
  return lpt_onnx_file_tensor (on->import->file, attr->t, &on->error);
}

float *
lpt_onnx_ml_floats (LptOnnxNode *on,
                    const char  *name,
                    gsize       *n)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  g_autofree char *tensor_name = g_strconcat (name, "_as_tensor", NULL);
  g_autoptr (LptTensor) tensor = lpt_onnx_ml_tensor (on, tensor_name);
  float *values = NULL;

  *n = 0;
  if (on->error != NULL)
    return NULL;
  if (attr != NULL && attr->n_floats > 0)
    {
      values = lpt_onnx_memory (on, attr->n_floats, sizeof *values);
      if (values != NULL)
        memcpy (values, attr->floats, attr->n_floats * sizeof *values);
      *n = attr->n_floats;
    }
  else if (tensor != NULL && !lpt_dtype_is_real (lpt_tensor_dtype (tensor)))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" has elements of type %s", tensor_name,
                   lpt_dtype_name (lpt_tensor_dtype (tensor)));
  else if (tensor != NULL)
    {
      values = lpt_tensor_to_f32 (tensor, &on->error);
      *n = (gsize) lpt_tensor_count (tensor);
    }
  if (values == NULL)
    *n = 0;

  return values;
}

const gint64 *
lpt_onnx_ml_ints (LptOnnxNode *on,
                  const char  *name,
                  gsize       *n)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

  *n = attr != NULL ? attr->n_ints : 0;
  return *n > 0 ? attr->ints : NULL;
}

LptTensor *
lpt_onnx_ml_strings (LptOnnxNode *on,
                     const char  *name)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
  LptShape shape = { .rank = 1, .dims = { attr != NULL ? (gint64) attr->n_strings : 0 } };
  g_autofree const char **strings = NULL;
  g_autofree gsize *lengths = NULL;

  if (attr == NULL || attr->n_strings == 0 || on->error != NULL)
    return NULL;
  strings = lpt_onnx_memory (on, attr->n_strings, sizeof *strings);
  lengths = lpt_onnx_memory (on, attr->n_strings, sizeof *lengths);
  for (gsize i = 0; lengths != NULL && i < attr->n_strings; i++)
    {
      strings[i] = (const char *) attr->strings[i].data;
      lengths[i] = attr->strings[i].len;
    }
  return lengths != NULL ? lpt_tensor_new_strings (&shape, strings, lengths, &on->error) : NULL;
}

LptValue *
lpt_onnx_ml_vector (LptOnnxNode *on,
                    gsize        n,
                    const float *values)
{
  const LptShape shape = { .rank = 1, .dims = { (gint64) n } };

  return lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (&shape, values, NULL));
}

/* --- steps -------------------------------------------------------------------------------- */

LptValue *
lpt_onnx_ml_rows (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_with_rank (on, lpt_onnx_in (on, 0), 2);

  if (!lpt_dtype_is_real (x->dtype) && !lpt_dtype_is_integer (x->dtype))
    lpt_onnx_unsupported (on, "input of type %s", lpt_dtype_name (x->dtype));
  if (x->shape.rank != 1 && x->shape.rank != 2)
    lpt_onnx_unsupported (on, "input of rank %d", x->shape.rank);
  return x->shape.rank == 1 ? lpt_onnx_unsqueeze (on, x, 0) : x;
}

LptValue *
lpt_onnx_ml_with (LptOnnxNode *on,
                  LptOp        op,
                  LptValue    *x,
                  double       number)
{
  return lpt_onnx_emit (on, op, 2, x, lpt_onnx_like (on, x, number));
}

LptValue *
lpt_onnx_ml_column (LptOnnxNode *on,
                    LptValue    *scores,
                    gint64       i)
{
  return lpt_onnx_slice (on, scores, 1, i, i + 1);
}

/* --- functions behind scores ---------------------------------------------------------------- */

LptOnnxPost
lpt_onnx_ml_post (LptOnnxNode *on)
{
  static const LptOnnxChoice choices[] = {
    { "NONE", LPT_ONNX_POST_NONE }, { "SOFTMAX", LPT_ONNX_POST_SOFTMAX }, { "LOGISTIC", LPT_ONNX_POST_LOGISTIC },
    { "SOFTMAX_ZERO", LPT_ONNX_POST_SOFTMAX_ZERO }, { "PROBIT", LPT_ONNX_POST_PROBIT },
  };

  return (LptOnnxPost) lpt_onnx_choose (on, "post_transform", "NONE", choices, G_N_ELEMENTS (choices));
}

static LptValue *
probit (LptOnnxNode *on,
        LptValue    *s)
{
  const double a = 0.147;
  LptValue *z = lpt_onnx_ml_with (on, LPT_OP_SUBTRACT, lpt_onnx_ml_with (on, LPT_OP_MULTIPLY, s, 2), 1);
  LptValue *one = lpt_onnx_like (on, s, 1);
  LptValue *l = lpt_onnx_emit (on, LPT_OP_LOG, 1,
                               lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, one, z),
                                              lpt_onnx_emit (on, LPT_OP_ADD, 2, one, z)));
  LptValue *v = lpt_onnx_ml_with (on, LPT_OP_ADD, lpt_onnx_ml_with (on, LPT_OP_MULTIPLY, l, 0.5), 2 / (3.14159 * a));
  LptValue *square = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, v, v),
                                    lpt_onnx_ml_with (on, LPT_OP_MULTIPLY, l, 1 / a));
  LptValue *root = lpt_onnx_emit (on, LPT_OP_SQRT, 1,
                                  lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2,
                                                 lpt_onnx_emit (on, LPT_OP_SQRT, 1, square), v));
  LptValue *negative = lpt_onnx_emit (on, LPT_OP_LESS, 2, z, lpt_onnx_like (on, z, 0));
  LptValue *sign = lpt_onnx_emit (on, LPT_OP_SELECT, 3, negative, lpt_onnx_like (on, z, -1), one);

  return lpt_onnx_ml_with (on, LPT_OP_MULTIPLY, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, sign, root), 1.41421356);
}

static LptValue *
softmax_zero (LptOnnxNode *on,
              LptValue    *s)
{
  const gint64 last = 1;
  LptValue *axis = lpt_onnx_i64 (on, 1, &last), *zero = lpt_onnx_like (on, s, 0);
  LptValue *most = lpt_onnx_reduce (on, LPT_OP_REDUCE_MAX, s, axis, TRUE);
  LptValue *counts = lpt_onnx_emit (on, LPT_OP_GREATER, 2, lpt_onnx_emit (on, LPT_OP_ABS, 1, s),
                                    lpt_onnx_like (on, s, 1e-7));
  LptValue *e = lpt_onnx_emit (on, LPT_OP_EXP, 1, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, s, most));
  LptValue *small = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, s,
                                   lpt_onnx_emit (on, LPT_OP_EXP, 1, lpt_onnx_emit (on, LPT_OP_NEGATIVE, 1, most)));
  LptValue *sum = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, lpt_onnx_emit (on, LPT_OP_SELECT, 3, counts, e, zero), axis,
                                   TRUE);

  return lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_emit (on, LPT_OP_SELECT, 3, counts, e, small), sum);
}

LptValue *
lpt_onnx_ml_transform (LptOnnxNode *on,
                       LptValue    *scores,
                       LptOnnxPost  post)
{
  LptNode *node;

  switch (post)
    {
    case LPT_ONNX_POST_SOFTMAX:
      node = lpt_onnx_add (on, LPT_OP_SOFTMAX, 1, scores);
      LPT_ATTRS (node, LptSoftMaxAttrs)->axis = 1;
      return lpt_onnx_done (on, node);
    case LPT_ONNX_POST_LOGISTIC:
      return lpt_onnx_emit (on, LPT_OP_SIGMOID, 1, scores);
    case LPT_ONNX_POST_SOFTMAX_ZERO:
      return softmax_zero (on, scores);
    case LPT_ONNX_POST_PROBIT:
      return probit (on, scores);
    case LPT_ONNX_POST_NONE:
    default:
      return scores;
    }
}

/* --- labels ---------------------------------------------------------------------------------- */

LptTensor *
lpt_onnx_ml_labels (LptOnnxNode *on,
                    const char  *integers)
{
  gsize n;
  const gint64 *values = lpt_onnx_ml_ints (on, integers, &n);
  LptTensor *strings = lpt_onnx_ml_strings (on, "classlabels_strings");

  if (values != NULL && strings != NULL)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "labels that are integers and labels that are strings");
      g_clear_pointer (&strings, lpt_tensor_unref);
    }
  if (values == NULL || on->error != NULL)
    return strings;
  if (n > G_MAXINT32)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " labels", n);
      return NULL;
    }
  return lpt_tensor_vector_i64 ((guint) n, values);
}

static LptValue *
pick (LptOnnxNode *on,
      LptTensor   *labels,
      LptValue    *index)
{
  return lpt_onnx_emit (on, LPT_OP_GATHER, 3, lpt_onnx_tensor_value (on, lpt_tensor_ref (labels)), index,
                        lpt_onnx_i64_scalar (on, 0));
}

LptValue *
lpt_onnx_ml_best (LptOnnxNode *on,
                  LptValue    *scores,
                  LptTensor   *labels)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_ARG_MAX, 1, scores);

  LPT_ATTRS (node, LptArgReduceAttrs)->axis = 1;
  LPT_ATTRS (node, LptArgReduceAttrs)->keep_dims = FALSE;
  return pick (on, labels, lpt_onnx_done (on, node));
}

LptValue *
lpt_onnx_ml_either (LptOnnxNode *on,
                    LptValue    *positive,
                    double       bound,
                    LptTensor   *labels)
{
  LptValue *above = lpt_onnx_ml_with (on, LPT_OP_GREATER, lpt_onnx_squeeze (on, positive, 1), bound);

  return pick (on, labels, lpt_onnx_convert (on, above, LPT_DTYPE_I64));
}
