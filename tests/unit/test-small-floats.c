/* test-small-floats.c - every code of every float of 8 and 4 bits against its definition, and the rounding of numbers
 * to them
 *
 * The definitions are those of the OCP specifications, ONNX and OpenVINO, spelled out here bit by bit. Rounding is
 * checked by looking at all codes: the nearest number wins, of two the one with an even code; the limit of what
 * overflows is half a step beyond the largest number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt.h>

typedef struct
{
  LptDType dtype;
  guint    bits, mantissa, bias;
  double   max;
  guint    nan[7];        /* codes that are NaN, 0 = end */
  guint    infinity;      /* 0 = none */
  double   edge;          /* the least number that overflows; it rounds to even, so that it may belong to max */
  guint    over;          /* its code */
} Definition;

static const Definition definitions[] =
{
  { LPT_DTYPE_F8E4M3,     8, 3, 7,  448,   { 0x7f, 0xff },                             0,    464,   0x7f },
  { LPT_DTYPE_F8E4M3FNUZ, 8, 3, 8,  240,   { 0x80 },                                   0,    248,   0x80 },
  { LPT_DTYPE_F8E5M2,     8, 2, 15, 57344, { 0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff },     0x7c, 61440, 0x7c },
  { LPT_DTYPE_F8E5M2FNUZ, 8, 2, 16, 57344, { 0x80 },                                   0,    61440, 0x80 },
  { LPT_DTYPE_F4E2M1,     4, 1, 1,  6,     { 0 },                                      0,    7,     7 },
};

static double
meaning (const Definition *d,
         guint             code)
{
  guint sign = 1u << (d->bits - 1);
  guint exponent = (code & (sign - 1)) >> d->mantissa;
  guint fraction = code & ((1u << d->mantissa) - 1);
  double value = 0;

  for (guint i = 0; d->nan[i] != 0; i++)
    if (d->nan[i] == code)
      return NAN;
  if (d->infinity != 0 && (code & (sign - 1)) == d->infinity)
    return code & sign ? -INFINITY : INFINITY;

  for (guint i = 0; i < d->mantissa; i++)
    if (fraction >> i & 1)
      value += pow (2, (double) i - d->mantissa);
  value = exponent == 0 ? value * pow (2, 1 - (double) d->bias) : (1 + value) * pow (2, (double) exponent - d->bias);

  return code & sign ? -value : value;
}

static void
test_decode (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (definitions); k++)
    {
      const Definition *d = &definitions[k];
      double largest = 0;

      for (guint code = 0; code < 1u << d->bits; code++)
        {
          double is = lpt_float_decode (d->dtype, code), wanted = meaning (d, code);

          if (isnan (wanted))
            {
              g_assert_true (isnan (is));
              continue;
            }
          g_assert_true (is == wanted && !signbit (is) == !signbit (wanted));
          if (isfinite (is))
            largest = MAX (largest, is);
          g_assert_cmphex (lpt_float_encode (d->dtype, is, LPT_POWER_ROUND_EVEN), ==, code);
          g_assert_true (lpt_dtype_round (d->dtype, is) == is);
        }
      g_assert_true (largest == d->max && lpt_dtype_max (d->dtype) == d->max && lpt_dtype_min (d->dtype) == -d->max);
    }
}

/* The nearest of all codes with the sign of @x. */
static guint
nearest (const Definition *d,
         double            x)
{
  guint sign = 1u << (d->bits - 1), best = 0;
  double least = INFINITY;

  for (guint code = 0; code < sign; code++)
    {
      double value = meaning (d, code), distance = fabs (fabs (x) - value);

      if (!isfinite (value))
        continue;
      if (distance < least || (distance == least && (code & 1) == 0))
        {
          least = distance;
          best = code;
        }
    }
  if (signbit (x) && (best != 0 || d->nan[0] != sign))      /* where minus zero is NaN, zero has no sign */
    best |= sign;

  return best;
}

static void
check_encode (const Definition *d,
              double            x)
{
  guint is = lpt_float_encode (d->dtype, x, LPT_POWER_ROUND_EVEN), sign = 1u << (d->bits - 1);
  gboolean even = (nearest (d, d->max) & 1) == 0;      /* then the edge itself belongs to max */

  if (isnan (x))
    {
      if (d->nan[0] != 0)
        g_assert_true (isnan (lpt_float_decode (d->dtype, is)));
      return;
    }
  if (fabs (x) > d->edge || (fabs (x) == d->edge && !even))
    g_assert_cmphex (is, ==, d->over == sign ? sign : signbit (x) ? d->over | sign : d->over);
  else
    g_assert_cmphex (is, ==, nearest (d, x));
}

