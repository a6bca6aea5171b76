/* executor/kernels/dwconv/avx512vnni.c - depthwise convolution on vpdpbusd
 *
 * 64 channels at a time where the epilogue is fused, or 32 of two rows; the rest sixteen at a time (block512.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/dwconv/block512.h"

/* --- 64 channels, fused stages --- */

/* Four registers A, B, C, D of sixteen lanes to A's, B's, C's and D's first quarters, second quarters, and so on. Unpacked
 * bytes have this order, and packing at the end undoes it. */
INLINE void
quarters (__m512i v[4])
{
  __m512i a = _mm512_shuffle_i32x4 (v[0], v[1], 0x44), b = _mm512_shuffle_i32x4 (v[0], v[1], 0xee);
  __m512i c = _mm512_shuffle_i32x4 (v[2], v[3], 0x44), d = _mm512_shuffle_i32x4 (v[2], v[3], 0xee);

  v[0] = _mm512_shuffle_i32x4 (a, c, 0x88);
  v[1] = _mm512_shuffle_i32x4 (a, c, 0xdd);
  v[2] = _mm512_shuffle_i32x4 (b, d, 0x88);
  v[3] = _mm512_shuffle_i32x4 (b, d, 0xdd);
}

typedef struct {
  __m512i x0, x1, x2, x3;
} Column;

INLINE Column
interleave_64 (__m512i r0, __m512i r1, __m512i r2, __m512i r3)
{
  __m512i a = _mm512_unpacklo_epi8 (r0, r1), b = _mm512_unpackhi_epi8 (r0, r1);
  __m512i c = _mm512_unpacklo_epi8 (r2, r3), d = _mm512_unpackhi_epi8 (r2, r3);

  return (Column) { _mm512_unpacklo_epi16 (a, c), _mm512_unpackhi_epi16 (a, c), _mm512_unpacklo_epi16 (b, d),
                    _mm512_unpackhi_epi16 (b, d) };
}

/* What a register of 64 bytes holds, a constant. */
typedef enum {
  SIXTY_FOUR,     /* channels of one output row */
  MASKED,         /* fewer channels */
  TWO_ROWS        /* 32 channels of this output row and the next, or of this one twice */
} Form;

typedef struct {
  const LptDwconvRun *r;
  size_t              c, next;       /* next: pointers to the other row's columns */
  __mmask64           mask;
  PackLimits          limits;
  __m512i             bias[4];
  RequantVec          v[4];
} Wide;

/* 32 channels from each of two places. */
INLINE __m512i
load_two (const Wide *w, const uint8_t *a, const uint8_t *b)
{
  return _mm512_inserti64x4 (_mm512_castsi256_si512 (_mm256_loadu_si256 ((const __m256i *) (const void *) (a + w->c))),
                             _mm256_loadu_si256 ((const __m256i *) (const void *) (b + w->c)), 1);
}

INLINE __m512i
load_bytes (const Wide *w, Form form, const uint8_t *const *at)
{
  if (form == SIXTY_FOUR)
    return _mm512_loadu_si512 (*at + w->c);
  if (form == MASKED)
    return _mm512_maskz_loadu_epi8 (w->mask, *at + w->c);
  return load_two (w, *at, at[w->next]);
}

/* Rows of one column, n <= 4. */
LPT_TILE Column
load_64 (const Wide *w, Form form, const uint8_t *const *col, size_t n)
{
  const __m512i none = _mm512_setzero_si512 ();

  return interleave_64 (load_bytes (w, form, col), n > 1 ? load_bytes (w, form, col + 1) : none,
                        n > 2 ? load_bytes (w, form, col + 2) : none, n > 3 ? load_bytes (w, form, col + 3) : none);
}

/* Sixteen channels that block j of a register begins with. */
INLINE size_t
block_channel (const Wide *w, Form form, size_t j)
{
  return w->c + 16 * (form == TWO_ROWS ? j % 2 : j);
}

INLINE __m512i
codes_64 (const Wide *w, int stage, Column x)
{
#define CODES(i) stage_lanes (stage, &w->v[i], &w->limits, x.x##i)
  return pack_quarters (&w->limits, STAGE_LACKS_ZP (stage), CODES (0), CODES (1), CODES (2), CODES (3));
#undef CODES
}

