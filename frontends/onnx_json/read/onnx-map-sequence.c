/* onnx-map-sequence.c - sequences of tensors, as far as the model says how many there are
 *
 * The graph has no sequences. One whose length follows from the model is a list of values here: what reads an element,
 * the length or all of them joined becomes ops on those values, and nothing is left of the sequence. Its name is that
 * of a constant that nobody may read but the operators below, Identity, branches that are always taken and functions.
 *
 * Refused: positions that are computed, pieces of an axis of unknown length, sequences that enter or leave a body or
 * the model, a list of more than MOST elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-scope.h"
#include "ir/infer/lpt-infer-util.h"

#define MOST 4096

/* --- lists ----------------------------------------------------------------------- */

/* The tensor tells it from all others: the table holds it, so that no other one gets its address. */
static GPtrArray *
find_list (const LptOnnxImport *import,
           const LptValue      *value)
{
  return value != NULL && value->producer->data != NULL ? g_hash_table_lookup (import->sequences, value->producer->data)
                                                        : NULL;
}

gboolean
lpt_onnx_is_sequence (const LptOnnxImport *import,
                      const LptValue      *value)
{
  return find_list (import, value) != NULL;
}

gboolean
lpt_onnx_takes_sequence (const LptOnnxOp *op)
{
  static const LptOnnxMapFunc takers[] = {
    lpt_onnx_map_sequence_insert, lpt_onnx_map_sequence_erase, lpt_onnx_map_sequence_at,
    lpt_onnx_map_sequence_length, lpt_onnx_map_concat_from_sequence, lpt_onnx_map_identity,
  };

  for (guint i = 0; i < G_N_ELEMENTS (takers); i++)
    if (op->map == takers[i])
      return TRUE;
  return FALSE;
}

/* Input 0 as a list of LptValue * (transfer none); an error and NULL when it is none. */
static GPtrArray *
list_in (LptOnnxNode *on)
{
  GPtrArray *list = find_list (on->import, lpt_onnx_in (on, 0));

  if (list == NULL && on->error == NULL)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "input 0 is no sequence");
  return list;
}

/* Output 0 is @list (transfer full). */
static void
set_list (LptOnnxNode *on,
          GPtrArray   *list)
{
  LptValue *name = lpt_onnx_i64 (on, 0, NULL);

  if (list->len > MOST)
    lpt_onnx_unsupported (on, "sequence of more than %u elements", MOST);
  if (on->error != NULL || name->producer->data == NULL)
    g_ptr_array_unref (list);
  else
    g_hash_table_insert (on->import->sequences, lpt_tensor_ref (name->producer->data), list);
  lpt_onnx_set (on, 0, name);
}

static GPtrArray *
copy_list (const GPtrArray *list)
{
  GPtrArray *copy = g_ptr_array_new ();

  for (guint i = 0; i < list->len; i++)
    g_ptr_array_add (copy, list->pdata[i]);
  return copy;
}

/* The place that input @i says in a list of @n places, counted from the front; @fallback where it is not given. */
static gint64
place_in (LptOnnxNode *on,
          guint        i,
          gint64       n,
          gint64       fallback)
{
  LptInts list = { 0 };
  gint64 place = fallback;

  if (lpt_onnx_optional (on, i) == NULL)
    return fallback;
  if (lpt_onnx_ints_in (on, i, &list) && list.n == 1)
    place = list.v[0] < 0 ? list.v[0] + n : list.v[0];
  else if (on->error == NULL)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "input %u is not one number", i);
  if (on->error == NULL && (place < 0 || place >= n))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "input %u is outside the sequence", i);
  lpt_ints_clear (&list);
  return on->error == NULL ? place : 0;
}

/* --- operators ------------------------------------------------------------------- */

void
lpt_onnx_map_sequence_empty (LptOnnxNode *on)
{
  lpt_onnx_dtype (on, "dtype");
  set_list (on, g_ptr_array_new ());
}

void
lpt_onnx_map_sequence_construct (LptOnnxNode *on)
{
  GPtrArray *list = g_ptr_array_new ();

  for (guint i = 0; i < on->n_in; i++)
    g_ptr_array_add (list, lpt_onnx_in (on, i));
  set_list (on, list);
}

void
lpt_onnx_map_sequence_insert (LptOnnxNode *on)
{
  GPtrArray *list = list_in (on);
  LptValue *value = lpt_onnx_in (on, 1);
  gint64 place = list != NULL ? place_in (on, 2, list->len + 1, list->len) : 0;

  if (lpt_onnx_is_sequence (on->import, value))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "input 1 is a sequence");
  if (on->error != NULL)
    return;
  /* A negative place counts from the end of the list as it is. */
  if (lpt_onnx_optional (on, 2) != NULL && lpt_tensor_get_f64 (lpt_onnx_const_in (on, 2), 0) < 0)
    place--;
  if (place < 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "input 2 is outside the sequence");
      return;
    }
  list = copy_list (list);
  g_ptr_array_insert (list, (gint) place, value);
  set_list (on, list);
}

