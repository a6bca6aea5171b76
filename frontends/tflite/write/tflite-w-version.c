/* tflite-w-version.c - versions of operators by what they are used for, and the runtime that a model needs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

static const struct { gint64 code; guint i8, i16; const char *runtimes; } versions[] = {
#define TFL_VERSION(NAME, i8, i16, runtimes) { TFL_##NAME, i8, i16, runtimes },
#include "frontends/tflite/write/tflite-versions.def"
};

/* Is one of the tensors of this type? */
static gboolean
has_type (const LptTflWGraph *graph, const GArray *list, gint64 type)
{
  for (guint i = 0; i < list->len; i++)
    {
      gint at = g_array_index (list, gint32, i);
      const LptTflWTensor *t = at >= 0 ? g_ptr_array_index (graph->tensors, at) : NULL;
      if (t != NULL && t->type == type)
        return TRUE;
    }
  return FALSE;
}

/* Does release @a come before @b, both "2.10.0"? */
static gboolean
comes_before (const char *a, const char *b)
{
  for (;;)
    {
      guint64 x = g_ascii_strtoull (a, (char **) &a, 10), y = g_ascii_strtoull (b, (char **) &b, 10);
      if (x != y)
        return x < y;
      if (*a != '.' || *b != '.')
        return *a != '.' && *b == '.';
      a++;
      b++;
    }
}

char *
lpt_tfl_w_versions (LptTflWriter *w)
{
  char *runtime = g_strdup ("1.5.0");
  for (guint g = 0; g < w->graphs->len; g++)
    {
      const LptTflWGraph *graph = w->graphs->pdata[g];
      for (guint i = 0; i < graph->ops->len; i++)
        {
          LptTflWOp *op = graph->ops->pdata[i];
          guint row = 0;
          while (row < G_N_ELEMENTS (versions) && versions[row].code != op->code)
            row++;
          if (row == G_N_ELEMENTS (versions))
            continue;
          /* The first version was never registered. */
          if (op->code == TFL_BROADCAST_TO)
            lpt_tfl_w_need (op, 2);
          if (has_type (graph, op->out, TFL_TYPE_INT8) || has_type (graph, op->in, TFL_TYPE_INT8))
            lpt_tfl_w_need (op, versions[row].i8);
          if (has_type (graph, op->out, TFL_TYPE_INT16) || has_type (graph, op->in, TFL_TYPE_INT16))
            lpt_tfl_w_need (op, versions[row].i16);
          g_auto (GStrv) list = g_strsplit (versions[row].runtimes, " ", -1);
          guint n = g_strv_length (list);
          const char *needed = list[MIN ((guint) op->version, n) - 1];
          if (!comes_before (runtime, needed))
            continue;
          g_free (runtime);
          runtime = g_strdup (needed);
        }
    }
  return runtime;
}
