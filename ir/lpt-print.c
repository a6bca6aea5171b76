/* lpt-print.c - graphs as text
 *
 * The format is described in lpt-text.h. The order is canonical: parameters,
 * then all others in topological order (the order of creation where
 * dependencies allow), then results; boxes are numbered as they appear, and only
 * those with several holders.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "ir/lpt-attrs-private.h"
#include "ir/lpt-print.h"

const char *const lpt_node_flag_names[] =
{
  "relaxed", "dequantization", "keep_const", "no_cleanup", "bias", "decompression", "lpt_made", NULL
};

typedef struct
{
  GString     *out;
  LptTextFlags flags;
  guint        indent;
  LptGraph    *graph;
  GHashTable  *holders;      /* root of a box -> how many marks hold it */
  GHashTable  *numbers;      /* root of a shared box -> its number */
  GHashTable  *notes;
  GHashTable  *values;       /* with notes: the values that exist */
} Printer;

/* --- names --- */

static gboolean
is_plain (const char *name)
{
  const char *dot = strrchr (name, '.');
  const char *p;

  if (*name == '\0' || strcmp (name, "_") == 0)
    return FALSE;
  for (p = name; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && strchr ("_./+-", *p) == NULL)
      return FALSE;
  if (dot == NULL)
    return TRUE;
  /* ".3" at the end reads as output 3 */
  for (p = dot + 1; g_ascii_isdigit (*p); p++)
    ;

  return *p != '\0' || p == dot + 1;
}

static void
append_string (GString    *out,
               const char *text)
{
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++)
    switch (*p)
      {
      case '"':
      case '\\':
        g_string_append_c (out, '\\');
        g_string_append_c (out, *p);
        break;
      case '\n':
        g_string_append (out, "\\n");
        break;
      case '\t':
        g_string_append (out, "\\t");
        break;
      default:
        if ((guchar) *p < 0x20 || *p == 0x7f)
          g_string_append_printf (out, "\\x%02x", (guchar) *p);
        else
          g_string_append_c (out, *p);
      }
  g_string_append_c (out, '"');
}

static void
append_name (GString    *out,
             const char *name)
{
  g_string_append_c (out, '%');
  if (name == NULL)
    g_string_append (out, "\"?\"");
  else if (is_plain (name))
    g_string_append (out, name);
  else
    append_string (out, name);
}

static void
append_value (Printer  *p,
              LptValue *value)
{
  if (p->values != NULL && !g_hash_table_contains (p->values, value))
    {
      g_string_append (p->out, "%\"<not in this graph>\"");
      return;
    }
  append_name (p->out, value->producer->name);
  if (value->index > 0)
    g_string_append_printf (p->out, ".%u", value->index);
}

/* --- marks --- */

/* With notes the graph may be broken. */
static gboolean
box_exists (Printer *p,
            LptBox   box)
{
  GArray *boxes = p->graph->boxes;

  for (guint steps = 0; box != 0 && box < boxes->len && steps <= boxes->len; steps++)
    {
      LptBox parent = g_array_index (boxes, LptBoxValue, box).parent;

      if (parent == box)
        return TRUE;
      box = parent;
    }

  return FALSE;
}

static void
count_box (Printer *p,
           LptBox   box)
{
  gpointer root;

  if (!box_exists (p, box))
    return;
  root = GUINT_TO_POINTER (lpt_box_root (p->graph, box));
  g_hash_table_insert (p->holders, root, GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (p->holders, root)) + 1));
}

static void
count_mark (Printer       *p,
            const LptMark *mark)
{
  count_box (p, mark->precisions);
  count_box (p, mark->preserved);
  count_box (p, mark->avg_pool);
  count_box (p, mark->interval);
  count_box (p, mark->alignment);
}

static void
append_types (GString           *out,
              const LptTypeList *list)
{
  g_autofree char *text = lpt_type_list_to_string (list);

  g_string_append (out, list->n > 0 ? text : "none");
}

