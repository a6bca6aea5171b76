/* test-memory.c - every allocation whose size comes from a file fails once, and all from there on
 *
 * What is asked for is counted in a first run, whose result is kept. Then each run lacks one of the blocks, or all from
 * one on: it has to end in LPT_ERROR_MEMORY or in the same bytes. Sanitizers see the rest. Of many cases each lacks the
 * blocks that no case before it asked for at the same place, which the innermost callers name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <execinfo.h>
#include <string.h>

#include <glib/gstdio.h>
#include <lpt/lpt.h>

#include "ir/lpt-memory.h"
#include "quantize/quantizer.h"

#define SEPARATOR "\n-----\n"

/* So many callers make a place. LPT_TEST_NIGHTLY=1: each block is a place of its own. */
#define CALLERS 9

typedef struct { guint n, from, to; GArray *places; } Grant;

/* A number for who asks, behind grant() and what calls it. */
static guint64
place (void)
{
  void *frames[CALLERS + 2];
  guint64 hash = 0;

  for (int i = 2, n = backtrace (frames, CALLERS + 2); i < n; i++)
    hash = (hash ^ (guint64) (gsize) frames[i]) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return hash;
}

static gboolean
grant (gsize    size,
       gpointer data)
{
  Grant *g = data;

  if (g->places != NULL)
    {
      const guint64 asked = place ();

      g_array_append_val (g->places, asked);
    }

  return g->n++ < g->from || g->n > g->to;
}

/* What is to be the same (transfer full), or NULL + error. */
typedef GBytes *(*Work) (gconstpointer data, GError **error);

static GBytes *
attempt (Work          work,
         gconstpointer data,
         guint         from,
         guint         to,
         GArray       *places,
         GError      **error)
{
  g_autoptr (LptLimits) limits = lpt_limits_new ();
  Grant g = { 0, from, to, places };
  LptLimits *before;
  GBytes *bytes;

  lpt_limits_set_grant (limits, grant, &g);
  before = lpt_limits_set_thread (limits);
  bytes = work (data, error);
  lpt_limits_set_thread (before);
  g_assert_cmpuint (lpt_limits_memory (limits), ==, 0);

  return bytes;
}

/* Whether nobody asked at this place before. */
static gboolean
is_new (guint64 asked)
{
  static GHashTable *known;

  if (known == NULL)
    known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  return g_hash_table_add (known, g_memdup2 (&asked, sizeof asked));
}

static void
sweep (Work          work,
       gconstpointer data,
       const char   *what,
       gboolean      all)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GBytes) wanted = attempt (work, data, G_MAXUINT, G_MAXUINT, places, &error);

  all = all || g_getenv ("LPT_TEST_NIGHTLY") != NULL;
  if (wanted == NULL)
    return;       /* said elsewhere */
  for (guint k = 0; k < 2 * places->len; k++)
    {
      const guint at = k / 2;
      g_autoptr (GError) local = NULL;
      g_autoptr (GBytes) bytes = NULL;

      if (k % 2 == 0 && !is_new (g_array_index (places, guint64, at)) && !all)
        {
          k++;
          continue;
        }
      bytes = attempt (work, data, at, k % 2 == 0 ? at + 1 : G_MAXUINT, NULL, &local);
      if (bytes == NULL ? g_error_matches (local, LPT_ERROR, LPT_ERROR_MEMORY) : g_bytes_equal (bytes, wanted))
        continue;
      g_test_message ("%s: without block %u of %u%s: %s", what, at, places->len, k % 2 == 0 ? "" : " and all after it",
                      bytes != NULL ? "another result" : local != NULL ? local->message : "no error");
      g_test_fail ();
      return;
    }
}

/* --- what runs -------------------------------------------------------------- */

/* Outputs of @graph on zeros, after the text. */
static gboolean
run (LptGraph   *graph,
     GByteArray *out,
     GError    **error)
{
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, error) : NULL;
  guint i;

  if (context == NULL)
    return FALSE;
  for (i = 0; i < lpt_plan_n_inputs (plan); i++)
    {
      g_autoptr (LptTensor) zeros = lpt_tensor_new (lpt_plan_input_dtype (plan, i), lpt_plan_input_shape (plan, i),
                                                    error);

      if (zeros == NULL || !lpt_plan_context_set_input (context, i, zeros, error))
        return FALSE;
    }
  if (!lpt_plan_run (plan, context, error))
    return FALSE;
  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    {
      g_autoptr (LptTensor) result = lpt_plan_context_output (context, i, error);

      if (result == NULL)
        return FALSE;
      g_byte_array_append (out, lpt_tensor_data (result), (guint) lpt_tensor_size (result));
    }

  return TRUE;
}

