/* executor/kernels/wide16/body.h - tiles of channels and positions in vectors of the compiler
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/wide16/wide16.h"

#define LANES 16
#define CHANNELS 4
#define PITCH LPT_WIDE16_PITCH

typedef int16_t Few __attribute__ ((vector_size (LANES * 2)));
typedef int32_t Sum __attribute__ ((vector_size (LANES * 4)));
typedef int64_t Wide __attribute__ ((vector_size (LANES * 8)));

static inline void
add_to (int64_t *sums, const Sum *more)
{
  Wide wide;

  memcpy (&wide, sums, sizeof wide);
  wide += __builtin_convertvector (*more, Wide);
  memcpy (sums, &wide, sizeof wide);
}

/* Sums of @m channels, @v vectors of positions: constants where it is called. */
LPT_TILE void
tile (size_t m, size_t v, size_t taps, const int8_t *w, size_t ldw, const int16_t *x, int64_t *sums)
{
  Sum acc[CHANNELS][2];

  LPT_TILE_UNROLL
  for (size_t c = 0; c < m; c++)
    LPT_TILE_UNROLL
    for (size_t i = 0; i < v; i++)
      acc[c][i] = (Sum) { 0 };
  for (size_t k = 0; k < taps; k++, x += PITCH)
    {
      Few few[2];

      memcpy (few, x, v * sizeof few[0]);
      LPT_TILE_UNROLL
      for (size_t i = 0; i < v; i++)
        {
          const Sum data = __builtin_convertvector (few[i], Sum);

          LPT_TILE_UNROLL
          for (size_t c = 0; c < m; c++)
            acc[c][i] += data * (int32_t) w[c * ldw + k];
        }
    }
  LPT_TILE_UNROLL
  for (size_t c = 0; c < m; c++)
    LPT_TILE_UNROLL
    for (size_t i = 0; i < v; i++)
      add_to (sums + c * PITCH + i * LANES, &acc[c][i]);
}

void
LPT_FN (lpt_wide16_sums) (size_t channels, size_t taps, size_t n, const int8_t *w, size_t ldw, const int16_t *x,
                          int64_t *sums)
{
  for (size_t c = 0; c < channels; )
    {
      const int8_t *from = w + c * ldw;
      int64_t *to = sums + c * PITCH;
      const size_t m = channels - c < CHANNELS ? 1 : CHANNELS;

      for (size_t p = 0; p < n; p += 2 * LANES)
        if (m == CHANNELS && n - p > LANES)
          tile (CHANNELS, 2, taps, from, ldw, x + p, to + p);
        else if (m == CHANNELS)
          tile (CHANNELS, 1, taps, from, ldw, x + p, to + p);
        else if (n - p > LANES)
          tile (1, 2, taps, from, ldw, x + p, to + p);
        else
          tile (1, 1, taps, from, ldw, x + p, to + p);
      c += m;
    }
}