LPT_TILE void
finish_64 (const Wide *w, int stage, Form form, size_t i, Column x)
{
  const LptDwconvRun *r = w->r;
  __m512i bytes = codes_64 (w, stage, x);
  char *out = (char *) r->out + i * r->ldo + (w->c - r->c0);

  if (form == SIXTY_FOUR)
    _mm512_storeu_si512 (out, bytes);
  else if (form == MASKED)
    _mm512_mask_storeu_epi8 (out, w->mask, bytes);
  else
    {
      /* The second row first: where there is none, it is the first one's own. */
      char *second = w->next ? out + r->pixels * r->ldo : out;

      _mm256_storeu_si256 ((__m256i *) (void *) second, _mm512_extracti64x4_epi64 (bytes, 1));
      _mm256_storeu_si256 ((__m256i *) (void *) out, _mm512_castsi512_si256 (bytes));
    }
}

INLINE Column
dot_64 (Column sum, Column x, const __m512i w[4])
{
  return (Column) { _mm512_dpbusd_epi32 (sum.x0, x.x0, w[0]), _mm512_dpbusd_epi32 (sum.x1, x.x1, w[1]),
                    _mm512_dpbusd_epi32 (sum.x2, x.x2, w[2]), _mm512_dpbusd_epi32 (sum.x3, x.x3, w[3]) };
}

LPT_TILE void
wide_3x3 (const Wide *w, int stage, Form form, size_t stride)
{
  const LptDwconvRun *r = w->r;
  const uint8_t *const *cols = r->cols;
  const Column bias = { w->bias[0], w->bias[1], w->bias[2], w->bias[3] };
  __m512i w0[4], w1[4], w2[4];

  for (size_t j = 0; j < 4; j++)
    {
      const char *from = (const char *) r->packed + block_channel (w, form, j) * 12;
      bool real = block_channel (w, form, j) < r->c1;

      w0[j] = real ? _mm512_loadu_si512 (from) : _mm512_setzero_si512 ();
      w1[j] = real ? _mm512_loadu_si512 (from + 64) : _mm512_setzero_si512 ();
      w2[j] = real ? _mm512_loadu_si512 (from + 128) : _mm512_setzero_si512 ();
    }
  quarters (w0);
  quarters (w1);
  quarters (w2);

  if (stride == 1)
    {
      /* Two sums wait, a for its last column and b for its last two; at each column they change places. */
      Column x = load_64 (w, form, cols, 3), a, b;
      size_t i = 0;

      a = dot_64 (bias, x, w0);
      x = load_64 (w, form, cols + 3, 3);
      a = dot_64 (a, x, w1);
      b = dot_64 (bias, x, w0);
      cols += 6;
#define PIXEL(last, middle)                                                                                            \
  {                                                                                                                    \
    x = load_64 (w, form, cols, 3);                                                                                    \
    finish_64 (w, stage, form, i, dot_64 (last, x, w2));                                                               \
    middle = dot_64 (middle, x, w1);                                                                                   \
    last = dot_64 (bias, x, w0);                                                                                       \
    i++;                                                                                                               \
    cols += 3;                                                                                                         \
  }
      while (i + 2 <= r->pixels)
        {
          PIXEL (a, b)
          PIXEL (b, a)
        }
      if (i < r->pixels)
        PIXEL (a, b)
#undef PIXEL
    }
  else
    {
      Column x = load_64 (w, form, cols, 3), s = dot_64 (bias, x, w0);

      for (size_t i = 0; i < r->pixels; i++, cols += 6)
        {
          s = dot_64 (s, load_64 (w, form, cols + 3, 3), w1);
          x = load_64 (w, form, cols + 6, 3);
          finish_64 (w, stage, form, i, dot_64 (s, x, w2));
          s = dot_64 (bias, x, w0);
        }
    }
}

/* --- 3x3 of stride 1, 32 channels of two pixels in two rows --- */

/* Columns col and the next one: the four rows that both output rows read, 32 channels of each. */
LPT_TILE Column
load_pair (const Wide *w, const uint8_t *const *col)
{
  const uint8_t *const *below = col + w->next;

  return interleave_64 (load_two (w, col[0], col[3]), load_two (w, col[1], col[4]), load_two (w, col[2], col[5]),
                        load_two (w, below[2], below[5]));
}

/* The second column of one pair and the first of the next one. */
INLINE Column
between (Column a, Column b)
{
  return (Column) { _mm512_shuffle_i64x2 (a.x0, b.x0, 0x4e), _mm512_shuffle_i64x2 (a.x1, b.x1, 0x4e),
                    _mm512_shuffle_i64x2 (a.x2, b.x2, 0x4e), _mm512_shuffle_i64x2 (a.x3, b.x3, 0x4e) };
}

