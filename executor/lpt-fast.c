/* lpt-fast.c - from steps to fast ops: representations, makers
 *
 * Steps are taken in order. A maker may put several of them into one op, which then stands where the last of them stood;
 * what the others computed exists nowhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <string.h>

#include "executor/lpt-fast.h"

#include "ir/storage/lpt-tensor-pages.h"
#include "ir/lpt-memory.h"

/* --- helpers --- */

gsize
lpt_fast_count (const LptPlan *plan,
                guint          slot)
{
  return (gsize) lpt_array_count (&lpt_plan_slot (plan, slot)->array);
}

gboolean
lpt_fast_is_codes (const LptPlan *plan,
                   guint          slot)
{
  const LptArray *array = &lpt_plan_slot (plan, slot)->array;

  return (array->dtype == LPT_DTYPE_U8 || array->dtype == LPT_DTYPE_I8) && array->quant != NULL && array->quant->n == 1 &&
         lpt_shape_is_static (&array->shape);
}

gboolean
lpt_fast_is_real (const LptPlan *plan,
                  guint          slot)
{
  const LptArray *array = slot != LPT_NO_SLOT ? &lpt_plan_slot (plan, slot)->array : NULL;

  return array != NULL && array->dtype == LPT_DTYPE_F32 && array->quant == NULL && lpt_dtype_is_real (array->declared) &&
         lpt_shape_is_static (&array->shape) && lpt_array_count (array) > 0;
}

gint32
lpt_fast_zero (const LptPlan *plan,
               guint          slot)
{
  const LptArray *array = &lpt_plan_slot (plan, slot)->array;

  return array->quant->zero_point[0] + lpt_fast_offset (array->dtype);
}

gpointer
lpt_fast_array (gsize n,
                gsize element)
{
  gsize size = (n + LPT_CHANNEL_PAD) * element;
  gpointer data = lpt_aligned_alloc (size, NULL);

  if (data != NULL)
    memset (data, 0, size);

  return data;
}

LptFastWeights
lpt_fast_weights (LptFastBuilder *b,
                  guint           i,
                  const char     *kernel,
                  gconstpointer   key,
                  gsize           key_size,
                  gsize           size,
                  gsize           channels)
{
  static const char digits[] = "0123456789abcdef";
  g_autoptr (GString) name = g_string_new (kernel);
  gsize sums = ((channels + LPT_CHANNEL_PAD) * sizeof (gint32) + 63) & ~(gsize) 63, k;
  LptFastWeights w;

  for (k = 0; k < key_size; k++)
    {
      guint8 byte = ((const guint8 *) key)[k];

      if (k == 0)
        g_string_append_c (name, ' ');
      g_string_append_c (name, digits[byte >> 4]);
      g_string_append_c (name, digits[byte & 15]);
    }
  g_string_append_c (name, ' ');
  g_string_append (name, lpt_plan_step (b->plan, i)->node->name);
  /* Vectors may read past the end. */
  w.col_sum = lpt_pack_take (b->plan->pack, name->str, sums + size + LPT_CHANNEL_PAD, &w.fresh);
  w.data = w.col_sum != NULL ? (guint8 *) w.col_sum + sums : NULL;
  w.fresh = w.fresh && w.data != NULL;

  return w;
}

const LptArray *
lpt_fast_bias (const LptPlan *plan,
               const LptStep *step,
               guint          input,
               gsize          channels,
               gboolean      *ok)
{
  const LptSlot *slot;

  *ok = TRUE;
  if (step->n_in <= input || step->in[input] == LPT_NO_SLOT)
    return NULL;
  slot = lpt_plan_slot (plan, step->in[input]);
  *ok = slot->kind == LPT_SLOT_CONST && (slot->array.dtype == LPT_DTYPE_I32 || slot->array.dtype == LPT_DTYPE_I64) &&
        ((gsize) lpt_array_count (&slot->array) == channels || lpt_array_count (&slot->array) == 1);

  return &slot->array;
}

