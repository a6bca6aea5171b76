/* test-property-restrict.c - random restrictions on random graphs: kept, named, and nothing else turns real
 *
 * One to three restrictions (op, name or glob; types of ports; never; one scale) on top of a random target. Then
 *   - the pipeline runs, and lpt_config_check() and lpt_graph_check() find nothing in the result;
 *   - an op that is integer without the restrictions and real with them (no mere part of another one) is one of
 *     which a restriction speaks, and its reason names that restriction; or a value that it reads has changed (its
 *     type, or integer to real); or it has no integers of its own (a sum, a mean, a move: codes are what its
 *     readers ask for; on targets without accumulators all) and a reader has changed.
 *
 * Under target none a first restriction switches markup on, so that only the promise is held there. 500 graphs,
 * LPT_TEST_NIGHTLY=1: 10000. LPT_TEST_GRAPH as in property.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/property.h"

#include <lpt/lpt-explain.h>
#include <lpt/lpt-pass.h>

#include <string.h>

typedef struct
{
  char     *text;
  gboolean  per_tensor;
} Option;

static void
option_free (Option *option)
{
  g_free (option->text);
  g_free (option);
}

static guint
any (GRand *rand, guint n)
{
  return (guint) g_rand_int_range (rand, 0, (gint) n);
}

/* --- drawing --- */

/* Under none the first restriction switches the markup of types on: another pipeline, which no comparison holds. */
static const char *const targets[] = { "native",           "native",       "native", "native", "none", "openvino-cpu",
                                       "openvino-cpu-new", "openvino-gpu", "arm",    "litert", "tpu" };
static const char *const ops[] = { "conv",       "group_conv",  "deconv",     "matmul",      "add",  "mul",
                                   "sub",        "avg_pool",    "max_pool",   "concat",      "relu", "clamp",
                                   "Requantize", "Reinterpret", "Dequantize", "FakeQuantize" };
static const char *const types[] = { NULL,    NULL,     "f32",    "f32,f32",  "u8",  "i8",  "u8,i8",
                                     "u8,u8", "i8,i8",  "i8,u8",  "u8|i8,i8", ",i8", ",u8", ",i4",
                                     "u8,i4", "i16,i8", "0+1=u8", "0+1=i8",   "i4" };
static const char *const ports[] = { "", ":0", ":1", ":0,1" };

/* An op of the graph, one of the list, a name or a glob. */
static char *
whom (LptGraph *graph, GRand *rand)
{
  LptNode *node = g_ptr_array_index (graph->nodes, any (rand, graph->nodes->len));
  switch (any (rand, 5))
    {
    case 0: return g_strdup (ops[any (rand, G_N_ELEMENTS (ops))]);
    case 1: return g_strconcat ("node=", node->name, NULL);
    case 2:
      {
        g_autofree char *start = g_strndup (node->name, 1 + any (rand, (guint) strlen (node->name)));
        return g_strconcat ("node=", start, "*", NULL);
      }
    default: return g_strdup (node->op == LPT_OP_CONST || node->op == LPT_OP_PARAMETER || node->op == LPT_OP_RESULT
                              ? ops[any (rand, G_N_ELEMENTS (ops))] : node->info->name);
    }
}

static GPtrArray *
draw (LptGraph *graph, GRand *rand)
{
  GPtrArray *options = g_ptr_array_new_with_free_func ((GDestroyNotify) option_free);
  for (guint n = 1 + any (rand, 3); n > 0; n--)
    {
      Option *option = g_new0 (Option, 1);
      g_autofree char *who = whom (graph, rand);
      const char *type = types[any (rand, G_N_ELEMENTS (types))];
      option->per_tensor = any (rand, 4) == 0;
      option->text = option->per_tensor ? g_strconcat (who, ports[any (rand, G_N_ELEMENTS (ports))], NULL)
                     : type != NULL ? g_strconcat (who, ":", type, NULL) : g_strdup (who);
      g_ptr_array_add (options, option);
    }
  return options;
}

