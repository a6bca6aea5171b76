/* executor/kernels/gemm/one-row512.h - one row times all panels, fused epilogue, on vpdpbusd, 512 bits
 *
 * A product with one row is bound by the bytes of its weights and, where those are few, by what is done for each panel.
 * So the limits are made once and a panel's parameters go from their arrays into registers. Weights are one stream:
 * hints of what comes only cost it. Four chains of sums hide the latency of the product: of four blocks of columns, or,
 * in narrow panels, of two or four successive k.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/gemm/gemm.h"
#include "executor/kernels/gemm/tails.h"
#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/requant/avx512.h"

/* What all panels of a row have in common. */
typedef struct {
  const LptEpilogue *e;
  const uint8_t     *a;
  size_t             k;
  int32_t            tail;       /* the last one to three bytes of the row, zeros behind them */
  int32_t            add;        /* to all sums */
  PackLimits         limits;
} OneRow;

/* Results of sixteen channels as int32 or floats. */
INLINE void
one_row_words (const OneRow *r, const StageChannels *s, __m512i sum, __mmask16 real, void *out)
{
  const LptEpilogue *e = r->e;

  if (e->store == LPT_STORE_F32)
    {
      __m512 f = _mm512_mul_ps (_mm512_cvtepi32_ps (sum), _mm512_castsi512_ps (s->x[0]));

      if (e->fbias)
        f = _mm512_add_ps (f, _mm512_castsi512_ps (s->x[1]));
      sum = _mm512_castps_si512 (_mm512_min_ps (_mm512_set1_ps (e->fhi), _mm512_max_ps (_mm512_set1_ps (e->flo), f)));
    }
  _mm512_mask_storeu_epi32 (out, real, sum);
}

/* Sixteen columns' codes, or their words stored. */
INLINE __m512i
one_row_block (int stage, const OneRow *r, size_t channel, size_t columns, __m512i sum, char *out)
{
  const StageChannels s = stage_load (stage, r->e, channel);
  RequantVec v;

  sum = _mm512_add_epi32 (sum, _mm512_add_epi32 (s.bias, _mm512_set1_epi32 (r->add)));
  if (stage == STAGE_WORDS)
    {
      one_row_words (r, &s, sum, (__mmask16) (columns >= 16 ? 0xffffu : (1u << columns) - 1), out);
      return sum;
    }
  stage_vec (stage, r->e, &s, &v);
  return stage_lanes (stage, &v, &r->limits, sum);
}

/* nb blocks of columns from `channel` on. nb and stage are constants. Four registers of weights follow each other: of
 * the blocks of one step of four k, or of several steps. */
