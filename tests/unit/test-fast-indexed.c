/* test-fast-indexed.c - computed indices: Gather, GatherElements, GatherND and Scatter ops give the bytes of the plain
 * ops
 *
 * Drawn shapes, types of every width, negative indices, indices of 32 and 64 bits, repeated ones, those that an Expand
 * repeats. An index outside ends the run with the error of the plain op.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"

static const char *const types[] = { "f32", "i64", "i32", "u8", "i8", "i16", "boolean" };
static const LptDType dtypes[] = { LPT_DTYPE_F32, LPT_DTYPE_I64, LPT_DTYPE_I32, LPT_DTYPE_U8, LPT_DTYPE_I8,
                                   LPT_DTYPE_I16, LPT_DTYPE_BOOL };

/* What a round draws. */
typedef struct
{
  GRand     *rand;
  gboolean   narrow;         /* indices of 32 bits */
  guint      type;           /* of data */
  gint       rank, axis;
  GString   *text;
  GPtrArray *inputs;
} Round;

static Round
round_new (GRand *rand,
           guint  n,
           gint   least)
{
  Round r = { rand, n % 2 == 1, n / 2 % G_N_ELEMENTS (types), g_rand_int_range (rand, least, 5), 0, g_string_new (NULL),
              g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref) };

  r.axis = g_rand_int_range (rand, 0, r.rank);

  return r;
}

static LptShape
draw_shape (const Round *r)
{
  LptShape shape = { .rank = r->rank };
  gint k;

  for (k = 0; k < r->rank; k++)
    shape.dims[k] = g_rand_int_range (r->rand, 1, 3) * g_rand_int_range (r->rand, 1, k == r->rank - 1 ? 40 : 5);

  return shape;
}

static void
add_input (Round          *r,
           const char     *name,
           const char     *type,
           LptDType        dtype,
           const LptShape *shape,
           double          low,
           double          high)
{
  gint k;

  g_string_append_printf (r->text, "%%%s = Parameter : %s[", name, type);
  for (k = 0; k < shape->rank; k++)
    g_string_append_printf (r->text, "%s%d", k > 0 ? "," : "", (gint) shape->dims[k]);
  g_string_append (r->text, "]\n");
  g_ptr_array_add (r->inputs, fast_random_tensor (dtype, shape, low, high, r->rand));
}

static void
add_data (Round          *r,
          const char     *name,
          const LptShape *shape)
{
  const gboolean flag = dtypes[r->type] == LPT_DTYPE_BOOL, positive = dtypes[r->type] == LPT_DTYPE_U8;

  add_input (r, name, types[r->type], dtypes[r->type], shape, flag || positive ? 0 : -99, flag ? 2 : 99);
}

/* From -@length on, below it: what is cut to whole numbers. */
static void
add_indices (Round          *r,
             const char     *name,
             const LptShape *shape,
             gint64          length)
{
  add_input (r, name, r->narrow ? "i32" : "i64", r->narrow ? LPT_DTYPE_I32 : LPT_DTYPE_I64, shape, (double) -length,
             (double) length - .01);
}

/* An Expand of @name, indices of @shape of which those behind @axis and, now and then, those before it are one. */
static void
add_expanded (Round          *r,
              const char     *name,
              LptShape        shape,
              gint64          length)
{
  g_autofree char *small = g_strconcat (name, "s", NULL);
  const gboolean prefix = g_rand_int_range (r->rand, 0, 2);
  LptShape from = shape;
  gint k;

  for (k = 0; k < shape.rank; k++)
    if (k > r->axis || (prefix && k < r->axis))
      from.dims[k] = 1;
  add_indices (r, small, &from, length);
  g_string_append_printf (r->text, "%%%sto = Const {", name);
  for (k = 0; k < shape.rank; k++)
    g_string_append_printf (r->text, "%s%d", k > 0 ? ", " : "", (gint) shape.dims[k]);
  g_string_append_printf (r->text, "} : i64[%d]\n%%%s = Broadcast(%%%s, %%%sto) {mode=numpy}\n", shape.rank, name,
                          small, name);
}

/* All that the round's op does is done by a form. */
static void
check_form (LptGraph *graph,
            LptOp     which)
{
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  guint i, n = 0;

  for (i = 0; i < plan->program->n_nodes; i++)
    {
      const LptProgramOp *op = plan->program->nodes->pdata[i];

      if (op->node->op == which)
        {
          g_assert_true (lpt_program_owner (op)->has_form);
          n++;
        }
    }
  g_assert_cmpuint (n, ==, 1);
}

static void
round_end (Round *r,
           LptOp  which)
{
  g_autoptr (LptGraph) graph = fast_case_read (r->text->str, "indexed");

  check_form (graph, which);
  fast_case_compare_inputs (graph, r->inputs);
  g_string_free (r->text, TRUE);
  g_ptr_array_unref (r->inputs);
}

