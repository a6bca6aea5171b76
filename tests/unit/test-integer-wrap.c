/* test-integer-wrap.c - arithmetic of plain integers: results keep the lowest bits of their type
 *
 * As NumPy has it, and with it ONNX's definitions, and ONNX Runtime. Each op is computed here in 128 bits, over the
 * ends of every integer type and drawn numbers, and compared with the reference, the kernels and folding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-executor.h>
#include <lpt/lpt-file.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>

#include <glib/gstdio.h>
#include <math.h>

#define N 128

static const LptDType types[] = { LPT_DTYPE_I4, LPT_DTYPE_U4, LPT_DTYPE_I8, LPT_DTYPE_U8, LPT_DTYPE_I16, LPT_DTYPE_U16,
                                  LPT_DTYPE_I32, LPT_DTYPE_U32, LPT_DTYPE_I64, LPT_DTYPE_U64 };

typedef __int128 Wide;

typedef struct
{
  const char *op;
  guint       n_in;
  Wide      (*define) (Wide a, Wide b);
  const char *ending;     /* of what is computed of both as two rows, %c */
} Case;

static Wide add (Wide a, Wide b) { return a + b; }
static Wide subtract (Wide a, Wide b) { return a - b; }
static Wide multiply (Wide a, Wide b) { return (Wide) ((unsigned __int128) a * (unsigned __int128) b); }
static Wide squared_difference (Wide a, Wide b) { return multiply (a - b, a - b); }
static Wide negative (Wide a, Wide b) { return -a; }
static Wide absolute (Wide a, Wide b) { return a < 0 ? -a : a; }

static const Case cases[] = {
  { "Add", 2, add },           { "Subtract", 2, subtract }, { "Multiply", 2, multiply },
  { "SquaredDifference", 2, squared_difference }, { "Negative", 1, negative }, { "Abs", 1, absolute },
  { "ReduceSum", 2, add, "%y = ReduceSum(%c, %zero)" }, { "ReduceProd", 2, multiply, "%y = ReduceProd(%c, %zero)" },
  { "CumSum", 2, add, "%s = CumSum(%c, %zero)\n%two = Const {2} : i64[1]\n%y = Slice(%s, %one, %two, %one, %zero)" },
};

/* The number that the lowest bits are. */
static Wide
keep (Wide     x,
      LptDType dtype)
{
  const guint bits = lpt_dtype_bits (dtype);
  const Wide low = x & (((Wide) 1 << bits) - 1);

  return lpt_dtype_kind (dtype) == LPT_KIND_SINT && (low >> (bits - 1)) != 0 ? low - ((Wide) 1 << bits) : low;
}

/* Ends of the type and their neighbours, and any number of it. */
static Wide
draw (LptDType dtype)
{
  static const gint64 near[] = { 0, 1, 2, 3, -1, -2, -3 };
  const guint bits = lpt_dtype_bits (dtype);
  const Wide end = (Wide) 1 << (bits - (lpt_dtype_kind (dtype) == LPT_KIND_SINT));
  const Wide any = ((Wide) (guint32) g_test_rand_int () << 32) | (guint32) g_test_rand_int ();

  switch (g_test_rand_int_range (0, 3))
    {
    case 0: return keep (near[g_test_rand_int_range (0, G_N_ELEMENTS (near))], dtype);
    case 1: return keep (end + near[g_test_rand_int_range (0, G_N_ELEMENTS (near))], dtype);
    default: return keep (any, dtype);
    }
}

/* u64 have no other way into a tensor than their bytes. */
static LptTensor *
tensor_of (LptDType    dtype,
           const Wide *values)
{
  const LptShape shape = { .rank = 1, .dims = { N } };
  guint64 words[N];
  double numbers[N];
  guint i;

  for (i = 0; i < N; i++)
    {
      words[i] = (guint64) values[i];
      numbers[i] = (double) values[i];
    }

  return lpt_dtype_bits (dtype) == 64 ? lpt_tensor_new_copy (dtype, &shape, words, NULL)
                                      : lpt_tensor_from_f64 (dtype, &shape, numbers, NULL);
}

