/* lpt-grid.c - quantizers that are spelled as elementwise operations
 *
 * Two lists of operations around a rounding, each by constants: those that scale and shift, and those that bound. What
 * bounds in front of the rounding may stand behind it, since rounding is monotone:
 *
 *     round (min (t, h)) = min (round (t), round (h))
 *
 * so all bounds become bounds of whole numbers; one behind the rounding must be a whole number there itself. How much
 * of the lists belongs to the quantizer: as little as gives it two bounds and a scale on either side. More would take
 * in what the network computes.
 *
 * Training writes q as v + (q - v), whose gradient is that of v: such a sum is q in real numbers, and stepped over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "passes/support/lpt-grid.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-same-code.h"

/* Whole numbers beyond are no codes. */
#define MOST 16777216.0

#define MOST_LEVELS 65536.0

/* --- both lists ---------------------------------------------------------------------- */

/* The one reader of @value, through @index; beside a Select stands the comparison that it is for. */
static LptNode *
only_reader (LptValue *value,
             guint    *index)
{
  const guint n = lpt_value_n_uses (value);

  for (guint i = 0; i < n && n <= 2; i++)
    {
      const LptUse *use = lpt_value_use (value, i);
      LptNode *compare = n == 2 ? lpt_value_use (value, 1 - i)->node : NULL;

      if (n == 2 && (use->node->op != LPT_OP_SELECT || lpt_node_src (use->node, 0) != compare ||
                     lpt_value_n_uses (&compare->out[0]) != 1))
        continue;
      *index = use->index;
      return use->node;
    }

  return NULL;
}

static gboolean
is_negative_of (const LptValue *value,
                const LptValue *of)
{
  return value->producer->op == LPT_OP_NEGATIVE && value->producer->in[0].value == of;
}

/* v + (value - v) and v + (-v + value) are @value. */
static LptValue *
behind_straight_through (LptValue *value)
{
  guint index;
  LptNode *difference = only_reader (value, &index), *sum;
  LptValue *v;

  if (difference == NULL || difference->n_in != 2 || !lpt_shape_equal (&value->shape, &difference->out[0].shape) ||
      (sum = only_reader (&difference->out[0], &index)) == NULL || sum->op != LPT_OP_ADD)
    return value;
  v = lpt_node_in (sum, 1 - index);
  if (!lpt_shape_equal (&value->shape, &sum->out[0].shape) || v == &difference->out[0])
    return value;
  if (difference->op == LPT_OP_SUBTRACT && lpt_node_in (difference, 0) == value && lpt_node_in (difference, 1) == v)
    return &sum->out[0];
  if (difference->op == LPT_OP_ADD && (is_negative_of (lpt_node_in (difference, 0), v) ||
                                       is_negative_of (lpt_node_in (difference, 1), v)))
    return &sum->out[0];

  return value;
}

static void
walk_down (LptGrid  *grid,
           LptValue *value)
{
  while (grid->n_down < LPT_GRID_STEPS)
    {
      LptGridStep *step = &grid->down[grid->n_down];
      guint index;
      LptNode *node;

      value = behind_straight_through (value);
      node = only_reader (value, &index);
      if (node == NULL || node->n_out != 1 || !lpt_grid_step_read (node, step))
        {
          if (node != NULL)
            lpt_grid_step_clear (step);
          return;
        }
      grid->n_down++;
      if (step->data != value)
        {
          lpt_grid_step_clear (step);
          grid->n_down--;
          return;
        }
      value = &node->out[0];
    }
}

static void
walk_up (LptGrid  *grid,
         LptValue *value)
{
  while (grid->n_up < LPT_GRID_STEPS && value->producer->n_out == 1)
    {
      LptGridStep *step = &grid->up[grid->n_up];

      if (value->producer->op == LPT_OP_CONVERT || !lpt_dtype_is_real (value->dtype) ||
          !lpt_grid_step_read (value->producer, step))
        {
          lpt_grid_step_clear (step);
          return;
        }
      grid->n_up++;
      value = step->data;
    }
}

/* --- bounds -------------------------------------------------------------------------- */

/* The one whole number that all elements of @bound are, or round to. */
static gboolean
whole_of (LptTensor *bound,
          gboolean   rounds,
          double    *whole)
{
  if (bound == NULL)
    return FALSE;
  for (gint64 i = 0; i < lpt_tensor_count (bound); i++)
    {
      const double v = lpt_tensor_get_f64 (bound, i), w = rint (v);

      if (isnan (v) || (!rounds && !lpt_same_code (v, w, LPT_DTYPE_U8)) || (i > 0 && w != *whole))
        return FALSE;
      *whole = w;
    }

  return lpt_tensor_count (bound) > 0;
}

