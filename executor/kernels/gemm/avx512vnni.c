/* executor/kernels/gemm/avx512vnni.c - micro kernel on vpdpbusd, 512 bits
 *
 * Accumulators of mr rows x nb registers of sixteen columns stay in registers; a step of four k loads nb registers of
 * weights and broadcasts four bytes of each row. They are named variables, not an array, so that no
 * compiler keeps them in memory; rows and registers that a variant lacks fold away.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/gemm/helpers.h"
#include "executor/kernels/gemm/one-row512.h"
#include "executor/kernels/gemm/pack512.h"
#include "executor/kernels/gemm/params512.h"
#include "executor/kernels/gemm/tails.h"
#include "executor/kernels/lpt-isa.h"

#define ROWS(X) X (0) X (1) X (2) X (3) X (4) X (5) X (6) X (7) X (8) X (9) X (10) X (11)

/* mr, nb, half and stage are constants: STAGE_NONE writes accumulators, STAGE_WORDS int32 or float, the others bytes.
 * half: the last register has eight columns at most. Where registers of 512 bits take two turns, half of one takes one. */
LPT_TILE void
tile (size_t mr, size_t nb, bool half, int stage, const LptGemmTile *t, int32_t *acc, const Params *params,
      size_t columns, const LptGemmOut *o)
{
  const __m512i zero = _mm512_setzero_si512 ();
  size_t whole = t->k & ~(size_t) 3, rest = t->k & 3;
  const int8_t *b = t->panel;
  const uint8_t *const *a = t->a;
  /* A convolution's lines end in padding: wide tiles have loops without their first or last row, too. */
  const bool edges = nb == 4 && mr > 3;

#define FIRST(j) (stage ? params->bias[j] : zero)
#define DECLARE(i) __m512i c##i##_0 = FIRST (0), c##i##_1 = FIRST (1), c##i##_2 = FIRST (2), c##i##_3 = FIRST (3);
  ROWS (DECLARE)

#define ADD_ROW(i)                                                                                           \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      __m512i x = _mm512_set1_epi32 (t->row_add[i]);                                                         \
                                                                                                             \
      c##i##_0 = _mm512_add_epi32 (c##i##_0, x);                                                             \
      if (nb > 1)                                                                                            \
        c##i##_1 = _mm512_add_epi32 (c##i##_1, x);                                                           \
      if (nb > 2)                                                                                            \
        c##i##_2 = _mm512_add_epi32 (c##i##_2, x);                                                           \
      if (nb > 3)                                                                                            \
        c##i##_3 = _mm512_add_epi32 (c##i##_3, x);                                                           \
    }
  if (stage && t->row_add)
    {
      ROWS (ADD_ROW)
    }

#define DOT(j, c, x, w)                                                                                      \
  {                                                                                                          \
    if (half && nb == j + 1)                                                                                 \
      __asm__ ("vpdpbusd %t2, %t1, %t0" : "+v" (c) : "v" (x), "v" (w));                                      \
    else                                                                                                     \
      c = _mm512_dpbusd_epi32 (c, x, w);                                                                     \
  }