/* All outputs. */
static GPtrArray *
run_graph (LptGraph         *graph,
           guint             flags,
           LptTensor *const *in)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, flags, &error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, &error) : NULL;
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  guint i;

  g_assert_no_error (error);
  for (i = 0; i < lpt_plan_n_inputs (plan); i++)
    g_assert_true (lpt_plan_context_set_input (context, i, in[i], &error));
  g_assert_true (lpt_plan_run (plan, context, &error));
  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    g_ptr_array_add (outputs, lpt_plan_context_output (context, i, &error));
  g_assert_no_error (error);

  return outputs;
}

/* The forms of a graph that give the same: the reference, the kernels, and those of what the pipeline makes of it. */
enum { REFERENCE, KERNELS, LOWERED, N_FORMS };

static GPtrArray *
run_form (const char       *text,
          guint             form,
          LptTensor *const *in)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (LptConfig) config = lpt_config_new ();

  g_assert_no_error (error);
  g_assert_true (form != LOWERED || lpt_pipeline_run (graph, config, NULL, NULL, &error));

  return run_graph (graph, form == REFERENCE ? LPT_PLAN_REFERENCE : 0, in);
}

static void
check (const Case *c,
       LptDType    dtype,
       guint       flags,
       gboolean    folded)
{
  g_autofree char *plain = g_strdup_printf ("%%y = %s(%s)", c->op, c->n_in == 2 ? "%a, %b" : "%a");
  g_autofree char *rows = g_strdup_printf ("%%zero = Const {0} : i64[1]\n%%one = Const {1} : i64[1]\n"
                                           "%%d = Const {1, %d} : i64[2]\n%%p = Reshape(%%a, %%d)\n"
                                           "%%q = Reshape(%%b, %%d)\n%%c = Concat(%%p, %%q) {axis=0}\n%s", N,
                                           c->ending != NULL ? c->ending : "");
  g_autofree char *text = g_strdup_printf ("%%a = Parameter : %s[%d]\n%%b = Parameter : %s[%d]\n%s\n"
                                           "Result(%%y)\nResult(%%a)\nResult(%%b)\n",
                                           lpt_dtype_name (dtype), N, lpt_dtype_name (dtype), N,
                                           c->ending != NULL ? rows : plain);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (LptTensor) a = NULL, b = NULL;
  LptTensor **in[2] = { &a, &b }, *out;
  g_autoptr (GPtrArray) outputs = NULL;
  Wide values[2][N];
  guint i, k;

  g_assert_no_error (error);
  for (i = 0; i < 2; i++)
    {
      for (k = 0; k < N; k++)
        values[i][k] = draw (dtype);
      *in[i] = tensor_of (dtype, values[i]);
      if (folded)
        lpt_value_replace (lpt_node_out (lpt_graph_find (graph, i == 0 ? "a" : "b")),
                           lpt_node_out (lpt_graph_add_const (graph, NULL, *in[i])), NULL);
    }
  outputs = run_graph (graph, flags, (LptTensor *[]) { a, b });
  out = g_ptr_array_index (outputs, 0);
  for (k = 0; k < N; k++)
    {
      const Wide want = keep (c->define (values[0][k], values[1][k]), dtype);

      if (lpt_tensor_get_i64 (out, k) != (gint64) want)
        g_error ("%s of %s, %s%s: %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " give %" G_GINT64_FORMAT ", not %"
                 G_GINT64_FORMAT, c->op, lpt_dtype_name (dtype), flags != 0 ? "reference" : "kernels",
                 folded ? ", folded" : "", (gint64) values[0][k], (gint64) values[1][k],
                 lpt_tensor_get_i64 (out, k), (gint64) want);
    }
}

static void
test_wrap (gconstpointer data)
{
  const Case *c = data;
  guint t, how;

  for (t = 0; t < G_N_ELEMENTS (types); t++)
    for (how = 0; how < 4 && (c->define != absolute || types[t] != LPT_DTYPE_U64); how++)      /* held as i64 */
      check (c, types[t], how & 1 ? LPT_PLAN_REFERENCE : 0, how >= 2);
}

