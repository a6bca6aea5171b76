/* test-opset-definition-tree.c - TreeEnsemble against its definition; broken trees of ONNX files
 *
 * A tree is drawn and, while it is drawn, followed by every row: which of them come to a node is known without its
 * table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-onnx.h>

#include "opset-case.h"

#define ROWS 100
#define FEATURES 3
#define TARGETS 3

typedef struct
{
  double x[ROWS * FEATURES];
  double nodes[MAX_COUNT], splits[MAX_COUNT], targets[MAX_COUNT], weights[MAX_COUNT], roots[16];
  gint   n, n_weights, n_roots;
  double sum[ROWS * TARGETS], least[ROWS * TARGETS], most[ROWS * TARGETS];
  gint   met[ROWS * TARGETS];
} Forest;

static Forest forest;

static gboolean
is_true (gint   kind,
         double x,
         double split)
{
  if (isnan (x))
    return kind >= 8 || kind == 5;

  return (gboolean[]) { x <= split, x < split, x >= split, x > split, x == split, x != split }[kind % 8];
}

static void
add_leaf (Forest         *f,
          gint            at,
          const gboolean *here)
{
  f->nodes[4 * at + 1] = 6;
  f->nodes[4 * at + 2] = f->n_weights;
  for (gint k = draw (0, 2); k > 0; k--)
    {
      const gint target = draw (0, TARGETS - 1);
      const double w = draw (-32, 32) / 8.0;

      f->targets[f->n_weights] = target;
      f->weights[f->n_weights++] = w;
      for (gint row = 0; row < ROWS; row++)
        if (here[row])
          {
            const gint i = row * TARGETS + target;

            f->sum[i] += w;
            f->least[i] = f->met[i] ? MIN (f->least[i], w) : w;
            f->most[i] = f->met[i] ? MAX (f->most[i], w) : w;
            f->met[i] = 1;
          }
    }
  f->nodes[4 * at + 3] = f->n_weights;
}

/* The number of a new node, which the rows @here come to. */
static gint
grow (Forest         *f,
      gint            depth,
      const gboolean *here)
{
  const gint at = f->n++;
  gboolean yes[ROWS], no[ROWS];
  gint kind, feature;

  f->splits[at] = 0;
  f->nodes[4 * at] = 0;
  if (depth == 0 || draw (0, 4) == 0)
    {
      add_leaf (f, at, here);
      return at;
    }
  kind = draw (0, 5) + (toss () ? 8 : 0);
  feature = draw (0, FEATURES - 1);
  f->splits[at] = draw (-2, 2);
  for (gint row = 0; row < ROWS; row++)
    {
      yes[row] = here[row] && is_true (kind, f->x[row * FEATURES + feature], f->splits[at]);
      no[row] = here[row] && !yes[row];
    }
  f->nodes[4 * at] = feature;
  f->nodes[4 * at + 1] = kind;
  f->nodes[4 * at + 2] = grow (f, depth - 1, yes);
  f->nodes[4 * at + 3] = grow (f, depth - 1, no);

  return at;
}

static void
plant (Forest *f)
{
  gboolean all[ROWS];

  memset (f, 0, sizeof *f);
  for (gint i = 0; i < ROWS * FEATURES; i++)
    f->x[i] = draw (0, 5) == 0 ? NAN : toss () ? draw (-2, 2) : draw (-32, 32) / 16.0;
  for (gint row = 0; row < ROWS; row++)
    all[row] = TRUE;
  for (gint k = draw (1, 6); k > 0; k--)
    {
      f->roots[f->n_roots] = f->n;
      f->n_roots++;
      grow (f, draw (0, 4), all);
    }
}

static void
test_definition (void)
{
  static const char *const aggregates[] = { "sum", "average", "minimum", "maximum" };
  static double out[ROWS * TARGETS], met[ROWS * TARGETS];

  for (guint round = 0; round < rounds (40); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint64 x_dims[] = { ROWS, FEATURES }, dims[] = { ROWS, TARGETS };
      const guint aggregate = round % 4;
      Forest *f = &forest;
      gint64 node_dims[2];

      plant (f);
      node_dims[0] = f->n;
      node_dims[1] = 4;
      add_const (text, "x", "f32", 2, x_dims, f->x);
      add_list (text, "r", "i32", f->n_roots, f->roots);
      add_const (text, "n", "i32", 2, node_dims, f->nodes);
      add_list (text, "s", "f32", f->n, f->splits);
      add_list (text, "t", "i32", f->n_weights, f->targets);
      add_list (text, "w", "f32", f->n_weights, f->weights);
      g_string_append_printf (text, "%%y = TreeEnsemble(%%x, %%r, %%n, %%s, %%t, %%w) "
                              "{n_targets=%d, aggregate=%s} : f32[%d,%d], boolean[%d,%d]\nResult(%%y)\nResult(%%y.1)\n",
                              TARGETS, aggregates[aggregate], ROWS, TARGETS, ROWS, TARGETS);
      for (gint i = 0; i < ROWS * TARGETS; i++)
        {
          out[i] = aggregate == 0 ? f->sum[i] : aggregate == 1 ? f->sum[i] / f->n_roots
                   : aggregate == 2 ? f->least[i] : f->most[i];
          met[i] = f->met[i];
        }
      expect (text, 2, (Want[]) { { 2, dims, out, 1e-7, "f32" }, { 2, dims, met, 0, "boolean" } });
    }
}