/* Transformed and lowered, as text, then run where its shapes are known. */
static GBytes *
transform_and_run (LptGraph   *graph,
                   const char *target,
                   GError    **error)
{
  g_autoptr (LptConfig) config = target != NULL ? lpt_config_new_target (target, error) : lpt_config_new ();
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autofree char *text = NULL;
  gboolean known = TRUE;
  guint i;

  if (config == NULL || (!graph->lowered && !lpt_pipeline_run (graph, config, NULL, NULL, error)))
    return NULL;
  text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_byte_array_append (out, (const guint8 *) text, (guint) strlen (text));
  for (i = 0; i < graph->parameters->len; i++)
    known = known && lpt_shape_is_static (&lpt_node_out (g_ptr_array_index (graph->parameters, i))->shape);
  if (known && graph->results->len > 0 && !run (graph, out, error))
    return NULL;

  return g_byte_array_free_to_bytes (g_steal_pointer (&out));
}

static GBytes *
work_text (gconstpointer data,
           GError      **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_from_text (data, -1, "golden.lpt", error);

  return graph != NULL ? transform_and_run (graph, NULL, error) : NULL;
}

/* As native takes it, whose products quantize their data. */
static GBytes *
work_native (gconstpointer data,
             GError      **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_from_text (data, -1, "golden.lpt", error);

  return graph != NULL ? transform_and_run (graph, "native", error) : NULL;
}

/* As LiteRT takes it, which has demands on codes. */
static GBytes *
work_litert (gconstpointer data,
             GError      **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_from_text (data, -1, "golden.lpt", error);

  return graph != NULL ? transform_and_run (graph, "litert", error) : NULL;
}

static GBytes *
text_of (LptGraph *graph)
{
  char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);

  return g_bytes_new_take (text, strlen (text));
}

/* What is lowered as real ops again. */
static GBytes *
work_raised (gconstpointer data,
             GError      **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_from_text (data, -1, "golden.lpt", error);
  g_autoptr (LptConfig) config = lpt_config_new ();

  config->until = LPT_STAGE_RAISE;
  if (graph == NULL || !graph->lowered || !lpt_pipeline_run (graph, config, NULL, NULL, error))
    return NULL;

  return text_of (graph);
}

/* As the quantizer takes it: what stands behind products is in their constants. */
static GBytes *
work_prepared (gconstpointer data,
               GError      **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_from_text (data, -1, "absorb.lpt", error);

  return graph != NULL && lpt_quantize_prepare (graph, error) ? text_of (graph) : NULL;
}

/* @func gets each file below tests/@folder. */
static void
each_file (const char *folder,
           void (*func) (const char *path))
{
  g_autofree char *path = g_build_filename (LPT_SOURCE_DIR, "tests", folder, NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *below = g_build_filename (folder, name, NULL), *full = g_build_filename (path, name, NULL);

      if (g_file_test (full, G_FILE_TEST_IS_DIR))
        each_file (below, func);
      else
        func (full);
    }
}

static void
sweep_golden (const char *path)
{
  g_autofree char *text = NULL;
  char *split;

  if (!g_str_has_suffix (path, ".lpt") || !g_file_get_contents (path, &text, NULL, NULL))
    return;
  split = strstr (text, SEPARATOR);
  if (split != NULL)
    *split = '\0';
  sweep (work_text, text, path, FALSE);
  sweep (work_native, text, path, FALSE);
  sweep (work_litert, text, path, FALSE);
  sweep (work_raised, text, path, FALSE);
}

/* The graphs of all golden files: what passes do with constants. */
static void
test_golden (void)
{
  each_file ("golden", sweep_golden);
}

/* Appends what was written; FALSE + error: for lack of memory. What a format has not is said elsewhere. */
static gboolean
append (GByteArray *out,
        GBytes     *bytes,
        GError     *local,
        GError    **error)
{
  if (bytes != NULL)
    g_byte_array_append (out, g_bytes_get_data (bytes, NULL), (guint) g_bytes_get_size (bytes));
  g_clear_pointer (&bytes, g_bytes_unref);
  if (g_error_matches (local, LPT_ERROR, LPT_ERROR_MEMORY))
    {
      g_propagate_error (error, local);
      return FALSE;
    }
  g_clear_error (&local);

  return TRUE;
}

