/* test-fast-fold.c - real transposed convolutions that only add up what they read (float-fold.c)
 *
 * The bits of the plain op, at every level of the processor and for every number of threads: one to three axes,
 * strides, dilations, pads on both sides, output padding, groups, several channels of a group, several images, blocks
 * of which a part has no channel. Where a channel has two weights, another one than 1, or where channels are not in the
 * order of their places, it is products.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

typedef struct
{
  const char *name;
  gint        images, groups, channels, results, axes;     /* of a group */
  gint        kernel[3], in[3], out[3];
  const char *window;
  gint        odd;                                          /* this channel is not as it should be; -1: all are */
  enum { TWO, DOUBLE, TURNED } how;
} Case;

static const Case cases[] = {
  { "col2im", 1, 4, 9, 1, 2, { 3, 3 }, { 5, 4 }, { 11, 9 },
    "strides=[2,2], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]", -1, TWO },
  { "pads and output padding", 2, 3, 20, 1, 2, { 4, 5 }, { 6, 3 }, { 17, 10 },
    "strides=[3,3], pads_begin=[1,2], pads_end=[2,0], dilations=[1,1], output_padding=[1,1]", -1, TWO },
  { "dilations", 1, 2, 6, 1, 2, { 2, 3 }, { 7, 6 }, { 10, 14 },
    "strides=[1,2], pads_begin=[0,1], pads_end=[0,0], dilations=[3,2]", -1, TWO },
  { "a line", 1, 5, 8, 1, 1, { 8 }, { 20 }, { 80 },
    "strides=[4], pads_begin=[1], pads_end=[3], dilations=[1]", -1, TWO },
  { "volume", 1, 2, 8, 1, 3, { 2, 2, 2 }, { 3, 4, 5 }, { 4, 5, 6 },
    "strides=[1,1,1], pads_begin=[0,0,0], pads_end=[0,0,0], dilations=[1,1,1]", -1, TWO },
  { "channels of a group", 1, 2, 8, 3, 2, { 2, 2 }, { 4, 4 }, { 8, 8 },
    "strides=[2,2], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]", -1, TWO },
  { "more pads than block", 1, 1, 4, 1, 2, { 2, 2 }, { 6, 6 }, { 1, 1 },
    "strides=[1,1], pads_begin=[3,3], pads_end=[3,3], dilations=[1,1]", -1, TWO },
  { "two weights", 1, 2, 9, 1, 2, { 3, 3 }, { 4, 4 }, { 6, 6 },
    "strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]", 4, TWO },
  { "another weight", 1, 2, 9, 1, 2, { 3, 3 }, { 4, 4 }, { 6, 6 },
    "strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]", 13, DOUBLE },
  { "another order", 1, 2, 9, 1, 2, { 3, 3 }, { 4, 4 }, { 6, 6 },
    "strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]", 3, TURNED },
};

static void
put_dims (GString    *text,
          const gint *dims,
          gint        axes)
{
  gint k;

  for (k = 0; k < axes; k++)
    g_string_append_printf (text, ",%d", dims[k]);
  g_string_append (text, "]\n");
}

/* Weight @tap, of all of a group's results, of channel @channel. */
static gint
weight (const Case *c,
        gint        channel,
        gint        tap)
{
  const gint at = channel % c->channels, odd = channel == c->odd;

  if (odd && c->how == TURNED)
    return tap == 0;
  if (odd && c->how == TWO && tap == 0)
    return 1;

  return tap == at ? odd && c->how == DOUBLE ? 2 : 1 : 0;
}

static LptGraph *
graph_of (const Case *c)
{
  g_autoptr (GString) text = g_string_new ("graph {lowered=true, requant=\"single\"}\n");
  gint taps = c->results, i, k;

  for (k = 0; k < c->axes; k++)
    taps *= c->kernel[k];
  g_string_append_printf (text, "%%x = Parameter : f32[%d,%d", c->images, c->groups * c->channels);
  put_dims (text, c->in, c->axes);
  g_string_append (text, "%w = Const {");
  for (i = 0; i < c->groups * c->channels; i++)
    for (k = 0; k < taps; k++)
      g_string_append_printf (text, "%s%d", i + k > 0 ? "," : "", weight (c, i, k));
  g_string_append_printf (text, "} : f32[%d,%d,%d", c->groups, c->channels, c->results);
  put_dims (text, c->kernel, c->axes);
  g_string_append_printf (text, "%%y = GroupConvolutionBackpropData(%%x, %%w) {%s} : f32[%d,%d", c->window, c->images,
                          c->groups * c->results);
  put_dims (text, c->out, c->axes);
  g_string_append (text, "Result(%y)\n");

  return fast_case_read (text->str, c->name);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (LptGraph) graph = graph_of (c);
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  g_autofree char *program = lpt_plan_to_text (plan, 0);

  if ((strstr (program, "fold") != NULL) != (c->odd < 0))
    g_error ("%s", program);
  fast_case_compare (graph, -2, 2);
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/fast-fold/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }

  return g_test_run ();
}
