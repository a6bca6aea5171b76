/* onnx-encodings.c - tensors of a model become what a file of encodings says their codes are
 *
 *     constant w     =>  DequantizeLinear (codes), codes = clamp (round (w / scale) + zero point)
 *     other tensors  =>  FakeQuantize over scale offset ... scale (offset + 2^bits - 1), 2^bits levels
 *
 * with scales per tensor, per channel or (constants) in blocks. Codes are signed where they lie evenly about zero.
 * Constants whose offset is no zero point of codes (not whole, or zero is outside of the interval) get a FakeQuantize,
 * too. Names inside of functions are not the file's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-encodings.h"

#include "frontends/onnx_json/read/onnx-scope.h"

#include <math.h>
#include <string.h>

/* --- axes ------------------------------------------------------------------------------------ */

/* Of the output channels of input @i of @node; negative ones count from the end. */
static gint
output_axis (const Onnx__NodeProto *node,
             gsize                  i)
{
  const char *op = lpt_onnx_text (node->op_type);

  if (strcmp (op, "ConvTranspose") == 0)
    return 1;
  if (strcmp (op, "MatMul") == 0)
    return i == 1 ? -1 : -2;
  if (strcmp (op, "Gemm") != 0 || i != 1)
    return 0;
  for (gsize k = 0; k < node->n_attribute; k++)
    if (strcmp (lpt_onnx_text (node->attribute[k]->name), "transB") == 0 && node->attribute[k]->i != 0)
      return 0;
  return 1;
}

void
lpt_onnx_encodings_find_axes (LptOnnxEncodings       *encodings,
                              const Onnx__GraphProto *graph)
{
  for (gsize n = 0; n < graph->n_node; n++)
    {
      const Onnx__NodeProto *node = graph->node[n];

      for (gsize i = 0; i < node->n_input; i++)
        {
          LptOnnxEncoding *encoding = g_hash_table_lookup (encodings->named, node->input[i]);

          if (encoding != NULL && encoding->axis == LPT_ONNX_OUT_CHANNELS)
            encoding->axis = output_axis (node, i);
        }
      for (gsize k = 0; k < node->n_attribute; k++)
        if (node->attribute[k]->g != NULL)
          lpt_onnx_encodings_find_axes (encodings, node->attribute[k]->g);
    }
}

/* --- scales ---------------------------------------------------------------------------------- */

/* How the scales of an encoding lie over a tensor. */
typedef struct
{
  gint     rank;             /* of the tensor */
  gint     axis;             /* of the channels, or of the blocks */
  LptShape shape;            /* of the scales: a scalar, 1 but along the axis, or the tensor's with blocks on it */
} Grid;

/* FALSE + error: the numbers do not fit the tensor. */
static gboolean
find_grid (const LptOnnxEncoding *encoding,
           const LptValue        *value,
           Grid                  *grid,
           GError               **error)
{
  const LptShape *shape = &value->shape;
  gint axis = encoding->axis == LPT_ONNX_OUT_CHANNELS ? 0 : encoding->axis;
  gint64 count = 1;

  *grid = (Grid) { .rank = shape->rank, .shape = LPT_SHAPE_SCALAR };
  if (encoding->n == 1 && encoding->block == 0)
    return TRUE;
  axis += axis < 0 ? shape->rank : 0;
  /* Blocks of whole channels lie on the other axis. */
  if (encoding->block > 0 && encoding->by_channel)
    axis = axis == 0 ? 1 : axis - 1;
  grid->axis = axis;
  if (axis >= 0 && axis < shape->rank && (encoding->block == 0 || lpt_shape_is_static (shape)))
    {
      grid->shape.rank = shape->rank;
      for (gint d = 0; d < shape->rank; d++)
        grid->shape.dims[d] = encoding->block > 0 ? shape->dims[d] : 1;
      grid->shape.dims[axis] = encoding->block > 0 ? (shape->dims[axis] + encoding->block - 1) / encoding->block
                                                   : encoding->n;
      for (gint d = 0; encoding->block > 0 && d < MIN (2, shape->rank); d++)
        count *= grid->shape.dims[d];
      if (encoding->block > 0 ? count == encoding->n && shape->rank >= 2
                              : shape->dims[axis] == LPT_DYNAMIC || shape->dims[axis] == encoding->n)
        return TRUE;
    }
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%u scales do not fit axis %d of a tensor of rank %d",
               encoding->n, axis, shape->rank);
  return FALSE;
}

/* The number of the encoding that element @i of the scales is: blocks of a channel may follow each other in the file,
 * and lie apart in the tensor. */