/* --- files that are broken -------------------------------------------------------------------- */

#define LIST(name, values) "{\"name\":\"" name "\",\"ints\":[" values "],\"type\":\"INTS\"},"
#define LEQ  "\"QlJBTkNIX0xFUQ==\""
#define LEAF "\"TEVBRg==\""

/* Of nodes their trees, numbers, modes, and where they go on; of weights their nodes and targets. */
#define LISTS(...) ((const char *[]) { __VA_ARGS__ })

static void
refuse (const char        *what,
        const char *const *lists)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *model = g_strdup_printf (
    "{\"opsetImport\": [{\"version\": 17}, {\"domain\": \"ai.onnx.ml\", \"version\": 3}], \"graph\": {"
    "\"input\": [{\"name\": \"x\", \"type\": {\"tensorType\": {\"elemType\": 1, \"shape\": {\"dim\": ["
    "{\"dimValue\": 2}, {\"dimValue\": 4}]}}}}], \"output\": [{\"name\": \"y\"}], "
    "\"node\": [{\"name\": \"n\", \"domain\": \"ai.onnx.ml\", "
    "\"opType\": \"TreeEnsembleRegressor\", \"input\": [\"x\"], \"output\": [\"y\"], \"attribute\": ["
    LIST ("nodes_treeids", "%s") LIST ("nodes_nodeids", "%s") LIST ("nodes_featureids", "0,0,0")
    LIST ("nodes_truenodeids", "%s") LIST ("nodes_falsenodeids", "%s") LIST ("target_treeids", "0,0")
    LIST ("target_nodeids", "%s") LIST ("target_ids", "%s")
    "{\"name\":\"nodes_modes\",\"strings\":[%s],\"type\":\"STRINGS\"},"
    "{\"name\":\"nodes_values\",\"floats\":[0,0,0],\"type\":\"FLOATS\"},"
    "{\"name\":\"target_weights\",\"floats\":[1,2],\"type\":\"FLOATS\"}]}]}}",
    lists[0], lists[1], lists[3], lists[4], lists[5], lists[6], lists[2]);
  g_autoptr (LptGraph) graph = lpt_onnx_parse (model, strlen (model), NULL, &error);

  if (what == NULL)
    g_assert_no_error (error);
  else if (graph != NULL || strstr (error->message, what) == NULL)
    g_test_fail_printf ("\"%s\", not \"%s\"", graph == NULL ? error->message : "no error", what);
}

static void
test_broken (void)
{
  const char *modes = LEQ "," LEAF "," LEAF;

  refuse (NULL, LISTS ("0,0,0", "0,1,2", modes, "1,0,0", "2,0,0", "1,2", "0,0"));
  refuse ("go round in a circle", LISTS ("0,0,0", "0,1,2", (LEQ "," LEQ "," LEAF), "1,0,0", "2,2,0", "2,2", "0,0"));
  refuse ("go round in a circle", LISTS ("0,0,0", "0,1,2", modes, "0,0,0", "2,0,0", "1,2", "0,0"));
  refuse ("goes on to node 7, which is not there", LISTS ("0,0,0", "0,1,2", modes, "1,0,0", "7,0,0", "1,2", "0,0"));
  refuse ("goes on to node -1, which", LISTS ("0,0,0", "0,1,2", modes, "-1,0,0", "2,0,0", "1,2", "0,0"));
  refuse ("has two nodes 1", LISTS ("0,0,0", "0,1,1", modes, "1,0,0", "1,0,0", "1,1", "0,0"));
  refuse ("goes on to node 2, which is not there", LISTS ("0,0,1", "0,1,2", modes, "1,0,0", "2,0,0", "1,1", "0,0"));
  refuse ("a weight belongs to node 9", LISTS ("0,0,0", "0,1,2", modes, "1,0,0", "2,0,0", "1,9", "0,0"));
  refuse ("a weight is for target 1 of 1", LISTS ("0,0,0", "0,1,2", modes, "1,0,0", "2,0,0", "1,2", "0,1"));
  refuse ("nodes_nodeids has 2 elements, not 3", LISTS ("0,0,0", "0,1", modes, "1,0,0", "2,0,0", "1,2", "0,0"));
  refuse ("nodes_modes does not have 3", LISTS ("0,0,0", "0,1,2", LEQ, "1,0,0", "2,0,0", "1,2", "0,0"));
  refuse ("unsupported mode \"LEQ\"", LISTS ("0,0,0", "0,1,2", ("\"TEVR\"," LEAF "," LEAF), "1,0,0", "2,0,0", "1,2",
                                             "0,0"));
  refuse ("target_ids has 1 elements, not 2", LISTS ("0,0,0", "0,1,2", modes, "1,0,0", "2,0,0", "1,2", "0"));
}

