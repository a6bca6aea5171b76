/* cmd-ops.c - lptc ops: the op table with attributes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"

#include <stdio.h>
#include <string.h>

static const struct { guint32 flag; const char *name; } trait_names[] = {
  { LPT_OP_F_ELEMENTWISE, "elementwise" }, { LPT_OP_F_COMMUTES, "commutes" }, { LPT_OP_F_PRESERVES, "precision-preserved" },
  { LPT_OP_F_MONOTONE, "monotone" }, { LPT_OP_F_SINK, "sink" }, { LPT_OP_F_COMPUTE, "compute" }, { LPT_OP_F_UNARY, "unary" },
  { LPT_OP_F_LOWERED, "lowered" }, { LPT_OP_F_SHAPE, "shape" }, { LPT_OP_F_RANDOM, "random" }, { LPT_OP_F_COUNTS, "counts" },
  { LPT_OP_F_WEIGHTED, "weighted" }, { LPT_OP_F_TRANSPOSED, "transposed" }, { LPT_OP_F_GROUPED, "grouped" },
  { LPT_OP_F_RECURRENT, "recurrent" }, { LPT_OP_F_SEQUENCE, "sequence" }, { LPT_OP_F_BODY, "body" }, { LPT_OP_F_STATE, "state" },
  { LPT_OP_F_BITS, "bits" }, { LPT_OP_F_TERM, "term" }, { LPT_OP_F_FACTOR, "factor" }, { LPT_OP_F_DIVISOR, "divisor" },
  { LPT_OP_F_QUANTIZES, "quantizes" }, { LPT_OP_F_STRINGS, "strings" }, { LPT_OP_F_HOMOGENEOUS, "homogeneous" },
  { LPT_OP_F_SPATIAL, "spatial" }, { LPT_OP_F_STANDARDIZES, "standardizes" }, { LPT_OP_F_WHOLE, "whole" },
  { LPT_OP_F_UNSIGNED, "unsigned" },
};

static const struct { guint8 flag; const char *name; } openvino_names[] = {
  { LPT_OPENVINO_RELAXED, "relaxed" }, { LPT_OPENVINO_LPT, "lpt" }, { LPT_OPENVINO_BOXES, "boxes" },
};

static const char *const kind_names[] = { "bool", "int", "float", "enum", "string", "ints", "floats", "type", "shape" };

static char *
inputs_text (const LptOpInfo *info)
{
  if (info->max_in == LPT_ANY_INPUTS)
    return g_strdup_printf ("%u..", info->min_in);
  if (info->max_in == info->min_in)
    return g_strdup_printf ("%u", info->min_in);
  return g_strdup_printf ("%u..%u", info->min_in, info->max_in);
}

static char *
opsets_text (const LptAttrField *f)
{
  if (f->until > 0)
    return g_strdup_printf (", opset %u..%u", f->since, f->until);
  return f->since > 1 ? g_strdup_printf (", from opset %u", f->since) : g_strdup ("");
}

static void
print_attributes (const LptOpInfo *info)
{
  for (const LptAttrField *f = info->attrs; f->name != NULL; f++)
    {
      g_autofree char *names = f->kind == LPT_ATTR_ENUM ? g_strjoinv ("|", (char **) f->names)
                                                        : g_strdup (kind_names[f->kind]);
      g_autofree char *opsets = opsets_text (f);
      printf ("    %-32s %s%s%s%s%s\n", f->name, names, f->flags & LPT_ATTR_F_REQUIRED ? ", required" : "",
              f->fallback != NULL ? ", default " : "", f->fallback != NULL ? f->fallback : "", opsets);
    }
}

/* What targets demand of the quantization of the op's values. */
static void
print_restrictions (const LptOpInfo *info)
{
  for (LptQuantRules target = LPT_QUANT_RULES_LITERT; target <= LPT_QUANT_RULES_TPU; target++)
    {
      guint n;
      const LptOpRestriction *rows = lpt_op_restrictions (info->op, target, &n);
      for (guint i = 0; i < n; i++)
        {
          g_autofree char *text = lpt_op_restriction_to_string (&rows[i]);
          printf ("    %s: %s\n", lpt_quant_rules_name (target), text);
        }
    }
}

static void
append_restrictions (GString *s, const LptOpInfo *info)
{
  gboolean any = FALSE;
  for (LptQuantRules target = LPT_QUANT_RULES_LITERT; target <= LPT_QUANT_RULES_TPU; target++)
    {
      guint n;
      const LptOpRestriction *rows = lpt_op_restrictions (info->op, target, &n);
      for (guint i = 0; i < n; i++)
        {
          g_autofree char *text = lpt_op_restriction_to_string (&rows[i]);
          g_string_append_printf (s, "%s{\"target\": \"%s\", \"demands\": ", any ? ", " : "",
                                  lpt_quant_rules_name (target));
          cmd_json_string (s, text);
          g_string_append_c (s, '}');
          any = TRUE;
        }
    }
}

