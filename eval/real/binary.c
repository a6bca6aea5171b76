/* binary.c - elementwise ops of two inputs with broadcasting, PRelu and Select
 *
 * f32 operands compute in f32 (powers and remainders in f64, rounded once); plain integers, those of few bits that are
 * held as f32 too, compute in i64, of which the result keeps the bits of its type. Relaxed nodes compute in f32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-words.h"
#include "ir/lpt-slope.h"
#include "ir/scalar/lpt-binary-funcs.h"
#include "ir/scalar/lpt-loop.h"

#define DEFINE(ENUM, real, integer) LPT_BINARY_ROW (real_##ENUM, float, float, real)
LPT_BINARY_ARITHMETIC (DEFINE)
#undef DEFINE
#define DEFINE(ENUM, expression) LPT_BINARY_ROW (real_##ENUM, float, gint64, expression)
LPT_BINARY_COMPARISONS (DEFINE)
#undef DEFINE

static LptBinaryRow
real_row (LptOp op)
{
  switch ((guint) op)
    {
#define CASE(ENUM, ...) case LPT_OP_##ENUM: return real_##ENUM;
    LPT_BINARY_ARITHMETIC (CASE)
    LPT_BINARY_COMPARISONS (CASE)
#undef CASE
    default: g_assert_not_reached ();
    }
}

/* Two operands and the result, with the bytes of their elements. */
typedef struct
{
  const char *x, *y;
  char       *z;
  gint64      in_size, out_size;
} Operands;

static void
run_loop (LptBinaryRow    row,
          const LptShape *shape,
          gint64        (*strides)[LPT_MAX_RANK],
          const Operands *o)
{
  LptLoop loop;

  for (lpt_loop_init (&loop, shape, 3, strides); !loop.done; lpt_loop_next (&loop))
    row (o->x + loop.offset[0] * o->in_size, loop.step[0], o->y + loop.offset[1] * o->in_size, loop.step[1],
         o->z + loop.offset[2] * o->out_size, loop.inner);
}

/* The slope of PRelu: [C] lies along axis 1, other shapes broadcast. */
static LptShape
slope_shape (const LptShape *x,
             const LptShape *slope)
{
  LptShape shape = *slope;
  gint i;

  if (!lpt_slope_is_by_channel (x, slope))
    return shape;
  shape.rank = x->rank;
  for (i = 0; i < x->rank; i++)
    shape.dims[i] = i == 1 ? slope->dims[0] : 1;

  return shape;
}

static gboolean
check_divisors (LptOp         op,
                const gint64 *b,
                gint64        count,
                GError      **error)
{
  gint64 i;

  if ((lpt_op_info (op)->flags & LPT_OP_F_DIVISOR) == 0)
    return TRUE;
  for (i = 0; i < count; i++)
    if (b[i] == 0)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "integer division by zero");
        return FALSE;
      }

  return TRUE;
}

gboolean
lpt_run_binary (LptCall *call,
                GError **error)
{
  LptOp op = call->node->op;
  const LptShape *shape = &call->out[0].shape;
  LptShape b = op == LPT_OP_PRELU ? slope_shape (shape, &call->in[1].shape) : call->in[1].shape;
  gboolean compares = (call->node->info->flags & LPT_OP_F_COMPUTE) == 0;
  LptWordsOp words;
  const gboolean integer = lpt_words_of_binary (call, &words);
  gint64 strides[3][LPT_MAX_RANK];
  gconstpointer x, y;
  gpointer z;

  if ((call->node->info->flags & LPT_OP_F_SHIFTED) != 0 && LPT_ATTRS (call->node, LptBinaryAttrs)->shift.n > 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                   "node \"%s\": a shift belongs to an integer rule, and none has these parameters", call->node->name);
      return FALSE;
    }
  if (!lpt_broadcast_check (&call->in[0].shape, shape, strides[0], error) ||
      !lpt_broadcast_check (&b, shape, strides[1], error))
    return FALSE;
  lpt_shape_strides (shape, strides[2]);

  x = integer ? (gconstpointer) lpt_call_whole (call, 0, error) : lpt_call_f32 (call, 0, error);
  y = x == NULL ? NULL : integer ? (gconstpointer) lpt_call_whole (call, 1, error) : lpt_call_f32 (call, 1, error);
  z = y == NULL ? NULL : integer || compares ? (gpointer) lpt_call_out_i64 (call, 0, error)
                                             : (gpointer) lpt_call_out_f32 (call, 0, error);
  if (z == NULL || (integer && !check_divisors (op, y, lpt_array_count (&call->in[1]), error)))
    return FALSE;

  run_loop (integer ? words.binary : real_row (op), shape, strides,
            &(Operands) { x, y, z, integer ? sizeof (gint64) : sizeof (float),
                          integer || compares ? sizeof (gint64) : sizeof (float) });
  if (integer && words.wraps)
    lpt_call_wrap (call, z, lpt_array_count (&call->out[0]));

  return TRUE;
}

gboolean
lpt_run_select (LptCall *call,
                GError **error)
{
  const LptShape *shape = &call->out[0].shape;
  gboolean integer = call->out[0].dtype == LPT_DTYPE_I64;
  const gint64 *c = lpt_call_i64 (call, 0, error);
  gint64 strides[4][LPT_MAX_RANK], i;
  gconstpointer v[2];
  gpointer z;
  LptLoop loop;
  guint k;

  if (c == NULL)
    return FALSE;
  for (k = 0; k < 2; k++)
    {
      v[k] = integer ? (gconstpointer) lpt_call_i64 (call, k + 1, error) : lpt_call_f32 (call, k + 1, error);
      if (v[k] == NULL)
        return FALSE;
    }
  z = integer ? (gpointer) lpt_call_out_i64 (call, 0, error) : lpt_call_out_f32 (call, 0, error);
  if (z == NULL)
    return FALSE;

  for (k = 0; k < 3; k++)
    if (!lpt_broadcast_check (&call->in[k].shape, shape, strides[k], error))
      return FALSE;
  lpt_shape_strides (shape, strides[3]);
  for (lpt_loop_init (&loop, shape, 4, strides); !loop.done; lpt_loop_next (&loop))
    if (integer)
      lpt_word_select ((const gint64 *[]) { c + loop.offset[0], (const gint64 *) v[0] + loop.offset[1],
                                            (const gint64 *) v[1] + loop.offset[2] },
                       loop.step, loop.inner, (gint64 *) z + loop.offset[3]);
    else
      for (i = 0; i < loop.inner; i++)
        {
          guint which = c[loop.offset[0] + i * loop.step[0]] ? 0 : 1;

          ((float *) z)[loop.offset[3] + i * loop.step[3]] =
              ((const float *) v[which])[loop.offset[1 + which] + i * loop.step[1 + which]];
        }

  return TRUE;
}
