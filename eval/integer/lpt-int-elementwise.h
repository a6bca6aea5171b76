/* lpt-int-elementwise.h - what sums, products and extremes of two values of codes are made of, for kernels that do them
 *
 * The formulas are those of lpt-int-elementwise.c. Not the general form of sums and products (lpt_int_is_affine()).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/integer/lpt-int.h"

typedef struct
{
  LptIntOp      op;
  LptAlgorithm  algorithm;
  LptIntScale   a, b, y;
  gint          sign;             /* -1: a - b */
  gint          left_shift;       /* LITERT */
  LptSum64      sum;              /* SUM64, XNNPACK (its shift may be any), TPU with one shift */
  LptMultiplier m[3];             /* LITERT, TPU_PER_INPUT: of a, of b, of the sum */
  float         s1, s2, sy;       /* FLOAT, TPU with zero points; sy is 1 / Sy there */
} LptIntSum;

typedef struct
{
  LptIntOp      op;
  gboolean      zero_in_float;
  LptIntScale   a, b, y;
  LptMultiplier m;
} LptIntProduct;

typedef struct
{
  LptIntOp      op;
  gboolean      minimum;
  LptIntRescale a, b;
} LptIntExtreme;
