/* tflite-expand-pool.c - pools whose windows have gaps, and places of maxima, which no operator has
 *
 * Along one axis after the other, o and k the places of the result and of the window:
 *
 *     MaxPool   y[o] = max over k of x[o s - p + k d]
 *     AvgPool   y[o] = sum over k of x[o s - p + k d] / n[o], n[o] the elements, or those and the padding, that count
 *
 * A Gather for each k; a place beyond the data is another one of the same window in a maximum, and counts 0 in a sum.
 * Maxima of codes are codes, averages are real.
 *
 * The place of a maximum, the first of equal ones, goes along: it changes where the next element of the window is
 * greater than all before. A place beyond the data stands for an element that counts at its own place, too.
 *
 * Refused: lengths that are not known, windows that see padding alone, more than 256 places along an axis, or in a
 * window whose maximum has a place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"

#include "ir/lpt-memory.h"
#include "ir/scalar/lpt-loop.h"

#include <math.h>

#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))
#define MAX_PLACES 256

/* A window along one axis. */
typedef struct
{
  gint64   in, out;
  gint64   kernel, stride, dilation, begin, end;
  gboolean counts;          /* padding, too */
} Gaps;

static gint64
place (const Gaps *g, gint64 o, gint64 k)
{
  return o * g->stride - g->begin + k * g->dilation;
}

/* Where place @k of each window lies, or the first of it that is in the data; declined where none is. @shares: what it
 * counts. */
static void
find_places (LptTflExpand *x, const Gaps *g, gint64 k, gint64 *places, double *shares)
{
  for (gint64 o = 0; o < g->out; o++)
    {
      gint64 first = -1, n = 0;
      for (gint64 i = 0; i < g->kernel; i++)
        {
          gint64 at = place (g, o, i);
          gboolean inside = at >= 0 && at < g->in;
          first = first < 0 && inside ? at : first;
          n += inside || (g->counts && at < g->in + g->end);
        }
      gint64 at = place (g, o, k);
      gboolean inside = at >= 0 && at < g->in;
      if (first < 0)
        lpt_tfl_x_decline (x);
      places[o] = inside ? at : MAX (first, 0);
      shares[o] = inside ? 1.0 / (double) n : 0;
    }
}

static LptValue *
along (LptTflExpand *x, LptValue *v, gint axis, const Gaps *g, gboolean max)
{
  LptShape shape = { .rank = v->shape.rank - axis };
  g_autofree gint64 *places = g_new (gint64, (gsize) g->out);
  g_autofree double *shares = g_new (double, (gsize) g->out);
  LptValue *y = NULL;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == 0 ? g->out : 1;
  for (gint64 k = 0; k < g->kernel && x->error == NULL && !x->declined; k++)
    {
      find_places (x, g, k, places, shares);
      LptValue *part = lpt_tfl_x_gather (x, v, lpt_tfl_x_i64 (x, (guint) g->out, places), axis);
      if (!max)
        part = EMIT2 (MULTIPLY, part,
                      lpt_tfl_x_tensor (x, lpt_tensor_from_f64 (v->dtype, &shape, shares, NULL)));
      y = y == NULL ? part : max ? EMIT2 (MAXIMUM, y, part) : EMIT2 (ADD, y, part);
      if (max && v->quant != NULL)
        {
          y->dtype = v->dtype;
          lpt_value_set_quant (y, v->quant);
        }
    }
  return y;
}

static gint64
padding_begin (const Gaps *g, gint auto_pad, gint64 given)
{
  gint64 all = MAX ((g->out - 1) * g->stride + (g->kernel - 1) * g->dilation + 1 - g->in, 0);
  return auto_pad == LPT_AUTO_PAD_SAME_UPPER ? all / 2 : auto_pad == LPT_AUTO_PAD_SAME_LOWER ? all - all / 2
         : auto_pad == LPT_AUTO_PAD_VALID ? 0 : given;
}