LPT_TILE void
finish_pair (const Wide *w, int stage, char *out, Column x)
{
  __m512i bytes = codes_64 (w, stage, x);

  if (w->r->ldo == 32)
    {
      _mm512_storeu_si512 (out, bytes);
      return;
    }
  _mm256_storeu_si256 ((__m256i *) (void *) out, _mm512_castsi512_si256 (bytes));
  _mm256_storeu_si256 ((__m256i *) (void *) (out + w->r->ldo), _mm512_extracti64x4_epi64 (bytes, 1));
}

/* Four rows of a column are interleaved once: the upper output row meets the first three with its weights, the lower one the
 * last three. Of an odd number of pixels the last but one is made twice. */
LPT_TILE void
squares_3x3 (const Wide *w, int stage)
{
  const LptDwconvRun *r = w->r;
  const Column bias = { w->bias[0], w->bias[1], w->bias[2], w->bias[3] };
  __m512i upper[3][4], lower[3][4];
  Column left;

  for (size_t k = 0; k < 3; k++)
    {
      for (size_t j = 0; j < 4; j++)
        upper[k][j] = _mm512_loadu_si512 ((const char *) r->packed + block_channel (w, TWO_ROWS, j) * 12 + 64 * k);
      quarters (upper[k]);
      for (size_t j = 0; j < 4; j++)
        lower[k][j] = _mm512_slli_epi32 (upper[k][j], 8);
    }
  for (size_t i = 0; i < r->pixels; i += 2)
    {
      bool last = i + 1 == r->pixels;
      const uint8_t *const *col = r->cols + (i - last) * 3;
      char *out = (char *) r->out + (i - last) * r->ldo + (w->c - r->c0);

      if (i == 0 || last)
        left = load_pair (w, col);

      Column right = load_pair (w, col + 6), middle = between (left, right);

      finish_pair (w, stage, out, dot_64 (dot_64 (dot_64 (bias, left, upper[0]), middle, upper[1]), right, upper[2]));
      finish_pair (w, stage, out + r->pixels * r->ldo,
                   dot_64 (dot_64 (dot_64 (bias, left, lower[0]), middle, lower[1]), right, lower[2]));
      left = right;
    }
}

/* Any kernel of at most WIDE_STEPS columns times groups of rows. */
#define WIDE_STEPS 48

/* Rows of group g of a column of kh. */
INLINE Column
load_group (const Wide *w, Form form, const uint8_t *const *col, size_t kh, size_t g)
{
  size_t n = kh - 4 * g;

  return n >= 4 ? load_64 (w, form, col + 4 * g, 4) : load_64 (w, form, col + 4 * g, n);
}

LPT_TILE void
pixel_any (const Wide *w, int stage, Form form, const __m512i (*weights)[4], size_t i)
{
  const LptDwconvRun *r = w->r;
  size_t groups = (r->kh + 3) / 4;
  Column sum = { w->bias[0], w->bias[1], w->bias[2], w->bias[3] };

  for (size_t kx = 0; kx < r->kw; kx++)
    for (size_t g = 0; g < groups; g++)
      sum = dot_64 (sum, load_group (w, form, r->cols + (i * r->stride_w + kx * r->dilation_w) * r->kh, r->kh, g),
                    weights[kx * groups + g]);
  finish_64 (w, stage, form, i, sum);
}

/* Pixels i, i + shift, i + 2 shift and i + 3 shift, where shift pixels are a tap: each column serves all that read it. */
LPT_TILE void
pixels_any (const Wide *w, int stage, Form form, const __m512i (*weights)[4], size_t i, size_t shift, size_t kh,
            size_t kw)
{
  const LptDwconvRun *r = w->r;
  size_t groups = (kh + 3) / 4;
  const Column bias = { w->bias[0], w->bias[1], w->bias[2], w->bias[3] };
  Column s0 = bias, s1 = bias, s2 = bias, s3 = bias;

  LPT_TILE_UNROLL
  for (size_t x = 0; x < kw + 3; x++)
    for (size_t g = 0; g < groups; g++)
      {
        Column c = load_group (w, form, r->cols + (i * r->stride_w + x * r->dilation_w) * kh, kh, g);

        if (x < kw)
          s0 = dot_64 (s0, c, weights[x * groups + g]);
        if (x - 1 < kw)
          s1 = dot_64 (s1, c, weights[(x - 1) * groups + g]);
        if (x - 2 < kw)
          s2 = dot_64 (s2, c, weights[(x - 2) * groups + g]);
        if (x - 3 < kw)
          s3 = dot_64 (s3, c, weights[(x - 3) * groups + g]);
      }
  finish_64 (w, stage, form, i, s0);
  finish_64 (w, stage, form, i + shift, s1);
  finish_64 (w, stage, form, i + 2 * shift, s2);
  finish_64 (w, stage, form, i + 3 * shift, s3);
}

