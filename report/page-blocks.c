/* page-blocks.c - parts of a graph that may be shown as one
 *
 * A block is a stretch of the topological order, so blocks never wait for each other in a circle. It ends where names
 * get another prefix ("stage2/unit1/"), or, where names have none, where one value alone goes on and the block is long
 * enough.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/page.h"

#include <string.h>

#define DEEPEST 8

static gboolean
parts_here (const char *p)
{
  return *p == '/' || (*p == '.' && g_ascii_isalpha (p[1]));
}

/* The first @depth parts of a name in front of its last one: "stage2/unit1". */
static char *
prefix_of (const char *name, guint depth)
{
  gsize end = 0;
  for (gsize i = 0; name[i] != '\0' && depth > 0; i++)
    if (parts_here (name + i))
      {
        end = i;
        depth--;
      }
  return g_strndup (name, end);
}

static const char *
name_at (const LptPage *page, guint i)
{
  return ((const LptPageNode *) page->nodes->pdata[i])->node->name;
}

/* Neighbours with one prefix. */
static guint
count_stretches (const LptPage *page, guint depth)
{
  g_autofree char *last = NULL;
  guint n = 0;
  for (guint i = 0; i < page->nodes->len; i++)
    {
      char *prefix = prefix_of (name_at (page, i), depth);
      n += last == NULL || !g_str_equal (last, prefix);
      g_free (last);
      last = prefix;
    }
  return n;
}

/* How many parts of names make blocks of some size; 0 = names say nothing. */
static guint
find_depth (const LptPage *page)
{
  guint n = page->nodes->len, named = 0;
  for (guint i = 0; i < n; i++)
    named += strpbrk (name_at (page, i), "/.") != NULL;
  for (guint depth = DEEPEST; named > n / 2 && depth > 0; depth--)
    if (count_stretches (page, depth) <= MAX (n / 8, 2) && count_stretches (page, depth) > 1)
      return depth;
  return 0;
}

/* Positions behind which one value alone is still needed. */
static gboolean *
find_cuts (const LptPage *page)
{
  guint n = page->nodes->len;
  gboolean *cuts = g_new0 (gboolean, n + 1);
  g_autofree guint *last = g_new0 (guint, n + 1);
  g_autofree gint *change = g_new0 (gint, n + 2);
  gint live = 0;
  for (guint i = 0; i < n; i++)
    {
      const LptNode *node = ((LptPageNode *) page->nodes->pdata[i])->node;
      for (guint k = 0; k < node->n_in; k++)
        {
          LptNode *from = lpt_node_src ((LptNode *) node, k);
          LptPageNode *source = from != NULL ? g_hash_table_lookup (page->by_name, from->name) : NULL;
          if (source != NULL)
            last[source->index] = MAX (last[source->index], i);
        }
    }
  for (guint i = 0; i < n; i++)
    if (last[i] > i)
      {
        change[i]++;
        change[last[i]]--;
      }
  for (guint i = 0; i < n; i++)
    {
      live += change[i];
      cuts[i] = live <= 1;
    }
  return cuts;
}

/* The first op from @i on in steps of @step that has products, else that computes; NULL: there is none. */
static const char *
find_worker (const LptPage *page, guint i, guint end, gint step)
{
  const LptPageNode *found = NULL;
  for (guint n = end - i, at = step > 0 ? i : end - 1; n > 0; n--, at += (guint) step)
    {
      const LptPageNode *node = page->nodes->pdata[at];
      if (node->row != NULL && (found == NULL || node->row->macs > 0))
        found = node;
      if (found != NULL && found->row->macs > 0)
        break;
    }
  return found != NULL ? found->node->name : NULL;
}

static void
name_block (LptPage *page, guint first, guint end, const char *prefix)
{
  const LptPageNode *a = page->nodes->pdata[first], *b = page->nodes->pdata[end - 1];
  const char *from = find_worker (page, first, end, 1), *to = find_worker (page, first, end, -1);
  from = from != NULL ? from : a->node->name;
  to = to != NULL ? to : b->node->name;
  char *name = *prefix != '\0' ? g_strdup (prefix) : end - first == 1 || g_str_equal (from, to) ? g_strdup (from) : g_strdup_printf ("%s … %s", from, to);
  for (guint i = first; i < end; i++)
    ((LptPageNode *) page->nodes->pdata[i])->block = page->blocks->len;
  g_ptr_array_add (page->blocks, name);
}

void
lpt_page_blocks (LptPage *page)
{
  guint n = page->nodes->len, first = 0, enough = CLAMP (n / 60, 6, 64), depth = find_depth (page);
  g_autofree gboolean *cuts = find_cuts (page);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *prefix = prefix_of (name_at (page, i), depth);
      g_autofree char *then = i + 1 < n ? prefix_of (name_at (page, i + 1), depth) : NULL;
      gboolean ends = then == NULL || (depth > 0 ? !g_str_equal (prefix, then) : cuts[i] && i + 1 - first >= enough) ||
                      i + 1 - first >= 8 * enough;
      if (!ends)
        continue;
      name_block (page, first, i + 1, prefix);
      first = i + 1;
    }
}
