/* tflite-map-signal.c - tflite-micro's audio front end: windows, filter banks, noise, gain and logarithms of integers
 *
 *   SignalWindow          x w >> shift, saturated to 16 bits
 *   SignalFftAutoScale    shifted up until the greatest has 15 bits; by how much
 *   SignalEnergy          re^2 + im^2 of the bins from start_index to end_index
 *   SignalFilterBank      each channel: the weighted bins of its own, and what the one before it left over
 *   ...SquareRoot         the root, rounded, shifted down
 *   ...SpectralSubtraction  less the noise, a running mean of the signal, kept from run to run; at least a part of it
 *   SignalPCAN            times a gain, a table over the noise's octaves with a parabola in each; then x^2 / 4 below 2,
 *                         else x - 1
 *   SignalFilterBankLog   ln by log2 (1 + f) = f + a table of 128 chords, in 65536ths
 *
 * All are computed in 64 bits. Numbers of 32 bits stay below 2^32 as the front end keeps them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-signal.h"

#include "frontends/tflite/tflite-flex.h"

#include <math.h>

#define OP2(kind, a, b) lpt_tfl_emit (op, LPT_OP_##kind, 2, (a), (b))
#define NUMBER(n) lpt_tfl_i64_scalar (op, (n))
#define RIGHT(a, n) OP2 (BITWISE_RIGHT_SHIFT, a, n)
#define LEFT(a, n) OP2 (BITWISE_LEFT_SHIFT, a, n)

gint64
lpt_tfl_signal_option (LptTflOp *op, const char *key, gint64 min, gint64 max)
{
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  double value = bytes.n > 0 ? lpt_tfl_flex_number (op->flat->data + bytes.at, bytes.n, key, NAN) : NAN;
  if (value >= (double) min && value <= (double) max)
    return (gint64) value;
  lpt_tfl_invalid (op, "%s is %g", key, value);
  return min;
}

/* Input @i in 64 bits; of the type and rank that the operator wants (0: any rank). */
static LptValue *
wide_in (LptTflOp *op, guint i, LptDType dtype, gint rank)
{
  LptValue *x = lpt_tfl_codes (op, lpt_tfl_in (op, i));
  if (x->dtype != dtype || (rank > 0 && lpt_tfl_rank (op, x) != rank))
    lpt_tfl_invalid (op, "input %u is %s of rank %d, not %s%s", i, lpt_dtype_name (x->dtype), x->shape.rank,
                     lpt_dtype_name (dtype), rank > 0 ? " of rank 1" : "");
  return lpt_tfl_convert (op, x, LPT_DTYPE_I64);
}

static void
set_out (LptTflOp *op, guint o, LptValue *y)
{
  lpt_tfl_set (op, o, lpt_tfl_convert (op, y, lpt_tfl_out_dtype (op, o)));
}

static LptValue *
clamped (LptTflOp *op, LptValue *x, gint64 min, gint64 max)
{
  return OP2 (MINIMUM, OP2 (MAXIMUM, x, NUMBER (min)), NUMBER (max));
}

LptValue *
lpt_tfl_signal_bits (LptTflOp *op, LptValue *x)
{
  gint64 powers[33];
  for (guint i = 0; i < G_N_ELEMENTS (powers); i++)
    powers[i] = (gint64) 1 << i;
  LptValue *reached = OP2 (GREATER_EQUAL, lpt_tfl_unsqueeze (op, x, x->shape.rank),
                           lpt_tfl_i64 (op, G_N_ELEMENTS (powers), powers));
  return lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, lpt_tfl_convert (op, reached, LPT_DTYPE_I64),
                         lpt_tfl_i64_one (op, -1), FALSE);
}

static LptValue *
look_up (LptTflOp *op, LptValue *table, LptValue *at)
{
  return lpt_tfl_emit (op, LPT_OP_GATHER, 3, table, at, NUMBER (0));
}

LptValue *
lpt_tfl_signal_shifted (LptTflOp *op, LptValue *x, LptValue *n)
{
  LptValue *left = LEFT (x, OP2 (MAXIMUM, n, NUMBER (0)));
  return RIGHT (left, OP2 (MAXIMUM, lpt_tfl_emit (op, LPT_OP_NEGATIVE, 1, n), NUMBER (0)));
}

/* --- samples and bins ------------------------------------------------------------------ */

