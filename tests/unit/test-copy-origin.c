/* test-copy-origin.c - what is asked about the axes that a movement works on is what the op says of all elements
 *
 * Chains of movements are drawn, over shapes, axes, steps and modes. After each op the places of all elements are those
 * that are found with all of them numbered. On values too large to be numbered each op still has a form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/lpt-plan.h"
#include "executor/operators/copy-origin.h"
#include "fast-case.h"
#include "ir/scalar/lpt-loop.h"

#define ROUNDS 1500
#define STEPS 8

typedef struct
{
  GRand   *rand;
  GString *text;
  LptShape shape;              /* of the last value */
  guint    n;                  /* %vN: the last value, of which one more is drawn */
} Draw;

static gint
below (Draw *d,
       gint64 n)
{
  return g_rand_int_range (d->rand, 0, (gint32) n);
}

static gint
draw_axis (Draw *d)
{
  return below (d, d->shape.rank);
}

/* %NAME<n>, of @n integers. */
static void
add_ints (Draw         *d,
          char          name,
          const gint64 *v,
          gint          n)
{
  gint i;

  g_string_append_printf (d->text, "%%%c%u = Const {", name, d->n);
  for (i = 0; i < n; i++)
    g_string_append_printf (d->text, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", v[i]);
  g_string_append_printf (d->text, "} : i64[%d]\n", n);
}

/* The op on the last value, with the further operands that @names say, "ab" being %aN, %bN. */
static void
add_op (Draw       *d,
        const char *op,
        const char *names)
{
  g_string_append_printf (d->text, "%%v%u = %s(%%v%u", d->n + 1, op, d->n);
  for (; *names != '\0'; names++)
    g_string_append_printf (d->text, ", %%%c%u", *names, d->n);
  g_string_append (d->text, ")");
}

static void
draw_order (Draw   *d,
            gint64 *order)
{
  gint i;

  for (i = 0; i < d->shape.rank; i++)
    {
      gint k = below (d, i + 1);

      order[i] = order[k];
      order[k] = i;
    }
}

static void
draw_transpose (Draw *d)
{
  gint64 order[LPT_MAX_RANK];

  draw_order (d, order);
  add_ints (d, 'a', order, d->shape.rank);
  add_op (d, "Transpose", "a");
}

/* Lengths are merged, and taken apart where they are even or by three. */
static void
draw_reshape (Draw *d)
{
  gint64 dims[LPT_MAX_RANK];
  gint n = 0, i;

  for (i = 0; i < d->shape.rank && n < 6; i++)
    {
      const gint64 length = d->shape.dims[i], part = length % 2 == 0 ? 2 : length % 3 == 0 ? 3 : 1;

      if (n > 0 && (below (d, 3) == 0 || n == 5))
        dims[n - 1] *= length;
      else if (below (d, 2) == 0 && n < 5 && i < d->shape.rank - 1)
        {
          dims[n++] = below (d, 2) == 0 ? part : length / part;
          dims[n] = length / dims[n - 1];
          n++;
        }
      else
        dims[n++] = length;
    }
  for (; i < d->shape.rank; i++)
    dims[n - 1] *= d->shape.dims[i];
  add_ints (d, 'a', dims, n);
  add_op (d, "Reshape", "a");
  g_string_append (d->text, " {special_zero=false}");
}

static void
draw_slice (Draw *d)
{
  gint64 begin[LPT_MAX_RANK], end[LPT_MAX_RANK], step[LPT_MAX_RANK], axes[LPT_MAX_RANK];
  gint n = 1 + draw_axis (d), i;

  draw_order (d, axes);
  for (i = 0; i < n; i++)
    {
      const gint64 length = d->shape.dims[axes[i]];

      step[i] = 1 + below (d, 2);
      begin[i] = below (d, 3) == 0 ? -length : below (d, length);
      end[i] = below (d, 2) == 0 ? G_MAXINT32 : length;
      if (below (d, 3) == 0)
        {
          step[i] = -step[i];
          begin[i] = below (d, 2) == 0 ? G_MAXINT32 : length - 1;
          end[i] = -length - 1;
        }
    }
  add_ints (d, 'a', begin, n);
  add_ints (d, 'b', end, n);
  add_ints (d, 'c', step, n);
  add_ints (d, 'd', axes, n);
  add_op (d, "Slice", "abcd");
}

static void
draw_strided_slice (Draw *d)
{
  gint64 begin[LPT_MAX_RANK], end[LPT_MAX_RANK], step[LPT_MAX_RANK];
  GString *masks[5];
  gboolean set[5];
  static const char *const names[] = { "begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask" };
  gint n = 1 + draw_axis (d), axis = 0, i, k, ellipsis = below (d, 3) == 0 ? below (d, n) : -1;

  for (k = 0; k < 5; k++)
    masks[k] = g_string_new (NULL);
  for (i = 0; i < n; i++)
    {
      const gboolean new_axis = i != ellipsis && below (d, 6) == 0;
      const gint64 length = d->shape.dims[axis];

      step[i] = below (d, 3) == 0 ? (below (d, 2) == 0 ? 2 : -1) : 1;
      begin[i] = step[i] < 0 ? length - 1 : below (d, 2) == 0 ? below (d, length) : 0;
      end[i] = step[i] < 0 ? -length - 1 : length;
      set[0] = below (d, 3) == 0;
      set[1] = below (d, 3) == 0;
      set[2] = new_axis;
      set[3] = below (d, 5) == 0 && !new_axis && i != ellipsis;
      set[4] = i == ellipsis;
      for (k = 0; k < 5; k++)
        g_string_append_printf (masks[k], "%s%d", i > 0 ? "," : "", set[k]);
      axis += !new_axis && i != ellipsis && axis < d->shape.rank - 1;
    }
  add_ints (d, 'a', begin, n);
  add_ints (d, 'b', end, n);
  add_ints (d, 'c', step, n);
  add_op (d, "StridedSlice", "abc");
  for (k = 0; k < 5; k++)
    {
      g_string_append_printf (d->text, "%s%s=[%s]", k == 0 ? " {" : ", ", names[k], masks[k]->str);
      g_string_free (masks[k], TRUE);
    }
  g_string_append (d->text, "}");
}

static void
draw_pad (Draw *d)
{
  static const char *const modes[] = { "constant", "edge", "reflect", "symmetric" };
  const gint mode = below (d, 4);
  gint64 begin[LPT_MAX_RANK], end[LPT_MAX_RANK];
  gint i;

  for (i = 0; i < d->shape.rank; i++)
    {
      begin[i] = below (d, 2) == 0 ? 0 : below (d, MIN (d->shape.dims[i], 3));
      end[i] = below (d, 2) == 0 ? 0 : below (d, MIN (d->shape.dims[i], 3));
      if (mode == 0 && d->shape.dims[i] > 2 && below (d, 3) == 0)
        begin[i] = -1;
    }
  add_ints (d, 'a', begin, d->shape.rank);
  add_ints (d, 'b', end, d->shape.rank);
  add_op (d, "Pad", "ab");
  g_string_append_printf (d->text, " {pad_mode=%s}", modes[mode]);
}

static void
draw_tile (Draw *d)
{
  gint64 times[LPT_MAX_RANK];
  gint n = d->shape.rank + below (d, 2), i;

  for (i = 0; i < n; i++)
    times[i] = below (d, 4) == 0 ? 2 : 1;
  add_ints (d, 'a', times, n);
  add_op (d, "Tile", "a");
}

/* Where the axes are listed the new one may be any; otherwise it is the first. */
static void
draw_broadcast (Draw *d)
{
  gint64 dims[LPT_MAX_RANK] = { 0 }, map[LPT_MAX_RANK] = { 0 };
  const gboolean listed = below (d, 3) == 0;
  const gint more = below (d, 2), new_axis = more == 0 ? -1 : listed ? below (d, d->shape.rank + 1) : 0;
  gint i, at = 0;

  for (i = 0; i < d->shape.rank + more; i++)
    if (i == new_axis)
      dims[i] = 1 + below (d, 3);
    else
      {
        dims[i] = d->shape.dims[at] == 1 ? 1 + below (d, 3) : d->shape.dims[at];
        map[at++] = i;
      }
  add_ints (d, 'a', dims, d->shape.rank + more);
  if (listed)
    add_ints (d, 'b', map, d->shape.rank);
  add_op (d, "Broadcast", listed ? "ab" : "a");
  g_string_append (d->text, listed ? " {mode=explicit}" : below (d, 2) == 0 ? " {mode=bidirectional}" : "");
}

static void
draw_gather (Draw *d)
{
  const gint axis = draw_axis (d), rows = 1 + below (d, 3), n = 1 + below (d, 3), length = (gint) d->shape.dims[axis];
  gint i;

  g_string_append_printf (d->text, "%%b%u = Const {%d} : i64[]\n%%a%u = Const {", d->n, axis, d->n);
  for (i = 0; i < rows * n; i++)
    g_string_append_printf (d->text, "%s%d", i > 0 ? "," : "", below (d, 2 * length) - length);
  if (d->shape.rank < 6 && below (d, 2) == 0)
    g_string_append_printf (d->text, "} : i64[%d,%d]\n", rows, n);
  else
    g_string_append_printf (d->text, "} : i64[%d]\n", rows * n);
  add_op (d, "Gather", "ab");
}

static void
draw_gather_nd (Draw *d)
{
  gint tuple = 1 + draw_axis (d), n = 1 + below (d, 4), i;

  g_string_append_printf (d->text, "%%a%u = Const {", d->n);
  for (i = 0; i < tuple * n; i++)
    g_string_append_printf (d->text, "%s%d", i > 0 ? "," : "", below (d, d->shape.dims[i % tuple]));
  g_string_append_printf (d->text, "} : i64[%d,%d]\n", n, tuple);
  add_op (d, "GatherND", "a");
}

static void
draw_roll (Draw *d)
{
  const gint64 axis = draw_axis (d) - d->shape.rank, shift = below (d, 5) - 2;

  add_ints (d, 'a', &shift, 1);
  add_ints (d, 'b', &axis, 1);
  add_op (d, "Roll", "ab");
}

static void
draw_reverse (Draw *d)
{
  const gint64 axis = draw_axis (d);

  add_ints (d, 'a', &axis, 1);
  add_op (d, "Reverse", "a");
  g_string_append (d->text, " {mode=index}");
}

static void
draw_reverse_sequence (Draw *d)
{
  const gint batch = draw_axis (d), sequence = draw_axis (d);
  gint64 lengths[64];
  gint i;

  for (i = 0; i < MIN (d->shape.dims[batch], 64); i++)
    lengths[i] = 1 + below (d, d->shape.dims[sequence]);
  add_ints (d, 'a', lengths, i);
  add_op (d, "ReverseSequence", "a");
  g_string_append_printf (d->text, " {batch_axis=%d, seq_axis=%d}", batch, sequence);
}

static void
draw_shuffle (Draw *d)
{
  const gint axis = draw_axis (d), group = d->shape.dims[axis] % 2 == 0 ? 2 : 1;

  add_op (d, "ShuffleChannels", "");
  g_string_append_printf (d->text, " {axis=%d, group=%d}", axis, group);
}

static void
draw_blocks (Draw *d)
{
  add_op (d, below (d, 2) == 0 ? "DepthToSpace" : "SpaceToDepth", "");
  g_string_append_printf (d->text, " {block_size=2, mode=%s}", below (d, 2) == 0 ? "depth_first" : "blocks_first");
}

/* One of the parts goes on. */
static void
draw_split (Draw *d)
{
  const gint axis = draw_axis (d);
  const gint64 length = d->shape.dims[axis], parts = length % 2 == 0 ? 2 : length % 3 == 0 ? 3 : 1;

  g_string_append_printf (d->text, "%%a%u = Const {%d} : i64[]\n", d->n, axis);
  g_string_append_printf (d->text, "%%s%u = Split(%%v%u, %%a%u) {num_splits=%d}\n", d->n, d->n, d->n, (gint) parts);
  g_string_append_printf (d->text, "%%v%u = Relu(%%s%u.%d)", d->n + 1, d->n, below (d, parts));
}

static void (*const movements[]) (Draw *d) = {
  draw_transpose, draw_transpose,        draw_reshape, draw_reshape, draw_slice, draw_strided_slice,
  draw_pad,       draw_tile,             draw_broadcast, draw_gather, draw_gather_nd, draw_roll,
  draw_reverse,   draw_reverse_sequence, draw_shuffle, draw_blocks,  draw_split,
};

/* Draws one more op; FALSE: the graph does not take it. */
static gboolean
draw_step (Draw *d)
{
  const gsize before = d->text->len;
  g_autofree char *text = NULL;
  g_autoptr (LptGraph) graph = NULL;
  const LptShape *shape;

  movements[below (d, G_N_ELEMENTS (movements))] (d);
  g_string_append (d->text, "\n");
  text = g_strdup_printf ("%sResult(%%v%u)\n", d->text->str, d->n + 1);
  graph = lpt_graph_from_text (text, -1, "drawn", NULL);
  if (graph != NULL)
    {
      LptNode *result = g_ptr_array_index (graph->results, 0);

      shape = &lpt_node_in (result, 0)->shape;
      if (lpt_shape_is_static (shape) && shape->rank > 0 && shape->rank <= 6 &&
          lpt_dims_product (shape, 0, shape->rank) > 0 && lpt_dims_product (shape, 0, shape->rank) < 20000)
        {
          d->shape = *shape;
          d->n++;
          return TRUE;
        }
    }
  g_string_truncate (d->text, before);

  return FALSE;
}

static void
assert_equal (const LptCopyOrigin *a,
              const LptCopyOrigin *b,
              const LptShape      *shape)
{
  const gint64 count = lpt_dims_product (shape, 0, shape->rank);
  LptCopyOrigin flat[2];
  gint64 i;

  g_assert_true (lpt_copy_origin_by (a, &count, 1, &flat[0]));
  g_assert_true (lpt_copy_origin_by (b, &count, 1, &flat[1]));
  g_assert_cmpint (flat[0].start, ==, flat[1].start);
  for (i = 0; i < count; i++)
    g_assert_cmpint (flat[0].from[0][i], ==, flat[1].from[0][i]);
  lpt_copy_origin_clear (&flat[0]);
  lpt_copy_origin_clear (&flat[1]);
}

/* Both ways through @op; afterwards @at is that of output @output. FALSE: it ends there. */
static gboolean
compare_step (const LptProgramOp *op,
              guint               output,
              LptCopyOrigin      *at)
{
  g_autofree LptCopyOrigin *lines = g_new0 (LptCopyOrigin, op->n_out), *all = g_new0 (LptCopyOrigin, op->n_out);
  LptCopyFill fills[2];
  guint k;

  g_assert_true (lpt_copy_origin_ask (at, op, FALSE, lines, &fills[0]));
  g_assert_true (lpt_copy_origin_ask (at, op, TRUE, all, &fills[1]));
  g_assert_cmpint (fills[0].some, ==, fills[1].some);
  g_assert_cmpint (fills[0].equal, ==, fills[1].equal);
  g_assert_cmpmem (fills[0].value, 8, fills[1].value, 8);
  lpt_copy_origin_clear (at);
  for (k = 0; k < op->n_out; k++)
    {
      assert_equal (&lines[k], &all[k], &op->out[k]->array.shape);
      if (k == output)
        *at = lines[k];
      else
        lpt_copy_origin_clear (&lines[k]);
      lpt_copy_origin_clear (&all[k]);
    }

  return !fills[0].some;
}

static void
compare_chain (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, "drawn", &error);
  g_autoptr (LptPlan) plan = graph != NULL ? lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, &error) : NULL;
  const LptProgramValue *last = NULL;
  LptCopyOrigin at = { 0 };
  gboolean going = TRUE;
  guint i, k;

  g_test_message ("%s", text);
  g_assert_no_error (error);
  for (i = 0; i < plan->program->nodes->len && going; i++)
    {
      const LptProgramOp *op = plan->program->nodes->pdata[i];

      if (op->n_in == 0 || op->node->op == LPT_OP_RESULT)
        continue;
      if (last == NULL)
        lpt_copy_origin_init (&at, op->in[0], LPT_LAYOUT_TYPED);
      else if (op->in[0] != last)
        continue;
      last = op->out[0];
      if ((op->row->flags & LPT_EXEC_MOVES) == 0)
        continue;
      for (k = 0; k < op->n_out && lpt_program_n_uses (op->out[k]) == 0; k++)
        ;
      k = k == op->n_out ? 0 : k;
      last = op->out[k];
      going = compare_step (op, k, &at);
    }
  lpt_copy_origin_clear (&at);
}