/* A file of any form, and what it is in the others. */
static GBytes *
work_file (gconstpointer data,
           GError      **error)
{
  static const guint8 zeros[4096];
  g_autoptr (GBytes) weights = g_bytes_new_static (zeros, sizeof zeros);
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autofree char *text = NULL, *content = NULL;
  g_autoptr (LptGraph) graph = NULL;
  GError *local = NULL;
  GBytes *bytes;
  gsize size;

  if (!g_file_get_contents (data, &content, &size, NULL))
    return NULL;
  graph = g_str_has_suffix (data, ".xml") ? lpt_openvino_parse (content, size, weights, "corpus.xml", error)
                                          : lpt_graph_load (data, NULL, error);
  if (graph == NULL)
    return NULL;
  text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_byte_array_append (out, (const guint8 *) text, (guint) strlen (text));
  bytes = lpt_onnx_serialise (graph, 0, &local);
  if (!append (out, bytes, g_steal_pointer (&local), error))
    return NULL;
  bytes = lpt_tflite_serialise (graph, LPT_TFLITE_ANEW, &local);
  if (!append (out, bytes, g_steal_pointer (&local), error))
    return NULL;

  return g_byte_array_free_to_bytes (g_steal_pointer (&out));
}

static void
sweep_file (const char *path)
{
  sweep (work_file, path, path, FALSE);
}

/* The seeds of fuzzing and the graphs that are written: what readers and writers do with constants. */
static void
test_files (void)
{
  each_file ("fuzz/corpus", sweep_file);
  each_file ("written", sweep_file);
}

static GBytes *
work_digits (gconstpointer data,
             GError      **error)
{
  g_autoptr (LptGraph) graph = lpt_openvino_load (LPT_SOURCE_DIR "/models/digits.xml", NULL, error);

  return graph != NULL ? transform_and_run (graph, NULL, error) : NULL;
}

static void
test_digits (void)
{
  sweep (work_digits, NULL, "digits.xml", TRUE);
}

/* 128 channels: a bias, a factor, a normalization behind a convolution. */
static void
test_absorb (void)
{
  g_autoptr (GString) numbers = g_string_new (NULL);
  g_autofree char *text = NULL;

  for (guint i = 0; i < 128; i++)
    g_string_append_printf (numbers, "%s%u", i > 0 ? "," : "", i + 1);
  text = g_strdup_printf ("%%x = Parameter : f32[1,1,2,2]\n%%w = Const {%s} : f32[128,1,1,1]\n"
                          "%%y = Convolution(%%x, %%w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], "
                          "dilations=[1,1]}\n"
                          "%%b = Const {%s} : f32[1,128,1,1]\n%%a = Add(%%y, %%b)\n%%m = Multiply(%%a, %%b)\n"
                          "%%v = Const {%s} : f32[128]\n"
                          "%%n = BatchNormInference(%%m, %%v, %%v, %%v, %%v) {epsilon=1}\nResult(%%n)\n",
                          numbers->str, numbers->str, numbers->str);
  sweep (work_prepared, text, "absorb.lpt", TRUE);
}

/* A loop over a product with weights, quantized: as ONNX. */
static const char loop_text[] =
    "%%n = Const {3} : i64[]\n%%go = Const {true} : boolean[]\n%%x = Parameter : f32[4,32]\n"
    "%%l = Loop(%%n, %%go, %%x) : f32[4,32], f32[?,32] {\n  body {\n    in 2 -> 0\n    out _ <- 0 condition\n    out 0 "
    "<- 1\n    out 1 <- 1 axis=0\n"
    "    back 1 -> 0\n    %%y = Parameter : f32[4,32]\n    %%t = Const {true} : boolean[]\n"
    "    %%l0 = Const {0} : f32[]\n    %%h0 = Const {2.55} : f32[]\n    %%q = FakeQuantize(%%y, %%l0, %%h0, %%l0, "
    "%%h0) {levels=256}\n"
    "    %%w = Const {%s} : f32[32,32]\n    %%l1 = Const {-1.27} : f32[]\n    %%h1 = Const {1.27} : f32[]\n"
    "    %%wq = FakeQuantize(%%w, %%l1, %%h1, %%l1, %%h1) {levels=255}\n    %%m = MatMul(%%q, %%wq)\n"
    "    Result(%%t)\n    Result(%%m)\n  }\n}\nResult(%%l)\nResult(%%l.1)\n";

static GBytes *
work_onnx (gconstpointer data,
           GError      **error)
{
  const GBytes *const *bytes = data;
  gsize size;
  gconstpointer content = g_bytes_get_data ((GBytes *) *bytes, &size);
  g_autoptr (LptGraph) graph = lpt_onnx_parse (content, size, NULL, error);

  return graph != NULL ? transform_and_run (graph, NULL, error) : NULL;
}

static void
test_loop (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) numbers = g_string_new (NULL);
  g_autofree char *text = NULL;
  g_autoptr (LptGraph) graph = NULL;
  g_autoptr (GBytes) bytes = NULL;
  guint i;

  for (i = 0; i < 1024; i++)
    g_string_append_printf (numbers, "%s%d.%02d", i > 0 ? "," : "", 0, (i * 37) % 100);
  text = g_strdup_printf (loop_text, numbers->str);
  graph = lpt_graph_from_text (text, -1, "loop.lpt", &error);
  g_assert_no_error (error);
  bytes = lpt_onnx_serialise (graph, 0, &error);
  g_assert_no_error (error);
  sweep (work_onnx, &bytes, "loop.onnx", TRUE);
}

