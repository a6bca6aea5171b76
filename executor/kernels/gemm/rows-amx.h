/* executor/kernels/gemm/rows-amx.h - groups of rows for AMX tiles: how they are cut, read in place or copied
 *
 * amx.c says which groups are copied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/gemm/gemm.h"
#include "executor/kernels/requant/avx512.h"

/* Lines shorter than SHORT are not told apart. PANELS are worth a copy of rows that cross lines of the cache. Up to LATE steps
 * leave the bias to the stage. PIECES: taps that a line of a copy has at most. */
enum { ROWS = 16, STEP = 64, PAIR = 2 * ROWS, WIDE = 32, SHORT = 12, PANELS = 4, LATE = 2, PIECES = 5 };

/* Rows of one tile: where they begin in each tap, how far apart they are, and the same for their last step. */
typedef struct {
  const uint8_t *const *at;       /* every tap_stride of the sweep */
  const uint8_t        *own;      /* of a group with one tap or copied */
  const uint8_t        *last;
  ptrdiff_t             pitch, last_pitch;
  size_t                rows, first;  /* its first row in the block */
} Group;

static size_t
round_up (size_t n, size_t to)
{
  return (n + to - 1) / to * to;
}

/* Bytes of a row with all its taps, as panels have them. */
static size_t
row_bytes (size_t taps, size_t k)
{
  return taps * round_up (k, 4);
}

/* From row to row of a copy of `bytes`: odd lines, so that the rows of a tile are in different sets of the cache. */
static size_t
copy_pitch (size_t bytes)
{
  return ((bytes + STEP - 1) / STEP | 1) * STEP;
}

static size_t
sweep_bytes (bool dense, size_t rows, size_t taps, size_t k)
{
  const bool in_place = dense && k % STEP == 0;
  size_t groups = dense ? (rows + ROWS - 1) / ROWS : rows / (SHORT / 2) + 4, whole = ROWS * copy_pitch (row_bytes (taps, k));

  /* What is in place may still begin within a line: then only its last group is copied. */
  return round_up (groups * sizeof (Group), 64) + (in_place ? groups * ROWS * STEP + whole : groups * whole) + STEP;
}

/* Copies rows, tap by tap, with zeros behind them up to `bytes`, a multiple of STEP. */
static void
copy_rows (size_t rows, size_t taps, size_t k, const uint8_t *const *ptr, size_t ptr_stride, uint8_t *to, size_t bytes,
           size_t pitch)
{
  const size_t tap_bytes = round_up (k, 4), whole = k / STEP * STEP;
  const __mmask64 rest = ((__mmask64) 1 << (k - whole)) - 1;

  /* Short ends are written as half a register, which the next tap writes over; the last one must not reach the next row. */
  const bool in_halves = k - whole <= STEP / 2 && (taps - 1) * tap_bytes + whole + STEP / 2 <= bytes;

  if (taps * tap_bytes < bytes || tap_bytes > k)
    for (size_t i = 0; i < rows; i++)
      _mm512_storeu_si512 (to + i * pitch + bytes - STEP, _mm512_setzero_si512 ());
  for (size_t tap = 0; tap < taps; tap++, ptr += ptr_stride, to += tap_bytes)
    {
      for (size_t p = 0; p < whole; p += STEP)
        for (size_t i = 0; i < rows; i++)
          _mm512_storeu_si512 (to + i * pitch + p, _mm512_loadu_si512 (ptr[i] + p));
      if (in_halves && rest)
        for (size_t i = 0; i < rows; i++)
          _mm256_storeu_si256 ((__m256i *) (void *) (to + i * pitch + whole),
                               _mm512_castsi512_si256 (_mm512_maskz_loadu_epi8 (rest, ptr[i] + whole)));
      for (size_t i = 0; i < rows && rest && !in_halves; i++)
        _mm512_mask_storeu_epi8 (to + i * pitch + whole, rest, _mm512_maskz_loadu_epi8 (rest, ptr[i] + whole));
    }
}

/* One line of each row's copy, from n taps, a constant. */
INLINE void
compose_line (size_t rows, size_t n, const uint8_t *const *const *from, const __m512i *index, const __mmask64 *mask,
              uint8_t *to, size_t pitch)
{
  for (size_t i = 0; i < rows; i++, to += pitch)
    {
      __m512i x = _mm512_setzero_si512 ();

      for (size_t j = 0; j < n; j++)
        x = _mm512_mask_permutexvar_epi8 (x, mask[j], index[j], _mm512_loadu_si512 (from[j][i]));
      _mm512_store_si512 (to, x);
    }
}

/* Whether copies can be composed: taps are short, but no more than PIECES of them in a line, and a whole line can be read where
 * one begins. */
static bool
composes (const LptGemmBlock *b)
{
  return b->line_over && b->k <= STEP && round_up (b->k, 4) * (PIECES - 1) >= STEP - 1;
}

