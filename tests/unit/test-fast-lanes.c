/* test-fast-lanes.c - real depthwise convolutions of few channels, neighbours in lanes: the bytes of plain ops
 *
 * One to five channels (five do not join), lines of one group and of several, borders on either side or none,
 * dilations, what is added and multiplied behind, weights that are not finite; and planes to a few channels, of lines
 * that are copied whole and of longer ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

typedef struct
{
  const char *name, *text;
  gint        weights;      /* how many %w has, at @w */
} Case;

#define CONV(op, attrs) "%y = " op "(%x, %w) {" attrs "} : "
#define SAME_2 "strides=[1,1], dilations=[1,1], pads_begin=[1,1], pads_end=[1,1]"

static const Case cases[] =
{
  { "one-channel", "%x = Parameter : f32[2,1,6,70]\n%w = Const {@w} : f32[1,1,3,3]\n"
    CONV ("Convolution", SAME_2) "f32[2,1,6,70]\nResult(%y)\n", 9 },
  { "long-line", "%x = Parameter : f32[1,1,1000]\n%w = Const {@w} : f32[1,1,9]\n"
    CONV ("Convolution", "strides=[1], dilations=[1], pads_begin=[3], pads_end=[5]") "f32[1,1,1000]\nResult(%y)\n", 9 },
  { "ends", "%x = Parameter : f32[1,3,5,90]\n%r = Parameter : f32[1,3,5,90]\n%w = Const {@w} : f32[3,1,1,3,3]\n"
    "%b = Const {0.5, -0.25, 0.125} : f32[1,3,1,1]\n%f = Const {2, 0.5, -1.5} : f32[1,3,1,1]\n"
    CONV ("GroupConvolution", SAME_2) "f32[1,3,5,90]\n%m = Multiply(%y, %f) : f32[1,3,5,90]\n"
    "%a = Add(%m, %b) : f32[1,3,5,90]\n%s = Add(%a, %r) : f32[1,3,5,90]\n%z = Relu(%s) : f32[1,3,5,90]\n"
    "Result(%z)\n", 27 },
  { "dilated", "%x = Parameter : f32[1,2,7,60]\n%w = Const {@w} : f32[2,1,1,3,4]\n"
    CONV ("GroupConvolution", "strides=[2,1], dilations=[2,3], pads_begin=[1,4], pads_end=[0,0]")
    "f32[1,2,2,55]\nResult(%y)\n", 24 },
  { "volume", "%x = Parameter : f32[1,4,3,4,33]\n%w = Const {@w} : f32[4,1,1,2,1,3]\n"
    CONV ("GroupConvolution", "strides=[1,1,1], dilations=[1,1,1], pads_begin=[0,0,0], pads_end=[0,0,0]")
    "f32[1,4,2,4,31]\nResult(%y)\n", 24 },
  { "five-channels", "%x = Parameter : f32[1,5,4,64]\n%w = Const {@w} : f32[5,1,1,3,3]\n"
    CONV ("GroupConvolution", SAME_2) "f32[1,5,4,64]\nResult(%y)\n", 45 },
  { "column-of-taps", "%x = Parameter : f32[1,1,9,80]\n%w = Const {@w} : f32[1,1,5,1]\n"
    CONV ("Convolution", "strides=[1,1], dilations=[1,1], pads_begin=[2,0], pads_end=[2,0]")
    "f32[1,1,9,80]\nResult(%y)\n", 5 },
  { "planes", "%x = Parameter : f32[2,2,9,80]\n%w = Const {@w} : f32[1,2,7,7]\n%b = Const {0.25} : f32[1,1,1,1]\n"
    CONV ("Convolution", "strides=[1,1], pads_begin=[3,3], pads_end=[3,3], dilations=[1,1]") "f32[2,1,9,80]\n"
    "%d = Add(%y, %b) : f32[2,1,9,80]\n%z = Sigmoid(%d) : f32[2,1,9,80]\nResult(%z)\n", 98 },
  { "many-planes", "%x = Parameter : f32[1,32,6,70]\n%w = Const {@w} : f32[1,32,3,3]\n"
    "%r = Parameter : f32[1,1,6,70]\n" CONV ("Convolution", SAME_2) "f32[1,1,6,70]\n"
    "%d = Add(%y, %r) : f32[1,1,6,70]\n%z = Relu(%d) : f32[1,1,6,70]\nResult(%z)\n", 288 },
  { "planes-apart", "%x = Parameter : f32[1,5,17,96]\n%w = Const {@w} : f32[1,5,3,5]\n"
    CONV ("Convolution", "strides=[2,1], pads_begin=[3,4], pads_end=[3,0], dilations=[3,2]")
    "f32[1,1,9,92]\nResult(%y)\n", 75 },
  { "planes-of-a-line", "%x = Parameter : f32[2,3,300]\n%w = Const {@w} : f32[1,3,9]\n"
    CONV ("Convolution", "strides=[1], pads_begin=[4], pads_end=[4], dilations=[1]")
    "f32[2,1,300]\nResult(%y)\n", 27 },
  { "planes-of-volumes", "%x = Parameter : f32[1,4,3,4,72]\n%w = Const {@w} : f32[1,4,2,2,3]\n"
    CONV ("Convolution", "strides=[1,1,1], pads_begin=[0,1,1], pads_end=[0,0,1], dilations=[1,1,1]")
    "f32[1,1,2,4,72]\nResult(%y)\n", 48 },
  { "short-planes", "%x = Parameter : f32[1,4,12,20]\n%w = Const {@w} : f32[1,4,3,3]\n"
    CONV ("Convolution", SAME_2) "f32[1,1,12,20]\nResult(%y)\n", 36 },
  { "planes-to-three", "%x = Parameter : f32[2,5,6,300]\n%w = Const {@w} : f32[3,5,3,3]\n"
    "%r = Parameter : f32[2,3,6,300]\n%f = Const {2, 0.5, -1.5} : f32[1,3,1,1]\n"
    CONV ("Convolution", SAME_2) "f32[2,3,6,300]\n%m = Multiply(%y, %f) : f32[2,3,6,300]\n"
    "%d = Add(%m, %r) : f32[2,3,6,300]\n%z = Relu(%d) : f32[2,3,6,300]\nResult(%z)\n", 135 },
  { "planes-to-four", "%x = Parameter : f32[1,2,7,33]\n%w = Const {@w} : f32[4,2,3,5]\n"
    "%b = Const {1,-2,3,-4} : f32[1,4,1,1]\n"
    CONV ("Convolution", "strides=[1,1], pads_begin=[1,4], pads_end=[1,4], dilations=[1,2]") "f32[1,4,7,33]\n"
    "%d = Add(%y, %b) : f32[1,4,7,33]\n%z = Tanh(%d) : f32[1,4,7,33]\nResult(%z)\n", 120 },
  { "planes-to-eight", "%x = Parameter : f32[1,3,5,40]\n%w = Const {@w} : f32[8,3,5,5]\n"
    "%r = Parameter : f32[1,8,5,40]\n"
    CONV ("Convolution", "strides=[1,1], pads_begin=[2,2], pads_end=[2,2], dilations=[1,1]") "f32[1,8,5,40]\n"
    "%d = Add(%y, %r) : f32[1,8,5,40]\nResult(%d)\n", 600 },
  { "planes-to-six", "%x = Parameter : f32[1,1,28,28]\n%w = Const {@w} : f32[6,1,5,5]\n"
    CONV ("Convolution", "strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]")
    "f32[1,6,24,24]\nResult(%y)\n", 150 },
  { "planes-to-twelve", "%x = Parameter : f32[2,1,7,37]\n%w = Const {@w} : f32[12,1,5,5]\n"
    "%r = Parameter : f32[2,12,7,37]\n"
    CONV ("Convolution", "strides=[1,1], pads_begin=[2,2], pads_end=[2,2], dilations=[1,1]") "f32[2,12,7,37]\n"
    "%d = Add(%y, %r) : f32[2,12,7,37]\n%z = Clamp(%d) {min=-2, max=6} : f32[2,12,7,37]\nResult(%z)\n", 300 },
  { "planes-of-groups", "%x = Parameter : f32[2,12,5,19]\n%w = Const {@w} : f32[4,3,3,3,3]\n"
    "%r = Parameter : f32[2,12,5,19]\n"
    CONV ("GroupConvolution", SAME_2) "f32[2,12,5,19]\n"
    "%d = Add(%y, %r) : f32[2,12,5,19]\n%z = Relu(%d) : f32[2,12,5,19]\nResult(%z)\n", 324 },
  { "points-of-groups", "%x = Parameter : f32[2,20,4,5]\n%w = Const {@w} : f32[5,1,4,1,1]\n"
    CONV ("GroupConvolution", "strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]")
    "f32[2,5,4,5]\n%z = Sigmoid(%y) : f32[2,5,4,5]\nResult(%z)\n", 20 },
  { "taps-that-collide", "%x = Parameter : f32[1,256,70]\n%w = Const {@w} : f32[5,256,5]\n"
    CONV ("Convolution", "strides=[1], pads_begin=[16], pads_end=[16], dilations=[8]") "f32[1,5,70]\nResult(%y)\n",
    6400 },
  { "infinite", "%x = Parameter : f32[1,1,4,70]\n%w = Const {inf, 1, 2, nan, 3, 4, -inf, 5, 6} : f32[1,1,3,3]\n"
    CONV ("Convolution", SAME_2) "f32[1,1,4,70]\nResult(%y)\n", 0 },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (GString) text = g_string_new (c->text), weights = g_string_new (NULL);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (LptGraph) graph = NULL;
  gint i;
  guint k;

  for (i = 0; i < c->weights; i++)
    g_string_append_printf (weights, "%s%.3f", i > 0 ? ", " : "", g_rand_double_range (rand, -1, 1));
  g_string_replace (text, "@w", weights->str, 1);
  graph = fast_case_read (text->str, c->name);
  for (k = 0; k < graph->parameters->len; k++)
    {
      LptNode *parameter = g_ptr_array_index (graph->parameters, k);

      g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &lpt_node_out (parameter)->shape, -2, 2, rand));
    }
  fast_case_compare_inputs (graph, inputs);
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/fast-lanes/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }

  return g_test_run ();
}