#define STEP(i, BYTES)                                                                                       \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      __m512i x = _mm512_set1_epi32 (BYTES);                                                                 \
                                                                                                             \
      DOT (0, c##i##_0, x, b0)                                                                               \
      if (nb > 1)                                                                                            \
        DOT (1, c##i##_1, x, b1)                                                                             \
      if (nb > 2)                                                                                            \
        DOT (2, c##i##_2, x, b2)                                                                             \
      if (nb > 3 && mr < 7)                                                                                  \
        DOT (3, c##i##_3, x, b3)                                                                             \
      else if (nb > 3)                                                                                       \
        DOT_MEMORY (c##i##_3, x, b + 192)                                                                    \
    }
/* Twenty-eight accumulators leave no register for the fourth block of weights. */
#define DOT_MEMORY(c, x, p) __asm__ ("vpdpbusd %2, %1, %0" : "+v" (c) : "v" (x), "m" (*(const __m512i *) (const void *) (p)));
#define WEIGHTS                                                                                              \
  __m512i b0 = _mm512_loadu_si512 (b), b1 = nb > 1 ? _mm512_loadu_si512 (b + 64) : zero;                     \
  __m512i b2 = nb > 2 ? _mm512_loadu_si512 (b + 128) : zero;                                                 \
  __m512i b3 = nb > 3 && mr < 7 ? _mm512_loadu_si512 (b + 192) : zero;                                       \
                                                                                                             \
  _mm_prefetch ((const char *) b + t->ahead, _MM_HINT_T1);
#define POINTER(i) const uint8_t *a##i = rows[i < mr ? i : 0];
#define STEP4(i) STEP (i, four_bytes (a##i + p))
#define STEP4_LATER(i) if (i > 0) STEP4 (i)
#define STEP4_EARLIER(i) if (i + 1 < mr) STEP4 (i)

  /* A tap is one part, or two where its k leaves a rest. Most tiles have one inner loop, and nothing branches around
   * it: otherwise compilers copy the accumulators to and fro, which only long loops are worth. */
  for (size_t part = 0, parts = rest ? 2 * t->taps : t->taps; part < parts; part++)
    {
      const uint8_t *const *rows = a;
      const uint8_t *tail_rows[12];
      int32_t tails[12];
      size_t length = whole;
      bool first = t->zeros && a[0] == t->zeros, last = t->zeros && a[mr - 1] == t->zeros;

      if (rest && (part & 1))
        {
          copy_tails (a, mr, whole, rest, tails, tail_rows);
          rows = tail_rows;
          length = 4;
        }
      if (first && last && is_zero_tap (a, mr, t->zeros))
        {
          b += length * nb * 16;
          length = 0;
        }
      if (!rest || (part & 1))
        a += t->a_stride;

      ROWS (POINTER)

      if (edges && first)
        for (size_t p = 0; p < length; p += 4, b += nb * 64)
          {
            WEIGHTS
            ROWS (STEP4_LATER)
          }
      else if (edges && last)
        for (size_t p = 0; p < length; p += 4, b += nb * 64)
          {
            WEIGHTS
            ROWS (STEP4_EARLIER)
          }
      else
        for (size_t p = 0; p < length; p += 4, b += nb * 64)
          {
            WEIGHTS
            ROWS (STEP4)
          }
    }

  /* Cuts the accumulators' lives here, for the same reason. */
#define KEEP(x) __asm__ ("" : "+v" (x));
#define BARRIER(i)                                                                                           \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      KEEP (c##i##_0)                                                                                        \
      if (nb > 1)                                                                                            \
        KEEP (c##i##_1)                                                                                      \
      if (nb > 2)                                                                                            \
        KEEP (c##i##_2)                                                                                      \
      if (nb > 3)                                                                                            \
        KEEP (c##i##_3)                                                                                      \
    }
  ROWS (BARRIER)

#define STORE(i)                                                                                             \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      _mm512_store_si512 (acc + i * LPT_GEMM_NR_MAX, c##i##_0);                                              \
      if (nb > 1)                                                                                            \
        _mm512_store_si512 (acc + i * LPT_GEMM_NR_MAX + 16, c##i##_1);                                       \
      if (nb > 2)                                                                                            \
        _mm512_store_si512 (acc + i * LPT_GEMM_NR_MAX + 32, c##i##_2);                                       \
      if (nb > 3)                                                                                            \
        _mm512_store_si512 (acc + i * LPT_GEMM_NR_MAX + 48, c##i##_3);                                       \
    }
  if (stage == 0)
    {
      ROWS (STORE)
      return;
    }

  /* One column block after the other, so that its parameters are loaded once for all rows. */
  const PackLimits limits = params->limits;
  uint8_t *out = o->out;

#define STORE_WORDS(i, j, x)                                                                                 \
  if (i < mr)                                                                                                \
    _mm512_mask_storeu_epi32 (out + i * o->ldo + j * 64, real, x);
#define STORE_FLOAT(i, j, plus)                                                                              \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      __m512 f = _mm512_mul_ps (_mm512_cvtepi32_ps (c##i##_##j), scale);                                     \
                                                                                                             \
      f = _mm512_min_ps (params->fhi, _mm512_max_ps (params->flo, plus));                                    \
      STORE_WORDS (i, j, _mm512_castps_si512 (f))                                                            \
    }
#define INT_0(i) STORE_WORDS (i, 0, c##i##_0)
#define INT_1(i) STORE_WORDS (i, 1, c##i##_1)
#define INT_2(i) STORE_WORDS (i, 2, c##i##_2)
#define INT_3(i) STORE_WORDS (i, 3, c##i##_3)
#define FLOAT_0(i) STORE_FLOAT (i, 0, f)
#define FLOAT_1(i) STORE_FLOAT (i, 1, f)
#define FLOAT_2(i) STORE_FLOAT (i, 2, f)
#define FLOAT_3(i) STORE_FLOAT (i, 3, f)
#define BIASED_0(i) STORE_FLOAT (i, 0, _mm512_add_ps (f, fbias))
#define BIASED_1(i) STORE_FLOAT (i, 1, _mm512_add_ps (f, fbias))
#define BIASED_2(i) STORE_FLOAT (i, 2, _mm512_add_ps (f, fbias))
#define BIASED_3(i) STORE_FLOAT (i, 3, _mm512_add_ps (f, fbias))
#define WORDS(j)                                                                                             \
  if (nb > j)                                                                                                \
    {                                                                                                        \
      const __mmask16 real = (__mmask16) (columns >= 16 * j + 16 ? 0xffffu : (1u << (columns - 16 * j)) - 1); \
      const __m512 scale = params->v[j].scale, fbias = params->v[j].low;                                     \
                                                                                                             \
      if (!params->floats)                                                                                   \
        {                                                                                                    \
          ROWS (INT_##j)                                                                                     \
        }                                                                                                    \
      else if (params->has_fbias)                                                                            \
        {                                                                                                    \
          ROWS (BIASED_##j)                                                                                  \
        }                                                                                                    \
      else                                                                                                   \
        {                                                                                                    \
          ROWS (FLOAT_##j)                                                                                   \
        }                                                                                                    \
    }
  if (stage == STAGE_WORDS)
    {
      WORDS (0)
      WORDS (1)
      WORDS (2)
      WORDS (3)
      return;
    }

#define CODE(i, j) if (i < mr) c##i##_##j = stage_lanes (stage, &v, &limits, c##i##_##j);
#define CODE_0(i) CODE (i, 0)
#define CODE_1(i) CODE (i, 1)
#define CODE_2(i) CODE (i, 2)
#define CODE_3(i) CODE (i, 3)
#define CODES(j)                                                                                             \
  if (nb > j)                                                                                                \
    {                                                                                                        \
      RequantVec v = params->v[j];                                                                           \
                                                                                                             \
      if (stage == STAGE_FLOAT || STAGE_IS_FMA (stage))                                                      \
        KEEP (v.scale)                                                                                       \
      if (stage == STAGE_FMA)                                                                                \
        KEEP (v.low)                                                                                         \
      if (STAGE_IS_FMA (stage))                                                                              \
        KEEP (v.half)                                                                                        \
      if (stage == STAGE_SINGLE)                                                                             \
        {                                                                                                    \
          KEEP (v.mult)                                                                                      \
          KEEP (v.mult_odd)                                                                                  \
          KEEP (v.a)                                                                                         \
          KEEP (v.b)                                                                                         \
          KEEP (v.c)                                                                                         \
        }                                                                                                    \
      ROWS (CODE_##j)                                                                                        \
    }
  CODES (0)
  CODES (1)
  CODES (2)
  CODES (3)

  /* A register of bytes holds one row of three or four blocks, two rows of two, or four rows of one. */
#define PACK(x0, x1, x2, x3) in_order (pack_quarters (&limits, STAGE_LACKS_ZP (stage), x0, x1, x2, x3))
#define SUM(x, r) add_bytes (LPT_ADD_SINGLE, LPT_REQUANT_SINGLE, &params->sum, NULL, x, r)
#define BYTES_ROW(i)                                                                                         \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      __m512i x = nb == 4 ? PACK (c##i##_0, c##i##_1, c##i##_2, c##i##_3)                                    \
                          : PACK (c##i##_0, c##i##_1, c##i##_2, c##i##_2);                                   \
                                                                                                             \
      if (o->residual)                                                                                       \
        x = SUM (x, _mm512_maskz_loadu_epi8 (m64, o->residual + i * o->ldr));                                \
      if (columns == 64)                                                                                     \
        _mm512_storeu_si512 (out + i * o->ldo, x);                                                           \
      else                                                                                                   \
        _mm512_mask_storeu_epi8 (out + i * o->ldo, m64, x);                                                  \
    }
#define LOAD_32(i) (i < mr ? _mm256_maskz_loadu_epi8 (m32, o->residual + (i) * o->ldr) : _mm256_setzero_si256 ())
#define STORE_32(i, x) if (i < mr) _mm256_mask_storeu_epi8 (out + (i) * o->ldo, m32, x);
#define BYTES_TWO(i, k)                                                                                      \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      __m512i x = PACK (c##i##_0, c##i##_1, c##k##_0, c##k##_1);                                             \
                                                                                                             \
      if (o->residual)                                                                                       \
        x = SUM (x, _mm512_inserti64x4 (_mm512_castsi256_si512 (LOAD_32 (i)), LOAD_32 (k), 1));              \
      STORE_32 (i, _mm512_castsi512_si256 (x))                                                               \
      STORE_32 (k, _mm512_extracti64x4_epi64 (x, 1))                                                         \
    }
#define LOAD_16(i) (i < mr ? _mm_maskz_loadu_epi8 (m16, o->residual + (i) * o->ldr) : _mm_setzero_si128 ())
#define STORE_16(i, x) if (i < mr) _mm_mask_storeu_epi8 (out + (i) * o->ldo, m16, x);
#define BYTES_FOUR(i, j, k, m)                                                                               \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      __m512i x = PACK (c##i##_0, c##j##_0, c##k##_0, c##m##_0);                                             \
                                                                                                             \
      if (o->residual)                                                                                       \
        {                                                                                                    \
          __m512i r = _mm512_inserti32x4 (_mm512_castsi128_si512 (LOAD_16 (i)), LOAD_16 (j), 1);             \
                                                                                                             \
          x = SUM (x, _mm512_inserti32x4 (_mm512_inserti32x4 (r, LOAD_16 (k), 2), LOAD_16 (m), 3));          \
        }                                                                                                    \
      STORE_16 (i, _mm512_castsi512_si128 (x))                                                               \
      STORE_16 (j, _mm512_extracti32x4_epi32 (x, 1))                                                         \
      STORE_16 (k, _mm512_extracti32x4_epi32 (x, 2))                                                         \
      STORE_16 (m, _mm512_extracti32x4_epi32 (x, 3))                                                         \
    }
  if (nb >= 3)
    {
      const __mmask64 m64 = columns == 64 ? ~(__mmask64) 0 : ((__mmask64) 1 << columns) - 1;

      ROWS (BYTES_ROW)
    }
  else if (nb == 2)
    {
      const __mmask32 m32 = columns == 32 ? ~(__mmask32) 0 : ((__mmask32) 1 << columns) - 1;

      BYTES_TWO (0, 1) BYTES_TWO (2, 3) BYTES_TWO (4, 5) BYTES_TWO (6, 7) BYTES_TWO (8, 9) BYTES_TWO (10, 11)
    }
  else
    {
      const __mmask16 m16 = (__mmask16) ((1u << columns) - 1);

      BYTES_FOUR (0, 1, 2, 3) BYTES_FOUR (4, 5, 6, 7) BYTES_FOUR (8, 9, 10, 11)
    }
}

/* A function for each size of tile: the compiler finds registers for each alone. */
#define ROWS_TO_7(each, nb, ...)                                                                             \
  each (1, nb, __VA_ARGS__) each (2, nb, __VA_ARGS__) each (3, nb, __VA_ARGS__) each (4, nb, __VA_ARGS__)    \
  each (5, nb, __VA_ARGS__) each (6, nb, __VA_ARGS__) each (7, nb, __VA_ARGS__)
#define ROWS_TO_8(each, nb, ...) ROWS_TO_7 (each, nb, __VA_ARGS__) each (8, nb, __VA_ARGS__)
#define ROWS_TO_12(each, nb, ...)                                                                            \
  ROWS_TO_8 (each, nb, __VA_ARGS__) each (9, nb, __VA_ARGS__) each (10, nb, __VA_ARGS__)                     \
  each (11, nb, __VA_ARGS__) each (12, nb, __VA_ARGS__)
#define SIZES(each, ...)                                                                                     \
  ROWS_TO_12 (each, 1, __VA_ARGS__) ROWS_TO_12 (each, 2, __VA_ARGS__)                                        \
  ROWS_TO_8 (each, 3, __VA_ARGS__) ROWS_TO_7 (each, 4, __VA_ARGS__)
/* Tiles of all rows that a width has are most of a block. */
#define HALVES(each, ...) each (12, 1, __VA_ARGS__) each (12, 2, __VA_ARGS__) each (8, 3, __VA_ARGS__)

#define SUMS(mr, nb, name)                                                                                   \
  __attribute__ ((noinline)) static void name##_##nb##_##mr (const LptGemmTile *t, int32_t *acc)             \
  { tile (mr, nb, false, STAGE_NONE, t, acc, NULL, 0, NULL); }
#define ENTRY(mr, nb, name, ...) [nb - 1][mr - 1] = name##_##nb##_##mr,
SIZES (SUMS, tiles)
static void (*const tiles[4][12]) (const LptGemmTile *, int32_t *) = { SIZES (ENTRY, tiles) };

void
lpt_gemm_u8s8s32_7x64c4__avx512vnni (const LptGemmTile *t, int32_t *acc)
{
  tiles[t->nr / 16 - 1][t->mr - 1] (t, acc);
}

typedef void (*RunFused) (const LptGemmTile *t, const Params *params, size_t columns, const LptGemmOut *o);

#define FUSED(mr, nb, name, stage, half)                                                                     \
  __attribute__ ((noinline)) static void                                                                     \
  name##_##nb##_##mr (const LptGemmTile *t, const Params *params, size_t columns, const LptGemmOut *o)       \
  { tile (mr, nb, half, stage, t, NULL, params, columns, o); }
#define FUSED_BY(name, stage)                                                                                \
  SIZES (FUSED, name, stage, false)                                                                          \
  HALVES (FUSED, name##_half, stage, true)                                                                   \
  static const RunFused name[4][12] = { SIZES (ENTRY, name) };                                               \
  static const RunFused name##_half[4][12] = { HALVES (ENTRY, name##_half) };
FUSED_BY (by_one_fma, STAGE_ONE_FMA)
FUSED_BY (by_fma, STAGE_FMA)
FUSED_BY (by_float, STAGE_FLOAT)
FUSED_BY (by_single, STAGE_SINGLE)
FUSED_BY (as_words, STAGE_WORDS)

void
lpt_gemm_fused__avx512vnni (const LptGemmTile *t, const void *params, size_t columns, const LptGemmOut *o)
{
  static const RunFused *const whole[] = { [STAGE_ONE_FMA] = *by_one_fma, [STAGE_FMA] = *by_fma, [STAGE_FLOAT] = *by_float,
                                           [STAGE_SINGLE] = *by_single, [STAGE_WORDS] = *as_words };
  static const RunFused *const half[] = { [STAGE_ONE_FMA] = *by_one_fma_half, [STAGE_FMA] = *by_fma_half, [STAGE_FLOAT] = *by_float_half,
                                          [STAGE_SINGLE] = *by_single_half, [STAGE_WORDS] = *as_words_half };
  const int stage = ((const Params *) params)->stage;
  const size_t size = (t->nr / 16 - 1) * 12 + t->mr - 1;
  RunFused run = columns + 8 <= t->nr ? half[stage][size] : NULL;

  (run ? run : whole[stage][size]) (t, params, columns, o);
}

/* Sixteen columns from j on. */
INLINE void
set_block (int stage, Params *p, const LptEpilogue *e, size_t channel0, size_t j)
{
  const StageChannels s = stage_load (stage, e, channel0 + j);

  p->bias[j / 16] = s.bias;
  stage_vec (stage, e, &s, &p->v[j / 16]);
}

void
lpt_gemm_params__avx512vnni (const LptEpilogue *e, size_t channel0, size_t columns, void *params)
{
  Params *p = params;

  p->stage = stage_of_channels (e, channel0, columns);
  p->limits = pack_limits (e->zp, e->lo, e->hi);
  p->floats = e->store == LPT_STORE_F32;
  p->has_fbias = e->fbias != NULL;
  p->flo = _mm512_set1_ps (e->flo);
  p->fhi = _mm512_set1_ps (e->fhi);
  if (e->sum_fusable)
    p->sum = pair_sum (e->add);
  for (size_t j = 0; j < columns; j += 16)
    switch (p->stage)
      {
      case STAGE_ONE_FMA:
      case STAGE_FMA:   set_block (STAGE_FMA, p, e, channel0, j); break;
      case STAGE_FLOAT: set_block (STAGE_FLOAT, p, e, channel0, j); break;
      case STAGE_WORDS: set_block (STAGE_WORDS, p, e, channel0, j); break;
      default:          set_block (STAGE_SINGLE, p, e, channel0, j); break;
      }
}

void
lpt_gemm_one_row__avx512vnni (const LptGemmRow *row, size_t width, size_t channel, size_t columns)
{
  one_row (row, width, channel, columns);
}

/* avxvnni's tile. */
#define DPBUSD(sum, bytes, weights) _mm256_dpbusd_epi32 (sum, bytes, weights)
#include "executor/kernels/gemm/vnni256.h"

void
lpt_gemm_u8s8s32_6x16c4__avx512vnni (const LptGemmTile *t, int32_t *acc)
{
  tile_6x16 (t, acc);
}

void
lpt_gemm_interleave__avx512vnni (size_t n, const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out)
{
  interleave_128 (n, a, b, c, out);
}

void
lpt_gemm_row_sums__avx512vnni (size_t rows, size_t taps, size_t k, const uint8_t *const *a, size_t a_stride,
                               int32_t *sums)
{
  const __m512i ones = _mm512_set1_epi8 (1);

  for (size_t i = 0; i < rows; i++)
    {
      __m512i sum = _mm512_setzero_si512 ();

      for (size_t tap = 0; tap < taps; tap++)
        for (size_t p = 0; p < k; p += 64)
          {
            __mmask64 mask = k - p < 64 ? ((__mmask64) 1 << (k - p)) - 1 : ~(__mmask64) 0;

            sum = _mm512_dpbusd_epi32 (sum, _mm512_maskz_loadu_epi8 (mask, a[tap * a_stride + i] + p), ones);
          }
      sums[i] = _mm512_reduce_add_epi32 (sum);
    }
}

void
lpt_gemm_pack__avx512vnni (const LptGemmWeights *w, size_t n0, size_t n1, size_t nr, void *panel, int32_t *col_sum)
{
  size_t k4 = (w->k + 3) / 4;
  bool inside = taps_inside (w);

  if (w->k_inner || (w->n_stride != 1 && w->k_stride != 1 && !inside))
    {
      lpt_gemm_pack_panel_k4 (w, n0, n1, nr, panel, col_sum);
      return;
    }
  for (size_t j = 0; j < nr; j += 16)
    {
      size_t n = n0 + j >= n1 ? 0 : n1 - n0 - j < 16 ? n1 - n0 - j : 16;
      __m512i sum = _mm512_setzero_si512 ();

      if (inside)
        sum = pack_taps (w, n0 + j, n, (int8_t *) panel + j * 4, nr * 4, sum);
      for (size_t tap = 0; tap < w->taps && !inside; tap++)
        sum = pack_columns (w, tap, n0 + j, n, (int8_t *) panel + (tap * k4 * nr + j) * 4, nr * 4, sum);
      if (col_sum && n)
        _mm512_mask_storeu_epi32 (col_sum + n0 + j, (__mmask16) ((1u << n) - 1), sum);
    }
}