void
lpt_tfl_map_signal_window (LptTflOp *op)
{
  LptValue *x = wide_in (op, 0, LPT_DTYPE_I16, 0), *w = wide_in (op, 1, LPT_DTYPE_I16, 1);
  gint64 shift = lpt_tfl_signal_option (op, "shift", 0, 31);
  set_out (op, 0, clamped (op, RIGHT (OP2 (MULTIPLY, x, w), NUMBER (shift)), G_MININT16, G_MAXINT16));
}

void
lpt_tfl_map_signal_fft_auto_scale (LptTflOp *op)
{
  LptValue *x = wide_in (op, 0, LPT_DTYPE_I16, 1);
  LptValue *size = OP2 (MAXIMUM, x, lpt_tfl_emit (op, LPT_OP_NEGATIVE, 1, x));
  size = lpt_tfl_reduce (op, LPT_OP_REDUCE_MAX, size, lpt_tfl_i64_one (op, 0), FALSE);
  LptValue *shift = OP2 (MAXIMUM, OP2 (SUBTRACT, NUMBER (15), lpt_tfl_signal_bits (op, size)), NUMBER (0));
  set_out (op, 0, LEFT (x, shift));
  set_out (op, 1, shift);
}

/* Bins outside of the interval are not written there, and 0 here. */
void
lpt_tfl_map_signal_energy (LptTflOp *op)
{
  LptValue *x = wide_in (op, 0, LPT_DTYPE_I16, 1), *parts[3];
  gint64 first = lpt_tfl_signal_option (op, "start_index", 0, G_MAXINT16);
  gint64 last = lpt_tfl_signal_option (op, "end_index", 0, G_MAXINT16);
  gint64 bins = x->shape.rank == 1 && x->shape.dims[0] >= 0 ? x->shape.dims[0] / 2 : 0;
  if (first > last || last > bins || x->shape.dims[0] % 2 != 0)
    lpt_tfl_invalid (op, "bins %d to %d of %d", (int) first, (int) last, (int) bins);
  if (op->error != NULL)
    return;
  LptValue *squares = lpt_tfl_reshape (op, OP2 (MULTIPLY, x, x), 2, (gint64[]) { bins, 2 });
  LptValue *y = lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, squares, lpt_tfl_i64_one (op, 1), FALSE);
  parts[0] = lpt_tfl_broadcast (op, NUMBER (0), lpt_tfl_i64_one (op, first));
  parts[1] = lpt_tfl_slice (op, y, 0, first, last);
  parts[2] = lpt_tfl_broadcast (op, NUMBER (0), lpt_tfl_i64_one (op, bins - last));
  set_out (op, 0, lpt_tfl_concat (op, 0, 3, parts));
}

/* --- filter bank ------------------------------------------------------------------------- */

static gint64
at (const LptInts *list, gint64 i)
{
  return i >= 0 && i < list->n ? list->v[i] : 0;
}

static LptTensor *
new_matrix (LptTflOp *op, gint64 rows, gint64 columns)
{
  LptShape shape = lpt_shape_make (2, (gint64[]) { rows, columns });
  return op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I64, &shape, &op->error) : NULL;
}

void
lpt_tfl_bank_clear (LptTflBank *bank)
{
  LptInts *lists[] = { &bank->weights, &bank->rest, &bank->starts, &bank->places, &bank->widths };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    lpt_ints_clear (lists[i]);
}

/* Channel c reads the bins of entry c + 1 with their weights, and those of entry c with what these left. */
LptValue *
lpt_tfl_signal_channels (LptTflOp *op, LptValue *x, const LptTflBank *bank, gint64 n)
{
  gint64 longest = 1;
  for (gint64 i = 0; i < bank->widths.n; i++)
    longest = MAX (longest, bank->widths.v[i]);
  LptTensor *bins = new_matrix (op, n, 2 * longest), *weights = new_matrix (op, n, 2 * longest);
  for (gint64 i = 0; bins != NULL && weights != NULL && i < n * 2 * longest; i++)
    {
      gint64 j = i % longest, entry = i / (2 * longest) + (i % (2 * longest) < longest);
      gboolean own = i % (2 * longest) < longest, used = j < at (&bank->widths, entry);
      gint64 bin = at (&bank->starts, entry) + j, place = at (&bank->places, entry) + j;
      ((gint64 *) lpt_tensor_writable (bins))[i] = used ? bin : 0;
      ((gint64 *) lpt_tensor_writable (weights))[i] = used ? at (own ? &bank->weights : &bank->rest, place) : 0;
    }
  LptValue *read = lpt_tfl_emit (op, LPT_OP_GATHER, 3, x, lpt_tfl_tensor_value (op, bins, NULL), NUMBER (-1));
  return lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, OP2 (MULTIPLY, read, lpt_tfl_tensor_value (op, weights, NULL)),
                         lpt_tfl_i64_one (op, -1), FALSE);
}

