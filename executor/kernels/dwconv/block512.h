/* executor/kernels/dwconv/block512.h - sixteen channels at a time on vpdpbusd
 *
 * Up to four rows of a column are interleaved so that a lane holds one channel's bytes, and one dot product meets them with
 * four weights. Four pixels are made together; a column that two pixels share is interleaved once, and the last columns
 * of one group are the first of the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/dwconv/dwconv.h"
#include "executor/kernels/requant/avx512.h"

/* What one block of sixteen channels needs to end its pixels. */
typedef struct {
  const LptDwconvRun *r;
  size_t              c, n;
  __mmask16           mask;
  size_t              first;         /* where several output channels share one: their first input channel, */
  __mmask16           read;          /* how many they read, */
  __m128i             order;         /* and which of those each lane has */
  __m512i             bias;
  RequantVec          v;
  PackLimits          limits;
} Block;

/* Where its channels find theirs. */
INLINE void
find_inputs (Block *b, size_t multiplier)
{
  uint8_t order[16];

  b->first = b->c / multiplier;
  for (size_t j = 0; j < 16; j++)
    order[j] = j < b->n ? (uint8_t) ((b->c + j) / multiplier - b->first) : 0x80;
  b->read = (__mmask16) ((2u << order[b->n - 1]) - 1);
  b->order = _mm_loadu_si128 ((const __m128i *) (const void *) order);
}

/* Sixteen channels of one row of a column; `whole`: all exist. */
INLINE __m128i
load_row (const Block *b, const uint8_t *x, bool whole)
{
  if (whole)
    return _mm_loadu_si128 ((const __m128i *) (const void *) (x + b->c));
  if (b->r->multiplier == 1)
    return _mm_maskz_loadu_epi8 (b->mask, x + b->c);
  return _mm_shuffle_epi8 (_mm_maskz_loadu_epi8 (b->read, x + b->first), b->order);
}

