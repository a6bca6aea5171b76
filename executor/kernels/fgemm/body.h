/* executor/kernels/fgemm/body.h - blocks of rows and columns in registers, compiled per instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/fgemm/end.h"
#include "executor/kernels/fgemm/body-groups.h"

/* ROWS rows of PANELS panels fill the registers. */
#if defined (__AVX512F__)
#define ROWS   14
#define PANELS 2
#elif defined (__AVX2__) || defined (__ARM_NEON)
#define ROWS   6
#define PANELS 1
#else
#define ROWS   1
#define PANELS 1
#endif
#define PARTS (LPT_FGEMM_PANEL / WIDTH)
/* Fewer rows of more panels load less for each product; a block's weights are read more often, so that is where there
 * are many rows, and a band of them all columns, and where those weights stay in the second cache. */
#if defined (__AVX512F__)
#define ROWS_OF_FOUR   6
#define ROWS_OF_THREE  8
#define BAND           24
#define MOST_STEPS     2048
#define MANY           4
#endif
/* A row or two meet more panels, so that enough chains run side by side. */
#if defined (__AVX512F__)
#define PANELS_OF_ONE 8
#define PANELS_OF_TWO 4
#elif defined (__AVX2__) || defined (__ARM_NEON)
#define PANELS_OF_ONE 4
#define PANELS_OF_TWO 2
#else
#define PANELS_OF_ONE 1
#define PANELS_OF_TWO 1
#endif
#define MAX_PANELS PANELS_OF_ONE
/* Sums in registers. */
#define SUMS (ROWS * PANELS > MAX_PANELS ? ROWS * PANELS * PARTS : MAX_PANELS * PARTS)

/* Half vectors of few columns: an instruction on a whole one may take twice as long. */
#if defined (__AVX512F__)
#define HAS_HALVES 1

INLINE H
low_half (V v)
{
  return (H) _mm512_castps512_ps256 ((__m512) v);
}

INLINE H
splat_half (float x)
{
  return (H) _mm256_set1_ps (x);
}

INLINE V
whole_of (H h)
{
  return (V) _mm512_castps256_ps512 ((__m256) h);
}

INLINE H
fused_half (H a, H b, H c)
{
  return (H) _mm256_fmadd_ps ((__m256) a, (__m256) b, (__m256) c);
}
#else
#define HAS_HALVES 0
#define low_half(v) ((H) { 0 })
#define splat_half(x) ((H) { 0 })
#define whole_of(h) splat (h[0])
#define fused_half(a, b, c) (c)
#endif

/* The first n lanes, others 0. */
INLINE V
load_some (const float *p, size_t n)
{
#if defined (__AVX512F__)
  return (V) _mm512_maskz_loadu_ps ((__mmask16) ((1u << n) - 1), p);
#else
  return load (p, n, 0.0f);
#endif
}

INLINE void
store_some (float *p, V v, size_t n)
{
#if defined (__AVX512F__)
  _mm512_mask_storeu_ps (p, (__mmask16) ((1u << n) - 1), (__m512) v);
#else
  store (p, v, n);
#endif
}

/* The end of a block: asked once for all what there is of it. `whole`, a constant: all of its columns exist; else those
 * of its last panel may not. */
INLINE void
end_block (const LptFgemmTile *t, size_t rows, size_t parts, bool whole, size_t row, size_t column, V *acc)
{
  const LptFgemmEnd *end = &t->end;
  const size_t left = t->n - column;

#define EACH(r, q)                                                                                                    \
  LPT_TILE_UNROLL                                                                                                     \
  for (size_t r = 0; r < rows; r++)                                                                                   \
    LPT_TILE_UNROLL                                                                                                   \
    for (size_t q = 0; q < parts; q++)
#define IS_WHOLE(q)  (whole || q + PARTS < parts)
#define LANES(q)     (left >= (q + 1) * WIDTH ? WIDTH : left > q * WIDTH ? left - q * WIDTH : 0)
#define LOAD(p, q)   (IS_WHOLE (q) ? load (p, WIDTH, 0.0f) : load_some (p, LANES (q)))
  if (end->factor)
    EACH (r, q)
      acc[r * parts + q] = acc[r * parts + q] * LOAD (end->factor + column + q * WIDTH, q);
  if (end->bias)
    EACH (r, q)
      acc[r * parts + q] = acc[r * parts + q] + LOAD (end->bias + column + q * WIDTH, q);
  if (end->residual)
    EACH (r, q)
      acc[r * parts + q] = acc[r * parts + q] +
                           LOAD (end->residual + (row + r) * end->ldr + column + q * WIDTH, q);
  if (end->clamps && !(end->lo > end->hi))
    EACH (r, q)
      acc[r * parts + q] = limit_lanes (acc[r * parts + q], end->lo, end->hi);
  else if (end->clamps)
    EACH (r, q)
      acc[r * parts + q] = clamp_lanes (acc[r * parts + q], end->lo, end->hi);
  EACH (r, q)
    if (IS_WHOLE (q))
      store (t->y + (row + r) * t->ldy + column + q * WIDTH, acc[r * parts + q], WIDTH);
    else if (LANES (q) > 0)
      store_some (t->y + (row + r) * t->ldy + column + q * WIDTH, acc[r * parts + q], LANES (q));
#undef LOAD
#undef LANES
#undef IS_WHOLE
#undef EACH
}

