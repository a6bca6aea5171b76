/* executor/kernels/transpose/avx2.c - transposes in blocks of 16 x 16 bytes, 8 x 8 halves and 8 x 4 words
 *
 * Interleaving register i with register i + 8 rotates the eight bits of an element's place (row, column) by one; four
 * times exchange rows and columns. The last block of a side overlaps the one before it; what is narrower than a block
 * goes through a square of its own, or, two or three rows or columns that lie dense, through narrow.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/transpose/transpose.h"

#include <string.h>

#include "executor/kernels/transpose/narrow.h"
#include "executor/kernels/transpose/squares.h"

#define SIDE 16
/* Below this many rows or columns an edge block is mostly empty. */
#define FEW 4

static inline void
interleave (const __m128i *in, __m128i *out)
{
  for (int i = 0; i < 8; i++)
    {
      out[2 * i] = _mm_unpacklo_epi8 (in[i], in[i + 8]);
      out[2 * i + 1] = _mm_unpackhi_epi8 (in[i], in[i + 8]);
    }
}

static inline void
transpose_square (const uint8_t *in, size_t ldi, uint8_t *out, size_t ldo)
{
  __m128i a[SIDE], b[SIDE];

  for (size_t i = 0; i < SIDE; i++)
    a[i] = _mm_loadu_si128 ((const __m128i *) (const void *) (in + i * ldi));
  interleave (a, b);
  interleave (b, a);
  interleave (a, b);
  interleave (b, a);
  for (size_t i = 0; i < SIDE; i++)
    _mm_storeu_si128 ((__m128i *) (void *) (out + i * ldo), a[i]);
}

static void
transpose_edge (size_t rows, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out, size_t ldo)
{
  uint8_t from[SIDE * SIDE] = { 0 }, to[SIDE * SIDE];

  if (rows < FEW || cols < FEW)
    {
      for (size_t c = 0; c < cols; c++)
        for (size_t r = 0; r < rows; r++)
          out[c * ldo + r] = in[r * ldi + c];
      return;
    }
  for (size_t r = 0; r < rows; r++)
    memcpy (from + r * SIDE, in + r * ldi, cols);
  transpose_square (from, SIDE, to, SIDE);
  for (size_t c = 0; c < cols; c++)
    memcpy (out + c * ldo, to + c * SIDE, rows);
}

/* Where the square at @at begins: the last one covers some of the one before it again, if there is one. */
static inline size_t
square_at (size_t at, size_t size)
{
  return at + SIDE <= size || size < SIDE ? at : size - SIDE;
}

void
lpt_transpose_bytes__avx2 (size_t rows, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out, size_t ldo)
{
  size_t done = 0;

  if (rows == ldo && rows == 2)
    done = join_two_bytes (cols, in, ldi, out);
  else if (rows == ldo && rows == 3)
    done = join_three_bytes (cols, in, ldi, out);
  if (done > 0)
    {
      in += done;
      out += done * ldo;
      cols -= done;
    }
  else if (cols == ldi && (cols == 2 || cols == 3))
    {
      done = cols == 2 ? part_two_bytes (rows, in, out, ldo) : part_three_bytes (rows, in, out, ldo);
      in += done * ldi;
      out += done;
      rows -= done;
    }
  for (size_t i = 0; i < rows; i += SIDE)
    for (size_t j = 0; j < cols; j += SIDE)
      {
        size_t r = square_at (i, rows), c = square_at (j, cols);

        if (rows >= SIDE && cols >= SIDE)
          transpose_square (in + r * ldi + c, ldi, out + c * ldo + r, ldo);
        else
          transpose_edge (rows < SIDE ? rows : SIDE, cols < SIDE ? cols : SIDE, in + r * ldi + c, ldi,
                          out + c * ldo + r, ldo);
      }
}

/* The same with eight registers of eight halves, three times. */
static inline void
interleave_halves (const __m128i *in, __m128i *out)
{
  for (int i = 0; i < 4; i++)
    {
      out[2 * i] = _mm_unpacklo_epi16 (in[i], in[i + 4]);
      out[2 * i + 1] = _mm_unpackhi_epi16 (in[i], in[i + 4]);
    }
}

static inline void
transpose_halves (const uint16_t *in, size_t ldi, uint16_t *out, size_t ldo)
{
  __m128i a[8], b[8];

  for (size_t i = 0; i < 8; i++)
    a[i] = load_16 (in + i * ldi);
  interleave_halves (a, b);
  interleave_halves (b, a);
  interleave_halves (a, b);
  for (size_t i = 0; i < 8; i++)
    store_16 (out + i * ldo, b[i]);
}