static void
print_json (const LptOpInfo *info, gboolean first)
{
  g_autoptr (GString) s = g_string_new (first ? "  {\"name\": " : ",\n  {\"name\": ");
  cmd_json_string (s, info->name);
  g_string_append (s, ", \"versions\": [");
  g_auto (GStrv) versions = g_strsplit (info->openvino.versions, " ", -1);
  for (guint i = 0; versions[i] != NULL; i++)
    g_string_append_printf (s, "%s%s", i > 0 ? ", " : "", versions[i]);
  g_string_append_printf (s, "], \"inputs\": [%u, ", info->min_in);
  if (info->max_in == LPT_ANY_INPUTS)
    g_string_append (s, "null]");
  else
    g_string_append_printf (s, "%u]", info->max_in);
  if (info->n_out >= 0)
    g_string_append_printf (s, ", \"outputs\": %d", info->n_out);
  g_string_append (s, ", \"flags\": [");
  gboolean any = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (trait_names); i++)
    if (info->flags & trait_names[i].flag)
      {
        g_string_append_printf (s, "%s\"%s\"", any ? ", " : "", trait_names[i].name);
        any = TRUE;
      }
  for (guint i = 0; i < G_N_ELEMENTS (openvino_names); i++)
    if (info->openvino.flags & openvino_names[i].flag)
      {
        g_string_append_printf (s, "%s\"%s\"", any ? ", " : "", openvino_names[i].name);
        any = TRUE;
      }
  g_string_append (s, "], \"attributes\": [");
  for (const LptAttrField *f = info->attrs; f->name != NULL; f++)
    {
      g_string_append (s, f == info->attrs ? "{\"name\": " : ", {\"name\": ");
      cmd_json_string (s, f->name);
      g_string_append_printf (s, ", \"kind\": \"%s\", \"required\": %s", kind_names[f->kind],
                              f->flags & LPT_ATTR_F_REQUIRED ? "true" : "false");
      if (f->since > 0)
        g_string_append_printf (s, ", \"since\": %u", f->since);
      if (f->until > 0)
        g_string_append_printf (s, ", \"until\": %u", f->until);
      if (f->fallback != NULL)
        {
          g_string_append (s, ", \"default\": ");
          cmd_json_string (s, f->fallback);
        }
      if (f->kind == LPT_ATTR_ENUM)
        {
          g_string_append (s, ", \"values\": [");
          for (guint i = 0; f->names[i] != NULL; i++)
            {
              g_string_append (s, i > 0 ? ", " : "");
              cmd_json_string (s, f->names[i]);
            }
          g_string_append_c (s, ']');
        }
      g_string_append_c (s, '}');
    }
  g_string_append (s, "], \"quantization\": [");
  append_restrictions (s, info);
  g_string_append (s, "], \"doc\": ");
  cmd_json_string (s, info->doc);
  g_string_append_c (s, '}');
  fputs (s->str, stdout);
}

int
cmd_ops (int argc, char **argv)
{
  gboolean json = FALSE, attributes = FALSE;
  int code;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "For scripts", NULL },
    { "attributes", 'a', 0, G_OPTION_ARG_NONE, &attributes, "Show attributes and demands of targets, too", NULL },
    { NULL },
  };
  const CmdLine line = { entries, "[OP]",
                         "OP: one operation with its attributes and what targets demand of its quantization.",
                         0, 1 };
  if (!cmd_parse (&argc, &argv, &line, &code))
    return code;

  const LptOpInfo *only = argc > 1 ? lpt_op_find (argv[1]) : NULL;
  if (argc > 1 && only == NULL)
    return cmd_usage ("no op \"%s\" (see lptc ops)", argv[1]);
  if (json)
    puts ("[");
  gboolean first = TRUE;
  for (int op = LPT_OP_FIRST; op < LPT_N_OPS; op++)
    {
      const LptOpInfo *info = lpt_op_info ((LptOp) op);
      if (only != NULL && only != info)
        continue;
      if (json)
        print_json (info, first);
      else
        {
          g_autofree char *inputs = inputs_text (info);
          printf ("%-28s %-12s %-6s %s\n", info->name,
                  info->openvino.versions[0] != '\0' ? info->openvino.versions : "-", inputs, info->doc);
          if (attributes || only != NULL)
            {
              print_attributes (info);
              print_restrictions (info);
            }
        }
      first = FALSE;
    }
  if (json)
    puts ("\n]");
  return CMD_OK;
}
