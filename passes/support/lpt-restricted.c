/* lpt-restricted.c - which restriction holds for a node, and whether the node keeps it
 *
 * A port of a restricted op may be real, or hold an integer type that the restriction lists; a port that needs one
 * scale may hold no quantization per channel. Wide integers (shapes, axes, accumulators) are not judged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-restricted.h"

/* --- which one --- */

/* Between real values and codes: what a glob of names does not mean. */
static gboolean
is_border (LptOp op)
{
  return op == LPT_OP_CONVERT || (lpt_op_info (op)->flags & LPT_OP_F_QUANTIZES) != 0;
}

static gboolean
is_glob (const char *pattern)
{
  return strchr (pattern, '*') != NULL || strchr (pattern, '?') != NULL;
}

/* 2: by its name; 1: by a glob; 0: not at all. The op behind an output of the model is known by the output's name,
 * too, that of a body by @path (nullable), its name behind that of the node that has the body: passes call it so, and
 * keep it as the origin. */
static guint
name_fits (const char *pattern,
           LptNode    *node,
           const char *path)
{
  g_autofree char *plain = g_str_has_suffix (node->name, "_original")
    ? g_strndup (node->name, strlen (node->name) - strlen ("_original")) : NULL;
  const char *names[] = { node->name, node->origin, plain, path };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    if (names[i] != NULL && strcmp (pattern, names[i]) == 0)
      return 2;
  if (is_glob (pattern) && !is_border (node->op))
    for (i = 0; i < G_N_ELEMENTS (names); i++)
      if (names[i] != NULL && g_pattern_match_simple (pattern, names[i]))
        return 1;

  return 0;
}

static gboolean
version_fits (guint    since,
              guint    until,
              LptNode *node)
{
  guint version = lpt_op_version (node->info, node->opset);

  return version >= since && (until == 0 || version <= until);
}

static const LptRestriction *
restriction_of (const LptConfig *config,
                LptNode         *node,
                const char      *path)
{
  const LptRestriction *best = NULL;
  LptValue *data = lpt_node_in (node, 0);
  guint closest = 0, narrowest = 0;
  guint i;

  for (i = 0; i < config->restrictions->len; i++)
    {
      const LptRestriction *r = g_ptr_array_index (config->restrictions, i);
      guint narrow = (r->rank >= 0 ? 2 : 0) + (r->since > 0 ? 1 : 0);

      if (r->node != NULL)
        {
          guint fit = name_fits (r->node, node, path);

          if (fit > 0 && fit >= closest)
            {
              closest = fit;
              best = r;
            }
          continue;
        }
      if (closest > 0 || r->op != node->op || !version_fits (r->since, r->until, node))
        continue;
      if (r->rank >= 0 && (data == NULL || data->shape.rank != r->rank))
        continue;
      if (best == NULL || narrow >= narrowest)
        {
          narrowest = narrow;
          best = r;
        }
    }

  return best;
}

const LptRestriction *
lpt_config_restriction (const LptConfig *config,
                        LptNode         *node)
{
  return restriction_of (config, node, NULL);
}

static const LptGranularityRestriction *
granularity_of (const LptConfig *config,
                LptNode         *node,
                const char      *path)
{
  const LptGranularityRestriction *best = NULL;
  guint closest = 0;
  guint i;

  for (i = 0; i < config->granularity->len; i++)
    {
      const LptGranularityRestriction *g = g_ptr_array_index (config->granularity, i);
      guint fit = g->node != NULL ? name_fits (g->node, node, path) : 0;

      if (g->node == NULL && closest == 0 && g->op == node->op && version_fits (g->since, g->until, node) &&
          (best == NULL || g->since > 0 || best->since == 0))
        best = g;
      else if (fit > 0 && fit >= closest)
        {
          closest = fit;
          best = g;
        }
    }

  return best;
}

const LptGranularityRestriction *
lpt_config_granularity (const LptConfig *config,
                        LptNode         *node)
{
  return granularity_of (config, node, NULL);
}

static gboolean
any_node_fits (const char *pattern,
               LptGraph   *graph,
               const char *prefix)
{
  guint i, k;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      g_autofree char *path = g_strconcat (prefix, node->name, NULL);

      if (name_fits (pattern, node, path) > 0)
        return TRUE;
      for (k = 0; k < lpt_node_n_bodies (node); k++)
        {
          g_autofree char *inner = lpt_body_prefix (node, k, path);

          if (any_node_fits (pattern, lpt_node_body (node, k), inner))
            return TRUE;
        }
    }

  return FALSE;
}

