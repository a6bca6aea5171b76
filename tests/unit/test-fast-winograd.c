/* test-fast-winograd.c - real convolutions by Winograd's transforms, or tap by tap, against the plain op
 *
 * Within two millionths of the largest output, and with the same bits at every level that has vectors and for every
 * number of threads. Odd lengths, pads, dilations, groups, images, and what follows the sums. What is too small for it,
 * and what it cannot do, has the bits of the plain op.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/kernels/lpt-kernels.h"
#include "fast-case.h"

#define BOUND 2e-6

#define CONV(window, out) "%c = Convolution(%x, %w) {" window "} : f32" out "\n"
#define PAD_1 "strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]"
#define X(shape) "%x = Parameter : f32" shape "\n"
#define W(n, shape) "%w = Const {#(" n ")} : f32" shape "\n"
#define END "Result(%c)\n"

static const struct { const char *name, *text; } cases[] = {
  { "even", X ("[1,32,12,20]") W ("32*32*9", "[32,32,3,3]") CONV (PAD_1, "[1,32,12,20]") END },
  { "odd, images", X ("[2,33,13,17]") W ("50*33*9", "[50,33,3,3]") CONV (PAD_1, "[2,50,13,17]") END },
  { "valid", X ("[1,40,14,9]") W ("32*40*9", "[32,40,3,3]")
             CONV ("strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]", "[1,32,12,7]") END },
  { "wide pads", X ("[1,32,9,9]") W ("32*32*9", "[32,32,3,3]")
                 CONV ("strides=[1,1], pads_begin=[3,0], pads_end=[4,2], dilations=[1,1]", "[1,32,14,9]") END },
  { "dilations", X ("[1,32,17,19]") W ("32*32*9", "[32,32,3,3]")
                 CONV ("strides=[1,1], pads_begin=[3,2], pads_end=[3,2], dilations=[3,2]", "[1,32,17,19]") END },
  { "columns in tasks", X ("[1,64,14,14]") W ("300*64*9", "[300,64,3,3]") CONV (PAD_1, "[1,300,14,14]") END },
  { "end", X ("[1,32,15,14]") W ("48*32*9", "[48,32,3,3]") "%b = Const {#(48)} : f32[1,48,1,1]\n"
           "%r = Parameter : f32[1,48,15,14]\n" CONV (PAD_1, "[1,48,15,14]")
           "%d = Add(%c, %b) : f32[1,48,15,14]\n%e = Add(%d, %r) : f32[1,48,15,14]\n"
           "%f = Relu(%e) : f32[1,48,15,14]\nResult(%f)\n" },
  { "function, sum", X ("[1,32,15,14]") W ("48*32*9", "[48,32,3,3]") "%r = Parameter : f32[1,48,15,14]\n"
                     CONV (PAD_1, "[1,48,15,14]")
                     "%d = Sigmoid(%c) : f32[1,48,15,14]\n%e = Multiply(%c, %d) : f32[1,48,15,14]\n"
                     "%f = Add(%e, %r) : f32[1,48,15,14]\nResult(%f)\n" },
  { "groups", X ("[1,64,12,12]") W ("2*40*32*9", "[2,40,32,3,3]")
              "%c = GroupConvolution(%x, %w) {" PAD_1 "} : f32[1,80,12,12]\n" END },
};

/* Most taps lie outside of the image. */
static const struct { const char *name, *text; } far_taps[] = {
  { "lines", X ("[1,48,5,17]") W ("48*48*9", "[48,48,3,3]")
             CONV ("strides=[1,1], pads_begin=[7,4], pads_end=[7,4], dilations=[7,4]", "[1,48,5,17]") END },
  { "both", X ("[2,37,20,19]") W ("50*37*9", "[50,37,3,3]")
            CONV ("strides=[1,1], pads_begin=[12,13], pads_end=[12,13], dilations=[12,13]", "[2,50,20,19]") END },
  { "no tap for some", X ("[1,32,6,6]") W ("64*32*9", "[64,32,3,3]")
                       CONV ("strides=[1,1], pads_begin=[9,5], pads_end=[9,7], dilations=[4,5]", "[1,64,16,8]") END },
  { "stride, even taps", X ("[1,80,9,14]") W ("130*80*2*4", "[130,80,2,4]")
                         CONV ("strides=[2,3], pads_begin=[7,11], pads_end=[6,9], dilations=[8,7]",
                               "[1,130,7,5]") END },
  { "rows that collide", X ("[1,1024,6,7]") W ("32*5*32*9", "[32,5,32,3,3]")
                         "%c = GroupConvolution(%x, %w) {strides=[1,1], pads_begin=[5,5], pads_end=[5,5], "
                         "dilations=[5,5]} : f32[1,160,6,7]\n" END },
  { "one axis", X ("[1,64,30]") W ("200*64*5", "[200,64,5]")
                CONV ("strides=[1], pads_begin=[50], pads_end=[50], dilations=[25]", "[1,200,30]") END },
  { "end", X ("[1,32,10,14]") W ("48*32*9", "[48,32,3,3]") "%b = Const {#(48)} : f32[1,48,1,1]\n"
           "%r = Parameter : f32[1,48,10,14]\n"
           CONV ("strides=[1,1], pads_begin=[8,9], pads_end=[8,9], dilations=[8,9]", "[1,48,10,14]")
           "%d = Add(%c, %b) : f32[1,48,10,14]\n%e = Add(%d, %r) : f32[1,48,10,14]\n"
           "%f = Relu(%e) : f32[1,48,10,14]\nResult(%f)\n" },
  { "groups", X ("[1,64,12,12]") W ("2*40*32*9", "[2,40,32,3,3]")
              "%c = GroupConvolution(%x, %w) {strides=[1,1], pads_begin=[9,9], pads_end=[9,9], "
              "dilations=[9,9]} : f32[1,80,12,12]\n"
              "%d = Sigmoid(%c) : f32[1,80,12,12]\nResult(%d)\n" },
};