gint64
lpt_fast_bias_at (const LptArray *bias,
                  gsize           c)
{
  gsize i = lpt_array_count (bias) == 1 ? 0 : c;

  return bias->dtype == LPT_DTYPE_I64 ? ((const gint64 *) bias->data)[i] : ((const gint32 *) bias->data)[i];
}

gsize
lpt_fast_pixels (const LptShape *shape)
{
  gsize n = 1;
  gint i;

  for (i = 2; i < shape->rank; i++)
    n *= (gsize) shape->dims[i];

  return n;
}

LptRepr
lpt_fast_repr (const LptPlan *plan,
               guint          slot,
               LptRepr        repr)
{
  const LptArray *array = &lpt_plan_slot (plan, slot)->array;
  gboolean same_order = array->shape.rank < 3 || lpt_fast_pixels (&array->shape) == 1 || array->shape.dims[1] == 1;

  if (repr == LPT_REPR_LASTF && same_order)
    return LPT_REPR_PLAIN;
  if (repr == LPT_REPR_LAST8 && same_order)
    repr = LPT_REPR_U8;
  if (repr == LPT_REPR_U8 && array->dtype == LPT_DTYPE_U8)
    return LPT_REPR_PLAIN;

  return repr;
}

LptRepr
lpt_fast_layout (const LptFastBuilder *b,
                 guint                 slot)
{
  return b->written[slot] == LPT_REPR_LAST8 ? LPT_REPR_LAST8 : LPT_REPR_U8;
}

/* Reshapes and other readings of the same bytes. */
gboolean
lpt_fast_same_bytes (const LptPlan *plan,
                     const LptStep *step,
                     LptRepr        repr)
{
  guint in = step->n_in > 0 ? step->in[0] : LPT_NO_SLOT, out = step->n_out > 0 ? step->out[0] : LPT_NO_SLOT;
  const LptArray *x, *y;

  if ((step->row->flags & LPT_EXEC_ALIAS) == 0 || in == LPT_NO_SLOT || step->n_out != 1)
    return FALSE;
  x = &lpt_plan_slot (plan, in)->array;
  y = &lpt_plan_slot (plan, out)->array;

  return x->dtype == y->dtype && lpt_shape_is_static (&y->shape) &&
         (step->node->op == LPT_OP_REINTERPRET || lpt_quant_equal (x->quant, y->quant)) &&
         lpt_fast_repr (plan, out, repr) == repr && (repr < LPT_REPR_LAST8 || lpt_shape_equal (&x->shape, &y->shape));
}

/* Nobody reads the outputs of @step from @from on. */
static gboolean
is_unread (const LptPlan *plan,
                 const LptStep *step,
                 guint          from)
{
  for (; from < step->n_out; from++)
    if (lpt_value_n_uses (lpt_plan_slot (plan, step->out[from])->value) > 0)
      return FALSE;

  return TRUE;
}

/* --- makers --- */

static const struct
{
  LptOp       op;
  LptFastMake make;
} makers[] =
{
  { LPT_OP_CONVOLUTION, lpt_fast_make_conv },
  { LPT_OP_GROUP_CONVOLUTION, lpt_fast_make_conv },
  { LPT_OP_MATMUL, lpt_fast_make_matmul },
  { LPT_OP_MATMUL, lpt_fast_make_batch_matmul },
  { LPT_OP_MAX_POOL, lpt_fast_make_max_pool },
  { LPT_OP_AVG_POOL, lpt_fast_make_avg_pool },
  { LPT_OP_REDUCE_MEAN, lpt_fast_make_reduce },
  { LPT_OP_REDUCE_SUM, lpt_fast_make_reduce },
  { LPT_OP_REDUCE_MAX, lpt_fast_make_reduce },
  { LPT_OP_REDUCE_MIN, lpt_fast_make_reduce },
  { LPT_OP_ADD, lpt_fast_make_binary },
  { LPT_OP_SUBTRACT, lpt_fast_make_binary },
  { LPT_OP_MULTIPLY, lpt_fast_make_binary },
  { LPT_OP_QUANTIZE, lpt_fast_make_quantize },
  { LPT_OP_DEQUANTIZE, lpt_fast_make_dequantize },
  { LPT_OP_DEQUANTIZE, lpt_fast_make_dequantize_words },
  { LPT_OP_CONCAT, lpt_fast_make_concat },
  { LPT_OP_INTERPOLATE, lpt_fast_make_resize },
},
real_makers[] =
{
  { LPT_OP_CONVOLUTION, lpt_fast_make_float_conv },
  { LPT_OP_GROUP_CONVOLUTION, lpt_fast_make_float_conv },
  { LPT_OP_MATMUL, lpt_fast_make_float_matmul },
  { LPT_OP_MAX_POOL, lpt_fast_make_float_max_pool },
  { LPT_OP_AVG_POOL, lpt_fast_make_float_avg_pool },
  { LPT_OP_REDUCE_MEAN, lpt_fast_make_float_mean },
  { LPT_OP_CONCAT, lpt_fast_make_float_concat },
  { LPT_OP_INTERPOLATE, lpt_fast_make_float_move },
};

