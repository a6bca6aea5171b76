/* executor/kernels/gemm/vnni256.h - vpdpbusd on 256 bits, six rows by sixteen columns
 *
 * The includer defines DPBUSD (sum, bytes, weights): the VEX or the EVEX form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define TILE_ROWS(X) X (0) X (1) X (2) X (3) X (4) X (5)
#define LOAD_WEIGHTS                                                                                         \
  __m256i b0 = _mm256_loadu_si256 ((const __m256i *) (const void *) b);                                      \
  __m256i b1 = _mm256_loadu_si256 ((const __m256i *) (const void *) (b + 32));
#define DOTS(c0, c1, x) c0 = DPBUSD (c0, x, b0); c1 = DPBUSD (c1, x, b1);
#include "executor/kernels/gemm/tile256.h"

static void
tile_6x16 (const LptGemmTile *t, int32_t *acc)
{
  switch (t->mr)
    {
    case 1: tile_256 (1, t, acc); break;
    case 2: tile_256 (2, t, acc); break;
    case 3: tile_256 (3, t, acc); break;
    case 4: tile_256 (4, t, acc); break;
    case 5: tile_256 (5, t, acc); break;
    default: tile_256 (6, t, acc); break;
    }
}
