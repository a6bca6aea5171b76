/* computed-epilogue.c - products of codes whose zero point, or the scale of whose sums, is computed
 *
 *     sums + bias[n] - Z * column sum[n] + K * Z * W[n],   times scale[n], plus a constant
 *
 * with Z in u8 form: what packing folds into the bias elsewhere, tasks add up for their channels, in their workspace.
 * The scale is multiplied once with the sum as float: (float) sum * scale, as the ops that it stands for. Convolutions
 * may have a zero point, and scales, for each image of the data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

/* Bytes of an array of channels. */
static gsize
array_size (const LptFusedEpilogue *epilogue)
{
  return ((epilogue->channels + LPT_CHANNEL_PAD) * sizeof (gint32) + 63) & ~(gsize) 63;
}

static guint
n_computed (const LptFusedEpilogue *epilogue)
{
  return (epilogue->zero != NULL) + (epilogue->run_scale != NULL);
}

void
lpt_fused_epilogue_computed (LptFusedEpilogue *epilogue,
                             LptOpForm        *form)
{
  if (epilogue->zero != NULL)
    form->in[form->n_in++] = (LptOperand) { epilogue->zero, LPT_LAYOUT_TYPED };
  if (epilogue->run_scale != NULL)
    form->in[form->n_in++] = (LptOperand) { epilogue->run_scale, LPT_LAYOUT_TYPED };
  form->workspace += n_computed (epilogue) * array_size (epilogue);
}

gboolean
lpt_fused_epilogue_by_image (const LptFusedEpilogue *epilogue)
{
  return (epilogue->zero != NULL && lpt_program_count (epilogue->zero) > 1) ||
         (epilogue->run_scale != NULL && lpt_program_count (epilogue->run_scale) > epilogue->channels);
}

guint8
lpt_fused_epilogue_zero (const LptFusedEpilogue *epilogue,
                         const LptEpilogueRun   *run,
                         guint8                  fallback)
{
  const guint8 *zero;

  if (epilogue->zero == NULL)
    return fallback;
  zero = run->data->in[run->op->form.n_in - n_computed (epilogue)];

  /* Codes of either sign, 128 added in one byte. */
  return (guint8) (zero[lpt_program_count (epilogue->zero) > 1 ? run->image : 0] + epilogue->offset);
}

const LptEpilogue *
lpt_fused_epilogue_of_run (const LptFusedEpilogue *epilogue,
                           const LptEpiloguePart  *part,
                           const LptEpilogueRun   *run,
                           LptEpilogue            *made)
{
  const LptOpForm *form = &run->op->form;
  guint8 *room = run->data->workspace + form->workspace - n_computed (epilogue) * array_size (epilogue);
  const gsize n = epilogue->channels, c0 = run->c0, end = MIN (run->c1 + LPT_CHANNEL_PAD, n + LPT_CHANNEL_PAD);
  gsize c;

  if (n_computed (epilogue) == 0)
    return part->e;
  *made = *part->e;
  if (epilogue->zero != NULL && part->col_sum != NULL)
    {
      const guint32 zero = lpt_fused_epilogue_zero (epilogue, run, 0);
      gint32 *bias = (gint32 *) (gpointer) room;

      for (c = c0; c < end; c++)
        bias[c] = c < n ? (gint32) ((guint32) part->e->bias[c] - zero * (guint32) part->col_sum[c] +
                                    (guint32) part->taps * zero * (guint32) epilogue->weight_zp[c]) : 0;
      made->bias = bias;
      room += array_size (epilogue);
    }
  if (epilogue->run_scale != NULL)
    {
      const float *from = (const float *) (gconstpointer) run->data->in[form->n_in - 1];
      const gsize count = lpt_program_count (epilogue->run_scale), step = count > 1 ? 1 : 0;
      float *scale = (float *) (gpointer) room;

      from += count > n ? run->image * n : 0;
      for (c = c0; c < end; c++)
        scale[c] = c < n ? from[c * step] : 0;
      made->scale = scale;
    }

  return made;
}
