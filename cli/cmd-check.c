/* cmd-check.c - lptc check: does a transformed model keep the restrictions of a target?
 *
 * A port of a restricted op may be real, or hold an integer type that the restriction lists; a port that needs one
 * scale may hold no quantization per channel. Wide integers (shapes, axes, accumulators) are not judged. Targets
 * with demands on quantization (litert, tpu) are held against those, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/files.h"
#include "cli/runnable.h"

#include <lpt/lpt-body.h>

#include <stdio.h>

static gboolean
is_code (const LptValue *value)
{
  return value != NULL && lpt_dtype_is_integer (value->dtype) && lpt_dtype_bits (value->dtype) <= 16;
}

static guint
violation (const LptGraph *graph, const LptNode *node, const char *format, ...) G_GNUC_PRINTF (3, 4);

static guint
violation (const LptGraph *graph, const LptNode *node, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  if (node->line > 0 && graph->source != NULL)
    printf ("%s:%u: ", graph->source, node->line);
  printf ("node \"%s\": %s: %s\n", node->name, node->info->name, what);
  return 1;
}

static guint
check_ports (LptGraph *graph, LptNode *node, const LptRestriction *r)
{
  guint n = 0;
  for (guint i = 0; i < r->ports->len; i++)
    {
      const LptPortTypes *ports = &g_array_index (r->ports, LptPortTypes, i);
      g_autofree char *types = lpt_type_list_to_string (&ports->types);
      LptDType agreed = LPT_DTYPE_UNDEFINED;
      for (guint k = 0; k < ports->n_ports; k++)
        {
          const LptValue *value = lpt_node_in (node, ports->ports[k]);
          if (!is_code (value) || ports->types.n == 0)
            continue;
          if (!lpt_type_list_has (&ports->types, value->dtype))
            n += violation (graph, node, "input %u is %s, the target takes %s", ports->ports[k], lpt_dtype_name (value->dtype), types);
          else if (agreed != LPT_DTYPE_UNDEFINED && agreed != value->dtype)
            n += violation (graph, node, "input %u is %s, another input of its group is %s", ports->ports[k], lpt_dtype_name (value->dtype), lpt_dtype_name (agreed));
          agreed = value->dtype;
        }
    }
  return n;
}

static guint
check_graph (LptGraph *graph, const LptConfig *config)
{
  guint n = 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      const LptRestriction *r = lpt_config_restriction (config, node);
      const LptGranularityRestriction *g = lpt_config_granularity (config, node);
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        n += check_graph (lpt_node_body (node, b), config);
      for (guint k = 0; r != NULL && r->never && k < node->n_in; k++)
        if (is_code (node->in[k].value))
          n += violation (graph, node, "input %u is %s, the target never runs it on integers", k, lpt_dtype_name (node->in[k].value->dtype));
      if (r != NULL && !r->never)
        n += check_ports (graph, node, r);
      for (guint k = 0; g != NULL && g->granularity == LPT_GRANULARITY_PER_TENSOR && k < node->n_in && k < 32; k++)
        if ((g->ports == 0 || (g->ports & 1u << k)) && node->in[k].value != NULL && node->in[k].value->quant != NULL
            && node->in[k].value->quant->axis != LPT_QUANT_PER_TENSOR)
          n += violation (graph, node, "input %u is quantized per channel, the target needs one scale", k);
    }
  return n;
}

/* Types and ranges of codes, equal or fixed parameters, ... of a lowered graph. */
static guint
check_quantization (LptGraph *graph, LptQuantRules rules)
{
  if (rules == LPT_QUANT_RULES_NONE)
    return 0;
  g_autoptr (GPtrArray) list = lpt_graph_check (graph, rules);
  for (guint i = 0; i < list->len; i++)
    {
      const LptViolation *v = list->pdata[i];
      violation (graph, v->node, "%s", v->what);
    }
  return list->len;
}

int
cmd_check (int argc, char **argv)
{
  g_auto (CmdPipelineArgs) args = { NULL };
  int code;
  const GOptionEntry entries[] = {
    { "target", 0, 0, G_OPTION_ARG_STRING, &args.target, "Built-in target", "NAME" },
    { "config", 0, 0, G_OPTION_ARG_FILENAME, &args.config, "Target from a file", "FILE" },
    { "restrict", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args.restrict_, "Element types of an op's inputs: conv:u8,i8", "OP[:P0[,P1...]]" },
    { "per-tensor", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args.per_tensor, "Inputs that need one scale: conv:0", "OP[:PORT...]" },
    { NULL },
  };
  if (!cmd_parse (&argc, &argv, entries, "IN --target NAME", "Prints each violation; exit code 1 when there is any.", 1, 1, &code))
    return code;
  if (args.target == NULL && args.config == NULL && args.restrict_ == NULL && args.per_tensor == NULL)
    return cmd_usage ("check: --target NAME (or --config FILE) is missing");
  GError *error = NULL;
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args, &code);
  if (config == NULL)
    return code;
  g_autoptr (LptGraph) graph = cmd_load (argv[1], &error);
  if (graph == NULL)
    return cmd_fail (error);
  guint n = check_graph (graph, config) + check_quantization (graph, config->quant_rules);
  if (n > 0)
    cmd_note ("%s: %u violation%s", argv[1], n, n == 1 ? "" : "s");
  if (!graph->lowered && !lpt_graph_is_quantized (graph))
    cmd_note_float (argv[1], "nothing to do");
  else if (!graph->lowered)
    printf ("the graph is not lowered, lptc transform does that: %s\n", n == 0 ? "no violations in what it says so far" : "these are of what it says so far");
  else if (n == 0)
    puts ("no violations");
  return n == 0 ? CMD_OK : CMD_FAILED;
}
