/* fuzz-structure.c - graphs that stay graphs when they change: everything that handles one, from file to file
 *
 * A graph in any form is written in each and read back; run by the reference and, at every level of the processor, by
 * the fast program, which must agree; transformed as by transform --verify; and the lowered graph goes the same way.
 * The mutator changes the text form by statements (mutate.h); inputs in another form become text first.
 *
 * LPT_FUZZ_SKIP: names of checks that are left out, with commas (verify, onnx, xml, json, text, levels).
 * LPT_FUZZ_COUNTS: says at the end how many inputs were graphs, ran, and were transformed.
 * LPT_FUZZ_ALL: every form and level, where libFuzzer otherwise gets one by the content: to make a finding small.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/structure.h"

#include "ir/lpt-check.h"

#include <lpt/lpt.h>
#include <lpt/lpt-text.h>

#include <stdlib.h>
#include <string.h>

#define MAX_SIZE     65536
#define MAX_MEMORY   (64 << 20)
#define MAX_TRIPS    256
#define MAX_ASKED    200000        /* rewrites, ops and trips of one input together */
#define MAX_DRAWS    12            /* of a change that leaves a graph */

static struct { guint64 inputs, graphs, ran, transformed; } counts;
static guint asked;
static LptLimits *limits;

static gboolean
has_had_enough (gpointer data)
{
  return ++asked > MAX_ASKED;
}

static void
finish (void)
{
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
      atexit (finish);
    }
  lpt_limits_set_thread (limits);
  asked = 0;
}

gboolean
structure_does (const char *check)
{
  const char *skip = g_getenv ("LPT_FUZZ_SKIP");
  return skip == NULL || strstr (skip, check) == NULL;
}

gboolean
structure_is_limit (const GError *error)
{
  return g_error_matches (error, LPT_ERROR, LPT_ERROR_MEMORY) || g_error_matches (error, LPT_ERROR, LPT_ERROR_LIMIT);
}

void
structure_fail (LptGraph *graph, const char *what, const char *why)
{
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_printerr ("%s: %s\n%s", what, why, text);
  abort ();       /* not g_error(): libFuzzer keeps no input for a breakpoint */
}

/* --- the whole ------------------------------------------------------------- */

typedef struct
{
  LptGraph  *source, *graph;
  GPtrArray *before;
  gboolean   plain;
} Verify;

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
          structure_fail (verify->source, pass->name, "changed the shape of an output");
        }
      if (verify->plain && pass->exactness <= LPT_EXACT_REAL &&
          structure_distance (verify->graph, verify->before, after, i, 0) > 0.2)
        structure_fail (verify->source, pass->name, "changed the values of an output");
    }
}

/* Is whether @graph runs a question of the last bit? It is behind a length that only the numbers tell, as of NonZero,
 * and behind computed integers, which may be 0 and divide, or be an index. */
static gboolean
may_fail (LptGraph *graph)
{
  return !structure_is_plain (graph) || !structure_is_static (graph);
}

static gboolean
verify_step (const LptPass *pass, LptGraph *graph, LptNode *node, gpointer data, GError **error)
{
  Verify *verify = data;
  GPtrArray *after;
  /* A body: seen with the next change of the graph around it. */
  if (graph != verify->graph)
    return TRUE;
  after = structure_run (graph, error);
  if (after == NULL && !structure_is_limit (*error) && !may_fail (verify->source))
    structure_fail (verify->source, pass->name, (*error)->message);
  if (after == NULL)
    return FALSE;
  compare_step (verify, pass, after);
  g_ptr_array_unref (verify->before);
  verify->before = after;
  return TRUE;
}

static void
transform (LptGraph *source, gboolean runs, GRand *rand)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_copy (source);
  g_autoptr (LptConfig) config = lpt_config_new ();
  Verify verify = { .source = source, .graph = graph, .plain = structure_is_plain (source) };
  const LptObserver observer = { verify_step, &verify };
  gboolean ok;
  if (runs && structure_does ("verify"))
    verify.before = structure_run (graph, NULL);
  ok = lpt_pipeline_run (graph, config, NULL, verify.before != NULL ? &observer : NULL, &error);
  g_clear_pointer (&verify.before, g_ptr_array_unref);
  if (!ok)
    return;
  if (!lpt_graph_validate (graph, &error))
    structure_fail (source, "the result is not valid", error->message);
  counts.transformed++;
  structure_through_forms (graph, g_rand_int (rand));
  if (!structure_through_levels (graph, g_rand_int (rand)) && runs && asked < MAX_ASKED)
    {
      g_autoptr (GPtrArray) outputs = structure_run (graph, &error);
      if (outputs == NULL && error != NULL && !structure_is_limit (error) && !may_fail (source))
        structure_fail (source, "the result does not run", error->message);
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
  g_autoptr (LptGraph) graph = structure_read ((const char *) data, size, &error);
  g_assert ((graph == NULL) == (error != NULL));
  if (graph == NULL || graph->results->len == 0 || !lpt_graph_check_scales (graph, NULL) || !structure_is_small (graph))
    return 0;
  counts.graphs++;
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_bytes_hash (bytes));
  structure_through_forms (graph, g_rand_int (rand));
  gboolean runs = structure_through_levels (graph, g_rand_int (rand));
  counts.ran += runs;
  if (!graph->lowered)
    transform (graph, runs, rand);
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
      g_autoptr (LptGraph) graph = structure_read ((const char *) data, size, NULL);
      if (graph != NULL)
        return lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
    }
  return g_strndup ((const char *) data, structure_first_graph ((const char *) data, size));
}

static gboolean
is_graph (const char *text)
{
  start ();
  g_autoptr (LptGraph) graph = structure_read (text, strlen (text), NULL);
  return graph != NULL && graph->results->len > 0 && structure_is_small (graph);
}

/* A change that leaves a graph is taken, of some drawn: what is no graph ends in the reader, which fuzz-text tries. */
static size_t
change (const char *text, const char *other, guint8 *out, size_t max, GRand *rand)
{
  g_autofree char *changed = NULL;
  for (guint k = 0; k < MAX_DRAWS; k++)
    {
      g_free (changed);
      changed = other != NULL ? mutate_cross (text, other, rand) : mutate_graph (text, rand);
      if (strlen (changed) <= max && is_graph (changed))
        break;
    }
  size_t n = MIN (strlen (changed), max);
  memcpy (out, changed, n);
  return n;
}

size_t
LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max, unsigned seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autofree char *text = text_of (data, size);
  return change (text, NULL, data, max, rand);
}

size_t
LLVMFuzzerCustomCrossOver (const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t max,
                           unsigned seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autofree char *text = text_of (a, a_size), *other = text_of (b, b_size);
  return change (text, other, out, max, rand);
}

/* --- libFuzzer -------------------------------------------------------------- */

/* The first argument, which the command line overrides: rare features are counted in time that grows with the corpus,
 * and take more than a graph does. */
int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  char **with = g_new0 (char *, *argc + 2);
  with[0] = (*argv)[0];
  with[1] = g_strdup ("-entropic=0");
  memcpy (with + 2, *argv + 1, (gsize) (*argc - 1) * sizeof *with);
  *argv = with;
  ++*argc;
  return 0;
}

/* Short traces of blocks and little kept of freed ones: half of the time of a graph. ASAN_OPTIONS override it. */
const char *
__asan_default_options (void)
{
  return "malloc_context_size=3:quarantine_size_mb=1:thread_local_quarantine_size_kb=16:"
         "detect_stack_use_after_return=0";
}