static void
append_interval (GString           *out,
                 const LptInterval *v)
{
  const struct { const char *name; float value; } numbers[] =
  {
    { "low", v->low }, { "high", v->high }, { "min_low", v->min_low }, { "min_high", v->min_high },
  };

  g_string_append_c (out, '{');
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_string_append_printf (out, "%s=", numbers[i].name);
      lpt_append_double (out, (double) numbers[i].value);
      g_string_append (out, ", ");
    }
  g_string_append_printf (out, "levels=%" G_GUINT64_FORMAT ", min_levels=%" G_GUINT64_FORMAT ", preferred=", v->levels,
                          v->min_levels);
  append_types (out, &v->preferred);
  g_string_append_c (out, '}');
}

/* " #{" before the first item of a mark, ", " before the others. */
static void
item (Printer    *p,
      gboolean   *open,
      const char *name)
{
  g_string_append_printf (p->out, "%s%s", *open ? ", " : " #{", name);
  *open = TRUE;
}

static void
append_box (Printer    *p,
            gboolean   *open,
            const char *name,
            LptBox      box)
{
  const LptBoxValue *value;
  gpointer root;

  if (box == 0)
    return;
  item (p, open, name);
  g_string_append_c (p->out, '=');
  if (!box_exists (p, box))
    {
      g_string_append (p->out, "\"<no such box>\"");
      return;
    }
  root = GUINT_TO_POINTER (lpt_box_root (p->graph, box));
  value = lpt_box (p->graph, box);
  if (GPOINTER_TO_UINT (g_hash_table_lookup (p->holders, root)) > 1)
    {
      guint number = GPOINTER_TO_UINT (g_hash_table_lookup (p->numbers, root));
      gboolean first = number == 0;

      if (first)
        {
          number = g_hash_table_size (p->numbers) + 1;
          g_hash_table_insert (p->numbers, root, GUINT_TO_POINTER (number));
        }
      g_string_append_printf (p->out, "%u", number);
      if (!first && value->kind == LPT_BOX_INTERVAL)
        return;      /* long, once is enough */
      g_string_append_c (p->out, ':');
    }
  switch (value->kind)
    {
    case LPT_BOX_PRECISIONS:
      append_types (p->out, &value->types);
      break;
    case LPT_BOX_INTERVAL:
      append_interval (p->out, &value->interval);
      break;
    case LPT_BOX_PRESERVED:
    case LPT_BOX_ALIGNMENT:
      g_string_append (p->out, value->flag ? "true" : "false");
      break;
    }
}

static void
append_mark (Printer       *p,
             const LptMark *mark,
             gboolean      *open)
{
  append_box (p, open, "precisions", mark->precisions);
  append_box (p, open, "preserved", mark->preserved);
  append_box (p, open, "avg_pool", mark->avg_pool);
  append_box (p, open, "interval", mark->interval);
  append_box (p, open, "alignment", mark->alignment);
  if (mark->granularity != LPT_GRANULARITY_NONE)
    item (p, open, mark->granularity == LPT_GRANULARITY_PER_TENSOR ? "granularity=per_tensor" : "granularity=per_channel");
}

static void
append_node_mark (Printer *p,
                  LptNode *node)
{
  gboolean open = FALSE;

  for (guint i = 0; lpt_node_flag_names[i] != NULL; i++)
    if ((node->flags & (1u << i)) != 0)
      item (p, &open, lpt_node_flag_names[i]);
  if (node->flags & LPT_NODE_DEAD)
    item (p, &open, "dead");
  if (node->requant != NULL)
    {
      item (p, &open, "requant=");
      append_string (p->out, node->requant);
    }
  append_mark (p, &node->mark, &open);
  if (open)
    g_string_append_c (p->out, '}');
}

static void
append_plain_mark (Printer       *p,
                   const LptMark *mark)
{
  gboolean open = FALSE;

  append_mark (p, mark, &open);
  if (open)
    g_string_append_c (p->out, '}');
}

/* --- constants --- */