/* copy_rows () line by line, each made in a register and written once. */
static void
compose_rows (size_t rows, size_t taps, size_t k, const uint8_t *const *ptr, size_t ptr_stride, uint8_t *to, size_t bytes,
              size_t pitch)
{
  static const uint8_t count[STEP] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                       22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
                                       44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63 };
  const size_t tap_bytes = round_up (k, 4);

  for (size_t line = 0; line < bytes; line += STEP, to += STEP)
    {
      const uint8_t *const *from[PIECES];
      __m512i index[PIECES];
      __mmask64 mask[PIECES];
      size_t n = 0;

      for (size_t tap = line / tap_bytes; tap < taps && tap * tap_bytes < line + STEP; tap++)
        {
          const size_t at = tap * tap_bytes, begin = at > line ? at - line : 0, end = at + k < line + STEP ? at + k - line : STEP;

          /* The line may begin in what rounds the tap up. */
          if (at + k <= line)
            continue;
          from[n] = ptr + tap * ptr_stride;
          index[n] = _mm512_sub_epi8 (_mm512_loadu_si512 (count), _mm512_set1_epi8 ((char) (at - line)));
          mask[n++] = (~(__mmask64) 0 >> (STEP - (end - begin))) << begin;
        }
      switch (n)
        {
        case 1:  compose_line (rows, 1, from, index, mask, to, pitch); break;
        case 2:  compose_line (rows, 2, from, index, mask, to, pitch); break;
        case 3:  compose_line (rows, 3, from, index, mask, to, pitch); break;
        case 4:  compose_line (rows, 4, from, index, mask, to, pitch); break;
        default: compose_line (rows, n, from, index, mask, to, pitch); break;
        }
    }
}

/* Whether n pointers, readable up to sixteen, are equally far apart. */
static bool
is_regular (const uint8_t *const *ptr, size_t n)
{
  const __m512i step = _mm512_set1_epi64 (n > 1 ? ptr[1] - ptr[0] : 0), index = _mm512_setr_epi64 (0, 1, 2, 3, 4, 5, 6, 7);
  const unsigned real = (1u << n) - 1;
  __m512i at = _mm512_add_epi64 (_mm512_set1_epi64 ((long long) (uintptr_t) ptr[0]), _mm512_mullo_epi64 (step, index));
  unsigned same = _mm512_mask_cmpeq_epi64_mask ((__mmask8) real, at, _mm512_maskz_loadu_epi64 ((__mmask8) real, ptr));

  at = _mm512_add_epi64 (at, _mm512_slli_epi64 (step, 3));
  same |= (unsigned) _mm512_mask_cmpeq_epi64_mask ((__mmask8) (real >> 8), at, _mm512_maskz_loadu_epi64 ((__mmask8) (real >> 8), ptr + 8)) << 8;
  return same == real;
}

/* Most rows of a group: those of a line are dealt evenly. */
static size_t
group_rows (const LptGemmBlock *b)
{
  size_t groups = (b->line + ROWS - 1) / ROWS;

  return b->line >= SHORT ? (b->line + groups - 1) / groups : ROWS;
}

/* Cuts rows [first, end) of the block into groups. */
static size_t
cut_groups (const LptGemmBlock *b, size_t first, size_t end, Group *groups)
{
  const size_t most = group_rows (b);
  size_t n = 0;

  while (first < end)
    {
      size_t line = b->line < SHORT ? end - first : first < b->line_first ? b->line_first - first : b->line - (first - b->line_first) % b->line;
      size_t rows = line < most ? line : most;

      rows = rows < end - first ? rows : end - first;
      groups[n].first = first;
      groups[n++].rows = rows;
      first += rows;
    }
  return n;
}

/* The equal steps that a tap's k can be cut into without many more of them; 0: none. */
static size_t
tap_step (size_t k)
{
  const size_t least = (k + STEP - 1) / STEP;

  for (size_t n = least; n <= least + least / 8; n++)
    if (k % (4 * n) == 0)
      return k / n;
  return 0;
}

/* Whether all rows can be read in their place, tap by tap. */
static bool
is_direct (const LptGemmBlock *b, const Group *groups, size_t n, const uint8_t *const *ptr, size_t ptr_stride)
{
  const size_t most = group_rows (b);

  for (size_t g = 0; g < n; ptr += groups[g++].rows)
    {
      if (groups[g].rows < most && !b->line_over)
        return false;
      for (size_t tap = 0; tap < b->taps; tap++)
        if (!is_regular (ptr + tap * ptr_stride, groups[g].rows))
          return false;
    }
  return true;
}

/* Whether `columns` are worth a copy of rows of one tap, which has whole lines. */
static bool
is_worth_lines (const LptGemmBlock *b, const uint8_t *const *ptr, size_t rows, size_t columns)
{
  return b->taps == 1 && b->k % STEP != 0 && rows > 1 && columns >= PANELS * WIDE && (ptr[1] - ptr[0]) % STEP != 0;
}
