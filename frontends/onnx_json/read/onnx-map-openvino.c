/* onnx-map-openvino.c - OpenVINO's own operators in ONNX files (domain org.openvinotoolkit, in older files none)
 *
 * NNCF, MMRazor and MQBench write FakeQuantize; exporters of detectors the boxes. An attribute has the name that it has
 * in an IR. What differs:
 *
 *   Normalize            NormalizeL2 over the channels or over all axes but the first, times weights
 *   GroupNorm            scale and bias [C] or with axes of length 1
 *   PriorBox, PriorBoxClustered   the sizes are those of a feature map and of the image; one more axis in front
 *   DetectionOutput      normalized by default, code_type may lack its prefix
 *   GenerateProposals    Caffe2's order of inputs and names; anchors of one place
 *   DeformableConv2D     lists are Conv's; no padding at the border of the image
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "frontends/onnx_json/read/onnx-import.h"
#include "ir/lpt-attrs-private.h"

/* --- attributes by the table of the op ------------------------------------------------------------- */

/* What an ONNX file may leave out, an IR not. */
static const struct { LptOp op; const char *name, *text; } defaults[] = {
#define ONNX_OPENVINO_DEFAULT(OP, name, text) { LPT_OP_##OP, name, text },
#include "frontends/onnx_json/read/onnx-openvino.def"
#undef ONNX_OPENVINO_DEFAULT
};

static void
append (GString                    *text,
        const Onnx__AttributeProto *attr,
        gsize                       i)
{
  if (i > 0)
    g_string_append_c (text, ',');
  if (attr->n_ints > 0)
    g_string_append_printf (text, "%" G_GINT64_FORMAT, attr->ints[i]);
  else
    {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];

      g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, "%.9g", (double) attr->floats[i]));
    }
}

/* The text that an IR would have for @field, NULL when the file does not say. */
static char *
text_of (LptOnnxNode        *on,
         const LptAttrField *field)
{
  GString *text;

  for (gsize i = 0; i < on->proto->n_attribute; i++)
    if (g_strcmp0 (on->proto->attribute[i]->name, field->name) == 0)
      {
        const Onnx__AttributeProto *attr = lpt_onnx_attr (on, field->name, on->proto->attribute[i]->type);

        if (attr == NULL)
          return NULL;
        text = g_string_new (NULL);
        switch (attr->type)
          {
          case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
            g_string_append_printf (text, "%" G_GINT64_FORMAT, attr->i);
            break;
          case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
            lpt_append_double (text, (double) attr->f);
            break;
          case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
            g_string_append (text, lpt_onnx_string (on, field->name, ""));
            break;
          case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
          case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
            for (gsize k = 0; k < attr->n_ints + attr->n_floats; k++)
              append (text, attr, k);
            break;
          default:
            lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" has the wrong type", field->name);
          }
        return g_string_free (text, FALSE);
      }
  return NULL;
}

static void
read_field (LptOnnxNode        *on,
            LptNode            *node,
            const LptAttrField *field)
{
  g_autofree char *text = text_of (on, field);
  GError *error = NULL;

  if (on->error != NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (defaults) && text == NULL; i++)
    if (defaults[i].op == node->op && strcmp (defaults[i].name, field->name) == 0)
      text = g_strdup (defaults[i].text);
  if (text == NULL && (field->flags & LPT_ATTR_F_REQUIRED) && field->fallback == NULL)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" is missing", field->name);
  if (text != NULL && !lpt_attr_parse (field, node->attrs, text, &error))
    {
      lpt_onnx_fail (on, error->code == LPT_ERROR_UNSUPPORTED ? LPT_ERROR_UNSUPPORTED : LPT_ERROR_INVALID,
                     "attribute \"%s\": %s", field->name, error->message);
      g_error_free (error);
    }
}

static LptNode *
read_op (LptOnnxNode     *on,
         LptOp            op,
         guint            n_in,
         LptValue *const *in)
{
  const LptOpInfo *info = lpt_op_info (op);
  LptNode *node = lpt_onnx_add_list (on, op, info->n_out < 0 ? MAX (on->n_out, 1) : (guint) info->n_out, n_in, in);

  for (const LptAttrField *field = info->attrs; field != NULL && field->name != NULL; field++)
    if (lpt_attr_field_applies (field, 0) && !(field->flags & LPT_ATTR_F_INTERNAL))
      read_field (on, node, field);
  return node;
}

