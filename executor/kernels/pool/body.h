/* executor/kernels/pool/body.h - pooling over a list of taps; plain C, compiled per instruction set
 *
 * Channels go in chunks that stay in registers or the first cache while the taps pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/pool/pool.h"

#include <string.h>

#define CHUNK 64

static inline __attribute__ ((always_inline)) void
max_chunk (size_t taps, const uint8_t *const *in, size_t at, size_t n, uint8_t flip, uint8_t *out)
{
  uint8_t best[CHUNK];

  for (size_t c = 0; c < n; c++)
    best[c] = in[0][at + c] ^ flip;
  for (size_t tap = 1; tap < taps; tap++)
    {
      const uint8_t *x = in[tap] + at;

      for (size_t c = 0; c < n; c++)
        {
          uint8_t v = x[c] ^ flip;

          best[c] = v > best[c] ? v : best[c];
        }
    }
  for (size_t c = 0; c < n; c++)
    out[at + c] = best[c] ^ flip;
}

void
LPT_FN (lpt_pool_max) (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, uint8_t *out)
{
  size_t c = 0;

  if (taps == 0)
    {
      memset (out, flip, channels);
      return;
    }
  for (; c + CHUNK <= channels; c += CHUNK)
    max_chunk (taps, in, c, CHUNK, flip, out);
  for (; c + 16 <= channels; c += 16)
    max_chunk (taps, in, c, 16, flip, out);
  if (c < channels)
    max_chunk (taps, in, c, channels - c, flip, out);
}

static inline __attribute__ ((always_inline)) void
sum_chunk (size_t taps, const uint8_t *const *in, size_t at, size_t n, uint8_t flip, int32_t *sums)
{
  int32_t sum[CHUNK] = { 0 };

  for (size_t tap = 0; tap < taps; )
    {
      /* 257 bytes fit 16 bits. */
      uint16_t part[CHUNK] = { 0 };
      size_t end = taps - tap > 256 ? tap + 256 : taps;

      for (; tap < end; tap++)
        {
          const uint8_t *x = in[tap] + at;

          for (size_t c = 0; c < n; c++)
            part[c] = (uint16_t) (part[c] + (uint8_t) (x[c] ^ flip));
        }
      for (size_t c = 0; c < n; c++)
        sum[c] = (int32_t) ((uint32_t) sum[c] + part[c]);
    }
  for (size_t c = 0; c < n; c++)
    sums[at + c] = sum[c];
}

void
LPT_FN (lpt_pool_sum) (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, int32_t *sums)
{
  size_t c = 0;

  for (; c + CHUNK <= channels; c += CHUNK)
    sum_chunk (taps, in, c, CHUNK, flip, sums);
  for (; c + 16 <= channels; c += 16)
    sum_chunk (taps, in, c, 16, flip, sums);
  if (c < channels)
    sum_chunk (taps, in, c, channels - c, flip, sums);
}