/* Takes the bound of step @i of the list @up or down into account. FALSE where it is between two whole numbers. */
static gboolean
take_bound (LptGrid   *grid,
            gboolean   up,
            guint      i,
            LptTensor *bound,
            gboolean   upper)
{
  g_autoptr (LptTensor) end = lpt_tensor_ref (bound);
  double whole = 0;

  for (guint k = i; k-- > 0;)
    {
      LptTensor *next = up ? lpt_grid_step_forward (&grid->up[k], end) : lpt_grid_step_backward (&grid->down[k], end);

      lpt_tensor_unref (end);
      end = next;
      if (end == NULL)
        return FALSE;
    }
  if (!whole_of (end, up, &whole))
    return FALSE;
  if (upper)
    grid->high = MIN (grid->high, whole);
  else
    grid->low = MAX (grid->low, whole);

  return TRUE;
}

/* The bounds of the first @n_up and @n_down steps. FALSE where one of them is no whole number. */
static gboolean
take_bounds (LptGrid *grid,
             guint    n_up,
             guint    n_down)
{
  grid->low = -INFINITY;
  grid->high = INFINITY;
  for (guint i = 0; i < n_up + n_down; i++)
    {
      const gboolean up = i < n_up;
      const guint k = up ? i : i - n_up;
      const LptGridStep *step = up ? &grid->up[k] : &grid->down[k];

      if ((step->low != NULL && !take_bound (grid, up, k, step->low, FALSE)) ||
          (step->high != NULL && !take_bound (grid, up, k, step->high, TRUE)))
        return FALSE;
    }

  return TRUE;
}

static gboolean
is_bounded (const LptGrid *grid)
{
  return grid->low >= -MOST && grid->high <= MOST;
}

static gboolean
has_scale (const LptGridStep *steps,
           guint              n)
{
  for (guint i = 0; i < n; i++)
    if (steps[i].scales)
      return TRUE;
  return FALSE;
}

static gboolean
shifts (const LptGridStep *step)
{
  return step->constant != NULL && !step->scales;
}

static gboolean
bounds (const LptGridStep *step)
{
  return step->low != NULL || step->high != NULL;
}

/* How many steps in front belong to it. */
static guint
choose_up (LptGrid *grid)
{
  guint kept = 0;

  for (guint k = 0; k <= grid->n_up; k++)
    {
      const gboolean fits = take_bounds (grid, k, grid->n_down), scaled = has_scale (grid->up, k);

      if (fits && is_bounded (grid) && scaled)
        return k;
      if (k > 0 && (bounds (&grid->up[k - 1]) || (scaled && !has_scale (grid->up, k - 1))))
        kept = k;
    }
  return take_bounds (grid, 0, grid->n_down) && is_bounded (grid) && !has_scale (grid->up, grid->n_up) ? 0 : kept;
}

/* How far the number in front of the chain, of the first @n steps behind, is off the one behind, in steps at most. */
static double
off_input (LptGrid *grid,
           guint    n,
           double   whole)
{
  const guint have = grid->n_down;
  double most = 0;

  grid->n_down = n;
  g_autoptr (LptTensor) in = lpt_grid_before (grid, whole);
  g_autoptr (LptTensor) out = lpt_grid_behind (grid, whole);
  g_autoptr (LptTensor) next = lpt_grid_behind (grid, whole + 1);
  g_autoptr (LptTensor) step = lpt_fold_binary (LPT_OP_SUBTRACT, next, out, LPT_DTYPE_F64);
  g_autoptr (LptTensor) off = lpt_fold_binary (LPT_OP_SUBTRACT, in, out, LPT_DTYPE_F64);
  g_autoptr (LptTensor) part = lpt_fold_binary (LPT_OP_DIVIDE, off, step, LPT_DTYPE_F64);
  grid->n_down = have;
  for (gint64 k = 0; part != NULL && k < lpt_tensor_count (part); k++)
    most = MAX (most, fabs (lpt_tensor_get_f64 (part, k)));

  return part != NULL ? most : INFINITY;
}

/* Is the output interval of the first @n steps behind over the input interval, to half a step? */
static gboolean
lies_over_input (LptGrid *grid,
                 guint    n)
{
  return off_input (grid, n, grid->low) < 0.5 && off_input (grid, n, grid->high) < 0.5;
}