static void
test_gather (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  guint n;

  for (n = 0; n < 56; n++)
    {
      Round r = round_new (rand, n, 1);
      const LptShape x = draw_shape (&r);
      LptShape i = lpt_shape_make (2, (gint64[]) { g_rand_int_range (rand, 1, 4), g_rand_int_range (rand, 1, 30) });
      const gint batch = r.axis > 0 && n % 3 == 0 ? 1 : 0;

      if (batch)
        i.dims[0] = x.dims[0];
      add_data (&r, "x", &x);
      add_indices (&r, "i", &i, x.dims[r.axis]);
      g_string_append_printf (r.text, "%%a = Const {%d} : i64[]\n%%y = Gather@8(%%x, %%i, %%a) {batch_dims=%d}\n"
                              "Result(%%y)\n", r.axis - (n % 5 == 0 ? r.rank : 0), batch);
      round_end (&r, LPT_OP_GATHER);
    }
}

static void
test_gather_elements (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint n;

  for (n = 0; n < 112; n++)
    {
      Round r = round_new (rand, n, 1);
      const LptShape x = draw_shape (&r);
      LptShape i = x;

      i.dims[r.axis] = g_rand_int_range (rand, 1, 20);
      add_data (&r, "x", &x);
      if (n % 3 > 0)
        add_expanded (&r, "i", i, x.dims[r.axis]);
      else
        add_indices (&r, "i", &i, x.dims[r.axis]);
      g_string_append_printf (r.text, "%%y = GatherElements(%%x, %%i) {axis=%d}\nResult(%%y)\n", r.axis);
      round_end (&r, LPT_OP_GATHER_ELEMENTS);
    }
}

static void
test_gather_nd (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint n;

  for (n = 0; n < 56; n++)
    {
      Round r = round_new (rand, n, 2);
      const LptShape x = draw_shape (&r);
      const gint batch = n % 3 == 0 ? 1 : 0, tuple = g_rand_int_range (rand, 1, r.rank - batch + 1);
      const LptShape i = lpt_shape_make (3, (gint64[]) { batch ? x.dims[0] : 3, g_rand_int_range (rand, 1, 9), tuple });
      gint64 length = G_MAXINT32;
      gint k;

      for (k = 0; k < tuple; k++)
        length = MIN (length, x.dims[batch + k]);
      add_data (&r, "x", &x);
      add_indices (&r, "i", &i, length);
      g_string_append_printf (r.text, "%%y = GatherND@8(%%x, %%i) {batch_dims=%d}\nResult(%%y)\n", batch);
      round_end (&r, LPT_OP_GATHER_ND);
    }
}

/* The error of a run with @flags on one or two threads. */
static char *
error_of (LptGraph  *graph,
          guint      flags,
          guint      threads,
          GPtrArray *inputs)
{
  g_autoptr (LptPlan) plan = fast_plan (graph, flags);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, threads, &error);
  guint k;

  g_assert_no_error (error);
  for (k = 0; k < inputs->len; k++)
    g_assert_true (lpt_plan_context_set_input (context, k, inputs->pdata[k], NULL));
  g_assert_false (lpt_plan_run (plan, context, &error));

  return g_strdup (error->message);
}

static void
test_outside (void)
{
  static const char *const ops[] = {
    "%a = Const {0} : i64[]\n%y = Gather(%x, %i, %a)",
    "%y = GatherElements(%x, %i) {axis=0}",
    "%to = Const {3, 4} : i64[2]\n%j = Broadcast(%i, %to) {mode=numpy}\n%y = GatherElements(%x, %j) {axis=0}",
    "%y = GatherND(%x, %i)",
    "%c = Const {0, 1, 2} : i64[3]\n%a = Const {0} : i64[]\n%u = Gather(%x, %c, %a)\n%to = Const {3, 4} : i64[2]\n"
    "%j = Broadcast(%i, %to) {mode=numpy}\n%y = ScatterElementsUpdate@12(%x, %j, %u, %a) {reduction=sum}",
    "%c = Const {0, 1, 2} : i64[3]\n%a = Const {0} : i64[]\n%u = Gather(%x, %c, %a)\n"
    "%y = ScatterNDUpdate@15(%x, %i, %u) {reduction=none}",
  };
  guint k, side;

  for (k = 0; k < G_N_ELEMENTS (ops); k++)
    for (side = 0; side < 2; side++)
      {
        const LptShape shape = lpt_shape_make (2, (gint64[]) { 5, 4 }),
                       small = lpt_shape_make (2, (gint64[]) { 3, k == 1 ? 4 : 1 });
        double indices[12] = { 0, 4, side ? -6 : 5, -5, side ? 9 : -9 };
        g_autofree char *text = g_strdup_printf ("%%x = Parameter : f32[5,4]\n%%i = Parameter : i64[3,%d]\n%s\n"
                                                 "Result(%%y)\n", k == 1 ? 4 : 1, ops[k]);
        g_autoptr (LptGraph) graph = fast_case_read (text, "outside");
        g_autoptr (GRand) rand = g_rand_new_with_seed (1);
        g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
        g_autofree char *plain = NULL, *one = NULL, *two = NULL;

        g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &shape, -1, 1, rand));
        g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_I64, &small, indices, NULL));
        plain = error_of (graph, LPT_PLAN_REFERENCE, 1, inputs);
        one = error_of (graph, 0, 1, inputs);
        two = error_of (graph, 0, 2, inputs);
        g_assert_cmpstr (one, ==, plain);
        g_assert_cmpstr (two, ==, plain);
      }
}

