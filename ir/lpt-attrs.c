/* lpt-attrs.c - field tables of the attributes and what derives from them:
 * parsing, formatting, copying, comparing
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-attrs-private.h"

/* --- tables --- */

#define NAMES(list, ...) static const char *const names_##list[] = { __VA_ARGS__, NULL };
NAMES (auto_pad, "explicit", "same_upper", "same_lower", "valid", "notset")
NAMES (broadcast, "numpy", "none", "pdpd")
NAMES (broadcast_mode, "numpy", "explicit", "bidirectional", "pdpd")
NAMES (rounding_type, "floor", "ceil", "ceil_torch")
NAMES (gelu, "erf", "tanh")
NAMES (power_round, "even", "up", "down", "nearest_up")
NAMES (round, "half_to_even", "half_away_from_zero")
NAMES (eps_mode, "inside_sqrt", "outside_sqrt")
NAMES (l2_eps_mode, "add", "max")
NAMES (pad_mode, "constant", "edge", "reflect", "symmetric")
NAMES (depth_mode, "blocks_first", "depth_first")
NAMES (reverse_mode, "index", "mask")
NAMES (reduction, "none", "sum", "prod", "min", "max", "mean", "sub")
NAMES (topk_mode, "max", "min")
NAMES (topk_sort, "none", "value", "index")
NAMES (grid_mode, "bilinear", "bicubic", "nearest")
NAMES (grid_padding, "zeros", "border", "reflection")
NAMES (interpolate_mode, "nearest", "linear", "linear_onnx", "cubic", "area", "bilinear_pillow", "bicubic_pillow")
NAMES (interpolate_shape, "sizes", "scales")
NAMES (interpolate_coordinate, "half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn",
       "align_corners")
NAMES (interpolate_nearest, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")
NAMES (direction, "forward", "reverse", "bidirectional")
NAMES (code_type, "caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE")
NAMES (box_encoding, "corner", "center")
NAMES (roi_method, "max", "bilinear")
NAMES (roi_align_mode, "avg", "max")
NAMES (roi_aligned, "asymmetric", "half_pixel_for_nn", "half_pixel")
NAMES (psroi_mode, "average", "bilinear")
NAMES (binary_mode, "xnor-popcount")
NAMES (deformable_mode, "bilinear_deformable")
NAMES (nms_sort, "none", "class", "score")
NAMES (nms_decay, "linear", "gaussian")
NAMES (segment_fill, "ZERO", "LOWEST")
NAMES (bag, "sum", "mean")
NAMES (aggregate, "sum", "average", "minimum", "maximum")
NAMES (fake_convert, "f8e4m3", "f8e5m2")

#define R LPT_ATTR_F_REQUIRED
#define I LPT_ATTR_F_INTERNAL
#define N LPT_ATTR_F_NOT_LESS
#define P LPT_ATTR_F_POSITIVE
#define H LPT_ATTR_F_HALF
#define F LPT_ATTR_F_FINITE
#define LPT_ATTRS_BEGIN(Name) const LptAttrField lpt_attrs_##Name[] = {
#define LPT_FIELD(Name, KIND, c_name, name, since, until, flags, fallback) \
  { name, LPT_ATTR_##KIND, G_STRUCT_OFFSET (Lpt##Name##Attrs, c_name), since, until, flags, fallback, NULL },
#define LPT_ENUM(Name, c_name, name, names, since, until, flags, fallback) \
  { name, LPT_ATTR_ENUM, G_STRUCT_OFFSET (Lpt##Name##Attrs, c_name), since, until, flags, fallback, names_##names },
#define LPT_ATTRS_END(Name) { NULL } };
#include <lpt/lpt-attrs.def>
#undef R
#undef I
#undef N
#undef P
#undef H
#undef F

/* --- text --- */

static gboolean
not_a (GError     **error,
       const char  *text,
       const char  *what)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "'%s' is not %s", text, what);

  return FALSE;
}

static gboolean
parse_int (const char *text,
           gint64     *value)
{
  char *end;
  double real;

  while (g_ascii_isspace (*text))
    text++;
  errno = 0;
  *value = g_ascii_strtoll (text, &end, 10);
  if (end == text || errno == ERANGE)
    return FALSE;
  if (*end == '.' || *end == 'e' || *end == 'E')      /* "1.000000" of some writers */
    {
      real = g_ascii_strtod (text, &end);
      if (real != rint (real) || fabs (real) > 9007199254740992.0)
        return FALSE;
      *value = (gint64) real;
    }
  while (g_ascii_isspace (*end))
    end++;

  return *end == '\0';
}

static gboolean
parse_float (const char *text,
             double     *value)
{
  char *end;

  while (g_ascii_isspace (*text))
    text++;
  *value = g_ascii_strtod (text, &end);
  if (end == text)
    return FALSE;
  while (g_ascii_isspace (*end))
    end++;

  return *end == '\0';
}

static gboolean
parse_list (const LptAttrField  *field,
            gpointer             p,
            const char          *text,
            GError             **error)
{
  g_autofree char *copy = g_strstrip (g_strdup (text));
  g_auto (GStrv) parts = NULL;
  guint n;
  guint i;

  if (*copy == '\0')
    {
      if (field->kind == LPT_ATTR_INTS)
        lpt_ints_clear (p);
      else
        lpt_floats_clear (p);
      return TRUE;
    }
  parts = g_strsplit (copy, ",", 0);
  n = g_strv_length (parts);
  if (field->kind == LPT_ATTR_INTS)
    {
      g_autofree gint64 *values = g_new (gint64, n);

      for (i = 0; i < n; i++)
        if (!parse_int (parts[i], &values[i]))
          return not_a (error, text, "a list of integers");
      lpt_ints_set (p, n, values);
    }
  else
    {
      g_autofree double *values = g_new (double, n);

      for (i = 0; i < n; i++)
        if (!parse_float (parts[i], &values[i]))
          return not_a (error, text, "a list of numbers");
      lpt_floats_set (p, n, values);
    }

  return TRUE;
}

gboolean
lpt_attr_parse (const LptAttrField  *field,
                gpointer             attrs,
                const char          *text,
                GError             **error)
{
  gpointer p = LPT_ATTR_PTR (attrs, field);
  guint i;

  switch (field->kind)
    {
    case LPT_ATTR_BOOL:
      if (g_ascii_strcasecmp (text, "true") == 0 || strcmp (text, "1") == 0)
        *(gboolean *) p = TRUE;
      else if (g_ascii_strcasecmp (text, "false") == 0 || strcmp (text, "0") == 0)
        *(gboolean *) p = FALSE;
      return TRUE;      /* other text keeps the default */

    case LPT_ATTR_INT:
      return parse_int (text, p) || not_a (error, text, "an integer");

    case LPT_ATTR_FLOAT:
      return parse_float (text, p) || not_a (error, text, "a number");

    case LPT_ATTR_ENUM:
      for (i = 0; field->names[i] != NULL; i++)
        if (g_ascii_strcasecmp (text, field->names[i]) == 0)
          {
            *(int *) p = (int) i;
            return TRUE;
          }
      {
        g_autofree char *known = g_strjoinv (", ", (char **) field->names);

        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                     "'%s' is none of %s", text, known);
        return FALSE;
      }

    case LPT_ATTR_STRING:
      {
        char *copy = g_strdup (text);

        g_free (*(char **) p);
        *(char **) p = copy;
        return TRUE;
      }

    case LPT_ATTR_INTS:
    case LPT_ATTR_FLOATS:
      return parse_list (field, p, text, error);

    case LPT_ATTR_DTYPE:
      {
        LptDType dtype = lpt_dtype_from_name (text);

        if (dtype == LPT_DTYPE_UNDEFINED && g_ascii_strcasecmp (text, "undefined") != 0)
          {
            g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                         "unsupported element type '%s'", text);
            return FALSE;
          }
        *(LptDType *) p = dtype;
        return TRUE;
      }

    case LPT_ATTR_SHAPE:
      return lpt_shape_from_string (text, p, error);
    }

  g_assert_not_reached ();
}