/* Tables of a text file are read as they are: what is wrong with them is found by the walk. */
static void
test_faults (void)
{
  static const struct { const char *roots, *nodes, *targets, *what; } cases[] = {
    { "0", "0, 0, 1, 2, 0, 6, 0, 1, 0, 6, 0, 1", "0", NULL },
    { "3", "0, 0, 1, 2, 0, 6, 0, 1, 0, 6, 0, 1", "0", "a node that is not behind" },
    { "0", "0, 0, 0, 0, 0, 6, 0, 1, 0, 6, 0, 1", "0", "a node that is not behind" },
    { "0", "0, 0, 1, 9, 0, 0, 0, 9, 0, 6, 0, 1", "0", "a node that is not behind" },
    { "0", "5, 0, 1, 2, 0, 6, 0, 1, 0, 6, 0, 1", "0", "a feature that the rows do not have" },
    { "0", "0, 7, 1, 2, 0, 6, 0, 1, 0, 6, 0, 1", "0", "of no known kind" },
    { "0", "0, 0, 1, 2, 0, 6, 0, 2, 0, 6, 0, 2", "0", "a weight or a target that is not there" },
    { "0", "0, 0, 1, 2, 0, 6, 0, 1, 0, 6, 0, 1", "4", "a weight or a target that is not there" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = g_strdup_printf (
        "%%x = Parameter : f32[1,2]\n%%r = Const {%s} : i32[1]\n%%n = Const {%s} : i32[3,4]\n"
        "%%s = Const {0, 0, 0} : f32[3]\n"
        "%%t = Const {%s} : i32[1]\n%%w = Const {1} : f32[1]\n"
        "%%y = TreeEnsemble(%%x, %%r, %%n, %%s, %%t, %%w) {n_targets=1} : f32[1,1]\nResult(%%y)\n",
        cases[i].roots, cases[i].nodes, cases[i].targets);
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
      g_autoptr (LptPlan) plan = graph != NULL ? lpt_plan_new (graph, NULL, 0, &error) : NULL;
      g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, &error) : NULL;
      const LptShape shape = { .rank = 2, .dims = { 1, 2 } };
      g_autoptr (LptTensor) x = lpt_tensor_new (LPT_DTYPE_F32, &shape, NULL);
      gboolean ok = context != NULL && lpt_plan_context_set_input (context, 0, x, &error) &&
                    lpt_plan_run (plan, context, &error);

      if (cases[i].what == NULL)
        g_assert_no_error (error);
      else if (ok || strstr (error->message, cases[i].what) == NULL)
        g_test_fail_printf ("case %u: %s", i, ok ? "runs" : error->message);
    }
}

/* --- PairCoupling ----------------------------------------------------------------------------- */

/* Chances r = p / (p + p') of pairs are those of p: how far off the answer is, is what the iteration stops at. */
static void
test_pair_coupling (void)
{
  for (guint round = 0; round < rounds (30); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint n = draw (2, 6);
      const gint64 dims[] = { ROWS, n }, pair_dims[] = { ROWS, n * (n - 1) / 2 };
      static double p[ROWS * 6], r[ROWS * 15];
      gint at = 0;

      for (gint row = 0; row < ROWS; row++)
        {
          double sum = 0;

          for (gint i = 0; i < n; i++)
            sum += p[row * n + i] = draw (1, 16);
          for (gint i = 0; i < n; i++)
            p[row * n + i] /= sum;
          for (gint i = 0; i < n; i++)
            for (gint j = i + 1; j < n; j++)
              r[at++] = p[row * n + i] / (p[row * n + i] + p[row * n + j]);
        }
      add_const (text, "x", "f32", 2, pair_dims, r);
      g_string_append (text, "%y = PairCoupling(%x)\nResult(%y)\n");
      expect_one (text, 2, dims, p, 0.03, "f32");
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opset/tree-ensemble", test_definition);
  g_test_add_func ("/opset/tree-ensemble/broken", test_broken);
  g_test_add_func ("/opset/tree-ensemble/faults", test_faults);
  g_test_add_func ("/opset/pair-coupling", test_pair_coupling);
  return g_test_run ();
}
