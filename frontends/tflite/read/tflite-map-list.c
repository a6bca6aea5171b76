/* tflite-map-list.c - TensorFlow's lists of tensors, of Flex or as custom operators
 *
 * A list whose elements are there is a tensor with one axis more, the first: FromTensor and Stack are that tensor,
 * GetItem is a Gather. One that is made for n elements (Reserve) and filled (SetItem) is one where a loop does that
 * (tflite-map-while.c). What is done otherwise with lists stays operators that are kept, and cannot run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

/* Is input @i a tensor, or a list that became one? What has strings is kept before it comes here. */
static gboolean
is_tensor (LptTflOp *op, guint i)
{
  LptTflTensor *t = lpt_tfl_in_tensor (op, i);
  return t != NULL && !t->is_filled && t->n_reserved == 0
         && (t->value == NULL ? t->dtype != LPT_DTYPE_UNDEFINED : t->value->dtype != LPT_DTYPE_STRING);
}

void
lpt_tfl_map_list_reserve (LptTflOp *op)
{
  LptTensor *n = lpt_tfl_const_in (op, 1);
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  lpt_tfl_keep (op);
  if (n != NULL && out != NULL && lpt_tensor_count (n) == 1)
    out->n_reserved = MAX (lpt_tensor_get_i64 (n, 0), 0);
}

/* list, place, element */
void
lpt_tfl_map_list_set_item (LptTflOp *op)
{
  LptTflTensor *list = lpt_tfl_in_tensor (op, 0), *out = lpt_tfl_out_tensor (op, 0);
  if (list == NULL || out == NULL || !list->is_filled)
    {
      lpt_tfl_keep (op);
      return;
    }
  out->place = lpt_tfl_in (op, 1);
  out->item = lpt_tfl_in (op, 2);
  out->is_filled = TRUE;
}

void
lpt_tfl_map_list_stack (LptTflOp *op)
{
  if (is_tensor (op, 0))
    lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, lpt_tfl_in (op, 0)));
  else
    lpt_tfl_keep (op);
}

void
lpt_tfl_map_list_get_item (LptTflOp *op)
{
  if (is_tensor (op, 0))
    lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_GATHER, 3, lpt_tfl_in (op, 0), lpt_tfl_in (op, 1),
                                      lpt_tfl_i64_scalar (op, 0)));
  else
    lpt_tfl_keep (op);
}

void
lpt_tfl_map_list_length (LptTflOp *op)
{
  if (!is_tensor (op, 0))
    {
      lpt_tfl_keep (op);
      return;
    }
  LptValue *shape = lpt_tfl_shape_of (op, lpt_tfl_in (op, 0));
  lpt_tfl_set (op, 0, lpt_tfl_squeeze (op, lpt_tfl_slice (op, shape, 0, 0, 1), 0));
}
