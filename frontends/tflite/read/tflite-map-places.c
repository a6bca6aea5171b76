/* tflite-map-places.c - maxima with their places, and back: custom operators
 *
 * MediaPipe's MaxPoolingWithArgmax2D says where in its window of R x S elements a maximum is, as a real number, and
 * MaxUnpooling2D puts numbers there, in blocks of R x S that are 0 elsewhere:
 *
 *     place = row S + column + 0.1                                        the first of equal ones, padding counts
 *     y[n, h R + r, w S + s, c] = x[n, h, w, c] where trunc (place[n, h, w, c]) = r S + s
 *
 * TensorFlow's MaxPoolWithArgmax has places in the whole image, (row W + column) C + channel, as its MaxUnpooling2D
 * takes them: the type of the places tells both operators of that name apart.
 *
 * Refused: blocks with strides other than their sides, lengths that are not known, batches that count in the place,
 * places of more than 32 bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "frontends/tflite/tflite-flex.h"

#include <string.h>

/* What TensorFlow Lite keeps of a pool, in words. */
enum { PADDING, STRIDE_COLUMNS, STRIDE_ROWS, COLUMNS, ROWS, ACTIVATION, WORDS };

#define MAX_SIDE 4096           /* of a window */

typedef struct
{
  gint64   kernel[2], strides[2];       /* rows, columns */
  gboolean same;
  gint64   activation;
} Places;

static gboolean
check (LptTflOp *op, const Places *p, const LptValue *x)
{
  for (guint a = 0; a < 2; a++)
    if (p->kernel[a] < 1 || p->kernel[a] > MAX_SIDE || p->strides[a] < 1 || p->strides[a] > MAX_SIDE)
      lpt_tfl_invalid (op, "a window or stride of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, p->kernel[a],
                       p->strides[a]);
  const gint64 *d = x->shape.dims;
  if (op->error == NULL && (x->shape.rank != 4 || d[1] < 1 || d[2] < 1 || d[3] < 1))
    lpt_tfl_unsupported (op, "data of other than four axes, of which the batch alone is open");
  if (op->error == NULL && (double) d[1] * (double) d[2] * (double) d[3] > G_MAXINT32)
    lpt_tfl_unsupported (op, "places of more than 32 bits");
  return op->error == NULL;
}

/* Options that are a structure of C. */
static gboolean
read_words (LptTflOp *op, Places *p, const LptValue *x)
{
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  gint32 words[WORDS];
  if (op->error == NULL && bytes.n < sizeof words)
    lpt_tfl_invalid (op, "%u bytes of options, fewer than %u", (guint) bytes.n, (guint) sizeof words);
  if (op->error != NULL)
    return FALSE;
  memcpy (words, op->flat->data + bytes.at, sizeof words);
  for (guint i = 0; i < WORDS; i++)
    words[i] = GINT32_FROM_LE (words[i]);
  *p = (Places) { { words[ROWS], words[COLUMNS] }, { words[STRIDE_ROWS], words[STRIDE_COLUMNS] }, words[PADDING] == 1,
                  words[ACTIVATION] };
  return check (op, p, x);
}

/* MaxPool with places in a plane, row W + column, both with the channels first. */
static LptNode *
maxima (LptTflOp *op, LptValue *x, const Places *p)
{
  LptValue *front = lpt_tfl_front (op, x);
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_MAX_POOL, 2, 1, &front);
  LptMaxPoolAttrs *attrs = LPT_ATTRS (node, LptMaxPoolAttrs);
  lpt_ints_set (&attrs->kernel, 2, p->kernel);
  lpt_ints_set (&attrs->strides, 2, p->strides);
  lpt_ints_fill (&attrs->pads_begin, 2, 0);
  lpt_ints_fill (&attrs->pads_end, 2, 0);
  lpt_ints_fill (&attrs->dilations, 2, 1);
  attrs->auto_pad = p->same ? LPT_AUTO_PAD_SAME_UPPER : LPT_AUTO_PAD_VALID;
  attrs->index_element_type = LPT_DTYPE_I32;
  attrs->axis = 2;
  lpt_tfl_done (op, node);
  return node;
}

