/* structure-forms.c - a graph of fuzz-structure in each form, and back
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/structure.h"

#include <lpt/lpt.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-text.h>
#include <lpt/lpt-tflite.h>

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH 0.05         /* of the greatest number, for a difference that means something */

gsize
structure_first_graph (const char *data, gsize size)
{
  const char *line = size > 0 ? g_strstr_len (data, (gssize) size, "\n-----\n") : NULL;
  return line != NULL ? (gsize) (line - data) + 1 : size;
}

/* Weights for IRs, which have none with them: 0.5 wherever one looks. */
static GBytes *
weights (void)
{
  static float numbers[4096];
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = 0.5f;
  return g_bytes_new_static (numbers, sizeof numbers);
}

LptGraph *
structure_read (const char *data, gsize size, GError **error)
{
  g_autoptr (GBytes) bytes = weights ();
  if (size > 0 && data[0] == '<')
    return lpt_openvino_parse (data, size, bytes, "fuzz.xml", error);
  if (size > 0 && data[0] == '{' && g_strstr_len (data, (gssize) size, "\"" LPT_JSON_FORMAT "\"") != NULL)
    return lpt_json_parse (data, size, NULL, "fuzz.json", error);
  if (size > 0 && (data[0] == '{' || data[0] == '\x08'))
    return lpt_onnx_parse (data, size, NULL, error);
  return lpt_graph_from_text (data, (gssize) structure_first_graph (data, size), "fuzz.lpt", error);
}

static void
through_text (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO), *twice = NULL;
  g_autoptr (LptGraph) again = lpt_graph_from_text (text, -1, "again.lpt", &error);
  if (again == NULL && structure_is_limit (error))
    return;
  if (again == NULL)
    structure_fail (graph, "the text form is not read back", error->message);
  twice = lpt_graph_to_text (again, LPT_TEXT_RT_INFO);
  if (strcmp (text, twice) != 0)
    structure_fail (graph, "the text form is read back as another graph", twice);
}

static void
through_json (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *json = lpt_json_print (graph, &error);
  g_autoptr (LptGraph) again = json != NULL ? lpt_json_parse (json, strlen (json), NULL, "again.json", &error) : NULL;
  if (again == NULL && structure_is_limit (error))
    return;
  if (again == NULL)
    structure_fail (graph, json != NULL ? "the JSON form is not read back" : "the JSON form is not written",
                    error->message);
  g_autofree char *before = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO),
                  *after = lpt_graph_to_text (again, LPT_TEXT_RT_INFO);
  if (strcmp (before, after) != 0)
    structure_fail (graph, "the JSON form is read back as another graph", after);
}

/* The ONNX reader wants to know ranks. Lowered graphs take types in text that ONNX does not have there. */
static gboolean
has_unknown_rank (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      for (guint o = 0; o < node->n_out; o++)
        if (node->out[o].shape.rank == LPT_DYNAMIC)
          return TRUE;
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (has_unknown_rank (lpt_node_body (node, b)))
          return TRUE;
    }
  return FALSE;
}

static gboolean
has_integers (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = graph->nodes->pdata[i];
      for (guint o = 0; o < node->n_out; o++)
        if (node->out[o].quant != NULL)
          return TRUE;
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (has_integers (lpt_node_body (node, b)))
          return TRUE;
    }
  return graph->lowered;
}

/* Is a reference run of a form exact enough to be held against that of another? Neither rounds to f16. */
static gboolean
has_numbers (LptGraph *graph)
{
  return structure_is_plain (graph) && structure_is_static (graph);
}

static GPtrArray *
run_in_mode (LptGraph *source, const char *mode, LptGraph **graph)
{
  *graph = lpt_graph_copy (source);
  g_free ((*graph)->requant);
  (*graph)->requant = g_strdup (mode);
  return structure_run (*graph, NULL);
}

/* How far output @i of @again, a form that was read back, is from that of @graph where both compute in the arithmetic
 * of those who run the form, in that of the graph, or in LiteRT's: which way a tie goes, and which code stands for
 * NaN, the lowest one or the zero point, is a matter of it. At most @far. */
static double
distance_in_mode (LptGraph *graph, LptGraph *again, guint i, double far)
{
  const char *modes[] = { again->requant != NULL ? again->requant : "onnx",
                          graph->requant != NULL ? graph->requant : "single", "litert" };
  for (guint k = 0; k < G_N_ELEMENTS (modes) && far > ENOUGH; k++)
    {
      g_autoptr (LptGraph) own = NULL, other = NULL;
      g_autoptr (GPtrArray) before = run_in_mode (graph, modes[k], &own), after = run_in_mode (again, modes[k], &other);
      if (before != NULL && after != NULL)
        far = fmin (far, structure_distance (own, after, before, i, structure_step (own, i)));
    }
  return far;
}

