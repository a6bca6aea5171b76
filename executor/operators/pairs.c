/* pairs.c - what two 8-bit codes make, by a table of all pairs of them
 *
 * Comparisons of codes, and sums, products and extremes whose rounding kernels do not have: what the op's integer form
 * makes of the 65,536 pairs is asked once, so it is exact in every requantization mode. The table is 64 KB, which the
 * second cache holds.
 *
 * Not: so few elements that the table would cost more than they do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int-pairs.h"
#include "executor/operators/lpt-operators.h"

#define CODES 256
/* Elements of a piece and of a task, and the fewest that are worth a table. */
#define PIECE 4096
#define TASK 32768
#define LEAST 1024

typedef struct
{
  guint8   table[CODES * CODES];     /* [a][b], codes in u8 form */
  gboolean words;                    /* results are truth, in 64 bits */
  LptIntPairs pairs;
  gint64   per_task;
} Pairs;

#define ROW(name, OUT) \
static void \
name (const guint8 *table, const guint8 *a, gint64 sa, const guint8 *b, gint64 sb, gint64 n, OUT *out) \
{ \
  for (gint64 i = 0; i < n; i++) \
    out[i] = table[(gsize) a[i * sa] * CODES + b[i * sb]]; \
}

ROW (row_of_codes, guint8)
ROW (row_of_words, gint64)

static void
pairs_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Pairs *p = op->form.params;
  const LptLoop *loop = &p->pairs.loop;
  const gint64 last = MIN ((gint64) end * p->per_task, p->pairs.count);
  gint64 piece;

  for (piece = (gint64) task * p->per_task; piece < last; piece++)
    {
      gint64 at[3];
      const gint64 n = lpt_int_pairs_at (&p->pairs, piece, at);

      if (p->words)
        row_of_words (p->table, data->in[0] + at[0], loop->step[0], data->in[1] + at[1], loop->step[1], n,
                      (gint64 *) (gpointer) data->out + at[2]);
      else
        row_of_codes (p->table, data->in[0] + at[0], loop->step[0], data->in[1] + at[1], loop->step[1], n,
                      data->out + at[2]);
    }
}

/* @op on all pairs of codes. */
static void
make_table (const LptProgramOp *op,
            Pairs              *p)
{
  g_autofree guint8 *made = p->words ? NULL : g_malloc (CODES * CODES);
  g_autofree gint64 *words = p->words ? g_new (gint64, CODES * CODES) : NULL;
  LptIntArray in[2] = { op->in[0]->array, op->in[1]->array }, out = op->out[0]->array;
  guint8 codes[2][CODES];
  guint k, q;

  for (k = 0; k < 2; k++)
    {
      in[k].shape = (LptShape) { .rank = 2, .dims = { k == 0 ? CODES : 1, k == 0 ? 1 : CODES } };
      in[k].data = codes[k];
      for (q = 0; q < CODES; q++)
        lpt_int_put (&in[k], q, (gint32) q - lpt_program_offset (in[k].dtype));
    }
  out.shape = (LptShape) { .rank = 2, .dims = { CODES, CODES } };
  out.data = p->words ? (gpointer) words : made;
  lpt_int_op_run (op->integer, (const LptIntArray *const[]) { &in[0], &in[1] }, 2, &out);
  for (q = 0; q < CODES * CODES; q++)
    p->table[q] = (guint8) (p->words ? words[q] : lpt_int_at (&out, q) + lpt_program_offset (out.dtype));
}

static gboolean
is_operand (const LptProgramValue *value)
{
  return value != NULL && lpt_program_is_codes (value) && lpt_program_count (value) > 0;
}

gboolean
lpt_prepare_pairs (LptProgram   *program,
                   LptProgramOp *op)
{
  const LptShape *shape = &op->out[0]->array.shape;
  const gboolean words = op->out[0]->array.declared == LPT_DTYPE_BOOL;
  LptValueLayout layout = LPT_LAYOUT_CODES;
  LptIntPairs pairs;
  Pairs *p;

  if ((op->node->info->flags & LPT_OP_F_ELEMENTWISE) == 0 || op->n_in != 2)
    return FALSE;
  if (!is_operand (op->in[0]) || !is_operand (op->in[1]))
    return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->in[1]));
  if (!words && !is_operand (op->out[0]))
    return lpt_refuse (op, lpt_remark_of_codes (op->out[0], op->out[0]));
  /* A list of slopes of PRelu lies along axis 1. */
  if (!lpt_int_pairs_init (&pairs, PIECE, &op->in[0]->array.shape, &op->in[1]->array.shape, shape) ||
      (op->node->op == LPT_OP_PRELU && op->in[1]->array.shape.rank == 1 && shape->rank > 1))
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (lpt_program_count (op->out[0]) < LEAST)
    return FALSE;

  if (!words && lpt_shape_equal (&op->in[0]->array.shape, shape) && lpt_shape_equal (&op->in[1]->array.shape, shape))
    layout = MAX (lpt_codes_layout (op->in[0]), lpt_codes_layout (op->in[1]));
  p = g_new0 (Pairs, 1);
  p->words = words;
  make_table (op, p);
  p->pairs = pairs;
  p->per_task = MAX (TASK / MIN (pairs.loop.inner, PIECE), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = pairs_run, .params = p, .kernel = "pairs_u8",
    .tasks = (gsize) ((pairs.count + p->per_task - 1) / p->per_task), .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], layout }, { op->in[1], layout }), .out = op->out[0],
    .out_layout = words ? LPT_LAYOUT_TYPED : layout });

  return TRUE;
}