/* All f16 values, and what lies beside the middle of two neighbours. */
static void
test_encode (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (definitions); k++)
    {
      const Definition *d = &definitions[k];

      for (guint bits = 0; bits < 0x10000; bits++)
        check_encode (d, lpt_f16_to_f32 ((guint16) bits));
      for (guint code = 0; code + 1 < 1u << (d->bits - 1); code++)
        {
          double middle = (meaning (d, code) + meaning (d, code + 1)) / 2;

          if (!isfinite (middle))
            continue;
          check_encode (d, middle);
          check_encode (d, nextafterf ((float) middle, 0));
          check_encode (d, -nextafterf ((float) middle, INFINITY));
        }
      check_encode (d, nextafter (d->edge, 0));
      check_encode (d, -nextafter (d->edge, INFINITY));
      check_encode (d, 1e30);
      check_encode (d, -INFINITY);
      check_encode (d, NAN);
      check_encode (d, 1e-30);
      check_encode (d, -0.0);
    }
}

static void
test_powers (void)
{
  static const struct { double x; guint code[4]; } cases[] = {      /* even, up, down, nearest up */
    { 1,       { 127, 127, 127, 127 } },
    { 1.25,    { 127, 128, 127, 127 } },
    { 1.5,     { 128, 128, 127, 128 } },
    { 3,       { 128, 129, 128, 129 } },
    { 1.75,    { 128, 128, 127, 128 } },
    { 0x1p127, { 254, 254, 254, 254 } },
    { 1.9 * 0x1p127, { 254, 254, 254, 254 } },
    { INFINITY, { 254, 254, 254, 254 } },
    { 0,       { 0, 0, 0, 0 } },
    { -5,      { 0, 0, 0, 0 } },
    { 0x1p-140, { 0, 0, 0, 0 } },
    { 1.25 * 0x1p-127, { 0, 1, 0, 0 } },
    { NAN,     { 255, 255, 255, 255 } },
  };

  for (guint code = 0; code < 255; code++)
    {
      g_assert_true (lpt_float_decode (LPT_DTYPE_F8E8M0, code) == pow (2, (double) code - 127));
      for (guint round = 0; round < 4; round++)
        g_assert_cmpuint (lpt_float_encode (LPT_DTYPE_F8E8M0, pow (2, (double) code - 127), (LptPowerRound) round), ==,
                          code);
    }
  g_assert_true (isnan (lpt_float_decode (LPT_DTYPE_F8E8M0, 255)));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint round = 0; round < 4; round++)
      g_assert_cmpuint (lpt_float_encode (LPT_DTYPE_F8E8M0, cases[i].x, (LptPowerRound) round), ==,
                        cases[i].code[round]);
}

/* The nearest entry; what lies in the middle of two, up to the last bit of f32, may take either. */
static void
test_nf4 (void)
{
  for (guint bits = 0; bits < 0x10000; bits++)
    {
      float x = lpt_f16_to_f32 ((guint16) bits);
      guint is = lpt_float_encode (LPT_DTYPE_NF4, x, LPT_POWER_ROUND_EVEN);
      double least = INFINITY;

      for (guint code = 0; code < 16; code++)
        least = MIN (least, fabs (x - lpt_float_decode (LPT_DTYPE_NF4, code)));
      g_assert_true (isnan (x) || isinf (x) || fabs (x - lpt_float_decode (LPT_DTYPE_NF4, is)) <= least + 0x1p-23);
    }
  for (guint i = 0; i < 15; i++)
    g_assert_true (lpt_float_decode (LPT_DTYPE_NF4, i) < lpt_float_decode (LPT_DTYPE_NF4, i + 1));
  for (guint i = 0; i < 16; i++)
    g_assert_cmpuint (lpt_float_encode (LPT_DTYPE_NF4, lpt_float_decode (LPT_DTYPE_NF4, i), LPT_POWER_ROUND_EVEN), ==,
                      i);
  g_assert_true (lpt_float_decode (LPT_DTYPE_NF4, 0) == -1 && lpt_float_decode (LPT_DTYPE_NF4, 7) == 0 &&
                 lpt_float_decode (LPT_DTYPE_NF4, 15) == 1);
  g_assert_cmpuint (lpt_float_encode (LPT_DTYPE_NF4, INFINITY, LPT_POWER_ROUND_EVEN), ==, 15);
  g_assert_cmpuint (lpt_float_encode (LPT_DTYPE_NF4, -INFINITY, LPT_POWER_ROUND_EVEN), ==, 0);
}

