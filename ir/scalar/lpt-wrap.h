/* lpt-wrap.h - integers as their element type holds them: the lowest bits
 *
 * What sums, products and conversions of plain integers leave beyond the type is cut off, as NumPy (and with it ONNX's
 * definitions) and ONNX Runtime do. Quantized values saturate instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-types.h>

static inline gint64
lpt_wrap (gint64   x,
          LptDType dtype)
{
  const guint bits = lpt_dtype_bits (dtype);
  guint64 u = (guint64) x;

  if (bits == 0 || bits >= 64)
    return x;
  u &= ((guint64) 1 << bits) - 1;
  if (lpt_dtype_kind (dtype) == LPT_KIND_SINT && (u >> (bits - 1)) != 0)
    u |= ~(guint64) 0 << bits;

  return (gint64) u;
}
