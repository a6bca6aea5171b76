/* tflite-w-file.c - the bytes of a TensorFlow Lite model
 *
 * Buffer 0 is empty, others hold the data of constants, at multiples of 16; tensors of the same data share one. Where
 * the data is too much for a FlatBuffer it stands behind it, and the buffers say where. The entry point has the
 * signature "serving_default"; min_runtime_version is in the metadata, 16 bytes long, and what the model says of
 * images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include "ir/lpt-memory.h"

#include <string.h>

#define MAX_INSIDE (1800u << 20)
#define ALIGN 16

typedef struct
{
  LptTflWriter  *w;
  LptTflBuilder *b;
  GPtrArray     *buffers;     /* LptTensor of buffers 1, 2, ... (borrowed) */
  GHashTable    *numbers;     /* of buffers, by their data */
  GPtrArray     *codes;       /* LptTflWOp: the first one of each operator code */
  GList         *infos;       /* keys of the graph's meta that say how images become inputs, in order */
  gboolean       behind;
} File;

/* --- buffers ------------------------------------------------------------------- */

static guint
buffer_of (File *f, LptTensor *data)
{
  gconstpointer key = lpt_tensor_data (data);
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (f->numbers, key));
  if (known > 0 && lpt_tensor_size (f->buffers->pdata[known - 1]) == lpt_tensor_size (data))
    return known;
  g_ptr_array_add (f->buffers, data);
  g_hash_table_insert (f->numbers, (gpointer) key, GUINT_TO_POINTER (f->buffers->len));
  return f->buffers->len;
}

static LptTflRef
build_buffer (File *f, gconstpointer bytes, gsize size)
{
  LptTflRef data = lpt_tfl_build_vector (f->b, 1, ALIGN, size, bytes);
  return lpt_tfl_build_table (f->b, 1, (LptTflSlot[]) { LPT_TFL_REF (Buffer, data, data) });
}

static LptTflRef
build_buffers (File *f, const char *runtime)
{
  guint n = f->buffers->len + 2;
  g_autofree LptTflRef *refs = g_new (LptTflRef, n + g_list_length (f->infos));
  char text[ALIGN] = { 0 };
  refs[0] = lpt_tfl_build_table (f->b, 0, NULL);
  for (guint i = 0; i < f->buffers->len; i++)
    {
      LptTensor *data = f->buffers->pdata[i];
      LptTflSlot place[] = { LPT_TFL_INT (Buffer, offset, 1), LPT_TFL_INT (Buffer, size, 1) };
      refs[i + 1] = f->behind && lpt_tensor_size (data) > 0
                        ? lpt_tfl_build_table (f->b, 2, place)
                        : build_buffer (f, lpt_tensor_data (data), lpt_tensor_size (data));
    }
  g_strlcpy (text, runtime, sizeof text);
  refs[n - 1] = build_buffer (f, text, sizeof text);
  for (GList *l = f->infos; l != NULL; l = l->next)
    {
      const char *info = g_hash_table_lookup (f->w->graph->meta, l->data);
      refs[n++] = build_buffer (f, info, strlen (info));
    }
  return lpt_tfl_build_refs (f->b, n, refs);
}

/* --- tensors ------------------------------------------------------------------- */

static LptTflRef
build_dims (File *f, const LptShape *shape, gint64 open)
{
  gint32 dims[LPT_MAX_RANK];
  for (gint i = 0; i < shape->rank; i++)
    dims[i] = (gint32) (shape->dims[i] == LPT_DYNAMIC ? open : shape->dims[i]);
  return lpt_tfl_build_vector (f->b, 4, 4, (gsize) MAX (shape->rank, 0), dims);
}

/* Scales of blocks, which are another tensor. */
static LptTflRef
build_blocks (File *f, const LptTflWTensor *t)
{
  LptTflSlot slots[] = { LPT_TFL_INT (BlockwiseQuantization, scales, t->scales),
                         LPT_TFL_INT (BlockwiseQuantization, zero_points, -1),
                         LPT_TFL_INT (BlockwiseQuantization, block_size, t->block) };
  LptTflRef blocks = lpt_tfl_build_table (f->b, G_N_ELEMENTS (slots), slots);
  LptTflSlot details = { .field = TFL_QuantizationParameters_details, .ref = blocks,
                         .member = TFLT_BlockwiseQuantization };
  return lpt_tfl_build_table (f->b, 1, &details);
}

