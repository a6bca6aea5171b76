/* onnx-map-pulp.c - integer networks of PULP's tools: requantization by a product and a shift, integer functions
 *
 * The values are whole numbers in tensors of any type. Each operator is a function of them; n = n_levels, and divisions
 * go down where nothing else is said:
 *
 *   RequantShift    y = clamp ((x mul + add + div / 2) / div, lo, hi): [0, n - 1], or [-n / 2, n / 2 - 1] with signed
 *   iNoNorm         y = clamp ((x w + b) mul / D, -n / 2, n / 2 - 1)
 *   IntegerMean     y = (sum + count / 2) / count
 *   TrueIntegerDiv  y = Delta eta x / (eta y + eps)
 *   IntegerDiv      y = Delta eta a / (eta b + eps) to the nearest, halves away from zero
 *   iHardswish      y = x one_over_six clamp (x + three, 0, six)
 *   iGELU           y = x ((one + sign (x) (one - d^2)) / 2), d = min (|x|, -b) + b
 *
 * RequantShift of reals: add = t mul + r, and g divides mul, add and div. The sum is a multiple of g then, so
 *
 *   y = clamp (Floor ((x + t) mul / div + (r + div / 2 + g / 2) / div))
 *     = clamp (Round ((x + t) mul / div + (r + g / 2) / div)),
 *
 * which has no exact halves. The products are exact in single precision as long as y is no bound and div at most 2^16.
 * The second form becomes a FakeQuantize, and where x are sums of codes a requantization of them: exact in mode
 * `single`, whose ties go up, as the term g / 2, too small for some steps, may get lost. Other x take the first form.
 *
 * The functions are computed in 64-bit integers; their results are exact as reals below 2^24. A function of one code
 * with a RequantShift behind it becomes a table.
 *
 * Factors, terms and attributes have to be constant and whole, div a power of two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-pulp.h"

#include "frontends/onnx_json/read/onnx-scope.h"

#include <math.h>
#include <string.h>

/* Up to this doubles count. */
#define MAX_WHOLE 9007199254740992.0      /* 2^53 */
#define MAX_DIV 2147483648.0
#define MAX_LEVELS 65536
/* Ops that are looked through for codes. */
#define MAX_DEPTH 16

/* --- attributes ------------------------------------------------------------------------------ */

double
lpt_onnx_pulp_number (LptOnnxNode *on,
                      const char  *name)
{
  const Onnx__AttributeProto *attr = NULL;
  g_autoptr (LptTensor) tensor = NULL;

  for (gsize i = 0; i < on->proto->n_attribute && attr == NULL; i++)
    if (g_strcmp0 (on->proto->attribute[i]->name, name) == 0)
      attr = on->proto->attribute[i];
  if (attr == NULL)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" is missing", name);
      return 0;
    }
  if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT)
    return (double) lpt_onnx_int (on, name, 0);
  if (attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)
    return lpt_onnx_float (on, name, 0);
  attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
  if (attr != NULL && attr->t != NULL && on->error == NULL)
    tensor = lpt_onnx_file_tensor (on->import->file, attr->t, &on->error);
  if (tensor != NULL && lpt_tensor_count (tensor) == 1)
    return lpt_tensor_get_f64 (tensor, 0);
  lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" is not one number", name);
  return 0;
}

gint64
lpt_onnx_pulp_whole (LptOnnxNode *on,
                     const char  *name,
                     double       low,
                     double       high)
{
  const double value = lpt_onnx_pulp_number (on, name);

  if (value == rint (value) && value >= low && value <= high)
    return (gint64) value;
  lpt_onnx_unsupported (on, "%s %g", name, value);
  return (gint64) low;
}

/* --- steps ----------------------------------------------------------------------------------- */

LptValue *
lpt_onnx_pulp_with (LptOnnxNode *on,
                    LptOp        op,
                    LptValue    *x,
                    double       number)
{
  return lpt_onnx_emit (on, op, 2, x, lpt_onnx_like (on, x, number));
}

LptValue *
lpt_onnx_pulp_cut (LptOnnxNode *on,
                   LptValue    *a,
                   LptValue    *b)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_DIVIDE, 2, a, b);

  LPT_ATTRS (node, LptDivideAttrs)->pythondiv = FALSE;
  return lpt_onnx_done (on, node);
}

