/* tflite-write-fourier.c - RDFT as RFFT2D, whose complex numbers are taken apart
 *
 * Over the last axis, or the last two, of lengths that are powers of two; others become products with the roots of
 * unity (tflite-expand-fourier.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

void
lpt_tfl_write_rdft (LptTflWriter *w, gint64 code)
{
  LptValue *x = lpt_node_in (w->node, 0), *y = lpt_node_out (w->node);
  LptInts axes = { 0 }, sizes = { 0 };
  gint rank = x->shape.rank;
  gint64 length[2] = { 1, 1 };
  gboolean one = FALSE;
  gboolean ok = rank > 0 && lpt_node_ints_in (w->node, 1, &axes) && axes.n >= 1 && axes.n <= 2
                && (lpt_node_in (w->node, 2) == NULL || lpt_node_ints_in (w->node, 2, &sizes));
  for (guint i = 0; ok && i < axes.n; i++)
    {
      gint64 axis = axes.v[i] < 0 ? axes.v[i] + rank : axes.v[i];
      gint64 size = lpt_ints_get (&sizes, i, -1) < 0 ? x->shape.dims[axis] : sizes.v[i];
      ok = axis == rank - (gint) axes.n + (gint) i && size > 0 && (size & (size - 1)) == 0;
      one = size == 1;
      length[2 - axes.n + i] = size;
    }
  if (ok && one)      /* of lines of one number RFFT2D leaves the imaginary part as it was */
    lpt_tfl_w_fail (w, "a Fourier transform of length 1");
  if (!ok)
    lpt_tfl_w_fail (w, "a Fourier transform along other axes than the last two, or not of a power of two");
  gint in = lpt_tfl_w_in (w, 0, LPT_TFL_PLAIN), parts[2];
  gboolean lift = axes.n == 1;
  lpt_ints_clear (&axes);
  lpt_ints_clear (&sizes);
  if (w->error != NULL)
    return;
  LptShape shape = y->shape, wide = x->shape;
  shape.rank--;
  LptShape bins = shape;
  if (lift)
    {
      /* [.., n] -> [.., 1, n] */
      wide.dims[wide.rank] = wide.dims[wide.rank - 1];
      wide.dims[wide.rank++ - 1] = 1;
      in = lpt_tfl_w_reshape (w, in, &wide, NULL, -1);
      bins.dims[bins.rank] = bins.dims[bins.rank - 1];
      bins.dims[bins.rank++ - 1] = 1;
    }
  gint numbers = lpt_tfl_w_tensor (w, "complex", LPT_DTYPE_F32, &bins, NULL);
  lpt_tfl_w_get (w, numbers)->type = TFL_TYPE_COMPLEX64;
  lpt_tfl_w_op (w, code, 2, (gint[]) { in, lpt_tfl_w_i32s (w, "lengths", 2, length) }, numbers);
  for (guint i = 0; i < 2; i++)
    {
      gint part = lpt_tfl_w_tensor (w, i == 0 ? "real" : "imaginary", LPT_DTYPE_F32, &bins, NULL);
      lpt_tfl_w_op (w, i == 0 ? TFL_REAL : TFL_IMAG, 1, &numbers, part);
      parts[i] = lift ? lpt_tfl_w_reshape (w, part, &shape, NULL, -1) : part;
    }
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_PACK, 2, parts, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (PackOptions, values_count, 2));
  lpt_tfl_w_set (op, LPT_TFL_INT (PackOptions, axis, shape.rank));
}