/* What the columns from `column`, the first of a panel, are multiplied with, and how far its steps are apart. */
INLINE const float *
weights_at (const LptFgemmTile *t, size_t column, size_t *step)
{
  *step = t->ldb > 0 ? t->ldb : LPT_FGEMM_PANEL;
  return t->b + column * (t->ldb > 0 ? 1 : t->channels * t->taps);
}

#if defined (BAND)
/* All steps of one tap where rows are few: registers hold where they lie. */
INLINE void
broad_steps (const LptFgemmTile *t, size_t rows, size_t parts, size_t row, size_t column, V *acc)
{
  size_t step, at = 0, next = LPT_FGEMM_PANEL * (t->ldb > 0 ? 1 : t->channels);
  const float *b = weights_at (t, column, &step), *x[ROWS_OF_THREE];

  LPT_TILE_UNROLL
  for (size_t r = 0; r < rows; r++)
    x[r] = t->a[row + r];
  for (size_t i = 0; i < t->channels; i++, b += step, at += t->a_step)
    {
      V w[MAX_PANELS];

      LPT_TILE_UNROLL
      for (size_t q = 0; q < parts; q++)
        w[q] = load (b + q * next, WIDTH, 0.0f);
      LPT_TILE_UNROLL
      for (size_t r = 0; r < rows; r++)
        {
          V v = splat (x[r][at]);

          LPT_TILE_UNROLL
          for (size_t q = 0; q < parts; q++)
            acc[r * parts + q] = fused (v, w[q], acc[r * parts + q]);
        }
    }
}

/* The steps of one tap that are whole groups of MANY, for one vector or half of one; returns how many. Loads bound such
 * blocks: where a row lies is read once for a group. */
INLINE size_t
narrow_steps (const LptFgemmTile *t, size_t rows, bool half, size_t row, size_t column, V *acc, H *acc_half)
{
  size_t step, done = 0;
  const float *b = weights_at (t, column, &step);

  for (size_t at = 0; done + MANY <= t->channels; done += MANY, at += MANY * t->a_step, b += MANY * step)
    {
      V w[MANY];
      H w_half[MANY];

      LPT_TILE_UNROLL
      for (size_t i = 0; i < MANY; i++)
        if (half)
          memcpy (&w_half[i], b + i * step, sizeof w_half[i]);
        else
          w[i] = load (b + i * step, WIDTH, 0.0f);
      LPT_TILE_UNROLL
      for (size_t r = 0; r < rows; r++)
        {
          const float *x = t->a[row + r] + at;

          LPT_TILE_UNROLL
          for (size_t i = 0; i < MANY; i++)
            if (half)
              acc_half[r] = fused_half (splat_half (x[i * t->a_step]), w_half[i], acc_half[r]);
            else
              acc[r] = fused (splat (x[i * t->a_step]), w[i], acc[r]);
        }
    }
  return done;
}
#endif

/* Rows from `row` on and columns from `column` on: `parts` vectors of them and, with `half`, half of one. All three are
 * constants. */