static LptTflRef
build_quant (File *f, const LptTflWTensor *t)
{
  const LptQuant *quant = t->quant;
  if (t->block > 0)
    return build_blocks (f, t);
  if (quant == NULL)
    return 0;
  g_autofree float *scale = g_new (float, quant->n);
  g_autofree gint64 *zero = g_new (gint64, quant->n);
  for (guint i = 0; i < quant->n; i++)
    {
      scale[i] = (float) quant->scale[i];
      zero[i] = quant->zero_point[i];
    }
  LptTflRef scales = lpt_tfl_build_vector (f->b, 4, 4, quant->n, scale);
  LptTflRef zeros = lpt_tfl_build_vector (f->b, 8, 8, quant->n, zero);
  LptTflSlot slots[] = { LPT_TFL_REF (QuantizationParameters, scale, scales),
                         LPT_TFL_REF (QuantizationParameters, zero_point, zeros),
                         LPT_TFL_INT (QuantizationParameters, quantized_dimension, MAX (quant->axis, 0)) };
  return lpt_tfl_build_table (f->b, G_N_ELEMENTS (slots), slots);
}

static LptTflRef
build_tensor (File *f, const LptTflWTensor *t)
{
  gboolean open = !lpt_shape_is_static (&t->shape);
  LptTflRef shape = build_dims (f, &t->shape, 1), signature = open ? build_dims (f, &t->shape, -1) : 0;
  LptTflRef name = lpt_tfl_build_string (f->b, t->name), quant = build_quant (f, t);
  LptTflSlot slots[] = { LPT_TFL_REF (Tensor, shape, shape),
                         LPT_TFL_INT (Tensor, type, t->type),
                         LPT_TFL_INT (Tensor, buffer, t->data != NULL ? buffer_of (f, t->data) : 0),
                         LPT_TFL_REF (Tensor, name, name),
                         LPT_TFL_REF (Tensor, quantization, quant),
                         LPT_TFL_REF (Tensor, shape_signature, signature),
                         LPT_TFL_INT (Tensor, has_rank, 1) };
  return lpt_tfl_build_table (f->b, G_N_ELEMENTS (slots), slots);
}

/* --- operators ----------------------------------------------------------------- */

static guint
code_of (File *f, LptTflWOp *op)
{
  for (guint i = 0; i < f->codes->len; i++)
    {
      const LptTflWOp *other = f->codes->pdata[i];
      if (other->code == op->code && other->version == op->version
          && (op->code != TFL_CUSTOM || g_str_equal (other->name, op->name)))
        return i;
    }
  g_ptr_array_add (f->codes, op);
  return f->codes->len - 1;
}


static LptTflRef
build_op (File *f, LptTflWOp *op)
{
  LptTflSlot *options = (LptTflSlot *) (gpointer) op->slots->data;
  for (guint i = 0; i < op->slots->len; i++)
    if (options[i].text != NULL)
      options[i].ref = lpt_tfl_build_string (f->b, options[i].text);
  LptTflRef table = op->options != TFLT_None ? lpt_tfl_build_table (f->b, op->slots->len, options) : 0, custom = 0;
  if (op->custom != NULL)
    custom = lpt_tfl_build_vector (f->b, 1, 4, g_bytes_get_size (op->custom), g_bytes_get_data (op->custom, NULL));
  LptTflRef in = lpt_tfl_build_vector (f->b, 4, 4, op->in->len, op->in->data);
  LptTflRef out = lpt_tfl_build_vector (f->b, 4, 4, op->out->len, op->out->data);
  LptTflSlot slots[] = {
    LPT_TFL_INT (Operator, opcode_index, code_of (f, op)), LPT_TFL_REF (Operator, inputs, in),
    LPT_TFL_REF (Operator, outputs, out), LPT_TFL_REF (Operator, custom_options, custom),
    { .field = TFL_Operator_builtin_options, .ref = table, .member = op->options },
  };
  return lpt_tfl_build_table (f->b, G_N_ELEMENTS (slots), slots);
}

static LptTflRef
build_codes (File *f)
{
  g_autofree LptTflRef *refs = g_new (LptTflRef, f->codes->len + 1);
  for (guint i = 0; i < f->codes->len; i++)
    {
      const LptTflWOp *op = f->codes->pdata[i];
      LptTflRef custom = op->code == TFL_CUSTOM ? lpt_tfl_build_string (f->b, op->name) : 0;
      LptTflSlot slots[] = {
        LPT_TFL_INT (OperatorCode, deprecated_builtin_code, MIN (op->code, TFL_PLACEHOLDER_FOR_GREATER_OP_CODES)),
        LPT_TFL_REF (OperatorCode, custom_code, custom), LPT_TFL_INT (OperatorCode, version, op->version),
        LPT_TFL_INT (OperatorCode, builtin_code, op->code),
      };
      refs[i] = lpt_tfl_build_table (f->b, G_N_ELEMENTS (slots), slots);
    }
  return lpt_tfl_build_refs (f->b, f->codes->len, refs);
}