static LptValue *
clamped (LptOnnxNode *on,
         LptValue    *x,
         double       low,
         double       high)
{
  LptNode *node;

  if (!lpt_dtype_is_real (x->dtype))
    return lpt_onnx_pulp_with (on, LPT_OP_MINIMUM, lpt_onnx_pulp_with (on, LPT_OP_MAXIMUM, x, low), high);
  node = lpt_onnx_add (on, LPT_OP_CLAMP, 1, x);
  LPT_ATTRS (node, LptClampAttrs)->min = low;
  LPT_ATTRS (node, LptClampAttrs)->max = high;
  return lpt_onnx_done (on, node);
}

/* A FakeQuantize that changes no whole number within [@low, @high]: it says what the codes are. */
static LptValue *
as_codes (LptOnnxNode *on,
          LptValue    *x,
          double       low,
          double       high)
{
  LptValue *ends[2] = { lpt_onnx_scalar (on, LPT_DTYPE_F32, low), lpt_onnx_scalar (on, LPT_DTYPE_F32, high) };
  LptValue *in[5] = { x, ends[0], ends[1], ends[0], ends[1] };
  LptNode *node = lpt_onnx_add_list (on, LPT_OP_FAKE_QUANTIZE, 1, 5, in);

  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = (gint64) (high - low) + 1;
  return lpt_onnx_done (on, node);
}

LptValue *
lpt_onnx_pulp_real (LptOnnxNode *on,
                    LptValue    *x,
                    double       low,
                    double       high)
{
  x = lpt_onnx_convert (on, x, LPT_DTYPE_F32);
  return high > low ? as_codes (on, x, low, high) : x;
}

/* Does @value end a quantizer as requantized() writes it? */
static gboolean
is_rounded (const LptValue *value)
{
  return value->producer->op == LPT_OP_CLAMP && lpt_node_in (value->producer, 0)->producer->op == LPT_OP_ROUND;
}

/* A FakeQuantize tells the quantizer from the rounding of indices. */
LptValue *
lpt_onnx_pulp_integers (LptOnnxNode *on,
                        guint        i)
{
  LptValue *x = lpt_onnx_in (on, i);

  if (is_rounded (x))
    {
      const LptClampAttrs *clamp = LPT_ATTRS (x->producer, LptClampAttrs);

      x = as_codes (on, x, clamp->min, clamp->max);
    }
  return lpt_onnx_convert (on, x, LPT_DTYPE_I64);
}

/* --- requantization -------------------------------------------------------------------------- */

/* (x mul + add + div / 2) / div between low and high, mul and add for each of n places. */
typedef struct
{
  LptShape shape;
  gint64   n;
  double  *mul, *add;
  double   div, low, high;
} Requant;

static void
requant_clear (Requant *requant)
{
  g_free (requant->mul);
  g_free (requant->add);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Requant, requant_clear)

static double
common_divisor (double a,
                double b)
{
  while (b != 0)
    {
      const double rest = fmod (a, b);

      a = b;
      b = rest;
    }
  return fabs (a);
}

/* As many places as the larger of both has, along the channels (axis 1) where their shape does not fit @x as it is. */
static void
read_places (LptOnnxNode    *on,
             const LptValue *x,
             Requant        *requant)
{
  LptTensor *mul = lpt_onnx_const_in (on, 1), *add = lpt_onnx_const_in (on, 2);
  const gint64 n_mul = mul != NULL ? lpt_tensor_count (mul) : 0, n_add = add != NULL ? lpt_tensor_count (add) : 0;
  const LptShape *shape = &x->shape;
  LptShape sum;
  gboolean sound = n_mul > 0 && n_add > 0 && (n_mul == n_add || n_mul == 1 || n_add == 1);

  if (!sound)
    {
      lpt_onnx_unsupported (on, "mul and add that are not constant or do not fit each other");
      return;
    }
  requant->n = MAX (n_mul, n_add);
  requant->shape = *lpt_tensor_shape (n_add > n_mul ? add : mul);
  requant->mul = lpt_onnx_memory (on, (gsize) requant->n, sizeof (double));
  requant->add = lpt_onnx_memory (on, (gsize) requant->n, sizeof (double));
  for (gint64 i = 0; on->error == NULL && i < requant->n; i++)
    {
      requant->mul[i] = lpt_tensor_get_f64 (mul, n_mul == 1 ? 0 : i);
      requant->add[i] = lpt_tensor_get_f64 (add, n_add == 1 ? 0 : i);
      sound = sound && requant->mul[i] == rint (requant->mul[i]) && fabs (requant->mul[i]) <= G_MAXINT32 &&
              requant->add[i] == rint (requant->add[i]) && fabs (requant->add[i]) <= MAX_WHOLE;
    }
  if (!sound)
    lpt_onnx_unsupported (on, "mul and add that are not whole");
  if (shape->rank < 0 || requant->n == 1 ||
      (lpt_shape_broadcast (&requant->shape, shape, &sum) && lpt_shape_equal (&sum, shape)))
    return;
  if (shape->rank < 2 || (shape->dims[1] != requant->n && shape->dims[1] != LPT_DYNAMIC))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "mul and add fit neither the data nor its channels");
      return;
    }
  requant->shape = (LptShape) { .rank = shape->rank - 1, .dims = { requant->n } };
  for (gint i = 1; i < requant->shape.rank; i++)
    requant->shape.dims[i] = 1;
}

