/* quantizer.c - what the parts of lpt_quantize() share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

void
lpt_quantizer_remark (LptQuantizer *q, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (q->report->remarks, g_strdup_vprintf (format, args));
  va_end (args);
}

void
lpt_quantizer_step (LptQuantizer *q, const char *what, guint done, guint total)
{
  if (q->options->progress != NULL)
    q->options->progress (what, done, total, q->options->progress_data);
}

void
lpt_quantizer_init (LptQuantizer *q)
{
  q->kept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  q->blocked = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

LptLayer *
lpt_quantizer_layer (LptQuantizer *q, LptNode *node)
{
  for (guint i = 0; i < q->layers->len; i++)
    if (((LptLayer *) g_ptr_array_index (q->layers, i))->node == node)
      return g_ptr_array_index (q->layers, i);
  return NULL;
}

void
lpt_quantizer_clear (LptQuantizer *q)
{
  g_clear_pointer (&q->layers, g_ptr_array_unref);
  g_clear_pointer (&q->recurrent, g_ptr_array_unref);
  g_clear_pointer (&q->points, g_ptr_array_unref);
  g_clear_pointer (&q->seen, g_hash_table_unref);
  g_clear_pointer (&q->kept, g_hash_table_unref);
  g_clear_pointer (&q->blocked, g_hash_table_unref);
  g_clear_pointer (&q->fit, lpt_data_free);
  g_clear_pointer (&q->held, lpt_data_free);
}
