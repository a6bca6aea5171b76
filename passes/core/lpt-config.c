/* lpt-config.c - restrictions, callbacks and options of a target
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lpt/lpt-pass.h>

#include "passes/support/lpt-predicates.h"
#include "passes/core/lpt-target.h"

typedef struct
{
  LptPassCallback callback;
  gpointer        data;
} Callback;

static void
restriction_free (LptRestriction *restriction)
{
  g_array_unref (restriction->ports);
  g_free (restriction->text);
  g_free (restriction->node);
  g_free (restriction);
}

static void
granularity_free (LptGranularityRestriction *restriction)
{
  g_free (restriction->text);
  g_free (restriction->node);
  g_free (restriction);
}

LptConfig *
lpt_config_new_empty (void)
{
  LptConfig *config = g_new0 (LptConfig, 1);

  config->restrictions = g_ptr_array_new_with_free_func ((GDestroyNotify) restriction_free);
  config->granularity = g_ptr_array_new_with_free_func ((GDestroyNotify) granularity_free);
  config->prepare = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  config->cleanup = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  config->disabled = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  config->callbacks = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                             (GDestroyNotify) g_ptr_array_unref);
  config->extra = g_ptr_array_new ();
  config->until = LPT_STAGE_LOWER;
  config->update_precisions = TRUE;
  config->deq_precision = LPT_DTYPE_F32;
  lpt_type_list_add (&config->default_precisions, LPT_DTYPE_U8);
  lpt_type_list_add (&config->default_precisions, LPT_DTYPE_I8);
  config->integer_zero_points = TRUE;
  config->strict = TRUE;
#ifndef NDEBUG
  config->validate = TRUE;
#endif

  return config;
}

LptConfig *
lpt_config_new (void)
{
  LptConfig *config = lpt_config_new_target ("native", NULL);

  g_assert (config != NULL);

  return config;
}

void
lpt_config_free (LptConfig *config)
{
  if (config == NULL)
    return;
  g_free (config->name);
  g_free (config->requant);
  g_ptr_array_unref (config->restrictions);
  g_ptr_array_unref (config->granularity);
  g_ptr_array_unref (config->prepare);
  g_ptr_array_unref (config->cleanup);
  g_hash_table_unref (config->disabled);
  g_hash_table_unref (config->callbacks);
  g_ptr_array_unref (config->extra);
  g_free (config);
}

/* --- reading "conv:u8|i8,i8" --- */

static gboolean
invalid (GError     **error,
         const char  *text,
         const char  *what)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "'%s': %s", text, what);

  return FALSE;
}

/* "Op", "Op@4", "Op[rank=5]": the part in front of the colon. */
static gboolean
parse_op (const char  *text,
          const char  *whole,
          LptOp       *op,
          guint       *since,
          guint       *until,
          gint        *rank,
          GError     **error)
{
  g_autofree char *name = g_strdup (text);
  char *bracket = strchr (name, '[');
  char *at = strchr (name, '@');
  const LptOpInfo *info;

  *since = *until = 0;
  *rank = -1;
  if (bracket != NULL)
    {
      int length = 0;

      if (sscanf (bracket, "[rank=%d]%n", rank, &length) != 1 || *rank < 0 || length == 0 ||
          (bracket[length] != '\0' && bracket[length] != '@'))
        return invalid (error, whole, "only [rank=N] may stand in brackets");
      *bracket = '\0';
    }
  if (at != NULL)
    {
      char *end;

      *since = *until = (guint) strtoul (at + 1, &end, 10);
      if (*since == 0 || *end != '\0')
        return invalid (error, whole, "a version must be a number from 1 on");
      *at = '\0';
    }
  g_strstrip (name);
  info = lpt_op_find_short (name);
  if (info == NULL)
    return invalid (error, whole, "no such op (lptc ops lists them)");
  *op = info->op;

  return TRUE;
}

