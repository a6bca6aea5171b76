/* executor/kernels/fgemm/body-groups.h - panels of several small groups, each with channels of its own
 *
 * A vector has columns of one group or of several. Lanes take the channel of their group from a vector of all channels
 * that these groups have, so that no lane is idle where groups are narrower than a panel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

/* Rows of a block: twice as many on 512 bits, where a panel is one vector. */
#if defined (__AVX512F__)
#define GROUP_ROWS 8
#else
#define GROUP_ROWS 4
#endif
#define GROUP_PARTS (LPT_FGEMM_PANEL / WIDTH)

/* What the lanes of a vector are: one group; some whole ones whose channels fill a vector, too; some with fewer. */
typedef enum { LANES_ONE, LANES_FULL, LANES_SOME } Lanes;

/* Channel i of the groups whose channels begin at x, `n` of them; lanes: where it is. */
INLINE V
group_lanes (Lanes how, const float *x, size_t i, size_t n, I lanes)
{
  return how == LANES_ONE ? splat (x[i]) : pick (load (x, how == LANES_FULL ? WIDTH : n, 0.0f), lanes);
}

/* `rows` and `how` are constants. */
LPT_TILE void
group_block (const LptFgemmTile *t, size_t rows, Lanes how, size_t row, size_t column)
{
  const float *b = t->b + column * t->channels * t->taps;
  size_t left = t->n - column, first[GROUP_PARTS], n[GROUP_PARTS];
  V acc[GROUP_ROWS * GROUP_PARTS];
  I lanes;

  for (size_t l = 0; l < WIDTH; l++)
    lanes[l] = (int32_t) (l / t->group * t->channels);
  LPT_TILE_UNROLL
  for (size_t q = 0; q < GROUP_PARTS; q++)
    {
      size_t columns = left <= q * WIDTH ? 0 : left - q * WIDTH < WIDTH ? left - q * WIDTH : WIDTH;

      first[q] = columns == 0 ? 0 : (column + q * WIDTH) / t->group * t->channels;
      n[q] = (columns + t->group - 1) / t->group * t->channels;
    }
  LPT_TILE_UNROLL
  for (size_t r = 0; r < rows; r++)
    LPT_TILE_UNROLL
    for (size_t q = 0; q < GROUP_PARTS; q++)
      acc[r * GROUP_PARTS + q] = splat (0.0f);
  for (size_t i = 0; i < t->channels; i++, lanes += 1)
    {
      const float *const *from = t->a + row;

      for (size_t tap = 0; tap < t->taps; tap++, from += t->a_rows, b += LPT_FGEMM_PANEL)
        {
          LPT_TILE_UNROLL
          for (size_t q = 0; q < GROUP_PARTS; q++)
            {
              V w = load (b + q * WIDTH, WIDTH, 0.0f);

              LPT_TILE_UNROLL
              for (size_t r = 0; r < rows; r++)
                {
                  V *sum = &acc[r * GROUP_PARTS + q];

                  *sum = fused (group_lanes (how, from[r] + first[q], i, n[q], lanes), w, *sum);
                }
            }
        }
    }
  LPT_TILE_UNROLL
  for (size_t r = 0; r < rows; r++)
    LPT_TILE_UNROLL
    for (size_t q = 0; q < GROUP_PARTS; q++)
      {
        size_t at = q * WIDTH, some = left <= at ? 0 : left - at < WIDTH ? left - at : WIDTH;

        if (some > 0)
          store (t->y + (row + r) * t->ldy + column + at,
                 end_lanes (&t->end, acc[r * GROUP_PARTS + q], row + r, column + at, some), some);
      }
}

/* A panel for all rows. */
INLINE void
group_panel (const LptFgemmTile *t, Lanes how, size_t column)
{
  size_t row = 0;

  for (; t->m - row >= GROUP_ROWS; row += GROUP_ROWS)
    group_block (t, GROUP_ROWS, how, row, column);
#if GROUP_ROWS > 4
  if (t->m - row >= 4)
    {
      group_block (t, 4, how, row, column);
      row += 4;
    }
#endif
  for (; row < t->m; row++)
    group_block (t, 1, how, row, column);
}

/* Apart from what calls it, whose blocks stay as they are. */
__attribute__ ((noinline)) static void
group_blocks (const LptFgemmTile *t)
{
  for (size_t column = 0; column < t->n; column += LPT_FGEMM_PANEL)
    if (t->group >= WIDTH)
      group_panel (t, LANES_ONE, column);
    else if (t->group == t->channels && t->n - column >= LPT_FGEMM_PANEL)
      group_panel (t, LANES_FULL, column);
    else
      group_panel (t, LANES_SOME, column);
}
