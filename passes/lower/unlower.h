/* unlower.h - single nodes of a lowered graph go back to real values (unlower.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef UNLOWER_H
#define UNLOWER_H

#include <lpt/lpt-pass.h>

typedef struct
{
  LptRewriter *rw;
  LptGraph    *graph;
  GHashTable  *real;                            /* LptValue * -> LptValue *: real values in place of integer ones */
  gboolean   (*goes) (const LptValue *value);   /* what is not made again behind a real op: its readers must follow */
  const char  *why;                             /* the op is real; NULL: its target has no such integers */
  gboolean     restricted;                      /* Dequantize and Reinterpret may be so themselves: codes are read as numbers there */
} LptUnlower;

/* The node on real values; outputs that do not go are quantized as they were. */
void lpt_unlower (LptUnlower *u, LptNode *node);

#endif
