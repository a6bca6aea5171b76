/* test-fast-windows.c - drawn convolutions, transposed ones and pools of one to three axes: the fast program gives the
 * bytes of the plain ops
 *
 * Integers: u8 and i8 activations and weights, zero points on both, for all or for each channel, strides, dilations,
 * groups, depthwise, asymmetric pads, output padding; what follows is requantized, by the default mode or as TensorFlow
 * Lite does, int32, real or a sum. The same shapes in float. Every case must have run a kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

#define N_CASES 60

typedef struct
{
  GString *text;
  guint32  state;            /* xorshift32 */
  gint     axes;
  gint     in[3], out[3], kernel[3], stride[3], dilation[3], pad[3], end[3], more[3];
  gint     batch, groups, channels, results;         /* of a group */
  gboolean transposed, dilated, real, line, span;    /* line: taps of one channel along the last axis only */
  const char *requant;       /* mode of the graph's requantization */
} Draw;

static gint
draw (Draw *d,
      gint  low,
      gint  high)
{
  d->state ^= d->state << 13;
  d->state ^= d->state >> 17;
  d->state ^= d->state << 5;

  return low + (gint) (d->state % (guint) (high - low + 1));
}

static gboolean
draw_yes (Draw *d,
          gint  of)
{
  return draw (d, 1, of) == 1;
}

/* Windows, until all axes have an output; over some last axes there is nothing to go. */
static void
draw_window (Draw *d)
{
  gboolean column = d->axes > 1 && draw_yes (d, 5);
  gint k;

  for (k = 0; k < d->axes; k++)
    do
      {
        gboolean single = column && k == d->axes - 1;
        gint reach;

        d->in[k] = single ? 1 : draw (d, 1, d->axes == 1 ? 24 : d->axes == 2 ? 9 : 5);
        d->kernel[k] = single ? 1 : draw (d, 1, d->axes == 1 ? 7 : d->axes == 2 ? 5 : 3);
        d->stride[k] = d->transposed && single ? 1 : draw (d, 1, 3);
        d->dilation[k] = d->dilated && draw_yes (d, 3) ? draw (d, 1, 3) : 1;
        reach = (d->kernel[k] - 1) * d->dilation[k] + 1;
        d->pad[k] = draw (d, 0, MIN (2, reach - 1));
        d->end[k] = draw (d, 0, MIN (2, reach - 1));
        d->more[k] = d->transposed && d->stride[k] > 1 ? draw (d, 0, d->stride[k] - 1) : 0;
        d->out[k] = d->transposed ? (d->in[k] - 1) * d->stride[k] + reach - d->pad[k] - d->end[k] + d->more[k]
                    : d->in[k] + d->pad[k] + d->end[k] < reach
                        ? 0
                        : (d->in[k] + d->pad[k] + d->end[k] - reach) / d->stride[k] + 1;
      }
    while (d->out[k] < 1 || d->out[k] > 40);
}

static void
put_dims (Draw       *d,
          const gint *dims)
{
  gint k;

  for (k = 0; k < d->axes; k++)
    g_string_append_printf (d->text, ",%d", dims[k]);
}

static void
put_ints (Draw       *d,
          const char *name,
          const gint *values)
{
  gint k;

  g_string_append_printf (d->text, "%s=[", name);
  for (k = 0; k < d->axes; k++)
    g_string_append_printf (d->text, "%s%d", k > 0 ? "," : "", values[k]);
  g_string_append (d->text, "]");
}

static void
put_window (Draw    *d,
            gboolean dilated)
{
  put_ints (d, "strides", d->stride);
  put_ints (d, ", pads_begin", d->pad);
  put_ints (d, ", pads_end", d->end);
  if (dilated)
    put_ints (d, ", dilations", d->dilation);
  if (d->transposed)
    put_ints (d, ", output_padding", d->more);
}

/* [batch, channels, lengths] */
static void
put_value (Draw       *d,
           const char *type,
           gint        channels,
           const gint *lengths)
{
  g_string_append_printf (d->text, " : %s[%d,%d", type, d->batch, channels);
  put_dims (d, lengths);
  g_string_append (d->text, "]");
}

static gint
n_weights (const Draw *d)
{
  gint n = d->groups * d->channels * d->results, k;

  for (k = 0; k < d->axes; k++)
    n *= d->kernel[k];

  return n;
}

