/* onnx-nchwc.c - the block of a file's NCHWc tensors, and filters out of their blocks
 *
 * With the block B the layout allows a convolution of g groups with filters [O, I, H, W] only where
 *
 *     B divides O, and
 *     g = 1: B divides I where the data are in blocks, else I < B,
 *     g > 1: I = 1, or B divides I and O / g,
 *
 * and a ReorderOutput to c channels of C only where C - c < B. B is what of 8 and 16 all nodes of the file allow, and
 * its metadata property nchwc_block_size, if it has one. Filters lie as
 *
 *     [O / B][I / B][H][W][B of I][B of O]    data in blocks, and groups of more than one channel
 *     [O / B][I][H][W][B of O]                other data, and one channel a group
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-nchwc.h"

#include <string.h>

#define DOMAIN "com.microsoft.nchwc"
#define PROPERTY "nchwc_block_size"

struct _LptOnnxNchwc
{
  gboolean    allowed[2];     /* blocks of 8, of 16 */
  GHashTable *channels;       /* names in blocks -> how many channels, as pointers; 0: not known */
  GHashTable *shared;         /* names that nodes of other domains read */
  GHashTable *filters;        /* initializer -> TensorProto * */
};

static const gint64 blocks[2] = { 8, 16 };

static gboolean
is_nchwc (const Onnx__NodeProto *node,
          const char            *op)
{
  return g_str_equal (lpt_onnx_domain (node->domain), DOMAIN)
         && (op == NULL || g_str_equal (lpt_onnx_text (node->op_type), op));
}

static gint64
attribute (const Onnx__NodeProto *node,
           const char            *name,
           gint64                 fallback)
{
  for (gsize i = 0; i < node->n_attribute; i++)
    if (g_str_equal (lpt_onnx_text (node->attribute[i]->name), name))
      return node->attribute[i]->i;
  return fallback;
}

static gboolean
is_blocked (const LptOnnxNchwc    *nchwc,
            const Onnx__NodeProto *node,
            gsize                  i)
{
  return i < node->n_input && g_hash_table_contains (nchwc->channels, node->input[i]);
}

static void
check_convolution (LptOnnxNchwc           *nchwc,
                   const Onnx__NodeProto  *node,
                   const Onnx__TensorProto *filters)
{
  gint64 groups = attribute (node, "group", 1), o = filters->dims[0], c = filters->dims[1];

  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      gint64 b = blocks[i];
      gboolean ok = o > 0 && o % b == 0;

      if (groups == 1)
        ok = ok && (is_blocked (nchwc, node, 0) ? c % b == 0 : c < b);
      else if (c != 1)
        ok = ok && groups > 1 && c % b == 0 && o / groups % b == 0;
      nchwc->allowed[i] = nchwc->allowed[i] && ok;
    }
}

/* Names are in blocks behind what puts them there, and behind plain nodes that read such. */
static void
scan_node (LptOnnxNchwc          *nchwc,
           const Onnx__NodeProto *node)
{
  gboolean own = is_nchwc (node, NULL), blocked = own && !is_nchwc (node, "ReorderOutput");
  gint64 channels = is_blocked (nchwc, node, 0)
                    ? GPOINTER_TO_INT (g_hash_table_lookup (nchwc->channels, node->input[0])) : 0;

  if (is_nchwc (node, "Conv"))
    {
      const Onnx__TensorProto *filters = node->n_input > 1 ? g_hash_table_lookup (nchwc->filters, node->input[1])
                                                           : NULL;

      channels = 0;
      if (filters != NULL && filters->n_dims == 4)
        {
          check_convolution (nchwc, node, filters);
          channels = filters->dims[0] <= G_MAXINT32 ? filters->dims[0] : 0;
        }
    }
  else if (is_nchwc (node, "ReorderOutput"))
    {
      gint64 wanted = attribute (node, "channels", 0);

      for (guint i = 0; i < G_N_ELEMENTS (blocks) && wanted > 0 && wanted < channels; i++)
        nchwc->allowed[i] = nchwc->allowed[i] && channels - wanted < blocks[i];
    }
  for (gsize i = 0; i < node->n_input && !own; i++)
    if (is_blocked (nchwc, node, i))
      {
        blocked = TRUE;
        channels = GPOINTER_TO_INT (g_hash_table_lookup (nchwc->channels, node->input[i]));
        g_hash_table_add (nchwc->shared, node->input[i]);
      }
  if (g_str_equal (lpt_onnx_text (node->op_type), "Concat"))
    channels = 0;
  for (gsize i = 0; i < node->n_output && blocked; i++)
    g_hash_table_insert (nchwc->channels, node->output[i], GINT_TO_POINTER ((gint) channels));
}

/* What only reads in NCHWc stands in the main graph or in subgraphs; functions are older than the layout. */
static void
scan_graph (LptOnnxNchwc           *nchwc,
            const Onnx__GraphProto *graph,
            guint                   depth)
{
  for (gsize i = 0; i < graph->n_initializer; i++)
    if (graph->initializer[i]->name != NULL)
      g_hash_table_insert (nchwc->filters, graph->initializer[i]->name, graph->initializer[i]);
  for (gsize i = 0; i < graph->n_node; i++)
    {
      const Onnx__NodeProto *node = graph->node[i];

      scan_node (nchwc, node);
      for (gsize k = 0; k < node->n_attribute && depth < 32; k++)
        if (node->attribute[k]->g != NULL)
          scan_graph (nchwc, node->attribute[k]->g, depth + 1);
    }
  for (gsize i = 0; i < graph->n_output; i++)
    if (graph->output[i]->name != NULL)
      g_hash_table_add (nchwc->shared, graph->output[i]->name);
}

