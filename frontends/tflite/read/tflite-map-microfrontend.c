/* tflite-map-microfrontend.c - AudioMicrofrontend: TensorFlow's audio front end of integers as one operator
 *
 * [samples] of 16 bits -> [frames, channels (1 + left + right)]. Of windows of window_size milliseconds, window_step
 * apart:
 *
 *   window       x w >> 12, w = 4096 (1/2 - cos (2 pi (i + 1/2) / n) / 2), rounded
 *   spectrum     of the next power of two, of what is shifted up until the greatest has 15 bits; re^2 + im^2
 *   channels     bins between neighbours of n + 2 centres that are equally far apart on the mel scale, 1127 ln (1 + f /
 *                700), are shared by both, in 4096ths; the root, shifted down again
 *   noise        a mean over the frames before, from 0 at each run: (s x + (1 - s) noise), in 16384ths; subtracted, but
 *                a part of the signal stays
 *   gain         (pcan_offset + noise) ^ -pcan_strength, a table over the octaves; what it does: tflite-map-signal.c
 *   logarithm    times 2^scale_shift; 16 bits; divided by out_scale
 *
 * Then each frame_stride'th frame with those around it; before the first and behind the last are copies of them, or
 * zeros. All but the noise is computed for all frames at once. Tables are computed in single precision, as there.
 *
 * Refused: settings for which the original writes outside of its tables, or stops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-recurrent.h"
#include "frontends/tflite/read/tflite-signal.h"

#include "frontends/tflite/tflite-flex.h"

#include <math.h>
#include <string.h>

#define OP2(kind, a, b) lpt_tfl_emit (op, LPT_OP_##kind, 2, (a), (b))
#define NUMBER(n) lpt_tfl_i64_scalar (op, (n))
#define RIGHT(a, n) OP2 (BITWISE_RIGHT_SHIFT, a, n)
#define LEFT(a, n) OP2 (BITWISE_LEFT_SHIFT, a, n)

#define MAX_WINDOW 32768
#define MAX_ELEMENTS ((gint64) 1 << 22)
#define NOISE_BITS 14

typedef struct
{
  gint64 samples, rate, window, step, frames, length;   /* length: of the transform */
  gint64 channels, left, right, stride;
  gint64 smoothing_bits, correction;                    /* log2 (length) - 6 */
} Setup;

/* An option; what is not there is 0, as in a FlexBuffer. */
static double
option (LptTflOp *op, const char *key, double min, double max)
{
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  double value = bytes.n > 0 ? lpt_tfl_flex_number (op->flat->data + bytes.at, bytes.n, key, 0) : 0;
  if (value >= min && value <= max)
    return value;
  lpt_tfl_invalid (op, "%s is %g", key, value);
  return min;
}

static gint64
whole (LptTflOp *op, const char *key, gint64 min, gint64 max)
{
  return (gint64) option (op, key, (double) min, (double) max);
}

static Setup
read_setup (LptTflOp *op, const LptValue *x)
{
  Setup s = { .rate = whole (op, "sample_rate", 1, 1 << 20), .channels = whole (op, "num_channels", 1, 4096),
              .left = whole (op, "left_context", 0, 4096), .right = whole (op, "right_context", 0, 4096),
              .stride = whole (op, "frame_stride", 1, G_MAXINT32), .length = 1 };
  s.samples = x->shape.dims[0];
  s.smoothing_bits = whole (op, "smoothing_bits", 0, 31);
  s.window = whole (op, "window_size", 1, MAX_WINDOW) * s.rate / 1000;
  s.step = whole (op, "window_step", 1, MAX_WINDOW) * s.rate / 1000;
  while (s.length < s.window && s.length < MAX_WINDOW)
    s.length *= 2;
  for (gint64 n = s.length; n > 1; n /= 2)
    s.correction++;
  s.correction -= 6;
  if (s.window < 2 || s.window > MAX_WINDOW || s.step < 1 || s.step > s.window)
    lpt_tfl_invalid (op, "windows of %" G_GINT64_FORMAT " samples, %" G_GINT64_FORMAT " apart", s.window, s.step);
  else if (s.samples < s.window)
    lpt_tfl_unsupported (op, "%" G_GINT64_FORMAT " samples, fewer than a window has", s.samples);
  else
    s.frames = (s.samples - s.window) / s.step + 1;
  if (s.frames * s.length > MAX_ELEMENTS || (1 + s.left + s.right) * s.channels * s.frames > MAX_ELEMENTS)
    lpt_tfl_unsupported (op, "%" G_GINT64_FORMAT " windows of %" G_GINT64_FORMAT " samples", s.frames, s.window);
  return s;
}