static gboolean
reads_as (LptDType dtype,
          double   back,
          double   value)
{
  switch (dtype)
    {
    case LPT_DTYPE_F16:
      return lpt_f32_to_f16 ((float) back) == lpt_f32_to_f16 ((float) value);
    case LPT_DTYPE_BF16:
      return lpt_f32_to_bf16 ((float) back) == lpt_f32_to_bf16 ((float) value);
    case LPT_DTYPE_F32:
      return (float) back == (float) value;
    default:
      return back == value;
    }
}

/* The fewest digits that read back as the same element, without an exponent where that is possible. */
static void
append_real (GString  *out,
             LptDType  dtype,
             double    value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  char best[G_ASCII_DTOSTR_BUF_SIZE] = "";

  for (guint digits = 1; digits <= 17; digits++)
    {
      char format[8];

      g_snprintf (format, sizeof format, "%%.%ug", digits);
      g_ascii_formatd (buffer, sizeof buffer, format, value);
      if (!reads_as (dtype, g_ascii_strtod (buffer, NULL), value))
        continue;
      if (*best == '\0')
        strcpy (best, buffer);
      if (strchr (buffer, 'e') == NULL || digits >= 9)
        break;
    }
  g_string_append (out, *best != '\0' && strchr (buffer, 'e') != NULL ? best : buffer);
}

static void
append_data (Printer   *p,
             LptTensor *tensor)
{
  LptDType dtype = lpt_tensor_dtype (tensor);
  gint64 count = lpt_tensor_count (tensor);

  g_string_append (p->out, " {");
  if (count > LPT_TEXT_MAX_ELEMENTS && (p->flags & LPT_TEXT_ELIDE) != 0)
    g_string_append_printf (p->out, "... %" G_GINT64_FORMAT " values", count);
  else if (count > LPT_TEXT_MAX_ELEMENTS)
    {
      g_autofree char *text = g_base64_encode (lpt_tensor_data (tensor), lpt_tensor_size (tensor));

      g_string_append_printf (p->out, "base64 \"%s\"", text);
    }
  else
    for (gint64 i = 0; i < count; i++)
      {
        if (i > 0)
          g_string_append (p->out, ", ");
        if (lpt_dtype_is_real (dtype))
          append_real (p->out, dtype, lpt_tensor_get_f64 (tensor, i));
        else if (dtype == LPT_DTYPE_BOOL)
          g_string_append (p->out, lpt_tensor_get_i64 (tensor, i) != 0 ? "true" : "false");
        else if (dtype == LPT_DTYPE_U64)
          g_string_append_printf (p->out, "%" G_GUINT64_FORMAT, (guint64) lpt_tensor_get_i64 (tensor, i));
        else
          g_string_append_printf (p->out, "%" G_GINT64_FORMAT, lpt_tensor_get_i64 (tensor, i));
      }
  g_string_append_c (p->out, '}');
}

/* --- attributes --- */

/* Opening brace, or comma. */
static void
attr_item (GString    *out,
           gboolean   *open,
           const char *name)
{
  g_string_append_printf (out, "%s%s=", *open ? ", " : " {", name);
  *open = TRUE;
}

static void
append_list (GString    *out,
             const char *text)
{
  g_string_append_c (out, '[');
  for (; *text != '\0'; text++)
    if (*text != ' ')
      g_string_append_c (out, *text);
  g_string_append_c (out, ']');
}

/* What the type of the output says already. */
static gboolean
is_implied (LptNode            *node,
            const LptAttrField *field)
{
  gconstpointer value = LPT_ATTR_PTR (node->attrs, field);

  if (node->n_out == 0)
    return FALSE;
  switch (node->op)
    {
    case LPT_OP_PARAMETER:
    case LPT_OP_CONVERT:
    case LPT_OP_QUANTIZE:
    case LPT_OP_DEQUANTIZE:
    case LPT_OP_REQUANTIZE:
    case LPT_OP_REINTERPRET:
      if (field->kind == LPT_ATTR_DTYPE)
        return *(const LptDType *) value == node->out[0].dtype;
      if (field->kind == LPT_ATTR_SHAPE)
        return lpt_shape_equal (value, &node->out[0].shape);
      return FALSE;
    default:
      return FALSE;
    }
}