/* The window along spatial axis @i. */
static Gaps
read_gaps (LptTflExpand *x, guint i)
{
  gboolean max = x->node->op == LPT_OP_MAX_POOL;
  const LptMaxPoolAttrs *m = LPT_ATTRS (x->node, LptMaxPoolAttrs);
  const LptAvgPoolAttrs *a = LPT_ATTRS (x->node, LptAvgPoolAttrs);
  gint auto_pad = max ? m->auto_pad : a->auto_pad;
  Gaps g = { .in = lpt_tfl_x_raw (x, 0)->shape.dims[2 + i], .out = lpt_node_out (x->node)->shape.dims[2 + i],
             .kernel = lpt_ints_get (max ? &m->kernel : &a->kernel, i, 1),
             .stride = lpt_ints_get (max ? &m->strides : &a->strides, i, 1),
             .dilation = lpt_ints_get (max ? &m->dilations : &a->dilations, i, 1),
             .end = lpt_ints_get (max ? &m->pads_end : &a->pads_end, i, 0), .counts = !max && !a->exclude_pad };
  g.begin = padding_begin (&g, auto_pad, lpt_ints_get (max ? &m->pads_begin : &a->pads_begin, i, 0));
  if (auto_pad == LPT_AUTO_PAD_SAME_UPPER || auto_pad == LPT_AUTO_PAD_SAME_LOWER || auto_pad == LPT_AUTO_PAD_VALID)
    g.end = (g.out - 1) * g.stride + (g.kernel - 1) * g.dilation + 1 - g.in - g.begin;
  if (g.in < 1 || g.out < 1 || g.out > 1 << 16 || g.kernel < 1 || g.kernel > MAX_PLACES)
    lpt_tfl_x_decline (x);
  return g;
}

gboolean
lpt_tfl_x_pool_has_gaps (LptNode *node)
{
  const LptInts *dilations = node->op == LPT_OP_MAX_POOL ? &LPT_ATTRS (node, LptMaxPoolAttrs)->dilations
                                                         : &LPT_ATTRS (node, LptAvgPoolAttrs)->dilations;
  for (guint i = 0; i < dilations->n; i++)
    if (dilations->v[i] != 1)
      return TRUE;
  return FALSE;
}

void
lpt_tfl_x_pool_gaps (LptTflExpand *x)
{
  gboolean max = x->node->op == LPT_OP_MAX_POOL;
  LptValue *v = lpt_tfl_x_raw (x, 0);
  lpt_tfl_x_shape (x, v);
  lpt_tfl_x_shape (x, lpt_node_out (x->node));
  if (x->declined)
    return;
  if (v->quant != NULL && (!max || v->quant->n > 1 || lpt_node_out (x->node)->quant == NULL
                           || !lpt_quant_equal (v->quant, lpt_node_out (x->node)->quant)))
    v = lpt_tfl_x_in (x, 0);
  for (gint axis = 2; axis < v->shape.rank && x->error == NULL && !x->declined; axis++)
    {
      Gaps g = read_gaps (x, (guint) axis - 2);
      v = x->declined ? v : along (x, v, axis, &g, max);
    }
  lpt_tfl_x_set (x, 0, v);
}

/* --- places of maxima ------------------------------------------------------------ */

#define MAX_AXES 3

typedef struct { guint n; Gaps axes[MAX_AXES]; gint64 window, plane; } Window;

static Window
read_window (LptTflExpand *x, gint rank)
{
  Window w = { .n = (guint) MAX (rank - 2, 0), .window = 1, .plane = 1 };
  if (w.n < 1 || w.n > MAX_AXES)
    lpt_tfl_x_decline (x);
  for (guint i = 0; i < w.n && !x->declined; i++)
    {
      w.axes[i] = read_gaps (x, i);
      w.window *= w.axes[i].kernel;
      w.plane *= w.axes[i].in;
    }
  if (w.window > MAX_PLACES || w.plane > G_MAXINT32)
    lpt_tfl_x_decline (x);
  return w;
}

/* Element @k of all windows of @v, in rows of the window; *@at: where it lies in its plane, along @axis and those
 * behind it, modulo @period. */