static gboolean
is_product (LptOp op)
{
  return op == LPT_OP_CONVOLUTION || op == LPT_OP_GROUP_CONVOLUTION || op == LPT_OP_MATMUL;
}

static LptFastOp *
make (LptFastBuilder *b,
      guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  guint k;

  if (step->n_out == 1 && b->regions->pdata[step->out[0]] != NULL)
    return lpt_fast_make_table (b, i);
  if (step->integer == NULL && lpt_fast_is_real (b->plan, step->n_in > 0 ? step->in[0] : LPT_NO_SLOT))
    {
      for (k = 0; k < G_N_ELEMENTS (real_makers); k++)
        if (real_makers[k].op == step->node->op)
          return real_makers[k].make (b, i);
      return (step->row->flags & LPT_EXEC_MOVES) != 0 ? lpt_fast_make_float_move (b, i) : NULL;
    }
  if (step->integer == NULL && (step->row->flags & LPT_EXEC_MOVES) != 0)
    return lpt_fast_make_move (b, i);
  if (step->integer == NULL || (step->n_out != 1 && (step->node->op != LPT_OP_MAX_POOL || !is_unread (b->plan, step, 1))))
    return NULL;
  for (k = 0; k < G_N_ELEMENTS (makers); k++)
    if (makers[k].op == step->node->op)
      {
        LptFastOp *op = makers[k].make (b, i);

        if (op != NULL)
          return op;
      }

  return NULL;
}

static void
find_readers (LptFastBuilder *b)
{
  LptPlan *plan = b->plan;
  guint i, k;

  for (i = 0; i < plan->slots->len; i++)
    b->reader[i] = b->moved[i] = LPT_NO_SLOT;
  for (i = 0; i < plan->steps->len; i++)
    b->covered[i] = LPT_NO_SLOT;
  /* LPT_NO_SLOT - 1 = several; then as none. */
  for (i = 0; i < plan->steps->len; i++)
    {
      const LptStep *step = lpt_plan_step (plan, i);

      for (k = 0; k < step->n_in && !step->folded; k++)
        if (step->in[k] != LPT_NO_SLOT)
          {
            b->reader[step->in[k]] = b->reader[step->in[k]] == LPT_NO_SLOT ? i : LPT_NO_SLOT - 1;
            b->uses[step->in[k]]++;
          }
    }
  for (i = 0; i < plan->graph->results->len; i++)
    {
      b->reader[plan->outputs[i]] = LPT_NO_SLOT;
      b->uses[plan->outputs[i]]++;
    }
  for (i = 0; i < plan->slots->len; i++)
    if (b->reader[i] == LPT_NO_SLOT - 1)
      b->reader[i] = LPT_NO_SLOT;
}

