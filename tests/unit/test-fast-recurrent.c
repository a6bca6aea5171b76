/* test-fast-recurrent.c - recurrent cells and sequences on packed weights give the bits of the plain ops
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"
#include "fast-draw.h"

/* Numbers for a Const of @n elements. */
static void
append_numbers (GString *text,
                gint64   n,
                double   most)
{
  gint64 i;

  for (i = 0; i < n; i++)
    g_string_append_printf (text, "%s%.9g", i > 0 ? "," : "",
                            (double) (float) g_rand_double_range (draws, -most, most));
}

static void
append_const (GString    *text,
              const char *name,
              const char *shape,
              gint64      n,
              double      most)
{
  g_string_append_printf (text, "%%%s = Const {", name);
  append_numbers (text, n, most);
  g_string_append_printf (text, "} : f32[%s]\n", shape);
}

/* Weights [directions, rows, elements], the first axis only where it is written: real, or codes with one scale, or one
 * for each row, or for each direction. */
static void
append_weights (GString    *text,
                const char *name,
                const char *directions,
                const gint  dims[3],
                gint        coded,
                double      most)
{
  const gint64 rows = dims[1], count = dims[0] * rows * dims[2];
  g_autofree char *shape = g_strdup_printf ("%s%d,%d", directions, dims[1], dims[2]);
  gint64 i;

  if (coded == 0)
    {
      append_const (text, name, shape, count, most);
      return;
    }
  g_string_append_printf (text, "%%%s = Const {", name);
  for (i = 0; i < count; i++)
    g_string_append_printf (text, "%s%d", i > 0 ? "," : "", draw (-128, 127));
  g_string_append_printf (text, "} : i8[%s] q{", shape);
  if (coded == 1 || (coded == 3 && dims[0] == 1))
    g_string_append (text, "scale=0.0030517578125}\n");
  else if (coded == 3)
    g_string_append (text, "axis=0, scale=[0.0030517578125, 0.00213]}\n");
  else
    {
      g_string_append_printf (text, "axis=%d, scale=[", *directions == '\0' ? 0 : 1);
      for (i = 0; i < rows; i++)
        g_string_append_printf (text, "%s%.17g", i > 0 ? "," : "", g_rand_double_range (draws, 0.001, 0.004));
      g_string_append (text, "]}\n");
    }
}

/* The attributes that all of them have, from `hidden_size` on. */
static void
append_attributes (GString *text,
                   gint     kind,
                   gint     hidden,
                   gboolean linear)
{
  static const char *const functions[3][3] = {
    { "", "sigmoid,tanh,relu", "hardsigmoid,softsign,tanh" },
    { "", "tanh,sigmoid", "hardsigmoid,relu" },
    { "", "relu", "softplus" },
  };
  const char *names = functions[kind][draw (0, 2)];

  g_string_append_printf (text, "hidden_size=%d", hidden);
  if (*names != '\0')
    g_string_append_printf (text, ", activations=\"%s\"", names);
  if (draw (0, 2) == 0)
    g_string_append (text, ", clip=0.5");
  if (linear)
    g_string_append (text, ", linear_before_reset=true");
}

/* LSTM, GRU or RNN; a cell or a sequence. */
static char *
draw_graph (gint     kind,
            gboolean cell,
            gint     coded)
{
  static const char *const names[] = { "LSTM", "GRU", "RNN" };
  static const char *const ways[] = { "forward", "reverse", "bidirectional" };
  GString *text = g_string_new ("graph {lowered=true}\n");
  gint gates = kind == 0 ? 4 : kind == 1 ? 3 : 1, way = cell ? 0 : draw (0, 2), directions = way == 2 ? 2 : 1;
  gint batch = draw (0, 3) == 0 ? draw (8, 33) : draw (1, 5), steps = cell ? 1 : draw (1, 20), inputs = draw (1, 40),
       hidden = draw (1, 70);
  gboolean linear = kind == 1 && draw (0, 1), biased = draw (0, 3) > 0 || !cell;
  gint rows = gates * hidden, sums = (gates + linear) * hidden, i;
  g_autofree char *d = cell ? g_strdup ("") : g_strdup_printf ("%d,", directions), *state = NULL, *shape = NULL;

  state = g_strdup_printf ("%d,%s%d", batch, d, hidden);
  if (cell)
    g_string_append_printf (text, "%%x = Parameter : f32[%d,%d]\n", batch, inputs);
  else
    g_string_append_printf (text, "%%x = Parameter : f32[%d,%d,%d]\n", batch, steps, inputs);
  g_string_append_printf (text, "%%h = Parameter : f32[%s]\n", state);
  if (kind == 0)
    g_string_append_printf (text, "%%c = Parameter : f32[%s]\n", state);
  if (!cell)
    {
      gboolean ragged = draw (0, 1);

      g_string_append (text, "%s = Const {");
      for (i = 0; i < batch; i++)
        g_string_append_printf (text, "%s%d", i > 0 ? "," : "", ragged ? draw (0, steps) : steps);
      g_string_append_printf (text, "} : i64[%d]\n", batch);
    }
  append_weights (text, "w", d, (gint[]) { directions, rows, inputs }, coded, 0.5);
  append_weights (text, "r", d, (gint[]) { directions, rows, hidden }, coded, 0.3);
  shape = g_strdup_printf ("%s%d", d, sums);
  append_const (text, "b", shape, (gint64) directions * sums, 0.5);

  if (!cell)
    g_string_append_printf (text, "%%y = %sSequence(%%x, %%h%s, %%s, %%w, %%r, %%b) {direction=%s, ", names[kind],
                            kind == 0 ? ", %c" : "", ways[way]);
  else
    g_string_append_printf (text, "%%y = %sCell(%%x, %%h%s, %%w, %%r%s) {", names[kind], kind == 0 ? ", %c" : "",
                            biased ? ", %b" : "");
  append_attributes (text, kind, hidden, linear);
  g_string_append (text, "} : ");
  if (!cell)
    g_string_append_printf (text, "f32[%d,%d,%d,%d], ", batch, directions, steps, hidden);
  g_string_append_printf (text, "f32[%s]", state);
  if (kind == 0)
    g_string_append_printf (text, ", f32[%s]", state);
  g_string_append (text, "\nResult(%y)\n");
  for (i = 1; i < (kind == 0 ? 2 : 1) + !cell; i++)
    if (draw (0, 1))
      g_string_append_printf (text, "Result(%%y.%d)\n", i);

  return g_string_free (text, FALSE);
}

/* Its node is done by tasks, with real weights where the processor has fused multiply-adds. */
static void
check_form (LptGraph *graph,
            gboolean  coded)
{
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  guint i;

  for (i = 0; i < plan->program->ops->len; i++)
    {
      const LptProgramOp *op = plan->program->ops->pdata[i];

      if (g_str_has_prefix (op->row->name, "rnn"))
        g_assert_true (op->has_form || (!coded && plan->program->kernels.fgemm->needs == LPT_CPU_SCALAR));
    }
}

static void
test_drawn (void)
{
  gint kind, cell, round;

  draws = g_rand_new_with_seed (5);
  for (round = 0; round < 12; round++)
    for (kind = 0; kind < 3; kind++)
      for (cell = 0; cell < 2; cell++)
        {
          g_autofree char *text = draw_graph (kind, cell, round % 4);
          g_autoptr (LptGraph) graph = fast_case_read (text, "drawn");

          check_form (graph, round % 4 > 0);
          fast_case_compare (graph, -1, 1);
        }
  g_rand_free (draws);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-recurrent/drawn", test_drawn);

  return g_test_run ();
}