/* The fewest digits, 6 at least, with which %g reads back as @value. Text of up to 15 digits comes back from a normal
 * double as it was: such a text is what 15 digits give, without their zeros. */
static guint
count_digits (double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  guint digits = 15;

  if (!isnormal (value))
    digits = 6;
  for (; digits < 17; digits++)
    {
      char format[8];

      g_snprintf (format, sizeof format, "%%.%ue", digits - 1);
      g_ascii_formatd (buffer, sizeof buffer, format, value);
      if (g_ascii_strtod (buffer, NULL) == value)
        break;
    }
  if (digits == 15)
    for (const char *end = strchr (buffer, 'e'); digits > 6 && *--end == '0'; digits--)
      ;
  return digits;
}

void
lpt_append_double (GString *text,
                   double   value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  char format[8];

  g_snprintf (format, sizeof format, "%%.%ug", count_digits (value));
  g_ascii_formatd (buffer, sizeof buffer, format, value);
  g_string_append (text, buffer);
}

char *
lpt_attr_format (const LptAttrField *field,
                 gconstpointer       attrs)
{
  gconstpointer p = LPT_ATTR_PTR (attrs, field);
  GString *text = g_string_new (NULL);
  guint i;

  switch (field->kind)
    {
    case LPT_ATTR_BOOL:
      g_string_append (text, *(const gboolean *) p ? "true" : "false");
      break;
    case LPT_ATTR_INT:
      g_string_append_printf (text, "%" G_GINT64_FORMAT, *(const gint64 *) p);
      break;
    case LPT_ATTR_FLOAT:
      lpt_append_double (text, *(const double *) p);
      break;
    case LPT_ATTR_ENUM:
      g_string_append (text, field->names[*(const int *) p]);
      break;
    case LPT_ATTR_STRING:
      g_string_append (text, *(char *const *) p);
      break;
    case LPT_ATTR_INTS:
      for (i = 0; i < ((const LptInts *) p)->n; i++)
        g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", ((const LptInts *) p)->v[i]);
      break;
    case LPT_ATTR_FLOATS:
      for (i = 0; i < ((const LptFloats *) p)->n; i++)
        {
          if (i > 0)
            g_string_append (text, ", ");
          lpt_append_double (text, ((const LptFloats *) p)->v[i]);
        }
      break;
    case LPT_ATTR_DTYPE:
      g_string_append (text, lpt_dtype_name (*(const LptDType *) p));
      break;
    case LPT_ATTR_SHAPE:
      {
        g_autofree char *shape = lpt_shape_to_string (p);

        g_string_append (text, shape);
        break;
      }
    }

  return g_string_free (text, FALSE);
}