static LptValue *
element (LptTflExpand *x, LptValue *v, const Window *w, gint64 k, gint64 period, LptValue **at)
{
  LptShape shape = { .rank = v->shape.rank, .dims = { 1, 1 } };
  gint64 count = 1, step = 1;
  for (guint a = 0; a < w->n; a++)
    count *= shape.dims[2 + a] = w->axes[a].out;
  g_autofree double *where = lpt_memory_try ((gsize) count, sizeof *where, &x->error);
  g_autofree gint64 *places = g_new (gint64, 1 << 16);
  g_autofree double *shares = g_new (double, 1 << 16);
  gint64 behind = 1;
  for (gint64 i = 0; i < count && where != NULL; i++)
    where[i] = 0;
  for (gint a = (gint) w->n - 1; a >= 0 && where != NULL && !x->declined; a--)
    {
      const Gaps *g = &w->axes[a];
      find_places (x, g, k % g->kernel, places, shares);
      v = lpt_tfl_x_gather (x, v, lpt_tfl_x_i64 (x, (guint) g->out, places), 2 + a);
      for (gint64 i = 0; i < count; i++)
        where[i] += (double) (places[i / behind % g->out] * step);
      k /= g->kernel;
      behind *= g->out;
      step *= g->in;
    }
  for (gint64 i = 0; i < count && where != NULL; i++)
    where[i] = fmod (where[i], (double) period);
  *at = lpt_tfl_x_tensor (x, where != NULL ? lpt_tensor_from_f64 (x->node->out[1].dtype, &shape, where, NULL) : NULL);
  return v;
}

/* What planes add to places that count from axis @axis on, modulo @period; NULL: nothing. */
static LptValue *
planes (LptTflExpand *x, const LptShape *in, gint axis, gint64 plane, gint64 period)
{
  LptShape shape = { .rank = in->rank, .dims = { in->dims[0], in->dims[1] } };
  gint64 count = in->dims[0] * in->dims[1];
  if (axis > 1)
    return NULL;
  for (gint i = 2; i < in->rank; i++)
    shape.dims[i] = 1;
  g_autofree double *first = lpt_memory_try ((gsize) count, sizeof *first, &x->error);
  for (gint64 i = 0; i < count && first != NULL; i++)
    first[i] = (double) (i * plane % period);
  return lpt_tfl_x_tensor (x, first != NULL ? lpt_tensor_from_f64 (x->node->out[1].dtype, &shape, first, NULL) : NULL);
}

void
lpt_tfl_x_pool_places (LptTflExpand *x)
{
  const LptMaxPoolAttrs *m = LPT_ATTRS (x->node, LptMaxPoolAttrs);
  LptValue *v = lpt_tfl_x_in (x, 0), *best = NULL, *at = NULL, *place_of;
  const LptShape in = lpt_tfl_x_shape (x, v);
  const gint axis = (gint) (m->axis < 0 ? m->axis + in.rank : m->axis);
  lpt_tfl_x_shape (x, lpt_node_out (x->node));
  if (x->declined)
    return;
  const Window w = read_window (x, in.rank);
  const gint64 period = MAX (lpt_dims_product (&in, axis, in.rank), 1);
  for (gint64 k = 0; k < w.window && x->error == NULL && !x->declined; k++)
    {
      LptValue *part = element (x, v, &w, k, period, &place_of);
      LptValue *greater = best != NULL ? EMIT2 (GREATER, part, best) : NULL;
      at = best == NULL ? place_of : lpt_tfl_x_emit (x, LPT_OP_SELECT, 3, greater, place_of, at);
      best = best == NULL ? part : EMIT2 (MAXIMUM, best, part);
    }
  LptValue *first = x->error == NULL && !x->declined ? planes (x, &in, axis, w.plane, period) : NULL;
  at = first != NULL ? EMIT2 (ADD, at, first) : at;
  if (x->error == NULL && !x->declined && w.window == 1)
    at = EMIT2 (BROADCAST, at, lpt_tfl_x_i64 (x, (guint) in.rank, lpt_node_out (x->node)->shape.dims));
  if (x->error != NULL || x->declined)
    return;
  lpt_tfl_x_set (x, 0, best);
  lpt_tfl_x_set (x, 1, at);
}
