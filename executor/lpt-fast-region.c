/* lpt-fast-region.c - regions of element-wise steps that are one table
 *
 *     y[i] = f (r[i])     r and y of 8-bit codes, one scale each
 *
 * holds when every way from y back to the inputs passes r, and everything between is element-wise on values of one shape:
 * functions of one input, arithmetic of such values with each other, Quantize and Dequantize, integer ops of any requant
 * mode; their other operands are constants with one value. So SiLU (Sigmoid, Multiply), GELU (Erf, Add, Multiply), HardSwish
 * and chains of clamps are tables wherever somebody wrote them out.
 *
 * The table is what the steps themselves make of the 256 codes, so it is exact for integer rules of every mode as for
 * floats. r is the nearest value that qualifies. What lies between and has other readers is computed for them as
 * before; the rest exists nowhere. No region: scales per channel, operands of another shape, constants that vary.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/lpt-fast.h"

/* Constants beyond this are not looked through for one value. */
#define MAX_CONSTANT 65536
#define LANES 256
#define LANE_BYTES 8

/* --- which steps --- */

static gboolean
is_one_value (const LptArray *array)
{
  gint64 n = lpt_array_count (array), i;
  gsize size = lpt_storage_size (array->dtype);

  if (n < 1 || n > MAX_CONSTANT || (array->quant != NULL && array->quant->n > 1))
    return FALSE;
  for (i = 1; i < n; i++)
    if (memcmp (array->data, (const guint8 *) array->data + (gsize) i * size, size) != 0)
      return FALSE;

  return TRUE;
}

/* Integer arithmetic with a shift per channel. */
static gboolean
varies (const LptStep *step)
{
  return (step->node->op == LPT_OP_ADD || step->node->op == LPT_OP_SUBTRACT || step->node->op == LPT_OP_MULTIPLY) &&
         LPT_ATTRS (step->node, LptBinaryAttrs)->shift.n > 1;
}

/* Output element i is a function of the elements i of the inputs that are no constants. */
static gboolean
is_elementwise (const LptPlan *plan,
                const LptStep *step)
{
  const LptArray *y = step->n_out == 1 ? &lpt_plan_slot (plan, step->out[0])->array : NULL;
  guint k;

  if (step->folded || y == NULL || (step->node->info->flags & LPT_OP_F_ELEMENTWISE) == 0 ||
      (step->node->info->flags & LPT_OP_F_RANDOM) != 0 || (step->row->flags & LPT_EXEC_SHAPE) != 0 || step->n_in > LPT_FAST_MAX_IN ||
      !lpt_shape_is_static (&y->shape) || (y->quant != NULL && y->quant->n > 1) || varies (step))
    return FALSE;
  for (k = 0; k < step->n_in; k++)
    {
      const LptSlot *slot = step->in[k] != LPT_NO_SLOT ? lpt_plan_slot (plan, step->in[k]) : NULL;

      if (slot == NULL)
        continue;
      if (slot->kind == LPT_SLOT_CONST ? slot->array.shape.rank > MAX (y->shape.rank, 1) || !is_one_value (&slot->array)
          : !lpt_shape_equal (&slot->array.shape, &y->shape) || (slot->array.quant != NULL && slot->array.quant->n > 1))
        return FALSE;
    }

  return TRUE;
}

/* --- where the ways meet --- */

typedef struct
{
  LptFastBuilder *b;
  guint          *root;      /* slot -> nearest codes that it is a function of, or LPT_NO_SLOT */
  guint          *writer;    /* slot -> step + 1, 0 = none */
} Roots;

static guint
codes_of (const Roots *r,
          guint        slot)
{
  return lpt_fast_is_codes (r->b->plan, slot) ? slot : r->root[slot];
}

static guint
meet (const Roots *r,
      guint        a,
      guint        b)
{
  while (a != b && a != LPT_NO_SLOT && b != LPT_NO_SLOT)
    if (r->writer[a] > r->writer[b])
      a = r->root[a];
    else
      b = r->root[b];

  return a == b ? a : LPT_NO_SLOT;
}

static guint
root_of (const Roots   *r,
         const LptStep *step)
{
  guint root = LPT_NO_SLOT, k;
  gboolean any = FALSE;

  if (!is_elementwise (r->b->plan, step))
    return LPT_NO_SLOT;
  for (k = 0; k < step->n_in; k++)
    if (step->in[k] != LPT_NO_SLOT && lpt_plan_slot (r->b->plan, step->in[k])->kind != LPT_SLOT_CONST)
      {
        guint codes = codes_of (r, step->in[k]);

        root = any ? meet (r, root, codes) : codes;
        any = TRUE;
      }

  return root;
}

