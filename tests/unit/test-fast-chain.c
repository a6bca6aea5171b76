/* test-fast-chain.c - ops of the fast program as a chain: what their units wait for, with the bytes of the plain ops
 *
 * Images are large enough for ops to have several tasks. A case says of how many ops there are units that wait for less than
 * all of the op before, so that one that waits for everything fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"

typedef struct
{
  const char *name;
  guint       partial;
  const char *graph;         /* $(n): n small numbers */
} Case;

#define Q       " q{scale=0.05, zp=120}\n"
#define X(s)    "%x = Parameter : f32[" s "]\n%q = Quantize(%x) : u8[" s "]" Q
#define AT(stride, pad, dilation) " {strides=[" #stride "," #stride "], pads_begin=[" #pad "," #pad "], pads_end=[" #pad "," #pad "]," \
  " dilations=[" #dilation "," #dilation "]} : u8["
#define CONV(y, x, in, out, k, at, s) "%w" #y " = Const {$(" #out "*" #in "*" #k "*" #k ")} : i8[" #out "," #in "," #k "," #k "] q{scale=0.002}\n" \
  "%" #y " = Convolution(%" #x ", %w" #y ")" at s "]" Q
#define DEPTH(y, x, c, k, at, s) "%w" #y " = Const {$(" #c "*" #k "*" #k ")} : i8[" #c ",1,1," #k "," #k "] q{scale=0.01}\n" \
  "%" #y " = GroupConvolution(%" #x ", %w" #y ")" at s "]" Q
#define ADD(y, a, b, s) "%s" #y " = Add(%" #a ", %" #b ") : u8[" s "] q{scale=0.07, zp=120}\n%" #y " = Reinterpret(%s" #y ") : u8[" s "]" Q

static const Case cases[] =
{
  { "lines", 5, X ("1,16,60,52") CONV (a, q, 16, 64, 1, AT (1, 0, 1), "1,64,60,52") DEPTH (b, a, 64, 3, AT (1, 1, 1), "1,64,60,52")
    CONV (c, b, 64, 16, 1, AT (1, 0, 1), "1,16,60,52") CONV (d, c, 16, 64, 1, AT (1, 0, 1), "1,64,60,52")
    DEPTH (e, d, 64, 5, AT (2, 2, 1), "1,64,30,26") CONV (f, e, 64, 64, 3, AT (1, 2, 2), "1,64,30,26") "Result(%f)\n" },
  /* In place of what the op before reads with its neighbours. */
  { "residual", 4, X ("1,32,40,40") CONV (a, q, 32, 32, 1, AT (1, 0, 1), "1,32,40,40") CONV (b, a, 32, 32, 3, AT (1, 1, 1), "1,32,40,40")
    CONV (c, b, 32, 32, 1, AT (1, 0, 1), "1,32,40,40") ADD (d, c, a, "1,32,40,40") CONV (e, d, 32, 32, 3, AT (1, 1, 1), "1,32,40,40")
    CONV (f, e, 32, 32, 1, AT (1, 0, 1), "1,32,40,40") ADD (g, f, d, "1,32,40,40") "Result(%g)\n" },
  { "branches", 4, X ("2,32,24,20") CONV (a, q, 32, 64, 3, AT (1, 1, 1), "2,64,24,20") CONV (b, a, 64, 64, 1, AT (1, 0, 1), "2,64,24,20")
    CONV (c, a, 64, 64, 3, AT (1, 1, 1), "2,64,24,20") "%y = Concat(%b, %c) {axis=1} : u8[2,128,24,20]" Q
    CONV (d, y, 128, 64, 1, AT (1, 0, 1), "2,64,24,20") DEPTH (e, d, 64, 3, AT (1, 1, 1), "2,64,24,20")
    "%z = Concat(%e, %y) {axis=1} : u8[2,192,24,20]" Q "Result(%z)\n" },
  /* Cut by channels, not by pixels. */
  { "channels", 2, X ("1,512,5,5") CONV (a, q, 512, 512, 1, AT (1, 0, 1), "1,512,5,5") DEPTH (b, a, 512, 5, AT (1, 2, 1), "1,512,5,5")
    DEPTH (c, b, 512, 5, AT (1, 2, 1), "1,512,5,5") CONV (d, c, 512, 256, 1, AT (1, 0, 1), "1,256,5,5") "Result(%d)\n" },
  { "sums", 3, X ("1,32,40,40") CONV (a, q, 32, 64, 1, AT (1, 0, 1), "1,64,40,40") DEPTH (b, a, 64, 3, AT (1, 1, 1), "1,64,40,40")
    "%v = Multiply(%b, %a) : u8[1,64,40,40]" Q "%s = Sigmoid(%v) : u8[1,64,40,40] q{scale=0.004, zp=0}\n"
    "%m = MaxPool(%s) {kernel=[3,3], strides=[2,2], pads_begin=[1,1], pads_end=[1,1]} : u8[1,64,20,20] q{scale=0.004, zp=0}\n"
    CONV (c, m, 64, 64, 3, AT (1, 1, 1), "1,64,20,20") "%y = Dequantize(%c) : f32[1,64,20,20]\nResult(%y)\n" },
};

/* How many ops of chains have units that wait for less than all. */
static guint
count_partial (const LptPlan *plan)
{
  guint i, k, u, n = 0;

  for (i = 0; i < plan->program->overlaps->len; i++)
    {
      const LptOverlap *chain = &g_array_index (plan->program->overlaps, LptOverlap, i);

      for (k = 1; k < chain->n; k++)
        {
          guint64 all = G_MAXUINT64 >> (LPT_CHAIN_UNITS - chain->loops[k - 1].n_units);
          gboolean partial = FALSE;

          for (u = 0; u < chain->loops[k].n_units; u++)
            partial |= (chain->loops[k].needs[u] & all) != all;
          n += partial;
          for (u = 0; u < chain->loops[k].n_units; u++)
            g_assert_cmphex (chain->loops[k].needs[u] & ~all, ==, 0);
        }
    }

  return n;
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = fast_case_graph (c->graph, c->name);
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, &error);

  g_assert_no_error (error);
  g_test_message ("%u ops have units that wait for less than all", count_partial (plan));
  g_assert_cmpuint (count_partial (plan), >=, c->partial);
  fast_case_compare (graph, -4, 4);
}

int
main (int    argc,
      char **argv)
{
  gsize i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/fast-chain/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }

  return g_test_run ();
}
