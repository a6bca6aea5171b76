/* test-onnx-refused.c - what the ONNX reader says of operators that it does not take, one row for each reason
 *
 * A row is one node:   OP[@OPSET][>OUTPUTS], its inputs and its attributes, parts by blanks.
 *   input        TYPE[SHAPE], TYPE? of unknown rank, TYPE[SHAPE]=NUMBERS a constant; _ is none
 *   attribute    NAME=1, NAME=[1,2], NAME=1.5f, NAME=[1,2]f, NAME='text', NAME=['text','text']
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-onnx.h>
#include <lpt/lpt.h>

#include <string.h>

typedef struct { const char *op, *inputs, *attributes, *message; } Row;

static const Row rows[] = {
#include "onnx-refused.def"
};

static const struct { const char *name; gint code; const char *field; } types[] = {
  { "f32", 1, "floatData" }, { "u8", 2, "int32Data" },  { "i8", 3, "int32Data" },    { "i32", 6, "int32Data" },
  { "i64", 7, "int64Data" }, { "str", 8, "stringData" }, { "bool", 9, "int32Data" }, { "f16", 10, "int32Data" },
  { "f64", 11, "doubleData" },
};

static guint
type_of (const char *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_str_has_prefix (text, types[i].name) && strchr ("[?", text[strlen (types[i].name)]) != NULL)
      return i;
  g_error ("no type: %s", text);
}

/* An input of the graph or, with numbers behind it, an initializer. */
static void
add_value (GString    *inputs,
           GString    *inits,
           guint       index,
           const char *text)
{
  guint type = type_of (text);
  const char *open = strchr (text, '['), *close = strchr (text, ']'), *equals = strchr (text, '=');
  g_autofree char *list = open != NULL ? g_strndup (open + 1, (gsize) (close - open - 1)) : NULL;
  GString *out = equals != NULL ? inits : inputs;

  g_string_append_printf (out, "%s{\"name\":\"a%u\",", out->len > 0 ? "," : "", index);
  if (equals != NULL)
    g_string_append_printf (out, "\"dataType\":%d,\"dims\":[%s],\"%s\":[%s]}", types[type].code, list,
                            types[type].field, equals + 1);
  else
    {
      g_auto (GStrv) dims = g_strsplit (list != NULL ? list : "", ",", -1);

      g_string_append_printf (out, "\"type\":{\"tensorType\":{\"elemType\":%d", types[type].code);
      g_string_append (out, list != NULL ? ",\"shape\":{\"dim\":[" : "");
      for (guint i = 0; dims[i] != NULL; i++)
        {
          const gboolean open_ended = strcmp (dims[i], "?") == 0;

          g_string_append_printf (out, "%s{%s%s}", i > 0 ? "," : "", open_ended ? "" : "\"dimValue\":",
                                  open_ended ? "" : dims[i]);
        }
      g_string_append (out, list != NULL ? "]}}}}" : "}}}");
    }
}

static char *
base64 (const char *text)
{
  gsize n = strlen (text);

  return g_base64_encode ((const guchar *) text + 1, n - 2);
}

static void
add_attribute (GString    *out,
               const char *text)
{
  const char *equals = strchr (text, '=');
  g_autofree char *name = g_strndup (text, (gsize) (equals - text)), *value = g_strdup (equals + 1);
  gboolean list = *value == '[', string = strchr (value, '\'') != NULL, real = !string && g_str_has_suffix (value, "f");
  const char *kind = string ? "STRING" : real ? "FLOAT" : "INT";
  const char *field = list ? (string ? "strings" : real ? "floats" : "ints") : string ? "s" : real ? "f" : "i";

  if (real)
    value[strlen (value) - 1] = '\0';
  g_string_append_printf (out, "%s{\"name\":\"%s\",\"type\":\"%s%s\",\"%s\":", out->len > 0 ? "," : "", name, kind,
                          list ? "S" : "", field);
  if (!string)
    g_string_append (out, value);
  else
    {
      g_autofree char *inner = list ? g_strndup (value + 1, strlen (value) - 2) : g_strdup (value);
      g_auto (GStrv) parts = g_strsplit (inner, ",", -1);

      g_string_append (out, list ? "[" : "");
      for (guint i = 0; parts[i] != NULL; i++)
        {
          g_autofree char *code = base64 (parts[i]);

          g_string_append_printf (out, "%s\"%s\"", i > 0 ? "," : "", code);
        }
      g_string_append (out, list ? "]" : "");
    }
  g_string_append_c (out, '}');
}

/* The model of a row as JSON. */
static char *
model_of (const Row *row)
{
  g_auto (GStrv) given = g_strsplit (row->inputs, " ", -1), more = g_strsplit (row->attributes, " ", -1);
  g_autoptr (GString) inputs = g_string_new (NULL), inits = g_string_new (NULL), names = g_string_new (NULL);
  g_autoptr (GString) attributes = g_string_new (NULL), outputs = g_string_new ("\"y\"");
  g_autofree char *op = g_strndup (row->op, strcspn (row->op, "@>"));
  const char *at = strchr (row->op, '@'), *many = strchr (row->op, '>'), *colon = strchr (op, ':');
  g_autofree char *domain = g_strndup (op, colon != NULL ? (gsize) (colon - op) : 0);

  for (guint i = 0; given[i] != NULL && *given[i] != '\0'; i++)
    {
      const gboolean none = strcmp (given[i], "_") == 0;

      if (!none)
        add_value (inputs, inits, i, given[i]);
      g_string_append_printf (names, none ? "%s\"\"" : "%s\"a%u\"", i > 0 ? "," : "", i);
    }
  for (guint i = 0; more[i] != NULL && *more[i] != '\0'; i++)
    add_attribute (attributes, more[i]);
  for (gint64 i = 1; i < (many != NULL ? g_ascii_strtoll (many + 1, NULL, 10) : 1); i++)
    g_string_append_printf (outputs, ",\"y%d\"", (int) i);
  return g_strdup_printf ("{\"irVersion\":8,\"opsetImport\":[{\"version\":%d},"
                          "{\"domain\":\"ai.onnx.ml\",\"version\":5}],"
                          "\"graph\":{\"name\":\"g\",\"initializer\":[%s],\"input\":[%s],\"output\":[{\"name\":\"y\"}],"
                          "\"node\":[{\"opType\":\"%s\",\"domain\":\"%s\",\"name\":\"n\",\"input\":[%s],"
                          "\"output\":[%s],\"attribute\":[%s]}]}}",
                          at != NULL ? (int) g_ascii_strtoll (at + 1, NULL, 10) : 21, inits->str, inputs->str,
                          colon != NULL ? colon + 1 : op, domain, names->str, outputs->str, attributes->str);
}

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  g_autofree char *json = model_of (row), *pattern = g_strdup_printf ("*%s*", row->message);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (json, strlen (json), NULL, &error);

  if (graph != NULL)
    g_test_fail_printf ("%s is taken: %s", row->op, json);
  else if (!g_pattern_match_simple (pattern, error->message))
    g_test_fail_printf ("%s: \"%s\" instead of \"%s\"", row->op, error->message, row->message);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/onnx-refused/%s-%u", rows[i].op, i);

      g_test_add_data_func (path, &rows[i], test_row);
    }
  return g_test_run ();
}
