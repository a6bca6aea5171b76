/* test-requant.c - requantization against the tables of every framework
 *
 * The data set lies outside the project; where it is absent, only the vectors
 * of this file run. Empty cells of the tables are undefined upstream: there lpt
 * saturates, which is checked instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/requant/lpt-multiplier.h"
#include "eval/requant/lpt-requant-modes.h"

#include <math.h>
#include <string.h>

#ifndef LPT_SHARED_DIR
# define LPT_SHARED_DIR "../shared"
#endif

/* --- a table with a header line -------------------------------------------- */


typedef void (*RowFunc) (char **row, char **header);

static const char *
cell (char      **row,
      char      **header,
      const char *name)
{
  for (guint i = 0; header[i] != NULL; i++)
    if (strcmp (header[i], name) == 0)
      return row[i];

  g_error ("no column %s", name);
}

static gint64
cell_int (char      **row,
          char      **header,
          const char *name)
{
  return g_ascii_strtoll (cell (row, header, name), NULL, 10);
}

static double
cell_real (char      **row,
           char      **header,
           const char *name)
{
  return g_ascii_strtod (cell (row, header, name), NULL);
}

static void
each_row (const char *file,
          RowFunc     func)
{
  g_autofree char *path = g_build_filename (LPT_SHARED_DIR, "corpus", "requant", file, NULL);
  g_autofree char *text = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    {
      g_test_skip (path);
      return;
    }

  g_auto (GStrv) lines = g_strsplit (g_strdelimit (g_strchomp (text), "\r", ' '), "\n", -1);
  g_auto (GStrv) header = g_strsplit (g_strchomp (lines[0]), ",", -1);

  for (guint i = 1; lines[i] != NULL; i++)
    {
      g_auto (GStrv) row = g_strsplit (g_strchomp (lines[i]), ",", -1);

      g_assert_cmpuint (g_strv_length (row), ==, g_strv_length (header));
      func (row, header);
    }
}

/* --- the tables ------------------------------------------------------------ */

static void
row_quantize_multiplier (char **row,
                         char **header)
{
  const double real = cell_real (row, header, "real_hexfloat");
  LptMultiplier a, b;

  g_assert_true (lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE, real, &a));
  g_assert_true (lpt_multiplier_make (LPT_MULTIPLIER_Q31_BOUNDED, LPT_REQUANT_SINGLE, real, &b));
  g_assert_cmpint (a.m, ==, cell_int (row, header, "multiplier"));
  g_assert_cmpint (a.s, ==, cell_int (row, header, "shift"));
  g_assert_cmpint (b.m, ==, cell_int (row, header, "multiplier_single_rounding_build"));
  g_assert_cmpint (b.s, ==, cell_int (row, header, "shift_single_rounding_build"));
}

static void
row_scale_triple (char **row,
                  char **header)
{
  static const struct { LptScaleArith arith; const char *real, *m, *s; } columns[] =
  {
    { LPT_SCALE_F64, "m_all_double", "qm_dd", "sh_dd" },
    { LPT_SCALE_F64_OF_F32, "m_all_double", "qm_dd", "sh_dd" },
    { LPT_SCALE_F32_PRODUCT, "m_floatprod_doublediv", "qm_fd", "sh_fd" },
    { LPT_SCALE_F32, "m_all_float", "qm_ff", "sh_ff" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      const double real = lpt_requant_scale (columns[i].arith, cell_real (row, header, "input_scale_f32hex"),
                                             cell_real (row, header, "weight_scale_f32hex"),
                                             cell_real (row, header, "output_scale_f32hex"));
      LptMultiplier m;

      g_assert_true (real == cell_real (row, header, columns[i].real));
      g_assert_true (lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE, real, &m));
      g_assert_cmpint (m.m, ==, cell_int (row, header, columns[i].m));
      g_assert_cmpint (m.s, ==, cell_int (row, header, columns[i].s));
    }
}