LPT_TILE void
block (const LptFgemmTile *t, size_t rows, size_t parts, bool half, size_t row, size_t column)
{
  const float *const *a = t->a + row, *const *from = a;
  size_t step, next = LPT_FGEMM_PANEL * (t->ldb > 0 ? 1 : t->channels * t->taps);
  size_t steps = t->channels * t->taps, done = 0;
  const float *b = weights_at (t, column, &step);
  const float *b_half = b + parts / PARTS * next + parts % PARTS * WIDTH;
  V acc[SUMS];
  H acc_half[ROWS];

  LPT_TILE_UNROLL
  for (size_t r = 0; r < rows; r++)
    {
      LPT_TILE_UNROLL
      for (size_t q = 0; q < parts; q++)
        acc[r * parts + q] = splat (0.0f);
      acc_half[r] = low_half (splat (0.0f));
    }
#if defined (BAND)
  if (t->taps == 1 && rows <= ROWS_OF_THREE && parts >= 3)
    {
      broad_steps (t, rows, parts, row, column, acc);
      done = steps;
    }
  if (t->taps == 1 && parts + half == 1)
    done = narrow_steps (t, rows, half, row, column, acc, acc_half);
#endif
  /* One loop over taps and channels, as most products have one tap. */
  b += done * step;
  b_half += done * step;
  for (size_t tap = 0, at = done * t->a_step; done < steps; done++, b += step, b_half += step)
    {
      V w[MAX_PANELS * PARTS];
      H w_half;

      LPT_TILE_UNROLL
      for (size_t q = 0; q < parts; q++)
        w[q] = load (b + q / PARTS * next + q % PARTS * WIDTH, WIDTH, 0.0f);
      if (half)
        memcpy (&w_half, b_half, sizeof w_half);
      LPT_TILE_UNROLL
      for (size_t r = 0; r < rows; r++)
        {
          V x = splat (from[r][at]);

          LPT_TILE_UNROLL
          for (size_t q = 0; q < parts; q++)
            acc[r * parts + q] = fused (x, w[q], acc[r * parts + q]);
          if (half)
            acc_half[r] = fused_half (parts > 0 ? low_half (x) : splat_half (from[r][at]), w_half, acc_half[r]);
        }
      from += t->a_rows;
      if (++tap == t->taps)
        {
          tap = 0;
          from = a;
          at += t->a_step;
        }
    }
  if (half)
    {
      V all[2 * ROWS];

      LPT_TILE_UNROLL
      for (size_t r = 0; r < rows; r++)
        {
          LPT_TILE_UNROLL
          for (size_t q = 0; q < parts; q++)
            all[r * (parts + 1) + q] = acc[r * parts + q];
          all[r * (parts + 1) + parts] = whole_of (acc_half[r]);
        }
      end_block (t, rows, parts + 1, false, row, column, all);
    }
  else if (t->n - column >= parts * WIDTH)
    end_block (t, rows, parts, true, row, column, acc);
  else
    end_block (t, rows, parts, false, row, column, acc);
}

/* A function for each size of block: the compiler finds registers for each alone. */
typedef void (*RunBlock) (const LptFgemmTile *t, size_t row, size_t column);

#define BLOCK(rows, name, parts, half)                                                                               \
  __attribute__ ((noinline)) static void name##_##rows (const LptFgemmTile *t, size_t row, size_t column)            \
  { block (t, rows, parts, half, row, column); }
#if ROWS > 6
#define ROWS_7_TO_14(each, ...)                                                                                      \
  each (7, __VA_ARGS__) each (8, __VA_ARGS__) each (9, __VA_ARGS__) each (10, __VA_ARGS__) each (11, __VA_ARGS__)    \
  each (12, __VA_ARGS__) each (13, __VA_ARGS__) each (14, __VA_ARGS__)
#else
#define ROWS_7_TO_14(each, ...)
#endif
#if ROWS > 1
#define ROWS_2_TO_6(each, ...)                                                                                       \
  each (2, __VA_ARGS__) each (3, __VA_ARGS__) each (4, __VA_ARGS__) each (5, __VA_ARGS__) each (6, __VA_ARGS__)