/* "0+1=u8", or types for port @next. */
static gboolean
parse_port (const char    *text,
            guint          next,
            LptPortTypes  *port)
{
  const char *equals = strchr (text, '=');

  *port = (LptPortTypes) { 1, { (guint8) next }, { 0 } };
  if (equals != NULL)
    {
      g_auto (GStrv) numbers = NULL;
      g_autofree char *list = g_strndup (text, (gsize) (equals - text));
      guint i;

      numbers = g_strsplit (list, "+", 0);
      port->n_ports = 0;
      for (i = 0; numbers[i] != NULL; i++)
        {
          guint64 number;

          if (i == G_N_ELEMENTS (port->ports) ||
              !g_ascii_string_to_unsigned (g_strstrip (numbers[i]), 10, 0, 63, &number, NULL))
            return FALSE;
          port->ports[port->n_ports++] = (guint8) number;
        }
      text = equals + 1;
    }

  return port->n_ports > 0 && lpt_type_list_from_string (text, &port->types);
}

/* "u8|i8,i8", "0+1=u8"; FALSE: something else. */
static gboolean
parse_ports (const char *text,
             GArray     *ports)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", 0);
  guint i;

  for (i = 0; parts[i] != NULL; i++)
    {
      LptPortTypes port;

      if (!parse_port (parts[i], i, &port))
        return FALSE;
      if (port.types.n > 0)
        g_array_append_val (ports, port);
    }

  return TRUE;
}

/* "0,1" */
static gboolean
parse_numbers (const char *text,
               guint      *ports)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", 0);
  guint i;

  for (i = 0; parts[i] != NULL; i++)
    {
      guint64 port;

      if (!g_ascii_string_to_unsigned (g_strstrip (parts[i]), 10, 0, 31, &port, NULL))
        return FALSE;
      *ports |= 1u << port;
    }

  return TRUE;
}

/* What follows "node=", or NULL. */
static const char *
node_part (const char *text)
{
  return g_str_has_prefix (text, "node=") ? text + strlen ("node=") : NULL;
}

static void
add_restriction (LptConfig            *config,
                 const LptRestriction *key)
{
  guint i;

  for (i = 0; i < config->restrictions->len; i++)
    {
      const LptRestriction *old = g_ptr_array_index (config->restrictions, i);

      if (g_strcmp0 (old->node, key->node) == 0 && old->op == key->op && old->since == key->since &&
          old->until == key->until && old->rank == key->rank)
        {
          g_ptr_array_remove_index (config->restrictions, i);
          break;
        }
    }
  g_ptr_array_add (config->restrictions, g_memdup2 (key, sizeof *key));
}

gboolean
lpt_config_keep (LptConfig   *config,
                 const char  *name,
                 GError     **error)
{
  LptRestriction key = { .rank = -1, .never = TRUE };

  if (*name == '\0')
    return invalid (error, name, "a name is missing");
  key.text = g_strconcat ("node=", name, NULL);
  key.node = g_strdup (name);
  key.ports = g_array_new (FALSE, TRUE, sizeof (LptPortTypes));
  add_restriction (config, &key);

  return TRUE;
}

gboolean
lpt_config_restrict (LptConfig   *config,
                     const char  *text,
                     GError     **error)
{
  const char *name = node_part (text);
  const char *colon = name != NULL ? strrchr (name, ':') : strchr (text, ':');
  g_autoptr (GArray) ports = g_array_new (FALSE, TRUE, sizeof (LptPortTypes));
  g_autofree char *op = NULL;
  LptRestriction key = { .rank = -1 };

  if (name != NULL)
    {
      /* A name may hold colons: what does not read as types belongs to it. */
      if (colon == NULL || !parse_ports (colon + 1, ports))
        return lpt_config_keep (config, name, error);
      if (colon == name)
        return invalid (error, text, "a name is missing");
      key.node = g_strndup (name, (gsize) (colon - name));
    }
  else
    {
      op = colon != NULL ? g_strndup (text, (gsize) (colon - text)) : g_strdup (text);
      if (*op == '\0')
        return invalid (error, text, "an op is missing");
      if (!parse_op (op, text, &key.op, &key.since, &key.until, &key.rank, error))
        return FALSE;
      if (colon != NULL && !parse_ports (colon + 1, ports))
        return invalid (error, text, "not a list of ports and types such as u8|i8,i8 or 0+1=u8");
    }
  key.text = g_strdup (text);
  key.never = colon == NULL;
  key.ports = g_steal_pointer (&ports);
  add_restriction (config, &key);

  return TRUE;
}

