/* lpt-fast.c - from steps to a program of fast ops: representations, conversions, lifetimes
 *
 * Steps are taken in order. A maker may put several of them into one op, which then stands where the last of them stood;
 * what the others computed exists nowhere. A value is made in the representation that its maker writes; the first
 * reader of another one has it converted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <string.h>

#include "executor/lpt-fast.h"

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

  if (data == NULL)
    g_error ("no memory for %" G_GSIZE_FORMAT " parameters", n);
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
  g_autoptr (GString) name = g_string_new (kernel);
  gsize sums = ((channels + LPT_CHANNEL_PAD) * sizeof (gint32) + 63) & ~(gsize) 63, k;
  LptFastWeights w;

  for (k = 0; k < key_size; k++)
    g_string_append_printf (name, "%s%02x", k == 0 ? " " : "", ((const guint8 *) key)[k]);
  g_string_append_printf (name, " %s", lpt_plan_step (b->plan, i)->node->name);
  /* Vectors may read past the end. */
  w.col_sum = lpt_pack_take (b->plan->pack, name->str, sums + size + LPT_CHANNEL_PAD, &w.fresh);
  w.data = (guint8 *) w.col_sum + sums;

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

/* Pixels of one image of the slot; 1 below rank 3. */
static gsize
pixels (const LptShape *shape)
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
  gboolean same_order = array->shape.rank < 3 || pixels (&array->shape) == 1 || array->shape.dims[1] == 1;

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

/* --- conversion --- */

typedef struct
{
  LptFastOp op;
  const LptTransposeKernel *kernel;
  gsize    images, rows, cols;       /* rows x cols becomes cols x rows; rows = 0: as it is */
  gsize    element;
  gboolean flip;
} Convert;

static void
convert_image (void    *data,
               size_t   image,
               unsigned thread)
{
  gpointer *job = data;
  const Convert *c = job[0];
  gsize size = (c->rows != 0 ? c->rows : 1) * c->cols;
  const guint8 *in = (const guint8 *) job[1] + image * size * c->element;
  guint8 *out = (guint8 *) job[2] + image * size * c->element;

  if (c->rows == 0)
    {
      lpt_flip_signs (size, in, out);
      return;
    }
  if (c->element == 4)
    c->kernel->words (c->rows, c->cols, (const guint32 *) (gconstpointer) in, c->cols, (guint32 *) (gpointer) out, c->rows);
  else
    c->kernel->bytes (c->rows, c->cols, in, c->cols, out, c->rows);
  if (c->flip)
    lpt_flip_signs (size, out, out);
}

static void
convert_run (const LptFastOp     *op,
             const guint8 *const *in,
             guint8              *out,
             LptPool             *pool,
             guint8              *workspace)
{
  gpointer job[3] = { (gpointer) op, (gpointer) in[0], out };

  lpt_parallel_for (pool, ((const Convert *) op)->images, convert_image, job);
}

