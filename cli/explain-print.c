/* explain-print.c - what explain found: a summary, one line an op, one op, JSON
 *
 * The summary has one line for each reason with the number of ops that it holds for, ops on real data first. An op
 * whose data are real because of one in front of it is counted with those that are so, not with its own reason: to mend
 * the first mends it, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/explain-print.h"
#include "cli/cmd.h"
#include "cli/style.h"

#include <stdio.h>
#include <string.h>

/* Names of a group that are shown. */
#define SHOWN 3

const char *
cmd_explain_type (const LptExplanation *e)
{
  return e->precision == LPT_DTYPE_UNDEFINED ? "none" : lpt_dtype_name (e->precision);
}

static gboolean
is_real (const LptExplanation *e)
{
  return e->precision != LPT_DTYPE_UNDEFINED && lpt_dtype_is_real (e->precision);
}

static gboolean
is_wanted (const LptExplanation *e, const char *only)
{
  return only == NULL || g_ascii_strcasecmp (only, cmd_explain_type (e)) == 0;
}

/* --- groups ---------------------------------------------------------------- */

/* Ops of one type and one reason. */
typedef struct
{
  const LptReason *why;       /* NULL: real from an op in front on */
  const char *type, *reason;  /* the last reason of all, while it is the same; else NULL */
  gboolean    real;
  gint64      macs;
  GPtrArray  *rows;
} Group;

static void
group_free (Group *group)
{
  g_ptr_array_unref (group->rows);
  g_free (group);
}

/* What made the data real, where that is no op of the list that could be mended in the place of this one: an input, a
 * quantizer that stays real. NULL: it is one, or nothing in front. */
static const char *
cause_of (const LptExplanation *e, GHashTable *names)
{
  const char *last = e->real_from != NULL && !g_hash_table_contains (names, e->real_from)
                         ? g_strrstr (e->reason, "its data is real from ")
                         : NULL;
  const char *why = last != NULL ? strstr (last, "\" on: ") : NULL;
  return why != NULL ? why + strlen ("\" on: ") : last;
}

static const char *
last_reason (const LptExplanation *e, GHashTable *names)
{
  const char *cause = cause_of (e, names), *last = cause != NULL ? cause : e->reason;
  for (const char *at = strstr (last, "; "); e->real_from == NULL && at != NULL; at = strstr (last, "; "))
    last = at + 2;
  return last;
}

static Group *
group_of (GPtrArray *groups, const LptExplanation *e, GHashTable *names)
{
  const char *cause = cause_of (e, names);
  const LptReason *why = cause != NULL ? lpt_reason_find (cause) : e->real_from != NULL ? NULL : e->why;
  const char *type = cmd_explain_type (e);
  for (guint i = 0; i < groups->len; i++)
    {
      Group *group = g_ptr_array_index (groups, i);
      if (group->why == why && group->type == type)
        return group;
    }
  Group *group = g_new0 (Group, 1);
  *group = (Group) { .why = why, .type = type, .reason = last_reason (e, names), .real = is_real (e) };
  group->rows = g_ptr_array_new ();
  g_ptr_array_add (groups, group);
  return group;
}

/* Real ones first, what is behind others after them; then by work, by number. */
static gint
compare_groups (gconstpointer a, gconstpointer b)
{
  const Group *x = *(Group *const *) a, *y = *(Group *const *) b;
  if (x->real != y->real)
    return x->real ? -1 : 1;
  if ((x->why == NULL) != (y->why == NULL))
    return x->why == NULL ? 1 : -1;
  if (x->macs != y->macs)
    return x->macs > y->macs ? -1 : 1;
  return x->rows->len > y->rows->len ? -1 : x->rows->len < y->rows->len;
}