/* --- writers ---------------------------------------------------------------- */

static char *scratch;

/* The files of each form, one after the other; nothing is left of one that is not whole. */
static GBytes *
work_write (gconstpointer data,
            GError      **error)
{
  static const char *const names[] = { "o.xml", "o.json", "o.onnx" };
  g_autoptr (GByteArray) out = g_byte_array_new ();
  g_autoptr (LptGraph) graph = lpt_openvino_load (LPT_SOURCE_DIR "/models/digits.xml", NULL, error);
  g_autoptr (LptConfig) config = lpt_config_new ();
  gboolean ok;
  guint i;

  config->until = LPT_STAGE_CLEANUP;
  ok = graph != NULL && lpt_pipeline_run (graph, config, NULL, NULL, error);
  for (i = 0; i < G_N_ELEMENTS (names) && ok; i++)
    {
      g_autofree char *path = g_build_filename (scratch, names[i], NULL), *text = NULL;
      gsize length;

      ok = i == 0 ? lpt_openvino_save (graph, path, NULL, error) : i == 1 ? lpt_json_save (graph, path, FALSE, error)
                                                                           : lpt_onnx_save (graph, path, 0, error);
      if (!ok)
        g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
      else if (g_file_get_contents (path, &text, &length, error))
        g_byte_array_append (out, (const guint8 *) text, (guint) length);
    }
  {
    g_autoptr (GDir) dir = g_dir_open (scratch, 0, NULL);
    const char *name;

    while ((name = g_dir_read_name (dir)) != NULL)
      {
        g_autofree char *path = g_build_filename (scratch, name, NULL);

        g_assert_false (g_str_has_suffix (name, ".tmp"));
        g_unlink (path);
      }
  }

  return ok ? g_byte_array_free_to_bytes (g_steal_pointer (&out)) : NULL;
}

static void
test_write (void)
{
  sweep (work_write, NULL, "writing digits.xml", FALSE);
}

/* --- limits ----------------------------------------------------------------- */

static gboolean
stop (gpointer data)
{
  guint *left = data;

  return (*left)-- == 0;
}

/* The interrupt ends a loop, a transformation and a run. */
static void
test_interrupt (void)
{
  guint n;

  for (n = 0; n < 8; n++)
    {
      g_autoptr (LptLimits) limits = lpt_limits_new ();
      g_autoptr (GError) error = NULL;
      guint left = n;
      g_autoptr (GBytes) bytes = NULL;

      lpt_limits_set_interrupt (limits, stop, &left);
      lpt_limits_set_thread (limits);
      bytes = work_digits (NULL, &error);
      lpt_limits_set_thread (NULL);
      g_assert_null (bytes);
      g_assert_error (error, LPT_ERROR, LPT_ERROR_LIMIT);
    }
}

/* Memory that is in use counts, and comes back. */
static void
test_count (void)
{
  g_autoptr (LptLimits) limits = lpt_limits_new ();
  g_autoptr (GError) error = NULL;
  LptShape shape = lpt_shape_make (1, (gint64[]) { 1000 });
  LptTensor *one, *two;

  g_assert_cmpuint (lpt_limits_max_memory (limits), >, 0);
  lpt_limits_set_max_memory (limits, 10000);
  lpt_limits_set_thread (limits);
  one = lpt_tensor_new (LPT_DTYPE_F32, &shape, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (lpt_limits_memory (limits), >=, 4000);
  two = lpt_tensor_new (LPT_DTYPE_F64, &shape, &error);
  g_assert_null (two);
  g_assert_error (error, LPT_ERROR, LPT_ERROR_MEMORY);
  lpt_tensor_unref (one);
  g_assert_cmpuint (lpt_limits_memory (limits), ==, 0);
  lpt_limits_set_thread (NULL);
}

int
main (int    argc,
      char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-memory-XXXXXX", NULL);
  g_test_add_func ("/memory/count", test_count);
  g_test_add_func ("/memory/interrupt", test_interrupt);
  g_test_add_func ("/memory/digits", test_digits);
  g_test_add_func ("/memory/absorb", test_absorb);
  g_test_add_func ("/memory/loop", test_loop);
  g_test_add_func ("/memory/write", test_write);
  g_test_add_func ("/memory/golden", test_golden);
  g_test_add_func ("/memory/files", test_files);
  code = g_test_run ();
  g_rmdir (scratch);
  g_free (scratch);

  return code;
}
