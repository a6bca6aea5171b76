/* recurrent.c - LSTM, GRU and Elman cells and sequences on packed weights
 *
 * A task is one direction of some of the batch. Of a chunk of its steps the input half is one product; then step after step the
 * state meets the recurrent weights, the input half is added, and gates and states follow (eval/lpt-recurrent.h). Sums are the
 * chains of the plain op, so that any partition gives its bits.
 *
 * Refused: weights or a bias that are not constant, peepholes, processors without fused multiply-adds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float.h"
#include "eval/lpt-recurrent.h"
#include "ir/scalar/lpt-loop.h"

#define PANEL LPT_FGEMM_PANEL
/* Rows of the input half in a chunk, at least one step; sequences of a task where there are several, and where one would do. */
#define CHUNK_ROWS (4 * 14)
#define MAX_GROUP 14
#define HALF_GROUP 8

/* x times a constant matrix, packed by panels. */
typedef struct
{
  gsize        k, n;
  const float *packed;
} Product;

/* Of one direction. */
typedef struct
{
  LptRecurrent net;
  gboolean     reverse;
  Product      input, state, candidate;      /* candidate: the last gate of a GRU, which meets another state */
  const float *bias;
} Direction;

typedef struct
{
  Direction    direction[2];
  const LptFgemmKernel *kernel;
  const LptFloatKernel *floats;
  gsize        batch, steps, inputs, hidden, columns;
  gsize        groups, group, chunk;         /* sequences of a task; steps of a chunk */
  guint        directions, states, lengths;  /* operand, 0: none */
  gboolean     cell;
  float       *bias;                         /* owned; all directions */
  gsize        at_sums, at_state, at_cell, at_other;      /* in the workspace, after the rows' pointers */
} Recurrent;

/* What a task works on. */
typedef struct
{
  const Recurrent *p;
  const Direction *d;
  const LptOpData *data;
  gsize            direction, first, n;      /* sequences [first, first + n) */
  gsize            length[MAX_GROUP];
  const float    **rows;
  float           *sums, *h, *c, *other;
} Task;

static void
multiply (const Task    *t,
          const Product *product,
          gsize          m,
          const float   *bias,
          const float   *residual,
          float         *y)
{
  LptFgemmTile tile = { .m = m, .n = product->n, .channels = product->k, .taps = 1, .a = t->rows, .a_rows = m, .a_step = 1,
                        .b = product->packed, .end = { .bias = bias, .residual = residual, .ldr = t->p->columns }, .y = y,
                        .ldy = t->p->columns };

  t->p->kernel->run (&tile);
}

/* The time of step @s of sequence @i. */
static gsize
time_of (const Task *t,
         gsize       i,
         gsize       s)
{
  if (s >= t->length[i])
    return 0;

  return t->d->reverse ? t->length[i] - 1 - s : s;
}

static void
input_half (const Task *t,
            gsize       step,
            gsize       n)
{
  const float *x = (const float *) (gconstpointer) t->data->in[0];
  gsize s, i;

  for (s = 0; s < n; s++)
    for (i = 0; i < t->n; i++)
      t->rows[s * t->n + i] = x + ((t->first + i) * t->p->steps + time_of (t, i, step + s)) * t->p->inputs;
  multiply (t, &t->d->input, n * t->n, t->d->bias, NULL, t->sums);
}

/* The last gate of a GRU, for all sequences. @sums: of the step. */
static void
candidate_half (const Task *t,
                float      *sums)
{
  const Recurrent *p = t->p;
  const LptRecurrent *net = &t->d->net;
  gsize size = p->hidden, i;

  if (net->linear_before_reset)
    {
      LptFgemmTile tile = { .m = t->n, .n = size, .channels = size, .taps = 1, .a = t->rows, .a_rows = t->n, .a_step = 1,
                            .b = t->d->candidate.packed, .end = { .bias = t->d->bias != NULL ? t->d->bias + 3 * size : NULL },
                            .y = t->other, .ldy = size };

      p->kernel->run (&tile);
    }
  for (i = 0; i < t->n; i++)
    lpt_recurrent_reset (net, p->floats, sums + i * p->columns, t->h + i * size, t->other + i * size);
  if (net->linear_before_reset)
    return;
  for (i = 0; i < t->n; i++)
    t->rows[i] = t->other + i * size;
  multiply (t, &t->d->candidate, t->n, NULL, sums + 2 * size, sums + 2 * size);
}

