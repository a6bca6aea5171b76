/* executor/kernels/dynamic/body.h - intervals of rows, four vectors side by side
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/dynamic/dynamic.h"
#include "executor/kernels/lpt-vector.h"

#define LANES 4

void
LPT_FN (lpt_dynamic_range) (size_t n, const float *x, float range[2])
{
  V lo[LANES] = { { 0 } }, hi[LANES] = { { 0 } };
  float least[WIDTH], most[WIDTH];
  size_t i = 0;

  for (; i + LANES * WIDTH <= n; i += LANES * WIDTH)
    for (int k = 0; k < LANES; k++)
      {
        V v = load (x + i + (size_t) k * WIDTH, WIDTH, 0);

        lo[k] = where_less (v, lo[k], v, lo[k]);
        hi[k] = where_less (hi[k], v, v, hi[k]);
      }
  for (; i < n; i += WIDTH)
    {
      V v = load (x + i, n - i < WIDTH ? n - i : WIDTH, 0);

      lo[0] = where_less (v, lo[0], v, lo[0]);
      hi[0] = where_less (hi[0], v, v, hi[0]);
    }
  for (int k = 1; k < LANES; k++)
    {
      lo[0] = where_less (lo[k], lo[0], lo[k], lo[0]);
      hi[0] = where_less (hi[0], hi[k], hi[k], hi[0]);
    }
  store (least, lo[0], WIDTH);
  store (most, hi[0], WIDTH);
  range[0] = range[1] = 0;
  for (i = 0; i < WIDTH; i++)
    {
      range[0] = least[i] < range[0] ? least[i] : range[0];
      range[1] = most[i] > range[1] ? most[i] : range[1];
    }
}
