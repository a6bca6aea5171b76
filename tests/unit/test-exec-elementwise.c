/* test-exec-elementwise.c - arithmetic, comparisons, functions, FakeQuantize, Convert in the reference executor
 *
 * Expected numbers are worked out by hand or by the formula beside them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"

static const ExecCase cases[] =
{
  { "add-broadcast",
    "%a = Const {1, 2, 3, 4, 5, 6} : f32[2,3]\n%b = Const {10, 20} : f32[2,1]\n"
    "%y = Add(%a, %b) : f32[2,3]\nResult(%y)\n",
    "11, 12, 13, 24, 25, 26" },
  { "subtract-scalar-left",
    "%a = Const {10} : f32[]\n%b = Const {1, 2} : f32[2]\n%y = Subtract(%a, %b) : f32[2]\nResult(%y)\n",
    "9, 8" },
  { "empty",
    "%a = Const {} : f32[0,3]\n%b = Const {1, 2, 3} : f32[3]\n%y = Multiply(%a, %b) : f32[0,3]\nResult(%y)\n",
    "" },
  { "divide-integers-like-python",
    "%a = Const {7, -7, 7, -7} : i32[4]\n%b = Const {2, 2, -2, -2} : i32[4]\n%y = Divide(%a, %b) : i32[4]\nResult(%y)\n",
    "3, -4, -4, 3" },
  { "divide-integers-truncating",
    "%a = Const {7, -7, 7, -7} : i64[4]\n%b = Const {2, 2, -2, -2} : i64[4]\n"
    "%y = Divide(%a, %b) {m_pythondiv=false} : i64[4]\nResult(%y)\n",
    "3, -3, -3, 3" },
  { "divide-bytes",
    "%a = Const {7, 200} : u8[2]\n%b = Const {2, 3} : u8[2]\n%y = Divide(%a, %b) : u8[2]\nResult(%y)\n",
    "3, 66" },
  { "mod-signs",
    "%a = Const {5, -5, 5, -5} : f32[4]\n%b = Const {3, 3, -3, -3} : f32[4]\n"
    "%m = Mod(%a, %b) : f32[4]\n%f = FloorMod(%a, %b) : f32[4]\nResult(%m)\nResult(%f)\n",
    "2, -2, 2, -2; 2, 1, -1, -2" },
  { "power-integers",
    "%a = Const {2, -3, 5} : i64[3]\n%b = Const {10, 3, 0} : i64[3]\n%y = Power(%a, %b) : i64[3]\nResult(%y)\n",
    "1024, -27, 1" },
  { "prelu-per-channel",
    "%x = Const {-1, -2, -3, 4} : f32[1,2,2]\n%s = Const {0.5, 2} : f32[2]\n%y = PRelu(%x, %s) : f32[1,2,2]\nResult(%y)\n",
    "-0.5, -1, -6, 4" },
  { "select",
    "%c = Const {true, false} : boolean[2]\n%a = Const {1, 2} : f32[2]\n%b = Const {9} : f32[1]\n"
    "%y = Select(%c, %a, %b) : f32[2]\nResult(%y)\n",
    "1, 9" },
  { "compare",
    "%a = Const {1, 2, 3} : f32[3]\n%b = Const {2} : f32[]\n%l = LessEqual(%a, %b) : boolean[3]\n"
    "%e = NotEqual(%a, %b) : boolean[3]\n%y = LogicalXor(%l, %e) : boolean[3]\nResult(%l)\nResult(%y)\n",
    "1, 1, 0; 0, 1, 1" },
  { "bits",
    "%a = Const {12, 5} : i32[2]\n%b = Const {10, 3} : i32[2]\n%x = BitwiseXor(%a, %b) : i32[2]\n"
    "%n = BitwiseNot(%a) : i32[2]\nResult(%x)\nResult(%n)\n",
    "6, 6; -13, -6" },
  { "shifts",
    "%a = Const {1, -8} : i32[2]\n%b = Const {4, 1} : i32[2]\n%l = BitwiseLeftShift(%a, %b) : i32[2]\n"
    "%r = BitwiseRightShift(%a, %b) : i32[2]\nResult(%l)\nResult(%r)\n",
    "16, -16; 0, -4" },

  /* --- functions --- */
  { "round-to-even",
    "%x = Const {0.5, 1.5, 2.5, -0.5, -2.5} : f32[5]\n%y = Round(%x) : f32[5]\nResult(%y)\n",
    "0, 2, 2, 0, -2" },
  { "round-away",
    "%x = Const {0.5, 2.5, -0.5} : f32[3]\n%y = Round(%x) {mode=half_away_from_zero} : f32[3]\nResult(%y)\n",
    "1, 3, -1" },
  { "clamp-integers",      /* bounds move inwards: [-1.5, 2.5] is [-1, 2] */
    "%x = Const {-3, -1, 0, 2, 9} : i32[5]\n%y = Clamp(%x) {min=-1.5, max=2.5} : i32[5]\nResult(%y)\n",
    "-1, -1, 0, 2, 2" },
  { "saturating-functions",
    "%x = Const {-4, -1, 0, 1, 4} : f32[5]\n%h = HSigmoid(%x) : f32[5]\n%s = HSwish(%x) : f32[5]\n"
    "%a = Const {0.2} : f32[]\n%b = Const {0.5} : f32[]\n%g = HardSigmoid(%x, %a, %b) : f32[5]\n"
    "Result(%h)\nResult(%s)\nResult(%g)\n",
    "0, 0.33333333, 0.5, 0.66666667, 1; 0, -0.33333333, 0, 0.66666667, 4; 0, 0.3, 0.5, 0.7, 1", 1e-6 },
  { "exponentials",        /* e = 2.718281828 */
    "%x = Const {-1, 0, 1} : f32[3]\n%e = Elu(%x) {alpha=2} : f32[3]\n%s = Sigmoid(%x) : f32[3]\n%p = SoftPlus(%x) : f32[3]\n"
    "%w = Swish(%x) : f32[3]\n%m = Mish(%x) : f32[3]\nResult(%e)\nResult(%s)\nResult(%p)\nResult(%w)\nResult(%m)\n",
    "-1.26424112, 0, 1; 0.26894142, 0.5, 0.73105858; 0.31326169, 0.69314718, 1.31326169; "
    "-0.26894142, 0, 0.73105858; -0.30340147, 0, 0.86509839", 1e-6 },
  { "swish",               /* 1 / (1 + e^-2) = 0.88079708 */
    "%x = Const {-1, 0, 1, 300} : f32[4]\n%b = Const {2} : f32[]\n%w = Swish(%x, %b) : f32[4]\nResult(%w)\n",
    "-0.11920292, 0, 0.88079708, 300", 1e-6 },
  { "gelu",                /* Phi (1) = 0.841344746 */
    "%x = Const {-1, 1} : f32[2]\n%a = Gelu(%x) : f32[2]\n%b = Gelu(%x) {approximation_mode=tanh} : f32[2]\n"
    "Result(%a)\nResult(%b)\n",
    "-0.158655254, 0.841344746; -0.15880801, 0.84119199", 1e-6 },
  { "no-overflow",
    "%x = Const {-1000, 1000} : f32[2]\n%s = Sigmoid(%x) : f32[2]\n%p = SoftPlus(%x) : f32[2]\n%m = Mish(%x) : f32[2]\n"
    "Result(%s)\nResult(%p)\nResult(%m)\n",
    "0, 1; 0, 1000; 0, 1000" },
  { "integers-stay",
    "%x = Const {-9007199254740993, 5} : i64[2]\n%a = Abs(%x) : i64[2]\n%n = Negative(%a) : i64[2]\n"
    "%d = Subtract(%n, %x) : i64[2]\nResult(%d)\n",
    "0, -10" },
  { "classes",
    "%x = Const {1, inf, -inf, nan} : f32[4]\n%f = IsFinite(%x) : boolean[4]\n%n = IsNaN(%x) : boolean[4]\n"
    "%i = IsInf(%x) {detect_negative=false} : boolean[4]\nResult(%f)\nResult(%n)\nResult(%i)\n",
    "1, 0, 0, 0; 0, 0, 0, 1; 0, 1, 0, 0" },

  /* --- rounding ops --- */
  { "fake-quantize",       /* step 0.1 over [0, 0.3]; 0.15 and 0.05 lie between codes: 1.5 and 0.5 in f32 */
    "%x = Const {-1, 0, 0.04, 0.11, 0.26, 0.3, 9} : f32[7]\n%l = Const {0} : f32[]\n%h = Const {0.3} : f32[]\n"
    "%o = Const {0} : f32[]\n%p = Const {3} : f32[]\n"
    "%y = FakeQuantize(%x, %l, %h, %o, %p) {levels=4} : f32[7]\nResult(%y)\n",
    "0, 0, 0, 1, 3, 3, 3" },
  { "fake-quantize-ties-to-even",
    "%x = Const {0.5, 1.5, 2.5} : f32[3]\n%l = Const {0} : f32[]\n%h = Const {4} : f32[]\n"
    "%y = FakeQuantize(%x, %l, %h, %l, %h) {levels=5} : f32[3]\nResult(%y)\n",
    "0, 2, 2" },
  { "fake-quantize-threshold",     /* il == ih: x <= il gives ol, else oh */
    "%x = Const {0, 1, 1.5, nan} : f32[4]\n%i = Const {1} : f32[]\n%o = Const {-1} : f32[]\n%p = Const {1} : f32[]\n"
    "%y = FakeQuantize(%x, %i, %i, %o, %p) {levels=2} : f32[4]\nResult(%y)\n",
    "-1, -1, 1, nan" },
  { "fake-quantize-per-channel-decreasing",
    "%x = Const {0, 1, 0, 1} : f32[1,2,2]\n%l = Const {0} : f32[]\n%h = Const {1} : f32[]\n"
    "%o = Const {0, 10} : f32[1,2,1]\n%p = Const {5, -10} : f32[1,2,1]\n"
    "%y = FakeQuantize(%x, %l, %h, %o, %p) {levels=256} : f32[1,2,2]\nResult(%y)\n",
    "0, 5, 10, -10" },
  { "fake-quantize-saturates-to-its-type",
    "%x = Const {-1, 0.5, 2} : f32[3]\n%l = Const {0} : f32[]\n%h = Const {1} : f32[]\n%o = Const {-5} : f32[]\n"
    "%p = Const {300} : f32[]\n%y = FakeQuantize(%x, %l, %h, %o, %p) {levels=256} #{relaxed} : u8[3]\nResult(%y)\n",
    "0, 148, 255" },       /* 0.5 is code 128 of 255: 128 / 255 * 305 - 5 = 148.098 */
  { "convert-to-bytes",
    "%x = Const {2.7, -2.7, 300, -300, 2.9999995} : f32[5]\n%y = Convert(%x) {destination_type=i8} : i8[5]\nResult(%y)\n",
    "2, -2, 127, -128, 3" },
  { "convert-to-words",              /* near an integer is within two roundings to f32, not within 1/64 */
    "%x = Const {2.99, -0.99, 32766.99, 2.9999998, 65534.996} : f32[5]\n"
    "%y = Convert(%x) {destination_type=i16} : i16[5]\n%z = Convert(%x) {destination_type=u16} : u16[5]\n"
    "Result(%y)\nResult(%z)\n",
    "2, 0, 32766, 3, 32767; 2, 0, 32766, 3, 65535" },
  { "convert-behind-moved-levels",   /* code 149 of 254 over [-128, 127]: 21.587 */
    "%x = Const {15} : f32[1,1]\n%l = Const {0} : f32[]\n%h = Const {25.5} : f32[]\n%o = Const {-128} : f32[]\n"
    "%p = Const {127} : f32[]\n%q = FakeQuantize(%x, %l, %h, %o, %p) {levels=255} : f32[1,1]\n"
    "%s = Const {1} : i64[1]\n%r = Reshape(%q, %s) : f32[1]\n"
    "%y = Convert(%r) {destination_type=i16} : i16[1]\nResult(%y)\n",
    "22" },
  { "convert-behind-fake-quantize",    /* code 149 of 254 over [-128, 127]: 21.587, rounds as the i8 FakeQuantize does */
    "%x = Const {15} : f32[1]\n%l = Const {0} : f32[]\n%h = Const {25.5} : f32[]\n%o = Const {-128} : f32[]\n%p = Const {127} : f32[]\n"
    "%q = FakeQuantize(%x, %l, %h, %o, %p) {levels=255} : f32[1]\n%y = Convert(%q) {destination_type=i8} : i8[1]\nResult(%y)\n",
    "22" },
  { "fake-convert",                /* e4m3: 3 bits of mantissa, up to 448; e5m2: 2 bits; scaled and shifted before */
    "%x = Const {1.07, 17, 1000, 0.001} : f32[4]\n%s = Const {1} : f32[]\n%d = Const {2} : f32[]\n%h = Const {1} : f32[]\n"
    "%a = FakeConvert(%x, %s) {destination_type=f8e4m3} : f32[4]\n%b = FakeConvert(%x, %s) {destination_type=f8e5m2} : f32[4]\n"
    "%c = FakeConvert(%x, %d, %h) {destination_type=f8e4m3} : f32[4]\nResult(%a)\nResult(%b)\nResult(%c)\n",
    "1.125, 16, 448, 0.001953125; 1, 16, 1024, 0.0009765625; 1.0625, 16.5, 224.5, 0" },
  { "convert-integers-wrap",
    "%x = Const {300, -1} : i32[2]\n%y = Convert(%x) {destination_type=u8} : u8[2]\nResult(%y)\n",
    "44, 255" },
  { "quantize-to-few-bits",        /* stored in 8, saturated to 4 and 2 */
    "%x = Const {-9, 2, 9} : f32[3]\n%q = Quantize(%x) : u4[3] q{scale=0.5, zp=8}\n%d = Dequantize(%q) : f32[3]\n"
    "%p = Quantize(%x) : i4[3] q{scale=0.5}\n%e = Dequantize(%p) : f32[3]\n"
    "%r = Quantize(%x) : i2[3] q{scale=2}\n%f = Dequantize(%r) : f32[3]\nResult(%d)\nResult(%e)\nResult(%f)\n",
    "-4, 2, 3.5; -4, 2, 3.5; -4, 2, 2" },
  { "convert-to-half-and-back",
    "%x = Const {1.0001, 65504} : f32[2]\n%h = Convert(%x) {destination_type=f16} : f16[2]\n"
    "%y = Convert(%h) {destination_type=f32} : f32[2]\nResult(%y)\n",
    "1, 65504" },
  { "half-values-do-not-round",
    "%x = Const {1} : f16[1]\n%d = Const {0.0001} : f16[1]\n%y = Add(%x, %d) : f16[1]\nResult(%y)\n",
    "1.00010002", 1e-7 },  /* f16 0.0001 is 0.000100017 */
};

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  exec_cases_add ("elementwise", cases, G_N_ELEMENTS (cases));

  return g_test_run ();
}
