/* ctc-loss.c - CTCLoss: -ln of the probability of a text, summed over its alignments
 *
 * P (frame t, class c) is the Softmax of the logits. The states of an alignment are the labels with a blank in front of
 * each and behind the last; it goes from a state to itself, to the next one, and past a blank to the label behind it
 * where that differs from the label in front. Without ctc_merge_repeated a label stands for one frame and never stays,
 * and equal ones may follow each other. Texts that no alignment has have an infinite loss. In double, by logarithms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"

typedef struct
{
  gint64  frames, classes, blank;
  gboolean merges;
  gint64  n;                 /* labels */
  gint64 *text;
  double *now, *next;        /* ln of the probability to be in each of 2 n + 1 states */
} Alignment;

/* ln (e^a + e^b) */
static double
add (double a,
     double b)
{
  const double most = MAX (a, b), least = MIN (a, b);

  return isinf (most) && most < 0 ? most : most + log1p (exp (least - most));
}

/* ln of the Softmax's divisor */
static double
divisor_of (const float *logits,
            gint64       n)
{
  double most = -INFINITY, sum = 0;

  for (gint64 c = 0; c < n; c++)
    most = MAX (most, (double) logits[c]);
  for (gint64 c = 0; c < n; c++)
    sum += exp ((double) logits[c] - most);

  return most + log (sum);
}

/* State @s comes from these. */
static double
reach (const Alignment *a,
       gint64           s)
{
  const gboolean label = s % 2 == 1;
  double from = !label || a->merges ? a->now[s] : -INFINITY;

  if (s > 0)
    from = add (from, a->now[s - 1]);
  if (label && s > 1 && (!a->merges || a->text[s / 2] != a->text[s / 2 - 1]))
    from = add (from, a->now[s - 2]);

  return from;
}

static double
loss_of (Alignment   *a,
         const float *logits)
{
  const gint64 states = 2 * a->n + 1;

  for (gint64 s = 0; s < states; s++)
    a->now[s] = -INFINITY;
  for (gint64 t = 0; t < a->frames; t++, logits += a->classes)
    {
      const double divisor = divisor_of (logits, a->classes);
      double *swap = a->now;

      for (gint64 s = 0; s < states; s++)
        {
          const double from = t > 0 ? reach (a, s) : s < 2 ? 0 : -INFINITY;

          a->next[s] = from + ((double) logits[s % 2 == 1 ? a->text[s / 2] : a->blank] - divisor);
        }
      a->now = a->next;
      a->next = swap;
    }
  if (a->frames == 0)
    return a->n == 0 ? 0 : INFINITY;

  return -(a->n == 0 ? a->now[0] : add (a->now[states - 1], a->now[states - 2]));
}

/* The labels that count: FALSE + error: there is no such class. */
static gboolean
read_text (const LptCall *call,
           Alignment     *a,
           const gint64  *labels,
           gint64         n,
           GError       **error)
{
  const LptCTCLossAttrs *attrs = LPT_ATTRS (call->node, LptCTCLossAttrs);

  a->n = 0;
  for (gint64 i = 0; i < n; i++)
    {
      gboolean known = attrs->preprocess_collapse_repeated && i > 0 && labels[i] == labels[i - 1];

      for (gint64 k = 0; k < a->n && attrs->unique; k++)
        known |= a->text[k] == labels[i];
      if (labels[i] < 0 || labels[i] >= a->classes)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "label %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " classes", labels[i], a->classes);
          return FALSE;
        }
      if (!known)
        a->text[a->n++] = labels[i];
    }

  return TRUE;
}

static gboolean
check_length (gint64      length,
              gint64      most,
              const char *what,
              GError    **error)
{
  if (length >= 0 && length <= most)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s %" G_GINT64_FORMAT " is not within 0 and %" G_GINT64_FORMAT,
               what, length, most);
  return FALSE;
}

gboolean
lpt_run_ctc_loss (LptCall *call,
                  GError **error)
{
  const LptShape *shape = &call->in[0].shape;
  const gint64 frames = shape->dims[1], most = call->in[2].shape.dims[1];
  Alignment a = { .classes = shape->dims[2], .merges = LPT_ATTRS (call->node, LptCTCLossAttrs)->ctc_merge_repeated };
  const float *logits = lpt_call_f32 (call, 0, error);
  const gint64 *lengths = logits != NULL ? lpt_call_i64 (call, 1, error) : NULL;
  const gint64 *labels = lengths != NULL ? lpt_call_i64 (call, 2, error) : NULL;
  const gint64 *n = labels != NULL ? lpt_call_i64 (call, 3, error) : NULL;
  float *y = n != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;

  if (y == NULL || !lpt_call_int (call, 4, a.classes - 1, &a.blank, error))
    return FALSE;
  if (a.blank < 0 || a.blank >= a.classes)
    return check_length (a.blank, a.classes - 1, "blank_index", error);
  a.text = lpt_call_scratch (call, (gsize) most, sizeof *a.text, error);
  a.now = a.text != NULL ? lpt_call_scratch (call, 2 * (gsize) most + 1, sizeof *a.now, error) : NULL;
  a.next = a.now != NULL ? lpt_call_scratch (call, 2 * (gsize) most + 1, sizeof *a.next, error) : NULL;
  if (a.next == NULL)
    return FALSE;
  for (gint64 b = 0; b < shape->dims[0]; b++)
    {
      if (!check_length (lengths[b], frames, "logit_length", error) ||
          !check_length (n[b], most, "label_length", error) || !read_text (call, &a, labels + b * most, n[b], error))
        return FALSE;
      a.frames = lengths[b];
      y[b] = (float) loss_of (&a, logits + b * frames * a.classes);
    }

  return TRUE;
}