static gboolean
is_shown (LptNode            *node,
          const LptAttrField *field)
{
  if (is_implied (node, field) || !lpt_attr_field_applies (field, node->opset))
    return FALSE;
  if ((field->flags & LPT_ATTR_F_REQUIRED) != 0 && field->fallback == NULL && field->kind != LPT_ATTR_INTS &&
      field->kind != LPT_ATTR_FLOATS)
    return TRUE;

  return !lpt_attr_is_default (field, node->attrs);
}

/* The name that a Result gets when nothing is said. */
static gboolean
has_own_name (Printer *p,
              LptNode *result)
{
  LptValue *value = lpt_node_in (result, 0);
  const char *output = LPT_ATTRS (result, LptResultAttrs)->output;
  g_autofree char *plain = NULL;

  if (output == NULL || *output == '\0' || value == NULL || (p->values != NULL && !g_hash_table_contains (p->values, value)))
    return output != NULL && *output != '\0';
  if (value->producer->name == NULL)
    return TRUE;
  plain = value->producer->n_out > 1 ? g_strdup_printf ("%s.%u", value->producer->name, value->index)
                                     : g_strdup (value->producer->name);

  return strcmp (plain, output) != 0;
}

static void
append_attrs (Printer *p,
              LptNode *node)
{
  gboolean open = FALSE;

  if (node->op == LPT_OP_OPAQUE && node->raw != NULL)
    {
      attr_item (p->out, &open, "xml");
      append_string (p->out, node->raw);
    }
  for (const LptAttrField *field = node->info->attrs; field->name != NULL && node->attrs != NULL; field++)
    {
      g_autofree char *text = NULL;
      gboolean seen = FALSE;

      if (node->op == LPT_OP_RESULT ? !has_own_name (p, node) : !is_shown (node, field))
        continue;
      /* Another version of a field that is already there. */
      for (const LptAttrField *before = node->info->attrs; before != field; before++)
        seen = seen || before->offset == field->offset;
      if (seen)
        continue;
      attr_item (p->out, &open, field->name);
      text = lpt_attr_format (field, node->attrs);
      if (field->kind == LPT_ATTR_INTS || field->kind == LPT_ATTR_FLOATS || field->kind == LPT_ATTR_SHAPE)
        append_list (p->out, text);
      else if (field->kind == LPT_ATTR_STRING)
        append_string (p->out, text);
      else
        g_string_append (p->out, text);
    }
  if (open)
    g_string_append_c (p->out, '}');
}

static gint
compare_keys (gconstpointer a,
              gconstpointer b)
{
  return strcmp (a, b);
}

static void
append_strings (Printer    *p,
                const char *keyword,
                GHashTable *strings)
{
  g_autoptr (GList) keys = NULL;

  if (strings == NULL || g_hash_table_size (strings) == 0 || (p->flags & LPT_TEXT_RT_INFO) == 0)
    return;
  keys = g_list_sort (g_hash_table_get_keys (strings), compare_keys);
  g_string_append_printf (p->out, " %s{", keyword);
  for (GList *l = keys; l != NULL; l = l->next)
    {
      append_string (p->out, l->data);
      g_string_append_c (p->out, '=');
      append_string (p->out, g_hash_table_lookup (strings, l->data));
      if (l->next != NULL)
        g_string_append (p->out, ", ");
    }
  g_string_append_c (p->out, '}');
}

/* --- types --- */