GPtrArray *
lpt_config_unused_names (const LptConfig *config,
                         LptGraph        *graph)
{
  GPtrArray *unused = g_ptr_array_new_with_free_func (g_free);
  guint i;

  for (i = 0; i < config->restrictions->len; i++)
    {
      const LptRestriction *r = g_ptr_array_index (config->restrictions, i);

      if (r->node != NULL && !any_node_fits (r->node, graph, ""))
        g_ptr_array_add (unused, g_strdup (r->node));
    }
  for (i = 0; i < config->granularity->len; i++)
    {
      const LptGranularityRestriction *g = g_ptr_array_index (config->granularity, i);

      if (g->node != NULL && !any_node_fits (g->node, graph, ""))
        g_ptr_array_add (unused, g_strdup (g->node));
    }

  return unused;
}

/* --- what it says --- */

LptCode
lpt_code_of (const LptValue *value)
{
  LptCode code = { LPT_DTYPE_UNDEFINED, FALSE };

  if (value == NULL)
    return code;
  if (lpt_dtype_is_integer (value->dtype) && lpt_dtype_bits (value->dtype) <= 16)
    code.dtype = value->dtype;
  code.per_channel = value->quant != NULL && value->quant->axis != LPT_QUANT_PER_TENSOR;

  return code;
}

LptDType
lpt_config_final_type (const LptConfig *config,
                       LptDType         dtype)
{
  return config->quant_rules != LPT_QUANT_RULES_NONE && config->until >= LPT_STAGE_LOWER && dtype == LPT_DTYPE_U8
         ? LPT_DTYPE_I8 : dtype;
}

static gboolean
has_integer (const LptTypeList *types)
{
  guint i;

  for (i = 0; i < types->n; i++)
    if (!lpt_dtype_is_real ((LptDType) types->v[i]))
      return TRUE;

  return FALSE;
}

gboolean
lpt_restriction_is_never (const LptRestriction *restriction)
{
  guint i;

  for (i = 0; i < restriction->ports->len; i++)
    {
      const LptPortTypes *ports = &g_array_index (restriction->ports, LptPortTypes, i);

      if (ports->types.n > 0 && !has_integer (&ports->types))
        return TRUE;
    }

  return restriction->never;
}

gboolean
lpt_config_is_strict (const LptConfig *config)
{
  return config->strict || config->until >= LPT_STAGE_LOWER;
}

gboolean
lpt_node_is_dequantization (const LptNode *node)
{
  return (node->flags & (LPT_NODE_DEQUANTIZATION | LPT_NODE_LPT_MADE)) != 0;
}

gboolean
lpt_config_port_types (const LptConfig *config,
                       LptNode         *node,
                       guint            port,
                       LptTypeList     *types)
{
  const LptRestriction *r = lpt_config_restriction (config, node);
  guint i, k;

  for (i = 0; r != NULL && i < r->ports->len; i++)
    {
      const LptPortTypes *ports = &g_array_index (r->ports, LptPortTypes, i);

      for (k = 0; k < ports->n_ports; k++)
        if (ports->ports[k] == port && ports->types.n > 0)
          {
            *types = ports->types;
            return TRUE;
          }
    }

  return FALSE;
}

const char *
lpt_config_disabled_pass (const LptConfig *config,
                          LptOp            op)
{
  const LptPass *const *pass;

  for (pass = lpt_passes (); *pass != NULL; pass++)
    if ((*pass)->stage == LPT_STAGE_PROPAGATE && (*pass)->roots != NULL && (*pass)->roots[0] == op &&
        (*pass)->roots[1] == LPT_OP_NONE && g_hash_table_contains (config->disabled, (*pass)->name))
      return (*pass)->name;

  return NULL;
}

/* --- whether it is kept --- */

typedef struct
{
  GPtrArray  *list;           /* char *; NULL: only @first is wanted */
  char       *first;
  const char *restriction;    /* named in @first */
} Breaches;

