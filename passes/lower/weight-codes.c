/* weight-codes.c - constant weights of a product that are codes of a few bits with scales
 *
 *     Const (codes) -> [Reshape] -> [Reinterpret] -> Dequantize -> [Multiply (scales), Add or Subtract (numbers)]
 *     Const (codes) -> Convert -> [Subtract (zero points)] -> Multiply (scales)
 *
 * and behind these Convert, Reshape and a Transpose of the matrix. Codes of 2 bits become ones of 4; twice a number of
 * f4e2m1 is a whole one, 12 at most: codes of 8 bits with half the scale. Scales and zero points are constants, or
 * computed from such, and broadcast to the codes in any way: where along a row they change is found by looking.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/lpt-memory.h"
#include "ir/scalar/lpt-loop.h"
#include "passes/support/lpt-code-numbers.h"
#include "passes/lower/weight-codes.h"

/* Steps of a chain. */
#define MAX_STEPS 16

/* Rows that are turned at once. */
#define TILE 64

void
lpt_weight_codes_clear (LptWeightCodes *w)
{
  g_clear_pointer (&w->codes, lpt_tensor_unref);
  g_clear_pointer (&w->scale, lpt_tensor_unref);
  g_clear_pointer (&w->zero, lpt_tensor_unref);
}

/* --- the chain --- */

typedef struct
{
  LptTensor *codes;
  LptCodeNumbers    scale, zero;      /* zero.v: NULL = 0 */
  gboolean   swapped;          /* by a Transpose */
} Chain;

static void
chain_clear (Chain *c)
{
  g_clear_pointer (&c->codes, lpt_tensor_unref);
  g_free (c->scale.v);
  g_free (c->zero.v);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Chain, chain_clear)

static gboolean
is_codes (LptTensor *tensor)
{
  const LptDType dtype = tensor != NULL ? lpt_tensor_dtype (tensor) : LPT_DTYPE_UNDEFINED;

  return dtype != LPT_DTYPE_UNDEFINED && lpt_dtype_holds_codes (dtype);
}

/* @tensor as codes of 4 or 8 bits, each @unit of what it stands for (transfer full); NULL: no memory. */
static LptTensor *
codes_of (LptTensor *tensor,
          float     *unit)
{
  const LptDType dtype = lpt_tensor_dtype (tensor);
  g_autofree double *twice = NULL;

  *unit = 1;
  if (lpt_dtype_is_integer (dtype))
    return lpt_dtype_bits (dtype) >= 4 ? lpt_tensor_ref (tensor)
           : lpt_tensor_convert (tensor, lpt_dtype_min (dtype) < 0 ? LPT_DTYPE_I4 : LPT_DTYPE_U4, NULL);
  *unit = 0.5f;
  twice = lpt_tensor_to_f64 (tensor, NULL);
  for (gint64 i = 0; twice != NULL && i < lpt_tensor_count (tensor); i++)
    twice[i] *= 2;
  return twice != NULL ? lpt_tensor_from_f64 (LPT_DTYPE_I8, lpt_tensor_shape (tensor), twice, NULL) : NULL;
}

static gboolean
read_dequantize (LptNode *node,
                 Chain   *c)
{
  LptValue *q = lpt_node_in (node, 0);
  const LptQuant *quant = q->quant;
  LptNode *source = q->producer->op == LPT_OP_REINTERPRET ? lpt_node_src (q->producer, 0) : q->producer;
  gint axis = 0;
  float unit;

  while (source->op == LPT_OP_RESHAPE && lpt_node_in (source, 0)->quant == NULL)
    source = lpt_node_src (source, 0);
  if (quant == NULL || !is_codes (source->data) || !lpt_shape_is_static (&q->shape) ||
      (quant->n > 1 &&
       (!lpt_axis_normalize (quant->axis, q->shape.rank, &axis) || q->shape.dims[axis] != (gint64) quant->n)))
    return FALSE;
  c->codes = codes_of (source->data, &unit);
  if (c->codes == NULL || unit != 1)      /* floats have no quantization */
    return FALSE;
  c->scale.n = c->zero.n = quant->n;
  c->scale.run = c->zero.run = quant->n == 1 ? MAX (lpt_tensor_count (c->codes), 1)
                                             : MAX (lpt_dims_product (&q->shape, axis + 1, q->shape.rank), 1);
  c->scale.v = lpt_memory_try (quant->n, sizeof (float), NULL);
  c->zero.v = lpt_memory_try (quant->n, sizeof (float), NULL);
  for (guint i = 0; i < quant->n && c->scale.v != NULL && c->zero.v != NULL; i++)
    {
      c->scale.v[i] = (float) quant->scale[i];
      c->zero.v[i] = (float) quant->zero_point[i];
    }

  return c->scale.v != NULL && c->zero.v != NULL;
}