/* Those of all taps, once for all rows. */
INLINE void
wide_weights (const LptDwconvRun *r, const Wide *w, Form form, __m512i (*weights)[4])
{
  const size_t steps = r->kw * ((r->kh + 3) / 4);

  for (size_t k = 0; k < steps; k++)
    {
      for (size_t j = 0; j < 4; j++)
        weights[k][j] = block_channel (w, form, j) < r->c1
                        ? _mm512_loadu_si512 ((const char *) r->packed + (block_channel (w, form, j) / 16 * steps + k) * 64)
                        : _mm512_setzero_si512 ();
      quarters (weights[k]);
    }
}

/* kh and kw, constants or the run's own. */
LPT_TILE void
wide_any (const Wide *w, int stage, Form form, const __m512i (*weights)[4], size_t kh, size_t kw)
{
  const LptDwconvRun *r = w->r;
  size_t shift = r->dilation_w % r->stride_w ? 0 : r->dilation_w / r->stride_w, i = 0;

  for (; shift > 0 && kw > 1 && i + 4 * shift <= r->pixels; i += 4 * shift)
    for (size_t j = 0; j < shift; j++)
      pixels_any (w, stage, form, weights, i + j, shift, kh, kw);
  for (; i < r->pixels; i++)
    pixel_any (w, stage, form, weights, i);
}

/* The loops over a row, a constant. */
typedef enum {
  ANY,
  SQUARE_3,       /* 3x3 of stride 1 */
  SQUARE_3_BY_2,  /* and of stride 2 */
  SQUARE_5        /* 5x5 */
} Loop;

INLINE void
row_wide (const Wide *w, int stage, Form form, Loop loop, const __m512i (*weights)[4])
{
  if (loop == ANY)
    wide_any (w, stage, form, weights, w->r->kh, w->r->kw);
  else if (loop == SQUARE_5)
    wide_any (w, stage, form, weights, 5, 5);
  else if (loop == SQUARE_3_BY_2)
    wide_3x3 (w, stage, form, 2);
  else if (form == TWO_ROWS && w->next && w->r->follow && w->r->pixels > 1)
    squares_3x3 (w, stage);
  else
    wide_3x3 (w, stage, form, 1);
}

/* Channels from c on, as many as exist up to 64 or, of two rows, 32. */
LPT_TILE void
run_64 (const LptDwconvRun *r, size_t c, const PackLimits *limits, int stage, Form form, Loop loop)
{
  const LptEpilogue *e = r->epilogue;
  size_t n = r->c1 - c < 64 ? r->c1 - c : 64;
  Wide w = { .c = c, .mask = n < 64 ? ((__mmask64) 1 << n) - 1 : ~(__mmask64) 0, .limits = *limits };
  __m512i x[3][4], weights[WIDE_STEPS][4];

  for (size_t j = 0; j < 4; j++)
    {
      StageChannels s = { 0 };

      if (block_channel (&w, form, j) < r->c1)
        s = stage_load (stage, e, block_channel (&w, form, j));
      w.bias[j] = s.bias;
      for (int i = 0; i < 3; i++)
        x[i][j] = s.x[i];
    }
  quarters (w.bias);
  for (int i = 0; i < 3; i++)
    quarters (x[i]);
  for (size_t j = 0; j < 4; j++)
    stage_vec (stage, e, &(StageChannels) { w.bias[j], { x[0][j], x[1][j], x[2][j] } }, &w.v[j]);
  if (loop == ANY || loop == SQUARE_5)
    wide_weights (r, &w, form, weights);
  for (size_t y = 0; y < r->rows; y += form == TWO_ROWS ? 2 : 1)
    {
      const LptDwconvRun row = lpt_dwconv_row (r, y);

      w.r = &row;
      w.next = y + 1 < r->rows ? r->cols_step : 0;
      row_wide (&w, stage, form, loop, (const __m512i (*)[4]) weights);
    }
}

/* A function for each stage, form and loop: the compiler finds registers for each alone. */
typedef void (*RunChannels) (const LptDwconvRun *r, size_t c, const PackLimits *limits);

