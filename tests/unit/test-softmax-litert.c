/* test-softmax-litert.c - rows of which the two 8-bit Softmax of TensorFlow Lite make different codes
 *
 * Those of TensorFlow Lite 2.9 are its own answers for a network that segments; tflite-micro computes in fixed point.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"

#define ROWS(mode) \
  "graph {lowered=true, requant=\"" mode "\"}\n" \
  "%x = Const {-49, -44, -40, -33, -26, -26, -31, -37, -43, -48, -52, -55, -59, -61, -62, -60, " \
  "-45, -38, -33, -35, -38, -38, -37, -39, -42, -46, -50, -53, -55, -57, -60, -56} : i8[2,16] " \
  "q{scale=0.14798694849014282, zp=-52}\n" \
  "%y = Softmax(%x) {axis=1} : i8[2,16] q{scale=0.00390625, zp=-128}\nResult(%y)\n"

#define OF_FLOATS \
  "-126, -123, -119, -102, -53, -53, -92, -113, -122, -125, -126, -127, -127, -128, -128, -128, " \
  "-119, -103, -77, -90, -103, -103, -100, -107, -114, -120, -124, -125, -126, -127, -127, -126"

#define OF_FIXED \
  "-126, -123, -119, -102, -54, -54, -92, -113, -122, -125, -126, -127, -127, -128, -128, -128, " \
  "-119, -103, -76, -90, -103, -103, -100, -107, -114, -120, -124, -125, -126, -127, -127, -126"

static const ExecCase cases[] = {
  { "litert", ROWS ("litert"), OF_FLOATS },
  { "xnnpack", ROWS ("xnnpack"), OF_FLOATS },
  { "litert-double", ROWS ("litert-double"), OF_FIXED },
  { "litert-single", ROWS ("litert-single"), OF_FIXED },
};

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  exec_cases_add ("softmax-litert", cases, G_N_ELEMENTS (cases));

  return g_test_run ();
}