/* --- fields and structs --- */

gboolean
lpt_attr_field_applies (const LptAttrField *field,
                        guint               opset)
{
  if (opset == 0)
    return field->until == 0;

  return opset >= field->since && (field->until == 0 || opset <= field->until);
}

gboolean
lpt_attr_equal (const LptAttrField *field,
                gconstpointer       a,
                gconstpointer       b)
{
  g_autofree char *text_a = lpt_attr_format (field, a);
  g_autofree char *text_b = lpt_attr_format (field, b);

  return strcmp (text_a, text_b) == 0;
}

static void
field_reset (const LptAttrField *field,
             gpointer            attrs)
{
  if (field->kind == LPT_ATTR_STRING)
    {
      char **string = LPT_ATTR_PTR (attrs, field);

      g_free (*string);
      *string = g_strdup ("");
    }
  if (field->fallback != NULL && !lpt_attr_parse (field, attrs, field->fallback, NULL))
    g_assert_not_reached ();
}

gboolean
lpt_attr_is_default (const LptAttrField *field,
                     gconstpointer       attrs)
{
  g_autofree char *text = lpt_attr_format (field, attrs);
  const char *fallback = field->fallback;

  if (fallback != NULL)
    return strcmp (text, fallback) == 0;
  switch (field->kind)
    {
    case LPT_ATTR_BOOL:
      return strcmp (text, "false") == 0;
    case LPT_ATTR_INT:
    case LPT_ATTR_FLOAT:
      return strcmp (text, "0") == 0;
    case LPT_ATTR_ENUM:
      return strcmp (text, field->names[0]) == 0;
    case LPT_ATTR_DTYPE:
      return strcmp (text, "undefined") == 0;
    default:
      return *text == '\0';
    }
}

gpointer
lpt_attrs_new (const LptOpInfo *info,
               guint            opset)
{
  const LptAttrField *field;
  gpointer attrs;

  if (info->attrs_size == 0)
    return NULL;
  attrs = g_malloc0 (info->attrs_size);
  for (field = info->attrs; field->name != NULL; field++)
    field_reset (field, attrs);

  return attrs;
}

gpointer
lpt_attrs_copy (const LptOpInfo *info,
                gconstpointer    attrs)
{
  const LptAttrField *field;
  gpointer copy;

  if (attrs == NULL)
    return NULL;
  copy = g_memdup2 (attrs, info->attrs_size);
  for (field = info->attrs; field->name != NULL; field++)
    {
      gpointer to = LPT_ATTR_PTR (copy, field);

      switch (field->kind)
        {
        case LPT_ATTR_STRING:
          *(char **) to = g_strdup (*(char **) to);
          break;
        case LPT_ATTR_INTS:
          ((LptInts *) to)->v = g_memdup2 (((LptInts *) to)->v, ((LptInts *) to)->n * sizeof (gint64));
          break;
        case LPT_ATTR_FLOATS:
          ((LptFloats *) to)->v = g_memdup2 (((LptFloats *) to)->v, ((LptFloats *) to)->n * sizeof (double));
          break;
        default:
          break;
        }
    }

  return copy;
}

gboolean
lpt_attrs_equal (const LptOpInfo *info,
                 gconstpointer    a,
                 gconstpointer    b)
{
  const LptAttrField *field;

  if (a == NULL || b == NULL)
    return a == b;
  for (field = info->attrs; field->name != NULL; field++)
    if (!lpt_attr_equal (field, a, b))
      return FALSE;

  return TRUE;
}

void
lpt_attrs_free (const LptOpInfo *info,
                gpointer         attrs)
{
  const LptAttrField *field;

  if (attrs == NULL)
    return;
  for (field = info->attrs; field->name != NULL; field++)
    switch (field->kind)
      {
      case LPT_ATTR_STRING:
        g_free (*(char **) LPT_ATTR_PTR (attrs, field));
        break;
      case LPT_ATTR_INTS:
        lpt_ints_clear (LPT_ATTR_PTR (attrs, field));
        break;
      case LPT_ATTR_FLOATS:
        lpt_floats_clear (LPT_ATTR_PTR (attrs, field));
        break;
      default:
        break;
      }
  g_free (attrs);
}

const LptAttrField *
lpt_attrs_find (const LptOpInfo *info,
                guint            opset,
                const char      *name)
{
  const LptAttrField *field;

  for (field = info->attrs; field->name != NULL; field++)
    if (lpt_attr_field_applies (field, opset) && g_ascii_strcasecmp (field->name, name) == 0)
      return field;

  return NULL;
}