#define WIDE_LOOP(stage, form, loop)                                                                                   \
  __attribute__ ((noinline)) static void                                                                               \
  wide_##stage##_##form##_##loop (const LptDwconvRun *r, size_t c, const PackLimits *limits)                           \
  { run_64 (r, c, limits, STAGE_##stage, form, loop); }
#define WIDE_FORM(stage, form)                                                                                         \
  WIDE_LOOP (stage, form, ANY) WIDE_LOOP (stage, form, SQUARE_3)                                                       \
  WIDE_LOOP (stage, form, SQUARE_3_BY_2) WIDE_LOOP (stage, form, SQUARE_5)
#define WIDE_STAGE(stage) WIDE_FORM (stage, SIXTY_FOUR) WIDE_FORM (stage, MASKED) WIDE_FORM (stage, TWO_ROWS)
WIDE_STAGE (ONE_FMA)
WIDE_STAGE (FMA)
WIDE_STAGE (FLOAT)
WIDE_STAGE (SINGLE)

#define LOOPS(stage, form)                                                                                             \
  { [ANY] = wide_##stage##_##form##_ANY, [SQUARE_3] = wide_##stage##_##form##_SQUARE_3,                                \
    [SQUARE_3_BY_2] = wide_##stage##_##form##_SQUARE_3_BY_2, [SQUARE_5] = wide_##stage##_##form##_SQUARE_5 }
#define FORMS(stage) [STAGE_##stage] = { LOOPS (stage, SIXTY_FOUR), LOOPS (stage, MASKED), LOOPS (stage, TWO_ROWS) }
static const RunChannels wide_runs[][3][4] = { FORMS (ONE_FMA), FORMS (FMA), FORMS (FLOAT), FORMS (SINGLE) };

#define REST(stage)                                                                                                    \
  __attribute__ ((noinline)) static void rest_##stage (const LptDwconvRun *r, size_t c, const PackLimits *limits)      \
  { run_blocks (r, c, limits, STAGE_##stage); }
REST (NONE)
REST (ONE_FMA)
REST (FMA)
REST (FLOAT)
REST (SINGLE)

static const RunChannels rest_runs[] = { [STAGE_NONE] = rest_NONE, [STAGE_ONE_FMA] = rest_ONE_FMA, [STAGE_FMA] = rest_FMA,
                                         [STAGE_FLOAT] = rest_FLOAT, [STAGE_SINGLE] = rest_SINGLE };

/* One multiply-add where that is enough for all n channels from c on. */
static int
stage_for (const LptDwconvRun *r, int stage, size_t c, size_t n)
{
  return stage == STAGE_FMA ? stage_of_channels (r->epilogue, c, n) : stage;
}

/* Up to 64 channels from c on. */
static void
run_wide (const LptDwconvRun *r, size_t c, const PackLimits *limits, int stage)
{
  const size_t left = r->c1 - c;
  Form form = left >= 64 ? SIXTY_FOUR : left > 32 ? MASKED : TWO_ROWS;
  Loop loop = ANY;

  if (r->dilation_w == 1 && r->kh == 3 && r->kw == 3 && r->stride_w <= 2)
    loop = r->stride_w == 1 ? SQUARE_3 : SQUARE_3_BY_2;
  else if (r->kh == 5 && r->kw == 5)
    loop = SQUARE_5;
  wide_runs[stage_for (r, stage, c, left < 64 ? left : 64)][form][loop] (r, c, limits);
}

void
lpt_dwconv__avx512vnni (const LptDwconvRun *r)
{
  const LptEpilogue *e = r->epilogue;
  const PackLimits limits = pack_limits (e->zp, e->lo, e->hi);
  int stage = stage_of (e);
  size_t c = r->c0;

  if (stage == STAGE_WORDS)
    stage = STAGE_NONE;
  /* Whole 64s, a rest that fills most of one, or 32 of two rows. */
  if (stage != STAGE_NONE && r->multiplier == 1 && r->kw * ((r->kh + 3) / 4) <= WIDE_STEPS)
    for (; c < r->c1 && r->c1 - c >= 32; c = r->c1 - c < 64 ? r->c1 : c + 64)
      run_wide (r, c, &limits, stage);
  if (c < r->c1)
    rest_runs[stage_for (r, stage, c, r->c1 - c)] (r, c, &limits);
  if (e->fusable && e->store == LPT_STORE_Q8 && (e->table || e->add))
    lpt_epilogue_finish (r->epilogue_kernel, e, r->rows * r->pixels, r->c1 - r->c0, r->out, r->ldo, r->residual, r->ldr);
}