/* @numbers[i] @scale for each place. */
static LptValue *
places (LptOnnxNode   *on,
        const Requant *requant,
        LptDType       dtype,
        const double  *numbers,
        double         scale)
{
  g_autofree double *scaled = lpt_onnx_memory (on, (gsize) requant->n, sizeof (double));

  for (gint64 i = 0; scaled != NULL && i < requant->n; i++)
    scaled[i] = numbers[i] * scale;
  return scaled == NULL ? lpt_onnx_scalar (on, dtype, 0)
                        : lpt_onnx_tensor_value (on, lpt_tensor_from_f64 (dtype, &requant->shape, scaled, NULL));
}

static LptValue *
requantized_integers (LptOnnxNode   *on,
                      LptValue      *x,
                      const Requant *requant)
{
  LptValue *sum = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_convert (on, x, LPT_DTYPE_I64),
                                 places (on, requant, LPT_DTYPE_I64, requant->mul, 1));

  sum = lpt_onnx_emit (on, LPT_OP_ADD, 2, sum, places (on, requant, LPT_DTYPE_I64, requant->add, 1));
  sum = lpt_onnx_pulp_with (on, LPT_OP_ADD, sum, floor (requant->div / 2));
  sum = lpt_onnx_pulp_with (on, LPT_OP_DIVIDE, sum, requant->div);
  return lpt_onnx_convert (on, clamped (on, sum, requant->low, requant->high), x->dtype);
}

/* Is @value made of codes alone: what a quantizer of these networks gives, moved? */
static gboolean
is_codes (const LptValue *value,
          guint           depth)
{
  LptNode *node = value->producer;
  const guint n = node->op == LPT_OP_CONCAT ? node->n_in : 1;

  if (node->op == LPT_OP_FAKE_QUANTIZE || is_rounded (value))
    return TRUE;
  if ((node->info->flags & LPT_OP_F_PRESERVES) == 0 || depth == 0)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!is_codes (lpt_node_in (node, i), depth - 1))
      return FALSE;
  return TRUE;
}

/* Will @value be integers? Codes, and sums and products of them and constants. */
static gboolean
is_accumulated (const LptValue *value,
                guint           depth)
{
  LptNode *node = value->producer;
  gboolean any = FALSE;

  if (is_codes (value, depth))
    return TRUE;
  if (depth > 0 && (node->info->flags & LPT_OP_F_PRESERVES) != 0 && node->op != LPT_OP_CONCAT)
    return is_accumulated (lpt_node_in (node, 0), depth - 1);
  if (depth == 0 || (node->info->flags & (LPT_OP_F_WEIGHTED | LPT_OP_F_TERM | LPT_OP_F_FACTOR)) == 0)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    {
      const LptValue *in = lpt_node_in (node, i);
      const gboolean sum = (node->info->flags & LPT_OP_F_TERM) != 0 &&
                           lpt_node_in (node, 1 - i)->producer->data != NULL;

      if (in->producer->data != NULL)
        continue;
      any = sum ? is_accumulated (in, depth - 1) : is_codes (in, depth - 1);
      if (!any)
        return FALSE;
    }
  return any;
}

