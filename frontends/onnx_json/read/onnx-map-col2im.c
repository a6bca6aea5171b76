/* onnx-map-col2im.c - ONNX Col2Im: columns are blocks of an image, which overlap and are added
 *
 *   X [N, C k, L]   k the product of the block's lengths, L that of the numbers of blocks, b, along the spatial axes
 *
 * That is a transposed convolution of X as [N, C k, b...], a group for each channel, whose weights [C, k, 1, block...]
 * put element i of a column at place i of the block. What the blocks do not reach of the image is 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#define MAX_SPATIAL 3          /* what the convolutions have */
#define MAX_BLOCK   65536      /* elements of a block */
#define MAX_WEIGHTS (1 << 24)  /* their square for each channel */

typedef struct
{
  guint  n;
  gint64 image[MAX_SPATIAL], block[MAX_SPATIAL], strides[MAX_SPATIAL], dilations[MAX_SPATIAL];
  gint64 begin[MAX_SPATIAL], end[MAX_SPATIAL], more[MAX_SPATIAL], blocks[MAX_SPATIAL];
  gint64 elements;             /* of a block */
} Fold;

/* @list, or @fallback for each where it is not given. */
static gboolean
take (LptInts *list,
      guint    n,
      gint64   fallback,
      gint64   least)
{
  if (list->n == 0)
    lpt_ints_fill (list, n, fallback);
  for (guint i = 0; i < list->n; i++)
    if (list->v[i] < least || list->v[i] > G_MAXINT32)
      return FALSE;
  return list->n == n;
}

static gboolean
read_fold (LptOnnxNode *on,
           Fold        *f)
{
  LptInts image = { 0 }, block = { 0 }, strides = { 0 }, dilations = { 0 }, pads = { 0 };
  gboolean good;

  lpt_onnx_ints_in (on, 1, &image);
  lpt_onnx_ints_in (on, 2, &block);
  lpt_onnx_ints (on, "strides", &strides);
  lpt_onnx_ints (on, "dilations", &dilations);
  lpt_onnx_ints (on, "pads", &pads);
  f->n = image.n;
  good = f->n >= 1 && f->n <= MAX_SPATIAL && take (&image, f->n, 0, 1) && take (&block, f->n, 0, 1) &&
         take (&strides, f->n, 1, 1) && take (&dilations, f->n, 1, 1) && take (&pads, 2 * f->n, 0, 0);
  f->elements = 1;
  for (guint i = 0; good && i < f->n; i++)
    {
      const gint64 span = (block.v[i] - 1) * dilations.v[i] + 1;
      const gint64 room = image.v[i] + pads.v[i] + pads.v[f->n + i] - span;

      f->image[i] = image.v[i];
      f->block[i] = block.v[i];
      f->strides[i] = strides.v[i];
      f->dilations[i] = dilations.v[i];
      f->begin[i] = pads.v[i];
      f->end[i] = pads.v[f->n + i];
      f->blocks[i] = room >= 0 ? room / strides.v[i] + 1 : 0;
      f->more[i] = room >= 0 ? room % strides.v[i] : 0;
      f->elements *= block.v[i];
      good = room >= 0 && f->elements <= MAX_BLOCK;
    }
  if (on->error == NULL && !good)
    lpt_onnx_unsupported (on, "image, block, strides, dilations or pads: 1 to %d axes, blocks within the image",
                          MAX_SPATIAL);
  lpt_ints_clear (&image);
  lpt_ints_clear (&block);
  lpt_ints_clear (&strides);
  lpt_ints_clear (&dilations);
  lpt_ints_clear (&pads);
  return on->error == NULL;
}

/* [C, k, 1, block...]: 1 where the element of the column is that of the block. */
static LptValue *
places (LptOnnxNode *on,
        const Fold  *f,
        gint64       channels,
        LptDType     dtype)
{
  const gint64 k = f->elements;
  LptShape shape = { .rank = (gint) f->n + 3, .dims = { channels, k, 1 } };
  g_autofree double *values = g_try_new0 (double, (gsize) (channels * k * k));

  if (values == NULL)
    {
      lpt_onnx_fail (on, LPT_ERROR_LIMIT, "no memory for the places of %" G_GINT64_FORMAT " elements", k);
      return NULL;
    }
  for (guint i = 0; i < f->n; i++)
    shape.dims[3 + i] = f->block[i];
  for (gint64 c = 0; c < channels; c++)
    for (gint64 i = 0; i < k; i++)
      values[(c * k + i) * k + i] = 1;
  return lpt_onnx_tensor_value (on, lpt_tensor_from_f64 (dtype, &shape, values, NULL));
}

void
lpt_onnx_map_col2im (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_with_rank (on, lpt_onnx_in (on, 0), 3), *weights;
  gint64 dims[MAX_SPATIAL + 2] = { 0, 0 };   /* batch and channels as they are */
  Fold f = { 0 };
  LptDeconvAttrs *attrs;
  LptNode *node;

  if (!read_fold (on, &f))
    return;
  if (lpt_onnx_rank (on, x) != 3 || x->shape.dims[1] == LPT_DYNAMIC || x->shape.dims[1] % f.elements != 0
      || x->shape.dims[1] > MAX_WEIGHTS / f.elements)
    {
      lpt_onnx_unsupported (on, "columns that are not known to be a few blocks of %" G_GINT64_FORMAT " elements",
                            f.elements);
      return;
    }
  for (guint i = 0; i < f.n; i++)
    dims[2 + i] = f.blocks[i];
  weights = places (on, &f, x->shape.dims[1] / f.elements, x->dtype);
  if (weights == NULL)
    return;
  node = lpt_onnx_add (on, LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA, 2, lpt_onnx_reshape_keep (on, x, f.n + 2, dims),
                       weights);
  attrs = LPT_ATTRS (node, LptDeconvAttrs);
  lpt_ints_set (&attrs->strides, f.n, f.strides);
  lpt_ints_set (&attrs->dilations, f.n, f.dilations);
  lpt_ints_set (&attrs->pads_begin, f.n, f.begin);
  lpt_ints_set (&attrs->pads_end, f.n, f.end);
  lpt_ints_set (&attrs->output_padding, f.n, f.more);
  attrs->auto_pad = LPT_AUTO_PAD_EXPLICIT;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}