static void
row_srdhm (char **row,
           char **header)
{
  g_assert_cmpint (lpt_saturating_rounding_doubling_high_mul ((gint32) cell_int (row, header, "a"),
                                                              (gint32) cell_int (row, header, "b")), ==,
                   cell_int (row, header, "saturating_rounding_doubling_high_mul"));
}

static void
row_rdbpot (char **row,
            char **header)
{
  g_assert_cmpint (lpt_rounding_divide_by_pot ((gint32) cell_int (row, header, "x"),
                                               (gint) cell_int (row, header, "exponent")),
                   ==, cell_int (row, header, "rounding_divide_by_pot"));
}

/* An undefined cell: the exact product, rounded once and saturated. */
static void
check_saturates (const LptMultiplier *m,
                 gint32               acc)
{
  const double exact = ldexp ((double) acc * m->m, m->s - 31);

  g_assert_cmpint (lpt_multiplier_apply (m, acc), ==,
                   (gint32) CLAMP (floor (exact + 0.5), (double) G_MININT32, (double) G_MAXINT32));
}

static void
row_acc (char **row,
         char **header)
{
  static const struct { const char *name; LptRequantScheme rounding; } columns[] =
  {
    { "tflite_double_rounding", LPT_REQUANT_DOUBLE },
    { "tflite_single_rounding", LPT_REQUANT_SINGLE },
    { "ruy", LPT_REQUANT_SINGLE },
    { "snps_D1", LPT_REQUANT_SINGLE },
    { "tpu_mlir_tflite_mode", LPT_REQUANT_DOUBLE },
    { "two_step_half_up", LPT_REQUANT_TWO_STEP },
    { "snps_D2", LPT_REQUANT_DOUBLE },   /* empty for every left shift, though defined for most */
  };
  const gint32 acc = (gint32) cell_int (row, header, "acc");

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      const LptMultiplier m = { .rounding = columns[i].rounding, .m = (gint32) cell_int (row, header, "multiplier"),
                                .s = (gint) cell_int (row, header, "shift") };

      if (*cell (row, header, columns[i].name) != '\0')
        g_assert_cmpint (lpt_multiplier_apply (&m, acc), ==, cell_int (row, header, columns[i].name));
      else if (strcmp (columns[i].name, "snps_D2") != 0)
        check_saturates (&m, acc);
    }
}

static void
row_acc64 (char **row,
           char **header)
{
  const LptMultiplier m = { .rounding = LPT_REQUANT_SINGLE, .m = (gint32) cell_int (row, header, "multiplier"),
                            .s = (gint) cell_int (row, header, "shift") };

  g_assert_cmpint (lpt_multiplier_apply_acc64 (&m, cell_int (row, header, "acc64")), ==,
                   cell_int (row, header, "result"));
}

static void
row_compare (char **row,
             char **header)
{
  static const struct { const char *column, *scheme; } columns[] =
  {
    { "tflite_double_rounding_dd", "double" },
    { "tflite_single_rounding_dd", "single" },
    { "two_step_half_up_dd", "two-step" },
    { "snps_D2", "D2" },
    { "snps_D1", "D1" },
    { "snps_F2_code", "F2" },
    { "caffe2_all_float_2step", "caffe2" },
    { "qnnpack_q31", "qnnpack" },
    { "onnx_float_rte", "float" },
    { "tpu_mlir_32", "tpu" },
    { "tpu_mlir_8", "tpu8" },
  };
  const gint32 acc = (gint32) cell_int (row, header, "acc");

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      const LptRequantMethod *method = lpt_requant_method_find (columns[i].scheme);
      LptMultiplier m;
      const gboolean ok = lpt_requant_multiplier (method, cell_real (row, header, "input_scale"),
                                                  cell_real (row, header, "weight_scale"),
                                                  cell_real (row, header, "output_scale"), &m);

      if (*cell (row, header, columns[i].column) == '\0')
        continue;

      g_assert_true (ok);
      g_assert_cmpint (lpt_multiplier_apply (&m, acc), ==,
                       CLAMP (cell_int (row, header, columns[i].column), G_MININT32, G_MAXINT32));

      if (strcmp (method->name, "tpu") == 0 || strcmp (method->name, "tpu8") == 0)
        {
          const gboolean wide = strcmp (method->name, "tpu") == 0;

          g_assert_cmpint (m.m, ==, cell_int (row, header, wide ? "tpu_m32" : "tpu_m8"));
          g_assert_cmpint (31 - m.s, ==, cell_int (row, header, wide ? "tpu_s32" : "tpu_s8"));
        }
    }
}