/* Whole numbers from @first in steps, until all of @rank lengths have one; lengths are only said: no constant. */
static LptValue *
count (LptTflOp *op, gint64 first, gint64 step, guint rank, const gint64 *dims)
{
  gint64 last = 0;
  for (guint a = 0; a < rank; a++)
    last = (last + 1) * dims[a] - 1;
  LptNode *node = lpt_tfl_add (op, LPT_OP_RANGE, 3, lpt_tfl_i64_scalar (op, first),
                               lpt_tfl_i64_scalar (op, first + last * step + 1), lpt_tfl_i64_scalar (op, step));
  LPT_ATTRS (node, LptRangeAttrs)->output_type = LPT_DTYPE_I32;
  return lpt_tfl_reshape (op, lpt_tfl_done (op, node), rank, dims);
}

/* Where the @out windows over @in elements begin along spatial axis @a: a column, or a row. */
static LptValue *
starts (LptTflOp *op, const Places *p, guint a, gint64 in, gint64 out)
{
  const gint64 dims[] = { out, 1 };
  const gint64 padding = p->same ? MAX ((out - 1) * p->strides[a] + p->kernel[a] - in, 0) / 2 : 0;
  return count (op, -padding, p->strides[a], 2 - a, dims);
}

void
lpt_tfl_map_pool_places (LptTflOp *op)
{
  LptValue *x = lpt_tfl_real_of (op, lpt_tfl_in (op, 0));
  Places p;
  if (!read_words (op, &p, x))
    return;
  LptNode *node = maxima (op, x, &p);
  if (op->error != NULL)
    return;
  const gint64 *in = x->shape.dims + 1, *out = node->out[0].shape.dims + 2;
  /* Place in the plane to row and column, these to those in the window: less than 2^24 before they join again. */
  LptValue *at = &node->out[1], *row = lpt_tfl_emit (op, LPT_OP_DIVIDE, 2, at, lpt_tfl_like (op, at, (double) in[1]));
  LptValue *passed = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, row, lpt_tfl_like (op, row, (double) in[1]));
  LptValue *column = lpt_tfl_emit (op, LPT_OP_SUBTRACT, 2, at, passed);
  row = lpt_tfl_emit (op, LPT_OP_SUBTRACT, 2, row, starts (op, &p, 0, in[0], out[0]));
  column = lpt_tfl_emit (op, LPT_OP_SUBTRACT, 2, column, starts (op, &p, 1, in[1], out[1]));
  row = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, row, lpt_tfl_like (op, row, (double) p.kernel[1]));
  at = lpt_tfl_emit (op, LPT_OP_ADD, 2, row, column);
  at = lpt_tfl_convert (op, at, LPT_DTYPE_F32);
  at = lpt_tfl_emit (op, LPT_OP_ADD, 2, at, lpt_tfl_like (op, at, 0.1f));
  lpt_tfl_set (op, 0, lpt_tfl_back (op, lpt_tfl_activate (op, &node->out[0], p.activation)));
  lpt_tfl_set (op, 1, lpt_tfl_back (op, at));
}

/* Places in blocks: all of a block's elements beside each other, each is the number or 0. */
static LptValue *
fill_blocks (LptTflOp *op, LptValue *x, LptValue *places, const Places *p)
{
  const gint64 *in = x->shape.dims, apart[] = { -1, 1, in[2], 1, in[3] };
  const gint64 blocks[] = { p->kernel[0], 1, p->kernel[1], 1 };
  const gint64 image[] = { -1, in[1] * p->kernel[0], in[2] * p->kernel[1], in[3] };
  if (p->kernel[0] != p->strides[0] || p->kernel[1] != p->strides[1])
    lpt_tfl_unsupported (op, "blocks with strides other than their sides");
  if (op->error != NULL)
    return x;
  places = lpt_tfl_reshape (op, lpt_tfl_convert (op, places, LPT_DTYPE_I32), 5, apart);
  LptValue *hit = lpt_tfl_emit (op, LPT_OP_EQUAL, 2, places, count (op, 0, 1, 4, blocks));
  LptValue *y = lpt_tfl_emit (op, LPT_OP_SELECT, 3, hit, lpt_tfl_reshape (op, x, 5, apart), lpt_tfl_like (op, x, 0));
  return lpt_tfl_reshape (op, y, 4, image);
}

