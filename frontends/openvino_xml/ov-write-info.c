/* ov-write-info.c - rt_info of layers, ports and the model, as an IR writes it
 *
 * A layer's keys are "name", with "name@attribute" for further attributes of that element; a port's begin with "in0/"
 * or "out1/". What XML cannot hold is left out: nothing depends on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-write-info.h"
#include "frontends/openvino_xml/ov-flags.h"

#include <libxml/tree.h>
#include <stdlib.h>
#include <string.h>

static int
compare_keys (const void *a, const void *b)
{
  /* '/' before everything, so that children follow their parent at once. */
  const char *s = *(const char *const *) a, *t = *(const char *const *) b;
  for (; *s != '\0' && *s == *t; s++, t++)
    ;
  int x = *s == '/' ? 1 : (guchar) *s, y = *t == '/' ? 1 : (guchar) *t;
  return x - y;
}

/* The keys in order, which belong to @table; NULL where there are none. */
static gpointer *
sorted_keys (GHashTable *table, guint *n)
{
  *n = 0;
  gpointer *keys = table != NULL ? g_hash_table_get_keys_as_array (table, n) : NULL;
  if (*n > 0)
    qsort (keys, *n, sizeof *keys, compare_keys);
  return keys;
}

/* --- of layers and ports --------------------------------------------------- */

static void
put_types (OvOut *out, const char *name, const LptNode *node, gboolean inputs)
{
  g_autoptr (GString) list = g_string_new (NULL);
  guint n = inputs ? node->n_in : node->n_out;
  for (guint i = 0; i < n; i++)
    g_string_append_printf (list, "%s%s", i > 0 ? "," : "",
                            lpt_dtype_name (inputs ? node->in[i].compute : node->out[i].dtype));
  ov_out_attr (out, name, list->str);
}

/* Does @key speak of a port: "in3/..." or "out0/..."? */
static gboolean
is_of_port (const char *key)
{
  return (g_str_has_prefix (key, "in") || g_str_has_prefix (key, "out")) && strchr (key, '/') != NULL
         && g_ascii_isdigit (key[strcspn (key, "0123456789/")]);
}

/* <attribute name= version=, the element stays open; the first one opens <rt_info>. */
static void
begin_attribute (OvOut *out, gboolean *any, const char *name, gboolean with_version)
{
  if (!*any)
    ov_out_begin (out, "rt_info");
  *any = TRUE;
  ov_out_begin (out, "attribute");
  ov_out_attr (out, "name", name);
  if (with_version)
    ov_out_attr (out, "version", "0");
}

static void
put_keys (OvOut *out, const LptNode *node, const char *prefix, gboolean *any)
{
  gsize skip = strlen (prefix);
  guint n;
  g_autofree gpointer *keys = sorted_keys (node->rt_info, &n);
  const char *open = NULL;     /* name of the attribute whose element is open */
  for (guint i = 0; i < n; i++)
    {
      const char *key = keys[i], *name = key + skip;
      if (skip == 0 ? is_of_port (key) : !g_str_has_prefix (key, prefix))
        continue;
      const char *at = strchr (name, '@'), *value = g_hash_table_lookup (node->rt_info, key);
      if (at == NULL || open == NULL || strncmp (open, name, (gsize) (at - name)) != 0 || open[at - name] != '\0')
        {
          if (at != NULL || !ov_is_text (name) || !ov_is_text (value))
            continue;
          if (open != NULL)
            ov_out_end (out);
          open = name;
          g_autofree char *version = g_strconcat (key, "@version", NULL);
          begin_attribute (out, any, name, !g_hash_table_contains (node->rt_info, version));
          if (*value != '\0')
            ov_out_attr (out, "value", value);
        }
      else if (ov_is_text (value) && xmlValidateName ((const xmlChar *) at + 1, 0) == 0)
        ov_out_attr (out, at + 1, value);
    }
  if (open != NULL)
    ov_out_end (out);
}

static void
put_flags (OvOut *out, const LptNode *node, gboolean *any)
{
  guint32 done = 0;
  for (guint i = 0; i < G_N_ELEMENTS (ov_rt_flags); i++)
    if (node->flags & ov_rt_flags[i].flag & ~done)
      {
        begin_attribute (out, any, ov_rt_flags[i].key, TRUE);
        ov_out_end (out);
        done |= ov_rt_flags[i].flag;
      }
  if (node->flags & LPT_NODE_RELAXED)
    {
      begin_attribute (out, any, "TYPE_RELAXED", TRUE);
      put_types (out, "origin_input_types", node, TRUE);
      put_types (out, "overridden_output_types", node, FALSE);
      ov_out_end (out);
    }
}

void
ov_put_rt_info (OvOut *out, const LptNode *node, const char *prefix)
{
  gboolean any = FALSE;
  put_keys (out, node, prefix, &any);
  if (*prefix == '\0')
    put_flags (out, node, &any);
  if (any)
    ov_out_end (out);
}

/* --- of the model ---------------------------------------------------------- */

void
ov_put_meta (OvOut *out, GHashTable *meta)
{
  guint n;
  g_autofree gpointer *keys = sorted_keys (meta, &n);
  g_autoptr (GPtrArray) open = g_ptr_array_new_with_free_func (g_free);
  if (n == 0)
    return;
  ov_out_begin (out, "rt_info");
  for (guint i = 0; i < n; i++)
    {
      g_auto (GStrv) path = g_strsplit (keys[i], "/", -1);
      const char *value = g_hash_table_lookup (meta, keys[i]);
      guint depth = g_strv_length (path), common = 0;
      gboolean good = depth > 0 && ov_is_text (value);
      for (guint k = 0; k < depth; k++)
        good = good && xmlValidateNCName ((const xmlChar *) path[k], 0) == 0;
      if (!good)
        continue;
      while (common < open->len && common + 1 < depth && g_str_equal (g_ptr_array_index (open, common), path[common]))
        common++;
      for (; open->len > common; g_ptr_array_set_size (open, (gint) open->len - 1))
        ov_out_end (out);
      for (guint k = common; k < depth; k++)
        {
          ov_out_begin (out, path[k]);
          if (k + 1 == depth)
            ov_out_attr (out, "value", value);
          g_ptr_array_add (open, g_strdup (path[k]));
        }
    }
  for (guint k = 0; k <= open->len; k++)
    ov_out_end (out);
}
