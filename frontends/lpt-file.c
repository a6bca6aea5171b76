/* lpt-file.c - which reader and which writer a file needs
 *
 * Readers look at the content, writers at the extension; a new form is a row below.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/signatures.h"
#include "ir/storage/lpt-map-file.h"

#include <lpt/lpt-file.h>
#include <lpt/lpt-json.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-out-file.h>
#include <lpt/lpt-text.h>
#include <lpt/lpt-tflite.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

/* --- reading --------------------------------------------------------------- */

/* How long the mark of UTF-8 is that a text may begin with. */
static gsize
bom_size (const char *text, gsize n)
{
  return n >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* The beginning of a file, as it is, and with white space skipped. */
typedef struct { const char *all; gsize all_size; const char *text; gsize size; } Head;

static gboolean
is_tflite (const Head *head)
{
  return head->all_size >= 8 && memcmp (head->all + 4, "TFL3", 4) == 0;
}

static gboolean
is_xml (const Head *head)
{
  return head->size > 0 && head->text[0] == '<';
}

/* An object that says so, in its first kilobytes. */
static gboolean
is_native_json (const Head *head)
{
  return head->size > 0 && head->text[0] == '{' &&
         g_strstr_len (head->text, (gssize) head->size, "\"" LPT_JSON_FORMAT "\"") != NULL;
}

/* Statements ("%x = ...", "Result(%x)", "graph ..."), or a comment. */
static gboolean
is_text (const Head *head)
{
  static const char *const starts[] = { "%", "#", "graph ", "Result(" };
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    if (head->size >= strlen (starts[i]) && strncmp (head->text, starts[i], strlen (starts[i])) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_other (const Head *head)
{
  return head->size > 0;
}

static LptGraph *
load_xml (const char *path, const LptLoadOptions *options, GError **error)
{
  return lpt_openvino_load (path, options->weights, error);
}

static LptGraph *
load_tflite (const char *path, const LptLoadOptions *options, GError **error)
{
  return lpt_tflite_load (path, options->signature, 0, error);
}

static LptGraph *
load_json (const char *path, const LptLoadOptions *options, GError **error)
{
  return lpt_json_load (path, error);
}

/* Either serialisation. */
static LptGraph *
load_onnx (const char *path, const LptLoadOptions *options, GError **error)
{
  return lpt_onnx_load_encoded (path, options->encodings, error);
}

static LptGraph *
load_text (const char *path, const LptLoadOptions *options, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autofree char *text = NULL;
  gsize length;
  if (g_file_get_contents (path, &text, &length, &cause))
    {
      const gsize skip = bom_size (text, length);
      return lpt_graph_from_text (text + skip, (gssize) (length - skip), path, error);
    }
  g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, cause->message);
  return NULL;
}

typedef LptGraph *(*Load) (const char *path, const LptLoadOptions *options, GError **error);

static const struct { gboolean (*is) (const Head *head); Load load; } readers[] = {
  { is_tflite, load_tflite },        /* before those that skip white space: its first bytes are a number */
  { is_xml, load_xml },
  { is_native_json, load_json },
  { is_text, load_text },
  { is_other, load_onnx },
};

/* Options are for one form of file: FALSE + error where one is given for another. */
static gboolean
takes_options (Load load, const char *path, const LptLoadOptions *options, GError **error)
{
  const struct { Load load; gboolean given; const char *what; } only[] = {
    { load_xml, options->weights != NULL, "is no OpenVINO IR: weights of its own are not for it" },
    { load_tflite, options->signature != NULL, "is no TensorFlow Lite model: it has no signatures" },
    { load_onnx, options->encodings != NULL, "is no ONNX model: encodings are not for it" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (only); i++)
    if (only[i].given && load != only[i].load)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: %s", path, only[i].what);
        return FALSE;
      }
  return TRUE;
}

/* "PATH: unsupported: this is ..." in place of what a reader said; does nothing for NULL. */
static gboolean
name_foreign (const char *path, const char *what, GError **error)
{
  if (what == NULL)
    return FALSE;
  g_clear_error (error);
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "%s: unsupported: %s", path, what);
  return TRUE;
}

LptGraph *
lpt_graph_load (const char *path, const LptLoadOptions *options, GError **error)
{
  static const LptLoadOptions none = { NULL };
  char buffer[LPT_HEAD_SIZE];
  FILE *file = g_fopen (path, "rb");
  gsize n = file != NULL ? fread (buffer, 1, sizeof buffer, file) : 0;
  gboolean bad = file == NULL || ferror (file);
  int code = errno;
  if (file != NULL)
    fclose (file);
  if (bad)
    {
      g_autofree char *folder = lpt_foreign_folder (path);
      if (!name_foreign (path, folder, error))
        g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, g_strerror (code));
      return NULL;
    }
  if (name_foreign (path, lpt_foreign_kind ((const guint8 *) buffer, n), error))
    return NULL;
  if (options == NULL)
    options = &none;
  Head head = { buffer, n, buffer, n };
  gsize skip = bom_size (buffer, n);
  while (skip < n && g_ascii_isspace (buffer[skip]))
    skip++;
  head.text += skip;
  head.size -= skip;
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    if (readers[i].is (&head))
      {
        if (!takes_options (readers[i].load, path, options, error))
          return NULL;
        LptGraph *graph = readers[i].load (path, options, error);
        g_autofree char *guess = graph == NULL && readers[i].is == is_other
                                     ? lpt_foreign_guess (path, (const guint8 *) buffer, n)
                                     : NULL;
        if (name_foreign (path, guess, error))
          return NULL;
        if (graph == NULL && error != NULL && *error != NULL && strstr ((*error)->message, path) == NULL)
          g_prefix_error (error, "%s: ", path);
        return graph;
      }
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: the file is empty", path);
  return NULL;
}

