/* lpt-linear.h - inputs of LinearAttention
 *
 * Numbers along axis 3 belong to a head of axis 2. There is a state for each head of values. Heads of queries are some
 * for each of them, or one for some of them, as heads of keys are; decay and beta have one number for a head, or for
 * all, and a decay may have one for each number of a key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

enum
{
  LPT_LINEAR_QUERY,      /* [B, T, Hq, K] */
  LPT_LINEAR_KEY,        /* [B, T, Hk, K] */
  LPT_LINEAR_VALUE,      /* [B, T, H, V] */
  LPT_LINEAR_STATE,      /* [B, H, K, V] */
  LPT_LINEAR_DECAY,      /* [B, T, H or 1, K or 1]; may not be given: the state is kept */
  LPT_LINEAR_BETA,       /* [B, T, H or 1, 1]; may not be given: a value is added as it is */
  LPT_LINEAR_INPUTS
};