/* Of the numbers that @source computes: is one that a FakeQuantize reads NaN, or, with @infinite, any one infinite? */
static gboolean
computes (LptGraph *source, gboolean infinite)
{
  g_autoptr (LptGraph) graph = lpt_graph_copy (source);
  const guint n = graph->nodes->len, from = graph->results->len;
  gboolean any = FALSE;
  for (guint i = 0; i < n; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      const gboolean asked = infinite || node->op == LPT_OP_FAKE_QUANTIZE;
      for (guint k = 0; asked && k < node->n_in && (node->flags & LPT_NODE_DEAD) == 0; k++)
        lpt_node_infer (lpt_graph_add (graph, LPT_OP_RESULT, 0, NULL, 1, &node->in[k].value), NULL);
    }
  g_autoptr (GPtrArray) outputs = structure_run (graph, NULL);
  for (guint i = from; outputs != NULL && i < outputs->len; i++)
    for (gint64 k = 0; k < lpt_tensor_count (outputs->pdata[i]); k++)
      {
        const double x = lpt_tensor_get_f64 (outputs->pdata[i], k);
        any = any || (infinite ? isinf (x) : isnan (x));
      }
  return any;
}

/* Are the numbers of a form those of its graph, but for what it has no means for? A NaN stays one in a FakeQuantize and
 * is no code; a sum of squares may overflow in single precision where one op computed it in double precision. */
static gboolean
has_means (LptGraph *graph, LptGraph *again)
{
  return !computes (graph, FALSE) && (computes (graph, TRUE) || !computes (again, TRUE));
}

/* What is read back computes what was written: real numbers but for what other ops round in other places, codes within
 * a few that lay at ties. */
static void
compare_numbers (LptGraph *graph, LptGraph *again, const char *form)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) before = NULL, after = NULL;
  if (!structure_does ("numbers") || !has_numbers (graph) || !structure_is_small (again) ||
      (before = structure_run (graph, NULL)) == NULL)
    return;
  after = structure_run (again, &error);
  if (after == NULL && structure_is_limit (error))
    return;
  if (after == NULL)
    structure_fail (graph, form, error->message);
  for (guint i = 0; i < before->len; i++)
    {
      LptTensor *a = before->pdata[i], *b = after->pdata[i];
      double far;
      if (!lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b)))
        structure_fail (graph, form, "an output of another shape");
      far = structure_distance (graph, after, before, i, structure_step (graph, i));
      far = distance_in_mode (graph, again, i, far);
      if (far > ENOUGH && has_means (graph, again))
        {
          g_autofree char *text = lpt_graph_to_text (again, LPT_TEXT_DEFAULT),
                          *why = g_strdup_printf ("output %u is %g of its size off:\n%s-----", i, far, text);
          structure_fail (graph, form, why);
        }
    }
}

/* The ONNX reader and the writer of .tflite fold, and find then what a run fails with: an axis that is computed and out
 * of range, or a loop without an end. They go through all nodes, and so all are run. */
static gboolean
fails_anyway (LptGraph *source)
{
  g_autoptr (LptGraph) graph = lpt_graph_copy (source);
  g_autoptr (GError) error = NULL;
  for (guint i = 0, n = graph->nodes->len; i < n; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      for (guint o = 0; node->data == NULL && o < node->n_out; o++)
        if (lpt_value_n_uses (&node->out[o]) == 0)
          lpt_node_infer (lpt_graph_add (graph, LPT_OP_RESULT, 0, NULL, 1, (LptValue *[]) { &node->out[o] }), NULL);
    }
  g_autoptr (GPtrArray) outputs = structure_run (graph, &error);
  return outputs == NULL;
}

/* Other forms say the same in other ops: what is written is read, with as many outputs of the same types, and computes
 * the same. TensorFlow Lite computes in single precision, which @single numbers become. */
