/* einsum.c - Einsum: sums of products over labelled axes
 *
 * Every label is a loop: those of the output outside, the others inside. "..." stands for broadcast axes, aligned
 * at the right. A repeated label in one operand walks its diagonal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-equation.h"
#include "ir/scalar/lpt-loop.h"

#define MAX_LOOPS 32

static gboolean
read_axes (LptCall       *call,
           const LptTerm *term,
           gint           dots,
           LptTermAxes   *axes,
           GError       **error)
{
  if (dots >= 0 && lpt_term_axes (term, dots, axes))
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a term of equation \"%s\" does not fit the ranks",
               LPT_ATTRS (call->node, LptEinsumAttrs)->equation);

  return FALSE;
}

static gboolean
read_equation (LptCall     *call,
               LptTermAxes *in,
               LptTermAxes *out,
               GError     **error)
{
  g_autofree LptTerm *terms = g_new (LptTerm, call->n_in);
  LptTerm result;
  gint most = 0;

  if (!lpt_equation_read (LPT_ATTRS (call->node, LptEinsumAttrs)->equation, call->n_in, terms, &result, error))
    return FALSE;
  for (guint k = 0; k < call->n_in; k++)
    {
      const gint dots = lpt_term_dots (&terms[k], call->in[k].shape.rank);

      if (!read_axes (call, &terms[k], dots, &in[k], error))
        return FALSE;
      most = MAX (most, dots);
    }

  return read_axes (call, &result, most, out, error);
}

/* How long the axis of each label is; -1: no input has it. */
static gboolean
find_lengths (LptCall    *call,
              const LptTermAxes *terms,
              gint64     *length,
              GError    **error)
{
  guint k;
  gint i;

  for (i = 0; i < LPT_TERM_N_LABELS; i++)
    length[i] = -1;
  for (k = 0; k < call->n_in; k++)
    for (i = 0; i < terms[k].n; i++)
      {
        gint64 *known = &length[terms[k].labels[i]], dim = call->in[k].shape.dims[i];

        if (*known > 1 && dim > 1 && *known != dim)
          {
            g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a label has lengths %" G_GINT64_FORMAT " and %"
                         G_GINT64_FORMAT, *known, dim);
            return FALSE;
          }
        *known = *known == -1 || *known == 1 ? dim : *known;
      }

  return TRUE;
}

static gint64
offset_of (gint          n,
           const gint64 *index,
           const gint64 *strides)
{
  gint64 offset = 0;

  for (gint i = 0; i < n; i++)
    offset += index[i] * strides[i];

  return offset;
}

/* The loops of the labels: those of the output, then those that are summed over. */
typedef struct
{
  guint         n_in;
  gint          n_loops, n_out;
  const gint64 *dims, *strides;      /* MAX_LOOPS of them for each input */
  gconstpointer *in;                 /* f32, or i64 of integers, which keep the bits of their type */
} Loops;

static double
sum_real (const Loops *l,
          gint64      *index)
{
  double sum = 0;

  do
    {
      double product = 1;

      for (guint k = 0; k < l->n_in; k++)
        product *= ((const float *) l->in[k])[offset_of (l->n_loops, index, l->strides + k * MAX_LOOPS)];
      sum += product;
    }
  while (lpt_index_next (l->n_loops - l->n_out, l->dims + l->n_out, index + l->n_out));

  return sum;
}

static gint64
sum_whole (const Loops *l,
           gint64      *index)
{
  guint64 sum = 0;

  do
    {
      guint64 product = 1;

      for (guint k = 0; k < l->n_in; k++)
        product *= ((const guint64 *) l->in[k])[offset_of (l->n_loops, index, l->strides + k * MAX_LOOPS)];
      sum += product;
    }
  while (lpt_index_next (l->n_loops - l->n_out, l->dims + l->n_out, index + l->n_out));

  return (gint64) sum;
}

gboolean
lpt_run_einsum (LptCall *call,
                GError **error)
{
  g_autofree LptTermAxes *terms = g_new0 (LptTermAxes, call->n_in);
  g_autofree gint64 *strides = g_new0 (gint64, (gsize) call->n_in * MAX_LOOPS);
  g_autofree gconstpointer *in = g_new0 (gconstpointer, call->n_in);
  const gboolean whole = lpt_call_wraps (call);
  gint64 length[LPT_TERM_N_LABELS], dims[MAX_LOOPS], index[MAX_LOOPS] = { 0 };
  gint loop_of[LPT_TERM_N_LABELS], n_loops = 0, i;
  gboolean empty = FALSE;
  Loops loops;
  LptTermAxes out;
  guint k;
  gint64 at = 0;
  gpointer y;

  if (!read_equation (call, terms, &out, error))
    return FALSE;

  if (!find_lengths (call, terms, length, error))
    return FALSE;
  for (i = 0; i < LPT_TERM_N_LABELS; i++)
    loop_of[i] = -1;
  for (i = 0; i < out.n + LPT_TERM_N_LABELS; i++)
    {
      gint label = i < out.n ? out.labels[i] : i - out.n;

      if (length[label] < 0 || loop_of[label] >= 0)
        {
          if (i >= out.n)
            continue;
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the output's subscripts are repeated or unknown");
          return FALSE;
        }
      if (n_loops == MAX_LOOPS)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: more than %d labels", MAX_LOOPS);
          return FALSE;
        }
      dims[n_loops] = length[label];
      loop_of[label] = n_loops++;
    }

  for (k = 0; k < call->n_in; k++)
    {
      gint64 own[LPT_MAX_RANK];

      in[k] = whole ? (gconstpointer) lpt_call_whole (call, k, error) : lpt_call_f32 (call, k, error);
      if (in[k] == NULL)
        return FALSE;
      lpt_shape_strides (&call->in[k].shape, own);
      for (i = 0; i < terms[k].n; i++)
        if (call->in[k].shape.dims[i] != 1)
          strides[k * MAX_LOOPS + (guint) loop_of[terms[k].labels[i]]] += own[i];
    }
  y = whole ? (gpointer) lpt_call_out_i64 (call, 0, error) : lpt_call_out_f32 (call, 0, error);
  if (y == NULL || lpt_array_count (&call->out[0]) == 0)
    return y != NULL;

  for (i = out.n; i < n_loops; i++)
    empty = empty || dims[i] == 0;
  loops = (Loops) { call->n_in, n_loops, out.n, dims, strides, in };
  do
    if (whole)
      ((gint64 *) y)[at++] = empty ? 0 : sum_whole (&loops, index);
    else
      ((float *) y)[at++] = empty ? 0 : (float) sum_real (&loops, index);
  while (lpt_index_next (out.n, dims, index));
  if (whole)
    lpt_call_wrap (call, y, at);

  return TRUE;
}
