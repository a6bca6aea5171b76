/* test-exec-control.c - recurrent ops, bodies, states in the reference executor
 *
 * Expected numbers of cells: the formulas in eval/real/rnn.c with one input and one hidden unit, computed apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"

#define LSTM_WEIGHTS \
  "%w = Const {0.1, 0.2, 0.3, 0.4} : f32[1,4,1]\n%r = Const {0.5, -0.5, 0.25, -0.25} : f32[1,4,1]\n" \
  "%b = Const {0.01, 0.02, 0.03, 0.04} : f32[1,4]\n"

static const ExecCase cases[] =
{
  { "lstm-cell",
    "%x = Const {0.5} : f32[1,1]\n%h = Const {0.25} : f32[1,1]\n%c = Const {-0.5} : f32[1,1]\n"
    "%w = Const {0.1, 0.2, 0.3, 0.4} : f32[4,1]\n%r = Const {0.5, -0.5, 0.25, -0.25} : f32[4,1]\n"
    "%b = Const {0.01, 0.02, 0.03, 0.04} : f32[4]\n%y = LSTMCell(%x, %h, %c, %w, %r, %b) {hidden_size=1} : f32[1,1], f32[1,1]\n"
    "Result(%y)\nResult(%y.1)\n",
    "-0.0833873778; -0.154428735", 1e-6 },
  { "lstm-sequence-shorter-than-the-axis",
    "%x = Const {0.5, -1, 7} : f32[1,3,1]\n%h = Const {0.25} : f32[1,1,1]\n%c = Const {-0.5} : f32[1,1,1]\n%n = Const {2} : i64[1]\n"
    LSTM_WEIGHTS
    "%f = LSTMSequence(%x, %h, %c, %n, %w, %r, %b) {hidden_size=1, direction=forward} : f32[1,1,3,1], f32[1,1,1], f32[1,1,1]\n"
    "%v = LSTMSequence(%x, %h, %c, %n, %w, %r, %b) {hidden_size=1, direction=reverse} : f32[1,1,3,1], f32[1,1,1], f32[1,1,1]\n"
    "Result(%f)\nResult(%f.1)\nResult(%f.2)\nResult(%v)\nResult(%v.2)\n",
    "-0.0833873778, -0.0836403475, 0; -0.0836403475; -0.203827775; -0.0510670562, -0.130072008, 0; -0.0901963633", 1e-6 },
  { "gru-cell",
    "%x = Const {0.5} : f32[1,1]\n%h = Const {0.25} : f32[1,1]\n%w = Const {0.1, 0.2, 0.3} : f32[3,1]\n"
    "%r = Const {0.5, -0.5, 0.25} : f32[3,1]\n%b = Const {0.01, 0.02, 0.03} : f32[3]\n%l = Const {0.01, 0.02, 0.03, 0.07} : f32[4]\n"
    "%y = GRUCell(%x, %h, %w, %r, %b) {hidden_size=1} : f32[1,1]\n"
    "%z = GRUCell(%x, %h, %w, %r, %l) {hidden_size=1, linear_before_reset=true} : f32[1,1]\nResult(%y)\nResult(%z)\n",
    "0.230976877; 0.246021458", 1e-6 },
  { "rnn-cell",
    "%x = Const {0.5} : f32[1,1]\n%h = Const {0.25} : f32[1,1]\n%w = Const {2} : f32[1,1]\n%r = Const {-1} : f32[1,1]\n"
    "%b = Const {0.1} : f32[1]\n%y = RNNCell(%x, %h, %w, %r, %b) {hidden_size=1, activations=\"relu\"} : f32[1,1]\n"
    "%c = RNNCell(%x, %h, %w, %r, %b) {hidden_size=1, activations=\"relu\", clip=0.5} : f32[1,1]\nResult(%y)\nResult(%c)\n",
    "0.85; 0.5", 1e-6 },

  /* --- bodies: running sums --- */
  { "tensor-iterator-both-ways",
    "%x = Const {1, 2, 3} : f32[1,3]\n%h = Const {10} : f32[1,1]\n"
    "%f = TensorIterator(%x, %h) : f32[1,3], f32[1,1] {\n  body {\n    in 0 -> 0 axis=1\n    in 1 -> 1\n"
    "    out 0 <- 0 axis=1\n    out 1 <- 0\n    back 0 -> 1\n"
    "    %a = Parameter : f32[1,1]\n    %s = Parameter : f32[1,1]\n    %n = Add(%a, %s) : f32[1,1]\n    Result(%n)\n  }\n}\n"
    "%r = TensorIterator(%x, %h) : f32[1,3] {\n  body {\n    in 0 -> 0 axis=1 start=-1 end=0 stride=-1\n    in 1 -> 1\n"
    "    out 0 <- 0 axis=1 start=-1 end=0 stride=-1\n    back 0 -> 1\n"
    "    %a = Parameter : f32[1,1]\n    %s = Parameter : f32[1,1]\n    %n = Add(%a, %s) : f32[1,1]\n    Result(%n)\n  }\n}\n"
    "Result(%f)\nResult(%f.1)\nResult(%r)\n",
    "11, 13, 16; 16; 16, 15, 13" },
  { "loop-until-the-condition-fails",      /* doubles while below 10: 1, 2, 4, 8, 16 */
    "%m = Const {100} : i64[]\n%c = Const {true} : boolean[]\n%x = Const {1} : f32[1]\n"
    "%l = Loop(%m, %c, %x) : f32[1], f32[?] {\n  body {\n    in 2 -> 0\n    out _ <- 1 condition\n    out 0 <- 0\n    out 1 <- 0 axis=0\n"
    "    back 0 -> 0\n    %a = Parameter : f32[1]\n    %d = Add(%a, %a) : f32[1]\n    %t = Const {10} : f32[1]\n"
    "    %b = Less(%d, %t) : boolean[1]\n    Result(%d)\n    Result(%b)\n  }\n}\n"
    "Result(%l)\nResult(%l.1)\n",
    "16; 2, 4, 8, 16" },
  { "loop-hands-on-what-it-gets",          /* two states change places three times; one of them passes through */
    "%m = Const {3} : i64[]\n%c = Const {true} : boolean[]\n%x = Const {1} : f32[1]\n%z = Const {2} : f32[1]\n%w = Const {7} : f32[1]\n"
    "%l = Loop(%m, %c, %x, %z, %w) : f32[1], f32[1], f32[1] {\n  body {\n    in 2 -> 0\n    in 3 -> 1\n    in 4 -> 2\n"
    "    out 0 <- 0\n    out 1 <- 1\n    out 2 <- 2\n    back 0 -> 0\n    back 1 -> 1\n    back 2 -> 2\n"
    "    %a = Parameter : f32[1]\n    %b = Parameter : f32[1]\n    %d = Parameter : f32[1]\n    Result(%b)\n    Result(%a)\n    Result(%d)\n  }\n}\n"
    "Result(%l)\nResult(%l.1)\nResult(%l.2)\n",
    "2; 1; 7" },
  { "if",
    "%c = Const {false} : boolean[]\n%x = Const {3} : f32[1]\n"
    "%y = If(%c, %x) : f32[1] {\n  body {\n    in 1 -> 0\n    out 0 <- 0\n    %a = Parameter : f32[1]\n    %b = Negative(%a) : f32[1]\n    Result(%b)\n  }\n"
    "  body {\n    in 1 -> 0\n    out 0 <- 0\n    %a = Parameter : f32[1]\n    %b = Multiply(%a, %a) : f32[1]\n    Result(%b)\n  }\n}\nResult(%y)\n",
    "9" },
  { "state-starts-anew",
    "%x = Const {1, 2} : f32[2]\n%r = ReadValue(%x) {variable_id=\"v\"} : f32[2]\n%s = Add(%r, %x) : f32[2]\n"
    "%a = Assign(%s) {variable_id=\"v\"} : f32[2]\nResult(%s)\n",
    "2, 4" },
};

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  exec_cases_add ("control", cases, G_N_ELEMENTS (cases));

  return g_test_run ();
}