void
lpt_tfl_map_signal_filter_bank (LptTflOp *op)
{
  LptValue *x = wide_in (op, 0, LPT_DTYPE_U32, 1);
  LptTflBank bank = { 0 };
  LptInts *lists[] = { &bank.weights, &bank.rest, &bank.starts, &bank.places, &bank.widths };
  gint64 n = lpt_tfl_signal_option (op, "num_channels", 1, 4096);
  for (guint i = 0; i < 5; i++)
    if (!lpt_tfl_ints_in (op, i + 1, lists[i]))
      lpt_tfl_invalid (op, "input %u is missing", i + 1);
  for (gint64 i = 0; i <= n && op->error == NULL; i++)
    {
      gint64 width = at (&bank.widths, i), place = at (&bank.places, i), start = at (&bank.starts, i);
      if (i >= bank.widths.n || i >= bank.places.n || i >= bank.starts.n || width < 0 || place < 0 || start < 0
          || place + width > MIN (bank.weights.n, bank.rest.n)
          || (x->shape.dims[0] != LPT_DYNAMIC && start + width > x->shape.dims[0]))
        lpt_tfl_invalid (op, "channel %d reads what is not there", (int) i);
    }
  if (op->error == NULL)
    set_out (op, 0, lpt_tfl_signal_channels (op, x, &bank, n));
  lpt_tfl_bank_clear (&bank);
}

/* The root of single precision is at most a few off: one step of Newton's in integers, and it is at most one. */
LptValue *
lpt_tfl_signal_root (LptTflOp *op, LptValue *x)
{
  LptValue *root = lpt_tfl_emit (op, LPT_OP_SQRT, 1, lpt_tfl_convert (op, x, LPT_DTYPE_F32));
  root = OP2 (MAXIMUM, lpt_tfl_convert (op, root, LPT_DTYPE_I64), NUMBER (1));
  root = RIGHT (OP2 (ADD, root, OP2 (DIVIDE, x, root)), NUMBER (1));
  for (guint i = 0; i < 2; i++)
    {
      LptValue *over = OP2 (GREATER, OP2 (MULTIPLY, root, root), x);
      root = OP2 (SUBTRACT, root, lpt_tfl_convert (op, over, LPT_DTYPE_I64));
      LptValue *next = OP2 (ADD, root, NUMBER (1));
      LptValue *under = OP2 (LESS_EQUAL, OP2 (MULTIPLY, next, next), x);
      root = OP2 (ADD, root, lpt_tfl_convert (op, under, LPT_DTYPE_I64));
    }
  /* Rounded, but numbers of 32 bits have a root of 16. */
  LptValue *more = OP2 (GREATER, OP2 (SUBTRACT, x, OP2 (MULTIPLY, root, root)), root);
  LptValue *most = OP2 (LOGICAL_AND, OP2 (EQUAL, root, NUMBER (0xffff)), OP2 (LESS, x, NUMBER ((gint64) 1 << 32)));
  more = OP2 (LOGICAL_AND, more, lpt_tfl_emit (op, LPT_OP_LOGICAL_NOT, 1, most));
  return OP2 (ADD, root, lpt_tfl_convert (op, more, LPT_DTYPE_I64));
}

void
lpt_tfl_map_signal_square_root (LptTflOp *op)
{
  LptValue *x = wide_in (op, 0, LPT_DTYPE_U64, 1);
  LptValue *shift = lpt_tfl_reshape (op, wide_in (op, 1, LPT_DTYPE_I32, 0), 0, NULL);
  set_out (op, 0, RIGHT (lpt_tfl_signal_root (op, x), shift));
}

/* --- noise ------------------------------------------------------------------------------- */

LptValue *
lpt_tfl_signal_in_turn (LptTflOp *op, gint64 n, gint64 even, gint64 odd)
{
  LptShape shape = lpt_shape_make (1, (gint64[]) { n });
  LptTensor *list = op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I64, &shape, &op->error) : NULL;
  for (gint64 i = 0; list != NULL && i < n; i++)
    ((gint64 *) lpt_tensor_writable (list))[i] = i % 2 == 0 ? even : odd;
  return lpt_tfl_tensor_value (op, list, NULL);
}

