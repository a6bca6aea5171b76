/* test-fast-loops.c - trips on one bound body give the bytes of the plain ops' trips
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

#define HEAD "%m = Const {4} : i64[]\n%c = Const {true} : boolean[]\n"

/* Five trips: %i counts, %s is carried, %Y is written into; %X is the same in all of them. */
#define COUNTED(read, state, written, carried) \
  "%m = Const {5} : i64[]\n%c = Const {true} : boolean[]\n%zero = Const {0} : i64[]\n" \
  "%in = Parameter : " read "\n%first = Parameter : " state "\n%was = Parameter : " written "\n" \
  "%l = Loop(%m, %c, %zero, %first, %was, %in) : i64[], " state ", " carried ", " read " {\n  body {\n" \
  "    in 2 -> 0\n    in 3 -> 1\n" \
  "    in 4 -> 2\n    in 5 -> 3\n    out _ <- 0 condition\n    out 0 <- 1\n    out 1 <- 2\n    out 2 <- 3\n" \
  "    out 3 <- 4\n" \
  "    back 1 -> 0\n    back 2 -> 1\n    back 3 -> 2\n    back 4 -> 3\n" \
  "    %i = Parameter : i64[]\n    %s = Parameter : " state "\n    %Y = Parameter : " carried "\n" \
  "    %X = Parameter : " read "\n"
#define NEXT \
  "    %one = Const {1} : i64[]\n    %next = Add(%i, %one) : i64[]\n    Result(%t)\n    Result(%next)\n" \
  "    Result(%n)\n" \
  "    Result(%y)\n    Result(%X)\n  }\n}\nResult(%l)\nResult(%l.1)\nResult(%l.2)\nResult(%l.3)\n"

/* %u at @place of %Y. */
#define PIECES(place, list, all) \
  "    %k1 = Const {1} : i64[1]\n    %k2 = Const {0, 0} : i64[2]\n    %k3 = Const {" all "} : i64[2]\n" \
  "    %k4 = Const {0, 0, 0} : i64[3]\n    %k5 = Const {1, 1, 1} : i64[3]\n    %k6 = Const {9, 9, 9} : i64[3]\n" \
  "    %k7 = Const {0} : i64[1]\n    %j = Unsqueeze(" place ", %k7) : i64[1]\n    %k = Add(%j, %k1) : i64[1]\n" \
  "    %f = Concat(%j, %k3) {axis=0} : i64[3]\n    %g = Concat(%k, %k2) {axis=0} : i64[3]\n" \
  "    %a = Slice(%Y, %k4, %f, %k5) : " list "\n    %b = Slice(%Y, %g, %k6, %k5) : " list "\n" \
  "    %y = Concat(%a, %u, %b) {axis=0} : " list "\n    %t = Const {true} : boolean[]\n"
#define WEIGHTS \
  "    %v = Const {1,-2,3,0.5,-1,0.25,2,1,-3,1.5,0.75,2} : f32[3,4]\n" \
  "    %w = Const {1,-2,3,0.5,-1,0.25,2,1,-3,1.5,0.75,2} : f32[4,3]\n"

typedef struct { const char *name, *text; } Loop;

