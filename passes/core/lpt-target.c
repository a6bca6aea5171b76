/* lpt-target.c - reads a target: JSON, built in (passes/targets/) or a file
 *
 *   "doc"          text
 *   "restrict"     list of lpt_config_restrict() texts
 *   "per-tensor"   list of lpt_config_per_tensor() texts
 *   "keep"         list of names and globs for lpt_config_keep()
 *   "disable"      list of passes
 *   "prepare", "cleanup"   list of groups, each a list of passes that run as one sweep
 *   "callbacks"    { pass: [predicate, ...] }
 *   "update-precisions", "scaling-mode", "reshape-ignores-per-tensor",
 *   "integer-zero-points", "made-only", "normalization-keeps-eps", "strict"   true or false
 *   "deq-precision"          element type
 *   "default-precisions"     "u8|i8"
 *   "quantization"           table of demands on quantization: "litert", "tpu"
 *   "requant"                requant mode of the lowered graph
 *   "base"         name of a built-in target that this one starts from
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <cjson/cJSON.h>

#include <lpt/lpt-pass.h>
#include <lpt/lpt-requant.h>

#include "ir/text/lpt-line.h"
#include "passes/core/lpt-target.h"

static const struct
{
  const char *name;
  const char *text;
} targets[] =
{
#include "passes/lpt-targets.inc"
};

typedef gboolean (*StringFunc) (LptConfig *config, const char *text, GError **error);

/* A built-in target may name passes that this build leaves out; a user's file may not. */
static gboolean
lacks_pass (LptConfig  *config,
            const char *pass)
{
  return config->name == NULL && lpt_pass_find (pass) == NULL;
}

static gboolean
disable (LptConfig   *config,
         const char  *pass,
         GError     **error)
{
  return lacks_pass (config, pass) || lpt_config_disable (config, pass, error);
}

static gboolean
wrong (GError      **error,
       const cJSON  *item,
       const char   *what)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "\"%s\" must be %s",
               item->string != NULL ? item->string : "an element", what);

  return FALSE;
}

