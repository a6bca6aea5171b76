/* test-exec-axes.c - reductions, normalisations, sorting along axes in the reference executor
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"

static const ExecCase cases[] =
{
  { "reduce",
    "%x = Const {1, -2, 3, 4, 5, 6} : f32[2,3]\n%a = Const {-1} : i64[1]\n%b = Const {0, 1} : i64[2]\n"
    "%s = ReduceSum(%x, %a) : f32[2]\n%m = ReduceMean(%x, %b) {keep_dims=true} : f32[1,1]\n%l = ReduceL1(%x, %a) : f32[2]\n"
    "%q = ReduceL2(%x, %a) : f32[2]\n%p = ReduceProd(%x, %a) : f32[2]\n%g = ReduceMin(%x, %a) : f32[2]\n"
    "Result(%s)\nResult(%m)\nResult(%l)\nResult(%q)\nResult(%p)\nResult(%g)\n",
    "2, 15; 2.83333333; 6, 15; 3.74165739, 8.77496439; -6, 120; -2, 4", 1e-6 },
  { "reduce-nothing",
    "%x = Const {1, 2} : f32[2]\n%a = Const {} : i64[0]\n%e = Const {} : f32[0,2]\n%z = Const {0} : i64[1]\n"
    "%s = ReduceSum(%x, %a) : f32[2]\n%t = ReduceSum(%e, %z) : f32[2]\nResult(%s)\nResult(%t)\n",
    "1, 2; 0, 0" },
  { "reduce-logical",
    "%x = Const {true, false, true, true} : boolean[2,2]\n%a = Const {1} : i64[1]\n%o = ReduceLogicalOr(%x, %a) : boolean[2]\n"
    "%n = ReduceLogicalAnd(%x, %a) : boolean[2]\nResult(%o)\nResult(%n)\n",
    "1, 1; 0, 1" },
  { "inverse",                     /* the first pivot of the second matrix stands in its last row */
    "%x = Const {2, 1, 1, 1, 0, 1, 4, 2} : f32[2,2,2]\n%y = Inverse(%x) : f32[2,2,2]\n"
    "%t = Inverse(%x) {adjoint=true} : f32[2,2,2]\nResult(%y)\nResult(%t)\n",
    "1, -1, -1, 2, -0.5, 0.25, 1, 0; 1, -1, -1, 2, -0.5, 1, 0.25, 0", 1e-6 },
  { "unique",                      /* NaNs are one; slices of an axis; the order of first places */
    "%x = Const {3, nan, 2, 3, nan, 5} : f32[2,3]\n%a = Unique(%x) : f32[?], i64[?], i64[6], i64[?]\n"
    "%b = Unique(%x) {sorted=false, index_element_type=i32} : f32[?], i32[?], i32[6], i64[?]\n"
    "%y = Const {1, 2, 1, 0, 5, 0, 1, 2, 1} : i32[3,3]\n%k = Const {1} : i64[]\n"
    "%c = Unique(%y, %k) : i32[3,?], i64[?], i64[3], i64[?]\nResult(%a)\nResult(%a.1)\nResult(%a.2)\nResult(%a.3)\n"
    "Result(%b.1)\nResult(%b.2)\nResult(%b.3)\nResult(%c)\nResult(%c.1)\nResult(%c.2)\nResult(%c.3)\n",
    "2, 3, 5, nan; 2, 0, 5, 1; 1, 3, 0, 1, 3, 2; 1, 2, 1, 2; 0, 1, 2, 5; 0, 1, 2, 0, 1, 3; 2, 2, 1, 1; "
    "1, 2, 0, 5, 1, 2; 0, 1; 0, 1, 0; 2, 1" },
  { "sparse-fill-empty-rows",
    "%v = Const {10, 20, 30} : f32[3]\n%s = Const {5, 6} : i64[2]\n%p = Const {3, 1, 0, 1, 0, 3} : i64[3,2]\n"
    "%d = Const {-1} : f32[]\n%o = SparseFillEmptyRows(%v, %s, %p, %d) : i64[?,2], f32[?], boolean[5]\n"
    "Result(%o)\nResult(%o.1)\nResult(%o.2)\n",
    "0, 1, 0, 3, 1, 0, 2, 0, 3, 1, 4, 0; 20, 30, -1, -1, 10, -1; 0, 1, 1, 0, 1" },
  { "ctc-loss",                    /* sums over all alignments; equal labels merged or not, or collapsed before */
    "%x = Const {0.1, 0.2, 0.3, 0.5, -0.5, 0.2, 1, 2, 3, 0, 0, 1} : f32[1,4,3]\n%t = Const {4} : i32[1]\n"
    "%l = Const {0, 0, 1} : i32[1,3]\n%n = Const {2} : i32[1]\n%a = CTCLoss(%x, %t, %l, %n) : f32[1]\n"
    "%b = CTCLoss(%x, %t, %l, %n) {ctc_merge_repeated=false} : f32[1]\n"
    "%c = CTCLoss(%x, %t, %l, %n) {preprocess_collapse_repeated=true} : f32[1]\nResult(%a)\nResult(%b)\nResult(%c)\n",
    "2.70258790; 2.19781340; 1.55282064", 1e-6 },
  { "cumulative-sum",
    "%x = Const {1, 2, 3} : f32[3]\n%z = Const {0} : i64[]\n%a = CumSum(%x, %z) : f32[3]\n"
    "%b = CumSum(%x, %z) {exclusive=true, reverse=true} : f32[3]\nResult(%a)\nResult(%b)\n",
    "1, 3, 6; 5, 3, 0" },
  { "cumulative-sum-of-a-scalar",
    "%x = Const {3} : f32[]\n%a = CumSum(%x) : f32[]\n%b = CumSum(%x) {exclusive=true} : f32[]\n"
    "Result(%a)\nResult(%b)\n",
    "3; 0" },
  { "arg-reduce",
    "%x = Const {1, 3, 3, 2} : f32[1,4]\n%f = ArgMax(%x) {axis=1, keep_dims=false} : i64[1]\n"
    "%l = ArgMax(%x) {axis=1, last_index=true} : i64[1,1]\n%m = ArgMin(%x) {axis=-1} : i64[1,1]\nResult(%f)\nResult(%l)\nResult(%m)\n",
    "1; 2; 0" },
  { "top-k",
    "%x = Const {3, 1, 4, 1, 5} : f32[5]\n%k = Const {3} : i64[]\n"
    "%v = TopK(%x, %k) {axis=0, mode=max, sort=value} : f32[3], i32[3]\n"
    "%i = TopK(%x, %k) {axis=0, mode=min, sort=index} : f32[3], i32[3]\nResult(%v)\nResult(%v.1)\nResult(%i)\nResult(%i.1)\n",
    "5, 4, 3; 4, 2, 0; 3, 1, 1; 0, 1, 3" },
  { "top-k-beside",                 /* two lines side by side; a NaN comes last in both modes */
    "%x = Const {nan, 5, 2, 5, 2, 5, 7, 4, nan, 6, 7, 5, -1, nan, 2, 6, 9, 4, -1, 4} : f32[10,2]\n"
    "%k = Const {3} : i64[]\n%v = TopK(%x, %k) {axis=0, mode=max, sort=value} : f32[3,2], i32[3,2]\n"
    "%i = TopK(%x, %k) {axis=0, mode=min, sort=value} : f32[3,2], i32[3,2]\n"
    "Result(%v)\nResult(%v.1)\nResult(%i)\nResult(%i.1)\n",
    "9, 6, 7, 6, 7, 5; 8, 4, 3, 7, 5, 0; -1, 4, -1, 4, 2, 4; 6, 3, 9, 8, 1, 9" },
  { "softmax",
    "%x = Const {1, 2, 3} : f32[1,3]\n%s = SoftMax(%x) {axis=-1} : f32[1,3]\n%l = LogSoftmax(%x) {axis=1} : f32[1,3]\n"
    "Result(%s)\nResult(%l)\n",
    "0.0900305732, 0.244728471, 0.665240956; -2.40760596, -1.40760596, -0.407605964", 1e-6 },
  { "softmax-of-large-numbers",
    "%x = Const {1000, 1000} : f32[2]\n%s = SoftMax(%x) {axis=0} : f32[2]\nResult(%s)\n",
    "0.5, 0.5" },
  { "mvn",                         /* eps inside and outside the root */
    "%x = Const {1, 2, 4, 8} : f32[1,4]\n%a = Const {1} : i64[1]\n"
    "%i = MVN(%x, %a) {eps=0.1, normalize_variance=true, eps_mode=inside_sqrt} : f32[1,4]\n"
    "%o = MVN(%x, %a) {eps=0.1, normalize_variance=true, eps_mode=outside_sqrt} : f32[1,4]\n"
    "%m = MVN(%x, %a) {eps=0.1, normalize_variance=false, eps_mode=inside_sqrt} : f32[1,4]\nResult(%i)\nResult(%o)\nResult(%m)\n",
    "-1.01869321, -0.648259313, 0.0926084733, 1.57434405; -0.988870239, -0.629281061, 0.0898972945, 1.52825401; "
    "-2.75, -1.75, 0.25, 4.25", 1e-6 },
  { "normalize-l2",
    "%x = Const {3, 4} : f32[1,2]\n%a = Const {1} : i64[1]\n%s = NormalizeL2(%x, %a) {eps=0.1, eps_mode=add} : f32[1,2]\n"
    "%u = Const {0.3, 0.4} : f32[1,2]\n%m = NormalizeL2(%u, %a) {eps=1, eps_mode=max} : f32[1,2]\nResult(%s)\nResult(%m)\n",
    "0.598803588, 0.798404784; 0.3, 0.4", 1e-6 },
  { "lrn",
    "%x = Const {1, 2, 3, 4} : f32[1,4,1,1]\n%a = Const {1} : i64[1]\n"
    "%y = LRN(%x, %a) {alpha=0.3, beta=0.75, bias=1, size=3} : f32[1,4,1,1]\nResult(%y)\n",
    "0.737787946, 1.03722163, 1.0809928, 1.56317989", 1e-6 },
  { "batch-norm-both-orders",      /* opset1 has the data third */
    "%x = Const {1, 2, 3, 4} : f32[1,2,2]\n%g = Const {2, 3} : f32[2]\n%b = Const {0.5, -1} : f32[2]\n%m = Const {1, 2} : f32[2]\n"
    "%v = Const {0.9, 3.9} : f32[2]\n%y = BatchNormInference(%x, %g, %b, %m, %v) {epsilon=0.1} : f32[1,2,2]\n"
    "%z = BatchNormInference@1(%g, %b, %x, %m, %v) {epsilon=0.1} : f32[1,2,2]\nResult(%y)\nResult(%z)\n",
    "0.5, 2.5, 0.5, 2; 0.5, 2.5, 0.5, 2", 1e-6 },
  { "group-normalization",         /* two groups of two channels: (1, 3) and (5, 9), deviations 1 and 2 */
    "%x = Const {1, 3, 5, 9} : f32[1,4,1]\n%s = Const {1, 1, 2, 2} : f32[4]\n%b = Const {0, 0, 0, 1} : f32[4]\n"
    "%y = GroupNormalization(%x, %s, %b) {num_groups=2, epsilon=0} : f32[1,4,1]\nResult(%y)\n",
    "-1, 1, -2, 3" },
  { "grn",                         /* 3^2 + 4^2 + 0 = 5^2 */
    "%x = Const {3, 4} : f32[1,2,1,1]\n%y = GRN(%x) {bias=0} : f32[1,2,1,1]\nResult(%y)\n",
    "0.6, 0.8", 1e-6 },
};

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  exec_cases_add ("axes", cases, G_N_ELEMENTS (cases));

  return g_test_run ();
}