/* Steps between @root and @out, in order. */
static GArray *
steps_between (const Roots *r,
               guint        root,
               guint        out)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint));
  GArray *steps = g_array_new (FALSE, FALSE, sizeof (guint));
  guint slot = out, i, k;

  for (;;)
    {
      guint index = r->writer[slot] - 1;
      const LptStep *step = lpt_plan_step (r->b->plan, index);

      for (k = 0; k < step->n_in; k++)
        if (step->in[k] != LPT_NO_SLOT && step->in[k] != root && lpt_plan_slot (r->b->plan, step->in[k])->kind != LPT_SLOT_CONST &&
            g_hash_table_add (seen, GUINT_TO_POINTER (step->in[k])))
          g_array_append_val (stack, step->in[k]);
      for (i = steps->len; i > 0 && g_array_index (steps, guint, i - 1) > index; i--)
        ;
      g_array_insert_val (steps, i, index);
      if (stack->len == 0)
        return steps;
      slot = g_array_index (stack, guint, stack->len - 1);
      g_array_set_size (stack, stack->len - 1);
    }
}

/* --- the table --- */

static LptShape
lanes_shape (gint   rank,
             gint64 n)
{
  LptShape shape = { .rank = MAX (rank, n > 1 ? 1 : 0) };
  gint i;

  for (i = 0; i < shape.rank; i++)
    shape.dims[i] = i == shape.rank - 1 ? n : 1;

  return shape;
}