static GPtrArray *
group_rows (GPtrArray *list, const char *only)
{
  GPtrArray *groups = g_ptr_array_new_with_free_func ((GDestroyNotify) group_free);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < list->len; i++)
    g_hash_table_add (names, ((LptExplanation *) list->pdata[i])->name);
  for (guint i = 0; i < list->len; i++)
    {
      const LptExplanation *e = g_ptr_array_index (list, i);
      if (!is_wanted (e, only))
        continue;
      Group *group = group_of (groups, e, names);
      g_ptr_array_add (group->rows, (gpointer) e);
      group->macs += e->macs;
      if (group->reason != NULL && !g_str_equal (group->reason, last_reason (e, names)))
        group->reason = NULL;
    }
  g_ptr_array_sort (groups, compare_groups);
  return groups;
}

/* "Swish a, b, c and 74 more": the ops of one kind together while they follow each other. */
static void
print_names (const Group *group)
{
  const char *op = NULL;
  fputs ("    ", stdout);
  for (guint i = 0; i < group->rows->len && i < SHOWN; i++)
    {
      const LptExplanation *e = g_ptr_array_index (group->rows, i);
      const char *own = lpt_op_info (e->op)->name;
      if (i > 0)
        fputs (", ", stdout);
      if (own != op)
        printf ("%s ", own);
      fputs (e->name, stdout);
      op = own;
    }
  if (group->rows->len > SHOWN)
    printf (" and %u more", group->rows->len - SHOWN);
  putchar ('\n');
}

/* "input … has a zero point": what is filled in differs. */
static char *
common_wording (const LptReason *why)
{
  g_auto (GStrv) parts = g_strsplit (why->wording, "*", -1);
  return g_strjoinv ("…", parts);
}

static void
print_group (const Group *group, double macs)
{
  g_autofree char *common = group->why != NULL ? common_wording (group->why) : NULL;
  const char *reason = group->why == NULL ? "real because an op in front of them is" : group->reason != NULL ? group->reason : common;
  printf ("%s%-4s%s %4u op%s  %s", cmd_style (group->real ? CMD_WARN : CMD_GOOD), group->type, cmd_style (CMD_PLAIN),
          group->rows->len, group->rows->len == 1 ? " " : "s", reason);
  if (group->why != NULL)
    printf ("  %s[%s]%s", cmd_style (CMD_DIM), group->why->code, cmd_style (CMD_PLAIN));
  if (group->macs > 0 && macs > 0.0)
    printf ("  %.1f %% of the MACs", 100.0 * (double) group->macs / macs);
  putchar ('\n');
  print_names (group);
  if (group->real && group->why != NULL && *group->why->remedy != '\0')
    printf ("    what helps: %s\n", group->why->remedy);
}

/* "MACs: 98.7 % on 8-bit integers", then how many ops run in which type. */
static void
print_head (GPtrArray *list, const char *macs_line, double *all)
{
  double low = 0.0, sum = 0.0;
  guint counts[LPT_N_DTYPES] = { 0 }, real_layers = 0;
  for (guint i = 0; i < list->len; i++)
    {
      const LptExplanation *e = g_ptr_array_index (list, i);
      sum += (double) e->macs;
      low += is_real (e) || lpt_dtype_bits (e->precision) != 8 ? 0.0 : (double) e->macs;
      real_layers += is_real (e) && e->macs > 0;
      counts[e->precision]++;
    }
  *all = sum;
  if (sum > 0.0)
    printf ("%sMACs: %.1f %% on 8-bit integers%s", cmd_style (CMD_BOLD), 100.0 * low / sum, cmd_style (CMD_PLAIN));
  else if (strstr (macs_line, "unknown") != NULL)
    printf ("%sMACs are not known: sizes are open (--shape INPUT=[...])%s", cmd_style (CMD_BOLD),
            cmd_style (CMD_PLAIN));
  else
    printf ("%sno multiply-accumulates%s", cmd_style (CMD_BOLD), cmd_style (CMD_PLAIN));
  if (real_layers > 0)
    printf ("; %u layer%s with weights or products in real numbers", real_layers, real_layers == 1 ? "" : "s");
  printf ("  (%s)\n%u op%s that compute%s:", macs_line, list->len, list->len == 1 ? "" : "s",
          list->len == 1 ? "s" : "");
  gboolean first = TRUE;
  for (guint d = 0; d < LPT_N_DTYPES; d++)
    if (counts[d] > 0)
      {
        printf ("%s %u %s", first ? "" : ",", counts[d],
                d == LPT_DTYPE_UNDEFINED ? "gone" : lpt_dtype_name ((LptDType) d));
        first = FALSE;
      }
  putchar ('\n');
}

