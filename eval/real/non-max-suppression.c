/* non-max-suppression.c - NonMaxSuppression, all opsets
 *
 * boxes [B,N,4], scores [B,C,N]; per image and class boxes are taken by falling score. One that overlaps a taken box
 * by more than the threshold goes; with soft_nms_sigma > 0 the others' scores shrink by e^(-overlap^2 / 2 sigma) and
 * they wait for their new place. Boxes are two opposite corners (y, x, y, x) in any order, or centre and size
 * (x, y, w, h). Rows: image, class, box. Where the shape of the output is fixed (opset1 to 4), unused rows are -1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-memory.h"
#include "ir/scalar/lpt-box.h"
#include "eval/lpt-exec-ops.h"
#include "eval/lpt-nms-rows.h"

typedef struct
{
  gint64   most;
  float    overlap, score, sigma;
  gboolean center;
} Limits;

static LptBoxRect
read_box (const float *v,
          gboolean     center)
{
  if (center)
    return (LptBoxRect) { v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2 };

  return (LptBoxRect) { MIN (v[1], v[3]), MIN (v[0], v[2]), MAX (v[1], v[3]), MAX (v[0], v[2]) };
}

/* A waiting box; those below @seen of the taken ones have been applied to its score. */
typedef struct
{
  LptCandidate who;
  guint        seen;
} Waiting;

/* As long as the boxes of an image: those of one class that wait, the next one in front of a heap, and those taken. */
typedef struct
{
  Waiting    *heap;
  LptBoxRect *taken;
} Scratch;

static gboolean
comes_before (const Waiting *a,
              const Waiting *b)
{
  return a->who.score > b->who.score || (a->who.score == b->who.score && a->who.index < b->who.index);
}

/* Moves element @at of the heap, behind which all are in order, to its place. */
static void
sink (Waiting *heap,
      guint    n,
      guint    at)
{
  const Waiting moved = heap[at];
  guint child;

  for (; (child = 2 * at + 1) < n; at = child)
    {
      if (child + 1 < n && comes_before (&heap[child + 1], &heap[child]))
        child++;
      if (!comes_before (&heap[child], &moved))
        break;
      heap[at] = heap[child];
    }
  heap[at] = moved;
}

/* Puts what is above the limit into the heap; how many. Of all that wait few are taken or dropped before the last. */
static guint
collect (const float  *scores,
         gint64        n,
         const Limits *limits,
         Waiting      *heap)
{
  guint count = 0, i;
  gint64 p;

  for (p = 0; p < n; p++)
    if (scores[p] > limits->score)
      heap[count++] = (Waiting) { { scores[p], 0, (gint) p }, 0 };
  for (i = count / 2; i-- > 0;)
    sink (heap, count, i);

  return count;
}

static void
run_class (const float   *boxes,
           guint          count,
           const Limits  *limits,
           const Scratch *scratch,
           gint           image,
           gint           label,
           GArray        *rows)
{
  Waiting *next = scratch->heap;
  guint taken = 0, i;

  while (count > 0 && (gint64) taken < limits->most)
    {
      LptBoxRect box = read_box (boxes + 4 * (gint64) next->who.index, limits->center);
      float before = next->who.score;
      gboolean drop = FALSE;

      for (i = taken; i > next->seen && !drop; i--)
        {
          float overlap = lpt_box_overlap (&box, &scratch->taken[i - 1], 0);

          if (limits->sigma > 0)
            next->who.score *= expf (-0.5f / limits->sigma * overlap * overlap);
          drop = overlap > limits->overlap || next->who.score <= limits->score;
        }
      next->seen = taken;
      if (!drop && next->who.score == before)
        {
          LptNmsRow row = { before, image, label, next->who.index };

          g_array_append_val (rows, row);
          scratch->taken[taken++] = box;
          drop = TRUE;
        }
      if (drop)
        *next = scratch->heap[--count];
      sink (next, count, 0);
    }
}

static gboolean
read_limits (LptCall *call,
             Limits  *limits,
             GError **error)
{
  float *to[3] = { &limits->overlap, &limits->score, &limits->sigma };
  guint k;

  *limits = (Limits) { .center = LPT_ATTRS (call->node, LptNonMaxSuppressionAttrs)->box_encoding == LPT_BOX_CENTER };
  if (!lpt_call_int (call, 2, 0, &limits->most, error))
    return FALSE;
  for (k = 0; k < 3; k++)
    if (lpt_call_has (call, 3 + k) && lpt_array_count (&call->in[3 + k]) > 0)
      {
        const float *v = lpt_call_f32 (call, 3 + k, error);

        if (v == NULL)
          return FALSE;
        *to[k] = v[0];
      }

  return TRUE;
}

static gboolean
write_rows (LptCall      *call,
            const GArray *rows,
            GError      **error)
{
  LptShape shape = { .rank = 2, .dims = { rows->len, 3 } };

  /* Fixed by the lengths of the inputs, which the plan may not have known. */
  if (!lpt_shape_is_static (&call->out[0].shape) && lpt_op_version (call->node->info, call->node->opset) < 5 &&
      !lpt_call_infer (call, error))
    return FALSE;
  if (lpt_shape_is_static (&call->out[0].shape))
    shape = call->out[0].shape;

  return lpt_nms_rows_write (call, rows, &shape, error);
}

gboolean
lpt_run_non_max_suppression (LptCall *call,
                             GError **error)
{
  const LptShape *bs = &call->in[0].shape, *ss = &call->in[1].shape;
  const float *boxes = lpt_call_f32 (call, 0, error), *scores = boxes != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (LptNmsRow));
  g_autofree Waiting *heap = NULL;
  g_autofree LptBoxRect *taken = NULL;
  gint64 b, c;
  Limits limits;

  if (scores == NULL || !read_limits (call, &limits, error))
    return FALSE;
  if (bs->rank != 3 || ss->rank != 3 || bs->dims[0] != ss->dims[0] || bs->dims[1] != ss->dims[2] || bs->dims[2] != 4 ||
      bs->dims[1] > G_MAXINT32)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "boxes and scores are not [B,N,4] and [B,C,N]");
      return FALSE;
    }
  heap = lpt_memory_try ((gsize) MAX (bs->dims[1], 1), sizeof *heap, error);
  taken = heap != NULL ? lpt_memory_try ((gsize) MAX (bs->dims[1], 1), sizeof *taken, error) : NULL;
  if (taken == NULL)
    return FALSE;
  for (b = 0; b < ss->dims[0]; b++)
    for (c = 0; c < ss->dims[1]; c++)
      run_class (boxes + b * bs->dims[1] * 4,
                 collect (scores + (b * ss->dims[1] + c) * ss->dims[2], ss->dims[2], &limits, heap), &limits,
                 &(Scratch) { heap, taken }, (gint) b, (gint) c, rows);
  if (LPT_ATTRS (call->node, LptNonMaxSuppressionAttrs)->sort_result_descending)
    lpt_nms_rows_sort (rows);

  return write_rows (call, rows, error);
}