/* Dequantize, or the Convert that stands for it where a restriction keeps Dequantize from codes. */
static gboolean
is_dequantize (LptNode *node)
{
  return node->op == LPT_OP_DEQUANTIZE ||
         (node->op == LPT_OP_CONVERT && lpt_node_in (node, 0)->quant != NULL && lpt_dtype_is_real (node->out[0].dtype));
}

/* s (q - z) f = (s f) (q - z), s (q - z) + f = s (q - (z - f / s)). */
static gboolean
take_numbers (Chain   *c,
              LptCodeNumbers *factors,
              LptOp    op)
{
  const gint64 run = lpt_code_numbers_run (&c->scale, factors), n = lpt_code_numbers_period (&c->scale, factors) / run;

  if (!lpt_code_numbers_refine (&c->scale, n, run) || !lpt_code_numbers_refine (&c->zero, n, run) ||
      !lpt_code_numbers_refine (factors, n, run))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    if (op == LPT_OP_MULTIPLY)
      c->scale.v[i] *= factors->v[i];
    else if (c->scale.v[i] != 0)
      c->zero.v[i] += (op == LPT_OP_ADD ? -factors->v[i] : factors->v[i]) / c->scale.v[i];
    else
      return FALSE;

  return TRUE;
}

static gboolean
may_be_affine (LptNode *node)
{
  return (node->info->flags & LPT_OP_F_AFFINE) != 0 && node->op != LPT_OP_DIVIDE;
}

/* Behind what changes the type of real numbers alone: lowering puts that around f16. */
static LptNode *
converted (LptNode *node)
{
  while (node->op == LPT_OP_CONVERT && lpt_dtype_is_real (lpt_node_in (node, 0)->dtype) &&
         !is_codes (lpt_node_const_in (node, 0)))
    node = lpt_node_src (node, 0);

  return node;
}

/* Dequantize (codes) behind Multiply, Add and Subtract of constants */
static gboolean
read_affine (LptNode *node,
             Chain   *c,
             guint    depth)
{
  LptNode *first = node->n_in > 0 ? converted (lpt_node_src (node, 0)) : node;
  const guint side = depth > 0 && may_be_affine (node) && node->op != LPT_OP_SUBTRACT && !is_dequantize (first) &&
                             !may_be_affine (first)
                         ? 1
                         : 0;
  const LptShape *shape = &node->out[0].shape;
  LptCodeNumbers factors = { 0 };
  gboolean ok;

  if (is_dequantize (node))
    return read_dequantize (node, c);
  if (depth == 0 || !may_be_affine (node) || !lpt_shape_equal (shape, &lpt_node_in (node, side)->shape) ||
      !read_affine (converted (lpt_node_src (node, side)), c, depth - 1))
    return FALSE;
  ok = lpt_code_numbers_of (lpt_node_in (node, 1 - side), shape, &factors) && take_numbers (c, &factors, node->op);
  g_free (factors.v);

  return ok;
}

/* Multiply (Subtract (Convert (codes), zero points), scales) */
static gboolean
read_product (LptNode *node,
              Chain   *c)
{
  for (guint side = 0; side < 2; side++)
    {
      LptNode *inner = converted (lpt_node_src (node, side)), *difference = NULL;
      const LptShape *shape;
      float unit;

      if (inner->op == LPT_OP_SUBTRACT)
        {
          difference = inner;
          inner = converted (lpt_node_src (inner, 0));
        }
      if (inner->op != LPT_OP_CONVERT || !is_codes (lpt_node_const_in (inner, 0)) ||
          lpt_node_in (inner, 0)->quant != NULL)
        continue;
      c->codes = codes_of (lpt_node_const_in (inner, 0), &unit);
      if (c->codes == NULL)
        return FALSE;
      shape = lpt_tensor_shape (c->codes);
      if (!lpt_code_numbers_of (lpt_node_in (node, 1 - side), shape, &c->scale) ||
          (difference != NULL && !lpt_code_numbers_of (lpt_node_in (difference, 1), shape, &c->zero)))
        return FALSE;
      for (gint64 i = 0; i < c->scale.n; i++)
        c->scale.v[i] *= unit;
      for (gint64 i = 0; c->zero.v != NULL && i < c->zero.n; i++)
        c->zero.v[i] /= unit;
      return TRUE;
    }

  return FALSE;
}

