/* test-fast-resize.c - Interpolate drawn: the fused program gives the bytes of the plain op
 *
 * Codes in every requant mode and reals in every mode of Interpolate, one to three axes, channels last and planes, up
 * and down, by sizes and by scales; at every level of the CPU with one to three threads. What a form can do must have
 * one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/requant/lpt-requant-modes.h"
#include "executor/lpt-plan.h"
#include "fast-case.h"

#define ROUNDS 60

static const char *const coordinates[] = { "half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn",
                                           "align_corners" };
static const char *const nearests[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple" };
static const char *const modes[] = { "nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow" };

typedef struct
{
  GRand   *rand;
  GString *text;
  gint     rank, dims[5], to[5];
} Draw;

static guint
below (Draw *d,
       guint n)
{
  return (guint) g_rand_int_range (d->rand, 0, (gint) n);
}

static void
add_shape (GString    *text,
           const char *type,
           const gint *dims,
           gint        rank)
{
  gint i;

  g_string_append_printf (text, "%s[", type);
  for (i = 0; i < rank; i++)
    g_string_append_printf (text, "%s%d", i > 0 ? "," : "", dims[i]);
  g_string_append (text, "]");
}

/* The axes from @first on change their length, or some of them. */
static void
draw_shapes (Draw *d,
             gint  rank,
             gint  first)
{
  gint i;

  d->rank = rank;
  for (i = 0; i < rank; i++)
    {
      d->dims[i] = i == 0 ? 1 + (gint) below (d, 2) : i == 1 ? 1 + (gint) below (d, 40) : 1 + (gint) below (d, 7);
      d->to[i] = d->dims[i];
      if (i < first)
        continue;
      d->to[i] = below (d, 3) == 0 ? d->dims[i] * 2 : 1 + (gint) below (d, 12);
    }
}

/* %h and %i of the axes from @first on; by scales some, which give these lengths and @more of an element. */
static void
add_sizes (Draw  *d,
           gint   first,
           double more)
{
  gboolean scales = below (d, 3) == 0;
  gint i;

  g_string_append (d->text, "%h = Const {");
  for (i = first; i < d->rank; i++)
    if (scales)
      g_string_append_printf (d->text, "%s%.9g", i > first ? "," : "", ((double) d->to[i] + more) / d->dims[i]);
    else
      g_string_append_printf (d->text, "%s%d", i > first ? "," : "", d->to[i]);
  g_string_append_printf (d->text, "} : %s[%d]\n%%i = Const {", scales ? "f32" : "i64", d->rank - first);
  for (i = first; i < d->rank; i++)
    g_string_append_printf (d->text, "%s%d", i > first ? "," : "", i);
  g_string_append_printf (d->text, "} : i64[%d]\n", d->rank - first);
  g_string_append_printf (d->text, "%%y = Interpolate(%%p, %%h, %%i) {shape_calculation_mode=%s, ",
                          scales ? "scales" : "sizes");
}

static guint
count_references (LptGraph *graph,
                  LptOp     op)
{
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  guint n = 0, i;

  for (i = 0; i < plan->program->ops->len; i++)
    {
      const LptProgramOp *step = plan->program->ops->pdata[i];

      n += !step->has_form && !step->folded && step->node->op == op;
    }

  return n;
}

static void
run_text (Draw *d)
{
  g_autoptr (LptGraph) graph = fast_case_read (d->text->str, "drawn");

  g_assert_cmpuint (count_references (graph, LPT_OP_INTERPOLATE), ==, 0);
  fast_case_compare (graph, -4, 4);
}