void
lpt_onnx_map_sequence_erase (LptOnnxNode *on)
{
  GPtrArray *list = list_in (on);
  gint64 place = list != NULL ? place_in (on, 1, list->len, (gint64) list->len - 1) : 0;

  if (on->error == NULL && list->len == 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "the sequence is empty");
  if (on->error != NULL)
    return;
  list = copy_list (list);
  g_ptr_array_remove_index (list, (guint) place);
  set_list (on, list);
}

void
lpt_onnx_map_sequence_at (LptOnnxNode *on)
{
  GPtrArray *list = list_in (on);
  gint64 place;

  lpt_onnx_in (on, 1);
  place = list != NULL && on->error == NULL ? place_in (on, 1, list->len, 0) : 0;
  if (on->error == NULL)
    lpt_onnx_set (on, 0, list->pdata[place]);
}

void
lpt_onnx_map_sequence_length (LptOnnxNode *on)
{
  GPtrArray *list = list_in (on);

  if (list != NULL)
    lpt_onnx_set (on, 0, lpt_onnx_i64_scalar (on, list->len));
}

/* The lengths of the pieces: as input 1 lists them, or all the one that it gives, else 1, and what is left. */
static void
read_lengths (LptOnnxNode *on,
              gint64       length,
              LptInts     *lengths)
{
  gint64 step = 1, n;

  if (lpt_onnx_optional (on, 1) != NULL)
    {
      if (!lpt_onnx_ints_in (on, 1, lengths) || lpt_onnx_in (on, 1)->shape.rank != 0)
        return;
      step = lengths->n == 1 ? lengths->v[0] : 0;
      lpt_ints_clear (lengths);
    }
  n = step > 0 ? length / step + (length % step > 0) : 0;
  if (step < 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "pieces of length %" G_GINT64_FORMAT, step);
  else if (length == LPT_DYNAMIC)
    lpt_onnx_unsupported (on, "number of pieces: the length of the axis is not known");
  else if (n > MOST)
    lpt_onnx_unsupported (on, "sequence of more than %u elements", MOST);
  else
    {
      lpt_ints_fill (lengths, (guint) n, step);
      if (length % step != 0)
        lengths->v[lengths->n - 1] = length % step;
    }
}

void
lpt_onnx_map_split_to_sequence (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  gint axis = lpt_onnx_axis (on, lpt_onnx_int (on, "axis", 0), lpt_onnx_rank (on, x));
  gboolean keep = lpt_onnx_int (on, "keepdims", 1) != 0 || lpt_onnx_optional (on, 1) != NULL;
  GPtrArray *list = g_ptr_array_new ();
  LptInts lengths = { 0 };
  LptNode *node;

  if (on->error == NULL)
    read_lengths (on, lpt_shape_dim (&x->shape, axis), &lengths);
  if (on->error == NULL && lengths.n > MOST)
    lpt_onnx_unsupported (on, "sequence of more than %u elements", MOST);
  if (on->error == NULL && lengths.n > 0)
    {
      node = lpt_onnx_add_outs (on, LPT_OP_VARIADIC_SPLIT, lengths.n, 3, x, lpt_onnx_i64_scalar (on, axis),
                                lpt_onnx_i64_list (on, &lengths));
      lpt_onnx_done (on, node);
      for (guint i = 0; i < lengths.n; i++)
        g_ptr_array_add (list, keep ? &node->out[i] : lpt_onnx_squeeze (on, &node->out[i], axis));
    }
  lpt_ints_clear (&lengths);
  set_list (on, list);
}

void
lpt_onnx_map_concat_from_sequence (LptOnnxNode *on)
{
  GPtrArray *list = list_in (on);
  gint64 axis = lpt_onnx_int (on, "axis", 0);
  gboolean fresh = lpt_onnx_int (on, "new_axis", 0) != 0;
  g_autofree LptValue **parts = NULL;
  gint rank;

  if (list == NULL)
    return;
  if (list->len == 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "the sequence is empty");
      return;
    }
  rank = lpt_onnx_rank (on, list->pdata[0]);
  axis = lpt_onnx_axis (on, axis, rank + (fresh ? 1 : 0));
  parts = g_new (LptValue *, list->len);
  for (guint i = 0; i < list->len; i++)
    parts[i] = fresh ? lpt_onnx_unsqueeze (on, list->pdata[i], axis) : list->pdata[i];
  lpt_onnx_set (on, 0, lpt_onnx_concat (on, axis, list->len, parts));
}