static void
step (const Task *t,
      gsize       s,
      float      *sums)
{
  const Recurrent *p = t->p;
  float *y = (float *) (gpointer) t->data->out;
  gsize size = p->hidden, i;

  for (i = 0; i < t->n; i++)
    t->rows[i] = t->h + i * size;
  multiply (t, &t->d->state, t->n, NULL, sums, sums);
  if (t->d->net.kind == LPT_RECURRENT_GRU)
    candidate_half (t, sums);
  for (i = 0; i < t->n; i++)
    {
      gsize line = (t->first + i) * p->directions + t->direction;
      float *h = t->h + i * size;

      if (s >= t->length[i])
        continue;
      lpt_recurrent_next (&t->d->net, p->floats, sums + i * p->columns, h, t->c + i * size);
      if (!p->cell)
        memcpy (y + (line * p->steps + time_of (t, i, s)) * size, h, size * sizeof *h);
    }
}

/* States of the task's sequences from their inputs, or to the outputs. */
static void
move_states (const Task *t,
             gboolean    out)
{
  const Recurrent *p = t->p;
  gsize size = p->hidden, i;
  guint k;

  for (k = 0; k < p->states; k++)
    for (i = 0; i < t->n; i++)
      {
        gsize at = ((t->first + i) * p->directions + t->direction) * size;
        float *own = (k == 0 ? t->h : t->c) + i * size;
        guint8 *to = !p->cell ? t->data->more[k] : k == 0 ? t->data->out : t->data->more[k - 1];

        if (out)
          memcpy ((float *) (gpointer) to + at, own, size * sizeof *own);
        else
          memcpy (own, (const float *) (gconstpointer) t->data->in[1 + k] + at, size * sizeof *own);
      }
}

static void
run_task (const Recurrent *p,
          const LptOpData *data,
          gsize            task)
{
  const gint64 *lengths = p->lengths > 0 ? (const gint64 *) (gconstpointer) data->in[p->lengths] : NULL;
  guint8 *w = data->workspace;
  Task t = { .p = p, .data = data, .direction = task / p->groups, .first = task % p->groups * p->group,
             .rows = (const float **) (gpointer) w, .sums = (float *) (gpointer) (w + p->at_sums),
             .h = (float *) (gpointer) (w + p->at_state), .c = (float *) (gpointer) (w + p->at_cell),
             .other = (float *) (gpointer) (w + p->at_other) };
  gsize longest = 0, s, at, i;

  t.d = &p->direction[t.direction];
  t.n = MIN (p->group, p->batch - t.first);
  for (i = 0; i < t.n; i++)
    {
      t.length[i] = lengths != NULL ? (gsize) CLAMP (lengths[t.first + i], 0, (gint64) p->steps) : p->steps;
      longest = MAX (longest, t.length[i]);
      if (!p->cell)
        memset ((float *) (gpointer) data->out + (((t.first + i) * p->directions + t.direction) * p->steps + t.length[i]) * p->hidden,
                0, (p->steps - t.length[i]) * p->hidden * sizeof (float));
    }
  move_states (&t, FALSE);
  for (s = 0; s < longest; s += p->chunk)
    {
      gsize n = MIN (p->chunk, longest - s);

      input_half (&t, s, n);
      for (at = 0; at < n; at++)
        step (&t, s + at, t.sums + at * t.n * p->columns);
    }
  move_states (&t, TRUE);
}

static void
recurrent_run (const LptProgramOp *op,
               const LptOpData    *data,
               gsize               task,
               gsize               end)
{
  for (; task < end; task++)
    run_task (op->form.params, data, task);
}