/* Rows [4g, 4g + n) of a column, n <= 4: channel in the lane, row in the byte. */
LPT_TILE __m512i
load_column (const Block *b, const uint8_t *const *col, size_t n, bool whole)
{
  const __m512i lanes = _mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i bytes = _mm512_broadcast_i32x4 (_mm_setr_epi8 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  __m128i r0 = load_row (b, col[0], whole);

  if (n == 1)
    return _mm512_cvtepu8_epi32 (r0);

  __m256i low = _mm256_inserti128_si256 (_mm256_castsi128_si256 (r0), load_row (b, col[1], whole), 1);
  __m512i x = _mm512_zextsi256_si512 (low);

  if (n > 2)
    {
      __m256i high = _mm256_zextsi128_si256 (load_row (b, col[2], whole));

      if (n > 3)
        high = _mm256_inserti128_si256 (high, load_row (b, col[3], whole), 1);
      x = _mm512_inserti64x4 (x, high, 1);
    }
  return _mm512_shuffle_epi8 (_mm512_permutexvar_epi32 (lanes, x), bytes);
}

/* Sums of `pixels` (1 to 4) pixels from i on; STAGE_NONE: the general epilogue runs. */
LPT_TILE void
finish (const Block *b, int stage, size_t i, size_t pixels, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
  const LptDwconvRun *r = b->r;

  if (stage == STAGE_NONE)
    {
      size_t element = r->epilogue->store == LPT_STORE_Q8 ? 1 : 4;
      _Alignas (64) int32_t acc[64];

      _mm512_store_si512 (acc, x0);
      _mm512_store_si512 (acc + 16, x1);
      _mm512_store_si512 (acc + 32, x2);
      _mm512_store_si512 (acc + 48, x3);
      r->epilogue_kernel->run (r->epilogue, pixels, b->n, b->c, acc, 16, NULL,
                               (char *) r->out + i * r->ldo + (b->c - r->c0) * element, r->ldo,
                               r->residual ? r->residual + i * r->ldr + (b->c - r->c0) : NULL, r->ldr);
      return;
    }

#define CODES(i) stage_lanes (stage, &b->v, &b->limits, x##i)
  __m512i bytes = in_order (pack_quarters (&b->limits, STAGE_LACKS_ZP (stage), CODES (0), CODES (1), CODES (2), CODES (3)));
#undef CODES
  char *out = (char *) r->out + i * r->ldo + (b->c - r->c0);

  if (b->n == 16)
    {
      _mm_storeu_si128 ((__m128i *) (void *) out, _mm512_castsi512_si128 (bytes));
      if (pixels > 1)
        _mm_storeu_si128 ((__m128i *) (void *) (out + r->ldo), _mm512_extracti32x4_epi32 (bytes, 1));
      if (pixels > 2)
        _mm_storeu_si128 ((__m128i *) (void *) (out + 2 * r->ldo), _mm512_extracti32x4_epi32 (bytes, 2));
      if (pixels > 3)
        _mm_storeu_si128 ((__m128i *) (void *) (out + 3 * r->ldo), _mm512_extracti32x4_epi32 (bytes, 3));
    }
  else
    {
      _mm_mask_storeu_epi8 (out, b->mask, _mm512_castsi512_si128 (bytes));
      if (pixels > 1)
        _mm_mask_storeu_epi8 (out + r->ldo, b->mask, _mm512_extracti32x4_epi32 (bytes, 1));
      if (pixels > 2)
        _mm_mask_storeu_epi8 (out + 2 * r->ldo, b->mask, _mm512_extracti32x4_epi32 (bytes, 2));
      if (pixels > 3)
        _mm_mask_storeu_epi8 (out + 3 * r->ldo, b->mask, _mm512_extracti32x4_epi32 (bytes, 3));
    }
}

/* A block of channels of any kernel. Four pixels meet a column's rows one after the other: in a line of the cache they
 * are neighbours, and lines of a tall kernel may share one set. */
LPT_TILE void
block_any (const Block *b, int stage, bool whole)
{
  const LptDwconvRun *r = b->r;
  size_t groups = (r->kh + 3) / 4;
  const int8_t *weights = (const int8_t *) r->packed + b->c * r->kw * groups * 4;

  for (size_t i = 0; i < r->pixels; i += 4)
    {
      size_t pixels = r->pixels - i < 4 ? r->pixels - i : 4;
      __m512i x[4] = { b->bias, b->bias, b->bias, b->bias };

      for (size_t kx = 0; kx < r->kw; kx++)
        for (size_t g = 0; g < groups; g++)
          {
            size_t rows = r->kh - 4 * g < 4 ? r->kh - 4 * g : 4;
            const uint8_t *const *col = r->cols + (i * r->stride_w + kx * r->dilation_w) * r->kh + 4 * g;
            __m512i w = _mm512_loadu_si512 (weights + (kx * groups + g) * 64);

#pragma GCC unroll 4
            for (size_t p = 0; p < 4; p++)
              {
                const uint8_t *const *own = col + (p < pixels ? p : 0) * r->stride_w * r->kh;

                x[p] = _mm512_dpbusd_epi32 (x[p], load_column (b, own, rows, whole), w);
              }
          }
      finish (b, stage, i, pixels, x[0], x[1], x[2], x[3]);
    }
}

/* 3x3 of stride 1 or 2, weights in registers. */
LPT_TILE void
block_3x3 (const Block *b, int stage, bool whole, size_t stride)
{
  const LptDwconvRun *r = b->r;
  const int8_t *weights = (const int8_t *) r->packed + b->c * 12;
  const __m512i w0 = _mm512_loadu_si512 (weights), w1 = _mm512_loadu_si512 (weights + 64);
  const __m512i w2 = _mm512_loadu_si512 (weights + 128);
  const uint8_t *const *cols = r->cols;
#define COLUMN(x) load_column (b, cols + (x) * 3, 3, whole)
#define PIXEL(a0, a1, a2) _mm512_dpbusd_epi32 (_mm512_dpbusd_epi32 (_mm512_dpbusd_epi32 (b->bias, a0, w0), a1, w1), a2, w2)

  if (stride == 1)
    {
      __m512i v0 = COLUMN (0), v1 = COLUMN (1);
      size_t i = 0;

      for (; i + 4 <= r->pixels; i += 4, cols += 12)
        {
          __m512i v2 = COLUMN (2), v3 = COLUMN (3), v4 = COLUMN (4), v5 = COLUMN (5);

          finish (b, stage, i, 4, PIXEL (v0, v1, v2), PIXEL (v1, v2, v3), PIXEL (v2, v3, v4), PIXEL (v3, v4, v5));
          v0 = v4;
          v1 = v5;
        }
      for (; i < r->pixels; i++, cols += 3)
        {
          __m512i v2 = COLUMN (2), x = PIXEL (v0, v1, v2);

          finish (b, stage, i, 1, x, x, x, x);
          v0 = v1;
          v1 = v2;
        }
    }
  else
    {
      __m512i v0 = COLUMN (0);
      size_t i = 0;

      for (; i + 4 <= r->pixels; i += 4, cols += 24)
        {
          __m512i v2 = COLUMN (2), v4 = COLUMN (4), v6 = COLUMN (6), v8 = COLUMN (8);
          __m512i x0 = PIXEL (v0, COLUMN (1), v2), x1 = PIXEL (v2, COLUMN (3), v4);
          __m512i x2 = PIXEL (v4, COLUMN (5), v6), x3 = PIXEL (v6, COLUMN (7), v8);

          finish (b, stage, i, 4, x0, x1, x2, x3);
          v0 = v8;
        }
      for (; i < r->pixels; i++, cols += 6)
        {
          __m512i v2 = COLUMN (2), x = PIXEL (v0, COLUMN (1), v2);

          finish (b, stage, i, 1, x, x, x, x);
          v0 = v2;
        }
    }
#undef COLUMN
#undef PIXEL
}

/* 5x5 of stride 1: each column is a group of four rows and a single row. */
LPT_TILE void
block_5x5 (const Block *b, int stage, bool whole)
{
  const LptDwconvRun *r = b->r;
  const int8_t *w = (const int8_t *) r->packed + b->c * 40;
  const uint8_t *const *cols = r->cols;

#define HIGH(x) load_column (b, cols + (x) * 5, 4, whole)
#define LAST(x) load_column (b, cols + (x) * 5 + 4, 1, whole)
#define TAP(x, v, k) x = _mm512_dpbusd_epi32 (x, v, _mm512_loadu_si512 (w + (k) * 64));
  for (size_t i = 0; i < r->pixels; )
    {
      size_t pixels = r->pixels - i < 4 ? 1 : 4;
      __m512i x0 = b->bias, x1 = b->bias, x2 = b->bias, x3 = b->bias;

      if (pixels == 4)
        {
#define BOTH(x, kx) TAP (x, h, 2 * (kx)) TAP (x, l, 2 * (kx) + 1)
#define COLUMN(n, taps) { __m512i h = HIGH (n), l = LAST (n); taps }
          COLUMN (0, BOTH (x0, 0))
          COLUMN (1, BOTH (x0, 1) BOTH (x1, 0))
          COLUMN (2, BOTH (x0, 2) BOTH (x1, 1) BOTH (x2, 0))
          COLUMN (3, BOTH (x0, 3) BOTH (x1, 2) BOTH (x2, 1) BOTH (x3, 0))
          COLUMN (4, BOTH (x0, 4) BOTH (x1, 3) BOTH (x2, 2) BOTH (x3, 1))
          COLUMN (5, BOTH (x1, 4) BOTH (x2, 3) BOTH (x3, 2))
          COLUMN (6, BOTH (x2, 4) BOTH (x3, 3))
          COLUMN (7, BOTH (x3, 4))
        }
      else
        {
          COLUMN (0, BOTH (x0, 0))
          COLUMN (1, BOTH (x0, 1))
          COLUMN (2, BOTH (x0, 2))
          COLUMN (3, BOTH (x0, 3))
          COLUMN (4, BOTH (x0, 4))
        }
      finish (b, stage, i, pixels, x0, x1, x2, x3);
      i += pixels;
      cols += pixels * 5;
    }
#undef HIGH
#undef LAST
#undef TAP
#undef BOTH
#undef COLUMN
}

/* `whole`, a constant: all sixteen channels exist. */
INLINE void
run_columns (const Block *b, int stage, bool whole)
{
  const LptDwconvRun *r = b->r;
  bool dense = r->multiplier == 1 && r->dilation_w == 1;

  if (dense && r->kh == 3 && r->kw == 3 && r->stride_w == 1)
    block_3x3 (b, stage, whole, 1);
  else if (dense && r->kh == 3 && r->kw == 3 && r->stride_w == 2)
    block_3x3 (b, stage, whole, 2);
  else if (dense && whole && r->kh == 5 && r->kw == 5 && r->stride_w == 1)
    block_5x5 (b, stage, true);
  else
    block_any (b, stage, false);
}

INLINE void
run_block (const Block *b, int stage)
{
  if (b->n == 16)
    run_columns (b, stage, true);
  else
    run_columns (b, stage, false);
}

/* All channels from c on. */
INLINE void
run_blocks (const LptDwconvRun *r, size_t c, const PackLimits *limits, int stage)
{
  const LptEpilogue *e = r->epilogue;
  Block b = { .limits = *limits };

  for (; c < r->c1; c += 16)
    {
      b.c = c;
      b.n = r->c1 - c < 16 ? r->c1 - c : 16;
      b.mask = (__mmask16) ((1u << b.n) - 1);
      if (r->multiplier > 1)
        find_inputs (&b, r->multiplier);
      b.bias = _mm512_setzero_si512 ();
      if (stage != STAGE_NONE)
        {
          const StageChannels s = stage_load (stage, e, c);

          b.bias = s.bias;
          stage_vec (stage, e, &s, &b.v);
        }
      for (size_t y = 0; y < r->rows; y++)
        {
          const LptDwconvRun row = lpt_dwconv_row (r, y);

          b.r = &row;
          run_block (&b, stage);
        }
    }
}