#else
#define ROWS_2_TO_6(each, ...)
#endif
#define ENTRY(rows, name, ...) [rows] = name##_##rows,
/* name[rows], 1 to ROWS of them. */
#define BLOCKS(name, parts, half)                                                                                    \
  BLOCK (1, name, parts, half) ROWS_2_TO_6 (BLOCK, name, parts, half) ROWS_7_TO_14 (BLOCK, name, parts, half)        \
  static const RunBlock name[ROWS + 1] = { [1] = name##_1, ROWS_2_TO_6 (ENTRY, name) ROWS_7_TO_14 (ENTRY, name) };

BLOCKS (one_panel, PARTS, false)
#if PANELS > 1
BLOCKS (all_panels, PANELS * PARTS, false)
#endif
#if HAS_HALVES
BLOCKS (half, 0, true)
BLOCKS (one_and_half, 1, true)
#elif PARTS == 2
BLOCKS (one_vector, 1, false)
#endif

/* One block of as many rows as there are, up to ROWS; returns how many. What is left of the columns takes as many
 * vectors as it fills. */
INLINE size_t
block_at (const LptFgemmTile *t, size_t row, size_t column)
{
  const size_t left = t->n - column, rows = t->m - row < ROWS ? t->m - row : ROWS;

  (void) left;
#if HAS_HALVES
  if (left <= HALF)
    half[rows] (t, row, column);
  else if (left > WIDTH && left <= WIDTH + HALF)
    one_and_half[rows] (t, row, column);
  else
#elif PARTS == 2
  if (left <= WIDTH)
    one_vector[rows] (t, row, column);
  else
#endif
#if PANELS > 1
  if (left > LPT_FGEMM_PANEL)
    all_panels[rows] (t, row, column);
  else
#endif
    one_panel[rows] (t, row, column);
  return rows;
}

#if PANELS_OF_ONE > PANELS
BLOCK (1, wide_of_one, PANELS_OF_ONE * PARTS, false)
BLOCK (1, wide_of_two, PANELS_OF_TWO * PARTS, false)
BLOCK (2, wide_of_two, PANELS_OF_TWO * PARTS, false)
#endif

/* All of a tile of a row or two but for the last columns; returns how many columns. */
INLINE size_t
wide_blocks (const LptFgemmTile *t)
{
  size_t column = 0;

#if PANELS_OF_ONE > PANELS
  const size_t one = PANELS_OF_ONE * LPT_FGEMM_PANEL, two = PANELS_OF_TWO * LPT_FGEMM_PANEL;

  if (t->m == 1)
    for (; t->n - column > one - LPT_FGEMM_PANEL; column += one < t->n - column ? one : t->n - column)
      wide_of_one_1 (t, 0, column);
  if (t->m == 1 || t->m == 2)
    for (; t->n - column > two - LPT_FGEMM_PANEL; column += two < t->n - column ? two : t->n - column)
      (t->m == 1 ? wide_of_two_1 : wide_of_two_2) (t, 0, column);
#endif
  return column;
}

#if defined (BAND)
/* How many panels the next block takes of those from `column` on: four or three, or 0 where one or two are left. */
INLINE size_t
broad_panels (const LptFgemmTile *t, size_t column)
{
  const size_t left = column < t->n ? t->n - column : 0;
  const size_t panels = (left + LPT_FGEMM_PANEL - 1) / LPT_FGEMM_PANEL;

  return panels < 3 ? 0 : panels == 3 || panels == 5 || panels == 6 ? 3 : 4;
}

BLOCK (1, broad_of_three, 3 * PARTS, false)
BLOCK (7, broad_of_three, 3 * PARTS, false)
BLOCK (8, broad_of_three, 3 * PARTS, false)
BLOCK (1, broad_of_four, 4 * PARTS, false)
ROWS_2_TO_6 (BLOCK, broad_of_three, 3 * PARTS, false)
ROWS_2_TO_6 (BLOCK, broad_of_four, 4 * PARTS, false)
static const RunBlock broad_of_three[ROWS_OF_THREE + 1] = { [1] = broad_of_three_1, ROWS_2_TO_6 (ENTRY, broad_of_three)
                                                            [7] = broad_of_three_7, [8] = broad_of_three_8 };
static const RunBlock broad_of_four[ROWS_OF_FOUR + 1] = { [1] = broad_of_four_1, ROWS_2_TO_6 (ENTRY, broad_of_four) };

/* One block of at most `limit` rows; returns how many. */
INLINE size_t
broad_block (const LptFgemmTile *t, size_t panels, size_t row, size_t limit, size_t column)
{
  const size_t most = panels == 4 ? ROWS_OF_FOUR : ROWS_OF_THREE;
  const size_t rows = limit > most ? limit == most + 1 ? (limit + 1) / 2 : most : limit;

  (panels == 4 ? broad_of_four : broad_of_three)[rows] (t, row, column);
  return rows;
}
#endif

/* Blocks of four and three panels from column `first` on; returns the column behind them. */
INLINE size_t
broad_columns (const LptFgemmTile *t, size_t first)
{
#if defined (BAND)
  const size_t band = t->by_rows ? BAND : t->m;
  size_t column = first;

  if (t->m < BAND || t->channels * t->taps > MOST_STEPS)
    return first;
  for (size_t from = 0; from < t->m; from += band)
    {
      const size_t end = t->m - from < band ? t->m : from + band;
      size_t panels;

      for (column = first; (panels = broad_panels (t, column)) > 0; column += panels * LPT_FGEMM_PANEL)
        for (size_t row = from; row < end; )
          row += broad_block (t, panels, row, end - row, column);
    }
  return column < t->n ? column : t->n;
#else
  return first;
#endif
}

void
LPT_FN (lpt_fgemm) (const LptFgemmTile *t)
{
  size_t rows = 0, first = 0;

  if (t->group > 0)
    {
      group_blocks (t);
      return;
    }
  first = broad_columns (t, wide_blocks (t));
  if (t->by_rows)
    for (size_t row = 0; row < t->m && first < t->n; row += rows)
      for (size_t column = first; column < t->n; column += PANELS * LPT_FGEMM_PANEL)
        rows = block_at (t, row, column);
  else
    for (size_t column = first; column < t->n; column += PANELS * LPT_FGEMM_PANEL)
      for (size_t row = 0; row < t->m; row += rows)
        rows = block_at (t, row, column);
}