/* %p: %x, or with its channels last. */
static void
add_input (Draw       *d,
           const char *type,
           const char *quant)
{
  gint spatial = d->rank - 2, i;

  g_string_append (d->text, "%x = Parameter : ");
  add_shape (d->text, type, d->dims, d->rank);
  g_string_append_printf (d->text, "%s\n", quant);
  if (spatial < 1 || below (d, 2) == 0)
    {
      g_string_append (d->text, "%p = Relu(%x) : ");
      add_shape (d->text, type, d->dims, d->rank);
      g_string_append_printf (d->text, "%s\n", quant);
      return;
    }
  g_string_append (d->text, "%p = MaxPool(%x) {kernel=[");
  for (i = 0; i < spatial; i++)
    g_string_append (d->text, i > 0 ? ",1" : "1");
  g_string_append (d->text, "], strides=[");
  for (i = 0; i < spatial; i++)
    g_string_append (d->text, i > 0 ? ",1" : "1");
  g_string_append (d->text, "], pads_begin=[");
  for (i = 0; i < spatial; i++)
    g_string_append (d->text, i > 0 ? ",0" : "0");
  g_string_append (d->text, "], pads_end=[");
  for (i = 0; i < spatial; i++)
    g_string_append (d->text, i > 0 ? ",0" : "0");
  g_string_append (d->text, "]} : ");
  add_shape (d->text, type, d->dims, d->rank);
  g_string_append_printf (d->text, "%s\n", quant);
}

static void
test_codes (void)
{
  guint seed, mode;

  for (seed = 0; seed < ROUNDS; seed++)
    for (mode = 0; mode < LPT_N_MODES; mode++)
      {
        g_autoptr (GRand) rand = g_rand_new_with_seed (seed * 100 + mode);
        g_autoptr (GString) text = g_string_new (NULL);
        Draw d = { .rand = rand, .text = text };
        gboolean is_signed = below (&d, 2) == 1, same = below (&d, 2) == 1, nearest = below (&d, 3) == 0;
        const char *type = is_signed ? "i8" : "u8",
                   *quant = is_signed ? " q{scale=0.04, zp=-3}" : " q{scale=0.04, zp=120}";

        if (seed % 4 != 0 && mode != LPT_MODE_SINGLE)
          continue;
        draw_shapes (&d, nearest ? 3 + (gint) below (&d, 3) : 2 + (gint) below (&d, 4), 0);
        if (!nearest)
          for (gint i = 0; i < d.rank - 2; i++)
            d.to[i] = d.dims[i];
        g_string_append_printf (text, "graph {lowered=true, requant=\"%s\"}\n", lpt_mode_name (mode));
        add_input (&d, type, quant);
        add_sizes (&d, nearest ? 0 : d.rank - 2, nearest ? 0.3 : 4e-6);
        g_string_append_printf (text, "mode=%s, coordinate_transformation_mode=%s, nearest_mode=%s} : ",
                                nearest ? "nearest" : below (&d, 2) == 1 ? "linear" : "linear_onnx",
                                coordinates[nearest ? below (&d, 5) : (guint[]) { 0, 1, 2, 4 }[below (&d, 4)]], nearests[below (&d, 5)]);
        add_shape (text, same ? type : below (&d, 2) == 1 ? "u8" : "i8", d.to, d.rank);
        g_string_append_printf (text, "%s\nResult(%%y)\n", same ? quant : " q{scale=0.05, zp=7}");
        run_text (&d);
      }
}

static void
test_reals (void)
{
  guint seed;

  for (seed = 0; seed < 4 * ROUNDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GString) text = g_string_new ("graph {lowered=true}\n");
      Draw d = { .rand = rand, .text = text };
      gint rank = 3 + (gint) below (&d, 3), first = below (&d, 5) == 0 ? 0 : 2;

      draw_shapes (&d, rank, first);
      add_input (&d, "f32", "");
      add_sizes (&d, first, 0.3);
      g_string_append_printf (text, "mode=%s, coordinate_transformation_mode=%s, nearest_mode=%s%s} : ",
                              modes[seed % G_N_ELEMENTS (modes)], coordinates[below (&d, 5)], nearests[below (&d, 5)],
                              below (&d, 3) == 0 ? ", antialias=true" : "");
      add_shape (text, "f32", d.to, d.rank);
      g_string_append (text, "\nResult(%y)\n");
      run_text (&d);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-resize/codes", test_codes);
  g_test_add_func ("/fast-resize/reals", test_reals);

  return g_test_run ();
}