void
lpt_transpose_halves__avx2 (size_t rows, size_t cols, const uint16_t *in, size_t ldi, uint16_t *out, size_t ldo)
{
  const size_t whole_rows = rows / 8 * 8, whole_cols = cols / 8 * 8;

  for (size_t r0 = 0; r0 < whole_rows; r0 += 2 * SIDE)
    for (size_t c = 0; c < whole_cols; c += 8)
      for (size_t r = r0; r < r0 + 2 * SIDE && r < whole_rows; r += 8)
        transpose_halves (in + r * ldi + c, ldi, out + c * ldo + r, ldo);
  for (size_t c = 0; c < cols; c++)
    for (size_t r = c < whole_cols ? whole_rows : 0; r < rows; r++)
      out[c * ldo + r] = in[r * ldi + c];
}

static inline __m128
load_words (const uint32_t *p)
{
  return _mm_loadu_ps ((const float *) (const void *) p);
}

static inline void
store_words (uint32_t *p, __m128 x)
{
  _mm_storeu_ps ((float *) (void *) p, x);
}

/* Columns of three words; returns how many it has done. A store reaches into the next column, which is written after
 * it. */
static size_t
transpose_three (size_t cols, const uint32_t *in, size_t ldi, uint32_t *out)
{
  size_t c = 0;

  for (; c + 4 < cols; c += 4, in += 4, out += 12)
    {
      __m128 a = load_words (in), b = load_words (in + ldi), d = load_words (in + 2 * ldi), e = _mm_setzero_ps ();

      _MM_TRANSPOSE4_PS (a, b, d, e);
      store_words (out, a);
      store_words (out + 3, b);
      store_words (out + 6, d);
      store_words (out + 9, e);
    }
  return c;
}

/* Four words of each of eight rows */
static inline void
transpose_eight (const uint32_t *in, size_t ldi, uint32_t *out, size_t ldo)
{
  __m256 a[4], b[4];

  for (size_t i = 0; i < 4; i++)
    a[i] = _mm256_insertf128_ps (_mm256_castps128_ps256 (load_words (in + i * ldi)), load_words (in + (i + 4) * ldi),
                                 1);
  b[0] = _mm256_unpacklo_ps (a[0], a[1]);
  b[1] = _mm256_unpackhi_ps (a[0], a[1]);
  b[2] = _mm256_unpacklo_ps (a[2], a[3]);
  b[3] = _mm256_unpackhi_ps (a[2], a[3]);
  a[0] = _mm256_shuffle_ps (b[0], b[2], 0x44);
  a[1] = _mm256_shuffle_ps (b[0], b[2], 0xee);
  a[2] = _mm256_shuffle_ps (b[1], b[3], 0x44);
  a[3] = _mm256_shuffle_ps (b[1], b[3], 0xee);
  for (size_t i = 0; i < 4; i++)
    _mm256_storeu_ps ((float *) (void *) (out + i * ldo), a[i]);
}

static inline void
transpose_four (const uint32_t *in, size_t ldi, uint32_t *out, size_t ldo)
{
  __m128 a = load_words (in), b = load_words (in + ldi), c = load_words (in + 2 * ldi), d = load_words (in + 3 * ldi);

  _MM_TRANSPOSE4_PS (a, b, c, d);
  store_words (out, a);
  store_words (out + ldo, b);
  store_words (out + 2 * ldo, c);
  store_words (out + 3 * ldo, d);
}

void
lpt_transpose_words__avx2 (size_t rows, size_t cols, const uint32_t *in, size_t ldi, uint32_t *out, size_t ldo)
{
  size_t whole_rows = rows / 4 * 4, whole_cols = cols / 4 * 4, done = 0;
  const WordSquare square = word_square (ldi, ldo);

  if (rows == ldo && rows == 2)
    done = join_two_words (cols, in, ldi, out);
  else if (rows == ldo && rows == 3)
    done = transpose_three (cols, in, ldi, out);
  else if (cols == ldi && (cols == 2 || cols == 3))
    {
      size_t first = cols == 2 ? part_two_words (rows, in, out, ldo) : part_three_words (rows, in, out, ldo);

      in += first * ldi;
      out += first;
      rows -= first;
      whole_rows = 0;
    }

  for (size_t r0 = 0; r0 < whole_rows; r0 += square.rows)
    for (size_t c = 0; c < whole_cols; c += square.cols)
      {
        const size_t end = whole_rows - r0 < square.rows ? whole_rows : r0 + square.rows;
        const size_t edge = whole_cols - c < square.cols ? whole_cols : c + square.cols;
        size_t r = r0;

        for (; end - r >= 8; r += 8)
          for (size_t k = c; k < edge; k += 4)
            transpose_eight (in + r * ldi + k, ldi, out + k * ldo + r, ldo);
        for (size_t k = c; r < end && k < edge; k += 4)
          transpose_four (in + r * ldi + k, ldi, out + k * ldo + r, ldo);
      }
  for (size_t c = done; c < cols; c++)
    for (size_t r = c < whole_cols ? whole_rows : 0; r < rows; r++)
      out[c * ldo + r] = in[r * ldi + c];
}