LPT_TILE void
one_row_panel (size_t nb, int stage, const OneRow *r, const int8_t *b, size_t channel, size_t columns, char *out)
{
  const size_t steps = nb < 3 ? 4 / nb : 1, whole = r->k / 4;
  const __m512i zero = _mm512_setzero_si512 ();
  __m512i c0 = zero, c1 = zero, c2 = zero, c3 = zero;
  const uint8_t *a = r->a;
  size_t p = 0;

#define STEP_OF(j) ((j) / nb)
#define WEIGHTS_OF(j) _mm512_loadu_si512 (b + 64 * (j))
#define X_OF(j) _mm512_set1_epi32 (four_bytes (a + 4 * STEP_OF (j)))
  for (; p + steps <= whole; p += steps, a += 4 * steps, b += 64 * nb * steps)
    {
      c0 = _mm512_dpbusd_epi32 (c0, X_OF (0), WEIGHTS_OF (0));
      c1 = _mm512_dpbusd_epi32 (c1, X_OF (1), WEIGHTS_OF (1));
      c2 = _mm512_dpbusd_epi32 (c2, X_OF (2), WEIGHTS_OF (2));
      if (nb != 3)
        c3 = _mm512_dpbusd_epi32 (c3, X_OF (3), WEIGHTS_OF (3));
    }
  if (nb == 1)
    c0 = _mm512_add_epi32 (_mm512_add_epi32 (c0, c1), _mm512_add_epi32 (c2, c3));
  else if (nb == 2)
    {
      c0 = _mm512_add_epi32 (c0, c2);
      c1 = _mm512_add_epi32 (c1, c3);
    }
  for (size_t k = 4 * p; k < r->k; k += 4, a += 4, b += 64 * nb)
    {
      const __m512i x = _mm512_set1_epi32 (k + 4 <= r->k ? four_bytes (a) : r->tail);

      c0 = _mm512_dpbusd_epi32 (c0, x, WEIGHTS_OF (0));
      if (nb > 1)
        c1 = _mm512_dpbusd_epi32 (c1, x, WEIGHTS_OF (1));
      if (nb > 2)
        c2 = _mm512_dpbusd_epi32 (c2, x, WEIGHTS_OF (2));
      if (nb > 3)
        c3 = _mm512_dpbusd_epi32 (c3, x, WEIGHTS_OF (3));
    }

#define BLOCK_OF(c, j)                                                                                       \
  if (nb > j)                                                                                                \
    c = one_row_block (stage, r, channel + 16 * j, columns - 16 * j, c, out + 64 * j);
  BLOCK_OF (c0, 0)
  BLOCK_OF (c1, 1)
  BLOCK_OF (c2, 2)
  BLOCK_OF (c3, 3)
  if (stage != STAGE_WORDS)
    _mm512_mask_storeu_epi8 (out, columns >= 64 ? ~(__mmask64) 0 : ((__mmask64) 1 << columns) - 1,
                             in_order (pack_quarters (&r->limits, STAGE_LACKS_ZP (stage), c0, c1, c2, c3)));
#undef STEP_OF
#undef WEIGHTS_OF
#undef X_OF
#undef BLOCK_OF
}

#define ONE_ROW(name, stage)                                                                                 \
  static void                                                                                                \
  name (const OneRow *r, const int8_t *b, size_t width, size_t channel, size_t columns, char *out)           \
  {                                                                                                          \
    const size_t element = stage == STAGE_WORDS ? 4 : 1, bytes = (r->k + 3) / 4 * 4;                         \
                                                                                                             \
    for (size_t j = 0; j < columns; j += width, b += width * bytes)                                          \
      {                                                                                                      \
        const size_t n = columns - j < width ? columns - j : width;                                          \
                                                                                                             \
        switch ((n + 15) / 16)                                                                               \
          {                                                                                                  \
          case 4:  one_row_panel (4, stage, r, b, channel + j, n, out + j * element); break;                 \
          case 3:  one_row_panel (3, stage, r, b, channel + j, n, out + j * element); break;                 \
          case 2:  one_row_panel (2, stage, r, b, channel + j, n, out + j * element); break;                 \
          default: one_row_panel (1, stage, r, b, channel + j, n, out + j * element); break;                 \
          }                                                                                                  \
      }                                                                                                      \
  }
ONE_ROW (one_row_one_fma, STAGE_ONE_FMA)
ONE_ROW (one_row_fma, STAGE_FMA)
ONE_ROW (one_row_float, STAGE_FLOAT)
ONE_ROW (one_row_single, STAGE_SINGLE)
ONE_ROW (one_row_all_words, STAGE_WORDS)
#undef ONE_ROW

static void
one_row (const LptGemmRow *row, size_t width, size_t channel, size_t columns)
{
  const LptEpilogue *e = row->epilogue;
  const size_t rest = row->k & 3;
  OneRow r = { .e = e, .a = row->a, .k = row->k, .add = row->add, .limits = pack_limits (e->zp, e->lo, e->hi) };

  for (size_t i = 0; i < rest; i++)
    r.tail |= row->a[row->k - rest + i] << 8 * i;
  switch (stage_of_channels (e, channel, columns))
    {
    case STAGE_ONE_FMA: one_row_one_fma (&r, row->panels, width, channel, columns, row->out); break;
    case STAGE_FMA:     one_row_fma (&r, row->panels, width, channel, columns, row->out); break;
    case STAGE_FLOAT:   one_row_float (&r, row->panels, width, channel, columns, row->out); break;
    case STAGE_WORDS:   one_row_all_words (&r, row->panels, width, channel, columns, row->out); break;
    default:            one_row_single (&r, row->panels, width, channel, columns, row->out); break;
    }
}