static void
compare_outputs (LptGraph *graph, LptGraph *again, const char *form, gboolean single)
{
  if (again->results->len != graph->results->len)
    structure_fail (graph, form, "other outputs");
  compare_numbers (graph, again, form);
  /* Integer operators in another form are real; without a quantization their integers have no meaning there. */
  if (has_integers (graph))
    return;
  for (guint i = 0; i < graph->results->len; i++)
    {
      const LptValue *a = lpt_node_in (graph->results->pdata[i], 0), *b = lpt_node_in (again->results->pdata[i], 0);
      const LptDType wanted = single && lpt_dtype_is_real (a->dtype) ? LPT_DTYPE_F32 : a->dtype;
      if ((b->dtype != wanted || !lpt_shape_compatible (&a->shape, &b->shape)) && !fails_anyway (graph))
        {
          g_autofree char *before = lpt_shape_to_string (&a->shape), *after = lpt_shape_to_string (&b->shape);
          g_autofree char *why = g_strdup_printf ("output %u is %s[%s], not %s[%s]", i, lpt_dtype_name (b->dtype),
                                                  after, lpt_dtype_name (wanted), before);
          structure_fail (graph, form, why);
        }
    }
}

static void
through_onnx (LptGraph *graph, LptOnnxSaveFlags flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lpt_onnx_serialise (graph, flags, &error);
  if (bytes == NULL && !structure_is_limit (error) &&
      !g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED))
    structure_fail (graph, "ONNX is not written", error->message);
  if (bytes == NULL)
    return;
  g_autoptr (LptGraph) again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
  if (again == NULL && !structure_is_limit (error) && !has_unknown_rank (graph) && !has_integers (graph) &&
      !fails_anyway (graph))
    structure_fail (graph, "ONNX is not read back", error->message);
  if (again != NULL)
    compare_outputs (graph, again, "ONNX is read back with", FALSE);
}

/* Where IRs are written: in memory, where the system has such a folder. */
static const char *
folder (void)
{
  static char shared[] = "/dev/shm/lpt-fuzz-XXXXXX", *made;
  if (made == NULL && (made = g_mkdtemp (shared)) == NULL)
    made = g_dir_make_tmp ("lpt-fuzz-XXXXXX", NULL);
  g_assert_nonnull (made);
  return made;
}

static void
remove_folder (void)
{
  g_rmdir (folder ());
}

static void
through_xml (LptGraph *graph)
{
  if (has_integers (graph))
    return;
  g_autoptr (GError) error = NULL;
  static gsize once;
  if (g_once_init_enter (&once))
    {
      atexit (remove_folder);
      g_once_init_leave (&once, 1);
    }
  g_autofree char *xml = g_build_filename (folder (), "g.xml", NULL), *bin = lpt_openvino_bin_path (xml);
  g_autoptr (LptGraph) again = NULL;
  gboolean written = lpt_openvino_save (graph, xml, NULL, &error);
  if (written)
    again = lpt_openvino_load (xml, NULL, &error);
  g_unlink (xml);
  g_unlink (bin);
  if (again == NULL && !structure_is_limit (error) &&
      (written || !g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED)))
    structure_fail (graph, written ? "the IR is not read back" : "the IR is not written", error->message);
  if (again != NULL)
    compare_outputs (graph, again, "the IR is read back with", FALSE);
}

static void
through_tflite (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lpt_tflite_serialise (graph, 0, &error);
  if (bytes == NULL && !structure_is_limit (error) &&
      !g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED) && !fails_anyway (graph))
    structure_fail (graph, "a .tflite is not written", error->message);
  if (bytes == NULL)
    return;
  g_autoptr (LptGraph) again = lpt_tflite_parse (bytes, NULL, NULL, 0, &error);
  if (again == NULL && !structure_is_limit (error) && !fails_anyway (graph))
    structure_fail (graph, "the .tflite is not read back", error->message);
  if (again != NULL)
    compare_outputs (graph, again, "the .tflite is read back with", TRUE);
}

static void
through_qdq (LptGraph *graph)
{
  through_onnx (graph, 0);
}

static void
through_qoperator (LptGraph *graph)
{
  through_onnx (graph, LPT_ONNX_JSON | LPT_ONNX_QOPERATOR);
}

void
structure_through_forms (LptGraph *graph, guint draw)
{
  static const struct { const char *name; void (*go) (LptGraph *graph);
  } forms[] = {
    { "text", through_text }, { "json", through_json }, { "onnx", through_qdq }, { "onnx", through_qoperator },
    { "xml", through_xml }, { "tflite", through_tflite },
  };
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (structure_does (forms[i].name) && (!structure_draws () || i == draw % G_N_ELEMENTS (forms)))
      forms[i].go (graph);
}