static void
row_tpu (char **row,
         char **header)
{
  static const struct { LptMultiplierForm form; const char *m, *s; } columns[] =
  {
    { LPT_MULTIPLIER_TPU32, "gss32_mult", "gss32_rshift" },
    { LPT_MULTIPLIER_TPU8, "gss8_mult", "gss8_rshift" },
    { LPT_MULTIPLIER_TPU8_POSITIVE, "gss_pos8_mult", "gss_pos8_rshift" },
    { LPT_MULTIPLIER_TPU32_POSITIVE, "gss_pos32_mult", "gss_pos32_rshift" },
    { LPT_MULTIPLIER_CV18XX, "cv18xx_i8_mult", "cv18xx_i8_rshift" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      LptMultiplier m;

      g_assert_true (lpt_multiplier_make (columns[i].form, LPT_REQUANT_SINGLE, cell_real (row, header, "scale_f32hex"),
                                          &m));
      g_assert_cmpint (m.m, ==, cell_int (row, header, columns[i].m));
      g_assert_cmpint (31 - m.s, ==, cell_int (row, header, columns[i].s));
    }
}

static const struct { const char *file; RowFunc func; } tables[] =
{
  { "quantize_multiplier.csv", row_quantize_multiplier },
  { "scale_triples.csv", row_scale_triple },
  { "srdhm.csv", row_srdhm },
  { "rounding_divide_by_pot.csv", row_rdbpot },
  { "acc_multiplier_shift.csv", row_acc },
  { "acc64_multiplier_shift.csv", row_acc64 },
  { "requant_compare.csv", row_compare },
  { "tpu_mlir_multiplier.csv", row_tpu },
};

static void
test_table (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);

  each_row (tables[i].file, tables[i].func);
}

/* --- own vectors ------------------------------------------------------------ */