static void
set_outputs (LptOnnxNode *on,
             LptNode     *node)
{
  lpt_onnx_done (on, node);
  for (guint i = 0; i < MIN (on->n_out, node->n_out); i++)
    lpt_onnx_set (on, i, node->out + i);
}

/* --- operators ------------------------------------------------------------------------------------- */

/* argument: the op, whose inputs are those of the node */
void
lpt_onnx_map_openvino (LptOnnxNode *on)
{
  const LptOpInfo *info = lpt_op_info ((LptOp) on->argument);
  LptValue *in[16];
  guint n = on->n_in;

  if (n < info->min_in || n > MIN (info->max_in, G_N_ELEMENTS (in)))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%u inputs", n);
      return;
    }
  for (guint i = 0; i < n; i++)
    in[i] = lpt_onnx_in (on, i);
  if (on->error == NULL)
    set_outputs (on, read_op (on, info->op, n, in));
}

/* A vector from numbers in axes of length 1. */
static LptValue *
flat (LptOnnxNode *on,
      LptValue    *value)
{
  static const gint64 all = -1;

  return value->shape.rank == 1 ? value : lpt_onnx_reshape (on, value, 1, &all);
}

void
lpt_onnx_map_openvino_group_norm (LptOnnxNode *on)
{
  LptValue *in[3] = { lpt_onnx_in (on, 0), lpt_onnx_in (on, 1), lpt_onnx_in (on, 2) };
  LptGroupNormalizationAttrs *attrs;
  LptNode *node;

  in[1] = flat (on, in[1]);
  in[2] = flat (on, in[2]);
  node = lpt_onnx_add_list (on, LPT_OP_GROUP_NORMALIZATION, 1, 3, in);
  attrs = LPT_ATTRS (node, LptGroupNormalizationAttrs);
  attrs->num_groups = lpt_onnx_int (on, "num_groups", 0);
  attrs->epsilon = lpt_onnx_float (on, "eps", 1e-6f);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_openvino_normalize (LptOnnxNode *on)
{
  const gboolean across = lpt_onnx_int (on, "across_spatial", 0) != 0,
                 shared = lpt_onnx_int (on, "channel_shared", 0) != 0;
  LptValue *x = lpt_onnx_in (on, 0), *weights = lpt_onnx_in (on, 1);
  gint64 axes[LPT_MAX_RANK], dims[LPT_MAX_RANK];
  LptNormalizeL2Attrs *attrs;
  gint rank = lpt_onnx_rank (on, x), i;
  LptNode *node;

  if (rank < 2)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "data of rank %d have no channels", rank);
      return;
    }
  for (i = 1; i < rank; i++)
    {
      axes[i - 1] = i;
      dims[i] = i == 1 ? -1 : 1;
    }
  dims[0] = 1;
  node = lpt_onnx_add (on, LPT_OP_NORMALIZE_L2, 2, x, lpt_onnx_i64 (on, across ? (guint) rank - 1 : 1, axes));
  attrs = LPT_ATTRS (node, LptNormalizeL2Attrs);
  attrs->eps = MAX (lpt_onnx_float (on, "eps", 0), G_MINFLOAT);      /* NormalizeL2 wants one that is greater than 0 */
  attrs->eps_mode = LPT_L2_EPS_ADD;
  if (!shared)
    weights = lpt_onnx_reshape (on, weights, (guint) rank, dims);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_done (on, node), weights));
}

/* argument: the op. The last two lengths of what is given, and one more axis in front of the result */
void
lpt_onnx_map_openvino_prior_box (LptOnnxNode *on)
{
  LptValue *in[2];
  guint i;

  for (i = 0; i < 2; i++)
    {
      LptValue *from = lpt_onnx_in (on, i);

      if (on->error == NULL && lpt_onnx_rank (on, from) != 4)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "input %u has %d axes, not 4", i, lpt_onnx_rank (on, from));
      in[i] = lpt_onnx_slice (on, lpt_onnx_shape_of (on, from), 0, 2, 4);
    }
  lpt_onnx_set (on, 0, lpt_onnx_unsqueeze (on, lpt_onnx_done (on, read_op (on, (LptOp) on->argument, 2, in)), 0));
}

