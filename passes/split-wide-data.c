/* split-wide-data.c - products of data of up to 16 bits become two products of 8 bits, or four
 *
 *     P (x, w)  =>  Add (P (h, w), P (FakeQuantize (Subtract (x, h)), w)),   h = FakeQuantize (x)
 *
 * with weights w of up to 8 bits. A MatMul of two such data, and a convolution whose weights are such data, is the sum
 * of the four products of their halves.
 *
 * where x was rounded to 257 to 65536 levels of an interval [lo, hi], which is taken wide enough for 0. With its codes
 *
 *     x = s (c - z),  h = 256 s (c >> 8 - z >> 8),  x - h = s (c & 255 - z & 255)
 *
 * exactly: h has the levels of c >> 8, each for the 256 codes above it, and both zero points are whole. Both products
 * are integers; their sums are real, the bias and what else stands behind comes after their sum. Products with the same
 * x share h and the rest. Where 0 is not a level of x, or a Concat joins several distances of levels, x is rounded to
 * such codes, by half a step at most.
 *
 * The halves of a constant are signed: h has 256 levels S = (hi - lo) / 255 apart, what is left, at most S / 2, is
 * rounded to steps of S / 257. Of 65536 levels one in 257, whose rest of 128 steps becomes 127, moves by one.
 *
 * Left alone: transposed convolutions of two such data, other operands beside such data, intervals that are not one
 * constant, data that is not f32, ops that are to stay real. Behind moves x counts as rounded, too, in all intervals
 * that a Concat joins; and so does a constant of 16-bit codes. What is constant is halved to constants.
 *
 * Golden tests: tests/golden/split-wide-data/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-pass.h>

#include "ir/lpt-fold.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-restricted.h"
#include "passes/support/lpt-rounded.h"

typedef struct
{
  LptValue *high, *low;
} Halves;

typedef struct { const char *high, *rest, *low; } Names;

typedef struct
{
  LptRewriter *rw;
  GHashTable  *halves;      /* LptValue * -> Halves * */
} Split;

/* What is left of the constant behind @high, a FakeQuantize of it: a constant, whose halves are weights like others. */
static LptValue *
rest_of_constant (Split      *s,
                  LptNode    *high,
                  const char *name)
{
  g_autoptr (LptTensor) rounded = lpt_fold_fake_quantize (high, LPT_DTYPE_F32, FALSE);
  LptTensor *rest = NULL;

  if (rounded != NULL)
    rest = lpt_fold_binary (LPT_OP_SUBTRACT, lpt_node_const_in (high, 0), rounded, LPT_DTYPE_F32);

  return rest != NULL ? lpt_rewriter_const (s->rw, name, rest) : NULL;
}

/* Is @x a constant of 16-bit codes with one scale behind its dequantization? */
static gboolean
find_codes (LptValue   *x,
            LptDequant *dq)
{
  LptTypeList wide = { 0 };

  lpt_type_list_add (&wide, LPT_DTYPE_U16);
  lpt_type_list_add (&wide, LPT_DTYPE_I16);

  return lpt_dequant_find (x, &wide, dq) && dq->convert != NULL && dq->multiply != NULL &&
         lpt_node_is_const (dq->data->producer) && lpt_type_list_has (&wide, dq->data->dtype) &&
         lpt_tensor_is_scalar_like (lpt_dequant_scale (dq)) &&
         (dq->subtract == NULL || lpt_tensor_is_scalar_like (lpt_dequant_zp (dq)));
}

/* The interval that @x was rounded to, if to more than 8 bits. */
static gboolean
find_interval (LptValue   *x,
               LptRounded *r)
{
  LptDequant dq;
  double scale, zp;

  if (x->dtype != LPT_DTYPE_F32)
    return FALSE;
  if (!find_codes (x, &dq))
    return lpt_rounded_find (x, 256, 65536, r);
  scale = lpt_tensor_get_f64 (lpt_dequant_scale (&dq), 0);
  zp = dq.subtract != NULL ? lpt_tensor_get_f64 (lpt_dequant_zp (&dq), 0) : 0;
  r->lo = MIN ((lpt_dtype_min (dq.data->dtype) - zp) * scale, 0);
  r->hi = MAX ((lpt_dtype_max (dq.data->dtype) - zp) * scale, 0);
  r->step = fabs (scale);

  return isfinite (r->hi - r->lo) && r->hi - r->lo > 1e-30;
}

/* A constant that is rounded or coded as what that makes of it: its levels are those of the halves from now on. */
static LptValue *
rounded_constant (Split    *s,
                  LptValue *x)
{
  LptTensor *folded = NULL;
  LptDequant dq;

  if (find_codes (x, &dq))
    folded = lpt_layer_fold_chain (&dq);
  else if (x->producer->op == LPT_OP_FAKE_QUANTIZE && lpt_node_const_in (x->producer, 0) != NULL)
    folded = lpt_fold_fake_quantize (x->producer, LPT_DTYPE_F32, FALSE);

  return folded != NULL ? lpt_rewriter_const (s->rw, x->producer->name, folded) : x;
}