static gboolean
read_chain (LptValue *value,
            Chain    *c)
{
  for (guint steps = 0; steps < MAX_STEPS; steps++)
    {
      LptNode *node = value->producer;
      LptValue *x = node->n_in > 0 ? lpt_node_in (node, 0) : NULL;

      if (node->op == LPT_OP_MULTIPLY && read_product (node, c))
        return TRUE;
      if (c->codes != NULL)
        return FALSE;
      if (is_dequantize (node) || may_be_affine (node))
        return read_affine (node, c, MAX_STEPS);
      if (x == NULL || !lpt_shape_is_static (&x->shape) ||
          (node->op == LPT_OP_TRANSPOSE
               ? value->shape.rank != 2 || x->shape.rank != 2 || c->swapped
               : node->op != LPT_OP_RESHAPE && (node->op != LPT_OP_CONVERT || !lpt_dtype_is_real (x->dtype))))
        return FALSE;
      /* A Transpose of the matrix comes last: in front of it the order of the codes is that of their constant. */
      if (node->op == LPT_OP_TRANSPOSE)
        {
          LptInts order = { 0 };
          const gboolean swaps = lpt_node_ints_in (node, 1, &order) && order.n == 2 && order.v[0] == 1;

          lpt_ints_clear (&order);
          if (!swaps || steps > 0)
            return FALSE;
          c->swapped = TRUE;
        }
      value = x;
    }

  return FALSE;
}

/* --- the matrix --- */

/* Its codes as [n, k]; the weight (i, j) is code i * n_stride + j * k_stride. */
static LptTensor *
arrange (LptTensor *codes,
         gint64     n,
         gint64     k,
         gboolean   by_rows)
{
  const LptDType dtype = lpt_tensor_dtype (codes);
  const LptShape shape = lpt_shape_make (2, (const gint64[]) { n, k });
  const guint bits = lpt_dtype_bits (dtype);
  g_autoptr (LptTensor) bytes = NULL;
  const guint8 *from;
  LptTensor *to;
  guint8 *out;

  if (by_rows)
    return lpt_tensor_reshape (codes, &shape, NULL);
  bytes = lpt_tensor_convert (codes, lpt_dtype_min (dtype) < 0 ? LPT_DTYPE_I8 : LPT_DTYPE_U8, NULL);
  to = bytes != NULL ? lpt_tensor_new (dtype, &shape, NULL) : NULL;
  if (to == NULL)
    return NULL;
  from = lpt_tensor_data (bytes);
  out = lpt_tensor_writable (to);
  /* By tiles: lines of what is read across are in the cache still when their next byte is. */
  for (gint64 first = 0; first < k; first += TILE)
    for (gint64 i = 0; i < n; i++)
      for (gint64 j = first; j < MIN (first + TILE, k); j++)
        if (bits == 8)
          out[i * k + j] = from[j * n + i];
        else
          out[(i * k + j) / 2] |= (guint8) ((from[j * n + i] & 15) << ((i * k + j) % 2 * 4));

  return to;
}

/* Do @n codes from @a on, every @stride, have other numbers than those from @b on? */
static gboolean
differ (const Chain *c,
        gint64       n,
        gint64       stride,
        gint64       a,
        gint64       b)
{
  return lpt_code_numbers_differ (&c->scale, n, stride, a, b) ||
         (c->zero.v != NULL && lpt_code_numbers_differ (&c->zero, n, stride, a, b));
}

/* After how many weights of a row the numbers change, at multiples of which alone; 0 = never. */
static gint64
find_block (const Chain *c,
            gint64       n,
            gint64       k,
            gboolean     by_rows)
{
  const gint64 run = lpt_code_numbers_run (&c->scale, &c->zero), period = lpt_code_numbers_period (&c->scale, &c->zero),
               stride = by_rows ? 1 : n, step = by_rows ? lpt_common_divisor (run, k) : 1,
               rows = by_rows ? MIN (period / lpt_common_divisor (period, k), n) : n;
  gint64 block = 0;

  if (!by_rows && n % period == 0)
    return 0;
  for (gint64 j = step; j < k && block != 1; j += step)
    if ((block == 0 || j % block != 0) && differ (c, rows, by_rows ? k : 1, j * stride, (j - 1) * stride))
      block = lpt_common_divisor (j, block);

  return block;
}