void
lpt_tfl_map_signal_spectral_subtraction (LptTflOp *op)
{
  LptValue *x = wide_in (op, 0, LPT_DTYPE_U32, 1);
  LptTflTensor *kept = lpt_tfl_out_tensor (op, 1);
  gint64 n = lpt_tfl_signal_option (op, "num_channels", 1, 4096);
  gint64 up = lpt_tfl_signal_option (op, "smoothing_bits", 0, 31);
  gint64 down = lpt_tfl_signal_option (op, "spectral_subtraction_bits", 0, 31);
  gint64 keep = lpt_tfl_signal_option (op, "min_signal_remaining", 0, G_MAXINT32);
  gint64 even[] = { lpt_tfl_signal_option (op, "smoothing", 0, G_MAXINT32),
                    lpt_tfl_signal_option (op, "one_minus_smoothing", 0, G_MAXINT32) };
  gint64 odd[] = { lpt_tfl_signal_option (op, "alternate_smoothing", 0, G_MAXINT32),
                   lpt_tfl_signal_option (op, "alternate_one_minus_smoothing", 0, G_MAXINT32) };
  gboolean clamps = lpt_tfl_signal_option (op, "clamping", 0, 1) != 0;
  if (kept == NULL || kept->dtype != LPT_DTYPE_U32 || kept->shape.rank != 1 || kept->shape.dims[0] != n
      || x->shape.dims[0] != n)
    lpt_tfl_invalid (op, "signal and noise of other lengths than %d", (int) n);
  if (op->error != NULL)
    return;
  g_autofree char *name = g_strconcat (op->name, "/noise", NULL);
  LptValue *noise = lpt_tfl_convert (op, lpt_tfl_variable_read (op, name, kept), LPT_DTYPE_I64);
  LptValue *signal = LEFT (x, NUMBER (up));
  LptValue *fresh = OP2 (MULTIPLY, signal, lpt_tfl_signal_in_turn (op, n, even[0], odd[0]));
  noise = OP2 (ADD, fresh, OP2 (MULTIPLY, noise, lpt_tfl_signal_in_turn (op, n, even[1], odd[1])));
  noise = RIGHT (noise, NUMBER (down));
  LptValue *estimate = OP2 (MINIMUM, noise, signal);
  noise = lpt_tfl_convert (op, clamps ? estimate : noise, LPT_DTYPE_U32);
  LptValue *least = RIGHT (OP2 (MULTIPLY, x, NUMBER (keep)), NUMBER (down));
  LptValue *rest = RIGHT (OP2 (SUBTRACT, signal, estimate), NUMBER (up));
  set_out (op, 0, OP2 (MAXIMUM, rest, least));
  lpt_tfl_variable_write (op, name, noise);
  lpt_tfl_set (op, 1, lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, noise));
}

/* --- gain -------------------------------------------------------------------------------- */

static LptValue *
wrapped (LptTflOp *op, LptValue *x, LptDType dtype)
{
  return lpt_tfl_convert (op, lpt_tfl_convert (op, x, dtype), LPT_DTYPE_I64);
}

/* The first numbers up to 2, then three for each number of bits, at 4 bits - 6, and one that is not used. A table that
 * bends too much makes gains wrap around: below 0 they are great ones of 32 bits. */
static LptValue *
gain_of (LptTflOp *op, LptValue *noise, LptValue *table)
{
  LptValue *bits = lpt_tfl_signal_bits (op, noise);
  LptValue *base = OP2 (MAXIMUM, OP2 (SUBTRACT, LEFT (bits, NUMBER (2)), NUMBER (6)), NUMBER (0));
  LptValue *part = lpt_tfl_signal_shifted (op, noise, OP2 (SUBTRACT, NUMBER (11), bits));
  part = OP2 (BITWISE_AND, part, NUMBER (0x3ff));
  LptValue *slope = look_up (op, table, OP2 (ADD, base, NUMBER (1)));
  LptValue *curve = look_up (op, table, OP2 (ADD, base, NUMBER (2)));
  LptValue *y = OP2 (ADD, RIGHT (OP2 (MULTIPLY, curve, part), NUMBER (5)), LEFT (slope, NUMBER (5)));
  y = wrapped (op, OP2 (ADD, OP2 (MULTIPLY, y, part), NUMBER (1 << 14)), LPT_DTYPE_I32);
  y = wrapped (op, OP2 (ADD, RIGHT (y, NUMBER (15)), look_up (op, table, base)), LPT_DTYPE_I16);
  LptValue *first = look_up (op, table, OP2 (MINIMUM, noise, NUMBER (2)));
  y = lpt_tfl_emit (op, LPT_OP_SELECT, 3, OP2 (LESS_EQUAL, noise, NUMBER (2)), first, y);
  return OP2 (BITWISE_AND, y, NUMBER (G_MAXUINT32));
}