static void
recurrent_clear (gpointer params)
{
  lpt_aligned_free (((Recurrent *) params)->bias);
}

/* --- preparing --- */

static gsize
panels_of (gsize n)
{
  return (n + PANEL - 1) / PANEL;
}

/* Rows [@from, @from + @n) of @weights, which have @k elements, as columns behind @to. Returns the end. */
static float *
pack_rows (const float *weights,
           gsize        from,
           gsize        n,
           gsize        k,
           float       *to,
           gboolean     fresh)
{
  gsize at;

  for (at = 0; at < n && fresh; at += PANEL)
    lpt_fgemm_pack (k, n, at, weights + from * k, 1, (ptrdiff_t) k, to + at * k);

  return to + panels_of (n) * PANEL * k;
}

static gboolean
pack_weights (LptProgram         *program,
              const LptProgramOp *op,
              Recurrent          *p)
{
  guint w = lpt_recurrent_weights (&p->direction[0].net), d;
  const float *input = op->in[w]->array.data, *state = op->in[w + 1]->array.data;
  gsize size = p->hidden, first = p->direction[0].net.kind == LPT_RECURRENT_GRU ? 2 * size : p->columns;
  gsize inputs = panels_of (p->columns) * PANEL * p->inputs, states = (panels_of (first) + panels_of (p->columns - first)) * PANEL * size;
  LptPackedWeights packed = lpt_program_pack (program, op, "fgemm recurrent", NULL, 0, p->directions * (inputs + states) * sizeof (float), 0);
  float *to = packed.data;

  for (d = 0; d < p->directions && to != NULL; d++, input += p->columns * p->inputs, state += p->columns * size)
    {
      Direction *own = &p->direction[d];

      own->input = (Product) { p->inputs, p->columns, to };
      to = pack_rows (input, 0, p->columns, p->inputs, to, packed.fresh);
      own->state = (Product) { size, first, to };
      to = pack_rows (state, 0, first, size, to, packed.fresh);
      own->candidate = (Product) { size, p->columns - first, to };
      to = pack_rows (state, first, p->columns - first, size, to, packed.fresh);
    }

  return to != NULL;
}

/* The workspace; returns its size. */
static gsize
lay_out (Recurrent *p)
{
  gsize rows = p->chunk * p->group, state = (p->group * p->hidden * sizeof (float) + 63) & ~(gsize) 63;

  p->at_sums = (rows * sizeof (float *) + 63) & ~(gsize) 63;
  p->at_state = p->at_sums + ((rows * p->columns * sizeof (float) + 63) & ~(gsize) 63);
  p->at_cell = p->at_state + state;
  p->at_other = p->at_cell + state;

  return p->at_other + state;
}

static gboolean
is_shape (const LptProgramValue *value,
          gsize                  count)
{
  return value != NULL && lpt_program_is_real (value) && lpt_program_count (value) == count;
}

/* Operands are as the inference of shapes leaves them. */
static gboolean
read_shapes (const LptProgramOp *op,
             Recurrent          *p)
{
  const LptRecurrent *net = &p->direction[0].net;
  const LptShape *x = &op->in[0]->array.shape;
  guint w = lpt_recurrent_weights (net), k;
  const LptProgramValue *lengths = net->cell ? NULL : op->in[lpt_recurrent_lengths (net)];
  const LptProgramValue *bias = op->n_in > w + 2 ? op->in[w + 2] : NULL;

  p->batch = (gsize) x->dims[0];
  p->steps = net->cell ? 1 : (gsize) x->dims[1];
  p->inputs = (gsize) net->inputs;
  p->hidden = (gsize) net->hidden;
  p->columns = (gsize) (net->gates * net->hidden);
  p->directions = net->directions;
  p->states = net->states;
  p->cell = net->cell;
  for (k = 1; k <= net->states; k++)
    if (!is_shape (op->in[k], p->batch * p->directions * p->hidden))
      return FALSE;
  if (!is_shape (op->in[w], p->directions * p->columns * p->inputs) || op->in[w]->kind != LPT_STORAGE_CONST ||
      !is_shape (op->in[w + 1], p->directions * p->columns * p->hidden) || op->in[w + 1]->kind != LPT_STORAGE_CONST ||
      (bias != NULL && (!is_shape (bias, p->directions * (gsize) net->bias_gates * p->hidden) || bias->kind != LPT_STORAGE_CONST)))
    return FALSE;
  for (k = 0; k < op->n_out; k++)
    if (!lpt_program_is_real (op->out[k]))
      return FALSE;

  return net->cell || (lengths != NULL && lengths->array.dtype == LPT_DTYPE_I64 && lpt_shape_is_static (&lengths->array.shape) &&
                       lpt_program_count (lengths) == p->batch);
}