static LptTensor *
new_list (LptTflOp *op, gint rank, const gint64 *dims)
{
  LptShape shape = lpt_shape_make (rank, dims);
  return op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I64, &shape, &op->error) : NULL;
}

/* --- spectrum ---------------------------------------------------------------------------------- */

/* [frames, window] */
static LptValue *
windows (LptTflOp *op, LptValue *x, const Setup *s)
{
  LptTensor *places = new_list (op, 2, (gint64[]) { s->frames, s->window }), *w = new_list (op, 1, &s->window);
  const float turn = (float) G_PI * 2 / (float) s->window;
  for (gint64 i = 0; places != NULL && i < s->frames * s->window; i++)
    ((gint64 *) lpt_tensor_writable (places))[i] = i / s->window * s->step + i % s->window;
  for (gint64 i = 0; w != NULL && i < s->window; i++)
    {
      float height = 0.5f - 0.5f * cosf (turn * ((float) i + 0.5f));
      ((gint64 *) lpt_tensor_writable (w))[i] = (gint64) floorf (height * 4096 + 0.5f);
    }
  x = lpt_tfl_emit (op, LPT_OP_GATHER, 3, x, lpt_tfl_tensor_value (op, places, NULL), NUMBER (0));
  return RIGHT (OP2 (MULTIPLY, x, lpt_tfl_tensor_value (op, w, NULL)), NUMBER (12));
}

/* [frames, 1]: how far a frame can be shifted. Negated in 16 bits, -32768 stays below 0 and is not the greatest. */
static LptValue *
room_of (LptTflOp *op, LptValue *x)
{
  LptValue *negated = lpt_tfl_convert (op, lpt_tfl_emit (op, LPT_OP_NEGATIVE, 1, x), LPT_DTYPE_I16);
  LptValue *size = OP2 (MAXIMUM, x, lpt_tfl_convert (op, negated, LPT_DTYPE_I64));
  size = lpt_tfl_reduce (op, LPT_OP_REDUCE_MAX, size, lpt_tfl_i64_one (op, 1), TRUE);
  return OP2 (SUBTRACT, NUMBER (15), lpt_tfl_signal_bits (op, OP2 (MAXIMUM, size, NUMBER (0))));
}

/* [frames, bins] */
static LptValue *
energies (LptTflOp *op, LptValue *x, const Setup *s)
{
  x = lpt_tfl_signal_rfft (op, lpt_tfl_convert (op, x, LPT_DTYPE_I16), LPT_DTYPE_I16, s->length);
  x = lpt_tfl_convert (op, lpt_tfl_convert (op, x, LPT_DTYPE_I16), LPT_DTYPE_I64);
  x = lpt_tfl_reshape (op, OP2 (MULTIPLY, x, x), 3, (gint64[]) { s->frames, s->length / 2 + 1, 2 });
  return lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, x, lpt_tfl_i64_one (op, 2), FALSE);
}

/* --- channels ------------------------------------------------------------------------------------ */

static float
mel_of (float frequency)
{
  return 1127.0f * log1pf (frequency / 700.0f);
}

/* Bins of entry c: up to centre c, which is @spacing behind the one before it. */
static void
fill_bank (LptTflOp *op, LptTflBank *bank, const Setup *s, float low, float high)
{
  gint64 bins = s->length / 2 + 1, n = s->channels + 1, bin, from = 0;
  const float width = 0.5f * (float) s->rate / (float) (bins - 1), bottom = mel_of (low);
  const float spacing = (mel_of (high) - bottom) / (float) n;
  float before = bottom;
  lpt_ints_fill (&bank->starts, (guint) n, 0);
  lpt_ints_fill (&bank->places, (guint) n, 0);
  lpt_ints_fill (&bank->widths, (guint) n, 0);
  lpt_ints_fill (&bank->weights, (guint) bins, 0);
  lpt_ints_fill (&bank->rest, (guint) bins, 0);
  bin = (gint64) MIN (1.5f + low / width, (float) bins);
  for (gint64 c = 0; c < n; c++)
    {
      const float centre = bottom + spacing * (float) (c + 1);
      bank->starts.v[c] = bin;
      bank->places.v[c] = from;
      for (; bin < bins && mel_of ((float) bin * width) <= centre; bin++, from++)
        {
          float weight = (centre - mel_of ((float) bin * width)) / (centre - before);
          bank->weights.v[from] = (gint64) floorf (weight * 4096 + 0.5f);
          bank->rest.v[from] = (gint64) floorf ((1 - weight) * 4096 + 0.5f);
        }
      bank->widths.v[c] = bin - bank->starts.v[c];
      before = centre;
    }
  if (bin >= bins)
    lpt_tfl_invalid (op, "channels up to %g of %" G_GINT64_FORMAT " Hz", (double) high, s->rate / 2);
}