/* --- subgraphs ----------------------------------------------------------------- */

static LptTflRef
build_graph (File *f, const LptTflWGraph *graph)
{
  g_autofree LptTflRef *refs = g_new (LptTflRef, MAX (graph->tensors->len, graph->ops->len) + 1);
  for (guint i = 0; i < graph->tensors->len; i++)
    refs[i] = build_tensor (f, graph->tensors->pdata[i]);
  LptTflRef tensors = lpt_tfl_build_refs (f->b, graph->tensors->len, refs);
  for (guint i = 0; i < graph->ops->len; i++)
    refs[i] = build_op (f, graph->ops->pdata[i]);
  LptTflRef ops = lpt_tfl_build_refs (f->b, graph->ops->len, refs);
  LptTflRef inputs = lpt_tfl_build_vector (f->b, 4, 4, graph->inputs->len, graph->inputs->data);
  LptTflRef outputs = lpt_tfl_build_vector (f->b, 4, 4, graph->outputs->len, graph->outputs->data);
  LptTflRef name = lpt_tfl_build_string (f->b, graph->name);
  LptTflSlot slots[] = { LPT_TFL_REF (SubGraph, tensors, tensors), LPT_TFL_REF (SubGraph, inputs, inputs),
                         LPT_TFL_REF (SubGraph, outputs, outputs), LPT_TFL_REF (SubGraph, operators, ops),
                         LPT_TFL_REF (SubGraph, name, name) };
  return lpt_tfl_build_table (f->b, G_N_ELEMENTS (slots), slots);
}

static LptTflRef
build_map (File *f, const LptTflWGraph *graph, const GArray *list)
{
  g_autofree LptTflRef *refs = g_new (LptTflRef, list->len + 1);
  for (guint i = 0; i < list->len; i++)
    {
      gint tensor = g_array_index (list, gint32, i);
      LptTflRef name = lpt_tfl_build_string (f->b, ((LptTflWTensor *) graph->tensors->pdata[tensor])->name);
      refs[i] = lpt_tfl_build_table (f->b, 2, (LptTflSlot[]) { LPT_TFL_REF (TensorMap, name, name),
                                                               LPT_TFL_INT (TensorMap, tensor_index, tensor) });
    }
  return lpt_tfl_build_refs (f->b, list->len, refs);
}

static LptTflRef
build_signatures (File *f)
{
  const LptTflWGraph *entry = f->w->graphs->pdata[0];
  LptTflRef inputs = build_map (f, entry, entry->inputs), outputs = build_map (f, entry, entry->outputs);
  LptTflRef key = lpt_tfl_build_string (f->b, "serving_default");
  LptTflSlot slots[] = { LPT_TFL_REF (SignatureDef, inputs, inputs), LPT_TFL_REF (SignatureDef, outputs, outputs),
                         LPT_TFL_REF (SignatureDef, signature_key, key) };
  LptTflRef signature = lpt_tfl_build_table (f->b, G_N_ELEMENTS (slots), slots);
  return lpt_tfl_build_refs (f->b, 1, &signature);
}

static LptTflRef
build_entry (File *f, const char *key, guint buffer)
{
  LptTflRef name = lpt_tfl_build_string (f->b, key);
  return lpt_tfl_build_table (
      f->b, 2, (LptTflSlot[]) { LPT_TFL_REF (Metadata, name, name), LPT_TFL_INT (Metadata, buffer, buffer) });
}

static LptTflRef
build_metadata (File *f)
{
  guint n = 0, buffer = f->buffers->len + 1;
  g_autofree LptTflRef *refs = g_new (LptTflRef, g_list_length (f->infos) + 1);
  refs[n++] = build_entry (f, "min_runtime_version", buffer++);
  for (GList *l = f->infos; l != NULL; l = l->next)
    refs[n++] = build_entry (f, l->data, buffer++);
  return lpt_tfl_build_refs (f->b, n, refs);
}

static GList *
find_infos (const LptGraph *graph)
{
  GList *keys = g_list_sort (g_hash_table_get_keys (graph->meta), (GCompareFunc) strcmp);
  for (GList *l = keys, *next; l != NULL; l = next)
    {
      next = l->next;
      if (!g_str_has_prefix (l->data, LPT_META_MODEL_INFO))
        keys = g_list_delete_link (keys, l);
    }
  return keys;
}

