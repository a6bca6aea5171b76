/* test-fast-affine.c - sums and products in their general form, drawn: the fused program gives the bytes of the plain
 * ops
 *
 * int32 sums and codes as operands, scales, zero points and shifts for each index of any axis or one for all, in
 * several requantization modes; an operand may repeat along all axes but one, or along some. Every one has a kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"

#define ROUNDS 400

typedef struct
{
  GRand   *rand;
  GString *text;
  gint     rank, dims[5], axis, n;   /* n: parameters along the axis, 1: one for all */
  gboolean one[5];                   /* of the operand that is written: axes along which it repeats */
} Draw;

static gint
below (Draw *d,
       gint  n)
{
  return g_rand_int_range (d->rand, 0, n);
}

/* @type[shape] q{...}: with a parameter for each index where @several. */
static void
add_type (Draw       *d,
          const char *type,
          gboolean    several)
{
  const gint n = several && !d->one[d->axis] ? d->n : 1;
  const gboolean words = g_str_equal (type, "i32");
  gint i;

  g_string_append_printf (d->text, " : %s[", type);
  for (i = 0; i < d->rank; i++)
    g_string_append_printf (d->text, "%s%d", i > 0 ? "," : "", d->one[i] ? 1 : d->dims[i]);
  g_string_append (d->text, "] q{");
  if (n > 1)
    g_string_append_printf (d->text, "axis=%d, ", d->axis);
  g_string_append (d->text, n > 1 ? "scale=[" : "scale=");
  for (i = 0; i < n; i++)
    g_string_append_printf (d->text, "%s%.9g", i > 0 ? "," : "",
                            g_rand_double_range (d->rand, 0.01, 0.1) * (words && below (d, 4) > 0 ? 1e-8 : 1));
  g_string_append (d->text, n > 1 ? "], zp=[" : ", zp=");
  for (i = 0; i < n; i++)
    g_string_append_printf (d->text, "%s%d", i > 0 ? "," : "",
                            words ? 0 : g_str_equal (type, "u8") ? below (d, 256) : below (d, 256) - 128);
  g_string_append (d->text, n > 1 ? "]}" : "}");
}

/* Along which axes the next operand repeats: all but one, or any. */
static void
draw_repeats (Draw *d)
{
  const gint kept = below (d, 2) == 0 ? d->axis : below (d, d->rank);
  const gboolean row = below (d, 2) == 0;
  gint i;

  for (i = 0; i < d->rank; i++)
    d->one[i] = row ? i != kept : below (d, 2) == 0;
}

static void
draw (Draw *d)
{
  static const char *const modes[] = { "", ", requant=onnx", ", requant=litert", ", requant=xnnpack" };
  static const char *const ops[] = { "Add", "Subtract", "Multiply" };
  static const char *const types[] = { "i32", "u8", "i8" };
  const gint n_shift = below (d, 3), repeats = below (d, 4);
  /* At least one has a parameter for each index, the result where another might repeat. */
  const guint several = 1u << (repeats < 2 ? 2 : below (d, 3)) | (guint) below (d, 8);
  gint i;

  d->rank = 1 + below (d, 5);
  for (i = 0; i < d->rank; i++)
    d->dims[i] = 1 + below (d, i == 1 && below (d, 4) == 0 ? 300 : 9);
  d->axis = d->rank > 2 && below (d, 2) == 0 ? 1 : below (d, d->rank);
  d->n = below (d, 4) == 0 ? 1 : d->dims[d->axis];
  memset (d->one, 0, sizeof d->one);
  g_string_printf (d->text, "graph {lowered=true%s}\n%%a = Parameter", modes[below (d, 4)]);
  if (repeats == 0)
    draw_repeats (d);
  add_type (d, types[below (d, 3)], (several & 1) != 0);
  memset (d->one, 0, sizeof d->one);
  if (repeats == 1)
    draw_repeats (d);
  g_string_append (d->text, "\n%b = Parameter");
  add_type (d, types[below (d, 3)], (several & 2) != 0);
  memset (d->one, 0, sizeof d->one);
  g_string_append_printf (d->text, "\n%%y = %s(%%a, %%b) {shift=[", ops[below (d, 3)]);
  for (i = 0; i < (n_shift == 2 ? d->n : 1); i++)
    g_string_append_printf (d->text, "%s%.9g", i > 0 ? "," : "", g_rand_double_range (d->rand, -20, 20));
  g_string_append (d->text, "]}");
  add_type (d, types[1 + below (d, 2)], (several & 4) != 0);
  g_string_append (d->text, "\nResult(%y)\n");
}

static void
test_drawn (void)
{
  guint seed, i;

  for (seed = 0; seed < ROUNDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (LptGraph) graph = NULL;
      g_autoptr (LptPlan) plan = NULL;
      Draw d = { .rand = rand, .text = text };

      draw (&d);
      graph = fast_case_read (text->str, "drawn");
      plan = fast_plan (graph, 0);
      for (i = 0; i < plan->program->ops->len; i++)
        g_assert_true (((LptProgramOp *) g_ptr_array_index (plan->program->ops, i))->has_form);
      fast_case_compare (graph, -4, 4);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-affine/drawn", test_drawn);

  return g_test_run ();
}
