/* executor/kernels/eltwise/affine.h - sums and products with parameters for each column, in plain C, compiled per
 * instruction set
 *
 * Part of body.h. Operands become int32 without their zero points, a block of columns at a time; the block is computed
 * in 64 bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define AFFINE_BLOCK 256

INLINE void
affine_load_bytes (size_t n, const uint8_t *in, const int32_t *zero, bool same, int32_t *out)
{
  for (size_t j = 0; j < n; j++)
    out[j] = (int32_t) in[j] - zero[same ? 0 : j];
}

INLINE void
affine_load_words (size_t n, const int32_t *in, const int32_t *zero, bool same, int32_t *out)
{
  for (size_t j = 0; j < n; j++)
    {
      int64_t x = (int64_t) in[j] - zero[same ? 0 : j];

      x = x < -LPT_AFFINE_LIMIT ? -LPT_AFFINE_LIMIT : x;
      out[j] = (int32_t) (x > LPT_AFFINE_LIMIT ? LPT_AFFINE_LIMIT : x);
    }
}

INLINE void
affine_block (LptAffine p, bool product, bool same, size_t at, size_t n, const int32_t *x, const int32_t *y, uint8_t *out)
{
  for (size_t j = 0; j < n; j++)
    {
      const size_t c = same ? 0 : at + j;
      const int64_t lo = (int64_t) p.lo - p.zp[c], hi = (int64_t) p.hi - p.zp[c];
      int64_t v;

      if (product)
        {
          int64_t xy = (int64_t) x[j] * y[j];

          xy = xy < -LPT_AFFINE_LIMIT ? -LPT_AFFINE_LIMIT : xy;
          xy = xy > LPT_AFFINE_LIMIT ? LPT_AFFINE_LIMIT : xy;
          v = (int64_t) p.m1[c] * (int32_t) xy;
        }
      else
        v = (int64_t) p.m1[c] * x[j] + (int64_t) p.m2[c] * y[j];
      v = (v + p.bias[c]) >> p.shift[c];
      v = v < lo ? lo : v;
      v = v > hi ? hi : v;
      out[j] = (uint8_t) (v + p.zp[c]);
    }
}

INLINE void
affine_load (LptAffine p, bool words, size_t at, size_t n, const uint8_t *in, const int32_t *zero, int32_t *out)
{
  const int32_t *z = p.same ? zero : zero + at;

  if (words && p.same)
    affine_load_words (n, (const int32_t *) (const void *) in + at, z, true, out);
  else if (words)
    affine_load_words (n, (const int32_t *) (const void *) in + at, z, false, out);
  else if (p.same)
    affine_load_bytes (n, in + at, z, true, out);
  else
    affine_load_bytes (n, in + at, z, false, out);
}

void
LPT_FN (lpt_eltwise_affine) (const LptAffine *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, const uint8_t *b, size_t ldb,
                             uint8_t *out, size_t ldo)
{
  int32_t x[AFFINE_BLOCK], y[AFFINE_BLOCK];

  for (size_t i = 0; i < rows; i++, a += lda, b += ldb, out += ldo)
    for (size_t at = 0; at < cols; at += AFFINE_BLOCK)
      {
        const size_t n = cols - at < AFFINE_BLOCK ? cols - at : AFFINE_BLOCK;

        affine_load (*p, p->words_a, at, n, a, p->za, x);
        affine_load (*p, p->words_b, at, n, b, p->zb, y);
        if (p->product && p->same)
          affine_block (*p, true, true, at, n, x, y, out + at);
        else if (p->product)
          affine_block (*p, true, false, at, n, x, y, out + at);
        else if (p->same)
          affine_block (*p, false, true, at, n, x, y, out + at);
        else
          affine_block (*p, false, false, at, n, x, y, out + at);
      }
}
