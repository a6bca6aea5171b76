/* fuzz-structure.c - graphs that stay graphs when they change: everything that handles one, from file to file
 *
 * A graph in any form is written in each and read back; run by the reference and, at every level of the processor, by
 * the fast program, which must agree; transformed as by transform --verify; and the lowered graph goes the same way.
 * The mutator changes the text form by statements (mutate.h); inputs in another form become text first.
 *
 * LPT_FUZZ_SKIP: names of checks that are left out, with commas (verify, onnx, xml, json, text, levels).
 * LPT_FUZZ_COUNTS: says at the end how many inputs were graphs, ran, and were transformed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/jitter.h"
#include "tests/fuzz/mutate.h"

#include <lpt/lpt-cpu.h>
#include "ir/lpt-check.h"

#include <lpt/lpt.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-text.h>

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SIZE     65536
#define MAX_ELEMENTS (1 << 16)     /* of a value */
#define MAX_MACS     (1 << 22)     /* of a run */
#define MAX_MEMORY   (64 << 20)
#define MAX_TRIPS    256
#define MAX_VALUE    1e6           /* beyond, differences of large numbers are what is compared */
#define MIN_VALUE    1e-5          /* below, what rounding leaves of a zero */
#define MAX_ASKED    200000        /* rewrites, ops and trips of one input together */

static struct { guint64 inputs, graphs, ran, transformed; } counts;
static guint asked;
static char *folder;
static LptLimits *limits;

static gboolean
has_had_enough (gpointer data)
{
  return ++asked > MAX_ASKED;
}

static void
finish (void)
{
  g_rmdir (folder);
  if (g_getenv ("LPT_FUZZ_COUNTS") != NULL)
    g_printerr ("%" G_GUINT64_FORMAT " inputs, %" G_GUINT64_FORMAT " graphs, %" G_GUINT64_FORMAT
                " ran, %" G_GUINT64_FORMAT " were transformed\n",
                counts.inputs, counts.graphs, counts.ran, counts.transformed);
}

static void
start (void)
{
  if (limits == NULL)
    {
      g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
      limits = lpt_limits_new ();
      lpt_limits_set_max_memory (limits, MAX_MEMORY);
      lpt_limits_set_max_trips (limits, MAX_TRIPS);
      lpt_limits_set_interrupt (limits, has_had_enough, NULL);
      folder = g_dir_make_tmp ("lpt-fuzz-XXXXXX", NULL);
      g_assert_nonnull (folder);
      atexit (finish);
    }
  lpt_limits_set_thread (limits);
  asked = 0;
}

static gboolean
does (const char *check)
{
  const char *skip = g_getenv ("LPT_FUZZ_SKIP");
  return skip == NULL || strstr (skip, check) == NULL;
}

/* --- reading and writing --------------------------------------------------- */

/* Of a golden file (graph, line, graph) the first one. */
static gsize
first_graph (const char *data, gsize size)
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

static LptGraph *
read_graph (const char *data, gsize size, GError **error)
{
  g_autoptr (GBytes) bytes = weights ();
  if (size > 0 && data[0] == '<')
    return lpt_openvino_parse (data, size, bytes, "fuzz.xml", error);
  if (size > 0 && data[0] == '{' && g_strstr_len (data, (gssize) size, "\"" LPT_JSON_FORMAT "\"") != NULL)
    return lpt_json_parse (data, size, NULL, "fuzz.json", error);
  if (size > 0 && (data[0] == '{' || data[0] == '\x08'))
    return lpt_onnx_parse (data, size, NULL, error);
  return lpt_graph_from_text (data, (gssize) first_graph (data, size), "fuzz.lpt", error);
}

static gboolean
is_limit (const GError *error)
{
  return g_error_matches (error, LPT_ERROR, LPT_ERROR_MEMORY) || g_error_matches (error, LPT_ERROR, LPT_ERROR_LIMIT);
}

static void
fail (LptGraph *graph, const char *what, const char *why)
{
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_printerr ("%s: %s\n%s", what, why, text);
  abort ();       /* not g_error(): libFuzzer keeps no input for a breakpoint */
}

static void
through_text (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO), *twice = NULL;
  g_autoptr (LptGraph) again = lpt_graph_from_text (text, -1, "again.lpt", &error);
  if (again == NULL && is_limit (error))
    return;
  if (again == NULL)
    fail (graph, "the text form is not read back", error->message);
  twice = lpt_graph_to_text (again, LPT_TEXT_RT_INFO);
  if (strcmp (text, twice) != 0)
    fail (graph, "the text form is read back as another graph", twice);
}