/* Runs @step on all codes at once; @values: slot -> its data. */
static gboolean
run_lanes (const LptPlan *plan,
           const LptStep *step,
           GHashTable    *values,
           LptScratch    *scratch)
{
  LptArray in[LPT_FAST_MAX_IN], out = lpt_plan_slot (plan, step->out[0])->array;
  LptCall call = { .node = step->node, .in = in, .n_in = step->n_in, .out = &out, .n_out = 1, .scratch = scratch,
                   .integer = step->integer };
  gint rank = out.shape.rank;
  guint k;

  for (k = 0; k < step->n_in; k++)
    {
      in[k] = (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
      if (step->in[k] == LPT_NO_SLOT)
        continue;
      in[k] = lpt_plan_slot (plan, step->in[k])->array;
      in[k].owned = FALSE;
      if (lpt_plan_slot (plan, step->in[k])->kind == LPT_SLOT_CONST)
        in[k].shape = lanes_shape (in[k].shape.rank, 1);
      else
        {
          in[k].shape = lanes_shape (rank, LANES);
          in[k].data = g_hash_table_lookup (values, GUINT_TO_POINTER (step->in[k]));
        }
    }
  out.shape = lanes_shape (rank, LANES);
  out.owned = FALSE;
  out.data = g_malloc0 (LANES * LANE_BYTES);
  g_hash_table_insert (values, GUINT_TO_POINTER (step->out[0]), out.data);

  return lpt_call_run (&call, NULL);
}

static gboolean
fill_table (const LptPlan *plan,
            LptFastRegion *region,
            guint          out)
{
  g_autoptr (GHashTable) values = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  guint8 *codes = g_malloc0 (LANES * LANE_BYTES);
  const guint8 *results;
  guint i;

  g_hash_table_insert (values, GUINT_TO_POINTER (region->root), codes);
  for (i = 0; i < LANES; i++)
    codes[i] = (guint8) (i ^ (guint) lpt_fast_offset (lpt_plan_slot (plan, region->root)->array.dtype));
  for (i = 0; i < region->n_steps; i++)
    if (!run_lanes (plan, lpt_plan_step (plan, region->steps[i]), values, scratch))
      return FALSE;
  results = g_hash_table_lookup (values, GUINT_TO_POINTER (out));
  for (i = 0; i < LANES; i++)
    region->table[i] = (guint8) (results[i] ^ (guint) lpt_fast_offset (lpt_plan_slot (plan, out)->array.dtype));

  return TRUE;
}

/* --- what the table replaces --- */

/* How often steps of the region (those that are @dropped, if it is not NULL) read @slot. */
static guint
uses_inside (const LptFastBuilder *b,
             const LptFastRegion  *region,
             const gboolean       *dropped,
             guint                 slot)
{
  guint n = 0, i, k;

  for (i = 0; i < region->n_steps; i++)
    {
      const LptStep *step = lpt_plan_step (b->plan, region->steps[i]);

      for (k = 0; k < step->n_in && (dropped == NULL || dropped[i]); k++)
        n += step->in[k] == slot;
    }

  return n;
}

static gboolean
is_closed (const LptFastBuilder *b,
           const LptFastRegion  *region)
{
  guint i;

  if (uses_inside (b, region, NULL, region->root) != b->uses[region->root])
    return FALSE;
  for (i = 0; i + 1 < region->n_steps; i++)
    {
      guint slot = lpt_plan_step (b->plan, region->steps[i])->out[0];

      if (uses_inside (b, region, NULL, slot) != b->uses[slot])
        return FALSE;
    }

  return TRUE;
}

/* Steps whose results only the region reads need not run. */
static void
cover_inner (LptFastBuilder      *b,
             const LptFastRegion *region)
{
  g_autofree gboolean *dropped = g_new0 (gboolean, region->n_steps);
  guint owner = region->steps[region->n_steps - 1], i;

  dropped[region->n_steps - 1] = TRUE;
  for (i = region->n_steps - 1; i-- > 0; )
    {
      guint slot = lpt_plan_step (b->plan, region->steps[i])->out[0];

      dropped[i] = uses_inside (b, region, dropped, slot) == b->uses[slot];
      if (dropped[i])
        b->covered[region->steps[i]] = owner;
    }
  /* The table reads the root beside the steps that stay. */
  if (uses_inside (b, region, dropped, region->root) < uses_inside (b, region, NULL, region->root))
    {
      b->uses[region->root]++;
      b->reader[region->root] = LPT_NO_SLOT;
    }
}

/* --- for the makers --- */

static void
region_free (gpointer data)
{
  LptFastRegion *region = data;

  if (region != NULL)
    g_free (region->steps);
  g_free (region);
}

static LptFastRegion *
region_new (const Roots *r,
            guint        out)
{
  LptFastRegion *region = g_new0 (LptFastRegion, 1);
  GArray *steps = steps_between (r, r->root[out], out);

  region->root = r->root[out];
  region->n_steps = steps->len;
  region->steps = (guint *) (gpointer) g_array_free (steps, FALSE);
  if (!fill_table (r->b->plan, region, out))
    g_clear_pointer (&region, region_free);

  return region;
}

void
lpt_fast_regions_init (LptFastBuilder *b)
{
  LptPlan *plan = b->plan;
  g_autofree guint *root = g_new (guint, plan->slots->len + 1);
  g_autofree guint *writer = g_new0 (guint, plan->slots->len + 1);
  Roots r = { b, root, writer };
  guint i;

  b->regions = g_ptr_array_new_with_free_func (region_free);
  g_ptr_array_set_size (b->regions, (gint) plan->slots->len);
  for (i = 0; i < plan->slots->len; i++)
    root[i] = LPT_NO_SLOT;
  for (i = 0; i < plan->steps->len; i++)
    {
      const LptStep *step = lpt_plan_step (plan, i);

      if (step->n_out != 1)
        continue;
      writer[step->out[0]] = i + 1;
      root[step->out[0]] = root_of (&r, step);
      if (root[step->out[0]] != LPT_NO_SLOT && lpt_fast_is_codes (plan, step->out[0]))
        b->regions->pdata[step->out[0]] = region_new (&r, step->out[0]);
    }
  /* The outermost first. */
  for (i = plan->steps->len; i-- > 0; )
    {
      const LptStep *step = lpt_plan_step (plan, i);
      const LptFastRegion *region = step->n_out == 1 ? b->regions->pdata[step->out[0]] : NULL;

      if (region != NULL && region->n_steps > 1 && b->covered[i] == LPT_NO_SLOT)
        cover_inner (b, region);
    }
}

const LptFastRegion *
lpt_fast_region_behind (const LptFastBuilder *b,
                        guint                 slot,
                        guint                *out)
{
  guint i;

  for (i = 0; i < b->regions->len; i++)
    {
      const LptFastRegion *region = b->regions->pdata[i];

      if (region != NULL && region->root == slot && is_closed (b, region))
        {
          *out = i;
          return region;
        }
    }

  return NULL;
}