static LptValue *
requantized (LptOnnxNode   *on,
             LptValue      *x,
             const Requant *requant)
{
  g_autofree double *terms = lpt_onnx_memory (on, (gsize) requant->n, sizeof (double));
  g_autofree double *rest = lpt_onnx_memory (on, (gsize) requant->n, sizeof (double));
  gboolean any_term = FALSE, any_rest = FALSE, round = FALSE, direct;

  if (on->error != NULL)
    return x;
  if (!lpt_dtype_is_real (x->dtype))
    return requantized_integers (on, x, requant);
  direct = is_accumulated (x, MAX_DEPTH);
  for (gint64 i = 0; i < requant->n; i++)
    {
      const double mul = requant->mul[i], add = requant->add[i], div = requant->div;
      const double unit = common_divisor (div, common_divisor (mul, add));

      terms[i] = mul != 0 ? (double) (float) floor (add / mul) : 0;
      rest[i] = add - terms[i] * mul + (unit < div ? unit / 2 + (direct ? 0 : div / 2) : 0);
      any_term |= terms[i] != 0;
      any_rest |= rest[i] != 0;
      round |= unit < div;
    }
  if (any_term)
    x = lpt_onnx_emit (on, LPT_OP_ADD, 2, x, places (on, requant, LPT_DTYPE_F32, terms, 1));
  x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, places (on, requant, LPT_DTYPE_F32, requant->mul, 1 / requant->div));
  if (any_rest)
    x = lpt_onnx_emit (on, LPT_OP_ADD, 2, x, places (on, requant, LPT_DTYPE_F32, rest, 1 / requant->div));
  if (direct)
    return clamped (on, lpt_onnx_emit (on, LPT_OP_ROUND, 1, x), requant->low, requant->high);
  return as_codes (on, round ? lpt_onnx_emit (on, LPT_OP_FLOOR, 1, x) : x, requant->low, requant->high);
}

/* div or D, and the levels. */
static void
read_range (LptOnnxNode *on,
            const char  *div,
            const char  *levels,
            gboolean     is_signed,
            Requant     *requant)
{
  const double n = (double) lpt_onnx_pulp_whole (on, levels, 2, MAX_LEVELS);

  requant->div = (double) lpt_onnx_pulp_whole (on, div, 1, MAX_DIV);
  if (frexp (requant->div, &(int) { 0 }) != 0.5)
    lpt_onnx_unsupported (on, "%s %g, no power of two", div, requant->div);
  requant->low = is_signed ? -floor (n / 2) : 0;
  requant->high = requant->low + n - 1;
}

void
lpt_onnx_map_requant_shift (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  g_auto (Requant) requant = { .n = 0 };
  const char *levels = "n_levels";

  for (gsize i = 0; i < on->proto->n_attribute; i++)
    if (g_strcmp0 (on->proto->attribute[i]->name, "n_levels_out") == 0)
      levels = "n_levels_out";
  read_range (on, "div", levels, lpt_onnx_pulp_whole (on, "signed", 0, 1) != 0, &requant);
  if (on->error == NULL)
    read_places (on, x, &requant);
  lpt_onnx_set (on, 0, requantized (on, x, &requant));
}

void
lpt_onnx_map_integer_no_norm (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1));
  double mul = (double) lpt_onnx_pulp_whole (on, "mul", -G_MAXINT32, G_MAXINT32), add;
  g_auto (Requant) requant = { .shape = LPT_SHAPE_SCALAR, .n = 1 };

  read_range (on, "D", "n_levels", TRUE, &requant);
  add = -floor (requant.div / 2);
  requant.mul = g_memdup2 (&mul, sizeof mul);
  requant.add = g_memdup2 (&add, sizeof add);
  lpt_onnx_set (on, 0, requantized (on, lpt_onnx_emit (on, LPT_OP_ADD, 2, x, lpt_onnx_in (on, 2)), &requant));
}

/* --- functions ------------------------------------------------------------------------------- */

/* The attribute "axes": one number or a list. */
static LptValue *
axes_of (LptOnnxNode *on,
         LptValue    *x)
{
  LptInts axes = { 0 };
  gint64 axis = 0;
  LptValue *value;

  for (gsize i = 0; i < on->proto->n_attribute; i++)
    if (g_strcmp0 (on->proto->attribute[i]->name, "axes") == 0 &&
        on->proto->attribute[i]->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS)
      lpt_onnx_ints (on, "axes", &axes);
  if (axes.n == 0)
    {
      axis = lpt_onnx_axis_of (on, x, lpt_onnx_pulp_whole (on, "axes", -LPT_MAX_RANK, LPT_MAX_RANK));
      return lpt_onnx_i64 (on, 1, &axis);
    }
  for (guint i = 0; i < axes.n; i++)
    axes.v[i] = lpt_onnx_axis_of (on, x, axes.v[i]);
  value = lpt_onnx_i64_list (on, &axes);
  lpt_ints_clear (&axes);
  return value;
}