/* m = 0.5: acc / 2 and acc / 4, where the ties tell the schemes apart. */
static void
test_ties (void)
{
  static const struct { LptRequantScheme rounding; gint32 acc, want_half, want_quarter; } cases[] =
  {
    { LPT_REQUANT_SINGLE, 3, 2, 1 },
    { LPT_REQUANT_SINGLE, -3, -1, -1 },
    { LPT_REQUANT_SINGLE, -6, -3, -1 },    /* -1.5 goes up */
    { LPT_REQUANT_DOUBLE, -3, -1, -1 },    /* -1.5 -> -1, then -0.5 -> -1 */
    { LPT_REQUANT_DOUBLE, -6, -3, -2 },    /* -1.5 goes away from zero */
    { LPT_REQUANT_DOUBLE, 5, 3, 2 },       /* two roundings: 2.5 -> 3 -> 2 */
    { LPT_REQUANT_SINGLE, 5, 3, 1 },       /* one rounding: 1.25 -> 1 */
    { LPT_REQUANT_TWO_STEP, -6, -3, -1 },
    { LPT_REQUANT_TWO_STEP, 5, 3, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const LptMultiplier half = { .rounding = cases[i].rounding, .m = 1 << 30, .s = 0 };
      const LptMultiplier quarter = { .rounding = cases[i].rounding, .m = 1 << 30, .s = -1 };

      g_assert_cmpint (lpt_multiplier_apply (&half, cases[i].acc), ==, cases[i].want_half);
      g_assert_cmpint (lpt_multiplier_apply (&quarter, cases[i].acc), ==, cases[i].want_quarter);
    }

  const LptMultiplier even = { .rounding = LPT_REQUANT_FLOAT, .f = 0.5f };

  g_assert_cmpint (lpt_multiplier_apply (&even, 5), ==, 2);
  g_assert_cmpint (lpt_multiplier_apply (&even, 7), ==, 4);
  g_assert_cmpint (lpt_multiplier_apply (&even, -5), ==, -2);
}

/* Any accumulator with any multiplier from 2^-31 to 2^30: within the scheme's bound of the
 * exact product, saturated to int32. */
static void
test_bounds (void)
{
  static const gint32 accs[] = { G_MININT32, G_MININT32 + 1, -65537,         -128,      -1, 0, 1,
                                 127,        65536,          G_MAXINT32 - 1, G_MAXINT32 };

  for (const LptRequantMethod *method = lpt_requant_methods (); method->name != NULL; method++)
    {
      const gboolean coarse = method->form == LPT_MULTIPLIER_TPU8 || method->form == LPT_MULTIPLIER_CV18XX;
      const gboolean searched = method->form >= LPT_MULTIPLIER_TPU32;

      for (gint e = -31; e <= 30; e++)
        for (guint i = 0; i < G_N_ELEMENTS (accs) + 20; i++)
          {
            const double real = ldexp (g_test_rand_double_range (0.5, 1.0), e);
            const gint32 acc = i < G_N_ELEMENTS (accs) ? accs[i]
                                                       : (gint32) g_test_rand_int () >> g_test_rand_int_range (0, 24);
            LptMultiplier m;

            if (!lpt_requant_multiplier (method, real, 1.0, 1.0, &m))
              continue;

            const gint32 got = lpt_multiplier_apply (&m, acc);
            const double exact = CLAMP ((double) acc * real, (double) G_MININT32, (double) G_MAXINT32);
            /* One unit of rounding (two of them lose at most 1/2 + 1/4), plus the error of the multiplier:
             * 24 bits for float32 and the searched ones, 6 bits for 8-bit ones; TPU shifts end at 2^-30. */
            const double slack = 1.0 + fabs (exact) * (coarse ? 1.0 / 32 : 0x1p-22)
                                 + (searched ? fabs ((double) acc) * 0x1p-30 : 0.0);

            if (fabs (got - exact) > slack)
              g_error ("%s: acc %d * %a: %d, exact %f", method->name, acc, real, got, exact);
          }
    }
}

static void
test_edges (void)
{
  static const LptMultiplierForm forms[] = { LPT_MULTIPLIER_Q31,           LPT_MULTIPLIER_Q31_BOUNDED,
                                             LPT_MULTIPLIER_FLOAT,         LPT_MULTIPLIER_TPU32,
                                             LPT_MULTIPLIER_TPU8,          LPT_MULTIPLIER_TPU32_POSITIVE,
                                             LPT_MULTIPLIER_TPU8_POSITIVE, LPT_MULTIPLIER_CV18XX };
  static const double reals[] = { 0.0, -0.0, 0x1p-200, 0x1p200, -0x1p200, -0.3, INFINITY, -INFINITY, NAN };
  LptMultiplier m;

  /* Nothing here may trap; a zero multiplier gives zero. */
  for (guint f = 0; f < G_N_ELEMENTS (forms); f++)
    for (guint r = 0; r < G_N_ELEMENTS (reals); r++)
      {
        const LptRequantScheme rounding = forms[f] == LPT_MULTIPLIER_FLOAT ? LPT_REQUANT_FLOAT
                                     : forms[f] >= LPT_MULTIPLIER_TPU32 ? LPT_REQUANT_SINGLE : LPT_REQUANT_DOUBLE;

        g_assert_true (lpt_multiplier_make (forms[f], rounding, reals[r], &m));
        g_assert_cmpint (lpt_multiplier_apply (&m, 0), ==, 0);
        lpt_multiplier_apply (&m, G_MININT32);
        if (!(fabs (reals[r]) > 0x1p-100))
          g_assert_cmpint (lpt_multiplier_apply (&m, G_MAXINT32), ==, 0);
      }

  g_assert_false (lpt_multiplier_make (LPT_MULTIPLIER_MANTISSA24, LPT_REQUANT_QNNPACK, 1.0, &m));
  g_assert_false (lpt_multiplier_make (LPT_MULTIPLIER_MANTISSA24, LPT_REQUANT_QNNPACK, 0.0, &m));
  g_assert_true (lpt_multiplier_make (LPT_MULTIPLIER_MANTISSA24, LPT_REQUANT_QNNPACK, 0x1p-32, &m));
  g_assert_cmpint (m.s, ==, -31);

  g_assert_null (lpt_requant_method_find ("no such scheme"));
  g_assert_cmpint (lpt_saturating_rounding_doubling_high_mul (G_MININT32, G_MININT32), ==, G_MAXINT32);
  g_assert_cmpint (lpt_rounding_divide_by_pot (G_MININT32, 31), ==, -1);
  g_assert_cmpint (lpt_rounding_divide_by_pot (G_MAXINT32, 31), ==, 1);
  g_assert_cmpint (lpt_rounding_divide_by_pot (G_MAXINT32, 32), ==, 0);
  g_assert_cmpint (lpt_rounding_divide_by_pot (G_MAXINT32, 40), ==, 0);
}

/* Of two factors the larger fills 31 bits while the shift is one of 1 to 62; what rounds to 32 bits takes one less. */
static void
test_sums (void)
{
  static const struct
  {
    double real[2];
    gint32 zero[2];
    double constant;
    gint   shift;
    gint32 m[2];
    gint64 bias;
  } rows[] = {
    { { 1.0, 0.5 }, { 3, -2 }, 0.25, 30, { 1 << 30, 1 << 29 }, -2 * (1LL << 30) + (1LL << 28) },
    { { 0.5, -1.0 }, { 1, 1 }, 0, 30, { 1 << 29, -(1 << 30) }, 1LL << 29 },
    { { 0.75, 0 }, { 0, 5 }, -1.0, 31, { 3 << 29, 0 }, -(1LL << 31) },
    { { 1 - 0x1p-40, 0.5 }, { 0, 0 }, 0, 30, { 1 << 30, 1 << 29 }, 0 },
    { { 1 - 0x1p-31, 0.5 }, { 0, 0 }, 0, 31, { G_MAXINT32, 1 << 30 }, 0 },
    { { 0x1p29 - 0x1p-10, 0 }, { 0, 0 }, 0, 1, { 1 << 30, 0 }, 0 },
    { { 0x1p30 - 0x1p-9, -0x1p30 }, { 0, 0 }, 0, 1, { G_MAXINT32, -G_MAXINT32 }, 0 },
    { { 0x1p40, 1.0 }, { 1, 1 }, 0, 1, { G_MAXINT32, 2 }, -(1LL << 31) - 1 },
    { { 0x1p-40, 0 }, { 0, 0 }, 0, 62, { 1 << 22, 0 }, 0 },
    { { 0, 0 }, { 7, 7 }, 1.0, 31, { 0, 0 }, 1LL << 31 },
    { { 0x1p-22, 0 }, { 0, 0 }, -255, 52, { 1 << 30, 0 }, -255 * (1LL << 52) },
    { { 1.0, 0 }, { 0, 0 }, 1e300, 30, { 1 << 30, 0 }, 1LL << 60 },
    { { 1.0, 0 }, { 0, 0 }, -1e300, 30, { 1 << 30, 0 }, -(1LL << 60) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      LptSum64 sum;

      lpt_sum64_make (&sum, 2, rows[i].real, rows[i].zero, rows[i].constant);
      g_test_message ("row %u", i);
      g_assert_cmpint (sum.shift, ==, rows[i].shift);
      g_assert_cmpint (sum.m[0], ==, rows[i].m[0]);
      g_assert_cmpint (sum.m[1], ==, rows[i].m[1]);
      g_assert_cmpint (sum.bias, ==, rows[i].bias);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/requant/ties", test_ties);
  g_test_add_func ("/requant/bounds", test_bounds);
  g_test_add_func ("/requant/edges", test_edges);
  g_test_add_func ("/requant/sums", test_sums);
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autofree char *path = g_strconcat ("/requant/table/", tables[i].file, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_table);
    }

  return g_test_run ();
}
