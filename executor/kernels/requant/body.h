/* executor/kernels/requant/body.h - the epilogue in plain C: the specification of requant.h
 *
 * scalar.c exports it; other instruction sets keep it for parameters that their vectors do not take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/requant/requant.h"

static void
epilogue_plain (const LptEpilogue *e, size_t rows, size_t channels, size_t channel0, const int32_t *acc,
                size_t acc_stride, const int32_t *row_sum, void *out, size_t out_stride, const uint8_t *residual,
                size_t residual_stride)
{
  for (size_t r = 0; r < rows; r++)
    {
      uint8_t *row = (uint8_t *) out + r * out_stride;

      for (size_t j = 0; j < channels; j++)
        {
          size_t c = channel0 + j;
          uint32_t sum = (uint32_t) acc[r * acc_stride + j];

          if (e->bias)
            sum += (uint32_t) e->bias[c];
          if (e->weight_zp)
            sum -= (uint32_t) row_sum[r] * (uint32_t) e->weight_zp[c];

          int32_t v = (int32_t) sum;

          if (e->store == LPT_STORE_I32)
            ((int32_t *) row)[j] = v;
          else if (e->store == LPT_STORE_F32)
            {
              float f = (float) v * e->scale[c];

              if (e->fbias)
                f = f + e->fbias[c];
              f = f < e->flo ? e->flo : f;
              f = f > e->fhi ? e->fhi : f;
              ((float *) row)[j] = f;
            }
          else
            {
              bool fixed = e->scheme != LPT_REQUANT_FLOAT;
              uint8_t code;

              if (e->scheme == LPT_REQUANT_SINGLE && e->rest)
                {
                  int32_t low = e->lo - e->zp, high = e->hi - e->zp;

                  v = lpt_requant_single_rest (v, e->rest[c], e->mult[c], e->shift[c]);
                  code = (uint8_t) ((v < low ? low : v > high ? high : v) + e->zp);
                }
              else
                code = (uint8_t) lpt_requant_code (e->scheme, v, fixed ? e->mult[c] : 0, fixed ? e->shift[c] : 0,
                                                   fixed ? 0.0f : e->scale[c], e->zp, e->lo, e->hi);

              if (e->table)
                code = e->table[code];
              if (e->add)
                {
                  code = (uint8_t) lpt_add_code (e->add, code, residual[r * residual_stride + j]);
                  if (e->add_table)
                    code = e->add_table[code];
                }
              row[j] = code;
            }
        }
    }
}