static const Loop loops[] =
{
  { "sums of slices",
    HEAD "%x = Parameter : f32[2,5,3]\n%s = Parameter : f32[2,1,3]\n"
    "%l = TensorIterator(%x, %s) : f32[2,5,3], f32[2,1,3] {\n  body {\n    in 0 -> 0 axis=1\n    in 1 -> 1\n"
    "    out 0 <- 0 axis=1\n    out 1 <- 0\n    back 0 -> 1\n"
    "    %a = Parameter : f32[2,1,3]\n    %b = Parameter : f32[2,1,3]\n    %d = Add(%a, %b) : f32[2,1,3]\n"
    "    Result(%d)\n  }\n}\n"
    "Result(%l)\nResult(%l.1)\n" },
  { "from the end, by parts of two",
    "%x = Parameter : f32[2,6,3]\n%s = Parameter : f32[2,2,3]\n"
    "%l = TensorIterator(%x, %s) : f32[2,6,3], f32[2,2,3] {\n  body {\n"
    "    in 0 -> 0 axis=1 start=-1 end=0 stride=-2 part=2\n    in 1 -> 1\n"
    "    out 0 <- 0 axis=1 start=-1 end=0 stride=-2 part=2\n    out 1 <- 0\n    back 0 -> 1\n"
    "    %a = Parameter : f32[2,2,3]\n    %b = Parameter : f32[2,2,3]\n    %d = Subtract(%a, %b) : f32[2,2,3]\n"
    "    Result(%d)\n  }\n}\n"
    "Result(%l)\nResult(%l.1)\n" },
  { "joined along the last axis, overlapping slices",
    "%x = Parameter : f32[3,7]\n"
    "%l = TensorIterator(%x) : f32[3,12] {\n  body {\n    in 0 -> 0 axis=1 stride=1 part=2\n"
    "    out 0 <- 0 axis=1 stride=2 part=2\n"
    "    %a = Parameter : f32[3,2]\n    %d = Multiply(%a, %a) : f32[3,2]\n    Result(%d)\n  }\n}\nResult(%l)\n" },
  { "values change places in a ring, one is seen as it goes in",
    HEAD "%x = Parameter : f32[3]\n%y = Parameter : f32[3]\n%z = Parameter : f32[3]\n%w = Parameter : f32[3]\n"
    "%l = Loop(%m, %c, %x, %y, %z, %w) : f32[3], f32[3], f32[3], f32[3], f32[3], f32[12] {\n  body {\n"
    "    in 2 -> 0\n    in 3 -> 1\n    in 4 -> 2\n    in 5 -> 3\n"
    "    out 0 <- 0\n    out 1 <- 1\n    out 2 <- 2\n    out 3 <- 3\n    out 4 <- 4\n    out 5 <- 4 axis=0 part=3\n"
    "    back 0 -> 0\n    back 1 -> 1\n    back 2 -> 2\n    back 3 -> 3\n"
    "    %a = Parameter : f32[3]\n    %b = Parameter : f32[3]\n    %d = Parameter : f32[3]\n"
    "    %e = Parameter : f32[3]\n    %s = Add(%a, %b) : f32[3]\n"
    "    Result(%b)\n    Result(%s)\n    Result(%a)\n    Result(%e)\n    Result(%d)\n  }\n}\n"
    "Result(%l)\nResult(%l.1)\nResult(%l.2)\nResult(%l.3)\nResult(%l.4)\nResult(%l.5)\n" },
  { "until a sum is large, the number of the trip",
    "%m = Const {100} : i64[]\n%c = Const {true} : boolean[]\n%x = Parameter : f32[1]\n"
    "%l = Loop(%m, %c, %x) : f32[1], i64[] {\n  body {\n    in _ -> 1 iteration\n    in 2 -> 0\n"
    "    out _ <- 1 condition\n    out 0 <- 0\n    out 1 <- 2\n    back 0 -> 0\n"
    "    %a = Parameter : f32[1]\n    %i = Parameter : i64[]\n    %o = Const {1.5} : f32[]\n"
    "    %d = Add(%a, %o) : f32[1]\n    %t = Const {10} : f32[1]\n"
    "    %b = Less(%d, %t) : boolean[1]\n    Result(%d)\n    Result(%b)\n    Result(%i)\n  }\n}\nResult(%l)\n"
    "Result(%l.1)\n" },
  { "parts of trips that are not counted before",
    "%m = Const {100} : i64[]\n%c = Const {true} : boolean[]\n%x = Parameter : f32[1]\n"
    "%l = Loop(%m, %c, %x) : f32[1], f32[?] {\n  body {\n    in 2 -> 0\n    out _ <- 1 condition\n"
    "    out 0 <- 0\n    out 1 <- 0 axis=0\n    back 0 -> 0\n"
    "    %a = Parameter : f32[1]\n    %o = Const {1.5} : f32[]\n    %d = Add(%a, %o) : f32[1]\n"
    "    %t = Const {10} : f32[1]\n"
    "    %b = Less(%d, %t) : boolean[1]\n    Result(%d)\n    Result(%b)\n  }\n}\nResult(%l)\nResult(%l.1)\n" },
  { "a body that wants one trip",
    HEAD "%x = Parameter : f32[1,2]\n"
    "%l = Loop(%m, %c, %x) : f32[1,2], f32[1,2] {\n  body {\n    in 2 -> 0\n    out _ <- 1 condition\n"
    "    out 0 <- 0\n    out 1 <- 0 axis=0\n    back 0 -> 0\n"
    "    %a = Parameter : f32[1,2]\n    %d = Add(%a, %a) : f32[1,2]\n    %f = Const {false} : boolean[]\n"
    "    Result(%d)\n    Result(%f)\n  }\n}\n"
    "Result(%l)\nResult(%l.1)\n" },
  { "a value that grows",
    HEAD "%x = Parameter : f32[1,2]\n"
    "%l = Loop(%m, %c, %x) : f32[?,2] {\n  body {\n    in 2 -> 0\n    out 0 <- 0\n    back 0 -> 0\n"
    "    %a = Parameter : f32[?,2]\n    %d = Concat(%a, %a) {axis=0} : f32[?,2]\n    Result(%d)\n  }\n}\n"
    "Result(%l)\n" },
  { "a loop in a loop, what is around it is read in both",
    HEAD "%x = Parameter : f32[3,4]\n%s = Parameter : f32[1,4]\n"
    "%l = TensorIterator(%x, %s) : f32[3,4] {\n  body {\n    in 0 -> 0 axis=0\n    in 1 -> 1\n"
    "    out 0 <- 0 axis=0\n    back 0 -> 1\n"
    "    %a = Parameter : f32[1,4]\n    %b = Parameter : f32[1,4]\n    %n = Const {3} : i64[]\n"
    "    %u = Const {true} : boolean[]\n"
    "    %k = Loop(%n, %u, %a, %b) : f32[1,4] {\n  body {\n    in 2 -> 0\n    in 3 -> 1\n    out 0 <- 0\n"
    "    back 0 -> 1\n"
    "    %p = Parameter : f32[1,4]\n    %q = Parameter : f32[1,4]\n    %r = Subtract(%p, %q) : f32[1,4]\n"
    "    Result(%r)\n  }\n}\n"
    "    Result(%k)\n  }\n}\nResult(%l)\n" },
  { "no trip",
    "%m = Const {0} : i64[]\n%c = Const {true} : boolean[]\n%x = Parameter : f32[2]\n"
    "%l = Loop(%m, %c, %x) : f32[2] {\n  body {\n    in 2 -> 0\n    out 0 <- 0\n    back 0 -> 0\n"
    "    %a = Parameter : f32[2]\n    %d = Add(%a, %a) : f32[2]\n    Result(%d)\n  }\n}\nResult(%l)\n" },
  { "places that are counted become slices, written ones parts",
    COUNTED ("f32[5,2,3]", "f32[2,3]", "f32[5,2,3]", "f32[5,2,3]")
    "    %z = Const {0} : i64[]\n    %x = Gather@8(%X, %i, %z) : f32[2,3]\n    %n = Subtract(%x, %s) : f32[2,3]\n"
    "    %u = Unsqueeze(%n, %z) : f32[1,2,3]\n    %o = Const {1} : i64[]\n    %j = Unsqueeze(%i, %z) : i64[1]\n"
    "    %k = Add(%j, %o) : i64[1]\n    %w = Const {1} : i64[1]\n    %a = Const {0} : i64[1]\n"
    "    %y = SliceScatter(%Y, %u, %j, %k, %w, %a) : f32[5,2,3]\n    %t = Const {true} : boolean[]\n" NEXT },
  { "backwards along the last axis, two at a time",
    COUNTED ("f32[2,5]", "f32[2,1]", "f32[2,10]", "f32[2,10]")
    "    %z = Const {1} : i64[]\n    %o = Const {4} : i64[1]\n    %j = Subtract(%o, %i) : i64[1]\n"
    "    %x = Gather@8(%X, %j, %z) : f32[2,1]\n"
    "    %n = Subtract(%x, %s) : f32[2,1]\n    %u = Concat(%n, %x) {axis=1} : f32[2,2]\n    %v = Const {2} : i64[]\n"
    "    %f = Multiply(%j, %v) : i64[1]\n    %k = Add(%f, %v) : i64[1]\n    %w = Const {1} : i64[1]\n"
    "    %a = Const {-1} : i64[1]\n"
    "    %y = SliceScatter(%Y, %u, %f, %k, %w, %a) : f32[2,10]\n    %t = Const {true} : boolean[]\n" NEXT },
  { "parts that leave some of what was there",
    COUNTED ("f32[5,3]", "f32[1,3]", "f32[6,3]", "f32[6,3]")
    "    %z = Const {0} : i64[]\n    %j = Unsqueeze(%i, %z) : i64[1]\n    %x = Gather@8(%X, %j, %z) : f32[1,3]\n"
    "    %n = Add(%x, %s) : f32[1,3]\n    %o = Const {1} : i64[]\n    %k = Add(%j, %o) : i64[1]\n"
    "    %w = Const {1} : i64[1]\n"
    "    %a = Const {0} : i64[1]\n    %y = SliceScatter(%Y, %n, %j, %k, %w, %a) : f32[6,3]\n"
    "    %t = Const {true} : boolean[]\n" NEXT },
  { "a state that is read before it is written",
    COUNTED ("f32[5,3]", "f32[1,3]", "f32[5,3]", "f32[5,3]")
    "    %z = Const {0} : i64[]\n    %j = Unsqueeze(%i, %z) : i64[1]\n    %x = Gather@8(%Y, %j, %z) : f32[1,3]\n"
    "    %n = Add(%x, %s) : f32[1,3]\n    %o = Const {1} : i64[]\n    %k = Add(%j, %o) : i64[1]\n"
    "    %w = Const {1} : i64[1]\n"
    "    %a = Const {0} : i64[1]\n    %y = SliceScatter(%Y, %n, %j, %k, %w, %a) : f32[5,3]\n"
    "    %t = Const {true} : boolean[]\n" NEXT },
  { "places that do not lie evenly",       /* 0, 1, 4, 9, 16 */
    COUNTED ("f32[17,3]", "f32[3]", "f32[5,3]", "f32[5,3]")
    "    %z = Const {0} : i64[]\n    %q = Multiply(%i, %i) : i64[]\n    %x = Gather@8(%X, %q, %z) : f32[3]\n"
    "    %n = Subtract(%x, %s) : f32[3]\n"
    "    %u = Unsqueeze(%n, %z) : f32[1,3]\n    %h = Const {4} : i64[]\n    %p = Subtract(%h, %i) : i64[]\n"
    "    %j = Unsqueeze(%p, %z) : i64[1]\n"
    "    %o = Const {1} : i64[]\n    %k = Add(%j, %o) : i64[1]\n    %w = Const {1} : i64[1]\n"
    "    %a = Const {0} : i64[1]\n"
    "    %y = SliceScatter(%Y, %u, %j, %k, %w, %a) : f32[5,3]\n    %t = Const {true} : boolean[]\n" NEXT },
  { "products of slices: of the middle axis, backwards, with weights either way",
    "%x = Parameter : f32[2,5,3]\n%s = Parameter : f32[2,4]\n"
    "%l = TensorIterator(%x, %s) : f32[2,5,4] {\n  body {\n    in 0 -> 0 axis=1 start=-1 end=0 stride=-1\n"
    "    in 1 -> 1\n"
    "    out 0 <- 1 axis=1 start=-1 end=0 stride=-1\n    back 0 -> 1\n"
    "    %a = Parameter : f32[2,1,3]\n    %h = Parameter : f32[2,4]\n    %z = Const {1} : i64[1]\n"
    "    %b = Squeeze(%a, %z) : f32[2,3]\n" WEIGHTS
    "    %p = MatMul(%b, %v) : f32[2,4]\n    %q = MatMul(%b, %w) {transpose_b=true} : f32[2,4]\n"
    "    %n = Subtract(%p, %h) : f32[2,4]\n    %d = Multiply(%n, %q) : f32[2,4]\n"
    "    %e = Unsqueeze(%d, %z) : f32[2,1,4]\n"
    "    Result(%d)\n    Result(%e)\n  }\n}\nResult(%l)\n" },
  { "products of slices of two, which overlap",
    "%x = Parameter : f32[6,3]\n"
    "%l = TensorIterator(%x) : f32[10,4] {\n  body {\n    in 0 -> 0 axis=0 part=2\n    out 0 <- 0 axis=0 part=2\n"
    "    %a = Parameter : f32[2,3]\n" WEIGHTS "    %p = MatMul(%a, %v) : f32[2,4]\n    Result(%p)\n  }\n}\n"
    "Result(%l)\n" },
  { "products of slices along the axis that is summed",
    "%x = Parameter : f32[2,9]\n"
    "%l = TensorIterator(%x) : f32[6,4] {\n  body {\n    in 0 -> 0 axis=1 stride=3 part=3\n"
    "    out 0 <- 0 axis=0 part=2\n"
    "    %a = Parameter : f32[2,3]\n" WEIGHTS "    %p = MatMul(%a, %v) : f32[2,4]\n    Result(%p)\n  }\n}\n"
    "Result(%l)\n" },
  { "products of slices that are other rows in the body",
    "%x = Parameter : f32[3,2,3]\n"
    "%l = TensorIterator(%x) : f32[6,4], f32[3,2] {\n  body {\n    in 0 -> 0 axis=0\n"
    "    out 0 <- 0 axis=0 part=2\n    out 1 <- 1 axis=0\n"
    "    %a = Parameter : f32[1,2,3]\n    %f = Const {2,3} : i64[2]\n    %b = Reshape(%a, %f) : f32[2,3]\n"
    "    %g = Const {1,6} : i64[2]\n    %c = Reshape(%a, %g) : f32[1,6]\n" WEIGHTS
    "    %k = Const {1,2,3,4,5,6,7,8,9,10,11,12} : f32[6,2]\n    %p = MatMul(%b, %v) : f32[2,4]\n"
    "    %q = MatMul(%c, %k) : f32[1,2]\n    Result(%p)\n    Result(%q)\n  }\n}\nResult(%l)\nResult(%l.1)\n" },
  { "pieces: an element is put into a list",
    COUNTED ("f32[5,2,3]", "f32[2,3]", "f32[5,2,3]", "f32[?,2,3]")
    "    %z = Const {0} : i64[]\n    %x = Gather@8(%X, %i, %z) : f32[2,3]\n    %n = Subtract(%x, %s) : f32[2,3]\n"
    "    %u = Unsqueeze(%n, %z) : f32[1,2,3]\n" PIECES ("%i", "f32[?,2,3]", "9, 9") NEXT },
  { "pieces from the end",
    COUNTED ("f32[5,2,3]", "f32[2,3]", "f32[5,2,3]", "f32[?,2,3]")
    "    %z = Const {0} : i64[]\n    %q = Const {4} : i64[]\n    %p = Subtract(%q, %i) : i64[]\n"
    "    %x = Gather@8(%X, %p, %z) : f32[2,3]\n    %n = Subtract(%x, %s) : f32[2,3]\n"
    "    %u = Unsqueeze(%n, %z) : f32[1,2,3]\n" PIECES ("%p", "f32[?,2,3]", "9, 9") NEXT },
  { "pieces of a longer list",
    COUNTED ("f32[5,2,3]", "f32[2,3]", "f32[6,2,3]", "f32[?,2,3]")
    "    %z = Const {0} : i64[]\n    %x = Gather@8(%X, %i, %z) : f32[2,3]\n    %n = Subtract(%x, %s) : f32[2,3]\n"
    "    %u = Unsqueeze(%n, %z) : f32[1,2,3]\n" PIECES ("%i", "f32[?,2,3]", "9, 9") NEXT },
};

static void
test_loop (gconstpointer data)
{
  const Loop *loop = data;
  g_autoptr (LptGraph) graph = fast_case_read (loop->text, loop->name);

  fast_case_compare (graph, -1, 1);
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (loops); i++)
    {
      g_autofree char *path = g_strdup_printf ("/fast-loops/%s", loops[i].name);

      g_test_add_data_func (path, &loops[i], test_loop);
    }

  return g_test_run ();
}