/* Products of matrices, transposed and not: every product and sum as if in 128 bits. */
static void
test_matmul (void)
{
  for (guint how = 0; how < 4 * G_N_ELEMENTS (types); how++)
    {
      const LptDType dtype = types[how / 4];
      const gboolean transposed = (how & 1) != 0;
      const guint flags = how & 2 ? LPT_PLAN_REFERENCE : 0;
      g_autofree char *text = g_strdup_printf (
        "%%a = Parameter : %s[4,32]\n%%b = Parameter : %s[%s]\n%%y = MatMul(%%a, %%b) {transpose_b=%s}\nResult(%%y)\n",
        lpt_dtype_name (dtype), lpt_dtype_name (dtype), transposed ? "4,32" : "32,4", transposed ? "true" : "false");
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
      g_autoptr (GPtrArray) outputs = NULL, in = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
      Wide values[2][N];

      g_assert_no_error (error);
      for (guint i = 0; i < 2; i++)
        {
          g_autoptr (LptTensor) vector = NULL;

          for (guint k = 0; k < N; k++)
            values[i][k] = draw (dtype);
          vector = tensor_of (dtype, values[i]);
          g_ptr_array_add (in, lpt_tensor_reshape (
            vector, &lpt_node_out (g_ptr_array_index (graph->parameters, i))->shape, NULL));
        }
      outputs = run_graph (graph, flags, (LptTensor *const *) in->pdata);
      for (guint k = 0; k < 16; k++)
        {
          unsigned __int128 sum = 0;

          for (guint i = 0; i < 32; i++)
            sum += (unsigned __int128) values[0][k / 4 * 32 + i] *
                   (unsigned __int128) values[1][transposed ? k % 4 * 32 + i : i * 4 + k % 4];
          g_assert_cmpint (lpt_tensor_get_i64 (g_ptr_array_index (outputs, 0), k), ==,
                           (gint64) keep ((Wide) sum, dtype));
        }
    }
}

/* In a graph of an OpenVINO IR integers of few bits do not wrap; an output of the kernels' plan saturates. */
static void
test_openvino (void)
{
  const char *text = "graph \"g\" {ir_version=11}\n%x = Parameter : u8[2]\n"
                     "%s = Const {3} : u8[]\n%z = Const {128} : u8[]\n"
                     "%m = Multiply(%x, %s) : u8[2]\n%y = Add(%m, %z) : u8[2]\nResult(%y)\n";
  const double codes[] = { 255, 5 };
  const LptShape shape = { .rank = 1, .dims = { 2 } };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (LptTensor) x = lpt_tensor_from_f64 (LPT_DTYPE_U8, &shape, codes, NULL);
  guint flags;

  g_assert_no_error (error);
  for (flags = 0; flags <= LPT_PLAN_REFERENCE; flags += LPT_PLAN_REFERENCE)
    {
      g_autoptr (GPtrArray) outputs = run_graph (graph, flags, &x);
      LptTensor *out = g_ptr_array_index (outputs, 0);

      g_assert_cmpfloat (lpt_tensor_get_f64 (out, 0), ==, flags == LPT_PLAN_REFERENCE ? 893 : 255);
      g_assert_cmpfloat (lpt_tensor_get_f64 (out, 1), ==, 143);
    }
}

/* Integers that are made of codes: the numbers that those stand for, half to even, saturating, in each form of the
 * graph and for each that reads them. */
static void
test_codes (void)
{
  const char *text = "%x = Parameter : i8[256] q{scale=2.5, zp=20}\n%n = Const {16, -1} : i64[2]\n"
                     "%y = Reshape(%x, %n) : i8[16,16]\n%z = Negative(%x) : i8[256]\n%w = Add(%y, %y) : i8[16,16]\n"
                     "Result(%y)\nResult(%z)\nResult(%w)\n";
  const LptShape shape = { .rank = 1, .dims = { 256 } };
  double codes[256];

  for (gint k = 0; k < 256; k++)
    codes[k] = (double) k - 128;
  g_autoptr (LptTensor) x = lpt_tensor_from_f64 (LPT_DTYPE_I8, &shape, codes, NULL);
  for (guint form = 0; form < N_FORMS; form++)
    {
      g_autoptr (GPtrArray) outputs = run_form (text, form, &x);

      for (guint o = 0; o < 3; o++)
        {
          LptTensor *out = g_ptr_array_index (outputs, o);

          for (gint k = 0; k < 256; k++)
            {
              const gint number = (gint) nearbyint (2.5 * (k - 148)), y = CLAMP (number, -128, 127);
              const gint want[] = { y, CLAMP (-number, -128, 127), (gint) keep (2 * y, LPT_DTYPE_I8) };

              g_assert_cmpfloat (lpt_tensor_get_f64 (out, k), ==, want[o]);
            }
        }
    }
}

