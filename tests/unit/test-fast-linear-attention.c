/* test-fast-linear-attention.c - LinearAttention by tasks gives the bytes of the plain op, which is near its
 * definition, as is the loop that an OpenVINO IR has in its place
 *
 * The definition is a walk over tokens in doubles, head by head, with each head of queries, keys, decays and betas
 * looked up by its quotient: more heads of queries than of states, and fewer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <glib/gstdio.h>
#include <lpt/lpt-openvino.h>

#include "fast-case.h"

typedef struct
{
  gint     batch, tokens, states, key, value;
  gint     queries, keys, decays, widths, betas;     /* heads; 0: not given; widths: numbers of a decay */
} Sizes;

static double
at (GPtrArray *inputs,
    guint      i,
    gint64     b,
    gint64     t,
    gint64     h,
    gint64     e)
{
  const LptShape *s = lpt_tensor_shape (inputs->pdata[i]);

  return lpt_tensor_get_f64 (inputs->pdata[i], ((b * s->dims[1] + t) * s->dims[2] + h) * s->dims[3] + e);
}

/* Token @t of state @h: in @s [key, value], and its answers in @y [heads, value] from head @first on. */
static void
token (const Sizes *z,
       GPtrArray   *in,
       gint         b,
       gint         t,
       gint         h,
       double      *s,
       double      *y)
{
  const gint group = MAX (z->queries / z->states, 1), beta = z->decays > 0 ? 5 : 4;

  for (gint j = 0; j < z->value; j++)
    {
      double d = at (in, 2, b, t, h, j), recalled = 0;

      for (gint i = 0; i < z->key; i++)
        {
          if (z->decays > 0)
            s[i * z->value + j] *= at (in, 4, b, t, h * z->decays / z->states, z->widths > 1 ? i : 0);
          recalled += at (in, 1, b, t, h * z->keys / z->states, i) * s[i * z->value + j];
        }
      if (z->betas > 0)
        d = at (in, (guint) beta, b, t, h * z->betas / z->states, 0) * (d - recalled);
      for (gint i = 0; i < z->key; i++)
        s[i * z->value + j] += at (in, 1, b, t, h * z->keys / z->states, i) * d;
      for (gint g = 0; g < group; g++)
        {
          double sum = 0;

          for (gint i = 0; i < z->key; i++)
            sum += at (in, 0, b, t, z->queries >= z->states ? h * group + g : h * z->queries / z->states, i) *
                   s[i * z->value + j];
          y[(h * group + g) * z->value + j] = sum;
        }
    }
}

static void
near (LptTensor *got,
      gint64     i,
      double     wanted)
{
  g_assert_cmpfloat (fabs (lpt_tensor_get_f64 (got, i) - wanted), <, 1e-4);
}

static void
expect (const Sizes *z,
        GPtrArray   *in,
        GPtrArray   *results)
{
  const gint heads = MAX (z->queries, z->states);
  g_autofree double *s = g_new (double, z->key * z->value), *y = g_new (double, heads * z->value * (z->tokens + 1));

  for (gint b = 0; b < z->batch; b++)
    for (gint h = 0; h < z->states; h++)
      {
        const gint group = heads / z->states;

        for (gint i = 0; i < z->key; i++)
          for (gint j = 0; j < z->value; j++)
            s[i * z->value + j] = at (in, 3, b, h, i, j);
        for (gint t = 0; t < z->tokens; t++)
          {
            token (z, in, b, t, h, s, y);
            for (gint e = h * group * z->value; e < (h + 1) * group * z->value; e++)
              near (results->pdata[0], (b * z->tokens + t) * heads * z->value + e, y[e]);
          }
        for (gint i = 0; i < z->key * z->value; i++)
          near (results->pdata[1], (b * z->states + h) * z->key * z->value + i, s[i]);
      }
}

/* Written as an OpenVINO IR and read again. */
static void
spelled (const Sizes *z,
         LptGraph    *graph,
         GPtrArray   *inputs)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lpt-linear-XXXXXX", &error),
                  *path = g_build_filename (folder, "a.xml", NULL), *bin = g_build_filename (folder, "a.bin", NULL);
  g_autoptr (LptGraph) back = NULL;
  g_autoptr (GPtrArray) results = NULL;

  g_assert_true (lpt_openvino_save (graph, path, NULL, &error));
  back = lpt_openvino_load (path, NULL, &error);
  g_assert_no_error (error);
  results = fast_run (back, 0, 1, inputs);
  expect (z, inputs, results);
  g_remove (path);
  g_remove (bin);
  g_rmdir (folder);
}

static void
add_input (GString    *text,
           GPtrArray  *inputs,
           GRand      *rand,
           const char *name,
           const gint  dims[4])
{
  const LptShape shape = { .rank = 4, .dims = { dims[0], dims[1], dims[2], dims[3] } };

  g_string_append_printf (text, "%%%s = Parameter : f32[%d,%d,%d,%d]\n", name, dims[0], dims[1], dims[2], dims[3]);
  g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &shape, name[0] == 'g' ? 0 : -0.5, 0.9, rand));
}

static void
check (GRand       *rand,
       const Sizes *z)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (GPtrArray) results = NULL;
  g_autoptr (LptGraph) graph = NULL;

  add_input (text, inputs, rand, "q", (gint[]) { z->batch, z->tokens, z->queries, z->key });
  add_input (text, inputs, rand, "k", (gint[]) { z->batch, z->tokens, z->keys, z->key });
  add_input (text, inputs, rand, "v", (gint[]) { z->batch, z->tokens, z->states, z->value });
  add_input (text, inputs, rand, "s", (gint[]) { z->batch, z->states, z->key, z->value });
  if (z->decays > 0)
    add_input (text, inputs, rand, "g", (gint[]) { z->batch, z->tokens, z->decays, z->widths });
  if (z->betas > 0)
    add_input (text, inputs, rand, "b", (gint[]) { z->batch, z->tokens, z->betas, 1 });
  g_string_append_printf (text, "%%y = LinearAttention(%%q, %%k, %%v, %%s%s%s)\nResult(%%y)\nResult(%%y.1)\n",
                          z->decays > 0 ? ", %g" : z->betas > 0 ? ", _" : "", z->betas > 0 ? ", %b" : "");
  graph = fast_case_graph (text->str, "linear-attention");
  fast_case_compare_inputs (graph, inputs);
  results = fast_run (graph, 0, 1, inputs);
  expect (z, inputs, results);
  if (z->tokens > 0)
    spelled (z, graph, inputs);
}

static void
test_states (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (71);

  for (guint round = 0; round < 48; round++)
    {
      Sizes z = { .batch = g_rand_int_range (rand, 1, 3), .tokens = g_rand_int_range (rand, 0, 6),
                  .states = g_rand_int_range (rand, 1, 3) * 2, .key = g_rand_int_range (rand, 1, 12),
                  .value = g_rand_int_range (rand, 1, round % 4 == 0 ? 140 : 20) };

      z.queries = round % 3 == 0 ? z.states : round % 3 == 1 ? 2 * z.states : z.states / 2;
      z.keys = round % 2 ? z.states : z.states / 2;
      z.decays = (gint[]) { 0, 1, z.states }[g_rand_int_range (rand, 0, 3)];
      z.widths = g_rand_boolean (rand) ? z.key : 1;
      z.betas = (gint[]) { 0, 1, z.states }[g_rand_int_range (rand, 0, 3)];
      check (rand, &z);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/linear-attention", test_states);

  return g_test_run ();
}
