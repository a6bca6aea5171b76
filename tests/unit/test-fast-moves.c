/* test-fast-moves.c - movements drawn: the fused program gives the bytes of the plain ops
 *
 * Chains of one to three movements of codes, reals and integers, channels last and row-major; Concat of equal and of
 * other scales, with constants among its inputs; Requantize from and to several scales. None of them may be left a
 * reference op but look-ups, which may fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/requant/lpt-requant-modes.h"
#include "executor/lpt-plan.h"
#include "fast-case.h"

#define ROUNDS 150

typedef struct
{
  GRand      *rand;
  GString    *text;
  const char *type, *quant;
  gint        rank, dims[6];
  guint       n;             /* of values: %v0, ... */
} Draw;

static gint
below (Draw *d,
       gint  n)
{
  return g_rand_int_range (d->rand, 0, n);
}

static void
add_shape (Draw *d)
{
  gint i;

  g_string_append_printf (d->text, " : %s[", d->type);
  for (i = 0; i < d->rank; i++)
    g_string_append_printf (d->text, "%s%d", i > 0 ? "," : "", d->dims[i]);
  g_string_append_printf (d->text, "]%s\n", d->quant);
}

/* %NAME, of @n integers. */
static void
add_ints (Draw       *d,
          const char *name,
          const gint *v,
          gint        n)
{
  gint i;

  g_string_append_printf (d->text, "%%%s%u = Const {", name, d->n);
  for (i = 0; i < n; i++)
    g_string_append_printf (d->text, "%s%d", i > 0 ? "," : "", v[i]);
  g_string_append_printf (d->text, "} : i64[%d]\n", n);
}

static void
draw_transpose (Draw *d)
{
  gint order[6], dims[6], i;

  memcpy (dims, d->dims, sizeof dims);
  for (i = 0; i < d->rank; i++)
    order[i] = i;
  for (i = d->rank; i-- > 1; )
    {
      gint k = below (d, i + 1), kept = order[i];

      order[i] = order[k];
      order[k] = kept;
    }
  for (i = 0; i < d->rank; i++)
    d->dims[i] = dims[order[i]];
  add_ints (d, "o", order, d->rank);
  g_string_append_printf (d->text, "%%v%u = Transpose(%%v%u, %%o%u)", d->n, d->n - 1, d->n);
}

static void
draw_pad (Draw *d)
{
  static const char *const modes[] = { "constant", "edge", "reflect", "symmetric" };
  const gint mode = below (d, 4);
  gint begin[6], end[6], i;

  for (i = 0; i < d->rank; i++)
    {
      begin[i] = below (d, MIN (d->dims[i], 3));
      end[i] = below (d, MIN (d->dims[i], 3));
      d->dims[i] += begin[i] + end[i];
    }
  add_ints (d, "b", begin, d->rank);
  add_ints (d, "e", end, d->rank);
  if (mode == 0 && d->quant[0] == '\0')
    g_string_append_printf (d->text,
                            "%%p%u = Const {7} : %s[]\n%%v%u = Pad(%%v%u, %%b%u, %%e%u, %%p%u) {pad_mode=constant}",
                            d->n, d->type, d->n, d->n - 1, d->n, d->n, d->n);
  else
    g_string_append_printf (d->text, "%%v%u = Pad(%%v%u, %%b%u, %%e%u) {pad_mode=%s}", d->n, d->n - 1, d->n, d->n,
                            modes[mode]);
}

static void
draw_slice (Draw *d)
{
  const gint axis = below (d, d->rank), step = d->dims[axis] > 1 ? 1 + below (d, 2) : 1,
             begin = below (d, d->dims[axis]);

  add_ints (d, "b", &begin, 1);
  add_ints (d, "e", &(gint) { d->dims[axis] }, 1);
  add_ints (d, "s", &step, 1);
  add_ints (d, "a", &axis, 1);
  d->dims[axis] = (d->dims[axis] - begin + step - 1) / step;
  g_string_append_printf (d->text, "%%v%u = Slice(%%v%u, %%b%u, %%e%u, %%s%u, %%a%u)", d->n, d->n - 1, d->n, d->n, d->n,
                          d->n);
}

