/* ov-opset.c - which op a layer's type and version name
 *
 * Types compare without case; "opsetN" is the set, "extension" and "experimental"
 * name a few ops of opset6, "type_relaxed_opset" the base ops.
 * Everything else is a vendor's op: kept as it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-net.h"

#include <string.h>


/* Types that files say to be in an older set than they are. */
static const struct { const char *type; guint opset; } moved[] = {
  { "MVN", 2 }, { "ROIPooling", 2 }, { "ReorgYolo", 2 }, { "ShuffleChannels", 3 }, { "Gelu", 2 },
};

static const char *const experimental[] = {
  "GRUCell", "RNNCell", "Proposal", "ExperimentalDetectronDetectionOutput",
  "ExperimentalDetectronGenerateProposalsSingleImage", "ExperimentalDetectronPriorGridGenerator",
  "ExperimentalDetectronROIFeatureExtractor", "ExperimentalDetectronTopKROIs",
};

const LptOpInfo *
ov_layer_op (const char *type, const char *version, guint *opset, gboolean *relaxed, GError **error)
{
  const LptOpInfo *info = lpt_op_find (type);
  *opset = 0;
  *relaxed = FALSE;
  if (info != NULL && info->openvino.versions[0] == '\0')
    info = NULL;
  if (version == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "type %s has no version", type);
      return NULL;
    }
  if (g_ascii_strncasecmp (version, "opset", 5) == 0)
    {
      guint64 n;
      if (!g_ascii_string_to_unsigned (version + 5, 10, 1, LPT_NEWEST_OPSET, &n, NULL))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                       "unsupported operation set \"%.40s\": opset1 to opset%d are known", version, LPT_NEWEST_OPSET);
          return NULL;
        }
      *opset = (guint) n;
      if (info == NULL || lpt_op_version (info, *opset) != 0)
        return info;
      for (guint i = 0; i < G_N_ELEMENTS (moved); i++)
        if (g_ascii_strcasecmp (type, moved[i].type) == 0)
          {
            *opset = moved[i].opset;
            return info;
          }
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "type %s is not in %s (it is in opset %s)", type, version,
                   info->openvino.versions);
      return NULL;
    }
  if (g_ascii_strcasecmp (version, "type_relaxed_opset") == 0)
    {
      *relaxed = TRUE;
      return info;
    }
  if (g_ascii_strcasecmp (version, "extension") == 0 || g_ascii_strcasecmp (version, "experimental") == 0)
    for (guint i = 0; i < G_N_ELEMENTS (experimental); i++)
      if (info != NULL && g_ascii_strcasecmp (type, experimental[i]) == 0)
        {
          *opset = 6;
          return info;
        }
  return NULL;
}

guint
ov_relaxed_opset (const LptOpInfo *info, const OvLayer *layer)
{
  guint oldest = 1;
  for (guint v = LPT_NEWEST_OPSET; v > 0; v--)
    {
      gboolean fits = lpt_op_version (info, v) == v;
      for (const LptAttrField *f = info->attrs; fits && f->name != NULL; f++)
        fits = !(f->flags & LPT_ATTR_F_REQUIRED) || f->fallback != NULL || !lpt_attr_field_applies (f, v)
               || ov_layer_data (layer, f->name) != NULL;
      if (fits)
        return v;
      if (lpt_op_version (info, v) == v)
        oldest = v;
    }
  return oldest;
}