static GBytes *
build_model (File *f, GError **error)
{
  g_autofree LptTflRef *refs = g_new (LptTflRef, f->w->graphs->len);
  g_autofree char *runtime = lpt_tfl_w_versions (f->w);
  const char *made = g_hash_table_lookup (f->w->graph->meta, LPT_META_QUANTIZED_BY),
             *description = made != NULL ? made : g_hash_table_lookup (f->w->graph->meta, "tflite.description");
  for (guint i = 0; i < f->w->graphs->len; i++)
    refs[i] = build_graph (f, f->w->graphs->pdata[i]);
  LptTflRef graphs = lpt_tfl_build_refs (f->b, f->w->graphs->len, refs), codes = build_codes (f);
  LptTflRef signatures = build_signatures (f), metadata = build_metadata (f), buffers = build_buffers (f, runtime);
  LptTflRef text = lpt_tfl_build_string (f->b, description != NULL ? description : "written by lptc " LPT_VERSION);
  LptTflSlot slots[] = { LPT_TFL_INT (Model, version, 3),         LPT_TFL_REF (Model, operator_codes, codes),
                         LPT_TFL_REF (Model, subgraphs, graphs),  LPT_TFL_REF (Model, description, text),
                         LPT_TFL_REF (Model, buffers, buffers),   LPT_TFL_REF (Model, metadata, metadata),
                         LPT_TFL_REF (Model, signature_defs, signatures) };
  return lpt_tfl_builder_finish (f->b, lpt_tfl_build_table (f->b, G_N_ELEMENTS (slots), slots), error);
}

/* --- data behind the FlatBuffer -------------------------------------------------- */

static void
patch (guint8 *data, gsize at, guint64 value)
{
  for (guint i = 0; i < 8; i++)
    data[at + i] = (guint8) (value >> (8 * i));
}

/* @front with the buffers behind it, and 16 zero bytes after the last one: kernels read over the end. */
static GBytes *
append_buffers (File *f, GBytes *front, GError **error)
{
  gsize size = (g_bytes_get_size (front) + ALIGN - 1) / ALIGN * ALIGN, at = size;
  for (guint i = 0; i < f->buffers->len; i++)
    size += (lpt_tensor_size (f->buffers->pdata[i]) + ALIGN - 1) / ALIGN * ALIGN;
  guint8 *data = lpt_memory_try (size + ALIGN, 1, error);
  if (data == NULL)
    return NULL;
  memset (data, 0, size + ALIGN);
  memcpy (data, g_bytes_get_data (front, NULL), g_bytes_get_size (front));
  const LptTflFlat flat = { data, g_bytes_get_size (front) };
  LptTflTable model = lpt_tfl_verify (&flat, error);
  LptTflVector buffers = lpt_tfl_vector (&flat, model, TFL_Model_buffers);
  for (guint i = 0; i < f->buffers->len && model != 0; i++)
    {
      gsize n = lpt_tensor_size (f->buffers->pdata[i]);
      LptTflTable buffer = lpt_tfl_item (&buffers, i + 1);
      if (n == 0)
        continue;
      patch (data, lpt_tfl_at (&flat, buffer, TFL_Buffer_offset), at);
      patch (data, lpt_tfl_at (&flat, buffer, TFL_Buffer_size), n);
      memcpy (data + at, lpt_tensor_data (f->buffers->pdata[i]), n);
      at += (n + ALIGN - 1) / ALIGN * ALIGN;
    }
  return g_bytes_new_take (data, size + ALIGN);
}

/* --- the file -------------------------------------------------------------------- */

static gsize
data_size (const LptTflWriter *w)
{
  gsize size = 0;
  for (guint g = 0; g < w->graphs->len; g++)
    {
      const LptTflWGraph *graph = w->graphs->pdata[g];
      for (guint i = 0; i < graph->tensors->len; i++)
        {
          const LptTflWTensor *t = graph->tensors->pdata[i];
          size += t->data != NULL ? lpt_tensor_size (t->data) : 0;
        }
    }
  return size;
}

GBytes *
lpt_tfl_w_serialise (LptTflWriter *w, gboolean behind, GError **error)
{
  g_autoptr (LptTflBuilder) builder = lpt_tfl_builder_new ();
  g_autoptr (GPtrArray) buffers = g_ptr_array_new (), codes = g_ptr_array_new ();
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  g_autoptr (GList) infos = find_infos (w->graph);
  File f = { w, builder, buffers, numbers, codes, infos, behind || data_size (w) > MAX_INSIDE };
  GBytes *bytes = build_model (&f, error);
  if (bytes == NULL || !f.behind)
    return bytes;
  g_autoptr (GBytes) front = bytes;
  return append_buffers (&f, front, error);
}