static void
draw_tile (Draw *d)
{
  gint times[6], i;

  for (i = 0; i < d->rank; i++)
    d->dims[i] *= times[i] = below (d, 4) == 0 ? 2 : 1;
  add_ints (d, "r", times, d->rank);
  g_string_append_printf (d->text, "%%v%u = Tile(%%v%u, %%r%u)", d->n, d->n - 1, d->n);
}

static void
draw_roll (Draw *d)
{
  const gint axis = below (d, d->rank), shift = below (d, 5) - 2;

  add_ints (d, "r", &shift, 1);
  add_ints (d, "a", &axis, 1);
  g_string_append_printf (d->text, "%%v%u = Roll(%%v%u, %%r%u, %%a%u)", d->n, d->n - 1, d->n, d->n);
}

static void
draw_gather (Draw *d)
{
  const gint axis = below (d, d->rank), n = 1 + below (d, 6);
  gint index[6], i;

  for (i = 0; i < n; i++)
    index[i] = below (d, 2 * d->dims[axis]) - d->dims[axis];
  d->dims[axis] = n;
  add_ints (d, "i", index, n);
  g_string_append_printf (d->text, "%%a%u = Const {%d} : i64[]\n%%v%u = Gather(%%v%u, %%i%u, %%a%u)", d->n, axis, d->n,
                          d->n - 1, d->n, d->n);
}

static void
draw_shuffle (Draw *d)
{
  const gint axis = below (d, d->rank), group = d->dims[axis] % 2 == 0 ? 2 : 1;

  g_string_append_printf (d->text, "%%v%u = ShuffleChannels(%%v%u) {axis=%d, group=%d}", d->n, d->n - 1, axis, group);
}

static void
draw_blocks (Draw *d)
{
  gint i, size = 1;

  for (i = 2; i < d->rank; i++)
    size *= 2;
  if (d->rank < 3 || d->dims[1] % size != 0)
    {
      draw_transpose (d);
      return;
    }
  d->dims[1] /= size;
  for (i = 2; i < d->rank; i++)
    d->dims[i] *= 2;
  g_string_append_printf (d->text, "%%v%u = DepthToSpace(%%v%u) {block_size=2, mode=%s}", d->n, d->n - 1,
                          below (d, 2) == 0 ? "depth_first" : "blocks_first");
}

typedef void (*DrawFunc) (Draw *d);
static const DrawFunc movements[] = { draw_transpose, draw_transpose, draw_pad,     draw_slice, draw_tile,
                                      draw_roll,      draw_gather,    draw_shuffle, draw_blocks };

static const struct { const char *type, *quant; } kinds[] =
{
  { "f32", "" }, { "f32", "" }, { "i64", "" }, { "u8", " q{scale=0.05, zp=100}" }, { "i8", " q{scale=0.05, zp=-7}" },
};

/* %v0: an input, or with its channels last. */
static void
begin (Draw *d,
       gint  rank)
{
  gint i;

  d->rank = rank;
  for (i = 0; i < rank; i++)
    d->dims[i] = i == 1 ? 1 + below (d, 24) : 1 + below (d, 6);
  g_string_append (d->text, "%x = Parameter");
  add_shape (d);
  if (rank == 4 && strcmp (d->type, "i64") != 0 && below (d, 2) == 0)
    g_string_append (d->text, "%v0 = MaxPool(%x) {kernel=[1,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]}");
  else
    g_string_append (d->text, strcmp (d->type, "i64") != 0 ? "%v0 = Relu(%x)" : "%v0 = Add(%x, %x)");
  add_shape (d);
  d->n = 1;
}

static guint
count_references (LptGraph *graph,
                  gboolean  all)
{
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  guint n = 0, i;

  for (i = 0; i < plan->program->ops->len; i++)
    {
      const LptProgramOp *step = plan->program->ops->pdata[i];

      n += !step->has_form && !step->folded && (all || (step->row->flags & LPT_EXEC_MOVES) != 0) &&
           step->node->op != LPT_OP_GATHER;
    }

  return n;
}