static gboolean
read_bias (const LptProgramOp *op,
           Recurrent          *p)
{
  const LptRecurrent *net = &p->direction[0].net;
  guint w = lpt_recurrent_weights (net), d;
  gsize n = (gsize) net->bias_gates * p->hidden;

  if (op->n_in <= w + 2 || op->in[w + 2] == NULL)
    return TRUE;
  p->bias = lpt_program_array (p->directions * n, sizeof (float));
  if (p->bias == NULL)
    return FALSE;
  memcpy (p->bias, op->in[w + 2]->array.data, p->directions * n * sizeof (float));
  for (d = 0; d < p->directions; d++)
    p->direction[d].bias = p->bias + d * n;

  return TRUE;
}

gboolean
lpt_prepare_recurrent (LptProgram   *program,
                       LptProgramOp *op)
{
  const LptShape *x = &op->in[0]->array.shape;
  g_autofree Recurrent *p = g_new0 (Recurrent, 1);
  LptOperand in[4];
  LptOpForm form;
  guint d, k;

  if (program->kernels.fgemm->needs == LPT_CPU_SCALAR || (op->node->op == LPT_OP_LSTM_CELL && op->n_in > 6 && op->in[6] != NULL))
    return FALSE;
  p->directions = 1;
  for (d = 0; d < p->directions; d++)
    {
      if (!lpt_recurrent_init (&p->direction[d].net, op->node, x->dims[x->rank - 1], d, NULL))
        return FALSE;
      p->directions = p->direction[d].net.directions;
      p->direction[d].reverse = !p->direction[d].net.cell && lpt_recurrent_reverse (op->node, d);
    }
  if (!read_shapes (op, p) || !pack_weights (program, op, p) || !read_bias (op, p))
    return FALSE;
  p->kernel = program->kernels.fgemm;
  p->floats = program->kernels.floats;
  p->groups = (p->batch + MAX_GROUP - 1) / MAX_GROUP;
  if (p->groups == 1 && p->directions == 1 && p->batch >= HALF_GROUP)
    p->groups = 2;
  p->group = (p->batch + p->groups - 1) / p->groups;
  p->groups = (p->batch + p->group - 1) / p->group;
  p->chunk = MIN (MAX (CHUNK_ROWS / p->group, 1), p->steps);
  form = (LptOpForm) { .run = recurrent_run, .clear = recurrent_clear, .kernel = p->kernel->name, .tasks = p->directions * p->groups,
                       .workspace = lay_out (p), .in = in, .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED, .n_more = op->n_out - 1 };
  for (k = 0; k <= p->states; k++)
    in[form.n_in++] = (LptOperand) { op->in[k], LPT_LAYOUT_TYPED };
  if (!p->cell)
    {
      p->lengths = form.n_in;
      in[form.n_in++] = (LptOperand) { op->in[lpt_recurrent_lengths (&p->direction[0].net)], LPT_LAYOUT_TYPED };
    }
  for (k = 1; k < op->n_out; k++)
    form.more[k - 1] = op->out[k];
  form.params = g_steal_pointer (&p);
  lpt_program_set_form (op, &form);

  return TRUE;
}