/* Integers that are made of sums of codes in unit steps: those sums, which have more bits than float32, in each form of
 * the graph, joined with what is beside them by less than two. */
static void
test_sums (void)
{
  enum { ROWS = 3, TERMS = 600, COLUMNS = 4, SUMS = ROWS * COLUMNS };
  const char *text = "%x = Parameter : u8[3,600] q{scale=1}\n%u = Parameter : i8[600,4] q{scale=1}\n"
                     "%b = Parameter : i32[3,4]\n%m = MatMul(%x, %u) #{relaxed} : i32[3,4] q{scale=1}\n"
                     "%a = Add(%m, %b) : i32[3,4]\n%d = Subtract(%b, %m) : i32[3,4]\n"
                     "%p = Multiply(%m, %b) : i32[3,4]\n%g = Greater(%m, %b) : boolean[3,4]\n"
                     "%s = Select(%g, %m, %b) : i32[3,4]\n%n = Negative(%m) : i32[3,4]\n"
                     "%c = Convert(%m) {destination_type=i64} : i64[3,4]\n"
                     "Result(%a)\nResult(%d)\nResult(%p)\nResult(%g)\nResult(%s)\nResult(%n)\nResult(%c)\n";
  const LptShape data = { .rank = 2, .dims = { ROWS, TERMS } }, weights = { .rank = 2, .dims = { TERMS, COLUMNS } },
                 sums = { .rank = 2, .dims = { ROWS, COLUMNS } };
  double x[ROWS * TERMS], w[TERMS * COLUMNS], b[SUMS];
  gint64 m[SUMS];

  for (guint i = 0; i < G_N_ELEMENTS (x); i++)
    x[i] = g_test_rand_int_range (250, 256);
  for (guint i = 0; i < G_N_ELEMENTS (w); i++)
    w[i] = g_test_rand_int_range (120, 128);
  for (guint i = 0; i < SUMS; i++)
    {
      m[i] = 0;
      for (guint k = 0; k < TERMS; k++)
        m[i] += (gint64) (x[i / COLUMNS * TERMS + k] * w[k * COLUMNS + i % COLUMNS]);
      g_assert_cmpint (m[i], >, 1 << 24);
      b[i] = (double) (m[i] + g_test_rand_int_range (-1, 2));
    }
  g_autoptr (LptTensor) tx = lpt_tensor_from_f64 (LPT_DTYPE_U8, &data, x, NULL);
  g_autoptr (LptTensor) tw = lpt_tensor_from_f64 (LPT_DTYPE_I8, &weights, w, NULL);
  g_autoptr (LptTensor) tb = lpt_tensor_from_f64 (LPT_DTYPE_I32, &sums, b, NULL);
  for (guint form = 0; form < N_FORMS; form++)
    {
      g_autoptr (GPtrArray) outputs = run_form (text, form, (LptTensor *[]) { tx, tw, tb });

      for (guint o = 0; o < outputs->len; o++)
        {
          LptTensor *out = g_ptr_array_index (outputs, o);

          g_assert_true (lpt_dtype_is_integer (lpt_tensor_dtype (out)) || lpt_tensor_dtype (out) == LPT_DTYPE_BOOL);
          for (guint i = 0; i < SUMS; i++)
            {
              const gint64 v = (gint64) b[i];
              const gint64 want[] = { m[i] + v, v - m[i], (gint64) keep ((Wide) m[i] * v, LPT_DTYPE_I32), m[i] > v,
                                      MAX (m[i], v), -m[i], m[i] };

              g_assert_cmpint (lpt_tensor_get_i64 (out, i), ==, want[o]);
            }
        }
    }
}

