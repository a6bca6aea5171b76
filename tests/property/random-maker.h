/* random-maker.h - what random ops are made of
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "tests/property/random-graph.h"

typedef struct
{
  GRand     *rand;
  LptGraph  *graph;
  GPtrArray *values;     /* LptValue *: activations */
  const RandomSizes *sizes;
} Maker;

static inline gint
any (Maker *m, gint lo, gint hi)      /* both included */
{
  return g_rand_int_range (m->rand, lo, hi + 1);
}

static inline gboolean
chance (Maker *m, double p)
{
  return g_rand_double (m->rand) < p;
}

static inline LptNode *
add (Maker *m, LptOp op, guint opset, guint n_in, LptValue *const *in)
{
  return lpt_graph_add (m->graph, op, opset, NULL, n_in, in);
}

static inline LptValue *
done (LptNode *node)
{
  g_autoptr (GError) error = NULL;
  lpt_node_infer (node, &error);
  g_assert_no_error (error);
  return lpt_node_out (node);
}

static inline LptValue *
constant (Maker *m, gint rank, const gint64 *dims, const double *values)
{
  LptShape shape = lpt_shape_make (rank, dims);
  g_autoptr (LptTensor) tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL);
  return done (lpt_graph_add_const (m->graph, NULL, tensor));
}

static inline LptValue *
indices (Maker *m, guint n, const gint64 *values)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_vector_i64 (n, values);
  return done (lpt_graph_add_const (m->graph, NULL, tensor));
}

static inline LptValue *
fake_quantize (Maker *m, LptValue *x, gint channels, const double *low, const double *high, gint64 levels)
{
  gint64 dims[4] = { 1, 1, 1, 1 };
  dims[1] = channels;
  LptValue *lo = constant (m, x->shape.rank, dims, low), *hi = constant (m, x->shape.rank, dims, high);
  LptNode *node = add (m, LPT_OP_FAKE_QUANTIZE, 0, 5, (LptValue *[]) { x, lo, hi, lo, hi });
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = levels;
  return done (node);
}

/* Signed, unsigned and in between, per tensor or per channel. */
static inline LptValue *
quantize (Maker *m, LptValue *x)
{
  gint n = chance (m, 0.15) ? (gint) x->shape.dims[1] : 1, kind = any (m, 0, 3);
  g_autofree double *low = g_new (double, n), *high = g_new (double, n);
  for (gint i = 0; i < n; i++)
    {
      double width = exp (g_rand_double_range (m->rand, -1.0, 2.5));
      low[i] = kind == 0 ? 0.0 : kind == 1 ? -width * 128 / 127 : -width * g_rand_double_range (m->rand, 0.05, 0.95);
      high[i] = kind == 0 || kind == 1 ? width : width + low[i];
    }
  return fake_quantize (m, x, n, low, high, m->sizes->more && chance (m, 0.15) ? chance (m, 0.5) ? 255 : 16 : 256);
}

/* --- random-graph.c, random-more.c --- */

LptValue *random_any_weights (Maker *m, gint rank, const gint64 *dims);
/* By a constant (one number or one per channel), or by another value of that shape. */
LptValue *random_binary (Maker *m, LptOp op, LptValue *x);
/* Over the image, or its columns. */
LptValue *random_reduce (Maker *m, LptValue *x, LptOp op);
LptValue *random_another (Maker *m, LptValue *x);