/* Places in the image. */
static LptValue *
fill_image (LptTflOp *op, LptValue *x, LptValue *places, const Places *p)
{
  const gint64 *in = x->shape.dims;
  gint64 image[4] = { in[0], 0, 0, in[3] }, flat[2] = { in[0], in[1] * in[2] * in[3] }, room[2] = { in[0], in[3] };
  for (guint a = 0; a < 2; a++)
    {
      image[1 + a] = p->same ? in[1 + a] * p->strides[a] : (in[1 + a] - 1) * p->strides[a] + p->kernel[a];
      room[1] *= image[1 + a];
    }
  if (in[0] < 1 || !lpt_shape_equal (&x->shape, &places->shape))
    lpt_tfl_unsupported (op, "numbers without a place each, or an open batch");
  if (op->error != NULL)
    return x;
  LptValue *zeros = lpt_tfl_broadcast (op, lpt_tfl_like (op, x, 0), lpt_tfl_i64 (op, 2, room));
  LptNode *node = lpt_tfl_add (op, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, zeros, lpt_tfl_reshape (op, places, 2, flat),
                               lpt_tfl_reshape (op, x, 2, flat), lpt_tfl_i64_scalar (op, 1));
  /* One maximum of several windows is put where it was by each of them. */
  if (p->kernel[0] > p->strides[0] || p->kernel[1] > p->strides[1])
    {
      node->opset = 12;
      LPT_ATTRS (node, LptScatterAttrs)->reduction = LPT_REDUCTION_MAX;
      LPT_ATTRS (node, LptScatterAttrs)->use_init_val = FALSE;
    }
  return lpt_tfl_reshape (op, lpt_tfl_done (op, node), 4, image);
}

void
lpt_tfl_map_unpool (LptTflOp *op)
{
  LptValue *x = lpt_tfl_real_of (op, lpt_tfl_in (op, 0)), *places = lpt_tfl_in (op, 1);
  Places p;
  if (!read_words (op, &p, x))
    return;
  lpt_tfl_set (op, 0, lpt_dtype_is_real (places->dtype) ? fill_blocks (op, x, places, &p)
                                                        : fill_image (op, x, places, &p));
}

void
lpt_tfl_map_pool_argmax (LptTflOp *op)
{
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  const guint8 *data = op->flat->data + bytes.at;
  LptValue *x = lpt_tfl_real_of (op, lpt_tfl_in (op, 0));
  gint64 kernel[4] = { 0 }, strides[4] = { 0 };
  if (op->error != NULL)
    return;
  if (!lpt_tfl_flex_list (data, bytes.n, "ksize", 4, kernel)
      || !lpt_tfl_flex_list (data, bytes.n, "strides", 4, strides) || kernel[0] != 1 || kernel[3] != 1
      || strides[0] != 1 || strides[3] != 1)
    lpt_tfl_invalid (op, "ksize and strides are not of rows and columns");
  if (lpt_tfl_flex_number (data, bytes.n, "include_batch_in_index", 0) != 0)
    lpt_tfl_unsupported (op, "batches that count in the place");
  Places p = { { kernel[1], kernel[2] }, { strides[1], strides[2] },
               lpt_tfl_flex_is (data, bytes.n, "padding", "SAME"), 0 };
  if (op->error != NULL || !check (op, &p, x))
    return;
  LptNode *node = maxima (op, x, &p);
  const gint64 channels = x->shape.dims[3], dims[] = { channels, 1, 1 };
  LptValue *at = &node->out[1];
  at = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, at, lpt_tfl_like (op, at, (double) channels));
  at = lpt_tfl_emit (op, LPT_OP_ADD, 2, at, count (op, 0, 1, 3, dims));
  lpt_tfl_set (op, 0, lpt_tfl_back (op, &node->out[0]));
  lpt_tfl_set (op, 1, lpt_tfl_back (op, at));
}