void
lpt_onnx_map_integer_mean (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  const gboolean keep = lpt_onnx_pulp_whole (on, "keepdims", 0, 1) != 0;

  x = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, x, axes_of (on, x), keep);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_FLOOR, 1, lpt_onnx_pulp_with (on, LPT_OP_ADD, x, 0.5)));
}

void
lpt_onnx_map_true_integer_div (LptOnnxNode *on)
{
  const double eta = (double) lpt_onnx_pulp_whole (on, "eta", 1, G_MAXINT32);
  const double factor = eta * (double) lpt_onnx_pulp_whole (on, "Delta", 1, G_MAXINT32);
  const double divisor = eta * (double) lpt_onnx_pulp_whole (on, "y", 0, G_MAXINT32)
                         + (double) lpt_onnx_pulp_whole (on, "eps", 0, G_MAXINT32);
  LptValue *y;

  if (factor >= MAX_WHOLE || divisor < 1 || divisor >= MAX_WHOLE)
    lpt_onnx_unsupported (on, "division of %g by %g", factor, divisor);
  y = lpt_onnx_pulp_with (on, LPT_OP_MULTIPLY, lpt_onnx_pulp_integers (on, 0), factor);
  lpt_onnx_set (on, 0, lpt_onnx_pulp_real (on, lpt_onnx_pulp_with (on, LPT_OP_DIVIDE, y, MAX (divisor, 1)), 0, 0));
}

void
lpt_onnx_map_integer_div (LptOnnxNode *on)
{
  const double eta = (double) lpt_onnx_pulp_whole (on, "eta", 1, G_MAXINT32);
  const double factor = eta * (double) lpt_onnx_pulp_whole (on, "Delta", 1, G_MAXINT32);
  LptValue *a = lpt_onnx_pulp_with (on, LPT_OP_MULTIPLY, lpt_onnx_pulp_integers (on, 0), MIN (factor, MAX_WHOLE));
  LptValue *b = lpt_onnx_pulp_with (on, LPT_OP_MULTIPLY, lpt_onnx_pulp_integers (on, 1), eta), *y;

  b = lpt_onnx_pulp_with (on, LPT_OP_ADD, b, (double) lpt_onnx_pulp_whole (on, "eps", 0, G_MAXINT32));
  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_ABS, 1, a),
                     lpt_onnx_pulp_with (on, LPT_OP_DIVIDE, b, 2));
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_SIGN, 1, a),
                     lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, y, b));
  lpt_onnx_set (on, 0, lpt_onnx_pulp_real (on, y, 0, 0));
}

void
lpt_onnx_map_integer_hard_swish (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_pulp_integers (on, 0);
  LptValue *y = lpt_onnx_pulp_with (on, LPT_OP_ADD, x, (double) lpt_onnx_pulp_whole (on, "three", -MAX_DIV, MAX_DIV));

  y = clamped (on, y, 0, (double) lpt_onnx_pulp_whole (on, "six", 0, MAX_DIV));
  y = lpt_onnx_pulp_with (on, LPT_OP_MULTIPLY, y, (double) lpt_onnx_pulp_whole (on, "one_over_six", -MAX_DIV, MAX_DIV));
  lpt_onnx_set (on, 0, lpt_onnx_pulp_real (on, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, y), 0, 0));
}

void
lpt_onnx_map_integer_gelu (LptOnnxNode *on)
{
  const double b = (double) lpt_onnx_pulp_whole (on, "b", -MAX_DIV, 0);
  const double one = (double) lpt_onnx_pulp_whole (on, "one", -MAX_DIV, MAX_DIV);
  LptValue *x = lpt_onnx_pulp_integers (on, 0), *d, *y;

  d = lpt_onnx_pulp_with (on, LPT_OP_MINIMUM, lpt_onnx_emit (on, LPT_OP_ABS, 1, x), -b);
  d = lpt_onnx_pulp_with (on, LPT_OP_ADD, d, b);
  d = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, d, d);
  y = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_like (on, d, one), d);
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_SIGN, 1, x), y);
  y = lpt_onnx_pulp_with (on, LPT_OP_DIVIDE, lpt_onnx_pulp_with (on, LPT_OP_ADD, y, one), 2);
  lpt_onnx_set (on, 0, lpt_onnx_pulp_real (on, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, y), 0, 0));
}