static LptTensor *
numbers (const LptCodeNumbers *all,
         gint64         n,
         gint64         blocks,
         gint64         n_stride,
         gint64         step)
{
  const LptShape shape = lpt_shape_make (2, (const gint64[]) { n, blocks });
  LptTensor *tensor = lpt_tensor_new (LPT_DTYPE_F32, &shape, NULL);

  for (gint64 i = 0; i < n && tensor != NULL; i++)
    for (gint64 b = 0; b < blocks; b++)
      ((float *) lpt_tensor_writable (tensor))[i * blocks + b] = lpt_code_numbers_at (all, i * n_stride + b * step);

  return tensor;
}

gboolean
lpt_weight_codes_read (LptValue       *value,
                       gboolean        rows,
                       LptWeightCodes *w)
{
  g_auto (Chain) c = { 0 };
  const LptShape *shape = &value->shape;
  gint64 n_stride, k_stride, blocks, count;
  gboolean by_rows;
  float mid;

  if (shape->rank != 2 || !lpt_shape_is_static (shape) || !read_chain (value, &c))
    return FALSE;
  w->n = shape->dims[rows ? 0 : 1];
  w->k = shape->dims[rows ? 1 : 0];
  count = w->n * w->k;
  if (count < 1 || lpt_tensor_count (c.codes) != count)
    return FALSE;
  by_rows = rows != c.swapped;
  n_stride = by_rows ? w->k : 1;
  k_stride = by_rows ? 1 : w->n;
  w->block = find_block (&c, w->n, w->k, by_rows);
  blocks = w->block > 0 ? (w->k + w->block - 1) / w->block : 1;
  mid = lpt_dtype_min (lpt_tensor_dtype (c.codes)) < 0
            ? 0
            : (float) (1 << (lpt_dtype_bits (lpt_tensor_dtype (c.codes)) - 1));
  w->codes = arrange (c.codes, w->n, w->k, by_rows);
  w->scale = numbers (&c.scale, w->n, blocks, n_stride, w->block * k_stride);
  if (c.zero.v == NULL && mid != 0)
    c.zero = (LptCodeNumbers) { g_new0 (float, 1), 1, count };
  w->zero = lpt_code_numbers_are (&c.zero, mid) ? NULL : numbers (&c.zero, w->n, blocks, n_stride, w->block * k_stride);

  return w->codes != NULL && w->scale != NULL && (w->zero != NULL || lpt_code_numbers_are (&c.zero, mid));
}

static LptTensor *
split (LptTensor *tensor,
       gint64     k,
       gint64     longer,
       gint64     block)
{
  const gint64 n = lpt_tensor_shape (tensor)->dims[0], old = lpt_tensor_shape (tensor)->dims[1],
               blocks = (k + block - 1) / block;
  const LptShape shape = lpt_shape_make (2, (const gint64[]) { n, blocks });
  LptTensor *parts = lpt_tensor_new (LPT_DTYPE_F32, &shape, NULL);

  for (gint64 i = 0; i < n * blocks && parts != NULL; i++)
    ((float *) lpt_tensor_writable (parts))[i] = ((const float *)
                                                      lpt_tensor_data (tensor))[i / blocks * old +
                                                                                i % blocks * block / longer];
  lpt_tensor_unref (tensor);

  return parts;
}

void
lpt_weight_codes_split (LptWeightCodes *w,
                        gint64          block)
{
  w->scale = split (w->scale, w->k, w->block, block);
  if (w->zero != NULL)
    w->zero = split (w->zero, w->k, w->block, block);
  w->block = block;
}