static guint
number_at (const LptOnnxEncoding *encoding,
           const Grid            *grid,
           gint64                 i)
{
  gint64 rest = 1, rows, columns;

  if (grid->shape.rank < 2 || encoding->block == 0)
    return (guint) i;
  for (gint d = 2; d < grid->shape.rank; d++)
    rest *= grid->shape.dims[d];
  rows = grid->shape.dims[0];
  columns = grid->shape.dims[1];
  i /= rest;
  return (guint) (encoding->by_channel && grid->axis == 0 ? i % columns * rows + i / columns : i);
}

static LptTensor *
spread (const LptOnnxEncoding *encoding,
        const Grid            *grid,
        const double          *numbers,
        LptDType               dtype)
{
  gint64 n;
  g_autofree double *values = NULL;

  if (!lpt_shape_count (&grid->shape, &n))
    return NULL;
  values = g_try_new (double, MAX (n, 1));
  for (gint64 i = 0; values != NULL && i < n; i++)
    values[i] = numbers[number_at (encoding, grid, i)];
  return values != NULL ? lpt_tensor_from_f64 (dtype, &grid->shape, values, NULL) : NULL;
}

/* --- codes ----------------------------------------------------------------------------------- */

/* The least code: below zero where all intervals lie evenly about it. */
static double
least_code (const LptOnnxEncoding *encoding)
{
  const double half = (double) (1u << (encoding->bits - 1));

  for (guint i = 0; i < encoding->n; i++)
    if (encoding->offset[i] != -half)
      return 0;
  return -half;
}

/* Is each offset the negative of a code? */
static gboolean
has_zero_points (const LptOnnxEncoding *encoding)
{
  for (guint i = 0; i < encoding->n; i++)
    if (encoding->offset[i] != rint (encoding->offset[i]) || encoding->offset[i] > 0 ||
        -encoding->offset[i] > (double) ((1u << encoding->bits) - 1))
      return FALSE;
  return TRUE;
}

static LptDType
code_type (guint    bits,
           gboolean is_signed)
{
  if (bits <= 4)
    return is_signed ? LPT_DTYPE_I4 : LPT_DTYPE_U4;
  if (bits <= 8)
    return is_signed ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  return is_signed ? LPT_DTYPE_I16 : LPT_DTYPE_U16;
}

/* Codes of the constant @value; @zero has the shape of the scales. NULL = no memory. */
static LptTensor *
make_codes (const LptOnnxEncoding *encoding,
            const Grid            *grid,
            const LptValue        *value,
            const double          *zero,
            double                 least)
{
  const double most = least + (double) ((1u << encoding->bits) - 1);
  g_autofree double *codes = lpt_tensor_to_f64 (value->producer->data, NULL);
  const gint64 count = lpt_tensor_count (value->producer->data);
  gint64 run = 1;

  if (codes == NULL)
    return NULL;
  for (gint d = grid->axis + 1; d < grid->rank; d++)
    run *= value->shape.dims[d];
  for (gint64 i = 0; i < count; i++)
    {
      const gint64 length = grid->shape.rank > 0 ? value->shape.dims[grid->axis] : 1, place = i / run % length;
      const gint64 at = grid->shape.rank == 0     ? 0
                        : encoding->block == 0    ? place
                                                  : (i / run / length * grid->shape.dims[grid->axis] +
                                                     place / encoding->block) * run + i % run;
      const guint k = number_at (encoding, grid, at);

      codes[i] = CLAMP (rintf ((float) codes[i] / (float) encoding->scale[k] + (float) zero[k]), least, most);
    }
  return lpt_tensor_from_f64 (code_type (encoding->bits, least < 0), &value->shape, codes, NULL);
}

