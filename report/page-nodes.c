/* page-nodes.c - lists of a page: ops, reasons, passes, types, what differs from another model
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/page.h"

#include "report/json.h"

#include <math.h>

/* Bars of a histogram; 256 is a multiple. */
#define BARS 32

static const char *
type_of (const LptPageNode *node)
{
  if (node->row == NULL)
    return "";
  return node->row->precision == LPT_DTYPE_UNDEFINED ? "none" : lpt_dtype_name (node->row->precision);
}

static void
put_quant (GString *out, const LptValue *value)
{
  const LptQuant *q = value != NULL ? value->quant : NULL;
  if (q == NULL)
    return;
  g_autoptr (GString) s = g_string_new (lpt_dtype_name (value->dtype));
  char scale[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf (s, " scale %s%s zero point %d", g_ascii_formatd (scale, sizeof scale, "%.6g", q->scale[0]),
                          q->n > 1 ? " …" : "", q->zero_point[0]);
  if (q->n > 1)
    g_string_append_printf (s, ", %u along axis %d", q->n, q->axis);
  lpt_page_json_string (out, "q", s->str);
}

static void
put_codes (GString *out, const LptCodeCounts *codes)
{
  lpt_page_json_key (out, "h");
  g_string_append_c (out, '[');
  for (guint i = 0; i < BARS; i++)
    {
      guint64 sum = 0;
      for (guint k = 0; k < 256 / BARS; k++)
        sum += codes->counts[i * (256 / BARS) + k];
      g_string_append_printf (out, "%s%.3g", i > 0 ? "," : "",
                              codes->n > 0 ? 100.0 * (double) sum / (double) codes->n : 0.0);
    }
  g_string_append_c (out, ']');
  lpt_page_json_number (out, "lo", lpt_codes_at_low (codes));
  lpt_page_json_number (out, "hi", lpt_codes_at_high (codes));
  lpt_page_json_int (out, "un", lpt_codes_unused (codes));
  lpt_page_json_number (out, "eb", lpt_codes_bits (codes));
}

static void
put_inputs (const LptPage *page, GString *out, const LptNode *node)
{
  lpt_page_json_key (out, "i");
  g_string_append_c (out, '[');
  for (guint k = 0; k < node->n_in; k++)
    {
      LptNode *from = lpt_node_src ((LptNode *) node, k);
      LptPageNode *source = from != NULL ? g_hash_table_lookup (page->by_name, from->name) : NULL;
      if (source == NULL)
        continue;
      lpt_page_json_next (out);
      g_string_append_printf (out, "%u", source->index);
    }
  g_string_append_c (out, ']');
}

static void
put_result (GString *out, const LptNode *node)
{
  if (node->n_out == 0)
    return;
  g_autofree char *shape = lpt_shape_to_string (&node->out[0].shape);
  g_autofree char *text = g_strdup_printf ("%s[%s]", lpt_dtype_name (node->out[0].dtype), shape);
  lpt_page_json_string (out, "s", text);
}

static void
put_row (GString *out, const LptExplanation *row)
{
  if (row->inputs != NULL && *row->inputs != '\0')
    lpt_page_json_string (out, "in", row->inputs);
  lpt_page_json_string (out, "r", row->reason);
  lpt_page_json_string (out, "c", row->why->code);
  if (row->decided_by != NULL)
    lpt_page_json_string (out, "by", row->decided_by);
  if (row->real_from != NULL)
    lpt_page_json_string (out, "rf", row->real_from);
  if (row->macs > 0)
    lpt_page_json_int (out, "m", row->macs);
}

void
lpt_page_put_nodes (const LptPage *page, GString *out)
{
  lpt_page_json_key (out, "nodes");
  g_string_append_c (out, '[');
  for (guint i = 0; i < page->nodes->len; i++)
    {
      const LptPageNode *node = page->nodes->pdata[i];
      lpt_page_json_next (out);
      g_string_append (out, "\n{");
      lpt_page_json_string (out, "n", node->node->name);
      lpt_page_json_string (out, "o", node->node->info->name);
      lpt_page_json_string (out, "p", type_of (node));
      lpt_page_json_int (out, "b", node->block);
      put_inputs (page, out, node->node);
      put_result (out, node->node);
      if (node->row != NULL)
        put_row (out, node->row);
      put_quant (out, node->now);
      if (node->now != NULL && g_strcmp0 (node->now->producer->name, node->node->name) != 0)
        lpt_page_json_string (out, "as", node->now->producer->name);
      if (node->within != NULL)
        lpt_page_json_int (out, "w", node->within->index);
      if (node->bytes > 0)
        lpt_page_json_int (out, "y", node->bytes);
      if (!isnan (node->sqnr))
        {
          lpt_page_json_number (out, "e", node->sqnr);
          lpt_page_json_number (out, "co", node->cosine);
        }
      if (!isnan (node->alone))
        lpt_page_json_number (out, "ie", node->alone);
      if (node->clipped > 0.0)
        lpt_page_json_number (out, "cl", node->clipped);
      if (node->ms >= 0.0)
        lpt_page_json_number (out, "t", node->ms);
      if (node->original_ms >= 0.0)
        lpt_page_json_number (out, "ft", node->original_ms);
      if (node->kernel != NULL)
        lpt_page_json_string (out, "k", node->kernel);
      if (node->codes != NULL)
        put_codes (out, node->codes);
      g_string_append_c (out, '}');
    }
  g_string_append (out, "]");
  lpt_page_json_key (out, "blocks");
  g_string_append_c (out, '[');
  for (guint i = 0; i < page->blocks->len; i++)
    {
      lpt_page_json_next (out);
      lpt_page_json_text (out, page->blocks->pdata[i]);
    }
  g_string_append_c (out, ']');
}

void
lpt_page_put_reasons (const LptPage *page, GString *out)
{
  guint n;
  const LptReason *reasons = lpt_reasons (&n);
  lpt_page_json_key (out, "reasons");
  g_string_append_c (out, '[');
  for (guint i = 0; i < n; i++)
    {
      guint count = 0, real = 0;
      double macs = 0.0;
      for (guint k = 0; k < page->rows->len; k++)
        {
          const LptExplanation *row = page->rows->pdata[k];
          if (row->why != &reasons[i])
            continue;
          count++;
          real += row->precision != LPT_DTYPE_UNDEFINED && lpt_dtype_is_real (row->precision);
          macs += (double) row->macs;
        }
      if (count == 0)
        continue;
      lpt_page_json_next (out);
      g_string_append_c (out, '{');
      lpt_page_json_string (out, "code", reasons[i].code);
      lpt_page_json_string (out, "wording", reasons[i].wording);
      lpt_page_json_string (out, "remedy", real > 0 ? reasons[i].remedy : "");
      lpt_page_json_int (out, "count", count);
      lpt_page_json_int (out, "real", real);
      lpt_page_json_number (out, "macs", macs);
      g_string_append_c (out, '}');
    }
  g_string_append_c (out, ']');
}

void
lpt_page_put_passes (const LptPage *page, GString *out)
{
  lpt_page_json_key (out, "passes");
  g_string_append_c (out, '[');
  for (guint i = 0; i < page->report->stats->len; i++)
    {
      const LptPassStats *stats = &g_array_index (page->report->stats, LptPassStats, i);
      if (stats->changed == 0 && stats->declined == 0)
        continue;
      lpt_page_json_next (out);
      g_string_append_c (out, '{');
      lpt_page_json_string (out, "name", stats->pass->name);
      lpt_page_json_string (out, "doc", stats->pass->doc);
      lpt_page_json_int (out, "tried", (gint64) stats->tried);
      lpt_page_json_int (out, "changed", (gint64) stats->changed);
      lpt_page_json_int (out, "declined", (gint64) stats->declined);
      g_string_append_c (out, '}');
    }
  g_string_append_c (out, ']');
}

void
lpt_page_put_types (const LptPage *page, GString *out)
{
  double macs[LPT_N_DTYPES] = { 0.0 };
  guint ops[LPT_N_DTYPES] = { 0 };
  for (guint i = 0; i < page->rows->len; i++)
    {
      const LptExplanation *row = page->rows->pdata[i];
      ops[row->precision]++;
      macs[row->precision] += (double) row->macs;
    }
  lpt_page_json_string (out, "macsLine", page->macs);
  lpt_page_json_key (out, "types");
  g_string_append_c (out, '[');
  for (guint d = 0; d < LPT_N_DTYPES; d++)
    if (ops[d] > 0)
      {
        lpt_page_json_next (out);
        g_string_append_c (out, '{');
        lpt_page_json_string (out, "type", d == LPT_DTYPE_UNDEFINED ? "none" : lpt_dtype_name ((LptDType) d));
        lpt_page_json_int (out, "ops", ops[d]);
        lpt_page_json_number (out, "macs", macs[d]);
        g_string_append_c (out, '}');
      }
  g_string_append_c (out, ']');
}

/* Ops whose type differs, and those that one of the two has alone. */
void
lpt_page_put_against (const LptPage *page, const LptPage *other, GString *out)
{
  lpt_page_json_key (out, "changes");
  g_string_append_c (out, '[');
  for (guint i = 0; i < page->nodes->len + other->nodes->len; i++)
    {
      gboolean of_other = i >= page->nodes->len;
      const LptPageNode *node = of_other ? other->nodes->pdata[i - page->nodes->len] : page->nodes->pdata[i];
      const LptPageNode *twin = g_hash_table_lookup (of_other ? page->by_name : other->by_name, node->node->name);
      if (node->row == NULL || (twin != NULL && (of_other || (twin->node->op == node->node->op &&
                                                              g_str_equal (type_of (twin), type_of (node))))))
        continue;
      lpt_page_json_next (out);
      g_string_append_c (out, '{');
      lpt_page_json_string (out, "n", node->node->name);
      lpt_page_json_string (out, "o", node->node->info->name);
      lpt_page_json_string (out, "a", of_other ? NULL : type_of (node));
      lpt_page_json_string (out, "b", of_other ? type_of (node) : twin != NULL ? type_of (twin) : NULL);
      lpt_page_json_string (out, "r", of_other ? node->row->reason : twin != NULL && twin->row != NULL ? twin->row->reason : NULL);
      g_string_append_c (out, '}');
    }
  g_string_append_c (out, ']');
}
