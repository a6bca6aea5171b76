/* tflite-type-bits.h - element types as bits, in which rows of tables name those that an operator takes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <lpt/lpt-tensor.h>

enum { F = 1, I8 = 2, U8 = 4, I16 = 8, I32 = 16, I64 = 32, B = 64 };

/* 0: a type that no row names. */
static inline guint
lpt_tfl_type_bit (LptDType dtype)
{
  switch ((guint) dtype)
    {
    case LPT_DTYPE_F32:
      return F;
    case LPT_DTYPE_I8:
      return I8;
    case LPT_DTYPE_U8:
      return U8;
    case LPT_DTYPE_I16:
      return I16;
    case LPT_DTYPE_I32:
      return I32;
    case LPT_DTYPE_I64:
      return I64;
    case LPT_DTYPE_BOOL:
      return B;
    default:
      return 0;
    }
}