static gboolean
each_string (LptConfig    *config,
             const cJSON  *list,
             StringFunc    func,
             GError      **error)
{
  const cJSON *item;

  if (!cJSON_IsArray (list))
    return wrong (error, list, "a list of strings");
  cJSON_ArrayForEach (item, list)
    {
      if (!cJSON_IsString (item))
        return wrong (error, list, "a list of strings");
      if (!func (config, item->valuestring, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
read_groups (LptConfig    *config,
             GPtrArray    *groups,
             const cJSON  *list,
             GError      **error)
{
  const cJSON *group;
  const cJSON *item;

  if (!cJSON_IsArray (list))
    return wrong (error, list, "a list of lists of passes");
  g_ptr_array_set_size (groups, 0);
  cJSON_ArrayForEach (group, list)
    {
      g_autoptr (GStrvBuilder) names = g_strv_builder_new ();

      if (!cJSON_IsArray (group))
        return wrong (error, list, "a list of lists of passes");
      cJSON_ArrayForEach (item, group)
        {
          if (!cJSON_IsString (item))
            return wrong (error, list, "a list of lists of passes");
          if (lpt_pass_find (item->valuestring) == NULL && !lacks_pass (config, item->valuestring))
            {
              g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no pass is named \"%s\"", item->valuestring);
              return FALSE;
            }
          g_strv_builder_add (names, item->valuestring);
        }
      g_ptr_array_add (groups, g_strv_builder_end (names));
    }

  return TRUE;
}

static gboolean
read_callbacks (LptConfig    *config,
                const cJSON  *object,
                GError      **error)
{
  const cJSON *pass;
  const cJSON *item;

  if (!cJSON_IsObject (object))
    return wrong (error, object, "an object of lists of predicates");
  cJSON_ArrayForEach (pass, object)
    {
      if (!cJSON_IsArray (pass))
        return wrong (error, pass, "a list of predicates");
      cJSON_ArrayForEach (item, pass)
        {
          if (!cJSON_IsString (item))
            return wrong (error, pass, "a list of predicates");
          if (lacks_pass (config, pass->string))
            continue;
          if (!lpt_config_add_predicate (config, pass->string, item->valuestring, error))
            return FALSE;
        }
    }

  return TRUE;
}

static gboolean
read_bool (gboolean     *value,
           const cJSON  *item,
           GError      **error)
{
  if (!cJSON_IsBool (item))
    return wrong (error, item, "true or false");
  *value = cJSON_IsTrue (item);

  return TRUE;
}

/* A mode of whole graphs; one of a node is held against its graph. */
static gboolean
is_requant (const char *text)
{
  g_autoptr (LptGraph) empty = lpt_graph_new ("requant");

  return strchr (text, '=') != NULL || lpt_graph_set_requant (empty, text, NULL);
}

static gboolean
read_item (LptConfig    *config,
           const cJSON  *item,
           GError      **error)
{
  const char *key = item->string;

  if (strcmp (key, "doc") == 0 || strcmp (key, "base") == 0)
    return cJSON_IsString (item) || wrong (error, item, "a text");
  if (strcmp (key, "restrict") == 0)
    return each_string (config, item, lpt_config_restrict, error);
  if (strcmp (key, "per-tensor") == 0)
    return each_string (config, item, lpt_config_per_tensor, error);
  if (strcmp (key, "keep") == 0)
    return each_string (config, item, lpt_config_keep, error);
  if (strcmp (key, "disable") == 0)
    return each_string (config, item, disable, error);
  if (strcmp (key, "prepare") == 0)
    return read_groups (config, config->prepare, item, error);
  if (strcmp (key, "cleanup") == 0)
    return read_groups (config, config->cleanup, item, error);
  if (strcmp (key, "callbacks") == 0)
    return read_callbacks (config, item, error);
  if (strcmp (key, "update-precisions") == 0)
    return read_bool (&config->update_precisions, item, error);
  if (strcmp (key, "scaling-mode") == 0)
    return read_bool (&config->scaling_mode, item, error);
  if (strcmp (key, "reshape-ignores-per-tensor") == 0)
    return read_bool (&config->reshape_ignores_per_tensor, item, error);
  if (strcmp (key, "integer-zero-points") == 0)
    return read_bool (&config->integer_zero_points, item, error);
  if (strcmp (key, "made-only") == 0)
    return read_bool (&config->made_only, item, error);
  if (strcmp (key, "normalization-keeps-eps") == 0)
    return read_bool (&config->normalization_keeps_eps, item, error);
  if (strcmp (key, "strict") == 0)
    return read_bool (&config->strict, item, error);
  if (strcmp (key, "deq-precision") == 0)
    {
      config->deq_precision = cJSON_IsString (item) ? lpt_dtype_from_name (item->valuestring) : LPT_DTYPE_UNDEFINED;
      return lpt_dtype_is_real (config->deq_precision) || wrong (error, item, "a real element type");
    }
  if (strcmp (key, "default-precisions") == 0)
    return (cJSON_IsString (item) && lpt_type_list_from_string (item->valuestring, &config->default_precisions)) ||
           wrong (error, item, "a list of element types such as \"u8|i8\"");

  if (strcmp (key, "quantization") == 0)
    return (cJSON_IsString (item) && lpt_quant_rules_from_name (item->valuestring, &config->quant_rules)) ||
           wrong (error, item, "\"litert\" or \"tpu\"");
  if (strcmp (key, "requant") == 0)
    {
      g_free (config->requant);
      config->requant = cJSON_IsString (item) && is_requant (item->valuestring) ? g_strdup (item->valuestring) : NULL;
      return config->requant != NULL || wrong (error, item, "a requant mode");
    }

  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "\"%s\" is not a key of a target", key);

  return FALSE;
}

static LptConfig *
config_parse (const char  *name,
              const char  *text,
              gsize        length,
              gboolean     built_in,
              GError     **error)
{
  g_autoptr (LptConfig) config = NULL;
  const char *end = NULL;
  cJSON *root = cJSON_ParseWithLengthOpts (text, length, &end, FALSE);
  const cJSON *item;
  gboolean ok = TRUE;

  if (!cJSON_IsObject (root))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s:%u: not a JSON object", name,
                   lpt_line_of (text, length, end));
      cJSON_Delete (root);
      return NULL;
    }
  item = cJSON_GetObjectItemCaseSensitive (root, "base");
  config = cJSON_IsString (item) ? lpt_config_new_target (item->valuestring, error) : lpt_config_new_empty ();
  ok = config != NULL;
  if (ok)
    {
      g_free (config->name);
      config->name = built_in ? NULL : g_strdup (name);
      cJSON_ArrayForEach (item, root)
        if (ok)
          ok = read_item (config, item, error);
      if (built_in)
        config->name = g_strdup (name);
    }
  cJSON_Delete (root);
  if (!ok)
    {
      g_prefix_error (error, "%s: ", name);
      return NULL;
    }

  return g_steal_pointer (&config);
}

LptConfig *
lpt_config_new_target (const char  *name,
                       GError     **error)
{
  guint i;

  for (i = 0; targets[i].name != NULL; i++)
    if (strcmp (targets[i].name, name) == 0)
      return config_parse (name, targets[i].text, strlen (targets[i].text), TRUE, error);

  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no target is named \"%s\"", name);

  return NULL;
}

LptConfig *
lpt_config_new_file (const char  *filename,
                     GError     **error)
{
  g_autofree char *text = NULL;
  gsize length;
  GError *local = NULL;

  if (!g_file_get_contents (filename, &text, &length, &local))
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_IO, local->message);
      g_error_free (local);
      return NULL;
    }

  return config_parse (filename, text, length, FALSE, error);
}

LptConfig *
lpt_config_new_text (const char  *text,
                     gssize       length,
                     const char  *name,
                     GError     **error)
{
  return config_parse (name != NULL ? name : "target", text, length < 0 ? strlen (text) : (gsize) length, FALSE, error);
}

const char *const *
lpt_config_targets (void)
{
  static const char *const names[] =
  {
#define LPT_TARGET_NAMES
#include "passes/lpt-targets.inc"
    NULL
  };

  return names;
}
