/* lpt-op.c - the op table, derived from lpt-ops.def
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-op.h>

#include "ir/lpt-attrs-private.h"
#include "ir/infer/lpt-infer.h"

static const LptAttrField lpt_attrs_None[] = { { NULL } };
typedef struct { char none[0]; } LptNoneAttrs;

static const LptOpInfo ops[LPT_N_OPS] =
{
#define LPT_OP(ENUM, name, min_in, max_in, n_out, traits, attrs, infer, versions, openvino, doc) \
  [LPT_OP_##ENUM] = { LPT_OP_##ENUM, name, min_in, max_in, n_out, traits, sizeof (Lpt##attrs##Attrs), \
                      lpt_attrs_##attrs, lpt_infer_##infer, doc, { versions, openvino } },
#include "ir/lpt-ops.def"
  [LPT_OP_NONE]   = { LPT_OP_NONE, "None", 0, 0, 0, 0, 0, lpt_attrs_None, NULL, "", { "", 0 } },
  [LPT_OP_OPAQUE] = { LPT_OP_OPAQUE, "Opaque", 0, LPT_ANY_INPUTS, -1, 0, 0, lpt_attrs_None, lpt_infer_opaque,
                      "An op that the table lacks: kept as it was read", { "", 0 } },
  [LPT_OP_CUSTOM] = { LPT_OP_CUSTOM, "Custom", 0, LPT_ANY_INPUTS, -1, 0, 0, lpt_attrs_None, lpt_infer_opaque,
                      "A plugin's own op", { "", 0 } },
};

const LptOpInfo *
lpt_op_info (LptOp op)
{
  g_return_val_if_fail ((guint) op < LPT_N_OPS, NULL);

  return &ops[op];
}

const LptOpInfo *
lpt_op_find (const char *name)
{
  guint i;

  if (g_ascii_strcasecmp (name, "Const") == 0)
    return &ops[LPT_OP_CONST];
  for (i = LPT_OP_FIRST; i < LPT_N_OPS; i++)
    if (g_ascii_strcasecmp (name, ops[i].name) == 0)
      return &ops[i];

  return NULL;
}

const LptOpInfo *
lpt_op_find_short (const char *name)
{
  static const struct { const char *name; LptOp op; } names[] =
  {
#define LPT_OP_NAME(name, op) { name, LPT_OP_##op },
#include "ir/lpt-op-names.def"
#undef LPT_OP_NAME
  };
  g_auto (GStrv) words = g_strsplit_set (name, "_-", 0);
  g_autofree char *bare = g_strjoinv ("", words);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (bare, names[i].name) == 0)
      return &ops[names[i].op];

  return lpt_op_find (bare);
}

guint
lpt_op_n_bodies (const LptOpInfo *info)
{
  return (info->flags & LPT_OP_F_BODY) == 0 ? 0 : info->op == LPT_OP_IF ? 2 : 1;
}

guint
lpt_op_version (const LptOpInfo *info,
                guint            opset)
{
  const char *p = info->openvino.versions != NULL ? info->openvino.versions : "";
  guint best = 0;

  while (*p != '\0')
    {
      char *end;
      gulong v = strtoul (p, &end, 10);

      if (opset == 0 || v <= opset)
        best = (guint) v;
      p = *end == ' ' ? end + 1 : end;
    }

  return best;
}