static void
through_json (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *json = lpt_json_print (graph, &error);
  g_autoptr (LptGraph) again = json != NULL ? lpt_json_parse (json, strlen (json), NULL, "again.json", &error) : NULL;
  if (again == NULL && is_limit (error))
    return;
  if (again == NULL)
    fail (graph, json != NULL ? "the JSON form is not read back" : "the JSON form is not written", error->message);
  g_autofree char *before = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO),
                  *after = lpt_graph_to_text (again, LPT_TEXT_RT_INFO);
  if (strcmp (before, after) != 0)
    fail (graph, "the JSON form is read back as another graph", after);
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

/* Other forms say the same in other ops: what is written is read, with as many outputs of the same types. */
static void
compare_outputs (LptGraph *graph, LptGraph *again, const char *form)
{
  if (again->results->len != graph->results->len)
    fail (graph, form, "other outputs");
  /* Integer operators in another form are real; without a quantization their integers have no meaning there. */
  if (has_integers (graph))
    return;
  for (guint i = 0; i < graph->results->len; i++)
    {
      const LptValue *a = lpt_node_in (graph->results->pdata[i], 0), *b = lpt_node_in (again->results->pdata[i], 0);
      if (a->dtype != b->dtype || !lpt_shape_compatible (&a->shape, &b->shape))
        fail (graph, form, "an output of another type or shape");
    }
}

static GPtrArray *run (LptGraph *graph, guint flags, guint threads, GError **error);

/* The ONNX reader folds while it reads, and finds then what a run fails with: an axis that is computed and out of
 * range.
 * It reads all nodes, and so all are run. */
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
  g_autoptr (GPtrArray) outputs = run (graph, LPT_PLAN_REFERENCE, 1, &error);
  return outputs == NULL && !is_limit (error);
}

static void
through_onnx (LptGraph *graph, LptOnnxSaveFlags flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lpt_onnx_serialise (graph, flags, &error);
  if (bytes == NULL && !is_limit (error) && !g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED))
    fail (graph, "ONNX is not written", error->message);
  if (bytes == NULL)
    return;
  g_autoptr (LptGraph) again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
  if (again == NULL && !is_limit (error) && !has_unknown_rank (graph) && !has_integers (graph) && !fails_anyway (graph))
    fail (graph, "ONNX is not read back", error->message);
  if (again != NULL)
    compare_outputs (graph, again, "ONNX is read back with");
}

static void
through_xml (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *xml = g_build_filename (folder, "g.xml", NULL), *bin = lpt_openvino_bin_path (xml);
  g_autoptr (LptGraph) again = NULL;
  gboolean written = lpt_openvino_save (graph, xml, NULL, &error);
  if (written)
    again = lpt_openvino_load (xml, NULL, &error);
  g_unlink (xml);
  g_unlink (bin);
  if (again == NULL && !is_limit (error) && (written || !g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED)))
    fail (graph, written ? "the IR is not read back" : "the IR is not written", error->message);
  if (again != NULL)
    compare_outputs (graph, again, "the IR is read back with");
}

static void
through_forms (LptGraph *graph)
{
  if (does ("text"))
    through_text (graph);
  if (does ("json"))
    through_json (graph);
  if (does ("onnx"))
    {
      through_onnx (graph, 0);
      through_onnx (graph, LPT_ONNX_JSON | LPT_ONNX_QOPERATOR);
    }
  if (does ("xml") && !has_integers (graph))
    through_xml (graph);
}

/* --- running --------------------------------------------------------------- */

/* Static, and cheap enough to run some dozen times. */
static gboolean
is_small (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (!is_small (lpt_node_body (node, b)))
          return FALSE;
      for (guint o = 0; o < node->n_out; o++)
        {
          gint64 count = 0;
          if (lpt_shape_is_static (&node->out[o].shape) &&
              (!lpt_shape_count (&node->out[o].shape, &count) || count > MAX_ELEMENTS))
            return FALSE;
        }
    }
  return TRUE;
}

static LptTensor *
draw_input (const LptPlan *plan, guint i, GError **error)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (i + 1);
  const LptShape *shape = lpt_plan_input_shape (plan, i);
  LptDType dtype = lpt_plan_input_dtype (plan, i);
  gint64 count = 0;
  if (!lpt_shape_count (shape, &count) || count > MAX_ELEMENTS)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_MEMORY, "an input of %" G_GINT64_FORMAT " elements", count);
      return NULL;
    }
  g_autofree double *values = g_new (double, (gsize) count + 1);
  for (gint64 k = 0; k < count; k++)
    values[k] = dtype == LPT_DTYPE_BOOL ? g_rand_boolean (rand)
                : lpt_dtype_is_real (dtype) ? g_rand_int_range (rand, -512, 512) / 128.0
                : g_rand_int_range (rand, (gint32) MAX (lpt_dtype_min (dtype), -100), 8);
  return lpt_tensor_from_f64 (dtype, shape, values, error);
}

