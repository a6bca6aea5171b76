/* arrays.c - samples from arrays that are at hand
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-compare.h>
#include <lpt/lpt-executor.h>

#include <string.h>

typedef struct
{
  LptData    data;
  LptTensor **tensors;
  LptShape   *shapes;     /* of one run */
  guint       n_inputs;
} Arrays;

static gboolean
get (LptData *self, guint i, LptTensor **tensors, GError **error)
{
  const Arrays *arrays = (const Arrays *) self;
  for (guint k = 0; k < arrays->n_inputs; k++)
    {
      LptTensor *whole = arrays->tensors[k];
      tensors[k] = lpt_shape_equal (lpt_tensor_shape (whole), &arrays->shapes[k]) ? lpt_tensor_ref (whole) : NULL;
      if (tensors[k] == NULL)
        {
          gsize size = lpt_tensor_size (whole) / self->n;
          tensors[k] = lpt_tensor_new_copy (lpt_tensor_dtype (whole), &arrays->shapes[k],
                                            (const guint8 *) lpt_tensor_data (whole) + i * size, error);
        }
      if (tensors[k] == NULL)
        {
          while (k-- > 0)
            g_clear_pointer (&tensors[k], lpt_tensor_unref);
          return FALSE;
        }
    }
  return TRUE;
}

static void
free_arrays (LptData *self)
{
  Arrays *arrays = (Arrays *) self;
  for (guint i = 0; i < arrays->n_inputs; i++)
    lpt_tensor_unref (arrays->tensors[i]);
  g_free (arrays->tensors);
  g_free (arrays->shapes);
  g_free (arrays);
}

LptData *
lpt_data_from_arrays (LptGraph *graph, LptTensor *const *tensors, GError **error)
{
  guint n = graph->parameters->len;
  g_autofree LptShape *shapes = g_new0 (LptShape, n + 1);
  gint64 runs = lpt_plan_stack (graph, tensors, shapes, error);
  if (runs == 0)
    return NULL;
  Arrays *arrays = g_new0 (Arrays, 1);
  arrays->data = (LptData) { .n = (guint) runs, .get = get, .free = free_arrays };
  arrays->n_inputs = n;
  arrays->shapes = g_steal_pointer (&shapes);
  arrays->tensors = g_new0 (LptTensor *, n + 1);
  for (guint i = 0; i < n; i++)
    arrays->tensors[i] = lpt_tensor_ref (tensors[i]);
  return &arrays->data;
}