/* These keep their bits. */
static const struct { const char *name, *text; } others[] = {
  { "few channels", X ("[1,4,12,20]") W ("32*4*9", "[32,4,3,3]") CONV (PAD_1, "[1,32,12,20]") END },
  { "one output", X ("[1,32,3,3]") W ("32*32*9", "[32,32,3,3]")
                  CONV ("strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]", "[1,32,1,1]") END },
  { "dilations beyond, little work", X ("[1,32,5,17]") W ("32*32*9", "[32,32,3,3]")
                                     CONV ("strides=[1,1], pads_begin=[7,4], pads_end=[7,4], dilations=[7,4]",
                                           "[1,32,5,17]") END },
  { "dilations beyond, few channels", X ("[1,16,5,17]") W ("32*16*9", "[32,16,3,3]")
                                      CONV ("strides=[1,1], pads_begin=[7,4], pads_end=[7,4], dilations=[7,4]",
                                            "[1,32,5,17]") END },
  { "stride", X ("[1,32,12,20]") W ("32*32*9", "[32,32,3,3]")
              CONV ("strides=[2,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]", "[1,32,6,20]") END },
  { "infinite", X ("[1,32,8,8]") "%w0 = Const {#(32*32*9)} : f32[32,32,3,3]\n%i = Const {inf} : f32[]\n"
                "%w = Multiply(%w0, %i) : f32[32,32,3,3]\n" CONV (PAD_1, "[1,32,8,8]") END },
};

/* The level that runs here is a scalar one. */
static gboolean
program_has_no_vectors (void)
{
  return lpt_kernels_for (lpt_cpu_detect ()).fgemm->needs == LPT_CPU_SCALAR;
}

static void
test_bound (gconstpointer data)
{
  g_autoptr (LptGraph) graph = fast_case_graph (data, "winograd");
  g_autoptr (GPtrArray) inputs = fast_case_inputs (graph, -2, 2);
  g_autoptr (GPtrArray) expected = fast_run (graph, LPT_PLAN_REFERENCE, 1, inputs), same = NULL;
  LptTensor *want = g_ptr_array_index (expected, 0);
  guint k, threads;
  gint64 i, differ;

  for (k = 0; lpt_cpu_level_at (k) != NULL; k++)
    for (threads = 1; threads <= LOOPS_DRAWN; threads++)
      {
        g_autoptr (GPtrArray) outputs = NULL;
        LptTensor *got;

        g_setenv ("LPT_CPU", lpt_cpu_level_at (k), TRUE);
        outputs = fast_run (graph, 0, threads, inputs);
        got = g_ptr_array_index (outputs, 0);
        differ = fast_assert_near (got, want, BOUND);
        /* Levels without vectors run the plain op. */
        if (differ == 0)
          continue;
        if (same == NULL)
          same = g_ptr_array_ref (outputs);
        for (i = 0; i < lpt_tensor_count (want); i++)
          g_assert_cmpfloat (lpt_tensor_get_f64 (got, i), ==, lpt_tensor_get_f64 (g_ptr_array_index (same, 0), i));
      }
  g_unsetenv ("LPT_CPU");
  g_assert_true (same != NULL || program_has_no_vectors ());
}

#define ROUNDED X ("[1,32,15,14]") W ("48*32*9", "[48,32,3,3]") CONV (PAD_1, "[1,48,15,14]")

/* What is rounded behind the sums is what stands there without a rounding. */
static void
test_rounded (void)
{
  g_autoptr (LptGraph) plain = fast_case_graph (ROUNDED END, "winograd");
  g_autoptr (LptGraph) rounded = fast_case_graph (
      ROUNDED "%h = Convert(%c) {destination_type=f16} : f16[1,48,15,14]\nResult(%h)\n", "winograd");
  g_autoptr (GPtrArray) inputs = fast_case_inputs (plain, -2, 2);
  guint k;
  gint64 i;

  for (k = 0; lpt_cpu_level_at (k) != NULL; k++)
    {
      g_autoptr (GPtrArray) sums = NULL, halves = NULL;

      g_setenv ("LPT_CPU", lpt_cpu_level_at (k), TRUE);
      sums = fast_run (plain, 0, 1, inputs);
      halves = fast_run (rounded, 0, 1, inputs);
      for (i = 0; i < lpt_tensor_count (sums->pdata[0]); i++)
        g_assert_cmpfloat (lpt_tensor_get_f64 (halves->pdata[0], i), ==,
                           lpt_dtype_round (LPT_DTYPE_F16, lpt_tensor_get_f64 (sums->pdata[0], i)));
    }
  g_unsetenv ("LPT_CPU");
}

static void
test_others (gconstpointer data)
{
  g_autoptr (LptGraph) graph = fast_case_graph (data, "winograd");
  g_autoptr (GPtrArray) inputs = fast_case_inputs (graph, -2, 2);

  fast_case_compare_inputs (graph, inputs);
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/winograd/%s", cases[i].name);

      g_test_add_data_func (path, cases[i].text, test_bound);
    }
  for (i = 0; i < G_N_ELEMENTS (far_taps); i++)
    {
      g_autofree char *path = g_strdup_printf ("/winograd/far taps/%s", far_taps[i].name);

      g_test_add_data_func (path, far_taps[i].text, test_bound);
    }
  g_test_add_func ("/winograd/rounded", test_rounded);
  for (i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *path = g_strdup_printf ("/winograd/not/%s", others[i].name);

      g_test_add_data_func (path, others[i].text, test_others);
    }

  return g_test_run ();
}