/* Of f32, what updates are reduced by; others replace. */
static const char *
draw_reduction (Round *r)
{
  static const char *const reductions[] = { "none", "sum", "sub", "prod", "min", "max" };
  const guint k = g_rand_int_range (r->rand, 0, G_N_ELEMENTS (reductions));

  return reductions[dtypes[r->type] == LPT_DTYPE_F32 ? k : 0];
}

static void
test_scatter (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  guint n;

  for (n = 0; n < 28; n++)
    {
      Round r = round_new (rand, n, 1);
      const LptShape x = draw_shape (&r), i = lpt_shape_make (1, (gint64[]) { g_rand_int_range (rand, 1, 20) });
      LptShape u = x;

      u.dims[r.axis] = i.dims[0];
      add_data (&r, "x", &x);
      add_indices (&r, "i", &i, x.dims[r.axis]);
      add_data (&r, "u", &u);
      g_string_append_printf (r.text,
                              "%%a = Const {%d} : i64[]\n%%y = ScatterUpdate(%%x, %%i, %%u, %%a)\nResult(%%y)\n",
                              r.axis - (n % 5 == 0 ? r.rank : 0));
      round_end (&r, LPT_OP_SCATTER_UPDATE);
    }
}

static void
test_scatter_elements (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (13);
  guint n;

  for (n = 0; n < 112; n++)
    {
      Round r = round_new (rand, n % 2 + n / 4 * 2, 1);
      const LptShape x = draw_shape (&r);
      LptShape i = x;

      i.dims[r.axis] = g_rand_int_range (rand, 1, 20);
      add_data (&r, "x", &x);
      if (n % 3 > 0)
        add_expanded (&r, "i", i, x.dims[r.axis]);
      else
        add_indices (&r, "i", &i, x.dims[r.axis]);
      add_data (&r, "u", &i);
      g_string_append_printf (r.text, "%%a = Const {%d} : i64[]\n"
                              "%%y = ScatterElementsUpdate@12(%%x, %%i, %%u, %%a) {reduction=%s}\nResult(%%y)\n",
                              r.axis, draw_reduction (&r));
      round_end (&r, LPT_OP_SCATTER_ELEMENTS_UPDATE);
    }
}

static void
test_scatter_nd (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (15);
  guint n;

  for (n = 0; n < 56; n++)
    {
      Round r = round_new (rand, n % 2 + n / 4 * 2, 2);
      const LptShape x = draw_shape (&r);
      const gint tuple = g_rand_int_range (rand, 1, r.rank + 1);
      const LptShape i = lpt_shape_make (3, (gint64[]) { 3, g_rand_int_range (rand, 1, 9), tuple });
      LptShape u = lpt_shape_make (2, i.dims);
      gint64 length = G_MAXINT32;
      gint k;

      for (k = 0; k < tuple; k++)
        length = MIN (length, x.dims[k]);
      for (k = tuple; k < r.rank; k++)
        u.dims[u.rank++] = x.dims[k];
      add_data (&r, "x", &x);
      add_indices (&r, "i", &i, length);
      add_data (&r, "u", &u);
      g_string_append_printf (r.text, "%%y = ScatterNDUpdate@15(%%x, %%i, %%u) {reduction=%s}\nResult(%%y)\n",
                              draw_reduction (&r));
      round_end (&r, LPT_OP_SCATTER_ND_UPDATE);
    }
}