static void add_breach (Breaches *breaches, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add_breach (Breaches   *breaches,
            const char *format,
            ...)
{
  g_autofree char *what = NULL;
  va_list args;

  if (breaches->list == NULL && breaches->first != NULL)
    return;
  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  if (breaches->list != NULL)
    g_ptr_array_add (breaches->list, g_steal_pointer (&what));
  else
    breaches->first = g_strdup_printf ("%s (restriction \"%s\")", what, breaches->restriction);
}

static void
hold_ports (Breaches             *breaches,
            const LptPortTypes   *ports,
            const LptCode        *codes,
            guint                 n_codes)
{
  g_autofree char *types = lpt_type_list_to_string (&ports->types);
  LptDType agreed = LPT_DTYPE_UNDEFINED;
  guint k;

  for (k = 0; k < ports->n_ports; k++)
    {
      guint port = ports->ports[k];
      LptDType dtype = port < n_codes ? codes[port].dtype : LPT_DTYPE_UNDEFINED;

      if (dtype == LPT_DTYPE_UNDEFINED || ports->types.n == 0)
        continue;
      if (!lpt_type_list_has (&ports->types, dtype))
        add_breach (breaches, "input %u is %s, the target takes %s", port, lpt_dtype_name (dtype), types);
      else if (agreed != LPT_DTYPE_UNDEFINED && agreed != dtype)
        add_breach (breaches, "input %u is %s, another input of its group is %s", port, lpt_dtype_name (dtype),
                    lpt_dtype_name (agreed));
      agreed = dtype;
    }
}

static void
hold (Breaches        *breaches,
      const LptConfig *config,
      LptNode         *node,
      const char      *path,
      const LptCode   *codes,
      guint            n_codes)
{
  const LptRestriction *r = restriction_of (config, node, path);
  const LptGranularityRestriction *g = granularity_of (config, node, path);
  guint k;

  if (r != NULL)
    {
      breaches->restriction = r->text;
      for (k = 0; r->never && k < n_codes; k++)
        if (codes[k].dtype != LPT_DTYPE_UNDEFINED)
          add_breach (breaches, "input %u is %s, the target never runs it on integers", k,
                      lpt_dtype_name (codes[k].dtype));
      for (k = 0; !r->never && k < r->ports->len; k++)
        hold_ports (breaches, &g_array_index (r->ports, LptPortTypes, k), codes, n_codes);
    }
  if (g != NULL && g->granularity == LPT_GRANULARITY_PER_TENSOR)
    {
      breaches->restriction = g->text;
      for (k = 0; k < n_codes && k < 32; k++)
        if (lpt_granularity_is_about (g, k) && codes[k].per_channel)
          add_breach (breaches, "input %u is quantized per channel, the target needs one scale", k);
    }
}

static LptCode *
codes_of (LptNode *node)
{
  LptCode *codes = g_new (LptCode, node->n_in + 1);
  guint k;

  for (k = 0; k < node->n_in; k++)
    codes[k] = lpt_code_of (node->in[k].value);

  return codes;
}

char *
lpt_config_breach (const LptConfig *config,
                   LptNode         *node,
                   const LptCode   *codes,
                   guint            n_codes)
{
  Breaches breaches = { NULL };

  hold (&breaches, config, node, NULL, codes, n_codes);

  return breaches.first;
}

char *
lpt_restriction_never_reason (const LptRestriction *restriction,
                              const LptNode        *node)
{
  return g_strdup_printf ("the target never runs %s on integers (restriction \"%s\")", node->info->name,
                          restriction->text);
}

gboolean
lpt_granularity_is_about (const LptGranularityRestriction *granularity,
                          guint                            port)
{
  return granularity->ports == 0 || (port < 32 && (granularity->ports & 1u << port) != 0);
}

gboolean
lpt_config_takes_hybrid (const LptConfig *config,
                         LptNode         *node)
{
  const LptRestriction *restriction = lpt_config_restriction (config, node);

  return config->quant_rules == LPT_QUANT_RULES_LITERT &&
         (restriction == NULL || !lpt_restriction_is_never (restriction));
}

/* Does it read such codes? */
static gboolean
is_hybrid (const LptNode *node)
{
  const LptNode *data = node->n_in > 0 && node->in[0].value != NULL ? node->in[0].value->producer : NULL;

  return data != NULL && data->op == LPT_OP_DYNAMIC_QUANTIZE && LPT_ATTRS (data, LptDynamicQuantizeAttrs)->litert;
}

char *
lpt_config_node_breach (const LptConfig *config,
                        LptNode         *node)
{
  g_autofree LptCode *codes = codes_of (node);

  if (is_hybrid (node) && lpt_config_takes_hybrid (config, node))
    return NULL;

  return lpt_config_breach (config, node, codes, node->n_in);
}

static void
violation_free (LptViolation *violation)
{
  g_free (violation->what);
  g_free (violation);
}

static void
check_graph (const LptConfig *config,
             LptGraph        *graph,
             const char      *prefix,
             GPtrArray       *list)
{
  guint i, k;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      g_autofree LptCode *codes = codes_of (node);
      g_autoptr (GPtrArray) texts = g_ptr_array_new ();
      g_autofree char *path = g_strconcat (prefix, node->name, NULL);
      Breaches breaches = { .list = texts };

      for (k = 0; k < lpt_node_n_bodies (node); k++)
        {
          g_autofree char *inner = lpt_body_prefix (node, k, path);

          check_graph (config, lpt_node_body (node, k), inner, list);
        }
      if (!is_hybrid (node) || !lpt_config_takes_hybrid (config, node))
        hold (&breaches, config, node, path, codes, node->n_in);
      for (k = 0; k < texts->len; k++)
        {
          LptViolation *violation = g_new (LptViolation, 1);

          violation->node = node;
          violation->what = g_ptr_array_index (texts, k);
          violation->rule = "restriction";
          g_ptr_array_add (list, violation);
        }
    }
}

GPtrArray *
lpt_config_check (const LptConfig *config,
                  LptGraph        *graph)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) violation_free);

  check_graph (config, graph, "", list);

  return list;
}
