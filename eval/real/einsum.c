/* einsum.c - Einsum: sums of products over labelled axes
 *
 * Every label is a loop: those of the output outside, the others inside. "..." stands for broadcast axes, aligned
 * at the right. Without "->" the output has the ellipsis and then the labels that occur once, in
 * alphabetical order. A repeated label in one operand walks its diagonal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"

#define N_LETTERS 128
#define N_LABELS  (N_LETTERS + LPT_MAX_RANK)
#define MAX_LOOPS 32

typedef struct
{
  gint n;
  gint labels[LPT_MAX_RANK];
} Term;

/* "ab...c" for an operand of @rank axes; rank < 0: the output, whose ellipsis has @ellipsis axes. */
static gboolean
parse_term (const char *text,
            gsize       length,
            gint        rank,
            gint        ellipsis,
            Term       *term,
            GError    **error)
{
  gint letters = 0, i;
  gsize at;

  for (at = 0; at < length; at++)
    letters += g_ascii_isalpha (text[at]);
  if (rank >= 0)
    ellipsis = rank - letters;
  term->n = 0;
  for (at = 0; at < length && ellipsis >= 0 && letters + ellipsis <= LPT_MAX_RANK; at++)
    if (g_ascii_isalpha (text[at]))
      term->labels[term->n++] = text[at];
    else if (length - at >= 3 && strncmp (text + at, "...", 3) == 0)
      {
        for (i = 0; i < ellipsis; i++)
          term->labels[term->n++] = N_LETTERS + LPT_MAX_RANK - ellipsis + i;
        at += 2;
      }
    else if (text[at] != ' ')
      break;

  if (at < length || (rank >= 0 && term->n != rank))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "subscript \"%.*s\" does not fit rank %d", (int) length, text,
                   rank);
      return FALSE;
    }

  return TRUE;
}

static gint
compare_ints (gconstpointer a,
              gconstpointer b)
{
  return *(const gint *) a - *(const gint *) b;
}

static void
implicit_output (const Term *terms,
                 guint       n,
                 Term       *out)
{
  guint seen[N_LABELS] = { 0 }, k;
  gint i;

  for (k = 0; k < n; k++)
    for (i = 0; i < terms[k].n; i++)
      seen[terms[k].labels[i]]++;
  out->n = 0;
  for (i = N_LETTERS; i < N_LABELS; i++)
    if (seen[i] > 0 && out->n < LPT_MAX_RANK)
      out->labels[out->n++] = i;
  k = (guint) out->n;
  for (i = 0; i < N_LETTERS; i++)
    if (seen[i] == 1 && out->n < LPT_MAX_RANK)
      out->labels[out->n++] = i;
  qsort (out->labels + k, (gsize) out->n - k, sizeof (gint), compare_ints);
}

static gboolean
parse_equation (LptCall *call,
                Term    *terms,
                Term    *out,
                GError **error)
{
  const char *text = LPT_ATTRS (call->node, LptEinsumAttrs)->equation, *arrow = strstr (text, "->");
  g_autofree char *left = arrow != NULL ? g_strndup (text, (gsize) (arrow - text)) : g_strdup (text);
  g_auto (GStrv) parts = g_strsplit (*left != '\0' ? left : " ", ",", -1);   /* a scalar has no labels */
  gint ellipsis = 0, i;
  guint k;

  if (g_strv_length (parts) != call->n_in)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "equation \"%s\" is not for %u inputs", text, call->n_in);
      return FALSE;
    }
  for (k = 0; k < call->n_in; k++)
    {
      gint own = 0;

      if (!parse_term (parts[k], strlen (parts[k]), call->in[k].shape.rank, 0, &terms[k], error))
        return FALSE;
      for (i = 0; i < terms[k].n; i++)
        own += terms[k].labels[i] >= N_LETTERS;
      ellipsis = MAX (ellipsis, own);
    }
  if (arrow == NULL)
    {
      implicit_output (terms, call->n_in, out);
      return TRUE;
    }

  return parse_term (arrow + 2, strlen (arrow + 2), -1, ellipsis, out, error);
}


/* How long the axis of each label is; -1: no input has it. */
static gboolean
find_lengths (LptCall    *call,
              const Term *terms,
              gint64     *length,
              GError    **error)
{
  guint k;
  gint i;

  for (i = 0; i < N_LABELS; i++)
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
  g_autofree Term *terms = g_new0 (Term, call->n_in);
  g_autofree gint64 *strides = g_new0 (gint64, (gsize) call->n_in * MAX_LOOPS);
  g_autofree gconstpointer *in = g_new0 (gconstpointer, call->n_in);
  const gboolean whole = lpt_call_wraps (call);
  gint64 length[N_LABELS], dims[MAX_LOOPS], index[MAX_LOOPS] = { 0 };
  gint loop_of[N_LABELS], n_loops = 0, i;
  gboolean empty = FALSE;
  Loops loops;
  Term out;
  guint k;
  gint64 at = 0;
  gpointer y;

  if (!parse_equation (call, terms, &out, error))
    return FALSE;

  if (!find_lengths (call, terms, length, error))
    return FALSE;
  for (i = 0; i < N_LABELS; i++)
    loop_of[i] = -1;
  for (i = 0; i < out.n + N_LABELS; i++)
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