gboolean
lpt_config_per_tensor (LptConfig   *config,
                       const char  *text,
                       GError     **error)
{
  const char *name = node_part (text);
  const char *colon = name != NULL ? strrchr (name, ':') : strchr (text, ':');
  g_autofree char *op = NULL;
  LptGranularityRestriction key = { .granularity = LPT_GRANULARITY_PER_TENSOR };
  gboolean numbers = colon != NULL && parse_numbers (colon + 1, &key.ports);
  gint rank;
  guint i;

  if (name != NULL)
    {
      if (*name == '\0' || (numbers && colon == name))
        return invalid (error, text, "a name is missing");
      key.ports = numbers ? key.ports : 0;
      key.node = numbers ? g_strndup (name, (gsize) (colon - name)) : g_strdup (name);
    }
  else
    {
      op = colon != NULL ? g_strndup (text, (gsize) (colon - text)) : g_strdup (text);
      if (*op == '\0')
        return invalid (error, text, "an op is missing");
      if (!parse_op (op, text, &key.op, &key.since, &key.until, &rank, error))
        return FALSE;
      if (rank >= 0)
        return invalid (error, text, "[rank=N] says which types, not which scales: only --restrict has it");
      if (colon != NULL && !numbers)
        return invalid (error, text, "not a list of port numbers");
    }
  key.text = g_strdup (text);
  for (i = 0; i < config->granularity->len; i++)
    {
      const LptGranularityRestriction *old = g_ptr_array_index (config->granularity, i);

      if (g_strcmp0 (old->node, key.node) == 0 && old->op == key.op && old->since == key.since &&
          old->until == key.until)
        {
          g_ptr_array_remove_index (config->granularity, i);
          break;
        }
    }
  g_ptr_array_add (config->granularity, g_memdup2 (&key, sizeof key));

  return TRUE;
}

/* --- passes and callbacks --- */

/* Name of the pass as the table or the user's own passes have it; NULL + error. */
static const char *
pass_name (LptConfig   *config,
           const char  *name,
           GError     **error)
{
  const LptPass *pass = lpt_pass_find (name);
  guint i;

  for (i = 0; pass == NULL && i < config->extra->len; i++)
    {
      pass = g_ptr_array_index (config->extra, i);
      if (strcmp (pass->name, name) != 0)
        pass = NULL;
    }
  if (pass == NULL)
    {
      invalid (error, name, "no such pass (lptc passes lists them)");
      return NULL;
    }

  return pass->name;
}

gboolean
lpt_config_disable (LptConfig   *config,
                    const char  *pass,
                    GError     **error)
{
  const char *name = pass_name (config, pass, error);

  if (name == NULL)
    return FALSE;
  g_hash_table_add (config->disabled, g_strdup (name));

  return TRUE;
}

gboolean
lpt_config_add_callback (LptConfig        *config,
                         const char       *pass,
                         LptPassCallback   callback,
                         gpointer          data,
                         GError          **error)
{
  const char *name = pass_name (config, pass, error);
  Callback record = { callback, data };
  GPtrArray *list;

  if (name == NULL)
    return FALSE;
  list = g_hash_table_lookup (config->callbacks, name);
  if (list == NULL)
    {
      list = g_ptr_array_new_with_free_func (g_free);
      g_hash_table_insert (config->callbacks, g_strdup (name), list);
    }
  g_ptr_array_add (list, g_memdup2 (&record, sizeof record));

  return TRUE;
}

gboolean
lpt_config_add_predicate (LptConfig   *config,
                          const char  *pass,
                          const char  *predicate,
                          GError     **error)
{
  LptPassCallback callback = lpt_predicate_find (predicate);

  if (callback == NULL)
    return invalid (error, predicate, "no such predicate");

  return lpt_config_add_callback (config, pass, callback, NULL, error);
}

void
lpt_config_add_pass (LptConfig     *config,
                     const LptPass *pass)
{
  g_ptr_array_add (config->extra, (gpointer) pass);
}

gboolean
lpt_config_vetoes (const LptConfig *config,
                   const char      *pass,
                   LptNode         *node)
{
  GPtrArray *list;
  guint i;

  if (g_hash_table_size (config->callbacks) == 0)
    return FALSE;
  list = g_hash_table_lookup (config->callbacks, pass);
  for (i = 0; list != NULL && i < list->len; i++)
    {
      Callback *record = g_ptr_array_index (list, i);

      if (record->callback (node, record->data))
        return TRUE;
    }

  return FALSE;
}