static void
append_quant (GString        *out,
              const LptQuant *quant)
{
  gboolean list = quant->axis != LPT_QUANT_PER_TENSOR || quant->n != 1;
  gboolean zero = TRUE;

  g_string_append (out, " q{");
  if (quant->axis != LPT_QUANT_PER_TENSOR)
    g_string_append_printf (out, "axis=%d, ", quant->axis);
  g_string_append (out, list ? "scale=[" : "scale=");
  for (guint i = 0; i < quant->n; i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      lpt_append_double (out, quant->scale[i]);
      zero = zero && quant->zero_point[i] == 0;
    }
  if (list)
    g_string_append_c (out, ']');
  if (!zero)
    {
      g_string_append (out, list ? ", zp=[" : ", zp=");
      for (guint i = 0; i < quant->n; i++)
        g_string_append_printf (out, "%s%d", i > 0 ? "," : "", quant->zero_point[i]);
      if (list)
        g_string_append_c (out, ']');
    }
  g_string_append_c (out, '}');
}

static void
append_type (Printer  *p,
             LptValue *value)
{
  gboolean known = value->shape.rank <= LPT_MAX_RANK && (guint) value->dtype < LPT_N_DTYPES;
  g_autofree char *shape = known ? lpt_shape_to_string (&value->shape) : NULL;
  gboolean open = FALSE;

  g_string_append_printf (p->out, "%s[%s]", known ? lpt_dtype_name (value->dtype) : "undefined", known ? shape : "<no shape>");
  if (value->quant != NULL)
    append_quant (p->out, value->quant);
  for (guint i = 0; value->names != NULL && i < value->names->len; i++)
    {
      const char *name = g_ptr_array_index (value->names, i);

      /* Found by that name anyway. */
      if (value->producer->name != NULL && value->index == 0 && strcmp (name, value->producer->name) == 0)
        continue;
      g_string_append (p->out, open ? ", " : " names{");
      open = TRUE;
      append_string (p->out, name);
    }
  if (open)
    g_string_append_c (p->out, '}');
  append_plain_mark (p, &value->mark);
}

/* --- statements --- */

static void print_graph (Printer *p, LptGraph *graph);

static void
append_line (Printer    *p,
             const char *text)
{
  g_string_append_printf (p->out, "%*s%s", (int) (2 * p->indent), "", text);
}

static void
append_port (Printer           *p,
             const char        *keyword,
             const char        *arrow,
             const LptBodyPort *port)
{
  append_line (p, keyword);
  if (port->external < 0)
    g_string_append_printf (p->out, " _ %s %u", arrow, port->internal);
  else
    g_string_append_printf (p->out, " %d %s %u", port->external, arrow, port->internal);
  if (port->purpose != LPT_PORT_PLAIN)
    g_string_append (p->out, port->purpose == LPT_PORT_ITERATION ? " iteration" : " condition");
  if (port->sliced)
    {
      const struct { const char *name; gint64 value, plain; } numbers[] =
      {
        { "start", port->start, 0 }, { "end", port->end, -1 }, { "stride", port->stride, 1 }, { "part", port->part_size, 1 },
      };

      g_string_append_printf (p->out, " axis=%" G_GINT64_FORMAT, port->axis);
      for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
        if (numbers[i].value != numbers[i].plain)
          g_string_append_printf (p->out, " %s=%" G_GINT64_FORMAT, numbers[i].name, numbers[i].value);
    }
  g_string_append_c (p->out, '\n');
}

static void append_graph_attrs (Printer *p, LptGraph *graph);

static void
append_bodies (Printer *p,
               LptNode *node)
{
  g_string_append (p->out, " {\n");
  p->indent++;
  for (guint b = 0; b < lpt_node_n_bodies (node); b++)
    {
      LptGraph *body = lpt_node_body (node, b);
      LptBodyMap *map = lpt_node_body_map (node, b);
      GHashTable *notes = p->notes;
      Printer inner = { p->out, p->flags, p->indent + 1, body, NULL, NULL, notes, NULL };

      append_line (p, "body");
      if (body->name != NULL && *body->name != '\0')
        {
          g_string_append_c (p->out, ' ');
          append_string (p->out, body->name);
        }
      append_graph_attrs (p, body);
      g_string_append (p->out, " {\n");
      for (guint i = 0; i < map->inputs->len; i++)
        append_port (&inner, "in", "->", &g_array_index (map->inputs, LptBodyPort, i));
      for (guint i = 0; i < map->outputs->len; i++)
        append_port (&inner, "out", "<-", &g_array_index (map->outputs, LptBodyPort, i));
      for (guint i = 0; i < map->back_edges->len; i++)
        {
          const LptBackEdge *edge = &g_array_index (map->back_edges, LptBackEdge, i);

          append_line (&inner, "back");
          g_string_append_printf (p->out, " %u -> %u\n", edge->result, edge->parameter);
        }
      print_graph (&inner, body);
      append_line (p, "}\n");
    }
  p->indent--;
  append_line (p, "}");
}