static void
scan_metadata (LptOnnxNchwc           *nchwc,
               const Onnx__ModelProto *model)
{
  for (gsize i = 0; i < model->n_metadata_props; i++)
    if (g_str_equal (lpt_onnx_text (model->metadata_props[i]->key), PROPERTY))
      for (guint b = 0; b < G_N_ELEMENTS (blocks); b++)
        {
          g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, blocks[b]);

          nchwc->allowed[b] = nchwc->allowed[b]
                              && g_str_equal (lpt_onnx_text (model->metadata_props[i]->value), number);
        }
}

LptOnnxNchwc *
lpt_onnx_nchwc (LptOnnxImport *import)
{
  LptOnnxNchwc *nchwc = import->nchwc;

  if (nchwc != NULL)
    return nchwc;
  nchwc = import->nchwc = g_new0 (LptOnnxNchwc, 1);
  nchwc->allowed[0] = nchwc->allowed[1] = TRUE;
  nchwc->channels = g_hash_table_new (g_str_hash, g_str_equal);
  nchwc->shared = g_hash_table_new (g_str_hash, g_str_equal);
  nchwc->filters = g_hash_table_new (g_str_hash, g_str_equal);
  scan_graph (nchwc, import->file->model->graph, 0);
  scan_metadata (nchwc, import->file->model);
  return nchwc;
}

void
lpt_onnx_nchwc_free (LptOnnxNchwc *nchwc)
{
  if (nchwc == NULL)
    return;
  g_hash_table_unref (nchwc->channels);
  g_hash_table_unref (nchwc->shared);
  g_hash_table_unref (nchwc->filters);
  g_free (nchwc);
}

gint64
lpt_onnx_nchwc_block (LptOnnxNode *on)
{
  const LptOnnxNchwc *nchwc = lpt_onnx_nchwc (on->import);

  if (nchwc->allowed[0] != nchwc->allowed[1])
    return blocks[nchwc->allowed[1] ? 1 : 0];
  if (nchwc->allowed[0])
    lpt_onnx_unsupported (on, "layout: whether blocks have 8 or 16 channels does not follow from the numbers of "
                              "channels; save the file at the level extended, or say it in the metadata property "
                              PROPERTY);
  else
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "the numbers of channels fit neither blocks of 8 nor of 16");
  return 0;
}

gboolean
lpt_onnx_nchwc_shared (LptOnnxNode *on)
{
  return on->n_out > 0 && g_hash_table_contains (lpt_onnx_nchwc (on->import)->shared, on->proto->output[0]);
}

gboolean
lpt_onnx_nchwc_blocked (LptOnnxNode *on,
                        guint        i)
{
  return is_blocked (lpt_onnx_nchwc (on->import), on->proto, i);
}

gint64
lpt_onnx_nchwc_filled (LptTensor *blocked,
                       gint64     block)
{
  const gint64 n = lpt_tensor_shape (blocked)->dims[0], last = lpt_tensor_count (blocked) / n * block;
  const guint8 *bytes = (const guint8 *) lpt_tensor_data (blocked) + lpt_tensor_size (blocked);
  gint64 filled = 0;

  bytes -= last * (gint64) sizeof (float);
  for (gint64 at = 0; at < last; at++)
    {
      float number;

      memcpy (&number, bytes + at * (gint64) sizeof number, sizeof number);
      if (number != 0 && at % block >= filled)
        filled = at % block + 1;
    }
  return n - block + filled;
}

LptTensor *
lpt_onnx_nchwc_filters (LptTensor          *blocked,
                        const LptNchwcForm *form,
                        GError            **error)
{
  const LptShape *shape = lpt_tensor_shape (blocked);
  const gint64 block = form->block, block_in = form->inputs ? block : 1;
  const gint64 n_in = shape->dims[1], taps = shape->dims[2] * shape->dims[3];
  const gint64 dims[4] = { form->n_out, form->n_in, shape->dims[2], shape->dims[3] };
  const LptShape wanted = lpt_shape_make (4, dims);
  const guint8 *from = lpt_tensor_data (blocked);
  LptTensor *plain = lpt_tensor_new (lpt_tensor_dtype (blocked), &wanted, error);
  guint8 *to = plain != NULL ? lpt_tensor_writable (plain) : NULL;

  for (gint64 o = 0; to != NULL && o < form->n_out; o++)
    for (gint64 i = 0; i < form->n_in; i++)
      for (gint64 t = 0; t < taps; t++, to += sizeof (float))
        {
          gint64 at = (o / block * (n_in / block_in) + i / block_in) * taps + t;

          at = (at * block_in + i % block_in) * block + o % block;
          memcpy (to, from + at * (gint64) sizeof (float), sizeof (float));
        }
  return plain;
}