static GPtrArray *
run (LptGraph *graph, guint flags, guint threads, GError **error)
{
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, flags, error);
  if (plan == NULL)
    return NULL;
  if (lpt_plan_macs (plan) > MAX_MACS)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_MEMORY, "too many products");
      return NULL;
    }
  g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, threads, error);
  g_autoptr (GPtrArray) outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  if (context == NULL)
    return NULL;
  for (guint i = 0; i < lpt_plan_n_inputs (plan); i++)
    {
      g_autoptr (LptTensor) input = draw_input (plan, i, error);
      if (input == NULL || !lpt_plan_context_set_input (context, i, input, error))
        return NULL;
    }
  if (!lpt_plan_run (plan, context, error))
    return NULL;
  for (guint i = 0; i < lpt_plan_n_outputs (plan); i++)
    {
      LptTensor *tensor = lpt_plan_context_output (context, i, error);
      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (outputs, tensor);
    }
  return g_steal_pointer (&outputs);
}

static gboolean
reads_codes (LptNode *node)
{
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && lpt_node_in (node, i)->quant != NULL)
      return TRUE;
  return FALSE;
}

/* Is everything in f32, and in integers that are none of the real ops' results, nor the numbers behind codes? A
 * reference run does not round. */
static gboolean
is_plain (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      if (lpt_node_n_bodies (node) > 0)
        return FALSE;
      for (guint o = 0; o < node->n_out; o++)
        {
          LptDType dtype = node->out[o].dtype;
          gboolean computed = node->data == NULL &&
                              ((node->info->flags & (LPT_OP_F_COMPUTE | LPT_OP_F_ELEMENTWISE)) != 0 ||
                               reads_codes (node));
          if ((lpt_dtype_is_real (dtype) && dtype != LPT_DTYPE_F32)
              || (computed && lpt_dtype_is_integer (dtype) && node->out[o].quant == NULL))
            return FALSE;
        }
    }
  return TRUE;
}

static void
compare_runs (LptGraph *graph, GPtrArray *plain, GPtrArray *fast, const char *level)
{
  for (guint i = 0; i < plain->len; i++)
    {
      LptTensor *a = plain->pdata[i], *b = fast->pdata[i];
      if (!lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b)))
        fail (graph, level, "an output of another shape");
      for (gint64 k = 0; k < lpt_tensor_count (a); k++)
        {
          double x = lpt_tensor_get_f64 (a, k), y = lpt_tensor_get_f64 (b, k);
          if (x != y && !(isnan (x) && isnan (y)))
            {
              g_autofree char *why = g_strdup_printf ("output %u, element %" G_GINT64_FORMAT ": %.9g instead of %.9g",
                                                      i, k, y, x);
              fail (graph, level, why);
            }
        }
    }
}

/* The reference, and the fast program at each level that differs from the one before. */
static gboolean
through_levels (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plain = run (graph, LPT_PLAN_REFERENCE, 1, &error);
  gboolean same = is_plain (graph);
  LptCpu last = 0;
  for (guint level = 0; does ("levels") && lpt_cpu_level_at (level) != NULL; level++)
    {
      const char *name = lpt_cpu_level_at (level);
      LptCpu cpu = lpt_cpu_detect ();
      lpt_cpu_limit (&cpu, name);
      if (level > 0 && cpu == last)
        continue;
      last = cpu;
      g_clear_error (&error);
      g_setenv ("LPT_CPU", name, TRUE);
      g_autoptr (GPtrArray) fast = run (graph, 0, 1 + level % 2, &error);
      g_unsetenv ("LPT_CPU");
      if (plain != NULL && fast == NULL && !is_limit (error))
        fail (graph, name, error->message);
      if (plain != NULL && fast != NULL && same)
        compare_runs (graph, plain, fast, name);
    }
  return plain != NULL;
}

/* --- the whole ------------------------------------------------------------- */

typedef struct
{
  LptGraph  *source, *graph;
  GPtrArray *before;
  gboolean   plain;
} Verify;

/* How far @b is from @a: the mean difference in parts of the greatest number; 0 where there is little to compare. */
static double
distance (LptTensor *a, LptTensor *b)
{
  double scale = MIN_VALUE, sum = 0;
  gint64 n = 0;
  for (gint64 k = 0; k < lpt_tensor_count (a); k++)
    {
      double x = lpt_tensor_get_f64 (a, k), y = lpt_tensor_get_f64 (b, k);
      if (!isfinite (x) || !isfinite (y) || fabs (x) > MAX_VALUE)
        continue;
      scale = fmax (scale, fmax (fabs (x), fabs (y)));
      sum += fabs (x - y);
      n++;
    }
  return n > 4 ? sum / (scale * (double) n) : 0;
}