void
cmd_explain_summary (GPtrArray *list, const char *only, const char *macs)
{
  double sum;
  print_head (list, macs, &sum);
  g_autoptr (GPtrArray) groups = group_rows (list, only);
  for (guint i = 0; i < groups->len; i++)
    {
      putchar ('\n');
      print_group (g_ptr_array_index (groups, i), sum);
    }
  if (groups->len > 0)
    printf ("\n--all shows every op, NAME one of them\n");
}

/* --- ops ------------------------------------------------------------------- */

void
cmd_explain_all (GPtrArray *list, const char *only, const char *macs)
{
  for (guint i = 0; i < list->len; i++)
    {
      const LptExplanation *e = g_ptr_array_index (list, i);
      if (!is_wanted (e, only))
        continue;
      printf ("%s%-4s%s %-24s %s  (%s)", cmd_style (is_real (e) ? CMD_WARN : CMD_GOOD), cmd_explain_type (e),
              cmd_style (CMD_PLAIN), lpt_op_info (e->op)->name, e->name, e->inputs != NULL ? e->inputs : "");
      if (e->decided_by != NULL)
        printf ("  by %s", e->decided_by);
      printf ("%s%s\n", e->reason != NULL && *e->reason != '\0' ? ": " : "", e->reason != NULL ? e->reason : "");
    }
  puts (macs);
}

void
cmd_explain_one (const LptExplanation *e)
{
  printf ("%s%s%s  %s\n", cmd_style (CMD_BOLD), e->name, cmd_style (CMD_PLAIN), lpt_op_info (e->op)->name);
  printf ("  runs in     %s%s%s\n", cmd_style (is_real (e) ? CMD_WARN : CMD_GOOD), cmd_explain_type (e),
          cmd_style (CMD_PLAIN));
  printf ("  inputs      %s\n", e->inputs != NULL ? e->inputs : "");
  if (e->decided_by != NULL)
    printf ("  decided by  %s\n", e->decided_by);
  if (e->macs > 0)
    printf ("  MMAC        %.3f\n", (double) e->macs / 1e6);
  printf ("  reason      %s\n", e->reason != NULL ? e->reason : "");
  printf ("  code        %s (%s)\n", e->why->code, e->why->group);
  if (e->real_from != NULL)
    printf ("  real from   %s\n", e->real_from);
  if (is_real (e) && *e->why->remedy != '\0')
    printf ("  what helps  %s\n", e->why->remedy);
}

void
cmd_explain_json (GPtrArray *list, const char *only)
{
  g_autoptr (GString) s = g_string_new ("[");
  for (guint i = 0; i < list->len; i++)
    {
      const LptExplanation *e = g_ptr_array_index (list, i);
      const struct { const char *key, *value; } members[] = {
        { "name", e->name }, { "op", lpt_op_info (e->op)->name }, { "precision", cmd_explain_type (e) }, { "inputs", e->inputs },
        { "decided_by", e->decided_by }, { "reason", e->reason }, { "code", e->why->code }, { "group", e->why->group }, { "real_from", e->real_from } };
      if (!is_wanted (e, only))
        continue;
      g_string_append (s, s->len > 1 ? ",\n {" : "\n {");
      for (guint k = 0; k < G_N_ELEMENTS (members); k++)
        {
          g_string_append_printf (s, "\"%s\": ", members[k].key);
          if (members[k].value != NULL)
            cmd_json_string (s, members[k].value);
          else
            g_string_append (s, "null");
          g_string_append (s, ", ");
        }
      g_string_append_printf (s, "\"macs\": %" G_GINT64_FORMAT "}", e->macs);
    }
  g_string_append (s, "\n]\n");
  fputs (s->str, stdout);
}