static void
append_statement (Printer *p,
                  LptNode *node)
{
  guint version = lpt_op_version (node->info, node->opset);

  append_line (p, "");
  if (node->op != LPT_OP_RESULT)
    {
      append_name (p->out, node->name);
      g_string_append (p->out, " = ");
    }
  g_string_append (p->out, node->op == LPT_OP_CONST ? "Const" : node->info->name);
  if (node->opset != 0 && node->op != LPT_OP_OPAQUE && version != lpt_op_version (node->info, 0))
    g_string_append_printf (p->out, "@%u", version);
  if (node->op != LPT_OP_PARAMETER && node->op != LPT_OP_CONST)
    {
      g_string_append_c (p->out, '(');
      for (guint i = 0; i < node->n_in; i++)
        {
          if (i > 0)
            g_string_append (p->out, ", ");
          if (node->in[i].value == NULL)
            g_string_append_c (p->out, '_');
          else
            append_value (p, node->in[i].value);
          if (node->in[i].compute != LPT_DTYPE_UNDEFINED)
            g_string_append_printf (p->out, " as %s", lpt_dtype_name (node->in[i].compute));
          append_plain_mark (p, &node->in[i].mark);
        }
      g_string_append_c (p->out, ')');
    }
  if (node->data != NULL)
    append_data (p, node->data);
  append_attrs (p, node);
  append_node_mark (p, node);
  for (guint i = 0; node->controls != NULL && i < node->controls->len; i++)
    {
      LptNode *control = g_ptr_array_index (node->controls, i);

      g_string_append (p->out, i == 0 ? " after(" : ", ");
      if (p->values != NULL && !g_hash_table_contains (p->values, control))
        g_string_append (p->out, "%\"<not in this graph>\"");
      else
        append_name (p->out, control->name);
      if (i + 1 == node->controls->len)
        g_string_append_c (p->out, ')');
    }
  append_strings (p, "rt", node->rt_info);
  if (node->op != LPT_OP_RESULT)
    for (guint i = 0; i < node->n_out; i++)
      {
        g_string_append (p->out, i == 0 ? " : " : ", ");
        append_type (p, &node->out[i]);
      }
  if (lpt_node_n_bodies (node) > 0)
    append_bodies (p, node);
}

static void
append_notes (Printer       *p,
              gconstpointer  key)
{
  GString *text = p->notes != NULL ? g_hash_table_lookup (p->notes, key) : NULL;
  g_auto (GStrv) lines = text != NULL ? g_strsplit (text->str, "\n", -1) : NULL;

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    if (*lines[i] != '\0')
      {
        append_line (p, "# ^ ");
        g_string_append_printf (p->out, "%s\n", lines[i]);
      }
}

static void
print_node (Printer *p,
            LptNode *node)
{
  if ((node->flags & LPT_NODE_DEAD) != 0 && p->notes == NULL)
    return;
  append_statement (p, node);
  g_string_append_c (p->out, '\n');
  append_notes (p, node);
}

