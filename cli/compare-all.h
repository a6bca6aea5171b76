/* compare-all.h - two models, value by value
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_COMPARE_ALL_H
#define LPTC_COMPARE_ALL_H

#include <lpt/lpt.h>

typedef struct
{
  gboolean reference, json;
  gint     threads;
  gint64   seed;          /* of inputs that were drawn, CMD_NO_SEED = none */
  double   tolerance;     /* of any value; NaN: none */
} CmdCompareAll;

/* @data: samples for the inputs of @a. *@failed: a value is past the tolerance, or there is none. Returns the exit
 * code. */
int cmd_compare_all (LptGraph *a, LptGraph *b, char **paths, LptData *data, const CmdCompareAll *how, gboolean *failed);

#endif
