/* lpt-trips.c - what trips of a loop read and leave, whoever runs them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-trips.h"
#include "ir/lpt-memory.h"

/* Codes of a lowered body are the same integers in another storage where the node has no quantization. */
gboolean
lpt_trips_copy (const LptArray *from,
                LptDType        storage,
                gpointer        to,
                GError        **error)
{
  gsize size = (gsize) lpt_array_count (from) * lpt_storage_size (storage);
  g_autoptr (LptTensor) converted = NULL;

  if (from->dtype == storage)
    {
      memcpy (to, from->data, size);
      return TRUE;
    }
  converted = lpt_array_to_tensor (from, storage, error);
  if (converted == NULL)
    return FALSE;
  memcpy (to, lpt_tensor_data (converted), size);

  return TRUE;
}

/* A body may give another shape than the node's output is declared to have. */
gboolean
lpt_trips_set_shape (LptCall        *call,
                     guint           o,
                     const LptShape *shape,
                     GError        **error)
{
  const LptShape *declared = &call->node->out[o].shape;
  g_autofree char *is = NULL, *was = NULL;

  if (lpt_shape_compatible (shape, declared))
    return lpt_call_set_shape (call, o, shape, error);
  is = lpt_shape_to_string (shape);
  was = lpt_shape_to_string (declared);
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "output %u is declared as [%s], its body gives [%s]", o, was, is);

  return FALSE;
}

gboolean
lpt_trips_set_output (LptCall        *call,
                      guint           o,
                      const LptArray *from,
                      GError        **error)
{
  if (from->declared != call->out[o].declared)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "output %u is %s, its body gives %s", o,
                   lpt_dtype_name (call->out[o].declared), lpt_dtype_name (from->declared));
      return FALSE;
    }

  return lpt_trips_set_shape (call, o, &from->shape, error) &&
         lpt_trips_copy (from, call->out[o].dtype, call->out[o].data, error);
}

gboolean
lpt_trips_slices (const LptArray    *array,
                  const LptBodyPort *port,
                  gint              *axis,
                  gint64            *start,
                  gint64            *count,
                  GError           **error)
{
  gint64 length, end, span, stride = ABS (port->stride);

  if (!lpt_axis_normalize (port->axis, array->shape.rank, axis) || port->part_size < 1 || stride < 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input %d has no slices along axis %" G_GINT64_FORMAT,
                   port->external, port->axis);
      return FALSE;
    }
  length = array->shape.dims[*axis];
  *start = MIN (port->start < 0 ? port->start + length : port->start, length - 1);
  end = MIN (port->end < 0 ? port->end + length : port->end, length - 1);
  span = ABS (end - *start) + 1;
  *count = length == 0 || span < port->part_size ? 0 : (span - port->part_size) / stride + 1;

  return TRUE;
}

gboolean
lpt_trips_take (LptCall *call,
                GError **error)
{
  if (--*call->trips >= 0)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_LIMIT,
               "the loops of this run take more than %" G_GINT64_FORMAT " trips together", lpt_limits_trips ());

  return FALSE;
}