/* Indices that one op repeats for two. */
static void
test_shared (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  Round r = round_new (rand, 0, 3);
  const LptShape x = lpt_shape_make (3, (gint64[]) { 2, 6, 8 }), i = lpt_shape_make (2, (gint64[]) { 2, 6 });

  add_data (&r, "x", &x);
  add_indices (&r, "i", &i, x.dims[1]);
  add_data (&r, "u", &x);
  g_string_append (r.text, "%ax = Const {2} : i64[1]\n%iu = Unsqueeze(%i, %ax)\n%to = Const {2, 6, 8} : i64[3]\n"
                           "%j = Broadcast(%iu, %to) {mode=numpy}\n%g = GatherElements(%x, %j) {axis=1}\n"
                           "%a = Const {1} : i64[]\n"
                           "%s = ScatterElementsUpdate@12(%x, %j, %u, %a) {reduction=sum}\nResult(%g)\nResult(%s)\n");
  round_end (&r, LPT_OP_GATHER_ELEMENTS);
}

/* Indices that one op repeats for three ops, which read through it; a fourth reader has them made. */
static void
test_read_through (void)
{
  static const char text[] =
    "%x = Parameter : f32[6,8]\n%i = Parameter : i64[9,1]\n%u = Parameter : f32[9,8]\n%to = Const {9, 8} : i64[2]\n"
    "%a = Const {0} : i64[]\n%j = Broadcast(%i, %to) {mode=numpy}\n%g = GatherElements(%x, %j) {axis=0}\n"
    "%s = ScatterElementsUpdate@12(%x, %j, %u, %a) {reduction=sum}\n"
    "%t = ScatterElementsUpdate@12(%x, %j, %g, %a) {reduction=max}\nResult(%s)\nResult(%t)\n";
  const LptShape x = lpt_shape_make (2, (gint64[]) { 6, 8 }), i = lpt_shape_make (2, (gint64[]) { 9, 1 }),
                 u = lpt_shape_make (2, (gint64[]) { 9, 8 });
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint k;

  for (k = 0; k < 2; k++)
    {
      g_autofree char *all = g_strconcat (text, k == 1 ? "Result(%j)\n" : "", NULL);
      g_autoptr (LptGraph) graph = fast_case_read (all, "through");
      g_autoptr (LptPlan) plan = fast_plan (graph, 0);
      g_autofree char *program = lpt_plan_to_text (plan, 0);
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);

      if (strstr (program, "reference") != NULL || (strstr (program, "i64[9,8]") != NULL) != (k == 1))
        g_error ("%s", program);
      g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &x, -1, 1, rand));
      g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_I64, &i, -6, 5.9, rand));
      g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &u, -1, 1, rand));
      fast_case_compare_inputs (graph, inputs);
    }
}

/* Constant indices that updates are reduced by: of rows, of elements, of a line, outside. */
static void
test_constant (void)
{
  static const char *const indices[] = { "0,0,0, 4,4,4, -5,-5,-5, 4,4,4", "0,0,0, 4,3,4, -5,-5,-5, 1,1,2",
                                         "0,0,0, 4,4,4, 5,5,5, 4,4,4" };
  const LptShape x = lpt_shape_make (3, (gint64[]) { 1, 5, 3 }), u = lpt_shape_make (3, (gint64[]) { 1, 4, 3 });
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  guint k;

  for (k = 0; k < G_N_ELEMENTS (indices); k++)
    {
      g_autofree char *text = g_strdup_printf (
        "%%x = Parameter : f32[1,5,3]\n%%u = Parameter : f32[1,4,3]\n%%i = Const {%s} : i64[1,4,3]\n"
        "%%a = Const {1} : i64[]\n%%y = ScatterElementsUpdate@12(%%x, %%i, %%u, %%a) {reduction=sum}\nResult(%%y)\n",
        indices[k]);
      g_autoptr (LptGraph) graph = fast_case_read (text, "constant");
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
      g_autofree char *plain = NULL, *one = NULL;

      g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &x, -1, 1, rand));
      g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &u, -1, 1, rand));
      fast_case_assert_program (graph, "scatter");
      if (k < 2)
        {
          fast_case_compare_inputs (graph, inputs);
          continue;
        }
      plain = error_of (graph, LPT_PLAN_REFERENCE, 1, inputs);
      one = error_of (graph, 0, 1, inputs);
      g_assert_cmpstr (one, ==, plain);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("LPT_PLAN_CHECK", "1", TRUE);
  g_test_add_func ("/fast-indexed/gather", test_gather);
  g_test_add_func ("/fast-indexed/gather-elements", test_gather_elements);
  g_test_add_func ("/fast-indexed/gather-nd", test_gather_nd);
  g_test_add_func ("/fast-indexed/scatter", test_scatter);
  g_test_add_func ("/fast-indexed/scatter-elements", test_scatter_elements);
  g_test_add_func ("/fast-indexed/scatter-nd", test_scatter_nd);
  g_test_add_func ("/fast-indexed/shared", test_shared);
  g_test_add_func ("/fast-indexed/read-through", test_read_through);
  g_test_add_func ("/fast-indexed/constant", test_constant);
  g_test_add_func ("/fast-indexed/outside", test_outside);

  return g_test_run ();
}