static void
run_text (Draw     *d,
          gboolean  all)
{
  g_autoptr (LptGraph) graph = fast_case_read (d->text->str, "drawn");

  g_assert_cmpuint (count_references (graph, all), ==, 0);
  fast_case_compare (graph, -4, 4);
}

static void
test_movements (void)
{
  guint seed;

  for (seed = 0; seed < ROUNDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GString) text = g_string_new ("graph {lowered=true}\n");
      const guint kind = seed % G_N_ELEMENTS (kinds);
      Draw d = { .rand = rand, .text = text, .type = kinds[kind].type, .quant = kinds[kind].quant };
      gint k, steps = 1 + below (&d, 3);

      begin (&d, 1 + below (&d, 5));
      for (k = 0; k < steps; k++, d.n++)
        {
          movements[below (&d, G_N_ELEMENTS (movements))] (&d);
          add_shape (&d);
        }
      g_string_append_printf (text, "Result(%%v%u)\n", d.n - 1);
      run_text (&d, FALSE);
    }
}

static void
test_splits (void)
{
  guint seed;

  for (seed = 0; seed < ROUNDS / 2; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GString) text = g_string_new ("graph {lowered=true}\n");
      const guint kind = seed % G_N_ELEMENTS (kinds);
      Draw d = { .rand = rand, .text = text, .type = kinds[kind].type, .quant = kinds[kind].quant };
      gint axis, first;

      begin (&d, 2 + below (&d, 3));
      axis = below (&d, d.rank);
      d.dims[axis] = MAX (d.dims[axis], 2);
      g_string_assign (text, "graph {lowered=true}\n%v0 = Parameter");
      add_shape (&d);
      first = 1 + below (&d, d.dims[axis] - 1);
      add_ints (&d, "l", (gint[]) { first, d.dims[axis] - first }, 2);
      g_string_append_printf (text, "%%a = Const {%d} : i64[]\n%%s = VariadicSplit(%%v0, %%a, %%l1)", axis);
      for (gint k = 0, all = d.dims[axis]; k < 2; k++)
        {
          d.dims[axis] = k == 0 ? first : all - first;
          add_shape (&d);
          g_string_truncate (text, text->len - 1);
          if (k == 0)
            g_string_append (text, ",");
        }
      /* The type of the second one follows a comma without a colon. */
      {
        char *colon = strstr (text->str, ", : ");

        if (colon == NULL)
          colon = strstr (text->str, ",:");
        if (colon != NULL)
          g_string_erase (text, colon + 1 - text->str, 2);
      }
      g_string_append (text, "\nResult(%s.0)\nResult(%s.1)\n");
      run_text (&d, FALSE);
    }
}

static void
test_concats (void)
{
  guint seed;

  for (seed = 0; seed < ROUNDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GString) text = g_string_new (NULL);
      const guint kind = seed % G_N_ELEMENTS (kinds);
      Draw d = { .rand = rand, .text = text, .type = kinds[kind].type, .quant = kinds[kind].quant };
      gint axis, n = 1 + below (&d, 12), k, length = 0;
      const gboolean codes = d.quant[0] != '\0', others = codes && below (&d, 2) == 0,
                     constant = codes && below (&d, 3) == 0;

      g_string_append_printf (text, "graph {lowered=true, requant=\"%s\"}\n",
                              lpt_mode_name ((LptMode) (seed % 5 == 0 ? below (&d, LPT_N_MODES) : 0)));
      begin (&d, 2 + below (&d, 3));
      axis = below (&d, d.rank);
      for (k = 0; k < n; k++, d.n++)
        {
          const char *own = d.quant;

          if (others && k % 3 == 1)
            d.quant = " q{scale=0.07, zp=3}";
          g_string_append_printf (text, others && k % 3 == 1 ? "%%v%u = Requantize(%%v0)" : strcmp (d.type, "i64") == 0 ? "%%v%u = Add(%%v0, %%v0)"
                                  : "%%v%u = Relu(%%v0)", d.n);
          add_shape (&d);
          d.quant = own;
          length += d.dims[axis];
        }
      if (constant)
        {
          const gint kept = d.dims[axis];
          gint count = 1, i;

          d.dims[axis] = 2;
          for (i = 0; i < d.rank; i++)
            count *= d.dims[i];
          g_string_append (text, "%c = Const {");
          for (i = 0; i < count; i++)
            g_string_append_printf (text, "%s%d", i > 0 ? "," : "", below (&d, 100));
          g_string_append (text, "}");
          add_shape (&d);
          d.dims[axis] = kept;
          length += 2;
        }
      g_string_append (text, "%y = Concat(");
      for (k = 0; k < n; k++)
        g_string_append_printf (text, "%s%%v%u", k > 0 ? ", " : "", d.n - (guint) n + (guint) k);
      g_string_append_printf (text, "%s) {axis=%d}", constant ? ", %c" : "", axis);
      d.dims[axis] = length;
      add_shape (&d);
      g_string_append (text, "Result(%y)\n");
      run_text (&d, FALSE);
    }
}