/* Packed storage: every element by itself, odd counts, bits and back. */
static void
test_tensors (void)
{
  static const LptDType types[] = { LPT_DTYPE_I4,     LPT_DTYPE_U4,         LPT_DTYPE_I2,     LPT_DTYPE_U2,
                                    LPT_DTYPE_F8E4M3, LPT_DTYPE_F8E4M3FNUZ, LPT_DTYPE_F8E5M2, LPT_DTYPE_F8E5M2FNUZ,
                                    LPT_DTYPE_F8E8M0, LPT_DTYPE_F4E2M1,     LPT_DTYPE_NF4 };

  for (guint k = 0; k < G_N_ELEMENTS (types); k++)
    for (gint64 n = 1; n < 12; n++)
      {
        LptShape shape = { .rank = 1, .dims = { n } };
        guint bits = lpt_dtype_bits (types[k]), levels = 1u << bits, per = 8 / bits;
        g_autofree guint8 *bytes = g_malloc0 (16);
        g_autoptr (LptTensor) tensor = NULL, wide = NULL, back = NULL;

        for (gint64 i = 0; i < n; i++)
          bytes[i / per] |= (guint8) ((((guint) i * 5 + 2) % levels) << (i % per * bits));
        tensor = lpt_tensor_new_copy (types[k], &shape, bytes, NULL);
        g_assert_cmpuint (lpt_tensor_size (tensor), ==, (gsize) (n * bits + 7) / 8);
        for (gint64 i = 0; i < n; i++)
          {
            guint code = ((guint) i * 5 + 2) % levels;
            double wanted = lpt_dtype_is_real (types[k]) ? lpt_float_decode (types[k], code)
                            : lpt_dtype_min (types[k]) < 0 && code >= levels / 2 ? (double) code - levels : code;

            g_assert_true (lpt_tensor_get_f64 (tensor, i) == wanted);
          }
        wide = lpt_tensor_convert (tensor, LPT_DTYPE_F32, NULL);
        back = lpt_tensor_convert (wide, types[k], NULL);
        g_assert_true (lpt_tensor_equal (tensor, back));
        if (lpt_dtype_is_small_float (types[k]))
          {
            g_autoptr (LptTensor) codes = lpt_tensor_to_bits (tensor, NULL),
                                  again = lpt_tensor_from_bits (codes, types[k], NULL);

            g_assert_cmpuint (((const guint8 *) lpt_tensor_data (codes))[n - 1], ==,
                              ((guint) (n - 1) * 5 + 2) % levels);
            g_assert_true (lpt_tensor_equal (tensor, again));
          }
      }
}

/* Every code in the text form, NaN with its bits; and through the executor's Convert. */
static void
test_text_and_convert (void)
{
  static const LptDType types[] = { LPT_DTYPE_F8E4M3, LPT_DTYPE_F8E4M3FNUZ, LPT_DTYPE_F8E5M2, LPT_DTYPE_F8E5M2FNUZ,
                                    LPT_DTYPE_F8E8M0, LPT_DTYPE_F4E2M1, LPT_DTYPE_NF4, LPT_DTYPE_I2, LPT_DTYPE_U2 };

  for (guint k = 0; k < G_N_ELEMENTS (types); k++)
    for (guint code = 0; code < 1u << lpt_dtype_bits (types[k]); code++)
      {
        LptShape shape = { .rank = 1, .dims = { 1 } };
        guint8 byte = (guint8) code;
        g_autoptr (LptTensor) tensor = lpt_tensor_new_copy (types[k], &shape, &byte, NULL), got = NULL;
        g_autoptr (LptGraph) graph = lpt_graph_new ("g"), again = NULL;
        LptNode *constant = lpt_graph_add_const (graph, "c", tensor);
        LptValue *value = lpt_node_out (constant);
        LptNode *convert = lpt_graph_add (graph, LPT_OP_CONVERT, 1, "y", 1, &value);
        g_autofree char *text = NULL;
        g_autoptr (GError) error = NULL;
        g_autoptr (LptPlan) plan = NULL;
        g_autoptr (LptPlanContext) context = NULL;
        double wanted = lpt_tensor_get_f64 (tensor, 0);

        LPT_ATTRS (convert, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
        value = lpt_node_out (convert);
        lpt_graph_add (graph, LPT_OP_RESULT, 1, "r", 1, &value);
        g_assert_true (lpt_graph_infer (graph, &error));
        text = lpt_graph_to_text (graph, 0);
        again = lpt_graph_from_text (text, -1, NULL, &error);
        g_assert_no_error (error);
        g_assert_true (lpt_tensor_equal (lpt_graph_find (again, "c")->data, tensor));

        plan = lpt_plan_new (graph, NULL, 0, &error);
        g_assert_no_error (error);
        context = lpt_plan_context_new (plan, 1, &error);
        g_assert_true (lpt_plan_run (plan, context, &error));
        got = lpt_plan_context_output (context, 0, &error);
        g_assert_true (isnan (wanted) ? isnan (lpt_tensor_get_f64 (got, 0)) : lpt_tensor_get_f64 (got, 0) == wanted);
      }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/small-floats/decode", test_decode);
  g_test_add_func ("/small-floats/encode", test_encode);
  g_test_add_func ("/small-floats/powers", test_powers);
  g_test_add_func ("/small-floats/nf4", test_nf4);
  g_test_add_func ("/small-floats/tensors", test_tensors);
  g_test_add_func ("/small-floats/text-and-convert", test_text_and_convert);

  return g_test_run ();
}