static void
put_weights (Draw       *d,
             const char *type,
             gint        low,
             gint        high,
             gboolean    grouped)
{
  gint n = n_weights (d), i;

  g_string_append (d->text, "%w = Const {");
  for (i = 0; i < n; i++)
    if (d->real)
      g_string_append_printf (d->text, "%s%g", i > 0 ? "," : "", draw (d, low, high) / 64.0);
    else
      g_string_append_printf (d->text, "%s%d", i > 0 ? "," : "", draw (d, low, high));
  g_string_append_printf (d->text, "} : %s[", type);
  if (grouped)
    g_string_append_printf (d->text, "%d,", d->groups);
  g_string_append_printf (d->text, "%d,%d", d->transposed ? d->channels : d->results,
                          d->transposed ? d->results : d->channels);
  put_dims (d, d->kernel);
  g_string_append (d->text, "]");
}

/* Scales and zero points: one, or one for each channel, group, or channel of a group. */
static void
put_quant (Draw    *d,
           gboolean grouped,
           gint     low,
           gint     high)
{
  gboolean zeros = draw_yes (d, 2), by_group = grouped && draw_yes (d, 2);
  gint axis = by_group ? 0 : (grouped ? 1 : 0) + (d->transposed ? 1 : 0), n = by_group ? d->groups : d->results, i;

  if (draw_yes (d, 2))
    {
      g_string_append_printf (d->text, " q{scale=0.003, zp=%d}\n", zeros ? draw (d, low, high) : 0);
      return;
    }
  g_string_append_printf (d->text, " q{axis=%d, scale=[", axis);
  for (i = 0; i < n; i++)
    g_string_append_printf (d->text, "%s%g", i > 0 ? "," : "", draw (d, 1, 40) * 0.0002);
  g_string_append (d->text, "], zp=[");
  for (i = 0; i < n; i++)
    g_string_append_printf (d->text, "%s%d", i > 0 ? "," : "", zeros ? draw (d, low, high) : 0);
  g_string_append (d->text, "]}\n");
}

static void
put_bias (Draw       *d,
          const char *type)
{
  gint n = d->groups * d->results, i;

  g_string_append (d->text, "%b = Const {");
  for (i = 0; i < n; i++)
    g_string_append_printf (d->text, "%s%d", i > 0 ? "," : "", draw (d, -900, 900));
  g_string_append_printf (d->text, "} : %s[%d]\n", type, n);
}

/* One channel, and along the last axis alone more than one tap; lines that several tasks share, and some that lie
 * outside. */
static void
draw_line (Draw *d)
{
  gint k;

  d->axes = draw (d, 1, 3);
  d->batch = draw (d, 1, 2);
  d->groups = d->channels = 1;
  d->results = draw (d, 1, 40);
  draw_window (d);
  for (k = 0; k < d->axes; k++)
    {
      const gboolean last = k == d->axes - 1;

      d->in[k] = last ? draw (d, 10, 150) : draw (d, 1, 5);
      d->kernel[k] = last ? draw (d, 3, 9) : 1;
      d->out[k] = (d->in[k] + d->pad[k] + d->end[k] - d->kernel[k]) / d->stride[k] + 1;
    }
}

/* One channel, whose last axes the kernel spans as a whole. */
static void
draw_span (Draw *d)
{
  gint k, first;

  d->axes = draw (d, 2, 3);
  d->batch = draw (d, 1, 2);
  d->groups = d->channels = 1;
  d->results = draw (d, 1, 40);
  draw_window (d);
  first = draw (d, 1, d->axes - 1);
  for (k = 0; k < d->axes; k++)
    {
      const gboolean whole = k >= first;

      d->dilation[k] = !whole && draw_yes (d, 4) ? 2 : 1;
      d->kernel[k] = draw (d, 1, 5);
      d->in[k] = whole ? d->kernel[k] : d->kernel[k] * d->dilation[k] + draw (d, 1, 9);
      d->pad[k] = whole ? 0 : d->pad[k];
      d->end[k] = whole ? 0 : d->end[k];
      d->out[k] = (d->in[k] + d->pad[k] + d->end[k] - (d->kernel[k] - 1) * d->dilation[k] - 1) / d->stride[k] + 1;
    }
}

static void
draw_shape (Draw *d)
{
  if (d->span)
    {
      draw_span (d);
      return;
    }
  if (d->line)
    {
      draw_line (d);
      return;
    }
  d->axes = draw (d, 1, 3);
  d->batch = draw (d, 1, 2);
  d->transposed = draw_yes (d, 2);
  d->dilated = TRUE;
  draw_window (d);
  switch (draw (d, 0, 3))
    {
    case 0:
      d->groups = draw (d, 2, 40);
      d->channels = 1;
      d->results = draw_yes (d, 3) ? 2 : 1;
      break;
    case 1:
      d->groups = draw (d, 2, 3);
      d->channels = draw (d, 2, 9);
      d->results = draw (d, 1, 9);
      if (draw_yes (d, 2))
        {
          /* Many narrow groups, several of which fill a vector. */
          d->groups = draw (d, 3, 18);
          d->results = 1 << draw (d, 1, 3);
          d->channels = draw (d, 2, d->results);
        }
      break;
    default:
      d->groups = 1;
      d->channels = draw_yes (d, 2) ? draw (d, 1, 5) : draw (d, 6, 40);
      d->results = draw_yes (d, 2) ? draw (d, 1, 5) : draw (d, 6, 40);
    }
}