static LptConfig *
make_config (const char *target, GPtrArray *options)
{
  g_autoptr (GError) error = NULL;
  LptConfig *config = lpt_config_new_target (target, &error);
  g_assert_no_error (error);
  for (guint i = 0; options != NULL && i < options->len; i++)
    {
      const Option *option = g_ptr_array_index (options, i);
      if (option->per_tensor)
        lpt_config_per_tensor (config, option->text, &error);
      else
        lpt_config_restrict (config, option->text, &error);
      g_assert_no_error (error);
    }
  return config;
}

static char *
options_text (const char *target, GPtrArray *options)
{
  GString *text = g_string_new ("--target ");
  g_string_append (text, target);
  for (guint i = 0; i < options->len; i++)
    {
      const Option *option = g_ptr_array_index (options, i);
      g_string_append_printf (text, " %s '%s'", option->per_tensor ? "--per-tensor" : "--restrict", option->text);
    }
  return g_string_free (text, FALSE);
}

/* --- who changed --- */

typedef struct
{
  GHashTable *before, *after;      /* name -> LptExplanation * */
  LptConfig  *config;
  GPtrArray  *options;
} Account;

static GHashTable *
by_name (GPtrArray *list)
{
  GHashTable *table = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < list->len; i++)
    {
      LptExplanation *e = g_ptr_array_index (list, i);
      g_hash_table_insert (table, e->name, e);
    }
  return table;
}

/* Does one of the options speak of @node? */
static gboolean
is_restricted (const Account *a, LptNode *node)
{
  const LptRestriction *r = lpt_config_restriction (a->config, node);
  const LptGranularityRestriction *g = lpt_config_granularity (a->config, node);
  for (guint i = 0; i < a->options->len; i++)
    {
      const Option *option = g_ptr_array_index (a->options, i);
      if ((r != NULL && g_str_equal (r->text, option->text)) || (g != NULL && g_str_equal (g->text, option->text)))
        return TRUE;
    }
  return FALSE;
}

/* Another type, or other types of what it reads. */
static gboolean
differs (const Account *a, const LptNode *node)
{
  const LptExplanation *before = g_hash_table_lookup (a->before, node->name),
                       *after = g_hash_table_lookup (a->after, node->name);
  return before != NULL && after != NULL &&
         (before->precision != after->precision || g_strcmp0 (before->inputs, after->inputs) != 0);
}

static gboolean
is_explained (const Account *a, const LptNode *node)
{
  return g_hash_table_contains (a->after, node->name);
}

/* Real where it stands, by an option: without it, it could be real behind integers that pass it. */
static gboolean
is_kept_real (const Account *a, LptNode *node)
{
  const LptExplanation *after = g_hash_table_lookup (a->after, node->name);
  return is_restricted (a, node) && after != NULL && after->precision == LPT_DTYPE_F32;
}

/* It runs on integers by itself: what is above it shows in them. */
static gboolean
runs_low (const Account *a, const LptNode *node)
{
  const LptExplanation *after = g_hash_table_lookup (a->after, node->name);
  return after->precision == LPT_DTYPE_U8 || after->precision == LPT_DTYPE_I8;
}

static gboolean value_changed (const Account *a, LptValue *value, const LptNode *except, guint depth);

/* A reader, seen through what is no op of its own, changed. */
static gboolean
reader_changed (const Account *a, LptValue *value, const LptNode *except, guint depth)
{
  for (guint i = 0; i < lpt_value_n_uses (value) && depth < 64; i++)
    {
      LptNode *reader = lpt_value_use (value, i)->node;
      if (reader == except)
        continue;
      if (is_explained (a, reader) && differs (a, reader))
        return TRUE;
      if (!is_explained (a, reader) && is_restricted (a, reader))
        return TRUE;
      if (!is_explained (a, reader) && reader->n_out > 0 &&
          reader_changed (a, lpt_node_out (reader), except, depth + 1))
        return TRUE;
    }
  return FALSE;
}

/* The same of what reads @value behind an op: one that is restricted asks for other codes, or none. */
static gboolean
restricted_reader (const Account *a, LptValue *value, guint depth)
{
  for (guint i = 0; i < lpt_value_n_uses (value) && depth < 64; i++)
    {
      LptNode *reader = lpt_value_use (value, i)->node;
      if (is_restricted (a, reader))
        return TRUE;
      if (!is_explained (a, reader) && reader->n_out > 0 && restricted_reader (a, lpt_node_out (reader), depth + 1))
        return TRUE;
    }
  return FALSE;
}

