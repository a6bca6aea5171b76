/* tflite-map-signal-frames.c - tflite-micro's audio front end: what it keeps of the samples and frames before
 *
 *   SignalDelay       what came delay_length samples before, zeros at first
 *   SignalFramer      frames of frame_size samples, frame_step apart, which go on from run to run. With prefill
 *                     zeros stand before the first sample, so that each step ends a frame; else there is none until
 *                     frame_size samples came
 *   SignalStacker     the frame of stacker_right_context runs ago between those around it, for each stacker_step'th
 *                     run. Before the first frame are copies of it
 *   SignalOverlapAdd  frames, frame_step apart, summed up where they lie upon each other, one after the other: a sum of
 *                     16 bits saturates each time
 *
 * State is a ReadValue of its own for each, along the last axis. Framer and Stacker say whether they had enough; where
 * they had not, what goes out is not written there, and as far as it is known here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-recurrent.h"
#include "frontends/tflite/read/tflite-signal.h"

#define OP2(kind, a, b) lpt_tfl_emit (op, LPT_OP_##kind, 2, (a), (b))
#define NUMBER(n) lpt_tfl_scalar (op, LPT_DTYPE_I32, (n))
#define MAX_KEPT (1 << 20)

/* Input 0, of known shape and the rank @min at least. */
static LptValue *
known_in (LptTflOp *op, gint min)
{
  LptValue *x = lpt_tfl_codes (op, lpt_tfl_in (op, 0));
  gint64 count;
  if (lpt_tfl_rank (op, x) < min || !lpt_shape_count (&x->shape, &count) || count < 1)
    lpt_tfl_unsupported (op, "samples of rank %d or of unknown number", x->shape.rank);
  else if (x->dtype != LPT_DTYPE_I16 && (x->dtype != LPT_DTYPE_F32 || min < 2))
    lpt_tfl_unsupported (op, "samples of %s", lpt_dtype_name (x->dtype));
  return x;
}

static char *
kept_name (LptTflOp *op, const char *what)
{
  return g_strconcat (op->name, "/", what, NULL);
}

static LptValue *
kept (LptTflOp *op, const char *what, LptDType dtype, const LptShape *shape)
{
  const LptTflTensor like = { .dtype = dtype, .shape = *shape };
  g_autofree char *name = kept_name (op, what);
  return lpt_tfl_variable_read (op, name, &like);
}

static void
keep (LptTflOp *op, const char *what, LptValue *value)
{
  g_autofree char *name = kept_name (op, what);
  lpt_tfl_variable_write (op, name, value);
}

/* @x behind the last @n numbers along its last axis that came before; these are kept. */
static LptValue *
behind (LptTflOp *op, LptValue *x, gint64 n)
{
  LptShape shape = x->shape;
  gint last = shape.rank - 1;
  gint64 have = shape.dims[last];
  if (n == 0)
    return x;
  shape.dims[last] = n;
  LptValue *both[] = { kept (op, "samples", x->dtype, &shape), x };
  LptValue *joined = lpt_tfl_concat (op, last, 2, both);
  keep (op, "samples", lpt_tfl_slice (op, joined, last, have, have + n));
  return joined;
}

void
lpt_tfl_map_signal_delay (LptTflOp *op)
{
  LptValue *x = known_in (op, 1);
  gint64 n = lpt_tfl_signal_option (op, "delay_length", 0, MAX_KEPT);
  if (op->error != NULL)
    return;
  gint last = x->shape.rank - 1;
  gint64 have = x->shape.dims[last];
  lpt_tfl_set (op, 0, lpt_tfl_slice (op, behind (op, x, n), last, 0, have));
}

static LptValue *
frame_places (LptTflOp *op, gint64 frames, gint64 size, gint64 step)
{
  LptShape shape = lpt_shape_make (2, (gint64[]) { frames, size });
  LptTensor *places = op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I64, &shape, &op->error) : NULL;
  for (gint64 i = 0; places != NULL && i < frames * size; i++)
    ((gint64 *) lpt_tensor_writable (places))[i] = i / size * step + i % size;
  return lpt_tfl_tensor_value (op, places, NULL);
}

void
lpt_tfl_map_signal_framer (LptTflOp *op)
{
  LptValue *x = known_in (op, 1), *valid = lpt_tfl_scalar (op, LPT_DTYPE_BOOL, 1);
  gint64 size = lpt_tfl_signal_option (op, "frame_size", 1, MAX_KEPT);
  gint64 step = lpt_tfl_signal_option (op, "frame_step", 1, size);
  gint64 samples = x->shape.rank > 0 ? x->shape.dims[x->shape.rank - 1] : 0, frames = samples / step;
  if (op->error == NULL && samples % step != 0)
    lpt_tfl_invalid (op, "%d samples in steps of %d", (int) samples, (int) step);
  if (op->error == NULL && frames > MAX_KEPT / size)
    lpt_tfl_unsupported (op, "%d frames of %d samples", (int) frames, (int) size);
  gboolean prefill = lpt_tfl_signal_option (op, "prefill", 0, 1) != 0;
  if (op->error != NULL)
    return;
  gint64 steps = (size - 1) / step;      /* before the one that ends the first frame */
  x = behind (op, x, prefill ? size - step : steps * step);
  if (!prefill && steps > 0)
    {
      LptValue *seen = kept (op, "steps", LPT_DTYPE_I32, &LPT_SHAPE_SCALAR);
      valid = OP2 (GREATER_EQUAL, seen, NUMBER ((double) steps));
      keep (op, "steps", OP2 (MINIMUM, OP2 (ADD, seen, NUMBER ((double) frames)), NUMBER ((double) steps)));
    }
  x = lpt_tfl_emit (op, LPT_OP_GATHER, 3, x, frame_places (op, frames, size, step), lpt_tfl_i64_scalar (op, -1));
  lpt_tfl_set (op, 0, x);
  lpt_tfl_set (op, 1, valid);
}

