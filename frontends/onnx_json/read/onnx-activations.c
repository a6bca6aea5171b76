/* onnx-activations.c - functions of ONNX's recurrent operators
 *
 *     Affine           alpha x + beta
 *     LeakyRelu        x where x >= 0, else alpha x
 *     ThresholdedRelu  x where x > alpha, else 0
 *     ScaledTanh       alpha tanh (beta x)
 *     HardSigmoid      alpha x + beta within [0, 1]
 *     Elu              x where x > 0, else alpha (e^x - 1)
 *
 * activation_alpha and activation_beta list numbers of those functions only that have them, in the order of the
 * functions; functions behind the end of a list have the numbers of onnx-activations.def.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-lstm.h"

#include <string.h>

/* --- what they are ----------------------------------------------------------------- */

static LptValue *
plain (LptOnnxNode             *on,
       const LptOnnxActivation *function,
       LptValue                *x)
{
  return lpt_onnx_emit (on, function->op, 1, x);
}

static LptValue *
one_number (LptOnnxNode             *on,
            const LptOnnxActivation *function,
            LptValue                *x)
{
  return lpt_onnx_emit (on, function->op, 2, x, lpt_onnx_like (on, x, function->alpha));
}

static LptValue *
two_numbers (LptOnnxNode             *on,
             const LptOnnxActivation *function,
             LptValue                *x)
{
  return lpt_onnx_emit (on, function->op, 3, x, lpt_onnx_like (on, x, function->alpha),
                        lpt_onnx_like (on, x, function->beta));
}

static LptValue *
elu (LptOnnxNode             *on,
     const LptOnnxActivation *function,
     LptValue                *x)
{
  LptNode *node = lpt_onnx_add (on, function->op, 1, x);

  LPT_ATTRS (node, LptEluAttrs)->alpha = function->alpha;
  return lpt_onnx_done (on, node);
}

static LptValue *
affine (LptOnnxNode             *on,
        const LptOnnxActivation *function,
        LptValue                *x)
{
  x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_like (on, x, function->alpha));
  return lpt_onnx_emit (on, function->op, 2, x, lpt_onnx_like (on, x, function->beta));
}

static LptValue *
thresholded (LptOnnxNode             *on,
             const LptOnnxActivation *function,
             LptValue                *x)
{
  LptValue *above = lpt_onnx_emit (on, function->op, 2, x, lpt_onnx_like (on, x, function->alpha));

  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, above, x, lpt_onnx_like (on, x, 0));
}

static LptValue *
scaled (LptOnnxNode             *on,
        const LptOnnxActivation *function,
        LptValue                *x)
{
  x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_like (on, x, function->beta));
  x = lpt_onnx_emit (on, function->op, 1, x);
  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_like (on, x, function->alpha));
}

static const LptOnnxActivation known[] = {
#define ONNX_ACTIVATION(name, build, op, numbers, alpha, beta) { name, build, LPT_OP_##op, numbers, alpha, beta },
#include "frontends/onnx_json/onnx-activations.def"
};

/* --- which of them a node has ------------------------------------------------------- */

static const char *const lists[2] = { "activation_alpha", "activation_beta" };

static const Onnx__AttributeProto *
numbers_of (LptOnnxNode *on,
            guint        which)
{
  return lpt_onnx_attr (on, lists[which], ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
}

gboolean
lpt_onnx_activation_numbers (LptOnnxNode *on)
{
  const Onnx__AttributeProto *alpha = numbers_of (on, 0), *beta = numbers_of (on, 1);

  return (alpha != NULL && alpha->n_floats > 0) || (beta != NULL && beta->n_floats > 0);
}

static const LptOnnxActivation *
called (const char *text,
        gsize       length)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strlen (known[i].name) == length && g_ascii_strncasecmp (known[i].name, text, length) == 0)
      return &known[i];
  return NULL;
}

/* Function @i of a node that names them. */
static const LptOnnxActivation *
find (LptOnnxNode               *on,
      const ProtobufCBinaryData *text)
{
  const char *name = text->len > 0 ? (const char *) text->data : "";
  const LptOnnxActivation *function = called (name, text->len);

  if (function == NULL)
    lpt_onnx_unsupported (on, "activation \"%.*s\"", (int) MIN (text->len, 64), name);
  return function;
}

gboolean
lpt_onnx_activations (LptOnnxNode       *on,
                      guint              n,
                      guint              directions,
                      LptOnnxActivation *list)
{
  const Onnx__AttributeProto *names = lpt_onnx_attr (on, "activations", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
  const Onnx__AttributeProto *alpha = numbers_of (on, 0), *beta = numbers_of (on, 1);
  gsize given = names != NULL ? names->n_strings : 0, a = 0, b = 0;

  if (given != 0 && given != n && given != (gsize) n * directions)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " activations, not %u", given, n * directions);
  for (guint i = 0; i < n * directions && on->error == NULL; i++)
    {
      const char *own = n > 1 && i % n == 0 ? "Sigmoid" : "Tanh";
      const LptOnnxActivation *function = given == 0 ? called (own, strlen (own))
                                          : i < given ? find (on, &names->strings[i]) : &list[i - n];

      if (function == NULL)
        break;
      list[i] = *function;
      if (i >= given)
        continue;
      if (function->numbers > 0 && alpha != NULL && a < alpha->n_floats)
        list[i].alpha = alpha->floats[a++];
      if (function->numbers > 1 && beta != NULL && b < beta->n_floats)
        list[i].beta = beta->floats[b++];
    }
  return given != 0;
}