/* What makes it did, or its codes have another type: then another reader says so. */
static gboolean
value_changed (const Account *a, LptValue *value, const LptNode *except, guint depth)
{
  LptNode *node = value->producer;
  if (depth > 64 || node->op == LPT_OP_CONST)
    return FALSE;
  if (!is_explained (a, node) && is_restricted (a, node))
    return TRUE;
  if (is_explained (a, node) &&
      (differs (a, node) || is_kept_real (a, node) || reader_changed (a, value, except, depth + 1)))
    return TRUE;
  if (is_explained (a, node) && runs_low (a, node))
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && value_changed (a, lpt_node_in (node, i), except, depth + 1))
      return TRUE;
  return reader_changed (a, value, except, depth + 1);
}

static gboolean
has_own_integers (const LptNode *node)
{
  switch (node->op)
    {
    case LPT_OP_CONVOLUTION:
    case LPT_OP_GROUP_CONVOLUTION:
    case LPT_OP_CONVOLUTION_BACKPROP_DATA:
    case LPT_OP_MATMUL:
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
is_named (const LptExplanation *e, const LptConfig *config, LptNode *node, GPtrArray *options, gboolean *said)
{
  const LptRestriction *r = lpt_config_restriction (config, node);
  const LptGranularityRestriction *g = lpt_config_granularity (config, node);
  gboolean named = FALSE;
  *said = FALSE;
  for (guint i = 0; i < options->len; i++)
    {
      const Option *option = g_ptr_array_index (options, i);
      if ((r != NULL && g_str_equal (r->text, option->text)) || (g != NULL && g_str_equal (g->text, option->text)))
        {
          g_autofree char *quoted = g_strdup_printf ("\"%s\"", option->text);
          named = TRUE;
          *said |= strstr (e->reason, quoted) != NULL;
        }
      else
        {
          /* Of what passes made of it: a Subtract is an Add now. */
          g_autofree char *tail = g_strdup_printf ("(restriction \"%s\")", option->text);
          named |= strstr (e->reason, tail) != NULL;
          *said |= strstr (e->reason, tail) != NULL;
        }
    }
  return named;
}

/* --- the property --- */

/* Types that the FakeQuantizes of @graph write before lowering: name -> LptDType. */
static GHashTable *
code_types (LptGraph *graph, LptConfig *config)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  GHashTable *written = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  config->until = LPT_STAGE_CLEANUP;
  config->strict = TRUE;
  if (lpt_pipeline_run (copy, config, NULL, NULL, NULL))
    for (guint i = 0; i < copy->nodes->len; i++)
      {
        LptNode *node = g_ptr_array_index (copy->nodes, i);
        if (node->op == LPT_OP_FAKE_QUANTIZE && lpt_dtype_is_low (node->out[0].dtype))
          g_hash_table_insert (written, g_strdup (node->origin != NULL ? node->origin : node->name),
                               GUINT_TO_POINTER (node->out[0].dtype));
      }
  config->until = LPT_STAGE_LOWER;
  return written;
}

/* A FakeQuantize above, seen through any op, writes another integer type, or none where one of its readers is
 * restricted: the restrictions of other readers reach it. */
static gboolean
type_changed (const Account *a, LptNode *node, GHashTable *before, GHashTable *after, guint depth)
{
  if (node->op == LPT_OP_FAKE_QUANTIZE)
    {
      gpointer was = g_hash_table_lookup (before, node->name), is = g_hash_table_lookup (after, node->name);
      return was != NULL && was != is && (is != NULL || restricted_reader (a, lpt_node_out (node), 0));
    }
  for (guint i = 0; i < node->n_in && depth < 8; i++)
    if (lpt_node_src (node, i) != NULL && type_changed (a, lpt_node_src (node, i), before, after, depth + 1))
      return TRUE;
  return FALSE;
}

/* Integers of the model itself cannot be real: an option that asks for it is refused, with the name of the node. */
static gboolean
is_refused (LptGraph *graph, const GError *error)
{
  gboolean named = FALSE;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      g_autofree char *name = g_strdup_printf ("node \"%s\": unsupported", ((LptNode *) graph->nodes->pdata[i])->name);
      named |= strstr (error->message, name) != NULL;
    }
  return named && error->code == LPT_ERROR_UNSUPPORTED &&
         strstr (error->message, "cannot be real: the model itself has these integers") != NULL;
}

