/* recurrent.c - LSTM, GRU and Elman cells and sequences on packed weights
 *
 * A task is one direction of some of the batch. Of a chunk of its steps the input half is one product; then step after
 * step the state meets the recurrent weights, the input half is added, and gates and states follow
 * (eval/lpt-recurrent.h). Float sums are the chains of the plain op, those of coded weights integers, so that any
 * partition gives its bits.
 *
 * Refused: weights or a bias that are not constant, peepholes, float weights on processors without fused multiply-adds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/recurrent.h"
#include "eval/lpt-recurrent.h"
#include "ir/lpt-quant-plain.h"
#include "ir/scalar/lpt-loop.h"

/* Rows of the input half in a chunk, at least one step, and where they become codes; sequences of a task where there
 * are several, and where one would do. */
#define CHUNK_ROWS (4 * 14)
#define CODED_ROWS 28
#define MAX_GROUP 14
#define HALF_GROUP 8

/* Of one direction. */
typedef struct
{
  LptRecurrent net;
  gboolean     reverse;
  LptRecurrentProduct input, state, candidate;      /* candidate: the last gate of a GRU, which meets another state */
  const float *bias;
} Direction;

typedef struct
{
  Direction    direction[2];
  const LptFloatKernel *floats;
  gsize        batch, steps, inputs, hidden, columns;
  gsize        groups, group, chunk;         /* sequences of a task; steps of a chunk */
  guint        directions, states, lengths;  /* operand, 0: none */
  gboolean     cell, coded;
  float       *bias;                         /* owned; all directions */
  gsize        at_sums, at_state, at_cell, at_other, at_room;      /* in the workspace, after the rows' pointers */
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
  guint8          *room;                     /* of the products */
} Task;

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
  lpt_recurrent_product_run (&t->d->input,
                             &(LptRecurrentBlock) { n * t->n, t->rows, t->d->bias, NULL, t->sums, t->p->columns },
                             t->room);
}