static const char *
op_name (const Draw *d,
         gboolean    grouped)
{
  return d->transposed ? grouped ? "GroupConvolutionBackpropData" : "ConvolutionBackpropData"
                       : grouped ? "GroupConvolution" : "Convolution";
}

static void
put_product (Draw    *d,
             gboolean grouped,
             gboolean biased)
{
  g_string_append_printf (d->text, "%%c = %s(%%x, %%w%s%s) {", op_name (d, grouped),
                          d->transposed && biased ? ", _" : "", biased ? ", %b" : "");
  put_window (d, TRUE);
  g_string_append (d->text, d->real ? "}" : "} #{relaxed}");
}

/* A pool before and behind makes layouts that planes would not show. */
static void
draw_integers (Draw *d)
{
  static const char *const types[] = { "u8", "i8" };
  const guint x = (guint) draw (d, 0, 1), w = (guint) draw (d, 0, 1), y = (guint) draw (d, 0, 1);
  const gint channels = d->groups * d->results, kind = draw (d, 0, 3);
  gboolean grouped = d->groups > 1 || draw_yes (d, 4), biased = draw_yes (d, 2);
  const char *own = kind == 2 ? "i32" : types[y];

  g_string_append_printf (d->text, "graph {lowered=true, requant=\"%s\"}\n%%x = Parameter", d->requant);
  put_value (d, types[x], d->groups * d->channels, d->in);
  g_string_append_printf (d->text, " q{scale=0.02, zp=%d}\n", draw_yes (d, 3) ? 0 : x == 0 ? draw (d, 0, 255) : draw (d, -128, 127));
  put_weights (d, types[w], w == 0 ? 0 : -128, w == 0 ? 255 : 127, grouped);
  put_quant (d, grouped, w == 0 ? 90 : -40, w == 0 ? 160 : 40);
  if (biased)
    put_bias (d, "i32");
  put_product (d, grouped, biased);
  put_value (d, own, channels, d->out);
  g_string_append_printf (d->text, kind == 2 ? " q{scale=0.0001}\n" : " q{scale=0.11, zp=%d}\n", draw (d, 0, 99));
  if (kind == 1)
    {
      /* A residual: a table of another input. */
      g_string_append (d->text, "%z = Parameter");
      put_value (d, types[y], channels, d->out);
      g_string_append (d->text, " q{scale=0.07, zp=3}\n%y = Add(%c, %z) #{relaxed}");
      put_value (d, types[y], channels, d->out);
      g_string_append (d->text, " q{scale=0.13, zp=60}\nResult(%y)\n");
    }
  else if (kind == 2)
    {
      g_string_append (d->text, "%y = Dequantize(%c)");
      put_value (d, "f32", channels, d->out);
      g_string_append (d->text, "\nResult(%y)\n");
    }
  else
    g_string_append (d->text, "Result(%c)\n");
}

static void
draw_floats (Draw *d)
{
  const gint channels = d->groups * d->results;
  gboolean grouped = d->groups > 1 || draw_yes (d, 4), biased = draw_yes (d, 2), adds = draw_yes (d, 2);

  d->real = TRUE;
  g_string_append (d->text, "%x = Parameter");
  put_value (d, "f32", d->groups * d->channels, d->in);
  g_string_append (d->text, "\n");
  put_weights (d, "f32", -99, 99, grouped);
  g_string_append (d->text, "\n");
  if (biased)
    put_bias (d, "f32");
  put_product (d, grouped, biased);
  put_value (d, "f32", channels, d->out);
  if (adds)
    {
      g_string_append (d->text, "\n%z = Parameter");
      put_value (d, "f32", channels, d->out);
      g_string_append (d->text, "\n%s = Add(%c, %z)");
      put_value (d, "f32", channels, d->out);
    }
  g_string_append_printf (d->text, "\n%%y = %s(%%%s)", draw_yes (d, 2) ? "Relu" : "Sigmoid", adds ? "s" : "c");
  put_value (d, "f32", channels, d->out);
  g_string_append (d->text, "\nResult(%y)\n");
}

