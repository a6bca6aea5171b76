/* lpt-case.c - runs one case of a data set of single operators
 *
 *     lpt-case CASE.json [--requant SPEC]... [--reference] -o DIR
 *
 * The operator is built as a lowered graph through the library's interface and
 * run; output k is written as DIR/<k>.npy. Cases that hold several variants of
 * an operator write further files under the names of their expected values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "case.h"

#include <stdio.h>
#include <string.h>

static const char *
numpy_type (LptDType dtype)
{
  switch (dtype)
    {
    case LPT_DTYPE_I8:   return "|i1";
    case LPT_DTYPE_U8:   return "|u1";
    case LPT_DTYPE_I16:  return "<i2";
    case LPT_DTYPE_U16:  return "<u2";
    case LPT_DTYPE_I32:  return "<i4";
    case LPT_DTYPE_I64:  return "<i8";
    case LPT_DTYPE_F32:  return "<f4";
    case LPT_DTYPE_BOOL: return "|b1";
    default:             return NULL;
    }
}

static gboolean
write_npy (const char *folder,
           const char *name,
           LptTensor  *tensor,
           GError    **error)
{
  const char *type = numpy_type (lpt_tensor_dtype (tensor));
  const LptShape *shape = lpt_tensor_shape (tensor);
  g_autofree char *file = g_strdup_printf ("%s.npy", name);
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autoptr (GString) header = g_string_new (NULL);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint8 start[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };

  if (type == NULL)
    return case_fail (error, "unsupported element type %s", lpt_dtype_name (lpt_tensor_dtype (tensor)));

  g_string_printf (header, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
  for (gint i = 0; i < shape->rank; i++)
    g_string_append_printf (header, "%" G_GINT64_FORMAT ",", shape->dims[i]);
  g_string_append (header, "), }");
  while ((header->len + 11) % 64 != 0)
    g_string_append_c (header, ' ');
  g_string_append_c (header, '\n');

  start[8] = header->len & 0xff;
  start[9] = header->len >> 8;
  g_byte_array_append (bytes, start, sizeof start);
  g_byte_array_append (bytes, (const guint8 *) header->str, header->len);
  g_byte_array_append (bytes, lpt_tensor_data (tensor), lpt_tensor_size (tensor));

  return g_file_set_contents (path, (const char *) bytes->data, bytes->len, error);
}

static gboolean
run_graph (CaseGraph  *run,
           char      **specs,
           gboolean    reference,
           const char *folder,
           GError    **error)
{
  g_autoptr (GPtrArray) outputs = case_run (run, (const char *const *) specs, reference, error);

  for (guint i = 0; outputs != NULL && i < outputs->len; i++)
    if (!write_npy (folder, run->names->pdata[i], outputs->pdata[i], error))
      return FALSE;

  return outputs != NULL;
}

static gboolean
run_case (const char *path,
          char      **specs,
          gboolean    reference,
          const char *folder,
          GError    **error)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) case_graph_free);
  g_autofree char *text = NULL;
  cJSON *json;
  gboolean ok;

  if (!g_file_get_contents (path, &text, NULL, error))
    return FALSE;
  json = cJSON_Parse (text);
  if (json == NULL)
    return case_fail (error, "not a JSON file");

  ok = case_build (json, runs, error);
  for (guint i = 0; ok && i < runs->len; i++)
    ok = run_graph (runs->pdata[i], specs, reference, folder, error);
  cJSON_Delete (json);

  return ok;
}

int
main (int   argc,
      char *argv[])
{
  g_auto (GStrv) specs = NULL;
  g_auto (GStrv) files = NULL;
  g_autofree char *folder = NULL;
  gboolean reference = FALSE;
  const GOptionEntry entries[] =
  {
    { "requant", 0, 0, G_OPTION_ARG_STRING_ARRAY, &specs, "Requant mode, OP:MODE or node=NAME:MODE", "SPEC" },
    { "reference", 0, 0, G_OPTION_ARG_NONE, &reference, "Scalar, unfused", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &folder, "Folder of the outputs", "DIR" },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, "CASE.json" },
    { NULL }
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || files == NULL || files[1] != NULL || folder == NULL)
    {
      fprintf (stderr, "lpt-case: %s\n", error != NULL ? error->message : "CASE.json and -o DIR are needed");
      return 2;
    }

  if (g_mkdir_with_parents (folder, 0777) != 0)
    {
      fprintf (stderr, "lpt-case: %s: cannot be made\n", folder);
      return 1;
    }
  if (!run_case (files[0], specs, reference, folder, &error))
    {
      fprintf (stderr, "lpt-case: %s: %s\n", files[0], error->message);
      return 1;
    }

  return 0;
}