/* [frames, channels] */
static LptValue *
channels (LptTflOp *op, LptValue *x, const Setup *s)
{
  float low = (float) option (op, "lower_band_limit", 0, 1e6), high = (float) option (op, "upper_band_limit", 0, 1e6);
  LptTflBank bank = { 0 };
  if (!(high > low))
    lpt_tfl_invalid (op, "channels from %g to %g Hz", (double) low, (double) high);
  if (op->error == NULL)
    fill_bank (op, &bank, s, low, high);
  if (op->error == NULL)
    x = lpt_tfl_signal_root (op, lpt_tfl_signal_channels (op, x, &bank, s->channels));
  lpt_tfl_bank_clear (&bank);
  return x;
}

/* --- noise and gain --------------------------------------------------------------------------------- */

/* x, noise [1, channels]; w[0], w[1]: s and 1 - s. */
static LptValue *
noise_step (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *aux, LptValue **states)
{
  LptValue *fresh = OP2 (MULTIPLY, x, lpt_tfl_cell_const (op, cell->w[0]));
  LptValue *noise = OP2 (ADD, fresh, OP2 (MULTIPLY, states[0], lpt_tfl_cell_const (op, cell->w[1])));
  (void) aux;
  return states[0] = RIGHT (noise, NUMBER (NOISE_BITS));
}

static gint64
part_of (LptTflOp *op, const char *key)
{
  return (gint64) ((float) option (op, key, 0, 1) * (1 << NOISE_BITS));
}

/* [frames, channels]: the noise with each frame, of signals @x that are shifted up. */
static LptValue *
noise_of (LptTflOp *op, LptValue *x, const Setup *s)
{
  gint64 even = part_of (op, "even_smoothing"), odd = part_of (op, "odd_smoothing"), one = 1 << NOISE_BITS;
  LptTflCell cell = { .step = noise_step, .n_states = 1 };
  LptValue *none = lpt_tfl_broadcast (op, NUMBER (0), lpt_tfl_i64 (op, 2, (gint64[]) { 1, s->channels }));
  cell.w[0] = lpt_tfl_signal_in_turn (op, s->channels, even, odd);
  cell.w[1] = lpt_tfl_signal_in_turn (op, s->channels, one - even, one - odd);
  x = lpt_tfl_reshape (op, x, 3, (gint64[]) { 1, s->frames, s->channels });
  x = lpt_tfl_cell_sequence (op, &cell, x, NULL, 1, FALSE, &none);
  return lpt_tfl_reshape (op, x, 2, (gint64[]) { s->frames, s->channels });
}

/* The gain at @noise, in steps of 2^-bits. */
static gint64
gain_at (guint32 noise, gint64 bits, gint64 gain_bits, float offset, float strength)
{
  float gain = (float) (1u << gain_bits) * powf ((float) noise / (float) (1u << bits) + offset, -strength);
  return gain > G_MAXINT16 ? G_MAXINT16 : (gint64) (gint16) (gain + 0.5f);
}

/* Numbers 0 and 1, then for each octave from 2 on what is at its begin, and the slope and the curve in it. */
static LptValue *
gain_table (LptTflOp *op, const Setup *s, gint64 gain_bits)
{
  float strength = (float) option (op, "pcan_strength", 0, 64), offset = (float) option (op, "pcan_offset", 0, 1e9);
  gint64 bits = s->smoothing_bits - s->correction;
  LptTensor *table = NULL;
  if (bits < 0 || bits > 31)
    lpt_tfl_invalid (op, "noise with %d bits behind the point", (int) bits);
  table = new_list (op, 1, (gint64[]) { 125 });
  if (table == NULL)
    return lpt_tfl_i64_one (op, 0);
  gint64 *to = lpt_tensor_writable (table);
  memset (to, 0, lpt_tensor_size (table));
  for (guint32 i = 0; i < 2; i++)
    to[i] = gain_at (i, bits, gain_bits, offset, strength);
  for (gint i = 2; i <= 32; i++)
    {
      guint32 from = 1u << (i - 1), end = i == 32 ? G_MAXUINT32 : 2 * from;
      gint64 y = gain_at (from, bits, gain_bits, offset, strength);
      gint64 half = gain_at (from + from / 2, bits, gain_bits, offset, strength) - y;
      gint64 full = gain_at (end, bits, gain_bits, offset, strength) - y;
      to[4 * i - 6] = y;
      to[4 * i - 5] = (gint16) (4 * half - full);
      to[4 * i - 4] = (gint16) (full - (4 * half - full));
    }
  return lpt_tfl_tensor_value (op, table, NULL);
}