static char *
examine_with (LptGraph *graph, const char *target, GPtrArray *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptConfig) plain = make_config (target, NULL), config = make_config (target, options);
  g_autofree char *text = options_text (target, options);
  g_autoptr (LptGraph) result = lpt_graph_copy (graph);
  g_autoptr (GPtrArray) before = lpt_explain (graph, plain, NULL);
  if (before == NULL)
    return NULL;      /* the target refuses it: zero points of weights and the like */
  if (!lpt_pipeline_run (result, config, NULL, NULL, &error) || !lpt_graph_validate (result, &error))
    return is_refused (graph, error) ? NULL : g_strdup_printf ("failed: %s: %s", text, error->message);
  g_autoptr (GPtrArray) left = lpt_config_check (config, result);
  g_autoptr (GPtrArray) also = lpt_graph_check (result, config->quant_rules);
  if (left->len + also->len > 0)
    {
      const LptViolation *v = g_ptr_array_index (left->len > 0 ? left : also, 0);
      return g_strdup_printf ("not kept: %s: %s \"%s\": %s", text, v->node->info->name, v->node->name, v->what);
    }

  if (g_str_equal (target, "none"))
    return NULL;
  g_autoptr (GPtrArray) after = lpt_explain (graph, config, &error);
  if (after == NULL)
    return g_strdup_printf ("explain failed: %s: %s", text, error->message);
  g_autoptr (GHashTable) before_of = by_name (before), after_of = by_name (after);
  Account account = { before_of, after_of, config, options };
  for (guint i = 0; i < after->len; i++)
    {
      const LptExplanation *e = g_ptr_array_index (after, i), *was = g_hash_table_lookup (before_of, e->name);
      LptNode *node = lpt_graph_find (graph, e->name);
      gboolean said, allowed = FALSE;
      /* What is a part of another op, or folded into its neighbours, has no type of its own. */
      if (was == NULL || was->precision == LPT_DTYPE_UNDEFINED || was->precision == LPT_DTYPE_F32 ||
          was->precision == LPT_DTYPE_I32 ||
          e->precision != LPT_DTYPE_F32 || g_str_has_prefix (was->reason, "part of "))
        continue;
      gboolean named = is_named (e, config, node, options, &said);
      for (guint k = 0; k < node->n_in; k++)
        allowed |= lpt_node_in (node, k) != NULL && value_changed (&account, lpt_node_in (node, k), node, 0);
      if (!has_own_integers (node) || config->quant_rules != LPT_QUANT_RULES_NONE)
        allowed |= reader_changed (&account, lpt_node_out (node), node, 0) ||
                   restricted_reader (&account, lpt_node_out (node), 0);
      if (!said && !allowed)
        {
          g_autoptr (GHashTable) types_before = code_types (graph, plain), types_after = code_types (graph, config);
          allowed = type_changed (&account, node, types_before, types_after, 0);
        }
      if (!named && !allowed)
        return g_strdup_printf ("without need: %s: %s \"%s\" is real: %s (was %s: %s)", text, node->info->name, e->name,
                                e->reason, lpt_dtype_name (was->precision), was->reason);
      if (named && !said && !allowed)
        return g_strdup_printf ("not said: %s: %s \"%s\" is real: %s", text, node->info->name, e->name, e->reason);
    }
  return NULL;
}

static char *
examine (LptGraph *graph, guint seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed ^ 0x5e57u);
  const char *target = targets[any (rand, G_N_ELEMENTS (targets))];
  g_autoptr (GPtrArray) options = draw (graph, rand);
  return examine_with (graph, target, options);
}

static void
test_restrictions (void)
{
  RandomSizes sizes = RANDOM_SMALL;
  sizes.more = TRUE;
  property_check (500, 10000, &sizes, examine);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/property/restrictions", test_restrictions);
  return g_test_run ();
}