/* @ops: step -> fast op that ends there. */
static void
keep_op (LptFastBuilder *b,
         LptFastOp     **ops,
         LptFastOp      *op)
{
  guint k;

  ops[op->last] = op;
  for (; op != NULL; op = op->next)
    {
      for (k = 0; k < op->n_in; k++)
        op->in_repr[k] = lpt_fast_repr (b->plan, op->in[k], op->in_repr[k]);
      op->out_repr = lpt_fast_repr (b->plan, op->out, op->out_repr);
      b->written[op->out] = op->out_repr != LPT_REPR_PART8 ? op->out_repr : LPT_REPR_LAST8;
    }
}

/* Weights that lie in a mapped file are hardly read again once they are packed. */
static void
drop_weights (LptNode *product)
{
  const LptTensor *weights = lpt_node_const_in (product, 1);

  if (weights != NULL)
    lpt_tensor_drop_pages (weights);
}

static void
free_op (LptFastOp *op)
{
  while (op != NULL)
    {
      LptFastOp *next = op->next;

      if (op->clear != NULL)
        op->clear (op);
      g_free (op);
      op = next;
    }
}

/* Products take as much as they can of what follows them, then what stays real becomes programs of rows; the rest has
 * makers. FALSE: there are no ops. */
static gboolean
make_ops (LptFastBuilder *b,
          LptFastOp     **ops)
{
  LptPlan *plan = b->plan;
  gboolean any = FALSE;
  guint pass, i;

  for (pass = 0; pass < 2; pass++)
    {
      for (i = 0; i < plan->steps->len; i++)
        {
          const LptStep *step = lpt_plan_step (plan, i);
          LptFastOp *op, *each;

          if (step->folded || b->covered[i] != LPT_NO_SLOT || (pass == 0 && !is_product (step->node->op)))
            continue;
          op = make (b, i);
          if (op != NULL)
            {
              b->covered[i] = i;
              if (is_product (step->node->op))
                drop_weights (step->node);
              for (each = op; each != NULL; each = each->next)
                each->first = i;
              keep_op (b, ops, op);
              any = TRUE;
            }
          else if (step->n_in > 0 && step->in[0] != LPT_NO_SLOT && lpt_fast_same_bytes (plan, step, b->written[step->in[0]]))
            b->written[step->out[0]] = b->written[step->in[0]];
        }
      for (i = plan->steps->len; i-- > 0 && pass == 0; )
        {
          LptFastOp *op = b->covered[i] == LPT_NO_SLOT ? lpt_fast_make_rows (b, i) : NULL;

          if (op != NULL)
            keep_op (b, ops, op);
          any |= op != NULL;
        }
    }

  return any;
}

LptFast *
lpt_fast_new (LptPlan *plan)
{
  LptFastBuilder b = { .plan = plan };
  guint mark = lpt_memory_mark (), i;
  gboolean any;
  LptCpu cpu = lpt_cpu_detect ();
  const char *level = getenv ("LPT_CPU");
  g_autofree LptFastOp **ops = NULL;
  LptFast *fast = NULL;

  if (level != NULL)
    lpt_cpu_limit (&cpu, level);
  b.kernels = lpt_kernels_for (cpu);
  b.reader = g_new (guint, plan->slots->len + 1);
  b.uses = g_new0 (guint, plan->slots->len + 1);
  b.covered = g_new (guint, plan->steps->len + 1);
  b.written = g_new0 (LptRepr, plan->slots->len + 1);
  b.moved = g_new (guint, plan->slots->len + 1);
  ops = g_new0 (LptFastOp *, plan->steps->len + 1);
  find_readers (&b);
  lpt_fast_regions_init (&b);
  any = make_ops (&b, ops);
  if (!lpt_memory_check (mark, NULL))
    {
      /* What lacks its arrays does not run: the plan says so. */
      for (i = 0; i < plan->steps->len; i++)
        free_op (ops[i]);
    }
  else if (any)
    {
      fast = lpt_fast_program_new (&b, ops);
      fast->covered = g_steal_pointer (&b.covered);
    }
  g_free (b.reader);
  g_free (b.uses);
  g_free (b.covered);
  g_free (b.written);
  g_free (b.moved);
  g_ptr_array_unref (b.regions);

  return fast;
}
