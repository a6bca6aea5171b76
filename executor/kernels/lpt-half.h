/* executor/kernels/lpt-half.h - f32 numbers rounded to f16 and bf16, ties to even
 *
 * bf16 has f32's exponents: the upper half of the bits after half of the last one of them is added, a little less where
 * that one is even. f16's normal numbers likewise, of 10 bits; its denormals are the multiples of 2^-24, which are what
 * lies next to 1/2 in f32: x + 1/2 - 1/2. From 65520 on f16 is infinite. A NaN keeps the bits that fit, and is quiet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/lpt-vector.h"

/* The bits of |x| rounded to a multiple of 2^@bits, as an integer. */
INLINE U
drop_bits (U x, int bits)
{
  return (x + ((1u << (bits - 1)) - 1) + ((x >> bits) & 1)) & ~((1u << bits) - 1);
}

INLINE V
bf16_lanes (V x)
{
  const U bits = (U) x;

  return choose (x == x, (V) drop_bits (bits, 16), (V) ((bits | 0x400000) & 0xffff0000));
}

INLINE V
f16_lanes (V x)
{
#if defined (__AVX512F__)
  return (V) _mm512_cvtph_ps (_mm512_cvtps_ph ((__m512) x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined (__AVX2__)
  return (V) _mm256_cvtph_ps (_mm256_cvtps_ph ((__m256) x, _MM_FROUND_TO_NEAREST_INT));
#else
  const U bits = (U) x, sign = bits & 0x80000000;
  V size = (V) (bits & 0x7fffffff), whole = (V) drop_bits ((U) size, 13);

  whole = choose (size < splat (0x1p-14f), (size + 0.5f) - 0.5f, whole);
  whole = choose (size >= splat (65520.0f), splat (INFINITY), whole);
  whole = choose (x == x, whole, (V) (((U) size | 0x400000) & 0xffffe000));
  return (V) ((U) whole | sign);
#endif
}
