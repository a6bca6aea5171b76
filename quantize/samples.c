/* samples.c - some samples of many
 *
 * Sample k of n out of m is number floor ((2 k + 1) m / 2 n): the same for the same numbers, and never only the first
 * files of a folder that is sorted by class.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/samples.h"

typedef struct { LptData data; LptData *of; guint *index; } Some;

static gboolean
some_get (LptData *data, guint i, LptTensor **tensors, GError **error)
{
  const Some *some = (Some *) data;
  return lpt_data_get (some->of, some->index[i], tensors, error);
}

static const char *
some_name (LptData *data, guint i)
{
  const Some *some = (Some *) data;
  return lpt_data_name (some->of, some->index[i]);
}

static void
some_free (LptData *data)
{
  g_free (((Some *) data)->index);
  g_free (data);
}

LptData *
lpt_data_spread (LptData *data, guint n, gboolean rest)
{
  Some *some = g_new0 (Some, 1);
  *some = (Some) { { 0, some_get, some_name, some_free }, data, g_new (guint, data->n + 1) };
  n = MIN (n, data->n);
  for (guint i = 0, k = 0; i < data->n; i++)
    {
      gboolean taken = k < n && i == (guint) ((2 * (guint64) k + 1) * data->n / (2 * (guint64) n));
      k += taken;
      if (taken != rest)
        some->index[some->data.n++] = i;
    }
  return &some->data;
}
