/* dequantize-words.c - a Dequantize of int32 by itself: sums that others read as they are, too
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-operators.h"

/* Elements of a task. */
#define CHUNK 65536

typedef struct
{
  LptFusedEpilogue epilogue;
  const LptEpilogueKernel *kernel;
  gsize        rows, channels, per_task;
} Words;

static void
words_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Words *w = op->form.params;
  gsize row = task * w->per_task, n = MIN (end * w->per_task, w->rows) - row, rest = w->channels % LPT_CHANNEL_PAD;
  gsize whole = w->channels - rest, line = w->channels * sizeof (float);
  const gint32 *in = (const gint32 *) (gconstpointer) data->in[0] + row * w->channels;
  float *out = (float *) (gpointer) data->out + row * w->channels;
  gint32 tail[LPT_CHANNEL_PAD] = { 0 };

  if (rest == 0 || row + n < w->rows)
    {
      w->kernel->run (&w->epilogue.e, n, w->channels, 0, in, w->channels, NULL, out, line, NULL, 0);
      return;
    }
  /* Kernels read whole vectors: the end of the last row is copied. */
  n--;
  w->kernel->run (&w->epilogue.e, n, w->channels, 0, in, w->channels, NULL, out, line, NULL, 0);
  in += n * w->channels;
  out += n * w->channels;
  w->kernel->run (&w->epilogue.e, 1, whole, 0, in, w->channels, NULL, out, line, NULL, 0);
  memcpy (tail, in + whole, rest * sizeof *tail);
  w->kernel->run (&w->epilogue.e, 1, rest, whole, tail, LPT_CHANNEL_PAD, NULL, out + whole, line, NULL, 0);
}

static void
words_clear (gpointer params)
{
  lpt_fused_epilogue_clear (&((Words *) params)->epilogue);
}

/* One scale, or one per index of the last axis or of the channels. */
gboolean
lpt_prepare_dequantize_words (LptProgram   *program,
                              LptProgramOp *op)
{
  const LptArray *x = &op->in[0]->array;
  gint axis = x->shape.rank - 1;
  LptValueLayout layout = LPT_LAYOUT_TYPED;
  Words *w;

  if (x->dtype != LPT_DTYPE_I32 || x->quant == NULL)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (axis < 0 || !lpt_shape_is_static (&x->shape) || lpt_array_count (x) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (x->quant->n > 1 && x->quant->axis == 1 && axis > 1)
    {
      axis = 1;
      layout = LPT_LAYOUT_WORDS_LAST;
    }
  w = g_new0 (Words, 1);
  w->kernel = program->kernels.epilogue;
  w->channels = (gsize) x->shape.dims[axis];
  w->rows = (gsize) lpt_array_count (x) / w->channels;
  w->per_task = MAX (CHUNK / w->channels, 1);
  if (!lpt_fused_epilogue_words (&w->epilogue, op, axis, w->channels))
    {
      words_clear (w);
      g_free (w);
      return FALSE;
    }
  lpt_program_set_form (op, &(LptOpForm) { .run = words_run, .clear = words_clear, .params = w, .kernel = w->kernel->name,
                                             .tasks = (w->rows + w->per_task - 1) / w->per_task, .n_in = 1,
                                             .in = LPT_OPERANDS ({ op->in[0], layout }), .out = w->epilogue.out, .out_layout = layout,
                                             .last = w->epilogue.last });

  return TRUE;
}