/* What is kept is one more than the number of frames that wait; 0: there was none yet. */
void
lpt_tfl_map_signal_stacker (LptTflOp *op)
{
  LptValue *x = known_in (op, 1), *row[2];
  gint64 n = lpt_tfl_signal_option (op, "num_channels", 1, 4096);
  gint64 before = lpt_tfl_signal_option (op, "stacker_left_context", 0, 1024);
  gint64 all = before + 1 + lpt_tfl_signal_option (op, "stacker_right_context", 0, 1024);
  gint64 step = lpt_tfl_signal_option (op, "stacker_step", 1, all);
  if (op->error == NULL && (x->shape.rank != 1 || x->shape.dims[0] != n))
    lpt_tfl_invalid (op, "a frame that has not %d channels", (int) n);
  if (op->error != NULL)
    return;
  const LptShape shape = lpt_shape_make (1, (gint64[]) { all * n });
  LptValue *frames = kept (op, "frames", x->dtype, &shape);
  LptValue *count = kept (op, "count", LPT_DTYPE_I32, &LPT_SHAPE_SCALAR);
  LptValue *first = OP2 (EQUAL, count, NUMBER (0));
  row[0] = lpt_tfl_slice (op, frames, 0, n, all * n);
  row[1] = x;
  LptValue *same = lpt_tfl_emit (op, LPT_OP_TILE, 2, x, lpt_tfl_i64_one (op, all));
  frames = all > 1 ? lpt_tfl_concat (op, 0, 2, row) : x;
  frames = lpt_tfl_emit (op, LPT_OP_SELECT, 3, first, same, frames);
  count = lpt_tfl_emit (op, LPT_OP_SELECT, 3, first, NUMBER ((double) before + 1), count);
  LptValue *valid = OP2 (GREATER_EQUAL, count, NUMBER ((double) all));
  LptValue *less = OP2 (SUBTRACT, count, NUMBER ((double) step));
  count = OP2 (ADD, lpt_tfl_emit (op, LPT_OP_SELECT, 3, valid, less, count), NUMBER (1));
  keep (op, "frames", frames);
  keep (op, "count", count);
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, frames));
  lpt_tfl_set (op, 1, valid);
}

typedef struct { LptTflCell cell; gint64 step, size; } Overlap;

/* x, sums [rows, size] -> [rows, step] */
static LptValue *
overlap_step (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *aux, LptValue **states)
{
  const Overlap *o = (const Overlap *) cell;
  LptDType dtype = x->dtype;
  LptValue *sum, *parts[2];
  (void) aux;
  if (dtype == LPT_DTYPE_I16)
    {
      sum = OP2 (ADD, lpt_tfl_convert (op, x, LPT_DTYPE_I32), lpt_tfl_convert (op, states[0], LPT_DTYPE_I32));
      sum = lpt_tfl_convert (op, OP2 (MINIMUM, OP2 (MAXIMUM, sum, NUMBER (G_MININT16)), NUMBER (G_MAXINT16)), dtype);
    }
  else
    sum = OP2 (ADD, states[0], x);
  LptValue *shape = lpt_tfl_i64 (op, 2, (gint64[]) { x->shape.dims[0], o->step });
  parts[0] = lpt_tfl_slice (op, sum, 1, o->step, o->size);
  parts[1] = lpt_tfl_broadcast (op, lpt_tfl_like (op, x, 0), shape);
  states[0] = o->step < o->size ? lpt_tfl_concat (op, 1, 2, parts) : parts[1];
  return lpt_tfl_slice (op, sum, 1, 0, o->step);
}

/* [..., frames, size] -> [..., frames step] */
void
lpt_tfl_map_signal_overlap_add (LptTflOp *op)
{
  LptValue *x = known_in (op, 2), *sums;
  const LptShape shape = x->shape;
  gint rank = shape.rank;
  gint64 size = rank >= 2 ? shape.dims[rank - 1] : 1, frames = rank >= 2 ? shape.dims[rank - 2] : 1, count = 1;
  Overlap o = { .cell = { .step = overlap_step, .n_states = 1 }, .size = size };
  o.step = lpt_tfl_signal_option (op, "frame_step", 1, size);
  if (op->error != NULL || !lpt_shape_count (&shape, &count))
    return;
  gint64 rows = count / (frames * size), dims[LPT_MAX_RANK];
  const LptShape kept_shape = lpt_shape_make (2, (gint64[]) { rows, size });
  sums = kept (op, "sums", x->dtype, &kept_shape);
  x = lpt_tfl_reshape (op, x, 3, (gint64[]) { rows, frames, size });
  x = lpt_tfl_cell_sequence (op, &o.cell, x, NULL, 1, FALSE, &sums);
  keep (op, "sums", sums);
  for (gint i = 0; i < rank - 2; i++)
    dims[i] = shape.dims[i];
  dims[rank - 2] = frames * o.step;
  lpt_tfl_set (op, 0, lpt_tfl_reshape (op, x, (guint) rank - 1, dims));
}