static void
test_chains (void)
{
  guint seed;

  for (seed = 0; seed < ROUNDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GString) text = g_string_new ("%v0 = Parameter : f32[");
      Draw d = { .rand = rand, .text = text };
      gint k, steps = 1 + below (&d, STEPS);

      d.shape.rank = 1 + below (&d, 5);
      for (k = 0; k < d.shape.rank; k++)
        {
          d.shape.dims[k] = 1 + below (&d, 6);
          g_string_append_printf (text, "%s%d", k > 0 ? "," : "", (gint) d.shape.dims[k]);
        }
      g_string_append (text, "]\n");
      for (k = 0; k < steps; )
        k += draw_step (&d) || below (&d, 20) == 0;
      if (d.n == 0)
        continue;
      g_string_append_printf (text, "Result(%%v%u)\n", d.n);
      compare_chain (text->str);
    }
}

/* 2^24 elements: more than are asked about. */
static const char *const large[] = {
  "%a = Const {0,2,3,1} : i64[4]\n%y = Transpose(%v, %a)",
  "%a = Const {16,1024,4,256} : i64[4]\n%t = Reshape(%v, %a) {special_zero=false}\n"
  "%b = Const {0,2,1,3} : i64[4]\n%y = Transpose(%t, %b)",
  "%a = Const {1} : i64[]\n%s = Split(%v, %a) {num_splits=2}\n%y = Relu(%s.1)",
  "%a = Const {10} : i64[1]\n%b = Const {500} : i64[1]\n%c = Const {2} : i64[1]\n%d = Const {2} : i64[1]\n"
  "%y = Slice(%v, %a, %b, %c, %d)",
  "%a = Const {0,1,0,0} : i64[4]\n%b = Const {1,9,1024,1024} : i64[4]\n%c = Const {1,1,1,1} : i64[4]\n"
  "%y = StridedSlice(%v, %a, %b, %c) {begin_mask=[1,0,1,1], end_mask=[1,0,1,1], shrink_axis_mask=[1,0,0,0]}",
  "%a = Const {0,0,1,1} : i64[4]\n%y = Pad(%v, %a, %a) {pad_mode=constant}",
  "%a = Const {0,0,1,1} : i64[4]\n%y = Pad(%v, %a, %a) {pad_mode=reflect}",
  "%a = Const {2,1,1,1} : i64[4]\n%y = Tile(%v, %a)",
  "%a = Const {3,5,1} : i64[3]\n%b = Const {1} : i64[]\n%y = Gather(%v, %a, %b)",
  "%a = Const {2,16,1024,1024} : i64[4]\n%y = Broadcast(%v, %a)",
  "%y = ShuffleChannels(%v) {axis=1, group=4}",
  "%y = DepthToSpace(%v) {block_size=2, mode=depth_first}",
  "%y = SpaceToDepth(%v) {block_size=2, mode=blocks_first}",
  "%a = Const {3} : i64[1]\n%b = Const {2} : i64[1]\n%y = Roll(%v, %a, %b)",
  "%a = Const {3} : i64[1]\n%y = Reverse(%v, %a) {mode=index}",
};

static void
test_large (void)
{
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (large); i++)
    {
      g_autofree char *text = g_strdup_printf ("%%x = Parameter : f32[1,16,1024,1024]\n%%v = Relu(%%x)\n"
                                               "%s\nResult(%%y)\n", large[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, "large", &error);
      g_autoptr (LptPlan) plan = graph != NULL ? lpt_plan_new (graph, NULL, 0, &error) : NULL;

      g_test_message ("%s", text);
      g_assert_no_error (error);
      for (k = 0; k < plan->program->ops->len; k++)
        {
          const LptProgramOp *op = plan->program->ops->pdata[k];

          g_assert_true (op->has_form || op->folded);
        }
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/copy-origin/chains", test_chains);
  g_test_add_func ("/copy-origin/large", test_large);

  return g_test_run ();
}
