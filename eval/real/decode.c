/* decode.c - RegionYolo, CTCGreedyDecoder, CTCGreedyDecoderSeqLen: outputs of networks into what they mean
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"

static void
sigmoid_run (float *y,
             gint64 n)
{
  gint64 i;

  for (i = 0; i < n; i++)
    y[i] = (float) (1 / (1 + exp (-(double) y[i])));
}

static void
softmax_classes (float *y,
                 gint64 classes,
                 gint64 plane)
{
  gint64 i, c;

  for (i = 0; i < plane; i++)
    {
      double max = -INFINITY, sum = 0;

      for (c = 0; c < classes; c++)
        max = MAX (max, (double) y[c * plane + i]);
      for (c = 0; c < classes; c++)
        sum += exp (y[c * plane + i] - max);
      for (c = 0; c < classes; c++)
        y[c * plane + i] = (float) (exp (y[c * plane + i] - max) / sum);
    }
}

/* X [N, regions (coords + 1 + classes), H, W]. The logistic function on the first two coordinates and the object
 * score; classes by softmax, or by the logistic function without do_softmax. */
gboolean
lpt_run_region_yolo (LptCall *call,
                     GError **error)
{
  const LptRegionYoloAttrs *a = LPT_ATTRS (call->node, LptRegionYoloAttrs);
  const LptShape *shape = &call->in[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 regions = a->do_softmax ? a->num : a->mask.n, entries = a->coords + 1 + a->classes, plane, r;

  if (y == NULL)
    return FALSE;
  if (shape->rank != 4 || a->classes < 0 || a->coords < 2 || shape->dims[1] != regions * entries ||
      lpt_array_count (&call->out[0]) != lpt_array_count (&call->in[0]))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data is not [N, %" G_GINT64_FORMAT ", H, W]",
                   regions * entries);
      return FALSE;
    }
  plane = shape->dims[2] * shape->dims[3];
  memcpy (y, x, (gsize) lpt_array_count (&call->in[0]) * sizeof (float));
  for (r = 0; r < shape->dims[0] * regions; r++, y += entries * plane)
    {
      sigmoid_run (y, 2 * plane);
      sigmoid_run (y + a->coords * plane, (a->do_softmax ? 1 : 1 + a->classes) * plane);
      if (a->do_softmax)
        softmax_classes (y + (a->coords + 1) * plane, a->classes, plane);
    }

  return TRUE;
}

/* Best class of each step; without blanks and, where @merge, without repeats. Returns how many are written. */
static gint64
greedy (const float *x,
        gint64       steps,
        gint64       step,
        gint64       classes,
        gint64       blank,
        gboolean     merge,
        gint64      *y)
{
  gint64 t, c, best, last = -1, n = 0;

  for (t = 0; t < steps; t++, x += step)
    {
      for (best = 0, c = 1; c < classes; c++)
        if (x[c] > x[best])
          best = c;
      if (best != blank && !(merge && best == last))
        y[n++] = best;
      last = best;
    }

  return n;
}

/* X [T,N,C], mask [T,N] (0 from the end of a sequence on); blank is the last class. Unused places are -1. */
gboolean
lpt_run_ctc_greedy_decoder (LptCall *call,
                            GError **error)
{
  gboolean merge = LPT_ATTRS (call->node, LptCtcGreedyDecoderAttrs)->ctc_merge_repeated;
  const LptShape *shape = &call->in[0].shape;
  const float *x = lpt_call_f32 (call, 0, error), *mask = x != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  float *y = mask != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 steps, batch, classes, n, t, length, count, *line;

  if (y == NULL)
    return FALSE;
  steps = shape->dims[0], batch = shape->dims[1], classes = shape->dims[2];
  if (shape->rank != 3 || classes < 1 || lpt_array_count (&call->in[1]) != steps * batch)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data and mask must be [T,N,C] and [T,N]");
      return FALSE;
    }
  line = lpt_call_scratch (call, (gsize) steps, sizeof (gint64), error);
  if (line == NULL)
    return FALSE;
  for (n = 0; n < batch; n++)
    {
      for (length = 0; length < steps && mask[length * batch + n] != 0; length++)
        ;
      count = greedy (x + n * classes, length, batch * classes, classes, classes - 1, merge, line);
      for (t = 0; t < steps; t++)
        y[n * steps + t] = t < count ? (float) line[t] : -1;
    }

  return TRUE;
}

/* X [N,T,C], lengths [N], optional blank. Outputs classes [N,T] (-1 where unused) and their numbers [N]. */
gboolean
lpt_run_ctc_greedy_decoder_seq_len (LptCall *call,
                                    GError **error)
{
  gboolean merge = LPT_ATTRS (call->node, LptCtcGreedyDecoderSeqLenAttrs)->merge_repeated;
  const LptShape *shape = &call->in[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  const gint64 *lengths = x != NULL ? lpt_call_i64 (call, 1, error) : NULL;
  gint64 *y = lengths != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;
  gint64 *counts = y != NULL ? lpt_call_out_i64 (call, 1, error) : NULL;
  gint64 batch, steps, classes, blank, n, t;

  if (counts == NULL)
    return FALSE;
  batch = shape->dims[0], steps = shape->dims[1], classes = shape->dims[2];
  if (shape->rank != 3 || classes < 1 || lpt_array_count (&call->in[1]) != batch)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data and lengths must be [N,T,C] and [N]");
      return FALSE;
    }
  if (!lpt_call_int (call, 2, classes - 1, &blank, error))
    return FALSE;
  for (n = 0; n < batch; n++)
    {
      counts[n] = greedy (x + n * steps * classes, CLAMP (lengths[n], 0, steps), classes, classes, blank, merge,
                          y + n * steps);
      for (t = counts[n]; t < steps; t++)
        y[n * steps + t] = -1;
    }

  return TRUE;
}