/* The last gate of a GRU, for all sequences. @sums: of the step. */
static void
candidate_half (const Task *t,
                gsize       s,
                float      *sums)
{
  const Recurrent *p = t->p;
  const LptRecurrent *net = &t->d->net;
  gsize size = p->hidden, i;

  if (net->linear_before_reset)
    lpt_recurrent_product_run (&t->d->candidate,
                               &(LptRecurrentBlock) { t->n, t->rows, t->d->bias != NULL ? t->d->bias + 3 * size : NULL,
                                                      NULL, t->other, size, s % 2 == 1 },
                               t->room);
  for (i = 0; i < t->n; i++)
    lpt_recurrent_reset (net, p->floats, sums + i * p->columns, t->h + i * size, t->other + i * size);
  if (net->linear_before_reset)
    return;
  for (i = 0; i < t->n; i++)
    t->rows[i] = t->other + i * size;
  lpt_recurrent_product_run (&t->d->candidate,
                             &(LptRecurrentBlock) { t->n, t->rows, NULL, sums + 2 * size, sums + 2 * size, p->columns,
                                                    s % 2 == 1 },
                             t->room);
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
  lpt_recurrent_product_run (&t->d->state,
                             &(LptRecurrentBlock) { t->n, t->rows, NULL, sums, sums, p->columns, s % 2 == 1 }, t->room);
  if (t->d->net.kind == LPT_RECURRENT_GRU)
    candidate_half (t, s, sums);
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
             .other = (float *) (gpointer) (w + p->at_other), .room = w + p->at_room };
  gsize longest = 0, s, at, i;

  t.d = &p->direction[t.direction];
  t.n = MIN (p->group, p->batch - t.first);
  for (i = 0; i < t.n; i++)
    {
      t.length[i] = lengths != NULL ? (gsize) CLAMP (lengths[t.first + i], 0, (gint64) p->steps) : p->steps;
      longest = MAX (longest, t.length[i]);
      if (!p->cell)
        memset ((float *) (gpointer) data->out +
                    (((t.first + i) * p->directions + t.direction) * p->steps + t.length[i]) * p->hidden,
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
  Recurrent *p = params;
  guint d;

  lpt_aligned_free (p->bias);
  for (d = 0; d < p->directions; d++)
    {
      lpt_recurrent_product_clear (&p->direction[d].input);
      lpt_recurrent_product_clear (&p->direction[d].state);
      lpt_recurrent_product_clear (&p->direction[d].candidate);
    }
}

/* --- what is taken --- */

static gboolean
is_shape (const LptProgramValue *value,
          gsize                  count)
{
  return value != NULL && lpt_program_is_real (value) && lpt_program_count (value) == count;
}

/* Constant, real, or signed codes without zero points whose scale is one, or one for each row or direction. */
static gboolean
is_weights (const LptProgramValue *value,
            gsize                  count)
{
  const LptArray *array = value != NULL ? &value->array : NULL;
  const LptQuant *quant = array != NULL ? array->quant : NULL;

  if (array == NULL || value->kind != LPT_STORAGE_CONST || quant == NULL)
    return is_shape (value, count) && value->kind == LPT_STORAGE_CONST;
  if (array->dtype != LPT_DTYPE_I8 || lpt_program_count (value) != count ||
      !lpt_recurrent_scales_fit (quant, &array->shape))
    return FALSE;

  return !lpt_quant_has_zero_points (quant);
}

/* What the op has. */
typedef struct
{
  LptRecurrent net[2];               /* of each direction; all but the functions of the gates are those of the first */
  gsize        batch, steps;
  const LptProgramValue *input, *state, *bias, *lengths;     /* weights of both halves; NULL: no bias, a cell */
  gboolean     coded;
} Network;

/* The network that the node says; FALSE: a function or an input that is not known here. */
static gboolean
read_directions (const LptProgramOp *op,
                 Network            *f)
{
  const LptShape *x = &op->in[0]->array.shape;
  guint d;

  if (op->node->op == LPT_OP_LSTM_CELL && op->n_in > 6 && op->in[6] != NULL)
    return FALSE;
  for (d = 0; d == 0 || d < f->net[0].directions; d++)
    if (!lpt_recurrent_init (&f->net[d], op->node, x->dims[x->rank - 1], d, NULL))
      return FALSE;

  return TRUE;
}

/* Operands are as the inference of shapes leaves them. */
static gboolean
read_operands (const LptProgram   *program,
               const LptProgramOp *op,
               Network            *f)
{
  const LptRecurrent *net = &f->net[0];
  const LptShape *x = &op->in[0]->array.shape;
  const gsize hidden = (gsize) net->hidden, columns = (gsize) (net->gates * net->hidden);
  guint w = lpt_recurrent_weights (net), k;

  f->batch = (gsize) x->dims[0];
  f->steps = net->cell ? 1 : (gsize) x->dims[1];
  f->input = op->in[w];
  f->state = op->in[w + 1];
  f->bias = op->n_in > w + 2 ? op->in[w + 2] : NULL;
  f->lengths = net->cell ? NULL : op->in[lpt_recurrent_lengths (net)];
  for (k = 1; k <= net->states; k++)
    if (!is_shape (op->in[k], f->batch * net->directions * hidden))
      return FALSE;
  if (!is_weights (f->input, net->directions * columns * (gsize) net->inputs) ||
      !is_weights (f->state, net->directions * columns * hidden) ||
      (f->bias != NULL && (!is_shape (f->bias, net->directions * (gsize) net->bias_gates * hidden) ||
                           f->bias->kind != LPT_STORAGE_CONST)))
    return FALSE;
  f->coded = f->input->array.quant != NULL;
  if ((f->state->array.quant != NULL) != f->coded || (!f->coded && program->kernels.fgemm->needs == LPT_CPU_SCALAR))
    return FALSE;
  for (k = 0; k < op->n_out; k++)
    if (!lpt_program_is_real (op->out[k]))
      return FALSE;

  return net->cell || (f->lengths != NULL && f->lengths->array.dtype == LPT_DTYPE_I64 &&
                       lpt_shape_is_static (&f->lengths->array.shape) && lpt_program_count (f->lengths) == f->batch);
}

static gboolean
match (const LptProgram *program,
       LptProgramOp     *op,
       Network          *f)
{
  if (!read_directions (op, f))
    return lpt_refuse (op, LPT_REMARK_ATTRIBUTE);

  return read_operands (program, op, f) ||
         lpt_refuse (op, program->kernels.fgemm->needs == LPT_CPU_SCALAR ? LPT_REMARK_LEVEL : LPT_REMARK_COMPUTED);
}

/* --- parameters from it --- */

static void
set_sizes (Recurrent          *p,
           const LptProgramOp *op,
           const Network      *f)
{
  const LptRecurrent *net = &f->net[0];
  guint d;

  p->batch = f->batch;
  p->steps = f->steps;
  p->inputs = (gsize) net->inputs;
  p->hidden = (gsize) net->hidden;
  p->columns = (gsize) (net->gates * net->hidden);
  p->directions = net->directions;
  p->states = net->states;
  p->cell = net->cell;
  p->coded = f->coded;
  for (d = 0; d < p->directions; d++)
    {
      p->direction[d].net = f->net[d];
      p->direction[d].reverse = !p->cell && lpt_recurrent_reverse (op->node, d);
    }
  p->groups = (p->batch + MAX_GROUP - 1) / MAX_GROUP;
  if (p->groups == 1 && p->directions == 1 && p->batch >= HALF_GROUP)
    p->groups = 2;
  p->group = (p->batch + p->groups - 1) / p->groups;
  p->groups = (p->batch + p->group - 1) / p->group;
  p->chunk = MIN (MAX ((p->coded ? CODED_ROWS : CHUNK_ROWS) / p->group, 1), p->steps);
}

static gboolean
pack_weights (LptProgram         *program,
              const LptProgramOp *op,
              const Network      *f,
              Recurrent          *p)
{
  const LptArray *input = &f->input->array, *state = &f->state->array;
  gsize first = f->net[0].kind == LPT_RECURRENT_GRU ? 2 * p->hidden : p->columns;
  gboolean ok = TRUE;
  guint d;

  for (d = 0; d < p->directions && ok; d++)
    {
      Direction *own = &p->direction[d];
      const LptRecurrentColumns of_input = { input, "input", d, 0, p->columns },
                                of_state = { state, "state", d, 0, first },
                                of_candidate = { state, "candidate", d, first, p->columns - first };

      ok = lpt_recurrent_product_init (&own->input, program, op, &of_input, p->chunk * p->group) &&
           lpt_recurrent_product_init (&own->state, program, op, &of_state, p->group) &&
           (of_candidate.n == 0 || lpt_recurrent_product_init (&own->candidate, program, op, &of_candidate, p->group));
    }

  return ok;
}

/* The workspace; returns its size. */
static gsize
lay_out (Recurrent *p)
{
  const Direction *d = &p->direction[0];
  gsize rows = p->chunk * p->group, room = lpt_recurrent_product_room (&d->input, rows),
        state = (p->group * p->hidden * sizeof (float) + 63) & ~(gsize) 63;

  p->at_sums = (rows * sizeof (float *) + 63) & ~(gsize) 63;
  p->at_state = p->at_sums + ((rows * p->columns * sizeof (float) + 63) & ~(gsize) 63);
  p->at_cell = p->at_state + state;
  p->at_other = p->at_cell + state;
  p->at_room = p->at_other + state;
  room = MAX (room, lpt_recurrent_product_room (&d->state, p->group));
  if (d->candidate.n > 0)
    room = MAX (room, lpt_recurrent_product_room (&d->candidate, p->group));

  return p->at_room + room;
}

static gboolean
copy_bias (const Network *f,
           Recurrent     *p)
{
  gsize n = (gsize) f->net[0].bias_gates * p->hidden;
  guint d;

  if (f->bias == NULL)
    return TRUE;
  p->bias = lpt_program_array (p->directions * n, sizeof (float));
  if (p->bias == NULL)
    return FALSE;
  memcpy (p->bias, f->bias->array.data, p->directions * n * sizeof (float));
  for (d = 0; d < p->directions; d++)
    p->direction[d].bias = p->bias + d * n;

  return TRUE;
}

gboolean
lpt_prepare_recurrent (LptProgram   *program,
                       LptProgramOp *op)
{
  g_autofree Recurrent *p = NULL;
  LptOperand in[4];
  LptOpForm form;
  Network f;
  guint k;

  if (!match (program, op, &f))
    return FALSE;
  p = g_new0 (Recurrent, 1);
  p->floats = program->kernels.floats;
  set_sizes (p, op, &f);
  if (!pack_weights (program, op, &f, p) || !copy_bias (&f, p))
    {
      recurrent_clear (p);
      return lpt_refuse (op, LPT_REMARK_MEMORY);
    }
  form = (LptOpForm) { .run = recurrent_run, .clear = recurrent_clear,
                       .kernel = p->coded ? p->direction[0].state.gemm.kernel->name : program->kernels.fgemm->name,
                       .tasks = p->directions * p->groups, .workspace = lay_out (p), .in = in, .out = op->out[0],
                       .out_layout = LPT_LAYOUT_TYPED, .n_more = op->n_out - 1 };
  for (k = 0; k <= p->states; k++)
    in[form.n_in++] = (LptOperand) { op->in[k], LPT_LAYOUT_TYPED };
  if (!p->cell)
    {
      p->lengths = form.n_in;
      in[form.n_in++] = (LptOperand) { op->in[lpt_recurrent_lengths (&f.net[0])], LPT_LAYOUT_TYPED };
    }
  for (k = 1; k < op->n_out; k++)
    form.more[k - 1] = op->out[k];
  form.params = g_steal_pointer (&p);
  lpt_program_set_form (op, &form);

  return TRUE;
}