static void
draw_pool (Draw *d)
{
  static const char *const types[] = { "u8", "i8", "f32" };
  const guint x = (guint) draw (d, 0, 2);
  gboolean max = draw_yes (d, 2);

  d->transposed = FALSE;
  d->dilated = max;
  draw_window (d);
  g_string_append (d->text, x < 2 ? "graph {lowered=true}\n%x = Parameter" : "%x = Parameter");
  put_value (d, types[x], d->channels, d->in);
  g_string_append_printf (d->text, "%s\n%%y = %s(%%x) {", x < 2 ? " q{scale=0.02, zp=9}" : "",
                          max ? "MaxPool" : "AvgPool");
  put_ints (d, "kernel", d->kernel);
  g_string_append (d->text, ", ");
  put_window (d, max);
  if (!max)
    g_string_append_printf (d->text, ", exclude-pad=%s", draw_yes (d, 2) ? "true" : "false");
  g_string_append (d->text, x < 2 ? "} #{relaxed}" : "}");
  put_value (d, types[x], d->channels, d->out);
  g_string_append (d->text, x == 2 ? "\nResult(%y)\n" : max ? " q{scale=0.02, zp=9}\nResult(%y)\n" : " q{scale=0.015, zp=5}\nResult(%y)\n");
}

/* Sums in another order, at all levels in the same. */
static void
check_near (LptGraph  *graph,
            GPtrArray *inputs)
{
  g_autoptr (GPtrArray) want = fast_run (graph, LPT_PLAN_REFERENCE, 1, inputs), first = NULL;
  guint k, threads;
  gint64 i;

  for (k = 0; lpt_cpu_level_at (k) != NULL; k++)
    for (threads = 1; threads < 3; threads++)
      {
        g_autoptr (GPtrArray) got = NULL;

        g_setenv ("LPT_CPU", lpt_cpu_level_at (k), TRUE);
        got = fast_run (graph, 0, threads, inputs);
        /* Levels without vectors run the plain op. */
        if (fast_assert_near (got->pdata[0], want->pdata[0], 1e-6) == 0)
          continue;
        if (first == NULL)
          first = g_ptr_array_ref (got);
        for (i = 0; i < lpt_tensor_count (got->pdata[0]); i++)
          g_assert_cmpfloat (lpt_tensor_get_f64 (got->pdata[0], i), ==, lpt_tensor_get_f64 (first->pdata[0], i));
      }
  g_unsetenv ("LPT_CPU");
}

static void
check (Draw *d)
{
  g_autoptr (LptGraph) graph = fast_case_read (d->text->str, "windows");
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  g_autoptr (GPtrArray) inputs = fast_case_inputs (graph, -2.5, 2.5);
  gboolean reorders = FALSE;
  guint i;

  /* By kernels. */
  for (i = 0; i < plan->program->ops->len; i++)
    {
      const LptProgramOp *op = plan->program->ops->pdata[i];

      g_assert_true (op->has_form || op->folded);
      reorders |= op->has_form && op->form.reorders;
    }

  fast_case_compare_plans (graph, reorders ? LPT_PLAN_ORDERED : 0, inputs);
  if (reorders)
    check_near (graph, inputs);
  g_string_free (d->text, TRUE);
}

static void
test_windows (gconstpointer data)
{
  static const char *const modes[] = { "single", "single", "single", "litert", "single", "single" };
  const guint kind = GPOINTER_TO_UINT (data);
  guint i;

  for (i = 0; i < N_CASES; i++)
    {
      Draw d = { .text = g_string_new (NULL), .state = 77 + 1000 * kind + i * 7919, .requant = modes[kind],
                 .line = kind == 4, .span = kind == 5 };

      while (draw (&d, 0, 9) > 0)
        ;
      draw_shape (&d);
      (kind == 1 || kind >= 4 ? draw_floats : kind == 2 ? draw_pool : draw_integers) (&d);
      check (&d);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/fast-windows/integers", GUINT_TO_POINTER (0), test_windows);
  g_test_add_data_func ("/fast-windows/floats", GUINT_TO_POINTER (1), test_windows);
  g_test_add_data_func ("/fast-windows/pools", GUINT_TO_POINTER (2), test_windows);
  g_test_add_data_func ("/fast-windows/integers-of-litert", GUINT_TO_POINTER (3), test_windows);
  g_test_add_data_func ("/fast-windows/floats-of-a-line", GUINT_TO_POINTER (4), test_windows);
  g_test_add_data_func ("/fast-windows/floats-of-whole-lines", GUINT_TO_POINTER (5), test_windows);

  return g_test_run ();
}