gboolean
lpt_weight_codes_round (LptValue       *value,
                        gboolean        rows,
                        LptWeightCodes *w)
{
  const LptShape *shape = &value->shape;
  LptShape codes, scale;
  g_autoptr (LptTensor) real = NULL;
  const float *x;
  gint64 n_stride, k_stride;

  if (shape->rank != 2 || !lpt_shape_is_static (shape) || value->producer->data == NULL || value->quant != NULL ||
      !lpt_dtype_is_real (value->dtype))
    return FALSE;
  w->n = shape->dims[rows ? 0 : 1];
  w->k = shape->dims[rows ? 1 : 0];
  n_stride = rows ? w->k : 1;
  k_stride = rows ? 1 : w->n;
  codes = lpt_shape_make (2, (const gint64[]) { w->n, w->k });
  scale = lpt_shape_make (2, (const gint64[]) { w->n, 1 });
  real = lpt_tensor_convert (value->producer->data, LPT_DTYPE_F32, NULL);
  w->codes = lpt_tensor_new (LPT_DTYPE_I8, &codes, NULL);
  w->scale = lpt_tensor_new (LPT_DTYPE_F32, &scale, NULL);
  if (real == NULL || w->codes == NULL || w->scale == NULL)
    return FALSE;
  x = lpt_tensor_data (real);
  for (gint64 i = 0; i < w->n; i++)
    {
      float most = 0, step;

      for (gint64 j = 0; j < w->k; j++)
        {
          const float size = fabsf (x[i * n_stride + j * k_stride]);

          if (!isfinite (size))
            return FALSE;
          most = MAX (most, size);
        }
      step = most > 0 ? most / 127.0f : 1.0f;
      ((float *) lpt_tensor_writable (w->scale))[i] = step;
      for (gint64 j = 0; j < w->k; j++)
        ((gint8 *) lpt_tensor_writable (w->codes))[i * w->k + j] = (gint8)
            CLAMP (rintf (x[i * n_stride + j * k_stride] / step), -127.0f, 127.0f);
    }

  return TRUE;
}

/* The channel of each weight of @shape. */
static gint64
channel_of (const LptShape *shape,
            gint64          at,
            gint            first,
            gint            second)
{
  gint64 place[2] = { 0, 0 };

  for (gint axis = shape->rank - 1; axis >= 0; at /= shape->dims[axis--])
    if (axis == first || axis == second)
      place[axis == second] = at % shape->dims[axis];

  return second >= 0 ? place[0] * shape->dims[second] + place[1] : place[0];
}

gboolean
lpt_weight_codes_window (LptValue       *value,
                         gint            first,
                         gint            second,
                         LptWeightCodes *w)
{
  g_auto (Chain) c = { 0 };
  const LptShape *shape = &value->shape;
  LptShape one;
  float *scale, *zero;
  gint64 run;

  if (!lpt_shape_is_static (shape) || first >= shape->rank || second >= shape->rank || !read_chain (value, &c) ||
      c.swapped || lpt_tensor_count (c.codes) != lpt_dims_product (shape, 0, shape->rank) ||
      lpt_tensor_count (c.codes) < 1)
    return FALSE;
  w->n = shape->dims[first] * (second >= 0 ? shape->dims[second] : 1);
  w->k = lpt_tensor_count (c.codes) / w->n;
  one = lpt_shape_make (2, (const gint64[]) { w->n, 1 });
  w->codes = lpt_tensor_reshape (c.codes, shape, NULL);
  w->scale = lpt_tensor_new (LPT_DTYPE_F32, &one, NULL);
  w->zero = lpt_tensor_new (LPT_DTYPE_F32, &one, NULL);
  if (w->codes == NULL || w->scale == NULL || w->zero == NULL)
    return FALSE;
  scale = lpt_tensor_writable (w->scale);
  zero = lpt_tensor_writable (w->zero);
  /* Weights in a row that have one channel, one scale and one zero point. */
  run = lpt_common_divisor (lpt_code_numbers_run (&c.scale, &c.zero),
                            lpt_dims_product (shape, MAX (first, second) + 1, shape->rank));
  for (gint pass = 0; pass < 2; pass++)
    for (gint64 i = 0; i < lpt_tensor_count (w->codes); i += run)
      {
        const gint64 channel = channel_of (shape, i, first, second);
        const float s = lpt_code_numbers_at (&c.scale, i), z = c.zero.v != NULL ? lpt_code_numbers_at (&c.zero, i) : 0;

        if (pass == 0)
          {
            scale[channel] = s;
            zero[channel] = z;
          }
        else if (scale[channel] != s || zero[channel] != z)
          return FALSE;
      }

  return TRUE;
}
