/* lpt-print-parts.c - names, marks, constants and types as text
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/lpt-attrs-private.h"
#include "ir/text/lpt-print.h"

const char *const lpt_node_flag_names[] =
{
  "relaxed", "dequantization", "keep_const", "no_cleanup", "bias", "decompression", "lpt_made", "raised", NULL
};

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

void
lpt_print_string (GString    *out,
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

void
lpt_print_name (GString    *out,
                const char *name)
{
  g_string_append_c (out, '%');
  if (name == NULL)
    g_string_append (out, "\"?\"");
  else if (is_plain (name))
    g_string_append (out, name);
  else
    lpt_print_string (out, name);
}

void
lpt_print_value (LptPrinter *p,
                 LptValue   *value)
{
  if (p->values != NULL && !g_hash_table_contains (p->values, value))
    {
      g_string_append (p->out, "%\"<not in this graph>\"");
      return;
    }
  lpt_print_name (p->out, value->producer->name);
  if (value->index > 0)
    g_string_append_printf (p->out, ".%u", value->index);
}

/* --- marks --- */

/* With notes the graph may be broken. */
static gboolean
box_exists (LptPrinter *p,
            LptBox      box)
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
count_box (LptPrinter *p,
           LptBox      box)
{
  gpointer root;

  if (!box_exists (p, box))
    return;
  root = GUINT_TO_POINTER (lpt_box_root (p->graph, box));
  g_hash_table_insert (p->holders, root,
                       GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (p->holders, root)) + 1));
}

void
lpt_print_count_mark (LptPrinter    *p,
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
item (LptPrinter *p,
      gboolean   *open,
      const char *name)
{
  g_string_append_printf (p->out, "%s%s", *open ? ", " : " #{", name);
  *open = TRUE;
}

static void
append_box (LptPrinter *p,
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
append_mark (LptPrinter    *p,
             const LptMark *mark,
             gboolean      *open)
{
  append_box (p, open, "precisions", mark->precisions);
  append_box (p, open, "preserved", mark->preserved);
  append_box (p, open, "avg_pool", mark->avg_pool);
  append_box (p, open, "interval", mark->interval);
  append_box (p, open, "alignment", mark->alignment);
  if (mark->granularity != LPT_GRANULARITY_NONE)
    item (p, open,
          mark->granularity == LPT_GRANULARITY_PER_TENSOR ? "granularity=per_tensor" : "granularity=per_channel");
}

void
lpt_print_node_mark (LptPrinter *p,
                     LptNode    *node)
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
      lpt_print_string (p->out, node->requant);
    }
  append_mark (p, &node->mark, &open);
  if (open)
    g_string_append_c (p->out, '}');
}

void
lpt_print_mark (LptPrinter    *p,
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
      return lpt_dtype_is_small_float (dtype) ? lpt_dtype_round (dtype, back) == value : back == value;
    }
}

/* The fewest digits that read back as the same element, without an exponent where that is possible. */
static void
append_real (GString *out,
             LptDType dtype,
             double   value)
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

/* Is every NaN the one that its text is read as? */
static gboolean
nan_is_plain (LptTensor *tensor)
{
  LptDType dtype = lpt_tensor_dtype (tensor);
  g_autofree double *values = NULL;
  g_autoptr (LptTensor) read = NULL;
  gboolean any = FALSE;
  gint64 i, n = lpt_tensor_count (tensor);

  for (i = 0; lpt_dtype_is_real (dtype) && i < n && !any; i++)
    any = isnan (lpt_tensor_get_f64 (tensor, i));
  if (!any)
    return TRUE;
  values = lpt_tensor_to_f64 (tensor, NULL);
  for (i = 0; values != NULL && i < n; i++)
    if (isnan (values[i]))
      values[i] = copysign (NAN, values[i]);
  read = values != NULL ? lpt_tensor_from_f64 (dtype, lpt_tensor_shape (tensor), values, NULL) : NULL;

  return read == NULL || lpt_tensor_equal (read, tensor);
}

/* Strings that a line can hold: text without zero bytes. */
static gboolean
strings_are_plain (LptTensor *tensor)
{
  for (gint64 i = 0; lpt_tensor_dtype (tensor) == LPT_DTYPE_STRING && i < lpt_tensor_count (tensor); i++)
    {
      gsize length;
      const char *text = lpt_tensor_string (tensor, i, &length);

      if (!g_utf8_validate_len (text, length, NULL))
        return FALSE;
    }
  return TRUE;
}

static void
print_string_at (GString   *out,
                 LptTensor *tensor,
                 gint64     i)
{
  gsize length;
  const char *text = lpt_tensor_string (tensor, i, &length);
  g_autofree char *copy = g_strndup (text, length);

  lpt_print_string (out, copy);
}

void
lpt_print_data (LptPrinter *p,
                LptTensor  *tensor)
{
  LptDType dtype = lpt_tensor_dtype (tensor);
  gint64 count = lpt_tensor_count (tensor);

  g_string_append (p->out, " {");
  if (count > LPT_TEXT_MAX_ELEMENTS && (p->flags & LPT_TEXT_ELIDE) != 0)
    g_string_append_printf (p->out, "... %" G_GINT64_FORMAT " values", count);
  else if (count > LPT_TEXT_MAX_ELEMENTS || !nan_is_plain (tensor) || !strings_are_plain (tensor))
    {
      g_autofree char *text = g_base64_encode (lpt_tensor_data (tensor), lpt_tensor_size (tensor));

      g_string_append_printf (p->out, "base64 \"%s\"", text);
    }
  else
    for (gint64 i = 0; i < count; i++)
      {
        if (i > 0)
          g_string_append (p->out, ", ");
        if (dtype == LPT_DTYPE_STRING)
          print_string_at (p->out, tensor, i);
        else if (lpt_dtype_is_real (dtype))
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

/* --- types --- */

static void
append_bits (GString *out,
             double   value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  for (; bits != 0; bits >>= 4)
    g_string_append_c (out, "0123456789abcdef"[bits & 15]);
}

void
lpt_print_quant (GString        *out,
                 const LptQuant *quant,
                 LptTextFlags    flags)
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
      if ((flags & LPT_TEXT_BITS) != 0)
        append_bits (out, quant->scale[i]);
      else
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

void
lpt_print_type (LptPrinter *p,
                LptValue   *value)
{
  gboolean known = value->shape.rank <= LPT_MAX_RANK && (guint) value->dtype < LPT_N_DTYPES;
  g_autofree char *shape = known ? lpt_shape_to_string (&value->shape) : NULL;
  gboolean open = FALSE;

  g_string_append_printf (p->out, "%s[%s]", known ? lpt_dtype_name (value->dtype) : "undefined",
                          known ? shape : "<no shape>");
  if (value->quant != NULL)
    lpt_print_quant (p->out, value->quant, p->flags);
  for (guint i = 0; value->names != NULL && i < value->names->len; i++)
    {
      const char *name = g_ptr_array_index (value->names, i);

      /* Found by that name anyway. */
      if (value->producer->name != NULL && value->index == 0 && strcmp (name, value->producer->name) == 0)
        continue;
      g_string_append (p->out, open ? ", " : " names{");
      open = TRUE;
      lpt_print_string (p->out, name);
    }
  if (open)
    g_string_append_c (p->out, '}');
  lpt_print_mark (p, &value->mark);
}