void
lpt_onnx_map_openvino_detection_output (LptOnnxNode *on)
{
  static const LptOnnxChoice codes[] = {
    { "caffe.PriorBoxParameter.CORNER", LPT_CODE_CORNER }, { "CORNER", LPT_CODE_CORNER },
    { "caffe.PriorBoxParameter.CENTER_SIZE", LPT_CODE_CENTER_SIZE }, { "CENTER_SIZE", LPT_CODE_CENTER_SIZE },
  };
  const LptOpInfo *info = lpt_op_info (LPT_OP_DETECTION_OUTPUT);
  LptDetectionOutputAttrs *attrs;
  LptValue *in[5];
  LptNode *node;
  guint i;

  if (on->n_in != 3 && on->n_in != 5)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%u inputs, not 3 or 5", on->n_in);
      return;
    }
  for (i = 0; i < on->n_in; i++)
    in[i] = lpt_onnx_in (on, i);
  node = lpt_onnx_add_list (on, LPT_OP_DETECTION_OUTPUT, 1, on->n_in, in);
  attrs = LPT_ATTRS (node, LptDetectionOutputAttrs);
  attrs->normalized = TRUE;
  lpt_ints_set (&attrs->keep_top_k, 1, &(gint64) { 1 });
  for (const LptAttrField *field = info->attrs; field->name != NULL; field++)
    if (strcmp (field->name, "keep_top_k") == 0 || strcmp (field->name, "code_type") == 0)
      continue;
    else if (lpt_attr_field_applies (field, 0))
      read_field (on, node, field);
  attrs->keep_top_k.v[0] = lpt_onnx_int (on, "keep_top_k", 1);
  attrs->code_type = lpt_onnx_choose (on, "code_type", "CORNER", codes, G_N_ELEMENTS (codes));
  lpt_onnx_ignore (on, "num_classes");
  set_outputs (on, node);
}

/* scores, deltas, images, anchors [A,4] of a place at 0: those of the other places are the same */
void
lpt_onnx_map_openvino_proposals (LptOnnxNode *on)
{
  LptValue *scores = lpt_onnx_in (on, 0), *anchors = lpt_onnx_in (on, 3), *shape[2], *in[4];
  LptGenerateProposalsAttrs *attrs;
  LptNode *node;

  shape[0] = lpt_onnx_slice (on, lpt_onnx_shape_of (on, scores), 0, 2, 4);
  shape[1] = lpt_onnx_shape_of (on, anchors);
  in[0] = lpt_onnx_in (on, 2);
  in[1] = lpt_onnx_broadcast (on, anchors, lpt_onnx_concat (on, 0, 2, shape));
  in[2] = lpt_onnx_in (on, 1);
  in[3] = scores;
  node = lpt_onnx_add_list (on, LPT_OP_GENERATE_PROPOSALS, 3, 4, in);
  attrs = LPT_ATTRS (node, LptGenerateProposalsAttrs);
  attrs->min_size = lpt_onnx_float (on, "min_size", 1);
  attrs->nms_threshold = lpt_onnx_float (on, "nms_thresh", 0.7f);
  attrs->pre_nms_count = lpt_onnx_int (on, "pre_nms_topN", 6000);
  attrs->post_nms_count = lpt_onnx_int (on, "post_nms_topN", 300);
  attrs->normalized = lpt_onnx_int (on, "legacy_plus_one", 1) == 0;
  set_outputs (on, node);
}

/* x sigmoid (beta x); beta: input 1 or 1 */
void
lpt_onnx_map_openvino_swish (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *beta = lpt_onnx_optional (on, 1);

  if (beta == NULL)
    lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SWISH, 1, x));
  else
    lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SWISH, 2, x, lpt_onnx_reshape (on, beta, 0, NULL)));
}