/* @n scales and zero points along @axis. */
static char *
draw_quant (Draw *d,
            gint  axis,
            gint  n,
            gint  low)
{
  g_autoptr (GString) s = g_string_new (NULL);
  gint k;

  if (n == 1)
    return g_strdup_printf (" q{scale=%.9g, zp=%d}", g_rand_double_range (d->rand, 0.01, 0.1), low + below (d, 256));
  g_string_append_printf (s, " q{axis=%d, scale=[", axis);
  for (k = 0; k < n; k++)
    g_string_append_printf (s, "%s%.9g", k > 0 ? "," : "",
                            below (d, 8) == 0 ? 0.05 : g_rand_double_range (d->rand, 0.01, 0.1));
  g_string_append (s, "], zp=[");
  for (k = 0; k < n; k++)
    g_string_append_printf (s, "%s%d", k > 0 ? "," : "", low + below (d, 256));
  g_string_append (s, "]}");

  return g_string_free (g_steal_pointer (&s), FALSE);
}

static void
test_requantize (void)
{
  guint seed;

  for (seed = 0; seed < ROUNDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GString) text = g_string_new ("graph {lowered=true}\n");
      const gboolean is_signed = seed % 2 == 1;
      Draw d = { .rand = rand,
                 .text = text,
                 .type = is_signed ? "i8" : "u8",
                 .quant = is_signed ? " q{scale=0.05, zp=-7}" : " q{scale=0.05, zp=100}" };
      g_autofree char *from = NULL, *to = NULL;
      gint axis;

      begin (&d, 1 + below (&d, 5));
      axis = below (&d, d.rank);
      d.dims[axis] = MAX (d.dims[axis], 2);
      g_string_assign (text, "graph {lowered=true}\n%x = Parameter");
      add_shape (&d);
      g_string_append (text, d.rank == 4 && below (&d, 2) == 0
                                 ? "%p = MaxPool(%x) {kernel=[1,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]}"
                                 : "%p = Relu(%x)");
      add_shape (&d);
      from = draw_quant (&d, axis, below (&d, 3) == 0 ? 1 : d.dims[axis], is_signed ? -128 : 0);
      to = draw_quant (&d, axis, strchr (from, '[') == NULL || below (&d, 2) == 0 ? d.dims[axis] : 1, 0);
      d.quant = from;
      g_string_append (text, "%v = Reinterpret(%p)");
      add_shape (&d);
      d.quant = to;
      d.type = "u8";
      g_string_append (text, "%y = Requantize(%v)");
      add_shape (&d);
      d.quant = "";
      d.type = "u8";
      g_string_append (text, "Result(%y)\n");
      run_text (&d, TRUE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-moves/movements", test_movements);
  g_test_add_func ("/fast-moves/splits", test_splits);
  g_test_add_func ("/fast-moves/concats", test_concats);
  g_test_add_func ("/fast-moves/requantize", test_requantize);

  return g_test_run ();
}