/* So in bodies within bodies, whose graphs no file gives a version, in whatever form the graph was kept meanwhile. */
static void
test_bodies (void)
{
  const char *text = "graph \"g\" {ir_version=11}\n%x = Parameter : u8[2]\n%c = Parameter : boolean[1]\n"
                     "%y = TensorIterator(%x, %c) : u8[2] {\n  body {\n"
                     "    in 0 -> 0 axis=0\n    in 1 -> 1\n    out 0 <- 0 axis=0\n"
                     "    %a = Parameter : u8[1]\n    %d = Parameter : boolean[1]\n    %i = If(%d, %a) : u8[1] {\n"
                     "      body {\n        in 1 -> 0\n        out 0 <- 0\n        %b = Parameter : u8[1]\n"
                     "        %s = Const {3} : u8[]\n        %z = Const {128} : u8[]\n        %e = Const {8} : u8[]\n"
                     "        %m = Multiply(%b, %s) : u8[1]\n        %p = Add(%m, %z) : u8[1]\n"
                     "        %q = Divide(%p, %e) : u8[1]\n        Result(%q)\n      }\n"
                     "      body {\n        in 1 -> 0\n        out 0 <- 0\n        %k = Parameter : u8[1]\n"
                     "        Result(%k)\n      }\n"
                     "    }\n    Result(%i)\n  }\n}\nResult(%y)\n";
  const char *const forms[] = { "lpt", "json", "xml" };
  const double codes[] = { 255, 5 }, yes[] = { 1 };
  const LptShape shape = { .rank = 1, .dims = { 2 } }, one = { .rank = 1, .dims = { 1 } };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (LptTensor) x = lpt_tensor_from_f64 (LPT_DTYPE_U8, &shape, codes, NULL);
  g_autoptr (LptTensor) c = lpt_tensor_from_f64 (LPT_DTYPE_BOOL, &one, yes, NULL);
  g_autofree char *folder = g_dir_make_tmp ("lpt-wrap-XXXXXX", NULL);
  guint f, flags;

  g_assert_no_error (error);
  for (f = 0; f < G_N_ELEMENTS (forms); f++)
    {
      g_autofree char *path = g_strdup_printf ("%s/g.%s", folder, forms[f]);
      g_autofree char *weights = g_strdup_printf ("%s/g.bin", folder);
      g_autoptr (LptGraph) again = NULL;

      g_assert_true (lpt_graph_save (graph, path, NULL, &error));
      again = lpt_graph_load (path, NULL, &error);
      g_assert_no_error (error);
      for (flags = 0; flags <= LPT_PLAN_REFERENCE; flags += LPT_PLAN_REFERENCE)
        {
          g_autoptr (GPtrArray) outputs = run_graph (again, flags, (LptTensor *[]) { x, c });
          LptTensor *out = g_ptr_array_index (outputs, 0);

          g_assert_cmpfloat (lpt_tensor_get_f64 (out, 0), ==, (255 * 3 + 128) / 8);
          g_assert_cmpfloat (lpt_tensor_get_f64 (out, 1), ==, (5 * 3 + 128) / 8);
        }
      g_unlink (path);
      g_unlink (weights);
    }
  g_rmdir (folder);
}

/* The mean of integers is an integer, whatever reads it. */
static void
test_mean (void)
{
  const char *text = "%x = Parameter : u8[1,3,1,2]\n"
                     "%m = AvgPool(%x) {kernel=[1,2], strides=[1,1], "
                     "pads_begin=[0,0], pads_end=[0,0], exclude-pad=true} : u8[1,3,1,1]\n"
                     "%r = Relu(%m) : u8[1,3,1,1]\n%f = Convert(%m) {destination_type=f32} : f32[1,3,1,1]\n"
                     "Result(%m)\nResult(%r)\nResult(%f)\n";
  const double codes[] = { 1, 4, 3, 4, 255, 254 }, means[] = { 2, 4, 254 };
  const LptShape shape = { .rank = 4, .dims = { 1, 3, 1, 2 } };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (LptTensor) x = lpt_tensor_from_f64 (LPT_DTYPE_U8, &shape, codes, NULL);
  guint flags, o, i;

  g_assert_no_error (error);
  for (flags = 0; flags <= LPT_PLAN_REFERENCE; flags += LPT_PLAN_REFERENCE)
    {
      g_autoptr (GPtrArray) outputs = run_graph (graph, flags, &x);

      for (o = 0; o < 3; o++)
        for (i = 0; i < 3; i++)
          g_assert_cmpfloat (lpt_tensor_get_f64 (g_ptr_array_index (outputs, o), i), ==, means[i]);
    }
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/wrap/", cases[i].op, NULL);

      g_test_add_data_func (path, &cases[i], test_wrap);
    }
  g_test_add_func ("/wrap/matmul", test_matmul);
  g_test_add_func ("/wrap/openvino", test_openvino);
  g_test_add_func ("/wrap/bodies", test_bodies);
  g_test_add_func ("/wrap/mean", test_mean);
  g_test_add_func ("/wrap/codes", test_codes);
  g_test_add_func ("/wrap/sums", test_sums);

  return g_test_run ();
}