/* Does output @i change as well when all numbers of the graph are off by some last bits? */
static gboolean
jumps (LptGraph *graph, GPtrArray *outputs, guint i)
{
  for (guint draw = 0; draw < JITTER_DRAWS; draw++)
    {
      g_autoptr (LptGraph) moved = jitter_graph (graph, draw);
      g_autoptr (GPtrArray) other = moved != NULL ? run (moved, LPT_PLAN_REFERENCE, 1, NULL) : NULL;
      LptTensor *a = outputs->pdata[i], *b = other != NULL ? other->pdata[i] : NULL;
      if (b == NULL || !lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b)) || distance (a, b) > 0.05)
        return TRUE;
    }
  return FALSE;
}

/* What --verify holds the exact passes to, with room: drawn graphs have ties of roundings, and steps behind them. */
static void
compare_step (Verify *verify, const LptPass *pass, GPtrArray *after)
{
  for (guint i = 0; i < after->len; i++)
    {
      LptTensor *a = verify->before->pdata[i], *b = after->pdata[i];
      if (!lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b)))
        {
          /* How many elements are not 0, say, is a question of the last bit. */
          if (!lpt_shape_is_static (&lpt_node_in (g_ptr_array_index (verify->source->results, i), 0)->shape))
            continue;
          fail (verify->source, pass->name, "changed the shape of an output");
        }
      if (verify->plain && pass->exactness <= LPT_EXACT_REAL && distance (a, b) > 0.2 &&
          !jumps (verify->graph, after, i))
        fail (verify->source, pass->name, "changed the values of an output");
    }
}

static gboolean
verify_step (const LptPass *pass, LptGraph *graph, LptNode *node, gpointer data, GError **error)
{
  Verify *verify = data;
  GPtrArray *after;
  /* A body: seen with the next change of the graph around it. */
  if (graph != verify->graph)
    return TRUE;
  after = run (graph, LPT_PLAN_REFERENCE, 1, error);
  if (after == NULL && !is_limit (*error))
    fail (verify->source, pass->name, (*error)->message);
  if (after == NULL)
    return FALSE;
  compare_step (verify, pass, after);
  g_ptr_array_unref (verify->before);
  verify->before = after;
  return TRUE;
}

static void
transform (LptGraph *source, gboolean runs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_copy (source);
  g_autoptr (LptConfig) config = lpt_config_new ();
  Verify verify = { .source = source, .graph = graph, .plain = is_plain (source) };
  const LptObserver observer = { verify_step, &verify };
  gboolean ok;
  if (runs && does ("verify"))
    verify.before = run (graph, LPT_PLAN_REFERENCE, 1, NULL);
  ok = lpt_pipeline_run (graph, config, NULL, verify.before != NULL ? &observer : NULL, &error);
  g_clear_pointer (&verify.before, g_ptr_array_unref);
  if (!ok)
    return;
  if (!lpt_graph_validate (graph, &error))
    fail (source, "the result is not valid", error->message);
  counts.transformed++;
  through_forms (graph);
  if (!through_levels (graph) && runs && asked < MAX_ASKED)
    {
      g_autoptr (GPtrArray) outputs = run (graph, LPT_PLAN_REFERENCE, 1, &error);
      if (outputs == NULL && error != NULL && !is_limit (error))
        fail (source, "the result does not run", error->message);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  start ();
  counts.inputs++;
  if (size > MAX_SIZE)
    return 0;
  g_autoptr (LptGraph) graph = read_graph ((const char *) data, size, &error);
  g_assert ((graph == NULL) == (error != NULL));
  if (graph == NULL || graph->results->len == 0 || !lpt_graph_check_scales (graph, NULL) || !is_small (graph))
    return 0;
  counts.graphs++;
  through_forms (graph);
  gboolean runs = through_levels (graph);
  counts.ran += runs;
  if (!graph->lowered)
    transform (graph, runs);
  return 0;
}

/* --- mutators -------------------------------------------------------------- */

/* The text form of an input (transfer full): what reads in another form is printed. */
static char *
text_of (const uint8_t *data, size_t size)
{
  if (size > 0 && (data[0] == '<' || data[0] == '{' || data[0] == 0x08))
    {
      start ();
      g_autoptr (LptGraph) graph = read_graph ((const char *) data, size, NULL);
      if (graph != NULL)
        return lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
    }
  return g_strndup ((const char *) data, first_graph ((const char *) data, size));
}

static size_t
hand_over (char *text, uint8_t *data, size_t size, size_t max)
{
  size_t n = strlen (text);
  if (n <= max)
    memcpy (data, text, n);
  g_free (text);
  return n <= max ? n : MIN (size, max);
}

size_t
LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max, unsigned seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autofree char *text = text_of (data, size);
  return hand_over (mutate_graph (text, rand), data, size, max);
}

size_t
LLVMFuzzerCustomCrossOver (const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t max,
                           unsigned seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autofree char *text = text_of (a, a_size), *other = text_of (b, b_size);
  return hand_over (mutate_cross (text, other, rand), out, 0, max);
}