/* How many steps behind belong to it; all where the data is constant. */
static guint
choose_down (LptGrid *grid)
{
  guint n = grid->n_down;

  for (guint k = 0; k <= grid->n_down && !grid->constant; k++)
    if (take_bounds (grid, grid->n_up, k) && is_bounded (grid) &&
        (has_scale (grid->down, k) || !has_scale (grid->down, grid->n_down)))
      {
        n = k;
        if (k < grid->n_down && shifts (&grid->down[k]) && has_scale (grid->down, k) && !lies_over_input (grid, k) &&
            lies_over_input (grid, k + 1))
          n++;
        break;
      }
  while (n > 0 && !lpt_dtype_is_real (grid->down[n - 1].node->out[0].dtype))
    n--;

  return n;
}

/* Does Convert @i behind the rounding leave @whole as it is? */
static gboolean
convert_holds (LptGrid *grid,
               guint    i,
               double   whole)
{
  const LptDType dtype = grid->down[i].node->out[0].dtype;
  const guint have = grid->n_down;
  double code = 0;

  grid->n_down = i;
  g_autoptr (LptTensor) end = lpt_grid_behind (grid, whole);
  grid->n_down = have;
  if (has_scale (grid->down, i) || !whole_of (end, FALSE, &code))
    return FALSE;
  return lpt_dtype_is_integer (dtype) ? code >= lpt_dtype_min (dtype) && code <= lpt_dtype_max (dtype)
                                      : lpt_dtype_bits (dtype) >= 32;
}

static gboolean
converts_hold (LptGrid *grid)
{
  for (guint i = 0; i < grid->n_down; i++)
    if (grid->down[i].node->op == LPT_OP_CONVERT &&
        (!convert_holds (grid, i, grid->low) || !convert_holds (grid, i, grid->high)))
      return FALSE;

  return TRUE;
}

/* Are the numbers behind read as indices, by Converts to wide integers? */
static gboolean
is_index (LptValue *y)
{
  for (guint i = 0; i < lpt_value_n_uses (y); i++)
    {
      LptNode *reader = lpt_value_use (y, i)->node;

      if (reader->op == LPT_OP_CONVERT && lpt_dtype_is_integer (reader->out[0].dtype) &&
          lpt_dtype_bits (reader->out[0].dtype) > 8)
        return TRUE;
    }

  return FALSE;
}

/* @moved: by operations that move numbers alone. */
static gboolean
feeds_weights (LptValue *value,
               gboolean  moved,
               guint     depth)
{
  for (guint i = 0; depth > 0 && i < lpt_value_n_uses (value); i++)
    {
      const LptUse *use = lpt_value_use (value, i);
      const guint32 flags = use->node->info->flags;
      const gboolean goes_on = moved ? (flags & LPT_OP_F_PRESERVES) != 0 : (flags & LPT_OP_F_QUANTIZES) == 0;

      if (((flags & LPT_OP_F_WEIGHTED) != 0 && use->index == 1) ||
          (use->node->n_out == 1 && goes_on &&
           lpt_value_is_constant_path (&use->node->out[0]) && feeds_weights (&use->node->out[0], moved, depth - 1)))
        return TRUE;
    }

  return FALSE;
}

gboolean
lpt_grid_feeds_weights (LptValue *value)
{
  return feeds_weights (value, FALSE, LPT_GRID_STEPS);
}

/* Has each element along one axis at most numbers of its own? Intervals have no more. */
static gboolean
is_along_one_axis (const LptGridStep *steps,
                   guint              n)
{
  for (guint i = 0; i < n; i++)
    if (steps[i].constant != NULL && lpt_tensor_n_wide (steps[i].constant) > 1)
      return FALSE;
  return TRUE;
}

/* Constants that nothing bounds are bounded by what they are. */
static gboolean
bound_constants (LptGrid   *grid,
                 LptTensor *data)
{
  double low = INFINITY, high = -INFINITY;

  for (gint64 i = 0; i < lpt_tensor_count (data); i++)
    {
      const double v = lpt_tensor_get_f64 (data, i);

      if (!isfinite (v))
        return FALSE;
      low = MIN (low, v);
      high = MAX (high, v);
    }
  low = floor (low + 0.5);
  high = ceil (high - 0.5);
  if (low >= -127 && high <= 127)
    grid->low = -127, grid->high = 127;
  else if (low >= 0 && high <= 255)
    grid->low = 0, grid->high = 255;
  else if (low >= -128 && high <= 127)
    grid->low = -128, grid->high = 127;
  else
    return FALSE;

  return TRUE;
}