/* The signal to the noise has 12 bits behind the point, the result 6. */
LptValue *
lpt_tfl_signal_pcan (LptTflOp *op, LptValue *x, LptValue *noise, LptValue *table, gint64 shift)
{
  LptValue *ratio = RIGHT (OP2 (MULTIPLY, x, gain_of (op, noise, table)), NUMBER (shift));
  ratio = OP2 (BITWISE_AND, ratio, NUMBER (G_MAXUINT32));
  LptValue *low = RIGHT (OP2 (MULTIPLY, ratio, ratio), NUMBER (20));
  LptValue *high = OP2 (SUBTRACT, RIGHT (ratio, NUMBER (6)), NUMBER (64));
  return lpt_tfl_emit (op, LPT_OP_SELECT, 3, OP2 (LESS, ratio, NUMBER (8192)), low, high);
}

void
lpt_tfl_map_signal_pcan (LptTflOp *op)
{
  LptValue *x = wide_in (op, 0, LPT_DTYPE_U32, 1), *noise = wide_in (op, 1, LPT_DTYPE_U32, 1);
  LptValue *table = wide_in (op, 2, LPT_DTYPE_I16, 1);
  gint64 shift = lpt_tfl_signal_option (op, "snr_shift", 0, 63);
  if (table->shape.dims[0] != LPT_DYNAMIC && table->shape.dims[0] < 125)
    lpt_tfl_invalid (op, "a table of %d gains, not 125", (int) table->shape.dims[0]);
  if (op->error == NULL)
    set_out (op, 0, lpt_tfl_signal_pcan (op, x, noise, table, shift));
}

/* --- logarithm ------------------------------------------------------------------------------- */

/* log2 (1 + i / 128) - i / 128 in 65536ths; the last one twice. */
static LptValue *
chords (LptTflOp *op)
{
  gint64 table[130] = { 0 };
  for (gint i = 0; i < 128; i++)
    table[i] = (gint64) floor (65536 * (log2 (1 + i / 128.0) - i / 128.0) + 0.5);
  return lpt_tfl_i64 (op, G_N_ELEMENTS (table), table);
}

LptValue *
lpt_tfl_signal_log (LptTflOp *op, LptValue *x, gint64 scale)
{
  LptValue *table = chords (op), *some = OP2 (MAXIMUM, x, NUMBER (1));
  LptValue *whole = OP2 (SUBTRACT, lpt_tfl_signal_bits (op, some), NUMBER (1));
  LptValue *part = OP2 (SUBTRACT, some, LEFT (NUMBER (1), whole));
  part = lpt_tfl_signal_shifted (op, part, OP2 (SUBTRACT, NUMBER (16), whole));
  LptValue *segment = RIGHT (part, NUMBER (9)), *from = look_up (op, table, segment);
  LptValue *rise = OP2 (SUBTRACT, look_up (op, table, OP2 (ADD, segment, NUMBER (1))), from);
  LptValue *along = OP2 (SUBTRACT, part, LEFT (segment, NUMBER (9)));
  LptValue *y = OP2 (ADD, OP2 (ADD, part, from), RIGHT (OP2 (MULTIPLY, rise, along), NUMBER (16)));
  y = OP2 (ADD, LEFT (whole, NUMBER (16)), y);
  /* ln 2 in 65536ths, then the scale, whose product has 32 bits. */
  y = RIGHT (OP2 (ADD, OP2 (MULTIPLY, y, NUMBER (45426)), NUMBER (32768)), NUMBER (16));
  y = OP2 (BITWISE_AND, OP2 (ADD, OP2 (MULTIPLY, y, NUMBER (scale)), NUMBER (32768)), NUMBER (G_MAXUINT32));
  return lpt_tfl_emit (op, LPT_OP_SELECT, 3, OP2 (GREATER, x, NUMBER (1)), RIGHT (y, NUMBER (16)), NUMBER (0));
}

void
lpt_tfl_map_signal_log (LptTflOp *op)
{
  LptValue *x = wide_in (op, 0, LPT_DTYPE_U32, 1);
  gint64 scale = lpt_tfl_signal_option (op, "output_scale", 0, G_MAXINT32);
  gint64 up = lpt_tfl_signal_option (op, "input_correction_bits", 0, 31);
  x = OP2 (BITWISE_AND, LEFT (x, NUMBER (up)), NUMBER (G_MAXUINT32));
  set_out (op, 0, OP2 (MINIMUM, lpt_tfl_signal_log (op, x, scale), NUMBER (G_MAXINT16)));
}