/* --- writing --------------------------------------------------------------- */

static gboolean
save_xml (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error)
{
  return lpt_openvino_save (graph, path, NULL, error);
}

static gboolean
save_json (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error)
{
  return lpt_json_save (graph, path, options->embed_weights, error);
}

static gboolean
save_text (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error)
{
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  return lpt_out_file_text (path, text, strlen (text), error);
}

static gboolean
save_dot (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error)
{
  g_autofree char *text = lpt_graph_to_dot (graph);
  return lpt_out_file_text (path, text, strlen (text), error);
}

/* A drawing, by the program dot. */
static gboolean
save_svg (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error)
{
  g_autofree char *text = lpt_graph_to_dot (graph), *temp = NULL, *svg = NULL;
  g_autoptr (GError) cause = NULL;
  gint fd = g_file_open_tmp ("lptc-XXXXXX.dot", &temp, &cause), status = 0;
  char *const command[] = { (char *) "dot", (char *) "-Tsvg", temp, NULL };
  gboolean ok = fd >= 0 && g_file_set_contents (temp, text, -1, &cause) &&
                g_spawn_sync (NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &svg, NULL, &status,
                              &cause) &&
                g_spawn_check_wait_status (status, &cause);
  if (fd >= 0)
    {
      g_close (fd, NULL);
      g_unlink (temp);
    }
  if (ok)
    return lpt_out_file_text (path, svg, strlen (svg), error);
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "%s: unsupported without the program dot (%s); write .dot",
               path, cause->message);
  return FALSE;
}

static LptOnnxSaveFlags
onnx_flags (const LptSaveOptions *options)
{
  return options->onnx_form != NULL && g_str_equal (options->onnx_form, "qoperator") ? LPT_ONNX_QOPERATOR : 0;
}

static gboolean
save_onnx (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error)
{
  return lpt_onnx_save (graph, path, onnx_flags (options), error);
}

static gboolean
save_onnx_json (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error)
{
  return lpt_onnx_save (graph, path, onnx_flags (options) | LPT_ONNX_JSON, error);
}

static gboolean
save_tflite (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error)
{
  return lpt_tflite_save (graph, path, 0, error);
}

static const struct
{
  const char *extension;
  const char *weights;        /* of the file beside it: an IR's (".bin"), or what is appended ("+.bin") */
  gboolean  (*save) (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error);
  const char *target;         /* of forms for lowered graphs */
} writers[] = {
  { ".xml",  ".bin",  save_xml },
  { ".json", "+.bin", save_json },
  { ".lpt",  NULL,    save_text },
  { ".dot",  NULL,    save_dot },
  { ".svg",  NULL,    save_svg },
  { ".onnx", NULL,    save_onnx },
  { ".onnx.json", NULL, save_onnx_json },
  { ".tflite", NULL, save_tflite, "litert" },
};

/* The row with the longest extension that @path ends with, or -1. */
static gint
writer_of (const char *path)
{
  gint best = -1;
  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    if (g_str_has_suffix (path, writers[i].extension) &&
        (best < 0 || strlen (writers[i].extension) > strlen (writers[best].extension)))
      best = (gint) i;
  return best;
}

gboolean
lpt_path_can_save (const char *path)
{
  return writer_of (path) >= 0;
}

const char *
lpt_path_save_target (const char *path)
{
  gint i = path != NULL ? writer_of (path) : -1;
  return i >= 0 ? writers[i].target : NULL;
}

char *
lpt_save_forms (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", writers[i].extension);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gboolean
lpt_graph_save (LptGraph *graph, const char *path, const LptSaveOptions *options, GError **error)
{
  static const LptSaveOptions none = { FALSE, NULL };
  gint i = writer_of (path);
  if (i >= 0)
    return writers[i].save (graph, path, options != NULL ? options : &none, error);
  g_autofree char *forms = lpt_save_forms ();
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "%s: unsupported: forms that are written end in %s", path,
               forms);
  return FALSE;
}

char *
lpt_path_weights_beside (const char *path)
{
  gint i = writer_of (path);
  const char *weights = i >= 0 ? writers[i].weights : NULL;
  if (weights == NULL)
    return NULL;
  if (weights[0] != '+')
    return lpt_openvino_bin_path (path);
  g_autofree char *real = lpt_path_behind_links (path);
  return g_strconcat (real != NULL ? real : path, weights + 1, NULL);
}