/* The halves of the constant @x: signed codes without a zero point below, as kernels take weights best. */
static void
halve_constant (Split            *s,
                LptValue         *x,
                const LptRounded *r,
                const Names      *names,
                Halves           *halves)
{
  const double step = (r->hi - r->lo) / 255;
  LptValue *rest;

  halves->high = lpt_rounded_add (s->rw, x, names->high, -rint (-r->lo / step) * step, step, 0);
  rest = rest_of_constant (s, halves->high->producer, names->rest);
  halves->low = lpt_rounded_add (s->rw, rest, names->low, -128 * step / 257, step / 257, 0);
}

static void
halve_data (Split            *s,
            LptValue         *x,
            const LptRounded *r,
            const Names      *names,
            Halves           *halves)
{
  /* Levels go on down to 0 where the interval does not hold it. */
  const double step = r->step > 0 && (r->hi - r->lo) / r->step < 65535.5 ? r->step : (r->hi - r->lo) / 65535;
  const gint zero = rint (-r->lo / step), zero_high = zero / 256, zero_low = zero % 256;
  LptValue *rest;

  halves->high = lpt_rounded_add (s->rw, x, names->high, -zero_high * 256 * step, 256 * step,
                                  (127.5 - zero_low) * step);
  rest = lpt_node_out (lpt_rewriter_add (s->rw, LPT_OP_SUBTRACT, names->rest, 2, (LptValue *[]) { x, halves->high }));
  halves->low = lpt_rounded_add (s->rw, rest, names->low, -zero_low * step, step, 0);
}

static const Halves *
split (Split            *s,
       LptValue         *x,
       const LptRounded *r)
{
  Halves *halves = g_hash_table_lookup (s->halves, x);
  g_autofree char *high = g_strconcat (x->producer->name, "/high", NULL),
                  *rest = g_strconcat (x->producer->name, "/rest", NULL),
                  *low = g_strconcat (x->producer->name, "/low", NULL);
  const Names names = { high, rest, low };
  LptValue *whole;

  if (halves != NULL)
    return halves;
  halves = g_new (Halves, 1);
  whole = rounded_constant (s, x);
  (lpt_node_is_const (whole->producer) ? halve_constant : halve_data) (s, whole, r, &names, halves);
  g_hash_table_insert (s->halves, x, halves);

  return halves;
}

/* @node once more, with @x and @w. */
static LptValue *
product (Split      *s,
         LptNode    *node,
         LptValue   *x,
         LptValue   *w,
         const char *part)
{
  g_autofree char *name = g_strconcat (node->name, part, NULL);
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in);

  for (guint i = 0; i < node->n_in; i++)
    in[i] = lpt_node_in (node, i);
  in[0] = x;
  in[1] = w;

  return lpt_node_out (lpt_rewriter_infer (s->rw, lpt_node_clone (node, name, node->n_in, in)));
}

static LptValue *
add (Split      *s,
     LptNode    *node,
     LptValue   *a,
     LptValue   *b,
     const char *part)
{
  g_autofree char *name = g_strconcat (node->name, part, NULL);

  return lpt_node_out (lpt_rewriter_add (s->rw, LPT_OP_ADD, name, 2, (LptValue *[]) { a, b }));
}

static void
rewrite (Split   *s,
         LptNode *node)
{
  const LptRestriction *restriction = lpt_config_restriction (lpt_rewriter_config (s->rw), node);
  LptValue *x = lpt_node_in (node, 0), *w = lpt_node_in (node, 1), *y = lpt_node_out (node), *sum;
  const Halves *of_x, *of_w = NULL;
  LptRounded rounded, weights;

  if (y->dtype != LPT_DTYPE_F32 || (restriction != NULL && lpt_restriction_is_never (restriction)) ||
      !find_interval (x, &rounded))
    return;
  if ((node->info->flags & LPT_OP_F_TRANSPOSED) == 0 && find_interval (w, &weights))
    of_w = split (s, w, &weights);
  else if (!lpt_value_is_coded (w))
    return;
  of_x = split (s, x, &rounded);
  lpt_node_set_input (node, 0, of_x->high);
  sum = product (s, node, of_x->low, of_w != NULL ? of_w->high : w, "/low");
  if (of_w != NULL)
    {
      lpt_node_set_input (node, 1, of_w->high);
      sum = add (s, node, sum, product (s, node, of_x->high, of_w->low, "/high-low"), "/low/sum");
      sum = add (s, node, sum, product (s, node, of_x->low, of_w->low, "/low-low"), "/rest");
    }
  sum = add (s, node, y, sum, "/sum");
  lpt_rewriter_changed (s->rw, node);
  /* The whole product is what the node stood for. */
  lpt_node_take_name (sum->producer, node, "/high");
  lpt_rewriter_replace (s->rw, y, sum, sum->producer);
}

static gboolean
run_graph (LptRewriter  *rw,
           LptGraph     *graph,
           GError      **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  g_autoptr (GHashTable) halves = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  Split s = { rw, halves };

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    if (((LptNode *) order->pdata[i])->info->flags & LPT_OP_F_WEIGHTED)
      rewrite (&s, order->pdata[i]);

  return TRUE;
}

const LptPass lpt_pass_split_wide_data =
{
  .name      = "split-wide-data",
  .doc       = "Products of data of up to 16 bits become products of 8 bits",
  .stage     = LPT_STAGE_PREPARE,
  .run       = run_graph,
  .exactness = LPT_ROUNDS,
};
