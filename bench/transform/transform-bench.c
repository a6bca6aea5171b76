/* transform-bench.c - time of the pipeline on chains of FakeQuantize and Convolution
 *
 *     transform-bench [COUNT...]        default: 5000 10000 20000
 *
 * Prints for each count the seconds that the pipeline took, up to cleanup and with lowering, and microseconds per pair.
 * Exit code 1 when the longest chain takes 10 s or more, or when the time per pair of the longest chain is more than
 * twice that of the shortest: growth is linear.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-pass.h>

#include <stdio.h>
#include <stdlib.h>

#define LIMIT_SECONDS 10.0
#define LIMIT_GROWTH  2.0

static LptValue *
done (LptNode *node)
{
  g_autoptr (GError) error = NULL;
  if (!lpt_node_infer (node, &error))
    g_error ("%s", error->message);
  return lpt_node_out (node);
}

static LptValue *
number (LptGraph *graph, double value)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_scalar (LPT_DTYPE_F32, value);
  return done (lpt_graph_add_const (graph, NULL, tensor));
}

static LptValue *
fake_quantize (LptGraph *graph, LptValue *x, double low, double high, gint64 levels)
{
  LptValue *lo = number (graph, low), *hi = number (graph, high);
  LptNode *node = lpt_graph_add (graph, LPT_OP_FAKE_QUANTIZE, 0, NULL, 5, (LptValue *[]) { x, lo, hi, lo, hi });
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = levels;
  return done (node);
}

/* Parameter, then @n times FakeQuantize and Convolution with FakeQuantize weights (transfer full). */
static LptGraph *
chain (guint n)
{
  LptGraph *graph = lpt_graph_new ("chain");
  LptNode *node = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, NULL, 0, NULL);
  LptShape shape = lpt_shape_make (4, (gint64[]) { 1, 4, 4, 4 }),
           kernel = lpt_shape_make (4, (gint64[]) { 4, 4, 1, 1 });
  double weights[16];
  for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
    weights[i] = (double) (i * 37 % 255) / 254 - 0.5;
  LPT_ATTRS (node, LptParameterAttrs)->shape = shape;
  LPT_ATTRS (node, LptParameterAttrs)->element_type = LPT_DTYPE_F32;
  LptValue *x = done (node);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (LptTensor) tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &kernel, weights, NULL);
      LptValue *w = fake_quantize (graph, done (lpt_graph_add_const (graph, NULL, tensor)), -0.5, 0.5, 255);
      LptValue *q = fake_quantize (graph, x, 0.0, 2.55, 256);
      node = lpt_graph_add (graph, LPT_OP_CONVOLUTION, 1, NULL, 2, (LptValue *[]) { q, w });
      LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);
      lpt_ints_fill (&attrs->strides, 2, 1);
      lpt_ints_fill (&attrs->pads_begin, 2, 0);
      lpt_ints_fill (&attrs->pads_end, 2, 0);
      lpt_ints_fill (&attrs->dilations, 2, 1);
      x = done (node);
    }
  done (lpt_graph_add (graph, LPT_OP_RESULT, 0, NULL, 1, &x));
  return graph;
}

static double
seconds (guint n, LptStage until)
{
  g_autoptr (LptGraph) graph = chain (n);
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (GError) error = NULL;
  config->until = until;
  gint64 start = g_get_monotonic_time ();
  if (!lpt_pipeline_run (graph, config, NULL, NULL, &error))
    g_error ("%s", error->message);
  return (double) (g_get_monotonic_time () - start) * 1e-6;
}

int
main (int argc, char **argv)
{
  static const guint counts[] = { 5000, 10000, 20000 };
  guint n = argc > 1 ? (guint) argc - 1 : G_N_ELEMENTS (counts);
  double first = 0.0, last = 0.0, took = 0.0;
  printf ("%8s %10s %10s %10s\n", "pairs", "cleanup s", "lower s", "us/pair");
  for (guint i = 0; i < n; i++)
    {
      guint count = argc > 1 ? (guint) strtoul (argv[i + 1], NULL, 10) : counts[i];
      if (count == 0)
        {
          fprintf (stderr, "transform-bench: \"%s\" is no count\n", argv[i + 1]);
          return 2;
        }
      double cleanup = seconds (count, LPT_STAGE_CLEANUP);
      took = seconds (count, LPT_STAGE_LOWER);
      last = took / count;
      first = i == 0 ? last : first;
      printf ("%8u %10.3f %10.3f %10.1f\n", count, cleanup, took, last * 1e6);
    }
  printf ("growth of the time per pair: %.2f\n", last / first);
  return took < LIMIT_SECONDS && last <= LIMIT_GROWTH * first ? 0 : 1;
}