static LptFastOp *
convert_new (LptFastBuilder *b,
             guint           slot,
             LptRepr         from,
             LptRepr         to)
{
  const LptArray *array = &lpt_plan_slot (b->plan, slot)->array;
  gboolean was_last = from == LPT_REPR_LAST8 || from == LPT_REPR_LASTF;
  gboolean is_last = to == LPT_REPR_LAST8 || to == LPT_REPR_LASTF;
  Convert *c = g_new0 (Convert, 1);

  c->op = (LptFastOp) { .run = convert_run, .kernel = was_last == is_last ? "flip" : "transpose", .n_in = 1,
                        .in = { slot }, .in_repr = { from }, .out = slot, .out_repr = to, .first = LPT_NO_SLOT };
  c->kernel = b->kernels.transpose;
  c->element = lpt_storage_size (array->dtype);
  c->flip = array->dtype == LPT_DTYPE_I8 && (from == LPT_REPR_PLAIN) != (to == LPT_REPR_PLAIN);
  c->images = 1;
  c->cols = lpt_fast_count (b->plan, slot);
  if (was_last != is_last)
    {
      gsize channels = (gsize) array->shape.dims[1], n = pixels (&array->shape);

      c->images = (gsize) array->shape.dims[0];
      c->rows = is_last ? channels : n;
      c->cols = is_last ? n : channels;
    }

  return &c->op;
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
},
real_makers[] =
{
  { LPT_OP_CONVOLUTION, lpt_fast_make_float_conv },
  { LPT_OP_GROUP_CONVOLUTION, lpt_fast_make_float_conv },
  { LPT_OP_MATMUL, lpt_fast_make_float_matmul },
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
  for (k = 0; k < G_N_ELEMENTS (real_makers) && step->integer == NULL; k++)
    if (real_makers[k].op == step->node->op)
      return real_makers[k].make (b, i);
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

/* --- the program --- */

typedef struct
{
  LptFastBuilder b;
  LptFast       *fast;
  guint         *buffer;     /* slot * LPT_N_REPRS + repr -> buffer */
  LptFastOp    **ops;        /* step -> fast op that ends there */
  gboolean       any;
} Program;

static guint *
buffer_of (Program *p,
           guint    slot,
           LptRepr  repr)
{
  return &p->buffer[slot * LPT_N_REPRS + repr];
}

static guint
add_buffer (Program *p,
            guint    slot,
            LptRepr  repr)
{
  const LptArray *array = &lpt_plan_slot (p->b.plan, slot)->array;
  LptFastBuffer buffer = { .slot = slot, .repr = repr, .outside = repr == LPT_REPR_PLAIN, .first = p->fast->entries->len };

  buffer.last = buffer.first;
  if (!buffer.outside)
    buffer.size = (lpt_fast_count (p->b.plan, slot) * lpt_storage_size (array->dtype) + 63) & ~(gsize) 63;
  g_array_append_val (p->fast->buffers, buffer);

  return p->fast->buffers->len - 1;
}

static void
add_entry (Program   *p,
           guint      step,
           LptFastOp *op)
{
  LptFastEntry entry = { .step = op != NULL && op->first != LPT_NO_SLOT ? op->first : step, .op = op };
  guint now = p->fast->entries->len, k;

  for (k = 0; op != NULL && k < op->n_in; k++)
    {
      LptFastBuffer *buffer;

      entry.in[k] = *buffer_of (p, op->in[k], op->in_repr[k]);
      buffer = &g_array_index (p->fast->buffers, LptFastBuffer, entry.in[k]);
      buffer->last = now;
      if (buffer->outside)
        {
          LptSlot *slot = lpt_plan_slot (p->b.plan, buffer->slot);

          slot->last = MAX (slot->last, step + 1);
        }
    }
  if (op != NULL)
    {
      entry.out = add_buffer (p, op->out, op->out_repr);
      *buffer_of (p, op->out, op->out_repr) = entry.out;
      p->fast->workspace = MAX (p->fast->workspace, op->workspace);
    }
  g_array_append_val (p->fast->entries, entry);
}

/* Sees to it that @slot exists in @repr before @step reads it. */
static void
provide (Program *p,
         guint    slot,
         LptRepr  repr,
         guint    step)
{
  LptRepr from;

  if (*buffer_of (p, slot, repr) != LPT_NO_SLOT)
    return;
  for (from = LPT_REPR_PLAIN; from < LPT_N_REPRS; from++)
    if (*buffer_of (p, slot, from) != LPT_NO_SLOT)
      break;
  if (from == LPT_N_REPRS)
    {
      /* Inputs, constants, and what steps write: the context's array. */
      *buffer_of (p, slot, LPT_REPR_PLAIN) = add_buffer (p, slot, LPT_REPR_PLAIN);
      from = LPT_REPR_PLAIN;
    }
  if (from != repr)
    add_entry (p, step, convert_new (&p->b, slot, from, repr));
}

/* Reshapes and other readings of the same bytes: the output in @repr is the input in @repr. */
static gboolean
same_bytes (const LptPlan *plan,
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

/* The output takes the buffers of the input that have its bytes. */
static gboolean
share_buffers (Program       *p,
               const LptStep *step)
{
  gboolean any = FALSE;
  LptRepr repr;

  for (repr = LPT_REPR_U8; repr <= LPT_REPR_LASTF; repr++)
    if (same_bytes (p->b.plan, step, repr) && *buffer_of (p, step->in[0], repr) != LPT_NO_SLOT)
      {
        guint in = step->in[0], out = step->out[0];

        *buffer_of (p, out, repr) = *buffer_of (p, in, repr);
        any = TRUE;
      }

  return any;
}

static void
find_readers (LptFastBuilder *b)
{
  LptPlan *plan = b->plan;
  guint i, k;

  for (i = 0; i < plan->slots->len; i++)
    b->reader[i] = LPT_NO_SLOT;
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

static void
write_program (Program *p)
{
  LptPlan *plan = p->b.plan;
  guint i, k;

  for (i = 0; i < plan->steps->len; i++)
    {
      const LptStep *step = lpt_plan_step (plan, i);
      LptFastOp *op = p->ops[i];

      p->fast->entry_of[i] = p->fast->entries->len;
      if (step->folded)
        continue;
      if (op != NULL)
        {
          if (op->takes_planes && *buffer_of (p, op->in[0], LPT_REPR_LAST8) == LPT_NO_SLOT)
            op->in_repr[0] = LPT_REPR_U8;
          for (k = 0; k < op->n_in; k++)
            {
              op->in_repr[k] = lpt_fast_repr (plan, op->in[k], op->in_repr[k]);
              provide (p, op->in[k], op->in_repr[k], i);
            }
          op->out_repr = lpt_fast_repr (plan, op->out, op->out_repr);
          add_entry (p, i, op);
          continue;
        }
      if (p->b.covered[i] != LPT_NO_SLOT || share_buffers (p, step))
        continue;
      for (k = 0; k < step->n_in; k++)
        if (step->in[k] != LPT_NO_SLOT && lpt_plan_slot (plan, step->in[k])->kind == LPT_SLOT_DYNAMIC)
          provide (p, step->in[k], LPT_REPR_PLAIN, i);
      for (k = 0; k < step->n_out; k++)
        *buffer_of (p, step->out[k], LPT_REPR_PLAIN) = add_buffer (p, step->out[k], LPT_REPR_PLAIN);
      add_entry (p, i, NULL);
    }
  for (i = 0; i < plan->graph->results->len; i++)
    if (lpt_plan_slot (plan, plan->outputs[i])->kind == LPT_SLOT_DYNAMIC)
      provide (p, plan->outputs[i], LPT_REPR_PLAIN, plan->steps->len - 1);
  p->fast->entry_of[plan->steps->len] = p->fast->entries->len;
}

/* Values that no step has as an array need none of the plan's memory. */
static void
drop_slots (Program *p)
{
  LptPlan *plan = p->b.plan;
  guint i;

  for (i = 0; i < plan->slots->len; i++)
    {
      LptSlot *slot = lpt_plan_slot (plan, i);

      if (slot->kind == LPT_SLOT_DYNAMIC && *buffer_of (p, i, LPT_REPR_PLAIN) == LPT_NO_SLOT &&
          lpt_shape_is_static (&slot->array.shape))
        slot->kind = LPT_SLOT_NONE;
    }
}

static void
keep_op (Program   *p,
         LptFastOp *op)
{
  p->b.written[op->out] = lpt_fast_repr (p->b.plan, op->out, op->out_repr);
  p->ops[op->last] = op;
  p->any = TRUE;
}

/* Products take as much as they can of what follows them, then what stays real becomes programs of rows; the rest has makers. */
static void
make_ops (Program *p)
{
  LptPlan *plan = p->b.plan;
  guint pass, i;

  for (pass = 0; pass < 2; pass++)
    {
      for (i = 0; i < plan->steps->len; i++)
        {
          const LptStep *step = lpt_plan_step (plan, i);
          LptFastOp *op;

          if (step->folded || p->b.covered[i] != LPT_NO_SLOT || (pass == 0 && !is_product (step->node->op)))
            continue;
          op = make (&p->b, i);
          if (op != NULL)
            {
              p->b.covered[i] = op->first = i;
              keep_op (p, op);
            }
          else if (step->n_in > 0 && step->in[0] != LPT_NO_SLOT && same_bytes (plan, step, p->b.written[step->in[0]]))
            p->b.written[step->out[0]] = p->b.written[step->in[0]];
        }
      for (i = plan->steps->len; i-- > 0 && pass == 0; )
        {
          LptFastOp *op = p->b.covered[i] == LPT_NO_SLOT ? lpt_fast_make_rows (&p->b, i) : NULL;

          if (op != NULL)
            keep_op (p, op);
        }
    }
}

LptFast *
lpt_fast_new (LptPlan *plan)
{
  Program p = { .b = { .plan = plan } };
  LptCpu cpu = lpt_cpu_detect ();
  const char *level = getenv ("LPT_CPU");
  guint i;

  if (!plan->graph->lowered)
    return NULL;
  if (level != NULL)
    lpt_cpu_limit (&cpu, level);
  p.b.kernels = lpt_kernels_for (cpu);
  p.b.reader = g_new (guint, plan->slots->len + 1);
  p.b.uses = g_new0 (guint, plan->slots->len + 1);
  p.b.covered = g_new (guint, plan->steps->len + 1);
  p.b.written = g_new0 (LptRepr, plan->slots->len + 1);
  p.ops = g_new0 (LptFastOp *, plan->steps->len + 1);
  find_readers (&p.b);
  lpt_fast_regions_init (&p.b);
  make_ops (&p);

  if (p.any)
    {
      p.fast = g_new0 (LptFast, 1);
      p.fast->entries = g_array_new (FALSE, TRUE, sizeof (LptFastEntry));
      p.fast->buffers = g_array_new (FALSE, TRUE, sizeof (LptFastBuffer));
      p.fast->entry_of = g_new (guint, plan->steps->len + 1);
      p.buffer = g_new (guint, plan->slots->len * LPT_N_REPRS + 1);
      for (i = 0; i < plan->slots->len * LPT_N_REPRS; i++)
        p.buffer[i] = LPT_NO_SLOT;
      write_program (&p);
      drop_slots (&p);
      p.fast->covered = g_steal_pointer (&p.b.covered);
    }
  g_free (p.b.reader);
  g_free (p.b.uses);
  g_free (p.b.covered);
  g_ptr_array_unref (p.b.regions);
  g_free (p.b.written);
  g_free (p.ops);
  g_free (p.buffer);

  return p.fast;
}

void
lpt_fast_free (LptFast *fast)
{
  guint i;

  if (fast == NULL)
    return;
  for (i = 0; i < fast->entries->len; i++)
    {
      LptFastOp *op = g_array_index (fast->entries, LptFastEntry, i).op;

      if (op == NULL)
        continue;
      if (op->clear != NULL)
        op->clear (op);
      g_free (op);
    }
  g_array_unref (fast->entries);
  g_array_unref (fast->buffers);
  g_free (fast->entry_of);
  g_free (fast->covered);
  g_free (fast);
}