/* Less the noise, times the gain. */
static LptValue *
cleaned (LptTflOp *op, LptValue *x, const Setup *s)
{
  LptValue *up = NUMBER (s->smoothing_bits);
  LptValue *signal = OP2 (BITWISE_AND, LEFT (x, up), NUMBER (G_MAXUINT32)), *noise = noise_of (op, signal, s);
  LptValue *least = OP2 (MULTIPLY, x, NUMBER (part_of (op, "min_signal_remaining")));
  x = RIGHT (OP2 (SUBTRACT, signal, OP2 (MINIMUM, noise, signal)), up);
  x = OP2 (MAXIMUM, x, RIGHT (least, NUMBER (NOISE_BITS)));
  if (option (op, "enable_pcan", 0, 1) == 0)
    return x;
  gint64 gain_bits = whole (op, "gain_bits", 0, 31), shift = gain_bits - s->correction - 12;
  if (shift < 0)
    lpt_tfl_invalid (op, "gain_bits is %d, less than %d", (int) gain_bits, (int) (s->correction + 12));
  return op->error == NULL ? lpt_tfl_signal_pcan (op, x, noise, gain_table (op, s, gain_bits), shift) : x;
}

/* --- what goes out -------------------------------------------------------------------------------------- */

static LptValue *
scaled (LptTflOp *op, LptValue *x, const Setup *s)
{
  gint64 scale = whole (op, "out_scale", 1, G_MAXINT32);
  if (option (op, "enable_log", 0, 1) != 0)
    {
      gint64 up = MAX (s->correction, 0), down = MAX (-s->correction, 0);
      x = RIGHT (OP2 (BITWISE_AND, LEFT (x, NUMBER (up)), NUMBER (G_MAXUINT32)), NUMBER (down));
      x = lpt_tfl_signal_log (op, x, (gint64) 1 << whole (op, "scale_shift", 0, 31));
    }
  x = OP2 (MINIMUM, x, NUMBER (G_MAXUINT16));
  if (option (op, "out_float", 0, 1) == 0)
    return lpt_tfl_convert (op, OP2 (DIVIDE, x, NUMBER (scale)), LPT_DTYPE_I32);
  x = lpt_tfl_convert (op, x, LPT_DTYPE_F32);
  return OP2 (DIVIDE, x, lpt_tfl_like (op, x, (double) (float) scale));
}

/* Each stride'th frame with its neighbours; a frame of zeros stands behind the last. */
static LptValue *
with_context (LptTflOp *op, LptValue *x, const Setup *s)
{
  gint64 around = 1 + s->left + s->right, rows = (s->frames - 1) / s->stride + 1;
  gboolean zeros = option (op, "zero_padding", 0, 1) != 0;
  LptTensor *places = new_list (op, 2, (gint64[]) { rows, around });
  for (gint64 i = 0; places != NULL && i < rows * around; i++)
    {
      gint64 frame = i / around * s->stride + i % around - s->left;
      gboolean outside = frame < 0 || frame >= s->frames;
      ((gint64 *) lpt_tensor_writable (places))[i] = outside && zeros ? s->frames : CLAMP (frame, 0, s->frames - 1);
    }
  if (zeros)
    {
      LptValue *shape = lpt_tfl_i64 (op, 2, (gint64[]) { 1, s->channels });
      LptValue *both[] = { x, lpt_tfl_broadcast (op, lpt_tfl_like (op, x, 0), shape) };
      x = lpt_tfl_concat (op, 0, 2, both);
    }
  x = lpt_tfl_emit (op, LPT_OP_GATHER, 3, x, lpt_tfl_tensor_value (op, places, NULL), NUMBER (0));
  return lpt_tfl_reshape (op, x, 2, (gint64[]) { rows, around * s->channels });
}

void
lpt_tfl_map_audio_microfrontend (LptTflOp *op)
{
  LptValue *x = lpt_tfl_codes (op, lpt_tfl_in (op, 0));
  if (x->dtype != LPT_DTYPE_I16 || lpt_tfl_rank (op, x) != 1)
    lpt_tfl_invalid (op, "%s samples of rank %d, not i16 of rank 1", lpt_dtype_name (x->dtype), x->shape.rank);
  else if (x->shape.dims[0] == LPT_DYNAMIC)
    lpt_tfl_unsupported (op, "an unknown number of samples");
  if (op->error != NULL)
    return;
  const Setup s = read_setup (op, x);
  if (op->error != NULL)
    return;
  LptValue *frames = windows (op, lpt_tfl_convert (op, x, LPT_DTYPE_I64), &s), *room = room_of (op, frames);
  LptValue *y = RIGHT (channels (op, energies (op, LEFT (frames, room), &s), &s), room);
  if (op->error != NULL)
    return;
  y = scaled (op, cleaned (op, y, &s), &s);
  if (op->error == NULL)
    lpt_tfl_set (op, 0, with_context (op, y, &s));
}