/* As a DequantizeLinear of codes, which is what the node is read as. */
static LptValue *
dequantized_codes (LptOnnxNode           *on,
                   const LptOnnxEncoding *encoding,
                   const Grid            *grid,
                   LptValue              *value)
{
  const double least = least_code (encoding);
  g_autofree double *zero = g_new (double, encoding->n + 1);
  Onnx__AttributeProto axis = ONNX__ATTRIBUTE_PROTO__INIT, block = ONNX__ATTRIBUTE_PROTO__INIT;
  Onnx__AttributeProto *attributes[] = { &axis, &block };
  Onnx__NodeProto proto = *on->proto;
  LptOnnxNode node = *on;
  LptValue *in[3], *out[1] = { NULL };
  Grid numbers = *grid;

  for (guint i = 0; i < encoding->n; i++)
    zero[i] = least - encoding->offset[i];
  if (encoding->block == 0 && encoding->n > 1)
    numbers.shape = lpt_shape_make (1, (gint64[]) { encoding->n });
  in[0] = lpt_onnx_tensor_value (on, make_codes (encoding, grid, value, zero, least));
  in[1] = lpt_onnx_tensor_value (on, spread (encoding, &numbers, encoding->scale, LPT_DTYPE_F32));
  in[2] = lpt_onnx_tensor_value (on, spread (encoding, &numbers, zero, code_type (encoding->bits, least < 0)));
  axis.name = (char *) "axis";
  axis.type = block.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
  axis.i = grid->axis;
  block.name = (char *) "block_size";
  block.i = encoding->block;
  proto.attribute = attributes;
  proto.n_attribute = G_N_ELEMENTS (attributes);
  node.proto = &proto;
  node.in = in;
  node.n_in = least < 0 ? 2 : 3;
  node.out = out;
  node.n_out = 1;
  lpt_onnx_map_dequantize_linear (&node);
  on->error = node.error;
  return out[0] != NULL ? lpt_onnx_convert (on, out[0], value->dtype) : value;
}

static LptValue *
bound (LptOnnxNode           *on,
       const LptOnnxEncoding *encoding,
       const Grid            *grid,
       double                 code)
{
  g_autofree double *ends = g_new (double, encoding->n + 1);

  for (guint i = 0; i < encoding->n; i++)
    ends[i] = encoding->scale[i] * (encoding->offset[i] + code);
  return lpt_onnx_tensor_value (on, spread (encoding, grid, ends, LPT_DTYPE_F32));
}

static LptValue *
fake_quantized (LptOnnxNode           *on,
                const LptOnnxEncoding *encoding,
                const Grid            *grid,
                LptValue              *value)
{
  const gint64 levels = G_GINT64_CONSTANT (1) << encoding->bits;
  LptValue *low = bound (on, encoding, grid, 0), *high = bound (on, encoding, grid, (double) (levels - 1));
  LptValue *const in[] = { lpt_onnx_convert (on, value, LPT_DTYPE_F32), low, high, low, high };
  LptNode *node = lpt_onnx_add_list (on, LPT_OP_FAKE_QUANTIZE, 1, 5, in);

  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = levels;
  return lpt_onnx_convert (on, lpt_onnx_done (on, node), value->dtype);
}

LptValue *
lpt_onnx_encoded (LptOnnxImport  *import,
                  LptOnnxScope   *scope,
                  const char     *name,
                  LptValue       *value,
                  GError        **error)
{
  LptOnnxEncoding *encoding = scope->prefix == NULL ? g_hash_table_lookup (import->encodings->named, name) : NULL;
  Onnx__NodeProto proto = ONNX__NODE_PROTO__INIT;
  g_autofree char *own = g_strconcat (name, "/encoding", NULL);
  LptOnnxNode on = { .import = import, .scope = scope, .proto = &proto, .name = own, .opset = 25 };
  Grid grid;

  if (encoding == NULL)
    return value;
  encoding->used = TRUE;
  if (encoding->bits == 0 || !lpt_dtype_is_real (value->dtype) || lpt_onnx_is_sequence (import, value))
    return value;
  if (find_grid (encoding, value, &grid, &on.error))
    {
      if (value->producer->data != NULL && has_zero_points (encoding))
        value = dequantized_codes (&on, encoding, &grid, value);
      else if (encoding->block == 0)
        value = fake_quantized (&on, encoding, &grid, value);
      else
        lpt_onnx_unsupported (&on, "blocks of a tensor that is computed, or whose zero is no code");
    }
  if (on.error == NULL)
    return value;
  g_propagate_prefixed_error (error, on.error, "%s: encoding \"%s\": ", import->encodings->path, name);
  return NULL;
}

void
lpt_onnx_encodings_remark (const LptOnnxEncodings *encodings,
                           LptGraph               *graph)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (encodings->named), (GCompareFunc) strcmp);
  guint n = 0;

  for (GList *l = names; l != NULL; l = l->next)
    {
      const LptOnnxEncoding *encoding = g_hash_table_lookup (encodings->named, l->data);

      if (!encoding->used && n++ < 3)
        g_string_append_printf (text, "%s\"%s\"", n > 1 ? ", " : "", (const char *) l->data);
    }
  if (n > 0)
    g_hash_table_replace (graph->meta, g_strdup (LPT_META_REMARK),
                          g_strdup_printf ("%u of %u encodings name no tensor of the model: %s%s", n,
                                           g_hash_table_size (encodings->named), text->str, n > 3 ? ", ..." : ""));
}