/* --- the whole ---------------------------------------------------------------------- */

gboolean
lpt_grid_rounds (const LptNode *node)
{
  return node->op == LPT_OP_ROUND || node->op == LPT_OP_FLOOR;
}

/* What is rounded: the input, or in front of a half that is added and lost by Floor. */
static LptValue *
rounded_by (LptNode *round)
{
  LptValue *x = lpt_node_in (round, 0);

  if (round->op == LPT_OP_ROUND || x->producer->data != NULL)
    return x;
  if (x->producer->op == LPT_OP_ADD)
    for (guint side = 0; side < 2; side++)
      {
        g_autoptr (LptTensor) half = lpt_grid_constant (x->producer, side, 1 - side);

        if (half != NULL && lpt_tensor_all_equal_to (half, 0.5))
          return lpt_node_in (x->producer, 1 - side);
      }

  return NULL;
}

void
lpt_grid_clear (LptGrid *grid)
{
  for (guint i = 0; i < LPT_GRID_STEPS; i++)
    {
      lpt_grid_step_clear (&grid->up[i]);
      lpt_grid_step_clear (&grid->down[i]);
    }
}

/* Are the steps that were found a quantizer? Where they nearly are, @problem says what they lack. */
static gboolean
is_quantizer (LptGrid     *grid,
              const char **problem)
{
  LptTensor *data = grid->constant ? grid->x->producer->data : NULL;

  if (is_index (grid->y) || (data != NULL && !feeds_weights (grid->y, TRUE, LPT_GRID_STEPS)) ||
      (data == NULL && !has_scale (grid->up, grid->n_up) && !has_scale (grid->down, grid->n_down)) ||
      (data == NULL && (!is_along_one_axis (grid->up, grid->n_up) || !is_along_one_axis (grid->down, grid->n_down))))
    return FALSE;
  if (!take_bounds (grid, grid->n_up, grid->n_down))
    *problem = "a bound behind the rounding is no whole number in front of its scale";
  else if (data != NULL && !is_bounded (grid))
    return bound_constants (grid, data) && converts_hold (grid);
  else if (!is_bounded (grid))
    *problem = grid->low < -MOST && grid->high > MOST ? NULL : "what it rounds to has no least or no greatest number";
  else if (grid->high - grid->low + 1 > MOST_LEVELS)
    *problem = "it rounds to more than 65536 numbers";
  else
    return grid->high > grid->low && converts_hold (grid);

  return FALSE;
}

gboolean
lpt_grid_find (LptNode *round,
               LptGrid *grid)
{
  LptValue *x = lpt_grid_rounds (round) ? rounded_by (round) : NULL;

  *grid = (LptGrid) { .round = round, .x = x };
  if (x == NULL || !lpt_dtype_is_real (x->dtype) || x->quant != NULL)
    return FALSE;
  grid->constant = x->producer->data != NULL;
  if (!grid->constant)
    walk_up (grid, x);
  walk_down (grid, &round->out[0]);
  grid->n_up = choose_up (grid);
  grid->n_down = choose_down (grid);
  if (grid->n_up > 0)
    grid->x = grid->up[grid->n_up - 1].data;
  grid->y = grid->n_down > 0 ? &grid->down[grid->n_down - 1].node->out[0] : &round->out[0];
  grid->y = behind_straight_through (grid->y);

  return is_quantizer (grid, &grid->problem);
}

static LptTensor *
end_of (const LptGrid *grid,
        gboolean       up,
        double         whole)
{
  LptTensor *end = lpt_tensor_scalar (LPT_DTYPE_F64, whole);

  for (guint k = 0; k < (up ? grid->n_up : grid->n_down) && end != NULL; k++)
    {
      LptTensor *next = up ? lpt_grid_step_backward (&grid->up[k], end) : lpt_grid_step_forward (&grid->down[k], end);

      lpt_tensor_unref (end);
      end = next;
    }
  return end;
}

static LptTensor *
single (LptTensor *end)
{
  LptTensor *f32 = end != NULL ? lpt_tensor_convert (end, LPT_DTYPE_F32, NULL) : NULL;

  lpt_tensor_unref (end);
  return f32;
}

LptTensor *
lpt_grid_before (const LptGrid *grid,
                 double         whole)
{
  return single (end_of (grid, TRUE, whole));
}

LptTensor *
lpt_grid_behind (const LptGrid *grid,
                 double         whole)
{
  return single (end_of (grid, FALSE, whole));
}