static void
append_graph_attrs (Printer  *p,
                    LptGraph *graph)
{
  gboolean open = FALSE;

  if (graph->lowered)
    {
      attr_item (p->out, &open, "lowered");
      g_string_append (p->out, "true");
    }
  if (graph->ir_version != 0)
    {
      attr_item (p->out, &open, "ir_version");
      g_string_append_printf (p->out, "%d", graph->ir_version);
    }
  if (graph->requant != NULL)
    {
      attr_item (p->out, &open, "requant");
      append_string (p->out, graph->requant);
    }
  if (graph->op_requant != NULL)
    {
      g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (graph->op_requant), compare_keys);

      for (GList *l = keys; l != NULL; l = l->next)
        {
          g_autofree char *name = g_strconcat ("requant.", l->data, NULL);

          attr_item (p->out, &open, name);
          append_string (p->out, g_hash_table_lookup (graph->op_requant, l->data));
        }
    }
  if (open)
    g_string_append_c (p->out, '}');
  append_strings (p, "rt", graph->meta);
}

static void
printer_begin (Printer  *p,
               LptGraph *graph)
{
  p->graph = graph;
  p->holders = g_hash_table_new (NULL, NULL);
  p->numbers = g_hash_table_new (NULL, NULL);
  if (p->notes != NULL)
    p->values = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (p->values != NULL)
        g_hash_table_add (p->values, node);
      count_mark (p, &node->mark);
      for (guint k = 0; k < node->n_in; k++)
        count_mark (p, &node->in[k].mark);
      for (guint k = 0; k < node->n_out; k++)
        {
          count_mark (p, &node->out[k].mark);
          if (p->values != NULL)
            g_hash_table_add (p->values, &node->out[k]);
        }
    }
}

static void
printer_end (Printer *p)
{
  g_hash_table_unref (p->holders);
  g_hash_table_unref (p->numbers);
  g_clear_pointer (&p->values, g_hash_table_unref);
}

static void
print_graph (Printer  *p,
             LptGraph *graph)
{
  g_autoptr (GPtrArray) order = p->notes == NULL ? lpt_graph_order (graph, NULL) : NULL;
  GPtrArray *nodes = order != NULL ? order : graph->nodes;

  printer_begin (p, graph);
  if (p->notes != NULL)      /* whatever the lists of parameters and results hold */
    for (guint i = 0; i < nodes->len; i++)
      print_node (p, g_ptr_array_index (nodes, i));
  else
    {
      for (guint i = 0; i < graph->parameters->len; i++)
        print_node (p, g_ptr_array_index (graph->parameters, i));
      for (guint i = 0; i < nodes->len; i++)
        {
          LptNode *node = g_ptr_array_index (nodes, i);

          if (node->op != LPT_OP_PARAMETER && node->op != LPT_OP_RESULT)
            print_node (p, node);
        }
      for (guint i = 0; i < graph->results->len; i++)
        print_node (p, g_ptr_array_index (graph->results, i));
    }
  append_notes (p, graph);
  printer_end (p);
}

char *
lpt_graph_print (LptGraph     *graph,
                 LptTextFlags  flags,
                 GHashTable   *notes)
{
  Printer p = { g_string_new (NULL), flags, 0, graph, NULL, NULL, notes, NULL };
  gsize before;

  g_string_append (p.out, "graph");
  if (graph->name != NULL && *graph->name != '\0')
    {
      g_string_append_c (p.out, ' ');
      append_string (p.out, graph->name);
    }
  before = p.out->len;
  append_graph_attrs (&p, graph);
  if (before == p.out->len && before == strlen ("graph"))
    g_string_truncate (p.out, 0);
  else
    g_string_append_c (p.out, '\n');
  print_graph (&p, graph);

  return g_string_free (p.out, FALSE);
}

char *
lpt_graph_to_text (LptGraph     *graph,
                   LptTextFlags  flags)
{
  g_return_val_if_fail (graph != NULL, NULL);

  return lpt_graph_print (graph, flags, NULL);
}

char *
lpt_node_to_text (LptNode      *node,
                  LptTextFlags  flags)
{
  Printer p = { g_string_new (NULL), flags, 0, node->graph, NULL, NULL, NULL, NULL };

  printer_begin (&p, node->graph);
  append_statement (&p, node);
  printer_end (&p);

  return g_string_free (p.out, FALSE);
}
